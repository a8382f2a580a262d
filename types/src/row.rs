//! The stored encoding of a row, and O(1) access to its columns without decoding the rest.
//!
//! ```text
//! head u16         which columns are stored (bits 0-12): the first so many, or what `history` says; bit 15: end offsets are u32, not u16
//! null bits        one per nullable column among the stored ones, in their order; 1 is NULL
//! fixed part       each fixed-width column at its own offset, zero bytes where NULL
//! end offsets      one per variable column: where its bytes end, relative to the data part; top bit: external
//! data             the bytes of the variable columns
//! ```
//!
//! All integers are little-endian, except DECIMAL, which is in its ordered form. An external column holds 16 bytes: blob id u64, length u64.
//!
//! | type | bytes |
//! |---|---|
//! | TINYINT .. BIGINT | 1, 2, 3, 4, 8 |
//! | FLOAT, DOUBLE | 4, 8 |
//! | DECIMAL(p,s) | `Decimal::ordered_bytes(p)` |
//! | DATE | 3: year << 9, month << 5, day |
//! | TIME | 8: signed microseconds |
//! | DATETIME | 8: `DateTime::pack` |
//! | TIMESTAMP | 8: microseconds since the epoch, UTC; the smallest number is the zero timestamp |
//! | YEAR | 1: year - 1900, 0 is year 0 |
//! | ENUM, SET, BIT | 2: ordinal; 8: bits; 8: bits |
//! | strings, JSON | variable |
//!
//! R1: the layout of a row is known by its head alone. Where columns were only ever added at the end of a definition, the layout of a row with
//! fewer columns is a prefix of today's; where they also went or moved, `history` has the layouts. The columns that a row lacks read as what
//! the definition says they are (`ColumnDef::missing`), else as NULL. The definition's default is none of theirs: it may be changed later, for
//! rows to come.
//! R2: bytes from disk never panic: every access is checked and answers [`Error::Corrupt`].

use crate::error::{Error, Result};
use crate::schema::{ColumnDef, TableDef};
use crate::{ColumnType, Date, DateTime, Decimal, Time, TypeKind, Value};
use std::borrow::Cow;

pub mod condition;
pub mod history;
pub mod number;

const HEAD_MASK: u16 = 0x1fff;
const WIDE_FLAG: u16 = 0x8000;
const HEADER_BYTES: usize = 2;
/// Most columns a table may have.
pub const COLUMNS_MAX: usize = 4096;
/// Bytes of a column's reference into the blob tree.
pub const EXTERNAL_BYTES: usize = 16;
const TIMESTAMP_ZERO: i64 = i64::MIN;

/// The place of a long column's bytes: a blob of the table's blob tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalRef {
    pub blob: u64,
    /// Bytes in all.
    pub length: u64,
}

/// How rows of one table are laid out. Built once per table definition.
#[derive(Clone, Debug)]
pub struct RowLayout {
    /// In rows with heads from `since` on.
    columns: Box<[Slot]>,
    /// Sizes of the parts for a row with head `n`, `n` from 0.
    prefixes: Box<[Prefix]>,
    /// Of new rows.
    head: u16,
    since: usize,
    /// The columns in stored order, if that differs from the order of the definition.
    order: Option<Box<[u16]>>,
    /// Layouts of rows with lesser heads.
    eras: Box<[history::Era]>,
    version: u16,
}

#[derive(Clone, Debug)]
struct Slot {
    ty: ColumnType,
    kind: Kind,
    /// Fixed: byte offset in the fixed part. Variable: position among the variable columns.
    place: u32,
    /// Position among the nullable columns.
    null_bit: Option<u16>,
    /// Rows with greater heads have it.
    number: u16,
    /// The bytes of the value in rows that lack the column (R1).
    missing: Option<Box<[u8]>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Int { width: u8, unsigned: bool },
    Float,
    Double,
    Decimal { precision: u8, scale: u8 },
    Date,
    Time,
    DateTime,
    Timestamp,
    Year,
    Enum,
    Set,
    Bit,
    Variable,
}

