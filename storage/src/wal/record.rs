//! Log records: how they are written and read back.
//!
//! ```text
//! length u32 (of the whole record) | kind u8 | body, all little-endian
//! ROW (1)        op u8 | new flags u8 | old flags u8 | bits u8 (1: an old version existed, 2: compensation) |
//!                page u32 | tree u32 | root u32 | lsn u64 | txn u64 | mark u64 | old mark u64 |
//!                key bytes u16 | new bytes u16 | old bytes u16 | key | new payload | old payload
//! STRUCTURE (2)  parts u16, each: page u32 | lsn u64 | op u8 | bytes u32 | body
//! COMMIT (3)     txn u64 | timestamp u64
//! ABORTED (4)    txn u64
//! NOTE (5)       txn u64 | bytes
//! ```
//! A ROW record is redone by page (`page`, `lsn`) and undone by key (`tree`, `root`, key). A STRUCTURE record changes several pages
//! and is in the log whole or not at all. A NOTE says something about a transaction to who reads the log for others (the binary log); recovery passes it by.
//!  `prev` addresses are not logged: no version below the newest survives a restart.

use crate::page::{Lsn, Page, PageId, RecordHeader};
use crate::{Error, TreeRef};

pub const ROW: u8 = 1;
pub const STRUCTURE: u8 = 2;
pub const COMMIT: u8 = 3;
pub const ABORTED: u8 = 4;
pub const NOTE: u8 = 5;

const HAD_OLD: u8 = 1;
const COMPENSATION: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOp {
    /// The record of the key is now (new flags, mark, new payload).
    Put,
    /// The record of the key is gone.
    Remove,
}

/// One change of one record.
#[derive(Clone, Copy, Debug)]
pub struct RowChange<'a> {
    pub op: RowOp,
    pub tree: TreeRef,
    pub txn: u64,
    pub key: &'a [u8],
    pub header: RecordHeader,
    pub payload: &'a [u8],
    /// What stood there before; `None`: nothing. Undo restores it.
    pub old: Option<(RecordHeader, &'a [u8])>,
    /// This change undoes an earlier one (or removes garbage): recovery redoes it and never undoes it.
    pub compensation: bool,
}

/// One page's part of a STRUCTURE record.
#[derive(Clone, Copy, Debug)]
pub enum PartOp<'a> {
    /// The page now is this image (`Page::image`).
    Image(&'a [u8]),
    /// Keep the first `keep` records; the high fence becomes `high`.
    Truncate {
        keep: u16,
        high: &'a [u8],
    },
    /// A new child in an inner page.
    InsertChild {
        key: &'a [u8],
        child: PageId,
    },
    /// A child less in an inner page; its neighbour has taken over its range.
    RemoveChild {
        key: &'a [u8],
    },
    /// Bits of an allocation page.
    SetBits(&'a [u8]),
    ClearBits(&'a [u8]),
}

#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub page: PageId,
    pub lsn: Lsn,
    pub op: PartOp<'a>,
}

#[derive(Debug)]
pub enum Record<'a> {
    Row {
        page: PageId,
        lsn: Lsn,
        change: RowChange<'a>,
    },
    Structure(Vec<Part<'a>>),
    Commit {
        txn: u64,
        timestamp: u64,
    },
    Aborted {
        txn: u64,
    },
    /// For readers of the log; no change of any page.
    Note {
        txn: u64,
        bytes: &'a [u8],
    },
}

fn begin(out: &mut Vec<u8>, kind: u8) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0, 0, 0, 0, kind]);
    start
}

fn end(out: &mut [u8], start: usize) {
    let bytes = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&bytes.to_le_bytes());
}

pub fn write_row(out: &mut Vec<u8>, page: PageId, lsn: Lsn, change: &RowChange<'_>) {
    let start = begin(out, ROW);
    let (old_header, old_payload) = change.old.unwrap_or((RecordHeader::default(), &[]));
    let bits = (u8::from(change.old.is_some()) * HAD_OLD) | (u8::from(change.compensation) * COMPENSATION);
    let op = match change.op {
        RowOp::Put => 0,
        RowOp::Remove => 1,
    };
    out.extend_from_slice(&[op, change.header.flags, old_header.flags, bits]);
    for word in [page, change.tree.id, change.tree.root] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    for word in [lsn, change.txn, change.header.mark, old_header.mark] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    for length in [change.key.len(), change.payload.len(), old_payload.len()] {
        out.extend_from_slice(&(length as u16).to_le_bytes());
    }
    out.extend_from_slice(change.key);
    out.extend_from_slice(change.payload);
    out.extend_from_slice(old_payload);
    end(out, start);
}

