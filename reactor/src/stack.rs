//! How much of its stack a thread has used. Programs that call each other are stopped before the stack overflows.

use std::cell::Cell;

/// The stack size of a thread that parses or runs statements; reserved, and not touched before it is needed. At the
/// maximum nesting of statements (`sql::DEPTH_MAX`) and calls, less than 2 MiB are used, and several times that without
/// optimization.
pub const BYTES: usize = 32 << 20;

/// The maximum that a statement needs: no program begins with less than this left.
pub const RESERVED: usize = 8 << 20;

thread_local! {
    /// The start of the thread's stack; 0: not known.
    static TOP: Cell<usize> = const { Cell::new(0) };
}

/// The thread begins.
pub fn begin() {
    TOP.set(here());
}

/// Bytes of the stack in use; 0 in a thread that has not recorded its start.
pub fn used() -> usize {
    match TOP.get() {
        0 => 0,
        top => top.saturating_sub(here()),
    }
}

#[inline(never)]
fn here() -> usize {
    let mark = 0u8;
    (&raw const mark).addr()
}
