//! Tables by size and use, and one table with its indexes.

use super::{Made, Part, find, listed, needed, order};
use crate::logins::{Login, Refusal};
use crate::request::Request;
use crate::wire::{name, quoted};
use serde_json::json;

/// What a list may be ordered by.
const ORDERS: &[(&str, &str)] = &[
    ("size", "(t.DATA_LENGTH + t.INDEX_LENGTH) DESC"),
    ("rows", "t.TABLE_ROWS DESC"),
    ("reads", "IFNULL(w.COUNT_FETCH, 0) DESC"),
    ("writes", "(IFNULL(w.COUNT_INSERT, 0) + IFNULL(w.COUNT_UPDATE, 0) + IFNULL(w.COUNT_DELETE, 0)) DESC"),
    ("indexes", "t.INDEX_LENGTH DESC"),
    ("name", "t.TABLE_SCHEMA, t.TABLE_NAME"),
];

pub async fn list(login: &Login, request: &Request) -> Made {
    let (part, order) = (Part::of(request)?, order(request, ORDERS)?);
    let found = find(request, &["t.TABLE_SCHEMA", "t.TABLE_NAME"])?;
    let statement = format!(
        "SELECT t.TABLE_SCHEMA AS `schema`, t.TABLE_NAME AS name, t.TABLE_ROWS AS row_count, t.DATA_LENGTH AS data_bytes, \
         t.INDEX_LENGTH AS index_bytes, t.AUTO_INCREMENT AS next_id, w.COUNT_FETCH AS fetched, w.COUNT_INSERT AS inserted, \
         w.COUNT_UPDATE AS updated, w.COUNT_DELETE AS deleted, \
         SUM(t.DATA_LENGTH + t.INDEX_LENGTH) OVER () AS all_bytes, COUNT(*) OVER () AS all_rows \
         FROM information_schema.TABLES t LEFT JOIN performance_schema.table_io_waits_summary_by_table w \
         ON w.OBJECT_SCHEMA = t.TABLE_SCHEMA AND w.OBJECT_NAME = t.TABLE_NAME \
         WHERE t.TABLE_TYPE = 'BASE TABLE' AND t.TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema') \
         AND {found} ORDER BY {order}, t.TABLE_SCHEMA, t.TABLE_NAME {}",
        part.clause()
    );
    let mut made = listed(login.query(&statement).await?);
    made["unused"] = unused(login).await?;
    Ok(made)
}

/// Indexes that nobody has used since the start, and those that another one makes superfluous.
async fn unused(login: &Login) -> Made {
    let unused =
        "SELECT object_schema AS `schema`, object_name AS name, index_name AS `index` FROM sys.schema_unused_indexes LIMIT 200";
    let redundant = "SELECT table_schema AS `schema`, table_name AS name, redundant_index_name AS `index`, \
                     dominant_index_name AS dominant FROM sys.schema_redundant_indexes LIMIT 200";
    let ids = "SELECT table_schema AS `schema`, table_name AS name, column_name AS `column`, max_value AS `most`, \
               auto_increment AS next_id, auto_increment_ratio AS ratio FROM sys.schema_auto_increment_columns \
               ORDER BY auto_increment_ratio DESC LIMIT 20";
    Ok(json!({
        "unused": optional(login, unused).await?,
        "redundant": optional(login, redundant).await?,
        "next_ids": optional(login, ids).await?,
    }))
}

pub async fn one(login: &Login, request: &Request) -> Made {
    let (schema, table) = (needed(request, "schema")?, needed(request, "name")?);
    let of = |schema_column: &str, table_column: &str| {
        format!("{schema_column} = {} AND {table_column} = {}", quoted(schema), quoted(table))
    };
    let statement = format!(
        "SELECT s.INDEX_NAME AS name, MIN(s.NON_UNIQUE) AS non_unique, \
         GROUP_CONCAT(IFNULL(s.COLUMN_NAME, s.EXPRESSION) ORDER BY s.SEQ_IN_INDEX SEPARATOR ', ') AS columns, \
         MAX(s.CARDINALITY) AS cardinality, MIN(s.IS_VISIBLE) AS visible FROM information_schema.STATISTICS s \
         WHERE {} GROUP BY s.INDEX_NAME ORDER BY s.INDEX_NAME = 'PRIMARY' DESC, s.INDEX_NAME",
        of("s.TABLE_SCHEMA", "s.TABLE_NAME")
    );
    let indexes = login.query(&statement).await?;
    let usage = format!(
        "SELECT INDEX_NAME AS name, COUNT_FETCH AS fetched, COUNT_INSERT AS inserted, COUNT_UPDATE AS updated, \
         COUNT_DELETE AS deleted FROM performance_schema.table_io_waits_summary_by_index_usage WHERE {}",
        of("OBJECT_SCHEMA", "OBJECT_NAME")
    );
    let waits = format!(
        "SELECT INDEX_NAME AS `index`, EVENT_NAME AS event, COUNT_STAR AS count, SUM_TIMER_WAIT AS time_ps, \
         MAX_TIMER_WAIT AS longest_ps FROM performance_schema.heddle_waits_by_object WHERE {} ORDER BY SUM_TIMER_WAIT DESC LIMIT 50",
        of("OBJECT_SCHEMA", "OBJECT_NAME")
    );
    let created = optional(login, &format!("SHOW CREATE TABLE {}.{}", name(schema), name(table))).await?;
    Ok(json!({
        "indexes": indexes.objects(),
        "usage": optional(login, &usage).await?,
        "waits": optional(login, &waits).await?,
        "definition": created.get(0).and_then(|row| row.get("Create Table")).cloned(),
    }))
}

/// Rows that an account may lack the privilege for: then the server's error stands in their place.
async fn optional(login: &Login, statement: &str) -> Made {
    match login.query(statement).await {
        Ok(rows) => Ok(rows.objects()),
        Err(Refusal::Sql { message, .. }) => Ok(json!({ "error": message })),
        Err(refusal) => Err(refusal.into()),
    }
}
