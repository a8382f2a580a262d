//! The curves of the last hour and the last week, in a file of fixed size.
//!
//! ```text
//! head    8 bytes  MAGIC     4 bytes  FORMAT     4 bytes  curves
//! hour    HOUR.slots records, one every HOUR.seconds
//! week    WEEK.slots records, one every WEEK.seconds
//! record  8 bytes  seconds of the epoch     4 bytes a curve, f32     4 bytes  CRC-32C of the rest
//! ```
//! Numbers are little-endian. A record's slot is its time divided by the step, modulo the slots: it replaces the one of an hour or a
//! week before.
//!
//! H1: a record that is torn, of another time than its slot's, or older than its ring is as good as none.
//! H2: a file of another format is begun anew, and a file that cannot be written is told once; the curves then live in memory only.
//! H3: nobody waits for the disk: nothing is flushed. After a crash of the machine the last minutes may be missing.

use crate::series::{COUNT, Point};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const MAGIC: [u8; 8] = *b"HDLCURVE";
const FORMAT: u32 = 1;
const HEAD_BYTES: usize = 16;
const RECORD_BYTES: usize = 8 + 4 * COUNT + 4;

/// One ring of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    Hour,
    Week,
}

impl Span {
    pub const ALL: [Span; 2] = [Span::Hour, Span::Week];

    /// Seconds from one record to the next.
    pub const fn step(self) -> u64 {
        match self {
            Span::Hour => 5,
            Span::Week => 300,
        }
    }

    const fn slots(self) -> usize {
        match self {
            Span::Hour => 720,
            Span::Week => 2016,
        }
    }

    const fn offset(self) -> usize {
        match self {
            Span::Hour => HEAD_BYTES,
            Span::Week => HEAD_BYTES + Span::Hour.slots() * RECORD_BYTES,
        }
    }
}

/// The size of the file.
pub const FILE_BYTES: usize = Span::Week.offset() + Span::Week.slots() * RECORD_BYTES;

/// Both rings in memory, and their file.
pub struct History {
    hour: Vec<Option<(u64, Point)>>,
    week: Vec<Option<(u64, Point)>>,
    file: Option<File>,
}

impl History {
    /// Reads the file, or begins it. H2
    pub fn open(path: &Path) -> Self {
        let mut history = Self { hour: vec![None; Span::Hour.slots()], week: vec![None; Span::Week.slots()], file: None };
        match history.read(path) {
            Ok(file) => history.file = Some(file),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "the console's curves are kept in memory only");
            }
        }
        history
    }

    fn read(&mut self, path: &Path) -> io::Result<File> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut bytes = vec![0; FILE_BYTES];
        let is_whole = file.metadata()?.len() == FILE_BYTES as u64;
        if is_whole {
            file.read_exact_at(&mut bytes, 0)?;
        }
        if !is_whole || bytes[..HEAD_BYTES] != head() {
            file.set_len(0)?;
            file.set_len(FILE_BYTES as u64)?;
            file.write_all_at(&head(), 0)?;
            return Ok(file);
        }
        for span in Span::ALL {
            for (slot, record) in bytes[span.offset()..].chunks_exact(RECORD_BYTES).take(span.slots()).enumerate() {
                let read = decode(record).filter(|(time, _)| slot_of(span, *time) == slot);
                self.ring(span)[slot] = read;
            }
        }
        Ok(file)
    }

    fn ring(&mut self, span: Span) -> &mut Vec<Option<(u64, Point)>> {
        match span {
            Span::Hour => &mut self.hour,
            Span::Week => &mut self.week,
        }
    }

    /// Keeps a point of a time, in seconds of the epoch.
    pub fn put(&mut self, span: Span, time: u64, point: Point) {
        let slot = slot_of(span, time);
        self.ring(span)[slot] = Some((time, point));
        let Some(file) = &self.file else { return };
        let at = span.offset() + slot * RECORD_BYTES;
        if let Err(error) = file.write_all_at(&encode(time, &point), at as u64) {
            tracing::warn!(%error, "the console's curves cannot be written any more; they are kept in memory");
            self.file = None;
        }
    }

    /// The points of a span that ends now, by time. H1
    pub fn points(&self, span: Span, now: u64) -> Vec<(u64, Point)> {
        let ring = match span {
            Span::Hour => &self.hour,
            Span::Week => &self.week,
        };
        let oldest = now.saturating_sub(span.step() * span.slots() as u64);
        let mut points: Vec<_> = ring.iter().flatten().filter(|(time, _)| (oldest..=now).contains(time)).copied().collect();
        points.sort_by_key(|(time, _)| *time);
        points
    }
}

