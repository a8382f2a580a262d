//! EXPLAIN: prints a plan as indented text or as JSON, beginning with the operator that gives the result.
//!
//! ```text
//! -> Limit: 10  (cost=42.3 rows=10)
//!     -> Sort: t.b DESC  (cost=42.3 rows=12)
//!         -> Index range scan on t using k over (5 <= k <= 9), reverse  (cost=17 rows=12)
//! ```
//! 1. [`Printer`] walks the plan and makes a flat list of [`Step`]s, each with its depth.
//! 2. [`print`] writes the steps, with the measured figures if the statement was run (EXPLAIN ANALYZE).
//!
//! Bookkeeping operators (projection, trimming) are left out; expressions are in MySQL's notation ([`expr`]). Rows and
//! cost are the planner's ([`crate::planner::estimate`]): the rows of one run of the operator, and the cost of that run
//! including its inputs. The unit of cost is one row read in sequence.

mod expr;
mod print;

pub use print::{explain_json, explain_tree, explain_tree_measured, explain_tree_shared};

use crate::plan::{
    Access, Bound, InsertSource, JoinKind, KeyRange, Leaps, LimitPlan, Merge, Node, Plan, Scan, SortKey, SubqueryPlan,
};
use crate::planner::{Estimate, estimate, scan_estimate};
use ::expr::function::SEARCH_ARGS;
use ::expr::{Expr, ExprKind};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use types::schema::{IndexDef, IndexKind, TableDef};

/// Ranges shown of one access path.
const RANGES_SHOWN_MAX: usize = 8;

/// Measurements of one operator in a run of its plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    /// All rows that it gave.
    pub rows: u64,
    /// How often it was started.
    pub loops: u64,
    /// Time until the first row, including waits, summed over all starts.
    pub first: Duration,
    /// All the time in it and below it.
    pub total: Duration,
}

/// The part of a node that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measured {
    /// The whole operator.
    Whole,
    /// A scan with a filter: only the reading.
    Read,
    /// What one worker did of an aggregation that several share: the rows that it read, and its own time. The first is the session's.
    Worker(usize),
}

/// The measurements of the operators of a plan, by the address of their nodes.
#[derive(Clone, Debug, Default)]
pub struct Measures(pub HashMap<(usize, Measured), Measure>);

impl Measures {
    /// The rows that a node gave; `None`: it was not measured.
    pub fn rows_of(&self, node: &Node) -> Option<u64> {
        self.0.get(&(Self::key(node), Measured::Whole)).map(|measure| measure.rows)
    }

    /// The key of a node.
    pub fn key(node: &Node) -> usize {
        std::ptr::from_ref(node).addr()
    }
}

/// One line of a plan.
#[derive(Clone, Debug)]
struct Step {
    depth: usize,
    text: String,
    estimate: Option<Estimate>,
    /// The node whose measurements this step shows.
    measure: Option<(usize, Measured)>,
    /// Of a scan: the table, as schema and name, and the index.
    table: Option<TableStep>,
}

#[derive(Clone, Debug)]
struct TableStep {
    database: String,
    alias: String,
    index: Option<String>,
    columns: Vec<String>,
    access: &'static str,
    covering: bool,
}

