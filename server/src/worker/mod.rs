//! A worker: one thread, its event loop, its sessions, its part of the engine.
//!
//! Everything here lives on one thread. Others reach a worker by messages only: a new connection, a call to run (SHOW
//! PROCESSLIST, SHOW STATUS, KILL), the order to stop.

mod accept;
mod arena;
mod gather;
mod turn;

#[cfg(not(sim))]
pub use accept::hand_over;
pub use accept::{Acceptor, Listeners};
pub use arena::ArenaGuard;
pub use gather::{gather, gather_for};

use crate::account::Definers;
use crate::counters::Counters;
use crate::digests::Digests;
use crate::plan_cache::PlanCache;
use crate::record::Past;
use crate::session::SessionInfo;
use crate::shared::Shared;
use accounts::{Access, Accesses, Identity, Name};
use os::time::Instant;
use reactor::connection::{Buffers, Stream};
use reactor::{Core, EventLoop, Remote};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use types::schema::Schema;

/// Something that a worker runs for another thread.
type Call = Box<dyn FnOnce(&Rc<Worker>) + Send>;

/// Messages of other threads to a worker.
pub enum Message {
    /// A client that the acceptor chose this worker for; its load is counted already.
    Connection {
        stream: Stream,
        id: u32,
        /// It came by the address for administrators.
        admin: bool,
    },
    Call(Call),
    Stop,
}

pub type WorkerRemote = Remote<Message>;

/// The state of one worker thread, shared by its sessions.
pub struct Worker {
    pub index: usize,
    pub core: Rc<Core>,
    pub engine: txn::Worker,
    pub shared: Arc<Shared>,
    pub buffers: Rc<Buffers>,
    pub counters: Counters,
    pub plans: RefCell<PlanCache>,
    pub digests: Digests,
    /// What its ended sessions have done.
    pub past: Past,
    /// The effective privileges of its sessions.
    pub accesses: RefCell<Accesses>,
    pub routines: RefCell<crate::routine::Routines>,
    pub sessions: RefCell<BTreeMap<u32, Rc<SessionInfo>>>,
    pub arenas: RefCell<Vec<sql::Arena>>,
    /// Prepared branches of distributed transactions, by their numbers.
    pub prepared: RefCell<BTreeMap<u64, crate::branch::PreparedTxn>>,
    /// The literals of the last digest.
    pub lifted: RefCell<sql::Lifted>,
    /// The published schema with the virtual databases, for the version used last.
    schema: RefCell<Option<(u64, Arc<Schema>)>>,
    /// A wall clock reading and the turn it belongs to.
    wall_clock: Cell<(Instant, i64)>,
    stopping_since: Cell<Option<Instant>>,
}

impl Worker {
    /// Runs a worker with its part of the engine until the server stops. Call it on a thread of its own.
    pub fn run(event_loop: EventLoop<Message>, engine: txn::Worker, shared: Arc<Shared>) -> std::io::Result<()> {
        let (core, remote) = (event_loop.core()?, Arc::clone(event_loop.remote()));
        let digests = shared.globals().get(crate::variables::known("performance_schema_digests_size")).as_u64() as usize;
        let keeps = shared.config.keeps_executions;
        let worker = Rc::new(Worker {
            index: engine.index(),
            core: Rc::clone(&core),
            engine,
            shared,
            buffers: Rc::default(),
            counters: Counters::default(),
            plans: RefCell::default(),
            digests: Digests::new(digests, keeps),
            past: Past::default(),
            accesses: RefCell::default(),
            routines: RefCell::default(),
            sessions: RefCell::default(),
            arenas: RefCell::default(),
            prepared: RefCell::default(),
            lifted: RefCell::default(),
            schema: RefCell::default(),
            wall_clock: Cell::new((Instant::now(), read_wall_clock())),
            stopping_since: Cell::new(None),
        });
        event_loop.run(&core, &worker);
        remote.close();
        Ok(())
    }

    /// The current privileges of an account with these roles.
    pub fn access(&self, identity: &Identity) -> Rc<Access> {
        // Read before the variables: a change of these publishes another snapshot afterwards (`AccountStore::renew`).
        let accounts = self.shared.accounts.snapshot();
        self.accesses.borrow_mut().get(&accounts, identity, &self.mandatory_roles())
    }

    /// The privileges of a definer with its default roles active. `None`: the account does not exist.
    pub fn definer(&self, name: &Name) -> Option<Rc<Access>> {
        let known = self.accesses.borrow().definer(self.shared.accounts.epoch(), name);
        known.unwrap_or_else(|| {
            let accounts = self.shared.accounts.snapshot();
            let all_roles = self.shared.globals().get(crate::variables::known("activate_all_roles_on_login")).as_bool();
            self.accesses.borrow_mut().make_definer(&accounts, name, all_roles, &self.mandatory_roles())
        })
    }

    /// The roles that every account has. One that has got SYSTEM_USER on some way does not count: nobody becomes a system account by it.
    pub fn mandatory_roles(&self) -> Vec<Name> {
        let mut roles = accounts::parse_roles(self.shared.globals().get(crate::variables::known("mandatory_roles")).as_text());
        if !roles.is_empty() {
            let accounts = self.shared.accounts.snapshot();
            roles.retain(|role| !role.user.is_empty() && !accounts.is_system(role));
        }
        roles
    }

    /// The other workers that serve clients, not only administrators.
    pub fn others(&self) -> impl Iterator<Item = &Arc<WorkerRemote>> {
        let all = &self.shared.workers;
        let serving = self.shared.config.workers.clamp(1, all.len());
        all[..serving].iter().enumerate().filter(|(index, _)| *index != self.index).map(|(_, remote)| remote)
    }

    /// Memory for one syntax tree.
    pub fn arena(self: &Rc<Self>) -> ArenaGuard {
        ArenaGuard::new(self)
    }

    /// The published schema with the virtual databases.
    pub fn schema(&self) -> Arc<Schema> {
        let version = self.shared.database.schema_version();
        let mut kept = self.schema.borrow_mut();
        if let Some((kept_version, schema)) = &*kept
            && (*kept_version == version || os::mutated("stale-schema") && version % 2 == 1)
        {
            return Arc::clone(schema);
        }
        let published = self.shared.database.schema();
        let schema = Arc::new(types::work::undisturbed(|| crate::show::with_virtual_databases(&published)));
        *kept = Some((schema.version, Arc::clone(&schema)));
        schema
    }

    /// Makes the next [`Self::schema`] fetch the published schema: a definition is published shortly before its
    /// version.
    pub fn renew_schema(&self) {
        *self.schema.borrow_mut() = None;
    }

    /// Microseconds since the epoch as of this turn. The system's clock is read about once a second, the turns' clock counts on.
    pub fn wall_clock_us(&self) -> i64 {
        let (since, base) = self.wall_clock.get();
        let now = self.core.now();
        let passed = now.saturating_duration_since(since);
        if passed < Duration::from_secs(1) {
            return base + passed.as_micros() as i64;
        }
        let read = read_wall_clock();
        self.wall_clock.set((now, read));
        read
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping_since.get().is_some()
    }
}

fn read_wall_clock() -> i64 {
    os::time::since_epoch().as_micros() as i64
}

impl Definers for Worker {
    fn definer(&self, name: &Name) -> Option<Rc<Access>> {
        Worker::definer(self, name)
    }
}
