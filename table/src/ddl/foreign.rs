//! Definitions of foreign keys: their names, their indexes, and the rules for parent and child.
//!
//! The child's definition contains the key; the parent's does not mention it. The parent of a key may be missing: with
//! `foreign_key_checks = 0` children are created before parents (a dump has its tables in any order), and parents are
//! dropped before children.
//!
//! 1. A key gets a name (`t_ibfk_1`) and, if no index of the child begins with its columns, an index
//!    (`generated_index`).
//! 2. `check_parent`: the referenced columns exist, have the same types, and are a unique key.
//! 3. Every change of a table checks the keys on both of its sides (`check_altered`, `check_dropped`).
//!
//! F1: a key whose parent exists matches it: columns, types, the parent's unique key and the child's index.
//! F2: adding a key to a child, or a parent to a key, holds both metadata locks exclusively and opens both tables anew.
//!     So a statement prepared before finds that it is stale, and one prepared afterwards knows the key.
//! F3: removing a key, a child or a parent holds the metadata lock of that table exclusively. Plans for the other side
//!     hold shares of it too. So they have finished, and later plans are made without the key.

mod error;

pub use error::ForeignKeyError;

use super::name::check_name;
use super::{NewForeignKey, NewIndex, NewIndexColumn, NewIndexKind};
use crate::database::Published;
use crate::{Error, NameOf, Result, Table};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use types::partition::PartitionError;
use types::schema::{DatabaseDef, ForeignKeyDef, ReferenceAction, TableDef, TableId};
use types::show_create::foreign_key_text;
use types::{ColumnType, TypeKind};

/// The child and the constraint, as the messages of 1451 and 1452 show them.
pub fn constraint_text(child: &TableDef, key: &ForeignKeyDef) -> String {
    let quoted = types::show_create::quoted_name;
    format!("{}.{}, CONSTRAINT {}", quoted(&child.database), quoted(&child.name), foreign_key_text(child, key))
}

/// The index that is generated for a key, if none of the table's indexes serves it.
pub(super) fn generated_index(key: &NewForeignKey) -> NewIndex {
    NewIndex {
        name: key.name.as_ref().or(key.index_name.as_ref()).cloned().unwrap_or_default(),
        kind: NewIndexKind::Secondary,
        columns: key.columns.iter().map(NewIndexColumn::whole).collect(),
        comment: String::new(),
        using_btree: false,
        invisible: false,
        generated: true,
        full_text: None,
    }
}

/// The table's indexes and the generated ones, in the order in which they are written. If a generated and another index
/// serve the same key, the generated one is left out, as in MySQL.
pub(super) fn with_generated(indexes: Vec<NewIndex>, keys: &[NewForeignKey]) -> Vec<NewIndex> {
    let mut all = indexes;
    for (n, key) in keys.iter().enumerate() {
        // The generated indexes of earlier keys are in the list already.
        let at = key.indexes_before.saturating_add(n).min(all.len());
        all.insert(at, generated_index(key));
    }
    let is_kept = |n: usize| {
        let index = &all[n];
        let is_better = |(m, other): (usize, &NewIndex)| {
            // Of two that are alike and both generated the later one stays.
            m != n && serves(other, &index.columns) && (!other.generated || other.columns.len() > index.columns.len() || m > n)
        };
        !index.generated || !all.iter().enumerate().any(is_better)
    };
    let kept: Vec<bool> = (0..all.len()).map(is_kept).collect();
    all.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(index, _)| index).collect()
}

/// Does the index begin with these parts?
pub(super) fn serves(index: &NewIndex, parts: &[NewIndexColumn]) -> bool {
    let same = |(a, b): (&NewIndexColumn, &NewIndexColumn)| {
        a.expr.is_none() && a.name.eq_ignore_ascii_case(&b.name) && a.prefix == b.prefix && a.descending == b.descending
    };
    index.columns.len() >= parts.len() && index.columns.iter().zip(parts).all(same)
}

/// Resolves new keys against the child's columns and names them; the parents are checked later.
pub(super) fn resolve(def: &TableDef, keys: &[NewForeignKey]) -> Result<Vec<ForeignKeyDef>> {
    let mut number = def.foreign_keys.iter().filter_map(|key| generated_number(&def.name, &key.name)).max().unwrap_or(0);
    let mut resolved = Vec::with_capacity(keys.len());
    for key in keys {
        let name = match &key.name {
            Some(name) => name.clone(),
            None => {
                number += 1;
                generated_name(&def.name, number)
            }
        };
        check_name(NameOf::Column, &name)?;
        resolved.push(resolve_one(def, key, name)?);
    }
    Ok(resolved)
}

