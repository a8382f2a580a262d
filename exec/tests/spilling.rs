//! Statements whose rows go to temporary files: they answer as those do that have memory enough, and leave nothing behind.

mod support;

use exec::{Host, NoHost, Temporary};
use expr::{Error, Result, kill};
use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::Duration;
use support::{Answer, Client, Fixture, host_without_server};

/// A host with temporary files in a folder of its own.
struct Spills {
    temporary: Temporary,
    directory: PathBuf,
    /// Kills the statement when so many bytes have been written.
    kill: Option<(u64, Arc<AtomicU8>)>,
    looked: Cell<u64>,
}

impl Spills {
    fn new(bytes_max: u64) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("heddle-spills-{}-{number}", std::process::id()));
        let temporary = Temporary::new(&directory, bytes_max).expect("a new folder");
        Self { temporary, directory, kill: None, looked: Cell::new(0) }
    }

    /// Nothing is left: no name, and soon no space that is accounted for.
    fn check_empty(&self) {
        for _ in 0..500 {
            if self.temporary.figures().bytes == 0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(self.temporary.figures().bytes, 0);
        let names = std::fs::read_dir(&self.directory).map_or(0, |names| names.count());
        assert_eq!(names, 0);
    }
}

impl Drop for Spills {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.directory);
    }
}

host_without_server!(Spills {
    fn temporary(&self) -> Option<&Temporary> {
        self.looked.set(self.looked.get() + 1);
        if let Some((bytes, killed)) = &self.kill
            && self.temporary.figures().spilled_bytes >= *bytes
        {
            killed.store(kill::QUERY, Ordering::Relaxed);
        }
        Some(&self.temporary)
    }
});

/// Rows of all types with NULLs, equal values, texts that differ by case only, and some long ones.
fn tables(rows: usize) -> (Fixture, Client) {
    let fixture = Fixture::new(1);
    fixture.create(
        "t",
        "id int not null, g int, s varchar(60), d decimal(20,4), x double, day datetime(3), e enum('a','b','c'), b blob, \
         primary id",
    );
    fixture.create("u", "id int not null, g int, s varchar(60), primary id");
    let mut client = fixture.client(0);
    let mut insert = |table: &str, make: &dyn Fn(usize) -> String| {
        for chunk in (0..rows).collect::<Vec<_>>().chunks(200) {
            let values: Vec<String> = chunk.iter().map(|n| make(*n)).collect();
            client.run(&format!("INSERT INTO {table} VALUES {}", values.join(",")));
        }
    };
    let null_or = |n: usize, every: usize, value: String| if n.is_multiple_of(every) { "NULL".to_string() } else { value };
    insert("t", &|n| {
        let mixed = n * 7919 % 10_007;
        let text = format!("'{}{}'", if n % 2 == 0 { "Key" } else { "kEY" }, mixed % 701);
        let long = if n % 97 == 0 { format!("REPEAT('{}', {})", n % 10, 3000 + n * 13 % 20_000) } else { format!("'{n}'") };
        format!(
            "({n}, {}, {}, {}, {}, {}, {}, {})",
            null_or(n, 13, (mixed % 307).to_string()),
            null_or(n, 17, text),
            null_or(n, 19, format!("{}.{:04}", mixed % 211, n % 3)),
            null_or(n, 23, format!("{}e-1", mixed % 199)),
            null_or(n, 29, format!("'2024-01-{:02} 10:00:00.{:03}'", mixed % 28 + 1, n % 5)),
            null_or(n, 31, format!("'{}'", ["a", "b", "c"][n % 3])),
            null_or(n, 37, long),
        )
    });
    insert("u", &|n| {
        let g = if n % 5 == 0 { 7 } else { n * 31 % 997 };
        format!("({n}, {}, 'key{}')", null_or(n, 11, g.to_string()), n % 1409)
    });
    (fixture, client)
}

