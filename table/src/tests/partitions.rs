//! Definitions of partitions, with functions over columns alone, which need nobody who evaluates expressions.

use super::*;
use crate::Error;
use crate::ddl::{AlterAction, DdlOptions, Expressions, PartitionChange, RowChoice, RowRules};
use types::partition::{
    PartitionBy, PartitionDef, PartitionError, PartitionFunction, PartitionLimit, PartitionValues, Partitioning, Written,
};
use types::schema::{RowExpr, TableDef};

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
    fn key_part(&self, _columns: &[ColumnDef], _expr: &RowExpr, _index: &str) -> crate::Result<(ColumnType, bool)> {
        Ok((ColumnType::new(TypeKind::BigInt), true))
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
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect::<Vec<_>>();
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
    assert_eq!(run(PartitionChange::Truncate(None)).expect("empties"), 0);
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
