//! The threads that run definitions: CREATE, DROP, ALTER, index builds. They may block, so they are not workers.
//!
//! Jobs wait in one queue. Another thread starts if a job finds all threads busy, up to [`WORKING_MAX`]. Threads that
//! wait for other sessions' transactions are not counted as busy, up to [`THREADS_MAX`] threads in all, so that ALTERs
//! which wait for a long transaction do not stop every CREATE. The first thread also does the catalog's housekeeping.
//!
//! Short and urgent jobs (those of events) have a queue of their own, which all threads serve first. If all are busy,
//! one more thread starts that serves only this queue. It also takes definitions of a session that has locked tables,
//! because all other threads may wait for that session.

use crate::config::StartError;
use os::thread::JoinHandle;
use reactor::{OneShot, one_shot};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use sync::waits::Kind;
use sync::{Condvar, Mutex};

/// Threads that work.
const WORKING_MAX: usize = 4;
/// The maximum including threads that wait for others.
const THREADS_MAX: usize = 15;
const HOUSEKEEPING_PERIOD: Duration = Duration::from_secs(1);

type Job = Box<dyn FnOnce(&table::Database, &txn::Worker) + Send>;

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    short_jobs: VecDeque<Job>,
    idle: usize,
    /// Threads whose jobs wait for other sessions.
    waiting: usize,
    threads: Vec<JoinHandle<()>>,
    /// The one for short jobs.
    short_thread: Option<JoinHandle<()>>,
    is_finished: bool,
}

struct Pool {
    queue: Mutex<Queue>,
    wake: Condvar,
    /// Of the thread for short jobs.
    wake_short: Condvar,
    database: Arc<table::Database>,
    engine: Arc<txn::Engine>,
}

pub struct DdlThreads(Arc<Pool>);

impl Pool {
    fn grow_for_jobs(self: &Arc<Self>, queue: &mut Queue) {
        if queue.idle < queue.jobs.len() + queue.short_jobs.len() && !queue.is_finished {
            self.grow(queue);
        }
    }

    /// Starts another thread, if the limit allows it and the engine has a worker left. Otherwise the job waits.
    fn grow(self: &Arc<Self>, queue: &mut Queue) {
        let count = queue.threads.len();
        let is_short = count >= THREADS_MAX || count - queue.waiting.min(count) >= WORKING_MAX;
        if is_short && (queue.short_jobs.is_empty() || queue.short_thread.is_some()) {
            return;
        }
        let Some(worker) = self.engine.spare_worker() else { return };
        let spawned = if is_short {
            spawn(self, "ddl-short".to_owned(), Does::ShortJobs, worker)
        } else {
            spawn(self, format!("ddl-{}", queue.threads.len()), Does::All, worker)
        };
        match spawned {
            Ok(thread) if is_short => queue.short_thread = Some(thread),
            Ok(thread) => queue.threads.push(thread),
            Err(error) => tracing::warn!(%error, "no further thread for definitions"),
        }
    }
}

impl DdlThreads {
    pub fn start(database: &Arc<table::Database>, engine: &Arc<txn::Engine>) -> Result<Self, StartError> {
        let pool = Arc::new(Pool {
            queue: Mutex::default(),
            wake: Condvar::new(),
            wake_short: Condvar::new(),
            database: Arc::clone(database),
            engine: Arc::clone(engine),
        });
        let worker = engine.spare_worker().ok_or(StartError::NoSpareWorker)?;
        let first = spawn(&pool, "ddl-0".to_owned(), Does::HouseAndAll, worker).map_err(StartError::Resource)?;
        pool.queue.lock().threads.push(first);
        Ok(Self(pool))
    }

