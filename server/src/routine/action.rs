//! Runs the statements of a program that have no plan. Those with expressions in the program's code are
//! `sql::routine::Action`.
//!
//! Each does the same as the client's statement of its kind (`session::statement`), with the same answer, which the
//! session suppresses while a program runs.

use super::Routine;
use super::call::{Arguments, call_with};
use crate::error::Result;
use crate::session::{Answer, Recipient, State};
use exec::{Strictness, boxed};
use protocol::RowFormat;
use sql::ast::{CallProcedure, SetItem, SetValue, Statement};
use sql::routine::{Action, NewValue};
use std::rc::Rc;
use types::Value;

/// Runs an action of the program of the frame that the session holds (F1).
pub async fn act(
    state: &mut State<'_>,
    client: &mut Recipient<'_>,
    routine: &Rc<Routine>,
    action: &Action<'_>,
    format: RowFormat,
) -> Result<()> {
    state.begin_inner_statement();
    match action {
        Action::Call { name, args } => {
            state.begin_other(&Statement::Call(&CallProcedure { name: *name, args: &[] })).await?;
            let args = Arguments::Bound { routine, args };
            return boxed(|| call_with(state, client, name, args, format)).await;
        }
        Action::SetUser { name, value } => {
            state.begin_other(&Statement::Set(&[])).await?;
            let (value, ty) = routine.value(state, value, Strictness::Arguments).await?;
            state.set_user(name, value, ty)?;
        }
        Action::SetSystem { scope, name, value } => {
            let item = SetItem::System { scope: *scope, name, value: SetValue::Default };
            state.begin_other(&Statement::Set(&[item])).await?;
            let to = state.settable(*scope, name)?;
            let value = match value {
                NewValue::Default => None,
                NewValue::Text(text) => Some(Value::Bytes(text.to_vec().into())),
                NewValue::Computed(code) => Some(routine.value(state, code, Strictness::Arguments).await?.0),
            };
            Box::pin(state.set_system(*scope, to, value)).await?;
        }
        Action::Do(values) => {
            state.begin_other(&Statement::Do(&[])).await?;
            for value in values {
                // A window stands over the one row of a query.
                match value.tree {
                    sql::ast::Expr::Window(_) => Box::pin(routine.query_value(state, value, Strictness::Nowhere)).await?,
                    _ => routine.value(state, value, Strictness::Nowhere).await?,
                };
            }
        }
    }
    state.execution.vars.row_count = 0;
    state.write_ok(client, &Answer::default());
    Ok(())
}

/// Runs a statement that is not a plan, as if a client had sent it.
pub async fn run_other(
    state: &mut State<'_>,
    client: &mut Recipient<'_>,
    statement: &Statement<'_>,
    format: RowFormat,
) -> Result<()> {
    match statement {
        // They take less than the room for the future of any statement.
        Statement::Begin { consistent_snapshot, read_only } => {
            state.begin_other(statement).await?;
            state.begin_transaction(client, *read_only, *consistent_snapshot).await
        }
        Statement::Commit(end) => {
            state.begin_other(statement).await?;
            state.commit_as(client, *end).await
        }
        Statement::Rollback(end) => {
            state.begin_other(statement).await?;
            state.roll_back_as(client, *end).await
        }
        _ => boxed(|| state.run_other(client, statement, &[], format)).await,
    }
}
