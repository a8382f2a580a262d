//! EXPLAIN: the plan as a tree of text, or as the traditional table.

use super::build::{Columns, ResultSet, number, optional, result, text};
use crate::account::is_free;
use crate::error::{Error, Result};
use crate::plan_cache::PlanEntry;
use crate::session::{State, without_parameters};
use accounts::privilege::Privileges;
use conditions::Condition;
use expr::function::AskedOfArray;
use sql::Parsed;
use sql::ast::{ExplainFormat, Statement};
use sql::plan::{Access, Action, InsertSource, Node, Plan, Scan};
use std::rc::Rc;
use types::Value;
use types::schema::IndexKind;

/// Plans the statement, with the values of a prepared statement's parameters, and shows the plan. Only EXPLAIN ANALYZE
/// runs the statement, without changing anything.
pub async fn explain(
    state: &mut State<'_>,
    (format, analyze): (ExplainFormat, bool),
    statement: &Statement<'_>,
    text: &[u8],
    given: &[Value<'_>],
) -> Result<ResultSet> {
    if !statement.info().plannable {
        return Err(Error::NotSupported("EXPLAIN of this statement".to_owned()));
    }
    let parsed = Parsed { params: given.len() as u32, ..without_parameters(*statement) };
    if analyze {
        let measured = async |state: &mut State<'_>| {
            let planned = state.plan_given(&parsed, given)?;
            refuse_hidden(state, planned.entry.prepared.plan())?;
            run_and_show(state, format, text, &planned.entry, given).await
        };
        return state.until_current(measured).await;
    }
    let planned = state.plan_given(&parsed, given)?;
    let plan = planned.entry.prepared.plan();
    refuse_hidden(state, plan)?;
    match chosen(state, format) {
        ExplainFormat::Tree => {
            let shown = tree(state, &planned.entry.prepared);
            let advice = super::advice::lines_of(state, text).await;
            Ok(one_text(&[&[shown.trim_end().to_owned()][..], &advice[..]].concat().join("\n")))
        }
        ExplainFormat::Traditional | ExplainFormat::Chosen => {
            let made = table(plan, &|scan| partitions(state, scan, given));
            for line in super::advice::lines_of(state, text).await {
                state.warn(expr::Level::Note, Condition::ExplainNote { text: line.into() });
            }
            Ok(made)
        }
        ExplainFormat::Json => Ok(one_text(&sql::explain_json(plan))),
    }
}

/// The plan as text, with how many workers may share it.
fn tree(state: &State<'_>, prepared: &exec::Prepared) -> String {
    let workers = state.execution.vars.parallel_workers_max.min(1 + state.worker.others().count());
    match exec::shown_nodes(prepared, state.execution.vars.parallel_rows_min) {
        nodes if workers > 1 && !nodes.is_empty() => sql::explain_tree_shared(prepared.plan(), &nodes, workers),
        _ => sql::explain_tree(prepared.plan()),
    }
}

/// 1345: a plan shows the tables of a view, so the reader must be allowed to see them.
fn refuse_hidden(state: &State<'_>, plan: &Plan) -> Result<()> {
    let named = &plan.parts().named;
    for each in named.iter().filter(|each| !each.table.id.is_temporary()) {
        let needed = match (&each.table.view, each.through) {
            (Some(_), _) => Privileges::SELECT.with(Privileges::SHOW_VIEW),
            (None, Some(_)) => Privileges::SELECT,
            (None, None) => continue,
        };
        let (database, table) = (&each.table.database, &each.table.name);
        if !is_free(database, table, Action::Select) && !state.session.access.table(database, table).0.has(needed) {
            return Err(Condition::ViewNoExplain.into());
        }
    }
    Ok(())
}

/// The format if the statement names none.
fn chosen(state: &State<'_>, format: ExplainFormat) -> ExplainFormat {
    if format != ExplainFormat::Chosen {
        return format;
    }
    let id = crate::variables::known("explain_format");
    match id.show(state.session.variables.get(id)).as_str() {
        "TREE" => ExplainFormat::Tree,
        "JSON" => ExplainFormat::Json,
        _ => ExplainFormat::Traditional,
    }
}

