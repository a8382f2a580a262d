//! What a session has done: its last statements and transactions, sums of its statements by the name of their event,
//! and its errors. The source of the events of performance_schema.
//!
//! ```text
//! statement   two numbers when it begins; its line in the session's ring, and a dozen additions, when it ends
//! session     gives its sums to its worker when it ends (`Past`)
//! SELECT      asks every worker by message (`lines`)
//! ```
//!
//! R1: all of it belongs to the session's worker.
//! R2: lines of the ring are used again with their memory, so a statement allocates nothing after the first ten.
//! R3: a worker keeps the sums of at most [`PAST_MAX`] accounts; those of further ones are added up without a name.

mod lines;
mod name;
mod statement;

pub use lines::{Running, SessionLine, Sessions, StatementLine, SumsLine};
pub use name::Name;
pub use statement::{After, Ended, EventSums, Program, Statement};

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Lines that a session keeps: `performance_schema_events_statements_history_size`.
const RECENT_MAX: usize = 10;
/// Lines that a worker keeps of all sessions: `performance_schema_events_statements_history_long_size`.
const LONG_MAX: usize = 10_000;
/// See R3.
const PAST_MAX: usize = 4096;

/// The id of a session's thread in performance_schema.
pub fn thread_id(connection: u32) -> u64 {
    u64::from(connection)
}

/// The name of an isolation level as tables show it.
pub fn isolation_name(isolation: txn::Isolation) -> &'static str {
    match isolation {
        txn::Isolation::ReadUncommitted => "READ UNCOMMITTED",
        txn::Isolation::ReadCommitted => "READ COMMITTED",
        txn::Isolation::RepeatableRead => "REPEATABLE READ",
        txn::Isolation::Serializable => "SERIALIZABLE",
    }
}

/// How often an error ended a statement, or was taken by a handler. Points in time are microseconds since the epoch.
#[derive(Clone, Copy, Debug, Default)]
pub struct ErrorSum {
    pub raised: u64,
    pub handled: u64,
    pub first_us: i64,
    pub last_us: i64,
}

impl ErrorSum {
    fn add(&mut self, other: &Self) {
        if self.raised + self.handled == 0 || other.first_us < self.first_us {
            self.first_us = other.first_us;
        }
        self.raised += other.raised;
        self.handled += other.handled;
        self.last_us = self.last_us.max(other.last_us);
    }
}

/// The ended transactions of one access mode. Times are ticks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spans {
    pub count: u64,
    pub time: u64,
    pub least: u64,
    pub most: u64,
}

impl Spans {
    #[inline]
    fn note(&mut self, time: u64) {
        self.least = if self.count == 0 { time } else { self.least.min(time) };
        self.most = self.most.max(time);
        self.count += 1;
        self.time += time;
    }

    pub fn add(&mut self, other: &Self) {
        if other.count > 0 {
            self.least = if self.count == 0 { other.least } else { self.least.min(other.least) };
        }
        self.most = self.most.max(other.most);
        self.count += other.count;
        self.time += other.time;
    }
}

/// A transaction that has ended.
#[derive(Clone, Copy, Debug)]
pub struct EndedTransaction {
    pub id: u64,
    pub end_id: u64,
    /// The statement that began it.
    pub nested_in: u64,
    pub began: u64,
    pub ended: u64,
    pub is_committed: bool,
    pub is_read_only: bool,
    pub isolation: txn::Isolation,
    pub autocommit: bool,
}

/// The sums of one session, or of all ended sessions of an account.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    pub statements: Vec<(Name, EventSums)>,
    pub errors: BTreeMap<u16, ErrorSum>,
    pub read_write: Spans,
    pub read_only: Spans,
    pub waits: reactor::task_clock::Sums,
    /// Sessions, of ended ones.
    pub sessions: u64,
}

impl Sums {
    pub fn add(&mut self, other: &Self) {
        for (name, sums) in &other.statements {
            match self.statements.iter_mut().find(|(own, _)| own == name) {
                Some((_, own)) => own.add(sums),
                None => self.statements.push((*name, *sums)),
            }
        }
        for (number, sum) in &other.errors {
            self.errors.entry(*number).or_default().add(sum);
        }
        self.read_write.add(&other.read_write);
        self.read_only.add(&other.read_only);
        self.waits.add(&other.waits);
        self.sessions += other.sessions;
    }
}

