//! Stored procedures: compiled once for each worker, run on the session's own task.
//!
//! ```text
//! CREATE -> `define`: the text is read for errors and kept in the catalog
//! CALL   -> `call`: arguments, the routine's own settings, a frame -> `run`: one instruction after the other -> OUT values, OK
//! ```
//! - A program (`sql::routine`) is a flat list of instructions. Variables are slots of the frame.
//! - `compile`: what an instruction runs is bound when it is first met and kept with the program: a plan whose parameters are the slots,
//!   or an expression over them. A plan is good for one schema version and one binding key, as in the plan cache.
//! - `handler`: conditions, and who handles them.
//!
//! F1: while a routine runs, `State::frame` is its frame. Nothing answers OK to the client then, and each result set announces another.
//! F2: the values are lent to a statement as its parameters, and are back in the frame before the next instruction.

mod call;
mod compile;
mod define;
mod error;
mod handler;
mod run;
mod show;

pub use call::{Given, call};
pub use define::{alter, create, drop};
pub use error::message;
pub use handler::Raised;
pub use show::{parameters, routines, show_create, status};

use crate::accounts::Name;
use compile::Work;
use sql::routine::Program;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use types::schema::RoutineDef;
use types::{ColumnType, Value};

/// A procedure that is ready to run.
pub struct Routine {
    pub def: Arc<RoutineDef>,
    /// In whose name it runs; `None`: in its caller's (SQL SECURITY INVOKER).
    definer: Option<Name>,
    program: Program,
    /// Of the slots. The operand of a CASE takes its type when it is bound.
    types: RefCell<Vec<ColumnType>>,
    /// What instructions run, by number; those of cursors behind them.
    works: Vec<RefCell<Option<Work>>>,
    /// Some handler is for warnings or NOT FOUND, which statements without an error may raise.
    handles_warnings: bool,
}

/// The variables of a routine that runs, and what its cursors have read.
pub struct Frame {
    routine: Rc<Routine>,
    values: Vec<Value<'static>>,
    cursors: Vec<Option<OpenCursor>>,
    /// What SELECT ... INTO has read for variables.
    pub fetched: Vec<(u32, Value<'static>, ColumnType)>,
    /// Calls around this one.
    depth: u32,
    /// The frame of the caller.
    caller: Option<Box<Frame>>,
}

impl Frame {
    /// The type of a variable.
    pub fn local_type(&self, slot: usize) -> ColumnType {
        self.routine.types.borrow()[slot].clone()
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
    rows: std::vec::IntoIter<Vec<Value<'static>>>,
    types: Vec<ColumnType>,
}

/// The compiled procedures of a worker, by the address of their definition, which each holds.
#[derive(Default)]
pub struct Routines(HashMap<usize, Rc<Routine>>);

impl Routines {
    /// Procedures that a worker keeps compiled.
    const MAX: usize = 512;

    fn get(&self, def: &Arc<RoutineDef>) -> Option<Rc<Routine>> {
        self.0.get(&address(def)).map(Rc::clone)
    }

    fn put(&mut self, routine: &Rc<Routine>) {
        if self.0.len() >= Self::MAX {
            self.0.clear();
        }
        self.0.insert(address(&routine.def), Rc::clone(routine));
    }
}

fn address(def: &Arc<RoutineDef>) -> usize {
    Arc::as_ptr(def) as usize
}
