//! Answers: OK, ERR, EOF, the head and end of result sets, the answer to PREPARE.
//!
//! ```text
//! result set: count | definition* | [EOF] | row* | end
//! prepared:   PrepareOk | definition of parameter* | [EOF] | definition of column* | [EOF]
//! ```
//! With `DEPRECATE_EOF` agreed the packets in brackets are left out, and `end` is an OK packet that begins with 0xfe.

use crate::column::ColumnDefinition;
use crate::constants::{Capabilities, Status};
use crate::packet::{HEADER_BYTES, PacketWriter};
use crate::put::{put_length_encoded, put_length_encoded_bytes, put_u16, put_u32};

const OK: u8 = 0x00;
const EOF: u8 = 0xfe;
const ERR: u8 = 0xff;
const LOCAL_INFILE: u8 = 0xfb;

/// What a statement without rows answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct OkPacket<'a> {
    pub affected_rows: u64,
    pub last_insert_id: u64,
    pub status: Status,
    pub warnings: u16,
    /// Such as `Rows matched: 1  Changed: 1  Warnings: 0`.
    pub info: &'a str,
    /// Sent only to clients with `SESSION_TRACK`.
    pub changes: &'a [StateChange<'a>],
}

/// A change of session state that the client wants to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateChange<'a> {
    SystemVariable {
        name: &'a str,
        value: &'a str,
    },
    /// The current database.
    Schema(&'a str),
    /// `session_track_state_change`: something changed that a pooled connection would have to undo.
    Any,
    /// Statements that would start the same transaction again.
    TransactionCharacteristics(&'a str),
    /// Eight characters, see [`transaction_state`].
    TransactionState(&'a str),
}

impl OkPacket<'_> {
    pub fn write(&self, writer: &mut PacketWriter, agreed: Capabilities) {
        self.write_as(OK, writer, agreed);
    }

    /// The end of a result set for clients with `DEPRECATE_EOF`.
    fn write_as(&self, header: u8, writer: &mut PacketWriter, agreed: Capabilities) {
        let start = writer.begin();
        let out = writer.payload();
        let tracked = agreed.has(Capabilities::SESSION_TRACK);
        let changes = if tracked { self.changes } else { &[] };
        let status = if changes.is_empty() {
            self.status.without(Status::SESSION_STATE_CHANGED)
        } else {
            self.status.with(Status::SESSION_STATE_CHANGED)
        };
        out.push(header);
        put_length_encoded(out, self.affected_rows);
        put_length_encoded(out, self.last_insert_id);
        put_u16(out, status.0);
        put_u16(out, self.warnings);
        // The manual calls it the rest of the packet, the server has always sent a length-encoded text.
        if !self.info.is_empty() || !changes.is_empty() {
            put_length_encoded_bytes(out, self.info.as_bytes());
        }
        if !changes.is_empty() {
            put_state_changes(out, changes);
        }
        writer.end(start);
    }
}

#[cold]
fn put_state_changes(out: &mut Vec<u8>, changes: &[StateChange<'_>]) {
    let mut all = Vec::new();
    let mut data = Vec::new();
    for change in changes {
        data.clear();
        let kind = match change {
            StateChange::SystemVariable { name, value } => {
                put_length_encoded_bytes(&mut data, name.as_bytes());
                put_length_encoded_bytes(&mut data, value.as_bytes());
                0
            }
            StateChange::Schema(name) => {
                put_length_encoded_bytes(&mut data, name.as_bytes());
                1
            }
            StateChange::Any => {
                put_length_encoded_bytes(&mut data, b"1");
                2
            }
            StateChange::TransactionCharacteristics(statements) => {
                put_length_encoded_bytes(&mut data, statements.as_bytes());
                4
            }
            StateChange::TransactionState(state) => {
                put_length_encoded_bytes(&mut data, state.as_bytes());
                5
            }
        };
        all.push(kind);
        put_length_encoded_bytes(&mut all, &data);
    }
    put_length_encoded_bytes(out, &all);
}

/// What `session_track_transaction_info = STATE` says of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionState {
    /// `T`: begun with BEGIN; `I`: implicitly, with autocommit off; `_`: none.
    pub explicit: bool,
    pub implicit: bool,
    pub read: bool,
    pub wrote: bool,
    pub statement_unsafe: bool,
    pub result_set: bool,
    pub locked_tables: bool,
}

impl TransactionState {
    /// Eight characters: transaction, reads of non-transactional and transactional tables, writes of the same, unsafe statement,
    /// result set, LOCK TABLES.
    pub fn text(&self) -> String {
        let mark = |on: bool, letter: char| if on { letter } else { '_' };
        let first = if self.explicit { 'T' } else { mark(self.implicit, 'I') };
        [
            first,
            '_',
            mark(self.read, 'R'),
            '_',
            mark(self.wrote, 'W'),
            mark(self.statement_unsafe, 's'),
            mark(self.result_set, 'S'),
            mark(self.locked_tables, 'L'),
        ]
        .iter()
        .collect()
    }
}

/// An error: MySQL's number, its SQLSTATE, and the message.
pub fn put_error(writer: &mut PacketWriter, number: u16, sqlstate: &[u8; 5], message: &str) {
    put_error_with(writer, number, Some(sqlstate), cut(message).as_bytes());
}

/// As [`put_error`], with the message in the bytes of another character set, of which at most [`MESSAGE_BYTES_MAX`] are sent.
pub fn put_encoded_error(writer: &mut PacketWriter, number: u16, sqlstate: &[u8; 5], message: &[u8]) {
    put_error_with(writer, number, Some(sqlstate), &message[..message.len().min(MESSAGE_BYTES_MAX)]);
}

/// An error instead of the greeting: the client has not announced yet that it knows SQLSTATEs.
pub fn put_error_for_greeting(writer: &mut PacketWriter, number: u16, message: &str) {
    put_error_with(writer, number, None, cut(message).as_bytes());
}

/// The longest message of an error: MySQL's MYSQL_ERRMSG_SIZE.
pub const MESSAGE_BYTES_MAX: usize = 512;

fn cut(message: &str) -> &str {
    let mut end = message.len().min(MESSAGE_BYTES_MAX);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    &message[..end]
}

fn put_error_with(writer: &mut PacketWriter, number: u16, sqlstate: Option<&[u8; 5]>, message: &[u8]) {
    writer.packet(|out| {
        out.push(ERR);
        put_u16(out, number);
        if let Some(sqlstate) = sqlstate {
            out.push(b'#');
            out.extend_from_slice(sqlstate);
        }
        out.extend_from_slice(message);
    });
}

/// A bare EOF packet, for clients without `DEPRECATE_EOF` (and for COM_SET_OPTION).
pub fn put_eof(writer: &mut PacketWriter, warnings: u16, status: Status) {
    writer.packet(|out| {
        out.push(EOF);
        put_u16(out, warnings);
        put_u16(out, status.0);
    });
}

/// The packet between definitions and rows, where the client wants one.
#[inline]
pub fn put_definitions_end(writer: &mut PacketWriter, agreed: Capabilities, status: Status) {
    if !agreed.has(Capabilities::DEPRECATE_EOF) {
        put_eof(writer, 0, status);
    }
}

/// The end of a result set: EOF, or OK in its place.
pub fn put_rows_end(writer: &mut PacketWriter, agreed: Capabilities, ok: &OkPacket<'_>) {
    if agreed.has(Capabilities::DEPRECATE_EOF) {
        ok.write_as(EOF, writer, agreed)
    } else {
        put_eof(writer, ok.warnings, ok.status)
    }
}

/// The count of columns; definitions follow.
pub fn put_column_count(writer: &mut PacketWriter, agreed: Capabilities, count: usize) {
    writer.packet(|out| {
        if agreed.has(Capabilities::OPTIONAL_RESULTSET_METADATA) {
            out.push(1);
        }
        put_length_encoded(out, count as u64);
    });
}

/// Head of a result set: count, definitions, their end.
pub fn put_result_head(writer: &mut PacketWriter, agreed: Capabilities, columns: &[ColumnDefinition<'_>], status: Status) {
    put_column_count(writer, agreed, columns.len());
    for column in columns {
        column.write(writer);
    }
    put_definitions_end(writer, agreed, status);
}

/// The head of a result set in wire form, kept with a plan so that each execution copies it in one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedHead {
    /// Packets numbered from 1, as in the answer to a command.
    bytes: Box<[u8]>,
    packets: usize,
}

impl EncodedHead {
    /// Encodes count and definitions. Valid for clients with the same `OPTIONAL_RESULTSET_METADATA` and result character set.
    pub fn new(agreed: Capabilities, columns: &[ColumnDefinition<'_>]) -> Self {
        let mut writer = PacketWriter::new();
        writer.set_sequence(1);
        put_column_count(&mut writer, agreed, columns.len());
        for column in columns {
            column.write(&mut writer);
        }
        Self { bytes: writer.bytes().into(), packets: columns.len() + 1 }
    }

    /// Appends the head and its end. Same bytes as [`put_result_head`].
    #[inline]
    pub fn write(&self, writer: &mut PacketWriter, agreed: Capabilities, status: Status) {
        let start = writer.len();
        let first = writer.sequence();
        writer.payload().extend_from_slice(&self.bytes);
        if first != 1 {
            renumber(&mut writer.payload()[start..], first);
        }
        writer.set_sequence(first.wrapping_add(self.packets as u8));
        put_definitions_end(writer, agreed, status);
    }
}

/// Renumbers whole packets. Definitions are short, so each is one frame.
#[cold]
fn renumber(mut packets: &mut [u8], first: u8) {
    let mut number = first;
    while let Some((&mut [a, b, c, ref mut sequence], rest)) = packets.split_first_chunk_mut::<HEADER_BYTES>() {
        *sequence = number;
        number = number.wrapping_add(1);
        packets = &mut rest[u32::from_le_bytes([a, b, c, 0]) as usize..];
    }
}

/// The first packet of the answer to COM_STMT_PREPARE.
#[derive(Clone, Copy, Debug)]
pub struct PrepareOk {
    pub statement_id: u32,
    pub columns: u16,
    pub parameters: u16,
    pub warnings: u16,
}

impl PrepareOk {
    /// Writes the packet, a definition for each parameter, and the columns' definitions.
    pub fn write(&self, writer: &mut PacketWriter, agreed: Capabilities, columns: &[ColumnDefinition<'_>], status: Status) {
        debug_assert_eq!(columns.len(), usize::from(self.columns));
        writer.packet(|out| {
            out.push(OK);
            put_u32(out, self.statement_id);
            put_u16(out, self.columns);
            put_u16(out, self.parameters);
            out.push(0);
            put_u16(out, self.warnings);
            if agreed.has(Capabilities::OPTIONAL_RESULTSET_METADATA) {
                out.push(1);
            }
        });
        for _ in 0..self.parameters {
            ColumnDefinition::PARAMETER.write(writer);
        }
        if self.parameters > 0 {
            put_definitions_end(writer, agreed, status);
        }
        for column in columns {
            column.write(writer);
        }
        if !columns.is_empty() {
            put_definitions_end(writer, agreed, status);
        }
    }
}

/// LOAD DATA LOCAL: asks for a file's content, which comes in packets up to an empty one.
pub fn put_local_infile_request(writer: &mut PacketWriter, file_name: &[u8]) {
    writer.packet(|out| {
        out.push(LOCAL_INFILE);
        out.extend_from_slice(file_name);
    });
}

/// The answer to COM_STATISTICS: text without a header.
pub fn put_statistics(writer: &mut PacketWriter, text: &str) {
    writer.packet(|out| out.extend_from_slice(text.as_bytes()));
}

#[cfg(test)]
#[path = "response/tests.rs"]
mod tests;
