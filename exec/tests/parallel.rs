//! Queries that several workers read for answer as those of one worker do, in the same order, with the same errors and warnings.

mod support;

use exec::{Help, Host, NoHost, Temporary};
use expr::{Error, kill};
use sql::explain::{Measured, Measures};
use std::cell::Cell;
use std::future::ready;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use support::{Answer, Client, Fixture, block_on, host_without_server};
use txn::{Isolation, Worker};

/// How help that was offered is taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By threads, at the same time as the owner reads.
    Threads,
    /// To its end, before the owner reads anything.
    First,
    /// Not at all.
    Never,
}

type Offered = Box<dyn Help>;

/// A host whose helpers are threads with workers of their own.
struct Helpers {
    way: Way,
    threads: Vec<(Sender<Offered>, JoinHandle<()>)>,
    own: Worker,
    offered: Cell<usize>,
    /// Kills the statement when help is offered.
    kill: Option<Arc<AtomicU8>>,
    temporary: Option<(Temporary, PathBuf)>,
}

impl Helpers {
    fn new(fixture: &Fixture, way: Way) -> Self {
        let threads = [(); 2].map(|()| {
            let (sender, receiver) = channel::<Box<dyn Help>>();
            let engine = fixture.engine.clone();
            let thread = std::thread::spawn(move || {
                let worker = engine.free_worker().expect("a fixture has enough");
                worker.park();
                for helper in receiver {
                    worker.tick();
                    block_on(helper.run(&worker, &|| Box::pin(ready(()))));
                    worker.park();
                }
            });
            (sender, thread)
        });
        let own = fixture.engine.free_worker().expect("a fixture has enough");
        own.park();
        Self { way, threads: threads.into(), own, offered: Cell::new(0), kill: None, temporary: None }
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        for (sender, thread) in self.threads.drain(..) {
            drop(sender);
            thread.join().expect("a helper does not panic");
        }
        if let Some((_, directory)) = &self.temporary {
            let _ = std::fs::remove_dir(directory);
        }
    }
}

host_without_server!(Helpers {
    fn temporary(&self) -> Option<&Temporary> {
        self.temporary.as_ref().map(|(temporary, _)| temporary)
    }
    fn helpers(&self) -> usize {
        self.threads.len()
    }
    fn offer(&self, number: usize, helper: Box<dyn Help>) {
        self.offered.set(self.offered.get() + 1);
        if let Some(killed) = &self.kill {
            killed.store(kill::QUERY, Ordering::Relaxed);
        }
        match self.way {
            Way::Threads => self.threads[number].0.send(helper).expect("the thread lives"),
            Way::First => {
                self.own.tick();
                block_on(helper.run(&self.own, &|| Box::pin(ready(()))));
                self.own.park();
            }
            Way::Never => {}
        }
    }
});

/// What a statement says to a client: rows or an error, and warnings.
type Said = (std::result::Result<String, Error>, Vec<Error>);

fn said(client: &mut Client, text: &str, host: &dyn Host) -> Said {
    let prepared = client.prepare(text);
    client.session.work.clear();
    client.session.warnings.borrow_mut().clear();
    client.session.rows_examined.set(0);
    let answer = client.execute_with(&prepared, &[], host).map(|answer| answer.show());
    (answer, client.warnings())
}

/// Handler_read_key and its like.
fn counters(client: &Client) -> Vec<(&'static str, u64)> {
    let mut all = Vec::new();
    client.session.work.each(&mut |name, count| all.push((name, count)));
    all
}

/// The statement is shared out, and says what it says without helpers.
fn check(client: &mut Client, hosts: &[&Helpers], text: &str) {
    let expected = said(client, text, &NoHost);
    let examined = client.session.rows_examined.get();
    let counted = counters(client);
    for host in hosts {
        let before = host.offered.get();
        assert_eq!(said(client, text, *host), expected, "{text}, help: {:?}", host.way);
        assert_eq!(counters(client), counted, "{text}, help: {:?}", host.way);
        // A row at which a worker lets others run is counted twice.
        let difference = client.session.rows_examined.get().abs_diff(examined);
        assert!(difference <= 64, "{difference} rows examined by {text}, help: {:?}", host.way);
        assert!(host.offered.get() > before, "{text} is not shared out");
    }
}

