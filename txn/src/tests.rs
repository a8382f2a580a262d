//! The engine under threads, against models, and over restarts.

mod count;
mod follow;
mod pages;
mod past;
mod pool_size;
mod prepared;

use crate::*;
use count::count_rows;
use std::cell::RefCell;
use std::future::Future;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub(crate) struct TempDir(pub(crate) PathBuf);

impl TempDir {
    pub(crate) fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("heddle-txn-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        Self(dir)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn open(dir: &TempDir, pool_mib: u64) -> Arc<Engine> {
    Engine::open(Config {
        data_dir: dir.0.clone(),
        buffer_pool_bytes: pool_mib << 20,
        undo_memory_bytes: 64 << 20,
        recovery_target: crate::RECOVERY_TARGET,
        workers: 4,
        durability: Durability::None,
    })
    .expect("opens")
}

pub(crate) fn key(n: u64) -> [u8; 8] {
    n.to_be_bytes()
}

/// The rows of a tree, by a batch of records, by the page, and counted.
pub(crate) fn all_rows(worker: &Worker, tree: TreeRef, reverse: bool) -> Vec<(u64, Vec<u8>)> {
    worker.tick();
    let mut txn = worker.begin(Isolation::RepeatableRead);
    let scan = || Scan::new(tree, &[], &[], reverse, ReadMode::Snapshot);
    let out = rows_of(worker, &mut txn, scan(), 64);
    let mut by_page = scan();
    by_page.set_by_page();
    assert_eq!(rows_of(worker, &mut txn, by_page, usize::MAX), out);
    assert_eq!(count_rows(worker, &mut txn, tree, &[], &[]), out.len() as u64);
    assert!(txn.commit(worker).is_none());
    out
}

pub(crate) fn rows_of(worker: &Worker, txn: &mut Txn, mut scan: Scan, batch: usize) -> Vec<(u64, Vec<u8>)> {
    let mut out = Vec::new();
    while worker.wait(|| scan.fill(txn, worker, batch)).expect("scans") {
        while let Some(row) = scan.next_row() {
            let key = [row.prefix, row.key].concat();
            out.push((u64::from_be_bytes(key.try_into().expect("8 bytes")), row.payload.to_vec()));
        }
    }
    out
}

#[test]
fn rows_come_back_after_restart_and_eviction() {
    let dir = TempDir::new("restart");
    let rows = 30_000u64;
    let tree = {
        let engine = open(&dir, 4);
        let worker = engine.worker(0);
        let tree = worker.wait(|| worker.create_tree()).expect("a tree");
        let mut txn = worker.begin(Isolation::RepeatableRead);
        for n in 0..rows {
            let n = n * 7919 % rows;
            let payload = vec![n as u8; 300];
            assert_eq!(worker.wait(|| txn.insert(&worker, tree, &key(n), &payload)).expect("ok"), InsertOutcome::Inserted);
        }
        assert_eq!(worker.wait(|| txn.insert(&worker, tree, &key(5), b"")).expect("ok"), InsertOutcome::Duplicate);
        let _ = txn.commit(&worker);
        // One more, rolled back.
        let mut txn = worker.begin(Isolation::RepeatableRead);
        let mut payload = Vec::new();
        let seen = worker.wait(|| txn.read_latest(&worker, tree, &key(9), &mut payload)).expect("ok").expect("there");
        worker.wait(|| txn.update(&worker, tree, &key(9), seen, b"changed")).expect("ok");
        worker.wait(|| txn.insert(&worker, tree, &key(rows + 1), b"new")).expect("ok");
        worker.wait(|| txn.rollback(&worker)).expect("ok");
        drop(worker);
        engine.shutdown().expect("stops");
        assert!(engine.status().pages_evicted > 0);
        tree
    };
    let engine = open(&dir, 4);
    let worker = engine.worker(0);
    let found = all_rows(&worker, tree, false);
    assert_eq!(found.len() as u64, rows);
    assert!(found.iter().enumerate().all(|(i, (n, payload))| i as u64 == *n && *payload == vec![*n as u8; 300]));
    let mut backward = all_rows(&worker, tree, true);
    backward.reverse();
    assert_eq!(backward, found);
}

#[test]
fn snapshots_are_stable_and_deletes_are_purged() {
    let dir = TempDir::new("snapshot");
    let engine = open(&dir, 8);
    let (a, b) = (engine.worker(0), engine.worker(1));
    let tree = a.wait(|| a.create_tree()).expect("a tree");
    let mut setup = a.begin(Isolation::RepeatableRead);
    for n in 0..500 {
        a.wait(|| setup.insert(&a, tree, &key(n), b"first")).expect("ok");
    }
    let _ = setup.commit(&a);
    b.tick();
    let mut reader = b.begin(Isolation::RepeatableRead);
    reader.take_snapshot(&b);
    for round in 0..20u8 {
        let mut txn = a.begin(Isolation::RepeatableRead);
        for n in 0..500 {
            let mut payload = Vec::new();
            let seen = a.wait(|| txn.read_latest(&a, tree, &key(n), &mut payload)).expect("ok");
            match seen {
                Some(seen) if n % 3 == 0 && round == 19 => {
                    a.wait(|| txn.delete(&a, tree, &key(n), seen)).expect("ok");
                }
                Some(seen) => {
                    a.wait(|| txn.update(&a, tree, &key(n), seen, &[round; 40])).expect("ok");
                }
                None => panic!("row {n} is gone in round {round}"),
            }
        }
        let _ = txn.commit(&a);
    }
    let mut payload = Vec::new();
    for n in 0..500 {
        assert!(b.wait(|| reader.read(&b, tree, &key(n), &mut payload)).expect("ok"));
        assert_eq!(payload, b"first");
    }
    let mut scan = Scan::new(tree, &key(100), &key(200), true, ReadMode::Snapshot);
    let mut seen = 0;
    while b.wait(|| scan.fill(&mut reader, &b, 7)).expect("ok") {
        while let Some(row) = scan.next_row() {
            assert_eq!(row.payload, b"first");
            seen += 1;
        }
    }
    assert_eq!(seen, 100);
    assert_eq!(count_rows(&b, &mut reader, tree, &key(100), &key(200)), 100);
    assert_eq!(count_rows(&b, &mut reader, tree, &[], &[]), 500);
    a.tick();
    let mut newer = a.begin(Isolation::RepeatableRead);
    assert_eq!(count_rows(&a, &mut newer, tree, &key(100), &key(200)), 67);
    // Its own changes count for itself, and for who reads what is not committed.
    a.wait(|| newer.insert(&a, tree, &key(1000), b"mine")).expect("ok");
    assert_eq!(count_rows(&a, &mut newer, tree, &key(900), &[]), 1);
    for (isolation, rows) in [(Isolation::ReadUncommitted, 1), (Isolation::ReadCommitted, 0)] {
        let mut other = a.begin(isolation);
        assert_eq!(count_rows(&a, &mut other, tree, &key(900), &[]), rows);
        assert!(other.commit(&a).is_none());
    }
    a.wait(|| newer.rollback(&a)).expect("ok");
    assert!(engine.status().purge_backlog > 0);
    assert!(reader.commit(&b).is_none());
    assert_eq!(all_rows(&a, tree, false).len(), 500 - 167);
    a.park();
    b.park();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while engine.status().purge_backlog > 0 && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(engine.status().purge_backlog, 0);
    // The same keys can come again.
    a.tick();
    let mut again = a.begin(Isolation::RepeatableRead);
    assert_eq!(a.wait(|| again.insert(&a, tree, &key(3), b"again")).expect("ok"), InsertOutcome::Inserted);
    let _ = again.commit(&a);
}

/// The directory as a crash at this moment would leave it.
fn crashed_copy(from: &TempDir, name: &str) -> TempDir {
    let to = TempDir::new(name);
    std::fs::create_dir_all(to.0.join("redo")).expect("makes");
    for folder in ["", "redo"] {
        for entry in std::fs::read_dir(from.0.join(folder)).expect("lists") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                std::fs::copy(&path, to.0.join(folder).join(path.file_name().expect("a name"))).expect("copies");
            }
        }
    }
    to
}

