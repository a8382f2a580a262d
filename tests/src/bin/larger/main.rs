//! A table several times as large as the buffer pool, through a real client.
//!
//! 1. Sessions load their share of the rows. The text of a row is computed from its number and its version.
//! 2. The sessions read, change and scan their own rows at the same time, and check every answer against what they wrote.
//! 3. Everything is verified: each row, sums over the table, the secondary index, and a count by each.
//! 4. The server is stopped and started, and everything is verified again. The same follows after a kill.
//! 5. Statements ask for more disk space than another server has (`full`).
//!
//! L1: a session knows the version of each of its rows, since no other session changes them.

mod full;

use clap::Parser;
use mysql::prelude::Queryable;
use mysql::{Conn, Row, TxOpts};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::ops::Range;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tests::{Address, Report, Server, ServerOptions};

const TEXT_BYTES: usize = 400;
/// Rows of one INSERT.
const BATCH: u32 = 500;
/// The data has to be this many times the pool.
const TIMES: u64 = 4;
/// Rows of one scan.
const SCAN: u32 = 300;

#[derive(Parser)]
#[command(about = "Works on a table that is larger than the buffer pool")]
struct Arguments {
    #[arg(long, default_value_t = 140_000)]
    rows: u32,
    #[arg(long, default_value_t = 4)]
    sessions: u32,
    /// How long the sessions change rows
    #[arg(long, default_value_t = 6)]
    seconds: u64,
    #[arg(long, default_value_t = 16)]
    pool_mib: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

type Outcome<T = ()> = Result<T, String>;

/// The versions of the rows from `rows.start` on (L1).
struct Share {
    rows: Range<u32>,
    versions: Vec<u32>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    let directory = std::env::temp_dir().join(format!("heddle-larger-{}", std::process::id()));
    if let Err(why) = run(&arguments, &directory, &mut report) {
        report.fail("larger", why);
    }
    if report.failed == 0 {
        let _ = std::fs::remove_dir_all(&directory);
    }
    report.finish()
}

fn run(arguments: &Arguments, directory: &Path, report: &mut Report) -> Outcome {
    let pool = format!("{}M", arguments.pool_mib);
    let options = ServerOptions { durability: "relaxed".into(), buffer_pool: pool, ..ServerOptions::new(directory) };
    let server = Server::start(&options)?;
    let mut shares = shares(arguments);
    report.case("load", || load(&server.address, &shares));
    report.case("the data is larger than the pool", || {
        let bytes = bytes_below(&directory.join("data")).map_err(|e| e.to_string())?;
        if bytes > TIMES * (arguments.pool_mib << 20) { Ok(()) } else { Err(format!("{bytes} bytes on disk")) }
    });
    report.case("verified after the load", || verify(&server.address, &shares));
    report.case("reads, changes and scans", || work(&server.address, &mut shares, arguments));
    report.case("verified after the changes", || verify(&server.address, &shares));
    report.case("stops", || server.stop());
    let server = Server::start(&options)?;
    report.case("verified after a restart", || verify(&server.address, &shares));
    report.case("changes after a restart", || work(&server.address, &mut shares, &Arguments { seconds: 1, ..*arguments }));
    // What was acknowledged more than a moment ago is durable.
    std::thread::sleep(Duration::from_millis(1500));
    server.kill();
    let server = Server::start(&options)?;
    report.case("verified after a kill", || verify(&server.address, &shares));
    report.case("stops well afterwards", || server.stop());
    full::run(directory, report)
}

fn shares(arguments: &Arguments) -> Vec<Share> {
    let each = arguments.rows / arguments.sessions;
    let share = |number: u32| Share { rows: number * each..(number + 1) * each, versions: vec![0; each as usize] };
    (0..arguments.sessions).map(share).collect()
}

/// The text of a row in a version: hexadecimal digits that hardly repeat.
fn text(id: u32, version: u32) -> String {
    let mut state = u64::from(id) << 32 | u64::from(version) | 1 << 31;
    let mut text = String::with_capacity(TEXT_BYTES + 16);
    while text.len() < TEXT_BYTES {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        text.push_str(&format!("{:016x}", state ^ state >> 29));
    }
    text.truncate(TEXT_BYTES);
    text
}

/// What the secondary index is on: it moves about with the version.
fn place(id: u32, version: u32) -> u32 {
    (id ^ version.wrapping_mul(7919)) % 1_000_000
}

/// Runs a body for each share, side by side.
fn each(shares: &mut [Share], body: impl Fn(usize, &mut Share) -> Outcome + Sync) -> Outcome {
    std::thread::scope(|scope| {
        let body = &body;
        let threads: Vec<_> =
            shares.iter_mut().enumerate().map(|(number, share)| scope.spawn(move || body(number, share))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a session panicked".to_string())?)
    })
}

fn said<T>(result: mysql::Result<T>) -> Outcome<T> {
    result.map_err(|e| e.to_string())
}

fn load(address: &Address, shares: &[Share]) -> Outcome {
    let mut conn = said(address.connect())?;
    said(conn.query_drop("CREATE DATABASE larger"))?;
    said(conn.query_drop(
        "CREATE TABLE larger.t (id INT UNSIGNED PRIMARY KEY, version INT UNSIGNED NOT NULL, place INT UNSIGNED NOT NULL, \
         pad VARCHAR(500) NOT NULL, KEY (place))",
    ))?;
    let mut ranges: Vec<Share> = shares.iter().map(|s| Share { rows: s.rows.clone(), versions: Vec::new() }).collect();
    each(&mut ranges, |_, share| {
        let mut conn = said(address.connect_to("larger"))?;
        for first in share.rows.clone().step_by(BATCH as usize) {
            let batch = first..share.rows.end.min(first + BATCH);
            let rows: Vec<String> = batch.map(|id| format!("({id}, 0, {}, '{}')", place(id, 0), text(id, 0))).collect();
            said(conn.query_drop(format!("INSERT INTO t VALUES {}", rows.join(", "))))?;
        }
        Ok(())
    })
}

/// Reads, changes and scans until the time is over.
fn work(address: &Address, shares: &mut [Share], arguments: &Arguments) -> Outcome {
    let until = Instant::now() + Duration::from_secs(arguments.seconds);
    each(shares, |number, share| {
        let mut rng = StdRng::seed_from_u64(arguments.seed * 1000 + number as u64);
        let mut conn = said(address.connect_to("larger"))?;
        let mut steps = 0;
        while Instant::now() < until {
            match rng.random_range(0..10) {
                0..4 => read_one(&mut conn, share, &mut rng)?,
                4..7 => change_one(&mut conn, share, &mut rng)?,
                7..9 => change_several(&mut conn, share, &mut rng)?,
                _ => scan(&mut conn, share, &mut rng)?,
            }
            steps += 1;
        }
        if steps > 20 { Ok(()) } else { Err(format!("only {steps} steps")) }
    })
}

impl Share {
    fn pick(&self, rng: &mut StdRng) -> u32 {
        rng.random_range(self.rows.clone())
    }

    fn version(&self, id: u32) -> u32 {
        self.versions[(id - self.rows.start) as usize]
    }

    fn raise(&mut self, id: u32) {
        self.versions[(id - self.rows.start) as usize] += 1;
    }

    fn check(&self, id: u32, found: (u32, u32, &str)) -> Outcome {
        let version = self.version(id);
        if found == (version, place(id, version), &text(id, version)) {
            return Ok(());
        }
        Err(format!("row {id} should have version {version}, and is {found:?}"))
    }
}

fn read_one(conn: &mut Conn, share: &Share, rng: &mut StdRng) -> Outcome {
    let id = share.pick(rng);
    let found: Option<(u32, u32, String)> = said(conn.exec_first("SELECT version, place, pad FROM t WHERE id = ?", (id,)))?;
    let (version, place, pad) = found.ok_or_else(|| format!("row {id} is gone"))?;
    share.check(id, (version, place, &pad))
}

fn change_one(conn: &mut Conn, share: &mut Share, rng: &mut StdRng) -> Outcome {
    let id = share.pick(rng);
    let next = share.version(id) + 1;
    let values = (next, place(id, next), text(id, next), id);
    said(conn.exec_drop("UPDATE t SET version = ?, place = ?, pad = ? WHERE id = ?", values))?;
    share.raise(id);
    if conn.affected_rows() == 1 { Ok(()) } else { Err(format!("{} rows with number {id}", conn.affected_rows())) }
}

/// A transaction: rows are deleted and inserted anew, or all is rolled back.
fn change_several(conn: &mut Conn, share: &mut Share, rng: &mut StdRng) -> Outcome {
    let mut ids: Vec<u32> = (0..5).map(|_| share.pick(rng)).collect();
    ids.sort_unstable();
    ids.dedup();
    let commits = rng.random_range(0..3) > 0;
    let mut txn = said(conn.start_transaction(TxOpts::default()))?;
    for id in &ids {
        let next = share.version(*id) + 1;
        said(txn.exec_drop("DELETE FROM t WHERE id = ?", (id,)))?;
        said(txn.exec_drop("INSERT INTO t VALUES (?, ?, ?, ?)", (id, next, place(*id, next), text(*id, next))))?;
    }
    if !commits {
        return said(txn.rollback());
    }
    said(txn.commit())?;
    ids.into_iter().for_each(|id| share.raise(id));
    Ok(())
}

fn scan(conn: &mut Conn, share: &Share, rng: &mut StdRng) -> Outcome {
    let first = share.pick(rng);
    let rows = first..share.rows.end.min(first + SCAN);
    check_rows(conn, share, rows)
}

/// Each row of a range is there, once, in order, and right.
fn check_rows(conn: &mut Conn, share: &Share, rows: Range<u32>) -> Outcome {
    let mut due = rows.clone();
    let sql = "SELECT id, version, place, pad FROM t WHERE id >= ? AND id < ? ORDER BY id";
    for row in said(conn.exec_iter(sql, (rows.start, rows.end)))? {
        let (id, version, place, pad): (u32, u32, u32, String) =
            mysql::from_row_opt::<(u32, u32, u32, String)>(said::<Row>(row)?).map_err(|e| e.to_string())?;
        if due.next() != Some(id) {
            return Err(format!("row {id} where {} was due", due.start - 1));
        }
        share.check(id, (version, place, &pad))?;
    }
    if due.is_empty() { Ok(()) } else { Err(format!("rows from {} on are missing", due.start)) }
}

fn verify(address: &Address, shares: &[Share]) -> Outcome {
    let mut copies: Vec<Share> = shares.iter().map(|s| Share { rows: s.rows.clone(), versions: s.versions.clone() }).collect();
    each(&mut copies, |_, share| {
        let mut conn = said(address.connect_to("larger"))?;
        check_rows(&mut conn, share, share.rows.clone())
    })?;
    let all = || shares.iter().flat_map(|share| share.rows.clone().map(|id| (id, share.version(id))));
    let count = all().count() as u64;
    let versions: u64 = all().map(|(_, version)| u64::from(version)).sum();
    let places: u64 = all().map(|(id, version)| u64::from(place(id, version))).sum();
    let mut conn = said(address.connect_to("larger"))?;
    let sums = "SELECT COUNT(*), SUM(version), SUM(place), SUM(LENGTH(pad)) FROM t";
    let found: Option<(u64, u64, u64, u64)> = said(conn.query_first(sums))?;
    let wanted = (count, versions, places, count * TEXT_BYTES as u64);
    if found != Some(wanted) {
        return Err(format!("the sums are {found:?}, and should be {wanted:?}"));
    }
    let by_index = "SELECT COUNT(*), SUM(place) FROM t FORCE INDEX (place) WHERE place >= 0";
    let found: Option<(u64, u64)> = said(conn.query_first(by_index))?;
    if found != Some((count, places)) {
        return Err(format!("the index has {found:?}, and should have {:?}", (count, places)));
    }
    Ok(())
}

fn bytes_below(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // The log is not what the pool caches.
        let is_log = entry.path().components().any(|part| part.as_os_str() == "redo" || part.as_os_str() == "wal");
        bytes += match entry.metadata()? {
            data if data.is_dir() && !is_log => bytes_below(&entry.path())?,
            data if data.is_file() => std::os::unix::fs::MetadataExt::blocks(&data) * 512,
            _ => 0,
        };
    }
    Ok(bytes)
}
