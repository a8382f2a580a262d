//! The findings about statements, tables and sessions, and silence about sound ones.

use crate::testing::{all, found, index, ran, schema, workload};
use crate::{Account, PlanUse, Session, Statement, TableUse, TreeUse};
use std::sync::Arc;
use types::schema::{IndexKind, Schema, TableDef};

const SCAN: &str = "-> Filter: x  (cost=1 rows=1)\n    -> Table scan on books  (cost=1 rows=10000)\n";
const SORT: &str = "-> Limit\n    -> Sort: year\n        -> Table scan on books  (cost=1 rows=10000)\n";

/// A statement that reads 10,000 rows for one gives this finding and no other.
fn check(text: &str, expected: &[(&str, &str)]) {
    let found = found(ran(text, SCAN, 10_000, 1));
    let found: Vec<_> = found.iter().map(|(kind, cure)| (*kind, cure.as_str())).collect();
    assert_eq!(found, expected, "{text}");
}

fn kinds(statement: Statement) -> Vec<&'static str> {
    found(statement).into_iter().map(|(kind, _)| kind).collect()
}

#[test]
fn scans_for_few_rows_want_an_index() {
    check("SELECT * FROM books WHERE year = 1999", &[("missing_index", "ALTER TABLE `d`.`books` ADD INDEX (`year`)")]);
    let two = "ALTER TABLE `d`.`books` ADD INDEX (`year`, `price`)";
    check("SELECT * FROM books b WHERE b.year = 1999 AND price > 5", &[]);
    let by_alias =
        ran("SELECT * FROM books b WHERE b.price > 5 AND year = 1999", "-> Table scan on b  (cost=1 rows=1)", 10_000, 1);
    assert_eq!(found(by_alias), [("missing_index", two.to_owned())]);
    check("UPDATE books SET price = 1 WHERE title = 'x'", &[("missing_index", "ALTER TABLE `d`.`books` ADD INDEX (`title`)")]);
    check("DELETE FROM books WHERE title = 'x'", &[("missing_index", "ALTER TABLE `d`.`books` ADD INDEX (`title`)")]);
}

#[test]
fn scans_that_are_right_give_nothing() {
    // The whole table is wanted.
    assert_eq!(found(ran("SELECT * FROM books WHERE year > 0", SCAN, 10_000, 9000)), []);
    // The planner had an index and chose the scan.
    check("SELECT * FROM books WHERE author > 0 AND year = 5", &[]);
    // No index helps.
    check("SELECT * FROM books WHERE title LIKE '%x%'", &[]);
    check("SELECT * FROM books WHERE year = 5 OR price = 6", &[]);
    check("SELECT * FROM books WHERE body = 'x'", &[]);
    // The form is not understood.
    check("SELECT * FROM books WHERE year = (SELECT MAX(id) FROM authors)", &[]);
    // Few rows, or few executions.
    assert_eq!(found(ran("SELECT * FROM books WHERE year = 5", SCAN, 500, 1)), []);
    assert_eq!(found(Statement { count: 3, ..ran("SELECT * FROM books WHERE year = 5", SCAN, 10_000, 1) }), []);
    let of_server = Statement { database: Some("sys".into()), ..ran("SELECT * FROM d.books WHERE year = 5", SCAN, 10_000, 1) };
    assert_eq!(found(of_server), []);
}

#[test]
fn an_aggregate_needs_statistics_that_say_few() {
    let sum = || ran("SELECT SUM(price) FROM books WHERE year = 1999", SCAN, 10_000, 1);
    assert_eq!(kinds(sum()), ["missing_index"]);
    let schema = schema();
    let mut known = workload(&schema, vec![sum()]);
    known.tables.insert(1, TableUse { rows: 10_000, distinct: vec![Some(3.0); 8], ..TableUse::default() });
    assert_eq!(all(&known), []);
}

#[test]
fn functions_and_conversions_that_defeat_an_index() {
    let text = "SELECT * FROM books WHERE DATE(added) = '2026-01-01'";
    check(text, &[("function_on_column", "ALTER TABLE `d`.`books` ADD INDEX ((DATE(`added`)))")]);
    let text = "SELECT * FROM books WHERE isbn = 12345";
    check(text, &[("implicit_cast", "isbn: compare it with a text: quote the value")]);
    let plan = "-> Nested loop\n    -> Index lookup on b using author over x\n    -> Table scan on a  (cost=1 rows=1)\n";
    let join = ran("SELECT b.id, a.name FROM books b JOIN authors a ON a.code = b.title WHERE b.author = 5", plan, 10_000, 1);
    assert_eq!(kinds(join), ["implicit_cast"]);
}

