//! Views in FROM, and as the target of INSERT, UPDATE and DELETE.
//!
//! 1. Each statement that names a view parses the view's text anew, and binds it like a derived table that sees no
//!    outer names (`view`).
//! 2. A plain view is merged into the outer block, so the planner sees its tables. Every other view is materialized.
//!    The ORDER BY of a merged view becomes the block's, if the block has none and reads nothing else.
//! 3. A statement that changes rows through a view changes rows of the base table. The columns of a merged view are
//!    expressions over sources; a column that is a plain column reference says which column is written.
//! 4. The tables of a view are read with the privileges of its definer, or of the invoker under SQL SECURITY INVOKER
//!    (`Binder::rights`). The view itself is read with the privileges of the user who names it. Each source remembers
//!    whose privileges applied when it was named.
//!
//! V1: each table that a view names is noted together with the view (`Named::through`), even if nothing is read of the
//!     table.
//! V2: views that refer to each other in a circle, which renames can cause, raise an error before any view is bound
//!     twice.

use super::derived::derived_names;
use super::dml::InsertTarget;
use super::from::{Source, SourceKind};
use super::query::{Bound, BoundSelect};
use super::{Binder, Changed, Level, LevelKind};
use crate::arena::Arena;
use crate::ast::{self, Join, Query, SelectItem, Statement, TableRef};
use crate::error::{Clause, Error, Result, ViewProblem};
use crate::plan::{BindContext, Named, OutputColumn, Part};
use crate::planner::{JoinTree, tree_sources};
use expr::{Expr, ExprKind, SubqueryTest};
use std::collections::HashMap;
use std::sync::Arc;
use types::SqlMode;
use types::schema::{CheckOption, ColumnDefault, TableDef, ViewAlgorithm};
use types::show_create::quoted_name;

/// A view that was merged into a block.
#[derive(Clone, Debug)]
pub(crate) struct BoundView {
    pub def: Arc<TableDef>,
    /// The stored tables of its FROM.
    pub tables: Vec<usize>,
    /// FROM contains something that is not a stored table.
    pub has_other: bool,
    /// All entries of its FROM, in order.
    pub leaves: Vec<usize>,
    /// The condition of WITH CHECK OPTION for new rows.
    pub check: Vec<Expr>,
    /// All predicates, its own and those of the views in it.
    all: Vec<Expr>,
    /// Some of these predicates have become joins.
    pub joins_subqueries: bool,
    /// The view is updatable, unless a subquery reads its tables.
    updatable: bool,
    /// A subquery in its predicates, or one that runs more than once, reads one of its tables.
    reads_again: bool,
    /// As `reads_again`, or a subquery of its select list that runs once; UPDATE allows the latter.
    lists_again: bool,
    /// `reads_again` is true for a view in it.
    reads_below: bool,
    /// The sources of tables that such a subquery reads under the same name.
    named_again: Vec<usize>,
}

impl BoundView {
    pub fn problem(&self, why: ViewProblem) -> Error {
        problem(&self.def, why)
    }

    /// Raises 1288 if the view is not updatable.
    pub fn refuse_unless_updatable(&self, alias: &str, statement: &'static str) -> Result<()> {
        let is_free = statement == "UPDATE" || !self.lists_again;
        if self.is_updatable() && is_free && !(self.tables.is_empty() && self.has_other) {
            Ok(())
        } else {
            Err(Error::NotUpdatable { table: alias.to_owned(), statement })
        }
    }

    fn is_updatable(&self) -> bool {
        !self.reads_again && self.updatable
    }
}

pub(crate) fn problem(def: &TableDef, why: ViewProblem) -> Error {
    Error::View { why, view: format!("{}.{}", def.database, def.name) }
}

/// What the names in the query of a view resolve to, keyed by where they are written.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The address of a name's text -> its resolution.
    pub names: HashMap<usize, NameNote>,
    /// The address of a `*` -> its columns, with their names.
    pub stars: HashMap<usize, Vec<(String, String)>>,
    /// The address of a join with USING or NATURAL -> the pairs of columns.
    pub joins: HashMap<usize, Vec<(String, String)>>,
    expanded: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NameNote {
    /// The qualified column as it is printed.
    Column(String),
    /// The name of a select item.
    Alias,
}

