//! The eleven OLTP scripts of sysbench 1.0: the same tables, statements, numbers of calls and distributions, with its default options.
//!
//! Tables are numbered from 1: `id` is the primary key by AUTO_INCREMENT, `k` has a secondary index, `c` and `pad` are texts of digits.
//! As there, `insert` sends text, with 0 for the new id.

use super::{Event, Filler, Place, Script, Settings, Statement, Workload};
use crate::client::Client;
use crate::error::Result;
use crate::random::{Keys, Random};
use crate::target::Dialect;
use std::fmt::Write as _;

const C_PATTERN: &str =
    "###########-###########-###########-###########-###########-###########-###########-###########-###########-###########";
const PAD_PATTERN: &str = "###########-###########-###########-###########-###########";
const RANGE_ROWS: u64 = 100;
const POINT_SELECTS: usize = 10;
const RANDOM_POINTS: usize = 10;
const RANDOM_RANGES: usize = 10;
const RANDOM_RANGE_WIDTH: u64 = 5;
/// Rows of one INSERT of `bulk_insert`: about half a megabyte, as sysbench's.
const BULK_ROWS: u64 = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    PointSelect,
    ReadOnly,
    ReadWrite,
    WriteOnly,
    UpdateIndex,
    UpdateNonIndex,
    Insert,
    Delete,
    RandomPoints,
    RandomRanges,
    BulkInsert,
}

/// One of the scripts.
pub struct Sysbench {
    kind: Kind,
    tables: u32,
    rows: u64,
    keys: Keys,
}

/// Statements of one table: their places among those of the table.
const POINT: u32 = 0;
const SIMPLE_RANGE: u32 = 1;
const UPDATE_INDEX: u32 = 5;
const UPDATE_NON_INDEX: u32 = 6;
const DELETE: u32 = 7;
const INSERT: u32 = 8;
const PER_TABLE: u32 = 9;

fn of_table(table: u32) -> [Statement; PER_TABLE as usize] {
    let of = |label, sql: &str| Statement::new(label, sql.replace("sbtest", &format!("sbtest{table}")));
    [
        of("point select", "SELECT c FROM sbtest WHERE id=?"),
        of("range", "SELECT c FROM sbtest WHERE id BETWEEN ? AND ?"),
        of("range sum", "SELECT SUM(k) FROM sbtest WHERE id BETWEEN ? AND ?"),
        of("range order", "SELECT c FROM sbtest WHERE id BETWEEN ? AND ? ORDER BY c"),
        of("range distinct", "SELECT DISTINCT c FROM sbtest WHERE id BETWEEN ? AND ? ORDER BY c"),
        of("update index", "UPDATE sbtest SET k=k+1 WHERE id=?"),
        of("update non-index", "UPDATE sbtest SET c=? WHERE id=?"),
        of("delete", "DELETE FROM sbtest WHERE id=?"),
        of("insert", "INSERT INTO sbtest (id, k, c, pad) VALUES (?, ?, ?, ?)"),
    ]
}

impl Sysbench {
    pub fn new(name: &str, settings: &Settings) -> Option<Self> {
        let kind = match name {
            "point_select" => Kind::PointSelect,
            "read_only" => Kind::ReadOnly,
            "read_write" => Kind::ReadWrite,
            "write_only" => Kind::WriteOnly,
            "update_index" => Kind::UpdateIndex,
            "update_non_index" => Kind::UpdateNonIndex,
            "insert" => Kind::Insert,
            "delete" => Kind::Delete,
            "select_random_points" => Kind::RandomPoints,
            "select_random_ranges" => Kind::RandomRanges,
            "bulk_insert" => Kind::BulkInsert,
            _ => return None,
        };
        // As in sysbench, these two know one table.
        let tables = if matches!(kind, Kind::RandomPoints | Kind::RandomRanges) { 1 } else { settings.tables };
        Some(Self { kind, tables, rows: settings.rows, keys: Keys::new(settings.rows, settings.distribution) })
    }
}

/// The tables of all scripts but `bulk_insert`.
fn make_table(
    client: &mut Client,
    dialect: Dialect,
    table: u32,
    rows: u64,
    tell: &mut dyn FnMut(f64) -> Result<()>,
) -> Result<()> {
    let id = if dialect == Dialect::Postgres { "SERIAL" } else { "INTEGER NOT NULL AUTO_INCREMENT" };
    client.run(&format!(
        "CREATE TABLE sbtest{table} (id {id}, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
         pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id))"
    ))?;
    let mut random = Random::new(u64::from(table));
    let mut filler = Filler::new(client, format!("INSERT INTO sbtest{table} (k, c, pad) VALUES "));
    let (mut c, mut pad) = (Vec::new(), Vec::new());
    for row in 0..rows {
        c.clear();
        pad.clear();
        random.pattern(C_PATTERN, &mut c);
        random.pattern(PAD_PATTERN, &mut pad);
        let text = |bytes| std::str::from_utf8(bytes).expect("digits");
        filler.row(format_args!("{},'{}','{}'", random.number(1, rows), text(&c), text(&pad)))?;
        if row % 2000 == 0 {
            tell(row as f64 / rows as f64)?;
        }
    }
    filler.send()?;
    client.run(&format!("CREATE INDEX k_{table} ON sbtest{table}(k)"))
}

