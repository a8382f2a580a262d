//! How many rows the access paths read: fewer than there are.

mod support;

use sql::explain::{Measured, Measures};
use sql::plan::Node;
use support::Fixture;

const ROWS: usize = 3000;

/// `t` has 3000 rows: 10 values of `a`, 300 of `b`, 7 of `c`; NULL where `b` is divided by 50.
fn fixture() -> Fixture {
    let fixture = Fixture::new(1);
    fixture.create(
        "t",
        "id int not null, a int not null, b int, c int not null, w varchar(100), primary id, key a b c, key b, key c b",
    );
    let mut client = fixture.client(0);
    for start in (0..ROWS).step_by(500) {
        let row = |n: usize| {
            let b = if n.is_multiple_of(50) { "NULL".to_owned() } else { (n % 300).to_string() };
            format!("({n},{},{b},{},'{}')", n % 10, n % 7, "w".repeat(90))
        };
        let rows: Vec<String> = (start..start + 500).map(row).collect();
        client.run(&format!("INSERT INTO t VALUES {}", rows.join(",")));
    }
    fixture.analyze("t");
    fixture
}

/// The rows that all scans of a statement's plan read.
fn rows_read(fixture: &Fixture, text: &str) -> (u64, String) {
    let mut client = fixture.client(0);
    let prepared = client.prepare(text);
    let measures: Measures = client.measure(&prepared);
    let mut read = 0;
    for root in prepared.plan().roots() {
        root.walk(&mut |node| {
            if matches!(node, Node::Scan(_)) {
                let of = |part| measures.0.get(&(Measures::key(node), part)).map(|measure| measure.rows);
                read += of(Measured::Read).or_else(|| of(Measured::Whole)).unwrap_or(0);
            }
        });
    }
    (read, sql::explain_tree(prepared.plan()))
}

fn check(fixture: &Fixture, text: &str, most: u64, expected: &str) {
    let (read, plan) = rows_read(fixture, text);
    assert!(read <= most, "{text}: {read} rows\n{plan}");
    let mut client = fixture.client(0);
    client.check(text, expected);
}

#[test]
fn a_loose_scan_reads_a_row_or_two_of_each_group() {
    let fixture = fixture();
    let tens = |of: &dyn Fn(usize) -> String| (0..10).map(of).collect::<Vec<_>>().join(";");
    check(&fixture, "SELECT DISTINCT a FROM t", 10, &tens(&|a| a.to_string()));
    check(&fixture, "SELECT COUNT(DISTINCT a) FROM t", 10, "10");
    check(&fixture, "SELECT a, MAX(b) FROM t GROUP BY a", 20, &tens(&|a| format!("{a},{}", 290 + a)));
    // The first row of group 0 has no b.
    let least = |a: usize| format!("{a},{}", if a == 0 { 10 } else { a });
    check(&fixture, "SELECT a, MIN(b) FROM t GROUP BY a", 11, &tens(&least));
    check(&fixture, "SELECT a, MIN(b) FROM t WHERE a < 3 GROUP BY a", 4, "0,10;1,1;2,2");
}

#[test]
fn a_skip_scan_reads_what_is_within_the_bounds() {
    let fixture = fixture();
    let (read, plan) = rows_read(&fixture, "SELECT c, b FROM t USE INDEX (c) WHERE b = 7");
    assert!(plan.contains("skip scan on t using c"), "{plan}");
    assert_eq!(read, 10);
}

#[test]
fn groups_in_order_end_with_the_limit() {
    let fixture = fixture();
    check(&fixture, "SELECT a, SUM(b) FROM t GROUP BY a ORDER BY a DESC LIMIT 1", 301, "9,46200");
}

#[test]
fn entries_are_judged_before_their_rows_are_read() {
    let fixture = fixture();
    let (read, plan) = rows_read(&fixture, "SELECT SUM(LENGTH(w)) FROM t USE INDEX (a) WHERE a = 3 AND c = 2");
    assert!(plan.contains("with index condition"), "{plan}");
    let mut client = fixture.client(0);
    let kept = client.run("SELECT COUNT(*) FROM t WHERE a = 3 AND c = 2");
    assert_eq!(read.to_string(), kept);
}

#[test]
fn rows_of_several_indexes_are_read_once() {
    let fixture = fixture();
    let (read, plan) = rows_read(&fixture, "SELECT COUNT(w) FROM t WHERE b = 8 OR (a = 8 AND b = 18) OR id = 8");
    assert!(plan.contains("Deduplicate rows sorted by row ID"), "{plan}");
    assert_eq!(read, 20, "{plan}");
    let mut client = fixture.client(0);
    client.check("SELECT COUNT(w) FROM t WHERE b = 8 OR (a = 8 AND b = 18) OR id = 8", "20");
}