/// The record of one session.
#[derive(Debug, Default)]
pub struct Record {
    last_id: Cell<u64>,
    /// The running statement, and whether it is nested in others.
    running: Cell<u64>,
    recent: RefCell<Vec<Statement>>,
    /// The line that is the oldest, once there are enough.
    oldest: Cell<usize>,
    statements: RefCell<Vec<(Name, EventSums)>>,
    errors: RefCell<BTreeMap<u16, ErrorSum>>,
    read_write: Cell<Spans>,
    read_only: Cell<Spans>,
    transactions: RefCell<VecDeque<EndedTransaction>>,
    /// The open multi-statement transaction: its event, the statement that began it, and when.
    open: Cell<Option<(u64, u64, u64)>>,
}

/// The ended sessions of a worker by account, and the last statements of all of its sessions.
#[derive(Debug, Default)]
pub struct Past {
    accounts: RefCell<HashMap<(String, String), Sums>>,
    long: RefCell<VecDeque<(u32, Statement)>>,
}

impl Record {
    fn next_id(&self) -> u64 {
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        id
    }

    /// A client's statement begins.
    #[inline]
    pub fn begin(&self) {
        self.running.set(self.next_id());
    }

    /// The event of the running statement.
    pub fn running(&self) -> u64 {
        self.running.get()
    }

    /// A statement inside of the running one begins. Returns what `end_nested` needs.
    pub fn begin_nested(&self) -> u64 {
        self.running.replace(self.next_id())
    }

    /// A statement ends. Returns whether the sums were the first of this name.
    #[inline]
    pub fn end(&self, ended: &Ended<'_>, is_kept: bool) {
        self.add(ended);
        if is_kept {
            self.keep(ended, self.running.get(), self.open.get().map_or(0, |(id, ..)| id), 0);
        }
    }

    /// The statement ends that `begin_nested` began.
    #[cold]
    pub fn end_nested(&self, outer: u64, ended: &Ended<'_>, level: u32, is_kept: bool) {
        self.add(ended);
        if is_kept {
            self.keep(ended, self.running.get(), outer, level);
        }
        self.running.set(outer);
    }

    #[inline]
    fn add(&self, ended: &Ended<'_>) {
        let mut statements = self.statements.borrow_mut();
        match statements.iter_mut().find(|(name, _)| *name == ended.name) {
            Some((_, sums)) => sums.note(ended),
            None => {
                let mut sums = EventSums::default();
                sums.note(ended);
                statements.push((ended.name, sums));
            }
        }
    }

    #[inline]
    fn keep(&self, ended: &Ended<'_>, id: u64, nested_in: u64, level: u32) {
        let mut recent = self.recent.borrow_mut();
        if recent.len() < RECENT_MAX {
            recent.push(Statement::default());
        } else {
            let oldest = self.oldest.get();
            self.oldest.set(if oldest + 1 == RECENT_MAX { 0 } else { oldest + 1 });
        }
        let place = self.newest(recent.len());
        recent[place].fill(ended, id, self.last_id.get(), nested_in, level);
    }

    fn newest(&self, len: usize) -> usize {
        if len < RECENT_MAX { len - 1 } else { (self.oldest.get() + RECENT_MAX - 1) % RECENT_MAX }
    }

    /// Counts the error of a statement, and gives it to the line that was kept last.
    #[cold]
    pub fn note_error(&self, number: u16, state: [u8; 5], message: &str, now_us: i64, is_kept: bool) {
        let sum = ErrorSum { raised: 1, handled: 0, first_us: now_us, last_us: now_us };
        self.errors.borrow_mut().entry(number).or_default().add(&sum);
        if is_kept {
            self.describe_error(number, state, message);
        }
    }

    /// Gives the line that was kept last its error, which was counted before.
    #[cold]
    pub fn describe_error(&self, number: u16, state: [u8; 5], message: &str) {
        let mut recent = self.recent.borrow_mut();
        if !recent.is_empty() {
            let place = self.newest(recent.len());
            recent[place].error = Some(Box::new((number, state, message.to_owned())));
        }
    }

    /// A handler of a program has taken an error.
    #[cold]
    pub fn note_handled(&self, number: u16, now_us: i64) {
        let sum = ErrorSum { raised: 0, handled: 1, first_us: now_us, last_us: now_us };
        self.errors.borrow_mut().entry(number).or_default().add(&sum);
    }

