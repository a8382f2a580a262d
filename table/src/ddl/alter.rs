//! The meaning of an ALTER TABLE: the new definition, the source of each of its columns and indexes, and whether rows
//! must be copied.
//!
//! As in MySQL, the clauses of one statement refer to the table before it: `RENAME COLUMN a TO b, RENAME COLUMN b TO a`
//! exchanges two names, and `ADD x INT, DROP x` drops the old column. Dropped columns are removed first, then the
//! remaining ones are changed, then new ones are inserted and others moved, in the order of the text.

use super::NewForeignKey;
use super::build::added_value;
use super::checks;
use super::define::{add_index, check_columns, check_whole, finish_indexes, hidden_index};
use super::foreign::{self, ForeignKeyError};
use super::name::check_name;
use super::{
    Algorithm, AlterAction, ColumnPosition, Conversion, DdlOptions, NewCheck, NewIndex, NewIndexColumn, functional, partition,
};
use crate::{Error, NameOf, Result};
use types::partition::{PartitionError, Partitioning};
use types::row::COLUMNS_MAX;
use types::row::history::RowHistory;
use types::schema::{CheckDef, ColumnDef, ColumnDefault, ForeignKeyDef, GeneratedDef, IndexDef, IndexKind, TableDef};
use types::{ColumnType, TypeKind, Value};

/// The outcome of planning.
pub(crate) struct AlterPlan {
    /// Id, trees of kept indexes and name as before, unless renamed.
    pub def: TableDef,
    /// For each new column the old one it takes its values from.
    pub sources: Vec<Option<usize>>,
    /// For each new index the old one whose tree it keeps. Meaningless with `copies`.
    pub kept: Vec<Option<usize>>,
    /// Rows are copied into new trees.
    pub copies: bool,
    /// Values of a column get another type.
    pub retypes: bool,
    pub auto_increment: Option<u64>,
    /// The new name of each old column that is still there.
    pub renamed: Vec<Option<String>>,
    /// The names of the foreign keys that are added.
    pub added_keys: Vec<String>,
    /// Rows of these partitions of the old table go.
    pub leaves_out: Vec<usize>,
}

/// A column on its way through the actions.
struct Draft {
    column: ColumnDef,
    source: Option<usize>,
    /// Its name in the old table; empty for a new column.
    was: String,
}

/// An index on its way: its columns are known by the names they had, so that neither reordering nor renaming disturbs them.
struct IndexDraft {
    index: IndexDef,
    columns: Vec<String>,
    /// Its name in the old table.
    was: String,
}

/// A foreign key of the new definition, like a column's draft.
struct KeyDraft {
    key: ForeignKeyDef,
    columns: Vec<String>,
    /// The same statement drops it.
    goes: bool,
}

struct Drafts {
    table: String,
    columns: Vec<Draft>,
    indexes: Vec<IndexDraft>,
    foreign_keys: Vec<KeyDraft>,
    checks: Vec<CheckDef>,
    dropped_checks: Vec<String>,
    partitioning: Option<Box<Partitioning>>,
    leaves_out: Vec<usize>,
    /// Columns that the statement drops or redefines, and hidden ones of indexes that it drops.
    going: Vec<String>,
    copies: bool,
    retypes: bool,
}

/// Where a new or moved column is placed.
enum Placing {
    Add(ColumnDef, ColumnPosition),
    /// The column that was called so.
    Move(String, ColumnPosition),
}

/// The parts that an ALTER TABLE adds once its columns are known.
#[derive(Default)]
struct Additions {
    indexes: Vec<super::NewIndex>,
    foreign_keys: Vec<NewForeignKey>,
    checks: Vec<NewCheck>,
}

