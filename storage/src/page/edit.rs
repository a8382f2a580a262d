//! Changes to a page. The caller holds the latch and has logged, or is about to log, the change.
//!
//! Each change is a deterministic function of the page's logical content (its records in order), so that redo repeats it whatever
//! the physical layout was.

use super::*;

/// There is no room, also not after a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// The shortest key `s` with `left < s <= right`.
pub fn separator(left: &[u8], right: &[u8]) -> Vec<u8> {
    right[..(common_prefix(left, right) + 1).min(right.len())].to_vec()
}

impl Page<'_> {
    /// Makes an empty page with these fences; the prefix is what the fences share.
    pub fn format(self, kind: PageType, level: u8, id: PageId, tree_id: u32, low: &[u8], high: &[u8]) {
        for word in 0..HEADER_WORDS {
            self.0.store(word, 0);
        }
        self.0.store(0, u64::from(FORMAT) << 32 | (kind as u64) << 48 | u64::from(level) << 56);
        self.0.store(1, u64::from(id) | u64::from(tree_id) << 32);
        let low_at = PAGE_WORDS - low.len().div_ceil(8);
        let high_at = low_at - high.len().div_ceil(8);
        self.0.write_bytes(low_at, low, &[]);
        self.0.write_bytes(high_at, high, &[]);
        let prefix = if high.is_empty() { 0 } else { common_prefix(low, high) };
        self.set_counts(0, high_at, 0, prefix);
        let places = low_at as u64 | (low.len() as u64) << 16 | (high_at as u64) << 32 | (high.len() as u64) << 48;
        self.0.store(4, places);
    }

    fn set_counts(self, slots: usize, heap_top: usize, garbage: usize, prefix: usize) {
        self.0.store(3, slots as u64 | (heap_top as u64) << 16 | (garbage as u64) << 32 | (prefix as u64) << 48);
    }

    pub fn set_lsn(self, lsn: Lsn) {
        self.0.store(2, lsn);
    }

    fn record_words(flags: u8, suffix_bytes: usize, payload_bytes: usize) -> usize {
        RecordHeader::words(flags) + (suffix_bytes + payload_bytes).div_ceil(8)
    }

    /// Would `put` of this key and payload succeed?
    pub fn has_room(self, slot: Result<usize, usize>, flags: u8, key: &[u8], payload_bytes: usize) -> bool {
        let words = Self::record_words(flags, key.len() - self.prefix_bytes(), payload_bytes);
        match slot {
            Ok(index) => words <= self.free_words() + self.record(index).words(),
            Err(_) => words < self.free_words(),
        }
    }

    /// Inserts or replaces the record of `key` at the slot that `search` gave.
    pub fn put(
        self,
        slot: Result<usize, usize>,
        header: RecordHeader,
        key: &[u8],
        payload: &[u8],
    ) -> std::result::Result<(), NoRoom> {
        if !self.has_room(slot, header.flags, key, payload.len()) {
            return Err(NoRoom);
        }
        let suffix = &key[self.prefix_bytes()..];
        let words = Self::record_words(header.flags, suffix.len(), payload.len());
        if let Ok(index) = slot {
            let old = self.record(index);
            if words <= old.words() {
                let waste = self.garbage() + old.words() - words;
                self.set_counts(self.slots(), self.heap_top(), waste, self.prefix_bytes());
                self.write_record(old.at, header, suffix, payload);
                return Ok(());
            }
        }
        let needed = words + usize::from(slot.is_err());
        if let Ok(index) = slot {
            // The old record becomes garbage; its slot is pointed at the new one below.
            let waste = self.garbage() + self.record(index).words();
            if self.contiguous_words() < needed {
                self.compact(Some(index));
            } else {
                self.set_counts(self.slots(), self.heap_top(), waste, self.prefix_bytes());
            }
        } else if self.contiguous_words() < needed {
            self.compact(None);
        }
        let at = self.heap_top() - words;
        self.write_record(at, header, suffix, payload);
        let slots = self.slots();
        let (index, slots_after) = match slot {
            Ok(index) => (index, slots),
            Err(index) => {
                self.0.move_words(HEADER_WORDS + index, HEADER_WORDS + index + 1, slots - index);
                (index, slots + 1)
            }
        };
        self.0.store(HEADER_WORDS + index, at as u64 | u64::from(head_of(suffix)) << 32);
        self.set_counts(slots_after, at, self.garbage(), self.prefix_bytes());
        Ok(())
    }

    fn write_record(self, at: usize, header: RecordHeader, suffix: &[u8], payload: &[u8]) {
        self.0.store(at, suffix.len() as u64 | (payload.len() as u64) << 16 | u64::from(header.flags) << 32);
        if header.flags & FROZEN == 0 {
            self.0.store(at + 1, header.mark);
            self.0.store(at + 2, header.prev);
        }
        self.0.write_bytes(at + RecordHeader::words(header.flags), suffix, payload);
    }

    /// Takes a record out.
    pub fn remove(self, index: usize) {
        let words = self.record(index).words();
        let slots = self.slots();
        self.0.move_words(HEADER_WORDS + index + 1, HEADER_WORDS + index, slots - index - 1);
        self.set_counts(slots - 1, self.heap_top(), self.garbage() + words, self.prefix_bytes());
    }

    /// Packs the heap. `dead`: a slot whose record is given up (its place must be set before the page is read again).
    fn compact(self, dead: Option<usize>) {
        let mut copy = [0u64; PAGE_WORDS];
        let whole = self.0.copy_words(0, &mut copy);
        debug_assert!(whole);
        let slots = self.slots();
        let (low_at, low_bytes) = self.low_place();
        let (high_at, high_bytes) = self.high_place();
        let mut top = PAGE_WORDS;
        let mut place = |at: usize, words: usize| {
            top -= words;
            for i in 0..words {
                self.0.store(top + i, u64::from_le(copy[at + i]));
            }
            top
        };
        let low = place(low_at, low_bytes.div_ceil(8));
        let high = place(high_at, high_bytes.div_ceil(8));
        self.0.store(4, low as u64 | (low_bytes as u64) << 16 | (high as u64) << 32 | (high_bytes as u64) << 48);
        for index in (0..slots).filter(|i| Some(*i) != dead) {
            let slot = u64::from_le(copy[HEADER_WORDS + index]);
            let at = slot as u16 as usize;
            let w = u64::from_le(copy[at]);
            let words = Self::record_words((w >> 32) as u8, w as u16 as usize, (w >> 16) as u16 as usize);
            let new_at = place(at, words);
            self.0.store(HEADER_WORDS + index, slot & !0xffff | new_at as u64);
        }
        self.set_counts(slots, top, 0, self.prefix_bytes());
    }

    /// Makes `self` a page with records `range` of `source`, under new fences, with its own ids, level and LSN.
    pub fn rebuild(self, source: Page<'_>, range: std::ops::Range<usize>, id: PageId, low: &[u8], high: &[u8]) {
        self.format(PageType::Tree, source.level(), id, source.tree_id(), low, high);
        self.set_lsn(source.lsn());
        let (mut key, mut payload) = (Vec::new(), Vec::new());
        for (to, from) in range.enumerate() {
            let record = source.record(from);
            key.clear();
            payload.clear();
            let whole = source.key(&record, &mut key) && source.payload(&record, &mut payload);
            assert!(whole, "P1: a latched page has whole records");
            self.put(Err(to), record.header, &key, &payload).expect("a part of a page fits into an empty page");
        }
    }

    /// Keeps the first `keep` records and lowers the high fence to `high`.
    pub fn truncate(self, keep: usize, high: &[u8]) {
        let copy = RacyWords::boxed(PAGE_WORDS);
        let fresh = Page::new(&copy);
        let mut low = Vec::new();
        assert!(self.low_fence(&mut low), "P1: a latched page has whole fences");
        fresh.rebuild(self, 0..keep, self.id(), &low, high);
        let mut words = [0u64; PAGE_WORDS];
        copy.copy_words(0, &mut words);
        self.0.fill_from(&words);
    }

    /// Appends a compact image of the page for the log: slot count and heap top say which words follow.
    pub fn image(self, out: &mut Vec<u8>) {
        let low_part = HEADER_WORDS + self.slots();
        let top = self.heap_top();
        out.extend_from_slice(&(low_part as u16).to_le_bytes());
        out.extend_from_slice(&(top as u16).to_le_bytes());
        self.0.append_bytes(0, 0, low_part * 8, out);
        self.0.append_bytes(top, 0, (PAGE_WORDS - top) * 8, out);
    }

    /// Restores what `image` wrote. `false`: not such an image (the page may be half changed).
    pub fn restore(self, image: &[u8]) -> bool {
        let Some((sizes, body)) = image.split_first_chunk::<4>() else { return false };
        let low_part = u16::from_le_bytes([sizes[0], sizes[1]]) as usize;
        let top = u16::from_le_bytes([sizes[2], sizes[3]]) as usize;
        if low_part < HEADER_WORDS || low_part > top || top > PAGE_WORDS || body.len() != (low_part + PAGE_WORDS - top) * 8 {
            return false;
        }
        self.0.write_bytes(0, &body[..low_part * 8], &[]);
        (low_part..top).for_each(|word| self.0.store(word, 0));
        self.0.write_bytes(top, &body[low_part * 8..], &[]);
        true
    }

    /// Where to split: how many records stay, and the separator; `None`: fewer than two records.
    pub fn split_middle(self) -> Option<(usize, Vec<u8>)> {
        let slots = self.slots();
        if slots < 2 {
            return None;
        }
        let total: usize = (0..slots).map(|i| self.record(i).words() + 1).sum();
        let mut left = 0;
        let mut keep = 0;
        while keep + 1 < slots && (keep == 0 || left < total / 2) {
            left += self.record(keep).words() + 1;
            keep += 1;
        }
        let first_right = self.key_of(keep);
        let between = if self.level() == 0 { separator(&self.key_of(keep - 1), &first_right) } else { first_right };
        Some((keep, between))
    }

    /// Where to split for the insertion of `key`: ascending insertion at the tree's end leaves the full page full.
    pub fn split_for(self, key: &[u8]) -> Option<(usize, Vec<u8>)> {
        let slots = self.slots();
        if self.level() == 0 && self.is_last() && slots > 0 && self.search(key) == Err(slots) {
            let between = separator(&self.key_of(slots - 1), key);
            if between.len().div_ceil(8) <= self.free_words() {
                return Some((slots, between));
            }
            // No room for the fence itself: one record moves.
            if slots > 1 {
                return Some((slots - 1, separator(&self.key_of(slots - 2), &self.key_of(slots - 1))));
            }
        }
        self.split_middle()
    }

    fn key_of(self, index: usize) -> Vec<u8> {
        let mut out = Vec::new();
        assert!(self.key(&self.record(index), &mut out), "P1: a latched page has whole records");
        out
    }
}
