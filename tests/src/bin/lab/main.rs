//! `heddle bench` against real servers, for some seconds.
//!
//! 1. A run of several workloads: every cell is there, statements and rows are in their proportions, the data is what it must be, the page opens in
//!    Chromium without an error and without the network (where chromedriver is installed).
//! 2. Ctrl-C leaves a whole report of what was measured, no server and no directory; so does SIGKILL, but for the directory.
//! 3. Planted bottlenecks are named: one hot row, a metadata lock, a client that does not read.
//! 4. Open loop: events that wait for a busy server have the time that they wait in their latency.
//! 5. What is wrong is named; somebody's database is left alone; two reports are compared.

mod planted;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};
use tests::webdriver::Driver;
use tests::{Report, Server, ServerOptions};

pub type Outcome<T = ()> = Result<T, String>;

/// How long a run that was interrupted may take to end, and to begin.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let mut report = Report::new();
    let directory = std::env::temp_dir().join(format!("heddle-lab-{}", std::process::id()));
    if let Err(why) = run(&directory, &mut report) {
        report.fail("lab", why);
    }
    match report.failed {
        0 => drop(std::fs::remove_dir_all(&directory)),
        _ => println!("     what it left: {}", directory.display()),
    }
    report.finish()
}

fn run(directory: &Path, report: &mut Report) -> Outcome {
    std::fs::create_dir_all(directory).map_err(|error| error.to_string())?;
    let whole = directory.join("whole");
    report.case("several workloads", || workloads(&whole));
    report.case("bulk inserts", || bulk(&directory.join("bulk")));
    report.case("the page needs nothing", || page(&whole));
    if Command::new("chromedriver").arg("--version").stdout(Stdio::null()).status().is_ok() {
        report.case("the page in Chromium", || browser(directory, &whole));
    } else {
        println!("     skipped: the page in Chromium (chromedriver is not installed)");
    }
    report.case("two reports are compared", || compare(&whole));
    report.case("TPC-C", || tpcc(&directory.join("tpcc")));
    report.case("Ctrl-C leaves a report", || interrupted(directory, &directory.join("interrupted"), "-INT"));
    report.case("SIGKILL leaves a report", || interrupted(directory, &directory.join("killed"), "-KILL"));
    report.case("a hot row is named", || planted::hot_row(&directory.join("hot")));
    let server = Server::start(&ServerOptions::new(directory.join("server")))?;
    report.case("a metadata lock is named", || planted::metadata_lock(&server, &directory.join("metadata")));
    report.case("a client that does not read is named", || planted::silent_client(&server, &directory.join("silent")));
    report.case("waiting events are charged", || open_loop(&directory.join("open")));
    report.case("what is wrong is named", || wrong(&server, directory));
    server.stop()
}

/// The server under test.
pub fn heddle() -> PathBuf {
    ServerOptions::new("").binary
}

/// `heddle bench` with these words.
pub fn bench(words: &str, out: Option<&Path>) -> Command {
    let mut command = Command::new(heddle());
    command.arg("bench").args(words.split_whitespace()).stdin(Stdio::null());
    if let Some(out) = out {
        command.arg("--out").arg(out);
    }
    command
}

pub fn finish(command: &mut Command) -> Outcome<Output> {
    command.output().map_err(|error| format!("{command:?}: {error}"))
}

