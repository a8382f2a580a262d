//! Tests of plans over a small schema, as EXPLAIN prints them. `plans.txt` holds a statement, then its tree or error,
//! then an empty line. `UPDATE_PLANS=1` makes the test write the file; read the difference before you keep it.

use crate::plan::{BindContext, KeyRange};
use crate::testing::Fixture;
use std::cell::Cell;
use std::sync::Arc;
use types::schema::{Schema, TableDef};
use types::statistics::TableStatistics;
use types::{ColumnType, SqlMode, Value};

/// A fixture with given row counts.
struct Informed {
    fixture: Fixture,
    /// Asking for a row count is an error.
    strict: bool,
    rows: fn(&str) -> u64,
    distinct: fn(&str) -> Option<Vec<Vec<f64>>>,
    /// How often row counts were requested.
    asked: Cell<u32>,
}

impl BindContext for Informed {
    fn database(&self) -> Option<&str> {
        self.fixture.database()
    }

    fn schema(&self) -> &Schema {
        self.fixture.schema()
    }

    fn system_variable(&self, global: bool, name: &str) -> Option<(Value<'static>, ColumnType)> {
        self.fixture.system_variable(global, name)
    }

    fn row_count(&self, table: &TableDef) -> u64 {
        assert!(!self.strict, "a unique key needs no row count");
        self.asked.set(self.asked.get() + 1);
        (self.rows)(&table.name)
    }

    fn statistics(&self, table: &TableDef) -> Option<Arc<TableStatistics>> {
        assert!(!self.strict, "a unique key needs no statistics");
        let indexes = (self.distinct)(&table.name)?;
        let rows = (self.rows)(&table.name);
        Some(Arc::new(TableStatistics {
            rows,
            shape: 0,
            indexes,
            columns: vec![None; table.columns.len()],
            ..TableStatistics::default()
        }))
    }

    fn rows_in_range(&self, _table: &TableDef, _index: usize, _range: &KeyRange) -> Option<f64> {
        assert!(!self.strict, "a unique key needs no look into an index");
        None
    }

    fn sql_mode(&self) -> SqlMode {
        self.fixture.sql_mode()
    }

    fn connection_collation(&self) -> types::CollationId {
        self.fixture.connection_collation()
    }
}

fn explained(context: &Informed, text: &str) -> String {
    let arena = crate::Arena::new();
    let parsed = crate::parse(&arena, text.as_bytes(), &context.sql_mode()).expect("the statement is right");
    crate::explain_tree(&crate::plan(&parsed, context).expect("the statement can be planned"))
}

/// The scans of a plan, in the order in which they are run.
fn scans(shown: &str) -> Vec<String> {
    let scan = |line: &str| {
        let (_, rest) = line.split_once(" on ")?;
        line.contains("-> ").then(|| rest.split(' ').next().unwrap_or_default().to_owned())
    };
    shown.lines().filter_map(scan).collect()
}

#[test]
fn a_unique_key_is_taken_at_once() {
    let context = Informed { fixture: Fixture::new(), strict: true, rows: |_| 0, distinct: |_| None, asked: Cell::default() };
    for text in ["SELECT c FROM t WHERE id = 5", "UPDATE t SET k = k + 1 WHERE id = 5", "SELECT price FROM u WHERE name = 'x'"] {
        assert!(explained(&context, text).contains("Single-row index lookup"), "{text}");
    }
}

#[test]
fn the_order_follows_statistics() {
    let text = "SELECT COUNT(*) FROM t JOIN u ON u.t_id = t.k";
    let small_t = |name: &str| if name == "t" { 10 } else { 100_000 };
    let context = Informed { fixture: Fixture::new(), strict: false, rows: small_t, distinct: |_| None, asked: Cell::default() };
    assert_eq!(scans(&explained(&context, text))[0], "t");
    let small_u = |name: &str| if name == "u" { 10 } else { 100_000 };
    let context = Informed { fixture: Fixture::new(), strict: false, rows: small_u, distinct: |_| None, asked: Cell::default() };
    assert_eq!(scans(&explained(&context, text))[0], "u");
}

