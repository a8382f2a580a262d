//! Events of another server's binary log, as a replica reads them: TABLE_MAP, rows, QUERY (MySQL's source, `libs/mysql/binlog/event`).
//!
//! Nothing here trusts the bytes: whatever does not fit is an error, and no size in them reserves memory.

use crate::event::{CHECKSUM_BYTES, HEAD_BYTES, Head, crc32, read_packed};

/// An event is not as its type must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadEvent(pub &'static str);

type Result<T> = std::result::Result<T, BadEvent>;

/// Bytes of an event that were not read yet.
pub(crate) struct Rest<'a>(pub &'a [u8]);

impl<'a> Rest<'a> {
    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(BadEvent("an event is too short"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    /// A little-endian number of at most 8 bytes.
    pub fn number(&mut self, bytes: usize) -> Result<u64> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A big-endian number of at most 8 bytes.
    pub fn big(&mut self, bytes: usize) -> Result<u64> {
        Ok(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    pub fn packed(&mut self) -> Result<usize> {
        let (value, bytes) = read_packed(self.0).ok_or(BadEvent("an event has a wrong length"))?;
        self.take(bytes)?;
        usize::try_from(value).map_err(|_| BadEvent("an event has a wrong length"))
    }

    fn name(&mut self) -> Result<String> {
        let length = usize::from(self.byte()?);
        let name = self.take(length)?;
        self.take(1)?;
        std::str::from_utf8(name).map(str::to_owned).map_err(|_| BadEvent("a name is not UTF-8"))
    }
}

/// Takes an event as it came apart: its head, and its body without the checksum, which is checked.
///
/// # Errors
/// Bytes that are no event; a wrong checksum.
pub fn open(event: &[u8], has_checksum: bool) -> Result<(Head, &[u8])> {
    let head = Head::parse(event).ok_or(BadEvent("an event is too short"))?;
    if head.bytes as usize != event.len() {
        return Err(BadEvent("an event has a wrong length"));
    }
    let body = &event[HEAD_BYTES..];
    if !has_checksum {
        return Ok((head, body));
    }
    let (body, checksum) = body.split_last_chunk::<CHECKSUM_BYTES>().ok_or(BadEvent("an event is too short"))?;
    if crc32(&event[..event.len() - CHECKSUM_BYTES]) != u32::from_le_bytes(*checksum) {
        return Err(BadEvent("an event has a wrong checksum"));
    }
    Ok((head, body))
}

/// TABLE_MAP: a table as the source has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableMap {
    pub id: u64,
    pub database: String,
    pub table: String,
    /// Per column its type and the bytes of its metadata (0 where a type has fewer than two).
    pub columns: Vec<(u8, [u8; 2])>,
    /// The collations of the character columns, in their order; empty: the source has not said.
    pub collations: Vec<u16>,
    /// Per numeric column, in their order: it is unsigned; empty: the source has not said.
    pub unsigned: Vec<bool>,
}

/// How many bytes of metadata a type has.
fn meta_bytes(kind: u8) -> usize {
    match kind {
        4 | 5 | 17 | 18 | 19 | 242 | 245 | 249..=252 | 255 => 1,
        15 | 16 | 246 | 247 | 248 | 253 | 254 => 2,
        _ => 0,
    }
}

impl TableMap {
    /// Reads the body of the event, without head and checksum.
    ///
    /// # Errors
    /// Bytes that are no such event.
    pub fn parse(body: &[u8]) -> Result<Self> {
        let mut rest = Rest(body);
        let id = rest.number(6)?;
        rest.take(2)?;
        let (database, table) = (rest.name()?, rest.name()?);
        let count = rest.packed()?;
        let kinds = rest.take(count)?;
        let bytes = rest.packed()?;
        let mut metas = Rest(rest.take(bytes)?);
        let mut columns = Vec::with_capacity(count);
        for kind in kinds {
            let mut meta = [0; 2];
            let given = metas.take(meta_bytes(*kind))?;
            meta[..given.len()].copy_from_slice(given);
            columns.push((*kind, meta));
        }
        rest.take(count.div_ceil(8))?;
        let mut map = Self { id, database, table, columns, ..Self::default() };
        while !rest.0.is_empty() {
            let kind = rest.byte()?;
            let length = rest.packed()?;
            map.metadata(kind, rest.take(length)?)?;
        }
        Ok(map)
    }

    fn metadata(&mut self, kind: u8, bytes: &[u8]) -> Result<()> {
        let mut rest = Rest(bytes);
        let collation = |value: usize| u16::try_from(value).map_err(|_| BadEvent("a collation has a wrong number"));
        match kind {
            1 => self.unsigned = (0..bytes.len() * 8).map(|at| bytes[at / 8] >> (7 - at % 8) & 1 == 1).collect(),
            2 => {
                let count = self.columns.iter().filter(|(kind, meta)| is_character(*kind, *meta)).count();
                self.collations = vec![collation(rest.packed()?)?; count];
                while !rest.0.is_empty() {
                    let (at, id) = (rest.packed()?, rest.packed()?);
                    *self.collations.get_mut(at).ok_or(BadEvent("a collation of no column"))? = collation(id)?;
                }
            }
            3 => {
                while !rest.0.is_empty() {
                    self.collations.push(collation(rest.packed()?)?);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Has a column of this type a character set in TABLE_MAP?
pub(crate) fn is_character(kind: u8, meta: [u8; 2]) -> bool {
    matches!(kind, 15 | 252 | 253 | 254) && !(kind == 254 && matches!(meta[0], 247 | 248))
}

/// What a rows event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsKind {
    Write,
    Update,
    Delete,
}

/// A rows event before its images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsEvent<'a> {
    pub kind: RowsKind,
    pub table: u64,
    pub flags: u16,
    /// The columns of the images; of an UPDATE those before it.
    pub shown: Vec<bool>,
    /// Of an UPDATE: the columns behind it.
    pub shown_after: Vec<bool>,
    pub images: &'a [u8],
}

impl<'a> RowsEvent<'a> {
    /// Reads the body of an event of versions 1 and 2. `None`: the type is another one.
    ///
    /// # Errors
    /// Bytes that are no such event.
    pub fn parse(kind: u8, body: &'a [u8]) -> Result<Option<Self>> {
        let (kind, version) = match kind {
            23 => (RowsKind::Write, 1),
            24 => (RowsKind::Update, 1),
            25 => (RowsKind::Delete, 1),
            30 => (RowsKind::Write, 2),
            31 => (RowsKind::Update, 2),
            32 => (RowsKind::Delete, 2),
            _ => return Ok(None),
        };
        let mut rest = Rest(body);
        let (table, flags) = (rest.number(6)?, rest.number(2)? as u16);
        if version == 2 {
            let extra = rest.number(2)? as usize;
            rest.take(extra.checked_sub(2).ok_or(BadEvent("an event has a wrong length"))?)?;
        }
        let count = rest.packed()?;
        let mut shown = || -> Result<Vec<bool>> {
            let bits = rest.take(count.div_ceil(8))?;
            Ok((0..count).map(|at| bits[at / 8] >> (at % 8) & 1 == 1).collect())
        };
        let before = shown()?;
        let shown_after = if kind == RowsKind::Update { shown()? } else { Vec::new() };
        Ok(Some(Self { kind, table, flags, shown: before, shown_after, images: rest.0 }))
    }
}

/// QUERY: a statement and the settings that it ran with; those that the source did not say are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryEvent {
    pub database: String,
    pub statement: Vec<u8>,
    pub error: u16,
    pub flags2: Option<u32>,
    pub sql_mode: Option<u64>,
    /// Collations: client, connection, server.
    pub collations: Option<(u16, u16, u16)>,
    pub time_zone: Option<String>,
    pub database_collation: Option<u16>,
    pub default_utf8mb4: Option<u16>,
    pub auto_increment: Option<(u16, u16)>,
    pub invoker: Option<(String, String)>,
    pub micros: u32,
    pub explicit_defaults: Option<bool>,
}

impl QueryEvent {
    /// Reads the body of the event, without head and checksum.
    ///
    /// # Errors
    /// Bytes that are no such event.
    pub fn parse(body: &[u8]) -> Result<Self> {
        let mut rest = Rest(body);
        rest.take(8)?;
        let database_bytes = usize::from(rest.byte()?);
        let error = rest.number(2)? as u16;
        let status_bytes = rest.number(2)? as usize;
        let mut status = Rest(rest.take(status_bytes)?);
        let utf8 = |bytes: &[u8]| std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| BadEvent("a name is not UTF-8"));
        let database = utf8(rest.take(database_bytes)?)?;
        rest.take(1)?;
        let mut event = Self { database, statement: rest.0.to_vec(), error, ..Self::default() };
        while !status.0.is_empty() {
            match status.byte()? {
                0 => event.flags2 = Some(status.number(4)? as u32),
                1 => event.sql_mode = Some(status.number(8)?),
                2 => {
                    let length = usize::from(status.byte()?);
                    status.take(length + 1)?;
                }
                3 => event.auto_increment = Some((status.number(2)? as u16, status.number(2)? as u16)),
                4 => {
                    event.collations = Some((status.number(2)? as u16, status.number(2)? as u16, status.number(2)? as u16));
                }
                5 => {
                    let length = usize::from(status.byte()?);
                    event.time_zone = Some(utf8(status.take(length)?)?);
                }
                6 => {
                    let length = usize::from(status.byte()?);
                    status.take(length)?;
                }
                7 => drop(status.take(2)?),
                8 => event.database_collation = Some(status.number(2)? as u16),
                9 | 17 => drop(status.take(8)?),
                10 => drop(status.take(4)?),
                11 => {
                    let user_bytes = usize::from(status.byte()?);
                    let user = utf8(status.take(user_bytes)?)?;
                    let host_bytes = usize::from(status.byte()?);
                    event.invoker = Some((user, utf8(status.take(host_bytes)?)?));
                }
                12 => {
                    let count = status.byte()?;
                    for _ in 0..if count == 254 { 0 } else { count } {
                        while status.byte()? != 0 {}
                    }
                }
                13 => event.micros = status.number(3)? as u32,
                16 => event.explicit_defaults = Some(status.byte()? != 0),
                18 => event.default_utf8mb4 = Some(status.number(2)? as u16),
                19 | 20 => drop(status.take(1)?),
                // As MySQL does: what follows a code that is not known is not read.
                _ => break,
            }
        }
        Ok(event)
    }
}

#[cfg(test)]
mod tests;
