//! The metadata of computed result columns: their length in characters, the MySQL type that the protocol reports, and
//! the type of the column that CREATE TABLE ... SELECT or a view makes of them.
//!
//! MySQL tracks the length of each expression apart from its type, and chooses the type of a column by the length: an
//! integer becomes an INT or a BIGINT, a string of more than 512 characters a TEXT.

use super::Binder;
use super::aggregate::AGGREGATE_SLOT;
use super::window::WINDOW_SLOT;
use crate::plan::{Made, OutputColumn};
use expr::{
    AggregateFunction as A, Class, Expr, ExprKind, Function as F, WindowFunction, WindowOnly as W, class, digits, typing,
};
use types::{CollationId, ColumnType, LobSize, TypeKind};

/// A longer string becomes a TEXT column.
const TEXT_CHARACTERS_MAX: u32 = 512;
/// The widest integer function that becomes an INT column.
const INT_FUNCTION_WIDTH_MAX: u32 = 11;
/// The widest other integer expression that does.
const INT_WIDTH_MAX: u32 = 9;
/// The digits before the point of a DOUBLE with a fixed scale.
const DOUBLE_DIGITS: u32 = 17;
/// The width of a column made from a function of such a DOUBLE.
const FIXED_DOUBLE_WIDTH: u8 = 22;
/// The width of a DOUBLE without a fixed scale.
const DOUBLE_WIDTH: u32 = 23;

