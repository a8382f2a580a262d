//! `advice.log` in the data directory: what the query doctor measured and changed, one line of JSON each.
//!
//! ```text
//! {"time":"2026-11-28 10:00:00","id":"0123456789abcdef","action":"measured","by":"root@localhost","database":"shop","table":"orders",
//!  "index":"advice_0123456789abcdef","note":"...","trial":{...}}
//! ```
//! An operator can read it; `sys.advice_log` shows the same. The state of a finding follows from its lines, so it survives a restart.
//!
//! J1: a line is on disk before the statement that made it answers.
//! J2: the state of a finding is that of its last line. A line that a crash cut off is dropped at the start.
//! J3: the file keeps the last [`LINES_MAX`] lines; a start cuts what is older, but keeps the last line of each finding.

use super::measured::Trial;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use sync::Mutex;

const FILE: &str = "advice.log";
const LINES_MAX: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The index was made, and the statements ran with and without it. It is there and invisible if it helped, and gone if it did not.
    Measured,
    /// The index is visible, and watched.
    Applied,
    /// It kept its promise, and is not watched any more.
    Kept,
    /// It did not, and is invisible again.
    Hidden,
    /// The index was dropped.
    Reverted,
}

impl Action {
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Applied => "applied",
            Self::Kept => "kept",
            Self::Hidden => "hidden",
            Self::Reverted => "reverted",
        }
    }
}

/// The counts of a statement when an index was applied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    pub database: Option<String>,
    pub digest: String,
    pub count: u64,
    pub time_us: f64,
    pub examined: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    /// UTC.
    pub time: String,
    /// Of the finding.
    pub id: String,
    pub action: Action,
    /// The account that asked for it.
    pub by: String,
    pub database: String,
    pub table: String,
    pub index: String,
    /// One sentence for people.
    pub note: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<Trial>,
    /// The statements that it should help, and those that write the table, before it was applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub helps: Vec<Baseline>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writers: Vec<Baseline>,
}

#[derive(Default)]
struct Inside {
    lines: Vec<Line>,
    /// Findings at which a statement works.
    busy: HashSet<String>,
    is_watching: bool,
}

/// The lines, in memory and on disk.
pub struct Journal {
    path: PathBuf,
    inside: Mutex<Inside>,
}

/// The mark that a statement works at a finding, until this is dropped.
pub struct Busy<'j> {
    journal: &'j Journal,
    id: String,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.journal.inside.lock().busy.remove(&self.id);
    }
}

impl Journal {
    /// Reads the file, if it exists, and cuts it (J2, J3).
    ///
    /// # Errors
    /// One line for people: the file cannot be read or written.
    pub fn open(directory: &Path) -> Result<Self, String> {
        let path = directory.join(FILE);
        let wrong = |error: io::Error| format!("{}: {error}", path.display());
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(wrong(error)),
        };
        let mut dropped = 0;
        let mut lines: Vec<Line> = Vec::new();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(line) => lines.push(line),
                Err(_) => dropped += 1,
            }
        }
        if dropped > 0 {
            tracing::warn!("{}: {dropped} lines cannot be read and are dropped", path.display());
        }
        let is_long = lines.len() > LINES_MAX;
        if is_long {
            let old = lines.len() - LINES_MAX;
            let mut seen = HashSet::new();
            let mut keep: Vec<bool> = lines.iter().rev().map(|line| seen.insert(line.id.clone())).collect();
            keep.reverse();
            let mut place = 0;
            lines.retain(|_| {
                place += 1;
                place > old || keep[place - 1]
            });
        }
        if is_long || dropped > 0 || text.last().is_some_and(|byte| *byte != b'\n') {
            rewrite(&path, &lines).map_err(wrong)?;
        }
        Ok(Self { path, inside: Mutex::new(Inside { lines, ..Inside::default() }) })
    }

    /// Adds a line (J1). Blocks.
    ///
    /// # Errors
    /// I/O; the line does not count then.
    pub fn add(&self, line: Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        let mut inside = self.inside.lock();
        let is_new = !self.path.exists();
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        file.write_all(&text)?;
        file.sync_data()?;
        if is_new && let Some(directory) = self.path.parent() {
            File::open(directory)?.sync_all()?;
        }
        inside.lines.push(line);
        Ok(())
    }

    pub fn lines(&self) -> Vec<Line> {
        self.inside.lock().lines.clone()
    }

    /// The last line about a finding. J2
    pub fn last(&self, id: &str) -> Option<Line> {
        self.inside.lock().lines.iter().rev().find(|line| line.id == id).cloned()
    }

    /// The last measurement of a finding.
    pub fn trial(&self, id: &str) -> Option<Trial> {
        self.inside.lock().lines.iter().rev().filter(|line| line.id == id).find_map(|line| line.trial.clone())
    }

    /// The findings whose index is watched.
    pub fn watched(&self) -> Vec<Line> {
        let inside = self.inside.lock();
        let mut seen = HashSet::new();
        let last = inside.lines.iter().rev().filter(|line| seen.insert(line.id.as_str()));
        last.filter(|line| line.action == Action::Applied).cloned().collect()
    }

    /// The watch begins; `false`: it runs already, or there is nothing to watch.
    pub fn begin_watch(&self) -> bool {
        let is_needed = !self.watched().is_empty();
        is_needed && !std::mem::replace(&mut self.inside.lock().is_watching, true)
    }

    pub fn end_watch(&self) {
        self.inside.lock().is_watching = false;
    }

    /// A statement works at this finding from now on; `None`: another one does.
    pub fn begin(&self, id: &str) -> Option<Busy<'_>> {
        let is_first = self.inside.lock().busy.insert(id.to_owned());
        is_first.then(|| Busy { journal: self, id: id.to_owned() })
    }
}

