//! Errors about partitions.

use types::partition::PartitionError;

/// Number and message.
pub(super) fn partition_error(error: &PartitionError) -> (u16, String) {
    use PartitionError as P;
    // What MySQL's parser finds has the number of syntax errors.
    match error {
        P::ValuesNeeded { kind, values } => {
            (1064, format!("Syntax error: {kind} PARTITIONING requires definition of VALUES {values} for each partition"))
        }
        P::WrongValues { kind, values } => {
            (1480, format!("Only {kind} PARTITIONING can use VALUES {values} in partition definition"))
        }
        P::MaxValueNotLast => (1481, "MAXVALUE can only be used in last partition definition".into()),
        P::WrongCount => (1064, "Wrong number of partitions defined, mismatch with previous setting".into()),
        P::NotOfRow => {
            (1486, "Constant, random or timezone-dependent expressions in (sub)partitioning function are not allowed".into())
        }
        P::FieldMissing => (1488, "Field in list of fields for partition function not found in table".into()),
        P::WrongType => (1491, "The PARTITION function returns the wrong type".into()),
        P::NotDefined { kind } => (1492, format!("For {kind} partitions each partition must be defined")),
        P::NotIncreasing => (1493, "VALUES LESS THAN value must be strictly increasing for each partition".into()),
        P::Twice => (1495, "Multiple definition of same constant in list partitioning".into()),
        P::TooMany => (1499, "Too many partitions (including subpartitions) were defined".into()),
        P::WrongSubCount => (1064, "Wrong number of subpartitions defined, mismatch with previous setting".into()),
        P::SubpartitionMix => {
            (1500, "It is only possible to mix RANGE/LIST partitioning with HASH/KEY partitioning for subpartitioning".into())
        }
        P::BlobField => (1502, "A BLOB field is not allowed in partition function".into()),
        P::KeyWithoutFields { key } => (
            1503,
            format!(
                "A {key} must include all columns in the table's partitioning function (prefixed columns are not considered)."
            ),
        ),
        P::NoPartitions { what } => (1504, format!("Number of {what} = 0 is not an allowed value")),
        P::NotPartitioned => (1505, "Partition management on a not partitioned table is not possible".into()),
        P::ForeignKey => (1506, "Foreign keys are not yet supported in conjunction with partitioning".into()),
        P::NotInTable { action } => (1507, format!("Error in list of partitions to {action}")),
        P::DropsAll => (1508, "Cannot remove all partitions, use DROP TABLE instead".into()),
        P::CoalescesRange => (1509, "COALESCE PARTITION can only be used on HASH/KEY partitions".into()),
        P::ReorganizesNumber => {
            (1510, "REORGANIZE PARTITION can only be used to reorganize partitions not to change their numbers".into())
        }
        P::ReorganizesAlone => (
            1511,
            "REORGANIZE PARTITION without parameters can only be used on auto-partitioned tables using HASH PARTITIONs".into(),
        ),
        P::OnlyRangeOrList { action } => (1512, format!("{action} PARTITION can only be used on RANGE/LIST partitions")),
        P::AddsOtherCount => (1513, "Trying to Add partition(s) with wrong number of subpartitions".into()),
        P::NothingAdded => (1514, "At least one partition must be added".into()),
        P::NothingCoalesced => (1515, "At least one partition must be coalesced".into()),
        P::ReorganizesMore => (1516, "More partitions to reorganize than there are partitions".into()),
        P::DuplicateName { name } => (1517, format!("Duplicate partition name {name}")),
        P::NotConsecutive => (1519, "When reorganizing a set of partitions they must be in consecutive order".into()),
        P::OutsideRange => (
            1520,
            "Reorganize of range partitions cannot change total ranges except for last partition where it can extend the range"
                .into(),
        ),
        P::NoPartitionFor { value } => (1526, format!("Table has no partition for value {value}")),
        P::Temporary => (1562, "Cannot create temporary table with partitions".into()),
        P::OutOfDomain => (1563, "Partition constant is out of partition function domain".into()),
        P::Function => (1564, "This partition function is not allowed".into()),
        P::NullInRange => (1566, "Not allowed to use NULL value in VALUES LESS THAN".into()),
        P::DuplicateField { name } => (1652, format!("Duplicate partition field name '{name}'")),
        P::ColumnLists => (1064, "Inconsistency in usage of column lists for partitioning".into()),
        P::ValueType => (1654, "Partition column values of incorrect type".into()),
        P::TooManyFields { list } => (1655, format!("Too many fields in '{list}'")),
        P::MaxValueInList => (1064, "Cannot use MAXVALUE as value in VALUES IN".into()),
        P::SeveralValues { kind } => (1657, format!("Cannot have more than one value for this type of {kind} partitioning")),
        P::RowOfOneField => (1064, "Row expressions in VALUES IN only allowed for multi-field column partitioning".into()),
        P::FieldType { name } => (1659, format!("Field '{name}' is of a not allowed type for this type of partitioning")),
        P::NotInteger { partition } => (1697, format!("VALUES value for partition '{partition}' must have type INT")),
        P::ExchangePartitioned { table } => (1732, format!("Table to exchange with partition is partitioned: '{table}'")),
        P::ExchangeTemporary { table } => (1733, format!("Table to exchange with partition is temporary: '{table}'")),
        P::ExchangeSubpartitioned => (1734, "Subpartitioned table, use subpartition instead of partition".into()),
        P::Unknown { partition, table } => (1735, format!("Unknown partition '{partition}' in table '{table}'")),
        P::ExchangeDifferent => (1736, "Tables have different definitions".into()),
        P::ExchangeRow => (1737, "Found a row that does not match the partition".into()),
        P::ExchangeForeignKey { table } => {
            (1740, format!("Table to exchange with partition has foreign key references: '{table}'"))
        }
        P::ClauseWithoutPartitions => (1747, "PARTITION () clause on non partitioned table".into()),
        P::OtherPartition => (1748, "Found a row not matching the given partition set".into()),
        P::FieldNeeded { column } => {
            (3855, format!("Column '{column}' has a partitioning function dependency and cannot be dropped or renamed."))
        }
    }
}
