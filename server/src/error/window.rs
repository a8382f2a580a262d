//! Errors about windows.

use conditions::Condition;
use sql::WindowError;

/// The message about a window that is defined wrongly.
pub fn describe(why: WindowError, name: &str) -> Condition {
    match why {
        WindowError::Circular => Condition::WindowCircularityInWindowGraph,
        WindowError::ChildPartitions => Condition::WindowNoChildPartitioning,
        WindowError::BaseHasFrame => Condition::WindowNoInheritFrame { name: name.into() },
        WindowError::StartsAtEnd => Condition::WindowFrameStartIllegal { name: name.into() },
        WindowError::EndsAtStart => Condition::WindowFrameEndIllegal { name: name.into() },
        WindowError::FrameBound => Condition::WindowFrameIllegal { name: name.into() },
        WindowError::RangeOrder => Condition::WindowRangeFrameOrderType { name: name.into() },
        WindowError::TemporalOffset => Condition::WindowRangeFrameTemporalType { name: name.into() },
        WindowError::NumericOffset => Condition::WindowRangeFrameNumericType { name: name.into() },
        WindowError::IntervalOfRows => Condition::WindowRowsIntervalUse { name: name.into() },
        WindowError::NotConstant => Condition::WindowRangeBoundNotConstant { name: name.into() },
        WindowError::DefinedTwice => Condition::WindowDuplicateName { name: name.into() },
        WindowError::Position => Condition::WindowIllegalOrderBy { name: name.into() },
    }
}
