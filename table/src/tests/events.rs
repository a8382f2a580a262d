//! Events in the catalog.

use super::*;
use crate::Error;
use crate::ddl::DdlOptions;
use std::sync::Arc;
use types::event::{EventDef, EventStatus, Every, Schedule};
use types::schema::RoutineDef;
use types::temporal::IntervalUnit;

fn event(name: &str, schedule: Schedule, preserve: bool) -> EventDef {
    let program = RoutineDef { parameters: String::new(), ..super::routines::procedure(name, "SELECT 1") };
    EventDef { program: Arc::new(program), schedule, time_zone: "SYSTEM".to_owned(), preserve, status: EventStatus::Enabled }
}

fn hourly() -> Schedule {
    Schedule::Every { every: Every { count: 1, unit: IntervalUnit::Hour }, starts: 1000, ends: Some(9000) }
}

#[test]
fn events_survive_with_their_last_times() {
    let mut fixture = Fixture::new(1);
    {
        let (database, worker) = (fixture.database(), fixture.worker(0));
        database.create_database(&worker, "d", CollationId::UTF8MB4_0900_AI_CI).expect("new");
        database.create_database(&worker, "other", CollationId::UTF8MB4_0900_AI_CI).expect("new");
        for (name, schedule, preserve) in
            [("Often", hourly(), true), ("once", Schedule::At(5000), false), ("kept", Schedule::At(5000), true)]
        {
            database.create_event(&worker, event(name, schedule, preserve)).expect("new");
        }
        let twice = database.create_event(&worker, event("OFTEN", hourly(), true));
        assert!(matches!(twice, Err(Error::EventExists { name }) if name == "OFTEN"));
        let version = database.schema_version();
        for name in ["often", "once", "kept"] {
            let def = database.schema().event("d", name).cloned().expect("there");
            assert!(database.begin_event(&worker, &def, 5000, true).expect("no error"));
        }
        assert_eq!(database.schema_version(), version, "an execution makes no plan stale");
    }
    fixture.reopen_roughly();
    let over = |_: &EventDef, last: Option<i64>| last == Some(5000);
    {
        let (database, worker) = (fixture.database(), fixture.worker(0));
        let schema = database.schema();
        assert_eq!(schema.databases["d"].events.len(), 3);
        let often = schema.event("d", "OFTEN").expect("there");
        assert_eq!((often.schedule, database.event_run(often)), (hourly(), Some(5000)));

        let moved = |def: &EventDef| {
            let program = RoutineDef { database: "other".to_owned(), ..RoutineDef::clone(&def.program) };
            EventDef { program: Arc::new(program), ..def.clone() }
        };
        database.alter_event(&worker, "d", "often", moved).expect("free there");
        assert!(!database.begin_event(&worker, often, 6000, false).expect("no error"), "it is another now");
        let often = database.schema().event("other", "often").cloned().expect("there");
        assert_eq!(database.event_run(&often), Some(5000), "the schedule is as it was");
        let later = |def: &EventDef| EventDef { schedule: Schedule::At(7000), ..def.clone() };
        database.alter_event(&worker, "other", "often", later).expect("there");
        assert_eq!(database.event_run(&often), None, "a new schedule has not been used");

        for name in ["once", "kept", "gone"] {
            database.conclude_event(&worker, "d", name, over).expect("no error");
        }
        let missing = database.drop_event(&worker, "d", "once");
        assert!(matches!(missing, Err(Error::EventMissing { name }) if name == "once"));
    }
    fixture.reopen_roughly();
    {
        let (database, worker) = (fixture.database(), fixture.worker(0));
        let kept = database.schema().event("d", "kept").cloned().expect("there");
        assert_eq!((kept.status, database.event_run(&kept)), (EventStatus::Disabled, Some(5000)));
        database.drop_event(&worker, "d", "KEPT").expect("there");
        database.drop_database(&worker, "other", &DdlOptions::default()).expect("there");
        database.create_database(&worker, "other", CollationId::UTF8MB4_0900_AI_CI).expect("new");
    }
    fixture.reopen();
    let schema = fixture.database().schema();
    assert!(schema.databases.values().all(|database| database.events.is_empty()));
    assert_eq!(fixture.database().event_run(&event("kept", hourly(), true)), None);
}
