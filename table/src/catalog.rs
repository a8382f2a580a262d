//! The catalog tree: databases, table definitions, counters, and trees to free.
//!
//! Every record's key starts with a kind byte; numbers in keys are big-endian, so that records of one table stand together.
//!
//! ```text
//! kind  key after the kind byte           payload
//! 1     -                                 meta: JSON {"format":1,"next_table_id":n}
//! 2     database name                     JSON {"collation":n}
//! 3     table id u64, chunk number u16    a piece of the JSON {"def":TableDef,"blob_tree":[id,root]}; the pieces are joined in order
//! 4     table id u64                      AUTO_INCREMENT: u64 le; no number at or above it was ever handed out
//! 5     tree id u32, root page u32        empty; the tree belongs to no table and is to be freed
//! 6     table id u64                      estimated rows: u64 le
//! 7     table id u64, chunk number u16    a piece of the JSON of the table's statistics (`TableStatistics`)
//! 8     table id u64, chunk number u16    as kind 3, of a view: it has `def.view`, no indexes and no trees
//! 9     name, zero byte, chunk u16        a piece of the JSON of an account or role; what it means is the server's business
//! 20    database, 0, name, 0, chunk u16   a piece of the JSON of a stored procedure (`RoutineDef`), by its name in lower case
//! 21    database, 0, name, 0, chunk u16   likewise, of a stored function
//! 22    database, 0, name, 0, chunk u16   likewise, of an event (`EventDef`)
//! 23    database, 0, name, 0              when the event was run last: seconds since the epoch, i64 le
//! 24    number u64, part u32               a part of a prepared transaction (`prepared`)
//! ```
//!
//! C1: a tree is recorded as an orphan (kind 5) before it is made, by a transaction that is committed then; the one that links it removes the record,
//!     and the one that unlinks a tree adds one. So after a crash every tree is either linked or an orphan.
//! C2: one transaction per DDL statement: after a crash the statement happened wholly or not at all.
//! C3: the counters' records (4, 6) are written by whoever leases numbers, all others under `Database`'s DDL mutex.
//! C5: an account's name has no zero byte but the one between user and host, so the last three bytes of its key are the end of the name
//!     and the chunk.
//! C4: statistics (7) may be missing or not fit their table: they are taken again.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use txn::{InsertOutcome, Interrupt, Isolation, ReadMode, Scan, TreeRef, Txn, Worker, WriteOutcome};
use types::CollationId;
use types::event::EventDef;
use types::schema::{RoutineDef, TableDef, TableId};
use types::statistics::TableStatistics;

const KIND_META: u8 = 1;
const KIND_DATABASE: u8 = 2;
pub(crate) const KIND_TABLE: u8 = 3;
const KIND_AUTO_INCREMENT: u8 = 4;
pub(crate) const KIND_ORPHAN: u8 = 5;
const KIND_ESTIMATE: u8 = 6;
const KIND_STATISTICS: u8 = 7;
const KIND_VIEW: u8 = 8;
const KIND_ACCOUNT: u8 = 9;
const KIND_PROCEDURE: u8 = 20;
const KIND_FUNCTION: u8 = 21;
const KIND_EVENT: u8 = 22;
const KIND_EVENT_RUN: u8 = 23;
const KIND_PREPARED: u8 = 24;

const FORMAT: u32 = 1;
/// Bytes of JSON in one record of kind 3.
const CHUNK_BYTES: usize = 3600;
const _: () = assert!(CHUNK_BYTES + 16 <= txn::RECORD_BYTES_MAX);
pub(crate) const PREPARED_PART_BYTES: usize = CHUNK_BYTES;

#[derive(Serialize, Deserialize)]
struct Meta {
    format: u32,
    next_table_id: u64,
}

#[derive(Serialize, Deserialize)]
struct DatabaseRecord {
    collation: CollationId,
}

#[derive(Serialize)]
struct TableRecordRef<'a> {
    def: &'a TableDef,
    blob_tree: Option<(u32, u32)>,
}

#[derive(Deserialize)]
struct TableRecord {
    def: TableDef,
    blob_tree: Option<(u32, u32)>,
}

/// A table as the catalog has it.
#[derive(Clone)]
pub(crate) struct StoredTable {
    pub def: Arc<TableDef>,
    pub blob_tree: Option<TreeRef>,
}

