//! What the sessions of one life of the machine did and saw.
//!
//! Each event has a time: a number that only grows. A call that takes effect at some moment has the times before and after it, and the
//! moment lies between them.

use std::collections::BTreeMap;

pub type Time = u64;
pub type Key = u64;

/// A transaction's number: its session's number, and above that a count, so that the numbers of one session grow.
pub type Number = u64;

/// The time before a call, and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: Time,
    pub to: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Level {
    /// Do locking reads keep rows from appearing in what they read?
    pub fn locks_gaps(self) -> bool {
        self >= Level::RepeatableRead
    }
}

/// How a row was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadKind {
    /// From the snapshot with this index in [`Transaction::snapshots`].
    Snapshot(usize),
    /// The newest version, locked until the transaction ends.
    Locked,
    /// The newest committed version, or the transaction's own; nothing is locked.
    Current,
    /// Whatever is there, committed or not.
    Dirty,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// `None`: there was no row.
    Read { kind: ReadKind, found: Option<Vec<u64>> },
    /// `None`: the row was deleted.
    Write { elements: Option<Vec<u64>> },
}

#[derive(Clone, Debug)]
pub struct Operation {
    pub key: Key,
    pub span: Span,
    pub act: Act,
    /// A rollback to a savepoint has undone it.
    pub undone: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Neither committed nor rolled back, as far as anybody knows.
    Open,
    /// Commit was called; whether it lasts is not known yet.
    InDoubt,
    /// It lasts, as it must, or as it turned out.
    Committed,
    /// It was committed, others may have seen it, and a crash has taken it back. Nobody was told that it lasts.
    Lost,
    Aborted,
}

impl Outcome {
    /// Have others seen it as committed?
    pub fn was_visible(self) -> bool {
        matches!(self, Outcome::Committed | Outcome::Lost)
    }
}

#[derive(Clone, Debug)]
pub struct Transaction {
    pub number: Number,
    pub level: Level,
    pub operations: Vec<Operation>,
    /// When each of its snapshots was taken.
    pub snapshots: Vec<Span>,
    /// The call of commit or of rollback; `to` stays `Time::MAX` when it never returned.
    pub finish: Span,
    pub outcome: Outcome,
    /// Its session was told.
    pub acknowledged: bool,
}

impl Transaction {
    pub fn new(number: Number, level: Level) -> Self {
        Self {
            number,
            level,
            operations: Vec::new(),
            snapshots: Vec::new(),
            finish: Span { from: Time::MAX, to: Time::MAX },
            outcome: Outcome::Open,
            acknowledged: false,
        }
    }

    pub fn writes(&self) -> impl Iterator<Item = (&Operation, Option<&Vec<u64>>)> {
        self.operations.iter().filter_map(|operation| match &operation.act {
            Act::Write { elements } => Some((operation, elements.as_ref())),
            Act::Read { .. } => None,
        })
    }
}

/// All transactions since the machine was started, and what was there before.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub base: BTreeMap<Key, Vec<u64>>,
    pub transactions: Vec<Transaction>,
    /// Keys below are never deleted.
    pub lasting_keys: Key,
}
