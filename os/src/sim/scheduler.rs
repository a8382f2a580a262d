//! Who runs: one thread at a time, chosen by the run's generator.
//!
//! 1. `point()` stands before whatever other threads could notice. Most points only count down; at some, drawn anew each time, the turn may
//!    go to any thread that can run. 2. Who waits (`block`) gives its turn away until it is woken or its time has come. 3. When nobody
//!    can run, the clock jumps to the next time somebody waits for; when nobody waits for a time either, the run has failed: a wake-up
//!    was lost.
//!
//! A crash (planned, or [`fatal`]) ends the machine between two points: its threads never get another turn, and the driver, thread 0, does.
//! Their stacks and memory stay until the process ends; a run is one process.
//!
//! S1: exactly one thread holds the turn; only it touches [`World`]. S2: nothing here asks the real clock.

use super::disk::{CrashKind, Disk};
use super::net::Net;
use super::random::Rng;
use super::trace::Trace;
use rustix::thread::CpuSet;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What one point costs in virtual time.
const POINT_NS: u64 = 60;
/// The longest time that a thread gets no CPU although it could run.
const STAY_NS_MAX: u64 = 15_000_000;
/// Lines of what was said that a failure shows.
const SCRIPT_SHOWN: usize = 200;
/// A run that needs more virtual time than this makes no progress.
const RUN_NS_MAX: u64 = 200_000_000_000;

/// How a machine stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Its main thread returned.
    Ended,
    /// As planned.
    Crashed(CrashKind),
    /// The engine stopped itself.
    Fatal,
}

/// How threads take turns.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Points between two choices, on average.
    pub points_per_choice: u64,
    /// Some threads are this much slower than others.
    pub weight_max: u64,
    /// One choice in this many takes the CPU away from the thread for a long time, wherever it is. 0: none does.
    pub choices_per_stay: u64,
    pub parallelism: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    /// On a key, at most until a time.
    Blocked(usize, Option<u64>),
    Done,
}

/// The real thread waits here for its turn.
#[derive(Default)]
struct Gate {
    open: AtomicBool,
    thread: OnceLock<std::thread::Thread>,
}

impl Gate {
    fn let_in(&self) {
        self.open.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    fn wait(&self) {
        let _ = self.thread.set(std::thread::current());
        while !self.open.swap(false, Ordering::Acquire) {
            std::thread::park();
        }
    }
}

struct Slot {
    name: String,
    state: State,
    /// `unpark` came before `park`.
    permit: bool,
    timed_out: bool,
    weight: u64,
    gate: Arc<Gate>,
}

/// Everything that exists.
pub(super) struct World {
    seed: u64,
    rng: Rng,
    schedule: Schedule,
    threads: Vec<Slot>,
    /// Threads that have not ended, in the order of their start. The driver is among them.
    alive: Vec<usize>,
    current: usize,
    pub now_ns: u64,
    choices: u64,
    crash_at: Option<(u64, CrashKind)>,
    halt: Option<Halt>,
    again: String,
    /// What clients said, for people.
    script: Vec<String>,
    pub trace: Trace,
    pub disk: Disk,
    pub net: Net,
    pub counters: BTreeMap<&'static str, u64>,
}

static WORLD: Mutex<Option<World>> = Mutex::new(None);
/// Points until the next choice.
static POINTS_LEFT: AtomicU64 = AtomicU64::new(0);

/// `unpark` and `park`.
const PARKED: usize = 1;
const SLEEPING: usize = 2;
const HALTED: usize = 3;
/// Joins of thread n wait on this plus n; real addresses are far above.
const JOINING: usize = 1 << 8;

fn lock() -> MutexGuard<'static, Option<World>> {
    WORLD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `what` on the world; outside of a run there is none.
pub(super) fn with<T>(what: impl FnOnce(&mut World) -> T) -> T {
    what(lock().as_mut().expect("simulated threads, files and time exist within a run"))
}

/// Begins the run: the caller is the driver. `again` is what to type to repeat it.
pub fn start(seed: u64, again: &str) {
    let mut rng = Rng::new(seed);
    let gate = Arc::new(Gate::default());
    let _ = gate.thread.set(std::thread::current());
    let driver = Slot { name: "driver".into(), state: State::Ready, permit: false, timed_out: false, weight: 1, gate };
    let disk = Disk::new(rng.fork());
    let schedule = Schedule { points_per_choice: 16, weight_max: 1, choices_per_stay: 0, parallelism: 1 };
    *lock() = Some(World {
        seed,
        rng,
        schedule,
        threads: vec![driver],
        alive: vec![0],
        current: 0,
        now_ns: 0,
        choices: 0,
        crash_at: None,
        halt: None,
        again: again.into(),
        script: Vec::new(),
        trace: Trace::default(),
        disk,
        net: Net::new(Rng::new(seed ^ 0x6e65_u64.rotate_left(40))),
        counters: BTreeMap::new(),
    });
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let what = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
        let what = what.unwrap_or("without words");
        let at = info.location().map(ToString::to_string).unwrap_or_default();
        let mut text = format!("panic at {at}: {what}");
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            text += &format!("\n{}", std::backtrace::Backtrace::force_capture());
        }
        fail(&text)
    }));
}

