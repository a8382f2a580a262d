//! MySQL's protocol after the login: commands, and the ends of answers.
//!
//! ```text
//! packet   length u24, sequence u8, payload
//! answer   OK | ERR | count, definitions, [EOF], rows, (OK with 0xfe | EOF)      repeated while "more results" is set
//! prepare  0x00, id, columns, parameters, ...; definitions, [EOF], definitions, [EOF]
//! ```
//! Source: MySQL's documentation of its client/server protocol.

use super::codec::Sent;
use super::{Row, Value};
use crate::error::{Error, Result};

const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const HEADER: usize = 4;
const FRAME_MAX: usize = 0xff_ffff;
const MORE_RESULTS: u16 = 0x0008;
/// Types of parameters: INT and VARCHAR, then the flag for "unsigned".
const INT: [u8; 2] = [3, 0];
const TEXT: [u8; 2] = [253, 0];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    First,
    FirstOfPrepare,
    /// Definitions that are to come, then what
    Definitions {
        left: u32,
        then: Then,
    },
    EofOf(Then),
    Rows,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Rows,
    End,
    /// The columns of a prepared statement
    Columns(u32),
}

/// What is known of one connection.
#[derive(Clone, Debug)]
pub struct Codec {
    /// No EOF packets
    without_eof: bool,
    state: State,
    /// The last packet was full: the next one belongs to it
    continued: bool,
    pub rows: u64,
    pub prepared: u32,
    pub error: Option<Error>,
}

impl Clone for Error {
    fn clone(&self) -> Self {
        match self {
            Self::Server { number, state, message } => {
                Self::Server { number: *number, state: state.clone(), message: message.clone() }
            }
            other => Self::Asked(other.to_string()),
        }
    }
}

impl Codec {
    pub fn new(without_eof: bool) -> Self {
        Self { without_eof, state: State::First, continued: false, rows: 0, prepared: 0, error: None }
    }

    pub fn query(&self, out: &mut Vec<u8>, sql: &[u8]) -> Result<()> {
        command(out, QUERY, sql)
    }

    pub fn prepare(&self, out: &mut Vec<u8>, _: u32, sql: &str) -> Result<()> {
        command(out, PREPARE, sql.as_bytes())
    }

    pub fn execute(&self, out: &mut Vec<u8>, id: u32, values: &[Value], text: &[u8], first: bool) {
        const NO_CURSOR: u8 = 0;
        const TIMES: [u8; 4] = [1, 0, 0, 0];
        let start = out.len();
        out.extend_from_slice(&[0, 0, 0, 0, EXECUTE]);
        out.extend_from_slice(&id.to_le_bytes());
        out.push(NO_CURSOR);
        out.extend_from_slice(&TIMES);
        if !values.is_empty() {
            // None is NULL.
            out.resize(out.len() + values.len().div_ceil(8), 0);
            out.push(u8::from(first));
            if first {
                values.iter().for_each(|value| out.extend_from_slice(if matches!(value, Value::Int(_)) { &INT } else { &TEXT }));
            }
            for value in values {
                match value {
                    Value::Int(number) => out.extend_from_slice(&number.to_le_bytes()),
                    Value::Text { from, to } => {
                        put_length(out, (to - from) as usize);
                        out.extend_from_slice(&text[*from as usize..*to as usize]);
                    }
                }
            }
        }
        let length = out.len() - start - HEADER;
        out[start..start + 3].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
    }

    pub fn begin(&mut self, sent: Sent) {
        self.state = if sent == Sent::Prepare { State::FirstOfPrepare } else { State::First };
        self.rows = 0;
        self.error = None;
    }

    pub fn feed(&mut self, input: &[u8], row: &mut dyn FnMut(&[u8])) -> Result<(usize, bool)> {
        let mut at = 0;
        while let Some(header) = input[at..].first_chunk::<HEADER>() {
            let length = u24(header.first_chunk().expect("of four"));
            let Some(payload) = input.get(at + HEADER..at + HEADER + length) else { break };
            at += HEADER + length;
            let continues = std::mem::replace(&mut self.continued, length == FRAME_MAX);
            if !continues && self.packet(payload, row)? {
                return Ok((at, true));
            }
        }
        Ok((at, false))
    }

