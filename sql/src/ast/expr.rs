//! The syntax tree of expressions.

use super::{ObjectName, OrderItem, Query};
use crate::error::Error;
pub use types::temporal::IntervalUnit;

/// `[[database.]table.]name`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColumnName<'a> {
    pub database: Option<&'a str>,
    pub table: Option<&'a str>,
    pub name: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal<'a> {
    Null,
    Bool(bool),
    /// Digits that fit 64 bits.
    Int(u64),
    /// Digits with a point, or more digits than 64 bits hold.
    Decimal(&'a str),
    /// With an exponent.
    Double(&'a str),
    String(StringLiteral<'a>),
    /// `0x4D`, `x'4D'`, `b'01'`: the bytes, a binary string that is a number in numeric context.
    Bits(&'a [u8]),
    /// DATE '...'
    Date(&'a [u8]),
    Time(&'a [u8]),
    Timestamp(&'a [u8]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StringLiteral<'a> {
    pub bytes: &'a [u8],
    /// `_utf8mb4'...'` without the underscore, lower case; `utf8mb3` for `N'...'`.
    pub charset: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expr<'a> {
    Literal(Literal<'a>),
    /// A literal that the plan cache lifts out of the text: number `index` of the lifted ones.
    Lifted {
        index: u32,
        literal: &'a Literal<'a>,
    },
    /// `?`, counted from 0 through the statement.
    Param(u32),
    Column(&'a ColumnName<'a>),
    /// A variable of the enclosing stored program.
    Local {
        slot: u32,
        name: &'a str,
    },
    UserVariable(&'a str),
    SystemVariable {
        scope: VariableScope,
        name: &'a str,
    },
    /// `@name := value`
    AssignVariable {
        name: &'a str,
        value: &'a Expr<'a>,
    },
    Unary {
        op: UnaryOp,
        arg: &'a Expr<'a>,
    },
    Binary {
        op: BinaryOp,
        left: &'a Expr<'a>,
        right: &'a Expr<'a>,
    },
    And(&'a [Expr<'a>]),
    Or(&'a [Expr<'a>]),
    Not(&'a Expr<'a>),
    IsNull {
        arg: &'a Expr<'a>,
        negated: bool,
    },
    /// `IS [NOT] TRUE | FALSE`; `IS UNKNOWN` is `IsNull`.
    IsTruth {
        arg: &'a Expr<'a>,
        truth: bool,
        negated: bool,
    },
    In {
        arg: &'a Expr<'a>,
        list: &'a [Expr<'a>],
        negated: bool,
    },
    InSubquery {
        arg: &'a Expr<'a>,
        query: &'a Query<'a>,
        negated: bool,
    },
    Between(&'a Between<'a>),
    Like(&'a Like<'a>),
    /// REGEXP, RLIKE
    Regexp {
        arg: &'a Expr<'a>,
        pattern: &'a Expr<'a>,
        negated: bool,
    },
    Case(&'a Case<'a>),
    /// CAST, CONVERT(x, type)
    Cast {
        arg: &'a Expr<'a>,
        target: &'a CastTarget<'a>,
    },
    /// CONVERT(x USING charset)
    ConvertUsing {
        arg: &'a Expr<'a>,
        charset: &'a str,
    },
    Collate {
        arg: &'a Expr<'a>,
        collation: &'a str,
    },
    /// `x + INTERVAL n unit`, DATE_ADD, ADDDATE; `negated` for subtraction.
    DateArithmetic(&'a DateArithmetic<'a>),
    /// A function by its name, also the operators that are functions.
    Call(&'a Call<'a>),
    /// EXTRACT(unit FROM x)
    Extract {
        unit: IntervalUnit,
        arg: &'a Expr<'a>,
    },
    /// TIMESTAMPADD(unit, a, b), TIMESTAMPDIFF(unit, a, b)
    UnitCall {
        function: UnitFunction,
        unit: IntervalUnit,
        args: &'a [Expr<'a>; 2],
    },
    /// `TRIM([BOTH | LEADING | TRAILING] [what] FROM text)`
    Trim {
        side: TrimSide,
        what: Option<&'a Expr<'a>>,
        text: &'a Expr<'a>,
    },
    Aggregate(&'a AggregateCall<'a>),
    /// ROW_NUMBER() OVER ..., and aggregates with OVER.
    Window(&'a WindowCall<'a>),
    /// GROUPING(a, ...)
    Grouping(&'a [Expr<'a>]),
    Subquery(&'a Query<'a>),
    Exists(&'a Query<'a>),
    /// `x = ANY (SELECT ...)`
    Quantified {
        op: BinaryOp,
        all: bool,
        left: &'a Expr<'a>,
        query: &'a Query<'a>,
    },
    Row(&'a [Expr<'a>]),
    /// DEFAULT (where a value of a column is expected), DEFAULT(col)
    Default(Option<&'a ColumnName<'a>>),
    /// VALUES(col)
    InsertValue(&'a ColumnName<'a>),
    /// BINARY x
    BinaryCast(&'a Expr<'a>),
    /// `CAST(x AS type ARRAY)`, of a multi-valued key part.
    CastArray {
        arg: &'a Expr<'a>,
        target: &'a CastTarget<'a>,
    },
    /// `col -> '$.x'`, `col ->> '$.x'` (unquoted)
    JsonArrow {
        column: &'a ColumnName<'a>,
        path: &'a [u8],
        unquote: bool,
    },
    JsonValue(&'a JsonValue<'a>),
    /// CAST(x AT TIME ZONE '+00:00' AS DATETIME)
    AtTimeZone {
        arg: &'a Expr<'a>,
        target: &'a CastTarget<'a>,
    },
    /// `x MEMBER OF (json)`
    MemberOf {
        arg: &'a Expr<'a>,
        array: &'a Expr<'a>,
    },
    Match(&'a MatchAgainst<'a>),
}

/// MATCH (a, b) AGAINST (x ...)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatchAgainst<'a> {
    pub columns: &'a [ColumnName<'a>],
    pub against: Expr<'a>,
    pub mode: MatchMode,
}

/// How AGAINST reads its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchMode {
    /// IN NATURAL LANGUAGE MODE, which is the default.
    Natural,
    /// IN BOOLEAN MODE
    Boolean,
    /// WITH QUERY EXPANSION
    Expansion,
}

