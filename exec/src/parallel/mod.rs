//! Parallel queries: idle workers take parts of what a session's query reads. `docs/decisions/parallel-queries.md` has the reasons.
//!
//! ```text
//! owner    an operator asks -> cuts parts, builds hash tables -> offers a `Helper` to each other worker -> reads parts itself -> waits -> merges -> the
//!          operator goes on with what was gathered
//! helper   waits until its worker has nothing else to do -> joins -> reads a part for a millisecond -> waits again ... -> delivers what it gathered
//! ```
//! Aggregations and sorts have their rows gathered (`shape`), wherever they stand in a plan: in the main tree, in a derived table, in a subquery, in
//! the query of an INSERT. Below them everything is the ordinary code of one worker: each has operators, rows and a session's settings of its own.
//! Above them the plan goes on as if the operator had read the rows itself.
//!
//! P1: all read one snapshot, which the owner's transaction holds (H3 in `txn/src/horizon.rs`). A helper reads between `Team::enter` and
//!     `Team::leave` only, and does not wait there, nor lets other tasks of its worker run. The owner abandons the team before it ends, however it ends (`Owner`); so it never gives
//!     up its snapshot, its metadata locks or its tables while somebody reads (T2 in `sync/src/team.rs`).
//! P2: what is shared out has no effects and sees nothing but the rows and the settings that are handed over (`shape`). Own changes, READ UNCOMMITTED,
//!     locking reads and temporary tables are read by the owner alone.
//! P3: errors, warnings and refused memory have one meaning, that of a serial run: whoever meets one gives up, all that was
//!     gathered is thrown away, and the owner reads the rows alone. So what the client is told does not depend on who met what first. KILL and
//!     time limits are the owner's: it looks at them as ever, and ends.
//! P4: a helper runs when its worker has nothing else to do, or has not run for a while, and for about a millisecond at a time (`Slice`).
//! P5: the outcome is that of a serial run, to the last bit and in the same order (S1 and S2 in `operator/aggregate/parts.rs`, M1 in
//!     `spill/merged.rs`).
//! P6: a hash table is complete before helpers see it, and only read from then on.

mod helper;
mod morsels;
mod partial;

use crate::boxed::boxed;
use crate::context::LocalFuture;
use crate::operator::{Gathered, JoinTable, Outcomes, Piece, Registry, Shareable, SourceLock};
use crate::run::{Run, ShareOut};
use crate::shape::{self, Shape};
use expr::{Error, Result, SessionVars, Warnings, Work};
use helper::{Helper, Settings};
use os::time::Instant;
use partial::Partial;
use sql::plan::{Parts, Plan};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use sync::Team;
use table::Table;
use txn::LentSnapshot;

/// What a worker has done for a query.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    pub rows: u64,
    pub time: Duration,
}

/// What a helper delivers.
pub(crate) struct Delivery {
    gathered: Gathered,
    work: Work,
    done: Done,
}

/// What all readers of a node's rows need.
struct Task<'p> {
    shape: Shape<'p>,
    ranges: Arc<[Piece]>,
    tables: Arc<[Arc<JoinTable>]>,
    snapshot: LentSnapshot,
    workers: usize,
}

/// The outcome of all workers: what was gathered, the memory charged for it, what each has done.
type Merged = (Gathered, usize, Vec<Done>);

/// The team of a query, abandoned when the owner's part of it ends (P1).
struct Owner(Arc<Team<Delivery>>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// The rows of a statement's plan, for as far as several workers may read them.
pub(crate) struct Sharing<'p> {
    plan: &'p Arc<Plan>,
    /// By source.
    tables: &'p [Option<Arc<Table>>],
    measures: Option<&'p Registry>,
    outcomes: Outcomes,
}

impl<'p> Sharing<'p> {
    /// `measures`: for EXPLAIN ANALYZE.
    #[inline]
    pub fn new(plan: &'p Arc<Plan>, tables: &'p [Option<Arc<Table>>], measures: Option<&'p Registry>) -> Self {
        Self { plan, tables, measures, outcomes: Outcomes::default() }
    }

    pub fn tables(&self) -> &'p [Option<Arc<Table>>] {
        self.tables
    }

    /// For the builder of operators; `None`: one worker reads all rows. `lock`: the lock of the rows.
    #[inline]
    pub fn shareable(&'p self, session: &SessionVars, lock: Option<SourceLock>, parts: &Parts) -> Option<Shareable<'p>> {
        let is_plain = lock.is_none() && parts.locks.is_empty() && session.parallel_workers_max > 1;
        is_plain.then(|| Shareable { outcomes: &self.outcomes, rows_min: shape::rows_min(session.parallel_rows_min) })
    }
}

/// The workers that may read for the run's query.
fn workers(run: &Run<'_>) -> usize {
    run.shared.session.parallel_workers_max.min(1 + run.shared.host.helpers())
}

