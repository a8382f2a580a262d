//! Metrics with names in them: sessions, tables, statements, waits. They are read with statements of the account that asks; what it may
//! not see is left out.

use super::text::{Family, Kind};
use crate::logins::{Login, Refusal};
use crate::wire::{Client, Failure, Rows};
use serde_json::Value;

/// How a column becomes a metric: family, help, kind, the label that tells it from others of the family, factor.
struct Metric {
    column: &'static str,
    family: &'static str,
    help: &'static str,
    kind: Kind,
    label: Option<(&'static str, &'static str)>,
    factor: f64,
}

/// A statement whose first columns are labels, and whose others are metrics.
struct Source {
    statement: &'static str,
    labels: &'static [&'static str],
    metrics: &'static [Metric],
}

const PICOSECONDS: f64 = 1e-12;

const fn counter(column: &'static str, family: &'static str, help: &'static str) -> Metric {
    Metric { column, family, help, kind: Kind::Counter, label: None, factor: 1.0 }
}

const fn seconds(column: &'static str, family: &'static str, help: &'static str) -> Metric {
    Metric { factor: PICOSECONDS, ..counter(column, family, help) }
}

const fn gauge(column: &'static str, family: &'static str, help: &'static str) -> Metric {
    Metric { kind: Kind::Gauge, ..counter(column, family, help) }
}

const fn with(label: &'static str, value: &'static str, metric: Metric) -> Metric {
    Metric { label: Some((label, value)), ..metric }
}

const TABLE_SIZE: &str = "mysql_info_schema_table_size";
const TABLE_SIZE_HELP: &str = "Bytes of a table by component.";
const TABLE_IO: &str = "mysql_perf_schema_table_io_waits_total";
const TABLE_IO_HELP: &str = "Rows of a table by operation.";
const TABLE_IO_TIME: &str = "mysql_perf_schema_table_io_waits_seconds_total";
const TABLE_IO_TIME_HELP: &str = "Time of the operations on a table.";
const INDEX_IO: &str = "mysql_perf_schema_index_io_waits_total";
const INDEX_IO_HELP: &str = "Rows of an index by operation.";

