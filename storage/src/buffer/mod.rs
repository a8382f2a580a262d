//! The buffer pool: pages in memory.
//!
//! ```text
//! page table:  page id -> word: 0 absent | LOADING | frame number + 1         (flat, reserved address space)
//! frames:      frame number -> { latch, page id, flags, recovery epoch }
//! memory:      frame number -> 16 KiB
//! ```
//! A resident page costs one load of the page table and one compare. A missing one is a [`Stall`]: one reader thread fetches it
//! however many wait. The cleaner thread keeps frames free ahead of need and writes changed pages (`cleaner`).
//!
//! A scan has the pages before it fetched ahead of need. One that reads more than a part of the pool leaves the pages behind it for the
//! cleaner to take first, and does not count as a reader of theirs, so that it does not drive out what others need.
//!
//! B1: a frame's page id changes only under its latch, so a validated read that saw the id read that page.
//! B2: the page table names a frame only while the frame holds that page.
//! B3: a page is written to disk only when the log is durable up to its LSN, first to the doublewrite area, then home.
//! B4: a changed page is DIRTY with a recovery epoch not above that of its first unwritten change; both are set before the change is
//! logged.
//! B5: no frame at or above the limit is handed out; its memory goes back to the system when no page and no taker has any frame there
//! (`frames`, `shrink`). The frame itself stays, so its latch's version only grows.
//! B6: a page moves under the latches of both frames, and only from above the limit to below it. So whoever looks at all frames from the
//! last to the first does not miss it.
//! Readers write nothing, except the REFERENCED bit of a frame whose bit the clock hand has cleared.

mod cleaner;
pub(crate) mod doublewrite;
mod frames;
mod reader;
mod shrink;

pub(crate) use cleaner::{CleanRequests, Cleaner, CleanerConfig};
pub use frames::{ResizeBusy, ResizeState};

use crate::page::{PAGE_BYTES, PAGE_WORDS, Page, PageId};
use crate::stall::{Interrupt, Result, Stall};
use crate::wal::Wal;
use crate::{Error, Lsn};
use frames::Frames;
use os::{File, Reservation};
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use sync::waits::{self, Cause, Kind, Object};
use sync::{Condvar, Mutex};
use sync::{LatchGuard, RacyWords, Version, VersionLatch};

/// Page numbers stop here: 2^28 pages are 4 TiB.
pub const PAGES_MAX: u32 = 1 << 28;
const FRAMES_MAX: usize = PAGES_MAX as usize - 2;
/// A pool needs this many frames to run at all.
pub const FRAMES_MIN: usize = if cfg!(any(sim, miri)) { 64 } else { 256 };
/// As many are kept free at the least.
const FREE_FRAMES_MIN: usize = if cfg!(any(sim, miri)) { 12 } else { 32 };

const LOADING: u32 = u32::MAX;
const WAIT_SHARDS: usize = 64;

const REFERENCED: u32 = 1;
const DIRTY: u32 = 2;
/// Never evicted: allocation pages.
const RESIDENT: u32 = 4;

/// At most this part of the pool is fetched ahead of one scan.
const AHEAD_PART: usize = 32;
pub(crate) const AHEAD_MAX: usize = 32;
/// A scan that reads more than this part of the pool is a large one, as in PostgreSQL.
const LARGE_PART: usize = 4;

/// All zero is a frame that was never used. Each has a cache line of its own, as long as the target's lines may be.
#[cfg_attr(any(target_arch = "aarch64", target_arch = "powerpc64"), repr(align(128)))]
#[cfg_attr(target_arch = "s390x", repr(align(256)))]
#[cfg_attr(not(any(target_arch = "aarch64", target_arch = "powerpc64", target_arch = "s390x")), repr(align(64)))]
struct Frame {
    latch: VersionLatch,
    page: AtomicU32,
    flags: AtomicU32,
    recovery_epoch: AtomicU64,
}

const _: () = assert!(size_of::<Frame>() == align_of::<Frame>());

/// A page to be read.
struct Read {
    page: PageId,
    /// The frame's flags after it.
    flags: u32,
}

type WaitShard = Mutex<HashMap<PageId, Vec<Waker>>>;

pub struct Pool {
    /// Room for the largest size that the pool can have; as large is `memory`.
    frames: Reservation,
    frames_max: usize,
    memory: Reservation,
    table: Reservation,
    file: File,
    usable: Frames,
    waits: Box<[WaitShard]>,
    frame_waits: Mutex<Vec<Waker>>,
    reads: Mutex<VecDeque<Read>>,
    reads_ready: Condvar,
    /// Pages that a large scan has passed, to be evicted before others.
    spent: Mutex<VecDeque<PageId>>,
    failed: Mutex<HashMap<PageId, Error>>,
    /// Wakes the cleaner; see `cleaner`.
    cleaner_bell: (Mutex<bool>, Condvar),
    stop: AtomicBool,
    pub(crate) counters: Counters,
}