/// One thread runs at a time: on one CPU the turn goes over faster. It is the `nth` of those that the process may use.
pub fn pin(nth: usize) {
    let Ok(allowed) = rustix::thread::sched_getaffinity(None) else { return };
    let mut all = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).cycle();
    let Some(cpu) = all.nth(nth) else { return };
    let mut cpus = CpuSet::new();
    cpus.set(cpu);
    // Only a matter of speed.
    let _ = rustix::thread::sched_setaffinity(None, &cpus);
}

/// Prints what happened and how to see it again, and ends the process.
pub fn fail(what: &str) -> ! {
    let world = WORLD.try_lock();
    if let Ok(Some(world)) = world.as_deref() {
        println!("FAIL seed {}: {what}", world.seed);
        println!("  in {} at {:.6} ms, choice {}", world.threads[world.current].name, world.now_ns as f64 / 1e6, world.choices);
        println!("  the last events:");
        world.trace.last(60).for_each(|line| println!("  | {line}"));
        if !world.script.is_empty() {
            println!("  what was said:");
            world.script.iter().skip(world.script.len().saturating_sub(SCRIPT_SHOWN)).for_each(|line| println!("  > {line}"));
        }
        println!("  threads:");
        for number in &world.alive {
            let slot = &world.threads[*number];
            println!("  | {}: {:?}", slot.name, slot.state);
        }
        println!("  again: {}", world.again);
    } else {
        println!("FAIL: {what}");
    }
    std::process::exit(1)
}

/// Prints every event as it happens.
pub fn speak() {
    with(|world| world.trace.speak());
}

/// Notes an event.
pub fn note(what: std::fmt::Arguments<'_>) {
    with(|world| world.note(what));
}

/// Notes what a client says to the machine, or hears from it: a failure shows it apart from the machine's own events.
pub fn say(what: std::fmt::Arguments<'_>) {
    with(|world| {
        world.note(what);
        let line = format!("{:>12.6} ms {what}", world.now_ns as f64 / 1e6);
        world.script.push(line);
    });
}

/// How much was said.
pub fn said() -> usize {
    with(|world| world.script.len())
}

/// Adds to a counter of the run, for its summary.
pub fn count(what: &'static str, by: u64) {
    with(|world| *world.counters.entry(what).or_default() += by);
}

/// What the counters say, and the trace: hash and number of events, choices made, virtual nanoseconds.
pub fn summary() -> (BTreeMap<&'static str, u64>, u64, u64, u64, u64) {
    with(|world| (world.counters.clone(), world.trace.hash(), world.trace.count(), world.choices, world.now_ns))
}

/// Random bytes for the engine.
pub fn fill_random(bytes: &mut [u8]) {
    point();
    with(|world| bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&world.rng.next_u64().to_le_bytes()[..chunk.len()])));
}

pub fn now_ns() -> u64 {
    // The clock moves also for those who only look at it.
    point();
    with(|world| world.now_ns)
}

pub(super) fn current() -> usize {
    with(|world| world.current)
}

pub(super) fn parallelism() -> usize {
    with(|world| world.schedule.parallelism)
}

/// Starts a machine on what is on the disk and lets it run until it stops. The driver calls this.
pub fn run_machine(schedule: Schedule, crash: Option<(u64, CrashKind)>, main: impl FnOnce() + Send + 'static) -> Halt {
    with(|world| {
        world.schedule = schedule;
        world.halt = None;
        world.crash_at = crash.map(|(after, kind)| (world.choices + after, kind));
    });
    let body = move || {
        main();
        with(|world| world.halt = Some(Halt::Ended));
        wake_all(HALTED);
    };
    let spawned = super::thread::Builder::new().name("main".into()).spawn(body);
    spawned.unwrap_or_else(|e| fail(&format!("the system gives no more threads: {e}")));
    loop {
        if let Some(halt) = with(|world| world.halt.take()) {
            with(World::stop_machine);
            return halt;
        }
        block(HALTED, None);
    }
}