fn filled(fixture: &Fixture, rows: usize) -> Client {
    fixture.create("t", "id int not, a int, b bigint not, d decimal(10,2), s varchar(20), day date, f double, primary id, key a");
    let mut client = fixture.client(0);
    let mut random = 0x2545_f491_4f6c_dd1du64;
    let mut below = |limit: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % limit
    };
    for from in (0..rows).step_by(100) {
        let values: Vec<String> = (from..from + 100)
            .map(|id| {
                let a = if below(7) == 0 { "NULL".to_owned() } else { (below(50) as i64 - 25).to_string() };
                let (b, d) = (below(1000), below(100_000) as f64 / 100.0);
                // Equal texts that are not the same: a group shows the first.
                let s = ["abc", "ABC", "Abc", "x", "", "12"][below(6) as usize];
                let day = format!("'2020-{:02}-{:02}'", 1 + below(12), 1 + below(28));
                let (day, f) = (if below(9) == 0 { "NULL".into() } else { day }, below(1000) as f64 / 7.0);
                format!("({id}, {a}, {b}, {d}, '{s}', {day}, {f})")
            })
            .collect();
        client.run(&format!("INSERT INTO t (id, a, b, d, s, day, f) VALUES {}", values.join(", ")));
    }
    client
}

const LISTS: &[&str] = &[
    "COUNT(*)",
    "COUNT(a), COUNT(*), COUNT(day)",
    "SUM(a), AVG(a), SUM(b), AVG(b)",
    "SUM(d), AVG(d), MIN(d), MAX(d)",
    "MIN(a), MAX(a), MIN(day), MAX(day), MIN(b)",
    "SUM(d * (1 - a)), SUM(CASE WHEN a > 3 THEN b ELSE 1 END), COUNT(a + b)",
    "MAX(id) - MIN(id), SUM(a) / COUNT(*)",
];

const CONDITIONS: &[&str] = &[
    "",
    "WHERE a > 3",
    "WHERE d BETWEEN 100 AND 500.5 AND b < 700",
    "WHERE day >= '2020-06-01' OR a IS NULL",
    "WHERE s LIKE 'a%' AND NOT a = 5",
    "WHERE s = 'abc'",
    "WHERE a IN (1, 2, 3, NULL) OR id % 10 = 3",
    "WHERE id BETWEEN 500 AND 2000 AND a <> 0",
    "WHERE id < 700 OR id > 1500",
    "WHERE b > 2000",
];

const GROUPS: &[&str] = &["", "GROUP BY a", "GROUP BY s", "GROUP BY b", "GROUP BY day, a", "GROUP BY b % 7", "GROUP BY d"];

#[test]
fn answers_are_those_of_one_worker() {
    let fixture = Fixture::new(12);
    let mut client = filled(&fixture, 2_500);
    let (threads, first, never) =
        (Helpers::new(&fixture, Way::Threads), Helpers::new(&fixture, Way::First), Helpers::new(&fixture, Way::Never));
    let mut shared = 0;
    for list in LISTS {
        for condition in CONDITIONS {
            for group in GROUPS {
                let text = format!("SELECT {list} FROM t {condition} {group}");
                let before = threads.offered.get();
                let expected = said(&mut client, &text, &NoHost);
                for host in [&threads, &first, &never] {
                    assert_eq!(said(&mut client, &text, host), expected, "{text}, help: {:?}", host.way);
                }
                shared += usize::from(threads.offered.get() > before);
            }
        }
    }
    let all = LISTS.len() * CONDITIONS.len() * GROUPS.len();
    assert!(shared * 2 > all, "{shared} of {all} are shared out");
}

