//! The foreign keys that a plan affects, found once when it is prepared.
//!
//! A node is a table, with the changes that the plan may make to its rows: directly, or by the action of a key. From there the keys are
//! followed: up to the parents of rows that are inserted or changed, down to the children of rows that are deleted or changed. Keys that a
//! statement cannot affect are left out, so an UPDATE of columns without keys is prepared as if there were none.

use crate::dml::RowRules;
use expr::Result;
use sql::plan::{InsertPlan, Plan};
use std::sync::Arc;
use table::ddl::constraint_text;
use table::{Database, Pauses, Reference, Table};
use types::Value;
use types::schema::{ColumnDef, ReferenceAction, TableId};

/// The foreign keys of a plan.
pub(crate) struct ForeignKeys {
    nodes: Vec<Node>,
}

/// A table on either side of a key.
pub(crate) struct Node {
    pub table: Arc<Table>,
    pub parents: Vec<ParentKey>,
    pub children: Vec<ChildKey>,
    /// The indexes of `parents`.
    pub pauses: Pauses,
    /// The columns that keys read of its rows.
    pub wanted: Vec<bool>,
    /// Computes the generated columns of rows that a key changes.
    pub rules: Option<RowRules>,
    does: Does,
}

/// A key of a table, towards its parent.
pub(crate) struct ParentKey {
    /// In the table's keys.
    pub key: usize,
    /// The index whose entries the key checks.
    pub index: usize,
    /// `None`: the parent does not exist, so that only NULL is allowed.
    pub parent: Option<(Arc<Table>, Reference)>,
}

/// A key of another table (or of this one), towards the child.
pub(crate) struct ChildKey {
    pub node: usize,
    /// In the child's keys.
    pub key: usize,
    pub reference: Reference,
    pub on_delete: ReferenceAction,
    pub on_update: ReferenceAction,
}

/// The changes that may happen to the rows of a table.
#[derive(Clone, Default, PartialEq, Eq)]
struct Does {
    inserts: bool,
    deletes: bool,
    /// The columns that change, if any.
    updates: Vec<bool>,
}

impl Does {
    fn changes(&self) -> bool {
        self.inserts || self.deletes || self.updates.contains(&true)
    }

    fn updates_any(&self, columns: &[usize]) -> bool {
        columns.iter().any(|column| self.updates.get(*column).copied().unwrap_or(false))
    }

    /// Adds changes; `false`: all of them were known.
    fn add(&mut self, other: &Does) -> bool {
        let before = self.clone();
        self.inserts |= other.inserts;
        self.deletes |= other.deletes;
        if self.updates.len() < other.updates.len() {
            self.updates.resize(other.updates.len(), false);
        }
        self.updates.iter_mut().zip(&other.updates).for_each(|(mine, theirs)| *mine |= theirs);
        *self != before
    }
}

impl ForeignKeys {
    pub fn node(&self, node: usize) -> &Node {
        &self.nodes[node]
    }

    pub fn node_of(&self, table: TableId) -> Option<usize> {
        self.nodes.iter().position(|node| node.table.id() == table)
    }

    /// Every table whose rows may be read or changed.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        let parents = self.nodes.iter().flat_map(|node| &node.parents).filter_map(|key| key.parent.as_ref());
        self.nodes.iter().map(|node| &node.table).chain(parents.map(|(table, _)| table))
    }

    /// May rows of the table change?
    pub fn changes(&self, table: TableId) -> bool {
        self.nodes.iter().any(|node| node.table.id() == table && node.does.changes())
    }
}

impl Node {
    /// A key of this table, as messages show it.
    #[cold]
    pub fn constraint(&self, key: usize) -> String {
        constraint_text(self.table.def(), &self.table.def().foreign_keys[key])
    }
}

