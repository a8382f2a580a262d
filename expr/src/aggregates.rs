//! The aggregate and window functions, one row each: names, arguments, the rule of their type.
//!
//! Their implementations are in `exec` (`operator/accumulator.rs`, `operator/window.rs`), which matches the functions without a default
//! arm: a function without a row or an implementation does not compile.

use crate::tree::Expr;
use crate::typing;
use types::geometry::GeometryKind;
use types::{CollationId, ColumnType, LobSize, TypeKind};

/// Any number of arguments.
const ANY: usize = usize::MAX;

/// The arguments of a call, for the rule of its type.
pub struct Arguments<'a> {
    pub args: &'a [Expr],
    /// The collation of the strings among them.
    pub collation: CollationId,
    /// `@@div_precision_increment`
    pub increment: u8,
    /// `@@group_concat_max_len`
    pub joined_bytes_max: u64,
}

type TypeRule = fn(&Arguments<'_>) -> ColumnType;
type NullRule = fn(&[Expr]) -> bool;

/// Whether DISTINCT may stand before the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinct {
    No,
    Yes,
    /// With any number of arguments.
    Many,
}

/// What an aggregate makes of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// It takes them as they are.
    Any,
    /// They become numbers.
    Number,
    /// They become integers, unless they are binary strings.
    Bits,
}

/// What is known of an aggregate function besides its implementation.
pub struct AggregateRow {
    /// The first name is that of messages. The others call it too.
    pub names: &'static [&'static str],
    /// The grammar has no call of it: the binder makes it of a scalar function.
    pub is_bound: bool,
    pub fewest: usize,
    pub most: usize,
    pub distinct: Distinct,
    pub operand: Operand,
    /// The parenthesis must follow the name directly, unless IGNORE_SPACE is set.
    pub is_adjacent: bool,
    ty: TypeRule,
    null: NullRule,
}

impl AggregateRow {
    /// A function of one argument that may be NULL.
    const fn new(names: &'static [&'static str], ty: TypeRule) -> Self {
        Self {
            names,
            is_bound: false,
            fewest: 1,
            most: 1,
            distinct: Distinct::No,
            operand: Operand::Any,
            is_adjacent: true,
            ty,
            null: |_| true,
        }
    }

    const fn never_null(self) -> Self {
        Self { null: |_| false, ..self }
    }

    const fn distinct(self, distinct: Distinct) -> Self {
        Self { distinct, ..self }
    }

    const fn of(self, operand: Operand) -> Self {
        Self { operand, ..self }
    }

    const fn arguments(self, fewest: usize, most: usize) -> Self {
        Self { fewest, most, ..self }
    }

    pub fn type_of(&self, arguments: &Arguments<'_>) -> ColumnType {
        (self.ty)(arguments)
    }

    pub fn is_nullable(&self, args: &[Expr]) -> bool {
        (self.null)(args)
    }
}

/// What is known of a function that is called with OVER only, besides its implementation.
pub struct WindowRow {
    /// In capitals.
    pub name: &'static str,
    /// In messages.
    pub shown: &'static str,
    pub fewest: usize,
    pub most: usize,
    /// The argument that is a number of rows, and the least that it may be.
    pub count: Option<(usize, i64)>,
    /// It is computed from the rows of its frame.
    pub reads_frame: bool,
    ty: TypeRule,
    null: NullRule,
}

impl WindowRow {
    /// A function without arguments that is never NULL.
    const fn new(name: &'static str, shown: &'static str, ty: TypeRule) -> Self {
        Self { name, shown, fewest: 0, most: 0, count: None, reads_frame: false, ty, null: |_| false }
    }

    const fn arguments(self, fewest: usize, most: usize) -> Self {
        Self { fewest, most, ..self }
    }

    const fn count(self, argument: usize, least: i64) -> Self {
        Self { count: Some((argument, least)), ..self }
    }

    const fn null(self, null: NullRule) -> Self {
        Self { null, ..self }
    }

    const fn framed(self) -> Self {
        Self { reads_frame: true, ..self }
    }

    pub fn type_of(&self, arguments: &Arguments<'_>) -> ColumnType {
        (self.ty)(arguments)
    }

    pub fn is_nullable(&self, args: &[Expr]) -> bool {
        (self.null)(args)
    }
}

/// Makes an enum of functions and the table of their rows.
macro_rules! rows {
    ($(#[$about:meta])* $enum:ident, $row:ty: $($name:ident = $made:expr;)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $enum {
            $($name),*
        }

        impl $enum {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            pub fn row(self) -> &'static $row {
                static ROWS: &[$row] = &[$($made),*];
                &ROWS[self as usize]
            }
        }
    };
}

