//! Temporary files for rows that do not fit a statement's memory.
//!
//! ```text
//!   operator:   Tape::push ... -> block full -> Job::Write --+      +-- writes, reads and checks, closes
//!               TapeReader::next -> Job::Read ---------------+--> threads `heddle-spill-N`
//!               Pause::Spill(wait) <------ Ticket -----------+
//! ```
//! 1. A statement that spills for the first time gets its own unnamed file ([`Spill`]) in one folder of the data directory.
//!    The file disappears with the statement or the process. A cursor ([`crate::spill::kept`]) has one too, until it is closed.
//! 2. Operators write rows to tapes ([`crate::spill::tape::Tape`]), which are chains of blocks of that file.
//! 3. A worker never waits for the device: a few threads read and write blocks. They are started when the first statement spills.
//!
//! T1: the total size of all files has a limit, and a part of the disk stays free for the log and the data.
//! T2: a block is used only if its checksum and its number are right.
//! T3: the space of a block is reused only after the block has been read for the last time.

use expr::Error;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use sync::atomic::{AtomicU64, Ordering};
use sync::waits::{self, Cause, Kind};
use sync::{Condvar, Mutex};

/// Enough threads to write for one statement while another reads.
const THREADS: usize = 2;
/// The header of every block: checksum, length of the content, number, each a `u32`, little-endian.
pub(crate) const HEADER_BYTES: usize = 12;
const BLOCK_BYTES_MIN: usize = 4 << 10;
const BLOCK_BYTES_MAX: usize = 256 << 10;
/// A statement's memory is at least this number of blocks.
const BLOCKS_OF_MEMORY: usize = 256;
/// The default for the space that stays free on the disk.
const FREE_BYTES_MIN: u64 = 256 << 20;
/// The number of blocks between two checks of the free space.
const LOOKS: u64 = 64;

/// The temporary files of a server.
pub struct Temporary {
    pub(crate) service: Arc<Service>,
}

/// The result of [`Temporary::figures`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TemporaryFigures {
    /// Bytes in files now.
    pub bytes: u64,
    /// Bytes written since the start.
    pub spilled_bytes: u64,
    /// Files created since the start.
    pub files: u64,
    /// Merge passes of sorts.
    pub merge_passes: u64,
}

pub(crate) struct Service {
    directory: PathBuf,
    queue: Mutex<Queue>,
    changed: Condvar,
    bytes: AtomicU64,
    bytes_max: AtomicU64,
    free_bytes_min: AtomicU64,
    spilled_bytes: AtomicU64,
    files: AtomicU64,
    merge_passes: AtomicU64,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    threads: usize,
    stop: bool,
}

enum Job {
    Write {
        file: Arc<TemporaryFile>,
        offset: u64,
        number: u32,
        block: Vec<u8>,
        ticket: Arc<Ticket>,
    },
    Read {
        file: Arc<TemporaryFile>,
        offset: u64,
        number: u32,
        bytes: usize,
        ticket: Arc<Ticket>,
    },
    /// Closes a file on a thread: releasing the space of a large file takes time.
    Close(#[expect(dead_code, reason = "dropped by the thread")] Arc<TemporaryFile>),
}

struct TemporaryFile {
    service: Arc<Service>,
    /// Created by the first job.
    file: Mutex<Option<Arc<os::ScratchFile>>>,
    /// The space that the file takes, pending writes included.
    reserved: AtomicU64,
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        self.service.bytes.fetch_sub(self.reserved.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// The reason why a block was not written or read.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    DiskFull,
    Io(String),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            // A limit of the process counts as a full disk.
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded | std::io::ErrorKind::FileTooLarge => {
                Failure::DiskFull
            }
            _ => Failure::Io(error.to_string()),
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::DiskFull => Error::TemporaryDiskFull,
            Failure::Io(why) => Error::Storage(why),
        }
    }
}

