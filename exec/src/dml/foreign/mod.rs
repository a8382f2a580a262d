//! Foreign keys of a statement: rows are written through a [`Checker`], which checks both sides of each key.
//!
//! ```text
//! insert, update of a child     before the entry of the key's index is made: the parent's entry is locked, shared    (1452)
//! update, delete of a parent    when the row is written: its children are looked for by the child's index            (1451)
//!                               or deleted, set to NULL, given the new key, and so on down (`cascade`)
//! ```
//!
//! K1: parents and children are read in their committed state, under a lock, never from the transaction's snapshot (`table::Lookup`).
//! K2: no orphan: a transaction that inserts a child holds a shared lock of the parent's entry from before the child's entry exists until it
//!     ends. A transaction that deletes the parent first writes its entry, which waits for that lock, and then looks for children, which
//!     waits for each uncommitted one. So the later of the two sees the change of the earlier one.
//! K3: a row and the actions of its keys are one change: if IGNORE leaves the row out, all of it is undone, to a savepoint before the row.
//! K4: tables on both sides are tables of the plan: their metadata locks are held, shared, until the statement's transaction ends, so
//!     neither keys nor their indexes change meanwhile (`table::ddl`, F2 and F3).

mod cascade;
mod plan;

pub(crate) use plan::{ForeignKeys, for_plan};

use super::Changes;
use super::writer::Writer;
use crate::clock::Slice;
use crate::shared::Shared;
use crate::wait::{self, engine};
use cascade::Frame;
use expr::{Error, Result};
use plan::{Node, ParentKey};
use smallvec::SmallVec;
use table::{InsertRow, Lookup, Progress, RowBuf, RowRead, Table, WriteRow};
use txn::LockMode;
use types::Value;

/// The foreign keys of one table that a statement writes.
pub(crate) struct Checker<'p> {
    keys: &'p ForeignKeys,
    node: usize,
    /// Rows that violate a key are left out, with a warning.
    ignore: bool,
    lookup: Lookup,
    key: Vec<u8>,
    /// For rows that keys change, below the statement's own row.
    progress: Progress,
    /// Unused frames of a cascade.
    spare: Vec<Frame>,
    clock: Slice,
}

impl<'p> Checker<'p> {
    /// `None`: there is nothing to check: the table has no keys that the statement affects, or `foreign_key_checks` is off.
    pub fn new(keys: Option<&'p ForeignKeys>, table: &Table, shared: &Shared<'_>, ignore: bool) -> Option<Self> {
        let keys = keys.filter(|_| shared.session.foreign_key_checks)?;
        let node = keys.node_of(table.id())?;
        Some(Self {
            keys,
            node,
            ignore,
            lookup: Lookup::default(),
            key: Vec::new(),
            progress: Progress::new(),
            spare: Vec::new(),
            clock: Slice::until(None),
        })
    }

