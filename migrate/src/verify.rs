//! Compares rows: sums of chunks at both servers, while both change.
//!
//! V1: the source's sum is read before and after the target's, and in between the target applies all that the source had executed. If both of
//!     the source's sums are the same and the target's is another, the rows differ. This is seen twice before it is believed.
//! V2: a chunk that changes whenever it is looked at is cut in two, down to a row. A row that never rests is left for the cut-over, when the source
//!     does not change.
//! V3: a sum is the number of rows, and the exclusive or of 64 bits of the SHA-256 of each row, whose values are written alike at
//!     both servers. (MySQL 9.6 and later have no MD5 of their own.)

use crate::end::{End, quoted};
use crate::error::{Error, Result};
use crate::follow;
use crate::journal::{KeyValue, Unsettled};
use crate::parts::Move;
use crate::progress::count;
use crate::tables::{self, Table, find, key_value};
use mysql::prelude::Queryable;
use mysql::{Conn, Params, Row, Value};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

const CHUNK_ROWS: u64 = 10_000;
/// So often a chunk that changes is looked at before it is cut.
const LOOKS: u32 = 4;
const CATCH_UP_MAX: Duration = Duration::from_secs(600);
/// Differences of one table that are named.
const NAMED_MAX: usize = 10;

/// What was compared.
#[derive(Default)]
pub struct Verified {
    tables: usize,
    rows: u64,
    pub unsettled: Vec<Unsettled>,
    different: Vec<String>,
}

impl Verified {
    /// # Errors
    /// Rows differ.
    pub fn outcome(&self) -> Result<String> {
        let about = format!("{} tables and {} rows compared", self.tables, count(self.rows));
        if !self.different.is_empty() {
            return Err(Error(format!("{about}: these differ\n{}", self.different.join("\n"))));
        }
        let unsettled = match self.unsettled.len() {
            0 => String::new(),
            n => format!("; {n} rows were written whenever they were looked at, and are compared at the cut-over"),
        };
        Ok(format!("{about}: all are the same{unsettled}\n"))
    }
}

/// Rows behind a key, up to a key.
#[derive(Clone, Debug, Default)]
struct Range {
    after: Option<Vec<KeyValue>>,
    to: Option<Vec<KeyValue>>,
}

/// V3
type Sum = (u64, u64);

/// Compares all tables.
///
/// # Errors
/// A server's. Differences are in the answer.
pub fn run(of: &Move<'_>) -> Result<Verified> {
    run_over(of, &tables::read(&of.source)?)
}

/// Compares these tables.
///
/// # Errors
/// A server's. Differences are in the answer.
pub fn run_over(of: &Move<'_>, tables: &[Table]) -> Result<Verified> {
    let (next, rows) = (AtomicUsize::new(0), AtomicU64::new(0));
    let verified = Mutex::new(Verified { tables: tables.len(), ..Verified::default() });
    let about: u64 = tables.iter().map(|table| table.rows_about).sum();
    let thread = || -> Result<()> {
        let mut both = Both::new(of)?;
        while let Some(table) = tables.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut found = Verified::default();
            let mut range = Range::default();
            loop {
                of.check_stop()?;
                range.to = if table.has_chunks() { both.bound(table, &range, CHUNK_ROWS)? } else { None };
                let compared = both.settle(table, &range, &mut found)?;
                let all = rows.fetch_add(compared, Ordering::Relaxed) + compared;
                of.progress.show(|| format!("comparing: {} of about {} rows", count(all), count(about.max(all))));
                match range.to.take() {
                    Some(key) => range.after = Some(key),
                    None => break,
                }
            }
            if let Ok(mut all) = verified.lock() {
                all.unsettled.extend(found.unsettled);
                all.different.extend(found.different);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..of.flags.threads).map(|_| scope.spawn(thread)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(Error("a thread has panicked".to_owned()))))
    })?;
    let mut verified = verified.into_inner().map_err(|_| Error("a thread has panicked".to_owned()))?;
    verified.rows = rows.into_inner();
    Ok(verified)
}

