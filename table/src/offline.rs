//! `heddle check`: is a data directory sound? Several threads check it while no server runs.
//!
//! 1. Every page by itself (checksum).
//! 2. The log, from the checkpoint to its end.
//! 3. Every tree: each page is in its place and used once, keys are in order.
//! 4. Every table: each row can be read and has its own key, each index has exactly the entries of the rows, each large
//!    value its chunks.
//!
//! C1: an index agrees with its table if the multiset of its entries equals that of the entries of the rows. Both sides
//!     add up a 128-bit hash of each entry, so any thread may read any part of a table in any order. Only if the sums
//!     differ does a second pass over both name the entries.

use crate::blob;
use crate::catalog::{self, Contents, StoredTable};
use crate::codec::{IndexCodec, Source};
use crate::{Error, Result};
use os::time::Instant;
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;
use std::time::Duration;
use storage::offline::{LogCounts, Offline, PageCounts, Problem, Record, Subtree};
use sync::Mutex;
use sync::atomic::{AtomicUsize, Ordering};
use txn::TreeRef;
use types::schema::IndexKind;
use types::{RowLayout, StoredRow, Value};

pub use storage::page::PAGE_BYTES;

/// Problems named of one kind; the others are counted.
const NAMED_MAX: usize = 10;

/// An event that a running check reports.
#[derive(Debug)]
pub enum Event<'a> {
    /// The directory is open.
    Opened {
        pages: u32,
        clean: bool,
    },
    /// Progress of step 1; at most once a second.
    Progress {
        done: u32,
        pages: u32,
    },
    PagesChecked {
        counts: &'a PageCounts,
        took: Duration,
    },
    LogChecked {
        counts: &'a LogCounts,
        took: Duration,
    },
    /// The server was not stopped in good order: steps 3 and 4 are left out.
    NotClean,
    TableChecked {
        name: &'a str,
        rows: u64,
        indexes: usize,
        problems: usize,
        took: Duration,
    },
    /// Pages in use that no tree has: lost space, no lost data.
    LostPages(u32),
    /// Trees that were dropped and not freed yet: the next start frees them.
    Orphans(usize),
    Problem(&'a str),
}

/// The answer in short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub problems: usize,
    pub tables: usize,
    pub rows: u64,
}

