//! The hash table of a join: rows as bytes in one arena. Rows with the same key form a chain, in the order in which they came.

use crate::hash::ByteMap;

/// No next row in a chain.
pub(super) const END: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct Table {
    keys: ByteMap,
    /// First and last row of each key's chain, by the key's number.
    chains: Vec<(u32, u32)>,
    rows: Vec<Row>,
    arena: Vec<u8>,
}

struct Row {
    start: u64,
    next: u32,
}

impl Table {
    /// Keeps the row that `write` appends to the arena.
    pub fn push(&mut self, key: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        let number = u32::try_from(self.rows.len()).ok().filter(|n| *n != END).expect("memory is limited to fewer rows");
        self.rows.push(Row { start: self.arena.len() as u64, next: END });
        write(&mut self.arena);
        let (key, new) = self.keys.insert(key);
        if new {
            self.chains.push((number, number));
        } else {
            let last = std::mem::replace(&mut self.chains[key].1, number);
            self.rows[last as usize].next = number;
        }
    }

    /// The first row of a key, or [`END`].
    pub fn find(&self, key: &[u8]) -> u32 {
        self.keys.find(key).map_or(END, |number| self.chains[number].0)
    }

    /// The next row in the chain, or [`END`].
    pub fn next(&self, row: u32) -> u32 {
        self.rows[row as usize].next
    }

    pub fn row(&self, row: u32) -> &[u8] {
        let row = row as usize;
        let end = self.rows.get(row + 1).map_or(self.arena.len(), |next| next.start as usize);
        &self.arena[self.rows[row].start as usize..end]
    }

    /// The number of different keys.
    pub fn keys(&self) -> usize {
        self.chains.len()
    }

    /// A key by its number, and its first row.
    pub fn key(&self, number: usize) -> Option<(&[u8], u32)> {
        self.chains.get(number).map(|(first, _)| (self.keys.key(number), *first))
    }

    pub fn memory_bytes(&self) -> usize {
        self.arena.capacity() + self.keys.memory_bytes() + self.rows.capacity() * 16 + self.chains.capacity() * 8
    }

    pub fn clear(&mut self) {
        self.keys.clear();
        self.chains.clear();
        self.rows.clear();
        self.arena.clear();
    }
}
