//! Replication to the server: from a server of its own kind, and from a real MySQL where its tree is (`PEERS_ROOT`).
//!
//! 1. A script with all types, definitions, triggers and foreign keys runs at the source; the replica has the same rows.
//! 2. Writers work at the source while source and replica are killed in turn. After each start replication goes on by itself, and in the
//!    end every table is the same, row by row, and so is the set of GTIDs: nothing was applied twice or left out.
//! 3. What cannot be applied stops the applier with MySQL's number, and goes on when the cause is gone.
//! 4. Statements: privileges, refusals, what SHOW REPLICA STATUS shows.
//!
//! `--rounds N` repeats the crashes (default 4), `--seconds N` is how long the writers work in each (default 2).

mod script;
mod source;

use mysql::prelude::Queryable;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tests::{Address, Report, Server, ServerOptions};

type Outcome<T = ()> = Result<T, String>;

const WRITERS: u64 = 3;
const CATCH_UP_MAX: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let argument = |name: &str| {
        let mut arguments = std::env::args();
        arguments.find(|argument| argument == name).and_then(|_| arguments.next()).and_then(|value| value.parse::<u64>().ok())
    };
    let (rounds, seconds) = (argument("--rounds").unwrap_or(4), argument("--seconds").unwrap_or(2));
    let directory = std::env::temp_dir().join(format!("heddle-replica-{}", std::process::id()));
    let mut report = Report::new();
    if let Err(why) = run(&directory, rounds, seconds, &mut report) {
        report.fail("replica", why);
    }
    match report.failed {
        0 => drop(std::fs::remove_dir_all(&directory)),
        _ => println!("     what it left: {}", directory.display()),
    }
    report.finish()
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn options(directory: &std::path::Path, port: Option<u16>) -> ServerOptions {
    ServerOptions {
        durability: "full".into(),
        buffer_pool: "64M".into(),
        extra: vec!["--log-bin".into(), "on".into()],
        port,
        ..ServerOptions::new(directory)
    }
}

fn all(client: &mut mysql::Conn, statements: &[&str]) -> Outcome {
    statements.iter().try_for_each(|statement| client.query_drop(statement).map_err(|error| format!("{statement}: {error}")))
}

