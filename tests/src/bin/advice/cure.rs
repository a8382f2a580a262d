//! Cures: an index is measured, applied, verified, hidden when it does not keep its promise, and reverted.

use super::{Outcome, text};
use mysql::Conn;
use mysql::prelude::Queryable;
use std::time::{Duration, Instant};
use tests::{Report, Server};

const ER_CANNOT_EXECUTE: u16 = 1220;
const ER_INTERRUPTED: u16 = 1317;
const ER_TABLE_ACCESS_DENIED: u16 = 1142;
const ER_SPECIFIC_ACCESS_DENIED: u16 = 1227;
/// The watch looks every five seconds.
const VERDICT_WITHIN: Duration = Duration::from_secs(60);

pub fn cases(report: &mut Report, server: &Server, conn: &mut Conn) {
    report.case("ADVISE FOR and EXPLAIN ANALYZE speak about one statement", || of_one_statement(conn));
    report.case("MEASURE ADVICE refuses what it cannot do", || refused(server, conn));
    report.case("KILL ends a measurement, and no index is left", || killed(server, conn));
    report.case("MEASURE ADVICE runs statements with and without the index, which plans do not see", || measured(conn));
    report.case("the runs of a measurement are in no statistics", || uncounted(conn));
    report.case("APPLY ADVICE makes the index visible; it is kept when it helps", || applied(conn));
    report.case("an applied index that does not help is hidden again", || hidden(conn));
    report.case("REVERT ADVICE drops the index", || reverted(conn));
}

fn id_of(conn: &mut Conn, kind: &str, table: &str) -> Result<String, String> {
    let found = format!("SELECT id FROM sys.advice WHERE kind = '{kind}' AND table_schema = 'sick' AND table_name = '{table}'");
    conn.query_first(found).map_err(text)?.ok_or_else(|| format!("no finding about {table}"))
}

/// The error's number.
fn fails(conn: &mut Conn, statement: &str, number: u16) -> Outcome {
    match conn.query_drop(statement) {
        Err(mysql::Error::MySqlError(error)) if error.code == number => Ok(()),
        other => Err(format!("{statement}: {other:?}")),
    }
}

/// `YES` or `NO`; `None`: there is no such index.
fn visible(conn: &mut Conn, table: &str, id: &str) -> Result<Option<String>, String> {
    let statement = format!(
        "SELECT IS_VISIBLE FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'sick' AND TABLE_NAME = '{table}' AND INDEX_NAME = 'advice_{id}'"
    );
    conn.query_first(statement).map_err(text)
}

fn expect_visible(conn: &mut Conn, table: &str, id: &str, expected: Option<&str>) -> Outcome {
    let found = visible(conn, table, id)?;
    if found.as_deref() == expected { Ok(()) } else { Err(format!("the index is visible: {found:?}")) }
}

fn of_one_statement(conn: &mut Conn) -> Outcome {
    let rows: Vec<mysql::Row> = conn.query("ADVISE FOR SELECT * FROM sick.scored WHERE score = 77").map_err(text)?;
    let kinds: Vec<String> = rows.iter().map(|row| row.get("Kind").unwrap_or_default()).collect();
    let cures: Vec<String> = rows.iter().map(|row| row.get("Cure").unwrap_or_default()).collect();
    if kinds != ["missing_index"] || cures != ["ALTER TABLE `sick`.`scored` ADD INDEX (`score`)"] {
        return Err(format!("{rows:?}"));
    }
    let before: Option<u64> = conn.query_first("SELECT COUNT(*) FROM sick.scored").map_err(text)?;
    for change in
        ["UPDATE sick.scored SET filler = 'x' WHERE score = 77", "DELETE FROM sick.scored WHERE score < 77 AND score > 1"]
    {
        let rows: Vec<mysql::Row> = conn.query(format!("ADVISE FOR {change}")).map_err(text)?;
        let kinds: Vec<String> = rows.iter().map(|row| row.get("Kind").unwrap_or_default()).collect();
        if kinds != ["missing_index"] {
            return Err(format!("{change}: {rows:?}"));
        }
    }
    let after: Option<u64> = conn.query_first("SELECT COUNT(*) FROM sick.scored WHERE filler <> 'x'").map_err(text)?;
    if before != after {
        return Err(format!("ADVISE FOR has changed rows: {before:?} and {after:?}"));
    }
    let none: Vec<mysql::Row> = conn.query("ADVISE FOR SELECT * FROM sick.scored WHERE id = 77").map_err(text)?;
    if !none.is_empty() {
        return Err(format!("about a sound statement: {none:?}"));
    }
    let shown = |conn: &mut Conn, statement: &str| -> Result<String, String> {
        conn.query_first(statement).map_err(text).map(Option::unwrap_or_default)
    };
    let bad = shown(conn, "EXPLAIN ANALYZE SELECT * FROM sick.scored WHERE score = 77")?;
    let good = shown(conn, "EXPLAIN ANALYZE SELECT * FROM sick.scored WHERE id = 77")?;
    if !bad.contains("\nAdvice ") || !bad.contains("(missing_index)") || good.contains("Advice") {
        return Err(format!("{bad}\n{good}"));
    }
    conn.query_drop("USE sick").map_err(text)?;
    let known = shown(conn, "EXPLAIN FORMAT=TREE SELECT * FROM by_code WHERE code = 14")?;
    if known.contains("\nAdvice ") { Ok(()) } else { Err(known) }
}

