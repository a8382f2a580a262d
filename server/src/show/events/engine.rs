//! The engine's counters under the names of InnoDB's metrics, of files and of memory: `information_schema.INNODB_METRICS`,
//! `performance_schema.file_summary_by_event_name` and `memory_summary_global_by_event_name`. They show what SHOW GLOBAL
//! STATUS counts, and waits.

use super::super::build::{number, text};
use super::super::definitions::named;
use super::sums::{DATABASE, Row, Timer};
use reactor::task_clock::{Sum, Waits};
use sync::waits::Kind;
use types::Value;

/// Name, subsystem, type, the status variable, and what it tells.
#[rustfmt::skip]
const METRICS: &[(&str, &str, &str, &str, &str)] = &[
    ("buffer_data_reads", "buffer", "status_counter", "Innodb_data_read", "Bytes of pages read"),
    ("buffer_data_written", "buffer", "status_counter", "Innodb_data_written", "Bytes of pages and log written"),
    ("buffer_pages_read", "buffer", "status_counter", "Innodb_pages_read", "Pages read"),
    ("buffer_pages_written", "buffer", "status_counter", "Innodb_pages_written", "Pages written"),
    ("buffer_pool_bytes_data", "buffer", "value", "Innodb_buffer_pool_bytes_data", "Bytes of pages in memory"),
    ("buffer_pool_bytes_dirty", "buffer", "value", "Innodb_buffer_pool_bytes_dirty", "Bytes of changed pages in memory"),
    ("buffer_pool_pages_data", "buffer", "value", "Innodb_buffer_pool_pages_data", "Pages in memory"),
    ("buffer_pool_pages_dirty", "buffer", "value", "Innodb_buffer_pool_pages_dirty", "Changed pages in memory"),
    ("buffer_pool_pages_free", "buffer", "value", "Innodb_buffer_pool_pages_free", "Frames without a page"),
    ("buffer_pool_pages_total", "buffer", "value", "Innodb_buffer_pool_pages_total", "Frames of the buffer pool"),
    ("buffer_pool_read_requests", "buffer", "status_counter", "Innodb_buffer_pool_read_requests", "Reads of pages in memory"),
    ("buffer_pool_reads", "buffer", "status_counter", "Innodb_buffer_pool_reads", "Pages that had to be read"),
    ("buffer_pool_wait_free", "buffer", "status_counter", "Innodb_buffer_pool_wait_free", "Waits for a free frame"),
    ("buffer_pool_write_requests", "buffer", "status_counter", "Innodb_buffer_pool_write_requests", "Changes of pages in memory"),
    ("dml_deletes", "dml", "status_counter", "Innodb_rows_deleted", "Rows deleted"),
    ("dml_inserts", "dml", "status_counter", "Innodb_rows_inserted", "Rows inserted"),
    ("dml_reads", "dml", "status_counter", "Innodb_rows_read", "Rows read"),
    ("dml_updates", "dml", "status_counter", "Innodb_rows_updated", "Rows updated"),
    ("file_num_open_files", "file_system", "value", "Open_files", "Open files"),
    ("innodb_dblwr_pages_written", "server", "status_counter", "Innodb_dblwr_pages_written", "Pages written to the doublewrite area"),
    ("innodb_page_size", "server", "value", "Innodb_page_size", "Bytes of a page"),
    ("lock_deadlocks", "lock", "counter", "Innodb_deadlocks", "Deadlocks"),
    ("lock_row_lock_current_waits", "lock", "status_counter", "Innodb_row_lock_current_waits", "Transactions that wait for a row"),
    ("lock_row_lock_time", "lock", "status_counter", "Innodb_row_lock_time", "Milliseconds of waits for rows"),
    ("lock_row_lock_time_avg", "lock", "value", "Innodb_row_lock_time_avg", "Average milliseconds of a wait for a row"),
    ("lock_row_lock_time_max", "lock", "value", "Innodb_row_lock_time_max", "Milliseconds of the longest wait for a row"),
    ("lock_row_lock_waits", "lock", "status_counter", "Innodb_row_lock_waits", "Waits for rows"),
    ("lock_threads_waiting", "lock", "value", "Innodb_row_lock_current_waits", "Sessions that wait for a row"),
    ("log_writes", "log", "status_counter", "Innodb_log_writes", "Writes of the log"),
    ("os_data_fsyncs", "os", "status_counter", "Innodb_data_fsyncs", "Files synced"),
    ("os_data_reads", "os", "status_counter", "Innodb_data_reads", "Reads of the data file"),
    ("os_data_writes", "os", "status_counter", "Innodb_data_writes", "Writes of files"),
    ("os_log_bytes_written", "os", "status_counter", "Innodb_os_log_written", "Bytes of the log"),
    ("os_log_fsyncs", "os", "status_counter", "Innodb_os_log_fsyncs", "Syncs of the log"),
    ("trx_rseg_history_len", "transaction", "value", "Heddle_history_length", "Transactions whose old versions are kept"),
];

