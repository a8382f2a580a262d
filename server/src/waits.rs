//! The names of waits, and of what is waited for.

use std::collections::HashMap;
use sync::waits::{Kind, Object};
use types::schema::{Schema, TableDef};

/// The kinds that MySQL counts as the lock time of a statement.
pub const LOCKS: &[Kind] = &[Kind::RowLock, Kind::GapLock, Kind::MetadataLock];

/// What was waited for, by its names; all are `None` where the table is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub database: Option<String>,
    pub table: Option<String>,
    pub index: Option<String>,
    /// The level of the page in its tree, 0 for a leaf.
    pub level: u8,
}

/// The name of a kind among the events of performance_schema: MySQL's where MySQL has the wait.
pub fn event_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Other => "wait/synch/cond/heddle/other",
        Kind::Ready => "wait/synch/cond/heddle/ready",
        Kind::PageRead => "wait/io/file/innodb/innodb_data_file",
        Kind::FreeFrame => "wait/synch/cond/heddle/free_frame",
        Kind::PageLatch => "wait/synch/sxlock/heddle/page_latch",
        Kind::LogFlush => "wait/io/file/innodb/innodb_log_file",
        Kind::Checkpoint => "wait/synch/cond/heddle/checkpoint",
        Kind::RowLock => "wait/lock/heddle/row",
        Kind::GapLock => "wait/lock/heddle/gap",
        Kind::MetadataLock => "wait/lock/metadata/sql/mdl",
        Kind::UserLock => "wait/lock/heddle/user_lock",
        Kind::Sleep => "wait/synch/cond/sql/Item_func_sleep::cond",
        Kind::TemporaryFile => "wait/io/file/innodb/innodb_temp_file",
        Kind::File => "wait/io/file/sql/load",
        Kind::NetworkRead | Kind::NetworkWrite => "wait/io/socket/sql/client_connection",
        Kind::Definition => "wait/synch/cond/heddle/definition",
        Kind::Login => "wait/synch/cond/heddle/login",
        Kind::Aside => "wait/synch/cond/heddle/aside",
        Kind::Workers => "wait/synch/cond/heddle/workers",
        Kind::Replication => "wait/synch/cond/heddle/replication",
        Kind::TextLog => "wait/io/file/sql/query_log",
    }
}

/// The tables and indexes by their numbers.
pub struct Places<'a> {
    trees: HashMap<u32, (&'a TableDef, &'a str)>,
    tables: HashMap<u64, &'a TableDef>,
}

impl<'a> Places<'a> {
    pub fn of(schema: &'a Schema) -> Self {
        let stored = || schema.databases.values().flat_map(|database| database.tables.values()).filter(|def| !def.is_virtual);
        let trees = stored().flat_map(|def| def.indexes.iter().map(|index| (index.tree_id, (&**def, &*index.name)))).collect();
        Self { trees, tables: stored().map(|def| (def.id.0, &**def)).collect() }
    }

    pub fn find(&self, object: Object) -> Place {
        let of = |def: &TableDef| (Some(def.database.clone()), Some(def.name.clone()));
        match object {
            Object::None => Place::default(),
            Object::Table(id) => {
                let (database, table) = self.tables.get(&id).map_or((None, None), |def| of(def));
                Place { database, table, index: None, level: 0 }
            }
            Object::Tree { tree, level } => match self.trees.get(&tree) {
                Some((def, index)) => {
                    let (database, table) = of(def);
                    Place { database, table, index: Some((*index).to_owned()), level }
                }
                None => Place { level, ..Place::default() },
            },
        }
    }
}
