//! Definitions of partitions, with functions over columns alone, which need nobody who evaluates expressions.

use super::*;
use crate::ddl::{AlterAction, DdlOptions, Expressions, PartitionChange, RowChoice, RowRules};
use crate::{Error, TableUse};
use types::partition::{
    PartitionBy, PartitionDef, PartitionError, PartitionFunction, PartitionLimit, PartitionValues, Partitioning, Written,
};
use types::schema::{KeyPartType, RowExpr, TableDef};

/// Stands for `exec` where partitions depend on columns.
#[derive(Debug)]
struct ByColumns;

struct Nothing;

struct Chosen {
    function: PartitionFunction,
    columns: Vec<usize>,
    partitions: Vec<usize>,
}

impl RowRules for Nothing {
    fn complete(&mut self, _values: &mut [Value<'static>]) -> crate::Result<()> {
        Ok(())
    }
}

impl RowChoice for Chosen {
    fn takes(&mut self, values: &[Value<'_>]) -> crate::Result<bool> {
        let values: Vec<Value<'_>> = self.columns.iter().map(|column| values[*column].clone()).collect();
        let number = self.function.locate(&values).expect("the values are of the columns' types");
        Ok(number.is_some_and(|number| self.partitions.contains(&number)))
    }
}

impl Expressions for ByColumns {
    fn check(&self, _def: &TableDef) -> crate::Result<()> {
        Ok(())
    }

    /// Every expression is a number.
    fn key_part(&self, _columns: &[ColumnDef], _expr: &RowExpr, _index: &str) -> crate::Result<KeyPartType> {
        Ok(KeyPartType { ty: ColumnType::new(TypeKind::BigInt), nullable: true, element: None })
    }

    fn row_rules<'t>(&self, _table: &'t Table, _added: &[usize]) -> crate::Result<Box<dyn RowRules + 't>> {
        Ok(Box::new(Nothing))
    }

    fn rows_of_partitions<'t>(&self, table: &'t Table, partitions: &[usize]) -> crate::Result<Box<dyn RowChoice + 't>> {
        let of = table.def().partitioning.as_deref().expect("it has partitions");
        let function = PartitionFunction::new(of, table.def()).expect("a checked definition");
        let columns = of.columns_in(table.def()).expect("a checked definition");
        Ok(Box::new(Chosen { function, columns, partitions: partitions.to_vec() }))
    }
}

pub(super) fn options() -> DdlOptions {
    DdlOptions { expressions: Some(Arc::new(ByColumns)), ..DdlOptions::default() }
}

/// Partitions p0, p1, ... by the ends of their ranges; `None`: MAXVALUE.
pub(super) fn ranges(column: &str, ends: &[Option<i64>]) -> Partitioning {
    let limit = |end: &Option<i64>| end.map_or(PartitionLimit::MaxValue, |end| PartitionLimit::Literal(end.to_string()));
    let partition = |(n, end): (usize, &Option<i64>)| PartitionDef {
        name: format!("p{n}"),
        values: PartitionValues::LessThan(vec![limit(end)]),
        comment: String::new(),
        subpartitions: Vec::new(),
    };
    let partitions = ends.iter().enumerate().map(partition).collect();
    Partitioning { by: PartitionBy::RangeColumns(vec![column.to_string()]), partitions, written: Written::Named, sub: None }
}

/// `t (id, a)` with ids 0 to 29 in partitions of ten.
fn made(fixture: &Fixture) -> (Arc<Database>, Worker) {
    let (database, worker) = (fixture.database().clone(), fixture.worker(0));
    let columns = vec![not_null(column("id", TypeKind::Int)), column("a", TypeKind::Int)];
    let mut new =
        table("t", columns, vec![index("", NewIndexKind::Primary, &["id"]), index("ka", NewIndexKind::Secondary, &["a"])]);
    new.partitioning = Some(Box::new(ranges("id", &[Some(10), Some(20), Some(30)])));
    database.create_database(&worker, "d", CollationId::UTF8MB4_0900_AI_CI).expect("a new database");
    database.create_table_with(&worker, new, &options()).expect("a new table");
    let open = database.table_by_name("d", "t").expect("just created");
    let mut txn = begin(&worker);
    for id in 0..30 {
        insert(&worker, &mut txn, &open, &[Value::Int(id), Value::Int(id % 7)]);
    }
    commit(&worker, txn);
    (database, worker)
}