fn rows_of(client: &mut Client, text: &str, memory: usize, host: &dyn Host) -> Result<Vec<String>> {
    client.session.sort_memory_bytes_max = memory;
    let prepared = client.prepare(text);
    client.session.warnings.borrow_mut().clear();
    match client.execute_with(&prepared, &[], host)? {
        Answer::Rows(rows) => Ok(rows),
        Answer::Done(_) => panic!("{text} is no query"),
    }
}

/// Compares answers with little memory with the one that has enough.
fn check(client: &mut Client, host: &Spills, text: &str, spills: bool) {
    let expected = rows_of(client, text, 256 << 20, &NoHost).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let is_ordered = text.contains("ORDER BY");
    // The text or document of one group is whole in memory.
    let is_whole = text.contains("GROUP_CONCAT(DISTINCT") || text.contains("JSON_ARRAYAGG");
    let least = if is_whole { 48 << 10 } else { 16 << 10 };
    for memory in [least, 150 << 10, 400 << 10] {
        let before = host.temporary.figures().files;
        let mut rows = rows_of(client, text, memory, host).unwrap_or_else(|error| panic!("{text}, {memory}: {error:?}"));
        if spills && memory == least {
            assert!(host.temporary.figures().files > before, "{text} has spilled nothing");
        }
        let mut expected = expected.clone();
        if !is_ordered {
            rows.sort();
            expected.sort();
        }
        assert_eq!(rows.len(), expected.len(), "{text}, {memory}");
        if let Some(at) = rows.iter().zip(&expected).position(|(a, b)| a != b) {
            panic!("{text}, {memory}: row {at} is {:.200} and not {:.200}", rows[at], expected[at]);
        }
    }
}

#[test]
fn sorts() {
    let (_fixture, mut client) = tables(3000);
    let host = Spills::new(u64::MAX);
    for text in [
        "SELECT id FROM t ORDER BY g, id",
        // Equal keys stay in the order of the table.
        "SELECT id, s FROM t ORDER BY s",
        "SELECT id, g, d FROM t ORDER BY d DESC, g, x",
        "SELECT id FROM t ORDER BY day, e DESC",
        "SELECT id, b FROM t ORDER BY b",
        "SELECT * FROM t ORDER BY x DESC, s",
        "SELECT id, s FROM t ORDER BY g LIMIT 1500",
        "SELECT id, s FROM t ORDER BY s DESC LIMIT 100, 700",
    ] {
        check(&mut client, &host, text, true);
    }
    check(&mut client, &host, "SELECT id FROM t ORDER BY g LIMIT 3", false);
    assert!(host.temporary.figures().merge_passes > 8);
    host.check_empty();
}

#[test]
fn groups_and_distinct_rows() {
    let (_fixture, mut client) = tables(3000);
    let host = Spills::new(u64::MAX);
    for text in [
        "SELECT s, COUNT(*), SUM(g), MIN(id), MAX(d), AVG(x) FROM t GROUP BY s",
        "SELECT g, s, COUNT(*), MAX(day) FROM t GROUP BY g, s",
        "SELECT id + 0 AS n, COUNT(*), MAX(b) FROM t GROUP BY n",
        "SELECT d, x, COUNT(*) FROM t GROUP BY d, x HAVING COUNT(*) > 1",
        "SELECT day, e, COUNT(DISTINCT id % 3), BIT_XOR(id) FROM t GROUP BY day, e",
        "SELECT b, COUNT(*) FROM t GROUP BY b",
        "SELECT g, COUNT(*) FROM t GROUP BY g, s ORDER BY g, COUNT(*)",
        "SELECT DISTINCT g, s FROM t",
        "SELECT DISTINCT s, d FROM t ORDER BY s, d",
        "SELECT DISTINCT b FROM t",
        "SELECT DISTINCT g, x, s FROM t ORDER BY g, x, s LIMIT 200, 300",
        "SELECT g, s FROM t UNION SELECT g, s FROM u",
        "SELECT g, s FROM t INTERSECT SELECT id % 307, CONCAT('KEY', id % 701) FROM u",
        "SELECT g, s FROM t EXCEPT SELECT g, s FROM u",
        "SELECT g % 50, id % 7 FROM t EXCEPT ALL SELECT g % 60, id % 5 FROM u",
        "SELECT id, g FROM u INTERSECT ALL SELECT id, g FROM t",
        "SELECT id FROM u EXCEPT SELECT id + 100 FROM t",
    ] {
        let small = text.contains("% 50") || text.contains("DISTINCT id % 3");
        check(&mut client, &host, text, !small);
    }
    host.check_empty();
}

