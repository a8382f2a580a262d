//! performance_schema.replication_*: the server as a replica. Filters, groups and failover to other sources are not there, and their tables are empty.

use super::build::{number, optional, text};
use super::definitions::named;
use super::source::{Maker, Row, Source};
use crate::record::thread_id;
use crate::replica::settings::Settings;
use crate::replica::state::{Inner, Passage, Receiving, Trouble};
use std::time::UNIX_EPOCH;
use types::Value;
use types::temporal::TimeZone;

const DATABASE: &str = "performance_schema";

#[rustfmt::skip]
pub const MAKERS: &[(&str, Maker)] = &[
    ("replication_applier_configuration", applier_configuration), ("replication_applier_status", applier_status),
    ("replication_applier_status_by_coordinator", coordinator), ("replication_applier_status_by_worker", by_worker),
    ("replication_connection_configuration", connection_configuration), ("replication_connection_status", connection_status),
];

type Cell = (&'static str, Value<'static>);

/// The rows of a table that has some where the server is a replica.
fn rows(source: &Source<'_>, table: &str, make: impl FnOnce(&Settings, &Inner) -> Vec<Vec<Cell>>) -> Vec<Row> {
    let inner = source.worker.shared.replica.inner.lock();
    let Some(settings) = &inner.settings else { return Vec::new() };
    make(settings, &inner).into_iter().map(|cells| named(DATABASE, table, cells)).collect()
}

fn on(is_on: bool) -> Value<'static> {
    text(if is_on { "ON" } else { "OFF" })
}

fn yes(is_so: bool) -> Value<'static> {
    text(if is_so { "YES" } else { "NO" })
}

/// 0: there was none.
fn moment(us: u64) -> Value<'static> {
    match i64::try_from(us).ok().filter(|us| *us > 0).and_then(|us| TimeZone::Utc.to_civil(us)) {
        Some(civil) => Value::DateTime(civil),
        None => Value::DateTime(types::DateTime::ZERO),
    }
}

fn trouble(trouble: &Trouble) -> [Cell; 3] {
    let since = trouble.at.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    [
        ("LAST_ERROR_NUMBER", number(u64::from(trouble.number))),
        ("LAST_ERROR_MESSAGE", text(trouble.text.chars().take(1024).collect::<String>())),
        ("LAST_ERROR_TIMESTAMP", moment(since.map_or(0, |since| since.as_micros() as u64))),
    ]
}

/// The columns of a transaction, in the order: its GTID, two times of its commit, and when it began and ended here.
fn passage(passage: &Passage, names: &[&'static str]) -> Vec<Cell> {
    let gtid = text(passage.gtid.as_ref().map(ToString::to_string).unwrap_or_default());
    let times = [passage.committed.original_us, passage.committed.immediate_us, passage.begun_us, passage.ended_us];
    names.iter().copied().zip(std::iter::once(gtid).chain(times.map(moment))).collect()
}

fn applier_configuration(source: &Source<'_>) -> Vec<Row> {
    rows(source, "replication_applier_configuration", |settings, _| {
        vec![vec![
            ("DESIRED_DELAY", number(settings.delay)),
            ("REQUIRE_ROW_FORMAT", yes(false)),
            ("REQUIRE_TABLE_PRIMARY_KEY_CHECK", text("STREAM")),
            ("ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_TYPE", text("OFF")),
        ]]
    })
}

fn is_applying(inner: &Inner) -> bool {
    inner.applier_lives && inner.wants_applier
}

fn applier_status(source: &Source<'_>) -> Vec<Row> {
    rows(source, "replication_applier_status", |_, inner| {
        let lives = is_applying(inner);
        vec![vec![
            ("SERVICE_STATE", on(lives)),
            ("REMAINING_DELAY", inner.delay_left.filter(|_| lives).map_or(Value::Null, number)),
            ("COUNT_TRANSACTIONS_RETRIES", number(inner.retries)),
        ]]
    })
}

fn thread(session: u32, is_there: bool) -> Value<'static> {
    if is_there { number(thread_id(session)) } else { Value::Null }
}

/// Where several appliers are at work; the first one is the coordinator.
fn coordinator(source: &Source<'_>) -> Vec<Row> {
    const LAST: &[&str] = &[
        "LAST_PROCESSED_TRANSACTION",
        "LAST_PROCESSED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP",
        "LAST_PROCESSED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP",
        "LAST_PROCESSED_TRANSACTION_START_BUFFER_TIMESTAMP",
        "LAST_PROCESSED_TRANSACTION_END_BUFFER_TIMESTAMP",
    ];
    rows(source, "replication_applier_status_by_coordinator", |_, inner| {
        if inner.hands.len() < 2 {
            return Vec::new();
        }
        let lives = is_applying(inner);
        let mut cells = vec![("THREAD_ID", thread(inner.applier_session, lives)), ("SERVICE_STATE", on(lives))];
        cells.extend(trouble(&inner.applier_trouble));
        cells.extend(passage(&inner.processed, LAST));
        cells.push(("PROCESSING_TRANSACTION", text("")));
        vec![cells]
    })
}

