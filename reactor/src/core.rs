//! The executor of one worker thread: tasks, their wakers, their timers and the readiness of their sockets.
//!
//! 1. A task is a future in a slot; it is polled only on this thread and need not be `Send`.
//! 2. A waker marks the slot ready. On the worker's own thread that is a push into a thread-local queue; from another thread it is
//!    a push into a lock-free queue, and a system call only if the worker is asleep (`Remote::notify`).
//! 3. A socket event sets the readiness flags of the slot and marks it ready; no waker takes part.
//! 4. A task has one deadline: the earliest that any future polled during its last turn asked for. The heap holds an entry at most
//!    `ARM_MAX` ahead and is corrected lazily, so that moving a deadline back (every statement does) writes one cell.
//! 5. Where many tasks are ready, one that has an answer to send lets the others run first (`behind_others`): whom an answer wakes takes the
//!    processor from them, and its caches. One that goes on for as long as a task may is not waited for.
//! 6. The clock of a task is told when a statement of the task waits and when it runs again (`task_clock.rs`).
//! 7. A task that computes for long lets the others run in the middle of its own turn (`watch.rs`).
//! 8. A task of low priority works for a millisecond at a time, when nothing is ready and no event waits (`when_idle`). Where that does not
//!    happen for `PATIENCE`, it gets one such turn all the same.
//!
//! C1: between turns every live slot holds its future; during its own poll the slot is empty.
//! C2: `queued` of a slot is true exactly while its number stands in one of the two queues (stale numbers of a reused slot
//!     only cause a spurious poll, which every future here must bear).
//! C3: before a worker sleeps it raises `asleep` and then looks at the remote queues again; `notify` pushes first and then
//!     looks at `asleep`. Both are sequentially consistent, so one of the two sees the other.

use crate::task_clock::{TaskClock, WorkerWaits};
use crossbeam_queue::SegQueue;
use crossbeam_utils::CachePadded;
use os::time::Instant;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use sync::waits::{self, Holder};
use types::work::Stopped;

/// The farthest a timer entry is armed ahead; later deadlines are armed again when it fires.
const ARM_MAX: Duration = Duration::from_secs(60);
/// With fewer tasks than this, ready or waiting behind others, no task waits behind others.
const CROWD_MIN: usize = 8;

/// A task that waits for an idle moment waits no longer.
const PATIENCE: Duration = Duration::from_millis(10);

type LocalFuture = Pin<Box<dyn Future<Output = ()>>>;

thread_local! {
    /// Slots that were woken on this thread, and the index of the worker that this thread is.
    static READY: RefCell<VecDeque<u32>> = const { RefCell::new(VecDeque::new()) };
    static WORKER: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// How other threads reach a worker: tasks that they woke, and whether the worker sleeps.
struct Signal {
    index: usize,
    ready: SegQueue<u32>,
    asleep: CachePadded<AtomicBool>,
    waker: os::net::Waker,
    /// Sessions that the worker serves or has been given; the acceptor chooses by it.
    load: CachePadded<AtomicUsize>,
}

impl Signal {
    fn notify(&self) {
        // SeqCst: pairs with `prepare_sleep` (C3).
        sync::atomic::fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst) && self.asleep.swap(false, Ordering::SeqCst) {
            // A failed wake-up can only mean that the descriptor is gone, that is, the worker has ended.
            let _ = self.waker.wake();
        }
    }
}

/// The interface of a worker for other threads. `M` is the message type of the host.
pub struct Remote<M> {
    signal: Arc<Signal>,
    messages: SegQueue<M>,
    /// The worker has ended; messages are dropped unread, which senders that wait for an answer notice.
    closed: AtomicBool,
}

impl<M> Remote<M> {
    pub fn new(index: usize, waker: os::net::Waker) -> Arc<Self> {
        let signal = Signal {
            index,
            ready: SegQueue::new(),
            asleep: CachePadded::new(AtomicBool::new(false)),
            waker,
            load: CachePadded::new(AtomicUsize::new(0)),
        };
        Arc::new(Self { signal: Arc::new(signal), messages: SegQueue::new(), closed: AtomicBool::new(false) })
    }

