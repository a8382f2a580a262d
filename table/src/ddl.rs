//! DDL: changes of the schema, in blocking style, on a thread that may block and owns its own `txn::Worker`.

use crate::{Database, Result};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use txn::Worker;
use types::CollationId;
use types::schema::{ColumnDef, IndexDef, TableDef, TableId};

/// What a DDL statement may wait for, and how it is stopped.
#[derive(Clone, Debug)]
pub struct DdlOptions {
    /// How long to wait for others to stop using a table.
    pub lock_wait_timeout: Duration,
    /// Set by KILL; looked at between slices of work.
    pub cancelled: Option<Arc<AtomicBool>>,
}

impl Default for DdlOptions {
    fn default() -> Self {
        Self { lock_wait_timeout: Duration::from_secs(50), cancelled: None }
    }
}

/// One action of ALTER TABLE; several are applied together, in order.
#[derive(Clone, Debug)]
pub enum AlterAction {
    AddColumn {
        column: ColumnDef,
        position: ColumnPosition,
    },
    DropColumn {
        name: String,
    },
    /// MODIFY and CHANGE: `name` becomes `column` (whose name may differ).
    ChangeColumn {
        name: String,
        column: ColumnDef,
        position: ColumnPosition,
    },
    RenameColumn {
        name: String,
        to: String,
    },
    /// `None` drops the default.
    SetDefault {
        name: String,
        default: types::schema::ColumnDefault,
    },
    /// `tree_id` and `root_page` are ignored; `IndexColumn::column` refers to the columns *after* the column actions: use
    /// `AddIndexByName` semantics through `columns` (names).
    AddIndex {
        index: NewIndex,
    },
    DropIndex {
        name: String,
    },
    DropPrimaryKey,
    RenameIndex {
        name: String,
        to: String,
    },
    /// RENAME TO, within or across databases.
    RenameTable {
        database: String,
        name: String,
    },
    SetComment(String),
    SetCollation(CollationId),
    /// AUTO_INCREMENT = n
    SetAutoIncrement(u64),
    /// ENGINE = InnoDB, FORCE: rebuild.
    Rebuild,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnPosition {
    /// The end for a new column, its present place for a changed one.
    Default,
    First,
    After(String),
}

/// An index by column names.
#[derive(Clone, Debug)]
pub struct NewIndex {
    /// Empty: MySQL's automatic name (first column, `_2`, `_3` ...). Ignored for the primary key.
    pub name: String,
    pub kind: NewIndexKind,
    pub columns: Vec<NewIndexColumn>,
    pub comment: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewIndexKind {
    Primary,
    Unique,
    Secondary,
}

#[derive(Clone, Debug)]
pub struct NewIndexColumn {
    pub name: String,
    pub prefix: Option<u32>,
    pub descending: bool,
}

/// A table to create: names instead of positions, no trees.
#[derive(Clone, Debug)]
pub struct NewTable {
    pub database: String,
    pub name: String,
    pub columns: Vec<ColumnDef>,
    pub indexes: Vec<NewIndex>,
    pub collation: CollationId,
    pub comment: String,
    /// AUTO_INCREMENT = n
    pub auto_increment: Option<u64>,
}

impl Database {
    /// 1007 when it exists.
    pub fn create_database(&self, worker: &Worker, name: &str, collation: CollationId) -> Result<()> {
        let _ = (worker, name, collation);
        todo!()
    }

    /// ALTER DATABASE ... COLLATE.
    pub fn alter_database(&self, worker: &Worker, name: &str, collation: CollationId) -> Result<()> {
        let _ = (worker, name, collation);
        todo!()
    }

    /// Drops the database with all its tables; returns how many. 1008 when it does not exist.
    pub fn drop_database(&self, worker: &Worker, name: &str, options: &DdlOptions) -> Result<usize> {
        let _ = (worker, name, options);
        todo!()
    }

    /// Checks the definition as MySQL does, orders the indexes (primary, unique, others), makes the trees and publishes the table.
    pub fn create_table(&self, worker: &Worker, table: NewTable) -> Result<TableId> {
        let _ = (worker, table);
        todo!()
    }

    /// The definition that `create_table` would make, checked, without making it (also for CREATE TABLE ... LIKE / SELECT).
    pub fn check_table(&self, table: NewTable) -> Result<TableDef> {
        let _ = table;
        todo!()
    }

    /// Drops the tables (database, name) as one atomic change; 1051 when one is missing.
    pub fn drop_tables(&self, worker: &Worker, tables: &[(String, String)], options: &DdlOptions) -> Result<()> {
        let _ = (worker, tables, options);
        todo!()
    }

    /// Empties the table by giving it new trees; AUTO_INCREMENT starts over.
    pub fn truncate_table(&self, worker: &Worker, database: &str, name: &str, options: &DdlOptions) -> Result<()> {
        let _ = (worker, database, name, options);
        todo!()
    }

    /// RENAME TABLE a TO b, c TO d: (from database, from name, to database, to name), in order, as one atomic change.
    pub fn rename_tables(
        &self,
        worker: &Worker,
        renames: &[(String, String, String, String)],
        options: &DdlOptions,
    ) -> Result<()> {
        let _ = (worker, renames, options);
        todo!()
    }

    /// CREATE INDEX; builds it from the rows. 1062 when a unique one finds a duplicate.
    pub fn create_index(
        &self,
        worker: &Worker,
        database: &str,
        table: &str,
        index: NewIndex,
        options: &DdlOptions,
    ) -> Result<()> {
        self.alter_table(worker, database, table, vec![AlterAction::AddIndex { index }], options).map(drop)
    }

    /// DROP INDEX; 1091 when it does not exist. `PRIMARY` drops the primary key.
    pub fn drop_index(&self, worker: &Worker, database: &str, table: &str, name: &str, options: &DdlOptions) -> Result<()> {
        self.alter_table(worker, database, table, vec![AlterAction::DropIndex { name: name.to_string() }], options).map(drop)
    }

    /// ALTER TABLE: in place where only names, comments, defaults or secondary indexes change, else by copying the rows into new trees.
    /// Returns the number of rows copied.
    pub fn alter_table(
        &self,
        worker: &Worker,
        database: &str,
        table: &str,
        actions: Vec<AlterAction>,
        options: &DdlOptions,
    ) -> Result<u64> {
        let _ = (worker, database, table, actions, options);
        todo!()
    }
}

/// Kept for callers that build an `IndexDef` themselves.
pub fn index_names(def: &TableDef, index: &IndexDef) -> Vec<String> {
    index.columns.iter().map(|c| def.columns[c.column].name.clone()).collect()
}
