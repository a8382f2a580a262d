//! A worker thread with its sessions: as in the server, each session is a future of one thread, and the thread sleeps when none can go on.

use os::thread::Thread;
use os::time::Instant;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use sync::atomic::{AtomicBool, Ordering};
use txn::Worker;

struct Flag {
    ready: AtomicBool,
    thread: Thread,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        if !self.ready.swap(true, Ordering::SeqCst) {
            self.thread.unpark();
        }
    }
}

struct Task {
    future: Pin<Box<dyn Future<Output = ()>>>,
    flag: Arc<Flag>,
}

/// Who sleeps, and until when.
#[derive(Clone, Default)]
pub struct Alarms(Rc<RefCell<Vec<(Instant, Waker)>>>);

impl Alarms {
    pub async fn sleep(&self, duration: Duration) {
        let until = Instant::now() + duration;
        std::future::poll_fn(|cx| {
            if Instant::now() >= until {
                return Poll::Ready(());
            }
            self.0.borrow_mut().push((until, cx.waker().clone()));
            Poll::Pending
        })
        .await
    }

    /// Wakes whose time has come; the next time of the others.
    fn ring(&self) -> Option<Instant> {
        let now = Instant::now();
        let mut waiting = Vec::new();
        for (until, waker) in self.0.take() {
            if until <= now { waker.wake() } else { waiting.push((until, waker)) }
        }
        let next = waiting.iter().map(|(until, _)| *until).min();
        self.0.borrow_mut().append(&mut waiting);
        next
    }
}

/// Runs all sessions of a worker to their end.
pub fn run(worker: &Worker, alarms: &Alarms, sessions: Vec<Pin<Box<dyn Future<Output = ()>>>>) {
    let flag = || Arc::new(Flag { ready: AtomicBool::new(true), thread: os::thread::current() });
    let mut tasks: Vec<Task> = sessions.into_iter().map(|future| Task { future, flag: flag() }).collect();
    while !tasks.is_empty() {
        worker.tick();
        let mut polled = false;
        tasks.retain_mut(|task| {
            if !task.flag.ready.swap(false, Ordering::SeqCst) {
                return true;
            }
            polled = true;
            let waker = Waker::from(task.flag.clone());
            task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending()
        });
        let next = alarms.ring();
        if !polled && !tasks.iter().any(|task| task.flag.ready.load(Ordering::SeqCst)) {
            worker.park();
            match next {
                None => os::thread::park(),
                Some(until) => os::thread::park_timeout(until.saturating_duration_since(Instant::now())),
            }
        }
    }
    worker.park();
}
