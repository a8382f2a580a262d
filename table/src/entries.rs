//! The entries of a row in an index that has several of each row.
//!
//! ```text
//! full text   a word of the row + clustered key -> how often it occurs, and where (`types::fulltext`)
//! spatial     a cell that the box of the row's geometry touches + clustered key -> nothing (`types::geometry::cells`)
//! elements    the index columns, one of them an element of the row's array, + clustered key -> nothing (`types::element`)
//! vector      0 + clustered key -> a code of the row's vector (`types::vector_code`); of an odd vector 1 + clustered key -> nothing
//! ... unique  the same [+ clustered key if a column is NULL] -> clustered key
//! ```
//!
//! E1: the entries of a row are in the order of their keys, and no two have the same key. So those of two versions of a row are compared by
//!     one pass over both, and an update touches only what differs.
//! E2: an entry depends on the indexed columns and the clustered key alone.

use crate::codec::{self, Source};
use crate::{RowBuf, RowRead, Table, codec::IndexCodec};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;
use txn::{InsertOutcome, ReadMode, Scan, Txn, Worker, WriteOutcome};
use types::Value;
use types::fulltext::{WordCutter, encode_places};
use types::geometry;
use types::json::Json;
use types::key::KEY_BYTES_MAX;
use types::schema::{IndexDef, IndexKind, TableDef};
use types::vector::Metric;
use types::vector_code;
use types::{ColumnType, KeyPart};

/// The first byte of a key in a vector index.
const CODE_MARK: u8 = 0;
const ODD_MARK: u8 = 1;

/// How the entries of a row are made.
#[derive(Debug)]
pub(crate) enum Multi {
    Words(WordCutter),
    Cells,
    /// Of the part at `part`.
    Elements {
        part: usize,
        unique: bool,
    },
    /// Of vectors of so many bytes.
    Vectors {
        metric: Metric,
        bytes: usize,
    },
}

impl Multi {
    /// `None`: the index has one entry for each row.
    pub fn of(def: &TableDef, index: &IndexDef) -> Option<Box<Self>> {
        if index.kind == IndexKind::Spatial {
            return Some(Box::new(Self::Cells));
        }
        if let IndexKind::MultiValued { unique } = index.kind {
            // The definition has seen to it that there is one.
            let part = index.columns.iter().position(|part| def.columns[part.column].element.is_some())?;
            return Some(Box::new(Self::Elements { part, unique }));
        }
        if let IndexKind::Vector { metric } = index.kind {
            let column = index.columns.first().map(|part| &def.columns[part.column])?;
            return Some(Box::new(Self::Vectors { metric, bytes: column.ty.display_length() as usize }));
        }
        if index.kind != IndexKind::FullText {
            return None;
        }
        let collation = index.columns.first().map_or(def.collation, |part| def.columns[part.column].ty.collation);
        let cutter = WordCutter::new(&index.full_text.clone().unwrap_or_default(), collation);
        Some(Box::new(Self::Words(cutter)))
    }

    pub fn cutter(&self) -> Option<&WordCutter> {
        if let Self::Words(cutter) = self { Some(cutter) } else { None }
    }
}

/// The entries of a row.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

#[derive(Clone, Debug)]
struct Place {
    key: Range<usize>,
    payload: Range<usize>,
}

impl Entries {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Key and payload of entry `at`.
    pub fn get(&self, at: usize) -> Option<(&[u8], &[u8])> {
        let place = self.places.get(at)?;
        Some((&self.bytes[place.key.clone()], &self.bytes[place.payload.clone()]))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        (0..self.len()).filter_map(|at| self.get(at))
    }
}

