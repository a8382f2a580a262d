//! How far a move is: a file beside the person who moves.
//!
//! J1: the file is replaced as a whole, and is durable before the next phase begins. Only its owner may read it: keys of rows are in it.
//! J2: a chunk is noted after it is committed at the target. A chunk that is not noted is copied again.

use crate::error::{Error, Result};
use crate::progress::count;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const FORMAT: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Phase {
    /// Tables are made at the target.
    Definitions,
    /// Rows are copied.
    Copying,
    /// The target applies what has happened during the copy.
    CatchingUp,
    /// The target has what the source has, and follows it.
    Following,
    /// The target is the one that is written.
    CutOver,
}

impl Phase {
    pub fn name(self) -> &'static str {
        match self {
            Self::Definitions => "definitions",
            Self::Copying => "copying rows",
            Self::CatchingUp => "catching up",
            Self::Following => "following",
            Self::CutOver => "cut over",
        }
    }
}

/// A value of a key, for the condition of the next chunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeyValue {
    Int(i64),
    UInt(u64),
    /// Texts, times and decimals. In hexadecimal digits.
    Bytes(#[serde(with = "hex")] Vec<u8>),
}

/// A part of a table that one thread copies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// The first number of the key's first column, and the number behind the last.
    pub low: Option<i128>,
    pub high: Option<i128>,
    /// The key of the last row that is at the target.
    pub after: Option<Vec<KeyValue>>,
    pub is_done: bool,
    pub rows: u64,
}

/// A table that is copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copied {
    pub database: String,
    pub name: String,
    /// As the source guesses.
    pub rows_about: u64,
    pub slices: Vec<Slice>,
}

/// A part of a table whose rows changed each time they were compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsettled {
    pub database: String,
    pub name: String,
    /// Behind this key, to that one; `None`: no bound.
    pub after: Option<Vec<KeyValue>>,
    pub to: Option<Vec<KeyValue>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    #[serde(skip)]
    path: PathBuf,
    format: u32,
    /// The `server_uuid`s.
    pub source: String,
    pub target: String,
    pub phase: Phase,
    /// M1: sets of GTIDs.
    pub begin: String,
    pub copied: String,
    pub tables: Vec<Copied>,
    /// Events that run at the source, which the target's scheduler leaves alone until the cut-over.
    pub events: Vec<(String, String)>,
    pub unsettled: Vec<Unsettled>,
}

impl Journal {
    pub fn new(path: &Path, source: String, target: String) -> Self {
        Self {
            path: path.into(),
            format: FORMAT,
            source,
            target,
            phase: Phase::Definitions,
            begin: String::new(),
            copied: String::new(),
            tables: Vec::new(),
            events: Vec::new(),
            unsettled: Vec::new(),
        }
    }

    /// `None`: no move has begun.
    ///
    /// # Errors
    /// I/O; a file that is no journal.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let wrong = |why: &dyn std::fmt::Display| Error(format!("the journal {}: {why}", path.display()));
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(wrong(&error)),
        };
        let read: Self = serde_json::from_slice(&bytes).map_err(|error| wrong(&format!("this is no journal: {error}")))?;
        if read.format != FORMAT {
            return Err(wrong(&format!("it has format {}, this version reads {FORMAT}", read.format)));
        }
        Ok(Some(Self { path: path.into(), ..read }))
    }

    /// J1
    ///
    /// # Errors
    /// I/O
    pub fn write(&self) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(self).map_err(|error| Error(error.to_string()))?;
        let new = self.path.with_extension("json.new");
        let written = (|| {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
            file.write_all(&bytes)?;
            file.sync_data()?;
            std::fs::rename(&new, &self.path)?;
            let directory = self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            File::open(directory)?.sync_all()
        })();
        written.map_err(|error| Error(format!("the journal {}: {error}", self.path.display())))
    }

    /// For people.
    pub fn text(&self) -> String {
        let all: u64 = self.tables.iter().map(|table| table.rows_about).sum();
        let done: u64 = self.tables.iter().flat_map(|table| &table.slices).map(|slice| slice.rows).sum();
        let complete = self.tables.iter().filter(|table| table.slices.iter().all(|slice| slice.is_done)).count();
        let mut text = format!(
            "from server {} to server {}: {}\n{complete} of {} tables and {} rows copied, of about {}\n",
            self.source,
            self.target,
            self.phase.name(),
            self.tables.len(),
            count(done),
            count(all.max(done))
        );
        if !self.unsettled.is_empty() {
            text.push_str(&format!("{} parts of tables changed whenever they were compared\n", self.unsettled.len()));
        }
        text
    }
}

/// Bytes as hexadecimal digits.
mod hex {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.as_bytes().chunks(2);
        let byte = |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok());
        digits
            .map(|pair| byte(pair).filter(|_| pair.len() == 2).ok_or_else(|| D::Error::custom("no hexadecimal digits")))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Copied, Journal, KeyValue, Phase, Slice};

    #[test]
    fn a_journal_comes_back_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("move.json");
        assert_eq!(Journal::read(&path).unwrap(), None);
        let mut journal = Journal::new(&path, "a".into(), "b".into());
        let after = Some(vec![KeyValue::Int(-1), KeyValue::UInt(u64::MAX), KeyValue::Bytes(vec![0, 255])]);
        let slice = Slice { low: Some(i128::from(u64::MAX)), high: None, after, is_done: false, rows: 7 };
        journal.tables.push(Copied { database: "d".into(), name: "t".into(), rows_about: 9, slices: vec![slice] });
        journal.phase = Phase::Copying;
        journal.write().unwrap();
        assert_eq!(Journal::read(&path).unwrap(), Some(journal));
        std::fs::write(&path, "{}").unwrap();
        assert!(Journal::read(&path).unwrap_err().0.contains("no journal"));
    }
}
