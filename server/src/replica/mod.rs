//! The server as a replica of another one: CHANGE REPLICATION SOURCE TO, START, STOP and RESET REPLICA, SHOW REPLICA STATUS.
//!
//! ```text
//! source -> link -> receiver (a thread) -> queue in memory -> applier (a task of a worker) -> lanes (tasks of all workers) -> rows
//!                                                                    |
//!                                                                    +-> definitions, large groups
//! ```
//! - `settings` keeps what CHANGE REPLICATION SOURCE TO has set. `state` is what the threads and sessions share.
//! - `link` is the connection to the source, `receiver` reads it. `applier` takes groups apart, `rows` writes their rows, `cascade` those of foreign keys.
//! - `show` makes SHOW REPLICA STATUS.
//!
//! R1: the rows of a group and its GTID are in one transaction of the engine (`Terms::note`), so a crash loses both or neither; what is
//!     asked of the source after a start is what `gtid_executed` does not have.
//! R2: there is no relay log. A group is applied as it comes, and is asked for again if it did not come as a whole.

mod applier;
mod cascade;
mod lanes;
mod link;
mod receiver;
mod rows;
pub mod settings;
mod show;
pub mod state;
mod tls;

pub use show::status;

use crate::error::{Error, Result};
use crate::session::State;
use crate::shared::Shared;
use crate::worker::{Message, Worker};
use conditions::Condition;
use expr::Level;
use settings::Settings;
use sql::ast::{ReplicaChange, ReplicaStatement, ReplicaThreads};
use state::{Inner, Replica, Trouble};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use sync::waits::{self, Cause, Kind};

/// The server has started: replication goes on.
pub fn start(worker: &Rc<Worker>) {
    let shared = &worker.shared;
    let is_kept_off = shared.globals().get(crate::variables::known("skip_replica_start")).as_bool();
    let mut inner = shared.replica.inner.lock();
    if inner.settings.is_none() || is_kept_off {
        return;
    }
    if shared.binlog.is_none() {
        tracing::error!("replica: the binary log is off (--log-bin), so replication does not start");
        return;
    }
    (inner.wants_receiver, inner.wants_applier) = (true, true);
    start_threads(shared, &mut inner);
}

/// Starts what is wanted and does not run.
fn start_threads(shared: &Arc<Shared>, inner: &mut Inner) {
    if inner.wants_applier && !inner.applier_lives {
        inner.applier_lives = true;
        inner.applier_trouble = Trouble::default();
        // Q3
        inner.wanted_generation += 1;
        Replica::hang_up(inner);
        shared.workers[0].send(Message::Call(Box::new(applier::start)));
    }
    if inner.wants_receiver && !inner.receiver_lives {
        let of_thread = Arc::clone(shared);
        let thread = os::thread::Builder::new().name("heddle-replica".to_owned()).spawn(move || receiver::run(&of_thread));
        match thread {
            Ok(_) => {
                inner.receiver_lives = true;
                inner.receiver_trouble = Trouble::default();
                inner.receiving = state::Receiving::Connecting;
            }
            Err(error) => {
                inner.wants_receiver = false;
                inner.receiver_trouble = Trouble::new(0, format!("the thread cannot be started: {error}"));
            }
        }
    }
}

/// Runs a statement of a replica.
///
/// # Errors
/// As MySQL's; 1235 for what is not there; I/O.
pub async fn run(state: &mut State<'_>, statement: &ReplicaStatement<'_>) -> Result<()> {
    if let Some(channel) = statement.channel.filter(|channel| !channel.is_empty()) {
        let is_new = matches!(statement.change, ReplicaChange::Source(_));
        let channel = String::from_utf8_lossy(channel).into_owned();
        return Err(if is_new {
            Error::NotSupported("a channel of replication with a name".to_owned())
        } else {
            Condition::ReplicaChannelDoesNotExist { channel: channel.into() }.into()
        });
    }
    match statement.change {
        ReplicaChange::Source(options) => {
            if state.execution.transaction.is_explicit() {
                return Err(Condition::LockOrActiveTransaction.into());
            }
            state.binary_log()?;
            let next = {
                let inner = state.worker.shared.replica.inner.lock();
                if inner.receiver_lives || inner.applier_lives {
                    return Err(Condition::ReplicaChannelMustStop.into());
                }
                let mut next = inner.settings.clone().unwrap_or_default();
                next.change(options)?;
                next
            };
            keep(state, Some(next)).await
        }
        ReplicaChange::Start(_, Some(clause)) => Err(Error::NotSupported(format!("START REPLICA ... {clause}"))),
        ReplicaChange::Start(threads, None) => start_replica(state, threads),
        ReplicaChange::Stop(threads) => stop_replica(state, threads).await,
        ReplicaChange::Reset { all } => {
            let next = {
                let inner = state.worker.shared.replica.inner.lock();
                if inner.receiver_lives || inner.applier_lives {
                    return Err(Condition::ReplicaChannelMustStop.into());
                }
                inner.settings.clone().filter(|_| !all)
            };
            let next = next.map(|settings| Settings { file: String::new(), position: 4, ..settings });
            keep(state, next).await
        }
    }
}

