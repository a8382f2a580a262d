//! A consistent copy of a data directory while its server works: the source of backups and clones, and what makes a directory of them.
//!
//! 1. [`Store::hot_copy`] notes the checkpoint, and holds the log from there on.
//! 2. [`HotCopy::next_pages`] reads the data file from its beginning to the end that it had then. Pages change meanwhile; a page that is
//!    caught half written fails its checksum and is read again.
//! 3. [`HotCopy::end_pages`] makes the log durable and fixes its end. [`HotLog::next_log`] reads the log from the checkpoint to that end, and
//!    [`HotLog::control`] is the control file of the copy.
//! 4. A [`Target`] writes all that into an empty directory, the control file last. The first start there redoes the log, as after a crash.
//!
//! H1: every page of the copy has at least the changes of all epochs below the noted redo epoch: they were on disk at step 1. What it
//! lacks of later ones is in the copied log, and what it has of them is in it, too: a page is written after its log is durable, and the
//! end of the log is fixed after the last page was read.
//! H2: changes of transactions that were open at step 1, or began later and did not commit, can be undone: the checkpoint stands before
//! their first change (see `Wal::pin_undo`), so the copied log has all of it.
//! H3: log is copied up to a place that a flush has reached, never a block in the making; behind it the copy has zeros.
//! H4: a page without a change since the redo epoch of an earlier copy is in that copy as it is now. So an incremental copy needs the
//! pages whose LSN is of that epoch or later, and the log of its own time only.
//! H5: a directory in the making has no control file and its data file has another name: no server takes it for a data directory.

use crate::buffer::doublewrite;
use crate::control::{Control, ControlState, SLOT_BYTES, encode, parse};
use crate::page::{PAGE_BYTES, PageId, check_envelope};
use crate::store::LOG_DIRECTORY;
use crate::wal::{EPOCH_SHIFT, LogHold, LogPlace, LogReader, SEGMENT_BYTES, Wal, cut, segment_path};
use crate::{Error, Store};
use os::{AlignedBuf, File, IO_ALIGN};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Pages read at a time.
const RUN_PAGES: usize = 64;
/// Bytes of log read at a time.
const LOG_RUN_BYTES: usize = 1 << 20;
/// A page that is being written is sound again at once; one that is not after so many tries is damaged.
const TRIES_MAX: u32 = 200;
const PAUSE: Duration = Duration::from_millis(5);
const PARTIAL: &str = "heddle.data.partial";

/// Pages of a store that goes on working.
pub struct HotCopy {
    store: Arc<Store>,
    state: ControlState,
    hold: LogHold,
    data: File,
    /// Pages below this are copied.
    pages: u32,
    next: PageId,
    /// Pages with changes of this epoch or later only.
    since: u64,
    buf: AlignedBuf,
}

/// The log that belongs to the copied pages.
pub struct HotLog {
    wal: Arc<Wal>,
    state: ControlState,
    hold: LogHold,
    dir: PathBuf,
    next: u64,
    end: LogPlace,
    buf: AlignedBuf,
    segment: Option<(u64, File)>,
}

/// Where a copy began, which the next incremental one needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Basis {
    /// The redo epoch of the checkpoint.
    pub epoch: u64,
}

impl Store {
    /// Begins a copy; with `since` of the pages that were changed since that copy began, and their log.
    ///
    /// # Errors
    /// I/O.
    pub fn hot_copy(self: &Arc<Self>, since: Option<Basis>) -> Result<HotCopy, Error> {
        let (state, hold) = self.hold_checkpoint();
        let data = File::open(&self.data_dir().join("heddle.data"), false)?;
        let pages = (data.bytes()? / PAGE_BYTES as u64) as u32;
        let (next, since) = (0, since.map_or(0, |basis| basis.epoch));
        Ok(HotCopy { store: self.clone(), state, hold, data, pages, next, since, buf: AlignedBuf::new(RUN_PAGES * PAGE_BYTES) })
    }
}

impl HotCopy {
    /// Pages that are looked at in all.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Pages that have been looked at.
    pub fn position(&self) -> u32 {
        self.next
    }

    pub fn basis(&self) -> Basis {
        Basis { epoch: self.state.redo_epoch }
    }

    /// Gives the next run of pages to `put`, each with its number, leaving out those that were never written or have not changed.
    /// `false`: there are no more.
    ///
    /// # Errors
    /// A damaged page; I/O; those of `put`.
    pub fn next_pages<E: From<Error>>(&mut self, mut put: impl FnMut(PageId, &[u8]) -> Result<(), E>) -> Result<bool, E> {
        if self.next >= self.pages {
            return Ok(false);
        }
        let count = (RUN_PAGES as u32).min(self.pages - self.next);
        let bytes = count as usize * PAGE_BYTES;
        let offset = u64::from(self.next) * PAGE_BYTES as u64;
        self.data.read_at(&mut self.buf[..bytes], offset).map_err(Error::from)?;
        for index in 0..count as usize {
            let (id, range) = (self.next + index as u32, index * PAGE_BYTES..(index + 1) * PAGE_BYTES);
            self.make_sound(id, range.clone())?;
            let page = &self.buf[range];
            if is_unused(page) || lsn_of(page) >> EPOCH_SHIFT < self.since {
                continue;
            }
            put(id, page)?;
        }
        self.next += count;
        Ok(true)
    }