    /// Inserts a row. `None`: it has no parent and is left out.
    pub async fn insert(
        &mut self,
        writer: &mut Writer<'_, '_>,
        values: &[Value<'_>],
        progress: &mut Progress,
    ) -> Result<Option<InsertRow>> {
        let savepoint = writer.txn.savepoint();
        let outcome = self.insert_checked(writer, values, progress).await;
        match outcome {
            Ok(outcome) => Ok(Some(outcome)),
            Err(error) => self.leave_out(writer, savepoint, error, progress).await.map(|()| None),
        }
    }

    async fn insert_checked(
        &mut self,
        writer: &mut Writer<'_, '_>,
        values: &[Value<'_>],
        progress: &mut Progress,
    ) -> Result<InsertRow> {
        let node = self.keys.node(self.node);
        progress.pause_at(node.pauses);
        loop {
            let Writer { worker, txn, shared } = writer;
            match engine!(shared.session, node.table.insert_row(worker, txn, values, progress))? {
                InsertRow::Paused { index } => {
                    for parent in node.parents.iter().filter(|parent| parent.index == index) {
                        self.check_parent(writer, node, parent, |column| Some(values[column].borrowed())).await?;
                    }
                }
                outcome => return Ok(outcome),
            }
        }
    }

    /// Changes a row that was read at its current version. `None`: a key forbids the change, and the row stays as it was.
    pub async fn update(
        &mut self,
        writer: &mut Writer<'_, '_>,
        old: &RowBuf,
        changes: &[(usize, Value<'_>)],
        progress: &mut Progress,
        counts: &mut Changes,
    ) -> Result<Option<WriteRow>> {
        let savepoint = writer.txn.savepoint();
        let before = if self.ignore { counts.cascaded.clone() } else { Vec::new() };
        let outcome = self.update_checked(writer, old, changes, progress, counts).await;
        match outcome {
            Ok(outcome) => Ok(Some(outcome)),
            Err(error) => self.leave_cascade_out(writer, savepoint, error, progress, counts, before).await.map(|()| None),
        }
    }

    async fn update_checked(
        &mut self,
        writer: &mut Writer<'_, '_>,
        old: &RowBuf,
        changes: &[(usize, Value<'_>)],
        progress: &mut Progress,
        counts: &mut Changes,
    ) -> Result<WriteRow> {
        let node = self.keys.node(self.node);
        let loaded = self.loaded(writer, node, old).await?;
        let old = loaded.as_ref().unwrap_or(old);
        let outcome = self.write_update(writer, node, None, old, changes, progress).await?;
        if outcome == WriteRow::Done && node.children.iter().any(|child| child.is_moved(changes)) {
            self.cascade(writer, old, Some(changes), counts).await?;
        }
        Ok(outcome)
    }

    /// Writes a changed row and checks the parents of its new values, except for the key `but`, whose action made the change.
    async fn write_update(
        &mut self,
        writer: &mut Writer<'_, '_>,
        node: &Node,
        but: Option<usize>,
        old: &RowBuf,
        changes: &[(usize, Value<'_>)],
        progress: &mut Progress,
    ) -> Result<WriteRow> {
        progress.pause_at(node.pauses);
        loop {
            let Writer { worker, txn, shared } = writer;
            match engine!(shared.session, node.table.update_row(worker, txn, old, changes, progress))? {
                WriteRow::Paused { index } => {
                    let is_new =
                        |parent: &&ParentKey| parent.index == index && Some(parent.key) != but && parent.is_changed(changes);
                    for parent in node.parents.iter().filter(is_new) {
                        let row = old.row(&node.table);
                        let value = |column: usize| match changes.iter().find(|(c, _)| *c == column) {
                            Some((_, value)) => Some(value.borrowed()),
                            None => row.get(column).ok(),
                        };
                        self.check_parent(writer, node, parent, value).await?;
                    }
                }
                outcome => return Ok(outcome),
            }
        }
    }

    /// Deletes a row that was read at its current version. `None`: a key forbids it, and the row stays.
    pub async fn delete(
        &mut self,
        writer: &mut Writer<'_, '_>,
        old: &RowBuf,
        progress: &mut Progress,
        counts: &mut Changes,
    ) -> Result<Option<WriteRow>> {
        let savepoint = writer.txn.savepoint();
        let before = if self.ignore { counts.cascaded.clone() } else { Vec::new() };
        let outcome = self.delete_checked(writer, old, progress, counts).await;
        match outcome {
            Ok(outcome) => Ok(Some(outcome)),
            Err(error) => {
                let worker = writer.worker;
                self.leave_cascade_out(writer, savepoint, error, progress, counts, before).await?;
                self.keys.node(self.node).table.adjust_estimated_rows(worker, 1);
                Ok(None)
            }
        }
    }

    async fn delete_checked(
        &mut self,
        writer: &mut Writer<'_, '_>,
        old: &RowBuf,
        progress: &mut Progress,
        counts: &mut Changes,
    ) -> Result<WriteRow> {
        let node = self.keys.node(self.node);
        let loaded = self.loaded(writer, node, old).await?;
        let old = loaded.as_ref().unwrap_or(old);
        let Writer { worker, txn, shared } = writer;
        let outcome = engine!(shared.session, node.table.delete_row(worker, txn, old, progress))?;
        if outcome == WriteRow::Done && !node.children.is_empty() {
            self.cascade(writer, old, None, counts).await?;
        }
        Ok(outcome)
    }

    /// The row with the large values that keys read, if it has any: they cannot be read while the row is written.
    async fn loaded(&mut self, writer: &mut Writer<'_, '_>, node: &Node, row: &RowBuf) -> Result<Option<RowBuf>> {
        if !node.table.has_externals(row) {
            return Ok(None);
        }
        let mut copy = RowBuf::new();
        copy.copy_from(row);
        let Writer { worker, txn, shared } = writer;
        // If the row has changed meanwhile, the write will find out.
        engine!(shared.session, node.table.load_externals(worker, txn, RowRead::Latest, &node.wanted, &mut copy))?;
        Ok(Some(copy))
    }

    /// Finds and locks the parent of the row's values, so that it stays. Without a parent: 1452.
    async fn check_parent<'v>(
        &mut self,
        writer: &mut Writer<'_, '_>,
        node: &Node,
        parent: &ParentKey,
        value: impl Fn(usize) -> Option<Value<'v>>,
    ) -> Result<()> {
        let columns = &node.table.def().foreign_keys[parent.key].columns;
        let values: SmallVec<[Value<'_>; 4]> = columns.iter().map(|column| value(*column).unwrap_or(Value::Null)).collect();
        // MATCH SIMPLE: a NULL refers to nothing.
        if values.iter().any(Value::is_null) {
            return Ok(());
        }
        if let Some((table, reference)) = &parent.parent {
            if table.id() == node.table.id() && reference.is_own_parent(table, &value) {
                return Ok(());
            }
            let Writer { worker, txn, shared } = writer;
            let (key, lookup, index) = (&mut self.key, &mut self.lookup, reference.parent_index);
            if reference.encode_parent_key(table, &values, key)
                && engine!(shared.session, table.lock_key(worker, txn, index, key, LockMode::Share, lookup))?
            {
                return Ok(());
            }
        }
        Err(Error::NoReferencedRow { constraint: node.constraint(parent.key) })
    }

    /// As [`Self::leave_out`], for a row whose children may have been changed; `before`: the counts to restore.
    async fn leave_cascade_out(
        &mut self,
        writer: &mut Writer<'_, '_>,
        savepoint: txn::Savepoint,
        error: Error,
        progress: &mut Progress,
        counts: &mut Changes,
        before: Vec<(usize, i64)>,
    ) -> Result<()> {
        let worker = writer.worker;
        self.leave_out(writer, savepoint, error, progress).await?;
        counts.forget_cascaded(worker, self.keys, before);
        Ok(())
    }

    /// With IGNORE, undoes the changes since the savepoint and warns (K3); otherwise the statement fails with the error.
    async fn leave_out(
        &mut self,
        writer: &mut Writer<'_, '_>,
        savepoint: txn::Savepoint,
        error: Error,
        progress: &mut Progress,
    ) -> Result<()> {
        let is_violation = matches!(error, Error::NoReferencedRow { .. } | Error::RowIsReferenced { .. });
        if !self.ignore || !is_violation {
            return Err(error);
        }
        progress.reset();
        self.progress.reset();
        wait::roll_back_to(writer.worker, writer.txn, savepoint).await?;
        writer.shared.session.warn(error);
        Ok(())
    }
}