/// Applies the actions to a definition.
pub(crate) fn plan(old: &TableDef, mut actions: Vec<AlterAction>, options: &DdlOptions) -> Result<AlterPlan> {
    let mut drafts = Drafts::of(old);
    // What is dropped is gone for all other clauses, wherever they are written. Indexes go first: they would go with their last column.
    actions.sort_by_key(|action| match action {
        AlterAction::DropIndex { .. } | AlterAction::DropPrimaryKey => 0,
        AlterAction::DropColumn { .. } => 1,
        _ => 2,
    });
    drafts.check_constraint_names(&actions)?;
    drafts.mark_dropped_keys(&actions)?;
    drafts.drop_checks(&actions)?;
    drafts.mark_going_columns(&actions);
    let mut def = old.clone();
    let mut auto_increment = None;
    let mut added = Additions::default();
    let mut placings = Vec::new();
    for action in actions {
        match action {
            AlterAction::AddColumn { column, position } => placings.push(Placing::Add(column, position)),
            AlterAction::DropColumn { name } => drafts.drop_column(&name)?,
            AlterAction::ChangeColumn { name, column, position } => {
                drafts.change_column(&name, column)?;
                placings.push(Placing::Move(name, position));
            }
            AlterAction::RenameColumn { name, to } => drafts.rename_column(&name, to)?,
            AlterAction::SetDefault { name, default } => {
                let at = drafts.position(&name)?;
                drafts.columns[at].column.default = default;
            }
            AlterAction::SetVisible { name, visible } => {
                let at = drafts.position(&name)?;
                drafts.columns[at].column.invisible = !visible;
            }
            AlterAction::SetIndexVisible { name, visible } => drafts.set_index_visible(&name, visible)?,
            AlterAction::AddCheck { check } => {
                drafts.copies |= check.enforced;
                added.checks.push(check);
            }
            AlterAction::DropCheck { .. } => {}
            AlterAction::EnforceCheck { name, enforced, constraint } => drafts.enforce_check(&name, enforced, constraint)?,
            AlterAction::AddIndex { index } => added.indexes.push(index),
            AlterAction::AddForeignKey { key } => added.foreign_keys.push(key),
            AlterAction::DropForeignKey { .. } => {}
            AlterAction::DropConstraint { name } => drafts.drop_constraint(&name)?,
            AlterAction::DropIndex { name } => drafts.drop_index(&name)?,
            AlterAction::DropPrimaryKey => drafts.drop_index("PRIMARY")?,
            AlterAction::RenameIndex { name, to } => drafts.rename_index(&name, to)?,
            AlterAction::RenameTable { database, name } => {
                check_name(NameOf::Table, &name)?;
                if def.database != database && !def.triggers.is_empty() {
                    return Err(Error::TriggerMoves);
                }
                (def.database, def.name) = (database, name);
            }
            AlterAction::SetComment(comment) => def.comment = comment,
            AlterAction::SetCollation(collation) => def.collation = collation,
            AlterAction::SetAutoIncrement(next) => auto_increment = Some(next),
            AlterAction::Partition(change) => {
                let effect = partition::change(&mut drafts.partitioning, change, old)?;
                drafts.copies |= effect.copies;
                drafts.leaves_out = effect.leaves_out;
            }
            AlterAction::Rebuild => drafts.copies = true,
        }
    }
    for placing in placings {
        match placing {
            Placing::Add(column, position) => drafts.add_column(column, &position, &options.conversion)?,
            Placing::Move(name, position) => drafts.move_column(&name, &position)?,
        }
    }
    drafts.finish(old, def, added, auto_increment, options)
}

impl Drafts {
    fn of(old: &TableDef) -> Self {
        let draft =
            |(k, column): (usize, &ColumnDef)| Draft { was: column.name.clone(), column: column.clone(), source: Some(k) };
        let columns = old.columns.iter().enumerate().map(draft).collect();
        let indexes = old
            .indexes
            .iter()
            .map(|index| IndexDraft {
                columns: index.columns.iter().map(|c| old.columns[c.column].name.clone()).collect(),
                was: index.name.clone(),
                index: index.clone(),
            })
            .collect();
        let foreign_keys = old
            .foreign_keys
            .iter()
            .map(|key| KeyDraft {
                columns: key.columns.iter().map(|column| old.columns[*column].name.clone()).collect(),
                key: key.clone(),
                goes: false,
            })
            .collect();
        Self {
            table: old.name.clone(),
            columns,
            indexes,
            foreign_keys,
            checks: old.checks.clone(),
            dropped_checks: Vec::new(),
            partitioning: old.partitioning.clone(),
            leaves_out: Vec::new(),
            going: Vec::new(),
            copies: false,
            retypes: false,
        }
    }

