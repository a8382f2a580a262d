//! Ranges and gaps, on one thread step by step and under threads.

use crate::tests::{TempDir, all_rows, key, open};
use crate::*;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const LEVEL: Isolation = Isolation::RepeatableRead;

/// A tree with these keys.
fn tree_of(worker: &Worker, keys: impl IntoIterator<Item = u64>) -> TreeRef {
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    let mut txn = worker.begin(LEVEL);
    for n in keys {
        worker.wait(|| txn.insert(worker, tree, &key(n), b"row")).expect("inserts");
    }
    let _ = txn.commit(worker);
    tree
}

/// Locks `low <= key < high` and gives the keys found, a batch at a time, up to `rows_max`.
#[derive(Clone, Copy)]
struct Locking {
    range: (u64, u64),
    reverse: bool,
    mode: LockMode,
    policy: WaitPolicy,
    batch: usize,
    rows_max: usize,
}

impl Locking {
    fn of(low: u64, high: u64) -> Self {
        let (mode, policy) = (LockMode::Exclusive, WaitPolicy::Wait);
        Self { range: (low, high), reverse: false, mode, policy, batch: 64, rows_max: usize::MAX }
    }

    fn run(self, worker: &Worker, txn: &mut Txn, tree: TreeRef) -> std::result::Result<Vec<u64>, Error> {
        let (low, high) = (key(self.range.0), key(self.range.1));
        let mut scan = Scan::new(tree, &low, &high, self.reverse, ReadMode::Lock(self.mode, self.policy));
        let mut found = Vec::new();
        while found.len() < self.rows_max && worker.wait(|| scan.fill(txn, worker, self.batch))? {
            while let Some(row) = scan.next_row() {
                assert!(row.seen.is_some());
                found.push(u64::from_be_bytes(row.key.try_into().expect("8 bytes")));
            }
        }
        Ok(found)
    }
}

/// Would an insert of `n` have to wait?
fn is_gap_locked(worker: &Worker, tree: TreeRef, n: u64) -> bool {
    let mut txn = worker.begin(LEVEL);
    let blocked = match txn.insert(worker, tree, &key(n), b"probe") {
        Err(Interrupt::Stall(Stall::Lock(_))) => true,
        Ok(InsertOutcome::Inserted) => false,
        other => panic!("{other:?}"),
    };
    worker.wait(|| txn.rollback(worker)).expect("rolls back");
    blocked
}

/// Would a change of the row have to wait?
fn is_row_locked(worker: &Worker, tree: TreeRef, n: u64) -> bool {
    let mut txn = worker.begin(LEVEL);
    let mut payload = Vec::new();
    let locked = txn.lock_row(worker, tree, &key(n), LockMode::Exclusive, WaitPolicy::NoWait, &mut payload);
    worker.wait(|| txn.rollback(worker)).expect("rolls back");
    match locked {
        Err(Interrupt::Error(Error::WouldBlock)) => true,
        Ok(Some(_)) => false,
        other => panic!("{other:?}"),
    }
}

/// Which of `0..16` others cannot insert, and which rows they cannot lock: rows are at 3, 5, 8 and 11.
fn check(name: &str, isolation: Isolation, locking: Locking, gaps: &[u64], rows: &[u64]) {
    let dir = TempDir::new(&format!("range-{name}"));
    let engine = open(&dir, 8);
    let (a, b) = (engine.worker(0), engine.worker(1));
    let tree = tree_of(&a, [3, 5, 8, 11]);
    let mut holder = a.begin(isolation);
    locking.run(&a, &mut holder, tree).expect("locks");
    let is_row = |n: &u64| [3, 5, 8, 11].contains(n);
    let gaps_found: Vec<u64> = (0..16).filter(|n| !is_row(n) && is_gap_locked(&b, tree, *n)).collect();
    let rows_found: Vec<u64> = (0..16).filter(|n| is_row(n) && is_row_locked(&b, tree, *n)).collect();
    assert_eq!((&gaps_found[..], &rows_found[..]), (gaps, rows), "{name}");
    let _ = holder.commit(&a);
    assert_eq!(engine.status().locked_rows, 0);
    assert!((0..16).all(|n| is_row(&n) || !is_gap_locked(&b, tree, n)));
}

