//! Statements that want more disk than there is. The server's files may not grow beyond a limit of the system (`RLIMIT_FSIZE`), so that it is the
//! kernel that refuses a write.
//!
//! 1. Sorts, groups, joins, windows and an INSERT ... SELECT write more temporary rows than a file may have: error 1021.
//! 2. After each the server has given its temporary files back, and a smaller statement of the same kind answers.
//! 3. The rows are as they were, new ones are taken, and the server stops in good order.
//! 4. Rows are inserted until the data file is full (1114). Rows can be deleted then, also after a kill, and others take their place.

use super::{Outcome, said, text};
use mysql::Conn;
use mysql::prelude::Queryable;
use std::path::Path;
use std::time::{Duration, Instant};
use tests::{Report, Server, ServerOptions};

/// What one file may have. Segments of the log, and the data, have less.
const FILE_BYTES_MAX: u64 = 64 << 20;
const ROWS: u32 = 8_000;
/// Copies of each row that a statement makes, so that they have no room.
const COPIES: u32 = 30;
/// 1021: the disk is full
const DISK_FULL: u16 = 1021;

/// A statement over `{n}` copies of all rows, by the operator that keeps them.
const STATEMENTS: &[(&str, &str)] = &[
    ("a sort", "SELECT t.id, n.n FROM t, n WHERE n.n < {n} ORDER BY CONCAT(t.pad, n.n), t.id"),
    (
        "groups",
        "SELECT COUNT(*) FROM (SELECT t.pad, n.n, COUNT(*) AS c FROM t, n WHERE n.n < {n} GROUP BY CONCAT(n.n, t.pad), t.pad, n.n) AS g",
    ),
    (
        "distinct rows",
        "SELECT COUNT(*) FROM (SELECT DISTINCT CONCAT(n.n, t.pad), CONCAT(t.pad, n.n) FROM t, n WHERE n.n < {n}) AS d",
    ),
    (
        "a hash join",
        "SELECT COUNT(*) FROM (SELECT id, pad, n FROM t, n WHERE n < {n} UNION ALL SELECT 0, '', 0) AS a \
         JOIN (SELECT id, pad, n FROM t, n WHERE n < {n} UNION ALL SELECT 0, '', 0) AS b ON a.id = b.id AND a.n = b.n AND a.pad <=> b.pad",
    ),
    (
        "a window",
        "SELECT MAX(m) FROM (SELECT COUNT(t.pad) OVER (ORDER BY CONCAT(n.n, t.pad)) AS m FROM t, n WHERE n.n < {n}) AS w",
    ),
    (
        "a derived table",
        "SELECT COUNT(*) FROM (SELECT t.pad, n.n FROM t, n WHERE n.n < {n} UNION ALL SELECT '', 0) AS a, (SELECT 1 UNION SELECT 2) AS b",
    ),
];

pub fn run(directory: &Path, report: &mut Report) -> Outcome {
    let options = ServerOptions { file_bytes_max: Some(FILE_BYTES_MAX), ..ServerOptions::new(directory.join("full")) };
    let mut server = Server::start(&options)?;
    let mut conn = said(server.connect())?;
    report.case("rows before the disk is full", || load(&mut conn));
    for (what, sql) in STATEMENTS {
        report.case(&format!("{what} without room"), || refused(&mut conn, &server, sql));
        report.case(&format!("{what} with room"), || said(conn.query_drop(sql.replace("{n}", "2"))));
    }
    report.case("an INSERT without room", || {
        refused(
            &mut conn,
            &server,
            "INSERT INTO u SELECT t.id * 100 + n.n, t.pad FROM t, n WHERE n.n < {n} ORDER BY CONCAT(n.n, t.pad)",
        )?;
        expect(&mut conn, "SELECT COUNT(*) FROM u", 0)
    });
    report.case("rows are as they were, and new ones come", || {
        expect(&mut conn, "SELECT COUNT(*) FROM t", ROWS)?;
        said(conn.query_drop("INSERT INTO u SELECT id, pad FROM t WHERE id < 100"))?;
        expect(&mut conn, "SELECT COUNT(*) FROM u", 100)
    });
    if let Some(end) = server.ended() {
        return Err(format!("the server ended: {end}"));
    }
    report.case("stops well after a full disk", || server.stop());
    full_table(directory, report)
}

/// 1114: the table is full
const TABLE_FULL: u16 = 1114;

