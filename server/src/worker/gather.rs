//! Gathers one answer from every worker.

use super::{Message, Worker, WorkerRemote};
use crate::shared::Shared;
use reactor::{OneShot, one_shot};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use sync::waits::Kind;

/// Runs `ask` on every worker and collects the answers, in no order. A worker that ends meanwhile gives none.
pub async fn gather<T: Send + 'static>(shared: &Shared, ask: impl Fn(&Rc<Worker>) -> T + Clone + Send + 'static) -> Vec<T> {
    let mut answers = Vec::with_capacity(shared.workers.len());
    for wait in ask_all(shared, ask) {
        answers.extend(wait.await);
    }
    answers
}

/// Like [`gather`], for at most `patience`; also returns whether all workers have answered.
pub async fn gather_for<T: Send + 'static>(
    worker: &Worker,
    patience: Duration,
    ask: impl Fn(&Rc<Worker>) -> T + Clone + Send + 'static,
) -> (Vec<T>, bool) {
    let mut waits = ask_all(&worker.shared, ask);
    let mut answers = Vec::with_capacity(waits.len());
    let mut end = pin!(worker.core.sleep_until(worker.core.now() + patience));
    poll_fn(|cx| {
        waits.retain_mut(|wait| match Pin::new(wait).poll(cx) {
            Poll::Ready(answer) => {
                answers.extend(answer);
                false
            }
            Poll::Pending => true,
        });
        if waits.is_empty() { Poll::Ready(()) } else { end.as_mut().poll(cx) }
    })
    .await;
    (answers, waits.is_empty())
}

fn ask_all<T: Send + 'static>(shared: &Shared, ask: impl Fn(&Rc<Worker>) -> T + Clone + Send + 'static) -> Vec<OneShot<T>> {
    let ask_one = |worker: &Arc<WorkerRemote>| {
        let (reply, wait) = one_shot();
        let wait = wait.named(Kind::Workers);
        let ask = ask.clone();
        worker.send(Message::Call(Box::new(move |worker| reply.send(ask(worker)))));
        wait
    };
    shared.workers.iter().map(ask_one).collect()
}