    /// Sessions that the worker serves or has been given; the acceptor chooses by it.
    pub fn load(&self) -> &AtomicUsize {
        &self.signal.load
    }

    /// Hands a message to the worker; it is taken in the worker's next turn.
    pub fn send(&self, message: M) {
        self.messages.push(message);
        self.signal.notify();
        // SeqCst: pairs with `close`, as the fence in `notify` stands between the push and this load.
        if self.closed.load(Ordering::SeqCst) {
            while self.messages.pop().is_some() {}
        }
    }

    /// The worker ends: nobody reads messages any more.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        while self.messages.pop().is_some() {}
    }

    pub fn next_message(&self) -> Option<M> {
        self.messages.pop()
    }

    /// Announces that the worker is about to sleep; `false` when there is work to do first.
    pub fn prepare_sleep(&self) -> bool {
        self.signal.asleep.store(true, Ordering::SeqCst);
        sync::atomic::fence(Ordering::SeqCst);
        if !os::mutated("lost-task-wakeup") && self.has_work() {
            self.signal.asleep.store(false, Ordering::SeqCst);
            return false;
        }
        true
    }

    pub fn woke_up(&self) {
        self.signal.asleep.store(false, Ordering::SeqCst);
    }

    pub fn has_work(&self) -> bool {
        !self.signal.ready.is_empty() || !self.messages.is_empty()
    }

    /// Makes this thread the worker; its tasks register their sockets with `registry`.
    pub fn core(&self, registry: os::net::Registry) -> Rc<Core> {
        Core::new(Arc::clone(&self.signal), registry)
    }
}

/// The waker of one slot.
struct SlotWaker {
    slot: u32,
    queued: AtomicBool,
    /// The task's statement waits: the executor wants to know when it is woken.
    is_timed: AtomicBool,
    woken: AtomicU64,
    signal: Arc<Signal>,
}

impl SlotWaker {
    fn schedule(&self) {
        // AcqRel: pairs with the swap in `Core::run_slot`, so that what happened before a wake that finds `queued` set is
        // seen by the poll that clears it.
        if self.queued.swap(true, Ordering::AcqRel) {
            return;
        }
        // Relaxed: a figure for people. A wake-up that comes before the flag counts as one at the moment of leaving.
        if self.is_timed.load(Ordering::Relaxed) {
            self.woken.store(os::ticks(), Ordering::Relaxed);
        }
        if WORKER.get() == self.signal.index {
            READY.with_borrow_mut(|ready| ready.push_back(self.slot));
        } else {
            self.signal.ready.push(self.slot);
            self.signal.notify();
        }
    }
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.schedule();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.schedule();
    }
}

/// Decides whether a computation has to end, and why.
pub type Limit = Rc<dyn Fn(Instant) -> Result<(), Stopped>>;

/// Whether the socket of a task may be read or written without `WouldBlock`, as far as the events tell.
#[derive(Debug, Default)]
pub struct Readiness {
    pub readable: Cell<bool>,
    pub writable: Cell<bool>,
    /// The peer closed the connection or the socket failed; reading shows which.
    pub hung_up: Cell<bool>,
}

struct Slot {
    future: Option<LocalFuture>,
    alive: bool,
    wake: Arc<SlotWaker>,
    waker: Rc<Waker>,
    readiness: Rc<Readiness>,
    /// The deadline that the last poll requested.
    deadline: Option<Instant>,
    /// The current heap entry of this slot; other entries with its number are stale.
    armed: Option<Instant>,
    /// Decides whether a computation of the task must end early.
    limit: Option<Limit>,
    clock: Rc<TaskClock>,
    /// It was woken while it ran, in a turn within its own.
    woken_within: bool,
    /// The session that the task serves; 0: none.
    session: u32,
}

