//! From a committed transaction to the bytes of its group.
//!
//! ```text
//! GTID | BEGIN | ROWS_QUERY ... | TABLE_MAP ... | rows ... | XID        GTID | the statement of a definition
//! ```
//! A transaction's changes are one statement of the stream, or several if it is long: readers keep the tables of a statement in mind until it
//! ends. Rows of the same table and kind that follow each other share an event, up to `binlog_row_event_max_size`.
//!
//! The events have neither positions nor checksums when they leave here ([`event::finish`]).

use crate::definitions::{Definitions, Known, Role};
use crate::event::{self, QueryContext};
use crate::gather::{Change, Gathered, nameless};
use crate::note::Note;
use crate::row::{BadRow, RowImage, WireTable};
use crate::settings::Settings;
use hashbrown::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use table::log_view::{LARGE_CHUNK_BYTES, chunk_of_key, chunks_in};
use txn::TreeRef;
use types::row::ExternalRef;

/// Beyond so many bytes the events of a group go to a file.
const MEMORY_MAX: usize = 16 << 20;
/// An empty body keeps so many bytes of memory.
const BODY_KEPT: usize = 256 << 10;
/// A statement of the stream is ended after so many bytes.
const STATEMENT_BYTES: usize = 1 << 20;

/// Why a transaction cannot be rendered.
#[derive(Debug)]
pub enum Error {
    Io(io::Error),
    Row(String),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<BadRow> for Error {
    fn from(BadRow(why): BadRow) -> Self {
        Self::Row(why)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Row(why) => f.write_str(why),
        }
    }
}

/// Reads large values that are not in the transaction itself.
pub trait Large {
    /// The value in tree `tree` as the transaction saw it.
    ///
    /// # Errors
    /// It cannot be found.
    fn read(&mut self, tree: TreeRef, reference: ExternalRef) -> Result<Vec<u8>, Error>;
}

/// The events of a group without its first one.
#[derive(Default)]
pub struct Body {
    pub bytes: Vec<u8>,
    /// What came before `bytes`, in pieces of whole events.
    pub file: Option<(File, Vec<u64>)>,
}

impl Body {
    /// Makes it empty. Much memory is given back.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(BODY_KEPT);
        self.file = None;
    }

    pub fn len(&self) -> u64 {
        self.file.as_ref().and_then(|(_, ends)| ends.last().copied()).unwrap_or(0) + self.bytes.len() as u64
    }

    fn spill(&mut self, path: impl FnOnce() -> PathBuf) -> io::Result<()> {
        if self.bytes.len() < MEMORY_MAX {
            return Ok(());
        }
        let (file, ends) = match &mut self.file {
            Some(file) => file,
            None => self.file.insert((nameless(&path())?, Vec::new())),
        };
        let at = ends.last().copied().unwrap_or(0);
        file.write_all_at(&self.bytes, at)?;
        ends.push(at + self.bytes.len() as u64);
        self.bytes.clear();
        Ok(())
    }

    /// Gives all events, in pieces.
    pub fn for_each(&mut self, mut each: impl FnMut(&mut [u8]) -> io::Result<()>) -> io::Result<()> {
        if let Some((file, ends)) = &self.file {
            let (mut begin, mut piece) = (0, Vec::new());
            for end in ends {
                piece.resize((end - begin) as usize, 0);
                file.read_exact_at(&mut piece, begin)?;
                each(&mut piece)?;
                begin = *end;
            }
        }
        if self.bytes.is_empty() { Ok(()) } else { each(&mut self.bytes) }
    }
}

/// The group's fixed facts.
#[derive(Clone, Copy)]
pub struct Moment {
    /// Microseconds since 1970.
    pub time_us: u64,
    /// The number of its commit.
    pub xid: u64,
}

impl Moment {
    fn seconds(self) -> u32 {
        (self.time_us / 1_000_000) as u32
    }
}

