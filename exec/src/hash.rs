//! Hash tables over byte strings: groups, distinct rows, hash joins.
//!
//! B1: a key of up to eight bytes lies in the table's entry, so it is found without a look anywhere else; longer ones lie in one arena.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

const SHORT_BYTES: usize = 8;

/// Byte strings, each with the number of its first insertion.
#[derive(Default)]
pub(crate) struct ByteMap {
    table: HashTable<Entry>,
    /// The keys by number.
    keys: Vec<Key>,
    arena: Vec<u8>,
    hasher: DefaultHashBuilder,
}

#[derive(Clone, Copy)]
struct Entry {
    key: Key,
    number: u32,
}

/// The bytes of a short key, with zeros behind; of a longer one, where it begins in the arena.
#[derive(Clone, Copy)]
struct Key {
    word: [u8; SHORT_BYTES],
    length: u32,
}

impl Key {
    fn is_short(&self) -> bool {
        self.length as usize <= SHORT_BYTES
    }

    #[inline]
    fn bytes<'k>(&'k self, arena: &'k [u8]) -> &'k [u8] {
        if self.is_short() {
            return &self.word[..self.length as usize];
        }
        let start = u64::from_le_bytes(self.word) as usize;
        &arena[start..start + self.length as usize]
    }

    #[inline]
    fn hash(&self, arena: &[u8], hasher: &DefaultHashBuilder) -> u64 {
        if self.is_short() { hash_short(self.word, self.length, hasher) } else { hasher.hash_one(self.bytes(arena)) }
    }
}

#[inline]
fn short_word(key: &[u8]) -> [u8; SHORT_BYTES] {
    let mut word = [0; SHORT_BYTES];
    word[..key.len()].copy_from_slice(key);
    word
}

#[inline]
fn hash_short(word: [u8; SHORT_BYTES], length: u32, hasher: &DefaultHashBuilder) -> u64 {
    hasher.hash_one(u128::from(u64::from_le_bytes(word)) | u128::from(length) << 64)
}

impl ByteMap {
    /// The key's number, and whether it is new. Numbers count from 0 in order of insertion.
    pub fn insert(&mut self, key: &[u8]) -> (usize, bool) {
        let (found, hash) = self.look(key);
        if let Some(number) = found {
            return (number, false);
        }
        let number = u32::try_from(self.keys.len()).expect("memory is limited to far fewer than 2^32 keys");
        let word = if key.len() <= SHORT_BYTES {
            short_word(key)
        } else {
            let start = self.arena.len() as u64;
            self.arena.extend_from_slice(key);
            start.to_le_bytes()
        };
        let key = Key { word, length: key.len() as u32 };
        self.keys.push(key);
        let Self { table, arena, hasher, .. } = self;
        table.insert_unique(hash, Entry { key, number }, |entry| entry.key.hash(arena, hasher));
        (number as usize, true)
    }

    /// The number of a key that was inserted.
    #[inline]
    pub fn find(&self, key: &[u8]) -> Option<usize> {
        self.look(key).0
    }

    /// The number of a key, and its hash.
    #[inline]
    fn look(&self, key: &[u8]) -> (Option<usize>, u64) {
        let length = key.len() as u32;
        if key.len() <= SHORT_BYTES {
            let word = short_word(key);
            let hash = hash_short(word, length, &self.hasher);
            let found = self.table.find(hash, |entry| entry.key.word == word && entry.key.length == length);
            return (found.map(|entry| entry.number as usize), hash);
        }
        let hash = self.hasher.hash_one(key);
        let found = self.table.find(hash, |entry| entry.key.length == length && entry.key.bytes(&self.arena) == key);
        (found.map(|entry| entry.number as usize), hash)
    }

    /// The key of a number.
    pub fn key(&self, number: usize) -> &[u8] {
        self.keys[number].bytes(&self.arena)
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Gives back memory that no key needs.
    pub fn shrink(&mut self) {
        let Self { table, keys, arena, hasher } = self;
        arena.shrink_to_fit();
        keys.shrink_to_fit();
        table.shrink_to_fit(|entry| entry.key.hash(arena, hasher));
    }

    pub fn clear(&mut self) {
        self.table.clear();
        self.keys.clear();
        self.arena.clear();
    }

    /// The approximate memory of its keys.
    pub fn used_bytes(&self) -> usize {
        self.arena.len() + self.keys.len() * (size_of::<Key>() + TABLE_BYTES)
    }

    /// The approximate memory of the map.
    pub fn memory_bytes(&self) -> usize {
        self.arena.capacity() + self.keys.capacity() * size_of::<Key>() + self.table.capacity() * TABLE_BYTES
    }
}

/// An entry of the table and its control byte, of which about 7/10 are in use.
const TABLE_BYTES: usize = (size_of::<Entry>() + 1) * 10 / 7;

/// A set of byte strings.
#[derive(Default)]
pub(crate) struct ByteSet(ByteMap);

impl ByteSet {
    pub fn contains(&self, key: &[u8]) -> bool {
        self.0.find(key).is_some()
    }

    /// `true` when the key is new.
    pub fn insert(&mut self, key: &[u8]) -> bool {
        self.0.insert(key).1
    }

    /// Gives back memory that no key needs.
    pub fn shrink(&mut self) {
        self.0.shrink();
    }

    pub fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_in_order_of_insertion() {
        let mut map = ByteMap::default();
        for n in 0..10_000u32 {
            assert_eq!(map.insert(format!("key {n}").as_bytes()), (n as usize, true));
        }
        for n in 0..10_000u32 {
            assert_eq!(map.insert(format!("key {n}").as_bytes()), (n as usize, false));
            assert_eq!(map.find(format!("key {n}").as_bytes()), Some(n as usize));
        }
        assert_eq!(map.find(b"other"), None);
        assert_eq!(map.len(), 10_000);
    }

    #[test]
    fn keys_of_all_lengths_are_told_apart() {
        let keys: Vec<Vec<u8>> = (0..20).flat_map(|length| [0u8, 1].map(|byte| vec![byte; length])).collect();
        let mut map = ByteMap::default();
        let mut different = 0;
        for (n, key) in keys.iter().enumerate() {
            let is_new = !keys[..n].contains(key);
            assert_eq!(map.insert(key).1, is_new, "{key:?}");
            different += usize::from(is_new);
            let number = map.find(key).expect("inserted");
            assert_eq!(map.key(number), key);
        }
        assert_eq!(map.len(), different);
        map.shrink();
        assert!(keys.iter().all(|key| map.find(key).is_some()));
        assert_eq!(map.find(&[0; 30]), None);
    }
}
