//! An answer that crosses threads: one value, once.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use sync::Mutex;
use sync::waits::{self, Cause, Kind};

struct State<T> {
    value: Option<T>,
    waker: Option<Waker>,
    is_gone: bool,
}

/// The sending side. Dropping it without an answer ends the wait with `None`.
pub struct Reply<T>(Arc<Mutex<State<T>>>);

/// The waiting side.
#[must_use]
pub struct OneShot<T> {
    state: Arc<Mutex<State<T>>>,
    /// Why the task waits.
    kind: Kind,
}

/// A channel for one value.
pub fn one_shot<T>() -> (Reply<T>, OneShot<T>) {
    let state = Arc::new(Mutex::new(State { value: None, waker: None, is_gone: false }));
    (Reply(Arc::clone(&state)), OneShot { state, kind: Kind::Other })
}

impl<T> OneShot<T> {
    /// Says what a task that awaits this waits for.
    pub fn named(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }
}

impl<T> Reply<T> {
    /// Does anybody wait for it still?
    pub fn is_wanted(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub fn send(self, value: T) {
        self.0.lock().value = Some(value);
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_gone = true;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for OneShot<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = self.state.lock();
        if let Some(value) = state.value.take() {
            return Poll::Ready(Some(value));
        }
        if state.is_gone {
            return Poll::Ready(None);
        }
        state.waker = Some(cx.waker().clone());
        waits::pending(Cause::of(self.kind));
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_arrives_from_another_thread_or_is_known_to_be_lost() {
        let (reply, mut wait) = one_shot();
        std::thread::spawn(move || reply.send(7)).join().unwrap();
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(Pin::new(&mut wait).poll(&mut cx), Poll::Ready(Some(7)));

        let (reply, mut wait) = one_shot::<u8>();
        assert_eq!(Pin::new(&mut wait).poll(&mut cx), Poll::Pending);
        drop(reply);
        assert_eq!(Pin::new(&mut wait).poll(&mut cx), Poll::Ready(None));
    }
}
