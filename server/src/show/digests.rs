//! Statistics by digest as tables: `events_statements_summary_by_digest`, and the views of `sys` over it.
//!
//! CPU time is the time that executions ran, lock time that of waits for rows, gaps and tables.

use super::build::{number, optional, text};
use super::definitions::named;
use super::source::{Maker, Row, Source};
use crate::digests::{Summary, digest_of};
use crate::instruments;
use crate::shared::Shared;
use crate::waits::LOCKS;
use std::collections::BTreeMap;
use types::{DateTime, Value};

#[rustfmt::skip]
pub const MAKERS: &[(&str, Maker)] = &[("events_statements_summary_by_digest", by_digest), ("heddle_phases_by_digest", phases), ("setup_actors", actors), (instruments::CONSUMERS, consumers), (instruments::INSTRUMENTS, setup_instruments)];

#[rustfmt::skip]
pub const VIEWS: &[(&str, Maker)] = &[
    ("statement_analysis", analysis), ("statements_with_errors_or_warnings", with_errors), ("statements_with_full_table_scans", with_scans),
    ("statements_with_runtimes_in_95th_percentile", slowest), ("x$statement_analysis", analysis_raw),
    ("x$statements_with_errors_or_warnings", with_errors_raw), ("x$statements_with_full_table_scans", with_scans_raw),
    ("x$statements_with_runtimes_in_95th_percentile", slowest_raw), ("x$ps_digest_95th_percentile_by_avg_us", percentile_95),
    ("x$ps_digest_avg_latency_distribution", distribution),
];

/// Is it the table that TRUNCATE TABLE empties?
pub fn is_summary_by_digest(database: &str, table: &str) -> bool {
    database.eq_ignore_ascii_case("performance_schema") && table.eq_ignore_ascii_case(MAKERS[0].0)
}

/// The number of characters of a statement that views show: `statement_truncate_len` of `sys_config`.
const STATEMENT_CHARS_MAX: usize = 64;

/// The summary of a digest, with times in picoseconds.
struct Line<'a> {
    of: &'a Summary,
    picos: f64,
    first: i64,
    last: i64,
}

impl<'a> Line<'a> {
    fn picos(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.picos) as u64
    }

    fn average(&self) -> u64 {
        self.picos(self.of.sums.time) / self.of.sums.count.max(1)
    }

    fn digest(&self) -> Option<String> {
        self.of.text.as_deref().map(digest_of)
    }

    /// The statement, shortened for views unless `is_raw`.
    fn query(&self, is_raw: bool) -> Option<String> {
        let text = self.of.text.as_ref()?;
        let length = text.chars().count();
        if is_raw || length <= STATEMENT_CHARS_MAX {
            return Some(text.clone());
        }
        let half = STATEMENT_CHARS_MAX / 2 - 2;
        let (head, tail) = (text.chars().take(half), text.chars().skip(length - half));
        Some(head.chain(" ... ".chars()).chain(tail).collect())
    }

    fn per_execution(&self, sum: u64) -> u64 {
        (sum as f64 / self.of.sums.count.max(1) as f64).round() as u64
    }

    fn full_scan(&self) -> &'static str {
        if self.of.sums.no_index > 0 { "*" } else { "" }
    }

    /// A time as a number, or formatted for people.
    fn time(&self, ticks: u64, is_raw: bool) -> Value<'static> {
        shown_picos(self.picos(ticks), is_raw)
    }
}

fn shown_picos(picos: u64, is_raw: bool) -> Value<'static> {
    if is_raw { number(picos) } else { Value::Bytes(expr::pico_time(picos as f64).into()) }
}

/// Converts ticks to times.
pub struct Clock {
    now_us: i64,
    now: u64,
    pub nanos: f64,
}

impl Clock {
    pub fn new(shared: &Shared) -> Self {
        let now_us = os::time::since_epoch().as_micros() as i64;
        Self { now_us, now: os::ticks(), nanos: shared.tick_clock.nanos_per_tick() }
    }

    /// Microseconds of the epoch.
    pub fn at(&self, ticks: u64) -> i64 {
        self.now_us - (self.now.saturating_sub(ticks) as f64 * self.nanos / 1000.0) as i64
    }
}

pub fn moment(us: i64) -> Value<'static> {
    DateTime::from_utc_micros(us).map_or(Value::Null, Value::DateTime)
}

