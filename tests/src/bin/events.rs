//! Events and the server's life: what becomes of them when it is killed, stopped, started again; and how the scheduler is turned on and off.
//!
//! 1. Events run, one of them for long. The server is killed meanwhile, and started again when the times of some have passed.
//! 2. Definitions are as they were; what had begun is not begun again; a single time that was missed is made up for once; events whose end has
//!    passed are dropped or disabled; the others go on.
//! 3. The scheduler is turned off and on, and killed. The server stops in order while an event runs.
//! 4. Definitions as SHOW CREATE EVENT tells them make the same events again.
//! 5. More definitions wait for a transaction than there are threads for them; events go on.
//!
//! E1: whatever is waited for is asked for again and again, for a minute at most; no time is measured.

use mysql::Conn;
use mysql::prelude::{FromRow, Queryable};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tests::{Report, Server, ServerOptions};

type Outcome<T = ()> = Result<T, String>;

const PATIENCE: Duration = Duration::from_secs(60);

/// What stays as it is over all restarts.
const LASTING: [&str; 3] = ["often", "far", "disabled"];

fn main() -> ExitCode {
    let mut report = Report::new();
    let directory = std::env::temp_dir().join(format!("heddle-events-{}", std::process::id()));
    if let Err(why) = run(&directory, &mut report) {
        report.fail("events", why);
    }
    match report.failed {
        0 => drop(std::fs::remove_dir_all(&directory)),
        _ => println!("     what it left: {}", directory.display()),
    }
    report.finish()
}

fn run(directory: &Path, report: &mut Report) -> Outcome {
    let options = ServerOptions { durability: "full".into(), buffer_pool: "32M".into(), ..ServerOptions::new(directory) };
    let server = Server::start(&options)?;
    let mut before = Vec::new();
    report.case("events run", || {
        make(&mut connect(&server)?)?;
        before = definitions(&mut connect(&server)?, "app")?;
        Ok(())
    });
    server.kill();
    // The end and the single time of some pass while there is no server.
    std::thread::sleep(Duration::from_secs(5));

    let server = Server::start(&options)?;
    report.case("after a crash they are as they were", || {
        same(&before, &definitions(&mut connect(&server)?, "app")?)?;
        missed(&mut connect(&server)?)
    });
    report.case("the scheduler is turned off and on", || off_and_on(&mut connect(&server)?));
    report.case("the scheduler is killed", || killed(&mut connect(&server)?));
    report.case("definitions make the same events", || made_again(&mut connect(&server)?, &before));
    report.case("events do not wait for definitions", || beside_definitions(&server));
    report.case("a server stops while an event runs", || {
        let mut conn = connect(&server)?;
        execute(
            &mut conn,
            "CREATE EVENT slow ON SCHEDULE AT NOW() DO BEGIN INSERT INTO log VALUES ('slow'); DO SLEEP(600); END",
        )?;
        until(&mut conn, "SELECT COUNT(*) FROM log WHERE event = 'slow'", |n: i64| n == 1)?;
        drop(conn);
        server.stop()
    });

    let off = ServerOptions { extra: vec!["--event-scheduler".into(), "off".into()], ..options.clone() };
    let server = Server::start(&off)?;
    report.case("a server that starts without the scheduler", || started_off(&mut connect(&server)?));
    report.case("it stops", || server.stop());

    let disabled = ServerOptions { extra: vec!["--event-scheduler".into(), "disabled".into()], ..options };
    let server = Server::start(&disabled)?;
    report.case("a server without the scheduler", || started_disabled(&mut connect(&server)?));
    report.case("it stops, too", || server.stop());
    Ok(())
}

fn connect(server: &Server) -> Outcome<Conn> {
    let mut conn = server.connect().map_err(|e| e.to_string())?;
    execute(&mut conn, "CREATE DATABASE IF NOT EXISTS app")?;
    execute(&mut conn, "USE app")?;
    Ok(conn)
}

fn execute(conn: &mut Conn, statement: &str) -> Outcome {
    conn.query_drop(statement).map_err(|e| format!("{statement}: {e}"))
}

fn ask<T: FromRow>(conn: &mut Conn, query: &str) -> Outcome<T> {
    let row = conn.query_first(query).map_err(|e| format!("{query}: {e}"))?;
    row.ok_or_else(|| format!("{query}: no row"))
}