    /// 3939: DROP CONSTRAINT and ALTER CONSTRAINT name one of all kinds.
    fn check_constraint_names(&self, actions: &[AlterAction]) -> Result<()> {
        for action in actions {
            let (name, clause) = match action {
                AlterAction::DropConstraint { name } => (name, "DROP"),
                AlterAction::EnforceCheck { name, constraint: true, .. } => (name, "ALTER"),
                _ => continue,
            };
            let is = |other: &str| other.eq_ignore_ascii_case(name);
            let keys = self.foreign_keys.iter().filter(|draft| is(&draft.key.name)).count();
            let checks = self.checks.iter().filter(|check| is(&check.name)).count();
            let is_unique = |draft: &&IndexDraft| draft.index.kind.is_unique();
            let indexes = self.indexes.iter().filter(|draft| is(&draft.was)).filter(is_unique).count();
            if keys + checks + indexes > 1 {
                return Err(ForeignKeyError::ConstraintAmbiguous { name: name.clone(), clause }.into());
            }
        }
        Ok(())
    }

    /// A dropped key does not prevent other drops, wherever in the statement it is dropped.
    fn mark_dropped_keys(&mut self, actions: &[AlterAction]) -> Result<()> {
        for action in actions {
            match action {
                AlterAction::DropForeignKey { name } if !self.drop_key(name) => {
                    return Err(Error::CannotDrop { name: name.clone() });
                }
                AlterAction::DropConstraint { name } => {
                    self.drop_key(name);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn drop_key(&mut self, name: &str) -> bool {
        let found = self.foreign_keys.iter_mut().find(|draft| !draft.goes && draft.key.name.eq_ignore_ascii_case(name));
        found.map(|draft| draft.goes = true).is_some()
    }

    /// CHECKs that are dropped keep nothing from being dropped with them.
    fn drop_checks(&mut self, actions: &[AlterAction]) -> Result<()> {
        for action in actions {
            let (AlterAction::DropCheck { name } | AlterAction::DropConstraint { name }) = action else { continue };
            let before = self.checks.len();
            self.checks.retain(|check| !check.name.eq_ignore_ascii_case(name));
            if self.checks.len() < before {
                self.dropped_checks.push(name.clone());
            } else if matches!(action, AlterAction::DropCheck { .. }) {
                return Err(Error::CheckMissing { name: name.clone() });
            }
        }
        Ok(())
    }

    /// The expressions of dropped or redefined columns, and of dropped functional parts, do not prevent other columns
    /// from being dropped. Whether the result is consistent is checked when the new table is known.
    fn mark_going_columns(&mut self, actions: &[AlterAction]) {
        for action in actions {
            let gone: Vec<String> = match action {
                AlterAction::DropColumn { name }
                | AlterAction::ChangeColumn { name, .. }
                | AlterAction::SetDefault { name, .. } => {
                    self.find(name).map(|at| self.columns[at].was.clone()).into_iter().collect()
                }
                AlterAction::DropIndex { name } | AlterAction::DropConstraint { name } => {
                    let Some(at) = self.find_index(name) else { continue };
                    let is_hidden = |name: &&String| self.columns.iter().any(|d| d.column.hidden && d.was == **name);
                    self.indexes[at].columns.iter().filter(is_hidden).cloned().collect()
                }
                _ => continue,
            };
            self.going.extend(gone);
        }
    }

    fn enforce_check(&mut self, name: &str, enforced: bool, constraint: bool) -> Result<()> {
        let Some(check) = self.checks.iter_mut().find(|check| check.name.eq_ignore_ascii_case(name)) else {
            let is_key = |at: usize| self.indexes[at].index.kind.is_unique();
            let is_other = self.find_index(name).is_some_and(is_key)
                || self.foreign_keys.iter().any(|draft| draft.key.name.eq_ignore_ascii_case(name));
            return Err(match constraint {
                true if is_other => ForeignKeyError::NotEnforceable { name: name.to_string() }.into(),
                true => ForeignKeyError::ConstraintMissing { name: name.to_string() }.into(),
                false => Error::CheckMissing { name: name.to_string() },
            });
        };
        self.copies |= enforced && !check.enforced;
        check.enforced = enforced;
        Ok(())
    }

    /// Checks that no remaining column reads the column, so that it may be dropped or renamed. A CHECK that reads no
    /// other column is dropped with it.
    fn check_unread(&mut self, name: &str, is_dropped: bool) -> Result<()> {
        let stays =
            |draft: &&Draft| draft.source.is_some() && !self.going.contains(&draft.was) && !draft.was.eq_ignore_ascii_case(name);
        let staying = self.columns.iter().filter(stays).map(|draft| &draft.column);
        checks::check_unread(staying, name, &self.table)?;
        if self.partitioning.as_deref().is_some_and(|partitioning| partitioning.reads(name)) {
            return Err(PartitionError::FieldNeeded { column: name.to_string() }.into());
        }
        if is_dropped {
            self.checks.retain(|check| check.expr.columns.iter().any(|column| !column.eq_ignore_ascii_case(name)));
        }
        match self.checks.iter().find(|check| check.expr.reads(name)) {
            Some(check) => Err(Error::ReadByCheck { column: name.to_string(), name: check.name.clone() }),
            None => Ok(()),
        }
    }

    fn set_index_visible(&mut self, name: &str, visible: bool) -> Result<()> {
        let at =
            self.find_index(name).ok_or_else(|| Error::IndexMissing { index: name.to_string(), table: self.table.clone() })?;
        if self.indexes[at].index.kind == IndexKind::Primary && !visible {
            return Err(Error::PrimaryInvisible);
        }
        self.indexes[at].index.invisible = !visible;
        Ok(())
    }

    /// DROP CONSTRAINT: a foreign key or a CHECK (which are gone already), a unique key, or the primary key.
    fn drop_constraint(&mut self, name: &str) -> Result<()> {
        let is_gone = self.foreign_keys.iter().any(|draft| draft.goes && draft.key.name.eq_ignore_ascii_case(name));
        if is_gone || self.dropped_checks.iter().any(|dropped| dropped.eq_ignore_ascii_case(name)) {
            return Ok(());
        }
        let unique = |at: &usize| self.indexes[*at].index.kind.is_unique();
        match self.find_index(name).filter(unique) {
            Some(_) => self.drop_index(name),
            None => Err(ForeignKeyError::ConstraintMissing { name: name.to_string() }.into()),
        }
    }

    fn position(&self, name: &str) -> Result<usize> {
        self.find(name).ok_or_else(|| Error::UnknownColumn { column: name.to_string(), table: self.table.clone() })
    }

    /// The column that was called so.
    fn find(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|draft| !draft.column.hidden && draft.was.eq_ignore_ascii_case(name))
    }

    /// The position after the column that has this name now.
    fn behind(&self, name: &str) -> Result<usize> {
        let at = self.columns.iter().position(|draft| !draft.column.hidden && draft.column.name.eq_ignore_ascii_case(name));
        let missing = || Error::UnknownColumn { column: name.to_string(), table: self.table.clone() };
        at.map(|at| at + 1).ok_or_else(missing)
    }

    fn add_column(&mut self, mut column: ColumnDef, position: &ColumnPosition, conversion: &Conversion) -> Result<()> {
        if self.columns.len() >= COLUMNS_MAX {
            return Err(Error::TooManyColumns);
        }
        let at = match position {
            ColumnPosition::Default => self.columns.len(),
            ColumnPosition::First => 0,
            ColumnPosition::After(name) => self.behind(name)?,
        };
        let is_written = column.auto_increment || column.generated.is_some();
        self.copies |= is_written || !read_where_missing(&mut column, conversion);
        self.columns.insert(at, Draft { column, source: None, was: String::new() });
        Ok(())
    }

    fn drop_column(&mut self, name: &str) -> Result<()> {
        let at = self.find(name).ok_or_else(|| Error::CannotDrop { name: name.to_string() })?;
        self.check_key_columns(name)?;
        self.check_unread(name, true)?;
        self.columns.remove(at);
        // The column is removed from its indexes, which then need new trees; an index without columns is dropped.
        for draft in &mut self.indexes {
            if let Some(part) = draft.columns.iter().position(|c| c.eq_ignore_ascii_case(name)) {
                draft.columns.remove(part);
                draft.index.columns.remove(part);
                (draft.index.tree_id, draft.index.root_page) = (0, 0);
                self.copies |= draft.index.kind == IndexKind::Primary;
            }
        }
        self.indexes.retain(|draft| !draft.columns.is_empty() || draft.index.kind == IndexKind::HiddenRowId);
        Ok(())
    }

    /// 1828, 1829: a column of a key of this table stays.
    fn check_key_columns(&self, name: &str) -> Result<()> {
        let names = |columns: &[String]| columns.iter().any(|column| column.eq_ignore_ascii_case(name));
        for draft in self.foreign_keys.iter().filter(|draft| !draft.goes) {
            let (column, key) = (name.to_string(), draft.key.name.clone());
            if names(&draft.columns) {
                return Err(ForeignKeyError::ColumnNeeded { column, name: key }.into());
            }
            if draft.key.parent_table == self.table && names(&draft.key.parent_columns) {
                return Err(ForeignKeyError::ColumnReferenced { column, name: key, child: self.table.clone() }.into());
            }
        }
        Ok(())
    }

    fn change_column(&mut self, name: &str, mut column: ColumnDef) -> Result<()> {
        let at = self.position(name)?;
        if !column.name.eq_ignore_ascii_case(name) {
            self.check_unread(name, false)?;
        }
        let before = &self.columns[at].column;
        column.missing.clone_from(&before.missing);
        check_generation(before.generated.as_ref(), column.generated.as_ref())?;
        // Columns computed from this column are recomputed.
        let is_computed_from = |draft: &Draft| draft.column.generated.as_ref().is_some_and(|g| g.expr.reads(name));
        let is_retyped = before.ty != column.ty && self.columns.iter().any(is_computed_from);
        self.check_srid(at, &column.ty)?;
        let before = &self.columns[at].column;
        self.retypes |= !is_same_type(&before.ty, &column.ty);
        self.copies |=
            !is_same_storage(before, &column) || is_retyped || before.generated != column.generated && column.generated.is_some();
        self.columns[at].column = column;
        Ok(())
    }

    /// 3644: the SRID of a column with a SPATIAL index stays.
    fn check_srid(&self, at: usize, after: &ColumnType) -> Result<()> {
        let before = &self.columns[at].column;
        let (TypeKind::Geometry { srid: old, .. }, TypeKind::Geometry { srid: new, .. }) = (&before.ty.kind, &after.kind) else {
            return Ok(());
        };
        let is_of_column = |draft: &&IndexDraft| {
            draft.index.kind == IndexKind::Spatial && draft.columns.iter().any(|name| name.eq_ignore_ascii_case(&before.name))
        };
        if old != new && self.indexes.iter().any(|draft| is_of_column(&draft)) {
            return Err(Error::SpatialKey(crate::SpatialKeyProblem::SridChanged { column: before.name.clone() }));
        }
        Ok(())
    }

    /// Puts the column that was called so in its place.
    fn move_column(&mut self, was: &str, position: &ColumnPosition) -> Result<()> {
        if *position == ColumnPosition::Default {
            return Ok(());
        }
        let draft = self.columns.remove(self.position(was)?);
        let target = match position {
            ColumnPosition::Default | ColumnPosition::First => 0,
            ColumnPosition::After(other) => self.behind(other)?,
        };
        self.columns.insert(target, draft);
        Ok(())
    }

    fn rename_column(&mut self, name: &str, to: String) -> Result<()> {
        check_name(NameOf::Column, &to)?;
        let at = self.position(name)?;
        if !to.eq_ignore_ascii_case(name) {
            self.check_unread(name, false)?;
        }
        self.columns[at].column.name = to;
        Ok(())
    }

    /// The index that was called so.
    fn find_index(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|draft| draft.index.kind != IndexKind::HiddenRowId && draft.was.eq_ignore_ascii_case(name))
    }

    fn drop_index(&mut self, name: &str) -> Result<()> {
        let at = self.find_index(name).ok_or_else(|| Error::CannotDrop { name: name.to_string() })?;
        self.copies |= self.indexes[at].index.kind == IndexKind::Primary;
        let parts = self.indexes.remove(at).columns;
        self.columns.retain(|draft| !draft.column.hidden || !parts.contains(&draft.was));
        Ok(())
    }

    fn rename_index(&mut self, name: &str, to: String) -> Result<()> {
        let missing = || Error::IndexMissing { index: name.to_string(), table: self.table.clone() };
        let at = self.find_index(name).ok_or_else(missing)?;
        if to.eq_ignore_ascii_case("PRIMARY") || to.is_empty() || self.indexes[at].index.kind == IndexKind::Primary {
            return Err(Error::WrongIndexName { index: to });
        }
        self.rename_hidden(at, &to);
        self.indexes[at].index.name = to;
        self.indexes[at].index.generated = false;
        Ok(())
    }

    /// Drops generated indexes of foreign keys that a new index supersedes.
    fn drop_superseded(&mut self, added: &Additions) {
        let keys: Vec<NewIndex> = added.foreign_keys.iter().map(foreign::generated_index).collect();
        self.indexes.retain(|draft| {
            let parts = draft.columns.iter().filter_map(|was| name_now(&self.columns, was));
            let parts: Vec<NewIndexColumn> = parts.map(NewIndexColumn::whole).collect();
            !draft.index.generated || !added.indexes.iter().chain(&keys).any(|index| foreign::serves(index, &parts))
        });
    }

    /// The hidden columns of an index are called after it.
    fn rename_hidden(&mut self, index: usize, to: &str) {
        for (n, was) in self.indexes[index].columns.iter().enumerate() {
            let Some(at) = self.columns.iter().position(|draft| draft.column.hidden && draft.was == *was) else {
                continue;
            };
            let columns: Vec<ColumnDef> = self.columns.iter().map(|draft| draft.column.clone()).collect();
            self.columns[at].column.name = functional::column_name(&columns, to, n);
        }
    }

    /// Hidden columns follow the columns that they are computed from.
    fn retype_hidden(&mut self, columns: &mut [ColumnDef], options: &DdlOptions) -> Result<()> {
        for at in 0..columns.len() {
            if !columns[at].hidden {
                continue;
            }
            let mut column = columns[at].clone();
            let was = &self.columns[at].was;
            let index = self.indexes.iter().find(|draft| draft.columns.contains(was));
            let index = index.map_or("", |draft| draft.index.name.as_str());
            self.copies |= functional::set_type(&mut column, columns, index, options.judge())?;
            columns[at] = column;
        }
        Ok(())
    }

    fn finish(
        mut self,
        old: &TableDef,
        mut def: TableDef,
        added: Additions,
        auto_increment: Option<u64>,
        options: &DdlOptions,
    ) -> Result<AlterPlan> {
        if self.columns.iter().all(|draft| draft.column.hidden) {
            return Err(Error::CannotRemoveAllColumns);
        }
        self.drop_superseded(&added);
        // K3 of `functional`
        self.columns.sort_by_key(|draft| draft.column.hidden);
        let mut columns: Vec<ColumnDef> = self.columns.iter().map(|draft| draft.column.clone()).collect();
        check_columns(&columns)?;
        self.retype_hidden(&mut columns, options)?;
        let mut indexes = Vec::with_capacity(self.indexes.len() + added.indexes.len());
        for draft in &self.indexes {
            let mut index = draft.index.clone();
            for (part, name) in index.columns.iter_mut().zip(&draft.columns) {
                let at = self.columns.iter().position(|draft| draft.was == *name);
                part.column = at.ok_or_else(|| Error::KeyColumnMissing { column: name.clone() })?;
            }
            if index.kind == IndexKind::Primary {
                index.columns.iter().for_each(|part| columns[part.column].nullable = false);
            }
            indexes.push(index);
        }
        if !indexes.iter().any(|i| matches!(i.kind, IndexKind::Primary | IndexKind::HiddenRowId)) {
            indexes.push(hidden_index());
            self.copies = true;
        }
        for index in &added.indexes {
            add_index(&mut columns, &mut indexes, index, options.judge())?;
            self.copies |= index.kind == super::NewIndexKind::Primary || index.columns.iter().any(|part| part.expr.is_some());
        }
        let renamed = (0..old.columns.len()).map(|column| {
            let draft = self.columns.iter().find(|draft| draft.source == Some(column))?;
            Some(draft.column.name.clone())
        });
        let renamed: Vec<Option<String>> = renamed.collect();
        def.columns = columns;
        def.indexes = indexes;
        def.partitioning = self.partitioning.take();
        def.checks = checks::resolve(&old.name, std::mem::take(&mut self.checks), added.checks)?;
        if def.name != old.name {
            checks::rename_generated(&mut def, &old.name);
        }
        let added_keys = self.finish_keys(old, &mut def, &renamed, &added.foreign_keys)?;
        recheck_keys(&def.columns, &def.indexes)?;
        finish_indexes(&def.columns, &mut def.indexes);
        check_whole(&def)?;
        checks::check_foreign(&def)?;
        partition::check(&def)?;
        let kept = def.indexes.iter().map(|index| self.kept_tree(old, index)).collect();
        // A column that became NOT NULL through its key has another row layout.
        let mut sources: Vec<Option<usize>> = self.columns.iter().map(|draft| draft.source).collect();
        // Of new functional key parts.
        sources.resize(def.columns.len(), None);
        let is_same_null = |(new, source): (&ColumnDef, &Option<usize>)| {
            source.is_none_or(|source| old.columns[source].nullable == new.nullable)
        };
        self.copies |= !def.columns.iter().zip(&sources).all(is_same_null);
        def.history = self.history_after(old, &sources, options)?;
        if self.copies {
            def.forget_older_rows();
        }
        let (copies, retypes, leaves_out) = (self.copies, self.retypes, self.leaves_out);
        Ok(AlterPlan { def, sources, kept, copies, retypes, auto_increment, renamed, added_keys, leaves_out })
    }

    /// The history under which older rows may stay as they are. MySQL's other algorithms rewrite rows when columns are
    /// added or dropped.
    fn history_after(
        &mut self,
        old: &TableDef,
        sources: &[Option<usize>],
        options: &DdlOptions,
    ) -> Result<Option<Box<RowHistory>>> {
        let history = RowHistory::after(old, sources);
        if self.copies || history == old.history {
            return Ok(history);
        }
        let is_over = history.as_ref().is_some_and(|history| history.is_over());
        if is_over && options.algorithm == Algorithm::Instant {
            return Err(Error::TooManyRowVersions { table: format!("{}/{}", old.database, old.name) });
        }
        self.copies = is_over || matches!(options.algorithm, Algorithm::InPlace | Algorithm::Copy);
        Ok(history)
    }

    /// The remaining keys over the new columns, and the new keys, with an index where they need one. Returns the names
    /// of the new keys.
    fn finish_keys(
        &self,
        old: &TableDef,
        def: &mut TableDef,
        renamed: &[Option<String>],
        added: &[NewForeignKey],
    ) -> Result<Vec<String>> {
        def.foreign_keys.clear();
        for draft in self.foreign_keys.iter().filter(|draft| !draft.goes) {
            let now = |was: &String| name_now(&self.columns, was).and_then(|name| def.column_index(name));
            let position = |was: &String| now(was).ok_or_else(|| Error::KeyColumnMissing { column: was.clone() });
            let columns = draft.columns.iter().map(position).collect::<Result<_>>()?;
            def.foreign_keys.push(ForeignKeyDef { columns, ..draft.key.clone() });
        }
        if let Some(followed) = foreign::follow_parent(def, old, &def.clone(), renamed) {
            def.foreign_keys = followed.foreign_keys;
        }
        if def.name != old.name {
            foreign::rename_generated(def, &old.name);
        }
        let resolved = foreign::resolve(def, added)?;
        for (key, resolved) in added.iter().zip(&resolved) {
            if def.index_leading_with(&resolved.columns).is_none() {
                add_index(&mut def.columns, &mut def.indexes, &foreign::generated_index(key), None)?;
            }
        }
        let names = resolved.iter().map(|key| key.name.clone()).collect();
        def.foreign_keys.extend(resolved);
        foreign::sort(&mut def.foreign_keys);
        Ok(names)
    }

    /// The old index whose tree has just the entries of `index`.
    fn kept_tree(&self, old: &TableDef, index: &IndexDef) -> Option<usize> {
        let is_new = index.tree_id == 0 && index.root_page == 0;
        if is_new { None } else { old.indexes.iter().position(|o| (o.tree_id, o.root_page) == (index.tree_id, index.root_page)) }
    }
}

/// The current name of the column that had this name.
fn name_now<'d>(columns: &'d [Draft], was: &str) -> Option<&'d str> {
    columns.iter().find(|draft| draft.was == was).map(|draft| draft.column.name.as_str())
}