thread_local! {
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
    static WRITE_REQUESTS: Cell<u64> = const { Cell::new(0) };
}

/// Pages that this thread has asked any pool for, so far.
pub fn page_requests() -> u64 {
    REQUESTS.get()
}

/// Changes of pages that this thread has made, so far.
pub fn page_write_requests() -> u64 {
    WRITE_REQUESTS.get()
}

/// Read when they are shown.
#[derive(Default)]
pub struct Counters {
    pub pages_read: AtomicU64,
    pub pages_written: AtomicU64,
    pub pages_evicted: AtomicU64,
    /// How often somebody waited for a free frame.
    pub frame_waits: AtomicU64,
}

/// Frames of a pool of this size.
fn frames_in(bytes: u64) -> usize {
    ((bytes / PAGE_BYTES as u64) as usize).clamp(FRAMES_MIN, FRAMES_MAX)
}

/// Reserves address space for a pool of this many frames, and for the largest one that fits the machine's memory.
fn reserve(frame_count: usize) -> std::result::Result<(Reservation, usize), Error> {
    let machine = if cfg!(any(sim, miri)) { Some(frame_count as u64 * 2 * PAGE_BYTES as u64) } else { os::memory_bytes() };
    let frames_max = frame_count.max(frames_in(machine.unwrap_or(0)));
    match Reservation::new(frames_max * PAGE_BYTES) {
        Ok(memory) => Ok((memory, frames_max)),
        Err(e) if frames_max > frame_count => {
            os::report(format_args!("the buffer pool cannot grow while the server runs: {e}"));
            Ok((Reservation::new(frame_count * PAGE_BYTES)?, frame_count))
        }
        Err(e) => Err(e.into()),
    }
}

/// Waits for one page to be read, or for a free frame.
#[derive(Debug)]
pub struct PageStall {
    pool: Arc<Pool>,
    /// 0: any free frame.
    page: PageId,
    /// The page's tree and level, where the caller knows them.
    object: Object,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({} frames)", self.frame_count())
    }
}

impl PageStall {
    pub(crate) fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        let polled = self.pool.poll_wait(self.page, cx);
        if polled.is_pending() {
            let kind = if self.page == 0 { Kind::FreeFrame } else { Kind::PageRead };
            waits::pending(Cause::of(kind).with(self.object));
        }
        polled
    }

    /// The same stall, for a page of this tree.
    #[cold]
    pub(crate) fn of(self, tree: u32, level: u8) -> Self {
        Self { object: Object::Tree { tree, level }, ..self }
    }
}

/// Waits for the holder of a page's latch.
#[cold]
fn await_latch<'a>(read: &PageRead<'a>) -> LatchGuard<'a> {
    let began = os::ticks();
    let guard = read.frame.latch.lock();
    note_latch_wait(read.page, began);
    guard
}

/// The page may be another one meanwhile, in which case the wait is counted for that one's tree.
fn note_latch_wait(page: Page<'_>, began: u64) {
    let object = Object::Tree { tree: page.tree_id(), level: page.level() };
    waits::spun(Cause::of(Kind::PageLatch).with(object), os::ticks().saturating_sub(began));
}

/// A page being read optimistically. Believe nothing before `valid()`.
#[derive(Clone, Copy)]
pub struct PageRead<'a> {
    frame: &'a Frame,
    version: Version,
    pub page: Page<'a>,
}

impl<'a> PageRead<'a> {
    /// Was everything read so far one consistent state of this page?
    #[inline]
    pub fn valid(&self) -> bool {
        self.frame.latch.validate(self.version)
    }

    /// Takes the page's latch if the page has not changed since.
    #[inline]
    pub fn latch(self) -> Option<PageWrite<'a>> {
        let guard = self.frame.latch.try_upgrade(self.version)?;
        Some(PageWrite { frame: self.frame, page: self.page, guard })
    }
}

/// A latched page.
pub struct PageWrite<'a> {
    frame: &'a Frame,
    pub page: Page<'a>,
    guard: LatchGuard<'a>,
}

