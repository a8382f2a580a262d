//! Inserts index entries in sorted runs, as large as memory allows. Each run is one pass over its tree, and fills the
//! pages that it adds at the tree's end completely. So memory holds only the bytes that an entry needs for its
//! insertion.
//!
//! The bytes are in blocks that never move; a few bytes say where each entry is.

use std::collections::BTreeMap;

/// Bytes of entries that are sorted at a time.
const SORT_BYTES_MAX: usize = 64 << 20;
/// An entry lies in one block: its keys are some thousands of bytes at most.
const BLOCK_BYTES: usize = 1 << 20;

/// An index entry to insert.
#[derive(Clone, Copy)]
pub(super) struct Entry<'e> {
    pub key: &'e [u8],
    /// Of an index with several entries of a row; others follow from the clustered key.
    pub payload: &'e [u8],
    /// The clustered key of its row.
    pub clustered_key: &'e [u8],
    /// The clustered key of the row as others use it, where that is another.
    pub old_key: Option<&'e [u8]>,
}

struct Place {
    at: u32,
    block: u16,
    key: u16,
    payload: u16,
    clustered: u16,
    /// 0: it is the same.
    old: u16,
}

/// Entries of one index.
#[derive(Default)]
pub(super) struct Run {
    blocks: Vec<Vec<u8>>,
    places: Vec<Place>,
}

impl Run {
    fn add(&mut self, entry: Entry<'_>) -> usize {
        let parts = [entry.key, entry.payload, entry.clustered_key, entry.old_key.unwrap_or_default()];
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        if self.blocks.last().is_none_or(|block| block.len() + bytes > BLOCK_BYTES) {
            self.blocks.push(Vec::with_capacity(BLOCK_BYTES));
        }
        let last = self.blocks.len() - 1;
        let block = &mut self.blocks[last];
        let [key, payload, clustered, old] = parts.map(|part| u16::try_from(part.len()).expect("keys have a few thousand bytes"));
        self.places.push(Place { at: block.len() as u32, block: last as u16, key, payload, clustered, old });
        parts.iter().for_each(|part| block.extend_from_slice(part));
        bytes + size_of::<Place>()
    }

    fn entry(&self, place: &Place) -> Entry<'_> {
        let rest = &self.blocks[usize::from(place.block)][place.at as usize..];
        let (key, rest) = rest.split_at(place.key.into());
        let (payload, rest) = rest.split_at(place.payload.into());
        let (clustered_key, rest) = rest.split_at(place.clustered.into());
        let old_key = (place.old > 0).then(|| &rest[..place.old.into()]);
        Entry { key, payload, clustered_key, old_key }
    }

    /// The entries in the order of their keys.
    pub fn sorted(&mut self) -> impl Iterator<Item = Entry<'_>> {
        let mut places = std::mem::take(&mut self.places);
        places.sort_unstable_by(|a, b| self.entry(a).key.cmp(self.entry(b).key));
        self.places = places;
        self.places.iter().map(|place| self.entry(place))
    }
}

/// Entries by number of the index.
#[derive(Default)]
pub(super) struct EntriesToCome {
    runs: BTreeMap<usize, Run>,
    bytes: usize,
}

impl EntriesToCome {
    /// Adds one; of an index that is not unique, key and payload say all.
    pub fn add(&mut self, index: usize, is_unique: bool, entry: Entry<'_>) {
        let kept = if is_unique { entry } else { Entry { clustered_key: &[], old_key: None, ..entry } };
        self.bytes += self.runs.entry(index).or_default().add(kept);
    }

    pub fn are_many(&self) -> bool {
        self.bytes >= SORT_BYTES_MAX
    }

    /// All of them; there are none then.
    pub fn take(&mut self) -> BTreeMap<usize, Run> {
        self.bytes = 0;
        std::mem::take(&mut self.runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_sorted_and_whole() {
        let mut entries = EntriesToCome::default();
        // More than a block.
        let count = 30_000u32;
        for n in 0..count {
            let key = n.wrapping_mul(2_654_435_761).to_be_bytes();
            let entry = Entry { key: &key, payload: &[9; 2], clustered_key: &[7; 40], old_key: (n % 2 == 0).then_some(&[8; 3]) };
            entries.add(1, true, entry);
            entries.add(2, false, entry);
        }
        assert!(!entries.are_many());
        let mut runs = entries.take();
        assert!(runs[&1].blocks.len() > 1);
        for (index, run) in &mut runs {
            let (mut last, mut met) = (None, 0);
            for entry in run.sorted() {
                assert!(last.as_deref() < Some(entry.key));
                last = Some(entry.key.to_vec());
                assert_eq!(entry.payload, [9; 2]);
                assert_eq!(entry.clustered_key.len(), if *index == 1 { 40 } else { 0 });
                met += u32::from(entry.old_key.is_none_or(|old| old == [8; 3]));
            }
            assert_eq!(met, count);
        }
        assert!(entries.take().is_empty());
    }
}
