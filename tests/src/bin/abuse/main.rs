//! Bad input over the wire. Afterwards the server answers, and a bystander's open transaction is as it was.

mod files;
mod logins;
mod packets;
mod statements;

use clap::Parser;
use mysql::Conn;
use mysql::prelude::Queryable;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tests::raw::Raw;
use tests::{Address, Report, Server, ServerOptions};

pub const DATABASE: &str = "abuse";

#[derive(Parser)]
#[command(about = "Sends bad input and checks that the server goes on")]
struct Arguments {
    /// A running server, HOST:PORT, instead of one started for this
    #[arg(long)]
    against: Option<String>,
    /// An account with an empty password
    #[arg(long, default_value = "root")]
    user: String,
    /// Of the random packets
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Random packets per command
    #[arg(long, default_value_t = 20)]
    packets: u32,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    let folder = std::env::temp_dir().join(format!("heddle-abuse-{}", std::process::id()));
    let outcome = match &arguments.against {
        Some(at) => Address::parse(at, &arguments.user, "").and_then(|address| run(&arguments, &address, &mut report)),
        None => own_server(&arguments, &folder, &mut report),
    };
    if let Err(why) = outcome {
        report.fail("abuse", why);
    }
    if report.failed == 0 {
        let _ = std::fs::remove_dir_all(&folder); // it is not there with --against
    }
    report.finish()
}

fn own_server(arguments: &Arguments, folder: &std::path::Path, report: &mut Report) -> Result<(), String> {
    let mut server = Server::start(&ServerOptions::new(folder))?;
    let address = server.address.clone();
    let outcome = run(arguments, &address, report);
    if let Some(end) = server.ended() {
        return Err(format!("the server ended: {end}"));
    }
    report.case("stops well afterwards", || server.stop());
    logins::run_alone(folder, report)?;
    outcome
}

/// An earlier connection with an open transaction.
pub struct Bystander {
    conn: Conn,
    address: Address,
}

impl Bystander {
    fn new(address: &Address) -> mysql::Result<Self> {
        let mut conn = address.connect()?;
        conn.query_drop(format!("DROP DATABASE IF EXISTS {DATABASE}"))?;
        conn.query_drop(format!("CREATE DATABASE {DATABASE}"))?;
        conn.select_db(DATABASE)?;
        conn.query_drop("CREATE TABLE t (id INT PRIMARY KEY, v INT, s VARCHAR(100))")?;
        let rows: Vec<String> = (0..1000).map(|n| format!("({n}, {n}, 'row {n}')")).collect();
        conn.query_drop(format!("INSERT INTO t VALUES {}", rows.join(", ")))?;
        conn.query_drop("BEGIN")?;
        conn.query_drop("UPDATE t SET v = -5 WHERE id = 5")?;
        Ok(Self { conn, address: address.clone() })
    }

    /// The server takes new connections and answers, and our transaction is still open.
    pub fn is_well(&mut self) -> Result<(), String> {
        let began = Instant::now();
        let mut fresh = self.address.connect().map_err(|e| format!("a new connection: {e}"))?;
        let one: Option<u32> = fresh.query_first("SELECT 1").map_err(|e| format!("a new connection's query: {e}"))?;
        let ours: Option<i32> =
            self.conn.query_first("SELECT v FROM t WHERE id = 5").map_err(|e| format!("an open connection: {e}"))?;
        if (one, ours) != (Some(1), Some(-5)) {
            return Err(format!("answers {one:?} and {ours:?}"));
        }
        let seconds = began.elapsed().as_secs_f64();
        if seconds > 5.0 { Err(format!("took {seconds:.1} s to answer")) } else { Ok(()) }
    }
}

fn run(arguments: &Arguments, address: &Address, report: &mut Report) -> Result<(), String> {
    let mut bystander = Bystander::new(address).map_err(|e| e.to_string())?;
    let slow = {
        let address = address.clone();
        std::thread::spawn(move || slow_client(&address))
    };
    statements::run(address, &mut bystander, report);
    files::run(address, &mut bystander, report);
    logins::run(address, report);
    packets::run(address, arguments.seed, arguments.packets, &mut bystander, report);
    report.case("vanished clients leave no locks", || vanish(address));
    report.case("clients that read nothing disturb nobody", || unread(address, &mut bystander));
    report.case("connections that never log in", || crowd(address, &mut bystander));
    report.case("one byte a second", || slow.join().map_err(|_| "panicked".to_string())?);
    report.case("the bystander commits", || {
        bystander.conn.query_drop("COMMIT").map_err(|e| e.to_string())?;
        let v: Option<i32> = bystander.conn.query_first("SELECT v FROM t WHERE id = 5").map_err(|e| e.to_string())?;
        bystander.conn.query_drop(format!("DROP DATABASE {DATABASE}")).map_err(|e| e.to_string())?;
        if v == Some(-5) { Ok(()) } else { Err(format!("v is {v:?}")) }
    });
    Ok(())
}

