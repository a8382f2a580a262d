//! One run: life after life of one data directory, on one simulated machine.
//!
//! A life: 1. the engine opens, which recovers what the last life left; 2. every row is read, and the history of the last life is settled,
//! judged, and compared with the rows; 3. sessions run, and a thread that asks for checkpoints, fills the disk, makes and drops trees, resizes the
//! pool;
//! 4. either the machine crashes somewhere in all that, or the sessions end, the rows are compared again, the engine stops, and the
//! directory is checked from outside.

use crate::check;
use crate::executor::{self, Alarms};
use crate::history::{History, Key, Number};
use crate::log_damage;
use crate::model;
use crate::payload;
use crate::plan::Plan;
use crate::recorder::Recorder;
use crate::session::{ROLLBACK_TRIES, Session, Trees, decode, key_bytes};
use os::sim::disk::CrashKind;
use os::sim::file::{faults_seen, set_faults};
use os::sim::scheduler::{self, count, fail, note};
use os::sim::{Halt, Rng};
use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use storage::offline::Offline;
use sync::atomic::{AtomicBool, Ordering};
use txn::{Config, Durability, Engine, Error, InsertOutcome, Isolation, ReadMode, Scan, TreeRef, Worker};

pub(crate) const DIRECTORY: &str = "/data";
/// Where the catalog tree names the trees of the run.
const NAMES_KEY: &[u8] = b"simulation";

type Rows = BTreeMap<Key, Vec<u64>>;
type Journal = BTreeMap<u64, Number>;

/// What outlives the machine.
#[derive(Clone)]
pub(crate) struct Run {
    pub plan: Plan,
    recorder: Recorder,
    /// Trees and first rows were acknowledged.
    founded: Arc<AtomicBool>,
    /// The next life begins while no file can grow.
    starts_full: bool,
}

impl Run {
    pub fn is_founded(&self) -> bool {
        self.founded.load(Ordering::SeqCst)
    }
}

/// Runs a seed to its end. Whatever is wrong ends the process.
pub fn run(seed: u64) {
    let mut rng = Rng::new(seed ^ 0x5157_u64.rotate_left(40));
    let plan = Plan::draw(&mut rng);
    note(format_args!("{plan:?}"));
    let recorder = Recorder::default();
    recorder.state().history.lasting_keys = plan.lasting_keys;
    let mut run = Run { plan, recorder, founded: Arc::default(), starts_full: false };
    for life in 0..run.plan.lives {
        let last = life + 1 == run.plan.lives;
        let crash = if last { None } else { Plan::crash(&mut rng) };
        let halt = live(&run, &mut rng, crash, run.plan.faults);
        // What a process has written and reserved outlives it: its successor needs no more of the disk.
        let is_kept = matches!(halt, Halt::Ended | Halt::Crashed(CrashKind::Process));
        run.starts_full = run.plan.fills_up && run.is_founded() && is_kept && rng.chance(1, 2);
    }
    run.starts_full = false;
    if run.plan.damages_log && !log_damage::try_one(&run, &mut rng) {
        return;
    }
    // One more without faults: what the last crash left is judged, too.
    live(&run, &mut rng, None, Default::default());
    if run.plan.rots {
        rot(&run, &mut rng);
    }
}

pub(crate) fn live(run: &Run, rng: &mut Rng, crash: Option<(u64, CrashKind)>, faults: os::sim::disk::Faults) -> Halt {
    set_faults(|f| *f = Default::default());
    let (this, mut own) = (run.clone(), rng.fork());
    let schedule = Plan::schedule(rng);
    note(format_args!("a life begins: {schedule:?}, crash {crash:?}"));
    count("lives", 1);
    let halt = scheduler::run_machine(schedule, crash, move || life(&this, &mut own, faults));
    note(format_args!("the life ends: {halt:?}"));
    match halt {
        Halt::Ended => {}
        Halt::Crashed(_) => count("crashes", 1),
        Halt::Fatal if faults_seen() > 0 => count("stops by itself", 1),
        Halt::Fatal => fail("the engine stopped itself without a reason"),
    }
    halt
}

pub(crate) fn config(plan: &Plan) -> Config {
    Config {
        data_dir: PathBuf::from(DIRECTORY),
        buffer_pool_bytes: plan.pool_bytes,
        // A few segments, so that old versions go to the scratch file.
        undo_memory_bytes: 64 << 10,
        recovery_target: txn::RECOVERY_TARGET,
        workers: plan.workers,
        durability: plan.durability,
    }
}

