//! Parallel queries: idle workers take parts of what a session's query reads. `docs/decisions/parallel-queries.md` has the reasons.
//!
//! ```text
//! owner    Shape::of -> morsels -> offers a `Helper` to each other worker -> groups parts itself -> waits -> merges all groups -> goes on
//! helper   waits until its worker has nothing else to do -> joins -> groups a part for a millisecond -> waits again ... -> delivers its groups
//! ```
//! The first form: aggregates of one scanned table, grouped or not, with conditions. Below the aggregation everything is the ordinary code of
//! one worker: each has operators, a row and a session's settings of its own. Above it the plan goes on as if it had read the rows itself.
//!
//! P1: all read one snapshot, which the owner's transaction holds (H3 in `txn/src/horizon.rs`). A helper reads between `Team::enter` and
//!     `Team::leave` only, and does not wait there, nor lets other tasks of its worker run. The owner abandons the team before it ends, however it ends (`Owner`); so it never gives
//!     up its snapshot, its metadata locks or its tables while somebody reads (T2 in `sync/src/team.rs`).
//! P2: what is shared out has no effects and sees nothing but the row and the settings that are handed over (`shape`). Own changes, READ UNCOMMITTED,
//!     locking reads and temporary tables are read by the owner alone.
//! P3: errors, warnings and refused memory have one meaning, that of a serial run: whoever meets one gives up, all that was
//!     gathered is thrown away, and the owner runs the query alone. So what the client is told does not depend on who met what first. KILL and
//!     time limits are the owner's: it looks at them as ever, and ends.
//! P4: a helper runs when its worker has nothing else to do, or has not run for a while, and for about a millisecond at a time (`Slice`).
//! P5: the outcome is that of a serial run, to the last bit and in the same order (S1 and S2 in `operator/aggregate/parts.rs`).

mod helper;
mod morsels;
mod shape;

use crate::operator::{AggregateOperator, Groups, Operator, Piece};
use crate::prepared::Prepared;
use crate::run::Run;
use expr::{Error, Result, Warnings, Work};
use helper::{Helper, Settings};
use os::time::Instant;
use shape::Shape;
use sql::explain::Measures;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use sync::Team;
use txn::LentSnapshot;

/// What a worker has done for a query.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    pub rows: u64,
    pub time: Duration,
}

/// What a helper delivers.
pub(crate) struct Delivery {
    groups: Groups,
    work: Work,
    done: Done,
}

/// The team of a query, abandoned when the owner's part of it ends (P1).
struct Owner(Arc<Team<Delivery>>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// The workers that may read for the run's query.
fn workers(run: &Run<'_>) -> usize {
    run.shared.session.parallel_workers_max.min(1 + run.shared.host.helpers())
}

/// Is the query one that is shared out, as far as can be told without reading?
#[inline]
pub(crate) fn is_worth(prepared: &Prepared, run: &Run<'_>) -> bool {
    workers(run) > 1 && Shape::of(prepared).is_some()
}

/// The key of the aggregation that is shared out.
pub(crate) fn shared_node(prepared: &Prepared) -> Option<usize> {
    Shape::of(prepared).map(|shape| Measures::key(shape.node))
}

/// For EXPLAIN: the key of the node (`sql::explain::Measures::key`) for which several workers would read.
pub fn shown_node(prepared: &Prepared) -> Option<usize> {
    let shape = Shape::of(prepared).filter(|shape| shape.scan.read >= shape::ROWS_MIN_SHOWN)?;
    Some(Measures::key(shape.node))
}

/// Has the rows of a query's aggregation read by several workers, if that pays and is safe. Afterwards the operator has all groups, or is as it was.
/// Returns what each worker did; the owner is the first.
pub(crate) async fn gather<'p>(run: &mut Run<'p>, prepared: &'p Prepared, rows: &mut Operator<'p>) -> Result<Vec<Done>> {
    let workers = workers(run);
    let Some(shape) = Shape::of(prepared).filter(|_| workers > 1) else { return Ok(Vec::new()) };
    let Some(target) = rows.aggregate_below() else { return Ok(Vec::new()) };
    let Some(snapshot) = run.txn.lend_snapshot(run.worker) else { return Ok(Vec::new()) };
    let ranges: Arc<[Piece]> = morsels::cut(run, &shape).await?.into();
    if ranges.len() < 2 {
        return Ok(Vec::new());
    }
    let owner = Owner(Arc::new(Team::new(ranges.len())));
    offer(run, prepared, &owner.0, &ranges, snapshot, workers - 1);
    // Warnings and counts of a run that is thrown away are thrown away with it (P3).
    let session = run.shared.session;
    let none = Warnings::like(&session.warnings.borrow());
    let warnings = session.warnings.replace(none);
    run.count_rest();
    let (examined, work) = (session.rows_examined.get(), Work::default());
    work.add(&session.work);
    let shared_out = share(run, &shape, &owner.0, &ranges, target).await;
    let has_warned = !session.warnings.replace(warnings).is_empty();
    match shared_out {
        Ok(Some(done)) if !has_warned => return Ok(done),
        Err(error @ (Error::Interrupted | Error::QueryTimeout)) => return Err(error),
        Ok(_) | Err(_) => {}
    }
    run.count_rest();
    session.rows_examined.set(examined);
    session.work.clear();
    session.work.add(&work);
    target.rewind(run);
    Ok(Vec::new())
}

fn offer(
    run: &Run<'_>,
    prepared: &Prepared,
    team: &Arc<Team<Delivery>>,
    ranges: &Arc<[Piece]>,
    snapshot: LentSnapshot,
    helpers: usize,
) {
    let params: Arc<[_]> = run.shared.params.iter().map(|value| value.clone().into_owned()).collect();
    for number in 0..helpers {
        let settings = Settings::of(run.shared.session, helpers + 1);
        let helper = Helper::new(prepared, team.clone(), ranges.clone(), snapshot, params.clone(), settings);
        run.shared.host.offer(number, Box::new(helper));
    }
}

/// The owner's own parts, and the merging of all. `None`: the query has to be run serially.
async fn share<'p>(
    run: &mut Run<'p>,
    shape: &Shape<'p>,
    team: &Team<Delivery>,
    ranges: &[Piece],
    target: &mut AggregateOperator<'p>,
) -> Result<Option<Vec<Done>>> {
    let began = Instant::now();
    let examined = run.shared.session.rows_examined.get();
    let mut own = shape.operator(run);
    while let Some(part) = team.take() {
        own.begin_part(part, ranges[part].clone());
        loop {
            match own.absorb_part(run) {
                Ok(true) => break,
                Ok(false) => return Ok(None),
                Err(pause) => run.resolve(pause).await?,
            }
        }
    }
    run.count_rest();
    let rows = run.shared.session.rows_examined.get() - examined;
    let mut done = vec![Done { rows, time: began.elapsed() }];
    let all_done = poll_fn(|cx| match run.shared.session.check_killed() {
        Ok(()) => team.poll_done(cx.waker()).map(Ok),
        Err(error) => Poll::Ready(Err(error)),
    })
    .await?;
    if !all_done {
        return Ok(None);
    }
    run.check_clock()?;
    let mut groups = vec![own.into_groups(run)];
    for delivery in team.results() {
        run.shared.session.work.add(&delivery.work);
        run.count_rows(delivery.done.rows);
        done.push(delivery.done);
        groups.push(delivery.groups);
    }
    match target.adopt(run, groups) {
        Ok(true) => Ok(Some(done)),
        // What cannot be merged is found out again, with its error, by a serial run.
        Ok(false) | Err(_) => Ok(None),
    }
}
