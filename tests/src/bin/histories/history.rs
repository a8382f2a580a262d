//! What sessions did and saw: transactions that append to lists and read them.
//!
//! An element is appended once, so a list tells who wrote each of its versions, and in which order (Kingsbury and Alvaro, "Elle", 2020). A
//! register is a list, too: each write of it has read the value before under a lock, so the values form a chain.

use std::collections::HashMap;

pub type Key = u64;
pub type Element = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Level {
    pub const ALL: [Self; 4] = [Self::ReadUncommitted, Self::ReadCommitted, Self::RepeatableRead, Self::Serializable];

    pub fn sql(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "READ UNCOMMITTED",
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead => "REPEATABLE READ",
            Self::Serializable => "SERIALIZABLE",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Committed,
    /// Rolled back, or never asked to commit.
    Aborted,
    /// The answer to COMMIT was lost.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Append(Element),
    /// The list, `None` if the row is not there.
    Read {
        list: Option<Vec<Element>>,
        is_locked: bool,
    },
}

#[derive(Clone, Debug)]
pub struct Operation {
    pub key: Key,
    pub act: Act,
    /// Operations of one statement have one number.
    pub statement: usize,
}

#[derive(Clone, Debug)]
pub struct Transaction {
    pub name: String,
    pub level: Level,
    pub operations: Vec<Operation>,
    pub outcome: Outcome,
    /// By one clock: before the first statement was sent, and after the last answer came.
    pub began: u64,
    pub ended: u64,
}

impl Transaction {
    pub fn appends(&self) -> impl Iterator<Item = (Key, Element)> {
        self.operations.iter().filter_map(|operation| match operation.act {
            Act::Append(element) => Some((operation.key, element)),
            Act::Read { .. } => None,
        })
    }

    /// The last element that it appended to a list.
    pub fn last_append(&self, key: Key) -> Option<Element> {
        self.appends().filter(|(of, _)| *of == key).last().map(|(_, element)| element)
    }
}

/// All transactions, and the lists at the end.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub transactions: Vec<Transaction>,
    pub last: HashMap<Key, Vec<Element>>,
}
