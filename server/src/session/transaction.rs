//! The session's transaction: BEGIN, autocommit, characteristics, savepoints, metadata locks.
//!
//! T1: `held` lists every plan whose tables this transaction uses, once each, and holds one share of the metadata lock
//!     of each of these tables. The shares are released when the transaction ends, after its changes are visible or
//!     undone. A table that is held already is not locked again: a waiting DDL statement may be queued, which waits for
//!     this transaction, so this would be a deadlock. A table that LOCK TABLES has locked is not locked again either
//!     (`table_locks`, L2).
//! T2: outside of a transaction (autocommit, no BEGIN) no lock is held between statements.
//! T3: a program inside a statement uses the transaction of the statement, with savepoints of its own. It cannot end the
//!     transaction, except when undoing a part of it fails.
//! T4: a plan that turns out to be out of date leaves its shares to the next plan of the statement. While they are held,
//!     no definition of these tables is published, so a statement is not overtaken again and again. They are given back
//!     before the session waits for a lock, because locks are waited for in the order of their tables; and at the end
//!     of the statement.

use crate::branch::{Branch, PreparedTxn};
use crate::counters::{Events, count};
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
use std::cell::Cell;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use sync::waits::{self, Cause, Kind, Object};
use txn::{Durability, Interrupt, Isolation, Savepoint, Txn};

/// Delay before a failed rollback is tried again.
const ROLLBACK_RETRY: Duration = Duration::from_secs(1);

/// The characteristics that `SET TRANSACTION` and `START TRANSACTION` set for one transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Characteristics {
    pub isolation: Option<Isolation>,
    pub read_only: Option<bool>,
}

/// The transaction of an execution, open or not.
pub struct Transaction<'s> {
    engine: Handle<'s>,
    terms: Terms,
    savepoints: Vec<(Box<str>, Savepoint)>,
    /// It is a branch of a distributed transaction (XA START).
    pub branch: Option<Box<Branch>>,
    /// The last transaction to end was committed.
    is_committed: bool,
}

/// The engine's transaction.
#[allow(clippy::large_enum_variant, reason = "a box would be an allocation for each transaction")]
enum Handle<'s> {
    /// `None`: it has not begun.
    Own(Option<Txn>),
    /// T3: the transaction of the enclosing statement. `has_ended`: it was ended, and another one has taken its place.
    Lent { txn: &'s mut Txn, has_ended: bool },
}

/// The name of the session's next transaction in the binary log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NextName {
    #[default]
    Automatic,
    /// The note has a GTID. It counts as executed with the next commit, whether that changes something or not.
    Given,
    /// A transaction has ended with it: `gtid_next` must be set again before something is changed.
    Spent,
}

/// The parts of a transaction that the engine does not know.
#[derive(Clone, Default)]
pub struct Terms {
    /// The session that it belongs to.
    session: u32,
    /// It was begun with BEGIN.
    explicit: bool,
    /// The open transaction is read-only.
    read_only: bool,
    /// The isolation level that BEGIN set, before the engine's transaction exists.
    isolation: Option<Isolation>,
    /// For the next transaction only.
    next: Characteristics,
    held: Rc<HeldTables>,
    locks: SessionLocks,
    /// Goes into the log with each commit, for the binary log.
    note: Option<Rc<[u8]>>,
    /// `gtid_next`
    name: NextName,
    /// Commits are not waited for until they are durable.
    is_soon: bool,
    /// The session's counters.
    info: Option<Rc<SessionInfo>>,
}

impl Terms {
    #[inline]
    fn count(&self, counter: impl FnOnce(&Events) -> &Cell<u64>) {
        if let Some(info) = &self.info {
            count(counter(&info.counters.events));
        }
    }

    fn start(&mut self, worker: &Worker, settings: &Settings, lasting: bool) -> Txn {
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
            (Isolation::RepeatableRead, true) if os::mutated("snapshot-per-statement") => Isolation::ReadCommitted,
            (isolation, _) => isolation,
        };
        let mut txn = worker.engine.begin(isolation);
        txn.set_lock_wait_timeout(settings.row_lock_wait);
        txn.set_session(self.session);
        txn
    }
}