/// The engine stops itself: the machine stays, the process is gone.
pub fn fatal(what: &str) -> ! {
    let mut world = lock();
    let the_world = world.as_mut().expect("the engine runs within a run");
    the_world.note(format_args!("fatal: {what}"));
    the_world.disk.crash(CrashKind::Process);
    the_world.halt = Some(Halt::Fatal);
    the_world.hand_to_driver();
    let gate = the_world.threads[0].gate.clone();
    drop(world);
    gate.let_in();
    stay_for_ever()
}

/// The real thread of a simulated one that is no more.
fn stay_for_ever() -> ! {
    loop {
        std::thread::park();
    }
}

/// Something other threads could notice comes next.
#[inline]
pub fn point() {
    // Relaxed, and not one operation: S1.
    let left = POINTS_LEFT.load(Ordering::Relaxed);
    if left > 1 { POINTS_LEFT.store(left - 1, Ordering::Relaxed) } else { choose() }
}

#[cold]
fn choose() {
    let mut world = lock();
    let Some(the_world) = world.as_mut() else { return };
    the_world.begin_choice();
    if the_world.crash_is_due() {
        return crash_now(world);
    }
    let often = the_world.schedule.choices_per_stay;
    if often > 0 && the_world.current != 0 && the_world.rng.chance(1, often) {
        let (me, until) = (the_world.current, the_world.now_ns + the_world.rng.within(10_000..=STAY_NS_MAX));
        the_world.threads[me].state = State::Blocked(SLEEPING, Some(until));
    }
    switch(world);
}

/// Waits for `wake_*` of the key, or for the time. `false`: the time came.
pub(super) fn block(key: usize, until: Option<u64>) -> bool {
    let mut world = lock();
    let the_world = world.as_mut().expect("only simulated threads wait");
    let me = the_world.current;
    the_world.threads[me].state = State::Blocked(key, until);
    the_world.threads[me].timed_out = false;
    the_world.begin_choice();
    if the_world.crash_is_due() {
        crash_now(world);
    } else {
        switch(world);
    }
    with(|world| !world.threads[me].timed_out)
}

pub(super) fn wake_all(key: usize) -> usize {
    with(|world| world.wake(key, usize::MAX))
}

pub(super) fn wake_one(key: usize) -> bool {
    with(|world| world.wake(key, 1) > 0)
}

pub(super) fn sleep(ns: u64) {
    let until = now_ns() + ns;
    block(SLEEPING, Some(until));
}

/// Lets another thread run, if there is one.
pub(super) fn give_way() {
    POINTS_LEFT.store(0, Ordering::Relaxed);
    point();
}

pub(super) fn park(until: Option<u64>) {
    let permit = with(|world| {
        let me = world.current;
        std::mem::take(&mut world.threads[me].permit) || world.rng.chance(1, 64)
    });
    if !permit {
        block(PARKED, until);
        with(|world| {
            let me = world.current;
            world.threads[me].permit = false;
        });
    }
}

pub(super) fn unpark(number: usize) {
    with(|world| {
        let slot = &mut world.threads[number];
        slot.permit = true;
        if matches!(slot.state, State::Blocked(PARKED, _)) {
            slot.state = State::Ready;
        }
    });
}

pub(super) fn join(number: usize) {
    point();
    while with(|world| world.threads[number].state != State::Done) {
        block(JOINING + number, None);
    }
}

/// A thread that is about to exist.
pub(super) struct Seat {
    number: usize,
    gate: Arc<Gate>,
}

pub(super) fn new_thread(name: &str) -> Seat {
    with(|world| {
        let gate = Arc::new(Gate::default());
        let weight = 1 + world.rng.below(world.schedule.weight_max);
        world.threads.push(Slot {
            name: name.into(),
            state: State::Ready,
            permit: false,
            timed_out: false,
            weight,
            gate: gate.clone(),
        });
        let number = world.threads.len() - 1;
        world.alive.push(number);
        Seat { number, gate }
    })
}

impl Seat {
    pub fn number(&self) -> usize {
        self.number
    }

    /// On the new thread: waits for its first turn.
    pub fn begin(&self) {
        self.gate.wait();
    }