impl Kind {
    fn of(ty: &ColumnType) -> Self {
        let int = |width| Self::Int { width, unsigned: ty.unsigned };
        match &ty.kind {
            TypeKind::TinyInt => int(1),
            TypeKind::SmallInt => int(2),
            TypeKind::MediumInt => int(3),
            TypeKind::Int => int(4),
            TypeKind::BigInt => int(8),
            TypeKind::Float => Self::Float,
            TypeKind::Double => Self::Double,
            TypeKind::Decimal { precision, scale } => Self::Decimal { precision: *precision, scale: *scale },
            TypeKind::Date => Self::Date,
            TypeKind::Time { .. } => Self::Time,
            TypeKind::DateTime { .. } => Self::DateTime,
            TypeKind::Timestamp { .. } => Self::Timestamp,
            TypeKind::Year => Self::Year,
            TypeKind::Enum { .. } => Self::Enum,
            TypeKind::Set { .. } => Self::Set,
            TypeKind::Bit { .. } => Self::Bit,
            _ => Self::Variable,
        }
    }

    /// Bytes in the fixed part; 0 for variable columns.
    fn width(self) -> usize {
        match self {
            Self::Int { width, .. } => usize::from(width),
            Self::Float => 4,
            Self::Decimal { precision, .. } => Decimal::ordered_bytes(precision),
            Self::Date => 3,
            Self::Year => 1,
            Self::Enum => 2,
            Self::Variable => 0,
            Self::Double | Self::Time | Self::DateTime | Self::Timestamp | Self::Set | Self::Bit => 8,
        }
    }
}

/// Part sizes of a row with some columns.
#[derive(Clone, Copy, Debug, Default)]
struct Prefix {
    nullable: u16,
    variable: u16,
    fixed_bytes: u32,
}

impl Prefix {
    fn fixed_start(self) -> usize {
        HEADER_BYTES + usize::from(self.nullable).div_ceil(8)
    }

    fn ends_start(self) -> usize {
        self.fixed_start() + self.fixed_bytes as usize
    }

    /// Adds a column of this width (0: variable) at the end; returns its place, and its index among the nullable
    /// columns.
    fn add(&mut self, width: usize, nullable: bool) -> (u32, Option<u16>) {
        let null_bit = nullable.then_some(self.nullable);
        let place = if width == 0 { u32::from(self.variable) } else { self.fixed_bytes };
        self.nullable += u16::from(nullable);
        self.variable += u16::from(width == 0);
        self.fixed_bytes += width as u32;
        (place, null_bit)
    }
}

/// The source of a column for an encoder.
#[derive(Clone, Copy, Debug)]
pub enum Field<'a> {
    /// Already converted to the column's type (`convert::store`).
    Value(&'a Value<'a>),
    External(ExternalRef),
    /// As it is in another row of the same table.
    Stored(StoredRow<'a>),
}

impl RowLayout {
    pub fn new(table: &TableDef) -> Self {
        match &table.history {
            Some(history) => history.layout(&table.columns),
            None => Self::from_columns(&table.columns),
        }
    }

    /// Of columns whose numbers are their places.
    pub fn from_columns(columns: &[ColumnDef]) -> Self {
        let mut prefix = Prefix::default();
        let mut prefixes = vec![prefix];
        let mut slots = Vec::with_capacity(columns.len());
        for (number, column) in columns.iter().enumerate() {
            let mut slot = Slot::new(column, number as u16);
            slot.place_behind(&mut prefix);
            slots.push(slot);
            prefixes.push(prefix);
        }
        Self {
            columns: slots.into(),
            prefixes: prefixes.into(),
            head: columns.len() as u16,
            since: 0,
            order: None,
            eras: Box::default(),
            version: 0,
        }
    }

    /// The number of changes that added, dropped or moved columns without a rewrite.
    pub fn version(&self) -> u16 {
        self.version
    }

    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    pub fn column_type(&self, column: usize) -> &ColumnType {
        &self.columns[column].ty
    }

    /// Whether the column may be stored outside the row.
    pub fn is_variable(&self, column: usize) -> bool {
        self.columns[column].kind == Kind::Variable
    }

