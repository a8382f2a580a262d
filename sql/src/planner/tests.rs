//! Plans of statements over a small schema, as EXPLAIN prints them. `plans.txt` holds a statement, then its tree or error, then an
//! empty line. With `UPDATE_PLANS=1` the test writes the file anew; read the difference before you keep it.

use crate::testing::Fixture;

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