/// A transaction inserts a row, undoes that (another one inserts the row and commits), and changes it: a crash undoes only the last change
/// of it. What it changed, undid and changed again is undone once.
#[test]
fn recovery_undoes_an_open_transaction_from_its_last_change_back() {
    let dir = TempDir::new("losers");
    let config = Config {
        data_dir: dir.0.clone(),
        buffer_pool_bytes: 8 << 20,
        undo_memory_bytes: 64 << 20,
        recovery_target: crate::RECOVERY_TARGET,
        workers: 4,
        durability: Durability::Full,
    };
    let engine = Engine::open(config).expect("opens");
    let (a, b) = (engine.worker(0), engine.worker(1));
    let tree = a.wait(|| a.create_tree()).expect("a tree");
    let put = |worker: &Worker, txn: &mut Txn, n: u64, value: &[u8]| {
        let mut payload = Vec::new();
        match worker.wait(|| txn.read_latest(worker, tree, &key(n), &mut payload)).expect("ok") {
            Some(seen) => {
                assert_eq!(worker.wait(|| txn.update(worker, tree, &key(n), seen, value)).expect("ok"), WriteOutcome::Done)
            }
            None => {
                assert_eq!(worker.wait(|| txn.insert(worker, tree, &key(n), value)).expect("ok"), InsertOutcome::Inserted)
            }
        }
    };
    let commit = |worker: &Worker, mut txn: Txn| txn.commit(worker).into_iter().for_each(Stall::wait_blocking);
    let mut setup = a.begin(Isolation::ReadCommitted);
    put(&a, &mut setup, 1, b"first");
    commit(&a, setup);

    let mut loser = a.begin(Isolation::ReadCommitted);
    put(&a, &mut loser, 7, b"mine");
    let savepoint = loser.savepoint();
    put(&a, &mut loser, 1, b"undone");
    put(&a, &mut loser, 8, b"undone");
    a.wait(|| loser.rollback_to(&a, savepoint)).expect("ok");
    let mut other = b.begin(Isolation::ReadCommitted);
    put(&b, &mut other, 8, b"other");
    commit(&b, other);
    put(&a, &mut loser, 8, b"lost");
    put(&a, &mut loser, 1, b"lost");
    put(&a, &mut loser, 1, b"lost, too");
    put(&a, &mut loser, 7, b"mine again");
    // Its commit brings the log of all to the disk.
    let mut last = b.begin(Isolation::ReadCommitted);
    put(&b, &mut last, 9, b"last");
    commit(&b, last);

    let copy = crashed_copy(&dir, "losers-crashed");
    a.wait(|| loser.rollback(&a)).expect("ok");
    let expected = [(1, b"first".to_vec()), (8, b"other".to_vec()), (9, b"last".to_vec())];
    assert_eq!(all_rows(&a, tree, false), expected);
    let recovered = open(&copy, 8);
    assert_eq!(all_rows(&recovered.worker(0), tree, false), expected);
    recovered.shutdown().expect("stops");
}

