//! A report of locks and waiters, for people.
//!
//! It is made on request, shard by shard, so it is no picture of one moment. A row that is locked by its writer's mark
//! is listed only after somebody has conflicted with it, as in InnoDB; other marks are recorded only in their records.

use super::{LockTable, Want};
use crate::LockMode;
use crate::status::StatusTable;
use std::collections::HashMap;
use std::time::Duration;
use sync::atomic::Ordering;

/// A transaction, and its session (0: none, or not set).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockOwner {
    pub txn: u64,
    pub session: u32,
}

/// The extent of a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Locked {
    Row,
    /// From the key up to this one (empty: the end of the tree): rows, and the gaps between them.
    Range(Box<[u8]>),
    /// The place of a key that is to be inserted.
    Gap,
}

/// One lock that is held or waited for.
#[derive(Clone, Debug)]
pub struct LockLine {
    pub tree: u32,
    pub key: Box<[u8]>,
    pub locked: Locked,
    pub mode: LockMode,
    pub owner: LockOwner,
    /// Waited for, and since when.
    pub waits: Option<Duration>,
}

impl LockLine {
    fn covers(&self, tree: u32, key: &[u8]) -> bool {
        self.tree == tree
            && match &self.locked {
                Locked::Range(to) => *self.key <= *key && (to.is_empty() || *key < **to),
                Locked::Row | Locked::Gap => *self.key == *key,
            }
    }
}

/// The locks, and the waits between them.
#[derive(Clone, Debug, Default)]
pub struct LockReport {
    pub lines: Vec<LockLine>,
    /// (the line that is waited for, the line that is in its way), both by their place in `lines`.
    pub waits: Vec<(usize, usize)>,
}

impl LockTable {
    /// A report of the current locks and waits.
    pub fn report(&self, statuses: &StatusTable) -> LockReport {
        let mut lines = self.row_lines(statuses);
        self.ranges.each(|tree, txn, mode, from, to| {
            let owner = LockOwner { txn, session: statuses.session(txn) };
            lines.push(LockLine { tree, key: from.into(), locked: Locked::Range(to.into()), mode, owner, waits: None });
        });
        let mut of_txn: HashMap<u64, Vec<usize>> = HashMap::new();
        for (index, line) in lines.iter().enumerate() {
            of_txn.entry(line.owner.txn).or_default().push(index);
        }
        let mut waits = Vec::new();
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.waits.is_some()) {
            let blockers = self.blockers(statuses, line.owner.txn, 0);
            let mut blockers = blockers.map_or_else(Vec::new, |(_, blockers)| blockers.to_vec());
            blockers.sort_unstable();
            blockers.dedup();
            for lock in blockers.iter().filter_map(|blocker| of_txn.get(blocker)).flatten() {
                let held = &lines[*lock];
                if held.waits.is_none() && held.covers(line.tree, &line.key) {
                    waits.push((index, *lock));
                }
            }
        }
        LockReport { lines, waits }
    }

    fn row_lines(&self, statuses: &StatusTable) -> Vec<LockLine> {
        let mut lines = Vec::new();
        for shard in self.shards.iter().filter(|shard| shard.rows.load(Ordering::Relaxed) > 0) {
            for (name, row) in &*shard.map.lock() {
                let mut line = |txn, locked, mode, waits| {
                    let owner = LockOwner { txn, session: statuses.session(txn) };
                    lines.push(LockLine { tree: name.tree, key: name.key.clone(), locked, mode, owner, waits });
                };
                let holds = |txn, mode| row.grants.contains(&(txn, mode));
                if row.holder != 0 && !holds(row.holder, LockMode::Exclusive) && statuses.is_open(row.holder) {
                    line(row.holder, Locked::Row, LockMode::Exclusive, None);
                }
                for (txn, mode) in &row.grants {
                    line(*txn, Locked::Row, *mode, None);
                }
                for waiter in row.queue.iter().filter(|waiter| waiter.cell.waits()) {
                    let locked = if waiter.want == Want::Insert { Locked::Gap } else { Locked::Row };
                    line(waiter.cell.txn, locked, waiter.mode(), Some(waiter.cell.since.elapsed()));
                }
            }
        }
        lines
    }
}
