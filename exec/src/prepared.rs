//! A prepared plan: its tables are resolved, and the way to run it is chosen. Immutable and shared by executions.
//!
//! P1: a plan addresses columns and indexes by position, so each handle ([`Table`]) has exactly the definition that the plan was made
//!     with, and not a definition of the same table that was published later.
//! P2: there is one handle for each table. An execution takes the shared metadata lock, and then checks that the handle is
//!     still the published one (`server::session::transaction`); so rows are read and written by the layout that the plan knows.

use crate::dml::{ColumnDefaultValue, ForeignKeys, RowRules, ViewJudge, default_of_column, foreign_keys_of_plan};
use expr::{Error, Result};
use sql::plan::{ChangeTarget, InsertPlan, InsertSource, Node, OutputColumn, Parts, Plan, Scan, ViewCheck};
use std::cell::RefCell;
use std::sync::Arc;
use table::{Table, TableUse};
use types::schema::{TableDef, TableId};

/// A plan and everything that can be computed once. Valid for the plan's schema version.
pub struct Prepared {
    pub(crate) plan: Arc<Plan>,
    /// By source of the query, or of an UPDATE or DELETE (whose table is source 0). `None` is a virtual table.
    pub(crate) sources: Vec<Option<Arc<Table>>>,
    /// The same, for ON DUPLICATE KEY UPDATE with subqueries.
    pub(crate) duplicate_sources: Vec<Option<Arc<Table>>>,
    /// The table an INSERT writes, and how.
    pub(crate) target: Option<(Arc<Table>, InsertShape)>,
    /// The foreign keys that a data change affects.
    pub(crate) foreign_keys: Option<Box<ForeignKeys>>,
    /// The rules of the tables that are written, if they have any.
    rules: Vec<(TableId, RowRules)>,
    /// The conditions of views on written rows, if they need more than the row.
    judges: Vec<ViewJudge>,
    /// Every stored table, once, in the order in which their metadata locks are taken.
    tables: Vec<Arc<Table>>,
    /// The use of each of them.
    uses: Vec<TableUse>,
    calls_programs: bool,
}

