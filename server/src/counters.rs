//! The counters behind SHOW STATUS: plain cells in each session, and in each worker for ended sessions and for events
//! without a session.
//!
//! K1: only its worker reads and writes the cells of a session; a sum is gathered from every worker by message.
//! K2: the counts of a session move to its worker when it ends, and at FLUSH STATUS: each event is counted exactly
//!     once.

use crate::digests::Ways;
use expr::Work;
pub use expr::count;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

expr::counter_cells! {
    /// Events other than statements.
    Events {
        aborted_clients => "Aborted_clients",
        aborted_connects => "Aborted_connects",
        bytes_received => "Bytes_received",
        bytes_sent => "Bytes_sent",
        temporary_tables => "Created_tmp_tables",
        commits => "Handler_commit",
        rollbacks => "Handler_rollback",
        savepoints => "Handler_savepoint",
        savepoint_rollbacks => "Handler_savepoint_rollback",
        refused_connections => "Connection_errors_max_connections",
        metadata_waits => "Heddle_metadata_waits",
        metadata_wait_us => "Heddle_metadata_wait_us",
        metadata_wait_us_max => "Heddle_metadata_wait_us_max",
        plan_cache_hits => "Heddle_plan_cache_hits",
        plan_cache_misses => "Heddle_plan_cache_misses",
        queries => "Queries",
        questions => "Questions",
        select_full_join => "Select_full_join",
        select_range => "Select_range",
        select_scan => "Select_scan",
        slow_queries => "Slow_queries",
        tls_begun => "Ssl_accepts",
        tls_finished => "Ssl_finished_accepts",
        tls_resumed => "Ssl_session_cache_hits",
    }
}

macro_rules! commands {
    ($($command:ident => $name:literal,)*) => {
        /// The counter of a statement or command.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Command {
            $($command,)*
        }

        pub const COMMAND_NAMES: &[&str] = &[$($name,)*];
    };
}

