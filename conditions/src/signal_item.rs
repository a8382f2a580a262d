//! The named items of a condition, as SIGNAL and GET DIAGNOSTICS know them.

/// The items of a condition that SIGNAL sets and GET DIAGNOSTICS reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalItem {
    ClassOrigin,
    SubclassOrigin,
    MessageText,
    MysqlErrno,
    ConstraintCatalog,
    ConstraintSchema,
    ConstraintName,
    CatalogName,
    SchemaName,
    TableName,
    ColumnName,
    CursorName,
    /// GET DIAGNOSTICS only.
    ReturnedState,
}

impl SignalItem {
    pub const ALL: [(SignalItem, &'static str); 13] = [
        (SignalItem::ClassOrigin, "CLASS_ORIGIN"),
        (SignalItem::SubclassOrigin, "SUBCLASS_ORIGIN"),
        (SignalItem::MessageText, "MESSAGE_TEXT"),
        (SignalItem::MysqlErrno, "MYSQL_ERRNO"),
        (SignalItem::ConstraintCatalog, "CONSTRAINT_CATALOG"),
        (SignalItem::ConstraintSchema, "CONSTRAINT_SCHEMA"),
        (SignalItem::ConstraintName, "CONSTRAINT_NAME"),
        (SignalItem::CatalogName, "CATALOG_NAME"),
        (SignalItem::SchemaName, "SCHEMA_NAME"),
        (SignalItem::TableName, "TABLE_NAME"),
        (SignalItem::ColumnName, "COLUMN_NAME"),
        (SignalItem::CursorName, "CURSOR_NAME"),
        (SignalItem::ReturnedState, "RETURNED_SQLSTATE"),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(item, _)| *item == self).expect("all are listed").1
    }
}