/// The steps of a plan.
fn steps(plan: &Plan) -> Vec<Step> {
    let mut printer = Printer::new(plan);
    match plan {
        Plan::Query(query) => printer.node(&query.root, 0),
        Plan::Insert(insert) => {
            let verb = if insert.replace { "Replace into" } else { "Insert into" };
            printer.line(0, format!("{verb} {}", insert.table.name));
            match &insert.source {
                InsertSource::Query(query) => printer.node(&query.root, 1),
                InsertSource::File(_) => {}
                InsertSource::Values(rows) => {
                    let estimate = Estimate { rows: rows.len() as f64, cost: 0.0 };
                    printer.estimated(1, "Rows fetched before execution".to_owned(), estimate);
                }
            }
        }
        Plan::Update(update) => {
            printer.line(0, format!("Update {}", update.scan.alias));
            printer.changed(&update.scan, &update.order, update.limit.as_ref());
        }
        Plan::Change(change) => {
            let verb = if change.update { "Update" } else { "Delete from" };
            let names = change.targets.iter().map(|t| printer.alias(t.source));
            let line = format!("{verb} {}", names.collect::<Vec<_>>().join(", "));
            printer.line(0, line);
            printer.node(&change.root, 1);
        }
        Plan::Delete(delete) => {
            printer.line(0, format!("Delete from {}", delete.scan.alias));
            printer.changed(&delete.scan, &delete.order, delete.limit.as_ref());
        }
    }
    for (n, subquery) in plan.subqueries().iter().enumerate() {
        if subquery.is_replaced() {
            continue;
        }
        let how = match (subquery.args, subquery.volatile) {
            (_, true) => "run for each row",
            (None, false) => "run only once",
            (Some(_), false) => "dependent",
        };
        printer.line(0, format!("Subquery #{} ({how})", n + 1));
        printer.node(&subquery.root, 1);
    }
    printer.steps
}

fn join_name(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "inner join",
        JoinKind::Left => "left join",
        JoinKind::Semi => "semijoin",
        JoinKind::Anti => "antijoin",
    }
}

struct Printer {
    /// Tables by source number.
    tables: Vec<Option<(String, Arc<TableDef>)>>,
    /// The queries of shared row stores.
    stores: Vec<Arc<Node>>,
    /// Shared row stores whose plan has been shown.
    shown: Vec<bool>,
    /// The outer expressions of each source of arguments.
    arguments: Vec<(usize, Vec<Expr>)>,
    steps: Vec<Step>,
}

impl Printer {
    fn new(plan: &Plan) -> Self {
        let mut tables = Vec::new();
        for root in plan.roots() {
            root.walk_scans(&mut |scan| note_scan(scan, &mut tables));
        }
        match plan {
            Plan::Update(update) => note_scan(&update.scan, &mut tables),
            Plan::Delete(delete) => note_scan(&delete.scan, &mut tables),
            Plan::Query(_) | Plan::Insert(_) | Plan::Change(_) => {}
        }
        let stores = plan.stores().to_vec();
        // The arguments of a subquery are shown as the outer expressions.
        let mut arguments = Vec::new();
        let all: Vec<&SubqueryPlan> = plan.subqueries().iter().collect();
        let mut note = |expr: &Expr| note_arguments(expr, &all, &mut arguments);
        for root in plan.roots() {
            root.walk_exprs(&mut |expr| note(expr));
        }
        Self { tables, shown: vec![false; stores.len()], stores, arguments, steps: Vec::new() }
    }

    fn line(&mut self, depth: usize, text: String) {
        self.steps.push(Step { depth, text, estimate: None, measure: None, table: None });
    }

    fn estimated(&mut self, depth: usize, text: String, estimate: Estimate) {
        self.steps.push(Step { depth, text, estimate: Some(estimate), measure: None, table: None });
    }

    /// The line of an operator.
    fn operator(&mut self, node: &Node, depth: usize, text: String) {
        let measure = Some((Measures::key(node), Measured::Whole));
        self.steps.push(Step { depth, text, estimate: Some(estimate(node)), measure, table: None });
    }

