//! SELECT ... INTO OUTFILE and INTO DUMPFILE: rows go to a new file in the one directory where statements may create
//! files.
//!
//! 1. The path must be inside `secure_file_priv`. The system call that creates the file refuses links that lead out of
//!    it.
//! 2. Rows become text in a buffer. A thread that lives as long as the statement creates the file and writes full
//!    buffers, while the worker serves others.
//!
//! F1: at most one buffer is with the thread; the statement waits before it hands over another one.
//! F2: a failed statement leaves the file as written so far, as in MySQL; an existing file is never changed.

use crate::error::{Error, Result};
use conditions::Condition;
use exec::RowSink;
use sql::ast::OutFile;
use sql::charsets;
use sql::plan::{FileFormat, OutputColumn};
use std::borrow::Cow;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use sync::waits::{self, Cause, Kind};
use sync::{Condvar, Mutex};
use types::charset::Charset;
use types::{CollationId, ColumnType, LobSize, TypeKind, Value};

/// Bytes of one write.
const BUFFER_BYTES: usize = 256 << 10;

/// The file of a statement, as planned.
#[derive(Debug)]
pub struct FileTarget {
    path: String,
    /// `None`: INTO DUMPFILE, one row without a format.
    format: Option<Format>,
}

/// How rows are converted to text.
#[derive(Clone, Debug)]
struct Format {
    file: FileFormat,
    /// CHARACTER SET; `None` keeps each string in its own.
    charset: Option<&'static str>,
}

impl FileTarget {
    pub fn text(file: &OutFile<'_>) -> Result<Self> {
        let charset = match file.charset {
            Some(name) => Some(charsets::for_clients(name)?.name),
            None => None,
        };
        let mut format = Format { file: FileFormat::new(&file.format)?, charset };
        if format.file.lines_terminated.is_empty() {
            format.file.lines_terminated = format.file.fields_terminated.clone();
        }
        Ok(Self { path: String::from_utf8_lossy(file.path).into_owned(), format: Some(format) })
    }

    pub fn dump(path: &[u8]) -> Self {
        Self { path: String::from_utf8_lossy(path).into_owned(), format: None }
    }

    /// Creates the file. A relative path is relative to the database's directory, as in MySQL.
    pub fn open(
        &self,
        allowed: Option<&Path>,
        data_dir: &Path,
        database: Option<&str>,
        columns: &[OutputColumn],
    ) -> Result<FileSink> {
        let is_fixed = self.format.as_ref().is_some_and(|format| format.file.is_fixed());
        if is_fixed && columns.iter().any(|column| is_endless(&column.ty)) {
            return Err(Error::NotSupported("INTO OUTFILE with fixed lengths of columns as long as MEDIUMTEXT".to_owned()));
        }
        let path = data_dir.join(database.unwrap_or_default()).join(&self.path);
        let within = allowed.and_then(|allowed| beneath(allowed, &path).map(|rest| (allowed.to_path_buf(), rest)));
        let Some((directory, rest)) = within else { return Err(not_allowed()) };
        let writer = FileWriter::start(directory, rest).map_err(|error| failed(&self.path, &error))?;
        Ok(FileSink {
            path: self.path.clone(),
            format: self.format.clone(),
            writer,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            row_at: 0,
            columns: 0,
            rows: 0,
            value: Vec::new(),
        })
    }
}

/// The part of a path below a directory, by names only; the system resolves links.
pub(super) fn beneath(directory: &Path, path: &Path) -> Option<PathBuf> {
    let is_plain = |part: &Component<'_>| !matches!(part, Component::ParentDir);
    let rest = path.strip_prefix(directory).ok().map(Path::to_path_buf).or_else(|| {
        let real = directory.canonicalize().ok()?;
        path.strip_prefix(real).ok().map(Path::to_path_buf)
    })?;
    (!rest.as_os_str().is_empty() && rest.components().all(|part| is_plain(&part))).then_some(rest)
}

pub(super) fn not_allowed() -> Error {
    Error::from(Condition::OptionPreventsStatement { option: "--secure-file-priv".into() })
}

fn failed(path: &str, error: &std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::AlreadyExists => Error::from(Condition::FileExistsError { path: path.into() }),
        std::io::ErrorKind::CrossesDevices => not_allowed(),
        _ => {
            let (number, why) = (error.raw_os_error().unwrap_or(0), reason(error));
            Error::from(Condition::CantCreateFile { path: path.into(), errno: number.into(), why: why.into() })
        }
    }
}

