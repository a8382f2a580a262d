//! A data directory that goes from a server for this machine to one for another (run under an emulator), and back.
//!
//! 1. The native server makes tables of every type and index, changes them, and is asked a list of questions.
//! 2. It is killed, so that part of the data is in the log alone; the other server recovers it, and must answer everything the same.
//! 3. The other server makes its own tables with the same statements, and changes the tables of the first. It is queried, and killed.
//! 4. The native server recovers that, must answer the same again, and is stopped in order.
//! 5. `heddle check` of both machines finds no damage, and the other server starts once more on the directory.
//!
//! M1: every question has an ORDER BY or one row, so equal data gives equal text.

use clap::Parser;
use mysql::prelude::Queryable;
use mysql::{Conn, Params, Row, Value};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;
use tests::{Address, Report, Server, ServerOptions};

#[derive(Parser)]
#[command(about = "Moves a data directory between this machine's server and another's")]
struct Arguments {
    /// The server for the other machine: a program that takes heddle's arguments
    #[arg(long)]
    other: PathBuf,
    /// What to call the other machine
    #[arg(long, default_value = "other")]
    name: String,
    #[arg(long, default_value_t = 4_000)]
    rows: u32,
}

type Outcome<T = ()> = Result<T, String>;

/// One table with a column of each type, so that the row format is there as a whole.
const EVERY_TYPE: &str = "CREATE TABLE every_type (id INT PRIMARY KEY, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d INT UNSIGNED, \
    e BIGINT, f BIGINT UNSIGNED, g DECIMAL(30,10), h FLOAT, i DOUBLE, j DATE, k TIME(3), l DATETIME(6), m TIMESTAMP(6) NULL, n YEAR, \
    o CHAR(10), p VARCHAR(200), q VARCHAR(200) COLLATE utf8mb4_bin, r BINARY(8), s VARBINARY(40), t TEXT, u LONGBLOB, v BIT(40), \
    w ENUM('north','east','south'), x SET('red','green','blue'), y JSON, \
    KEY by_e (e), KEY by_g (g), KEY by_i (i), KEY by_k (k), KEY by_l (l, w), KEY by_p (p), KEY by_s (s, f), UNIQUE KEY by_f (f))";

/// A table whose columns change while its rows stay.
const AGED: &str = "CREATE TABLE aged (id INT PRIMARY KEY, size BIGINT, word VARCHAR(1000), large LONGBLOB, \
    way ENUM('north','east','south'), number SMALLINT, KEY by_size (size))";

const NAMES: &[&str] = &["Ada", "Émile", "zoë", "ZOE", "ß", "Ωmega", "naïve", "한국", "🧵 thread", "", "  padded", "İstanbul"];

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    let directory = std::env::temp_dir().join(format!("heddle-machines-{}", std::process::id()));
    if let Err(why) = run(&arguments, &directory, &mut report) {
        report.fail("machines", why);
    }
    if report.failed == 0 {
        let _ = std::fs::remove_dir_all(&directory);
    } else {
        println!("     what it left: {}", directory.display());
    }
    report.finish()
}

fn run(arguments: &Arguments, directory: &Path, report: &mut Report) -> Outcome {
    let here = ServerOptions { durability: "full".into(), buffer_pool: "32M".into(), ..ServerOptions::new(directory) };
    let other = ServerOptions { binary: arguments.other.clone(), ..here.clone() };
    let name = &arguments.name;

    let server = Server::start(&here)?;
    report.case("the native server makes the data", || make(&server.address, "here", arguments.rows));
    let before = answers(&server.address, &["here"])?;
    server.kill();

    let server = Server::start(&other)?;
    report.case(&format!("{name} recovers it and answers the same"), || same(&before, &answers(&server.address, &["here"])?));
    report.case(&format!("{name} makes the same data"), || {
        make(&server.address, "there", arguments.rows)?;
        same(&before.replace("here.", "there."), &answers(&server.address, &["there"])?)
    });
    report.case(&format!("{name} changes what the native server wrote"), || change(&server.address, "here"));
    let before = answers(&server.address, &["here", "there"])?;
    server.kill();

    let server = Server::start(&here)?;
    report.case("the native server recovers that and answers the same", || {
        same(&before, &answers(&server.address, &["here", "there"])?)
    });
    report.case("the native server stops in order", || server.stop());
    report.case("the native check finds no damage", || check(&here));
    report.case(&format!("the check of {name} finds no damage"), || check(&other));

    let server = Server::start(&other)?;
    report.case(&format!("{name} starts on checkpointed pages and answers the same"), || {
        same(&before, &answers(&server.address, &["here", "there"])?)
    });
    report.case(&format!("{name} stops in order"), || server.stop());
    report.case("the native check finds no damage again", || check(&here));
    Ok(())
}

