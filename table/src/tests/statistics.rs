//! When statistics are taken anew: by counts of rows and changes alone.

use super::*;

/// Different values of the second index's first column.
fn distinct(table: &Table) -> u64 {
    table.statistics().expect("statistics were taken").distinct_prefix(1, 1).expect("the index has a column") as u64
}

fn counted_table(fixture: &Fixture, worker: &Worker) -> Arc<Table> {
    let columns = vec![not_null(column("id", TypeKind::Int)), not_null(column("a", TypeKind::Int))];
    let keys = vec![index("", NewIndexKind::Primary, &["id"]), index("a", NewIndexKind::Secondary, &["a"])];
    create(fixture.database(), worker, table("st", columns, keys))
}

/// Three rows of each value; they stay uncommitted.
fn insert_rows(worker: &Worker, table: &Table, rows: i64) -> Txn {
    let mut txn = begin(worker);
    for id in 0..rows {
        assert_eq!(insert(worker, &mut txn, table, &[Value::Int(id), Value::Int(id / 3)]), InsertRow::Inserted);
    }
    txn
}

#[test]
fn rows_of_an_open_transaction_are_in_the_sample() {
    let mut fixture = Fixture::new(2);
    {
        let (one, other) = (fixture.worker(0), fixture.worker(1));
        let table = counted_table(&fixture, &one);
        let txn = insert_rows(&one, &table, 3000);
        fixture.database().refresh_statistics(&other).expect("refreshes");
        assert_eq!(distinct(&table), 1000);
        commit(&one, txn);
        fixture.database().refresh_statistics(&other).expect("refreshes");
        assert_eq!((distinct(&table), table.estimated_rows()), (1000, 3000));
    }
    fixture.reopen();
}

#[test]
fn a_rollback_makes_statistics_doubtful() {
    let mut fixture = Fixture::new(2);
    {
        let (one, other) = (fixture.worker(0), fixture.worker(1));
        let table = counted_table(&fixture, &one);
        let mut txn = insert_rows(&one, &table, 3000);
        fixture.database().refresh_statistics(&other).expect("refreshes");
        let changes = txn.changes();
        blocking(|| txn.rollback(&one)).expect("rolls back");
        table.note_rolled_back(&one, changes);
        assert!(table.counters.changes() >= 2 * 3000, "what was done, and undone");
        // ANALYZE TABLE counts the rows, and puts the estimate right.
        fixture.database().analyze(&other, &table).expect("analyzes");
        assert_eq!((distinct(&table), table.estimated_rows()), (1, 0), "an empty index counts as one value");
    }
    fixture.reopen();
}

#[test]
fn changed_values_count_as_changes() {
    let mut fixture = Fixture::new(1);
    {
        let one = fixture.worker(0);
        let table = counted_table(&fixture, &one);
        let txn = insert_rows(&one, &table, 300);
        commit(&one, txn);
        let before = table.counters.changes();
        let mut txn = begin(&one);
        for id in 0..300 {
            assert_eq!(update(&one, &mut txn, &table, &[Value::Int(id)], &[(1, Value::Int(7))]), WriteRow::Done);
        }
        commit(&one, txn);
        assert_eq!(table.counters.changes() - before, 300);
    }
    fixture.reopen();
}
