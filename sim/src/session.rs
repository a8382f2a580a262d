//! One session: transaction after transaction, each a few random statements.
//!
//! Statements are those of a server: plain reads, locking reads, changes that start from the newest version, scans; at SERIALIZABLE
//! plain reads lock. A statement that fails is undone to where it began, and the transaction goes on or is rolled back, as in
//! `server`.

use crate::executor::Alarms;
use crate::history::{Act, Key, Level, ReadKind, Time};
use crate::model::session_of;
use crate::payload;
use crate::plan::Plan;
use crate::recorder::{Entry, Recorder};
use os::sim::{Rng, scheduler};
use std::rc::Rc;
use std::time::Duration;
use txn::{
    Company, Error, InsertOutcome, Interrupt, Isolation, LockMode, ReadMode, Scan, Seen, TreeRef, Txn, WaitPolicy, Worker,
    WriteOutcome,
};

/// A rollback that fails as often cannot be finished: a page that it needs cannot be read, and only a restart helps.
pub const ROLLBACK_TRIES: usize = 1_000;
/// Lists longer than this are left alone.
const ELEMENTS_MAX: usize = 120;

#[derive(Clone, Copy, Debug)]
pub struct Trees {
    pub rows: TreeRef,
    pub journal: TreeRef,
}

pub struct Session {
    pub id: u64,
    pub rng: Rng,
    pub worker: Rc<Worker>,
    pub alarms: Alarms,
    pub plan: Plan,
    pub trees: Trees,
    pub recorder: Recorder,
}

/// An open transaction and what is noted of it.
struct Open {
    txn: Txn,
    level: Level,
    entry: Entry,
    number: u64,
    /// Index of the snapshot in use.
    snapshot: Option<usize>,
    wrote: bool,
}

/// A call, with its stalls waited out.
pub async fn settle<T>(mut call: impl FnMut() -> txn::Result<T>) -> Result<T, Error> {
    loop {
        match call() {
            Ok(value) => return Ok(value),
            Err(Interrupt::Error(e)) => return Err(e),
            Err(Interrupt::Stall(stall)) => stall.await,
        }
    }
}

/// The row's key in its tree.
pub fn key_bytes(key: Key) -> [u8; 8] {
    key.to_be_bytes()
}

fn isolation(level: Level) -> Isolation {
    match level {
        Level::ReadUncommitted => Isolation::ReadUncommitted,
        Level::ReadCommitted => Isolation::ReadCommitted,
        Level::RepeatableRead => Isolation::RepeatableRead,
        Level::Serializable => Isolation::Serializable,
    }
}

pub fn decode(key: Key, bytes: &[u8]) -> Vec<u64> {
    payload::decode(bytes).unwrap_or_else(|| scheduler::fail(&format!("key {key} holds bytes that nobody wrote: {bytes:?}")))
}

/// An error that no transaction should see, unless something has gone wrong with the disk.
fn judge(error: &Error) {
    match error {
        Error::Deadlock => scheduler::count("deadlocks", 1),
        Error::LockWaitTimeout => scheduler::count("lock wait timeouts", 1),
        Error::WouldBlock => scheduler::count("refused locks", 1),
        Error::Storage(_) | Error::Full if os::sim::file::faults_seen() > 0 => scheduler::count("storage errors", 1),
        other => scheduler::fail(&format!("an error without a reason: {other}")),
    }
}

impl Session {
    pub async fn run(mut self) {
        for _ in 0..self.plan.transactions_per_session {
            self.transaction().await;
            self.pause().await;
        }
    }

    async fn pause(&mut self) {
        if self.plan.pause_us_max > 0 && self.rng.chance(1, 3) {
            let us = self.rng.below(self.plan.pause_us_max);
            self.alarms.sleep(Duration::from_micros(us)).await;
        }
    }

    async fn transaction(&mut self) {
        let level = *self.rng.pick(&self.plan.levels);
        let (entry, number) = self.recorder.begin(self.id, level);
        let mut open = Open { txn: self.worker.begin(isolation(level)), level, entry, number, snapshot: None, wrote: false };
        open.txn.set_lock_wait_timeout(Duration::from_millis(1 + self.rng.below(self.plan.lock_wait_ms_max)));
        let reads_only = self.rng.chance(1, 4);
        for _ in 0..self.rng.within(1..=self.plan.operations_max) {
            open.txn.begin_statement(&self.worker);
            if matches!(level, Level::ReadUncommitted | Level::ReadCommitted) {
                open.snapshot = None;
            }
            let (savepoint, first) = (open.txn.savepoint(), self.recorder.change(entry, |t| t.operations.len()));
            let done = self.statement(&mut open, reads_only).await;
            let failed = done.as_ref().err().cloned();
            if let Some(error) = &failed {
                scheduler::note(format_args!("transaction {number}: {error}"));
                judge(error);
            }
            let whole = matches!(failed, Some(Error::Deadlock | Error::Full | Error::Storage(_)));
            if whole || (failed.is_some() && self.rng.chance(1, 3)) {
                return self.roll_back(open).await;
            }
            if failed.is_some() || self.rng.chance(1, 12) {
                // What the statement changed is undone; the transaction goes on.
                if let Err(error) = settle(|| open.txn.rollback_to(&self.worker, savepoint)).await {
                    judge(&error);
                    return self.roll_back(open).await;
                }
                self.recorder.undone(entry, first);
            }
            open.txn.end_statement(&self.worker);
            self.pause().await;
        }
        if self.rng.chance(1, 10) {
            return self.roll_back(open).await;
        }
        self.commit(open).await;
    }

