//! The select list: expands `*`, binds expressions, and finds the metadata of each result column.

use super::compare::Derivation;
use super::query::column_name;
use super::{Binder, SelectColumn, SourceKind};
use crate::ast::{self, Expr as AstExpr, SelectItem};
use crate::error::{Error, Result};
use crate::plan::{Action, Made, OutputColumn, Part};
use expr::typing;
use expr::{Expr, ExprKind};
use types::schema::{ColumnDefault, IndexKind};

impl Binder<'_> {
    /// Expands `*` and binds expressions; fills the scope's select list as it goes.
    pub(super) fn select_items(&mut self, items: &[SelectItem<'_>]) -> Result<Vec<OutputColumn>> {
        let mut columns = Vec::with_capacity(items.len());
        let mut select = Vec::with_capacity(items.len());
        for item in items {
            match item {
                SelectItem::All => {
                    self.expand_all(&mut columns, &mut select)?;
                    self.note_star(item);
                }
                SelectItem::TableAll(name) => {
                    self.expand_table(name, &mut columns, &mut select)?;
                    self.note_star(item);
                }
                SelectItem::Expr { expr, alias, text } => {
                    // Its subqueries may name earlier items.
                    self.scope.select = select;
                    let bound = self.value(expr);
                    select = std::mem::take(&mut self.scope.select);
                    let mut bound = bound?;
                    let derivation = self.derivation;
                    if matches!(bound.kind, ExprKind::Param(_)) {
                        super::adopt::adopt_for_now(self.context, &mut bound, &typing::string(16_383, self.literal_collation()));
                    }
                    let mut name = column_name(expr, *alias, text);
                    let through = match expr {
                        AstExpr::Column(name) => self.find_visible(name)?,
                        _ => None,
                    };
                    if let (None, Some((source, column))) = (alias, through)
                        && let Some(own) = self.own_spelling(source, column)
                    {
                        name = own.to_owned();
                    }
                    columns.push(self.output_column_of(name.clone(), &bound, through));
                    select.push(SelectColumn { name, expr: bound, derivation });
                }
            }
            if columns.len() > crate::parser::SELECT_COLUMNS_MAX {
                return Err(Error::TooManyColumns);
            }
        }
        self.scope.select = select;
        Ok(columns)
    }

    /// Columns of information_schema have their defined names, whatever case the statement uses.
    fn own_spelling(&self, source: usize, column: usize) -> Option<&str> {
        let from = &self.sources[source];
        let is_own =
            from.table.is_virtual && matches!(from.kind, SourceKind::Table) && from.table.database == "information_schema";
        is_own.then(|| &*from.table.columns[column].name)
    }

    fn expand_all(&mut self, columns: &mut Vec<OutputColumn>, select: &mut Vec<SelectColumn>) -> Result<()> {
        if self.scope.visible.is_empty() {
            // EXISTS does not read the select list.
            if self.levels.last().is_some_and(|level| level.exists) {
                let expr = super::literal::integer(1);
                columns.push(OutputColumn::new("1".to_owned(), expr.ty.clone(), expr.nullable));
                select.push(SelectColumn { name: "1".to_owned(), expr, derivation: Derivation::NUMERIC });
                return Ok(());
            }
            return Err(Error::NoTables);
        }
        for (source, column) in self.scope.star.clone() {
            self.expand_column(source, column, columns, select)?;
        }
        Ok(())
    }

    fn expand_table(
        &mut self,
        name: &ast::ObjectName<'_>,
        columns: &mut Vec<OutputColumn>,
        select: &mut Vec<SelectColumn>,
    ) -> Result<()> {
        let found = self.scope.visible.iter().copied().find(|&s| {
            let from = &self.sources[s];
            let of_server = from.table.is_virtual && matches!(from.kind, SourceKind::Table);
            let same = from.alias == name.name || (of_server && from.alias.eq_ignore_ascii_case(name.name));
            same && name.database.is_none_or(|d| d == from.table.database)
        });
        let source = found.ok_or_else(|| Error::UnknownTableAll(name.name.to_owned()))?;
        for column in 0..self.sources[source].table.columns.len() {
            if !self.sources[source].table.columns[column].invisible {
                self.expand_column(source, column, columns, select)?;
            }
        }
        Ok(())
    }

    fn expand_column(
        &mut self,
        source: usize,
        column: usize,
        columns: &mut Vec<OutputColumn>,
        select: &mut Vec<SelectColumn>,
    ) -> Result<()> {
        self.need_of(source, Action::Select, Part::Each(column))?;
        let expr = self.column(source, column);
        let name = self.sources[source].table.columns[column].name.clone();
        self.note_expanded(source, column);
        columns.push(self.output_column_of(name.clone(), &expr, Some((source, column))));
        select.push(SelectColumn { name, expr, derivation: self.column_derivation(source, column) });
        Ok(())
    }

    /// The result column of an expression; `through` is the column of a source that was named.
    fn output_column_of(&self, name: String, expr: &Expr, through: Option<(usize, usize)>) -> OutputColumn {
        let mut output = OutputColumn::new(name, expr.ty.clone(), expr.nullable);
        if let Some((named, column)) = through {
            let named = &self.sources[named];
            output.table_alias = named.alias.clone();
            if !matches!(named.kind, SourceKind::Table) {
                output.through_name = named.table.columns[column].name.clone();
                output.view = named.view.as_ref().map_or_else(String::new, |view| view.def.name.clone());
            }
        }
        let ExprKind::Column { source, column } = expr.kind else {
            self.describe(&mut output, expr);
            return output;
        };
        let from = &self.sources[source];
        if !matches!(from.kind, SourceKind::Table) {
            output.made = Made::Kept;
            output.table.clone_from(&output.table_alias);
            return output;
        }
        let def = &from.table.columns[column];
        output.database = from.table.database.clone();
        output.table = from.table.name.clone();
        if through.is_none() {
            output.table_alias = from.alias.clone();
        }
        output.original_name = def.name.clone();
        output.auto_increment = def.auto_increment;
        output.no_default = !def.nullable && def.default == ColumnDefault::None && !def.auto_increment;
        output.sets_time_on_update = def.on_update_now;
        output.sets_time = def.on_update_now || def.default.is_now();
        for index in &from.table.indexes {
            let Some(place) = index.columns.iter().position(|c| c.column == column) else { continue };
            output.part_of_key = true;
            match index.kind {
                IndexKind::Primary => output.primary_key = true,
                IndexKind::Unique if index.columns.len() == 1 => output.unique_key = true,
                IndexKind::HiddenRowId => {}
                _ if place == 0 => output.multiple_key = true,
                _ => {}
            }
        }
        output
    }
}
