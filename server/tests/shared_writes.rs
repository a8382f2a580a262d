//! Which memory statements write that another worker uses too, found by running a worker one instruction at a time (`stepping`).
//!
//! Two workers, one client each, run the same statement in turn, each on rows of its own. A line that both wrote is a shared write.
//! A point select must have none, from the packet that comes in to the packet that goes out; what the others have is printed, and
//! bounded where it is known. See docs/decisions/shared-writes.md.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod stepping;

use mysql::prelude::*;
use mysql::{Conn, OptsBuilder, Statement};
use std::collections::BTreeSet;
use std::sync::Arc;
use stepping::{Trace, thread_named, trace};

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

/// Runs a statement on both workers and compares: the number of lines that both wrote. `allowed` bounds it, and nothing may be written
/// then that the other reads. What a statement always shares is there each time it is looked at; a line that two neighbours on the heap
/// happened to get, or the turn of a background thread, is not.
fn compare(clients: &mut [Client; 2], name: &str, allowed: Option<usize>, mut run: impl FnMut(&mut Conn, usize)) -> usize {
    const LOOKS: usize = 3;
    for look in 1.. {
        for round in 0..WARM_UP * 2 {
            run(&mut clients[round % 2].conn, round % 2);
        }
        let traces: Vec<Trace> =
            clients.iter_mut().enumerate().map(|(index, client)| trace(client.thread, || run(&mut client.conn, index))).collect();
        let (first, second) = (&traces[0], &traces[1]);
        let written = first.shared_with(second);
        let taken: Vec<_> = first.taken_from(second).into_iter().chain(second.taken_from(first)).collect();
        println!(
            "{name:<24} {:>6} instructions, {:>2} locked, {:>3} lines written; {} also by another worker, {} only read by it",
            first.instructions,
            first.locked,
            first.written.len(),
            written.len(),
            taken.len(),
        );
        let told = |what: &str, functions: &BTreeSet<String>| {
            format!("    {what}: {}\n", functions.iter().cloned().collect::<Vec<_>>().join("; "))
        };
        let lines: String = written
            .values()
            .map(|functions| told("written by both", functions))
            .chain(taken.iter().map(|(_, functions)| told("written and read", functions)))
            .collect();
        print!("{lines}");
        if allowed.is_none_or(|allowed| written.len() <= allowed && taken.is_empty()) {
            return written.len();
        }
        assert!(look < LOOKS, "{name} writes what another worker uses:\n{lines}");
    }
    unreachable!("the last look returns or fails")
}

#[test]
fn a_point_select_writes_nothing_that_is_shared() {
    if !stepping::is_possible() {
        println!("this machine does not trap after an instruction: nothing is tested");
        return;
    }
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
    let config = server::Config { tcp: Some(([127, 0, 0, 1], 0).into()), data_dir, workers, ..server::Config::default() };
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

fn statements(clients: &mut [Client; 2]) {
    let point = prepare(clients, "SELECT c FROM t WHERE id = ?");
    compare(clients, "point select, prepared", Some(0), |conn, index| {
        let found: Option<String> = conn.exec_first(&point[index], (KEYS[0],)).unwrap();
        assert_eq!(found.as_deref(), Some("row 500"));
    });
    compare(clients, "point select, text", Some(0), |conn, _| {
        let found: Option<String> = conn.query_first("SELECT c FROM t WHERE id = 500000").unwrap();
        assert_eq!(found.as_deref(), Some("row 500"));
    });
    let range = prepare(clients, "SELECT c FROM t WHERE id BETWEEN ? AND ?");
    compare(clients, "range select, 20 rows", Some(0), |conn, index| {
        let found: Vec<String> = conn.exec(&range[index], (KEYS[0], KEYS[0] + 19_999)).unwrap();
        assert_eq!(found.len(), 20);
    });
    let by_index = prepare(clients, "SELECT c FROM t WHERE k = ?");
    compare(clients, "select by an index", Some(0), |conn, index| {
        let found: Vec<String> = conn.exec(&by_index[index], (KEYS[0],)).unwrap();
        assert_eq!(found.len(), 1);
    });
    let mut n = 0;
    let update = prepare(clients, "UPDATE t SET c = CONCAT('n', ?) WHERE id = ?");
    let shared = compare(clients, "update of one row", Some(1), |conn, index| {
        n += 1;
        conn.exec_drop(&update[index], (n, KEYS[index])).unwrap();
    });
    assert_eq!(shared, 1, "every commit moves the clock: what is not seen here would not be seen above either");
    let insert = prepare(clients, "INSERT INTO t VALUES (?, ?, 'new')");
    compare(clients, "insert", None, |conn, index| {
        n += 1;
        conn.exec_drop(&insert[index], (KEYS[index] + n, KEYS[index] + n)).unwrap();
    });
    let indexed = prepare(clients, "UPDATE t SET k = ? WHERE id = ?");
    compare(clients, "update of an index", None, |conn, index| {
        n += 1;
        conn.exec_drop(&indexed[index], (KEYS[index] + n, KEYS[index])).unwrap();
    });
    let delete = prepare(clients, "DELETE FROM t WHERE id = ?");
    let mut next = KEYS.map(|key| key + 50_000);
    compare(clients, "delete", None, |conn, index| {
        next[index] += 1000;
        conn.exec_drop(&delete[index], (next[index],)).unwrap();
    });
}