impl Handle<'_> {
    fn get(&self) -> Option<&Txn> {
        match self {
            Self::Own(txn) => txn.as_ref(),
            Self::Lent { txn, .. } => Some(txn),
        }
    }

    fn get_mut(&mut self) -> Option<&mut Txn> {
        match self {
            Self::Own(txn) => txn.as_mut(),
            Self::Lent { txn, .. } => Some(txn),
        }
    }

    /// Takes the transaction out, to end it.
    fn take(&mut self, worker: &Worker) -> Option<Txn> {
        match self {
            Self::Own(txn) => txn.take(),
            Self::Lent { txn, has_ended } => {
                *has_ended = true;
                let next = worker.engine.begin(txn.isolation());
                Some(std::mem::replace(*txn, next))
            }
        }
    }
}

/// Whether a plan may run now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    Held,
    /// The schema changed since the plan was made: plan again. T4
    Stale,
}

impl<'s> Transaction<'s> {
    /// Is a multi-statement transaction open?
    pub fn is_open(&self) -> bool {
        self.terms.explicit || self.engine.get().is_some()
    }

    /// Has one of its statements used a table?
    pub fn is_used(&self) -> bool {
        !self.terms.held.is_empty() || self.engine.get().is_some_and(Txn::is_dirty)
    }

    /// Was the last transaction committed?
    pub fn is_committed(&self) -> bool {
        self.is_committed
    }

    pub fn is_explicit(&self) -> bool {
        self.terms.explicit
    }

    pub fn is_read_only(&self) -> bool {
        self.terms.read_only
    }

    /// BEGIN. The caller has committed an open transaction.
    pub fn begin(&mut self, worker: &Worker, settings: &Settings, read_only: Option<bool>, snapshot: bool) {
        let next = std::mem::take(&mut self.terms.next);
        self.terms.explicit = true;
        self.terms.read_only = read_only.or(next.read_only).unwrap_or(settings.read_only);
        self.terms.isolation = Some(next.isolation.unwrap_or(settings.isolation));
        if snapshot {
            self.ensure(worker, settings, true).take_snapshot(&worker.engine);
        }
    }

    /// The transactions of a session.
    pub fn of_session(info: &Rc<SessionInfo>) -> Self {
        let terms = Terms { session: info.id, held: Rc::clone(&info.held), info: Some(Rc::clone(info)), ..Terms::default() };
        Self { engine: Handle::Own(None), terms, savepoints: Vec::new(), branch: None, is_committed: true }
    }

    /// The transaction of a statement for a program that runs inside it. T3
    pub fn of_statement(txn: &'s mut Txn, terms: &Terms) -> Self {
        let engine = Handle::Lent { txn, has_ended: false };
        Self { engine, terms: terms.clone(), savepoints: Vec::new(), branch: None, is_committed: true }
    }

    /// Has a program inside a statement ended the transaction? T3
    pub fn has_ended(&self) -> bool {
        matches!(self.engine, Handle::Lent { has_ended: true, .. })
    }

    /// Ends the transaction of a statement after one of its programs had to: the engine's was ended already.
    pub fn note_ended(&mut self) {
        self.terms.explicit = false;
        self.terms.read_only = false;
        self.terms.isolation = None;
        self.savepoints.clear();
    }

    /// The engine's transaction, if it has begun, and the rest.
    pub fn parts(&mut self) -> (Option<&mut Txn>, &Terms) {
        (self.engine.get_mut(), &self.terms)
    }

    /// The engine's transaction for a statement; begins one if there is none. `lasting`: it stays open after the
    /// statement (inside BEGIN, or without autocommit).
    pub fn ensure(&mut self, worker: &Worker, settings: &Settings, lasting: bool) -> &mut Txn {
        let Self { engine, terms, .. } = self;
        match engine {
            Handle::Lent { txn, .. } => txn,
            Handle::Own(txn) => txn.get_or_insert_with(|| terms.start(worker, settings, lasting)),
        }
    }

