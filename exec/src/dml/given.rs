//! Rows of INSERT ... VALUES whose expressions read columns of their own row: `INSERT INTO t (a, b) VALUES (1, a + 1)`.
//!
//! Values are evaluated from left to right. A column reads as what the row was given before, as it is stored, and else as its
//! default; an AUTO_INCREMENT column reads as 0 until it is given.

use super::defaults::{self, Default};
use super::store;
use crate::eval::{Env, Shared, Step};
use crate::run::Source;
use sql::expr::Expr;
use table::Table;
use types::Value;

/// Evaluates a row: one value for each of the target `columns`, as expressions see it. `None` is DEFAULT.
pub(super) fn evaluate(
    shared: &Shared<'_>,
    table: &Table,
    defaults: &[Default],
    columns: &[usize],
    exprs: &[Option<Expr>],
    row_number: u64,
) -> Step<Vec<Value<'static>>> {
    let source = [Source { table: Some(table), ..Source::default() }];
    let mut row = Vec::with_capacity(defaults.len());
    for (n, (default, column)) in defaults.iter().zip(&table.def().columns).enumerate() {
        let value = match default {
            Default::Missing => store::implicit_default(&column.ty),
            _ if column.auto_increment => store::implicit_default(&column.ty),
            _ => defaults::value(shared, default, column, false)?,
        };
        row.push((n, value.into_owned()));
    }
    let mut given = Vec::with_capacity(exprs.len());
    for (expr, &number) in exprs.iter().zip(columns) {
        let Some(expr) = expr else {
            given.push(Value::Null);
            continue;
        };
        let column = &table.def().columns[number];
        let env = Env { sources: &source, slots: &[], insert: &[], overlay: &row, shared };
        let value = env.eval(expr)?;
        let stored = match value.is_null() {
            true if column.nullable => Value::Null,
            true => store::implicit_default(&column.ty),
            false => store::convert(shared, &value, &expr.ty, column, row_number)?.into_owned(),
        };
        given.push(if value.is_null() { Value::Null } else { env.shown(stored.clone(), &column.ty).into_owned() });
        row[number].1 = stored;
    }
    Ok(given)
}