fn resolve_one(def: &TableDef, key: &NewForeignKey, name: String) -> Result<ForeignKeyDef> {
    if key.columns.len() != key.parent_columns.len() {
        return Err(ForeignKeyError::ColumnCount { name: key.name.clone() }.into());
    }
    let mut columns = Vec::with_capacity(key.columns.len());
    for column in &key.columns {
        let position = def.column_index(column).ok_or_else(|| Error::KeyColumnMissing { column: column.clone() })?;
        if columns.contains(&position) {
            return Err(Error::DuplicateColumn { column: column.clone() });
        }
        columns.push(position);
    }
    let key = ForeignKeyDef {
        name,
        columns,
        parent_database: key.parent_database.clone(),
        parent_table: key.parent_table.clone(),
        parent_columns: key.parent_columns.clone(),
        on_delete: key.on_delete,
        on_update: key.on_update,
    };
    check_nullable(def, &key)?;
    Ok(key)
}

/// SET NULL needs columns that take it.
pub(super) fn check_nullable(def: &TableDef, key: &ForeignKeyDef) -> Result<()> {
    if ![key.on_delete, key.on_update].contains(&ReferenceAction::SetNull) {
        return Ok(());
    }
    match key.columns.iter().find(|column| !def.columns[**column].nullable) {
        Some(column) => {
            Err(ForeignKeyError::NotNull { column: def.columns[*column].name.clone(), name: key.name.clone() }.into())
        }
        None => Ok(()),
    }
}

fn generated_name(table: &str, number: u64) -> String {
    format!("{table}_ibfk_{number}")
}

fn generated_number(table: &str, name: &str) -> Option<u64> {
    name.strip_prefix(table)?.strip_prefix("_ibfk_")?.parse().ok()
}

/// Keys that were named after the table follow it to its new name.
pub(super) fn rename_generated(def: &mut TableDef, old_name: &str) {
    let name = def.name.clone();
    for key in &mut def.foreign_keys {
        if let Some(number) = generated_number(old_name, &key.name) {
            key.name = generated_name(&name, number);
        }
    }
}

/// 1826: names of foreign keys are unique in a database.
pub(super) fn check_names(published: &Published, def: &TableDef) -> Result<()> {
    let own =
        |n: usize, key: &ForeignKeyDef| def.foreign_keys[..n].iter().any(|other| other.name.eq_ignore_ascii_case(&key.name));
    let Some(database) = published.schema.databases.get(&def.database) else { return Ok(()) };
    for (n, key) in def.foreign_keys.iter().enumerate() {
        let mut others = database.tables.values().filter(|table| table.id != def.id).flat_map(|table| &table.foreign_keys);
        if own(n, key) || others.any(|other| other.name.eq_ignore_ascii_case(&key.name)) {
            return Err(ForeignKeyError::DuplicateName { name: key.name.clone() }.into());
        }
    }
    Ok(())
}

/// F1, for one key.
pub(super) fn check_parent(child: &TableDef, key: &ForeignKeyDef, parent: &TableDef) -> Result<()> {
    if parent.partitioning.is_some() {
        return Err(PartitionError::ForeignKey.into());
    }
    let name = || key.name.clone();
    let mut columns = Vec::with_capacity(key.columns.len());
    for column in &key.parent_columns {
        columns.push(parent.column_index(column).ok_or_else(|| ForeignKeyError::ParentColumnMissing {
            column: column.clone(),
            name: name(),
            parent: parent.name.clone(),
        })?);
    }
    for (mine, theirs) in key.columns.iter().zip(&columns) {
        let (mine, theirs) = (&child.columns[*mine], &parent.columns[*theirs]);
        if !is_compatible(&mine.ty, &theirs.ty) {
            let (column, parent_column) = (mine.name.clone(), theirs.name.clone());
            return Err(ForeignKeyError::Incompatible { column, parent_column, name: name() }.into());
        }
    }
    // A row always has itself for a parent: that is not a constraint.
    let is_itself = key.is_of(&child.database, &child.name) && columns == key.columns;
    match parent.unique_key_of(&columns) {
        Some(_) if !is_itself => Ok(()),
        _ => Err(ForeignKeyError::NoUniqueKey { name: name(), parent: parent.name.clone() }.into()),
    }
}

/// May a column of this type reference one of that type? Their values must compare as the key of either compares them.
fn is_compatible(child: &ColumnType, parent: &ColumnType) -> bool {
    use TypeKind as K;
    match (&child.kind, &parent.kind) {
        (K::Char { .. } | K::VarChar { .. }, K::Char { .. } | K::VarChar { .. }) => child.collation == parent.collation,
        (K::Binary { .. } | K::VarBinary { .. }, K::Binary { .. } | K::VarBinary { .. })
        | (K::Decimal { .. }, K::Decimal { .. })
        | (K::Time { .. }, K::Time { .. })
        | (K::DateTime { .. }, K::DateTime { .. })
        | (K::Timestamp { .. }, K::Timestamp { .. })
        | (K::Bit { .. }, K::Bit { .. }) => true,
        (K::Enum { members: a }, K::Enum { members: b }) | (K::Set { members: a }, K::Set { members: b }) => {
            a.starts_with(b) || b.starts_with(a)
        }
        (child_kind, parent_kind) => child_kind == parent_kind && child.unsigned == parent.unsigned,
    }
}