pub fn write_structure(out: &mut Vec<u8>, parts: &[Part<'_>]) {
    let start = begin(out, STRUCTURE);
    out.extend_from_slice(&(parts.len() as u16).to_le_bytes());
    for part in parts {
        out.extend_from_slice(&part.page.to_le_bytes());
        out.extend_from_slice(&part.lsn.to_le_bytes());
        let (op, head, body): (u8, [u8; 4], &[u8]) = match part.op {
            PartOp::Image(image) => (1, [0; 4], image),
            PartOp::Truncate { keep, high } => (2, u32::from(keep).to_le_bytes(), high),
            PartOp::InsertChild { key, child } => (3, child.to_le_bytes(), key),
            PartOp::SetBits(bits) => (4, [0; 4], bits),
            PartOp::ClearBits(bits) => (5, [0; 4], bits),
            PartOp::RemoveChild { key } => (6, [0; 4], key),
        };
        out.push(op);
        out.extend_from_slice(&(body.len() as u32 + 4).to_le_bytes());
        out.extend_from_slice(&head);
        out.extend_from_slice(body);
    }
    end(out, start);
}

pub fn write_commit(out: &mut Vec<u8>, txn: u64, timestamp: u64) {
    let start = begin(out, COMMIT);
    out.extend_from_slice(&txn.to_le_bytes());
    out.extend_from_slice(&timestamp.to_le_bytes());
    end(out, start);
}

pub fn write_aborted(out: &mut Vec<u8>, txn: u64) {
    let start = begin(out, ABORTED);
    out.extend_from_slice(&txn.to_le_bytes());
    end(out, start);
}

pub fn write_note(out: &mut Vec<u8>, txn: u64, bytes: &[u8]) {
    let start = begin(out, NOTE);
    out.extend_from_slice(&txn.to_le_bytes());
    out.extend_from_slice(bytes);
    end(out, start);
}

/// A cursor over bytes whose lengths are not trusted.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (now, later) = self.0.split_at_checked(bytes)?;
        self.0 = later;
        Some(now)
    }
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (now, later) = self.0.split_first_chunk::<N>()?;
        self.0 = later;
        Some(*now)
    }
    fn u16(&mut self) -> Option<usize> {
        self.array().map(|b| u16::from_le_bytes(b) as usize)
    }
    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }
    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

/// Takes the first record off `bytes`. `None` at the end.
///
/// # Errors
/// Bytes that are no record.
pub fn read<'a>(bytes: &mut &'a [u8]) -> Result<Option<Record<'a>>, Error> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let broken = || Error::Io("the log holds a malformed record".into());
    let length = bytes.first_chunk::<4>().map(|b| u32::from_le_bytes(*b) as usize).ok_or_else(broken)?;
    if length < 5 || length > bytes.len() {
        return Err(broken());
    }
    let (now, later) = bytes.split_at(length);
    *bytes = later;
    parse(now[4], Reader(&now[5..])).map(Some).ok_or_else(broken)
}