/// The result of binding the query of a new view.
pub(crate) struct Outline {
    pub notes: Notes,
    pub columns: Vec<OutputColumn>,
    pub mergeable: bool,
    /// Is the view updatable, if it is merged?
    pub updatable: bool,
    /// The tables that the query names, without duplicates, and those that views in it name.
    pub tables: Vec<(String, String)>,
    pub all_tables: Vec<(String, String)>,
}

/// Binds the query of a new view. Its columns are named by `given`, or else by the query.
pub(crate) fn bind_view_query(query: &Query<'_>, given: &[&str], context: &dyn BindContext) -> Result<Outline> {
    let mut binder = Binder::new(context, 0, 0);
    // The session that reads the view checks ONLY_FULL_GROUP_BY.
    binder.mode.only_full_group_by = false;
    binder.notes = Some(Box::default());
    let (bound, _) = binder.nested(LevelKind::View, |b| b.bind_query(query))?;
    let mut columns = bound.columns().to_vec();
    for (n, column) in columns.iter_mut().enumerate() {
        column.name = crate::view::column_name(std::mem::take(&mut column.name), n);
    }
    let names = derived_names(columns.iter().map(|c| c.name.as_str()), given)?;
    columns.iter_mut().zip(names).for_each(|(column, name)| column.name = name);
    let mergeable = crate::view::is_mergeable_form(&bound);
    let updatable = mergeable && binder.is_updatable(query, &bound);
    binder.finish(bound)?;
    let notes = *binder.notes.take().expect("set above");
    let names_of = |own: bool| {
        let mut tables: Vec<(String, String)> = Vec::new();
        for named in binder.named.iter().filter(|named| !own || named.through.is_none()) {
            let name = (named.table.database.clone(), named.table.name.clone());
            if !tables.contains(&name) {
                tables.push(name);
            }
        }
        tables
    };
    let (tables, all_tables) = (names_of(true), names_of(false));
    Ok(Outline { notes, columns, mergeable, updatable, tables, all_tables })
}

/// The current columns of a view's query.
pub(crate) fn columns_of_view(def: &Arc<TableDef>, context: &dyn BindContext) -> Result<Vec<OutputColumn>> {
    let mut binder = Binder::new(context, 0, 0);
    binder.mode.only_full_group_by = false;
    binder.note_named(def, &def.name, false);
    let bound = match binder.bind_text(def) {
        Err(error) if says_invalid(&error) => return Err(problem(def, ViewProblem::Invalid)),
        bound => bound?.0,
    };
    let mut columns = bound.columns().to_vec();
    columns.iter_mut().zip(&def.columns).for_each(|(column, kept)| column.name.clone_from(&kept.name));
    Ok(columns)
}

/// The stored tables and views of FROM, by their written names; `None`: there is an outer join.
fn joined_plainly<'q, 'a>(tables: &'q [TableRef<'a>], names: &mut Vec<&'q ast::ObjectName<'a>>) -> Option<()> {
    for table in tables {
        match table {
            TableRef::Table(table) => names.push(&table.name),
            TableRef::Derived { .. } | TableRef::JsonTable(_) => {}
            TableRef::List(tables) => joined_plainly(tables, names)?,
            TableRef::Join(join) if matches!(join.kind, ast::JoinKind::Left | ast::JoinKind::Right) => return None,
            TableRef::Join(join) => {
                joined_plainly(std::slice::from_ref(&join.left), names)?;
                joined_plainly(std::slice::from_ref(&join.right), names)?;
            }
        }
    }
    Some(())
}

/// The address of a node of the syntax tree, as its identity.
pub(crate) fn address<T: ?Sized>(part: &T) -> usize {
    std::ptr::from_ref(part).cast::<()>() as usize
}

