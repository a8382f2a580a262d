//! Hash tables over byte strings kept in one arena: groups, distinct rows, hash joins.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Byte strings, each with the number of its first insertion.
#[derive(Default)]
pub(crate) struct ByteMap {
    table: HashTable<u32>,
    /// The span of each key in `arena`, by number.
    spans: Vec<(u64, u32)>,
    arena: Vec<u8>,
    hasher: DefaultHashBuilder,
}

impl ByteMap {
    /// The key's number, and whether it is new. Numbers count from 0 in order of insertion.
    pub fn insert(&mut self, key: &[u8]) -> (usize, bool) {
        let hash = self.hasher.hash_one(key);
        let Self { table, spans, arena, hasher } = self;
        let bytes = |n: u32| span(spans, arena, n);
        if let Some(found) = table.find(hash, |n| bytes(*n) == key) {
            return (*found as usize, false);
        }
        let number = u32::try_from(spans.len()).expect("memory is limited to far fewer than 2^32 keys");
        table.insert_unique(hash, number, |n| hasher.hash_one(bytes(*n)));
        spans.push((arena.len() as u64, key.len() as u32));
        arena.extend_from_slice(key);
        (number as usize, true)
    }

    /// The number of a key that was inserted.
    pub fn find(&self, key: &[u8]) -> Option<usize> {
        let hash = self.hasher.hash_one(key);
        self.table.find(hash, |n| span(&self.spans, &self.arena, *n) == key).map(|n| *n as usize)
    }

    /// The key of a number.
    pub fn key(&self, number: usize) -> &[u8] {
        span(&self.spans, &self.arena, number as u32)
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Gives back memory that no key needs.
    pub fn shrink(&mut self) {
        let Self { table, spans, arena, hasher } = self;
        arena.shrink_to_fit();
        spans.shrink_to_fit();
        table.shrink_to_fit(|n| hasher.hash_one(span(spans, arena, *n)));
    }

    pub fn clear(&mut self) {
        self.table.clear();
        self.spans.clear();
        self.arena.clear();
    }

    /// The approximate memory of its keys.
    pub fn used_bytes(&self) -> usize {
        self.arena.len() + self.spans.len() * 23
    }

    /// The approximate memory of the map.
    pub fn memory_bytes(&self) -> usize {
        // 12 bytes a span rounded up to 16, 4 a table entry and its control byte at a load of about 7/10.
        self.arena.capacity() + self.spans.capacity() * 16 + self.table.capacity() * 7
    }
}

fn span<'a>(spans: &[(u64, u32)], arena: &'a [u8], number: u32) -> &'a [u8] {
    let (start, length) = spans[number as usize];
    &arena[start as usize..start as usize + length as usize]
}

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
}