    async fn statement(&mut self, open: &mut Open, reads_only: bool) -> Result<(), Error> {
        let key = self.key();
        let draw = if reads_only { self.rng.below(40) } else { self.rng.below(100) };
        match draw {
            0..20 => self.read(open, key).await,
            20..33 => self.scan(open, false).await,
            33..40 if reads_only => self.read(open, key).await,
            33..45 => self.locking_read(open, key).await.map(drop),
            45..52 => self.scan(open, true).await,
            52..80 => self.append(open, key).await,
            80..90 => self.insert(open).await,
            _ => self.delete(open).await,
        }
    }

    /// Some keys are wanted more than others.
    fn key(&mut self) -> Key {
        match self.rng.below(3) {
            0 => self.rng.below(self.plan.keys.min(4)),
            1 => self.rng.below(self.plan.lasting_keys),
            _ => self.rng.below(self.plan.keys),
        }
    }

    fn passing_key(&mut self) -> Key {
        let spread = if self.rng.chance(1, 2) { 4 } else { self.plan.keys };
        self.plan.lasting_keys + self.rng.below((self.plan.keys - self.plan.lasting_keys).min(spread))
    }

    fn note_read(&self, open: &Open, key: Key, from: Time, kind: ReadKind, found: Option<Vec<u64>>) {
        self.recorder.operation(open.entry, key, self.recorder.since(from), Act::Read { kind, found });
    }

    /// The kind of a plain read that has just been made; a snapshot that it took is noted.
    fn plain(&self, open: &mut Open, from: Time) -> ReadKind {
        if open.level == Level::ReadUncommitted {
            return ReadKind::Dirty;
        }
        let span = self.recorder.since(from);
        let taken = *open.snapshot.get_or_insert_with(|| {
            self.recorder.change(open.entry, |t| {
                t.snapshots.push(span);
                t.snapshots.len() - 1
            })
        });
        ReadKind::Snapshot(taken)
    }

    async fn read(&mut self, open: &mut Open, key: Key) -> Result<(), Error> {
        if open.level == Level::Serializable {
            return self.lock(open, key, LockMode::Share, WaitPolicy::Wait).await.map(drop);
        }
        let mut row = Vec::new();
        let from = self.recorder.now();
        let there = settle(|| open.txn.read(&self.worker, self.trees.rows, &key_bytes(key), &mut row)).await?;
        let kind = self.plain(open, from);
        self.note_read(open, key, from, kind, there.then(|| decode(key, &row)));
        Ok(())
    }

    async fn locking_read(&mut self, open: &mut Open, key: Key) -> Result<(), Error> {
        let mode = *self.rng.pick(&[LockMode::Share, LockMode::Exclusive]);
        let policy = *self.rng.pick(&[WaitPolicy::Wait, WaitPolicy::Wait, WaitPolicy::NoWait, WaitPolicy::SkipLocked]);
        self.lock(open, key, mode, policy).await.map(drop)
    }

    /// A locking read of one key, and of the gap where there is no row.
    async fn lock(
        &mut self,
        open: &mut Open,
        key: Key,
        mode: LockMode,
        policy: WaitPolicy,
    ) -> Result<Option<(Seen, Vec<u64>)>, Error> {
        let bytes = key_bytes(key);
        let mut row = Vec::new();
        loop {
            let from = self.recorder.now();
            let seen = settle(|| open.txn.lock_row(&self.worker, self.trees.rows, &bytes, mode, policy, &mut row)).await?;
            if let Some(seen) = seen {
                let elements = decode(key, &row);
                self.note_read(open, key, from, ReadKind::Locked, Some(elements.clone()));
                return Ok(Some((seen, elements)));
            }
            if policy == WaitPolicy::SkipLocked {
                return Ok(None);
            }
            if !open.txn.locks_gaps() {
                self.note_read(open, key, from, ReadKind::Locked, None);
                return Ok(None);
            }
            if settle(|| open.txn.lock_gap(&self.worker, self.trees.rows, &bytes, mode)).await? {
                self.note_read(open, key, from, ReadKind::Locked, None);
                return Ok(None);
            }
        }
    }

