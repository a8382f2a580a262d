//! Runs a program: one instruction after the other, each statement as the session runs its own.
//!
//! An error goes to a matching handler, or else to the caller. An error that no handler may catch (KILL, a lost client)
//! goes to the caller directly.

use super::compiled::OpenCursor;
use super::handler::{self, Handling};
use super::{Frame, Routine, action};
use crate::error::{Error, Result};
use crate::plan_cache::{PlanEntry, ResultTarget};
use crate::session::{Destination, Execution, PLAN_ATTEMPTS_MAX, Ran, Recipient, State};
use conditions::Condition;
use exec::{KeptRows, Strictness};
use expr::{Raised, UserVariable};
use protocol::{Capabilities, RowFormat};
use sql::routine::{Instr, Place, RoutineError, SlotType, StatementCode};
use std::rc::Rc;
use types::{ColumnType, LobSize, TypeKind, Value};

/// The number of instructions between two yields and checks of the kill flag.
const SLICE: u32 = 256;

/// Runs the program of the frame that the session holds (F1).
pub async fn run(state: &mut State<'_>, client: &mut Recipient<'_>, routine: &Rc<Routine>, format: RowFormat) -> Result<()> {
    let program = routine.program();
    let mut handling: Vec<Handling> = Vec::new();
    let mut at = 0;
    let mut steps = 0u32;
    while let Some(instr) = program.instrs.get(at) {
        steps += 1;
        if steps.is_multiple_of(SLICE) {
            exec::yield_now().await;
            if state.info.killed() != expr::kill::NONE {
                return Err(Error::Exec(expr::Error::Interrupted));
            }
        }
        // For diagnostics, an expression counts as a statement.
        if matches!(instr, Instr::Set { .. } | Instr::Clear(_) | Instr::JumpUnless { .. }) {
            state.clear_warnings();
        }
        let before = state.warning_count();
        let handled = handling.last();
        let outcome = match instr {
            Instr::Handled { exits } => {
                let Some(done) = handling.pop() else {
                    return Err(Error::Internal("a handler ends that did not begin".to_owned()));
                };
                done.end(state);
                match exits {
                    Some(block) => {
                        while handling.last().is_some_and(|h| handler::is_within(program, h.block, *block)) {
                            handling.pop();
                        }
                        at = program.blocks[*block as usize].end as usize;
                    }
                    None => at = done.resume,
                }
                continue;
            }
            _ => match step_now(state, routine, at, instr) {
                Some(done) => done,
                None => step(state, client, routine, at, instr, handled, format).await,
            },
        };
        let raised = match outcome {
            Ok(next) => {
                if routine.handles_warnings && state.warning_count() > 0 {
                    match last_handled(state, routine, at, instr, before) {
                        Some(raised) => raised,
                        None => {
                            at = next;
                            continue;
                        }
                    }
                } else {
                    at = next;
                    continue;
                }
            }
            Err(error) if is_final(state, &error) => return Err(error),
            Err(error) => {
                let raised = handler::raised(&error);
                if handler::find(program, program.block_of[at], &raised).is_none() {
                    return Err(error);
                }
                state.note_inner_error(&error);
                state.info.record.note_handled(error.describe().number, state.worker.wall_clock_us());
                raised
            }
        };
        let Some((block, handler)) = handler::find(program, program.block_of[at], &raised) else {
            return Err(Error::Internal("a handler was lost".to_owned()));
        };
        let (conditions, cleared) = (handler::conditions(state), state.execution.vars.warnings.get_mut().cleared());
        state.session.is_stacked = false;
        handling.push(Handling { block, raised, conditions, cleared, resume: after(instr, at) });
        at = handler.entry as usize;
    }
    Ok(())
}

/// Where a CONTINUE handler continues after a failed instruction.
fn after(instr: &Instr<'_>, at: usize) -> usize {
    match instr {
        Instr::JumpUnless { after, .. } | Instr::Set { after: Some(after), .. } => *after as usize,
        _ => at + 1,
    }
}

/// Errors that no handler may catch.
fn is_final(state: &State<'_>, error: &Error) -> bool {
    match error {
        // The enclosing statement rolls the whole transaction back.
        error if state.is_inside() && error.ends_transaction() => true,
        Error::Exec(expr::Error::Interrupted | expr::Error::ClientGone) | Error::Internal(_) | Error::ShuttingDown => true,
        Error::Protocol(error) => error.is_fatal(),
        _ => false,
    }
}

