//! Semi-synchronous replication: when a commit is answered.
//!
//! A reader of the test takes the stream as a replica that acknowledges: it sees what it is asked for, and answers late, or what it must not.

use crate::reader::{dump_gtid, prepare};
use mysql::prelude::Queryable;
use std::time::{Duration, Instant};
use tests::raw::{COM_QUERY, Raw};
use tests::{Address, Server};

type Outcome<T = ()> = Result<T, String>;

const COM_BINLOG_DUMP_GTID: u8 = 0x1e;
const PATIENCE: Duration = Duration::from_secs(20);

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The stream of a replica that acknowledges.
struct Stream {
    raw: Raw,
    file: String,
    /// The number of the next packet.
    sequence: u8,
}

impl Stream {
    /// `set`: what it has, encoded.
    fn open(address: &Address, set: &[u8]) -> Outcome<Self> {
        let mut raw = Raw::logged_in(address).map_err(text)?;
        prepare(&mut raw)?;
        let statement =
            b"SET @rpl_semi_sync_replica = 1, @rpl_semi_sync_slave = 1, @replica_uuid = 'aaaaaaaa-0000-0000-0000-000000000002'";
        raw.ask(COM_QUERY, statement).map_err(text)?;
        raw.command(COM_BINLOG_DUMP_GTID, &dump_gtid(0, "", 4, set)).map_err(text)?;
        Ok(Self { raw, file: String::new(), sequence: 1 })
    }

    /// Reads up to the next event that is to be acknowledged, and gives its place.
    fn next_asked(&mut self) -> Outcome<u64> {
        loop {
            let (sequence, packet) = self.raw.read_packet().map_err(text)?;
            if packet.first() == Some(&0xff) {
                return Err(format!("{packet:02x?}: {}", String::from_utf8_lossy(&packet)));
            }
            if std::mem::replace(&mut self.sequence, sequence.wrapping_add(1)) != sequence {
                return Err(format!("a packet has the number {sequence}"));
            }
            let (_, event) = packet.split_first().ok_or("a packet is empty")?;
            let (marks, event) = event.split_first_chunk::<2>().ok_or("a packet is too short")?;
            if marks[0] != 0xEF {
                return Err(format!("an event begins with {marks:?}"));
            }
            // ROTATE names the file.
            if event[4] == 4 {
                self.file = String::from_utf8_lossy(&event[27..event.len() - 4]).into_owned();
            }
            if marks[1] == 1 {
                // The answer has the number 0.
                self.sequence = 1;
                return Ok(u64::from(u32::from_le_bytes(event[13..17].try_into().map_err(text)?)));
            }
        }
    }

    fn acknowledge(&mut self, position: u64) -> Outcome {
        let mut answer = vec![0xEF];
        answer.extend_from_slice(&position.to_le_bytes());
        answer.extend_from_slice(self.file.as_bytes());
        self.raw.send(0, &answer).map_err(text)
    }
}

fn figure(client: &mut mysql::Conn, name: &str) -> Outcome<String> {
    let line: Option<(String, String)> =
        client.query_first(format!("SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_source_{name}'")).map_err(text)?;
    line.map(|line| line.1).ok_or_else(|| format!("no {name}"))
}

