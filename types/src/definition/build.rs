//! A definition, column by column, in place of a CREATE TABLE.

use super::{NewIndex, NewIndexColumn, NewIndexKind, NewTable};
use crate::schema::ColumnDef;
use crate::{CollationId, ColumnType};

impl NewTable {
    /// A table without columns and keys yet.
    pub fn new(database: &str, name: &str) -> Self {
        Self {
            database: database.to_owned(),
            name: name.to_owned(),
            columns: Vec::new(),
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            collation: CollationId::UTF8MB4_0900_AI_CI,
            comment: String::new(),
            auto_increment: None,
            partitioning: None,
        }
    }

    /// Adds a column that is NOT NULL.
    pub fn column(mut self, name: &str, ty: ColumnType) -> Self {
        self.columns.push(column(name, ty, false));
        self
    }

    /// Adds a column that may be NULL.
    pub fn nullable_column(mut self, name: &str, ty: ColumnType) -> Self {
        self.columns.push(column(name, ty, true));
        self
    }

    /// The primary key, by which rows are read and written.
    pub fn primary_key(self, columns: &[&str]) -> Self {
        self.with_key("", NewIndexKind::Primary, columns)
    }

    /// Adds a key of which no two rows may have the same values.
    pub fn unique_key(self, name: &str, columns: &[&str]) -> Self {
        self.with_key(name, NewIndexKind::Unique, columns)
    }

    /// Adds a key.
    pub fn key(self, name: &str, columns: &[&str]) -> Self {
        self.with_key(name, NewIndexKind::Secondary, columns)
    }

    fn with_key(mut self, name: &str, kind: NewIndexKind, columns: &[&str]) -> Self {
        self.indexes.push(NewIndex {
            name: name.to_owned(),
            kind,
            columns: columns.iter().map(|name| NewIndexColumn::whole(*name)).collect(),
            comment: String::new(),
            using_btree: false,
            invisible: false,
            generated: false,
            full_text: None,
        });
        self
    }
}

fn column(name: &str, ty: ColumnType, nullable: bool) -> ColumnDef {
    ColumnDef::new(name, ty, nullable)
}
