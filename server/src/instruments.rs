//! The settings of performance_schema: `setup_consumers` and `setup_instruments`, in the memory of the server.
//!
//! All of MySQL's consumers can be switched; those without data have no effect. The instruments are those of what
//! Heddle records: statements, waits, transactions, errors, and stages of definitions. A statement whose instrument is
//! disabled is in no table of events and in no sum; a wait is in no table of events. TIMED has no effect: what is
//! recorded is timed.

use crate::record::Name;
use crate::show;
use crate::waits::event_name;
use std::sync::LazyLock;
use sync::atomic::{AtomicU32, AtomicU64, Ordering};
use sync::waits::Kind;
use types::Value;
use types::schema::TableDef;

const DATABASE: &str = "performance_schema";
pub const CONSUMERS: &str = "setup_consumers";
pub const INSTRUMENTS: &str = "setup_instruments";

/// Names, and whether they are enabled at the start: those with data are.
const CONSUMER_NAMES: [(&str, bool); 16] = [
    ("events_stages_current", true),
    ("events_stages_history", false),
    ("events_stages_history_long", false),
    ("events_statements_cpu", false),
    ("events_statements_current", true),
    ("events_statements_history", true),
    ("events_statements_history_long", false),
    ("events_transactions_current", true),
    ("events_transactions_history", true),
    ("events_transactions_history_long", false),
    ("events_waits_current", true),
    ("events_waits_history", false),
    ("events_waits_history_long", false),
    ("global_instrumentation", true),
    ("thread_instrumentation", true),
    ("statements_digest", true),
];
const STAGES_CURRENT: usize = 0;
const STATEMENTS_CURRENT: usize = 4;
const STATEMENTS_HISTORY: usize = 5;
const STATEMENTS_HISTORY_LONG: usize = 6;
const TRANSACTIONS_CURRENT: usize = 7;
const GLOBAL: usize = 13;
const THREADS: usize = 14;
const DIGESTS: usize = 15;
/// Without one of these no event of a session is kept.
const KEEPS: u32 = 1 << GLOBAL | 1 << THREADS;
/// Bits after those of the consumers, for the slow query log and the general log.
const GENERAL_LOG: usize = 16;
const SLOW_LOG: usize = 17;
const UNINDEXED: usize = 18;
/// Every instrument of statements is enabled.
const ALL_STATEMENTS: usize = 19;
/// The workers take samples of themselves.
const PROFILED: usize = 20;
/// Causes of statements are looked for: `heddle_advice`.
const ADVISED: usize = 21;

pub const WAITING_FOR_TABLE: &str = "stage/sql/Waiting for table metadata lock";
pub const READING_ROWS: &str = "stage/innodb/alter table (read PK and internal sort)";
pub const CATCHING_UP: &str = "stage/innodb/alter table (log apply table)";
pub const CHECKING: &str = "stage/heddle/check table";
pub const SUMMING: &str = "stage/heddle/checksum table";
pub const ANALYZING: &str = "stage/heddle/analyze table";
pub const LOADING: &str = "stage/heddle/load data";
pub const TRANSACTION: &str = "transaction";
pub const ERROR: &str = "error";
/// With their properties.
const OTHER_INSTRUMENTS: [(&str, &str); 9] = [
    (CATCHING_UP, "progress"),
    (READING_ROWS, "progress"),
    (CHECKING, "progress"),
    (SUMMING, "progress"),
    (ANALYZING, "progress"),
    (LOADING, "progress"),
    (WAITING_FOR_TABLE, ""),
    (TRANSACTION, ""),
    (ERROR, ""),
];

/// The instruments with their properties, in the order of their bits.
static INSTRUMENT_NAMES: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
    let mut names = OTHER_INSTRUMENTS.to_vec();
    let statements = Name::all().map(Name::text);
    for name in statements.chain(Kind::ALL.iter().map(|kind| event_name(*kind))) {
        if names.iter().all(|(known, _)| *known != name) {
            names.push((name, ""));
        }
    }
    assert!(names.len() <= WORDS * 64, "each instrument has a bit");
    names
});

/// Words with a bit for each instrument.
const WORDS: usize = 4;

/// What to record about a statement: one word, read when it begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watched(u32);

impl Watched {
    /// Are statements counted by digest?
    #[inline]
    pub fn digests(self) -> bool {
        self.0 & (1 << GLOBAL | 1 << DIGESTS) == 1 << GLOBAL | 1 << DIGESTS
    }

