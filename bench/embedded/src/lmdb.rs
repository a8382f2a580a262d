//! LMDB through heed: one transaction per batch, values read where they lie in the map. Not durable: MDB_NOSYNC.

use flexasync::{Operation, Session, Store, sum_of, value_of};
use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions, WithTls};
use std::path::Path;

/// Address space for the file.
const MAP_BYTES: usize = 4 << 30;

pub struct Lmdb {
    env: Env<WithTls>,
    database: Database<Bytes, Bytes>,
}

impl Lmdb {
    pub fn open(folder: &Path, durable: bool) -> Result<Self, Box<dyn std::error::Error>> {
        std::fs::create_dir_all(folder)?;
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_BYTES);
        let flags = if durable { EnvFlags::empty() } else { EnvFlags::NO_SYNC };
        // SAFETY: the folder is this run's own, so no other process changes the mapped file.
        let env = unsafe { options.flags(flags).open(folder)? };
        let mut txn = env.write_txn()?;
        let database = env.create_database(&mut txn, None)?;
        txn.commit()?;
        Ok(Self { env, database })
    }

    fn read(&self, keys: &[u64], sum: &mut u64) -> heed::Result<usize> {
        let txn = self.env.read_txn()?;
        let mut found = 0;
        for key in keys {
            if let Some(value) = self.database.get(&txn, &key.to_be_bytes())? {
                found += 1;
                *sum = sum.wrapping_add(sum_of(value));
            }
        }
        Ok(found)
    }

    fn write(&self, operation: Operation, keys: &[u64], round: u64) -> heed::Result<usize> {
        let mut txn = self.env.write_txn()?;
        let mut done = 0;
        for key in keys {
            let name = key.to_be_bytes();
            done += match operation {
                Operation::Delete => usize::from(self.database.delete(&mut txn, &name)?),
                _ => self.database.put(&mut txn, &name, &value_of(*key, round)).map(|()| 1)?,
            };
        }
        txn.commit()?;
        Ok(done)
    }
}

impl Store for Lmdb {
    fn name(&self) -> &str {
        "LMDB"
    }

    fn session(&self) -> Box<dyn Session + '_> {
        Box::new(LmdbSession(self))
    }
}

struct LmdbSession<'s>(&'s Lmdb);

impl Session for LmdbSession<'_> {
    fn run(&mut self, operation: Operation, keys: &[u64], round: u64, sum: &mut u64) -> usize {
        match operation {
            Operation::Read => self.0.read(keys, sum),
            write => self.0.write(write, keys, round),
        }
        .expect("LMDB works")
    }
}