impl Temporary {
    /// Temporary files in `directory`, which is created with the first file. Files of an earlier server are removed.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn new(directory: &Path, bytes_max: u64) -> std::io::Result<Self> {
        if os::fs::exists(directory) {
            for name in os::fs::list(directory)? {
                if name.to_string_lossy().starts_with("scratch") {
                    os::fs::remove_file(directory.join(name))?;
                }
            }
        }
        let service = Service {
            directory: directory.into(),
            queue: Mutex::new(Queue::default()),
            changed: Condvar::new(),
            bytes: AtomicU64::new(0),
            bytes_max: AtomicU64::new(bytes_max),
            free_bytes_min: AtomicU64::new(FREE_BYTES_MIN),
            spilled_bytes: AtomicU64::new(0),
            files: AtomicU64::new(0),
            merge_passes: AtomicU64::new(0),
        };
        Ok(Self { service: Arc::new(service) })
    }

    /// Sets the limit for the total size of all files.
    pub fn set_bytes_max(&self, bytes: u64) {
        // Relaxed: it only affects the following blocks.
        self.service.bytes_max.store(bytes, Ordering::Relaxed);
    }

    /// Sets the space that must stay free: a disk with less counts as full.
    pub fn set_free_bytes_min(&self, bytes: u64) {
        // Relaxed: as above.
        self.service.free_bytes_min.store(bytes, Ordering::Relaxed);
    }

    pub fn figures(&self) -> TemporaryFigures {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TemporaryFigures {
            bytes: read(&self.service.bytes),
            spilled_bytes: read(&self.service.spilled_bytes),
            files: read(&self.service.files),
            merge_passes: read(&self.service.merge_passes),
        }
    }

    /// A file for a statement with this much memory.
    pub(crate) fn open(&self, memory_bytes: usize) -> Rc<Spill> {
        self.service.open(memory_bytes)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        self.service.queue.lock().stop = true;
        self.service.changed.notify_all();
    }
}

impl Service {
    pub fn open(self: &Arc<Self>, memory_bytes: usize) -> Rc<Spill> {
        self.files.fetch_add(1, Ordering::Relaxed);
        let file = TemporaryFile { service: Arc::clone(self), file: Mutex::new(None), reserved: AtomicU64::new(0) };
        let block_bytes = (memory_bytes / BLOCKS_OF_MEMORY).clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX).next_power_of_two();
        Rc::new(Spill { file: Arc::new(file), block_bytes, blocks: Cell::new(0), free: RefCell::default() })
    }

    fn submit(self: &Arc<Self>, job: Job) {
        let mut queue = self.queue.lock();
        queue.jobs.push_back(job);
        if queue.threads < THREADS && queue.threads < queue.jobs.len() {
            let service = self.clone();
            let builder = os::thread::Builder::new().name(format!("heddle-spill-{}", queue.threads)).stack_size(256 << 10);
            // If no further thread starts, the existing threads do the work; without any, the statement fails.
            match builder.spawn(move || service.run()) {
                Ok(_) => queue.threads += 1,
                Err(error) if queue.threads == 0 => {
                    let failure = Failure::Io(error.to_string());
                    queue.jobs.drain(..).for_each(|job| job.fail(failure.clone()));
                }
                Err(_) => {}
            }
        }
        drop(queue);
        self.changed.notify_one();
    }

    fn run(&self) {
        loop {
            let job = {
                let mut queue = self.queue.lock();
                loop {
                    if let Some(job) = queue.jobs.pop_front() {
                        break job;
                    }
                    if queue.stop {
                        return;
                    }
                    self.changed.wait(&mut queue);
                }
            };
            self.serve(job);
        }
    }

    fn serve(&self, job: Job) {
        match job {
            Job::Write { file, offset, number, mut block, ticket } => {
                seal(&mut block, number);
                self.spilled_bytes.fetch_add(block.len() as u64, Ordering::Relaxed);
                let written = file.scratch().and_then(|scratch| scratch.write_at(&block, offset).map_err(Failure::from));
                ticket.finish(written.map(|()| Vec::new()));
            }
            Job::Read { file, offset, number, bytes, ticket } => {
                let mut block = vec![0; bytes];
                let read = file.scratch().and_then(|scratch| scratch.read_at(&mut block, offset).map_err(Failure::from));
                ticket.finish(read.and_then(|()| if is_sound(&block, number) { Ok(block) } else { Err(damaged(number)) }));
            }
            Job::Close(_) => {}
        }
    }
}

impl Job {
    fn fail(self, failure: Failure) {
        match self {
            Job::Write { ticket, .. } | Job::Read { ticket, .. } => ticket.finish(Err(failure)),
            Job::Close(_) => {}
        }
    }
}

fn damaged(number: u32) -> Failure {
    Failure::Io(format!("block {number} of a temporary file is damaged"))
}

fn checksum(block: &[u8]) -> u32 {
    crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32Iscsi, &block[4..]) as u32
}

fn seal(block: &mut [u8], number: u32) {
    let bytes = (block.len() - HEADER_BYTES) as u32;
    block[4..8].copy_from_slice(&bytes.to_le_bytes());
    block[8..12].copy_from_slice(&number.to_le_bytes());
    let sum = checksum(block);
    block[..4].copy_from_slice(&sum.to_le_bytes());
}

/// T2
fn is_sound(block: &[u8], number: u32) -> bool {
    let word = |at: usize| u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
    word(4) as usize == block.len() - HEADER_BYTES && word(8) == number && word(0) == checksum(block)
}

