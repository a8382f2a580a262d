//! The loop of one worker thread.
//!
//! ```text
//! turn:  messages -> timers -> every ready task once -> host.turn() (the engine's tick) -> one epoll_wait
//! ```
//! The `epoll_wait` does not block while anything is ready. When nothing is, a task of low priority gets a millisecond
//! (`Core::when_idle`), and the events are looked at again. Without such tasks the worker first polls for a while (`Spin`) and then
//! sleeps until an event, a message, or the next timer.
//!
//! L1: the clock is read once per turn that had work, and around a sleep; never per statement.
//! L2: workers poll while there is a processor for each of them and for each client besides. Beyond that they sleep at once: the clients that
//!     wait for a processor run meanwhile, and their next commands come together.
//! L3: a worker that is asleep or polling costs nothing to others: they look at one flag before they wake it.

use crate::core::{Core, Remote};
use crate::watch::Watch;
use crossbeam_utils::CachePadded;
use os::time::Instant;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use sync::Company;
use sync::atomic::{AtomicU32, Ordering};

/// Events taken by one system call.
const EVENTS_MAX: usize = 512;
/// The longest sleep of a worker, so that the engine's `tick` is called regularly. In the simulator a worker sleeps until it is woken:
/// otherwise the next second would hide a lost wake-up.
const SLEEP_MAX: Duration = Duration::from_secs(if cfg!(sim) { 1_000 } else { 1 });
/// The token of the waker; slots count from zero.
pub(crate) const WAKER_TOKEN: os::net::Token = os::net::Token(usize::MAX);

/// The engine and sessions that the loop serves.
pub trait Host {
    type Message: Send + 'static;

    fn message(self: &Rc<Self>, message: Self::Message);
    /// Once per turn, after the tasks ran.
    fn turn(&self);
    /// Before the thread sleeps: nothing of it is inside the engine until the next `turn`.
    fn sleeps(&self);
    /// Called when the number of busy sessions changes, as far as this thread knows it.
    fn company(&self, company: Company);
    /// Should the loop end?
    fn is_done(&self) -> bool;
}

/// A worker's poll object before its thread runs.
pub struct EventLoop<M> {
    poll: os::net::Poll,
    remote: Arc<Remote<M>>,
    spin_max: u32,
    index: usize,
    crowds: Arc<Crowds>,
}

impl<M: Send + 'static> EventLoop<M> {
    /// Makes the loops of `workers` workers. `spin_max`: how many times an idle worker polls at most before it sleeps.
    pub fn group(workers: usize, spin_max: u32) -> std::io::Result<Vec<Self>> {
        let processors = os::thread::available_parallelism().map_or(1, |count| count.get());
        let crowds = Arc::new(Crowds::new(workers, processors));
        (0..workers).map(|index| Self::new(index, spin_max, Arc::clone(&crowds))).collect()
    }

    fn new(index: usize, spin_max: u32, crowds: Arc<Crowds>) -> std::io::Result<Self> {
        let poll = os::net::Poll::new()?;
        let waker = os::net::Waker::new(poll.registry(), WAKER_TOKEN)?;
        Ok(Self { poll, remote: Remote::new(index, waker), spin_max, index, crowds })
    }

    pub fn remote(&self) -> &Arc<Remote<M>> {
        &self.remote
    }

    /// Makes the executor; called on the thread that will call `run`.
    pub fn core(&self) -> std::io::Result<Rc<Core>> {
        Ok(self.remote.core(self.poll.registry().try_clone()?))
    }

    /// Runs until the host is done.
    pub fn run(self, core: &Rc<Core>, host: &Rc<impl Host<Message = M> + 'static>) {
        let poll = Rc::new(RefCell::new(self.poll));
        types::work::set_watch(Some(Rc::new(Watch::new(
            Rc::clone(core),
            Arc::clone(&self.remote),
            host.clone(),
            Rc::clone(&poll),
        ))));
        Running { poll, remote: self.remote, spin_max: self.spin_max, index: self.index, crowds: self.crowds }.run(core, host);
        types::work::set_watch(None);
    }
}

/// A loop that runs.
struct Running<M> {
    poll: Rc<RefCell<os::net::Poll>>,
    remote: Arc<Remote<M>>,
    spin_max: u32,
    index: usize,
    crowds: Arc<Crowds>,
}

