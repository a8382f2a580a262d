//! Prints expressions in MySQL's notation.

use super::Printer;
use expr::{Aggregate, CompareOp, Expr, ExprKind, Subquery, SubqueryTest, UnaryOp, WindowCall, WindowFunction};
use std::fmt::Write;
use types::{TypeKind, Value};

/// Members shown of an IN list.
const MEMBERS_SHOWN_MAX: usize = 10;

impl Printer {
    pub(super) fn aggregate(&self, aggregate: &Aggregate) -> String {
        let name = aggregate.function.name().to_lowercase();
        let distinct = if aggregate.distinct { "distinct " } else { "" };
        let args = if aggregate.args.is_empty() { "*".to_owned() } else { self.list(&aggregate.args, ", ") };
        format!("{name}({distinct}{args})")
    }

    pub(super) fn window(&self, call: &WindowCall) -> String {
        match &call.function {
            WindowFunction::Aggregate(aggregate) => self.aggregate(aggregate),
            other => format!("{}({})", window_name(other), self.list(&call.args, ", ")),
        }
    }

    fn list(&self, exprs: &[Expr], separator: &str) -> String {
        exprs.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(separator)
    }

    pub(super) fn expr(&self, expr: &Expr) -> String {
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
            ExprKind::Compare { op, left, right, .. } => self.infix(left, op.sign(), right),
            ExprKind::Arithmetic { op, left, right } => self.infix(left, op.sign(), right),
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
            ExprKind::Call { function: expr::Function::MATCH, args } => {
                let columns = args.get(expr::function::SEARCH_ARGS..).unwrap_or_default();
                let (mode, text) = (&args[expr::function::SEARCH_ARGS - 2], &args[expr::function::SEARCH_ARGS - 1]);
                let mode = match &mode.kind {
                    ExprKind::Literal(mode) => expr::search::SearchMode::of(mode).map_or("", |mode| mode.name()),
                    _ => "",
                };
                format!("(match {} against ({}{mode}))", self.list(columns, ","), self.expr(text))
            }
            ExprKind::Call { function, args } => {
                format!("{}({})", format!("{function:?}").to_lowercase(), self.list(args, ", "))
            }
            ExprKind::Partition(call) => format!("partition({})", self.list(&call.args, ", ")),
            ExprKind::InsertValue { column } => format!("values(#{})", column + 1),
            ExprKind::Row(parts) => format!("({})", self.list(parts, ", ")),
            ExprKind::Subquery(subquery) => self.subquery(subquery),
        }
    }

    fn subquery(&self, subquery: &Subquery) -> String {
        let name = format!("subquery #{}", subquery.id + 1);
        let not = |negated: bool| if negated { "not " } else { "" };
        match &subquery.test {
            SubqueryTest::Call { name, .. } => format!("{name}({})", self.list(&subquery.args, ", ")),
            SubqueryTest::Value { column: 0 } => format!("({name})"),
            SubqueryTest::Value { column } => format!("({name}).{}", column + 1),
            SubqueryTest::Exists { negated } => format!("{}exists({name})", not(*negated)),
            SubqueryTest::Compare { op: CompareOp::Equal, all: false, negated, .. } => {
                format!("({} {}in ({name}))", self.list(&subquery.left, ", "), not(*negated))
            }
            SubqueryTest::Compare { op, all, .. } => {
                let quantifier = if *all { "all" } else { "any" };
                format!("({} {} {quantifier} ({name}))", self.list(&subquery.left, ", "), op.sign())
            }
            SubqueryTest::Probe { negated } => format!("{}matched({name})", not(*negated)),
        }
    }

    pub(super) fn alias(&self, source: usize) -> &str {
        self.tables.get(source).and_then(Option::as_ref).map_or("?", |(alias, _)| alias)
    }

    fn infix(&self, left: &Expr, sign: &str, right: &Expr) -> String {
        format!("({} {sign} {})", self.expr(left), self.expr(right))
    }

    pub(super) fn column(&self, source: usize, column: usize) -> String {
        match self.tables.get(source) {
            Some(Some((_, table))) if table.columns[column].hidden => table.columns[column].shown_name().to_owned(),
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
        WindowFunction::Only(only) => only.row().shown,
        WindowFunction::Aggregate(aggregate) => aggregate.function.name(),
    }
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

fn type_name(kind: &TypeKind) -> String {
    match kind {
        TypeKind::BigInt => "signed".to_owned(),
        TypeKind::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
        TypeKind::VarChar { length } => format!("char({length})"),
        TypeKind::VarBinary { length } => format!("binary({length})"),
        other => format!("{other:?}").to_lowercase(),
    }
}