/// The system's message without Rust's `(os error N)`.
pub(super) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Writes rows to a file.
pub struct FileSink {
    path: String,
    format: Option<Format>,
    writer: FileWriter,
    buffer: Vec<u8>,
    /// Where the current row begins.
    row_at: usize,
    /// Number of values of the current row so far.
    columns: usize,
    rows: u64,
    /// A value's text.
    value: Vec<u8>,
}

impl FileSink {
    /// Waits until the file is there.
    pub fn poll_opened(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.writer.poll_ready(cx).map_err(|error| failed(&self.path, &error))
    }

    /// Writes the rest, and waits until everything is written.
    pub fn poll_finished(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if !self.buffer.is_empty() {
            match self.writer.poll_ready(cx) {
                Poll::Ready(Ok(())) => self.writer.give(std::mem::take(&mut self.buffer)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(self.cannot_write(&error))),
                Poll::Pending => return Poll::Pending,
            }
        }
        self.writer.poll_end(cx).map_err(|error| self.cannot_write(&error))
    }

    fn cannot_write(&self, error: &std::io::Error) -> Error {
        Error::Exec(write_error(&self.path, error))
    }
}

fn write_error(path: &str, error: &std::io::Error) -> expr::Error {
    let (number, why) = (error.raw_os_error().unwrap_or(0), reason(error));
    expr::Error::from(Condition::ErrorOnWrite { path: path.into(), why: format!("OS errno {number} - {why}").into() })
}

impl RowSink for FileSink {
    fn start(&mut self, _columns: &[OutputColumn]) {}

    fn begin_row(&mut self) {
        self.row_at = self.buffer.len();
        self.columns = 0;
        if let Some(format) = &self.format {
            self.buffer.extend_from_slice(&format.file.lines_starting);
        }
    }

    fn value(&mut self, value: &Value<'_>, ty: &ColumnType) {
        let out = &mut self.buffer;
        let Some(format) = &self.format else {
            if !value.is_null() {
                put_plain(value, ty, None, out);
            }
            return;
        };
        if self.columns > 0 {
            out.extend_from_slice(&format.file.fields_terminated);
        }
        self.columns += 1;
        if format.file.is_fixed() {
            let width = width_of(ty, format.charset);
            self.value.clear();
            if !value.is_null() {
                put_plain(value, ty, format.charset, &mut self.value);
                self.value.truncate(width);
            }
            let filler = width - self.value.len();
            format.put(&self.value, is_text(ty), multibyte_set(ty, format.charset), out);
            out.resize(out.len() + filler, b' ');
            return;
        }
        if value.is_null() {
            match format.file.escaped {
                Some(escaped) => out.extend_from_slice(&[escaped, b'N']),
                None => out.extend_from_slice(b"NULL"),
            }
            return;
        }
        self.value.clear();
        put_plain(value, ty, format.charset, &mut self.value);
        format.put(&self.value, is_text(ty), multibyte_set(ty, format.charset), out);
    }

    fn end_row(&mut self) {
        self.rows += 1;
        if let Some(format) = &self.format {
            self.buffer.extend_from_slice(&format.file.lines_terminated);
        }
    }

    fn cancel_row(&mut self) {
        self.buffer.truncate(self.row_at);
    }

    fn is_full(&self) -> bool {
        // A second row for DUMPFILE is reported at once.
        self.buffer.len() >= BUFFER_BYTES || self.format.is_none() && self.rows > 1
    }

    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<expr::Result<()>> {
        if self.format.is_none() && self.rows > 1 {
            return Poll::Ready(Err(expr::Error::from(Condition::TooManyRows)));
        }
        match self.writer.poll_ready(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(error)) => Poll::Ready(Err(write_error(&self.path, &error))),
            Poll::Ready(Ok(())) => {
                self.writer.give(std::mem::replace(&mut self.buffer, Vec::with_capacity(BUFFER_BYTES)));
                Poll::Ready(Ok(()))
            }
        }
    }
}

/// Appends a value's text, converted to the file's character set if there is one.
fn put_plain(value: &Value<'_>, ty: &ColumnType, charset: Option<&str>, out: &mut Vec<u8>) {
    match value {
        Value::Bytes(bytes) if ty.kind != TypeKind::Json => {
            let text = match set_of(ty, charset) {
                Some(charset) => charset.encode(bytes),
                None => Cow::Borrowed(&**bytes),
            };
            out.extend_from_slice(&text);
        }
        _ => types::write_text(value, ty, out),
    }
}

