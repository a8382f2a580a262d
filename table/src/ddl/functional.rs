//! Functional key parts: each is a hidden virtual generated column, which is the part of the index. That of a multi-valued part holds the
//! elements of an array, as a JSON array of their type.
//!
//! K1: a hidden column belongs to one part of one index: it is created, dropped and renamed with it.
//! K2: its type is that of its expression over the other columns; changing one of these columns changes it too.
//! K3: in an altered definition hidden columns come after the others, so that the columns that they read are computed
//!     first.

use super::Expressions;
use crate::{Error, Result};
use types::schema::{ColumnDef, GeneratedDef, KeyPartType, RowExpr};

/// The implementation that evaluates and checks expressions, if there is one.
pub(crate) type Judge<'e> = Option<&'e dyn Expressions>;

/// Adds the hidden column of part number `part` of an index, and says where it is.
pub(super) fn add_column(
    columns: &mut Vec<ColumnDef>,
    expr: &RowExpr,
    (index, part): (&str, usize),
    judge: Judge<'_>,
) -> Result<usize> {
    let mut column = ColumnDef::new(column_name(columns, index, part), types::ColumnType::new(types::TypeKind::Null), true);
    (column.invisible, column.hidden) = (true, true);
    column.generated = Some(GeneratedDef { expr: expr.clone(), stored: false });
    set_type(&mut column, columns, index, judge)?;
    columns.push(column);
    Ok(columns.len() - 1)
}

/// K2: gives a hidden column its type, and returns whether the type changed.
pub(super) fn set_type(column: &mut ColumnDef, columns: &[ColumnDef], index: &str, judge: Judge<'_>) -> Result<bool> {
    let Some(expr) = column.hidden_expr() else { return Ok(false) };
    let judge = judge.ok_or(Error::NotSupported { what: "expressions in definitions" })?;
    let KeyPartType { ty, nullable, element } = judge.key_part(columns, expr, index)?;
    let is_other = column.ty != ty || column.nullable != nullable || column.element != element;
    (column.ty, column.nullable, column.element) = (ty, nullable, element);
    Ok(is_other)
}

/// MySQL's name of the column; the number at the end avoids a clash with an existing name.
pub(super) fn column_name(columns: &[ColumnDef], index: &str, part: usize) -> String {
    let names = (0..).map(|n| format!("!hidden!{index}!{part}!{n}"));
    let is_free = |name: &String| !columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    // Bounded by the number of columns.
    names.into_iter().find(is_free).expect("one of more names than columns is free")
}