/// The tables that have foreign keys to each table: a table without children is not there.
pub(crate) fn children(databases: &BTreeMap<String, Arc<DatabaseDef>>) -> HashMap<TableId, Vec<TableId>> {
    let mut children: HashMap<TableId, Vec<TableId>> = HashMap::new();
    for child in databases.values().flat_map(|database| database.tables.values()) {
        for key in &child.foreign_keys {
            let parent = databases.get(&key.parent_database).and_then(|database| database.tables.get(&key.parent_table));
            if let Some(parent) = parent {
                let list = children.entry(parent.id).or_default();
                if !list.contains(&child.id) {
                    list.push(child.id);
                }
            }
        }
    }
    children
}

/// Every (child, key) that references a table of this name, whether it exists or not.
pub(super) fn keys_to<'a>(
    published: &'a Published,
    database: &'a str,
    name: &'a str,
) -> impl Iterator<Item = (&'a Arc<TableDef>, &'a ForeignKeyDef)> {
    let tables = published.schema.databases.values().flat_map(|database| database.tables.values());
    let keys = tables.flat_map(|table| table.foreign_keys.iter().map(move |key| (table, key)));
    keys.filter(move |(_, key)| key.is_of(database, name))
}

/// The open tables that a definition's keys reference, but itself. 1824 where one is missing and `checks` holds.
pub(super) fn parents(published: &Published, def: &TableDef, keys: &[ForeignKeyDef], checks: bool) -> Result<Vec<Arc<Table>>> {
    let mut parents = Vec::new();
    for key in keys.iter().filter(|key| !key.is_of(&def.database, &def.name)) {
        match published.schema.table(&key.parent_database, &key.parent_table).filter(|parent| parent.view.is_none()) {
            Some(parent) => parents.extend(published.tables.get(&parent.id).cloned()),
            None if checks => return Err(ForeignKeyError::ParentMissing { table: key.parent_table.clone() }.into()),
            None => {}
        }
    }
    Ok(parents)
}

/// The open tables with keys that reference this name, but the table `but`.
pub(super) fn referencing(published: &Published, database: &str, name: &str, but: Option<TableId>) -> Vec<Arc<Table>> {
    let others = keys_to(published, database, name).filter(|(child, _)| Some(child.id) != but);
    others.filter_map(|(child, _)| published.tables.get(&child.id).cloned()).collect()
}

/// A new table: its keys fit their parents, and it fits the children that wait for it.
pub(super) fn check_new(published: &Published, def: &TableDef, checks: bool) -> Result<()> {
    check_names(published, def)?;
    for key in &def.foreign_keys {
        let parent = if key.is_of(&def.database, &def.name) {
            Some(def)
        } else {
            published
                .schema
                .table(&key.parent_database, &key.parent_table)
                .map(|parent| &**parent)
                .filter(|parent| parent.view.is_none())
        };
        match parent {
            Some(parent) => check_parent(def, key, parent)?,
            None if checks => return Err(ForeignKeyError::ParentMissing { table: key.parent_table.clone() }.into()),
            None => {}
        }
    }
    check_waiting(published, def, checks)
}

/// A new table of this name must match the children that wait for it.
pub(super) fn check_waiting(published: &Published, def: &TableDef, checks: bool) -> Result<()> {
    let waiting = keys_to(published, &def.database, &def.name).filter(|(child, _)| child.id != def.id);
    for (child, key) in waiting {
        match check_parent(child, key, def) {
            Err(_) if checks => return Err(ForeignKeyError::UnfitParent.into()),
            other => other?,
        }
    }
    Ok(())
}

/// 3730: only tables that are dropped together may reference a dropped table.
pub(super) fn check_dropped(published: &Published, dropped: &[Arc<Table>]) -> Result<()> {
    for table in dropped {
        let def = table.def();
        let goes_too = |child: &TableDef| dropped.iter().any(|other| other.id() == child.id);
        let kept = keys_to(published, &def.database, &def.name).filter(|(child, _)| !goes_too(child));
        // As in MySQL, the oldest one is named.
        if let Some((child, key)) = kept.min_by_key(|(child, _)| child.id) {
            let (table, name, child) = (def.name.clone(), key.name.clone(), child.name.clone());
            return Err(ForeignKeyError::TableReferenced { table, name, child }.into());
        }
    }
    Ok(())
}