/// Everything in the catalog.
#[derive(Default)]
pub(crate) struct Contents {
    pub next_table_id: u64,
    pub databases: BTreeMap<String, CollationId>,
    pub tables: Vec<StoredTable>,
    pub auto_increment: HashMap<TableId, u64>,
    pub estimates: HashMap<TableId, u64>,
    pub statistics: HashMap<TableId, TableStatistics>,
    pub orphans: Vec<TreeRef>,
    /// The JSON of each account, by its name.
    pub accounts: BTreeMap<Vec<u8>, Vec<u8>>,
    pub routines: Vec<RoutineDef>,
    pub events: Vec<EventDef>,
    /// Of events, by database and key.
    pub event_runs: HashMap<EventName, i64>,
    /// The numbers of prepared transactions, and how many parts each has.
    pub prepared: BTreeMap<u64, u32>,
}

/// An event's database, and its key there.
pub(crate) type EventName = (String, String);

/// Repeats an engine call until it answers, waiting on this thread.
pub(crate) fn blocking<T>(mut call: impl FnMut() -> txn::Result<T>) -> std::result::Result<T, txn::Error> {
    loop {
        match call() {
            Ok(value) => return Ok(value),
            Err(Interrupt::Stall(stall)) => stall.wait_blocking(),
            Err(Interrupt::Error(error)) => return Err(error),
        }
    }
}

/// One transaction on the catalog tree, in blocking style. Rolled back when dropped without `commit`.
pub(crate) struct CatalogTxn<'w> {
    worker: &'w Worker,
    tree: TreeRef,
    txn: Option<Txn>,
    scratch: Vec<u8>,
}

impl<'w> CatalogTxn<'w> {
    pub fn begin(worker: &'w Worker) -> Self {
        // The thread may have slept since its last statement.
        worker.tick();
        let tree = worker.engine().catalog_tree();
        Self { worker, tree, txn: Some(worker.begin(Isolation::ReadCommitted)), scratch: Vec::new() }
    }

    /// The transaction, for rows that change with the catalog.
    pub fn txn(&mut self) -> &mut Txn {
        self.txn.as_mut().expect("open until commit")
    }

    /// Commits, with the worker's note for the log, and waits until the commit is durable.
    pub fn commit(mut self) {
        // Where nothing has changed nobody would be told: the note is left for who has set it.
        if let Some(txn) = self.txn.as_mut().filter(|txn| txn.has_written())
            && let Some(note) = self.worker.take_note()
        {
            txn.note(self.worker, &note);
        }
        if let Some(stall) = self.commit_now() {
            stall.wait_blocking();
        }
    }

    /// Commits; durable at the latest with the next durable commit of this worker.
    pub fn commit_soon(self) {
        // Not awaited on purpose.
        let _ = self.commit_now();
    }

    fn commit_now(mut self) -> Option<txn::Stall> {
        let mut txn = self.txn.take().expect("taken only here and in drop");
        txn.commit(self.worker)
    }

    pub fn load(&mut self) -> Result<Contents> {
        let mut loader = Loader::default();
        let mut scan = Scan::new(self.tree, &[], &[], false, ReadMode::Latest);
        let (worker, txn) = (self.worker, self.txn.as_mut().expect("open until commit"));
        while blocking(|| scan.fill(txn, worker, 256))? {
            while let Some(row) = scan.next_row() {
                loader.add(row.key, row.payload)?;
            }
        }
        loader.finish()
    }

    pub fn put_meta(&mut self, next_table_id: u64) -> Result<()> {
        let json = to_json(&Meta { format: FORMAT, next_table_id });
        self.put(&[KIND_META], &json)
    }

    pub fn put_database(&mut self, name: &str, collation: CollationId) -> Result<()> {
        self.put(&database_key(name), &to_json(&DatabaseRecord { collation }))
    }

    pub fn remove_database(&mut self, name: &str) -> Result<()> {
        self.remove(&database_key(name)).map(drop)
    }

    pub fn put_table(&mut self, table: &StoredTable) -> Result<()> {
        let blob_tree = table.blob_tree.map(|t| (t.id, t.root));
        let json = to_json(&TableRecordRef { def: &table.def, blob_tree });
        let kind = if table.def.view.is_some() { KIND_VIEW } else { KIND_TABLE };
        self.put_chunks(kind, table.def.id, &json)
    }

