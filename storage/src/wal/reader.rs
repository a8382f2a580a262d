//! Reading the log: whole epochs, block by block, from a place on.

use super::files::{HEADER_BYTES, LogPlace, MAGIC, PAYLOAD_BYTES_MAX, SEGMENT_BYTES, block_crc, segment_path};
use super::recent::Recent;
use crate::Error;
use os::{AlignedBuf, File, IO_ALIGN};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Read at once.
const WINDOW_BYTES: usize = if cfg!(sim) { 64 << 10 } else { 1 << 20 };

/// The head of a block, as it stands in the file; nothing of it is believed before the checksum was compared.
pub(super) struct Header {
    pub sequence: u64,
    pub epoch: u64,
    pub run: u32,
    payload: usize,
    pub part: u32,
    last: bool,
    crc: u32,
    /// The writer did not sync: that a later block is there says nothing about earlier ones.
    pub unsynced: bool,
    /// When it was written, in microseconds since 1970; 0: not known.
    time_us: u64,
}

impl Header {
    fn parse(head: &[u8]) -> Option<Self> {
        let u64_at = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
        let u32_at = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
        let payload = u32_at(28) as usize;
        (u64_at(0) == MAGIC && payload <= PAYLOAD_BYTES_MAX).then(|| Self {
            sequence: u64_at(8),
            epoch: u64_at(16),
            run: u32_at(24),
            payload,
            part: u32_at(32),
            last: u32_at(36) != 0,
            crc: u32_at(40),
            unsynced: u32_at(44) != 0,
            time_us: u64_at(48),
        })
    }

    /// Bytes of the block in the file.
    pub fn bytes(&self) -> usize {
        (HEADER_BYTES + self.payload).next_multiple_of(IO_ALIGN)
    }
}

/// The reading end: whole epochs from `start` to the last complete one.
pub struct LogReader {
    dir: PathBuf,
    next: LogPlace,
    /// Where the next epoch begins; the log continues here when no further complete epoch follows.
    end: LogPlace,
    run: u32,
    /// The last complete epoch that was read; 0: none.
    epoch: u64,
    /// When the last block that was read was written; 0: not known.
    time_us: u64,
    segment: Option<(u64, File)>,
    /// Part of the open segment, from `window_at` on: blocks are small and devices slow.
    window: AlignedBuf,
    window_at: u64,
    window_bytes: usize,
    /// Epochs are sought from the last to the first: what lies before a place is read along with it.
    backwards: bool,
    /// Of a log that is being written: what lies from here on is not read, and not kept in the window.
    limit: u64,
    bytes_read: u64,
    /// Of a log that is being written: its end in memory.
    recent: Option<Arc<Recent>>,
    /// How often a file was read.
    file_reads: u64,
}

impl LogReader {
    pub fn new(dir: &Path, start: LogPlace) -> Self {
        Self {
            dir: dir.into(),
            next: start,
            end: start,
            run: 0,
            epoch: 0,
            time_us: 0,
            segment: None,
            window: AlignedBuf::new(WINDOW_BYTES),
            window_at: 0,
            window_bytes: 0,
            backwards: false,
            limit: u64::MAX,
            bytes_read: 0,
            recent: None,
            file_reads: 0,
        }
    }

    /// Goes to an earlier epoch's place.
    pub fn seek_back(&mut self, place: LogPlace) {
        self.seek(place);
        self.backwards = true;
    }

    pub(super) fn seek(&mut self, place: LogPlace) {
        (self.next, self.end, self.run, self.epoch) = (place, place, 0, 0);
    }

    /// The log has been written up to `position`, the end of a block.
    pub(super) fn set_limit(&mut self, position: u64) {
        self.limit = position;
    }

    /// Takes from memory what is there.
    pub(super) fn set_recent(&mut self, recent: Arc<Recent>) {
        self.recent = Some(recent);
    }

