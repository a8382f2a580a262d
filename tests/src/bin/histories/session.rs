//! One client: transactions on the lists that are in use, over a connection that it makes anew when it breaks.

use crate::history::{Act, Element, Key, Level, Operation, Outcome, Transaction};
use crate::shape::Shape;
use mysql::Conn;
use mysql::prelude::Queryable;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tests::Address;

/// Lists in use at a time, and how long they get before others take their place.
const LISTS: u64 = 6;
const LENGTH_MAX: usize = 40;
/// How long a client waits for the server to come back.
const PATIENCE: Duration = Duration::from_secs(90);

/// What the clients share.
pub struct Common {
    pub shape: Shape,
    pub stop: AtomicBool,
    pub elements: AtomicU64,
    /// The first list in use.
    pub first: AtomicU64,
    pub began: Instant,
}

pub struct Client<'a> {
    common: &'a Common,
    address: Address,
    level: Level,
    random: StdRng,
    name: String,
    done: Vec<Transaction>,
}

/// Why a transaction ended early.
enum End {
    /// An error of the server: it is rolled back.
    Refused,
    /// The connection broke.
    Broken,
    /// An error that must not be.
    Wrong(String),
}

/// Deadlock, lock wait timeout, and the servers' ways of saying goodbye.
const EXPECTED: &[u16] = &[1213, 1205, 1317, 3572, 1927, 1053];

impl From<mysql::Error> for End {
    fn from(error: mysql::Error) -> Self {
        match error {
            mysql::Error::MySqlError(e) if e.code == 1053 => Self::Broken,
            mysql::Error::MySqlError(e) if EXPECTED.contains(&e.code) => Self::Refused,
            mysql::Error::MySqlError(e) => Self::Wrong(e.to_string()),
            _ => Self::Broken,
        }
    }
}

impl<'a> Client<'a> {
    pub fn new(common: &'a Common, address: &Address, level: Level, name: String, seed: u64) -> Self {
        let random = StdRng::seed_from_u64(seed);
        Self { common, address: address.clone(), level, random, name, done: Vec::new() }
    }

    /// Runs transactions until it is told to stop.
    pub fn run(mut self) -> Result<Vec<Transaction>, String> {
        while !self.stops() {
            let Some(mut conn) = self.connect()? else { break };
            while !self.stops() {
                match self.transaction(&mut conn) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(why) => return Err(format!("{}: {why}", self.name)),
                }
            }
        }
        Ok(self.done)
    }

    fn stops(&self) -> bool {
        self.common.stop.load(Ordering::Relaxed)
    }

    fn now(&self) -> u64 {
        self.common.began.elapsed().as_nanos() as u64
    }

    fn connect(&self) -> Result<Option<Conn>, String> {
        let until = Instant::now() + PATIENCE;
        while !self.stops() {
            let fresh = self.address.connect_to(crate::DATABASE);
            let level = format!(
                "SET SESSION transaction_isolation = '{}', innodb_lock_wait_timeout = 2",
                self.level.sql().replace(' ', "-")
            );
            if let Ok(mut conn) = fresh
                && conn.query_drop(level).is_ok()
            {
                return Ok(Some(conn));
            }
            if Instant::now() > until {
                return Err(format!("{}: no server for {PATIENCE:?}", self.name));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(None)
    }

    /// One transaction; false if the connection broke.
    fn transaction(&mut self, conn: &mut Conn) -> Result<bool, String> {
        let mut transaction = Transaction {
            name: format!("{}/{}", self.name, self.done.len()),
            level: self.level,
            operations: Vec::new(),
            outcome: Outcome::Aborted,
            began: self.now(),
            ended: 0,
        };
        let outcome = self.statements(conn, &mut transaction);
        let outcome = outcome.and_then(|()| {
            transaction.outcome = Outcome::Unknown;
            if self.random.random_ratio(1, 12) {
                transaction.outcome = Outcome::Aborted;
                return Ok(conn.query_drop("ROLLBACK")?);
            }
            conn.query_drop("COMMIT")?;
            transaction.outcome = Outcome::Committed;
            Ok(())
        });
        transaction.ended = self.now();
        let lives = match outcome {
            Ok(()) => true,
            Err(End::Broken) => false,
            Err(End::Refused) => {
                transaction.outcome = Outcome::Aborted;
                conn.query_drop("ROLLBACK").is_ok()
            }
            Err(End::Wrong(why)) => return Err(why),
        };
        self.done.push(transaction);
        Ok(lives)
    }

    fn statements(&mut self, conn: &mut Conn, transaction: &mut Transaction) -> Result<(), End> {
        conn.query_drop("START TRANSACTION")?;
        for statement in 0..self.random.random_range(1..=5) {
            let first = self.common.first.load(Ordering::Relaxed);
            let key = first + self.random.random_range(0..LISTS);
            if self.random.random_ratio(1, 2) {
                self.append(conn, transaction, key, statement)?;
            } else {
                self.read(conn, transaction, key, statement)?;
            }
        }
        Ok(())
    }

    fn append(&mut self, conn: &mut Conn, transaction: &mut Transaction, key: Key, statement: usize) -> Result<(), End> {
        // Relaxed: only that no two are the same counts.
        let element = self.common.elements.fetch_add(1, Ordering::Relaxed);
        // An append of which nothing is heard may have happened.
        let operation = |act| Operation { key, act, statement };
        if self.common.shape.reads_before_it_writes() {
            // A lock on a row that is not there keeps nobody else from it at READ COMMITTED.
            conn.query_drop(format!("INSERT IGNORE INTO lists VALUES ({key}, '')"))?;
            let list = one_list(conn, &self.common.shape.read(&[key], Some("FOR UPDATE")))?;
            transaction.operations.push(operation(Act::Read { list, is_locked: true }));
        }
        transaction.operations.push(operation(Act::Append(element)));
        for sql in self.common.shape.append(key, element, self.random.random_range(0..LISTS)) {
            conn.query_drop(sql)?;
        }
        Ok(())
    }

    fn read(&mut self, conn: &mut Conn, transaction: &mut Transaction, key: Key, statement: usize) -> Result<(), End> {
        let lock = match self.random.random_range(0..6) {
            0 => Some("FOR UPDATE"),
            1 => Some("FOR SHARE"),
            _ => None,
        };
        let mut keys = vec![key];
        if self.random.random_ratio(1, 3) {
            let first = self.common.first.load(Ordering::Relaxed);
            keys.push(first + self.random.random_range(0..LISTS));
            keys.dedup();
        }
        let is_locked = lock.is_some();
        let rows: Vec<(Key, String)> = conn.query(self.common.shape.read(&keys, lock))?;
        for key in keys {
            let list = rows.iter().find(|(of, _)| *of == key).map(|(_, text)| elements(text));
            if list.as_ref().is_some_and(|list| list.len() > LENGTH_MAX) {
                // Relaxed: when others see it does not matter.
                self.common.first.fetch_max(key + 1, Ordering::Relaxed);
            }
            transaction.operations.push(Operation { key, act: Act::Read { list, is_locked }, statement });
        }
        Ok(())
    }
}

fn one_list(conn: &mut Conn, sql: &str) -> Result<Option<Vec<Element>>, End> {
    let row: Option<(Key, String)> = conn.query_first(sql)?;
    Ok(row.map(|(_, text)| elements(&text)))
}

/// A list as its row holds it: `,1,2,3`.
pub fn elements(text: &str) -> Vec<Element> {
    text.split(',').filter_map(|element| element.parse().ok()).collect()
}
