//! Values stay in their columns while the definitions of their tables change.
//!
//! Every value contains its column, its row and a version (`values`). Sessions of every kind (`users`) change and read the rows of a group
//! of tables (`tables`) while other sessions change the definitions of these tables in a loop (`definers`). The test fails when a session
//! reads a value in another column or row, or gets an error that MySQL does not give. At the end every row is read through every index,
//! and CHECK TABLE checks every table.

mod definers;
mod tables;
mod users;
mod values;

use clap::Parser;
use mysql::prelude::Queryable;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tests::{Address, Report, Server, ServerOptions};

#[derive(Parser, Clone)]
#[command(about = "Changes definitions in a loop while sessions change and read values that tell their column")]
struct Arguments {
    /// Rows of each table
    #[arg(long, default_value_t = 400)]
    rows: u64,
    /// Sessions of each kind
    #[arg(long, default_value_t = 1)]
    sessions: usize,
    /// How long the sessions run, for each set of definitions
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Only the sets of definitions whose names have this in them
    #[arg(long)]
    only: Option<String>,
    /// Only the kinds of sessions whose names have this in them
    #[arg(long)]
    user: Option<String>,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A running server, HOST:PORT, instead of one started for this
    #[arg(long)]
    against: Option<String>,
    #[arg(long, default_value = "root")]
    account: String,
    #[arg(long, default_value = "")]
    password: String,
}

/// What the threads of one set share.
struct Scene {
    address: Address,
    rows: u64,
    /// Tables have another name now and then.
    renames: bool,
    stop: AtomicBool,
    rounds: AtomicU64,
    definitions: AtomicU64,
    /// What went wrong, and how often.
    wrong: Mutex<BTreeMap<String, u64>>,
}

/// Failures of one set that are printed.
const SHOWN_MAX: usize = 12;

impl Scene {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn fail(&self, what: String) {
        *self.wrong.lock().expect("no thread panics with it").entry(what).or_default() += 1;
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    let directory = std::env::temp_dir().join(format!("heddle-definitions-{}", std::process::id()));
    if let Err(why) = run(&arguments, &directory, &mut report) {
        report.fail("definitions", why);
    }
    if report.failed == 0 {
        // The log is of interest only after a failure.
        let _ = std::fs::remove_dir_all(&directory);
    }
    report.finish()
}

fn run(arguments: &Arguments, directory: &Path, report: &mut Report) -> Result<(), String> {
    let (server, address) = match &arguments.against {
        Some(at) => (None, Address::parse(at, &arguments.account, &arguments.password)?),
        None => {
            let server = Server::start(&ServerOptions::new(directory))?;
            let address = server.address.clone();
            (Some(server), address)
        }
    };
    let has = |name: &str, part: &Option<String>| part.as_ref().is_none_or(|part| name.contains(part.as_str()));
    for set in definers::SETS.iter().filter(|set| has(set.name, &arguments.only)) {
        under(set, arguments, &address, report)?;
    }
    match server {
        Some(server) => {
            report.case("the server stops", || server.stop());
            Ok(())
        }
        None => Ok(()),
    }
}

/// Runs all kinds of sessions beside one set of definitions.
fn under(set: &definers::Set, arguments: &Arguments, address: &Address, report: &mut Report) -> Result<(), String> {
    let said = |e: mysql::Error| e.to_string();
    let mut connection = address.connect().map_err(said)?;
    connection.query_drop("SET GLOBAL local_infile = 1").map_err(said)?;
    tables::make(&mut connection, arguments.rows)?;
    let scene = Arc::new(Scene {
        address: address.clone(),
        rows: arguments.rows,
        renames: set.renames,
        stop: AtomicBool::new(false),
        rounds: AtomicU64::new(0),
        definitions: AtomicU64::new(0),
        wrong: Mutex::default(),
    });
    let mut threads = Vec::new();
    for (number, definitions) in set.loops.iter().enumerate() {
        let (scene, definitions, name) = (Arc::clone(&scene), *definitions, set.name);
        threads.push(std::thread::spawn(move || definers::run(&scene, name, number, definitions)));
    }
    let chosen = users::KINDS.iter().filter(|kind| arguments.user.as_ref().is_none_or(|part| kind.name.contains(part.as_str())));
    for (number, kind) in chosen.flat_map(|kind| std::iter::repeat_n(kind, arguments.sessions)).enumerate() {
        let (scene, seed) = (Arc::clone(&scene), arguments.seed * 1000 + number as u64);
        threads.push(std::thread::spawn(move || users::run(&scene, kind, seed)));
    }
    let until = Instant::now() + Duration::from_secs_f64(arguments.seconds);
    while Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    scene.stop.store(true, Ordering::Relaxed);
    for thread in threads {
        if thread.join().is_err() {
            scene.fail("a thread of the test panicked".to_owned());
        }
    }
    connection.query_drop(format!("USE {}", tables::DATABASE)).map_err(said)?;
    tables::check(&mut connection, arguments.rows, &scene)?;
    let (rounds, definitions) = (scene.rounds.load(Ordering::Relaxed), scene.definitions.load(Ordering::Relaxed));
    let wrong = scene.wrong.lock().expect("all threads have ended");
    println!("     {}: {rounds} rounds beside {definitions} definitions", set.name);
    for (what, count) in wrong.iter().take(SHOWN_MAX) {
        println!("     {count} times: {what}");
    }
    let name = format!("values stay in their columns: {}", set.name);
    match wrong.iter().next() {
        None if rounds == 0 || definitions == 0 => report.fail(name, "nothing ran"),
        None => report.ok(name),
        Some((what, _)) => report.fail(name, format!("{} kinds of failures, the first: {what}", wrong.len())),
    }
    connection.query_drop(format!("DROP DATABASE {}", tables::DATABASE)).map_err(said)
}