impl MatchMode {
    /// As MySQL prints it behind the text.
    pub fn text(self) -> &'static str {
        match self {
            Self::Natural => "",
            Self::Boolean => " in boolean mode",
            Self::Expansion => " with query expansion",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableScope {
    /// `@@name`: the session's value if there is one, else the global value.
    Any,
    Global,
    Session,
    /// Only in SET: PERSIST, PERSIST_ONLY
    Persist,
    PersistOnly,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Plus,
    Negate,
    BitNot,
    /// `!`
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    NullSafeEqual,
    Xor,
    Add,
    Subtract,
    Multiply,
    Divide,
    IntDivide,
    Modulo,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    /// `||` with PIPES_AS_CONCAT
    Concat,
    SoundsLike,
}

/// JSON_VALUE(...)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JsonValue<'a> {
    pub arg: Expr<'a>,
    pub path: &'a [u8],
    pub target: Option<CastTarget<'a>>,
    pub on_empty: JsonOn<'a>,
    pub on_error: JsonOn<'a>,
}

/// The result of JSON_VALUE if the path finds nothing, or on an error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JsonOn<'a> {
    Null,
    Error,
    Default(&'a Expr<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between<'a> {
    pub arg: Expr<'a>,
    pub low: Expr<'a>,
    pub high: Expr<'a>,
    pub negated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Like<'a> {
    pub arg: Expr<'a>,
    pub pattern: Expr<'a>,
    pub escape: Option<Expr<'a>>,
    pub negated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case<'a> {
    pub operand: Option<Expr<'a>>,
    pub whens: &'a [(Expr<'a>, Expr<'a>)],
    pub otherwise: Option<Expr<'a>>,
}

/// The type of CAST and CONVERT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastTarget<'a> {
    Signed,
    Unsigned,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Float,
    Double,
    /// `binary`: with the collation by code points.
    Char {
        length: Option<u32>,
        charset: Option<&'a str>,
        binary: bool,
    },
    Binary {
        length: Option<u32>,
    },
    Date,
    Time {
        fsp: u8,
    },
    DateTime {
        fsp: u8,
    },
    Year,
    Json,
    Geometry(types::geometry::GeometryKind),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DateArithmetic<'a> {
    pub date: Expr<'a>,
    pub amount: Expr<'a>,
    pub unit: IntervalUnit,
    pub subtract: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call<'a> {
    /// `database.function` if a database was written.
    pub name: ObjectName<'a>,
    pub args: &'a [Expr<'a>],
    /// CHAR(... USING charset), CAST-like suffixes.
    pub using: Option<&'a str>,
    /// There is a space before the parenthesis, which this function does not allow.
    pub apart: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitFunction {
    TimestampAdd,
    TimestampDiff,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimSide {
    Both,
    Leading,
    Trailing,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AggregateCall<'a> {
    pub function: expr::AggregateFunction,
    pub distinct: bool,
    /// Empty for `COUNT(*)`.
    pub args: &'a [Expr<'a>],
    pub order_by: &'a [OrderItem<'a>],
    pub separator: Option<&'a [u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowCall<'a> {
    pub function: WindowFunction<'a>,
    pub window: WindowSpec<'a>,
}

impl WindowCall<'_> {
    /// 3593: a window function is not allowed here.
    pub fn misplaced(&self) -> Error {
        let name = match self.function {
            WindowFunction::Aggregate(aggregate) => aggregate.function.name(),
            WindowFunction::Named { name, .. } => name,
        };
        Error::WindowContext(name.to_lowercase())
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WindowFunction<'a> {
    Aggregate(&'a AggregateCall<'a>),
    /// ROW_NUMBER, RANK, LAG, ...: the name in capitals.
    Named {
        name: &'a str,
        args: &'a [Expr<'a>],
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowSpec<'a> {
    /// `OVER w`, or the base of `OVER (w ...)`.
    pub name: Option<&'a str>,
    pub partition_by: &'a [Expr<'a>],
    pub order_by: &'a [OrderItem<'a>],
    pub frame: Option<&'a WindowFrame<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowFrame<'a> {
    /// RANGE, not ROWS.
    pub range: bool,
    pub start: FrameBound<'a>,
    pub end: FrameBound<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrameBound<'a> {
    UnboundedPreceding,
    UnboundedFollowing,
    CurrentRow,
    Preceding(Expr<'a>, Option<IntervalUnit>),
    Following(Expr<'a>, Option<IntervalUnit>),
}