fn said<T>(result: mysql::Result<T>) -> Outcome<T> {
    result.map_err(|e| e.to_string())
}

/// An emulated server is slow.
fn connect(address: &Address) -> Outcome<Conn> {
    said(Conn::new(address.options().read_timeout(Some(Duration::from_secs(300)))))
}

/// Makes the tables of one database through both protocols, and changes some of their rows.
fn make(address: &Address, database: &str, rows: u32) -> Outcome {
    let mut conn = connect(address)?;
    said(conn.query_drop(format!("CREATE DATABASE {database}")))?;
    said(conn.query_drop(format!("USE {database}")))?;
    said(conn.query_drop("SET time_zone = '+00:00'"))?;
    said(conn.query_drop(EVERY_TYPE))?;
    said(conn.query_drop(
        "CREATE TABLE many (place VARCHAR(20) NOT NULL, number INT UNSIGNED NOT NULL, size BIGINT NOT NULL, note VARCHAR(120), \
         PRIMARY KEY (place, number), KEY by_size (size), KEY by_note (note, size))",
    ))?;
    said(conn.query_drop("CREATE TABLE counted (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, word VARCHAR(30))"))?;
    let mut insert = said(conn.prep(format!("INSERT INTO every_type VALUES ({})", vec!["?"; 26].join(", "))))?;
    said(conn.query_drop("BEGIN"))?;
    for id in 0..200 {
        said(conn.exec_drop(&insert, Params::Positional(one_of_every_type(id))))?;
    }
    said(conn.query_drop("COMMIT"))?;
    for first in (0..rows).step_by(250) {
        let tuples: Vec<String> = (first..rows.min(first + 250)).map(tuple).collect();
        said(conn.query_drop(format!("INSERT INTO many VALUES {}", tuples.join(", "))))?;
    }
    said(conn.query_drop(AGED))?;
    said(conn.query_drop("INSERT INTO aged SELECT id, e, p, u, w, id FROM every_type"))?;
    insert = said(conn.prep("INSERT INTO counted (word) VALUES (?)"))?;
    for name in NAMES {
        said(conn.exec_drop(&insert, (name,)))?;
    }
    change(address, database)
}

/// Changes, deletions, a rollback.
fn change(address: &Address, database: &str) -> Outcome {
    let mut conn = connect(address)?;
    said(conn.query_drop(format!("USE {database}")))?;
    for sql in [
        "UPDATE many SET size = size * 3 - 1, note = CONCAT(COALESCE(note, ''), '+') WHERE number % 7 = 3",
        "DELETE FROM many WHERE number % 11 = 5",
        "UPDATE every_type SET g = g / 3, i = i * 1.1, u = CONCAT(u, REPEAT('x', 9000)) WHERE id % 9 = 4",
        "DELETE FROM every_type WHERE id % 13 = 6",
        "INSERT INTO counted (word) VALUES ('another')",
        // Rows of several ages: columns come, go and move, and rows stay as they were written.
        "ALTER TABLE aged DROP COLUMN word, ADD COLUMN word VARCHAR(30) DEFAULT 'later' FIRST, \
         ADD COLUMN passing BIGINT NOT NULL DEFAULT -77 AFTER id, ALGORITHM=INSTANT",
        "UPDATE aged SET word = CONCAT('new ', id), size = size + 1 WHERE id % 3 = 1",
        "INSERT INTO aged (id, size, word, number) SELECT MAX(id) + 1, 5, 'last', 6 FROM aged",
        "ALTER TABLE aged DROP COLUMN passing, MODIFY COLUMN number SMALLINT FIRST, ALGORITHM=INSTANT",
        "UPDATE aged SET number = number + 1, large = NULL WHERE id % 10 = 0",
        "BEGIN",
        "UPDATE many SET size = 0",
        "ROLLBACK",
    ] {
        said(conn.query_drop(sql)).map_err(|why| format!("{sql}: {why}"))?;
    }
    Ok(())
}

