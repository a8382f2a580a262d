//! A finding: what is wrong, how the server knows, what the cure is, and what both cost.

use std::fmt::Write;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident => $name:literal,)*) => {
        /// What a finding is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            pub const ALL: &[Kind] = &[$(Kind::$kind,)*];

            /// Its name in `sys.advice`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// A statement runs once for each row of an earlier result of its connection.
    NPlusOne => "n_plus_one",
    /// Rows are found by reading the whole table.
    MissingIndex => "missing_index",
    /// An index leads to rows of which two or three small columns are read.
    CoveringIndex => "covering_index",
    /// Many rows are sorted, and the first few are returned.
    OrderWithoutIndex => "order_without_index",
    /// Rows are counted again and again.
    RepeatedCount => "repeated_count",
    /// A comparison converts an indexed column.
    ImplicitCast => "implicit_cast",
    /// A comparison computes a function of a column.
    FunctionOnColumn => "function_on_column",
    /// OFFSET skips many rows.
    DeepOffset => "deep_offset",
    /// Rows are inserted one by one in one transaction.
    InsertByRow => "insert_row_by_row",
    /// Rows are changed one by one, each in its own transaction.
    CommitByRow => "commit_row_by_row",
    /// A driver sends many statements that do nothing for the application.
    Chatter => "chatter",
    /// A connection is made for a few statements.
    Reconnect => "reconnect",
    /// A transaction is open while its client does nothing.
    IdleTransaction => "idle_transaction",
    /// Sessions queue up for one row.
    HotRow => "hot_row",
    /// Statements are undone by deadlocks.
    Deadlock => "deadlock",
    /// Two indexes with the same columns.
    DuplicateIndex => "duplicate_index",
    /// An index whose columns begin another one.
    RedundantIndex => "redundant_index",
    /// An index that is written and not read.
    UnusedIndex => "unused_index",
    /// The numbers of a column run out.
    AutoIncrement => "auto_increment",
    NoPrimaryKey => "no_primary_key",
    /// The plan of a statement changed for the worse.
    PlanFlip => "plan_flip",
    /// Large values are fetched for many rows.
    DearColumns => "dear_columns",
    /// A join that changes nothing about the result.
    NeedlessJoin => "needless_join",
}

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// 16 hexadecimal digits; see V3.
    pub id: String,
    pub kind: Kind,
    pub database: Option<String>,
    pub table: Option<String>,
    /// The digest of the statement, and its text.
    pub digest: Option<String>,
    pub statement: Option<String>,
    /// An execution with its values.
    pub example: Option<String>,
    /// Which parts of the application send the statements: tags such as `controller=orders, route=/orders`.
    pub application: Vec<String>,
    /// One sentence or two with the counts.
    pub evidence: String,
    /// Microseconds of statements since the start that the cure would have saved: an estimate. 0: not known.
    pub gain_us: f64,
    pub gain: String,
    /// What the cure costs.
    pub price: String,
    /// A statement of SQL, or words.
    pub cure: String,
    pub is_sql: bool,
    /// How many statements it helps.
    pub statements: u64,
    /// These statements.
    pub helps: Vec<Helped>,
    /// The index that is the cure.
    pub index: Option<AdvisedIndex>,
    /// The part of an execution's time that the cure would save: an estimate.
    pub part: Option<f64>,
}

/// An index that a finding advises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvisedIndex {
    /// As ADD INDEX takes them between parentheses.
    pub parts: String,
    /// About its size.
    pub bytes: u64,
}

/// A statement that a cure helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Helped {
    pub database: Option<String>,
    /// The digest, and its text.
    pub digest: String,
    pub text: String,
}

impl Finding {
    /// A finding of this kind about a subject, which names it (V3).
    pub fn new(kind: Kind, subject: &[&str]) -> Self {
        Self {
            id: id(kind, subject),
            kind,
            database: None,
            table: None,
            digest: None,
            statement: None,
            example: None,
            application: Vec::new(),
            evidence: String::new(),
            gain_us: 0.0,
            gain: String::new(),
            price: "none".to_owned(),
            cure: String::new(),
            is_sql: false,
            statements: 1,
            helps: Vec::new(),
            index: None,
            part: None,
        }
    }