    /// One packet; true if the answer ends with it.
    fn packet(&mut self, payload: &[u8], row: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let first = payload.first().copied().ok_or(Error::Protocol("an empty packet"))?;
        if first == 0xff && !matches!(self.state, State::Definitions { .. }) {
            self.error = Some(error(payload));
            return Ok(true);
        }
        match self.state {
            State::Rows if first == 0xfe && payload.len() < FRAME_MAX => {
                let status = if payload.len() < 6 { word(payload, 3) } else { ok_status(payload) };
                self.end(status)
            }
            State::Rows => {
                self.rows += 1;
                row(payload);
                Ok(false)
            }
            State::First => match first {
                0x00 => self.end(ok_status(payload)),
                0xfb => Err(Error::Protocol("it asks for a file")),
                _ => {
                    let (count, _) = length(payload, 0).ok_or(Error::Protocol("a count of columns"))?;
                    self.state = State::Definitions { left: count as u32, then: Then::Rows };
                    Ok(false)
                }
            },
            State::FirstOfPrepare => {
                if payload.len() < 9 {
                    return Err(Error::Protocol("an answer to PREPARE"));
                }
                self.prepared = u32::from_le_bytes([payload[1], payload[2], payload[3], payload[4]]);
                let (columns, parameters) = (u32::from(word(payload, 5)), u32::from(word(payload, 7)));
                self.state = match (parameters, columns) {
                    (0, 0) => return Ok(true),
                    (0, left) => State::Definitions { left, then: Then::End },
                    (left, columns) => State::Definitions { left, then: Then::Columns(columns) },
                };
                Ok(false)
            }
            State::Definitions { left, then } if left > 1 => {
                self.state = State::Definitions { left: left - 1, then };
                Ok(false)
            }
            State::Definitions { then, .. } if !self.without_eof => {
                self.state = State::EofOf(then);
                Ok(false)
            }
            State::Definitions { then, .. } | State::EofOf(then) => {
                match then {
                    Then::Rows => self.state = State::Rows,
                    Then::End | Then::Columns(0) => return Ok(true),
                    Then::Columns(left) => self.state = State::Definitions { left, then: Then::End },
                }
                Ok(false)
            }
        }
    }

    fn end(&mut self, status: u16) -> Result<bool> {
        self.state = State::First;
        Ok(status & MORE_RESULTS == 0)
    }
}

fn command(out: &mut Vec<u8>, command: u8, text: &[u8]) -> Result<()> {
    let length = text.len() + 1;
    if length >= FRAME_MAX {
        return Err(Error::asked(format!("a statement of {} bytes is longer than a packet", text.len())));
    }
    out.extend_from_slice(&(length as u32).to_le_bytes()[..3]);
    out.extend_from_slice(&[0, command]);
    out.extend_from_slice(text);
    Ok(())
}

fn u24(bytes: &[u8; 3]) -> usize {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) as usize
}

fn word(payload: &[u8], at: usize) -> u16 {
    payload.get(at..at + 2).map_or(0, |two| u16::from_le_bytes([two[0], two[1]]))
}

/// A length-encoded number, and where it ends.
pub fn length(payload: &[u8], at: usize) -> Option<(u64, usize)> {
    let bytes = match *payload.get(at)? {
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        small => return Some((u64::from(small), at + 1)),
    };
    let mut all = [0; 8];
    all[..bytes].copy_from_slice(payload.get(at + 1..at + 1 + bytes)?);
    Some((u64::from_le_bytes(all), at + 1 + bytes))
}

/// The status of an OK packet: behind the affected rows and the last id.
fn ok_status(payload: &[u8]) -> u16 {
    let after = length(payload, 1).and_then(|(_, at)| length(payload, at));
    after.map_or(0, |(_, at)| word(payload, at))
}

/// An ERR packet.
pub fn error(payload: &[u8]) -> Error {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (state, message) = match payload.get(3) {
        Some(b'#') if payload.len() >= 9 => (text(&payload[4..9]), text(&payload[9..])),
        _ => ("HY000".into(), text(payload.get(3..).unwrap_or_default())),
    };
    Error::Server { number: word(payload, 1), state, message }
}

fn put_length(out: &mut Vec<u8>, length: usize) {
    let bytes = (length as u64).to_le_bytes();
    match length {
        0..=250 => out.push(bytes[0]),
        251..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        _ => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
    }
}

