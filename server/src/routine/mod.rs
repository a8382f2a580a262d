//! Stored procedures, functions and triggers: compiled once per worker, run on the session's own task.
//!
//! ```text
//! CREATE -> `define`: the text is checked for errors and kept in the catalog
//! CALL   -> `call`: arguments, the routine's own settings, a frame -> `run`: one instruction after the other -> OUT values, OK
//! ```
//! - A program (`sql::routine`) is a flat list of instructions. Variables are slots of the frame.
//! - `compile`: an instruction is bound at its first execution, and the result is kept with the program: a plan whose
//!   parameters are the slots, or an expression over them. As in the plan cache, a plan is valid for one schema version
//!   and one binding key.
//! - `handler`: conditions and their handlers.
//! - `trigger`: triggers, whose variables are columns of their row. Functions and triggers run inside a statement
//!   (`session::programs`).
//!
//! F1: while a routine runs, `Execution::frame` is its frame. No statement answers OK to the client then, and each result
//!     set announces another.
//! F2: a statement borrows the values of the frame as its parameters, and returns them before the next instruction.

mod action;
mod call;
mod compile;
mod compiled;
mod define;
mod error;
mod handler;
mod run;
mod show;
mod trigger;

pub use call::{Given, alone, argument, call, call_function, check_call, computed, run_event};
pub use compile::check_event;
pub use compiled::{Frame, Routine, Routines};
pub use define::{alter, create, drop, program};
pub use error::message;
pub use handler::raised;
pub use show::{Charsets, charset_values, parameters, quoted, quoted_definer, rows, show_create};
pub use trigger::{Fired, create_trigger, drop_trigger, fire, show_create_trigger, trigger_rows};

use crate::error::Result;
use crate::session::State;
use sql::plan::StoredFunction;
use std::sync::Arc;
use types::schema::RoutineDef;

/// The parameter and return types of a stored function.
pub fn stored_function(state: &State<'_>, def: &Arc<RoutineDef>) -> Result<StoredFunction> {
    Routine::of(state, def)?.signature()
}

/// Likewise, without a session.
pub fn signature(def: &Arc<RoutineDef>) -> Result<StoredFunction> {
    Routine::compile(def)?.signature()
}