impl Workload for Sysbench {
    fn prepare(&self, client: &mut Client, dialect: Dialect, tell: &mut dyn FnMut(f64) -> Result<()>) -> Result<()> {
        if self.kind == Kind::BulkInsert {
            for table in 1..=self.tables {
                client.run(&format!("CREATE TABLE sbtest{table} (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, c INTEGER NOT NULL, PRIMARY KEY (id, c))"))?;
            }
            return Ok(());
        }
        for table in 1..=self.tables {
            let before = f64::from(table - 1);
            make_table(client, dialect, table, self.rows, &mut |share| tell((before + share) / f64::from(self.tables)))?;
        }
        if dialect == Dialect::Postgres {
            client.run("VACUUM ANALYZE")?;
        }
        Ok(())
    }

    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        match self.kind {
            Kind::RandomPoints => {
                let marks = ["?"; RANDOM_POINTS].join(", ");
                vec![Statement::new("random points", format!("SELECT id, k, c, pad FROM sbtest1 WHERE k IN ({marks})"))]
            }
            Kind::RandomRanges => {
                let ranges = ["k BETWEEN ? AND ?"; RANDOM_RANGES].join(" OR ");
                vec![Statement::new("random ranges", format!("SELECT count(k) FROM sbtest1 WHERE {ranges}"))]
            }
            Kind::BulkInsert => {
                // The rows are written into the text: `?` stands for them.
                (1..=self.tables)
                    .map(|table| Statement::text("bulk insert", format!("INSERT INTO sbtest{table} VALUES ")))
                    .collect()
            }
            Kind::Insert => (1..=self.tables)
                .map(|table| match dialect {
                    Dialect::MySql => {
                        Statement::text("insert", format!("INSERT INTO sbtest{table} (id, k, c, pad) VALUES (0, ?, ?, ?)"))
                    }
                    Dialect::Postgres => {
                        Statement::text("insert", format!("INSERT INTO sbtest{table} (k, c, pad) VALUES (?, ?, ?)"))
                    }
                })
                .collect(),
            _ => {
                let mut all: Vec<Statement> = (1..=self.tables).flat_map(of_table).collect();
                all.extend([Statement::text("begin", "BEGIN"), Statement::text("commit", "COMMIT")]);
                all
            }
        }
    }

    fn script(&self, place: Place, _: Dialect) -> Box<dyn Script> {
        let per_connection = (self.rows / place.of.max(1) as u64).max(1);
        Box::new(OneClient {
            kind: self.kind,
            tables: self.tables,
            keys: self.keys.clone(),
            part: (per_connection * place.number as u64, Keys::new(per_connection, crate::random::Distribution::Uniform)),
            number: place.number as u32,
            next: 0,
        })
    }

    fn conditions(&self) -> Vec<(String, String)> {
        let each = |holds: &str, query: &str| {
            (1..=self.tables)
                .map(|table| (format!("{holds} (sbtest{table})"), query.replace("sbtest", &format!("sbtest{table}"))))
                .collect()
        };
        match self.kind {
            Kind::Insert | Kind::Delete | Kind::BulkInsert => Vec::new(),
            // Each deleted row is inserted again in the same transaction.
            _ => each(
                "the table has as many rows as at the start",
                &format!("SELECT CASE WHEN COUNT(*) = {} THEN 0 ELSE 1 END FROM sbtest", self.rows),
            ),
        }
    }

    fn data(&self) -> String {
        if self.kind == Kind::BulkInsert { "bulk".into() } else { format!("sbtest {}", self.tables) }
    }

    fn wears_out(&self) -> bool {
        matches!(self.kind, Kind::Insert | Kind::Delete | Kind::BulkInsert)
    }
}

/// The events of one connection.
struct OneClient {
    kind: Kind,
    tables: u32,
    keys: Keys,
    /// Random points and ranges: this connection's part of the values
    part: (u64, Keys),
    number: u32,
    /// The next row of `bulk_insert`
    next: u64,
}

impl OneClient {
    /// The first statement of a table, which is drawn evenly.
    fn table(&self, random: &mut Random) -> u32 {
        random.below(u64::from(self.tables)) as u32 * PER_TABLE
    }