    /// On the new thread, last of all.
    pub fn end(self) {
        let mut world = lock();
        let the_world = world.as_mut().expect("a thread ends within the run");
        the_world.threads[self.number].state = State::Done;
        the_world.alive.retain(|number| *number != self.number);
        the_world.wake(JOINING + self.number, usize::MAX);
        the_world.begin_choice();
        let next = next_or_fail(world);
        next.let_in();
    }
}

fn crash_now(mut world: MutexGuard<'static, Option<World>>) {
    let the_world = world.as_mut().expect("asked before");
    let kind = the_world.crash_at.take().map_or(CrashKind::Process, |(_, kind)| kind);
    the_world.note(format_args!("crash: {kind:?}"));
    the_world.disk.crash(kind);
    the_world.halt = Some(Halt::Crashed(kind));
    the_world.hand_to_driver();
    let gate = the_world.threads[0].gate.clone();
    drop(world);
    gate.let_in();
    stay_for_ever()
}

/// Gives the turn to the thread that the generator chooses, and returns when the turn comes back.
fn switch(mut world: MutexGuard<'static, Option<World>>) {
    let the_world = world.as_mut().expect("asked before");
    let me = the_world.current;
    let mine = the_world.threads[me].gate.clone();
    if the_world.pick_next() {
        if the_world.current == me {
            return;
        }
        let next = the_world.threads[the_world.current].gate.clone();
        drop(world);
        next.let_in();
        mine.wait();
    } else {
        drop(world);
        stuck()
    }
}

fn next_or_fail(mut world: MutexGuard<'static, Option<World>>) -> Arc<Gate> {
    let the_world = world.as_mut().expect("asked before");
    if the_world.pick_next() {
        return the_world.threads[the_world.current].gate.clone();
    }
    drop(world);
    stuck()
}

fn stuck() -> ! {
    fail("every thread waits, and for no time, or nothing is done for too long: a wake-up was lost, or a loop does not end")
}

impl World {
    fn note(&mut self, what: std::fmt::Arguments<'_>) {
        self.trace.add(self.now_ns, &self.threads[self.current].name, what);
    }

    fn begin_choice(&mut self) {
        self.choices += 1;
        let points = 1 + self.rng.below(2 * self.schedule.points_per_choice);
        POINTS_LEFT.store(points, Ordering::Relaxed);
        self.now_ns += points * POINT_NS;
    }

    fn crash_is_due(&self) -> bool {
        // The driver is no part of the machine.
        self.current != 0 && self.crash_at.is_some_and(|(at, _)| self.choices >= at)
    }

    /// Makes the next thread the current one. `false`: nobody will ever run.
    fn pick_next(&mut self) -> bool {
        if self.now_ns > RUN_NS_MAX {
            return false;
        }
        loop {
            let mut total = 0;
            let mut earliest = u64::MAX;
            for number in &self.alive {
                let slot = &mut self.threads[*number];
                if let State::Blocked(_, Some(until)) = slot.state {
                    if until <= self.now_ns {
                        slot.state = State::Ready;
                        slot.timed_out = true;
                    } else {
                        earliest = earliest.min(until);
                    }
                }
                if slot.state == State::Ready {
                    total += slot.weight;
                }
            }
            if total > 0 {
                let mut drawn = self.rng.below(total);
                for number in &self.alive {
                    let slot = &self.threads[*number];
                    if slot.state == State::Ready {
                        if drawn < slot.weight {
                            self.current = *number;
                            self.trace.mix(*number as u64);
                            return true;
                        }
                        drawn -= slot.weight;
                    }
                }
            }
            if earliest == u64::MAX {
                return false;
            }
            self.now_ns = earliest;
        }
    }

    pub fn wake(&mut self, key: usize, count: usize) -> usize {
        let waiting = |slot: &Slot| matches!(slot.state, State::Blocked(on, _) if on == key);
        let mut sleepers: Vec<usize> = self.alive.iter().copied().filter(|n| waiting(&self.threads[*n])).collect();
        while sleepers.len() > count {
            sleepers.swap_remove(self.rng.below(sleepers.len() as u64) as usize);
        }
        for number in &sleepers {
            self.threads[*number].state = State::Ready;
        }
        sleepers.len()
    }

    fn hand_to_driver(&mut self) {
        self.stop_machine();
        self.threads[0].state = State::Ready;
        self.current = 0;
    }

    /// No thread but the driver gets another turn.
    fn stop_machine(&mut self) {
        for number in std::mem::replace(&mut self.alive, vec![0]) {
            if number != 0 {
                self.threads[number].state = State::Done;
            }
        }
        self.crash_at = None;
        self.disk.release_locks();
        self.net.forget();
    }
}
