//! What each step of a move works with.

use crate::end::End;
use crate::error::{Error, Result};
use crate::flags::Flags;
use crate::progress::Progress;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Both servers, and what was asked.
pub struct Move<'a> {
    pub flags: &'a Flags,
    pub source: End,
    pub target: End,
    pub progress: Progress,
    /// Somebody wants it to end before its time.
    pub stop: Arc<AtomicBool>,
}

impl Move<'_> {
    /// # Errors
    /// It is to end.
    pub fn check_stop(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Error("interrupted".to_owned())) } else { Ok(()) }
    }
}