rows! {
    /// An aggregate function.
    AggregateFunction, AggregateRow:
    Count = AggregateRow::new(&["COUNT"], |_| typing::bigint(false)).never_null().distinct(Distinct::Many);
    Sum = AggregateRow::new(&["SUM"], |call| typing::sum(&call.args[0])).distinct(Distinct::Yes).of(Operand::Number);
    Avg = AggregateRow {
        is_adjacent: false,
        ..AggregateRow::new(&["AVG"], |call| typing::average(&call.args[0], call.increment))
            .distinct(Distinct::Yes)
            .of(Operand::Number)
    };
    Min = AggregateRow::new(&["MIN"], extreme).distinct(Distinct::Yes);
    Max = AggregateRow::new(&["MAX"], extreme).distinct(Distinct::Yes);
    GroupConcat = AggregateRow::new(&["GROUP_CONCAT"], joined).distinct(Distinct::Yes).arguments(1, ANY);
    BitAnd = AggregateRow::new(&["BIT_AND"], bits).never_null().of(Operand::Bits);
    BitOr = AggregateRow::new(&["BIT_OR"], bits).never_null().of(Operand::Bits);
    BitXor = AggregateRow::new(&["BIT_XOR"], bits).never_null().of(Operand::Bits);
    StdDevPop = AggregateRow::new(&["STD", "STDDEV", "STDDEV_POP"], |_| typing::double()).of(Operand::Number);
    StdDevSamp = AggregateRow::new(&["STDDEV_SAMP"], |_| typing::double()).of(Operand::Number);
    VarPop = AggregateRow::new(&["VARIANCE", "VAR_POP"], |_| typing::double()).of(Operand::Number);
    VarSamp = AggregateRow::new(&["VAR_SAMP"], |_| typing::double()).of(Operand::Number);
    AnyValue = AggregateRow {
        is_bound: true,
        null: |args| args[0].nullable,
        ..AggregateRow::new(&["ANY_VALUE"], |call| typing::stored(&call.args[0].ty))
    };
    JsonArrayAgg = AggregateRow::new(&["JSON_ARRAYAGG"], |_| ColumnType::new(TypeKind::Json));
    JsonObjectAgg = AggregateRow::new(&["JSON_OBJECTAGG"], |_| ColumnType::new(TypeKind::Json)).arguments(2, 2);
    StCollect = AggregateRow::new(&["ST_COLLECT"], |_| ColumnType::geometry(GeometryKind::Geometry)).distinct(Distinct::Yes);
}

rows! {
    /// A function that is called with OVER only.
    WindowOnly, WindowRow:
    RowNumber = WindowRow::new("ROW_NUMBER", "row_number", |_| typing::bigint(true));
    Rank = WindowRow::new("RANK", "rank", |_| typing::bigint(true));
    DenseRank = WindowRow::new("DENSE_RANK", "dense_rank", |_| typing::bigint(true));
    PercentRank = WindowRow::new("PERCENT_RANK", "percent_rank", |_| typing::double());
    CumeDist = WindowRow::new("CUME_DIST", "cume_dist", |_| typing::double());
    Ntile = WindowRow::new("NTILE", "ntile", |_| typing::bigint(true)).arguments(1, 1).count(0, 1).null(|_| true);
    Lag = WindowRow::new("LAG", "lag", moved).arguments(1, 3).count(1, 0).null(is_moved_nullable);
    Lead = WindowRow::new("LEAD", "lead", moved).arguments(1, 3).count(1, 0).null(is_moved_nullable);
    FirstValue = WindowRow::new("FIRST_VALUE", "first_value", taken).arguments(1, 1).null(|_| true).framed();
    LastValue = WindowRow::new("LAST_VALUE", "last_value", taken).arguments(1, 1).null(|_| true).framed();
    NthValue = WindowRow::new("NTH_VALUE", "nth_value", taken).arguments(2, 2).count(1, 1).null(|_| true).framed();
}

impl AggregateFunction {
    /// MySQL's name, in capitals.
    pub fn name(self) -> &'static str {
        self.row().names[0]
    }

    /// The function that a call names; in capitals.
    pub fn named(name: &[u8]) -> Option<Self> {
        let is_named = |function: &&Self| {
            let row = function.row();
            !row.is_bound && row.names.iter().any(|known| known.as_bytes() == name)
        };
        Self::ALL.iter().find(is_named).copied()
    }
}

impl WindowOnly {
    /// The function that a call names; in capitals.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|function| function.row().name == name).copied()
    }
}

/// MIN and MAX: members of ENUM and SET become texts.
fn extreme(call: &Arguments<'_>) -> ColumnType {
    let mut ty = typing::stored(&call.args[0].ty);
    if let TypeKind::Enum { .. } | TypeKind::Set { .. } = ty.kind {
        let length = typing::string_length(&ty) as u32;
        ty = ColumnType { collation: ty.collation, ..ColumnType::new(TypeKind::Char { length }) };
    }
    ty.unsigned |= ty.kind == TypeKind::Year;
    ty
}

/// GROUP_CONCAT
///
/// As in MySQL it has room for as many characters as `group_concat_max_len` says in bytes.
fn joined(call: &Arguments<'_>) -> ColumnType {
    const VARCHAR_CHARS_MAX: u64 = 512;
    let length = call.joined_bytes_max;
    let is_binary = call.collation == CollationId::BINARY;
    if length <= VARCHAR_CHARS_MAX {
        return typing::string(length, call.collation);
    }
    let size = match length.saturating_mul(typing::bytes_per_char(call.collation)) {
        0..=65_535 => LobSize::Regular,
        65_536..=16_777_215 => LobSize::Medium,
        _ => LobSize::Long,
    };
    let kind = if is_binary { TypeKind::Blob(size) } else { TypeKind::Text(size) };
    ColumnType { collation: call.collation, ..ColumnType::new(kind) }
}

/// BIT_AND, BIT_OR, BIT_XOR: of binary strings a binary string, else a number.
fn bits(call: &Arguments<'_>) -> ColumnType {
    if typing::is_bit_string(&call.args[0]) { typing::bit_string(&call.args[0]) } else { typing::bigint(true) }
}

/// A value of another row of the window.
fn taken(call: &Arguments<'_>) -> ColumnType {
    typing::stored(&call.args[0].ty)
}

/// LAG and LEAD: a value of another row, or a default.
fn moved(call: &Arguments<'_>) -> ColumnType {
    match call.args {
        [value, _, default] => typing::unify([value, default].into_iter(), call.collation),
        _ => taken(call),
    }
}

fn is_moved_nullable(args: &[Expr]) -> bool {
    args.get(2).is_none_or(|default| default.nullable || args[0].nullable)
}
