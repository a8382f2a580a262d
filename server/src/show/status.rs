//! SHOW STATUS, and the tables of performance_schema with the same rows.
//!
//! A variable of MySQL is shown if Heddle counts the same thing. It is also shown, as zero, if it counts something that
//! Heddle does not have: zero is correct, and monitors that ask for it find it.

use super::build::ResultSet;
use super::gathered::Gathered;
use super::projection;
use super::source::Wanted;
use crate::counters::Counters;
use crate::session::State;
use crate::shared::Shared;
use crate::worker::{Worker, gather};
use reactor::connection::{SESSION_SECONDS, SESSIONS_KEPT, TlsOffer};
use std::collections::BTreeMap;
use std::rc::Rc;
use types::temporal::TimeZone;

/// Bytes of a page.
const PAGE_BYTES: u64 = 16384;

/// Variables that count something that does not exist here: statements, the binary log and replication, MyISAM's key
/// cache, INSERT DELAYED, the log of two-phase commits, instruments, read-ahead, waits for a log buffer (which grows),
/// table locks above the engine, a table cache (all tables are open), TLS renegotiation.
#[rustfmt::skip]
const ABSENT: &[&str] = &[
    "Binlog_cache_disk_use", "Binlog_cache_use", "Binlog_stmt_cache_disk_use", "Binlog_stmt_cache_use", "Com_alter_instance",
    "Com_alter_resource_group", "Com_alter_server", "Com_alter_tablespace", "Com_assign_to_keycache", "Com_binlog",
    "Com_change_repl_filter", "Com_change_replication_source", "Com_clone", "Com_create_resource_group", "Com_create_server",
    "Com_create_spatial_reference_system", "Com_create_udf", "Com_drop_resource_group", "Com_drop_server",
    "Com_drop_spatial_reference_system", "Com_group_replication_start", "Com_group_replication_stop", "Com_ha_close", "Com_ha_open",
    "Com_ha_read", "Com_import", "Com_install_component", "Com_install_plugin", "Com_preload_keys", "Com_purge", "Com_purge_before_date",
    "Com_replica_start", "Com_replica_stop", "Com_restart", "Com_set_resource_group", "Com_show_function_code", "Com_show_procedure_code",
    "Com_show_relaylog_events", "Com_uninstall_component", "Com_uninstall_plugin",
    "Delayed_errors", "Delayed_insert_threads", "Delayed_writes", "Handler_discover",
    "Handler_mrr_init", "Handler_prepare", "Innodb_buffer_pool_read_ahead", "Innodb_buffer_pool_read_ahead_evicted",
    "Innodb_buffer_pool_read_ahead_rnd", "Innodb_log_waits", "Key_blocks_not_flushed", "Key_blocks_unused", "Key_blocks_used", "Key_read_requests",
    "Key_reads", "Key_write_requests", "Key_writes", "Not_flushed_delayed_rows", "Ongoing_anonymous_transaction_count", "Open_streams",
    "Performance_schema_accounts_lost", "Performance_schema_cond_classes_lost", "Performance_schema_cond_instances_lost",
    "Performance_schema_file_classes_lost", "Performance_schema_file_handles_lost", "Performance_schema_file_instances_lost",
    "Performance_schema_hosts_lost", "Performance_schema_index_stat_lost", "Performance_schema_locker_lost",
    "Performance_schema_memory_classes_lost", "Performance_schema_metadata_lock_lost", "Performance_schema_mutex_classes_lost",
    "Performance_schema_mutex_instances_lost", "Performance_schema_nested_statement_lost", "Performance_schema_prepared_statements_lost",
    "Performance_schema_program_lost", "Performance_schema_rwlock_classes_lost", "Performance_schema_rwlock_instances_lost",
    "Performance_schema_socket_classes_lost", "Performance_schema_socket_instances_lost", "Performance_schema_stage_classes_lost",
    "Performance_schema_statement_classes_lost", "Performance_schema_table_handles_lost", "Performance_schema_table_instances_lost",
    "Performance_schema_table_lock_stat_lost", "Performance_schema_thread_classes_lost", "Performance_schema_thread_instances_lost",
    "Performance_schema_users_lost", "Replica_open_temp_tables", "Secondary_engine_execution_count", "Select_full_range_join",
    "Select_range_check", "Slave_open_temp_tables", "Ssl_accept_renegotiates", "Ssl_callback_cache_hits", "Ssl_client_connects",
    "Ssl_connect_renegotiates", "Ssl_finished_connects", "Ssl_session_cache_misses", "Ssl_session_cache_overflows",
    "Ssl_session_cache_timeouts", "Ssl_used_session_cache_entries", "Table_locks_immediate", "Table_locks_waited", "Table_open_cache_hits",
    "Table_open_cache_misses", "Table_open_cache_overflows", "Table_open_cache_triggers_hits", "Table_open_cache_triggers_misses",
    "Table_open_cache_triggers_overflows", "Tc_log_max_pages_used", "Tc_log_page_size", "Tc_log_page_waits", "Threads_cached",
];

