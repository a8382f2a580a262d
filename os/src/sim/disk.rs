//! The disk: what is durable, and what has only been written.
//!
//! A file has its content as reads see it, its durable content, and the writes between the two, in order. A sync makes the writes begun
//! before it durable. A power failure keeps, of each file's other writes, none, all, some, some sectors of each, or the first ones with
//! the last one torn; then the durable content is the content. If only the process ends, the writes stay as they are. Names
//! in directories are likewise durable only once their directory is synced; of the others the first few are kept.
//!
//! D1: what was synced is never lost or changed, except by a flipped bit that [`Faults`] asks for.

use super::random::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The smallest thing that is written whole or not at all.
const SECTOR: usize = 512;
const BLOCK: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashKind {
    /// kill -9: the system and its caches go on.
    Process,
    Power,
}

/// What goes wrong, in cases of a million, and until it is changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub read_error: u64,
    /// A read comes back with one bit changed; the next one is right.
    pub read_flip: u64,
    pub sync_error: u64,
    pub write_error: u64,
    /// No file grows.
    pub full: bool,
}

type Blocks = BTreeMap<u64, Box<[u8; BLOCK]>>;

struct Write {
    number: u64,
    offset: u64,
    bytes: Vec<u8>,
}

#[derive(Default)]
struct Inode {
    content: Blocks,
    durable: Blocks,
    bytes: u64,
    durable_bytes: u64,
    pending: Vec<Write>,
}

#[derive(Clone, Debug)]
enum NameOp {
    Put(PathBuf, usize),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

pub(super) struct Disk {
    rng: Rng,
    inodes: Vec<Inode>,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    pending_names: Vec<NameOp>,
    directories: BTreeSet<PathBuf>,
    locks: BTreeSet<PathBuf>,
    next_write: u64,
    pub faults: Faults,
    /// Faults that have happened: a machine that saw one may answer with an error.
    pub faults_seen: u64,
}

/// What a call of the disk answers besides success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    NotThere,
    Full,
    Io,
}

fn overlay(blocks: &mut Blocks, offset: u64, bytes: &[u8]) {
    let mut at = 0;
    while at < bytes.len() {
        let place = offset + at as u64;
        let (block, within) = (place / BLOCK as u64, place as usize % BLOCK);
        let part = &bytes[at..bytes.len().min(at + BLOCK - within)];
        // Blocks of zeros are not kept.
        if blocks.contains_key(&block) || part.iter().any(|byte| *byte != 0) {
            let block = blocks.entry(block).or_insert_with(|| Box::new([0; BLOCK]));
            block[within..within + part.len()].copy_from_slice(part);
        }
        at += part.len();
    }
}

fn apply(names: &mut BTreeMap<PathBuf, usize>, op: &NameOp) {
    match op {
        NameOp::Put(path, inode) => {
            names.insert(path.clone(), *inode);
        }
        NameOp::Rename(from, to) => {
            if let Some(inode) = names.remove(from) {
                names.insert(to.clone(), inode);
            }
        }
        NameOp::Remove(path) => {
            names.remove(path);
        }
    }
}

impl Disk {
    pub fn new(rng: Rng) -> Self {
        Self {
            rng,
            inodes: Vec::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            pending_names: Vec::new(),
            directories: BTreeSet::new(),
            locks: BTreeSet::new(),
            next_write: 0,
            faults: Faults::default(),
            faults_seen: 0,
        }
    }

    /// Does it happen this time?
    fn strikes(&mut self, of_a_million: u64) -> bool {
        let now = of_a_million > 0 && self.rng.chance(of_a_million, 1_000_000);
        self.faults_seen += u64::from(now);
        now
    }

    /// How long a call takes, in nanoseconds.
    pub fn latency(&mut self, least: u64, most: u64) -> u64 {
        // Now and then a device takes its time.
        let most = if self.rng.chance(1, 50) { most * 20 } else { most };
        self.rng.within(least..=most)
    }

    pub fn open(&mut self, path: &Path, create: bool) -> Result<usize, Refusal> {
        if let Some(inode) = self.names.get(path) {
            return Ok(*inode);
        }
        if !create || path.parent().is_some_and(|parent| !self.directories.contains(parent)) {
            return Err(Refusal::NotThere);
        }
        if self.faults.full {
            self.faults_seen += 1;
            return Err(Refusal::Full);
        }
        self.inodes.push(Inode::default());
        let inode = self.inodes.len() - 1;
        self.change_name(NameOp::Put(path.into(), inode));
        Ok(inode)
    }

