//! The request for a table definition: names instead of positions, nothing resolved yet.
//!
//! `sql` makes it from the text of CREATE TABLE, ALTER TABLE and CREATE INDEX; `table` checks it against the existing
//! tables and carries it out.

use crate::CollationId;
use crate::fulltext::FullTextDef;
use crate::vector::Metric;
mod build;

use crate::partition::{PartitionDef, Partitioning};
use crate::schema::{ColumnDef, ColumnDefault, IndexColumn, IndexKind, ReferenceAction, RowExpr, TableDef};

/// A table to create: names instead of positions, no trees.
#[derive(Clone, Debug)]
pub struct NewTable {
    pub database: String,
    pub name: String,
    pub columns: Vec<ColumnDef>,
    pub indexes: Vec<NewIndex>,
    pub foreign_keys: Vec<NewForeignKey>,
    pub checks: Vec<NewCheck>,
    pub collation: CollationId,
    pub comment: String,
    /// AUTO_INCREMENT = n
    pub auto_increment: Option<u64>,
    pub partitioning: Option<Box<Partitioning>>,
}

impl NewTable {
    /// CREATE TABLE ... LIKE: the same columns and indexes under another name, without foreign keys.
    pub fn like(def: &TableDef, database: &str, name: &str) -> Self {
        let real = def.indexes.iter().filter(|index| index.kind != IndexKind::HiddenRowId);
        let indexes = real.map(|index| NewIndex {
            name: index.name.clone(),
            kind: match index.kind {
                IndexKind::Primary => NewIndexKind::Primary,
                IndexKind::Unique | IndexKind::MultiValued { unique: true } => NewIndexKind::Unique,
                IndexKind::Secondary | IndexKind::HiddenRowId | IndexKind::MultiValued { unique: false } => {
                    NewIndexKind::Secondary
                }
                IndexKind::FullText => NewIndexKind::FullText,
                IndexKind::Spatial => NewIndexKind::Spatial,
                IndexKind::Vector { metric } => NewIndexKind::Vector { metric },
            },
            // Hidden columns are made again.
            columns: index
                .columns
                .iter()
                .map(|part| NewIndexColumn::of(&def.columns, part))
                .map(|part| if part.expr.is_some() { NewIndexColumn { name: String::new(), ..part } } else { part })
                .collect(),
            comment: index.comment.clone(),
            using_btree: index.using_btree,
            generated: index.generated,
            invisible: index.invisible,
            full_text: index.full_text.clone(),
        });
        // As in MySQL, all get new names.
        let checks = def.checks.iter().map(|c| NewCheck { name: None, expr: c.expr.clone(), enforced: c.enforced });
        Self {
            database: database.to_string(),
            name: name.to_string(),
            columns: def.named_columns().map(|(_, column)| column.clone()).collect(),
            indexes: indexes.collect(),
            foreign_keys: Vec::new(),
            checks: checks.collect(),
            collation: def.collation,
            comment: def.comment.clone(),
            auto_increment: None,
            partitioning: def.partitioning.clone(),
        }
    }
}

/// An index by column names.
#[derive(Clone, Debug)]
pub struct NewIndex {
    /// Empty: MySQL's automatic name (first column, `_2`, `_3` ...). Ignored for the primary key.
    pub name: String,
    pub kind: NewIndexKind,
    pub columns: Vec<NewIndexColumn>,
    pub comment: String,
    /// USING BTREE was written.
    pub using_btree: bool,
    pub invisible: bool,
    /// It was generated for a foreign key.
    pub generated: bool,
    /// Of [`NewIndexKind::FullText`].
    pub full_text: Option<Box<FullTextDef>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewIndexKind {
    Primary,
    Unique,
    Secondary,
    FullText,
    Spatial,
    Vector { metric: Metric },
}

#[derive(Clone, Debug)]
pub struct NewIndexColumn {
    /// For a functional part: its hidden column, or empty if that does not exist yet.
    pub name: String,
    pub prefix: Option<u32>,
    pub descending: bool,
    /// It is functional.
    pub expr: Option<RowExpr>,
}

impl NewIndexColumn {
    /// All of a column, in ascending order.
    pub fn whole(name: impl Into<String>) -> Self {
        Self { name: name.into(), prefix: None, descending: false, expr: None }
    }