/// The last of the warnings of an instruction that has a handler.
fn last_handled(state: &State<'_>, routine: &Routine, at: usize, instr: &Instr<'_>, before: u16) -> Option<Raised> {
    let clears = matches!(instr, Instr::Run(_) | Instr::Act(_) | Instr::Open(_) | Instr::Signal(_));
    if !clears && state.warning_count() == before {
        return None;
    }
    // An error of GET DIAGNOSTICS itself is added to the earlier conditions.
    let skip = if clears || matches!(instr, Instr::Diagnostics(_)) { 0 } else { before.into() };
    let block = routine.program().block_of[at];
    let handled = |raised: &Raised| handler::find(routine.program(), block, raised).is_some();
    handler::last_condition(state, skip, handled)
}

fn frame<'f>(state: &'f mut State<'_>) -> &'f mut Frame {
    state.execution.frame.as_mut().expect("F1")
}

/// Runs an instruction that surely waits for nothing: a jump, or a kept expression; which one is next. `None`: it is for [`step`].
fn step_now(state: &mut State<'_>, routine: &Routine, at: usize, instr: &Instr<'_>) -> Option<Result<usize>> {
    match instr {
        Instr::Set { slot, value, .. } => {
            let strictness = strictness(routine, *slot);
            let outcome =
                routine.kept_value(state, value, strictness, |state, value, ty| set(state, routine, *slot, value, ty))?;
            if outcome.is_err() {
                forget(state, routine, *slot);
            }
            Some(outcome.map(|()| at + 1))
        }
        Instr::JumpUnless { condition, target, .. } => {
            let holds = routine.kept_truth(state, condition)?;
            Some(holds.map(|holds| if holds { at + 1 } else { *target as usize }))
        }
        Instr::Clear(slot) => {
            frame(state).values[*slot as usize] = Value::Null;
            Some(Ok(at + 1))
        }
        Instr::Jump(target) => Some(Ok(*target as usize)),
        _ => None,
    }
}

/// How strictly a value is converted to the variable. The operand of a CASE is only compared.
fn strictness(routine: &Routine, slot: u32) -> Strictness {
    match routine.program().slots[slot as usize].ty {
        SlotType::Operand => Strictness::Arguments,
        _ => Strictness::Everywhere,
    }
}

/// A variable that could not be set is NULL for the handler of that, as in MySQL.
fn forget(state: &mut State<'_>, routine: &Routine, slot: u32) {
    if matches!(routine.program().slots[slot as usize].ty, SlotType::Written(_)) {
        frame(state).values[slot as usize] = Value::Null;
    }
}

/// Gives a variable a value that was read for it.
fn assign_or_forget(state: &mut State<'_>, routine: &Routine, slot: u32, value: Value<'static>, from: &ColumnType) -> Result<()> {
    assign(state, slot, value, from).inspect_err(|_| forget(state, routine, slot))
}

/// SET of a variable to a known value. The variable of a CASE operand takes the value's type too.
fn set(state: &mut State<'_>, routine: &Routine, slot: u32, value: Value<'static>, ty: &ColumnType) -> Result<()> {
    if routine.program().slots[slot as usize].ty == SlotType::Operand {
        routine.types.borrow_mut()[slot as usize] = operand_type(ty.clone());
        frame(state).values[slot as usize] = value;
        return Ok(());
    }
    assign(state, slot, value, ty)
}