/// Replaces the file.
fn rewrite(path: &Path, lines: &[Line]) -> io::Result<()> {
    let beside = path.with_extension("log.new");
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
    }
    let mut file = File::create(&beside)?;
    file.write_all(&text)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    match path.parent() {
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: &str, action: Action) -> Line {
        Line {
            time: String::new(),
            id: id.to_owned(),
            action,
            by: "root@localhost".to_owned(),
            database: "d".to_owned(),
            table: "t".to_owned(),
            index: format!("advice_{id}"),
            note: String::new(),
            trial: None,
            helps: vec![Baseline { digest: "x".to_owned(), count: 7, ..Baseline::default() }],
            writers: Vec::new(),
        }
    }

    #[test]
    fn a_line_that_was_cut_off_is_dropped_and_the_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(dir.path()).unwrap();
        for (id, action) in [("a", Action::Measured), ("b", Action::Applied), ("a", Action::Applied), ("b", Action::Kept)] {
            journal.add(line(id, action)).unwrap();
        }
        let path = dir.path().join(FILE);
        let mut text = std::fs::read(&path).unwrap();
        text.extend_from_slice(b"{\"time\":\"2026");
        std::fs::write(&path, text).unwrap();
        for _ in 0..2 {
            let journal = Journal::open(dir.path()).unwrap();
            assert_eq!(journal.lines().len(), 4);
            let watched: Vec<String> = journal.watched().into_iter().map(|line| line.id).collect();
            assert_eq!(watched, ["a"]);
            assert_eq!(journal.last("b").unwrap().action, Action::Kept);
            assert_eq!(journal.last("a").unwrap().helps[0].count, 7);
        }
    }

    #[test]
    fn a_long_file_is_cut_but_each_finding_keeps_its_last_line() {
        let dir = tempfile::tempdir().unwrap();
        let mut lines = vec![line("old", Action::Measured), line("old", Action::Applied)];
        lines.extend((0..LINES_MAX).map(|n| line(&n.to_string(), Action::Measured)));
        rewrite(&dir.path().join(FILE), &lines).unwrap();
        let journal = Journal::open(dir.path()).unwrap();
        assert_eq!(journal.lines().len(), LINES_MAX + 1);
        assert_eq!(journal.last("old").unwrap().action, Action::Applied);
    }

    #[test]
    fn one_statement_at_a_time_works_at_a_finding() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(dir.path()).unwrap();
        let busy = journal.begin("a");
        assert!(busy.is_some() && journal.begin("a").is_none() && journal.begin("b").is_some());
        drop(busy);
        assert!(journal.begin("a").is_some());
    }
}
