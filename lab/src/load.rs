//! The load: a few threads drive all connections, and measure.
//!
//! ```text
//! threads    log in, prepare | wait for each other | ramp-up | count | finish the events that run
//! connection idle -> send a call -> read its answer -> next call of the event ... -> event recorded -> idle
//! ```
//! **Closed loop**: a connection that is idle begins its next event at once. **Open loop**: events arrive by a Poisson process at the rate that was
//! asked for, whatever the server does; one that finds no idle connection waits in a queue. Its latency is counted from the moment at which it
//! was to begin. So a server that stalls for a second is charged with all the events of that second, not with one (Tene's "coordinated omission").
//!
//! L1: an event counts if it ends while it is counted; its latency has all its calls, and conflicts that it ran into.
//! L2: nothing is allocated for an event once buffers have grown.
//! L3: one `read` takes an answer: the socket's readiness is edge-triggered, and no more bytes can come before the next call is sent.
//! L4: a thread with one connection blocks in its reads, as other clients do; they give up now and then to look at the phase.

use crate::client::codec::write_text;
use crate::client::{Client, Codec, Sent, Socket};
use crate::error::{Error, Result};
use crate::histogram::Histogram;
use crate::random::Random;
use crate::target::Target;
use crate::workload::{Call, Event, Place, Script, Statement, Workload};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

/// When events begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loop {
    /// A connection begins an event when the last one has ended.
    Closed,
    /// So many events a second, of all connections together.
    Open { rate: f64 },
}

/// What is to be run.
pub struct Job<'a> {
    pub target: &'a Target,
    pub database: &'a str,
    pub workload: &'a dyn Workload,
    pub connections: usize,
    pub threads: usize,
    pub mode: Loop,
    /// Statements are prepared; otherwise sent as text
    pub prepared: bool,
    pub ramp_up: Duration,
    pub time: Duration,
    pub seed: u64,
    /// CPUs of the client's threads; none for all
    pub cpus: &'a [u32],
    pub interrupted: Arc<AtomicBool>,
}

/// Calls of one label.
#[derive(Clone, Copy, Debug, Default)]
pub struct LabelSum {
    pub calls: u64,
    pub ns: u64,
    pub max_ns: u64,
}

/// What a run did while it was counted.
#[derive(Debug, Default)]
pub struct Measured {
    pub events: u64,
    pub queries: u64,
    pub rows: u64,
    /// Events that were begun again after a conflict of transactions
    pub conflicts: u64,
    /// Open loop: events that had not begun at the end
    pub waiting: u64,
    pub latency: Histogram,
    pub by_label: BTreeMap<&'static str, LabelSum>,
    /// Events in each tenth of a second
    pub slices: Vec<u32>,
    /// The busiest thread's processor time, as a share of the time
    pub busiest_thread: f64,
    /// Why a connection has stopped before the end
    pub error: Option<Error>,
}

impl Measured {
    fn add(&mut self, other: Self) {
        self.events += other.events;
        self.queries += other.queries;
        self.rows += other.rows;
        self.conflicts += other.conflicts;
        self.waiting += other.waiting;
        self.latency.add(&other.latency);
        for (label, sum) in other.by_label {
            let mine = self.by_label.entry(label).or_default();
            mine.calls += sum.calls;
            mine.ns += sum.ns;
            mine.max_ns = mine.max_ns.max(sum.max_ns);
        }
        if self.slices.len() < other.slices.len() {
            self.slices.resize(other.slices.len(), 0);
        }
        self.slices.iter_mut().zip(other.slices).for_each(|(mine, theirs)| *mine += theirs);
        self.busiest_thread = self.busiest_thread.max(other.busiest_thread);
        self.error = self.error.take().or(other.error);
    }
}

