//! Copies rows: several connections at a time, each a slice of a table, chunk by chunk.
//!
//! C1: a chunk is read by one statement, in the order of the key, behind the last key of the chunk before; values pass in the binary form of prepared
//!     statements, so none is changed by being written as text.
//! C2: a chunk is written by one transaction of REPLACE, and noted in the journal after its commit (J2).
//! C3: memory: a thread holds one chunk, of at most [`CHUNK_BYTES_MAX`] and one row.

use crate::end::{End, quoted};
use crate::error::{Error, Result};
use crate::journal::{Copied, Journal, KeyValue, Slice};
use crate::parts::Move;
use crate::progress::{Progress, count, duration};
use crate::tables::{Table, find, key_value};
use mysql::prelude::Queryable;
use mysql::{Conn, Params, Statement, Value};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A chunk ends at so many rows, or bytes.
const CHUNK_ROWS_MAX: u64 = 5000;
const CHUNK_BYTES_MAX: usize = 4 << 20;
/// A statement has at most so many rows, and parameters.
const STATEMENT_ROWS_MAX: usize = 200;
const STATEMENT_VALUES_MAX: usize = 20_000;
/// A table is cut into slices of about so many rows, where its key is a number.
const SLICE_ROWS: u64 = 200_000;

/// The slices of a table.
///
/// # Errors
/// The source's.
pub fn slices(of: &Move<'_>, table: &Table) -> Result<Copied> {
    let parts = (table.rows_about / SLICE_ROWS).clamp(1, u64::from(of.flags.threads) * 8);
    let slices = match bounds(&of.source, table)? {
        Some((low, high)) if parts > 1 => cut(low, high, parts),
        _ => vec![Slice::default()],
    };
    Ok(Copied { database: table.database.clone(), name: table.name.clone(), rows_about: table.rows_about, slices })
}

/// The lowest and the highest number of the key's first column; `None`: there are no numbers, or no rows.
pub fn bounds(source: &End, table: &Table) -> Result<Option<(i128, i128)>> {
    if !table.has_numbers() {
        return Ok(None);
    }
    let column = quoted(&table.columns[table.key[0]].name);
    let query = format!("SELECT CAST(MIN({column}) AS CHAR), CAST(MAX({column}) AS CHAR) FROM {}", table.quoted());
    let (low, high): (Option<String>, Option<String>) = source.first(&mut source.connect()?, &query)?;
    let number = |text: Option<String>| text.and_then(|text| text.parse().ok());
    Ok(number(low).zip(number(high)))
}

/// Cuts the numbers into ranges of one width. The first and the last have no end: rows may come while others are copied.
fn cut(low: i128, high: i128, parts: u64) -> Vec<Slice> {
    let parts = i128::from(parts).min(high - low + 1);
    let at = |part: i128| (0 < part && part < parts).then(|| low + (high - low + 1) * part / parts);
    (0..parts).map(|part| Slice { low: at(part), high: at(part + 1), ..Slice::default() }).collect()
}

/// What the threads share.
struct Work<'a> {
    journal: Mutex<&'a mut Journal>,
    /// Table and slice of the journal.
    waiting: Mutex<VecDeque<(usize, usize)>>,
    stop: AtomicBool,
    rows: AtomicU64,
    bytes: AtomicU64,
}

