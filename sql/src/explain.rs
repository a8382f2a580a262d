//! EXPLAIN FORMAT=TREE: a plan as indented text, the operator that gives the result first.
//!
//! ```text
//! -> Limit: 10
//!     -> Sort: t.b DESC
//!         -> Index range scan on t using k over (5 <= k <= 9), reverse  (rows=12)
//! ```
//! Bookkeeping operators (projection, trimming) are left out; expressions are shown as MySQL would write them.

use crate::expr::{
    Aggregate, ArithmeticOp, CompareOp, Expr, ExprKind, Subquery, SubqueryTest, UnaryOp, WindowCall, WindowFunction,
};
use crate::plan::{Access, Bound, InsertSource, JoinKind, KeyRange, LimitPlan, Node, Plan, Scan, SortKey, SubqueryPlan};
use std::fmt::Write;
use std::sync::Arc;
use types::schema::{IndexDef, IndexKind, TableDef};
use types::{TypeKind, Value};

/// Ranges shown of one access path.
const RANGES_SHOWN_MAX: usize = 8;
/// Members shown of an IN list.
const MEMBERS_SHOWN_MAX: usize = 10;

/// The plan as text, a line per operator.
pub fn explain_tree(plan: &Plan) -> String {
    let mut printer = Printer::new(plan);
    match plan {
        Plan::Query(query) => printer.node(&query.root, 0),
        Plan::Insert(insert) => {
            let verb = if insert.replace { "Replace into" } else { "Insert into" };
            printer.line(0, &format!("{verb} {}", insert.table.name));
            match &insert.source {
                InsertSource::Query(query) => printer.node(&query.root, 1),
                InsertSource::Values(rows) => printer.line(1, &format!("Rows fetched before execution  (rows={})", rows.len())),
            }
        }
        Plan::Update(update) => {
            printer.line(0, &format!("Update {}", update.scan.alias));
            printer.changed(&update.scan, &update.order, update.limit.as_ref());
        }
        Plan::Change(change) => {
            let verb = if change.update { "Update" } else { "Delete from" };
            let names = change.targets.iter().map(|t| printer.alias(t.source));
            let line = format!("{verb} {}", names.collect::<Vec<_>>().join(", "));
            printer.line(0, &line);
            printer.node(&change.root, 1);
        }
        Plan::Delete(delete) => {
            printer.line(0, &format!("Delete from {}", delete.scan.alias));
            printer.changed(&delete.scan, &delete.order, delete.limit.as_ref());
        }
    }
    for (n, subquery) in plan.subqueries().iter().enumerate() {
        let how = match (subquery.args, subquery.volatile) {
            (_, true) => "run for each row",
            (None, false) => "run only once",
            (Some(_), false) => "dependent",
        };
        printer.line(0, &format!("Subquery #{} ({how})", n + 1));
        printer.node(&subquery.root, 1);
    }
    printer.out
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
    /// The expressions that a source of arguments stands for.
    arguments: Vec<(usize, Vec<Expr>)>,
    out: String,
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
        // What subqueries are given shows as what it is outside.
        let mut arguments = Vec::new();
        let all: Vec<&SubqueryPlan> = plan.subqueries().iter().collect();
        let mut note = |expr: &Expr| note_arguments(expr, &all, &mut arguments);
        for root in plan.roots() {
            root.walk_exprs(&mut |expr| note(expr));
        }
        Self { tables, shown: vec![false; stores.len()], stores, arguments, out: String::new() }
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{:indent$}-> {text}", "", indent = depth * 4);
    }

    fn node(&mut self, node: &Node, depth: usize) {
        match node {
            Node::OneRow => self.line(depth, "Rows fetched before execution"),
            Node::Scan(scan) => self.scan(scan, depth),
            Node::NestedLoop { left, right, kind, on } => {
                let kind = join_name(*kind);
                let condition = on.as_ref().map_or(String::new(), |on| format!(" on {}", self.expr(on)));
                self.line(depth, &format!("Nested loop {kind}{condition}"));
                self.node(left, depth + 1);
                self.node(right, depth + 1);
            }
            Node::HashJoin { left, right, kind, left_keys, right_keys, on } => {
                let kind = match kind {
                    JoinKind::Inner => "Inner hash join",
                    JoinKind::Left => "Left hash join",
                    JoinKind::Semi => "Hash semijoin",
                    JoinKind::Anti => "Hash antijoin",
                };
                let pairs = left_keys.iter().zip(right_keys);
                let pairs: Vec<String> = pairs.map(|(a, b)| format!("{} = {}", self.expr(a), self.expr(b))).collect();
                let extra = on.as_ref().map_or(String::new(), |on| format!(", extra conditions: {}", self.expr(on)));
                self.line(depth, &format!("{kind} ({}){extra}", pairs.join(", ")));
                self.node(left, depth + 1);
                self.node(right, depth + 1);
            }
            Node::Filter { input, predicate } => {
                let predicate = self.expr(predicate);
                self.line(depth, &format!("Filter: {predicate}"));
                self.node(input, depth + 1);
            }
            Node::Aggregate { input, keys, aggregates } => {
                let keys: Vec<String> = keys.iter().map(|k| self.expr(k)).collect();
                let aggregates: Vec<String> = aggregates.iter().map(|a| self.aggregate(a)).collect();
                let head = if keys.is_empty() { "Aggregate".to_owned() } else { format!("Group by {}", keys.join(", ")) };
                let tail = if aggregates.is_empty() { String::new() } else { format!(": {}", aggregates.join(", ")) };
                self.line(depth, &format!("{head}{tail}"));
                self.node(input, depth + 1);
            }
            Node::Project { input, .. } | Node::Trim { input, .. } => self.node(input, depth),
            Node::Rollup { input, keys, aggregates } => {
                let keys = self.sort_keys(
                    &keys.iter().map(|k| SortKey { expr: k.clone(), descending: false }).collect::<Vec<_>>(),
                    projection(input),
                );
                let aggregates: Vec<String> = aggregates.iter().map(|a| self.aggregate(a)).collect();
                self.line(depth, &format!("Group by {keys} with rollup: {}", aggregates.join(", ")));
                self.node(input, depth + 1);
            }
            Node::Window { input, calls, .. } => {
                let names: Vec<String> = calls.iter().map(|call| self.window(call)).collect();
                self.line(depth, &format!("Window: {}", names.join(", ")));
                self.node(input, depth + 1);
            }
            Node::SetOperation { left, right, except, all, .. } => {
                let name = if *except { "Except" } else { "Intersect" };
                let all = if *all { " all" } else { "" };
                self.line(depth, &format!("{name}{all}"));
                self.node(left, depth + 1);
                self.node(right, depth + 1);
            }
            Node::Recursive { seed, steps, distinct, .. } => {
                let kind = if *distinct { "distinct" } else { "all" };
                self.line(depth, &format!("Repeat until convergence (union {kind})"));
                self.node(seed, depth + 1);
                steps.iter().for_each(|step| self.node(step, depth + 1));
            }
            Node::Distinct { input, .. } => {
                self.line(depth, "Remove duplicates");
                self.node(input, depth + 1);
            }
            Node::Sort { input, keys, limit } => {
                let keys = self.sort_keys(keys, projection(input));
                let limit = limit.as_ref().map_or(String::new(), |l| format!(", limit {}", self.limit(l)));
                self.line(depth, &format!("Sort: {keys}{limit}"));
                self.node(input, depth + 1);
            }
            Node::Limit { input, limit } => {
                let limit = self.limit(limit);
                self.line(depth, &format!("Limit: {limit}"));
                self.node(input, depth + 1);
            }
            Node::Values { rows } => self.line(depth, &format!("Rows fetched before execution  (rows={})", rows.len())),
            Node::Concat { inputs } => {
                self.line(depth, "Union all");
                inputs.iter().for_each(|input| self.node(input, depth + 1));
            }
        }
    }

    fn changed(&mut self, scan: &Scan, order: &[SortKey], limit: Option<&LimitPlan>) {
        let mut depth = 1;
        if let Some(limit) = limit {
            let limit = self.limit(limit);
            self.line(depth, &format!("Limit: {limit}"));
            depth += 1;
        }
        if !order.is_empty() {
            let keys = self.sort_keys(order, None);
            self.line(depth, &format!("Sort: {keys}"));
            depth += 1;
        }
        self.scan(scan, depth);
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

    fn scan(&mut self, scan: &Scan, depth: usize) {
        let mut depth = depth;
        if let Some(filter) = &scan.filter {
            let filter = self.expr(filter);
            self.line(depth, &format!("Filter: {filter}"));
            depth += 1;
        }
        let table = &scan.table;
        let alias = &scan.alias;
        let text = match &scan.access {
            Access::Point { index, key } => {
                let index = &table.indexes[*index];
                let parts = index.columns.iter().zip(key);
                let parts = parts.map(|(c, value)| format!("{}={}", table.columns[c.column].name, self.expr(value)));
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
                let shown: Vec<String> = ranges.iter().take(RANGES_SHOWN_MAX).map(|r| self.range(table, def, r)).collect();
                let more = if ranges.len() > RANGES_SHOWN_MAX {
                    format!(" OR {} more", ranges.len() - RANGES_SHOWN_MAX)
                } else {
                    String::new()
                };
                let reverse = if *reverse { ", reverse" } else { "" };
                format!("{kind} on {alias} using {} over {}{more}{reverse}", def.name, shown.join(" OR "))
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
            Access::Virtual => format!("Table scan on {alias}"),
            Access::Derived(derived) => {
                let what = match (derived.shared, derived.lateral) {
                    (Some(_), _) => "common table expression",
                    (None, true) => "derived table, run again for each row",
                    (None, false) => "derived table",
                };
                self.line(depth, &format!("Table scan on {alias}  (rows={})", scan.rows.round()));
                let seen = derived.shared.is_some_and(|table| std::mem::replace(&mut self.shown[table], true));
                let note = if seen { " (shown above)" } else { "" };
                self.line(depth + 1, &format!("Materialize {what}{note}"));
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
        self.line(depth, &format!("{text}  (rows={})", scan.rows.round()));
    }

    fn range(&self, table: &TableDef, index: &IndexDef, range: &KeyRange) -> String {
        let name = |place: usize| index.columns.get(place).map_or("?", |c| &*table.columns[c.column].name);
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

    fn aggregate(&self, aggregate: &Aggregate) -> String {
        let name = aggregate.function.name().to_lowercase();
        let distinct = if aggregate.distinct { "distinct " } else { "" };
        let args = if aggregate.args.is_empty() { "*".to_owned() } else { self.list(&aggregate.args, ", ") };
        format!("{name}({distinct}{args})")
    }

    fn window(&self, call: &WindowCall) -> String {
        match &call.function {
            WindowFunction::Aggregate(aggregate) => self.aggregate(aggregate),
            other => format!("{}({})", window_name(other), self.list(&call.args, ", ")),
        }
    }

    fn list(&self, exprs: &[Expr], separator: &str) -> String {
        exprs.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(separator)
    }

    fn expr(&self, expr: &Expr) -> String {
        let negation = |negated: &bool| if *negated { "not " } else { "" };
        match &expr.kind {
            ExprKind::Literal(value) => literal(value),
            ExprKind::Param(n) => format!("?{}", n + 1),
            ExprKind::Column { source, column } | ExprKind::ColumnOrdinal { source, column } => self.column(*source, *column),
            ExprKind::Slot(n) => format!("#{}", n + 1),
            ExprKind::UserVariable(name) => format!("@{name}"),
            ExprKind::AssignVariable { name, value } => format!("(@{name} := {})", self.expr(value)),
            ExprKind::Unary { op: UnaryOp::Negate, arg } => format!("-{}", self.expr(arg)),
            ExprKind::Unary { op: UnaryOp::BitNot, arg } => format!("~{}", self.expr(arg)),
            ExprKind::Compare { op, left, right, .. } => self.infix(left, compare_sign(*op), right),
            ExprKind::Arithmetic { op, left, right } => self.infix(left, arithmetic_sign(*op), right),
            ExprKind::And(parts) => format!("({})", self.list(parts, " and ")),
            ExprKind::Or(parts) => format!("({})", self.list(parts, " or ")),
            ExprKind::Xor(left, right) => self.infix(left, "xor", right),
            ExprKind::Not(arg) => format!("(not {})", self.expr(arg)),
            ExprKind::IsNull { arg, negated } => format!("({} is {}null)", self.expr(arg), negation(negated)),
            ExprKind::IsTruth { arg, truth, negated } => format!("({} is {}{truth})", self.expr(arg), negation(negated)),
            ExprKind::In { arg, list, negated, .. } => {
                let shown = self.list(&list[..list.len().min(MEMBERS_SHOWN_MAX)], ", ");
                let more = if list.len() > MEMBERS_SHOWN_MAX { ", ..." } else { "" };
                format!("({} {}in ({shown}{more}))", self.expr(arg), negation(negated))
            }
            ExprKind::Between { arg, low, high, negated, .. } => {
                format!("({} {}between {} and {})", self.expr(arg), negation(negated), self.expr(low), self.expr(high))
            }
            ExprKind::Like { arg, pattern, negated, .. } => {
                format!("({} {}like {})", self.expr(arg), negation(negated), self.expr(pattern))
            }
            ExprKind::Case { whens, otherwise } => {
                let mut out = "(case".to_owned();
                for (condition, value) in whens {
                    let _ = write!(out, " when {} then {}", self.expr(condition), self.expr(value));
                }
                if let Some(value) = otherwise {
                    let _ = write!(out, " else {}", self.expr(value));
                }
                out + " end)"
            }
            ExprKind::Cast(arg) => format!("cast({} as {})", self.expr(arg), type_name(&expr.ty.kind)),
            ExprKind::Call { function, args } => {
                format!("{}({})", format!("{function:?}").to_lowercase(), self.list(args, ", "))
            }
            ExprKind::InsertValue { column } => format!("values(#{})", column + 1),
            ExprKind::Row(parts) => format!("({})", self.list(parts, ", ")),
            ExprKind::Subquery(subquery) => self.subquery(subquery),
        }
    }

    fn subquery(&self, subquery: &Subquery) -> String {
        let name = format!("subquery #{}", subquery.id + 1);
        let not = |negated: bool| if negated { "not " } else { "" };
        match &subquery.test {
            SubqueryTest::Value { column: 0 } => format!("({name})"),
            SubqueryTest::Value { column } => format!("({name}).{}", column + 1),
            SubqueryTest::Exists { negated } => format!("{}exists({name})", not(*negated)),
            SubqueryTest::Compare { op: CompareOp::Equal, all: false, negated, .. } => {
                format!("({} {}in ({name}))", self.list(&subquery.left, ", "), not(*negated))
            }
            SubqueryTest::Compare { op, all, .. } => {
                let quantifier = if *all { "all" } else { "any" };
                format!("({} {} {quantifier} ({name}))", self.list(&subquery.left, ", "), compare_sign(*op))
            }
            SubqueryTest::Probe { negated } => format!("{}matched({name})", not(*negated)),
        }
    }

    fn alias(&self, source: usize) -> &str {
        self.tables.get(source).and_then(Option::as_ref).map_or("?", |(alias, _)| alias)
    }

    fn infix(&self, left: &Expr, sign: &str, right: &Expr) -> String {
        format!("({} {sign} {})", self.expr(left), self.expr(right))
    }

    fn column(&self, source: usize, column: usize) -> String {
        match self.tables.get(source) {
            Some(Some((alias, table))) => format!("{alias}.{}", table.columns[column].name),
            _ => match self.arguments.iter().find(|(s, _)| *s == source) {
                Some((_, exprs)) if column < exprs.len() => self.expr(&exprs[column]),
                _ => format!("{source}.{column}"),
            },
        }
    }
}

fn window_name(function: &WindowFunction) -> &'static str {
    match function {
        WindowFunction::RowNumber => "row_number",
        WindowFunction::Rank => "rank",
        WindowFunction::DenseRank => "dense_rank",
        WindowFunction::PercentRank => "percent_rank",
        WindowFunction::CumeDist => "cume_dist",
        WindowFunction::Ntile => "ntile",
        WindowFunction::Lag => "lag",
        WindowFunction::Lead => "lead",
        WindowFunction::FirstValue => "first_value",
        WindowFunction::LastValue => "last_value",
        WindowFunction::NthValue => "nth_value",
        WindowFunction::Aggregate(aggregate) => aggregate.function.name(),
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

fn literal(value: &Value<'_>) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(n) => n.to_string(),
        Value::UInt(n) => n.to_string(),
        Value::Double(x) => x.to_string(),
        Value::Decimal(d) => {
            let mut out = Vec::new();
            d.write(&mut out);
            String::from_utf8_lossy(&out).into_owned()
        }
        Value::Bytes(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let short: String = text.chars().take(40).collect();
            let more = if short.len() < text.len() { "..." } else { "" };
            format!("'{}{more}'", short.escape_debug())
        }
        Value::Date(d) => format!("DATE'{:04}-{:02}-{:02}'", d.year, d.month, d.day),
        Value::Time(t) => format!("TIME'{}us'", t.micros),
        Value::DateTime(d) => format!(
            "TIMESTAMP'{:04}-{:02}-{:02} {:02}:{:02}:{:02}'",
            d.date.year, d.date.month, d.date.day, d.hour, d.minute, d.second
        ),
    }
}

fn compare_sign(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Equal => "=",
        CompareOp::NotEqual => "<>",
        CompareOp::Less => "<",
        CompareOp::LessOrEqual => "<=",
        CompareOp::Greater => ">",
        CompareOp::GreaterOrEqual => ">=",
        CompareOp::NullSafeEqual => "<=>",
    }
}

fn arithmetic_sign(op: ArithmeticOp) -> &'static str {
    match op {
        ArithmeticOp::Add => "+",
        ArithmeticOp::Subtract => "-",
        ArithmeticOp::Multiply => "*",
        ArithmeticOp::Divide => "/",
        ArithmeticOp::IntDivide => "DIV",
        ArithmeticOp::Modulo => "%",
        ArithmeticOp::BitAnd => "&",
        ArithmeticOp::BitOr => "|",
        ArithmeticOp::BitXor => "^",
        ArithmeticOp::ShiftLeft => "<<",
        ArithmeticOp::ShiftRight => ">>",
    }
}

fn type_name(kind: &TypeKind) -> String {
    match kind {
        TypeKind::BigInt => "signed".to_owned(),
        TypeKind::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
        TypeKind::VarChar { length } => format!("char({length})"),
        TypeKind::VarBinary { length } => format!("binary({length})"),
        other => format!("{other:?}").to_lowercase(),
    }
}