/// E1
fn until<T: FromRow + std::fmt::Debug>(conn: &mut Conn, query: &str, is_it: impl Fn(T) -> bool) -> Outcome {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if is_it(ask(conn, query)?) {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(format!("{query}: still {:?}", ask::<T>(conn, query)?));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn is(conn: &mut Conn, query: &str, expected: i64) -> Outcome {
    match ask::<i64>(conn, query)? {
        value if value == expected => Ok(()),
        value => Err(format!("{query}: {value}, not {expected}")),
    }
}

fn same(before: &[String], after: &[String]) -> Outcome {
    let first = before.iter().zip(after).find(|(a, b)| a != b);
    match first {
        Some((a, b)) => Err(format!("{a} has become {b}")),
        None if before.len() == LASTING.len() && after.len() == LASTING.len() => Ok(()),
        None => Err(format!("{} definitions, then {}", before.len(), after.len())),
    }
}

fn count(event: &str) -> String {
    format!("SELECT COUNT(*) FROM app.log WHERE event = '{event}'")
}

fn events(condition: &str) -> String {
    format!("SELECT COUNT(*) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'app' AND {condition}")
}

fn definitions(conn: &mut Conn, database: &str) -> Outcome<Vec<String>> {
    LASTING
        .iter()
        .map(|name| {
            let row: mysql::Row = ask(conn, &format!("SHOW CREATE EVENT {database}.{name}"))?;
            row.get(3).ok_or_else(|| format!("{name} has no definition"))
        })
        .collect()
}

fn make(conn: &mut Conn) -> Outcome {
    execute(conn, "CREATE TABLE log (event VARCHAR(20))")?;
    for statement in [
        "CREATE EVENT often ON SCHEDULE EVERY 1 SECOND DO INSERT INTO app.log VALUES ('often')",
        "CREATE EVENT far ON SCHEDULE EVERY '1 12' DAY_HOUR STARTS '2035-01-01' ENDS '2036-01-01' ON COMPLETION PRESERVE COMMENT 'it''s' \
         DO BEGIN SELECT 'é'; SELECT 2; END",
        "CREATE EVENT disabled ON SCHEDULE EVERY 1 SECOND DISABLE DO INSERT INTO app.log VALUES ('disabled')",
        "CREATE EVENT began ON SCHEDULE AT NOW() DO BEGIN INSERT INTO log VALUES ('began'); DO SLEEP(600); END",
        "CREATE EVENT began_kept ON SCHEDULE AT NOW() ON COMPLETION PRESERVE DO BEGIN INSERT INTO log VALUES ('began_kept'); DO SLEEP(600); END",
        "CREATE EVENT missed ON SCHEDULE AT NOW() + INTERVAL 4 SECOND DO INSERT INTO log VALUES ('missed')",
        "CREATE EVENT ended ON SCHEDULE EVERY 1 HOUR STARTS NOW() + INTERVAL 3 SECOND ENDS NOW() + INTERVAL 4 SECOND DO SELECT 1",
        "CREATE EVENT ended_kept ON SCHEDULE EVERY 1 HOUR STARTS NOW() + INTERVAL 3 SECOND ENDS NOW() + INTERVAL 4 SECOND \
         ON COMPLETION PRESERVE DO SELECT 1",
    ] {
        execute(conn, statement)?;
    }
    for event in ["often", "began", "began_kept"] {
        until(conn, &count(event), |n: i64| n >= 1)?;
    }
    Ok(())
}

fn missed(conn: &mut Conn) -> Outcome {
    let seen: i64 = ask(conn, &count("often"))?;
    until(conn, &count("often"), |n: i64| n > seen + 1)?;
    until(conn, &count("missed"), |n: i64| n == 1)?;
    until(conn, &events("EVENT_NAME IN ('began', 'missed', 'ended')"), |n: i64| n == 0)?;
    until(conn, &events("EVENT_NAME IN ('began_kept', 'ended_kept') AND STATUS = 'DISABLED'"), |n: i64| n == 2)?;
    for event in ["began", "began_kept"] {
        is(conn, &count(event), 1)?;
    }
    is(conn, &count("disabled"), 0)?;
    is(conn, &events("EVENT_NAME = 'often' AND LAST_EXECUTED >= NOW() - INTERVAL 1 MINUTE"), 1)
}

const DAEMONS: &str = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'event_scheduler' AND COMMAND = 'Daemon'";

fn off_and_on(conn: &mut Conn) -> Outcome {
    is(conn, DAEMONS, 1)?;
    execute(conn, "SET GLOBAL event_scheduler = OFF")?;
    until(conn, DAEMONS, |n: i64| n == 0)?;
    // What has begun is done when nothing runs in an event's name.
    let running =
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND = 'Connect' AND INFO LIKE 'INSERT INTO app.log%'";
    until(conn, running, |n: i64| n == 0)?;
    execute(conn, "CREATE EVENT waits ON SCHEDULE AT NOW() DO INSERT INTO log VALUES ('waits')")?;
    let seen: i64 = ask(conn, &count("often"))?;
    std::thread::sleep(Duration::from_millis(2500));
    is(conn, &count("waits"), 0)?;
    let now: i64 = ask(conn, &count("often"))?;
    // One may have been on its way to its session.
    if now > seen + 1 {
        return Err(format!("{} executions while the scheduler was off", now - seen));
    }
    execute(conn, "SET GLOBAL event_scheduler = ON")?;
    until(conn, DAEMONS, |n: i64| n == 1)?;
    until(conn, &count("waits"), |n: i64| n == 1)?;
    until(conn, &count("often"), |n: i64| n > now)
}

fn killed(conn: &mut Conn) -> Outcome {
    let id: u32 = ask(conn, &DAEMONS.replace("COUNT(*)", "ID"))?;
    execute(conn, &format!("KILL {id}"))?;
    until(conn, "SELECT @@event_scheduler", |value: String| value == "OFF")?;
    until(conn, DAEMONS, |n: i64| n == 0)?;
    execute(conn, "SET GLOBAL event_scheduler = ON")?;
    until(conn, DAEMONS, |n: i64| n == 1)
}

fn made_again(conn: &mut Conn, before: &[String]) -> Outcome {
    execute(conn, "CREATE DATABASE again")?;
    execute(conn, "USE again")?;
    for definition in before {
        execute(conn, definition)?;
    }
    same(before, &definitions(conn, "again")?)?;
    execute(conn, "DROP DATABASE again")?;
    is(conn, "SELECT COUNT(*) FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'again'", 0)
}

/// As many ALTERs as threads wait for a lock; an event runs each second, and another one for the first and last time.
fn beside_definitions(server: &Server) -> Outcome {
    const ALTERS: usize = 6;
    let conn = &mut connect(server)?;
    execute(conn, "CREATE EVENT soon ON SCHEDULE AT NOW() + INTERVAL 4 SECOND DO INSERT INTO app.log VALUES ('soon')")?;
    let mut reader = connect(server)?;
    for n in 0..ALTERS {
        execute(conn, &format!("CREATE TABLE long_{n} (a INT)"))?;
    }
    execute(&mut reader, "BEGIN")?;
    for n in 0..ALTERS {
        execute(&mut reader, &format!("SELECT * FROM long_{n}"))?;
    }
    let conns: Vec<Conn> = (0..ALTERS).map(|_| connect(server)).collect::<Outcome<_>>()?;
    let alter =
        |(n, mut conn): (usize, Conn)| std::thread::spawn(move || execute(&mut conn, &format!("ALTER TABLE long_{n} ADD b INT")));
    let alters: Vec<_> = conns.into_iter().enumerate().map(alter).collect();
    let waiting = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'ALTER TABLE long%'";
    until(conn, waiting, |n: i64| n == ALTERS as i64)?;
    let seen: i64 = ask(conn, &count("often"))?;
    until(conn, &count("often"), |n: i64| n > seen + 3)?;
    until(conn, &count("soon"), |n: i64| n == 1)?;
    until(conn, &events("EVENT_NAME = 'soon'"), |n: i64| n == 0)?;
    is(conn, waiting, ALTERS as i64)?;
    execute(&mut reader, "COMMIT")?;
    for alter in alters {
        alter.join().map_err(|_| "an ALTER panicked".to_owned())??;
    }
    for n in 0..ALTERS {
        execute(conn, &format!("DROP TABLE long_{n}"))?;
    }
    Ok(())
}

fn started_off(conn: &mut Conn) -> Outcome {
    until(conn, "SELECT @@event_scheduler", |value: String| value == "OFF")?;
    let seen: i64 = ask(conn, &count("often"))?;
    is(conn, DAEMONS, 0)?;
    std::thread::sleep(Duration::from_millis(1500));
    is(conn, &count("often"), seen)?;
    is(conn, &count("slow"), 1)?;
    execute(conn, "SET GLOBAL event_scheduler = ON")?;
    until(conn, &count("often"), |n: i64| n > seen)?;
    until(conn, &events("EVENT_NAME = 'slow'"), |n: i64| n == 0)?;
    is(conn, &count("slow"), 1)
}

fn started_disabled(conn: &mut Conn) -> Outcome {
    until(conn, "SELECT @@event_scheduler", |value: String| value == "DISABLED")?;
    is(conn, DAEMONS, 0)?;
    match conn.query_drop("SET GLOBAL event_scheduler = ON") {
        Err(mysql::Error::MySqlError(error)) if error.code == 1290 => {}
        other => return Err(format!("SET GLOBAL event_scheduler: {other:?}")),
    }
    // Events are made and dropped all the same.
    execute(conn, "CREATE EVENT more ON SCHEDULE EVERY 1 SECOND DO INSERT INTO log VALUES ('more')")?;
    std::thread::sleep(Duration::from_millis(1500));
    is(conn, &count("more"), 0)?;
    execute(conn, "DROP EVENT more")
}
