//! Locks the tables that a definition changes.
//!
//! 1. The right to change each definition (`mdl`, M5), in the order of table ids, so that two definitions do not
//!    deadlock.
//! 2. All metadata locks exclusively, or none. A waiting exclusive lock blocks new users, so the wait is cut into
//!    turns: after `TURN` without success all locks are released, users run for `PAUSE`, and the next turn begins,
//!    until the statement's deadline. So nobody queues behind a definition for longer than a turn, however long the
//!    transaction runs that the definition waits for.
//!
//! A lock that LOCK TABLES ... WRITE gave to the session is not taken again, and not released.
//!
//! L1: while the definition rights are held nobody else changes the tables, even while users are let in (`let_in`).

use super::DdlOptions;
use super::online::ALONE_MAX;
use crate::database::{DdlState, Published};
use crate::mdl::{ClaimGuard, Claimed, DefinitionGuard, ExclusiveGuard, PAUSE, TURN};
use crate::{Database, Error, Result, Table};
use os::time::Instant;
use std::sync::Arc;
use std::time::Duration;
use sync::MutexGuard;
use txn::Worker;
use types::schema::TableId;

// No statement waits for metadata as long as a second, with room for threads to be scheduled.
const _: () = assert!(TURN.as_millis() + ALONE_MAX.as_millis() <= 750);
/// Where users change more in a pause than a definition can work off.
pub(super) const PAUSE_MIN: Duration = Duration::from_millis(20);
/// Between two looks at whether the statement was killed.
const LOOK: Duration = Duration::from_millis(100);

/// Tables whose definitions nobody else changes, and, but for a while, whose metadata locks are held alone.
pub(super) struct LockedTables {
    pub tables: Vec<Arc<Table>>,
    /// The tables that the session has locked by LOCK TABLES.
    owned: Vec<TableId>,
    /// Released before the definition rights: fields drop in order.
    exclusive: Vec<ExclusiveGuard>,
    /// Of the locks in `exclusive`, or of the one that is waited for.
    claims: Vec<ClaimGuard>,
    _definitions: Vec<(DefinitionGuard, ClaimGuard)>,
}

impl LockedTables {
    pub fn lock(worker: &Worker, mut tables: Vec<Arc<Table>>, deadline: Instant, options: &DdlOptions) -> Result<Self> {
        tables.sort_by_key(|table| table.id());
        tables.dedup_by_key(|table| table.id());
        // A long wait must not hold old versions back.
        worker.park();
        let locked = Self::lock_parked(tables, deadline, options);
        worker.tick();
        locked
    }

    fn lock_parked(tables: Vec<Arc<Table>>, deadline: Instant, options: &DdlOptions) -> Result<Self> {
        let mut owned = Vec::new();
        for table in &tables {
            match table.mdl.locked_by(options.session) {
                Some(Claimed::WriteLock) => owned.push(table.id()),
                Some(_) => return Err(Error::LockedForReading { table: table.def().name.clone() }),
                None => {}
            }
        }
        let others = tables.iter().filter(|table| !owned.contains(&table.id()));
        let definitions = others.map(|table| define_one(table, deadline, options)).collect::<Result<Vec<_>>>()?;
        let mut locked = Self { tables, owned, exclusive: Vec::new(), claims: Vec::new(), _definitions: definitions };
        while !locked.take_turn(deadline, options)? {
            pause(deadline, options)?;
        }
        Ok(locked)
    }

    /// Lets users in.
    pub fn let_in(&mut self) {
        self.exclusive.clear();
        self.claims.clear();
    }

    /// Locks alone again; whenever users have to be let in, `meanwhile` is called.
    pub fn lock_again(
        &mut self,
        worker: &Worker,
        deadline: Instant,
        options: &DdlOptions,
        mut meanwhile: impl FnMut() -> Result<()>,
    ) -> Result<()> {
        loop {
            worker.park();
            let taken = self.take_turn(deadline, options);
            worker.tick();
            if taken? {
                return Ok(());
            }
            let until = Instant::now() + PAUSE;
            meanwhile()?;
            worker.park();
            let paused = pause(until.min(deadline), options);
            worker.tick();
            paused?;
        }
    }

