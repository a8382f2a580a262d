//! The CPU time of a statement: when it lets others run, and when it gives up.

use crate::pause::Pause;
use expr::{Error, Result, SessionVars};
use os::time::Instant;
use std::time::Duration;

/// Rows between two looks at the clock and the kill flag.
const TICKS: u32 = 64;
/// A statement gives the thread to others after this much CPU.
const SLICE: Duration = Duration::from_millis(1);

/// The CPU budget of a statement: when to let others run, when to give up.
pub(crate) struct Slice {
    ticks_left: u32,
    /// Rows that were counted elsewhere.
    passes: u32,
    /// Ticks that found no row.
    ends: u32,
    slice_began: Instant,
    deadline: Option<Instant>,
    /// A SLEEP ended at the deadline.
    is_cut: bool,
}

impl Slice {
    /// `deadline`: when to give up.
    pub fn until(deadline: Option<Instant>) -> Self {
        Self { ticks_left: TICKS, passes: 0, ends: 0, slice_began: Instant::now(), deadline, is_cut: false }
    }

    #[inline]
    pub fn tick(&mut self, session: &SessionVars) -> std::result::Result<(), Pause> {
        self.ticks_left -= 1;
        if self.ticks_left == 0 { self.look_up(session) } else { Ok(()) }
    }

    /// As [`Self::tick`], for a row that was counted elsewhere.
    #[inline]
    pub fn pass(&mut self, session: &SessionVars) -> std::result::Result<(), Pause> {
        self.passes = self.passes.wrapping_add(1);
        if self.passes.is_multiple_of(TICKS) { self.look(session) } else { Ok(()) }
    }

    #[cold]
    fn look_up(&mut self, session: &SessionVars) -> std::result::Result<(), Pause> {
        self.ticks_left = TICKS;
        self.count_rows(session, u64::from(TICKS));
        self.look(session)
    }

    /// Rows were read without a tick for each: the next tick may look at the clock.
    #[inline]
    pub fn pass_rows(&mut self, session: &SessionVars, rows: u64) {
        let ticks = rows.min(u64::from(self.ticks_left - 1));
        self.ticks_left -= ticks as u32;
        self.count_rows(session, rows - ticks);
    }

    /// Rows were counted, and the clock is looked at elsewhere.
    pub fn count_rows(&self, session: &SessionVars, rows: u64) {
        session.rows_examined.set(session.rows_examined.get() + rows);
    }

    /// Looks at the kill flag and the clock at once; may ask to let others run.
    pub fn look(&mut self, session: &SessionVars) -> std::result::Result<(), Pause> {
        session.check_killed()?;
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            return Err(Pause::error(Error::QueryTimeout));
        }
        if now - self.slice_began >= SLICE {
            // The driver yields and calls again; the new slice begins then or a little earlier.
            self.slice_began = now;
            return Err(Pause::Evaluation(expr::Pause::Yield));
        }
        Ok(())
    }

    /// Checks the kill flag and the deadline now, without yielding to other sessions.
    pub fn check(&self, session: &SessionVars) -> Result<()> {
        session.check_killed()?;
        // Without a deadline the clock is not read. A session that slept until the deadline may wake a little earlier.
        if self.is_cut || self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Err(Error::QueryTimeout)
        } else {
            Ok(())
        }
    }

    /// Counts the rows that were read since the last look at the clock.
    #[inline]
    pub fn count_rest(&mut self, session: &SessionVars) {
        let examined = &session.rows_examined;
        let rest = i64::from(TICKS - self.ticks_left) - i64::from(self.ends);
        examined.set(examined.get().saturating_add_signed(rest));
        (self.ticks_left, self.ends) = (TICKS, 0);
    }

    /// The last tick found no row: the scan is at its end.
    #[inline]
    pub fn count_end(&mut self) {
        self.ends += 1;
    }

    /// A SLEEP ends at the deadline, before its time.
    pub fn note_cut(&mut self) {
        self.is_cut = true;
    }

    /// The statement slept; its next slice begins now.
    pub fn resumed(&mut self) {
        self.slice_began = Instant::now();
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}
