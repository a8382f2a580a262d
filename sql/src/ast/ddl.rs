//! The syntax tree of definitions of databases, tables and indexes.

use super::{Duplicates, Expr, ObjectName, PartitionAction, PartitionClause, Query};
use types::geometry::GeometryKind;
use types::schema::{CheckOption, ViewAlgorithm};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreateDatabase<'a> {
    pub name: &'a str,
    pub if_not_exists: bool,
    pub options: DatabaseOptions<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DatabaseOptions<'a> {
    pub charset: Option<&'a str>,
    pub collation: Option<&'a str>,
    pub encryption: Option<&'a [u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreateTable<'a> {
    pub name: ObjectName<'a>,
    pub temporary: bool,
    pub if_not_exists: bool,
    /// CREATE TABLE t LIKE u
    pub like: Option<ObjectName<'a>>,
    pub columns: &'a [ColumnDefinition<'a>],
    pub keys: &'a [KeyDefinition<'a>],
    pub checks: &'a [CheckDefinition<'a>],
    pub foreign_keys: &'a [ForeignKey<'a>],
    pub options: TableOptions<'a>,
    pub partitioning: Option<&'a PartitionClause<'a>>,
    /// `CREATE TABLE t [AS] SELECT ...`
    pub query: Option<&'a Query<'a>>,
    /// IGNORE, REPLACE before the query.
    pub duplicates: Duplicates,
}

/// Options of CREATE TABLE and ALTER TABLE. Options without an effect in Heddle are parsed and dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TableOptions<'a> {
    pub engine: Option<&'a str>,
    pub charset: Option<&'a str>,
    pub collation: Option<&'a str>,
    pub comment: Option<&'a [u8]>,
    pub auto_increment: Option<u64>,
    pub row_format: Option<&'a str>,
    pub encryption: Option<&'a [u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnDefinition<'a> {
    pub name: &'a str,
    pub data_type: DataType<'a>,
    /// NULL or NOT NULL, if written.
    pub nullable: Option<bool>,
    pub default: DefaultClause<'a>,
    pub on_update_now: Option<u8>,
    pub auto_increment: bool,
    pub primary_key: bool,
    pub unique: bool,
    pub comment: Option<&'a [u8]>,
    pub invisible: bool,
    /// GENERATED ALWAYS AS (...)
    pub generated: Option<&'a Expr<'a>>,
    /// STORED, not VIRTUAL.
    pub stored: bool,
    pub checks: &'a [CheckDefinition<'a>],
    pub references: Option<&'a Reference<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultClause<'a> {
    None,
    /// A literal, possibly signed.
    Literal(Expr<'a>),
    /// CURRENT_TIMESTAMP(fsp) and its synonyms.
    Now(u8),
    /// DEFAULT (expression)
    Expression(&'a Expr<'a>),
}

/// A type with its attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataType<'a> {
    pub name: TypeName<'a>,
    pub unsigned: bool,
    pub zerofill: bool,
    /// CHARACTER SET x; `binary` for the BYTE attribute.
    pub charset: Option<&'a str>,
    pub collation: Option<&'a str>,
    /// The BINARY attribute: the character set's _bin collation.
    pub binary: bool,
    /// SRID n, of geometries.
    pub srid: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeName<'a> {
    /// BOOL, BOOLEAN and SERIAL are replaced by the types that they stand for.
    TinyInt(Option<u8>),
    SmallInt(Option<u8>),
    MediumInt(Option<u8>),
    Int(Option<u8>),
    BigInt(Option<u8>),
    Decimal {
        precision: u32,
        scale: u32,
    },
    /// `FLOAT`, `FLOAT(p)` up to 24, `FLOAT(m,d)`
    Float(Option<(u8, u8)>),
    Double(Option<(u8, u8)>),
    Bit(u32),
    Char(u64),
    VarChar(u64),
    Binary(u64),
    VarBinary(u64),
    TinyText,
    /// TEXT, TEXT(n)
    Text(Option<u64>),
    MediumText,
    LongText,
    TinyBlob,
    Blob(Option<u64>),
    MediumBlob,
    LongBlob,
    Date,
    Time(u8),
    DateTime(u8),
    Timestamp(u8),
    Year,
    Enum(&'a [&'a [u8]]),
    Set(&'a [&'a [u8]]),
    Json,
    Geometry(GeometryKind),
    Vector(Option<u64>),
}

