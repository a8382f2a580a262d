//! Rows in the form of the binary log, and TABLE_MAP, which describes them (MySQL's source, `libs/mysql/binlog/event/rows_event.h` and
//! `sql/field.cc`).
//!
//! A [`WireTable`] is made once per definition. It knows the columns of the stream (those that statements can name), their types there, and
//! the layout of stored rows. [`WireTable::put_image`] converts a stored row, without making values of integers and texts first.
//!
//! R1: the stream's columns are in the order of the definition; columns of functional key parts are left out.
//! R2: text leaves in the column's own character set, though it is stored in UTF-8.

pub mod read;

use crate::event;
use std::borrow::Cow;
use std::sync::Arc;
use types::charset::Charset;
use types::row::{ExternalRef, RowLayout, StoredRow};
use types::schema::{IndexKind, TableDef};
use types::{ColumnType, Decimal, LobSize, TypeKind, Value};

const TYPE_TINY: u8 = 1;
const TYPE_SHORT: u8 = 2;
const TYPE_LONG: u8 = 3;
const TYPE_FLOAT: u8 = 4;
const TYPE_DOUBLE: u8 = 5;
const TYPE_LONGLONG: u8 = 8;
const TYPE_INT24: u8 = 9;
const TYPE_DATE: u8 = 10;
const TYPE_YEAR: u8 = 13;
const TYPE_VARCHAR: u8 = 15;
const TYPE_BIT: u8 = 16;
const TYPE_TIMESTAMP2: u8 = 17;
const TYPE_DATETIME2: u8 = 18;
const TYPE_TIME2: u8 = 19;
const TYPE_JSON: u8 = 245;
const TYPE_NEWDECIMAL: u8 = 246;
const TYPE_ENUM: u8 = 247;
const TYPE_SET: u8 = 248;
const TYPE_BLOB: u8 = 252;
const TYPE_STRING: u8 = 254;
const TYPE_GEOMETRY: u8 = 255;
const TYPE_VECTOR: u8 = 242;

const META_SIGNEDNESS: u8 = 1;
const META_DEFAULT_CHARSET: u8 = 2;
const META_COLUMN_CHARSET: u8 = 3;
const META_COLUMN_NAME: u8 = 4;
const META_SET_VALUES: u8 = 5;
const META_ENUM_VALUES: u8 = 6;
const META_GEOMETRY_KINDS: u8 = 7;
const META_VECTOR_DIMENSIONS: u8 = 13;
const META_PRIMARY_KEY: u8 = 8;
const META_PRIMARY_KEY_PREFIXES: u8 = 9;
const META_ENUM_DEFAULT_CHARSET: u8 = 10;
const META_ENUM_COLUMN_CHARSET: u8 = 11;
const META_VISIBILITY: u8 = 12;

/// Which columns rows have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowImage {
    Minimal,
    NoBlob,
    #[default]
    Full,
}

/// A row cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow(pub String);

/// The form of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Bytes.
    Int(u8),
    Float,
    Double,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Date,
    Time(u8),
    DateTime(u8),
    Timestamp(u8),
    Year,
    /// Bytes.
    Bits(u8),
    /// Big-endian; bytes.
    Bit(u8),
    /// With a length of so many bytes.
    Text(u8),
    /// As `Text`, without the spaces or zero bytes at its end.
    Padded(u8, u8),
    Json,
}

struct WireColumn {
    /// Position in the definition.
    column: usize,
    kind: u8,
    meta: [u8; 2],
    meta_bytes: u8,
    form: Form,
    charset: Charset,
    is_large: bool,
}

/// A table as the stream has it.
pub struct WireTable {
    pub def: Arc<TableDef>,
    pub layout: RowLayout,
    columns: Vec<WireColumn>,
    /// Of the key that MINIMAL rows are found by, as positions in `columns`; empty: there is no such key.
    key: Vec<usize>,
    /// TABLE_MAP from the database on, with full and with minimal metadata.
    full: Vec<u8>,
    minimal: Vec<u8>,
}

fn lob_bytes(size: LobSize) -> u8 {
    match size {
        LobSize::Tiny => 1,
        LobSize::Regular => 2,
        LobSize::Medium => 3,
        LobSize::Long => 4,
    }
}

