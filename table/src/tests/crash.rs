//! DDL cut off by a kill: a child process runs a fixed list of statements, the parent kills it at a random moment, opens the directory
//! and compares it with the last statement that the child had acknowledged.

use super::*;
use crate::ddl::{AlterAction, ColumnPosition, DdlOptions, PartitionChange, ViewChange};
use rand::Rng;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const DIRECTORY: &str = "HEDDLE_TEST_CRASH_DIRECTORY";
const ROWS: i64 = 300;
/// Steps of one table's life: create, fill, index, let a column of large values go for another, partition, drop a partition, rename; a view is replaced, and the table before
/// the last is dropped.
const STEPS: u64 = 8;
/// Rows of the partition that is dropped.
const DROPPED: i64 = 100;

pub(super) fn open(directory: &Path) -> (Arc<Engine>, Arc<Database>) {
    let config = Config {
        data_dir: directory.to_path_buf(),
        buffer_pool_bytes: 16 << 20,
        undo_memory_bytes: 16 << 20,
        recovery_target: txn::RECOVERY_TARGET,
        workers: 1,
        durability: Durability::Full,
    };
    let engine = Engine::open(config).expect("the directory opens");
    let database = Database::open(engine.clone()).expect("the catalog is readable");
    (engine, database)
}

/// Statement `step` of the list.
fn run_step(database: &Database, worker: &Worker, step: u64) {
    let (options, k) = (DdlOptions::default(), step / STEPS);
    let name = format!("t{k}");
    match step % STEPS {
        0 => {
            let blob = |name| column(name, TypeKind::Blob(types::LobSize::Regular));
            let columns = vec![not_null(column("id", TypeKind::Int)), blob("c"), blob("a")];
            create(database, worker, table(&name, columns, vec![index("", NewIndexKind::Primary, &["id"])]));
        }
        1 => {
            let table = database.table_by_name("d", &name).expect("created in the step before");
            let mut txn = begin(worker);
            for id in 0..ROWS {
                let bytes = vec![id as u8; id as usize * 20];
                let bytes = Value::Bytes(bytes.into());
                insert(worker, &mut txn, &table, &[Value::Int(id), bytes.borrowed(), bytes.borrowed()]);
            }
            commit(worker, txn);
        }
        2 => {
            let index = prefix_index("a", NewIndexKind::Secondary, "a", 30);
            database.create_index(worker, "d", &name, index, &options).expect("builds");
        }
        3 => {
            let add = AlterAction::AddColumn { column: column("b", TypeKind::Int), position: ColumnPosition::First };
            let drop = AlterAction::DropColumn { name: "c".into() };
            database.alter_table(worker, "d", &name, vec![add, drop], &options).expect("alters");
        }
        4 => {
            let partitioning = super::partitions::ranges("id", &[Some(DROPPED), Some(2 * DROPPED), None]);
            let by = AlterAction::Partition(PartitionChange::By(partitioning));
            database.alter_table(worker, "d", &name, vec![by], &super::partitions::options()).expect("partitions");
        }
        5 => {
            let drop = AlterAction::Partition(PartitionChange::Drop(vec!["p0".into()]));
            database.alter_table(worker, "d", &name, vec![drop], &super::partitions::options()).expect("drops a partition");
        }
        6 => {
            let rename = ("d".to_string(), name, "d".to_string(), format!("r{k}"));
            database.rename_tables(worker, &[rename], &options).expect("renames");
        }
        _ => {
            database.put_view(worker, super::views::view("v", &k.to_string()), ViewChange::Replace, &options).expect("replaces");
            if k >= 2 {
                database.drop_tables(worker, &[("d".into(), format!("r{}", k - 2))], &options).expect("drops");
            }
        }
    }
    database.housekeeping(worker).expect("frees");
    worker.tick();
}

/// Not a test of its own: what the child process runs.
#[test]
fn child() {
    run_until_killed(run_step);
}

/// The child process: takes one step after the other and tells of each that is done. Does nothing in the parent.
pub(super) fn run_until_killed(run_step: impl Fn(&Database, &Worker, u64)) {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let (engine, database) = open(Path::new(&directory));
    let worker = engine.worker(0);
    worker.tick();
    let first = std::env::var("HEDDLE_TEST_FIRST_STEP").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    for step in first.. {
        run_step(&database, &worker, step);
        println!("\ndone {step}");
    }
}

