//! Another size of the buffer pool while it is used.

use super::*;

/// The pool shrinks and grows while rows beyond it are changed and read: no change is lost, and it gets down to its size.
#[test]
fn the_pool_changes_its_size_under_load() {
    const ROWS: u64 = if cfg!(miri) { 60 } else { 6_000 };
    let dir = TempDir::new("resized");
    let engine = open(&dir, 32);
    let worker = engine.worker(0);
    let tree = worker.wait(|| worker.create_tree()).expect("a tree");
    let mut txn = worker.begin(Isolation::ReadCommitted);
    let payload = |round: u64| [&round.to_be_bytes()[..], &[round as u8; 2_500][..]].concat();
    for n in 0..ROWS {
        assert_eq!(worker.wait(|| txn.insert(&worker, tree, &key(n), &payload(0))).expect("ok"), InsertOutcome::Inserted);
    }
    let _ = txn.commit(&worker);
    let shrunk = |engine: &Engine| !matches!(engine.pool_resize(), ResizeState::Shrinking { .. });
    let (stop, rounds) = (AtomicBool::new(false), [const { AtomicU64::new(0) }; 2]);
    std::thread::scope(|scope| {
        for (index, rounds) in rounds.iter().enumerate() {
            let (engine, stop) = (&engine, &stop);
            scope.spawn(move || {
                let worker = engine.worker(index + 1);
                let mut read = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let round = rounds.fetch_add(1, Ordering::Relaxed) + 1;
                    for n in (index as u64..ROWS).step_by(2) {
                        let mut txn = worker.begin(Isolation::ReadCommitted);
                        let seen =
                            worker.wait(|| txn.read_latest(&worker, tree, &key(n), &mut read)).expect("ok").expect("there");
                        assert_eq!(read, payload(round - 1), "row {n}");
                        worker.wait(|| txn.update(&worker, tree, &key(n), seen, &payload(round))).expect("ok");
                        let _ = txn.commit(&worker);
                        worker.tick();
                    }
                    worker.park();
                }
            });
        }
        let steps = if cfg!(miri) { 2 } else { 12 };
        for mib in [5u64, 24, 4, 16, 5, 40].into_iter().cycle().take(steps) {
            let size = engine.resize_pool(mib << 20).expect("no other change goes on");
            assert_eq!(size, engine.pool_bytes_near(mib << 20));
            until("the pool shrinks", || shrunk(&engine));
            assert_eq!(engine.status().pool_frames as u64 * storage::page::PAGE_BYTES as u64, size);
            assert!(engine.status().pool_used <= engine.status().pool_frames);
            std::thread::sleep(std::time::Duration::from_millis(30));
        }
        stop.store(true, Ordering::Relaxed);
    });
    let expected = |n: u64| payload(rounds[(n % 2) as usize].load(Ordering::Relaxed));
    let check = |worker: &Worker| {
        let rows = all_rows(worker, tree, false);
        assert!(rows.len() as u64 == ROWS && rows.iter().all(|(n, row)| *row == expected(*n)));
    };
    check(&worker);
    drop(worker);
    engine.shutdown().expect("stops");
    drop(engine);
    let engine = open(&dir, 8);
    check(&engine.worker(0));
    engine.shutdown().expect("stops");
}
