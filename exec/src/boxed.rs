//! Futures that are built in place on the heap.

use std::future::Future;
use std::pin::Pin;

/// `Box::pin(make())` without the copy. `Box::pin` builds the future on the stack and copies all of it to the heap, though nearly nothing
/// of it is initialized. A future that runs a statement is about ten kilobytes long.
#[inline(always)]
pub fn boxed<F: Future>(make: impl FnOnce() -> F) -> Pin<Box<F>> {
    Box::into_pin(Box::write(Box::new_uninit(), make()))
}