/// A second table: some ids of `t`, with several rows for a code, and codes that `t` does not have.
fn with_partners(fixture: &Fixture, client: &mut Client, rows: usize) {
    fixture.create("u", "id int not, code int, v decimal(8,2), w varchar(20), primary id, key code");
    for from in (0..rows).step_by(100) {
        let row = |id: usize| {
            let code = if id.is_multiple_of(11) { "NULL".to_owned() } else { (id * 7919 % 40).to_string() };
            let w = ["abc", "ABC", "x", "", "y"][id % 5];
            format!("({}, {code}, {}.25, '{w}')", id * 3, id % 17)
        };
        let values: Vec<String> = (from..from + 100).map(row).collect();
        client.run(&format!("INSERT INTO u (id, code, v, w) VALUES {}", values.join(", ")));
    }
}

const JOINS: &[&str] = &[
    "t",
    "t FORCE INDEX (a)",
    "t JOIN u ON u.id = t.b",
    "t LEFT JOIN u ON u.id = t.id AND u.v > 5",
    "t JOIN u ON u.code = t.a",
    "t JOIN u ON u.v = t.d",
    "t LEFT JOIN u ON u.v = t.d + 0.25 AND u.w > t.s",
    "t JOIN u ON u.w = t.s AND u.id % 50 = t.b % 50",
    "t JOIN u ON u.code + 1 = t.a JOIN u AS z ON z.id = t.id",
    "t JOIN u AS z ON z.v = t.b / 100 LEFT JOIN u ON u.id = z.id + t.a",
    "t STRAIGHT_JOIN u ON u.v + 1 = t.a AND u.w LIKE 'a%'",
];

/// Which of the tables' columns a join has.
fn columns(join: &str) -> &'static [&'static str] {
    if join.contains(" u") {
        &["t.id", "t.a", "t.b", "t.d", "t.s", "t.day", "t.f", "u.id", "u.v", "u.w", "CONCAT(t.s, u.w)", "COALESCE(u.v, t.d)"]
    } else {
        &["id", "a", "b", "d", "s", "day", "f", "UPPER(s)", "MONTH(day)", "SUBSTRING(s, 2)", "DATE_ADD(day, INTERVAL 1 MONTH)"]
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn of<'t, T: ?Sized>(&mut self, list: &[&'t T]) -> &'t T {
        list[self.below(list.len())]
    }
}

/// A condition of `t` and its partners.
fn condition(random: &mut Random, join: &str) -> String {
    let own =
        random.of(CONDITIONS).replace(" id", " t.id").replace(" a", " t.a").replace(" b", " t.b").replace("LIKE 't.a", "LIKE 'a");
    let own = own.replace(" d ", " t.d ").replace("(a", "(t.a").replace("'t.a", "'a");
    match join.contains(" u") && random.below(3) == 0 {
        true if own.is_empty() => "WHERE u.v < 12".to_owned(),
        true => format!("{own} AND (u.v < 12 OR u.w = 'x')"),
        false => own,
    }
}