    fn node(&mut self, node: &Node, depth: usize) {
        match node {
            Node::OneRow => self.operator(node, depth, "Rows fetched before execution".to_owned()),
            Node::Scan(scan) => self.scan(scan, Some(Measures::key(node)), depth),
            Node::AsOf { input, moment } => {
                let moment = self.expr(moment);
                self.operator(node, depth, format!("As of {moment}"));
                self.node(input, depth + 1);
            }
            Node::NestedLoop { left, right, kind, on } => {
                let kind = join_name(*kind);
                let condition = on.as_ref().map_or(String::new(), |on| format!(" on {}", self.expr(on)));
                self.operator(node, depth, format!("Nested loop {kind}{condition}"));
                self.node(left, depth + 1);
                self.node(right, depth + 1);
            }
            Node::HashJoin { left, right, kind, left_keys, right_keys, on, .. } => {
                let kind = match kind {
                    JoinKind::Inner => "Inner hash join",
                    JoinKind::Left => "Left hash join",
                    JoinKind::Semi => "Hash semijoin",
                    JoinKind::Anti => "Hash antijoin",
                };
                let pairs = left_keys.iter().zip(right_keys);
                let pairs: Vec<String> = pairs.map(|(a, b)| format!("{} = {}", self.expr(a), self.expr(b))).collect();
                let extra = on.as_ref().map_or(String::new(), |on| format!(", extra conditions: {}", self.expr(on)));
                self.operator(node, depth, format!("{kind} ({}){extra}", pairs.join(", ")));
                self.node(left, depth + 1);
                self.node(right, depth + 1);
            }
            Node::Filter { input, predicate } => {
                let predicate = self.expr(predicate);
                self.operator(node, depth, format!("Filter: {predicate}"));
                self.node(input, depth + 1);
            }
            Node::Aggregate { input, keys, aggregates, .. } => {
                let keys: Vec<String> = keys.iter().map(|k| self.expr(k)).collect();
                let aggregates: Vec<String> = aggregates.iter().map(|a| self.aggregate(a)).collect();
                let head = if keys.is_empty() { "Aggregate".to_owned() } else { format!("Group by {}", keys.join(", ")) };
                let tail = if aggregates.is_empty() { String::new() } else { format!(": {}", aggregates.join(", ")) };
                self.operator(node, depth, format!("{head}{tail}"));
                self.node(input, depth + 1);
            }
            Node::Project { input, .. } | Node::Trim { input, .. } => self.node(input, depth),
            Node::Rollup { input, keys, aggregates } => {
                let keys = self.sort_keys(
                    &keys.iter().map(|k| SortKey { expr: k.clone(), descending: false }).collect::<Vec<_>>(),
                    projection(input),
                );
                let aggregates: Vec<String> = aggregates.iter().map(|a| self.aggregate(a)).collect();
                self.operator(node, depth, format!("Group by {keys} with rollup: {}", aggregates.join(", ")));
                self.node(input, depth + 1);
            }
            Node::Window { input, calls, .. } => {
                let names: Vec<String> = calls.iter().map(|call| self.window(call)).collect();
                self.operator(node, depth, format!("Window: {}", names.join(", ")));
                self.node(input, depth + 1);
            }
            Node::SetOperation { left, right, except, all, .. } => {
                let name = if *except { "Except" } else { "Intersect" };
                let all = if *all { " all" } else { "" };
                self.operator(node, depth, format!("{name}{all}"));
                self.node(left, depth + 1);
                self.node(right, depth + 1);
            }
            Node::Recursive { seed, steps, distinct, .. } => {
                let kind = if *distinct { "distinct" } else { "all" };
                self.operator(node, depth, format!("Repeat until convergence (union {kind})"));
                self.node(seed, depth + 1);
                steps.iter().for_each(|step| self.node(step, depth + 1));
            }
            Node::Distinct { input, .. } => {
                self.operator(node, depth, "Remove duplicates".to_owned());
                self.node(input, depth + 1);
            }
            Node::Sort { input, keys, limit } => {
                let keys = self.sort_keys(keys, projection(input));
                let limit = limit.as_ref().map_or(String::new(), |l| format!(", limit {}", self.limit(l)));
                self.operator(node, depth, format!("Sort: {keys}{limit}"));
                self.node(input, depth + 1);
            }
            Node::Limit { input, limit } => {
                let limit = self.limit(limit);
                self.operator(node, depth, format!("Limit: {limit}"));
                self.node(input, depth + 1);
            }
            // The scan above it is all that is shown.
            Node::JsonTable(_) => {}
            Node::Values { .. } => self.operator(node, depth, "Rows fetched before execution".to_owned()),
            Node::Concat { inputs } => {
                self.operator(node, depth, "Union all".to_owned());
                inputs.iter().for_each(|input| self.node(input, depth + 1));
            }
        }
    }