/// The predicates of a tree that consists of one stored table, source 0.
pub(super) fn conditions_of_one(tree: JoinTree) -> Option<Vec<Expr>> {
    match tree {
        JoinTree::Table(0) => Some(Vec::new()),
        JoinTree::Inner { mut parts, on, .. } if parts.len() == 1 => {
            let mut conditions = conditions_of_one(parts.pop()?)?;
            conditions.extend(on);
            Some(conditions)
        }
        _ => None,
    }
}

/// Is the table named, directly or by a named view?
fn names_table(named: &[Named], table: &TableDef) -> bool {
    named.iter().any(|named| named.table.id == table.id)
}

/// The result of trying to merge a view.
enum Merging {
    /// Merged, without its order, which may become the order of the outer block.
    Merged {
        select: Box<BoundSelect>,
        order: Vec<(Expr, bool)>,
        view: Box<BoundView>,
    },
    Kept(Box<BoundSelect>),
}

/// Errors in the tables of a view, which are reported as an invalid view.
fn says_invalid(error: &Error) -> bool {
    matches!(
        error,
        Error::UnknownColumn { .. }
            | Error::NoSuchTable { .. }
            | Error::UnknownTable { .. }
            | Error::UnknownDatabase(_)
            | Error::UnknownTableAll(_)
            | Error::UnknownFunction(_)
            | Error::UnknownKey { .. }
            | Error::View { why: ViewProblem::Invalid, .. }
    )
}

