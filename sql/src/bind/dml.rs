//! INSERT, REPLACE, UPDATE, DELETE.

use super::from::{conjuncts, dotted};
use super::subquery::joinable;
use super::{Binder, Changed, ReadAs, Scope};
use crate::ast::{self, Expr as AstExpr, InsertSource as AstSource, OrderItem, TableRef};
use crate::error::{Clause, Error, Result};
use crate::partition::named_partitions;
use crate::plan::{
    Action, Assignment, DeletePlan, InsertPlan, InsertSource, LimitPlan, Node, Part, Plan, Rights, Scan, SortKey, UpdatePlan,
    ViewCheck,
};
use crate::planner::{FromBlock, JoinTree, OrderNeed};
use expr::{Expr, ExprKind};
use types::schema::TableDef;

/// The target of an INSERT.
pub(super) struct InsertTarget {
    pub table: std::sync::Arc<TableDef>,
    /// The columns that get values, and their names in the statement.
    pub columns: Vec<usize>,
    pub names: Vec<String>,
    /// The name of the table; within a view, its name there.
    pub alias: String,
    /// The view that the statement names, over the table as source 0.
    pub view: Option<super::Source>,
    pub check: Option<Box<ViewCheck>>,
    /// The privileges with which the table is written.
    pub rights: Rights,
}

impl InsertTarget {
    /// A table, with all its visible columns.
    pub fn of_table(table: std::sync::Arc<TableDef>, alias: &str, rights: Rights) -> Self {
        let columns: Vec<usize> = (0..table.columns.len()).filter(|&c| !table.columns[c].invisible).collect();
        let names = columns.iter().map(|&c| table.columns[c].name.clone()).collect();
        Self { table, columns, names, alias: alias.to_owned(), view: None, check: None, rights }
    }

    /// The names under which subqueries among the values may not read the table.
    pub fn read(&self) -> ReadAs {
        ReadAs::Name(self.alias.clone())
    }
}