    fn changed(&mut self, scan: &Scan, order: &[SortKey], limit: Option<&LimitPlan>) {
        let mut depth = 1;
        if let Some(limit) = limit {
            let limit = self.limit(limit);
            self.line(depth, format!("Limit: {limit}"));
            depth += 1;
        }
        if !order.is_empty() {
            let keys = self.sort_keys(order, None);
            self.line(depth, format!("Sort: {keys}"));
            depth += 1;
        }
        self.scan(scan, None, depth);
    }

    fn sort_keys(&self, keys: &[SortKey], slots: Option<&[Expr]>) -> String {
        let keys = keys.iter().map(|key| {
            let named = match (&key.expr.kind, slots) {
                (ExprKind::Slot(n), Some(slots)) => slots.get(*n).map(|e| self.expr(e)),
                _ => None,
            };
            let mut text = named.unwrap_or_else(|| self.expr(&key.expr));
            if key.descending {
                text.push_str(" DESC");
            }
            text
        });
        keys.collect::<Vec<_>>().join(", ")
    }

    fn limit(&self, limit: &LimitPlan) -> String {
        let count = limit.count.as_ref().map_or("all".to_owned(), |count| self.expr(count));
        match &limit.offset {
            Some(offset) => format!("{count} offset {}", self.expr(offset)),
            None => count,
        }
    }

