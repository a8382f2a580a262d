//! RocksDB in the two ways that it offers for point reads from memory.
//!
//! - blocks: its own settings for point lookups (a hash index in each block, a Bloom filter of 10 bits per key), a cache without locks that holds
//!   everything, no compression, checksums not verified on reads;
//! - plain: PlainTable, its format for data that is mapped into memory, found by a hash of the key.
//!
//! After the inserts everything is compacted into one sorted level, unmeasured, so that reads look in one place. Reads of several
//! keys go through MultiGet where the format has it. Writes are one WriteBatch; not durable: the log is written, not synced.

use flexasync::{Operation, Session, Store, sum_of, value_of};
use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamilyDescriptor, DB, DataBlockIndexType, KeyEncodingType, Options, PlainTableFactoryOptions,
    ReadOptions, SliceTransform, WriteBatch, WriteOptions,
};
use std::path::Path;

/// The one that every database has.
const FAMILY: &str = "default";
const KEY_BYTES: usize = 8;
const CACHE_BYTES: usize = 1 << 30;
const MEMTABLE_BYTES: usize = 256 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Blocks,
    Plain,
}

pub struct Rocks {
    db: DB,
    kind: Kind,
    durable: bool,
}

impl Rocks {
    pub fn open(folder: &Path, kind: Kind, durable: bool) -> Result<Self, rocksdb::Error> {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_write_buffer_size(MEMTABLE_BYTES);
        options.set_compression_type(rocksdb::DBCompressionType::None);
        options.increase_parallelism(4);
        match kind {
            Kind::Blocks => options.set_block_based_table_factory(&blocks()),
            Kind::Plain => {
                options.set_prefix_extractor(SliceTransform::create_fixed_prefix(KEY_BYTES));
                options.set_allow_mmap_reads(true);
                options.set_plain_table_factory(&PlainTableFactoryOptions {
                    user_key_length: KEY_BYTES as u32,
                    bloom_bits_per_key: 10,
                    hash_table_ratio: 0.75,
                    index_sparseness: 16,
                    huge_page_tlb_size: 0,
                    encoding_type: KeyEncodingType::Plain,
                    full_scan_mode: false,
                    store_index_in_file: false,
                });
            }
        }
        let family = ColumnFamilyDescriptor::new(FAMILY, options.clone());
        Ok(Self { db: DB::open_cf_descriptors(&options, folder, [family])?, kind, durable })
    }
}

fn blocks() -> BlockBasedOptions {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(&Cache::new_hyper_clock_cache(CACHE_BYTES, 0));
    blocks.set_data_block_index_type(DataBlockIndexType::BinaryAndHash);
    blocks.set_data_block_hash_ratio(0.75);
    blocks.set_bloom_filter(10.0, false);
    blocks.set_format_version(5);
    blocks
}

impl Store for Rocks {
    fn name(&self) -> &str {
        match self.kind {
            Kind::Blocks => "RocksDB, blocks",
            Kind::Plain => "RocksDB, plain",
        }
    }

    fn session(&self) -> Box<dyn Session + '_> {
        let mut reads = ReadOptions::default();
        reads.set_verify_checksums(false);
        let mut writes = WriteOptions::default();
        writes.set_sync(self.durable);
        Box::new(RocksSession { store: self, reads, writes })
    }

    fn settle(&self, after: Operation) {
        if matches!(after, Operation::Insert | Operation::Delete) {
            self.db.flush().expect("RocksDB works");
            self.db.compact_range::<&[u8], &[u8]>(None, None);
        }
    }
}

struct RocksSession<'s> {
    store: &'s Rocks,
    reads: ReadOptions,
    writes: WriteOptions,
}

impl RocksSession<'_> {
    fn read(&self, keys: &[u64], sum: &mut u64) -> Result<usize, rocksdb::Error> {
        let db = &self.store.db;
        let mut found = 0;
        let mut add = |value: &[u8]| {
            found += 1;
            *sum = sum.wrapping_add(sum_of(value));
        };
        if keys.len() == 1 || self.store.kind == Kind::Plain {
            for key in keys {
                db.get_pinned_opt(key.to_be_bytes(), &self.reads)?.iter().for_each(|value| add(value));
            }
        } else {
            let names: Vec<_> = keys.iter().map(|key| key.to_be_bytes()).collect();
            let family = db.cf_handle(FAMILY).expect("every database has it");
            for value in db.batched_multi_get_cf_opt(family, &names, false, &self.reads) {
                value?.iter().for_each(|value| add(value));
            }
        }
        Ok(found)
    }

    fn write(&self, operation: Operation, keys: &[u64], round: u64) -> Result<usize, rocksdb::Error> {
        let mut batch = WriteBatch::default();
        for key in keys {
            match operation {
                Operation::Delete => batch.delete(key.to_be_bytes()),
                _ => batch.put(key.to_be_bytes(), value_of(*key, round)),
            }
        }
        self.store.db.write_opt(batch, &self.writes)?;
        Ok(keys.len())
    }
}

impl Session for RocksSession<'_> {
    fn run(&mut self, operation: Operation, keys: &[u64], round: u64, sum: &mut u64) -> usize {
        match operation {
            Operation::Read => self.read(keys, sum),
            write => self.write(write, keys, round),
        }
        .expect("RocksDB works")
    }
}