impl Binder<'_> {
    pub(super) fn insert(&mut self, insert: &ast::Insert<'_>) -> Result<InsertPlan> {
        self.statement = "INSERT";
        let names: Option<Vec<ast::ColumnName<'_>>> = match insert.source {
            AstSource::Set(assignments) => Some(assignments.iter().map(|a| a.column).collect()),
            _ => insert.columns.map(<[_]>::to_vec),
        };
        let target = self.insert_target(insert, names.as_deref())?;
        let (table, columns) = (target.table.clone(), target.columns.clone());
        let partitions = selected(&table, insert.partitions, target.view.is_some())?;
        let read = target.read();
        if !matches!(insert.source, AstSource::Query(_)) {
            // A derived table among the values reads the table before rows are inserted.
            let view = target.view.as_ref().and_then(|source| Some(source.view.as_ref()?.def.id));
            let name = insert.table.name.to_owned();
            self.changed = vec![Changed { table: table.id, name, view, read: read.clone() }];
        }
        let rows = match insert.source {
            AstSource::Set(assignments) => {
                let row: Vec<AstExpr<'_>> = assignments.iter().map(|a| a.value).collect();
                self.insert_rows(&target, &[&row])?
            }
            AstSource::Values(rows) => self.insert_rows(&target, rows)?,
            AstSource::Query(_) => Vec::new(),
        };
        let reads_row = rows.iter().flatten().flatten().any(reads_columns);
        self.refuse_target(&[(&table, insert.table.name)], &read)?;
        self.changed.clear();
        let (source, on_duplicate, duplicate_parts) = match insert.source {
            AstSource::Query(query) => {
                refuse_generated(&table, &columns)?;
                let mut bound = self.bind_query(query)?;
                if bound.columns().len() != columns.len() {
                    return Err(Error::ColumnCount { row: 1 });
                }
                self.with_all_digits(&mut bound);
                let (assignments, parts) = self.on_duplicate(&target, insert, Some(&mut bound))?;
                (InsertSource::Query(Box::new(self.planned_query(query, bound)?)), assignments, parts)
            }
            _ => {
                let (assignments, parts) = self.on_duplicate(&target, insert, None)?;
                (InsertSource::Values(rows), assignments, parts)
            }
        };
        let parts = self.parts();
        Ok(InsertPlan {
            parts,
            duplicate_parts,
            table,
            columns,
            source,
            reads_row,
            replace: insert.replace,
            ignore: insert.ignore,
            on_duplicate,
            view_check: target.check,
            partitions,
            params: self.param_count(),
        })
    }

    /// The privileges that INSERT and REPLACE need on their table, for any columns.
    fn need_insert(&self, rights: Rights, table: &TableDef, insert: &ast::Insert<'_>) -> Result<()> {
        let actions: &[Action] = match insert.replace {
            true => &[Action::Insert, Action::Delete],
            false if insert.on_duplicate.is_empty() => &[Action::Insert],
            false => &[Action::Insert, Action::Update],
        };
        self.context.need_together(rights, table, actions)?;
        if insert.replace {
            self.context.need(rights, table, Action::Delete, Part::Table)?;
        }
        Ok(())
    }

    /// Resolves the target of an INSERT: a table, or the table of a view.
    fn insert_target(&mut self, insert: &ast::Insert<'_>, names: Option<&[ast::ColumnName<'_>]>) -> Result<InsertTarget> {
        let table = self.lookup(&insert.table, Action::Insert)?;
        self.need_insert(self.rights, &table, insert)?;
        self.note_named(&table, insert.table.name, true);
        if table.is_virtual {
            return Err(Error::NotUpdatable { table: table.name.clone(), statement: "INSERT" });
        }
        let name = insert.table.name;
        if table.view.is_some() {
            let target = self.insert_view(table, insert, names)?;
            self.need_insert(target.rights, &target.table, insert)?;
            self.need_targets(target.rights, &target.table, &target.columns, Part::Column)?;
            return Ok(target);
        }
        let columns = self.target_columns(&table, name, names)?;
        let names = columns.iter().map(|&c| table.columns[c].name.clone()).collect();
        Ok(InsertTarget { columns, names, ..InsertTarget::of_table(table, name, self.rights) })
    }

    /// Registers the target as source 0, under its own columns or those of the view.
    pub(super) fn add_target(&mut self, target: &InsertTarget, alias: &str) -> Result<()> {
        let own = self.add_source(target.table.clone(), alias)?;
        self.sources[own].rights = target.rights;
        if let Some(view) = &target.view {
            // Only the view's names are visible.
            self.scope.visible.clear();
            self.push_source(view.clone())?;
        }
        Ok(())
    }

    /// Checks the INSERT privilege for these columns.
    pub(super) fn need_targets(
        &self,
        rights: Rights,
        table: &TableDef,
        columns: &[usize],
        part: fn(usize) -> Part<'static>,
    ) -> Result<()> {
        columns.iter().try_for_each(|&column| self.context.need(rights, table, Action::Insert, part(column)))
    }

    fn target_columns(
        &mut self,
        table: &types::schema::TableDef,
        name: &str,
        columns: Option<&[ast::ColumnName<'_>]>,
    ) -> Result<Vec<usize>> {
        match columns {
            Some(columns) => {
                let columns = self.insert_columns(table, name, columns)?;
                self.need_targets(self.rights, table, &columns, Part::Column)?;
                Ok(columns)
            }
            None => {
                let columns: Vec<usize> = (0..table.columns.len()).filter(|&c| !table.columns[c].invisible).collect();
                self.need_targets(self.rights, table, &columns, Part::Each)?;
                Ok(columns)
            }
        }
    }

    pub(super) fn insert_columns(
        &self,
        table: &types::schema::TableDef,
        name: &str,
        columns: &[ast::ColumnName<'_>],
    ) -> Result<Vec<usize>> {
        let mut found = Vec::with_capacity(columns.len());
        for column in columns {
            let unknown = || Error::UnknownColumn { name: dotted(column), clause: Clause::InsertList };
            if column.table.is_some_and(|t| t != name) {
                return Err(unknown());
            }
            let index = table.column_index(column.name).ok_or_else(unknown)?;
            if found.contains(&index) {
                return Err(Error::ColumnTwice(column.name.to_owned()));
            }
            found.push(index);
        }
        Ok(found)
    }

    /// Rows of VALUES, whose expressions may name the table's columns. An empty row is all defaults.
    fn insert_rows(&mut self, target: &InsertTarget, rows: &[&[AstExpr<'_>]]) -> Result<Vec<Vec<Option<Expr>>>> {
        let (table, columns) = (&target.table, &target.columns);
        self.scope = Scope::new(Vec::new(), Clause::InsertList);
        self.add_target(target, &table.name)?;
        let mut bound = Vec::with_capacity(rows.len());
        for (n, row) in rows.iter().enumerate() {
            // Either all rows are empty or none.
            let is_default = rows[0].is_empty();
            if row.len() != if is_default { 0 } else { columns.len() } {
                return Err(Error::ColumnCount { row: n + 1 });
            }
            let mut out = Vec::with_capacity(columns.len());
            for (value, &column) in row.iter().zip(columns.iter()) {
                out.push(self.assigned(value, table, column)?);
            }
            out.resize_with(columns.len(), || None);
            bound.push(out);
        }
        if self.subqueries.is_empty() {
            self.sources.clear();
        }
        Ok(bound)
    }

    /// A value for a column; `None` is DEFAULT.
    pub(super) fn assigned(&mut self, value: &AstExpr<'_>, table: &TableDef, column: usize) -> Result<Option<Expr>> {
        if let AstExpr::Default(None) = value {
            return Ok(None);
        }
        refuse_generated(table, &[column])?;
        let mut bound = self.value(value)?;
        super::adopt::adopt_place(self.context, &mut bound, &table.columns[column].ty);
        self.assigned_with_all_digits(&mut bound);
        Ok(Some(bound))
    }

    pub(super) fn assignments(&mut self, assignments: &[ast::Assignment<'_>]) -> Result<Vec<Assignment>> {
        let mut out = Vec::with_capacity(assignments.len());
        for assignment in assignments {
            let found = self.find_visible(&assignment.column)?;
            let (source, column) =
                found.ok_or_else(|| Error::UnknownColumn { name: dotted(&assignment.column), clause: Clause::FieldList })?;
            self.need_of(source, self.assigns, Part::Column(column))?;
            let through = source;
            let (source, column) = self.target_column(source, column, "UPDATE")?;
            let table = self.sources[source].table.clone();
            if through != source {
                self.need_of(source, self.assigns, Part::Column(column))?;
            }
            out.push(Assignment { column, value: self.assigned(&assignment.value, &table, column)? });
        }
        Ok(out)
    }

    pub(super) fn update(&mut self, update: &ast::Update<'_>) -> Result<Plan> {
        // An attempt to bind a single table comes first: it is source 0.
        let single = !(joins(update.filter, update.order_by, &update.limit) && is_plain(update.assignments));
        self.statement = "UPDATE";
        // A view with a subquery in its condition can be changed in an order only if it does not become a join.
        self.plain_conditions = !update.order_by.is_empty() || update.limit.is_some();
        let tree = if single { self.single_table(update.tables, update.with.as_ref(), "UPDATE")? } else { None };
        self.plain_conditions = false;
        let Some(conditions) = tree else { return self.update_join(update) };
        if let Some(with) = &update.with {
            self.with(with)?;
        }
        let named = self.scope.visible[0];
        self.need_of(named, Action::Update, Part::Any)?;
        self.need_of(0, Action::Update, Part::Any)?;
        let assignments = self.assignments(update.assignments)?;
        if self.sources[0].table.is_virtual {
            self.refuse_fixed_settings(&assignments, update)?;
        }
        let view_check = self.view_check(named, 0)?;
        let clauses = (update.filter, update.order_by, update.limit.as_ref());
        let ChangedRows { scan, order, limit, unread } = self.changed_rows(conditions, clauses, &assignments)?;
        self.refuse_target(&[(&scan.table, &self.sources[named].alias)], &ReadAs::AnyName)?;
        self.note_changed();
        let parts = self.parts();
        let params = self.param_count();
        let (ignore, partitions) = (update.ignore, self.sources[0].partitions.clone());
        Ok(Plan::Update(UpdatePlan { scan, order, limit, assignments, unread, view_check, partitions, ignore, parts, params }))
    }

    /// On a table of the server, only columns that are settings can be assigned, and the order of rows is ignored.
    fn refuse_fixed_settings(&self, assignments: &[Assignment], update: &ast::Update<'_>) -> Result<()> {
        let table = &self.sources[0].table;
        let settings = self.context.settings(table).unwrap_or(&[]);
        if assignments.iter().any(|a| !settings.contains(&&*table.columns[a.column].name)) {
            return Err(Error::FixedSetting);
        }
        if !update.order_by.is_empty() || update.limit.is_some() {
            return Err(Error::NotSupported("ORDER BY and LIMIT in an UPDATE of settings".into()));
        }
        Ok(())
    }

    pub(super) fn delete(&mut self, delete: &ast::Delete<'_>) -> Result<Plan> {
        let single =
            (delete.targets.is_empty() || is_same_table(delete)) && !joins(delete.filter, delete.order_by, &delete.limit);
        self.statement = "DELETE";
        self.plain_conditions = !delete.order_by.is_empty() || delete.limit.is_some();
        let tree = if single { self.single_table(delete.from, delete.with.as_ref(), "DELETE")? } else { None };
        self.plain_conditions = false;
        let Some(conditions) = tree else { return self.delete_join(delete) };
        if let Some(with) = &delete.with {
            self.with(with)?;
        }
        let named = self.scope.visible[0];
        self.need_of(named, Action::Delete, Part::Table)?;
        self.need_of(0, Action::Delete, Part::Table)?;
        let clauses = (delete.filter, delete.order_by, delete.limit.as_ref());
        let ChangedRows { scan, order, limit, .. } = self.changed_rows(conditions, clauses, &[])?;
        self.refuse_target(&[(&scan.table, &self.sources[named].alias)], &ReadAs::AnyName)?;
        self.note_changed();
        let parts = self.parts();
        Ok(Plan::Delete(DeletePlan { scan, order, limit, ignore: delete.ignore, parts, params: self.param_count() }))
    }

    /// Binds the only stored table of the statement, named directly or by a view, as source 0. Returns the conditions
    /// of the view. `None`: there are several tables.
    fn single_table(
        &mut self,
        tables: &[TableRef<'_>],
        with: Option<&ast::With<'_>>,
        statement: &'static str,
    ) -> Result<Option<Vec<Expr>>> {
        let [TableRef::Table(table)] = tables else { return Ok(None) };
        let is_common = |with: &ast::With<'_>| with.tables.iter().any(|t| t.name.eq_ignore_ascii_case(table.name.name));
        if table.name.database.is_none() && with.is_some_and(is_common) {
            return Err(Error::NotUpdatable { table: table.alias.unwrap_or(table.name.name).to_owned(), statement });
        }
        let action = if statement == "DELETE" { Action::Delete } else { Action::Update };
        let tree = self.changed_from(tables, action)?;
        let from = &self.sources[self.scope.visible[0]];
        let conditions = match &from.view {
            Some(view) => {
                view.refuse_unless_updatable(&from.alias, statement)?;
                super::view::conditions_of_one(tree)
            }
            None if from.table.is_virtual && (statement != "UPDATE" || self.context.settings(&from.table).is_none()) => {
                return Err(Error::NotUpdatable { table: from.alias.clone(), statement });
            }
            None => super::view::conditions_of_one(tree),
        };
        if conditions.is_none() {
            // The statement is bound again, as a join.
            self.sources.clear();
            self.subqueries.clear();
            self.stores.clear();
            self.named.clear();
            return Ok(None);
        }
        self.changed = self.stored_tables();
        Ok(conditions)
    }

    /// Binds the FROM of a statement that changes some of its tables.
    pub(super) fn changed_from(&mut self, tables: &[TableRef<'_>], action: Action) -> Result<JoinTree> {
        self.changes_from = Some(action);
        let tree = self.bind_from(tables);
        self.changes_from = None;
        Ok(tree?.expect("the grammar wants a table"))
    }

    /// 1093: a subquery reads the table that the statement changes. A materialized derived table may, because it reads
    /// before the change.
    pub(super) fn refuse_target(&self, targets: &[(&std::sync::Arc<TableDef>, &str)], read: &ReadAs) -> Result<()> {
        for (at, subquery) in self.subqueries.iter().enumerate() {
            if self.read_before.iter().any(|before| before.contains(&at)) {
                continue;
            }
            for (table, name) in targets {
                if reads_table(&subquery.root, &|scan| scan.table.id == table.id && read.refuses(&scan.alias)) {
                    let changed = self.changed.iter().find(|changed| changed.table == table.id);
                    return Err(match changed {
                        Some(changed) => self.target_read(changed, None),
                        None => Error::UpdateTableUsed((*name).to_owned()),
                    });
                }
            }
        }
        Ok(())
    }

    /// Does a subquery numbered `first` or higher read a table that the statement changes, other than in a materialized
    /// derived table?
    pub(super) fn reads_changed(&self, first: usize) -> bool {
        let is_changed = |scan: &Scan| self.changed.iter().any(|c| c.table == scan.table.id && c.read.refuses(&scan.alias));
        !self.changed.is_empty() && self.subqueries[first..].iter().any(|subquery| reads_table(&subquery.root, &is_changed))
    }

    /// The rows that UPDATE and DELETE change: a scan, and a sort if the order matters.
    fn changed_rows(
        &mut self,
        conditions: Vec<Expr>,
        (filter, order_by, limit): Clauses<'_>,
        assignments: &[Assignment],
    ) -> Result<ChangedRows> {
        let mut all = conditions;
        if let Some(expr) = filter {
            let mut parts = conjuncts(self.in_clause(Clause::Where, |b| b.predicate(expr))?);
            self.find_inserted(&mut parts)?;
            all.extend(parts.into_iter().map(|part| self.finding_zero_dates(part)));
        }
        let mut keys = Vec::with_capacity(order_by.len());
        for item in order_by {
            let mut expr = self.in_clause(Clause::OrderBy, |b| b.value(&item.expr))?;
            super::operand::enum_as_number(&mut expr);
            if super::group::constant(&expr).is_none() {
                keys.push(SortKey { expr, descending: item.descending });
            }
        }
        let limit = self.limit(limit)?;
        let mut tree = JoinTree::Table(0);
        self.use_computed_in(&mut tree, &mut all, keys.iter_mut().map(|key| &mut key.expr));
        let need = order_need(&keys);
        let mut block = FromBlock { keeps_rows: true, ..FromBlock::new(&self.sources, self.context) };
        let values = assignments.iter().filter_map(|a| a.value.as_ref());
        all.iter().chain(keys.iter().map(|key| &key.expr)).chain(values).for_each(|expr| block.note_used(expr));
        let unread = unread(assignments, &block.used[0]);
        block.used[0] = vec![true; self.sources[0].table.columns.len()];
        let (scan, ordered) = block.plan_scan(&tree, all, need.as_ref());
        if ordered {
            keys.clear();
        }
        Ok(ChangedRows { scan, order: keys, limit, unread })
    }
}

/// WHERE, ORDER BY and LIMIT of a statement that changes one table.
type Clauses<'a> = (Option<&'a ast::Expr<'a>>, &'a [OrderItem<'a>], Option<&'a ast::Limit<'a>>);

/// The rows that a statement changes.
struct ChangedRows {
    scan: Scan,
    order: Vec<SortKey>,
    limit: Option<LimitPlan>,
    unread: Vec<usize>,
}

/// The assigned columns that are not yet marked as used.
pub(super) fn unread(assignments: &[Assignment], used: &[bool]) -> Vec<usize> {
    assignments.iter().map(|a| a.column).filter(|&column| used.get(column) != Some(&true)).collect()
}

/// The partitions that INSERT and LOAD DATA name. As in MySQL, those of a view are ignored.
pub(super) fn selected(table: &TableDef, names: &[&str], is_view: bool) -> Result<Option<Vec<usize>>> {
    match names {
        [] => Ok(None),
        _ if is_view => Ok(None),
        names => named_partitions(table, names).map(Some),
    }
}

/// 3105: a generated column accepts only DEFAULT.
fn refuse_generated(table: &TableDef, columns: &[usize]) -> Result<()> {
    match columns.iter().map(|column| &table.columns[*column]).find(|column| column.generated.is_some()) {
        Some(column) => Err(Error::GeneratedValue { column: column.name.clone(), table: table.name.clone() }),
        None => Ok(()),
    }
}

/// Is there a predicate that may become a semi-join, and no order that a join would break?
fn joins(filter: Option<&ast::Expr<'_>>, order_by: &[OrderItem<'_>], limit: &Option<ast::Limit<'_>>) -> bool {
    let parts = match filter {
        Some(AstExpr::And(parts)) => *parts,
        Some(part) => std::slice::from_ref(part),
        None => &[],
    };
    order_by.is_empty() && limit.is_none() && parts.iter().any(|part| joinable(part).is_some())
}

/// Does no assignment read a column that another assignment sets?
fn is_plain(assignments: &[ast::Assignment<'_>]) -> bool {
    let is_constant = |value: &AstExpr<'_>| {
        matches!(value, AstExpr::Literal(_) | AstExpr::Lifted { .. } | AstExpr::Param(_) | AstExpr::Local { .. })
    };
    assignments.len() == 1 || assignments.iter().all(|a| is_constant(&a.value))
}

fn order_need(keys: &[SortKey]) -> Option<OrderNeed> {
    if keys.is_empty() {
        return None;
    }
    let column = |key: &SortKey| match key.expr.kind {
        ExprKind::Column { source, column } | ExprKind::ColumnOrdinal { source, column } => {
            Some((source, column, key.descending))
        }
        _ => None,
    };
    Some(OrderNeed { columns: keys.iter().map(column).collect::<Option<_>>()?, ..OrderNeed::default() })
}

/// Does the tree scan a stored table that `meant` accepts, outside of materialized derived tables?
fn reads_table(node: &Node, meant: &dyn Fn(&Scan) -> bool) -> bool {
    match node {
        Node::Scan(scan) => meant(scan),
        _ => node.inputs().into_iter().any(|input| reads_table(input, meant)),
    }
}

fn reads_columns(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column { .. } | ExprKind::ColumnOrdinal { .. }) || expr.parts().into_iter().any(reads_columns)
}

/// `DELETE t FROM t WHERE ...`: the same single table twice.
fn is_same_table(delete: &ast::Delete<'_>) -> bool {
    match (delete.targets, delete.from) {
        ([target], [TableRef::Table(table)]) => {
            target.name == table.alias.unwrap_or(table.name.name)
                && target.database.is_none_or(|d| Some(d) == table.name.database)
        }
        _ => false,
    }
}
