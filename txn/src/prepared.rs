//! A transaction that outlives the server: its changes are read to be kept elsewhere, and are made again by another one.
//!
//! After a crash every open transaction is undone. A transaction that was prepared (XA PREPARE) must be open again, so whoever keeps its
//! changes makes them anew, in a transaction of the next start.
//!
//! X1: the changes of an open transaction stay as they are while it does nothing: its undo is pinned (U1), and its records carry its mark.
//! X2: for each record that it changed, what is read is the newest version. A record may be read more than once; making a change twice
//!     is the same as making it once.

use crate::undo::ReadError;
use crate::{Error, InsertOutcome, Result, TreeRef, Txn, Worker, WriteOutcome};

/// A place among the changes of a transaction, from the newest to the oldest.
#[derive(Clone, Copy, Debug)]
pub struct ChangeCursor(u64);

/// A record that the transaction has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    pub tree: TreeRef,
    /// The record is there; otherwise it was deleted.
    pub is_there: bool,
}

impl Txn {
    /// Where its changes begin.
    pub fn changed(&self) -> ChangeCursor {
        ChangeCursor(self.undo_last)
    }

    /// The next record that it has changed; `key` and `payload` are replaced. `None`: there are no more.
    ///
    /// # Errors
    /// A stall: await it and call again. I/O.
    pub fn next_changed(
        &mut self,
        worker: &Worker,
        cursor: &mut ChangeCursor,
        key: &mut Vec<u8>,
        payload: &mut Vec<u8>,
    ) -> Result<Option<Changed>> {
        if cursor.0 == 0 {
            return Ok(None);
        }
        key.clear();
        let head = worker.engine.undo.read(cursor.0, Some(key), None).map_err(|error| {
            debug_assert!(!matches!(error, ReadError::Gone), "X1");
            Error::Storage(error.to_string())
        })?;
        let seen = self.read_latest(worker, head.tree, key, payload)?;
        cursor.0 = head.txn_prev;
        Ok(Some(Changed { tree: head.tree, is_there: seen.is_some() }))
    }

    /// Makes a change that another transaction had made: the record has this payload then, or is not there. X2
    ///
    /// # Errors
    /// As [`Txn::insert`].
    pub fn change_again(&mut self, worker: &Worker, tree: TreeRef, key: &[u8], payload: Option<&[u8]>) -> Result<()> {
        let mut present = Vec::new();
        loop {
            let seen = self.read_latest(worker, tree, key, &mut present)?;
            let done = match (seen, payload) {
                (None, None) => true,
                (None, Some(payload)) => self.insert(worker, tree, key, payload)? == InsertOutcome::Inserted,
                (Some(seen), Some(payload)) if seen.0 == self.id && present == payload => true,
                (Some(seen), Some(payload)) => self.update(worker, tree, key, seen, payload)? == WriteOutcome::Done,
                (Some(seen), None) => self.delete(worker, tree, key, seen)? == WriteOutcome::Done,
            };
            if done {
                return Ok(());
            }
        }
    }
}