#[test]
fn distinct_keeps_the_order_of_its_input() {
    let (_fixture, mut client) = tables(2000);
    let host = Spills::new(u64::MAX);
    // The primary key gives the order: nothing is sorted.
    check(&mut client, &host, "SELECT DISTINCT id, CONCAT(s, 'x') FROM t ORDER BY id", true);
    check(&mut client, &host, "SELECT DISTINCT id, g + 1 FROM t ORDER BY id DESC LIMIT 1900", true);
    // Equal rows come together: none is kept.
    check(&mut client, &host, "SELECT DISTINCT id, s FROM t ORDER BY id", false);
    check(&mut client, &host, "SELECT id, COUNT(*), MAX(b) FROM t GROUP BY id", false);
    host.check_empty();
}

#[test]
fn joins() {
    let (_fixture, mut client) = tables(3000);
    let host = Spills::new(u64::MAX);
    for text in [
        "SELECT t.id, u.id, t.s FROM t JOIN u ON t.s = u.s",
        "SELECT t.id, u.id FROM t LEFT JOIN u ON t.s = u.s AND u.id % 3 = 0",
        "SELECT u.id, t.id, t.b FROM u LEFT JOIN t ON t.s = u.s",
        "SELECT COUNT(*), SUM(t.id), SUM(u.id) FROM t JOIN u ON t.g = u.g",
        "SELECT t.id FROM t WHERE t.s IN (SELECT u.s FROM u)",
        "SELECT t.id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.g = t.g)",
        "SELECT t.id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.s = t.s AND u.id > t.id)",
        // The order of the primary key needs no sort.
        "SELECT t.id, u.id FROM t JOIN u ON t.s = u.s ORDER BY t.id, u.id",
        "SELECT t.id, COUNT(*) FROM t JOIN u ON t.g = u.g GROUP BY t.id",
        // One key with most of the rows.
        "SELECT a.id, b.id % 10 FROM u a JOIN u b ON a.g = b.g AND a.id % 50 = b.id % 60",
        "SELECT a.id, b.id FROM u a LEFT JOIN u b ON a.g = b.g AND a.id = b.id + 5",
        "SELECT a.id FROM u a WHERE NOT EXISTS (SELECT 1 FROM u b WHERE b.g = a.g AND b.id > a.id + 100)",
    ] {
        check(&mut client, &host, text, !text.contains("COUNT") && !text.contains("EXISTS"));
    }
    host.check_empty();
}

#[test]
fn stored_rows_and_windows() {
    let (_fixture, mut client) = tables(3000);
    let host = Spills::new(u64::MAX);
    for text in [
        "WITH c AS (SELECT id, s, b FROM t WHERE id % 3 < 2 ORDER BY id LIMIT 2000) SELECT a.id, LENGTH(a.b) FROM c a JOIN c d ON a.id = d.id",
        "SELECT d.s, d.n FROM (SELECT s, COUNT(*) n FROM t GROUP BY s) d WHERE d.n > 3",
        "WITH RECURSIVE r (n, s) AS (SELECT 1, CAST('x' AS CHAR(40)) UNION ALL SELECT n + 1, CONCAT('row ', n) FROM r WHERE n < 900) \
         SELECT n, s FROM r",
        "SELECT id, (SELECT MAX(u.id) FROM u WHERE u.g = t.g) FROM t ORDER BY s, id",
        "SELECT id, ROW_NUMBER() OVER (ORDER BY s, id), LAG(id, 3) OVER (ORDER BY s, id) FROM t",
        "SELECT id, SUM(id) OVER (PARTITION BY g ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) FROM t",
        "SELECT id, COUNT(*) OVER (ORDER BY g RANGE BETWEEN 3 PRECEDING AND 3 FOLLOWING), LAST_VALUE(s) OVER (ORDER BY g) FROM t",
        "SELECT g, s, COUNT(*), SUM(id) FROM t GROUP BY g, s WITH ROLLUP",
    ] {
        check(&mut client, &host, text, !text.contains("r.n") && !text.contains("RECURSIVE"));
    }
    host.check_empty();
}

