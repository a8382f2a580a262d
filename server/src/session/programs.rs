//! Statements that call stored functions or fire triggers: each of these programs runs on an execution of its own.
//!
//! ```text
//! execute   `exec` runs the statement over its execution's transaction and variables
//! call      `exec` pauses for a program: the program's execution borrows the transaction, runs as in a CALL, and ends
//! ```
//! G1: while a program runs, the statement does nothing else. The program has the connection, the session and the
//!     transaction of the statement.
//! G2: the values that the program's statements set (LAST_INSERT_ID(), ROW_COUNT(), FOUND_ROWS()) end with it. User
//!     variables, warnings and the state of RAND() belong to the session.
//! G3: `Execution::enclosing` has the enclosing statements. The program neither commits nor rolls back, and changes no
//!     table that they use.

use super::host::ServerHost;
use super::info::SessionInfo;
use super::state::{Connection, Execution, Session, State};
use super::transaction::{Terms, Transaction};
use crate::error::{Error, Result};
use crate::plan_cache::PlanEntry;
use crate::routine::Frame;
use crate::show::Gathered;
use crate::worker::Worker;
use conditions::Condition;
use exec::{ExecContext, LocalFuture, Prepared, VirtualRows, boxed};
use expr::SessionVars;
use sql::ast::Statement;
use sql::routine::RoutineError;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use txn::Txn;
use types::Value;
use types::schema::TableDef;

/// The statement that called a program, for that program.
pub struct Enclosing<'s> {
    plan: &'s PlanEntry,
    /// The program that contains the statement.
    pub frame: Option<&'s Frame>,
    /// The statement that called that program.
    pub outer: Option<&'s Enclosing<'s>>,
}

/// Like `run::execute`, for a plan whose statement calls programs.
pub async fn execute<T>(
    state: &mut State<'_>,
    plan: &Rc<PlanEntry>,
    params: &[Value<'_>],
    gathered: Option<&Gathered>,
    run: impl AsyncFnOnce(&mut ExecContext<'_>, &Prepared) -> expr::Result<T>,
) -> Result<T> {
    let State { worker, info, connection, session, execution } = state;
    let Execution { vars, applied, transaction, frame, enclosing, .. } = execution;
    let access = Rc::clone(&session.access);
    let schema = plan.reads.any.then(|| access.visible(&worker.schema()));
    let (Some(txn), terms) = transaction.parts() else {
        return Err(Error::Internal("a statement without a transaction".to_owned()));
    };
    let enclosing = Enclosing { plan, frame: frame.as_deref(), outer: *enclosing };
    let host = ProgramHost {
        server: ServerHost { schema: schema.as_deref(), gathered, access: Some(&access), ..ServerHost::new(worker) },
        worker,
        info,
        applied: *applied,
        terms,
        enclosing: &enclosing,
        shared: Cell::new(Some(Shared { connection, session })),
        has_ended: Cell::new(false),
    };
    let mut context =
        ExecContext { worker: &worker.engine, txn, database: &worker.shared.database, session: vars, params, host: &host };
    let outcome = run(&mut context, &plan.prepared).await;
    if host.has_ended.get() {
        state.execution.transaction.note_ended();
    }
    state.execution.transaction.mistake_lost_savepoints();
    // A program may have set variables.
    state.apply_settings();
    Ok(outcome?)
}

/// The `Host` of such a statement.
struct ProgramHost<'a> {
    server: ServerHost<'a>,
    worker: &'a Rc<Worker>,
    info: &'a Rc<SessionInfo>,
    /// `Execution::applied` of the statement's execution.
    applied: u32,
    terms: &'a Terms,
    enclosing: &'a Enclosing<'a>,
    /// `None` while a program runs.
    shared: Cell<Option<Shared<'a>>>,
    /// A program had to end the transaction.
    has_ended: Cell<bool>,
}

/// The parts of the statement's state that its programs use, too. G1
struct Shared<'a> {
    connection: &'a mut Connection,
    session: &'a mut Session,
}

impl ProgramHost<'_> {
    /// Runs a program on an execution of its own.
    async fn inside<T>(
        &self,
        txn: &mut Txn,
        vars: &SessionVars,
        run: impl AsyncFnOnce(&mut State<'_>) -> Result<T>,
    ) -> expr::Result<T> {
        let Some(shared) = self.shared.take() else {
            return Err(raised(Error::Internal("a program is called while another one runs".to_owned())));
        };
        let execution = Execution {
            vars: vars.for_program(),
            applied: self.applied,
            transaction: Transaction::of_statement(txn, self.terms),
            warned_before: 0,
            frame: None,
            enclosing: Some(self.enclosing),
        };
        let (worker, info) = (Rc::clone(self.worker), Rc::clone(self.info));
        let Shared { connection, session } = shared;
        let mut state = State { worker, info, connection: &mut *connection, session: &mut *session, execution };
        state.apply_settings();
        let outcome = run(&mut state).await;
        if state.execution.transaction.has_ended() {
            self.has_ended.set(true);
        }
        vars.take_from_program(state.execution.vars);
        self.shared.set(Some(Shared { connection, session }));
        outcome.map_err(raised)
    }
}

