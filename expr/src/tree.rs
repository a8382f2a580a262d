//! Bound expressions: every name is resolved, every node knows its static type.
//!
//! An expression is evaluated against a *row context* that has two parts:
//! - *sources*: the current stored row of each table of the query block, in FROM order ([`ExprKind::Column`]);
//! - *slots*: values computed by an operator below: group keys, aggregates, projected values ([`ExprKind::Slot`]).
//!
//! Below the first `Project` or `Aggregate` of a plan only sources exist; above it only slots.
//! E1: evaluating an expression never stalls; only operators wait. A subquery whose value is not known yet interrupts
//!     the evaluation: the driver runs the subquery, then the evaluation starts again.
//! E2: the parser bounds the depth (`MAX_DEPTH`), so evaluation may recurse.

use crate::aggregates::{AggregateFunction, WindowOnly};
use crate::func::Function;
use std::cmp::Ordering;
use std::sync::Arc;
use types::partition::PartitionFunction;
use types::{CollationId, ColumnType, TypeKind, Value};

/// A bound expression with its static type.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: ColumnType,
    pub nullable: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Literal(Value<'static>),
    /// A `?` of a prepared statement, or a literal that the plan cache took out of the text (counted after the `?`s).
    Param(usize),
    /// Column `column` of source `source`.
    Column {
        source: usize,
        column: usize,
    },
    /// The stored ordinal of an ENUM or the bits of a SET column, as an integer: for numeric use and for ordering.
    ColumnOrdinal {
        source: usize,
        column: usize,
    },
    Slot(usize),
    /// `@name`
    UserVariable(String),
    /// `@name := value`: evaluation sets the variable, and its value is the one set.
    AssignVariable {
        name: String,
        value: Box<Expr>,
    },
    Unary {
        op: UnaryOp,
        arg: Box<Expr>,
    },
    /// Comparisons carry how they compare, chosen by the binder from the static types.
    Compare {
        op: CompareOp,
        by: CompareAs,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Arithmetic {
        op: ArithmeticOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Xor(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    /// `IS NULL`; `negated` is `IS NOT NULL`.
    IsNull {
        arg: Box<Expr>,
        negated: bool,
    },
    /// `IS TRUE`, `IS FALSE`, `IS UNKNOWN` is `IsNull`.
    IsTruth {
        arg: Box<Expr>,
        truth: bool,
        negated: bool,
    },
    In {
        arg: Box<Expr>,
        list: Vec<Expr>,
        by: CompareAs,
        negated: bool,
    },
    Between {
        arg: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
        by: CompareAs,
        negated: bool,
    },
    Like {
        arg: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<u8>,
        collation: CollationId,
        negated: bool,
    },
    /// `CASE WHEN c THEN v ... ELSE e END`; `CASE x WHEN` is rewritten by the binder.
    Case {
        whens: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    /// `CAST(arg AS ty)` / `CONVERT`; the target is the node's `ty`. Also the implicit conversions the binder wants explicit.
    Cast(Box<Expr>),
    Call {
        function: Function,
        args: Vec<Expr>,
    },
    /// `VALUES(col)` and the row alias in ON DUPLICATE KEY UPDATE: a value of the new row. Numbers after the table's
    /// columns are the columns of the query that gives the rows.
    InsertValue {
        column: usize,
    },
    /// A row constructor; legal only under `Compare` and `In`.
    Row(Vec<Expr>),
    Subquery(Box<Subquery>),
    /// The number of a row's partition; NULL if no partition holds it.
    Partition(Box<PartitionCall>),
}

/// A table's partition function, over its expression or its columns.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionCall {
    pub function: Arc<PartitionFunction>,
    pub args: Vec<Expr>,
}

/// A subquery in an expression. The statement owns its plan. It runs when its value is needed and not known yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Subquery {
    /// Its number in the statement.
    pub id: usize,
    pub test: SubqueryTest,
    /// The outer expressions for the columns of its argument source.
    pub args: Vec<Expr>,
    /// The left operands, with which its rows are compared.
    pub left: Vec<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SubqueryTest {
    /// A column of its single row; NULL if there is no row.
    Value {
        column: usize,
    },
    /// The value of a stored function that is called with `args`.
    Call {
        name: Box<str>,
        deterministic: bool,
    },
    Exists {
        negated: bool,
    },
    /// `left op ANY (rows)`, or ALL; `negated` for NOT IN, where `op` is `=`.
    Compare {
        op: CompareOp,
        by: Vec<CompareAs>,
        types: Vec<ColumnType>,
        all: bool,
        negated: bool,
    },
    /// Like `Compare`, evaluated while the subquery runs, with `left` among the arguments.
    Probe {
        negated: bool,
    },
}

/// A call of a window function.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowCall {
    pub function: WindowFunction,
    pub args: Vec<Expr>,
    pub frame: Frame,
    pub ty: ColumnType,
    pub nullable: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum WindowFunction {
    /// The arguments of LAG and LEAD: value, how far (from 1), default; of NTH_VALUE: value, number from 1.
    Only(WindowOnly),
    Aggregate(Aggregate),
}

/// The rows that a window function sees, relative to the current row.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// By the value of the one order key, not by rows.
    pub range: bool,
    pub start: FrameBound,
    pub end: FrameBound,
    /// What a bound of RANGE adds to the key, and the window's name; both are for the check that no offset is NULL or negative (3586).
    pub offsets: Option<Box<FrameOffsets>>,
}

impl Frame {
    /// All rows of the partition.
    pub fn whole() -> Self {
        Self { range: false, start: FrameBound::UnboundedPreceding, end: FrameBound::UnboundedFollowing, offsets: None }
    }
}

/// The offsets of a frame by RANGE, which are the same for all rows.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameOffsets {
    pub window: String,
    pub amounts: Vec<(Expr, Option<types::temporal::IntervalUnit>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FrameBound {
    UnboundedPreceding,
    /// ROWS: how many. RANGE: the key at the bound, over the current row.
    Preceding(Expr),
    CurrentRow,
    Following(Expr),
    UnboundedFollowing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Negate,
    BitNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// `<=>`
    NullSafeEqual,
}

impl CompareOp {
    /// As SQL writes it.
    pub fn sign(self) -> &'static str {
        match self {
            CompareOp::Equal => "=",
            CompareOp::NotEqual => "<>",
            CompareOp::Less => "<",
            CompareOp::LessOrEqual => "<=",
            CompareOp::Greater => ">",
            CompareOp::GreaterOrEqual => ">=",
            CompareOp::NullSafeEqual => "<=>",
        }
    }

    /// Does an order satisfy it?
    #[inline]
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            CompareOp::Equal | CompareOp::NullSafeEqual => order.is_eq(),
            CompareOp::NotEqual => order.is_ne(),
            CompareOp::Less => order.is_lt(),
            CompareOp::LessOrEqual => order.is_le(),
            CompareOp::Greater => order.is_gt(),
            CompareOp::GreaterOrEqual => order.is_ge(),
        }
    }

    /// The comparison with its sides exchanged.
    pub fn mirrored(self) -> CompareOp {
        match self {
            CompareOp::Less => CompareOp::Greater,
            CompareOp::LessOrEqual => CompareOp::GreaterOrEqual,
            CompareOp::Greater => CompareOp::Less,
            CompareOp::GreaterOrEqual => CompareOp::LessOrEqual,
            other => other,
        }
    }
}

