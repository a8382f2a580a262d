//! Comparison values against an index column, when the value need not be one of the column's.

/// Where a comparison value lies among the values that a column can hold. What was encoded is in the output buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeKey {
    /// The value itself was encoded: all comparisons with it are comparisons with the key.
    Exact,
}
