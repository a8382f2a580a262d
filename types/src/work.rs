//! Counts long computations, so that a thread can serve other sessions meanwhile, or stop.
//!
//! A long computation calls [`spend`] now and then, with about the number of bytes that it has processed since the last
//! call. After each [`UNITS`] the thread's [`Watch`] is asked, if there is one: it may run other sessions of the
//! thread, and says whether to continue.
//!
//! K1: `spend` is called only while the thread holds nothing that another of its sessions may need: no latch, no borrow
//!     of a shared cell. Encodings and comparisons, which the engine uses, do not call it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Work between two questions to the watch: well below a millisecond.
pub const UNITS: usize = 1 << 15;

/// Why a computation must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// KILL
    Killed,
    /// max_execution_time
    TimedOut,
}

/// The watch of a thread.
pub trait Watch {
    /// The thread is in the middle of a computation.
    ///
    /// # Errors
    /// The computation is to end.
    fn look(&self) -> Result<(), Stopped>;
}

thread_local! {
    /// The last look said no; others of the thread's sessions may have looked since.
    static MAY_BE_STOPPED: Cell<bool> = const { Cell::new(false) };
    static IS_UNDISTURBED: Cell<bool> = const { Cell::new(false) };
    static LEFT: Cell<usize> = const { Cell::new(UNITS) };
    static WATCH: RefCell<Option<Rc<dyn Watch>>> = const { RefCell::new(None) };
}

/// Sets the watch of this thread.
pub fn set_watch(watch: Option<Rc<dyn Watch>>) {
    let before = WATCH.replace(watch);
    drop(before);
}

/// Counts work that has been done, or is about to be.
///
/// # Errors
/// The computation is to end, whatever it would answer.
#[inline]
pub fn spend(units: usize) -> Result<(), Stopped> {
    match LEFT.get().checked_sub(units) {
        Some(left) => {
            LEFT.set(left);
            Ok(())
        }
        None => check(),
    }
}

/// Asks the watch at once.
///
/// # Errors
/// As [`spend`].
#[cold]
pub fn check() -> Result<(), Stopped> {
    LEFT.set(UNITS);
    if IS_UNDISTURBED.get() {
        return Ok(());
    }
    // Nothing is borrowed while it looks: other sessions that run then count their work as well.
    let watch = WATCH.with_borrow(Clone::clone);
    let answer = watch.map_or(Ok(()), |watch| watch.look());
    MAY_BE_STOPPED.set(answer.is_err());
    answer
}

/// Counts work that cannot end early: it lets others run; [`finish`] reports a stop later.
#[inline]
pub fn pass(units: usize) {
    let _ = spend(units);
}

/// Runs `compute` without asking the watch: for short work that two sessions of the thread must not begin at once.
pub fn undisturbed<T>(compute: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            IS_UNDISTURBED.set(self.0);
        }
    }
    let _restore = Restore(IS_UNDISTURBED.replace(true));
    compute()
}

/// Called after a computation that may have ended early because it was stopped.
///
/// # Errors
/// It was stopped, so its result is meaningless.
#[inline]
pub fn finish() -> Result<(), Stopped> {
    if MAY_BE_STOPPED.get() { check() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting(Cell<u32>);

    impl Watch for Counting {
        fn look(&self) -> Result<(), Stopped> {
            self.0.set(self.0.get() + 1);
            if self.0.get() == 3 { Err(Stopped::Killed) } else { Ok(()) }
        }
    }

    #[test]
    fn the_watch_is_asked_by_work() {
        assert_eq!(spend(usize::MAX), Ok(()), "nobody watches");
        let watch = Rc::new(Counting(Cell::new(0)));
        set_watch(Some(Rc::clone(&watch) as Rc<dyn Watch>));
        check().expect("the first look");
        for _ in 0..UNITS {
            spend(1).expect("nobody looks yet");
        }
        assert_eq!(watch.0.get(), 1);
        assert_eq!(spend(1), Ok(()));
        assert_eq!(finish(), Ok(()));
        assert_eq!(spend(UNITS + 1), Err(Stopped::Killed));
        assert_eq!(finish(), Ok(()), "it looks again");
        assert_eq!(undisturbed(|| spend(usize::MAX)), Ok(()));
        set_watch(None);
        assert_eq!(spend(usize::MAX), Ok(()));
        assert_eq!(watch.0.get(), 4);
    }
}