    pub fn bytes(&self, inode: usize) -> u64 {
        self.inodes[inode].bytes
    }

    pub fn read(&mut self, inode: usize, buf: &mut [u8], offset: u64, may_fail: bool) -> Result<(), Refusal> {
        if may_fail && self.strikes(self.faults.read_error) {
            return Err(Refusal::Io);
        }
        let mut at = 0;
        while at < buf.len() {
            let place = offset + at as u64;
            let (block, within) = (place / BLOCK as u64, place as usize % BLOCK);
            let end = buf.len().min(at + BLOCK - within);
            match self.inodes[inode].content.get(&block) {
                Some(block) => buf[at..end].copy_from_slice(&block[within..within + end - at]),
                None => buf[at..end].fill(0),
            }
            at = end;
        }
        if may_fail && self.strikes(self.faults.read_flip) {
            let bit = self.rng.below(buf.len() as u64 * 8) as usize;
            buf[bit / 8] ^= 1 << (bit % 8);
        }
        Ok(())
    }

    pub fn write(&mut self, inode: usize, bytes: &[u8], offset: u64) -> Result<(), Refusal> {
        let end = offset + bytes.len() as u64;
        if end > self.inodes[inode].bytes && self.faults.full {
            self.faults_seen += 1;
            return Err(Refusal::Full);
        }
        if self.strikes(self.faults.write_error) {
            return Err(Refusal::Io);
        }
        let number = self.next_write;
        self.next_write += 1;
        let file = &mut self.inodes[inode];
        overlay(&mut file.content, offset, bytes);
        file.bytes = file.bytes.max(end);
        file.pending.push(Write { number, offset, bytes: bytes.into() });
        Ok(())
    }

    pub fn extend(&mut self, inode: usize, to: u64) -> Result<(), Refusal> {
        if to > self.inodes[inode].bytes {
            if self.faults.full {
                self.faults_seen += 1;
                return Err(Refusal::Full);
            }
            self.inodes[inode].bytes = to;
        }
        Ok(())
    }

    /// Writes from this one on are not made durable by a sync that begins now.
    pub fn next_write(&self) -> u64 {
        self.next_write
    }

    /// Makes the writes before `below` durable, or fails: then what was written may or may not get there.
    pub fn sync(&mut self, inode: usize, below: u64) -> Result<(), Refusal> {
        if self.strikes(self.faults.sync_error) {
            return Err(Refusal::Io);
        }
        let file = &mut self.inodes[inode];
        let begun = file.pending.partition_point(|write| write.number < below);
        for write in file.pending.drain(..begun) {
            overlay(&mut file.durable, write.offset, &write.bytes);
            file.durable_bytes = file.durable_bytes.max(write.offset + write.bytes.len() as u64);
        }
        if file.pending.is_empty() {
            file.durable_bytes = file.bytes;
        }
        Ok(())
    }

    pub fn sync_names(&mut self, dir: &Path) -> Result<(), Refusal> {
        if self.strikes(self.faults.sync_error) {
            return Err(Refusal::Io);
        }
        let within = |path: &Path| path.parent() == Some(dir);
        for op in std::mem::take(&mut self.pending_names) {
            let concerned = match &op {
                NameOp::Put(path, _) | NameOp::Remove(path) => within(path),
                NameOp::Rename(from, to) => within(from) || within(to),
            };
            if concerned { apply(&mut self.durable_names, &op) } else { self.pending_names.push(op) }
        }
        Ok(())
    }

    fn change_name(&mut self, op: NameOp) {
        apply(&mut self.names, &op);
        self.pending_names.push(op);
    }

    pub fn rename(&mut self, from: &Path, to: &Path) -> Result<(), Refusal> {
        if !self.names.contains_key(from) {
            return Err(Refusal::NotThere);
        }
        self.change_name(NameOp::Rename(from.into(), to.into()));
        Ok(())
    }

    pub fn remove(&mut self, path: &Path) -> Result<(), Refusal> {
        if !self.names.contains_key(path) {
            return Err(Refusal::NotThere);
        }
        self.change_name(NameOp::Remove(path.into()));
        Ok(())
    }