/// The executor of this thread. Shared by `Rc` with the tasks.
pub struct Core {
    slots: RefCell<Vec<Slot>>,
    free: RefCell<Vec<u32>>,
    live: Cell<usize>,
    /// Never freed: the profiler's signal may read it whenever the thread runs.
    current: &'static Cell<u32>,
    /// Tasks that wait until the others of this turn have run.
    behind: RefCell<Vec<u32>>,
    /// Tasks that wait until the worker has nothing else to do, and since when.
    idle: RefCell<VecDeque<(u32, Instant)>>,
    /// Collects the earliest deadline during a poll.
    wanted: Cell<Option<Instant>>,
    now: Cell<Instant>,
    timers: RefCell<BinaryHeap<Reverse<(Instant, u32)>>>,
    waits: WorkerWaits,
    signal: Arc<Signal>,
    registry: os::net::Registry,
}

impl Core {
    fn new(signal: Arc<Signal>, registry: os::net::Registry) -> Rc<Self> {
        WORKER.set(signal.index);
        READY.with_borrow_mut(VecDeque::clear);
        Rc::new(Self {
            slots: RefCell::default(),
            free: RefCell::default(),
            live: Cell::new(0),
            // On a line of its own: it is written at each turn, and a neighbour on the heap may be another worker's.
            current: Box::leak(Box::new(CachePadded::new(Cell::new(0)))),
            behind: RefCell::default(),
            idle: RefCell::default(),
            wanted: Cell::new(None),
            now: Cell::new(Instant::now()),
            timers: RefCell::default(),
            waits: WorkerWaits::default(),
            signal,
            registry,
        })
    }

    /// See [`Remote::load`].
    pub fn load(&self) -> &AtomicUsize {
        &self.signal.load
    }

    /// The clock as of the beginning of this turn.
    pub fn now(&self) -> Instant {
        self.now.get()
    }

    pub fn set_now(&self, now: Instant) {
        self.now.set(now);
    }

    /// Tasks that have not ended.
    pub fn live(&self) -> usize {
        self.live.get()
    }