    /// Appends the row of these values, one per column, already converted to the columns' types.
    pub fn encode(&self, values: &[Value<'_>], out: &mut Vec<u8>) -> Result<()> {
        debug_assert_eq!(values.len(), self.columns.len());
        self.encode_fields(|column| Field::Value(&values[column]), out)
    }

    /// Appends the row whose column `i` is `field(i)`.
    pub fn encode_fields<'a>(&self, field: impl Fn(usize) -> Field<'a>, out: &mut Vec<u8>) -> Result<()> {
        let prefix = self.prefixes[usize::from(self.head)];
        let start = out.len();
        let wide = self.variable_bytes(&field)? > 0x7fff;
        let head = self.head | if wide { WIDE_FLAG } else { 0 };
        out.extend_from_slice(&head.to_le_bytes());
        let end_width = if wide { 4 } else { 2 };
        let data_start = prefix.ends_start() + usize::from(prefix.variable) * end_width;
        out.resize(start + data_start, 0);
        for at in 0..self.columns.len() {
            let column = self.order.as_ref().map_or(at, |order| usize::from(order[at]));
            let slot = &self.columns[column];
            let external = match self.resolve(column, field(column))? {
                Source::Null => {
                    let bit = slot.null_bit.ok_or(Error::Null { column })?;
                    out[start + HEADER_BYTES + usize::from(bit / 8)] |= 1 << (bit % 8);
                    false
                }
                Source::Raw { bytes, external } => {
                    if slot.kind == Kind::Variable {
                        out.extend_from_slice(bytes);
                    } else {
                        let at = start + prefix.fixed_start() + slot.place as usize;
                        out[at..at + bytes.len()].copy_from_slice(bytes);
                    }
                    external
                }
                Source::External(reference) => {
                    out.extend_from_slice(&reference.blob.to_le_bytes());
                    out.extend_from_slice(&reference.length.to_le_bytes());
                    true
                }
                Source::Fixed(value) => {
                    let at = start + prefix.fixed_start() + slot.place as usize;
                    slot.write_fixed(value, &mut out[at..at + slot.kind.width()]).ok_or(Error::WrongKind { column })?;
                    false
                }
            };
            if slot.kind == Kind::Variable {
                let end = (out.len() - start - data_start) as u32;
                let at = start + prefix.ends_start() + slot.place as usize * end_width;
                write_end(&mut out[at..at + end_width], end, external);
            }
        }
        Ok(())
    }

    /// Appends `old` with some columns replaced; columns of fixed width are patched in place of a copy.
    pub fn encode_changed(&self, old: StoredRow<'_>, changes: &[(usize, Value<'_>)], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        if old.head == usize::from(self.head) && self.patch_fixed(old, changes, out)? {
            return Ok(());
        }
        out.truncate(start);
        self.encode_fields(
            |column| match changes.iter().rev().find(|(c, _)| *c == column) {
                Some((_, value)) => Field::Value(value),
                None => Field::Stored(old),
            },
            out,
        )
    }

    /// `Ok(false)`: a variable column changes, `out` holds rubbish.
    fn patch_fixed(&self, old: StoredRow<'_>, changes: &[(usize, Value<'_>)], out: &mut Vec<u8>) -> Result<bool> {
        if changes.iter().any(|(column, _)| self.is_variable(*column)) {
            return Ok(false);
        }
        let start = out.len();
        out.extend_from_slice(old.bytes);
        for (column, value) in changes {
            let slot = &self.columns[*column];
            let at = start + old.prefix.fixed_start() + slot.place as usize;
            let target = at..at + slot.kind.width();
            if let Some(bit) = slot.null_bit {
                let byte = &mut out[start + HEADER_BYTES + usize::from(bit / 8)];
                let mask = 1 << (bit % 8);
                *byte = if *value == Value::Null { *byte | mask } else { *byte & !mask };
            }
            match value {
                Value::Null if slot.null_bit.is_none() => return Err(Error::Null { column: *column }),
                Value::Null => out[target].fill(0),
                value => slot.write_fixed(value, &mut out[target]).ok_or(Error::WrongKind { column: *column })?,
            }
        }
        Ok(true)
    }

    fn variable_bytes<'a>(&self, field: &impl Fn(usize) -> Field<'a>) -> Result<usize> {
        let mut total = 0;
        for (column, slot) in self.columns.iter().enumerate() {
            if slot.kind == Kind::Variable {
                total += match self.resolve(column, field(column))? {
                    Source::Raw { bytes, .. } => bytes.len(),
                    Source::External(_) => EXTERNAL_BYTES,
                    Source::Null | Source::Fixed(_) => 0,
                };
            }
        }
        Ok(total)
    }

    fn resolve<'a>(&'a self, column: usize, field: Field<'a>) -> Result<Source<'a>> {
        let slot = &self.columns[column];
        match field {
            Field::External(reference) if slot.kind == Kind::Variable => Ok(Source::External(reference)),
            Field::External(_) => Err(Error::WrongKind { column }),
            Field::Value(value) => slot.source_of(value).ok_or(Error::WrongKind { column }),
            Field::Stored(row) => match row.raw(column)? {
                Raw::Null => Ok(Source::Null),
                Raw::Bytes { bytes, external } => Ok(Source::Raw { bytes, external }),
            },
        }
    }
}