/// The partitions in which a scan can find rows.
fn partitions(state: &State<'_>, scan: &Scan, given: &[Value<'_>]) -> Option<String> {
    let partitioning = scan.table.partitioning.as_deref()?;
    let open = state.worker.shared.database.table_of(&scan.table)?;
    let constants = exec::Constants { session: &state.execution.vars, params: given };
    let numbers = constants.partitions(&open, scan)?;
    let names: Vec<String> = numbers.iter().map(|number| partitioning.name_of(*number)).collect();
    Some(names.join(",")).filter(|names| !names.is_empty())
}

/// A statement whose reading part was run with measurements.
pub struct MeasuredRun {
    pub text: String,
    pub plan: String,
    pub is_query: bool,
    /// Rows that the plan returned, or found to be changed.
    pub rows: u64,
    pub examined: u64,
    pub time_us: f64,
}

/// Runs the reading part of a statement, drops the rows, and says what it took.
pub async fn measure(state: &mut State<'_>, statement: &Statement<'_>, text: &[u8], given: &[Value<'_>]) -> Result<MeasuredRun> {
    let arena = state.worker.arena();
    // Changes of one table have no reading part of their own in a plan.
    let reading = if statement.info().writes { sql::reading_part(&arena, statement) } else { None };
    let parsed = Parsed { params: given.len() as u32, ..without_parameters(reading.unwrap_or(*statement)) };
    let attempt = async |state: &mut State<'_>| {
        let planned = state.plan_given(&parsed, given)?;
        refuse_hidden(state, planned.entry.prepared.plan())?;
        let (mut run, _) = run(state, text, &planned.entry, given).await?;
        run.is_query &= reading.is_none();
        Ok(run)
    };
    state.until_current(attempt).await
}

