//! The hidden columns of functional key parts: where they come from, what they are called, when they go.

use super::partitions::options;
use super::*;
use crate::Error;
use crate::ddl::AlterAction;
use types::schema::{RowExpr, TableDef};

/// A part over an expression that reads one column.
fn part(text: &str, reads: &str) -> NewIndexColumn {
    let expr = RowExpr { text: text.to_owned(), columns: vec![reads.to_owned()] };
    NewIndexColumn { expr: Some(expr), ..NewIndexColumn::whole("") }
}

fn functional(name: &str, parts: Vec<NewIndexColumn>) -> NewIndex {
    NewIndex { columns: parts, ..index(name, NewIndexKind::Secondary, &[]) }
}

fn columns(def: &TableDef) -> Vec<(&str, bool)> {
    def.columns.iter().map(|column| (column.name.as_str(), column.hidden)).collect()
}

fn indexes(def: &TableDef) -> Vec<&str> {
    def.indexes.iter().map(|index| index.name.as_str()).collect()
}

/// A table of two columns with two functional keys, after these actions.
fn altered(actions: Vec<AlterAction>) -> crate::Result<Arc<TableDef>> {
    let fixture = Fixture::new(1);
    let (database, worker) = (fixture.database(), fixture.worker(0));
    database.create_database(&worker, "d", CollationId::UTF8MB4_0900_AI_CI).expect("new");
    let keys = vec![
        functional("k", vec![part("(`a` + 1)", "a"), NewIndexColumn::whole("b")]),
        functional("", vec![NewIndexColumn::whole("b"), part("(`b` * 2)", "b")]),
    ];
    let new = table("t", vec![column("a", TypeKind::Int), column("b", TypeKind::Int)], keys);
    database.create_table_with(&worker, new, &options()).expect("new");
    let altered = database.alter_table(&worker, "d", "t", actions, &options());
    altered.map(|_| Arc::clone(database.table_by_name("d", "t").expect("there").def()))
}

#[test]
fn hidden_columns_are_called_after_their_indexes() {
    let def = altered(Vec::new()).expect("nothing to do");
    let hidden = [("!hidden!k!0!0", true), ("!hidden!functional_index!1!0", true)];
    assert_eq!(columns(&def), [[("a", false), ("b", false)], hidden].concat());
    assert_eq!(indexes(&def), ["", "k", "functional_index"]);
    assert_eq!(def.column_index("!hidden!k!0!0"), None);
    let def = altered(vec![AlterAction::RenameIndex { name: "k".into(), to: "other".into() }]).expect("renamed");
    assert_eq!(columns(&def)[2], ("!hidden!other!0!0", true));
}

#[test]
fn hidden_columns_go_with_their_indexes() {
    let drop_index = |name: &str| AlterAction::DropIndex { name: name.into() };
    let drop_column = |name: &str| AlterAction::DropColumn { name: name.into() };
    let def = altered(vec![drop_index("k")]).expect("dropped");
    assert_eq!(columns(&def), [("a", false), ("b", false), ("!hidden!functional_index!1!0", true)]);
    assert!(matches!(altered(vec![drop_column("a")]), Err(Error::ReadByIndex { column }) if column == "a"));
    let def = altered(vec![drop_column("a"), drop_index("k")]).expect("both go");
    assert_eq!(columns(&def), [("b", false), ("!hidden!functional_index!1!0", true)]);
    let renamed = altered(vec![AlterAction::RenameColumn { name: "b".into(), to: "c".into() }]);
    assert!(matches!(renamed, Err(Error::ReadByIndex { column }) if column == "b"));
}

#[test]
fn hidden_columns_stand_last() {
    let add = |name: &str, position| AlterAction::AddColumn { column: column(name, TypeKind::Int), position };
    let def = altered(vec![add("z", crate::ddl::ColumnPosition::Default)]).expect("at once");
    assert_eq!(columns(&def)[..4], [("a", false), ("b", false), ("z", false), ("!hidden!k!0!0", true)]);
    let def = altered(vec![add("z", crate::ddl::ColumnPosition::First)]).expect("at once");
    assert_eq!(columns(&def)[..3], [("z", false), ("a", false), ("b", false)]);
}

#[test]
fn no_statement_names_a_hidden_column() {
    let named = index("x", NewIndexKind::Secondary, &["!hidden!k!0!0"]);
    assert!(matches!(altered(vec![AlterAction::AddIndex { index: named }]), Err(Error::KeyColumnMissing { .. })));
    let taken =
        AlterAction::AddColumn { column: column("!hidden!k!0!0", TypeKind::Int), position: crate::ddl::ColumnPosition::Default };
    assert!(altered(vec![taken]).is_ok());
}