    async fn scan(&mut self, open: &mut Open, locking: bool) -> Result<(), Error> {
        let low = self.rng.below(self.plan.keys);
        let high = (low + 1 + self.rng.below(self.plan.scan_keys_max)).min(self.plan.keys);
        let reverse = self.rng.chance(1, 3);
        let locks = locking || open.level == Level::Serializable;
        let lock_mode = if locking && self.rng.chance(1, 2) { LockMode::Exclusive } else { LockMode::Share };
        let mode = match locks {
            false => ReadMode::Snapshot,
            true if open.txn.locks_gaps() => ReadMode::Lock(lock_mode, WaitPolicy::Wait),
            true => ReadMode::Latest,
        };
        let limit = if self.rng.chance(1, 4) { 1 + self.rng.below(4) as usize } else { usize::MAX };
        let batch = self.rng.within(1..=20) as usize;
        let mut scan = Scan::new(self.trees.rows, &key_bytes(low), &key_bytes(high), reverse, mode);
        let by_page = mode == ReadMode::Snapshot && self.rng.chance(1, 2);
        let batch = if by_page { usize::MAX } else { batch };
        if by_page {
            scan.set_by_page();
        }
        let mut found = Vec::new();
        let mut ended = false;
        let from = self.recorder.now();
        while found.len() < limit && !ended {
            ended = !settle(|| scan.fill(&mut open.txn, &self.worker, batch)).await?;
            while let Some(row) = scan.next_row() {
                let key = [row.prefix, row.key].concat();
                let key = Key::from_be_bytes(key.try_into().unwrap_or_else(|_| scheduler::fail("a key of another length")));
                let is_next = found.last().is_none_or(|(last, _)| if reverse { key < *last } else { key > *last });
                if !is_next || !(low..high).contains(&key) {
                    scheduler::fail(&format!("a scan of {low}..{high} gives key {key} after {:?}", found.last()));
                }
                let elements = if row.payload.is_empty() { Vec::new() } else { decode(key, row.payload) };
                if mode == ReadMode::Latest && !row.held_by_other {
                    self.note_read(open, key, from, ReadKind::Current, Some(elements.clone()));
                }
                found.push((key, elements));
            }
        }
        if mode == ReadMode::Latest {
            for (key, _) in found {
                self.lock(open, key, lock_mode, WaitPolicy::Wait).await?;
            }
            return Ok(());
        }
        let kind = if locks { ReadKind::Locked } else { self.plain(open, from) };
        if ended && matches!(kind, ReadKind::Snapshot(_)) && self.rng.chance(1, 2) {
            self.count(open, low..high, found.len() as u64).await?;
        }
        let edge = found.last().map_or(low, |(key, _)| *key);
        let seen = match (ended, reverse) {
            (true, _) => low..high,
            (false, false) => low..edge + 1,
            (false, true) => edge..high,
        };
        let mut rows: std::collections::BTreeMap<Key, Vec<u64>> = found.into_iter().collect();
        for key in seen {
            self.note_read(open, key, from, kind, rows.remove(&key));
        }
        Ok(())
    }

    /// Counts the rows of a range in the snapshot that has shown so many.
    async fn count(&self, open: &mut Open, range: std::ops::Range<Key>, shown: u64) -> Result<(), Error> {
        let (low, high) = (key_bytes(range.start), key_bytes(range.end));
        let mut scan = Scan::new(self.trees.rows, &low, &high, false, ReadMode::Snapshot);
        let mut counted = 0;
        while let Some(rows) = settle(|| scan.count(&mut open.txn, &self.worker)).await? {
            counted += rows;
        }
        if counted != shown {
            scheduler::fail(&format!(
                "transaction {}: of {range:?} a snapshot shows {shown} rows and counts {counted}",
                open.number
            ));
        }
        Ok(())
    }

    fn encode(&self, elements: &[u64]) -> Vec<u8> {
        payload::encode(elements, self.plan.padding_max)
    }

    fn note_write(&self, open: &mut Open, key: Key, from: Time, elements: Option<Vec<u64>>) {
        open.wrote = true;
        self.recorder.operation(open.entry, key, self.recorder.since(from), Act::Write { elements });
    }

    /// The newest version of a row, which is not locked.
    async fn newest(&self, open: &mut Open, key: Key, row: &mut Vec<u8>) -> Result<Option<(Seen, Vec<u64>)>, Error> {
        let from = self.recorder.now();
        let seen = settle(|| open.txn.read_latest(&self.worker, self.trees.rows, &key_bytes(key), row)).await?;
        let found = seen.map(|seen| (seen, decode(key, row)));
        self.note_read(open, key, from, ReadKind::Current, found.as_ref().map(|(_, elements)| elements.clone()));
        Ok(found)
    }

