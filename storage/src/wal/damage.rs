//! Where the log ends: is that a torn tail, as a crash leaves it, or damage?
//!
//! The log ends before the first epoch that cannot be read whole. An epoch that was under way when the machine stopped may be there in any part: a
//! device writes the blocks of one unsynced write in any order, so a bad block may be followed by sound ones *of the same epoch*. Nobody was told of
//! that epoch, and it may go. Damage is proved by any of these:
//!
//! - D1: a sound block behind the end belongs to an epoch that begins behind the end. It was written when the epoch at the end was durable (F6 in
//!   `files.rs`), so that one has been damaged since. In which epoch a block belongs says its header: `sequence - part` is where it begins.
//!   What a recycled segment had before has lower numbers, and what a torn tail of an earlier run has left has lower runs.
//! - D2: a segment is missing or too short, between the checkpoint and the last one that is there, or that the control file knows of: segments are made
//!   in order, and before they are needed.
//! - D3: the log ends before the place up to which the control file knows it to be durable.
//! - D4: a sound block stands in its place, and the number of its epoch is not above the one before.
//!
//! What remains is a damaged epoch that is the last one: nothing tells it from a torn one.

use super::files::{LogPlace, SEGMENT_BYTES, segment_number, segment_path};
use super::reader::LogReader;
use super::record::{self, Record, chunks};
use crate::Error;
use os::{AlignedBuf, File, IO_ALIGN};
use std::collections::BTreeMap;
use std::path::Path;

/// What is known of the log without reading it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The checkpoint.
    pub begin: LogPlace,
    /// The log is durable up to this position, at least.
    pub end: u64,
    /// Segments below this number have been made.
    pub segments: u64,
    /// The log was not written to after `end`.
    pub is_exact: bool,
}

/// The log is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogDamage {
    /// What is wrong, with file and position.
    pub what: String,
    /// The lost data, as far as it is known.
    pub lost: String,
    /// The highest epoch seen behind the damage.
    pub(crate) epoch: u64,
}

impl std::fmt::Display for LogDamage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}. {}", self.what, self.lost)
    }
}

/// What lies behind the end.
#[derive(Default)]
struct Beyond {
    /// D1
    is_proof: bool,
    epochs: u64,
    commits: u64,
    bytes: u64,
    epoch: u64,
}

/// Looks at the place where `reader` has come to its end.
pub(crate) fn find_damage(reader: &mut LogReader, bounds: &Bounds) -> Result<Option<LogDamage>, Error> {
    let dir = reader.dir().to_path_buf();
    let end = reader.end();
    let (first, last) = (bounds.begin.position / SEGMENT_BYTES, end.position / SEGMENT_BYTES);
    let segments = segments(&dir)?;
    let below = segments.keys().next_back().map_or(0, |last| last + 1).max(bounds.segments).max(first + 1);
    let wrong = (first..below).find(|number| segments.get(number).is_none_or(|bytes| *bytes < SEGMENT_BYTES));
    if wrong.is_none() && bounds.is_exact && end.position == bounds.end {
        return Ok(None);
    }
    let falls = epoch_falls(reader)?;
    let beyond = look_beyond(reader, end, below)?;
    let place = || format!("byte {} of {} (byte {} of the log)", end.position % SEGMENT_BYTES, name(&dir, last), end.position);
    let what = match wrong {
        Some(number) if !segments.contains_key(&number) => format!("{} is missing", name(&dir, number)),
        Some(number) => format!("{} is too short, it has {} of {SEGMENT_BYTES} bytes", name(&dir, number), segments[&number]),
        None if beyond.is_proof => format!("the block at {} is damaged", place()),
        None if end.position < bounds.end => {
            format!("the log ends at {}, and was written up to byte {} of the log", place(), bounds.end)
        }
        None if falls => format!("the block at {} has a lower epoch than the one before it", place()),
        None => return Ok(None),
    };
    let lost = match beyond {
        Beyond { epochs: 0, .. } if bounds.is_exact => {
            "The server was stopped in good order, the data file has everything".to_owned()
        }
        Beyond { epochs: 0, .. } => format!("Commits in the log from byte {} on are lost; how many cannot be told", end.position),
        Beyond { epochs, commits, bytes, .. } => {
            format!(
                "Behind the damage are {epochs} groups of changes that are whole, {bytes} bytes with {commits} commits; what is damaged may have had more"
            )
        }
    };
    Ok(Some(LogDamage { what, lost, epoch: beyond.epoch }))
}