    fn scan(&mut self, scan: &Scan, key: Option<usize>, depth: usize) {
        let mut depth = depth;
        let (mut read, kept) = scan_estimate(scan);
        if scan.filter.is_none() {
            read = kept;
        }
        let mut part = Measured::Whole;
        if let Some(filter) = &scan.filter {
            let text = format!("Filter: {}", self.expr(filter));
            let measure = key.map(|key| (key, Measured::Whole));
            self.steps.push(Step { depth, text, estimate: Some(kept), measure, table: None });
            depth += 1;
            part = Measured::Read;
        }
        let measure = key.map(|key| (key, part));
        let table = &scan.table;
        let alias = &scan.alias;
        let text = match &scan.access {
            Access::Point { index, key } => {
                let index = &table.indexes[*index];
                let parts = index.columns.iter().zip(key);
                let parts = parts.map(|(c, value)| format!("{}={}", table.columns[c.column].shown_name(), self.expr(value)));
                let parts: Vec<String> = parts.collect();
                format!("Single-row index lookup on {alias} using {} ({})", index.name, parts.join(", "))
            }
            Access::Ranges { index, ranges, reverse, covering } => {
                let def = &table.indexes[*index];
                let equal = ranges.len() == 1 && ranges[0].low.is_none() && ranges[0].high.is_none();
                let kind = match (equal, covering) {
                    (true, false) => "Index lookup",
                    (true, true) => "Covering index lookup",
                    (false, false) => "Index range scan",
                    (false, true) => "Covering index range scan",
                };
                let shown: Vec<String> = ranges.iter().take(RANGES_SHOWN_MAX).map(|r| self.range(table, def, 0, r)).collect();
                let more = if ranges.len() > RANGES_SHOWN_MAX {
                    format!(" OR {} more", ranges.len() - RANGES_SHOWN_MAX)
                } else {
                    String::new()
                };
                let reverse = if *reverse { ", reverse" } else { "" };
                let judged = scan.index_filter.as_deref();
                let judged = judged.map_or(String::new(), |judged| format!(", with index condition: {}", self.expr(judged)));
                format!("{kind} on {alias} using {} over {}{more}{reverse}{judged}", def.name, shown.join(" OR "))
            }
            Access::Full { index, reverse, covering } => {
                let def = &table.indexes[*index];
                let reverse = if *reverse { ", reverse" } else { "" };
                match (def.kind, covering) {
                    (IndexKind::Primary | IndexKind::HiddenRowId, _) => format!("Table scan on {alias}{reverse}"),
                    (_, true) => format!("Covering index scan on {alias} using {}{reverse}", def.name),
                    (_, false) => format!("Index scan on {alias} using {}{reverse}", def.name),
                }
            }
            Access::Leaps(leaps) => self.leaps(scan, leaps),
            Access::Merge(merge) => {
                self.merge(scan, merge, (depth, measure));
                return;
            }
            Access::FullText { index, search } => {
                let def = &table.indexes[*index];
                let first = def.columns.first().map_or("", |part| table.columns[part.column].name.as_str());
                let text = match &search.kind {
                    ExprKind::Call { args, .. } => args.get(SEARCH_ARGS - 1).map(|text| self.expr(text)),
                    _ => None,
                };
                let text = text.unwrap_or_default();
                format!("Full-text index search on {alias} using {} ({first}={text})", def.name)
            }
            Access::Spatial { index, .. } => {
                let def = &table.indexes[*index];
                let first = def.columns.first().map_or("", |part| table.columns[part.column].name.as_str());
                format!("Index range scan on {alias} using {} over ({first} unprintable_geometry_value)", def.name)
            }
            Access::Nearest(nearest) => {
                let name = &table.indexes[nearest.index].name;
                format!("Vector index search on {alias} using {name} ({})", self.expr(&nearest.call))
            }
            Access::Elements { index, prefix, constant, .. } => {
                let def = &table.indexes[*index];
                let value = |expr: &Expr| self.expr(expr);
                let known = prefix
                    .prefix
                    .iter()
                    .zip(&def.columns)
                    .map(|(expr, part)| format!("{} = {} AND ", table.columns[part.column].shown_name(), value(expr)));
                let array = def.columns.get(prefix.prefix.len()).map_or("", |part| table.columns[part.column].shown_name());
                let (known, constant) = (known.collect::<String>(), value(constant));
                format!("Index range scan on {alias} using {} over ({known}{constant} MEMBER OF {array})", def.name)
            }
            Access::Virtual => format!("Table scan on {alias}"),
            Access::Derived(_) if scan.json_table().is_some() => "Materialize table function".to_owned(),
            Access::Derived(derived) => {
                let what = match (derived.shared, derived.lateral) {
                    (Some(_), _) => "common table expression",
                    (None, true) => "derived table, run again for each row",
                    (None, false) => "derived table",
                };
                let text = format!("Table scan on {alias}");
                self.steps.push(Step { depth, text, estimate: Some(read), measure, table: Some(table_step(scan)) });
                let seen = derived.shared.is_some_and(|table| std::mem::replace(&mut self.shown[table], true));
                let note = if seen { " (shown above)" } else { "" };
                self.line(depth + 1, format!("Materialize {what}{note}"));
                let stores = std::mem::take(&mut self.stores);
                let input = derived.shared.map(|table| &stores[table]).or(derived.input.as_ref());
                if let Some(input) = input.filter(|_| !seen) {
                    let input = input.clone();
                    self.stores = stores;
                    self.node(&input, depth + 2);
                } else {
                    self.stores = stores;
                }
                return;
            }
            Access::Work { .. } => format!("Scan new records on {alias}"),
            Access::Nothing => format!("Zero rows on {alias} (impossible WHERE)"),
        };
        self.steps.push(Step { depth, text, estimate: Some(read), measure, table: Some(table_step(scan)) });
    }

    /// An index merge, with one step per index.
    fn merge(&mut self, scan: &Scan, merge: &Merge, (depth, measure): (usize, Option<(usize, Measured)>)) {
        let verb = if merge.intersection { "Intersect rows" } else { "Deduplicate rows" };
        let text = format!("{verb} sorted by row ID on {}", scan.alias);
        let (read, _) = scan_estimate(scan);
        self.steps.push(Step { depth, text, estimate: Some(read), measure, table: Some(table_step(scan)) });
        for (index, ranges) in &merge.parts {
            let def = &scan.table.indexes[*index];
            let shown: Vec<String> = ranges.iter().take(RANGES_SHOWN_MAX).map(|r| self.range(&scan.table, def, 0, r)).collect();
            self.line(depth + 1, format!("Index range scan on {} using {} over {}", scan.alias, def.name, shown.join(" OR ")));
        }
    }

