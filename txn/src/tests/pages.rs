//! Scans `by_page`: what they find is what reading key by key finds, and nothing of them stays in the buffers.

use super::{TempDir, count_rows, key, open, rows_of};
use crate::*;

/// A tree with the rows `0..rows`, all committed by one transaction.
fn filled(worker: &Worker, rows: u64) -> TreeRef {
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    let mut txn = worker.begin(Isolation::RepeatableRead);
    for n in 0..rows {
        worker.wait(|| txn.insert(worker, tree, &key(n), b"first")).expect("ok");
    }
    txn.commit(worker).into_iter().for_each(Stall::wait_blocking);
    worker.tick();
    tree
}

fn update(worker: &Worker, txn: &mut Txn, tree: TreeRef, n: u64, payload: &[u8]) {
    let seen = worker.wait(|| txn.read_latest(worker, tree, &key(n), &mut Vec::new())).expect("ok").expect("there");
    let outcome = worker.wait(|| txn.update(worker, tree, &key(n), seen, payload)).expect("ok");
    assert_eq!(outcome, WriteOutcome::Done);
}

fn delete(worker: &Worker, txn: &mut Txn, tree: TreeRef, n: u64) {
    let seen = worker.wait(|| txn.read_latest(worker, tree, &key(n), &mut Vec::new())).expect("ok").expect("there");
    worker.wait(|| txn.delete(worker, tree, &key(n), seen)).expect("ok");
}

/// The keys of all rows that the scan has left, as the parts in which it gives them.
fn parts(worker: &Worker, txn: &mut Txn, scan: &mut Scan) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut out = Vec::new();
    while worker.wait(|| scan.fill(txn, worker, usize::MAX)).expect("scans") {
        while let Some(row) = scan.next_row() {
            out.push((row.prefix.to_vec(), row.key.to_vec()));
        }
    }
    out
}

/// What a transaction sees is read by pages, key by key, and counted.
fn check(worker: &Worker, txn: &mut Txn, tree: TreeRef, low: u64, high: u64) {
    let mut expected = Vec::new();
    for n in low..high {
        let mut payload = Vec::new();
        if worker.wait(|| txn.read(worker, tree, &key(n), &mut payload)).expect("reads") {
            expected.push((n, payload));
        }
    }
    assert_eq!(count_rows(worker, txn, tree, &key(low), &key(high)), expected.len() as u64);
    for reverse in [false, true] {
        let mut scan = Scan::new(tree, &key(low), &key(high), reverse, ReadMode::Snapshot);
        scan.set_by_page();
        assert_eq!(rows_of(worker, txn, scan, usize::MAX), expected, "{low}..{high}, reverse: {reverse}");
        expected.reverse();
    }
}

#[test]
fn the_next_scan_in_the_same_buffers_knows_nothing_of_a_page() {
    let dir = TempDir::new("page-reset");
    let engine = open(&dir, 8);
    let (worker, other) = (engine.worker(0), engine.worker(1));
    let (tree, second) = (filled(&worker, 2_000), filled(&worker, 3));
    let whole: Vec<_> = (0..2_000).map(|n| (Vec::new(), key(n).to_vec())).collect();
    let lock = |policy| ReadMode::Lock(LockMode::Exclusive, policy);
    for (round, mode) in
        [lock(WaitPolicy::Wait), ReadMode::Latest, ReadMode::Snapshot, lock(WaitPolicy::NoWait)].into_iter().enumerate()
    {
        let mut txn = worker.begin(Isolation::RepeatableRead);
        // From the middle, where pages have a prefix: a few rows, or all of them.
        let mut scan = Scan::new(tree, &key(700), &[], false, ReadMode::Snapshot);
        scan.set_by_page();
        for n in 0..[3, 1_300][round % 2] {
            if scan.next_row().is_none() {
                assert!(worker.wait(|| scan.fill(&mut txn, &worker, usize::MAX)).expect("scans"));
                let row = scan.next_row().expect("filled");
                assert!(n > 0 || !row.prefix.is_empty(), "a page with a prefix is copied");
            }
        }
        for (reverse, range) in [(false, 0..2_000), (true, 0..2_000), (false, 500..504), (true, 1_999..2_000)] {
            let (low, high) = (key(range.start), key(range.end));
            scan.reset(tree, &low, &high, reverse, mode);
            let mut expected = whole[range.start as usize..range.end as usize].to_vec();
            if reverse {
                expected.reverse();
            }
            assert!(parts(&worker, &mut txn, &mut scan) == expected, "{mode:?}, {range:?}, reverse: {reverse}");
            if matches!(mode, ReadMode::Lock(..)) {
                let mut rival = other.begin(Isolation::RepeatableRead);
                let refused =
                    other.wait(|| rival.lock_row(&other, tree, &low, LockMode::Share, WaitPolicy::NoWait, &mut Vec::new()));
                assert!(matches!(refused, Err(Error::WouldBlock)), "{refused:?}");
                other.wait(|| rival.rollback(&other)).expect("ok");
            }
            // Another page with another prefix comes in between.
            scan.reset(tree, &key(700), &key(1_200), !reverse, ReadMode::Snapshot);
            scan.set_by_page();
            assert!(worker.wait(|| scan.fill(&mut txn, &worker, usize::MAX)).expect("scans"));
            assert!(!scan.next_row().expect("filled").prefix.is_empty(), "a page with a prefix is copied");
        }
        scan.reset(second, &[], &[], false, mode);
        assert_eq!(parts(&worker, &mut txn, &mut scan), whole[..3], "{mode:?} of another tree");
        worker.wait(|| txn.rollback(&worker)).expect("ok");
    }
}

