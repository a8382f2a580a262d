//! The hash table of a join: rows as bytes in one arena. Rows with the same key form a chain, in the order in which they came.
//!
//! T1: while every key is new, the number of a key is that of its only row, and there are no chains. While all rows have as many bytes, a row's place
//!     follows from its number. So a lookup in a table of rows of one size by a unique key touches its entry and its row, and nothing else.

use crate::hash::ByteMap;

/// No next row in a chain.
pub(super) const END: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct Table {
    keys: ByteMap,
    /// First and last row of each key's chain, by the key's number; empty while every key is new.
    chains: Vec<(u32, u32)>,
    /// The next row of each row's chain, likewise.
    nexts: Vec<u32>,
    /// Where each row begins; empty while all have as many bytes.
    starts: Vec<u64>,
    rows: u32,
    /// The bytes of the first row.
    row_bytes: usize,
    arena: Vec<u8>,
}

impl Table {
    /// Keeps the row that `write` appends to the arena.
    pub fn push(&mut self, key: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        let number = self.rows;
        assert!(number < END, "memory is limited to fewer rows");
        let start = self.arena.len();
        write(&mut self.arena);
        self.rows += 1;
        self.place(start);
        let (key, is_new) = self.keys.insert(key);
        if self.chains.is_empty() {
            if is_new {
                return;
            }
            // T1: from now on there are chains.
            self.chains.extend((0..number).map(|row| (row, row)));
            self.nexts.resize(number as usize, END);
        }
        self.nexts.push(END);
        if is_new {
            self.chains.push((number, number));
        } else {
            let last = std::mem::replace(&mut self.chains[key].1, number);
            self.nexts[last as usize] = number;
        }
    }

    /// Notes where the last row begins, if that does not follow from its number.
    fn place(&mut self, start: usize) {
        let bytes = self.arena.len() - start;
        if self.rows == 1 {
            self.row_bytes = bytes;
        } else if self.starts.is_empty() && bytes != self.row_bytes {
            self.starts.extend((0..u64::from(self.rows) - 1).map(|row| row * self.row_bytes as u64));
            self.starts.push(start as u64);
        } else if !self.starts.is_empty() {
            self.starts.push(start as u64);
        }
    }

    /// The first row of a key, or [`END`].
    #[inline]
    pub fn find(&self, key: &[u8]) -> u32 {
        match self.keys.find(key) {
            Some(number) if self.chains.is_empty() => number as u32,
            Some(number) => self.chains[number].0,
            None => END,
        }
    }

    /// The next row in the chain, or [`END`].
    #[inline]
    pub fn next(&self, row: u32) -> u32 {
        if self.nexts.is_empty() { END } else { self.nexts[row as usize] }
    }

    #[inline]
    pub fn row(&self, row: u32) -> &[u8] {
        let row = row as usize;
        if self.starts.is_empty() {
            return &self.arena[row * self.row_bytes..(row + 1) * self.row_bytes];
        }
        let end = self.starts.get(row + 1).map_or(self.arena.len(), |end| *end as usize);
        &self.arena[self.starts[row] as usize..end]
    }

    /// The number of different keys.
    pub fn keys(&self) -> usize {
        if self.chains.is_empty() { self.rows as usize } else { self.chains.len() }
    }

    /// A key by its number, and its first row.
    pub fn key(&self, number: usize) -> Option<(&[u8], u32)> {
        let first = if self.chains.is_empty() {
            Some(number as u32).filter(|row| *row < self.rows)
        } else {
            self.chains.get(number).map(|(first, _)| *first)
        };
        first.map(|first| (self.keys.key(number), first))
    }

    pub fn memory_bytes(&self) -> usize {
        let lists = self.starts.capacity() * 8 + self.chains.capacity() * 8 + self.nexts.capacity() * 4;
        self.arena.capacity() + self.keys.memory_bytes() + lists
    }

    pub fn clear(&mut self) {
        self.keys.clear();
        self.chains.clear();
        self.nexts.clear();
        self.starts.clear();
        self.rows = 0;
        self.row_bytes = 0;
        self.arena.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a key, in the order of its chain.
    fn rows<'t>(table: &'t Table, key: &str) -> Vec<&'t [u8]> {
        let first = Some(table.find(key.as_bytes())).filter(|row| *row != END);
        std::iter::successors(first, |row| Some(table.next(*row)).filter(|row| *row != END)).map(|row| table.row(row)).collect()
    }

    /// Unique keys, then a second row for one; rows of one size, then of another, in each order.
    #[test]
    fn rows_are_found_before_and_after_a_table_gets_chains_and_places() {
        let pushed: [&[(&str, &str)]; 4] = [
            &[("a", "11"), ("b", "22"), ("c", "33")],
            &[("a", "11"), ("b", "22"), ("a", "33"), ("c", "44"), ("a", "55"), ("c", "66")],
            &[("a", "11"), ("b", ""), ("c", "333"), ("d", "44")],
            &[("a", "1"), ("b", "22"), ("b", "2"), ("c", "333"), ("a", "444"), ("d", "")],
        ];
        let mut table = Table::default();
        for pushed in pushed {
            table.clear();
            for (n, (key, row)) in pushed.iter().enumerate() {
                table.push(key.as_bytes(), |arena| arena.extend_from_slice(row.as_bytes()));
                let so_far = &pushed[..=n];
                for key in ["a", "b", "c", "d", "e"] {
                    let expected: Vec<&[u8]> =
                        so_far.iter().filter(|(of, _)| *of == key).map(|(_, row)| row.as_bytes()).collect();
                    assert_eq!(rows(&table, key), expected, "{key} of {so_far:?}");
                }
                let mut keys: Vec<&str> = so_far.iter().map(|(key, _)| *key).collect();
                let firsts: Vec<&[u8]> = (0..).map_while(|n| table.key(n)).map(|(key, _)| key).collect();
                keys.sort_unstable();
                keys.dedup();
                assert_eq!(firsts.len(), keys.len(), "{so_far:?}");
                assert_eq!(table.keys(), keys.len(), "{so_far:?}");
            }
            assert!(table.key(table.keys()).is_none());
        }
    }
}