fn one_of_every_type(id: i64) -> Vec<Value> {
    if id % 20 == 19 {
        let mut values = vec![Value::NULL; 26];
        values[0] = id.into();
        return values;
    }
    let mixed = (id as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let name = NAMES[id as usize % NAMES.len()];
    let date = format!("{}-{:02}-{:02}", 1000 + mixed % 8999, 1 + mixed % 12, 1 + mixed % 28);
    let clock = format!("{:02}:{:02}:{:02}.{:06}", mixed % 24, mixed % 60, mixed % 59, mixed % 1_000_000);
    vec![
        id.into(),
        (mixed as i8).into(),
        (mixed as u16).into(),
        (mixed as i32 >> 8).into(),
        (mixed as u32).into(),
        (mixed as i64).into(),
        mixed.into(),
        format!("{}{}.{:010}", if id % 2 == 0 { "-" } else { "" }, mixed >> 8, mixed % 10_000_000_000).into(),
        (mixed as i32 as f32 / 77.0).into(),
        (mixed as i64 as f64 / 1e7).into(),
        date.clone().into(),
        format!("{}{}:{:02}:{:02}.{:03}", if id % 3 == 0 { "-" } else { "" }, mixed % 838, mixed % 60, mixed % 59, mixed % 1000)
            .into(),
        format!("{date} {clock}").into(),
        format!("{}-{:02}-{:02} {clock}", 1971 + mixed % 60, 1 + mixed % 12, 1 + mixed % 28).into(),
        (1901 + mixed % 250).into(),
        name.chars().take(10).collect::<String>().into(),
        name.repeat(1 + id as usize % 5).into(),
        format!("{name}{id}").into(),
        mixed.to_be_bytes().to_vec().into(),
        mixed.to_be_bytes().repeat(id as usize % 5).into(),
        name.repeat(id as usize).into(),
        mixed.to_be_bytes().repeat(if id % 10 == 0 { 5_000 } else { id as usize }).into(),
        (mixed & 0xff_ffff_ffff).to_be_bytes()[3..].to_vec().into(),
        ["north", "east", "south"][id as usize % 3].into(),
        ["", "red", "green,blue", "red,green,blue"][id as usize % 4].into(),
        format!("{{\"id\": {id}, \"name\": \"{name}\", \"list\": [1, 2.5, null, true]}}").into(),
    ]
}

fn tuple(number: u32) -> String {
    let mixed = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let name = NAMES[number as usize % NAMES.len()];
    let note = if number.is_multiple_of(9) { "NULL".into() } else { format!("'{name} {:x}'", mixed >> 40) };
    format!("('{}{}', {number}, {}, {note})", name, number % 5, mixed as i64 >> 20)
}

/// What is asked of each database, as text and as a prepared statement.
const QUESTIONS: &[&str] = &[
    "SELECT * FROM @.every_type ORDER BY id",
    "SELECT id, e FROM @.every_type FORCE INDEX (by_e) WHERE e > -4000000000000000000 ORDER BY e, id",
    "SELECT id, f FROM @.every_type FORCE INDEX (by_f) WHERE f > 9000000000000000000 ORDER BY f",
    "SELECT id, g FROM @.every_type FORCE INDEX (by_g) WHERE g BETWEEN -50000000000000000 AND 50000000000000000 ORDER BY g, id",
    "SELECT id, i FROM @.every_type FORCE INDEX (by_i) WHERE i < 123456.5 ORDER BY i, id",
    "SELECT id, k FROM @.every_type FORCE INDEX (by_k) WHERE k >= '-100:00:00' ORDER BY k, id",
    "SELECT id, l, w FROM @.every_type FORCE INDEX (by_l) WHERE l > '2000-01-01' ORDER BY l, w, id",
    "SELECT id, p FROM @.every_type FORCE INDEX (by_p) WHERE p >= 'a' ORDER BY p, id",
    "SELECT id, HEX(s), f FROM @.every_type FORCE INDEX (by_s) WHERE s > x'40' ORDER BY s, f, id",
    "SELECT id, MD5(u), LENGTH(u), CRC32(t), SHA2(CONCAT_WS('|', o, p, q, r, s), 256) FROM @.every_type ORDER BY id",
    "SELECT w, COUNT(*), SUM(g), AVG(e), MIN(l), MAX(k), SUM(x + 0), BIT_XOR(f) FROM @.every_type GROUP BY w ORDER BY w",
    "SELECT id, y->'$.name', JSON_EXTRACT(y, '$.list[1]') FROM @.every_type ORDER BY id",
    "SELECT COUNT(*), SUM(size), MIN(note), MAX(note), SUM(CRC32(note)) FROM @.many",
    "SELECT place, number, size, note FROM @.many WHERE place > 'n' ORDER BY place, number",
    "SELECT place, COUNT(*), SUM(size), AVG(number) FROM @.many GROUP BY place ORDER BY place",
    "SELECT size, number FROM @.many FORCE INDEX (by_size) WHERE size < 0 ORDER BY size DESC, number LIMIT 500",
    "SELECT note, size, number FROM @.many FORCE INDEX (by_note) WHERE note >= 'na' ORDER BY note, size, number LIMIT 500",
    "SELECT a.number, b.id FROM @.many a JOIN @.every_type b ON a.number = b.id WHERE b.a > 0 ORDER BY a.number",
    "SELECT DISTINCT note FROM @.many ORDER BY note LIMIT 300",
    "SELECT * FROM @.counted ORDER BY id",
    "SHOW CREATE TABLE @.every_type",
    "SELECT id, size, word, way, number, MD5(large), LENGTH(large) FROM @.aged ORDER BY id",
    "SELECT id, size FROM @.aged FORCE INDEX (by_size) WHERE size > 0 ORDER BY size, id",
    "SHOW CREATE TABLE @.aged",
];

/// The answers of all questions as one text.
fn answers(address: &Address, databases: &[&str]) -> Outcome<String> {
    let mut conn = connect(address)?;
    said(conn.query_drop("SET time_zone = '+00:00'"))?;
    let mut text = String::new();
    for database in databases {
        for question in QUESTIONS {
            let sql = question.replace('@', database);
            let rows: Vec<Row> = said(conn.query(&sql)).map_err(|why| format!("{sql}: {why}"))?;
            put(&mut text, &sql, rows);
            if sql.starts_with("SELECT") {
                let rows: Vec<Row> = said(conn.exec(&sql, ())).map_err(|why| format!("{sql}, prepared: {why}"))?;
                put(&mut text, &format!("prepared {sql}"), rows);
            }
        }
    }
    // Nothing found is the same everywhere, too.
    if text.lines().count() < 2_000 { Err(format!("few answers: {text}")) } else { Ok(text) }
}

fn put(text: &mut String, title: &str, rows: Vec<Row>) {
    let _ = writeln!(text, "{title}");
    for row in rows {
        let _ = writeln!(text, "    {:?}", row.unwrap());
    }
}

/// The first line that differs, when one does.
fn same(expected: &str, found: &str) -> Outcome {
    if expected == found {
        return Ok(());
    }
    let mut question = "";
    for (left, right) in expected.lines().zip(found.lines()) {
        if !left.starts_with("    ") {
            question = left;
        }
        if left != right {
            let at = left.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count().saturating_sub(30);
            let near = |line: &str| {
                String::from_utf8_lossy(line.as_bytes().get(at..).unwrap_or_default()).chars().take(120).collect::<String>()
            };
            return Err(format!("{question}: expected ...{}, found ...{}", near(left), near(right)));
        }
    }
    Err(format!("{} lines expected, {} found", expected.lines().count(), found.lines().count()))
}

fn check(options: &ServerOptions) -> Outcome {
    let output =
        Command::new(&options.binary).arg("check").arg(options.directory.join("data")).output().map_err(|e| e.to_string())?;
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() && text.contains("no damage found") { Ok(()) } else { Err(text) }
}