impl ParentKey {
    /// Do new values of a row affect the key?
    pub fn is_changed(&self, changes: &[(usize, Value<'_>)]) -> bool {
        match &self.parent {
            Some((_, reference)) => changes.iter().any(|(column, _)| reference.columns.contains(column)),
            None => true,
        }
    }
}

impl ChildKey {
    /// Does the parent's row get another key with these new values?
    pub fn is_moved(&self, changes: &[(usize, Value<'_>)]) -> bool {
        changes.iter().any(|(column, _)| self.reference.parent_columns.contains(column))
    }
}

/// The keys that a plan affects; `None` for most plans. `resolved` returns the open table of a definition, the one that the plan uses.
pub(crate) fn for_plan(
    database: &Database,
    plan: &Plan,
    resolved: impl Fn(TableId) -> Option<Arc<Table>>,
) -> Result<Option<Box<ForeignKeys>>> {
    let mut finder = Finder { database, nodes: Vec::new(), queue: Vec::new() };
    for (id, does) in roots(plan) {
        let Some(table) = resolved(id) else { continue };
        let node = finder.node(&table);
        finder.add(node, &does(&table));
    }
    finder.follow();
    let mut keys = ForeignKeys { nodes: finder.finish() };
    for node in keys.nodes.iter_mut().filter(|node| node.table.def().has_row_rules()) {
        node.rules = RowRules::of(node.table.def(), None, None)?;
        // Their expressions may read any column.
        node.wanted.fill(true);
    }
    let any = keys.nodes.iter().any(|node| !node.parents.is_empty() || !node.children.is_empty());
    Ok(any.then(|| Box::new(keys)))
}

type Root<'p> = (TableId, Box<dyn Fn(&Table) -> Does + 'p>);

/// The tables that a plan writes, and how.
fn roots(plan: &Plan) -> Vec<Root<'_>> {
    let delete = || Box::new(|_: &Table| Does { deletes: true, ..Does::default() });
    match plan {
        Plan::Query(_) => Vec::new(),
        Plan::Insert(plan) => vec![(plan.table.id, Box::new(|table: &Table| inserts(plan, table)))],
        Plan::Update(plan) => {
            let assigned = || plan.assignments.iter().map(|a| a.column);
            vec![(plan.scan.table.id, Box::new(move |table: &Table| updates(table, assigned())))]
        }
        Plan::Delete(plan) => vec![(plan.scan.table.id, delete())],
        Plan::Change(plan) => {
            let root = |target: &'_ sql::plan::ChangeTarget| -> Root<'_> {
                if plan.update {
                    let columns: Vec<usize> = target.assignments.iter().map(|a| a.column).collect();
                    (target.table.id, Box::new(move |table: &Table| updates(table, columns.iter().copied())))
                } else {
                    (target.table.id, delete())
                }
            };
            plan.targets.iter().map(root).collect()
        }
    }
}

fn inserts(plan: &InsertPlan, table: &Table) -> Does {
    let mut does = Does { inserts: true, deletes: plan.replace, ..Does::default() };
    if !plan.on_duplicate.is_empty() {
        does.add(&updates(table, plan.on_duplicate.iter().map(|a| a.column)));
    }
    does
}

/// An UPDATE of these columns, of columns that change with every update, and of columns that may change with others.
fn updates(table: &Table, assigned: impl Iterator<Item = usize>) -> Does {
    let follows = |column: &ColumnDef| column.on_update_now || column.generated.is_some();
    let mut updates: Vec<bool> = table.def().columns.iter().map(follows).collect();
    assigned.for_each(|column| updates[column] = true);
    Does { updates, ..Does::default() }
}

struct Finder<'d> {
    database: &'d Database,
    nodes: Vec<Node>,
    /// Nodes with changes that were not known before.
    queue: Vec<usize>,
}

impl Finder<'_> {
    fn node(&mut self, table: &Arc<Table>) -> usize {
        self.nodes.iter().position(|node| node.table.id() == table.id()).unwrap_or_else(|| {
            self.nodes.push(Node {
                table: table.clone(),
                parents: Vec::new(),
                children: Vec::new(),
                pauses: Pauses::default(),
                wanted: vec![false; table.def().columns.len()],
                rules: None,
                does: Does::default(),
            });
            self.nodes.len() - 1
        })
    }