/// Makes settings durable, and the present ones.
async fn keep(state: &State<'_>, settings: Option<Settings>) -> Result<()> {
    let shared = Arc::clone(&state.worker.shared);
    let done = state.worker.shared.ddl.run(move |_, _| {
        // Two statements at a time do not mix: definitions run one after the other, or with this lock.
        let mut inner = shared.replica.inner.lock();
        if inner.receiver_lives || inner.applier_lives {
            return Ok(false);
        }
        settings::write(&shared.replica.dir, settings.as_ref())?;
        *inner = Inner::new(settings);
        Ok(true)
    });
    match done.await {
        Some(Ok(true)) => Ok(()),
        Some(Ok(false)) => Err(Condition::ReplicaChannelMustStop.into()),
        Some(Err::<_, std::io::Error>(error)) => {
            let errno = error.raw_os_error().unwrap_or(0);
            let path = state.worker.shared.replica.dir.join("replica.state").display().to_string();
            Err(Condition::ErrorOnWrite { path: path.into(), why: format!("errno: {errno} - {error}").into() }.into())
        }
        None => Err(Error::ShuttingDown),
    }
}

fn start_replica(state: &mut State<'_>, threads: ReplicaThreads) -> Result<()> {
    state.binary_log()?;
    let shared = Arc::clone(&state.worker.shared);
    let mut inner = shared.replica.inner.lock();
    if inner.settings.as_ref().is_none_or(|settings| settings.host.is_empty()) {
        return Err(Condition::BadReplica.into());
    }
    let is_running = (!threads.receiver || inner.wants_receiver) && (!threads.applier || inner.wants_applier);
    inner.wants_receiver |= threads.receiver;
    inner.wants_applier |= threads.applier;
    start_threads(&shared, &mut inner);
    drop(inner);
    if is_running {
        state.warn(Level::Note, Condition::ReplicaChannelWasRunning);
    }
    Ok(())
}

async fn stop_replica(state: &mut State<'_>, threads: ReplicaThreads) -> Result<()> {
    let worker = Rc::clone(&state.worker);
    let replica = &worker.shared.replica;
    let is_stopped = {
        let mut inner = replica.inner.lock();
        let is_stopped = (!threads.receiver || !inner.receiver_lives) && (!threads.applier || !inner.applier_lives);
        inner.wants_receiver &= !threads.receiver;
        inner.wants_applier &= !threads.applier;
        if threads.receiver {
            Replica::hang_up(&mut inner);
        }
        replica.wake(&mut inner);
        if threads.applier && inner.applier_lives {
            // It may wait for a lock. It may also have ended by itself.
            let _ = worker.shared.kills.end(inner.applier_session);
        }
        is_stopped
    };
    if is_stopped {
        state.warn(Level::Note, Condition::ReplicaChannelWasNotRunning);
        return Ok(());
    }
    // What is applied now ends, or is taken back.
    std::future::poll_fn(|_| {
        let inner = replica.inner.lock();
        let lives = threads.receiver && inner.receiver_lives && !inner.wants_receiver
            || threads.applier && inner.applier_lives && !inner.wants_applier;
        if !lives || state.info.killed() != expr::kill::NONE {
            return Poll::Ready(());
        }
        worker.core.wake_at(worker.core.now() + Duration::from_millis(5));
        waits::pending(Cause::of(Kind::File));
        Poll::Pending
    })
    .await;
    if state.info.killed() != expr::kill::NONE { Err(Error::Exec(expr::Error::Interrupted)) } else { Ok(()) }
}