impl Prepared {
    /// Resolves the plan's tables. [`Error::TableChanged`]: a table is gone or has another definition; bind and plan again.
    pub fn new(database: &table::Database, plan: Arc<Plan>) -> Result<Prepared> {
        // Each table once, so that the statement has one handle of it (P2), even if the table is reopened meanwhile.
        let resolved = RefCell::new(Vec::<Arc<Table>>::new());
        let resolve = |def: &TableDef| {
            let mut resolved = resolved.borrow_mut();
            let known = resolved.iter().find(|table| table.id() == def.id);
            let found = known.cloned().or_else(|| database.table(def.id)).filter(|table| std::ptr::eq(&**table.def(), def));
            let table = found.ok_or_else(|| Error::TableChanged { table: format!("{}.{}", def.database, def.name) })?;
            if known.is_none() {
                resolved.push(Arc::clone(&table));
            }
            Ok(table)
        };
        let mut prepared = Prepared {
            plan: plan.clone(),
            sources: Vec::new(),
            duplicate_sources: Vec::new(),
            target: None,
            foreign_keys: None,
            rules: Vec::new(),
            judges: Vec::new(),
            tables: Vec::new(),
            uses: Vec::new(),
            calls_programs: false,
        };
        match &*plan {
            Plan::Query(query) => prepared.sources = resolve_trees(&plan, &query.parts, &resolve)?,
            Plan::Insert(insert) => {
                prepared.target = Some((resolve(&insert.table)?, InsertShape::new(insert)?));
                let parts = match &insert.source {
                    InsertSource::Query(query) => &query.parts,
                    InsertSource::Values(_) | InsertSource::File(_) => &insert.parts,
                };
                prepared.sources = resolve_trees(&plan, parts, &resolve)?;
                // Values that read their own row, and values of LOAD DATA, see the row as the first source.
                let sees_row = insert.reads_row && !parts.subqueries.is_empty() || matches!(insert.source, InsertSource::File(_));
                let target = || prepared.target.as_ref().map(|(table, _)| Arc::clone(table));
                if sees_row {
                    prepared.sources[0] = target();
                }
                if !insert.duplicate_parts.subqueries.is_empty() {
                    let mut sources = resolve_roots(insert.duplicate_parts.roots(), insert.duplicate_parts.sources, &resolve)?;
                    sources[0] = target();
                    prepared.duplicate_sources = sources;
                }
            }
            Plan::Update(update) => {
                prepared.sources = resolve_trees(&plan, &update.parts, &resolve)?;
                if !update.scan.table.is_virtual {
                    prepared.sources[0] = Some(resolve(&update.scan.table)?);
                }
            }
            Plan::Delete(delete) => {
                prepared.sources = resolve_trees(&plan, &delete.parts, &resolve)?;
                prepared.sources[0] = Some(resolve(&delete.scan.table)?);
            }
            Plan::Change(change) => {
                prepared.sources = resolve_trees(&plan, &change.parts, &resolve)?;
                // A plan that reads nothing does not scan its target.
                for target in &change.targets {
                    prepared.sources[target.source] = Some(resolve(&target.table)?);
                }
            }
        }
        // Views are locked like tables, because the plan contains their queries.
        for named in plan.named().flatten().filter(|named| named.table.view.is_some()) {
            let view = resolve(&named.table)?;
            if !prepared.tables.iter().any(|t| t.id() == view.id()) {
                prepared.tables.push(view);
            }
        }
        prepared.judges = judges_of(&plan, &resolve)?;
        let judged = prepared.judges.iter().flat_map(|judge| &judge.tables);
        let read = prepared.sources.iter().chain(&prepared.duplicate_sources).chain(judged).flatten();
        for table in read.chain(prepared.target.as_ref().map(|(table, _)| table)) {
            if !prepared.tables.iter().any(|t| t.id() == table.id()) {
                prepared.tables.push(table.clone());
            }
        }
        prepared.add_foreign_keys(database)?;
        prepared.add_rules()?;
        // DDL takes several locks in this order, too.
        prepared.tables.sort_by_key(|table| table.id());
        prepared.uses = prepared.tables.iter().map(|table| prepared.use_of(table)).collect();
        let fires = prepared.changed_tables().any(|table| !table.triggers.is_empty());
        let calls = |parts: &Parts| parts.subqueries.iter().any(|subquery| subquery.call.is_some());
        prepared.calls_programs = fires || plan.all_parts().any(calls);
        Ok(prepared)
    }

    /// Called after the plan's own tables are resolved: a definition that adds a key to one of them reopens it (`table::ddl::foreign`, F2).
    fn add_foreign_keys(&mut self, database: &table::Database) -> Result<()> {
        let resolved = |id| self.tables.iter().find(|table| table.id() == id).cloned();
        let keys = foreign_keys_of_plan(database, &self.plan, resolved)?;
        for table in keys.iter().flat_map(|keys| keys.tables()) {
            match self.tables.iter().find(|other| other.id() == table.id()) {
                None => self.tables.push(table.clone()),
                Some(other) if !Arc::ptr_eq(other, table) => {
                    let def = table.def();
                    return Err(Error::TableChanged { table: format!("{}.{}", def.database, def.name) });
                }
                Some(_) => {}
            }
        }
        self.foreign_keys = keys;
        Ok(())
    }