impl Binder<'_> {
    /// The type of a column of a materialized derived table.
    pub(super) fn kept_in_memory(column: &OutputColumn) -> ColumnType {
        kept_column(column, false)
    }

    /// Sets the metadata of a column whose expression is not a column of a table.
    pub(super) fn describe(&self, output: &mut OutputColumn, expr: &Expr) {
        output.made = match &expr.kind {
            ExprKind::Column { .. } | ExprKind::ColumnOrdinal { .. } => Made::Column,
            // MAX of a column is stored as the column is.
            ExprKind::Slot(slot) if *slot < WINDOW_SLOT && self.taken(expr).is_some_and(is_column) => Made::Column,
            ExprKind::Call { function: F::IFNULL, .. } => Made::IfNull { fixed: is_fixed(choices(expr).unwrap_or_default()) },
            ExprKind::Call { function: F::ADDTIME | F::SUBTIME | F::DATE_ADD | F::DATE_SUB | F::TIMESTAMPADD, .. } => {
                Made::MovedTime
            }
            _ if choices(expr).is_some() => Made::Choice { fixed: is_fixed(choices(expr).unwrap_or_default()) },
            ExprKind::Slot(slot) if *slot < WINDOW_SLOT => Made::Aggregate,
            ExprKind::Slot(_) | ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::Subquery(_) | ExprKind::UserVariable(_) => {
                Made::Other
            }
            ExprKind::And(_) | ExprKind::Or(_) => Made::Other,
            _ => Made::Function,
        };
        output.characters = match expr.ty.display_width {
            // Groups are kept in a table whose columns are as wide as those that the values are of.
            Some(width) if expr.ty.zerofill && self.scope.has_keys && output.made == Made::Column => Some(width.into()),
            _ => self.characters(expr),
        };
    }

    /// The argument whose value an aggregate or window function returns.
    fn taken(&self, expr: &Expr) -> Option<&Expr> {
        let ExprKind::Slot(slot) = expr.kind else { return None };
        let args_of = |function: &A| matches!(function, A::Min | A::Max | A::AnyValue);
        if slot >= WINDOW_SLOT {
            let call = &self.scope.windows.as_ref()?.get(slot - WINDOW_SLOT)?.call;
            return match &call.function {
                WindowFunction::Only(W::FirstValue | W::LastValue | W::NthValue) => call.args.first(),
                WindowFunction::Only(W::Lag | W::Lead) if call.args.len() < 3 => call.args.first(),
                WindowFunction::Aggregate(aggregate) if args_of(&aggregate.function) => aggregate.args.first(),
                _ => None,
            };
        }
        let aggregate = self.scope.aggregates.as_ref()?.get(slot.checked_sub(AGGREGATE_SLOT)?)?;
        args_of(&aggregate.function).then(|| aggregate.args.first()).flatten()
    }

    /// The arguments of LAG or LEAD with a default.
    fn taken_or_default(&self, expr: &Expr) -> Option<&[Expr; 3]> {
        let ExprKind::Slot(slot) = expr.kind else { return None };
        let call = &self.scope.windows.as_ref()?.get(slot.checked_sub(WINDOW_SLOT)?)?.call;
        match call.function {
            WindowFunction::Only(W::Lag | W::Lead) => call.args.as_slice().try_into().ok(),
            _ => None,
        }
    }

    fn is_sum(&self, expr: &Expr) -> bool {
        let ExprKind::Slot(slot) = expr.kind else { return false };
        let is_sum = |function: &A| matches!(function, A::Sum | A::Avg);
        if slot >= WINDOW_SLOT {
            let window = self.scope.windows.as_ref().and_then(|windows| windows.get(slot - WINDOW_SLOT));
            return window.is_some_and(|w| matches!(&w.call.function, WindowFunction::Aggregate(a) if is_sum(&a.function)));
        }
        let aggregates = self.scope.aggregates.as_ref().zip(slot.checked_sub(AGGREGATE_SLOT));
        aggregates.and_then(|(aggregates, n)| aggregates.get(n)).is_some_and(|a| is_sum(&a.function))
    }

    fn characters(&self, expr: &Expr) -> Option<u32> {
        if let Some([value, _, otherwise]) = self.taken_or_default(expr)
            && expr.ty.is_integer()
        {
            return Some(digits::integer_width(value).max(digits::integer_width(otherwise)));
        }
        let value = self.taken(expr).unwrap_or(expr);
        if value.ty.kind == expr.ty.kind
            && let Some(chosen) = choices(value)
            && matches!(class(&value.ty), Class::Double)
            && value.ty.float_decimals.is_none()
        {
            // If all choices have one width, the result has it.
            let mut widths = chosen.into_iter().filter(|e| e.ty.kind != TypeKind::Null).map(|e| self.characters(e));
            let first = widths.next()?;
            return if widths.all(|width| width == first) { first } else { Some(DOUBLE_WIDTH) };
        }
        match class(&value.ty) {
            _ if matches!(value.ty.kind, TypeKind::Year | TypeKind::Bit { .. }) => None,
            Class::Integer => Some(digits::integer_width(value)),
            Class::Double => Some(match (value.ty.float_decimals, value.ty.display_width, &value.kind) {
                (None, _, ExprKind::Column { .. }) => typing::string_length(&value.ty) as u32,
                (None, ..) => DOUBLE_WIDTH,
                (Some(_), Some(width), ExprKind::Column { .. }) => width.into(),
                (Some(decimals), ..) if self.is_sum(value) || is_of_one(value) => DOUBLE_DIGITS + u32::from(decimals),
                (Some(_), Some(width), _) => width.into(),
                (Some(decimals), None, _) => DOUBLE_DIGITS + u32::from(decimals),
            }),
            Class::String if matches!(value.kind, ExprKind::Slot(_)) => None,
            Class::String => Some(u32::try_from(typing::text_length(value)).unwrap_or(u32::MAX)),
            _ => None,
        }
    }
}

/// The length of a column of a set operation: the maximum of a string type, the computed width of a DOUBLE.
pub(super) fn kept_characters(ty: &ColumnType) -> Option<u32> {
    match ty.kind {
        TypeKind::Double if ty.float_decimals.is_none() => Some(DOUBLE_WIDTH),
        TypeKind::Text(_) => Some(u32::try_from(typing::string_length(ty)).unwrap_or(u32::MAX)),
        _ => None,
    }
}

fn is_column(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column { .. } | ExprKind::ColumnOrdinal { .. })
}

/// Is it a number computed from a single value, whose digits MySQL does not count?
fn is_of_one(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Unary { .. } | ExprKind::Call { function: F::ABS, .. } => true,
        ExprKind::Call { args, .. } => args.first().is_some_and(|arg| typing::is_temporal(&arg.ty)),
        _ => false,
    }
}

