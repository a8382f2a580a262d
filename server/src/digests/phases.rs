//! The phases of a statement, which add up to the time that it ran.
//!
//! ```text
//! decode    the values of a prepared statement's packet
//! parse     the text: its tokens and, if no plan is kept for it, its syntax tree
//! plan      names, types, access paths, the order of joins
//! execute   rows are found, computed and changed; everything that is no other phase
//! encode    rows of the answer: the select list's values and their bytes in the packet
//! commit    the statement's own transaction, or COMMIT
//! ```
//!
//! A statement notes the end of each phase by one reading of the clock (`Measured::end_phase`): its ticks less those that
//! it waited. Waits are thus in no phase.
//!
//! P1: the phases of a statement add up to its ticks less its waits, exactly.
//! P2: rows are encoded between steps of the execution. Of a long answer one row of [`ROWS_PER_TIMED`] is timed, and
//!     counts for all of them; the sum of both phases stays exact.

/// After the first rows of an answer one of so many is timed.
pub const ROWS_PER_TIMED: u32 = 16;

/// A part of the time that a statement runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    Decode,
    Parse,
    Plan,
    Execute,
    Encode,
    Commit,
}

pub const PHASES: usize = 6;

impl Phase {
    pub const ALL: [Self; PHASES] = [Self::Decode, Self::Parse, Self::Plan, Self::Execute, Self::Encode, Self::Commit];

    pub fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Parse => "parse",
            Self::Plan => "plan",
            Self::Execute => "execute",
            Self::Encode => "encode",
            Self::Commit => "commit",
        }
    }
}

/// The ticks of each phase, by its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases(pub [u64; PHASES]);

impl Phases {
    #[inline]
    pub fn of(&self, phase: Phase) -> u64 {
        self.0[phase as usize]
    }

    #[inline]
    pub fn add(&mut self, phase: Phase, ticks: u64) {
        self.0[phase as usize] += ticks;
    }

    /// Ticks of one phase that belong to another one.
    pub fn shift(&mut self, from: Phase, to: Phase, ticks: u64) {
        let ticks = ticks.min(self.of(from));
        self.0[from as usize] -= ticks;
        self.0[to as usize] += ticks;
    }

    /// Takes ticks away, from the longest phases first: waits that were noticed after the phase in which they were.
    #[cold]
    pub fn take(&mut self, mut ticks: u64) {
        while ticks > 0 {
            let longest = self.0.iter_mut().max().expect("there are phases");
            let taken = ticks.min(*longest);
            if taken == 0 {
                return;
            }
            *longest -= taken;
            ticks -= taken;
        }
    }

    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_move_between_phases() {
        let mut phases = Phases([1, 2, 3, 40, 5, 6]);
        phases.shift(Phase::Execute, Phase::Encode, 10);
        assert_eq!(phases, Phases([1, 2, 3, 30, 15, 6]));
        phases.shift(Phase::Execute, Phase::Encode, 1000);
        assert_eq!(phases, Phases([1, 2, 3, 0, 45, 6]));
        phases.take(50);
        assert_eq!((phases.sum(), phases.of(Phase::Encode)), (7, 0));
        phases.take(100);
        assert_eq!(phases.sum(), 0);
        assert_eq!(Phase::ALL.map(|phase| phase as usize), [0, 1, 2, 3, 4, 5]);
    }
}
