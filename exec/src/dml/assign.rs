//! SET col = expr, ...: of UPDATE and of ON DUPLICATE KEY UPDATE.
//!
//! Assignments are evaluated from left to right; a later one sees what an earlier one has set, as MySQL does in statements on one
//! table. Where none reads a column assigned before it, all are evaluated over the old row, without copies.

use super::defaults::{self, Default};
use super::triggers::Triggers;
use super::{RowRules, store};
use crate::error::Result;
use crate::eval::{Env, Shared, Step};
use crate::run::Source;
use sql::expr::{Expr, ExprKind};
use sql::plan::Assignment;
use std::sync::Arc;
use types::Value;
use types::schema::TableDef;

/// The assignments of a statement, made ready.
pub(super) struct Assigner<'p> {
    def: &'p Arc<TableDef>,
    assignments: &'p [Assignment],
    /// Some assignment reads a column that an earlier one sets.
    sequential: bool,
    /// Of assignments of DEFAULT, by assignment.
    defaults: Vec<Option<Default>>,
    /// ON UPDATE CURRENT_TIMESTAMP columns that are not assigned.
    touched: Vec<usize>,
    /// Generated columns, which change with others.
    computed: Vec<usize>,
    /// What is NOT NULL may be NULL until triggers have run.
    defers_nulls: bool,
}

/// Columns and their new stored values.
pub(super) type ColumnChanges<'v> = Vec<(usize, Value<'v>)>;

impl<'p> Assigner<'p> {
    pub fn new(def: &'p Arc<TableDef>, assignments: &'p [Assignment]) -> Result<Self> {
        let columns = &def.columns;
        let assigned = |column: usize| assignments.iter().any(|a| a.column == column);
        let sequential = assignments.iter().enumerate().any(|(n, later)| {
            later.value.as_ref().is_some_and(|value| assignments[..n].iter().any(|earlier| reads(value, earlier.column)))
        });
        let mut defaults = Vec::with_capacity(assignments.len());
        for assignment in assignments {
            let default = assignment.value.is_none().then(|| defaults::of_column(def, assignment.column));
            defaults.push(default.transpose()?);
        }
        let touched = (0..columns.len()).filter(|c| columns[*c].on_update_now && !assigned(*c)).collect();
        Ok(Self { def, assignments, sequential, defaults, touched, computed: Vec::new(), defers_nulls: false })
    }

    pub fn with_rules(mut self, rules: Option<&RowRules>) -> Self {
        self.computed.extend(rules.into_iter().flat_map(RowRules::computed_columns));
        self
    }

    /// For rows whose BEFORE triggers may give them other values, where there are some.
    pub fn with_triggers(mut self, triggers: Option<&Triggers<'_>>) -> Self {
        self.defers_nulls = triggers.is_some_and(|triggers| triggers.before);
        self
    }

    /// For rows of a join: the values are all evaluated over the rows as they were found.
    pub fn over_join(def: &'p Arc<TableDef>, assignments: &'p [Assignment]) -> Result<Self> {
        Ok(Self { sequential: false, ..Self::new(def, assignments)? })
    }