fn lines<'a>(source: &Source<'a>) -> Vec<Line<'a>> {
    let Some(gathered) = source.gathered else { return Vec::new() };
    let clock = Clock::new(&source.worker.shared);
    let line = |of| Line { of, picos: clock.nanos * 1000.0, first: clock.at(of.first), last: clock.at(of.last) };
    gathered.digests.iter().map(line).collect()
}

/// The number of digests per average time, in microseconds, ascending.
fn averages(source: &Source<'_>) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for line in lines(source) {
        *counts.entry((line.average() + 500_000) / 1_000_000).or_default() += 1;
    }
    counts
}

fn distribution(source: &Source<'_>) -> Vec<Row> {
    let row = |(average, count)| {
        named("sys", "x$ps_digest_avg_latency_distribution", [("cnt", number(count)), ("avg_us", number(average))])
    };
    averages(source).into_iter().map(row).collect()
}

/// The average time that more than 95 % of the digests do not exceed.
fn percentile_95(source: &Source<'_>) -> Vec<Row> {
    let averages = averages(source);
    let all: u64 = averages.values().sum();
    let mut sum = 0;
    let found = averages.into_iter().find_map(|(average, count)| {
        sum += count;
        (sum * 100 > all * 95).then_some(average)
    });
    let row = |average| {
        let percentile = text(format!("{:.4}", sum as f64 / all as f64));
        named("sys", "x$ps_digest_95th_percentile_by_avg_us", [("avg_us", number(average)), ("percentile", percentile)])
    };
    found.map(row).into_iter().collect()
}

fn by_digest(source: &Source<'_>) -> Vec<Row> {
    let clock = Clock::new(&source.worker.shared);
    let row = |line: &Line<'_>| {
        let (of, sums) = (line.of, &line.of.sums);
        let time = |ticks| number(line.picos(ticks));
        let cells = [
            ("SCHEMA_NAME", optional(of.database.clone())),
            ("DIGEST", optional(line.digest())),
            ("DIGEST_TEXT", optional(of.text.clone())),
            ("COUNT_STAR", number(sums.count)),
            ("SUM_TIMER_WAIT", time(sums.time)),
            ("MIN_TIMER_WAIT", time(of.least)),
            ("AVG_TIMER_WAIT", number(line.average())),
            ("MAX_TIMER_WAIT", time(of.most)),
            ("SUM_LOCK_TIME", time(of.waited_for(LOCKS))),
            ("SUM_CPU_TIME", time(of.cpu())),
            ("SUM_ERRORS", number(sums.errors)),
            ("SUM_WARNINGS", number(sums.warnings)),
            ("SUM_ROWS_AFFECTED", number(sums.affected)),
            ("SUM_ROWS_SENT", number(sums.sent)),
            ("SUM_ROWS_EXAMINED", number(sums.examined)),
            ("SUM_CREATED_TMP_TABLES", number(sums.gathers)),
            ("SUM_SORT_RANGE", number(sums.sort_ranges)),
            ("SUM_SORT_ROWS", number(sums.sort_rows)),
            ("SUM_SORT_SCAN", number(sums.sort_scans)),
            ("SUM_SELECT_FULL_JOIN", number(sums.full_joins)),
            ("SUM_SELECT_RANGE", number(sums.ranges)),
            ("SUM_SELECT_SCAN", number(sums.scans)),
            ("SUM_NO_INDEX_USED", number(sums.no_index)),
            ("FIRST_SEEN", moment(line.first)),
            ("LAST_SEEN", moment(line.last)),
            ("QUANTILE_95", time(of.quantile(950))),
            ("QUANTILE_99", time(of.quantile(990))),
            ("QUANTILE_999", time(of.quantile(999))),
            ("QUERY_SAMPLE_TEXT", optional(of.text.as_ref().map(|_| of.sample.clone()))),
            ("QUERY_SAMPLE_SEEN", moment(clock.at(of.sample_end))),
            ("QUERY_SAMPLE_TIMER_WAIT", time(of.sample_time)),
        ];
        named("performance_schema", "events_statements_summary_by_digest", cells)
    };
    lines(source).iter().map(row).collect()
}