impl IndexCodec {
    /// The entries of a row in an index with several of each row.
    ///
    /// # Errors
    /// A column cannot be read: it is a large value that was not loaded.
    pub fn encode_entries(&self, source: Source<'_>, clustered_key: &[u8], out: &mut Entries) -> txn::Result<()> {
        out.clear();
        let cutter = match self.multi.as_deref() {
            None => return Err(codec::storage_error("the index has one entry for each row")),
            Some(Multi::Cells) => return self.encode_cells(source, clustered_key, out),
            Some(Multi::Vectors { metric, bytes }) => return self.encode_vector(source, clustered_key, (*metric, *bytes), out),
            Some(Multi::Elements { part, unique }) => return self.encode_elements(source, clustered_key, (*part, *unique), out),
            Some(Multi::Words(cutter)) => cutter,
        };
        let mut texts: Vec<Cow<'_, [u8]>> = Vec::with_capacity(self.parts().len());
        for part in self.parts() {
            match source.value(part.column).map_err(codec::encode_error)? {
                Value::Bytes(text) => texts.push(text),
                _ => texts.push(Cow::Borrowed(b"")),
            }
        }
        // Words as (place of the key in `keys`, place in the row).
        let mut keys: Vec<u8> = Vec::new();
        let mut words: Vec<(Range<usize>, u32)> = Vec::new();
        cutter.cut(texts.iter().map(|text| &**text), |word| {
            if word.is_indexed {
                let start = keys.len();
                keys.extend_from_slice(word.key);
                words.push((start..keys.len(), word.place));
            }
        });
        // Stable, so the places of a word still rise.
        words.sort_by(|a, b| keys[a.0.clone()].cmp(&keys[b.0.clone()]));
        let mut places = Vec::new();
        for same in words.chunk_by(|a, b| keys[a.0.clone()] == keys[b.0.clone()]) {
            let start = out.bytes.len();
            out.bytes.extend_from_slice(&keys[same[0].0.clone()]);
            out.bytes.extend_from_slice(clustered_key);
            let middle = out.bytes.len();
            places.clear();
            places.extend(same.iter().map(|(_, place)| *place));
            encode_places(&places, &mut out.bytes);
            out.places.push(Place { key: start..middle, payload: middle..out.bytes.len() });
        }
        Ok(())
    }

    /// The code of the row's vector.
    fn encode_vector(
        &self,
        source: Source<'_>,
        clustered_key: &[u8],
        (metric, wanted): (Metric, usize),
        out: &mut Entries,
    ) -> txn::Result<()> {
        for part in self.parts() {
            let Value::Bytes(vector) = source.value(part.column).map_err(codec::encode_error)? else { continue };
            let is_odd = vector.len() != wanted || !vector_code::has_distances(&vector, metric);
            let start = out.bytes.len();
            out.bytes.push(if is_odd { ODD_MARK } else { CODE_MARK });
            out.bytes.extend_from_slice(clustered_key);
            let middle = out.bytes.len();
            if !is_odd {
                vector_code::encode(&vector, &mut out.bytes);
            }
            out.places.push(Place { key: start..middle, payload: middle..out.bytes.len() });
        }
        Ok(())
    }

    /// The cells of the row's geometry. One without a point has none, and meets nothing.
    fn encode_cells(&self, source: Source<'_>, clustered_key: &[u8], out: &mut Entries) -> txn::Result<()> {
        for part in self.parts() {
            let Value::Bytes(geometry) = source.value(part.column).map_err(codec::encode_error)? else { continue };
            let Some(envelope) = geometry::envelope_of(&geometry) else { continue };
            for cell in geometry::cells::of_box(&envelope) {
                let start = out.bytes.len();
                out.bytes.extend_from_slice(&cell.key());
                out.bytes.extend_from_slice(clustered_key);
                let end = out.bytes.len();
                out.places.push(Place { key: start..end, payload: end..end });
            }
        }
        Ok(())
    }
}

