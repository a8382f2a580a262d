//! The statement drivers: each runs one kind of plan, from the first row to the summary.

use crate::clock::Slice;
use crate::context::ExecContext;
use crate::dml::{Changes, DmlDone};
use crate::load::ByteSource;
use crate::operator::{Builder, Operator, Registry, ScanOperator, SourceLock, evaluate_count, lock_of};
use crate::parallel::Sharing;
use crate::pause::Step;
use crate::prepared::{Prepared, simple_scan};
use crate::run::Run;
use crate::scratch::Scratch;
use crate::shape;
use crate::shared::Shared;
use crate::sink::{NullSink, RowSink, Strictness};
use crate::source::sources_of;
use crate::wait;
use expr::{Error, Expr, ExprKind, Result, packed};
use sql::explain::Measures;
use sql::plan::{
    DeletePlan, InsertPlan, InsertSource, LimitPlan, Locking, Node, OutputColumn, Parts, Plan, QueryPlan, SubqueryKeep,
    UpdatePlan,
};
use std::future::poll_fn;
use txn::{Isolation, LockMode, Savepoint, WaitPolicy};
use types::charset::Charset;

/// How a query ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryDone {
    pub rows: u64,
    /// FOUND_ROWS()
    pub found: u64,
    /// The value that LAST_INSERT_ID(n) set, for the status packet.
    pub last_insert_id: u64,
}

/// Runs a query plan and writes its rows to `sink`. Sets FOUND_ROWS() and ROW_COUNT().
///
/// Panics if the plan is not a query. If it fails, rows may have been sent already.
pub async fn run_query<S: RowSink>(cx: &mut ExecContext<'_>, prepared: &Prepared, sink: &mut S) -> Result<QueryDone> {
    let Plan::Query(plan) = &*prepared.plan else { panic!("run_query runs queries only") };
    cx.session.last_insert_id_set.set(None);
    let mut scratch = Scratch::take();
    cx.session.settle_variables();
    let done = query(cx, prepared, plan, sink, &mut scratch).await;
    scratch.give_back();
    cx.session.settle_variables();
    cx.session.clear_kill_query();
    cx.session.row_count = -1;
    let (rows, found) = done?;
    cx.session.found_rows = found;
    Ok(QueryDone { rows, found, last_insert_id: cx.session.last_insert_id_set.get().unwrap_or(0) })
}

/// EXPLAIN ANALYZE: runs the reading part of a plan, drops the rows, and reports the measures of each operator. A data change reads the
/// rows of its query or join, with their locks, and changes nothing; one of a single table reads nothing either, as in MySQL.
pub async fn measure(cx: &mut ExecContext<'_>, prepared: &Prepared) -> Result<Measures> {
    let registry = Registry::default();
    cx.session.settle_variables();
    let result = measured(cx, prepared, &registry).await;
    cx.session.settle_variables();
    cx.session.clear_kill_query();
    cx.session.row_count = -1;
    result?;
    Ok(registry.into_measures())
}

/// For EXPLAIN: the keys of the nodes (`sql::explain::Measures::key`) for which several workers would read. `rows_min`: with at least so many
/// rows of work.
pub fn shown_nodes(prepared: &Prepared, rows_min: u64) -> Vec<usize> {
    let is_plain = match &*prepared.plan {
        Plan::Query(query) => query.locking == Locking::None && query.parts.locks.is_empty(),
        Plan::Insert(_) => true,
        _ => false,
    };
    let mut keys = Vec::new();
    if is_plain {
        let tables = &prepared.sources;
        let mut show = |root: &Node, gathers: bool| shape::shared_nodes(root, gathers, tables, rows_min as f64, &mut keys);
        prepared.plan.main().into_iter().for_each(|root| show(root, true));
        let parts = prepared.plan.parts();
        for subquery in parts.subqueries.iter().filter(|subquery| !subquery.is_replaced()) {
            show(&subquery.root, matches!(subquery.keep, SubqueryKeep::Rows { .. }));
        }
        parts.stores.iter().for_each(|store| show(store, true));
    }
    keys
}

