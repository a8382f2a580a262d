//! The rules that find the type of a call, and what they know of the statement.
//!
//! Rules that several functions share are here; a rule of one function is next to it.

use crate::class::{Class, class};
use crate::tree::{Expr, ExprKind};
use crate::typing;
use smallvec::SmallVec;
use std::borrow::Cow;
use types::{CollationId, ColumnType, LobSize, TypeKind, Value};

/// What the rules ask of the binder.
pub trait Typing {
    /// The collation of texts that a function makes from nothing: the connection's.
    fn literal_collation(&self) -> CollationId;

    /// The text of an expression that is computed from constants.
    fn constant_text(&self, expr: &Expr) -> Option<Vec<u8>>;
}

/// The type of a call with these arguments, whose strings have this collation.
///
/// # Errors
/// A constant argument is not allowed.
pub type Rule = fn(&dyn Typing, &[Expr], CollationId) -> Result<ColumnType, Problem>;

/// Why a call has no type.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// 1426: more digits of a second than there are.
    TooBigPrecision { function: &'static str, precision: u32, max: u32 },
    /// 1210
    WrongArguments { function: &'static str },
}

pub(super) type Typed = Result<ColumnType, Problem>;

/// The length of REPEAT and the like if their count is not known.
pub(super) const LONG: u64 = 16_777_216;

/// The lengths of a call's arguments in characters of the result.
pub struct Lengths<'e> {
    pub args: &'e [Expr],
    collation: CollationId,
    lengths: SmallVec<[u64; 4]>,
}

impl<'e> Lengths<'e> {
    pub(crate) fn new(args: &'e [Expr], collation: CollationId) -> Self {
        // If the result is binary, an argument counts with the bytes of its characters.
        let length = |arg: &Expr| if collation == CollationId::BINARY { bytes_of(arg) } else { typing::text_length(arg) };
        Self { args, collation, lengths: args.iter().map(length).collect() }
    }

    pub(super) fn first(&self) -> u64 {
        self.lengths.first().copied().unwrap_or(0)
    }

    pub(super) fn of(&self, argument: usize) -> u64 {
        self.lengths[argument]
    }

    pub(super) fn get(&self, argument: usize) -> Option<u64> {
        self.lengths.get(argument).copied()
    }

    /// The lengths of the arguments behind the first.
    pub(super) fn rest(&self) -> &[u64] {
        &self.lengths[1..]
    }

    pub(super) fn count(&self) -> u64 {
        self.lengths.len() as u64
    }

    pub(super) fn capped(&self, length: u64) -> u64 {
        typing::capped(length, self.collation)
    }

    /// So many times as a constant argument says. The limit is in bytes if the number of characters is known.
    pub(super) fn repeated(&self, count: usize, most: u64) -> u64 {
        constant_length(self.args.get(count)).map_or(LONG, |n| self.capped(n.saturating_mul(most)))
    }
}

/// As long as the first argument.
pub(super) fn of_first(lengths: &Lengths<'_>) -> u64 {
    lengths.first()
}

/// The most bytes of an argument's text.
pub(super) fn bytes_of(arg: &Expr) -> u64 {
    typing::text_length(arg).saturating_mul(typing::bytes_per_char(arg.ty.collation))
}

/// The maximum length in characters of a call that builds a string from its arguments.
pub(crate) fn length_of_call(function: crate::func::Function, args: &[Expr], collation: CollationId) -> Option<u64> {
    match function.row().ty {
        super::row::TypeOf::Text(length) => Some(length(&Lengths::new(args, collation))),
        super::row::TypeOf::Rule(_) => None,
    }
}

/// The maximum length of a call that makes a new string and whose type has the size of a column.
pub(crate) fn own_length(function: crate::func::Function, args: &[Expr]) -> Option<u64> {
    function.row().length.map(|length| length(args))
}

pub(super) fn bigint(_: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    Ok(typing::bigint(false))
}

pub(super) fn unsigned_bigint(_: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    Ok(typing::bigint(true))
}

/// BIGINT(1)
pub(super) fn boolean(_: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    Ok(typing::boolean())
}

pub(super) fn double(_: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    Ok(typing::double())
}

pub(super) fn date(_: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    Ok(ColumnType::new(TypeKind::Date))
}

pub(super) fn year(_: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    Ok(ColumnType::unsigned(TypeKind::Year))
}

pub(super) fn json(_: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    Ok(ColumnType::new(TypeKind::Json))
}

pub(super) fn long_blob(_: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    Ok(ColumnType::new(TypeKind::Blob(LobSize::Long)))
}

/// A string of at most so many characters in the collation of the connection.
pub(super) fn text<const LENGTH: u64>(typing: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    Ok(typing::string(LENGTH, typing.literal_collation()))
}

/// So many bytes at most.
pub(super) fn binary<const LENGTH: u64>(_: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    Ok(typing::string(LENGTH, CollationId::BINARY))
}

/// A name of the server's, in utf8mb3.
pub(super) fn system_text<const LENGTH: u32>(_: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    let collation = CollationId::of_charset("utf8mb3").unwrap_or(CollationId::UTF8MB4_GENERAL_CI);
    Ok(ColumnType { collation, ..ColumnType::new(TypeKind::VarChar { length: LENGTH }) })
}

/// A long text of the server's, in utf8mb3.
pub(super) fn long_system_text(typing: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    let collation = CollationId::of_charset("utf8mb3").unwrap_or(typing.literal_collation());
    Ok(ColumnType { collation, ..ColumnType::new(TypeKind::Text(LobSize::Long)) })
}

/// The common type of all arguments.
pub(super) fn common(_: &dyn Typing, args: &[Expr], collation: CollationId) -> Typed {
    Ok(typing::unify(args.iter(), collation))
}

/// The arguments; strings computed from literals alone are replaced by their values.
pub(super) fn with_known_texts<'e>(typing: &dyn Typing, args: &'e [Expr]) -> Cow<'e, [Expr]> {
    let is_computed = |e: &Expr| {
        let is_text = matches!(class(&e.ty), Class::String | Class::Json) && !matches!(e.kind, ExprKind::Literal(_));
        is_text && crate::constant::is_fixed(e)
    };
    if !args.iter().any(is_computed) {
        return Cow::Borrowed(args);
    }
    let known = |e: &Expr| {
        if is_computed(e) {
            match typing.constant_text(e) {
                // Of JSON constants, only numbers can be times.
                Some(text) if class(&e.ty) == Class::Json && !text.first().is_some_and(u8::is_ascii_digit) => e.clone(),
                Some(text) => Expr::literal(Value::Bytes(text.into()), typing::string(0, CollationId::UTF8MB4_BIN)),
                None => e.clone(),
            }
        } else {
            e.clone()
        }
    };
    Cow::Owned(args.iter().map(known).collect())
}

pub(super) fn constant_length(arg: Option<&Expr>) -> Option<u64> {
    match arg?.kind {
        ExprKind::Literal(Value::UInt(n)) => Some(n),
        _ => constant_integer(arg).map(|n| n.max(0).unsigned_abs()),
    }
}

/// The integer value of a literal.
pub(super) fn constant_integer(arg: Option<&Expr>) -> Option<i64> {
    match &arg?.kind {
        ExprKind::Literal(value) => Some(types::convert::to_i64(value, &mut types::convert::Warnings::new())),
        _ => None,
    }
}
