//! Prepared transactions (XA PREPARE) as records of the catalog, so that the next start makes them again.
//!
//! ```text
//! stream of a transaction = change*, the newest first | head | head bytes (u32)
//! change                  = key | payload | tree id (u32) | root (u32) | key bytes (u16) | payload bytes (u16), 0xffff: deleted
//! ```
//! All numbers are little-endian. The stream is read from its end: the head, then the changes in the order in which they were made, so
//! that the log has them in that order again. What the head means is the server's business. The stream stands in parts of `PART_BYTES`, in
//! records of kind 24; they are written by a transaction of their own, which is durable before the client hears that its transaction is prepared.
//!
//! P1: a prepared transaction removes its own parts when it commits, so it cannot be both committed and prepared after a crash.
//! P2: when it is rolled back, its parts are removed afterwards: until then a crash makes it prepared again, and nobody has heard more.

use crate::catalog::PREPARED_PART_BYTES as PART_BYTES;
use crate::catalog::prepared_key;
use txn::{ChangeCursor, Changed, Error, InsertOutcome, Result, TreeRef, Txn, Worker, WriteOutcome};

/// In place of the bytes of a payload: the record was deleted.
const DELETED: u16 = u16::MAX;
const CHANGE_TAIL_BYTES: usize = 12;
const _: () = assert!(txn::RECORD_BYTES_MAX < DELETED as usize);

/// Writes the stream of a transaction, in steps that can be repeated after a stall.
pub struct PreparedWriter {
    id: u64,
    part: u32,
    head: Vec<u8>,
    buffer: Vec<u8>,
    cursor: ChangeCursor,
    is_read: bool,
    scratch: (Vec<u8>, Vec<u8>),
}

impl PreparedWriter {
    /// `id`: a number that no other prepared transaction has.
    pub fn new(id: u64, head: Vec<u8>, prepared: &Txn) -> Self {
        let cursor = prepared.changed();
        Self { id, part: 0, head, buffer: Vec::new(), cursor, is_read: false, scratch: Default::default() }
    }

    /// Takes one step: reads a change of `prepared`, or writes a part by `store`. `Ok(true)`: all is written.
    ///
    /// # Errors
    /// A stall: await it and call again. I/O.
    pub fn step(&mut self, worker: &Worker, prepared: &mut Txn, store: &mut Txn) -> Result<bool> {
        if !self.is_read && self.buffer.len() < PART_BYTES {
            let (key, payload) = &mut self.scratch;
            match prepared.next_changed(worker, &mut self.cursor, key, payload)? {
                None => {
                    self.is_read = true;
                    self.buffer.extend_from_slice(&self.head);
                    self.buffer.extend_from_slice(&(self.head.len() as u32).to_le_bytes());
                }
                Some(changed) => put_change(&mut self.buffer, changed, key, payload),
            }
            return Ok(false);
        }
        if self.buffer.is_empty() {
            return Ok(true);
        }
        let part = &self.buffer[..self.buffer.len().min(PART_BYTES)];
        let outcome = store.insert(worker, worker.engine().catalog_tree(), &prepared_key(self.id, self.part), part)?;
        if outcome == InsertOutcome::Duplicate {
            return Err(Error::Storage(format!("prepared transaction {} is there already", self.id)).into());
        }
        self.buffer.drain(..self.buffer.len().min(PART_BYTES));
        self.part += 1;
        Ok(self.is_read && self.buffer.is_empty())
    }
}

fn put_change(out: &mut Vec<u8>, changed: Changed, key: &[u8], payload: &[u8]) {
    let bytes = if changed.is_there { payload.len() as u16 } else { DELETED };
    out.extend_from_slice(key);
    if changed.is_there {
        out.extend_from_slice(payload);
    }
    out.extend_from_slice(&changed.tree.id.to_le_bytes());
    out.extend_from_slice(&changed.tree.root.to_le_bytes());
    out.extend_from_slice(&(key.len() as u16).to_le_bytes());
    out.extend_from_slice(&bytes.to_le_bytes());
}

