//! `SET col = expr, ...` of UPDATE and of ON DUPLICATE KEY UPDATE.
//!
//! Assignments are evaluated from left to right; a later one sees the values of earlier ones, as in MySQL for statements on one
//! table. If no assignment reads a column that was assigned before it, all are evaluated over the old row, without copies.

use super::defaults::{self, Default};
use super::triggers::{ChangedRow, Triggers};
use super::{RowRules, rules, store};
use crate::pause::Step;
use crate::source::Source;
use expr::Shared;
use expr::{Env, Expr, ExprKind, Result};
use sql::plan::Assignment;
use std::sync::Arc;
use types::json::Json;
use types::schema::TableDef;
use types::{TypeKind, Value};

/// The prepared assignments of a statement.
pub(super) struct Assigner<'p> {
    def: &'p Arc<TableDef>,
    assignments: &'p [Assignment],
    /// Some assignment reads a column that an earlier one sets.
    sequential: bool,
    /// The values of assignments of DEFAULT, by assignment.
    defaults: Vec<Option<Default>>,
    /// ON UPDATE CURRENT_TIMESTAMP columns that are not assigned.
    touched: Vec<usize>,
    /// Generated columns, which change with others.
    computed: Vec<usize>,
    /// A NOT NULL column may be NULL until triggers have run.
    defers_nulls: bool,
    /// A change of JSON documents to equal documents, and of nothing else, leaves the row unchanged.
    compares_documents: bool,
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
        Ok(Self {
            def,
            assignments,
            sequential,
            defaults,
            touched,
            computed: Vec::new(),
            defers_nulls: false,
            compares_documents: false,
        })
    }

    /// `unread`: the assigned columns that the statement does not read otherwise. As in MySQL, documents are compared as values if
    /// all assigned columns are read by the statement or for an ON UPDATE column, and by their bytes otherwise.
    pub fn with_rules(mut self, rules: Option<&RowRules>, unread: &[usize]) -> Self {
        self.computed.extend(rules.into_iter().flat_map(RowRules::computed_columns));
        if self.assignments.iter().any(|a| self.is_document(a.column)) {
            let is_read = |column: &usize| rules.is_some_and(|rules| rules.reads(*column));
            self.compares_documents = !self.touched.is_empty() || unread.iter().all(is_read);
        }
        self
    }

    fn is_document(&self, column: usize) -> bool {
        matches!(self.def.columns[column].ty.kind, TypeKind::Json)
    }

    /// Prepares for BEFORE triggers, if there are any: they may change the values.
    pub fn with_triggers(mut self, triggers: Option<&Triggers<'_>>) -> Self {
        self.defers_nulls = triggers.is_some_and(|triggers| triggers.before);
        self
    }

    /// For rows of a join: all values are evaluated over the rows before any change.
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

    /// The expression that an assignment evaluates: its own, or the column's default.
    fn expr(&self, n: usize) -> Option<&Expr> {
        match (&self.assignments[n].value, &self.defaults[n]) {
            (Some(expr), _) => Some(expr),
            (None, Some(Default::Expression(expr))) => Some(expr),
            _ => None,
        }
    }

    /// The values in `raw` are already converted.
    fn evaluate_in_sequence<'e>(&'e self, env: &Env<'e>, row: u64, raw: &mut Vec<Value<'e>>) -> Step<()> {
        let mut set: Vec<(usize, Value<'static>)> = Vec::with_capacity(self.assignments.len());
        for (n, assignment) in self.assignments.iter().enumerate() {
            raw.push(Value::Null);
            if self.is_computed_anyway(n) {
                continue;
            }
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
        }
        // If a column is assigned twice, the last assignment counts.
        for (n, assignment) in self.assignments.iter().enumerate() {
            if let Some(at) = set.iter().position(|(column, _)| *column == assignment.column) {
                raw[n] = set[at].1.clone();
            }
        }
        Ok(())
    }

    /// DEFAULT of a generated column.
    fn is_computed_anyway(&self, n: usize) -> bool {
        self.defaults[n].is_some() && self.def.columns[self.assignments[n].column].generated.is_some()
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
        if stored.is_null() && !column.nullable && !self.defers_nulls {
            store::not_null(shared, column, shared.is_strict())
        } else {
            Ok(stored)
        }
    }

    /// Converts the values of `evaluate` and keeps the columns that differ from the row. Empty: the row does not change.
    pub fn changes<'v>(
        &'v self,
        shared: &Shared<'_>,
        source: &Source<'_>,
        raw: &'v [Value<'_>],
        row: u64,
        changes: &mut ColumnChanges<'v>,
    ) -> Result<()> {
        let stored_row = source.row.row(source.stored_table());
        // A value that is stored outside the row and was not read counts as different.
        self.changes_of(shared, |column| stored_row.get(column).ok(), raw, row, changes)
    }

    /// As `changes`, for a row whose values `old` returns.
    #[inline]
    pub fn changes_of<'v, 'o>(
        &'v self,
        shared: &Shared<'_>,
        old: impl Fn(usize) -> Option<Value<'o>>,
        raw: &'v [Value<'_>],
        row: u64,
        changes: &mut ColumnChanges<'v>,
    ) -> Result<()> {
        changes.clear();
        for (n, assignment) in self.assignments.iter().enumerate() {
            if self.is_computed_anyway(n) {
                continue;
            }
            let value = if self.sequential { raw[n].borrowed() } else { self.convert(shared, n, &raw[n], row)? };
            changes.retain(|(column, _)| *column != assignment.column);
            if old(assignment.column).is_some_and(|old| is_stored_alike(&old, &value)) {
                continue;
            }
            changes.push((assignment.column, value));
        }
        let is_same = self.compares_documents && self.computed.is_empty() && self.are_equal_documents(&old, changes);
        if changes.is_empty() || is_same {
            return Ok(());
        }
        for column in &self.touched {
            changes.push((*column, defaults::now(shared, &self.def.columns[*column])));
        }
        Ok(())
    }

    /// Computes the generated columns of a changed row, and checks the row. A change that sets an equal value is dropped, and so are
    /// all changes of a row that IGNORE leaves out.
    pub fn settle(
        &self,
        shared: &Shared<'_>,
        changed: &ChangedRow<'_>,
        changes: &mut ColumnChanges<'_>,
        ignore: bool,
    ) -> Result<()> {
        let ChangedRow { rules, source, number } = *changed;
        if !rules::hold(rules, shared, source, changes, number, ignore)? {
            changes.clear();
        }
        if self.compares_documents && !changes.is_empty() {
            let row = source.row.row(source.stored_table());
            // An ON UPDATE column changes only if another column does, generated ones included.
            let is_touched = |column: &usize| !self.computed.is_empty() && self.touched.contains(column);
            let others: ColumnChanges<'_> =
                changes.iter().filter(|(c, _)| !is_touched(c)).map(|(c, value)| (*c, value.borrowed())).collect();
            if self.are_equal_documents(|column| row.get(column).ok(), &others) {
                changes.clear();
            }
        }
        Ok(())
    }

    /// Does every change replace a document by an equal one?
    fn are_equal_documents<'o>(&self, old: impl Fn(usize) -> Option<Value<'o>>, changes: &ColumnChanges<'_>) -> bool {
        changes.iter().all(|(column, new)| {
            self.is_document(*column)
                && match (old(*column), new) {
                    (Some(Value::Bytes(old)), Value::Bytes(new)) => match (Json::from_binary(&old), Json::from_binary(new)) {
                        (Ok(old), Ok(new)) => old.compare(&new).is_eq(),
                        _ => false,
                    },
                    _ => false,
                }
        })
    }
}

/// Are both values stored alike? A double has two zeros.
pub(super) fn is_stored_alike(old: &Value<'_>, new: &Value<'_>) -> bool {
    match (old, new) {
        (Value::Double(old), Value::Double(new)) => old.to_bits() == new.to_bits(),
        _ => old == new,
    }
}

/// Does the expression read this column of source 0?
pub(super) fn reads(expr: &Expr, column: usize) -> bool {
    let is_it = |part: &Expr| matches!(part.kind, ExprKind::Column { source: 0, column: c } | ExprKind::ColumnOrdinal { source: 0, column: c } if c == column);
    expr.any(&is_it)
}
