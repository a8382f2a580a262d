//! Runs the statements of a program that are no plans (`sql::routine::Action`), without parsing anything.
//!
//! Each does what its like does that a client sends (`session::statement`), and answers the same; which the session keeps to itself
//! while a program runs.

use super::Routine;
use super::call::{Arguments, call_with};
use crate::counters::count;
use crate::error::Result;
use crate::session::{Answer, Client, State};
use protocol::RowFormat;
use sql::ast::{CallProcedure, ObjectName, SetItem, SetValue, Show, Statement};
use sql::routine::{Action, NewValue};
use std::rc::Rc;
use types::Value;

/// Runs an action of the program of the frame that the session holds (F1).
pub async fn act(
    state: &mut State,
    client: &mut Client,
    routine: &Rc<Routine>,
    action: &Action,
    format: RowFormat,
) -> Result<()> {
    state.begin_inner_statement();
    match action {
        Action::Begin { consistent_snapshot, read_only } => {
            let (consistent_snapshot, read_only) = (*consistent_snapshot, *read_only);
            state.begin_other(&Statement::Begin { consistent_snapshot, read_only }).await?;
            return state.begin_transaction(client, read_only, consistent_snapshot).await;
        }
        Action::Commit(end) => {
            state.begin_other(&Statement::Commit(*end)).await?;
            return state.commit_as(client, *end).await;
        }
        Action::Rollback(end) => {
            state.begin_other(&Statement::Rollback(*end)).await?;
            return state.roll_back_as(client, *end).await;
        }
        Action::Savepoint(name) => return other(state, client, &Statement::Savepoint(name), format).await,
        Action::RollbackTo(name) => return other(state, client, &Statement::RollbackTo(name), format).await,
        Action::ReleaseSavepoint(name) => return other(state, client, &Statement::ReleaseSavepoint(name), format).await,
        Action::Transaction { scope, isolation, read_only } => {
            let item = SetItem::Transaction { scope: *scope, isolation: *isolation, read_only: *read_only };
            return other(state, client, &Statement::Set(&[item]), format).await;
        }
        Action::Names { charset, collation } => {
            let item = SetItem::Names { charset: charset.as_deref(), collation: collation.as_deref() };
            return other(state, client, &Statement::Set(&[item]), format).await;
        }
        Action::CharacterSet(charset) => {
            return other(state, client, &Statement::Set(&[SetItem::CharacterSet(charset.as_deref())]), format).await;
        }
        Action::Prepare { name, source } => {
            return other(state, client, &Statement::Prepare { name, source: source.get() }, format).await;
        }
        Action::Deallocate(name) => return other(state, client, &Statement::Deallocate { name }, format).await,
        Action::Warnings { errors_only, offset, count } => {
            let show = Show::Warnings { errors_only: *errors_only, offset: *offset, count: *count };
            return other(state, client, &Statement::Show(show), format).await;
        }
        Action::Execute { name, using } => {
            let using: Vec<&str> = using.iter().map(|name| &**name).collect();
            return other(state, client, &Statement::Execute { name, using: &using }, format).await;
        }
        Action::Call { database, name, args } => {
            let name = ObjectName { database: database.as_deref(), name };
            state.begin_other(&Statement::Call(&CallProcedure { name, args: &[] })).await?;
            let args = Arguments::Bound { routine, args };
            return Box::pin(call_with(state, client, &name, args, format)).await;
        }
        Action::SetUser { name, value } => {
            state.begin_other(&Statement::Set(&[])).await?;
            count(&state.worker.counters.set_option);
            let (value, ty) = routine.value(state, value, false).await?;
            state.set_user(name, value, ty);
        }
        Action::SetSystem { scope, name, value } => {
            let item = SetItem::System { scope: *scope, name, value: SetValue::Default };
            state.begin_other(&Statement::Set(&[item])).await?;
            count(&state.worker.counters.set_option);
            let to = state.settable(*scope, name)?;
            let value = match value {
                NewValue::Default => None,
                NewValue::Text(text) => Some(Value::Bytes(text.to_vec().into())),
                NewValue::Computed(code) => Some(routine.value(state, code, false).await?.0),
            };
            Box::pin(state.set_system(*scope, to, value)).await?;
        }
        Action::Do(values) => {
            state.begin_other(&Statement::Do(&[])).await?;
            for value in values {
                routine.value(state, value, false).await?;
            }
        }
    }
    state.vars.row_count = 0;
    state.write_ok(client, &Answer::default());
    Ok(())
}

/// What is as rare, or as long, as it is from a client.
async fn other(state: &mut State, client: &mut Client, statement: &Statement<'_>, format: RowFormat) -> Result<()> {
    Box::pin(state.run_other(client, statement, format)).await
}