/// Checks a data directory; findings are passed to `tell`.
/// # Errors
/// The check could not run: no data directory, one in use, unreadable files, a catalog of another version.
pub fn check(dir: &Path, threads: usize, tell: &(dyn Fn(Event<'_>) + Sync)) -> Result<Summary> {
    let offline = Offline::open(dir).map_err(engine)?;
    tell(Event::Opened { pages: offline.pages(), clean: offline.is_clean() });
    let mut summary = Summary::default();
    let began = Instant::now();
    let told = Mutex::new(began);
    let counts = offline
        .check_pages(threads, &|done| {
            if let Some(mut last) = told.try_lock()
                && last.elapsed() >= Duration::from_secs(1)
            {
                *last = Instant::now();
                tell(Event::Progress { done, pages: offline.pages() });
            }
        })
        .map_err(engine)?;
    tell(Event::PagesChecked { counts: &counts, took: began.elapsed() });
    summary.problems += tell_problems("", &counts.problems, tell);
    let began = Instant::now();
    let log = offline.check_log().map_err(engine)?;
    tell(Event::LogChecked { counts: &log, took: began.elapsed() });
    if let Some(damage) = &log.damage {
        tell(Event::Problem(&format!("the log: {damage}")));
        summary.problems += 1;
    }
    if !offline.is_clean() {
        tell(Event::NotClean);
        return Ok(summary);
    }
    let mut problems = Vec::new();
    let contents = load_catalog(&offline, &mut problems)?;
    if !contents.orphans.is_empty() {
        tell(Event::Orphans(contents.orphans.len()));
    }
    for orphan in &contents.orphans {
        // Dropped, and not freed yet: its pages are in use all the same.
        offline.walk(&offline.whole(*orphan), &mut Vec::new(), &mut |_| {});
    }
    summary.problems += tell_problems("the catalog: ", &problems, tell);
    for stored in contents.tables.iter().filter(|stored| stored.def.view.is_none()) {
        let began = Instant::now();
        let checked = TableCheck::new(&offline, stored).run(threads);
        let name = format!("{}.{}", stored.def.database, stored.def.name);
        let count = tell_problems(&format!("table {name}: "), &checked.problems, tell);
        let indexes = stored.def.indexes.len();
        tell(Event::TableChecked { name: &name, rows: checked.rows, indexes, problems: count, took: began.elapsed() });
        summary.problems += count;
        summary.rows += checked.rows;
        summary.tables += 1;
    }
    let mut problems = Vec::new();
    let lost = offline.check_allocation(&mut problems).map_err(engine)?;
    summary.problems += tell_problems("", &problems, tell);
    if lost > 0 {
        tell(Event::LostPages(lost));
    }
    Ok(summary)
}

fn engine(error: storage::Error) -> Error {
    Error::Engine(error.into())
}

fn tell_problems(what: &str, problems: &[Problem], tell: &(dyn Fn(Event<'_>) + Sync)) -> usize {
    for problem in problems.iter().take(NAMED_MAX) {
        tell(Event::Problem(&match problem.page {
            0 => format!("{what}{}", problem.what),
            page => format!("{what}page {page}: {}", problem.what),
        }));
    }
    if problems.len() > NAMED_MAX {
        tell(Event::Problem(&format!("{what}and {} more like these", problems.len() - NAMED_MAX)));
    }
    problems.len()
}

fn load_catalog(offline: &Offline, problems: &mut Vec<Problem>) -> Result<Contents> {
    let mut loader = catalog::Loader::default();
    let mut failed = None;
    offline.walk(&offline.whole(offline.catalog_tree()), problems, &mut |record| {
        if !record.header.is_tombstone()
            && let Err(error) = loader.add(record.key, record.payload)
        {
            failed.get_or_insert(error);
        }
    });
    match failed {
        Some(error) => Err(error),
        // What is missing was named as a problem of a page.
        None if !problems.is_empty() => Ok(Contents::default()),
        None => loader.finish(),
    }
}

/// A sum over entries that does not depend on their order (C1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    count: u64,
    hash: u128,
}

impl Sum {
    pub fn add(&mut self, hash: u128) {
        self.count += 1;
        self.hash = self.hash.wrapping_add(hash);
    }

    /// For people.
    pub fn said(&self) -> String {
        format!("{} entries with the sum {:032x}", self.count, self.hash)
    }

    fn merge(&mut self, other: Sum) {
        self.count += other.count;
        self.hash = self.hash.wrapping_add(other.hash);
    }
}

pub(crate) fn entry_hash(key: &[u8], payload: &[u8]) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write_usize(key.len());
        hasher.write(key);
        hasher.write(payload);
        u128::from(hasher.finish())
    };
    half(1) << 64 | half(2)
}

/// One table under check.
struct TableCheck<'a> {
    offline: &'a Offline,
    stored: &'a StoredTable,
    layout: RowLayout,
    codecs: Vec<IndexCodec>,
}

/// What a part of a table, or all of it, gave.
#[derive(Default)]
struct Found {
    rows: u64,
    chunks: u64,
    /// Per index: what the rows ask for, and what is there.
    wanted: Vec<Sum>,
    present: Vec<Sum>,
    problems: Vec<Problem>,
}

/// A piece of work: a part of index `.0`, or of the blob tree.
enum Part {
    Index(usize, Subtree),
    Blobs(Subtree),
}

impl<'a> TableCheck<'a> {
    fn new(offline: &'a Offline, stored: &'a StoredTable) -> Self {
        let def = &stored.def;
        let codecs = (0..def.indexes.len()).map(|k| IndexCodec::new(def, k)).collect();
        Self { offline, stored, layout: RowLayout::new(def), codecs }
    }

