//! The changes of open transactions, as their records pass, until they commit.
//!
//! ```text
//! change  bytes u32 | flags u8 | tree u32 | key, new, old: bytes u16 each | key | new | old | bytes u32
//! ```
//! The length stands on both sides: a rollback takes changes off the end.
//!
//! A transaction that grows over [`MEMORY_MAX`] moves what it has to a file of its own, piece by piece; so does one that grows while all of them
//! together have more than [`MEMORY_ALL_MAX`].
//!
//! A1: the changes of a transaction are those that its records made and no compensation has undone, in their order.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use storage::wal::LogPlace;

/// Of one transaction, in bytes.
pub const MEMORY_MAX: usize = 4 << 20;
pub const MEMORY_ALL_MAX: usize = 64 << 20;
/// A smaller piece is not worth a write.
const PIECE_MIN: usize = 64 << 10;
/// Memory that is used again.
const SMALL_BYTES: usize = 16 << 10;
const FIXED_BYTES: usize = 4 + 1 + 4 + 6;
const TAIL_BYTES: usize = 4;

const HAS_NEW: u8 = 1;
const HAS_OLD: u8 = 2;

/// One change of one record, of versions that are rows (not tombstones).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    pub tree: u32,
    pub key: &'a [u8],
    pub new: Option<&'a [u8]>,
    pub old: Option<&'a [u8]>,
}

/// One transaction's.
pub struct Gathered {
    /// Its first record is not before this place.
    pub since: LogPlace,
    /// Hashes of the keys that it has changed.
    pub hashes: Vec<u64>,
    /// Some of its rows have no key by which they could be told apart.
    pub is_unkeyed: bool,
    pub note: Option<Vec<u8>>,
    buf: Vec<u8>,
    file: Option<Spilled>,
}

struct Spilled {
    file: File,
    /// Where its pieces end.
    ends: Vec<u64>,
}

fn put_change(out: &mut Vec<u8>, change: &Change<'_>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    out.push((u8::from(change.new.is_some()) * HAS_NEW) | (u8::from(change.old.is_some()) * HAS_OLD));
    out.extend_from_slice(&change.tree.to_le_bytes());
    let (new, old) = (change.new.unwrap_or_default(), change.old.unwrap_or_default());
    for length in [change.key.len(), new.len(), old.len()] {
        out.extend_from_slice(&(length as u16).to_le_bytes());
    }
    out.extend_from_slice(change.key);
    out.extend_from_slice(new);
    out.extend_from_slice(old);
    let bytes = (out.len() - start + TAIL_BYTES) as u32;
    out[start..start + 4].copy_from_slice(&bytes.to_le_bytes());
    out.extend_from_slice(&bytes.to_le_bytes());
}

/// Takes the first change off `bytes`, which this module has written.
fn take_change<'a>(bytes: &mut &'a [u8]) -> Option<Change<'a>> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    let (now, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    let u16_at = |at: usize| usize::from(u16::from_le_bytes([now[at], now[at + 1]]));
    let flags = now[4];
    let tree = u32::from_le_bytes(now[5..9].try_into().ok()?);
    let (key, new, old) = (u16_at(9), u16_at(11), u16_at(13));
    let data = &now[FIXED_BYTES..];
    let (key, data) = data.split_at_checked(key)?;
    let (new, data) = data.split_at_checked(new)?;
    let old = data.get(..old)?;
    Some(Change { tree, key, new: (flags & HAS_NEW != 0).then_some(new), old: (flags & HAS_OLD != 0).then_some(old) })
}

impl Gathered {
    pub fn new(since: LogPlace) -> Self {
        Self { since, hashes: Vec::new(), is_unkeyed: false, note: None, buf: Vec::new(), file: None }
    }

    /// A new transaction, in the memory of one that has ended.
    pub fn again(ended: Option<Self>, since: LogPlace) -> Self {
        let Some(Self { mut hashes, mut buf, .. }) = ended else { return Self::new(since) };
        hashes.clear();
        buf.clear();
        Self { hashes, buf, ..Self::new(since) }
    }

    /// Is its memory worth keeping for another one?
    pub fn is_small(&self) -> bool {
        self.buf.capacity() <= SMALL_BYTES && self.hashes.capacity() <= SMALL_BYTES / size_of::<u64>()
    }

    /// Bytes in memory.
    pub fn memory(&self) -> usize {
        self.buf.len()
    }

    pub fn push(&mut self, change: &Change<'_>) {
        put_change(&mut self.buf, change);
    }

    /// Moves what is in memory to the file, if that is worth it: `all` is what all transactions have.
    ///
    /// # Errors
    /// I/O.
    pub fn spill(&mut self, all: usize, path: impl FnOnce() -> PathBuf) -> io::Result<()> {
        let is_much = self.buf.len() > MEMORY_MAX || all > MEMORY_ALL_MAX && self.buf.len() > PIECE_MIN;
        if !is_much {
            return Ok(());
        }
        let spilled = match &mut self.file {
            Some(spilled) => spilled,
            None => self.file.insert(Spilled { file: nameless(&path())?, ends: Vec::new() }),
        };
        let at = spilled.ends.last().copied().unwrap_or(0);
        spilled.file.write_all_at(&self.buf, at)?;
        spilled.ends.push(at + self.buf.len() as u64);
        self.buf.clear();
        self.buf.shrink_to(PIECE_MIN);
        Ok(())
    }