#[test]
fn what_aggregates_gather() {
    let (_fixture, mut client) = tables(3000);
    let host = Spills::new(u64::MAX);
    client.session.group_concat_bytes_max = 60;
    for text in [
        "SELECT COUNT(DISTINCT s), COUNT(DISTINCT g, s), COUNT(DISTINCT id), SUM(DISTINCT id), AVG(DISTINCT d) FROM t",
        "SELECT COUNT(DISTINCT b), MIN(DISTINCT s), COUNT(DISTINCT x), COUNT(*), SUM(id) FROM t",
        "SELECT g % 3, COUNT(DISTINCT s, id), SUM(DISTINCT id), COUNT(*) FROM t GROUP BY g % 3",
        "SELECT g, COUNT(DISTINCT s), COUNT(DISTINCT id), SUM(DISTINCT d) FROM t GROUP BY g",
        "SELECT id % 700, COUNT(DISTINCT s), COUNT(DISTINCT b), SUM(id) FROM t GROUP BY id % 700",
        "SELECT LENGTH(GROUP_CONCAT(s ORDER BY id)), LENGTH(GROUP_CONCAT(DISTINCT s)), LENGTH(GROUP_CONCAT(id)) FROM t WHERE id < 1000",
        "SELECT g % 5, MD5(GROUP_CONCAT(id ORDER BY s, id DESC SEPARATOR '/')) FROM t GROUP BY g % 5 ORDER BY 1",
        "SELECT id % 40, GROUP_CONCAT(DISTINCT g ORDER BY g DESC) FROM t GROUP BY id % 40 ORDER BY 1",
        "SELECT id % 60, MD5(JSON_ARRAYAGG(s)), JSON_LENGTH(JSON_OBJECTAGG(id, d)) FROM t GROUP BY id % 60",
        "SELECT g % 4, id % 3, COUNT(DISTINCT s, id), SUM(DISTINCT id) FROM t GROUP BY g % 4, id % 3 WITH ROLLUP",
        "SELECT g, id % 3, COUNT(DISTINCT s) FROM t GROUP BY g, id % 3 WITH ROLLUP",
        "SELECT u.id, (SELECT COUNT(DISTINCT t.s, t.id) FROM t WHERE t.g < u.g) FROM u WHERE u.id < 20",
    ] {
        check(&mut client, &host, text, true);
    }
    host.check_empty();
    // A value that must be whole in memory.
    let text = "SELECT LENGTH(JSON_ARRAYAGG(CONCAT('a long text to be kept ', id))) FROM t";
    let error = rows_of(&mut client, text, 16 << 10, &host).expect_err("too large");
    assert!(matches!(error, Error::OutOfSortMemory { .. }), "{error:?}");
    host.check_empty();
}

#[test]
fn only_what_shows_of_an_ordered_text_is_kept() {
    let (_fixture, mut client) = tables(3000);
    let host = Spills::new(u64::MAX);
    client.session.group_concat_bytes_max = 100;
    check(&mut client, &host, "SELECT GROUP_CONCAT(id, '-', s ORDER BY s DESC, id) FROM t", false);
    check(
        &mut client,
        &host,
        "SELECT id % 2, GROUP_CONCAT(id ORDER BY g SEPARATOR ', ') FROM t GROUP BY id % 2 ORDER BY 1",
        false,
    );
    assert_eq!(host.temporary.figures().files, 0);
}