enum Source<'a> {
    Null,
    Raw { bytes: &'a [u8], external: bool },
    External(ExternalRef),
    Fixed(&'a Value<'a>),
}

fn write_end(target: &mut [u8], end: u32, external: bool) {
    if target.len() == 4 {
        target.copy_from_slice(&(end | u32::from(external) << 31).to_le_bytes());
    } else {
        target.copy_from_slice(&(end as u16 | u16::from(external) << 15).to_le_bytes());
    }
}

impl Slot {
    /// Its place is not known yet.
    fn new(column: &ColumnDef, number: u16) -> Self {
        let slot = Self { ty: column.ty.clone(), kind: Kind::of(&column.ty), place: 0, null_bit: None, number, missing: None };
        let missing = column.missing.as_ref().and_then(|text| slot.raw_of(&column.default_value(text)?));
        Self { missing, null_bit: column.nullable.then_some(0), ..slot }
    }

    /// Places it after the columns of `prefix`.
    fn place_behind(&mut self, prefix: &mut Prefix) {
        (self.place, self.null_bit) = prefix.add(self.kind.width(), self.null_bit.is_some());
    }

    fn source_of<'a>(&self, value: &'a Value<'a>) -> Option<Source<'a>> {
        match (self.kind, value) {
            (_, Value::Null) => Some(Source::Null),
            (Kind::Variable, Value::Bytes(bytes)) => Some(Source::Raw { bytes, external: false }),
            (Kind::Variable, _) => None,
            _ => Some(Source::Fixed(value)),
        }
    }

    /// The bytes of a value that is not NULL.
    fn raw_of(&self, value: &Value<'_>) -> Option<Box<[u8]>> {
        match (self.kind, value) {
            (Kind::Variable, Value::Bytes(bytes)) => Some(bytes.as_ref().into()),
            (Kind::Variable, _) => None,
            _ => {
                let mut bytes = vec![0; self.kind.width()];
                self.write_fixed(value, &mut bytes)?;
                Some(bytes.into())
            }
        }
    }

