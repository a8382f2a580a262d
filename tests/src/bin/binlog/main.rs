//! The binary log, read through the wire protocol by a reader of its own, beside writers and crashes.
//!
//! 1. Writers change three tables: inserts, updates, deletes, values of many kilobytes, rollbacks, savepoints, triggers, cascades.
//! 2. The server is killed, round after round. After each start the reader goes on with the set of GTIDs that it has, and applies what it gets
//!    to tables in its own memory. An insert of a row that is there, a change of a row that is not as the event says, a GTID twice or left out
//!    is a failure.
//! 3. At the end of each round the reader's tables are the server's, row by row.
//! 4. Statements, files and refusals: rotation, PURGE, RESET, wrong files and positions, purged GTIDs, privileges.
//! 5. Where the tree of a real MySQL is (`PEERS_ROOT`), it is a replica of the server, and its tables are compared as well.
//!
//! `--rounds N` repeats the crashes (default 3), `--seconds N` is how long the writers work in each (default 2).

mod reader;
mod replica;
mod semi_sync;

use mysql::prelude::Queryable;
use reader::Reader;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tests::{Report, Server, ServerOptions};

type Outcome<T = ()> = Result<T, String>;

const WRITERS: u64 = 4;

fn main() -> ExitCode {
    let argument = |name: &str| {
        let mut arguments = std::env::args();
        arguments.find(|argument| argument == name).and_then(|_| arguments.next()).and_then(|value| value.parse::<u64>().ok())
    };
    let (rounds, seconds) = (argument("--rounds").unwrap_or(3), argument("--seconds").unwrap_or(2));
    let directory = std::env::temp_dir().join(format!("heddle-binlog-{}", std::process::id()));
    let mut report = Report::new();
    if let Err(why) = run(&directory, rounds, seconds, &mut report) {
        report.fail("binary log", why);
    }
    match report.failed {
        0 => drop(std::fs::remove_dir_all(&directory)),
        _ => println!("     what it left: {}", directory.display()),
    }
    report.finish()
}

