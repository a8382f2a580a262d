//! Statements that wait: SLEEP, GET_LOCK, KILL, time limits, and the thread that others want too.

mod support;

use exec::{Host, LocalFuture, VirtualRows};
use expr::{Error, Result, kill};
use std::cell::RefCell;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;
use support::Fixture;
use types::schema::TableDef;

/// Sleeps no time at all and notes how long it should have been; kills the session after so many sleeps.
#[derive(Default)]
struct Clock {
    slept: RefCell<Vec<u64>>,
    kill: Option<(usize, Arc<AtomicU8>)>,
}

impl expr::Host for Clock {
    fn release_lock(&self, _connection: u32, _name: &str) -> Option<bool> {
        Some(true)
    }
    fn release_all_locks(&self, _connection: u32) -> u64 {
        1
    }
    fn lock_holder(&self, _name: &str) -> Option<u32> {
        None
    }
}

impl Host for Clock {
    fn sleep(&self, duration: Duration) -> LocalFuture<'_, ()> {
        self.slept.borrow_mut().push(duration.as_secs());
        if let Some((after, killed)) = &self.kill
            && self.slept.borrow().len() == *after
        {
            killed.store(kill::QUERY, Ordering::Relaxed);
            return Box::pin(std::future::pending());
        }
        Box::pin(async {})
    }
    fn get_lock(&self, _connection: u32, name: &str, timeout: Option<Duration>) -> LocalFuture<'_, Result<bool>> {
        let free = name == "free" || timeout.is_none();
        Box::pin(async move { Ok(free) })
    }
    fn virtual_rows(&self, _table: &TableDef, _equal: &[(usize, Vec<u8>)]) -> Option<Box<dyn VirtualRows + '_>> {
        None
    }
}

fn table_with_rows() -> (Fixture, support::Client) {
    let fixture = Fixture::new(1);
    fixture.create("t", "id int not null, g int, primary id");
    let mut client = fixture.client(0);
    client.run("INSERT INTO t VALUES (1, 1), (2, 1), (3, 2), (4, 3)");
    (fixture, client)
}

#[test]
fn every_sleep_is_slept_once() {
    let (_fixture, mut client) = table_with_rows();
    let mut check = |statement: &str, expected: &str, slept: &[u64]| {
        let clock = Clock::default();
        let prepared = client.prepare(statement);
        let answer = client.execute_with(&prepared, &[], &clock).expect("it ends");
        assert_eq!(answer.show(), expected, "{statement}");
        assert_eq!(*clock.slept.borrow(), slept, "{statement}");
    };
    check("SELECT SLEEP(1)", "0", &[1]);
    check("SELECT SLEEP(1), SLEEP(2)", "0,0", &[1, 2]);
    check("SELECT SLEEP(id) FROM t", "0;0;0;0", &[1, 2, 3, 4]);
    check("SELECT id FROM t WHERE SLEEP(id) + SLEEP(9) = 0 AND id < 3", "1;2", &[1, 9, 2, 9]);
    check("SELECT SUM(SLEEP(id)), MAX(SLEEP(5)) FROM t WHERE id < 3", "0,0", &[1, 5, 2, 5]);
    check("SELECT g FROM t GROUP BY g HAVING SLEEP(g) = 0", "1;2;3", &[1, 2, 3]);
    check("SELECT id FROM t WHERE id > 2 ORDER BY SLEEP(id), id", "3;4", &[3, 4]);
    check("UPDATE t SET g = g + SLEEP(id) WHERE id < 3", "0 Rows matched: 2  Changed: 0  Warnings: 0", &[1, 2]);
    check("INSERT INTO t VALUES (10, SLEEP(3)), (11, SLEEP(4))", "2 Records: 2  Duplicates: 0  Warnings: 0", &[3, 4]);
    check("SELECT GET_LOCK('free', 1), GET_LOCK('taken', 2), GET_LOCK('taken', -1)", "1,0,1", &[]);
    check("SELECT BENCHMARK(100000, 1 + 1)", "0", &[]);
}