const RAMPING: u8 = 0;
const COUNTING: u8 = 1;
const OVER: u8 = 2;
/// How long events that run at the end may take to finish.
const FINISH_MAX: Duration = Duration::from_secs(2);
const SLICE: Duration = Duration::from_millis(100);
/// The socket of an answer is read into this much, more if one answer is larger.
const READ_BYTES: usize = 64 << 10;
/// Open loop: events that wait for a connection; more are counted and forgotten.
const WAITING_MAX: usize = 1 << 20;
/// How often a thread looks at the phase while nothing happens.
const LOOK: Duration = Duration::from_millis(20);

/// What threads share.
struct Shared {
    phase: AtomicU8,
    /// When counting has begun, in ns after `epoch`
    counting_from: AtomicU64,
    epoch: Instant,
    stop: AtomicBool,
}

/// What the caller does at the edges of counting, and meanwhile.
pub trait Watcher {
    /// Counting begins now.
    fn begin(&mut self);
    /// Called some times a second with the events so far.
    fn look(&mut self, events: u64, elapsed: Duration);
    /// Counting has ended.
    fn end(&mut self, elapsed: Duration);
}

/// Runs a job: what it did, and for how long it was counted.
///
/// # Errors
/// A login or a statement that the server refuses when connections are opened. What happens later is in [`Measured::error`].
pub fn run(job: &Job<'_>, watcher: &mut dyn Watcher) -> Result<(Measured, Duration)> {
    let threads = job.threads.clamp(1, job.connections);
    let statements = job.workload.statements(job.target.dialect);
    let shared = Shared {
        phase: AtomicU8::new(RAMPING),
        counting_from: AtomicU64::new(u64::MAX),
        epoch: Instant::now(),
        stop: AtomicBool::new(false),
    };
    let counts: Vec<AtomicU64> = (0..threads).map(|_| AtomicU64::new(0)).collect();
    let ready = Barrier::new(threads + 1);
    let failed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads)
            .map(|thread| {
                let (shared, statements, ready, failed, count) = (&shared, &statements[..], &ready, &failed, &counts[thread]);
                scope.spawn(move || {
                    crate::machine::bind_this_thread(job.cpus);
                    let opened = Driver::open(job, statements, thread, threads, shared, count);
                    if opened.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    ready.wait();
                    let driver = opened?;
                    if failed.load(Ordering::Relaxed) {
                        return Ok(Measured::default());
                    }
                    Ok(driver.drive())
                })
            })
            .collect();
        ready.wait();
        let elapsed = if failed.load(Ordering::Relaxed) { Duration::ZERO } else { count(job, &shared, &counts, watcher) };
        let mut sum = Measured::default();
        let mut first = Ok(());
        for thread in all {
            match thread.join().expect("a thread of the load does not panic") {
                Ok(measured) => sum.add(measured),
                Err(error) => first = first.and(Err(error)),
            }
        }
        first.map(|()| (sum, elapsed))
    })
}

/// The phases, seen from the thread that waits.
fn count(job: &Job<'_>, shared: &Shared, counts: &[AtomicU64], watcher: &mut dyn Watcher) -> Duration {
    // Relaxed throughout: flags and counts are all that is shared.
    let ended = || job.interrupted.load(Ordering::Relaxed) || shared.stop.load(Ordering::Relaxed);
    let wait = |time: Duration, look: &mut dyn FnMut(Duration)| {
        let began = Instant::now();
        while !ended() && began.elapsed() < time {
            std::thread::sleep((time - began.elapsed().min(time)).min(Duration::from_millis(50)));
            look(began.elapsed());
        }
    };
    wait(job.ramp_up, &mut |_| ());
    watcher.begin();
    let began = Instant::now();
    shared.counting_from.store(shared.epoch.elapsed().as_nanos() as u64, Ordering::Relaxed);
    shared.phase.store(COUNTING, Ordering::Relaxed);
    wait(job.time, &mut |elapsed| watcher.look(counts.iter().map(|count| count.load(Ordering::Relaxed)).sum(), elapsed));
    shared.phase.store(OVER, Ordering::Relaxed);
    let elapsed = began.elapsed();
    watcher.end(elapsed);
    elapsed
}

