//! Checks and computations for a row that is written: generated columns, default expressions, CHECKs, its partition.
//!
//! The expressions are bound once for each plan that writes the table. They read one row, as source 0: its columns in stored form, which
//! are in the overlay.
//!
//! R1: columns are computed in the order of the table: a generated column reads only generated columns before it, and a default
//!     reads only columns that are computed before it (`sql::check_row_exprs`).
//! R2: a CHECK that is NULL is satisfied.
//! R3: the expressions never wait (`sql::row_expr`).
//! R4: a condition of WITH CHECK OPTION that is NULL is not satisfied.
//! R5: a row must be in one of the partitions that the statement names, if it names any. HASH and KEY accept every row, so
//!     without names there is nothing to check.

use super::assign::reads;
use super::defaults::Default;
use super::store;
use crate::source::Source;
use expr::Shared;
use expr::{Env, Error, Expr, ExprKind, PartitionCall, Result};
use expr::{Pause, Step};
use sql::plan::ViewCheck;
use std::sync::Arc;
use table::Table;
use types::Value;
use types::partition::PartitionError;
use types::schema::{ColumnDefault, RowExpr, TableDef};

/// The rules of one table.
#[derive(Debug)]
pub(crate) struct RowRules {
    /// R1; hidden columns come last, by name.
    generated: Vec<Generated>,
    checks: Vec<Check>,
    /// WITH CHECK OPTION of the view that the statement writes through, if the condition reads only the row (see `view_check`).
    view: Option<Box<ViewCheck>>,
    partition: Option<PartitionRule>,
}

/// R5
#[derive(Debug)]
struct PartitionRule {
    /// The number of the row's partition.
    number: Expr,
    /// The partitions that the statement names.
    named: Option<Vec<usize>>,
    /// The columns that determine the partition.
    columns: Vec<usize>,
}

/// A generated column.
#[derive(Debug)]
struct Generated {
    column: usize,
    expr: Expr,
    /// Of a hidden one: its index.
    index: Option<String>,
}

#[derive(Debug)]
struct Check {
    name: String,
    expr: Expr,
    columns: Vec<usize>,
}

impl RowRules {
    /// `None` if neither the table nor the view has rules.
    pub fn of(def: &Arc<TableDef>, view: Option<&ViewCheck>, partitions: Option<&[usize]>) -> Result<Option<RowRules>> {
        let view = view.filter(|view| view.is_plain());
        if !def.has_row_rules() && view.is_none() {
            return Ok(None);
        }
        let mut generated = Vec::new();
        for (column, of) in def.columns.iter().enumerate() {
            if let Some(computed) = &of.generated {
                generated.push(Generated { column, expr: bind(def, &computed.expr)?, index: hidden_index(def, column) });
            }
        }
        generated.sort_by_key(|of| def.columns[of.column].hidden.then(|| def.columns[of.column].name.clone()));
        let enforced = def.checks.iter().filter(|check| check.enforced);
        let checks = enforced.map(|check| {
            let columns = check.expr.columns.iter().filter_map(|name| def.column_index(name)).collect();
            Ok(Check { name: check.name.clone(), expr: bind(def, &check.expr)?, columns })
        });
        let checks = checks.collect::<Result<Vec<_>>>()?;
        let partition = PartitionRule::of(def, partitions)?;
        let has_any = !generated.is_empty() || !checks.is_empty() || view.is_some() || partition.is_some();
        Ok(has_any.then(|| RowRules { generated, checks, view: view.cloned().map(Box::new), partition }))
    }