#[test]
fn rows_that_are_sorted_or_skipped() {
    let first = ran("SELECT * FROM books ORDER BY year DESC LIMIT 10", SORT, 10_000, 10);
    assert_eq!(found(first), [("order_without_index", "ALTER TABLE `d`.`books` ADD INDEX (`year`)".to_owned())]);
    let first = ran("SELECT * FROM books WHERE author = 5 ORDER BY year LIMIT 10", SORT, 10_000, 10);
    assert_eq!(found(first), [("order_without_index", "ALTER TABLE `d`.`books` ADD INDEX (`author`, `year`)".to_owned())]);
    assert_eq!(kinds(ran("SELECT id, title FROM books ORDER BY id LIMIT 10 OFFSET 9000", "", 9010, 10)), ["deep_offset"]);
    assert_eq!(found(ran("SELECT id, title FROM books ORDER BY id LIMIT 10 OFFSET 20", "", 30, 10)), []);
    assert_eq!(found(ran("SELECT * FROM books ORDER BY year", SORT, 10_000, 10_000)), []);
}

#[test]
fn an_index_that_could_cover() {
    let plan = "-> Index lookup on books using author over (author = 5)  (cost=1 rows=1)\n";
    let visits = ran("SELECT price FROM books WHERE author = 5", plan, 500, 500);
    assert_eq!(found(visits), [("covering_index", "ALTER TABLE `d`.`books` ADD INDEX (`author`, `price`)".to_owned())]);
    assert_eq!(found(ran("SELECT * FROM books WHERE author = 5", plan, 500, 500)), []);
    // All of a small table would be in the index.
    let plan_of_authors = "-> Index lookup on authors using code over x";
    assert_eq!(found(ran("SELECT name FROM authors WHERE code = 'x'", plan_of_authors, 500, 500)), []);
    assert_eq!(found(ran("SELECT price FROM books WHERE author = 5", plan, 20, 20)), []);
    assert_eq!(
        found(ran("SELECT id FROM books WHERE author = 5", "-> Covering index lookup on books using author over x", 500, 500)),
        []
    );
}

#[test]
fn counts_loops_and_large_values() {
    assert_eq!(kinds(ran("SELECT COUNT(*) FROM books", SCAN, 10_000, 1)), ["repeated_count"]);
    assert_eq!(found(Statement { span_s: 3600.0, ..ran("SELECT COUNT(*) FROM books", SCAN, 10_000, 1) }), []);
    let by_key = || ran("SELECT * FROM authors WHERE id = 5", "", 1, 1);
    let caused = Statement { caused: 90, cause: Some(("SELECT * FROM books".into(), 1)), ..by_key() };
    assert_eq!(kinds(caused), ["n_plus_one"]);
    assert_eq!(found(Statement { caused: 10, cause: Some(("SELECT * FROM books".into(), 1)), ..by_key() }), []);
    let insert = || ran("INSERT INTO authors (id, name) VALUES (1, 'x')", "", 0, 0);
    assert_eq!(kinds(Statement { in_runs: 100, in_runs_alone: 100, ..insert() }), ["commit_row_by_row"]);
    assert_eq!(kinds(Statement { in_runs: 100, ..insert() }), ["insert_row_by_row"]);
    assert_eq!(found(insert()), []);
    let schema = schema();
    let mut large = workload(&schema, vec![ran("SELECT * FROM books WHERE author = 5", "", 100, 100)]);
    assert_eq!(all(&large), []);
    large.tables.insert(1, TableUse { rows: 10_000, row_bytes: 8000, ..TableUse::default() });
    assert_eq!(all(&large)[0].kind.name(), "dear_columns");
}

#[test]
fn joins_that_change_nothing() {
    let left = "SELECT b.title FROM books b LEFT JOIN authors a ON a.id = b.author WHERE b.id = 5";
    assert_eq!(kinds(ran(left, "", 2, 1)), ["needless_join"]);
    let by_key = "SELECT COUNT(*) FROM books b JOIN authors a ON a.id = b.author WHERE b.price = 5";
    assert_eq!(kinds(ran(by_key, "", 2, 1)), ["needless_join"]);
    for sound in [
        "SELECT b.title, a.name FROM books b LEFT JOIN authors a ON a.id = b.author WHERE b.id = 5",
        "SELECT b.title FROM books b LEFT JOIN authors a ON a.id = b.author WHERE a.id IS NULL",
        "SELECT b.title FROM books b JOIN authors a ON a.id = b.price WHERE b.id = 5",
        "SELECT a.name FROM authors a LEFT JOIN books b ON b.author = a.id",
        "SELECT b.title FROM books b LEFT JOIN authors a ON a.id = b.author ORDER BY a.name",
        "SELECT b.title FROM books b LEFT JOIN authors a ON a.id = b.author GROUP BY b.title HAVING MAX(a.name) > 'x'",
        "SELECT * FROM books b LEFT JOIN authors a ON a.id = b.author",
    ] {
        assert_eq!(found(ran(sound, "", 2, 1)), [], "{sound}");
    }
}

