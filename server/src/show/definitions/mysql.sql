CREATE TABLE columns_priv (
    `Host` char(255) COLLATE ascii_general_ci NOT NULL, `Db` char(64) COLLATE utf8mb3_bin NOT NULL,
    `User` char(32) COLLATE utf8mb3_bin NOT NULL, `Table_name` char(64) COLLATE utf8mb3_bin NOT NULL,
    `Column_name` char(64) COLLATE utf8mb3_bin NOT NULL, `Timestamp` timestamp NOT NULL,
    `Column_priv` set('Select','Insert','Update','References') NOT NULL);
CREATE TABLE component (
    `component_id` int unsigned NOT NULL, `component_group_id` int unsigned NOT NULL, `component_urn` text NOT NULL);
CREATE TABLE db (
    `Host` char(255) COLLATE ascii_general_ci NOT NULL, `Db` char(64) COLLATE utf8mb3_bin NOT NULL,
    `User` char(32) COLLATE utf8mb3_bin NOT NULL, `Select_priv` enum('N','Y') NOT NULL, `Insert_priv` enum('N','Y') NOT NULL,
    `Update_priv` enum('N','Y') NOT NULL, `Delete_priv` enum('N','Y') NOT NULL, `Create_priv` enum('N','Y') NOT NULL,
    `Drop_priv` enum('N','Y') NOT NULL, `Grant_priv` enum('N','Y') NOT NULL, `References_priv` enum('N','Y') NOT NULL,
    `Index_priv` enum('N','Y') NOT NULL, `Alter_priv` enum('N','Y') NOT NULL, `Create_tmp_table_priv` enum('N','Y') NOT NULL,
    `Lock_tables_priv` enum('N','Y') NOT NULL, `Create_view_priv` enum('N','Y') NOT NULL, `Show_view_priv` enum('N','Y') NOT NULL,
    `Create_routine_priv` enum('N','Y') NOT NULL, `Alter_routine_priv` enum('N','Y') NOT NULL,
    `Execute_priv` enum('N','Y') NOT NULL, `Event_priv` enum('N','Y') NOT NULL, `Trigger_priv` enum('N','Y') NOT NULL);
CREATE TABLE default_roles (
    `HOST` char(255) COLLATE ascii_general_ci NOT NULL, `USER` char(32) COLLATE utf8mb3_bin NOT NULL,
    `DEFAULT_ROLE_HOST` char(255) COLLATE ascii_general_ci NOT NULL, `DEFAULT_ROLE_USER` char(32) COLLATE utf8mb3_bin NOT NULL);
CREATE TABLE func (
    `name` char(64) COLLATE utf8mb3_bin NOT NULL, `ret` tinyint NOT NULL, `dl` char(128) COLLATE utf8mb3_bin NOT NULL,
    `type` enum('function','aggregate') NOT NULL);
CREATE TABLE general_log (
    `event_time` timestamp(6) NOT NULL, `user_host` mediumtext NOT NULL, `thread_id` bigint unsigned NOT NULL,
    `server_id` int unsigned NOT NULL, `command_type` varchar(64) NOT NULL, `argument` mediumblob NOT NULL);
CREATE TABLE global_grants (
    `USER` char(32) COLLATE utf8mb3_bin NOT NULL, `HOST` char(255) COLLATE ascii_general_ci NOT NULL, `PRIV` char(32) NOT NULL,
    `WITH_GRANT_OPTION` enum('N','Y') NOT NULL);
CREATE TABLE gtid_executed (
    `source_uuid` char(36) COLLATE utf8mb4_0900_ai_ci NOT NULL, `interval_start` bigint NOT NULL, `interval_end` bigint NOT NULL,
    `gtid_tag` char(32) COLLATE utf8mb4_0900_ai_ci NOT NULL);
CREATE TABLE help_category (
    `help_category_id` smallint unsigned NOT NULL, `name` char(64) NOT NULL, `parent_category_id` smallint unsigned,
    `url` text NOT NULL);
CREATE TABLE help_keyword (
    `help_keyword_id` int unsigned NOT NULL, `name` char(64) NOT NULL);
CREATE TABLE help_relation (
    `help_topic_id` int unsigned NOT NULL, `help_keyword_id` int unsigned NOT NULL);