/// Who is alone flushes its commits itself. Where two think so, one waits for the other, who has the flusher see to it.
#[test]
fn commits_of_who_is_alone_are_durable_at_once() {
    const ROUNDS: u64 = 200;
    let dir = TempDir::new("alone");
    let config = Config {
        data_dir: dir.0.clone(),
        buffer_pool_bytes: 8 << 20,
        undo_memory_bytes: 64 << 20,
        recovery_target: crate::RECOVERY_TARGET,
        workers: 4,
        durability: Durability::Full,
    };
    let engine = Engine::open(config).expect("opens");
    let a = engine.worker(0);
    let tree = a.wait(|| a.create_tree()).expect("a tree");
    let insert = |worker: &Worker, n: u64| {
        let mut txn = worker.begin(Isolation::ReadCommitted);
        assert_eq!(worker.wait(|| txn.insert(worker, tree, &key(n), b"row")).expect("ok"), InsertOutcome::Inserted);
        txn.commit(worker)
    };
    insert(&a, 0).expect("the flusher does it").wait_blocking();
    a.set_company(Company::Nobody);
    let flushes = engine.status().log_flushes;
    // The flusher wakes whom it has flushed for before it leaves the seat, and the cleaner may want a flush.
    let waits = (1..100).filter(|n| insert(&a, *n).map(Stall::wait_blocking).is_some()).count();
    assert!(waits < 50, "it waits for the flusher {waits} times");
    assert!(engine.status().log_flushes >= flushes + 99);
    drop(a);
    // Both begin each round at once, as nearly as they can.
    let arrived = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for index in 0..2u64 {
            let (engine, arrived) = (&engine, &arrived);
            scope.spawn(move || {
                let worker = engine.worker(index as usize);
                worker.set_company(Company::Nobody);
                for n in 0..ROUNDS {
                    arrived.fetch_add(1, Ordering::SeqCst);
                    let began = std::time::Instant::now();
                    while arrived.load(Ordering::SeqCst) < 2 * (n + 1) {
                        assert!(began.elapsed() < std::time::Duration::from_secs(90), "the other one has failed");
                        std::thread::yield_now();
                    }
                    let Some(stall) = insert(&worker, 100 + n * 2 + index) else { continue };
                    let stall = RefCell::new(stall);
                    let is_ready = || {
                        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
                        std::pin::Pin::new(&mut *stall.borrow_mut()).poll(&mut context).is_ready()
                    };
                    until("a commit is left waiting", is_ready);
                }
                worker.park();
            });
        }
    });
    let recovered = open(&crashed_copy(&dir, "alone-crashed"), 8);
    let there: Vec<u64> = all_rows(&recovered.worker(0), tree, false).into_iter().map(|(key, _)| key).collect();
    assert!(there.into_iter().eq(0..100 + 2 * ROUNDS));
    recovered.shutdown().expect("stops");
}

fn records(engine: &Engine, tree: TreeRef) -> usize {
    let mut count = 0;
    let (mut place, mut fence) = (Vec::new(), Vec::new());
    loop {
        storage::blocking(|| {
            let leaf = engine.store.latch_leaf(tree, &place)?;
            count += leaf.page.slots();
            fence.clear();
            assert!(leaf.page.high_fence(&mut fence));
            Ok(())
        })
        .expect("reads");
        if fence.is_empty() {
            return count;
        }
        std::mem::swap(&mut place, &mut fence);
    }
}