/// The values among which the expression chooses.
fn choices(expr: &Expr) -> Option<Vec<&Expr>> {
    match &expr.kind {
        ExprKind::Case { whens, otherwise } => Some(whens.iter().map(|(_, value)| value).chain(otherwise.as_deref()).collect()),
        ExprKind::Call { function: F::IF, args } => Some(args[1..].iter().collect()),
        ExprKind::Call { function: F::IFNULL | F::COALESCE | F::GREATEST | F::LEAST, args } => Some(args.iter().collect()),
        ExprKind::Call { function: F::NULLIF, args } => Some(args[..1].iter().collect()),
        _ => None,
    }
}

/// Does MySQL make the choice among these a CHAR or BINARY?
fn is_fixed(chosen: Vec<&Expr>) -> bool {
    use TypeKind as K;
    let known = || chosen.iter().map(|e| &e.ty.kind).filter(|kind| **kind != K::Null);
    let fixed = |kind: &K| matches!(kind, K::Char { .. } | K::Binary { .. });
    let member = |kind: &K| matches!(kind, K::Enum { .. } | K::Set { .. });
    (known().any(fixed) || known().all(member))
        && !known().any(|kind| matches!(kind, K::VarChar { .. } | K::VarBinary { .. } | K::Json))
}

/// The smallest BLOB or TEXT for this many bytes.
fn lob_size(bytes: u64) -> LobSize {
    match bytes {
        0..=255 => LobSize::Tiny,
        256..=65_535 => LobSize::Regular,
        65_536..=16_777_215 => LobSize::Medium,
        _ => LobSize::Long,
    }
}

/// The type of a column that a table or view gets from a query.
pub fn kept_column(column: &OutputColumn, in_table: bool) -> ColumnType {
    let ty = typing::kept_type(&column.ty);
    let Some(characters) = column.characters.filter(|_| column.made != Made::Column) else { return ty };
    if column.made == Made::Kept {
        let size = lob_size(u64::from(characters) * typing::bytes_per_char(ty.collation));
        return if matches!(ty.kind, TypeKind::Text(_)) { ColumnType { kind: TypeKind::Text(size), ..ty } } else { ty };
    }
    let is_function = !matches!(column.made, Made::Other | Made::Aggregate) && in_table;
    let bytes = u64::from(characters) * typing::bytes_per_char(ty.collation);
    let kind = match ty.kind {
        TypeKind::Year | TypeKind::Bit { .. } | TypeKind::Geometry { .. } | TypeKind::Vector { .. } => return ty,
        _ if ty.is_integer() && column.made == Made::Aggregate => return ty,
        _ if ty.is_integer() && matches!(column.made, Made::IfNull { .. }) && in_table => return ty,
        _ if ty.is_integer() => {
            let width_max = if is_function { INT_FUNCTION_WIDTH_MAX } else { INT_WIDTH_MAX };
            if characters <= width_max { TypeKind::Int } else { TypeKind::BigInt }
        }
        TypeKind::Double if is_function && ty.float_decimals.is_some() => {
            return ColumnType { display_width: Some(FIXED_DOUBLE_WIDTH), ..ty };
        }
        TypeKind::Double if column.made == Made::Aggregate && ty.float_decimals.is_some() => {
            return ColumnType { display_width: u8::try_from(characters).ok(), ..ty };
        }
        TypeKind::Enum { .. } | TypeKind::Set { .. } if is_function => TypeKind::VarChar { length: characters },
        TypeKind::Text(_) if is_function => TypeKind::Text(LobSize::Long),
        TypeKind::Blob(_) if is_function => TypeKind::Blob(LobSize::Long),
        _ if !ty.is_string() => return ty,
        _ if characters > TEXT_CHARACTERS_MAX => {
            let size = lob_size(bytes);
            if ty.collation == CollationId::BINARY { TypeKind::Blob(size) } else { TypeKind::Text(size) }
        }
        _ if ty.collation == CollationId::BINARY => TypeKind::VarBinary { length: characters },
        _ => TypeKind::VarChar { length: characters },
    };
    let display_width = ty.display_width.filter(|_| !ty.is_integer());
    ColumnType { kind, display_width, ..ty }
}