/// Makes the changes of a stream again, in steps that can be repeated after a stall.
pub struct PreparedReader {
    id: u64,
    /// Parts that are not read yet.
    parts: u32,
    /// The end of what is not used yet.
    buffer: Vec<u8>,
    scratch: Vec<u8>,
}

impl PreparedReader {
    /// `parts`: how many the transaction has.
    pub fn new(id: u64, parts: u32) -> Self {
        Self { id, parts, buffer: Vec::new(), scratch: Vec::new() }
    }

    /// Reads the part before what is in the buffer.
    fn fill(&mut self, worker: &Worker, txn: &mut Txn) -> Result<()> {
        let Some(part) = self.parts.checked_sub(1) else { return Err(self.damage()) };
        let key = prepared_key(self.id, part);
        if txn.read_latest(worker, worker.engine().catalog_tree(), &key, &mut self.scratch)?.is_none() {
            return Err(self.damage());
        }
        self.buffer.splice(..0, self.scratch.iter().copied());
        self.parts = part;
        Ok(())
    }

    /// The head: call it until it answers, before [`Self::step`].
    ///
    /// # Errors
    /// A stall; damage.
    pub fn head(&mut self, worker: &Worker, txn: &mut Txn) -> Result<Vec<u8>> {
        loop {
            if let Some((rest, bytes)) = self.buffer.split_last_chunk()
                && let Some(start) = rest.len().checked_sub(u32::from_le_bytes(*bytes) as usize)
            {
                let head = rest[start..].to_vec();
                self.buffer.truncate(start);
                return Ok(head);
            }
            self.fill(worker, txn)?;
        }
    }

    /// Makes the next change. `Ok(true)`: all are made.
    ///
    /// # Errors
    /// A stall: await it and call again. Damage; I/O.
    pub fn step(&mut self, worker: &Worker, txn: &mut Txn) -> Result<bool> {
        let Some((changed, key, payload, rest)) = change(&self.buffer) else {
            if self.buffer.is_empty() && self.parts == 0 {
                return Ok(true);
            }
            self.fill(worker, txn)?;
            return Ok(false);
        };
        txn.change_again(worker, changed.tree, key, changed.is_there.then_some(payload))?;
        self.buffer.truncate(rest);
        Ok(false)
    }

    fn damage(&self) -> txn::Interrupt {
        Error::Storage(format!("the record of prepared transaction {} is damaged", self.id)).into()
    }
}

/// The last change of a stream: its key, its payload, and where it begins. `None`: it is not whole.
fn change(stream: &[u8]) -> Option<(Changed, &[u8], &[u8], usize)> {
    let (rest, tail) = stream.split_last_chunk::<CHANGE_TAIL_BYTES>()?;
    let word = |at: usize| u32::from_le_bytes([tail[at], tail[at + 1], tail[at + 2], tail[at + 3]]);
    let half = |at: usize| u16::from_le_bytes([tail[at], tail[at + 1]]);
    let is_there = half(10) != DELETED;
    let (key_bytes, payload_bytes) = (usize::from(half(8)), if is_there { usize::from(half(10)) } else { 0 });
    let start = rest.len().checked_sub(key_bytes + payload_bytes)?;
    let (key, payload) = rest[start..].split_at(key_bytes);
    let changed = Changed { tree: TreeRef { id: word(0), root: word(4) }, is_there };
    Some((changed, key, payload, start))
}

/// Removes a part of a prepared transaction by `txn`. `Ok(false)`: there is no such part.
///
/// # Errors
/// A stall: await it and call again. I/O.
pub fn remove_prepared_part(worker: &Worker, txn: &mut Txn, id: u64, part: u32) -> Result<bool> {
    let (tree, key) = (worker.engine().catalog_tree(), prepared_key(id, part));
    let mut present = Vec::new();
    while let Some(seen) = txn.read_latest(worker, tree, &key, &mut present)? {
        if txn.delete(worker, tree, &key, seen)? == WriteOutcome::Done {
            return Ok(true);
        }
    }
    Ok(false)
}
