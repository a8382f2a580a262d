//! The session's transaction: BEGIN, autocommit, characteristics, savepoints, metadata locks.
//!
//! T1: `held` lists every plan whose tables this transaction uses, once each, and holds one share of the metadata lock
//!     of each of these tables. The shares are released when the transaction ends, after its changes are visible or
//!     undone. A table that is held already is not locked again: a waiting DDL statement may be queued, which waits for
//!     this transaction, so this would be a deadlock. A table that LOCK TABLES has locked is not locked again either
//!     (`table_locks`, L2).
//! T2: outside of a transaction (autocommit, no BEGIN) no lock is held between statements.

use crate::error::{Error, Result};
use crate::plan_cache::PlanEntry;
use crate::session::held::{Held, HeldTables};
use crate::session::info::SessionInfo;
use crate::session::lock_statements::is_owner_waiting;
use crate::session::settings::Settings;
use crate::session::table_locks::SessionLocks;
use crate::worker::Worker;
use conditions::Condition;
use os::time::Instant;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use txn::{Interrupt, Isolation, Savepoint, Txn};

/// Delay before a failed rollback is tried again.
const ROLLBACK_RETRY: Duration = Duration::from_secs(1);

/// The characteristics that `SET TRANSACTION` and `START TRANSACTION` set for one transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Characteristics {
    pub isolation: Option<Isolation>,
    pub read_only: Option<bool>,
}

#[derive(Default)]
pub struct Transaction {
    /// The session that it belongs to.
    session: u32,
    txn: Option<Txn>,
    /// It was begun with BEGIN.
    explicit: bool,
    /// The open transaction is read-only.
    read_only: bool,
    /// The isolation level that BEGIN set, before the engine's transaction exists.
    isolation: Option<Isolation>,
    /// For the next transaction only.
    next: Characteristics,
    savepoints: Vec<(Box<str>, Savepoint)>,
    /// The savepoints of the statements that enclose running functions and triggers, outermost first.
    outer_savepoints: Vec<Vec<(Box<str>, Savepoint)>>,
    held: Rc<HeldTables>,
    locks: SessionLocks,
    /// Something was read or changed; for clients that track the transaction state.
    pub wrote: bool,
}

/// Whether a plan may run now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    Held,
    /// The schema changed since the plan was made: no lock is held, plan again.
    Stale,
}

impl Transaction {
    /// Is a multi-statement transaction open?
    pub fn is_open(&self) -> bool {
        self.explicit || self.txn.is_some()
    }

    /// Has one of its statements used a table?
    pub fn is_used(&self) -> bool {
        !self.held.is_empty() || self.txn.as_ref().is_some_and(Txn::is_dirty)
    }

    pub fn is_explicit(&self) -> bool {
        self.explicit
    }

    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// BEGIN. The caller has committed an open transaction.
    pub fn begin(&mut self, worker: &Worker, settings: &Settings, read_only: Option<bool>, snapshot: bool) {
        let next = std::mem::take(&mut self.next);
        self.explicit = true;
        self.read_only = read_only.or(next.read_only).unwrap_or(settings.read_only);
        self.isolation = Some(next.isolation.unwrap_or(settings.isolation));
        if snapshot {
            self.ensure(worker, settings, true).take_snapshot(&worker.engine);
        }
    }

    /// The transactions of a session.
    pub fn of_session(info: &SessionInfo) -> Self {
        Self { session: info.id, held: Rc::clone(&info.held), ..Self::default() }
    }

    /// The engine's transaction for a statement; begins one if there is none. `lasting`: it stays open after the
    /// statement (inside BEGIN, or without autocommit).
    pub fn ensure(&mut self, worker: &Worker, settings: &Settings, lasting: bool) -> &mut Txn {
        if self.txn.is_none() {
            self.start(worker, settings, lasting);
        }
        self.txn.as_mut().expect("made above")
    }

    fn start(&mut self, worker: &Worker, settings: &Settings, lasting: bool) {
        let isolation = match self.isolation {
            Some(isolation) => isolation,
            None => {
                let next = std::mem::take(&mut self.next);
                self.read_only = next.read_only.unwrap_or(settings.read_only);
                next.isolation.unwrap_or(settings.isolation)
            }
        };
        // A single SELECT needs no locks to be serializable: it is serialized at its snapshot, as in InnoDB.
        let isolation = match (isolation, lasting) {
            (Isolation::Serializable, false) => Isolation::RepeatableRead,
            (isolation, _) => isolation,
        };
        let mut txn = worker.engine.begin(isolation);
        txn.set_lock_wait_timeout(settings.row_lock_wait);
        txn.set_session(self.session);
        self.txn = Some(txn);
    }

    /// Would a statement outside of BEGIN be read-only? (1792 then refers to the next transaction.)
    pub fn next_is_read_only(&self, settings: &Settings) -> bool {
        if self.is_open() { self.read_only } else { self.next.read_only.unwrap_or(settings.read_only) }
    }