fn is_numeric(kind: u8) -> bool {
    matches!(
        kind,
        TYPE_TINY | TYPE_SHORT | TYPE_LONG | TYPE_FLOAT | TYPE_DOUBLE | TYPE_LONGLONG | TYPE_INT24 | TYPE_YEAR | TYPE_NEWDECIMAL
    )
}

impl WireColumn {
    fn new(column: usize, ty: &ColumnType) -> Self {
        let per_character = ty.collation.character_bytes_max();
        let length_bytes = |bytes: u32| if bytes < 256 { 1 } else { 2 };
        let string = |bytes: u32| [TYPE_STRING ^ ((bytes & 0x300) >> 4) as u8, bytes as u8];
        let (kind, meta, meta_bytes, form) = match &ty.kind {
            TypeKind::TinyInt => (TYPE_TINY, [0, 0], 0, Form::Int(1)),
            TypeKind::SmallInt => (TYPE_SHORT, [0, 0], 0, Form::Int(2)),
            TypeKind::MediumInt => (TYPE_INT24, [0, 0], 0, Form::Int(3)),
            TypeKind::Int => (TYPE_LONG, [0, 0], 0, Form::Int(4)),
            TypeKind::BigInt => (TYPE_LONGLONG, [0, 0], 0, Form::Int(8)),
            TypeKind::Float => (TYPE_FLOAT, [4, 0], 1, Form::Float),
            TypeKind::Double => (TYPE_DOUBLE, [8, 0], 1, Form::Double),
            TypeKind::Decimal { precision, scale } => {
                (TYPE_NEWDECIMAL, [*precision, *scale], 2, Form::Decimal { precision: *precision, scale: *scale })
            }
            TypeKind::Date => (TYPE_DATE, [0, 0], 0, Form::Date),
            TypeKind::Time { fsp } => (TYPE_TIME2, [*fsp, 0], 1, Form::Time(*fsp)),
            TypeKind::DateTime { fsp } => (TYPE_DATETIME2, [*fsp, 0], 1, Form::DateTime(*fsp)),
            TypeKind::Timestamp { fsp } => (TYPE_TIMESTAMP2, [*fsp, 0], 1, Form::Timestamp(*fsp)),
            TypeKind::Year => (TYPE_YEAR, [0, 0], 0, Form::Year),
            TypeKind::Enum { members } => {
                let bytes = if members.len() < 256 { 1 } else { 2 };
                (TYPE_STRING, [TYPE_ENUM, bytes], 2, Form::Bits(bytes))
            }
            TypeKind::Set { members } => {
                let bytes = match members.len().div_ceil(8) {
                    bytes @ 0..=4 => bytes.max(1) as u8,
                    _ => 8,
                };
                (TYPE_STRING, [TYPE_SET, bytes], 2, Form::Bits(bytes))
            }
            TypeKind::Bit { length } => (TYPE_BIT, [length % 8, length / 8], 2, Form::Bit(length.div_ceil(8))),
            TypeKind::Char { length } => {
                let bytes = length * per_character;
                (TYPE_STRING, string(bytes), 2, Form::Padded(length_bytes(bytes), b' '))
            }
            TypeKind::Binary { length } => (TYPE_STRING, string(*length), 2, Form::Padded(length_bytes(*length), 0)),
            TypeKind::VarChar { length } => {
                let bytes = length * per_character;
                (TYPE_VARCHAR, (bytes as u16).to_le_bytes(), 2, Form::Text(length_bytes(bytes)))
            }
            TypeKind::VarBinary { length } => {
                (TYPE_VARCHAR, (*length as u16).to_le_bytes(), 2, Form::Text(length_bytes(*length)))
            }
            TypeKind::Text(size) | TypeKind::Blob(size) => (TYPE_BLOB, [lob_bytes(*size), 0], 1, Form::Text(lob_bytes(*size))),
            TypeKind::Json => (TYPE_JSON, [4, 0], 1, Form::Json),
            TypeKind::Geometry { .. } => (TYPE_GEOMETRY, [4, 0], 1, Form::Text(4)),
            TypeKind::Vector { .. } => (TYPE_VECTOR, [4, 0], 1, Form::Text(4)),
            TypeKind::Null => (TYPE_STRING, string(0), 2, Form::Padded(1, 0)),
        };
        let is_large = matches!(
            ty.kind,
            TypeKind::Text(_) | TypeKind::Blob(_) | TypeKind::Json | TypeKind::Geometry { .. } | TypeKind::Vector { .. }
        );
        Self { column, kind, meta, meta_bytes, form, charset: Charset::of(ty.collation), is_large }
    }

