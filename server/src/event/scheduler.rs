//! The scheduler: a task of the first worker. It reads the events after a change, starts those that are due, and sleeps
//! until the next one is due.
//!
//! Q1: the queue has an entry for each enabled event that is due some time. An event that was started for the last time
//!     has none, and is not queued again while it runs.

use super::execute::execute;
use super::zone_of;
use crate::session::{IDS, Listed, SessionInfo};
use crate::shared::Shared;
use crate::variables::Setting;
use crate::worker::{Message, Worker};
use os::time::Instant;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use sync::atomic::Ordering;
use types::event::{EventDef, EventStatus};
use types::temporal::MICROS_PER_SECOND;

/// The longest sleep while an event is due later: the machine's clock may be set.
const SLEEP_MAX: Duration = Duration::from_secs(60);

/// A running execution, in the list of these.
pub struct Running {
    shared: Arc<Shared>,
    pub event: Arc<EventDef>,
}

impl Running {
    fn begin(shared: &Arc<Shared>, event: &Arc<EventDef>) -> Self {
        shared.events.running.lock().push(Arc::clone(event));
        Self { shared: Arc::clone(shared), event: Arc::clone(event) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = self.shared.events.running.lock();
        if let Some(at) = running.iter().position(|event| Arc::ptr_eq(event, &self.event)) {
            running.swap_remove(at);
        }
    }
}

/// Starts the scheduler on a worker.
pub fn start(worker: &Rc<Worker>) {
    let own = Rc::clone(worker);
    worker.core.spawn(async move {
        *own.shared.events.waker.lock() = Some(own.core.current_waker());
        while !own.is_stopping() {
            if is_on(&own.shared) { run(&own).await } else { wait(&own, None, None).await }
        }
    });
}

fn is_on(shared: &Shared) -> bool {
    shared.globals().get(IDS.event_scheduler).as_bool()
}

/// Runs until the server stops, or the scheduler is turned off or killed.
async fn run(worker: &Rc<Worker>) {
    let shared = &worker.shared;
    let info = Rc::new(SessionInfo::new(shared.next_connection_id(), "localhost".to_owned(), &worker.core));
    "event_scheduler".clone_into(&mut info.user.borrow_mut());
    "event_scheduler@localhost".clone_into(&mut info.account.borrow_mut());
    info.command.set("Daemon");
    let _listed = Listed::new(worker, &info);
    tracing::debug!("the event scheduler is on");
    let mut queue = Queue::default();
    while !worker.is_stopping() && is_on(shared) {
        if info.killed() != expr::kill::NONE {
            tracing::info!("the event scheduler was killed; event_scheduler is OFF");
            shared.change_globals(|globals| globals.set_whole(IDS.event_scheduler, Setting::UInt(0)));
            return;
        }
        let now_us = worker.wall_clock_us();
        let now = now_us.div_euclid(MICROS_PER_SECOND);
        for event in queue.look(shared, now) {
            conclude(shared, &event).await;
        }
        queue.start_due(shared, now);
        let next = queue.next();
        info.state.set(if next.is_some() { "Waiting for next activation" } else { "Waiting on empty queue" });
        info.since.set(worker.core.now());
        let until = |next: i64| u64::try_from(next * MICROS_PER_SECOND - now_us).map_or(Duration::ZERO, Duration::from_micros);
        let deadline = next.map(|next| worker.core.now() + until(next).min(SLEEP_MAX));
        wait(worker, Some(&info), deadline).await;
    }
    tracing::debug!("the event scheduler is off");
}

/// Waits for a change, a kill, the server's end, or a time.
async fn wait(worker: &Rc<Worker>, info: Option<&SessionInfo>, deadline: Option<Instant>) {
    std::future::poll_fn(|_| {
        let is_killed = || info.is_some_and(|info| info.killed() != expr::kill::NONE);
        let is_due = || deadline.is_some_and(|deadline| worker.core.now() >= deadline);
        if worker.shared.events.take_change() || worker.is_stopping() || is_killed() || is_due() {
            return Poll::Ready(());
        }
        if let Some(deadline) = deadline {
            worker.core.wake_at(deadline);
        }
        Poll::Pending
    })
    .await;
}

/// Disables or drops an event that will not be run any more.
pub async fn conclude(shared: &Shared, event: &EventDef) {
    let (database, name) = (event.program.database.clone(), event.program.name.clone());
    tracing::debug!(event = format!("{database}.{name}"), "an event is over");
    let wait = shared.ddl.run_short(move |tables, worker| {
        let is_over = |event: &EventDef, last| event.due(now(), last, &zone_of(event)).is_none();
        tables.conclude_event(worker, &database, &name, is_over)
    });
    if let Some(Err(error)) = wait.await {
        let error = crate::error::Error::from(error).describe().message;
        tracing::error!(event = event.full_name(), error, "an event that is over could not be dropped or disabled");
    }
}

fn now() -> i64 {
    os::time::since_epoch().as_secs() as i64
}

/// Of the events of one version of the schema, when each is due.
#[derive(Default)]
struct Queue {
    version: u64,
    entries: HashMap<(String, String), Entry>,
}

struct Entry {
    event: Arc<EventDef>,
    due: i64,
}

impl Queue {
    /// Reads the events if the schema has changed; returns those that have ended.
    fn look(&mut self, shared: &Shared, now: i64) -> Vec<Arc<EventDef>> {
        let schema = shared.database.schema();
        let mut over = Vec::new();
        if schema.version == self.version {
            return over;
        }
        self.version = schema.version;
        let mut before = std::mem::take(&mut self.entries);
        for database in schema.databases.values() {
            let enabled = |(_, event): &(&String, &Arc<EventDef>)| event.status == EventStatus::Enabled;
            for (key, event) in database.events.iter().filter(enabled) {
                let name = (database.name.clone(), key.clone());
                let kept = before.remove(&name).filter(|entry| Arc::ptr_eq(&entry.event, event));
                let entry = match kept {
                    Some(entry) => entry,
                    // Q1
                    None if shared.events.is_running(event) => continue,
                    None => match event.due(now, shared.database.event_run(event), &zone_of(event)) {
                        Some(due) => Entry { event: Arc::clone(event), due },
                        None => {
                            over.push(Arc::clone(event));
                            continue;
                        }
                    },
                };
                self.entries.insert(name, entry);
            }
        }
        over
    }

    /// Starts the events that are due, and queues their next times.
    fn start_due(&mut self, shared: &Arc<Shared>, now: i64) {
        self.entries.retain(|_, entry| {
            if entry.due > now {
                return true;
            }
            let again = entry.event.due(now, Some(now), &zone_of(&entry.event));
            let running = Running::begin(shared, &entry.event);
            // Relaxed: any worker will do.
            let turn = shared.events.turn.fetch_add(1, Ordering::Relaxed);
            let worker = &shared.workers[turn % shared.workers.len()];
            worker.send(Message::Call(Box::new(move |worker| {
                let own = Rc::clone(worker);
                worker.core.spawn(execute(own, running, now, again.is_none()));
            })));
            entry.due = again.unwrap_or(now);
            again.is_some()
        });
    }

    fn next(&self) -> Option<i64> {
        self.entries.values().map(|entry| entry.due).min()
    }
}