fn refused(server: &Server, conn: &mut Conn) -> Outcome {
    fails(conn, "MEASURE ADVICE 'nothing'", ER_CANNOT_EXECUTE)?;
    fails(conn, "REVERT ADVICE 'nothing'", ER_CANNOT_EXECUTE)?;
    let words = id_of(conn, "deep_offset", "paged")?;
    fails(conn, &format!("MEASURE ADVICE '{words}'"), ER_CANNOT_EXECUTE)?;
    fails(conn, &format!("APPLY ADVICE '{words}'"), ER_CANNOT_EXECUTE)?;
    let id = id_of(conn, "missing_index", "by_code")?;
    conn.query_drop("SET GLOBAL heddle_advice_disk_max = 1000").map_err(text)?;
    let outcome = fails(conn, &format!("MEASURE ADVICE '{id}'"), ER_CANNOT_EXECUTE);
    conn.query_drop("SET GLOBAL heddle_advice_disk_max = DEFAULT").map_err(text)?;
    outcome?;
    let mut other = |user: &str, grants: &str| -> Result<Conn, String> {
        conn.query_drop(format!("CREATE USER {user}")).map_err(text)?;
        conn.query_drop(format!("GRANT {grants} TO {user}")).map_err(text)?;
        Conn::new(server.address.options().user(Some(user)).pass(Some(""))).map_err(text)
    };
    let mut reader = other("reader", "PROCESS, SELECT ON *.*")?;
    let mut stranger = other("stranger", "SELECT ON *.*")?;
    for statement in ["MEASURE", "APPLY"] {
        fails(&mut reader, &format!("{statement} ADVICE '{id}'"), ER_TABLE_ACCESS_DENIED)?;
        fails(&mut stranger, &format!("{statement} ADVICE '{id}'"), ER_SPECIFIC_ACCESS_DENIED)?;
    }
    expect_visible(conn, "by_code", &id, None)
}