/// Compares what never rested. The source is closed for writing, and the target has all of it.
///
/// # Errors
/// A server's; rows differ.
pub fn run_again(of: &Move<'_>, parts: &[Unsettled]) -> Result<()> {
    if parts.is_empty() {
        return Ok(());
    }
    let tables = tables::read(&of.source)?;
    let mut both = Both::new(of)?;
    let mut found = Verified::default();
    for part in parts {
        let range = Range { after: part.after.clone(), to: part.to.clone() };
        both.settle(find(&tables, &part.database, &part.name)?, &range, &mut found)?;
    }
    found.outcome().map(drop)
}

/// Connections to both servers.
struct Both<'a> {
    of: &'a Move<'a>,
    from: Conn,
    to: Conn,
}

impl<'a> Both<'a> {
    fn new(of: &'a Move<'a>) -> Result<Self> {
        Ok(Self { of, from: of.source.connect()?, to: of.target.connect()? })
    }

    /// The key that ends a chunk of `rows` rows; `None`: fewer are left.
    fn bound(&mut self, table: &Table, range: &Range, rows: u64) -> Result<Option<Vec<KeyValue>>> {
        key_at(&self.of.source, &mut self.from, table, range, rows)
    }

    /// Compares a range until it is known whether it is the same. Gives its rows.
    fn settle(&mut self, table: &Table, range: &Range, found: &mut Verified) -> Result<u64> {
        let (source, target) = (&self.of.source, &self.of.target);
        let mut before = sum(source, &mut self.from, table, range)?;
        if before == sum(target, &mut self.to, table, range)? {
            return Ok(before.0);
        }
        let (mut differs, mut theirs) = (0, before);
        for _ in 0..LOOKS {
            let executed = source.executed_by(&mut self.from)?;
            follow::wait(self.of, target, &mut self.to, &executed, Some(CATCH_UP_MAX), "comparing")?;
            theirs = sum(target, &mut self.to, table, range)?;
            let after = sum(source, &mut self.from, table, range)?;
            if theirs == before || theirs == after {
                return Ok(after.0);
            }
            // V1
            differs = if before == after { differs + 1 } else { 0 };
            if differs == 2 {
                break;
            }
            before = after;
        }
        if let Some(middle) = self.middle(table, range, before.0, theirs.0)? {
            self.settle(table, &Range { after: range.after.clone(), to: Some(middle.clone()) }, found)?;
            self.settle(table, &Range { after: Some(middle), to: range.to.clone() }, found)?;
        } else if differs == 2 {
            self.differ(table, range, before.0, theirs.0, found);
        } else {
            // V2
            let (database, name) = (table.database.clone(), table.name.clone());
            found.unsettled.push(Unsettled { database, name, after: range.after.clone(), to: range.to.clone() });
        }
        Ok(before.0)
    }

    /// The key in the middle of a range, by the server that has more rows there; `None`: it cannot be cut.
    fn middle(&mut self, table: &Table, range: &Range, here: u64, there: u64) -> Result<Option<Vec<KeyValue>>> {
        if !table.has_chunks() || here.max(there) < 2 {
            return Ok(None);
        }
        let half = here.max(there) / 2;
        let middle = if here >= there {
            key_at(&self.of.source, &mut self.from, table, range, half)?
        } else {
            key_at(&self.of.target, &mut self.to, table, range, half)?
        };
        Ok(middle.filter(|key| Some(key) != range.to.as_ref()))
    }

    fn differ(&mut self, table: &Table, range: &Range, here: u64, there: u64, found: &mut Verified) {
        let named = found.different.len();
        if named < NAMED_MAX {
            let place =
                range.to.as_ref().map_or_else(|| "behind the last chunk".to_owned(), |key| format!("up to key {}", shown(key)));
            found.different.push(format!("{} {place}: {here} rows at the source, {there} at the target", table.shown()));
        } else if named == NAMED_MAX {
            found.different.push(format!("{}: and more", table.shown()));
        }
    }
}

