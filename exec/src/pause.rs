//! The reasons for which a step of a statement did not finish.

use crate::temporary::SpillWait;
use expr::Error;

/// The reason for which a step did not finish. The driver does what it asks for and repeats the step.
#[derive(Debug)]
pub(crate) enum Pause {
    /// Evaluation failed, or needs something.
    Evaluation(expr::Pause),
    /// Await it.
    Stall(txn::Stall),
    /// A block of a temporary file is being read or written: await it.
    Spill(SpillWait),
    /// Several workers may read the rows of the plan's node with this key. If nobody has them read, the operator does it itself.
    Share(usize),
}

pub(crate) type Step<T> = std::result::Result<T, Pause>;

impl Pause {
    pub fn error(error: Error) -> Self {
        Pause::Evaluation(expr::Pause::error(error))
    }
}

impl From<expr::Pause> for Pause {
    #[inline]
    fn from(pause: expr::Pause) -> Self {
        Pause::Evaluation(pause)
    }
}

impl From<Error> for Pause {
    fn from(error: Error) -> Self {
        Pause::error(error)
    }
}

impl From<types::Error> for Pause {
    fn from(error: types::Error) -> Self {
        Pause::Evaluation(error.into())
    }
}

impl From<types::work::Stopped> for Pause {
    fn from(stopped: types::work::Stopped) -> Self {
        Pause::Evaluation(stopped.into())
    }
}

impl From<txn::Interrupt> for Pause {
    fn from(interrupt: txn::Interrupt) -> Self {
        match interrupt {
            txn::Interrupt::Stall(stall) => Pause::Stall(stall),
            txn::Interrupt::Error(error) => Pause::error(engine_error(error)),
        }
    }
}

/// Converts an error of the engine into one of the statement.
pub fn engine_error(error: txn::Error) -> Error {
    match error {
        txn::Error::Deadlock => Error::Deadlock,
        txn::Error::LockWaitTimeout => Error::LockWaitTimeout,
        txn::Error::WouldBlock => Error::NoWait,
        txn::Error::Interrupted => Error::Interrupted,
        txn::Error::Storage(why) => Error::Storage(why),
        txn::Error::Full => Error::Full { table: String::new() },
        txn::Error::SnapshotTooOld => Error::SnapshotTooOld,
        txn::Error::TooLarge { bytes } => Error::RowTooLarge { bytes, limit: txn::RECORD_BYTES_MAX },
    }
}
