//! A data directory that no server runs on, read without changing a byte: for `heddle check`.
//!
//! 1. [`Offline::check_pages`]: every page of the data file by itself: checksum and identity. Pages are read in runs, by several threads,
//!    through the system's cache.
//! 2. [`Offline::check_log`]: the log from the checkpoint to its end, and whether that is the end.
//! 3. [`Offline::walk`]: every page of a tree in its place: structure, level, fences that continue each other, each page once.
//!
//! O1: nothing is written but the number of this process into the lock file. The directory's lock is held, so that nobody else writes either.
//! O2: after a crash single pages are sound (or have a sound copy in the doublewrite area), but pages need not fit each other until the log is
//! redone: then only steps 1 and 2 mean anything (step 1 looks at the structure, too), and `is_clean` says so.

use crate::buffer::doublewrite;
use crate::control::{Control, ControlState};
use crate::page::{PAGE_BYTES, PAGE_WORDS, Page, PageId, PageType, RecordHeader, check, check_envelope};
use crate::space::{GROUP_PAGES, bitmap_page, is_bit_set};
use crate::store::{CATALOG_ROOT, CATALOG_TREE_ID, bounds, in_brackets, missing, present_log_directory};
use crate::wal::{LogDamage, LogReader, find_damage};
use crate::{Error, TreeRef};
use os::{DirLock, File, LockError};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use sync::RacyWords;
use sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Pages read at a time: what a core's cache holds.
const RUN_PAGES: usize = 32;
/// Deeper than any tree.
const HEIGHT_MAX: u8 = 32;

/// A directory opened for reading.
pub struct Offline {
    dir: PathBuf,
    state: ControlState,
    data: File,
    pages: u32,
    /// Pages of which the doublewrite area has a sound copy.
    copies: HashSet<PageId>,
    reached: Box<[AtomicBool]>,
    _lock: DirLock,
}

/// Something is not as it must be. `page` 0: not of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub page: PageId,
    pub what: String,
}

/// What [`Offline::check_pages`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageCounts {
    pub sound: u32,
    /// Reserved in the file, never written.
    pub unused: u32,
    /// Unsound, with a sound copy that the next start puts in place.
    pub repairable: u32,
    pub problems: Vec<Problem>,
}

/// What [`Offline::check_log`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogCounts {
    /// From the checkpoint to the end.
    pub bytes: u64,
    /// Where each epoch begins, and where the last one ends.
    pub places: Vec<u64>,
    pub damage: Option<LogDamage>,
}

/// A record of a leaf.
pub struct Record<'a> {
    pub page: PageId,
    pub key: &'a [u8],
    pub payload: &'a [u8],
    pub header: RecordHeader,
}

/// A page to be visited, and what it must be.
#[derive(Clone, Debug)]
pub struct Subtree {
    tree: TreeRef,
    page: PageId,
    /// `None` for a root.
    level: Option<u8>,
    low: Vec<u8>,
    high: Vec<u8>,
}

