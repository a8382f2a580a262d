//! How far long work is, as other sessions see it.

use super::*;

/// Runs `statement` in another session, and returns the states of it that were seen with a work completed and estimated.
fn watched(server: &Server, statement: &str, event: &str) -> Vec<(u64, Option<u64>, String)> {
    let mut conn = server.connect();
    let mut other = server.connect_to("p");
    other.query_drop("SET SESSION cte_max_recursion_depth = 1000000").unwrap();
    let id = other.connection_id();
    let statement = statement.to_owned();
    let working = std::thread::spawn(move || other.query_drop(statement).unwrap());
    let mut seen = Vec::new();
    while !working.is_finished() {
        let rows: Vec<(u64, Option<u64>, String)> = conn
            .query(format!(
                "SELECT s.WORK_COMPLETED, s.WORK_ESTIMATED, p.STATE FROM performance_schema.events_stages_current s \
                 JOIN performance_schema.processlist p ON p.ID = s.THREAD_ID WHERE s.THREAD_ID = {id} AND s.EVENT_NAME = '{event}'"
            ))
            .unwrap();
        seen.extend(rows);
    }
    working.join().unwrap();
    seen
}

#[test]
fn long_work_tells_how_far_it_is() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let files = directory.path().join("files");
    std::fs::create_dir(&files).unwrap();
    let path = files.join("rows");
    let rows: String = (0..300_000).map(|n| format!("{n}\tsome text of row {n}\n")).collect();
    std::fs::write(&path, &rows).unwrap();
    let server = Server::start_with(directory, 2, |config| config.secure_file_priv = Some(files));
    let mut conn = server.connect();
    conn.query_drop("CREATE DATABASE p").unwrap();
    conn.query_drop("CREATE TABLE p.t (id INT PRIMARY KEY, c VARCHAR(50))").unwrap();
    let load = format!("LOAD DATA INFILE '{}' INTO TABLE t", path.display());
    let all = rows.len() as u64;
    let cases = [
        (load.as_str(), "stage/heddle/load data", "loading data: "),
        ("ALTER TABLE t ADD INDEX by_c (c)", "stage/innodb/alter table (read PK and internal sort)", "altering table: "),
        ("CHECK TABLE t", "stage/heddle/check table", "checking table: "),
        ("CHECKSUM TABLE t", "stage/heddle/checksum table", "reading table: "),
    ];
    for (statement, event, told) in cases {
        let seen = watched(&server, statement, event);
        assert!(!seen.is_empty(), "{statement}");
        let mut before = 0;
        for (done, estimated, state) in &seen {
            assert!(*done >= before && estimated.is_none_or(|all| *done <= all), "{statement}: {seen:?}");
            before = *done;
            // The stage may change between the two tables.
            assert!(state.starts_with(told) || !state.contains(" table: "), "{state}");
        }
        if statement == load {
            assert!(seen.iter().any(|(_, estimated, _)| *estimated == Some(all)), "{seen:?}");
            assert!(before <= all, "{seen:?}");
        }
    }
    assert_eq!(one::<u64>(&mut conn, "SELECT COUNT(*) FROM performance_schema.events_stages_current"), 0);
    assert_eq!(one::<u64>(&mut conn, "SELECT COUNT(*) FROM p.t"), 300_000);
}