    /// How often a file was read.
    pub fn file_reads(&self) -> u64 {
        self.file_reads
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where writing continues.
    pub fn end(&self) -> LogPlace {
        self.end
    }

    /// The run and the number of the last complete epoch; zeros: none was read.
    pub(super) fn last(&self) -> (u32, u64) {
        (self.run, self.epoch)
    }

    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// When the last epoch that was read was written, in microseconds since 1970; 0: not known.
    pub fn time_us(&self) -> u64 {
        self.time_us
    }

    /// The next complete epoch's number and payload; `None` at the end of the log.
    ///
    /// # Errors
    /// I/O.
    pub fn next_epoch(&mut self, payload: &mut Vec<u8>) -> Result<Option<u64>, Error> {
        payload.clear();
        let mut parts = 0;
        let mut epoch = None;
        while let Some(block) = self.read_block()? {
            if block.epoch <= self.epoch || epoch.is_some_and(|e| e != block.epoch) || block.part != parts {
                break;
            }
            payload.extend_from_slice(&self.window[block.payload]);
            epoch = Some(block.epoch);
            parts += 1;
            if block.last {
                self.end = self.next;
                self.epoch = block.epoch;
                return Ok(epoch);
            }
        }
        // The next call begins with the same epoch, and comes to the same end.
        self.next = self.end;
        Ok(None)
    }

    /// Opens the segment of the next block. `false`: there is none.
    fn open_segment(&mut self) -> Result<bool, Error> {
        let number = self.next.position / SEGMENT_BYTES;
        if self.segment.as_ref().is_none_or(|(open, _)| *open != number) {
            let path = segment_path(&self.dir, number);
            if !os::fs::exists(&path) {
                return Ok(false);
            }
            self.segment = Some((number, File::open_to_read(&path)?));
            self.window_bytes = 0;
        }
        Ok(true)
    }

    /// Brings `bytes` of the open segment from `offset` on into the window; they lie there from the place returned on.
    fn bring(&mut self, offset: u64, bytes: usize) -> Result<usize, Error> {
        let is_there = |from: u64, len: usize| offset >= from && offset + bytes as u64 <= from + len as u64;
        if !is_there(self.window_at, self.window_bytes) {
            let from = if self.backwards { offset.saturating_sub(WINDOW_BYTES as u64 / 4 * 3) } else { offset };
            let begin = self.next.position - offset;
            let end = SEGMENT_BYTES.min(self.limit.saturating_sub(begin)).max(offset + bytes as u64);
            let wanted = ((offset - from) as usize + bytes).max(WINDOW_BYTES).min((end - from) as usize);
            if self.window.len() < wanted {
                self.window = AlignedBuf::new(wanted);
            }
            // Nothing is in the window should this fail.
            self.window_bytes = 0;
            let is_recent = self.recent.as_ref().is_some_and(|recent| recent.read(begin + from, &mut self.window[..wanted]));
            if is_recent {
                (self.window_at, self.window_bytes) = (from, wanted);
                return Ok((offset - from) as usize);
            }
            self.file_reads += 1;
            let (_, file) = self.segment.as_ref().ok_or_else(|| Error::Io("no log segment is open".into()))?;
            file.read_at(&mut self.window[..wanted], from)?;
            (self.window_at, self.window_bytes) = (from, wanted);
        }
        Ok((offset - self.window_at) as usize)
    }

    /// The head of what begins at the next place, if that can be a block.
    pub(super) fn header(&mut self) -> Result<Option<Header>, Error> {
        if !self.open_segment()? {
            return Ok(None);
        }
        let offset = self.next.position % SEGMENT_BYTES;
        let at = self.bring(offset, IO_ALIGN)?;
        let header = Header::parse(&self.window[at..at + IO_ALIGN]);
        Ok(header.filter(|header| offset + header.bytes() as u64 <= SEGMENT_BYTES))
    }

    /// Where the payload of the block at the next place lies in the window; `None`: the checksum is wrong.
    pub(super) fn payload(&mut self, header: &Header) -> Result<Option<Range<usize>>, Error> {
        let at = self.bring(self.next.position % SEGMENT_BYTES, header.bytes())?;
        let end = at + HEADER_BYTES + header.payload;
        Ok((block_crc(&self.window[at..end]) == header.crc).then_some(at + HEADER_BYTES..end))
    }

    fn read_block(&mut self) -> Result<Option<Block>, Error> {
        let Some(header) = self.header()? else { return Ok(None) };
        if header.sequence != self.next.sequence || header.run < self.run {
            return Ok(None);
        }
        let Some(payload) = self.payload(&header)? else { return Ok(None) };
        let Header { epoch, run, part, last, time_us, .. } = header;
        self.time_us = time_us;
        let bytes = header.bytes() as u64;
        self.run = run;
        self.bytes_read += bytes;
        self.next = LogPlace { position: self.next.position + bytes, sequence: self.next.sequence + 1 };
        Ok(Some(Block { payload, epoch, part, last }))
    }
}

/// A sound block; its payload lies in the reader's window until the next one is read.
struct Block {
    payload: Range<usize>,
    epoch: u64,
    part: u32,
    last: bool,
}