fn until(client: &mut mysql::Conn, name: &str, value: &str) -> Outcome {
    let begun = Instant::now();
    loop {
        let found = figure(client, name)?;
        if found == value {
            return Ok(());
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("{name} is {found}, and not {value}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// How long a statement takes.
fn timed(client: &mut mysql::Conn, statement: &str) -> Outcome<Duration> {
    let begun = Instant::now();
    client.query_drop(statement).map_err(|error| format!("{statement}: {error}"))?;
    Ok(begun.elapsed())
}

/// `set`: of all that was executed, encoded.
pub fn waits(server: &Server, set: &[u8]) -> Outcome {
    let mut client = server.connect().map_err(text)?;
    let settings = |client: &mut mysql::Conn, timeout_ms: u64| -> Outcome {
        client.query_drop(format!("SET GLOBAL rpl_semi_sync_source_timeout = {timeout_ms}")).map_err(text)
    };
    client.query_drop("SET GLOBAL rpl_semi_sync_source_enabled = ON").map_err(text)?;
    let outcome = (|| -> Outcome {
        // Nobody is there: the first commit waits for the time that is set, the next one for nobody.
        settings(&mut client, 400)?;
        let (first, second) = (timed(&mut client, WRITES[0])?, timed(&mut client, WRITES[1])?);
        if first < Duration::from_millis(400) || figure(&mut client, "status")? != "OFF" || figure(&mut client, "no_tx")? != "2" {
            return Err(format!("without a replica: {first:?}, {second:?}, no_tx {}", figure(&mut client, "no_tx")?));
        }
        // A replica that catches up turns it on.
        settings(&mut client, 30_000)?;
        let mut stream = Stream::open(&server.address, set)?;
        let place = stream.next_asked()?;
        stream.acknowledge(place)?;
        until(&mut client, "status", "ON")?;
        until(&mut client, "clients", "1")?;
        // A commit and a definition are answered when they are acknowledged.
        for (number, statement) in WRITES[2..].iter().enumerate() {
            let late = Duration::from_millis(300);
            let (address, before) = (server.address.clone(), figure(&mut client, "yes_tx")?);
            let took = std::thread::scope(|scope| -> Outcome<Duration> {
                let waiting = scope.spawn(move || timed(&mut address.connect().map_err(text)?, statement));
                let place = stream.next_asked()?;
                std::thread::sleep(late);
                stream.acknowledge(place)?;
                waiting.join().map_err(|_| "a session panicked".to_owned())?
            })?;
            if took < late || figure(&mut client, "yes_tx")? == before {
                return Err(format!("statement {number} took {took:?}, yes_tx was {before}"));
            }
        }
        // What was not sent cannot be there.
        stream.acknowledge(1 << 40)?;
        match stream.next_asked() {
            Err(why) if why.contains("not sent to it") => {}
            other => return Err(format!("a place that was not sent is acknowledged: {other:?}")),
        }
        until(&mut client, "clients", "0")
    })();
    client.query_drop("SET GLOBAL rpl_semi_sync_source_enabled = OFF").map_err(text)?;
    outcome
}

const WRITES: [&str; 5] = [
    "INSERT INTO b.noted (n, v) VALUES (1, 'semi')",
    "INSERT INTO b.noted (n, v) VALUES (2, 'semi')",
    "INSERT INTO b.noted (n, v) VALUES (3, 'semi')",
    "ALTER TABLE b.noted COMMENT 'semi'",
    "CREATE USER IF NOT EXISTS semi@'%'",
];

/// The sessions that dump.
fn dumps(client: &mut mysql::Conn) -> Outcome<Vec<u64>> {
    client.query("SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%' ORDER BY ID").map_err(text)
}

/// With a real MySQL that acknowledges.
pub fn by_mysql(server: &Server) -> Outcome {
    let mut client = server.connect().map_err(text)?;
    client
        .query_drop("SET GLOBAL rpl_semi_sync_source_enabled = ON, GLOBAL rpl_semi_sync_source_timeout = 60000")
        .map_err(text)?;
    let outcome = (|| -> Outcome {
        until(&mut client, "clients", "1")?;
        let before: u64 = figure(&mut client, "yes_tx")?.parse().map_err(text)?;
        let dumps_before = dumps(&mut client)?;
        for n in 0..50 {
            client.query_drop(format!("INSERT INTO b.noted (n, v) VALUES ({n}, 'acknowledged')")).map_err(text)?;
        }
        let after: u64 = figure(&mut client, "yes_tx")?.parse().map_err(text)?;
        // A connection that was lost in between would be another session.
        let sessions: Vec<u64> = dumps(&mut client)?;
        if sessions != dumps_before {
            return Err(format!("the dumps were {dumps_before:?} and are {sessions:?}"));
        }
        if after == before + 50 && figure(&mut client, "status")? == "ON" {
            Ok(())
        } else {
            Err(format!("{before} before 50 commits, {after} behind them"))
        }
    })();
    client.query_drop("SET GLOBAL rpl_semi_sync_source_enabled = OFF").map_err(text)?;
    outcome
}
