//! The server: listeners, workers, sessions, variables, SHOW, information_schema.
//!
//! - [`start`] binds the sockets and starts the threads; [`ServerHandle`] stops them.
//! - `worker` runs sessions as futures, one thread per CPU; the crate `reactor` has the event loop, sockets and
//!   buffers.
//! - `session` speaks the protocol and runs statements. Stored programs are in `routine`, events in `event`.
//! - `account` runs the statements about accounts; the crate `accounts` has their model.
//! - `ddl` runs definitions on threads that may block. `plan_cache` keeps plans.
//! - `record` keeps what each session has done, `digests` what was done by statement; `waits` names what was waited for,
//!   `told_waits` tells it to other threads.
//! - `show` makes the rows of SHOW, information_schema, performance_schema and `sys`; `variables` has the system
//!   variables.
//! - [`inside::Inside`] is how other threads of the process reach the server: connections without a network, counters.
//! - `error` maps the errors of every crate to conditions of the catalogue.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

mod account;
mod advice;
mod binary_log;
mod branch;
mod causes;
mod config;
mod counters;
mod ddl;
mod digests;
mod error;
mod event;
mod handshakes;
mod identity;
pub mod inside;
mod instruments;
mod plan_cache;
mod profile;
mod profiled;
mod record;
mod replica;
mod routine;
mod session;
mod shared;
mod show;
mod text_log;
pub mod told_waits;
mod user_lock;
mod variables;
mod waits;
mod worker;
mod xa;

pub use binary_log::log_needed_from;
pub use config::{Config, ErrorLogFile, EventScheduler, LogSettings, StartError, VERSION};
use os::thread::JoinHandle;
use reactor::{EventLoop, stack};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
pub use variables::given;
use worker::{Acceptor, Listeners, Message, Worker};

/// A running server.
pub struct ServerHandle {
    shared: Arc<shared::Shared>,
    tcp_address: Option<SocketAddr>,
    admin_address: Option<SocketAddr>,
    acceptor_waker: Arc<os::net::Waker>,
    threads: Vec<JoinHandle<()>>,
}

/// Binds the sockets and starts serving. Returns at once; clients can connect from then on.
pub fn start(config: Config, database: Arc<table::Database>, engine: Arc<txn::Engine>) -> Result<ServerHandle, StartError> {
    let listeners = Listeners::bind(&config)?;
    let (tcp_address, admin_address) = (listeners.tcp_address(), listeners.admin_address());
    let (acceptor, acceptor_waker) = Acceptor::new(listeners).map_err(StartError::Resource)?;
    // Administrators have a worker of their own, which is the last.
    let workers = config.workers.max(1);
    let loops = EventLoop::<Message>::group(workers + usize::from(admin_address.is_some()), config.idle_polls_max)
        .map_err(StartError::Resource)?;
    let remotes = loops.iter().map(|event_loop| Arc::clone(event_loop.remote())).collect();
    let shared = Arc::new(shared::Shared::new(config, tcp_address, admin_address, database, engine, remotes)?);
    let mut handle = ServerHandle {
        shared: Arc::clone(&shared),
        tcp_address,
        admin_address,
        acceptor_waker: Arc::new(acceptor_waker),
        threads: Vec::new(),
    };
    for (index, event_loop) in loops.into_iter().enumerate() {
        let shared = Arc::clone(&shared);
        let (name, engine) = if index < workers {
            (format!("worker-{index}"), shared.engine.worker(index))
        } else {
            ("worker-admin".to_owned(), shared.engine.spare_worker().ok_or(StartError::NoSpareWorker)?)
        };
        handle.spawn(name, move || {
            match catch_unwind(AssertUnwindSafe(|| Worker::run(event_loop, engine, shared))) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::error!(%error, index, "a worker could not start"),
                // Its sessions would hang for ever; recovery from the log is the way out.
                Err(_) => {
                    tracing::error!(index, "a worker failed; the server stops at once");
                    std::process::abort();
                }
            }
        })?;
    }
    restore_prepared(&shared)?;
    shared.workers[0].send(Message::Call(Box::new(event::start)));
    shared.workers[0].send(Message::Call(Box::new(replica::start)));
    shared.workers[0].send(Message::Call(Box::new(advice::start)));
    handle.spawn("acceptor".to_owned(), move || acceptor.run(&shared))?;
    Ok(handle)
}

/// Makes prepared transactions again, before anybody else runs statements.
fn restore_prepared(shared: &Arc<shared::Shared>) -> Result<(), StartError> {
    let kept = shared.database.take_prepared();
    if kept.is_empty() {
        return Ok(());
    }
    let (reply, wait) = reactor::one_shot();
    shared.workers[0].send(Message::Call(Box::new(move |worker| {
        let own = Rc::clone(worker);
        worker.core.spawn(async move { reply.send(xa::restore(&own, kept).await) });
    })));
    match txn::block_on(wait) {
        Some(Ok(())) => Ok(()),
        Some(Err(why)) => Err(StartError::Prepared(why)),
        None => Err(StartError::Prepared("the first worker has ended".to_owned())),
    }
}

impl ServerHandle {
    fn spawn(&mut self, name: String, run: impl FnOnce() + Send + 'static) -> Result<(), StartError> {
        let thread = os::thread::Builder::new()
            .name(name)
            .stack_size(stack::BYTES)
            .spawn(move || {
                stack::begin();
                run();
            })
            .map_err(StartError::Resource)?;
        self.threads.push(thread);
        Ok(())
    }

    /// The TCP address in use.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp_address
    }

    /// The address of administrators in use.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin_address
    }

    /// Asks the server to stop and returns at once: no new clients, idle sessions end, running statements have two seconds to
    /// finish, then they are rolled back. [`Self::wait`] returns when all of that is done. May be called from any thread, also
    /// more than once.
    pub fn stop(&self) {
        stop(&self.shared, &self.acceptor_waker);
    }

    /// A function that stops the server, for a signal handler's thread.
    pub fn stopper(&self) -> impl Fn() + Send + Sync + 'static {
        let (shared, waker) = (Arc::clone(&self.shared), Arc::clone(&self.acceptor_waker));
        move || stop(&shared, &waker)
    }

    /// Waits until the server has stopped (SHUTDOWN stops it too), then writes the catalog's counters. The engine is still open
    /// afterwards: the caller shuts it down.
    pub fn wait(mut self) {
        // SHUTDOWN is a message to every worker; the acceptor looks at the same flag when it is woken.
        let acceptor = self.threads.pop();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a worker thread panicked");
            }
        }
        stop(&self.shared, &self.acceptor_waker);
        if let Some(acceptor) = acceptor
            && acceptor.join().is_err()
        {
            tracing::error!("the accepting thread panicked");
        }
        self.shared.replica.join();
        self.shared.ddl.finish();
        if let Some(log) = &self.shared.binlog {
            log.stop();
        }
        self.shared.logs.finish();
    }
}

fn stop(shared: &shared::Shared, acceptor: &os::net::Waker) {
    if shared.begin_stop() {
        tracing::info!("stopping: no new clients, open statements may finish");
    }
    // The acceptor may have ended already; then there is nobody to wake.
    let _ = acceptor.wake();
}