/// The phases of each digest, which add up to its CPU time.
fn phases(source: &Source<'_>) -> Vec<Row> {
    let row = |line: &Line<'_>| {
        let sums = &line.of.sums;
        let time = |ticks| number(line.picos(ticks));
        let cells = [
            ("SCHEMA_NAME", optional(line.of.database.clone())),
            ("DIGEST", optional(line.digest())),
            ("COUNT_STAR", number(sums.count)),
            ("SUM_CPU_TIME", time(line.of.cpu())),
            ("SUM_DECODE_TIME", time(sums.decode)),
            ("SUM_PARSE_TIME", time(sums.parse)),
            ("SUM_PLAN_TIME", time(sums.plan)),
            ("SUM_EXECUTE_TIME", time(sums.execute)),
            ("SUM_ENCODE_TIME", time(sums.encode)),
            ("SUM_COMMIT_TIME", time(sums.commit)),
        ];
        named("performance_schema", "heddle_phases_by_digest", cells)
    };
    lines(source).iter().map(row).collect()
}

/// The accounts whose statements are measured: all.
fn actors(_: &Source<'_>) -> Vec<Row> {
    let cells = [("HOST", "%"), ("USER", "%"), ("ROLE", "%"), ("ENABLED", "YES"), ("HISTORY", "YES")];
    vec![named("performance_schema", "setup_actors", cells.map(|(name, value)| (name, text(value))))]
}

/// The consumers and whether they are enabled.
fn consumers(source: &Source<'_>) -> Vec<Row> {
    source.worker.shared.instruments.consumer_rows()
}

fn setup_instruments(source: &Source<'_>) -> Vec<Row> {
    source.worker.shared.instruments.instrument_rows()
}

/// Rows of a view of sys: columns that all these views share, then the view's own.
fn sys_rows<'l, 's: 'l>(
    lines: impl Iterator<Item = &'l Line<'s>>,
    table: &str,
    is_raw: bool,
    own: impl Fn(&Line<'_>) -> Vec<(&'static str, Value<'static>)>,
) -> Vec<Row> {
    let row = |line: &Line<'_>| {
        let shared = [
            ("query", optional(line.query(is_raw))),
            ("db", optional(line.of.database.clone())),
            ("exec_count", number(line.of.sums.count)),
            ("first_seen", moment(line.first)),
            ("last_seen", moment(line.last)),
            ("digest", optional(line.digest())),
        ];
        named("sys", table, shared.into_iter().chain(own(line)))
    };
    lines.map(row).collect()
}

fn analysis(source: &Source<'_>) -> Vec<Row> {
    analysis_rows(source, "statement_analysis", false)
}

fn analysis_raw(source: &Source<'_>) -> Vec<Row> {
    analysis_rows(source, "x$statement_analysis", true)
}

fn analysis_rows(source: &Source<'_>, table: &str, is_raw: bool) -> Vec<Row> {
    let mut lines = lines(source);
    lines.sort_by_key(|line| std::cmp::Reverse(line.of.sums.time));
    let no_bytes = || if is_raw { number(0u64) } else { text("   0 bytes") };
    let own = |line: &Line<'_>| {
        let sums = &line.of.sums;
        vec![
            ("full_scan", text(line.full_scan())),
            ("err_count", number(sums.errors)),
            ("warn_count", number(sums.warnings)),
            ("total_latency", line.time(sums.time, is_raw)),
            ("max_latency", line.time(line.of.most, is_raw)),
            ("avg_latency", shown_picos(line.average(), is_raw)),
            ("lock_latency", line.time(line.of.waited_for(LOCKS), is_raw)),
            ("cpu_latency", line.time(line.of.cpu(), is_raw)),
            ("rows_sent", number(sums.sent)),
            ("rows_sent_avg", number(line.per_execution(sums.sent))),
            ("rows_examined", number(sums.examined)),
            ("rows_examined_avg", number(line.per_execution(sums.examined))),
            ("rows_affected", number(sums.affected)),
            ("rows_affected_avg", number(line.per_execution(sums.affected))),
            ("tmp_tables", number(sums.gathers)),
            ("rows_sorted", number(sums.sort_rows)),
            ("max_controlled_memory", no_bytes()),
            ("max_total_memory", no_bytes()),
        ]
    };
    sys_rows(lines.iter(), table, is_raw, own)
}

fn with_errors(source: &Source<'_>) -> Vec<Row> {
    error_rows(source, "statements_with_errors_or_warnings", false)
}

fn with_errors_raw(source: &Source<'_>) -> Vec<Row> {
    error_rows(source, "x$statements_with_errors_or_warnings", true)
}