    pub fn exists(&self, path: &Path) -> bool {
        self.names.contains_key(path) || self.directories.contains(path)
    }

    /// Directories are durable at once; the engine makes them before there is anything to lose.
    pub fn make_directories(&mut self, path: &Path) {
        self.directories.extend(path.ancestors().map(Path::to_path_buf));
    }

    pub fn list(&self, dir: &Path) -> Vec<PathBuf> {
        self.names.keys().chain(&self.directories).filter(|path| path.parent() == Some(dir)).cloned().collect()
    }

    pub fn lock(&mut self, path: &Path) -> bool {
        self.locks.insert(path.into())
    }

    pub fn unlock(&mut self, path: &Path) {
        self.locks.remove(path);
    }

    pub fn release_locks(&mut self) {
        self.locks.clear();
    }

    /// Changes one durable bit of a file, in a block that has something. The content as reads see it changes, too.
    pub fn rot(&mut self, path: &Path) -> Option<u64> {
        let inode = *self.names.get(path)?;
        let file = &mut self.inodes[inode];
        let index = self.rng.below(file.durable.len() as u64) as usize;
        let block = *file.durable.keys().nth(index)?;
        let bit = self.rng.below(BLOCK as u64 * 8) as usize;
        for blocks in [&mut file.durable, &mut file.content] {
            if let Some(bytes) = blocks.get_mut(&block) {
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
        Some(block * BLOCK as u64 + bit as u64 / 8)
    }

    /// Takes a file away, for good; what it was.
    pub fn take_away(&mut self, path: &Path) -> Option<usize> {
        self.durable_names.remove(path);
        self.pending_names.retain(|op| !matches!(op, NameOp::Put(at, _) if at == path));
        self.names.remove(path)
    }

    /// Gives a file its name, for good.
    pub fn put_back(&mut self, path: &Path, inode: usize) {
        self.names.insert(path.into(), inode);
        self.durable_names.insert(path.into(), inode);
    }

    /// Changes what is durable of a file, its length too; what it was.
    pub fn tamper(&mut self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) -> Option<usize> {
        let was = self.take_away(path)?;
        let mut bytes = vec![0; self.inodes[was].bytes as usize];
        self.read(was, &mut bytes, 0, false).ok()?;
        change(&mut bytes);
        let mut file = Inode { bytes: bytes.len() as u64, durable_bytes: bytes.len() as u64, ..Inode::default() };
        overlay(&mut file.content, 0, &bytes);
        file.durable = file.content.clone();
        self.inodes.push(file);
        self.put_back(path, self.inodes.len() - 1);
        Some(was)
    }

    pub fn crash(&mut self, kind: CrashKind) {
        if kind == CrashKind::Process {
            return;
        }
        let kept = self.rng.below(self.pending_names.len() as u64 + 1) as usize;
        for op in self.pending_names.drain(..).take(kept).collect::<Vec<_>>() {
            apply(&mut self.durable_names, &op);
        }
        self.names = self.durable_names.clone();
        for file in &mut self.inodes {
            file.lose_power(&mut self.rng);
        }
    }
}

impl Inode {
    fn lose_power(&mut self, rng: &mut Rng) {
        let pending = std::mem::take(&mut self.pending);
        let way = rng.below(5);
        let first = rng.below(pending.len() as u64 + 1) as usize;
        let likely = rng.within(1..=7);
        for (index, write) in pending.iter().enumerate() {
            let whole = rng.chance(likely, 8);
            for (sector, bytes) in write.bytes.chunks(SECTOR).enumerate() {
                let kept = match way {
                    0 => false,
                    1 => true,
                    // Whole writes.
                    2 => whole,
                    3 => rng.chance(likely, 8),
                    _ => index < first || (index == first && rng.chance(1, 2)),
                };
                if kept {
                    let at = write.offset + (sector * SECTOR) as u64;
                    overlay(&mut self.durable, at, bytes);
                    self.durable_bytes = self.durable_bytes.max(at + bytes.len() as u64);
                }
            }
        }
        // A reservation that was not synced may be gone, or not.
        if rng.chance(1, 2) {
            self.durable_bytes = self.durable_bytes.max(self.bytes);
        }
        self.bytes = self.durable_bytes;
        self.content = self.durable.clone();
    }
}