    /// Writes a value that is not NULL; `None` when it is of another kind.
    fn write_fixed(&self, value: &Value<'_>, target: &mut [u8]) -> Option<()> {
        let width = target.len();
        match (self.kind, value) {
            (Kind::Int { .. }, Value::Int(v)) => target.copy_from_slice(&v.to_le_bytes()[..width]),
            (Kind::Int { .. }, Value::UInt(v)) => target.copy_from_slice(&v.to_le_bytes()[..width]),
            (Kind::Float, Value::Double(v)) => target.copy_from_slice(&(*v as f32).to_le_bytes()),
            (Kind::Double, Value::Double(v)) => target.copy_from_slice(&v.to_le_bytes()),
            (Kind::Decimal { precision, scale }, Value::Decimal(v)) => v.write_ordered(precision, scale, target),
            (Kind::Date, Value::Date(v)) => target.copy_from_slice(&v.pack().to_le_bytes()[..3]),
            (Kind::Time, Value::Time(v)) => target.copy_from_slice(&v.micros.to_le_bytes()),
            (Kind::DateTime, Value::DateTime(v)) => target.copy_from_slice(&v.pack().to_le_bytes()),
            (Kind::Timestamp, Value::DateTime(v)) => {
                let micros = if v.is_zero() { TIMESTAMP_ZERO } else { v.to_utc_micros()? };
                target.copy_from_slice(&micros.to_le_bytes());
            }
            (Kind::Year, Value::Int(v)) => target[0] = year_byte(*v)?,
            (Kind::Year, Value::UInt(v)) => target[0] = year_byte(i64::try_from(*v).ok()?)?,
            (Kind::Bit, Value::UInt(v)) => target.copy_from_slice(&v.to_le_bytes()),
            (Kind::Enum, value) => target.copy_from_slice(&enum_ordinal(&self.ty, value)?.to_le_bytes()),
            (Kind::Set, value) => target.copy_from_slice(&set_bits(&self.ty, value)?.to_le_bytes()),
            _ => return None,
        }
        Some(())
    }

    /// Reads the fixed bytes of a value that is not NULL.
    fn read_fixed<'a>(&'a self, bytes: &'a [u8]) -> Option<Value<'a>> {
        Some(match self.kind {
            Kind::Int { unsigned: true, .. } => Value::UInt(read_uint(bytes)),
            Kind::Int { width, .. } => {
                let shift = 64 - 8 * u32::from(width);
                Value::Int((read_uint(bytes) << shift) as i64 >> shift)
            }
            Kind::Float => Value::Double(f64::from(f32::from_le_bytes(bytes.try_into().ok()?))),
            Kind::Double => Value::Double(f64::from_le_bytes(bytes.try_into().ok()?)),
            Kind::Decimal { precision, scale } => Value::Decimal(Decimal::decode_ordered(bytes, precision, scale)?),
            Kind::Date => Value::Date(Date::unpack(read_uint(bytes) as u32)?),
            Kind::Time => Value::Time(Time::unpack(read_uint(bytes) ^ 1 << 63)?),
            Kind::DateTime => Value::DateTime(DateTime::unpack(read_uint(bytes))?),
            Kind::Timestamp => Value::DateTime(match read_uint(bytes) as i64 {
                TIMESTAMP_ZERO => DateTime::ZERO,
                micros => DateTime::from_utc_micros(micros)?,
            }),
            Kind::Year => Value::Int(year_of_byte(bytes[0])),
            Kind::Bit => Value::UInt(read_uint(bytes)),
            Kind::Enum => enum_value(&self.ty, read_uint(bytes))?,
            Kind::Set => Value::Bytes(set_names(&self.ty, read_uint(bytes))?),
            Kind::Variable => return None,
        })
    }
}

fn read_uint(bytes: &[u8]) -> u64 {
    match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c] => u64::from(u32::from_le_bytes([a, b, c, 0])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

/// YEAR's stored byte: 0 for year 0, else year - 1900.
pub(crate) fn year_byte(year: i64) -> Option<u8> {
    match year {
        0 => Some(0),
        1901..=2155 => Some((year - 1900) as u8),
        _ => None,
    }
}

pub(crate) fn year_of_byte(byte: u8) -> i64 {
    if byte == 0 { 0 } else { 1900 + i64::from(byte) }
}

/// The stored number of an ENUM value given by name or number; 0 is the empty error value.
pub fn enum_ordinal(ty: &ColumnType, value: &Value<'_>) -> Option<u16> {
    let TypeKind::Enum { members } = &ty.kind else { return None };
    let ordinal = match value {
        Value::UInt(number) => usize::try_from(*number).ok()?,
        Value::Int(number) => usize::try_from(*number).ok()?,
        Value::Bytes(name) => match members.iter().position(|m| m.as_bytes() == name.as_ref()) {
            Some(position) => position + 1,
            None if name.is_empty() => 0,
            None => return None,
        },
        _ => return None,
    };
    (ordinal <= members.len()).then_some(ordinal as u16)
}

/// The stored bits of a SET value given by names or number.
pub fn set_bits(ty: &ColumnType, value: &Value<'_>) -> Option<u64> {
    let TypeKind::Set { members } = &ty.kind else { return None };
    let bits = match value {
        Value::UInt(number) => *number,
        Value::Int(number) => u64::try_from(*number).ok()?,
        Value::Bytes(names) if names.is_empty() => 0,
        Value::Bytes(names) => {
            let mut bits = 0;
            for name in names.split(|&b| b == b',') {
                bits |= 1 << members.iter().position(|m| m.as_bytes() == name)?;
            }
            bits
        }
        _ => return None,
    };
    (members.len() >= 64 || bits >> members.len() == 0).then_some(bits)
}

/// The value of an ENUM's ordinal: its name. The error value 0 is the empty string; if that is a member's name too, it
/// is the number.
pub fn enum_value(ty: &ColumnType, ordinal: u64) -> Option<Value<'_>> {
    if ordinal == 0 && has_empty_member(ty) {
        return Some(Value::UInt(0));
    }
    ty.member_name(ordinal).map(|name| Value::Bytes(Cow::Borrowed(name)))
}

