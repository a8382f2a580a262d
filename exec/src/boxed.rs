//! Futures on the heap that are made where they lie.

use std::future::Future;
use std::pin::Pin;

/// `Box::pin(make())` without the copy: `Box::pin` makes the future on the stack and copies all of it to the heap, though nearly nothing
/// of it is set yet. A future that runs a statement has some ten kilobytes.
#[inline(always)]
pub fn boxed<F: Future>(make: impl FnOnce() -> F) -> Pin<Box<F>> {
    Box::into_pin(Box::write(Box::new_uninit(), make()))
}