fn until(what: &str, done: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !done() {
        assert!(std::time::Instant::now() < deadline, "{what}");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Rows are inserted at one end and deleted at the other, for long: the tree has the pages that its rows need, and their numbers are used
/// again. A wide queue has many parents of leaves, which are used up, too.
fn queue(name: &str, pool_mib: u64, width: u64, rounds: u64) {
    let dir = TempDir::new(name);
    let engine = open(&dir, pool_mib);
    let (worker, other) = (engine.worker(0), engine.worker(1));
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    let pages = || {
        until("purge has no work left", || engine.status().purge_backlog == 0 && engine.purge.is_idle());
        engine.store.tree_pages(tree).expect("reads")
    };
    let delete = |rows: std::ops::Range<u64>| {
        let mut txn = other.begin(Isolation::ReadCommitted);
        let mut payload = Vec::new();
        for n in rows {
            let seen = other.wait(|| txn.read_latest(&other, tree, &key(n), &mut payload)).expect("ok").expect("there");
            other.wait(|| txn.delete(&other, tree, &key(n), seen)).expect("ok");
        }
        let _ = txn.commit(&other);
        [&worker, &other].into_iter().for_each(|w| {
            w.tick();
            w.park();
        });
    };
    let mut largest = 0;
    for round in 0..rounds {
        let mut txn = worker.begin(Isolation::ReadCommitted);
        for n in round * width..(round + 1) * width {
            // Four rows to a leaf.
            worker.wait(|| txn.insert(&worker, tree, &key(n), &[7; 3_800])).expect("ok");
        }
        let _ = txn.commit(&worker);
        delete(round.max(1) * width - width..round * width);
        let pages = pages();
        largest = largest.max(pages.len() as u64);
        assert!(pages.len() as u64 <= width / 4 + width / 400 + 4, "round {round}: {} pages", pages.len());
        // Two widths, before the older one is deleted.
        assert!(pages.iter().all(|number| u64::from(*number) < 3 * (width / 4 + 10)), "round {round}: {:?}", pages.iter().max());
        assert_eq!(all_rows(&worker, tree, round % 2 == 0).len() as u64, width);
        worker.park();
    }
    delete((rounds - 1) * width..rounds * width);
    assert!(pages().len() < 6, "{} pages of an empty tree", pages().len());
    drop((worker, other));
    engine.shutdown().expect("stops");
    drop(engine);
    let engine = open(&dir, pool_mib);
    assert!(all_rows(&engine.worker(0), tree, false).is_empty());
}

#[test]
fn a_queue_does_not_grow() {
    queue("queue", 8, 200, if cfg!(miri) { 2 } else { 60 });
}

#[test]
fn a_wide_queue_uses_up_its_inner_pages() {
    if !cfg!(miri) {
        queue("wide-queue", 64, 4_000, 3);
    }
}

/// What purge does to a tree of which everything is deleted, and who looks meanwhile.
#[test]
fn a_tree_is_emptied_under_readers_and_filled_again() {
    const ROWS: u64 = if cfg!(miri) { 40 } else { 4_000 };
    let dir = TempDir::new("emptied");
    let engine = open(&dir, 8);
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for (index, reverse) in [(1, false), (2, true)] {
            let (engine, stop) = (&engine, &stop);
            scope.spawn(move || {
                let worker = engine.worker(index);
                while !stop.load(Ordering::Relaxed) {
                    // Each round writes and deletes in one transaction each: a snapshot sees all rows or none.
                    let found = all_rows(&worker, tree, reverse);
                    assert!(found.is_empty() || found.len() as u64 == ROWS, "{} rows", found.len());
                    worker.park();
                }
            });
        }
        for round in 0..if cfg!(miri) { 1 } else { 6 } {
            let mut txn = worker.begin(Isolation::RepeatableRead);
            for n in 0..ROWS {
                let n = if round % 2 == 0 { n } else { n * 7 % ROWS };
                worker.wait(|| txn.insert(&worker, tree, &key(n), &[round as u8; 700])).expect("ok");
            }
            let _ = txn.commit(&worker);
            let mut txn = worker.begin(Isolation::RepeatableRead);
            let mut payload = Vec::new();
            for n in 0..ROWS {
                // From both ends, and from the middle.
                let n = [n, ROWS - 1 - n, (n + ROWS / 2) % ROWS][round % 3];
                let seen = worker.wait(|| txn.read_latest(&worker, tree, &key(n), &mut payload)).expect("ok").expect("there");
                worker.wait(|| txn.delete(&worker, tree, &key(n), seen)).expect("ok");
            }
            let _ = txn.commit(&worker);
            worker.tick();
            worker.park();
        }
        stop.store(true, Ordering::Relaxed);
    });
    until("purge has no work left", || engine.status().purge_backlog == 0 && engine.purge.is_idle());
    let left = engine.store.tree_pages(tree).expect("reads").len();
    assert!(left < 8, "{left} pages of an empty tree");
    assert!(all_rows(&worker, tree, false).is_empty());
}

