//! Cases: bugs that the simulator once found, as short scripts in which the crash comes where it did harm. `cargo xtask sim --cases`
//!
//! Each is played in several variants, because what a power failure keeps is drawn: [`VARIANTS`] are enough for each bug to come back when its
//! fix is taken out. What needs no crash has a unit test beside the code.

use os::sim::disk::CrashKind;
use os::sim::scheduler::{self, Schedule, fail};
use os::sim::{Halt, file};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use txn::{Config, Durability, Engine, Error, InsertOutcome, Interrupt, Isolation, TreeRef, Worker};

const VARIANTS: u64 = 24;
const SCHEDULE: Schedule = Schedule { points_per_choice: 16, weight_max: 1, choices_per_stay: 0, parallelism: 2 };
const ROW: &[u8] = b"acknowledged";

type Case = (&'static str, fn(&Path));

/// Name and script; the path is the data directory of the variant.
const CASES: &[Case] = &[
    ("first-start", first_start_is_cut_anywhere),
    ("first-commit", first_commit_outlives_a_power_failure),
    ("doublewrite-name", doublewrite_area_keeps_its_name),
    ("log-tail", what_a_start_has_read_of_the_log_lasts),
];

/// Plays the cases (all, or the one of this name); the first that goes wrong ends the process.
pub fn run(only: Option<&str>) {
    for (name, case) in CASES.iter().filter(|(name, _)| only.is_none_or(|only| only == *name)) {
        for variant in 0..VARIANTS {
            case(&PathBuf::from(format!("/{name}-{variant}")));
        }
        println!("ok   {name}");
    }
}

fn open(dir: &Path, durability: Durability) -> Result<Arc<Engine>, Error> {
    Engine::open(Config {
        data_dir: dir.into(),
        buffer_pool_bytes: 1 << 20,
        undo_memory_bytes: 64 << 10,
        workers: 1,
        durability,
        recovery_target: std::time::Duration::from_secs(10),
    })
}

fn must<T>(done: Result<T, Error>, what: &str) -> T {
    done.unwrap_or_else(|e| fail(&format!("{what}: {e}")))
}

fn wait<T>(worker: &Worker, mut call: impl FnMut() -> txn::Result<T>) -> Result<T, Error> {
    loop {
        worker.tick();
        match call() {
            Ok(value) => return Ok(value),
            Err(Interrupt::Error(e)) => return Err(e),
            Err(Interrupt::Stall(stall)) => {
                worker.park();
                stall.wait_blocking();
            }
        }
    }
}

/// Writes a row into the tree that every directory has, and waits for its commit.
fn put(engine: &Arc<Engine>, key: &[u8]) {
    let (worker, tree) = (engine.worker(0), engine.catalog_tree());
    let mut txn = worker.begin(Isolation::RepeatableRead);
    let outcome = must(wait(&worker, || txn.insert(&worker, tree, key, ROW)), "a row is inserted");
    assert_eq!(outcome, InsertOutcome::Inserted);
    // Also where the log is not synced: it is written then.
    if let Some(stall) = txn.commit_as(&worker, Durability::Full) {
        worker.park();
        stall.wait_blocking();
    }
}

fn get(engine: &Arc<Engine>, key: &[u8]) -> bool {
    let (worker, tree): (Worker, TreeRef) = (engine.worker(0), engine.catalog_tree());
    let mut txn = worker.begin(Isolation::RepeatableRead);
    let mut payload = Vec::new();
    let is_there = must(wait(&worker, || txn.read(&worker, tree, key, &mut payload)), "a row is read");
    let _ = txn.commit(&worker);
    is_there && payload == ROW
}

/// A life that ends in the middle of everything: as if it were killed.
fn live_and_die(life: impl FnOnce() -> Arc<Engine> + Send + 'static) {
    let halt = scheduler::run_machine(SCHEDULE, None, move || std::mem::forget(life()));
    assert_eq!(halt, Halt::Ended);
}

/// A life in good order.
fn live(life: impl FnOnce() -> Arc<Engine> + Send + 'static) {
    let halt = scheduler::run_machine(SCHEDULE, None, move || must(life().shutdown(), "the engine stops"));
    assert_eq!(halt, Halt::Ended);
}

/// The control file, the log, the data file and the doublewrite area are made step by step; after a cut between any two the next start
/// makes what is missing.
fn first_start_is_cut_anywhere(dir: &Path) {
    let mut after = 1;
    for round in 0.. {
        let dir = dir.join(round.to_string());
        let kind = if round % 2 == 0 { CrashKind::Power } else { CrashKind::Process };
        let cut = dir.clone();
        let halt = scheduler::run_machine(SCHEDULE, Some((after, kind)), move || {
            std::mem::forget(must(open(&cut, Durability::Full), "a first start"));
        });
        live(move || {
            let engine = must(open(&dir, Durability::Full), "a start after a first one that was cut off");
            put(&engine, b"k");
            engine
        });
        if halt == Halt::Ended {
            return;
        }
        after += after / 6 + 1;
    }
}

/// The first pages of the data file are logged, and nothing of the file is durable, its length neither.
fn first_commit_outlives_a_power_failure(dir: &Path) {
    let first = dir.to_path_buf();
    live_and_die(move || {
        let engine = must(open(&first, Durability::Full), "a first start");
        put(&engine, b"k");
        engine
    });
    file::power_failure();
    let next = dir.to_path_buf();
    live(move || {
        let engine = must(open(&next, Durability::Full), "a start after a power failure");
        if !get(&engine, b"k") {
            fail("an acknowledged row is lost");
        }
        put(&engine, b"l");
        engine
    });
}

/// Without the area no page that a crash tears can be put back.
fn doublewrite_area_keeps_its_name(dir: &Path) {
    let first = dir.to_path_buf();
    live_and_die(move || must(open(&first, Durability::Full), "a first start"));
    file::power_failure();
    if !os::fs::exists(&dir.join("heddle.doublewrite")) {
        fail("the doublewrite area is gone");
    }
}

/// A start reads blocks that a process wrote and did not sync before it was killed. It builds on them, so from then on they must last.
fn what_a_start_has_read_of_the_log_lasts(dir: &Path) {
    let (first, second, third) = (dir.to_path_buf(), dir.to_path_buf(), dir.to_path_buf());
    live(move || must(open(&first, Durability::Full), "a first start"));
    let unsynced = dir.to_path_buf();
    live_and_die(move || {
        let engine = must(open(&unsynced, Durability::None), "a start");
        put(&engine, b"k");
        engine
    });
    live_and_die(move || {
        let engine = must(open(&second, Durability::Full), "a start after a kill");
        if !get(&engine, b"k") {
            fail("what was written before a kill is lost");
        }
        engine
    });
    file::power_failure();
    live(move || {
        let engine = must(open(&third, Durability::Full), "a start after a power failure");
        if !get(&engine, b"k") {
            fail("a row is lost that an earlier start has read");
        }
        engine
    });
}
