//! The statements of stored programs as lines of the session's record: each is nested in the statement that called the
//! program.

use super::state::State;
use crate::digests::Measured;
use crate::error::Error;
use crate::record::{Ended, Name, Program};
use crate::waits::LOCKS;
use std::rc::Rc;

/// A statement of a program that runs.
pub struct Nested {
    outer: u64,
    began: u64,
    /// What the client's statement had done and waited when this one began.
    before: Measured,
    examined: u64,
    waited: u64,
    locked: u64,
}

impl State<'_> {
    /// A statement of a program begins. `None`: no lines are kept.
    pub fn begin_recorded(&mut self) -> Option<Nested> {
        if !self.session.watched.history() {
            return None;
        }
        self.session.measured.is_ok = false;
        let clock = &self.info.clock;
        Some(Nested {
            outer: self.info.record.begin_nested(),
            began: os::ticks(),
            before: self.session.measured,
            examined: self.execution.vars.rows_examined.get(),
            waited: clock.off_so_far(),
            locked: clock.ticks_so_far(LOCKS),
        })
    }

    /// The statement ends that `begin_recorded` began.
    #[cold]
    pub fn end_recorded(&mut self, nested: &Nested, text: &str, program: &Rc<Program>, error: Option<&Error>) {
        let (now, clock) = (&self.session.measured, &self.info.clock);
        let measured = Measured {
            began: nested.began,
            affected: now.affected.saturating_sub(nested.before.affected),
            sent: now.sent.saturating_sub(nested.before.sent),
            examined: self.execution.vars.rows_examined.get().saturating_sub(nested.examined),
            failed: error.is_some(),
            is_ok: now.is_ok,
            ways: now.ways,
            ..Measured::default()
        };
        let ended = Ended {
            name: Name::INNER,
            text: text.as_bytes(),
            statistics: None,
            measured: &measured,
            ended: os::ticks(),
            waited: clock.off_so_far().saturating_sub(nested.waited),
            locked: clock.ticks_so_far(LOCKS).saturating_sub(nested.locked),
            program: Some(Rc::clone(program)),
        };
        let level = self.execution.frames().count() as u32;
        self.info.record.end_nested(nested.outer, &ended, level, true);
        if let Some(error) = error {
            let told = error.describe();
            self.info.record.describe_error(told.number, told.state, &told.message);
        }
    }
}
