//! Definitions: from syntax to `table`'s operations, and the threads that run them.

mod threads;

pub use threads::DdlThreads;
