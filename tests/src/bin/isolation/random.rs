//! Random schedules of two to four sessions, with a real MySQL as the judge: which session waits, which goes on, what each statement
//! answers, and which rows the table has at the end.
//!
//! 1. A schedule is a table, an isolation level and steps. A step gives a statement to one session. A seed determines all of it.
//! 2. Both servers play the schedule. After each step the program waits until each session has answered or the server reports that it
//!    waits for a lock. A step of a session that still waits is left out on both servers, which agree on the waiting sessions so far.
//! 3. The schedule ends at the first step after which the servers differ. Steps are then removed as long as it still ends in a difference.
//!
//! A statement that goes on where MySQL waits is counted apart: Heddle locks less on purpose (docs/decisions/range-locks.md). Everything
//! else is a failure: a wait or a deadlock that MySQL does not have, another answer, another end.
//!
//! Filler rows far from the rows of the schedules make both optimizers choose the index that a condition names.

use crate::scenarios::LEVELS;
use crate::session::Session;
use mysql::Conn;
use mysql::prelude::Queryable;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::{Duration, Instant};
use tests::{Address, Report};

/// How long a session may neither answer nor wait for a lock.
const PATIENCE: Duration = Duration::from_secs(20);
const SESSIONS: [char; 4] = ['a', 'b', 'c', 'd'];
const WAITS: &str = "waits";

/// The tables; `KEY (b)` stands for conditions on `b` that no index serves otherwise.
const TABLES: [&str; 4] = [
    "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY a (a))",
    "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, UNIQUE KEY a (a))",
    "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY a (a), KEY b (b))",
    "CREATE TABLE t (id INT, a INT, b INT, PRIMARY KEY (id, a), KEY a (a, b))",
];
const ROWS: &str = "INSERT INTO t VALUES (1,10,1),(3,20,1),(5,30,2),(7,40,3),(9,50,4),(11,60,5)";
const FILLER: &str = "INSERT INTO t WITH RECURSIVE q (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM q WHERE i < 200) SELECT 1000 + i, 1000 + i, 1000 + i FROM q";

#[derive(Clone, Debug)]
struct Schedule {
    table: &'static str,
    level: &'static str,
    sessions: usize,
    steps: Vec<(usize, String)>,
}

impl Schedule {
    fn random(seed: u64) -> Self {
        let mut dice = StdRng::seed_from_u64(seed);
        let table = TABLES[dice.random_range(0..TABLES.len())];
        let level = LEVELS[dice.random_range(1..LEVELS.len())];
        let sessions = dice.random_range(2..=SESSIONS.len());
        let length = dice.random_range(6..=14);
        let steps = (0..length).map(|_| (dice.random_range(0..sessions), statement(&mut dice))).collect();
        Self { table, level, sessions, steps }
    }
}

fn condition(dice: &mut StdRng) -> String {
    let id = dice.random_range(0..=12);
    let a = dice.random_range(1..=13) * 5;
    match dice.random_range(0..7) {
        0 | 1 => format!("id = {id}"),
        2 => format!("id BETWEEN {id} AND {}", id + dice.random_range(1..=4)),
        3 | 4 => format!("a = {a}"),
        5 => format!("a BETWEEN {a} AND {}", a + dice.random_range(1..=4) * 5),
        _ => format!("a > {a} AND a < {}", a + dice.random_range(1..=4) * 5),
    }
}

fn statement(dice: &mut StdRng) -> String {
    let (id, a, b) = (dice.random_range(0..=12), dice.random_range(1..=13) * 5, dice.random_range(0..=5));
    let chosen = condition(dice);
    match dice.random_range(0..16) {
        0 => format!("SELECT id, a, b FROM t WHERE {chosen}"),
        1 | 2 => format!("SELECT id, a, b FROM t WHERE {chosen} FOR UPDATE"),
        3 => format!("SELECT id, a, b FROM t WHERE {chosen} FOR SHARE"),
        4..=6 => format!("UPDATE t SET b = {b} WHERE {chosen}"),
        7 => format!("UPDATE t SET a = {a} WHERE {chosen}"),
        8 => format!("UPDATE t SET b = b + 1 WHERE {chosen} AND b < 3"),
        9 => format!("DELETE FROM t WHERE {chosen}"),
        10 | 11 => format!("INSERT INTO t VALUES ({id}, {a}, {b})"),
        12 => format!("INSERT INTO t VALUES ({id}, {a}, {b}) ON DUPLICATE KEY UPDATE b = b + 10"),
        13 => format!("REPLACE INTO t VALUES ({id}, {a}, {b})"),
        14 => "COMMIT".to_owned(),
        _ => if dice.random_bool(0.5) { "COMMIT" } else { "ROLLBACK" }.to_owned(),
    }
}

