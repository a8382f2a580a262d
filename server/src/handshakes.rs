//! Clients that are connected but not authenticated yet, and which of them must go when there is no room.
//!
//! Anybody can connect and send nothing until `connect_timeout`. So such clients take nobody's place: they do not count
//! for `max_connections`, and at the maximum of connections a silent one makes room for a new client.
//!
//! H1: the client that goes has waited longest among those of the host with the most such clients. A host from which
//!     somebody has logged in comes last.
//! H2: a handshake is not ended within `PATIENCE` (`PATIENCE_OF_KNOWN` if somebody has logged in from its host),
//!     because most young handshakes are legitimate. The new client waits that long.
//! H3: no host holds more than half of the places for long: beyond that, its own oldest client goes.

use os::time::Instant;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use sync::Mutex;

/// H2
const PATIENCE: Duration = Duration::from_secs(1);
const PATIENCE_OF_KNOWN: Duration = Duration::from_millis(100);
/// Hosts of logins that are remembered; beyond that they are forgotten.
const HOSTS_MAX: usize = 10_000;

/// A session that greets a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greeted {
    /// Of its worker.
    pub worker: usize,
    pub session: u32,
    since: Instant,
}

#[derive(Debug, Default)]
struct Open {
    /// The handshakes of each host, oldest first.
    hosts: HashMap<String, VecDeque<Greeted>>,
    /// Clients that have logged in and are there.
    logged_in: usize,
    /// Hosts from which somebody has logged in.
    known: HashSet<String>,
}

impl Open {
    fn patience(&self, host: &str) -> Duration {
        if self.known.contains(host) { PATIENCE_OF_KNOWN } else { PATIENCE }
    }

    fn remove(&mut self, host: &str, is: impl Fn(&Greeted) -> bool) -> Option<Greeted> {
        let waiting = self.hosts.get_mut(host)?;
        let at = waiting.iter().position(is)?;
        let removed = waiting.remove(at);
        if waiting.is_empty() {
            self.hosts.remove(host);
        }
        removed
    }
}

/// All handshakes of the server.
#[derive(Debug, Default)]
pub struct Handshakes(Mutex<Open>);

impl Handshakes {
    /// A handshake begins; it ends when the guard is dropped.
    pub fn begin(self: &Arc<Self>, host: &str, worker: usize, session: u32, now: Instant) -> Handshake {
        let mut open = self.0.lock();
        open.hosts.entry(host.to_owned()).or_default().push_back(Greeted { worker, session, since: now });
        Handshake { all: Arc::clone(self), host: host.to_owned(), session }
    }

    /// Is there room for one more client, including the extra place for an administrator?
    pub fn have_room(&self, connections_max: usize) -> bool {
        let open = self.0.lock();
        open.logged_in + open.hosts.values().map(VecDeque::len).sum::<usize>() <= connections_max
    }

    /// How long a new client of the host may have to wait for room. `None`: clients that have logged in hold all
    /// places.
    pub fn patience(&self, host: &str, connections_max: usize) -> Option<Duration> {
        let open = self.0.lock();
        (open.logged_in <= connections_max).then(|| open.patience(host))
    }

    /// Selects the client that makes room for a new client of the host, if one may be ended. H1, H2
    pub fn make_room(&self, host: &str, now: Instant) -> Option<Greeted> {
        let mut open = self.0.lock();
        let is_known = |host: &str| open.known.contains(host);
        let patience = open.patience(host);
        let may_go = |waiting: &VecDeque<Greeted>| {
            waiting.front().is_some_and(|first| now.saturating_duration_since(first.since) >= patience)
        };
        let hosts = open.hosts.iter().filter(|(_, waiting)| may_go(waiting));
        let (host, _) = hosts.max_by_key(|(host, waiting)| (!is_known(host), waiting.len()))?;
        let host = host.clone();
        open.remove(&host, |_| true)
    }

    /// Selects the client to end because the host has too many handshakes. H2, H3
    pub fn shorten(&self, host: &str, connections_max: usize, now: Instant) -> Option<Greeted> {
        let mut open = self.0.lock();
        let waiting = open.hosts.get(host)?;
        let is_over = waiting.len() > (connections_max / 2).max(1);
        let is_old = waiting.front().is_some_and(|first| now.saturating_duration_since(first.since) >= PATIENCE);
        if is_over && is_old { open.remove(host, |_| true) } else { None }
    }
}

/// One client's handshake, while it lasts.
pub struct Handshake {
    all: Arc<Handshakes>,
    host: String,
    session: u32,
}

impl Handshake {
    /// The client has logged in.
    pub fn succeed(self) -> Place {
        let all = Arc::clone(&self.all);
        let mut open = all.0.lock();
        if !open.known.contains(&self.host) {
            if open.known.len() >= HOSTS_MAX {
                open.known.clear();
            }
            open.known.insert(self.host.clone());
        }
        open.logged_in += 1;
        let number = open.logged_in;
        drop(open);
        drop(self);
        Place { all, number }
    }
}

/// The place of a client that has logged in, while it is there.
pub struct Place {
    all: Arc<Handshakes>,
    /// How many there were when it came, with this one.
    pub number: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.all.0.lock().logged_in -= 1;
    }
}

impl Drop for Handshake {
    fn drop(&mut self) {
        // If it was selected to be ended, it is no longer in the list.
        self.all.0.lock().remove(&self.host, |greeted| greeted.session == self.session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_the_host_with_the_most_makes_room() {
        let all = Arc::new(Handshakes::default());
        let start = Instant::now();
        let mut guards: Vec<Handshake> = (1..=3).map(|session| all.begin("a", 0, session, start)).collect();
        guards.push(all.begin("b", 1, 4, start));
        assert_eq!(all.make_room("c", start), None, "H2");
        let later = start + PATIENCE;
        assert_eq!(all.make_room("c", later).map(|greeted| greeted.session), Some(1));
        let places = [(); 2].map(|()| all.begin("a", 0, 9, later).succeed());
        assert_eq!(places.each_ref().map(|place| place.number), [1, 2]);
        drop(places);
        assert_eq!(all.begin("a", 0, 9, later).succeed().number, 1);
        let gone = all.make_room("a", start + PATIENCE_OF_KNOWN).expect("a host that is known need not be as patient");
        assert_eq!((gone.worker, gone.session), (1, 4), "the others of a known host come last");
        guards.clear();
        assert_eq!(all.make_room("a", later), None);
    }

    #[test]
    fn a_host_has_half_of_the_places() {
        let all = Arc::new(Handshakes::default());
        let start = Instant::now();
        let _guards: Vec<Handshake> = (1..=3).map(|session| all.begin("a", 0, session, start)).collect();
        let later = start + PATIENCE;
        assert_eq!(all.shorten("a", 4, start), None);
        assert_eq!(all.shorten("b", 4, later), None);
        assert_eq!(all.shorten("a", 4, later).map(|greeted| greeted.session), Some(1));
        assert_eq!(all.shorten("a", 4, later), None);
    }
}
