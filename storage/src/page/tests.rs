//! Pages against a map, and damaged pages.

use super::*;
use std::collections::BTreeMap;

/// A small deterministic generator (splitmix64), so that a failure repeats.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> usize {
        (self.next() % n) as usize
    }
}

fn sealed(words: &RacyWords) -> Vec<u8> {
    let mut bytes = Vec::new();
    words.append_bytes(0, 0, PAGE_BYTES, &mut bytes);
    seal(&mut bytes);
    bytes
}

fn contents(page: Page<'_>) -> BTreeMap<Vec<u8>, (RecordHeader, Vec<u8>)> {
    let mut bytes = b"of another page".to_vec();
    assert!(page.copy(&mut bytes));
    let copy = PageCopy::new(&bytes).expect("a whole page");
    (0..page.slots())
        .map(|i| {
            let record = page.record(i);
            let (mut key, mut payload) = (Vec::new(), Vec::new());
            assert!(page.key(&record, &mut key) && page.payload(&record, &mut payload));
            let copied = copy.record(i).expect("within the page");
            let range = |(from, to): (u32, u32)| &bytes[from as usize..to as usize];
            assert_eq!([copy.prefix().expect("within the page"), range(copied.key)].concat(), key);
            assert_eq!((copied.header, range(copied.payload)), (record.header, payload.as_slice()));
            (key, (record.header, payload))
        })
        .collect()
}

#[test]
fn random_edits_match_a_map() {
    for seed in 0..if cfg!(miri) { 1 } else { 60 } {
        let mut random = Random(seed);
        let words = RacyWords::boxed(PAGE_WORDS);
        let page = Page::new(&words);
        page.format(PageType::Tree, 0, 7, 3, b"key:0", b"key:9");
        assert_eq!(page.prefix_bytes(), 4);
        let mut model = BTreeMap::new();
        for _ in 0..if cfg!(miri) { 100 } else { 3_000 } {
            let key = format!("key:{:0width$}", random.below(400), width = 1 + random.below(3)).into_bytes();
            if !page.covers(&key) {
                continue;
            }
            let slot = page.search(&key);
            assert_eq!(slot.is_ok(), model.contains_key(&key));
            if random.below(3) == 0 {
                if let Ok(index) = slot {
                    page.remove(index);
                    model.remove(&key);
                }
                continue;
            }
            let flags = if random.below(2) == 0 { FROZEN } else { 0 };
            let header = RecordHeader {
                flags,
                mark: if flags == 0 { random.next() } else { 0 },
                prev: if flags == 0 { random.next() } else { 0 },
            };
            let payload = vec![random.next() as u8; random.below(300)];
            if page.put(slot, header, &key, &payload).is_ok() {
                model.insert(key, (header, payload));
            } else {
                assert!(page.free_words() < 48);
            }
        }
        assert_eq!(contents(page), model);
        check(&sealed(&words), 7).expect("sound");
    }
}

#[test]
fn split_keeps_everything_and_images_come_back() {
    let words = RacyWords::boxed(PAGE_WORDS);
    let page = Page::new(&words);
    page.format(PageType::Tree, 0, 7, 3, b"", b"");
    let mut n = 0u32;
    while page.put(page.search(&(n * 3).to_be_bytes()), RecordHeader::FROZEN, &(n * 3).to_be_bytes(), &[n as u8; 90]).is_ok() {
        n += 1;
    }
    let before = contents(page);
    let (keep, between) = page.split_for(&10u32.to_be_bytes()).expect("two records");
    assert!(keep > n as usize / 3 && keep < 2 * n as usize / 3);
    let right_words = RacyWords::boxed(PAGE_WORDS);
    let right = Page::new(&right_words);
    right.rebuild(page, keep..page.slots(), 8, &between, b"");
    page.truncate(keep, &between);
    let mut both = contents(page);
    both.extend(contents(right));
    assert_eq!(both, before);
    for (w, id) in [(&words, 7), (&right_words, 8)] {
        check(&sealed(w), id).expect("sound");
        let mut image = Vec::new();
        Page::new(w).image(&mut image);
        let copy = RacyWords::boxed(PAGE_WORDS);
        copy.store(1000, 17);
        assert!(Page::new(&copy).restore(&image));
        assert_eq!(contents(Page::new(&copy)), contents(Page::new(w)));
        assert!(!Page::new(&copy).restore(&image[..image.len() - 1]));
    }
    // Appending at the end leaves the left page full.
    assert_eq!(right.split_for(&u32::MAX.to_be_bytes()).expect("records").0, right.slots());
}

