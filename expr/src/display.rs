//! Prints expressions as MySQL does in messages: ``BIGINT value is out of range in '(`test`.`t`.`a` + 1)'``.

use crate::rows::Rows;
use crate::tree::{Expr, ExprKind, UnaryOp};
use std::fmt::Write;
use types::Value;

/// The expression as text. Functions print as `name(arguments)`, names in lower case.
pub(crate) fn expression(expr: &Expr, rows: &dyn Rows, params: &[Value<'_>]) -> String {
    let mut printer = Printer { rows, params, out: String::new() };
    printer.expr(expr);
    printer.out
}

struct Printer<'a> {
    rows: &'a dyn Rows,
    params: &'a [Value<'a>],
    out: String,
}

impl Printer<'_> {
    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Literal(value) => self.value(value),
            ExprKind::Param(n) => match self.params.get(*n) {
                Some(value) => self.value(value),
                None => self.out.push('?'),
            },
            ExprKind::Column { source, column } | ExprKind::ColumnOrdinal { source, column } => self.column(*source, *column),
            ExprKind::Slot(n) => {
                let _ = write!(self.out, "#{}", n + 1);
            }
            ExprKind::UserVariable(name) => {
                let _ = write!(self.out, "@`{name}`");
            }
            ExprKind::AssignVariable { name, value } => {
                let _ = write!(self.out, "(@{name}:=");
                self.expr(value);
                self.out.push(')');
            }
            ExprKind::Unary { op, arg } => {
                self.out.push(if *op == UnaryOp::Negate { '-' } else { '~' });
                self.in_brackets(arg);
            }
            ExprKind::Compare { op, left, right, .. } => self.binary(op.sign(), left, right),
            ExprKind::Arithmetic { op, left, right } => self.binary(op.sign(), left, right),
            ExprKind::And(args) => self.joined(args, " and "),
            ExprKind::Or(args) => self.joined(args, " or "),
            ExprKind::Xor(left, right) => self.binary("xor", left, right),
            ExprKind::Not(arg) => {
                self.out.push_str("(not ");
                self.expr(arg);
                self.out.push(')');
            }
            ExprKind::IsNull { arg, negated } => {
                self.out.push('(');
                self.expr(arg);
                self.out.push_str(if *negated { " is not null)" } else { " is null)" });
            }
            ExprKind::IsTruth { arg, truth, negated } => {
                self.out.push('(');
                self.expr(arg);
                self.out.push_str(if *negated { " is not " } else { " is " });
                self.out.push_str(if *truth { "true)" } else { "false)" });
            }
            ExprKind::In { arg, list, negated, .. } => {
                self.out.push('(');
                self.expr(arg);
                self.out.push_str(if *negated { " not in " } else { " in " });
                self.joined(list, ",");
                self.out.push(')');
            }
            ExprKind::Between { arg, low, high, negated, .. } => {
                self.out.push('(');
                self.expr(arg);
                self.out.push_str(if *negated { " not between " } else { " between " });
                self.expr(low);
                self.out.push_str(" and ");
                self.expr(high);
                self.out.push(')');
            }
            ExprKind::Like { arg, pattern, negated, .. } => {
                self.binary(if *negated { "not like" } else { "like" }, arg, pattern);
            }
            ExprKind::Case { whens, otherwise } => {
                self.out.push_str("(case");
                for (condition, value) in whens {
                    self.out.push_str(" when ");
                    self.expr(condition);
                    self.out.push_str(" then ");
                    self.expr(value);
                }
                if let Some(value) = otherwise {
                    self.out.push_str(" else ");
                    self.expr(value);
                }
                self.out.push_str(" end)");
            }
            ExprKind::Cast(arg) => self.expr(arg),
            ExprKind::Call { function: crate::func::Function::MATCH, args } => {
                self.out.push_str("match ... against ");
                self.joined(args.get(3..4).unwrap_or_default(), ",");
            }
            ExprKind::Call { function, args } => {
                self.out.push_str(&function.name().to_ascii_lowercase());
                self.joined(args, ",");
            }
            ExprKind::Partition(call) => {
                self.out.push_str("partition");
                self.joined(&call.args, ",");
            }
            ExprKind::InsertValue { column } => {
                let _ = write!(self.out, "values(#{})", column + 1);
            }
            ExprKind::Row(args) => self.joined(args, ","),
            ExprKind::Subquery(_) => self.out.push_str("(select ...)"),
        }
    }

    fn in_brackets(&mut self, expr: &Expr) {
        let simple = matches!(expr.kind, ExprKind::Arithmetic { .. } | ExprKind::Compare { .. });
        if simple {
            self.expr(expr);
            return;
        }
        self.out.push('(');
        self.expr(expr);
        self.out.push(')');
    }

    fn binary(&mut self, sign: &str, left: &Expr, right: &Expr) {
        self.out.push('(');
        self.expr(left);
        let _ = write!(self.out, " {sign} ");
        self.expr(right);
        self.out.push(')');
    }

    fn joined(&mut self, args: &[Expr], separator: &str) {
        self.out.push('(');
        for (n, arg) in args.iter().enumerate() {
            if n > 0 {
                self.out.push_str(separator);
            }
            self.expr(arg);
        }
        self.out.push(')');
    }

    fn column(&mut self, source: usize, column: usize) {
        let Some(def) = self.rows.definition(source) else {
            let _ = write!(self.out, "`#{}`", column + 1);
            return;
        };
        let name = def.columns.get(column).map_or("?", |c| c.name.as_str());
        let _ = write!(self.out, "`{}`.`{}`.`{name}`", def.database, def.name);
    }

    fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.out.push_str("NULL"),
            Value::Bytes(s) => {
                let _ = write!(self.out, "'{}'", String::from_utf8_lossy(s));
            }
            Value::Date(_) | Value::Time(_) | Value::DateTime(_) => {
                let _ = write!(self.out, "'{}'", crate::coerce::plain_text(value));
            }
            number => self.out.push_str(&crate::coerce::plain_text(number)),
        }
    }
}
