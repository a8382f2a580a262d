//! Parameters of prepared statements, and attributes of queries, in the binary encoding.
//!
//! ```text
//! [count length-encoded]                      only with query attributes agreed
//! null bitmap, (count + 7) / 8 bytes
//! new-types flag u8
//! [type u8, sign u8, [name length-encoded]]*  only where the flag is 1
//! value*                                      none for NULL and for parameters sent as long data
//! ```
//! 1. [`StmtExecute::parse`] reads the fixed head.
//! 2. [`Parameters::bind`], called by the session on what it keeps of the statement, reads bitmap and types (or uses those of last
//!    time) and answers [`Values`].
//! 3. `Values` decodes one value after the other, borrowing bytes from the packet or from long data.
//!
//! Invariant: nothing here allocates but `bind` for a statement's first types, and long data.

use crate::constants::{Capabilities, field_type};
use crate::cursor::Cursor;
use crate::error::{Error, Result};
use std::borrow::Cow;
use types::{Date, DateTime, Time, Value};

/// COM_STMT_EXECUTE up to where the statement must be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StmtExecute<'a> {
    pub statement_id: u32,
    /// Cursor type in the low bits, see [`Self::wants_cursor`].
    pub flags: u8,
    /// Bitmap, types and values.
    encoded: &'a [u8],
}

const CURSOR_TYPE_READ_ONLY: u8 = 1;
const PARAMETER_COUNT_AVAILABLE: u8 = 8;
const PACKET: &str = "COM_STMT_EXECUTE";

impl<'a> StmtExecute<'a> {
    /// `body` follows the command byte.
    #[inline]
    pub(crate) fn parse(body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(PACKET, body);
        let statement_id = cursor.u32("statement id")?;
        let flags = cursor.u8("flags")?;
        cursor.u32("iteration count")?;
        Ok(Self { statement_id, flags, encoded: cursor.rest() })
    }

    /// Rows stay on the server until COM_STMT_FETCH asks for them.
    pub fn wants_cursor(&self) -> bool {
        self.flags & CURSOR_TYPE_READ_ONLY != 0
    }
}

/// The declared type of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterType {
    /// One of [`field_type`].
    pub code: u8,
    pub unsigned: bool,
}

impl ParameterType {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        let [code, flags] = cursor.u16("parameter type")?.to_le_bytes();
        Ok(Self { code, unsigned: flags & 0x80 != 0 })
    }

    /// Are the bytes of the value not text of the connection's character set?
    pub fn is_binary(self) -> bool {
        use field_type::*;
        matches!(self.code, TINY_BLOB | MEDIUM_BLOB | LONG_BLOB | BLOB | VECTOR | GEOMETRY | BIT)
    }
}

/// What a session keeps of a prepared statement's parameters between commands.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    count: usize,
    /// Empty until the first execution that sends types.
    types: Vec<ParameterType>,
    /// By parameter; empty while no long data has come.
    long_data: Vec<Option<Vec<u8>>>,
}

impl Parameters {
    pub fn new(count: usize) -> Self {
        Self { count, ..Self::default() }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// The types of the last execution; empty before the first one.
    pub fn types(&self) -> &[ParameterType] {
        &self.types
    }

    /// COM_STMT_SEND_LONG_DATA: appends to a value, up to `bytes_max` (`max_allowed_packet`). The command has no answer; keep the
    /// error for the next execution.
    pub fn append_long_data(&mut self, parameter: u16, data: &[u8], bytes_max: usize) -> Result<()> {
        let parameter = usize::from(parameter);
        if parameter >= self.count {
            return Err(Error::ParameterNumber { parameter, count: self.count });
        }
        self.long_data.resize(self.count, None);
        let value = self.long_data[parameter].get_or_insert_default();
        let bytes = value.len() + data.len();
        if bytes > bytes_max {
            return Err(Error::TooLarge { bytes: bytes as u64, limit: bytes_max });
        }
        value.extend_from_slice(data);
        Ok(())
    }

    /// Long data that is kept for the next execution.
    pub fn long_data_bytes(&self) -> usize {
        self.long_data.iter().flatten().map(Vec::len).sum()
    }

    /// COM_STMT_RESET, and the end of every execution: long data is for one execution.
    pub fn forget_long_data(&mut self) {
        if !self.long_data.is_empty() {
            self.long_data = Vec::new();
        }
    }

    /// Reads bitmap and types; the values follow one by one.
    pub fn bind<'a>(&'a mut self, execute: &StmtExecute<'a>, agreed: Capabilities) -> Result<Values<'a>> {
        let mut cursor = Cursor::new(PACKET, execute.encoded);
        let named = agreed.has(Capabilities::QUERY_ATTRIBUTES);
        let mut sent = self.count;
        if named && (self.count > 0 || execute.flags & PARAMETER_COUNT_AVAILABLE != 0) && !cursor.is_empty() {
            sent = read_count(&mut cursor)?;
        }
        if sent < self.count {
            return Err(cursor.malformed("parameter count"));
        }
        if sent == 0 {
            return Ok(Values { cursor, nulls: &[], types: &[], long_data: &[], next: 0, count: 0 });
        }
        let nulls = cursor.bytes(sent.div_ceil(8), "null bitmap")?;
        match cursor.u8("new-types flag")? {
            0 if self.types.len() < self.count => return Err(cursor.malformed("new-types flag")),
            0 => {}
            _ => self.read_types(&mut cursor, sent, named)?,
        }
        Ok(Values { cursor, nulls, types: &self.types, long_data: &self.long_data, next: 0, count: self.count })
    }

    /// Attributes beyond the statement's own parameters are read over.
    fn read_types(&mut self, cursor: &mut Cursor<'_>, sent: usize, named: bool) -> Result<()> {
        self.types.clear();
        for parameter in 0..sent {
            let ty = ParameterType::read(cursor)?;
            if named {
                cursor.length_encoded_bytes("parameter name")?;
            }
            if parameter < self.count {
                self.types.push(ty);
            }
        }
        Ok(())
    }
}

/// Every parameter takes at least two bytes of types or an eighth of a bitmap byte, so a count far beyond the packet is a lie.
fn read_count(cursor: &mut Cursor<'_>) -> Result<usize> {
    let count = cursor.length_encoded("parameter count")?;
    match usize::try_from(count) {
        Ok(count) if count.div_ceil(8) <= cursor.remaining() => Ok(count),
        _ => Err(cursor.malformed("parameter count")),
    }
}

/// The values of one execution, in order.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    cursor: Cursor<'a>,
    nulls: &'a [u8],
    types: &'a [ParameterType],
    long_data: &'a [Option<Vec<u8>>],
    next: usize,
    count: usize,
}

