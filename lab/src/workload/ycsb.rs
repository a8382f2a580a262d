//! The six core workloads of YCSB (Cooper and others, 2010) on one table `usertable`: a key of text and ten fields of 100 letters.
//!
//! | | reads | changes | keys |
//! |---|---|---|---|
//! | A | 50 % | 50 % updates of one field | zipfian, scattered |
//! | B | 95 % | 5 % updates | zipfian, scattered |
//! | C | all | | zipfian, scattered |
//! | D | 95 % | 5 % inserts | the newest most |
//! | E | 95 % scans of up to 100 rows | 5 % inserts | zipfian, scattered |
//! | F | 50 % | 50 % read a row, then update it | zipfian, scattered |
//!
//! YCSB draws by Zipf's law with the exponent 0.99, and scatters the numbers by FNV over the keys; so does this. A key is `user` and twelve
//! digits: the client keeps numbers, and the scattering makes which are popular.

use super::{Event, Filler, Place, Script, Settings, Statement, Workload};
use crate::client::Client;
use crate::error::{Error, Result};
use crate::random::{Random, Zipf, scatter};
use crate::target::Dialect;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const EXPONENT: f64 = 0.99;
const FIELDS: usize = 10;
const FIELD: &str = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";
const SCAN_ROWS_MAX: u64 = 100;

const READ: u32 = 0;
const SCAN: u32 = 1;
const INSERT: u32 = 2;
/// The first of ten, one for each field.
const UPDATE: u32 = 3;

/// One of the six.
pub struct Ycsb {
    letter: char,
    rows: u64,
    /// Rows of the table: the next insert's number
    next: Arc<AtomicU64>,
}

impl Ycsb {
    pub fn new(letter: char, settings: &Settings) -> Result<Self> {
        if !('a'..='f').contains(&letter) {
            return Err(Error::asked(format!("'ycsb_{letter}' is no workload; there are ycsb_a to ycsb_f")));
        }
        let rows = settings.rows * u64::from(settings.tables);
        Ok(Self { letter, rows, next: Arc::new(AtomicU64::new(rows)) })
    }

    fn inserts(&self) -> bool {
        matches!(self.letter, 'd' | 'e')
    }
}

impl Workload for Ycsb {
    fn prepare(&self, client: &mut Client, dialect: Dialect, tell: &mut dyn FnMut(f64) -> Result<()>) -> Result<()> {
        let fields: Vec<String> = (0..FIELDS).map(|field| format!("field{field} VARCHAR(100) NOT NULL")).collect();
        client.run(&format!("CREATE TABLE usertable (ycsb_key VARCHAR(64) NOT NULL PRIMARY KEY, {})", fields.join(", ")))?;
        let mut random = Random::new(1);
        let mut filler = Filler::new(client, "INSERT INTO usertable VALUES ".into());
        let mut text = Vec::new();
        for row in 0..self.rows {
            text.clear();
            for field in 0..FIELDS {
                text.extend_from_slice(if field == 0 { b"'" } else { b",'" });
                random.pattern(FIELD, &mut text);
                text.push(b'\'');
            }
            filler.row(format_args!("'user{row:012}',{}", std::str::from_utf8(&text).expect("letters")))?;
            if row % 500 == 0 {
                tell(row as f64 / self.rows as f64)?;
            }
        }
        filler.send()?;
        // Relaxed: nobody draws meanwhile.
        self.next.store(self.rows, Ordering::Relaxed);
        if dialect == Dialect::Postgres {
            client.run("VACUUM ANALYZE")?;
        }
        Ok(())
    }

    fn statements(&self, _: Dialect) -> Vec<Statement> {
        let marks = ["?"; FIELDS + 1].join(", ");
        let mut all = vec![
            Statement::new("read", "SELECT * FROM usertable WHERE ycsb_key = ?"),
            Statement::new("scan", "SELECT * FROM usertable WHERE ycsb_key >= ? ORDER BY ycsb_key LIMIT 100"),
            Statement::new("insert", format!("INSERT INTO usertable VALUES ({marks})")),
        ];
        all.extend(
            (0..FIELDS)
                .map(|field| Statement::new("update", format!("UPDATE usertable SET field{field} = ? WHERE ycsb_key = ?"))),
        );
        all
    }

    fn script(&self, _: Place, _: Dialect) -> Box<dyn Script> {
        let zipf = Zipf::new(self.rows, EXPONENT);
        Box::new(OneClient { letter: self.letter, rows: self.rows, zipf, next: Arc::clone(&self.next) })
    }

    fn conditions(&self) -> Vec<(String, String)> {
        let rows = self.rows;
        let count = if self.inserts() { format!("COUNT(*) >= {rows}") } else { format!("COUNT(*) = {rows}") };
        let fields: Vec<String> = (0..FIELDS).map(|field| format!("CHAR_LENGTH(field{field}) <> 100")).collect();
        vec![
            ("the rows are those that were loaded".into(), format!("SELECT CASE WHEN {count} THEN 0 ELSE 1 END FROM usertable")),
            ("each field has 100 letters".into(), format!("SELECT COUNT(*) FROM usertable WHERE {}", fields.join(" OR "))),
        ]
    }

    fn data(&self) -> String {
        "ycsb".into()
    }

    fn wears_out(&self) -> bool {
        self.inserts()
    }
}

struct OneClient {
    letter: char,
    rows: u64,
    zipf: Zipf,
    next: Arc<AtomicU64>,
}

impl OneClient {
    /// A popular key.
    fn key(&self, random: &mut Random) -> u64 {
        scatter(self.zipf.draw(random)) % self.rows
    }

    fn insert(&self, random: &mut Random, event: &mut Event) {
        // Relaxed: the number is all that is shared.
        let row = self.next.fetch_add(1, Ordering::Relaxed);
        event.call(INSERT).written(format_args!("user{row:012}"));
        for _ in 0..FIELDS {
            event.pattern(random, FIELD);
        }
    }

    fn update(&self, random: &mut Random, event: &mut Event, key: u64) {
        let field = random.below(FIELDS as u64) as u32;
        event.call(UPDATE + field).pattern(random, FIELD).written(format_args!("user{key:012}"));
    }
}

impl Script for OneClient {
    fn event(&mut self, random: &mut Random, event: &mut Event) {
        let percent = random.below(100);
        let (changes, key) = match self.letter {
            'a' | 'f' => (percent < 50, self.key(random)),
            'c' => (false, self.key(random)),
            'd' => {
                // The newest is the most popular.
                let rows = self.next.load(Ordering::Relaxed);
                (percent < 5, rows - self.zipf.draw(random).min(rows))
            }
            _ => (percent < 5, self.key(random)),
        };
        match (self.letter, changes) {
            ('d' | 'e', true) => self.insert(random, event),
            ('e', false) => {
                // YCSB draws a length of up to 100: rows beyond it are left unread by a LIMIT, which cannot be a mark in every server.
                event.call(SCAN).written(format_args!("user{key:012}"));
            }
            ('f', true) => {
                event.call(READ).written(format_args!("user{key:012}"));
                self.update(random, event, key);
            }
            (_, true) => self.update(random, event, key),
            _ => {
                event.call(READ).written(format_args!("user{key:012}"));
            }
        }
    }
}

const _: () = assert!(FIELD.len() == 100 && SCAN_ROWS_MAX == 100);