    pub fn put_statistics(&mut self, id: TableId, statistics: &TableStatistics) -> Result<()> {
        self.put_chunks(KIND_STATISTICS, id, &to_json(statistics))
    }

    pub fn put_routine(&mut self, routine: &RoutineDef) -> Result<()> {
        self.put_pieces(&to_json(routine), |chunk| routine_key(routine, chunk))
    }

    pub fn remove_routine(&mut self, routine: &RoutineDef) -> Result<()> {
        self.remove_pieces(0, |chunk| routine_key(routine, chunk))
    }

    pub fn put_event(&mut self, event: &EventDef) -> Result<()> {
        let (database, name) = (&event.program.database, event.key());
        self.put_pieces(&to_json(event), |chunk| chunk_of(KIND_EVENT, database, &name, chunk))
    }

    /// Takes the event away, and when it was run.
    pub fn remove_event(&mut self, event: &EventDef) -> Result<()> {
        let (database, name) = (&event.program.database, event.key());
        self.remove(&name_key(KIND_EVENT_RUN, database, &name))?;
        self.remove_pieces(0, |chunk| chunk_of(KIND_EVENT, database, &name, chunk))
    }

    pub fn put_event_run(&mut self, event: &EventDef, seconds: i64) -> Result<()> {
        self.put(&name_key(KIND_EVENT_RUN, &event.program.database, &event.key()), &seconds.to_le_bytes())
    }

    pub fn remove_event_run(&mut self, event: &EventDef) -> Result<()> {
        self.remove(&name_key(KIND_EVENT_RUN, &event.program.database, &event.key())).map(drop)
    }

    fn put_chunks(&mut self, kind: u8, id: TableId, json: &[u8]) -> Result<()> {
        self.put_pieces(json, |chunk| chunk_key(kind, id, chunk))
    }

    /// Writes a text in pieces, and replaces the old pieces.
    fn put_pieces<K: AsRef<[u8]>>(&mut self, json: &[u8], key: impl Fn(u16) -> K) -> Result<()> {
        let mut chunk = 0u16;
        for piece in json.chunks(CHUNK_BYTES) {
            self.put(key(chunk).as_ref(), piece)?;
            chunk += 1;
        }
        self.remove_pieces(chunk, key)
    }

    pub fn remove_table(&mut self, id: TableId) -> Result<()> {
        self.remove_chunks(KIND_TABLE, id, 0)?;
        self.remove_chunks(KIND_VIEW, id, 0)?;
        self.remove_chunks(KIND_STATISTICS, id, 0)?;
        self.remove(&counter_key(KIND_AUTO_INCREMENT, id))?;
        self.remove(&counter_key(KIND_ESTIMATE, id)).map(drop)
    }

    /// Writes an account, or removes it.
    pub fn put_account(&mut self, name: &[u8], json: Option<&[u8]>) -> Result<()> {
        let mut chunk = 0u16;
        for piece in json.unwrap_or_default().chunks(CHUNK_BYTES) {
            self.put(&account_key(name, chunk), piece)?;
            chunk += 1;
        }
        while self.remove(&account_key(name, chunk))? {
            chunk += 1;
        }
        Ok(())
    }

    pub fn put_auto_increment(&mut self, id: TableId, bound: u64) -> Result<()> {
        self.put(&counter_key(KIND_AUTO_INCREMENT, id), &bound.to_le_bytes())
    }

    pub fn put_estimate(&mut self, id: TableId, rows: u64) -> Result<()> {
        self.put(&counter_key(KIND_ESTIMATE, id), &rows.to_le_bytes())
    }

    pub fn put_orphan(&mut self, tree: TreeRef) -> Result<()> {
        self.put(&orphan_key(tree), &[])
    }

    pub fn remove_orphan(&mut self, tree: TreeRef) -> Result<()> {
        self.remove(&orphan_key(tree)).map(drop)
    }

    fn remove_chunks(&mut self, kind: u8, id: TableId, first: u16) -> Result<()> {
        self.remove_pieces(first, |chunk| chunk_key(kind, id, chunk))
    }

    fn remove_pieces<K: AsRef<[u8]>>(&mut self, first: u16, key: impl Fn(u16) -> K) -> Result<()> {
        let mut chunk = first;
        while self.remove(key(chunk).as_ref())? {
            chunk += 1;
        }
        Ok(())
    }

