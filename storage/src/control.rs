//! The control file: where recovery begins, and the counters that must never run backwards.
//!
//! ```text
//! heddle.control: two slots of 4096 bytes, written in turn; the one with the higher generation and a right checksum counts
//! magic u64 | format u32 | run u32 | generation u64 | log position u64 | log sequence u64 | epoch u64 | redo epoch u64 | clock u64 |
//! txn sequence u64 | redo rate u64 | next tree id u32 | clean u32 | log end u64 | log segments u64 | crc u32 | zeros u32
//! ```
//! Up to format 4 there were no log end and log segments, and the checksum stood in their place.

use crate::Error;
use crate::crc::crc32c;
use crate::wal::LogPlace;
use os::{AlignedBuf, File};
use std::path::Path;

const MAGIC: u64 = u64::from_le_bytes(*b"HEDDLE01");
/// The format of the whole data directory, the files beside this one included. `docs/FORMATS.md` has the list.
pub(crate) const FORMAT: u32 = 6;
/// Directories of these formats are read as they are, and have [`FORMAT`] from the next write of this file on.
const FORMAT_OLDEST: u32 = 3;
pub(crate) const SLOT_BYTES: usize = 4096;
/// Where the checksum of what stands before it is.
const CRC_AT: usize = 104;
const CRC_AT_FORMAT_4: usize = 88;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ControlState {
    /// Counts starts.
    pub run: u32,
    pub generation: u64,
    /// The log is needed from here on.
    pub place: LogPlace,
    /// The epoch at `place`: no transaction that was open has changes in earlier ones.
    pub epoch: u64,
    /// All epochs below are reflected in the data file; at or above `epoch`.
    pub redo_epoch: u64,
    /// No commit timestamp given out is above this, as far as the log before `place` knows.
    pub clock: u64,
    /// Likewise for transaction sequence numbers.
    pub txn_sequence: u64,
    /// Bytes of log that a recovery here has redone per second; 0: none was long enough to tell.
    pub redo_rate: u64,
    /// Tree ids at and above this were never given out.
    pub next_tree_id: u32,
    /// Stopped in good order: the pages have all that the log has, and no transaction is open.
    pub clean: bool,
    /// The log is durable up to this position at least, and has everything that was acknowledged before this was written.
    pub log_end: u64,
    /// Segments of the log below this number have been made.
    pub log_segments: u64,
}

pub(crate) struct Control {
    file: File,
    sync: bool,
    /// The file was of an older format: each write goes to both slots, one after the other, so that none is left that an older version reads.
    was_older: bool,
}

impl Control {
    pub fn create(path: &Path, state: &ControlState) -> Result<Self, Error> {
        // Complete before it gets its name: a start that is interrupted here leaves no control file, and the next one
        // begins again.
        let unnamed = path.with_extension("new");
        let control = Self { file: File::open(&unnamed, true)?, sync: true, was_older: false };
        control.write(state)?;
        os::fs::rename(&unnamed, path)?;
        path.parent().map_or(Ok(()), os::sync_dir)?;
        Ok(control)
    }

    pub fn open(path: &Path) -> Result<(Self, ControlState), Error> {
        let file = File::open(path, false)?;
        let mut buf = AlignedBuf::new(2 * SLOT_BYTES);
        file.read_at(&mut buf, 0)?;
        let slots = [&buf[..SLOT_BYTES], &buf[SLOT_BYTES..]];
        let best = slots.into_iter().filter_map(parse).max_by_key(|s| s.generation);
        let best = best.ok_or_else(|| Error::Directory(why_not(path, &slots).into()))?;
        let was_older = slots.into_iter().any(|slot| parse(slot).is_some() && format_of(slot) != FORMAT);
        Ok((Self { file, sync: true, was_older }, best))
    }

    /// The directory is of an older format until the next write.
    pub fn was_older(&self) -> bool {
        self.was_older
    }

    pub fn write(&self, state: &ControlState) -> Result<(), Error> {
        let buf = encode(state);
        self.write_slot(&buf, state.generation % 2)?;
        if self.was_older { self.write_slot(&buf, (state.generation + 1) % 2) } else { Ok(()) }
    }