const SOURCES: &[Source] = &[
    Source {
        statement: "SELECT LOWER(REPLACE(COMMAND, ' ', '_')) AS command, LOWER(REPLACE(IFNULL(STATE, ''), ' ', '_')) AS state, \
                    COUNT(*) AS threads, SUM(TIME) AS seconds FROM information_schema.PROCESSLIST GROUP BY 1, 2",
        labels: &["command", "state"],
        metrics: &[
            gauge("threads", "mysql_info_schema_processlist_threads", "Sessions by command and state."),
            gauge("seconds", "mysql_info_schema_processlist_seconds", "How long sessions are in their state."),
        ],
    },
    Source {
        statement: "SELECT USER AS mysql_user, COUNT(*) AS sessions FROM information_schema.PROCESSLIST GROUP BY USER",
        labels: &["mysql_user"],
        metrics: &[gauge("sessions", "mysql_info_schema_processlist_processes_by_user", "Sessions by user.")],
    },
    Source {
        statement: "SELECT TABLE_SCHEMA AS `schema`, TABLE_NAME AS `table`, TABLE_ROWS AS row_count, DATA_LENGTH AS data, \
                    INDEX_LENGTH AS indexes, DATA_FREE AS free FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' \
                    AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema') \
                    ORDER BY DATA_LENGTH + INDEX_LENGTH DESC LIMIT 1000",
        labels: &["schema", "table"],
        metrics: &[
            gauge("row_count", "mysql_info_schema_table_rows", "Rows of a table, estimated."),
            with("component", "data_length", gauge("data", TABLE_SIZE, TABLE_SIZE_HELP)),
            with("component", "index_length", gauge("indexes", TABLE_SIZE, TABLE_SIZE_HELP)),
            with("component", "data_free", gauge("free", TABLE_SIZE, TABLE_SIZE_HELP)),
        ],
    },
    Source {
        statement: "SELECT table_schema AS `schema`, table_name AS `table`, column_name AS `column`, auto_increment AS next_id, \
                    max_value AS most FROM sys.schema_auto_increment_columns ORDER BY auto_increment_ratio DESC LIMIT 500",
        labels: &["schema", "table", "column"],
        metrics: &[
            gauge("next_id", "mysql_info_schema_auto_increment_column", "The next number of an AUTO_INCREMENT column."),
            gauge("most", "mysql_info_schema_auto_increment_column_max", "The largest number of an AUTO_INCREMENT column."),
        ],
    },
    Source {
        statement: "SELECT IFNULL(SCHEMA_NAME, 'NONE') AS `schema`, DIGEST AS digest, LEFT(DIGEST_TEXT, 120) AS digest_text, COUNT_STAR, \
                    SUM_TIMER_WAIT, SUM_LOCK_TIME, SUM_CPU_TIME, SUM_ERRORS, SUM_WARNINGS, SUM_ROWS_AFFECTED, SUM_ROWS_SENT, \
                    SUM_ROWS_EXAMINED, SUM_CREATED_TMP_TABLES, SUM_CREATED_TMP_DISK_TABLES, SUM_SORT_ROWS, SUM_NO_INDEX_USED, \
                    QUANTILE_95, QUANTILE_99, QUANTILE_999 FROM performance_schema.events_statements_summary_by_digest \
                    WHERE DIGEST IS NOT NULL ORDER BY SUM_TIMER_WAIT DESC LIMIT 250",
        labels: &["schema", "digest", "digest_text"],
        metrics: &[
            counter("COUNT_STAR", "mysql_perf_schema_events_statements_total", "Executions of a statement."),
            seconds("SUM_TIMER_WAIT", "mysql_perf_schema_events_statements_seconds_total", "Time of a statement."),
            seconds("SUM_LOCK_TIME", "mysql_perf_schema_events_statements_lock_time_seconds_total", "Time for locks."),
            seconds("SUM_CPU_TIME", "mysql_perf_schema_events_statements_cpu_time_seconds_total", "CPU time of a statement."),
            counter("SUM_ERRORS", "mysql_perf_schema_events_statements_errors_total", "Errors of a statement."),
            counter("SUM_WARNINGS", "mysql_perf_schema_events_statements_warnings_total", "Warnings of a statement."),
            counter("SUM_ROWS_AFFECTED", "mysql_perf_schema_events_statements_rows_affected_total", "Rows changed."),
            counter("SUM_ROWS_SENT", "mysql_perf_schema_events_statements_rows_sent_total", "Rows sent."),
            counter("SUM_ROWS_EXAMINED", "mysql_perf_schema_events_statements_rows_examined_total", "Rows read."),
            counter("SUM_CREATED_TMP_TABLES", "mysql_perf_schema_events_statements_tmp_tables_total", "Temporary tables."),
            counter(
                "SUM_CREATED_TMP_DISK_TABLES",
                "mysql_perf_schema_events_statements_tmp_disk_tables_total",
                "Temporary tables on disk.",
            ),
            counter("SUM_SORT_ROWS", "mysql_perf_schema_events_statements_sort_rows_total", "Rows sorted."),
            counter(
                "SUM_NO_INDEX_USED",
                "mysql_perf_schema_events_statements_no_index_used_total",
                "Executions without an index.",
            ),
            with("quantile", "95", seconds_now("QUANTILE_95")),
            with("quantile", "99", seconds_now("QUANTILE_99")),
            with("quantile", "99.9", seconds_now("QUANTILE_999")),
        ],
    },
    Source {
        statement: "SELECT EVENT_NAME AS event_name, COUNT_STAR, SUM_TIMER_WAIT \
                    FROM performance_schema.events_waits_summary_global_by_event_name WHERE COUNT_STAR > 0",
        labels: &["event_name"],
        metrics: &[
            counter("COUNT_STAR", "mysql_perf_schema_events_waits_total", "Waits by what was waited for."),
            seconds("SUM_TIMER_WAIT", "mysql_perf_schema_events_waits_seconds_total", "Time of waits."),
        ],
    },
    Source {
        statement: "SELECT OBJECT_SCHEMA AS `schema`, OBJECT_NAME AS name, COUNT_FETCH, COUNT_INSERT, COUNT_UPDATE, COUNT_DELETE, \
                    SUM_TIMER_FETCH, SUM_TIMER_INSERT, SUM_TIMER_UPDATE, SUM_TIMER_DELETE \
                    FROM performance_schema.table_io_waits_summary_by_table WHERE COUNT_STAR > 0 \
                    ORDER BY COUNT_STAR DESC LIMIT 500",
        labels: &["schema", "name"],
        metrics: &[
            with("operation", "fetch", counter("COUNT_FETCH", TABLE_IO, TABLE_IO_HELP)),
            with("operation", "insert", counter("COUNT_INSERT", TABLE_IO, TABLE_IO_HELP)),
            with("operation", "update", counter("COUNT_UPDATE", TABLE_IO, TABLE_IO_HELP)),
            with("operation", "delete", counter("COUNT_DELETE", TABLE_IO, TABLE_IO_HELP)),
            with("operation", "fetch", seconds("SUM_TIMER_FETCH", TABLE_IO_TIME, TABLE_IO_TIME_HELP)),
            with("operation", "insert", seconds("SUM_TIMER_INSERT", TABLE_IO_TIME, TABLE_IO_TIME_HELP)),
            with("operation", "update", seconds("SUM_TIMER_UPDATE", TABLE_IO_TIME, TABLE_IO_TIME_HELP)),
            with("operation", "delete", seconds("SUM_TIMER_DELETE", TABLE_IO_TIME, TABLE_IO_TIME_HELP)),
        ],
    },
    Source {
        statement: "SELECT OBJECT_SCHEMA AS `schema`, OBJECT_NAME AS name, IFNULL(INDEX_NAME, 'NONE') AS `index`, COUNT_FETCH, \
                    COUNT_INSERT, COUNT_UPDATE, COUNT_DELETE FROM performance_schema.table_io_waits_summary_by_index_usage \
                    WHERE COUNT_STAR > 0 ORDER BY COUNT_STAR DESC LIMIT 500",
        labels: &["schema", "name", "index"],
        metrics: &[
            with("operation", "fetch", counter("COUNT_FETCH", INDEX_IO, INDEX_IO_HELP)),
            with("operation", "insert", counter("COUNT_INSERT", INDEX_IO, INDEX_IO_HELP)),
            with("operation", "update", counter("COUNT_UPDATE", INDEX_IO, INDEX_IO_HELP)),
            with("operation", "delete", counter("COUNT_DELETE", INDEX_IO, INDEX_IO_HELP)),
        ],
    },
];