/// A random query, with a sort or groups that may be shared out.
fn random_query(random: &mut Random) -> String {
    let join = random.of(JOINS);
    let condition = condition(random, join);
    let all = columns(join);
    let some = |random: &mut Random, most: usize| -> Vec<&str> { (0..1 + random.below(most)).map(|_| random.of(all)).collect() };
    let numbers = [
        "t.a",
        "t.b",
        "t.d",
        "t.id",
        "t.a * 2 + t.b",
        "CASE WHEN t.b > 500 THEN t.d END",
        "YEAR(t.day) + LENGTH(t.s)",
        "IFNULL(ABS(t.a), ROUND(t.d, 1))",
        "CAST(t.d AS SIGNED) + DATEDIFF(t.day, '2020-01-01')",
    ];
    let direction = |random: &mut Random| random.of(&["", " DESC"]);
    match random.below(9) {
        // Rows that pass through, and what is made of them in their order.
        6 => format!("SELECT {} FROM {join} {condition}", some(random, 4).join(", ")),
        7 => format!("SELECT DISTINCT {} FROM {join} {condition}", some(random, 2).join(", ")),
        8 => {
            let by = random.of(all);
            format!(
                "SELECT {by}, GROUP_CONCAT(t.id), SUM(t.f), COUNT(DISTINCT {}) FROM {join} {condition} GROUP BY {by}",
                random.of(all)
            )
        }
        0 => format!("SELECT COUNT(*), SUM({}), MAX({}) FROM {join} {condition}", random.of(&numbers), random.of(&numbers)),
        1 | 2 => {
            let keys = some(random, 2).join(", ");
            let list = format!("{keys}, COUNT(*), SUM({}), MIN({})", random.of(&numbers), random.of(&numbers));
            let order = if random.below(2) == 0 { format!("ORDER BY {}", 1 + random.below(2)) } else { String::new() };
            format!("SELECT {list} FROM {join} {condition} GROUP BY {keys} {order}")
        }
        3 | 4 => {
            let list = some(random, 4).join(", ");
            let order: Vec<String> = some(random, 3).iter().map(|key| format!("{key}{}", direction(random))).collect();
            let limit = match random.below(4) {
                0 => format!("LIMIT {}", 1 + random.below(20)),
                1 => format!("LIMIT {} OFFSET {}", 1 + random.below(50), random.below(5_000)),
                _ => String::new(),
            };
            format!("SELECT {list} FROM {join} {condition} ORDER BY {} {limit}", order.join(", "))
        }
        _ => {
            let (by, order, list) = (random.of(all), random.of(all), random.of(all));
            let numbered = format!(
                "SELECT {list} AS x, ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {order}{}) AS r FROM {join} {condition}",
                direction(random)
            );
            match random.below(2) {
                0 => numbered,
                _ => format!("SELECT COUNT(*), MAX(r), MAX(x) FROM ({numbered}) AS n"),
            }
        }
    }
}

/// Joins, sorts, windows and groups, most of which are shared out.
const QUERIES: usize = 200;

#[test]
fn random_queries_answer_as_those_of_one_worker() {
    let fixture = Fixture::new(12);
    let mut client = filled(&fixture, 1_200);
    with_partners(&fixture, &mut client, 200);
    let hosts = [Way::Threads, Way::First, Way::Never].map(|way| Helpers::new(&fixture, way));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut shared, mut answered) = (0, 0);
    for _ in 0..QUERIES {
        let text = random_query(&mut random);
        let expected = said(&mut client, &text, &NoHost);
        answered += usize::from(expected.0.is_ok());
        let counted = counters(&client);
        for host in &hosts {
            let before = host.offered.get();
            assert_eq!(said(&mut client, &text, host), expected, "{text}, help: {:?}", host.way);
            assert_eq!(counters(&client), counted, "{text}, help: {:?}", host.way);
            shared += usize::from(host.offered.get() > before);
        }
    }
    assert!(answered > QUERIES * 9 / 10, "{answered} of {QUERIES} have an answer");
    assert!(shared > QUERIES, "{shared} of {} are shared out", QUERIES * 3);
}