    fn put(&mut self, key: &[u8], payload: &[u8]) -> Result<()> {
        let (worker, tree, scratch) = (self.worker, self.tree, &mut self.scratch);
        let txn = self.txn.as_mut().expect("open until commit");
        loop {
            let done = match blocking(|| txn.read_latest(worker, tree, key, scratch))? {
                Some(seen) => blocking(|| txn.update(worker, tree, key, seen, payload))? == WriteOutcome::Done,
                None => blocking(|| txn.insert(worker, tree, key, payload))? == InsertOutcome::Inserted,
            };
            if done {
                return Ok(());
            }
        }
    }

    fn remove(&mut self, key: &[u8]) -> Result<bool> {
        let (worker, tree, scratch) = (self.worker, self.tree, &mut self.scratch);
        let txn = self.txn.as_mut().expect("open until commit");
        while let Some(seen) = blocking(|| txn.read_latest(worker, tree, key, scratch))? {
            if blocking(|| txn.delete(worker, tree, key, seen))? == WriteOutcome::Done {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Drop for CatalogTxn<'_> {
    fn drop(&mut self) {
        if let Some(mut txn) = self.txn.take() {
            // An engine that cannot roll back has failed for good; the error that led here is the one to tell.
            let _ = blocking(|| txn.rollback(self.worker));
        }
    }
}

/// Raises the persisted AUTO_INCREMENT bound of a table in a transaction of its own, without blocking: on a stall nothing has been
/// written and the call is made again.
pub(crate) fn lease_auto_increment(worker: &Worker, id: TableId, bound: u64) -> txn::Result<()> {
    let tree = worker.engine().catalog_tree();
    let key = counter_key(KIND_AUTO_INCREMENT, id);
    let mut txn = worker.begin(Isolation::ReadCommitted);
    let mut payload = Vec::with_capacity(8);
    let outcome = loop {
        let written = match txn.read_latest(worker, tree, &key, &mut payload) {
            Ok(Some(_)) if u64_of(&payload).is_some_and(|present| present >= bound) => break Ok(()),
            Ok(Some(seen)) => {
                txn.update(worker, tree, &key, seen, &bound.to_le_bytes()).map(|outcome| outcome == WriteOutcome::Done)
            }
            Ok(None) => txn.insert(worker, tree, &key, &bound.to_le_bytes()).map(|outcome| outcome == InsertOutcome::Inserted),
            Err(interrupt) => Err(interrupt),
        };
        match written {
            Ok(true) => break Ok(()),
            Ok(false) => {}
            Err(interrupt) => break Err(interrupt),
        }
    };
    match outcome {
        Ok(()) => {
            // The next transaction that commits durably flushes the log; numbers are leased well ahead of their use.
            let _ = txn.commit(worker);
            Ok(())
        }
        Err(interrupt) => {
            // Nothing was written, so there is nothing to undo that could stall.
            blocking(|| txn.rollback(worker))?;
            Err(interrupt)
        }
    }
}

/// Puts the catalog's records together.
#[derive(Default)]
pub(crate) struct Loader {
    contents: Contents,
    /// Table id -> the JSON of its definition, as far as it was read.
    chunks: BTreeMap<u64, Vec<u8>>,
    /// Table id -> the JSON of its statistics.
    statistics: BTreeMap<u64, Vec<u8>>,
    /// Key without the chunk number -> the JSON of a routine.
    routines: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The JSON of events.
    events: BTreeMap<Vec<u8>, Vec<u8>>,
    format: Option<u32>,
}

impl Loader {
    /// Takes the next record, in key order.
    pub fn add(&mut self, key: &[u8], payload: &[u8]) -> Result<()> {
        if let [KIND_STATISTICS, rest @ ..] = key {
            let id = rest.first_chunk().ok_or_else(|| corrupt("a short statistics key"))?;
            self.statistics.entry(u64::from_be_bytes(*id)).or_default().extend_from_slice(payload);
            return Ok(());
        }
        if let [KIND_PROCEDURE | KIND_FUNCTION, ..] = key {
            let (name, _) = key.split_last_chunk::<2>().ok_or_else(|| corrupt("a short routine key"))?;
            self.routines.entry(name.to_vec()).or_default().extend_from_slice(payload);
            return Ok(());
        }
        if let [KIND_EVENT, ..] = key {
            let (name, _) = key.split_last_chunk::<2>().ok_or_else(|| corrupt("a short event key"))?;
            self.events.entry(name.to_vec()).or_default().extend_from_slice(payload);
            return Ok(());
        }
        load_record(key, payload, &mut self.contents, &mut self.chunks, &mut self.format)
    }

    pub fn finish(mut self) -> Result<Contents> {
        for (id, json) in &self.chunks {
            self.contents.tables.push(parse_table(*id, json)?);
        }
        for (id, json) in &self.statistics {
            // C4
            if let Ok(statistics) = serde_json::from_slice(json) {
                self.contents.statistics.insert(TableId(*id), statistics);
            }
        }
        for json in self.routines.values() {
            self.contents.routines.push(from_json("routine", json)?);
        }
        for json in self.events.values() {
            self.contents.events.push(from_json("event", json)?);
        }
        match self.format {
            None if self.contents.databases.is_empty() && self.contents.tables.is_empty() => {}
            Some(FORMAT) => {}
            Some(other) => return Err(corrupt(format!("format {other}, this version reads {FORMAT}"))),
            None => return Err(corrupt("no meta record")),
        }
        Ok(self.contents)
    }
}

fn load_record(
    key: &[u8],
    payload: &[u8],
    contents: &mut Contents,
    chunks: &mut BTreeMap<u64, Vec<u8>>,
    format: &mut Option<u32>,
) -> Result<()> {
    let (&kind, rest) = key.split_first().ok_or_else(|| corrupt("an empty key"))?;
    match kind {
        KIND_META => {
            let meta: Meta = from_json("meta", payload)?;
            *format = Some(meta.format);
            contents.next_table_id = meta.next_table_id;
        }
        KIND_DATABASE => {
            let name = String::from_utf8(rest.to_vec()).map_err(|_| corrupt("a database name is not UTF-8"))?;
            let record: DatabaseRecord = from_json("database", payload)?;
            contents.databases.insert(name, record.collation);
        }
        // Ids of tables and views are one sequence.
        KIND_TABLE | KIND_VIEW => {
            let (id, _chunk) = rest.split_first_chunk().ok_or_else(|| corrupt("a short table key"))?;
            chunks.entry(u64::from_be_bytes(*id)).or_default().extend_from_slice(payload);
        }
        KIND_AUTO_INCREMENT | KIND_ESTIMATE => {
            let id =
                rest.first_chunk().map(|id| TableId(u64::from_be_bytes(*id))).ok_or_else(|| corrupt("a short counter key"))?;
            let value = u64_of(payload).ok_or_else(|| corrupt("a counter is not 8 bytes long"))?;
            let counters = if kind == KIND_ESTIMATE { &mut contents.estimates } else { &mut contents.auto_increment };
            counters.insert(id, value);
        }
        KIND_ACCOUNT => {
            let Some((name, &[0, _, _])) = rest.split_last_chunk::<3>() else { return Err(corrupt("a short account key")) };
            contents.accounts.entry(name.to_vec()).or_default().extend_from_slice(payload);
        }
        KIND_EVENT_RUN => {
            let seconds = payload.try_into().map(i64::from_le_bytes).map_err(|_| corrupt("a time is not 8 bytes long"))?;
            contents.event_runs.insert(names_of(rest)?, seconds);
        }
        KIND_PREPARED => {
            let (number, part) = rest.split_first_chunk().ok_or_else(|| corrupt("a short key of a prepared transaction"))?;
            let part = part.try_into().map_err(|_| corrupt("a short key of a prepared transaction"))?;
            let parts = contents.prepared.entry(u64::from_be_bytes(*number)).or_default();
            *parts = u32::from_be_bytes(part).saturating_add(1).max(*parts);
        }
        KIND_ORPHAN => {
            let (id, root) = rest.split_first_chunk::<4>().ok_or_else(|| corrupt("a short orphan key"))?;
            let root = root.first_chunk::<4>().ok_or_else(|| corrupt("a short orphan key"))?;
            contents.orphans.push(TreeRef { id: u32::from_be_bytes(*id), root: u32::from_be_bytes(*root) });
        }
        other => return Err(corrupt(format!("a record of kind {other}"))),
    }
    Ok(())
}

pub(crate) fn parse_table(id: u64, json: &[u8]) -> Result<StoredTable> {
    let record: TableRecord = from_json("table", json)?;
    if record.def.id.0 != id {
        return Err(corrupt(format!("table {id} says it is {}", record.def.id.0)));
    }
    let columns = record.def.columns.len();
    if record.def.view.is_some() {
        return if record.def.indexes.is_empty() && record.blob_tree.is_none() {
            Ok(StoredTable { def: Arc::new(record.def), blob_tree: None })
        } else {
            Err(corrupt(format!("view {id} has trees")))
        };
    }
    if record.def.indexes.is_empty() || record.def.indexes.iter().flat_map(|i| &i.columns).any(|c| c.column >= columns) {
        return Err(corrupt(format!("the indexes of table {id} do not fit its columns")));
    }
    Ok(StoredTable { def: Arc::new(record.def), blob_tree: record.blob_tree.map(|(id, root)| TreeRef { id, root }) })
}

fn database_key(name: &str) -> Vec<u8> {
    let mut key = vec![KIND_DATABASE];
    key.extend_from_slice(name.as_bytes());
    key
}

fn chunk_key(kind: u8, id: TableId, chunk: u16) -> [u8; 11] {
    let mut key = [kind; 11];
    key[1..9].copy_from_slice(&id.0.to_be_bytes());
    key[9..].copy_from_slice(&chunk.to_be_bytes());
    key
}

fn account_key(name: &[u8], chunk: u16) -> Vec<u8> {
    let mut key = vec![KIND_ACCOUNT];
    key.extend_from_slice(name);
    key.push(0);
    key.extend_from_slice(&chunk.to_be_bytes());
    key
}

fn routine_key(routine: &RoutineDef, chunk: u16) -> Vec<u8> {
    let (function, name) = routine.key();
    chunk_of(if function { KIND_FUNCTION } else { KIND_PROCEDURE }, &routine.database, &name, chunk)
}

/// A piece of the JSON of a named object in a database.
fn chunk_of(kind: u8, database: &str, name: &str, chunk: u16) -> Vec<u8> {
    let mut key = name_key(kind, database, name);
    key.extend_from_slice(&chunk.to_be_bytes());
    key
}

fn name_key(kind: u8, database: &str, name: &str) -> Vec<u8> {
    let mut key = vec![kind];
    for name in [database, name] {
        key.extend_from_slice(name.as_bytes());
        key.push(0);
    }
    key
}

/// The names in such a key, after the kind.
fn names_of(key: &[u8]) -> Result<(String, String)> {
    let text = |part: Option<&[u8]>| part.and_then(|part| String::from_utf8(part.to_vec()).ok());
    let mut parts = key.split(|byte| *byte == 0);
    match (text(parts.next()), text(parts.next())) {
        (Some(database), Some(name)) => Ok((database, name)),
        _ => Err(corrupt("a key without names")),
    }
}

fn counter_key(kind: u8, id: TableId) -> [u8; 9] {
    let mut key = [kind; 9];
    key[1..].copy_from_slice(&id.0.to_be_bytes());
    key
}

pub(crate) fn prepared_key(number: u64, part: u32) -> [u8; 13] {
    let mut key = [KIND_PREPARED; 13];
    key[1..9].copy_from_slice(&number.to_be_bytes());
    key[9..].copy_from_slice(&part.to_be_bytes());
    key
}

fn orphan_key(tree: TreeRef) -> [u8; 9] {
    let mut key = [KIND_ORPHAN; 9];
    key[1..5].copy_from_slice(&tree.id.to_be_bytes());
    key[5..].copy_from_slice(&tree.root.to_be_bytes());
    key
}

fn u64_of(payload: &[u8]) -> Option<u64> {
    payload.try_into().ok().map(u64::from_le_bytes)
}

fn corrupt(what: impl Into<String>) -> Error {
    Error::CorruptCatalog { what: what.into() }
}

fn to_json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("plain data with string keys always serializes")
}

fn from_json<'a, T: Deserialize<'a>>(what: &str, json: &'a [u8]) -> Result<T> {
    serde_json::from_slice(json).map_err(|error| corrupt(format!("{what}: {error}")))
}