    /// Queues a job; await its answer. `None` when the job panicked or the server is stopping.
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce(&table::Database, &txn::Worker) -> T + Send + 'static) -> OneShot<T> {
        self.submit(job, |queue| &mut queue.jobs)
    }

    /// Like [`Self::run`], for a job that does not queue behind those of [`Self::run`].
    pub fn run_short<T: Send + 'static>(
        &self,
        job: impl FnOnce(&table::Database, &txn::Worker) -> T + Send + 'static,
    ) -> OneShot<T> {
        let wait = self.submit(job, |queue| &mut queue.short_jobs);
        self.0.wake_short.notify_one();
        wait
    }

    fn submit<T: Send + 'static>(
        &self,
        job: impl FnOnce(&table::Database, &txn::Worker) -> T + Send + 'static,
        to: impl FnOnce(&mut Queue) -> &mut VecDeque<Job>,
    ) -> OneShot<T> {
        let (reply, wait) = one_shot();
        let wait = wait.named(Kind::Definition);
        let mut queue = self.0.queue.lock();
        if queue.is_finished {
            return wait;
        }
        to(&mut queue).push_back(Box::new(move |database, worker| reply.send(job(database, worker))));
        self.0.grow_for_jobs(&mut queue);
        drop(queue);
        self.0.wake.notify_one();
        wait
    }

    /// Tells the pool that a job begins to wait for other sessions, or continues.
    pub fn notice(&self) -> impl Fn(bool) + Send + Sync + 'static {
        let pool = Arc::clone(&self.0);
        move |waits| {
            let mut queue = pool.queue.lock();
            if waits {
                queue.waiting += 1;
                pool.grow_for_jobs(&mut queue);
            } else {
                queue.waiting = queue.waiting.saturating_sub(1);
            }
        }
    }

    /// Runs the queued jobs, writes the catalog's counters, ends the threads.
    pub fn finish(&self) {
        let threads = {
            let mut queue = self.0.queue.lock();
            queue.is_finished = true;
            let short = queue.short_thread.take();
            let threads = std::mem::take(&mut queue.threads);
            threads.into_iter().chain(short)
        };
        self.0.wake.notify_all();
        self.0.wake_short.notify_all();
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a thread for definitions panicked");
            }
        }
    }
}

/// The jobs that a thread serves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    All,
    /// The catalog's housekeeping, too.
    HouseAndAll,
    ShortJobs,
}

fn spawn(pool: &Arc<Pool>, name: String, does: Does, worker: txn::Worker) -> std::io::Result<JoinHandle<()>> {
    let pool = Arc::clone(pool);
    os::thread::Builder::new().name(name).stack_size(reactor::stack::BYTES).spawn(move || match does {
        Does::ShortJobs => serve_short(&pool, &worker),
        _ => serve(&pool, does == Does::HouseAndAll, worker),
    })
}

fn serve_short(pool: &Pool, worker: &txn::Worker) {
    loop {
        worker.park();
        let job = {
            let mut queue = pool.queue.lock();
            while queue.short_jobs.is_empty() && !queue.is_finished {
                pool.wake_short.wait(&mut queue);
            }
            queue.short_jobs.pop_front()
        };
        worker.tick();
        match job {
            Some(job) => run_job(pool, worker, job),
            None => return,
        }
    }
}

fn serve(pool: &Pool, keeps_house: bool, worker: txn::Worker) {
    loop {
        // Asleep, this thread holds no old versions back.
        worker.park();
        let job = {
            let mut queue = pool.queue.lock();
            if queue.jobs.is_empty() && queue.short_jobs.is_empty() && !queue.is_finished {
                queue.idle += 1;
                if keeps_house {
                    let _woken = pool.wake.wait_for(&mut queue, HOUSEKEEPING_PERIOD);
                } else {
                    pool.wake.wait(&mut queue)
                }
                queue.idle -= 1;
            }
            let short = queue.short_jobs.pop_front();
            match short.or_else(|| queue.jobs.pop_front()) {
                Some(job) => Some(job),
                None if queue.is_finished => break,
                None => None,
            }
        };
        worker.tick();
        match job {
            Some(job) => run_job(pool, &worker, job),
            None if keeps_house => keep_house(pool, &worker),
            None => {}
        }
    }
    worker.tick();
    if keeps_house && let Err(error) = pool.database.close(&worker) {
        tracing::error!(%error, "the catalog's counters were not written");
    }
}

fn run_job(pool: &Pool, worker: &txn::Worker, job: Job) {
    if catch_unwind(AssertUnwindSafe(|| job(&pool.database, worker))).is_err() {
        tracing::error!("a definition panicked");
    }
}

fn keep_house(pool: &Pool, worker: &txn::Worker) {
    match pool.database.housekeeping(worker) {
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "housekeeping of the catalog"),
    }
}