impl IndexCodec {
    /// An entry for each different element of the row's array; one for NULL, none for an empty array.
    fn encode_elements(
        &self,
        source: Source<'_>,
        clustered_key: &[u8],
        (multi, unique): (usize, bool),
        out: &mut Entries,
    ) -> txn::Result<()> {
        let (mut before, mut behind, mut has_null) = (Vec::new(), Vec::new(), false);
        for (n, part) in self.parts().iter().enumerate().filter(|(n, _)| *n != multi) {
            let value = source.value(part.column).map_err(codec::encode_error)?;
            has_null |= value.is_null();
            part.encode(&value, if n < multi { &mut before } else { &mut behind }).map_err(codec::encode_error)?;
        }
        let part = &self.parts()[multi];
        let array = source.value(part.column).map_err(codec::encode_error)?;
        let elements = match &array {
            Value::Null => vec![Value::Null],
            Value::Bytes(array) => match Json::from_binary(array) {
                Ok(array) => array.into_items().into_iter().map(Json::into_value).collect(),
                Err(_) => return Err(codec::storage_error("the elements of a multi-valued index are damaged")),
            },
            _ => return Err(codec::storage_error("the elements of a multi-valued index are no array")),
        };
        has_null |= array.is_null();
        // The keys of the elements, and where each is.
        let (mut keys, mut places): (Vec<u8>, Vec<Range<usize>>) = (Vec::new(), Vec::with_capacity(elements.len()));
        for element in &elements {
            let start = keys.len();
            part.encode(element, &mut keys).map_err(codec::encode_error)?;
            places.push(start..keys.len());
        }
        // E1: no encoding of a part begins another, so the order of the elements is that of the entries.
        places.sort_unstable_by(|a, b| keys[a.clone()].cmp(&keys[b.clone()]));
        places.dedup_by(|a, b| keys[a.clone()] == keys[b.clone()]);
        for place in places {
            let start = out.bytes.len();
            [&before[..], &keys[place], &behind[..]].into_iter().for_each(|piece| out.bytes.extend_from_slice(piece));
            if out.bytes.len() - start > KEY_BYTES_MAX {
                return Err(codec::encode_error(types::Error::KeyTooLong { max: KEY_BYTES_MAX }));
            }
            if has_null || !unique {
                out.bytes.extend_from_slice(clustered_key);
            }
            let middle = out.bytes.len();
            if unique {
                out.bytes.extend_from_slice(clustered_key);
            }
            out.places.push(Place { key: start..middle, payload: middle..out.bytes.len() });
        }
        Ok(())
    }
}

/// The multi-valued part of an index.
fn element_part(codec: &IndexCodec) -> Option<&KeyPart> {
    let Some(Multi::Elements { part, .. }) = codec.multi.as_deref() else { return None };
    codec.parts().get(*part)
}

/// An entry of a full-text index.
#[derive(Clone, Copy, Debug)]
pub struct FoundWord<'a> {
    /// The key of the word.
    pub word: &'a [u8],
    /// The clustered key of the row.
    pub row: &'a [u8],
    /// See `types::fulltext::decode_places`.
    pub places: &'a [u8],
}

/// Reads the entries of a word in a full-text index, or of all words that start alike: in the order of the words, then of the rows.
pub struct WordScan {
    scan: Scan,
    index: usize,
}

impl WordScan {
    /// `from`: the key of a word, or [`types::collation::sort_key_start`].
    pub fn new(table: &Table, index: usize, from: &[u8], mode: ReadMode) -> Self {
        let high = types::key::prefix_successor(from).unwrap_or_default();
        Self { scan: Scan::new(table.indexes[index].tree, from, &high, false, mode), index }
    }

    /// Loads the next entries; `false`: there are none. Restartable.
    ///
    /// # Errors
    /// A stall while a page is read; damage; the transaction's snapshot is older than the index (1412).
    pub fn fill(&mut self, table: &Table, worker: &Worker, txn: &mut Txn) -> txn::Result<bool> {
        txn.check_age(table.indexes[self.index].made_at)?;
        self.scan.fill(txn, worker, 512)
    }

    /// The next of the loaded entries.
    ///
    /// # Errors
    /// Damage.
    pub fn next(&mut self, table: &Table) -> txn::Result<Option<FoundWord<'_>>> {
        let Some(found) = self.scan.next_row() else { return Ok(None) };
        let row = table.indexes[self.index].codec.clustered_key(found.key, found.payload)?;
        let word = &found.key[..found.key.len() - row.len()];
        Ok(Some(FoundWord { word, row, places: found.payload }))
    }
}

