//! Stored programs as the parser makes them: a flat list of instructions with jump targets.
//!
//! The parser resolves the names that MySQL's parser resolves: variables become slots, cursors and conditions become
//! their definitions, labels become jumps. Statements and expressions stay syntax trees. The session that runs the
//! program binds each when it first executes it, and again after a schema change. Nothing is parsed twice.
//!
//! R1: every jump target, block, slot and cursor number in a program is valid in that program.
//! R2: trees and names live in the arena that the program was parsed into; a [`KeptProgram`] owns both.
//! R3: pieces of code are numbered from 0; equal pieces share a number.

use crate::arena::Arena;
use crate::ast::{BinaryOp, DataType, Expr, ObjectName, VariableScope};
use crate::error::Result;
use crate::parser::{Parsed, read_program};
use conditions::SignalItem;
use self_cell::self_cell;
use std::fmt::Write;
use types::SqlMode;
use types::schema::TriggerEvent;

self_cell! {
    /// A program, with the memory that it lies in.
    pub struct KeptProgram {
        owner: Arena,

        #[covariant]
        dependent: Program,
    }

    impl {Debug}
}

impl KeptProgram {
    /// Reads a program from the text between the parentheses and its body.
    pub fn read(kind: ProgramKind, parameters: &str, body: &str, mode: &SqlMode) -> Result<Self> {
        Self::try_new(Arena::new(), |arena| read_program(arena, kind, arena.text(parameters), arena.text(body), mode))
    }

    pub fn get(&self) -> &Program<'_> {
        self.borrow_dependent()
    }
}

/// The kind of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgramKind {
    #[default]
    Procedure,
    Function,
    Event,
    Trigger {
        event: TriggerEvent,
        before: bool,
    },
}

impl ProgramKind {
    /// The name in messages of the kinds that run inside a statement.
    pub fn inner_name(self) -> Option<&'static str> {
        match self {
            ProgramKind::Procedure | ProgramKind::Event => None,
            ProgramKind::Function => Some("function"),
            ProgramKind::Trigger { .. } => Some("trigger"),
        }
    }
}

/// A routine's body and parameters.
#[derive(Debug, Default)]
pub struct Program<'a> {
    pub kind: ProgramKind,
    /// The first ones are the parameters.
    pub slots: Vec<Slot<'a>>,
    pub params: Vec<ParamMode>,
    pub instrs: Vec<Instr<'a>>,
    /// For each instruction, its innermost block.
    pub block_of: Vec<u32>,
    /// The first is the outermost block.
    pub blocks: Vec<Block>,
    /// The queries of cursors.
    pub cursors: Vec<StatementCode<'a>>,
    /// How many pieces of code there are.
    pub codes: u32,
    /// The names of system variables that SET sets.
    pub variables: Vec<&'a str>,
    /// The columns of a trigger's rows that it names, each once.
    pub fields: Vec<Field>,
}

/// A column of OLD or NEW.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub new: bool,
    /// The variable that holds it; its name is the column's.
    pub slot: u32,
    /// The program may change it.
    pub assigned: bool,
    /// How often the program names it otherwise than as the target of SET.
    pub reads: u32,
}

/// How a parameter takes its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamMode {
    In,
    Out,
    InOut,
}

impl ParamMode {
    /// As written.
    pub fn name(self) -> &'static str {
        match self {
            ParamMode::In => "IN",
            ParamMode::Out => "OUT",
            ParamMode::InOut => "INOUT",
        }
    }
}

/// A variable of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot<'a> {
    pub name: &'a str,
    pub ty: SlotType<'a>,
}

/// How the type of a variable is given.
#[derive(Clone, Debug, PartialEq)]
pub enum SlotType<'a> {
    /// As written.
    Written(DataType<'a>),
    /// It takes the type of the expression that it is given: the operand of CASE.
    Operand,
    /// The type of the column of the same name.
    Column,
}

/// A piece of code: its tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Code<'a, T> {
    pub tree: T,
    /// The text that it was parsed from.
    pub text: &'a str,
    /// Its number in the program, see R3.
    pub id: u32,
}

