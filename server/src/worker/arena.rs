//! Arenas for syntax trees, which a worker reuses.

use super::Worker;
use std::rc::Rc;

/// An arena of the worker, returned when dropped.
pub struct ArenaGuard {
    worker: Rc<Worker>,
    arena: Option<sql::Arena>,
}

impl ArenaGuard {
    pub fn new(worker: &Rc<Worker>) -> Self {
        let arena = worker.arenas.borrow_mut().pop().unwrap_or_default();
        Self { worker: Rc::clone(worker), arena: Some(arena) }
    }
}

impl std::ops::Deref for ArenaGuard {
    type Target = sql::Arena;

    fn deref(&self) -> &sql::Arena {
        self.arena.as_ref().expect("present until dropped")
    }
}

impl Drop for ArenaGuard {
    fn drop(&mut self) {
        /// The number of arenas that a worker keeps.
        const ARENAS_MAX: usize = 16;
        let Some(mut arena) = self.arena.take() else { return };
        let mut kept = self.worker.arenas.borrow_mut();
        if kept.len() < ARENAS_MAX {
            arena.reset();
            kept.push(arena);
        }
    }
}
