//! One worker's help with another one's query: see the head of [`super`].

use super::partial::Partial;
use super::{Delivery, Done, Task};
use crate::clock::Slice;
use crate::context::{Help, LocalFuture};
use crate::operator::{JoinTable, Piece};
use crate::pause::{Pause, Step};
use crate::run::Run;
use crate::shape::{self, Shape};
use crate::shared::Shared;
use crate::source::sources_of;
use crate::wait::NoHost;
use expr::{SessionVars, Work};
use os::time::Instant;
use sql::explain::Measures;
use sql::plan::Plan;
use std::sync::Arc;
use std::time::Duration;
use sync::Team;
use table::Table;
use txn::{LentSnapshot, Txn, Worker};
use types::temporal::TimeZone;
use types::{CollationId, SqlMode, Value};

/// Help that was offered to a worker, and may be taken up at any time later.
pub(super) struct Helper {
    plan: Arc<Plan>,
    sources: Vec<Option<Arc<Table>>>,
    team: Arc<Team<Delivery>>,
    /// The key of the node whose rows are read.
    node: usize,
    ranges: Arc<[Piece]>,
    tables: Arc<[Arc<JoinTable>]>,
    snapshot: LentSnapshot,
    params: Arc<[Value<'static>]>,
    settings: Settings,
}

/// What evaluation knows of the owner's session.
pub(super) struct Settings {
    time_zone: TimeZone,
    sql_mode: SqlMode,
    collation: CollationId,
    statement_start_us: i64,
    packet_bytes_max: usize,
    div_precision_increment: u8,
    /// Its share of the statement's memory.
    memory_bytes_max: usize,
}

impl Settings {
    pub fn of(session: &SessionVars, workers: usize) -> Self {
        Self {
            time_zone: session.time_zone.clone(),
            sql_mode: session.sql_mode,
            collation: session.collation,
            statement_start_us: session.statement_start_us,
            packet_bytes_max: session.packet_bytes_max,
            div_precision_increment: session.div_precision_increment,
            memory_bytes_max: session.sort_memory_bytes_max / workers,
        }
    }

    fn into_session(self) -> SessionVars {
        let mut session = SessionVars::new(0, "", "");
        session.time_zone = self.time_zone;
        session.sql_mode = self.sql_mode;
        session.collation = self.collation;
        session.statement_start_us = self.statement_start_us;
        session.packet_bytes_max = self.packet_bytes_max;
        session.div_precision_increment = self.div_precision_increment;
        session.sort_memory_bytes_max = self.memory_bytes_max;
        session
    }
}

/// A helper that has joined. Until it delivers, its end is a failure.
struct Joined<'t> {
    team: &'t Team<Delivery>,
    has_ended: bool,
}

impl Joined<'_> {
    fn deliver(mut self, delivery: Delivery) {
        self.has_ended = true;
        self.team.deliver(delivery);
    }
}

impl Drop for Joined<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.team.fail();
        }
    }
}

/// A step within the team. It ends also when the step panics.
struct Inside<'t>(&'t Team<Delivery>);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Help for Helper {
    fn run<'w>(self: Box<Self>, worker: &'w Worker, idle: &'w dyn Fn() -> LocalFuture<'w, ()>) -> LocalFuture<'w, ()> {
        Box::pin(self.help(worker, idle))
    }
}

impl Helper {
    pub(super) fn new(
        team: Arc<Team<Delivery>>,
        plan: Arc<Plan>,
        sources: Vec<Option<Arc<Table>>>,
        task: &Task<'_>,
        params: Arc<[Value<'static>]>,
        settings: Settings,
    ) -> Self {
        Self {
            plan,
            sources,
            team,
            node: Measures::key(task.shape.node),
            ranges: task.ranges.clone(),
            tables: task.tables.clone(),
            snapshot: task.snapshot,
            params,
            settings,
        }
    }

    async fn help<'w>(self, worker: &'w Worker, idle: &'w dyn Fn() -> LocalFuture<'w, ()>) {
        let Self { plan, sources, team, node, ranges, tables, snapshot, params, settings } = self;
        idle().await;
        let Some(first) = team.join() else { return };
        let joined = Joined { team: &team, has_ended: false };
        let session = settings.into_session();
        let mut txn = Txn::of_lent(snapshot);
        let shared = Shared::new(&session, &params, &NoHost);
        let mut run = Run::new(worker, &mut txn, shared, sources_of(&sources), Slice::until(None));
        run.shared.calls_strictly = false;
        let node = shape::node_of(&plan, node).expect("the owner has the same plan");
        let shape = Shape::of_safe(node, &sources).expect("the owner has found it");
        let mut own = Partial::new(&shape, &sources, &run);
        own.use_tables(&tables);
        let mut time = Duration::ZERO;
        let mut next = Some(first);
        while let Some(part) = next {
            own.begin_part(part, ranges[part].clone());
            loop {
                let began = Instant::now();
                let Some(step) = within(&team, || own.absorb_part(&mut run)) else { return };
                time += began.elapsed();
                match step {
                    Ok(true) => break,
                    Err(Pause::Evaluation(expr::Pause::Yield)) => idle().await,
                    Err(Pause::Stall(stall)) => stall.await,
                    // P3
                    Ok(false) | Err(_) => return,
                }
                run.clock().resumed();
            }
            next = team.take();
        }
        run.count_rest();
        if !session.warnings.borrow().is_empty() {
            return;
        }
        let (gathered, _) = own.into_gathered();
        let work = Work::default();
        work.add(&session.work);
        joined.deliver(Delivery { gathered, work, done: Done { rows: session.rows_examined.get(), time } });
    }
}

/// Makes a step that uses what the owner lends. `None`: the owner is gone (P1). No other task runs in its middle: one that waits for a helper of
/// its own would wait for this one, and that one for it.
fn within(team: &Team<Delivery>, step: impl FnOnce() -> Step<bool>) -> Option<Step<bool>> {
    if !team.enter() {
        return None;
    }
    let _inside = Inside(team);
    Some(types::work::undisturbed(step))
}
