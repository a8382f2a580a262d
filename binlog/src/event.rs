//! Events of the binary log, version 4, as bytes (MySQL Internals, "Binary Log Event"; the source of MySQL's `libs/mysql/binlog/event`).
//!
//! ```text
//! timestamp u32 | type u8 | server id u32 | bytes u32 | end position u32 | flags u16 | body | CRC32 u32 (where checksums are on)
//! ```
//! Bodies are appended behind a head that [`begin`] leaves room for; [`end`] fills in the length. Position and checksum are set by
//! [`finish`] when the place of the event in its file is known.

use crate::gtid::{Gtid, GtidSet, Uuid};

pub const HEAD_BYTES: usize = 19;
pub const CHECKSUM_BYTES: usize = 4;
/// The first bytes of every file.
pub const MAGIC: [u8; 4] = [0xfe, b'b', b'i', b'n'];

pub const QUERY: u8 = 2;
pub const STOP: u8 = 3;
pub const ROTATE: u8 = 4;
pub const FORMAT_DESCRIPTION: u8 = 15;
pub const XID: u8 = 16;
pub const TABLE_MAP: u8 = 19;
pub const HEARTBEAT: u8 = 27;
pub const ROWS_QUERY: u8 = 29;
pub const WRITE_ROWS: u8 = 30;
pub const UPDATE_ROWS: u8 = 31;
pub const DELETE_ROWS: u8 = 32;
pub const GTID: u8 = 33;
pub const ANONYMOUS_GTID: u8 = 34;
pub const PREVIOUS_GTIDS: u8 = 35;
pub const HEARTBEAT_V2: u8 = 41;
pub const GTID_TAGGED: u8 = 42;

/// The file is being written, or was not closed.
pub const FLAG_IN_USE: u16 = 1;
/// The event exists only on the wire.
pub const FLAG_ARTIFICIAL: u16 = 0x20;
/// A reader that does not know the event may skip it.
pub const FLAG_IGNORABLE: u16 = 0x80;

/// The last event of a statement.
pub const ROWS_STATEMENT_END: u16 = 1;
/// Foreign keys are not checked and do not act: what they did is in the stream.
pub const ROWS_NO_FOREIGN_KEYS: u16 = 2;

/// The source follows foreign keys with changes of their own (MySQL from 9.6 on), which are in the stream.
pub const ROWS_SQL_FOREIGN_KEYS: u16 = 16;

/// Bytes of the fixed part of each type from 1 on, as MySQL 8.4 has them.
const POST_HEADERS: [u8; 42] = [
    0, 13, 0, 8, 0, 0, 0, 0, 4, 0, 4, 0, 0, 0, 99, 0, 4, 26, 8, 0, 0, 0, 8, 8, 8, 2, 0, 0, 0, 10, 10, 10, 42, 42, 0, 18, 52, 0,
    10, 40, 0, 0,
];

/// The checksum of an event.
pub fn crc32(bytes: &[u8]) -> u32 {
    crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32IsoHdlc, bytes) as u32
}

/// Appends a head without length, position and checksum; returns where it begins.
pub fn begin(out: &mut Vec<u8>, kind: u8, timestamp: u32, server_id: u32, flags: u16) -> usize {
    let start = out.len();
    out.extend_from_slice(&timestamp.to_le_bytes());
    out.push(kind);
    out.extend_from_slice(&server_id.to_le_bytes());
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&flags.to_le_bytes());
    start
}

/// Ends the event that begins at `start`, leaving room for the checksum.
pub fn end(out: &mut Vec<u8>, start: usize, has_checksum: bool) {
    if has_checksum {
        out.extend_from_slice(&[0; CHECKSUM_BYTES]);
    }
    let bytes = (out.len() - start) as u32;
    out[start + 9..start + 13].copy_from_slice(&bytes.to_le_bytes());
}

