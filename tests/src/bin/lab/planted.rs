//! Bottlenecks made on purpose, which the report must name.

use crate::{Outcome, array, bench, finish, measure, read};
use mysql::prelude::Queryable;
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tests::Server;

const ROW_LOCK: &str = "wait/lock/heddle/row";
const METADATA_LOCK: &str = "wait/lock/metadata/sql/mdl";

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The cause of the first curve.
fn caused(report: &Value, cause: &str) -> Outcome<String> {
    let curve = array(report, "curves").first().ok_or("no curve")?;
    let reason = curve["reason"].as_str().unwrap_or_default().to_owned();
    if curve["cause"] == cause { Ok(reason) } else { Err(format!("{}: {reason}", curve["cause"])) }
}

/// Twenty connections, and a transaction of all of them changes the same row.
pub fn hot_row(out: &Path) -> Outcome {
    let file = out.with_extension("sql");
    let statements = "-- prepare\nCREATE TABLE hot (id INT PRIMARY KEY, n INT NOT NULL);\nINSERT INTO hot VALUES (1, 0);\n-- run\n\
                      -- event\nBEGIN; UPDATE hot SET n = n + 1 WHERE id = 1; SELECT n FROM hot; COMMIT;\n";
    std::fs::write(&file, statements).map_err(text)?;
    let words = format!(
        "--workload file --file {} --connections 20 --rounds 1 --time 1 --durability none --buffer-pool 64M --without-profile",
        file.display()
    );
    let reason = caused(&measure(&words, out)?, ROW_LOCK)?;
    // With the table.
    if reason.contains("heddle_bench.hot") { Ok(()) } else { Err(reason) }
}

/// Somebody locks the table again and again while it is read.
pub fn metadata_lock(server: &Server, out: &Path) -> Outcome {
    let words = format!(
        "--heddle mysql://root@127.0.0.1:{} --workload point_select --connections 4 --tables 1 --rows 100 --rounds 1 --time 2 --ramp-up 0.2 --without-profile",
        server.address.port
    );
    let over = AtomicBool::new(false);
    let mut sql = server.connect().map_err(text)?;
    std::thread::scope(|scope| {
        let locks = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                // Until the table is there, and after it is gone, that fails.
                let _ = sql.query_drop("LOCK TABLES heddle_bench.sbtest1 WRITE");
                std::thread::sleep(Duration::from_millis(300));
                let _ = sql.query_drop("UNLOCK TABLES");
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let report = measure(&words, out);
        over.store(true, Ordering::Relaxed);
        locks.join().map_err(|_| "the thread that locks has panicked")?;
        caused(&report?, METADATA_LOCK).map(drop)
    })
}

/// Somebody asks for much and reads nothing of it.
pub fn silent_client(server: &Server, out: &Path) -> Outcome {
    let mut sql = server.connect().map_err(text)?;
    sql.query_drop("CREATE DATABASE much").map_err(text)?;
    sql.query_drop("CREATE TABLE much.t (a INT, b LONGTEXT)").map_err(text)?;
    for row in 0..40 {
        sql.query_drop(format!("INSERT INTO much.t VALUES ({row}, REPEAT('x', 1000000))")).map_err(text)?;
    }
    // 40 MB are more than sockets hold.
    let mut silent = tests::raw::Raw::logged_in(&server.address).map_err(text)?;
    silent.command(tests::raw::COM_QUERY, b"SELECT * FROM much.t").map_err(text)?;
    let words = format!(
        "--heddle mysql://root@127.0.0.1:{} --workload point_select --connections 1 --tables 1 --rows 100 --rounds 1 --time 1 --without-profile",
        server.address.port
    );
    let output = finish(&mut bench(&words, Some(out)))?;
    drop(silent);
    let report = read(out)?;
    let notes = array(&report, "notes").iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
    // What the terminal says must name it, too.
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let named = "a client that does not read its answer";
    if notes.contains(named) && told.contains(named) {
        Ok(())
    } else {
        Err(format!("{notes}; {}", report["cells"][0]["runs"][0]["waits"]))
    }
}