/// A key for people.
fn shown(key: &[KeyValue]) -> String {
    let value = |value: &KeyValue| match value {
        KeyValue::Int(number) => number.to_string(),
        KeyValue::UInt(number) => number.to_string(),
        KeyValue::Bytes(bytes) => format!("'{}'", String::from_utf8_lossy(bytes)),
    };
    key.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// The condition of a range, and its parameters.
fn condition(table: &Table, range: &Range) -> (String, Params) {
    let mut conditions = Vec::new();
    let mut parameters: Vec<Value> = Vec::new();
    for (operator, key) in [(">", &range.after), ("<=", &range.to)] {
        if let Some(key) = key {
            let (text, values) = table.beside(operator, key);
            conditions.push(text);
            parameters.extend(values);
        }
    }
    let text = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
    (text, if parameters.is_empty() { Params::Empty } else { Params::Positional(parameters) })
}

/// The key of the row at a place in a range, counted from 1.
fn key_at(end: &End, conn: &mut Conn, table: &Table, range: &Range, place: u64) -> Result<Option<Vec<KeyValue>>> {
    let (condition, parameters) = condition(table, range);
    let order = table.order();
    let query = format!(
        "SELECT {order} FROM {}{condition} ORDER BY {order} LIMIT 1 OFFSET {}",
        table.quoted_at(end),
        place.saturating_sub(1)
    );
    let row: Option<Row> = once(end, conn, table, &query, parameters)?;
    Ok(row.map(|row| row.unwrap().iter().map(key_value).collect()))
}

fn sum(end: &End, conn: &mut Conn, table: &Table, range: &Range) -> Result<Sum> {
    let (condition, parameters) = condition(table, range);
    let nulls: Vec<String> = table
        .columns
        .iter()
        .filter(|column| column.is_nullable)
        .map(|column| format!("ISNULL({})", quoted(&column.name)))
        .collect();
    let mut values: Vec<String> = table.columns.iter().map(|column| alike(&quoted(&column.name), &column.kind)).collect();
    if !nulls.is_empty() {
        values.push(format!("CONCAT({})", nulls.join(", ")));
    }
    let query = format!(
        "SELECT COUNT(*), COALESCE(BIT_XOR(CAST(CONV(LEFT(SHA2(CONCAT_WS('#', {}), 256), 16), 16, 10) AS UNSIGNED)), 0) FROM {}{condition}",
        values.join(", "),
        table.quoted_at(end)
    );
    once(end, conn, table, &query, parameters)?.ok_or_else(|| Error(format!("{}: a sum without a row", end.name())))
}

/// An expression whose text is the same at both servers, whatever the column's character set.
fn alike(column: &str, kind: &str) -> String {
    match kind {
        "char" | "varchar" | "enum" | "set" => format!("CONVERT({column} USING utf8mb4)"),
        "tinytext" | "text" | "mediumtext" | "longtext" => format!("SHA2(CONVERT({column} USING utf8mb4), 256)"),
        "json" => format!("SHA2(CONVERT(CAST({column} AS CHAR) USING utf8mb4), 256)"),
        "float" => format!("{column} + 0e0"),
        "bit" => format!("{column} + 0"),
        "decimal" | "double" | "date" | "datetime" | "timestamp" | "time" | "year" => column.to_owned(),
        kind if kind.ends_with("int") => column.to_owned(),
        // Bytes.
        _ => format!("SHA2({column}, 256)"),
    }
}

/// Runs a query as a prepared statement. Its first row.
fn once<T: mysql::prelude::FromRow>(
    end: &End,
    conn: &mut Conn,
    table: &Table,
    query: &str,
    parameters: Params,
) -> Result<Option<T>> {
    let reading = end.wrong(&format!("comparing {}", table.shown()));
    let statement = conn.prep(query).map_err(&reading)?;
    let row = conn.exec_first(&statement, parameters).map_err(&reading)?;
    conn.close(statement).map_err(&reading)?;
    Ok(row)
}