    /// A loose index scan, or a skip scan.
    fn leaps(&self, scan: &Scan, leaps: &Leaps) -> String {
        let def = &scan.table.indexes[leaps.index];
        let covering = if leaps.covering || leaps.index == 0 { "Covering index" } else { "Index" };
        let purpose = if leaps.within.is_some() { "" } else { " for grouping" };
        let bounded = leaps.ranges.iter().filter(|range| range.exprs().next().is_some());
        let mut over: Vec<String> = bounded.take(RANGES_SHOWN_MAX).map(|range| self.range(&scan.table, def, 0, range)).collect();
        over.extend(leaps.within.iter().map(|range| self.range(&scan.table, def, leaps.prefix, range)));
        let over = if over.is_empty() { String::new() } else { format!(" over {}", over.join(" OR ")) };
        format!("{covering} skip scan{purpose} on {} using {}{over}", scan.alias, def.name)
    }

    fn range(&self, table: &TableDef, index: &IndexDef, first: usize, range: &KeyRange) -> String {
        let name = |place: usize| index.columns.get(first + place).map_or("?", |c| table.columns[c.column].shown_name());
        let mut parts = Vec::new();
        for (place, value) in range.prefix.iter().enumerate() {
            let sign = if range.null_safe.get(place) == Some(&true) { "<=>" } else { "=" };
            parts.push(format!("{} {sign} {}", name(place), self.expr(value)));
        }
        let column = name(range.prefix.len());
        let sign = |bound: &Bound| if *bound == Bound::Inclusive { "<=" } else { "<" };
        match (&range.low, &range.high) {
            (Some((low, a)), Some((high, b))) => {
                parts.push(format!("{} {} {column} {} {}", self.expr(low), sign(a), sign(b), self.expr(high)));
            }
            (Some((low, bound)), None) => parts.push(format!("{} {} {column}", self.expr(low), sign(bound))),
            (None, Some((high, bound))) => parts.push(format!("{column} {} {}", sign(bound), self.expr(high))),
            (None, None) => {}
        }
        format!("({})", parts.join(" AND "))
    }
}

/// The projection that a sort's slots come from.
fn projection(node: &Node) -> Option<&[Expr]> {
    match node {
        Node::Project { exprs, .. } => Some(exprs),
        Node::Distinct { input, .. } | Node::Sort { input, .. } => projection(input),
        _ => None,
    }
}

fn note_scan(scan: &Scan, tables: &mut Vec<Option<(String, Arc<TableDef>)>>) {
    if tables.len() <= scan.source {
        tables.resize_with(scan.source + 1, || None);
    }
    tables[scan.source] = Some((scan.alias.clone(), scan.table.clone()));
}

fn note_arguments(expr: &Expr, subqueries: &[&SubqueryPlan], out: &mut Vec<(usize, Vec<Expr>)>) {
    if let ExprKind::Subquery(subquery) = &expr.kind
        && let Some(source) = subqueries[subquery.id].args
    {
        out.push((source, subquery.args.clone()));
    }
    expr.parts().into_iter().for_each(|part| note_arguments(part, subqueries, out));
}

fn table_step(scan: &Scan) -> TableStep {
    let (index, access, covering) = match &scan.access {
        Access::Point { index, .. } => (Some(*index), "index", false),
        Access::Ranges { index, covering, .. } => (Some(*index), "index", *covering),
        Access::Full { index, covering, .. } if *index > 0 => (Some(*index), "index", *covering),
        Access::Leaps(leaps) => (Some(leaps.index), "index", leaps.covering),
        Access::FullText { index, .. } => (Some(*index), "full_text_index", false),
        Access::Spatial { index, .. } | Access::Elements { index, .. } => (Some(*index), "index", false),
        Access::Nearest(nearest) => (Some(nearest.index), "index", false),
        _ => (None, "table", false),
    };
    let named = index.map(|index| &scan.table.indexes[index]).filter(|index| index.kind != IndexKind::HiddenRowId);
    let used = scan.table.columns.iter().zip(&scan.columns_used).filter(|(_, used)| **used);
    TableStep {
        database: scan.table.database.clone(),
        alias: scan.alias.clone(),
        index: named.map(|index| index.name.clone()),
        columns: used.map(|(column, _)| column.shown_name().to_owned()).collect(),
        access,
        covering,
    }
}
