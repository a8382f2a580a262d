//! The rows that operators keep: in memory while they fit, then on tapes in the statement's temporary file.
//!
//! The files themselves are in [`crate::temporary`].

pub(crate) mod kept;
pub(crate) mod key_set;
pub(crate) mod merged;
pub(crate) mod partitions;
pub(crate) mod row_copy;
pub(crate) mod row_store;
pub(crate) mod sorter;
pub(crate) mod tape;

/// A hash for partitions, independent of the hashes of hash tables.
pub(crate) fn partition_hash(key: &[u8]) -> u64 {
    // It must spread keys evenly; collisions do no harm.
    let mut hash = 0x9E37_79B9_7F4A_7C15_u64 ^ key.len() as u64;
    let (words, rest) = key.as_chunks::<8>();
    for word in words {
        hash = mixed(hash ^ u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mixed(hash ^ u64::from_le_bytes(last))
}

/// One round of a 64-bit finalizer: each bit of the input changes each bit of the output.
fn mixed(hash: u64) -> u64 {
    let product = u128::from(hash ^ 0x2D35_8DCC_AA6C_78A5) * u128::from(0x9E37_79B9_7F4A_7C15_u64);
    (product as u64) ^ (product >> 64) as u64
}
