//! The log on disk: segments of fixed size, filled with blocks.
//!
//! ```text
//! log/0000000000000003.log   bytes [3 * SEGMENT, 4 * SEGMENT) of the log
//! block = header (64 bytes) | payload | zeros to a multiple of 4096
//! header: magic u64 | sequence u64 | epoch u64 | run u32 | payload bytes u32 | part u32 | last u32 | crc u32 | unsynced u32 |
//!         time u64 (microseconds since 1970, UTC; 0 in logs of earlier versions) | zeros
//! ```
//! F1: block sequence numbers are consecutive; a block lies within one segment. F2: an epoch is one block, or several parts of which
//! the last says so; an epoch without its last part did not happen. F3: `run` grows with each start, so a stale block that happens
//! to have the wanted number is recognised. F4: segments are written full of zeros, or recycled, before they are used: a flush
//! never changes the file's size or extents. F5: while spare segments cannot be made (`is_full`), nothing new is begun: what is under way ends in
//! the spare segments that are there. What frees space may be begun until few of them are left (`is_exhausted`). One more is the *reserve*, a file that
//! only recovery makes a segment of: with it a server starts whose disk was full when it was killed. F6: an epoch is written only when all earlier ones are durable, unless its blocks say `unsynced`. So a sound
//! block of a later epoch proves that what stood before it has been damaged since (`damage.rs`).

use super::recent::Recent;
use crate::Error;
use crate::crc::crc32c_of_parts;
use os::{AlignedBuf, File, IO_ALIGN};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use sync::Mutex;
use sync::atomic::{AtomicBool, Ordering};

/// (The simulator's are small, so that runs of seconds use many.)
pub const SEGMENT_BYTES: u64 = if cfg!(any(sim, miri)) { 512 << 10 } else { 16 << 20 };
pub(super) const HEADER_BYTES: usize = 64;
pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"HEDLOG01");
/// Payload of one block at the most.
pub(super) const PAYLOAD_BYTES_MAX: usize = 4 << 20;
/// Segments kept ready ahead of the one being written.
const SPARE_SEGMENTS: u64 = 3;

/// Fewer of them than this are for what ends transactions.
const SPARE_SEGMENTS_TO_END: u64 = 2;

/// Segments kept to be used again.
const RECYCLABLE_MAX: usize = 8;

/// A segment in the making.
const FRESH: &str = "fresh.tmp";
/// F5
const RESERVE: &str = "reserve";

/// A place in the log: byte position and number of the block there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LogPlace {
    pub position: u64,
    pub sequence: u64,
}

/// The writing end. One thread has it at a time.
pub struct LogWriter {
    dir: PathBuf,
    segment: Option<(u64, File)>,
    place: LogPlace,
    run: u32,
    sync: bool,
    buf: AlignedBuf,
    pool: std::sync::Arc<SegmentPool>,
    recent: std::sync::Arc<Recent>,
}

/// Segments made ahead of need and segments to be used again. Shared with the thread that prepares them.
pub struct SegmentPool {
    dir: PathBuf,
    state: Mutex<PoolState>,
    /// F5
    full: AtomicBool,
    exhausted: AtomicBool,
    recovering: AtomicBool,
    #[cfg(test)]
    pub out_of_space: AtomicBool,
}

#[derive(Default)]
struct PoolState {
    /// Segment numbers below this have been made.
    prepared_below: u64,
    /// Those of them that may hold log that is needed, ascending.
    kept: VecDeque<u64>,
    recyclable: Vec<u64>,
    has_reserve: bool,
}

pub(crate) fn segment_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:016x}.log"))
}