fn spawn(child: &str, directory: &Path, first: u64) -> Child {
    Command::new(std::env::current_exe().expect("a test binary"))
        .args([child, "--exact", "--nocapture", "--test-threads=1"])
        .env(DIRECTORY, directory)
        .env("HEDDLE_TEST_FIRST_STEP", first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the test binary starts")
}

/// Lets a child, which is the test of this name, work for a while, kills it, and returns the last step it acknowledged.
pub(super) fn run_and_kill(child: &str, directory: &Path, first: u64, time: Duration) -> Option<u64> {
    let mut child = spawn(child, directory, first);
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let reader = std::thread::spawn(move || {
        let done = lines.map_while(std::result::Result::ok).filter_map(|line| line.strip_prefix("done ")?.parse::<u64>().ok());
        done.last()
    });
    std::thread::sleep(time);
    child.kill().expect("it runs until killed");
    child.wait().expect("it was killed");
    reader.join().expect("no panic")
}

/// What must be there after step `done` was acknowledged; later steps may have happened too.
fn verify(database: &Database, worker: &Worker, done: u64) {
    for table in database.tables().iter().filter(|table| table.def().view.is_none()) {
        let mut txn = begin(worker);
        let report = table.check(worker, &mut txn).expect("the check runs");
        rollback(worker, txn);
        assert!(report.problems.is_empty(), "{}: {report:?}", table.def().name);
        let partitions = table.def().partitioning.as_ref().map_or(0, |partitioning| partitioning.partitions.len());
        let rows = if partitions == 2 { ROWS - DROPPED } else { ROWS };
        assert!(report.rows == 0 && partitions == 0 || report.rows == rows as u64, "{}: {report:?}", table.def().name);
    }
    let (k, phase) = (done / STEPS, done % STEPS);
    let find = |prefix: &str, k: u64| database.table_by_name("d", &format!("{prefix}{k}"));
    let table = find("t", k).or_else(|| find("r", k)).expect("the table was created");
    let rows = scan_all(worker, &table, 0);
    let has = |name: &str| table.def().column_index(name).is_some();
    assert!(has("b") != has("c") && (phase < 3 || has("b")), "step {done}");
    assert!(!has("b") || rows.iter().all(|row| row[0].is_null() && matches!(row[2], Value::Bytes(_))), "step {done}");
    let rows = rows.len() as i64;
    assert!(phase < 1 || rows == ROWS || rows == ROWS - DROPPED && phase >= 4, "{rows} rows after step {done}");
    assert!(phase < 2 || table.def().indexes.len() == 2, "step {done}");
    assert!(phase < 4 || table.def().partitioning.is_some(), "step {done}");
    assert!(phase < 5 || rows == ROWS - DROPPED, "step {done}");
    assert!(phase < 6 || find("r", k).is_some(), "step {done}");
    assert!(phase < 7 || k < 2 || find("r", k - 2).is_none(), "step {done}");
    assert!(k == 0 || find("r", k - 1).is_some(), "step {done}");
    if phase == 7 {
        let view = database.table_by_name("d", "v").expect("the view was made");
        let text = &view.def().view.as_ref().expect("it is a view").text;
        assert!([k, k + 1].iter().any(|k| *text == k.to_string()), "view of {text} after step {done}");
    }
}

#[test]
fn ddl_is_atomic_over_kills() {
    let fixture = Fixture::new(1);
    let directory = fixture.directory.with_extension("crash");
    let _ = std::fs::remove_dir_all(&directory);
    let mut rng = rand::rng();
    let mut first = 0;
    let rounds = std::env::var("HEDDLE_TEST_ROUNDS").ok().and_then(|s| s.parse().ok()).unwrap_or(8);
    for _ in 0..rounds {
        let time = Duration::from_millis(rng.random_range(150..900));
        let done = run_and_kill("tests::crash::child", &directory, first, time);
        let (engine, database) = open(&directory);
        let worker = engine.worker(0);
        worker.tick();
        if let Some(done) = done {
            verify(&database, &worker, done);
            while database.housekeeping(&worker).expect("frees") {}
            verify(&database, &worker, done);
        }
        // Start over with fresh names.
        first = (done.unwrap_or(first) / STEPS + 3) * STEPS;
        let tables = database.tables();
        let stored = tables.iter().filter(|table| table.def().view.is_none());
        let all: Vec<_> = stored.map(|t| ("d".to_string(), t.def().name.clone())).collect();
        database.drop_tables(&worker, &all, &DdlOptions::default()).expect("drops");
        while database.housekeeping(&worker).expect("frees") {}
        // The child expects the table two before its own.
        for k in [first / STEPS - 2, first / STEPS - 1] {
            for step in 0..7 {
                run_step(&database, &worker, k * STEPS + step);
            }
        }
        drop(worker);
        drop(database);
        engine.shutdown().expect("a clean stop");
        drop(engine);
        let (_, said) = super::offline::look(&directory);
        assert!(said.iter().all(|what| what.ends_with("orphans")), "{said:?}");
    }
    let _ = std::fs::remove_dir_all(&directory);
}