/// Copies what the journal says is not copied.
///
/// # Errors
/// The first one that a thread met; what is copied until then is in the journal.
pub fn run(of: &Move<'_>, journal: &mut Journal, tables: &[Table]) -> Result<()> {
    let all = || {
        journal
            .tables
            .iter()
            .enumerate()
            .flat_map(|(at, table)| table.slices.iter().enumerate().map(move |(s, slice)| (at, s, slice)))
    };
    // Slices of one table are next to each other in key order; the threads begin with different tables.
    let mut waiting: Vec<(usize, usize)> = all().filter(|(.., slice)| !slice.is_done).map(|(at, s, _)| (at, s)).collect();
    waiting.sort_by_key(|(table, slice)| (*slice, *table));
    let before: u64 = all().map(|(.., slice)| slice.rows).sum();
    let expected: u64 = journal.tables.iter().map(|table| table.rows_about).sum::<u64>();
    let work = Work {
        journal: Mutex::new(journal),
        waiting: Mutex::new(waiting.into()),
        stop: AtomicBool::new(false),
        rows: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
    };
    let began = Instant::now();
    let done = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..of.flags.threads).map(|_| scope.spawn(|| thread(of, &work, tables))).collect();
        let mut written = Instant::now();
        while threads.iter().any(|thread| !thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(50));
            show(&of.progress, &work, before, expected, began);
            if of.stop.load(Ordering::Relaxed) {
                work.stop.store(true, Ordering::Relaxed);
            }
            if written.elapsed() > Duration::from_secs(1) {
                written = Instant::now();
                if let Err(error) = lock(&work.journal).write() {
                    work.stop.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(Error("a thread has panicked".to_owned()))))
    });
    let (rows, bytes, seconds) =
        (work.rows.load(Ordering::Relaxed), work.bytes.load(Ordering::Relaxed), began.elapsed().as_secs_f64());
    lock(&work.journal).write()?;
    done?;
    of.check_stop()?;
    let speed = count((bytes as f64 / seconds.max(0.001) / 1e6) as u64);
    of.progress.say(&format!("{} rows copied in {}, {speed} MB/s", count(rows), duration(seconds)));
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A thread that panics leaves the journal as it is after a whole chunk.
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn show(progress: &Progress, work: &Work<'_>, before: u64, expected: u64, began: Instant) {
    progress.show(|| {
        let (rows, bytes) = (work.rows.load(Ordering::Relaxed), work.bytes.load(Ordering::Relaxed));
        let seconds = began.elapsed().as_secs_f64();
        let left = expected.saturating_sub(before + rows);
        // The first chunks tell little.
        let until = if rows == 0 || seconds < 1.0 {
            String::new()
        } else {
            format!(", about {} left", duration(left as f64 * seconds / rows as f64))
        };
        format!(
            "copying: {} of about {} rows ({} %), {:.0} MB/s{until}",
            count(before + rows),
            count(expected.max(before + rows)),
            (before + rows) * 100 / expected.max(before + rows).max(1),
            bytes as f64 / seconds.max(0.001) / 1e6,
        )
    });
}

/// Takes slices until there are none.
fn thread(of: &Move<'_>, work: &Work<'_>, tables: &[Table]) -> Result<()> {
    let done = (|| {
        let (mut from, mut to) = (of.source.connect()?, of.target.connect()?);
        while !work.stop.load(Ordering::Relaxed) {
            let Some((at, slice)) = lock(&work.waiting).pop_front() else { return Ok(()) };
            let table = {
                let journal = lock(&work.journal);
                find(tables, &journal.tables[at].database, &journal.tables[at].name)?
            };
            copy_slice(of, work, table, (at, slice), &mut from, &mut to)?;
        }
        Ok(())
    })();
    if done.is_err() {
        work.stop.store(true, Ordering::Relaxed);
    }
    done
}

fn copy_slice(
    of: &Move<'_>,
    work: &Work<'_>,
    table: &Table,
    (at, number): (usize, usize),
    from: &mut Conn,
    to: &mut Conn,
) -> Result<()> {
    let mut slice = lock(&work.journal).tables[at].slices[number].clone();
    let reading = of.source.wrong(&format!("reading {}", table.shown()));
    let columns: Vec<String> = table.stored().map(|(_, column)| quoted(&column.name)).collect();
    let select = format!("SELECT {} FROM {}", columns.join(", "), table.quoted());
    let key: Vec<usize> = table.key.iter().filter_map(|key| table.stored().position(|(at, _)| at == *key)).collect();
    let rows_max = (CHUNK_BYTES_MAX as u64 / table.row_bytes.max(1)).clamp(10, CHUNK_ROWS_MAX);
    let mut prepared: Option<(String, Statement)> = None;
    let mut writer = Writer::new(&of.target, table, &columns);
    while !slice.is_done && !work.stop.load(Ordering::Relaxed) {
        let (rest, parameters) = table.rest(&slice);
        let text = if table.has_chunks() {
            format!("{select}{rest} ORDER BY {} LIMIT {rows_max}", table.order())
        } else {
            format!("{select}{rest}")
        };
        if prepared.as_ref().is_none_or(|(known, _)| *known != text) {
            prepared = Some((text.clone(), from.prep(&text).map_err(&reading)?));
        }
        let Some((_, statement)) = &prepared else { return Ok(()) };
        let parameters = if parameters.is_empty() { Params::Empty } else { Params::Positional(parameters) };
        of.target.run(to, "BEGIN")?;
        let (mut rows, mut bytes, mut is_cut) = (0, 0, false);
        for row in from.exec_iter(statement, parameters).map_err(&reading)? {
            let values = row.map_err(&reading)?.unwrap();
            bytes += values.iter().map(size_of_value).sum::<usize>();
            rows += 1;
            let last: Vec<KeyValue> = key.iter().map(|at| key_value(&values[*at])).collect();
            writer.add(to, values)?;
            if bytes >= CHUNK_BYTES_MAX {
                if table.has_chunks() {
                    slice.after = Some(last);
                    is_cut = true;
                    break;
                }
                writer.flush(to)?;
                of.target.run(to, "COMMIT")?;
                of.target.run(to, "BEGIN")?;
                slice.rows += rows;
                work.rows.fetch_add(rows, Ordering::Relaxed);
                work.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                (rows, bytes) = (0, 0);
            } else if table.has_chunks() {
                slice.after = Some(last);
            }
        }
        writer.flush(to)?;
        // C2
        of.target.run(to, "COMMIT")?;
        slice.is_done = !is_cut && (rows < rows_max || !table.has_chunks());
        slice.rows += rows;
        work.rows.fetch_add(rows, Ordering::Relaxed);
        work.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        lock(&work.journal).tables[at].slices[number] = slice.clone();
    }
    Ok(())
}