impl<'a> ShareOut<'a> for Sharing<'a> {
    fn gather<'r>(&'a self, run: &'r mut Run<'a>, node: usize) -> LocalFuture<'r, Result<()>>
    where
        'a: 'r,
    {
        boxed(move || self.gather_for(run, node))
    }
}

impl<'a> Sharing<'a> {
    async fn gather_for(&'a self, run: &mut Run<'a>, key: usize) -> Result<()> {
        let workers = workers(run);
        let tables = self.tables;
        let node = shape::node_of(self.plan, key);
        let Some(shape) = node.and_then(|node| Shape::of_safe(node, tables)).filter(|_| workers > 1) else { return Ok(()) };
        let Some(snapshot) = run.txn.lend_snapshot(run.worker) else { return Ok(()) };
        // Warnings and counts of rows that are thrown away are thrown away with them (P3).
        let session = run.shared.session;
        let none = Warnings::like(&session.warnings.borrow());
        let warnings = session.warnings.replace(none);
        run.count_rest();
        let (examined, work, memory) = (session.rows_examined.get(), Work::default(), run.memory_held());
        work.add(&session.work);
        let outcome = self.share(run, shape, snapshot, workers).await;
        let has_warned = !session.warnings.replace(warnings).is_empty();
        run.hold_memory(memory);
        run.clock().resumed();
        match outcome {
            Ok(Some((gathered, charged, done))) if !has_warned => {
                run.hold_memory(memory + charged);
                if let Some(measures) = self.measures {
                    let each = done.iter().enumerate();
                    each.for_each(|(number, done)| measures.note_worker(key, number, done.rows, done.time));
                }
                self.outcomes.put(key, gathered, charged);
                return Ok(());
            }
            Err(error @ (Error::Interrupted | Error::QueryTimeout)) => return Err(error),
            Ok(_) | Err(_) => {}
        }
        run.count_rest();
        session.rows_examined.set(examined);
        session.work.clear();
        session.work.add(&work);
        Ok(())
    }

    /// `None`: the rows have to be read by one worker.
    async fn share(
        &'a self,
        run: &mut Run<'a>,
        shape: Shape<'a>,
        snapshot: LentSnapshot,
        workers: usize,
    ) -> Result<Option<Merged>> {
        let began = Instant::now();
        let examined = run.shared.session.rows_examined.get();
        let ranges: Arc<[Piece]> = morsels::cut(run, &shape).await?.into();
        if ranges.len() < 2 {
            return Ok(None);
        }
        let mut own = Partial::new(&shape, self.tables, run);
        if !run.advance(|run| own.build_tables(run)).await? {
            return Ok(None);
        }
        let task = Task { shape, ranges, tables: own.tables().into(), snapshot, workers };
        let owner = Owner(Arc::new(Team::new(task.ranges.len())));
        self.offer(run, &owner.0, &task);
        if !read_parts(run, &owner.0, &task.ranges, &mut own).await? {
            return Ok(None);
        }
        run.count_rest();
        let rows = run.shared.session.rows_examined.get() - examined;
        let mut done = vec![Done { rows, time: began.elapsed() }];
        let all_done = poll_fn(|cx| match run.shared.session.check_killed() {
            Ok(()) => owner.0.poll_done(cx.waker()).map(Ok),
            Err(error) => Poll::Ready(Err(error)),
        })
        .await?;
        if !all_done {
            return Ok(None);
        }
        run.check_clock()?;
        let (gathered, charged) = own.into_gathered();
        let mut all = vec![gathered];
        for delivery in owner.0.results() {
            run.shared.session.work.add(&delivery.work);
            run.count_rows(delivery.done.rows);
            done.push(delivery.done);
            all.push(delivery.gathered);
        }
        let target = Partial::new(&task.shape, self.tables, run);
        // What cannot be merged is found out again, with its error, by a serial run.
        let merged = target.merge(run, all, charged).unwrap_or_default();
        Ok(merged.map(|(gathered, charged)| (gathered, charged, done)))
    }

    fn offer(&self, run: &Run<'_>, team: &Arc<Team<Delivery>>, task: &Task<'_>) {
        let params: Arc<[_]> = run.shared.params.iter().map(|value| value.clone().into_owned()).collect();
        for number in 0..task.workers - 1 {
            let settings = Settings::of(run.shared.session, task.workers);
            let helper = Helper::new(team.clone(), self.plan.clone(), self.tables.to_vec(), task, params.clone(), settings);
            run.shared.host.offer(number, Box::new(helper));
        }
    }
}

/// The owner reads parts until there are none. `false`: it cannot be done in parts.
async fn read_parts<'p>(run: &mut Run<'p>, team: &Team<Delivery>, ranges: &[Piece], own: &mut Partial<'p>) -> Result<bool> {
    while let Some(part) = team.take() {
        own.begin_part(part, ranges[part].clone());
        if !run.advance(|run| own.absorb_part(run)).await? {
            return Ok(false);
        }
    }
    Ok(true)
}