fn life(run: &Run, rng: &mut Rng, faults: os::sim::disk::Faults) {
    // Half the time also while it recovers.
    let early = rng.chance(1, 2);
    let before = faults_seen();
    if early {
        set_faults(|f| *f = faults);
    }
    if run.starts_full {
        count("starts on a full disk", 1);
        set_faults(|f| *f = os::sim::disk::Faults { full: true, ..Default::default() });
    }
    let engine = match Engine::open(config(&run.plan)) {
        Ok(engine) => engine,
        Err(e) if run.starts_full => fail(&format!("the engine does not open on a full disk: {e}")),
        Err(e) if faults_seen() > before => return note(format_args!("does not open: {e}")),
        Err(e) => fail(&format!("the engine does not open: {e}")),
    };
    set_faults(|f| *f = Default::default());
    let spare = engine.spare_worker().unwrap_or_else(|| fail("no spare worker"));
    let trees = match found(run, &spare).and_then(|trees| look(run, &spare, trees).map(|()| trees)) {
        Ok(trees) => trees,
        // A page that was read badly while the engine opened stays refused until the next start.
        Err(e) if faults_seen() > before => return note(format_args!("cannot be read: {e}")),
        Err(e) => fail(&format!("the rows cannot be read: {e}")),
    };
    set_faults(|f| *f = faults);
    serve(run, rng, &engine, trees);
    set_faults(|f| *f = Default::default());
    let broken = faults_seen() > before;
    if run.plan.durability != Durability::Full {
        // What is judged now must not be lost later.
        engine.checkpoint();
    }
    match look(run, &spare, trees) {
        Ok(()) => {}
        Err(e) if broken => return note(format_args!("cannot be read: {e}")),
        Err(e) => fail(&format!("the rows cannot be read: {e}")),
    }
    drop(spare);
    if let Err(e) = engine.shutdown() {
        fail(&format!("the engine does not stop: {e}"));
    }
    drop(engine);
    check_directory(trees);
    count("clean stops", 1);
}

/// The trees of the run, if the catalog has them.
pub(crate) fn known_trees(worker: &Worker) -> Result<Option<Trees>, Error> {
    let catalog = worker.engine().catalog_tree();
    let mut txn = worker.begin(Isolation::RepeatableRead);
    let mut row = Vec::new();
    let there = worker.wait(|| txn.read(worker, catalog, NAMES_KEY, &mut row));
    drop(txn.commit(worker));
    let number = |at: usize| u32::from_le_bytes(row[at..at + 4].try_into().expect("four bytes"));
    let tree = |at: usize| TreeRef { id: number(at), root: number(at + 4) };
    Ok(there?.then(|| Trees { rows: tree(0), journal: tree(8) }))
}

/// The trees of the run, made by the first life that gets so far.
fn found(run: &Run, worker: &Worker) -> Result<Trees, Error> {
    let catalog = worker.engine().catalog_tree();
    if let Some(trees) = known_trees(worker)? {
        return Ok(trees);
    }
    if run.founded.load(Ordering::SeqCst) {
        fail("the catalog's row was acknowledged and is lost");
    }
    let rows = worker.wait(|| worker.create_tree())?;
    let journal = worker.wait(|| worker.create_tree())?;
    let names: Vec<u8> = [rows.id, rows.root, journal.id, journal.root].iter().flat_map(|n| n.to_le_bytes()).collect();
    let mut txn = worker.begin(Isolation::RepeatableRead);
    let mut base = Rows::new();
    for key in 0..run.plan.filled {
        let elements = vec![run.recorder.element()];
        let bytes = payload::encode(&elements, run.plan.padding_max);
        worker.wait(|| txn.insert(worker, rows, &key_bytes(key), &bytes))?;
        base.insert(key, elements);
    }
    let inserted = worker.wait(|| txn.insert(worker, catalog, NAMES_KEY, &names))?;
    if inserted != InsertOutcome::Inserted {
        fail("the catalog's row is there and was not found");
    }
    // If the machine crashes from here on, the rows may be there. What an earlier life has done is lost, as it may be.
    run.recorder.state().history = History { base, transactions: Vec::new(), lasting_keys: run.plan.lasting_keys };
    if let Some(stall) = txn.commit(worker) {
        stall.wait_blocking();
    }
    if run.plan.durability == Durability::Full {
        run.founded.store(true, Ordering::SeqCst);
    }
    Ok(Trees { rows, journal })
}

