//! What is wrong with a window.

use sql::WindowError;

/// The message about a window that is defined wrongly.
pub fn describe(why: WindowError, name: &str) -> (u16, String) {
    match why {
        WindowError::Circular => (3580, "There is a circularity in the window dependency graph.".into()),
        WindowError::ChildPartitions => (3581, "A window which depends on another cannot define partitioning.".into()),
        WindowError::BaseHasFrame => {
            (3582, format!("Window '{name}' has a frame definition, so cannot be referenced by another window."))
        }
        WindowError::StartsAtEnd => (3584, format!("Window '{name}': frame start cannot be UNBOUNDED FOLLOWING.")),
        WindowError::EndsAtStart => (3585, format!("Window '{name}': frame end cannot be UNBOUNDED PRECEDING.")),
        WindowError::FrameBound => {
            (3586, format!("Window '{name}': frame start or end is negative, NULL or of non-integral type"))
        }
        WindowError::RangeOrder => (
            3587,
            format!(
                "Window '{name}' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of numeric or \
                 temporal type"
            ),
        ),
        WindowError::TemporalOffset => (
            3588,
            format!(
                "Window '{name}' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed."
            ),
        ),
        WindowError::NumericOffset => (
            3589,
            format!(
                "Window '{name}' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed."
            ),
        ),
        WindowError::NotConstant => (3590, format!("Window '{name}' has a non-constant frame bound.")),
        WindowError::DefinedTwice => (3591, format!("Window '{name}' is defined twice.")),
        WindowError::Position => (
            3592,
            format!(
                "Window '{name}': ORDER BY or PARTITION BY uses legacy position indication which is not supported, use expression."
            ),
        ),
    }
}