/// Does the definition say what rows that end before the new column read there (`types::row`, R1)? Otherwise they are
/// rewritten.
fn read_where_missing(column: &mut ColumnDef, conversion: &Conversion) -> bool {
    if matches!(column.default, ColumnDefault::Expression(_)) {
        return false;
    }
    let Ok(value) = added_value(column, conversion) else { return false };
    if value.is_null() {
        return column.nullable;
    }
    if matches!(column.ty.kind, TypeKind::Enum { .. } | TypeKind::Set { .. }) {
        return false;
    }
    let text = match (&column.ty.kind, &value) {
        (_, Value::Bytes(bytes)) if column.ty.is_binary_string() => bytes.iter().map(|byte| format!("{byte:02X}")).collect(),
        (TypeKind::Bit { .. }, Value::UInt(bits)) => bits.to_string(),
        _ => {
            let mut text = Vec::new();
            types::convert::write_text(&value, &column.ty, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        }
    };
    column.missing = (column.default_value(&text).as_ref() == Some(&value)).then_some(text);
    column.missing.is_some()
}

/// 3106: a column stays virtual, or stored; a stored one may begin or cease to be generated.
fn check_generation(before: Option<&GeneratedDef>, after: Option<&GeneratedDef>) -> Result<()> {
    let is_virtual = |generated: Option<&GeneratedDef>| generated.is_some_and(|generated| !generated.stored);
    if is_virtual(before) == is_virtual(after) { Ok(()) } else { Err(Error::Generated { what: "Changing the STORED status" }) }
}

/// A changed column may make a remaining key too long or impossible, so the keys are defined again on a copy.
fn recheck_keys(columns: &[ColumnDef], indexes: &[IndexDef]) -> Result<()> {
    let (mut columns, mut again) = (columns.to_vec(), Vec::new());
    for index in indexes.iter().filter(|i| i.kind != IndexKind::HiddenRowId) {
        let index = NewIndex {
            name: index.name.clone(),
            kind: match index.kind {
                IndexKind::Primary => super::NewIndexKind::Primary,
                IndexKind::Unique | IndexKind::MultiValued { unique: true } => super::NewIndexKind::Unique,
                IndexKind::FullText => super::NewIndexKind::FullText,
                IndexKind::Spatial => super::NewIndexKind::Spatial,
                IndexKind::Vector { metric } => super::NewIndexKind::Vector { metric },
                IndexKind::Secondary | IndexKind::HiddenRowId | IndexKind::MultiValued { unique: false } => {
                    super::NewIndexKind::Secondary
                }
            },
            columns: index.columns.iter().map(|part| NewIndexColumn::of(&columns, part)).collect(),
            comment: String::new(),
            using_btree: false,
            invisible: false,
            generated: false,
            full_text: None,
        };
        // Its hidden columns exist already.
        add_index(&mut columns, &mut again, &index, None)?;
    }
    Ok(())
}

/// Do both columns store every value of the old one alike, in rows and keys?
fn is_same_storage(old: &ColumnDef, new: &ColumnDef) -> bool {
    old.nullable == new.nullable && old.auto_increment == new.auto_increment && is_same_type(&old.ty, &new.ty)
}

fn is_same_type(old: &ColumnType, new: &ColumnType) -> bool {
    if old.collation != new.collation || old.unsigned != new.unsigned {
        return false;
    }
    match (&old.kind, &new.kind) {
        (TypeKind::VarChar { length: before }, TypeKind::VarChar { length: after })
        | (TypeKind::VarBinary { length: before }, TypeKind::VarBinary { length: after }) => before <= after,
        (TypeKind::Enum { members: before }, TypeKind::Enum { members: after })
        | (TypeKind::Set { members: before }, TypeKind::Set { members: after }) => after.starts_with(before),
        (before, after) => before == after && old.float_decimals == new.float_decimals,
    }
}