    /// In TABLE_MAP a text, and not ENUM, SET or JSON.
    fn is_character(&self) -> bool {
        let is_member = self.kind == TYPE_STRING && matches!(self.meta[0], TYPE_ENUM | TYPE_SET);
        matches!(self.kind, TYPE_STRING | TYPE_VARCHAR | TYPE_BLOB) && !is_member
    }

    fn is_member(&self, kind: u8) -> bool {
        self.kind == TYPE_STRING && self.meta[0] == kind && self.meta_bytes == 2 && matches!(self.form, Form::Bits(_))
    }
}

/// Bits, the first one the highest of the first byte.
fn high_first(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, bit) in bits.enumerate() {
        if at % 8 == 0 {
            out.push(0);
        }
        out[at / 8] |= u8::from(bit) << (7 - at % 8);
    }
    out
}

/// Bits, the first one the lowest of the first byte.
fn put_low_first(out: &mut Vec<u8>, bits: impl Iterator<Item = bool>) {
    let start = out.len();
    for (at, bit) in bits.enumerate() {
        if at % 8 == 0 {
            out.push(0);
        }
        out[start + at / 8] |= u8::from(bit) << (at % 8);
    }
}

/// The columns of an image. As in MySQL, the bits of no column are set.
fn put_shown(out: &mut Vec<u8>, shown: &[bool]) {
    let bits = shown.len().next_multiple_of(8);
    put_low_first(out, (0..bits).map(|at| shown.get(at).copied().unwrap_or(true)));
}