/// Is a member of the ENUM the empty text?
fn has_empty_member(ty: &ColumnType) -> bool {
    matches!(&ty.kind, TypeKind::Enum { members } if members.iter().any(String::is_empty))
}

/// The names of a SET's bits, joined by commas; borrowed for up to one member.
pub fn set_names(ty: &ColumnType, bits: u64) -> Option<Cow<'_, [u8]>> {
    let TypeKind::Set { members } = &ty.kind else { return None };
    if members.len() < 64 && bits >> members.len() != 0 {
        return None;
    }
    if bits.count_ones() <= 1 {
        let name = if bits == 0 { &b""[..] } else { members[bits.trailing_zeros() as usize].as_bytes() };
        return Some(Cow::Borrowed(name));
    }
    let mut joined = Vec::new();
    for (i, member) in members.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1) {
        if bits & ((1 << i) - 1) != 0 {
            joined.push(b',');
        }
        joined.extend_from_slice(member.as_bytes());
    }
    Some(Cow::Owned(joined))
}

/// One stored row: bytes that somebody else holds, read by column.
#[derive(Clone, Copy, Debug)]
pub struct StoredRow<'a> {
    layout: &'a RowLayout,
    /// The places of its columns.
    slots: &'a [Slot],
    bytes: &'a [u8],
    head: usize,
    prefix: Prefix,
    wide: bool,
}

/// The bytes of one column.
enum Raw<'a> {
    Null,
    Bytes { bytes: &'a [u8], external: bool },
}

impl Raw<'_> {
    fn external(self) -> Result<Option<ExternalRef>> {
        let Raw::Bytes { bytes, external: true } = self else { return Ok(None) };
        let reference: &[u8; EXTERNAL_BYTES] =
            bytes.try_into().map_err(|_| Error::Corrupt("external reference of a wrong size"))?;
        Ok(Some(ExternalRef { blob: read_uint(&reference[..8]), length: read_uint(&reference[8..]) }))
    }
}

impl<'a> StoredRow<'a> {
    /// Checks the head of the row; its columns are checked when they are read.
    #[inline]
    pub fn new(layout: &'a RowLayout, bytes: &'a [u8]) -> Result<Self> {
        let head = bytes.first_chunk::<HEADER_BYTES>().ok_or(Error::Corrupt("row without a head"))?;
        let head = u16::from_le_bytes(*head);
        let wide = head & WIDE_FLAG != 0;
        let head = usize::from(head & HEAD_MASK);
        let prefix = *layout.prefixes.get(head).ok_or(Error::Corrupt("row with too many columns"))?;
        let slots: &[Slot] = if head >= layout.since { &layout.columns } else { layout.slots_before(head) };
        let row = Self { layout, slots, bytes, head, prefix, wide };
        if row.data_start() > bytes.len() {
            return Err(Error::Corrupt("row is cut short"));
        }
        Ok(row)
    }

