//! Virtual users: each has a connection and a home warehouse and district, and runs the mix of clause 5.2.3. Where they are more
//! than the processors a few threads run them all: a user that waits for the server gives its thread to the next one.
//!
//! 1. The kind of a transaction is drawn with weights 45, 43, 4, 4, 4; its input as clauses 2.4.1 to 2.8.1 say.
//! 2. It is run once; on a deadlock or a lock wait that takes too long it is rolled back, counted, and run again with the same input.
//!    Any other error ends the run.
//! 3. One new order in a hundred names an item that does not exist and must be rolled back: that is right, and counted apart.
//!
//! What counts is what ends between the ramp-up's end and the end of the run.

use crate::database::{Database, block_on};
use crate::error::Error;
use crate::login::Session;
use crate::random::{CUSTOMERS, DISTRICTS, ITEMS, Random};
use crate::{Load, Mode, Server, procedures, statements};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// The five transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    NewOrder,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
}

impl Kind {
    /// Name, weight in the mix (5.2.3), seconds of keying and mean seconds of thinking (5.2.5.7).
    pub const ALL: [(Self, &'static str, u32, f64, f64); 5] = [
        (Self::NewOrder, "new order", 45, 18.0, 12.0),
        (Self::Payment, "payment", 43, 3.0, 12.0),
        (Self::OrderStatus, "order status", 4, 2.0, 10.0),
        (Self::Delivery, "delivery", 4, 2.0, 5.0),
        (Self::StockLevel, "stock level", 4, 2.0, 5.0),
    ];
}

/// One line of a new order.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub item: u32,
    pub warehouse: u32,
    pub quantity: u32,
}

/// How a customer is named.
#[derive(Clone, Debug)]
pub enum Customer {
    Number(u32),
    LastName(String),
}

/// What the user types.
#[derive(Clone, Debug)]
pub enum Input {
    NewOrder { district: u32, customer: u32, lines: Vec<Line> },
    Payment { district: u32, at: (u32, u32), customer: Customer, amount: String },
    OrderStatus { district: u32, customer: Customer },
    Delivery { carrier: u32 },
    StockLevel { threshold: u32 },
}

/// How a transaction ended that was not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Committed,
    /// A new order of an item that does not exist
    RolledBack,
}

/// What one kind of transaction did.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Microseconds of each that ended, tries that conflicted included
    pub latencies_us: Vec<u32>,
    pub rolled_back: u64,
    pub conflicts: u64,
}

/// What a run did.
pub struct Outcome {
    /// By [`Kind`]
    pub tallies: [Tally; 5],
    pub seconds: f64,
    /// The server's CPU time, where its process is known
    pub server_cpu: Option<f64>,
    /// Of this process
    pub client_cpu: f64,
    /// The first error of each user that had one
    pub errors: Vec<String>,
}

impl Outcome {
    /// Whether no terminal met an error.
    pub fn sound(&self) -> bool {
        self.errors.is_empty()
    }
}

const RAMPING: u8 = 0;
const COUNTING: u8 = 1;
const OVER: u8 = 2;

/// What one user did, and why it stopped before the end.
type Done = ([Tally; 5], Option<Error>);

/// Runs the load.
pub fn run(server: &Server, load: &Load) -> Result<Outcome, Error> {
    let threads = threads(load);
    let mut users: Vec<Vec<(u32, Session)>> = (0..threads).map(|_| Vec::new()).collect();
    // Connections first, so that none counts.
    for number in 0..load.users {
        users[number as usize % threads].push((number, Session::open(server, true)?));
    }
    let phase = Arc::new(AtomicU8::new(RAMPING));
    let mut counted = (Duration::ZERO, None, 0.0);
    let done = std::thread::scope(|scope| {
        let phase = &phase;
        let all: Vec<_> = users.into_iter().map(|some| scope.spawn(move || block_on(work(some, server, load, phase)))).collect();
        sleep(load.ramp_up, load);
        let before = (Instant::now(), load.pid.map(cpu_seconds), cpu_seconds(std::process::id()));
        // Relaxed: the phase is all that is shared.
        phase.store(COUNTING, Ordering::Relaxed);
        sleep(load.seconds, load);
        phase.store(OVER, Ordering::Relaxed);
        let server_cpu = load.pid.zip(before.1).map(|(pid, before)| cpu_seconds(pid) - before);
        counted = (before.0.elapsed(), server_cpu, cpu_seconds(std::process::id()) - before.2);
        all.into_iter().map(|thread| thread.join().expect("a user does not panic")).collect::<Result<Vec<_>, _>>()
    })?;
    let mut tallies: [Tally; 5] = Default::default();
    let mut errors = Vec::new();
    for (mine, error) in done.into_iter().flatten() {
        for (all, mine) in tallies.iter_mut().zip(mine) {
            all.latencies_us.extend(mine.latencies_us);
            all.rolled_back += mine.rolled_back;
            all.conflicts += mine.conflicts;
        }
        errors.extend(error.map(|e| e.to_string()));
    }
    let (elapsed, server_cpu, client_cpu) = counted;
    Ok(Outcome { tallies, seconds: elapsed.as_secs_f64(), server_cpu, client_cpu, errors })
}

/// Sleeps, or until somebody wants the run to end.
fn sleep(seconds: f64, load: &Load) {
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    // Relaxed: the flag is all that is shared.
    while !load.interrupted.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(Duration::from_millis(50)));
    }
}

/// Threads that run the users: one for each, as applications have, while there are processors for them. Which number suits a
/// server best differs (docs/lab/tpcc.md).
fn threads(load: &Load) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    load.threads.map_or(processors, |threads| threads as usize).clamp(1, load.users as usize)
}