#[test]
fn a_scan_locks_its_range_and_the_gaps_around_it() {
    check("middle", LEVEL, Locking::of(4, 10), &[4, 6, 7, 9, 10], &[5, 8]);
    check("backward", LEVEL, Locking { reverse: true, ..Locking::of(4, 10) }, &[4, 6, 7, 9, 10], &[5, 8]);
    check("one-by-one", LEVEL, Locking { batch: 1, ..Locking::of(4, 10) }, &[4, 6, 7, 9, 10], &[5, 8]);
    // A record at the low end: nothing can come before it within the range.
    check("exact", LEVEL, Locking::of(5, 6), &[], &[5]);
    // Nor behind the one at the high end.
    check("to the end", LEVEL, Locking::of(4, 9), &[4, 6, 7], &[5, 8]);
    check("behind it", LEVEL, Locking::of(4, 10), &[4, 6, 7, 9, 10], &[5, 8]);
    check("empty", LEVEL, Locking::of(6, 7), &[6, 7], &[]);
    check("end", LEVEL, Locking::of(10, 15), &[9, 10, 12, 13, 14, 15], &[11]);
    // What is not read is not locked.
    let first = Locking { batch: 1, rows_max: 1, ..Locking::of(0, 15) };
    check("limit", LEVEL, first, &[0, 1, 2], &[3]);
    check("last", LEVEL, Locking { reverse: true, ..first }, &[9, 10, 12, 13, 14, 15], &[11]);
}

#[test]
fn share_locks_keep_writers_out_and_readers_in() {
    let dir = TempDir::new("range-share");
    let engine = open(&dir, 8);
    let (a, b) = (engine.worker(0), engine.worker(1));
    let tree = tree_of(&a, [3, 5, 8]);
    let share = Locking { mode: LockMode::Share, ..Locking::of(0, 9) };
    let (mut first, mut second) = (a.begin(LEVEL), b.begin(LEVEL));
    assert_eq!(share.run(&a, &mut first, tree).expect("locks"), [3, 5, 8]);
    assert_eq!(share.run(&b, &mut second, tree).expect("locks"), [3, 5, 8]);
    let mut payload = Vec::new();
    let seen = b.wait(|| second.lock_row(&b, tree, &key(3), LockMode::Share, WaitPolicy::NoWait, &mut payload));
    assert!(seen.expect("shared").is_some());
    assert!(is_row_locked(&b, tree, 3) && is_gap_locked(&b, tree, 4));
    let _ = first.commit(&a);
    assert!(is_row_locked(&a, tree, 3) && is_gap_locked(&a, tree, 4));
    let _ = second.commit(&b);
    assert!(!is_row_locked(&a, tree, 3) && !is_gap_locked(&a, tree, 4));
}

#[test]
fn locked_rows_are_skipped_or_refused() {
    let dir = TempDir::new("range-skip");
    let engine = open(&dir, 8);
    let (a, b) = (engine.worker(0), engine.worker(1));
    let tree = tree_of(&a, [3, 5, 8, 11]);
    let mut holder = a.begin(LEVEL);
    let mut payload = Vec::new();
    a.wait(|| holder.lock_row(&a, tree, &key(5), LockMode::Exclusive, WaitPolicy::Wait, &mut payload)).expect("locks");
    let mut other = b.begin(LEVEL);
    let all = Locking::of(0, 15);
    assert!(matches!(Locking { policy: WaitPolicy::NoWait, ..all }.run(&b, &mut other, tree), Err(Error::WouldBlock)));
    b.wait(|| other.rollback(&b)).expect("rolls back");
    for (reverse, expected) in [(false, [3, 8, 11]), (true, [11, 8, 3])] {
        let mut other = b.begin(LEVEL);
        let skipping = Locking { policy: WaitPolicy::SkipLocked, reverse, ..all };
        assert_eq!(skipping.run(&b, &mut other, tree).expect("skips"), expected);
        // The gap before the row that was left out stays free.
        let gaps: Vec<u64> = [1, 4, 6, 9, 12].into_iter().filter(|n| is_gap_locked(&a, tree, *n)).collect();
        assert_eq!(gaps, [1, 6, 9, 12]);
        b.wait(|| other.rollback(&b)).expect("rolls back");
    }
    let _ = holder.commit(&a);
    assert_eq!(engine.status().locked_rows, 0);
}

