//! Partitions of a table: their stored definition, and which one a row belongs to.
//!
//! A partition is not a storage unit but a set of rows: those for which the *partition function* gives its number. The function
//! is part of the table's definition; rows, indexes and locks know nothing of it.
//!
//! 1. [`Partitioning`] is stored in the catalog: an expression or columns, and the partitions with their values as
//!    text.
//! 2. [`PartitionFunction`] is made from it once for each plan that needs it. It returns a partition's number, counted
//!    from 0 in the order of the definition.
//!
//! | partitioned by | number |
//! |---|---|
//! | HASH(e) | the absolute remainder of e divided by the number of partitions (NULL counts as the least number); LINEAR: as in MySQL's manual |
//! | KEY(c, ...) | the same of a hash of the columns' keys; equal values are in one partition |
//! | RANGE(e), RANGE COLUMNS(c, ...) | the first partition whose end is above the value; NULL is below all others |
//! | LIST(e), LIST COLUMNS(c, ...) | the partition that lists the value |
//!
//! Each partition by RANGE or LIST may have the same number of subpartitions, by HASH or KEY. Then the number of a row
//! is that of its subpartition, counted over all partitions: partition * subpartitions + subpartition.

mod definition;
mod error;
mod function;
pub mod show;

pub use definition::{
    PARTITIONS_MAX, PartitionBy, PartitionDef, PartitionLimit, PartitionValues, Partitioning, SubpartitionDef, Written,
    may_partition,
};
pub use error::PartitionError;
pub use function::{PartitionFunction, PartitionProblem};
