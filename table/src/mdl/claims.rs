//! A list of the definitions and maintenance statements that hold a metadata lock or wait for one, on threads that may
//! block, with their names. SHOW and performance_schema read it to show blockers.
//!
//! Plain statements are not in this list (M4); their session knows which locks they hold.

use super::MetadataLock;
use std::sync::Arc;
use sync::Mutex;

/// What is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// A share.
    Share,
    /// The right to change the definition (M5).
    Definition,
    /// The lock alone.
    Alone,
    /// LOCK TABLES ... READ
    ReadLock,
    /// LOCK TABLES ... WRITE: the definition, and the lock alone.
    WriteLock,
    /// FLUSH TABLES WITH READ LOCK, on the lock of all definitions; there LOCK INSTANCE FOR BACKUP has a [`Self::ReadLock`].
    AllTables,
}

/// Something that a session holds, or waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// 0: the server itself.
    pub session: u32,
    pub what: Claimed,
    pub held: bool,
}

/// The claims on one lock.
#[derive(Default)]
pub(super) struct Claims(Mutex<Numbered>);

#[derive(Default)]
struct Numbered {
    next: u64,
    claims: Vec<(u64, Claim)>,
}

impl MetadataLock {
    /// Publishes that `session` waits, until the guard is marked as holding, or is dropped.
    pub fn claim(self: &Arc<Self>, session: u32, what: Claimed) -> ClaimGuard {
        let mut numbered = self.claims.0.lock();
        let number = numbered.next;
        numbered.next += 1;
        numbered.claims.push((number, Claim { session, what, held: false }));
        ClaimGuard { lock: Arc::clone(self), number }
    }

    /// What LOCK TABLES holds for a session here.
    pub fn locked_by(&self, session: u32) -> Option<Claimed> {
        let numbered = self.claims.0.lock();
        let held = numbered.claims.iter().map(|(_, claim)| claim).filter(|claim| claim.session == session && claim.held);
        let mut kinds = held.map(|claim| claim.what);
        kinds.find(|what| matches!(what, Claimed::ReadLock | Claimed::WriteLock))
    }

    /// The claims of this moment, in the order of their making.
    pub fn claims(&self) -> Vec<Claim> {
        self.claims.0.lock().claims.iter().map(|(_, claim)| *claim).collect()
    }
}

/// A claim, until dropped.
#[must_use]
pub struct ClaimGuard {
    lock: Arc<MetadataLock>,
    number: u64,
}

impl ClaimGuard {
    pub fn is_on(&self, lock: &Arc<MetadataLock>) -> bool {
        Arc::ptr_eq(&self.lock, lock)
    }

    /// What was waited for is held now.
    pub fn hold(&self) {
        let mut numbered = self.lock.claims.0.lock();
        if let Some((_, claim)) = numbered.claims.iter_mut().find(|(number, _)| *number == self.number) {
            claim.held = true;
        }
    }
}

impl Drop for ClaimGuard {
    fn drop(&mut self) {
        self.lock.claims.0.lock().claims.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_told_while_they_last() {
        let lock = MetadataLock::new(1);
        let first = lock.claim(1, Claimed::Definition);
        first.hold();
        assert!(first.is_on(&lock) && !first.is_on(&MetadataLock::new(1)));
        let second = lock.claim(2, Claimed::Definition);
        let of = |session, held| Claim { session, what: Claimed::Definition, held };
        assert_eq!(lock.claims(), [of(1, true), of(2, false)]);
        drop(first);
        second.hold();
        assert_eq!(lock.claims(), [of(2, true)]);
        drop(second);
        assert_eq!(lock.claims(), []);
    }
}