/// A socket that mio watches.
enum Stream {
    Tcp(mio::net::TcpStream),
    Unix(mio::net::UnixStream),
}

impl Stream {
    /// A socket that `blocks` is waited for in its reads, and by no event loop.
    fn new(socket: Socket, blocks: bool) -> Result<Self> {
        socket.set_patience(blocks.then_some(LOOK))?;
        Ok(match socket {
            Socket::Tcp(stream) => {
                stream.set_nonblocking(!blocks)?;
                Self::Tcp(mio::net::TcpStream::from_std(stream))
            }
            Socket::Unix(stream) => {
                stream.set_nonblocking(!blocks)?;
                Self::Unix(mio::net::UnixStream::from_std(stream))
            }
        })
    }

    fn register(&mut self, poll: &Poll, token: Token, interest: Interest, again: bool) -> Result<()> {
        let registry = poll.registry();
        Ok(match (self, again) {
            (Self::Tcp(stream), false) => registry.register(stream, token, interest),
            (Self::Tcp(stream), true) => registry.reregister(stream, token, interest),
            (Self::Unix(stream), false) => registry.register(stream, token, interest),
            (Self::Unix(stream), true) => registry.reregister(stream, token, interest),
        }?)
    }

    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }
}

/// One connection.
struct Connection {
    stream: Stream,
    codec: Codec,
    script: Box<dyn Script>,
    /// Numbers of the prepared statements
    ids: Vec<u32>,
    /// Whether the types of a statement's values were sent
    bound: Vec<bool>,
    event: Event,
    /// The call that runs; past the end: a ROLLBACK after a conflict
    at: usize,
    out: Vec<u8>,
    /// Bytes of `out` that were sent
    sent: usize,
    /// The start of an answer whose end is not here yet
    input: Vec<u8>,
    /// ns after the epoch: when the event was to begin, when the call was sent
    intended: u64,
    called: u64,
    state: Running,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Running {
    Idle,
    Call,
    /// A ROLLBACK after a conflict; the event begins again.
    Rollback,
    Gone,
}

/// One thread with its connections.
struct Driver<'a> {
    poll: Poll,
    timer: Option<rustix::fd::OwnedFd>,
    connections: Vec<Connection>,
    statements: &'a [Statement],
    prepared: bool,
    random: Random,
    shared: &'a Shared,
    count: &'a AtomicU64,
    done: Measured,
    by_label: Vec<LabelSum>,
    /// By statement, its place in `by_label`
    label_of: Vec<usize>,
    labels: Vec<&'static str>,
    buffer: Vec<u8>,
    idle: Vec<usize>,
    /// Open loop: intended starts of events that wait
    queue: VecDeque<u64>,
    /// Open loop: the mean time between arrivals in ns, and the next one
    arrivals: Option<(f64, u64)>,
    over: Option<Instant>,
    /// The thread has one connection, whose reads block: a wait for readiness would cost as much again
    alone: bool,
}

const TIMER: Token = Token(usize::MAX - 1);