fn put_meta(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    out.push(kind);
    event::put_packed(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

impl WireTable {
    pub fn new(def: Arc<TableDef>) -> Self {
        let columns: Vec<WireColumn> = def.named_columns().map(|(at, column)| WireColumn::new(at, &column.ty)).collect();
        let unique = def.indexes.iter().filter(|index| {
            matches!(index.kind, IndexKind::Primary | IndexKind::Unique)
                && index.columns.iter().all(|part| !def.columns[part.column].nullable && part.prefix.is_none())
        });
        let place = |column: usize| columns.iter().position(|wire| wire.column == column);
        let key = unique
            .filter_map(|index| index.columns.iter().map(|part| place(part.column)).collect::<Option<Vec<usize>>>())
            .next()
            .unwrap_or_default();
        let layout = RowLayout::new(&def);
        let mut table = Self { def, layout, columns, key, full: Vec::new(), minimal: Vec::new() };
        table.full = table.map(true);
        table.minimal = table.map(false);
        table
    }

    /// Can each row be found by a key?
    pub fn has_key(&self) -> bool {
        !self.key.is_empty()
    }

    fn map(&self, full: bool) -> Vec<u8> {
        let mut out = Vec::new();
        for name in [&self.def.database, &self.def.name] {
            let name = &name.as_bytes()[..name.len().min(255)];
            out.push(name.len() as u8);
            out.extend_from_slice(name);
            out.push(0);
        }
        event::put_packed(&mut out, self.columns.len() as u64);
        out.extend(self.columns.iter().map(|column| column.kind));
        let meta: Vec<u8> = self.columns.iter().flat_map(|c| c.meta[..usize::from(c.meta_bytes)].iter().copied()).collect();
        event::put_packed(&mut out, meta.len() as u64);
        out.extend_from_slice(&meta);
        put_low_first(&mut out, self.columns.iter().map(|column| self.def.columns[column.column].nullable));
        self.put_metadata(&mut out, full);
        out
    }

    /// The optional metadata.
    fn put_metadata(&self, out: &mut Vec<u8>, full: bool) {
        let def = |column: &WireColumn| &self.def.columns[column.column];
        let numeric: Vec<bool> =
            self.columns.iter().filter(|c| is_numeric(c.kind)).map(|c| def(c).ty.unsigned || c.kind == TYPE_YEAR).collect();
        if !numeric.is_empty() {
            put_meta(out, META_SIGNEDNESS, &high_first(numeric.into_iter()));
        }
        let texts = self.columns.iter().filter(|column| column.is_character());
        put_charsets(out, texts.map(|c| def(c).ty.collation.0).collect(), META_DEFAULT_CHARSET, META_COLUMN_CHARSET);
        if !full {
            return;
        }
        let mut names = Vec::new();
        for column in &self.columns {
            event::put_packed(&mut names, def(column).name.len() as u64);
            names.extend_from_slice(def(column).name.as_bytes());
        }
        put_meta(out, META_COLUMN_NAME, &names);
        for (kind, meta) in [(TYPE_SET, META_SET_VALUES), (TYPE_ENUM, META_ENUM_VALUES)] {
            let mut values = Vec::new();
            for column in self.columns.iter().filter(|column| column.is_member(kind)) {
                let (TypeKind::Enum { members } | TypeKind::Set { members }) = &def(column).ty.kind else { continue };
                event::put_packed(&mut values, members.len() as u64);
                for member in members.iter() {
                    let text = column.charset.encode(member.as_bytes());
                    event::put_packed(&mut values, text.len() as u64);
                    values.extend_from_slice(&text);
                }
            }
            if !values.is_empty() {
                put_meta(out, meta, &values);
            }
        }
        let mut kinds = Vec::new();
        for column in &self.columns {
            if let Some(kind) = def(column).ty.geometry_kind() {
                event::put_packed(&mut kinds, kind.number().into());
            }
        }
        if !kinds.is_empty() {
            put_meta(out, META_GEOMETRY_KINDS, &kinds);
        }
        let mut dimensions = Vec::new();
        for column in &self.columns {
            if let TypeKind::Vector { dimensions: most } = def(column).ty.kind {
                event::put_packed(&mut dimensions, most.into());
            }
        }
        if !dimensions.is_empty() {
            put_meta(out, META_VECTOR_DIMENSIONS, &dimensions);
        }
        self.put_primary_key(out);
        let members = self.columns.iter().filter(|c| c.is_member(TYPE_ENUM) || c.is_member(TYPE_SET));
        put_charsets(out, members.map(|c| def(c).ty.collation.0).collect(), META_ENUM_DEFAULT_CHARSET, META_ENUM_COLUMN_CHARSET);
        put_meta(out, META_VISIBILITY, &high_first(self.columns.iter().map(|column| !def(column).invisible)));
    }

    fn put_primary_key(&self, out: &mut Vec<u8>) {
        let primary = self.def.primary();
        if primary.kind != IndexKind::Primary {
            return;
        }
        let place = |column: usize| self.columns.iter().position(|wire| wire.column == column);
        let has_prefix = primary.columns.iter().any(|part| part.prefix.is_some());
        let mut bytes = Vec::new();
        for part in &primary.columns {
            let Some(at) = place(part.column) else { return };
            event::put_packed(&mut bytes, at as u64);
            if has_prefix {
                event::put_packed(&mut bytes, u64::from(part.prefix.unwrap_or(0)));
            }
        }
        put_meta(out, if has_prefix { META_PRIMARY_KEY_PREFIXES } else { META_PRIMARY_KEY }, &bytes);
    }

    /// Appends TABLE_MAP.
    pub fn put_table_map(&self, out: &mut Vec<u8>, (timestamp, server_id): (u32, u32), full: bool, has_checksum: bool) {
        let start = event::begin(out, event::TABLE_MAP, timestamp, server_id, 0);
        self.put_id(out);
        out.extend_from_slice(&1u16.to_le_bytes());
        out.extend_from_slice(if full { &self.full } else { &self.minimal });
        event::end(out, start, has_checksum);
    }

    fn put_id(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.def.id.0.to_le_bytes()[..6]);
    }

    /// Begins a rows event: `shown` are the columns of its images, the second of an update. Returns where it begins.
    pub fn begin_rows(
        &self,
        out: &mut Vec<u8>,
        kind: u8,
        (timestamp, server_id): (u32, u32),
        shown: (&[bool], Option<&[bool]>),
    ) -> usize {
        let start = event::begin(out, kind, timestamp, server_id, 0);
        self.put_id(out);
        out.extend_from_slice(&event::ROWS_NO_FOREIGN_KEYS.to_le_bytes());
        out.extend_from_slice(&2u16.to_le_bytes());
        event::put_packed(out, self.columns.len() as u64);
        put_shown(out, shown.0);
        if let Some(after) = shown.1 {
            put_shown(out, after);
        }
        start
    }

    /// Marks a rows event as the last of its statement.
    pub fn mark_statement_end(out: &mut [u8], start: usize) {
        out[start + event::HEAD_BYTES + 6] |= event::ROWS_STATEMENT_END as u8;
    }

    /// The columns of the images of a change, by the setting.
    pub fn shown(&self, image: RowImage, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<(Vec<bool>, Vec<bool>), BadRow> {
        let count = self.columns.len();
        let all = || vec![true; count];
        let is_key = |at: usize| self.key.contains(&at);
        // Without a key a row is found by all of its columns.
        if image == RowImage::Full || self.key.is_empty() && before.is_some() && image == RowImage::Minimal && after.is_none() {
            return Ok((all(), all()));
        }
        let changed = match (before, after) {
            (Some(before), Some(after)) => self.changed(before, after)?,
            _ => all(),
        };
        Ok(match image {
            RowImage::Full => (all(), all()),
            RowImage::NoBlob if self.key.is_empty() => {
                (all(), (0..count).map(|at| !self.columns[at].is_large || changed[at]).collect())
            }
            RowImage::NoBlob => {
                let small: Vec<bool> = (0..count).map(|at| !self.columns[at].is_large || is_key(at)).collect();
                let after = (0..count).map(|at| !self.columns[at].is_large || changed[at]).collect();
                (if before.is_some() { small } else { all() }, after)
            }
            RowImage::Minimal if self.key.is_empty() => (all(), changed),
            RowImage::Minimal => ((0..count).map(is_key).collect(), changed),
        })
    }

    /// Which columns differ between two rows.
    fn changed(&self, before: &[u8], after: &[u8]) -> Result<Vec<bool>, BadRow> {
        let (before, after) = (self.row(before)?, self.row(after)?);
        let differs = |wire: &WireColumn| {
            let external = |row: &StoredRow<'_>| row.external(wire.column).map_err(bad);
            if external(&before)? != external(&after)? {
                return Ok(true);
            }
            if external(&before)?.is_some() {
                return Ok(false);
            }
            Ok(before.get(wire.column).map_err(bad)? != after.get(wire.column).map_err(bad)?)
        };
        self.columns.iter().map(differs).collect()
    }

    /// A stored row of this table.
    ///
    /// # Errors
    /// Bytes that are no row of it.
    pub fn row<'a>(&'a self, bytes: &'a [u8]) -> Result<StoredRow<'a>, BadRow> {
        StoredRow::new(&self.layout, bytes).map_err(bad)
    }

    /// Appends an image of a stored row with the columns of `shown`; `large` reads a value outside of the row.
    ///
    /// # Errors
    /// Damaged bytes; errors of `large`.
    pub fn put_image<E: From<BadRow>>(
        &self,
        out: &mut Vec<u8>,
        bytes: &[u8],
        shown: &[bool],
        mut large: impl FnMut(ExternalRef) -> Result<Vec<u8>, E>,
    ) -> Result<(), E> {
        let row = self.row(bytes)?;
        let nulls_at = out.len();
        let visible = || self.columns.iter().zip(shown).filter(|(_, shown)| **shown).map(|(column, _)| column);
        out.resize(nulls_at + visible().count().div_ceil(8), 0);
        for (at, wire) in visible().enumerate() {
            if let Some(reference) = row.external(wire.column).map_err(bad)? {
                let value = large(reference)?;
                wire.put_bytes(out, &value)?;
                continue;
            }
            if row.is_null(wire.column).map_err(bad)? {
                out[nulls_at + at / 8] |= 1 << (at % 8);
                continue;
            }
            wire.put(out, &row)?;
        }
        Ok(())
    }

    /// The position in the stream and whether the column is among those of a primary or unique key, for tests and readers.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }
}

fn put_charsets(out: &mut Vec<u8>, collations: Vec<u16>, default_kind: u8, column_kind: u8) {
    if collations.is_empty() {
        return;
    }
    // The commonest is the default, where that is shorter.
    let count = |id: u16| collations.iter().filter(|c| **c == id).count();
    let commonest = collations.iter().copied().max_by_key(|id| (count(*id), std::cmp::Reverse(*id))).unwrap_or(255);
    let size = |id: u16| if id < 251 { 1 } else { 3 };
    let others: Vec<(usize, u16)> = collations.iter().copied().enumerate().filter(|(_, id)| *id != commonest).collect();
    let with_default = size(commonest) + others.iter().map(|(_, id)| 1 + size(*id)).sum::<usize>();
    let each = collations.iter().map(|id| size(*id)).sum::<usize>();
    let mut bytes = Vec::new();
    if with_default <= each {
        event::put_packed(&mut bytes, u64::from(commonest));
        for (at, id) in others {
            event::put_packed(&mut bytes, at as u64);
            event::put_packed(&mut bytes, u64::from(id));
        }
        put_meta(out, default_kind, &bytes);
    } else {
        collations.iter().for_each(|id| event::put_packed(&mut bytes, u64::from(*id)));
        put_meta(out, column_kind, &bytes);
    }
}

#[cold]
fn bad(error: types::Error) -> BadRow {
    BadRow(format!("{error:?}"))
}

#[cold]
fn wrong_value() -> BadRow {
    BadRow("a value is not of its column's type".to_owned())
}

impl WireColumn {
    fn put(&self, out: &mut Vec<u8>, row: &StoredRow<'_>) -> Result<(), BadRow> {
        if let Form::Bits(bytes) = self.form {
            let bits = row.ordinal(self.column).map_err(bad)?.ok_or_else(wrong_value)?;
            out.extend_from_slice(&bits.to_le_bytes()[..usize::from(bytes)]);
            return Ok(());
        }
        match (self.form, row.get(self.column).map_err(bad)?) {
            (Form::Int(bytes), Value::Int(v)) => out.extend_from_slice(&v.to_le_bytes()[..usize::from(bytes)]),
            (Form::Int(bytes), Value::UInt(v)) => out.extend_from_slice(&v.to_le_bytes()[..usize::from(bytes)]),
            (Form::Float, Value::Double(v)) => out.extend_from_slice(&(v as f32).to_le_bytes()),
            (Form::Double, Value::Double(v)) => out.extend_from_slice(&v.to_le_bytes()),
            (Form::Decimal { precision, scale }, Value::Decimal(v)) => put_decimal(out, &v, precision, scale),
            (Form::Date, Value::Date(date)) => {
                let bits = u32::from(date.year) << 9 | u32::from(date.month) << 5 | u32::from(date.day);
                out.extend_from_slice(&bits.to_le_bytes()[..3]);
            }
            (Form::Time(fsp), Value::Time(time)) => put_time(out, time.micros, fsp),
            (Form::DateTime(fsp), Value::DateTime(moment)) => {
                let packed = (moment.pack() >> 24) + 0x80_0000_0000;
                out.extend_from_slice(&packed.to_be_bytes()[3..]);
                put_fraction(out, moment.micros, fsp);
            }
            (Form::Timestamp(fsp), Value::DateTime(moment)) => {
                // The zero timestamp is no moment.
                let micros = moment.to_utc_micros().unwrap_or(0).max(0);
                out.extend_from_slice(&((micros / 1_000_000) as u32).to_be_bytes());
                put_fraction(out, (micros % 1_000_000) as u32, fsp);
            }
            (Form::Year, Value::Int(year)) => out.push(if year == 0 { 0 } else { (year - 1900) as u8 }),
            (Form::Year, Value::UInt(year)) => out.push(if year == 0 { 0 } else { (year - 1900) as u8 }),
            (Form::Bit(bytes), Value::UInt(bits)) => out.extend_from_slice(&bits.to_be_bytes()[8 - usize::from(bytes)..]),
            (Form::Text(_) | Form::Padded(..) | Form::Json, Value::Bytes(bytes)) => self.put_bytes(out, &bytes)?,
            _ => return Err(wrong_value()),
        }
        Ok(())
    }

    /// Appends a text, bytes or a document as it is stored.
    fn put_bytes(&self, out: &mut Vec<u8>, stored: &[u8]) -> Result<(), BadRow> {
        let with_length = |out: &mut Vec<u8>, length_bytes: u8, bytes: &[u8]| {
            out.extend_from_slice(&(bytes.len() as u32).to_le_bytes()[..usize::from(length_bytes)]);
            out.extend_from_slice(bytes);
        };
        match self.form {
            Form::Text(length_bytes) => with_length(out, length_bytes, &self.encoded(stored)),
            Form::Padded(length_bytes, pad) => {
                let text = self.encoded(stored);
                let end = text.iter().rposition(|byte| *byte != pad).map_or(0, |last| last + 1);
                // A wide character may end with the pad's byte.
                let end = if self.charset.is_wide() { text.len() } else { end };
                with_length(out, length_bytes, &text[..end]);
            }
            Form::Json => {
                let length_at = out.len();
                out.extend_from_slice(&[0; 4]);
                crate::json::put_stored(out, stored).ok_or_else(|| BadRow("a document is damaged".to_owned()))?;
                let length = (out.len() - length_at - 4) as u32;
                out[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
            }
            _ => return Err(wrong_value()),
        }
        Ok(())
    }

    /// R2
    fn encoded<'a>(&self, stored: &'a [u8]) -> Cow<'a, [u8]> {
        self.charset.encode(stored)
    }
}

/// Appends digits behind the point as whole bytes, two digits each.
fn put_fraction(out: &mut Vec<u8>, micros: u32, fsp: u8) {
    match fsp {
        0 => {}
        1 | 2 => out.push((micros / 10_000) as u8),
        3 | 4 => out.extend_from_slice(&((micros / 100) as u16).to_be_bytes()),
        _ => out.extend_from_slice(&micros.to_be_bytes()[1..]),
    }
}

/// A TIME as MySQL packs it: hours, minutes and seconds above 24 bits of microseconds, the whole with its sign.
pub fn packed_time(micros: i64) -> i64 {
    let (seconds, fraction) = (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let packed = ((hours << 12 | minutes << 6 | seconds) << 24 | fraction) as i64;
    if micros < 0 { -packed } else { packed }
}

fn put_time(out: &mut Vec<u8>, micros: i64, fsp: u8) {
    let packed = packed_time(micros);
    // The whole part is rounded down, the fraction has the sign of the number.
    let (whole, fraction) = ((packed >> 24) + 0x80_0000, packed % (1 << 24));
    match fsp {
        0 => out.extend_from_slice(&whole.to_be_bytes()[5..]),
        1 | 2 => {
            out.extend_from_slice(&whole.to_be_bytes()[5..]);
            out.push((fraction / 10_000) as u8);
        }
        3 | 4 => {
            out.extend_from_slice(&whole.to_be_bytes()[5..]);
            out.extend_from_slice(&((fraction / 100) as i16).to_be_bytes());
        }
        _ => out.extend_from_slice(&(packed + 0x8000_0000_0000).to_be_bytes()[2..]),
    }
}

const DIGITS_OF_GROUP: usize = 9;
/// Bytes of a group with fewer digits.
const GROUP_BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

/// Appends a DECIMAL: groups of nine digits, big-endian, counted from the point; the sign bit is flipped, and negative numbers are inverted.
pub fn put_decimal(out: &mut Vec<u8>, value: &Decimal, precision: u8, scale: u8) {
    let mut text = Vec::with_capacity(80);
    value.write(&mut text);
    let negative = text.first() == Some(&b'-');
    let text = if negative { &text[1..] } else { &text[..] };
    let point = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
    let (whole, fraction) = (&text[..point], text.get(point + 1..).unwrap_or_default());
    let (whole_digits, scale) = (usize::from(precision.saturating_sub(scale)), usize::from(scale));
    // Digits with zeros on both sides, as many as the type has.
    let mut digits = vec![b'0'; whole_digits.saturating_sub(whole.len())];
    digits.extend_from_slice(&whole[whole.len().saturating_sub(whole_digits)..]);
    digits.extend_from_slice(&fraction[..fraction.len().min(scale)]);
    digits.resize(whole_digits + scale, b'0');
    let start = out.len();
    let (whole, fraction) = digits.split_at(whole_digits);
    let mut put = |group: &[u8]| {
        let number = group.iter().fold(0u32, |number, digit| number * 10 + u32::from(digit - b'0'));
        out.extend_from_slice(&number.to_be_bytes()[4 - GROUP_BYTES[group.len()]..]);
    };
    let (first, groups) = whole.split_at(whole_digits % DIGITS_OF_GROUP);
    put(first);
    groups.chunks(DIGITS_OF_GROUP).for_each(&mut put);
    fraction.chunks(DIGITS_OF_GROUP).for_each(&mut put);
    if let Some(byte) = out.get_mut(start) {
        *byte ^= 0x80;
    }
    if negative {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

#[cfg(test)]
mod tests;