fn error_rows(source: &Source<'_>, table: &str, is_raw: bool) -> Vec<Row> {
    let mut lines = lines(source);
    lines.retain(|line| line.of.sums.errors > 0 || line.of.sums.warnings > 0);
    lines.sort_by_key(|line| std::cmp::Reverse((line.of.sums.errors, line.of.sums.warnings)));
    // A quotient has four digits after the point.
    let quotient = |part: u64, line: &Line<'_>| (part as f64 / line.of.sums.count.max(1) as f64 * 1e4).round() / 1e4;
    let percent = |part: u64, line: &Line<'_>| text(format!("{:.4}", quotient(part, line) * 100.0));
    let own = |line: &Line<'_>| {
        let sums = &line.of.sums;
        vec![
            ("errors", number(sums.errors)),
            ("error_pct", percent(sums.errors, line)),
            ("warnings", number(sums.warnings)),
            ("warning_pct", percent(sums.warnings, line)),
        ]
    };
    sys_rows(lines.iter(), table, is_raw, own)
}

fn with_scans(source: &Source<'_>) -> Vec<Row> {
    scan_rows(source, "statements_with_full_table_scans", false)
}

fn with_scans_raw(source: &Source<'_>) -> Vec<Row> {
    scan_rows(source, "x$statements_with_full_table_scans", true)
}

fn scan_rows(source: &Source<'_>, table: &str, is_raw: bool) -> Vec<Row> {
    let percent = |line: &Line<'_>| (line.of.sums.no_index as f64 / line.of.sums.count.max(1) as f64 * 100.0).round() as u64;
    let mut lines = lines(source);
    let is_show = |line: &Line<'_>| line.of.text.as_ref().is_some_and(|text| text.starts_with("SHOW"));
    lines.retain(|line| line.of.sums.no_index > 0 && !is_show(line));
    lines.sort_by_key(|line| std::cmp::Reverse((percent(line), line.of.sums.time)));
    let own = |line: &Line<'_>| {
        let sums = &line.of.sums;
        vec![
            ("total_latency", line.time(sums.time, is_raw)),
            ("no_index_used_count", number(sums.no_index)),
            ("no_index_used_pct", number(percent(line))),
            ("rows_sent", number(sums.sent)),
            ("rows_examined", number(sums.examined)),
            ("rows_sent_avg", number(line.per_execution(sums.sent))),
            ("rows_examined_avg", number(line.per_execution(sums.examined))),
        ]
    };
    sys_rows(lines.iter(), table, is_raw, own)
}

fn slowest(source: &Source<'_>) -> Vec<Row> {
    slowest_rows(source, "statements_with_runtimes_in_95th_percentile", false)
}

fn slowest_raw(source: &Source<'_>) -> Vec<Row> {
    slowest_rows(source, "x$statements_with_runtimes_in_95th_percentile", true)
}

/// Digests whose average is at least the 95th percentile.
fn slowest_rows(source: &Source<'_>, table: &str, is_raw: bool) -> Vec<Row> {
    let micros = |line: &Line<'_>| (line.average() as f64 / 1e6).round() as u64;
    let mut lines = lines(source);
    lines.sort_by_key(|line| line.average());
    let averages: Vec<u64> = lines.iter().map(micros).collect();
    let is_reached = |(seen, _): &(usize, &u64)| (seen + 1) as f64 / averages.len() as f64 > 0.95;
    let least = averages.iter().enumerate().find(is_reached).map_or(0, |(_, average)| *average);
    lines.retain(|line| micros(line) >= least);
    let own = |line: &Line<'_>| {
        let sums = &line.of.sums;
        vec![
            ("full_scan", text(line.full_scan())),
            ("err_count", number(sums.errors)),
            ("warn_count", number(sums.warnings)),
            ("total_latency", line.time(sums.time, is_raw)),
            ("max_latency", line.time(line.of.most, is_raw)),
            ("avg_latency", shown_picos(line.average(), is_raw)),
            ("rows_sent", number(sums.sent)),
            ("rows_sent_avg", number(line.per_execution(sums.sent))),
            ("rows_examined", number(sums.examined)),
            ("rows_examined_avg", number(line.per_execution(sums.examined))),
        ]
    };
    sys_rows(lines.iter().rev(), table, is_raw, own)
}