/// SHOW STATUS: `global`, or the session's value of variables that are counted by session.
pub async fn status(state: &State<'_>, global: bool) -> ResultSet {
    let values = values(state, global).await;
    let (projection, gathered) = if global {
        (projection::GLOBAL_STATUS, Gathered { global_status: values, ..Gathered::default() })
    } else {
        (projection::SESSION_STATUS, Gathered { session_status: values, ..Gathered::default() })
    };
    projection.all(state, Wanted::default(), &gathered)
}

/// The sums over all sessions since the start, including ended ones, by name.
pub async fn counter_sums(shared: &Shared) -> BTreeMap<&'static str, u64> {
    let ask = |worker: &Rc<Worker>| {
        let all = Counters::default();
        all.add(&worker.counters);
        worker.sessions.borrow().values().for_each(|session| all.add(&session.counters));
        let mut values = Vec::new();
        all.each(&mut |name, value| values.push((name, value)));
        values
    };
    let mut sums = BTreeMap::new();
    for (name, value) in gather(shared, ask).await.into_iter().flatten() {
        let sum = sums.entry(name).or_insert(0);
        *sum = if name.ends_with("_max") { value.max(*sum) } else { *sum + value };
    }
    sums
}

/// The values by name, in order.
pub async fn values(state: &State<'_>, global: bool) -> Vec<(&'static str, String)> {
    let shared = &state.worker.shared;
    let mut values = counter_sums(shared).await;
    if !global {
        let own = &state.info.counters;
        // Global values also in SHOW SESSION STATUS, as in MySQL.
        let whole = [
            "Aborted_clients",
            "Aborted_connects",
            "Connection_errors_max_connections",
            "Queries",
            "Ssl_accepts",
            "Ssl_finished_accepts",
            "Ssl_session_cache_hits",
        ];
        own.each(&mut |name, value| {
            if !whole.contains(&name) && !name.starts_with("Heddle_") {
                values.insert(name, value);
            }
        });
    }
    add_current(shared, &mut values).await;
    let mut shown: Vec<_> = values.into_iter().map(|(name, value)| (name, value.to_string())).collect();
    add_texts(state, &mut shown);
    shown.sort();
    shown
}

/// The global values that are numbers.
pub async fn global_numbers(shared: &Shared) -> BTreeMap<&'static str, u64> {
    let mut values = counter_sums(shared).await;
    add_current(shared, &mut values).await;
    values
}

/// Adds the values that are not counted by session.
async fn add_current(shared: &Shared, values: &mut BTreeMap<&'static str, u64>) {
    for sums in gather(shared, of_worker).await {
        for (name, value) in sums {
            *values.entry(name).or_default() += value;
        }
    }
    values.extend(ABSENT.iter().map(|name| (*name, 0)));
    add_server(shared, values);
}

