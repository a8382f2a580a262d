//! The control file: where recovery begins, and the counters that must never run backwards.
//!
//! ```text
//! heddle.control: two slots of 4096 bytes, written in turn; the one with the higher generation and a right checksum counts
//! magic u64 | format u32 | run u32 | generation u64 | log position u64 | log sequence u64 | epoch u64 | redo epoch u64 | clock u64 |
//! txn sequence u64 | redo rate u64 | next tree id u32 | clean u32 | crc u32 | zeros u32
//! ```

use crate::Error;
use crate::crc::crc32c;
use crate::wal::LogPlace;
use os::{AlignedBuf, File};
use std::path::Path;

const MAGIC: u64 = u64::from_le_bytes(*b"HEDDLE01");
const FORMAT: u32 = 2;
const SLOT_BYTES: usize = 4096;
const USED_BYTES: usize = 96;

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
}

pub(crate) struct Control {
    file: File,
    sync: bool,
}

impl Control {
    pub fn create(path: &Path, state: &ControlState) -> Result<Self, Error> {
        // Whole before it has its name: a start that is cut off here leaves no control file, and the next one begins anew.
        let unnamed = path.with_extension("new");
        let control = Self { file: File::open(&unnamed, true)?, sync: true };
        control.write(state)?;
        os::fs::rename(&unnamed, path)?;
        path.parent().map_or(Ok(()), os::sync_dir)?;
        Ok(control)
    }

    pub fn open(path: &Path) -> Result<(Self, ControlState), Error> {
        let file = File::open(path, false)?;
        let mut buf = AlignedBuf::new(2 * SLOT_BYTES);
        file.read_at(&mut buf, 0)?;
        let best =
            [&buf[..SLOT_BYTES], &buf[SLOT_BYTES..]].into_iter().filter_map(parse).max_by_key(|s| s.generation).ok_or_else(
                || {
                    let what = format!("{} is not a control file of this version of Heddle, or is damaged", path.display());
                    Error::Directory(what.into())
                },
            )?;
        Ok((Self { file, sync: true }, best))
    }

    pub fn write(&self, state: &ControlState) -> Result<(), Error> {
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
        debug_assert_eq!(at, USED_BYTES - 8);
        let crc = crc32c(&buf[..USED_BYTES - 8]);
        buf[USED_BYTES - 8..USED_BYTES - 4].copy_from_slice(&crc.to_le_bytes());
        self.file.write_at(&buf, (state.generation % 2) * SLOT_BYTES as u64)?;
        if self.sync {
            self.file.sync()?;
        }
        Ok(())
    }
}

fn parse(slot: &[u8]) -> Option<ControlState> {
    let u64_at = |at: usize| u64::from_le_bytes(slot[at..at + 8].try_into().expect("eight bytes"));
    let u32_at = |at: usize| u32::from_le_bytes(slot[at..at + 4].try_into().expect("four bytes"));
    let crc = crc32c(&slot[..USED_BYTES - 8]);
    if u64_at(0) != MAGIC || u32_at(8) != FORMAT || u32_at(USED_BYTES - 8) != crc {
        return None;
    }
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
    })
}