/// The body of a definition's group.
pub fn definition(
    body: &mut Body,
    settings: &Settings,
    note: &crate::note::Statement,
    text: &str,
    moment: Moment,
    checksum: bool,
) {
    let context = note.context(moment.xid);
    let seconds = if note.time_us == 0 { moment.seconds() } else { (note.time_us / 1_000_000) as u32 };
    event::put_query(&mut body.bytes, (seconds, settings.server_id), &context, &note.database, text.as_bytes(), checksum);
}

/// Chunks of large values in a transaction: tree, value, chunk.
type Chunks = HashMap<(u32, u64, u32), Vec<u8>, foldhash::fast::FixedState>;

/// The body of a group of rows. `false`: the transaction has changed no rows of tables.
///
/// # Errors
/// Damaged rows; I/O.
pub fn rows(
    body: &mut Body,
    gathered: &Gathered,
    definitions: &Definitions,
    (settings, moment, checksum): (&Settings, Moment, bool),
    note: Option<&Note>,
    large: &mut dyn Large,
    spill_path: impl Fn() -> PathBuf,
) -> Result<bool, Error> {
    // The tables, and the chunks of large values that the rows may refer to.
    let mut tables: Vec<Arc<Known>> = Vec::new();
    let mut chunks = Chunks::default();
    gathered.for_each::<Error>(|change| {
        match definitions.role(change.tree) {
            Some(Role::Clustered(known)) if !tables.iter().any(|table| Arc::ptr_eq(table, known)) => {
                tables.push(Arc::clone(known));
            }
            Some(Role::Large) => {
                let place = chunk_of_key(change.key).ok_or_else(|| Error::Row("a chunk has a wrong key".to_owned()))?;
                if let Some(bytes) = change.new.or(change.old) {
                    chunks.insert((change.tree, place.0, place.1), bytes.to_vec());
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    // A GTID by hand counts as executed, whatever its transaction has done.
    if tables.is_empty() && note.is_none_or(|note| note.gtid.is_none()) {
        return Ok(false);
    }
    let stamp = (moment.seconds(), settings.server_id);
    let context = QueryContext {
        collations: (settings.server_collation, settings.server_collation, settings.server_collation),
        ..QueryContext::default()
    };
    event::put_query(&mut body.bytes, stamp, &context, "", b"BEGIN", checksum);
    for text in note.into_iter().flat_map(|note| &note.rows_query) {
        event::put_rows_query(&mut body.bytes, stamp.0, stamp.1, text.as_bytes(), checksum);
    }
    let spill_path = &spill_path;
    let mut writer = Rows { body, settings, stamp, checksum, tables: &tables, open: None, last: 0, statement: None, spill_path };
    gathered.for_each::<Error>(|change| {
        let Some(Role::Clustered(known)) = definitions.role(change.tree) else { return Ok(()) };
        let tree = known.large;
        writer.put(known, &change, |reference| {
            let tree = tree.ok_or_else(|| Error::Row("a row refers to a large value, but its table has none".to_owned()))?;
            if let Some(value) = joined(&chunks, tree.id, reference) {
                return Ok(value);
            }
            large.read(tree, reference)
        })
    })?;
    writer.end_statement()?;
    event::put_xid(&mut body.bytes, stamp.0, stamp.1, moment.xid, checksum);
    Ok(true)
}

/// A large value of the transaction's own chunks.
fn joined(chunks: &Chunks, tree: u32, reference: ExternalRef) -> Option<Vec<u8>> {
    let mut value = Vec::with_capacity(reference.length.min(1 << 20) as usize);
    for chunk in 0..chunks_in(reference.length) {
        let piece = chunks.get(&(tree, reference.blob, chunk))?;
        debug_assert!(piece.len() <= LARGE_CHUNK_BYTES);
        value.extend_from_slice(piece);
    }
    (value.len() as u64 == reference.length).then_some(value)
}

/// An event of rows that is not ended.
struct Open {
    start: usize,
    kind: u8,
    table: *const Known,
    shown: (Vec<bool>, Vec<bool>),
}

/// Writes the changes of a transaction.
struct Rows<'a> {
    body: &'a mut Body,
    settings: &'a Settings,
    stamp: (u32, u32),
    checksum: bool,
    tables: &'a [Arc<Known>],
    open: Option<Open>,
    /// Where the running statement began, if one runs.
    statement: Option<usize>,
    /// Where its last event begins that is ended.
    last: usize,
    spill_path: &'a dyn Fn() -> PathBuf,
}

impl Rows<'_> {
    fn put(
        &mut self,
        known: &Arc<Known>,
        change: &Change<'_>,
        mut large: impl FnMut(ExternalRef) -> Result<Vec<u8>, Error>,
    ) -> Result<(), Error> {
        let (kind, first, second) = match (change.old, change.new) {
            (None, Some(new)) => (event::WRITE_ROWS, new, None),
            (Some(old), None) => (event::DELETE_ROWS, old, None),
            (Some(old), Some(new)) => (event::UPDATE_ROWS, old, Some(new)),
            // A row that the transaction itself had inserted and deleted: the deletion of a tombstone.
            (None, None) => return Ok(()),
        };
        let wire = &known.wire;
        let is_open = |open: &Open| {
            let (body, max) = (&self.body.bytes, self.settings.event_bytes_max);
            open.kind == kind && open.table == Arc::as_ptr(known) && body.len() - open.start < max
        };
        let is_full_image = self.settings.image == RowImage::Full;
        let shown = if is_full_image && self.open.as_ref().is_some_and(is_open) {
            None
        } else {
            Some(wire.shown(self.settings.image, change.old, change.new)?)
        };
        let goes_on = self.open.as_ref().is_some_and(|open| is_open(open) && shown.as_ref().is_none_or(|s| *s == open.shown));
        if !goes_on {
            self.end_event();
            if self.statement.is_some_and(|start| self.body.bytes.len().saturating_sub(start) > STATEMENT_BYTES) {
                self.end_statement()?;
            }
            self.begin_statement();
            let shown = shown.expect("made where no event goes on");
            let columns = match kind {
                event::UPDATE_ROWS => (&shown.0[..], Some(&shown.1[..])),
                event::WRITE_ROWS => (&shown.1[..], None),
                _ => (&shown.0[..], None),
            };
            let start = wire.begin_rows(&mut self.body.bytes, kind, self.stamp, columns);
            self.open = Some(Open { start, kind, table: Arc::as_ptr(known), shown });
        }
        let open = self.open.as_ref().expect("begun above");
        let first_shown = if kind == event::WRITE_ROWS { &open.shown.1 } else { &open.shown.0 };
        wire.put_image(&mut self.body.bytes, first, first_shown, &mut large)?;
        if let Some(second) = second {
            wire.put_image(&mut self.body.bytes, second, &open.shown.1, &mut large)?;
        }
        Ok(())
    }

    fn begin_statement(&mut self) {
        if self.statement.is_none() {
            self.statement = Some(self.body.bytes.len());
            for table in self.tables {
                table.wire.put_table_map(&mut self.body.bytes, self.stamp, self.settings.full_metadata, self.checksum);
            }
        }
    }

    /// Ends the open event, which the statement goes on behind.
    fn end_event(&mut self) {
        if let Some(open) = self.open.take() {
            self.last = open.start;
            event::end(&mut self.body.bytes, open.start, self.checksum);
        }
    }

    /// Ends the statement; what the group has so far may go to the file then.
    fn end_statement(&mut self) -> io::Result<()> {
        self.end_event();
        if self.statement.take().is_some() {
            WireTable::mark_statement_end(&mut self.body.bytes, self.last);
            self.body.spill(self.spill_path)?;
        }
        Ok(())
    }
}
