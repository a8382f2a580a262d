//! Statements of unreasonable size or depth. Each must be answered: a result or an error, but an answer; the connection
//! may be closed where a packet is larger than allowed.

use crate::Bystander;
use mysql::Error;
use mysql::prelude::Queryable;
use tests::{Address, Report};

/// What a statement may come to.
#[derive(Clone, Copy, PartialEq)]
enum Answer {
    /// A result or an error of the server.
    Any,
    /// Only an error of the server.
    Refused,
    /// Only a result.
    Result,
    /// An answer, or the end of the connection.
    AnyOrClosed,
}

pub fn run(address: &Address, bystander: &mut Bystander, report: &mut Report) {
    for (name, sql, answer) in statements() {
        report.case(name, || {
            ask(address, &sql, answer)?;
            bystander.is_well()
        });
    }
    for (name, made, call) in programs() {
        report.case(name, || {
            nest(address, &made, call)?;
            bystander.is_well()
        });
    }
    report.case("10,000 prepared statements on one connection", || {
        prepare_many(address)?;
        bystander.is_well()
    });
}

fn statements() -> Vec<(&'static str, String, Answer)> {
    use Answer::{Any, AnyOrClosed, Refused, Result};
    let repeat = |piece: &str, count: usize| piece.repeat(count);
    let list = |piece: &dyn Fn(usize) -> String, count: usize| (0..count).map(piece).collect::<Vec<_>>().join(", ");
    let deep = |open: &str, close: &str, count: usize| format!("SELECT {}1{}", repeat(open, count), repeat(close, count));
    vec![
        ("10,000 nested parentheses", deep("(", ")", 10_000), Any),
        (
            "10,000 nested parentheses in WHERE",
            format!("SELECT 1 FROM abuse.t WHERE {}id = 1{}", repeat("(", 10_000), repeat(")", 10_000)),
            Any,
        ),
        ("10,000 open parentheses", format!("SELECT {}", repeat("(", 10_000)), Refused),
        ("10,000 nested calls", deep("ABS(", ")", 10_000), Any),
        ("10,000 nested CASE", deep("CASE WHEN 1 THEN ", " END", 10_000), Any),
        ("100,000 NOT", deep("NOT ", "", 100_000), Any),
        ("100,000 minus signs", deep("- ", "", 100_000), Any),
        ("100,000 additions", format!("SELECT 1{}", repeat("+1", 100_000)), Any),
        ("50,000 ANDs", format!("SELECT COUNT(*) FROM abuse.t WHERE 1{}", repeat(" AND id > -1", 50_000)), Any),
        ("50,000 ORs", format!("SELECT COUNT(*) FROM abuse.t WHERE 0{}", repeat(" OR id = 7", 50_000)), Any),
        (
            "an IN list of 100,000",
            format!("SELECT COUNT(*) FROM abuse.t WHERE id IN ({})", list(&|n| n.to_string(), 100_000)),
            Result,
        ),
        ("an IN list of 100,000 in the select list", format!("SELECT 5 IN ({})", list(&|n| n.to_string(), 100_000)), Result),
        ("10,000 nested comments", format!("SELECT 1 {} 2", repeat("/*", 10_000)), Any),
        ("an unfinished string", "SELECT 'abc".into(), Refused),
        ("an unfinished comment", "SELECT 1 /* abc".into(), Any),
        ("an unfinished name", "SELECT `abc".into(), Refused),
        ("nothing", String::new(), Refused),
        ("only spaces", "   \n\t ".into(), Refused),
        ("only semicolons", ";;;".into(), Any),
        ("control characters", "SELECT \u{1}\u{2}\u{3}".into(), Refused),
        ("a NUL in a statement", "SELECT 1\0, 2".into(), Any),
        ("4,096 columns in a result", format!("SELECT {}", list(&|n| n.to_string(), 4096)), Any),
        ("20,000 columns in a result", format!("SELECT {}", list(&|n| n.to_string(), 20_000)), Any),
        ("a table of 4,096 columns", format!("CREATE TABLE abuse.wide ({})", list(&|n| format!("c{n} INT"), 4096)), Any),
        ("a table of 5,000 columns", format!("CREATE TABLE abuse.wider ({})", list(&|n| format!("c{n} INT"), 5000)), Refused),
        ("a row longer than any", format!("CREATE TABLE abuse.long_row ({})", list(&|n| format!("c{n} CHAR(255)"), 1000)), Any),
        ("100 indexes", format!("CREATE TABLE abuse.keys (a INT, {})", list(&|n| format!("KEY k{n} (a)"), 100)), Any),
        (
            "an index of 100 columns",
            format!(
                "CREATE TABLE abuse.key ({}, KEY k ({}))",
                list(&|n| format!("c{n} INT"), 100),
                list(&|n| format!("c{n}"), 100)
            ),
            Any,
        ),
        ("a name of 65 characters", format!("CREATE TABLE abuse.{} (a INT)", repeat("n", 65)), Refused),
        ("a name of 1,000,000 characters", format!("SELECT 1 AS {}", repeat("n", 1_000_000)), Any),
        ("a column that is a megabyte of text", format!("SELECT '{}'", repeat("x", 1 << 20)), Result),
        (
            "an INSERT of 50,000 rows",
            format!("INSERT INTO abuse.t (id, v) VALUES {}", list(&|n| format!("({}, 0)", n + 1_000_000), 50_000)),
            Result,
        ),
        ("a decimal of 100,000 digits", format!("SELECT {}", repeat("9", 100_000)), Any),
        ("a fraction of 100,000 digits", format!("SELECT 0.{}", repeat("3", 100_000)), Any),
        ("a hexadecimal of 1,000,001 digits", format!("SELECT LENGTH(0x{})", repeat("a", 1_000_001)), Any),
        ("a LIKE that backtracks", format!("SELECT '{}' LIKE '{}b'", repeat("a", 2000), repeat("%a", 20)), Any),
        ("REPEAT of two thousand million", "SELECT LENGTH(REPEAT('x', 2000000000))".into(), Any),
        ("LPAD of two thousand million", "SELECT LENGTH(LPAD('x', 2000000000, 'y'))".into(), Any),
        ("SPACE of the largest integer", "SELECT LENGTH(SPACE(9223372036854775807))".into(), Any),
        ("a LIMIT beyond all", "SELECT id FROM abuse.t LIMIT 18446744073709551615, 18446744073709551615".into(), Result),
        ("a LIMIT beyond 64 bits", "SELECT id FROM abuse.t LIMIT 99999999999999999999999".into(), Any),
        (
            "dates beyond all",
            "SELECT DATE_ADD('9999-12-31', INTERVAL 9223372036854775807 YEAR), FROM_DAYS(9223372036854775807)".into(),
            Any,
        ),
        (
            "ROUND to two thousand million places",
            "SELECT ROUND(1.5, 2000000000), ROUND(1.5, -2000000000), TRUNCATE(1e300, -9223372036854775808)".into(),
            Any,
        ),
        (
            "a join of 61 tables",
            format!(
                "SELECT COUNT(*) FROM {} WHERE t0.id = 1",
                (0..61)
                    .map(|n| if n == 0 { "abuse.t t0".into() } else { format!(" JOIN abuse.t t{n} ON t{n}.id = t0.id") })
                    .collect::<String>()
            ),
            Any,
        ),
        (
            "a join of 70 tables",
            format!(
                "SELECT COUNT(*) FROM {} WHERE t0.id = 1",
                (0..70)
                    .map(|n| if n == 0 { "abuse.t t0".into() } else { format!(" JOIN abuse.t t{n} ON t{n}.id = t0.id") })
                    .collect::<String>()
            ),
            Any,
        ),
        ("a literal of 64 MiB", format!("SELECT LENGTH('{}')", repeat("x", 64 << 20)), AnyOrClosed),
        ("a literal of 63 MiB", format!("SELECT LENGTH('{}')", repeat("x", 63 << 20)), AnyOrClosed),
    ]
}

