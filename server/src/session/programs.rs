//! Statements that call stored functions or fire triggers: the session is lent to these programs while they run.
//!
//! ```text
//! execute   the transaction and execution's session state move out of the session; `exec` runs over them
//! call      `exec` pauses for a program: the transaction moves into the session, the program runs as in a CALL, it moves back
//! ```
//! G1: while a program runs, the statement does nothing else. The program has the whole session, with the statement's
//!     transaction.
//! G2: the values that the program's statements set (LAST_INSERT_ID(), ROW_COUNT(), FOUND_ROWS()) end with it. User
//!     variables, warnings and the state of RAND() belong to the session.
//! G3: however an execution ends, its transaction is back in the session.
//! G4: `State::inside` has the enclosing statements. The program neither commits nor rolls back, and changes no table
//!     that they use.

use super::host::ServerHost;
use super::state::State;
use super::{Client, settings};
use crate::error::{Error, Result};
use crate::plan_cache::PlanEntry;
use crate::show::Gathered;
use conditions::Condition;
use exec::{ExecContext, LocalFuture, Prepared, VirtualRows};
use expr::SessionVars;
use sql::ast::Statement;
use sql::routine::RoutineError;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use txn::Txn;
use types::Value;
use types::schema::TableDef;

/// Like `run::execute`, for a plan whose statement calls programs.
pub async fn execute<T>(
    state: &mut State,
    plan: &Rc<PlanEntry>,
    params: &[Value<'_>],
    gathered: Option<&Gathered>,
    run: impl AsyncFnOnce(&mut ExecContext<'_>, &Prepared) -> expr::Result<T>,
) -> Result<T> {
    let (worker, access) = (Rc::clone(&state.worker), Rc::clone(&state.access));
    let schema = plan.reads.any.then(|| access.visible(&worker.schema()));
    let mut lending = Lending::begin(state, plan)?;
    let Lending { state, txn, vars } = &mut lending;
    let server = ServerHost { schema: schema.as_deref(), gathered, access: Some(&access), ..ServerHost::new(&worker) };
    let host = ProgramHost { server, state };
    let mut context =
        ExecContext { worker: &worker.engine, txn, database: &worker.shared.database, session: vars, params, host: &host };
    Ok(run(&mut context, &plan.prepared).await?)
}

/// The session while its statement calls programs. See G3.
struct Lending<'s> {
    state: RefCell<Option<&'s mut State>>,
    txn: Txn,
    vars: SessionVars,
}

impl<'s> Lending<'s> {
    fn begin(state: &'s mut State, plan: &Rc<PlanEntry>) -> Result<Self> {
        let Some(txn) = state.transaction.take_txn() else {
            return Err(Error::Internal("a statement without a transaction".to_owned()));
        };
        let inner = state.vars.clone();
        let vars = std::mem::replace(&mut state.vars, inner);
        state.inside.push(Rc::clone(plan));
        Ok(Self { state: RefCell::new(Some(state)), txn, vars })
    }
}

impl Drop for Lending<'_> {
    fn drop(&mut self) {
        // The guard `Inside` has put it back, however it ended.
        let Some(state) = self.state.get_mut().take() else { return };
        let idle = state.worker.engine.begin(self.txn.isolation());
        state.transaction.put_txn(std::mem::replace(&mut self.txn, idle));
        state.inside.pop();
        std::mem::swap(&mut state.vars, &mut self.vars);
        // A program may have set variables.
        state.vars.time_zone = self.vars.time_zone.clone();
        settings::apply(&state.variables, &state.settings, &mut state.vars);
    }
}

/// The `Host` of such a statement.
struct ProgramHost<'a, 's> {
    server: ServerHost<'a>,
    state: &'a RefCell<Option<&'s mut State>>,
}

/// The session while a program runs in a statement.
struct Inside<'c, 's> {
    home: &'c RefCell<Option<&'s mut State>>,
    state: Option<&'s mut State>,
    txn: &'c mut Txn,
    session: &'c SessionVars,
}

impl<'c, 's> Inside<'c, 's> {
    fn enter(home: &'c RefCell<Option<&'s mut State>>, txn: &'c mut Txn, session: &'c SessionVars) -> expr::Result<Self> {
        let Some(state) = home.borrow_mut().take() else {
            return Err(raised(Error::Internal("a program is called while another one runs".to_owned())));
        };
        let idle = state.worker.engine.begin(txn.isolation());
        state.transaction.put_txn(std::mem::replace(txn, idle));
        begin_vars(&mut state.vars, session);
        Ok(Self { home, state: Some(state), txn, session })
    }

    fn state(&mut self) -> &mut State {
        self.state.as_mut().expect("there until it is dropped")
    }
}