fn change(database: &Database, worker: &Worker, change: PartitionChange) -> crate::Result<usize> {
    database.alter_table(worker, "d", "t", vec![AlterAction::Partition(change)], &options())?;
    let open = database.table_by_name("d", "t").expect("it is there");
    let mut txn = begin(worker);
    let report = open.check(worker, &mut txn).expect("the check runs");
    rollback(worker, txn);
    assert!(report.problems.is_empty(), "{report:?}");
    Ok(scan_all(worker, &open, 0).len())
}

#[test]
fn rows_go_with_their_partition() {
    let fixture = Fixture::new(1);
    let (database, worker) = made(&fixture);
    let run = |what| change(&database, &worker, what);
    assert_eq!(run(PartitionChange::Truncate(Some(names(&["p1"])))).expect("truncates"), 20);
    assert_eq!(run(PartitionChange::Drop(names(&["p0"]))).expect("drops"), 10);
    let def = database.schema().table("d", "t").cloned().expect("it is there");
    assert_eq!(def.partitioning.as_ref().map(|of| of.partitions.len()), Some(2));
    assert_eq!(run(PartitionChange::Remove).expect("removes"), 10);
    assert!(matches!(run(PartitionChange::Drop(names(&["p1"]))), Err(Error::Partition(PartitionError::NotPartitioned))));
    let counted = Partitioning {
        by: PartitionBy::Key { columns: names(&["id"]), linear: false, old_algorithm: false },
        partitions: Partitioning::numbered(0, 4),
        written: Written::Counted,
        sub: None,
    };
    assert_eq!(run(PartitionChange::By(counted)).expect("partitions"), 10);
    assert_eq!(run(PartitionChange::AddCount(3)).expect("adds"), 10);
    assert_eq!(run(PartitionChange::Coalesce(5)).expect("takes away"), 10);
    assert!(matches!(run(PartitionChange::Coalesce(2)), Err(Error::Partition(PartitionError::DropsAll))));
    let before = database.table_by_name("d", "t").expect("it is there").indexes[0].tree;
    assert_eq!(run(PartitionChange::Truncate(None)).expect("empties"), 0);
    assert_ne!(database.table_by_name("d", "t").expect("it is there").indexes[0].tree, before);
}

#[test]
fn a_definition_without_evaluation_refuses() {
    let fixture = Fixture::new(1);
    let (database, worker) = made(&fixture);
    let drop = vec![AlterAction::Partition(PartitionChange::Drop(vec!["p0".into()]))];
    let refused = database.alter_table(&worker, "d", "t", drop, &DdlOptions::default());
    assert!(matches!(refused, Err(Error::NotSupported { .. })), "{refused:?}");
}