    fn add_rules(&mut self) -> Result<()> {
        // An INSERT has the rules of its target in its shape.
        if !matches!(*self.plan, Plan::Update(_) | Plan::Change(_)) {
            return Ok(());
        }
        // The conditions of the statement itself on rows of its tables.
        type Asked<'p> = (TableId, Option<&'p ViewCheck>, Option<&'p [usize]>);
        let asked: Vec<Asked<'_>> = match &*self.plan {
            Plan::Update(update) => {
                vec![(update.scan.table.id, update.view_check.as_deref(), update.partitions.as_deref())]
            }
            Plan::Change(change) => {
                let of = |target: &'_ ChangeTarget| target.view_check.is_some() || target.partitions.is_some();
                let asking = change.targets.iter().filter(|target| of(target));
                asking.map(|target| (target.table.id, target.view_check.as_deref(), target.partitions.as_deref())).collect()
            }
            _ => Vec::new(),
        };
        for table in self.tables.iter().filter(|table| table.def().view.is_none()) {
            let own = asked.iter().find(|(id, ..)| *id == table.id());
            let (check, partitions) = own.map_or((None, None), |(_, check, partitions)| (*check, *partitions));
            if let Some(rules) = RowRules::of(table.def(), check, partitions)? {
                self.rules.push((table.id(), rules));
            }
        }
        Ok(())
    }

    /// The rules of a table that the plan writes.
    #[inline]
    pub(crate) fn rules(&self, table: &Table) -> Option<&RowRules> {
        if self.rules.is_empty() {
            return None;
        }
        self.rules.iter().find(|(id, _)| *id == table.id()).map(|(_, rules)| rules)
    }

    /// The condition of a view on rows of the table, if it needs more than the row.
    #[inline]
    pub(crate) fn judge(&self, table: &Table) -> Option<&ViewJudge> {
        if self.judges.is_empty() {
            return None;
        }
        self.judges.iter().find(|judge| judge.target == table.id())
    }

    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The result's columns; empty for a statement without a result.
    pub fn columns(&self) -> &[OutputColumn] {
        match &*self.plan {
            Plan::Query(query) => &query.columns,
            _ => &[],
        }
    }

    /// Does it call stored functions or fire triggers? Then it needs a host that runs programs.
    pub fn calls_programs(&self) -> bool {
        self.calls_programs
    }

    /// Is it a data change without IGNORE, in which strict mode turns warnings into errors?
    pub fn may_be_strict(&self) -> bool {
        match &*self.plan {
            Plan::Query(_) => false,
            Plan::Insert(insert) => !insert.ignore,
            Plan::Update(update) => !update.ignore,
            Plan::Delete(delete) => !delete.ignore,
            Plan::Change(change) => !change.ignore,
        }
    }

    /// Does the statement itself read or change the table, not only for foreign keys?
    pub fn uses(&self, id: TableId) -> bool {
        let read = self.sources.iter().chain(&self.duplicate_sources).flatten();
        read.chain(self.target.iter().map(|(table, _)| table)).any(|table| table.id() == id)
    }

    /// The tables whose rows it changes, without actions of foreign keys.
    pub fn changed_tables(&self) -> impl Iterator<Item = &Arc<TableDef>> {
        let (one, several) = match &*self.plan {
            Plan::Query(_) => (None, &[][..]),
            Plan::Insert(insert) => (Some(&insert.table), &[][..]),
            Plan::Update(update) => (Some(&update.scan.table), &[][..]),
            Plan::Delete(delete) => (Some(&delete.scan.table), &[][..]),
            Plan::Change(change) => (None, &change.targets[..]),
        };
        one.into_iter().chain(several.iter().map(|target| &target.table))
    }

    /// Does it lock the rows that it reads exclusively (FOR UPDATE)?
    pub fn locks_for_change(&self) -> bool {
        matches!(&*self.plan, Plan::Query(query) if query.locks_for_change())
    }

    fn use_of(&self, table: &Table) -> TableUse {
        let by_key = || self.foreign_keys.as_ref().is_some_and(|keys| keys.changes(table.id()));
        let is_changed = || self.changed_tables().any(|changed| changed.id == table.id()) || by_key();
        if table.def().view.is_none() && (self.locks_for_change() || is_changed()) { TableUse::Writes } else { TableUse::Reads }
    }

    /// Every stored table that the plan uses, once; the caller takes their metadata locks.
    pub fn tables(&self) -> &[Arc<Table>] {
        &self.tables
    }

    /// The use of each of [`Self::tables`].
    pub fn table_uses(&self) -> &[TableUse] {
        &self.uses
    }
}

