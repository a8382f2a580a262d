//! Stored procedures in the catalog.

use super::*;
use crate::Error;
use crate::ddl::DdlOptions;
use types::schema::RoutineDef;

pub(super) fn procedure(name: &str, body: &str) -> RoutineDef {
    RoutineDef {
        database: "d".to_owned(),
        name: name.to_owned(),
        definer: "root@localhost".to_owned(),
        parameters: "IN a INT".to_owned(),
        body: body.to_owned(),
        comment: String::new(),
        deterministic: false,
        data_access: "CONTAINS SQL".to_owned(),
        invoker: false,
        sql_mode: 0,
        client_charset: "utf8mb4".to_owned(),
        connection_collation: CollationId::UTF8MB4_0900_AI_CI,
        database_collation: CollationId::UTF8MB4_0900_AI_CI,
        created_us: 1,
        altered_us: 1,
        returns: None,
    }
}

#[test]
fn procedures_survive() {
    let mut fixture = Fixture::new(1);
    let long = format!("SELECT '{}'", "x".repeat(20_000));
    {
        let (database, worker) = (fixture.database(), fixture.worker(0));
        database.create_database(&worker, "d", CollationId::UTF8MB4_0900_AI_CI).expect("new");
        database.create_routine(&worker, procedure("Long", &long)).expect("new");
        database.create_routine(&worker, procedure("short", "SELECT 1")).expect("new");
        database.create_routine(&worker, procedure("gone", "SELECT 2")).expect("new");
        let twice = database.create_routine(&worker, procedure("LONG", "SELECT 3"));
        assert!(matches!(twice, Err(Error::RoutineExists { name, .. }) if name == "LONG"));
        database.drop_routine(&worker, false, "d", "GONE").expect("there");
        let missing = database.drop_routine(&worker, false, "d", "gone");
        assert!(matches!(missing, Err(Error::RoutineMissing { name, .. }) if name == "d.gone"));
        database.alter_routine(&worker, false, "d", "Short", |def| def.comment = "changed".to_owned()).expect("there");
    }
    fixture.reopen_roughly();
    {
        let (database, worker) = (fixture.database(), fixture.worker(0));
        let schema = database.schema();
        assert_eq!(schema.databases["d"].routines.len(), 2);
        assert_eq!(schema.procedure("d", "long").map(|def| def.body.len()), Some(long.len()));
        assert_eq!(schema.procedure("d", "SHORT").map(|def| &*def.comment), Some("changed"));
        database.drop_database(&worker, "d", &DdlOptions::default()).expect("there");
        database.create_database(&worker, "d", CollationId::UTF8MB4_0900_AI_CI).expect("new");
    }
    fixture.reopen();
    assert!(fixture.database().schema().databases["d"].routines.is_empty());
}
