//! A log that is damaged after a crash is named at the next start, never taken for a shorter one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use txn::{Config, Durability, Engine, Error, InsertOutcome, Isolation, ReadMode, Scan};

const ROWS: u64 = 60;

struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn directory(name: &str) -> Directory {
    let path = std::env::temp_dir().join(format!("heddle-log-damage-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    Directory(path)
}

fn open(dir: &Directory, force: bool) -> Result<Arc<Engine>, Error> {
    let config = Config {
        data_dir: dir.0.clone(),
        buffer_pool_bytes: 8 << 20,
        undo_memory_bytes: 1 << 20,
        recovery_target: txn::RECOVERY_TARGET,
        workers: 1,
        durability: Durability::Full,
    };
    Engine::open_with(config, force)
}

fn refusal(dir: &Directory) -> String {
    open(dir, false).err().expect("it does not start").to_string()
}

fn insert(engine: &Arc<Engine>, keys: std::ops::Range<u64>) {
    let worker = engine.spare_worker().expect("a worker");
    for key in keys {
        let mut txn = worker.begin(Isolation::ReadCommitted);
        let tree = engine.catalog_tree();
        let done = worker.wait(|| txn.insert(&worker, tree, &key.to_be_bytes(), b"acknowledged")).expect("room");
        assert_eq!(done, InsertOutcome::Inserted);
        if let Some(stall) = txn.commit(&worker) {
            stall.wait_blocking();
        }
    }
}

fn rows(engine: &Arc<Engine>) -> u64 {
    let worker = engine.spare_worker().expect("a worker");
    let mut txn = worker.begin(Isolation::RepeatableRead);
    let mut scan = Scan::new(engine.catalog_tree(), &[], &[], false, ReadMode::Snapshot);
    let mut count = 0;
    while worker.wait(|| scan.fill(&mut txn, &worker, 64)).expect("scans") {
        while let Some(row) = scan.next_row() {
            assert_eq!(row.key, u64::to_be_bytes(count), "the first ones, without a gap");
            count += 1;
        }
    }
    drop(txn.commit(&worker));
    count
}

/// As a kill leaves it.
fn copy(from: &Directory, name: &str) -> Directory {
    let to = directory(name);
    std::fs::create_dir_all(to.0.join("redo")).expect("makes");
    for folder in ["", "redo"] {
        let entries = std::fs::read_dir(from.0.join(folder)).expect("lists");
        let mut files: Vec<PathBuf> =
            entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()).collect();
        // The control file first: one of a later checkpoint would not want the log that the copy is to have.
        files.sort_by_key(|path| !path.ends_with("heddle.control"));
        for path in files {
            std::fs::copy(&path, to.0.join(folder).join(path.file_name().expect("a name"))).expect("copies");
        }
    }
    to
}

fn first_segment(dir: &Directory) -> PathBuf {
    dir.0.join("redo/0000000000000000.log")
}

/// Where the blocks of a segment begin.
fn blocks(segment: &Path) -> Vec<usize> {
    let bytes = std::fs::read(segment).expect("reads");
    (0..bytes.len()).step_by(4096).filter(|at| bytes[*at..].starts_with(b"HEDLOG01")).collect()
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).expect("reads");
    change(&mut bytes);
    std::fs::write(path, bytes).expect("writes");
}

/// The directory of a server that was killed after it had acknowledged the rows.
fn killed(name: &str) -> Directory {
    let dir = directory(&format!("{name}-alive"));
    let engine = open(&dir, false).expect("starts");
    insert(&engine, 0..ROWS);
    let killed = copy(&dir, name);
    engine.shutdown().expect("stops");
    killed
}

#[test]
fn what_is_whole_starts_with_all_rows() {
    let dir = killed("whole");
    let engine = open(&dir, false).expect("starts");
    assert_eq!(rows(&engine), ROWS);
}

