//! The pieces of the protocol's packets: integers, texts, a refusal, the end of a result, a column's type.
//!
//! A packet is a length of three bytes, a sequence number, and the payload. Every piece is taken through [`Reader`], which checks that it
//! is there: malformed bytes are [`Error::Packet`].
//! <https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html>

use crate::error::Error;

/// Length and sequence number.
pub const HEADER_BYTES: usize = 4;
/// A payload of this length goes on in the next packet, which is not read here.
const LENGTH_MAX: usize = 0xff_ffff;

/// First bytes of payloads.
pub const OK: u8 = 0x00;
pub const LOCAL_FILE: u8 = 0xfb;
pub const EOF: u8 = 0xfe;
pub const ERR: u8 = 0xff;
/// Longer packets that begin with [`EOF`] are rows.
const EOF_BYTES_MAX: usize = 8;
/// A text's length that stands for NULL.
const NULL: u8 = 0xfb;

/// Another result follows this one.
const MORE_RESULTS: u16 = 0x0008;
/// Of a column: without a sign.
const UNSIGNED: u16 = 0x0020;

/// Bytes that are taken from the front; places are counted from the front of `bytes`.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// Where it stands.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let end = self.at.checked_add(length);
        let taken = end.and_then(|end| self.bytes.get(self.at..end)).ok_or(Error::Packet("it ends too early"))?;
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub fn u8(&mut self) -> Result<u8, Error> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u16(&mut self) -> Result<u16, Error> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// A length: one byte, or a mark and two, three or eight. None stands for NULL.
    fn length_or_null(&mut self) -> Result<Option<usize>, Error> {
        let length = match self.u8()? {
            NULL => return Ok(None),
            0xfc => u64::from(self.u16()?),
            0xfd => {
                let [a, b, c] = self.array()?;
                u64::from(u32::from_le_bytes([a, b, c, 0]))
            }
            0xfe => u64::from_le_bytes(self.array()?),
            ERR => return Err(Error::Packet("a length begins with 0xff")),
            short => u64::from(short),
        };
        usize::try_from(length).map(Some).map_err(|_| Error::Packet("a length beyond memory"))
    }

    pub fn length(&mut self) -> Result<usize, Error> {
        self.length_or_null()?.ok_or(Error::Packet("NULL in place of a length"))
    }

    /// A text with its length before it, or NULL.
    pub fn text(&mut self) -> Result<Option<&'a [u8]>, Error> {
        match self.length_or_null()? {
            Some(length) => self.take(length).map(Some),
            None => Ok(None),
        }
    }
}

/// A packet in a buffer: where its payload lies, and its sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub begin: usize,
    pub end: usize,
    pub sequence: u8,
}

/// The packet at `at`, or none while it is not there in full.
pub fn frame(buffer: &[u8], at: usize) -> Result<Option<Frame>, Error> {
    let Some(&[a, b, c, sequence]) = buffer.get(at..at + HEADER_BYTES) else {
        return Ok(None);
    };
    let length = payload_bytes([a, b, c])?;
    let begin = at + HEADER_BYTES;
    let frame = Frame { begin, end: begin + length, sequence };
    Ok((frame.end <= buffer.len()).then_some(frame))
}

/// What the first three bytes of a packet say.
pub fn payload_bytes(header: [u8; 3]) -> Result<usize, Error> {
    let [a, b, c] = header;
    match u32::from_le_bytes([a, b, c, 0]) as usize {
        0 => Err(Error::Packet("an empty packet")),
        LENGTH_MAX => Err(Error::Packet("a packet of 16 MiB or more, which this client does not read")),
        length => Ok(length),
    }
}

/// Makes room for a header, in a buffer that is used again.
pub fn begin(out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&[0; HEADER_BYTES]);
}

/// Writes the header of a packet that is complete.
pub fn finish(out: &mut [u8], sequence: u8) -> Result<(), Error> {
    let length = out.len() - HEADER_BYTES;
    if length >= LENGTH_MAX {
        return Err(Error::Packet("a command of 16 MiB or more"));
    }
    let [a, b, c, _] = u32::try_from(length).expect("below 16 MiB").to_le_bytes();
    out[..HEADER_BYTES].copy_from_slice(&[a, b, c, sequence]);
    Ok(())
}

/// A refusal ([`ERR`] and the rest). Before the login it has no state.
pub fn refusal(payload: &[u8]) -> Error {
    let mut reader = Reader::new(payload, 1);
    let Ok(code) = reader.u16() else {
        return Error::Packet("a refusal without a number");
    };
    let rest = &payload[reader.at()..];
    let (state, message) = match rest {
        [b'#', a, b, c, d, e, message @ ..] => (&[*a, *b, *c, *d, *e][..], message),
        message => (&b"HY000"[..], message),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Error::Server { code, state: text(state), message: text(message) }
}

/// Whether another result follows what an OK packet ends.
pub fn more_after_ok(payload: &[u8]) -> Result<bool, Error> {
    let mut reader = Reader::new(payload, 1);
    reader.length()?; // rows
    reader.length()?; // AUTO_INCREMENT
    Ok(reader.u16()? & MORE_RESULTS != 0)
}

/// Whether a payload is the end of columns or rows.
pub fn is_end(payload: &[u8]) -> bool {
    payload.first() == Some(&EOF) && payload.len() <= EOF_BYTES_MAX
}

/// Whether another result follows the rows that such a packet ends.
pub fn more_after_end(payload: &[u8]) -> Result<bool, Error> {
    let mut reader = Reader::new(payload, 1);
    reader.u16()?; // warnings
    Ok(reader.u16()? & MORE_RESULTS != 0)
}

/// How the values of a column lie in a row of a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Integer {
        bytes: u8,
        unsigned: bool,
    },
    Float,
    Double,
    /// A length of one byte before it
    Time,
    /// A length before it; DECIMAL too
    Text,
    Null,
}

/// The form of the column that a definition describes.
pub fn form(definition: &[u8]) -> Result<Form, Error> {
    let mut reader = Reader::new(definition, 0);
    // Catalog, schema, table and column, the latter two by both their names.
    for _ in 0..6 {
        reader.text()?;
    }
    reader.length()?; // of what follows
    reader.take(6)?; // character set, display width
    let kind = reader.u8()?;
    let unsigned = reader.u16()? & UNSIGNED != 0;
    let integer = |bytes| Form::Integer { bytes, unsigned };
    Ok(match kind {
        1 => integer(1),
        2 | 13 => integer(2),
        3 | 9 => integer(4),
        8 => integer(8),
        4 => Form::Float,
        5 => Form::Double,
        6 => Form::Null,
        7 | 10 | 11 | 12 => Form::Time,
        0 | 15 | 16 | 242 | 245..=255 => Form::Text,
        _ => return Err(Error::Packet("a column of an unknown type")),
    })
}