/// Both hold the gap; neither can insert; the second to try is told so at once.
#[test]
fn two_holders_of_a_gap_that_insert_are_a_deadlock() {
    let dir = TempDir::new("range-deadlock");
    let engine = open(&dir, 8);
    let (a, b) = (engine.worker(0), engine.worker(1));
    let tree = tree_of(&a, [3, 8]);
    let (mut first, mut second) = (a.begin(LEVEL), b.begin(LEVEL));
    assert!(a.wait(|| first.lock_gap(&a, tree, &key(5), LockMode::Exclusive)).expect("locks"));
    assert!(b.wait(|| second.lock_gap(&b, tree, &key(6), LockMode::Exclusive)).expect("locks"));
    let Err(Interrupt::Stall(stall)) = first.insert(&a, tree, &key(5), b"a") else { panic!("the other holds the gap") };
    assert!(matches!(second.insert(&b, tree, &key(6), b"b"), Err(Interrupt::Error(Error::Deadlock))));
    b.wait(|| second.rollback(&b)).expect("rolls back");
    stall.wait_blocking();
    assert_eq!(a.wait(|| first.insert(&a, tree, &key(5), b"a")).expect("inserts"), InsertOutcome::Inserted);
    let _ = first.commit(&a);
    assert_eq!((engine.status().locked_rows, engine.status().deadlocks), (0, 1));
    assert!(engine.status().last_deadlock.is_some());
}

/// Locks name keys: splits move records away from under them, purges take the records that bound a gap, and inserts of the holder put
/// new ones into it.
#[test]
fn gaps_outlive_splits_purges_and_own_inserts() {
    let dir = TempDir::new("range-inherit");
    let engine = open(&dir, 16);
    let (a, b) = (engine.worker(0), engine.worker(1));
    let tree = tree_of(&a, [100, 200, 900, 1000]);
    // A tombstone bounds the gap.
    let mut eraser = b.begin(LEVEL);
    let mut payload = Vec::new();
    let seen = b.wait(|| eraser.read_latest(&b, tree, &key(900), &mut payload)).expect("reads").expect("is there");
    b.wait(|| eraser.delete(&b, tree, &key(900), seen)).expect("deletes");
    let _ = eraser.commit(&b);
    let mut holder = a.begin(LEVEL);
    assert_eq!(Locking::of(150, 950).run(&a, &mut holder, tree).expect("locks"), [200]);
    b.park();
    a.tick();
    let until = Instant::now() + Duration::from_secs(10);
    while engine.status().purge_backlog > 0 && Instant::now() < until {
        a.tick();
        std::thread::sleep(Duration::from_millis(2));
    }
    b.tick();
    // The holder fills its own gap and splits the leaf.
    for n in (300..800).step_by(2) {
        a.wait(|| holder.insert(&a, tree, &key(n), &[7; 300])).expect("inserts");
    }
    // Others split it further, outside.
    let mut other = b.begin(LEVEL);
    for n in 2000..2200 {
        b.wait(|| other.insert(&b, tree, &key(n), &[8; 300])).expect("inserts");
    }
    for n in 0..100 {
        b.wait(|| other.insert(&b, tree, &key(n), &[8; 300])).expect("inserts");
    }
    let _ = other.commit(&b);
    for n in [150, 199, 201, 301, 551, 799, 801, 899, 900, 901, 949] {
        assert!(is_gap_locked(&b, tree, n), "{n}");
    }
    assert!(!is_gap_locked(&b, tree, 1001) && is_row_locked(&b, tree, 200));
    let _ = holder.commit(&a);
    for n in [150, 301, 551, 899, 900, 901] {
        assert!(!is_gap_locked(&b, tree, n), "{n}");
    }
    assert_eq!(engine.status().locked_rows, 0);
}

#[test]
fn a_miss_locks_its_gap_only_where_phantoms_are_ruled_out() {
    let dir = TempDir::new("range-levels");
    let engine = open(&dir, 8);
    let (a, b) = (engine.worker(0), engine.worker(1));
    let tree = tree_of(&a, [3, 8]);
    for (isolation, locks) in [
        (Isolation::ReadUncommitted, false),
        (Isolation::ReadCommitted, false),
        (Isolation::RepeatableRead, true),
        (Isolation::Serializable, true),
    ] {
        assert_eq!(a.begin(isolation).locks_gaps(), locks);
    }
    // What READ COMMITTED does: a scan that locks row by row.
    let mut holder = a.begin(Isolation::ReadCommitted);
    let mut payload = Vec::new();
    for n in [3, 8] {
        a.wait(|| holder.lock_row(&a, tree, &key(n), LockMode::Exclusive, WaitPolicy::Wait, &mut payload)).expect("locks");
    }
    assert!(!is_gap_locked(&b, tree, 5) && !is_gap_locked(&b, tree, 9) && is_row_locked(&b, tree, 3));
    let _ = holder.commit(&a);
}