/// The reading part of INSERT ... SELECT, where the rows that are read are not locked.
#[test]
fn rows_that_are_inserted_are_those_of_one_worker() {
    let fixture = Fixture::new(12);
    let mut client = filled(&fixture, 1_500);
    with_partners(&fixture, &mut client, 200);
    fixture.create("into_t", "n int not, a int, s varchar(20), primary n");
    let hosts = [Way::Threads, Way::First, Way::Never].map(|way| Helpers::new(&fixture, way));
    let inserted = |client: &mut Client, text: &str, host: &dyn Host| {
        client.run("DELETE FROM into_t");
        let said = said(client, text, host);
        (said, client.run("SELECT * FROM into_t"))
    };
    for (text, is_shared) in [
        ("INSERT INTO into_t (n, a, s) SELECT id, a, s FROM t WHERE b < 100", true),
        ("INSERT INTO into_t (n, a, s) SELECT b, COUNT(*), 'x' FROM t GROUP BY b", true),
        ("INSERT INTO into_t (n, a, s) SELECT t.id, u.code, u.w FROM t STRAIGHT_JOIN u ON u.id = t.b ORDER BY u.w, t.a", true),
        ("REPLACE INTO into_t (n, a, s) SELECT b, id, s FROM t ORDER BY d, id", true),
        ("INSERT IGNORE INTO into_t (n, a, s) SELECT b % 20, id, s FROM t WHERE b < 100 ORDER BY d DESC, id", true),
        // A duplicate: all is undone.
        ("INSERT INTO into_t (n, a, s) SELECT b, id, s FROM t WHERE b < 100", true),
        ("INSERT INTO into_t (n, a, s) SELECT id, a, CONCAT(s, RAND() < 2) FROM t", false),
    ] {
        for isolation in [Isolation::ReadCommitted, Isolation::RepeatableRead] {
            client.isolation = isolation;
            let expected = inserted(&mut client, text, &NoHost);
            for host in &hosts {
                let before = host.offered.get();
                assert_eq!(inserted(&mut client, text, host), expected, "{text}, {isolation:?}, help: {:?}", host.way);
                let shared = host.offered.get() > before;
                assert_eq!(shared, is_shared && isolation == Isolation::ReadCommitted, "{text}, {isolation:?}");
            }
        }
    }
}

#[test]
fn what_stands_above_the_groups_is_as_ever() {
    let fixture = Fixture::new(12);
    let mut client = filled(&fixture, 3_000);
    let (threads, first) = (Helpers::new(&fixture, Way::Threads), Helpers::new(&fixture, Way::First));
    for text in [
        "SELECT b, COUNT(*) FROM t GROUP BY b HAVING COUNT(*) > 3 ORDER BY 2 DESC, b LIMIT 5",
        "SELECT s, SUM(d) FROM t WHERE d > 0 GROUP BY s ORDER BY s",
        "SELECT DISTINCT COUNT(*) FROM t GROUP BY b ORDER BY 1",
        "SELECT COUNT(*) FROM t LIMIT 1 OFFSET 1",
        "SELECT SUM(a), CONCAT('x', MAX(b)) FROM t WHERE id > 20",
        "SELECT b + 1, SUM(a) FROM t GROUP BY b + 1 ORDER BY 1 DESC LIMIT 3, 4",
    ] {
        check(&mut client, &[&threads, &first], text);
    }
}