#[test]
fn damage_is_named() {
    let words = RacyWords::boxed(PAGE_WORDS);
    let page = Page::new(&words);
    page.format(PageType::Tree, 0, 7, 3, b"", b"");
    page.put(Err(0), RecordHeader::FROZEN, b"abc", b"x").expect("room");
    let good = sealed(&words);
    check(&good, 7).expect("sound");
    assert!(check(&good, 8).expect_err("wrong place").contains("page 7"));
    let mut flipped = good.clone();
    flipped[9000] ^= 1;
    assert!(check(&flipped, 7).expect_err("bit flip").contains("checksum"));
    // An empty fence that lies nowhere.
    let empty = RacyWords::boxed(PAGE_WORDS);
    Page::new(&empty).format(PageType::Tree, 0, 7, 3, b"", b"");
    empty.store(4, 0x0a3d);
    assert!(check(&sealed(&empty), 7).expect_err("beyond the page").contains("low fence"));
    // Random damage under a valid checksum never panics.
    let mut random = Random(1);
    for _ in 0..if cfg!(miri) { 2 } else { 2_000 } {
        let mut bytes = good.clone();
        for _ in 0..4 {
            let at = 8 + random.below(200);
            bytes[at] = random.next() as u8;
            let tail = PAGE_BYTES - 1 - random.below(200);
            bytes[tail] = random.next() as u8;
        }
        seal(&mut bytes);
        let _ = check(&bytes, 7);
    }
}

/// Keys whose heads tell nothing, keys that are prefixes of others, and zero bytes where a shorter key has none.
#[test]
fn search_finds_what_a_sorted_list_finds() {
    for seed in 0..if cfg!(miri) { 2 } else { 100 } {
        let mut random = Random(seed);
        let words = RacyWords::boxed(PAGE_WORDS);
        let page = Page::new(&words);
        page.format(PageType::Tree, 0, 7, 3, b"k", b"l");
        let shared = random.below(14);
        let key = |random: &mut Random| {
            let mut key = b"kshared by all".to_vec();
            key.truncate(1 + if random.below(4) == 0 { random.below(14) } else { shared });
            let tail = random.below(12);
            key.extend((0..tail).map(|_| [0, 0, 1, 0x7f, 0x80, 0xff][random.below(6)]));
            key
        };
        let mut sorted = Vec::new();
        for _ in 0..if cfg!(miri) { 20 } else { 150 } {
            let key = key(&mut random);
            if let Err(slot) = page.search(&key) {
                assert_eq!(sorted.binary_search(&key), Err(slot), "{key:?}");
                let frozen = random.below(2) == 0;
                let header = if frozen { RecordHeader::FROZEN } else { RecordHeader { flags: 0, mark: u64::MAX, prev: 1 } };
                page.put(Err(slot), header, &key, b"\xff\xff\xff\xff\xff").expect("there is room");
                sorted.insert(slot, key);
            }
        }
        for _ in 0..if cfg!(miri) { 20 } else { 500 } {
            let key = key(&mut random);
            assert_eq!(page.search(&key), sorted.binary_search(&key), "{key:?}");
        }
    }
}

/// The bytes on disk are the same on every machine, whatever its byte order: these are the sums of a page written on x86-64.
#[test]
fn the_bytes_do_not_depend_on_the_machine() {
    let words = RacyWords::boxed(PAGE_WORDS);
    let page = Page::new(&words);
    page.format(PageType::Tree, 0, 0x0102_0304, 0x0506_0708, b"key:", b"key;");
    let mut random = Random(1);
    while page.slots() < 60 {
        let key = format!("key:{:05}", random.below(100_000)).into_bytes();
        let payload: Vec<u8> = (0..random.below(200)).map(|i| i as u8).collect();
        let header = match random.below(3) {
            0 => RecordHeader::FROZEN,
            n => RecordHeader { flags: if n == 1 { TOMBSTONE } else { 0 }, mark: random.next(), prev: random.next() },
        };
        page.put(page.search(&key), header, &key, &payload).expect("sixty small records fit");
    }
    page.set_lsn(0x1122_3344_5566_7788);
    let bytes = sealed(&words);
    assert_eq!(bytes[4..24], [1, 0, 1, 0, 4, 3, 2, 1, 8, 7, 6, 5, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
    assert_eq!(bytes[..4], [10, 130, 90, 250]);
    let mut image = Vec::new();
    page.image(&mut image);
    assert_eq!(crate::crc::crc32c(&image), 0xacd4_7881);
}