fn size_of_value(value: &Value) -> usize {
    match value {
        Value::Bytes(bytes) => bytes.len(),
        _ => 8,
    }
}

/// Writes rows by statements of many rows.
struct Writer<'a> {
    target: &'a End,
    table: &'a Table,
    /// REPLACE INTO ... VALUES
    head: String,
    width: usize,
    /// Rows of a whole statement.
    rows_max: usize,
    whole: Option<Statement>,
    waiting: Vec<Value>,
    bytes: usize,
}

impl<'a> Writer<'a> {
    fn new(target: &'a End, table: &'a Table, columns: &[String]) -> Self {
        let head = format!("REPLACE INTO {} ({}) VALUES ", table.quoted_there(), columns.join(", "));
        let width = columns.len();
        let rows_max = (STATEMENT_VALUES_MAX / width.max(1)).clamp(1, STATEMENT_ROWS_MAX);
        Self { target, table, head, width, rows_max, whole: None, waiting: Vec::new(), bytes: 0 }
    }

    fn add(&mut self, to: &mut Conn, values: Vec<Value>) -> Result<()> {
        self.bytes += values.iter().map(size_of_value).sum::<usize>();
        self.waiting.extend(values);
        if self.waiting.len() == self.rows_max * self.width || self.bytes >= CHUNK_BYTES_MAX { self.flush(to) } else { Ok(()) }
    }

    /// Sends what waits.
    fn flush(&mut self, to: &mut Conn) -> Result<()> {
        let values = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        let rows = values.len() / self.width.max(1);
        if rows == 0 {
            return Ok(());
        }
        let writing = self.target.wrong(&format!("writing {}", self.table.shown()));
        let row = format!("({})", vec!["?"; self.width].join(", "));
        let text = || format!("{}{}", self.head, vec![row.as_str(); rows].join(", "));
        if rows == self.rows_max {
            if self.whole.is_none() {
                self.whole = Some(to.prep(text()).map_err(&writing)?);
            }
            let Some(statement) = &self.whole else { return Ok(()) };
            return to.exec_drop(statement, Params::Positional(values)).map_err(&writing);
        }
        let statement = to.prep(text()).map_err(&writing)?;
        to.exec_drop(&statement, Params::Positional(values)).map_err(&writing)?;
        to.close(statement).map_err(&writing)
    }
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn slices_have_each_number_once_and_no_ends() {
        let slices = cut(-5, 14, 4);
        let bounds: Vec<_> = slices.iter().map(|slice| (slice.low, slice.high)).collect();
        assert_eq!(bounds, [(None, Some(0)), (Some(0), Some(5)), (Some(5), Some(10)), (Some(10), None)]);
        assert_eq!(cut(3, 3, 8).len(), 1);
        let wide = cut(i128::from(i64::MIN), i128::from(u64::MAX), 3);
        assert_eq!((wide.len(), wide[0].low, wide[2].high), (3, None, None));
    }
}