/// A server with the sessions of one schedule.
struct Side<'a> {
    address: &'a Address,
    observer: Conn,
    sessions: Vec<Session>,
    /// What each session is at.
    pending: Vec<bool>,
}

impl<'a> Side<'a> {
    fn start(address: &'a Address, schedule: &Schedule) -> Result<Self, String> {
        crate::session::prepare(address, &[schedule.table, ROWS, FILLER, "ANALYZE TABLE t"])?;
        let mut sessions = Vec::new();
        for _ in 0..schedule.sessions {
            let mut session = Session::start(address, schedule.level)?;
            session.give("BEGIN")?;
            session.answer(PATIENCE).ok_or("BEGIN is not answered")?;
            sessions.push(session);
        }
        let pending = vec![false; sessions.len()];
        let observer = address.connect().map_err(|e| e.to_string())?;
        Ok(Self { address, observer, sessions, pending })
    }

    /// The connections that wait for a lock.
    fn waiting(&mut self) -> Result<Vec<u64>, String> {
        let asked = "SELECT DISTINCT t.processlist_id FROM performance_schema.data_lock_waits w \
                     JOIN performance_schema.threads t ON t.thread_id = w.requesting_thread_id";
        self.observer.query(asked).map_err(|e| format!("{}: {e}", self.address.port))
    }

    /// Gives a session its statement, and tells what has become of every session that was busy.
    fn step(&mut self, who: usize, sql: &str) -> Result<Vec<(usize, String)>, String> {
        self.sessions[who].give(sql)?;
        self.pending[who] = true;
        self.settle()
    }

