//! Large values that a transaction refers to and did not write itself.
//!
//! L1: a value is never changed, and its deletion is in the log with its bytes.
//! L2: the number of a deleted value may be given again after a start of the server, not before.

use crate::definitions::{Definitions, Role};
use crate::gather::{Gathered, nameless};
use crate::render::{self, Large};
use hashbrown::HashMap;
use std::io;
use std::path::Path;
use storage::page::TOMBSTONE;
use storage::wal::record::{self, Record, chunks};
use storage::wal::{LogFollower, LogReader};
use table::log_view;
use txn::{Engine, TreeRef, Worker};
use types::row::ExternalRef;

/// Finds large values that a transaction refers to and did not write itself.
///
/// A value is never changed, and its deletion is in the log with its bytes. So it is in its tree, or in a deletion that is gathered, or in one
/// further on in the log. The number of a deleted value may be given again after a start; so what earlier runs have deleted is looked at first,
/// while their log is rendered.
pub struct LargeReader<'a> {
    pub engine: &'a Engine,
    pub worker: &'a Worker,
    pub open: &'a HashMap<u64, Gathered, foldhash::fast::FixedState>,
    pub follower: &'a LogFollower,
    pub earlier: Option<&'a Deleted>,
    /// Of the transaction.
    pub epoch: u64,
}

impl Large for LargeReader<'_> {
    fn read(&mut self, tree: TreeRef, reference: ExternalRef) -> Result<Vec<u8>, render::Error> {
        if let Some(earlier) = self.earlier
            && let Some(value) = earlier.value(tree.id, reference, self.epoch)?
        {
            return Ok(value);
        }
        let present = log_view::read_large(self.worker, tree, reference);
        match present.map_err(|error| render::Error::Row(format!("a large value: {error:?}")))? {
            Some(value) => Ok(value),
            None => self.deleted(tree, reference),
        }
    }
}

impl LargeReader<'_> {
    #[cold]
    fn deleted(&self, tree: TreeRef, reference: ExternalRef) -> Result<Vec<u8>, render::Error> {
        let count = log_view::chunks_in(reference.length);
        let mut found: HashMap<u32, Vec<u8>> = HashMap::default();
        let mut take = |in_tree: u32, key: &[u8], old: Option<&[u8]>| {
            if let (true, Some((blob, chunk)), Some(old)) = (in_tree == tree.id, log_view::chunk_of_key(key), old)
                && blob == reference.blob
            {
                found.entry(chunk).or_insert_with(|| old.to_vec());
            }
            found.len()
        };
        for gathered in self.open.values() {
            gathered.for_each::<io::Error>(|change| {
                take(change.tree, change.key, change.old);
                Ok(())
            })?;
        }
        self.engine.flush_log();
        let mut reader: LogReader = self.follower.ahead();
        let end = self.engine.log_end();
        let mut payload = Vec::new();
        let io = |error: storage::Error| render::Error::Row(error.to_string());
        while take(0, &[], None) < count as usize && reader.end().position < end {
            if reader.next_epoch(&mut payload).map_err(io)?.is_none() {
                break;
            }
            for mut chunk in chunks(&payload) {
                while let Some(record) = record::read(&mut chunk).map_err(io)? {
                    if let Record::Row { change, .. } = record {
                        take(change.tree.id, change.key, change.old.map(|(_, old)| old));
                    }
                }
            }
        }
        let mut value = Vec::with_capacity(reference.length.min(1 << 20) as usize);
        for chunk in 0..count {
            match found.get(&chunk) {
                Some(piece) => value.extend_from_slice(piece),
                None => return Err(render::Error::Row(format!("large value {} of tree {} is gone", reference.blob, tree.id))),
            }
        }
        Ok(value)
    }
}

/// Epoch, offset and bytes of each deletion of a chunk.
type Deletions = Vec<(u64, u64, u32)>;

/// Chunks of large values that transactions of earlier runs have deleted, in a file of its own.
pub struct Deleted {
    file: std::fs::File,
    /// By tree, value and chunk.
    chunks: HashMap<(u32, u64, u32), Deletions, foldhash::fast::FixedState>,
    /// Where the log of the earlier runs ends.
    pub end: u64,
}

impl Deleted {
    /// Reads the log from where `reader` is to `end`.
    pub fn read(dir: &Path, mut reader: LogReader, end: u64, definitions: &Definitions) -> io::Result<Self> {
        let failed = |error: storage::Error| io::Error::other(error.to_string());
        let file = nameless(&dir.join("binlog.deleted"))?;
        let mut deleted = Self { file, chunks: HashMap::default(), end };
        let (mut payload, mut out, mut at) = (Vec::new(), Vec::new(), 0u64);
        while reader.end().position < end {
            let Some(epoch) = reader.next_epoch(&mut payload).map_err(failed)? else { break };
            for mut chunk in chunks(&payload) {
                while let Some(record) = record::read(&mut chunk).map_err(failed)? {
                    let Record::Row { change, .. } = record else { continue };
                    let is_large = matches!(definitions.role(change.tree.id), None | Some(Role::Large));
                    let is_deletion = !change.compensation && change.header.flags & TOMBSTONE != 0;
                    let old = change.old.filter(|(header, _)| is_large && is_deletion && header.flags & TOMBSTONE == 0);
                    if let (Some((_, old)), Some((blob, number))) = (old, log_view::chunk_of_key(change.key)) {
                        let place = (epoch, at + out.len() as u64, old.len() as u32);
                        deleted.chunks.entry((change.tree.id, blob, number)).or_default().push(place);
                        out.extend_from_slice(old);
                    }
                }
            }
            if out.len() > 1 << 20 {
                std::os::unix::fs::FileExt::write_all_at(&deleted.file, &out, at)?;
                at += out.len() as u64;
                out.clear();
            }
        }
        std::os::unix::fs::FileExt::write_all_at(&deleted.file, &out, at)?;
        Ok(deleted)
    }

    /// The value that a transaction of `epoch` saw, if it was deleted in that epoch or later; the first deletion counts.
    fn value(&self, tree: u32, reference: ExternalRef, epoch: u64) -> Result<Option<Vec<u8>>, render::Error> {
        let mut value = Vec::with_capacity(reference.length.min(1 << 20) as usize);
        for number in 0..log_view::chunks_in(reference.length) {
            let places = self.chunks.get(&(tree, reference.blob, number));
            let Some((_, at, bytes)) = places.into_iter().flatten().find(|place| place.0 >= epoch) else { return Ok(None) };
            let from = value.len();
            value.resize(from + *bytes as usize, 0);
            std::os::unix::fs::FileExt::read_exact_at(&self.file, &mut value[from..], *at)?;
        }
        Ok((value.len() as u64 == reference.length).then_some(value))
    }
}