#[test]
fn a_lookup_finds_as_many_rows_as_statistics_say() {
    let distinct = |name: &str| (name == "t").then(|| vec![vec![10_000.0], vec![4.0], vec![50.0, 9000.0]]);
    let context = Informed { fixture: Fixture::new(), strict: false, rows: |_| 10_000, distinct, asked: Cell::default() };
    let shown = explained(&context, "SELECT c FROM t WHERE a = 1 AND b = 'x'");
    assert!(shown.contains("using ab") && shown.contains("rows=1.11)"), "{shown}");
    // A quarter of the rows is better read in sequence.
    assert!(explained(&context, "SELECT c FROM t WHERE k = 1").contains("Table scan"));
    assert!(explained(&context, "SELECT c FROM t USE INDEX (k) WHERE k = 1").contains("Table scan"));
    // Unless FORCE INDEX requires it.
    assert!(explained(&context, "SELECT c FROM t FORCE INDEX (k) WHERE k = 1").contains("Index lookup on t using k"));
    assert!(explained(&context, "SELECT c FROM t FORCE INDEX (k) WHERE a = 1").contains("Table scan"));
}

#[test]
fn conditions_follow_from_others() {
    let fixture = Fixture::new();
    let shown = fixture.explain("SELECT * FROM t, u WHERE t.id = u.t_id AND u.t_id = 7");
    assert!(shown.contains("lookup on t using PRIMARY (id=7)"), "{shown}");
    let text =
        "SELECT * FROM t, u WHERE (t.id = u.t_id AND t.k = 1 AND u.price > 5) OR (t.id = u.t_id AND t.k = 2 AND u.price < 3)";
    let shown = fixture.explain(text);
    assert!(!shown.contains("no condition") && shown.contains("t_id"), "{shown}");
    assert!(shown.contains("(k = 1) OR (k = 2)") || shown.contains("((t.k = 1) or (t.k = 2))"), "{shown}");
}

