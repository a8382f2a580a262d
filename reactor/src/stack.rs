//! How much of its stack a thread has used: programs that call each other are ended before there is none.

use std::cell::Cell;

/// Stack of a thread that parses or runs statements, reserved and not touched before it is needed. As deep as statements (`sql::DEPTH_MAX`) and
/// calls of programs may nest they take less than 2 MiB, and several times that where the compiler does not optimize.
pub const BYTES: usize = 32 << 20;

/// What a statement may need, however deep it is: no program begins with less.
pub const RESERVED: usize = 8 << 20;

thread_local! {
    /// Where the thread's stack begins; 0: not known.
    static TOP: Cell<usize> = const { Cell::new(0) };
}

/// The thread begins.
pub fn begin() {
    TOP.set(here());
}

/// Bytes of the stack in use; 0 in a thread that did not tell where it began.
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
