//! Parents and children under load: many sessions insert, move and delete both; at the end no child is without its parent.
//!
//! A session's transaction has one to three changes of families picked at random. What foreign keys forbid (1451, 1452), duplicates and
//! deadlocks are part of it; any other error is a failure, and so is a run in which some kind of change never succeeded.

use crate::DATABASE;
use mysql::Conn;
use mysql::prelude::Queryable;
use tests::Address;

const SESSIONS: u64 = 8;
const TRANSACTIONS: u64 = 150;
/// Few, so that sessions meet.
const FAMILIES: u64 = 6;

const SETUP: &[&str] = &[
    "CREATE TABLE elder (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE heir (id INT AUTO_INCREMENT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES elder (id))",
    "CREATE TABLE pet (id INT AUTO_INCREMENT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES elder (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    "CREATE TABLE toy (id INT AUTO_INCREMENT PRIMARY KEY, pet INT, FOREIGN KEY (pet) REFERENCES pet (id) ON DELETE SET NULL)",
    "INSERT INTO elder VALUES (1, 0), (2, 0), (3, 0)",
];

/// `{a}` and `{b}` are families.
const CHANGES: &[&str] = &[
    "INSERT INTO elder VALUES ({a}, 1)",
    "DELETE FROM elder WHERE id = {a}",
    "UPDATE elder SET id = {b} WHERE id = {a}",
    "UPDATE elder SET v = v + 1 WHERE id = {a}",
    "INSERT INTO heir (pid) VALUES ({a})",
    "INSERT INTO heir (pid) VALUES ({a}), ({b})",
    "UPDATE heir SET pid = {b} WHERE pid = {a} LIMIT 1",
    "DELETE FROM heir WHERE pid = {a}",
    "INSERT INTO pet (pid) VALUES ({a})",
    "INSERT INTO toy (pet) SELECT id FROM pet WHERE pid = {a} LIMIT 1",
    "DELETE FROM pet WHERE pid = {a} LIMIT 1",
];

const ORPHANS: &[(&str, &str)] = &[
    ("heir", "SELECT COUNT(*) FROM heir LEFT JOIN elder ON elder.id = heir.pid WHERE elder.id IS NULL"),
    ("pet", "SELECT COUNT(*) FROM pet LEFT JOIN elder ON elder.id = pet.pid WHERE elder.id IS NULL"),
    ("toy", "SELECT COUNT(*) FROM toy LEFT JOIN pet ON pet.id = toy.pet WHERE toy.pet IS NOT NULL AND pet.id IS NULL"),
];

/// What may happen: a duplicate, a lock that took too long, a deadlock, a parent that is needed, one that is missing.
const EXPECTED: [u16; 5] = [1062, 1205, 1213, 1451, 1452];

/// Runs the load at one level and counts the orphans.
pub fn storm(address: &Address, level: &str) -> Result<(), String> {
    crate::session::prepare(address, SETUP)?;
    let mut done = [0u64; CHANGES.len()];
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|number| {
            let (address, level) = (address.clone(), level.to_owned());
            std::thread::spawn(move || session(&address, &level, number))
        })
        .collect();
    for session in sessions {
        let counts = session.join().map_err(|_| "a session panicked".to_owned())??;
        done.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    if let Some(never) = done.iter().position(|count| *count == 0) {
        return Err(format!("never succeeded: {}", CHANGES[never]));
    }
    let mut conn = address.connect_to(DATABASE).map_err(|e| e.to_string())?;
    for (table, query) in ORPHANS {
        let orphans: Option<u64> = conn.query_first(*query).map_err(|e| format!("{query}: {e}"))?;
        if orphans != Some(0) {
            return Err(format!("{orphans:?} rows of {table} have no parent"));
        }
    }
    Ok(())
}

/// How often each change succeeded.
fn session(address: &Address, level: &str, number: u64) -> Result<[u64; CHANGES.len()], String> {
    let mut conn = address.connect_to(DATABASE).map_err(|e| e.to_string())?;
    conn.query_drop(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}")).map_err(|e| e.to_string())?;
    let mut random = Random::new(number);
    let mut done = [0; CHANGES.len()];
    for _ in 0..TRANSACTIONS {
        transaction(&mut conn, &mut random, &mut done)?;
    }
    Ok(done)
}

fn transaction(conn: &mut Conn, random: &mut Random, done: &mut [u64; CHANGES.len()]) -> Result<(), String> {
    let run = |conn: &mut Conn, sql: &str| match conn.query_drop(sql) {
        Ok(()) => Ok(None),
        Err(mysql::Error::MySqlError(e)) if EXPECTED.contains(&e.code) => Ok(Some(e.code)),
        Err(e) => Err(format!("{sql}: {e}")),
    };
    run(conn, "BEGIN")?;
    for _ in 0..1 + random.below(3) {
        let change = random.below(CHANGES.len() as u64) as usize;
        let (a, b) = (1 + random.below(FAMILIES), 1 + random.below(FAMILIES));
        let sql = CHANGES[change].replace("{a}", &a.to_string()).replace("{b}", &b.to_string());
        match run(conn, &sql)? {
            None => done[change] += 1,
            Some(1213) => return Ok(()),
            Some(_) => {}
        }
    }
    let end = if random.below(5) == 0 { "ROLLBACK" } else { "COMMIT" };
    run(conn, end).map(drop)
}

/// A plain generator: two runs differ only by the order of their threads.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed + 1)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}
