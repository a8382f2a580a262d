CREATE TABLE columns_priv (
    `Host` char(255) COLLATE ascii_general_ci NOT NULL, `Db` char(64) COLLATE utf8mb3_bin NOT NULL,
    `User` char(32) COLLATE utf8mb3_bin NOT NULL, `Table_name` char(64) COLLATE utf8mb3_bin NOT NULL,
    `Column_name` char(64) COLLATE utf8mb3_bin NOT NULL, `Timestamp` timestamp NOT NULL,
    `Column_priv` set('Select','Insert','Update','References') NOT NULL);
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
CREATE TABLE global_grants (
    `USER` char(32) COLLATE utf8mb3_bin NOT NULL, `HOST` char(255) COLLATE ascii_general_ci NOT NULL, `PRIV` char(32) NOT NULL,
    `WITH_GRANT_OPTION` enum('N','Y') NOT NULL);
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
CREATE TABLE procs_priv (
    `Host` char(255) COLLATE ascii_general_ci NOT NULL, `Db` char(64) COLLATE utf8mb3_bin NOT NULL,
    `User` char(32) COLLATE utf8mb3_bin NOT NULL, `Routine_name` char(64) NOT NULL,
    `Routine_type` enum('FUNCTION','PROCEDURE','LIBRARY') COLLATE utf8mb3_bin NOT NULL, `Grantor` varchar(288) COLLATE utf8mb3_bin NOT NULL,
    `Proc_priv` set('Execute','Alter Routine','Grant') NOT NULL, `Timestamp` timestamp NOT NULL);
CREATE TABLE proxies_priv (
    `Host` char(255) COLLATE ascii_general_ci NOT NULL, `User` char(32) COLLATE utf8mb3_bin NOT NULL,
    `Proxied_host` char(255) COLLATE ascii_general_ci NOT NULL, `Proxied_user` char(32) COLLATE utf8mb3_bin NOT NULL,
    `With_grant` tinyint(1) NOT NULL, `Grantor` varchar(288) COLLATE utf8mb3_bin NOT NULL, `Timestamp` timestamp NOT NULL);
CREATE TABLE role_edges (
    `FROM_HOST` char(255) COLLATE ascii_general_ci NOT NULL, `FROM_USER` char(32) COLLATE utf8mb3_bin NOT NULL,
    `TO_HOST` char(255) COLLATE ascii_general_ci NOT NULL, `TO_USER` char(32) COLLATE utf8mb3_bin NOT NULL,
    `WITH_ADMIN_OPTION` enum('N','Y') NOT NULL);
CREATE TABLE tables_priv (
    `Host` char(255) COLLATE ascii_general_ci NOT NULL, `Db` char(64) COLLATE utf8mb3_bin NOT NULL,
    `User` char(32) COLLATE utf8mb3_bin NOT NULL, `Table_name` char(64) COLLATE utf8mb3_bin NOT NULL,
    `Grantor` varchar(288) COLLATE utf8mb3_bin NOT NULL, `Timestamp` timestamp NOT NULL,
    `Table_priv` set('Select','Insert','Update','Delete','Create','Drop','Grant','References','Index','Alter','Create View','Show view','Trigger') NOT NULL,
    `Column_priv` set('Select','Insert','Update','References') NOT NULL);
CREATE TABLE user (
    `Host` char(255) COLLATE ascii_general_ci NOT NULL, `User` char(32) COLLATE utf8mb3_bin NOT NULL,
    `Select_priv` enum('N','Y') NOT NULL, `Insert_priv` enum('N','Y') NOT NULL, `Update_priv` enum('N','Y') NOT NULL,
    `Delete_priv` enum('N','Y') NOT NULL, `Create_priv` enum('N','Y') NOT NULL, `Drop_priv` enum('N','Y') NOT NULL,
    `Reload_priv` enum('N','Y') NOT NULL, `Shutdown_priv` enum('N','Y') NOT NULL, `Process_priv` enum('N','Y') NOT NULL,
    `File_priv` enum('N','Y') NOT NULL, `Grant_priv` enum('N','Y') NOT NULL, `References_priv` enum('N','Y') NOT NULL,
    `Index_priv` enum('N','Y') NOT NULL, `Alter_priv` enum('N','Y') NOT NULL, `Show_db_priv` enum('N','Y') NOT NULL,
    `Super_priv` enum('N','Y') NOT NULL, `Create_tmp_table_priv` enum('N','Y') NOT NULL,
    `Lock_tables_priv` enum('N','Y') NOT NULL, `Execute_priv` enum('N','Y') NOT NULL, `Repl_slave_priv` enum('N','Y') NOT NULL,
    `Repl_client_priv` enum('N','Y') NOT NULL, `Create_view_priv` enum('N','Y') NOT NULL, `Show_view_priv` enum('N','Y') NOT NULL,
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