pub(crate) fn read_all(worker: &Worker, trees: Trees) -> Result<(Rows, Journal), Error> {
    let mut txn = worker.begin(Isolation::RepeatableRead);
    let mut read = |tree: TreeRef, take: &mut dyn FnMut(Key, &[u8])| -> Result<(), Error> {
        let mut scan = Scan::new(tree, &[], &[], false, ReadMode::Snapshot);
        while worker.wait(|| scan.fill(&mut txn, worker, 100))? {
            while let Some(row) = scan.next_row() {
                let key = row.key.try_into().unwrap_or_else(|_| fail("a key of another length"));
                take(Key::from_be_bytes(key), row.payload);
            }
        }
        Ok(())
    };
    let (mut rows, mut journal) = (Rows::new(), Journal::new());
    let read = read(trees.rows, &mut |key, bytes| {
        rows.insert(key, decode(key, bytes));
    })
    .and_then(|()| {
        read(trees.journal, &mut |key, bytes| {
            journal.insert(key, Number::from_be_bytes(bytes.try_into().unwrap_or_else(|_| fail("a foreign journal row"))));
        })
    });
    drop(txn.commit(worker));
    read.map(|()| (rows, journal))
}

/// Reads every row; settles and judges what was done since the last time.
fn look(run: &Run, worker: &Worker, trees: Trees) -> Result<(), Error> {
    let (rows, journal) = read_all(worker, trees)?;
    // Not a point in what follows: the next history begins with it, whatever happens to this life.
    let mut state = run.recorder.state();
    let mut history = std::mem::take(&mut state.history);
    let lasts = run.plan.durability == Durability::Full;
    model::settle(&mut history, &journal, lasts).unwrap_or_else(|why| fail(&why));
    let expected = model::rows(&history);
    model::compare(&expected, &rows).unwrap_or_else(|why| fail(&why));
    let judged = check::check(&history).unwrap_or_else(|why| fail(&why));
    state.history = History { base: rows, transactions: Vec::new(), lasting_keys: history.lasting_keys };
    drop(state);
    count("reads judged", judged.reads);
    count("dependencies judged", judged.dependencies);
    Ok(())
}

/// The sessions' part of a life.
fn serve(run: &Run, rng: &mut Rng, engine: &Arc<Engine>, trees: Trees) {
    let over = Arc::new(AtomicBool::new(false));
    let spawn = |name: String, body: Box<dyn FnOnce() + Send>| {
        let thread = os::thread::Builder::new().name(name).spawn(body);
        thread.unwrap_or_else(|e| fail(&format!("the system gives no more threads: {e}")))
    };
    let troubles = {
        let (engine, over, own, fills) = (engine.clone(), over.clone(), rng.fork(), run.plan.fills_up);
        spawn("troubles".into(), Box::new(move || trouble(&engine, own, &over, fills)))
    };
    let workers: Vec<_> = (0..run.plan.workers)
        .map(|index| {
            let (run, engine, own) = (run.clone(), engine.clone(), rng.fork());
            spawn(format!("worker-{index}"), Box::new(move || work(&run, &engine, index, own, trees)))
        })
        .collect();
    workers.into_iter().for_each(|worker| drop(worker.join()));
    over.store(true, Ordering::SeqCst);
    drop(troubles.join());
}

fn work(run: &Run, engine: &Arc<Engine>, index: usize, mut rng: Rng, trees: Trees) {
    let worker = Rc::new(engine.worker(index));
    let alarms = Alarms::default();
    let sessions = (0..run.plan.sessions_per_worker).map(|n| {
        let session = Session {
            id: (index * run.plan.sessions_per_worker + n) as u64 + 1,
            rng: rng.fork(),
            worker: worker.clone(),
            alarms: alarms.clone(),
            plan: run.plan.clone(),
            trees,
            recorder: run.recorder.clone(),
        };
        Box::pin(session.run()) as Pin<Box<dyn Future<Output = ()>>>
    });
    executor::run(&worker, &alarms, sessions.collect());
}

