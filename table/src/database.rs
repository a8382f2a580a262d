//! All databases and tables of one data directory: the published schema and the open tables.

use crate::{Result, Table};
use std::sync::Arc;
use txn::{Engine, Worker};
use types::schema::{Schema, TableId};

/// The open catalog. Shared by `Arc`.
pub struct Database {
    engine: Arc<Engine>,
}

impl Database {
    /// Reads the catalog (creates it in a new data directory) and opens the tables. Blocks.
    pub fn open(engine: Arc<Engine>) -> Result<Arc<Database>> {
        let _ = engine;
        todo!()
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The version of the published schema: one load of a line that only DDL writes.
    pub fn schema_version(&self) -> u64 {
        todo!()
    }

    /// The published schema. Copies a shared `Arc`: keep it per worker and fetch it again when `schema_version` moves.
    pub fn schema(&self) -> Arc<Schema> {
        todo!()
    }

    /// The open table of this id, while it exists. Once per plan, not per statement.
    pub fn table(&self, id: TableId) -> Option<Arc<Table>> {
        let _ = id;
        todo!()
    }

    /// Background work in slices: frees trees that are no longer used, writes changed row estimates. Blocks; for the DDL thread, every
    /// second or so. `true`: there is more to do.
    pub fn housekeeping(&self, worker: &Worker) -> Result<bool> {
        let _ = worker;
        todo!()
    }

    /// Writes the exact counters. Call once, when no statement runs any more, before `Engine::shutdown`. Blocks.
    pub fn close(&self, worker: &Worker) -> Result<()> {
        let _ = worker;
        todo!()
    }
}