fn slot_of(span: Span, time: u64) -> usize {
    (time / span.step()) as usize % span.slots()
}

fn head() -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..8].copy_from_slice(&MAGIC);
    head[8..12].copy_from_slice(&FORMAT.to_le_bytes());
    head[12..].copy_from_slice(&(COUNT as u32).to_le_bytes());
    head
}

fn encode(time: u64, point: &Point) -> [u8; RECORD_BYTES] {
    let mut record = [0; RECORD_BYTES];
    record[..8].copy_from_slice(&time.to_le_bytes());
    for (bytes, value) in record[8..].chunks_exact_mut(4).zip(point) {
        bytes.copy_from_slice(&value.to_le_bytes());
    }
    let sum = checksum(&record[..RECORD_BYTES - 4]);
    record[RECORD_BYTES - 4..].copy_from_slice(&sum.to_le_bytes());
    record
}

fn decode(record: &[u8]) -> Option<(u64, Point)> {
    let (rest, sum) = record.split_at(RECORD_BYTES - 4);
    if checksum(rest).to_le_bytes() != sum {
        return None;
    }
    let (time, values) = rest.split_at(8);
    let time = u64::from_le_bytes(time.try_into().expect("eight bytes"));
    let mut point = [0.0; COUNT];
    for (value, bytes) in point.iter_mut().zip(values.chunks_exact(4)) {
        *value = f32::from_le_bytes(bytes.try_into().expect("four bytes"));
    }
    (time > 0).then_some((time, point))
}

fn checksum(bytes: &[u8]) -> u32 {
    crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32Iscsi, bytes) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_survive_a_restart_and_old_ones_give_way() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("curves");
        let begin = 1_800_000_000;
        let mut history = History::open(&path);
        for n in 0..800 {
            history.put(Span::Hour, begin + n * 5, [n as f32; COUNT]);
        }
        history.put(Span::Week, begin, [1.5; COUNT]);
        let now = begin + 799 * 5;
        for history in [&history, &History::open(&path)] {
            let hour = history.points(Span::Hour, now);
            assert_eq!((hour.len(), hour[0].1[0], hour.last().unwrap().1[3]), (720, 80.0, 799.0));
            assert_eq!(history.points(Span::Week, now), [(begin, [1.5; COUNT])]);
            assert_eq!(history.points(Span::Hour, now + 3605), [], "they are too old");
        }
        assert_eq!(std::fs::metadata(&path).unwrap().len(), FILE_BYTES as u64);
    }

    #[test]
    fn a_torn_record_is_none_and_a_foreign_file_is_begun_anew() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("curves");
        let mut history = History::open(&path);
        history.put(Span::Hour, 1000, [1.0; COUNT]);
        history.put(Span::Hour, 1005, [2.0; COUNT]);
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(&[9], (Span::Hour.offset() + 200 * RECORD_BYTES + 20) as u64).unwrap();
        assert_eq!(History::open(&path).points(Span::Hour, 1010), [(1005, [2.0; COUNT])]);
        std::fs::write(&path, b"something else").unwrap();
        assert_eq!(History::open(&path).points(Span::Hour, 1010), []);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), FILE_BYTES as u64);
        History::open(directory.path()).put(Span::Hour, 1000, [1.0; COUNT]);
    }
}
