//! Violations of foreign keys.

use crate::Error;

/// Violations of foreign keys. The number in each comment is MySQL's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignKeyError {
    /// 1215: a new parent lacks what the key of a waiting child needs.
    UnfitParent,
    /// 1239
    ColumnCount { name: Option<String> },
    /// 1452: the child's rows have no parents; the constraint as messages show it.
    NoParentRow { constraint: String },
    /// 1553
    IndexNeeded { index: String },
    /// 1701: the child, and the constraint's name.
    Truncated { database: String, child: String, name: String },
    /// 1824
    ParentMissing { table: String },
    /// 1826
    DuplicateName { name: String },
    /// 1828
    ColumnNeeded { column: String, name: String },
    /// 1829
    ColumnReferenced { column: String, name: String, child: String },
    /// 1830
    NotNull { column: String, name: String },
    /// 3730
    TableReferenced { table: String, name: String, child: String },
    /// 3734
    ParentColumnMissing { column: String, name: String, parent: String },
    /// 3780
    Incompatible { column: String, parent_column: String, name: String },
    /// 3939: several constraints have the name, so DROP or ALTER CONSTRAINT is ambiguous
    ConstraintAmbiguous { name: String, clause: &'static str },
    /// 3940
    ConstraintMissing { name: String },
    /// 3941: a key is enforced always
    NotEnforceable { name: String },
    /// 6125
    NoUniqueKey { name: String, parent: String },
}

impl From<ForeignKeyError> for Error {
    fn from(error: ForeignKeyError) -> Self {
        Error::ForeignKey(Box::new(error))
    }
}