async fn measured(cx: &mut ExecContext<'_>, prepared: &Prepared, registry: &Registry) -> Result<()> {
    let lock = crate::dml::subquery_lock(cx.txn);
    let (root, parts, columns, lock, exclusive) = match &*prepared.plan {
        Plan::Query(plan) => (&plan.root, &plan.parts, &*plan.columns, locks(plan, cx), None),
        Plan::Insert(InsertPlan { source: InsertSource::Query(plan), .. }) => {
            (&plan.root, &plan.parts, &*plan.columns, lock, None)
        }
        Plan::Change(plan) => (&plan.root, &plan.parts, &[][..], lock, Some(&*plan.targets)),
        Plan::Insert(_) | Plan::Update(_) | Plan::Delete(_) => return Ok(()),
    };
    let sharing = Sharing::new(&prepared.plan, &prepared.sources, Some(registry));
    let mut run = start_run(cx, &sharing, parts, lock, Some(registry));
    let builder = Builder {
        tables: &prepared.sources,
        lock,
        locks: &parts.locks,
        is_limited: false,
        exclusive,
        keeps_order: true,
        measures: Some(registry),
        sharing: sharing.shareable(run.shared.session, lock, parts).filter(|_| exclusive.is_none()),
        gathers: matches!(&*prepared.plan, Plan::Query(_) | Plan::Insert(_)),
    };
    let mut rows = tree(&builder, root);
    let outcome = pump(&mut rows, &mut run, columns, &mut NullSink::default(), u64::MAX).await;
    run.count_rest();
    outcome.map(drop)
}

/// Runs an INSERT, REPLACE, UPDATE or DELETE plan. On an error the statement's changes are undone; for [`Error::Deadlock`] the
/// caller must roll the whole transaction back. Sets ROW_COUNT(), LAST_INSERT_ID(), and FOUND_ROWS() where MySQL does.
///
/// Panics when the plan is a query.
pub async fn run_dml(cx: &mut ExecContext<'_>, prepared: &Prepared) -> Result<DmlDone> {
    cx.session.last_insert_id_set.set(None);
    let savepoint = cx.txn.savepoint();
    let mut scratch = Scratch::take();
    let mut changes = Changes::default();
    cx.session.settle_variables();
    let result = match &*prepared.plan {
        Plan::Insert(plan) => crate::dml::insert(cx, prepared, plan, &mut scratch, &mut changes).await,
        // Boxed: rare, and it would make every statement larger.
        Plan::Update(plan) if plan.scan.table.is_virtual => Box::pin(crate::dml::update_settings(cx, prepared, plan)).await,
        Plan::Update(plan) => crate::dml::update(cx, prepared, plan, &mut scratch, &mut changes).await,
        Plan::Delete(plan) => crate::dml::delete(cx, prepared, plan, &mut scratch, &mut changes).await,
        Plan::Change(plan) => crate::dml::change(cx, prepared, plan, &mut changes).await,
        Plan::Query(_) => panic!("run_dml runs data changes only"),
    };
    if result.is_ok() {
        scratch.give_back();
    }
    conclude(cx, prepared, result, changes, savepoint).await
}

/// Runs a LOAD DATA over the bytes of a file in `charset`; otherwise like [`run_dml`].
///
/// Panics if the plan is not a LOAD DATA.
pub async fn run_load(
    cx: &mut ExecContext<'_>,
    prepared: &Prepared,
    source: &mut dyn ByteSource,
    charset: Charset,
) -> Result<DmlDone> {
    let Plan::Insert(plan) = &*prepared.plan else { panic!("run_load runs LOAD DATA only") };
    cx.session.last_insert_id_set.set(None);
    let savepoint = cx.txn.savepoint();
    let mut scratch = Scratch::take();
    let mut changes = Changes::default();
    cx.session.settle_variables();
    let result = crate::dml::load(cx, prepared, plan, source, charset, &mut scratch, &mut changes).await;
    if result.is_ok() {
        scratch.give_back();
    }
    conclude(cx, prepared, result, changes, savepoint).await
}

/// Stores the results of a data change in the session, or undoes a change that failed.
async fn conclude(
    cx: &mut ExecContext<'_>,
    prepared: &Prepared,
    result: Result<DmlDone>,
    mut changes: Changes,
    savepoint: Savepoint,
) -> Result<DmlDone> {
    cx.session.settle_variables();
    cx.session.clear_kill_query();
    if matches!(*prepared.plan, Plan::Insert(_)) {
        // SET INSERT_ID applies to one statement.
        cx.session.insert_id = None;
    }
    match result {
        Ok(done) => {
            cx.session.row_count = done.affected as i64;
            match &*prepared.plan {
                Plan::Update(_) => cx.session.found_rows = done.matched,
                Plan::Change(_) => cx.session.found_rows = 0,
                _ => {}
            }
            Ok(done)
        }
        Err(mut error) => {
            cx.session.row_count = -1;
            if let Error::Full { table } = &mut error {
                *table = changed_table(&prepared.plan).to_owned();
            }
            // The caller rolls back the whole transaction of a deadlock's victim.
            if error != Error::Deadlock {
                changes.forget(cx.worker, prepared);
                wait::roll_back_statement(cx, savepoint).await?;
            }
            Err(error)
        }
    }
}