    fn reads(&self, random: &mut Random, event: &mut Event) {
        let table = self.table(random);
        for _ in 0..POINT_SELECTS {
            event.call(table + POINT).int(self.keys.draw(random));
        }
        for range in SIMPLE_RANGE..SIMPLE_RANGE + 4 {
            let (table, from) = (self.table(random), self.keys.draw(random));
            event.call(table + range).int(from).int(from + RANGE_ROWS - 1);
        }
    }

    fn update_index(&self, random: &mut Random, event: &mut Event) {
        let table = self.table(random);
        event.call(table + UPDATE_INDEX).int(self.keys.draw(random));
    }

    fn update_non_index(&self, random: &mut Random, event: &mut Event) {
        let table = self.table(random);
        event.call(table + UPDATE_NON_INDEX).pattern(random, C_PATTERN).int(self.keys.draw(random));
    }

    fn writes(&self, random: &mut Random, event: &mut Event) {
        self.update_index(random, event);
        self.update_non_index(random, event);
        let table = self.table(random);
        let (id, k) = (self.keys.draw(random), self.keys.draw(random));
        event.call(table + DELETE).int(id);
        event.call(table + INSERT).int(id).int(k).pattern(random, C_PATTERN).pattern(random, PAD_PATTERN);
    }
}

impl Script for OneClient {
    fn event(&mut self, random: &mut Random, event: &mut Event) {
        let begin = self.tables * PER_TABLE;
        let commit = begin + 1;
        match self.kind {
            Kind::PointSelect => {
                let table = self.table(random);
                event.call(table + POINT).int(self.keys.draw(random));
            }
            Kind::ReadOnly | Kind::ReadWrite | Kind::WriteOnly => {
                event.call(begin);
                if self.kind != Kind::WriteOnly {
                    self.reads(random, event);
                }
                if self.kind != Kind::ReadOnly {
                    self.writes(random, event);
                }
                event.call(commit);
            }
            Kind::UpdateIndex => self.update_index(random, event),
            Kind::UpdateNonIndex => self.update_non_index(random, event),
            Kind::Insert => {
                let table = random.below(u64::from(self.tables)) as u32;
                event.call(table).int(self.keys.draw(random)).pattern(random, C_PATTERN).pattern(random, PAD_PATTERN);
            }
            Kind::Delete => {
                let table = self.table(random);
                event.call(table + DELETE).int(self.keys.draw(random));
            }
            Kind::RandomPoints => {
                event.call(0);
                for _ in 0..RANDOM_POINTS {
                    event.int(self.part.0 + self.part.1.draw(random));
                }
            }
            Kind::RandomRanges => {
                event.call(0);
                for _ in 0..RANDOM_RANGES {
                    let from = self.part.0 + self.part.1.draw(random);
                    event.int(from).int(from + RANDOM_RANGE_WIDTH);
                }
            }
            Kind::BulkInsert => {
                let table = self.number % self.tables;
                event.call(table);
                let mut rows = String::new();
                for _ in 0..BULK_ROWS {
                    self.next += 1;
                    let comma = if rows.is_empty() { "" } else { "," };
                    write!(rows, "{comma}({0},{0},{1})", self.next, self.number).expect("text takes all");
                }
                event.tail(&rows);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::settings;
    use super::*;

    fn labels(name: &str) -> Vec<&'static str> {
        let workload = Sysbench::new(name, &settings()).expect("known");
        let statements = workload.statements(Dialect::MySql);
        let mut event = Event::default();
        workload.script(Place { number: 0, of: 1 }, Dialect::MySql).event(&mut Random::new(1), &mut event);
        event.calls().iter().map(|call| statements[call.statement as usize].label).collect()
    }

    #[test]
    fn transactions_have_sysbench_s_statements() {
        let mut expected = vec!["begin"];
        expected.extend([["point select"; 10].as_slice(), &["range", "range sum", "range order", "range distinct"]].concat());
        let read_only = [expected.as_slice(), &["commit"]].concat();
        assert_eq!(labels("read_only"), read_only);
        let writes = ["update index", "update non-index", "delete", "insert"];
        assert_eq!(labels("read_write"), [expected.as_slice(), &writes, &["commit"]].concat());
        assert_eq!(labels("write_only"), [&["begin"], writes.as_slice(), &["commit"]].concat());
        assert_eq!(labels("point_select"), ["point select"]);
    }

    #[test]
    fn texts_have_sysbench_s_lengths() {
        assert_eq!((C_PATTERN.len(), PAD_PATTERN.len()), (119, 59));
        let mut event = Event::default();
        let workload = Sysbench::new("bulk_insert", &settings()).expect("known");
        workload.script(Place { number: 3, of: 4 }, Dialect::MySql).event(&mut Random::new(1), &mut event);
        assert!(event.tail_of(event.calls()[0]).starts_with(b"(1,1,3),(2,2,3)"));
    }
}