/// The sources of the columns of inserted rows.
pub(crate) struct InsertShape {
    /// For each column of the table, its position in the given rows.
    pub given: Vec<Option<usize>>,
    pub defaults: Vec<ColumnDefaultValue>,
    /// Some default is an expression.
    pub has_expressions: bool,
    pub rules: Option<RowRules>,
}

impl InsertShape {
    fn new(plan: &InsertPlan) -> Result<Self> {
        let columns = &plan.table.columns;
        let mut given = vec![None; columns.len()];
        plan.columns.iter().enumerate().for_each(|(n, column)| given[*column] = Some(n));
        let defaults: Vec<_> = (0..columns.len()).map(|column| default_of_column(&plan.table, column)).collect::<Result<_>>()?;
        let has_expressions = defaults.iter().any(|default| matches!(default, ColumnDefaultValue::Expression(_)));
        let rules = RowRules::of(&plan.table, plan.view_check.as_deref(), plan.partitions.as_deref())?;
        Ok(Self { given, defaults, has_expressions, rules })
    }
}

fn judges_of(plan: &Plan, resolve: &impl Fn(&TableDef) -> Result<Arc<Table>>) -> Result<Vec<ViewJudge>> {
    let mut asking: Vec<(&Arc<TableDef>, &ViewCheck)> = Vec::new();
    match plan {
        Plan::Insert(insert) => asking.extend(insert.view_check.iter().map(|check| (&insert.table, &**check))),
        Plan::Update(update) => asking.extend(update.view_check.iter().map(|check| (&update.scan.table, &**check))),
        Plan::Change(change) => {
            asking.extend(change.targets.iter().filter_map(|target| Some((&target.table, target.view_check.as_deref()?))));
        }
        Plan::Query(_) | Plan::Delete(_) => {}
    }
    let judge = |(table, check): (&Arc<TableDef>, &ViewCheck)| {
        let mut tables = resolve_roots(check.parts.roots(), check.parts.sources.max(1), resolve)?;
        tables[0] = Some(resolve(table)?);
        Ok(ViewJudge { target: table.id, check: check.clone(), tables })
    };
    asking.into_iter().filter(|(_, check)| !check.is_plain()).map(judge).collect()
}

/// The tables of all scans of a plan's trees, by source.
fn resolve_trees(
    plan: &Plan,
    parts: &Parts,
    resolve: &impl Fn(&TableDef) -> Result<Arc<Table>>,
) -> Result<Vec<Option<Arc<Table>>>> {
    let targets = match plan {
        Plan::Change(change) => change.targets.iter().map(|target| target.source + 1).max().unwrap_or(0),
        _ => 0,
    };
    resolve_roots(plan.main().into_iter().chain(parts.roots()), parts.sources.max(targets), resolve)
}

/// The tables of all scans of these trees, by source; for at least `count` sources.
fn resolve_roots<'n>(
    roots: impl Iterator<Item = &'n Node>,
    count: usize,
    resolve: &impl Fn(&TableDef) -> Result<Arc<Table>>,
) -> Result<Vec<Option<Arc<Table>>>> {
    let mut scans: Vec<&Scan> = Vec::new();
    for root in roots {
        root.walk_scans(&mut |scan| scans.push(scan));
    }
    let count = scans.iter().map(|scan| scan.source + 1).max().unwrap_or(0).max(count);
    let mut sources = vec![None; count];
    for scan in scans {
        if !scan.table.is_virtual {
            sources[scan.source] = Some(resolve(&scan.table)?);
        }
    }
    Ok(sources)
}

/// The scan and the select list of a query that consists of only these two.
pub(crate) fn simple_scan(root: &Node) -> Option<(&Scan, &[expr::Expr])> {
    let Node::Project { input, exprs } = root else { return None };
    match &**input {
        Node::Scan(scan) if !scan.table.is_virtual => Some((scan, exprs)),
        _ => None,
    }
}
