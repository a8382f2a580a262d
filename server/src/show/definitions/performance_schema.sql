CREATE TABLE accounts (
    `USER` char(32) COLLATE utf8mb4_bin, `HOST` char(255) COLLATE ascii_general_ci, `CURRENT_CONNECTIONS` bigint NOT NULL,
    `TOTAL_CONNECTIONS` bigint NOT NULL, `MAX_SESSION_CONTROLLED_MEMORY` bigint unsigned NOT NULL,
    `MAX_SESSION_TOTAL_MEMORY` bigint unsigned NOT NULL);
CREATE TABLE binary_log_transaction_compression_stats (
    `LOG_TYPE` enum('BINARY','RELAY') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COMPRESSION_TYPE` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `TRANSACTION_COUNTER` bigint unsigned NOT NULL,
    `COMPRESSED_BYTES_COUNTER` bigint unsigned NOT NULL, `UNCOMPRESSED_BYTES_COUNTER` bigint unsigned NOT NULL,
    `COMPRESSION_PERCENTAGE` smallint NOT NULL, `FIRST_TRANSACTION_ID` text COLLATE utf8mb4_0900_ai_ci,
    `FIRST_TRANSACTION_COMPRESSED_BYTES` bigint unsigned NOT NULL, `FIRST_TRANSACTION_UNCOMPRESSED_BYTES` bigint unsigned NOT NULL,
    `FIRST_TRANSACTION_TIMESTAMP` timestamp(6), `LAST_TRANSACTION_ID` text COLLATE utf8mb4_0900_ai_ci,
    `LAST_TRANSACTION_COMPRESSED_BYTES` bigint unsigned NOT NULL, `LAST_TRANSACTION_UNCOMPRESSED_BYTES` bigint unsigned NOT NULL,
    `LAST_TRANSACTION_TIMESTAMP` timestamp(6));
CREATE TABLE cond_instances (
    `NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL);
CREATE TABLE data_lock_waits (
    `ENGINE` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `REQUESTING_ENGINE_LOCK_ID` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `REQUESTING_ENGINE_TRANSACTION_ID` bigint unsigned, `REQUESTING_THREAD_ID` bigint unsigned,
    `REQUESTING_EVENT_ID` bigint unsigned, `REQUESTING_OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL,
    `BLOCKING_ENGINE_LOCK_ID` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `BLOCKING_ENGINE_TRANSACTION_ID` bigint unsigned,
    `BLOCKING_THREAD_ID` bigint unsigned, `BLOCKING_EVENT_ID` bigint unsigned,
    `BLOCKING_OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL);