/// Rows that were deleted, but not purged before the server stopped, are taken out when a scan meets them.
#[test]
fn tombstones_of_an_earlier_run_are_swept() {
    let dir = TempDir::new("sweep");
    let rows = 2_000;
    let tree = {
        let engine = open(&dir, 8);
        let (a, b) = (engine.worker(0), engine.worker(1));
        let tree = a.wait(|| a.create_tree()).expect("a tree");
        let mut txn = a.begin(Isolation::RepeatableRead);
        for n in 0..rows {
            a.wait(|| txn.insert(&a, tree, &key(n), &[1; 40])).expect("ok");
        }
        let _ = txn.commit(&a);
        b.tick();
        let mut reader = b.begin(Isolation::RepeatableRead);
        reader.take_snapshot(&b);
        let mut txn = a.begin(Isolation::RepeatableRead);
        let mut payload = Vec::new();
        for n in (0..rows).filter(|n| n % 10 != 0) {
            let seen = a.wait(|| txn.read_latest(&a, tree, &key(n), &mut payload)).expect("ok").expect("there");
            a.wait(|| txn.delete(&a, tree, &key(n), seen)).expect("ok");
        }
        let _ = txn.commit(&a);
        engine.shutdown().expect("stops");
        assert!(engine.status().purge_backlog > 0, "the reader holds the purge back");
        assert!(reader.commit(&b).is_none());
        tree
    };
    let engine = open(&dir, 8);
    assert_eq!(records(&engine, tree) as u64, rows);
    let worker = engine.worker(0);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while records(&engine, tree) as u64 > rows / 10 && std::time::Instant::now() < until {
        assert_eq!(all_rows(&worker, tree, false).len() as u64, rows / 10);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(records(&engine, tree) as u64, rows / 10);
    assert_eq!(all_rows(&worker, tree, false).len() as u64, rows / 10);
}

/// The empty key is the least of all: a scan that stops at a row never stops at it from above, where "" would mean the end of the tree.
#[test]
fn scans_with_an_empty_key_end() {
    let dir = TempDir::new("empty-key");
    let engine = open(&dir, 8);
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    let mut txn = worker.begin(Isolation::RepeatableRead);
    let keys: [&[u8]; 4] = [b"", b"\0", b"a", b"b"];
    for key in keys {
        worker.wait(|| txn.insert(&worker, tree, key, key)).expect("ok");
    }
    let _ = txn.commit(&worker);
    let modes = [ReadMode::Snapshot, ReadMode::Latest, ReadMode::Lock(LockMode::Share, WaitPolicy::Wait)];
    for (mode, reverse, rows_max) in modes.into_iter().flat_map(|m| (1..6).flat_map(move |n| [(m, false, n), (m, true, n)])) {
        let mut txn = worker.begin(Isolation::RepeatableRead);
        let mut scan = Scan::new(tree, &[], &[], reverse, mode);
        let mut found = Vec::new();
        while worker.wait(|| scan.fill(&mut txn, &worker, rows_max)).expect("scans") {
            while let Some(row) = scan.next_row() {
                found.push(row.key.to_vec());
            }
            assert!(found.len() <= keys.len(), "{mode:?} {reverse} {rows_max}: {found:?}");
        }
        if reverse {
            found.reverse();
        }
        assert_eq!(found, keys, "{mode:?} {reverse} {rows_max}");
        worker.wait(|| txn.rollback(&worker)).expect("ok");
    }
}

#[test]
fn savepoints_undo_their_part() {
    let dir = TempDir::new("savepoint");
    let engine = open(&dir, 8);
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    let mut txn = worker.begin(Isolation::RepeatableRead);
    let mut payload = Vec::new();
    worker.wait(|| txn.insert(&worker, tree, &key(1), b"one")).expect("ok");
    let savepoint = txn.savepoint();
    let seen = worker.wait(|| txn.read_latest(&worker, tree, &key(1), &mut payload)).expect("ok").expect("there");
    worker.wait(|| txn.delete(&worker, tree, &key(1), seen)).expect("ok");
    worker.wait(|| txn.insert(&worker, tree, &key(1), b"one again")).expect("ok");
    worker.wait(|| txn.insert(&worker, tree, &key(2), b"two")).expect("ok");
    worker.wait(|| txn.rollback_to(&worker, savepoint)).expect("ok");
    let _ = txn.commit(&worker);
    assert_eq!(all_rows(&worker, tree, false), vec![(1, b"one".to_vec())]);
}

/// A row as it is between two changes of one transaction, copied before its commit and judged after it.
#[test]
fn current_reads_take_no_version_between_two_changes() {
    let dir = TempDir::new("between");
    let engine = open(&dir, 8);
    let (a, b) = (engine.worker(0), Rc::new(engine.worker(1)));
    let tree = a.wait(|| a.create_tree()).expect("a tree");
    let mut setup = a.begin(Isolation::ReadCommitted);
    a.wait(|| setup.insert(&a, tree, &key(1), b"first")).expect("ok");
    let _ = setup.commit(&a);
    let change = move |worker: &Worker, txn: &mut Txn, value: &[u8]| {
        let mut payload = Vec::new();
        let seen = worker.wait(|| txn.read_latest(worker, tree, &key(1), &mut payload)).expect("ok").expect("there");
        assert_eq!(worker.wait(|| txn.update(worker, tree, &key(1), seen, value)).expect("ok"), WriteOutcome::Done);
    };
    // Both ways of reading what is current; the second writer works on the same thread, between two steps of the reader.
    for by_scan in [false, true] {
        let mut writer = b.begin(Isolation::ReadCommitted);
        change(&b, &mut writer, b"between");
        let other = b.clone();
        interleave::at_next(move || {
            change(&other, &mut writer, b"last");
            assert!(writer.commit(&other).is_none());
        });
        let mut reader = a.begin(Isolation::ReadCommitted);
        let found = if by_scan {
            let mut scan = Scan::new(tree, &[], &[], false, ReadMode::Latest);
            assert!(a.wait(|| scan.fill(&mut reader, &a, 10)).expect("scans"));
            let row = scan.next_row().expect("a row");
            assert!(!row.held_by_other);
            row.payload.to_vec()
        } else {
            let mut payload = Vec::new();
            assert!(a.wait(|| reader.read_latest(&a, tree, &key(1), &mut payload)).expect("reads").is_some());
            payload
        };
        assert_eq!(found, b"last", "by a scan: {by_scan}");
        let _ = reader.commit(&a);
    }
}

/// Transfers between accounts by several threads: the sum never changes, deadlocks are found, nothing hangs.
#[test]
fn transfers_keep_the_sum() {
    const ACCOUNTS: u64 = if cfg!(miri) { 4 } else { 20 };
    const ROUNDS: usize = if cfg!(miri) { 6 } else { 3_000 };
    let dir = TempDir::new("transfers");
    let engine = open(&dir, 8);
    let tree = {
        let worker = engine.worker(3);
        let tree = worker.wait(|| worker.create_tree()).expect("a tree");
        let mut txn = worker.begin(Isolation::RepeatableRead);
        for n in 0..ACCOUNTS {
            worker.wait(|| txn.insert(&worker, tree, &key(n), &key(1_000))).expect("ok");
        }
        let _ = txn.commit(&worker);
        tree
    };
    let (stop, deadlocks) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let movers: Vec<_> = (0..3usize)
            .map(|index| {
                let worker = engine.worker(index);
                let deadlocks = &deadlocks;
                scope.spawn(move || {
                    let mut state = index as u64 + 1;
                    let mut random = move || {
                        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                        state >> 33
                    };
                    for _ in 0..ROUNDS {
                        let (from, to, amount) = (random() % ACCOUNTS, random() % ACCOUNTS, random() % 50);
                        if from == to {
                            continue;
                        }
                        worker.tick();
                        let mut txn = worker.begin(Isolation::RepeatableRead);
                        let lock_first = random() % 2 == 0;
                        let moved = transfer(&worker, &mut txn, tree, from, to, amount, lock_first);
                        match moved {
                            Ok(()) if random() % 8 > 0 => drop(txn.commit(&worker)),
                            Ok(()) => worker.wait(|| txn.rollback(&worker)).expect("rolls back"),
                            Err(Error::Deadlock) => {
                                deadlocks.fetch_add(1, Ordering::Relaxed);
                                worker.wait(|| txn.rollback(&worker)).expect("rolls back");
                            }
                            Err(e) => panic!("{e}"),
                        }
                    }
                })
            })
            .collect();
        let worker = engine.worker(3);
        let stop = &stop;
        let checker = scope.spawn(move || {
            let mut sums = 0;
            while !stop.load(Ordering::Relaxed) || sums == 0 {
                let rows = all_rows(&worker, tree, sums % 2 == 0);
                // Balances may go below zero: the sum wraps as they do.
                let balance = |p: &[u8]| u64::from_be_bytes(p.try_into().expect("8 bytes"));
                let sum = rows.iter().fold(0u64, |sum, (_, p)| sum.wrapping_add(balance(p)));
                assert_eq!((rows.len() as u64, sum), (ACCOUNTS, ACCOUNTS * 1_000));
                sums += 1;
            }
        });
        for mover in movers {
            mover.join().expect("mover");
        }
        stop.store(true, Ordering::Relaxed);
        checker.join().expect("checker");
    });
    assert_eq!(engine.status().locked_rows, 0, "K2: nothing is left in the lock table");
}