impl PageWrite<'_> {
    /// Releases a page that was not changed: versions taken before stay valid.
    pub fn release_unchanged(self) {
        self.guard.release_unchanged();
    }

    /// Must be called before the change is logged (B4); `epoch` is the log's current one, read before.
    #[inline]
    pub fn mark_dirty(&self, epoch: u64) {
        WRITE_REQUESTS.set(WRITE_REQUESTS.get() + 1);
        // Relaxed: the latch is held; the cleaner looks again under the latch.
        let flags = self.frame.flags.load(Ordering::Relaxed);
        if flags & DIRTY == 0 {
            self.frame.recovery_epoch.store(epoch, Ordering::Relaxed);
            // SeqCst: ordered before the append's load of the epoch (see Pool::oldest_dirty_epoch).
            self.frame.flags.fetch_or(DIRTY | REFERENCED, Ordering::SeqCst);
        }
    }

    /// Keeps the page in memory for ever.
    pub fn keep_resident(&self) {
        self.frame.flags.fetch_or(RESIDENT, Ordering::Relaxed);
    }

    pub fn set_lsn(&self, lsn: Lsn) {
        self.page.set_lsn(lsn);
    }

    pub fn id(&self) -> PageId {
        self.frame.page.load(Ordering::Relaxed)
    }
}

impl Pool {
    /// A pool of `bytes` over `file`. Memory is reserved, not touched: as much as the machine has, so that the pool can grow.
    pub fn new(file: File, bytes: u64) -> std::result::Result<Arc<Self>, Error> {
        let frame_count = frames_in(bytes);
        let (memory, frames_max) = reserve(frame_count)?;
        memory.prefer_large_pages();
        Ok(Arc::new(Self {
            frames: Reservation::new(frames_max * size_of::<Frame>())?,
            frames_max,
            memory,
            table: Reservation::new(PAGES_MAX as usize * size_of::<AtomicU32>())?,
            file,
            usable: Frames::new(frame_count),
            waits: (0..WAIT_SHARDS).map(|_| WaitShard::default()).collect(),
            frame_waits: Mutex::default(),
            reads: Mutex::default(),
            reads_ready: Condvar::new(),
            spent: Mutex::default(),
            failed: Mutex::default(),
            cleaner_bell: (Mutex::new(false), Condvar::new()),
            stop: AtomicBool::new(false),
            counters: Counters::default(),
        }))
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// How many frames the pool has, or shall have when it has shrunk.
    pub fn frame_count(&self) -> usize {
        self.usable.limit()
    }

    /// As many are kept free.
    fn free_below(&self) -> usize {
        (self.frame_count() / 16).clamp(FREE_FRAMES_MIN, 4096)
    }

    #[inline]
    fn word(&self, page: PageId) -> &AtomicU32 {
        assert!(page < PAGES_MAX, "page ids are below PAGES_MAX");
        // SAFETY: the reservation holds PAGES_MAX zeroed words, lives as long as self, and is only ever accessed as atomics.
        unsafe { &*self.table.start().cast::<AtomicU32>().add(page as usize) }
    }

    #[inline]
    fn frame(&self, number: u32) -> &Frame {
        assert!((number as usize) < self.frames_max, "B2: the page table names real frames");
        // SAFETY: the reservation holds frames_max frames; zero bytes are a valid Frame; all its fields are atomics.
        unsafe { &*self.frames.start().cast::<Frame>().add(number as usize) }
    }

    #[inline]
    fn page_of(&self, number: u32) -> Page<'_> {
        debug_assert!((number as usize) < self.frames_max);
        // SAFETY: the reservation holds frames_max pages, is aligned to a page of memory, lives as long as self, and is only
        // accessed through RacyWords.
        let words = unsafe { RacyWords::from_raw(self.memory.start().add(number as usize * PAGE_BYTES), PAGE_WORDS) };
        Page::new(words)
    }

    /// Waits for the writer of a frame's page.
    #[cold]
    fn await_version(&self, number: u32) -> Version {
        let began = os::ticks();
        let version = self.frame(number).latch.read_wait();
        note_latch_wait(self.page_of(number), began);
        version
    }