    fn write_slot(&self, bytes: &[u8], slot: u64) -> Result<(), Error> {
        self.file.write_at(bytes, slot * SLOT_BYTES as u64)?;
        if self.sync {
            self.file.sync()?;
        }
        Ok(())
    }
}

/// A slot with this state.
pub(crate) fn encode(state: &ControlState) -> AlignedBuf {
    let mut buf = AlignedBuf::new(SLOT_BYTES);
    let mut at = 0;
    let mut put = |bytes: &[u8]| {
        buf[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    put(&MAGIC.to_le_bytes());
    put(&FORMAT.to_le_bytes());
    put(&state.run.to_le_bytes());
    let words = [
        state.generation,
        state.place.position,
        state.place.sequence,
        state.epoch,
        state.redo_epoch,
        state.clock,
        state.txn_sequence,
        state.redo_rate,
    ];
    words.iter().for_each(|w| put(&w.to_le_bytes()));
    put(&state.next_tree_id.to_le_bytes());
    put(&u32::from(state.clean).to_le_bytes());
    put(&state.log_end.to_le_bytes());
    put(&state.log_segments.to_le_bytes());
    debug_assert_eq!(at, CRC_AT);
    let crc = crc32c(&buf[..CRC_AT]);
    buf[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_le_bytes());
    buf
}

/// Why none of the slots counts, in one line.
#[cold]
fn why_not(path: &Path, slots: &[&[u8]]) -> String {
    // Magic and format stand where they stand in every format.
    let formats = slots.iter().filter(|slot| slot[..8] == MAGIC.to_le_bytes());
    let foreign = formats.map(|slot| format_of(slot)).find(|format| !is_readable(*format));
    match foreign {
        Some(format) => format!(
            "the data directory of {} has format {format}, and this version of Heddle reads formats {FORMAT_OLDEST} to {FORMAT}: use the version that \
             wrote it, or dump the data with that one and load it with this one",
            path.display()
        ),
        None => format!("{} is not a control file of Heddle, or is damaged", path.display()),
    }
}

fn format_of(slot: &[u8]) -> u32 {
    u32::from_le_bytes([slot[8], slot[9], slot[10], slot[11]])
}

fn is_readable(format: u32) -> bool {
    (FORMAT_OLDEST..=FORMAT).contains(&format)
}

/// The state in a slot; `None`: a slot that was never written, or is damaged.
pub(crate) fn parse(slot: &[u8]) -> Option<ControlState> {
    let u64_at = |at: usize| u64::from_le_bytes(slot[at..at + 8].try_into().expect("eight bytes"));
    let u32_at = |at: usize| u32::from_le_bytes(slot[at..at + 4].try_into().expect("four bytes"));
    let is_older = format_of(slot) < 5;
    let crc_at = if is_older { CRC_AT_FORMAT_4 } else { CRC_AT };
    if u64_at(0) != MAGIC || !is_readable(format_of(slot)) || u32_at(crc_at) != crc32c(&slot[..crc_at]) {
        return None;
    }
    let since_format_5 = |at: usize| if is_older { 0 } else { u64_at(at) };
    Some(ControlState {
        run: u32_at(12),
        generation: u64_at(16),
        place: LogPlace { position: u64_at(24), sequence: u64_at(32) },
        epoch: u64_at(40),
        redo_epoch: u64_at(48),
        clock: u64_at(56),
        txn_sequence: u64_at(64),
        redo_rate: u64_at(72),
        next_tree_id: u32_at(80),
        clean: u32_at(84) != 0,
        log_end: since_format_5(88),
        log_segments: since_format_5(96),
    })
}

#[cfg(all(test, not(sim)))]
mod tests {
    use super::*;

    const STATE: ControlState = ControlState {
        run: 3,
        generation: 6,
        place: LogPlace { position: 4096, sequence: 1 },
        epoch: 9,
        redo_epoch: 9,
        clock: 10,
        txn_sequence: 11,
        redo_rate: 0,
        next_tree_id: 12,
        clean: true,
        log_end: 8192,
        log_segments: 4,
    };

    fn made(name: &str) -> std::path::PathBuf {
        let dir = std::env::temp_dir().join(format!("heddle-control-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).expect("makes");
        let path = dir.join("heddle.control");
        let control = Control::create(&path, &STATE).expect("creates");
        control.write(&ControlState { generation: 7, ..STATE }).expect("writes");
        path
    }

    fn edit(path: &Path, change: impl Fn(&mut [u8])) {
        let mut bytes = std::fs::read(path).expect("reads");
        bytes.chunks_mut(SLOT_BYTES).for_each(change);
        std::fs::write(path, bytes).expect("writes");
    }

    fn set_format(slot: &mut [u8], format: u32, is_sealed: bool) {
        slot[8..12].copy_from_slice(&format.to_le_bytes());
        let crc_at = if format < 5 { CRC_AT_FORMAT_4 } else { CRC_AT };
        slot[crc_at..].fill(0);
        let crc = if is_sealed { crc32c(&slot[..crc_at]) } else { 0 };
        slot[crc_at..crc_at + 4].copy_from_slice(&crc.to_le_bytes());
    }

    #[test]
    fn an_older_format_that_is_readable_is_read_and_written_as_the_present_one() {
        let path = made("older");
        edit(&path, |slot| set_format(slot, FORMAT_OLDEST, true));
        let (control, state) = Control::open(&path).expect("opens");
        assert_eq!(
            state,
            ControlState { generation: 7, log_end: 0, log_segments: 0, ..STATE },
            "what it did not have is not known"
        );
        control.write(&ControlState { generation: 8, ..STATE }).expect("writes");
        assert_eq!(Control::open(&path).expect("opens").1.generation, 8);
        let formats: Vec<u8> = std::fs::read(&path).expect("reads").chunks(SLOT_BYTES).map(|slot| slot[8]).collect();
        assert_eq!(formats, [FORMAT as u8; 2], "an older version finds nothing that it would take for the newest");
        std::fs::remove_dir_all(path.parent().expect("a directory")).expect("removes");
    }

    fn refusal(path: &Path) -> String {
        Control::open(path).err().expect("refused").to_string()
    }

    #[test]
    fn the_newest_whole_slot_counts() {
        let path = made("newest");
        assert_eq!(Control::open(&path).expect("opens").1, ControlState { generation: 7, ..STATE });
        // The write of the newer one was torn.
        let mut bytes = std::fs::read(&path).expect("reads");
        bytes[SLOT_BYTES + 50] ^= 1;
        std::fs::write(&path, bytes).expect("writes");
        assert_eq!(Control::open(&path).expect("opens").1, STATE);
        edit(&path, |slot| slot[40] ^= 1);
        assert!(refusal(&path).contains("damaged"));
        std::fs::remove_dir_all(path.parent().expect("a directory")).expect("removes");
    }

    /// Whether the checksum fits or not: another format may have it elsewhere.
    #[test]
    fn another_format_is_refused_with_both_numbers() {
        for (other, is_sealed) in [(FORMAT_OLDEST - 1, true), (FORMAT + 1, true), (FORMAT_OLDEST - 1, false)] {
            let path = made("format");
            edit(&path, |slot| set_format(slot, other, is_sealed));
            let why = refusal(&path);
            assert!(
                why.contains(&format!("format {other},")) && why.contains(&format!("formats {FORMAT_OLDEST} to {FORMAT}:")),
                "{why}"
            );
            assert!(!why.contains('\n'), "{why}");
            std::fs::remove_dir_all(path.parent().expect("a directory")).expect("removes");
        }
    }

    #[test]
    fn a_start_that_is_cut_off_leaves_no_file_of_that_name() {
        let path = made("cut");
        let dir = path.parent().expect("a directory");
        std::fs::remove_file(&path).expect("removes");
        // As a cut in the middle leaves it.
        std::fs::write(path.with_extension("new"), [0; 100]).expect("writes");
        Control::create(&path, &STATE).expect("creates");
        assert_eq!(Control::open(&path).expect("opens").1, STATE);
        assert!(!path.with_extension("new").exists());
        std::fs::remove_dir_all(dir).expect("removes");
    }
}