    fn settle(&mut self) -> Result<Vec<(usize, String)>, String> {
        let mut outcome = Vec::new();
        let until = Instant::now() + PATIENCE;
        // A session counts as waiting when it does so at several looks: one that was woken may wait again, for another row, and MySQL looks for
        // deadlocks behind the waiters' backs.
        let looks = if self.pending.iter().filter(|pending| **pending).count() > 1 { 4 } else { 2 };
        let mut seen_waiting = vec![0; self.sessions.len()];
        let mut pause = Duration::from_millis(2);
        loop {
            let mut busy = false;
            let sessions = self.sessions.iter_mut().zip(&mut self.pending).zip(&seen_waiting).enumerate();
            for (n, ((session, pending), seen)) in sessions {
                if !*pending || *seen >= looks {
                    continue;
                }
                match session.answer(pause) {
                    Some(answer) => {
                        *pending = false;
                        outcome.push((n, sorted(&answer)));
                    }
                    None => busy = true,
                }
            }
            if !busy {
                break;
            }
            let waiting = self.waiting()?;
            for (session, seen) in self.sessions.iter().zip(&mut seen_waiting) {
                *seen = if waiting.contains(&session.connection) { *seen + 1 } else { 0 };
            }
            if Instant::now() > until {
                return Err(format!("a session neither answers nor waits: {outcome:?}"));
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        for (n, _) in self.pending.iter().enumerate().filter(|(_, pending)| **pending) {
            outcome.push((n, WAITS.to_owned()));
        }
        outcome.sort();
        Ok(outcome)
    }

    /// What the table has in the end.
    fn rows(&mut self) -> Result<String, String> {
        let rows: Vec<(i64, i64, i64)> = self
            .observer
            .query(format!("SELECT id, a, b FROM {}.t WHERE id < 1000 ORDER BY id, a", crate::DATABASE))
            .map_err(|e| e.to_string())?;
        Ok(rows.iter().map(|(id, a, b)| format!("{id},{a},{b}")).collect::<Vec<_>>().join(" "))
    }
}

/// Rows come in the order of whichever index was read.
fn sorted(answer: &str) -> String {
    if answer.starts_with("error") || answer.ends_with("rows") {
        return answer.to_owned();
    }
    let mut rows: Vec<&str> = answer.split(' ').collect();
    rows.sort_unstable();
    rows.join(" ")
}

const DEADLOCK: &str = "error 1213";

/// Does a server differ from its judge only by statements that go on where the judge's wait, by the lack of a deadlock, or by who of a
/// deadlock's circle gives way?
fn locks_less(found: &[(usize, String)], expected: &[(usize, String)]) -> bool {
    let deadlocks = |outcome: &[(usize, String)]| outcome.iter().filter(|(_, answer)| answer == DEADLOCK).count();
    let (ours, judges) = (deadlocks(found), deadlocks(expected));
    let goes_on = |(ours, judges): (&(usize, String), &(usize, String))| ours == judges || judges.1 == WAITS;
    ours < judges || ours == judges && (ours > 0 || found.iter().zip(expected).all(goes_on))
}

/// Where two servers differ.
#[derive(Debug)]
struct Difference {
    /// The steps that both played, and the one after which they differ; `None`: the tables differ at the end.
    step: Option<usize>,
    ours: String,
    judges: String,
    locks_less: bool,
}

impl Difference {
    /// What is the same of a schedule and a shorter one that shows the same.
    fn kind(&self) -> (bool, bool, Vec<&str>, Vec<&str>) {
        fn words(text: &str) -> Vec<&str> {
            text.split(';')
                .map(|part| {
                    if part.contains(WAITS) {
                        WAITS
                    } else if part.contains("error") {
                        "error"
                    } else {
                        "answer"
                    }
                })
                .collect()
        }
        (self.step.is_none(), self.locks_less, words(&self.ours), words(&self.judges))
    }
}

fn told(outcome: &[(usize, String)]) -> String {
    outcome.iter().map(|(n, answer)| format!("{}: {answer}", SESSIONS[*n])).collect::<Vec<_>>().join("; ")
}

/// Plays a schedule on both servers.
fn compare(schedule: &Schedule, ours: &Address, judge: &Address) -> Result<Option<Difference>, String> {
    let (mut one, mut two) = (Side::start(ours, schedule)?, Side::start(judge, schedule)?);
    // At the end the sessions that can commit do so, until all have.
    let commits = (0..schedule.sessions * schedule.sessions).map(|n| (n % schedule.sessions, "COMMIT".to_owned()));
    for (number, (who, sql)) in schedule.steps.iter().cloned().chain(commits).enumerate() {
        if one.pending[who] {
            continue;
        }
        let (found, expected) = (one.step(who, &sql)?, two.step(who, &sql)?);
        if found != expected {
            let locks_less = locks_less(&found, &expected);
            return Ok(Some(Difference { step: Some(number), ours: told(&found), judges: told(&expected), locks_less }));
        }
    }
    let (found, expected) = (one.rows()?, two.rows()?);
    Ok((found != expected).then_some(Difference { step: None, ours: found, judges: expected, locks_less: false }))
}

/// Takes steps out of a schedule as long as the servers still differ in the same way.
fn shrink(mut schedule: Schedule, mut difference: Difference, ours: &Address, judge: &Address) -> (Schedule, Difference) {
    if let Some(last) = difference.step {
        schedule.steps.truncate(last + 1);
    }
    let mut at = 0;
    while at < schedule.steps.len() {
        let mut shorter = schedule.clone();
        shorter.steps.remove(at);
        match compare(&shorter, ours, judge) {
            Ok(Some(other)) if other.kind() == difference.kind() => {
                if let Some(last) = other.step {
                    shorter.steps.truncate(last + 1);
                }
                (schedule, difference) = (shorter, other);
            }
            _ => at += 1,
        }
    }
    (schedule, difference)
}

/// Plays `count` schedules from `seed` on; each that differs is made shorter and printed.
pub fn run(ours: &Address, judge: &Address, seed: u64, count: u64, shrinks: bool, report: &mut Report) {
    let (mut differ, mut less) = (0, 0);
    for seed in seed..seed + count {
        let schedule = Schedule::random(seed);
        let difference = match compare(&schedule, ours, judge) {
            Ok(None) => continue,
            Ok(Some(difference)) => difference,
            Err(why) => {
                report.fail(format!("schedule {seed}"), why);
                continue;
            }
        };
        if difference.locks_less {
            less += 1;
            continue;
        }
        differ += 1;
        let (schedule, difference) = if shrinks { shrink(schedule, difference, ours, judge) } else { (schedule, difference) };
        println!("--- schedule {seed}, {}: {}", schedule.level, schedule.table);
        schedule.steps.iter().for_each(|(who, sql)| println!("    {}: {sql}", SESSIONS[*who]));
        report.fail(format!("schedule {seed}"), format!("ours  {}  judge  {}", difference.ours, difference.judges));
    }
    println!("{differ} of {count} schedules differ; {less} more go on where the judge waits");
    report.ok("random schedules ran");
}