#[test]
fn a_savepoint_gives_back_changes_and_keeps_locks() {
    let dir = TempDir::new("range-savepoint");
    let engine = open(&dir, 8);
    let (a, b) = (engine.worker(0), engine.worker(1));
    let tree = tree_of(&a, [3, 8]);
    let mut holder = a.begin(Isolation::ReadCommitted);
    let savepoint = holder.savepoint();
    let mut payload = Vec::new();
    for n in [3, 8] {
        let seen = a.wait(|| holder.read_latest(&a, tree, &key(n), &mut payload)).expect("reads").expect("is there");
        a.wait(|| holder.update(&a, tree, &key(n), seen, b"changed")).expect("updates");
    }
    a.wait(|| holder.rollback_to(&a, savepoint)).expect("undoes");
    assert!(is_row_locked(&b, tree, 3) && is_row_locked(&b, tree, 8));
    let _ = holder.commit(&a);
    assert!(!is_row_locked(&b, tree, 3) && !is_row_locked(&b, tree, 8));
    assert_eq!(all_rows(&b, tree, false).iter().filter(|(_, payload)| payload == b"row").count(), 2);
    assert_eq!(engine.status().locked_rows, 0);
}

/// Threads that each look at a small range twice, with locks, and insert or delete between: no phantom appears between the two looks, and
/// nobody hangs.
#[test]
fn no_phantoms_under_threads() {
    const KEYS: u64 = 60;
    let dir = TempDir::new("range-threads");
    let engine = open(&dir, 8);
    let tree = {
        let worker = engine.worker(3);
        tree_of(&worker, (0..KEYS).step_by(3))
    };
    let (deadlocks, commits) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    std::thread::scope(|scope| {
        for index in 0..4usize {
            let (worker, deadlocks, commits) = (engine.worker(index), &deadlocks, &commits);
            scope.spawn(move || {
                let mut state = index as u64 + 1;
                let mut random = move |below: u64| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (state >> 33) % below
                };
                for _ in 0..400 {
                    worker.tick();
                    let mut txn = worker.begin(LEVEL);
                    let low = random(KEYS - 12);
                    let mode = if random(2) == 0 { LockMode::Share } else { LockMode::Exclusive };
                    let look =
                        Locking { mode, reverse: random(2) == 0, batch: 1 + random(4) as usize, ..Locking::of(low, low + 12) };
                    let write = random(KEYS);
                    match look_write_look(&worker, &mut txn, tree, look, write) {
                        Ok(()) => {
                            commits.fetch_add(1, Ordering::Relaxed);
                            drop(txn.commit(&worker));
                        }
                        Err(Error::Deadlock) => {
                            deadlocks.fetch_add(1, Ordering::Relaxed);
                            worker.wait(|| txn.rollback(&worker)).expect("rolls back");
                        }
                        Err(e) => panic!("{e}"),
                    }
                }
            });
        }
    });
    assert!(commits.load(Ordering::Relaxed) > 0);
    assert_eq!(engine.status().locked_rows, 0);
}

fn look_write_look(worker: &Worker, txn: &mut Txn, tree: TreeRef, look: Locking, write: u64) -> std::result::Result<(), Error> {
    let before: BTreeSet<u64> = look.run(worker, txn, tree)?.into_iter().collect();
    std::thread::yield_now();
    let mut expected = before.clone();
    let (mut payload, key) = (Vec::new(), key(write));
    if worker.wait(|| txn.insert(worker, tree, &key, b"new"))? == InsertOutcome::Inserted {
        expected.insert(write);
    } else {
        while let Some(seen) = worker.wait(|| txn.read_latest(worker, tree, &key, &mut payload))? {
            if worker.wait(|| txn.delete(worker, tree, &key, seen))? == WriteOutcome::Done {
                break;
            }
        }
        expected.remove(&write);
    }
    expected.retain(|n| (look.range.0..look.range.1).contains(n));
    std::thread::yield_now();
    let after: BTreeSet<u64> = look.run(worker, txn, tree)?.into_iter().collect();
    assert_eq!(after, expected, "a row came or went in what was locked");
    Ok(())
}
