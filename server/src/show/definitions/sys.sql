CREATE TABLE advice (
    id char(16) COLLATE ascii_general_ci NOT NULL, kind varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, table_schema varchar(64) COLLATE utf8mb4_bin,
    table_name varchar(64) COLLATE utf8mb4_bin, digest varchar(64) COLLATE ascii_general_ci, statement longtext COLLATE utf8mb4_0900_ai_ci,
    example longtext COLLATE utf8mb4_0900_ai_ci, application longtext COLLATE utf8mb4_0900_ai_ci,
    evidence longtext COLLATE utf8mb4_0900_ai_ci NOT NULL, gain longtext COLLATE utf8mb4_0900_ai_ci NOT NULL,
    gain_ms bigint unsigned NOT NULL, price longtext COLLATE utf8mb4_0900_ai_ci NOT NULL, cure longtext COLLATE utf8mb4_0900_ai_ci NOT NULL,
    is_sql varchar(3) COLLATE utf8mb4_0900_ai_ci NOT NULL, statements bigint unsigned NOT NULL, dismissed varchar(3) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    state varchar(16) COLLATE utf8mb4_0900_ai_ci, measured longtext COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE advice_log (
    `time` varchar(19) COLLATE ascii_general_ci NOT NULL, id char(16) COLLATE ascii_general_ci NOT NULL, action varchar(16) COLLATE ascii_general_ci NOT NULL,
    `by` varchar(288) COLLATE utf8mb4_bin NOT NULL, table_schema varchar(64) COLLATE utf8mb4_bin NOT NULL, table_name varchar(64) COLLATE utf8mb4_bin NOT NULL,
    index_name varchar(64) COLLATE utf8mb4_bin NOT NULL, note longtext COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE host_summary (
    `host` varchar(255) COLLATE ascii_general_ci, `statements` decimal(64,0), `statement_latency` varchar(11),
    `statement_avg_latency` varchar(11), `table_scans` decimal(65,0), `file_ios` decimal(64,0), `file_io_latency` varchar(11),
    `current_connections` decimal(41,0), `total_connections` decimal(41,0), `unique_users` bigint NOT NULL,
    `current_memory` varchar(11), `total_memory_allocated` varchar(11));
CREATE TABLE host_summary_by_file_io (
    `host` varchar(255) COLLATE ascii_general_ci, `ios` decimal(42,0), `io_latency` varchar(11));
CREATE TABLE host_summary_by_file_io_type (
    `host` varchar(255) COLLATE ascii_general_ci, `event_name` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `total` bigint unsigned NOT NULL, `total_latency` varchar(11), `max_latency` varchar(11));
CREATE TABLE host_summary_by_stages (
    `host` varchar(255) COLLATE ascii_general_ci, `event_name` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `total` bigint unsigned NOT NULL, `total_latency` varchar(11), `avg_latency` varchar(11));
CREATE TABLE host_summary_by_statement_latency (
    `host` varchar(255) COLLATE ascii_general_ci, `total` decimal(42,0), `total_latency` varchar(11), `max_latency` varchar(11),
    `lock_latency` varchar(11), `cpu_latency` varchar(11), `rows_sent` decimal(42,0), `rows_examined` decimal(42,0),
    `rows_affected` decimal(42,0), `full_scans` decimal(43,0));
CREATE TABLE host_summary_by_statement_type (
    `host` varchar(255) COLLATE ascii_general_ci, `statement` varchar(128) COLLATE utf8mb4_0900_ai_ci,
    `total` bigint unsigned NOT NULL, `total_latency` varchar(11), `max_latency` varchar(11), `lock_latency` varchar(11),
    `cpu_latency` varchar(11), `rows_sent` bigint unsigned NOT NULL, `rows_examined` bigint unsigned NOT NULL,
    `rows_affected` bigint unsigned NOT NULL, `full_scans` bigint unsigned NOT NULL);
CREATE TABLE innodb_buffer_stats_by_schema (
    `object_schema` text COLLATE utf8mb3_general_ci, `allocated` varchar(11), `data` varchar(11), `pages` bigint NOT NULL,
    `pages_hashed` bigint NOT NULL, `pages_old` bigint NOT NULL, `rows_cached` decimal(45,0));
CREATE TABLE innodb_buffer_stats_by_table (
    `object_schema` text COLLATE utf8mb3_general_ci, `object_name` text COLLATE utf8mb3_general_ci, `allocated` varchar(11),
    `data` varchar(11), `pages` bigint NOT NULL, `pages_hashed` bigint NOT NULL, `pages_old` bigint NOT NULL,
    `rows_cached` decimal(45,0));
CREATE TABLE innodb_lock_waits (
    `wait_started` datetime, `wait_age` time, `wait_age_secs` bigint, `locked_table` mediumtext COLLATE utf8mb4_0900_ai_ci,
    `locked_table_schema` varchar(64) COLLATE utf8mb4_0900_ai_ci, `locked_table_name` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `locked_table_partition` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `locked_table_subpartition` varchar(64) COLLATE utf8mb4_0900_ai_ci, `locked_index` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `locked_type` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, `waiting_trx_id` bigint unsigned NOT NULL,
    `waiting_trx_started` datetime NOT NULL, `waiting_trx_age` time, `waiting_trx_rows_locked` bigint unsigned NOT NULL,
    `waiting_trx_rows_modified` bigint unsigned NOT NULL, `waiting_pid` bigint unsigned NOT NULL,
    `waiting_query` longtext COLLATE utf8mb4_0900_ai_ci, `waiting_lock_id` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `waiting_lock_mode` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, `blocking_trx_id` bigint unsigned NOT NULL,
    `blocking_pid` bigint unsigned NOT NULL, `blocking_query` longtext COLLATE utf8mb4_0900_ai_ci,
    `blocking_lock_id` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `blocking_lock_mode` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, `blocking_trx_started` datetime NOT NULL,
    `blocking_trx_age` time, `blocking_trx_rows_locked` bigint unsigned NOT NULL,
    `blocking_trx_rows_modified` bigint unsigned NOT NULL,
    `sql_kill_blocking_query` varchar(33) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `sql_kill_blocking_connection` varchar(27) COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE io_by_thread_by_latency (
    `user` varchar(288) COLLATE utf8mb4_0900_ai_ci, `total` decimal(42,0), `total_latency` varchar(11), `min_latency` varchar(11),
    `avg_latency` varchar(11), `max_latency` varchar(11), `thread_id` bigint unsigned NOT NULL, `processlist_id` bigint unsigned);
CREATE TABLE io_global_by_file_by_bytes (
    `file` varchar(512) COLLATE utf8mb4_0900_ai_ci, `count_read` bigint unsigned NOT NULL, `total_read` varchar(11),
    `avg_read` varchar(11), `count_write` bigint unsigned NOT NULL, `total_written` varchar(11), `avg_write` varchar(11),
    `total` varchar(11), `write_pct` decimal(26,2) NOT NULL);
CREATE TABLE io_global_by_file_by_latency (
    `file` varchar(512) COLLATE utf8mb4_0900_ai_ci, `total` bigint unsigned NOT NULL, `total_latency` varchar(11),
    `count_read` bigint unsigned NOT NULL, `read_latency` varchar(11), `count_write` bigint unsigned NOT NULL,
    `write_latency` varchar(11), `count_misc` bigint unsigned NOT NULL, `misc_latency` varchar(11));
CREATE TABLE io_global_by_wait_by_bytes (
    `event_name` varchar(128) COLLATE utf8mb4_0900_ai_ci, `total` bigint unsigned NOT NULL, `total_latency` varchar(11),
    `min_latency` varchar(11), `avg_latency` varchar(11), `max_latency` varchar(11), `count_read` bigint unsigned NOT NULL,
    `total_read` varchar(11), `avg_read` varchar(11), `count_write` bigint unsigned NOT NULL, `total_written` varchar(11),
    `avg_written` varchar(11), `total_requested` varchar(11));
CREATE TABLE io_global_by_wait_by_latency (
    `event_name` varchar(128) COLLATE utf8mb4_0900_ai_ci, `total` bigint unsigned NOT NULL, `total_latency` varchar(11),
    `avg_latency` varchar(11), `max_latency` varchar(11), `read_latency` varchar(11), `write_latency` varchar(11),
    `misc_latency` varchar(11), `count_read` bigint unsigned NOT NULL, `total_read` varchar(11), `avg_read` varchar(11),
    `count_write` bigint unsigned NOT NULL, `total_written` varchar(11), `avg_written` varchar(11));
CREATE TABLE latest_file_io (
    `thread` varchar(317) COLLATE utf8mb4_0900_ai_ci, `file` varchar(512) COLLATE utf8mb4_0900_ai_ci, `latency` varchar(11),
    `operation` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, `requested` varchar(11));
CREATE TABLE memory_by_host_by_current_bytes (
    `host` varchar(255) COLLATE ascii_general_ci, `current_count_used` decimal(41,0), `current_allocated` varchar(11),
    `current_avg_alloc` varchar(11), `current_max_alloc` varchar(11), `total_allocated` varchar(11));
CREATE TABLE memory_by_thread_by_current_bytes (
    `thread_id` bigint unsigned NOT NULL, `user` varchar(288) COLLATE utf8mb4_0900_ai_ci, `current_count_used` decimal(41,0),
    `current_allocated` varchar(11), `current_avg_alloc` varchar(11), `current_max_alloc` varchar(11),
    `total_allocated` varchar(11));
CREATE TABLE memory_by_user_by_current_bytes (
    `user` varchar(32) COLLATE utf8mb4_bin, `current_count_used` decimal(41,0), `current_allocated` varchar(11),
    `current_avg_alloc` varchar(11), `current_max_alloc` varchar(11), `total_allocated` varchar(11));
CREATE TABLE memory_global_by_current_bytes (
    `event_name` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `current_count` bigint NOT NULL, `current_alloc` varchar(11),
    `current_avg_alloc` varchar(11), `high_count` bigint NOT NULL, `high_alloc` varchar(11), `high_avg_alloc` varchar(11));
CREATE TABLE memory_global_total (
    `total_allocated` varchar(11));
CREATE TABLE metrics (
    `Variable_name` varchar(193) COLLATE utf8mb4_0900_ai_ci NOT NULL, `Variable_value` text COLLATE utf8mb4_0900_ai_ci,
    `Type` varchar(210) NOT NULL, `Enabled` varchar(7) COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE processlist (
    `thd_id` bigint unsigned NOT NULL, `conn_id` bigint unsigned, `user` varchar(288) COLLATE utf8mb4_0900_ai_ci,
    `db` varchar(64) COLLATE utf8mb4_0900_ai_ci, `command` varchar(16) COLLATE utf8mb4_0900_ai_ci,
    `state` varchar(64) COLLATE utf8mb4_0900_ai_ci, `time` bigint, `current_statement` longtext COLLATE utf8mb4_0900_ai_ci,
    `execution_engine` enum('PRIMARY','SECONDARY') COLLATE utf8mb4_0900_ai_ci, `statement_latency` varchar(11),
    `progress` decimal(26,2), `lock_latency` varchar(11), `cpu_latency` varchar(11), `rows_examined` bigint unsigned,
    `rows_sent` bigint unsigned, `rows_affected` bigint unsigned, `tmp_tables` bigint unsigned, `tmp_disk_tables` bigint unsigned,
    `full_scan` varchar(3) COLLATE utf8mb4_0900_ai_ci NOT NULL, `last_statement` longtext COLLATE utf8mb4_0900_ai_ci,
    `last_statement_latency` varchar(11), `current_memory` varchar(11), `last_wait` varchar(128) COLLATE utf8mb4_0900_ai_ci,
    `last_wait_latency` varchar(13) COLLATE utf8mb4_0900_ai_ci, `source` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `trx_latency` varchar(11), `trx_state` enum('ACTIVE','COMMITTED','ROLLED BACK') COLLATE utf8mb4_0900_ai_ci,
    `trx_autocommit` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci, `pid` varchar(1024) COLLATE utf8mb4_bin,
    `program_name` varchar(1024) COLLATE utf8mb4_bin);
CREATE TABLE ps_check_lost_instrumentation (
    `variable_name` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `variable_value` varchar(1024) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE schema_auto_increment_columns (
    `table_schema` varchar(64) COLLATE utf8mb3_bin NOT NULL, `table_name` varchar(64) COLLATE utf8mb3_bin NOT NULL,
    `column_name` varchar(64) COLLATE utf8mb3_tolower_ci, `data_type` longtext COLLATE utf8mb3_bin,
    `column_type` mediumtext COLLATE utf8mb3_bin NOT NULL, `is_signed` int NOT NULL, `is_unsigned` int NOT NULL,
    `max_value` bigint unsigned, `auto_increment` bigint unsigned, `auto_increment_ratio` decimal(25,4) unsigned);
CREATE TABLE schema_index_statistics (
    `table_schema` varchar(64) COLLATE utf8mb4_0900_ai_ci, `table_name` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `index_name` varchar(64) COLLATE utf8mb4_0900_ai_ci, `rows_selected` bigint unsigned NOT NULL, `select_latency` varchar(11),
    `rows_inserted` bigint unsigned NOT NULL, `insert_latency` varchar(11), `rows_updated` bigint unsigned NOT NULL,
    `update_latency` varchar(11), `rows_deleted` bigint unsigned NOT NULL, `delete_latency` varchar(11));
CREATE TABLE schema_object_overview (
    `db` varchar(64) COLLATE utf8mb3_bin NOT NULL, `object_type` varchar(19) COLLATE utf8mb3_bin, `count` bigint NOT NULL);
CREATE TABLE schema_redundant_indexes (
    `table_schema` varchar(64) COLLATE utf8mb3_bin NOT NULL, `table_name` varchar(64) COLLATE utf8mb3_bin NOT NULL,
    `redundant_index_name` varchar(64) COLLATE utf8mb3_tolower_ci, `redundant_index_columns` text COLLATE utf8mb3_tolower_ci,
    `redundant_index_non_unique` int, `dominant_index_name` varchar(64) COLLATE utf8mb3_tolower_ci,
    `dominant_index_columns` text COLLATE utf8mb3_tolower_ci, `dominant_index_non_unique` int, `subpart_exists` int NOT NULL,
    `sql_drop_index` varchar(223) COLLATE utf8mb3_tolower_ci);
CREATE TABLE schema_table_lock_waits (
    `object_schema` varchar(64) COLLATE utf8mb4_0900_ai_ci, `object_name` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `waiting_thread_id` bigint unsigned NOT NULL, `waiting_pid` bigint unsigned, `waiting_account` text COLLATE utf8mb4_0900_ai_ci,
    `waiting_lock_type` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `waiting_lock_duration` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, `waiting_query` longtext COLLATE utf8mb4_0900_ai_ci,
    `waiting_query_secs` bigint, `waiting_query_rows_affected` bigint unsigned, `waiting_query_rows_examined` bigint unsigned,
    `blocking_thread_id` bigint unsigned NOT NULL, `blocking_pid` bigint unsigned,
    `blocking_account` text COLLATE utf8mb4_0900_ai_ci, `blocking_lock_type` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `blocking_lock_duration` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `sql_kill_blocking_query` varchar(31) COLLATE utf8mb4_0900_ai_ci,
    `sql_kill_blocking_connection` varchar(25) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE schema_table_statistics (
    `table_schema` varchar(64) COLLATE utf8mb4_0900_ai_ci, `table_name` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `total_latency` varchar(11), `rows_fetched` bigint unsigned NOT NULL, `fetch_latency` varchar(11),
    `rows_inserted` bigint unsigned NOT NULL, `insert_latency` varchar(11), `rows_updated` bigint unsigned NOT NULL,
    `update_latency` varchar(11), `rows_deleted` bigint unsigned NOT NULL, `delete_latency` varchar(11),
    `io_read_requests` decimal(42,0), `io_read` varchar(11), `io_read_latency` varchar(11), `io_write_requests` decimal(42,0),
    `io_write` varchar(11), `io_write_latency` varchar(11), `io_misc_requests` decimal(42,0), `io_misc_latency` varchar(11));
CREATE TABLE schema_table_statistics_with_buffer (
    `table_schema` varchar(64) COLLATE utf8mb4_0900_ai_ci, `table_name` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `rows_fetched` bigint unsigned NOT NULL, `fetch_latency` varchar(11), `rows_inserted` bigint unsigned NOT NULL,
    `insert_latency` varchar(11), `rows_updated` bigint unsigned NOT NULL, `update_latency` varchar(11),
    `rows_deleted` bigint unsigned NOT NULL, `delete_latency` varchar(11), `io_read_requests` decimal(42,0), `io_read` varchar(11),
    `io_read_latency` varchar(11), `io_write_requests` decimal(42,0), `io_write` varchar(11), `io_write_latency` varchar(11),
    `io_misc_requests` decimal(42,0), `io_misc_latency` varchar(11), `innodb_buffer_allocated` varchar(11),
    `innodb_buffer_data` varchar(11), `innodb_buffer_free` varchar(11), `innodb_buffer_pages` bigint,
    `innodb_buffer_pages_hashed` bigint, `innodb_buffer_pages_old` bigint, `innodb_buffer_rows_cached` decimal(45,0));
CREATE TABLE schema_tables_with_full_table_scans (
    `object_schema` varchar(64) COLLATE utf8mb4_0900_ai_ci, `object_name` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `rows_full_scanned` bigint unsigned NOT NULL, `latency` varchar(11));
CREATE TABLE schema_unused_indexes (
    `object_schema` varchar(64) COLLATE utf8mb4_0900_ai_ci, `object_name` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `index_name` varchar(64) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE session LIKE processlist;
CREATE TABLE session_ssl_status (
    `thread_id` bigint unsigned NOT NULL, `ssl_version` varchar(1024) COLLATE utf8mb4_0900_ai_ci,
    `ssl_cipher` varchar(1024) COLLATE utf8mb4_0900_ai_ci, `ssl_sessions_reused` varchar(1024) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE statement_analysis (
    `query` longtext COLLATE utf8mb4_0900_ai_ci, `db` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `full_scan` varchar(1) COLLATE utf8mb4_0900_ai_ci NOT NULL, `exec_count` bigint unsigned NOT NULL,
    `err_count` bigint unsigned NOT NULL, `warn_count` bigint unsigned NOT NULL, `total_latency` varchar(11),
    `max_latency` varchar(11), `avg_latency` varchar(11), `lock_latency` varchar(11), `cpu_latency` varchar(11),
    `rows_sent` bigint unsigned NOT NULL, `rows_sent_avg` decimal(21,0) NOT NULL, `rows_examined` bigint unsigned NOT NULL,
    `rows_examined_avg` decimal(21,0) NOT NULL, `rows_affected` bigint unsigned NOT NULL,
    `rows_affected_avg` decimal(21,0) NOT NULL, `tmp_tables` bigint unsigned NOT NULL, `tmp_disk_tables` bigint unsigned NOT NULL,
    `rows_sorted` bigint unsigned NOT NULL, `sort_merge_passes` bigint unsigned NOT NULL, `max_controlled_memory` varchar(11),
    `max_total_memory` varchar(11), `digest` varchar(64) COLLATE utf8mb4_0900_ai_ci, `first_seen` timestamp(6) NOT NULL,
    `last_seen` timestamp(6) NOT NULL);
CREATE TABLE statements_with_errors_or_warnings (
    `query` longtext COLLATE utf8mb4_0900_ai_ci, `db` varchar(64) COLLATE utf8mb4_0900_ai_ci, `exec_count` bigint unsigned NOT NULL,
    `errors` bigint unsigned NOT NULL, `error_pct` decimal(27,4) NOT NULL, `warnings` bigint unsigned NOT NULL,
    `warning_pct` decimal(27,4) NOT NULL, `first_seen` timestamp(6) NOT NULL, `last_seen` timestamp(6) NOT NULL,
    `digest` varchar(64) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE statements_with_full_table_scans (
    `query` longtext COLLATE utf8mb4_0900_ai_ci, `db` varchar(64) COLLATE utf8mb4_0900_ai_ci, `exec_count` bigint unsigned NOT NULL,
    `total_latency` varchar(11), `no_index_used_count` bigint unsigned NOT NULL,
    `no_good_index_used_count` bigint unsigned NOT NULL, `no_index_used_pct` decimal(24,0) NOT NULL,
    `rows_sent` bigint unsigned NOT NULL, `rows_examined` bigint unsigned NOT NULL, `rows_sent_avg` decimal(21,0),
    `rows_examined_avg` decimal(21,0), `first_seen` timestamp(6) NOT NULL, `last_seen` timestamp(6) NOT NULL,
    `digest` varchar(64) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE statements_with_runtimes_in_95th_percentile (
    `query` longtext COLLATE utf8mb4_0900_ai_ci, `db` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `full_scan` varchar(1) COLLATE utf8mb4_0900_ai_ci NOT NULL, `exec_count` bigint unsigned NOT NULL,
    `err_count` bigint unsigned NOT NULL, `warn_count` bigint unsigned NOT NULL, `total_latency` varchar(11),
    `max_latency` varchar(11), `avg_latency` varchar(11), `rows_sent` bigint unsigned NOT NULL,
    `rows_sent_avg` decimal(21,0) NOT NULL, `rows_examined` bigint unsigned NOT NULL, `rows_examined_avg` decimal(21,0) NOT NULL,
    `first_seen` timestamp(6) NOT NULL, `last_seen` timestamp(6) NOT NULL, `digest` varchar(64) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE statements_with_sorting (
    `query` longtext COLLATE utf8mb4_0900_ai_ci, `db` varchar(64) COLLATE utf8mb4_0900_ai_ci, `exec_count` bigint unsigned NOT NULL,
    `total_latency` varchar(11), `sort_merge_passes` bigint unsigned NOT NULL, `avg_sort_merges` decimal(21,0) NOT NULL,
    `sorts_using_scans` bigint unsigned NOT NULL, `sort_using_range` bigint unsigned NOT NULL,
    `rows_sorted` bigint unsigned NOT NULL, `avg_rows_sorted` decimal(21,0) NOT NULL, `first_seen` timestamp(6) NOT NULL,
    `last_seen` timestamp(6) NOT NULL, `digest` varchar(64) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE statements_with_temp_tables (
    `query` longtext COLLATE utf8mb4_0900_ai_ci, `db` varchar(64) COLLATE utf8mb4_0900_ai_ci, `exec_count` bigint unsigned NOT NULL,
    `total_latency` varchar(11), `memory_tmp_tables` bigint unsigned NOT NULL, `disk_tmp_tables` bigint unsigned NOT NULL,
    `avg_tmp_tables_per_query` decimal(21,0) NOT NULL, `tmp_tables_to_disk_pct` decimal(24,0) NOT NULL,
    `first_seen` timestamp(6) NOT NULL, `last_seen` timestamp(6) NOT NULL, `digest` varchar(64) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE sys_config (
    `variable` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `value` varchar(128) COLLATE utf8mb4_0900_ai_ci,
    `set_time` timestamp, `set_by` varchar(128) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE user_summary (
    `user` varchar(32) COLLATE utf8mb4_bin, `statements` decimal(64,0), `statement_latency` varchar(11),
    `statement_avg_latency` varchar(11), `table_scans` decimal(65,0), `file_ios` decimal(64,0), `file_io_latency` varchar(11),
    `current_connections` decimal(41,0), `total_connections` decimal(41,0), `unique_hosts` bigint NOT NULL,
    `current_memory` varchar(11), `total_memory_allocated` varchar(11));
CREATE TABLE user_summary_by_file_io (
    `user` varchar(32) COLLATE utf8mb4_bin, `ios` decimal(42,0), `io_latency` varchar(11));
CREATE TABLE user_summary_by_file_io_type (
    `user` varchar(32) COLLATE utf8mb4_bin, `event_name` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `total` bigint unsigned NOT NULL, `latency` varchar(11), `max_latency` varchar(11));
CREATE TABLE user_summary_by_stages (
    `user` varchar(32) COLLATE utf8mb4_bin, `event_name` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `total` bigint unsigned NOT NULL, `total_latency` varchar(11), `avg_latency` varchar(11));
CREATE TABLE user_summary_by_statement_latency (
    `user` varchar(32) COLLATE utf8mb4_bin, `total` decimal(42,0), `total_latency` varchar(11), `max_latency` varchar(11),
    `lock_latency` varchar(11), `cpu_latency` varchar(11), `rows_sent` decimal(42,0), `rows_examined` decimal(42,0),
    `rows_affected` decimal(42,0), `full_scans` decimal(43,0));
CREATE TABLE user_summary_by_statement_type (
    `user` varchar(32) COLLATE utf8mb4_bin, `statement` varchar(128) COLLATE utf8mb4_0900_ai_ci, `total` bigint unsigned NOT NULL,
    `total_latency` varchar(11), `max_latency` varchar(11), `lock_latency` varchar(11), `cpu_latency` varchar(11),
    `rows_sent` bigint unsigned NOT NULL, `rows_examined` bigint unsigned NOT NULL, `rows_affected` bigint unsigned NOT NULL,
    `full_scans` bigint unsigned NOT NULL);
CREATE TABLE version (
    `sys_version` varchar(5) COLLATE utf8mb4_0900_ai_ci NOT NULL, `mysql_version` varchar(7) NOT NULL);
CREATE TABLE wait_classes_global_by_avg_latency (
    `event_class` varchar(128) COLLATE utf8mb4_0900_ai_ci, `total` decimal(42,0), `total_latency` varchar(11),
    `min_latency` varchar(11), `avg_latency` varchar(11), `max_latency` varchar(11));
CREATE TABLE wait_classes_global_by_latency LIKE wait_classes_global_by_avg_latency;
CREATE TABLE waits_by_host_by_latency (
    `host` varchar(255) COLLATE ascii_general_ci, `event` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `total` bigint unsigned NOT NULL, `total_latency` varchar(11), `avg_latency` varchar(11), `max_latency` varchar(11));
CREATE TABLE waits_by_user_by_latency (
    `user` varchar(32) COLLATE utf8mb4_bin, `event` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `total` bigint unsigned NOT NULL, `total_latency` varchar(11), `avg_latency` varchar(11), `max_latency` varchar(11));
CREATE TABLE waits_global_by_latency (
    `events` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `total` bigint unsigned NOT NULL, `total_latency` varchar(11),
    `avg_latency` varchar(11), `max_latency` varchar(11));
CREATE TABLE `x$host_summary` (
    `host` varchar(255) COLLATE ascii_general_ci, `statements` decimal(64,0), `statement_latency` decimal(64,0),
    `statement_avg_latency` decimal(65,4), `table_scans` decimal(65,0), `file_ios` decimal(64,0), `file_io_latency` decimal(64,0),
    `current_connections` decimal(41,0), `total_connections` decimal(41,0), `unique_users` bigint NOT NULL,
    `current_memory` decimal(63,0), `total_memory_allocated` decimal(64,0));
CREATE TABLE `x$host_summary_by_file_io` (
    `host` varchar(255) COLLATE ascii_general_ci, `ios` decimal(42,0), `io_latency` decimal(42,0));
CREATE TABLE `x$host_summary_by_file_io_type` (
    `host` varchar(255) COLLATE ascii_general_ci, `event_name` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `total` bigint unsigned NOT NULL, `total_latency` bigint unsigned NOT NULL, `max_latency` bigint unsigned NOT NULL);
CREATE TABLE `x$host_summary_by_stages` (
    `host` varchar(255) COLLATE ascii_general_ci, `event_name` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `total` bigint unsigned NOT NULL, `total_latency` bigint unsigned NOT NULL, `avg_latency` bigint unsigned NOT NULL);
CREATE TABLE `x$host_summary_by_statement_latency` (
    `host` varchar(255) COLLATE ascii_general_ci, `total` decimal(42,0), `total_latency` decimal(42,0),
    `max_latency` bigint unsigned, `lock_latency` decimal(42,0), `cpu_latency` decimal(42,0), `rows_sent` decimal(42,0),
    `rows_examined` decimal(42,0), `rows_affected` decimal(42,0), `full_scans` decimal(43,0));
CREATE TABLE `x$host_summary_by_statement_type` (
    `host` varchar(255) COLLATE ascii_general_ci, `statement` varchar(128) COLLATE utf8mb4_0900_ai_ci,
    `total` bigint unsigned NOT NULL, `total_latency` bigint unsigned NOT NULL, `max_latency` bigint unsigned NOT NULL,
    `lock_latency` bigint unsigned NOT NULL, `cpu_latency` bigint unsigned NOT NULL, `rows_sent` bigint unsigned NOT NULL,
    `rows_examined` bigint unsigned NOT NULL, `rows_affected` bigint unsigned NOT NULL, `full_scans` bigint unsigned NOT NULL);
CREATE TABLE `x$innodb_buffer_stats_by_schema` (
    `object_schema` text COLLATE utf8mb3_general_ci, `allocated` decimal(44,0), `data` decimal(44,0), `pages` bigint NOT NULL,
    `pages_hashed` bigint NOT NULL, `pages_old` bigint NOT NULL, `rows_cached` decimal(45,0) NOT NULL);
CREATE TABLE `x$innodb_buffer_stats_by_table` (
    `object_schema` text COLLATE utf8mb3_general_ci, `object_name` text COLLATE utf8mb3_general_ci, `allocated` decimal(44,0),
    `data` decimal(44,0), `pages` bigint NOT NULL, `pages_hashed` bigint NOT NULL, `pages_old` bigint NOT NULL,
    `rows_cached` decimal(45,0) NOT NULL);
CREATE TABLE `x$innodb_lock_waits` (
    `wait_started` datetime, `wait_age` time, `wait_age_secs` bigint, `locked_table` mediumtext COLLATE utf8mb4_0900_ai_ci,
    `locked_table_schema` varchar(64) COLLATE utf8mb4_0900_ai_ci, `locked_table_name` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `locked_table_partition` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `locked_table_subpartition` varchar(64) COLLATE utf8mb4_0900_ai_ci, `locked_index` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `locked_type` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, `waiting_trx_id` bigint unsigned NOT NULL,
    `waiting_trx_started` datetime NOT NULL, `waiting_trx_age` time, `waiting_trx_rows_locked` bigint unsigned NOT NULL,
    `waiting_trx_rows_modified` bigint unsigned NOT NULL, `waiting_pid` bigint unsigned NOT NULL, `waiting_query` varchar(1024),
    `waiting_lock_id` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `waiting_lock_mode` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, `blocking_trx_id` bigint unsigned NOT NULL,
    `blocking_pid` bigint unsigned NOT NULL, `blocking_query` varchar(1024),
    `blocking_lock_id` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `blocking_lock_mode` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, `blocking_trx_started` datetime NOT NULL,
    `blocking_trx_age` time, `blocking_trx_rows_locked` bigint unsigned NOT NULL,
    `blocking_trx_rows_modified` bigint unsigned NOT NULL,
    `sql_kill_blocking_query` varchar(33) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `sql_kill_blocking_connection` varchar(27) COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE `x$io_by_thread_by_latency` (
    `user` varchar(288) COLLATE utf8mb4_0900_ai_ci, `total` decimal(42,0), `total_latency` decimal(42,0),
    `min_latency` bigint unsigned, `avg_latency` decimal(24,4), `max_latency` bigint unsigned, `thread_id` bigint unsigned NOT NULL,
    `processlist_id` bigint unsigned);
CREATE TABLE `x$io_global_by_file_by_bytes` (
    `file` varchar(512) COLLATE utf8mb4_0900_ai_ci NOT NULL, `count_read` bigint unsigned NOT NULL, `total_read` bigint NOT NULL,
    `avg_read` decimal(23,4) NOT NULL, `count_write` bigint unsigned NOT NULL, `total_written` bigint NOT NULL,
    `avg_write` decimal(23,4) NOT NULL, `total` bigint NOT NULL, `write_pct` decimal(26,2) NOT NULL);
CREATE TABLE `x$io_global_by_file_by_latency` (
    `file` varchar(512) COLLATE utf8mb4_0900_ai_ci NOT NULL, `total` bigint unsigned NOT NULL,
    `total_latency` bigint unsigned NOT NULL, `count_read` bigint unsigned NOT NULL, `read_latency` bigint unsigned NOT NULL,
    `count_write` bigint unsigned NOT NULL, `write_latency` bigint unsigned NOT NULL, `count_misc` bigint unsigned NOT NULL,
    `misc_latency` bigint unsigned NOT NULL);
CREATE TABLE `x$io_global_by_wait_by_bytes` (
    `event_name` varchar(128) COLLATE utf8mb4_0900_ai_ci, `total` bigint unsigned NOT NULL,
    `total_latency` bigint unsigned NOT NULL, `min_latency` bigint unsigned NOT NULL, `avg_latency` bigint unsigned NOT NULL,
    `max_latency` bigint unsigned NOT NULL, `count_read` bigint unsigned NOT NULL, `total_read` bigint NOT NULL,
    `avg_read` decimal(23,4) NOT NULL, `count_write` bigint unsigned NOT NULL, `total_written` bigint NOT NULL,
    `avg_written` decimal(23,4) NOT NULL, `total_requested` bigint NOT NULL);
CREATE TABLE `x$io_global_by_wait_by_latency` (
    `event_name` varchar(128) COLLATE utf8mb4_0900_ai_ci, `total` bigint unsigned NOT NULL,
    `total_latency` bigint unsigned NOT NULL, `avg_latency` bigint unsigned NOT NULL, `max_latency` bigint unsigned NOT NULL,
    `read_latency` bigint unsigned NOT NULL, `write_latency` bigint unsigned NOT NULL, `misc_latency` bigint unsigned NOT NULL,
    `count_read` bigint unsigned NOT NULL, `total_read` bigint NOT NULL, `avg_read` decimal(23,4) NOT NULL,
    `count_write` bigint unsigned NOT NULL, `total_written` bigint NOT NULL, `avg_written` decimal(23,4) NOT NULL);
CREATE TABLE `x$latest_file_io` (
    `thread` varchar(317) COLLATE utf8mb4_0900_ai_ci, `file` varchar(512) COLLATE utf8mb4_0900_ai_ci, `latency` bigint unsigned,
    `operation` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, `requested` bigint);
CREATE TABLE `x$memory_by_host_by_current_bytes` (
    `host` varchar(255) COLLATE ascii_general_ci, `current_count_used` decimal(41,0), `current_allocated` decimal(41,0),
    `current_avg_alloc` decimal(45,4) NOT NULL, `current_max_alloc` bigint, `total_allocated` decimal(42,0));
CREATE TABLE `x$memory_by_thread_by_current_bytes` (
    `thread_id` bigint unsigned NOT NULL, `user` varchar(288) COLLATE utf8mb4_0900_ai_ci, `current_count_used` decimal(41,0),
    `current_allocated` decimal(41,0), `current_avg_alloc` decimal(45,4) NOT NULL, `current_max_alloc` bigint,
    `total_allocated` decimal(42,0));
CREATE TABLE `x$memory_by_user_by_current_bytes` (
    `user` varchar(32) COLLATE utf8mb4_bin, `current_count_used` decimal(41,0), `current_allocated` decimal(41,0),
    `current_avg_alloc` decimal(45,4) NOT NULL, `current_max_alloc` bigint, `total_allocated` decimal(42,0));
CREATE TABLE `x$memory_global_by_current_bytes` (
    `event_name` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `current_count` bigint NOT NULL, `current_alloc` bigint NOT NULL,
    `current_avg_alloc` decimal(23,4) NOT NULL, `high_count` bigint NOT NULL, `high_alloc` bigint NOT NULL,
    `high_avg_alloc` decimal(23,4) NOT NULL);
CREATE TABLE `x$memory_global_total` (
    `total_allocated` decimal(41,0));
CREATE TABLE `x$processlist` (
    `thd_id` bigint unsigned NOT NULL, `conn_id` bigint unsigned, `user` varchar(288) COLLATE utf8mb4_0900_ai_ci,
    `db` varchar(64) COLLATE utf8mb4_0900_ai_ci, `command` varchar(16) COLLATE utf8mb4_0900_ai_ci,
    `state` varchar(64) COLLATE utf8mb4_0900_ai_ci, `time` bigint, `current_statement` longtext COLLATE utf8mb4_0900_ai_ci,
    `execution_engine` enum('PRIMARY','SECONDARY') COLLATE utf8mb4_0900_ai_ci, `statement_latency` bigint unsigned,
    `progress` decimal(26,2), `lock_latency` bigint unsigned, `cpu_latency` bigint unsigned, `rows_examined` bigint unsigned,
    `rows_sent` bigint unsigned, `rows_affected` bigint unsigned, `tmp_tables` bigint unsigned, `tmp_disk_tables` bigint unsigned,
    `full_scan` varchar(3) COLLATE utf8mb4_0900_ai_ci NOT NULL, `last_statement` longtext COLLATE utf8mb4_0900_ai_ci,
    `last_statement_latency` bigint unsigned, `current_memory` decimal(41,0), `last_wait` varchar(128) COLLATE utf8mb4_0900_ai_ci,
    `last_wait_latency` varchar(20) COLLATE utf8mb4_0900_ai_ci, `source` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `trx_latency` bigint unsigned, `trx_state` enum('ACTIVE','COMMITTED','ROLLED BACK') COLLATE utf8mb4_0900_ai_ci,
    `trx_autocommit` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci, `pid` varchar(1024) COLLATE utf8mb4_bin,
    `program_name` varchar(1024) COLLATE utf8mb4_bin);
CREATE TABLE `x$ps_digest_95th_percentile_by_avg_us` (
    `avg_us` decimal(21,0), `percentile` decimal(46,4) NOT NULL);
CREATE TABLE `x$ps_digest_avg_latency_distribution` (
    `cnt` bigint NOT NULL, `avg_us` decimal(21,0));
CREATE TABLE `x$ps_schema_table_statistics_io` (
    `table_schema` varchar(64) COLLATE utf8mb4_0900_ai_ci, `table_name` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `count_read` decimal(42,0), `sum_number_of_bytes_read` decimal(41,0), `sum_timer_read` decimal(42,0),
    `count_write` decimal(42,0), `sum_number_of_bytes_write` decimal(41,0), `sum_timer_write` decimal(42,0),
    `count_misc` decimal(42,0), `sum_timer_misc` decimal(42,0));
CREATE TABLE `x$schema_flattened_keys` (
    `table_schema` varchar(64) COLLATE utf8mb3_bin NOT NULL, `table_name` varchar(64) COLLATE utf8mb3_bin NOT NULL,
    `index_name` varchar(64) COLLATE utf8mb3_tolower_ci, `non_unique` int, `subpart_exists` bigint,
    `index_columns` text COLLATE utf8mb3_tolower_ci);
CREATE TABLE `x$schema_index_statistics` (
    `table_schema` varchar(64) COLLATE utf8mb4_0900_ai_ci, `table_name` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `index_name` varchar(64) COLLATE utf8mb4_0900_ai_ci, `rows_selected` bigint unsigned NOT NULL,
    `select_latency` bigint unsigned NOT NULL, `rows_inserted` bigint unsigned NOT NULL, `insert_latency` bigint unsigned NOT NULL,
    `rows_updated` bigint unsigned NOT NULL, `update_latency` bigint unsigned NOT NULL, `rows_deleted` bigint unsigned NOT NULL,
    `delete_latency` bigint unsigned NOT NULL);
CREATE TABLE `x$schema_table_lock_waits` LIKE schema_table_lock_waits;
CREATE TABLE `x$schema_table_statistics` (
    `table_schema` varchar(64) COLLATE utf8mb4_0900_ai_ci, `table_name` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `total_latency` bigint unsigned NOT NULL, `rows_fetched` bigint unsigned NOT NULL, `fetch_latency` bigint unsigned NOT NULL,
    `rows_inserted` bigint unsigned NOT NULL, `insert_latency` bigint unsigned NOT NULL, `rows_updated` bigint unsigned NOT NULL,
    `update_latency` bigint unsigned NOT NULL, `rows_deleted` bigint unsigned NOT NULL, `delete_latency` bigint unsigned NOT NULL,
    `io_read_requests` decimal(42,0), `io_read` decimal(41,0), `io_read_latency` decimal(42,0), `io_write_requests` decimal(42,0),
    `io_write` decimal(41,0), `io_write_latency` decimal(42,0), `io_misc_requests` decimal(42,0), `io_misc_latency` decimal(42,0));
CREATE TABLE `x$schema_table_statistics_with_buffer` (
    `table_schema` varchar(64) COLLATE utf8mb4_0900_ai_ci, `table_name` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `rows_fetched` bigint unsigned NOT NULL, `fetch_latency` bigint unsigned NOT NULL, `rows_inserted` bigint unsigned NOT NULL,
    `insert_latency` bigint unsigned NOT NULL, `rows_updated` bigint unsigned NOT NULL, `update_latency` bigint unsigned NOT NULL,
    `rows_deleted` bigint unsigned NOT NULL, `delete_latency` bigint unsigned NOT NULL, `io_read_requests` decimal(42,0),
    `io_read` decimal(41,0), `io_read_latency` decimal(42,0), `io_write_requests` decimal(42,0), `io_write` decimal(41,0),
    `io_write_latency` decimal(42,0), `io_misc_requests` decimal(42,0), `io_misc_latency` decimal(42,0),
    `innodb_buffer_allocated` decimal(44,0), `innodb_buffer_data` decimal(44,0), `innodb_buffer_free` decimal(45,0),
    `innodb_buffer_pages` bigint, `innodb_buffer_pages_hashed` bigint, `innodb_buffer_pages_old` bigint,
    `innodb_buffer_rows_cached` decimal(45,0));
CREATE TABLE `x$schema_tables_with_full_table_scans` (
    `object_schema` varchar(64) COLLATE utf8mb4_0900_ai_ci, `object_name` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `rows_full_scanned` bigint unsigned NOT NULL, `latency` bigint unsigned NOT NULL);
CREATE TABLE `x$session` LIKE `x$processlist`;
CREATE TABLE `x$statement_analysis` (
    `query` longtext COLLATE utf8mb4_0900_ai_ci, `db` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `full_scan` varchar(1) COLLATE utf8mb4_0900_ai_ci NOT NULL, `exec_count` bigint unsigned NOT NULL,
    `exec_secondary_count` bigint unsigned NOT NULL, `err_count` bigint unsigned NOT NULL, `warn_count` bigint unsigned NOT NULL,
    `total_latency` bigint unsigned NOT NULL, `max_latency` bigint unsigned NOT NULL, `avg_latency` bigint unsigned NOT NULL,
    `lock_latency` bigint unsigned NOT NULL, `cpu_latency` bigint unsigned NOT NULL, `rows_sent` bigint unsigned NOT NULL,
    `rows_sent_avg` decimal(21,0) NOT NULL, `rows_examined` bigint unsigned NOT NULL, `rows_examined_avg` decimal(21,0) NOT NULL,
    `rows_affected` bigint unsigned NOT NULL, `rows_affected_avg` decimal(21,0) NOT NULL, `tmp_tables` bigint unsigned NOT NULL,
    `tmp_disk_tables` bigint unsigned NOT NULL, `rows_sorted` bigint unsigned NOT NULL,
    `sort_merge_passes` bigint unsigned NOT NULL, `max_controlled_memory` bigint unsigned NOT NULL,
    `max_total_memory` bigint unsigned NOT NULL, `digest` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `first_seen` timestamp(6) NOT NULL, `last_seen` timestamp(6) NOT NULL);
CREATE TABLE `x$statements_with_errors_or_warnings` LIKE statements_with_errors_or_warnings;
CREATE TABLE `x$statements_with_full_table_scans` (
    `query` longtext COLLATE utf8mb4_0900_ai_ci, `db` varchar(64) COLLATE utf8mb4_0900_ai_ci, `exec_count` bigint unsigned NOT NULL,
    `total_latency` bigint unsigned NOT NULL, `no_index_used_count` bigint unsigned NOT NULL,
    `no_good_index_used_count` bigint unsigned NOT NULL, `no_index_used_pct` decimal(24,0) NOT NULL,
    `rows_sent` bigint unsigned NOT NULL, `rows_examined` bigint unsigned NOT NULL, `rows_sent_avg` decimal(21,0),
    `rows_examined_avg` decimal(21,0), `first_seen` timestamp(6) NOT NULL, `last_seen` timestamp(6) NOT NULL,
    `digest` varchar(64) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE `x$statements_with_runtimes_in_95th_percentile` (
    `query` longtext COLLATE utf8mb4_0900_ai_ci, `db` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `full_scan` varchar(1) COLLATE utf8mb4_0900_ai_ci NOT NULL, `exec_count` bigint unsigned NOT NULL,
    `err_count` bigint unsigned NOT NULL, `warn_count` bigint unsigned NOT NULL, `total_latency` bigint unsigned NOT NULL,
    `max_latency` bigint unsigned NOT NULL, `avg_latency` bigint unsigned NOT NULL, `rows_sent` bigint unsigned NOT NULL,
    `rows_sent_avg` decimal(21,0) NOT NULL, `rows_examined` bigint unsigned NOT NULL, `rows_examined_avg` decimal(21,0) NOT NULL,
    `first_seen` timestamp(6) NOT NULL, `last_seen` timestamp(6) NOT NULL, `digest` varchar(64) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE `x$statements_with_sorting` (
    `query` longtext COLLATE utf8mb4_0900_ai_ci, `db` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `exec_count` bigint unsigned NOT NULL, `total_latency` bigint unsigned NOT NULL, `sort_merge_passes` bigint unsigned NOT NULL,
    `avg_sort_merges` decimal(21,0) NOT NULL, `sorts_using_scans` bigint unsigned NOT NULL,
    `sort_using_range` bigint unsigned NOT NULL, `rows_sorted` bigint unsigned NOT NULL, `avg_rows_sorted` decimal(21,0) NOT NULL,
    `first_seen` timestamp(6) NOT NULL, `last_seen` timestamp(6) NOT NULL, `digest` varchar(64) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE `x$statements_with_temp_tables` (
    `query` longtext COLLATE utf8mb4_0900_ai_ci, `db` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `exec_count` bigint unsigned NOT NULL, `total_latency` bigint unsigned NOT NULL, `memory_tmp_tables` bigint unsigned NOT NULL,
    `disk_tmp_tables` bigint unsigned NOT NULL, `avg_tmp_tables_per_query` decimal(21,0) NOT NULL,
    `tmp_tables_to_disk_pct` decimal(24,0) NOT NULL, `first_seen` timestamp(6) NOT NULL, `last_seen` timestamp(6) NOT NULL,
    `digest` varchar(64) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE `x$user_summary` (
    `user` varchar(32) COLLATE utf8mb4_bin, `statements` decimal(64,0), `statement_latency` decimal(64,0),
    `statement_avg_latency` decimal(65,4) NOT NULL, `table_scans` decimal(65,0), `file_ios` decimal(64,0),
    `file_io_latency` decimal(64,0), `current_connections` decimal(41,0), `total_connections` decimal(41,0),
    `unique_hosts` bigint NOT NULL, `current_memory` decimal(63,0), `total_memory_allocated` decimal(64,0));
CREATE TABLE `x$user_summary_by_file_io` (
    `user` varchar(32) COLLATE utf8mb4_bin, `ios` decimal(42,0), `io_latency` decimal(42,0));
CREATE TABLE `x$user_summary_by_file_io_type` (
    `user` varchar(32) COLLATE utf8mb4_bin, `event_name` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `total` bigint unsigned NOT NULL, `latency` bigint unsigned NOT NULL, `max_latency` bigint unsigned NOT NULL);
CREATE TABLE `x$user_summary_by_stages` (
    `user` varchar(32) COLLATE utf8mb4_bin, `event_name` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `total` bigint unsigned NOT NULL, `total_latency` bigint unsigned NOT NULL, `avg_latency` bigint unsigned NOT NULL);
CREATE TABLE `x$user_summary_by_statement_latency` (
    `user` varchar(32) COLLATE utf8mb4_bin, `total` decimal(42,0), `total_latency` decimal(42,0), `max_latency` decimal(42,0),
    `lock_latency` decimal(42,0), `cpu_latency` decimal(42,0), `rows_sent` decimal(42,0), `rows_examined` decimal(42,0),
    `rows_affected` decimal(42,0), `full_scans` decimal(43,0));
CREATE TABLE `x$user_summary_by_statement_type` (
    `user` varchar(32) COLLATE utf8mb4_bin, `statement` varchar(128) COLLATE utf8mb4_0900_ai_ci, `total` bigint unsigned NOT NULL,
    `total_latency` bigint unsigned NOT NULL, `max_latency` bigint unsigned NOT NULL, `lock_latency` bigint unsigned NOT NULL,
    `cpu_latency` bigint unsigned NOT NULL, `rows_sent` bigint unsigned NOT NULL, `rows_examined` bigint unsigned NOT NULL,
    `rows_affected` bigint unsigned NOT NULL, `full_scans` bigint unsigned NOT NULL);
CREATE TABLE `x$wait_classes_global_by_avg_latency` (
    `event_class` varchar(128) COLLATE utf8mb4_0900_ai_ci, `total` decimal(42,0), `total_latency` decimal(42,0),
    `min_latency` bigint unsigned, `avg_latency` decimal(46,4) NOT NULL, `max_latency` bigint unsigned);
CREATE TABLE `x$wait_classes_global_by_latency` LIKE `x$wait_classes_global_by_avg_latency`;
CREATE TABLE `x$waits_by_host_by_latency` (
    `host` varchar(255) COLLATE ascii_general_ci, `event` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `total` bigint unsigned NOT NULL, `total_latency` bigint unsigned NOT NULL, `avg_latency` bigint unsigned NOT NULL,
    `max_latency` bigint unsigned NOT NULL);
CREATE TABLE `x$waits_by_user_by_latency` (
    `user` varchar(32) COLLATE utf8mb4_bin, `event` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `total` bigint unsigned NOT NULL, `total_latency` bigint unsigned NOT NULL, `avg_latency` bigint unsigned NOT NULL,
    `max_latency` bigint unsigned NOT NULL);
CREATE TABLE `x$waits_global_by_latency` (
    `events` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `total` bigint unsigned NOT NULL,
    `total_latency` bigint unsigned NOT NULL, `avg_latency` bigint unsigned NOT NULL, `max_latency` bigint unsigned NOT NULL);
