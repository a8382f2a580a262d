//! How the keys and entries of one index are made from rows and read back.
//!
//! ```text
//! clustered   columns of the primary key, or the row id             -> stored row
//! unique      columns of the index [+ clustered key if one is NULL] -> clustered key
//! secondary   columns of the index + clustered key                  -> (empty)
//! full text, spatial, multi-valued, vector   several entries of each row: `entries`
//! ```
//!
//! Column encodings are `types::key`'s. A complete encoded column is never a prefix of another value's encoding, so concatenation keeps
//! the order, and an entry can be cut into its columns again.

use crate::entries::Multi;
use crate::{EncodedRange, Table};
use smallvec::SmallVec;
use std::borrow::Cow;
use txn::Interrupt;
use types::key::make_prefix_successor;
use types::row::Field;
use types::schema::{ColumnDef, IndexKind, TableDef};
use types::{Date, DateTime, Decimal, KeyCodec, KeyPart, RowLayout, StoredRow, Time, TypeKind, Value};

const ROW_ID_BYTES: usize = 8;

/// Where key columns come from. Values are one per column of the table; changes replace columns of a row.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Values(&'a [Value<'a>]),
    Row(StoredRow<'a>),
    Changed(StoredRow<'a>, &'a [(usize, Value<'a>)]),
}

impl<'a> Source<'a> {
    /// The value of a column.
    pub fn value(self, column: usize) -> types::Result<Value<'a>> {
        match self {
            Source::Values(values) => Ok(values[column].borrowed()),
            Source::Row(row) => row.get(column),
            Source::Changed(row, changes) => match changes.iter().find(|(c, _)| *c == column) {
                Some((_, value)) => Ok(value.borrowed()),
                None => row.get(column),
            },
        }
    }
}

/// Codec of one index.
pub(crate) struct IndexCodec {
    pub kind: IndexKind,
    key: KeyCodec,
    /// The length in bytes of the table's clustered key, if it is the same for all rows.
    clustered_bytes: Option<usize>,
    /// Of an index with several entries of each row.
    pub multi: Option<Box<Multi>>,
}

impl IndexCodec {
    pub fn new(def: &TableDef, index: usize) -> Self {
        let clustered = KeyCodec::new(def, &def.indexes[0]);
        let clustered_bytes = match def.indexes[0].kind {
            IndexKind::HiddenRowId => Some(ROW_ID_BYTES),
            _ => clustered.parts().iter().map(KeyPart::fixed_bytes).sum(),
        };
        let index = &def.indexes[index];
        Self { kind: index.kind, key: KeyCodec::new(def, index), clustered_bytes, multi: Multi::of(def, index) }
    }

    pub fn parts(&self) -> &[KeyPart] {
        self.key.parts()
    }

    pub fn has_column(&self, column: usize) -> bool {
        self.parts().iter().any(|part| part.column == column)
    }

    /// Appends the key columns; answers whether one is NULL.
    #[inline]
    pub fn encode(&self, source: Source<'_>, out: &mut Vec<u8>) -> types::Result<bool> {
        match source {
            Source::Values(values) => self.key.encode_values(values, out),
            Source::Row(row) => self.key.encode_row(&row, out),
            Source::Changed(row, changes) => self.key.encode_with(
                |column| match changes.iter().find(|(c, _)| *c == column) {
                    Some((_, value)) => Ok(value.borrowed()),
                    None => row.get(column),
                },
                out,
            ),
        }
    }

    /// The key of the row's entry in a secondary index: `out` is cleared first.
    pub fn encode_entry(&self, source: Source<'_>, clustered_key: &[u8], out: &mut Vec<u8>) -> txn::Result<()> {
        out.clear();
        let has_null = self.encode(source, out).map_err(encode_error)?;
        if has_null || self.kind == IndexKind::Secondary {
            out.extend_from_slice(clustered_key);
        }
        Ok(())
    }

    /// The clustered key that an entry leads to.
    pub fn clustered_key<'a>(&self, key: &'a [u8], payload: &'a [u8]) -> txn::Result<&'a [u8]> {
        if matches!(self.kind, IndexKind::Unique | IndexKind::MultiValued { unique: true }) {
            return Ok(payload);
        }
        let start = match self.clustered_bytes {
            Some(bytes) => key.len().checked_sub(bytes).ok_or_else(|| storage_error("an index entry is too short"))?,
            None if self.kind == IndexKind::Spatial => types::geometry::cells::KEY_BYTES,
            None if matches!(self.kind, IndexKind::Vector { .. }) => 1,
            None if self.kind == IndexKind::FullText => {
                let collation = self.parts().first().map_or(types::CollationId::BINARY, |part| part.ty.collation);
                types::collation::sort_key_end(key, collation).ok_or_else(|| storage_error("an index entry is too short"))?
            }
            None => self.key.offset(key, self.parts().len()).map_err(corrupt)?,
        };
        key.get(start..).ok_or_else(|| storage_error("an index entry is too short"))
    }

    /// See `Table::encode_point_key`. `out` is cleared first.
    #[inline]
    pub fn encode_point(&self, values: &[Value<'_>], out: &mut Vec<u8>) -> bool {
        debug_assert_eq!(values.len(), self.parts().len());
        out.clear();
        self.parts().iter().zip(values).all(|(part, value)| *value != Value::Null && part.encode(value, out).is_ok())
    }

    /// See `Table::encode_range`.
    pub fn encode_range(
        &self,
        prefix: &[Value<'_>],
        low: Option<(&Value<'_>, bool)>,
        high: Option<(&Value<'_>, bool)>,
        range: &mut EncodedRange,
    ) -> bool {
        range.low.clear();
        range.high.clear();
        for (part, value) in self.parts().iter().zip(prefix) {
            if part.encode(value, &mut range.low).is_err() {
                return false;
            }
        }
        range.high.extend_from_slice(&range.low);
        let base = range.low.len();
        let next = self.parts().get(prefix.len());
        let Some(part) = next.filter(|_| low.is_some() || high.is_some()) else {
            // All keys that begin with the prefix. Without a successor (no prefix, or FF bytes only) the end of the tree is the end.
            make_prefix_successor(&mut range.high, 0);
            return true;
        };
        let (lower, upper) = if part.descending { (high, low) } else { (low, high) };
        encode_low_edge(part, lower, &mut range.low) && encode_high_edge(part, upper, &mut range.high, base)
    }

    /// See `Table::encode_not_null`.
    pub fn encode_not_null(&self, prefix: &[Value<'_>], range: &mut EncodedRange) -> bool {
        let base = self.encode_range(prefix, None, None, range).then_some(range.low.len());
        let next = self.parts().get(prefix.len());
        match (base, next) {
            (Some(_), Some(part)) if !part.descending => encode_low_edge(part, None, &mut range.low),
            (Some(base), Some(part)) => {
                range.high.truncate(0);
                range.high.extend_from_slice(&range.low);
                encode_high_edge(part, None, &mut range.high, base)
            }
            (found, None) => found.is_some(),
            (None, _) => false,
        }
    }

    /// Can this column's value be read back from the index columns of a key?
    pub fn decodes(&self, column: usize) -> bool {
        self.multi.is_none() && self.parts().iter().any(|part| part.column == column && part.is_reversible())
    }

    /// The first column of a key. Floating point numbers are close enough to count on with.
    pub fn decode_first<'k>(&'k self, key: &'k [u8]) -> Option<Value<'k>> {
        self.parts().first()?.decode(key).ok().map(|(value, _)| value)
    }

    /// Appends the decodable of the first `parts` columns of `key` that are wanted; returns where the rest of the key begins.
    fn decode_into<'k>(
        &'k self,
        key: &'k [u8],
        wanted: impl Fn(usize) -> bool,
        out: &mut SmallVec<[(usize, Value<'k>); 8]>,
    ) -> types::Result<usize> {
        let mut at = 0;
        for part in self.parts() {
            let rest = key.get(at..).ok_or(types::Error::Corrupt("key is cut short"))?;
            at += if part.is_reversible() && wanted(part.column) {
                let (value, bytes) = part.decode(rest)?;
                out.push((part.column, value));
                bytes
            } else {
                part.encoded_bytes(rest)?
            };
        }
        Ok(at)
    }
}

/// Makes the prefix in `low` the smallest key of the range; `false`: the range is empty.
fn encode_low_edge(part: &KeyPart, bound: Option<(&Value<'_>, bool)>, low: &mut Vec<u8>) -> bool {
    match bound {
        Some((Value::Null, _)) => false,
        Some((value, inclusive)) => {
            if part.encode(value, low).is_err() {
                return false;
            }
            // A key with a column prefix also covers longer values, which the caller checks. If no key is above the
            // value, the range is empty.
            inclusive || part.prefix.is_some() || make_prefix_successor(low, 0)
        }
        None => {
            // Bounded on the other side: NULLs come first and do not match.
            if part.nullable && !part.descending {
                low.push(1);
            }
            true
        }
    }
}

/// Makes the prefix in `high` (of `base` bytes) the first key above the range; `false`: the range is empty.
fn encode_high_edge(part: &KeyPart, bound: Option<(&Value<'_>, bool)>, high: &mut Vec<u8>, base: usize) -> bool {
    match bound {
        Some((Value::Null, _)) => return false,
        Some((value, inclusive)) => {
            if part.encode(value, high).is_err() {
                return false;
            }
            if !inclusive && part.prefix.is_none() {
                return true;
            }
        }
        // Descending: the NULLs, inverted to FF, come last and do not match.
        None if part.nullable && part.descending => {
            high.push(0xff);
            return true;
        }
        None => debug_assert_eq!(high.len(), base),
    }
    // Without a successor the range extends to the end of the tree, which an empty `high` denotes.
    make_prefix_successor(high, 0);
    true
}

/// Rebuilds rows from the entries of a secondary index.
pub(crate) struct Covering {
    table: types::schema::TableId,
    tree: txn::TreeRef,
    version: u16,
    /// A row whose columns have values of no meaning; the decoded ones are put in.
    template: Vec<u8>,
    wanted: Box<[bool]>,
}

impl Covering {
    pub fn new(table: &Table, index: usize) -> Self {
        let wanted = vec![true; table.def.columns.len()].into();
        let template = template_row(&table.layout, &table.def);
        Self { table: table.id(), tree: table.indexes[index].tree, version: table.layout.version(), template, wanted }
    }

    /// Was it made for this index of this version of the table?
    pub fn is_for(&self, table: &Table, index: usize) -> bool {
        self.table == table.id()
            && self.tree == table.indexes[index].tree
            && self.version == table.layout.version()
            && self.wanted.len() == table.def.columns.len()
    }

    pub fn want_all(&mut self) {
        self.wanted.fill(true);
    }

    #[inline]
    pub fn set_wanted(&mut self, wanted: &[bool]) {
        if *self.wanted == *wanted {
            return;
        }
        for (mine, wanted) in self.wanted.iter_mut().zip(wanted) {
            *mine = *wanted;
        }
    }

    pub fn rebuild(
        &self,
        table: &Table,
        index: usize,
        key: &[u8],
        payload: &[u8],
        row_key: &mut Vec<u8>,
        row: &mut Vec<u8>,
    ) -> txn::Result<()> {
        let codec = &table.indexes[index].codec;
        let clustered_key = codec.clustered_key(key, payload)?;
        row_key.clear();
        row_key.extend_from_slice(clustered_key);
        if !self.wanted.contains(&true) {
            row.clear();
            row.extend_from_slice(&self.template);
            return Ok(());
        }
        let wanted = |column: usize| self.wanted[column];
        let mut columns = SmallVec::new();
        codec.decode_into(key, wanted, &mut columns).map_err(corrupt)?;
        let clustered = &table.indexes[0].codec;
        if clustered.kind != IndexKind::HiddenRowId {
            let missing = |column| wanted(column) && !codec.decodes(column);
            clustered.decode_into(clustered_key, missing, &mut columns).map_err(corrupt)?;
        }
        row.clear();
        let template = table.stored_row(&self.template)?;
        table.layout.encode_changed(template, &columns, row).map_err(encode_error)
    }
}

/// A row with the least value of each NOT NULL column, and NULL in the others.
pub(crate) fn template_row(layout: &RowLayout, def: &TableDef) -> Vec<u8> {
    let values: Vec<Value<'static>> = def.columns.iter().map(template_value).collect();
    let mut row = Vec::new();
    layout.encode_fields(|column| Field::Value(&values[column]), &mut row).expect("the values are of the columns' types");
    row
}

/// The value that stands for NULL in a NOT NULL column of this type.
pub(crate) fn template_value(column: &ColumnDef) -> Value<'static> {
    if column.nullable {
        return Value::Null;
    }
    match column.ty.kind {
        TypeKind::Null => Value::Null,
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt => {
            if column.ty.unsigned {
                Value::UInt(0)
            } else {
                Value::Int(0)
            }
        }
        TypeKind::Year => Value::Int(0),
        TypeKind::Decimal { .. } => Value::Decimal(Decimal::ZERO),
        TypeKind::Float | TypeKind::Double => Value::Double(0.0),
        TypeKind::Date => Value::Date(Date::default()),
        TypeKind::Time { .. } => Value::Time(Time::default()),
        TypeKind::DateTime { .. } | TypeKind::Timestamp { .. } => Value::DateTime(DateTime::default()),
        TypeKind::Enum { .. } | TypeKind::Set { .. } | TypeKind::Bit { .. } => Value::UInt(0),
        TypeKind::Char { .. }
        | TypeKind::VarChar { .. }
        | TypeKind::Text(_)
        | TypeKind::Binary { .. }
        | TypeKind::VarBinary { .. }
        | TypeKind::Blob(_)
        | TypeKind::Json
        | TypeKind::Geometry { .. }
        | TypeKind::Vector { .. } => Value::Bytes(Cow::Borrowed(b"")),
    }
}

/// The bytes of a string column as they are in the row.
pub(crate) fn stored_bytes<'a>(row: StoredRow<'a>, column: usize) -> txn::Result<&'a [u8]> {
    match row.get(column).map_err(corrupt)? {
        Value::Bytes(Cow::Borrowed(bytes)) => Ok(bytes),
        _ => Err(storage_error("a large value is no string")),
    }
}

/// Stored bytes that make no sense.
#[cold]
pub(crate) fn corrupt(error: types::Error) -> Interrupt {
    storage_error(format!("{error:?}"))
}

/// A row or key could not be encoded: too long, or (a bug of the caller) not of the columns' types.
#[cold]
pub(crate) fn encode_error(error: types::Error) -> Interrupt {
    match error {
        types::Error::KeyTooLong { max } => Interrupt::Error(txn::Error::TooLarge { bytes: max + 1 }),
        other => storage_error(format!("a row does not fit its table: {other:?}")),
    }
}

#[cold]
pub(crate) fn missing_entry() -> Interrupt {
    storage_error("an index entry of a row is missing")
}

#[cold]
pub(crate) fn storage_error(why: impl Into<String>) -> Interrupt {
    Interrupt::Error(txn::Error::Storage(why.into()))
}