#[test]
fn changes_follow_mysqls_rules() {
    let fixture = Fixture::new(1);
    let (database, worker) = made(&fixture);
    let run = |what| change(&database, &worker, what).map(drop);
    let refused = |what, error: PartitionError| match run(what) {
        Err(Error::Partition(found)) => assert_eq!(found, error),
        other => panic!("{other:?}, not {error:?}"),
    };
    let part = |name: &str, end: i64| PartitionDef {
        name: name.into(),
        values: PartitionValues::LessThan(vec![PartitionLimit::Literal(end.to_string())]),
        comment: String::new(),
        subpartitions: Vec::new(),
    };
    let reorganize = |names: &[&str], into| PartitionChange::Reorganize {
        names: names.iter().map(|name| (*name).to_string()).collect(),
        into,
    };
    refused(PartitionChange::Add(vec![part("p3", 30)]), PartitionError::NotIncreasing);
    refused(PartitionChange::Add(vec![part("P1", 40)]), PartitionError::DuplicateName { name: "P1".into() });
    refused(PartitionChange::AddCount(2), PartitionError::NotDefined { kind: "RANGE" });
    refused(PartitionChange::Coalesce(1), PartitionError::CoalescesRange);
    refused(reorganize(&["p0", "p2"], vec![part("x", 30)]), PartitionError::NotConsecutive);
    refused(reorganize(&["p0"], vec![part("x", 15)]), PartitionError::OutsideRange);
    run(reorganize(&["p0", "p1"], vec![part("x", 5), part("y", 20)])).expect("the same range");
    run(reorganize(&["p2"], vec![part("z", 50)])).expect("more than before");
    let def = database.schema().table("d", "t").cloned().expect("it is there");
    let names: Vec<_> = def.partitioning.iter().flat_map(|of| &of.partitions).map(|p| p.name.clone()).collect();
    assert_eq!(names, ["x", "y", "z"]);
    let unique = index("u", NewIndexKind::Unique, &["a"]);
    let add = vec![AlterAction::AddIndex { index: unique }];
    let added = database.alter_table(&worker, "d", "t", add, &options());
    assert!(matches!(added, Err(Error::Partition(PartitionError::KeyWithoutFields { key: "UNIQUE INDEX" }))), "{added:?}");
    let dropped = database.alter_table(&worker, "d", "t", vec![AlterAction::DropColumn { name: "id".into() }], &options());
    assert!(matches!(dropped, Err(Error::Partition(PartitionError::FieldNeeded { .. }))), "{dropped:?}");
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_string()).collect()
}

/// How many rows lie at or above a number.
fn rows_from(worker: &Worker, table: &Table, least: i64) -> usize {
    scan_all(worker, table, 0).iter().filter(|row| matches!(row[0], Value::Int(id) if id >= least)).count()
}

#[test]
fn rows_of_other_partitions_are_not_touched() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let database = fixture.database();
    // The bounds are found in the primary key, in an index, and nowhere.
    for (primary, secondary) in [(&["id", "g"][..], "g"), (&["g", "id"], "id"), (&["g", "note", "id"], "note")] {
        let columns = vec![
            not_null(column("id", TypeKind::Int)),
            not_null(column("g", TypeKind::Int)),
            not_null(column("note", TypeKind::VarChar { length: 5 })),
            column("large", TypeKind::Blob(types::LobSize::Regular)),
        ];
        let keys = vec![index("", NewIndexKind::Primary, primary), index("s", NewIndexKind::Secondary, &[secondary])];
        let mut new = table("t", columns, keys);
        new.partitioning = Some(Box::new(ranges("id", &[Some(20), Some(40), Some(60), None])));
        if !database.schema().databases.contains_key("d") {
            database.create_database(&worker, "d", CollationId::UTF8MB4_0900_AI_CI).expect("a new database");
        }
        database.create_table_with(&worker, new, &options()).expect("a new table");
        let open = database.table_by_name("d", "t").expect("just created");
        let mut txn = begin(&worker);
        for id in 0..80 {
            let large = Value::Bytes(vec![id as u8; if id % 3 == 0 { 9000 } else { 9 }].into());
            insert(&worker, &mut txn, &open, &[Value::Int(id), Value::Int(-id % 7), text("n"), large]);
        }
        commit(&worker, txn);
        assert_eq!(change(database, &worker, PartitionChange::Truncate(Some(names(&["p1", "p3"])))).expect("truncates"), 40);
        assert_eq!(change(database, &worker, PartitionChange::Drop(names(&["p0"]))).expect("drops"), 20);
        let now = database.table_by_name("d", "t").expect("it is there");
        assert_eq!((rows_from(&worker, &now, 40), now.estimated_rows()), (20, 20));
        assert_eq!(now.indexes[0].tree, open.indexes[0].tree, "no new trees");
        database.drop_tables(&worker, &[("d".into(), "t".into())], &options()).expect("drops");
    }
}

