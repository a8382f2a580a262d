//! Building blocks of result sets.

use crate::session::ResultSet;
use sql::plan::OutputColumn;
use types::schema::{ColumnDef, IndexKind, TableDef};
use types::{CollationId, ColumnType, LobSize, TypeKind, Value};

/// Columns of a result under construction.
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

    pub fn number(self, name: &str) -> Self {
        self.add(name, ColumnType::unsigned(TypeKind::BigInt), true)
    }

    pub fn datetime(self, name: &str) -> Self {
        self.add(name, ColumnType::new(TypeKind::DateTime { fsp: 0 }), true)
    }

    pub fn add(mut self, name: &str, ty: ColumnType, nullable: bool) -> Self {
        self.0.push(OutputColumn {
            name: name.to_owned(),
            ty,
            nullable,
            database: String::new(),
            table: String::new(),
            table_alias: String::new(),
            original_name: String::new(),
            primary_key: false,
            unique_key: false,
            multiple_key: false,
            auto_increment: false,
            no_default: false,
        });
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

/// A row of texts.
pub fn texts(values: &[&str]) -> Vec<Value<'static>> {
    values.iter().map(|value| text(*value)).collect()
}

/// What ANALYZE TABLE and its kin answer.
pub fn maintenance_result() -> ResultSet {
    result(Columns::default().text("Table", 128).text("Op", 10).text("Msg_type", 10).long_text("Msg_text"))
}

/// A table's column as a column of a result.
pub fn output_column(def: &TableDef, column: &ColumnDef) -> OutputColumn {
    let position = def.columns.iter().position(|candidate| std::ptr::eq(candidate, column));
    let key = position.map_or(Key::None, |position| key_of(def, position));
    OutputColumn {
        name: column.name.clone(),
        ty: column.ty.clone(),
        nullable: column.nullable,
        database: def.database.clone(),
        table: def.name.clone(),
        table_alias: def.name.clone(),
        original_name: column.name.clone(),
        primary_key: key == Key::Primary,
        unique_key: key == Key::Unique,
        multiple_key: key == Key::Multiple,
        auto_increment: column.auto_increment,
        no_default: !column.nullable
            && column.default == types::schema::ColumnDefault::None
            && !column.auto_increment,
    }
}

/// What the `Key` column of DESCRIBE says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    None,
    Primary,
    Unique,
    Multiple,
}

impl Key {
    pub fn name(self) -> &'static str {
        match self {
            Key::None => "",
            Key::Primary => "PRI",
            Key::Unique => "UNI",
            Key::Multiple => "MUL",
        }
    }
}

/// The strongest role of a column: in the primary key, alone in a unique key, first in any other key.
pub fn key_of(def: &TableDef, position: usize) -> Key {
    let mut key = Key::None;
    // Without a primary key, the first unique key without NULLs shows as one.
    let stand_in = def.indexes.first().filter(|index| index.kind == IndexKind::HiddenRowId).and_then(|_| {
        def.indexes.iter().position(|index| {
            index.kind == IndexKind::Unique && index.columns.iter().all(|part| !def.columns[part.column].nullable)
        })
    });
    for (number, index) in def.indexes.iter().enumerate() {
        let contains = index.columns.iter().any(|part| part.column == position);
        let first = index.columns.first().is_some_and(|part| part.column == position);
        match index.kind {
            IndexKind::Primary if contains => return Key::Primary,
            IndexKind::Unique if stand_in == Some(number) && contains => return Key::Primary,
            IndexKind::Unique if first && index.columns.len() == 1 => key = Key::Unique,
            IndexKind::Unique | IndexKind::Secondary if first && key == Key::None => key = Key::Multiple,
            _ => {}
        }
    }
    key
}