    /// Takes the newest change of a record away, which a compensation has undone. A1
    ///
    /// # Errors
    /// I/O.
    pub fn undo(&mut self, tree: u32, key: &[u8]) -> io::Result<()> {
        // Changes are undone from the newest on, so it is nearly always the last one; changes of trees that are not looked at stand between none.
        if self.buf.is_empty()
            && let Some(spilled) = &mut self.file
            && let Some(end) = spilled.ends.pop()
        {
            let begin = spilled.ends.last().copied().unwrap_or(0);
            self.buf.resize((end - begin) as usize, 0);
            spilled.file.read_exact_at(&mut self.buf, begin)?;
            if spilled.ends.is_empty() {
                self.file = None;
            }
        }
        let mut end = self.buf.len();
        while end > 0 {
            let length = u32::from_le_bytes(self.buf[end - TAIL_BYTES..end].try_into().expect("four bytes")) as usize;
            let begin = end - length;
            let is_it = take_change(&mut &self.buf[begin..end]).is_some_and(|change| change.tree == tree && change.key == key);
            if is_it {
                self.buf.drain(begin..end);
                return Ok(());
            }
            end = begin;
        }
        Ok(())
    }

    /// Calls `each` for each change, in order.
    ///
    /// # Errors
    /// I/O; those of `each`.
    pub fn for_each<E: From<io::Error>>(&self, mut each: impl FnMut(Change<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut all = |mut bytes: &[u8]| -> Result<(), E> {
            while let Some(change) = take_change(&mut bytes) {
                each(change)?;
            }
            Ok(())
        };
        if let Some(spilled) = &self.file {
            let (mut begin, mut piece) = (0, Vec::new());
            for end in &spilled.ends {
                piece.resize((end - begin) as usize, 0);
                spilled.file.read_exact_at(&mut piece, begin)?;
                all(&piece)?;
                begin = *end;
            }
        }
        all(&self.buf)
    }
}

/// A file without a name, which is gone when it is closed.
pub fn nameless(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change<'a>(key: &'a [u8], new: &'a [u8]) -> Change<'a> {
        Change { tree: 5, key, new: Some(new), old: None }
    }

    fn keys(gathered: &Gathered) -> Vec<Vec<u8>> {
        let mut keys = Vec::new();
        gathered
            .for_each::<io::Error>(|change| {
                keys.push(change.key.to_vec());
                Ok(())
            })
            .unwrap();
        keys
    }

    #[test]
    fn changes_come_back_in_order() {
        let mut gathered = Gathered::new(LogPlace::default());
        let first = Change { tree: 1, key: b"k", new: None, old: Some(b"old") };
        gathered.push(&first);
        gathered.push(&change(b"b", b""));
        let mut seen = 0;
        let look = |found: Change<'_>| -> io::Result<()> {
            assert_eq!(found, if seen == 0 { first } else { change(b"b", b"") });
            seen += 1;
            Ok(())
        };
        gathered.for_each(look).unwrap();
        assert_eq!(seen, 2);
    }

    #[test]
    fn what_is_undone_is_gone_also_from_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut gathered = Gathered::new(LogPlace::default());
        let value = vec![7; 60_000];
        let mut expected = Vec::new();
        for n in 0..400u32 {
            gathered.push(&change(&n.to_be_bytes(), &value));
            gathered.spill(0, || dir.path().join("spill")).unwrap();
            expected.push(n.to_be_bytes().to_vec());
        }
        assert!(gathered.file.is_some() && gathered.memory() <= MEMORY_MAX);
        assert_eq!(keys(&gathered), expected);
        for n in (100..400u32).rev() {
            gathered.undo(5, &n.to_be_bytes()).unwrap();
        }
        // Nothing of another tree.
        gathered.undo(6, &7u32.to_be_bytes()).unwrap();
        expected.truncate(100);
        assert_eq!(keys(&gathered), expected);
        gathered.push(&change(b"last", b"x"));
        expected.push(b"last".to_vec());
        assert_eq!(keys(&gathered), expected);
    }

    #[test]
    fn the_newest_change_of_a_record_is_undone_first() {
        let mut gathered = Gathered::new(LogPlace::default());
        gathered.push(&change(b"a", b"1"));
        gathered.push(&change(b"a", b"2"));
        gathered.push(&change(b"b", b"3"));
        gathered.undo(5, b"a").unwrap();
        let mut news = Vec::new();
        gathered
            .for_each::<io::Error>(|change| {
                news.push(change.new.unwrap().to_vec());
                Ok(())
            })
            .unwrap();
        assert_eq!(news, [b"1", b"3"]);
    }
}