impl<'a> Driver<'a> {
    fn open(
        job: &Job<'_>,
        statements: &'a [Statement],
        thread: usize,
        threads: usize,
        shared: &'a Shared,
        count: &'a AtomicU64,
    ) -> Result<Self> {
        let poll = Poll::new()?;
        let mut connections = Vec::new();
        let alone = job.mode == Loop::Closed && job.connections <= threads;
        for number in (thread..job.connections).step_by(threads) {
            if job.interrupted.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let mut client = Client::open(job.target, Some(job.database)).map_err(Error::at(format!(
                "connection {} of {}",
                number + 1,
                job.connections
            )))?;
            let sql =
                statements.iter().filter(|statement| job.prepared && !statement.as_text).map(|statement| statement.sql.as_str());
            let mut numbers = client.prepare(sql)?.into_iter();
            let ids =
                statements.iter().map(|statement| if statement.as_text { 0 } else { numbers.next().unwrap_or(0) }).collect();
            let mut stream = Stream::new(client.socket, alone)?;
            if !alone {
                stream.register(&poll, Token(connections.len()), Interest::READABLE, false)?;
            }
            connections.push(Connection {
                stream,
                codec: client.codec,
                script: job.workload.script(Place { number, of: job.connections }, job.target.dialect),
                ids,
                bound: vec![false; statements.len()],
                event: Event::default(),
                at: 0,
                out: Vec::new(),
                sent: 0,
                input: Vec::new(),
                intended: 0,
                called: 0,
                state: Running::Idle,
            });
        }
        let (timer, arrivals) = match job.mode {
            Loop::Closed => (None, None),
            Loop::Open { rate } => {
                let timer = rustix::time::timerfd_create(
                    rustix::time::TimerfdClockId::Monotonic,
                    rustix::time::TimerfdFlags::NONBLOCK | rustix::time::TimerfdFlags::CLOEXEC,
                )
                .map_err(|error| Error::io("a timer")(error.into()))?;
                poll.registry().register(&mut SourceFd(&timer.as_raw_fd()), TIMER, Interest::READABLE)?;
                (Some(timer), Some((threads as f64 * 1e9 / rate, 0)))
            }
        };
        let mut labels: Vec<&'static str> = Vec::new();
        let label_of = statements.iter().map(|statement| {
            labels.iter().position(|known| *known == statement.label).unwrap_or_else(|| {
                labels.push(statement.label);
                labels.len() - 1
            })
        });
        let label_of = label_of.collect();
        Ok(Self {
            poll,
            timer,
            idle: (0..connections.len()).rev().collect(),
            connections,
            statements,
            prepared: job.prepared,
            random: Random::new(job.seed << 20 | thread as u64),
            shared,
            count,
            done: Measured::default(),
            by_label: vec![LabelSum::default(); labels.len()],
            label_of,
            labels,
            buffer: vec![0; READ_BYTES],
            queue: VecDeque::new(),
            arrivals,
            over: None,
            alone,
        })
    }

    fn now(&self) -> u64 {
        self.shared.epoch.elapsed().as_nanos() as u64
    }