impl SegmentPool {
    /// `prepared_below`: the log ends in this segment.
    fn new(dir: &Path, prepared_below: u64) -> Result<Self, Error> {
        let mut kept: Vec<u64> = os::fs::list(dir)?.iter().filter_map(|name| segment_number(name)).collect();
        // Those from there on are met by `prepare`.
        kept.retain(|number| *number < prepared_below);
        kept.sort_unstable();
        Ok(Self {
            dir: dir.into(),
            state: Mutex::new(PoolState {
                prepared_below,
                kept: kept.into(),
                recyclable: Vec::new(),
                has_reserve: os::fs::exists(&dir.join(RESERVE)),
            }),
            full: AtomicBool::new(false),
            exhausted: AtomicBool::new(false),
            recovering: AtomicBool::new(true),
            #[cfg(test)]
            out_of_space: AtomicBool::new(false),
        })
    }

    /// Makes the segments that writing at `position` will need soon, and the reserve. Called off the commit path.
    ///
    /// # Errors
    /// A full disk; I/O.
    pub fn prepare(&self, position: u64) -> Result<(), Error> {
        let mut state = self.state.lock();
        let made = self.make_spares(&mut state, position).and_then(|()| self.make_reserve(&mut state));
        self.note_room(&state, position, made)
    }

    /// As `prepare`, without the reserve, which takes its time.
    fn prepare_spares(&self, position: u64) -> Result<(), Error> {
        let mut state = self.state.lock();
        let made = self.make_spares(&mut state, position);
        if made.is_ok() && self.is_full() {
            return Ok(());
        }
        self.note_room(&state, position, made)
    }

    fn note_room(&self, state: &PoolState, position: u64, made: Result<(), Error>) -> Result<(), Error> {
        let is_full = matches!(made, Err(Error::Full(_)));
        if is_full || made.is_ok() {
            let left = state.prepared_below.saturating_sub(position / SEGMENT_BYTES + 1);
            self.exhausted.store(is_full && left < SPARE_SEGMENTS_TO_END, Ordering::Relaxed);
            self.full.store(is_full, Ordering::Relaxed);
        }
        made
    }

    fn make_spares(&self, state: &mut PoolState, position: u64) -> Result<(), Error> {
        let wanted = position / SEGMENT_BYTES + 1 + SPARE_SEGMENTS;
        while state.prepared_below < wanted {
            let number = state.prepared_below;
            let path = segment_path(&self.dir, number);
            // A spare one of an earlier run is taken as it is.
            if !os::fs::exists(&path) {
                match state.recyclable.pop() {
                    Some(old) => self.give_name(&segment_path(&self.dir, old), &path)?,
                    None => match self.fill(&path) {
                        Err(Error::Full(_)) if state.has_reserve && self.recovering.load(Ordering::SeqCst) => {
                            self.give_name(&self.dir.join(RESERVE), &path)?;
                            state.has_reserve = false;
                        }
                        made => made?,
                    },
                }
            }
            state.kept.push_back(number);
            state.prepared_below = number + 1;
        }
        Ok(())
    }

    fn make_reserve(&self, state: &mut PoolState) -> Result<(), Error> {
        if state.has_reserve || self.recovering.load(Ordering::SeqCst) {
            return Ok(());
        }
        let path = self.dir.join(RESERVE);
        match (self.fill(&path), state.recyclable.pop()) {
            (Err(Error::Full(_)), Some(old)) => self.give_name(&segment_path(&self.dir, old), &path)?,
            (made, old) => {
                state.recyclable.extend(old);
                made?;
            }
        }
        state.has_reserve = true;
        Ok(())
    }

    fn give_name(&self, from: &Path, to: &Path) -> Result<(), Error> {
        os::fs::rename(from, to)?;
        Ok(os::sync_dir(&self.dir)?)
    }

    /// From now on the reserve is for the next recovery.
    pub fn recovery_finished(&self) {
        self.recovering.store(false, Ordering::SeqCst);
    }

    /// The disk has no room for another spare segment.
    pub fn is_full(&self) -> bool {
        // Relaxed: the spare segments are the margin.
        self.full.load(Ordering::Relaxed)
    }

    /// Only what ends transactions has room still.
    pub fn is_exhausted(&self) -> bool {
        // Relaxed: as above.
        self.exhausted.load(Ordering::Relaxed)
    }