/// Runs one instruction; which one is next.
async fn step(
    state: &mut State<'_>,
    client: &mut Recipient<'_>,
    routine: &Rc<Routine>,
    at: usize,
    instr: &Instr<'_>,
    handled: Option<&Handling>,
    format: RowFormat,
) -> Result<usize> {
    match instr {
        Instr::Run(code) => statement(state, client, routine, code, format).await?,
        Instr::Act(action) => action::act(state, client, routine, action, format).await?,
        Instr::Set { slot, value, .. } => {
            let strictness = strictness(routine, *slot);
            let computed = routine.value(state, value, strictness).await;
            let outcome = computed.and_then(|(value, ty)| set(state, routine, *slot, value, &ty));
            if outcome.is_err() {
                forget(state, routine, *slot);
            }
            outcome?;
        }
        Instr::JumpUnless { condition, target, .. } => {
            if !routine.is_true(state, condition).await? {
                return Ok(*target as usize);
            }
        }
        Instr::CaseMissing => {
            return Err(Error::from(Condition::SpCaseNotFound));
        }
        Instr::Open(cursor) => open(state, client, routine, *cursor as usize).await?,
        Instr::Fetch { cursor, into } => fetch(state, routine, *cursor as usize, into).await?,
        Instr::Close(cursor) => {
            if frame(state).cursors[*cursor as usize].take().is_none() {
                return Err(not_open());
            }
        }
        Instr::Reset { first, count } => {
            let (first, count) = (*first as usize, *count as usize);
            frame(state).cursors[first..first + count].iter_mut().for_each(|cursor| *cursor = None);
        }
        Instr::Return(value) => {
            // The conditions of statements do not belong to the function.
            state.clear_warnings();
            // If RETURN failed and a handler continues, the function returns NULL.
            frame(state).returned = Some(Value::Null);
            let (value, ty) = routine.value(state, value, Strictness::Everywhere).await?;
            let Some(to) = &routine.returns else {
                return Err(Error::Internal("RETURN of a procedure".to_owned()));
            };
            let name = format!("{}()", routine.def.name);
            let value = exec::program::assign(&state.execution.vars, value, &ty, to, &name)?;
            frame(state).returned = Some(value);
            return Ok(routine.program().instrs.len());
        }
        Instr::Handled { .. } | Instr::Clear(_) | Instr::Jump(_) => {
            return Err(Error::Internal("an instruction that waits for nothing is for `run` and `step_now`".to_owned()));
        }
        Instr::Signal(signal) => {
            handler::signal(routine, state, signal, handled).await?;
            state.execution.vars.row_count = 0;
        }
        Instr::Diagnostics(what) => {
            for (place, value, ty) in handler::diagnostics(routine, state, what, handled).await? {
                match place {
                    Place::Local(slot) => assign(state, slot, value, &ty)?,
                    Place::User(name) => state.execution.vars.set_user_variable(&name, UserVariable::new(value, ty))?,
                }
            }
        }
    }
    Ok(at + 1)
}

/// The type in which the operand of a CASE is compared: an ENUM is a string, even beside numbers.
fn operand_type(ty: ColumnType) -> ColumnType {
    match ty.kind {
        TypeKind::Enum { .. } | TypeKind::Set { .. } => {
            ColumnType { collation: ty.collation, ..ColumnType::new(TypeKind::Text(LobSize::Long)) }
        }
        _ => ty,
    }
}

/// Gives a variable a value of type `from`.
pub fn assign(state: &mut State<'_>, slot: u32, value: Value<'static>, from: &ColumnType) -> Result<()> {
    let Execution { frame, vars, .. } = &mut state.execution;
    let frame = frame.as_mut().expect("F1");
    let slot = slot as usize;
    let to = frame.routine.types.borrow()[slot].clone();
    let stored = exec::program::assign(vars, value, from, &to, frame.routine.program().slots[slot].name)?;
    frame.values[slot] = stored;
    Ok(())
}

/// Runs a statement with the frame's values as its parameters, and keeps a line about it.
async fn statement(
    state: &mut State<'_>,
    client: &mut Recipient<'_>,
    routine: &Rc<Routine>,
    code: &StatementCode<'_>,
    format: RowFormat,
) -> Result<()> {
    let nested = state.begin_recorded();
    let outcome = unrecorded_statement(state, client, routine, code, format).await;
    if let Some(nested) = nested {
        state.end_recorded(&nested, code.text, routine.described(), outcome.as_ref().err());
    }
    outcome
}

