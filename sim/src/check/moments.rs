//! Reads judged by the times of the calls.
//!
//! - A version becomes visible at one moment within its writer's call of commit. A snapshot is taken at one moment within the call that took it. So each
//!   plain read says: the snapshot's moment lies behind the version's and before the next version's. All reads of one snapshot together must leave a
//!   moment.
//! - A locking read is a moment within its own call, and from then until its transaction ends nobody else writes the row, or, where
//!   gaps are locked, puts one there.
//! - A transaction reads its own changes.

use super::versions::{Version, Versions};
use crate::history::{Act, History, Key, Operation, Outcome, ReadKind, Span, Time, Transaction};
use std::collections::BTreeMap;

/// What the reader itself made of a row, and whether that was undone.
type OwnWrite<'a> = (&'a Option<Vec<u64>>, bool);

struct Reader<'a> {
    history: &'a History,
    index: usize,
    transaction: &'a Transaction,
}

/// What a snapshot's reads leave of its moment.
#[derive(Clone, Copy)]
struct Window {
    from: Time,
    to: Time,
}

/// Returns how many reads were judged.
pub fn check(history: &History, versions: &Versions<'_>) -> Result<u64, String> {
    let mut reads = 0;
    for (index, transaction) in history.transactions.iter().enumerate() {
        let reader = Reader { history, index, transaction };
        reader.check(versions).map_err(|why| {
            format!("transaction {} ({:?}, {:?}): {why}", transaction.number, transaction.level, transaction.outcome)
        })?;
        reads += transaction.operations.iter().filter(|o| matches!(o.act, Act::Read { .. })).count() as u64;
    }
    exclusive(history, versions)?;
    Ok(reads)
}

/// Nobody writes a row between another's write and the end of that one: no dirty write (G0).
fn exclusive(history: &History, versions: &Versions<'_>) -> Result<(), String> {
    for (key, list) in versions {
        for pair in list.windows(2) {
            let (Some(first), Some(second)) = (pair[0].writer, pair[1].writer) else { continue };
            let first_one = &history.transactions[first];
            // As in InnoDB, an insertion that was undone holds no lock any more.
            if first != second && !pair[0].undone && pair[1].written.to < first_one.finish.from {
                let second = history.transactions[second].number;
                return Err(format!("dirty write: transaction {second} wrote key {key} while {} had it", first_one.number));
            }
        }
    }
    Ok(())
}

