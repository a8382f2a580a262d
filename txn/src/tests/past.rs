//! Snapshots of the past: what they see, what is kept for them, and what bounds it.

use super::*;
use crate::NoPast;
use std::time::Duration;

fn put(worker: &Worker, tree: TreeRef, n: u64, value: &[u8]) {
    worker.tick();
    let mut txn = worker.begin(Isolation::ReadCommitted);
    let mut payload = Vec::new();
    let seen = worker.wait(|| txn.read_latest(worker, tree, &key(n), &mut payload)).expect("reads");
    worker
        .wait(|| match seen {
            Some(seen) => txn.update(worker, tree, &key(n), seen, value).map(|_| ()),
            None => txn.insert(worker, tree, &key(n), value).map(|_| ()),
        })
        .expect("writes");
    assert!(txn.commit(worker).is_none());
}

fn remove(worker: &Worker, tree: TreeRef, n: u64) {
    worker.tick();
    let mut txn = worker.begin(Isolation::ReadCommitted);
    let mut payload = Vec::new();
    let seen = worker.wait(|| txn.read_latest(worker, tree, &key(n), &mut payload)).expect("reads").expect("is there");
    worker.wait(|| txn.delete(worker, tree, &key(n), seen)).expect("deletes");
    assert!(txn.commit(worker).is_none());
}

fn as_of(worker: &Worker, tree: TreeRef, moment: u64, n: u64) -> std::result::Result<Option<Vec<u8>>, NoPast> {
    let mut txn = worker.begin_past(moment)?;
    let mut payload = Vec::new();
    let found = worker.wait(|| txn.read(worker, tree, &key(n), &mut payload)).expect("reads");
    txn.forget_snapshot(worker);
    Ok(found.then_some(payload))
}

fn now() -> u64 {
    os::time::since_epoch().as_micros() as u64
}

/// A moment that has a mark of its own.
fn moment(engine: &Engine) -> u64 {
    engine.mark_past(now);
    let moment = now();
    std::thread::sleep(Duration::from_millis(2));
    moment
}

#[test]
fn a_moment_is_read_as_it_was() {
    let dir = TempDir::new("past");
    let engine = open(&dir, 16);
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    put(&worker, tree, 1, b"before");
    assert_eq!(as_of(&worker, tree, now(), 1), Err(NoPast::Off));
    engine.set_undo_retention(Duration::from_secs(3600));
    let begin = moment(&engine);
    put(&worker, tree, 1, b"one");
    put(&worker, tree, 2, b"two");
    let both = moment(&engine);
    put(&worker, tree, 1, b"later");
    remove(&worker, tree, 2);
    let last = moment(&engine);
    // The purge has its time, and must leave the deleted row.
    std::thread::sleep(Duration::from_millis(100));
    worker.tick();
    let read = |moment, n| as_of(&worker, tree, moment, n).expect("is kept");
    assert_eq!((read(begin, 1).as_deref(), read(begin, 2)), (Some(&b"before"[..]), None));
    assert_eq!((read(both, 1).as_deref(), read(both, 2).as_deref()), (Some(&b"one"[..]), Some(&b"two"[..])));
    assert_eq!((read(last, 1).as_deref(), read(last, 2)), (Some(&b"later"[..]), None));
    assert!(matches!(as_of(&worker, tree, begin - 60_000_000, 1), Err(NoPast::Gone(_))));
    assert_eq!(as_of(&worker, tree, now() + 60_000_000, 1), Err(NoPast::Future));
    assert_eq!(engine.status().purge_backlog, 1);
    engine.set_undo_retention(Duration::ZERO);
    assert_eq!(as_of(&worker, tree, both, 1), Err(NoPast::Off));
    for _ in 0..500 {
        worker.tick();
        if engine.status().purge_backlog == 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(engine.status().purge_backlog, 0, "nothing holds the purge back any more");
    drop(worker);
    engine.shutdown().expect("stops");
}

#[test]
fn the_retention_ends_what_is_kept_but_not_for_a_reader() {
    let dir = TempDir::new("past-ends");
    let engine = open(&dir, 16);
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    put(&worker, tree, 1, b"old");
    // So long that the thread makes no marks of its own.
    let (day, days) = (86_400_000_000, Duration::from_secs(40 * 86_400));
    engine.set_undo_retention(days);
    let early = moment(&engine);
    let mut reader = worker.begin_past(early).expect("is kept");
    put(&worker, tree, 1, b"new");
    let held = engine.horizon();
    // Later, as far as the marks know.
    let later = now() + 41 * day;
    engine.mark_past(|| later);
    put(&worker, tree, 3, b"x");
    engine.mark_past(|| later + 41 * day);
    assert!(matches!(worker.begin_past(early), Err(NoPast::Gone(_))));
    worker.tick();
    assert!(engine.horizon() <= held, "the open snapshot holds the horizon");
    let mut payload = Vec::new();
    assert!(worker.wait(|| reader.read(&worker, tree, &key(1), &mut payload)).expect("reads"));
    assert_eq!(payload, b"old");
    reader.forget_snapshot(&worker);
    worker.tick();
    assert!(engine.horizon() > held);
    // A clock that is set back.
    engine.mark_past(|| later - 5 * day);
    assert_eq!(worker.begin_past(now()).err(), Some(NoPast::Gone(later - 5 * day)));
    drop(worker);
    engine.shutdown().expect("stops");
}

#[test]
fn what_is_kept_is_bounded_by_the_memory_for_undo() {
    let dir = TempDir::new("past-bound");
    let engine = Engine::open(Config {
        data_dir: dir.0.clone(),
        buffer_pool_bytes: 16 << 20,
        undo_memory_bytes: 1 << 20,
        recovery_target: crate::RECOVERY_TARGET,
        workers: 1,
        durability: Durability::None,
    })
    .expect("opens");
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    engine.set_undo_retention(Duration::from_secs(3600));
    put(&worker, tree, 1, &[0; 2000]);
    let first = moment(&engine);
    for round in 0..40u8 {
        for _ in 0..200 {
            put(&worker, tree, 1, &[round; 2000]);
        }
        engine.mark_past(now);
        worker.park();
        worker.tick();
    }
    // 8000 versions of 2 KB are 16 MB; eight times 1 MB may be kept, and what was in use when it was looked at last.
    let kept = engine.status().undo_bytes;
    assert!(kept <= 10 << 20, "{kept} bytes are kept");
    assert!(kept >= 4 << 20, "{kept} bytes are kept");
    assert!(matches!(worker.begin_past(first), Err(NoPast::Gone(_))));
    assert!(as_of(&worker, tree, now(), 1).expect("is kept").is_some());
    drop(worker);
    engine.shutdown().expect("stops");
}