async fn unrecorded_statement(
    state: &mut State<'_>,
    client: &mut Recipient<'_>,
    routine: &Rc<Routine>,
    code: &StatementCode<'_>,
    format: RowFormat,
) -> Result<()> {
    state.begin_inner_statement();
    let statement = &code.tree.statement;
    if !statement.info().plannable {
        state.note_definition(statement, code.text.as_bytes());
        return action::run_other(state, client, statement, format).await;
    }
    state.clear_warnings();
    for _ in 0..PLAN_ATTEMPTS_MAX {
        let frame = state.execution.frame.as_ref().expect("F1");
        let entry = routine.plan(state, frame, code)?;
        if entry.is_query() && entry.into.is_none() && state.is_inside() {
            return Err(sql::Error::Routine(RoutineError::ResultSet(state.inner_name())).into());
        }
        if entry.is_query() && entry.into.is_none() && !state.connection.capabilities.has(Capabilities::MULTI_RESULTS) {
            let def = &routine.def;
            return Err(Error::from(Condition::SpBadSelect { name: format!("{}.{}", def.database, def.name).into() }));
        }
        state.clear_warnings();
        match lend(state, client, &entry, &mut Destination::Client(format)).await {
            Ok(Ran::Stale) => {}
            Ok(Ran::Done) => return store_fetched(state, routine, &entry),
            Err(error) => {
                // Of several rows the first has been read before the second was found to be too many.
                store_fetched(state, routine, &entry)?;
                return Err(error);
            }
        }
    }
    Err(Error::Exec(expr::Error::TableChanged { table: String::new() }))
}

/// Runs a plan with the frame's values; see F2.
async fn lend(state: &mut State<'_>, client: &mut Recipient<'_>, entry: &Rc<PlanEntry>, to: &mut Destination<'_>) -> Result<Ran> {
    let values = frame(state).take_values();
    let outcome = state.run_plan(client, entry, &values, to).await;
    frame(state).put_values(values);
    outcome
}

/// Assigns the values that SELECT ... INTO has read to its variables, one after the other.
fn store_fetched(state: &mut State<'_>, routine: &Routine, entry: &PlanEntry) -> Result<()> {
    let mut fetched = std::mem::take(&mut frame(state).fetched);
    let Some(ResultTarget::Variables(places)) = &entry.into else { return Ok(()) };
    let targets = places.iter().zip(entry.prepared.columns());
    let outcome = fetched.drain(..).zip(targets).try_for_each(|(value, (place, column))| match place {
        Place::Local(slot) => assign_or_forget(state, routine, *slot, value, &column.ty),
        Place::User(name) => Ok(state.execution.vars.set_user_variable(name, UserVariable::new(value, column.ty.clone()))?),
    });
    frame(state).fetched = fetched;
    outcome
}

async fn open(state: &mut State<'_>, client: &mut Recipient<'_>, routine: &Rc<Routine>, cursor: usize) -> Result<()> {
    if frame(state).cursors[cursor].is_some() {
        return Err(Error::from(Condition::SpCursorAlreadyOpen));
    }
    state.begin_inner_statement();
    state.clear_warnings();
    let row_count = state.execution.vars.row_count;
    for _ in 0..PLAN_ATTEMPTS_MAX {
        let frame_ = state.execution.frame.as_ref().expect("F1");
        let entry = routine.plan(state, frame_, &routine.program().cursors[cursor])?;
        state.clear_warnings();
        let mut rows = KeptRows::new(state.keep_rows());
        if lend(state, client, &entry, &mut Destination::Rows(&mut rows)).await? == Ran::Done {
            // ROW_COUNT() still refers to the previous statement.
            state.execution.vars.row_count = row_count;
            let types = entry.prepared.columns().iter().map(|column| column.ty.clone()).collect();
            frame(state).cursors[cursor] = Some(OpenCursor { rows, types });
            return Ok(());
        }
    }
    Err(Error::Exec(expr::Error::TableChanged { table: String::new() }))
}

fn not_open() -> Error {
    Error::from(Condition::SpCursorNotOpen)
}

async fn fetch(state: &mut State<'_>, routine: &Routine, cursor: usize, into: &[u32]) -> Result<()> {
    let Some(mut open) = frame(state).cursors[cursor].take() else { return Err(not_open()) };
    let outcome = if open.types.len() == into.len() {
        match open.rows.next().await {
            Err(error) => Err(error.into()),
            Ok(false) => Err(Error::from(Condition::SpFetchNoData)),
            Ok(true) => {
                let mut targets = into.iter().enumerate().zip(&open.types);
                targets
                    .try_for_each(|((n, slot), ty)| assign_or_forget(state, routine, *slot, open.rows.value(n).into_owned(), ty))
            }
        }
    } else {
        Err(Error::from(Condition::SpWrongNoOfFetchArgs))
    };
    frame(state).cursors[cursor] = Some(open);
    outcome
}
