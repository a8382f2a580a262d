//! What a worker does in the middle of a long computation: other sessions of its thread run, as in any turn of the loop.
//!
//! ```text
//! run_slot(A) -> a function over 16 MB -> work::spend -> Watch::look -> a turn: messages, ready tasks but A, events -> A goes on
//! ```
//! The thread is never handed over: a turn within the turn of A runs on top of A's stack. So A goes on when each of the others has had its
//! poll; where one of these computes for long itself, its own looks let the rest run, and A waits for it. `docs/decisions/long-computations.md`
//! has the reasons.
//!
//! N1: A's future is taken out of its slot while it runs, so no turn polls it again; what wakes it meanwhile is kept for afterwards.
//! N2: turns nest no deeper than [`DEPTH_MAX`], and no deeper than the stack allows. Beyond that only messages are taken: a KILL still comes.
//! N3: a turn within another one does not tick the engine: A may be in the middle of a statement whose snapshot holds old versions back.
//! N4: `spend` is called where A holds nothing that other sessions of the thread want (K1 in `types/src/work.rs`).

use crate::core::{Core, Remote};
use crate::event_loop::{Host, WAKER_TOKEN, poll_now};
use crate::stack;
use os::time::Instant;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use types::work::{self, Stopped};

/// A task may compute for so long before others run.
const SLICE: Duration = Duration::from_millis(1);
/// How many tasks may be in the middle of a long computation.
const DEPTH_MAX: u32 = 8;
/// Stack that must be left for a task of a turn within another: as much as a statement may need, and as much for the programs it calls.
const STACK_LEFT: usize = 2 * stack::RESERVED;
const EVENTS_MAX: usize = 64;

/// Watches one worker's thread.
pub struct Watch<H: Host> {
    core: Rc<Core>,
    remote: Arc<Remote<H::Message>>,
    host: Rc<H>,
    poll: Rc<RefCell<os::net::Poll>>,
    depth: Cell<u32>,
}

impl<H: Host> Watch<H> {
    pub fn new(core: Rc<Core>, remote: Arc<Remote<H::Message>>, host: Rc<H>, poll: Rc<RefCell<os::net::Poll>>) -> Self {
        Self { core, remote, host, poll, depth: Cell::new(0) }
    }

    fn turn(&self) {
        while let Some(message) = self.remote.next_message() {
            self.host.message(message);
        }
        // N2
        if self.depth.get() >= DEPTH_MAX || stack::used() + STACK_LEFT > stack::BYTES {
            return;
        }
        self.depth.set(self.depth.get() + 1);
        let mut events = os::net::Events::with_capacity(EVENTS_MAX);
        poll_now(&self.poll, &mut events);
        events.iter().filter(|event| event.token() != WAKER_TOKEN).for_each(|event| self.core.on_event(event));
        self.core.within_task(|| _ = self.core.run_ready());
        self.depth.set(self.depth.get() - 1);
    }
}

impl<H: Host> work::Watch for Watch<H> {
    fn look(&self) -> Result<(), Stopped> {
        let now = Instant::now();
        self.core.check_limit(now)?;
        if now.saturating_duration_since(self.core.now()) < SLICE {
            return Ok(());
        }
        self.core.set_now(now);
        self.turn();
        let now = Instant::now();
        // The slice of the continuing task begins now.
        self.core.set_now(now);
        self.core.check_limit(now)
    }
}
