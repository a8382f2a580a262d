//! A prepared point select allocates nothing on the heap, once its buffers are warm.

mod support;

use exec::{ExecContext, NoHost, RowSink};
use sql::plan::OutputColumn;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::task::{Context, Poll};
use support::{Fixture, block_on};
use types::{ColumnType, Value};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts the allocations of the thread that makes them.
struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; counting touches only a thread-local cell without a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps `GlobalAlloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Takes values into a buffer that is there already.
struct Buffer {
    bytes: Vec<u8>,
    rows: u64,
}

impl RowSink for Buffer {
    fn start(&mut self, _columns: &[OutputColumn]) {
        self.bytes.clear();
    }
    fn begin_row(&mut self) {}
    fn value(&mut self, value: &Value<'_>, _ty: &ColumnType) {
        match value {
            Value::Bytes(s) => self.bytes.extend_from_slice(s),
            Value::Int(n) => self.bytes.extend_from_slice(&n.to_le_bytes()),
            _ => self.bytes.push(0),
        }
    }
    fn end_row(&mut self) {
        self.rows += 1;
    }
    fn cancel_row(&mut self) {}
    fn is_full(&self) -> bool {
        false
    }
    fn poll_drain(&mut self, _cx: &mut Context<'_>) -> Poll<expr::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The number of allocations of one execution, after some that warm the buffers up.
fn allocations(statement: &str, params: &[Value<'_>], rows: u64) -> u64 {
    let fixture = Fixture::new(1);
    fixture.create(
        "sbtest1",
        "id int not null auto, k int not null, c char(120) not null, pad char(60) not null, primary id, key k",
    );
    let mut client = fixture.client(0);
    let insert = client.prepare("INSERT INTO sbtest1 (k, c, pad) VALUES (?, ?, ?)");
    for k in 0..300 {
        client.execute(&insert, &[Value::Int(k), Value::text(b"some text"), Value::text(b"padding")]).expect("no duplicate");
    }
    let prepared = client.prepare(statement);
    let mut sink = Buffer { bytes: Vec::with_capacity(1 << 16), rows: 0 };
    let mut counted = 0;
    block_on(async {
        for _ in 0..5 {
            let mut txn = client.worker.begin(client.isolation);
            txn.begin_statement(&client.worker);
            let mut cx = ExecContext {
                worker: &client.worker,
                txn: &mut txn,
                database: &client.database,
                session: &mut client.session,
                params,
                host: &NoHost,
            };
            let before = ALLOCATIONS.get();
            let done = exec::run_query(&mut cx, &prepared, &mut sink).await.expect("the query runs");
            counted = ALLOCATIONS.get() - before;
            assert_eq!(done.rows, rows);
            assert!(txn.commit(&client.worker).is_none(), "nothing was written");
            client.worker.tick();
        }
    });
    counted
}

#[test]
fn a_point_select_allocates_nothing() {
    assert_eq!(allocations("SELECT c FROM sbtest1 WHERE id = ?", &[Value::Int(150)], 1), 0);
}

#[test]
fn a_range_select_allocates_nothing() {
    assert_eq!(allocations("SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?", &[Value::Int(100), Value::Int(199)], 100), 0);
}

#[test]
fn a_sum_allocates_only_its_operators() {
    let count = allocations("SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?", &[Value::Int(100), Value::Int(199)], 1);
    assert!(count <= 20, "{count}");
}

#[test]
fn a_count_allocates_only_its_operators() {
    for text in ["SELECT COUNT(*) FROM sbtest1", "SELECT COUNT(*) FROM sbtest1 WHERE k < 1000"] {
        let count = allocations(text, &[], 1);
        assert!(count <= 20, "{count}: {text}");
    }
}

#[test]
fn rows_found_by_an_index_allocate_nothing() {
    assert_eq!(allocations("SELECT c FROM sbtest1 WHERE k BETWEEN ? AND ?", &[Value::Int(100), Value::Int(199)], 100), 0);
}

#[test]
fn a_sort_allocates_no_row() {
    let sorted = "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c";
    let count = allocations(sorted, &[Value::Int(100), Value::Int(199)], 100);
    assert!(count <= 50, "{count}");
}
