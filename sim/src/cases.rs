//! Cases: bugs that the simulator once found, as short scripts in which the crash comes where it did harm. `cargo xtask sim --cases`
//!
//! Each is played in several variants, because what a power failure keeps is drawn: [`VARIANTS`] are enough for each bug to come back when its
//! fix is taken out. What needs no crash has a unit test beside the code.

use os::sim::disk::CrashKind;
use os::sim::scheduler::{self, Schedule, fail};
use os::sim::{Halt, Rng, file};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use storage::offline::Offline;
use sync::atomic::{AtomicU64, Ordering};
use txn::{Config, Durability, Engine, Error, InsertOutcome, Isolation, ReadMode, Scan, TreeRef, WaitPolicy, Worker};

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
    ("empty-leaves", queues_shrink_through_crashes),
];

/// Plays the cases (all, or the one of this name); the first that goes wrong ends the process.
pub fn run(only: Option<&str>) {
    for (name, case) in CASES.iter().filter(|(name, _)| only.is_none_or(|only| only == *name)) {
        for variant in 0..VARIANTS {
            case(&PathBuf::from(format!("/{name}-{variant}")));
        }
        let counted: Vec<String> = scheduler::summary().0.iter().map(|(what, count)| format!("{count} {what}")).collect();
        println!("ok   {name}; so far {}", if counted.is_empty() { "nothing counted".to_owned() } else { counted.join(", ") });
    }
}

fn open(dir: &Path, durability: Durability) -> Result<Arc<Engine>, Error> {
    Engine::open(Config {
        data_dir: dir.into(),
        buffer_pool_bytes: 1 << 20,
        undo_memory_bytes: 64 << 10,
        workers: 1,
        durability,
        recovery_target: txn::RECOVERY_TARGET,
    })
}

fn must<T>(done: Result<T, Error>, what: &str) -> T {
    done.unwrap_or_else(|e| fail(&format!("{what}: {e}")))
}

/// Writes a row into the tree that every directory has, and waits for its commit.
fn put(engine: &Arc<Engine>, key: &[u8]) {
    let (worker, tree) = (engine.worker(0), engine.catalog_tree());
    let mut txn = worker.begin(Isolation::RepeatableRead);
    let outcome = must(worker.wait(|| txn.insert(&worker, tree, key, ROW)), "a row is inserted");
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
    let is_there = must(worker.wait(|| txn.read(&worker, tree, key, &mut payload)), "a row is read");
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

/// Rows of a queue have the numbers from the first to the last; what was acknowledged of both ends.
#[derive(Default)]
struct Ends {
    inserted: AtomicU64,
    deleted: AtomicU64,
    /// What keys begin with: so many bytes. With long ones an inner page at the end of the tree has few children, so there are many inner pages.
    prefix: usize,
}

impl Ends {
    fn key(&self, number: u64) -> Vec<u8> {
        [&vec![b'k'; self.prefix][..], &number.to_be_bytes()].concat()
    }

    fn number(&self, key: &[u8]) -> u64 {
        let number = key.get(self.prefix..).and_then(|number| number.try_into().ok());
        number.map_or_else(|| fail("a key that nobody wrote"), u64::from_be_bytes)
    }
}

/// One thread inserts at one end, another deletes at the other, a third reads all in both directions, while purge takes the leaves that are
/// left empty out of the tree. Then the machine crashes somewhere, and the next life goes on.
fn queues_shrink_through_crashes(dir: &Path) {
    let mut rng = Rng::new(dir.to_string_lossy().bytes().fold(1, |hash: u64, byte| hash.wrapping_mul(31) + u64::from(byte)));
    let ends = Arc::new(Ends { prefix: if rng.chance(1, 2) { 1_000 } else { 0 }, ..Ends::default() });
    for life in 0..5 {
        let (dir, known) = (dir.to_path_buf(), ends.clone());
        let schedule = Schedule { points_per_choice: rng.within(2..=40), weight_max: 4, choices_per_stay: 2_000, parallelism: 2 };
        let kind = if rng.chance(2, 3) { CrashKind::Power } else { CrashKind::Process };
        let crash = (life < 4).then(|| (rng.within(2_000..=60_000), kind));
        let halt = scheduler::run_machine(schedule, crash, move || {
            let engine = must(open_for(&dir, 3), "a start");
            queue(&engine, &known, if crash.is_some() { u64::MAX } else { 60 });
            empty(&engine, &known);
            must(engine.shutdown(), "the engine stops");
            drop(engine);
            check(&dir);
        });
        assert!(matches!(halt, Halt::Ended | Halt::Crashed(_)), "{halt:?}");
    }
}

fn open_for(dir: &Path, workers: usize) -> Result<Arc<Engine>, Error> {
    Engine::open(Config {
        data_dir: dir.into(),
        buffer_pool_bytes: 1 << 20,
        undo_memory_bytes: 64 << 10,
        workers,
        durability: Durability::Full,
        recovery_target: txn::RECOVERY_TARGET,
    })
}

/// The numbers of the rows that are there, which must follow each other and lie between what was acknowledged.
fn rows(worker: &Worker, tree: TreeRef, ends: &Ends, reverse: bool) -> std::ops::Range<u64> {
    let (inserted, deleted) = (ends.inserted.load(Ordering::SeqCst), ends.deleted.load(Ordering::SeqCst));
    let mut txn = worker.begin(Isolation::RepeatableRead);
    let mut scan = Scan::new(tree, &[], &[], reverse, ReadMode::Snapshot);
    let mut found: Vec<u64> = Vec::new();
    while must(worker.wait(|| scan.fill(&mut txn, worker, 7)), "a scan") {
        while let Some(row) = scan.next_row() {
            found.push(ends.number(row.key));
        }
    }
    drop(txn.commit(worker));
    worker.park();
    if reverse {
        found.reverse();
    }
    if found.windows(2).any(|pair| pair[0] + 1 != pair[1]) {
        fail(&format!("rows are missing in the middle: {found:?}"));
    }
    let (Some(first), Some(last)) = (found.first(), found.last()) else {
        if inserted > ends.deleted.load(Ordering::SeqCst) + DELETED_AT_ONCE {
            fail("all rows are gone");
        }
        return inserted..inserted;
    };
    if *first < deleted || *last + 1 < inserted {
        fail(&format!("rows {first} to {last}, while {deleted} were deleted and {inserted} inserted"));
    }
    *first..*last + 1
}

const DELETED_AT_ONCE: u64 = 8;

fn queue(engine: &Arc<Engine>, ends: &Arc<Ends>, rounds: u64) {
    let tree = engine.catalog_tree();
    let worker = engine.worker(0);
    let there = rows(&worker, tree, ends, false);
    ends.inserted.store(there.end, Ordering::SeqCst);
    ends.deleted.store(there.start, Ordering::SeqCst);
    let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
        let spawned = os::thread::Builder::new().name(name.into()).spawn(run);
        spawned.unwrap_or_else(|e| fail(&format!("no thread: {e}")))
    };
    let (e, k) = (engine.clone(), ends.clone());
    let consumer = spawn(
        "consumer",
        Box::new(move || {
            let worker = e.worker(1);
            for _ in 0..rounds {
                delete(&worker, tree, &k, DELETED_AT_ONCE);
            }
        }),
    );
    let (e, k) = (engine.clone(), ends.clone());
    let reader = spawn(
        "reader",
        Box::new(move || {
            let worker = e.worker(2);
            for round in 0..rounds / 4 {
                rows(&worker, tree, &k, round % 2 == 0);
            }
        }),
    );
    for _ in 0..rounds {
        let begin = ends.inserted.load(Ordering::SeqCst);
        if begin - ends.deleted.load(Ordering::SeqCst) > 60 {
            worker.park();
            os::thread::sleep(Duration::from_micros(300));
        }
        let mut txn = worker.begin(Isolation::ReadCommitted);
        for n in begin..begin + DELETED_AT_ONCE {
            let done = worker.wait(|| txn.insert(&worker, tree, &ends.key(n), &[n as u8; 2_800]));
            assert_eq!(must(done, "a row is inserted"), InsertOutcome::Inserted);
        }
        finish(&worker, txn);
        ends.inserted.store(begin + DELETED_AT_ONCE, Ordering::SeqCst);
    }
    worker.park();
    for thread in [consumer, reader] {
        thread.join().unwrap_or_else(|_| fail("a thread panicked"));
    }
}