#[test]
fn rows_that_values_are_compared_with() {
    let (_fixture, mut client) = tables(3000);
    let host = Spills::new(u64::MAX);
    for text in [
        "SELECT id, s IN (SELECT u.s FROM u) FROM t",
        "SELECT id, s NOT IN (SELECT u.s FROM u WHERE u.s IS NOT NULL) FROM t",
        "SELECT id, (g, s) IN (SELECT u.g, u.s FROM u) FROM t WHERE id < 400",
        "SELECT id, id IN (SELECT u.id * 3 FROM u), id + 0.5 IN (SELECT u.id * 3 FROM u) FROM t WHERE id < 300",
        "SELECT id FROM t WHERE id < 50 AND (d = ALL (SELECT u.id FROM u) OR d <> ANY (SELECT u.id FROM u))",
        "SELECT COUNT(*) FROM t WHERE id > 2990 OR s IN (SELECT CONCAT('kEy', u.id % 900) FROM u)",
    ] {
        check(&mut client, &host, text, true);
    }
    host.check_empty();
}

#[test]
fn rows_that_a_recursion_has_seen() {
    let (_fixture, mut client) = tables(3000);
    let host = Spills::new(u64::MAX);
    client.session.recursion_depth_max = 100_000;
    for text in [
        "WITH RECURSIVE r (n, s) AS (SELECT 1, CAST('x' AS CHAR(40)) UNION SELECT n + 1, CONCAT('row ', n) FROM r WHERE n < 2000) \
         SELECT n, s FROM r",
        "WITH RECURSIVE r (n) AS (SELECT id FROM u WHERE id < 10 UNION SELECT n * 7 % 3001 FROM r UNION SELECT (n + 1) % 3001 FROM r) \
         SELECT COUNT(*), SUM(n) FROM r",
        "WITH RECURSIVE r (n, g) AS (SELECT id, 0 FROM u UNION SELECT (n * 31 + 1) % 997, g + 1 FROM r WHERE g < 8) \
         SELECT g, COUNT(*), SUM(n) FROM r GROUP BY g",
    ] {
        check(&mut client, &host, text, true);
    }
    host.check_empty();
}

#[test]
fn peers_of_a_window() {
    let (_fixture, mut client) = tables(3000);
    let host = Spills::new(u64::MAX);
    for text in [
        "SELECT id, RANK() OVER w, DENSE_RANK() OVER w, CUME_DIST() OVER w, PERCENT_RANK() OVER w FROM t WINDOW w AS (ORDER BY g)",
        "SELECT id, RANK() OVER w, COUNT(*) OVER w, FIRST_VALUE(id) OVER w FROM t WINDOW w AS (PARTITION BY e ORDER BY s)",
        "SELECT id, SUM(id) OVER (ORDER BY g RANGE BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING) FROM t",
        "SELECT id, SUM(id) OVER (ORDER BY g DESC RANGE BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING) FROM t",
    ] {
        check(&mut client, &host, text, true);
    }
    host.check_empty();
}

/// Runs a change with little memory and with enough, and compares what it leaves.
fn check_change(text: &str, then: &str) {
    let mut left = Vec::new();
    for memory in [256 << 20, 16 << 10] {
        let (_fixture, mut client) = tables(3000);
        let host = Spills::new(u64::MAX);
        client.session.sort_memory_bytes_max = memory;
        let prepared = client.prepare(text);
        let done = match client.execute_with(&prepared, &[], &host).unwrap_or_else(|error| panic!("{text}: {error:?}")) {
            Answer::Done(done) => (done.affected, done.matched),
            Answer::Rows(_) => panic!("{text} is a query"),
        };
        assert_eq!(host.temporary.figures().files > 0, memory < 1 << 20, "{text}");
        host.check_empty();
        left.push((done, rows_of(&mut client, then, 256 << 20, &NoHost).expect("a simple query")));
    }
    assert_eq!(left[0], left[1], "{text}");
}