#[test]
fn waits_deadlocks_and_plans() {
    let update = || ran("UPDATE books SET price = price + 1 WHERE id = 5", "", 1, 0);
    assert_eq!(kinds(Statement { row_lock_us: 5e5, row_lock_waits: 90, ..update() }), ["hot_row"]);
    assert_eq!(found(Statement { row_lock_us: 5e4, row_lock_waits: 90, ..update() }), []);
    assert_eq!(kinds(Statement { deadlocks: 5, ..update() }), ["deadlock"]);
    let plan =
        |text: &str, cpu_us, first_age_s, last_age_s| PlanUse { text: text.into(), count: 50, cpu_us, first_age_s, last_age_s };
    let by_key = || ran("SELECT * FROM books WHERE id = 5", "", 1, 1);
    let flipped = vec![plan("-> old on books", 1000.0, 100.0, 50.0), plan("-> new on books", 50_000.0, 49.0, 0.0)];
    assert_eq!(kinds(Statement { plans: flipped, ..by_key() }), ["plan_flip"]);
    // Two plans that take turns, for different values.
    let both = vec![plan("-> old on books", 1000.0, 100.0, 1.0), plan("-> new on books", 50_000.0, 49.0, 0.0)];
    assert_eq!(found(Statement { plans: both, ..by_key() }), []);
}

/// The schema with `books` changed.
fn changed(change: impl FnOnce(&mut TableDef)) -> Schema {
    let mut schema = schema();
    let database = schema.databases.get_mut("d").expect("is there");
    let tables = &mut Arc::get_mut(database).expect("nobody else has it").tables;
    change(Arc::get_mut(tables.get_mut("books").expect("is there")).expect("nobody else has it"));
    schema
}

fn kinds_of(schema: &Schema, uptime_s: f64, used: TableUse) -> Vec<&'static str> {
    let mut known = workload(schema, Vec::new());
    known.uptime_s = uptime_s;
    known.tables.insert(1, used);
    all(&known).into_iter().map(|finding| finding.kind.name()).collect()
}

#[test]
fn tables_and_their_indexes() {
    let tree = TreeUse { fetched: 5, inserted: 5000, ..TreeUse::default() };
    let used = || TableUse { rows: 10_000, trees: vec![tree; 5], ..TableUse::default() };
    assert_eq!(kinds_of(&schema(), 60.0, used()), Vec::<&str>::new());
    let twice = changed(|def| index(def, "author_too", IndexKind::Secondary, &["author"]));
    assert_eq!(kinds_of(&twice, 60.0, used()), ["duplicate_index"]);
    let longer = changed(|def| index(def, "author_year", IndexKind::Secondary, &["author", "year"]));
    assert_eq!(kinds_of(&longer, 60.0, used()), ["redundant_index"]);
    // A unique index is a rule.
    let unique = changed(|def| index(def, "isbn_year", IndexKind::Secondary, &["isbn", "year"]));
    assert_eq!(kinds_of(&unique, 60.0, used()), Vec::<&str>::new());
    let mut unread = used();
    unread.trees[3].fetched = 0;
    assert_eq!(kinds_of(&schema(), 60.0, unread.clone()), Vec::<&str>::new(), "too soon");
    assert_eq!(kinds_of(&schema(), 1e6, unread), ["unused_index"]);
    let numbered = changed(|def| def.columns[0].auto_increment = true);
    assert_eq!(kinds_of(&numbered, 60.0, TableUse { next_auto: Some(2_000_000_000), ..used() }), ["auto_increment"]);
    assert_eq!(kinds_of(&numbered, 60.0, TableUse { next_auto: Some(20_000), ..used() }), Vec::<&str>::new());
    let without = changed(|def| {
        def.indexes[0].kind = IndexKind::HiddenRowId;
        def.indexes[0].columns.clear();
    });
    assert_eq!(kinds_of(&without, 60.0, used()), ["no_primary_key"]);
}

#[test]
fn sessions_and_accounts() {
    let schema = schema();
    let mut known = workload(&schema, Vec::new());
    let session = |is_idle, idle_s, transaction_s| Session { is_idle, idle_s, transaction_s, ..Session::default() };
    known.sessions = vec![session(true, 5, Some(5)), session(false, 60, Some(60)), session(true, 600, None)];
    let counts =
        |set: u64, select: u64| vec![("statement/sql/set_option".to_owned(), set), ("statement/sql/select".to_owned(), select)];
    let account = |statements, sessions| Account { user: "u".into(), host: "h".into(), statements, sessions };
    known.accounts = vec![account(counts(100, 900), 20), account(counts(1, 5), 300)];
    known.accounts[1].sessions = 100;
    assert_eq!(all(&known), []);
    known.sessions.push(session(true, 30, Some(40)));
    known.accounts = vec![account(counts(600, 500), 20), account(counts(0, 900), 300)];
    let mut kinds: Vec<_> = all(&known).into_iter().map(|finding| finding.kind.name()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["chatter", "idle_transaction", "reconnect"]);
}
