//! The settings of performance_schema: `setup_consumers` and `setup_instruments`, in the memory of the server.
//!
//! All of MySQL's consumers can be switched. Those with data here have an effect: the statistics by digest, the stages
//! of definitions, and the open transactions. There are instruments for these stages and transactions only.

use crate::show::{self, Row};
use sync::atomic::{AtomicU32, Ordering};
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
    ("events_statements_current", false),
    ("events_statements_history", false),
    ("events_statements_history_long", false),
    ("events_transactions_current", true),
    ("events_transactions_history", false),
    ("events_transactions_history_long", false),
    ("events_waits_current", false),
    ("events_waits_history", false),
    ("events_waits_history_long", false),
    ("global_instrumentation", true),
    ("thread_instrumentation", true),
    ("statements_digest", true),
];
const STAGES_CURRENT: usize = 0;
const TRANSACTIONS_CURRENT: usize = 7;
const GLOBAL: usize = 13;
const THREADS: usize = 14;
const DIGESTS: usize = 15;
/// Bits after those of the consumers, for the slow query log and the general log.
const GENERAL_LOG: usize = 16;
const SLOW_LOG: usize = 17;
const UNINDEXED: usize = 18;

pub const WAITING_FOR_TABLE: &str = "stage/sql/Waiting for table metadata lock";
pub const READING_ROWS: &str = "stage/innodb/alter table (read PK and internal sort)";
pub const CATCHING_UP: &str = "stage/innodb/alter table (log apply table)";
pub const TRANSACTION: &str = "transaction";
/// With their properties.
const INSTRUMENT_NAMES: [(&str, &str); 4] =
    [(CATCHING_UP, "progress"), (READING_ROWS, "progress"), (WAITING_FOR_TABLE, ""), (TRANSACTION, "")];

/// What to record about a statement: one word, read when it begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watched(u32);

impl Watched {
    /// Are statements counted by digest?
    #[inline]
    pub fn digests(self) -> bool {
        self.0 & (1 << GLOBAL | 1 << DIGESTS) == 1 << GLOBAL | 1 << DIGESTS
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
    enabled: AtomicU32,
    timed: AtomicU32,
}

impl Default for Instruments {
    fn default() -> Self {
        let on = CONSUMER_NAMES.iter().enumerate().map(|(n, (_, on))| u32::from(*on) << n).sum();
        let all = (1 << INSTRUMENT_NAMES.len()) - 1;
        Self { consumers: AtomicU32::new(on), enabled: AtomicU32::new(all), timed: AtomicU32::new(all) }
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
            match on {
                true => self.consumers.fetch_or(1 << bit, Ordering::Relaxed),
                false => self.consumers.fetch_and(!(1 << bit), Ordering::Relaxed),
            };
        }
    }

    /// Is a stage or a transaction shown, under the name that its instrument has?
    pub fn shows(&self, name: &str) -> bool {
        let table = if name == TRANSACTION { TRANSACTIONS_CURRENT } else { STAGES_CURRENT };
        let instrument = INSTRUMENT_NAMES.iter().position(|(own, _)| *own == name);
        let enabled = self.enabled.load(Ordering::Relaxed);
        self.consumes(&[GLOBAL, THREADS, table]) && instrument.is_some_and(|bit| enabled & 1 << bit != 0)
    }

    pub fn consumer_rows(&self) -> Vec<Row> {
        let row = |(bit, (name, _)): (usize, &(&str, bool))| {
            let cells = [("NAME", show::text(*name)), ("ENABLED", switch(&self.consumers, bit))];
            show::named(DATABASE, CONSUMERS, cells)
        };
        CONSUMER_NAMES.iter().enumerate().map(row).collect()
    }

    pub fn instrument_rows(&self) -> Vec<Row> {
        let row = |(bit, (name, properties)): (usize, &(&str, &str))| {
            let cells = [
                ("NAME", show::text(*name)),
                ("ENABLED", switch(&self.enabled, bit)),
                ("TIMED", switch(&self.timed, bit)),
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
            let (bits, position) = match (&*table.name, &*table.columns[*column].name) {
                (CONSUMERS, _) => (&self.consumers, CONSUMER_NAMES.iter().position(|(own, _)| is_named(own))),
                (_, "TIMED") => (&self.timed, INSTRUMENT_NAMES.iter().position(|(own, _)| is_named(own))),
                _ => (&self.enabled, INSTRUMENT_NAMES.iter().position(|(own, _)| is_named(own))),
            };
            let Some(position) = position else { continue };
            // A value that is not a member counts as NO.
            match matches!(value, Value::Bytes(text) if **text == *b"YES") {
                true => bits.fetch_or(1 << position, Ordering::Relaxed),
                false => bits.fetch_and(!(1 << position), Ordering::Relaxed),
            };
        }
    }
}

fn switch(bits: &AtomicU32, position: usize) -> Value<'static> {
    show::text(if bits.load(Ordering::Relaxed) & 1 << position != 0 { "YES" } else { "NO" })
}
