//! The metadata locks that a session's transaction holds, and the one that it waits for. The transaction writes the
//! list; others on the session's worker may read it.
//!
//! H1: the transaction borrows the list while it changes it, and never across a wait, so a reader finds it free.

use crate::plan_cache::PlanEntry;
use crate::worker::Worker;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use table::{MetadataLock, ShareGuard, Table, TableUse};
use types::schema::TableDef;

/// The plans whose tables the transaction uses (T1 in `transaction`).
#[derive(Default)]
pub struct HeldTables {
    held: RefCell<Vec<Held>>,
    /// The shares of a plan that was out of date, until the statement is planned again (T4 in `transaction`).
    pinned: RefCell<Vec<ShareGuard>>,
    has_pinned: Cell<bool>,
    /// The plan and the table whose metadata lock is being waited for.
    waits: RefCell<Option<(Held, Arc<TableDef>)>>,
}

/// A plan in use.
pub struct Held {
    pub plan: Rc<PlanEntry>,
    /// The tables (one bit per position) whose share was taken for this plan, not for an earlier one.
    taken: SmallVec<[u64; 1]>,
}

/// A use of a table, as sent to another thread.
#[derive(Clone, Debug)]
pub struct UseLine {
    pub session: u32,
    pub table: Arc<TableDef>,
    pub used: TableUse,
    /// The lock is held; otherwise it is waited for.
    pub held: bool,
}

impl Held {
    pub fn new(plan: &Rc<PlanEntry>) -> Self {
        let count = plan.prepared.tables().len();
        Self { plan: Rc::clone(plan), taken: smallvec::smallvec![0; count.div_ceil(64).max(1)] }
    }

    pub fn take(&mut self, position: usize) {
        self.taken[position / 64] |= 1 << (position % 64);
    }

    fn has_taken(&self, position: usize) -> bool {
        self.taken[position / 64] & 1 << (position % 64) != 0
    }

    /// The shares that were taken, which are given back when they are dropped.
    pub fn shares(&self, worker: &Worker) -> Vec<ShareGuard> {
        let prepared = &self.plan.prepared;
        let uses = prepared.tables().iter().zip(prepared.table_uses()).enumerate();
        let taken = uses.filter(|(position, _)| self.has_taken(*position));
        taken.map(|(_, (table, used))| table.mdl().guard_shared(worker.index, *used)).collect()
    }

    /// The tables that it writes.
    pub fn written(&self) -> impl Iterator<Item = Arc<Table>> {
        let prepared = &self.plan.prepared;
        let uses = prepared.tables().iter().zip(prepared.table_uses());
        uses.filter(|(_, used)| **used == TableUse::Writes).map(|(table, _)| Arc::clone(table))
    }

    pub fn give_back(&self, worker: &Worker) {
        let prepared = &self.plan.prepared;
        for (position, (table, used)) in prepared.tables().iter().zip(prepared.table_uses()).enumerate() {
            if self.has_taken(position) {
                table.mdl().release_shared(worker.index, *used);
            }
        }
    }
}

impl HeldTables {
    /// Is the plan in the list?
    pub fn has(&self, plan: &Rc<PlanEntry>) -> bool {
        self.held.borrow().iter().any(|held| Rc::ptr_eq(&held.plan, plan))
    }

    /// The use for which the table is held; `None`: it is not held.
    pub fn use_of(&self, table: &Arc<Table>) -> Option<TableUse> {
        let held = self.held.borrow();
        let uses = held.iter().flat_map(|held| held.plan.prepared.tables().iter().zip(held.plan.prepared.table_uses()));
        uses.filter(|(other, _)| Arc::ptr_eq(other, table)).map(|(_, used)| *used).max()
    }