/// What happens besides: checkpoints, a full disk, trees that come and go, another size of the pool.
fn trouble(engine: &Arc<Engine>, mut rng: Rng, over: &AtomicBool, fills_up: bool) {
    let pause = *rng.pick(&[300, 3_000, 30_000]);
    while !over.load(Ordering::SeqCst) {
        os::thread::sleep(Duration::from_micros(rng.below(pause)));
        match rng.below(7) {
            0 | 1 => engine.checkpoint(),
            6 => resize(engine, &mut rng),
            2 if fills_up => {
                set_faults(|f| f.full = true);
                note(format_args!("the disk is full"));
                os::thread::sleep(Duration::from_micros(rng.below(20_000)));
                set_faults(|f| f.full = false);
                note(format_args!("the disk has room"));
            }
            3 => come_and_go(engine, &mut rng),
            _ => {}
        }
    }
}

/// The pool becomes larger or smaller, down to the least.
fn resize(engine: &Arc<Engine>, rng: &mut Rng) {
    let outcome = engine.resize_pool(*rng.pick(&[0, 1 << 20, 3 << 19, 2 << 20, 4 << 20]));
    note(format_args!("the pool's size: {outcome:?}"));
    count("resizes", 1);
}

/// A tree that nobody else knows is filled and dropped.
fn come_and_go(engine: &Arc<Engine>, rng: &mut Rng) {
    let Some(worker) = engine.spare_worker() else { return };
    let mut fill = || -> Result<(), Error> {
        let tree = worker.wait(|| worker.create_tree())?;
        let mut txn = worker.begin(Isolation::ReadCommitted);
        let mut filled = Ok(());
        for key in 0..rng.below(60) {
            let bytes = payload::encode(&[key], 3_000);
            filled = worker.wait(|| txn.insert(&worker, tree, &key_bytes(key), &bytes)).map(drop);
            if filled.is_err() {
                break;
            }
        }
        if filled.is_err() || rng.chance(1, 2) {
            let mut tries = ROLLBACK_TRIES;
            while worker.wait(|| txn.rollback(&worker)).is_err() {
                tries -= 1;
                if tries == 0 {
                    os::fatal("a rollback cannot be finished");
                }
                os::thread::sleep(Duration::from_millis(1));
            }
        } else if let Some(stall) = txn.commit(&worker) {
            worker.park();
            stall.wait_blocking();
        }
        while !worker.wait(|| worker.drop_tree_slice(tree))? {}
        Ok(())
    };
    if let Err(e) = fill()
        && faults_seen() == 0
    {
        fail(&format!("a tree cannot be made, filled and dropped: {e}"));
    }
}

/// Checks the directory of a stopped engine from outside.
fn check_directory(trees: Trees) {
    let offline = Offline::open(Path::new(DIRECTORY)).unwrap_or_else(|e| fail(&format!("the directory cannot be checked: {e}")));
    if !offline.is_clean() {
        fail("the directory was stopped in good order and does not say so");
    }
    let mut problems = Vec::new();
    match offline.check_pages(1, &|_| {}) {
        Ok(counts) => problems.extend(counts.problems),
        Err(e) => fail(&format!("the pages cannot be checked: {e}")),
    }
    for tree in [offline.catalog_tree(), trees.rows, trees.journal] {
        offline.walk(&offline.whole(tree), &mut problems, &mut |_| {});
    }
    if !problems.is_empty() {
        fail(&format!("the directory is not sound: {:?}", &problems[..problems.len().min(3)]));
    }
}

/// A durable bit of the data file changes. Whatever is read after that is right, or an error.
fn rot(run: &Run, rng: &mut Rng) {
    let Some(at) = os::sim::file::rot(&Path::new(DIRECTORY).join("heddle.data")) else { return };
    note(format_args!("a bit of heddle.data changes at {at}"));
    let this = run.clone();
    scheduler::run_machine(Plan::schedule(rng), None, move || {
        let Ok(engine) = Engine::open(config(&this.plan)) else { return count("rot noticed", 1) };
        let Some(worker) = engine.spare_worker() else { return };
        let expected = this.recorder.state().history.base.clone();
        let Ok(trees) = found(&this, &worker) else { return count("rot noticed", 1) };
        let mut txn = worker.begin(Isolation::RepeatableRead);
        let mut row = Vec::new();
        for key in 0..this.plan.keys {
            match worker.wait(|| txn.read(&worker, trees.rows, &key_bytes(key), &mut row)) {
                Ok(there) => {
                    let found = there.then(|| decode(key, &row));
                    if found.as_ref() != expected.get(&key) {
                        fail(&format!("after a bit changed, key {key} is {found:?} and was {:?}", expected.get(&key)));
                    }
                }
                Err(_) => count("rot noticed", 1),
            }
        }
        drop(txn.commit(&worker));
        drop(worker);
    });
}