    /// Begins an optimistic read of a page.
    ///
    /// # Errors
    /// A stall while the page is being read from disk; an error when it is damaged.
    #[inline]
    pub fn read(self: &Arc<Self>, page: PageId) -> Result<PageRead<'_>> {
        let read = self.read_unnoted(page)?;
        if read.frame.flags.load(Ordering::Relaxed) & REFERENCED == 0 {
            read.frame.flags.fetch_or(REFERENCED, Ordering::Relaxed);
        }
        Ok(read)
    }

    /// Like `read`, for a page that need not stay in memory.
    /// # Errors
    /// Like `read`.
    #[inline]
    pub fn read_unnoted(self: &Arc<Self>, page: PageId) -> Result<PageRead<'_>> {
        REQUESTS.set(REQUESTS.get() + 1);
        loop {
            // Acquire: pairs with the Release that published the frame.
            let word = self.word(page).load(Ordering::Acquire);
            if word == 0 || word == LOADING {
                return Err(self.miss(page, REFERENCED));
            }
            let number = word - 1;
            let frame = self.frame(number);
            let version = match frame.latch.read() {
                Some(version) => version,
                None => self.await_version(number),
            };
            // B1: the id is checked under the version.
            if frame.page.load(Ordering::Relaxed) == page {
                return Ok(PageRead { frame, version, page: self.page_of(number) });
            }
        }
    }

    /// Has a page read that will be needed soon, where it is not in memory. `true`: it was not.
    pub(crate) fn fetch(self: &Arc<Self>, page: PageId) -> bool {
        self.fetch_as(page, REFERENCED)
    }

    /// As `fetch`, for a scan.
    pub(crate) fn fetch_for_scan(self: &Arc<Self>, page: PageId) -> bool {
        self.fetch_as(page, 0)
    }

    fn fetch_as(self: &Arc<Self>, page: PageId, flags: u32) -> bool {
        let is_missing = self.word(page).load(Ordering::Relaxed) == 0;
        if is_missing {
            // Nobody awaits this stall; later readers of the page wait for it.
            drop(self.miss(page, flags));
        }
        is_missing
    }

    /// How many pages to fetch ahead of a scan.
    pub fn ahead_pages(&self) -> usize {
        (self.frame_count() / AHEAD_PART).min(AHEAD_MAX)
    }

    /// How many pages a scan may read that counts as any other reader.
    pub fn large_pages(&self) -> usize {
        self.frame_count() / LARGE_PART
    }

    /// Leaves pages that a large scan has passed for the cleaner to take; empties the list.
    pub fn leave(&self, pages: &mut Vec<PageId>) {
        let mut spent = self.spent.lock();
        spent.extend(pages.drain(..));
        let over = spent.len().saturating_sub(self.frame_count());
        spent.drain(..over);
    }

    /// Asks for the frame and the head of a page that will be read soon, where it is in memory.
    #[inline]
    pub fn prefetch(&self, page: PageId) {
        // Relaxed: a hint.
        let word = self.word(page).load(Ordering::Relaxed);
        if word != 0 && word != LOADING {
            sync::prefetch(self.frame(word - 1));
            self.page_of(word - 1).prefetch_head();
        }
    }

    /// Latches a page.
    ///
    /// # Errors
    /// As `read`.
    pub fn latch(self: &Arc<Self>, page: PageId) -> Result<PageWrite<'_>> {
        loop {
            let read = self.read(page)?;
            let guard = match read.frame.latch.try_lock() {
                Some(guard) => guard,
                None => await_latch(&read),
            };
            if read.frame.page.load(Ordering::Relaxed) == page {
                return Ok(PageWrite { frame: read.frame, page: read.page, guard });
            }
        }
    }

    /// Latches a page that will be completely rewritten, without reading it from disk.
    /// # Errors
    /// A stall if no frame is free or the page is being read.
    pub fn create(self: &Arc<Self>, page: PageId) -> Result<PageWrite<'_>> {
        loop {
            match self.word(page).load(Ordering::Acquire) {
                0 => {}
                LOADING => return Err(self.stall(page)),
                _ => return self.latch(page),
            }
            let Some(number) = self.take_frame() else { return Err(self.stall(0)) };
            if self.word(page).compare_exchange(0, LOADING, Ordering::AcqRel, Ordering::Acquire).is_err() {
                self.give_frame(number);
                continue;
            }
            let frame = self.frame(number);
            let guard = frame.latch.lock();
            let view = self.page_of(number);
            view.set_lsn(0);
            self.failed.lock().remove(&page);
            frame.flags.store(REFERENCED, Ordering::Relaxed);
            frame.page.store(page, Ordering::Relaxed);
            self.publish(page, number);
            return Ok(PageWrite { frame, page: view, guard });
        }
    }

    fn publish(&self, page: PageId, number: u32) {
        // Release: a thread that finds the frame finds it filled.
        self.word(page).store(number + 1, Ordering::Release);
        self.wake_page(page);
    }

    fn stall(self: &Arc<Self>, page: PageId) -> Interrupt {
        Interrupt::Stall(Stall::Page(PageStall { pool: self.clone(), page, object: Object::None }))
    }

    #[cold]
    fn miss(self: &Arc<Self>, page: PageId, flags: u32) -> Interrupt {
        {
            let mut failed = self.failed.lock();
            match failed.get(&page) {
                // The device may answer the next time; a damaged page stays damaged.
                Some(Error::Io(_)) => return Interrupt::Error(failed.remove(&page).expect("found above")),
                Some(e) => return Interrupt::Error(e.clone()),
                None => {}
            }
        }
        if page == 0 {
            return Interrupt::Error(Error::Corrupt { page, why: "page 0 is not a page of a tree".into() });
        }
        if self.word(page).compare_exchange(0, LOADING, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            self.reads.lock().push_back(Read { page, flags });
            self.reads_ready.notify_one();
        }
        self.stall(page)
    }

    fn wait_shard(&self, page: PageId) -> &WaitShard {
        &self.waits[page as usize % WAIT_SHARDS]
    }

    fn poll_wait(&self, page: PageId, cx: &mut Context<'_>) -> Poll<()> {
        if page == 0 {
            let mut waits = self.frame_waits.lock();
            if self.free_frames() > 0 {
                return Poll::Ready(());
            }
            waits.push(cx.waker().clone());
            drop(waits);
            self.counters.frame_waits.fetch_add(1, Ordering::Relaxed);
            self.ring_cleaner();
            return Poll::Pending;
        }
        let mut waits = self.wait_shard(page).lock();
        if self.word(page).load(Ordering::Acquire) != LOADING {
            return Poll::Ready(());
        }
        waits.entry(page).or_default().push(cx.waker().clone());
        Poll::Pending
    }

    fn wake_page(&self, page: PageId) {
        let wakers = self.wait_shard(page).lock().remove(&page);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    /// Frames that can be taken at once.
    fn free_frames(&self) -> usize {
        self.usable.free()
    }

    fn take_frame(&self) -> Option<u32> {
        let (number, left) = self.usable.take();
        if left < self.free_below() {
            self.ring_cleaner();
        }
        number
    }

    fn give_frame(&self, number: u32) {
        if self.usable.give(number) {
            self.wake_frame_waiters();
        }
    }

    fn wake_frame_waiters(&self) {
        let wakers = std::mem::take(&mut *self.frame_waits.lock());
        wakers.into_iter().for_each(Waker::wake);
    }

    fn ring_cleaner(&self) {
        let (rung, bell) = &self.cleaner_bell;
        let mut rung = rung.lock();
        if !*rung {
            *rung = true;
            bell.notify_one();
        }
    }

    /// Numbers of all frames that may hold a page.
    fn used_frames(&self) -> std::ops::Range<u32> {
        0..self.usable.used_end() as u32
    }

    /// The smallest recovery epoch of a changed page; `u64::MAX` when all are clean.
    ///
    /// A frame seen clean here becomes dirty later, and the change that dirties it is logged later still (B4), in an epoch not
    /// below the one current before this call. So the caller takes the epoch first, then this minimum.
    pub fn oldest_dirty_epoch(&self) -> u64 {
        self.used_frames()
            // B6
            .rev()
            .map(|n| self.frame(n))
            .filter(|f| f.flags.load(Ordering::SeqCst) & DIRTY != 0)
            .map(|f| f.recovery_epoch.load(Ordering::Relaxed))
            .min()
            .unwrap_or(u64::MAX)
    }

    /// Pages read, written and evicted so far.
    pub fn page_counts(&self) -> (u64, u64, u64) {
        let c = &self.counters;
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (load(&c.pages_read), load(&c.pages_written), load(&c.pages_evicted))
    }

    /// How often somebody waited for a free frame.
    pub fn frame_waits(&self) -> u64 {
        self.counters.frame_waits.load(Ordering::Relaxed)
    }

    /// Changed pages and all used frames, for status.
    pub fn usage(&self) -> (usize, usize) {
        let dirty = self.used_frames().filter(|n| self.frame(*n).flags.load(Ordering::Relaxed) & DIRTY != 0).count();
        (dirty, self.usable.in_use())
    }

    /// Starts the threads that read pages and the one that cleans; they end at `stop`.
    pub(crate) fn start(self: &Arc<Self>, cleaner: Cleaner) -> Vec<os::thread::JoinHandle<()>> {
        let mut threads = reader::start(self);
        threads.push(
            os::thread::Builder::new()
                .name("heddle-cleaner".into())
                .spawn(move || cleaner.run())
                .expect("threads can be started at start-up"),
        );
        threads
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        drop(self.reads.lock());
        self.reads_ready.notify_all();
        self.ring_cleaner();
    }

    /// Is the wal durable up to this page's LSN?
    fn log_covers(wal: &Wal, lsn: Lsn) -> bool {
        wal.durable_epoch() >= lsn >> crate::wal::EPOCH_SHIFT
    }
}