/// The snapshot's moment if the version at `at` is what it shows.
fn window_of(list: &[Version<'_>], at: usize) -> Window {
    let from = list[at].visible.from;
    let to = list[at + 1..].iter().find(|version| version.counts).map_or(Time::MAX, |next| next.visible.to);
    Window { from, to }
}

impl Window {
    fn meet(self, other: Window) -> Window {
        Window { from: self.from.max(other.from), to: self.to.min(other.to) }
    }

    fn is_empty(self) -> bool {
        self.from > self.to
    }
}

impl From<Span> for Window {
    fn from(span: Span) -> Self {
        Window { from: span.from, to: span.to }
    }
}

impl Reader<'_> {
    fn check(&self, versions: &Versions<'_>) -> Result<(), String> {
        let mut windows: Vec<Window> = self.transaction.snapshots.iter().map(|span| (*span).into()).collect();
        let mut absent = Vec::new();
        let mut own: BTreeMap<Key, Vec<OwnWrite<'_>>> = BTreeMap::new();
        for operation in &self.transaction.operations {
            let list = &versions[&operation.key];
            let (kind, found) = match &operation.act {
                Act::Write { elements } => {
                    own.entry(operation.key).or_default().push((elements, operation.undone));
                    continue;
                }
                Act::Read { kind, found } => (*kind, found),
            };
            // A change that was undone later may have been there when it was read.
            if let Some(mine) = own.get(&operation.key) {
                let last = mine.iter().rposition(|(_, undone)| !undone);
                if mine[last.unwrap_or(0)..].iter().any(|(elements, _)| *elements == found) {
                    continue;
                }
                if last.is_some() {
                    return Err(format!("reads {found:?} of key {}, which it has changed to {:?}", operation.key, mine.last()));
                }
            }
            let Some(found) = found else {
                match kind {
                    ReadKind::Snapshot(snapshot) => absent.push((operation, snapshot)),
                    ReadKind::Locked => self.check_locked(operation, list, &self.absences(list))?,
                    ReadKind::Current => self.check_newest(operation, list, &self.absences(list))?,
                    ReadKind::Dirty => {}
                }
                continue;
            };
            let at = self.find(operation, list, found, kind)?;
            match kind {
                ReadKind::Snapshot(snapshot) => {
                    let window = windows[snapshot].meet(window_of(list, at));
                    if window.is_empty() {
                        return Err(format!(
                            "snapshot {snapshot}, taken at {:?}, is not one moment: it shows {found:?} of key {}, visible at {:?} until {:?}",
                            self.transaction.snapshots[snapshot],
                            operation.key,
                            list[at].visible,
                            window_of(list, at).to
                        ));
                    }
                    windows[snapshot] = window;
                }
                ReadKind::Locked => self.check_locked(operation, list, &[at])?,
                ReadKind::Current => self.check_newest(operation, list, &[at])?,
                ReadKind::Dirty => {}
            }
        }
        for (operation, snapshot) in absent {
            let list = &versions[&operation.key];
            let fits = self.absences(list).iter().any(|at| !windows[snapshot].meet(window_of(list, *at)).is_empty());
            if !fits {
                return Err(format!(
                    "snapshot {snapshot}, taken at {:?}, does not show key {}, which is there from {:?} on",
                    self.transaction.snapshots[snapshot],
                    operation.key,
                    list.iter().filter(|v| v.counts).map(|v| (v.visible, v.elements.is_some())).collect::<Vec<_>>()
                ));
            }
        }
        Ok(())
    }

    /// The versions that are no row.
    fn absences(&self, list: &[Version<'_>]) -> Vec<usize> {
        (0..list.len()).filter(|at| list[*at].counts && list[*at].elements.is_none()).collect()
    }

    /// Which version was read?
    fn find(&self, operation: &Operation, list: &[Version<'_>], found: &[u64], kind: ReadKind) -> Result<usize, String> {
        let key = operation.key;
        // A version that was undone or rolled back may be written again, element for element, by nobody: elements are unique.
        let Some(at) = list.iter().position(|version| version.elements == Some(found)) else {
            return Err(format!("reads {found:?} of key {key}, which nobody wrote"));
        };
        let dirty = kind == ReadKind::Dirty;
        if !list[at].counts && !dirty && list[at].writer != Some(self.index) {
            return Err(format!("reads {found:?} of key {key}, which was rolled back or replaced before the commit (G1a, G1b)"));
        }
        // What follows from a change that a crash took back is gone with it.
        let wrote = self.transaction.outcome == Outcome::Committed && self.transaction.writes().next().is_some();
        if wrote && !dirty && list[at].writer.is_some_and(|writer| self.history.transactions[writer].outcome == Outcome::Lost) {
            return Err(format!("reads {found:?} of key {key}, whose commit was lost, and was committed itself"));
        }
        Ok(at)
    }

    /// One of the versions at `candidates` was the newest committed one during the call.
    fn check_newest(&self, operation: &Operation, list: &[Version<'_>], candidates: &[usize]) -> Result<(), String> {
        let Operation { key, span, .. } = operation;
        let fits = candidates.iter().any(|at| !Window::from(*span).meet(window_of(list, *at)).is_empty());
        if fits {
            return Ok(());
        }
        Err(format!("a read of the newest version at {span:?} of key {key} does not give it: {:?}", operation.act))
    }

    /// And stays so until the transaction ends.
    fn check_locked(&self, operation: &Operation, list: &[Version<'_>], candidates: &[usize]) -> Result<(), String> {
        self.check_newest(operation, list, candidates)?;
        let Operation { key, span, .. } = operation;
        let gone = matches!(operation.act, Act::Read { found: None, .. });
        if gone && !self.transaction.level.locks_gaps() {
            return Ok(());
        }
        let end = self.transaction.finish.from;
        let other = |version: &&Version<'_>| version.writer.is_some_and(|writer| writer != self.index);
        match list.iter().filter(other).find(|version| span.to < version.written.to && version.written.to < end) {
            None => Ok(()),
            Some(version) => Err(format!(
                "key {key} was read with a lock at {span:?}, and written by another at {:?}, before the end at {end}",
                version.written
            )),
        }
    }
}