    /// Starts a task; it is polled in the next turn.
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        let future: LocalFuture = Box::pin(future);
        let mut slots = self.slots.borrow_mut();
        let number = match self.free.borrow_mut().pop() {
            Some(number) => number,
            None => {
                let number = u32::try_from(slots.len()).expect("connections are limited far below 2^32");
                let wake = Arc::new(SlotWaker {
                    slot: number,
                    queued: AtomicBool::new(false),
                    is_timed: AtomicBool::new(false),
                    woken: AtomicU64::new(0),
                    signal: Arc::clone(&self.signal),
                });
                slots.push(Slot {
                    future: None,
                    alive: false,
                    waker: Rc::new(Waker::from(Arc::clone(&wake))),
                    wake,
                    readiness: Rc::default(),
                    deadline: None,
                    armed: None,
                    limit: None,
                    clock: Rc::default(),
                    woken_within: false,
                    session: 0,
                });
                number
            }
        };
        let slot = &mut slots[number as usize];
        slot.future = Some(future);
        slot.alive = true;
        slot.readiness = Rc::default();
        slot.deadline = None;
        slot.limit = None;
        slot.clock = Rc::default();
        slot.woken_within = false;
        self.live.set(self.live.get() + 1);
        slot.wake.schedule();
    }

    /// The waker of the running task, for others that must wake it later.
    pub fn current_waker(&self) -> Waker {
        self.slots.borrow()[self.current.get() as usize].waker.as_ref().clone()
    }

    /// The clock of the running task.
    pub fn current_clock(&self) -> Rc<TaskClock> {
        Rc::clone(&self.slots.borrow()[self.current.get() as usize].clock)
    }

    /// The waits of this worker's tasks.
    pub fn waits(&self) -> &WorkerWaits {
        &self.waits
    }

    /// Sets the limit of the running task's computations.
    pub fn set_limit(&self, limit: Limit) {
        self.slots.borrow_mut()[self.current.get() as usize].limit = Some(limit);
    }

    /// Must the running task end its computation?
    pub(crate) fn check_limit(&self, now: Instant) -> Result<(), Stopped> {
        let limit = self.slots.borrow().get(self.current.get() as usize).and_then(|slot| slot.limit.clone());
        limit.map_or(Ok(()), |limit| limit(now))
    }

    /// Runs other tasks in the middle of the running one, which is the running one again afterwards.
    pub fn within_task(&self, turn: impl FnOnce()) {
        let (current, wanted) = (self.current.get(), self.wanted.get());
        let clock = self.slots.borrow().get(current as usize).map(|slot| Rc::clone(&slot.clock));
        let began = os::ticks();
        turn();
        if let Some(clock) = clock {
            clock.interrupted(began, os::ticks(), &self.waits);
        }
        self.current.set(current);
        self.wanted.set(wanted);
    }

    /// Registers the socket of the running task; one socket per task. Its events tell when it can be read.
    pub fn register(&self, source: &mut impl os::net::event::Source) -> std::io::Result<Rc<Readiness>> {
        let slot = self.current.get();
        self.registry.register(source, os::net::Token(slot as usize), os::net::Interest::READABLE)?;
        Ok(Rc::clone(&self.slots.borrow()[slot as usize].readiness))
    }

    /// Sets whether events of the running task's socket include writability. A Unix socket has such an event each time
    /// its peer has read something, so only a task that waits for it asks for it.
    pub fn watch_writable(&self, source: &mut impl os::net::event::Source, watch: bool) -> std::io::Result<()> {
        let interest =
            if watch { os::net::Interest::READABLE | os::net::Interest::WRITABLE } else { os::net::Interest::READABLE };
        self.registry.reregister(source, os::net::Token(self.current.get() as usize), interest)
    }

    pub fn deregister(&self, source: &mut impl os::net::event::Source) {
        // The socket is closed next, which removes it in any case.
        let _ = self.registry.deregister(source);
    }

    /// Takes one socket event.
    pub fn on_event(&self, event: &os::net::event::Event) {
        let slots = self.slots.borrow();
        let Some(slot) = slots.get(event.token().0) else { return };
        if event.is_readable() {
            slot.readiness.readable.set(true);
        }
        if event.is_writable() {
            slot.readiness.writable.set(true);
        }
        if event.is_read_closed() || event.is_error() {
            slot.readiness.readable.set(true);
            slot.readiness.hung_up.set(true);
        }
        if slot.alive {
            slot.wake.schedule();
        }
    }

    /// Marks every task ready, for a change that all must notice.
    pub fn wake_all(&self) {
        for slot in self.slots.borrow().iter().filter(|slot| slot.alive) {
            slot.wake.schedule();
        }
    }

    /// Is anything ready to run on this thread?
    pub fn has_ready(&self) -> bool {
        READY.with_borrow(|ready| !ready.is_empty()) || !self.behind.borrow().is_empty()
    }

    /// Does a task wait for an idle moment?
    pub fn has_idle(&self) -> bool {
        !self.idle.borrow().is_empty()
    }

    /// Polls the task that has waited longest for an idle moment. Called in such a moment.
    pub fn run_idle(&self) {
        let first = self.idle.borrow_mut().pop_front();
        if let Some((number, _)) = first {
            self.run_slot(number);
        }
    }

    /// The same where no such moment comes, for one that has been patient.
    pub fn run_patient(&self) {
        let is_due = self.idle.borrow().front().is_some_and(|(_, since)| self.now.get() >= *since + PATIENCE);
        if is_due {
            self.run_idle();
        }
    }

    /// Waits until the worker has nothing else to do, or has not been idle for a while.
    pub async fn when_idle(&self) {
        let mut has_waited = false;
        std::future::poll_fn(|_| {
            if std::mem::replace(&mut has_waited, true) {
                return Poll::Ready(());
            }
            self.idle.borrow_mut().push_back((self.current.get(), self.now.get()));
            Poll::Pending
        })
        .await;
    }

    /// Takes the tasks woken by other threads, fires timers, and polls each ready task once. Returns how many ran.
    pub fn run_ready(&self) -> usize {
        while let Some(slot) = self.signal.ready.pop() {
            READY.with_borrow_mut(|ready| ready.push_back(slot));
        }
        self.fire_timers();
        let count = READY.with_borrow(VecDeque::len);
        for _ in 0..count {
            let Some(slot) = READY.with_borrow_mut(VecDeque::pop_front) else { break };
            // AcqRel: pairs with `SlotWaker::schedule`.
            self.slots.borrow()[slot as usize].wake.queued.swap(false, Ordering::AcqRel);
            self.run_slot(slot);
            let has_woken_itself = READY.with_borrow(|ready| ready.back() == Some(&slot));
            if has_woken_itself {
                self.run_behind();
            }
        }
        self.run_behind();
        count
    }

    /// The task that runs serves this session.
    pub fn name_current(&self, session: u32) {
        self.slots.borrow_mut()[self.current.get() as usize].session = session;
    }

    /// The number of the task that runs.
    pub fn current_task(&self) -> &'static Cell<u32> {
        self.current
    }

    /// Polls the tasks that wait behind others.
    fn run_behind(&self) {
        let mut behind = self.behind.take();
        for number in behind.drain(..) {
            self.run_slot(number);
        }
        // A task that waits again is in the list already; the next turn comes at once.
        if self.behind.borrow().is_empty() {
            *self.behind.borrow_mut() = behind;
        }
    }

    fn run_slot(&self, number: u32) {
        let (mut future, waker) = {
            let mut slots = self.slots.borrow_mut();
            if slots[number as usize].clock.has_left() {
                self.resume(&slots, number);
            }
            let slot = &mut slots[number as usize];
            let Some(future) = slot.future.take() else {
                slot.woken_within = slot.alive;
                return;
            };
            (future, Rc::clone(&slot.waker))
        };
        self.current.set(number);
        self.wanted.set(None);
        let mut context = Context::from_waker(&waker);
        let outcome = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut context)));
        match outcome {
            Ok(Poll::Pending) => {
                let mut slots = self.slots.borrow_mut();
                let slot = &mut slots[number as usize];
                slot.future = Some(future);
                slot.deadline = self.wanted.get();
                let cause = waits::take();
                if slot.clock.is_measured() {
                    slot.clock.leave(cause, os::ticks(), &self.waits);
                    slot.wake.is_timed.store(true, Ordering::Relaxed);
                }
                if std::mem::take(&mut slot.woken_within) {
                    slot.wake.schedule();
                }
                if let Some(deadline) = slot.deadline
                    && slot.armed.is_none_or(|armed| deadline < armed)
                {
                    self.arm(number, slot, deadline);
                }
            }
            Ok(Poll::Ready(())) => self.end(number, future),
            Err(_) => {
                tracing::error!("a session panicked; its connection is closed");
                self.end(number, future);
            }
        }
    }

    /// The task of a slot whose statement waited runs again. What it waited after its wake-up is charged to the task that ran before it.
    #[cold]
    fn resume(&self, slots: &[Slot], number: u32) {
        let (slot, before) = (&slots[number as usize], self.current.get());
        if slot.future.is_none() {
            return;
        }
        let holder = match slots.get(before as usize).map_or(0, |slot| slot.session) {
            0 => Holder::Unknown,
            _ if before == number => Holder::Unknown,
            session => Holder::Session(session),
        };
        slot.wake.is_timed.store(false, Ordering::Relaxed);
        slot.clock.resume(os::ticks(), slot.wake.woken.load(Ordering::Relaxed), holder, &self.waits);
    }

    #[cold]
    fn end(&self, number: u32, future: LocalFuture) {
        if catch_unwind(AssertUnwindSafe(|| drop(future))).is_err() {
            tracing::error!("a session panicked while it was cleaned up");
        }
        let mut slots = self.slots.borrow_mut();
        let slot = &mut slots[number as usize];
        slot.session = 0;
        slot.alive = false;
        slot.deadline = None;
        self.free.borrow_mut().push(number);
        self.live.set(self.live.get() - 1);
    }

    fn arm(&self, number: u32, slot: &mut Slot, deadline: Instant) {
        let at = deadline.min(self.now.get() + ARM_MAX);
        if slot.armed.is_some_and(|armed| armed <= at) {
            return;
        }
        slot.armed = Some(at);
        self.timers.borrow_mut().push(Reverse((at, number)));
    }

    fn fire_timers(&self) {
        let now = self.now.get();
        loop {
            let Some(Reverse((at, number))) = self.timers.borrow().peek().copied() else { return };
            if at > now {
                return;
            }
            self.timers.borrow_mut().pop();
            let mut slots = self.slots.borrow_mut();
            let slot = &mut slots[number as usize];
            if slot.armed != Some(at) {
                continue;
            }
            slot.armed = None;
            match slot.deadline {
                Some(deadline) if deadline <= now => slot.wake.schedule(),
                Some(deadline) => self.arm(number, slot, deadline),
                None => {}
            }
        }
    }

    /// How long the worker may sleep before a timer is due.
    pub fn until_next_timer(&self) -> Option<Duration> {
        let Reverse((at, _)) = self.timers.borrow().peek().copied()?;
        Some(at.saturating_duration_since(self.now.get()))
    }

    /// Requests that the running task be polled at `deadline` at the latest.
    pub fn wake_at(&self, deadline: Instant) {
        let earlier = match self.wanted.get() {
            Some(wanted) => wanted.min(deadline),
            None => deadline,
        };
        self.wanted.set(Some(earlier));
    }

    /// Completes at `deadline` (with the resolution of a turn).
    pub fn sleep_until(&self, deadline: Instant) -> Sleep<'_> {
        Sleep { core: self, deadline }
    }

    /// Waits until the other tasks of this turn have run, if they are many, or one of them has taken as long as a task may.
    pub async fn behind_others(&self) {
        let crowd = self.behind.borrow().len() + READY.with_borrow(VecDeque::len);
        if crowd < CROWD_MIN {
            return;
        }
        let mut is_behind = false;
        std::future::poll_fn(|_| {
            if std::mem::replace(&mut is_behind, true) {
                return Poll::Ready(());
            }
            self.behind.borrow_mut().push(self.current.get());
            Poll::Pending
        })
        .await;
    }

    /// Lets the other tasks of this worker have a turn.
    #[cfg(test)]
    pub fn yield_now(&self) -> YieldNow {
        YieldNow(false)
    }
}

