//! Which memory statements write that another worker uses too, found by running a worker one instruction at a time (`stepping`).
//!
//! Two workers, one client each, run the same statement in turn, each on rows of its own. A line that both wrote, or one wrote and the other
//! read, is shared. A read must have none, from the packet that comes in to the packet that goes out; what others may write, and share, is
//! named here, object by object (`objects`), and anything else fails. The table that is printed stands in docs/lab/shared-writes.md.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod objects;
mod stepping;

use mysql::prelude::*;
use mysql::{Conn, OptsBuilder, Statement};
use objects::{BUSY, SESSION, object_of, writers_of};
use std::collections::BTreeMap;
use std::sync::Arc;
use stepping::{Trace, thread_named, trace};

/// The server's own: which objects lie side by side is a matter of the allocator.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const WARM_UP: usize = 50;
/// Rows on leaves of their own.
const KEYS: [u32; 2] = [500_000, 3_500_000];

struct Client {
    conn: Conn,
    /// The thread of its worker.
    thread: i32,
}

fn run_ns(thread: i32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).expect("the thread lives");
    text.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number")
}

/// The worker of a connection: the one that gets busy.
fn client(mut conn: Conn) -> Client {
    let threads = [thread_named("worker-0"), thread_named("worker-1")];
    let before = threads.map(run_ns);
    for _ in 0..2000 {
        conn.query_drop("DO 1").unwrap();
    }
    let spent: Vec<u64> = threads.iter().zip(before).map(|(thread, before)| run_ns(*thread) - before).collect();
    let thread = if spent[0] > spent[1] { threads[0] } else { threads[1] };
    conn.query_drop("USE s").unwrap();
    Client { conn, thread }
}

/// What a statement may write of the engine's.
struct Allowed {
    /// At all.
    objects: &'static [&'static [&'static str]],
    /// Although the other worker writes or reads it too. A read allows nothing.
    shared: &'static [&'static str],
}

const READ: Allowed = Allowed { objects: &[&["own share of the metadata lock", "own snapshots", "own counters"]], shared: &[] };

/// A change of a row, or more, within a transaction.
const CHANGES: &[&str] = &[
    "own share of the metadata lock",
    "own snapshots",
    "own counters",
    "page",
    "frame of the page",
    "own log buffer",
    "own undo memory",
    "own statuses",
    "own open writers",
    "own estimates of rows",
    "commit clock",
];
/// What the commit of a tombstone adds: it tells the purge thread, which may have to be woken, at most once in its pause of 10 ms.
const PURGE: &[&str] = &["purge queue and bell"];

const WRITE: Allowed = Allowed { objects: &[CHANGES], shared: &["commit clock"] };
const DELETE: Allowed = Allowed { objects: &[CHANGES, PURGE], shared: &["commit clock", "purge queue and bell"] };

/// What one statement wrote: lines by object, and of those the ones that the other worker uses too.
#[derive(Default)]
struct Counts {
    written: BTreeMap<&'static str, usize>,
    shared: BTreeMap<&'static str, usize>,
    /// For a reader of a failure.
    writers: String,
}

fn count(first: &Trace, second: &Trace) -> Counts {
    let mut counts = Counts::default();
    for (_, places) in first.written_off_stack() {
        *counts.written.entry(object_of(places)).or_default() += 1;
    }
    let taken = first.taken_from(second).into_iter().chain(second.taken_from(first));
    for (_, places) in first.shared_with(second).into_iter().chain(taken) {
        *counts.shared.entry(object_of(&places)).or_default() += 1;
        counts.writers += &format!("    {}: {}\n", object_of(&places), writers_of(&places));
    }
    counts
}

fn told(lines: &BTreeMap<&str, usize>) -> String {
    if lines.is_empty() {
        "none".to_owned()
    } else {
        lines.iter().map(|(object, count)| format!("{object} {count}")).collect::<Vec<_>>().join(", ")
    }
}

