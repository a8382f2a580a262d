//! The syntax tree of PARTITION BY and of ALTER TABLE's actions on partitions.

use super::{Expr, ObjectName};

/// PARTITION BY ...
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartitionClause<'a> {
    pub by: PartitionBy<'a>,
    /// PARTITIONS n
    pub count: Option<u64>,
    pub partitions: &'a [PartitionDefinition<'a>],
    pub sub: Option<SubpartitionClause<'a>>,
}

/// SUBPARTITION BY ...
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubpartitionClause<'a> {
    /// HASH or KEY
    pub by: PartitionBy<'a>,
    /// SUBPARTITIONS n
    pub count: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartitionBy<'a> {
    Hash {
        expr: &'a Expr<'a>,
        linear: bool,
    },
    /// No columns: the primary key.
    Key {
        columns: &'a [&'a str],
        linear: bool,
        algorithm: Option<u64>,
    },
    Range(&'a Expr<'a>),
    RangeColumns(&'a [&'a str]),
    List(&'a Expr<'a>),
    ListColumns(&'a [&'a str]),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartitionDefinition<'a> {
    pub name: &'a str,
    pub values: PartitionValues<'a>,
    pub comment: Option<&'a [u8]>,
    /// Names and comments, if written.
    pub subpartitions: &'a [(&'a str, Option<&'a [u8]>)],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartitionValues<'a> {
    None,
    /// VALUES LESS THAN
    LessThan(&'a [PartitionValue<'a>]),
    /// VALUES IN: one value for each column of the list, in each.
    In(&'a [&'a [PartitionValue<'a>]]),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartitionValue<'a> {
    MaxValue,
    Expr(&'a Expr<'a>),
}

/// An action of ALTER TABLE on partitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartitionAction<'a> {
    By(&'a PartitionClause<'a>),
    /// REMOVE PARTITIONING
    Remove,
    /// ADD PARTITION (...), ADD PARTITION PARTITIONS n
    Add {
        partitions: &'a [PartitionDefinition<'a>],
        count: Option<u64>,
    },
    Drop(&'a [&'a str]),
    /// `None`: ALL
    Truncate(Option<&'a [&'a str]>),
    Coalesce(u64),
    Reorganize {
        names: &'a [&'a str],
        into: &'a [PartitionDefinition<'a>],
    },
    /// REORGANIZE PARTITION without more.
    ReorganizeAll,
    /// `None`: ALL
    Rebuild(Option<&'a [&'a str]>),
    Exchange {
        name: &'a str,
        table: ObjectName<'a>,
        validation: bool,
    },
}