#[test]
fn own_changes_show_in_pages_that_were_read_before() {
    let dir = TempDir::new("page-own");
    let engine = open(&dir, 8);
    let (worker, other) = (engine.worker(0), engine.worker(1));
    let tree = filled(&worker, 1_000);
    for isolation in [Isolation::RepeatableRead, Isolation::ReadCommitted] {
        let mut txn = worker.begin(isolation);
        check(&worker, &mut txn, tree, 0, 1_100);
        for n in (0..1_000).step_by(3) {
            update(&worker, &mut txn, tree, n, b"mine");
        }
        for n in (1..1_000).step_by(7).filter(|n| n % 3 != 0) {
            delete(&worker, &mut txn, tree, n);
        }
        for n in 1_000..1_050 {
            worker.wait(|| txn.insert(&worker, tree, &key(n), b"new")).expect("ok");
        }
        check(&worker, &mut txn, tree, 0, 1_100);
        // Nobody else sees them.
        let mut reader = other.begin(isolation);
        check(&other, &mut reader, tree, 0, 1_100);
        assert_eq!(count_rows(&other, &mut reader, tree, &[], &[]), 1_000);
        assert!(reader.commit(&other).is_none());
        worker.wait(|| txn.rollback(&worker)).expect("ok");
        let mut txn = worker.begin(isolation);
        check(&worker, &mut txn, tree, 0, 1_100);
        assert_eq!(count_rows(&worker, &mut txn, tree, &[], &[]), 1_000);
        assert!(txn.commit(&worker).is_none());
    }
}

/// A mark that was visible in one snapshot is judged anew in the next.
#[test]
fn a_new_snapshot_judges_every_mark_again() {
    let dir = TempDir::new("page-snapshot");
    let engine = open(&dir, 8);
    let (worker, other) = (engine.worker(0), engine.worker(1));
    let tree = filled(&worker, 600);
    let mut reader = worker.begin(Isolation::ReadCommitted);
    let mut old = worker.begin(Isolation::RepeatableRead);
    old.take_snapshot(&worker);
    let mut scan = Scan::new(tree, &[], &[], false, ReadMode::Snapshot);
    for round in 0..20u64 {
        let mut writer = other.begin(Isolation::RepeatableRead);
        for n in (0..600).filter(|n| n % 20 == round) {
            update(&other, &mut writer, tree, n, &[round as u8; 5]);
        }
        for committed in [false, true] {
            if committed {
                writer.commit(&other).into_iter().for_each(Stall::wait_blocking);
                writer = other.begin(Isolation::RepeatableRead);
            }
            reader.begin_statement(&worker);
            scan.reset(tree, &[], &[], false, ReadMode::Snapshot);
            scan.set_by_page();
            let mut changed = 0;
            while worker.wait(|| scan.fill(&mut reader, &worker, usize::MAX)).expect("scans") {
                while let Some(row) = scan.next_row() {
                    changed += u64::from(row.payload != b"first");
                }
            }
            reader.end_statement(&worker);
            assert_eq!(changed, 30 * (round + u64::from(committed)), "round {round}, committed: {committed}");
        }
        check(&worker, &mut old, tree, 0, 600);
        assert!(writer.commit(&other).is_none());
    }
    let first = rows_of(&worker, &mut old, Scan::new(tree, &[], &[], false, ReadMode::Snapshot), 7);
    assert!(first.iter().all(|(_, payload)| payload == b"first"));
    assert!(old.commit(&worker).is_none());
    assert!(reader.commit(&worker).is_none());
}