/// A query whose bytes come one a second is answered all the same.
fn slow_client(address: &Address) -> Result<(), String> {
    let fail = |e: std::io::Error| e.to_string();
    let mut raw = Raw::logged_in(address).map_err(fail)?;
    let packet = [9, 0, 0, 0, 3, b'S', b'E', b'L', b'E', b'C', b'T', b' ', b'1'];
    for byte in packet {
        raw.bytes(&[byte]).map_err(fail)?;
        std::thread::sleep(Duration::from_secs(1));
    }
    let (_, columns) = raw.read_packet().map_err(fail)?;
    if columns == [1] { Ok(()) } else { Err(format!("answered {columns:?}")) }
}

/// Clients that hold row locks and go, in three ways; the rows are free again within seconds.
fn vanish(address: &Address) -> Result<(), String> {
    let fail = |e: std::io::Error| e.to_string();
    let mut next = 100;
    for how in ["closed", "half a packet", "quit"] {
        for _ in 0..10 {
            let mut raw = Raw::logged_in(address).map_err(fail)?;
            for sql in ["BEGIN".to_string(), format!("UPDATE abuse.t SET v = -1 WHERE id BETWEEN {next} AND {}", next + 9)] {
                if let Some(code) = raw.ask(COM_QUERY, sql.as_bytes()).map_err(fail)? {
                    return Err(format!("{how}: {sql}: error {code}"));
                }
            }
            match how {
                "quit" => raw.command(tests::raw::COM_QUIT, &[]).map_err(fail)?,
                "half a packet" => raw.bytes(&[200, 0, 0, 0, COM_QUERY, b'S']).map_err(fail)?,
                _ => {}
            }
            raw.vanish();
            next += 10;
        }
    }
    let mut conn = address.connect().map_err(|e| e.to_string())?;
    conn.query_drop("SET innodb_lock_wait_timeout = 5").map_err(|e| e.to_string())?;
    conn.query_drop("UPDATE abuse.t SET v = 7 WHERE id BETWEEN 100 AND 399").map_err(|e| e.to_string())?;
    let lost: Option<u32> = conn.query_first("SELECT COUNT(*) FROM abuse.t WHERE v = -1").map_err(|e| e.to_string())?;
    if lost == Some(0) { Ok(()) } else { Err(format!("{lost:?} rows of vanished transactions")) }
}

use tests::raw::COM_QUERY;

/// Clients that ask for much and read nothing.
fn unread(address: &Address, bystander: &mut Bystander) -> Result<(), String> {
    let fail = |e: std::io::Error| e.to_string();
    let mut open = Vec::new();
    for _ in 0..8 {
        let mut raw = Raw::logged_in(address).map_err(fail)?;
        raw.command(COM_QUERY, b"SELECT a.s, b.s FROM abuse.t a JOIN abuse.t b ON a.id >= 0 AND b.id >= 0").map_err(fail)?;
        open.push(raw);
    }
    std::thread::sleep(Duration::from_millis(500));
    let well = bystander.is_well();
    open.into_iter().for_each(Raw::vanish);
    well.and_then(|()| bystander.is_well())
}

/// Connections that only connect.
fn crowd(address: &Address, bystander: &mut Bystander) -> Result<(), String> {
    let fail = |e: std::io::Error| e.to_string();
    let streams = (0..100).map(|_| address.stream()).collect::<Result<Vec<_>, _>>().map_err(fail)?;
    let greeted = (0..30).map(|_| Raw::greeted(address)).collect::<Result<Vec<_>, _>>().map_err(fail)?;
    let well = bystander.is_well();
    drop(streams);
    greeted.into_iter().for_each(Raw::vanish);
    well.and_then(|()| bystander.is_well())
}