    fn fill(&self, path: &Path) -> Result<(), Error> {
        #[cfg(test)]
        if self.out_of_space.load(Ordering::Relaxed) {
            return Err(Error::Full("no space left on device".into()));
        }
        let made = fill_segment(&self.dir, path);
        if made.is_err() {
            // Half a segment would only take more of the room.
            let _ = os::fs::remove_file(self.dir.join(FRESH));
        }
        made
    }

    /// Is the segment there, if not the spare ones after it?
    fn has(&self, number: u64) -> bool {
        number < self.prepared_below()
    }

    /// All segments below this number, from the one of the checkpoint on, have been made, and their names are durable.
    pub fn prepared_below(&self) -> u64 {
        self.state.lock().prepared_below
    }

    /// Segments that end at or before `position` may be used again (or deleted, when there are many).
    pub fn recycle_before(&self, position: u64) -> Result<(), Error> {
        let spare;
        {
            // No call of the system: whoever writes the log may be waiting for this.
            let mut state = self.state.lock();
            let needed = state.kept.partition_point(|number| *number < position / SEGMENT_BYTES);
            let mut free: Vec<u64> = state.kept.drain(..needed).collect();
            spare = free.split_off(free.len().min(RECYCLABLE_MAX - state.recyclable.len()));
            state.recyclable.append(&mut free);
        }
        spare.into_iter().try_for_each(|number| Ok(os::fs::remove_file(segment_path(&self.dir, number))?))
    }
}

pub(super) fn segment_number(name: &std::ffi::OsStr) -> Option<u64> {
    u64::from_str_radix(name.to_str()?.strip_suffix(".log")?, 16).ok()
}

fn fill_segment(dir: &Path, path: &Path) -> Result<(), Error> {
    let fresh = dir.join(FRESH);
    let file = File::open(&fresh, true)?;
    let zeros = AlignedBuf::new((1 << 20).min(SEGMENT_BYTES as usize));
    for at in (0..SEGMENT_BYTES).step_by(zeros.len()) {
        file.write_at(&zeros, at)?;
    }
    file.sync()?;
    os::fs::rename(&fresh, path)?;
    os::sync_dir(dir)?;
    Ok(())
}

impl LogWriter {
    /// Continues the log at `place`; the log that is needed begins at position `begin`.
    pub fn open(dir: &Path, begin: u64, place: LogPlace, run: u32, sync: bool) -> Result<Self, Error> {
        os::fs::create_dir_all(dir)?;
        let first = place.position / SEGMENT_BYTES;
        let pool = SegmentPool::new(dir, first)?;
        // Segments beyond the end hold nothing valid; those that exist are taken as they are.
        match pool.prepare_spares(place.position) {
            Err(Error::Full(_)) if pool.has(first) => {}
            made => made?,
        }
        if sync {
            Self::make_durable(dir, begin, place.position)?;
        }
        let pool = std::sync::Arc::new(pool);
        Ok(Self {
            dir: dir.into(),
            segment: None,
            place,
            run,
            sync,
            buf: AlignedBuf::new(64 << 10),
            pool,
            recent: Default::default(),
        })
    }

    /// What was read of the log may have been written by a process that was killed before it could sync, or that did not sync at all. It counts
    /// from now on, so it must last: the blocks, and the names of all segments.
    fn make_durable(dir: &Path, begin: u64, end: u64) -> Result<(), Error> {
        for number in begin / SEGMENT_BYTES..end.div_ceil(SEGMENT_BYTES) {
            let path = segment_path(dir, number);
            if os::fs::exists(&path) {
                File::open(&path, false)?.sync()?;
            }
        }
        Ok(os::sync_dir(dir)?)
    }

    /// The end of the log in memory.
    pub fn recent(&self) -> std::sync::Arc<Recent> {
        self.recent.clone()
    }

    pub fn pool(&self) -> std::sync::Arc<SegmentPool> {
        self.pool.clone()
    }

    pub fn place(&self) -> LogPlace {
        self.place
    }

