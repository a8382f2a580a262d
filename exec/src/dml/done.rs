//! The summary of a data change.

use std::fmt;

/// How a data change ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DmlDone {
    /// ROW_COUNT(): rows changed (inserted 1, replaced 2, updated by ON DUPLICATE KEY 2).
    pub affected: u64,
    /// Rows an UPDATE found, changed or not.
    pub matched: u64,
    /// The id for the status packet: the first generated one, else an explicit AUTO_INCREMENT value, else LAST_INSERT_ID(n).
    pub last_insert_id: u64,
    pub info: ChangeInfo,
}

/// The text that a data change sends to the client; it is formatted only if a client reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChangeInfo {
    #[default]
    None,
    Updated {
        matched: u64,
        changed: u64,
        warnings: u64,
    },
    Inserted {
        records: u64,
        duplicates: u64,
        warnings: u64,
    },
    Loaded {
        records: u64,
        deleted: u64,
        skipped: u64,
        warnings: u64,
    },
}

impl fmt::Display for ChangeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Updated { matched, changed, warnings } => {
                write!(f, "Rows matched: {matched}  Changed: {changed}  Warnings: {warnings}")
            }
            Self::Inserted { records, duplicates, warnings } => {
                write!(f, "Records: {records}  Duplicates: {duplicates}  Warnings: {warnings}")
            }
            Self::Loaded { records, deleted, skipped, warnings } => {
                write!(f, "Records: {records}  Deleted: {deleted}  Skipped: {skipped}  Warnings: {warnings}")
            }
        }
    }
}