    /// Does the session keep its last statements?
    #[inline]
    pub fn history(self) -> bool {
        let kept = 1 << STATEMENTS_CURRENT | 1 << STATEMENTS_HISTORY | 1 << STATEMENTS_HISTORY_LONG;
        self.0 & KEEPS == KEEPS && self.0 & kept != 0
    }

    #[inline]
    pub fn history_long(self) -> bool {
        self.0 & KEEPS == KEEPS && self.0 & 1 << STATEMENTS_HISTORY_LONG != 0
    }

    #[inline]
    pub fn general_log(self) -> bool {
        self.0 & 1 << GENERAL_LOG != 0
    }

    /// The general log has the statement already.
    pub fn without_general_log(self) -> Self {
        Self(self.0 & !(1 << GENERAL_LOG))
    }

    pub fn slow_log(self) -> bool {
        self.0 & 1 << SLOW_LOG != 0
    }

    /// Does the slow log have statements that read tables without a key?
    #[inline]
    pub fn unindexed(self) -> bool {
        self.0 & 1 << UNINDEXED != 0
    }

    /// Is every instrument of statements enabled?
    #[inline]
    pub fn all_statements(self) -> bool {
        self.0 & 1 << ALL_STATEMENTS != 0
    }

    /// Are samples taken?
    #[inline]
    pub fn profiled(self) -> bool {
        self.0 & 1 << PROFILED != 0
    }

    /// Are causes of statements looked for?
    #[inline]
    pub fn advised(self) -> bool {
        self.0 & 1 << ADVISED != 0
    }

    /// Must more be noted when a statement begins: for a log, or for a profile?
    #[inline]
    pub fn notes_beginning(self) -> bool {
        self.0 & (1 << GENERAL_LOG | 1 << SLOW_LOG | 1 << PROFILED) != 0
    }

    /// Is any log written?
    #[inline]
    pub fn logs(self) -> bool {
        self.0 & (1 << GENERAL_LOG | 1 << SLOW_LOG) != 0
    }
}

/// One bit for each name.
pub struct Instruments {
    /// Also the bits of the logs.
    consumers: AtomicU32,
    enabled: [AtomicU64; WORDS],
    timed: [AtomicU64; WORDS],
}

impl Default for Instruments {
    fn default() -> Self {
        let on: u32 = CONSUMER_NAMES.iter().enumerate().map(|(n, (_, on))| u32::from(*on) << n).sum();
        let all = || std::array::from_fn(|_| AtomicU64::new(u64::MAX));
        Self { consumers: AtomicU32::new(on | 1 << ALL_STATEMENTS), enabled: all(), timed: all() }
    }
}

// Relaxed everywhere: a switch orders nothing; a statement that does not see it yet continues as before.
impl Instruments {
    fn consumes(&self, wanted: &[usize]) -> bool {
        let on = self.consumers.load(Ordering::Relaxed);
        wanted.iter().all(|bit| on & 1 << bit != 0)
    }

    /// What to record about statements.
    #[inline]
    pub fn watched(&self) -> Watched {
        Watched(self.consumers.load(Ordering::Relaxed))
    }

    /// Whether logs are written, and whether the slow one has statements that read tables without a key.
    pub fn set_logs(&self, general: bool, slow: bool, unindexed: bool) {
        for (bit, on) in [(GENERAL_LOG, general), (SLOW_LOG, slow), (UNINDEXED, slow && unindexed)] {
            if on {
                self.consumers.fetch_or(1 << bit, Ordering::Relaxed)
            } else {
                self.consumers.fetch_and(!(1 << bit), Ordering::Relaxed)
            };
        }
    }

    /// Whether causes of statements are looked for.
    pub fn set_advised(&self, on: bool) {
        if on {
            self.consumers.fetch_or(1 << ADVISED, Ordering::Relaxed);
        } else {
            self.consumers.fetch_and(!(1 << ADVISED), Ordering::Relaxed);
        }
    }

    /// Whether samples are taken.
    pub fn set_profiled(&self, on: bool) {
        if on {
            self.consumers.fetch_or(1 << PROFILED, Ordering::Relaxed)
        } else {
            self.consumers.fetch_and(!(1 << PROFILED), Ordering::Relaxed)
        };
    }

    /// Is a stage or a transaction shown, under the name that its instrument has?
    pub fn shows(&self, name: &str) -> bool {
        let table = if name == TRANSACTION { TRANSACTIONS_CURRENT } else { STAGES_CURRENT };
        self.consumes(&[GLOBAL, THREADS, table]) && self.enables(name)
    }

