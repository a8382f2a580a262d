//! ON DUPLICATE KEY UPDATE: its assignments and the names that they may use.
//!
//! A name is looked up in this order: the new row, by its alias; the existing row (source 0); the tables of the query
//! that gives the rows, unless the query groups them or is not a SELECT. A column of the query is selected after the
//! values of the row, and is read as [`ExprKind::InsertValue`] at a position after the columns of the table.

use super::compare::Derivation;
use super::dml::InsertTarget;
use super::query::Bound;
use super::{Binder, InsertRow, Scope, Source};
use crate::ast::{self, ColumnName};
use crate::error::{Clause, Error, Result};
use crate::plan::{Action, Assignment, Parts};
use expr::{Expr, ExprKind};

/// The query of an INSERT ... SELECT, as seen by ON DUPLICATE KEY UPDATE.
#[derive(Debug)]
pub(crate) struct QueryRow {
    scope: Scope,
    sources: Vec<Source>,
    /// Can its columns be named?
    shows: bool,
    /// Its columns that were named.
    named: Vec<(Expr, Derivation)>,
}

impl QueryRow {
    /// The sources whose columns can be named.
    pub fn visible(&self) -> impl Iterator<Item = &Source> {
        self.scope.visible.iter().filter(|_| self.shows).map(|&source| &self.sources[source])
    }

    /// The index of a column among those that were named.
    fn place(&mut self, expr: Expr, derivation: Derivation) -> usize {
        let known = self.named.iter().position(|(known, _)| *known == expr);
        known.unwrap_or_else(|| {
            self.named.push((expr, derivation));
            self.named.len() - 1
        })
    }
}

impl Binder<'_> {
    /// Binds the assignments. `query` gives the rows; the columns that the assignments read are added to its select
    /// list.
    pub(super) fn on_duplicate(
        &mut self,
        target: &InsertTarget,
        insert: &ast::Insert<'_>,
        query: Option<&mut Bound>,
    ) -> Result<(Vec<Assignment>, Parts)> {
        if insert.on_duplicate.is_empty() {
            return Ok((Vec::new(), Parts::default()));
        }
        // The existing row is source 0, so the sources of the rows are set aside.
        let named = std::mem::take(&mut self.named);
        let (subqueries, stores) = (std::mem::take(&mut self.subqueries), std::mem::take(&mut self.stores));
        let scope = std::mem::replace(&mut self.scope, Scope::new(Vec::new(), Clause::FieldList));
        let select = match query {
            Some(Bound::Select(select)) if select.grouping.is_none() => Some(select),
            _ => None,
        };
        let (sources, shows) = (std::mem::take(&mut self.sources), select.is_some());
        self.scope.query_row = Some(Box::new(QueryRow { scope, sources, shows, named: Vec::new() }));
        let (table, columns) = (&target.table, &target.columns);
        self.add_target(target, insert.table.name)?;
        let names = match insert.row_alias {
            Some(alias) if !alias.columns.is_empty() => {
                if alias.columns.len() != columns.len() {
                    return Err(Error::ColumnCount { row: 1 });
                }
                alias.columns.iter().zip(columns).map(|(name, column)| ((*name).to_owned(), *column)).collect()
            }
            _ => target.names.iter().cloned().zip(columns.iter().copied()).collect(),
        };
        let alias = insert.row_alias.map(|a| a.name.to_owned());
        self.scope.insert_row = Some(InsertRow { alias, columns: names });
        self.assigns = Action::Update;
        let assignments = self.assignments(insert.on_duplicate)?;
        self.refuse_target(&[(table, insert.table.name)], &target.read())?;
        let parts = self.parts();
        let row = self.scope.query_row.take().expect("names give it back");
        if let Some(select) = select {
            select.select_more(row.named);
        }
        (self.sources, self.scope) = (row.sources, row.scope);
        (self.named, self.subqueries, self.stores) = (named, subqueries, stores);
        Ok((assignments, parts))
    }

    /// Resolves a name to a column of the query that gives the rows.
    pub(super) fn query_column(&mut self, name: &ColumnName<'_>) -> Result<Option<Expr>> {
        let Some(mut row) = self.scope.query_row.take_if(|row| row.shows) else { return Ok(None) };
        let found = self.in_query(&mut row, name);
        let found = found.map(|found| {
            found.map(|(expr, derivation)| {
                self.derivation = derivation;
                let ty = expr.ty.clone();
                let column = self.sources[0].table.columns.len() + row.place(expr, derivation);
                Expr { kind: ExprKind::InsertValue { column }, ty, nullable: true }
            })
        });
        self.scope.query_row = Some(row);
        found
    }

    /// Resolves a name inside the query.
    fn in_query(&mut self, row: &mut QueryRow, name: &ColumnName<'_>) -> Result<Option<(Expr, Derivation)>> {
        std::mem::swap(&mut self.sources, &mut row.sources);
        std::mem::swap(&mut self.scope, &mut row.scope);
        let found = self.find_visible(name).and_then(|found| {
            let Some((source, column)) = found else { return Ok(None) };
            self.need_column(source, column)?;
            Ok(Some((self.column(source, column), self.column_derivation(source, column))))
        });
        std::mem::swap(&mut self.sources, &mut row.sources);
        std::mem::swap(&mut self.scope, &mut row.scope);
        found
    }
}