    /// Tries to take all locks. `false`: it took too long, none is held.
    fn take_turn(&mut self, deadline: Instant, options: &DdlOptions) -> Result<bool> {
        let end = Instant::now() + TURN;
        // The waits of the previous turn continue without a gap.
        let mut before = std::mem::take(&mut self.claims);
        for table in self.tables.iter().filter(|table| !self.owned.contains(&table.id())) {
            let claim = match before.iter().position(|claim| claim.is_on(&table.mdl)) {
                Some(place) => before.swap_remove(place),
                None => table.mdl.claim(options.session, Claimed::Alone),
            };
            match lock_one(table, end, deadline, options)? {
                Some(guard) => {
                    claim.hold();
                    self.claims.push(claim);
                    self.exclusive.push(guard);
                }
                None => {
                    self.exclusive.clear();
                    // It is waited for also while users go on.
                    self.claims = vec![claim];
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Nobody replaced a table between the look at the schema and the lock.
    pub fn are_current(&self, published: &Published) -> bool {
        self.tables.iter().all(|table| published.tables.get(&table.id()).is_some_and(|now| Arc::ptr_eq(now, table)))
    }
}

/// Waits for the lock until the end of the turn, looking at `cancelled` now and then.
fn lock_one(table: &Table, end: Instant, deadline: Instant, options: &DdlOptions) -> Result<Option<ExclusiveGuard>> {
    let mut wait = table.mdl.acquire_exclusive();
    loop {
        options.check_cancelled()?;
        let now = Instant::now();
        let taken = wait.wait_blocking(end.min(deadline).min(now + LOOK));
        options.progress.waits(taken.is_none());
        if taken.is_some() {
            return Ok(taken);
        }
        if now >= deadline {
            return Err(Error::LockWaitTimeout);
        }
        if now >= end {
            return Ok(None);
        }
    }
}

fn define_one(table: &Table, deadline: Instant, options: &DdlOptions) -> Result<(DefinitionGuard, ClaimGuard)> {
    let claim = table.mdl.claim(options.session, Claimed::Definition);
    loop {
        options.check_cancelled()?;
        let now = Instant::now();
        let taken = table.mdl.acquire_definition_blocking(deadline.min(now + LOOK));
        options.progress.waits(taken.is_none());
        if let Some(guard) = taken {
            claim.hold();
            return Ok((guard, claim));
        }
        if now >= deadline {
            return Err(Error::LockWaitTimeout);
        }
    }
}

/// Users go on until then, or until the statement's time is over.
fn pause(deadline: Instant, options: &DdlOptions) -> Result<()> {
    options.check_cancelled()?;
    os::thread::sleep(PAUSE.min(deadline.saturating_duration_since(Instant::now())));
    Ok(())
}

impl Database {
    /// Locks tables exclusively and takes the DDL mutex: the tables that `find` finds in the published schema, and
    /// still finds under the locks.
    pub(super) fn lock_tables(
        &self,
        worker: &Worker,
        find: impl Fn(&Published) -> Result<Vec<Arc<Table>>>,
        options: &DdlOptions,
    ) -> Result<(LockedTables, MutexGuard<'_, DdlState>)> {
        let deadline = Instant::now() + options.lock_wait_timeout;
        loop {
            let locked = LockedTables::lock(worker, find(&self.published())?, deadline, options)?;
            let ddl = self.lock_ddl();
            let published = self.published();
            let is_locked = |table: &Arc<Table>| locked.tables.iter().any(|other| Arc::ptr_eq(other, table));
            if locked.are_current(&published) && find(&published)?.iter().all(is_locked) {
                return Ok((locked, ddl));
            }
        }
    }
}