/// Pages whose records are marked by many transactions: open, committed before and after the snapshot, undone, its own.
#[test]
fn pages_with_many_writers_are_read_as_key_by_key() {
    let dir = TempDir::new("page-writers");
    let engine = open(&dir, 8);
    let (worker, other) = (engine.worker(0), engine.worker(1));
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut below = |limit: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % limit
    };
    let rows = 400;
    for round in 0..30 {
        let tree = filled(&worker, rows);
        let isolation = [Isolation::RepeatableRead, Isolation::ReadCommitted, Isolation::ReadUncommitted][round % 3];
        let mut reader = worker.begin(isolation);
        // Rows are shared out, so that no writer waits for another.
        let mut writers: Vec<Txn> = (0..6).map(|_| other.begin(Isolation::RepeatableRead)).collect();
        for step in 0..300 {
            let n = below(rows);
            let who = (n % 7) as usize;
            let (txn, at) = if who == 6 { (&mut reader, &worker) } else { (&mut writers[who], &other) };
            let there = at.wait(|| txn.read_latest(at, tree, &key(n), &mut Vec::new())).expect("ok").is_some();
            match below(3) {
                0 if there => delete(at, txn, tree, n),
                _ if there => update(at, txn, tree, n, &key(step)),
                _ => {
                    at.wait(|| txn.insert(at, tree, &key(n), &key(step))).expect("ok");
                }
            }
            if below(40) == 0 {
                let who = below(6) as usize;
                let ended = std::mem::replace(&mut writers[who], other.begin(Isolation::RepeatableRead));
                let mut ended = ended;
                match below(3) {
                    0 => other.wait(|| ended.rollback(&other)).expect("ok"),
                    _ => ended.commit(&other).into_iter().for_each(Stall::wait_blocking),
                }
            }
            if below(30) == 0 {
                let (low, high) = (below(rows / 2), rows / 2 + below(rows / 2));
                check(&worker, &mut reader, tree, low, high);
            }
        }
        check(&worker, &mut reader, tree, 0, rows);
        for mut writer in writers {
            other.wait(|| writer.rollback(&other)).expect("ok");
        }
        check(&worker, &mut reader, tree, 0, rows);
        worker.wait(|| reader.rollback(&worker)).expect("ok");
        worker.tick();
    }
}

/// The pool is smaller than the tree: most pages have to be waited for, and each call that waited begins again.
#[test]
fn pages_that_have_to_be_read_are_found_once() {
    let dir = TempDir::new("page-stalls");
    let engine = open(&dir, 4);
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    let mut txn = worker.begin(Isolation::RepeatableRead);
    for n in 0..60_000 {
        worker.wait(|| txn.insert(&worker, tree, &key(n), &[n as u8; 100])).expect("ok");
    }
    txn.commit(&worker).into_iter().for_each(Stall::wait_blocking);
    let before = engine.status().pages_read;
    let mut txn = worker.begin(Isolation::RepeatableRead);
    let mut scan = Scan::new(tree, &[], &[], false, ReadMode::Snapshot);
    let mut stalls = 0;
    for reverse in [false, true] {
        scan.reset(tree, &[], &[], reverse, ReadMode::Snapshot);
        scan.set_by_page();
        let mut next = 0;
        loop {
            match scan.fill(&mut txn, &worker, usize::MAX) {
                Ok(false) => break,
                Ok(true) => {}
                Err(Interrupt::Stall(stall)) => {
                    stalls += 1;
                    assert!(scan.next_row().is_none(), "a row of the page before");
                    stall.wait_blocking();
                    continue;
                }
                Err(Interrupt::Error(error)) => panic!("{error}"),
            }
            while let Some(row) = scan.next_row() {
                let n = if reverse { 59_999 - next } else { next };
                assert_eq!([row.prefix, row.key].concat(), key(n));
                assert_eq!(row.payload, [n as u8; 100]);
                next += 1;
            }
        }
        assert_eq!(next, 60_000);
    }
    assert!(stalls > 0 && engine.status().pages_read > before, "{stalls}");
    assert!(txn.commit(&worker).is_none());
}
