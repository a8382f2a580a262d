//! Functional key parts: each is a hidden column, virtual and generated, which the index has as its part.
//!
//! K1: a hidden column belongs to one part of one index: it comes, goes and is renamed with it.
//! K2: its type is that of its expression over the other columns; a change of those is a change of it.
//! K3: a definition that is altered has hidden columns behind the others, so that what they read is computed before them.

use super::Expressions;
use crate::{Error, Result};
use types::schema::{ColumnDef, GeneratedDef, RowExpr};

/// What computes and judges expressions, where there is something that does.
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

/// K2: gives a hidden column its type, and says whether that is another one.
pub(super) fn set_type(column: &mut ColumnDef, columns: &[ColumnDef], index: &str, judge: Judge<'_>) -> Result<bool> {
    let Some(expr) = column.hidden_expr() else { return Ok(false) };
    let judge = judge.ok_or(Error::NotSupported { what: "expressions in definitions" })?;
    let (ty, nullable) = judge.key_part(columns, expr, index)?;
    let is_other = column.ty != ty || column.nullable != nullable;
    (column.ty, column.nullable) = (ty, nullable);
    Ok(is_other)
}

/// MySQL's name of the column; its number at the end tells it from a column that happens to have such a name.
pub(super) fn column_name(columns: &[ColumnDef], index: &str, part: usize) -> String {
    let names = (0..).map(|n| format!("!hidden!{index}!{part}!{n}"));
    let is_free = |name: &String| !columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    // Bounded by the number of columns.
    names.into_iter().find(is_free).expect("one of more names than columns is free")
}
