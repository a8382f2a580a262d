//! Who follows the log takes its end from memory.

use super::*;

#[test]
fn a_follower_reads_no_file_while_it_keeps_up() {
    let dir = TempDir::new("follow");
    let engine = open(&dir, 8);
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    let mut follower = engine.follow_log(None);
    let mut payload = Vec::new();
    let commit = |from: u64, to: u64| {
        for n in from..to {
            let mut txn = worker.begin(Isolation::ReadCommitted);
            worker.wait(|| txn.insert(&worker, tree, &key(n), b"followed")).expect("inserts");
            txn.commit_as(&worker, Durability::Full).into_iter().for_each(Stall::wait_blocking);
            engine.flush_log();
        }
    };
    let mut read = |payload: &mut Vec<u8>| {
        let (mut epochs, mut rows) = (0, 0);
        while follower.next_epoch(payload).expect("reads").is_some() {
            epochs += 1;
            rows += payload.windows(8).filter(|bytes| *bytes == b"followed").count();
        }
        (epochs, rows, follower.file_reads())
    };
    commit(0, 5);
    let (_, rows, before) = read(&mut payload);
    assert_eq!(rows, 5);
    for round in 1..20 {
        commit(round * 5, round * 5 + 5);
        let (epochs, rows, now) = read(&mut payload);
        assert!(epochs > 0);
        assert_eq!((rows, now), (5, before), "round {round}");
    }
    // Another follower begins with the file, where its beginning was written before it came.
    drop(follower);
    commit(100, 103);
    let mut late = engine.follow_log(None);
    commit(103, 106);
    let mut rows = 0;
    while late.next_epoch(&mut payload).expect("reads").is_some() {
        rows += payload.windows(8).filter(|bytes| *bytes == b"followed").count();
    }
    assert_eq!(rows, 3);
    engine.shutdown().expect("stops");
}

#[test]
fn the_log_has_each_commit_that_is_seen_after_its_stall() {
    let dir = TempDir::new("log-stall");
    let engine = open(&dir, 8);
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    let mut follower = engine.follow_log(None);
    let mut payload = Vec::new();
    for n in 0..20 {
        let mut txn = worker.begin(Isolation::ReadCommitted);
        worker.wait(|| txn.insert(&worker, tree, &key(n), b"followed")).expect("inserts");
        // Seen by others from here on, and not durable yet.
        assert!(txn.commit_as(&worker, Durability::Relaxed).is_none());
        worker.log_stall().wait_blocking();
        let end = engine.log_end();
        let mut rows = 0;
        while follower.next_epoch(&mut payload).expect("reads").is_some() {
            rows += payload.windows(8).filter(|bytes| *bytes == b"followed").count();
        }
        assert_eq!((rows, engine.log_end()), (1, end), "commit {n}");
    }
    engine.shutdown().expect("stops");
}