impl<M: Send + 'static> Running<M> {
    fn run(self, core: &Core, host: &Rc<impl Host<Message = M>>) {
        let mut events = os::net::Events::with_capacity(EVENTS_MAX);
        let mut spin = Spin::new(self.spin_max);
        let crowds = Arc::clone(&self.crowds);
        let mut crowd = Crowd::new(&crowds, self.index, Instant::now());
        // The engine's bound is published before the first message may use the engine.
        host.turn();
        let mut company = Company::default();
        loop {
            core.set_now(Instant::now());
            let now_busy = crowd.company();
            if now_busy != company {
                company = now_busy;
                host.company(company);
            }
            while let Some(message) = self.remote.next_message() {
                host.message(message);
            }
            core.run_ready();
            core.run_patient();
            host.turn();
            if host.is_done() {
                return;
            }
            if core.has_ready() || self.remote.has_work() {
                poll_now(&self.poll, &mut events);
            } else if core.has_idle() {
                poll_now(&self.poll, &mut events);
                if events.is_empty() && !self.remote.has_work() {
                    core.run_idle();
                }
            } else {
                let polls_max = if crowd.leaves_processors(core.now()) { spin.budget() } else { 0 };
                self.wait(core, host, &mut events, &mut spin, polls_max);
            }
            for event in &events {
                if event.token() != WAKER_TOKEN {
                    core.on_event(event);
                    crowd.note(event.token());
                }
            }
        }
    }

    /// Polls for a while, then sleeps.
    fn wait(
        &self,
        core: &Core,
        host: &Rc<impl Host<Message = M>>,
        events: &mut os::net::Events,
        spin: &mut Spin,
        polls_max: u32,
    ) {
        let timeout = core.until_next_timer().map_or(SLEEP_MAX, |next| next.min(SLEEP_MAX));
        for polls in 0..polls_max {
            poll_now(&self.poll, events);
            if !events.is_empty() || self.remote.has_work() {
                spin.caught(polls);
                return;
            }
        }
        if timeout.is_zero() || !self.remote.prepare_sleep() {
            return;
        }
        host.sleeps();
        let before = Instant::now();
        poll_for(&self.poll, events, timeout);
        host.turn();
        self.remote.woke_up();
        spin.slept(before.elapsed());
    }
}

/// Takes the events that are there.
pub(crate) fn poll_now(poll: &RefCell<os::net::Poll>, events: &mut os::net::Events) {
    poll_for(poll, events, Duration::ZERO);
}

fn poll_for(poll: &RefCell<os::net::Poll>, events: &mut os::net::Events, timeout: Duration) {
    match poll.borrow_mut().poll(events, Some(timeout)) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => events.clear(),
        Err(error) => panic!("epoll_wait on a worker's own descriptor: {error}"),
    }
}

/// A session that sent nothing for as long is not counted.
const CROWD_PERIOD: Duration = Duration::from_millis(10);

/// The number of busy sessions of each worker, as last published.
struct Crowds {
    busy: Box<[CachePadded<AtomicU32>]>,
    processors: u32,
}

impl Crowds {
    fn new(workers: usize, processors: usize) -> Self {
        let busy = (0..workers).map(|_| CachePadded::new(AtomicU32::new(0))).collect();
        Self { busy, processors: u32::try_from(processors).unwrap_or(u32::MAX) }
    }
}

/// An estimate of the busy sessions: those that sent something in this period or the one before. Beyond some tens per
/// worker the count is too low, which makes no difference. The counts of other workers are read at the end of each
/// period.
struct Crowd<'c> {
    all: &'c Crowds,
    index: usize,
    seen: u64,
    before: u32,
    others: u32,
    period_ends: Instant,
}

impl<'c> Crowd<'c> {
    fn new(all: &'c Crowds, index: usize, now: Instant) -> Self {
        Self { all, index, seen: 0, before: 0, others: 0, period_ends: now + CROWD_PERIOD }
    }

    fn note(&mut self, session: os::net::Token) {
        self.seen |= 1 << (session.0 % 64);
    }

    /// L2: is there a processor for each busy session and one for its client?
    fn leaves_processors(&mut self, now: Instant) -> bool {
        if now >= self.period_ends {
            self.end_period(now);
        }
        let busy = self.before.max(self.seen.count_ones()) + self.others;
        busy.saturating_mul(2) <= self.all.processors
    }

    /// The busy sessions besides one of this worker.
    fn company(&self) -> Company {
        match self.before.max(self.seen.count_ones()) {
            0 | 1 if self.others == 0 => Company::Nobody,
            0 | 1 => Company::OtherThreads,
            _ => Company::ThisThread,
        }
    }