    /// Adds an element to the row's list: UPDATE, or INSERT where there is none.
    async fn append(&mut self, open: &mut Open, key: Key) -> Result<(), Error> {
        let bytes = key_bytes(key);
        let locks_first = self.rng.chance(1, 2);
        let mut row = Vec::new();
        loop {
            let current = if locks_first {
                self.lock(open, key, LockMode::Exclusive, WaitPolicy::Wait).await?
            } else {
                self.newest(open, key, &mut row).await?
            };
            let from = self.recorder.now();
            let Some((seen, mut elements)) = current else {
                let elements = vec![self.recorder.element()];
                let new = self.encode(&elements);
                let outcome = settle(|| open.txn.insert(&self.worker, self.trees.rows, &bytes, &new)).await?;
                if outcome == InsertOutcome::Inserted {
                    self.note_write(open, key, from, Some(elements));
                    return Ok(());
                }
                continue;
            };
            if elements.len() >= ELEMENTS_MAX {
                return Ok(());
            }
            elements.push(self.recorder.element());
            let new = self.encode(&elements);
            match settle(|| open.txn.update(&self.worker, self.trees.rows, &bytes, seen, &new)).await? {
                WriteOutcome::Done => {
                    self.note_write(open, key, from, Some(elements));
                    return Ok(());
                }
                WriteOutcome::Changed if locks_first => scheduler::fail(&format!("key {key} was changed while it was locked")),
                WriteOutcome::Changed => {}
            }
        }
    }

    async fn insert(&mut self, open: &mut Open) -> Result<(), Error> {
        let key = self.passing_key();
        let elements = vec![self.recorder.element()];
        let new = self.encode(&elements);
        let from = self.recorder.now();
        let outcome = settle(|| open.txn.insert(&self.worker, self.trees.rows, &key_bytes(key), &new)).await?;
        if outcome == InsertOutcome::Inserted {
            self.note_write(open, key, from, Some(elements));
        }
        Ok(())
    }

    async fn delete(&mut self, open: &mut Open) -> Result<(), Error> {
        let key = self.passing_key();
        let bytes = key_bytes(key);
        let mut row = Vec::new();
        loop {
            let Some((seen, _)) = self.newest(open, key, &mut row).await? else { return Ok(()) };
            let from = self.recorder.now();
            if settle(|| open.txn.delete(&self.worker, self.trees.rows, &bytes, seen)).await? == WriteOutcome::Done {
                self.note_write(open, key, from, None);
                return Ok(());
            }
        }
    }

    /// Writes the transaction's number into the session's row, so that after a crash it is known whether it has lasted.
    async fn journal(&mut self, open: &mut Open) -> Result<(), Error> {
        let bytes = key_bytes(session_of(open.number));
        let new = open.number.to_be_bytes();
        let mut row = Vec::new();
        loop {
            let seen = settle(|| open.txn.read_latest(&self.worker, self.trees.journal, &bytes, &mut row)).await?;
            let done = match seen {
                None => {
                    let outcome = settle(|| open.txn.insert(&self.worker, self.trees.journal, &bytes, &new)).await?;
                    outcome == InsertOutcome::Inserted
                }
                Some(seen) => {
                    let outcome = settle(|| open.txn.update(&self.worker, self.trees.journal, &bytes, seen, &new)).await?;
                    outcome == WriteOutcome::Done
                }
            };
            if done {
                return Ok(());
            }
        }
    }

    async fn commit(&mut self, mut open: Open) {
        if open.wrote
            && let Err(error) = self.journal(&mut open).await
        {
            judge(&error);
            return self.roll_back(open).await;
        }
        if self.rng.chance(1, 8) {
            // An estimate, so it may be wrong.
            let all = [Company::Nobody, Company::OtherThreads, Company::ThisThread];
            self.worker.set_company(all[self.rng.within(0..=2) as usize]);
        }
        self.recorder.committing(open.entry);
        let flush = open.txn.commit(&self.worker);
        self.recorder.committed(open.entry);
        scheduler::count("commits", 1);
        if let Some(stall) = flush {
            stall.await;
        }
        self.recorder.acknowledged(open.entry);
        scheduler::note(format_args!("transaction {} is acknowledged", open.number));
    }

    async fn roll_back(&mut self, mut open: Open) {
        self.recorder.rolling_back(open.entry);
        for _ in 0..ROLLBACK_TRIES {
            match settle(|| open.txn.rollback(&self.worker)).await {
                Ok(()) => {
                    self.recorder.rolled_back(open.entry);
                    scheduler::count("rollbacks", 1);
                    return;
                }
                Err(error) => judge(&error),
            }
            self.alarms.sleep(Duration::from_millis(1)).await;
        }
        os::fatal("a rollback cannot be finished")
    }
}