#[test]
fn keys_of_rows_to_be_changed() {
    for (text, then) in [
        ("UPDATE t SET id = id + 1 ORDER BY id DESC", "SELECT id, g, s FROM t ORDER BY id"),
        ("UPDATE t SET id = id + 10000", "SELECT id, g, s FROM t ORDER BY id"),
        ("UPDATE t SET g = 1 ORDER BY s, id LIMIT 1800", "SELECT id, g, s FROM t ORDER BY id"),
        ("DELETE FROM t ORDER BY g DESC, id LIMIT 2500", "SELECT id, g, s FROM t ORDER BY id"),
        (
            "UPDATE t JOIN u ON t.g = u.g SET t.d = u.id, u.s = t.id",
            "SELECT t.id, d, u.s FROM t JOIN u ON t.id = u.id ORDER BY t.id",
        ),
        ("UPDATE t JOIN u ON t.id >= u.id AND u.id < 3 SET t.d = u.id + t.id", "SELECT id, d FROM t ORDER BY id"),
        ("DELETE t, u FROM t JOIN u ON t.s = u.s", "SELECT t.id, u.id FROM t LEFT JOIN u ON t.id = u.id ORDER BY t.id"),
        ("INSERT INTO t (id, s, b) SELECT id + 5000, s, b FROM t", "SELECT id, s, b FROM t ORDER BY id"),
    ] {
        check_change(text, then);
    }
}

#[test]
fn a_full_disk_ends_the_statement_alone() {
    let (_fixture, mut client) = tables(3000);
    let host = Spills::new(u64::MAX);
    check(&mut client, &host, "SELECT id FROM t ORDER BY s, id", true);
    let text = "SELECT a.id, b.id, a.b FROM u b JOIN t a ON a.id % 400 = b.id % 400 ORDER BY a.s, b.id, a.id";
    // All that is free is what must be left.
    host.temporary.set_free_bytes_min(u64::MAX);
    let error = rows_of(&mut client, text, 16 << 10, &host).expect_err("no room");
    assert_eq!(error, Error::TemporaryDiskFull);
    host.check_empty();
    // A little goes, and others go on.
    check(&mut client, &host, "SELECT id FROM u ORDER BY s, id", true);
    host.temporary.set_free_bytes_min(0);
    check(&mut client, &host, text, true);
    host.check_empty();
}

#[test]
fn a_killed_statement_leaves_nothing() {
    let (_fixture, mut client) = tables(2000);
    let mut host = Spills::new(u64::MAX);
    for bytes in [1, 40_000, 100_000] {
        let written = host.temporary.figures().spilled_bytes;
        host.kill = Some((written + bytes, client.session.killed.clone()));
        // Statements that ask for their file again and again see it.
        let text = "SELECT g, s, COUNT(*) FROM t GROUP BY g, s, id ORDER BY g, s";
        match rows_of(&mut client, text, 16 << 10, &host) {
            Err(Error::Interrupted) => {}
            other => assert!(other.is_ok(), "{other:?}"),
        }
        host.kill = None;
        client.session.killed.store(kill::NONE, Ordering::Relaxed);
        host.check_empty();
    }
    check(&mut client, &host, "SELECT id FROM t ORDER BY s, id", true);
}

#[test]
fn space_is_bounded() {
    let (_fixture, mut client) = tables(2000);
    let host = Spills::new(64 << 10);
    let error = rows_of(&mut client, "SELECT * FROM t ORDER BY s", 16 << 10, &host).expect_err("too large");
    assert_eq!(error, Error::TemporarySpaceFull { limit: 64 << 10 });
    host.check_empty();
    host.temporary.set_bytes_max(u64::MAX);
    check(&mut client, &host, "SELECT * FROM t ORDER BY s", true);
    // Without temporary files it is the memory's end.
    let error = rows_of(&mut client, "SELECT * FROM t ORDER BY s", 16 << 10, &NoHost).expect_err("too large");
    assert!(matches!(error, Error::OutOfSortMemory { .. }), "{error:?}");
}
