//! The columns that a query gives to CREATE TABLE ... SELECT and to views.

use sql::plan::OutputColumn;
use types::schema::{ColumnDef, ColumnDefault, Schema};
use types::{ColumnType, TypeKind};

/// The object made from a query. In strict mode the dates of a table do not get the zero date as default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    View,
    Table,
    StrictTable,
}

/// The column of a table or view for a result column of its query. A stored column keeps its default for new rows, and
/// its comment. Every other column that is NOT NULL gets MySQL's empty value, and so does one that is not read from the
/// table directly (`direct`).
pub fn column_of_query(column: &OutputColumn, schema: &Schema, direct: bool, keeper: Keeper) -> ColumnDef {
    let mut made = ColumnDef::new(column.name.clone(), sql::kept_column(column, keeper != Keeper::View), column.nullable);
    let table = schema.table(&column.database, &column.table).filter(|table| !table.is_virtual);
    let base = table.and_then(|table| Some(&table.columns[table.column_index(&column.original_name)?]));
    if let Some(base) = base {
        made.comment.clone_from(&base.comment);
    }
    match base.filter(|base| direct || matches!(base.default, ColumnDefault::None | ColumnDefault::Expression(_))) {
        Some(base) => {
            let is_bit = matches!(base.ty.kind, TypeKind::Bit { .. });
            made.default = match &base.default {
                // As in MySQL.
                _ if base.auto_increment => ColumnDefault::Literal(Some("0".to_owned())),
                ColumnDefault::Literal(_) if is_bit || base.generated.is_some() => ColumnDefault::None,
                ColumnDefault::Dropped => ColumnDefault::None,
                default => default.clone(),
            };
            made.on_update_now = base.on_update_now;
        }
        None if !made.nullable => {
            let has_none = keeper == Keeper::StrictTable && is_moment(&made.ty);
            made.default =
                empty_value(&made.ty).filter(|_| !has_none).map_or(ColumnDefault::None, |v| ColumnDefault::Literal(Some(v)))
        }
        None => {}
    }
    if made.nullable && made.default == ColumnDefault::None {
        made.default = ColumnDefault::Literal(None);
    }
    made
}

/// Has it a date?
fn is_moment(ty: &ColumnType) -> bool {
    matches!(ty.kind, TypeKind::Date | TypeKind::DateTime { .. } | TypeKind::Timestamp { .. })
}

/// The default of a column made from an expression that is never NULL; `None`: no default.
fn empty_value(ty: &ColumnType) -> Option<String> {
    let zeros = |digits: u8| if digits == 0 { String::new() } else { format!(".{}", "0".repeat(digits.into())) };
    match ty.kind {
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt
        | TypeKind::Float
        | TypeKind::Double => Some("0".to_owned()),
        TypeKind::Decimal { scale, .. } => Some(format!("0{}", zeros(scale))),
        TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Binary { .. } | TypeKind::VarBinary { .. } => {
            Some(String::new())
        }
        TypeKind::Date => Some("0000-00-00".to_owned()),
        TypeKind::Time { fsp } => Some(format!("00:00:00{}", zeros(fsp))),
        TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => Some(format!("0000-00-00 00:00:00{}", zeros(fsp))),
        TypeKind::Year => Some("0000".to_owned()),
        _ => None,
    }
}