    /// Writes one epoch and makes it durable.
    pub fn write_epoch(&mut self, epoch: u64, payload: &[u8]) -> Result<(), Error> {
        let mut rest = payload;
        let mut part = 0u32;
        loop {
            let room = (SEGMENT_BYTES - self.place.position % SEGMENT_BYTES) as usize - HEADER_BYTES;
            let now = rest.len().min(room).min(PAYLOAD_BYTES_MAX);
            let (chunk, later) = rest.split_at(now);
            rest = later;
            self.write_block(epoch, chunk, part, rest.is_empty())?;
            part += 1;
            if rest.is_empty() {
                break;
            }
        }
        if self.sync && !os::mutated("skip-log-sync") {
            self.segment()?.sync()?;
        }
        Ok(())
    }

    fn write_block(&mut self, epoch: u64, payload: &[u8], part: u32, last: bool) -> Result<(), Error> {
        let bytes = (HEADER_BYTES + payload.len()).next_multiple_of(IO_ALIGN);
        if self.buf.len() < bytes {
            self.buf = AlignedBuf::new(bytes.next_power_of_two());
        }
        let buf = &mut self.buf[..bytes];
        buf[..8].copy_from_slice(&MAGIC.to_le_bytes());
        buf[8..16].copy_from_slice(&self.place.sequence.to_le_bytes());
        buf[16..24].copy_from_slice(&epoch.to_le_bytes());
        buf[24..28].copy_from_slice(&self.run.to_le_bytes());
        buf[28..32].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        buf[32..36].copy_from_slice(&part.to_le_bytes());
        buf[36..40].copy_from_slice(&u32::from(last).to_le_bytes());
        buf[40..HEADER_BYTES].fill(0);
        buf[44..48].copy_from_slice(&u32::from(!self.sync).to_le_bytes());
        buf[48..56].copy_from_slice(&(os::time::since_epoch().as_micros() as u64).to_le_bytes());
        buf[HEADER_BYTES..HEADER_BYTES + payload.len()].copy_from_slice(payload);
        buf[HEADER_BYTES + payload.len()..].fill(0);
        let crc = block_crc(&buf[..HEADER_BYTES + payload.len()]);
        buf[40..44].copy_from_slice(&crc.to_le_bytes());
        let offset = self.place.position % SEGMENT_BYTES;
        self.open_segment()?;
        let (_, file) = self.segment.as_ref().expect("opened above");
        file.write_at(&self.buf[..bytes], offset)?;
        self.recent.note(self.place.position, &self.buf[..bytes]);
        self.place = LogPlace { position: self.place.position + bytes as u64, sequence: self.place.sequence + 1 };
        if self.place.position.is_multiple_of(SEGMENT_BYTES) && self.sync {
            self.segment()?.sync()?;
        }
        Ok(())
    }

    fn segment(&self) -> Result<&File, Error> {
        self.segment.as_ref().map(|(_, file)| file).ok_or_else(|| Error::Io("no log segment is open".into()))
    }

    fn open_segment(&mut self) -> Result<(), Error> {
        let number = self.place.position / SEGMENT_BYTES;
        if self.segment.as_ref().is_none_or(|(open, _)| *open != number) {
            match self.pool.prepare_spares(self.place.position) {
                Err(Error::Full(_)) if self.pool.has(number) => {}
                made => made?,
            }
            self.segment = Some((number, File::open(&segment_path(&self.dir, number), false)?));
        }
        Ok(())
    }
}

