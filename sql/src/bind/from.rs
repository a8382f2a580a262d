//! FROM: tables become sources, joins become a tree, names find their columns.

use super::compare::{Coercibility, Derivation};
use super::{AliasRule, Binder, Scope, class};
use crate::ast::{ColumnName, Join, JoinCondition, JoinKind, ObjectName, TableName, TableRef};
use crate::error::{Clause, Error, Result};
use crate::expr::{CompareOp, Expr, ExprKind};
use crate::planner::JoinTree;
use std::sync::Arc;
use types::schema::TableDef;

/// A table of the statement.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub table: Arc<TableDef>,
    pub alias: String,
    /// Its columns may be NULL because an outer join did not find it.
    pub nullable: bool,
    /// USE INDEX and the like: which indexes may be used; `None` for all.
    pub indexes: Option<Vec<usize>>,
}

/// A column of USING or NATURAL: one name for a column on each side.
#[derive(Clone, Debug)]
pub(crate) struct JoinedColumn {
    pub name: String,
    /// The column that the name stands for.
    pub source: usize,
    pub column: usize,
    /// All the columns it joins.
    pub members: Vec<(usize, usize)>,
}

impl Binder<'_> {
    /// Registers the tables of a FROM clause and makes their names visible.
    pub(super) fn bind_from(&mut self, tables: &[TableRef<'_>]) -> Result<Option<JoinTree>> {
        let start = self.sources.len();
        self.scope = Scope::new(start..start, Clause::FieldList);
        let mut parts = Vec::new();
        for table in tables {
            parts.push(self.table_ref(table)?);
        }
        self.scope.visible = start..self.sources.len();
        if parts.len() > 1 {
            return Ok(Some(JoinTree::Inner { parts, on: Vec::new(), straight: false }));
        }
        Ok(parts.pop())
    }

    fn table_ref(&mut self, table: &TableRef<'_>) -> Result<JoinTree> {
        match table {
            TableRef::Table(table) => self.named_table(table),
            TableRef::Join(join) => self.join(join),
            TableRef::List(tables) => {
                let parts = tables.iter().map(|t| self.table_ref(t)).collect::<Result<_>>()?;
                Ok(JoinTree::Inner { parts, on: Vec::new(), straight: false })
            }
            TableRef::Derived { .. } => Err(Error::NotSupported("derived tables".to_owned())),
        }
    }

    /// Finds a table in the schema.
    pub(super) fn lookup(&self, name: &ObjectName<'_>) -> Result<Arc<TableDef>> {
        let database = name.database.or(self.context.database()).ok_or(Error::NoDatabase)?;
        let schema = self.context.schema();
        if let Some(table) = schema.table(database, name.name) {
            return Ok(table.clone());
        }
        let Some(found) = schema.databases.get(database).or_else(|| {
            let virtual_name = ["information_schema", "performance_schema", "mysql", "sys"];
            let name = virtual_name.iter().find(|n| n.eq_ignore_ascii_case(database))?;
            schema.databases.get(*name)
        }) else {
            return Err(Error::UnknownDatabase(database.to_owned()));
        };
        // Tables of the server itself are found in any case.
        let any_case = found.tables.values().find(|t| t.is_virtual && t.name.eq_ignore_ascii_case(name.name));
        any_case.cloned().ok_or_else(|| Error::UnknownTable { database: database.to_owned(), table: name.name.to_owned() })
    }

    /// Registers a table as the next source.
    pub(super) fn add_source(&mut self, table: Arc<TableDef>, alias: &str) -> Result<usize> {
        let block = &self.sources[self.scope.visible.start..];
        if block.iter().any(|s| s.alias == alias && s.table.database == table.database) {
            return Err(Error::NotUniqueTable(alias.to_owned()));
        }
        self.sources.push(Source { table, alias: alias.to_owned(), nullable: false, indexes: None });
        self.scope.visible.end = self.sources.len();
        Ok(self.sources.len() - 1)
    }

    fn named_table(&mut self, table: &TableName<'_>) -> Result<JoinTree> {
        if !table.partitions.is_empty() {
            return Err(Error::NotSupported("partitions".to_owned()));
        }
        let def = self.lookup(&table.name)?;
        let alias = table.alias.unwrap_or(if def.is_virtual { &def.name } else { table.name.name }).to_owned();
        let source = self.add_source(def, &alias)?;
        self.sources[source].indexes = self.hinted_indexes(source, table)?;
        Ok(JoinTree::Table(source))
    }

    fn hinted_indexes(&self, source: usize, table: &TableName<'_>) -> Result<Option<Vec<usize>>> {
        use crate::ast::IndexHintKind as Kind;
        if table.hints.is_empty() {
            return Ok(None);
        }
        let def = &self.sources[source].table;
        let mut used: Option<Vec<usize>> = None;
        let mut ignored = Vec::new();
        for hint in table.hints {
            for name in hint.indexes {
                let index = def
                    .index_by_name(name)
                    .ok_or_else(|| Error::UnknownKey { key: (*name).to_owned(), table: self.sources[source].alias.clone() })?;
                match hint.kind {
                    Kind::Ignore => ignored.push(index),
                    Kind::Use | Kind::Force => used.get_or_insert_with(Vec::new).push(index),
                }
            }
            if hint.indexes.is_empty() && hint.kind == Kind::Use {
                used.get_or_insert_with(Vec::new);
            }
        }
        let mut allowed = used.unwrap_or_else(|| (0..def.indexes.len()).collect());
        allowed.retain(|index| !ignored.contains(index));
        Ok(Some(allowed))
    }

    fn join(&mut self, join: &Join<'_>) -> Result<JoinTree> {
        let outer_start = self.scope.visible.start;
        let start = self.sources.len();
        let left = self.table_ref(&join.left)?;
        let middle = self.sources.len();
        let right = self.table_ref(&join.right)?;
        let end = self.sources.len();
        let on = match join.condition {
            JoinCondition::None => Vec::new(),
            JoinCondition::On(expr) => {
                self.scope.visible = start..end;
                let on = self.in_clause(Clause::On, |b| b.predicate(expr))?;
                self.scope.visible = outer_start..end;
                conjuncts(on)
            }
            JoinCondition::Using(names) => self.using(names, start, middle, end, join.kind)?,
            JoinCondition::Natural => {
                let names = self.common_columns(start, middle, end);
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                self.using(&names, start, middle, end, join.kind)?
            }
        };
        let nullable = match join.kind {
            JoinKind::Inner | JoinKind::Straight => 0..0,
            JoinKind::Left => middle..end,
            JoinKind::Right => start..middle,
        };
        for source in nullable {
            self.sources[source].nullable = true;
        }
        Ok(match join.kind {
            JoinKind::Inner => JoinTree::Inner { parts: vec![left, right], on, straight: false },
            JoinKind::Straight => JoinTree::Inner { parts: vec![left, right], on, straight: true },
            JoinKind::Left => JoinTree::Left { left: Box::new(left), right: Box::new(right), on },
            JoinKind::Right => JoinTree::Left { left: Box::new(right), right: Box::new(left), on },
        })
    }

    fn common_columns(&self, start: usize, middle: usize, end: usize) -> Vec<String> {
        let has = |range: std::ops::Range<usize>, name: &str| {
            self.sources[range].iter().any(|s| s.table.columns.iter().any(|c| !c.invisible && c.name.eq_ignore_ascii_case(name)))
        };
        let mut names: Vec<String> = Vec::new();
        for source in &self.sources[start..middle] {
            for column in source.table.columns.iter().filter(|c| !c.invisible) {
                let known = names.iter().any(|n| n.eq_ignore_ascii_case(&column.name));
                if !known && has(middle..end, &column.name) {
                    names.push(column.name.clone());
                }
            }
        }
        names
    }

    /// The equalities of USING, and their columns as one for names and `*`.
    fn using(&mut self, names: &[&str], start: usize, middle: usize, end: usize, kind: JoinKind) -> Result<Vec<Expr>> {
        let mut on = Vec::new();
        for name in names {
            let left = self.side_column(name, start..middle)?;
            let right = self.side_column(name, middle..end)?;
            let (a, b) = (self.column(left.0, left.1), self.column(right.0, right.1));
            let level = |b: &Self, (s, c): (usize, usize)| b.column_derivation(s, c);
            let derivation = level(self, left).combine(level(self, right), "=")?;
            on.push(self.comparison(CompareOp::Equal, a, b, derivation)?);
            let mut members = vec![left, right];
            let mut kept = Vec::new();
            for joined in std::mem::take(&mut self.scope.joined) {
                if joined.members.contains(&left) || joined.members.contains(&right) {
                    members.extend(joined.members);
                } else {
                    kept.push(joined);
                }
            }
            members.sort_unstable();
            members.dedup();
            let (source, column) = if kind == JoinKind::Right { right } else { left };
            kept.push(JoinedColumn { name: (*name).to_owned(), source, column, members });
            self.scope.joined = kept;
        }
        Ok(on)
    }

    /// The one column of this name among some sources.
    fn side_column(&self, name: &str, range: std::ops::Range<usize>) -> Result<(usize, usize)> {
        if let Some(joined) = self.scope.joined.iter().find(|j| j.name.eq_ignore_ascii_case(name) && range.contains(&j.source)) {
            return Ok((joined.source, joined.column));
        }
        let mut found = None;
        for source in range {
            if let Some(column) = self.sources[source].table.column_index(name) {
                if found.is_some() {
                    return Err(Error::AmbiguousColumn { name: name.to_owned(), clause: Clause::From });
                }
                found = Some((source, column));
            }
        }
        found.ok_or_else(|| Error::UnknownColumn { name: name.to_owned(), clause: Clause::From })
    }

    /// A column as an expression.
    pub(super) fn column(&self, source: usize, column: usize) -> Expr {
        let from = &self.sources[source];
        let def = &from.table.columns[column];
        Expr { kind: ExprKind::Column { source, column }, ty: def.ty.clone(), nullable: def.nullable || from.nullable }
    }

    pub(super) fn column_derivation(&self, source: usize, column: usize) -> Derivation {
        let ty = &self.sources[source].table.columns[column].ty;
        match class(ty) {
            super::Class::String => Derivation { collation: ty.collation, level: Coercibility::Implicit },
            super::Class::Json => Derivation { collation: types::CollationId::UTF8MB4_BIN, level: Coercibility::Implicit },
            _ => Derivation::NUMERIC,
        }
    }

    /// What a name means here.
    pub(super) fn name(&mut self, name: &ColumnName<'_>) -> Result<Expr> {
        if let Some(row) = &self.scope.insert_row {
            // A bare name means the table's own column first.
            let by_alias = row.alias.is_some() && row.alias.as_deref() == name.table;
            let bare = name.table.is_none() && row.alias.is_some() && self.find_column(name)?.is_none();
            if by_alias || bare {
                let row = row.columns.iter().find(|(n, _)| n.eq_ignore_ascii_case(name.name));
                return match row.map(|(_, column)| *column) {
                    Some(column) => self.insert_value(column),
                    None => Err(self.unknown(name)),
                };
            }
        }
        if self.scope.aliases == AliasRule::Having && !self.scope.in_aggregate {
            return self.having_name(name);
        }
        if let Some((source, column)) = self.find_column(name)? {
            self.derivation = self.column_derivation(source, column);
            return Ok(self.column(source, column));
        }
        if self.scope.aliases == AliasRule::AfterColumns
            && name.table.is_none()
            && let Some(found) = self.find_alias(name.name)?
        {
            return Ok(found);
        }
        Err(self.unknown(name))
    }

    fn unknown(&self, name: &ColumnName<'_>) -> Error {
        Error::UnknownColumn { name: dotted(name), clause: self.scope.clause }
    }

    /// `VALUES(col)`: the value that would have been inserted.
    pub(super) fn insert_value(&mut self, column: usize) -> Result<Expr> {
        let source = self.scope.visible.start;
        self.derivation = self.column_derivation(source, column);
        let ty = self.sources[source].table.columns[column].ty.clone();
        Ok(Expr { kind: ExprKind::InsertValue { column }, ty, nullable: true })
    }

    /// The select list's entry of this name.
    pub(super) fn find_alias(&mut self, name: &str) -> Result<Option<Expr>> {
        let mut found: Option<&super::SelectColumn> = None;
        for entry in self.scope.select.iter().filter(|s| s.name.eq_ignore_ascii_case(name)) {
            if found.is_some_and(|f| f.expr != entry.expr) {
                return Err(Error::AmbiguousColumn { name: name.to_owned(), clause: self.scope.clause });
            }
            found = Some(entry);
        }
        let Some(found) = found else { return Ok(None) };
        self.derivation = found.derivation;
        Ok(Some(found.expr.clone()))
    }

    /// HAVING sees the group keys and the select list.
    fn having_name(&mut self, name: &ColumnName<'_>) -> Result<Expr> {
        let column = self.find_column(name)?;
        if let Some((source, column)) = column {
            let expr = self.column(source, column);
            let selected = self.scope.select.iter().any(|s| s.expr == expr);
            if selected || self.scope.group_keys.contains(&expr) {
                self.derivation = self.column_derivation(source, column);
                return Ok(expr);
            }
        }
        if name.table.is_none()
            && let Some(found) = self.find_alias(name.name)?
        {
            return Ok(found);
        }
        Err(self.unknown(name))
    }

    /// Looks a column up among the visible sources; one that a rival has as well is ambiguous.
    pub(super) fn find_column(&self, name: &ColumnName<'_>) -> Result<Option<(usize, usize)>> {
        let found = self.find_visible(name)?;
        let has = |rival: &Source| matches_table(rival, name) && rival.table.column_index(name.name).is_some();
        if found.is_some() && self.scope.rivals.iter().any(has) {
            return Err(Error::AmbiguousColumn { name: dotted(name), clause: self.scope.clause });
        }
        Ok(found)
    }

    /// Looks a column up among the visible sources alone.
    pub(super) fn find_visible(&self, name: &ColumnName<'_>) -> Result<Option<(usize, usize)>> {
        let range = self.scope.visible.clone();
        if name.table.is_none() {
            let joined = self.scope.joined.iter().find(|j| j.name.eq_ignore_ascii_case(name.name) && range.contains(&j.source));
            if let Some(joined) = joined {
                return Ok(Some((joined.source, joined.column)));
            }
        }
        let mut found = None;
        for source in range {
            let from = &self.sources[source];
            if !matches_table(from, name) {
                continue;
            }
            let Some(column) = from.table.column_index(name.name) else { continue };
            if found.is_some() {
                return Err(Error::AmbiguousColumn { name: dotted(name), clause: self.scope.clause });
            }
            found = Some((source, column));
        }
        Ok(found)
    }
}

fn matches_table(source: &Source, name: &ColumnName<'_>) -> bool {
    let Some(table) = name.table else { return true };
    let same_table = source.alias == table || (source.table.is_virtual && source.alias.eq_ignore_ascii_case(table));
    let same_database = name.database.is_none_or(|d| source.table.database == d || source.table.is_virtual);
    same_table && same_database
}

/// A name as written, for messages.
pub(super) fn dotted(name: &ColumnName<'_>) -> String {
    match (name.database, name.table) {
        (Some(database), Some(table)) => format!("{database}.{table}.{}", name.name),
        (None, Some(table)) => format!("{table}.{}", name.name),
        _ => name.name.to_owned(),
    }
}

/// The parts of a conjunction.
pub(crate) fn conjuncts(expr: Expr) -> Vec<Expr> {
    match expr.kind {
        ExprKind::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        _ => vec![expr],
    }
}