CREATE TABLE help_topic (
    `help_topic_id` int unsigned NOT NULL, `name` char(64) NOT NULL, `help_category_id` smallint unsigned NOT NULL,
    `description` text NOT NULL, `example` text NOT NULL, `url` text NOT NULL);
CREATE TABLE innodb_index_stats (
    `database_name` varchar(64) COLLATE utf8mb3_bin NOT NULL, `table_name` varchar(199) COLLATE utf8mb3_bin NOT NULL,
    `index_name` varchar(64) COLLATE utf8mb3_bin NOT NULL, `last_update` timestamp NOT NULL,
    `stat_name` varchar(64) COLLATE utf8mb3_bin NOT NULL, `stat_value` bigint unsigned NOT NULL, `sample_size` bigint unsigned,
    `stat_description` varchar(1024) COLLATE utf8mb3_bin NOT NULL);
CREATE TABLE innodb_table_stats (
    `database_name` varchar(64) COLLATE utf8mb3_bin NOT NULL, `table_name` varchar(199) COLLATE utf8mb3_bin NOT NULL,
    `last_update` timestamp NOT NULL, `n_rows` bigint unsigned NOT NULL, `clustered_index_size` bigint unsigned NOT NULL,
    `sum_of_other_index_sizes` bigint unsigned NOT NULL);
CREATE TABLE password_history (
    `Host` char(255) COLLATE ascii_general_ci NOT NULL, `User` char(32) COLLATE utf8mb3_bin NOT NULL,
    `Password_timestamp` timestamp(6) NOT NULL, `Password` text COLLATE utf8mb3_bin);
CREATE TABLE plugin (
    `name` varchar(64) NOT NULL, `dl` varchar(128) NOT NULL);
CREATE TABLE procs_priv (
    `Host` char(255) COLLATE ascii_general_ci NOT NULL, `Db` char(64) COLLATE utf8mb3_bin NOT NULL,
    `User` char(32) COLLATE utf8mb3_bin NOT NULL, `Routine_name` char(64) NOT NULL,
    `Routine_type` enum('FUNCTION','PROCEDURE','LIBRARY') COLLATE utf8mb3_bin NOT NULL,
    `Grantor` varchar(288) COLLATE utf8mb3_bin NOT NULL, `Proc_priv` set('Execute','Alter Routine','Grant') NOT NULL,
    `Timestamp` timestamp NOT NULL);
CREATE TABLE proxies_priv (
    `Host` char(255) COLLATE ascii_general_ci NOT NULL, `User` char(32) COLLATE utf8mb3_bin NOT NULL,
    `Proxied_host` char(255) COLLATE ascii_general_ci NOT NULL, `Proxied_user` char(32) COLLATE utf8mb3_bin NOT NULL,
    `With_grant` tinyint(1) NOT NULL, `Grantor` varchar(288) COLLATE utf8mb3_bin NOT NULL, `Timestamp` timestamp NOT NULL);
CREATE TABLE role_edges (
    `FROM_HOST` char(255) COLLATE ascii_general_ci NOT NULL, `FROM_USER` char(32) COLLATE utf8mb3_bin NOT NULL,
    `TO_HOST` char(255) COLLATE ascii_general_ci NOT NULL, `TO_USER` char(32) COLLATE utf8mb3_bin NOT NULL,
    `WITH_ADMIN_OPTION` enum('N','Y') NOT NULL);
CREATE TABLE servers (
    `Server_name` char(64) NOT NULL, `Host` char(255) COLLATE ascii_general_ci NOT NULL, `Db` char(64) NOT NULL,
    `Username` char(64) NOT NULL, `Password` char(64) NOT NULL, `Port` int NOT NULL, `Socket` char(64) NOT NULL,
    `Wrapper` char(64) NOT NULL, `Owner` char(64) NOT NULL);
