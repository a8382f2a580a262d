//! Functional key parts: index parts that are expressions over the row. Each is stored as a hidden generated column of
//! the table.

use crate::ast::CastTarget;
use crate::error::{DefinitionError, Error, KeyPartProblem, Result};
use crate::row_expr::{RowExprUse, bind_row_expr, check_columns};
use conditions::Condition;
use expr::typing::kept_type;
use expr::{Class, Expr, ExprKind, Function, class};
use std::sync::Arc;
use types::schema::{KeyPartType, RowExpr, TableDef};
use types::{CollationId, ColumnType, TypeKind};

/// Longer strings are TEXT or BLOB to MySQL here.
const LENGTH_MAX: u32 = 512;

/// Of `CAST(x AS type ARRAY)` anywhere else than as a whole key part.
#[cold]
pub(crate) fn misplaced_array() -> Error {
    let what =
        "Use of CAST( .. AS .. ARRAY) outside of functional index in CREATE(non-SELECT)/ALTER TABLE or in general expressions";
    Condition::NotSupportedByMysql { what: what.into() }.into()
}

/// The elements of `CAST(x AS type ARRAY)`.
///
/// # Errors
/// 1235: there are no arrays of the type.
pub(crate) fn element_type(target: &CastTarget<'_>) -> Result<ColumnType> {
    let refused = |what: &str| {
        let what = format!("CAST-ing data to array of {what}");
        Err(Condition::NotSupportedByMysql { what: what.into() }.into())
    };
    let kind = match *target {
        CastTarget::Signed => TypeKind::BigInt,
        CastTarget::Unsigned => return Ok(ColumnType::unsigned(TypeKind::BigInt)),
        CastTarget::Decimal { precision, scale } => TypeKind::Decimal { precision, scale },
        CastTarget::Date => TypeKind::Date,
        CastTarget::Time { fsp } => TypeKind::Time { fsp },
        CastTarget::DateTime { fsp } => TypeKind::DateTime { fsp },
        CastTarget::Char { charset: Some(_), .. } | CastTarget::Char { binary: true, .. } => {
            return Err(Condition::NotSupportedByMysql { what: "specifying charset for multi-valued index".into() }.into());
        }
        CastTarget::Char { length: Some(length @ 1..=LENGTH_MAX), .. } => TypeKind::VarChar { length },
        CastTarget::Binary { length: Some(length @ 1..=LENGTH_MAX) } => TypeKind::VarBinary { length },
        CastTarget::Char { .. } | CastTarget::Binary { .. } => return refused("char/binary BLOBs"),
        CastTarget::Float => return refused("FLOAT"),
        CastTarget::Double => return refused("DOUBLE"),
        CastTarget::Year => return refused("YEAR"),
        CastTarget::Json => return refused("JSON"),
        CastTarget::Geometry(_) => return refused("GEOMETRY"),
    };
    let collation = match kind {
        TypeKind::VarChar { .. } => CollationId::by_name("utf8mb4_0900_as_cs").unwrap_or(CollationId::UTF8MB4_BIN),
        TypeKind::VarBinary { .. } => CollationId::BINARY,
        _ => return Ok(ColumnType::new(kind)),
    };
    Ok(ColumnType { collation, ..ColumnType::new(kind) })
}

/// Of a multi-valued key part's expression: the array, and the type of its elements.
pub(crate) fn array_part(expr: &Expr) -> Option<(&Expr, &ColumnType)> {
    match &expr.kind {
        ExprKind::Call { function: Function::CAST_ARRAY, args } => Some((args.first()?, &args.get(1)?.ty)),
        _ => None,
    }
}

/// The type of the hidden column for an expression over the columns of `def`, and whether it is nullable. `index` is
/// for messages.
pub fn key_part_type(def: &Arc<TableDef>, expr: &RowExpr, index: &str) -> Result<KeyPartType> {
    let usage = RowExprUse::Index(index.to_owned());
    check_columns(def, usize::MAX, expr, &usage)?;
    let bound = bind_row_expr(&expr.text, def)?;
    if let Some((_, element)) = array_part(&bound) {
        return Ok(KeyPartType { ty: bound.ty.clone(), nullable: true, element: Some(Box::new(element.clone())) });
    }
    // How numbers are shown is nothing to an index.
    if bound.ty.kind == TypeKind::Null {
        return Err(DefinitionError::KeyPart(KeyPartProblem::Null).into());
    }
    let ty = ColumnType { display_width: None, float_decimals: None, zerofill: false, ..kept_type(&bound.ty) };
    let refused = match ty.kind {
        TypeKind::Json => Some(KeyPartProblem::Json),
        TypeKind::Geometry { .. } => Some(KeyPartProblem::Spatial),
        TypeKind::Text(_) | TypeKind::Blob(_) => Some(KeyPartProblem::Lob),
        TypeKind::VarChar { length } | TypeKind::VarBinary { length } if length > LENGTH_MAX => Some(KeyPartProblem::Lob),
        _ => None,
    };
    match refused {
        Some(why) => Err(DefinitionError::KeyPart(why).into()),
        None => Ok(KeyPartType { ty, nullable: bound.nullable, element: None }),
    }
}

/// Does a column of this type keep the values of an expression of that type as they are?
pub(crate) fn keeps_values(column: &ColumnType, expr: &ColumnType) -> bool {
    match (class(column), class(expr)) {
        (Class::Integer, Class::Integer) => {
            column.unsigned == expr.unsigned && !matches!(column.kind, TypeKind::Year | TypeKind::Bit { .. })
        }
        (Class::Decimal, Class::Decimal) => column.kind == expr.kind,
        (Class::Double, Class::Double) => {
            column.float_decimals.is_none() && (column.kind == TypeKind::Double || column.kind == expr.kind)
        }
        (Class::String, Class::String) => column.collation == expr.collation && !is_altering(&column.kind),
        (Class::Date, Class::Date) => true,
        (Class::Time, Class::Time) | (Class::DateTime, Class::DateTime) => column.kind == expr.kind,
        _ => false,
    }
}

/// Do values of the type lose trailing spaces, or are they members?
fn is_altering(kind: &TypeKind) -> bool {
    matches!(kind, TypeKind::Char { .. } | TypeKind::Binary { .. } | TypeKind::Enum { .. } | TypeKind::Set { .. })
}