    /// SET TRANSACTION for the next one.
    pub fn set_next(&mut self, characteristics: Characteristics) -> Result<()> {
        if self.is_open() {
            return Err(Error::TransactionOpen);
        }
        self.next.isolation = characteristics.isolation.or(self.next.isolation);
        self.next.read_only = characteristics.read_only.or(self.next.read_only);
        Ok(())
    }

    /// A definition counts as the next transaction.
    pub fn forget_next(&mut self) {
        self.next = Characteristics::default();
    }

    /// The characteristics for COMMIT AND CHAIN.
    pub fn characteristics(&self) -> Characteristics {
        Characteristics { isolation: self.isolation, read_only: Some(self.read_only) }
    }

    pub fn txn(&mut self) -> Option<&mut Txn> {
        self.txn.as_mut()
    }

    /// Takes the engine's transaction out temporarily; the rest stays.
    pub fn take_txn(&mut self) -> Option<Txn> {
        self.txn.take()
    }

    pub fn put_txn(&mut self, txn: Txn) {
        self.txn = Some(txn);
    }

    /// Takes shares of the metadata locks of a plan's tables, unless held already, and checks that the plan is still
    /// valid.
    pub async fn hold(&mut self, worker: &Worker, info: &SessionInfo, plan: &Rc<PlanEntry>, settings: &Settings) -> Result<Hold> {
        if self.held.has(plan) {
            return Ok(Hold::Held);
        }
        let tables = plan.prepared.tables();
        let mut held = Held::new(plan);
        for (position, (table, &used)) in tables.iter().zip(plan.prepared.table_uses()).enumerate() {
            if !self.locks.is_empty() {
                match self.locks.cover(table, used) {
                    Ok(false) => {}
                    Ok(true) => continue,
                    Err(error) => {
                        held.give_back(worker);
                        return Err(error);
                    }
                }
            }
            let acquired = match self.held.use_of(table) {
                Some(before) if before >= used => continue,
                Some(_) => table.mdl().acquire_writing(worker.index),
                None => table.mdl().acquire_shared(worker.index, used),
            };
            if let Err(wait) = acquired {
                // A holder of locks that waits for more may be part of a deadlock, so this wait is short.
                let longest = match self.held.is_empty() && self.locks.backup.is_none() {
                    true => settings.metadata_lock_wait,
                    false => settings.metadata_lock_wait.min(settings.row_lock_wait),
                };
                if self.locks.backup.is_some() && is_owner_waiting(&worker.shared, table) {
                    held.give_back(worker);
                    return Err(Error::Exec(expr::Error::Deadlock));
                }
                let began = Instant::now();
                let told = self.held.wait(&held, table);
                let waited = wait_for(worker, info, wait, "Waiting for table metadata lock", longest).await;
                std::mem::drop(told);
                info.counters.note_metadata_wait(began.elapsed());
                if let Err(error) = waited {
                    held.give_back(worker);
                    return Err(Error::Exec(error));
                }
            }
            held.take(position);
        }
        let database = &worker.shared.database;
        // Changes of other tables do not affect the plan: while the shares are held, its own tables do not change.
        if !plan.has_current_tables(database) {
            held.give_back(worker);
            return Ok(Hold::Stale);
        }
        let is_readable = |txn: &Txn| tables.iter().try_for_each(|table| table.check_age(txn));
        if let Some(Err(error)) = self.txn.as_ref().map(is_readable) {
            held.give_back(worker);
            return Err(Error::Exec(exec::engine_error(error)));
        }
        if !tables.is_empty() {
            self.held.push(held);
        }
        Ok(Hold::Held)
    }

    pub fn locks(&self) -> &SessionLocks {
        &self.locks
    }

    /// The locks of the session, for a change. The caller has ended the transaction, whose rows these locks protect.
    pub fn locks_mut(&mut self) -> &mut SessionLocks {
        &mut self.locks
    }

    /// A savepoint for undoing a failed statement.
    pub fn mark(&self) -> Option<Savepoint> {
        self.txn.as_ref().map(Txn::savepoint)
    }

    /// Undoes everything since `mark`.
    ///
    /// # Errors
    /// 1181: undoing failed (a full disk, an unreadable page). The transaction must not be committed then, so it is
    /// rolled back as a whole, in the background if necessary.
    pub async fn undo_to(&mut self, worker: &Rc<Worker>, mark: Option<Savepoint>) -> Result<()> {
        let (Some(txn), Some(mark)) = (&mut self.txn, mark) else { return Ok(()) };
        loop {
            match txn.rollback_to(&worker.engine, mark) {
                Ok(()) => return Ok(()),
                Err(Interrupt::Stall(stall)) => stall.await,
                Err(Interrupt::Error(error)) => {
                    let condition = Condition::ErrorDuringRollback { error: error.into() };
                    tracing::error!("{condition}");
                    self.rollback(worker).await;
                    return Err(condition.into());
                }
            }
        }
    }

