//! Pages of a B+tree: changed in memory beside a model, then damaged as a disk might damage them.
//!
//! 1. Insertions, replacements, removals, splits, log images, run on a page and on an ordered map: now and then, and at the end, the
//!    sealed page is sound and holds what the map holds.
//! 2. Words of the page are overwritten and it is sealed again. However damaged, a reader gets to an end without a panic, because
//!    readers race with writers. A page that still counts as sound is changed once more, and has to stay sound.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use storage::page::{self, FROZEN, PAGE_BYTES, PAGE_WORDS, Page, PageType, RecordHeader, TOMBSTONE};
use sync::RacyWords;

const ID: storage::PageId = 7;

type Model = BTreeMap<Vec<u8>, (RecordHeader, Vec<u8>)>;

fuzz_target!(|data: &[u8]| {
    let words = RacyWords::boxed(PAGE_WORDS);
    let page = Page::new(&words);
    let mut input = Input(data);
    let low = input.key();
    let mut high = input.key();
    if !high.is_empty() && high <= low {
        high.clear();
    }
    page.format(PageType::Tree, 0, ID, 3, &low, &high);
    let mut model = Model::new();
    let steps = input.byte();
    for _ in 0..steps {
        step(page, &mut model, &mut input);
    }
    compare(page, &model);
    damage(page, &mut input);
});

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    fn key(&mut self) -> Vec<u8> {
        let length = match self.byte() {
            short @ 0..200 => usize::from(short % 20),
            long => usize::from(long) * 10,
        };
        (0..length).map(|_| self.byte()).collect()
    }

    fn header(&mut self) -> RecordHeader {
        let choice = self.byte();
        match choice & FROZEN {
            0 => RecordHeader { flags: choice & TOMBSTONE, mark: u64::from(self.u16()), prev: u64::from(choice) },
            _ => RecordHeader { flags: choice & (FROZEN | TOMBSTONE), mark: 0, prev: 0 },
        }
    }
}

fn step(page: Page<'_>, model: &mut Model, input: &mut Input<'_>) {
    match input.byte() {
        0..160 => put(page, model, input),
        160..220 => {
            let key = input.key();
            let expected = model.remove(&key).is_some();
            if page.covers(&key) {
                let found = page.search(&key);
                assert_eq!(found.is_ok(), expected);
                found.map(|slot| page.remove(slot)).unwrap_or_default();
            }
        }
        220..235 => split(page, model, &input.key()),
        235..240 => compare(page, model),
        _ => {
            let mut image = Vec::new();
            page.image(&mut image);
            assert!(page.restore(&image));
        }
    }
}

fn put(page: Page<'_>, model: &mut Model, input: &mut Input<'_>) {
    let (key, header) = (input.key(), input.header());
    let payload = vec![input.byte(); usize::from(input.u16() % 1500)];
    if !page.covers(&key) {
        return;
    }
    let slot = page.search(&key);
    assert_eq!(slot.is_ok(), model.contains_key(&key));
    let room = page.has_room(slot, header.flags, &key, payload.len());
    assert_eq!(page.put(slot, header, &key, &payload).is_ok(), room);
    if room {
        model.insert(key, (header, payload));
    }
}

/// The right part goes to a page of its own, is looked at, and forgotten.
fn split(page: Page<'_>, model: &mut Model, key: &[u8]) {
    if !page.covers(key) {
        return;
    }
    let Some((keep, between)) = page.split_for(key) else { return };
    let right_words = RacyWords::boxed(PAGE_WORDS);
    let right = Page::new(&right_words);
    let mut high = Vec::new();
    assert!(page.high_fence(&mut high));
    right.rebuild(page, keep..page.slots(), ID, &between, &high);
    page.truncate(keep, &between);
    let right_model = model.split_off(&between);
    assert_eq!(model.len(), keep);
    compare(right, &right_model);
}

fn compare(page: Page<'_>, model: &Model) {
    page::check(&sealed(page), ID).expect("a page of ours is sound");
    assert_eq!(page.slots(), model.len());
    for (slot, (key, (header, payload))) in model.iter().enumerate() {
        let record = page.record(slot);
        let (mut key_read, mut payload_read) = (Vec::new(), Vec::new());
        assert!(page.key(&record, &mut key_read) && page.payload(&record, &mut payload_read));
        assert!(key_read == *key && payload_read == *payload && record.header == *header);
    }
}

fn sealed(page: Page<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(PAGE_BYTES);
    assert!(page.words().append_bytes(0, 0, PAGE_BYTES, &mut bytes));
    page::seal(&mut bytes);
    bytes
}

fn damage(page: Page<'_>, input: &mut Input<'_>) {
    while !input.0.is_empty() {
        let place = usize::from(input.byte());
        let value = u64::from_le_bytes(std::array::from_fn(|_| input.byte()));
        // Mostly the header and the first slots, else anywhere.
        let word = if place < 128 { place % 24 } else { (value >> 48) as usize % PAGE_WORDS };
        page.words().store(word, value);
    }
    let key = b"some key";
    let _ = (page.covers(key), page.search(key), page.child_slot(key), page.child_slot_before(key), page.free_words());
    for slot in 0..page.slots() {
        let record = page.record(slot);
        let mut out = Vec::new();
        let _ = (page.key(&record, &mut out), page.payload(&record, &mut out), page.child(&record));
    }
    if page.level() > 0 || page::check(&sealed(page), ID).is_err() || page.page_type() != PageType::Tree as u8 {
        return;
    }
    for length in 0..20 {
        let key = vec![b'k'; length];
        if page.covers(&key) {
            let _ = page.put(page.search(&key), RecordHeader::FROZEN, &key, &[b'v'; 1400]);
        }
    }
    page::check(&sealed(page), ID).expect("a sound page stays sound");
}