/// Reads all entries of a VECTOR index: codes first, then odd vectors.
pub struct VectorScan {
    scan: Scan,
    index: usize,
}

/// An entry of a vector index.
#[derive(Clone, Copy, Debug)]
pub struct FoundVector<'a> {
    /// The clustered key of the row.
    pub row: &'a [u8],
    /// Its code; `None`: an odd vector, about which the index says nothing.
    pub code: Option<&'a [u8]>,
}

impl VectorScan {
    pub fn new(table: &Table, index: usize, mode: ReadMode) -> Self {
        Self { scan: Scan::new(table.indexes[index].tree, &[], &[], false, mode), index }
    }

    /// Loads the next entries; `false`: there are none. Restartable.
    ///
    /// # Errors
    /// A stall while a page is read; damage; the transaction's snapshot is older than the index (1412).
    pub fn fill(&mut self, table: &Table, worker: &Worker, txn: &mut Txn) -> txn::Result<bool> {
        txn.check_age(table.indexes[self.index].made_at)?;
        self.scan.fill(txn, worker, 512)
    }

    /// The next of the loaded entries.
    ///
    /// # Errors
    /// Damage.
    pub fn next_vector(&mut self) -> txn::Result<Option<FoundVector<'_>>> {
        let Some(found) = self.scan.next_row() else { return Ok(None) };
        match found.key.split_first() {
            Some((&CODE_MARK, row)) => Ok(Some(FoundVector { row, code: Some(found.payload) })),
            Some((&ODD_MARK, row)) => Ok(Some(FoundVector { row, code: None })),
            _ => Err(codec::storage_error("an entry of a vector index has an unknown mark")),
        }
    }
}

/// Reads the clustered keys that entries between two keys lead to, in the order of the entries: of a SPATIAL index, or of one element of a multi-valued one.
pub struct EntryScan {
    scan: Scan,
    index: usize,
}

impl EntryScan {
    /// `prefix`: the encoded columns before the multi-valued one. `None`: the element is no value of the index.
    pub fn of_element(table: &Table, index: usize, prefix: &[u8], element: &Value<'_>, mode: ReadMode) -> Option<Self> {
        let codec = &table.indexes[index].codec;
        let mut low = prefix.to_vec();
        element_part(codec)?.encode(element, &mut low).ok()?;
        let high = types::key::prefix_successor(&low).unwrap_or_default();
        Some(Self { scan: Scan::new(table.indexes[index].tree, &low, &high, false, mode), index })
    }

    /// `interval`: of [`types::geometry::cells::search`].
    pub fn of_cells(table: &Table, index: usize, interval: &geometry::cells::Interval, mode: ReadMode) -> Self {
        let high = interval.1.as_deref().unwrap_or_default();
        Self { scan: Scan::new(table.indexes[index].tree, &interval.0, high, false, mode), index }
    }

    /// Loads the next entries; `false`: there are none. Restartable.
    ///
    /// # Errors
    /// A stall while a page is read; damage; the transaction's snapshot is older than the index (1412).
    pub fn fill(&mut self, table: &Table, worker: &Worker, txn: &mut Txn) -> txn::Result<bool> {
        txn.check_age(table.indexes[self.index].made_at)?;
        self.scan.fill(txn, worker, 512)
    }

    /// The clustered key of the next loaded entry's row. A row may have several.
    ///
    /// # Errors
    /// Damage.
    pub fn next(&mut self, table: &Table) -> txn::Result<Option<&[u8]>> {
        let Some(found) = self.scan.next_row() else { return Ok(None) };
        table.indexes[self.index].codec.clustered_key(found.key, found.payload).map(Some)
    }
}

impl Table {
    /// The type of the elements of a multi-valued index; `None`: it is no such index.
    pub fn element_type(&self, index: usize) -> Option<&ColumnType> {
        element_part(&self.indexes.get(index)?.codec).map(|part| &part.ty)
    }