    /// The part of an index as it is defined.
    pub fn of(columns: &[ColumnDef], part: &IndexColumn) -> Self {
        let column = &columns[part.column];
        let (name, expr) = (column.name.clone(), column.hidden_expr().cloned());
        Self { name, prefix: part.prefix, descending: part.descending, expr }
    }
}

/// A foreign key to make: names instead of positions.
#[derive(Clone, Debug)]
pub struct NewForeignKey {
    /// CONSTRAINT name
    pub name: Option<String>,
    /// FOREIGN KEY name: names the index if one is generated and the constraint has no name.
    pub index_name: Option<String>,
    pub columns: Vec<String>,
    pub parent_database: String,
    pub parent_table: String,
    pub parent_columns: Vec<String>,
    pub on_delete: ReferenceAction,
    pub on_update: ReferenceAction,
    /// How many of the table's other indexes are written before it.
    pub indexes_before: usize,
}

/// A CHECK to create.
#[derive(Clone, Debug)]
pub struct NewCheck {
    /// `None`: MySQL's generated name, `t_chk_1`.
    pub name: Option<String>,
    pub expr: RowExpr,
    pub enforced: bool,
}

/// One action of ALTER TABLE; several are applied together, in order.
#[derive(Clone, Debug)]
pub enum AlterAction {
    AddColumn {
        column: ColumnDef,
        position: ColumnPosition,
    },
    DropColumn {
        name: String,
    },
    /// MODIFY and CHANGE: `name` becomes `column` (whose name may differ).
    ChangeColumn {
        name: String,
        column: ColumnDef,
        position: ColumnPosition,
    },
    RenameColumn {
        name: String,
        to: String,
    },
    /// `None` drops the default.
    SetDefault {
        name: String,
        default: ColumnDefault,
    },
    /// Its columns are looked up after all column actions.
    AddIndex {
        index: NewIndex,
    },
    DropIndex {
        name: String,
    },
    DropPrimaryKey,
    /// Its index is added if none of the table's indexes serves it.
    AddForeignKey {
        key: NewForeignKey,
    },
    DropForeignKey {
        name: String,
    },
    AddCheck {
        check: NewCheck,
    },
    DropCheck {
        name: String,
    },
    /// ALTER CHECK, ALTER CONSTRAINT
    EnforceCheck {
        name: String,
        enforced: bool,
        /// CONSTRAINT was written.
        constraint: bool,
    },
    SetVisible {
        name: String,
        visible: bool,
    },
    SetIndexVisible {
        name: String,
        visible: bool,
    },
    /// DROP CONSTRAINT: a foreign key, a CHECK, or a unique key.
    DropConstraint {
        name: String,
    },
    RenameIndex {
        name: String,
        to: String,
    },
    /// RENAME TO, within or across databases.
    RenameTable {
        database: String,
        name: String,
    },
    SetComment(String),
    SetCollation(CollationId),
    /// AUTO_INCREMENT = n
    SetAutoIncrement(u64),
    Partition(PartitionChange),
    /// ENGINE = InnoDB, FORCE: rebuild.
    Rebuild,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnPosition {
    /// The end for a new column, its present place for a changed one.
    Default,
    First,
    After(String),
}

/// An action of ALTER TABLE on partitions.
#[derive(Clone, Debug)]
pub enum PartitionChange {
    By(Partitioning),
    Remove,
    /// ADD PARTITION (...)
    Add(Vec<PartitionDef>),
    /// ADD PARTITION PARTITIONS n
    AddCount(usize),
    Drop(Vec<String>),
    /// `None`: ALL
    Truncate(Option<Vec<String>>),
    Coalesce(usize),
    Reorganize {
        names: Vec<String>,
        into: Vec<PartitionDef>,
    },
    /// Without a list: of HASH and KEY the first partition is left, as in MySQL.
    ReorganizeAll,
    /// `None`: ALL
    Rebuild(Option<Vec<String>>),
}

/// ALGORITHM = of ALTER TABLE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    #[default]
    Default,
    Instant,
    InPlace,
    Copy,
}

/// LOCK = of ALTER TABLE. A weaker lock than requested satisfies the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lock {
    #[default]
    Default,
    None,
    Shared,
    Exclusive,
}
