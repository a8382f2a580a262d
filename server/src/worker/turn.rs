//! A worker's part in its event loop: messages of other threads, sessions, and the end.

use super::{Message, Worker};
use crate::session;
use reactor::Host;
use reactor::connection::Stream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;
use sync::atomic::Ordering;

/// How long running statements may go on when the server stops.
const STOP_GRACE: Duration = Duration::from_secs(2);

impl Worker {
    fn start_session(self: &Rc<Self>, stream: Stream, id: u32, admin: bool) {
        let worker = Rc::clone(self);
        self.core.spawn(async move {
            let load = LoadGuard(Rc::clone(&worker));
            session::serve(worker, stream, id, admin).await;
            drop(load);
        });
    }

    /// Ends the sessions that still run when the grace is over.
    fn hurry(&self) {
        let Some(since) = self.stopping_since.get() else { return };
        if self.core.now() > since + STOP_GRACE {
            for session in self.sessions.borrow().values() {
                session.kill(expr::kill::CONNECTION);
            }
        }
    }
}

/// Takes a session off the worker's load, however it ends.
struct LoadGuard(Rc<Worker>);

impl Drop for LoadGuard {
    fn drop(&mut self) {
        // Relaxed: the acceptor only needs a rough figure.
        self.0.core.load().fetch_sub(1, Ordering::Relaxed);
    }
}

impl Host for Worker {
    type Message = Message;

    fn message(self: &Rc<Self>, message: Message) {
        match message {
            Message::Connection { stream, id, admin } => self.start_session(stream, id, admin),
            Message::Call(call) => {
                if catch_unwind(AssertUnwindSafe(|| call(self))).is_err() {
                    tracing::error!("a call of another thread panicked");
                }
            }
            Message::Stop => {
                self.stopping_since.set(Some(self.core.now()));
                for session in self.sessions.borrow().values() {
                    session.stopping.set(true);
                }
                self.core.wake_all();
                let worker = Rc::clone(self);
                // Keeps a timer running, so that the loop turns until the sessions have ended.
                self.core.spawn(async move {
                    while worker.core.live() > 1 {
                        worker.core.sleep_until(worker.core.now() + Duration::from_millis(20)).await;
                        worker.hurry();
                    }
                });
            }
        }
    }

    fn turn(&self) {
        self.engine.tick();
    }

    fn sleeps(&self) {
        self.engine.park();
    }

    fn company(&self, company: txn::Company) {
        self.engine.set_company(company);
    }

    fn is_done(&self) -> bool {
        self.is_stopping() && self.core.live() == 0
    }
}