    /// About a statement.
    pub fn of(mut self, statement: &crate::workload::Statement) -> Self {
        self.database.clone_from(&statement.database);
        self.digest = Some(statement.digest.clone());
        self.statement = Some(statement.text.clone());
        let (database, digest, text) = (statement.database.clone(), statement.digest.clone(), statement.text.clone());
        self.helps = vec![Helped { database, digest, text }];
        let slowest = statement.samples.iter().max_by(|a, b| a.time_us.total_cmp(&b.time_us));
        self.example = slowest.map(|sample| sample.text.clone()).or_else(|| statement.sample.clone());
        self
    }

    pub fn on(mut self, database: &str, table: &str) -> Self {
        self.database = Some(database.to_owned());
        self.table = Some(table.to_owned());
        self
    }

    pub fn because(mut self, evidence: String) -> Self {
        self.evidence = evidence;
        self
    }

    /// `part` of the statement's time would have been saved.
    pub fn saves(mut self, statement: &crate::workload::Statement, part: f64) -> Self {
        self.gain_us = statement.time_us * part.clamp(0.0, 1.0);
        self.part = Some(part.clamp(0.0, 1.0));
        let share = (part.clamp(0.0, 1.0) * 100.0).round();
        self.gain = format!("about {share} % of this statement's {} (estimated)", duration(statement.time_us));
        self
    }

    pub fn gains(mut self, words: &str) -> Self {
        self.gain = words.to_owned();
        self
    }

    pub fn at(mut self, price: String) -> Self {
        self.price = price;
        self
    }

    pub fn cured_by_sql(mut self, sql: String) -> Self {
        (self.cure, self.is_sql) = (sql, true);
        self
    }

    /// ADD INDEX with these parts, about `bytes` large.
    pub fn cured_by_index(mut self, def: &types::schema::TableDef, parts: String, bytes: u64) -> Self {
        let cure = format!("ALTER TABLE {}.{} ADD INDEX ({parts})", quoted(&def.database), quoted(&def.name));
        self.index = Some(AdvisedIndex { parts, bytes });
        self.cured_by_sql(cure)
    }

    pub fn cured_by(mut self, words: String) -> Self {
        (self.cure, self.is_sql) = (words, false);
        self
    }
}

/// V3: the hash FNV-1a of kind and subject (Fowler, Noll, Vo; 64 bits), which is the same on each machine.
fn id(kind: Kind, subject: &[&str]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in std::iter::once(kind.name()).chain(subject.iter().copied()) {
        for byte in part.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// Microseconds as a text with a unit.
pub fn duration(us: f64) -> String {
    match us {
        us if us < 1e3 => format!("{us:.0} µs"),
        us if us < 1e6 => format!("{:.1} ms", us / 1e3),
        us => format!("{:.1} s", us / 1e6),
    }
}

/// A name in backticks.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Names in backticks with commas between.
pub fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut out = String::new();
    for name in names {
        let comma = if out.is_empty() { "" } else { ", " };
        let _ = write!(out, "{comma}{}", quoted(name));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stay_the_same() {
        assert_eq!(Finding::new(Kind::HotRow, &["d", "t"]).id, Finding::new(Kind::HotRow, &["d", "t"]).id);
        assert_ne!(Finding::new(Kind::HotRow, &["d", "t"]).id, Finding::new(Kind::HotRow, &["dt", ""]).id);
        assert_eq!(Finding::new(Kind::NPlusOne, &["a"]).id, id(Kind::NPlusOne, &["a"]));
        assert_eq!(id(Kind::NPlusOne, &["a"]).len(), 16);
    }

    #[test]
    fn names_and_times_are_printed() {
        assert_eq!(list(["a", "b`c"]), "`a`, `b``c`");
        assert_eq!((duration(5.0), duration(2500.0), duration(3.2e6)), ("5 µs".into(), "2.5 ms".into(), "3.2 s".into()));
    }
}