impl TemporaryFile {
    /// The file, which the first call creates.
    fn scratch(&self) -> Result<Arc<os::ScratchFile>, Failure> {
        let mut file = self.file.lock();
        if let Some(file) = &*file {
            return Ok(file.clone());
        }
        let directory = &self.service.directory;
        os::fs::create_dir_all(directory)?;
        let made = Arc::new(os::ScratchFile::new(directory)?);
        *file = Some(made.clone());
        Ok(made)
    }
}

/// The file of one statement. It belongs to the statement's thread.
pub(crate) struct Spill {
    file: Arc<TemporaryFile>,
    /// The size of a block with its header.
    pub block_bytes: usize,
    /// The number of places used so far.
    blocks: Cell<u64>,
    /// Places that can be reused (T3).
    free: RefCell<Vec<u64>>,
}

impl Drop for Spill {
    fn drop(&mut self) {
        if self.blocks.get() > 0 {
            self.file.service.submit(Job::Close(self.file.clone()));
        }
    }
}

impl Spill {
    /// A place for a block.
    pub fn place(&self) -> Result<u64, Error> {
        if let Some(place) = self.free.borrow_mut().pop() {
            return Ok(place);
        }
        let service = &self.file.service;
        let bytes = self.block_bytes as u64;
        // Relaxed: only the sum counts.
        let max = service.bytes_max.load(Ordering::Relaxed);
        if service.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > max {
            service.bytes.fetch_sub(bytes, Ordering::Relaxed);
            return Err(Error::TemporarySpaceFull { limit: max });
        }
        self.file.reserved.fetch_add(bytes, Ordering::Relaxed);
        let place = self.blocks.get();
        self.blocks.set(place + 1);
        // T1. Before the folder exists the free space is unknown, but little has been written.
        let least = || service.free_bytes_min.load(Ordering::Relaxed);
        if place % LOOKS == LOOKS - 1 && os::fs::free_bytes(&service.directory).is_ok_and(|free| free < least()) {
            return Err(Error::TemporaryDiskFull);
        }
        Ok(place)
    }

    /// T3: the block is not needed any more.
    pub fn free(&self, place: u64) {
        self.free.borrow_mut().push(place);
    }

    pub fn write(&self, place: u64, number: u32, block: Vec<u8>) -> Arc<Ticket> {
        let ticket = Arc::new(Ticket::default());
        let offset = place * self.block_bytes as u64;
        let job = Job::Write { file: self.file.clone(), offset, number, block, ticket: ticket.clone() };
        self.file.service.submit(job);
        ticket
    }

    pub fn read(&self, place: u64, number: u32, bytes: usize) -> Arc<Ticket> {
        let ticket = Arc::new(Ticket::default());
        let offset = place * self.block_bytes as u64;
        self.file.service.submit(Job::Read { file: self.file.clone(), offset, number, bytes, ticket: ticket.clone() });
        ticket
    }

    /// Counts a merge pass of a sort.
    pub fn count_merge_pass(&self) {
        self.file.service.merge_passes.fetch_add(1, Ordering::Relaxed);
    }
}

/// A pending read or write.
#[derive(Debug, Default)]
pub(crate) struct Ticket(Mutex<TicketState>);

#[derive(Debug, Default)]
enum TicketState {
    #[default]
    New,
    Awaited(Waker),
    Done(Result<Vec<u8>, Failure>),
    Taken,
}

impl Ticket {
    fn finish(&self, outcome: Result<Vec<u8>, Failure>) {
        let before = std::mem::replace(&mut *self.0.lock(), TicketState::Done(outcome));
        if let TicketState::Awaited(waker) = before {
            waker.wake();
        }
    }

    /// The result, once it is known.
    pub fn take(&self) -> Option<Result<Vec<u8>, Failure>> {
        let mut state = self.0.lock();
        match std::mem::replace(&mut *state, TicketState::Taken) {
            TicketState::Done(outcome) => Some(outcome),
            other => {
                *state = other;
                None
            }
        }
    }
}

/// Waits for a block.
#[derive(Debug)]
pub(crate) struct SpillWait(pub Arc<Ticket>);

impl Future for SpillWait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.0.lock();
        match &*state {
            TicketState::Done(_) | TicketState::Taken => Poll::Ready(()),
            TicketState::New | TicketState::Awaited(_) => {
                *state = TicketState::Awaited(cx.waker().clone());
                waits::pending(Cause::of(Kind::TemporaryFile));
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_a_broken_one() {
        let told = |kind: std::io::ErrorKind| Error::from(Failure::from(std::io::Error::from(kind)));
        assert_eq!(told(std::io::ErrorKind::StorageFull), Error::TemporaryDiskFull);
        assert_eq!(told(std::io::ErrorKind::QuotaExceeded), Error::TemporaryDiskFull);
        assert_eq!(told(std::io::ErrorKind::FileTooLarge), Error::TemporaryDiskFull);
        assert!(matches!(told(std::io::ErrorKind::Other), Error::Storage(_)));
    }
}