#[test]
fn a_kill_ends_a_sleep_and_then_the_statement() {
    let (_fixture, mut client) = table_with_rows();
    let clock = |after| Clock { kill: Some((after, client.session.killed.clone())), ..Clock::default() };
    let (first, second) = (clock(1), clock(2));
    let alone = client.prepare("SELECT SLEEP(100)");
    assert_eq!(client.execute_with(&alone, &[], &first).expect("SLEEP answers 1").show(), "1");
    let insert = client.prepare("INSERT INTO t VALUES (5, SLEEP(1)), (6, SLEEP(100)), (7, 0)");
    let result = client.execute_with(&insert, &[], &second);
    // The kill is noticed at the next look-up, or SLEEP's answer is all there is; either way no half statement is left.
    match result {
        Err(error) => assert_eq!(error, Error::Interrupted),
        Ok(answer) => assert_eq!(answer.show(), "3 Records: 3  Duplicates: 0  Warnings: 0"),
    }
    let count = client.run("SELECT COUNT(*) FROM t");
    assert!(count == "4" || count == "7", "{count}");
    assert!(!client.session.is_killed());
}

/// Rows that are counted without being read are counted as examined, and a KILL and the time limit are heeded all the same.
#[test]
fn a_count_by_pages_is_ended_like_any_other() {
    let fixture = Fixture::new(1);
    fixture.create("t", "id int not null auto, k int not null, primary id, key k");
    let mut client = fixture.client(0);
    client.run("INSERT INTO t (k) VALUES (1), (2), (3), (4), (5), (6), (7), (8)");
    for _ in 0..9 {
        client.run("INSERT INTO t (k) SELECT k FROM t");
    }
    for text in
        ["SELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM t WHERE id > 0", "SELECT COUNT(*) FROM t WHERE k > 0 AND id >= 1"]
    {
        client.session.rows_examined.set(0);
        assert_eq!(client.run(text), "4096");
        // And the row that is given.
        assert_eq!(client.session.rows_examined.get(), 4097, "{text}");
        client.session.killed.store(kill::QUERY, Ordering::Relaxed);
        assert_eq!(client.fail(text), Error::Interrupted, "{text}");
        assert!(!client.session.is_killed());
    }
    assert_eq!(client.run("SELECT COUNT(*) FROM t WHERE k > 4"), "2048");
    assert_eq!(client.run("SELECT COUNT(*) FROM t WHERE k > 4 AND k % 2 = 0"), "1024");
}

#[test]
fn a_statement_gives_the_thread_to_others_and_keeps_its_time_limit() {
    let fixture = Fixture::new(1);
    fixture.create("t", "id int not null auto, k int, primary id");
    let mut client = fixture.client(0);
    client.run("INSERT INTO t (k) VALUES (1), (2), (3), (4), (5), (6), (7), (8)");
    for _ in 0..5 {
        client.run("INSERT INTO t (k) SELECT k FROM t");
    }
    let prepared = client.prepare("SELECT COUNT(*) FROM t a, t b WHERE a.k + b.k > 1000");
    let mut txn = client.worker.begin(client.isolation);
    txn.begin_statement(&client.worker);
    let mut sink = support::TextSink::default();
    let mut yields = 0;
    {
        let mut cx = exec::ExecContext {
            worker: &client.worker,
            txn: &mut txn,
            database: &client.database,
            session: &mut client.session,
            params: &[],
            host: &exec::NoHost,
        };
        let mut run = std::pin::pin!(exec::run_query(&mut cx, &prepared, &mut sink));
        let mut cx = Context::from_waker(Waker::noop());
        while run.as_mut().poll(&mut cx).is_pending() {
            yields += 1;
        }
    }
    assert!(txn.commit(&client.worker).is_none());
    assert_eq!(sink.rows, ["0"]);
    assert!(yields > 0, "65,536 rows take more than a millisecond");
    client.session.execution_time_max = Duration::from_millis(2);
    let slow = "SELECT COUNT(*) FROM t a, t b, t c WHERE a.k + b.k + c.k > 1000";
    assert_eq!(client.fail(slow), Error::QueryTimeout);
}