/// Runs it; it must end well. The JSON that it leaves.
pub fn measure(words: &str, out: &Path) -> Outcome<Value> {
    let output = finish(&mut bench(words, Some(out)))?;
    if !output.status.success() {
        return Err(format!("{words}: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)));
    }
    read(out)
}

pub fn read(out: &Path) -> Outcome<Value> {
    let path = out.with_extension("json");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

pub fn array<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// All runs with their workload.
fn runs(report: &Value) -> impl Iterator<Item = (&str, &Value)> {
    array(report, "cells")
        .iter()
        .flat_map(|cell| array(cell, "runs").iter().map(|run| (cell["workload"].as_str().unwrap_or_default(), run)))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn workloads(out: &Path) -> Outcome {
    let file = out.with_extension("sql");
    let text = "-- prepare\nCREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL);\nINSERT INTO t VALUES (1, 0), (2, 0), (3, 0);\n-- run\n\
                SELECT n FROM t WHERE id = {1..3};\n-- event\nBEGIN; UPDATE t SET n = n + 1 WHERE id = {1..3}; COMMIT;\n";
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let all = "point_select,read_write,insert,select_random_points,ycsb_a,ycsb_e,pages,file";
    let words = format!(
        "--workload {all} --connections 1,2,3,4 --rounds 2 --time 0.25 --ramp-up 0.1 --rows 400 --tables 2 --buffer-pool 64M --durability none --file {}",
        file.display()
    );
    let report = measure(&words, out)?;
    if report["state"] != "complete" {
        return Err(format!("state {}", report["state"]));
    }
    let cells = array(&report, "cells");
    if cells.len() != 8 * 4 || cells.iter().any(|cell| array(cell, "runs").len() != 2) {
        return Err(format!("{} cells", cells.len()));
    }
    for (workload, run) in runs(&report) {
        let calls = |label: &str| number(&run["statements"][label]["calls"]);
        let (queries, rows, events) = (number(&run["queries"]), number(&run["rows"]), number(&run["events"]));
        let told = || format!("{workload}: {queries} queries, {events} events, {rows} rows, {}", run["statements"]);
        let fits = match workload {
            // One row each; all keys exist.
            "point_select" => rows == queries && events == queries,
            // Ten point selects in each transaction, but for those at the edges of the time.
            "read_write" => (calls("point select") - 10.0 * calls("begin")).abs() <= 10.0 * 4.0 + 1.0 && calls("commit") > 0.0,
            "ycsb_a" => rows == calls("read") && (calls("update") / queries - 0.5).abs() < 0.15,
            "ycsb_e" => calls("scan") > 5.0 * calls("insert") && rows > calls("scan"),
            "pages" => rows > calls("newest articles") * 19.0 && calls("comments") > 0.0,
            _ => queries > 0.0,
        };
        // Client and server were both seen to work.
        if !fits || queries <= 0.0 || number(&run["client_cpu"]) <= 0.0 || number(&run["p50_ms"]) <= 0.0 {
            return Err(told());
        }
    }
    let fitted = array(&report, "curves").iter().filter(|curve| curve["fit"].is_object()).count();
    if fitted != 8 {
        return Err(format!("{fitted} curves have a fit"));
    }
    let flame = report["servers"][0]["flames"]["point_select"].as_str().unwrap_or_default();
    if flame.contains("<svg") { Ok(()) } else { Err("there is no flame graph".to_owned()) }
}

/// A statement of `bulk_insert` has half a megabyte, and takes longer than the short runs above on a busy machine.
fn bulk(out: &Path) -> Outcome {
    let words =
        "--workload bulk_insert --connections 1 --rounds 1 --time 3 --ramp-up 0 --tables 1 --buffer-pool 64M --durability none";
    let report = measure(words, out)?;
    match runs(&report).next() {
        Some((_, run)) if number(&run["queries"]) > 0.0 => Ok(()),
        Some((_, run)) => Err(run.to_string()),
        None => Err("there is no run".to_owned()),
    }
}

fn page(out: &Path) -> Outcome {
    let page = std::fs::read_to_string(out.with_extension("html")).map_err(|error| error.to_string())?;
    // The name of SVG's namespace is no address that is fetched.
    let rest = page.replace("http://www.w3.org/2000/svg", "");
    match ["http://", "https://", "src=", "@import", "<script", "<link"].into_iter().find(|word| rest.contains(word)) {
        None => Ok(()),
        Some(word) => Err(format!("the page has {word}")),
    }
}

fn browser(directory: &Path, out: &Path) -> Outcome {
    let driver = Driver::start(directory)?;
    let path = std::path::absolute(out.with_extension("html")).map_err(|error| error.to_string())?;
    driver.open(&format!("file://{}", path.display()))?;
    for width in [1280, 400] {
        driver.resize(width, 860)?;
        driver.wait("document.querySelector('h1') && document.querySelectorAll('svg.chart').length > 20")?;
        driver.wait("document.documentElement.scrollWidth <= document.documentElement.clientWidth")?;
        driver.wait("[...document.querySelectorAll('svg.chart circle')].every(mark => isFinite(mark.getAttribute('cy')))")?;
    }
    let messages = driver.messages()?;
    if messages.is_empty() { Ok(()) } else { Err(messages.join("; ")) }
}

fn compare(out: &Path) -> Outcome {
    let json = out.with_extension("json");
    let same = finish(bench("compare", None).arg(&json).arg(&json))?;
    let told = String::from_utf8_lossy(&same.stdout).into_owned();
    if !same.status.success() || !told.starts_with("0 of ") {
        return Err(told);
    }
    let mut report = read(out)?;
    for cell in report["cells"].as_array_mut().into_iter().flatten() {
        for run in cell["runs"].as_array_mut().into_iter().flatten() {
            run["queries"] = Value::from((number(&run["queries"]) * 100.0) as u64);
        }
    }
    let other = out.with_file_name("faster.json");
    std::fs::write(&other, report.to_string()).map_err(|error| error.to_string())?;
    let told = finish(bench("compare", None).arg(&json).arg(&other))?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    if told.contains("queries/s") && !told.starts_with("0 of ") { Ok(()) } else { Err(told) }
}

fn tpcc(out: &Path) -> Outcome {
    let words = "--workload tpcc --warehouses 1 --connections 4 --rounds 1 --time 1.5 --durability none --buffer-pool 256M";
    let report = measure(words, out)?;
    let (_, run) = runs(&report).next().ok_or("no run")?;
    let orders = number(&run["statements"]["new order"]["calls"]);
    if orders > 0.0 && number(&run["events"]) > orders { Ok(()) } else { Err(run.to_string()) }
}

/// A run that is ended in its middle by a signal.
fn interrupted(directory: &Path, out: &Path, signal: &str) -> Outcome {
    let scratch = directory.join(format!("scratch{signal}"));
    std::fs::create_dir_all(&scratch).map_err(|error| error.to_string())?;
    let words = "--workload point_select --connections 1,2 --rounds 500 --time 0.2 --ramp-up 0 --rows 200 --tables 1 --durability none --quiet";
    let mut command = bench(words, Some(out));
    let mut child = command
        .arg("--data-dir")
        .arg(&scratch)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let until = Instant::now() + PATIENCE;
    while read(out).map_or(0, |report| runs(&report).count()) < 3 {
        if Instant::now() > until {
            let _ = child.kill();
            let _ = child.wait();
            return Err("no run was written".to_owned());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let sent = Command::new("kill").arg(signal).arg(child.id().to_string()).status();
    let status = child.wait().map_err(|error| error.to_string())?;
    if !sent.is_ok_and(|sent| sent.success()) || status.success() {
        return Err(format!("it ended with {status}"));
    }
    let report = read(out)?;
    let state = if signal == "-INT" { "interrupted" } else { "running" };
    if report["state"] != state || runs(&report).any(|(_, run)| number(&run["queries"]) <= 0.0) {
        return Err(format!("state {}, {} runs", report["state"], runs(&report).count()));
    }
    if signal == "-INT" {
        let page = std::fs::read_to_string(out.with_extension("html")).map_err(|error| error.to_string())?;
        let left = std::fs::read_dir(&scratch).map_err(|error| error.to_string())?.count();
        if !page.contains("was interrupted") || left > 0 {
            return Err(format!("{left} directories are left; the page: {}", page.contains("was interrupted")));
        }
    }
    let html = finish(bench("html", None).arg(out.with_extension("json")))?;
    if html.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&html.stderr).into_owned()) }
}

/// A statement of 50 ms on one connection can run 20 times a second: at 60 a second the queue grows. A closed loop would tell of 50 ms.
fn open_loop(out: &Path) -> Outcome {
    let file = out.with_extension("sql");
    std::fs::write(&file, "DO SLEEP(0.05);\n").map_err(|error| error.to_string())?;
    let words = |rate: &str| {
        format!(
            "--workload file --file {} --connections 1 {rate} --rounds 1 --time 1.5 --ramp-up 0 --durability none --buffer-pool 64M --without-profile",
            file.display()
        )
    };
    let report = measure(&words("--rate 60"), out)?;
    let (_, open) = runs(&report).next().ok_or("no run")?;
    let report = measure(&words(""), out)?;
    let (_, closed) = runs(&report).next().ok_or("no run")?;
    let (waited, served) = (number(&open["p95_ms"]), number(&closed["p50_ms"]));
    // After a second 60 have come and 20 have run: the last of these has waited for most of it.
    if waited > 400.0 && served < waited / 2.0 && number(&open["waiting"]) >= 10.0 {
        Ok(())
    } else {
        Err(format!("open loop: p95 {waited} ms, {} wait; closed loop: p50 {served} ms", open["waiting"]))
    }
}

fn wrong(server: &Server, directory: &Path) -> Outcome {
    use mysql::prelude::Queryable;
    let mut sql = server.connect().map_err(|error| error.to_string())?;
    sql.query_drop("CREATE DATABASE precious")
        .and_then(|()| sql.query_drop("CREATE TABLE precious.t (n INT)"))
        .map_err(|error| error.to_string())?;
    let here = format!("mysql://root@127.0.0.1:{}", server.address.port);
    for (words, named) in [
        ("--workload nothing".to_owned(), "'nothing' is no workload"),
        ("--against mysql://root@127.0.0.1:1 --without-heddle".to_owned(), "cannot connect to mysql://root@127.0.0.1:1"),
        ("--against nowhere".to_owned(), "it is no address"),
        ("--without-heddle".to_owned(), "not provided: --against <ADDRESS>"),
        ("--workload file".to_owned(), "needs --file"),
        (format!("--heddle {here} --database precious"), "there is a database precious that the lab has not made"),
        (format!("--heddle mysql://nobody@127.0.0.1:{}", server.address.port), "Access denied"),
    ] {
        let output = finish(&mut bench(&words, Some(&directory.join("wrong"))))?;
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() || !told.contains(named) {
            return Err(format!("{words}: {told}"));
        }
    }
    let kept: Option<String> = sql.query_first("SHOW TABLES FROM precious").map_err(|error| error.to_string())?;
    if kept.as_deref() == Some("t") { Ok(()) } else { Err("the database is not what it was".to_owned()) }
}
