//! What each step of a move works with.

use crate::end::End;
use crate::flags::Flags;
use crate::progress::Progress;

/// Both servers, and what was asked.
pub struct Move<'a> {
    pub flags: &'a Flags,
    pub source: End,
    pub target: End,
    pub progress: Progress,
}
