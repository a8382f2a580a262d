//! The families of types.

use types::{ColumnType, TypeKind};

/// The families of types that conversions and comparisons distinguish, and the representations of their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Null,
    Integer,
    Decimal,
    Double,
    String,
    Json,
    Date,
    Time,
    DateTime,
}

/// The class of a type.
#[inline]
pub fn class(ty: &ColumnType) -> Class {
    match ty.kind {
        TypeKind::Null => Class::Null,
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt
        | TypeKind::Year
        | TypeKind::Bit { .. } => Class::Integer,
        TypeKind::Decimal { .. } => Class::Decimal,
        TypeKind::Float | TypeKind::Double => Class::Double,
        TypeKind::Date => Class::Date,
        TypeKind::Time { .. } => Class::Time,
        TypeKind::DateTime { .. } | TypeKind::Timestamp { .. } => Class::DateTime,
        TypeKind::Json => Class::Json,
        _ => Class::String,
    }
}