impl Drop for Inside<'_, '_> {
    fn drop(&mut self) {
        let Some(state) = self.state.take() else { return };
        if let Some(txn) = state.transaction.take_txn() {
            *self.txn = txn;
        }
        end_vars(&mut state.vars, self.session);
        *self.home.borrow_mut() = Some(state);
    }
}

/// Copies the variables that a program sees of the statement that calls it; G2.
fn begin_vars(inner: &mut SessionVars, outer: &SessionVars) {
    let assigned = outer.assigned_variables.borrow();
    for (name, variable) in assigned.iter() {
        inner.user_variables.insert(name, variable.clone());
    }
    inner.last_insert_id.set(outer.last_insert_id.get());
    inner.found_rows = outer.found_rows;
    inner.row_count = outer.row_count;
    inner.insert_id = None;
    inner.rand.set(outer.rand.get());
    inner.warnings.get_mut().clear();
}

/// Copies the variables that the program leaves to the statement; G2.
fn end_vars(inner: &mut SessionVars, outer: &SessionVars) {
    inner.settle_variables();
    outer.rand.set(inner.rand.get());
    let mut assigned = outer.assigned_variables.borrow_mut();
    for (name, variable) in inner.user_variables.iter() {
        if assigned.get(name).or_else(|| outer.user_variables.get(name)) != Some(variable) {
            assigned.insert(name, variable.clone());
        }
    }
    let mut warnings = outer.warnings.borrow_mut();
    for warning in inner.warnings.borrow().list() {
        warnings.push(warning.level, warning.error.clone());
    }
}

/// A program's error, as an error of the statement that called it.
fn raised(error: Error) -> expr::Error {
    match error {
        Error::Exec(error) => error,
        error => expr::Error::Raised(Box::new(crate::routine::raised(&error))),
    }
}

impl expr::Host for ProgramHost<'_, '_> {
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

impl exec::Host for ProgramHost<'_, '_> {
    fn sleep(&self, duration: Duration) -> LocalFuture<'_, ()> {
        self.server.sleep(duration)
    }

    fn get_lock(&self, connection_id: u32, name: &str, timeout: Option<Duration>) -> LocalFuture<'_, expr::Result<bool>> {
        self.server.get_lock(connection_id, name, timeout)
    }

    fn temporary(&self) -> Option<&exec::Temporary> {
        self.server.temporary()
    }

    fn call<'c>(&'c self, call: exec::Call<'c>) -> LocalFuture<'c, expr::Result<Value<'static>>> {
        Box::pin(async move {
            let exec::Call { txn, session, function, args, strict } = call;
            let mut inside = Inside::enter(self.state, txn, session)?;
            let mut client = Client::nobody(self.server.worker).map_err(raised)?;
            crate::routine::call_function(inside.state(), &mut client, function, args, strict).await.map_err(raised)
        })
    }

    fn fire<'c>(&'c self, fire: exec::Fire<'c>) -> LocalFuture<'c, expr::Result<Vec<(usize, Value<'static>)>>> {
        Box::pin(async move {
            let exec::Fire { txn, session, table, event, before, old, new } = fire;
            let mut inside = Inside::enter(self.state, txn, session)?;
            let mut client = Client::nobody(self.server.worker).map_err(raised)?;
            let triggers = crate::routine::Fired { table, event, before, old, new };
            crate::routine::fire(inside.state(), &mut client, triggers).await.map_err(raised)
        })
    }

    fn virtual_rows(&self, table: &TableDef, equal: &[(usize, Vec<u8>)]) -> Option<Box<dyn VirtualRows + '_>> {
        self.server.virtual_rows(table, equal)
    }

    fn change_settings(&self, table: &TableDef, row: &[Value<'static>], changes: &[(usize, Value<'_>)]) -> expr::Result<()> {
        self.server.change_settings(table, row, changes)
    }
}

impl State {
    /// Does a program run inside a statement, as part of it?
    pub fn is_inside(&self) -> bool {
        !self.inside.is_empty()
    }

    /// Does the program run inside a data change without IGNORE?
    pub fn is_inside_change(&self) -> bool {
        self.inside.iter().any(|around| around.prepared.may_be_strict())
    }

    /// G4: 1442
    pub fn check_changed(&self, plan: &PlanEntry) -> Result<()> {
        for table in plan.prepared.changed_tables() {
            if self.inside.iter().any(|around| around.prepared.uses(table.id)) {
                return Err(Error::from(Condition::CantUpdateUsedTableInSfOrTrg { table: (&table.name).into() }));
            }
        }
        Ok(())
    }

    /// G4: refuses statements that procedures may not run if a function or trigger calls them.
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
        self.frame.as_ref().and_then(|frame| frame.inner_name()).unwrap_or("function")
    }
}