    pub fn layout(&self) -> &'a RowLayout {
        self.layout
    }

    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The column's value; strings are borrowed from the row, ENUM names from the layout. TIMESTAMP is in UTC.
    pub fn get(&self, column: usize) -> Result<Value<'a>> {
        let slot = &self.slots[column];
        match self.raw(column)? {
            Raw::Null => Ok(Value::Null),
            Raw::Bytes { external: true, .. } => Err(Error::External { column }),
            Raw::Bytes { bytes, .. } if slot.kind == Kind::Variable => Ok(Value::Bytes(Cow::Borrowed(bytes))),
            Raw::Bytes { bytes, .. } => {
                slot.read_fixed(bytes).ok_or(Error::Corrupt("bytes of a column are no value of its type"))
            }
        }
    }

    pub fn is_null(&self, column: usize) -> Result<bool> {
        Ok(matches!(self.raw(column)?, Raw::Null))
    }

    /// ENUM's ordinal, SET's bits; `None` is NULL.
    pub fn ordinal(&self, column: usize) -> Result<Option<u64>> {
        let slot = &self.slots[column];
        match self.raw(column)? {
            Raw::Null => Ok(None),
            Raw::Bytes { bytes, .. } if matches!(slot.kind, Kind::Enum | Kind::Set) => Ok(Some(read_uint(bytes))),
            Raw::Bytes { .. } => Err(Error::WrongKind { column }),
        }
    }

    /// The place of the column's bytes, if they are not in the row.
    pub fn external(&self, column: usize) -> Result<Option<ExternalRef>> {
        self.raw(column)?.external()
    }

    /// Whether any column lies in the blob tree.
    pub fn has_external(&self) -> bool {
        (0..usize::from(self.prefix.variable)).any(|i| self.end(i).1)
    }

    /// Bytes the column takes in the data part; 0 for columns of fixed width.
    pub fn variable_bytes(&self, column: usize) -> Result<usize> {
        match self.raw(column)? {
            Raw::Bytes { bytes, .. } if self.layout.is_variable(column) => Ok(bytes.len()),
            _ => Ok(0),
        }
    }

    fn data_start(&self) -> usize {
        self.prefix.ends_start() + usize::from(self.prefix.variable) * if self.wide { 4 } else { 2 }
    }

    fn raw(&self, column: usize) -> Result<Raw<'a>> {
        let slot = &self.slots[column];
        if usize::from(slot.number) >= self.head {
            return Ok(slot.missing.as_ref().map_or(Raw::Null, |bytes| Raw::Bytes { bytes, external: false }));
        }
        if let Some(bit) = slot.null_bit
            && self.bytes[HEADER_BYTES + usize::from(bit / 8)] >> (bit % 8) & 1 == 1
        {
            return Ok(Raw::Null);
        }
        if slot.kind != Kind::Variable {
            let at = self.prefix.fixed_start() + slot.place as usize;
            // In bounds: `new` checked the whole fixed part.
            return Ok(Raw::Bytes { bytes: &self.bytes[at..at + slot.kind.width()], external: false });
        }
        self.variable(slot.place as usize)
    }

    /// The bytes of a variable column.
    #[inline]
    fn variable(&self, index: usize) -> Result<Raw<'a>> {
        let start = if index == 0 { 0 } else { self.end(index - 1).0 };
        let (end, external) = self.end(index);
        let data = &self.bytes[self.data_start()..];
        let bytes = data.get(start..end).ok_or(Error::Corrupt("column lies outside its row"))?;
        Ok(Raw::Bytes { bytes, external })
    }

    /// End of a variable column relative to the data part, and whether it is external. In bounds: `new` checked the array.
    fn end(&self, index: usize) -> (usize, bool) {
        let at = self.prefix.ends_start();
        if self.wide {
            let bits = read_uint(&self.bytes[at + 4 * index..at + 4 * index + 4]) as u32;
            ((bits & 0x7fff_ffff) as usize, bits >> 31 == 1)
        } else {
            let bits = read_uint(&self.bytes[at + 2 * index..at + 2 * index + 2]) as u16;
            (usize::from(bits & 0x7fff), bits >> 15 == 1)
        }
    }
}

#[cfg(test)]
mod tests;