fn transfer(
    worker: &Worker,
    txn: &mut Txn,
    tree: TreeRef,
    from: u64,
    to: u64,
    amount: u64,
    lock_first: bool,
) -> std::result::Result<(), Error> {
    for (account, delta) in [(from, amount.wrapping_neg()), (to, amount)] {
        let mut payload = Vec::new();
        loop {
            let seen = if lock_first {
                worker.wait(|| txn.lock_row(worker, tree, &key(account), LockMode::Exclusive, WaitPolicy::Wait, &mut payload))?
            } else {
                worker.wait(|| txn.read_latest(worker, tree, &key(account), &mut payload))?
            };
            let balance = u64::from_be_bytes(payload[..].try_into().expect("8 bytes"));
            let next = key(balance.wrapping_add(delta));
            let seen = seen.expect("accounts are never deleted");
            if worker.wait(|| txn.update(worker, tree, &key(account), seen, &next))? == WriteOutcome::Done {
                break;
            }
            assert!(!lock_first, "a locked row does not change");
        }
    }
    Ok(())
}

#[test]
fn lock_waits_time_out_and_refuse() {
    let dir = TempDir::new("timeouts");
    let engine = open(&dir, 8);
    let (a, b) = (engine.worker(0), engine.worker(1));
    let tree = a.wait(|| a.create_tree()).expect("a tree");
    let mut holder = a.begin(Isolation::RepeatableRead);
    a.wait(|| holder.insert(&a, tree, &key(1), b"held")).expect("ok");
    let mut other = b.begin(Isolation::RepeatableRead);
    other.set_lock_wait_timeout(std::time::Duration::from_millis(50));
    let mut payload = Vec::new();
    assert!(matches!(b.wait(|| other.insert(&b, tree, &key(1), b"x")), Err(Error::LockWaitTimeout)));
    assert!(matches!(
        b.wait(|| other.lock_row(&b, tree, &key(1), LockMode::Share, WaitPolicy::NoWait, &mut payload)),
        Err(Error::WouldBlock)
    ));
    let skipped = b.wait(|| other.lock_row(&b, tree, &key(1), LockMode::Share, WaitPolicy::SkipLocked, &mut payload));
    assert!(skipped.expect("ok").is_none());
    let _ = holder.commit(&a);
    assert_eq!(b.wait(|| other.insert(&b, tree, &key(1), b"x")).expect("ok"), InsertOutcome::Duplicate);
    b.wait(|| other.rollback(&b)).expect("ok");
    assert_eq!(engine.status().locked_rows, 0);
}

#[test]
fn shared_waiters_go_together() {
    let dir = TempDir::new("shared");
    let engine = open(&dir, 8);
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("tree");
    let mut writer = worker.begin(Isolation::ReadCommitted);
    worker.wait(|| writer.insert(&worker, tree, b"k", b"1")).expect("inserts");
    let mut payload = Vec::new();
    let mut share = |txn: &mut Txn| txn.lock_row(&worker, tree, b"k", LockMode::Share, WaitPolicy::Wait, &mut payload);
    let (mut first, mut second) = (worker.begin(Isolation::ReadCommitted), worker.begin(Isolation::ReadCommitted));
    assert!(matches!(share(&mut first), Err(Interrupt::Stall(_))));
    assert!(writer.commit(&worker).is_none());
    // The first is woken; the second comes before it has tried again.
    let Err(Interrupt::Stall(mut stall)) = share(&mut second) else { panic!("the queue is first come, first served") };
    assert!(matches!(share(&mut first), Ok(Some(_))));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(std::pin::Pin::new(&mut stall).poll(&mut cx).is_ready());
    assert!(matches!(share(&mut second), Ok(Some(_))));
    assert!(first.commit(&worker).is_none() && second.commit(&worker).is_none());
    assert_eq!(engine.status().locked_rows, 0);
}