CREATE TABLE slave_master_info (
    `Number_of_lines` int unsigned NOT NULL, `Master_log_name` text COLLATE utf8mb3_bin NOT NULL,
    `Master_log_pos` bigint unsigned NOT NULL, `Host` varchar(255) COLLATE ascii_general_ci, `User_name` text COLLATE utf8mb3_bin,
    `User_password` text COLLATE utf8mb3_bin, `Port` int unsigned NOT NULL, `Connect_retry` int unsigned NOT NULL,
    `Enabled_ssl` tinyint(1) NOT NULL, `Ssl_ca` text COLLATE utf8mb3_bin, `Ssl_capath` text COLLATE utf8mb3_bin,
    `Ssl_cert` text COLLATE utf8mb3_bin, `Ssl_cipher` text COLLATE utf8mb3_bin, `Ssl_key` text COLLATE utf8mb3_bin,
    `Ssl_verify_server_cert` tinyint(1) NOT NULL, `Heartbeat` float NOT NULL, `Bind` text COLLATE utf8mb3_bin,
    `Ignored_server_ids` text COLLATE utf8mb3_bin, `Uuid` text COLLATE utf8mb3_bin, `Retry_count` bigint unsigned NOT NULL,
    `Ssl_crl` text COLLATE utf8mb3_bin, `Ssl_crlpath` text COLLATE utf8mb3_bin, `Enabled_auto_position` tinyint(1) NOT NULL,
    `Channel_name` varchar(64) NOT NULL, `Tls_version` text COLLATE utf8mb3_bin, `Public_key_path` text COLLATE utf8mb3_bin,
    `Get_public_key` tinyint(1) NOT NULL, `Network_namespace` text COLLATE utf8mb3_bin,
    `Master_compression_algorithm` varchar(64) COLLATE utf8mb3_bin NOT NULL, `Master_zstd_compression_level` int unsigned NOT NULL,
    `Tls_ciphersuites` text COLLATE utf8mb3_bin, `Source_connection_auto_failover` tinyint(1) NOT NULL,
    `Gtid_only` tinyint(1) NOT NULL);
CREATE TABLE slave_relay_log_info (
    `Number_of_lines` int unsigned NOT NULL, `Relay_log_name` text COLLATE utf8mb3_bin, `Relay_log_pos` bigint unsigned,
    `Master_log_name` text COLLATE utf8mb3_bin, `Master_log_pos` bigint unsigned, `Sql_delay` int, `Number_of_workers` int unsigned,
    `Id` int unsigned, `Channel_name` varchar(64) NOT NULL, `Privilege_checks_username` varchar(32) COLLATE utf8mb3_bin,
    `Privilege_checks_hostname` varchar(255) COLLATE ascii_general_ci, `Require_row_format` tinyint(1) NOT NULL,
    `Require_table_primary_key_check` enum('STREAM','ON','OFF','GENERATE') NOT NULL,
    `Assign_gtids_to_anonymous_transactions_type` enum('OFF','LOCAL','UUID') NOT NULL,
    `Assign_gtids_to_anonymous_transactions_value` text COLLATE utf8mb3_bin);
CREATE TABLE slave_worker_info (
    `Id` int unsigned NOT NULL, `Relay_log_name` text COLLATE utf8mb3_bin NOT NULL, `Relay_log_pos` bigint unsigned NOT NULL,
    `Master_log_name` text COLLATE utf8mb3_bin NOT NULL, `Master_log_pos` bigint unsigned NOT NULL,
    `Checkpoint_relay_log_name` text COLLATE utf8mb3_bin NOT NULL, `Checkpoint_relay_log_pos` bigint unsigned NOT NULL,
    `Checkpoint_master_log_name` text COLLATE utf8mb3_bin NOT NULL, `Checkpoint_master_log_pos` bigint unsigned NOT NULL,
    `Checkpoint_seqno` int unsigned NOT NULL, `Checkpoint_group_size` int unsigned NOT NULL,
    `Checkpoint_group_bitmap` blob NOT NULL, `Channel_name` varchar(64) NOT NULL);
CREATE TABLE slow_log (
    `start_time` timestamp(6) NOT NULL, `user_host` mediumtext NOT NULL, `query_time` time(6) NOT NULL,
    `lock_time` time(6) NOT NULL, `rows_sent` int NOT NULL, `rows_examined` int NOT NULL, `db` varchar(512) NOT NULL,
    `last_insert_id` int NOT NULL, `insert_id` int NOT NULL, `server_id` int unsigned NOT NULL, `sql_text` mediumblob NOT NULL,
    `thread_id` bigint unsigned NOT NULL);