/// See [`Core::sleep_until`].
#[must_use]
pub struct Sleep<'a> {
    core: &'a Core,
    deadline: Instant,
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.core.now() >= self.deadline {
            return Poll::Ready(());
        }
        self.core.wake_at(self.deadline);
        Poll::Pending
    }
}

/// See [`Core::yield_now`].
#[cfg(test)]
#[must_use]
pub struct YieldNow(bool);

#[cfg(test)]
impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core() -> (os::net::Poll, Arc<Remote<()>>, Rc<Core>) {
        let poll = os::net::Poll::new().unwrap();
        let waker = os::net::Waker::new(poll.registry(), os::net::Token(usize::MAX)).unwrap();
        let registry = poll.registry().try_clone().unwrap();
        let remote = Remote::new(0, waker);
        let core = remote.core(registry);
        (poll, remote, core)
    }

    #[test]
    fn a_task_runs_until_it_ends() {
        let (_poll, _remote, core) = core();
        let steps = Rc::new(Cell::new(0));
        let (task_core, task_steps) = (Rc::clone(&core), Rc::clone(&steps));
        core.spawn(async move {
            for _ in 0..3 {
                task_steps.set(task_steps.get() + 1);
                task_core.yield_now().await;
            }
        });
        assert_eq!(core.live(), 1);
        while core.has_ready() {
            core.run_ready();
        }
        assert_eq!((steps.get(), core.live()), (3, 0));
    }

    #[test]
    fn timers_fire_in_order_and_can_be_moved() {
        let (_poll, _remote, core) = core();
        let start = core.now();
        let log = Rc::new(RefCell::new(Vec::new()));
        for ms in [30u64, 10, 20] {
            let (task_core, log) = (Rc::clone(&core), Rc::clone(&log));
            core.spawn(async move {
                task_core.sleep_until(start + Duration::from_millis(ms)).await;
                log.borrow_mut().push(ms);
            });
        }
        for ms in 0..40 {
            core.set_now(start + Duration::from_millis(ms));
            core.run_ready();
        }
        assert_eq!(*log.borrow(), [10, 20, 30]);
        assert_eq!(core.until_next_timer(), None);
    }

    /// What tasks do, in order, of which each works and then answers: that many, the one of this number working on for another turn.
    fn works_and_answers(tasks: usize, busy: Option<usize>) -> String {
        let (_poll, _remote, core) = core();
        let log = Rc::new(RefCell::new(String::new()));
        for number in 0..tasks {
            let (task_core, log) = (Rc::clone(&core), Rc::clone(&log));
            core.spawn(async move {
                log.borrow_mut().push('w');
                if busy == Some(number) {
                    task_core.yield_now().await;
                }
                task_core.behind_others().await;
                log.borrow_mut().push('a');
            });
        }
        core.run_ready();
        log.take()
    }

    #[test]
    fn answers_wait_for_a_crowd() {
        assert_eq!(works_and_answers(3, None), "wawawa");
        assert_eq!(works_and_answers(12, None), "wwwwwwwwwwwwaaaaaaaaaaaa");
    }

    #[test]
    fn answers_do_not_wait_for_a_task_that_works_on() {
        assert_eq!(works_and_answers(12, Some(2)), "wwwaawwwwwwwwwaaaaaaaaa");
    }

    #[test]
    fn tasks_of_low_priority_wait_for_idle_moments_with_patience() {
        let (_poll, _remote, core) = core();
        let start = core.now();
        let steps = Rc::new(Cell::new(0));
        let (task_core, task_steps) = (Rc::clone(&core), Rc::clone(&steps));
        core.spawn(async move {
            for _ in 0..3 {
                task_core.when_idle().await;
                task_steps.set(task_steps.get() + 1);
            }
        });
        assert!(!core.has_idle());
        core.run_ready();
        // Turns with other work pass it over.
        core.run_patient();
        assert_eq!((steps.get(), core.has_idle(), core.has_ready()), (0, true, false));
        core.run_idle();
        assert_eq!(steps.get(), 1);
        core.set_now(start + PATIENCE - Duration::from_micros(1));
        core.run_patient();
        assert_eq!(steps.get(), 1);
        core.set_now(start + PATIENCE);
        core.run_patient();
        core.run_patient();
        assert_eq!(steps.get(), 2);
        core.run_idle();
        assert_eq!((steps.get(), core.live(), core.has_idle()), (3, 0, false));
        core.run_idle();
    }

    #[test]
    fn far_deadlines_are_armed_in_steps() {
        let (_poll, _remote, core) = core();
        let start = core.now();
        let task_core = Rc::clone(&core);
        core.spawn(async move { task_core.sleep_until(start + Duration::from_secs(150)).await });
        core.run_ready();
        assert_eq!(core.until_next_timer(), Some(ARM_MAX));
        for s in [60, 120, 149] {
            core.set_now(start + Duration::from_secs(s));
            core.run_ready();
            assert_eq!(core.live(), 1);
        }
        core.set_now(start + Duration::from_secs(150));
        core.run_ready();
        assert_eq!(core.live(), 0);
    }

    #[test]
    fn a_panic_ends_one_task_only() {
        let (_poll, _remote, core) = core();
        core.spawn(async { panic!("in a session") });
        let task_core = Rc::clone(&core);
        core.spawn(async move { task_core.yield_now().await });
        core.run_ready();
        assert_eq!(core.live(), 1);
        core.run_ready();
        assert_eq!(core.live(), 0);
    }

    #[test]
    fn another_thread_wakes_a_sleeping_worker() {
        let (mut poll, remote, core) = core();
        let slot_waker: Rc<RefCell<Option<Waker>>> = Rc::default();
        let (task_core, given) = (Rc::clone(&core), Rc::clone(&slot_waker));
        core.spawn(async move {
            *given.borrow_mut() = Some(task_core.current_waker());
            let mut first = true;
            std::future::poll_fn(move |_| if std::mem::take(&mut first) { Poll::Pending } else { Poll::Ready(()) }).await;
        });
        core.run_ready();
        let waker = slot_waker.borrow_mut().take().unwrap();
        assert!(remote.prepare_sleep());
        std::thread::spawn(move || waker.wake()).join().unwrap();
        let mut events = os::net::Events::with_capacity(4);
        poll.poll(&mut events, Some(Duration::from_secs(5))).unwrap();
        remote.woke_up();
        core.run_ready();
        assert_eq!(core.live(), 0);
    }
}
