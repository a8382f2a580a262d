//! What a task waits for, as told by the future that waits.
//!
//! ```text
//! future     is not ready: says why with `pending`, and returns Poll::Pending
//! executor   takes the reason with `take`, and charges the time until the task runs again to it
//! ```
//! A reason is a plain store in the thread's own memory, made where a wait begins anyway. A future around another one
//! may replace the reason of the inner one, because it knows better.
//!
//! Short waits for a latch do not leave the processor. Who waited adds them with `spun`; the executor takes them when
//! the task's statement ends or waits.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;

macro_rules! kinds {
    ($($(#[$attribute:meta])* $kind:ident => $name:literal,)*) => {
        /// The kinds of waits.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[$attribute])* $kind,)*
        }

        impl Kind {
            pub const ALL: &[Kind] = &[$(Kind::$kind,)*];

            /// A short name, for metrics and charts.
            pub fn name(self) -> &'static str {
                const NAMES: &[&str] = &[$($name,)*];
                NAMES[self as usize]
            }
        }
    };
}

kinds! {
    /// Nobody said why.
    #[default]
    Other => "other",
    /// Runnable, but the worker ran other sessions.
    Ready => "ready",
    /// A page is read from the data file.
    PageRead => "page_read",
    /// No frame of the buffer pool is free.
    FreeFrame => "free_frame",
    /// Another thread holds the latch of a page.
    PageLatch => "page_latch",
    /// A commit is written to the log.
    LogFlush => "log_flush",
    /// Changes wait for the pages that a checkpoint must write.
    Checkpoint => "checkpoint",
    /// Another transaction holds the row.
    RowLock => "row_lock",
    /// Another transaction holds the gap.
    GapLock => "gap_lock",
    /// Another session uses the table, or changes its definition.
    MetadataLock => "metadata_lock",
    /// GET_LOCK
    UserLock => "user_lock",
    /// SLEEP
    Sleep => "sleep",
    /// A block of a temporary file.
    TemporaryFile => "temporary_file",
    /// A file of LOAD DATA or INTO OUTFILE.
    File => "file",
    /// The client does not send what the statement reads.
    NetworkRead => "network_read",
    /// The client does not read its answer.
    NetworkWrite => "network_write",
    /// A thread for definitions works for the statement.
    Definition => "definition",
    /// A thread for passwords works for the login.
    Login => "login",
    /// A computation on other threads.
    Aside => "aside",
    /// Answers of other workers.
    Workers => "workers",
    /// Transactions of another server, or readers of the binary log.
    Replication => "replication",
    /// A log of statements is opened or written.
    TextLog => "text_log",
}

/// The number of kinds.
pub const KINDS: usize = Kind::ALL.len();

/// What is waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Object {
    #[default]
    None,
    /// A page of this tree, of this level where that is known; or a row of it.
    Tree { tree: u32, level: u8 },
    /// A table, by its id.
    Table(u64),
}

/// Who is waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holder {
    #[default]
    Unknown,
    Session(u32),
}

/// Why a task waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    pub kind: Kind,
    pub object: Object,
    pub holder: Holder,
}

impl Cause {
    pub const fn of(kind: Kind) -> Self {
        Self { kind, object: Object::None, holder: Holder::Unknown }
    }

    #[must_use]
    pub const fn with(self, object: Object) -> Self {
        Self { object, ..self }
    }

    #[must_use]
    pub const fn held_by(self, holder: Holder) -> Self {
        Self { holder, ..self }
    }
}

/// A wait that did not leave the processor.
#[derive(Clone, Copy, Debug)]
pub struct Spun {
    pub cause: Cause,
    pub ticks: u64,
}

/// Threads that do not take what they spun keep so many, and forget the rest.
const SPUN_MAX: usize = 64;

thread_local! {
    static CAUSE: Cell<Option<Cause>> = const { Cell::new(None) };
    static HAS_SPUN: Cell<bool> = const { Cell::new(false) };
    static SPUN: RefCell<Vec<Spun>> = const { RefCell::new(Vec::new()) };
}

/// The running future returns `Pending`, for this reason.
#[cold]
pub fn pending(cause: Cause) {
    CAUSE.set(Some(cause));
}

/// The reason of the future that returned `Pending` last.
#[inline]
pub fn take() -> Option<Cause> {
    CAUSE.take()
}

/// Awaits a future that does not say for what it waits.
pub async fn named<F: Future>(cause: Cause, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let polled = future.as_mut().poll(cx);
        if polled.is_pending() {
            pending(cause);
        }
        polled
    })
    .await
}

/// This thread has waited for `ticks` without leaving the processor.
#[cold]
pub fn spun(cause: Cause, ticks: u64) {
    SPUN.with_borrow_mut(|spun| {
        if spun.len() < SPUN_MAX {
            spun.push(Spun { cause, ticks });
        }
    });
    HAS_SPUN.set(true);
}

/// Is there something for [`take_spun`]?
#[inline]
pub fn has_spun() -> bool {
    HAS_SPUN.get()
}

/// Hands over what was spun since the last call.
#[cold]
pub fn take_spun(mut see: impl FnMut(Spun)) {
    HAS_SPUN.set(false);
    let spun = SPUN.take();
    spun.iter().for_each(|one| see(*one));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn the_outer_reason_counts() {
        let mut turns = 0;
        let inner = poll_fn(move |_| {
            turns += 1;
            if turns > 1 {
                return Poll::Ready(7);
            }
            pending(Cause::of(Kind::TemporaryFile));
            Poll::Pending
        });
        let mut outer = pin!(named(Cause::of(Kind::Aside).with(Object::Table(3)), inner));
        let mut context = Context::from_waker(Waker::noop());
        assert!(outer.as_mut().poll(&mut context).is_pending());
        assert_eq!(take(), Some(Cause::of(Kind::Aside).with(Object::Table(3))));
        assert_eq!(take(), None);
        assert_eq!(outer.as_mut().poll(&mut context), Poll::Ready(7));
        assert_eq!(take(), None, "it did not wait again");
    }

    #[test]
    fn spinning_is_taken_once_and_bounded() {
        assert!(!has_spun());
        (0..2 * SPUN_MAX as u64).for_each(|n| spun(Cause::of(Kind::PageLatch), n));
        assert!(has_spun());
        let mut seen = 0;
        take_spun(|_| seen += 1);
        assert_eq!((seen, has_spun()), (SPUN_MAX, false));
        take_spun(|_| panic!("taken already"));
    }

    #[test]
    fn kinds_have_their_names() {
        assert_eq!(Kind::Other as usize, 0);
        assert_eq!((Kind::TextLog as usize, Kind::TextLog.name()), (KINDS - 1, "text_log"));
    }
}