CREATE TABLE tables_priv (
    `Host` char(255) COLLATE ascii_general_ci NOT NULL, `Db` char(64) COLLATE utf8mb3_bin NOT NULL,
    `User` char(32) COLLATE utf8mb3_bin NOT NULL, `Table_name` char(64) COLLATE utf8mb3_bin NOT NULL,
    `Grantor` varchar(288) COLLATE utf8mb3_bin NOT NULL, `Timestamp` timestamp NOT NULL,
    `Table_priv` set('Select','Insert','Update','Delete','Create','Drop','Grant','References','Index','Alter','Create View','Show view','Trigger') NOT NULL,
    `Column_priv` set('Select','Insert','Update','References') NOT NULL);
CREATE TABLE time_zone (
    `Time_zone_id` int unsigned NOT NULL, `Use_leap_seconds` enum('Y','N') NOT NULL);
CREATE TABLE time_zone_leap_second (
    `Transition_time` bigint NOT NULL, `Correction` int NOT NULL);
CREATE TABLE time_zone_name (
    `Name` char(64) NOT NULL, `Time_zone_id` int unsigned NOT NULL);
CREATE TABLE time_zone_transition (
    `Time_zone_id` int unsigned NOT NULL, `Transition_time` bigint NOT NULL, `Transition_type_id` int unsigned NOT NULL);
CREATE TABLE time_zone_transition_type (
    `Time_zone_id` int unsigned NOT NULL, `Transition_type_id` int unsigned NOT NULL, `Offset` int NOT NULL,
    `Is_DST` tinyint unsigned NOT NULL, `Abbreviation` char(8) NOT NULL);
CREATE TABLE user (
    `Host` char(255) COLLATE ascii_general_ci NOT NULL, `User` char(32) COLLATE utf8mb3_bin NOT NULL,
    `Select_priv` enum('N','Y') NOT NULL, `Insert_priv` enum('N','Y') NOT NULL, `Update_priv` enum('N','Y') NOT NULL,
    `Delete_priv` enum('N','Y') NOT NULL, `Create_priv` enum('N','Y') NOT NULL, `Drop_priv` enum('N','Y') NOT NULL,
    `Reload_priv` enum('N','Y') NOT NULL, `Shutdown_priv` enum('N','Y') NOT NULL, `Process_priv` enum('N','Y') NOT NULL,
    `File_priv` enum('N','Y') NOT NULL, `Grant_priv` enum('N','Y') NOT NULL, `References_priv` enum('N','Y') NOT NULL,
    `Index_priv` enum('N','Y') NOT NULL, `Alter_priv` enum('N','Y') NOT NULL, `Show_db_priv` enum('N','Y') NOT NULL,
    `Super_priv` enum('N','Y') NOT NULL, `Create_tmp_table_priv` enum('N','Y') NOT NULL, `Lock_tables_priv` enum('N','Y') NOT NULL,
    `Execute_priv` enum('N','Y') NOT NULL, `Repl_slave_priv` enum('N','Y') NOT NULL, `Repl_client_priv` enum('N','Y') NOT NULL,
    `Create_view_priv` enum('N','Y') NOT NULL, `Show_view_priv` enum('N','Y') NOT NULL,
    `Create_routine_priv` enum('N','Y') NOT NULL, `Alter_routine_priv` enum('N','Y') NOT NULL,
    `Create_user_priv` enum('N','Y') NOT NULL, `Event_priv` enum('N','Y') NOT NULL, `Trigger_priv` enum('N','Y') NOT NULL,
    `Create_tablespace_priv` enum('N','Y') NOT NULL, `ssl_type` enum('','ANY','X509','SPECIFIED') NOT NULL,
    `ssl_cipher` blob NOT NULL, `x509_issuer` blob NOT NULL, `x509_subject` blob NOT NULL, `max_questions` int unsigned NOT NULL,
    `max_updates` int unsigned NOT NULL, `max_connections` int unsigned NOT NULL, `max_user_connections` int unsigned NOT NULL,
    `plugin` char(64) COLLATE utf8mb3_bin NOT NULL, `authentication_string` text COLLATE utf8mb3_bin,
    `password_expired` enum('N','Y') NOT NULL, `password_last_changed` timestamp NULL, `password_lifetime` smallint unsigned,
    `account_locked` enum('N','Y') NOT NULL, `Create_role_priv` enum('N','Y') NOT NULL, `Drop_role_priv` enum('N','Y') NOT NULL,
    `Password_reuse_history` smallint unsigned, `Password_reuse_time` smallint unsigned, `Password_require_current` enum('N','Y'),
    `User_attributes` json);
