//! One thread's session, and its transactions.

use super::batch::{Batch, Buffers, Outcome, Update, wait, wait_out};
use super::{Error, Result};
use crate::{StoredRow, Table, TableUse};
use os::time::Instant;
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::Duration;
use txn::{Durability, Interrupt, Isolation, LockMode, Txn, Worker};
use types::Value;

/// How soon a rollback that found no room on disk is tried again.
const ROLLBACK_RETRY: Duration = Duration::from_secs(1);
const LOCK_WAIT_TIMEOUT: Duration = Duration::from_secs(50);

/// When a commit returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledge {
    /// When it is on disk: a crash loses nothing of it.
    Durable,
    /// At once. It is on disk about a second later, after every commit that it builds on.
    NotDurable,
}

/// What one thread works with: its part of the engine, and buffers that are reused from batch to batch. It can be sent to another thread
/// between two calls.
///
/// `read`, `insert`, `update` and `delete` are transactions of their own: what is written of a batch is committed together, and all its
/// keys are read from one snapshot. Keys of a batch are worked on in the order given.
pub struct Session {
    worker: Worker,
    buffers: Buffers,
    lock_wait_timeout: Duration,
    _open: Arc<()>,
}

impl Session {
    pub(super) fn new(worker: Worker, open: Arc<()>) -> Self {
        Self { worker, buffers: Buffers::default(), lock_wait_timeout: LOCK_WAIT_TIMEOUT, _open: open }
    }

    /// The longest wait for a row, or a table, that another transaction holds; 50 seconds at first.
    pub fn set_lock_wait_timeout(&mut self, timeout: Duration) {
        self.lock_wait_timeout = timeout;
    }

    /// Reads rows by primary key: `each(position, row)` is called once for every key, with `None` where no row has it. The row is
    /// borrowed from the session; columns are decoded as they are asked for. Nothing is allocated, locked or written.
    ///
    /// # Errors
    /// Keys that do not go with the table; the engine's errors.
    pub fn read<'v, K: AsRef<[Value<'v>]>>(
        &mut self,
        table: &Table,
        keys: &[K],
        each: impl FnMut(usize, Option<StoredRow<'_>>),
    ) -> Result<()> {
        let mut transaction = self.begin_with(Isolation::ReadCommitted);
        transaction.read(table, keys, each)?;
        transaction.commit(Acknowledge::NotDurable)
    }

    /// Inserts rows, one value per column. Answers one outcome per row.
    ///
    /// # Errors
    /// Then nothing was inserted: rows that do not go with the table; the engine's errors.
    pub fn insert<'v, R: AsRef<[Value<'v>]>>(
        &mut self,
        table: &Table,
        rows: &[R],
        acknowledge: Acknowledge,
    ) -> Result<&[Outcome]> {
        let mut transaction = self.begin_with(Isolation::ReadCommitted);
        transaction.insert(table, rows)?;
        transaction.commit(acknowledge)?;
        Ok(&self.buffers.outcomes)
    }

    /// Changes columns of rows. Answers one outcome per row; an update that changes nothing is `Done`.
    ///
    /// # Errors
    /// As `insert`.
    pub fn update(&mut self, table: &Table, updates: &[Update<'_>], acknowledge: Acknowledge) -> Result<&[Outcome]> {
        let mut transaction = self.begin_with(Isolation::ReadCommitted);
        transaction.update(table, updates)?;
        transaction.commit(acknowledge)?;
        Ok(&self.buffers.outcomes)
    }

    /// Deletes rows by primary key. Answers one outcome per key.
    ///
    /// # Errors
    /// As `insert`.
    pub fn delete<'v, K: AsRef<[Value<'v>]>>(
        &mut self,
        table: &Table,
        keys: &[K],
        acknowledge: Acknowledge,
    ) -> Result<&[Outcome]> {
        let mut transaction = self.begin_with(Isolation::ReadCommitted);
        transaction.delete(table, keys)?;
        transaction.commit(acknowledge)?;
        Ok(&self.buffers.outcomes)
    }

    /// Takes `count` numbers of the table's AUTO_INCREMENT column and gives the first; 0 without such a column.
    ///
    /// # Errors
    /// The table was replaced; the engine's errors.
    pub fn reserve_auto_increment(&mut self, table: &Table, count: u64) -> Result<u64> {
        let mut transaction = self.begin();
        transaction.hold(table)?;
        let worker = &transaction.session.worker;
        wait_out(worker, || table.reserve_auto_increment(worker, count))
    }

    /// Begins a transaction at REPEATABLE READ.
    pub fn begin(&mut self) -> Transaction<'_> {
        self.begin_with(Isolation::RepeatableRead)
    }

    /// Begins a transaction.
    pub fn begin_with(&mut self, isolation: Isolation) -> Transaction<'_> {
        self.worker.tick();
        let mut txn = self.worker.begin(isolation);
        txn.set_lock_wait_timeout(self.lock_wait_timeout);
        Transaction { session: self, txn, held: SmallVec::new(), is_over: false }
    }
}

/// Several batches that are committed together. Dropped without [`Transaction::commit`] it is rolled back, as it is by every error.
pub struct Transaction<'s> {
    session: &'s mut Session,
    txn: Txn,
    /// E1
    held: SmallVec<[&'s Table; 4]>,
    is_over: bool,
}

