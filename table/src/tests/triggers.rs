//! Triggers in the catalog, and stored functions beside procedures of the same name.

use super::*;
use crate::Error;
use crate::ddl::{DdlOptions, TriggerPlace};
use types::schema::{RoutineDef, TriggerDef, TriggerEvent};

fn program(name: &str, body: &str) -> RoutineDef {
    RoutineDef { parameters: String::new(), ..super::routines::procedure(name, body) }
}

fn trigger(name: &str, body: &str) -> TriggerDef {
    TriggerDef { event: TriggerEvent::Insert, before: true, program: std::sync::Arc::new(program(name, body)) }
}

fn names(fixture: &Fixture) -> Vec<String> {
    let schema = fixture.database().schema();
    let table = schema.table("d", "t").expect("the table is there");
    table.triggers.iter().map(|trigger| trigger.program.name.clone()).collect()
}

#[test]
fn triggers_survive_in_their_order() {
    let mut fixture = Fixture::new(1);
    let options = DdlOptions::default();
    {
        let (database, worker) = (fixture.database(), fixture.worker(0));
        create(database, &worker, super::table("t", vec![column("a", TypeKind::Int)], Vec::new()));
        let table = || ("d".to_owned(), "t".to_owned());
        let place = |follows, other: &str| Some(TriggerPlace { follows, other: other.to_owned() });
        let long = format!("SET @a = '{}'", "x".repeat(20_000));
        let put = |name: &str, body: &str, place| database.create_trigger(&worker, table(), trigger(name, body), place, &options);
        put("one", "SET @a = 1", None).expect("new");
        put("two", &long, None).expect("new");
        put("zero", "SET @a = 0", place(false, "ONE")).expect("new");
        put("half", "SET @a = 0.5", place(true, "zero")).expect("new");
        put("gone", "SET @a = 9", None).expect("new");
        assert!(matches!(put("TWO", "SET @a = 3", None), Err(Error::TriggerExists)));
        assert!(matches!(put("three", "SET @a = 3", place(true, "four")), Err(Error::TriggerUnknown { name }) if name == "four"));
        database.drop_trigger(&worker, "d", "GONE", &options).expect("there");
        assert!(matches!(database.drop_trigger(&worker, "d", "gone", &options), Err(Error::TriggerMissing)));
    }
    fixture.reopen_roughly();
    assert_eq!(names(&fixture), ["zero", "half", "one", "two"]);
    {
        let (database, worker) = (fixture.database(), fixture.worker(0));
        database.create_database(&worker, "e", CollationId::UTF8MB4_0900_AI_CI).expect("new");
        let away = [("d".to_owned(), "t".to_owned(), "e".to_owned(), "t".to_owned())];
        assert!(matches!(database.rename_tables(&worker, &away, &options), Err(Error::TriggerMoves)));
        database.truncate_table(&worker, "d", "t", &options).expect("there");
    }
    assert_eq!(names(&fixture), ["zero", "half", "one", "two"]);
}

#[test]
fn functions_stand_beside_procedures() {
    let mut fixture = Fixture::new(1);
    {
        let (database, worker) = (fixture.database(), fixture.worker(0));
        database.create_database(&worker, "d", CollationId::UTF8MB4_0900_AI_CI).expect("new");
        database.create_routine(&worker, program("same", "SELECT 1")).expect("new");
        let function = RoutineDef { returns: Some("INT".to_owned()), ..program("same", "RETURN 1") };
        database.create_routine(&worker, function.clone()).expect("of another kind");
        let twice = database.create_routine(&worker, function);
        assert!(matches!(twice, Err(Error::RoutineExists { kind: "FUNCTION", .. })));
        database.drop_routine(&worker, false, "d", "same").expect("there");
    }
    fixture.reopen();
    let schema = fixture.database().schema();
    assert_eq!(schema.routine(true, "d", "SAME").map(|def| &*def.body), Some("RETURN 1"));
    assert!(schema.procedure("d", "same").is_none());
}