/// The width of a field without separators.
fn width_of(ty: &ColumnType, charset: Option<&str>) -> usize {
    let characters = ty.display_length() as usize;
    if !is_text(ty) || ty.collation == CollationId::BINARY {
        return characters;
    }
    characters * set_of(ty, charset).map_or(ty.collation.character_bytes_max() as usize, Charset::char_bytes_max)
}

/// Would a fixed-width field of this type be megabytes of spaces?
fn is_endless(ty: &ColumnType) -> bool {
    match ty.kind {
        TypeKind::Text(size) | TypeKind::Blob(size) => matches!(size, LobSize::Medium | LobSize::Long),
        TypeKind::Json => true,
        _ => false,
    }
}

/// The character set in which a type's strings are written, if its bytes are not UTF-8.
fn set_of(ty: &ColumnType, charset: Option<&str>) -> Option<Charset> {
    if ty.collation == CollationId::BINARY {
        return None;
    }
    let charset = match charset {
        None | Some("binary") => Charset::of(ty.collation),
        Some(charset) => Charset::named(charset)?,
    };
    Some(charset).filter(|charset| charset.has_own_bytes())
}

/// The set of a text whose characters may have several bytes.
fn multibyte_set(ty: &ColumnType, charset: Option<&str>) -> Option<Charset> {
    let set = set_of(ty, charset).unwrap_or(Charset::Utf8mb4);
    Some(set).filter(|set| ty.collation != CollationId::BINARY && set.char_bytes_max() > 1)
}

/// Is the value a string in MySQL's terms, and no number?
fn is_text(ty: &ColumnType) -> bool {
    !matches!(
        ty.kind,
        TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::MediumInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Decimal { .. }
            | TypeKind::Float
            | TypeKind::Double
            | TypeKind::Year
            | TypeKind::Bit { .. }
    )
}

impl Format {
    /// Appends a value that is not NULL, enclosed and escaped.
    fn put(&self, text: &[u8], is_text: bool, set: Option<Charset>, out: &mut Vec<u8>) {
        let enclosed = self.file.enclosed.filter(|_| !self.file.optionally || is_text);
        out.extend(enclosed);
        let separator = self.file.enclosed.or(self.file.fields_terminated.first().copied());
        // A number needs no escapes, unless a separator may be part of a number.
        let is_unsafe = separator.is_some_and(|byte| b".0123456789e+-".contains(&byte));
        match self.file.escaped {
            Some(escape) if is_text || is_unsafe => self.put_escaped(text, escape, enclosed, set, out),
            _ => out.extend_from_slice(text),
        }
        out.extend(enclosed);
    }

    fn put_escaped(&self, text: &[u8], escape: u8, enclosed: Option<u8>, set: Option<Charset>, out: &mut Vec<u8>) {
        let field_end = self.file.fields_terminated.first().copied();
        let line_end = self.file.lines_terminated.first().copied();
        let separator = self.file.enclosed.or(field_end);
        let is_ambiguous = |byte: Option<u8>| byte.is_some_and(|byte| b"ntrb0ZN".contains(&byte));
        let mut rest = text;
        while let Some((&byte, behind)) = rest.split_first() {
            rest = behind;
            if byte >= 0x80
                && let Some(set) = set
            {
                // What follows in a character may look like a separator.
                let more = if let Charset::MultiByte(_) = set {
                    set.first_char_bytes(&text[text.len() - rest.len() - 1..]) - 1
                } else {
                    0
                };
                out.push(byte);
                out.extend_from_slice(&rest[..more]);
                rest = &rest[more..];
                continue;
            }
            let ends = if enclosed.is_some() { separator } else { field_end };
            let special = byte == escape || Some(byte) == ends || Some(byte) == line_end || byte == 0;
            // Only the enclosing character is doubled, not the field terminator.
            if special && (enclosed.is_some() || !is_ambiguous(field_end) || Some(byte) != field_end) {
                let doubled = Some(byte) == separator && is_ambiguous(separator);
                out.push(if doubled { byte } else { escape });
                out.push(if byte == 0 { b'0' } else { byte });
            } else {
                out.push(byte);
            }
        }
    }
}