#[test]
fn one_flipped_bit_is_refused_and_forced() {
    let dir = killed("bit");
    let at = blocks(&first_segment(&dir));
    let bad = at[at.len() - 30];
    change(&first_segment(&dir), |bytes| bytes[bad + 100] ^= 1);
    let before = std::fs::read(first_segment(&dir)).expect("reads");
    let why = refusal(&dir);
    assert!(why.contains(&format!("the block at byte {bad} of {}", first_segment(&dir).display())), "{why}");
    assert!(why.contains("29 groups of changes") && why.contains("with 29 commits") && why.contains("--force-recovery"), "{why}");
    assert_eq!(why.lines().count(), 1);
    assert!(std::fs::read(first_segment(&dir)).expect("reads") == before, "nothing was changed");
    assert!(refusal(&dir).contains("damaged"));

    let engine = open(&dir, true).expect("starts when it is forced to");
    let kept = rows(&engine);
    assert_eq!(kept, ROWS - 30);
    insert(&engine, kept..kept + 5);
    let again = copy(&dir, "bit-again");
    engine.shutdown().expect("stops");
    drop(engine);
    // After a kill too, it is a sound log.
    for dir in [again, dir] {
        let engine = open(&dir, false).expect("starts");
        assert_eq!(rows(&engine), kept + 5);
        engine.shutdown().expect("stops");
    }
}

/// Nothing tells the last epoch from one that was being written.
#[test]
fn a_torn_last_block_is_the_end() {
    let dir = killed("last");
    let bad = *blocks(&first_segment(&dir)).last().expect("blocks");
    change(&first_segment(&dir), |bytes| bytes[bad + 100] ^= 1);
    let engine = open(&dir, false).expect("starts");
    assert_eq!(rows(&engine), ROWS - 1);
}

#[test]
fn a_log_that_is_gone_is_no_empty_database() {
    let dir = killed("segment");
    std::fs::remove_file(first_segment(&dir)).expect("removes");
    let why = refusal(&dir);
    assert!(why.contains("0000000000000000.log is missing"), "{why}");
    let dir = killed("directory");
    std::fs::remove_dir_all(dir.0.join("redo")).expect("removes");
    let why = refusal(&dir);
    assert!(why.contains("0000000000000000.log is missing"), "{why}");
    assert!(!dir.0.join("redo").exists(), "nothing is made in its place");
    drop(open(&dir, true).expect("starts when it is forced to"));
    // Also after a clean stop: the data file has everything, but who knows where the log has gone?
    let dir = directory("clean");
    let engine = open(&dir, false).expect("starts");
    insert(&engine, 0..ROWS);
    engine.shutdown().expect("stops");
    drop(engine);
    std::fs::remove_dir_all(dir.0.join("redo")).expect("removes");
    let why = refusal(&dir);
    assert!(why.contains("stopped in good order"), "{why}");
    let engine = open(&dir, true).expect("starts when it is forced to");
    assert_eq!(rows(&engine), ROWS);
    insert(&engine, ROWS..ROWS + 5);
    engine.shutdown().expect("stops");
    drop(engine);
    assert_eq!(rows(&open(&dir, false).expect("starts")), ROWS + 5);
}

/// What a start has read is known to be durable: the log cannot end before.
#[test]
fn a_log_that_is_zeros_from_some_block_on_is_refused() {
    let first = killed("zeros");
    let engine = open(&first, false).expect("starts");
    let dir = copy(&first, "zeros-killed");
    drop(engine);
    let at = blocks(&first_segment(&dir));
    change(&first_segment(&dir), |bytes| bytes[at[10]..].fill(0));
    let why = refusal(&dir);
    assert!(why.contains(&format!("the log ends at byte {} of", at[10])), "{why}");
}

#[test]
fn missing_files_are_named_and_not_made() {
    for (file, is_clean) in [("heddle.data", true), ("heddle.data", false), ("heddle.control", true), ("heddle.control", false)] {
        let dir = killed("file");
        if is_clean {
            open(&dir, false).expect("starts").shutdown().expect("stops");
        }
        std::fs::remove_file(dir.0.join(file)).expect("removes");
        let why = refusal(&dir);
        assert!(why.contains(&format!("{file} is missing")), "{why}");
        assert!(!dir.0.join(file).exists());
    }
}

/// Up to format 4 the log had another name.
#[test]
fn the_log_gets_its_present_name() {
    let dir = killed("name");
    std::fs::rename(dir.0.join("redo"), dir.0.join("log")).expect("renames");
    let engine = open(&dir, false).expect("starts");
    assert_eq!(rows(&engine), ROWS);
    assert!(dir.0.join("redo").is_dir() && !dir.0.join("log").exists());
}