/// The numbers of SHOW GLOBAL STATUS.
struct Status<'a>(&'a [(&'static str, String)]);

impl Status<'_> {
    fn get(&self, name: &str) -> u64 {
        self.0.iter().find(|(known, _)| *known == name).and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
    }
}

/// `status`: the values of SHOW GLOBAL STATUS.
pub(super) fn metrics(status: &[(&'static str, String)]) -> Vec<Row> {
    let status = Status(status);
    let row = |name: &str, subsystem: &str, kind: &str, value: u64, comment: &str| {
        let count = || Value::Int(i64::try_from(value).unwrap_or(i64::MAX));
        let cells = [
            ("NAME", text(name)),
            ("SUBSYSTEM", text(subsystem)),
            ("COUNT", count()),
            ("COUNT_RESET", count()),
            ("STATUS", text("enabled")),
            ("TYPE", text(kind)),
            ("COMMENT", text(comment)),
        ];
        named("information_schema", "INNODB_METRICS", cells)
    };
    let size = status.get("Innodb_buffer_pool_pages_total") * status.get("Innodb_page_size");
    let counted = METRICS.iter().map(|(name, subsystem, kind, of, comment)| row(name, subsystem, kind, status.get(of), comment));
    counted.chain([row("buffer_pool_size", "server", "value", size, "Bytes of the buffer pool")]).collect()
}

/// The data file and the log: their times are those of waits for them.
pub(super) fn files(status: &[(&'static str, String)], waits: &Waits, timer: &Timer) -> Vec<Row> {
    let status = Status(status);
    let times = |names: [&'static str; 3], sum: Sum| {
        names.into_iter().zip([timer.length(sum.ticks), timer.average(sum.ticks, sum.count), timer.length(sum.longest)])
    };
    let whole = ["SUM_TIMER_WAIT", "AVG_TIMER_WAIT", "MAX_TIMER_WAIT"];
    let (reads, pages) = (status.get("Innodb_data_reads"), status.get("Innodb_pages_written"));
    let (read, page) = (waits.sums.of(Kind::PageRead), status.get("Innodb_page_size"));
    let data = [
        ("EVENT_NAME", text("wait/io/file/innodb/innodb_data_file")),
        ("COUNT_STAR", number(reads + pages)),
        ("COUNT_READ", number(reads)),
        ("SUM_NUMBER_OF_BYTES_READ", number(status.get("Innodb_data_read"))),
        ("COUNT_WRITE", number(pages)),
        ("SUM_NUMBER_OF_BYTES_WRITE", number(pages * page)),
    ];
    let data = data.into_iter().chain(times(whole, read));
    let data = data.chain(times(["SUM_TIMER_READ", "AVG_TIMER_READ", "MAX_TIMER_READ"], read));
    let (writes, syncs) = (status.get("Innodb_log_writes"), status.get("Innodb_os_log_fsyncs"));
    let flushed = waits.sums.of(Kind::LogFlush);
    let log = [
        ("EVENT_NAME", text("wait/io/file/innodb/innodb_log_file")),
        ("COUNT_STAR", number(writes + syncs)),
        ("COUNT_WRITE", number(writes)),
        ("SUM_NUMBER_OF_BYTES_WRITE", number(status.get("Innodb_os_log_written"))),
        ("COUNT_MISC", number(syncs)),
    ];
    let log = log.into_iter().chain(times(whole, flushed));
    let log = log.chain(times(["SUM_TIMER_MISC", "AVG_TIMER_MISC", "MAX_TIMER_MISC"], flushed));
    const TABLE: &str = "file_summary_by_event_name";
    vec![named(DATABASE, TABLE, data), named(DATABASE, TABLE, log)]
}

/// What the server knows of its memory: the name, how many pieces, and their bytes. What is taken is not given back, but
/// for statistics by digest.
fn memory(status: &[(&'static str, String)]) -> Vec<(&'static str, u64, u64)> {
    let status = Status(status);
    let of = |name| status.get(name);
    let (digests, kept) = (of("Heddle_digests"), of("Heddle_kept_bytes"));
    vec![
        ("memory/innodb/buf_buf_pool", of("Innodb_buffer_pool_pages_data"), of("Innodb_buffer_pool_bytes_data")),
        ("memory/heddle/undo", of("Heddle_history_length"), of("Heddle_undo_memory_bytes")),
        ("memory/performance_schema/events_statements_summary_by_digest", digests, of("Heddle_digests_bytes")),
        ("memory/performance_schema/heddle_kept_executions", u64::from(kept > 0), kept),
    ]
}

/// The most of each kind is what there is now: earlier values are not kept.
pub(super) fn memory_rows(status: &[(&'static str, String)]) -> Vec<Row> {
    let row = |(name, count, bytes): (&str, u64, u64)| {
        let signed = |value: u64| Value::Int(i64::try_from(value).unwrap_or(i64::MAX));
        let cells = [
            ("EVENT_NAME", text(name)),
            ("COUNT_ALLOC", number(count)),
            ("COUNT_FREE", number(0u64)),
            ("SUM_NUMBER_OF_BYTES_ALLOC", number(bytes)),
            ("SUM_NUMBER_OF_BYTES_FREE", number(0u64)),
            ("LOW_COUNT_USED", signed(0)),
            ("CURRENT_COUNT_USED", signed(count)),
            ("HIGH_COUNT_USED", signed(count)),
            ("LOW_NUMBER_OF_BYTES_USED", signed(0)),
            ("CURRENT_NUMBER_OF_BYTES_USED", signed(bytes)),
            ("HIGH_NUMBER_OF_BYTES_USED", signed(bytes)),
        ];
        named(DATABASE, "memory_summary_global_by_event_name", cells)
    };
    memory(status).into_iter().map(row).collect()
}