fn name(dir: &Path, segment: u64) -> String {
    segment_path(dir, segment).display().to_string()
}

/// The segments that are there, and their sizes.
fn segments(dir: &Path) -> Result<BTreeMap<u64, u64>, Error> {
    if !os::fs::exists(dir) {
        return Ok(BTreeMap::new());
    }
    let numbers = os::fs::list(dir)?.into_iter().filter_map(|name| segment_number(&name));
    numbers.map(|number| Ok((number, File::open_to_read(&segment_path(dir, number))?.bytes()?))).collect()
}

/// D4
fn epoch_falls(reader: &mut LogReader) -> Result<bool, Error> {
    let (run, epoch) = reader.last();
    let sequence = reader.end().sequence;
    let Some(header) = reader.header()? else { return Ok(false) };
    let is_in_place = header.sequence == sequence && header.part == 0 && header.run >= run && header.epoch <= epoch;
    Ok(is_in_place && !header.unsynced && reader.payload(&header)?.is_some())
}

/// Reads everything from `end` to the end of the last segment, block by block.
fn look_beyond(reader: &mut LogReader, end: LogPlace, below: u64) -> Result<Beyond, Error> {
    let (run, _) = reader.last();
    let mut beyond = Beyond::default();
    let mut payload = Vec::new();
    let mut position = end.position;
    while position < below * SEGMENT_BYTES {
        reader.seek(LogPlace { position, sequence: 0 });
        let header = reader.header()?;
        let later = |sequence: u64, part: u32| sequence.checked_sub(u64::from(part)).is_some_and(|begin| begin > end.sequence);
        let sound = match header {
            Some(header) if header.run >= run && later(header.sequence, header.part) => {
                reader.payload(&header)?.is_some().then_some(header)
            }
            _ => None,
        };
        let Some(header) = sound else {
            position += IO_ALIGN as u64;
            continue;
        };
        beyond.is_proof |= !header.unsynced;
        beyond.epoch = beyond.epoch.max(header.epoch);
        reader.seek(LogPlace { position, sequence: header.sequence });
        if let Some(epoch) = reader.next_epoch(&mut payload)? {
            beyond.epochs += 1;
            beyond.epoch = beyond.epoch.max(epoch);
            beyond.commits += commits(&payload);
            beyond.bytes += reader.end().position - position;
        }
        position = reader.end().position.max(position + header.bytes() as u64);
    }
    Ok(beyond)
}

fn commits(payload: &[u8]) -> u64 {
    let mut count = 0;
    for mut chunk in chunks(payload) {
        while let Ok(Some(record)) = record::read(&mut chunk) {
            count += u64::from(matches!(record, Record::Commit { .. }));
        }
    }
    count
}

/// Ends the log at `end` for good: nothing that lies behind it is there any more.
pub(crate) fn cut(dir: &Path, end: LogPlace) -> Result<(), Error> {
    let last = end.position / SEGMENT_BYTES;
    for (number, _) in segments(dir)?.range(last + 1..) {
        os::fs::remove_file(segment_path(dir, *number))?;
    }
    let path = segment_path(dir, last);
    if os::fs::exists(&path) {
        let file = File::open(&path, false)?;
        let zeros = AlignedBuf::new(IO_ALIGN);
        for at in (end.position % SEGMENT_BYTES..SEGMENT_BYTES).step_by(IO_ALIGN) {
            file.write_at(&zeros, at)?;
        }
        file.sync()?;
    }
    Ok(os::sync_dir(dir)?)
}

#[cfg(all(test, not(any(sim, miri))))]
mod tests {
    use super::super::files::LogWriter;
    use super::*;
    use std::path::PathBuf;

    /// Where a block begins, and how long it is.
    type Place = (u64, u64);

    /// A log of a few epochs: 2 to 11 are of one block each, but for 6, which has three.
    struct Log {
        dir: PathBuf,
        epochs: Vec<Vec<Place>>,
        end: LogPlace,
    }

