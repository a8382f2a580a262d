//! The registry through which KILL reaches a session without its worker, which may be busy.
//!
//! Sessions register when they begin and end; no statement reads the registry.

use expr::kill;
use std::collections::HashMap;
use std::sync::Arc;
use std::task::Waker;
use sync::Mutex;
use sync::atomic::{AtomicU8, Ordering};

/// The data about a session that KILL needs.
#[derive(Debug)]
struct Killable {
    flag: Arc<AtomicU8>,
    waker: Waker,
    /// `user@host` of the account, once it has logged in.
    account: String,
    /// The account has SYSTEM_USER.
    is_system: bool,
}

/// The account that wants to end a session or its statement.
pub struct Killer<'a> {
    /// `user@host`
    pub account: &'a str,
    /// It may end sessions of other accounts.
    pub any: bool,
    /// It has SYSTEM_USER. Without it, it cannot end sessions of accounts that have it.
    pub is_system: bool,
}

/// All sessions, by their numbers.
#[derive(Debug, Default)]
pub struct Kills(Mutex<HashMap<u32, Killable>>);

impl Kills {
    pub fn enter(&self, id: u32, flag: Arc<AtomicU8>, waker: Waker) {
        self.0.lock().insert(id, Killable { flag, waker, account: String::new(), is_system: false });
    }

    pub fn leave(&self, id: u32) {
        self.0.lock().remove(&id);
    }

    /// The sessions' numbers, and the accounts (`user@host`) of those that have logged in.
    pub fn sessions(&self) -> Vec<(u32, String)> {
        self.0.lock().iter().map(|(id, session)| (*id, session.account.clone())).collect()
    }

    /// Notes that the session has logged in, or that its account or privileges changed.
    pub fn name(&self, id: u32, account: &str, is_system: bool) {
        if let Some(session) = self.0.lock().get_mut(&id) {
            account.clone_into(&mut session.account);
            session.is_system = is_system;
        }
    }

    /// Ends a session for the server itself. `false`: there is no such session.
    pub fn end(&self, id: u32) -> bool {
        let sessions = self.0.lock();
        let Some(session) = sessions.get(&id) else { return false };
        // Relaxed: as in `kill`.
        session.flag.fetch_max(kill::CONNECTION, Ordering::Relaxed);
        session.waker.wake_by_ref();
        true
    }

    /// Sets the kill flag of a session (see `expr::kill` for `how`) if the killer may. `None`: there is no session of
    /// that number; `false`: the killer may not.
    pub fn kill(&self, id: u32, how: u8, killer: &Killer<'_>) -> Option<bool> {
        let sessions = self.0.lock();
        let session = sessions.get(&id)?;
        let is_reached = killer.any || session.account == killer.account;
        let may = is_reached && (killer.is_system || !session.is_system);
        if may {
            debug_assert!(how != kill::NONE, "a KILL sets something");
            // Relaxed: the flag carries no data; the wake-up orders it before the session's next poll.
            session.flag.fetch_max(how, Ordering::Relaxed);
            session.waker.wake_by_ref();
        }
        Some(may)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_killed_by_its_own_account_or_an_administrator() {
        let (kills, flag) = (Kills::default(), Arc::new(AtomicU8::new(kill::NONE)));
        kills.enter(7, Arc::clone(&flag), Waker::noop().clone());
        kills.name(7, "a@b", false);
        let killer = |account: &'static str, any: bool| Killer { account, any, is_system: false };
        assert_eq!(kills.kill(8, kill::QUERY, &killer("a@b", true)), None);
        assert_eq!(kills.kill(7, kill::QUERY, &killer("c@d", false)), Some(false));
        assert_eq!(flag.load(Ordering::Relaxed), kill::NONE);
        kills.name(7, "a@b", true);
        assert_eq!(kills.kill(7, kill::QUERY, &killer("c@d", true)), Some(false), "it has SYSTEM_USER");
        assert_eq!(kills.kill(7, kill::QUERY, &Killer { is_system: true, ..killer("c@d", true) }), Some(true));
        kills.name(7, "a@b", false);
        assert_eq!(kills.kill(7, kill::CONNECTION, &killer("c@d", true)), Some(true));
        assert_eq!(kills.kill(7, kill::QUERY, &killer("a@b", false)), Some(true));
        assert_eq!(flag.load(Ordering::Relaxed), kill::CONNECTION, "it stays killed");
        kills.leave(7);
        assert_eq!(kills.kill(7, kill::QUERY, &killer("a@b", true)), None);
    }
}