#[test]
fn what_is_not_safe_is_read_by_one_worker() {
    let fixture = Fixture::new(12);
    let mut client = filled(&fixture, 2_000);
    let host = Helpers::new(&fixture, Way::Threads);
    let alone = |client: &mut Client, text: &str| {
        let expected = said(client, text, &NoHost);
        assert_eq!(said(client, text, &host), expected, "{text}");
        assert_eq!(host.offered.get(), 0, "{text} is shared out");
    };
    for text in [
        "SELECT SUM(f) FROM t",
        "SELECT MIN(s) FROM t",
        "SELECT COUNT(DISTINCT a) FROM t",
        "SELECT GROUP_CONCAT(id) FROM t WHERE id < 20",
        "SELECT SUM(@x := a) FROM t",
        "SELECT COUNT(*) FROM t WHERE a > (SELECT MIN(a) FROM t)",
        "SELECT COUNT(*) FROM t WHERE RAND() < 2",
        "SELECT COUNT(*) FROM t FOR UPDATE",
        "SELECT COUNT(*) FROM t AS x JOIN t AS y ON x.id = y.id WHERE RAND() < 2",
        "SELECT id FROM t ORDER BY @x := a, id",
        "SELECT id FROM t ORDER BY a, id LIMIT 0",
        "SELECT id FROM t ORDER BY a FOR SHARE",
        "SELECT COUNT(*) FROM t AS x JOIN (SELECT 1 AS one) AS y ON y.one = x.a",
        "SELECT x.id, (SELECT COUNT(*) FROM t AS y WHERE y.b > x.b) FROM t AS x WHERE x.id < 5",
        "SELECT id FROM t WHERE a = 2",
        "SELECT COUNT(*) FROM t WHERE id < 10",
    ] {
        alone(&mut client, text);
    }
    client.session.parallel_workers_max = 1;
    alone(&mut client, "SELECT COUNT(*), SUM(a) FROM t");
    client.session.parallel_workers_max = 256;
    client.isolation = Isolation::ReadUncommitted;
    alone(&mut client, "SELECT COUNT(*), SUM(a) FROM t");
    client.isolation = Isolation::Serializable;
    client.session.in_transaction = true;
    client.begin();
    alone(&mut client, "SELECT COUNT(*), SUM(a) FROM t");
    client.rollback();
    client.session.in_transaction = false;
    for isolation in [Isolation::RepeatableRead, Isolation::ReadCommitted] {
        client.isolation = isolation;
        client.begin();
        client.run("UPDATE t SET a = 1000 WHERE id < 100");
        alone(&mut client, "SELECT COUNT(*), SUM(a) FROM t");
        client.rollback();
    }
    check(&mut client, &[&host], "SELECT COUNT(*), SUM(a) FROM t");
}

#[test]
fn all_read_the_snapshot_of_the_transaction() {
    let fixture = Fixture::new(12);
    let mut client = filled(&fixture, 3_000);
    let (threads, first) = (Helpers::new(&fixture, Way::Threads), Helpers::new(&fixture, Way::First));
    let mut writer = fixture.client(11);
    let text = "SELECT COUNT(*), SUM(a), SUM(d), MAX(id) FROM t WHERE b < 900";
    for isolation in [Isolation::RepeatableRead, Isolation::ReadCommitted] {
        client.isolation = isolation;
        client.begin();
        let before = said(&mut client, text, &threads);
        for change in [
            "UPDATE t SET a = a + 1, d = d + 1 WHERE id % 3 = 0",
            "DELETE FROM t WHERE id % 10 = 1 AND id < 2000",
            "INSERT INTO t (id, a, b, d) SELECT id + 10000, 5, 5, 5 FROM t WHERE id < 300",
            "DELETE FROM t WHERE id >= 10000",
        ] {
            writer.run(change);
            check(&mut client, &[&threads, &first], text);
            let now = said(&mut client, text, &threads);
            assert_eq!(now == before, isolation == Isolation::RepeatableRead, "{isolation:?}: {change}");
        }
        client.commit();
        check(&mut client, &[&threads, &first], text);
    }
}

#[test]
fn errors_and_warnings_are_those_of_one_worker() {
    let fixture = Fixture::new(12);
    let mut client = filled(&fixture, 2_000);
    let (threads, first) = (Helpers::new(&fixture, Way::Threads), Helpers::new(&fixture, Way::First));
    for text in [
        // The error names the first row's numbers.
        "SELECT SUM(id * 9223372036854775807) FROM t WHERE id > 700",
        "SELECT COUNT(*) FROM t WHERE b + 9223372036854775000 > 0",
        // Each warning names a text.
        "SELECT COUNT(*) FROM t WHERE s > 5",
        "SELECT SUM(a / (b % 2)) FROM t",
        "SELECT COUNT(*) FROM t WHERE day > s",
    ] {
        check(&mut client, &[&threads, &first], text);
        client.session.sql_mode.strict = !client.session.sql_mode.strict;
        check(&mut client, &[&threads, &first], text);
    }
    assert!(said(&mut client, "SELECT SUM(id * 9223372036854775807) FROM t WHERE id > 700", &threads).0.is_err());
    assert!(!said(&mut client, "SELECT COUNT(*) FROM t WHERE s > 5", &threads).1.is_empty());
}

