//! The other tables that a definition affects, on the other side of foreign keys, and their new definitions.
//!
//! These tables are locked together with the definition's own (`Database::lock_tables`), and looked up again
//! afterwards.

use super::{AlterAction, LockedTables, missing_table};
use super::{checks, foreign};
use crate::catalog::StoredTable;
use crate::database::Published;
use crate::{Error, Result, Table};
use std::collections::HashMap;
use std::sync::Arc;
use types::schema::{TableDef, TableId};

/// The tables of these names; a view is none.
pub(super) fn by_names(
    names: &[(String, String)],
    missing: impl Fn(&(String, String)) -> Error,
) -> impl Fn(&Published) -> Result<Vec<Arc<Table>>> {
    move |published| {
        let find = |name: &(String, String)| {
            let def = published.schema.table(&name.0, &name.1).filter(|def| def.view.is_none()).ok_or_else(|| missing(name))?;
            published.tables.get(&def.id).cloned().ok_or_else(|| missing(name))
        };
        names.iter().map(find).collect()
    }
}

/// The tables that an ALTER TABLE locks: its own, the parents of new foreign keys, and, when names change, the children.
pub(super) fn alter_related(published: &Published, names: &(String, String), actions: &[AlterAction]) -> Result<Vec<Arc<Table>>> {
    let missing = |name: &(String, String)| match published.schema.table(&name.0, &name.1) {
        Some(_) => Error::NotBaseTable { database: name.0.clone(), table: name.1.clone() },
        None => missing_table(name),
    };
    let mut tables = by_names(std::slice::from_ref(names), missing)(published)?;
    let own = tables[0].id();
    for action in actions {
        match action {
            AlterAction::AddForeignKey { key } => {
                let parent = published.schema.table(&key.parent_database, &key.parent_table);
                tables.extend(parent.and_then(|def| published.tables.get(&def.id).cloned()));
            }
            AlterAction::RenameTable { database, name } => {
                tables.extend(foreign::referencing(published, &names.0, &names.1, Some(own)));
                tables.extend(foreign::referencing(published, database, name, Some(own)));
            }
            AlterAction::RenameColumn { .. } | AlterAction::ChangeColumn { .. } => {
                tables.extend(foreign::referencing(published, &names.0, &names.1, Some(own)));
            }
            _ => {}
        }
    }
    Ok(tables)
}

/// The children among the locked tables whose definitions change with that of their parent.
pub(super) fn followed_children<'l>(
    locked: &'l LockedTables,
    old: &Table,
    new: &TableDef,
    renamed: &[Option<String>],
) -> Vec<(StoredTable, &'l Arc<Table>)> {
    let others = locked.tables.iter().filter(|table| table.id() != old.id());
    let follow = |table: &'l Arc<Table>| {
        let def = foreign::follow_parent(table.def(), old.def(), new, renamed)?;
        Some((StoredTable { def: Arc::new(def), blob_tree: table.blob_tree }, table))
    };
    others.filter_map(follow).collect()
}

/// The definitions that RENAME TABLE changes: of the tables, and of the foreign keys that reference them.
pub(super) fn renamed_definitions<'l>(
    locked: &'l LockedTables,
    moved: &HashMap<TableId, (String, String)>,
) -> Vec<(StoredTable, &'l Arc<Table>)> {
    let mut changed = Vec::new();
    for table in &locked.tables {
        let mut def = TableDef::clone(table.def());
        for key in &mut def.foreign_keys {
            let parent = locked.tables.iter().find(|parent| key.is_of(&parent.def().database, &parent.def().name));
            if let Some((database, name)) = parent.and_then(|parent| moved.get(&parent.id())) {
                (key.parent_database, key.parent_table) = (database.clone(), name.clone());
            }
        }
        if let Some((database, name)) = moved.get(&table.id()) {
            (def.database, def.name) = (database.clone(), name.clone());
            foreign::rename_generated(&mut def, &table.def().name);
            checks::rename_generated(&mut def, &table.def().name);
            foreign::sort(&mut def.foreign_keys);
        } else if def.foreign_keys == table.def().foreign_keys {
            continue;
        }
        changed.push((StoredTable { def: Arc::new(def), blob_tree: table.blob_tree }, table));
    }
    changed
}

/// Names of foreign keys stay unique, and a key that waits for one of the new names gets a parent that fits it.
pub(super) fn check_renamed(
    published: &Published,
    changed: &[(StoredTable, &Arc<Table>)],
    moved: &HashMap<TableId, (String, String)>,
) -> Result<()> {
    for (stored, table) in changed.iter().filter(|(_, table)| moved.contains_key(&table.id())) {
        foreign::check_names(published, &stored.def)?;
        checks::check_names(published, &stored.def)?;
        let is_moved = |child: &TableDef| changed.iter().any(|(other, _)| other.def.id == child.id);
        for (child, key) in foreign::keys_to(published, &stored.def.database, &stored.def.name) {
            if child.id != table.id() && !is_moved(child) {
                foreign::check_parent(child, key, &stored.def)?;
            }
        }
    }
    Ok(())
}