impl Binder<'_> {
    /// Notes that a table or view is named. [`Self::note_changed`] notes later whether an UPDATE or DELETE `changes`
    /// it.
    pub(super) fn note_named(&mut self, def: &Arc<TableDef>, alias: &str, changes: bool) {
        if !def.is_virtual {
            let through = self.views.last().map(|(_, place)| *place);
            self.named.push(Named { table: Arc::clone(def), alias: alias.into(), changes, through });
        }
    }

    /// Notes which of the named tables and views an UPDATE or DELETE changes.
    pub(super) fn note_changed(&mut self) {
        let changed = &self.changed;
        for named in self.named.iter_mut().filter(|named| named.through.is_none()) {
            let id = named.table.id;
            let is = |changed: &Changed| *changed.name == *named.alias && changed.view.unwrap_or(changed.table) == id;
            named.changes |= changed.iter().any(is);
        }
    }

    /// Binds a view in FROM; the caller has noted it last.
    pub(super) fn view(&mut self, def: Arc<TableDef>, alias: &str) -> Result<JoinTree> {
        match self.bind_view(&def, alias) {
            Err(error) if says_invalid(&error) => Err(problem(&def, ViewProblem::Invalid)),
            bound => bound,
        }
    }

    /// Binds the query of a view, which was noted last, and returns the query with its level.
    fn bind_text(&mut self, def: &TableDef) -> Result<(Bound, Level)> {
        if self.views.iter().any(|(id, _)| *id == def.id) {
            // V2
            return Err(problem(def, ViewProblem::Recursion));
        }
        let Some(view) = &def.view else { return Err(problem(def, ViewProblem::Invalid)) };
        let arena = Arena::new();
        // The printed text does not depend on sql_mode.
        let parsed = crate::parser::parse(&arena, view.text.as_bytes(), &SqlMode::NONE)?;
        let Statement::Query(query) = parsed.statement else { return Err(problem(def, ViewProblem::Invalid)) };
        let place = self.named.len().checked_sub(1).expect("the view was noted");
        let rights = self.context.enter_view(def, self.rights)?;
        let outer = std::mem::replace(&mut self.rights, rights);
        self.views.push((def.id, place));
        let common_tables = std::mem::take(&mut self.common_tables);
        let literals = self.literals.replace(view.collation);
        let notes = self.notes.take();
        let on_null_side = std::mem::replace(&mut self.on_null_side, false);
        let bound = self.nested(LevelKind::View, |b| b.bind_query(query));
        self.on_null_side = on_null_side;
        self.notes = notes;
        self.literals = literals;
        self.common_tables = common_tables;
        self.views.pop();
        self.rights = outer;
        match bound {
            Ok((bound, _)) if bound.columns().len() != def.columns.len() => Err(problem(def, ViewProblem::Invalid)),
            bound => bound,
        }
    }

    fn bind_view(&mut self, def: &Arc<TableDef>, alias: &str) -> Result<JoinTree> {
        let first = self.subqueries.len();
        let (bound, level) = self.bind_text(def)?;
        let view = def.view.as_ref().expect("its text was bound");
        let names = def.columns.iter().map(|column| column.name.clone()).collect();
        let bound = match bound {
            Bound::Select(select) if view.algorithm != ViewAlgorithm::TempTable => {
                match self.merged_view(def, *select, &level.scope.visible)? {
                    Merging::Merged { select, order, view } => {
                        if view.lists_again && !view.reads_again && !view.reads_below {
                            // Each of them runs once, before any change.
                            self.read_before.push(first..self.subqueries.len());
                        }
                        let tree = self.merge(*select, names, alias)?;
                        self.scope.view_order = order;
                        self.name_view(def, Some(view));
                        return Ok(tree);
                    }
                    Merging::Kept(select) => Bound::Select(select),
                }
            }
            bound => bound,
        };
        let tree = self.kept(bound, level, names, alias)?;
        if let (JoinTree::Table(source), ViewAlgorithm::TempTable) = (&tree, view.algorithm) {
            self.sources[*source].constants.clear();
        }
        self.name_view(def, None);
        Ok(tree)
    }

    /// Gives the last registered source the name of a view.
    fn name_view(&mut self, def: &TableDef, view: Option<Box<BoundView>>) {
        let source = self.sources.last_mut().expect("it was registered");
        let table = Arc::make_mut(&mut source.table);
        (table.database, table.name) = (def.database.clone(), def.name.clone());
        source.view = view;
    }

    /// Merges the block of a view, if possible.
    fn merged_view(&self, def: &Arc<TableDef>, select: BoundSelect, visible: &[usize]) -> Result<Merging> {
        let mut plain = select.clone();
        let order = plain.take_order();
        // The change concerns the view's tables, whatever else the view selects.
        let may_be = |select: &BoundSelect| match self.changes_from {
            Some(_) => self.is_mergeable_to_change(select),
            None => self.is_mergeable(select),
        };
        if may_be(&plain) && !self.has_room(&plain) {
            return Ok(Merging::Kept(Box::new(select)));
        }
        if !may_be(&plain) {
            let is_changed = plain.tree.as_ref().and_then(|tree| self.changed_table(tree));
            // It would have been merged if it did not read the table being changed.
            return match is_changed {
                Some(changed) if plain.is_plain() => Err(self.target_read(changed, Some(def))),
                _ => Ok(Merging::Kept(Box::new(select))),
            };
        }
        let view = Box::new(self.bound_view(def, &plain, visible));
        Ok(Merging::Merged { select: Box::new(plain), order, view })
    }

    fn bound_view(&self, def: &Arc<TableDef>, select: &BoundSelect, visible: &[usize]) -> BoundView {
        let mut view = BoundView {
            def: Arc::clone(def),
            tables: Vec::new(),
            has_other: false,
            leaves: Vec::new(),
            check: Vec::new(),
            all: Vec::new(),
            joins_subqueries: false,
            updatable: def.view.as_ref().is_some_and(|view| view.updatable),
            reads_again: false,
            lists_again: false,
            reads_below: false,
            named_again: Vec::new(),
        };
        let mut inner = Vec::new();
        for &source in visible {
            let from = &self.sources[source];
            match (&from.kind, &from.view) {
                (SourceKind::Table, _) if !from.table.is_virtual => {
                    view.tables.push(source);
                    view.leaves.push(source);
                }
                (_, Some(below)) => {
                    view.tables.extend(&below.tables);
                    view.leaves.extend(&below.leaves);
                    view.has_other |= below.has_other;
                    view.joins_subqueries |= below.joins_subqueries;
                    view.lists_again |= below.lists_again;
                    view.reads_below |= below.reads_again || below.reads_below;
                    view.check.extend(below.check.iter().cloned());
                    inner.extend(below.all.iter());
                }
                (SourceKind::Merged(_), _) => {
                    view.has_other = true;
                    view.leaves.extend(&from.leaves);
                }
                _ => {
                    view.has_other = true;
                    view.leaves.push(source);
                }
            }
        }
        let tree = select.tree.as_ref().expect("a mergeable block has tables");
        let mut joined = Vec::new();
        tree.conditions(&mut joined);
        let own: Vec<&Expr> = joined.iter().copied().filter(|c| !inner.contains(c)).chain(&select.filter).collect();
        let option = def.view.as_ref().map_or(CheckOption::None, |view| view.check);
        match option {
            CheckOption::None => {}
            CheckOption::Local => view.check.extend(own.iter().copied().cloned()),
            CheckOption::Cascaded => view.check = joined.iter().copied().chain(&select.filter).cloned().collect(),
        }
        view.all = joined.into_iter().chain(&select.filter).cloned().collect();
        let runs_again = select.project.iter().any(|expr| expr.any(&|e| self.is_run_again(e)));
        let named_once = if runs_again { self.named.len() } else { select.named_in_where };
        let reads = |named: &[Named]| view.tables.iter().any(|&source| names_table(named, &self.sources[source].table));
        let in_subqueries = &self.named[select.named_in_from..];
        let (reads_again, lists_again) = (reads(&self.named[select.named_in_from..named_once]), reads(in_subqueries));
        let lists_subquery = select.project.iter().any(|expr| expr.any(&|e| matches!(e.kind, ExprKind::Subquery(_))));
        view.reads_again = reads_again || lists_subquery && view.reads_below && view.tables.len() == 1;
        view.lists_again |= lists_again;
        let is_named = |&source: &usize| {
            let from = &self.sources[source];
            in_subqueries.iter().any(|named| named.table.id == from.table.id && *named.alias == *from.alias)
        };
        view.named_again = view.tables.iter().copied().filter(is_named).collect();
        view.updatable |= lists_subquery && !view.has_other && !tree.is_outer() && self.shows_stored(select);
        view.joins_subqueries |= option != CheckOption::None && {
            let mut sources = Vec::new();
            tree_sources(tree, &mut sources);
            sources.len() != view.tables.len()
        };
        view
    }

    /// Does a subquery give different results for different rows?
    fn is_run_again(&self, expr: &Expr) -> bool {
        let ExprKind::Subquery(subquery) = &expr.kind else { return false };
        let is_plain = matches!(subquery.test, SubqueryTest::Value { .. } | SubqueryTest::Exists { .. });
        !is_plain || self.subqueries[subquery.id].args.is_some()
    }

    /// The error for a subquery that reads a changed table: 1093, or 1443 if it reads or changes the table through a
    /// view. `reader`: the view through which the subquery reads.
    pub(super) fn target_read(&self, changed: &Changed, reader: Option<&TableDef>) -> Error {
        let view = match (changed.view, reader) {
            (None, None) => return Error::UpdateTableUsed(changed.name.clone()),
            (Some(own), Some(reader)) if own == reader.id => return Error::UpdateTableUsed(changed.name.clone()),
            (Some(_), _) => changed.name.clone(),
            (None, Some(reader)) => reader.name.clone(),
        };
        let why = ViewProblem::Prevents { statement: self.statement, table: changed.name.clone() };
        Error::View { why, view }
    }

    /// The column of a stored table that a source's column stands for.
    pub(super) fn stored_column(&self, source: usize, column: usize) -> Option<(usize, usize)> {
        match &self.sources[source].kind {
            SourceKind::Table => Some((source, column)),
            SourceKind::Merged(exprs) => match exprs[column].kind {
                ExprKind::Column { source, column } if matches!(self.sources[source].kind, SourceKind::Table) => {
                    Some((source, column))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The column of a stored table that is written through this one; 1288 or 1348 if there is none.
    pub(super) fn target_column(&self, source: usize, column: usize, statement: &'static str) -> Result<(usize, usize)> {
        let from = &self.sources[source];
        let not_updatable = || Error::NotUpdatable { table: from.alias.clone(), statement };
        match (&from.kind, &from.view) {
            (SourceKind::Table, _) if !from.table.is_virtual || self.context.settings(&from.table).is_some() => {
                return Ok((source, column));
            }
            (_, Some(view)) => view.refuse_unless_updatable(&from.alias, statement)?,
            _ => return Err(not_updatable()),
        }
        let found = self.stored_column(source, column).filter(|(base, _)| !self.sources[*base].table.is_virtual);
        found.ok_or_else(|| match &from.kind {
            // It is a column of a derived table.
            SourceKind::Merged(exprs) if matches!(exprs[column].kind, ExprKind::Column { .. }) => not_updatable(),
            _ => Error::ColumnNotUpdatable(from.table.columns[column].name.clone()),
        })
    }

    /// The target of an INSERT into a view, which was noted last.
    pub(super) fn insert_view(
        &mut self,
        def: Arc<TableDef>,
        insert: &ast::Insert<'_>,
        names: Option<&[ast::ColumnName<'_>]>,
    ) -> Result<InsertTarget> {
        let name = insert.table.name;
        self.scope = super::Scope::new(Vec::new(), Clause::InsertList);
        let tree = self.view(Arc::clone(&def), name)?;
        let place = self.sources.len() - 1;
        let not_insertable = || Error::NotInsertable(name.to_owned());
        let from = self.sources[place].clone();
        let (SourceKind::Merged(exprs), Some(view)) = (&from.kind, &from.view) else { return Err(not_insertable()) };
        if names.is_none_or(<[_]>::is_empty) && view.tables.len() > 1 {
            return Err(view.problem(ViewProblem::WithoutColumns));
        }
        let given = match names {
            Some(names) => self.insert_columns(&def, name, names)?,
            None => (0..def.columns.len()).collect(),
        };
        self.need_targets(self.rights, &def, &given, if names.is_some() { Part::Column } else { Part::Each })?;
        let mut base = None;
        let mut columns = Vec::with_capacity(given.len());
        for &column in &given {
            let found = self.stored_column(place, column);
            let (source, column) = found.ok_or_else(|| match exprs[column].kind {
                ExprKind::Column { .. } => not_insertable(),
                _ => Error::ColumnNotUpdatable(def.columns[column].name.clone()),
            })?;
            if *base.get_or_insert(source) != source {
                return Err(view.problem(ViewProblem::SeveralTables));
            }
            columns.push(column);
        }
        let all: Vec<Option<(usize, usize)>> = (0..exprs.len()).map(|column| self.stored_column(place, column)).collect();
        let is_twice = all.iter().enumerate().any(|(n, column)| column.is_none() || all[..n].contains(column));
        let is_insertable = !is_twice && !view.has_other && view.updatable;
        let base = base.or(view.tables.first().copied()).filter(|_| is_insertable).ok_or_else(not_insertable)?;
        if insert.replace && view.tables.len() > 1 {
            return Err(view.problem(ViewProblem::DeleteFromJoin));
        }
        let is_query = matches!(insert.source, ast::InsertSource::Query(_));
        if !is_query && self.is_named_again(view, base) {
            return Err(not_insertable());
        }
        drop(tree);
        if !insert.ignore {
            self.refuse_missing(&self.sources[base].table, &columns, view)?;
        }
        let names = given.iter().map(|&column| def.columns[column].name.clone()).collect();
        self.view_target(place, base, columns, names)
    }

    /// Does the view read the table of a source a second time, under the same name?
    fn is_named_again(&self, view: &BoundView, base: usize) -> bool {
        let own = &self.sources[base];
        let is_same = |&other: &usize| {
            let from = &self.sources[other];
            other != base && from.table.id == own.table.id && from.alias == own.alias
        };
        view.named_again.contains(&base) || view.tables.iter().any(is_same)
    }

    /// The target of a LOAD DATA into a view, which was noted last. The view must have a single table; columns that are
    /// not loaded may be expressions.
    pub(super) fn load_view(
        &mut self,
        def: Arc<TableDef>,
        name: &str,
        names: Option<&[ast::ColumnName<'_>]>,
    ) -> Result<InsertTarget> {
        self.scope = super::Scope::new(Vec::new(), Clause::FieldList);
        self.view(Arc::clone(&def), name)?;
        let place = self.sources.len() - 1;
        let not_updatable = || Error::NotUpdatable { table: name.to_owned(), statement: "LOAD" };
        let view = self.sources[place].view.as_ref().ok_or_else(not_updatable)?;
        view.refuse_unless_updatable(name, "LOAD")?;
        let [base] = view.tables[..] else { return Err(not_updatable()) };
        let mut given = Vec::new();
        for column in names.unwrap_or_default() {
            let unknown = || Error::UnknownColumn { name: super::from::dotted(column), clause: Clause::FieldList };
            given.push(def.column_index(column.name).ok_or_else(unknown)?);
        }
        if names.is_none() {
            given.extend(0..def.columns.len());
        }
        self.need_targets(self.rights, &def, &given, if names.is_some() { Part::Column } else { Part::Each })?;
        let own = |&column: &usize| self.target_column(place, column, "LOAD").map(|(_, column)| column);
        let columns = given.iter().map(own).collect::<Result<Vec<usize>>>()?;
        let names = given.iter().map(|&column| def.columns[column].name.clone()).collect();
        self.view_target(place, base, columns, names)
    }

    /// The table `base` of the view `place` as a target, with the view over it.
    fn view_target(&mut self, place: usize, base: usize, columns: Vec<usize>, names: Vec<String>) -> Result<InsertTarget> {
        let from = self.sources[place].clone();
        let all: Vec<Option<(usize, usize)>> =
            (0..from.table.columns.len()).map(|column| self.stored_column(place, column)).collect();
        let (table, rights) = (Arc::clone(&self.sources[base].table), self.sources[base].rights);
        let check = self.view_check(place, base)?;
        let alias = self.sources[base].alias.clone();
        let view = Some(over_target(&from, &all, base));
        // The sources of the view are not visible from here on.
        self.sources.clear();
        self.subqueries.clear();
        self.stores.clear();
        Ok(InsertTarget { table, columns, names, alias, view, check, rights })
    }

    /// 1423: a column without a default is missing in the view.
    fn refuse_missing(&self, table: &TableDef, columns: &[usize], view: &BoundView) -> Result<()> {
        let is_missing = |(n, column): (usize, &types::schema::ColumnDef)| {
            let has_none = match column.default {
                ColumnDefault::None => !column.nullable,
                ColumnDefault::Dropped => true,
                _ => false,
            };
            has_none && !column.auto_increment && column.generated.is_none() && !columns.contains(&n)
        };
        if self.mode.strict && table.columns.iter().enumerate().any(is_missing) {
            Err(view.problem(ViewProblem::NoDefault))
        } else {
            Ok(())
        }
    }

    /// Is a view with this query updatable? One of its columns is a stored column, and no subquery reads a table of
    /// FROM.
    fn is_updatable(&self, query: &Query<'_>, bound: &Bound) -> bool {
        let mut names = Vec::new();
        let joined = match &query.body {
            ast::QueryBody::Select(select) => joined_plainly(select.from, &mut names),
            ast::QueryBody::Table(name) => {
                names.push(name);
                Some(())
            }
            _ => None,
        };
        let Bound::Select(select) = bound else { return false };
        let times_written = |table: &TableDef| {
            let database =
                |name: &ast::ObjectName<'_>| name.database.or(self.context.database()) == Some(table.database.as_str());
            names.iter().filter(|name| name.name == table.name && database(name)).count()
        };
        let (in_from, in_subqueries) = self.named.split_at(select.named_in_from);
        let own: Vec<&TableDef> = in_from
            .iter()
            .filter(|named| named.through.is_none() && named.table.view.is_none())
            .map(|named| &*named.table)
            .collect();
        let is_read_again = own.iter().any(|table| {
            let (written, all) = (times_written(table), own.iter().filter(|other| other.id == table.id).count());
            written > 0 && (all > written || names_table(in_subqueries, table))
        });
        joined.is_some() && !is_read_again && self.shows_stored(select)
    }

    /// Does the select list have a stored column?
    fn shows_stored(&self, select: &BoundSelect) -> bool {
        let is_stored = |expr: &Expr| match expr.kind {
            ExprKind::Column { source, .. } => {
                let from = &self.sources[source];
                matches!(from.kind, SourceKind::Table) && !from.nullable
            }
            _ => false,
        };
        select.project[..select.visible].iter().any(is_stored)
    }

    // ---- notes for definitions ----

    /// The qualified name of a column, as it is printed for every session.
    fn printed_column(&self, source: usize, column: usize) -> String {
        let from = &self.sources[source];
        let name = quoted_name(&from.table.columns[column].name);
        let is_view = from.view.is_some() || !from.table.database.is_empty() && !matches!(from.kind, SourceKind::Table);
        match from.table.database.as_str() {
            database if !database.is_empty() && (is_view || from.alias == from.table.name) => {
                format!("{}.{}.{name}", quoted_name(database), quoted_name(&from.alias))
            }
            _ => format!("{}.{name}", quoted_name(&from.alias)),
        }
    }

    pub(super) fn note_column(&mut self, name: &str, source: usize, column: usize) {
        if let Some(mut notes) = self.notes.take() {
            notes.names.insert(address(name), NameNote::Column(self.printed_column(source, column)));
            self.notes = Some(notes);
        }
    }

    pub(super) fn note_alias(&mut self, name: &str) {
        if let Some(notes) = &mut self.notes {
            notes.names.insert(address(name), NameNote::Alias);
        }
    }

    pub(super) fn note_expanded(&mut self, source: usize, column: usize) {
        if let Some(mut notes) = self.notes.take() {
            notes.expanded.push((self.printed_column(source, column), self.sources[source].table.columns[column].name.clone()));
            self.notes = Some(notes);
        }
    }

    pub(super) fn note_star(&mut self, item: &SelectItem<'_>) {
        if let Some(notes) = &mut self.notes {
            let columns = std::mem::take(&mut notes.expanded);
            notes.stars.insert(address(item), columns);
        }
    }

    /// Notes the columns of `TABLE t`, which has no written `*`.
    pub(super) fn note_table_star(&mut self, item: &SelectItem<'_>, name: &str) {
        if let Some(notes) = &mut self.notes
            && let Some(columns) = notes.stars.remove(&address(item))
        {
            notes.stars.insert(address(name), columns);
        }
    }

    pub(super) fn note_joined(&mut self, join: &Join<'_>, left: (usize, usize), right: (usize, usize)) {
        if let Some(mut notes) = self.notes.take() {
            let mut pair = (self.printed_column(left.0, left.1), self.printed_column(right.0, right.1));
            if join.kind == ast::JoinKind::Right {
                std::mem::swap(&mut pair.0, &mut pair.1);
            }
            notes.joins.entry(address(join)).or_default().push(pair);
            self.notes = Some(notes);
        }
    }
}

/// The view over its written table as source 0; columns of its other tables have no names.
fn over_target(from: &Source, all: &[Option<(usize, usize)>], base: usize) -> Source {
    let SourceKind::Merged(exprs) = &from.kind else { unreachable!("the caller has looked") };
    let mut table = TableDef::clone(&from.table);
    let is_own = |n: usize| all[n].is_some_and(|(source, _)| source == base);
    let mut kept = (0..exprs.len()).map(is_own);
    table.columns.retain(|_| kept.next().unwrap_or(false));
    let own = exprs.iter().enumerate().filter(|(n, _)| is_own(*n)).map(|(_, expr)| {
        let mut expr = expr.clone();
        expr.map_sources(&|_| 0);
        expr
    });
    let kind = SourceKind::Merged(own.collect());
    let derivations = from.derivations.iter().enumerate().filter(|(n, _)| is_own(*n)).map(|(_, derivation)| *derivation);
    Source { table: Arc::new(table), kind, derivations: derivations.collect(), ..from.clone() }
}