    /// Reads the page again until it is not in the middle of being written.
    fn make_sound(&mut self, id: PageId, range: std::ops::Range<usize>) -> Result<(), Error> {
        for _ in 0..TRIES_MAX {
            if is_unused(&self.buf[range.clone()]) || check_envelope(&self.buf[range.clone()], id).is_ok() {
                return Ok(());
            }
            os::thread::sleep(PAUSE);
            self.data.read_at(&mut self.buf[range.clone()], u64::from(id) * PAGE_BYTES as u64)?;
        }
        match check_envelope(&self.buf[range], id) {
            Ok(()) => Ok(()),
            Err(why) => Err(Error::Corrupt { page: id, why: why.into() }),
        }
    }

    /// All pages were read: fixes the end of the log.
    pub fn end_pages(self) -> HotLog {
        let end = self.store.wal.flush_all();
        let mut state = self.state;
        state.next_tree_id = self.store.tree_id_limit();
        state.clean = false;
        state.log_end = end.position;
        state.log_segments = end.position.div_ceil(SEGMENT_BYTES);
        HotLog {
            wal: self.store.wal.clone(),
            next: state.place.position,
            state,
            hold: self.hold,
            dir: self.store.data_dir().join(LOG_DIRECTORY),
            end,
            buf: AlignedBuf::new(LOG_RUN_BYTES),
            segment: None,
        }
    }
}

impl HotLog {
    /// Bytes of log that belong to the copy.
    pub fn bytes(&self) -> u64 {
        self.end.position - self.state.place.position
    }

    /// Where the log of the copy ends.
    pub fn end(&self) -> LogPlace {
        self.end
    }

    /// The control file of the copy: one slot.
    pub fn control(&self) -> Vec<u8> {
        encode(&self.state)[..SLOT_BYTES].to_vec()
    }

    /// Moves the end of the log to what has been written by now; `true`: there is more to read.
    pub fn follow(&mut self) -> bool {
        self.end = self.wal.flush_all();
        self.next < self.end.position
    }

    /// The next piece of the log and its position; `None` at the end.
    ///
    /// # Errors
    /// I/O.
    pub fn next_log(&mut self) -> Result<Option<(u64, &[u8])>, Error> {
        if self.next >= self.end.position {
            return Ok(None);
        }
        let (at, number) = (self.next, self.next / SEGMENT_BYTES);
        if self.segment.as_ref().is_none_or(|(open, _)| *open != number) {
            self.segment = Some((number, File::open(&segment_path(&self.dir, number), false)?));
        }
        let left_in_segment = SEGMENT_BYTES - at % SEGMENT_BYTES;
        let bytes = (self.end.position - at).min(left_in_segment).min(LOG_RUN_BYTES as u64) as usize;
        debug_assert!(bytes.is_multiple_of(IO_ALIGN) && at.is_multiple_of(IO_ALIGN as u64), "blocks are whole sectors");
        let (_, file) = self.segment.as_ref().expect("opened above");
        file.read_at(&mut self.buf[..bytes], at % SEGMENT_BYTES)?;
        self.next = at + bytes as u64;
        self.hold.move_to(self.next);
        Ok(Some((at, &self.buf[..bytes])))
    }
}

fn is_unused(page: &[u8]) -> bool {
    page.iter().all(|byte| *byte == 0)
}

fn lsn_of(page: &[u8]) -> u64 {
    u64::from_le_bytes(page[16..24].try_into().expect("eight bytes"))
}

/// A data directory in the making.
pub struct Target {
    dir: PathBuf,
    data: File,
    segment: Option<(u64, File)>,
    buf: AlignedBuf,
}

/// Where to end the log of a restored directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// At its end.
    End,
    /// Before the first commits that became durable after this time, in microseconds since 1970.
    Time(u64),
}

/// What a finished directory holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Finished {
    /// Bytes of log that the first start will redo.
    pub log_bytes: u64,
    /// When the last of it was written, in microseconds since 1970; 0: not known.
    pub time_us: u64,
    /// More log was there, behind the time that was asked for.
    pub was_cut: bool,
}

impl Target {
    /// Begins in a directory that is empty or missing.
    ///
    /// # Errors
    /// A directory that is not empty; I/O.
    pub fn create(dir: &Path) -> Result<Self, Error> {
        os::fs::create_dir_all(dir)?;
        if let Some(name) = os::fs::list(dir)?.first() {
            let what = format!("{} is not empty (it has {}): give a new directory", dir.display(), name.to_string_lossy());
            return Err(Error::Directory(what.into()));
        }
        os::fs::create_dir_all(dir.join(LOG_DIRECTORY))?;
        let data = File::open(&dir.join(PARTIAL), true)?;
        Ok(Self { dir: dir.into(), data, segment: None, buf: AlignedBuf::new(LOG_RUN_BYTES) })
    }