    impl Drop for Log {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.dir);
        }
    }

    fn written(name: &str, begin: LogPlace, sync: bool) -> Log {
        let dir = std::env::temp_dir().join(format!("heddle-log-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        let mut writer = LogWriter::open(&dir, begin.position, begin, 1, sync).expect("opens");
        let mut epochs = Vec::new();
        for epoch in 2..12 {
            let bytes = if epoch == 6 { 9 << 20 } else { 100 * epoch as usize };
            let from = writer.place();
            writer.write_epoch(epoch, &vec![epoch as u8; bytes]).expect("writes");
            let to = writer.place();
            let parts = to.sequence - from.sequence;
            assert_eq!(parts, if epoch == 6 { 3 } else { 1 });
            let part = |n: u64| (from.position + n * ((4 << 20) + 4096), if n + 1 == parts { 4096 } else { 4 << 20 });
            epochs.push((0..parts).map(part).collect());
        }
        Log { dir, epochs, end: writer.place() }
    }

    impl Log {
        fn bounds(&self) -> Bounds {
            Bounds { begin: LogPlace::default(), end: 0, segments: 4, is_exact: false }
        }

        /// Epochs that can be read, and what is found at their end.
        fn judge(&self, bounds: Bounds) -> (usize, Option<LogDamage>) {
            let mut reader = LogReader::new(&self.dir, bounds.begin);
            let mut payload = Vec::new();
            let mut epochs = 0;
            while reader.next_epoch(&mut payload).expect("reads").is_some() {
                epochs += 1;
            }
            (epochs, find_damage(&mut reader, &bounds).expect("reads"))
        }

        /// After a forced start what is left is a sound log.
        fn force(&self, bounds: Bounds) {
            let mut reader = LogReader::new(&self.dir, bounds.begin);
            while reader.next_epoch(&mut Vec::new()).expect("reads").is_some() {}
            let end = reader.end();
            std::fs::create_dir_all(&self.dir).expect("makes");
            cut(&self.dir, end).expect("cuts");
            LogWriter::open(&self.dir, bounds.begin.position, end, 2, true).expect("opens");
            let mut reader = LogReader::new(&self.dir, bounds.begin);
            while reader.next_epoch(&mut Vec::new()).expect("reads").is_some() {}
            assert_eq!(reader.end(), end);
            assert_eq!(find_damage(&mut reader, &Bounds { end: end.position, segments: 0, ..bounds }).expect("reads"), None);
        }

        fn change(&self, position: u64, change: impl FnOnce(&mut [u8])) {
            let path = segment_path(&self.dir, position / SEGMENT_BYTES);
            let mut bytes = std::fs::read(&path).expect("reads");
            change(&mut bytes[(position % SEGMENT_BYTES) as usize..]);
            std::fs::write(path, bytes).expect("writes");
        }

        fn flip(&self, place: Place, byte: u64) {
            self.change(place.0 + byte, |bytes| bytes[0] ^= 4);
        }
    }

    #[test]
    fn a_sound_log_has_no_damage() {
        let log = written("sound", LogPlace::default(), true);
        assert_eq!(log.judge(log.bounds()), (10, None));
        assert_eq!(log.judge(Bounds { end: log.end.position, is_exact: true, ..log.bounds() }), (10, None));
    }

    /// A bit of any block but the last: in its head, where its numbers are, or in its payload.
    #[test]
    fn a_bad_block_before_sound_epochs_is_damage() {
        let log = written("flipped", LogPlace::default(), true);
        for epoch in [0, 3, 4, 8] {
            for byte in [0, 9, 17, 25, 29, 33, 37, 41, 70] {
                let block = *log.epochs[epoch].last().expect("a block");
                log.flip(block, byte);
                let (epochs, damage) = log.judge(log.bounds());
                let damage = damage.expect("damage");
                assert_eq!(epochs, epoch, "byte {byte}");
                let begin = log.epochs[epoch][0].0;
                assert!(damage.what.contains(&format!("byte {begin} of ")), "{damage}");
                assert!(damage.what.contains("0000000000000000.log"), "{damage}");
                assert!(damage.lost.contains(&format!("{} groups", 9 - epoch)), "{damage}");
                assert_eq!(damage.epoch, 11);
                log.flip(block, byte);
            }
        }
        log.flip(log.epochs[3][0], 70);
        log.force(log.bounds());
    }

    #[test]
    fn a_torn_tail_is_none() {
        let log = written("torn", LogPlace::default(), true);
        log.flip(log.epochs[9][0], 70);
        assert_eq!(log.judge(log.bounds()), (9, None));
        // Three blocks written at once: any of them may be missing, and the others there.
        for later in &log.epochs[5..] {
            log.change(later[0].0, |bytes| bytes[..4096].fill(0));
        }
        for bad in [&[0][..], &[1], &[2], &[0, 1], &[0, 2], &[1, 2]] {
            let flip = || bad.iter().for_each(|block| log.flip(log.epochs[4][*block], 300));
            flip();
            assert_eq!(log.judge(log.bounds()), (4, None), "{bad:?}");
            // As the control file knows, it was durable.
            let (_, damage) = log.judge(Bounds { end: log.epochs[5][0].0, ..log.bounds() });
            assert!(damage.expect("damage").what.contains("was written up to byte"));
            flip();
        }
    }

    /// What an earlier torn epoch has left behind the end says nothing, also when the log has grown into it.
    #[test]
    fn remains_of_a_torn_epoch_are_no_damage() {
        let log = written("remains", LogPlace::default(), true);
        for later in &log.epochs[5..] {
            log.change(later[0].0, |bytes| bytes[..4096].fill(0));
        }
        log.flip(log.epochs[4][0], 70);
        let mut reader = LogReader::new(&log.dir, LogPlace::default());
        let mut payload = Vec::new();
        while reader.next_epoch(&mut payload).expect("reads").is_some() {}
        let mut writer = LogWriter::open(&log.dir, 0, reader.end(), 2, true).expect("opens");
        writer.write_epoch(20, &[1; 100]).expect("writes");
        assert_eq!(log.judge(log.bounds()), (5, None));
        writer.write_epoch(21, &[1; 100]).expect("writes");
        assert_eq!(log.judge(log.bounds()), (6, None));
        let bad = writer.place().position - 4096;
        log.flip((bad, 0), 70);
        assert_eq!(log.judge(log.bounds()), (5, None));
    }

    #[test]
    fn missing_and_short_segments_are_damage() {
        // The log lies in segments 0 to 1; 2 to 4 are spare.
        let begin = LogPlace { position: SEGMENT_BYTES - (6 << 20), sequence: 5 };
        for number in [0, 1, 3, 4] {
            for short in [false, true] {
                let log = written("missing", begin, true);
                let path = segment_path(&log.dir, number);
                if short {
                    std::fs::File::options().write(true).open(&path).and_then(|file| file.set_len(SEGMENT_BYTES / 2))
                } else {
                    std::fs::remove_file(&path)
                }
                .expect("changes");
                // Without the last spare one nothing tells that it was there, unless the control file does.
                let bounds = Bounds { begin, segments: 5, ..log.bounds() };
                let (epochs, damage) = log.judge(bounds);
                let damage = damage.expect("damage");
                assert!(
                    damage.what.contains(&format!("{number:016x}.log is {}", if short { "too short" } else { "missing" })),
                    "{damage}"
                );
                assert_eq!(epochs == 10, number > 1 || number == 1 && short, "{number}");
                log.force(bounds);
            }
        }
        let log = written("missing", begin, true);
        std::fs::remove_dir_all(&log.dir).expect("removes");
        let mut reader = LogReader::new(&log.dir, begin);
        assert_eq!(reader.next_epoch(&mut Vec::new()).expect("reads"), None);
        let damage = find_damage(&mut reader, &Bounds { begin, segments: 0, ..log.bounds() }).expect("reads");
        assert!(damage.expect("damage").what.ends_with("0000000000000000.log is missing"));
        log.force(Bounds { begin, ..log.bounds() });
    }

    /// Each block may be there or not when the power fails, and no commit waits for any.
    #[test]
    fn blocks_that_were_not_synced_prove_nothing() {
        let log = written("unsynced", LogPlace::default(), false);
        log.flip(log.epochs[3][0], 70);
        assert_eq!(log.judge(log.bounds()), (3, None));
    }
}
