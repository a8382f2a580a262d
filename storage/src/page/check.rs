//! Is this page image sound? For every read from disk (checksum, identity) and for `heddle check` and the fuzzer (everything).

use super::*;

/// Checks a page image: length, checksum, format, identity, and for tree pages the bounds of all records and the order of keys.
/// `id`: the page number it was read from. An all-zero image is a page never written.
///
/// # Errors
/// What is wrong, for people.
pub fn check(bytes: &[u8], id: PageId) -> Result<(), String> {
    check_envelope(bytes, id)?;
    let words = RacyWords::boxed(PAGE_WORDS);
    words.write_bytes(0, bytes, &[]);
    let page = Page::new(&words);
    if page.page_type() == PageType::Tree as u8 { check_tree_page(page) } else { Ok(()) }
}

/// The part of `check` that every read from disk makes: length, checksum, format, identity.
pub fn check_envelope(bytes: &[u8], id: PageId) -> Result<(), String> {
    if bytes.len() != PAGE_BYTES {
        return Err(format!("{} bytes instead of {PAGE_BYTES}", bytes.len()));
    }
    let stored = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let computed = checksum(bytes);
    if stored != computed {
        return Err(format!("checksum {stored:08x}, computed {computed:08x}"));
    }
    let format = u16::from_le_bytes([bytes[4], bytes[5]]);
    if format != FORMAT {
        return Err(format!("format {format}, this server reads {FORMAT}"));
    }
    let named = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
    if named != id {
        return Err(format!("names itself page {named}"));
    }
    Ok(())
}

fn check_tree_page(page: Page<'_>) -> Result<(), String> {
    let raw_slots = page.words().load(3) as u16 as usize;
    let top = page.heap_top();
    if raw_slots > SLOTS_MAX || HEADER_WORDS + raw_slots > top || top > PAGE_WORDS {
        return Err(format!("{raw_slots} slots and heap top {top} overlap"));
    }
    let in_heap = |at: usize, words: usize| at >= top && at + words <= PAGE_WORDS;
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for ((at, bytes), fence, out) in [(page.low_place(), "low", &mut low), (page.high_place(), "high", &mut high)] {
        // Also an empty one has a place inside the page: keys are read from there on.
        if bytes > 0 && !in_heap(at, bytes.div_ceil(8)) || !page.words().append_bytes(at, 0, bytes, out) {
            return Err(format!("{fence} fence lies outside the heap"));
        }
    }
    if !high.is_empty() && low >= high {
        return Err("fences do not bound a key range".into());
    }
    let shared = if high.is_empty() { 0 } else { low.iter().zip(&high).take_while(|(a, b)| a == b).count() };
    if page.prefix_bytes() > shared {
        return Err(format!("a prefix of {} bytes, while the fences share {shared}", page.prefix_bytes()));
    }
    // Every word of the heap belongs to one fence, one record, or the garbage: so nothing overlaps.
    let mut places = vec![(page.low_place().0, low.len().div_ceil(8)), (page.high_place().0, high.len().div_ceil(8))];
    let mut before: Option<Vec<u8>> = None;
    for index in 0..raw_slots {
        let at = page.slot(index) as u16 as usize;
        if !in_heap(at, 1) {
            return Err(format!("slot {index} points outside the heap"));
        }
        let record = page.record(index);
        if !in_heap(at, record.words()) {
            return Err(format!("record {index} runs out of the page"));
        }
        places.push((at, record.words()));
        let mut key = Vec::new();
        if !page.key(&record, &mut key) || !page.covers(&key) {
            return Err(format!("key {index} lies outside the fences"));
        }
        if before.as_ref().is_some_and(|b| *b >= key) {
            return Err(format!("key {index} is not above key {}", index - 1));
        }
        if (page.slot(index) >> 32) as u32 != head_of(&key[page.prefix_bytes()..]) {
            return Err(format!("head of slot {index} does not match its key"));
        }
        if page.level() > 0 && record.payload_bytes != 4 {
            return Err(format!("record {index} of an inner page names no child"));
        }
        before = Some(key);
    }
    places.retain(|&(_, words)| words > 0);
    places.sort_unstable();
    if let Some(pair) = places.windows(2).find(|pair| pair[0].0 + pair[0].1 > pair[1].0) {
        return Err(format!("what lies at words {} and {} overlaps", pair[0].0, pair[1].0));
    }
    let used: usize = places.iter().map(|&(_, words)| words).sum();
    if top + used + page.garbage() != PAGE_WORDS {
        return Err(format!("{used} words in use and {} of garbage do not fill the heap from {top}", page.garbage()));
    }
    Ok(())
}