/// CRC-32C of header (with a zero crc field) and payload.
pub(super) fn block_crc(block: &[u8]) -> u32 {
    crc32c_of_parts(&[&block[..40], &[0; 4], &block[44..]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wal::LogReader;

    #[test]
    #[cfg_attr(miri, ignore = "a block is as large as a segment there")]
    fn a_full_disk_leaves_the_spare_segments() {
        let dir = std::env::temp_dir().join(format!("heddle-log-full-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        let mut writer = LogWriter::open(&dir, 0, LogPlace::default(), 1, false).expect("opens");
        let pool = writer.pool();
        pool.recovery_finished();
        pool.prepare(0).expect("room for the reserve");
        pool.out_of_space.store(true, Ordering::Relaxed);
        let payload = vec![7; PAYLOAD_BYTES_MAX];
        let mut epoch = 0;
        let mut write = |writer: &mut LogWriter| {
            epoch += 1;
            writer.write_epoch(epoch, &payload)
        };
        let segment_of = |writer: &LogWriter| writer.place().position / SEGMENT_BYTES;
        while segment_of(&writer) == 0 {
            assert!(!pool.is_full(), "the spare segments were made at the start");
            write(&mut writer).expect("room in the first segment");
        }
        let place = writer.place();
        // Into the second segment: one more spare one is wanted, and there is no room for it.
        write(&mut writer).expect("a spare segment");
        assert!(pool.is_full());
        // What lies before the checkpoint is used again.
        pool.recycle_before(SEGMENT_BYTES).expect("recycles");
        pool.prepare(writer.place().position).expect("recycled");
        assert!(!pool.is_full());
        // To the very end of what there is, and no further.
        while segment_of(&writer) <= SPARE_SEGMENTS + 1 && write(&mut writer).is_ok() {}
        assert!(pool.is_full());
        assert!(matches!(write(&mut writer), Err(Error::Full(_))));
        let mut reader = LogReader::new(&dir, place);
        let mut read = Vec::new();
        assert!(reader.next_epoch(&mut read).expect("reads").is_some_and(|epoch| epoch > 1));
        // The next start has one segment more: the reserve.
        let place = writer.place();
        let pool = SegmentPool::new(&dir, place.position / SEGMENT_BYTES).expect("opens");
        pool.out_of_space.store(true, Ordering::Relaxed);
        assert!(matches!(pool.prepare_spares(place.position), Err(Error::Full(_))));
        assert_eq!((pool.prepared_below(), pool.is_exhausted()), (SPARE_SEGMENTS + 3, true));
        assert!(!dir.join(RESERVE).exists());
        // And makes a new one as soon as it can.
        pool.recovery_finished();
        pool.out_of_space.store(false, Ordering::Relaxed);
        pool.prepare(place.position).expect("room again");
        assert!(dir.join(RESERVE).exists() && !pool.is_full() && !pool.is_exhausted());
        std::fs::remove_dir_all(&dir).expect("removes");
    }

    /// Those of an earlier run too; beyond the few that are kept they are deleted.
    #[test]
    fn what_lies_before_the_checkpoint_is_used_again_or_deleted() {
        let dir = std::env::temp_dir().join(format!("heddle-log-recycle-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).expect("makes");
        (3..24).for_each(|number| std::fs::write(segment_path(&dir, number), []).expect("writes"));
        std::fs::write(dir.join("notes.txt"), []).expect("writes");
        let there = || {
            let mut numbers: Vec<u64> = os::fs::list(&dir).expect("lists").iter().filter_map(|n| segment_number(n)).collect();
            numbers.sort_unstable();
            numbers
        };
        let pool = SegmentPool::new(&dir, 20).expect("opens");
        pool.recycle_before(5 * SEGMENT_BYTES + 1).expect("recycles");
        assert_eq!(there(), (3..24).collect::<Vec<_>>(), "3 and 4 wait to be used again");
        pool.recycle_before(19 * SEGMENT_BYTES).expect("recycles");
        assert_eq!(there(), [3, 4, 5, 6, 7, 8, 9, 10, 19, 20, 21, 22, 23]);
        pool.recycle_before(19 * SEGMENT_BYTES).expect("nothing more");
        // The next ones are old ones under a new name, and none is used twice.
        pool.prepare(22 * SEGMENT_BYTES).expect("prepares");
        assert_eq!(there().len(), 13);
        assert!(there().ends_with(&[19, 20, 21, 22, 23, 24, 25]));
        pool.recycle_before(24 * SEGMENT_BYTES).expect("recycles");
        pool.prepare(24 * SEGMENT_BYTES).expect("prepares");
        assert!(there().ends_with(&[24, 25, 26, 27]));
        std::fs::remove_dir_all(&dir).expect("removes");
    }
}
