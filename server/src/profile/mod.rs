//! SHOW SERVER PROFILE: which functions the workers' processor time goes to, by worker and by statement digest.
//!
//! ```text
//! statement    asks every worker to begin to sample itself (`os::profile`), waits, and asks them to end
//! worker       at the end of a statement during which a sample came: a label with the digest   (`profiled`)
//! thread       empties the workers' slots, finds the callers (`stacks`), at the end the names  (`names`)
//! ```
//!
//! F1: one profile at a time, of at most [`SECONDS_MAX`] seconds and [`HERTZ_MAX`] samples in a second for each worker.
//! F2: at most [`SAMPLES_MAX`] samples and labels and [`STACKS_MAX`] different stacks are kept; what is more is counted as
//!     lost.
//! F3: a sample belongs to the statement that its session ran at that moment: the worker's number, the session's task and
//!     the tick say which. Samples between statements, of statements of other profiles, and of ones that still run have
//!     none.
//! F4: the workers end to sample themselves also where the statement is killed or its client leaves (`Running`).

mod names;
mod stacks;

use crate::error::{Error, Result};
use crate::profiled::{Label, Labels, SAMPLES_MAX, Statement};
use crate::session::State;
use crate::shared::Shared;
use crate::worker::{Message, Worker, gather};
use os::profile::Samples;
use reactor::one_shot;
use stacks::{Collected, Stacks};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use sync::atomic::{AtomicBool, Ordering};
use sync::waits::Kind;

/// See F1.
pub const SECONDS_MAX: u64 = 60;
pub const HERTZ_MAX: u64 = 999;
/// See F2.
const STACKS_MAX: usize = 20_000;
/// How often the slots are emptied: they hold the samples of at least 64 ms.
const PAUSE: Duration = Duration::from_millis(40);

/// Samples of the same worker, statement and functions.
#[derive(Clone, Debug)]
pub struct Line {
    pub worker: usize,
    pub statement: Option<Arc<Statement>>,
    /// The functions from the outermost to the innermost, with `;` between.
    pub stack: String,
    pub samples: u64,
}

/// A profile that has ended.
#[derive(Debug, Default)]
pub struct Profile {
    pub lines: Vec<Line>,
    /// Samples for which there was no room.
    pub lost: u64,
}

/// F4
struct Running<'a>(&'a Arc<Shared>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.instruments.set_profiled(false);
        for worker in &self.0.workers {
            worker.send(Message::Call(Box::new(|_: &Rc<Worker>| os::profile::end())));
        }
        *self.0.profiler.labels.lock() = Labels::default();
        self.0.profiler.is_running.store(false, Ordering::Release);
    }
}