fn ask(address: &Address, sql: &str, wanted: Answer) -> Result<(), String> {
    let mut conn = address.connect().map_err(|e| format!("connecting: {e}"))?;
    let refused = match conn.query_drop(sql) {
        Ok(()) => false,
        Err(Error::MySqlError(_)) => true,
        Err(_) if wanted == Answer::AnyOrClosed => return Ok(()),
        Err(e) => return Err(format!("no answer: {e}")),
    };
    match (wanted, refused) {
        (Answer::Refused, false) => Err("was not refused".into()),
        (Answer::Result, true) => Err("was refused".into()),
        (Answer::AnyOrClosed, _) => Ok(()),
        _ => conn.query_drop("SELECT 1").map_err(|e| format!("the connection afterwards: {e}")),
    }
}

/// Programs that call each other as deep as they may, each with an expression that is nested, too: what makes them, and what calls the first.
fn programs() -> Vec<(&'static str, Vec<String>, &'static str)> {
    const LEVELS: usize = 64;
    let deep = |inner: &str| format!("{}{inner}{}", "-(IF(1, ".repeat(45), ", 0))".repeat(45));
    let fresh = || {
        vec![
            "DROP DATABASE IF EXISTS abuse_programs".into(),
            "CREATE DATABASE abuse_programs".into(),
            "USE abuse_programs".into(),
        ]
    };
    let mut recursion = fresh();
    recursion.push("SET max_sp_recursion_depth = 255".into());
    recursion.push(format!(
        "CREATE PROCEDURE p (n INT) BEGIN DECLARE x INT; IF n > 0 THEN BEGIN SET x = {}; CALL p(n - 1); END; END IF; END",
        deep("n")
    ));
    let mut functions = fresh();
    functions.extend((0..LEVELS).map(|n| {
        let inner = if n == 0 { "1".into() } else { format!("f{}()", n - 1) };
        format!("CREATE FUNCTION f{n} () RETURNS INT DETERMINISTIC RETURN {}", deep(&inner))
    }));
    let mut triggers = fresh();
    triggers.extend((0..=LEVELS).map(|n| format!("CREATE TABLE t{n} (a INT)")));
    triggers.extend((0..LEVELS).map(|n| {
        let value = deep("NEW.a");
        format!("CREATE TRIGGER g{n} BEFORE INSERT ON t{n} FOR EACH ROW INSERT INTO t{} VALUES ({value})", n + 1)
    }));
    vec![
        ("a procedure that calls itself 255 times", recursion, "CALL p(255)"),
        ("64 functions within each other", functions, "SELECT f63()"),
        ("64 triggers that fire each other", triggers, "INSERT INTO t0 VALUES (1)"),
    ]
}

fn nest(address: &Address, made: &[String], call: &str) -> Result<(), String> {
    let mut conn = address.connect().map_err(|e| format!("connecting: {e}"))?;
    let mut all = made.iter().map(String::as_str).chain([call, "DROP DATABASE abuse_programs"]);
    all.try_for_each(|sql| conn.query_drop(sql).map_err(|e| format!("{sql:.60}: {e}")))
}

fn prepare_many(address: &Address) -> Result<(), String> {
    let options = address.options().stmt_cache_size(Some(0_usize));
    let mut conn = mysql::Conn::new(options).map_err(|e| e.to_string())?;
    for n in 0..10_000 {
        match conn.prep(format!("SELECT {n} + ?")) {
            Ok(_) => {}
            Err(Error::MySqlError(e)) if e.code == 1461 => return Ok(()),
            Err(e) => return Err(format!("statement {n}: {e}")),
        }
    }
    let sum: Option<u32> = conn.exec_first("SELECT 2 + ?", (3,)).map_err(|e| e.to_string())?;
    if sum == Some(5) { Ok(()) } else { Err(format!("2 + 3 = {sum:?}")) }
}
