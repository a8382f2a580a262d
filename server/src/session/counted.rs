//! The counters of SHOW STATUS for statements and commands.

use crate::counters::Command;
use protocol::Command as C;
use sql::ast::{
    AccountStatement, Advice, BinaryLogChange, InsertSource, Maintenance, ReplicaChange, Show, Statement, TableRef, Xa,
};

/// The counter of a statement; `None` if MySQL has none.
pub fn command_of(statement: &Statement<'_>) -> Option<Command> {
    use Statement as S;
    Some(match statement {
        S::Empty => Command::EmptyQuery,
        S::CreateDatabase(_) => Command::CreateDb,
        S::AlterDatabase { .. } => Command::AlterDb,
        S::DropDatabase { .. } => Command::DropDb,
        S::CreateTable(_) => Command::CreateTable,
        S::DropTable { .. } => Command::DropTable,
        S::CreateView(_) => Command::CreateView,
        S::DropView { .. } => Command::DropView,
        S::Truncate { .. } => Command::Truncate,
        S::CreateIndex(_) => Command::CreateIndex,
        S::DropIndex { .. } => Command::DropIndex,
        S::AlterTable(_) => Command::AlterTable,
        S::RenameTable { .. } => Command::RenameTable,
        S::CreateRoutine(routine) if routine.returns.is_some() => Command::CreateFunction,
        S::CreateRoutine(_) => Command::CreateProcedure,
        S::AlterRoutine { function: true, .. } => Command::AlterFunction,
        S::AlterRoutine { .. } => Command::AlterProcedure,
        S::DropRoutine { function: true, .. } => Command::DropFunction,
        S::DropRoutine { .. } => Command::DropProcedure,
        S::CreateTrigger(_) => Command::CreateTrigger,
        S::DropTrigger { .. } => Command::DropTrigger,
        S::CreateEvent(_) => Command::CreateEvent,
        S::AlterEvent(_) => Command::AlterEvent,
        S::DropEvent { .. } => Command::DropEvent,
        S::Condition(text) => condition(text),
        S::Call(_) => Command::CallProcedure,
        S::Begin { .. } => Command::Begin,
        S::Commit(_) => Command::Commit,
        S::Rollback(_) => Command::Rollback,
        S::Savepoint(_) => Command::Savepoint,
        S::RollbackTo(_) => Command::RollbackToSavepoint,
        S::ReleaseSavepoint(_) => Command::ReleaseSavepoint,
        S::Set(_) => Command::SetOption,
        S::Use(_) => Command::ChangeDb,
        S::Show(what) => show(what),
        S::Describe { .. } => Command::ShowFields,
        S::Explain { statement, .. } => planned(statement)?,
        S::ExplainConnection { .. } => Command::ExplainOther,
        S::Kill { .. } => Command::Kill,
        S::Flush { .. } => Command::Flush,
        S::TableMaintenance { kind, .. } => match kind {
            Maintenance::Analyze => Command::Analyze,
            Maintenance::Check => Command::Check,
            Maintenance::Checksum => Command::Checksum,
            Maintenance::Optimize => Command::Optimize,
            Maintenance::Repair => Command::Repair,
        },
        S::LockTables(_) => Command::LockTables,
        S::UnlockTables => Command::UnlockTables,
        S::LockInstance { lock: true } => Command::LockInstance,
        S::LockInstance { .. } => Command::UnlockInstance,
        S::Advice(Advice::For { statement, .. }) => planned(statement)?,
        S::Advice(_) => Command::AlterTable,
        S::Xa(xa) => match xa {
            Xa::Start { .. } => Command::XaStart,
            Xa::End { .. } => Command::XaEnd,
            Xa::Prepare(_) => Command::XaPrepare,
            Xa::Commit { .. } => Command::XaCommit,
            Xa::Rollback(_) => Command::XaRollback,
            Xa::Recover { .. } => Command::XaRecover,
        },
        S::BackupServer(_) => Command::BackupServer,
        S::CloneLocal { .. } => Command::Clone,
        S::Prepare { .. } => Command::PrepareSql,
        S::Execute { .. } => Command::ExecuteSql,
        S::Deallocate { .. } => Command::DeallocSql,
        S::Do(_) => Command::Do,
        S::Help(_) => Command::Help,
        S::ResetPersist { .. } => Command::Reset,
        S::BinaryLog(BinaryLogChange::Reset(_)) => Command::Reset,
        S::BinaryLog(_) => Command::Purge,
        S::Replica(statement) => match statement.change {
            ReplicaChange::Source(_) => Command::ChangeReplicationSource,
            ReplicaChange::Start(..) => Command::ReplicaStart,
            ReplicaChange::Stop(_) => Command::ReplicaStop,
            ReplicaChange::Reset { .. } => Command::Reset,
        },
        S::Shutdown => Command::Shutdown,
        S::Account(account) => self::account(account),
        S::Unsupported { .. } => return None,
        S::Query(_) | S::Insert(_) | S::Update(_) | S::Delete(_) | S::LoadData(_) => planned(statement)?,
    })
}

/// The counter of a statement on rows.
fn planned(statement: &Statement<'_>) -> Option<Command> {
    Some(match statement {
        Statement::Query(_) => Command::Select,
        Statement::Insert(insert) => match (&insert.source, insert.replace) {
            (InsertSource::Query(_), true) => Command::ReplaceSelect,
            (InsertSource::Query(_), false) => Command::InsertSelect,
            (_, true) => Command::Replace,
            (_, false) => Command::Insert,
        },
        Statement::Update(update) => match update.tables {
            [TableRef::Table(_)] => Command::Update,
            _ => Command::UpdateMulti,
        },
        Statement::Delete(delete) if delete.targets.is_empty() => Command::Delete,
        Statement::Delete(_) => Command::DeleteMulti,
        Statement::LoadData(_) => Command::Load,
        _ => return None,
    })
}

