//! What a call of the storage may wait for, and how a thread waits for it.

use crate::Error;
use crate::buffer::PageStall;
use crate::wal::{CheckpointStall, DurableStall};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// What to wait for before the same call is made again. A future for any executor.
#[must_use]
#[derive(Debug)]
pub enum Stall {
    /// A page is being read, or a frame for it is being made free.
    Page(PageStall),
    /// The log is being flushed.
    Durable(DurableStall),
    /// Changed pages are being written, so that a restart need not redo too much.
    Checkpoint(CheckpointStall),
}

impl Future for Stall {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.get_mut() {
            Self::Page(stall) => stall.poll_ready(cx),
            Self::Durable(stall) => stall.poll_ready(cx),
            Self::Checkpoint(stall) => stall.poll_ready(cx),
        }
    }
}

impl Stall {
    /// Waits on this thread, which must be one that may block.
    pub fn wait_blocking(self) {
        block_on(self)
    }
}

/// Why a call did not answer.
#[derive(Debug)]
pub enum Interrupt {
    Stall(Stall),
    Error(Error),
}

impl From<Error> for Interrupt {
    fn from(e: Error) -> Self {
        Self::Error(e)
    }
}

impl Interrupt {
    /// Says to which tree the page belongs that a stall is for.
    #[cold]
    pub(crate) fn of(self, tree: u32, level: u8) -> Self {
        match self {
            Self::Stall(Stall::Page(stall)) => Self::Stall(Stall::Page(stall.of(tree, level))),
            other => other,
        }
    }
}

pub type Result<T> = std::result::Result<T, Interrupt>;

struct ThreadWaker(os::thread::Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let waker = Waker::from(Arc::new(ThreadWaker(os::thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(out) => return out,
            Poll::Pending => os::thread::park(),
        }
    }
}

/// Repeats a call, waiting out its stalls on this thread.
///
/// # Errors
/// The call's error.
pub fn blocking<T>(mut call: impl FnMut() -> Result<T>) -> std::result::Result<T, Error> {
    loop {
        match call() {
            Ok(value) => return Ok(value),
            Err(Interrupt::Error(e)) => return Err(e),
            Err(Interrupt::Stall(stall)) => stall.wait_blocking(),
        }
    }
}