/// One thread: runs its users to their ends.
async fn work(users: Vec<(u32, Session)>, server: &Server, load: &Load, phase: &Arc<AtomicU8>) -> Result<Vec<Done>, Error> {
    let mut all = Vec::with_capacity(users.len());
    for (number, session) in users {
        let user = User::new(Database::new(session, load.protocol)?, server, load, number);
        all.push(tokio::spawn(user.work(Arc::clone(phase))));
    }
    let mut done = Vec::with_capacity(all.len());
    for user in all {
        done.push(user.await.expect("a user does not panic"));
    }
    Ok(done)
}

/// CPU time of a process so far.
fn cpu_seconds(pid: u32) -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|v| v.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS_PER_SECOND
}

struct User {
    db: Database,
    random: Random,
    mode: Mode,
    /// Whether it keys and thinks
    waits: bool,
    warehouses: u32,
    /// The home of the terminal: new orders, payments, deliveries are of this warehouse
    warehouse: u32,
    /// Where it asks for stock levels
    district: u32,
}

impl User {
    fn new(db: Database, server: &Server, load: &Load, number: u32) -> Self {
        let random = Random::new(load.seed << 32 | u64::from(number));
        let warehouse = number % server.warehouses + 1;
        let district = number / server.warehouses % DISTRICTS + 1;
        let (mode, waits) = (load.mode, load.keying_and_thinking);
        Self { db, random, mode, waits, warehouses: server.warehouses, warehouse, district }
    }

    async fn work(mut self, phase: Arc<AtomicU8>) -> Done {
        let mut tallies: [Tally; 5] = Default::default();
        loop {
            let at = self.draw();
            let (kind, _, _, keying, thinking) = Kind::ALL[at];
            self.wait(keying, &phase).await;
            let input = self.input(kind);
            let began = Instant::now();
            let mut conflicts = 0;
            let end = loop {
                // Relaxed: as above.
                if phase.load(Ordering::Relaxed) == OVER {
                    return (tallies, None);
                }
                match self.transaction(&input).await {
                    Ok(end) => break end,
                    Err(error) if error.is_conflict() => conflicts += 1,
                    Err(error) => return (tallies, Some(error)),
                }
                if let Err(error) = self.db.batch("ROLLBACK").await {
                    return (tallies, Some(error));
                }
            };
            if phase.load(Ordering::Relaxed) == COUNTING {
                let tally = &mut tallies[at];
                tally.latencies_us.push(u32::try_from(began.elapsed().as_micros()).unwrap_or(u32::MAX));
                tally.rolled_back += u64::from(end == End::RolledBack);
                tally.conflicts += conflicts;
            }
            let think = -thinking * (1.0 - self.random.unit()).ln();
            self.wait(think.min(10.0 * thinking), &phase).await;
        }
    }

    async fn wait(&self, seconds: f64, phase: &AtomicU8) {
        if !self.waits {
            return;
        }
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        // Relaxed: as above.
        while phase.load(Ordering::Relaxed) != OVER {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(Duration::from_millis(100))).await;
        }
    }

    /// A kind, as a place in [`Kind::ALL`].
    fn draw(&mut self) -> usize {
        let mut left = self.random.number(1, 100);
        for (at, (_, _, weight, ..)) in Kind::ALL.iter().enumerate() {
            if left <= *weight {
                return at;
            }
            left -= weight;
        }
        unreachable!("the weights are a hundred together")
    }

    async fn transaction(&mut self, input: &Input) -> Result<End, Error> {
        let home = (self.warehouse, self.district);
        match self.mode {
            Mode::Procedures => procedures::run(&mut self.db, home, input).await,
            Mode::Statements => statements::run(&mut self.db, home, input).await,
        }
    }

    fn input(&mut self, kind: Kind) -> Input {
        let random = &mut self.random;
        let district = random.number(1, DISTRICTS);
        match kind {
            Kind::NewOrder => {
                let customer = random.customer();
                let count = random.number(5, 15);
                let mut lines: Vec<Line> = (0..count).map(|_| self.line()).collect();
                if self.random.percent(1) {
                    lines.last_mut().expect("five at least").item = ITEMS + 1;
                }
                Input::NewOrder { district, customer, lines }
            }
            Kind::Payment => {
                let amount = random.amount(100, 500_000);
                let here = self.warehouses == 1 || random.percent(85);
                let at = if here { (self.warehouse, district) } else { (self.another(), self.random.number(1, DISTRICTS)) };
                Input::Payment { district, at, customer: self.customer(), amount }
            }
            Kind::OrderStatus => Input::OrderStatus { district, customer: self.customer() },
            Kind::Delivery => Input::Delivery { carrier: random.number(1, 10) },
            Kind::StockLevel => Input::StockLevel { threshold: random.number(10, 20) },
        }
    }

    fn line(&mut self) -> Line {
        let (item, quantity) = (self.random.item(), self.random.number(1, 10));
        let here = self.warehouses == 1 || !self.random.percent(1);
        Line { item, warehouse: if here { self.warehouse } else { self.another() }, quantity }
    }

    fn customer(&mut self) -> Customer {
        if self.random.percent(60) {
            Customer::LastName(self.random.last_name())
        } else {
            Customer::Number(self.random.customer())
        }
    }

    /// A warehouse that is not the home; there are two at least.
    fn another(&mut self) -> u32 {
        let other = self.random.number(1, self.warehouses - 1);
        if other < self.warehouse { other } else { other + 1 }
    }
}

const _: () = assert!(CUSTOMERS == 3_000, "the skew of names and numbers is made for this many");