    fn end_period(&mut self, now: Instant) {
        self.before = self.seen.count_ones();
        self.seen = 0;
        self.period_ends = now + CROWD_PERIOD;
        // Relaxed: estimates that nothing else depends on. Written by this worker alone, and only when it changes.
        let told = &self.all.busy[self.index];
        if told.load(Ordering::Relaxed) != self.before {
            told.store(self.before, Ordering::Relaxed);
        }
        let others = self.all.busy.iter().enumerate().filter(|(index, _)| *index != self.index);
        self.others = others.map(|(_, busy)| busy.load(Ordering::Relaxed)).sum();
    }
}

/// Decides how often an idle worker polls before it sleeps. Polling pays when work comes within about the time that a wake-up
/// costs; so the budget grows after sleeps that turn out short and after polls that caught something late, and is halved by
/// every long sleep. An idle server ends at zero polls.
struct Spin {
    budget: u32,
    max: u32,
}

/// A sleep shorter than this would have been better spent polling.
const SHORT_SLEEP: Duration = Duration::from_micros(100);

impl Spin {
    fn new(max: u32) -> Self {
        Self { budget: 0, max }
    }

    fn budget(&self) -> u32 {
        self.budget
    }

    fn caught(&mut self, polls: u32) {
        if polls * 2 > self.budget {
            self.budget = (self.budget + self.budget / 4 + 1).min(self.max);
        }
    }

    fn slept(&mut self, time: Duration) {
        if time < SHORT_SLEEP {
            self.budget = (self.budget * 2 + 8).min(self.max);
        } else {
            self.budget /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_poll_while_processors_are_left() {
        let (now, crowds) = (Instant::now(), Crowds::new(2, 8));
        let mut crowds_of = [0, 1].map(|index| Crowd::new(&crowds, index, now));
        let [first, second] = &mut crowds_of;
        for session in [7, 9, 7, 10, 9] {
            first.note(os::net::Token(session));
        }
        assert!(first.leaves_processors(now), "three sessions and three clients");
        [1, 2].iter().for_each(|session| second.note(os::net::Token(*session)));
        assert!(second.leaves_processors(now), "nothing is known of the others yet");
        let later = now + CROWD_PERIOD;
        assert!(first.leaves_processors(later));
        assert!(!second.leaves_processors(later), "five sessions and five clients");
        let idle = later + CROWD_PERIOD;
        assert!(first.leaves_processors(idle));
        assert!(second.leaves_processors(idle), "the first has told that none of its own is busy");
    }

    #[test]
    fn one_busy_session_knows_its_company() {
        let (now, crowds) = (Instant::now(), Crowds::new(2, 8));
        let mut crowds_of = [0, 1].map(|index| Crowd::new(&crowds, index, now));
        let [crowd, other] = &mut crowds_of;
        let end = |crowd: &mut Crowd<'_>, periods: u32| _ = crowd.leaves_processors(now + CROWD_PERIOD * periods);
        assert_eq!(crowd.company(), Company::Nobody, "nobody is busy");
        crowd.note(os::net::Token(7));
        crowd.note(os::net::Token(7));
        assert_eq!(crowd.company(), Company::Nobody);
        crowd.note(os::net::Token(8));
        assert_eq!(crowd.company(), Company::ThisThread, "two of its own");
        end(crowd, 1);
        crowd.note(os::net::Token(7));
        assert_eq!(crowd.company(), Company::ThisThread, "two in the period before");
        end(crowd, 2);
        assert_eq!(crowd.company(), Company::Nobody);
        other.note(os::net::Token(3));
        end(other, 2);
        end(crowd, 3);
        assert_eq!(crowd.company(), Company::OtherThreads);
        end(other, 3);
        end(crowd, 4);
        assert_eq!(crowd.company(), Company::Nobody);
    }

    #[test]
    fn a_single_processor_is_left_to_clients() {
        let (now, crowds) = (Instant::now(), Crowds::new(1, 1));
        let mut crowd = Crowd::new(&crowds, 0, now);
        assert!(crowd.leaves_processors(now));
        crowd.note(os::net::Token(3));
        assert!(!crowd.leaves_processors(now));
    }

    #[test]
    fn polling_grows_with_short_sleeps_and_dies_with_long_ones() {
        let mut spin = Spin::new(200);
        assert_eq!(spin.budget(), 0);
        for _ in 0..10 {
            spin.slept(Duration::from_micros(20));
        }
        assert_eq!(spin.budget(), 200);
        for _ in 0..10 {
            spin.slept(Duration::from_millis(20));
        }
        assert_eq!(spin.budget(), 0);
    }
}