fn parse(kind: u8, mut r: Reader<'_>) -> Option<Record<'_>> {
    match kind {
        ROW => parse_row(r),
        STRUCTURE => {
            let count = r.u16()?;
            (0..count).map(|_| parse_part(&mut r)).collect::<Option<Vec<_>>>().map(Record::Structure)
        }
        COMMIT => Some(Record::Commit { txn: r.u64()?, timestamp: r.u64()? }),
        ABORTED => Some(Record::Aborted { txn: r.u64()? }),
        NOTE => Some(Record::Note { txn: r.u64()?, bytes: r.0 }),
        _ => None,
    }
}

fn parse_row(mut r: Reader<'_>) -> Option<Record<'_>> {
    let [op, flags, old_flags, bits] = r.array()?;
    let op = match op {
        0 => RowOp::Put,
        1 => RowOp::Remove,
        _ => return None,
    };
    let page = r.u32()?;
    let tree = TreeRef { id: r.u32()?, root: r.u32()? };
    let (lsn, txn, mark, old_mark) = (r.u64()?, r.u64()?, r.u64()?, r.u64()?);
    let (key_bytes, new_bytes, old_bytes) = (r.u16()?, r.u16()?, r.u16()?);
    let (key, payload, old_payload) = (r.take(key_bytes)?, r.take(new_bytes)?, r.take(old_bytes)?);
    let old_header = RecordHeader { flags: old_flags, mark: old_mark, prev: 0 };
    let change = RowChange {
        op,
        tree,
        txn,
        key,
        header: RecordHeader { flags, mark, prev: 0 },
        payload,
        old: (bits & HAD_OLD != 0).then_some((old_header, old_payload)),
        compensation: bits & COMPENSATION != 0,
    };
    Some(Record::Row { page, lsn, change })
}

fn parse_part<'a>(r: &mut Reader<'a>) -> Option<Part<'a>> {
    let page = r.u32()?;
    let lsn = r.u64()?;
    let [op] = r.array()?;
    let bytes = r.u32()? as usize;
    let mut body = Reader(r.take(bytes)?);
    let head = body.u32()?;
    let op = match op {
        1 => PartOp::Image(body.0),
        2 => PartOp::Truncate { keep: u16::try_from(head).ok()?, high: body.0 },
        3 => PartOp::InsertChild { key: body.0, child: head },
        4 => PartOp::SetBits(body.0),
        5 => PartOp::ClearBits(body.0),
        6 => PartOp::RemoveChild { key: body.0 },
        _ => return None,
    };
    Some(Part { page, lsn, op })
}

/// Applies a row change to its page (redo and the live path share it).
///
/// # Errors
/// `NoRoom`: the live path splits; redo calls it corruption.
pub fn apply_row(page: Page<'_>, change: &RowChange<'_>) -> Result<(), crate::page::NoRoom> {
    let slot = page.search(change.key);
    match (change.op, slot) {
        (RowOp::Put, slot) => page.put(slot, change.header, change.key, change.payload),
        (RowOp::Remove, Ok(index)) => {
            page.remove(index);
            Ok(())
        }
        (RowOp::Remove, Err(_)) => Ok(()),
    }
}

/// Splits an epoch's payload into the workers' chunks of records.
pub fn chunks(payload: &[u8]) -> impl Iterator<Item = &[u8]> {
    chunks_of_workers(payload).map(|(_, chunk)| chunk)
}

/// As [`chunks`], with the number of the worker that appended the records.
pub fn chunks_of_workers(mut payload: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = payload.split_first_chunk::<8>()?;
        let worker = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let bytes = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let (chunk, later) = rest.split_at_checked(bytes)?;
        payload = later;
        Some((worker, chunk))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back() {
        let mut log = Vec::new();
        let tree = TreeRef { id: 5, root: 9 };
        let old = RecordHeader { flags: 2, mark: 77, prev: 0 };
        let change = RowChange {
            op: RowOp::Put,
            tree,
            txn: 1 << 63,
            key: b"key",
            header: RecordHeader { flags: 0, mark: 1 << 63, prev: 0 },
            payload: b"new",
            old: Some((old, b"older")),
            compensation: false,
        };
        write_row(&mut log, 42, 1000, &change);
        write_structure(
            &mut log,
            &[
                Part { page: 1, lsn: 2, op: PartOp::Truncate { keep: 3, high: b"hi" } },
                Part { page: 4, lsn: 5, op: PartOp::InsertChild { key: b"k", child: 6 } },
                Part { page: 4, lsn: 6, op: PartOp::RemoveChild { key: b"k" } },
            ],
        );
        write_commit(&mut log, 8, 9);
        write_aborted(&mut log, 10);
        write_note(&mut log, 11, b"said");
        let mut rest = &log[..];
        match read(&mut rest).expect("sound") {
            Some(Record::Row { page: 42, lsn: 1000, change }) => {
                assert_eq!((change.key, change.payload, change.old), (&b"key"[..], &b"new"[..], Some((old, &b"older"[..]))));
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(read(&mut rest).expect("sound"), Some(Record::Structure(parts)) if parts.len() == 3));
        assert!(matches!(read(&mut rest).expect("sound"), Some(Record::Commit { txn: 8, timestamp: 9 })));
        assert!(matches!(read(&mut rest).expect("sound"), Some(Record::Aborted { txn: 10 })));
        assert!(matches!(read(&mut rest).expect("sound"), Some(Record::Note { txn: 11, bytes: b"said" })));
        assert!(read(&mut rest).expect("sound").is_none());
        for cut in 1..log.len() {
            let mut part = &log[..cut];
            while let Ok(Some(_)) = read(&mut part) {}
        }
    }
}