impl Offline {
    /// # Errors
    /// A directory that is no data directory, is in use, or cannot be read.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let control = dir.join("heddle.control");
        if !os::fs::exists(&control) {
            let what = format!("{} is not a Heddle data directory (it has no heddle.control)", dir.display());
            return Err(Error::Directory(what.into()));
        }
        let lock = DirLock::acquire(&dir.join("heddle.lock")).map_err(|e| match e {
            LockError::Held(process) => {
                let who = in_brackets(process);
                Error::Directory(format!("{} is in use by a server{who}: stop it first", dir.display()).into())
            }
            LockError::Io(e) => e.into(),
        })?;
        let (_, state) = Control::open(&control)?;
        let path = dir.join("heddle.data");
        if !os::fs::exists(&path) {
            return Err(missing(&path, "it holds all tables"));
        }
        let data = open(&path)?;
        let pages = (data.bytes()? / PAGE_BYTES as u64) as u32;
        let copies = sound_copies(&dir.join("heddle.doublewrite"))?;
        let reached = (0..pages).map(|_| AtomicBool::new(false)).collect();
        Ok(Self { dir: dir.into(), state, data, pages, copies, reached, _lock: lock })
    }

    /// Pages in the data file.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Was the server stopped in good order?
    pub fn is_clean(&self) -> bool {
        self.state.clean
    }

    /// Reads the log from the checkpoint to its end, and looks whether more of it must be there.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn check_log(&self) -> Result<LogCounts, Error> {
        let mut reader = LogReader::new(&present_log_directory(&self.dir), self.state.place);
        let (mut places, mut payload) = (vec![reader.end().position], Vec::new());
        while reader.next_epoch(&mut payload)?.is_some() {
            places.push(reader.end().position);
        }
        let bytes = reader.bytes_read();
        // A first start that was cut off may have left anything.
        let damage = if self.state.run > 0 { find_damage(&mut reader, &bounds(&self.state))? } else { None };
        Ok(LogCounts { bytes, places, damage })
    }

    pub fn catalog_tree(&self) -> TreeRef {
        TreeRef { id: CATALOG_TREE_ID, root: CATALOG_ROOT }
    }

    /// Looks at every page by itself. `progress`: pages done so far, called now and then from any thread.
    ///
    /// # Errors
    /// A file that cannot be read; what is wrong with pages is in the answer.
    pub fn check_pages(&self, threads: usize, progress: &(dyn Fn(u32) + Sync)) -> Result<PageCounts, Error> {
        let next = AtomicU32::new(0);
        let parts: Vec<Result<PageCounts, Error>> = os::thread::scope(|scope| {
            let work = || {
                let mut counts = PageCounts::default();
                let mut run = vec![0; RUN_PAGES * PAGE_BYTES];
                loop {
                    let first = next.fetch_add(RUN_PAGES as u32, Ordering::Relaxed);
                    if first >= self.pages {
                        return Ok(counts);
                    }
                    let count = (self.pages - first).min(RUN_PAGES as u32);
                    let run = &mut run[..count as usize * PAGE_BYTES];
                    self.data.read_at(run, u64::from(first) * PAGE_BYTES as u64)?;
                    for (id, image) in (first..).zip(run.chunks_exact(PAGE_BYTES)) {
                        self.count_page(id, image, &mut counts);
                    }
                    progress(first + count);
                }
            };
            let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|t| t.join().expect("the checks do not panic")).collect()
        });
        let mut all = PageCounts::default();
        for part in parts {
            let part = part?;
            all.sound += part.sound;
            all.unused += part.unused;
            all.repairable += part.repairable;
            all.problems.extend(part.problems);
        }
        all.problems.sort_by_key(|problem| problem.page);
        Ok(all)
    }

    fn count_page(&self, id: PageId, image: &[u8], counts: &mut PageCounts) {
        // A clean directory's pages are looked into when their tree is walked.
        let checked = if self.state.clean { check_envelope(image, id) } else { check(image, id) };
        match checked {
            Ok(()) => counts.sound += 1,
            Err(_) if image.iter().all(|byte| *byte == 0) => counts.unused += 1,
            Err(_) if self.copies.contains(&id) => counts.repairable += 1,
            Err(what) => counts.problems.push(Problem { page: id, what }),
        }
    }

    /// A tree from its root.
    pub fn whole(&self, tree: TreeRef) -> Subtree {
        Subtree { tree, page: tree.root, level: None, low: Vec::new(), high: Vec::new() }
    }

    /// Cuts a tree into parts for several threads: the children of its root.
    pub fn parts(&self, tree: TreeRef, problems: &mut Vec<Problem>) -> Vec<Subtree> {
        let root = self.whole(tree);
        let words = RacyWords::boxed(PAGE_WORDS);
        match self.load(&root, &words) {
            Err(problem) => {
                problems.push(problem);
                Vec::new()
            }
            Ok(page) if page.level() == 0 => vec![root],
            Ok(page) => {
                self.reach(root.page, problems);
                children(&root, page, problems)
            }
        }
    }

    /// Visits all records of a part in key order.
    pub fn walk(&self, part: &Subtree, problems: &mut Vec<Problem>, visit: &mut dyn FnMut(&Record<'_>)) {
        let words = RacyWords::boxed(PAGE_WORDS);
        let page = match self.load(part, &words) {
            Ok(page) => page,
            Err(problem) => return problems.push(problem),
        };
        if !self.reach(part.page, problems) {
            return;
        }
        if page.level() > 0 {
            for child in children(part, page, problems) {
                self.walk(&child, problems, visit);
            }
            return;
        }
        records(part.page, page, visit);
    }

    /// Visits the live records of a tree again, without counting the pages as reached.
    pub fn each(&self, tree: TreeRef, problems: &mut Vec<Problem>, visit: &mut dyn FnMut(&Record<'_>)) {
        let words = RacyWords::boxed(PAGE_WORDS);
        let mut parts = vec![self.whole(tree)];
        while let Some(part) = parts.pop() {
            match self.load(&part, &words) {
                Ok(page) if page.level() > 0 => parts.extend(children(&part, page, problems).into_iter().rev()),
                Ok(page) => records(part.page, page, &mut |record| {
                    if !record.header.is_tombstone() {
                        visit(record);
                    }
                }),
                Err(problem) => problems.push(problem),
            }
        }
    }

    /// Visits the live records with `low <= key < high`, without counting the pages as reached.
    pub fn scan(&self, tree: TreeRef, low: &[u8], high: &[u8], visit: &mut dyn FnMut(&Record<'_>)) {
        let words = RacyWords::boxed(PAGE_WORDS);
        let mut parts = vec![self.whole(tree)];
        while let Some(part) = parts.pop() {
            let Ok(page) = self.load(&part, &words) else { continue };
            if page.level() > 0 {
                let wanted = |child: &Subtree| (child.high.is_empty() || *child.high > *low) && *child.low < *high;
                parts.extend(children(&part, page, &mut Vec::new()).into_iter().filter(wanted).rev());
                continue;
            }
            records(part.page, page, &mut |record| {
                if *record.key >= *low && *record.key < *high && !record.header.is_tombstone() {
                    visit(record);
                }
            });
        }
    }

    /// Reads a page and compares it with what its parent says.
    fn load<'w>(&self, part: &Subtree, words: &'w RacyWords) -> Result<Page<'w>, Problem> {
        let problem = |what: String| Problem { page: part.page, what };
        let of = || match part.level {
            None => format!("root of tree {}", part.tree.id),
            Some(level) => format!("page of tree {} at level {level}", part.tree.id),
        };
        if part.page == 0 || part.page >= self.pages {
            return Err(problem(format!("the {} lies outside the data file", of())));
        }
        let mut image = vec![0; PAGE_BYTES];
        self.data
            .read_at(&mut image, u64::from(part.page) * PAGE_BYTES as u64)
            .map_err(|e| problem(format!("cannot be read: {e}")))?;
        check(&image, part.page).map_err(|what| problem(format!("the {} is damaged: {what}", of())))?;
        words.write_bytes(0, &image, &[]);
        let page = Page::new(words);
        if page.page_type() != PageType::Tree as u8 || page.tree_id() != part.tree.id {
            return Err(problem(format!("is no {}: it belongs to tree {}", of(), page.tree_id())));
        }
        if part.level.map_or(page.level() > HEIGHT_MAX, |level| level != page.level()) {
            return Err(problem(format!("is no {}: it says level {}", of(), page.level())));
        }
        let (mut low, mut high) = (Vec::new(), Vec::new());
        let whole = page.low_fence(&mut low) && page.high_fence(&mut high);
        if !whole || low != part.low || high != part.high {
            return Err(problem(format!("the key range of the {} is not what its parent says", of())));
        }
        Ok(page)
    }

    fn reach(&self, page: PageId, problems: &mut Vec<Problem>) -> bool {
        let first = !self.reached[page as usize].swap(true, Ordering::Relaxed);
        if !first {
            problems.push(Problem { page, what: "is part of two trees, or of one twice".into() });
        }
        first
    }

    /// After all trees were walked: compares what was reached with the allocation pages. Returns the number of pages in use that no
    /// tree has (lost space, no lost data).
    pub fn check_allocation(&self, problems: &mut Vec<Problem>) -> Result<u32, Error> {
        let mut lost = 0;
        let mut image = vec![0; PAGE_BYTES];
        let words = RacyWords::boxed(PAGE_WORDS);
        for group in 0..self.pages.div_ceil(GROUP_PAGES) {
            let bitmap = bitmap_page(group);
            let first = group * GROUP_PAGES;
            if bitmap >= self.pages {
                break;
            }
            self.data.read_at(&mut image, u64::from(bitmap) * PAGE_BYTES as u64)?;
            words.write_bytes(0, &image, &[]);
            let page = Page::new(&words);
            let is_bitmap = page.page_type() == PageType::Bitmap as u8;
            if !is_bitmap && (group == 0 || image.iter().any(|byte| *byte != 0)) {
                problems.push(Problem { page: bitmap, what: "is no allocation page".into() });
                continue;
            }
            for id in first..self.pages.min(first.saturating_add(GROUP_PAGES)) {
                let allocated = is_bitmap && is_bit_set(page, id - first);
                match (allocated, self.reached[id as usize].load(Ordering::Relaxed)) {
                    (false, true) => problems.push(Problem { page: id, what: "is part of a tree, and marked as free".into() }),
                    (true, false) if id != bitmap && id != 0 => lost += 1,
                    _ => {}
                }
            }
        }
        Ok(lost)
    }
}