    /// Fills in the generated columns of a new row.
    pub fn compute(&self, shared: &Shared<'_>, table: &Table, values: &mut [Value<'_>], row: u64) -> Result<()> {
        for of in &self.generated {
            values[of.column] = of.told(shared, row, || computed(shared, table, values, of.column, &of.expr, row))?;
        }
        Ok(())
    }

    /// Computes the generated columns of a new row, and checks the row.
    pub fn complete(&self, shared: &Shared<'_>, table: &Table, values: &mut [Value<'_>], row: u64) -> Result<()> {
        self.compute(shared, table, values, row)?;
        let source = Source { table: Some(table), ..Source::default() };
        let overlay = whole(values);
        self.checks.iter().try_for_each(|check| check.judge(shared, &source, &overlay))?;
        self.judge_view(shared, &source, &overlay)?;
        self.partition.as_ref().map_or(Ok(()), |partition| partition.judge(shared, &source, &overlay))
    }

    /// R4
    fn judge_view(&self, shared: &Shared<'_>, source: &Source<'_>, overlay: &[(usize, Value<'_>)]) -> Result<()> {
        let Some(view) = &self.view else { return Ok(()) };
        let env = Env { rows: source, slots: &[], insert: &[], overlay, shared };
        match settled(env.truth(&view.condition))? {
            Some(true) => Ok(()),
            _ => Err(Error::ViewCheckFailed { view: view.view.clone() }),
        }
    }

    /// Adds the new values of generated columns to the changes of the row in `source`, and checks the changed row.
    pub fn changed(
        &self,
        shared: &Shared<'_>,
        source: &Source<'_>,
        changes: &mut Vec<(usize, Value<'_>)>,
        row: u64,
    ) -> Result<()> {
        self.compute_changed(shared, source, changes, row)?;
        let overlay = borrowed(changes);
        let concerned = self.checks.iter().filter(|check| changes.iter().any(|(column, _)| check.columns.contains(column)));
        concerned.into_iter().try_for_each(|check| check.judge(shared, source, &overlay))?;
        self.judge_view(shared, source, &overlay)?;
        match &self.partition {
            Some(partition) if changes.iter().any(|(column, _)| partition.columns.contains(column)) => {
                partition.judge(shared, source, &overlay)
            }
            _ => Ok(()),
        }
    }

    /// Adds the new values of generated columns to the changes of the row in `source`.
    pub fn compute_changed(
        &self,
        shared: &Shared<'_>,
        source: &Source<'_>,
        changes: &mut Vec<(usize, Value<'_>)>,
        row: u64,
    ) -> Result<()> {
        let table = source.stored_table();
        for of in &self.generated {
            let value = of.told(shared, row, || {
                let overlay = borrowed(changes);
                let env = Env { rows: source, slots: &[], insert: &[], overlay: &overlay, shared };
                stored(shared, &settled(env.eval(&of.expr))?, &of.expr, table, of.column, row)
            })?;
            let is_same = source.row.row(table).get(of.column).is_ok_and(|old| old == value);
            // It may have been computed before; triggers may have changed columns since.
            changes.retain(|(changed, _)| *changed != of.column);
            if !is_same {
                changes.push((of.column, value));
            }
        }
        Ok(())
    }

    /// Does a computation or check of a changed row read the column?
    pub fn reads(&self, column: usize) -> bool {
        let computed = self.generated.iter().any(|of| reads(&of.expr, column));
        computed || self.checks.iter().any(|check| check.columns.contains(&column))
    }

    /// The columns that may change with any other.
    pub fn computed_columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.generated.iter().map(|of| of.column)
    }
}

impl Generated {
    /// An error about a hidden column names its index.
    fn told<T>(&self, shared: &Shared<'_>, row: u64, compute: impl FnOnce() -> Result<T>) -> Result<T> {
        let Some(index) = &self.index else { return compute() };
        let before = shared.session.warnings.borrow().count();
        let outcome = compute();
        shared.session.warnings.borrow_mut().change_behind(before, |error| error.of_index(index, row));
        outcome.map_err(|error| error.of_index(index, row))
    }
}

/// The index of a hidden column.
fn hidden_index(def: &TableDef, column: usize) -> Option<String> {
    let mut indexes = def.indexes.iter().filter(|_| def.columns[column].hidden);
    indexes.find(|index| index.columns.iter().any(|part| part.column == column)).map(|index| index.name.clone())
}

impl PartitionRule {
    fn of(def: &Arc<TableDef>, named: Option<&[usize]>) -> Result<Option<Self>> {
        let Some(partitioning) = def.partitioning.as_deref() else { return Ok(None) };
        let number = bind_partition(def)?;
        // If every number has a partition, only computing the number can fail.
        let is_plain = |call: &PartitionCall| call.args.iter().all(|arg| matches!(arg.kind, ExprKind::Column { .. }));
        let cannot_fail = matches!(&number.kind, ExprKind::Partition(call) if is_plain(call));
        if named.is_none() && partitioning.by.takes_all() && cannot_fail {
            return Ok(None);
        }
        let mut columns = partitioning.columns_in(def).unwrap_or_default();
        if let Some(sub) = &partitioning.sub {
            columns.extend(sub.columns_in(def).unwrap_or_default());
        }
        Ok(Some(Self { number, named: named.map(<[usize]>::to_vec), columns }))
    }

    fn judge(&self, shared: &Shared<'_>, source: &Source<'_>, overlay: &[(usize, Value<'_>)]) -> Result<()> {
        let env = Env { rows: source, slots: &[], insert: &[], overlay, shared };
        let error = match (settled(env.eval(&self.number))?, &self.named) {
            (Value::Int(_), None) => return Ok(()),
            (Value::Int(number), Some(named)) if named.contains(&(number as usize)) => return Ok(()),
            (Value::Int(_), Some(_)) => PartitionError::OtherPartition,
            _ => PartitionError::NoPartitionFor { value: self.value_text(&env)? },
        };
        Err(Error::Partition(error))
    }

    /// The value that has no partition, as messages print it.
    fn value_text(&self, env: &Env<'_>) -> Result<String> {
        let ExprKind::Partition(call) = &self.number.kind else { unreachable!("bound as such") };
        if call.function.definition().by.expr().is_none() {
            return Ok("from column_list".to_owned());
        }
        let mut text = Vec::new();
        match settled(env.eval(&call.args[0]))? {
            Value::Null => text.extend_from_slice(b"NULL"),
            value => types::write_text(&value, &call.args[0].ty, &mut text),
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// The number of each row's partition.
pub(crate) fn bind_partition(def: &Arc<TableDef>) -> Result<Expr> {
    // The definition has bound it before.
    let wrong = |error: sql::Error| Error::Storage(format!("the partitions of table '{}' cannot be read: {error}", def.name));
    sql::bind_partition(def).map_err(wrong)
}

/// The partition's number for a whole row; `None`: there is no partition for it.
pub(crate) fn partition_of(shared: &Shared<'_>, table: &Table, values: &[Value<'_>], number: &Expr) -> Result<Option<usize>> {
    let source = Source { table: Some(table), ..Source::default() };
    let overlay = whole(values);
    let env = Env { rows: &source, slots: &[], insert: &[], overlay: &overlay, shared };
    Ok(match settled(env.eval(number))? {
        Value::Int(number) => Some(number as usize),
        _ => None,
    })
}

impl Check {
    fn judge(&self, shared: &Shared<'_>, source: &Source<'_>, overlay: &[(usize, Value<'_>)]) -> Result<()> {
        let env = Env { rows: source, slots: &[], insert: &[], overlay, shared };
        // R2
        match settled(env.truth(&self.expr))? {
            Some(false) => Err(Error::CheckViolated { name: self.name.clone() }),
            _ => Ok(()),
        }
    }
}

/// As [`RowRules::changed`], if there are rules and the row changes. `false`: IGNORE leaves the row as it is, with a warning.
#[inline]
pub(super) fn hold(
    rules: Option<&RowRules>,
    shared: &Shared<'_>,
    source: &Source<'_>,
    changes: &mut Vec<(usize, Value<'_>)>,
    row: u64,
    ignore: bool,
) -> Result<bool> {
    let Some(rules) = rules.filter(|_| !changes.is_empty()) else { return Ok(true) };
    match rules.changed(shared, source, changes, row) {
        Ok(()) => Ok(true),
        Err(error) if ignore && error.refuses_row() => {
            shared.session.warn(error);
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Computes the default expressions of columns that a new row does not set.
pub(super) fn fill_defaults(
    shared: &Shared<'_>,
    table: &Table,
    defaults: &[Default],
    is_missing: impl Fn(usize) -> bool,
    values: &mut [Value<'_>],
    row: u64,
) -> Result<()> {
    for (column, default) in defaults.iter().enumerate() {
        if let Default::Expression(expr) = default
            && is_missing(column)
        {
            values[column] = computed(shared, table, values, column, expr, row)?;
        }
    }
    Ok(())
}

/// The default expression of a column.
pub(crate) fn bind_default(def: &Arc<TableDef>, column: usize) -> Result<Expr> {
    match &def.columns[column].default {
        ColumnDefault::Expression(expr) => bind(def, expr),
        _ => Err(Error::Storage(format!("column '{}' has no default expression", def.columns[column].name))),
    }
}

/// The bound expression of a definition.
fn bind(def: &Arc<TableDef>, expr: &RowExpr) -> Result<Expr> {
    // The definition has bound it before.
    let wrong = |error: sql::Error| Error::Storage(format!("an expression of table '{}' cannot be read: {error}", def.name));
    sql::bind_row_expr(&expr.text, def).map_err(wrong)
}

/// The value of an expression over a whole row, in the column's stored form.
pub(crate) fn computed(
    shared: &Shared<'_>,
    table: &Table,
    values: &[Value<'_>],
    column: usize,
    expr: &Expr,
    row: u64,
) -> Result<Value<'static>> {
    let source = Source { table: Some(table), ..Source::default() };
    let overlay = whole(values);
    let env = Env { rows: &source, slots: &[], insert: &[], overlay: &overlay, shared };
    stored(shared, &settled(env.eval(expr))?, expr, table, column, row)
}

fn stored(shared: &Shared<'_>, value: &Value<'_>, expr: &Expr, table: &Table, column: usize, row: u64) -> Result<Value<'static>> {
    let column = &table.def().columns[column];
    let stored = match value.is_null() {
        true if column.nullable => Value::Null,
        true => store::not_null(shared, column, shared.is_strict())?,
        false => match store::convert(shared, value, &expr.ty, column, row)? {
            Value::Null if !column.nullable => store::not_null(shared, column, shared.is_strict())?,
            stored => stored,
        },
    };
    Ok(stored.into_owned())
}

pub(super) fn whole<'v>(values: &'v [Value<'_>]) -> Vec<(usize, Value<'v>)> {
    values.iter().enumerate().map(|(column, value)| (column, value.borrowed())).collect()
}

fn borrowed<'v>(changes: &'v [(usize, Value<'_>)]) -> Vec<(usize, Value<'v>)> {
    changes.iter().map(|(column, value)| (*column, value.borrowed())).collect()
}

/// R3
fn settled<T>(step: Step<T>) -> Result<T> {
    match step {
        Ok(value) => Ok(value),
        Err(Pause::Error(error)) => Err(*error),
        Err(_) => Err(Error::NotSupported("waiting in an expression of a definition".into())),
    }
}
