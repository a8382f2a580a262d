//! Views in the catalog: they survive, change and go, and share their names and ids with tables.

use super::*;
use crate::Error;
use crate::ddl::{AlterAction, DdlOptions, ViewChange};
use types::schema::{CheckOption, TableDef, TableId, ViewAlgorithm, ViewDef};

pub(super) fn view(name: &str, text: &str) -> TableDef {
    let def = ViewDef {
        text: text.to_string(),
        names_columns: false,
        algorithm: ViewAlgorithm::Merge,
        check: CheckOption::Local,
        invoker: true,
        definer_user: "u".into(),
        definer_host: "h".into(),
        updatable: true,
        client_charset: "utf8mb4".into(),
        collation: CollationId::UTF8MB4_0900_AI_CI,
        tables: vec![("d".into(), "t".into())],
    };
    let columns = vec![column("a", TypeKind::Int)];
    TableDef { view: Some(Box::new(def)), ..TableDef::new(TableId(0), "d", name, columns) }
}

fn text_of(fixture: &Fixture, name: &str) -> Option<String> {
    let schema = fixture.database().schema();
    schema.table("d", name)?.view.as_ref().map(|view| view.text.clone())
}

#[test]
fn views_survive_change_and_go() {
    let mut fixture = Fixture::new(1);
    let options = DdlOptions::default();
    // Longer than a record.
    let long = format!("select {}", "1 + ".repeat(3000));
    {
        let (worker, database) = (fixture.worker(0), fixture.database());
        create(database, &worker, table("t", vec![column("a", TypeKind::Int)], Vec::new()));
        database.put_view(&worker, view("v", &long), ViewChange::Create, &options).expect("made");
        database.put_view(&worker, view("w", "select 2"), ViewChange::Replace, &options).expect("made");
    }
    let before = fixture.database().schema().table("d", "v").expect("there").clone();
    fixture.reopen_roughly();
    let after = fixture.database().schema().table("d", "v").expect("it survives").clone();
    assert_eq!(serde_json::to_string(&*before).expect("json"), serde_json::to_string(&*after).expect("json"));
    {
        let (worker, database) = (fixture.worker(0), fixture.database());
        let handle = database.table_by_name("d", "v").expect("open");
        database.put_view(&worker, view("v", "select 3"), ViewChange::Replace, &options).expect("replaced");
        assert!(handle.is_replaced(), "plans made with it are stale");
        assert_eq!(database.table_by_name("d", "v").expect("open").id(), handle.id());
        database.put_view(&worker, view("w", "select 4"), ViewChange::Alter, &options).expect("changed");
        database.rename_tables(&worker, &[("d".into(), "w".into(), "d".into(), "x".into())], &options).expect("renamed");
        // The ids of tables and views are one sequence.
        let next = create(database, &worker, table("u", vec![column("a", TypeKind::Int)], Vec::new()));
        assert!(next.id() > handle.id());
    }
    fixture.reopen_roughly();
    assert_eq!(text_of(&fixture, "v").as_deref(), Some("select 3"));
    assert_eq!(text_of(&fixture, "w"), None);
    assert_eq!(text_of(&fixture, "x").as_deref(), Some("select 4"));
    {
        let (worker, database) = (fixture.worker(0), fixture.database());
        database.drop_views(&worker, &[("d".into(), "v".into())], &options).expect("dropped");
    }
    fixture.reopen();
    assert_eq!(text_of(&fixture, "v"), None);
    let (worker, database) = (fixture.worker(0), fixture.database());
    assert_eq!(database.drop_database(&worker, "d", &options).expect("dropped"), 3);
}

#[test]
fn views_are_no_tables() {
    let fixture = Fixture::new(1);
    let (worker, database, options) = (fixture.worker(0), fixture.database(), DdlOptions::default());
    let names = |name: &str| vec![("d".to_string(), name.to_string())];
    create(database, &worker, table("t", vec![column("a", TypeKind::Int)], Vec::new()));
    database.put_view(&worker, view("v", "select 1"), ViewChange::Create, &options).expect("made");
    macro_rules! refused {
        ($result:expr, $error:pat) => {
            let result = $result;
            assert!(matches!(result, Err($error)), "{result:?}");
        };
    }
    refused!(database.put_view(&worker, view("v", ""), ViewChange::Create, &options), Error::TableExists { .. });
    refused!(database.put_view(&worker, view("t", ""), ViewChange::Create, &options), Error::TableExists { .. });
    refused!(database.put_view(&worker, view("t", ""), ViewChange::Replace, &options), Error::NotView { .. });
    refused!(database.put_view(&worker, view("none", ""), ViewChange::Alter, &options), Error::TableMissing { .. });
    refused!(database.drop_views(&worker, &names("t"), &options), Error::NotView { .. });
    refused!(database.drop_views(&worker, &names("none"), &options), Error::UnknownTable { .. });
    refused!(database.drop_tables(&worker, &names("v"), &options), Error::UnknownTable { .. });
    refused!(database.truncate_table(&worker, "d", "v", &options), Error::TableMissing { .. });
    let drop = vec![AlterAction::DropColumn { name: "a".into() }];
    refused!(database.alter_table(&worker, "d", "v", drop, &options), Error::NotBaseTable { .. });
    database.create_database(&worker, "e", CollationId::BINARY).expect("made");
    let away = [("d".to_string(), "v".to_string(), "e".to_string(), "v".to_string())];
    refused!(database.rename_tables(&worker, &away, &options), Error::ViewMoves { .. });
    let new = table("v", vec![column("a", TypeKind::Int)], Vec::new());
    refused!(database.create_table(&worker, new), Error::TableExists { .. });
}