/// Runs a statement on both workers, compares what they wrote and read, and prints a line of the table in docs/lab/shared-writes.md.
/// `before` comes ahead of each, unseen. What a statement always shares is there each time it is looked at; a line that two neighbours on
/// the heap happened to get, or the turn of a background thread, is not.
fn compare(
    clients: &mut [Client; 2],
    name: &str,
    allowed: &Allowed,
    mut before: impl FnMut(&mut Conn, usize),
    mut run: impl FnMut(&mut Conn, usize),
) -> Counts {
    const LOOKS: usize = 3;
    for look in 1.. {
        for round in 0..WARM_UP * 2 {
            let (conn, index) = (&mut clients[round % 2].conn, round % 2);
            before(conn, index);
            run(conn, index);
        }
        let traces: Vec<Trace> = clients
            .iter_mut()
            .enumerate()
            .map(|(index, client)| {
                before(&mut client.conn, index);
                trace(client.thread, || run(&mut client.conn, index))
            })
            .collect();
        let mut counts = count(&traces[0], &traces[1]);
        counts.written.retain(|object, _| ![SESSION, BUSY].contains(object));
        counts.shared.remove(BUSY);
        let is_within = |lines: &BTreeMap<&str, usize>, allowed: &[&str]| lines.keys().all(|object| allowed.contains(object));
        let is_good = is_within(&counts.written, &allowed.objects.concat()) && is_within(&counts.shared, allowed.shared);
        if is_good {
            println!("| {name} | {} | {} |", told(&counts.written), told(&counts.shared));
            return counts;
        }
        let what = format!("{name} writes {}, shared {}\n{}", told(&counts.written), told(&counts.shared), counts.writers);
        assert!(look < LOOKS, "{what}");
    }
    unreachable!("the last look returns or fails")
}

#[test]
fn a_point_select_writes_nothing_that_is_shared() {
    if !stepping::is_possible() {
        println!("this machine does not trap after an instruction: nothing is tested");
        return;
    }
    let own = stepping::frames(&[stepping::is_possible as *const () as u64, 0, 0, 0, 0, 0, 0, 0]);
    assert!(own.iter().any(|frame| frame.file.ends_with(".rs")), "built without line tables: what is written cannot be named");
    let directory = tempfile::tempdir().unwrap();
    let (workers, data_dir) = (2, directory.path().join("data"));
    let config = txn::Config {
        data_dir: data_dir.clone(),
        buffer_pool_bytes: 64 << 20,
        undo_memory_bytes: 64 << 20,
        recovery_target: txn::RECOVERY_TARGET,
        workers,
        durability: txn::Durability::None,
    };
    let engine = txn::Engine::open(config).unwrap();
    let database = table::Database::open(Arc::clone(&engine)).unwrap();
    // One instruction at a time, each execution would be one of the slowest, and would be kept.
    let keeps_executions = false;
    let tcp = Some(([127, 0, 0, 1], 0).into());
    let config = server::Config { tcp, data_dir, workers, keeps_executions, ..server::Config::default() };
    let handle = server::start(config, database, Arc::clone(&engine)).unwrap();
    let port = handle.tcp_address().unwrap().port();
    let connect = || {
        let options = OptsBuilder::new().ip_or_hostname(Some("127.0.0.1")).tcp_port(port).user(Some("root")).prefer_socket(false);
        Conn::new(options).unwrap()
    };
    let mut first = connect();
    first.query_drop("CREATE DATABASE s").unwrap();
    first.query_drop("CREATE TABLE s.t (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, KEY (k))").unwrap();
    let rows: Vec<String> = (0..4000).map(|id| format!("({0}, {0}, 'row {id}')", id * 1000)).collect();
    rows.chunks(500).for_each(|rows| first.query_drop(format!("INSERT INTO s.t VALUES {}", rows.join(", "))).unwrap());
    let mut clients = [client(first), client(connect())];
    assert_ne!(clients[0].thread, clients[1].thread, "a worker each");

    statements(&mut clients);

    drop(clients);
    handle.stop();
    handle.wait();
    engine.shutdown().unwrap();
}

fn prepare(clients: &mut [Client; 2], sql: &str) -> [Statement; 2] {
    clients.each_mut().map(|client| client.conn.prep(sql).unwrap())
}

fn nothing(_: &mut Conn, _: usize) {}

fn statements(clients: &mut [Client; 2]) {
    println!("| statement | lines of the engine that it writes | of them used by the other worker |\n|---|---|---|");
    reads(clients);
    changes(clients);
    in_a_transaction(clients);
}

