//! What the server knows, as the rules read it. Times are microseconds; counts are since the start of the server or since the
//! statistics were emptied.

use std::collections::HashMap;
use types::schema::{Schema, TableDef};

/// The part of the executions that the last plan must have, so that the counts speak of it.
const LAST_PLAN_PART: f64 = 0.8;

/// All of it.
#[derive(Debug)]
pub struct Workload<'a> {
    pub schema: &'a Schema,
    /// Seconds since the start of the server.
    pub uptime_s: f64,
    pub statements: Vec<Statement>,
    /// By the number of the table.
    pub tables: HashMap<u64, TableUse>,
    pub sessions: Vec<Session>,
    pub accounts: Vec<Account>,
}

impl Workload<'_> {
    /// What is known of a table.
    pub fn table(&self, def: &TableDef) -> Option<&TableUse> {
        self.tables.get(&def.id.0)
    }

    /// The stored tables of databases that are not the server's.
    pub fn own_tables(&self) -> impl Iterator<Item = &TableDef> {
        let databases = self.schema.databases.values().filter(|database| !is_of_server(Some(&database.name)));
        let tables = databases.flat_map(|database| database.tables.values());
        tables.map(|table| &**table).filter(|table| !table.is_virtual && table.view.is_none())
    }
}

/// The executions of one digest.
#[derive(Clone, Debug, Default)]
pub struct Statement {
    pub database: Option<String>,
    /// The digest, hexadecimal.
    pub digest: String,
    /// The text of the digest.
    pub text: String,
    /// A whole text of an execution; parameters of a prepared statement may be `?`.
    pub sample: Option<String>,
    pub samples: Vec<Sample>,
    pub count: u64,
    pub time_us: f64,
    /// Of that: waited for rows that others had locked, and how often.
    pub row_lock_us: f64,
    pub row_lock_waits: u64,
    pub examined: u64,
    pub sent: u64,
    pub affected: u64,
    /// Seconds from the first execution to the last.
    pub span_s: f64,
    pub plans: Vec<PlanUse>,
    /// Executions in runs of the same statement on one connection, and of these: each in its own transaction.
    pub in_runs: u64,
    pub in_runs_alone: u64,
    /// Executions whose parameter was a value of an earlier result of the connection.
    pub caused: u64,
    /// The text of the digest of that result, and the column, from 0.
    pub cause: Option<(String, usize)>,
    /// Executions that a deadlock undid, as far as they are known.
    pub deadlocks: u64,
    /// Somebody asks about this statement: it was run once, and the counts are those of many such executions.
    pub is_asked: bool,
}

impl Statement {
    /// "12 executions", for the evidence.
    pub fn executions(&self) -> String {
        if self.is_asked { "Executions".to_owned() } else { format!("{} executions", self.count) }
    }

    /// Rows examined by an execution.
    pub fn examined_each(&self) -> f64 {
        self.examined as f64 / self.count.max(1) as f64
    }

    /// Rows that an execution returned or changed.
    pub fn useful_each(&self) -> f64 {
        (self.sent + self.affected) as f64 / self.count.max(1) as f64
    }

    /// Counts it as `count` executions like the one that it was.
    pub fn scale(&mut self, count: u64) {
        (self.is_asked, self.count, self.time_us) = (true, count, self.time_us * count as f64);
        for rows in [&mut self.examined, &mut self.sent, &mut self.affected] {
            *rows = rows.saturating_mul(count);
        }
        self.plans.iter_mut().for_each(|plan| plan.count = count);
    }

    /// The part of the rows examined that were returned or changed.
    pub fn yield_of_rows(&self) -> f64 {
        (self.sent + self.affected) as f64 / self.examined.max(1) as f64
    }

    /// Does the plan that ran last have a step that begins so? `on`: the alias of the table. No, while most of what was counted belongs to
    /// other plans.
    pub fn last_plan_reads(&self, step: &str, on: &str) -> bool {
        let Some(plan) = self.plans.iter().max_by(|a, b| b.last_age_s.total_cmp(&a.last_age_s)) else { return false };
        let all: u64 = self.plans.iter().map(|plan| plan.count).sum();
        if (plan.count as f64) < all as f64 * LAST_PLAN_PART {
            return false;
        }
        let wanted = format!("-> {step} on {on}");
        plan.text.lines().any(|line| {
            let rest = line.trim_start().strip_prefix(wanted.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ',']))
        })
    }
}

/// An execution with the values of its parameters.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    pub text: String,
    pub time_us: f64,
    pub examined: u64,
    pub sent: u64,
}

/// A plan that a statement ran with.
#[derive(Clone, Debug, Default)]
pub struct PlanUse {
    pub text: String,
    pub count: u64,
    /// Without waits.
    pub cpu_us: f64,
    /// Seconds since it was seen first and last.
    pub first_age_s: f64,
    pub last_age_s: f64,
}

/// A table and its use.
#[derive(Clone, Debug, Default)]
pub struct TableUse {
    pub rows: u64,
    /// Bytes of a row, on average.
    pub row_bytes: u64,
    /// The next number of the column with AUTO_INCREMENT.
    pub next_auto: Option<u64>,
    /// Different values of each column, where statistics know them.
    pub distinct: Vec<Option<f64>>,
    /// By the place of the index.
    pub trees: Vec<TreeUse>,
}

/// The use of an index since the start.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeUse {
    pub fetched: u64,
    /// Of the first one, rows of the table.
    pub inserted: u64,
    pub updated: u64,
    pub deleted: u64,
}

/// A session.
#[derive(Clone, Debug, Default)]
pub struct Session {
    pub id: u64,
    pub user: String,
    pub host: String,
    pub program: Option<String>,
    /// It waits for its client.
    pub is_idle: bool,
    /// Seconds since its last command.
    pub idle_s: u64,
    /// Seconds that its transaction is open.
    pub transaction_s: Option<u64>,
    /// Rows that the transaction has changed.
    pub changes: u64,
}

/// The statements of an account by the name of their event, as `statement/sql/select`.
#[derive(Clone, Debug, Default)]
pub struct Account {
    pub user: String,
    pub host: String,
    pub statements: Vec<(String, u64)>,
    /// Sessions that have ended.
    pub sessions: u64,
}

/// Is it a database of the server?
pub fn is_of_server(database: Option<&str>) -> bool {
    let own = ["mysql", "sys", "information_schema", "performance_schema"];
    database.is_some_and(|database| own.iter().any(|name| name.eq_ignore_ascii_case(database)))
}