/// How two values are compared (MySQL 8.4 manual, 14.3 "Type Conversion in Expression Evaluation").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareAs {
    /// Both integers, any sign.
    Integer,
    Decimal,
    Double,
    String(CollationId),
    /// DATE, DATETIME, TIMESTAMP; strings are parsed.
    Temporal,
    Time,
    /// One side is a JSON document; the other becomes one.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArithmeticOp {
    Add,
    Subtract,
    Multiply,
    /// `/`
    Divide,
    /// `DIV`
    IntDivide,
    Modulo,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}

impl ArithmeticOp {
    /// As SQL writes it.
    pub fn sign(self) -> &'static str {
        match self {
            ArithmeticOp::Add => "+",
            ArithmeticOp::Subtract => "-",
            ArithmeticOp::Multiply => "*",
            ArithmeticOp::Divide => "/",
            ArithmeticOp::IntDivide => "DIV",
            ArithmeticOp::Modulo => "%",
            ArithmeticOp::BitAnd => "&",
            ArithmeticOp::BitOr => "|",
            ArithmeticOp::BitXor => "^",
            ArithmeticOp::ShiftLeft => "<<",
            ArithmeticOp::ShiftRight => ">>",
        }
    }
}

/// `COUNT(DISTINCT a, b)`, `SUM(x)` and the like.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    pub function: AggregateFunction,
    /// Empty for `COUNT(*)`.
    pub args: Vec<Expr>,
    pub distinct: bool,
    /// GROUP_CONCAT's ORDER BY, as (expression, descending).
    pub order: Vec<(Expr, bool)>,
    /// GROUP_CONCAT's separator.
    pub separator: Vec<u8>,
    pub ty: ColumnType,
    pub nullable: bool,
}

impl Aggregate {
    /// The expressions that it evaluates for each row.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.args.iter().chain(self.order.iter().map(|(key, _)| key))
    }
}

impl Expr {
    pub fn literal(value: Value<'static>, ty: ColumnType) -> Self {
        let nullable = value == Value::Null;
        Self { kind: ExprKind::Literal(value), ty, nullable }
    }

    /// Is it TRUE, FALSE, a comparison or a logical operator, which becomes a JSON boolean? The result of IF or
    /// COALESCE is a number.
    pub fn is_truth_value(&self) -> bool {
        use ExprKind as K;
        use Function as F;
        let is_boolean = self.ty.kind == TypeKind::BigInt && self.ty.display_width == Some(1);
        match &self.kind {
            // STRCMP counts as a comparison.
            K::Call { function: F::STRCMP, .. } => true,
            K::Call { function: F::IF | F::IFNULL | F::COALESCE | F::GREATEST | F::LEAST, .. } | K::Case { .. } => false,
            K::Subquery(subquery) => {
                is_boolean && !matches!(subquery.test, SubqueryTest::Value { .. } | SubqueryTest::Call { .. })
            }
            K::Column { .. } | K::Slot(_) | K::Param(_) | K::UserVariable(_) | K::AssignVariable { .. } => false,
            _ => is_boolean,
        }
    }
}