fn run(directory: &std::path::Path, rounds: u64, seconds: u64, report: &mut Report) -> Outcome {
    let source_directory = directory.join("source");
    let replica_directory = directory.join("replica");
    for made in [&source_directory, &replica_directory] {
        std::fs::create_dir_all(made).map_err(text)?;
    }
    let source = Server::start(&options(&source_directory, None))?;
    let replica = Server::start(&options(&replica_directory, None))?;
    let (source_port, replica_port) = (source.address.port, replica.address.port);
    report.case("statements are refused as by MySQL", || refusals(&replica));
    let mut client = source.connect().map_err(text)?;
    all(&mut client, &["CREATE USER replica@'%' IDENTIFIED BY 'pw'", "GRANT REPLICATION SLAVE ON *.* TO replica@'%'"])?;
    follow(&replica, source_port)?;
    report.case("a script with all types and definitions is applied", || {
        script::run(&mut client)?;
        compare(&source.address, &replica.address)?;
        indexes(&replica)
    });
    report.case("the status is true, and has no password", || status(&source, &replica));
    report.case("a session waits for what the source does", || waits(&source, &replica));
    report.case("performance_schema tells of the replica", || tables(&source, &replica));
    report.case("a delayed replica applies later", || delayed(&source, &replica));
    report.case("the connection is encrypted where that is asked for", || encrypted(&source, &replica, &source_directory));
    report.case("super_read_only does not stop the applier", || {
        let mut there = replica.connect().map_err(text)?;
        all(&mut there, &["SET GLOBAL super_read_only = ON"])?;
        all(&mut client, &["CREATE TABLE ty.more (id INT PRIMARY KEY)", "INSERT INTO ty.more VALUES (1)"])?;
        let same = compare(&source.address, &replica.address);
        all(&mut there, &["SET GLOBAL super_read_only = OFF"])?;
        same
    });
    report.case("what cannot be applied stops the applier with its number", || stops(&source, &replica));
    let mut source = Some(source);
    let mut replica = Some(replica);
    for round in 0..rounds {
        report.case(&format!("round {}: nothing is lost or done twice over a crash", round + 1), || {
            let running = source.as_ref().ok_or("no source")?;
            if round == 0 {
                let mut client = running.connect().map_err(text)?;
                all(&mut client, script::WRITTEN)?;
            }
            let (stop, address) = (AtomicBool::new(false), running.address.clone());
            std::thread::scope(|scope| -> Outcome {
                for writer in 0..WRITERS {
                    let (address, stop) = (address.clone(), &stop);
                    scope.spawn(move || write(&address, round * WRITERS + writer, stop));
                }
                std::thread::sleep(Duration::from_millis(seconds * 500));
                // The replica in each round, the source in every other one, while the writers work.
                if let Some(server) = replica.take() {
                    server.kill();
                }
                if round % 2 == 1
                    && let Some(server) = source.take()
                {
                    server.kill();
                    source = Some(Server::start(&options(&source_directory, Some(source_port)))?);
                }
                replica = Some(Server::start(&options(&replica_directory, Some(replica_port)))?);
                std::thread::sleep(Duration::from_millis(seconds * 500));
                stop.store(true, Ordering::SeqCst);
                Ok(())
            })?;
            let (source, replica) = (source.as_ref().ok_or("no source")?, replica.as_ref().ok_or("no replica")?);
            compare(&source.address, &replica.address)
        });
    }
    let (Some(source), Some(replica)) = (source, replica) else { return Err("a server did not start again".to_owned()) };
    report.case("events keep the number of their source", || {
        let mut client = replica.connect().map_err(text)?;
        let file: Option<mysql::Row> = client.query_first("SHOW BINARY LOG STATUS").map_err(text)?;
        let file: String = file.and_then(|row| row.get(0)).ok_or("no file")?;
        let mut there = source.connect().map_err(text)?;
        all(&mut there, &["INSERT INTO b.noted (v) VALUES ('number')"])?;
        compare(&source.address, &replica.address)?;
        let events: Vec<mysql::Row> = client.query(format!("SHOW BINLOG EVENTS IN '{file}'")).map_err(text)?;
        let of_rows: Vec<u64> = events
            .iter()
            .filter(|event| event.get::<String, _>(2).is_some_and(|kind| kind == "Write_rows"))
            .filter_map(|event| event.get(3))
            .collect();
        if !of_rows.is_empty() && of_rows.iter().all(|id| *id == 1) { Ok(()) } else { Err(format!("{of_rows:?}")) }
    });
    report.case("RESET REPLICA ALL makes the server its own again", || {
        let mut client = replica.connect().map_err(text)?;
        all(&mut client, &["STOP REPLICA", "RESET REPLICA ALL"])?;
        let line: Option<mysql::Row> = client.query_first("SHOW REPLICA STATUS").map_err(text)?;
        if line.is_none() { Ok(()) } else { Err("it is a replica still".to_owned()) }
    });
    drop(source);
    drop(replica);
    // A MySQL before 9.6 does not log what foreign keys do; this one can be like it.
    let sources: [(&str, &[&str]); 2] =
        [("a real MySQL", &[]), ("a real MySQL that does not log what foreign keys do", &["--innodb-native-foreign-keys=ON"])];
    for (at, (name, more)) in sources.into_iter().enumerate() {
        match source::Source::start(more) {
            Err(why) => report.fail(format!("{name} as source"), why),
            Ok(None) => println!("skip {name} as source: its tree is not there (PEERS_ROOT)"),
            Ok(Some(peer)) => {
                let home = directory.join(format!("of-mysql-{at}"));
                std::fs::create_dir_all(&home).map_err(text)?;
                let replica = Server::start(&options(&home, None))?;
                report.case(&format!("{name} is followed"), || from_mysql(&peer, &replica));
            }
        }
    }
    Ok(())
}