    /// Every column that an update may change.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        let others = self.touched.iter().chain(&self.computed).copied();
        self.assignments.iter().map(|a| a.column).chain(others)
    }

    /// Evaluates the assigned expressions over the row of source 0 into `raw`, one value for each assignment.
    pub fn evaluate<'e>(&'e self, env: &Env<'e>, row: u64, raw: &mut Vec<Value<'e>>) -> Step<()> {
        raw.clear();
        if self.sequential {
            return self.evaluate_in_sequence(env, row, raw);
        }
        for n in 0..self.assignments.len() {
            raw.push(match self.expr(n) {
                Some(expr) => env.eval(expr)?,
                None => Value::Null,
            });
        }
        Ok(())
    }

    /// What is evaluated for an assignment: its expression, or that of the column's default.
    fn expr(&self, n: usize) -> Option<&Expr> {
        match (&self.assignments[n].value, &self.defaults[n]) {
            (Some(expr), _) => Some(expr),
            (None, Some(Default::Expression(expr))) => Some(expr),
            _ => None,
        }
    }

    /// The values come out converted already.
    fn evaluate_in_sequence<'e>(&'e self, env: &Env<'e>, row: u64, raw: &mut Vec<Value<'e>>) -> Step<()> {
        let mut set: Vec<(usize, Value<'static>)> = Vec::with_capacity(self.assignments.len());
        for (n, assignment) in self.assignments.iter().enumerate() {
            let value = {
                let env = Env { overlay: &set, ..*env };
                let value = match self.expr(n) {
                    Some(expr) => env.eval(expr)?,
                    None => Value::Null,
                };
                self.convert(env.shared, n, &value, row)?.into_owned()
            };
            set.retain(|(column, _)| *column != assignment.column);
            set.push((assignment.column, value));
            raw.push(Value::Null);
        }
        // Of two assignments to one column the last counts.
        for (n, assignment) in self.assignments.iter().enumerate() {
            if let Some(at) = set.iter().position(|(column, _)| *column == assignment.column) {
                raw[n] = set[at].1.clone();
            }
        }
        Ok(())
    }

    fn convert<'v>(&'v self, shared: &Shared<'_>, n: usize, value: &'v Value<'_>, row: u64) -> Result<Value<'v>> {
        let assignment = &self.assignments[n];
        let column = &self.def.columns[assignment.column];
        let stored = match (self.expr(n), &self.defaults[n]) {
            (Some(_), _) if value.is_null() => Value::Null,
            (Some(expr), _) => store::convert(shared, value, &expr.ty, column, row)?,
            (None, Some(default)) => defaults::value(shared, default, column, true)?,
            (None, None) => Value::Null,
        };
        match stored.is_null() && !column.nullable && !self.defers_nulls {
            true => store::not_null(shared, column, shared.strict),
            false => Ok(stored),
        }
    }

    /// Converts what `evaluate` gave and keeps the columns that differ from the row. Empty: the row stays as it is.
    pub fn changes<'v>(
        &'v self,
        shared: &Shared<'_>,
        source: &Source<'_>,
        raw: &'v [Value<'_>],
        row: u64,
        changes: &mut ColumnChanges<'v>,
    ) -> Result<()> {
        let stored_row = source.row.row(source.stored_table());
        // A value that lies outside of the row and was not read counts as different.
        let stays = |column: usize, value: &Value<'_>| stored_row.get(column).is_ok_and(|old| old == *value);
        self.changes_of(shared, stays, raw, row, changes)
    }

    /// As `changes`, of a row of which `stays` tells whether it has a value already.
    #[inline]
    pub fn changes_of<'v>(
        &'v self,
        shared: &Shared<'_>,
        stays: impl Fn(usize, &Value<'_>) -> bool,
        raw: &'v [Value<'_>],
        row: u64,
        changes: &mut ColumnChanges<'v>,
    ) -> Result<()> {
        changes.clear();
        for (n, assignment) in self.assignments.iter().enumerate() {
            // DEFAULT of a generated column: it is computed anyway.
            if self.defaults[n].is_some() && self.def.columns[assignment.column].generated.is_some() {
                continue;
            }
            let value = if self.sequential { raw[n].borrowed() } else { self.convert(shared, n, &raw[n], row)? };
            changes.retain(|(column, _)| *column != assignment.column);
            if stays(assignment.column, &value) {
                continue;
            }
            changes.push((assignment.column, value));
        }
        if changes.is_empty() {
            return Ok(());
        }
        for column in &self.touched {
            changes.push((*column, defaults::now(shared, &self.def.columns[*column])));
        }
        Ok(())
    }
}

/// Does the expression read this column of source 0?
fn reads(expr: &Expr, column: usize) -> bool {
    let any = |exprs: &[Expr]| exprs.iter().any(|e| reads(e, column));
    match &expr.kind {
        ExprKind::Column { source: 0, column: c } | ExprKind::ColumnOrdinal { source: 0, column: c } => *c == column,
        ExprKind::Literal(_)
        | ExprKind::Param(_)
        | ExprKind::Column { .. }
        | ExprKind::ColumnOrdinal { .. }
        | ExprKind::Slot(_)
        | ExprKind::UserVariable(_)
        | ExprKind::InsertValue { .. } => false,
        ExprKind::Unary { arg, .. } | ExprKind::Not(arg) | ExprKind::Cast(arg) => reads(arg, column),
        ExprKind::AssignVariable { value, .. } => reads(value, column),
        ExprKind::IsNull { arg, .. } | ExprKind::IsTruth { arg, .. } => reads(arg, column),
        ExprKind::Compare { left, right, .. } | ExprKind::Arithmetic { left, right, .. } | ExprKind::Xor(left, right) => {
            reads(left, column) || reads(right, column)
        }
        ExprKind::And(args) | ExprKind::Or(args) | ExprKind::Row(args) | ExprKind::Call { args, .. } => any(args),
        ExprKind::Partition(call) => any(&call.args),
        ExprKind::In { arg, list, .. } => reads(arg, column) || any(list),
        ExprKind::Between { arg, low, high, .. } => reads(arg, column) || reads(low, column) || reads(high, column),
        ExprKind::Subquery(subquery) => any(&subquery.args) || any(&subquery.left),
        ExprKind::Like { arg, pattern, .. } => reads(arg, column) || reads(pattern, column),
        ExprKind::Case { whens, otherwise } => {
            whens.iter().any(|(c, v)| reads(c, column) || reads(v, column))
                || otherwise.as_ref().is_some_and(|e| reads(e, column))
        }
    }
}