/// A row of a statement that was sent as text.
pub fn text_row(payload: &[u8]) -> Result<Row> {
    let mut row = Row::new();
    let mut at = 0;
    while at < payload.len() {
        if payload[at] == 0xfb {
            row.push(None);
            at += 1;
            continue;
        }
        let (bytes, from) = length(payload, at).ok_or(Error::Protocol("a value of a row"))?;
        let value = payload.get(from..from.saturating_add(bytes as usize)).ok_or(Error::Protocol("a value of a row"))?;
        row.push(Some(String::from_utf8_lossy(value).into_owned()));
        at = from + bytes as usize;
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(payload: &[u8]) -> Vec<u8> {
        let mut out = (payload.len() as u32).to_le_bytes()[..3].to_vec();
        out.push(1);
        out.extend_from_slice(payload);
        out
    }

    /// Feeds an answer cut at every place: the end is found once, the rows are counted.
    fn check(without_eof: bool, sent: Sent, packets: &[&[u8]], rows: u64) {
        let bytes: Vec<u8> = packets.iter().flat_map(|payload| packet(payload)).collect();
        for cut in 0..bytes.len() {
            let mut codec = Codec::new(without_eof);
            codec.begin(sent);
            let (used, done) = codec.feed(&bytes[..cut], &mut |_| ()).expect("well formed");
            assert!(!done, "{cut}");
            let (rest, done) = codec.feed(&bytes[used..], &mut |_| ()).expect("well formed");
            assert_eq!((used + rest, done, codec.rows), (bytes.len(), true, rows), "{cut}");
        }
    }

    #[test]
    fn the_ends_of_answers_are_found() {
        const OK: &[u8] = &[0, 1, 0, 2, 0, 0, 0];
        const DEFINITION: &[u8] = b"\x03def and so on";
        check(true, Sent::Execute, &[OK], 0);
        check(true, Sent::Execute, &[b"\x02", DEFINITION, DEFINITION, b"\x00\x00a", b"\x00\x00b", &[0xfe, 0, 0, 2, 0, 0, 0]], 2);
        check(false, Sent::Query, &[b"\x01", DEFINITION, &[0xfe, 0, 0, 2, 0], b"\x01a", &[0xfe, 0, 0, 2, 0]], 1);
        // A procedure: rows, then the OK of CALL.
        check(true, Sent::Query, &[b"\x01", DEFINITION, b"\x01a", &[0xfe, 0, 0, 8, 0, 0, 0], OK], 1);
        check(true, Sent::Prepare, &[&[0, 7, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0], DEFINITION, DEFINITION, DEFINITION], 0);
        check(false, Sent::Prepare, &[&[0, 7, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], DEFINITION, &[0xfe, 0, 0, 2, 0]], 0);
        check(true, Sent::Prepare, &[&[0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]], 0);
    }

    #[test]
    fn an_error_is_told() {
        let mut codec = Codec::new(true);
        codec.begin(Sent::Query);
        let bytes = packet(b"\xff\xbd\x04#40001Deadlock found");
        assert_eq!(codec.feed(&bytes, &mut |_| ()).expect("well formed"), (bytes.len(), true));
        let error = codec.error.take().expect("it is one");
        assert!(error.is_conflict());
        assert_eq!(error.to_string(), "the server says: Deadlock found (error 1213, SQLSTATE 40001)");
    }

    #[test]
    fn types_are_sent_once() {
        let codec = Codec::new(true);
        let values = [Value::Int(5), Value::Text { from: 1, to: 3 }];
        let (mut first, mut later) = (Vec::new(), Vec::new());
        codec.execute(&mut first, 7, &values, b"xaby", true);
        codec.execute(&mut later, 7, &values, b"xaby", false);
        assert_eq!(later, [19, 0, 0, 0, 0x17, 7, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 5, 0, 0, 0, 2, b'a', b'b']);
        assert_eq!(first[15..20], [1, 3, 0, 253, 0]);
    }

    #[test]
    fn rows_of_text_are_read() {
        let row = text_row(b"\x01a\xfb\x00").expect("well formed");
        assert_eq!(row, [Some("a".to_owned()), None, Some(String::new())]);
        assert!(text_row(b"\x05a").is_err());
    }
}