/// Sets position and checksum of all events in `bytes`, which stand at `position` of the file. A position over 32 bits is cut, as MySQL's.
///
/// Returns `false` if `bytes` are no whole events.
pub fn finish(bytes: &mut [u8], mut position: u64, has_checksum: bool) -> bool {
    let mut rest = bytes;
    while !rest.is_empty() {
        let Some(length) = length_of(rest).filter(|length| *length <= rest.len()) else { return false };
        let (event, later) = rest.split_at_mut(length);
        position += length as u64;
        event[13..17].copy_from_slice(&(position as u32).to_le_bytes());
        if has_checksum {
            seal(event);
        }
        rest = later;
    }
    true
}

/// Sets the checksum of one event.
pub fn seal(event: &mut [u8]) {
    let at = event.len() - CHECKSUM_BYTES;
    let crc = crc32(&event[..at]);
    event[at..].copy_from_slice(&crc.to_le_bytes());
}

/// The length of the event whose first bytes these are; `None`: too few, or an impossible length.
pub fn length_of(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(bytes.get(9..13)?.try_into().ok()?) as usize;
    (length >= HEAD_BYTES).then_some(length)
}

/// A head, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub timestamp: u32,
    pub kind: u8,
    pub server_id: u32,
    pub bytes: u32,
    pub position: u32,
    pub flags: u16,
}

impl Head {
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let u32_at = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let head = Self {
            timestamp: u32_at(0)?,
            kind: *bytes.get(4)?,
            server_id: u32_at(5)?,
            bytes: u32_at(9)?,
            position: u32_at(13)?,
            flags: u16::from_le_bytes(bytes.get(17..19)?.try_into().ok()?),
        };
        (head.bytes as usize >= HEAD_BYTES).then_some(head)
    }
}

/// MySQL's name of a type, as SHOW BINLOG EVENTS has it.
pub fn name(kind: u8) -> &'static str {
    match kind {
        QUERY => "Query",
        STOP => "Stop",
        ROTATE => "Rotate",
        FORMAT_DESCRIPTION => "Format_desc",
        XID => "Xid",
        TABLE_MAP => "Table_map",
        HEARTBEAT | HEARTBEAT_V2 => "Heartbeat",
        ROWS_QUERY => "Rows_query",
        WRITE_ROWS => "Write_rows",
        UPDATE_ROWS => "Update_rows",
        DELETE_ROWS => "Delete_rows",
        GTID => "Gtid",
        ANONYMOUS_GTID => "Anonymous_Gtid",
        PREVIOUS_GTIDS => "Previous_gtids",
        GTID_TAGGED => "Gtid_tagged",
        _ => "Unknown",
    }
}

