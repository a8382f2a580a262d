//! Persisted global variables: SET PERSIST, RESET PERSIST, and the file `mysqld-auto.cnf` in the data directory, in
//! MySQL's format.
//!
//! ```text
//! {"Version": 2, "mysql_dynamic_variables":
//!     {"wait_timeout": {"Value": "60", "Metadata": {"Timestamp": microseconds, "User": "root", "Host": "localhost"}}}}
//! ```
//! The file is read at the start, and its values become the global ones. A change writes a new file beside it, syncs
//! that and renames it.
//!
//! P1: a persisted value is on disk before it takes effect.

use super::{Setting, VariableId, find};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use sync::Mutex;
use types::Value;

const FILE: &str = "mysqld-auto.cnf";
/// MySQL's of the form.
const VERSION: u32 = 2;

/// A value, with the user who set it and the time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Entry {
    pub value: String,
    pub metadata: Metadata,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Metadata {
    /// Microseconds since the epoch.
    pub timestamp: i64,
    pub user: String,
    pub host: String,
}

#[derive(Serialize, Deserialize)]
struct Document {
    #[serde(rename = "Version")]
    version: u32,
    #[serde(rename = "mysql_dynamic_variables", default)]
    variables: Entries,
}

/// By the names of the variables.
pub type Entries = BTreeMap<String, Entry>;

/// The persisted variables.
pub struct Persisted {
    path: PathBuf,
    entries: Mutex<Entries>,
    /// The entries at the start, which are in effect.
    at_start: Entries,
}

impl Persisted {
    /// Reads the file, if it exists.
    pub fn open(directory: &Path) -> Result<Self, String> {
        let path = directory.join(FILE);
        let wrong = |why: String| format!("{} cannot be read: {why}", path.display());
        let entries = match std::fs::read(&path) {
            Ok(text) => {
                let document: Document = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
                if document.version != VERSION {
                    return Err(wrong(format!("it is of version {}, not {VERSION}", document.version)));
                }
                document.variables
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Entries::new(),
            Err(error) => return Err(wrong(error.to_string())),
        };
        Ok(Self { path, entries: Mutex::new(entries.clone()), at_start: entries })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn at_start(&self) -> &Entries {
        &self.at_start
    }

    pub fn entries(&self) -> Entries {
        self.entries.lock().clone()
    }

    /// The values for the start, without invalid ones.
    pub fn settings(&self) -> Vec<(VariableId, Setting)> {
        let setting = |(name, entry): (&String, &Entry)| {
            let found = find(name).filter(|id| !id.definition().read_only()).and_then(|id| Some((id, id.read(&entry.value)?)));
            let found = found.filter(|(id, setting)| id.allow(&id.start(), setting).is_ok());
            if found.is_none() {
                tracing::warn!(name, value = entry.value, "{FILE} has a value that cannot be set");
            }
            found
        };
        self.at_start.iter().filter_map(setting).collect()
    }

    /// Changes the file (P1). Blocks.
    pub fn change(&self, change: impl FnOnce(&mut Entries)) -> io::Result<()> {
        let mut entries = self.entries.lock();
        let mut next = entries.clone();
        change(&mut next);
        let document = Document { version: VERSION, variables: next };
        self.write(&serde_json::to_vec(&document)?)?;
        *entries = document.variables;
        Ok(())
    }

    fn write(&self, text: &[u8]) -> io::Result<()> {
        let beside = self.path.with_extension("cnf.new");
        let mut file = File::create(&beside)?;
        file.write_all(text)?;
        file.sync_all()?;
        std::fs::rename(&beside, &self.path)?;
        let directory = self.path.parent().unwrap_or_else(|| Path::new("."));
        File::open(directory)?.sync_all()
    }
}

impl VariableId {
    /// A value from its text, as [`VariableId::show`] prints it.
    pub(super) fn read(self, text: &str) -> Option<Setting> {
        let number = |text: &str| match text.parse::<i64>() {
            Ok(number) => Some(Value::Int(number)),
            Err(_) => text.parse().map(Value::UInt).ok(),
        };
        let value = match self.start() {
            Setting::Int(_) if text == "ON" || text == "OFF" => Value::Bytes(text.as_bytes().into()),
            Setting::Double(_) => Value::Double(text.parse().ok()?),
            Setting::Int(_) | Setting::UInt(_) => number(text).unwrap_or_else(|| Value::Bytes(text.as_bytes().into())),
            Setting::Null | Setting::Text(_) => Value::Bytes(text.as_bytes().into()),
        };
        Some(self.check(&value).ok()?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{all, known};
    use super::*;

    #[test]
    fn what_is_shown_is_read() {
        for id in all().filter(|id| !id.definition().read_only()) {
            let start = id.start();
            let shown = id.show(&start);
            let read = id.read(&shown);
            // NULL shows as nothing.
            let is_same = read.as_ref().map(|setting| id.show(setting)) == Some(shown);
            assert!(is_same || start == Setting::Null, "{} {start:?} {read:?}", id.name());
        }
        assert_eq!(known("wait_timeout").read("7"), Some(Setting::UInt(7)));
        assert_eq!(known("wait_timeout").read("soon"), None);
        assert_eq!(known("autocommit").read("OFF"), Some(Setting::Int(0)));
    }

    #[test]
    fn changes_are_in_the_file() {
        let directory = tempfile::tempdir().expect("a folder");
        let persisted = Persisted::open(directory.path()).expect("there is no file");
        let entry = |value: &str| Entry { value: value.to_owned(), metadata: Metadata::default() };
        persisted.change(|all| drop(all.insert("wait_timeout".to_owned(), entry("7")))).expect("written");
        persisted.change(|all| drop(all.insert("nonsense".to_owned(), entry("1")))).expect("written");
        let again = Persisted::open(directory.path()).expect("a sound file");
        assert_eq!(again.settings(), [(known("wait_timeout"), Setting::UInt(7))]);
        assert_eq!(again.entries().len(), 2);
        again.change(Entries::clear).expect("written");
        assert!(Persisted::open(directory.path()).expect("a sound file").entries().is_empty());
        std::fs::write(directory.path().join(FILE), b"{").expect("written");
        assert!(Persisted::open(directory.path()).is_err());
    }
}