    fn tree(&self, index: usize) -> TreeRef {
        let index = &self.stored.def.indexes[index];
        TreeRef { id: index.tree_id, root: index.root_page }
    }

    fn empty(&self) -> Found {
        let sums = vec![Sum::default(); self.codecs.len()];
        Found { wanted: sums.clone(), present: sums, ..Found::default() }
    }

    fn run(&self, threads: usize) -> Found {
        let mut all = self.empty();
        let mut parts = Vec::new();
        for index in 0..self.codecs.len() {
            let of_index = self.offline.parts(self.tree(index), &mut all.problems);
            parts.extend(of_index.into_iter().map(|part| Part::Index(index, part)));
        }
        if let Some(tree) = self.stored.blob_tree {
            parts.extend(self.offline.parts(tree, &mut all.problems).into_iter().map(Part::Blobs));
        }
        let next = AtomicUsize::new(0);
        let work = || {
            let mut found = self.empty();
            while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.check_part(part, &mut found);
            }
            found
        };
        let found: Vec<Found> = os::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads.clamp(1, parts.len().max(1))).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|t| t.join().expect("the checks do not panic")).collect()
        });
        let mut chunks_present = 0;
        for part in found {
            all.rows += part.rows;
            all.chunks += part.chunks;
            chunks_present += part.present[0].count;
            all.problems.extend(part.problems);
            for index in 1..self.codecs.len() {
                all.wanted[index].merge(part.wanted[index]);
                all.present[index].merge(part.present[index]);
            }
        }
        if chunks_present != all.chunks {
            let what = format!("{chunks_present} pieces of large values, but the rows have {}", all.chunks);
            all.problems.push(Problem { page: 0, what });
        }
        // Of a damaged page, which was named already, it is not known what its rows ask for.
        let whole = all.problems.is_empty();
        for index in 1..self.codecs.len() {
            if whole && all.wanted[index] != all.present[index] {
                self.name_differences(index, &mut all.problems);
            }
        }
        all
    }

    fn check_part(&self, part: &Part, found: &mut Found) {
        let mut problems = Vec::new();
        match part {
            Part::Index(0, part) => self.offline.walk(part, &mut problems, &mut |record| {
                if !record.header.is_tombstone() {
                    self.check_row(record, found);
                }
            }),
            Part::Index(index, part) => self.offline.walk(part, &mut problems, &mut |record| {
                if !record.header.is_tombstone() {
                    found.present[*index].add(entry_hash(record.key, record.payload));
                }
            }),
            // The clustered index needs no sum of its own: its place holds the count of chunks.
            Part::Blobs(part) => self.offline.walk(part, &mut problems, &mut |record| {
                found.present[0].count += u64::from(!record.header.is_tombstone());
            }),
        }
        found.problems.append(&mut problems);
    }

    fn check_row(&self, record: &Record<'_>, found: &mut Found) {
        found.rows += 1;
        let entries = self.entries(record, &mut |index, hash| found.wanted[index].add(hash));
        match entries {
            Ok(chunks) => found.chunks += chunks,
            Err(why) => {
                let what = format!("the row under key {} {why}", Hex(record.key));
                found.problems.push(Problem { page: record.page, what });
            }
        }
    }

    /// Gives the hash of each index entry that the row asks for; answers how many chunks its large values have.
    fn entries(&self, record: &Record<'_>, give: &mut dyn FnMut(usize, u128)) -> std::result::Result<u64, String> {
        let unreadable = |error: types::Error| format!("cannot be read: {error:?}");
        let row = StoredRow::new(&self.layout, record.payload).map_err(unreadable)?;
        let mut chunks = 0;
        let mut loaded: Vec<(usize, Value<'_>)> = Vec::new();
        for column in 0..self.layout.columns() {
            match row.external(column).map_err(unreadable)? {
                None => drop(row.get(column).map_err(unreadable)?),
                Some(reference) => {
                    let tree = self.stored.blob_tree.ok_or("refers to a large value, but the table has none")?;
                    let bytes = self.load_blob(tree, reference)?;
                    chunks += u64::from(blob::chunks_of(reference.length));
                    loaded.push((column, Value::Bytes(bytes.into())));
                }
            }
        }
        let mut dropped = Vec::new();
        row.dropped_externals(&mut dropped).map_err(unreadable)?;
        for reference in dropped {
            let tree = self.stored.blob_tree.ok_or("had a large value, but the table has none")?;
            self.load_blob(tree, reference)?;
            chunks += u64::from(blob::chunks_of(reference.length));
        }
        let mut key = Vec::new();
        if self.codecs[0].kind != IndexKind::HiddenRowId {
            self.codecs[0].encode(Source::Changed(row, &loaded), &mut key).map_err(unreadable)?;
            if key != record.key {
                return Err(format!("should stand under {}", Hex(&key)));
            }
        }
        for (index, codec) in self.codecs.iter().enumerate().skip(1) {
            if codec.multi.is_some() {
                let mut several = crate::entries::Entries::default();
                codec
                    .encode_entries(Source::Changed(row, &loaded), record.key, &mut several)
                    .map_err(|_| format!("has no keys for index {}", self.stored.def.indexes[index].name))?;
                several.iter().for_each(|(key, payload)| give(index, entry_hash(key, payload)));
                continue;
            }
            codec
                .encode_entry(Source::Changed(row, &loaded), record.key, &mut key)
                .map_err(|_| format!("has no key for index {}", self.stored.def.indexes[index].name))?;
            let payload = if codec.kind == IndexKind::Unique { record.key } else { &[] };
            give(index, entry_hash(&key, payload));
        }
        Ok(chunks)
    }

    fn load_blob(&self, tree: TreeRef, reference: types::row::ExternalRef) -> std::result::Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let (low, high) = (blob::chunk_key(reference.blob, 0), blob::chunk_key(reference.blob.wrapping_add(1), 0));
        self.offline.scan(tree, &low, &high, &mut |chunk| bytes.extend_from_slice(chunk.payload));
        if bytes.len() as u64 == reference.length {
            Ok(bytes)
        } else {
            Err(format!("has {} of the {} bytes of a large value", bytes.len(), reference.length))
        }
    }

    /// Names what one side of an index has and the other has not.
    fn name_differences(&self, index: usize, problems: &mut Vec<Problem>) {
        let name = &self.stored.def.indexes[index].name;
        let mut missing: HashMap<u128, i64> = HashMap::new();
        let mut ignored = Vec::new();
        self.offline.each(self.tree(0), &mut ignored, &mut |record| {
            let _ = self.entries(record, &mut |k, hash| {
                if k == index {
                    *missing.entry(hash).or_default() += 1;
                }
            });
        });
        self.offline.each(self.tree(index), &mut ignored, &mut |record| match missing
            .get_mut(&entry_hash(record.key, record.payload))
        {
            Some(count) if *count > 0 => *count -= 1,
            _ => {
                let what = format!("index {name} has an entry {} that belongs to no row", Hex(record.key));
                problems.push(Problem { page: record.page, what });
            }
        });
        self.offline.each(self.tree(0), &mut ignored, &mut |record| {
            let _ = self.entries(record, &mut |k, hash| {
                if k == index && missing.get_mut(&hash).is_some_and(|count| std::mem::take(count) > 0) {
                    let what = format!("index {name} has no entry for the row under key {}", Hex(record.key));
                    problems.push(Problem { page: record.page, what });
                }
            });
        });
    }
}

/// A key for people: they are bytes.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 24;
        f.write_str("0x")?;
        self.0.iter().take(SHOWN).try_for_each(|byte| write!(f, "{byte:02x}"))?;
        if self.0.len() > SHOWN { write!(f, "... ({} bytes)", self.0.len()) } else { Ok(()) }
    }
}
