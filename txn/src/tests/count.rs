//! Counting rows by the leaf. What it counts is compared with what reading finds in `all_rows`.

use super::{TempDir, key, open};
use crate::*;

/// The rows that `Scan::count` finds in a range.
pub(crate) fn count_rows(worker: &Worker, txn: &mut Txn, tree: TreeRef, low: &[u8], high: &[u8]) -> u64 {
    let mut scan = Scan::new(tree, low, high, false, ReadMode::Snapshot);
    let mut rows = 0;
    while let Some(more) = worker.wait(|| scan.count(txn, worker)).expect("counts") {
        rows += more;
    }
    rows
}

#[test]
fn a_step_of_counting_is_a_leaf() {
    let dir = TempDir::new("count");
    let engine = open(&dir, 8);
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    let mut txn = worker.begin(Isolation::RepeatableRead);
    for n in 0..20_000 {
        worker.wait(|| txn.insert(&worker, tree, &key(n), b"")).expect("ok");
    }
    let mut scan = Scan::new(tree, &key(10), &key(19_990), false, ReadMode::Snapshot);
    let (mut rows, mut steps) = (0, 0);
    while let Some(more) = worker.wait(|| scan.count(&mut txn, &worker)).expect("counts") {
        rows += more;
        steps += 1;
    }
    assert_eq!(rows, 19_980);
    assert!(steps < 20_000 / 200, "{steps}");
    txn.commit(&worker).into_iter().for_each(Stall::wait_blocking);
}
