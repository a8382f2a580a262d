CREATE TABLE innodb_index_stats (
    `database_name` varchar(64) COLLATE utf8mb3_bin NOT NULL, `table_name` varchar(199) COLLATE utf8mb3_bin NOT NULL,
    `index_name` varchar(64) COLLATE utf8mb3_bin NOT NULL, `last_update` timestamp NOT NULL,
    `stat_name` varchar(64) COLLATE utf8mb3_bin NOT NULL, `stat_value` bigint unsigned NOT NULL, `sample_size` bigint unsigned,
    `stat_description` varchar(1024) COLLATE utf8mb3_bin NOT NULL);
CREATE TABLE innodb_table_stats (
    `database_name` varchar(64) COLLATE utf8mb3_bin NOT NULL, `table_name` varchar(199) COLLATE utf8mb3_bin NOT NULL,
    `last_update` timestamp NOT NULL, `n_rows` bigint unsigned NOT NULL, `clustered_index_size` bigint unsigned NOT NULL,
    `sum_of_other_index_sizes` bigint unsigned NOT NULL);
