//! What the variables mean, in a sentence each: those that the server obeys, and others that people look for.
//!
//! V1: in the order of names, for the search.

/// The meaning of a variable.
pub fn of(name: &str) -> Option<&'static str> {
    MEANINGS.binary_search_by(|(known, _)| (*known).cmp(name)).ok().map(|at| MEANINGS[at].1)
}

#[rustfmt::skip]
const MEANINGS: &[(&str, &str)] = &[
    ("activate_all_roles_on_login", "Activate all granted roles at login, not only the default ones."),
    ("admin_address", "The address for administrators, with a thread of its own."),
    ("admin_port", "The port of that address."),
    ("auto_increment_increment", "The step between generated AUTO_INCREMENT values."),
    ("auto_increment_offset", "The first AUTO_INCREMENT value of each step."),
    ("autocommit", "Each statement is a transaction of its own unless one was begun."),
    ("automatic_sp_privileges", "Who creates a routine may run and alter it."),
    ("bind_address", "The address that clients connect to."),
    ("block_encryption_mode", "Key length and mode of AES_ENCRYPT and AES_DECRYPT."),
    ("character_set_client", "The character set of statements from clients."),
    ("character_set_connection", "The character set of literals."),
    ("character_set_database", "The character set of the current database."),
    ("character_set_results", "The character set of results and messages."),
    ("character_set_server", "The character set of new databases."),
    ("collation_connection", "The collation of literals."),
    ("collation_database", "The collation of the current database."),
    ("collation_server", "The collation of new databases."),
    ("completion_type", "What follows COMMIT and ROLLBACK: nothing, a new transaction, the end of the session."),
    ("connect_timeout", "Seconds that a client has for its login."),
    ("cte_max_recursion_depth", "Most rounds of a recursive common table expression."),
    ("datadir", "Where the data is."),
    ("default_password_lifetime", "Days until a password expires; 0 for never."),
    ("default_storage_engine", "The engine of new tables; all are InnoDB's."),
    ("default_week_format", "The mode of WEEK() when none is given."),
    ("div_precision_increment", "Further digits of a quotient."),
    ("event_scheduler", "Whether events are run."),
    ("explain_format", "The form of EXPLAIN when none is given."),
    ("explain_json_format_version", "The version of EXPLAIN FORMAT=JSON."),
    ("foreign_key_checks", "Whether foreign keys are checked."),
    ("general_log", "Write every statement to the general log."),
    ("general_log_file", "The file of the general log."),
    ("generated_random_password_length", "Characters of a password that the server makes."),
    ("group_concat_max_len", "Bytes of GROUP_CONCAT's result at most."),
    ("heddle_statement_memory", "Memory that a statement may take before it writes to temporary files."),
    ("heddle_temporary_space_max", "Bytes of all temporary files at most."),
    ("hostname", "The name of the machine."),
    ("init_connect", "Statements that run when a client without CONNECTION_ADMIN connects."),
    ("innodb_buffer_pool_size", "Memory for pages. The larger it is, the less is read from disk."),
    ("innodb_flush_log_at_trx_commit", "What a commit waits for: 1, the disk; 2 and 0, nothing."),
    ("innodb_lock_wait_timeout", "Seconds that a statement waits for a row lock."),
    ("interactive_timeout", "As wait_timeout, for clients that say they are interactive."),
    ("lc_time_names", "The language of names of days and months."),
    ("local_infile", "Whether clients may send files (LOAD DATA LOCAL)."),
    ("lock_wait_timeout", "Seconds that a statement waits for the metadata of a table."),
    ("log_output", "Where the slow query log and the general log go."),
    ("log_queries_not_using_indexes", "Statements without an index belong to the slow query log, too."),
    ("log_slow_admin_statements", "Slow definitions belong to the slow query log, too."),
    ("long_query_time", "Seconds from which a statement is slow."),
    ("mandatory_roles", "Roles that every account has."),
    ("max_allowed_packet", "Bytes of a statement or a row at most."),
    ("max_connect_errors", "Broken handshakes of a host until it is refused."),
    ("max_connections", "Clients at the same time."),
    ("max_error_count", "Warnings and errors of a statement that are kept."),
    ("max_execution_time", "Milliseconds that a SELECT may run; 0 for any time."),
    ("max_join_size", "Rows that a SELECT may have to look at; more is refused."),
    ("max_prepared_stmt_count", "Prepared statements of all sessions at most."),
    ("max_sp_recursion_depth", "How deep a procedure may call itself."),
    ("max_user_connections", "Connections of one account; 0 for any number."),
    ("min_examined_row_limit", "Statements that read fewer rows do not belong to the slow query log."),
    ("net_read_timeout", "Seconds that the server waits for the rest of a client's packet."),
    ("net_write_timeout", "Seconds that the server waits for a client that does not read."),
    ("offline_mode", "Only administrators may connect."),
    ("optimizer_switch", "Which methods the planner may use."),
    ("password_history", "New passwords must differ from so many before."),
    ("password_require_current", "A new password needs the present one."),
    ("password_reuse_interval", "Days until a password may be used again."),
    ("performance_schema", "Whether instruments record anything."),
    ("performance_schema_digests_size", "Different statements that statistics are kept of."),
    ("performance_schema_max_sql_text_length", "Bytes of a statement's text that statistics keep."),
    ("port", "The port that clients connect to."),
    ("print_identified_with_as_hex", "SHOW CREATE USER shows password hashes in hexadecimal digits."),
    ("read_only", "Only accounts with CONNECTION_ADMIN may write."),
    ("require_secure_transport", "Clients must use TLS or a unix socket."),
    ("secure_file_priv", "Where SELECT ... INTO OUTFILE may make files; NULL for nowhere."),
    ("server_id", "The number of this server among those that replicate."),
    ("server_uuid", "The name of this server among those that replicate."),
    ("session_track_gtids", "Tell clients the transactions that they have committed."),
    ("session_track_schema", "Tell clients when the current database changes."),
    ("session_track_state_change", "Tell clients that the state of their session has changed."),
    ("session_track_system_variables", "Variables whose changes clients are told."),
    ("skip_networking", "Clients connect by the unix socket only."),
    ("slow_query_log", "Write slow statements to the slow query log."),
    ("slow_query_log_file", "The file of the slow query log."),
    ("socket", "The unix socket."),
    ("sql_auto_is_null", "WHERE id IS NULL finds the row inserted last."),
    ("sql_big_selects", "SELECTs over more than max_join_size rows are allowed."),
    ("sql_log_off", "Leave this session out of the general log."),
    ("sql_mode", "How strict the server is, and which dialect it reads."),
    ("sql_notes", "Notes are warnings, too."),
    ("sql_safe_updates", "UPDATE and DELETE need a key or a LIMIT."),
    ("sql_select_limit", "Rows of a SELECT at most."),
    ("super_read_only", "Nobody may write."),
    ("time_zone", "The time zone of sessions."),
    ("timestamp", "The time of NOW() in this session."),
    ("tls_version", "Versions of TLS that clients may use."),
    ("tmp_table_size", "Memory of an internal temporary table."),
    ("transaction_isolation", "The isolation of new transactions."),
    ("transaction_read_only", "New transactions may not write."),
    ("version", "The version of the dialect, then Heddle's."),
    ("wait_timeout", "Seconds until an idle client is disconnected."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ascend() {
        assert!(MEANINGS.is_sorted_by(|a, b| a.0 < b.0)); // V1
        assert!(MEANINGS.iter().all(|(_, meaning)| meaning.ends_with('.')));
        assert!(of("wait_timeout").is_some() && of("nothing").is_none());
    }
}