/// A length-encoded integer.
pub fn put_packed(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=250 => out.push(value as u8),
        251..=0xffff => {
            out.push(252);
            out.extend_from_slice(&(value as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            out.push(253);
            out.extend_from_slice(&(value as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(254);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

fn packed_bytes(value: u64) -> usize {
    match value {
        0..=250 => 1,
        251..=0xffff => 3,
        0x1_0000..=0xff_ffff => 4,
        _ => 9,
    }
}

/// Appends FORMAT_DESCRIPTION. It always has a checksum; `has_checksum` says whether the others have.
pub fn put_format_description(out: &mut Vec<u8>, timestamp: u32, server_id: u32, version: &str, has_checksum: bool, flags: u16) {
    let start = begin(out, FORMAT_DESCRIPTION, timestamp, server_id, flags);
    out.extend_from_slice(&4u16.to_le_bytes());
    let mut name = [0; 50];
    let bytes = version.as_bytes();
    let length = bytes.len().min(49);
    name[..length].copy_from_slice(&bytes[..length]);
    out.extend_from_slice(&name);
    out.extend_from_slice(&timestamp.to_le_bytes());
    out.push(HEAD_BYTES as u8);
    out.extend_from_slice(&POST_HEADERS);
    out.push(u8::from(has_checksum));
    end(out, start, true);
}

/// Where `created` stands in FORMAT_DESCRIPTION.
pub const CREATED_AT: usize = HEAD_BYTES + 52;

/// Does this FORMAT_DESCRIPTION say that the events of its file have checksums?
pub fn says_checksum(event: &[u8]) -> Option<bool> {
    let at = event.len().checked_sub(CHECKSUM_BYTES + 1)?;
    event.get(at).map(|algorithm| *algorithm == 1)
}

pub fn put_previous_gtids(out: &mut Vec<u8>, timestamp: u32, server_id: u32, set: &GtidSet, has_checksum: bool) {
    let start = begin(out, PREVIOUS_GTIDS, timestamp, server_id, FLAG_IGNORABLE);
    set.encode(out);
    end(out, start, has_checksum);
}

pub fn put_rotate(
    out: &mut Vec<u8>,
    timestamp: u32,
    server_id: u32,
    (file, position): (&str, u64),
    flags: u16,
    has_checksum: bool,
) {
    let start = begin(out, ROTATE, timestamp, server_id, flags);
    out.extend_from_slice(&position.to_le_bytes());
    out.extend_from_slice(file.as_bytes());
    end(out, start, has_checksum);
}

pub fn put_stop(out: &mut Vec<u8>, timestamp: u32, server_id: u32, has_checksum: bool) {
    let start = begin(out, STOP, timestamp, server_id, 0);
    end(out, start, has_checksum);
}

/// The next event to be sent will stand at `position` of `file`. Version 2 has positions over 32 bits.
pub fn put_heartbeat(out: &mut Vec<u8>, server_id: u32, file: &str, position: u64, is_v2: bool, has_checksum: bool) {
    let start = begin(out, if is_v2 { HEARTBEAT_V2 } else { HEARTBEAT }, 0, server_id, if is_v2 { FLAG_ARTIFICIAL } else { 0 });
    if is_v2 {
        out.push(1);
        put_packed(out, file.len() as u64);
        out.extend_from_slice(file.as_bytes());
        out.push(2);
        put_packed(out, packed_bytes(position) as u64);
        put_packed(out, position);
        out.push(0);
    } else {
        out.extend_from_slice(file.as_bytes());
    }
    end(out, start, has_checksum);
    out[start + 13..start + 17].copy_from_slice(&(position as u32).to_le_bytes());
    if has_checksum {
        seal(&mut out[start..]);
    }
}

/// The head of a group.
#[derive(Clone, Debug)]
pub struct GroupHead<'a> {
    /// `None`: an anonymous transaction.
    pub gtid: Option<&'a Gtid>,
    pub last_committed: i64,
    pub sequence_number: i64,
    /// When it was committed where it was made, in microseconds since 1970; 0: as `commit_us`.
    pub original_us: u64,
    /// When it was committed here.
    pub commit_us: u64,
    /// 80400 and the like.
    pub server_version: u32,
}

/// Appends the GTID event of a group whose other events have `body_bytes` bytes.
pub fn put_gtid(out: &mut Vec<u8>, server_id: u32, head: &GroupHead<'_>, body_bytes: u64, has_checksum: bool) {
    let timestamp = (head.commit_us / 1_000_000) as u32;
    if let Some(gtid) = head.gtid.filter(|gtid| !gtid.tag.is_empty()) {
        return put_gtid_tagged(out, server_id, gtid, head, body_bytes, has_checksum);
    }
    let start = begin(out, if head.gtid.is_some() { GTID } else { ANONYMOUS_GTID }, timestamp, server_id, 0);
    // Bit 0: there may be statements. Rows have none of what that means.
    out.push(0);
    let (uuid, number) = head.gtid.map_or((Uuid([0; 16]), 0), |gtid| (gtid.uuid, gtid.number));
    out.extend_from_slice(&uuid.0);
    out.extend_from_slice(&(number as i64).to_le_bytes());
    out.push(2);
    out.extend_from_slice(&head.last_committed.to_le_bytes());
    out.extend_from_slice(&head.sequence_number.to_le_bytes());
    let has_original = head.original_us != 0 && head.original_us != head.commit_us;
    let micros = |micros: u64, flag: bool| (micros & ((1 << 55) - 1) | u64::from(flag) << 55).to_le_bytes();
    out.extend_from_slice(&micros(head.commit_us, has_original)[..7]);
    if has_original {
        out.extend_from_slice(&micros(head.original_us, false)[..7]);
    }
    // The transaction's length includes this event, whose own length depends on it.
    let fixed = (out.len() - start + 4 + if has_checksum { CHECKSUM_BYTES } else { 0 }) as u64 + body_bytes;
    let length = [1, 3, 4, 9].into_iter().map(|bytes| fixed + bytes).find(|l| fixed + packed_bytes(*l) as u64 == *l);
    put_packed(out, length.unwrap_or(fixed));
    out.extend_from_slice(&head.server_version.to_le_bytes());
    end(out, start, has_checksum);
}

/// An integer of MySQL's serialization library: the number of trailing ones says how many bytes follow.
fn put_serialized(out: &mut Vec<u8>, value: u64) {
    let bits = 64 - (value | 1).leading_zeros();
    let bytes = (bits.div_ceil(7)).min(9) as usize;
    if bytes == 9 {
        out.push(0xff);
        out.extend_from_slice(&value.to_le_bytes());
    } else {
        let word = (u128::from(value) << bytes) | ((1u128 << (bytes - 1)) - 1);
        out.extend_from_slice(&word.to_le_bytes()[..bytes]);
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// GTID_TAGGED, a message of MySQL's serialization library: format version, size, last field that must be known, then fields as number and value.
fn put_gtid_tagged(out: &mut Vec<u8>, server_id: u32, gtid: &Gtid, head: &GroupHead<'_>, body_bytes: u64, has_checksum: bool) {
    let timestamp = (head.commit_us / 1_000_000) as u32;
    let fields = |transaction_bytes: u64| {
        let mut out = Vec::new();
        let field = |out: &mut Vec<u8>, number: u64| put_serialized(out, number);
        field(&mut out, 0);
        put_serialized(&mut out, 0);
        field(&mut out, 1);
        gtid.uuid.0.iter().for_each(|byte| put_serialized(&mut out, u64::from(*byte)));
        field(&mut out, 2);
        put_serialized(&mut out, zigzag(gtid.number as i64));
        field(&mut out, 3);
        put_serialized(&mut out, gtid.tag.len() as u64);
        out.extend_from_slice(gtid.tag.as_bytes());
        field(&mut out, 4);
        put_serialized(&mut out, zigzag(head.last_committed));
        field(&mut out, 5);
        put_serialized(&mut out, zigzag(head.sequence_number));
        field(&mut out, 6);
        put_serialized(&mut out, head.commit_us);
        if head.original_us != 0 && head.original_us != head.commit_us {
            field(&mut out, 7);
            put_serialized(&mut out, head.original_us);
        }
        field(&mut out, 8);
        put_serialized(&mut out, transaction_bytes);
        field(&mut out, 9);
        put_serialized(&mut out, u64::from(head.server_version));
        out
    };
    let message = |transaction_bytes: u64| {
        let fields = fields(transaction_bytes);
        let mut size = fields.len() + 3;
        loop {
            let mut out = Vec::new();
            put_serialized(&mut out, 1);
            put_serialized(&mut out, size as u64);
            put_serialized(&mut out, 0);
            out.extend_from_slice(&fields);
            if out.len() == size {
                return out;
            }
            size = out.len();
        }
    };
    let around = (HEAD_BYTES + if has_checksum { CHECKSUM_BYTES } else { 0 }) as u64 + body_bytes;
    let mut length = around;
    let body = loop {
        let body = message(length);
        let now = around + body.len() as u64;
        if now == length {
            break body;
        }
        length = now;
    };
    let start = begin(out, GTID_TAGGED, timestamp, server_id, 0);
    out.extend_from_slice(&body);
    end(out, start, has_checksum);
}

/// The settings of the session that a QUERY event carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryContext {
    pub thread_id: u32,
    /// MySQL's bits: not `foreign_key_checks` 1 << 26, not `unique_checks` 1 << 27, `sql_auto_is_null` 1 << 14.
    pub flags2: u32,
    pub sql_mode: u64,
    pub auto_increment: (u16, u16),
    /// Collations: of the client's character set, the connection, the server.
    pub collations: (u16, u16, u16),
    pub database_collation: Option<u16>,
    pub time_zone: Option<String>,
    pub microseconds: Option<u32>,
    pub explicit_defaults: bool,
    pub ddl_xid: Option<u64>,
    pub default_utf8mb4: Option<u16>,
    /// (user, host) under which the statement ran.
    pub invoker: Option<(String, String)>,
    pub databases: Vec<String>,
}

impl Default for QueryContext {
    fn default() -> Self {
        Self {
            thread_id: 0,
            flags2: 0,
            sql_mode: 0,
            auto_increment: (1, 1),
            collations: (255, 255, 255),
            database_collation: None,
            time_zone: None,
            microseconds: None,
            explicit_defaults: true,
            ddl_xid: None,
            default_utf8mb4: None,
            invoker: None,
            databases: Vec::new(),
        }
    }
}

pub fn put_query(
    out: &mut Vec<u8>,
    (timestamp, server_id): (u32, u32),
    context: &QueryContext,
    database: &str,
    statement: &[u8],
    has_checksum: bool,
) {
    let start = begin(out, QUERY, timestamp, server_id, 0);
    out.extend_from_slice(&context.thread_id.to_le_bytes());
    out.extend_from_slice(&0u32.to_le_bytes());
    out.push(database.len().min(255) as u8);
    out.extend_from_slice(&0u16.to_le_bytes());
    let length_at = out.len();
    out.extend_from_slice(&[0; 2]);
    put_context(out, context);
    let length = (out.len() - length_at - 2) as u16;
    out[length_at..length_at + 2].copy_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&database.as_bytes()[..database.len().min(255)]);
    out.push(0);
    out.extend_from_slice(statement);
    end(out, start, has_checksum);
}

fn put_context(out: &mut Vec<u8>, context: &QueryContext) {
    out.push(0);
    out.extend_from_slice(&context.flags2.to_le_bytes());
    out.push(1);
    out.extend_from_slice(&context.sql_mode.to_le_bytes());
    out.extend_from_slice(b"\x06\x03std");
    if context.auto_increment != (1, 1) {
        out.push(3);
        out.extend_from_slice(&context.auto_increment.0.to_le_bytes());
        out.extend_from_slice(&context.auto_increment.1.to_le_bytes());
    }
    out.push(4);
    for collation in [context.collations.0, context.collations.1, context.collations.2] {
        out.extend_from_slice(&collation.to_le_bytes());
    }
    if let Some(zone) = context.time_zone.as_ref().filter(|zone| zone.len() < 256) {
        out.extend_from_slice(&[5, zone.len() as u8]);
        out.extend_from_slice(zone.as_bytes());
    }
    if let Some(collation) = context.database_collation {
        out.push(8);
        out.extend_from_slice(&collation.to_le_bytes());
    }
    if let Some((user, host)) = context.invoker.as_ref().filter(|(user, host)| user.len() < 256 && host.len() < 256) {
        out.extend_from_slice(&[11, user.len() as u8]);
        out.extend_from_slice(user.as_bytes());
        out.push(host.len() as u8);
        out.extend_from_slice(host.as_bytes());
    }
    if !context.databases.is_empty() {
        if context.databases.len() > 16 {
            out.extend_from_slice(&[12, 254]);
        } else {
            out.extend_from_slice(&[12, context.databases.len() as u8]);
            for database in &context.databases {
                out.extend_from_slice(database.as_bytes());
                out.push(0);
            }
        }
    }
    if let Some(micros) = context.microseconds {
        out.push(13);
        out.extend_from_slice(&micros.to_le_bytes()[..3]);
    }
    out.extend_from_slice(&[16, u8::from(context.explicit_defaults)]);
    if let Some(xid) = context.ddl_xid {
        out.push(17);
        out.extend_from_slice(&xid.to_le_bytes());
    }
    if let Some(collation) = context.default_utf8mb4 {
        out.push(18);
        out.extend_from_slice(&collation.to_le_bytes());
    }
}

pub fn put_xid(out: &mut Vec<u8>, timestamp: u32, server_id: u32, xid: u64, has_checksum: bool) {
    let start = begin(out, XID, timestamp, server_id, 0);
    out.extend_from_slice(&xid.to_le_bytes());
    end(out, start, has_checksum);
}

pub fn put_rows_query(out: &mut Vec<u8>, timestamp: u32, server_id: u32, statement: &[u8], has_checksum: bool) {
    let start = begin(out, ROWS_QUERY, timestamp, server_id, FLAG_IGNORABLE);
    // A length that nobody reads, since it does not fit.
    out.push(statement.len() as u8);
    out.extend_from_slice(statement);
    end(out, start, has_checksum);
}

/// What a reader of a file needs of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A group begins.
    Group {
        gtid: Option<Gtid>,
        last_committed: i64,
        sequence_number: i64,
        bytes: u64,
    },
    /// A statement, its database, and the engine's number of its commit if it is a definition.
    Query {
        database: String,
        statement: Vec<u8>,
        xid: Option<u64>,
    },
    Xid(u64),
    Rotate {
        file: String,
        position: u64,
    },
    PreviousGtids(GtidSet),
    Other,
}

/// Reads an event without its checksum. `None`: malformed.
pub fn see(event: &[u8]) -> Option<Seen> {
    let head = Head::parse(event)?;
    let body = &event[HEAD_BYTES..];
    let u64_at = |at: usize| Some(u64::from_le_bytes(body.get(at..at + 8)?.try_into().ok()?));
    Some(match head.kind {
        GTID | ANONYMOUS_GTID => {
            let uuid = Uuid(body.get(1..17)?.try_into().ok()?);
            let number = u64_at(17)?;
            let gtid = (head.kind == GTID).then(|| Gtid { uuid, tag: String::new(), number });
            let has_second_time = body.get(48)? & 0x80 != 0;
            let at = if has_second_time { 56 } else { 49 };
            let bytes = read_packed(body.get(at..)?)?.0;
            Seen::Group { gtid, last_committed: u64_at(26)? as i64, sequence_number: u64_at(34)? as i64, bytes }
        }
        GTID_TAGGED => see_tagged(body)?,
        QUERY => {
            let database_bytes = usize::from(*body.get(8)?);
            let status_bytes = usize::from(u16::from_le_bytes(body.get(11..13)?.try_into().ok()?));
            let status = body.get(13..13 + status_bytes)?;
            let text = body.get(13 + status_bytes..)?;
            let (database, rest) = text.split_at_checked(database_bytes)?;
            let statement = rest.get(1..)?.to_vec();
            Seen::Query { database: String::from_utf8_lossy(database).into_owned(), statement, xid: ddl_xid(status) }
        }
        XID => Seen::Xid(u64_at(0)?),
        ROTATE => Seen::Rotate { position: u64_at(0)?, file: String::from_utf8_lossy(body.get(8..)?).into_owned() },
        PREVIOUS_GTIDS => Seen::PreviousGtids(GtidSet::decode(body)?),
        _ => Seen::Other,
    })
}

/// The number of the commit in the status variables of a QUERY event, as [`put_query`] writes them.
fn ddl_xid(mut status: &[u8]) -> Option<u64> {
    loop {
        let (&code, rest) = status.split_first()?;
        let skip = match code {
            0 | 3 => 4,
            1 => 8,
            4 => 6,
            8 | 18 => 2,
            13 => 3,
            16 | 19 | 20 => 1,
            5 | 6 => 1 + usize::from(*rest.first()?),
            11 => {
                let user = usize::from(*rest.first()?);
                2 + user + usize::from(*rest.get(1 + user)?)
            }
            12 => {
                let count = *rest.first()?;
                let mut at = 1;
                for _ in 0..if count == 254 { 0 } else { count } {
                    at += rest.get(at..)?.iter().position(|byte| *byte == 0)? + 1;
                }
                at
            }
            17 => return Some(u64::from_le_bytes(*rest.first_chunk()?)),
            _ => return None,
        };
        status = rest.get(skip..)?;
    }
}

/// A length-encoded integer, and its bytes.
pub fn read_packed(bytes: &[u8]) -> Option<(u64, usize)> {
    let wide = |n: usize| {
        let mut word = [0; 8];
        word[..n].copy_from_slice(bytes.get(1..1 + n)?);
        Some((u64::from_le_bytes(word), 1 + n))
    };
    match *bytes.first()? {
        small @ 0..=250 => Some((u64::from(small), 1)),
        252 => wide(2),
        253 => wide(3),
        254 => wide(8),
        _ => None,
    }
}

fn read_serialized(bytes: &mut &[u8]) -> Option<u64> {
    let first = *bytes.first()?;
    let count = first.trailing_ones() as usize + 1;
    let (now, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    if count == 9 {
        return Some(u64::from_le_bytes(now[1..].try_into().ok()?));
    }
    let mut word = [0; 16];
    word[..count].copy_from_slice(now);
    Some((u128::from_le_bytes(word) >> count) as u64)
}

/// When the transaction of a group was committed, in microseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitTimes {
    /// Where it was made.
    pub original_us: u64,
    /// At the server that has sent it.
    pub immediate_us: u64,
}

/// The times of a GTID event. `None`: malformed.
pub fn commit_times(event: &[u8]) -> Option<CommitTimes> {
    let head = Head::parse(event)?;
    let mut body = &event[HEAD_BYTES..];
    if head.kind == GTID_TAGGED {
        let Tagged { original_us, immediate_us, .. } = tagged(&mut body)?;
        return Some(CommitTimes { original_us, immediate_us });
    }
    let micros = |at: usize| {
        let mut word = [0; 8];
        word[..7].copy_from_slice(body.get(at..at + 7)?);
        Some(u64::from_le_bytes(word))
    };
    // The highest bit says that the time of the origin follows.
    let here = micros(42)?;
    let immediate_us = here & !(1 << 55);
    let original_us = if here >> 55 == 0 { immediate_us } else { micros(49)? };
    Some(CommitTimes { original_us, immediate_us })
}

/// What GTID_TAGGED says.
struct Tagged {
    gtid: Gtid,
    last_committed: i64,
    sequence_number: i64,
    bytes: u64,
    original_us: u64,
    immediate_us: u64,
}

fn see_tagged(mut body: &[u8]) -> Option<Seen> {
    let Tagged { gtid, last_committed, sequence_number, bytes, .. } = tagged(&mut body)?;
    Some(Seen::Group { gtid: Some(gtid), last_committed, sequence_number, bytes })
}

fn tagged(bytes: &mut &[u8]) -> Option<Tagged> {
    let (_version, _size, _last) = (read_serialized(bytes)?, read_serialized(bytes)?, read_serialized(bytes)?);
    let unzigzag = |value: u64| (value >> 1) as i64 ^ -((value & 1) as i64);
    let mut gtid = Gtid { uuid: Uuid([0; 16]), tag: String::new(), number: 0 };
    let (mut last_committed, mut sequence_number, mut length, mut immediate_us, mut original_us) = (0, 0, 0, 0, None);
    while !bytes.is_empty() {
        match read_serialized(bytes)? {
            1 => {
                for byte in &mut gtid.uuid.0 {
                    *byte = read_serialized(bytes)? as u8;
                }
            }
            2 => gtid.number = unzigzag(read_serialized(bytes)?) as u64,
            3 => {
                let count = read_serialized(bytes)? as usize;
                let (tag, rest) = bytes.split_at_checked(count)?;
                gtid.tag = String::from_utf8(tag.to_vec()).ok()?;
                *bytes = rest;
            }
            4 => last_committed = unzigzag(read_serialized(bytes)?),
            5 => sequence_number = unzigzag(read_serialized(bytes)?),
            6 => immediate_us = read_serialized(bytes)?,
            7 => original_us = Some(read_serialized(bytes)?),
            8 => length = read_serialized(bytes)?,
            0 | 9 | 10 | 11 => {
                read_serialized(bytes)?;
            }
            _ => return None,
        }
    }
    let original_us = original_us.unwrap_or(immediate_us);
    Some(Tagged { gtid, last_committed, sequence_number, bytes: length, original_us, immediate_us })
}

#[cfg(test)]
mod tests;