/// Creates a file and writes it on a thread.
struct FileWriter {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_open: bool,
    /// F1
    next: Option<Vec<u8>>,
    /// No more data will come.
    ended: bool,
    outcome: Option<std::io::Result<()>>,
    waker: Option<Waker>,
}

impl FileWriter {
    fn start(directory: PathBuf, path: PathBuf) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let thread = Arc::clone(&shared);
        os::thread::Builder::new().name("heddle-outfile".to_owned()).stack_size(128 << 10).spawn(move || {
            let outcome = write_file(&thread, &directory, &path);
            let mut state = thread.state.lock();
            state.outcome = Some(outcome);
            wake(state);
        })?;
        Ok(Self { shared })
    }

    /// Can the thread take a buffer? Reports an error once.
    fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        let mut state = self.shared.state.lock();
        match state.outcome.take() {
            Some(Err(error)) => return Poll::Ready(Err(error)),
            done => state.outcome = done,
        }
        if state.is_open && state.next.is_none() {
            return Poll::Ready(Ok(()));
        }
        state.waker = Some(cx.waker().clone());
        waits::pending(Cause::of(Kind::File));
        Poll::Pending
    }

    fn give(&self, buffer: Vec<u8>) {
        self.shared.state.lock().next = Some(buffer);
        self.shared.changed.notify_one();
    }

    fn poll_end(&self, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        let mut state = self.shared.state.lock();
        if let Some(outcome) = state.outcome.take() {
            return Poll::Ready(outcome);
        }
        state.ended = true;
        state.waker = Some(cx.waker().clone());
        self.shared.changed.notify_one();
        waits::pending(Cause::of(Kind::File));
        Poll::Pending
    }
}

impl Drop for FileWriter {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        state.ended = true;
        state.waker = None;
        self.shared.changed.notify_one();
    }
}

fn wake(mut state: sync::MutexGuard<'_, State>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

fn write_file(shared: &Shared, directory: &Path, path: &Path) -> std::io::Result<()> {
    let mut file = os::fs::create_beneath(directory, path)?;
    let mut state = shared.state.lock();
    state.is_open = true;
    wake(state);
    loop {
        let buffer = {
            let mut state = shared.state.lock();
            loop {
                if let Some(buffer) = state.next.take() {
                    break buffer;
                }
                if state.ended {
                    return Ok(());
                }
                shared.changed.wait(&mut state);
            }
        };
        file.write_all(&buffer)?;
        wake(shared.state.lock());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(format: &sql::ast::FileFormat<'_>, text: &str, is_text: bool) -> String {
        let file = OutFile { path: b"x", charset: None, format: *format };
        let format = FileTarget::text(&file).expect("a format").format.expect("a text file's");
        let mut out = Vec::new();
        format.put(text.as_bytes(), is_text, Some(Charset::Utf8mb4), &mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn values_are_enclosed_and_escaped() {
        let plain = sql::ast::FileFormat::default();
        assert_eq!(put(&plain, "a\tb\\c\nd\0é\"", true), "a\\\tb\\\\c\\\nd\\0é\"");
        assert_eq!(put(&plain, "-1.5", false), "-1.5");
        let csv = sql::ast::FileFormat { fields_terminated: b",", enclosed: b"\"", ..plain };
        assert_eq!(put(&csv, "a,\"b\"", true), "\"a,\\\"b\\\"\"");
        assert_eq!(put(&csv, "7", false), "\"7\"");
        let optionally = sql::ast::FileFormat { optionally: true, ..csv };
        assert_eq!(put(&optionally, "7", false), "7");
        let raw = sql::ast::FileFormat { escaped: b"", ..csv };
        assert_eq!(put(&raw, "a\"\\", true), "\"a\"\\\"");
        let dots = sql::ast::FileFormat { fields_terminated: b".", ..plain };
        assert_eq!(put(&dots, "1.5", false), "1\\.5");
        let n = sql::ast::FileFormat { fields_terminated: b"n", ..plain };
        assert_eq!(put(&n, "an", true), "an");
    }

    #[test]
    fn paths_stay_in_the_directory() {
        let allowed = |path: &str| beneath(Path::new("/srv/files"), Path::new(path)).is_some();
        assert!(allowed("/srv/files/a.txt") && allowed("/srv/files/b/a.txt"));
        assert!(!allowed("/srv/files") && !allowed("/srv/files/../a") && !allowed("/srv/filesx/a") && !allowed("/etc/passwd"));
    }
}
