//! Reads by primary key allocate nothing on the heap, once a session's buffers are warm.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use table::embedded::{Acknowledge, ColumnType, Embedded, NewTable, Options, TypeKind, Value};

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

#[test]
fn reads_allocate_nothing() {
    let folder = std::env::temp_dir().join(format!("heddle-table-allocations-{}", std::process::id()));
    let embedded =
        Embedded::open(&Options { buffer_pool_bytes: 64 << 20, sync: false, ..Options::new(&folder) }).expect("a new directory");
    let table = embedded
        .create_table(
            NewTable::new("shop", "items")
                .column("id", ColumnType::new(TypeKind::BigInt))
                .column("name", ColumnType::new(TypeKind::VarChar { length: 40 }))
                .primary_key(&["id"]),
        )
        .expect("a new table");
    let mut session = embedded.session().expect("a session");
    let rows: Vec<_> = (0..5000).map(|id| [Value::Int(id), Value::text(b"a name")]).collect();
    session.insert(&table, &rows, Acknowledge::NotDurable).expect("a batch");
    // Some are not there.
    let keys: Vec<_> = (0..300).map(|n| [Value::Int(n * 17)]).collect();
    for batch in [1, 10, 300] {
        let mut counted = 0;
        for _ in 0..3 {
            let before = ALLOCATIONS.get();
            let mut found = 0;
            for keys in keys.chunks(batch) {
                session
                    .read(&table, keys, |_, row| found += usize::from(row.is_some_and(|row| row.get(1).is_ok())))
                    .expect("a read");
            }
            counted = ALLOCATIONS.get() - before;
            assert_eq!(found, 295);
        }
        assert_eq!(counted, 0, "batches of {batch}");
    }
    drop(session);
    embedded.close().expect("nothing is open");
    std::fs::remove_dir_all(&folder).ok();
}