async fn run(
    state: &mut State<'_>,
    text: &[u8],
    entry: &Rc<PlanEntry>,
    given: &[Value<'_>],
) -> Result<(MeasuredRun, sql::explain::Measures)> {
    let plan = entry.prepared.plan();
    let before = state.execution.vars.rows_examined.get();
    let ran = state.info.clock.ran();
    let measures = state.measure(entry, given).await?;
    let ticks = state.info.clock.ran().saturating_sub(ran);
    let root = plan.main();
    let rows = root.and_then(|root| measures.rows_of(root)).unwrap_or(0);
    let run = MeasuredRun {
        text: String::from_utf8_lossy(text).into_owned(),
        plan: sql::explain_tree(plan),
        is_query: matches!(&**plan, Plan::Query(_)),
        rows,
        examined: state.execution.vars.rows_examined.get().saturating_sub(before),
        time_us: ticks as f64 * state.worker.shared.tick_clock.nanos_per_tick() / 1e3,
    };
    Ok((run, measures))
}

/// EXPLAIN ANALYZE: runs the reading part of the statement, drops the rows, and shows the plan with the measurements of
/// each operator.
async fn run_and_show(
    state: &mut State<'_>,
    format: ExplainFormat,
    text: &[u8],
    entry: &Rc<PlanEntry>,
    given: &[Value<'_>],
) -> Result<ResultSet> {
    if format != ExplainFormat::Tree {
        return Err(Error::NotSupported("EXPLAIN ANALYZE with a format other than TREE".to_owned()));
    }
    let (run, measures) = run(state, text, entry, given).await?;
    let mut shown = sql::explain_tree_measured(entry.prepared.plan(), &measures);
    shown.truncate(shown.trim_end().len());
    for finding in super::advice::of_run(state, &run, given).await {
        shown.push('\n');
        shown.push_str(&super::advice::line_of(&finding));
    }
    Ok(one_text(&shown))
}

fn one_text(shown: &str) -> ResultSet {
    let mut made = result(Columns::default().long_text("EXPLAIN"));
    made.rows.push(vec![text(shown.trim_end())]);
    made
}

/// The table of MySQL's twelve columns: one line per table in join order.
fn table(plan: &Plan, partitions: &impl Fn(&Scan) -> Option<String>) -> ResultSet {
    let columns = Columns::default()
        .number("id")
        .nullable_text("select_type", 19)
        .nullable_text("table", 64)
        .nullable_text("partitions", 64)
        .nullable_text("type", 10)
        .nullable_text("possible_keys", 4096)
        .nullable_text("key", 64)
        .nullable_text("key_len", 4096)
        .nullable_text("ref", 4096)
        .number("rows")
        .add("filtered", percentage(), true)
        .nullable_text("Extra", 255);
    let mut made = result(columns);
    let mut lines = Vec::new();
    let kind = match plan {
        Plan::Query(query) => {
            scans(&query.root, &mut Extra::default(), &mut lines);
            "SIMPLE"
        }
        Plan::Insert(insert) => {
            if let InsertSource::Query(query) = &insert.source {
                scans(&query.root, &mut Extra::default(), &mut lines);
            }
            "INSERT"
        }
        Plan::Update(update) => {
            lines.push(line(&update.scan, &Extra { filesort: !update.order.is_empty(), ..Extra::default() }));
            "UPDATE"
        }
        Plan::Delete(delete) => {
            lines.push(line(&delete.scan, &Extra { filesort: !delete.order.is_empty(), ..Extra::default() }));
            "DELETE"
        }
        Plan::Change(change) => {
            scans(&change.root, &mut Extra::default(), &mut lines);
            if change.update { "UPDATE" } else { "DELETE" }
        }
    };
    let kind = if kind == "SIMPLE" && plan.roots().len() > 1 { "PRIMARY" } else { kind };
    for (n, subquery) in plan.subqueries().iter().enumerate() {
        let mut own = Vec::new();
        scans(&subquery.root, &mut Extra::default(), &mut own);
        let kind = if subquery.args.is_some() { "DEPENDENT SUBQUERY" } else { "SUBQUERY" };
        lines.extend(own.into_iter().map(|line| Line { block: Some((n as u64 + 2, kind)), ..line }));
    }
    for store in plan.stores() {
        let mut own = Vec::new();
        scans(store, &mut Extra::default(), &mut own);
        lines.extend(own.into_iter().map(|line| Line { block: line.block.or(Some((2, "DERIVED"))), ..line }));
    }
    if lines.is_empty() {
        let none = Line { extra: "No tables used".to_owned(), ..Line::default() };
        lines.push(none);
    }
    made.rows = lines.into_iter().map(|line| line.row(kind, partitions)).collect();
    made
}

/// Two digits after the point.
fn percentage() -> types::ColumnType {
    types::ColumnType { float_decimals: Some(2), display_width: Some(5), ..types::ColumnType::new(types::TypeKind::Double) }
}

#[derive(Clone, Copy, Default)]
struct Extra {
    filesort: bool,
    temporary: bool,
    filtered: bool,
    hash: bool,
}

#[derive(Default)]
struct Line<'p> {
    scan: Option<&'p Scan>,
    table: Option<String>,
    access: Option<&'static str>,
    key: Option<String>,
    rows: Option<u64>,
    /// The percentage of the rows read that pass the filter.
    filtered: f64,
    extra: String,
    /// Subqueries only: number and kind.
    block: Option<(u64, &'static str)>,
}

impl Line<'_> {
    fn row(self, kind: &str, partitions: &impl Fn(&Scan) -> Option<String>) -> Vec<Value<'static>> {
        let (id, kind) = self.block.unwrap_or((1, kind));
        vec![
            number(id),
            text(kind),
            optional(self.table),
            optional(self.scan.and_then(partitions)),
            optional(self.access),
            optional(self.key.clone()),
            optional(self.key),
            Value::Null,
            Value::Null,
            self.rows.map_or(Value::Null, number),
            if self.rows.is_some() { Value::Double(self.filtered) } else { Value::Null },
            optional(Some(self.extra).filter(|extra| !extra.is_empty())),
        ]
    }
}

/// The scans below a node, left to right. The notes of the nodes above are shown at the first scan.
fn scans<'p>(node: &'p Node, extra: &mut Extra, lines: &mut Vec<Line<'p>>) {
    match node {
        Node::Scan(scan) => {
            lines.push(line(scan, extra));
            *extra = Extra::default();
            if let Access::Derived(derived) = &scan.access {
                let mut own = Vec::new();
                if let Some(input) = &derived.input {
                    scans(input, &mut Extra::default(), &mut own);
                }
                lines.extend(own.into_iter().map(|line| Line { block: line.block.or(Some((2, "DERIVED"))), ..line }));
            }
        }
        Node::AsOf { input, .. } => scans(input, extra, lines),
        Node::NestedLoop { left, right, .. } => {
            scans(left, extra, lines);
            scans(right, extra, lines);
        }
        Node::HashJoin { left, right, .. } => {
            scans(left, extra, lines);
            scans(right, &mut Extra { hash: true, ..Extra::default() }, lines);
        }
        Node::Filter { input, .. } => {
            extra.filtered = true;
            scans(input, extra, lines);
        }
        Node::Aggregate { input, keys, ordered, .. } => {
            extra.temporary |= !keys.is_empty() && !ordered;
            scans(input, extra, lines);
        }
        Node::Distinct { input, ordered, .. } => {
            extra.temporary |= !ordered;
            scans(input, extra, lines);
        }
        Node::Sort { input, .. } => {
            extra.filesort = true;
            scans(input, extra, lines);
        }
        Node::Rollup { input, .. } => scans(input, extra, lines),
        Node::Window { input, .. } => {
            extra.temporary = true;
            scans(input, extra, lines);
        }
        Node::SetOperation { left, right, .. } => {
            scans(left, extra, lines);
            scans(right, extra, lines);
        }
        Node::Recursive { seed, steps, .. } => {
            scans(seed, extra, lines);
            steps.iter().for_each(|step| scans(step, extra, lines));
        }
        Node::Project { input, .. } | Node::Limit { input, .. } | Node::Trim { input, .. } => scans(input, extra, lines),
        Node::Concat { inputs } => {
            for input in inputs {
                scans(input, extra, lines);
            }
        }
        Node::OneRow | Node::Values { .. } | Node::JsonTable(_) => {}
    }
}