pub type ExprCode<'a> = Code<'a, Expr<'a>>;

impl ExprCode<'_> {
    /// The slot of the operand of whose CASE it is the WHEN: a variable without a name.
    pub fn operand(&self) -> Option<u32> {
        match self.tree {
            Expr::Binary { op: BinaryOp::Equal, left: Expr::Local { name: "", slot }, .. } => Some(*slot),
            _ => None,
        }
    }
}
pub type StatementCode<'a> = Code<'a, &'a Parsed<'a>>;

/// BEGIN ... END, and the body of a handler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    pub parent: Option<u32>,
    pub handlers: Vec<Handler>,
    /// Where execution continues after an EXIT handler.
    pub end: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Handler {
    pub conditions: Vec<HandlerCondition>,
    pub exit: bool,
    pub entry: u32,
}

/// The conditions that a handler handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerCondition {
    Number(u16),
    State([u8; 5]),
    /// SQLWARNING
    Warning,
    NotFound,
    /// SQLEXCEPTION
    Exception,
}

/// SIGNAL and RESIGNAL.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal<'a> {
    pub resignal: bool,
    /// Of RESIGNAL, none is the condition that is handled.
    pub state: Option<[u8; 5]>,
    pub items: Vec<(SignalItem, ExprCode<'a>)>,
}

/// A place that takes a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    Local(u32),
    /// A user variable.
    User(Box<str>),
}