    /// Would a statement outside of BEGIN be read-only? (1792 then refers to the next transaction.)
    pub fn next_is_read_only(&self, settings: &Settings) -> bool {
        if self.is_open() { self.terms.read_only } else { self.terms.next.read_only.unwrap_or(settings.read_only) }
    }

    /// SET TRANSACTION for the next one.
    pub fn set_next(&mut self, characteristics: Characteristics) -> Result<()> {
        if self.is_open() {
            return Err(Condition::CantChangeTxCharacteristics.into());
        }
        self.terms.next.isolation = characteristics.isolation.or(self.terms.next.isolation);
        self.terms.next.read_only = characteristics.read_only.or(self.terms.next.read_only);
        Ok(())
    }

    /// A definition counts as the next transaction.
    pub fn forget_next(&mut self) {
        self.terms.next = Characteristics::default();
    }

    /// The characteristics for COMMIT AND CHAIN.
    pub fn characteristics(&self) -> Characteristics {
        Characteristics { isolation: self.terms.isolation, read_only: Some(self.terms.read_only) }
    }

    pub fn txn(&mut self) -> Option<&mut Txn> {
        self.engine.get_mut()
    }

    /// Takes shares of the metadata locks of a plan's tables, unless held already, and checks that the plan is still
    /// valid.
    pub async fn hold(&mut self, worker: &Worker, info: &SessionInfo, plan: &Rc<PlanEntry>, settings: &Settings) -> Result<Hold> {
        if self.terms.held.has(plan) {
            return Ok(Hold::Held);
        }
        let tables = plan.prepared.tables();
        let mut held = Held::new(plan);
        for (position, (table, &used)) in tables.iter().zip(plan.prepared.table_uses()).enumerate() {
            if !self.terms.locks.is_empty() {
                match self.terms.locks.cover(table, used) {
                    Ok(false) => {}
                    Ok(true) => continue,
                    Err(error) => {
                        held.give_back(worker);
                        return Err(error);
                    }
                }
            }
            let before = self.terms.held.use_of(table);
            if before.is_none() && self.terms.held.take_pinned(table.mdl(), used) {
                held.take(position);
                continue;
            }
            let acquired = match before {
                Some(before) if before >= used => continue,
                Some(_) => table.mdl().acquire_writing(worker.index),
                None => table.mdl().acquire_shared(worker.index, used),
            };
            if let Err(wait) = acquired {
                self.terms.held.unpin();
                // A holder of locks that waits for more may be part of a deadlock, so this wait is short.
                let longest = if self.terms.held.is_empty() && self.terms.locks.backup.is_none() {
                    settings.metadata_lock_wait
                } else {
                    settings.metadata_lock_wait.min(settings.row_lock_wait)
                };
                if self.terms.locks.backup.is_some() && is_owner_waiting(&worker.shared, table) {
                    held.give_back(worker);
                    return Err(Error::Exec(expr::Error::Deadlock));
                }
                let began = Instant::now();
                let told = self.terms.held.wait(&held, table);
                let wait = wait_for(worker, info, wait, "Waiting for table metadata lock", longest);
                let cause = Cause::of(Kind::MetadataLock).with(Object::Table(table.def().id.0));
                let waited = waits::named(cause, wait).await;
                std::mem::drop(told);
                info.counters.note_metadata_wait(began.elapsed());
                if let Err(error) = waited {
                    held.give_back(worker);
                    return Err(Error::Exec(error));
                }
            }
            held.take(position);
        }
        self.terms.held.unpin();
        let database = &worker.shared.database;
        // Changes of other tables do not affect the plan: while the shares are held, its own tables do not change.
        if !plan.has_current_tables(database) && !os::mutated("unchecked-plan") && !os::mutated("stale-plan") {
            self.terms.held.pin(&held, worker);
            return Ok(Hold::Stale);
        }
        let is_readable = |txn: &Txn| tables.iter().try_for_each(|table| table.check_age(txn));
        if let Some(Err(error)) = self.engine.get().map(is_readable) {
            held.give_back(worker);
            return Err(Error::Exec(exec::engine_error(error)));
        }
        if !tables.is_empty() {
            self.terms.held.push(held);
        }
        Ok(Hold::Held)
    }