fn finish(worker: &Worker, mut txn: txn::Txn) {
    if let Some(stall) = txn.commit(worker) {
        worker.park();
        stall.wait_blocking();
    }
    worker.tick();
    worker.park();
}

/// Deletes the first rows, if there are so many.
fn delete(worker: &Worker, tree: TreeRef, ends: &Ends, count: u64) {
    let begin = ends.deleted.load(Ordering::SeqCst);
    if ends.inserted.load(Ordering::SeqCst) < begin + count {
        worker.park();
        return os::thread::sleep(Duration::from_micros(100));
    }
    let mut txn = worker.begin(Isolation::ReadCommitted);
    let mut payload = Vec::new();
    for n in begin..begin + count {
        let key = ends.key(n);
        let mode = txn::LockMode::Exclusive;
        let seen =
            must(worker.wait(|| txn.lock_row(worker, tree, &key, mode, WaitPolicy::Wait, &mut payload)), "a row is locked");
        let Some(seen) = seen else { fail(&format!("row {n} is not there to be deleted")) };
        must(worker.wait(|| txn.delete(worker, tree, &key, seen)), "a row is deleted");
    }
    finish(worker, txn);
    ends.deleted.store(begin + count, Ordering::SeqCst);
}

/// Deletes what is left, and waits for purge.
fn empty(engine: &Arc<Engine>, ends: &Ends) {
    let (worker, tree) = (engine.worker(0), engine.catalog_tree());
    let left = rows(&worker, tree, ends, false);
    ends.deleted.store(left.start, Ordering::SeqCst);
    delete(&worker, tree, ends, left.end - left.start);
    while engine.status().purge_backlog > 0 {
        os::thread::sleep(Duration::from_millis(5));
    }
    // The last job may be under way.
    os::thread::sleep(Duration::from_millis(50));
    if !rows(&worker, tree, ends, true).is_empty() {
        fail("deleted rows are there");
    }
}

/// The directory from outside: sound, and the tree is small again.
fn check(dir: &Path) {
    let offline = Offline::open(dir).unwrap_or_else(|e| fail(&format!("the directory cannot be checked: {e}")));
    let mut problems = Vec::new();
    match offline.check_pages(1, &|_| {}) {
        Ok(counts) => problems.extend(counts.problems),
        Err(e) => fail(&format!("the pages cannot be checked: {e}")),
    }
    offline.walk(&offline.whole(offline.catalog_tree()), &mut problems, &mut |_| {});
    if !problems.is_empty() {
        fail(&format!("the directory is not sound: {problems:?}"));
    }
}
