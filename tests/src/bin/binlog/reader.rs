//! A reader of the binary log that knows nothing of the server's code: it decodes events and applies them to tables in memory.
//!
//! It reads the types that the test's tables have: INT, VARCHAR, LONGTEXT.

use std::collections::BTreeMap;
use tests::Address;
use tests::raw::{COM_QUERY, Raw};

type Outcome<T = ()> = Result<T, String>;

const COM_BINLOG_DUMP: u8 = 0x12;
const COM_BINLOG_DUMP_GTID: u8 = 0x1e;
const NON_BLOCK: u16 = 1;
const HEAD: usize = 19;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    Null,
    Int(i64),
    Bytes(Vec<u8>),
}

/// A value of the client library, which gets numbers as texts.
pub fn of_client(value: mysql::Value) -> Value {
    match value {
        mysql::Value::NULL => Value::Null,
        mysql::Value::Int(v) => Value::Int(v),
        mysql::Value::UInt(v) => Value::Int(v as i64),
        mysql::Value::Bytes(bytes) => match std::str::from_utf8(&bytes).ok().and_then(|text| text.parse().ok()) {
            Some(number) => Value::Int(number),
            None => Value::Bytes(bytes),
        },
        other => Value::Bytes(format!("{other:?}").into_bytes()),
    }
}

type Rows = BTreeMap<Value, Vec<Value>>;

struct Table {
    name: (String, String),
    kinds: Vec<(u8, usize)>,
}

/// Everything that was read so far.
#[derive(Default)]
pub struct Reader {
    pub tables: BTreeMap<(String, String), Rows>,
    /// Definitions.
    pub statements: Vec<String>,
    /// By UUID, the numbers of the groups.
    set: BTreeMap<[u8; 16], Vec<u64>>,
    maps: BTreeMap<u64, Table>,
    /// Changes of the open group.
    group: Vec<([u8; 16], u64)>,
}