    /// The tables that are held, by their numbers, and whether for writing.
    pub fn in_use(&self) -> Vec<(u64, bool)> {
        let mut all = std::collections::BTreeMap::new();
        for held in &*self.held.borrow() {
            for (table, used) in held.plan.prepared.tables().iter().zip(held.plan.prepared.table_uses()) {
                *all.entry(table.id().0).or_default() |= *used == TableUse::Writes;
            }
        }
        all.into_iter().collect()
    }

    /// Are there tables among those it writes that are not temporary?
    pub fn writes_lasting(&self) -> bool {
        self.held.borrow().iter().any(|held| held.plan.wants_write)
    }

    pub fn is_empty(&self) -> bool {
        self.held.borrow().is_empty()
    }

    pub fn push(&self, held: Held) {
        self.held.borrow_mut().push(held);
    }

    /// Keeps the shares that were taken for a plan which is out of date.
    pub fn pin(&self, held: &Held, worker: &Worker) {
        self.has_pinned.set(true);
        self.pinned.borrow_mut().extend(held.shares(worker));
    }

    /// Takes over the share of this lock for this use, if it was kept. The caller gives it back.
    #[inline]
    pub fn take_pinned(&self, lock: &Arc<MetadataLock>, used: TableUse) -> bool {
        self.has_pinned.get() && self.find_pinned(lock, used)
    }

    #[cold]
    fn find_pinned(&self, lock: &Arc<MetadataLock>, used: TableUse) -> bool {
        let mut pinned = self.pinned.borrow_mut();
        let kept = pinned.iter().position(|share| share.is_of(lock, used));
        kept.map(|at| pinned.swap_remove(at).leave()).is_some()
    }

    /// Gives back the shares that were kept.
    #[inline]
    pub fn unpin(&self) {
        if self.has_pinned.replace(false) {
            self.pinned.take();
        }
    }

    pub fn take(&self) -> Vec<Held> {
        self.held.take()
    }

    pub fn give_back(&self, worker: &Worker) {
        for held in self.held.borrow_mut().drain(..) {
            held.give_back(worker);
        }
    }

    /// Notes that the transaction was rolled back after this many changed rows.
    pub fn note_rolled_back(&self, worker: &Worker, changes: u64) {
        for held in &*self.held.borrow() {
            held.written().for_each(|table| table.note_rolled_back(&worker.engine, changes));
        }
    }

    /// Publishes a wait until the guard is dropped.
    pub fn wait(&self, held: &Held, table: &Table) -> Waits<'_> {
        let held = Held { plan: Rc::clone(&held.plan), taken: held.taken.clone() };
        *self.waits.borrow_mut() = Some((held, Arc::clone(table.def())));
        Waits(self)
    }

    /// The uses as other sessions see them. A table that is first read and then written appears twice, as in MySQL.
    pub fn lines(&self, session: u32) -> Vec<UseLine> {
        let mut lines: Vec<UseLine> = Vec::new();
        let mut add = |held: &Held, taken_alone: bool| {
            let prepared = &held.plan.prepared;
            for (position, (table, &used)) in prepared.tables().iter().zip(prepared.table_uses()).enumerate() {
                let def = table.def();
                if def.id.is_temporary() || taken_alone && !held.has_taken(position) {
                    continue;
                }
                if !lines.iter().any(|line| line.table.id == def.id && line.used >= used) {
                    lines.push(UseLine { session, table: Arc::clone(def), used, held: true });
                }
            }
        };
        self.held.borrow().iter().for_each(|held| add(held, false));
        if let Some((held, table)) = &*self.waits.borrow() {
            add(held, true);
            let prepared = &held.plan.prepared;
            let at = prepared.tables().iter().position(|other| other.id() == table.id).expect("one of the plan's");
            lines.push(UseLine { session, table: Arc::clone(table), used: prepared.table_uses()[at], held: false });
        }
        lines
    }
}

/// A published wait.
pub struct Waits<'a>(&'a HeldTables);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        *self.0.waits.borrow_mut() = None;
    }
}

impl fmt::Debug for HeldTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldTables").finish_non_exhaustive()
    }
}