#[test]
fn where_most_rows_go_the_others_are_written_anew() {
    let fixture = Fixture::new(1);
    let (database, worker) = made(&fixture);
    let open = database.table_by_name("d", "t").expect("it is there");
    change(
        &database,
        &worker,
        PartitionChange::Add(vec![PartitionDef::new("p3".into(), PartitionValues::LessThan(vec![PartitionLimit::MaxValue]))]),
    )
    .expect("adds");
    let now = database.table_by_name("d", "t").expect("it is there");
    let mut txn = begin(&worker);
    (100..400).for_each(|id| _ = insert(&worker, &mut txn, &now, &[Value::Int(id), Value::Int(id)]));
    commit(&worker, txn);
    assert_eq!(change(&database, &worker, PartitionChange::Drop(names(&["p3"]))).expect("drops"), 30);
    let now = database.table_by_name("d", "t").expect("it is there");
    assert_ne!(now.indexes[0].tree, open.indexes[0].tree);
    while database.housekeeping(&worker).expect("frees") {}
}

/// Rows come into the partition, and go to another, while it is emptied again and again; others wait for its rows.
#[test]
fn a_partition_is_emptied_while_it_is_written() {
    const ROUNDS: usize = 6;
    const COMMITS: u32 = 60;
    let fixture = Fixture::new(3);
    let (database, worker) = made(&fixture);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let all_commits = AtomicU32::new(0);
    let hold = |worker: &Worker| loop {
        let table = database.table_by_name("d", "t").expect("it is there");
        if let Err(wait) = table.mdl().acquire_shared(worker.index(), TableUse::Writes) {
            assert!(wait.wait_blocking(std::time::Instant::now() + std::time::Duration::from_secs(60)));
        }
        if !table.is_replaced() {
            return table;
        }
        table.mdl().release_shared(worker.index(), TableUse::Writes);
    };
    // Each writer has the rows of its parity: to and fro between p0 and p1. At READ COMMITTED, since at REPEATABLE READ both
    // lock the gaps where they find no row, and then each may wait for the other.
    let write = |parity: i64| {
        let worker = fixture.engine().worker(parity as usize + 1);
        worker.tick();
        let mut commits = 0;
        while !stop.load(Ordering::Relaxed) {
            let table = hold(&worker);
            let mut txn = worker.begin(Isolation::ReadCommitted);
            for id in (0..10).filter(|id| id % 2 == parity) {
                let (mut row, mut progress, mut key) = (RowBuf::new(), Progress::new(), Vec::new());
                for (from, to) in [(id + 10, id), (id, id + 10)] {
                    assert!(table.encode_point_key(0, &[Value::Int(from)], &mut key));
                    if blocking(|| table.point(&worker, &mut txn, 0, &key, RowRead::Latest, &mut row)).expect("reads") {
                        blocking(|| table.delete_row(&worker, &mut txn, &row, &mut progress)).expect("deletes");
                    }
                    let values = [Value::Int(to), Value::Int(commits % 5)];
                    blocking(|| table.insert_row(&worker, &mut txn, &values, &mut progress)).expect("inserts");
                    if commits % 3 == 0 {
                        break;
                    }
                }
            }
            if commits % 4 == 0 {
                rollback(&worker, txn)
            } else {
                commit(&worker, txn)
            }
            commits += 1;
            all_commits.fetch_add(1, Ordering::Relaxed);
            table.mdl().release_shared(worker.index(), TableUse::Writes);
            worker.tick();
            std::thread::yield_now();
        }
    };
    std::thread::scope(|scope| {
        let writers = [0, 1].map(|parity| scope.spawn(move || write(parity)));
        let mut rounds = 0;
        while rounds < ROUNDS || all_commits.load(Ordering::Relaxed) < COMMITS {
            rounds += 1;
            let empty = AlterAction::Partition(PartitionChange::Truncate(Some(names(&["p0"]))));
            database.alter_table(&worker, "d", "t", vec![empty], &options()).expect("truncates");
            let table = hold(&worker);
            check_indexes(&worker, &table);
            assert_eq!(rows_from(&worker, &table, 20), 10);
            table.mdl().release_shared(worker.index(), TableUse::Writes);
            worker.tick();
        }
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().for_each(|writer| writer.join().expect("no panic"));
    });
    assert!(change(&database, &worker, PartitionChange::Truncate(Some(names(&["p0"])))).expect("truncates") <= 20);
    let table = database.table_by_name("d", "t").expect("it is there");
    assert_eq!(scan_all(&worker, &table, 0).len(), rows_from(&worker, &table, 10));
}
