//! The changes of an open transaction are read, a crash undoes it, and another transaction makes them again.

use super::*;

fn change(worker: &Worker, txn: &mut Txn, tree: TreeRef, n: u64, value: Option<&[u8]>) {
    let mut payload = Vec::new();
    let seen = worker.wait(|| txn.read_latest(worker, tree, &key(n), &mut payload)).expect("reads");
    match (seen, value) {
        (None, Some(value)) => {
            assert_eq!(worker.wait(|| txn.insert(worker, tree, &key(n), value)).expect("inserts"), InsertOutcome::Inserted);
        }
        (Some(seen), Some(value)) => {
            assert_eq!(worker.wait(|| txn.update(worker, tree, &key(n), seen, value)).expect("updates"), WriteOutcome::Done);
        }
        (Some(seen), None) => {
            assert_eq!(worker.wait(|| txn.delete(worker, tree, &key(n), seen)).expect("deletes"), WriteOutcome::Done);
        }
        (None, None) => panic!("there is nothing to delete"),
    }
}

type Kept = Vec<(Changed, Vec<u8>, Vec<u8>)>;

fn changes(worker: &Worker, txn: &mut Txn) -> Kept {
    let (mut kept, mut cursor) = (Vec::new(), txn.changed());
    let (mut key, mut payload) = (Vec::new(), Vec::new());
    while let Some(changed) = worker.wait(|| txn.next_changed(worker, &mut cursor, &mut key, &mut payload)).expect("reads") {
        kept.push((changed, key.clone(), payload.clone()));
    }
    kept
}

fn make_again(worker: &Worker, kept: &Kept) -> Txn {
    let mut txn = worker.begin(Isolation::ReadCommitted);
    for (changed, key, payload) in kept {
        let payload = changed.is_there.then_some(&payload[..]);
        worker.wait(|| txn.change_again(worker, changed.tree, key, payload)).expect("changes");
    }
    txn
}

#[test]
fn an_open_transaction_is_made_again_after_a_crash() {
    let dir = TempDir::new("prepared");
    let engine = open(&dir, 8);
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    let mut setup = worker.begin(Isolation::ReadCommitted);
    for n in 1..=4 {
        change(&worker, &mut setup, tree, n, Some(b"old"));
    }
    setup.commit_as(&worker, Durability::Full).into_iter().for_each(Stall::wait_blocking);

    let mut prepared = worker.begin(Isolation::ReadCommitted);
    change(&worker, &mut prepared, tree, 1, Some(b"new"));
    change(&worker, &mut prepared, tree, 1, Some(b"newer"));
    change(&worker, &mut prepared, tree, 2, None);
    change(&worker, &mut prepared, tree, 3, Some(b"old"));
    let savepoint = prepared.savepoint();
    change(&worker, &mut prepared, tree, 4, Some(b"undone"));
    worker.wait(|| prepared.rollback_to(&worker, savepoint)).expect("undoes");
    change(&worker, &mut prepared, tree, 5, Some(b"inserted"));
    change(&worker, &mut prepared, tree, 6, Some(b"gone"));
    change(&worker, &mut prepared, tree, 6, None);
    let kept = changes(&worker, &mut prepared);
    assert_eq!(kept.len(), 7);
    engine.flush_log();
    let copies = ["prepared-commit", "prepared-rollback"].map(|name| crashed_copy(&dir, name));
    worker.wait(|| prepared.rollback(&worker)).expect("undoes");

    let old: Vec<(u64, Vec<u8>)> = (1..=4).map(|n| (n, b"old".to_vec())).collect();
    let new = [(1, &b"newer"[..]), (3, b"old"), (4, b"old"), (5, b"inserted")].map(|(n, value)| (n, value.to_vec()));
    for (copy, is_committed) in copies.iter().zip([true, false]) {
        let engine = open(copy, 8);
        let (worker, other) = (engine.worker(0), engine.worker(1));
        assert_eq!(all_rows(&worker, tree, false), old);
        let mut again = make_again(&worker, &kept);
        // Making a change twice is the same as making it once.
        for (changed, key, payload) in &kept {
            let payload = changed.is_there.then_some(&payload[..]);
            worker.wait(|| again.change_again(&worker, changed.tree, key, payload)).expect("changes");
        }
        assert_eq!(all_rows(&other, tree, false), old, "others do not see it");
        let mut reader = other.begin(Isolation::ReadCommitted);
        let mut payload = Vec::new();
        for n in [1, 2, 3, 5] {
            let lock = reader.lock_row(&other, tree, &key(n), LockMode::Exclusive, WaitPolicy::NoWait, &mut payload);
            assert!(lock.is_err(), "row {n} is locked");
        }
        other.wait(|| reader.rollback(&other)).expect("ends");
        if is_committed {
            again.commit_as(&worker, Durability::Full).into_iter().for_each(Stall::wait_blocking);
            assert_eq!(all_rows(&other, tree, false), new);
        } else {
            worker.wait(|| again.rollback(&worker)).expect("undoes");
            assert_eq!(all_rows(&other, tree, false), old);
        }
        engine.shutdown().expect("stops");
    }
}
