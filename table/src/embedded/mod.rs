//! The engine as a library: tables opened in the caller's process, rows by primary key, many keys a call.
//!
//! ```text
//! Embedded        a data directory that is open
//!   ├─ Arc<Table>    by name; the same tables, rows and indexes that SQL works on
//!   └─ Session       one per thread
//!        ├─ read, insert, update, delete      a batch of keys, one transaction
//!        └─ Transaction                       several batches
//! ```
//! A call blocks its thread where the engine stalls: on a page that is not in memory, on a row that another transaction holds, on the log
//! where the caller wants its commit [`Acknowledge::Durable`].
//!
//! Foreign keys are the statements' affair: the library keeps their definitions and does not look at them when it writes rows.
//!
//! What happens to one key of a batch is data: an [`Outcome`], or no row. An [`Error`] ends the transaction, and nothing of it remains.
//!
//! E1: a transaction holds a share of the metadata lock of every table that it uses, and has looked under it that the handle is not
//!     one that DDL has replaced.
//! E2: an idle session holds nothing back: it is parked between transactions and while it waits.
//!
//! # Example
//!
//! ```
//! use table::embedded::{Acknowledge, Embedded, Options, Outcome};
//! use table::embedded::{ColumnType, NewTable, TypeKind, Update, Value};
//!
//! # let folder = std::env::temp_dir().join(format!("heddle-doc-{}", std::process::id()));
//! let embedded = Embedded::open(&Options::new(&folder))?;
//! let items = embedded.ensure_table(
//!     NewTable::new("shop", "items")
//!         .column("id", ColumnType::new(TypeKind::BigInt))
//!         .column("name", ColumnType::new(TypeKind::VarChar { length: 40 }))
//!         .nullable_column("price", ColumnType::new(TypeKind::Decimal { precision: 10, scale: 2 }))
//!         .primary_key(&["id"])
//!         .unique_key("by_name", &["name"]),
//! )?;
//! let mut session = embedded.session()?;
//!
//! let rows = [[Value::Int(1), Value::text(b"heddle"), Value::Null], [Value::Int(2), Value::text(b"heddle"), Value::Null]];
//! let outcomes = session.insert(&items, &rows, Acknowledge::Durable)?;
//! assert_eq!(outcomes[0], Outcome::Done);
//! assert_eq!(outcomes[1].key_name(&items), Some("by_name"));
//!
//! let mut found = Vec::new();
//! session.read(&items, &[[Value::Int(1)], [Value::Int(2)]], |position, row| {
//!     found.push(row.map(|row| (position, row.get(1).map(Value::into_owned))));
//! })?;
//! assert_eq!(found, [Some((0, Ok(Value::text(b"heddle")))), None]);
//!
//! let mut transaction = session.begin();
//! transaction.update(&items, &[Update { key: &[Value::Int(1)], changes: &[(1, Value::text(b"shuttle"))] }])?;
//! transaction.delete(&items, &[[Value::Int(7)]])?;
//! transaction.commit(Acknowledge::NotDurable)?;
//!
//! drop(session);
//! embedded.close()?;
//! # std::fs::remove_dir_all(&folder).ok();
//! # Ok::<(), table::embedded::Error>(())
//! ```

mod batch;
mod error;
mod fit;
mod session;
#[cfg(test)]
mod tests;

pub use crate::ddl::{NewIndex, NewIndexKind, NewTable};
pub use crate::{StoredRow, Table};
pub use batch::{Outcome, Update};
pub use error::{Error, Result};
pub use session::{Acknowledge, Session, Transaction};
pub use txn::{Isolation, LockMode};
pub use types::{ColumnType, TypeKind, Value, convert::Problem};

use crate::Database;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sync::atomic::{AtomicBool, Ordering};
use txn::{Config, Durability, Engine, Worker};

/// How a data directory is opened.
#[derive(Clone, Debug)]
pub struct Options {
    pub data_dir: PathBuf,
    /// Memory for pages. What does not fit is read from disk when it is needed.
    pub buffer_pool_bytes: u64,
    /// Sessions that may be open at a time: as many as there are threads that work.
    pub sessions_max: usize,
    /// `false`: nothing is ever forced to disk, and a crash of the machine may lose or damage everything. For tests.
    pub sync: bool,
}

impl Options {
    /// 1 GiB of memory for pages, a session per CPU.
    pub fn new(data_dir: impl AsRef<Path>) -> Self {
        Self {
            data_dir: data_dir.as_ref().to_owned(),
            buffer_pool_bytes: 1 << 30,
            sessions_max: os::thread::available_parallelism().map_or(4, usize::from),
            sync: true,
        }
    }
}