#[test]
fn rows_without_room_go_to_the_temporary_file_of_one_worker() {
    let fixture = Fixture::new(12);
    let mut client = filled(&fixture, 4_000);
    let mut hosts = [Helpers::new(&fixture, Way::Threads), Helpers::new(&fixture, Way::First)];
    for text in [
        "SELECT id, COUNT(*), SUM(d), MAX(day) FROM t GROUP BY id ORDER BY id",
        "SELECT id, s, day FROM t ORDER BY s, day DESC, d",
        "SELECT id, s, day FROM t ORDER BY s, day DESC, d LIMIT 10 OFFSET 3500",
        "SELECT y.id, SUM(x.d), COUNT(*) FROM t AS x JOIN t AS y ON y.b = x.id GROUP BY y.id ORDER BY y.id",
    ] {
        without_room(&mut client, &mut hosts, text);
    }
}

/// The statement says the same with little memory, with and without a temporary file.
fn without_room(client: &mut Client, hosts: &mut [Helpers], text: &str) {
    client.session.sort_memory_bytes_max = 64 << 20;
    let expected = said(client, text, &NoHost);
    for host in hosts {
        for memory in [8 << 10, 64 << 10, 200 << 10, 400 << 10, 600 << 10, 1 << 20] {
            client.session.sort_memory_bytes_max = memory;
            host.temporary = None;
            // Rows that one worker has no room for may have room with several: each has a share.
            let alone = said(client, text, &NoHost);
            let answer = said(client, text, host);
            assert!(answer == alone || answer == expected, "{text}, {memory} bytes, help: {:?}: {answer:?}", host.way);
            let directory = std::env::temp_dir().join(format!("heddle-parallel-{}-{:?}", std::process::id(), host.way));
            host.temporary = Some((Temporary::new(&directory, 1 << 30).expect("a new folder"), directory));
            assert_eq!(said(client, text, host), expected, "{text}, {memory} bytes, help: {:?}", host.way);
        }
    }
}

#[test]
fn a_kill_ends_the_query_while_others_help() {
    let fixture = Fixture::new(12);
    let mut client = filled(&fixture, 2_000);
    for way in [Way::Threads, Way::First, Way::Never] {
        let mut host = Helpers::new(&fixture, way);
        host.kill = Some(client.session.killed.clone());
        for text in [
            "SELECT COUNT(*) FROM t",
            "SELECT b, SUM(a) FROM t WHERE d > 1 GROUP BY b",
            "SELECT id FROM t ORDER BY s, a",
            "SELECT SUM(x.a) FROM t AS x JOIN t AS y ON y.b = x.id",
            "SELECT COUNT(*) FROM (SELECT b, COUNT(*) AS c FROM t GROUP BY b) AS g",
        ] {
            client.session.killed.store(kill::NONE, Ordering::Relaxed);
            let (answer, _) = said(&mut client, text, &host);
            assert!(matches!(answer, Err(Error::Interrupted)), "{text}, help: {way:?}: {answer:?}");
        }
        client.session.killed.store(kill::NONE, Ordering::Relaxed);
        host.kill = None;
        check(&mut client, &[&host], "SELECT b, SUM(a) FROM t WHERE d > 1 GROUP BY b");
    }
}