/// 1701: no other table references one that is emptied.
pub(super) fn check_truncated(published: &Published, def: &TableDef) -> Result<()> {
    let others = keys_to(published, &def.database, &def.name).filter(|(child, _)| child.id != def.id);
    match others.min_by_key(|(child, _)| child.id) {
        Some((child, key)) => {
            let (database, child, name) = (child.database.clone(), child.name.clone(), key.name.clone());
            Err(ForeignKeyError::Truncated { database, child, name }.into())
        }
        None => Ok(()),
    }
}

/// What an ALTER TABLE does to the keys on both sides of a table: F1 holds for the new definition. `renamed` has the new name of each
/// old column that is still there.
pub(super) fn check_altered(
    published: &Published,
    old: &TableDef,
    new: &TableDef,
    renamed: &[Option<String>],
    checks: bool,
) -> Result<()> {
    check_names(published, new)?;
    for key in &new.foreign_keys {
        check_nullable(new, key)?;
        if new.index_leading_with(&key.columns).is_none() {
            return Err(index_needed(old, &key.columns, new));
        }
        let is_kept = old.foreign_keys.iter().any(|before| before.name == key.name);
        let parent = if key.is_of(&new.database, &new.name) {
            Some(new)
        } else {
            published.schema.table(&key.parent_database, &key.parent_table).map(|parent| &**parent)
        };
        match parent {
            Some(parent) => check_parent(new, key, parent)?,
            None if checks && !is_kept => {
                return Err(ForeignKeyError::ParentMissing { table: key.parent_table.clone() }.into());
            }
            None => {}
        }
    }
    for (child, key) in keys_to(published, &old.database, &old.name).filter(|(child, _)| child.id != old.id) {
        let key = with_new_names(key, old, new, renamed).map_err(|column| ForeignKeyError::ColumnReferenced {
            column,
            name: key.name.clone(),
            child: child.name.clone(),
        })?;
        match check_parent(child, &key, new) {
            Err(Error::ForeignKey(error)) if matches!(*error, ForeignKeyError::NoUniqueKey { .. }) => {
                let columns = key.columns_in(new).unwrap_or_default();
                return Err(index_needed(old, &columns_of(old, renamed, new, &columns), new));
            }
            other => other?,
        }
    }
    Ok(())
}

/// The old positions of new columns.
fn columns_of(old: &TableDef, renamed: &[Option<String>], new: &TableDef, columns: &[usize]) -> Vec<usize> {
    let old_of = |column: &usize| {
        let name = &new.columns[*column].name;
        renamed.iter().position(|to| to.as_ref() == Some(name)).filter(|position| *position < old.columns.len())
    };
    columns.iter().filter_map(old_of).collect()
}

/// 1553, naming the index that is not there any more.
fn index_needed(old: &TableDef, columns: &[usize], new: &TableDef) -> Error {
    let gone = old.indexes.iter().find(|index| {
        let leads = index.columns.len() >= columns.len() && index.columns.iter().zip(columns).all(|(part, c)| part.column == *c);
        leads && new.index_by_name(&index.name).is_none()
    });
    let index = gone.map_or_else(|| "PRIMARY".to_string(), |index| index.name.clone());
    ForeignKeyError::IndexNeeded { index }.into()
}

/// A child's key as it is when its parent has become `new`. `Err`: the referenced column is gone.
fn with_new_names(
    key: &ForeignKeyDef,
    old: &TableDef,
    new: &TableDef,
    renamed: &[Option<String>],
) -> std::result::Result<ForeignKeyDef, String> {
    let mut key = key.clone();
    (key.parent_database, key.parent_table) = (new.database.clone(), new.name.clone());
    for name in &mut key.parent_columns {
        let Some(position) = old.column_index(name) else { continue };
        match renamed.get(position).cloned().flatten() {
            // As in MySQL, a name that is not changed stays as it was written.
            Some(to) if to.eq_ignore_ascii_case(name) => {}
            Some(to) => *name = to,
            None => return Err(name.clone()),
        }
    }
    Ok(key)
}

/// A child's definition after its parent `old` has become `new`; `None` when it stays as it is.
pub(super) fn follow_parent(child: &TableDef, old: &TableDef, new: &TableDef, renamed: &[Option<String>]) -> Option<TableDef> {
    let mut followed = child.clone();
    for key in followed.foreign_keys.iter_mut().filter(|key| key.is_of(&old.database, &old.name)) {
        if let Ok(renamed) = with_new_names(key, old, new, renamed) {
            *key = renamed;
        }
    }
    (followed.foreign_keys != child.foreign_keys).then_some(followed)
}

/// Keys are kept, and shown, by name.
pub(super) fn sort(keys: &mut [ForeignKeyDef]) {
    keys.sort_by_key(|key| key.name.to_lowercase());
}
