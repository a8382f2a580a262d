//! The thread that does the slow work of logins, so that no worker waits for it.
//!
//! Every client that can connect can cause such work, so its amount is bounded:
//!
//! J1: each client host has its own queue, and the hosts take turns. Whatever one host requests, another one waits for
//!     at most one of its jobs.
//! J2: a job runs only while its client waits. The jobs of a client that has disconnected are dropped.
//! J3: the queue of a host is bounded; further clients of the host are refused.
//! J4: no job takes longer than hashing one password of `PASSWORD_BYTES_MAX` with the number of rounds of its account.

use reactor::{OneShot, Reply, one_shot};
use std::collections::VecDeque;
use std::sync::Arc;
use sync::waits::Kind;
use sync::{Condvar, Mutex};

/// J3
const JOBS_PER_HOST_MAX: usize = 4096;

/// Work for one client.
struct Job {
    is_wanted: Box<dyn Fn() -> bool + Send>,
    run: Box<dyn FnOnce() + Send>,
}

/// The queued jobs, by host; the first host is served next.
#[derive(Default)]
struct Queue {
    hosts: VecDeque<(String, VecDeque<Job>)>,
    has_thread: bool,
    closed: bool,
}

impl Queue {
    /// Queues a job; `false`: the host has too many.
    fn push(&mut self, host: &str, job: Job) -> bool {
        let at = self.hosts.iter().position(|(known, _)| known == host).unwrap_or_else(|| {
            self.hosts.push_back((host.to_owned(), VecDeque::new()));
            self.hosts.len() - 1
        });
        let jobs = &mut self.hosts[at].1;
        if jobs.len() >= JOBS_PER_HOST_MAX {
            jobs.retain(|job| (job.is_wanted)());
        }
        let has_room = jobs.len() < JOBS_PER_HOST_MAX;
        if has_room {
            jobs.push_back(job);
        }
        has_room
    }

    /// The next job that is wanted. J1, J2
    fn pop(&mut self) -> Option<Job> {
        while let Some((host, mut jobs)) = self.hosts.pop_front() {
            let wanted = std::iter::from_fn(|| jobs.pop_front()).find(|job| (job.is_wanted)());
            if !jobs.is_empty() {
                self.hosts.push_back((host, jobs));
            }
            if wanted.is_some() {
                return wanted;
            }
        }
        None
    }
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    has_work: Condvar,
}

/// The queue of the thread, which is started by the first job and ends with this.
#[derive(Default)]
pub struct LoginJobs(Arc<Shared>);

impl LoginJobs {
    /// Runs slow work for a client of the host. `None`: the host has too many jobs, or the work panicked.
    pub fn run<T: Send + 'static>(&self, host: &str, work: impl FnOnce() -> T + Send + 'static) -> OneShot<T> {
        let (reply, wait) = one_shot();
        let wait = wait.named(Kind::Login);
        let reply: Arc<Mutex<Option<Reply<T>>>> = Arc::new(Mutex::new(Some(reply)));
        let asked = Arc::clone(&reply);
        let job = Job {
            is_wanted: Box::new(move || asked.lock().as_ref().is_some_and(Reply::is_wanted)),
            run: Box::new(move || {
                let reply = reply.lock().take();
                if let Some(reply) = reply {
                    reply.send(work());
                }
            }),
        };
        let mut queue = self.0.queue.lock();
        if !queue.has_thread {
            queue.has_thread = self.start();
        }
        // Without a thread or room the reply is dropped, and the caller reads that nothing was done.
        if queue.has_thread && queue.push(host, job) {
            self.0.has_work.notify_one();
        }
        wait
    }

    fn start(&self) -> bool {
        let shared = Arc::clone(&self.0);
        let spawned = os::thread::Builder::new().name("heddle-login".to_owned()).spawn(move || work(&shared));
        if let Err(error) = &spawned {
            tracing::error!(%error, "no thread for passwords");
        }
        spawned.is_ok()
    }
}

impl Drop for LoginJobs {
    fn drop(&mut self) {
        self.0.queue.lock().closed = true;
        self.0.has_work.notify_one();
    }
}

fn work(shared: &Shared) {
    loop {
        let mut queue = shared.queue.lock();
        let job = loop {
            match queue.pop() {
                _ if queue.closed => return,
                Some(job) => break job,
                None => shared.has_work.wait(&mut queue),
            }
        };
        drop(queue);
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(job.run)).is_err() {
            tracing::error!("work on a password panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &'static str, done: &Arc<Mutex<Vec<&'static str>>>, wanted: bool) -> Job {
        let done = Arc::clone(done);
        Job { is_wanted: Box::new(move || wanted), run: Box::new(move || done.lock().push(name)) }
    }

    #[test]
    fn hosts_take_turns_and_unwanted_work_is_thrown_away() {
        let done = Arc::default();
        let mut queue = Queue::default();
        for name in ["a1", "a2", "a3"] {
            assert!(queue.push("a", job(name, &done, true)));
        }
        assert!(queue.push("b", job("gone", &done, false)));
        assert!(queue.push("c", job("c1", &done, true)));
        while let Some(job) = queue.pop() {
            (job.run)();
        }
        assert_eq!(*done.lock(), ["a1", "c1", "a2", "a3"]);
    }

    #[test]
    fn a_host_has_a_bounded_queue() {
        let done = Arc::default();
        let mut queue = Queue::default();
        for n in 0..JOBS_PER_HOST_MAX {
            assert!(queue.push("a", job("a", &done, n > 0)));
        }
        assert!(queue.push("a", job("a", &done, true)), "what nobody wants makes room");
        assert!(!queue.push("a", job("a", &done, true)));
        assert!(queue.push("b", job("b", &done, true)));
    }

    #[test]
    fn nothing_is_done_for_who_has_left() {
        let jobs = LoginJobs::default();
        let (release, held) = std::sync::mpsc::channel::<()>();
        let first = jobs.run("a", move || held.recv().is_ok());
        let done = Arc::new(Mutex::new(false));
        let doing = Arc::clone(&done);
        drop(jobs.run("a", move || *doing.lock() = true));
        let (told, tell) = std::sync::mpsc::channel::<()>();
        let last = jobs.run("a", move || drop(told));
        release.send(()).expect("the thread waits");
        // The channel of the last job closes when it is done.
        assert!(tell.recv().is_err());
        assert!(!*done.lock());
        drop((first, last));
    }
}