/// An index in CREATE TABLE, ALTER TABLE or CREATE INDEX.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyDefinition<'a> {
    pub kind: KeyKind,
    /// `None`: named after its first column.
    pub name: Option<&'a str>,
    pub parts: &'a [KeyPart<'a>],
    pub comment: Option<&'a [u8]>,
    pub invisible: bool,
    pub using_btree: bool,
    /// WITH PARSER, of [`KeyKind::FullText`].
    pub parser: Option<&'a str>,
    /// DISTANCE =, of [`KeyKind::Vector`].
    pub distance: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    Primary,
    Unique,
    Index,
    FullText,
    Spatial,
    Vector,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyPart<'a> {
    Column {
        name: &'a str,
        prefix: Option<u32>,
        descending: bool,
    },
    /// `ordered`: ASC or DESC is written.
    Expr {
        expr: &'a Expr<'a>,
        descending: bool,
        ordered: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckDefinition<'a> {
    pub name: Option<&'a str>,
    /// The column beside which it is written.
    pub column: Option<&'a str>,
    pub expr: Expr<'a>,
    /// The text of the expression.
    pub text: &'a str,
    pub enforced: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignKey<'a> {
    /// CONSTRAINT name
    pub name: Option<&'a str>,
    /// FOREIGN KEY name: of the index
    pub index_name: Option<&'a str>,
    /// How many of the table's keys are written before it.
    pub keys_before: usize,
    pub columns: &'a [&'a str],
    pub references: Reference<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference<'a> {
    pub table: ObjectName<'a>,
    pub columns: &'a [&'a str],
    pub on_delete: Option<ReferenceAction>,
    pub on_update: Option<ReferenceAction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceAction {
    Restrict,
    Cascade,
    SetNull,
    NoAction,
    SetDefault,
}

/// CREATE VIEW, ALTER VIEW
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreateView<'a> {
    pub name: ObjectName<'a>,
    pub form: ViewForm,
    pub algorithm: ViewAlgorithm,
    /// DEFINER =, as user and host; `None`: the current user.
    pub definer: Option<(&'a str, &'a str)>,
    /// SQL SECURITY INVOKER
    pub invoker: bool,
    /// Empty: the columns have the names that the query gives them.
    pub columns: &'a [&'a str],
    pub query: &'a Query<'a>,
    pub check: CheckOption,
}

/// OR REPLACE or IF NOT EXISTS in the definition of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewForm {
    Create,
    IfNotExists,
    OrReplace,
    Alter,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreateIndex<'a> {
    pub table: ObjectName<'a>,
    pub key: KeyDefinition<'a>,
    pub how: AlterHow,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlterTable<'a> {
    pub table: ObjectName<'a>,
    pub actions: &'a [AlterAction<'a>],
    pub options: TableOptions<'a>,
    pub how: AlterHow,
}

/// ALGORITHM = and LOCK =
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AlterHow {
    pub algorithm: AlterAlgorithm,
    pub lock: AlterLock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AlterAlgorithm {
    #[default]
    Default,
    Instant,
    InPlace,
    Copy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AlterLock {
    #[default]
    Default,
    None,
    Shared,
    Exclusive,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AlterAction<'a> {
    AddColumn {
        column: &'a ColumnDefinition<'a>,
        position: ColumnPosition<'a>,
    },
    DropColumn(&'a str),
    ModifyColumn {
        column: &'a ColumnDefinition<'a>,
        position: ColumnPosition<'a>,
    },
    ChangeColumn {
        old: &'a str,
        column: &'a ColumnDefinition<'a>,
        position: ColumnPosition<'a>,
    },
    RenameColumn {
        old: &'a str,
        new: &'a str,
    },
    /// ALTER COLUMN c SET DEFAULT x; `None` is DROP DEFAULT.
    SetDefault {
        column: &'a str,
        default: Option<DefaultClause<'a>>,
    },
    SetVisible {
        column: &'a str,
        visible: bool,
    },
    AddKey(&'a KeyDefinition<'a>),
    AddForeignKey(&'a ForeignKey<'a>),
    AddCheck(&'a CheckDefinition<'a>),
    DropKey(&'a str),
    DropPrimaryKey,
    DropForeignKey(&'a str),
    DropConstraint(&'a str),
    DropCheck(&'a str),
    /// ALTER CHECK, ALTER CONSTRAINT
    AlterCheck {
        name: &'a str,
        enforced: bool,
        /// CONSTRAINT was written.
        constraint: bool,
    },
    RenameKey {
        old: &'a str,
        new: &'a str,
    },
    AlterKey {
        name: &'a str,
        visible: bool,
    },
    RenameTable(ObjectName<'a>),
    /// CONVERT TO CHARACTER SET x [COLLATE y]
    ConvertCharset {
        charset: Option<&'a str>,
        collation: Option<&'a str>,
    },
    /// DISABLE KEYS, ENABLE KEYS: nothing happens.
    Keys {
        enable: bool,
    },
    /// FORCE
    Rebuild,
    /// ORDER BY, VALIDATION: nothing happens.
    Nothing,
    Partition(PartitionAction<'a>),
    /// An action that Heddle does not have: 1235 with this name.
    Unsupported(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnPosition<'a> {
    Last,
    First,
    After(&'a str),
}