impl<'a> Values<'a> {
    /// The declared types, by parameter.
    pub fn types(&self) -> &'a [ParameterType] {
        self.types
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Result<Value<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let parameter = self.next;
        if parameter == self.count {
            return None;
        }
        self.next += 1;
        if let Some(Some(data)) = self.long_data.get(parameter) {
            return Some(Ok(Value::Bytes(Cow::Borrowed(data))));
        }
        if is_null(self.nulls, parameter) {
            return Some(Ok(Value::Null));
        }
        let value = read_value(&mut self.cursor, self.types[parameter], parameter);
        if value.as_ref().is_err_and(Error::is_fatal) {
            self.next = self.count;
        }
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count - self.next, Some(self.count - self.next))
    }
}

impl ExactSizeIterator for Values<'_> {}

#[inline]
fn is_null(bitmap: &[u8], index: usize) -> bool {
    bitmap[index / 8] & (1 << (index % 8)) != 0
}

/// Named values beside a query: `mysql_query_attribute_string()` reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedParameters<'a> {
    nulls: &'a [u8],
    count: usize,
    /// Types with names.
    types: &'a [u8],
    values: &'a [u8],
}

impl<'a> NamedParameters<'a> {
    pub const NONE: Self = Self { nulls: &[], count: 0, types: &[], values: &[] };

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Reads attributes and checks them; the cursor then stands at the statement.
    #[inline]
    pub(crate) fn parse_query(cursor: &mut Cursor<'a>) -> Result<Self> {
        let count = read_count(cursor)?;
        if cursor.length_encoded("parameter set count")? != 1 {
            return Err(cursor.malformed("parameter set count"));
        }
        if count == 0 { Ok(Self::NONE) } else { Self::parse_some(cursor, count) }
    }

    #[cold]
    fn parse_some(cursor: &mut Cursor<'a>, count: usize) -> Result<Self> {
        let nulls = cursor.bytes(count.div_ceil(8), "null bitmap")?;
        if cursor.u8("new-types flag")? != 1 {
            return Err(cursor.malformed("new-types flag"));
        }
        let types = cursor.peek_rest();
        let mut type_cursor = *cursor;
        for _ in 0..count {
            ParameterType::read(cursor)?;
            cursor.length_encoded_bytes("parameter name")?;
        }
        let values = cursor.peek_rest();
        for parameter in 0..count {
            let ty = ParameterType::read(&mut type_cursor)?;
            type_cursor.length_encoded_bytes("parameter name")?;
            if !is_null(nulls, parameter) {
                skip_value(cursor, ty, parameter)?;
            }
        }
        Ok(Self { nulls, count, types, values })
    }

    pub fn iter(&self) -> impl Iterator<Item = Result<(&'a [u8], Value<'a>)>> + use<'a> {
        let mut types = Cursor::new("COM_QUERY", self.types);
        let mut values = Cursor::new("COM_QUERY", self.values);
        let nulls = self.nulls;
        (0..self.count).map(move |parameter| {
            let ty = ParameterType::read(&mut types)?;
            let name = types.length_encoded_bytes("parameter name")?;
            if is_null(nulls, parameter) { Ok((name, Value::Null)) } else { Ok((name, read_value(&mut values, ty, parameter)?)) }
        })
    }
}

/// Reads over a value whose range does not matter.
fn skip_value(cursor: &mut Cursor<'_>, ty: ParameterType, parameter: usize) -> Result<()> {
    match read_value(cursor, ty, parameter) {
        Err(error) if error.is_fatal() => Err(error),
        _ => Ok(()),
    }
}