fn line<'p>(scan: &'p Scan, extra: &Extra) -> Line<'p> {
    let index_name = |index: usize| {
        let index = &scan.table.indexes[index];
        (index.kind != IndexKind::HiddenRowId).then(|| index.name.clone())
    };
    let (access, key, covering) = match &scan.access {
        Access::Point { index, .. } => ("const", index_name(*index), false),
        Access::Ranges { index, ranges, covering, .. } => {
            let is_ref = ranges.iter().all(|range| range.low.is_none() && range.high.is_none());
            (if is_ref { "ref" } else { "range" }, index_name(*index), *covering)
        }
        Access::Leaps(leaps) => ("range", index_name(leaps.index), leaps.covering),
        Access::FullText { index, .. } => ("fulltext", index_name(*index), false),
        Access::Spatial { index, .. } => ("range", index_name(*index), false),
        Access::Nearest(nearest) => ("index", index_name(nearest.index), false),
        Access::Elements { index, asked: AskedOfArray::Member, .. } => ("ref", index_name(*index), false),
        Access::Elements { index, .. } => ("range", index_name(*index), false),
        Access::Merge(merge) => {
            let names: Vec<String> = merge.parts.iter().filter_map(|(index, _)| index_name(*index)).collect();
            ("index_merge", Some(names.join(",")), false)
        }
        Access::Full { index, covering, .. } if *index > 0 || *covering => ("index", index_name(*index), *covering),
        Access::Full { .. } | Access::Virtual | Access::Derived(_) | Access::Work { .. } => ("ALL", None, false),
        Access::Nothing => {
            return Line { extra: "Impossible WHERE".to_owned(), ..Line::default() };
        }
    };
    let is_function = scan.json_table().is_some();
    let (leaps, grouping) = match &scan.access {
        Access::Leaps(leaps) => (true, leaps.within.is_none()),
        _ => (false, false),
    };
    let notes = [
        (is_function, "Table function: json_table"),
        (is_function, "Using temporary"),
        (scan.index_filter.is_some(), "Using index condition"),
        (scan.filter.is_some() || extra.filtered, "Using where"),
        (covering && !leaps, "Using index"),
        (leaps && grouping, "Using index for group-by"),
        (leaps && !grouping, "Using index for skip scan"),
        (extra.temporary && !is_function, "Using temporary"),
        (extra.filesort, "Using filesort"),
        (extra.hash, "Using join buffer (hash join)"),
    ];
    let mut notes: Vec<String> = notes.iter().filter(|(on, _)| *on).map(|(_, note)| (*note).to_owned()).collect();
    if let (Access::Merge(merge), Some(names)) = (&scan.access, &key) {
        let kind = match (merge.intersection, merge.is_sorted(&scan.table)) {
            (true, _) => "intersect",
            (false, true) => "union",
            (false, false) => "sort_union",
        };
        notes.insert(0, format!("Using {kind}({names})"));
    }
    Line {
        scan: Some(scan),
        table: Some(scan.alias.clone()),
        access: Some(access),
        key,
        rows: Some(scan.read.max(1.0) as u64),
        filtered: (scan.rows / scan.read.max(scan.rows).max(0.001) * 10_000.0).round() / 100.0,
        extra: notes.join("; "),
        block: None,
    }
}