fn by_worker(source: &Source<'_>) -> Vec<Row> {
    const LAST: &[&str] = &[
        "LAST_APPLIED_TRANSACTION",
        "LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP",
        "LAST_APPLIED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP",
        "LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP",
        "LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP",
    ];
    const PRESENT: &[&str] = &[
        "APPLYING_TRANSACTION",
        "APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP",
        "APPLYING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP",
        "APPLYING_TRANSACTION_START_APPLY_TIMESTAMP",
    ];
    rows(source, "replication_applier_status_by_worker", |_, inner| {
        let lives = is_applying(inner);
        // A single applier has the number 0, lanes begin at 1.
        let first = usize::from(inner.hands.len() > 1);
        let row = |(id, hand): (usize, &crate::replica::state::Hand)| {
            let mut cells = vec![
                ("WORKER_ID", number(id as u64)),
                ("THREAD_ID", thread(hand.session, lives)),
                ("SERVICE_STATE", on(lives)),
                ("LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE", text("")),
                ("APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE", text("")),
            ];
            // Where there is a coordinator it has what stopped them all.
            cells.extend(trouble(if first == 0 { &inner.applier_trouble } else { const { &Trouble::NONE } }));
            cells.extend(passage(&hand.applied, LAST));
            cells.extend(passage(&hand.applying, PRESENT));
            cells
        };
        inner.hands.iter().enumerate().skip(first).map(row).collect()
    })
}

fn connection_configuration(source: &Source<'_>) -> Vec<Row> {
    rows(source, "replication_connection_configuration", |settings, _| {
        vec![vec![
            ("HOST", text(settings.host.clone())),
            ("PORT", number(u64::from(settings.port))),
            ("USER", text(settings.user.clone())),
            ("AUTO_POSITION", text(if settings.auto_position { "1" } else { "0" })),
            ("SSL_ALLOWED", yes(settings.ssl)),
            ("SSL_CA_FILE", text(settings.ssl_ca.clone())),
            ("SSL_VERIFY_SERVER_CERTIFICATE", yes(settings.ssl_verify)),
            ("CONNECTION_RETRY_INTERVAL", number(settings.connect_retry)),
            ("CONNECTION_RETRY_COUNT", number(settings.retry_count)),
            ("HEARTBEAT_INTERVAL", Value::Double(settings.heartbeat)),
            ("GET_PUBLIC_KEY", yes(settings.get_public_key)),
            ("COMPRESSION_ALGORITHM", text("uncompressed")),
            ("ZSTD_COMPRESSION_LEVEL", number(3u64)),
            ("SOURCE_CONNECTION_AUTO_FAILOVER", text("0")),
            ("GTID_ONLY", text("0")),
        ]]
    })
}

/// The receiver is a thread of its own, and no session: it has no THREAD_ID.
fn connection_status(source: &Source<'_>) -> Vec<Row> {
    const LAST: &[&str] = &[
        "LAST_QUEUED_TRANSACTION",
        "LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP",
        "LAST_QUEUED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP",
        "LAST_QUEUED_TRANSACTION_START_QUEUE_TIMESTAMP",
        "LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP",
    ];
    const PRESENT: &[&str] = &[
        "QUEUEING_TRANSACTION",
        "QUEUEING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP",
        "QUEUEING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP",
        "QUEUEING_TRANSACTION_START_QUEUE_TIMESTAMP",
    ];
    rows(source, "replication_connection_status", |_, inner| {
        let state = match inner.receiving {
            Receiving::Yes => "ON",
            Receiving::Connecting => "CONNECTING",
            Receiving::No => "OFF",
        };
        let mut cells = vec![
            ("SOURCE_UUID", text(inner.source_uuid.clone())),
            ("SERVICE_STATE", text(state)),
            ("COUNT_RECEIVED_HEARTBEATS", number(inner.heartbeats)),
            ("LAST_HEARTBEAT_TIMESTAMP", moment(inner.heartbeat_us)),
            ("RECEIVED_TRANSACTION_SET", text(inner.retrieved.to_string())),
            ("THREAD_ID", optional(None::<String>)),
        ];
        cells.extend(trouble(&inner.receiver_trouble));
        cells.extend(passage(&inner.received, LAST));
        cells.extend(passage(&inner.incoming, PRESENT));
        vec![cells]
    })
}
