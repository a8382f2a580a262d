//! Errors about partitions: in their syntax, their definition, their names, or on inserting a row.

use std::fmt;

/// The number in each comment is MySQL's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartitionError {
    /// 1064 (1479): the kind (`RANGE`), and the clause that its partitions need (`LESS THAN`)
    ValuesNeeded { kind: &'static str, values: &'static str },
    /// 1480: the kind that the clause belongs to, and the clause
    WrongValues { kind: &'static str, values: &'static str },
    /// 1481
    MaxValueNotLast,
    /// 1064 (1484): the number of partitions is not that of their definitions
    WrongCount,
    /// 1486
    NotOfRow,
    /// 1488
    FieldMissing,
    /// 1491
    WrongType,
    /// 1492
    NotDefined { kind: &'static str },
    /// 1493
    NotIncreasing,
    /// 1495
    Twice,
    /// 1499
    TooMany,
    /// 1064 (1485): the number of subpartitions is not that of their definitions
    WrongSubCount,
    /// 1500
    SubpartitionMix,
    /// 1502
    BlobField,
    /// 1503
    KeyWithoutFields { key: &'static str },
    /// 1504: the kind of partitions of which there is none
    NoPartitions { what: &'static str },
    /// 1505
    NotPartitioned,
    /// 1506
    ForeignKey,
    /// 1507: in the list of this action
    NotInTable { action: &'static str },
    /// 1508
    DropsAll,
    /// 1509
    CoalescesRange,
    /// 1510
    ReorganizesNumber,
    /// 1511
    ReorganizesAlone,
    /// 1512: the action
    OnlyRangeOrList { action: &'static str },
    /// 1513
    AddsOtherCount,
    /// 1514
    NothingAdded,
    /// 1515
    NothingCoalesced,
    /// 1516
    ReorganizesMore,
    /// 1517
    DuplicateName { name: String },
    /// 1519
    NotConsecutive,
    /// 1520
    OutsideRange,
    /// 1526: the value of the expression, or `from column_list`
    NoPartitionFor { value: String },
    /// 1562
    Temporary,
    /// 1563
    OutOfDomain,
    /// 1564
    Function,
    /// 1566
    NullInRange,
    /// 1652
    DuplicateField { name: String },
    /// 1064, or 1653 where there are too many
    ColumnLists { too_many: bool },
    /// 1654
    ValueType,
    /// 1655: the kind of list
    TooManyFields { list: &'static str },
    /// 1064 (1656)
    MaxValueInList,
    /// 1657: the kind
    SeveralValues { kind: &'static str },
    /// 1064 (1658)
    RowOfOneField,
    /// 1659
    FieldType { name: String },
    /// 1697
    NotInteger { partition: String },
    /// 1732
    ExchangePartitioned { table: String },
    /// 1733
    ExchangeTemporary { table: String },
    /// 1734
    ExchangeSubpartitioned,
    /// 1735
    Unknown { partition: String, table: String },
    /// 1736
    ExchangeDifferent,
    /// 1737
    ExchangeRow,
    /// 1740
    ExchangeForeignKey { table: String },
    /// 1747
    ClauseWithoutPartitions,
    /// 1748
    OtherPartition,
    /// 3855
    FieldNeeded { column: String },
}

impl fmt::Display for PartitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for PartitionError {}