#[test]
fn statements_that_lock_go_by_several_indexes() {
    let fixture = fixture();
    let mut client = fixture.client(0);
    let plan = |client: &support::Client, text: &str| sql::explain_tree(client.prepare(text).plan());
    let either = "WHERE b = 8 OR (a = 8 AND b = 18) OR id = 8";
    for text in [
        format!("SELECT w FROM t {either} FOR UPDATE"),
        format!("UPDATE t SET w = 'x' {either}"),
        format!("DELETE FROM t {either}"),
    ] {
        let plan = plan(&client, &text);
        assert!(plan.contains("Deduplicate rows sorted by row ID"), "{text}: {plan}");
    }
    let judged = "UPDATE t USE INDEX (a) SET w = 'y' WHERE a = 3 AND c = 2";
    let plan = plan(&client, judged);
    assert!(plan.contains("with index condition"), "{plan}");
    for isolation in [txn::Isolation::RepeatableRead, txn::Isolation::ReadCommitted] {
        client.isolation = isolation;
        client.begin();
        client.check(&format!("SELECT COUNT(w) FROM t {either} FOR UPDATE"), "20");
        client.check(&format!("UPDATE t SET w = 'x', b = 8 {either}"), "20 Rows matched: 20  Changed: 20  Warnings: 0");
        client.check(&format!("SELECT COUNT(*) FROM t {either} FOR SHARE"), "20");
        client.check(judged, "43 Rows matched: 43  Changed: 43  Warnings: 0");
        client.check("SELECT COUNT(*) FROM t WHERE w = 'y'", "43");
        client.check(&format!("DELETE FROM t {either}"), "20");
        client.check("SELECT COUNT(*) FROM t", "2980");
        client.rollback();
    }
}

#[test]
fn a_change_that_is_measured_changes_nothing() {
    let fixture = fixture();
    let mut client = fixture.client(0);
    for (text, read) in [
        ("UPDATE t JOIN t AS u ON t.id = u.id SET t.w = 'x' WHERE u.b = 8", true),
        ("DELETE t FROM t JOIN t AS u ON t.id = u.id WHERE u.b = 8", true),
        ("INSERT INTO t SELECT id + 9000, a, b, c, w FROM t WHERE b = 8", true),
        ("INSERT INTO t VALUES (9000, 1, 1, 1, 'x')", false),
        ("UPDATE t SET w = 'x' WHERE b = 8", false),
        ("DELETE FROM t WHERE b = 8", false),
    ] {
        let prepared = client.prepare(text);
        let measures = client.measure(&prepared);
        assert_eq!(!measures.0.is_empty(), read, "{text}");
        assert!(!read || measures.0.values().any(|measure| measure.rows == 10), "{text}: {measures:?}");
        client.check("SELECT COUNT(*), SUM(w = 'x') FROM t", "3000,0");
    }
}

#[test]
fn a_correlated_aggregate_reads_each_table_once() {
    let fixture = fixture();
    fixture.create("u", "id int not null, x int, y int, primary id");
    let mut client = fixture.client(0);
    let rows: Vec<String> = (0..400).map(|n| format!("({n},{},{n})", n % 40)).collect();
    client.run(&format!("INSERT INTO u VALUES {}", rows.join(",")));
    drop(client);
    let groups = 40;
    let text = "SELECT COUNT(*) FROM u WHERE y > (SELECT AVG(y) FROM u v WHERE v.x = u.x)";
    check(&fixture, text, 400 + 400 + groups, "200");
    let text = "SELECT COUNT(*) FROM u WHERE EXISTS (SELECT * FROM u v WHERE v.y > u.y + 10)";
    check(&fixture, text, 400 + 400 + 1, "389");
    let text = "SELECT COUNT(*) FROM u WHERE y = 3 OR EXISTS (SELECT * FROM u v WHERE v.x = u.x AND v.y > u.y)";
    check(&fixture, text, 400 + 400 + groups, "360");
}

#[test]
fn conditions_on_derived_tables_bound_what_is_read_inside() {
    let fixture = fixture();
    let text = "SELECT * FROM (SELECT a, SUM(b) FROM t GROUP BY a) d WHERE a = 9";
    check(&fixture, text, 301, "9,46200");
    let text = "SELECT COUNT(*) FROM (SELECT b FROM t UNION SELECT c FROM t) d WHERE b = 299";
    check(&fixture, text, 12, "1");
}
