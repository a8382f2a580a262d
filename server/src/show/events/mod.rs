//! The events of performance_schema as tables: statements, waits, transactions, errors; what lasts, what was last, and
//! sums by thread, account, user and host.
//!
//! A sum without events has no row, except in the tables of the whole server, which name each event.

mod engine;
mod others;
mod statements;
mod summaries;
mod sums;
mod tables;
mod waits;

use super::gathered::Gathered;
use super::source::{Maker, Row, Source};
use crate::waits::{Places, event_name};
use summaries::Whose;
use sums::{By, Timer};
use sync::waits::Kind;
use tables::Uses;

#[rustfmt::skip]
pub const MAKERS: &[(&str, Maker)] = &[
    ("events_errors_summary_by_account_by_error", |source| errors(source, By::Account)),
    ("events_errors_summary_by_host_by_error", |source| errors(source, By::Host)),
    ("events_errors_summary_by_thread_by_error", |source| errors(source, By::Thread)),
    ("events_errors_summary_by_user_by_error", |source| errors(source, By::User)),
    ("events_errors_summary_global_by_error", |source| errors(source, By::Nothing)),
    ("events_statements_current", |source| with(source, "events_statements_current", |data, timer| statements::current(&data.sessions, timer))),
    ("events_statements_history", |source| with(source, "events_statements_history", |data, timer| statements::history(&data.sessions, timer))),
    ("events_statements_history_long", |source| always(source, |data, timer| statements::long(&data.sessions, timer))),
    ("events_statements_summary_by_account_by_event_name", |source| statement_sums(source, By::Account)),
    ("events_statements_summary_by_host_by_event_name", |source| statement_sums(source, By::Host)),
    ("events_statements_summary_by_thread_by_event_name", |source| statement_sums(source, By::Thread)),
    ("events_statements_summary_by_user_by_event_name", |source| statement_sums(source, By::User)),
    ("events_statements_summary_global_by_event_name", |source| statement_sums(source, By::Nothing)),
    ("events_transactions_current", |source| transactions(source, "events_transactions_current")),
    ("events_transactions_history", |source| transactions(source, "events_transactions_history")),
    ("events_transactions_summary_by_account_by_event_name", |source| transaction_sums(source, By::Account)),
    ("events_transactions_summary_by_host_by_event_name", |source| transaction_sums(source, By::Host)),
    ("events_transactions_summary_by_thread_by_event_name", |source| transaction_sums(source, By::Thread)),
    ("events_transactions_summary_by_user_by_event_name", |source| transaction_sums(source, By::User)),
    ("events_transactions_summary_global_by_event_name", |source| transaction_sums(source, By::Nothing)),
    ("events_waits_current", |source| waiting(source, "events_waits_current")),
    ("events_waits_history", |source| waiting(source, "events_waits_history")),
    ("events_waits_summary_by_account_by_event_name", |source| wait_sums(source, By::Account)),
    ("events_waits_summary_by_host_by_event_name", |source| wait_sums(source, By::Host)),
    ("events_waits_summary_by_instance", |source| always(source, |data, timer| waits::by_instance(&data.waits, timer))),
    ("events_waits_summary_by_thread_by_event_name", |source| wait_sums(source, By::Thread)),
    ("events_waits_summary_by_user_by_event_name", |source| wait_sums(source, By::User)),
    ("events_waits_summary_global_by_event_name", |source| always(source, |data, timer| waits::of_server(&data.waits, timer))),
    ("heddle_waits_by_digest", |source| always(source, |data, timer| waits::by_digest(&data.digests, timer))),
    ("heddle_waits_by_object", |source| {
        always(source, |data, timer| waits::by_object(&data.waits, timer, &Places::of(source.schema)))
    }),
];

#[rustfmt::skip]
pub const TABLES: &[(&str, Maker)] = &[
    ("file_summary_by_event_name", |source| always(source, |data, timer| engine::files(&data.global_status, &data.waits, timer))),
    ("memory_summary_global_by_event_name", |source| always(source, |data, _| engine::memory_rows(&data.global_status))),
    ("table_io_waits_summary_by_index_usage", |source| used(source, |uses, timer| tables::by_index(source.stored_tables(), uses, timer))),
    ("table_io_waits_summary_by_table", |source| used(source, |uses, timer| tables::by_table(source.stored_tables(), uses, timer))),
    ("table_lock_waits_summary_by_table", |source| used(source, |uses, timer| tables::locks(source.stored_tables(), uses, timer))),
];

/// The table of information_schema.
pub const METRICS: &[(&str, Maker)] =
    &[("INNODB_METRICS", |source| always(source, |data, _| engine::metrics(&data.global_status)))];