impl<'s> Transaction<'s> {
    /// As [`Session::read`], from this transaction's snapshot and its own changes.
    ///
    /// # Errors
    /// As [`Session::read`].
    pub fn read<'v, K: AsRef<[Value<'v>]>>(
        &mut self,
        table: &'s Table,
        keys: &[K],
        each: impl FnMut(usize, Option<StoredRow<'_>>),
    ) -> Result<()> {
        self.batch(table, |batch| batch.read(keys, each))
    }

    /// As `read`, of the newest committed rows, which stay locked until the transaction ends.
    ///
    /// # Errors
    /// As `read`; a deadlock, or a lock waited for too long.
    pub fn lock<'v, K: AsRef<[Value<'v>]>>(
        &mut self,
        table: &'s Table,
        keys: &[K],
        mode: LockMode,
        each: impl FnMut(usize, Option<StoredRow<'_>>),
    ) -> Result<()> {
        self.batch(table, |batch| batch.lock(keys, mode, each))
    }

    /// As [`Session::insert`].
    ///
    /// # Errors
    /// As [`Session::insert`].
    pub fn insert<'v, R: AsRef<[Value<'v>]>>(&mut self, table: &'s Table, rows: &[R]) -> Result<&[Outcome]> {
        self.write(table, rows, |batch, row| batch.insert(row.as_ref()))
    }

    /// As [`Session::update`].
    ///
    /// # Errors
    /// As [`Session::update`].
    pub fn update(&mut self, table: &'s Table, updates: &[Update<'_>]) -> Result<&[Outcome]> {
        self.write(table, updates, |batch, update| batch.update(update))
    }

    /// As [`Session::delete`].
    ///
    /// # Errors
    /// As [`Session::delete`].
    pub fn delete<'v, K: AsRef<[Value<'v>]>>(&mut self, table: &'s Table, keys: &[K]) -> Result<&[Outcome]> {
        self.write(table, keys, |batch, key| batch.delete(key.as_ref()))
    }

    /// Commits: from now on others see it.
    ///
    /// # Errors
    /// An earlier error has ended the transaction.
    pub fn commit(mut self, acknowledge: Acknowledge) -> Result<()> {
        if self.is_over {
            return Err(Error::Over);
        }
        let durability = match (acknowledge, self.session.worker.engine().durability()) {
            (_, Durability::None) => Durability::None,
            (Acknowledge::Durable, _) => Durability::Full,
            (Acknowledge::NotDurable, _) => Durability::Relaxed,
        };
        let flush = self.txn.commit_as(&self.session.worker, durability);
        self.end();
        if let Some(flush) = flush {
            flush.wait_blocking();
        }
        Ok(())
    }

    /// Undoes everything.
    pub fn rollback(mut self) {
        self.abandon();
    }

    fn write<T>(
        &mut self,
        table: &'s Table,
        rows: &[T],
        mut one: impl FnMut(&mut Batch<'_>, &T) -> Result<Outcome>,
    ) -> Result<&[Outcome]> {
        self.batch(table, |batch| {
            batch.buffers.outcomes.clear();
            batch.buffers.outcomes.reserve(rows.len());
            for (position, row) in rows.iter().enumerate() {
                batch.tick(position);
                let outcome = one(batch, row)?;
                batch.buffers.outcomes.push(outcome);
            }
            Ok(())
        })?;
        Ok(&self.session.buffers.outcomes)
    }

    /// One statement of the transaction; an error ends it.
    #[inline]
    fn batch(&mut self, table: &'s Table, work: impl FnOnce(&mut Batch<'_>) -> Result<()>) -> Result<()> {
        if self.is_over {
            return Err(Error::Over);
        }
        // The first one comes right after the tick of `begin_with`.
        if !self.held.is_empty() {
            self.session.worker.tick();
        }
        let done = self.hold(table).and_then(|()| {
            let Session { worker, buffers, .. } = &mut *self.session;
            self.txn.begin_statement(worker);
            let done = work(&mut Batch { table, worker, txn: &mut self.txn, buffers });
            self.txn.end_statement(worker);
            done
        });
        if done.is_err() {
            self.abandon();
        }
        done
    }

    /// E1
    #[inline]
    fn hold(&mut self, table: &'s Table) -> Result<()> {
        if self.held.iter().any(|held| std::ptr::eq(*held, table)) {
            return Ok(());
        }
        let worker = &self.session.worker;
        if let Err(wait) = table.mdl().acquire_shared(worker.index(), TableUse::Writes) {
            worker.park();
            let got = wait.wait_blocking(Instant::now() + self.session.lock_wait_timeout);
            worker.tick();
            if !got {
                return Err(txn::Error::LockWaitTimeout.into());
            }
        }
        self.held.push(table);
        if table.is_replaced() { Err(Error::TableReplaced) } else { Ok(table.check_age(&self.txn)?) }
    }

    #[cold]
    fn abandon(&mut self) {
        if self.is_over {
            return;
        }
        let worker = &self.session.worker;
        self.session.buffers.reset();
        loop {
            match self.txn.rollback(worker) {
                Ok(()) => break,
                Err(Interrupt::Stall(stall)) => wait(worker, stall),
                // Its rows stay locked until there is room again.
                Err(Interrupt::Error(_)) => {
                    worker.park();
                    os::thread::sleep(ROLLBACK_RETRY);
                    worker.tick();
                }
            }
        }
        self.end();
    }

    fn end(&mut self) {
        self.is_over = true;
        let worker = &self.session.worker;
        self.held.drain(..).for_each(|table| table.mdl().release_shared(worker.index(), TableUse::Writes));
        worker.park();
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.abandon();
        }
    }
}