fn records(id: PageId, page: Page<'_>, visit: &mut dyn FnMut(&Record<'_>)) {
    let (mut key, mut payload) = (Vec::new(), Vec::new());
    for slot in 0..page.slots() {
        let record = page.record(slot);
        key.clear();
        payload.clear();
        if page.key(&record, &mut key) && page.payload(&record, &mut payload) {
            visit(&Record { page: id, key: &key, payload: &payload, header: record.header });
        }
    }
}

/// The children of an inner page, each with the range that its separators give it.
fn children(part: &Subtree, page: Page<'_>, problems: &mut Vec<Problem>) -> Vec<Subtree> {
    let mut found: Vec<Subtree> = Vec::with_capacity(page.slots());
    for slot in 0..page.slots() {
        let record = page.record(slot);
        let mut low = Vec::new();
        if !page.key(&record, &mut low) {
            problems.push(Problem { page: part.page, what: format!("separator {slot} runs out of the page") });
            return found;
        }
        if let Some(before) = found.last_mut() {
            before.high.clone_from(&low);
        }
        let child = page.child(&record);
        found.push(Subtree { tree: part.tree, page: child, level: Some(page.level() - 1), low, high: Vec::new() });
    }
    if found.first().is_none_or(|first| first.low != part.low) {
        problems.push(Problem { page: part.page, what: "the first separator is not the low fence".into() });
    }
    if let Some(last) = found.last_mut() {
        last.high.clone_from(&part.high);
    }
    found
}

fn open(path: &Path) -> Result<File, Error> {
    Ok(File::open_to_read(path)?)
}

fn sound_copies(path: &Path) -> Result<HashSet<PageId>, Error> {
    if !os::fs::exists(path) {
        return Ok(HashSet::new());
    }
    let copies = doublewrite::sound_copies(&open(path)?)?;
    Ok(copies.into_iter().map(|copy| copy.page).collect())
}