CREATE TABLE data_locks (
    `ENGINE` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, `ENGINE_LOCK_ID` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `ENGINE_TRANSACTION_ID` bigint unsigned, `THREAD_ID` bigint unsigned, `EVENT_ID` bigint unsigned,
    `OBJECT_SCHEMA` varchar(64) COLLATE utf8mb4_0900_ai_ci, `OBJECT_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `PARTITION_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `SUBPARTITION_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `INDEX_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL,
    `LOCK_TYPE` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, `LOCK_MODE` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `LOCK_STATUS` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, `LOCK_DATA` varchar(8192) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE error_log (
    `LOGGED` timestamp(6) NOT NULL, `THREAD_ID` bigint unsigned,
    `PRIO` enum('System','Error','Warning','Note') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `ERROR_CODE` varchar(10) COLLATE utf8mb4_0900_ai_ci, `SUBSYSTEM` varchar(7) COLLATE utf8mb4_0900_ai_ci,
    `DATA` text COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE events_errors_summary_by_account_by_error (
    `USER` char(32) COLLATE utf8mb4_bin, `HOST` char(255) COLLATE ascii_general_ci, `ERROR_NUMBER` int,
    `ERROR_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `SQL_STATE` varchar(5) COLLATE utf8mb4_0900_ai_ci,
    `SUM_ERROR_RAISED` bigint unsigned NOT NULL, `SUM_ERROR_HANDLED` bigint unsigned NOT NULL, `FIRST_SEEN` timestamp,
    `LAST_SEEN` timestamp);
CREATE TABLE events_errors_summary_by_host_by_error (
    `HOST` char(255) COLLATE ascii_general_ci, `ERROR_NUMBER` int, `ERROR_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `SQL_STATE` varchar(5) COLLATE utf8mb4_0900_ai_ci, `SUM_ERROR_RAISED` bigint unsigned NOT NULL,
    `SUM_ERROR_HANDLED` bigint unsigned NOT NULL, `FIRST_SEEN` timestamp, `LAST_SEEN` timestamp);
CREATE TABLE events_errors_summary_by_thread_by_error (
    `THREAD_ID` bigint unsigned NOT NULL, `ERROR_NUMBER` int, `ERROR_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `SQL_STATE` varchar(5) COLLATE utf8mb4_0900_ai_ci, `SUM_ERROR_RAISED` bigint unsigned NOT NULL,
    `SUM_ERROR_HANDLED` bigint unsigned NOT NULL, `FIRST_SEEN` timestamp, `LAST_SEEN` timestamp);
CREATE TABLE events_errors_summary_by_user_by_error (
    `USER` char(32) COLLATE utf8mb4_bin, `ERROR_NUMBER` int, `ERROR_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `SQL_STATE` varchar(5) COLLATE utf8mb4_0900_ai_ci, `SUM_ERROR_RAISED` bigint unsigned NOT NULL,
    `SUM_ERROR_HANDLED` bigint unsigned NOT NULL, `FIRST_SEEN` timestamp, `LAST_SEEN` timestamp);
CREATE TABLE events_errors_summary_global_by_error (
    `ERROR_NUMBER` int, `ERROR_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `SQL_STATE` varchar(5) COLLATE utf8mb4_0900_ai_ci,
    `SUM_ERROR_RAISED` bigint unsigned NOT NULL, `SUM_ERROR_HANDLED` bigint unsigned NOT NULL, `FIRST_SEEN` timestamp,
    `LAST_SEEN` timestamp);
CREATE TABLE events_stages_current (
    `THREAD_ID` bigint unsigned NOT NULL, `EVENT_ID` bigint unsigned NOT NULL, `END_EVENT_ID` bigint unsigned,
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `SOURCE` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `TIMER_START` bigint unsigned, `TIMER_END` bigint unsigned, `TIMER_WAIT` bigint unsigned, `WORK_COMPLETED` bigint unsigned,
    `WORK_ESTIMATED` bigint unsigned, `NESTING_EVENT_ID` bigint unsigned,
    `NESTING_EVENT_TYPE` enum('TRANSACTION','STATEMENT','STAGE','WAIT') COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE events_stages_history LIKE events_stages_current;
CREATE TABLE events_stages_history_long LIKE events_stages_current;
CREATE TABLE events_stages_summary_by_account_by_event_name (
    `USER` char(32) COLLATE utf8mb4_bin, `HOST` char(255) COLLATE ascii_general_ci,
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL,
    `MAX_TIMER_WAIT` bigint unsigned NOT NULL);
CREATE TABLE events_stages_summary_by_host_by_event_name (
    `HOST` char(255) COLLATE ascii_general_ci, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL,
    `AVG_TIMER_WAIT` bigint unsigned NOT NULL, `MAX_TIMER_WAIT` bigint unsigned NOT NULL);
CREATE TABLE events_stages_summary_by_thread_by_event_name (
    `THREAD_ID` bigint unsigned NOT NULL, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL,
    `AVG_TIMER_WAIT` bigint unsigned NOT NULL, `MAX_TIMER_WAIT` bigint unsigned NOT NULL);
CREATE TABLE events_stages_summary_by_user_by_event_name (
    `USER` char(32) COLLATE utf8mb4_bin, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL,
    `AVG_TIMER_WAIT` bigint unsigned NOT NULL, `MAX_TIMER_WAIT` bigint unsigned NOT NULL);
CREATE TABLE events_stages_summary_global_by_event_name (
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL,
    `MAX_TIMER_WAIT` bigint unsigned NOT NULL);
CREATE TABLE events_statements_current (
    `THREAD_ID` bigint unsigned NOT NULL, `EVENT_ID` bigint unsigned NOT NULL, `END_EVENT_ID` bigint unsigned,
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `SOURCE` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `TIMER_START` bigint unsigned, `TIMER_END` bigint unsigned, `TIMER_WAIT` bigint unsigned, `LOCK_TIME` bigint unsigned NOT NULL,
    `SQL_TEXT` longtext COLLATE utf8mb4_0900_ai_ci, `DIGEST` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `DIGEST_TEXT` longtext COLLATE utf8mb4_0900_ai_ci, `CURRENT_SCHEMA` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `OBJECT_TYPE` varchar(64) COLLATE utf8mb4_0900_ai_ci, `OBJECT_SCHEMA` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `OBJECT_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `OBJECT_INSTANCE_BEGIN` bigint unsigned, `MYSQL_ERRNO` int,
    `RETURNED_SQLSTATE` varchar(5) COLLATE utf8mb4_0900_ai_ci, `MESSAGE_TEXT` varchar(128) COLLATE utf8mb4_0900_ai_ci,
    `ERRORS` bigint unsigned NOT NULL, `WARNINGS` bigint unsigned NOT NULL, `ROWS_AFFECTED` bigint unsigned NOT NULL,
    `ROWS_SENT` bigint unsigned NOT NULL, `ROWS_EXAMINED` bigint unsigned NOT NULL,
    `CREATED_TMP_DISK_TABLES` bigint unsigned NOT NULL, `CREATED_TMP_TABLES` bigint unsigned NOT NULL,
    `SELECT_FULL_JOIN` bigint unsigned NOT NULL, `SELECT_FULL_RANGE_JOIN` bigint unsigned NOT NULL,
    `SELECT_RANGE` bigint unsigned NOT NULL, `SELECT_RANGE_CHECK` bigint unsigned NOT NULL, `SELECT_SCAN` bigint unsigned NOT NULL,
    `SORT_MERGE_PASSES` bigint unsigned NOT NULL, `SORT_RANGE` bigint unsigned NOT NULL, `SORT_ROWS` bigint unsigned NOT NULL,
    `SORT_SCAN` bigint unsigned NOT NULL, `NO_INDEX_USED` bigint unsigned NOT NULL, `NO_GOOD_INDEX_USED` bigint unsigned NOT NULL,
    `NESTING_EVENT_ID` bigint unsigned,
    `NESTING_EVENT_TYPE` enum('TRANSACTION','STATEMENT','STAGE','WAIT') COLLATE utf8mb4_0900_ai_ci, `NESTING_EVENT_LEVEL` int,
    `STATEMENT_ID` bigint unsigned, `CPU_TIME` bigint unsigned NOT NULL, `MAX_CONTROLLED_MEMORY` bigint unsigned NOT NULL,
    `MAX_TOTAL_MEMORY` bigint unsigned NOT NULL, `EXECUTION_ENGINE` enum('PRIMARY','SECONDARY') COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE events_statements_histogram_by_digest (
    `SCHEMA_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `DIGEST` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `BUCKET_NUMBER` int unsigned NOT NULL, `BUCKET_TIMER_LOW` bigint unsigned NOT NULL,
    `BUCKET_TIMER_HIGH` bigint unsigned NOT NULL, `COUNT_BUCKET` bigint unsigned NOT NULL,
    `COUNT_BUCKET_AND_LOWER` bigint unsigned NOT NULL, `BUCKET_QUANTILE` double(7,6) NOT NULL);
CREATE TABLE events_statements_histogram_global (
    `BUCKET_NUMBER` int unsigned NOT NULL, `BUCKET_TIMER_LOW` bigint unsigned NOT NULL,
    `BUCKET_TIMER_HIGH` bigint unsigned NOT NULL, `COUNT_BUCKET` bigint unsigned NOT NULL,
    `COUNT_BUCKET_AND_LOWER` bigint unsigned NOT NULL, `BUCKET_QUANTILE` double(7,6) NOT NULL);
CREATE TABLE events_statements_history LIKE events_statements_current;
CREATE TABLE events_statements_history_long LIKE events_statements_current;
CREATE TABLE events_statements_summary_by_account_by_event_name (
    `USER` char(32) COLLATE utf8mb4_bin, `HOST` char(255) COLLATE ascii_general_ci,
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL,
    `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `SUM_LOCK_TIME` bigint unsigned NOT NULL, `SUM_ERRORS` bigint unsigned NOT NULL,
    `SUM_WARNINGS` bigint unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint unsigned NOT NULL, `SUM_ROWS_SENT` bigint unsigned NOT NULL,
    `SUM_ROWS_EXAMINED` bigint unsigned NOT NULL, `SUM_CREATED_TMP_DISK_TABLES` bigint unsigned NOT NULL,
    `SUM_CREATED_TMP_TABLES` bigint unsigned NOT NULL, `SUM_SELECT_FULL_JOIN` bigint unsigned NOT NULL,
    `SUM_SELECT_FULL_RANGE_JOIN` bigint unsigned NOT NULL, `SUM_SELECT_RANGE` bigint unsigned NOT NULL,
    `SUM_SELECT_RANGE_CHECK` bigint unsigned NOT NULL, `SUM_SELECT_SCAN` bigint unsigned NOT NULL,
    `SUM_SORT_MERGE_PASSES` bigint unsigned NOT NULL, `SUM_SORT_RANGE` bigint unsigned NOT NULL,
    `SUM_SORT_ROWS` bigint unsigned NOT NULL, `SUM_SORT_SCAN` bigint unsigned NOT NULL,
    `SUM_NO_INDEX_USED` bigint unsigned NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint unsigned NOT NULL,
    `SUM_CPU_TIME` bigint unsigned NOT NULL, `MAX_CONTROLLED_MEMORY` bigint unsigned NOT NULL,
    `MAX_TOTAL_MEMORY` bigint unsigned NOT NULL, `COUNT_SECONDARY` bigint unsigned NOT NULL);
CREATE TABLE events_statements_summary_by_digest (
    `SCHEMA_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `DIGEST` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `DIGEST_TEXT` longtext COLLATE utf8mb4_0900_ai_ci, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL,
    `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `SUM_LOCK_TIME` bigint unsigned NOT NULL, `SUM_ERRORS` bigint unsigned NOT NULL,
    `SUM_WARNINGS` bigint unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint unsigned NOT NULL, `SUM_ROWS_SENT` bigint unsigned NOT NULL,
    `SUM_ROWS_EXAMINED` bigint unsigned NOT NULL, `SUM_CREATED_TMP_DISK_TABLES` bigint unsigned NOT NULL,
    `SUM_CREATED_TMP_TABLES` bigint unsigned NOT NULL, `SUM_SELECT_FULL_JOIN` bigint unsigned NOT NULL,
    `SUM_SELECT_FULL_RANGE_JOIN` bigint unsigned NOT NULL, `SUM_SELECT_RANGE` bigint unsigned NOT NULL,
    `SUM_SELECT_RANGE_CHECK` bigint unsigned NOT NULL, `SUM_SELECT_SCAN` bigint unsigned NOT NULL,
    `SUM_SORT_MERGE_PASSES` bigint unsigned NOT NULL, `SUM_SORT_RANGE` bigint unsigned NOT NULL,
    `SUM_SORT_ROWS` bigint unsigned NOT NULL, `SUM_SORT_SCAN` bigint unsigned NOT NULL,
    `SUM_NO_INDEX_USED` bigint unsigned NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint unsigned NOT NULL,
    `SUM_CPU_TIME` bigint unsigned NOT NULL, `MAX_CONTROLLED_MEMORY` bigint unsigned NOT NULL,
    `MAX_TOTAL_MEMORY` bigint unsigned NOT NULL, `COUNT_SECONDARY` bigint unsigned NOT NULL, `FIRST_SEEN` timestamp(6) NOT NULL,
    `LAST_SEEN` timestamp(6) NOT NULL, `QUANTILE_95` bigint unsigned NOT NULL, `QUANTILE_99` bigint unsigned NOT NULL,
    `QUANTILE_999` bigint unsigned NOT NULL, `QUERY_SAMPLE_TEXT` longtext COLLATE utf8mb4_0900_ai_ci,
    `QUERY_SAMPLE_SEEN` timestamp(6) NOT NULL, `QUERY_SAMPLE_TIMER_WAIT` bigint unsigned NOT NULL);
CREATE TABLE events_statements_summary_by_host_by_event_name (
    `HOST` char(255) COLLATE ascii_general_ci, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL,
    `AVG_TIMER_WAIT` bigint unsigned NOT NULL, `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `SUM_LOCK_TIME` bigint unsigned NOT NULL,
    `SUM_ERRORS` bigint unsigned NOT NULL, `SUM_WARNINGS` bigint unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint unsigned NOT NULL,
    `SUM_ROWS_SENT` bigint unsigned NOT NULL, `SUM_ROWS_EXAMINED` bigint unsigned NOT NULL,
    `SUM_CREATED_TMP_DISK_TABLES` bigint unsigned NOT NULL, `SUM_CREATED_TMP_TABLES` bigint unsigned NOT NULL,
    `SUM_SELECT_FULL_JOIN` bigint unsigned NOT NULL, `SUM_SELECT_FULL_RANGE_JOIN` bigint unsigned NOT NULL,
    `SUM_SELECT_RANGE` bigint unsigned NOT NULL, `SUM_SELECT_RANGE_CHECK` bigint unsigned NOT NULL,
    `SUM_SELECT_SCAN` bigint unsigned NOT NULL, `SUM_SORT_MERGE_PASSES` bigint unsigned NOT NULL,
    `SUM_SORT_RANGE` bigint unsigned NOT NULL, `SUM_SORT_ROWS` bigint unsigned NOT NULL, `SUM_SORT_SCAN` bigint unsigned NOT NULL,
    `SUM_NO_INDEX_USED` bigint unsigned NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint unsigned NOT NULL,
    `SUM_CPU_TIME` bigint unsigned NOT NULL, `MAX_CONTROLLED_MEMORY` bigint unsigned NOT NULL,
    `MAX_TOTAL_MEMORY` bigint unsigned NOT NULL, `COUNT_SECONDARY` bigint unsigned NOT NULL);
CREATE TABLE events_statements_summary_by_program (
    `OBJECT_TYPE` enum('EVENT','FUNCTION','PROCEDURE','TABLE','TRIGGER') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `OBJECT_SCHEMA` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `OBJECT_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL,
    `AVG_TIMER_WAIT` bigint unsigned NOT NULL, `MAX_TIMER_WAIT` bigint unsigned NOT NULL,
    `COUNT_STATEMENTS` bigint unsigned NOT NULL, `SUM_STATEMENTS_WAIT` bigint unsigned NOT NULL,
    `MIN_STATEMENTS_WAIT` bigint unsigned NOT NULL, `AVG_STATEMENTS_WAIT` bigint unsigned NOT NULL,
    `MAX_STATEMENTS_WAIT` bigint unsigned NOT NULL, `SUM_LOCK_TIME` bigint unsigned NOT NULL, `SUM_ERRORS` bigint unsigned NOT NULL,
    `SUM_WARNINGS` bigint unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint unsigned NOT NULL, `SUM_ROWS_SENT` bigint unsigned NOT NULL,
    `SUM_ROWS_EXAMINED` bigint unsigned NOT NULL, `SUM_CREATED_TMP_DISK_TABLES` bigint unsigned NOT NULL,
    `SUM_CREATED_TMP_TABLES` bigint unsigned NOT NULL, `SUM_SELECT_FULL_JOIN` bigint unsigned NOT NULL,
    `SUM_SELECT_FULL_RANGE_JOIN` bigint unsigned NOT NULL, `SUM_SELECT_RANGE` bigint unsigned NOT NULL,
    `SUM_SELECT_RANGE_CHECK` bigint unsigned NOT NULL, `SUM_SELECT_SCAN` bigint unsigned NOT NULL,
    `SUM_SORT_MERGE_PASSES` bigint unsigned NOT NULL, `SUM_SORT_RANGE` bigint unsigned NOT NULL,
    `SUM_SORT_ROWS` bigint unsigned NOT NULL, `SUM_SORT_SCAN` bigint unsigned NOT NULL,
    `SUM_NO_INDEX_USED` bigint unsigned NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint unsigned NOT NULL,
    `SUM_CPU_TIME` bigint unsigned NOT NULL, `MAX_CONTROLLED_MEMORY` bigint unsigned NOT NULL,
    `MAX_TOTAL_MEMORY` bigint unsigned NOT NULL, `COUNT_SECONDARY` bigint unsigned NOT NULL);
CREATE TABLE events_statements_summary_by_thread_by_event_name (
    `THREAD_ID` bigint unsigned NOT NULL, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL,
    `AVG_TIMER_WAIT` bigint unsigned NOT NULL, `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `SUM_LOCK_TIME` bigint unsigned NOT NULL,
    `SUM_ERRORS` bigint unsigned NOT NULL, `SUM_WARNINGS` bigint unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint unsigned NOT NULL,
    `SUM_ROWS_SENT` bigint unsigned NOT NULL, `SUM_ROWS_EXAMINED` bigint unsigned NOT NULL,
    `SUM_CREATED_TMP_DISK_TABLES` bigint unsigned NOT NULL, `SUM_CREATED_TMP_TABLES` bigint unsigned NOT NULL,
    `SUM_SELECT_FULL_JOIN` bigint unsigned NOT NULL, `SUM_SELECT_FULL_RANGE_JOIN` bigint unsigned NOT NULL,
    `SUM_SELECT_RANGE` bigint unsigned NOT NULL, `SUM_SELECT_RANGE_CHECK` bigint unsigned NOT NULL,
    `SUM_SELECT_SCAN` bigint unsigned NOT NULL, `SUM_SORT_MERGE_PASSES` bigint unsigned NOT NULL,
    `SUM_SORT_RANGE` bigint unsigned NOT NULL, `SUM_SORT_ROWS` bigint unsigned NOT NULL, `SUM_SORT_SCAN` bigint unsigned NOT NULL,
    `SUM_NO_INDEX_USED` bigint unsigned NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint unsigned NOT NULL,
    `SUM_CPU_TIME` bigint unsigned NOT NULL, `MAX_CONTROLLED_MEMORY` bigint unsigned NOT NULL,
    `MAX_TOTAL_MEMORY` bigint unsigned NOT NULL, `COUNT_SECONDARY` bigint unsigned NOT NULL);
CREATE TABLE events_statements_summary_by_user_by_event_name (
    `USER` char(32) COLLATE utf8mb4_bin, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL,
    `AVG_TIMER_WAIT` bigint unsigned NOT NULL, `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `SUM_LOCK_TIME` bigint unsigned NOT NULL,
    `SUM_ERRORS` bigint unsigned NOT NULL, `SUM_WARNINGS` bigint unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint unsigned NOT NULL,
    `SUM_ROWS_SENT` bigint unsigned NOT NULL, `SUM_ROWS_EXAMINED` bigint unsigned NOT NULL,
    `SUM_CREATED_TMP_DISK_TABLES` bigint unsigned NOT NULL, `SUM_CREATED_TMP_TABLES` bigint unsigned NOT NULL,
    `SUM_SELECT_FULL_JOIN` bigint unsigned NOT NULL, `SUM_SELECT_FULL_RANGE_JOIN` bigint unsigned NOT NULL,
    `SUM_SELECT_RANGE` bigint unsigned NOT NULL, `SUM_SELECT_RANGE_CHECK` bigint unsigned NOT NULL,
    `SUM_SELECT_SCAN` bigint unsigned NOT NULL, `SUM_SORT_MERGE_PASSES` bigint unsigned NOT NULL,
    `SUM_SORT_RANGE` bigint unsigned NOT NULL, `SUM_SORT_ROWS` bigint unsigned NOT NULL, `SUM_SORT_SCAN` bigint unsigned NOT NULL,
    `SUM_NO_INDEX_USED` bigint unsigned NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint unsigned NOT NULL,
    `SUM_CPU_TIME` bigint unsigned NOT NULL, `MAX_CONTROLLED_MEMORY` bigint unsigned NOT NULL,
    `MAX_TOTAL_MEMORY` bigint unsigned NOT NULL, `COUNT_SECONDARY` bigint unsigned NOT NULL);
CREATE TABLE events_statements_summary_global_by_event_name (
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL,
    `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `SUM_LOCK_TIME` bigint unsigned NOT NULL, `SUM_ERRORS` bigint unsigned NOT NULL,
    `SUM_WARNINGS` bigint unsigned NOT NULL, `SUM_ROWS_AFFECTED` bigint unsigned NOT NULL, `SUM_ROWS_SENT` bigint unsigned NOT NULL,
    `SUM_ROWS_EXAMINED` bigint unsigned NOT NULL, `SUM_CREATED_TMP_DISK_TABLES` bigint unsigned NOT NULL,
    `SUM_CREATED_TMP_TABLES` bigint unsigned NOT NULL, `SUM_SELECT_FULL_JOIN` bigint unsigned NOT NULL,
    `SUM_SELECT_FULL_RANGE_JOIN` bigint unsigned NOT NULL, `SUM_SELECT_RANGE` bigint unsigned NOT NULL,
    `SUM_SELECT_RANGE_CHECK` bigint unsigned NOT NULL, `SUM_SELECT_SCAN` bigint unsigned NOT NULL,
    `SUM_SORT_MERGE_PASSES` bigint unsigned NOT NULL, `SUM_SORT_RANGE` bigint unsigned NOT NULL,
    `SUM_SORT_ROWS` bigint unsigned NOT NULL, `SUM_SORT_SCAN` bigint unsigned NOT NULL,
    `SUM_NO_INDEX_USED` bigint unsigned NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint unsigned NOT NULL,
    `SUM_CPU_TIME` bigint unsigned NOT NULL, `MAX_CONTROLLED_MEMORY` bigint unsigned NOT NULL,
    `MAX_TOTAL_MEMORY` bigint unsigned NOT NULL, `COUNT_SECONDARY` bigint unsigned NOT NULL);
CREATE TABLE events_transactions_current (
    `THREAD_ID` bigint unsigned NOT NULL, `EVENT_ID` bigint unsigned NOT NULL, `END_EVENT_ID` bigint unsigned,
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `STATE` enum('ACTIVE','COMMITTED','ROLLED BACK') COLLATE utf8mb4_0900_ai_ci, `TRX_ID` bigint unsigned,
    `GTID` varchar(90) COLLATE utf8mb4_0900_ai_ci, `XID_FORMAT_ID` int, `XID_GTRID` varchar(130) COLLATE utf8mb4_0900_ai_ci,
    `XID_BQUAL` varchar(130) COLLATE utf8mb4_0900_ai_ci, `XA_STATE` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `SOURCE` varchar(64) COLLATE utf8mb4_0900_ai_ci, `TIMER_START` bigint unsigned, `TIMER_END` bigint unsigned,
    `TIMER_WAIT` bigint unsigned, `ACCESS_MODE` enum('READ ONLY','READ WRITE') COLLATE utf8mb4_0900_ai_ci,
    `ISOLATION_LEVEL` varchar(64) COLLATE utf8mb4_0900_ai_ci, `AUTOCOMMIT` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `NUMBER_OF_SAVEPOINTS` bigint unsigned, `NUMBER_OF_ROLLBACK_TO_SAVEPOINT` bigint unsigned,
    `NUMBER_OF_RELEASE_SAVEPOINT` bigint unsigned, `OBJECT_INSTANCE_BEGIN` bigint unsigned, `NESTING_EVENT_ID` bigint unsigned,
    `NESTING_EVENT_TYPE` enum('TRANSACTION','STATEMENT','STAGE','WAIT') COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE events_transactions_history LIKE events_transactions_current;
CREATE TABLE events_transactions_history_long LIKE events_transactions_current;
CREATE TABLE events_transactions_summary_by_account_by_event_name (
    `USER` char(32) COLLATE utf8mb4_bin, `HOST` char(255) COLLATE ascii_general_ci,
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL,
    `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `COUNT_READ_WRITE` bigint unsigned NOT NULL,
    `SUM_TIMER_READ_WRITE` bigint unsigned NOT NULL, `MIN_TIMER_READ_WRITE` bigint unsigned NOT NULL,
    `AVG_TIMER_READ_WRITE` bigint unsigned NOT NULL, `MAX_TIMER_READ_WRITE` bigint unsigned NOT NULL,
    `COUNT_READ_ONLY` bigint unsigned NOT NULL, `SUM_TIMER_READ_ONLY` bigint unsigned NOT NULL,
    `MIN_TIMER_READ_ONLY` bigint unsigned NOT NULL, `AVG_TIMER_READ_ONLY` bigint unsigned NOT NULL,
    `MAX_TIMER_READ_ONLY` bigint unsigned NOT NULL);
CREATE TABLE events_transactions_summary_by_host_by_event_name (
    `HOST` char(255) COLLATE ascii_general_ci, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL,
    `AVG_TIMER_WAIT` bigint unsigned NOT NULL, `MAX_TIMER_WAIT` bigint unsigned NOT NULL,
    `COUNT_READ_WRITE` bigint unsigned NOT NULL, `SUM_TIMER_READ_WRITE` bigint unsigned NOT NULL,
    `MIN_TIMER_READ_WRITE` bigint unsigned NOT NULL, `AVG_TIMER_READ_WRITE` bigint unsigned NOT NULL,
    `MAX_TIMER_READ_WRITE` bigint unsigned NOT NULL, `COUNT_READ_ONLY` bigint unsigned NOT NULL,
    `SUM_TIMER_READ_ONLY` bigint unsigned NOT NULL, `MIN_TIMER_READ_ONLY` bigint unsigned NOT NULL,
    `AVG_TIMER_READ_ONLY` bigint unsigned NOT NULL, `MAX_TIMER_READ_ONLY` bigint unsigned NOT NULL);
CREATE TABLE events_transactions_summary_by_thread_by_event_name (
    `THREAD_ID` bigint unsigned NOT NULL, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL,
    `AVG_TIMER_WAIT` bigint unsigned NOT NULL, `MAX_TIMER_WAIT` bigint unsigned NOT NULL,
    `COUNT_READ_WRITE` bigint unsigned NOT NULL, `SUM_TIMER_READ_WRITE` bigint unsigned NOT NULL,
    `MIN_TIMER_READ_WRITE` bigint unsigned NOT NULL, `AVG_TIMER_READ_WRITE` bigint unsigned NOT NULL,
    `MAX_TIMER_READ_WRITE` bigint unsigned NOT NULL, `COUNT_READ_ONLY` bigint unsigned NOT NULL,
    `SUM_TIMER_READ_ONLY` bigint unsigned NOT NULL, `MIN_TIMER_READ_ONLY` bigint unsigned NOT NULL,
    `AVG_TIMER_READ_ONLY` bigint unsigned NOT NULL, `MAX_TIMER_READ_ONLY` bigint unsigned NOT NULL);
CREATE TABLE events_transactions_summary_by_user_by_event_name (
    `USER` char(32) COLLATE utf8mb4_bin, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL,
    `AVG_TIMER_WAIT` bigint unsigned NOT NULL, `MAX_TIMER_WAIT` bigint unsigned NOT NULL,
    `COUNT_READ_WRITE` bigint unsigned NOT NULL, `SUM_TIMER_READ_WRITE` bigint unsigned NOT NULL,
    `MIN_TIMER_READ_WRITE` bigint unsigned NOT NULL, `AVG_TIMER_READ_WRITE` bigint unsigned NOT NULL,
    `MAX_TIMER_READ_WRITE` bigint unsigned NOT NULL, `COUNT_READ_ONLY` bigint unsigned NOT NULL,
    `SUM_TIMER_READ_ONLY` bigint unsigned NOT NULL, `MIN_TIMER_READ_ONLY` bigint unsigned NOT NULL,
    `AVG_TIMER_READ_ONLY` bigint unsigned NOT NULL, `MAX_TIMER_READ_ONLY` bigint unsigned NOT NULL);
CREATE TABLE events_transactions_summary_global_by_event_name (
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL,
    `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `COUNT_READ_WRITE` bigint unsigned NOT NULL,
    `SUM_TIMER_READ_WRITE` bigint unsigned NOT NULL, `MIN_TIMER_READ_WRITE` bigint unsigned NOT NULL,
    `AVG_TIMER_READ_WRITE` bigint unsigned NOT NULL, `MAX_TIMER_READ_WRITE` bigint unsigned NOT NULL,
    `COUNT_READ_ONLY` bigint unsigned NOT NULL, `SUM_TIMER_READ_ONLY` bigint unsigned NOT NULL,
    `MIN_TIMER_READ_ONLY` bigint unsigned NOT NULL, `AVG_TIMER_READ_ONLY` bigint unsigned NOT NULL,
    `MAX_TIMER_READ_ONLY` bigint unsigned NOT NULL);
CREATE TABLE events_waits_current (
    `THREAD_ID` bigint unsigned NOT NULL, `EVENT_ID` bigint unsigned NOT NULL, `END_EVENT_ID` bigint unsigned,
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `SOURCE` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `TIMER_START` bigint unsigned, `TIMER_END` bigint unsigned, `TIMER_WAIT` bigint unsigned, `SPINS` int unsigned,
    `OBJECT_SCHEMA` varchar(64) COLLATE utf8mb4_0900_ai_ci, `OBJECT_NAME` varchar(512) COLLATE utf8mb4_0900_ai_ci,
    `INDEX_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `OBJECT_TYPE` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL, `NESTING_EVENT_ID` bigint unsigned,
    `NESTING_EVENT_TYPE` enum('TRANSACTION','STATEMENT','STAGE','WAIT') COLLATE utf8mb4_0900_ai_ci,
    `OPERATION` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, `NUMBER_OF_BYTES` bigint, `FLAGS` int unsigned);
CREATE TABLE events_waits_history LIKE events_waits_current;
CREATE TABLE events_waits_history_long LIKE events_waits_current;
CREATE TABLE events_waits_summary_by_account_by_event_name LIKE events_stages_summary_by_account_by_event_name;
CREATE TABLE events_waits_summary_by_host_by_event_name LIKE events_stages_summary_by_host_by_event_name;
CREATE TABLE events_waits_summary_by_instance (
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL,
    `AVG_TIMER_WAIT` bigint unsigned NOT NULL, `MAX_TIMER_WAIT` bigint unsigned NOT NULL);
CREATE TABLE events_waits_summary_by_thread_by_event_name LIKE events_stages_summary_by_thread_by_event_name;
CREATE TABLE events_waits_summary_by_user_by_event_name LIKE events_stages_summary_by_user_by_event_name;
CREATE TABLE events_waits_summary_global_by_event_name LIKE events_stages_summary_global_by_event_name;
CREATE TABLE file_instances (
    `FILE_NAME` varchar(512) COLLATE utf8mb4_0900_ai_ci NOT NULL, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `OPEN_COUNT` int unsigned NOT NULL);
CREATE TABLE file_summary_by_event_name (
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL,
    `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `COUNT_READ` bigint unsigned NOT NULL, `SUM_TIMER_READ` bigint unsigned NOT NULL,
    `MIN_TIMER_READ` bigint unsigned NOT NULL, `AVG_TIMER_READ` bigint unsigned NOT NULL, `MAX_TIMER_READ` bigint unsigned NOT NULL,
    `SUM_NUMBER_OF_BYTES_READ` bigint NOT NULL, `COUNT_WRITE` bigint unsigned NOT NULL, `SUM_TIMER_WRITE` bigint unsigned NOT NULL,
    `MIN_TIMER_WRITE` bigint unsigned NOT NULL, `AVG_TIMER_WRITE` bigint unsigned NOT NULL,
    `MAX_TIMER_WRITE` bigint unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_WRITE` bigint NOT NULL, `COUNT_MISC` bigint unsigned NOT NULL,
    `SUM_TIMER_MISC` bigint unsigned NOT NULL, `MIN_TIMER_MISC` bigint unsigned NOT NULL, `AVG_TIMER_MISC` bigint unsigned NOT NULL,
    `MAX_TIMER_MISC` bigint unsigned NOT NULL);
CREATE TABLE file_summary_by_instance (
    `FILE_NAME` varchar(512) COLLATE utf8mb4_0900_ai_ci NOT NULL, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL,
    `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `COUNT_READ` bigint unsigned NOT NULL, `SUM_TIMER_READ` bigint unsigned NOT NULL,
    `MIN_TIMER_READ` bigint unsigned NOT NULL, `AVG_TIMER_READ` bigint unsigned NOT NULL, `MAX_TIMER_READ` bigint unsigned NOT NULL,
    `SUM_NUMBER_OF_BYTES_READ` bigint NOT NULL, `COUNT_WRITE` bigint unsigned NOT NULL, `SUM_TIMER_WRITE` bigint unsigned NOT NULL,
    `MIN_TIMER_WRITE` bigint unsigned NOT NULL, `AVG_TIMER_WRITE` bigint unsigned NOT NULL,
    `MAX_TIMER_WRITE` bigint unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_WRITE` bigint NOT NULL, `COUNT_MISC` bigint unsigned NOT NULL,
    `SUM_TIMER_MISC` bigint unsigned NOT NULL, `MIN_TIMER_MISC` bigint unsigned NOT NULL, `AVG_TIMER_MISC` bigint unsigned NOT NULL,
    `MAX_TIMER_MISC` bigint unsigned NOT NULL);
CREATE TABLE global_status (
    `VARIABLE_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `VARIABLE_VALUE` varchar(1024) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE global_variables LIKE global_status;
CREATE TABLE heddle_kept_executions (
    `SCHEMA_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `DIGEST` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `THREAD_ID` bigint unsigned NOT NULL, `USER` char(32) COLLATE utf8mb4_bin, `ENDED` timestamp(6) NOT NULL,
    `TIMER_WAIT` bigint unsigned NOT NULL, `CPU_TIME` bigint unsigned NOT NULL, `LOCK_TIME` bigint unsigned NOT NULL,
    `SQL_TEXT` longtext COLLATE utf8mb4_0900_ai_ci NOT NULL, `IS_CUT` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `MYSQL_ERRNO` int unsigned NOT NULL, `ROWS_SENT` bigint unsigned NOT NULL, `ROWS_EXAMINED` bigint unsigned NOT NULL,
    `ROWS_AFFECTED` bigint unsigned NOT NULL, `DECODE_TIME` bigint unsigned NOT NULL, `PARSE_TIME` bigint unsigned NOT NULL,
    `PLAN_TIME` bigint unsigned NOT NULL, `EXECUTE_TIME` bigint unsigned NOT NULL, `ENCODE_TIME` bigint unsigned NOT NULL,
    `COMMIT_TIME` bigint unsigned NOT NULL, `WAITS` longtext COLLATE utf8mb4_0900_ai_ci,
    `PLAN_HASH` varchar(16) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE heddle_phases_by_digest (
    `SCHEMA_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `DIGEST` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_CPU_TIME` bigint unsigned NOT NULL, `SUM_DECODE_TIME` bigint unsigned NOT NULL,
    `SUM_PARSE_TIME` bigint unsigned NOT NULL, `SUM_PLAN_TIME` bigint unsigned NOT NULL, `SUM_EXECUTE_TIME` bigint unsigned NOT NULL,
    `SUM_ENCODE_TIME` bigint unsigned NOT NULL, `SUM_COMMIT_TIME` bigint unsigned NOT NULL);
CREATE TABLE heddle_plans_by_digest (
    `SCHEMA_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `DIGEST` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `PLAN_HASH` varchar(16) COLLATE utf8mb4_0900_ai_ci NOT NULL, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_CPU_TIME` bigint unsigned NOT NULL, `AVG_CPU_TIME` bigint unsigned NOT NULL, `FIRST_SEEN` timestamp(6) NOT NULL,
    `LAST_SEEN` timestamp(6) NOT NULL, `PLAN` longtext COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE heddle_waits_by_digest (
    `SCHEMA_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `DIGEST` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL, `MAX_TIMER_WAIT` bigint unsigned NOT NULL);
CREATE TABLE heddle_waits_by_object (
    `OBJECT_SCHEMA` varchar(64) COLLATE utf8mb4_0900_ai_ci, `OBJECT_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `INDEX_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL,
    `MAX_TIMER_WAIT` bigint unsigned NOT NULL);
CREATE TABLE host_cache (
    `IP` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `HOST` varchar(255) COLLATE ascii_general_ci,
    `HOST_VALIDATED` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL, `SUM_CONNECT_ERRORS` bigint NOT NULL,
    `COUNT_HOST_BLOCKED_ERRORS` bigint NOT NULL, `COUNT_NAMEINFO_TRANSIENT_ERRORS` bigint NOT NULL,
    `COUNT_NAMEINFO_PERMANENT_ERRORS` bigint NOT NULL, `COUNT_FORMAT_ERRORS` bigint NOT NULL,
    `COUNT_ADDRINFO_TRANSIENT_ERRORS` bigint NOT NULL, `COUNT_ADDRINFO_PERMANENT_ERRORS` bigint NOT NULL,
    `COUNT_FCRDNS_ERRORS` bigint NOT NULL, `COUNT_HOST_ACL_ERRORS` bigint NOT NULL, `COUNT_NO_AUTH_PLUGIN_ERRORS` bigint NOT NULL,
    `COUNT_AUTH_PLUGIN_ERRORS` bigint NOT NULL, `COUNT_HANDSHAKE_ERRORS` bigint NOT NULL, `COUNT_PROXY_USER_ERRORS` bigint NOT NULL,
    `COUNT_PROXY_USER_ACL_ERRORS` bigint NOT NULL, `COUNT_AUTHENTICATION_ERRORS` bigint NOT NULL,
    `COUNT_SSL_ERRORS` bigint NOT NULL, `COUNT_MAX_USER_CONNECTIONS_ERRORS` bigint NOT NULL,
    `COUNT_MAX_USER_CONNECTIONS_PER_HOUR_ERRORS` bigint NOT NULL, `COUNT_DEFAULT_DATABASE_ERRORS` bigint NOT NULL,
    `COUNT_INIT_CONNECT_ERRORS` bigint NOT NULL, `COUNT_LOCAL_ERRORS` bigint NOT NULL,
    `COUNT_ACCOUNT_LOCKED_ERRORS` bigint NOT NULL, `COUNT_TEMPORARY_ACCOUNT_LOCKED_ERRORS` bigint NOT NULL,
    `COUNT_UNKNOWN_ERRORS` bigint NOT NULL, `FIRST_SEEN` timestamp NOT NULL, `LAST_SEEN` timestamp NOT NULL,
    `FIRST_ERROR_SEEN` timestamp, `LAST_ERROR_SEEN` timestamp);
CREATE TABLE hosts (
    `HOST` char(255) COLLATE ascii_general_ci, `CURRENT_CONNECTIONS` bigint NOT NULL, `TOTAL_CONNECTIONS` bigint NOT NULL,
    `MAX_SESSION_CONTROLLED_MEMORY` bigint unsigned NOT NULL, `MAX_SESSION_TOTAL_MEMORY` bigint unsigned NOT NULL);
CREATE TABLE innodb_redo_log_files (
    `FILE_ID` bigint NOT NULL, `FILE_NAME` varchar(2000) COLLATE utf8mb4_0900_ai_ci NOT NULL, `START_LSN` bigint NOT NULL,
    `END_LSN` bigint NOT NULL, `SIZE_IN_BYTES` bigint NOT NULL, `IS_FULL` tinyint NOT NULL, `CONSUMER_LEVEL` int NOT NULL);
CREATE TABLE keyring_component_status (
    `STATUS_KEY` varchar(256) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `STATUS_VALUE` varchar(1024) COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE keyring_keys (
    `KEY_ID` varchar(255) COLLATE utf8mb4_bin NOT NULL, `KEY_OWNER` varchar(255) COLLATE utf8mb4_bin,
    `BACKEND_KEY_ID` varchar(255) COLLATE utf8mb4_bin);
CREATE TABLE log_status (
    `SERVER_UUID` char(36) COLLATE utf8mb4_bin NOT NULL, `LOCAL` json NOT NULL, `REPLICATION` json NOT NULL,
    `STORAGE_ENGINES` json NOT NULL);
CREATE TABLE memory_summary_by_account_by_event_name (
    `USER` char(32) COLLATE utf8mb4_bin, `HOST` char(255) COLLATE ascii_general_ci,
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `COUNT_ALLOC` bigint unsigned NOT NULL,
    `COUNT_FREE` bigint unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_ALLOC` bigint unsigned NOT NULL,
    `SUM_NUMBER_OF_BYTES_FREE` bigint unsigned NOT NULL, `LOW_COUNT_USED` bigint NOT NULL, `CURRENT_COUNT_USED` bigint NOT NULL,
    `HIGH_COUNT_USED` bigint NOT NULL, `LOW_NUMBER_OF_BYTES_USED` bigint NOT NULL, `CURRENT_NUMBER_OF_BYTES_USED` bigint NOT NULL,
    `HIGH_NUMBER_OF_BYTES_USED` bigint NOT NULL);
CREATE TABLE memory_summary_by_host_by_event_name (
    `HOST` char(255) COLLATE ascii_general_ci, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_ALLOC` bigint unsigned NOT NULL, `COUNT_FREE` bigint unsigned NOT NULL,
    `SUM_NUMBER_OF_BYTES_ALLOC` bigint unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_FREE` bigint unsigned NOT NULL,
    `LOW_COUNT_USED` bigint NOT NULL, `CURRENT_COUNT_USED` bigint NOT NULL, `HIGH_COUNT_USED` bigint NOT NULL,
    `LOW_NUMBER_OF_BYTES_USED` bigint NOT NULL, `CURRENT_NUMBER_OF_BYTES_USED` bigint NOT NULL,
    `HIGH_NUMBER_OF_BYTES_USED` bigint NOT NULL);
CREATE TABLE memory_summary_by_thread_by_event_name (
    `THREAD_ID` bigint unsigned NOT NULL, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_ALLOC` bigint unsigned NOT NULL, `COUNT_FREE` bigint unsigned NOT NULL,
    `SUM_NUMBER_OF_BYTES_ALLOC` bigint unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_FREE` bigint unsigned NOT NULL,
    `LOW_COUNT_USED` bigint NOT NULL, `CURRENT_COUNT_USED` bigint NOT NULL, `HIGH_COUNT_USED` bigint NOT NULL,
    `LOW_NUMBER_OF_BYTES_USED` bigint NOT NULL, `CURRENT_NUMBER_OF_BYTES_USED` bigint NOT NULL,
    `HIGH_NUMBER_OF_BYTES_USED` bigint NOT NULL);
CREATE TABLE memory_summary_by_user_by_event_name (
    `USER` char(32) COLLATE utf8mb4_bin, `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_ALLOC` bigint unsigned NOT NULL, `COUNT_FREE` bigint unsigned NOT NULL,
    `SUM_NUMBER_OF_BYTES_ALLOC` bigint unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_FREE` bigint unsigned NOT NULL,
    `LOW_COUNT_USED` bigint NOT NULL, `CURRENT_COUNT_USED` bigint NOT NULL, `HIGH_COUNT_USED` bigint NOT NULL,
    `LOW_NUMBER_OF_BYTES_USED` bigint NOT NULL, `CURRENT_NUMBER_OF_BYTES_USED` bigint NOT NULL,
    `HIGH_NUMBER_OF_BYTES_USED` bigint NOT NULL);
CREATE TABLE memory_summary_global_by_event_name (
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `COUNT_ALLOC` bigint unsigned NOT NULL,
    `COUNT_FREE` bigint unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_ALLOC` bigint unsigned NOT NULL,
    `SUM_NUMBER_OF_BYTES_FREE` bigint unsigned NOT NULL, `LOW_COUNT_USED` bigint NOT NULL, `CURRENT_COUNT_USED` bigint NOT NULL,
    `HIGH_COUNT_USED` bigint NOT NULL, `LOW_NUMBER_OF_BYTES_USED` bigint NOT NULL, `CURRENT_NUMBER_OF_BYTES_USED` bigint NOT NULL,
    `HIGH_NUMBER_OF_BYTES_USED` bigint NOT NULL);
CREATE TABLE metadata_locks (
    `OBJECT_TYPE` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `OBJECT_SCHEMA` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `OBJECT_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `COLUMN_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL, `LOCK_TYPE` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `LOCK_DURATION` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL, `LOCK_STATUS` varchar(32) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `SOURCE` varchar(64) COLLATE utf8mb4_0900_ai_ci, `OWNER_THREAD_ID` bigint unsigned, `OWNER_EVENT_ID` bigint unsigned);
CREATE TABLE mutex_instances (
    `NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL,
    `LOCKED_BY_THREAD_ID` bigint unsigned);
CREATE TABLE objects_summary_global_by_type (
    `OBJECT_TYPE` varchar(64) COLLATE utf8mb4_0900_ai_ci, `OBJECT_SCHEMA` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `OBJECT_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL,
    `MAX_TIMER_WAIT` bigint unsigned NOT NULL);
CREATE TABLE performance_timers (
    `TIMER_NAME` enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND','THREAD_CPU') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `TIMER_FREQUENCY` bigint, `TIMER_RESOLUTION` bigint, `TIMER_OVERHEAD` bigint);
CREATE TABLE persisted_variables LIKE global_status;
CREATE TABLE prepared_statements_instances (
    `OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL, `STATEMENT_ID` bigint unsigned NOT NULL,
    `STATEMENT_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `SQL_TEXT` longtext COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `OWNER_THREAD_ID` bigint unsigned NOT NULL, `OWNER_EVENT_ID` bigint unsigned NOT NULL,
    `OWNER_OBJECT_TYPE` enum('EVENT','FUNCTION','PROCEDURE','TABLE','TRIGGER') COLLATE utf8mb4_0900_ai_ci,
    `OWNER_OBJECT_SCHEMA` varchar(64) COLLATE utf8mb4_0900_ai_ci, `OWNER_OBJECT_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `EXECUTION_ENGINE` enum('PRIMARY','SECONDARY') COLLATE utf8mb4_0900_ai_ci, `TIMER_PREPARE` bigint unsigned NOT NULL,
    `COUNT_REPREPARE` bigint unsigned NOT NULL, `COUNT_EXECUTE` bigint unsigned NOT NULL,
    `SUM_TIMER_EXECUTE` bigint unsigned NOT NULL, `MIN_TIMER_EXECUTE` bigint unsigned NOT NULL,
    `AVG_TIMER_EXECUTE` bigint unsigned NOT NULL, `MAX_TIMER_EXECUTE` bigint unsigned NOT NULL,
    `SUM_LOCK_TIME` bigint unsigned NOT NULL, `SUM_ERRORS` bigint unsigned NOT NULL, `SUM_WARNINGS` bigint unsigned NOT NULL,
    `SUM_ROWS_AFFECTED` bigint unsigned NOT NULL, `SUM_ROWS_SENT` bigint unsigned NOT NULL,
    `SUM_ROWS_EXAMINED` bigint unsigned NOT NULL, `SUM_CREATED_TMP_DISK_TABLES` bigint unsigned NOT NULL,
    `SUM_CREATED_TMP_TABLES` bigint unsigned NOT NULL, `SUM_SELECT_FULL_JOIN` bigint unsigned NOT NULL,
    `SUM_SELECT_FULL_RANGE_JOIN` bigint unsigned NOT NULL, `SUM_SELECT_RANGE` bigint unsigned NOT NULL,
    `SUM_SELECT_RANGE_CHECK` bigint unsigned NOT NULL, `SUM_SELECT_SCAN` bigint unsigned NOT NULL,
    `SUM_SORT_MERGE_PASSES` bigint unsigned NOT NULL, `SUM_SORT_RANGE` bigint unsigned NOT NULL,
    `SUM_SORT_ROWS` bigint unsigned NOT NULL, `SUM_SORT_SCAN` bigint unsigned NOT NULL,
    `SUM_NO_INDEX_USED` bigint unsigned NOT NULL, `SUM_NO_GOOD_INDEX_USED` bigint unsigned NOT NULL,
    `SUM_CPU_TIME` bigint unsigned NOT NULL, `MAX_CONTROLLED_MEMORY` bigint unsigned NOT NULL,
    `MAX_TOTAL_MEMORY` bigint unsigned NOT NULL, `COUNT_SECONDARY` bigint unsigned NOT NULL);
CREATE TABLE processlist (
    `ID` bigint unsigned NOT NULL, `USER` varchar(32) COLLATE utf8mb4_0900_ai_ci, `HOST` varchar(261) COLLATE ascii_general_ci,
    `DB` varchar(64) COLLATE utf8mb4_0900_ai_ci, `COMMAND` varchar(16) COLLATE utf8mb4_0900_ai_ci, `TIME` bigint,
    `STATE` varchar(64) COLLATE utf8mb4_0900_ai_ci, `INFO` longtext COLLATE utf8mb4_0900_ai_ci,
    `EXECUTION_ENGINE` enum('PRIMARY','SECONDARY') COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE replication_applier_configuration (
    `CHANNEL_NAME` char(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `DESIRED_DELAY` int NOT NULL,
    `PRIVILEGE_CHECKS_USER` text COLLATE utf8mb3_bin, `REQUIRE_ROW_FORMAT` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `REQUIRE_TABLE_PRIMARY_KEY_CHECK` enum('STREAM','ON','OFF','GENERATE') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_TYPE` enum('OFF','LOCAL','UUID') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_VALUE` text COLLATE utf8mb3_bin);
CREATE TABLE replication_applier_filters (
    `CHANNEL_NAME` char(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `FILTER_NAME` char(64) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `FILTER_RULE` longtext COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `CONFIGURED_BY` enum('STARTUP_OPTIONS','CHANGE_REPLICATION_FILTER','STARTUP_OPTIONS_FOR_CHANNEL','CHANGE_REPLICATION_FILTER_FOR_CHANNEL') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `ACTIVE_SINCE` timestamp(6) NOT NULL, `COUNTER` bigint unsigned NOT NULL);
CREATE TABLE replication_applier_global_filters (
    `FILTER_NAME` char(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `FILTER_RULE` longtext COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `CONFIGURED_BY` enum('STARTUP_OPTIONS','CHANGE_REPLICATION_FILTER') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `ACTIVE_SINCE` timestamp(6) NOT NULL);
CREATE TABLE replication_applier_status (
    `CHANNEL_NAME` char(64) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `SERVICE_STATE` enum('ON','OFF') COLLATE utf8mb4_0900_ai_ci NOT NULL, `REMAINING_DELAY` int unsigned,
    `COUNT_TRANSACTIONS_RETRIES` bigint unsigned NOT NULL);
CREATE TABLE replication_applier_status_by_coordinator (
    `CHANNEL_NAME` char(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `THREAD_ID` bigint unsigned,
    `SERVICE_STATE` enum('ON','OFF') COLLATE utf8mb4_0900_ai_ci NOT NULL, `LAST_ERROR_NUMBER` int NOT NULL,
    `LAST_ERROR_MESSAGE` varchar(1024) COLLATE utf8mb4_0900_ai_ci NOT NULL, `LAST_ERROR_TIMESTAMP` timestamp(6) NOT NULL,
    `LAST_PROCESSED_TRANSACTION` char(90) COLLATE utf8mb4_0900_ai_ci,
    `LAST_PROCESSED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP` timestamp(6) NOT NULL,
    `LAST_PROCESSED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP` timestamp(6) NOT NULL,
    `LAST_PROCESSED_TRANSACTION_START_BUFFER_TIMESTAMP` timestamp(6) NOT NULL,
    `LAST_PROCESSED_TRANSACTION_END_BUFFER_TIMESTAMP` timestamp(6) NOT NULL,
    `PROCESSING_TRANSACTION` char(90) COLLATE utf8mb4_0900_ai_ci,
    `PROCESSING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP` timestamp(6) NOT NULL,
    `PROCESSING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP` timestamp(6) NOT NULL,
    `PROCESSING_TRANSACTION_START_BUFFER_TIMESTAMP` timestamp(6) NOT NULL);
CREATE TABLE replication_applier_status_by_worker (
    `CHANNEL_NAME` char(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `WORKER_ID` bigint unsigned NOT NULL, `THREAD_ID` bigint unsigned,
    `SERVICE_STATE` enum('ON','OFF') COLLATE utf8mb4_0900_ai_ci NOT NULL, `LAST_ERROR_NUMBER` int NOT NULL,
    `LAST_ERROR_MESSAGE` varchar(1024) COLLATE utf8mb4_0900_ai_ci NOT NULL, `LAST_ERROR_TIMESTAMP` timestamp(6) NOT NULL,
    `LAST_APPLIED_TRANSACTION` char(90) COLLATE utf8mb4_0900_ai_ci,
    `LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP` timestamp(6) NOT NULL,
    `LAST_APPLIED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP` timestamp(6) NOT NULL,
    `LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP` timestamp(6) NOT NULL,
    `LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP` timestamp(6) NOT NULL,
    `APPLYING_TRANSACTION` char(90) COLLATE utf8mb4_0900_ai_ci,
    `APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP` timestamp(6) NOT NULL,
    `APPLYING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP` timestamp(6) NOT NULL,
    `APPLYING_TRANSACTION_START_APPLY_TIMESTAMP` timestamp(6) NOT NULL,
    `LAST_APPLIED_TRANSACTION_RETRIES_COUNT` bigint unsigned NOT NULL,
    `LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER` int NOT NULL,
    `LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE` varchar(1024) COLLATE utf8mb4_0900_ai_ci,
    `LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP` timestamp(6) NOT NULL,
    `APPLYING_TRANSACTION_RETRIES_COUNT` bigint unsigned NOT NULL, `APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER` int NOT NULL,
    `APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE` varchar(1024) COLLATE utf8mb4_0900_ai_ci,
    `APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP` timestamp(6) NOT NULL);
CREATE TABLE replication_asynchronous_connection_failover (
    `CHANNEL_NAME` char(64) NOT NULL, `HOST` char(255) COLLATE ascii_general_ci NOT NULL, `PORT` int NOT NULL,
    `NETWORK_NAMESPACE` char(64) COLLATE utf8mb4_0900_ai_ci, `WEIGHT` int unsigned NOT NULL, `MANAGED_NAME` char(64) NOT NULL);
CREATE TABLE replication_connection_configuration (
    `CHANNEL_NAME` char(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `HOST` char(255) COLLATE ascii_general_ci NOT NULL,
    `PORT` int NOT NULL, `USER` char(32) COLLATE utf8mb4_bin NOT NULL, `NETWORK_INTERFACE` char(60) COLLATE utf8mb4_bin NOT NULL,
    `AUTO_POSITION` enum('1','0') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `SSL_ALLOWED` enum('YES','NO','IGNORED') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `SSL_CA_FILE` varchar(512) COLLATE utf8mb4_0900_ai_ci NOT NULL, `SSL_CA_PATH` varchar(512) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `SSL_CERTIFICATE` varchar(512) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `SSL_CIPHER` varchar(512) COLLATE utf8mb4_0900_ai_ci NOT NULL, `SSL_KEY` varchar(512) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `SSL_VERIFY_SERVER_CERTIFICATE` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `SSL_CRL_FILE` varchar(255) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `SSL_CRL_PATH` varchar(255) COLLATE utf8mb4_0900_ai_ci NOT NULL, `CONNECTION_RETRY_INTERVAL` int NOT NULL,
    `CONNECTION_RETRY_COUNT` bigint unsigned NOT NULL, `HEARTBEAT_INTERVAL` double(10,3) NOT NULL,
    `TLS_VERSION` varchar(255) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `PUBLIC_KEY_PATH` varchar(512) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `GET_PUBLIC_KEY` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `NETWORK_NAMESPACE` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COMPRESSION_ALGORITHM` char(64) COLLATE utf8mb4_bin NOT NULL, `ZSTD_COMPRESSION_LEVEL` int NOT NULL,
    `TLS_CIPHERSUITES` text COLLATE utf8mb3_bin,
    `SOURCE_CONNECTION_AUTO_FAILOVER` enum('1','0') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `GTID_ONLY` enum('1','0') COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE replication_connection_status (
    `CHANNEL_NAME` char(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `GROUP_NAME` char(36) COLLATE utf8mb4_bin NOT NULL,
    `SOURCE_UUID` char(36) COLLATE utf8mb4_bin NOT NULL, `THREAD_ID` bigint unsigned,
    `SERVICE_STATE` enum('ON','OFF','CONNECTING') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_RECEIVED_HEARTBEATS` bigint unsigned NOT NULL, `LAST_HEARTBEAT_TIMESTAMP` timestamp(6) NOT NULL,
    `RECEIVED_TRANSACTION_SET` longtext COLLATE utf8mb4_0900_ai_ci NOT NULL, `LAST_ERROR_NUMBER` int NOT NULL,
    `LAST_ERROR_MESSAGE` varchar(1024) COLLATE utf8mb4_0900_ai_ci NOT NULL, `LAST_ERROR_TIMESTAMP` timestamp(6) NOT NULL,
    `LAST_QUEUED_TRANSACTION` char(90) COLLATE utf8mb4_0900_ai_ci,
    `LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP` timestamp(6) NOT NULL,
    `LAST_QUEUED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP` timestamp(6) NOT NULL,
    `LAST_QUEUED_TRANSACTION_START_QUEUE_TIMESTAMP` timestamp(6) NOT NULL,
    `LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP` timestamp(6) NOT NULL, `QUEUEING_TRANSACTION` char(90) COLLATE utf8mb4_0900_ai_ci,
    `QUEUEING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP` timestamp(6) NOT NULL,
    `QUEUEING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP` timestamp(6) NOT NULL,
    `QUEUEING_TRANSACTION_START_QUEUE_TIMESTAMP` timestamp(6) NOT NULL);
CREATE TABLE replication_group_member_stats (
    `CHANNEL_NAME` char(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `VIEW_ID` char(60) COLLATE utf8mb4_bin NOT NULL,
    `MEMBER_ID` char(36) COLLATE utf8mb4_bin NOT NULL, `COUNT_TRANSACTIONS_IN_QUEUE` bigint unsigned NOT NULL,
    `COUNT_TRANSACTIONS_CHECKED` bigint unsigned NOT NULL, `COUNT_CONFLICTS_DETECTED` bigint unsigned NOT NULL,
    `COUNT_TRANSACTIONS_ROWS_VALIDATING` bigint unsigned NOT NULL,
    `TRANSACTIONS_COMMITTED_ALL_MEMBERS` longtext COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `LAST_CONFLICT_FREE_TRANSACTION` text COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE` bigint unsigned NOT NULL,
    `COUNT_TRANSACTIONS_REMOTE_APPLIED` bigint unsigned NOT NULL, `COUNT_TRANSACTIONS_LOCAL_PROPOSED` bigint unsigned NOT NULL,
    `COUNT_TRANSACTIONS_LOCAL_ROLLBACK` bigint unsigned NOT NULL);
CREATE TABLE replication_group_members (
    `CHANNEL_NAME` char(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `MEMBER_ID` char(36) COLLATE utf8mb4_bin NOT NULL,
    `MEMBER_HOST` char(255) COLLATE ascii_general_ci NOT NULL, `MEMBER_PORT` int,
    `MEMBER_STATE` char(64) COLLATE utf8mb4_bin NOT NULL, `MEMBER_ROLE` char(64) COLLATE utf8mb4_bin NOT NULL,
    `MEMBER_VERSION` char(64) COLLATE utf8mb4_bin NOT NULL, `MEMBER_COMMUNICATION_STACK` char(64) COLLATE utf8mb4_bin NOT NULL);
CREATE TABLE rwlock_instances (
    `NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL,
    `WRITE_LOCKED_BY_THREAD_ID` bigint unsigned, `READ_LOCKED_BY_COUNT` int unsigned NOT NULL);
CREATE TABLE session_account_connect_attrs (
    `PROCESSLIST_ID` bigint unsigned NOT NULL, `ATTR_NAME` varchar(32) COLLATE utf8mb4_bin NOT NULL,
    `ATTR_VALUE` varchar(1024) COLLATE utf8mb4_bin, `ORDINAL_POSITION` int);
CREATE TABLE session_connect_attrs LIKE session_account_connect_attrs;
CREATE TABLE session_status LIKE global_status;
CREATE TABLE session_variables LIKE global_status;
CREATE TABLE setup_actors (
    `HOST` char(255) COLLATE ascii_general_ci NOT NULL, `USER` char(32) COLLATE utf8mb4_bin NOT NULL,
    `ROLE` char(32) COLLATE utf8mb4_bin NOT NULL, `ENABLED` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `HISTORY` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE setup_consumers (
    `NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `ENABLED` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE setup_instruments (
    `NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `ENABLED` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `TIMED` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci,
    `PROPERTIES` set('singleton','progress','user','global_statistics','mutable','controlled_by_default') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `FLAGS` set('controlled') COLLATE utf8mb4_0900_ai_ci, `VOLATILITY` int NOT NULL,
    `DOCUMENTATION` longtext COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE setup_objects (
    `OBJECT_TYPE` enum('EVENT','FUNCTION','PROCEDURE','TABLE','TRIGGER') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `OBJECT_SCHEMA` varchar(64) COLLATE utf8mb4_0900_ai_ci, `OBJECT_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `ENABLED` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL, `TIMED` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE setup_threads (
    `NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `ENABLED` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `HISTORY` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `PROPERTIES` set('singleton','user') COLLATE utf8mb4_0900_ai_ci NOT NULL, `VOLATILITY` int NOT NULL,
    `DOCUMENTATION` longtext COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE socket_instances (
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL,
    `THREAD_ID` bigint unsigned, `SOCKET_ID` int NOT NULL, `IP` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `PORT` int NOT NULL, `STATE` enum('IDLE','ACTIVE') COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE socket_summary_by_event_name (
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL,
    `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `COUNT_READ` bigint unsigned NOT NULL, `SUM_TIMER_READ` bigint unsigned NOT NULL,
    `MIN_TIMER_READ` bigint unsigned NOT NULL, `AVG_TIMER_READ` bigint unsigned NOT NULL, `MAX_TIMER_READ` bigint unsigned NOT NULL,
    `SUM_NUMBER_OF_BYTES_READ` bigint unsigned NOT NULL, `COUNT_WRITE` bigint unsigned NOT NULL,
    `SUM_TIMER_WRITE` bigint unsigned NOT NULL, `MIN_TIMER_WRITE` bigint unsigned NOT NULL,
    `AVG_TIMER_WRITE` bigint unsigned NOT NULL, `MAX_TIMER_WRITE` bigint unsigned NOT NULL,
    `SUM_NUMBER_OF_BYTES_WRITE` bigint unsigned NOT NULL, `COUNT_MISC` bigint unsigned NOT NULL,
    `SUM_TIMER_MISC` bigint unsigned NOT NULL, `MIN_TIMER_MISC` bigint unsigned NOT NULL, `AVG_TIMER_MISC` bigint unsigned NOT NULL,
    `MAX_TIMER_MISC` bigint unsigned NOT NULL);
CREATE TABLE socket_summary_by_instance (
    `EVENT_NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL,
    `AVG_TIMER_WAIT` bigint unsigned NOT NULL, `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `COUNT_READ` bigint unsigned NOT NULL,
    `SUM_TIMER_READ` bigint unsigned NOT NULL, `MIN_TIMER_READ` bigint unsigned NOT NULL, `AVG_TIMER_READ` bigint unsigned NOT NULL,
    `MAX_TIMER_READ` bigint unsigned NOT NULL, `SUM_NUMBER_OF_BYTES_READ` bigint unsigned NOT NULL,
    `COUNT_WRITE` bigint unsigned NOT NULL, `SUM_TIMER_WRITE` bigint unsigned NOT NULL, `MIN_TIMER_WRITE` bigint unsigned NOT NULL,
    `AVG_TIMER_WRITE` bigint unsigned NOT NULL, `MAX_TIMER_WRITE` bigint unsigned NOT NULL,
    `SUM_NUMBER_OF_BYTES_WRITE` bigint unsigned NOT NULL, `COUNT_MISC` bigint unsigned NOT NULL,
    `SUM_TIMER_MISC` bigint unsigned NOT NULL, `MIN_TIMER_MISC` bigint unsigned NOT NULL, `AVG_TIMER_MISC` bigint unsigned NOT NULL,
    `MAX_TIMER_MISC` bigint unsigned NOT NULL);
CREATE TABLE status_by_account (
    `USER` char(32) COLLATE utf8mb4_bin, `HOST` char(255) COLLATE ascii_general_ci,
    `VARIABLE_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `VARIABLE_VALUE` varchar(1024) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE status_by_host (
    `HOST` char(255) COLLATE ascii_general_ci, `VARIABLE_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `VARIABLE_VALUE` varchar(1024) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE status_by_thread (
    `THREAD_ID` bigint unsigned NOT NULL, `VARIABLE_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `VARIABLE_VALUE` varchar(1024) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE status_by_user (
    `USER` char(32) COLLATE utf8mb4_bin, `VARIABLE_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `VARIABLE_VALUE` varchar(1024) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE table_handles (
    `OBJECT_TYPE` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `OBJECT_SCHEMA` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `OBJECT_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `OBJECT_INSTANCE_BEGIN` bigint unsigned NOT NULL,
    `OWNER_THREAD_ID` bigint unsigned, `OWNER_EVENT_ID` bigint unsigned, `INTERNAL_LOCK` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `EXTERNAL_LOCK` varchar(64) COLLATE utf8mb4_0900_ai_ci);
CREATE TABLE table_io_waits_summary_by_index_usage (
    `OBJECT_TYPE` varchar(64) COLLATE utf8mb4_0900_ai_ci, `OBJECT_SCHEMA` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `OBJECT_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `INDEX_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `COUNT_STAR` bigint unsigned NOT NULL, `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL,
    `AVG_TIMER_WAIT` bigint unsigned NOT NULL, `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `COUNT_READ` bigint unsigned NOT NULL,
    `SUM_TIMER_READ` bigint unsigned NOT NULL, `MIN_TIMER_READ` bigint unsigned NOT NULL, `AVG_TIMER_READ` bigint unsigned NOT NULL,
    `MAX_TIMER_READ` bigint unsigned NOT NULL, `COUNT_WRITE` bigint unsigned NOT NULL, `SUM_TIMER_WRITE` bigint unsigned NOT NULL,
    `MIN_TIMER_WRITE` bigint unsigned NOT NULL, `AVG_TIMER_WRITE` bigint unsigned NOT NULL,
    `MAX_TIMER_WRITE` bigint unsigned NOT NULL, `COUNT_FETCH` bigint unsigned NOT NULL, `SUM_TIMER_FETCH` bigint unsigned NOT NULL,
    `MIN_TIMER_FETCH` bigint unsigned NOT NULL, `AVG_TIMER_FETCH` bigint unsigned NOT NULL,
    `MAX_TIMER_FETCH` bigint unsigned NOT NULL, `COUNT_INSERT` bigint unsigned NOT NULL,
    `SUM_TIMER_INSERT` bigint unsigned NOT NULL, `MIN_TIMER_INSERT` bigint unsigned NOT NULL,
    `AVG_TIMER_INSERT` bigint unsigned NOT NULL, `MAX_TIMER_INSERT` bigint unsigned NOT NULL,
    `COUNT_UPDATE` bigint unsigned NOT NULL, `SUM_TIMER_UPDATE` bigint unsigned NOT NULL,
    `MIN_TIMER_UPDATE` bigint unsigned NOT NULL, `AVG_TIMER_UPDATE` bigint unsigned NOT NULL,
    `MAX_TIMER_UPDATE` bigint unsigned NOT NULL, `COUNT_DELETE` bigint unsigned NOT NULL,
    `SUM_TIMER_DELETE` bigint unsigned NOT NULL, `MIN_TIMER_DELETE` bigint unsigned NOT NULL,
    `AVG_TIMER_DELETE` bigint unsigned NOT NULL, `MAX_TIMER_DELETE` bigint unsigned NOT NULL);
CREATE TABLE table_io_waits_summary_by_table (
    `OBJECT_TYPE` varchar(64) COLLATE utf8mb4_0900_ai_ci, `OBJECT_SCHEMA` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `OBJECT_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL,
    `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `COUNT_READ` bigint unsigned NOT NULL, `SUM_TIMER_READ` bigint unsigned NOT NULL,
    `MIN_TIMER_READ` bigint unsigned NOT NULL, `AVG_TIMER_READ` bigint unsigned NOT NULL, `MAX_TIMER_READ` bigint unsigned NOT NULL,
    `COUNT_WRITE` bigint unsigned NOT NULL, `SUM_TIMER_WRITE` bigint unsigned NOT NULL, `MIN_TIMER_WRITE` bigint unsigned NOT NULL,
    `AVG_TIMER_WRITE` bigint unsigned NOT NULL, `MAX_TIMER_WRITE` bigint unsigned NOT NULL, `COUNT_FETCH` bigint unsigned NOT NULL,
    `SUM_TIMER_FETCH` bigint unsigned NOT NULL, `MIN_TIMER_FETCH` bigint unsigned NOT NULL,
    `AVG_TIMER_FETCH` bigint unsigned NOT NULL, `MAX_TIMER_FETCH` bigint unsigned NOT NULL, `COUNT_INSERT` bigint unsigned NOT NULL,
    `SUM_TIMER_INSERT` bigint unsigned NOT NULL, `MIN_TIMER_INSERT` bigint unsigned NOT NULL,
    `AVG_TIMER_INSERT` bigint unsigned NOT NULL, `MAX_TIMER_INSERT` bigint unsigned NOT NULL,
    `COUNT_UPDATE` bigint unsigned NOT NULL, `SUM_TIMER_UPDATE` bigint unsigned NOT NULL,
    `MIN_TIMER_UPDATE` bigint unsigned NOT NULL, `AVG_TIMER_UPDATE` bigint unsigned NOT NULL,
    `MAX_TIMER_UPDATE` bigint unsigned NOT NULL, `COUNT_DELETE` bigint unsigned NOT NULL,
    `SUM_TIMER_DELETE` bigint unsigned NOT NULL, `MIN_TIMER_DELETE` bigint unsigned NOT NULL,
    `AVG_TIMER_DELETE` bigint unsigned NOT NULL, `MAX_TIMER_DELETE` bigint unsigned NOT NULL);
CREATE TABLE table_lock_waits_summary_by_table (
    `OBJECT_TYPE` varchar(64) COLLATE utf8mb4_0900_ai_ci, `OBJECT_SCHEMA` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `OBJECT_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci, `COUNT_STAR` bigint unsigned NOT NULL,
    `SUM_TIMER_WAIT` bigint unsigned NOT NULL, `MIN_TIMER_WAIT` bigint unsigned NOT NULL, `AVG_TIMER_WAIT` bigint unsigned NOT NULL,
    `MAX_TIMER_WAIT` bigint unsigned NOT NULL, `COUNT_READ` bigint unsigned NOT NULL, `SUM_TIMER_READ` bigint unsigned NOT NULL,
    `MIN_TIMER_READ` bigint unsigned NOT NULL, `AVG_TIMER_READ` bigint unsigned NOT NULL, `MAX_TIMER_READ` bigint unsigned NOT NULL,
    `COUNT_WRITE` bigint unsigned NOT NULL, `SUM_TIMER_WRITE` bigint unsigned NOT NULL, `MIN_TIMER_WRITE` bigint unsigned NOT NULL,
    `AVG_TIMER_WRITE` bigint unsigned NOT NULL, `MAX_TIMER_WRITE` bigint unsigned NOT NULL,
    `COUNT_READ_NORMAL` bigint unsigned NOT NULL, `SUM_TIMER_READ_NORMAL` bigint unsigned NOT NULL,
    `MIN_TIMER_READ_NORMAL` bigint unsigned NOT NULL, `AVG_TIMER_READ_NORMAL` bigint unsigned NOT NULL,
    `MAX_TIMER_READ_NORMAL` bigint unsigned NOT NULL, `COUNT_READ_WITH_SHARED_LOCKS` bigint unsigned NOT NULL,
    `SUM_TIMER_READ_WITH_SHARED_LOCKS` bigint unsigned NOT NULL, `MIN_TIMER_READ_WITH_SHARED_LOCKS` bigint unsigned NOT NULL,
    `AVG_TIMER_READ_WITH_SHARED_LOCKS` bigint unsigned NOT NULL, `MAX_TIMER_READ_WITH_SHARED_LOCKS` bigint unsigned NOT NULL,
    `COUNT_READ_HIGH_PRIORITY` bigint unsigned NOT NULL, `SUM_TIMER_READ_HIGH_PRIORITY` bigint unsigned NOT NULL,
    `MIN_TIMER_READ_HIGH_PRIORITY` bigint unsigned NOT NULL, `AVG_TIMER_READ_HIGH_PRIORITY` bigint unsigned NOT NULL,
    `MAX_TIMER_READ_HIGH_PRIORITY` bigint unsigned NOT NULL, `COUNT_READ_NO_INSERT` bigint unsigned NOT NULL,
    `SUM_TIMER_READ_NO_INSERT` bigint unsigned NOT NULL, `MIN_TIMER_READ_NO_INSERT` bigint unsigned NOT NULL,
    `AVG_TIMER_READ_NO_INSERT` bigint unsigned NOT NULL, `MAX_TIMER_READ_NO_INSERT` bigint unsigned NOT NULL,
    `COUNT_READ_EXTERNAL` bigint unsigned NOT NULL, `SUM_TIMER_READ_EXTERNAL` bigint unsigned NOT NULL,
    `MIN_TIMER_READ_EXTERNAL` bigint unsigned NOT NULL, `AVG_TIMER_READ_EXTERNAL` bigint unsigned NOT NULL,
    `MAX_TIMER_READ_EXTERNAL` bigint unsigned NOT NULL, `COUNT_WRITE_ALLOW_WRITE` bigint unsigned NOT NULL,
    `SUM_TIMER_WRITE_ALLOW_WRITE` bigint unsigned NOT NULL, `MIN_TIMER_WRITE_ALLOW_WRITE` bigint unsigned NOT NULL,
    `AVG_TIMER_WRITE_ALLOW_WRITE` bigint unsigned NOT NULL, `MAX_TIMER_WRITE_ALLOW_WRITE` bigint unsigned NOT NULL,
    `COUNT_WRITE_CONCURRENT_INSERT` bigint unsigned NOT NULL, `SUM_TIMER_WRITE_CONCURRENT_INSERT` bigint unsigned NOT NULL,
    `MIN_TIMER_WRITE_CONCURRENT_INSERT` bigint unsigned NOT NULL, `AVG_TIMER_WRITE_CONCURRENT_INSERT` bigint unsigned NOT NULL,
    `MAX_TIMER_WRITE_CONCURRENT_INSERT` bigint unsigned NOT NULL, `COUNT_WRITE_LOW_PRIORITY` bigint unsigned NOT NULL,
    `SUM_TIMER_WRITE_LOW_PRIORITY` bigint unsigned NOT NULL, `MIN_TIMER_WRITE_LOW_PRIORITY` bigint unsigned NOT NULL,
    `AVG_TIMER_WRITE_LOW_PRIORITY` bigint unsigned NOT NULL, `MAX_TIMER_WRITE_LOW_PRIORITY` bigint unsigned NOT NULL,
    `COUNT_WRITE_NORMAL` bigint unsigned NOT NULL, `SUM_TIMER_WRITE_NORMAL` bigint unsigned NOT NULL,
    `MIN_TIMER_WRITE_NORMAL` bigint unsigned NOT NULL, `AVG_TIMER_WRITE_NORMAL` bigint unsigned NOT NULL,
    `MAX_TIMER_WRITE_NORMAL` bigint unsigned NOT NULL, `COUNT_WRITE_EXTERNAL` bigint unsigned NOT NULL,
    `SUM_TIMER_WRITE_EXTERNAL` bigint unsigned NOT NULL, `MIN_TIMER_WRITE_EXTERNAL` bigint unsigned NOT NULL,
    `AVG_TIMER_WRITE_EXTERNAL` bigint unsigned NOT NULL, `MAX_TIMER_WRITE_EXTERNAL` bigint unsigned NOT NULL);
CREATE TABLE threads (
    `THREAD_ID` bigint unsigned NOT NULL, `NAME` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `TYPE` varchar(10) COLLATE utf8mb4_0900_ai_ci NOT NULL, `PROCESSLIST_ID` bigint unsigned,
    `PROCESSLIST_USER` varchar(32) COLLATE utf8mb4_0900_ai_ci, `PROCESSLIST_HOST` varchar(255) COLLATE ascii_general_ci,
    `PROCESSLIST_DB` varchar(64) COLLATE utf8mb4_0900_ai_ci, `PROCESSLIST_COMMAND` varchar(16) COLLATE utf8mb4_0900_ai_ci,
    `PROCESSLIST_TIME` bigint, `PROCESSLIST_STATE` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `PROCESSLIST_INFO` longtext COLLATE utf8mb4_0900_ai_ci, `PARENT_THREAD_ID` bigint unsigned,
    `ROLE` varchar(64) COLLATE utf8mb4_0900_ai_ci, `INSTRUMENTED` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `HISTORY` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL, `CONNECTION_TYPE` varchar(16) COLLATE utf8mb4_0900_ai_ci,
    `THREAD_OS_ID` bigint unsigned, `RESOURCE_GROUP` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `EXECUTION_ENGINE` enum('PRIMARY','SECONDARY') COLLATE utf8mb4_0900_ai_ci, `CONTROLLED_MEMORY` bigint unsigned NOT NULL,
    `MAX_CONTROLLED_MEMORY` bigint unsigned NOT NULL, `TOTAL_MEMORY` bigint unsigned NOT NULL,
    `MAX_TOTAL_MEMORY` bigint unsigned NOT NULL, `TELEMETRY_ACTIVE` enum('YES','NO') COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE tls_channel_status (
    `CHANNEL` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL, `PROPERTY` varchar(128) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `VALUE` varchar(2048) COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE user_defined_functions (
    `UDF_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL, `UDF_RETURN_TYPE` varchar(20) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `UDF_TYPE` varchar(20) COLLATE utf8mb4_0900_ai_ci NOT NULL, `UDF_LIBRARY` varchar(1024) COLLATE utf8mb4_0900_ai_ci,
    `UDF_USAGE_COUNT` bigint);
CREATE TABLE user_variables_by_thread (
    `THREAD_ID` bigint unsigned NOT NULL, `VARIABLE_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `VARIABLE_VALUE` longblob);
CREATE TABLE users (
    `USER` char(32) COLLATE utf8mb4_bin, `CURRENT_CONNECTIONS` bigint NOT NULL, `TOTAL_CONNECTIONS` bigint NOT NULL,
    `MAX_SESSION_CONTROLLED_MEMORY` bigint unsigned NOT NULL, `MAX_SESSION_TOTAL_MEMORY` bigint unsigned NOT NULL);
CREATE TABLE variables_by_thread LIKE status_by_thread;
CREATE TABLE variables_info (
    `VARIABLE_NAME` varchar(64) COLLATE utf8mb4_0900_ai_ci NOT NULL,
    `VARIABLE_SOURCE` enum('COMPILED','GLOBAL','SERVER','EXPLICIT','EXTRA','USER','LOGIN','COMMAND_LINE','PERSISTED','DYNAMIC') COLLATE utf8mb4_0900_ai_ci,
    `VARIABLE_PATH` varchar(1024) COLLATE utf8mb4_0900_ai_ci, `MIN_VALUE` varchar(64) COLLATE utf8mb4_0900_ai_ci,
    `MAX_VALUE` varchar(64) COLLATE utf8mb4_0900_ai_ci, `SET_TIME` timestamp(6), `SET_USER` char(32) COLLATE utf8mb4_bin,
    `SET_HOST` char(255) COLLATE ascii_general_ci);