const fn seconds_now(column: &'static str) -> Metric {
    let family = "mysql_perf_schema_events_statements_latency_seconds";
    Metric { factor: PICOSECONDS, ..gauge(column, family, "The time that this part of the executions took at most.") }
}

/// With the connection of an account.
pub async fn of_client(client: &mut Client) -> Vec<Family> {
    let mut families = Vec::new();
    for source in SOURCES {
        match client.query(source.statement).await {
            Ok(rows) => add(source, &rows, &mut families),
            Err(Failure::Sql { message, .. }) => tracing::debug!(message, "metrics that the account may not see"),
            Err(Failure::Lost) => break,
        }
    }
    families
}

/// With the connection of a login of the page.
pub async fn of_login(login: &Login) -> Vec<Family> {
    let mut families = Vec::new();
    for source in SOURCES {
        match login.query(source.statement).await {
            Ok(rows) => add(source, &rows, &mut families),
            Err(Refusal::Sql { message, .. }) => tracing::debug!(message, "metrics that the account may not see"),
            Err(_) => break,
        }
    }
    families
}

fn add(source: &Source, rows: &Rows, families: &mut Vec<Family>) {
    let place = |column: &str| rows.columns.iter().position(|name| name == column);
    let mut made: Vec<(&str, Family)> = Vec::new();
    for metric in source.metrics {
        let Some(value) = place(metric.column) else { continue };
        let at = made.iter().position(|(name, _)| *name == metric.family).unwrap_or_else(|| {
            made.push((metric.family, Family::new(metric.family, metric.kind, metric.help)));
            made.len() - 1
        });
        for row in &rows.rows {
            let text = |label: &str| place(label).and_then(|place| row.get(place)).and_then(Value::as_str).unwrap_or_default();
            let Some(value) = row.get(value).and_then(Value::as_f64) else { continue };
            let mut labels: Vec<(&str, &str)> = source.labels.iter().map(|label| (*label, text(label))).collect();
            labels.extend(metric.label);
            made[at].1.add("", &labels, value * metric.factor);
        }
    }
    families.extend(made.into_iter().map(|(_, family)| family));
}

#[cfg(test)]
mod tests {
    use super::super::text::{Exposition, Style};
    use super::*;

    #[test]
    fn rows_become_families() {
        let cells = vec!["shop".into(), "orders".into(), 7.into(), 100.into(), 50.into(), Value::Null];
        let columns = ["schema", "table", "row_count", "data", "indexes", "free"].map(str::to_owned).to_vec();
        let mut families = Vec::new();
        let tables = SOURCES.iter().find(|source| source.labels == ["schema", "table"]).expect("there is one");
        add(tables, &Rows { columns, rows: vec![cells] }, &mut families);
        let mut made = Exposition::default();
        made.families = families;
        let text = made.write(Style::Prometheus);
        assert!(text.contains("mysql_info_schema_table_rows{schema=\"shop\",table=\"orders\"} 7\n"), "{text}");
        assert!(text.contains("table_size{schema=\"shop\",table=\"orders\",component=\"index_length\"} 50\n"), "{text}");
        assert!(!text.contains("data_free"), "NULL is no sample: {text}");
    }

    #[test]
    fn a_family_belongs_to_one_source() {
        let mut seen = std::collections::HashMap::new();
        for (at, source) in SOURCES.iter().enumerate() {
            for metric in source.metrics {
                assert_eq!(*seen.entry(metric.family).or_insert(at), at, "{}", metric.family);
                assert_eq!(metric.family.ends_with("_total"), metric.kind == Kind::Counter, "{}", metric.family);
            }
        }
    }
}