    fn drive(mut self) -> Measured {
        let mut events = Events::with_capacity(1024);
        let mut cpu = None;
        if let Some((_, next)) = &mut self.arrivals {
            *next = self.shared.epoch.elapsed().as_nanos() as u64;
        }
        if self.arrivals.is_none() {
            while let Some(at) = self.idle.pop() {
                let now = self.now();
                self.begin(at, now);
            }
        }
        loop {
            let phase = self.shared.phase.load(Ordering::Relaxed);
            match phase {
                COUNTING if cpu.is_none() => cpu = Some((crate::machine::thread_cpu(), Instant::now())),
                OVER if self.over.is_none() => {
                    self.over = Some(Instant::now());
                    if let Some((used, began)) = cpu {
                        self.done.busiest_thread =
                            (crate::machine::thread_cpu() - used) / began.elapsed().as_secs_f64().max(1e-9);
                    }
                }
                _ => (),
            }
            if let Some(over) = self.over
                && (over.elapsed() > FINISH_MAX
                    || self.connections.iter().all(|c| matches!(c.state, Running::Idle | Running::Gone)))
            {
                break;
            }
            if self.connections.iter().all(|c| c.state == Running::Gone) {
                // Nobody is left to measure.
                self.shared.stop.store(true, Ordering::Relaxed);
                if self.over.is_none() && phase != OVER {
                    std::thread::sleep(LOOK);
                    continue;
                }
            }
            if self.alone {
                if self.connections[0].state == Running::Gone {
                    std::thread::sleep(LOOK);
                } else if let Err(error) = self.readable(0) {
                    self.lose(0, error);
                }
                continue;
            }
            self.arrive();
            match self.poll.poll(&mut events, Some(LOOK)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.done.error = Some(error.into());
                    break;
                }
                Ok(()) => (),
            }
            for event in &events {
                if event.token() == TIMER {
                    continue;
                }
                let at = event.token().0;
                let outcome = if event.is_writable() { self.flush(at) } else { Ok(()) };
                let outcome = outcome.and_then(|()| if event.is_readable() { self.readable(at) } else { Ok(()) });
                if let Err(error) = outcome {
                    self.lose(at, error);
                }
            }
        }
        self.done.waiting = self.queue.len() as u64;
        self.done.by_label = self.labels.iter().copied().zip(self.by_label).collect();
        self.done
    }

    /// A connection that cannot go on.
    fn lose(&mut self, at: usize, error: Error) {
        self.connections[at].state = Running::Gone;
        // One error ends the run: figures of fewer connections would be those of another run.
        self.shared.stop.store(true, Ordering::Relaxed);
        self.done.error.get_or_insert(error);
    }

    /// Open loop: begins the events that are due, and sets the timer.
    fn arrive(&mut self) {
        let Some((mean, mut next)) = self.arrivals else { return };
        if self.over.is_some() {
            return;
        }
        let now = self.now();
        while next <= now {
            match self.idle.pop() {
                Some(at) => self.begin(at, next),
                None if self.queue.len() < WAITING_MAX => self.queue.push_back(next),
                None => self.done.waiting += 1,
            }
            next += (self.random.exponential() * mean).max(1.0) as u64;
        }
        self.arrivals = Some((mean, next));
        if let Some(timer) = &self.timer {
            let left = (next - now).max(1);
            let value = rustix::time::Timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as i64 };
            let once =
                rustix::time::Itimerspec { it_interval: rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
            // It is there, and the time is in range.
            let _ = rustix::time::timerfd_settime(timer, rustix::time::TimerfdTimerFlags::empty(), &once);
        }
    }

    /// Begins the next event of a connection.
    fn begin(&mut self, at: usize, intended: u64) {
        let connection = &mut self.connections[at];
        connection.event.clear();
        connection.script.event(&mut self.random, &mut connection.event);
        connection.intended = intended;
        connection.at = 0;
        self.send(at);
    }

    fn send(&mut self, at: usize) {
        let now = self.now();
        let connection = &mut self.connections[at];
        connection.out.clear();
        connection.sent = 0;
        connection.called = now;
        connection.state = Running::Call;
        let call = connection.event.calls()[connection.at];
        let outcome = put(connection, call, &self.statements[call.statement as usize], self.prepared);
        if let Err(error) = outcome.and_then(|()| self.flush(at)) {
            self.lose(at, error);
        }
    }

    fn flush(&mut self, at: usize) -> Result<()> {
        let connection = &mut self.connections[at];
        while connection.sent < connection.out.len() {
            match connection.stream.write(&connection.out[connection.sent..]) {
                Ok(0) => return Err(std::io::Error::from(ErrorKind::WriteZero).into()),
                Ok(written) => connection.sent += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return connection.stream.register(&self.poll, Token(at), Interest::READABLE | Interest::WRITABLE, true);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn readable(&mut self, at: usize) -> Result<()> {
        loop {
            let connection = &mut self.connections[at];
            if !matches!(connection.state, Running::Call | Running::Rollback) {
                // Readiness without a call: the server has closed it, or tells about a timeout.
                return match connection.stream.read(&mut self.buffer) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
                    Err(error) => Err(error.into()),
                    Ok(_) => Err(Error::asked("the server has closed a connection that was idle")),
                };
            }
            let kept = connection.input.len();
            if self.buffer.len() < kept + READ_BYTES / 2 {
                self.buffer.resize((kept + READ_BYTES) * 2, 0);
            }
            self.buffer[..kept].copy_from_slice(&connection.input);
            let got = match connection.stream.read(&mut self.buffer[kept..]) {
                Ok(0) => return Err(Error::asked("the server has closed the connection in the middle of the run")),
                Ok(got) => got,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let filled = kept + got;
            let (used, done) = connection.codec.feed(&self.buffer[..filled], &mut |_| ())?;
            connection.input.clear();
            connection.input.extend_from_slice(&self.buffer[used..filled]);
            if done {
                return self.answered(at);
            }
            // L3: a full buffer may have left bytes behind.
            if filled < self.buffer.len() {
                return Ok(());
            }
        }
    }

    /// The call's answer is here.
    fn answered(&mut self, at: usize) -> Result<()> {
        let now = self.now();
        let counts = self.shared.phase.load(Ordering::Relaxed) == COUNTING;
        let connection = &mut self.connections[at];
        if connection.state == Running::Rollback {
            // The event begins again; its latency goes on.
            connection.codec.outcome()?;
            connection.at = 0;
            if self.over.is_some() {
                connection.state = Running::Idle;
                return Ok(());
            }
            self.send(at);
            return Ok(());
        }
        let statement = connection.event.calls()[connection.at].statement as usize;
        if counts {
            let sum = &mut self.by_label[self.label_of[statement]];
            let took = now - connection.called;
            sum.calls += 1;
            sum.ns += took;
            sum.max_ns = sum.max_ns.max(took);
            self.done.queries += 1;
            self.done.rows += connection.codec.rows();
        }
        if let Err(error) = connection.codec.outcome() {
            if !error.is_conflict() {
                return Err(Error::at(format!("'{}'", self.statements[statement].sql.chars().take(120).collect::<String>()))(
                    error,
                ));
            }
            if counts {
                self.done.conflicts += 1;
            }
            connection.out.clear();
            connection.sent = 0;
            connection.codec.query(&mut connection.out, b"ROLLBACK")?;
            connection.codec.begin(Sent::Query);
            connection.state = Running::Rollback;
            return self.flush(at);
        }
        connection.at += 1;
        if connection.at < connection.event.calls().len() {
            self.send(at);
            return Ok(());
        }
        self.ended(at, now, counts);
        Ok(())
    }

    /// The event has ended.
    fn ended(&mut self, at: usize, now: u64, counts: bool) {
        let connection = &mut self.connections[at];
        if counts {
            self.done.events += 1;
            self.done.latency.record(now.saturating_sub(connection.intended)); // L1
            let from = self.shared.counting_from.load(Ordering::Relaxed);
            let slice = (now.saturating_sub(from) / SLICE.as_nanos() as u64) as usize;
            if self.done.slices.len() <= slice {
                self.done.slices.resize(slice + 1, 0);
            }
            self.done.slices[slice] += 1;
            self.count.store(self.done.events, Ordering::Relaxed);
        }
        if self.shared.phase.load(Ordering::Relaxed) == OVER {
            connection.state = Running::Idle;
            return;
        }
        match (self.arrivals.is_some(), self.queue.pop_front()) {
            (false, _) => self.begin(at, now),
            (true, Some(intended)) => self.begin(at, intended),
            (true, None) => {
                connection.state = Running::Idle;
                self.idle.push(at);
            }
        }
    }
}

/// Writes a call.
fn put(connection: &mut Connection, call: Call, statement: &Statement, prepared: bool) -> Result<()> {
    let values = connection.event.values(call);
    if prepared && !statement.as_text {
        let at = call.statement as usize;
        let first = !std::mem::replace(&mut connection.bound[at], true);
        connection.codec.execute(&mut connection.out, connection.ids[at], values, &connection.event.text, first);
        connection.codec.begin(Sent::Execute);
        return Ok(());
    }
    let mut text = std::mem::take(&mut connection.input);
    write_text(&mut text, &statement.sql, values, &connection.event.text);
    text.extend_from_slice(connection.event.tail_of(call));
    let outcome = connection.codec.query(&mut connection.out, &text);
    text.clear();
    connection.input = text;
    connection.codec.begin(Sent::Query);
    outcome
}