    /// Has `row` an entry with this key in an index with several of each row? Also `false` if it changed while its large values were read.
    pub(crate) fn has_one_of_entries(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        (index, key): (usize, &[u8]),
        how: RowRead,
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        let codec = &self.indexes[index].codec;
        if self.has_externals(row) && !self.load_columns(worker, txn, how, |column| codec.has_column(column), row)? {
            return Ok(false);
        }
        let mut entries = Entries::default();
        codec.encode_entries(Source::Row(self.stored_row(row.current())?), &row.key, &mut entries)?;
        Ok(entries.iter().any(|(entry, _)| entry == key))
    }

    /// The distance of a vector index, and the bytes of its vectors; `None`: it is no such index.
    pub fn vector_metric(&self, index: usize) -> Option<(Metric, usize)> {
        match self.indexes.get(index)?.codec.multi.as_deref()? {
            Multi::Vectors { metric, bytes } => Some((*metric, *bytes)),
            _ => None,
        }
    }

    /// Cuts the texts of a full-text index into words; `None`: it is no such index.
    pub fn word_cutter(&self, index: usize) -> Option<&WordCutter> {
        self.indexes.get(index)?.codec.multi.as_deref()?.cutter()
    }
}

/// The change of a row's entries in one index, between two calls. Reused from row to row.
#[derive(Debug, Default)]
pub(crate) struct EntriesChange {
    old: Entries,
    new: Entries,
    old_at: usize,
    new_at: usize,
}

impl EntriesChange {
    /// From the entries of `old` to those of `new`; `None` has none.
    pub fn begin(
        &mut self,
        codec: &IndexCodec,
        old: Option<(Source<'_>, &[u8])>,
        new: Option<(Source<'_>, &[u8])>,
    ) -> txn::Result<()> {
        (self.old_at, self.new_at) = (0, 0);
        for (row, entries) in [(old, &mut self.old), (new, &mut self.new)] {
            match row {
                Some((source, key)) => codec.encode_entries(source, key, entries)?,
                None => entries.clear(),
            }
        }
        Ok(())
    }

    /// Makes the change, entry by entry. Restartable: what was done is not done again. With `all`, entries that stay as they are
    /// are written once more (`write`, W4).
    ///
    /// `Duplicate`: another row has the key of a new entry in a unique index.
    pub fn go_on(
        &mut self,
        table: &Table,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        all: bool,
        scratch: &mut Vec<u8>,
    ) -> txn::Result<InsertOutcome> {
        loop {
            let (old, new) = (self.old.get(self.old_at), self.new.get(self.new_at));
            let order = match (old, new) {
                (None, None) => return Ok(InsertOutcome::Inserted),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.0.cmp(new.0),
            };
            let tree = table.indexes[index].tree;
            match (order, old, new) {
                (Ordering::Less, Some((key, _)), _) => {
                    table.delete_entry(worker, txn, index, key, scratch)?;
                    self.old_at += 1;
                }
                (Ordering::Greater, _, Some((key, payload))) => {
                    if txn.insert(worker, tree, key, payload)? == InsertOutcome::Duplicate {
                        if table.indexes[index].kind().is_unique() {
                            return Ok(InsertOutcome::Duplicate);
                        }
                        return Err(codec::storage_error("the index entry of a new row is there already"));
                    }
                    self.new_at += 1;
                }
                (Ordering::Equal, Some((key, before)), Some((_, after))) => {
                    if all || before != after {
                        let seen = txn.read_latest(worker, tree, key, scratch)?.ok_or_else(codec::missing_entry)?;
                        if txn.update(worker, tree, key, seen, after)? == WriteOutcome::Changed {
                            return Err(codec::storage_error("an index entry was changed without its row"));
                        }
                    }
                    self.old_at += 1;
                    self.new_at += 1;
                }
                _ => return Err(codec::storage_error("entries without an order")),
            }
        }
    }
}
