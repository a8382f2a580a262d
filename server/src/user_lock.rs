//! GET_LOCK and its kin: named locks held by connections. Rare, so one mutex guards them all.
//!
//! U1: a name is in the map while somebody holds it or waits for it. U2: a release wakes the waiters of that name; they compete.

use std::collections::HashMap;
use std::task::Waker;
use sync::Mutex;

#[derive(Debug, Default)]
struct Entry {
    holder: Option<u32>,
    /// How often the holder took it.
    depth: u32,
    waiters: Vec<(u32, Waker)>,
}

/// All named locks of the server.
#[derive(Debug, Default)]
pub struct UserLocks {
    entries: Mutex<HashMap<String, Entry>>,
}

/// The result of trying to take a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    Taken,
    /// Held by another connection; the waker is registered.
    Waiting,
    /// Waiting would close a circle of waiters.
    Deadlock,
}

impl UserLocks {
    /// Takes the lock, or registers `waker`.
    pub fn attempt(&self, connection: u32, name: &str, waker: &Waker) -> Attempt {
        let mut entries = self.entries.lock();
        let key = name.to_lowercase();
        if closes_circle(&entries, connection, &key) {
            return Attempt::Deadlock;
        }
        let entry = entries.entry(key).or_default();
        match entry.holder {
            None => {
                entry.holder = Some(connection);
                entry.depth = 1;
                entry.waiters.retain(|(waiter, _)| *waiter != connection);
                Attempt::Taken
            }
            Some(holder) if holder == connection => {
                entry.depth += 1;
                Attempt::Taken
            }
            Some(_) => {
                entry.waiters.retain(|(waiter, _)| *waiter != connection);
                entry.waiters.push((connection, waker.clone()));
                Attempt::Waiting
            }
        }
    }

    /// Stops waiting.
    pub fn give_up(&self, connection: u32, name: &str) {
        let mut entries = self.entries.lock();
        let key = name.to_lowercase();
        if let Some(entry) = entries.get_mut(&key) {
            entry.waiters.retain(|(waiter, _)| *waiter != connection);
            if entry.holder.is_none() && entry.waiters.is_empty() {
                entries.remove(&key);
            }
        }
    }

    /// RELEASE_LOCK: see `exec::Host::release_lock`.
    pub fn release(&self, connection: u32, name: &str) -> Option<bool> {
        let mut entries = self.entries.lock();
        let key = name.to_lowercase();
        let entry = entries.get_mut(&key)?;
        if entry.holder? != connection {
            return Some(false);
        }
        entry.depth -= 1;
        if entry.depth == 0 {
            let_go(&mut entries, &key);
        }
        Some(true)
    }

    /// RELEASE_ALL_LOCKS, also at the end of a connection.
    pub fn release_all(&self, connection: u32) -> u64 {
        let mut entries = self.entries.lock();
        let held: Vec<_> =
            entries.iter().filter(|(_, entry)| entry.holder == Some(connection)).map(|(name, _)| name.clone()).collect();
        let mut released = 0;
        for name in held {
            released += u64::from(entries[&name].depth);
            let_go(&mut entries, &name);
        }
        released
    }

    /// Every name with its holder and waiters: the name, the connection, and whether it holds the lock.
    pub fn lines(&self) -> Vec<(String, u32, bool)> {
        let entries = self.entries.lock();
        let of = |(name, entry): (&String, &Entry)| {
            let holder = entry.holder.map(|holder| (name.clone(), holder, true));
            let waiters = entry.waiters.iter().map(|(waiter, _)| (name.clone(), *waiter, false));
            holder.into_iter().chain(waiters).collect::<Vec<_>>()
        };
        entries.iter().flat_map(of).collect()
    }

    pub fn holder(&self, name: &str) -> Option<u32> {
        self.entries.lock().get(&name.to_lowercase())?.holder
    }
}

fn let_go(entries: &mut HashMap<String, Entry>, name: &str) {
    let Some(entry) = entries.get_mut(name) else { return };
    entry.holder = None;
    entry.depth = 0;
    for (_, waker) in entry.waiters.drain(..) {
        waker.wake();
    }
    entries.remove(name);
}

/// Would `connection`, by waiting for `name`, wait for itself?
fn closes_circle(entries: &HashMap<String, Entry>, connection: u32, name: &str) -> bool {
    let mut next = name;
    for _ in 0..=entries.len() {
        let Some(holder) = entries.get(next).and_then(|entry| entry.holder) else { return false };
        if holder == connection {
            return next != name;
        }
        let waited = entries.iter().find(|(_, entry)| entry.waiters.iter().any(|(waiter, _)| *waiter == holder));
        match waited {
            Some((waited, _)) => next = waited,
            None => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_nest_and_pass_on() {
        let locks = UserLocks::default();
        let waker = Waker::noop();
        assert_eq!(locks.attempt(1, "A", waker), Attempt::Taken);
        assert_eq!(locks.attempt(1, "a", waker), Attempt::Taken);
        assert_eq!(locks.attempt(2, "a", waker), Attempt::Waiting);
        assert_eq!(locks.release(2, "a"), Some(false));
        let mut lines = locks.lines();
        lines.sort_by_key(|(_, connection, _)| *connection);
        assert_eq!(lines, [("a".to_owned(), 1, true), ("a".to_owned(), 2, false)]);
        assert_eq!(locks.release(1, "a"), Some(true));
        assert_eq!(locks.holder("a"), Some(1));
        assert_eq!(locks.release(1, "a"), Some(true));
        assert_eq!(locks.release(1, "a"), None);
        assert_eq!(locks.attempt(2, "a", waker), Attempt::Taken);
    }

    #[test]
    fn circles_are_refused() {
        let locks = UserLocks::default();
        let waker = Waker::noop();
        assert_eq!(locks.attempt(1, "a", waker), Attempt::Taken);
        assert_eq!(locks.attempt(2, "b", waker), Attempt::Taken);
        assert_eq!(locks.attempt(1, "b", waker), Attempt::Waiting);
        assert_eq!(locks.attempt(2, "a", waker), Attempt::Deadlock);
        assert_eq!(locks.release_all(2), 1);
        assert_eq!(locks.attempt(1, "b", waker), Attempt::Taken);
        assert_eq!(locks.release_all(1), 2);
    }
}