    fn aligned(&mut self, bytes: &[u8]) -> &AlignedBuf {
        if self.buf.len() < bytes.len() {
            self.buf = AlignedBuf::new(bytes.len());
        }
        self.buf[..bytes.len()].copy_from_slice(bytes);
        &self.buf
    }

    /// Puts whole pages in their places, the first of them at `first`.
    ///
    /// # Errors
    /// Bytes that are not the pages that they should be; I/O.
    pub fn put_pages(&mut self, first: PageId, bytes: &[u8]) -> Result<(), Error> {
        if !bytes.len().is_multiple_of(PAGE_BYTES) {
            return Err(Error::Corrupt { page: first, why: "the copy has a part of a page".into() });
        }
        for (index, page) in bytes.chunks_exact(PAGE_BYTES).enumerate() {
            let id = first + index as u32;
            check_envelope(page, id).map_err(|why| Error::Corrupt { page: id, why: why.into() })?;
        }
        self.aligned(bytes);
        Ok(self.data.write_at(&self.buf[..bytes.len()], u64::from(first) * PAGE_BYTES as u64)?)
    }

    /// Puts a piece of the log at its position.
    ///
    /// # Errors
    /// A piece that is no whole number of sectors, or reaches over a segment's end; I/O.
    pub fn put_log(&mut self, position: u64, bytes: &[u8]) -> Result<(), Error> {
        let offset = position % SEGMENT_BYTES;
        let is_whole = bytes.len().is_multiple_of(IO_ALIGN) && position.is_multiple_of(IO_ALIGN as u64);
        if !is_whole || offset + bytes.len() as u64 > SEGMENT_BYTES {
            return Err(Error::Io(format!("the copy has a wrong piece of log at {position}").into()));
        }
        let number = position / SEGMENT_BYTES;
        if self.segment.as_ref().is_none_or(|(open, _)| *open != number) {
            if let Some((_, file)) = self.segment.take() {
                file.sync()?;
            }
            let path = segment_path(&self.dir.join(LOG_DIRECTORY), number);
            let is_new = !os::fs::exists(&path);
            let file = File::open(&path, true)?;
            if is_new {
                // Behind the end of the log are zeros, and a segment has its whole size.
                let zeros = AlignedBuf::new(LOG_RUN_BYTES.min(SEGMENT_BYTES as usize));
                for at in (0..SEGMENT_BYTES).step_by(zeros.len()) {
                    file.write_at(&zeros, at)?;
                }
            }
            self.segment = Some((number, file));
        }
        self.aligned(bytes);
        let (_, file) = self.segment.as_ref().expect("opened above");
        Ok(file.write_at(&self.buf[..bytes.len()], offset)?)
    }

    /// Makes the directory one that a server can start on. `control`: of [`HotLog::control`]; of an incremental copy, the last one's.
    ///
    /// # Errors
    /// A damaged control file or log; a time before the copy was complete; I/O.
    pub fn finish(mut self, control: &[u8], end: u64, until: Until) -> Result<Finished, Error> {
        let state = (control.len() == SLOT_BYTES).then(|| parse(control)).flatten();
        let Some(mut state) = state else { return Err(Error::Io("the copy's control file is damaged".into())) };
        if let Some((_, file)) = self.segment.take() {
            file.sync()?;
        }
        let log_dir = self.dir.join(LOG_DIRECTORY);
        os::sync_dir(&log_dir)?;
        // The pages have changes up to here.
        let complete = state.log_end;
        let mut reader = LogReader::new(&log_dir, state.place);
        let mut finished = Finished::default();
        let mut payload = Vec::new();
        let mut last = reader.end();
        while reader.next_epoch(&mut payload)?.is_some() {
            if let Until::Time(time) = until
                && reader.time_us() > time
            {
                if last.position < complete {
                    let what = "the time is before the end of the backup: restore an earlier backup, or a later time";
                    return Err(Error::Directory(what.into()));
                }
                finished.was_cut = true;
                break;
            }
            (last, finished.time_us) = (reader.end(), reader.time_us());
        }
        if !finished.was_cut && last.position < end {
            return Err(Error::Io(format!("the copy's log ends at {}, and should reach {end}", last.position).into()));
        }
        if finished.was_cut {
            cut(&log_dir, last)?;
        }
        finished.log_bytes = last.position - state.place.position;
        state.log_end = last.position;
        state.log_segments = last.position.div_ceil(SEGMENT_BYTES);
        self.data.sync()?;
        drop(doublewrite::open(&self.dir.join("heddle.doublewrite"))?);
        os::fs::rename(self.dir.join(PARTIAL), self.dir.join("heddle.data"))?;
        os::sync_dir(&self.dir)?;
        Control::create(&self.dir.join("heddle.control"), &state)?;
        Ok(finished)
    }
}