fn full_table(directory: &Path, report: &mut Report) -> Outcome {
    // Full durability: what was answered before the kill must be there afterwards.
    let options = ServerOptions {
        file_bytes_max: Some(FILE_BYTES_MAX),
        durability: "full".into(),
        ..ServerOptions::new(directory.join("full-table"))
    };
    let server = Server::start(&options)?;
    let mut conn = said(server.connect())?;
    let mut rows = 0;
    report.case("rows until the data file is full", || {
        rows = fill(&mut conn)?;
        if rows > 10_000 { Ok(()) } else { Err(format!("{rows} rows")) }
    });
    // Entries of the indexes become larger where they are deleted: their pages are full, and split.
    report.case("rows deleted from a full data file", || {
        said(conn.query_drop("DELETE FROM f WHERE id % 5 = 3"))?;
        expect(&mut conn, "SELECT COUNT(*) FROM f WHERE id % 5 = 3", 0)
    });
    server.kill();
    let server = Server::start(&options)?;
    let mut conn = said(server.connect())?;
    report.case("rows deleted after a kill", || {
        said(conn.query_drop("USE larger"))?;
        expect(&mut conn, "SELECT COUNT(*) FROM f WHERE id % 5 = 3", 0)?;
        said(conn.query_drop("DELETE FROM f WHERE a < 30000"))?;
        expect(&mut conn, "SELECT COUNT(*) FROM f FORCE INDEX (a) WHERE a < 30000", 0)?;
        said(conn.query_drop("DELETE FROM f WHERE id % 2 = 0"))
    });
    report.case("rows in the place of the deleted ones", || {
        let until = Instant::now() + Duration::from_secs(20);
        // Purge gives pages back when no snapshot needs the rows.
        while let Err(error) = conn.query_drop("INSERT INTO f SELECT NULL, a, b, pad FROM f LIMIT 1000") {
            if Instant::now() > until {
                return Err(error.to_string());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    });
    report.case("stops well after a full data file", || server.stop());
    Ok(())
}

/// Inserts rows until there is no room; how many.
fn fill(conn: &mut Conn) -> Result<u32, String> {
    for sql in [
        "CREATE DATABASE larger",
        "USE larger",
        "CREATE TABLE f (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, a INT NOT NULL, b VARCHAR(200) NOT NULL, pad TEXT NOT NULL, KEY (a), KEY (b))",
    ] {
        said(conn.query_drop(sql))?;
    }
    let mut rows = 0;
    loop {
        let row = |n: u32| format!("({}, '{}', '{}')", n.wrapping_mul(7_919) % 100_000, &text(n, 0)[..150], text(n, 1));
        let list: Vec<String> = (rows..rows + 500).map(row).collect();
        match conn.query_drop(format!("INSERT INTO f (a, b, pad) VALUES {}", list.join(", "))) {
            Ok(()) => rows += 500,
            Err(mysql::Error::MySqlError(error)) if error.code == TABLE_FULL => return Ok(rows),
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn load(conn: &mut Conn) -> Outcome {
    for sql in [
        "CREATE DATABASE larger",
        "USE larger",
        "SET SESSION heddle_statement_memory = 1048576",
        "CREATE TABLE t (id INT UNSIGNED PRIMARY KEY, pad VARCHAR(500) NOT NULL)",
        "CREATE TABLE u LIKE t",
        "CREATE TABLE n (n INT UNSIGNED PRIMARY KEY)",
    ] {
        said(conn.query_drop(sql))?;
    }
    let list = |rows: Vec<String>| rows.join(", ");
    said(conn.query_drop(format!("INSERT INTO n VALUES {}", list((0..COPIES).map(|n| format!("({n})")).collect()))))?;
    for first in (0..ROWS).step_by(1000) {
        let rows = (first..first + 1000).map(|id| format!("({id}, '{}')", text(id, 0))).collect();
        said(conn.query_drop(format!("INSERT INTO t VALUES {}", list(rows))))?;
    }
    Ok(())
}

fn expect(conn: &mut Conn, sql: &str, wanted: u32) -> Outcome {
    let found: Option<u32> = said(conn.query_first(sql))?;
    if found == Some(wanted) { Ok(()) } else { Err(format!("{sql}: {found:?} instead of {wanted}")) }
}

/// The statement ends with 1021, and its temporary files are gone.
fn refused(conn: &mut Conn, server: &Server, sql: &str) -> Outcome {
    match conn.query_drop(sql.replace("{n}", &COPIES.to_string())) {
        Err(mysql::Error::MySqlError(error)) if error.code == DISK_FULL => {}
        other => return Err(format!("{other:?} instead of error {DISK_FULL}")),
    }
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let left = temporary_files(server.pid()).map_err(|e| e.to_string())?;
        if left == 0 {
            return Ok(());
        }
        if Instant::now() > until {
            return Err(format!("{left} temporary files are left"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Temporary files that a process has open: they have no name.
fn temporary_files(pid: u32) -> std::io::Result<usize> {
    let mut count = 0;
    for entry in std::fs::read_dir(format!("/proc/{pid}/fd"))? {
        // One may be closed meanwhile.
        let Ok(target) = std::fs::read_link(entry?.path()) else { continue };
        count += usize::from(target.to_string_lossy().contains("/temporary/"));
    }
    Ok(count)
}