/// Money moves between rows all the time; no snapshot sees it on its way.
#[test]
fn sums_stay_while_others_write() {
    let fixture = Fixture::new(12);
    let mut client = filled(&fixture, 1_000);
    client.run("UPDATE t SET a = 100");
    let host = Helpers::new(&fixture, Way::Threads);
    let stop = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (fixture, writer_stop) = (&fixture, stop.clone());
        scope.spawn(move || {
            let mut writer = fixture.client(11);
            let mut n = 0u64;
            while !writer_stop.load(Ordering::Relaxed) {
                n += 1;
                let (from, to) = (n * 7919 % 1000, n * 104_729 % 1000);
                if from == to {
                    continue;
                }
                writer.begin();
                writer.run(&format!("UPDATE t SET a = a - 1 WHERE id = {from}"));
                writer.run(&format!("UPDATE t SET a = a + 1 WHERE id = {to}"));
                if n.is_multiple_of(5) { writer.rollback() } else { writer.commit() }
            }
        });
        for _ in 0..60 {
            let (answer, _) = said(&mut client, "SELECT SUM(a), COUNT(*) FROM t WHERE b >= 0", &host);
            assert_eq!(answer, Ok("100000,1000".to_owned()));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(host.offered.get() > 0);
}

/// Who is offered help may take it up when the query has ended, or never come back from its wait.
#[test]
fn help_that_comes_late_does_nothing() {
    let fixture = Fixture::new(12);
    let mut client = filled(&fixture, 1_000);
    struct Late(Cell<Vec<Box<dyn Help>>>);
    host_without_server!(Late {
        fn helpers(&self) -> usize {
            2
        }
        fn offer(&self, _number: usize, helper: Box<dyn Help>) {
            let mut kept = self.0.take();
            kept.push(helper);
            self.0.set(kept);
        }
    });
    let late = Late(Cell::default());
    let prepared = client.prepare("SELECT COUNT(*), SUM(a) FROM t");
    let expected = client.execute(&prepared, &[]).map(|answer| answer.show());
    let answer = client.execute_with(&prepared, &[], &late).map(|answer: Answer| answer.show());
    assert_eq!(answer, expected);
    let helpers = late.0.take();
    assert_eq!(helpers.len(), 2);
    let worker = fixture.engine.worker(11);
    helpers.into_iter().for_each(|helper| block_on(helper.run(&worker, &|| Box::pin(ready(())))));
}

#[test]
fn a_measured_run_tells_what_each_worker_read() {
    let fixture = Fixture::new(12);
    let mut client = filled(&fixture, 2_000);
    let host = Helpers::new(&fixture, Way::First);
    let prepared = client.prepare("SELECT s, COUNT(*) FROM t WHERE d >= 0 GROUP BY s ORDER BY s");
    let measures = client.measure_with(&prepared, &host);
    let rows: Vec<u64> = (0..)
        .map_while(|n| {
            let mut found = measures.0.iter().filter(|((_, part), _)| *part == Measured::Worker(n));
            found.next().map(|(_, measure)| measure.rows)
        })
        .collect();
    // The first helper has read all, so the other one found nothing and is not told of.
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows[0] == 0 && rows[1].abs_diff(2_000) <= 64, "{rows:?}");
    let text = sql::explain_tree_measured(prepared.plan(), &measures);
    let shape: Vec<&str> = text.lines().map(|line| line.split(['(', ':']).next().unwrap_or_default().trim_end()).collect();
    let expected = [
        "-> Sort",
        "    -> Group by t.s",
        "        -> Worker 0",
        "        -> Worker 1",
        "        -> Filter",
        "            -> Table scan on t",
    ];
    assert_eq!(shape, expected, "{text}");
    assert!(!text.contains("never executed"), "{text}");
    let shown = sql::explain_tree_shared(prepared.plan(), &[*measures_key(&measures)], 3);
    assert!(shown.contains("Group by t.s: count(*) (up to 3 workers)"), "{shown}");
    let alone = client.measure(&prepared);
    assert!(alone.0.keys().all(|(_, part)| !matches!(part, Measured::Worker(_))));
}

/// The node that several workers have read for.
fn measures_key(measures: &Measures) -> &usize {
    let mut keys = measures.0.keys().filter(|(_, part)| matches!(part, Measured::Worker(_)));
    &keys.next().expect("there is one").0
}
