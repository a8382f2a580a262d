//! Building blocks of result sets.

use sql::plan::OutputColumn;
use types::schema::{ColumnDef, TableDef};
use types::{CollationId, ColumnType, LobSize, TypeKind, Value, show_create};

/// A result set that the server makes itself.
#[derive(Debug, Default)]
pub struct ResultSet {
    pub columns: Vec<OutputColumn>,
    pub rows: Vec<Vec<Value<'static>>>,
}

/// The columns of a result being built.
#[derive(Default)]
pub struct Columns(Vec<OutputColumn>);

impl Columns {
    pub fn text(self, name: &str, length: u32) -> Self {
        self.add(name, text_type(length), false)
    }

    pub fn nullable_text(self, name: &str, length: u32) -> Self {
        self.add(name, text_type(length), true)
    }

    pub fn long_text(self, name: &str) -> Self {
        self.add(name, ColumnType::new(TypeKind::Text(LobSize::Long)), true)
    }

    /// A column with a statement's text, as wide as the text.
    pub fn statement(self, name: &str, statement: &str) -> Self {
        self.text(name, u32::try_from(statement.len()).unwrap_or(u32::MAX).max(1024))
    }

    /// An error's number.
    pub fn code(self, name: &str) -> Self {
        self.add(name, ColumnType { display_width: Some(5), ..ColumnType::unsigned(TypeKind::Int) }, false)
    }

    pub fn number(self, name: &str) -> Self {
        self.add(name, ColumnType::unsigned(TypeKind::BigInt), true)
    }

    pub fn add(mut self, name: &str, ty: ColumnType, nullable: bool) -> Self {
        self.0.push(OutputColumn::new(name.to_owned(), ty, nullable));
        self
    }
}

fn text_type(length: u32) -> ColumnType {
    ColumnType { collation: CollationId::UTF8MB4_GENERAL_CI, ..ColumnType::new(TypeKind::VarChar { length }) }
}

pub fn result(columns: Columns) -> ResultSet {
    ResultSet { columns: columns.0, rows: Vec::new() }
}

pub fn text(value: impl Into<String>) -> Value<'static> {
    Value::Bytes(value.into().into_bytes().into())
}

pub fn optional(value: Option<impl Into<String>>) -> Value<'static> {
    value.map_or(Value::Null, text)
}

pub fn number(value: impl TryInto<u64>) -> Value<'static> {
    Value::UInt(value.try_into().unwrap_or(0))
}

/// A row of strings.
pub fn texts(values: &[&str]) -> Vec<Value<'static>> {
    values.iter().map(|value| text(*value)).collect()
}

/// The result set of ANALYZE TABLE and the like, without rows.
pub fn maintenance_result() -> ResultSet {
    result(Columns::default().text("Table", 128).text("Op", 10).text("Msg_type", 10).long_text("Msg_text"))
}

/// The name of an index's column; NULL for a functional part.
pub fn key_part_name(column: &ColumnDef) -> Value<'static> {
    optional((!column.hidden).then_some(&*column.name))
}

/// The expression of a functional part of an index.
pub fn key_part_expression(column: &ColumnDef) -> Value<'static> {
    optional(column.hidden_expr().map(|expr| show_create::escaped(&expr.text)))
}

/// The result set of CHECKSUM TABLE, without rows.
pub fn checksum_result() -> ResultSet {
    result(Columns::default().text("Table", 128).number("Checksum"))
}

/// A table's column as a result column.
pub fn output_column(def: &TableDef, column: &ColumnDef) -> OutputColumn {
    let position = def.columns.iter().position(|candidate| std::ptr::eq(candidate, column));
    let key = position.map_or("", |position| show_create::column_key(def, position));
    OutputColumn {
        database: def.database.clone(),
        table: def.name.clone(),
        table_alias: def.name.clone(),
        original_name: column.name.clone(),
        primary_key: key == "PRI",
        unique_key: key == "UNI",
        multiple_key: key == "MUL",
        part_of_key: !key.is_empty(),
        auto_increment: column.auto_increment,
        no_default: !column.nullable && column.default == types::schema::ColumnDefault::None && !column.auto_increment,
        sets_time: column.on_update_now || column.default.is_now(),
        sets_time_on_update: column.on_update_now,
        ..OutputColumn::new(column.name.clone(), column.ty.clone(), column.nullable)
    }
}

/// Types with a character set.
pub fn is_text(ty: &ColumnType) -> bool {
    matches!(
        ty.kind,
        TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Text(_) | TypeKind::Enum { .. } | TypeKind::Set { .. }
    )
}
