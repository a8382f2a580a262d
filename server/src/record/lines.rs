//! The records of sessions as other threads get them.

use super::{EndedTransaction, Name, Past, Record, Statement, Sums};
use crate::waits::LOCKS;
use reactor::TaskClock;
use reactor::task_clock::Wait;
use types::SqlMode;

/// The sums of a session, or of the ended sessions of an account (`session` is `None`).
#[derive(Clone, Debug)]
pub struct SumsLine {
    pub session: Option<u32>,
    pub user: String,
    pub host: String,
    pub sums: Sums,
}

/// A statement that has ended, or runs: then `end_id` is 0.
#[derive(Clone, Debug)]
pub struct StatementLine {
    pub of: Values,
    pub name: &'static str,
    pub text: Option<String>,
    pub digest: Option<String>,
    pub database: Option<String>,
    pub error: Option<(u16, [u8; 5], String)>,
    /// Kind, database and name of the stored program.
    pub program: Option<(&'static str, String, String)>,
}

/// The numbers of a statement. Times are ticks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Values {
    pub id: u64,
    pub end_id: u64,
    pub nested_in: u64,
    pub level: u32,
    pub ended: u64,
    pub waited: u64,
    pub locked: u64,
    pub measured: crate::digests::Measured,
}

/// A session with its last events.
#[derive(Clone, Debug)]
pub struct SessionLine {
    pub session: u32,
    pub current: Option<StatementLine>,
    pub statements: Vec<StatementLine>,
    pub transactions: Vec<EndedTransaction>,
    /// The event, the statement that began it, and when: of the open transaction.
    pub open: Option<(u64, u64, u64)>,
    /// Of that: is it read-only, and its isolation level.
    pub transaction: Option<(bool, txn::Isolation)>,
    pub wait: Option<Wait>,
    pub waits: Vec<Wait>,
    /// The event of the running statement.
    pub running: u64,
}

/// The events of all sessions.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    pub lines: Vec<SessionLine>,
    /// The last statements of all sessions, with the session.
    pub long: Vec<(u32, StatementLine)>,
    /// The tick at which they were gathered.
    pub now: u64,
}

fn shown(line: &Statement) -> StatementLine {
    let text = sql::without_secrets(&line.text, &SqlMode::DEFAULT);
    StatementLine {
        of: Values {
            id: line.id,
            end_id: line.end_id,
            nested_in: line.nested_in,
            level: line.level,
            ended: line.ended,
            waited: line.waited,
            locked: line.locked,
            measured: line.measured,
        },
        name: line.name.text(),
        text: Some(String::from_utf8_lossy(&text).into_owned()),
        digest: line.statistics.as_ref().and_then(|statistics| statistics.text().map(str::to_owned)),
        database: line.statistics.as_ref().and_then(|statistics| statistics.database().map(str::to_owned)),
        error: line.error.as_deref().cloned(),
        program: line.program.as_ref().map(|of| (of.kind, of.database.clone().into(), of.name.clone().into())),
    }
}

/// The running statement: its text and the current database.
pub struct Running {
    pub name: Name,
    pub text: String,
    pub database: Option<String>,
}

impl Record {
    /// What the session `session` does and has done, at tick `now`. `running`: its statement, if the clock runs for one.
    pub fn line(&self, session: u32, clock: &TaskClock, running: Option<Running>, now: u64) -> SessionLine {
        let mut statements = Vec::new();
        self.each_recent(|line| statements.push(shown(line)));
        let current = clock.began().zip(running).map(|(began, running)| self.current(clock, began, running, now));
        SessionLine {
            session,
            current,
            statements,
            transactions: self.transactions(),
            open: self.open_transaction(),
            transaction: None,
            wait: clock.current(now),
            waits: clock.recent(),
            running: self.running(),
        }
    }

    fn current(&self, clock: &TaskClock, began: u64, running: Running, now: u64) -> StatementLine {
        let of = Values {
            id: self.running(),
            nested_in: self.open_transaction().map_or(0, |(id, ..)| id),
            ended: now,
            waited: clock.off_so_far(),
            locked: clock.ticks_so_far(LOCKS),
            measured: crate::digests::Measured { began, ..Default::default() },
            ..Values::default()
        };
        StatementLine {
            of,
            name: running.name.text(),
            text: Some(running.text),
            digest: None,
            database: running.database,
            error: None,
            program: None,
        }
    }
}

impl Past {
    /// The sums of the accounts' ended sessions.
    pub fn lines(&self) -> Vec<SumsLine> {
        let line = |((user, host), sums): (&(String, String), &Sums)| SumsLine {
            session: None,
            user: user.clone(),
            host: host.clone(),
            sums: sums.clone(),
        };
        self.accounts.borrow().iter().map(line).collect()
    }

    /// The last statements of all sessions of the worker.
    pub fn long(&self) -> Vec<(u32, StatementLine)> {
        self.long.borrow().iter().map(|(session, line)| (*session, shown(line))).collect()
    }
}