/// SIGNAL, RESIGNAL, GET DIAGNOSTICS
fn condition(text: &str) -> Command {
    let starts = |word: &str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    match () {
        () if starts("SIGNAL") => Command::Signal,
        () if starts("RESIGNAL") => Command::Resignal,
        () => Command::GetDiagnostics,
    }
}

fn show(what: &Show<'_>) -> Command {
    match what {
        Show::Databases(_) => Command::ShowDatabases,
        Show::Tables { .. } => Command::ShowTables,
        Show::TableStatus { .. } => Command::ShowTableStatus,
        Show::Columns { .. } => Command::ShowFields,
        Show::Index { .. } => Command::ShowKeys,
        Show::CreateTable(_) => Command::ShowCreateTable,
        Show::CreateDatabase { .. } => Command::ShowCreateDb,
        Show::CreateOther { kind, .. } => match *kind {
            "PROCEDURE" => Command::ShowCreateProc,
            "FUNCTION" => Command::ShowCreateFunc,
            "TRIGGER" => Command::ShowCreateTrigger,
            "EVENT" => Command::ShowCreateEvent,
            _ => Command::ShowCreateTable,
        },
        Show::CreateUser(_) => Command::ShowCreateUser,
        Show::Variables { .. } => Command::ShowVariables,
        Show::Status { .. } => Command::ShowStatus,
        Show::ProcessList { .. } => Command::ShowProcesslist,
        Show::Warnings { errors_only: true, .. } => Command::ShowErrors,
        Show::Warnings { .. } => Command::ShowWarnings,
        Show::CountWarnings { .. } => Command::Select,
        Show::Engines => Command::ShowStorageEngines,
        Show::EngineStatus { what, .. } if what.eq_ignore_ascii_case("mutex") => Command::ShowEngineMutex,
        Show::EngineStatus { what, .. } if what.eq_ignore_ascii_case("logs") => Command::ShowEngineLogs,
        Show::EngineStatus { .. } => Command::ShowEngineStatus,
        Show::Charsets(_) => Command::ShowCharsets,
        Show::Collations(_) => Command::ShowCollations,
        Show::Grants { .. } => Command::ShowGrants,
        Show::Privileges => Command::ShowPrivileges,
        Show::Plugins => Command::ShowPlugins,
        Show::Triggers { .. } => Command::ShowTriggers,
        Show::Events { .. } => Command::ShowEvents,
        Show::Routines { functions: true, .. } => Command::ShowFunctionStatus,
        Show::Routines { .. } => Command::ShowProcedureStatus,
        Show::OpenTables { .. } => Command::ShowOpenTables,
        Show::BinaryLogStatus => Command::ShowBinaryLogStatus,
        Show::BinaryLogs => Command::ShowBinlogs,
        Show::ServerProfile { .. } | Show::Advice { .. } => Command::ShowProfile,
        Show::ReplicaStatus { .. } => Command::ShowReplicaStatus,
        Show::LogEvents(_) => Command::ShowBinlogEvents,
        Show::Replicas => Command::ShowReplicas,
        Show::Profiles => Command::ShowProfiles,
        Show::Profile => Command::ShowProfile,
    }
}

fn account(statement: &AccountStatement<'_>) -> Command {
    use AccountStatement as A;
    match statement {
        A::CreateUser { .. } => Command::CreateUser,
        A::AlterUser { .. } => Command::AlterUser,
        A::DropUser { .. } => Command::DropUser,
        A::RenameUser { .. } => Command::RenameUser,
        A::CreateRole { .. } => Command::CreateRole,
        A::DropRole { .. } => Command::DropRole,
        A::SetPassword(_) => Command::SetPassword,
        A::Grant { .. } | A::GrantProxy { .. } => Command::Grant,
        A::Revoke { .. } | A::RevokeProxy { .. } => Command::Revoke,
        A::RevokeAll { .. } => Command::RevokeAll,
        A::GrantRoles { .. } => Command::GrantRoles,
        A::RevokeRoles { .. } => Command::RevokeRoles,
        A::SetDefaultRole { .. } => Command::AlterUserDefaultRole,
        A::SetRole(_) => Command::SetRole,
    }
}

/// Does a command count as a question?
pub fn is_question(command: &C<'_>) -> bool {
    !matches!(command, C::Ping | C::Statistics | C::StmtPrepare { .. } | C::StmtClose { .. } | C::StmtReset { .. })
}

/// The counter of a command that carries no statement.
pub fn counted_as(command: &C<'_>) -> Option<Command> {
    Some(match command {
        C::Ping | C::Debug | C::ResetConnection => Command::AdminCommands,
        C::FieldList { .. } => Command::ShowFields,
        C::Statistics => Command::ShowStatus,
        C::ProcessInfo => Command::ShowProcesslist,
        C::ProcessKill { .. } => Command::Kill,
        C::Refresh { .. } => Command::Flush,
        C::SetOption { .. } => Command::SetOption,
        C::Shutdown => Command::Shutdown,
        C::InitDb { .. } => Command::ChangeDb,
        C::StmtSendLongData { .. } => Command::StmtSendLongData,
        C::StmtClose { .. } => Command::StmtClose,
        C::StmtReset { .. } => Command::StmtReset,
        C::StmtFetch { .. } => Command::StmtFetch,
        C::StmtPrepare { .. } => Command::StmtPrepare,
        C::StmtExecute(_) => Command::StmtExecute,
        C::RegisterReplica(_) | C::BinlogDump(_) => Command::AdminCommands,
        C::Query { .. } | C::Quit | C::ChangeUser(_) => return None,
    })
}
