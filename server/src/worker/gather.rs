//! One answer from every worker.

use super::{Message, Worker};
use crate::shared::Shared;
use reactor::one_shot;
use std::rc::Rc;

/// Runs `ask` on every worker and collects the answers, in no order. A worker that ends meanwhile gives none.
pub async fn gather<T: Send + 'static>(shared: &Shared, ask: impl Fn(&Rc<Worker>) -> T + Clone + Send + 'static) -> Vec<T> {
    let mut waits = Vec::with_capacity(shared.workers.len());
    for worker in &shared.workers {
        let (reply, wait) = one_shot();
        let ask = ask.clone();
        worker.send(Message::Call(Box::new(move |worker| reply.send(ask(worker)))));
        waits.push(wait);
    }
    let mut answers = Vec::with_capacity(waits.len());
    for wait in waits {
        answers.extend(wait.await);
    }
    answers
}
