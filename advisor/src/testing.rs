//! Schemas and statements for the tests of rules.

use crate::{Finding, PlanUse, Sample, Statement, TableUse, Workload, advise};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use types::schema::{
    ColumnDef, DatabaseDef, ForeignKeyDef, IndexColumn, IndexDef, IndexKind, ReferenceAction, Schema, TableDef, TableId,
};
use types::{CollationId, ColumnType, LobSize, TypeKind};

/// A column by a short name of its type.
fn column(name: &str, ty: &str) -> ColumnDef {
    let text = |kind| ColumnType { collation: CollationId::UTF8MB4_0900_AI_CI, ..ColumnType::new(kind) };
    let ty = match ty {
        "int" => ColumnType::new(TypeKind::Int),
        "tinyint" => ColumnType::new(TypeKind::TinyInt),
        "time" => ColumnType::new(TypeKind::DateTime { fsp: 0 }),
        "text" => text(TypeKind::Text(LobSize::Medium)),
        "short" => text(TypeKind::VarChar { length: 40 }),
        "other" => ColumnType { collation: CollationId::UTF8MB4_GENERAL_CI, ..text(TypeKind::VarChar { length: 40 }) },
        _ => panic!("{ty}"),
    };
    ColumnDef::new(name, ty, false)
}

pub fn index(def: &mut TableDef, name: &str, kind: IndexKind, columns: &[&str]) {
    let part = |name: &&str| IndexColumn { column: def.column_index(name).expect("a column"), prefix: None, descending: false };
    let index = IndexDef::new(name, kind, columns.iter().map(part).collect());
    def.indexes.push(index);
}

/// Tables `books` (10,000 rows) and `authors` (1,000).
pub fn schema() -> Schema {
    let spec = [
        ("id", "int"),
        ("author", "int"),
        ("year", "int"),
        ("title", "short"),
        ("isbn", "short"),
        ("added", "time"),
        ("body", "text"),
        ("price", "int"),
    ];
    let columns = spec.iter().map(|(name, ty)| column(name, ty)).collect();
    let mut books = TableDef::new(TableId(1), "d", "books", columns);
    index(&mut books, "PRIMARY", IndexKind::Primary, &["id"]);
    index(&mut books, "author", IndexKind::Secondary, &["author"]);
    index(&mut books, "isbn", IndexKind::Unique, &["isbn"]);
    index(&mut books, "added", IndexKind::Secondary, &["added"]);
    books.foreign_keys.push(ForeignKeyDef {
        name: "of_author".into(),
        columns: vec![1],
        parent_database: "d".into(),
        parent_table: "authors".into(),
        parent_columns: vec!["id".into()],
        on_delete: ReferenceAction::Restrict,
        on_update: ReferenceAction::Restrict,
    });
    let spec = [("id", "int"), ("name", "short"), ("code", "other")];
    let mut authors = TableDef::new(TableId(2), "d", "authors", spec.iter().map(|(name, ty)| column(name, ty)).collect());
    index(&mut authors, "PRIMARY", IndexKind::Primary, &["id"]);
    index(&mut authors, "code", IndexKind::Secondary, &["code"]);
    let tables = BTreeMap::from([("books".to_owned(), Arc::new(books)), ("authors".to_owned(), Arc::new(authors))]);
    let (routines, events) = (BTreeMap::new(), BTreeMap::new());
    let database = DatabaseDef { name: "d".into(), collation: CollationId::UTF8MB4_0900_AI_CI, tables, routines, events };
    Schema { version: 1, databases: BTreeMap::from([("d".to_owned(), Arc::new(database))]) }
}

pub fn workload(schema: &Schema, statements: Vec<Statement>) -> Workload<'_> {
    let used = |rows| TableUse { rows, row_bytes: 200, distinct: vec![Some(rows as f64); 8], ..TableUse::default() };
    let tables = HashMap::from([(1, used(10_000)), (2, used(1000))]);
    Workload { schema, uptime_s: 60.0, statements, tables, sessions: Vec::new(), accounts: Vec::new() }
}

/// 100 executions that read and return so many rows each, with a plan of these steps.
pub fn ran(text: &str, plan: &str, examined: u64, sent: u64) -> Statement {
    Statement {
        database: Some("d".into()),
        digest: format!("digest of {text}"),
        text: text.into(),
        samples: vec![Sample { text: text.into(), time_us: 1000.0, examined, sent }],
        count: 100,
        time_us: 1e6,
        examined: 100 * examined,
        sent: 100 * sent,
        span_s: 50.0,
        plans: vec![PlanUse { text: plan.into(), count: 100, cpu_us: 9e5, first_age_s: 50.0, last_age_s: 0.0 }],
        ..Statement::default()
    }
}

/// The kinds and cures of the findings about a statement.
pub fn found(statement: Statement) -> Vec<(&'static str, String)> {
    let schema = schema();
    all(&workload(&schema, vec![statement])).into_iter().map(|finding| (finding.kind.name(), finding.cure)).collect()
}

pub fn all(workload: &Workload<'_>) -> Vec<Finding> {
    advise(workload)
}