/// The name of the table that a data change writes.
fn changed_table(plan: &Plan) -> &str {
    match plan {
        Plan::Insert(plan) => &plan.table.name,
        Plan::Update(UpdatePlan { scan, .. }) | Plan::Delete(DeletePlan { scan, .. }) => &scan.table.name,
        Plan::Change(plan) => plan.targets.first().map_or("", |target| &target.table.name),
        Plan::Query(_) => "",
    }
}

/// The row locks a query takes.
fn locks(plan: &QueryPlan, cx: &ExecContext<'_>) -> Option<SourceLock> {
    match plan.locking {
        Locking::Update | Locking::Share => lock_of(plan.locking, plan.lock_wait),
        // SERIALIZABLE: plain reads inside of a transaction are FOR SHARE.
        Locking::None if cx.session.in_transaction && cx.txn.isolation() == Isolation::Serializable => {
            Some(SourceLock::Lock(LockMode::Share, WaitPolicy::Wait))
        }
        Locking::None => None,
    }
}

/// The source of a query's rows. The usual shapes need no tree of operators.
#[allow(clippy::large_enum_variant, reason = "it lives on the stack, and a box would be an allocation for each statement")]
enum Rows<'p> {
    /// One scan under the select list.
    Scan(ScanOperator<'p>, &'p [Expr]),
    /// Any rows under the select list.
    Project(Operator<'p>, &'p [Expr]),
    /// Rows of slots.
    Slots(Operator<'p>),
}

impl<'p> Rows<'p> {
    fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        match self {
            Rows::Scan(scan, _) => scan.next(run),
            Rows::Project(input, _) | Rows::Slots(input) => input.next(run),
        }
    }

    /// Writes the current row.
    fn write<S: RowSink>(&self, run: &Run<'p>, columns: &[OutputColumn], sink: &mut S) -> Step<()> {
        if !sink.takes() {
            sink.end_row();
            return Ok(());
        }
        sink.begin_row();
        match self {
            Rows::Scan(_, exprs) => write_exprs(run, &[], exprs, columns, sink)?,
            Rows::Project(input, exprs) => write_exprs(run, input.slots(), exprs, columns, sink)?,
            Rows::Slots(input) => {
                let slots = input.slots();
                for (n, column) in columns.iter().enumerate() {
                    sink.value(&packed::get(slots, n), &column.ty);
                }
            }
        }
        sink.end_row();
        Ok(())
    }
}

fn write_exprs<S: RowSink>(run: &Run<'_>, slots: &[u8], exprs: &[Expr], columns: &[OutputColumn], sink: &mut S) -> Step<()> {
    let env = run.env(slots);
    for (n, (expr, column)) in exprs.iter().zip(columns).enumerate() {
        let value = match expr.kind {
            ExprKind::Column { source, column } => env.column(source, column)?,
            _ if sink.is_strict(n) => run.shared.strictly(run.shared.session.sql_mode.strict, || env.eval(expr))?,
            _ => env.eval(expr)?,
        };
        sink.value(&env.finish(value, &expr.ty, &column.ty)?, &column.ty);
    }
    Ok(())
}

/// The run of a query with these parts; `lock`: the lock of its rows; `measures`: for EXPLAIN ANALYZE.
#[inline]
fn start_run<'a>(
    cx: &'a mut ExecContext<'_>,
    sharing: &'a Sharing<'a>,
    parts: &'a Parts,
    lock: Option<SourceLock>,
    measures: Option<&'a Registry>,
) -> Run<'a> {
    let shared = Shared::new(cx.session, cx.params, cx.host);
    let tables = sharing.tables();
    let clock = Slice::until(cx.session.begin_time());
    let mut run = Run::new(cx.worker, cx.txn, shared, sources_of(tables), clock);
    let shareable = sharing.shareable(run.shared.session, lock, parts);
    if shareable.is_some() {
        run.sharing = Some(sharing);
    }
    run.set_measured_parts(parts, tables, lock, measures, shareable);
    run
}

