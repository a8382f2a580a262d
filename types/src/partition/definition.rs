//! The definition of a table's partitions, as the catalog stores it.

use crate::TypeKind;
use crate::schema::{IndexKind, RowExpr, TableDef};
use serde::{Deserialize, Serialize};

/// Most partitions of a table (1499).
pub const PARTITIONS_MAX: usize = 8192;

/// PARTITION BY of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partitioning {
    pub by: PartitionBy,
    pub partitions: Vec<PartitionDef>,
    pub written: Written,
    /// SUBPARTITION BY; each partition has these subpartitions, without names of their own.
    #[serde(default)]
    pub sub: Option<Box<Partitioning>>,
}

/// How the partitions were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Written {
    /// One by one.
    Named,
    /// By their number: they have the names that follow from it.
    Counted,
    /// Not at all: there is one.
    Nothing,
}

/// The expression or columns that determine the partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartitionBy {
    Hash {
        expr: RowExpr,
        linear: bool,
    },
    /// Without columns: those of the primary key, or of the first unique key without NULLs.
    Key {
        columns: Vec<String>,
        linear: bool,
        /// ALGORITHM = 1; it is shown and has no effect.
        old_algorithm: bool,
    },
    Range(RowExpr),
    RangeColumns(Vec<String>),
    List(RowExpr),
    ListColumns(Vec<String>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionDef {
    pub name: String,
    pub values: PartitionValues,
    #[serde(default)]
    pub comment: String,
    #[serde(default)]
    pub subpartitions: Vec<SubpartitionDef>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubpartitionDef {
    pub name: String,
    pub comment: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartitionValues {
    None,
    /// The end of a range, one limit for each column.
    LessThan(Vec<PartitionLimit>),
    /// Members of a list, each with one value for each column.
    In(Vec<Vec<PartitionLimit>>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PartitionLimit {
    MaxValue,
    Null,
    /// Of an expression: a number. Of a column: the text of a literal (`ColumnDef::default_value`).
    Literal(String),
}

impl PartitionDef {
    pub fn new(name: String, values: PartitionValues) -> Self {
        Self { name, values, comment: String::new(), subpartitions: Vec::new() }
    }
}

impl PartitionBy {
    pub fn expr(&self) -> Option<&RowExpr> {
        match self {
            PartitionBy::Hash { expr, .. } | PartitionBy::Range(expr) | PartitionBy::List(expr) => Some(expr),
            PartitionBy::Key { .. } | PartitionBy::RangeColumns(_) | PartitionBy::ListColumns(_) => None,
        }
    }

    /// As information_schema has it.
    pub fn method(&self) -> &'static str {
        match self {
            PartitionBy::Hash { linear: false, .. } => "HASH",
            PartitionBy::Hash { linear: true, .. } => "LINEAR HASH",
            PartitionBy::Key { linear: false, .. } => "KEY",
            PartitionBy::Key { linear: true, .. } => "LINEAR KEY",
            PartitionBy::Range(_) => "RANGE",
            PartitionBy::RangeColumns(_) => "RANGE COLUMNS",
            PartitionBy::List(_) => "LIST",
            PartitionBy::ListColumns(_) => "LIST COLUMNS",
        }
    }

    pub fn is_range(&self) -> bool {
        matches!(self, PartitionBy::Range(_) | PartitionBy::RangeColumns(_))
    }

    pub fn is_list(&self) -> bool {
        matches!(self, PartitionBy::List(_) | PartitionBy::ListColumns(_))
    }

    /// Has each row a partition, whatever its values?
    pub fn takes_all(&self) -> bool {
        !self.is_range() && !self.is_list()
    }

    /// The names of the columns that it reads; none for KEY().
    pub fn columns(&self) -> &[String] {
        match self {
            PartitionBy::Hash { expr, .. } | PartitionBy::Range(expr) | PartitionBy::List(expr) => &expr.columns,
            PartitionBy::Key { columns, .. } | PartitionBy::RangeColumns(columns) | PartitionBy::ListColumns(columns) => columns,
        }
    }

    pub fn reads(&self, column: &str) -> bool {
        self.columns().iter().any(|name| name.eq_ignore_ascii_case(column))
    }
}

impl Partitioning {
    /// The positions of the partitioning columns; `None` if a name is not a column, or if KEY() finds no key.
    pub fn columns_in(&self, table: &TableDef) -> Option<Vec<usize>> {
        if let PartitionBy::Key { columns, .. } = &self.by
            && columns.is_empty()
        {
            let is_key = |kind| kind == IndexKind::Primary;
            let not_null = |index: &&crate::schema::IndexDef| {
                index.kind == IndexKind::Unique && index.columns.iter().all(|part| !table.columns[part.column].nullable)
            };
            let primary = table.indexes.iter().find(|index| is_key(index.kind));
            let key = primary.or_else(|| table.indexes.iter().find(not_null))?;
            return Some(key.columns.iter().map(|part| part.column).collect());
        }
        self.by.columns().iter().map(|name| table.column_index(name)).collect()
    }

    /// The place of a partition by its name, which knows no case.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.partitions.iter().position(|partition| partition.name.eq_ignore_ascii_case(name))
    }

    /// Does a column decide about the partition, or the subpartition?
    pub fn reads(&self, column: &str) -> bool {
        self.by.reads(column) || self.sub.as_ref().is_some_and(|sub| sub.by.reads(column))
    }

    /// The number of subpartitions per partition; 1 without subpartitions.
    pub fn sub_count(&self) -> usize {
        self.sub.as_ref().map_or(1, |sub| sub.partitions.len())
    }

    /// The numbers of the rows of a partition.
    pub fn numbers_of(&self, place: usize) -> std::ops::Range<usize> {
        place * self.sub_count()..(place + 1) * self.sub_count()
    }

    /// The numbers of the rows of a partition or subpartition of this name.
    pub fn numbers(&self, name: &str) -> Option<std::ops::Range<usize>> {
        if let Some(place) = self.position(name) {
            return Some(self.numbers_of(place));
        }
        let number = self.subpartition(name)?;
        Some(number..number + 1)
    }

    /// The number of a subpartition.
    pub fn subpartition(&self, name: &str) -> Option<usize> {
        let mut all = self.partitions.iter().flat_map(|partition| &partition.subpartitions);
        all.position(|sub| sub.name.eq_ignore_ascii_case(name))
    }

    /// The name in EXPLAIN of the partition with this number.
    pub fn name_of(&self, number: usize) -> String {
        let partition = &self.partitions[number / self.sub_count()];
        match partition.subpartitions.get(number % self.sub_count()) {
            Some(sub) => format!("{}_{}", partition.name, sub.name),
            None => partition.name.clone(),
        }
    }

    /// Adds default subpartitions to partitions without any.
    pub fn name_subpartitions(&self, partitions: &mut [PartitionDef]) {
        let Some(sub) = &self.sub else { return };
        for partition in partitions.iter_mut().filter(|partition| partition.subpartitions.is_empty()) {
            let make = |n| SubpartitionDef { name: format!("{}sp{n}", partition.name), comment: String::new() };
            partition.subpartitions = (0..sub.partitions.len()).map(make).collect();
        }
    }

    /// Is a value of a partition a number below 0?
    pub fn has_negative(&self) -> bool {
        let is_negative = |limit: &PartitionLimit| matches!(limit, PartitionLimit::Literal(text) if text.starts_with('-'));
        self.partitions.iter().any(|partition| match &partition.values {
            PartitionValues::None => false,
            PartitionValues::LessThan(limits) => limits.iter().any(is_negative),
            PartitionValues::In(members) => members.iter().flatten().any(is_negative),
        })
    }

    /// The partitions of PARTITIONS n, numbered from `first`.
    pub fn numbered(first: usize, count: usize) -> Vec<PartitionDef> {
        (first..first + count).map(|n| PartitionDef::new(format!("p{n}"), PartitionValues::None)).collect()
    }
}

/// May a column of this type decide about a partition by itself (RANGE COLUMNS, LIST COLUMNS; 1659 otherwise)?
pub fn may_partition(kind: &TypeKind) -> bool {
    use TypeKind::*;
    matches!(
        kind,
        TinyInt
            | SmallInt
            | MediumInt
            | Int
            | BigInt
            | Date
            | DateTime { .. }
            | Time { .. }
            | Char { .. }
            | VarChar { .. }
            | Binary { .. }
            | VarBinary { .. }
    )
}
