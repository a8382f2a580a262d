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
mod define;
mod error;
mod handler;
mod run;
mod show;
mod trigger;

pub use call::{Given, alone, argument, call, call_function, check_call, computed, run_event};
pub use compile::check_event;
pub use define::{alter, create, drop, program};
pub use error::message;
pub use handler::raised;
pub use show::{Charsets, charset_values, parameters, quoted, quoted_definer, rows, show_create};
pub use trigger::{Fired, create_trigger, drop_trigger, fire, show_create_trigger, trigger_rows};

use crate::error::Result;
use crate::session::{ProgramSettings, State};
use crate::variables::Setting;
use accounts::Name;
use compile::Work;
use exec::KeptRows;
use sql::plan::StoredFunction;
use sql::routine::{KeptProgram, Program};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use types::schema::{RoutineDef, TableDef};
use types::{ColumnType, Value};

/// A procedure, function, event or trigger that is ready to run.
pub struct Routine {
    pub def: Arc<RoutineDef>,
    /// Of a trigger.
    table: Option<Arc<TableDef>>,
    /// The definer under whose identity it runs; `None`: the caller's (SQL SECURITY INVOKER).
    definer: Option<Name>,
    program: KeptProgram,
    /// Of a trigger: the columns that its fields are.
    columns: Vec<usize>,
    /// Of a function: the type of its value.
    returns: Option<ColumnType>,
    /// Of the slots. The operand of a CASE takes its type when it is bound.
    types: RefCell<Vec<ColumnType>>,
    /// The bound pieces of code, by number.
    works: Vec<RefCell<Option<Work>>>,
    /// The database that it belongs to, which is the current one while it runs.
    database: Rc<str>,
    /// collation_connection and character_set_connection while it runs.
    client_settings: [Setting; 2],
    /// Its settings for a caller whose binding key is the first.
    settings: Cell<Option<(u64, ProgramSettings)>>,
    /// Some handler is for warnings or NOT FOUND, which statements without an error may raise.
    handles_warnings: bool,
}

impl Routine {
    pub fn program(&self) -> &Program<'_> {
        self.program.get()
    }
}

/// The variables of a running routine, and the rows of its cursors.
pub struct Frame {
    routine: Rc<Routine>,
    values: Vec<Value<'static>>,
    cursors: Vec<Option<OpenCursor>>,
    /// The values that SELECT ... INTO has read; variables are set only after the query has finished.
    pub fetched: Vec<Value<'static>>,
    /// The value of RETURN.
    returned: Option<Value<'static>>,
    /// The number of enclosing calls.
    depth: u32,
    /// The frame of the caller; `None`: the caller is a statement.
    caller: Option<Box<Frame>>,
}

impl Frame {
    /// The type of a variable.
    pub fn local_type(&self, slot: usize) -> ColumnType {
        self.routine.types.borrow()[slot].clone()
    }

    /// The kind of the program, if it is one that runs inside a statement.
    pub fn inner_name(&self) -> Option<&'static str> {
        self.routine.program().kind.inner_name()
    }

    /// The frame of the caller within the same execution.
    pub fn caller(&self) -> Option<&Self> {
        self.caller.as_deref()
    }

    pub fn values(&self) -> &[Value<'static>] {
        &self.values
    }

    /// Lends the values out; see F2.
    pub fn take_values(&mut self) -> Vec<Value<'static>> {
        std::mem::take(&mut self.values)
    }

    pub fn put_values(&mut self, values: Vec<Value<'static>>) {
        self.values = values;
    }
}

/// The rows of a cursor, read when it was opened.
struct OpenCursor {
    rows: KeptRows,
    types: Vec<ColumnType>,
}

/// The parameter and return types of a stored function.
pub fn stored_function(state: &State<'_>, def: &Arc<RoutineDef>) -> Result<StoredFunction> {
    Routine::of(state, def)?.signature()
}

/// Likewise, without a session.
pub fn signature(def: &Arc<RoutineDef>) -> Result<StoredFunction> {
    Routine::compile(def)?.signature()
}

/// The compiled programs of a worker, by the addresses of their definition and of their table, which each holds.
#[derive(Default)]
pub struct Routines(HashMap<(usize, usize), Rc<Routine>>);

impl Routines {
    /// Programs that a worker keeps compiled.
    const MAX: usize = 512;

    fn get(&self, def: &Arc<RoutineDef>, table: Option<&Arc<TableDef>>) -> Option<Rc<Routine>> {
        self.0.get(&addresses(def, table)).map(Rc::clone)
    }

    fn put(&mut self, routine: &Rc<Routine>) {
        if self.0.len() >= Self::MAX {
            self.0.clear();
        }
        self.0.insert(addresses(&routine.def, routine.table.as_ref()), Rc::clone(routine));
    }
}

fn addresses(def: &Arc<RoutineDef>, table: Option<&Arc<TableDef>>) -> (usize, usize) {
    (Arc::as_ptr(def) as usize, table.map_or(0, |table| Arc::as_ptr(table) as usize))
}