/// GET DIAGNOSTICS
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostics<'a> {
    /// STACKED: the items of the condition being handled.
    pub stacked: bool,
    pub what: DiagnosticsOf<'a>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DiagnosticsOf<'a> {
    /// NUMBER is true, ROW_COUNT false.
    Statement(Vec<(Place, bool)>),
    Condition(ExprCode<'a>, Vec<(Place, SignalItem)>),
}

/// The value that a system variable is set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NewValue<'a> {
    Default,
    /// A word, or a string.
    Text(&'a [u8]),
    Computed(ExprCode<'a>),
}

/// An argument of CALL.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument<'a> {
    pub value: ExprCode<'a>,
    /// The variable that takes the value back, if the argument is a variable.
    pub place: Option<Place>,
}

/// A statement that is not a plan, and has expressions that are pieces of code.
#[derive(Clone, Debug, PartialEq)]
pub enum Action<'a> {
    /// SET of a user variable, its name in lower case.
    SetUser {
        name: Box<str>,
        value: ExprCode<'a>,
    },
    /// SET of a system variable.
    SetSystem {
        scope: VariableScope,
        name: &'a str,
        value: NewValue<'a>,
    },
    Call {
        name: ObjectName<'a>,
        args: Vec<Argument<'a>>,
    },
    Do(Vec<ExprCode<'a>>),
}

/// One step of a program.
#[derive(Debug)]
pub enum Instr<'a> {
    /// A statement as a client may send it.
    Run(StatementCode<'a>),
    Act(Box<Action<'a>>),
    /// SET, DEFAULT, the operand of CASE.
    Set {
        slot: u32,
        value: ExprCode<'a>,
        /// Where a CONTINUE handler continues after an error in the value, if that is not the next instruction.
        after: Option<u32>,
    },
    /// The variable is NULL.
    Clear(u32),
    Jump(u32),
    /// Jumps to `target` unless the condition is true. A CONTINUE handler continues at `after` after an error in the
    /// condition.
    JumpUnless {
        condition: ExprCode<'a>,
        target: u32,
        after: u32,
    },
    /// 1339: no WHEN of a CASE was true, and there is no ELSE.
    CaseMissing,
    Open(u32),
    Fetch {
        cursor: u32,
        into: Vec<u32>,
    },
    Close(u32),
    /// A block is entered: its cursors are closed.
    Reset {
        first: u32,
        count: u32,
    },
    /// The end of a handler's body.
    Handled {
        /// Of an EXIT handler, the block that it ends.
        exits: Option<u32>,
    },
    Signal(Box<Signal<'a>>),
    Diagnostics(Box<Diagnostics<'a>>),
    /// RETURN
    Return(ExprCode<'a>),
}

/// An error in a routine's text, beside syntax errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoutineError {
    /// 1303
    NestedCreate(&'static str),
    /// 1357
    NestedDrop(&'static str),
    /// 1576
    NestedEvent,
    /// 1308: LEAVE, ITERATE
    NoLabel(&'static str, String),
    /// 1309
    LabelTwice(String),
    /// 1310
    EndLabel(String),
    /// 1313
    ReturnOutside,
    /// 1320
    NoReturn(String),
    /// 1336
    NotInside(&'static str),
    /// 1362: OLD or NEW, and the kind of trigger
    RowFixed(&'static str, &'static str),
    /// 1363: OLD or NEW, and the event
    NoRow(&'static str, TriggerEvent),
    /// 1415: a function, or a trigger
    ResultSet(&'static str),
    /// 1422
    CommitInside,
    /// 1445
    AutocommitInside,
    /// 1453: a variable of a name that means something else behind SET
    Shadowed(&'static str),
    /// 1314
    NotAllowed(&'static str),
    /// 1318, of a function with its database
    ArgumentCount { name: String, expected: usize, got: usize },
    /// 1319
    NoCondition(String),
    /// 1324
    NoCursor(String),
    /// 1330
    ParameterTwice(String),
    /// 1331
    VariableTwice(String),
    /// 1332
    ConditionTwice(String),
    /// 1333
    CursorTwice(String),
    /// 1337
    VariableLate,
    /// 1338
    CursorLate,
    /// 1407
    BadState(String),
    /// 1413
    HandlerTwice,
    /// 1641
    ItemTwice(&'static str),
    /// 1646
    SignalByNumber,
}

impl Program<'_> {
    /// Is there a RETURN?
    pub fn returns(&self) -> bool {
        self.instrs.iter().any(|instr| matches!(instr, Instr::Return(_)))
    }

    /// A listing, for tests.
    pub fn listing(&self) -> String {
        let mut out = String::new();
        for (n, instr) in self.instrs.iter().enumerate() {
            let line = match instr {
                Instr::Run(code) => format!("run {}", code.text),
                Instr::Act(action) => action.listing(),
                Instr::Set { slot, value, .. } => format!("set {slot} = {}", value.text),
                Instr::Clear(slot) => format!("clear {slot}"),
                Instr::Jump(target) => format!("jump {target}"),
                Instr::JumpUnless { condition, target, after } => {
                    format!("unless {} jump {target} after {after}", condition.text)
                }
                Instr::CaseMissing => "case missing".to_owned(),
                Instr::Open(cursor) => format!("open {cursor}"),
                Instr::Fetch { cursor, into } => format!("fetch {cursor} into {into:?}"),
                Instr::Close(cursor) => format!("close {cursor}"),
                Instr::Reset { first, count } => format!("reset {first} {count}"),
                Instr::Handled { exits } => format!("handled {exits:?}"),
                Instr::Signal(signal) => {
                    format!("signal {:?}", signal.state.map(|state| String::from_utf8_lossy(&state).into_owned()))
                }
                Instr::Diagnostics(_) => "diagnostics".to_owned(),
                Instr::Return(value) => format!("return {}", value.text),
            };
            writeln!(out, "{n} [{}] {line}", self.block_of[n]).expect("strings take everything");
        }
        out
    }
}

impl Action<'_> {
    fn listing(&self) -> String {
        match self {
            Self::SetUser { value, .. } => format!("set {}", value.text),
            Self::SetSystem { name, value: NewValue::Computed(value), .. } => format!("set @@{name}: {}", value.text),
            Self::SetSystem { name, value, .. } => format!("set @@{name} = {value:?}"),
            Self::Call { name, args } => {
                let args: Vec<String> = args.iter().map(|arg| format!("{} {:?}", arg.value.text, arg.place)).collect();
                format!("call {} ({})", name.name, args.join("; "))
            }
            Self::Do(values) => format!("do {}", values.iter().map(|value| value.text).collect::<Vec<_>>().join("; ")),
        }
    }
}