#[test]
fn plans() {
    let text = include_str!("plans.txt");
    let fixture = Fixture::new();
    let mut fresh = Vec::new();
    let mut wrong = Vec::new();
    for case in text.trim_end().split("\n\n") {
        let (statement, expected) = case.split_once('\n').expect("a statement and its plan");
        let shown = fixture.explain(statement);
        if shown.trim_end() != expected {
            wrong.push(format!("{statement}\nexpected\n{expected}\nfound\n{shown}"));
        }
        fresh.push(format!("{statement}\n{}", shown.trim_end()));
    }
    if std::env::var_os("UPDATE_PLANS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/planner/plans.txt");
        std::fs::write(path, fresh.join("\n\n") + "\n").expect("the file can be written");
        return;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn indexes_are_leapt_through_where_groups_are_large() {
    let distinct = |name: &str| match name {
        "t" => Some(vec![vec![10_000.0], vec![40.0], vec![50.0, 9000.0]]),
        "p" => Some(vec![vec![20.0, 10_000.0], vec![9000.0]]),
        _ => None,
    };
    let context = Informed { fixture: Fixture::new(), strict: false, rows: |_| 10_000, distinct, asked: Cell::default() };
    let check = |text: &str, expected: &str| {
        let shown = explained(&context, text);
        assert!(shown.contains(expected), "{text}\n{shown}");
    };
    let leaps = |text| check(text, "skip scan for grouping on");
    leaps("SELECT a, MIN(b), MAX(b) FROM t GROUP BY a");
    leaps("SELECT a, MIN(b) FROM t WHERE a > 5 GROUP BY a ORDER BY a");
    leaps("SELECT a, COUNT(DISTINCT a) FROM t GROUP BY a");
    leaps("SELECT DISTINCT k FROM t");
    leaps("SELECT COUNT(DISTINCT k), SUM(DISTINCT k) FROM t");
    leaps("SELECT DISTINCT a FROM p WHERE a % 2 = 1");
    // Small groups, other columns, rows that are counted, several tables, locks.
    let reads = |text: &str| assert!(!explained(&context, text).contains("skip scan"), "{text}");
    reads("SELECT DISTINCT a, b FROM t");
    reads("SELECT a, MIN(c) FROM t GROUP BY a");
    reads("SELECT a, MIN(b) FROM t WHERE k > 7 GROUP BY a");
    reads("SELECT a, COUNT(*) FROM t GROUP BY a");
    reads("SELECT DISTINCT t.k FROM t, u");
    reads("SELECT DISTINCT k FROM t FOR UPDATE");
    check("SELECT a, b FROM p WHERE b = 7", "Covering index skip scan on p using PRIMARY over (b = 7)");
}

#[test]
fn several_indexes_serve_one_table() {
    let distinct = |name: &str| (name == "t").then(|| vec![vec![100_000.0], vec![100.0], vec![120.0, 90_000.0]]);
    let context = Informed { fixture: Fixture::new(), strict: false, rows: |_| 100_000, distinct, asked: Cell::default() };
    let shown = explained(&context, "SELECT c FROM t WHERE k = 1 OR a = 5");
    assert!(shown.contains("Deduplicate rows sorted by row ID on t"), "{shown}");
    // Entries of the whole index with one value come in the order of the clustered key.
    let shown = explained(&context, "SELECT c FROM t WHERE k = 1 AND a = 5 AND b = 'x'");
    assert!(shown.contains("lookup on t using ab"), "{shown}");
}

#[test]
fn a_join_has_no_more_tables_than_may_be() {
    let fixture = Fixture::new();
    let parts = |part: &dyn Fn(usize) -> String| (0..70).map(part).collect::<Vec<_>>().join(" AND ");
    let texts = [
        parts(&|n| format!("k IN (SELECT x{n}.k FROM t x{n})")),
        parts(&|n| format!("k IN (SELECT x{n}.k FROM t x{n} WHERE x{n}.a = t.a)")),
        parts(&|n| format!("k > (SELECT MIN(x{n}.k) FROM t x{n} WHERE x{n}.a = t.a)")),
    ];
    for text in texts {
        assert!(fixture.plan(&format!("SELECT 1 FROM t WHERE {text}")).is_ok(), "{text}");
    }
}

#[test]
fn what_is_nested_is_not_planned_twice_at_each_level() {
    let asked = |depth: usize, operator: &str| {
        let context =
            Informed { fixture: Fixture::new(), strict: false, rows: |_| 1000, distinct: |_| None, asked: Cell::default() };
        let open: String = (0..depth).map(|n| format!(" {operator} (SELECT x{n}.a FROM t x{n} WHERE x{n}.a")).collect();
        explained(&context, &format!("SELECT a FROM t WHERE a{open} > 0{}", ")".repeat(depth)));
        context.asked.get()
    };
    for operator in ["IN", "NOT IN", "= ANY", "= ALL"] {
        let (few, many) = (asked(6, operator), asked(12, operator));
        assert!(many < 10 * few, "{operator}: {few} questions for 6 levels, {many} for 12");
        assert!(asked(24, operator) < 10 * many, "{operator}");
    }
    let asked = |depth: usize| {
        let context =
            Informed { fixture: Fixture::new(), strict: false, rows: |_| 1000, distinct: |_| None, asked: Cell::default() };
        let before = |n: usize| n.checked_sub(1).map_or("t".to_owned(), |n| format!("x{n}"));
        let open: String = (0..depth).map(|n| format!(" LEFT JOIN (t x{n}")).collect();
        let close: String = (0..depth).rev().map(|n| format!(") ON x{n}.a = {}.a", before(n))).collect();
        explained(&context, &format!("SELECT t.a FROM t{open}{close}"));
        context.asked.get()
    };
    assert!(asked(24) < 10 * asked(12));
}