/// The current values of a worker.
fn of_worker(worker: &Rc<Worker>) -> [(&'static str, u64); 8] {
    let sessions = worker.sessions.borrow();
    let (digests, digest_bytes) = worker.digests.memory();
    let running = sessions.values().filter(|session| session.command.get() != "Sleep").count();
    let prepared = sessions.values().map(|session| session.prepared.get()).sum();
    [
        ("Threads_running", running as u64),
        ("Prepared_stmt_count", prepared),
        ("Heddle_plan_cache_plans", worker.plans.borrow().len() as u64),
        ("Heddle_digests", digests),
        ("Heddle_digests_bytes", digest_bytes),
        ("Heddle_kept_bytes", worker.digests.kept_bytes()),
        ("Innodb_buffer_pool_read_requests", txn::page_requests()),
        ("Innodb_buffer_pool_write_requests", txn::page_write_requests()),
    ]
}

/// The values of the server and its engine.
fn add_server(shared: &Shared, values: &mut BTreeMap<&'static str, u64>) {
    let uptime = shared.started.elapsed().as_secs();
    let engine = shared.engine.status();
    let files = os::file_counts();
    let temporary = shared.temporary.figures();
    let tables: usize = shared.database.schema().databases.values().map(|database| database.tables.len()).sum();
    let sum = |names: &[&str]| names.iter().map(|name| values.get(name).copied().unwrap_or(0)).sum::<u64>();
    let rows_read = sum(&[
        "Handler_read_first",
        "Handler_read_key",
        "Handler_read_last",
        "Handler_read_next",
        "Handler_read_prev",
        "Handler_read_rnd_next",
    ]);
    let (inserted, updated, deleted) = (sum(&["Handler_write"]), sum(&["Handler_update"]), sum(&["Handler_delete"]));
    let wait_ms = engine.lock_wait_us / 1000;
    let semi_sync = shared.semi_sync.figures();
    let acknowledged = semi_sync.counters;
    values.extend([
        ("Connections", u64::from(shared.connections_accepted())),
        ("Max_used_connections", shared.peak().0 as u64),
        ("Open_tables", tables as u64),
        ("Opened_tables", tables as u64),
        ("Open_table_definitions", tables as u64),
        ("Opened_table_definitions", tables as u64),
        ("Flush_commands", values.get("Com_flush").copied().unwrap_or(0)),
        ("Innodb_num_open_files", files.open),
        ("Threads_connected", shared.sessions() as u64),
        ("Threads_created", shared.workers.len() as u64),
        ("Uptime", uptime),
        ("Uptime_since_flush_status", shared.status_flushed().elapsed().as_secs()),
        ("Innodb_page_size", PAGE_BYTES),
        ("Innodb_buffer_pool_bytes_data", engine.pool_used as u64 * PAGE_BYTES),
        ("Innodb_buffer_pool_bytes_dirty", engine.pool_dirty as u64 * PAGE_BYTES),
        ("Innodb_buffer_pool_pages_total", engine.pool_frames as u64),
        ("Innodb_buffer_pool_pages_data", engine.pool_used as u64),
        ("Innodb_buffer_pool_pages_dirty", engine.pool_dirty as u64),
        ("Innodb_buffer_pool_pages_flushed", engine.pages_written),
        ("Innodb_buffer_pool_pages_free", engine.pool_frames.saturating_sub(engine.pool_used) as u64),
        ("Innodb_buffer_pool_pages_misc", 0),
        ("Innodb_buffer_pool_reads", engine.pages_read),
        ("Innodb_buffer_pool_wait_free", engine.frame_waits),
        ("Innodb_data_fsyncs", files.syncs),
        ("Innodb_data_writes", files.writes),
        ("Open_files", files.open),
        ("Opened_files", files.opened),
        ("Innodb_data_read", engine.pages_read * PAGE_BYTES),
        ("Innodb_data_reads", engine.pages_read),
        // Each page is written twice: to the doublewrite area, then home.
        ("Innodb_data_written", 2 * engine.pages_written * PAGE_BYTES + engine.log_bytes),
        ("Innodb_dblwr_pages_written", engine.pages_written),
        ("Innodb_log_writes", engine.log_flushes),
        ("Innodb_pages_read", engine.pages_read),
        ("Innodb_pages_written", engine.pages_written),
        ("Innodb_os_log_written", engine.log_bytes),
        ("Innodb_os_log_fsyncs", engine.log_flushes),
        ("Innodb_redo_log_logical_size", engine.redo_bytes),
        ("Innodb_redo_log_current_lsn", engine.log_bytes),
        ("Innodb_redo_log_flushed_to_disk_lsn", engine.log_bytes),
        ("Innodb_redo_log_checkpoint_lsn", engine.log_bytes.saturating_sub(engine.redo_bytes)),
        ("Innodb_row_lock_current_waits", engine.lock_waiters as u64),
        ("Innodb_row_lock_time", wait_ms),
        ("Innodb_row_lock_time_avg", wait_ms / engine.lock_waits.max(1)),
        ("Innodb_row_lock_time_max", engine.lock_wait_us_max / 1000),
        ("Innodb_row_lock_waits", engine.lock_waits),
        ("Rpl_semi_sync_source_clients", semi_sync.replicas),
        ("Rpl_semi_sync_source_no_times", acknowledged.turned_off),
        ("Rpl_semi_sync_source_no_tx", acknowledged.unacknowledged),
        ("Rpl_semi_sync_source_tx_avg_wait_time", acknowledged.wait_us / acknowledged.waits.max(1)),
        ("Rpl_semi_sync_source_tx_wait_time", acknowledged.wait_us),
        ("Rpl_semi_sync_source_tx_waits", acknowledged.waits),
        ("Rpl_semi_sync_source_wait_sessions", semi_sync.waiting),
        ("Rpl_semi_sync_source_yes_tx", acknowledged.acknowledged),
        ("Innodb_rows_deleted", deleted),
        ("Innodb_rows_inserted", inserted),
        ("Innodb_rows_read", rows_read),
        ("Innodb_rows_updated", updated),
        ("Innodb_deadlocks", engine.deadlocks),
        ("Heddle_history_length", engine.history),
        ("Heddle_redo_bytes", engine.redo_bytes),
        ("Heddle_redo_bytes_max", engine.redo_bytes_max),
        ("Heddle_undo_bytes", engine.undo_bytes),
        ("Heddle_undo_memory_bytes", engine.undo_memory_bytes),
        ("Heddle_undo_file_bytes", engine.undo_file_bytes),
        ("Heddle_undo_retained_seconds", engine.past_us / 1_000_000),
        ("Heddle_spilled_bytes", temporary.spilled_bytes),
        ("Heddle_temporary_bytes", temporary.bytes),
        ("Created_tmp_disk_tables", temporary.files),
        ("Created_tmp_files", temporary.files),
        ("Sort_merge_passes", temporary.merge_passes),
    ]);
}

fn add_texts(state: &State<'_>, shown: &mut Vec<(&'static str, String)>) {
    let compressed = state.connection.capabilities.has(protocol::Capabilities::COMPRESS);
    let tls = state.connection.tls.as_ref();
    let mut peak_since = Vec::new();
    if let Some(since) = TimeZone::Utc.to_civil(state.worker.shared.peak().1 as i64 * 1_000_000) {
        types::convert::write_datetime(since, 0, &mut peak_since);
    }
    let peak_since = String::from_utf8_lossy(&peak_since);
    let (resize, resize_code, resize_progress) = resize_status(state.worker.shared.engine.pool_resize());
    for (name, value) in [
        ("Compression", if compressed { "ON" } else { "OFF" }),
        ("Compression_algorithm", if compressed { "zlib" } else { "" }),
        ("Compression_level", if compressed { "1" } else { "0" }),
        ("Innodb_buffer_pool_resize_status", &resize),
        ("Innodb_buffer_pool_resize_status_code", resize_code),
        ("Innodb_buffer_pool_resize_status_progress", &resize_progress.to_string()),
        ("Innodb_redo_log_enabled", "ON"),
        ("Max_used_connections_time", &peak_since),
        ("Ssl_cipher", tls.map_or("", |tls| &tls.cipher)),
        ("Ssl_version", tls.map_or("", |tls| tls.version)),
        ("Rpl_semi_sync_source_status", if state.worker.shared.semi_sync.figures().is_on { "ON" } else { "OFF" }),
        ("Rsa_public_key", ""),
    ] {
        shown.push((name, value.to_owned()));
    }
    add_tls(state, shown);
}