/// Makes the server a replica of the one at `port`.
fn follow(replica: &Server, port: u16) -> Outcome {
    let mut client = replica.connect().map_err(text)?;
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, SOURCE_USER = 'replica', SOURCE_PASSWORD = 'pw', \
         SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 1000"
    );
    all(&mut client, &["SET PERSIST server_id = 2", &change, "START REPLICA"])
}

/// A column of SHOW REPLICA STATUS.
fn shown(client: &mut mysql::Conn, name: &str) -> Outcome<String> {
    let line: Option<mysql::Row> = client.query_first("SHOW REPLICA STATUS").map_err(text)?;
    let value = line.and_then(|line| line.get::<mysql::Value, _>(name)).ok_or_else(|| format!("no column {name}"))?;
    Ok(match value {
        mysql::Value::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        other => other.as_sql(true),
    })
}

/// Waits until the replica has everything, and compares all tables with the source's.
fn compare(source: &Address, replica: &Address) -> Outcome {
    let (mut here, mut there) = (source.connect().map_err(text)?, replica.connect().map_err(text)?);
    let set: Option<String> = here.query_first("SELECT @@gtid_executed").map_err(text)?;
    let set = set.unwrap_or_default().replace('\n', "");
    let until = Instant::now() + CATCH_UP_MAX;
    loop {
        let has: Option<i64> = there.query_first(format!("SELECT GTID_SUBSET('{set}', @@gtid_executed)")).map_err(text)?;
        if has == Some(1) {
            break;
        }
        let why = shown(&mut there, "Last_SQL_Error")?;
        if Instant::now() > until || !why.is_empty() {
            return Err(format!("it does not catch up: {why} {}", shown(&mut there, "Last_IO_Error")?));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    tests::tables::same_rows(&mut here, &mut there, &["b", "ty"])?;
    let executed: Option<String> = there.query_first("SELECT @@gtid_executed").map_err(text)?;
    let executed = executed.unwrap_or_default().replace('\n', "");
    if executed == set { Ok(()) } else { Err(format!("the replica has {executed}, the source {set}")) }
}

fn refused(client: &mut mysql::Conn, statement: &str, number: u16) -> Outcome {
    match client.query_drop(statement) {
        Err(mysql::Error::MySqlError(error)) if error.code == number => Ok(()),
        other => Err(format!("{statement}: {other:?}, and not {number}")),
    }
}

fn refusals(replica: &Server) -> Outcome {
    let mut client = replica.connect().map_err(text)?;
    refused(&mut client, "START REPLICA", 1200)?;
    refused(&mut client, "CHANGE REPLICATION SOURCE TO SOURCE_SSL_CERT = 'cert.pem'", 1235)?;
    refused(&mut client, "CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'h' FOR CHANNEL 'c'", 1235)?;
    refused(&mut client, "START REPLICA FOR CHANNEL 'c'", 3074)?;
    refused(&mut client, "CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION = 1, SOURCE_LOG_POS = 4", 1776)?;
    all(&mut client, &["CREATE USER nobody@'%'"])?;
    let mut nobody = tests::Address { user: "nobody".into(), ..replica.address.clone() }.connect().map_err(text)?;
    refused(&mut nobody, "START REPLICA", 1227)?;
    refused(&mut nobody, "SHOW REPLICA STATUS", 1227)?;
    all(&mut client, &["DROP USER nobody@'%'", "RESET BINARY LOGS AND GTIDS"])
}

fn status(source: &Server, replica: &Server) -> Outcome {
    let (mut here, mut there) = (source.connect().map_err(text)?, replica.connect().map_err(text)?);
    let uuid: Option<String> = here.query_first("SELECT @@server_uuid").map_err(text)?;
    let log: Option<mysql::Row> = here.query_first("SHOW BINARY LOG STATUS").map_err(text)?;
    let log = log.ok_or("no log")?;
    let (file, position): (String, u64) = (log.get(0).ok_or("no file")?, log.get(1).ok_or("no position")?);
    let expected = [
        ("Source_Host", "127.0.0.1".to_owned()),
        ("Source_User", "replica".to_owned()),
        ("Source_Port", source.address.port.to_string()),
        ("Replica_IO_Running", "Yes".to_owned()),
        ("Replica_SQL_Running", "Yes".to_owned()),
        ("Source_Log_File", file.clone()),
        ("Read_Source_Log_Pos", position.to_string()),
        ("Relay_Source_Log_File", file),
        ("Exec_Source_Log_Pos", position.to_string()),
        ("Seconds_Behind_Source", "0".to_owned()),
        ("Source_Server_Id", "1".to_owned()),
        ("Source_UUID", uuid.unwrap_or_default()),
        ("Auto_Position", "1".to_owned()),
        ("Last_SQL_Errno", "0".to_owned()),
    ];
    for (name, value) in expected {
        let found = shown(&mut there, name)?;
        if found.trim_matches('\'') != value {
            return Err(format!("{name} is {found}, and not {value}"));
        }
    }
    let line: Option<mysql::Row> = there.query_first("SHOW REPLICA STATUS").map_err(text)?;
    if format!("{:?}", line.map(mysql::Row::unwrap)).contains("pw") {
        return Err("the password is shown".to_owned());
    }
    refused(&mut there, "CHANGE REPLICATION SOURCE TO SOURCE_PORT = 1", 3081)?;
    refused(&mut there, "RESET REPLICA", 3081)
}

/// SOURCE_SSL: an account that needs TLS, the source's own authority, and another one.
/// Are the indexes over expressions, whose columns are in no stream, those of the rows?
fn indexes(replica: &Server) -> Outcome {
    let mut client = replica.connect().map_err(text)?;
    let checked: Vec<mysql::Row> = client.query("CHECK TABLE ty.func, ty.gen, ty.nums").map_err(text)?;
    let said: Vec<String> = checked.iter().filter_map(|row| row.get(3)).collect();
    let by_index: Vec<i64> = client
        .query(
            "SELECT id FROM ty.func FORCE INDEX (double_a) WHERE a * 2 = 12 UNION ALL SELECT id FROM ty.func WHERE UPPER(t) = 'THREE' \
             UNION ALL SELECT id FROM ty.func FORCE INDEX (tags) WHERE 'z' MEMBER OF (doc->'$.tags') ORDER BY id",
        )
        .map_err(text)?;
    if said.iter().all(|said| said == "OK") && by_index == [1, 1, 2, 2, 30] {
        Ok(())
    } else {
        Err(format!("{said:?} {by_index:?}"))
    }
}

fn delayed(source: &Server, replica: &Server) -> Outcome {
    let (mut here, mut there) = (source.connect().map_err(text)?, replica.connect().map_err(text)?);
    all(&mut there, &["STOP REPLICA", "CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 3", "START REPLICA"])?;
    all(&mut here, &["CREATE TABLE ty.held_back (id INT PRIMARY KEY)", "INSERT INTO ty.held_back VALUES (1)"])?;
    let begun = std::time::Instant::now();
    let mut seen = String::new();
    while begun.elapsed() < Duration::from_secs(1) {
        seen = shown(&mut there, "SQL_Remaining_Delay")?;
        std::thread::sleep(Duration::from_millis(50));
    }
    let early: Option<u64> =
        there.query_first("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_NAME = 'held_back'").map_err(text)?;
    compare(&source.address, &replica.address)?;
    let took = begun.elapsed();
    // A delay that has begun is no hindrance for those who stop it.
    all(&mut there, &["STOP REPLICA", "CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 3600", "START REPLICA"])?;
    all(&mut here, &["INSERT INTO ty.held_back VALUES (2)"])?;
    std::thread::sleep(Duration::from_millis(200));
    let stopping = std::time::Instant::now();
    all(&mut there, &["STOP REPLICA", "CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 0", "START REPLICA"])?;
    compare(&source.address, &replica.address)?;
    let is_shown = matches!(seen.trim_matches('\''), "1" | "2");
    if is_shown && early == Some(0) && took >= Duration::from_millis(2900) && stopping.elapsed() < Duration::from_secs(10) {
        Ok(())
    } else {
        Err(format!("{seen} seconds were left, {early:?} early, it took {took:?}, the stop {:?}", stopping.elapsed()))
    }
}

fn waits(source: &Server, replica: &Server) -> Outcome {
    let (mut here, mut there) = (source.connect().map_err(text)?, replica.connect().map_err(text)?);
    let ask = |client: &mut mysql::Conn, statement: &str| -> Outcome<Option<i64>> {
        client.query_first::<Option<i64>, _>(statement).map(Option::flatten).map_err(|error| format!("{statement}: {error}"))
    };
    let executed = |client: &mut mysql::Conn| -> Outcome<String> {
        let set: Option<String> = client.query_first("SELECT @@gtid_executed").map_err(text)?;
        Ok(set.unwrap_or_default().replace('\n', ""))
    };
    let uuid: String = here.query_first("SELECT @@server_uuid").map_err(text)?.unwrap_or_default();
    let late = ask(&mut there, &format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{uuid}:1000000', 0.1)"))?;
    let (status, file, position) = {
        let line: mysql::Row = here.query_first("SHOW BINARY LOG STATUS").map_err(text)?.ok_or("no status")?;
        (executed(&mut here)?, line.get::<String, _>(0).unwrap_or_default(), line.get::<u64, _>(1).unwrap_or(0))
    };
    let before = ask(&mut there, &format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{status}', 30)"))?;
    let place = ask(&mut there, &format!("SELECT SOURCE_POS_WAIT('{file}', {position}, 30)"))?;
    let beyond = ask(&mut there, &format!("SELECT SOURCE_POS_WAIT('{file}', {}, 0.1)", position + 100_000))?;
    // It waits before the source has done anything.
    let waited = std::thread::scope(|scope| -> Outcome<(Option<i64>, bool)> {
        let waiting = scope.spawn(|| -> Outcome<(Option<i64>, bool)> {
            let next = format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{uuid}:1-{}', 30)", next_number(&status, &uuid)?);
            let waited = ask(&mut there, &next)?;
            let there: Option<i64> = there.query_first("SELECT 1 FROM ty.waited WHERE id = 1").map_err(text)?;
            Ok((waited, there.is_some()))
        });
        std::thread::sleep(Duration::from_millis(100));
        all(&mut here, &["CREATE TABLE ty.waited (id INT PRIMARY KEY)", "INSERT INTO ty.waited VALUES (1)"])?;
        waiting.join().map_err(|_| "a session panicked".to_owned())?
    })?;
    let found = (late, before, place.is_some_and(|events| events >= 0), beyond, waited);
    if found == (Some(1), Some(0), true, Some(-1), (Some(0), true)) { Ok(()) } else { Err(format!("{found:?}")) }
}

/// The number of the second transaction behind those of `uuid` in a set: the source makes a table, and writes to it.
fn next_number(set: &str, uuid: &str) -> Outcome<u64> {
    let own = set.split(',').find_map(|part| part.strip_prefix(uuid)).ok_or_else(|| format!("{set} has none of {uuid}"))?;
    let last = own.rsplit([':', '-']).next().and_then(|number| number.parse::<u64>().ok());
    last.map(|last| last + 2).ok_or_else(|| set.to_owned())
}

fn tables(source: &Server, replica: &Server) -> Outcome {
    let (mut here, mut there) = (source.connect().map_err(text)?, replica.connect().map_err(text)?);
    all(&mut here, &["CREATE TABLE ty.seen (id INT PRIMARY KEY)", "INSERT INTO ty.seen VALUES (1)"])?;
    compare(&source.address, &replica.address)?;
    let last: Option<String> = there
        .query_first(
            "SELECT LAST_APPLIED_TRANSACTION FROM performance_schema.replication_applier_status_by_worker \
             ORDER BY LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP DESC LIMIT 1",
        )
        .map_err(text)?;
    let executed: String = here.query_first("SELECT @@gtid_executed").map_err(text)?.unwrap_or_default();
    let own = |gtid: &Option<String>| {
        gtid.as_ref().and_then(|gtid| gtid.rsplit_once(':')).is_some_and(|(uuid, number)| {
            executed.contains(uuid) && (executed.ends_with(&format!("-{number}")) || executed.contains(&format!("-{number},")))
        })
    };
    let states: Vec<(String, String)> = there
        .query(
            "SELECT s.SERVICE_STATE, LAST_QUEUED_TRANSACTION FROM performance_schema.replication_connection_status s \
             JOIN performance_schema.replication_connection_configuration c USING (CHANNEL_NAME) \
             JOIN performance_schema.replication_applier_status a USING (CHANNEL_NAME) \
             JOIN performance_schema.replication_applier_status_by_coordinator k USING (CHANNEL_NAME) \
             JOIN performance_schema.replication_applier_configuration USING (CHANNEL_NAME) \
             WHERE a.SERVICE_STATE = 'ON' AND k.SERVICE_STATE = 'ON' AND c.AUTO_POSITION = '1' AND LAST_PROCESSED_TRANSACTION <> ''",
        )
        .map_err(text)?;
    let lanes: Option<u64> = there
        .query_first(
            "SELECT COUNT(*) FROM performance_schema.replication_applier_status_by_worker w \
             JOIN performance_schema.threads t ON t.THREAD_ID = w.THREAD_ID AND t.PROCESSLIST_USER = 'system user' WHERE WORKER_ID > 0",
        )
        .map_err(text)?;
    let is_queued = states.first().is_some_and(|(state, gtid)| state == "ON" && own(&Some(gtid.clone())));
    if own(&last) && is_queued && lanes == Some(4) {
        Ok(())
    } else {
        Err(format!("{last:?} {states:?} {lanes:?}, executed {executed}"))
    }
}

fn encrypted(source: &Server, replica: &Server, directory: &std::path::Path) -> Outcome {
    let (mut here, mut there) = (source.connect().map_err(text)?, replica.connect().map_err(text)?);
    all(&mut here, &["ALTER USER replica@'%' REQUIRE SSL"])?;
    let ca = directory.join("data").join("ca.pem");
    let ca = if ca.exists() { ca } else { directory.join("ca.pem") };
    let change = |more: &str| format!("CHANGE REPLICATION SOURCE TO GET_SOURCE_PUBLIC_KEY = 0, SOURCE_SSL = 1, {more}");
    let with_authority = change(&format!("SOURCE_SSL_CA = '{}'", ca.display()));
    for change in [change("SOURCE_SSL_CA = ''"), with_authority] {
        all(&mut there, &["STOP REPLICA", &change, "START REPLICA"])?;
        all(&mut here, &["CREATE TABLE ty.tls (id INT PRIMARY KEY)", "DROP TABLE ty.tls"])?;
        compare(&source.address, &replica.address).map_err(|why| format!("{change}: {why}"))?;
    }
    // No authority at all.
    let other = directory.with_file_name("other.pem");
    std::fs::write(&other, "no certificate").map_err(text)?;
    let wrong = change(&format!("SOURCE_SSL_CA = '{}', SOURCE_SSL_VERIFY_SERVER_CERT = 1", other.display()));
    all(&mut there, &["STOP REPLICA", &wrong, "START REPLICA"])?;
    let until = Instant::now() + CATCH_UP_MAX;
    while !shown(&mut there, "Last_IO_Error")?.contains("SSL connection error") {
        if Instant::now() > until {
            return Err(format!("a wrong authority: {}", shown(&mut there, "Last_IO_Error")?));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let change = "CHANGE REPLICATION SOURCE TO GET_SOURCE_PUBLIC_KEY = 1, SOURCE_SSL = 0, SOURCE_SSL_CA = '', SOURCE_SSL_VERIFY_SERVER_CERT = 0";
    all(&mut here, &["ALTER USER replica@'%' REQUIRE NONE"])?;
    all(&mut there, &["STOP REPLICA", change, "START REPLICA"])?;
    compare(&source.address, &replica.address)
}

/// A row that is there, one that is not, a table that is not: each stops the applier, which goes on afterwards.
fn stops(source: &Server, replica: &Server) -> Outcome {
    let (mut here, mut there) = (source.connect().map_err(text)?, replica.connect().map_err(text)?);
    all(&mut here, &["CREATE TABLE ty.stop (id INT PRIMARY KEY, v INT)", "INSERT INTO ty.stop VALUES (1, 1), (2, 2)"])?;
    compare(&source.address, &replica.address)?;
    let cases = [
        (1062, "INSERT INTO ty.stop VALUES (3, 3)", "INSERT INTO ty.stop VALUES (3, 0)", "DELETE FROM ty.stop WHERE id = 3"),
        (1032, "UPDATE ty.stop SET v = 9 WHERE id = 1", "DELETE FROM ty.stop WHERE id = 1", "INSERT INTO ty.stop VALUES (1, 1)"),
        (1032, "DELETE FROM ty.stop WHERE id = 2", "DELETE FROM ty.stop WHERE id = 2", "INSERT INTO ty.stop VALUES (2, 2)"),
        (1146, "INSERT INTO ty.stop VALUES (4, 4)", "RENAME TABLE ty.stop TO ty.gone", "RENAME TABLE ty.gone TO ty.stop"),
        (1050, "CREATE TABLE ty.twice (id INT)", "CREATE TABLE ty.twice (a INT)", "DROP TABLE ty.twice"),
        (13146, "INSERT INTO ty.stop VALUES (5, 5)", "ALTER TABLE ty.stop MODIFY v BIGINT", "ALTER TABLE ty.stop MODIFY v INT"),
    ];
    for (number, at_source, before, after) in cases {
        all(&mut there, &["SET sql_log_bin = 0", before])?;
        all(&mut here, &[at_source])?;
        let until = Instant::now() + CATCH_UP_MAX;
        while shown(&mut there, "Replica_SQL_Running")? == "Yes" {
            if Instant::now() > until {
                return Err(format!("{at_source}: the applier does not stop"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let found = shown(&mut there, "Last_SQL_Errno")?;
        let message = shown(&mut there, "Last_SQL_Error")?;
        if found != number.to_string() || message.is_empty() {
            return Err(format!("{at_source}: {found} {message}, and not {number}"));
        }
        all(&mut there, &[after, "START REPLICA"])?;
        compare(&source.address, &replica.address).map_err(|why| format!("after {number}: {why}"))?;
    }
    Ok(())
}

fn from_mysql(peer: &source::Source, replica: &Server) -> Outcome {
    let mut here = peer.connect()?;
    all(&mut here, &["CREATE USER replica@'%' IDENTIFIED BY 'pw'", "GRANT REPLICATION SLAVE ON *.* TO replica@'%'"])?;
    follow(replica, peer.port)?;
    let mut there = replica.connect().map_err(text)?;
    all(&mut there, &["STOP REPLICA", "CHANGE REPLICATION SOURCE TO SOURCE_SSL = 1", "START REPLICA"])?;
    script::run(&mut here)?;
    all(&mut here, script::PARTIAL)?;
    all(&mut here, script::FOLLOWED)?;
    let address = Address { port: peer.port, socket: None, ..replica.address.clone() };
    compare(&address, &replica.address)?;
    indexes(replica)?;
    // Writers, over a crash of neither: MySQL's own events under load.
    all(&mut here, script::WRITTEN)?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (address, stop) = (address.clone(), &stop);
            scope.spawn(move || write(&address, writer, stop));
        }
        std::thread::sleep(Duration::from_secs(2));
        stop.store(true, Ordering::SeqCst);
    });
    compare(&address, &replica.address)
}

/// Changes rows until the server is gone.
fn write(address: &Address, writer: u64, stop: &AtomicBool) {
    let Ok(mut client) = address.connect() else { return };
    let mut state = writer * 7919 + 1;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    while !stop.load(Ordering::SeqCst) {
        let (n, bytes) = (random(30), random(20_000));
        for statement in script::change(random(12), n, bytes) {
            match client.query_drop(&statement) {
                Ok(()) => {}
                // Deadlocks and duplicate keys end a statement or a transaction of this client only.
                Err(mysql::Error::MySqlError(_)) => {}
                Err(_) => return,
            }
        }
    }
}