/// A data directory that this process has open. No server, and no other process, can have it open meanwhile.
pub struct Embedded {
    engine: Arc<Engine>,
    database: Arc<Database>,
    /// Every session holds a clone.
    sessions: Arc<()>,
    is_closed: AtomicBool,
}

impl Embedded {
    /// Opens the directory, or makes it; recovers what a crash left.
    ///
    /// # Errors
    /// A directory that is in use, foreign or unwritable; damage; I/O.
    pub fn open(options: &Options) -> Result<Self> {
        let engine = Engine::open(Config {
            data_dir: options.data_dir.clone(),
            buffer_pool_bytes: options.buffer_pool_bytes,
            undo_memory_bytes: options.buffer_pool_bytes / 4,
            recovery_target: txn::RECOVERY_TARGET,
            workers: options.sessions_max,
            durability: if options.sync { Durability::Relaxed } else { Durability::None },
        })?;
        let database = Database::open(engine.clone())?;
        let embedded = Self { engine, database, sessions: Arc::new(()), is_closed: AtomicBool::new(false) };
        let worker = embedded.spare_worker()?;
        while embedded.database.housekeeping(&worker)? {}
        drop(worker);
        Ok(embedded)
    }

    /// The catalog, for everything else that can be done with definitions.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// The open table of this name.
    pub fn table(&self, database: &str, name: &str) -> Option<Arc<Table>> {
        self.database.table_by_name(database, name).filter(|table| table.def().view.is_none())
    }

    /// Makes a table, and its database where that is missing.
    ///
    /// # Errors
    /// A table of this name; a definition that MySQL would refuse.
    pub fn create_table(&self, table: NewTable) -> Result<Arc<Table>> {
        let worker = self.spare_worker()?;
        match self.database.create_database(&worker, &table.database, table.collation) {
            Ok(()) | Err(crate::Error::DatabaseExists { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let (database, name) = (table.database.clone(), table.name.clone());
        let id = self.database.create_table(&worker, table)?;
        self.database.table(id).ok_or(Error::Definition(crate::Error::TableMissing { database, table: name }))
    }

    /// The table of this name, made when it is missing. One that is there is taken as it is: its definition is in [`Table::def`].
    ///
    /// # Errors
    /// As `create_table`.
    pub fn ensure_table(&self, table: NewTable) -> Result<Arc<Table>> {
        if let Some(present) = self.table(&table.database, &table.name) {
            return Ok(present);
        }
        let (database, name) = (table.database.clone(), table.name.clone());
        match self.create_table(table) {
            // Another thread was first.
            Err(Error::Definition(error @ crate::Error::TableExists { .. })) => {
                self.table(&database, &name).ok_or(Error::Definition(error))
            }
            created => created,
        }
    }

    /// Drops a table, once no transaction uses it any more.
    ///
    /// # Errors
    /// No such table; others use it for too long.
    pub fn drop_table(&self, database: &str, name: &str) -> Result<()> {
        let worker = self.spare_worker()?;
        self.database.drop_tables(&worker, &[(database.to_owned(), name.to_owned())], &Default::default())?;
        while self.database.housekeeping(&worker)? {}
        Ok(())
    }

    /// A session for one thread.
    ///
    /// # Errors
    /// [`Options::sessions_max`] are open.
    pub fn session(&self) -> Result<Session> {
        let worker = self.engine.free_worker().ok_or(Error::TooManySessions)?;
        Ok(Session::new(worker, self.sessions.clone()))
    }

    /// Writes everything home and releases the directory. So does dropping it, without telling what went wrong; what could not be written
    /// is taken from the log by the next start.
    ///
    /// # Errors
    /// Sessions are open; I/O.
    pub fn close(&self) -> Result<()> {
        if Arc::strong_count(&self.sessions) > 1 {
            return Err(Error::SessionsOpen);
        }
        // SeqCst: once in a life.
        if self.is_closed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let worker = self.spare_worker()?;
        self.database.close(&worker)?;
        drop(worker);
        self.engine.shutdown()?;
        Ok(())
    }

    /// For definitions: an awake worker beyond those of the sessions.
    fn spare_worker(&self) -> Result<Worker> {
        let worker = self.engine.spare_worker().ok_or(Error::TooManySessions)?;
        worker.tick();
        Ok(worker)
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        // `close` reports the error.
        let _ = self.close();
    }
}