/// The server's TLS settings, and the session's TLS parameters.
fn add_tls(state: &State<'_>, shown: &mut Vec<(&'static str, String)>) {
    // OpenSSL's value: the client certificate is requested once.
    const ASKS: u32 = 5;
    // OpenSSL's value: no limit.
    const DEPTH: u64 = u64::MAX;
    let (tls, offer) = (state.connection.tls.as_ref(), state.worker.shared.tls_offer.as_ref());
    let verify = offer.map_or(0, |offer| if offer.asks_for_certificates { ASKS } else { 0 });
    let offered = |value: &str| if offer.is_some() { value.to_owned() } else { String::new() };
    let of_offer = |value: fn(&TlsOffer) -> &String| offer.map(value).cloned().unwrap_or_default();
    shown.extend([
        ("Current_tls_ca", if verify == 0 { String::new() } else { "ca.pem".to_owned() }),
        ("Current_tls_capath", String::new()),
        ("Current_tls_cert", offered("server-cert.pem")),
        ("Current_tls_cipher", String::new()),
        ("Current_tls_ciphersuites", String::new()),
        ("Current_tls_crl", String::new()),
        ("Current_tls_crlpath", String::new()),
        ("Current_tls_key", offered("server-key.pem")),
        ("Current_tls_version", offered("TLSv1.2,TLSv1.3")),
        ("Ssl_cipher_list", if tls.is_some() { of_offer(|offer| &offer.ciphers) } else { String::new() }),
        ("Ssl_ctx_verify_depth", if offer.is_some() { DEPTH } else { 0 }.to_string()),
        ("Ssl_ctx_verify_mode", verify.to_string()),
        ("Ssl_default_timeout", if tls.is_some() { SESSION_SECONDS } else { 0 }.to_string()),
        ("Ssl_server_not_after", of_offer(|offer| &offer.not_after)),
        ("Ssl_server_not_before", of_offer(|offer| &offer.not_before)),
        ("Ssl_session_cache_mode", if offer.is_some() { "SERVER" } else { "NONE" }.to_owned()),
        ("Ssl_session_cache_size", if offer.is_some() { SESSIONS_KEPT } else { 0 }.to_string()),
        ("Ssl_session_cache_timeout", if offer.is_some() { SESSION_SECONDS } else { 0 }.to_string()),
        ("Ssl_sessions_reused", u8::from(tls.is_some_and(|tls| tls.is_resumed)).to_string()),
        ("Ssl_verify_depth", if tls.is_some() { DEPTH } else { 0 }.to_string()),
        ("Ssl_verify_mode", if tls.is_some() { verify } else { 0 }.to_string()),
    ]);
}

/// The progress of resizing the buffer pool: MySQL's message, its code, and a percentage.
fn resize_status(state: txn::ResizeState) -> (String, &'static str, usize) {
    match state {
        txn::ResizeState::None => (String::new(), "0", 0),
        txn::ResizeState::Unchanged { bytes } => {
            (format!("Size did not change (old size = new size = {bytes}. Nothing to do."), "0", 0)
        }
        txn::ResizeState::Shrinking { vacated, all } => {
            (format!("buffer pool 0 : withdrawing blocks. ({vacated}/{all})"), "3", vacated * 100 / all)
        }
        txn::ResizeState::Done { at } => {
            let at = TimeZone::Utc.to_civil(at.as_micros() as i64).unwrap_or(types::DateTime::ZERO).to_number();
            let (date, time) = (at / 1_000_000 % 1_000_000, at % 1_000_000);
            let time = format!("{:02}:{:02}:{:02}", time / 10_000, time / 100 % 100, time % 100);
            (format!("Completed resizing buffer pool at {date:06} {time}."), "0", 100)
        }
    }
}