fn killed(server: &Server, conn: &mut Conn) -> Outcome {
    let id = id_of(conn, "missing_index", "by_code")?;
    // So little of the machine that the measurement takes long.
    conn.query_drop("SET GLOBAL heddle_advice_cpu_percent = 1").map_err(text)?;
    let mut other = server.connect().map_err(text)?;
    let number: Option<u64> = other.query_first("SELECT CONNECTION_ID()").map_err(text)?;
    let statement = format!("MEASURE ADVICE '{id}'");
    let measuring = std::thread::spawn(move || fails(&mut other, &statement, ER_INTERRUPTED));
    let began = Instant::now();
    while visible(conn, "by_code", &id)?.is_none() {
        if began.elapsed() > VERDICT_WITHIN {
            return Err("the index does not come".to_owned());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    fails(conn, &format!("MEASURE ADVICE '{id}'"), ER_CANNOT_EXECUTE)?;
    conn.query_drop(format!("KILL QUERY {}", number.unwrap_or(0))).map_err(text)?;
    let outcome = measuring.join().map_err(|_| "the thread panicked".to_owned())?;
    conn.query_drop("SET GLOBAL heddle_advice_cpu_percent = DEFAULT").map_err(text)?;
    outcome?;
    expect_visible(conn, "by_code", &id, None)
}

fn measured(conn: &mut Conn) -> Outcome {
    let id = id_of(conn, "missing_index", "by_code")?;
    let row: mysql::Row = conn.query_first(format!("MEASURE ADVICE '{id}'")).map_err(text)?.ok_or("no row")?;
    let rows = |name: &str| row.get::<u64, _>(name).unwrap_or(0);
    if rows("Rows_without") < 11_000 || rows("Rows_with") > 10 || row.get::<String, _>("Helps").as_deref() != Some("YES") {
        return Err(format!("{row:?}"));
    }
    expect_visible(conn, "by_code", &id, Some("NO"))?;
    let plan: Option<String> = conn.query_first("EXPLAIN FORMAT=TREE SELECT * FROM sick.by_code WHERE code = 7").map_err(text)?;
    if !plan.as_ref().is_some_and(|plan| plan.contains("Table scan")) {
        return Err(format!("{plan:?}"));
    }
    let told: Option<(String, String, String)> =
        conn.query_first(format!("SELECT state, gain, measured FROM sys.advice WHERE id = '{id}'")).map_err(text)?;
    match told {
        Some((state, gain, measured))
            if state == "measured" && gain.starts_with("measured: ") && measured.contains("\"build_ms\"") =>
        {
            Ok(())
        }
        other => Err(format!("{other:?}")),
    }
}

/// How often the statements of a finding have run.
fn executions(conn: &mut Conn, id: &str) -> Result<u64, String> {
    let count = format!(
        "SELECT CAST(IFNULL(SUM(COUNT_STAR), 0) AS UNSIGNED) FROM performance_schema.events_statements_summary_by_digest \
         WHERE DIGEST = (SELECT digest FROM sys.advice WHERE id = '{id}')"
    );
    conn.query_first(count).map_err(text).map(Option::unwrap_or_default)
}

fn uncounted(conn: &mut Conn) -> Outcome {
    let id = id_of(conn, "missing_index", "by_code")?;
    let before = executions(conn, &id)?;
    conn.query_drop(format!("MEASURE ADVICE '{id}'")).map_err(text)?;
    let after = executions(conn, &id)?;
    if before > 0 && before == after { Ok(()) } else { Err(format!("{before}, then {after}")) }
}

/// Waits for a verdict about an applied index; the last action.
fn verdict(conn: &mut Conn, id: &str) -> Result<(String, String), String> {
    let began = Instant::now();
    loop {
        let last = format!("SELECT action, note FROM sys.advice_log WHERE id = '{id}'");
        let lines: Vec<(String, String)> = conn.query(last).map_err(text)?;
        match lines.into_iter().next_back() {
            Some((action, note)) if action != "applied" => return Ok((action, note)),
            other if began.elapsed() > VERDICT_WITHIN => return Err(format!("no verdict: {other:?}")),
            _ => std::thread::sleep(Duration::from_millis(200)),
        }
    }
}

fn run(conn: &mut Conn, statement: impl Fn(u32) -> String) -> Outcome {
    conn.query_drop("USE sick").map_err(text)?;
    (0..40).try_for_each(|n| conn.query_drop(statement(n))).map_err(text)
}

fn applied(conn: &mut Conn) -> Outcome {
    let id = id_of(conn, "missing_index", "by_code")?;
    conn.query_drop(format!("APPLY ADVICE '{id}'")).map_err(text)?;
    expect_visible(conn, "by_code", &id, Some("YES"))?;
    fails(conn, &format!("APPLY ADVICE '{id}'"), ER_CANNOT_EXECUTE)?;
    run(conn, |n| format!("SELECT * FROM by_code WHERE code = {}", n * 7))?;
    let (action, note) = verdict(conn, &id)?;
    if action != "kept" {
        return Err(format!("{action}: {note}"));
    }
    expect_visible(conn, "by_code", &id, Some("YES"))
}

/// After the index was applied all rows get the same value, so that it finds every row.
fn hidden(conn: &mut Conn) -> Outcome {
    conn.query_drop("CREATE TABLE sick.alike (id INT PRIMARY KEY, code INT NOT NULL, filler VARCHAR(60) NOT NULL)")
        .map_err(text)?;
    conn.query_drop("INSERT INTO sick.alike SELECT id, code, filler FROM sick.by_code").map_err(text)?;
    run(conn, |n| format!("SELECT * FROM alike WHERE code = {}", n * 7))?;
    let id = id_of(conn, "missing_index", "alike")?;
    conn.query_drop(format!("APPLY ADVICE '{id}'")).map_err(text)?;
    conn.query_drop("UPDATE sick.alike SET code = 7").map_err(text)?;
    run(conn, |_| "SELECT * FROM alike WHERE code = 7".to_owned())?;
    let (action, note) = verdict(conn, &id)?;
    if action != "hidden" {
        return Err(format!("{action}: {note}"));
    }
    expect_visible(conn, "alike", &id, Some("NO"))
}

fn reverted(conn: &mut Conn) -> Outcome {
    let log = "SELECT id FROM sys.advice_log WHERE action = 'hidden'";
    let id: String = conn.query_first(log).map_err(text)?.ok_or("no index was hidden")?;
    conn.query_drop(format!("REVERT ADVICE '{id}'")).map_err(text)?;
    expect_visible(conn, "alike", &id, None)?;
    fails(conn, &format!("REVERT ADVICE '{id}'"), ER_CANNOT_EXECUTE)
}

/// After a restart.
pub fn remembered(conn: &mut Conn) -> Outcome {
    let actions: Vec<String> = conn.query("SELECT DISTINCT action FROM sys.advice_log ORDER BY action").map_err(text)?;
    if actions == ["applied", "hidden", "kept", "measured", "reverted"] { Ok(()) } else { Err(format!("{actions:?}")) }
}