commands! {
    AdminCommands => "Com_admin_commands",
    AlterDb => "Com_alter_db",
    AlterEvent => "Com_alter_event",
    AlterFunction => "Com_alter_function",
    AlterProcedure => "Com_alter_procedure",
    AlterTable => "Com_alter_table",
    AlterUser => "Com_alter_user",
    AlterUserDefaultRole => "Com_alter_user_default_role",
    Analyze => "Com_analyze",
    BackupServer => "Com_backup_server",
    Begin => "Com_begin",
    CallProcedure => "Com_call_procedure",
    ChangeDb => "Com_change_db",
    ChangeReplicationSource => "Com_change_replication_source",
    Check => "Com_check",
    Checksum => "Com_checksum",
    Clone => "Com_clone",
    Commit => "Com_commit",
    CreateDb => "Com_create_db",
    CreateEvent => "Com_create_event",
    CreateFunction => "Com_create_function",
    CreateIndex => "Com_create_index",
    CreateProcedure => "Com_create_procedure",
    CreateRole => "Com_create_role",
    CreateTable => "Com_create_table",
    CreateTrigger => "Com_create_trigger",
    CreateUser => "Com_create_user",
    CreateView => "Com_create_view",
    DeallocSql => "Com_dealloc_sql",
    Delete => "Com_delete",
    DeleteMulti => "Com_delete_multi",
    Do => "Com_do",
    DropDb => "Com_drop_db",
    DropEvent => "Com_drop_event",
    DropFunction => "Com_drop_function",
    DropIndex => "Com_drop_index",
    DropProcedure => "Com_drop_procedure",
    DropRole => "Com_drop_role",
    DropTable => "Com_drop_table",
    DropTrigger => "Com_drop_trigger",
    DropUser => "Com_drop_user",
    DropView => "Com_drop_view",
    EmptyQuery => "Com_empty_query",
    ExecuteSql => "Com_execute_sql",
    ExplainOther => "Com_explain_other",
    Flush => "Com_flush",
    GetDiagnostics => "Com_get_diagnostics",
    Grant => "Com_grant",
    GrantRoles => "Com_grant_roles",
    Help => "Com_help",
    Insert => "Com_insert",
    InsertSelect => "Com_insert_select",
    Kill => "Com_kill",
    Load => "Com_load",
    LockInstance => "Com_lock_instance",
    LockTables => "Com_lock_tables",
    Optimize => "Com_optimize",
    PrepareSql => "Com_prepare_sql",
    Purge => "Com_purge",
    ReleaseSavepoint => "Com_release_savepoint",
    RenameTable => "Com_rename_table",
    RenameUser => "Com_rename_user",
    Repair => "Com_repair",
    Replace => "Com_replace",
    ReplaceSelect => "Com_replace_select",
    ReplicaStart => "Com_replica_start",
    ReplicaStop => "Com_replica_stop",
    Reset => "Com_reset",
    Resignal => "Com_resignal",
    Revoke => "Com_revoke",
    RevokeAll => "Com_revoke_all",
    RevokeRoles => "Com_revoke_roles",
    Rollback => "Com_rollback",
    RollbackToSavepoint => "Com_rollback_to_savepoint",
    Savepoint => "Com_savepoint",
    Select => "Com_select",
    SetOption => "Com_set_option",
    SetPassword => "Com_set_password",
    SetRole => "Com_set_role",
    ShowBinaryLogStatus => "Com_show_binary_log_status",
    ShowBinlogEvents => "Com_show_binlog_events",
    ShowBinlogs => "Com_show_binlogs",
    ShowCharsets => "Com_show_charsets",
    ShowCollations => "Com_show_collations",
    ShowCreateDb => "Com_show_create_db",
    ShowCreateEvent => "Com_show_create_event",
    ShowCreateFunc => "Com_show_create_func",
    ShowCreateProc => "Com_show_create_proc",
    ShowCreateTable => "Com_show_create_table",
    ShowCreateTrigger => "Com_show_create_trigger",
    ShowCreateUser => "Com_show_create_user",
    ShowDatabases => "Com_show_databases",
    ShowEngineLogs => "Com_show_engine_logs",
    ShowEngineMutex => "Com_show_engine_mutex",
    ShowEngineStatus => "Com_show_engine_status",
    ShowErrors => "Com_show_errors",
    ShowEvents => "Com_show_events",
    ShowFields => "Com_show_fields",
    ShowFunctionStatus => "Com_show_function_status",
    ShowGrants => "Com_show_grants",
    ShowKeys => "Com_show_keys",
    ShowOpenTables => "Com_show_open_tables",
    ShowPlugins => "Com_show_plugins",
    ShowPrivileges => "Com_show_privileges",
    ShowProcedureStatus => "Com_show_procedure_status",
    ShowProcesslist => "Com_show_processlist",
    ShowProfile => "Com_show_profile",
    ShowProfiles => "Com_show_profiles",
    ShowReplicaStatus => "Com_show_replica_status",
    ShowReplicas => "Com_show_replicas",
    ShowStatus => "Com_show_status",
    ShowStorageEngines => "Com_show_storage_engines",
    ShowTableStatus => "Com_show_table_status",
    ShowTables => "Com_show_tables",
    ShowTriggers => "Com_show_triggers",
    ShowVariables => "Com_show_variables",
    ShowWarnings => "Com_show_warnings",
    Shutdown => "Com_shutdown",
    Signal => "Com_signal",
    StmtClose => "Com_stmt_close",
    StmtExecute => "Com_stmt_execute",
    StmtFetch => "Com_stmt_fetch",
    StmtPrepare => "Com_stmt_prepare",
    StmtReprepare => "Com_stmt_reprepare",
    StmtReset => "Com_stmt_reset",
    StmtSendLongData => "Com_stmt_send_long_data",
    Truncate => "Com_truncate",
    UnlockInstance => "Com_unlock_instance",
    UnlockTables => "Com_unlock_tables",
    Update => "Com_update",
    UpdateMulti => "Com_update_multi",
    XaCommit => "Com_xa_commit",
    XaEnd => "Com_xa_end",
    XaPrepare => "Com_xa_prepare",
    XaRecover => "Com_xa_recover",
    XaRollback => "Com_xa_rollback",
    XaStart => "Com_xa_start",
}