/// The thread that empties the slots is told to end.
struct Ends(Arc<AtomicBool>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Takes samples of all workers for so many seconds.
///
/// # Errors
/// Another profile runs; this machine has no profiler.
pub async fn run(state: &State<'_>, seconds: u64, hertz: u64) -> Result<Profile> {
    let shared = Arc::clone(&state.worker.shared);
    let (seconds, hertz) = (seconds.clamp(1, SECONDS_MAX), hertz.clamp(2, HERTZ_MAX) as u32);
    if shared.profiler.is_running.swap(true, Ordering::AcqRel) {
        return Err(Error::Internal("a profile of this server runs already: one at a time".to_owned()));
    }
    let running = Running(&shared);
    shared.instruments.set_profiled(true);
    let begin = move |worker: &Rc<Worker>| (worker.index, os::profile::begin(worker.core.current_task(), hertz));
    let mut rings: Vec<(usize, Arc<Samples>)> = Vec::new();
    for (worker, begun) in gather(&shared, begin).await {
        let samples = begun.map_err(|error| Error::NotSupported(format!("SHOW SERVER PROFILE on this system ({error})")))?;
        rings.push((worker, samples));
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let (reply, collected) = one_shot();
    let mut collected = collected.named(Kind::Aside);
    let ends = Ends(Arc::clone(&is_over));
    let spawned = os::thread::Builder::new().name("heddle-profile".to_owned()).spawn(move || {
        let mut stacks = Stacks::new(SAMPLES_MAX, STACKS_MAX);
        while !is_over.load(Ordering::Relaxed) {
            os::thread::sleep(PAUSE);
            rings.iter().for_each(|(worker, samples)| stacks.take(*worker, samples));
        }
        reply.send(stacks.finish(&rings));
    });
    spawned.map_err(|error| Error::Internal(format!("the profile's thread cannot be started: {error}")))?;
    let end = state.worker.core.now() + Duration::from_secs(seconds);
    let mut wait = std::pin::pin!(sync::waits::named(sync::waits::Cause::of(Kind::Sleep), state.worker.core.sleep_until(end)));
    let is_whole = std::future::poll_fn(|cx| match state.info.killed() {
        expr::kill::NONE => wait.as_mut().poll(cx).map(|()| true),
        _ => Poll::Ready(false),
    })
    .await;
    drop(ends);
    if !is_whole {
        return Err(Error::Exec(expr::Error::Interrupted));
    }
    // No sample comes any more when every worker has answered.
    shared.instruments.set_profiled(false);
    gather(&shared, |_: &Rc<Worker>| os::profile::end()).await;
    let collected = std::future::poll_fn(|cx| std::pin::Pin::new(&mut collected).poll(cx)).await;
    let collected = collected.ok_or_else(|| Error::Internal("the profile's thread ended".to_owned()))?;
    let labels = std::mem::take(&mut *shared.profiler.labels.lock());
    drop(running);
    // Names take a while to find, so a thread does it.
    let (reply, named) = one_shot();
    let mut named = named.named(Kind::Aside);
    let spawned =
        os::thread::Builder::new().name("heddle-profile".to_owned()).spawn(move || reply.send(lines(&collected, labels.all)));
    spawned.map_err(|error| Error::Internal(format!("the profile's thread cannot be started: {error}")))?;
    let named = std::future::poll_fn(|cx| std::pin::Pin::new(&mut named).poll(cx)).await;
    named.ok_or_else(|| Error::Internal("the profile's thread ended".to_owned()))
}

/// Adds the samples up.
fn lines(collected: &Collected, mut labels: Vec<Label>) -> Profile {
    labels.sort_by_key(|label| (label.worker, label.task, label.began));
    let names = names::of(&collected.stacks);
    let mut sums: BTreeMap<(usize, Option<Arc<Statement>>, usize), u64> = BTreeMap::new();
    for sample in &collected.samples {
        let statement = statement_of(&labels, sample.worker, sample.task, sample.tick);
        *sums.entry((sample.worker, statement, sample.stack)).or_default() += 1;
    }
    // Stacks of different addresses may have the same names.
    let mut lines: BTreeMap<(usize, Option<Arc<Statement>>, &str), u64> = BTreeMap::new();
    for ((worker, statement, stack), samples) in sums {
        *lines.entry((worker, statement, &names[stack])).or_default() += samples;
    }
    let line = |((worker, statement, stack), samples): ((usize, Option<Arc<Statement>>, &str), u64)| Line {
        worker,
        statement,
        stack: stack.to_owned(),
        samples,
    };
    Profile { lines: lines.into_iter().map(line).collect(), lost: collected.lost }
}

/// F3. `labels` are sorted.
fn statement_of(labels: &[Label], worker: usize, task: u32, tick: u64) -> Option<Arc<Statement>> {
    let after = labels.partition_point(|label| (label.worker, label.task, label.began) <= (worker, task, tick));
    let label = labels[..after].last()?;
    let is_of = label.worker == worker && label.task == task && tick <= label.ended;
    is_of.then(|| Arc::clone(&label.statement))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_find_their_statements() {
        let statement = |text: &str| Arc::new(Statement { database: None, digest: String::new(), text: text.to_owned() });
        let label = |worker, task, began, ended, text| Label { worker, task, began, ended, statement: statement(text) };
        let labels = [label(0, 1, 10, 20, "a"), label(0, 1, 30, 40, "b"), label(0, 2, 5, 50, "c"), label(1, 1, 0, 100, "d")];
        let found = |worker, task, tick| statement_of(&labels, worker, task, tick).map(|found| found.text.clone());
        let named = |text: &str| Some(text.to_owned());
        assert_eq!([found(0, 1, 10), found(0, 1, 20), found(0, 1, 35)], [named("a"), named("a"), named("b")]);
        assert_eq!([found(0, 2, 35), found(1, 1, 99)], [named("c"), named("d")]);
        assert_eq!([found(0, 1, 9), found(0, 1, 25), found(0, 1, 41), found(0, 3, 10), found(2, 1, 10)], [const { None }; 5]);
    }
}