fn u64_at(bytes: &[u8], at: usize, count: usize) -> Outcome<u64> {
    let part = bytes.get(at..at + count).ok_or("an event is too short")?;
    Ok(part.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn packed(bytes: &[u8], at: &mut usize) -> Outcome<u64> {
    let first = *bytes.get(*at).ok_or("an event is too short")?;
    let count = match first {
        252 => 2,
        253 => 3,
        254 => 8,
        _ => 0,
    };
    let value = if count == 0 { u64::from(first) } else { u64_at(bytes, *at + 1, count)? };
    *at += 1 + count;
    Ok(value)
}

fn uuid_text(uuid: &[u8; 16]) -> String {
    let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Intervals, the end excluded.
fn intervals(numbers: &[u64]) -> Vec<(u64, u64)> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let mut found: Vec<(u64, u64)> = Vec::new();
    for number in sorted {
        match found.last_mut() {
            Some(last) if last.1 == number => last.1 += 1,
            _ => found.push((number, number + 1)),
        }
    }
    found
}

impl Reader {
    /// The set of all groups, as MySQL prints it.
    pub fn set_text(&self) -> String {
        let part = |(uuid, numbers): (&[u8; 16], &Vec<u64>)| {
            let parts: Vec<String> = intervals(numbers)
                .iter()
                .map(|(from, to)| if to - from == 1 { from.to_string() } else { format!("{from}-{}", to - 1) })
                .collect();
            format!("{}:{}", uuid_text(uuid), parts.join(":"))
        };
        self.set.iter().map(part).collect::<Vec<_>>().join(",\n")
    }

    pub fn set_bytes(&self) -> Vec<u8> {
        let mut out = (self.set.len() as u64).to_le_bytes().to_vec();
        for (uuid, numbers) in &self.set {
            out.extend_from_slice(uuid);
            let parts = intervals(numbers);
            out.extend_from_slice(&(parts.len() as u64).to_le_bytes());
            for (from, to) in parts {
                out.extend_from_slice(&from.to_le_bytes());
                out.extend_from_slice(&to.to_le_bytes());
            }
        }
        out
    }

    /// Reads what is new, to the end of the log.
    pub fn read(&mut self, address: &Address) -> Outcome {
        let mut raw = Raw::logged_in(address).map_err(|error| error.to_string())?;
        prepare(&mut raw)?;
        raw.command(COM_BINLOG_DUMP_GTID, &dump_gtid(NON_BLOCK, "", 4, &self.set_bytes())).map_err(|error| error.to_string())?;
        self.group.clear();
        // A part of a group that an earlier reading ended with was not applied.
        let mut pending = Vec::new();
        loop {
            let event = next_event(&mut raw)?;
            let Some(event) = event else { break };
            let (_, checksum) = event.split_last_chunk::<4>().ok_or("an event is too short")?;
            let kind = event[4];
            let body = &event[HEAD..event.len() - 4];
            if kind != 15 && crc32(&event[..event.len() - 4]) != u32::from_le_bytes(*checksum) {
                return Err(format!("an event of type {kind} has a wrong checksum"));
            }
            self.apply(kind, body, &mut pending)?;
        }
        if self.group.is_empty() { Ok(()) } else { Err("the stream ends within a group".to_owned()) }
    }

    fn apply(&mut self, kind: u8, body: &[u8], pending: &mut Vec<Change>) -> Outcome {
        match kind {
            33 => {
                let uuid: [u8; 16] = body.get(1..17).and_then(|part| part.try_into().ok()).ok_or("a short GTID")?;
                let number = u64_at(body, 17, 8)?;
                if !self.group.is_empty() {
                    return Err(format!("group {number} begins within another one"));
                }
                if self.set.get(&uuid).is_some_and(|numbers| numbers.contains(&number)) {
                    return Err(format!("group {number} comes twice"));
                }
                self.group.push((uuid, number));
            }
            2 => {
                let (database, status) = (u64_at(body, 8, 1)? as usize, u64_at(body, 11, 2)? as usize);
                let statement = body.get(13 + status + database + 1..).ok_or("a short statement")?;
                let statement = String::from_utf8_lossy(statement).into_owned();
                if statement != "BEGIN" {
                    self.define(&statement);
                    self.statements.push(statement);
                    self.end_group(pending)?;
                }
            }
            16 => self.end_group(pending)?,
            19 => {
                let id = u64_at(body, 0, 6)?;
                self.maps.insert(id, table_map(body)?);
            }
            30..=32 => {
                let id = u64_at(body, 0, 6)?;
                let table = self.maps.get(&id).ok_or("rows of a table that is not described")?;
                rows(kind, body, table, pending)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Columns that a definition adds to rows.
    fn define(&mut self, statement: &str) {
        if let Some(rest) = statement.strip_prefix("ALTER TABLE b.noted")
            && let Some((_, default)) = rest.rsplit_once("DEFAULT ")
            && let Ok(default) = default.trim().parse()
        {
            let rows = self.tables.entry(("b".to_owned(), "noted".to_owned())).or_default();
            rows.values_mut().for_each(|row| row.push(Value::Int(default)));
        }
    }

    fn end_group(&mut self, pending: &mut Vec<Change>) -> Outcome {
        let (uuid, number) = self.group.pop().ok_or("a group ends that has not begun")?;
        for change in pending.drain(..) {
            let rows = self.tables.entry(change.table.clone()).or_default();
            if let Some(before) = &change.before {
                match rows.remove(&before[0]) {
                    Some(row) if row == *before => {}
                    other => return Err(format!("group {number}: {:?} is not as the event says: {other:?}", change.table)),
                }
            }
            if let Some(after) = change.after
                && rows.insert(after[0].clone(), after).is_some()
            {
                return Err(format!("group {number}: a row of {:?} is there already", change.table));
            }
        }
        self.set.entry(uuid).or_default().push(number);
        Ok(())
    }
}

struct Change {
    table: (String, String),
    before: Option<Vec<Value>>,
    after: Option<Vec<Value>>,
}

fn table_map(body: &[u8]) -> Outcome<Table> {
    let mut at = 8;
    let mut name = || -> Outcome<String> {
        let length = u64_at(body, at, 1)? as usize;
        let text = body.get(at + 1..at + 1 + length).ok_or("a short name")?;
        at += length + 2;
        Ok(String::from_utf8_lossy(text).into_owned())
    };
    let name = (name()?, name()?);
    let count = packed(body, &mut at)? as usize;
    let types = body.get(at..at + count).ok_or("too few types")?.to_vec();
    at += count;
    packed(body, &mut at)?;
    let mut kinds = Vec::new();
    for kind in types {
        let meta = match kind {
            15 => {
                at += 2;
                u64_at(body, at - 2, 2)? as usize
            }
            252 => {
                at += 1;
                u64_at(body, at - 1, 1)? as usize
            }
            3 => 0,
            other => return Err(format!("a column of type {other}")),
        };
        kinds.push((kind, meta));
    }
    Ok(Table { name, kinds })
}

fn rows(kind: u8, body: &[u8], table: &Table, pending: &mut Vec<Change>) -> Outcome {
    let mut at = 8 + u64_at(body, 8, 2)? as usize;
    let columns = packed(body, &mut at)? as usize;
    if columns != table.kinds.len() {
        return Err(format!("{columns} columns of {}", table.kinds.len()));
    }
    at += columns.div_ceil(8) * if kind == 31 { 2 } else { 1 };
    while at < body.len() {
        let mut row = || -> Outcome<Vec<Value>> {
            let nulls = at;
            at += columns.div_ceil(8);
            let mut values = Vec::new();
            for (index, (kind, meta)) in table.kinds.iter().enumerate() {
                if u64_at(body, nulls + index / 8, 1)? >> (index % 8) & 1 == 1 {
                    values.push(Value::Null);
                    continue;
                }
                let length_bytes = match kind {
                    3 => {
                        values.push(Value::Int(i64::from(u64_at(body, at, 4)? as u32 as i32)));
                        at += 4;
                        continue;
                    }
                    15 if *meta > 255 => 2,
                    15 => 1,
                    _ => *meta,
                };
                let length = u64_at(body, at, length_bytes)? as usize;
                at += length_bytes;
                let bytes = body.get(at..at + length).ok_or("a value is cut off")?.to_vec();
                at += length;
                values.push(of_client(mysql::Value::Bytes(bytes)));
            }
            Ok(values)
        };
        let (before, after) = match kind {
            30 => (None, Some(row()?)),
            31 => (Some(row()?), Some(row()?)),
            _ => (Some(row()?), None),
        };
        pending.push(Change { table: table.name.clone(), before, after });
    }
    Ok(())
}

pub fn prepare(raw: &mut Raw) -> Outcome {
    let statement = b"SET @source_binlog_checksum = 'CRC32', @replica_uuid = 'aaaaaaaa-0000-0000-0000-000000000001'";
    match raw.ask(COM_QUERY, statement).map_err(|error| error.to_string())? {
        None => Ok(()),
        Some(number) => Err(format!("SET answers {number}")),
    }
}

pub fn dump_gtid(flags: u16, file: &str, position: u64, set: &[u8]) -> Vec<u8> {
    let mut out = flags.to_le_bytes().to_vec();
    out.extend_from_slice(&99u32.to_le_bytes());
    out.extend_from_slice(&(file.len() as u32).to_le_bytes());
    out.extend_from_slice(file.as_bytes());
    out.extend_from_slice(&position.to_le_bytes());
    out.extend_from_slice(&(set.len() as u32).to_le_bytes());
    out.extend_from_slice(set);
    out
}

/// The next event; `None` at the end of the stream. Long events come in several packets.
fn next_event(raw: &mut Raw) -> Outcome<Option<Vec<u8>>> {
    let mut event = Vec::new();
    loop {
        let (_, packet) = raw.read_packet().map_err(|error| error.to_string())?;
        let is_full = packet.len() == 0xff_ffff;
        event.extend_from_slice(&packet);
        if !is_full {
            break;
        }
    }
    match event.first() {
        Some(0) => Ok(Some(event.split_off(1))),
        Some(0xfe) => Ok(None),
        Some(0xff) => {
            let number = u64_at(&event, 1, 2)?;
            Err(format!("{number}: {}", String::from_utf8_lossy(event.get(9..).unwrap_or_default())))
        }
        other => Err(format!("a packet that begins with {other:?}")),
    }
}

/// Asks for a dump that must be refused; the error is the outcome. With `set` it is one by GTIDs.
pub fn refused(address: &Address, user: &str, file: &str, position: u32, set: Option<&str>) -> Outcome {
    let address = Address { user: user.to_owned(), ..address.clone() };
    let mut raw = Raw::logged_in(&address).map_err(|error| error.to_string())?;
    prepare(&mut raw)?;
    let sent = match set {
        Some(text) => {
            let mut reader = Reader::default();
            if let Some((uuid, numbers)) = text.split_once(':') {
                let hex: Vec<u8> = uuid.bytes().filter(u8::is_ascii_hexdigit).collect();
                let byte = |pair: &[u8]| u8::from_str_radix(&String::from_utf8_lossy(pair), 16).unwrap_or(0);
                let uuid: Vec<u8> = hex.chunks(2).map(byte).collect();
                let last = numbers.rsplit('-').next().and_then(|text| text.parse().ok()).unwrap_or(1);
                let uuid = uuid.try_into().map_err(|_| "no UUID")?;
                reader.set.insert(uuid, vec![last]);
            }
            raw.command(COM_BINLOG_DUMP_GTID, &dump_gtid(NON_BLOCK, file, u64::from(position), &reader.set_bytes()))
        }
        None => {
            let mut request = position.to_le_bytes().to_vec();
            request.extend_from_slice(&NON_BLOCK.to_le_bytes());
            request.extend_from_slice(&99u32.to_le_bytes());
            request.extend_from_slice(file.as_bytes());
            raw.command(COM_BINLOG_DUMP, &request)
        }
    };
    sent.map_err(|error| error.to_string())?;
    while next_event(&mut raw)?.is_some() {}
    Ok(())
}

/// CRC-32 (ISO-HDLC), bit by bit: the server's own is not asked.
fn crc32(bytes: &[u8]) -> u32 {
    let table: Vec<u32> = (0..256u32)
        .map(|index| (0..8).fold(index, |crc, _| if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 }))
        .collect();
    !bytes.iter().fold(!0u32, |crc, byte| table[((crc ^ u32::from(*byte)) & 0xff) as usize] ^ (crc >> 8))
}
