//! Multi-table UPDATE and DELETE: a join whose result names the rows to change.

use super::query::convert_to;
use super::{Binder, Changed, ReadAs, SourceKind};
use crate::ast;
use crate::error::{Clause, Error, Result, ViewProblem};
use crate::plan::{Action, Assignment, ChangePlan, ChangeTarget, Part, Plan};
use crate::planner::{FromBlock, JoinTree};
use expr::{Expr, ExprKind};
use std::sync::Arc;
use types::schema::TableDef;

/// Replaces columns of the target by the values that are assigned to them.
fn read_assigned(expr: &mut Expr, target: &ChangeTarget) {
    if let ExprKind::Column { source, column } = expr.kind
        && source == target.source
        && let Some(Assignment { value: Some(value), .. }) = target.assignments.iter().rfind(|a| a.column == column)
    {
        let ty = expr.ty.clone();
        *expr = value.clone();
        convert_to(expr, &ty);
        return;
    }
    expr.parts_mut().into_iter().for_each(|part| read_assigned(part, target));
}

impl Binder<'_> {
    pub(super) fn update_join(&mut self, update: &ast::Update<'_>) -> Result<Plan> {
        if !update.order_by.is_empty() {
            return Err(Error::WrongUsage("UPDATE", "ORDER BY"));
        }
        if update.limit.is_some() {
            return Err(Error::WrongUsage("UPDATE", "LIMIT"));
        }
        if let Some(with) = &update.with {
            self.with(with)?;
        }
        let tree = self.changed_from(update.tables, Action::Select)?;
        self.changed = self.stored_tables();
        let mut targets: Vec<ChangeTarget> = Vec::new();
        // The stored table of each source that is assigned to.
        let mut by_view: Vec<(usize, usize)> = Vec::new();
        for assignment in update.assignments {
            let found = self.find_visible(&assignment.column)?;
            let (source, column) = found.ok_or_else(|| Error::UnknownColumn {
                name: super::from::dotted(&assignment.column),
                clause: Clause::FieldList,
            })?;
            let through = source;
            self.need_of(source, Action::Update, Part::Column(column))?;
            let (source, column) = self.target_column(source, column, "UPDATE")?;
            let table = self.sources[source].table.clone();
            if through != source {
                self.need_of(source, Action::Update, Part::Column(column))?;
            }
            if by_view.iter().any(|(view, other)| *view == through && *other != source) {
                return Err(self.sources[through].view.as_ref().expect("it has two tables").problem(ViewProblem::SeveralTables));
            }
            by_view.push((through, source));
            let mut value = self.assigned(&assignment.value, &table, column)?;
            if let (Some(value), Some(target)) = (&mut value, targets.iter().find(|t| t.source == source)) {
                // An assignment that follows reads the new value of the column.
                read_assigned(value, target);
            }
            let at = targets.iter().position(|t| t.source == source).unwrap_or_else(|| {
                targets.push(self.change_target(source, table));
                targets.len() - 1
            });
            if targets[at].view_check.is_none() {
                targets[at].view_check = self.view_check(through, source)?;
            }
            targets[at].assignments.push(Assignment { column, value });
        }
        targets.sort_by_key(|target| target.source);
        self.refuse_key_updates(&targets)?;
        let is_twice = |t: &ChangeTarget| targets.iter().filter(|other| other.table.id == t.table.id).count() > 1;
        if targets.iter().any(|target| target.view_check.is_some() && is_twice(target)) {
            return Err(Error::NotSupported("WITH CHECK OPTION of a table that is updated twice".to_owned()));
        }
        self.change(tree, targets, update.filter, update.ignore, true)
    }

    fn change_target(&self, source: usize, table: Arc<TableDef>) -> ChangeTarget {
        let partitions = self.sources[source].partitions.clone();
        ChangeTarget { source, table, assignments: Vec::new(), unread: Vec::new(), view_check: None, partitions }
    }

    pub(super) fn delete_join(&mut self, delete: &ast::Delete<'_>) -> Result<Plan> {
        if !delete.order_by.is_empty() {
            return Err(Error::WrongUsage("DELETE", "ORDER BY"));
        }
        if delete.limit.is_some() {
            return Err(Error::WrongUsage("DELETE", "LIMIT"));
        }
        if let Some(with) = &delete.with {
            self.with(with)?;
        }
        let tree = self.changed_from(delete.from, Action::Select)?;
        self.changed = self.stored_tables();
        let mut targets: Vec<ChangeTarget> = Vec::new();
        if delete.targets.is_empty() {
            // The statement names a single table.
            let source = self.scope.visible[0];
            let (source, table) = self.changeable(source, "DELETE")?;
            targets.push(self.change_target(source, table));
        }
        let mut aliases = Vec::new();
        delete.from.iter().for_each(|from| from.aliases(&mut aliases));
        for name in delete.targets {
            let database = name.database.or(self.context.database()).ok_or(Error::NoDatabase)?;
            let names = |source: &usize| {
                let from = &self.sources[*source];
                let of = from.table.database.as_str();
                let is_aliased = |(alias, database): &(&str, Option<&str>)| {
                    *alias == from.alias && database.or(self.context.database()) == Some(of)
                };
                // A table with an alias has no other name, and an alias belongs to no database.
                let is_right_database =
                    if of.is_empty() || aliases.iter().any(is_aliased) { name.database.is_none() } else { database == of };
                from.alias == name.name && is_right_database
            };
            let mut found = self.scope.visible.iter().copied().filter(names);
            let Some(source) = found.next() else {
                return Err(Error::UnknownTarget { table: name.name.to_owned(), clause: "MULTI DELETE" });
            };
            if found.next().is_some() {
                return Err(Error::NotUniqueTable(name.name.to_owned()));
            }
            if targets.iter().any(|t| t.source == source) {
                return Err(Error::NotUniqueTable(name.name.to_owned()));
            }
            let (source, table) = self.changeable(source, "DELETE")?;
            targets.push(self.change_target(source, table));
        }
        targets.sort_by_key(|target| target.source);
        self.change(tree, targets, delete.filter, delete.ignore, false)
    }

    /// The stored tables that the statement names, each of which it may change.
    pub(super) fn stored_tables(&self) -> Vec<Changed> {
        let mut tables = Vec::new();
        for from in self.scope.visible.iter().map(|&s| &self.sources[s]) {
            let name = || from.alias.clone();
            match (&from.kind, &from.view) {
                (SourceKind::Table, _) => {
                    tables.push(Changed { table: from.table.id, name: name(), view: None, read: ReadAs::AnyName })
                }
                (_, Some(view)) => {
                    let own = view.tables.iter().map(|&s| self.sources[s].table.id);
                    tables.extend(own.map(|table| Changed {
                        table,
                        name: name(),
                        view: Some(view.def.id),
                        read: ReadAs::AnyName,
                    }));
                }
                _ => {}
            }
        }
        tables
    }

    /// The source through which the statement names a stored table: the table itself, or the view over it.
    fn named_source(&self, stored: usize) -> usize {
        let stands_for = |&&s: &&usize| {
            let view = self.sources[s].view.as_ref();
            s == stored || view.is_some_and(|view| view.tables.contains(&stored))
        };
        *self.scope.visible.iter().find(stands_for).unwrap_or(&stored)
    }

    /// A changed table, under the name that the statement uses.
    fn changed_as(&self, target: &ChangeTarget) -> Changed {
        let named = &self.sources[self.named_source(target.source)];
        let view = named.view.as_ref().map(|view| view.def.id);
        Changed { table: target.table.id, name: named.alias.clone(), view, read: ReadAs::AnyName }
    }

    /// The stored table of a source, or the only table of a view. Everything else raises 1288.
    fn changeable(&self, source: usize, statement: &'static str) -> Result<(usize, Arc<TableDef>)> {
        let from = &self.sources[source];
        let not_updatable = || Error::NotUpdatable { table: from.alias.clone(), statement };
        match (&from.kind, &from.view) {
            (SourceKind::Table, _) if !from.table.is_virtual => Ok((source, from.table.clone())),
            (_, Some(view)) => {
                view.refuse_unless_updatable(&from.alias, statement)?;
                match view.tables.as_slice() {
                    [only] if !view.has_other => Ok((*only, self.sources[*only].table.clone())),
                    [] => Err(not_updatable()),
                    _ => Err(view.problem(ViewProblem::DeleteFromJoin)),
                }
            }
            _ => Err(not_updatable()),
        }
    }

    /// 1706: the statement changes one table under two names, and changes the primary key under one of them.
    fn refuse_key_updates(&self, targets: &[ChangeTarget]) -> Result<()> {
        for (n, target) in targets.iter().enumerate() {
            for other in targets[..n].iter().filter(|other| other.table.id == target.table.id) {
                let keys = &target.table.primary().columns;
                let moves = |t: &ChangeTarget| t.assignments.iter().any(|a| keys.iter().any(|key| key.column == a.column));
                if moves(target) || moves(other) {
                    let alias = |t: &ChangeTarget| self.sources[t.source].alias.clone();
                    return Err(Error::UpdatedTwice(alias(other), alias(target)));
                }
            }
        }
        Ok(())
    }

    fn change(
        &mut self,
        tree: JoinTree,
        mut targets: Vec<ChangeTarget>,
        filter: Option<&ast::Expr<'_>>,
        ignore: bool,
        update: bool,
    ) -> Result<Plan> {
        let mut tree = Some(tree);
        let changed: Vec<usize> = targets.iter().map(|target| self.named_source(target.source)).collect();
        if !update {
            for (target, &named) in targets.iter().zip(&changed) {
                self.need_of(named, Action::Delete, Part::Table)?;
                self.need_of(target.source, Action::Delete, Part::Table)?;
            }
        }
        self.need_others(&changed)?;
        self.changed = targets.iter().map(|target| self.changed_as(target)).collect();
        let mut filter = match filter {
            Some(expr) => self.in_clause(Clause::Where, |b| b.where_clause(expr, &mut tree, true))?,
            None => Vec::new(),
        };
        let named: Vec<(&Arc<TableDef>, &str)> =
            targets.iter().map(|t| (&t.table, self.sources[t.source].alias.as_str())).collect();
        self.refuse_target(&named, &ReadAs::AnyName)?;
        if let Some(tree) = &mut tree {
            self.use_computed_in(tree, &mut filter, std::iter::empty());
        }
        let mut block = FromBlock { keeps_rows: true, ..FromBlock::new(&self.sources, self.context) };
        for target in &targets {
            target.assignments.iter().filter_map(|a| a.value.as_ref()).for_each(|value| block.note_used(value));
            target.view_check.iter().flat_map(|check| &check.joined).for_each(|value| block.note_used(value));
        }
        filter.iter().for_each(|expr| block.note_used(expr));
        if let Some(tree) = &tree {
            block.note_used_in_tree(tree);
        }
        for target in &mut targets {
            target.unread = super::dml::unread(&target.assignments, &block.used[target.source]);
            block.used[target.source] = vec![true; target.table.columns.len()];
        }
        let root = block.plan(tree, filter, None).node;
        self.note_changed();
        let parts = self.parts();
        Ok(Plan::Change(ChangePlan { root, targets, update, ignore, parts, params: self.param_count() }))
    }
}