    fn add(&mut self, node: usize, does: &Does) {
        if self.nodes[node].does.add(does) {
            self.queue.push(node);
        }
    }

    /// Passes changes on along the keys until there are no new ones. It ends: tables are few, and the changes of each only grow.
    fn follow(&mut self) {
        while let Some(parent) = self.queue.pop() {
            let does = self.nodes[parent].does.clone();
            for (child, key) in self.keys_below(parent) {
                let definition = &child.def().foreign_keys[key];
                let is_moved = does.updates_any(&definition.columns_in(self.nodes[parent].table.def()).unwrap_or_default());
                let mut passed = Does::default();
                let changes = |action: ReferenceAction, happens: bool| happens && action.changes_child();
                if does.deletes && definition.on_delete == ReferenceAction::Cascade {
                    passed.deletes = true;
                }
                let set_null = does.deletes && definition.on_delete == ReferenceAction::SetNull;
                if set_null || changes(definition.on_update, is_moved) {
                    passed.add(&updates(&child, definition.columns.iter().copied()));
                    // ON UPDATE CURRENT_TIMESTAMP applies to statements only.
                    passed.updates = (0..passed.updates.len()).map(|column| definition.columns.contains(&column)).collect();
                }
                if does.deletes || is_moved {
                    let node = self.node(&child);
                    self.add(node, &passed);
                }
            }
        }
    }

    /// The keys that reference a node's table: the child, and the key's place in it.
    fn keys_below(&self, parent: usize) -> Vec<(Arc<Table>, usize)> {
        let def = self.nodes[parent].table.def();
        let mut keys = Vec::new();
        for child in self.database.children_of(def.id) {
            let numbers =
                (0..child.def().foreign_keys.len()).filter(|n| child.def().foreign_keys[*n].is_of(&def.database, &def.name));
            keys.extend(numbers.map(|number| (child.clone(), number)));
        }
        keys
    }

    fn finish(mut self) -> Vec<Node> {
        for node in 0..self.nodes.len() {
            self.find_parents(node);
            self.find_children(node);
        }
        self.nodes
    }

    fn find_parents(&mut self, node: usize) {
        let table = self.nodes[node].table.clone();
        let does = self.nodes[node].does.clone();
        for (number, key) in table.def().foreign_keys.iter().enumerate() {
            if !does.inserts && !does.updates_any(&key.columns) {
                continue;
            }
            // The index exists as long as the key does (`table::ddl`, F1).
            let Some(index) = table.def().index_leading_with(&key.columns) else { continue };
            let open = if key.is_of(&table.def().database, &table.def().name) {
                Some(table.clone())
            } else {
                self.database.table_by_name(&key.parent_database, &key.parent_table)
            };
            let parent = open.and_then(|parent| {
                let reference = Reference::new(table.def(), key, parent.def())?;
                Some((parent, reference))
            });
            let node = &mut self.nodes[node];
            key.columns.iter().for_each(|column| node.wanted[*column] = true);
            node.pauses.add(index);
            node.parents.push(ParentKey { key: number, index, parent });
        }
    }

    fn find_children(&mut self, node: usize) {
        let does = self.nodes[node].does.clone();
        for (child, number) in self.keys_below(node) {
            let key = &child.def().foreign_keys[number];
            let parent = self.nodes[node].table.clone();
            let Some(reference) = Reference::new(child.def(), key, parent.def()) else { continue };
            if !does.deletes && !does.updates_any(&reference.parent_columns) {
                continue;
            }
            // `follow` has made it a node, unless it was created since: then the plan is stale before it runs.
            let Some(below) = self.nodes.iter().position(|node| node.table.id() == child.id()) else { continue };
            reference.columns.iter().for_each(|column| self.nodes[below].wanted[*column] = true);
            reference.parent_columns.iter().for_each(|column| self.nodes[node].wanted[*column] = true);
            let (on_delete, on_update) = (key.on_delete, key.on_update);
            self.nodes[node].children.push(ChildKey { node: below, key: number, reference, on_delete, on_update });
        }
    }
}