    /// The statement has ended: gives back the shares of a plan that was out of date. T4
    #[inline]
    pub fn unpin(&self) {
        self.terms.held.unpin();
    }

    /// Makes the mistake `early-metadata-release`, which the simulator must find.
    #[inline]
    pub fn mistake_early_release(&self, worker: &Worker) {
        if os::mutated("early-metadata-release") {
            self.terms.held.give_back(worker);
        }
    }

    pub fn locks(&self) -> &SessionLocks {
        &self.terms.locks
    }

    /// The locks of the session, for a change. The caller has ended the transaction, whose rows these locks protect.
    pub fn locks_mut(&mut self) -> &mut SessionLocks {
        &mut self.terms.locks
    }

    /// A savepoint for undoing a failed statement.
    pub fn mark(&self) -> Option<Savepoint> {
        self.engine.get().map(Txn::savepoint)
    }

    /// Undoes everything since `mark`.
    ///
    /// # Errors
    /// 1181: undoing failed (a full disk, an unreadable page). The transaction must not be committed then, so it is
    /// rolled back as a whole, in the background if necessary.
    pub async fn undo_to(&mut self, worker: &Rc<Worker>, mark: Option<Savepoint>) -> Result<()> {
        let (Some(txn), Some(mark)) = (self.engine.get_mut(), mark) else { return Ok(()) };
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

    /// Sets what goes into the log with each commit.
    pub fn set_note(&mut self, note: Option<Box<[u8]>>) {
        self.terms.note = note.map(Into::into);
    }

    pub fn note(&self) -> Option<&[u8]> {
        self.terms.note.as_deref()
    }

    /// The tables whose metadata locks it holds, and whether it writes them.
    pub fn tables_in_use(&self) -> Vec<(u64, bool)> {
        self.terms.held.in_use()
    }

    /// Gives away the engine's transaction with its metadata locks: the session has no transaction any more.
    pub fn detach(&mut self, worker: &Worker) -> Option<PreparedTxn> {
        let Handle::Own(txn) = &mut self.engine else { return None };
        let txn = ManuallyDrop::new(txn.take()?);
        let (mut shares, mut written) = (Vec::new(), Vec::new());
        for held in self.terms.held.take() {
            shares.extend(held.shares(worker));
            written.extend(held.written());
        }
        let note = self.terms.note.clone();
        self.spend_name();
        self.terms.explicit = false;
        self.terms.read_only = false;
        self.terms.isolation = None;
        self.savepoints.clear();
        Some(PreparedTxn { txn, note, shares, written })
    }

    /// From now on commits are durable soon, and not when they end: for who can do again what is lost.
    pub fn commit_soon(&mut self) {
        self.terms.is_soon = true;
    }

    pub fn next_name(&self) -> NextName {
        self.terms.name
    }

    pub fn set_next_name(&mut self, name: NextName) {
        self.terms.name = name;
    }

    /// The given GTID was used or given back.
    fn spend_name(&mut self) {
        if self.terms.name == NextName::Given {
            self.terms.name = NextName::Spent;
            self.terms.note = None;
        }
    }

    /// [`Self::commit`], with a given GTID also where nothing was changed.
    ///
    /// # Errors
    /// The GTID cannot be logged: nothing is committed.
    pub async fn commit_named(&mut self, worker: &Worker, settings: &Settings) -> Result<()> {
        if self.terms.name == NextName::Given
            && let Some(note) = self.terms.note.clone()
        {
            let txn = self.ensure(worker, settings, true);
            if !txn.has_written() {
                loop {
                    match txn.note_always(&worker.engine, &note) {
                        Ok(()) => break,
                        Err(Interrupt::Stall(stall)) => stall.await,
                        Err(Interrupt::Error(error)) => return Err(Error::Exec(exec::engine_error(error))),
                    }
                }
                self.spend_name();
            }
        }
        self.commit(worker).await;
        Ok(())
    }

    /// Has it written to tables that are not temporary?
    pub fn writes_lasting(&self) -> bool {
        self.terms.held.writes_lasting()
    }

    /// Has it changed rows?
    #[inline]
    pub fn has_written(&self) -> bool {
        self.engine.get().is_some_and(Txn::has_written)
    }

    /// Commits and waits until the commit is durable.
    pub async fn commit(&mut self, worker: &Worker) {
        self.is_committed = true;
        if self.is_used() {
            self.terms.count(|events| &events.commits);
        }
        let has_written = self.has_written();
        let terms = &self.terms;
        let stall = self.engine.take(worker).and_then(|mut txn| {
            if let Some(note) = &terms.note {
                txn.note(&worker.engine, note);
            }
            if terms.is_soon && worker.shared.config.durability == Durability::Full {
                return txn.commit_as(&worker.engine, Durability::Relaxed);
            }
            txn.commit(&worker.engine)
        });
        self.end(worker);
        if has_written {
            self.spend_name();
        }
        if let Some(stall) = stall.filter(|_| !os::mutated("early-answer")) {
            stall.await;
        }
        if has_written && worker.shared.semi_sync.is_enabled() && !self.terms.is_soon {
            // Boxed: rare, and it would make every commit's future larger.
            Box::pin(worker.shared.semi_sync.wait(worker)).await;
        }
    }

    pub async fn rollback(&mut self, worker: &Rc<Worker>) {
        self.is_committed = false;
        if let Some(branch) = &mut self.branch {
            branch.note_rolled_back();
        }
        if self.is_used() || self.terms.explicit {
            self.spend_name();
        }
        if let Some(mut txn) = self.engine.take(worker) {
            self.terms.count(|events| &events.rollbacks);
            let changes = txn.changes();
            loop {
                match txn.rollback(&worker.engine) {
                    Ok(()) => {
                        self.terms.held.note_rolled_back(worker, changes);
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
        let (held, locks) = (self.terms.held.take(), self.terms.locks.clone());
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
        self.terms.explicit = false;
        self.terms.read_only = false;
        self.terms.isolation = None;
        self.savepoints.clear();
        self.terms.held.give_back(worker);
    }

    /// SAVEPOINT name
    pub fn set_savepoint(&mut self, worker: &Worker, settings: &Settings, name: &str) {
        if !self.is_open() && settings.autocommit {
            // The transaction of this statement ends with it.
            return;
        }
        self.terms.count(|events| &events.savepoints);
        let place = self.ensure(worker, settings, true).savepoint();
        self.savepoints.retain(|(existing, _)| !existing.eq_ignore_ascii_case(name));
        self.savepoints.push((name.into(), place));
    }

    /// Makes the mistake `lost-outer-savepoints`, which the simulator must find. Called after programs have run.
    #[inline]
    pub fn mistake_lost_savepoints(&mut self) {
        if os::mutated("lost-outer-savepoints") {
            self.savepoints.clear();
        }
    }

    /// ROLLBACK TO SAVEPOINT name
    pub async fn rollback_to_savepoint(&mut self, worker: &Rc<Worker>, name: &str) -> Result<()> {
        let position = self.find_savepoint(name)?;
        let place = self.savepoints[position].1;
        self.savepoints.truncate(position + 1);
        if os::mutated("lost-savepoint") {
            return Ok(());
        }
        self.terms.count(|events| &events.savepoint_rollbacks);
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
        position.ok_or_else(|| Condition::SpDoesNotExist { kind: "SAVEPOINT".into(), name: name.into() }.into())
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
        if info.killed() != expr::kill::NONE && !os::mutated("deaf-wait") {
            return Poll::Ready(Err(expr::Error::Interrupted));
        }
        if worker.core.now() >= deadline {
            return Poll::Ready(Err(expr::Error::LockWaitTimeout));
        }
        worker.core.wake_at(deadline);
        waits::pending(Cause::of(Kind::MetadataLock));
        Poll::Pending
    })
    .await
}