    /// Is the instrument of this name enabled?
    pub fn enables(&self, name: &str) -> bool {
        let instrument = INSTRUMENT_NAMES.iter().position(|(own, _)| *own == name);
        instrument.is_some_and(|bit| is_set(&self.enabled, bit))
    }

    /// Publishes whether every instrument of statements is enabled.
    fn settle(&self) {
        let statements = INSTRUMENT_NAMES.iter().enumerate().filter(|(_, (name, _))| name.starts_with("statement/"));
        let is_on = statements.into_iter().all(|(bit, _)| is_set(&self.enabled, bit));
        if is_on {
            self.consumers.fetch_or(1 << ALL_STATEMENTS, Ordering::Relaxed)
        } else {
            self.consumers.fetch_and(!(1 << ALL_STATEMENTS), Ordering::Relaxed)
        };
    }

    /// Is the table of this name filled?
    pub fn consumes_named(&self, table: &str) -> bool {
        let bit = CONSUMER_NAMES.iter().position(|(name, _)| *name == table);
        bit.is_some_and(|bit| self.consumes(&[GLOBAL, THREADS, bit]))
    }

    pub fn consumer_rows(&self) -> Vec<Vec<Value<'static>>> {
        let row = |(bit, (name, _)): (usize, &(&str, bool))| {
            let is_on = self.consumers.load(Ordering::Relaxed) & 1 << bit != 0;
            let cells = [("NAME", show::text(*name)), ("ENABLED", switch(is_on))];
            show::named(DATABASE, CONSUMERS, cells)
        };
        CONSUMER_NAMES.iter().enumerate().map(row).collect()
    }

    pub fn instrument_rows(&self) -> Vec<Vec<Value<'static>>> {
        let row = |(bit, (name, properties)): (usize, &(&str, &str))| {
            let cells = [
                ("NAME", show::text(*name)),
                ("ENABLED", switch(is_set(&self.enabled, bit))),
                ("TIMED", switch(is_set(&self.timed, bit))),
                ("PROPERTIES", show::text(*properties)),
                ("VOLATILITY", show::number(0u64)),
            ];
            show::named(DATABASE, INSTRUMENTS, cells)
        };
        INSTRUMENT_NAMES.iter().enumerate().map(row).collect()
    }

    /// The columns of a table that can be set.
    pub fn settings(table: &TableDef) -> Option<&'static [&'static str]> {
        match (&*table.database, &*table.name) {
            (DATABASE, CONSUMERS) => Some(&["ENABLED"]),
            (DATABASE, INSTRUMENTS) => Some(&["ENABLED", "TIMED"]),
            _ => None,
        }
    }

    /// Changes the switches of a row.
    pub fn change(&self, table: &TableDef, row: &[Value<'_>], changes: &[(usize, Value<'_>)]) {
        let Some(Value::Bytes(name)) = row.first() else { return };
        let is_named = |own: &str| own.as_bytes() == &**name;
        for (column, value) in changes {
            // A value that is not a member counts as NO.
            let is_on = matches!(value, Value::Bytes(text) if **text == *b"YES");
            if &*table.name == CONSUMERS {
                let Some(bit) = CONSUMER_NAMES.iter().position(|(own, _)| is_named(own)) else { continue };
                if is_on {
                    self.consumers.fetch_or(1 << bit, Ordering::Relaxed)
                } else {
                    self.consumers.fetch_and(!(1 << bit), Ordering::Relaxed)
                };
                continue;
            }
            let Some(bit) = INSTRUMENT_NAMES.iter().position(|(own, _)| is_named(own)) else { continue };
            let bits = if &*table.columns[*column].name == "TIMED" { &self.timed } else { &self.enabled };
            if is_on {
                bits[bit / 64].fetch_or(1 << (bit % 64), Ordering::Relaxed)
            } else {
                bits[bit / 64].fetch_and(!(1 << (bit % 64)), Ordering::Relaxed)
            };
            self.settle();
        }
    }
}

fn is_set(bits: &[AtomicU64; WORDS], bit: usize) -> bool {
    bits[bit / 64].load(Ordering::Relaxed) & 1 << (bit % 64) != 0
}

fn switch(is_on: bool) -> Value<'static> {
    show::text(if is_on { "YES" } else { "NO" })
}
