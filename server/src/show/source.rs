//! The inputs of the rows of the server's tables.

use super::gathered::Gathered;
use crate::worker::Worker;
use accounts::Access;
use std::sync::Arc;
use types::Value;
use types::schema::{ColumnDef, DatabaseDef, Schema, TableDef};

pub type Row = Vec<Value<'static>>;

/// The inputs from which rows are made.
pub struct Source<'a> {
    pub worker: &'a Worker,
    /// Without the objects that the account may not see.
    pub schema: &'a Schema,
    /// Collected if a table needs it (`schema::VirtualReads`).
    pub gathered: Option<&'a Gathered>,
    /// `None`: for a reader that sees everything.
    pub access: Option<&'a Access>,
    pub wanted: Wanted<'a>,
}

/// The schema and table that the statement's predicates select; rows of others are not needed.
#[derive(Clone, Copy, Default)]
pub struct Wanted<'a> {
    pub schema: Option<&'a str>,
    pub table: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    pub fn in_schema(name: &'a str) -> Self {
        Self { schema: Some(name), table: None }
    }

    /// From predicates that compare columns of a table with strings for equality.
    pub fn new(table: &TableDef, equal: &'a [(usize, Vec<u8>)]) -> Self {
        let mut wanted = Self::default();
        for (column, text) in equal {
            // Names do not end with spaces, and a collation with padding ignores them in the string.
            let Ok(text) = std::str::from_utf8(text).map(|text| text.trim_end_matches(' ')) else { continue };
            match &*table.columns[*column].name {
                "TABLE_SCHEMA" | "CONSTRAINT_SCHEMA" | "SCHEMA_NAME" | "database_name" | "EVENT_SCHEMA" | "ROUTINE_SCHEMA"
                | "TRIGGER_SCHEMA" => wanted.schema = Some(text),
                "TABLE_NAME" | "table_name" => wanted.table = Some(text),
                _ => {}
            }
        }
        wanted
    }
}

impl<'a> Source<'a> {
    /// The databases that the statement selects.
    pub fn databases(&self) -> impl Iterator<Item = &'a Arc<DatabaseDef>> + use<'a> {
        let wanted = self.wanted.schema;
        self.schema.databases.values().filter(move |database| wanted.is_none_or(|wanted| wanted == database.name))
    }

    /// The tables that the statement selects.
    pub fn tables(&self) -> impl Iterator<Item = &'a TableDef> + use<'a> {
        self.definitions().map(|table| &**table)
    }

    /// Like [`Self::tables`], as shared pointers.
    pub fn definitions(&self) -> impl Iterator<Item = &'a Arc<TableDef>> + use<'a> {
        let wanted = self.wanted.table;
        self.databases()
            .flat_map(|database| database.tables.values())
            .filter(move |table| wanted.is_none_or(|wanted| wanted == table.name))
    }

    pub fn sees_column(&self, def: &TableDef, column: &ColumnDef) -> bool {
        self.access.is_none_or(|access| access.sees_column(&def.database, &def.name, &column.name))
    }

    /// Like [`Self::tables`], without the server's tables and without views.
    pub fn stored_tables(&self) -> impl Iterator<Item = &'a TableDef> + use<'a> {
        self.tables().filter(|table| !table.is_virtual && table.view.is_none())
    }
}

/// Makes the rows of a table.
pub type Maker = fn(&Source<'_>) -> Vec<Row>;