#[test]
fn a_waiter_that_splits_keeps_its_place() {
    let dir = TempDir::new("splits");
    let engine = open(&dir, 8);
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("tree");
    let mut setup = worker.begin(Isolation::ReadCommitted);
    for n in 0..400u64 {
        worker.wait(|| setup.insert(&worker, tree, &key(n), b"row")).expect("inserts");
    }
    assert!(setup.commit(&worker).is_none());
    let mut holder = worker.begin(Isolation::ReadCommitted);
    let mut payload = Vec::new();
    let row = key(7);
    let seen = worker.wait(|| holder.lock_row(&worker, tree, &row, LockMode::Exclusive, WaitPolicy::Wait, &mut payload));
    let seen = seen.expect("locks").expect("is there");
    let (mut first, mut second) = (worker.begin(Isolation::ReadCommitted), worker.begin(Isolation::ReadCommitted));
    let big = [b'x'; 3000];
    for n in 8..12u64 {
        let seen = worker.wait(|| first.read_latest(&worker, tree, &key(n), &mut payload)).expect("reads").expect("is there");
        worker.wait(|| first.update(&worker, tree, &key(n), seen, &big)).expect("updates");
    }
    assert!(matches!(first.update(&worker, tree, &row, seen, &big), Err(Interrupt::Stall(_))));
    assert!(matches!(second.update(&worker, tree, &row, seen, &big), Err(Interrupt::Stall(_))));
    assert!(holder.commit(&worker).is_none());
    assert_eq!(worker.wait(|| first.update(&worker, tree, &row, seen, &big)).expect("updates"), WriteOutcome::Done);
    assert!(first.commit(&worker).is_none());
    assert_eq!(worker.wait(|| second.update(&worker, tree, &row, seen, &big)).expect("looks"), WriteOutcome::Changed);
    assert!(second.commit(&worker).is_none());
    assert_eq!((engine.status().locked_rows, engine.status().deadlocks), (0, 0));
}

/// A place in a queue is waited for like a lock: the holder waits for one that stands behind another one, which waits for the holder.
#[test]
fn a_deadlock_through_a_place_in_a_queue_is_found() {
    let dir = TempDir::new("queue-deadlock");
    let engine = open(&dir, 8);
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("tree");
    let mut setup = worker.begin(Isolation::ReadCommitted);
    for n in 1..=2u64 {
        worker.wait(|| setup.insert(&worker, tree, &key(n), b"row")).expect("inserts");
    }
    assert!(setup.commit(&worker).is_none());
    let mut payload = Vec::new();
    let mut lock = |txn: &mut Txn, n: u64, mode| txn.lock_row(&worker, tree, &key(n), mode, WaitPolicy::Wait, &mut payload);
    let [mut holder, mut between, mut other] = std::array::from_fn(|_| worker.begin(Isolation::ReadCommitted));
    assert!(matches!(lock(&mut holder, 1, LockMode::Share), Ok(Some(_))));
    assert!(matches!(lock(&mut other, 2, LockMode::Exclusive), Ok(Some(_))));
    // It holds nothing itself.
    let Err(Interrupt::Stall(mut between_waits)) = lock(&mut between, 1, LockMode::Exclusive) else { panic!("the row is held") };
    // Its mode would go with the holder's, but first come, first served.
    let Err(Interrupt::Stall(mut other_waits)) = lock(&mut other, 1, LockMode::Share) else {
        panic!("another one waits already")
    };
    assert!(matches!(lock(&mut holder, 2, LockMode::Share), Err(Interrupt::Error(Error::Deadlock))));
    worker.wait(|| holder.rollback(&worker)).expect("rolls back");
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(std::pin::Pin::new(&mut between_waits).poll(&mut cx).is_ready());
    assert!(std::pin::Pin::new(&mut other_waits).poll(&mut cx).is_pending());
    assert!(matches!(lock(&mut between, 1, LockMode::Exclusive), Ok(Some(_))));
    assert!(between.commit(&worker).is_none());
    assert!(matches!(lock(&mut other, 1, LockMode::Share), Ok(Some(_))));
    assert!(other.commit(&worker).is_none());
    assert_eq!((engine.status().locked_rows, engine.status().deadlocks), (0, 1));
}

/// Two that close a cycle at the same moment both find it, and one of them gives way.
#[test]
fn a_deadlock_found_twice_has_one_victim() {
    let dir = TempDir::new("twice-deadlock");
    let engine = open(&dir, 8);
    let worker = Rc::new(engine.worker(0));
    let tree = worker.wait(|| worker.create_tree()).expect("tree");
    let lock = move |worker: &Worker, txn: &mut Txn, n: u64| {
        let mut payload = Vec::new();
        txn.lock_row(worker, tree, &key(n), LockMode::Exclusive, WaitPolicy::Wait, &mut payload).map(drop)
    };
    let [mut first, mut second] = std::array::from_fn(|_| worker.begin(Isolation::RepeatableRead));
    for (n, txn) in [(1, &mut first), (2, &mut second)] {
        worker.wait(|| txn.insert(&worker, tree, &key(n), b"row")).expect("inserts");
    }
    assert!(matches!(lock(&worker, &mut first, 2), Err(Interrupt::Stall(_))));
    let found = Rc::new(RefCell::new(None));
    interleave::at_next({
        let (worker, found) = (worker.clone(), found.clone());
        // It begins to wait once more, as if it had come when the second had found the cycle.
        move || *found.borrow_mut() = Some((lock(&worker, &mut first, 2), first))
    });
    let waits = lock(&worker, &mut second, 1);
    let (gave_way, mut first) = found.take().expect("was there");
    assert!(matches!(gave_way, Err(Interrupt::Error(Error::Deadlock))));
    assert!(matches!(waits, Err(Interrupt::Stall(_))), "both gave way");
    worker.wait(|| first.rollback(&worker)).expect("rolls back");
    assert!(lock(&worker, &mut second, 1).is_ok());
    assert!(second.commit(&worker).is_none());
    assert_eq!((engine.status().locked_rows, engine.status().deadlocks), (0, 1));
}