/// The server, which runs between the crashes.
fn up(running: &Option<Server>) -> &Server {
    running.as_ref().expect("it was started")
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

const TABLES: &str = "
    CREATE DATABASE b;
    CREATE TABLE b.parent (id INT PRIMARY KEY AUTO_INCREMENT, n INT, v VARCHAR(300), big LONGTEXT, KEY (n));
    CREATE TABLE b.child (id INT PRIMARY KEY AUTO_INCREMENT, parent INT, v VARCHAR(300), big LONGTEXT,
        FOREIGN KEY (parent) REFERENCES b.parent (id) ON DELETE CASCADE ON UPDATE CASCADE);
    CREATE TABLE b.noted (id INT PRIMARY KEY AUTO_INCREMENT, n INT, v VARCHAR(300), big LONGTEXT);
    CREATE TRIGGER b.parent_deleted AFTER DELETE ON b.parent FOR EACH ROW INSERT INTO b.noted (n, v) VALUES (OLD.id, 'deleted');
    CREATE TRIGGER b.child_written AFTER INSERT ON b.child FOR EACH ROW INSERT INTO b.noted (n, v) VALUES (NEW.id, 'child')";

fn run(directory: &std::path::Path, rounds: u64, seconds: u64, report: &mut Report) -> Outcome {
    let options = ServerOptions {
        durability: "full".into(),
        buffer_pool: "64M".into(),
        extra: vec!["--log-bin".into(), "on".into()],
        ..ServerOptions::new(directory)
    };
    let mut running = Some(Server::start(&options)?);
    let server = up(&running);
    let options = ServerOptions { port: Some(server.address.port), ..options };
    let mut client = server.connect().map_err(text)?;
    for statement in TABLES.split(';') {
        client.query_drop(statement).map_err(text)?;
    }
    client.query_drop("CREATE USER replica@'%' IDENTIFIED BY 'pw'; ").map_err(text)?;
    client.query_drop("GRANT REPLICATION SLAVE ON *.* TO replica@'%'").map_err(text)?;
    let port = server.address.port;
    let mut peer = match replica::Peer::start(port) {
        Ok(peer) => peer,
        Err(why) => {
            report.fail("a real MySQL as replica", why);
            None
        }
    };
    if peer.is_none() {
        println!("skip a real MySQL as replica: its tree is not there (PEERS_ROOT)");
    }
    let mut reader = Reader::default();
    for round in 0..rounds {
        let stop = AtomicBool::new(false);
        let address = up(&running).address.clone();
        std::thread::scope(|scope| -> Outcome {
            for writer in 0..WRITERS {
                let (address, stop) = (address.clone(), &stop);
                scope.spawn(move || write(&address, writer, stop));
            }
            std::thread::sleep(Duration::from_millis(seconds * 1000 / 2));
            // A reader beside the writers.
            let read = reader.read(&address);
            std::thread::sleep(Duration::from_millis(seconds * 1000 / 2));
            if let Some(server) = running.take() {
                server.kill();
            }
            stop.store(true, Ordering::SeqCst);
            read
        })?;
        let server = &*running.insert(Server::start(&options)?);
        report.case(&format!("after crash {} the stream has every change once", round + 1), || {
            reader.read(&server.address)?;
            compare(server, &reader)
        });
        if let Some(peer) = &mut peer {
            report.case(&format!("after crash {} a real MySQL has the same rows", round + 1), || peer.compare(server));
        }
    }
    let server = up(&running);
    report.case("a definition is in the stream as it was written", || {
        let mut client = server.connect().map_err(text)?;
        let written = "ALTER TABLE b.noted /* as written */ ADD COLUMN more INT DEFAULT 7";
        client.query_drop(written).map_err(text)?;
        client.query_drop("INSERT INTO b.noted (n, v, more) VALUES (1, 'more', 9)").map_err(text)?;
        reader.read(&server.address)?;
        if reader.statements.iter().any(|statement| statement == written) {
            compare(server, &reader)
        } else {
            Err(format!("{:?}", reader.statements))
        }
    });
    report.case("changes of accounts are in the stream", || {
        let mut client = server.connect().map_err(text)?;
        for statement in ["CREATE USER seen@'%'", "GRANT SELECT ON b.* TO seen@'%'", "DROP USER seen@'%'"] {
            client.query_drop(statement).map_err(text)?;
        }
        reader.read(&server.address)?;
        let has = |part: &str| reader.statements.iter().any(|statement| statement.contains(part));
        if has("GRANT SELECT ON b.*") && has("DROP USER seen") {
            compare(server, &reader)
        } else {
            Err(format!("{:?}", reader.statements))
        }
    });
    report.case("sql_log_bin and gtid_next are obeyed", || said(server, &mut reader));
    report.case("a GTID by hand is executed, also without a change", || empty_groups(server, &mut reader));
    if let Some(server) = running.take() {
        server.kill();
    }
    let server = &*running.insert(Server::start(&options)?);
    report.case("a GTID without a change is there after a crash", || {
        has_empty_groups(server)?;
        reader.read(&server.address)?;
        compare(server, &reader)
    });
    report.case("a set with GTIDs that were never here is refused", || {
        let mut client = server.connect().map_err(text)?;
        let uuid: Option<String> = client.query_first("SELECT @@server_uuid").map_err(text)?;
        let ahead = format!("{}:999999999", uuid.unwrap_or_default());
        match reader::refused(&server.address, "root", "", 4, Some(&ahead)) {
            Err(why) if why.contains("1236: The replica has more GTIDs") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    report.case("statements show, rotate and purge the files", || files(server));
    report.case("wrong requests are refused as by MySQL", || refusals(server));
    report.case("commits wait for replicas that acknowledge", || {
        reader.read(&server.address)?;
        semi_sync::waits(server, &reader.set_bytes())?;
        reader.read(&server.address)?;
        compare(server, &reader)
    });
    if let Some(peer) = &mut peer {
        report.case("commits wait for a real MySQL", || {
            peer.acknowledge()?;
            semi_sync::by_mysql(server)?;
            peer.compare(server)
        });
    }
    report.case("a stop and a start go on with a new file", || {
        if let Some(server) = running.take() {
            server.stop()?;
        }
        let server = &*running.insert(Server::start(&options)?);
        let mut client = server.connect().map_err(text)?;
        client.query_drop("INSERT INTO b.noted (n, v) VALUES (2, 'after')").map_err(text)?;
        reader.read(&server.address)?;
        compare(server, &reader)
    });
    if let (Some(peer), Some(server)) = (&mut peer, &running) {
        report.case("a real MySQL has the same rows in the end", || peer.compare(server));
    }
    report.case("a crash while a start catches up lets no change be in the stream twice", || caught_up(&mut running, &options));
    let Some(server) = running else { return Err("the server did not start again".to_owned()) };
    report.case("RESET BINARY LOGS AND GTIDS begins anew", || {
        let mut client = server.connect().map_err(text)?;
        client.query_drop("RESET BINARY LOGS AND GTIDS").map_err(text)?;
        let set: Option<String> = client.query_first("SELECT @@gtid_executed").map_err(text)?;
        let files: Vec<(String, u64, String)> = client.query("SHOW BINARY LOGS").map_err(text)?;
        let names: Vec<&str> = files.iter().map(|file| file.0.as_str()).collect();
        if set.as_deref() == Some("") && names == ["binlog.000001"] { Ok(()) } else { Err(format!("{set:?} {names:?}")) }
    });
    Ok(())
}

/// A start reads again what the files already have. This one rotates the files all the time, since the set of GTIDs alone is longer than a file may be, and
/// is killed before it has read all.
fn caught_up(running: &mut Option<Server>, options: &ServerOptions) -> Outcome {
    let executed = |server: &Server| -> Outcome<Option<String>> {
        server.connect().and_then(|mut client| client.query_first("SELECT @@gtid_executed")).map_err(text)
    };
    let server = up(running);
    let mut client = server.connect().map_err(text)?;
    let sets: Vec<String> = (0..150).map(|n| format!("3e11fa47-71ca-11e1-9e33-c80aa942{n:04x}:1")).collect();
    client.query_drop(format!("SET GLOBAL gtid_purged = '+{}'", sets.join(","))).map_err(text)?;
    for n in 0..500 {
        client.query_drop(format!("INSERT INTO b.noted (n, v) VALUES ({n}, 'passed over')")).map_err(text)?;
    }
    let before = executed(server)?;
    client.query_drop("SET PERSIST_ONLY max_binlog_size = 4096").map_err(text)?;
    for pause_ms in [0, 20, 60, 150] {
        std::thread::sleep(Duration::from_millis(pause_ms));
        if let Some(server) = running.take() {
            server.kill();
        }
        *running = Some(Server::start(options)?);
    }
    let mut client = up(running).connect().map_err(text)?;
    client.query_drop("RESET PERSIST max_binlog_size").map_err(text)?;
    client.query_drop("SET GLOBAL max_binlog_size = DEFAULT").map_err(text)?;
    let after = executed(up(running))?;
    if before == after { Ok(()) } else { Err(format!("{before:?} became {after:?}")) }
}

/// Changes rows until the server is gone.
fn write(address: &tests::Address, writer: u64, stop: &AtomicBool) {
    let Ok(mut client) = address.connect() else { return };
    let mut state = writer * 7919 + 1;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    while !stop.load(Ordering::SeqCst) {
        let (n, bytes) = (random(30), random(20_000));
        let statements: Vec<String> = match random(12) {
            0..=2 => vec![format!("INSERT INTO b.parent (n, v, big) VALUES ({n}, 'p{n}é', REPEAT('b', {bytes}))")],
            3 => vec![format!("UPDATE b.parent SET v = CONCAT(v, 'x') WHERE n = {n} AND LENGTH(v) < 250 LIMIT 3")],
            4 => vec![format!("UPDATE b.parent SET big = CONCAT(big, 'y'), n = n + 1 WHERE n = {n} LIMIT 3")],
            5 => vec![format!("DELETE FROM b.parent WHERE n = {n} LIMIT 2")],
            6 => vec![format!(
                "INSERT INTO b.child (parent, v, big) SELECT id, 'c', REPEAT('c', {bytes}) FROM b.parent WHERE n = {n} LIMIT 2"
            )],
            7 => vec![format!("UPDATE b.parent SET id = id + 1000000 WHERE n = {n} AND id < 1000000 LIMIT 1")],
            8 => vec![
                "START TRANSACTION".into(),
                format!("INSERT INTO b.parent (n, v, big) VALUES ({n}, 'kept', REPEAT('k', {bytes}))"),
                "SAVEPOINT a".into(),
                format!("DELETE FROM b.parent WHERE n <= {n} LIMIT 4"),
                format!("INSERT INTO b.parent (n, v) VALUES ({n}, 'undone')"),
                "ROLLBACK TO a".into(),
                format!("INSERT INTO b.noted (n, v) VALUES ({n}, 'after')"),
                "COMMIT".into(),
            ],
            9 => vec!["START TRANSACTION".into(), format!("DELETE FROM b.parent WHERE n = {n}"), "ROLLBACK".into()],
            10 => vec![
                "START TRANSACTION".into(),
                format!("UPDATE b.noted SET n = n + 1 WHERE id % 10 = {}", n % 10),
                format!("DELETE FROM b.noted WHERE n % 17 = {} LIMIT 5", n % 17),
                "COMMIT".into(),
            ],
            _ => vec![format!("INSERT INTO b.noted (n, v, big) VALUES ({n}, 'n', REPEAT('ö', {}))", bytes / 2)],
        };
        for statement in statements {
            match client.query_drop(&statement) {
                Ok(()) => {}
                // Deadlocks and duplicate keys end a statement or a transaction of this client only.
                Err(mysql::Error::MySqlError(_)) => {}
                Err(_) => return,
            }
        }
    }
}

/// Are the reader's tables the server's?
fn compare(server: &Server, reader: &Reader) -> Outcome {
    let mut client = server.connect().map_err(text)?;
    for table in ["parent", "child", "noted"] {
        let rows: Vec<mysql::Row> = client.query(format!("SELECT * FROM b.{table} ORDER BY id")).map_err(text)?;
        let mut expected = BTreeMap::new();
        for row in rows {
            let values: Vec<reader::Value> = row.unwrap().into_iter().map(reader::of_client).collect();
            expected.insert(values[0].clone(), values);
        }
        let empty = BTreeMap::new();
        let found = reader.tables.get(&("b".to_owned(), table.to_owned())).unwrap_or(&empty);
        if *found != expected {
            let differ = expected.iter().filter(|(key, row)| found.get(key) != Some(row)).count();
            return Err(format!(
                "b.{table}: {} rows of the stream, {} of the server, {differ} differ",
                found.len(),
                expected.len()
            ));
        }
    }
    let executed: Option<String> = client.query_first("SELECT @@gtid_executed").map_err(text)?;
    let read = reader.set_text();
    if executed.as_deref() == Some(read.as_str()) {
        Ok(())
    } else {
        Err(format!("gtid_executed is {executed:?}, and the stream had {read}"))
    }
}

/// `sql_log_bin`, `gtid_next`
fn said(server: &Server, reader: &mut Reader) -> Outcome {
    let mut client = server.connect().map_err(text)?;
    for statement in [
        "SET sql_log_bin = 0",
        "INSERT INTO b.noted (id, n, v) VALUES (900000, 1, 'hidden')",
        "SET sql_log_bin = 1",
        "SET gtid_next = '3e11fa47-71ca-11e1-9e33-c80aa9429562:7'",
        "INSERT INTO b.noted (id, n, v) VALUES (900001, 1, 'by hand')",
        "SET gtid_next = 'AUTOMATIC'",
    ] {
        client.query_drop(statement).map_err(|error| format!("{statement}: {error}"))?;
    }
    reader.read(&server.address)?;
    let table = reader.tables.get(&("b".to_owned(), "noted".to_owned())).ok_or("no rows")?;
    let has = |id: i64| table.contains_key(&reader::Value::Int(id));
    if has(900_000) || !has(900_001) {
        return Err(format!("hidden {}, by hand {}", has(900_000), has(900_001)));
    }
    let again = client.query_drop("SET gtid_next = '3e11fa47-71ca-11e1-9e33-c80aa9429562:7'");
    if again.is_ok() {
        return Err("a GTID that was executed is taken again".to_owned());
    }
    client.query_drop("SET sql_log_bin = 0").map_err(text)?;
    client.query_drop("DELETE FROM b.noted WHERE id = 900000").map_err(text)?;
    let executed: Option<String> = client.query_first("SELECT @@gtid_executed").map_err(text)?;
    if executed.as_deref().is_some_and(|set| set.contains("3e11fa47-71ca-11e1-9e33-c80aa9429562:7")) {
        compare(server, reader)
    } else {
        Err(format!("{executed:?}"))
    }
}

fn files(server: &Server) -> Outcome {
    let mut client = server.connect().map_err(text)?;
    client.query_drop("FLUSH BINARY LOGS").map_err(text)?;
    client.query_drop("INSERT INTO b.noted (n, v) VALUES (3, 'rotated')").map_err(text)?;
    client.query_drop("FLUSH BINARY LOGS").map_err(text)?;
    let logs: Vec<(String, u64, String)> = client.query("SHOW BINARY LOGS").map_err(text)?;
    let status: Option<mysql::Row> = client.query_first("SHOW BINARY LOG STATUS").map_err(text)?;
    let status = status.ok_or("no status")?;
    let (file, position): (String, u64) = (status.get(0).ok_or("no file")?, status.get(1).ok_or("no position")?);
    let last = logs.last().ok_or("no files")?;
    if last.0 != file || last.1 != position {
        return Err(format!("{logs:?} {file} {position}"));
    }
    let before = &logs[logs.len() - 2].0;
    let events: Vec<mysql::Row> = client.query(format!("SHOW BINLOG EVENTS IN '{before}'")).map_err(text)?;
    let kinds: Vec<String> = events.iter().filter_map(|event| event.get(2)).collect();
    let expected = ["Format_desc", "Previous_gtids", "Gtid", "Query", "Table_map", "Write_rows", "Xid", "Rotate"];
    if kinds != expected {
        return Err(format!("{kinds:?}"));
    }
    client.query_drop(format!("PURGE BINARY LOGS TO '{before}'")).map_err(text)?;
    let left: Vec<(String, u64, String)> = client.query("SHOW BINARY LOGS").map_err(text)?;
    let purged: Option<String> = client.query_first("SELECT @@gtid_purged").map_err(text)?;
    if left.len() != 2 || left[0].0 != *before || purged.as_deref().is_none_or(str::is_empty) {
        return Err(format!("{left:?} {purged:?}"));
    }
    match client.query_drop("PURGE BINARY LOGS TO 'binlog.999999'") {
        Err(mysql::Error::MySqlError(error)) if error.code == 1373 => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

fn refusals(server: &Server) -> Outcome {
    let check = |what: &str, outcome: Outcome, wanted: &str| match outcome {
        Err(why) if why.contains(wanted) => Ok(()),
        other => Err(format!("{what}: {other:?}")),
    };
    let of = |file: &str, position: u32| reader::refused(&server.address, "root", file, position, None);
    check("a wrong file", of("binlog.999999", 4), "1236: Could not find first log file name in binary log index file")?;
    check("a position before the first", of("", 3), "1236: Client requested source to start replication from position < 4")?;
    check(
        "a position behind the end",
        of("", u32::MAX),
        "1236: Client requested source to start replication from position > file size",
    )?;
    check(
        "a purged set",
        reader::refused(&server.address, "root", "", 4, Some("")),
        "1236: Cannot replicate because the source purged",
    )?;
    let mut client = server.connect().map_err(text)?;
    // The replica does not have this plugin.
    client.query_drop("SET sql_log_bin = 0").map_err(text)?;
    client.query_drop("CREATE USER nobody@'%' IDENTIFIED WITH mysql_native_password BY ''").map_err(text)?;
    check("no privilege", reader::refused(&server.address, "nobody", "", 4, None), "1227")
}

/// Transactions with a GTID by hand that change nothing.
const WITHOUT_EFFECT: [(u64, &[&str]); 6] = [
    (1, &["BEGIN", "COMMIT"]),
    (2, &["UPDATE b.noted SET n = n + 1 WHERE id = -1"]),
    (3, &["BEGIN", "INSERT INTO b.noted (id, n) VALUES (910000, 1)", "DELETE FROM b.noted WHERE id = 910000", "COMMIT"]),
    (4, &["CREATE TABLE IF NOT EXISTS b.noted (id INT)"]),
    (5, &["BEGIN", "SELECT COUNT(*) FROM b.noted", "COMMIT"]),
    (6, &["COMMIT"]),
];
const BY_HAND: &str = "5e11fa47-71ca-11e1-9e33-c80aa9429562";

/// A GTID by hand counts as executed, and stands in the stream, whether its transaction changed something or not.
fn empty_groups(server: &Server, reader: &mut Reader) -> Outcome {
    let mut client = server.connect().map_err(text)?;
    for (number, statements) in WITHOUT_EFFECT {
        let next = format!("SET gtid_next = '{BY_HAND}:{number}'");
        for statement in std::iter::once(next.as_str()).chain(statements.iter().copied()) {
            client.query_drop(statement).map_err(|error| format!("{statement}: {error}"))?;
        }
    }
    // A GTID is for one transaction.
    for statement in ["INSERT INTO b.noted (n) VALUES (1)", "ALTER TABLE b.noted COMMENT 'x'"] {
        match client.query_drop(statement) {
            Err(mysql::Error::MySqlError(error)) if error.code == 1837 => {}
            other => return Err(format!("{statement}: {other:?}")),
        }
    }
    // One that is taken back is free again.
    for statement in [
        format!("SET gtid_next = '{BY_HAND}:7'"),
        "BEGIN".into(),
        "INSERT INTO b.noted (n) VALUES (1)".into(),
        "ROLLBACK".into(),
        "SET gtid_next = 'AUTOMATIC'".into(),
    ] {
        client.query_drop(&statement).map_err(|error| format!("{statement}: {error}"))?;
    }
    has_empty_groups(server)?;
    reader.read(&server.address)?;
    compare(server, reader)
}

fn has_empty_groups(server: &Server) -> Outcome {
    let mut client = server.connect().map_err(text)?;
    let executed: Option<String> = client.query_first("SELECT @@gtid_executed").map_err(text)?;
    let wanted = format!("{BY_HAND}:1-{}", WITHOUT_EFFECT.len());
    if executed.as_deref().is_some_and(|set| set.split(",\n").any(|part| part == wanted)) {
        Ok(())
    } else {
        Err(format!("{executed:?} does not have {wanted} alone"))
    }
}