fn reads(clients: &mut [Client; 2]) {
    let point = prepare(clients, "SELECT c FROM t WHERE id = ?");
    compare(clients, "point select, prepared", &READ, nothing, |conn, index| {
        let found: Option<String> = conn.exec_first(&point[index], (KEYS[0],)).unwrap();
        assert_eq!(found.as_deref(), Some("row 500"));
    });
    compare(clients, "point select, text", &READ, nothing, |conn, _| {
        let found: Option<String> = conn.query_first("SELECT c FROM t WHERE id = 500000").unwrap();
        assert_eq!(found.as_deref(), Some("row 500"));
    });
    let range = prepare(clients, "SELECT c FROM t WHERE id BETWEEN ? AND ?");
    compare(clients, "range select, 20 rows", &READ, nothing, |conn, index| {
        let found: Vec<String> = conn.exec(&range[index], (KEYS[0], KEYS[0] + 19_999)).unwrap();
        assert_eq!(found.len(), 20);
    });
    let by_index = prepare(clients, "SELECT c FROM t WHERE k = ?");
    compare(clients, "select by an index", &READ, nothing, |conn, index| {
        let found: Vec<String> = conn.exec(&by_index[index], (KEYS[0],)).unwrap();
        assert_eq!(found.len(), 1);
    });
    // Rows that the first worker has written, while it writes others: the reader is disturbed by the commit clock alone.
    let update = prepare(clients, "UPDATE t SET c = ? WHERE id = ?");
    let beside = Allowed { objects: &[CHANGES], shared: &["commit clock"] };
    let mut n = 0;
    compare(clients, "update; the other selects a row", &beside, nothing, |conn, index| {
        n += 1;
        match index {
            0 => conn.exec_drop(&update[0], (n.to_string(), KEYS[0])).unwrap(),
            _ => drop(conn.exec_first::<String, _, _>(&point[1], (2_000_000,)).unwrap().expect("a row")),
        }
    });
}

fn changes(clients: &mut [Client; 2]) {
    let mut n = 0;
    let update = prepare(clients, "UPDATE t SET c = CONCAT('n', ?) WHERE id = ?");
    let counts = compare(clients, "update of one row", &WRITE, nothing, |conn, index| {
        n += 1;
        conn.exec_drop(&update[index], (n, KEYS[index])).unwrap();
    });
    assert_eq!(counts.shared["commit clock"], 1, "every commit moves it: what is not seen here would not be seen above either");
    compare(clients, "update of one row, text", &WRITE, nothing, |conn, index| {
        n += 1;
        conn.query_drop(format!("UPDATE t SET c = 'n{n}' WHERE id = {}", KEYS[index])).unwrap();
    });
    let indexed = prepare(clients, "UPDATE t SET k = ? WHERE id = ?");
    compare(clients, "update of an indexed column", &DELETE, nothing, |conn, index| {
        n += 1;
        conn.exec_drop(&indexed[index], (KEYS[index] + n, KEYS[index])).unwrap();
    });
    let insert = prepare(clients, "INSERT INTO t VALUES (?, ?, 'new')");
    compare(clients, "insert of one row", &WRITE, nothing, |conn, index| {
        n += 1;
        conn.exec_drop(&insert[index], (KEYS[index] + n, KEYS[index] + n)).unwrap();
    });
    let delete = prepare(clients, "DELETE FROM t WHERE id = ?");
    let mut next = KEYS.map(|key| key + 50_000);
    compare(clients, "delete of one row", &DELETE, nothing, |conn, index| {
        next[index] += 1000;
        conn.exec_drop(&delete[index], (next[index],)).unwrap();
    });
}

fn in_a_transaction(clients: &mut [Client; 2]) {
    let mut n = 0;
    let update = prepare(clients, "UPDATE t SET c = CONCAT('t', ?) WHERE id = ?");
    let within = Allowed { objects: &[CHANGES], shared: &[] };
    let begin = |conn: &mut Conn, _: usize| conn.query_drop("BEGIN").unwrap();
    compare(clients, "update in a transaction", &within, begin, |conn, index| {
        n += 1;
        conn.exec_drop(&update[index], (n, KEYS[index])).unwrap();
    });
    let begin_and_update = |conn: &mut Conn, index: usize| {
        n += 1;
        conn.query_drop("BEGIN").unwrap();
        conn.exec_drop(&update[index], (n, KEYS[index])).unwrap();
    };
    compare(clients, "commit", &WRITE, begin_and_update, |conn, _| conn.query_drop("COMMIT").unwrap());
    let begin_and_select = |conn: &mut Conn, index: usize| {
        conn.query_drop("BEGIN").unwrap();
        conn.exec_drop("SELECT c FROM t WHERE id = ?", (KEYS[index],)).unwrap();
    };
    compare(clients, "commit of reads alone", &READ, begin_and_select, |conn, _| conn.query_drop("COMMIT").unwrap());
}