/// A batch of reads is one snapshot, in the order of its keys, while rows change, leaves split and pages come and go.
#[test]
fn a_batch_of_reads_is_one_snapshot() {
    const ROWS: u64 = 3_000;
    let dir = TempDir::new("read-many");
    let engine = open(&dir, 4);
    let row = |balance: u64| [balance.to_be_bytes().as_slice(), &[7; 2_000]].concat();
    let balance = |payload: &[u8]| u64::from_be_bytes(payload[..8].try_into().expect("8 bytes"));
    let tree = {
        let worker = engine.worker(3);
        let tree = worker.wait(|| worker.create_tree()).expect("a tree");
        for first in (0..ROWS).step_by(100) {
            let mut txn = worker.begin(Isolation::RepeatableRead);
            for n in first..first + 100 {
                worker.wait(|| txn.insert(&worker, tree, &key(2 * n), &row(1_000))).expect("ok");
            }
            drop(txn.commit(&worker));
        }
        tree
    };
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (worker, stop, row) = (engine.worker(0), &stop, &row);
        scope.spawn(move || {
            let (mut n, mut payload) = (0u64, Vec::new());
            while !stop.load(Ordering::Relaxed) {
                n += 1;
                let mut txn = worker.begin(Isolation::ReadCommitted);
                for (account, delta) in [(n * 7 % ROWS, 1), (n * 13 % ROWS, u64::MAX)] {
                    let name = key(2 * account);
                    let seen = worker.wait(|| txn.read_latest(&worker, tree, &name, &mut payload)).expect("ok").expect("there");
                    let next = row(balance(&payload).wrapping_add(delta));
                    worker.wait(|| txn.update(&worker, tree, &name, seen, &next)).expect("ok");
                }
                // Not among the keys read.
                worker.wait(|| txn.insert(&worker, tree, &key(2 * (n * 31 % ROWS) + 1), &row(0))).expect("ok");
                drop(txn.commit(&worker));
            }
        });
        let worker = engine.worker(1);
        let mut keys = KeyList::default();
        for n in 0..ROWS + 5 {
            let place = (n * 1_001) % (ROWS + 5);
            let push = |bytes: &mut Vec<u8>| {
                bytes.extend_from_slice(&key(2 * place));
                Ok::<(), ()>(())
            };
            keys.push_with(push).expect("never fails");
        }
        for _ in 0..20 {
            let mut txn = worker.begin(Isolation::ReadCommitted);
            let (mut next, mut payload, mut positions, mut sum, mut found) = (0, Vec::new(), 0, 0u64, 0);
            while next < keys.len() {
                worker
                    .wait(|| {
                        txn.read_many(&worker, tree, &keys, &mut next, &mut payload, |position, payload| {
                            if positions % 100 == 99 && payload.is_some_and(|p| p.len() == 2_008) && found % 2 == 0 {
                                // The caller may take a key over.
                                positions += 1;
                                sum = sum.wrapping_add(balance(payload.unwrap_or_default()));
                                found += 1;
                                return false;
                            }
                            assert_eq!(position, positions);
                            positions += 1;
                            sum = sum.wrapping_add(payload.map_or(0, balance));
                            found += u64::from(payload.is_some());
                            true
                        })
                    })
                    .expect("ok");
                // Given back: done already.
                next = positions;
            }
            assert_eq!((found, sum), (ROWS, ROWS * 1_000));
            drop(txn.commit(&worker));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(engine.status().pages_evicted > 0);
}

/// Old versions beyond the memory for them go to a file: a snapshot reads them there, and a rollback goes back by them.
#[test]
fn a_long_snapshot_and_a_big_rollback_need_little_memory() {
    const ROWS: u64 = 20_000;
    let dir = TempDir::new("undo-memory");
    let config = Config {
        data_dir: dir.0.clone(),
        buffer_pool_bytes: 16 << 20,
        undo_memory_bytes: 1 << 20,
        recovery_target: crate::RECOVERY_TARGET,
        workers: 2,
        durability: Durability::None,
    };
    let engine = Engine::open(config).expect("opens");
    let (a, b) = (engine.worker(0), engine.worker(1));
    let tree = a.wait(|| a.create_tree()).expect("a tree");
    let mut setup = a.begin(Isolation::RepeatableRead);
    for n in 0..ROWS {
        a.wait(|| setup.insert(&a, tree, &key(n), &[0; 100])).expect("inserts");
    }
    assert!(setup.commit(&a).is_none());
    b.tick();
    let mut reader = b.begin(Isolation::RepeatableRead);
    reader.take_snapshot(&b);
    b.park();
    let update_all = |round: u8| {
        let mut txn = a.begin(Isolation::RepeatableRead);
        let mut payload = Vec::new();
        for n in 0..ROWS {
            let seen = a.wait(|| txn.read_latest(&a, tree, &key(n), &mut payload)).expect("reads").expect("is there");
            a.wait(|| txn.update(&a, tree, &key(n), seen, &[round; 100])).expect("updates");
        }
        txn
    };
    for round in 1..=3 {
        assert!(update_all(round).commit(&a).is_none());
        let status = engine.status();
        assert!(status.undo_memory_bytes <= 3 << 20 && status.undo_file_bytes > 0, "{status:?}");
    }
    let mut payload = Vec::new();
    for n in 0..ROWS {
        assert!(b.wait(|| reader.read(&b, tree, &key(n), &mut payload)).expect("reads"));
        assert_eq!(payload, [0; 100]);
    }
    assert!(reader.commit(&b).is_none());
    let mut undone = update_all(4);
    a.wait(|| undone.rollback(&a)).expect("rolls back");
    assert!(all_rows(&b, tree, false).iter().all(|(_, payload)| *payload == [3; 100]));
    a.tick();
    b.tick();
    a.park();
    assert!(engine.status().undo_bytes <= 1 << 20, "{:?}", engine.status());
}
