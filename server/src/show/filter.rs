//! The tail of SHOW: LIKE on one column, WHERE over all.

use crate::error::Result;
use crate::session::{ResultSet, State, without_parameters};
use sql::ast::{Expr, ObjectName, Query, QueryBody, Select, SelectItem, ShowFilter, Statement, TableName, TableRef};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::schema::{ColumnDef, ColumnDefault, DatabaseDef, Schema, TableDef, TableId};
use types::{CollationId, Value};

/// Name of the database and table that WHERE reads the rows from; nobody else sees them.
const DATABASE: &str = "information_schema";
const TABLE: &str = "SHOW";

/// Keeps the rows that pass; LIKE looks at column `like_column`.
pub async fn apply(
    state: &mut State,
    mut result: ResultSet,
    filter: ShowFilter<'_>,
    like_column: usize,
) -> Result<ResultSet> {
    match filter {
        ShowFilter::None => {}
        ShowFilter::Like(pattern) => result.rows.retain(|row| match &row[like_column] {
            Value::Bytes(text) => like(pattern, text),
            _ => false,
        }),
        ShowFilter::Where(expr) => result.rows = filter_where(state, &result, expr).await?,
    }
    Ok(result)
}

/// Plans `SELECT * FROM <the result> WHERE expr`.
async fn filter_where(state: &mut State, result: &ResultSet, expr: &Expr<'_>) -> Result<Vec<Vec<Value<'static>>>> {
    let table = TableName {
        name: ObjectName { database: Some(DATABASE), name: TABLE },
        alias: None,
        partitions: &[],
        hints: &[],
    };
    let from = [TableRef::Table(&table)];
    let select = Select {
        distinct: false,
        straight_join: false,
        calc_found_rows: false,
        items: &[SelectItem::All],
        from: &from,
        filter: Some(expr),
        group_by: &[],
        with_rollup: false,
        having: None,
        windows: &[],
    };
    let query =
        Query { with: None, body: QueryBody::Select(&select), order_by: &[], limit: None, locking: &[], into: None };
    let schema = schema_of(result, state.worker.shared.database.schema_version());
    let planned = state.plan_in(&schema, &without_parameters(Statement::Query(&query)))?;
    state.collect(&planned.entry, Some(&result.rows)).await
}

/// A schema with the result as its only table.
fn schema_of(result: &ResultSet, version: u64) -> Schema {
    let columns = result
        .columns
        .iter()
        .map(|column| ColumnDef {
            name: column.name.clone(),
            ty: column.ty.clone(),
            nullable: true,
            default: ColumnDefault::None,
            auto_increment: false,
            on_update_now: false,
            comment: String::new(),
            invisible: false,
        })
        .collect();
    let table = TableDef {
        id: TableId(u64::MAX),
        database: DATABASE.to_owned(),
        name: TABLE.to_owned(),
        columns,
        indexes: Vec::new(),
        collation: CollationId::UTF8MB4_GENERAL_CI,
        comment: String::new(),
        created_us: 0,
        is_virtual: true,
    };
    let database = DatabaseDef {
        name: DATABASE.to_owned(),
        collation: CollationId::UTF8MB4_GENERAL_CI,
        tables: BTreeMap::from([(TABLE.to_owned(), Arc::new(table))]),
    };
    Schema { version, databases: BTreeMap::from([(DATABASE.to_owned(), Arc::new(database))]) }
}

/// SQL's LIKE without regard to case, with `\` as escape.
pub fn like(pattern: &[u8], text: &[u8]) -> bool {
    types::collation::like(text, pattern, Some(b'\\'), CollationId::UTF8MB4_GENERAL_CI)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(like(b"Wait%", b"wait_timeout"));
        assert!(like(b"wait\\_timeout", b"WAIT_TIMEOUT"));
        assert!(!like(b"wait\\_timeout", b"waitXtimeout"));
        assert!(like(b"_", b"x"));
        assert!(!like(b"", b"x"));
    }
}