/// The views of `sys` over these tables.
#[rustfmt::skip]
pub const VIEWS: &[(&str, Maker)] = &[
    ("host_summary", |source| always(source, |data, timer| summaries::summary(&data.sums, Whose::Host, timer, false))),
    ("host_summary_by_statement_latency", |source| always(source, |data, timer| summaries::by_latency(&data.sums, Whose::Host, timer, false))),
    ("host_summary_by_statement_type", |source| always(source, |data, timer| summaries::by_type(&data.sums, Whose::Host, timer, false))),
    ("schema_index_statistics", |source| used(source, |uses, timer| tables::index_statistics(source.stored_tables(), uses, timer, false))),
    ("schema_table_statistics", |source| used(source, |uses, timer| tables::table_statistics(source.stored_tables(), uses, timer, false))),
    ("schema_tables_with_full_table_scans", |source| used(source, |uses, timer| tables::scanned(source.stored_tables(), uses, timer, false))),
    ("schema_unused_indexes", |source| used(source, |uses, _| tables::unused(source.stored_tables(), uses))),
    ("user_summary", |source| always(source, |data, timer| summaries::summary(&data.sums, Whose::User, timer, false))),
    ("user_summary_by_statement_latency", |source| always(source, |data, timer| summaries::by_latency(&data.sums, Whose::User, timer, false))),
    ("user_summary_by_statement_type", |source| always(source, |data, timer| summaries::by_type(&data.sums, Whose::User, timer, false))),
    ("wait_classes_global_by_avg_latency", |source| wait_classes(source, "wait_classes_global_by_avg_latency", false)),
    ("wait_classes_global_by_latency", |source| wait_classes(source, "wait_classes_global_by_latency", false)),
    ("waits_by_host_by_latency", |source| always(source, |data, timer| summaries::waits_of(&data.sums, Whose::Host, timer, false))),
    ("waits_by_user_by_latency", |source| always(source, |data, timer| summaries::waits_of(&data.sums, Whose::User, timer, false))),
    ("waits_global_by_latency", |source| always(source, |data, timer| summaries::waits(&data.waits.sums, timer, false))),
    ("x$host_summary", |source| always(source, |data, timer| summaries::summary(&data.sums, Whose::Host, timer, true))),
    ("x$host_summary_by_statement_latency", |source| always(source, |data, timer| summaries::by_latency(&data.sums, Whose::Host, timer, true))),
    ("x$host_summary_by_statement_type", |source| always(source, |data, timer| summaries::by_type(&data.sums, Whose::Host, timer, true))),
    ("x$schema_index_statistics", |source| used(source, |uses, timer| tables::index_statistics(source.stored_tables(), uses, timer, true))),
    ("x$schema_table_statistics", |source| used(source, |uses, timer| tables::table_statistics(source.stored_tables(), uses, timer, true))),
    ("x$schema_tables_with_full_table_scans", |source| used(source, |uses, timer| tables::scanned(source.stored_tables(), uses, timer, true))),
    ("x$user_summary", |source| always(source, |data, timer| summaries::summary(&data.sums, Whose::User, timer, true))),
    ("x$user_summary_by_statement_latency", |source| always(source, |data, timer| summaries::by_latency(&data.sums, Whose::User, timer, true))),
    ("x$user_summary_by_statement_type", |source| always(source, |data, timer| summaries::by_type(&data.sums, Whose::User, timer, true))),
    ("x$wait_classes_global_by_avg_latency", |source| wait_classes(source, "wait_classes_global_by_avg_latency", true)),
    ("x$wait_classes_global_by_latency", |source| wait_classes(source, "wait_classes_global_by_latency", true)),
    ("x$waits_by_host_by_latency", |source| always(source, |data, timer| summaries::waits_of(&data.sums, Whose::Host, timer, true))),
    ("x$waits_by_user_by_latency", |source| always(source, |data, timer| summaries::waits_of(&data.sums, Whose::User, timer, true))),
    ("x$waits_global_by_latency", |source| always(source, |data, timer| summaries::waits(&data.waits.sums, timer, true))),
];

/// The rows of a table about the use of tables.
fn used(source: &Source<'_>, rows: impl FnOnce(&Uses, &Timer) -> Vec<Row>) -> Vec<Row> {
    always(source, |data, timer| rows(&Uses::new(&data.tables_used, &data.waits), timer))
}

fn wait_classes(source: &Source<'_>, name: &str, is_raw: bool) -> Vec<Row> {
    always(source, |data, timer| summaries::wait_classes(&data.waits.sums, name, timer, is_raw))
}

/// The rows of a table, from what was gathered.
fn always(source: &Source<'_>, rows: impl FnOnce(&Gathered, &Timer) -> Vec<Row>) -> Vec<Row> {
    let timer = Timer::new(&source.worker.shared.tick_clock);
    source.gathered.map_or_else(Vec::new, |gathered| rows(gathered, &timer))
}

/// As `always`, if the consumer of the table's name is enabled.
fn with(source: &Source<'_>, table: &str, rows: impl FnOnce(&Gathered, &Timer) -> Vec<Row>) -> Vec<Row> {
    if source.worker.shared.instruments.consumes_named(table) { always(source, rows) } else { Vec::new() }
}

fn errors(source: &Source<'_>, by: By) -> Vec<Row> {
    always(source, |data, _| others::errors(&data.sums, by))
}

fn statement_sums(source: &Source<'_>, by: By) -> Vec<Row> {
    always(source, |data, timer| statements::sums(&data.sums, by, timer))
}

fn transaction_sums(source: &Source<'_>, by: By) -> Vec<Row> {
    always(source, |data, timer| others::transactions(&data.sums, by, timer))
}

fn transactions(source: &Source<'_>, table: &str) -> Vec<Row> {
    if !source.worker.shared.instruments.shows(crate::instruments::TRANSACTION) {
        return Vec::new();
    }
    with(source, table, |data, timer| match table {
        "events_transactions_current" => others::open_transactions(&data.sessions, timer),
        _ => others::ended_transactions(&data.sessions, timer),
    })
}

fn wait_sums(source: &Source<'_>, by: By) -> Vec<Row> {
    always(source, |data, timer| waits::sums(&data.sums, by, timer))
}

fn waiting(source: &Source<'_>, table: &str) -> Vec<Row> {
    let (places, instruments) = (Places::of(source.schema), &source.worker.shared.instruments);
    let is_on = |kind: Kind| instruments.enables(event_name(kind));
    with(source, table, |data, timer| match table {
        "events_waits_current" => waits::current(&data.sessions, timer, &places, is_on),
        _ => waits::history(&data.sessions, timer, &places, is_on),
    })
}