    /// The statement was a transaction of its own.
    #[inline]
    pub fn note_own_transaction(&self, time: u64, writes: bool) {
        let of = if writes { &self.read_write } else { &self.read_only };
        let mut spans = of.get();
        spans.note(time);
        of.set(spans);
    }

    /// A multi-statement transaction is open, or has ended.
    #[inline]
    pub fn note_transaction(&self, is_open: bool) -> bool {
        is_open != self.open.get().is_some()
    }

    /// A multi-statement transaction begins.
    #[cold]
    pub fn begin_transaction(&self) {
        self.open.set(Some((self.next_id(), self.running.get(), os::ticks())));
    }

    /// When the open transaction began, in ticks, with its event and the statement's.
    pub fn open_transaction(&self) -> Option<(u64, u64, u64)> {
        self.open.get()
    }

    /// The multi-statement transaction has ended.
    #[cold]
    pub fn end_transaction(&self, is_committed: bool, is_read_only: bool, isolation: txn::Isolation, autocommit: bool) {
        let Some((id, nested_in, began)) = self.open.take() else { return };
        let ended = os::ticks();
        let end_id = self.last_id.get();
        let of = if is_read_only { &self.read_only } else { &self.read_write };
        let mut spans = of.get();
        spans.note(ended.saturating_sub(began));
        of.set(spans);
        let mut transactions = self.transactions.borrow_mut();
        if transactions.len() >= RECENT_MAX {
            transactions.pop_front();
        }
        let event = EndedTransaction { id, end_id, nested_in, began, ended, is_committed, is_read_only, isolation, autocommit };
        transactions.push_back(event);
    }

    /// The last statements, oldest first.
    fn each_recent(&self, mut see: impl FnMut(&Statement)) {
        let recent = self.recent.borrow();
        let (newer, older) = recent.split_at(if recent.len() < RECENT_MAX { 0 } else { self.oldest.get() });
        older.iter().chain(newer).for_each(&mut see);
    }

    fn transactions(&self) -> Vec<EndedTransaction> {
        self.transactions.borrow().iter().copied().collect()
    }

    /// What it adds up to so far.
    pub fn sums(&self, clock: &reactor::TaskClock) -> Sums {
        Sums {
            statements: self.statements.borrow().clone(),
            errors: self.errors.borrow().clone(),
            read_write: self.read_write.get(),
            read_only: self.read_only.get(),
            waits: clock.total(),
            sessions: 1,
        }
    }

    /// TRUNCATE TABLE
    pub fn clear(&self, what: Cleared) {
        match what {
            Cleared::Statements => self.statements.borrow_mut().clear(),
            Cleared::History => {
                self.recent.borrow_mut().clear();
                self.oldest.set(0);
            }
            Cleared::Errors => self.errors.borrow_mut().clear(),
            Cleared::Transactions => {
                self.read_write.take();
                self.read_only.take();
            }
            Cleared::TransactionHistory => self.transactions.borrow_mut().clear(),
            Cleared::Waits | Cleared::HistoryLong | Cleared::Tables => {}
        }
    }
}

/// What TRUNCATE TABLE of a table of performance_schema empties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleared {
    Statements,
    History,
    HistoryLong,
    Errors,
    Transactions,
    TransactionHistory,
    Waits,
    /// The use of tables.
    Tables,
}

impl Cleared {
    /// By the name of a table.
    pub fn by(table: &str) -> Option<Self> {
        let table = table.to_ascii_lowercase();
        Some(match &*table {
            "events_statements_history" | "events_statements_current" => Self::History,
            "events_statements_history_long" => Self::HistoryLong,
            "events_transactions_history" | "events_transactions_history_long" | "events_transactions_current" => {
                Self::TransactionHistory
            }
            _ if table.starts_with("events_statements_summary_") => Self::Statements,
            _ if table.starts_with("events_errors_summary_") => Self::Errors,
            _ if table.starts_with("events_transactions_summary_") => Self::Transactions,
            _ if table.starts_with("events_waits_") || table.starts_with("heddle_waits_") => Self::Waits,
            _ if table.starts_with("table_io_waits_summary_") => Self::Tables,
            _ => return None,
        })
    }
}