/// One value. After an error that is not fatal the cursor stands at the next value.
#[inline]
fn read_value<'a>(cursor: &mut Cursor<'a>, ty: ParameterType, parameter: usize) -> Result<Value<'a>> {
    const FIELD: &str = "parameter value";
    use field_type::*;
    Ok(match ty.code {
        LONG | INT24 => match cursor.u32(FIELD)? {
            bits if ty.unsigned => Value::UInt(bits.into()),
            bits => Value::Int((bits as i32).into()),
        },
        LONGLONG => match cursor.u64(FIELD)? {
            bits if ty.unsigned => Value::UInt(bits),
            bits => Value::Int(bits as i64),
        },
        STRING | VAR_STRING | VARCHAR | TINY_BLOB | MEDIUM_BLOB | LONG_BLOB | BLOB | ENUM | SET | BIT | JSON | VECTOR
        | GEOMETRY => Value::Bytes(Cow::Borrowed(cursor.length_encoded_bytes(FIELD)?)),
        TINY | BOOL => match cursor.u8(FIELD)? {
            bits if ty.unsigned => Value::UInt(bits.into()),
            bits => Value::Int((bits as i8).into()),
        },
        SHORT | YEAR => match cursor.u16(FIELD)? {
            bits if ty.unsigned => Value::UInt(bits.into()),
            bits => Value::Int((bits as i16).into()),
        },
        FLOAT => Value::Double(f32::from_bits(cursor.u32(FIELD)?).into()),
        DOUBLE => Value::Double(f64::from_bits(cursor.u64(FIELD)?)),
        DECIMAL | NEWDECIMAL => read_decimal(cursor, parameter)?,
        DATE | NEWDATE => Value::Date(read_datetime(cursor, parameter)?.date),
        DATETIME | TIMESTAMP | DATETIME2 | TIMESTAMP2 => Value::DateTime(read_datetime(cursor, parameter)?),
        TIME | TIME2 => Value::Time(read_time(cursor, parameter)?),
        NULL => Value::Null,
        _ => return Err(cursor.malformed("parameter type")),
    })
}

#[cold]
fn read_decimal<'a>(cursor: &mut Cursor<'a>, parameter: usize) -> Result<Value<'a>> {
    let text = cursor.length_encoded_bytes("decimal parameter")?;
    match std::str::from_utf8(text).ok().and_then(types::Decimal::parse_exact) {
        Some(decimal) => Ok(Value::Decimal(decimal)),
        None => Err(Error::ParameterRange { parameter, what: "decimal" }),
    }
}

/// Length (0, 4, 7 or 11), year u16, month, day, hour, minute, second, microseconds u32; missing parts are zero.
fn read_datetime(cursor: &mut Cursor<'_>, parameter: usize) -> Result<DateTime> {
    const FIELD: &str = "date parameter";
    let length = cursor.u8(FIELD)?;
    let mut value = DateTime::default();
    if !matches!(length, 0 | 4 | 7 | 11) {
        return Err(cursor.malformed(FIELD));
    }
    if length >= 4 {
        value.date = Date { year: cursor.u16(FIELD)?, month: cursor.u8(FIELD)?, day: cursor.u8(FIELD)? };
    }
    if length >= 7 {
        (value.hour, value.minute, value.second) = (cursor.u8(FIELD)?, cursor.u8(FIELD)?, cursor.u8(FIELD)?);
    }
    if length >= 11 {
        value.micros = cursor.u32(FIELD)?;
    }
    let date = value.date;
    if date.year > 9999 || date.month > 12 || date.day > 31 {
        return Err(Error::ParameterRange { parameter, what: "date" });
    }
    if value.hour > 23 || value.minute > 59 || value.second > 59 || value.micros > 999_999 {
        return Err(Error::ParameterRange { parameter, what: "time of day" });
    }
    Ok(value)
}

/// Length (0, 8 or 12), sign, days u32, hour, minute, second, microseconds u32. Beyond TIME's range: its end, as MySQL does it.
fn read_time(cursor: &mut Cursor<'_>, parameter: usize) -> Result<Time> {
    const FIELD: &str = "time parameter";
    let length = cursor.u8(FIELD)?;
    if length == 0 {
        return Ok(Time::default());
    }
    if !matches!(length, 8 | 12) {
        return Err(cursor.malformed(FIELD));
    }
    let negative = cursor.u8(FIELD)? != 0;
    // More days than TIME can hold are as good as the most that it can.
    let days = i64::from(cursor.u32(FIELD)?.min(35));
    let [hour, minute, second] = [cursor.u8(FIELD)?, cursor.u8(FIELD)?, cursor.u8(FIELD)?].map(i64::from);
    let micros = if length == 12 { i64::from(cursor.u32(FIELD)?) } else { 0 };
    if minute > 59 || second > 59 || micros > 999_999 {
        return Err(Error::ParameterRange { parameter, what: "time" });
    }
    let total = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000 + micros;
    let total = total.min(Time::MAX.micros);
    Ok(Time { micros: if negative { -total } else { total } })
}

#[cfg(test)]
#[path = "parameters/tests.rs"]
mod tests;
