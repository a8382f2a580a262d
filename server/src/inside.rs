//! How threads of this process that are no workers reach the server: the console.
//!
//! - [`Inside::connect`] makes a connection without a network. The server treats it like any other: the caller speaks MySQL's protocol,
//!   logs in as an account for the host of the peer it acts for, and gets what that account may see.
//! - [`Inside::figures`] gathers counters by message, as SHOW GLOBAL STATUS does.
//!
//! A caller that does not read holds up nobody: its session waits as for any slow client.

use crate::ServerHandle;
use crate::digests;
use crate::shared::Shared;
use crate::show;
use crate::variables::{self, Effect, Scope, VariableId};
use crate::worker::{Worker, gather};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use sync::Mutex;

/// The server, as other threads of the process see it.
#[derive(Clone)]
pub struct Inside {
    shared: Arc<Shared>,
    /// Nanoseconds of a tick, once they are known well: from then on the same, so that no counter of time falls and none leaves its bucket.
    tick_nanos: Arc<OnceLock<f64>>,
    /// The waits as they were told last: one that ends may turn out a little shorter than it seemed while it lasted, and counters must not
    /// fall.
    told_waits: Arc<Mutex<BTreeMap<&'static str, (u64, f64)>>>,
}

/// How long after the start a tick's length is known well.
const KNOWN_AFTER: Duration = Duration::from_secs(1);

/// The counters of the whole server.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The numbers of SHOW GLOBAL STATUS by name.
    pub status: BTreeMap<&'static str, u64>,
    /// How many statements took how long: the count of each bucket, and where it ends, in seconds.
    pub latencies: Vec<(f64, u64)>,
    /// The sum of these durations, in seconds.
    pub latency_sum: f64,
    /// Waits of sessions by kind: how many, and their seconds.
    pub waits: BTreeMap<&'static str, (u64, f64)>,
}

/// A global variable, as people look at it.
#[derive(Clone, Debug)]
pub struct ShownVariable {
    pub name: &'static str,
    pub value: String,
    /// The value in a new server.
    pub default: String,
    /// It can be set while the server runs.
    pub is_dynamic: bool,
    /// Setting it does nothing, for this reason.
    pub no_effect: Option<&'static str>,
}

impl Inside {
    pub fn new(handle: &ServerHandle) -> Self {
        Self { shared: Arc::clone(&handle.shared), tick_nanos: Arc::default(), told_waits: Arc::default() }
    }

    /// A new connection for a client at `peer`, as if it came by the network.
    ///
    /// # Errors
    /// The system has no descriptors left.
    #[cfg(not(sim))]
    pub fn connect(&self, peer: std::net::SocketAddr) -> std::io::Result<std::os::unix::net::UnixStream> {
        let (theirs, ours) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let peer = reactor::connection::Peer::at(peer);
        let stream = reactor::connection::Stream::Inside(os::net::UnixStream::from_std(ours), peer);
        crate::worker::hand_over(&self.shared, stream, false);
        Ok(theirs)
    }

    /// Gathers the counters of all workers.
    pub async fn figures(&self) -> Figures {
        let status = show::global_numbers(&self.shared).await;
        let answers = gather(&self.shared, |worker| worker.digests.latencies()).await;
        let tick_nanos = self.tick_nanos();
        let seconds = |ticks: u64| ticks as f64 * tick_nanos / 1e9;
        let mut latencies: Vec<(f64, u64)> = digests::bucket_ends().map(|end| (seconds(end), 0)).collect();
        let mut sum = 0;
        for (counts, ticks) in answers {
            latencies.iter_mut().zip(counts).for_each(|((_, all), more)| *all += more);
            sum += ticks;
        }
        let mut waits: BTreeMap<&'static str, (u64, f64)> = BTreeMap::new();
        for (kind, count, ticks) in gather(&self.shared, waits_of).await.into_iter().flatten() {
            let sum = waits.entry(kind).or_default();
            *sum = (sum.0 + count, sum.1 + seconds(ticks));
        }
        let mut told = self.told_waits.lock();
        for (kind, (count, time)) in &mut waits {
            let before = told.entry(kind).or_default();
            (*count, *time) = ((*count).max(before.0), time.max(before.1));
            *before = (*count, *time);
        }
        drop(told);
        Figures { status, latencies, latency_sum: seconds(sum), waits }
    }

    fn tick_nanos(&self) -> f64 {
        let now = || self.shared.tick_clock.nanos_per_tick();
        if self.shared.started.elapsed() >= KNOWN_AFTER { *self.tick_nanos.get_or_init(now) } else { now() }
    }

    /// The global variables, by name.
    pub fn variables(&self) -> Vec<ShownVariable> {
        let globals = self.shared.globals();
        let of = |id: VariableId| {
            let definition = id.definition();
            ShownVariable {
                name: definition.name,
                value: id.show(globals.get(id)),
                default: id.show(&id.start()),
                is_dynamic: !definition.read_only(),
                no_effect: match definition.effect {
                    Effect::Nothing(why) => Some(why),
                    Effect::Obeyed | Effect::Refused | Effect::Fixed => None,
                },
            }
        };
        variables::all().filter(|id| id.definition().scope != Scope::Session).map(of).collect()
    }

    /// The server's certificate, if it offers TLS.
    pub fn tls(&self) -> Option<Arc<rustls::ServerConfig>> {
        self.shared.tls.clone()
    }

    pub fn is_stopping(&self) -> bool {
        self.shared.is_stopping()
    }
}

/// The waits of a worker by kind, those that last among them: how many, and their ticks. So a long wait shows while it lasts, and not as
/// a leap when it ends.
fn waits_of(worker: &Rc<Worker>) -> Vec<(&'static str, u64, u64)> {
    let now = os::ticks();
    let mut waits: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
    for (kind, sum) in worker.core.waits().sums().each() {
        waits.insert(kind.name(), (sum.count, sum.ticks));
    }
    for session in worker.sessions.borrow().values() {
        if let Some(wait) = session.clock.current(now) {
            let (count, ticks) = waits.entry(wait.cause.kind.name()).or_default();
            *count += 1;
            *ticks += wait.ticks;
        }
    }
    waits.into_iter().map(|(name, (count, ticks))| (name, count, ticks)).collect()
}
