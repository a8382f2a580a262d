//! Rows of INSERT ... VALUES whose expressions read columns of their own row: `INSERT INTO t (a, b) VALUES (1, a + 1)`.
//!
//! Values are evaluated from left to right. A column reads as the value given before, in its stored form, or otherwise as its
//! default; an AUTO_INCREMENT column reads as 0 until it is given.

use super::defaults::{self, Default};
use super::store;
use crate::pause::Step;
use crate::source::Source;
use expr::Shared;
use expr::{Env, Expr, Result};
use table::Table;
use types::Value;

/// A row in the making.
pub(super) struct GivenRow {
    /// The stored value of each column.
    row: Vec<(usize, Value<'static>)>,
    /// The statement's values, as expressions see them. DEFAULT is NULL.
    pub values: Vec<Value<'static>>,
}

impl GivenRow {
    /// A row of defaults.
    pub fn new(shared: &Shared<'_>, table: &Table, defaults: &[Default]) -> Result<Self> {
        let mut row = Vec::with_capacity(defaults.len());
        for (n, (default, column)) in defaults.iter().zip(&table.def().columns).enumerate() {
            let value = match default {
                Default::Missing => store::implicit_default(&column.ty),
                _ if column.auto_increment => store::implicit_default(&column.ty),
                _ => defaults::value(shared, default, column, false)?,
            };
            row.push((n, value.into_owned()));
        }
        Ok(Self { row, values: Vec::new() })
    }

    /// Evaluates the next of the given values, over the row so far. Source 0 of `env` is the table.
    pub fn take(&mut self, env: &Env<'_>, table: &Table, expr: Option<&Expr>, number: usize, row_number: u64) -> Step<()> {
        let Some(expr) = expr else {
            self.values.push(Value::Null);
            return Ok(());
        };
        let column = &table.def().columns[number];
        let (stored, given) = {
            let env = Env { overlay: &self.row, ..*env };
            let value = env.eval_short(expr)?;
            let stored = match value.is_null() {
                true if column.nullable => Value::Null,
                true => store::implicit_default(&column.ty),
                false => match store::convert(env.shared, &value, &expr.ty, column, row_number)?.into_owned() {
                    Value::Null if !column.nullable => store::implicit_default(&column.ty),
                    stored => stored,
                },
            };
            let given = if value.is_null() { Value::Null } else { env.shown(stored.clone(), &column.ty).into_owned() };
            (stored, given)
        };
        self.values.push(given);
        self.row[number].1 = stored;
        Ok(())
    }
}

/// Evaluates a row: one value for each of the target `columns`. `None` is DEFAULT.
pub(super) fn evaluate(
    shared: &Shared<'_>,
    table: &Table,
    defaults: &[Default],
    columns: &[usize],
    exprs: &[Option<Expr>],
    row_number: u64,
) -> Step<Vec<Value<'static>>> {
    let source = Source { table: Some(table), ..Source::default() };
    let env = Env { rows: &source, slots: &[], insert: &[], overlay: &[], shared };
    let mut row = GivenRow::new(shared, table, defaults)?;
    for (expr, &number) in exprs.iter().zip(columns) {
        row.take(&env, table, expr.as_ref(), number, row_number)?;
    }
    Ok(row.values)
}