    /// Commits and waits until the commit is durable.
    pub async fn commit(&mut self, worker: &Worker) {
        let stall = self.txn.take().and_then(|mut txn| txn.commit(&worker.engine));
        self.end(worker);
        if let Some(stall) = stall {
            stall.await;
        }
    }

    pub async fn rollback(&mut self, worker: &Rc<Worker>) {
        if let Some(mut txn) = self.txn.take() {
            let changes = txn.changes();
            loop {
                match txn.rollback(&worker.engine) {
                    Ok(()) => {
                        self.held.note_rolled_back(worker, changes);
                        break;
                    }
                    Err(Interrupt::Stall(stall)) => stall.await,
                    Err(Interrupt::Error(error)) => {
                        tracing::error!("a transaction cannot be rolled back yet ({error}): its rows stay locked meanwhile");
                        self.roll_back_later(worker, txn);
                        break;
                    }
                }
            }
        }
        self.end(worker);
    }

    /// Retries the rollback in the background while the session continues. The tables stay locked until it is done.
    #[cold]
    fn roll_back_later(&mut self, worker: &Rc<Worker>, txn: Txn) {
        // Dropping an open transaction is a bug, except when the server stops: the next start undoes it.
        let mut txn = ManuallyDrop::new(txn);
        let (held, locks) = (self.held.take(), self.locks.clone());
        let task_worker = Rc::clone(worker);
        worker.core.spawn(async move {
            let (worker, _locks) = (task_worker, locks);
            while !worker.is_stopping() {
                match txn.rollback(&worker.engine) {
                    Ok(()) => {
                        tracing::info!("a transaction that could not be rolled back before is rolled back now");
                        held.iter().for_each(|held| held.give_back(&worker));
                        return;
                    }
                    Err(Interrupt::Stall(stall)) => stall.await,
                    Err(Interrupt::Error(_)) => worker.core.sleep_until(worker.core.now() + ROLLBACK_RETRY).await,
                }
            }
        });
    }

    fn end(&mut self, worker: &Worker) {
        self.explicit = false;
        self.read_only = false;
        self.isolation = None;
        self.wrote = false;
        self.savepoints.clear();
        self.outer_savepoints.clear();
        self.held.give_back(worker);
    }

    /// SAVEPOINT name
    pub fn set_savepoint(&mut self, worker: &Worker, settings: &Settings, name: &str) {
        if !self.is_open() && settings.autocommit {
            // The transaction of this statement ends with it.
            return;
        }
        let place = self.ensure(worker, settings, true).savepoint();
        self.savepoints.retain(|(existing, _)| !existing.eq_ignore_ascii_case(name));
        self.savepoints.push((name.into(), place));
    }

    /// Begins a function or trigger, which has its own savepoints and does not see the outer ones.
    pub fn begin_savepoint_level(&mut self) {
        self.outer_savepoints.push(std::mem::take(&mut self.savepoints));
    }

    /// Ends it; if the transaction has ended, all savepoints are gone.
    pub fn end_savepoint_level(&mut self) {
        self.savepoints = self.outer_savepoints.pop().unwrap_or_default();
    }

    /// ROLLBACK TO SAVEPOINT name
    pub async fn rollback_to_savepoint(&mut self, worker: &Rc<Worker>, name: &str) -> Result<()> {
        let position = self.find_savepoint(name)?;
        let place = self.savepoints[position].1;
        self.savepoints.truncate(position + 1);
        self.undo_to(worker, Some(place)).await
    }

    /// RELEASE SAVEPOINT name
    pub fn release_savepoint(&mut self, name: &str) -> Result<()> {
        let position = self.find_savepoint(name)?;
        self.savepoints.truncate(position);
        Ok(())
    }

    fn find_savepoint(&self, name: &str) -> Result<usize> {
        let position = self.savepoints.iter().position(|(existing, _)| existing.eq_ignore_ascii_case(name));
        position.ok_or_else(|| Error::DoesNotExist { kind: "SAVEPOINT", name: name.to_owned() })
    }
}

/// Waits for a metadata lock; KILL ends the wait.
#[cold]
pub async fn wait_for<T>(
    worker: &Worker,
    info: &SessionInfo,
    wait: impl Future<Output = T>,
    state: &'static str,
    longest: Duration,
) -> expr::Result<T> {
    let deadline = worker.core.now() + longest;
    info.state.set(state);
    let mut wait = std::pin::pin!(wait);
    std::future::poll_fn(|cx| {
        if let Poll::Ready(got) = wait.as_mut().poll(cx) {
            info.state.set("executing");
            return Poll::Ready(Ok(got));
        }
        if info.killed() != expr::kill::NONE {
            return Poll::Ready(Err(expr::Error::Interrupted));
        }
        if worker.core.now() >= deadline {
            return Poll::Ready(Err(expr::Error::LockWaitTimeout));
        }
        worker.core.wake_at(deadline);
        Poll::Pending
    })
    .await
}
