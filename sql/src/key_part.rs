//! Functional key parts: index parts that are expressions over the row. Each is stored as a hidden generated column of
//! the table.

use crate::error::{DefinitionError, KeyPartProblem, Result};
use crate::row_expr::{RowExprUse, bind_row_expr, check_columns};
use expr::typing::kept_type;
use expr::{Class, Expr, ExprKind, Function, class};
use std::sync::Arc;
use types::schema::{KeyPartType, RowExpr, TableDef};
use types::{ColumnType, TypeKind};

/// Longer strings are TEXT or BLOB to MySQL here.
const LENGTH_MAX: u32 = 512;

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
