//! Compiled programs and the frames of running ones.

use crate::plan_cache::{Bound, KeptPlan};
use crate::record;
use crate::session::ProgramSettings;
use crate::variables::Setting;
use accounts::Name;
use exec::KeptRows;
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
    pub(super) table: Option<Arc<TableDef>>,
    /// The definer under whose identity it runs; `None`: the caller's (SQL SECURITY INVOKER).
    pub(super) definer: Option<Name>,
    pub(super) program: KeptProgram,
    /// Of a trigger: the columns that its fields are.
    pub(super) columns: Vec<usize>,
    /// Of a function: the type of its value.
    pub(super) returns: Option<ColumnType>,
    /// Of the slots. The operand of a CASE takes its type when it is bound.
    pub(super) types: RefCell<Vec<ColumnType>>,
    /// The bound pieces of code, by number.
    pub(super) works: Vec<RefCell<Option<Work>>>,
    /// The database that it belongs to, which is the current one while it runs.
    pub(super) database: Rc<str>,
    /// collation_connection and character_set_connection while it runs.
    pub(super) client_settings: [Setting; 2],
    /// Its settings for a caller whose binding key is the first.
    pub(super) settings: Cell<Option<(u64, ProgramSettings)>>,
    /// Its name in the record of its statements.
    pub(super) described: Rc<record::Program>,
    /// Some handler is for warnings or NOT FOUND, which statements without an error may raise.
    pub(super) handles_warnings: bool,
}

impl Routine {
    /// Its name in the record of its statements.
    pub fn described(&self) -> &Rc<record::Program> {
        &self.described
    }

    pub fn program(&self) -> &Program<'_> {
        self.program.get()
    }
}

/// The variables of a running routine, and the rows of its cursors.
pub struct Frame {
    pub(super) routine: Rc<Routine>,
    pub(super) values: Vec<Value<'static>>,
    pub(super) cursors: Vec<Option<OpenCursor>>,
    /// The values that SELECT ... INTO has read; variables are set only after the query has finished.
    pub fetched: Vec<Value<'static>>,
    /// The value of RETURN.
    pub(super) returned: Option<Value<'static>>,
    /// The number of enclosing calls.
    pub(super) depth: u32,
    /// The frame of the caller; `None`: the caller is a statement.
    pub(super) caller: Option<Box<Frame>>,
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
pub(super) struct OpenCursor {
    pub(super) rows: KeptRows,
    pub(super) types: Vec<ColumnType>,
}

/// A bound piece of code.
pub enum Work {
    /// Computed over the frame.
    Expression(Rc<Bound<expr::Expr>>),
    Plan(KeptPlan),
    /// An expression that must be planned: it has subqueries, or waits.
    Query,
}

/// The compiled programs of a worker, by the addresses of their definition and of their table, which each holds.
#[derive(Default)]
pub struct Routines(HashMap<(usize, usize), Rc<Routine>>);

impl Routines {
    /// Programs that a worker keeps compiled.
    const MAX: usize = 512;

    pub(super) fn get(&self, def: &Arc<RoutineDef>, table: Option<&Arc<TableDef>>) -> Option<Rc<Routine>> {
        self.0.get(&addresses(def, table)).map(Rc::clone)
    }

    pub(super) fn put(&mut self, routine: &Rc<Routine>) {
        if self.0.len() >= Self::MAX {
            self.0.clear();
        }
        self.0.insert(addresses(&routine.def, routine.table.as_ref()), Rc::clone(routine));
    }
}

fn addresses(def: &Arc<RoutineDef>, table: Option<&Arc<TableDef>>) -> (usize, usize) {
    (Arc::as_ptr(def) as usize, table.map_or(0, |table| Arc::as_ptr(table) as usize))
}