/// The counts of one session, or of all ended sessions of a worker.
#[derive(Debug)]
pub struct Counters {
    pub events: Events,
    pub work: Rc<Work>,
    commands: [Cell<u64>; COMMAND_NAMES.len()],
    /// The command of the running or last statement.
    noted: Cell<Option<Command>>,
}

impl Default for Counters {
    fn default() -> Self {
        let commands = std::array::from_fn(|_| Cell::new(0));
        Self { events: Events::default(), work: Default::default(), commands, noted: Cell::new(None) }
    }
}

impl Counters {
    /// A statement begins.
    #[inline]
    pub fn note(&self, command: Command) {
        count(&self.commands[command as usize]);
        // A statement that calls programs is noted before their statements.
        if self.noted.get().is_none() {
            self.noted.set(Some(command));
        }
    }

    /// A statement begins, which is not known yet.
    #[inline]
    pub fn forget_noted(&self) {
        self.noted.set(None);
    }

    /// The command of the running or last statement.
    pub fn noted(&self) -> Option<Command> {
        self.noted.get()
    }

    /// A plan reads its tables.
    #[inline]
    pub fn note_ways(&self, ways: Ways) {
        if ways.is_any() {
            for (counter, more) in [
                (&self.events.select_scan, ways.scan),
                (&self.events.select_range, ways.range),
                (&self.events.select_full_join, ways.full_joins),
                (&self.events.temporary_tables, ways.gathers),
            ] {
                counter.set(counter.get() + u64::from(more));
            }
        }
    }

    /// Sorts of rows that came by a range, those of rows by a scan, and the rows sorted.
    #[inline]
    pub fn sorted(&self) -> [u64; 3] {
        [self.work.sort_range.get(), self.work.sort_scan.get(), self.work.sort_rows.get()]
    }

    /// The values by their names in SHOW STATUS.
    pub fn each(&self, see: &mut dyn FnMut(&'static str, u64)) {
        self.events.each(see);
        self.work.each(see);
        for (name, value) in COMMAND_NAMES.iter().zip(&self.commands) {
            see(name, value.get());
        }
    }

    /// Adds the counts of another one.
    pub fn add(&self, other: &Self) {
        self.events.add(&other.events);
        self.work.add(&other.work);
        for (own, more) in self.commands.iter().zip(&other.commands) {
            own.set(own.get() + more.get());
        }
    }

    /// Moves the counts of another one here, which restarts at zero (K2).
    pub fn take(&self, other: &Self) {
        self.add(other);
        other.events.clear();
        other.work.clear();
        other.commands.iter().for_each(|command| command.set(0));
    }

    /// A statement has waited for the metadata of a table.
    #[cold]
    pub fn note_metadata_wait(&self, waited: Duration) {
        count(&self.events.metadata_waits);
        let (sum, longest) = (&self.events.metadata_wait_us, &self.events.metadata_wait_us_max);
        sum.set(sum.get() + waited.as_micros() as u64);
        longest.set(longest.get().max(waited.as_micros() as u64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_session_counted_moves() {
        let (session, worker) = (Counters::default(), Counters::default());
        for _ in 0..2 {
            session.note(Command::Select);
            session.note_metadata_wait(Duration::from_micros(7));
            count(&session.work.read_key);
            worker.take(&session);
        }
        session.note(Command::Commit);
        let of = |counters: &Counters, wanted: &str| {
            let mut found = None;
            counters.each(&mut |name, value| found = found.or((name == wanted).then_some(value)));
            found.expect("there is such a counter")
        };
        let names = ["Com_select", "Com_commit", "Handler_read_key", "Heddle_metadata_waits", "Heddle_metadata_wait_us_max"];
        assert_eq!(names.map(|name| of(&worker, name)), [2, 0, 2, 2, 7]);
        assert_eq!(names.map(|name| of(&session, name)), [0, 1, 0, 0, 0]);
    }
}