impl Past {
    /// A session ends.
    #[cold]
    pub fn take(&self, user: &str, host: &str, record: &Record, clock: &reactor::TaskClock) {
        let sums = record.sums(clock);
        let mut accounts = self.accounts.borrow_mut();
        let name = (user.to_owned(), host.to_owned());
        // R3
        let name = if accounts.len() < PAST_MAX || accounts.contains_key(&name) { name } else { Default::default() };
        accounts.entry(name).or_default().add(&sums);
    }

    /// Keeps a copy of the session's last statement.
    #[cold]
    pub fn keep(&self, session: u32, record: &Record) {
        let recent = record.recent.borrow();
        if recent.is_empty() {
            return;
        }
        let mut long = self.long.borrow_mut();
        if long.len() >= LONG_MAX {
            long.pop_front();
        }
        long.push_back((session, recent[record.newest(recent.len())].clone()));
    }

    pub fn clear(&self, what: Cleared) {
        for sums in self.accounts.borrow_mut().values_mut() {
            match what {
                Cleared::Statements => sums.statements.clear(),
                Cleared::Errors => sums.errors.clear(),
                Cleared::Transactions => (sums.read_write, sums.read_only) = Default::default(),
                Cleared::Waits => sums.waits = Default::default(),
                Cleared::History | Cleared::HistoryLong | Cleared::TransactionHistory | Cleared::Tables => {}
            }
        }
        if what == Cleared::HistoryLong {
            self.long.borrow_mut().clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(text: &'static [u8]) -> Ended<'static> {
        super::statement::tests::ended(text, Box::leak(Box::default()), 7)
    }

    fn texts(record: &Record) -> Vec<(u64, String)> {
        let mut texts = Vec::new();
        record.each_recent(|line| texts.push((line.id, String::from_utf8_lossy(&line.text).into_owned())));
        texts
    }

    #[test]
    fn the_last_statements_are_kept_in_order() {
        let record = Record::default();
        for _ in 0..3 {
            record.begin();
            record.end(&ended(b"a"), true);
        }
        assert_eq!(texts(&record).iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 2, 3]);
        for _ in 0..RECENT_MAX {
            record.begin();
            record.end(&ended(b"b"), true);
        }
        assert_eq!(texts(&record).iter().map(|(id, _)| *id).collect::<Vec<_>>(), (4..14).collect::<Vec<u64>>());
        assert_eq!(record.sums(&Default::default()).statements[0].1.count, 13);
        record.begin();
        record.end(&ended(b"not kept"), false);
        assert_eq!(texts(&record).len(), RECENT_MAX);
        record.clear(Cleared::History);
        assert!(texts(&record).is_empty());
        record.begin();
        record.end(&ended(b"c"), true);
        assert_eq!(texts(&record), [(15, "c".to_owned())]);
    }

    #[test]
    fn nested_statements_end_before_the_one_around_them() {
        let record = Record::default();
        record.begin();
        let outer = record.begin_nested();
        record.end_nested(outer, &ended(b"inner"), 1, true);
        record.end(&ended(b"outer"), true);
        assert_eq!(texts(&record), [(2, "inner".to_owned()), (1, "outer".to_owned())]);
        let mut nested = Vec::new();
        record.each_recent(|line| nested.push((line.nested_in, line.level, line.end_id)));
        assert_eq!(nested, [(1, 1, 2), (0, 0, 2)]);
    }

    #[test]
    fn ended_sessions_count_for_their_accounts() {
        let (record, past) = (Record::default(), Past::default());
        record.begin();
        record.end(&ended(b"a"), true);
        record.note_error(1064, *b"42000", "near", 5, true);
        record.note_own_transaction(3, true);
        (0..2).for_each(|_| past.take("u", "h", &record, &Default::default()));
        let sums = past.accounts.borrow()[&("u".to_owned(), "h".to_owned())].clone();
        assert_eq!((sums.sessions, sums.statements[0].1.count, sums.errors[&1064].raised, sums.read_write.count), (2, 2, 2, 2));
        past.clear(Cleared::Errors);
        assert!(past.accounts.borrow().values().all(|sums| sums.errors.is_empty() && sums.sessions == 2));
        (0..2 * PAST_MAX).for_each(|n| past.take("u", &n.to_string(), &record, &Default::default()));
        assert_eq!(past.accounts.borrow().len(), PAST_MAX + 1);
    }
}
