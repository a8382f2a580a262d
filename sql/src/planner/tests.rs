//! Plans of statements over a small schema, as EXPLAIN prints them.

use crate::testing::Fixture;

/// Plans a statement and compares the tree.
fn check(text: &str, expected: &str) {
    let shown = Fixture::new().explain(text);
    assert_eq!(shown.trim_end(), expected, "{text}");
}

#[test]
fn point() {
    check("SELECT c FROM t WHERE id = 5", "-> Single-row index lookup on t using PRIMARY (id=5)  (rows=1)");
}

#[test]
#[ignore]
fn show() {
    let text = std::fs::read_to_string("/tmp/plans.txt").unwrap();
    for line in text.lines() {
        println!("{line}\n{}", Fixture::new().explain(line));
    }
}