/// A plan's operators, and its select list if it has one.
fn tree<'p>(builder: &Builder<'p>, root: &'p Node) -> Rows<'p> {
    match root {
        Node::Project { input, exprs } => Rows::Project(builder.build(input), exprs),
        root => Rows::Slots(builder.build(root)),
    }
}

/// Rows sent, and rows found.
async fn query<S: RowSink>(
    cx: &mut ExecContext<'_>,
    prepared: &Prepared,
    plan: &QueryPlan,
    sink: &mut S,
    scratch: &mut Scratch,
) -> Result<(u64, u64)> {
    sink.start(&plan.columns);
    let lock = locks(plan, cx);
    let sharing = Sharing::new(&prepared.plan, &prepared.sources, None);
    let mut run = start_run(cx, &sharing, &plan.parts, lock, None);
    match sink.strictness() {
        Strictness::Nowhere => run.shared.calls_strictly = false,
        strictness => drop(run.shared.set_strict(strictness.is_full(run.shared.session))),
    }
    let locks = &*plan.parts.locks;
    let is_limited = (lock.is_some() || !locks.is_empty()) && matches!(plan.root, Node::Limit { .. } | Node::Trim { .. });
    let builder = Builder {
        tables: &prepared.sources,
        lock,
        locks,
        is_limited,
        exclusive: None,
        keeps_order: true,
        measures: None,
        sharing: sharing.shareable(run.shared.session, lock, &plan.parts),
        // The reader may want only the first rows.
        gathers: sink.rows_max().min(run.shared.session.select_limit) == u64::MAX,
    };
    let mut rows = match simple_scan(&plan.root) {
        Some((scan, exprs)) if !builder.may_gather(scan) => {
            let table = prepared.sources[scan.source].as_deref().expect("a stored table's scan has its table resolved");
            Rows::Scan(ScanOperator::new(scan, table, builder.lock_of(scan.source)), exprs)
        }
        _ => tree(&builder, &plan.root),
    };
    match &mut rows {
        Rows::Scan(operator, _) => operator.borrow_buffers(scratch),
        Rows::Project(operator, _) | Rows::Slots(operator) => operator.borrow_buffers(scratch),
    }
    if let Some(source) = run.sources.first_mut() {
        source.row = std::mem::take(&mut scratch.row);
    }
    // A LIMIT in the statement overrides sql_select_limit.
    let limited = matches!(plan.root, Node::Limit { .. } | Node::Sort { limit: Some(_), .. } | Node::Trim { .. });
    let rows_max = if limited { u64::MAX } else { run.shared.session.select_limit }.min(sink.rows_max());
    let result = pump(&mut rows, &mut run, &plan.columns, sink, rows_max).await;
    run.count_rest();
    match &mut rows {
        Rows::Scan(operator, _) => operator.return_buffers(scratch),
        Rows::Project(operator, _) | Rows::Slots(operator) => operator.return_buffers(scratch),
    }
    if let Some(source) = run.sources.first_mut() {
        scratch.row = std::mem::take(&mut source.row);
    }
    let rows = result?;
    let found = match (run.found_rows, limit_of(&plan.root)) {
        (Some(found), _) => found,
        // Rows that OFFSET skipped also count as found.
        (None, Some(limit)) if limit.offset.is_some() => {
            let passed = match rows {
                0 => run.passed_over,
                _ => evaluate_count(&run.env(&[]), limit.offset.as_ref()).ok().flatten().unwrap_or(0),
            };
            rows + passed
        }
        _ => rows,
    };
    Ok((rows, found))
}

/// The LIMIT of a whole query.
fn limit_of(root: &Node) -> Option<&LimitPlan> {
    match root {
        Node::Limit { limit, .. } | Node::Sort { limit: Some(limit), .. } => Some(limit),
        Node::Trim { input, .. } => limit_of(input),
        _ => None,
    }
}

/// Moves rows into the sink until there are no more.
async fn pump<'p, S: RowSink>(
    rows: &mut Rows<'p>,
    run: &mut Run<'p>,
    columns: &[OutputColumn],
    sink: &mut S,
    rows_max: u64,
) -> Result<u64> {
    let mut count = 0;
    while count < rows_max {
        if !run.advance(|run| rows.next(run)).await? {
            break;
        }
        while let Err(pause) = rows.write(run, columns, sink) {
            sink.cancel_row();
            run.resolve(pause).await?;
        }
        run.row_done();
        count += 1;
        if sink.is_full() {
            poll_fn(|cx| sink.poll_drain(cx)).await?;
            run.shared.session.check_killed()?;
            run.clock().resumed();
        }
    }
    Ok(count)
}