/// A program's error, as an error of the statement that called it.
fn raised(error: Error) -> expr::Error {
    match error {
        Error::Exec(error) => error,
        error => expr::Error::Raised(Box::new(crate::routine::raised(&error))),
    }
}

impl expr::Host for ProgramHost<'_> {
    fn release_lock(&self, connection_id: u32, name: &str) -> Option<bool> {
        self.server.release_lock(connection_id, name)
    }

    fn release_all_locks(&self, connection_id: u32) -> u64 {
        self.server.release_all_locks(connection_id)
    }

    fn lock_holder(&self, name: &str) -> Option<u32> {
        self.server.lock_holder(name)
    }
}

impl exec::Host for ProgramHost<'_> {
    fn sleep(&self, duration: Duration) -> LocalFuture<'_, ()> {
        self.server.sleep(duration)
    }

    fn get_lock(&self, connection_id: u32, name: &str, timeout: Option<Duration>) -> LocalFuture<'_, expr::Result<bool>> {
        self.server.get_lock(connection_id, name, timeout)
    }

    fn replication(&self, awaited: expr::Awaited) -> LocalFuture<'_, expr::Result<Option<i64>>> {
        self.server.replication(awaited)
    }

    fn temporary(&self) -> Option<&exec::Temporary> {
        self.server.temporary()
    }

    fn call<'c>(&'c self, call: exec::Call<'c>) -> LocalFuture<'c, expr::Result<Value<'static>>> {
        let exec::Call { txn, session, function, args, strict } = call;
        boxed(move || {
            self.inside(txn, session, async move |state: &mut State<'_>| {
                crate::routine::call_function(state, function, args, strict).await
            })
        })
    }

    fn fire<'c>(&'c self, fire: exec::Fire<'c>) -> LocalFuture<'c, expr::Result<Vec<(usize, Value<'static>)>>> {
        let exec::Fire { txn, session, table, event, before, old, new } = fire;
        let triggers = crate::routine::Fired { table, event, before, old, new };
        boxed(move || self.inside(txn, session, async move |state: &mut State<'_>| crate::routine::fire(state, triggers).await))
    }

    fn virtual_rows(&self, table: &TableDef, equal: &[(usize, Vec<u8>)]) -> Option<Box<dyn VirtualRows + '_>> {
        self.server.virtual_rows(table, equal)
    }

    fn change_settings(&self, table: &TableDef, row: &[Value<'static>], changes: &[(usize, Value<'_>)]) -> expr::Result<()> {
        self.server.change_settings(table, row, changes)
    }
}

impl State<'_> {
    /// Does a program run inside a statement, as part of it?
    pub fn is_inside(&self) -> bool {
        self.execution.enclosing.is_some()
    }

    /// The plans of the enclosing statements.
    fn enclosing(&self) -> impl Iterator<Item = &PlanEntry> {
        std::iter::successors(self.execution.enclosing, |enclosing| enclosing.outer).map(|enclosing| enclosing.plan)
    }

    /// Does the program run inside a data change without IGNORE?
    pub fn is_inside_change(&self) -> bool {
        self.enclosing().any(|around| around.prepared.may_be_strict())
    }

    /// G3: 1442
    pub fn check_changed(&self, plan: &PlanEntry) -> Result<()> {
        for table in plan.prepared.changed_tables() {
            if self.enclosing().any(|around| around.prepared.uses(table.id)) {
                return Err(Error::from(Condition::CantUpdateUsedTableInSfOrTrg { table: (&table.name).into() }));
            }
        }
        Ok(())
    }

    /// G3: refuses statements that procedures may not run if a function or trigger calls them.
    pub fn check_inside(&self, statement: &Statement<'_>) -> Result<()> {
        let info = statement.info();
        let refused = match statement {
            Statement::Prepare { .. } | Statement::Execute { .. } | Statement::Deallocate { .. } => {
                RoutineError::NotInside("Dynamic SQL")
            }
            Statement::Begin { .. } | Statement::Commit(_) | Statement::Rollback(_) => RoutineError::CommitInside,
            _ if info.implicit_commit => RoutineError::CommitInside,
            _ if info.returns_rows => RoutineError::ResultSet(self.inner_name()),
            _ => return Ok(()),
        };
        Err(sql::Error::Routine(refused).into())
    }

    /// The kind of the innermost program that runs inside a statement: a function or a trigger.
    pub fn inner_name(&self) -> &'static str {
        self.execution.frames().find_map(Frame::inner_name).unwrap_or("function")
    }
}
