//! The immutable description of what is stored: databases, tables, columns, indexes.
//!
//! A [`Schema`] is one version of the whole catalog. A statement binds against one snapshot of it; DDL publishes the next.
//! Names of databases and tables compare as bytes (`lower_case_table_names = 0`), names of columns and indexes
//! case-insensitively (ASCII folding).

use crate::convert::{StoreContext, Warnings, store};
use crate::event::EventDef;
use crate::fulltext::FullTextDef;
use crate::partition::Partitioning;
use crate::row::history::RowHistory;
use crate::vector::Metric;
use crate::{CollationId, ColumnType, TypeKind, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Identity of a table for its whole life; a re-created table of the same name gets a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TableId(pub u64);

impl TableId {
    /// The ids of temporary tables begin here; virtual tables count down from the highest id.
    const TEMPORARY: u64 = 1 << 62;

    pub fn temporary(number: u64) -> Self {
        Self(Self::TEMPORARY + number)
    }

    pub fn is_temporary(self) -> bool {
        self.0 >> 62 == 1
    }
}

/// One version of the catalog.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// Grows by one with every change; plans are valid for one version.
    pub version: u64,
    pub databases: BTreeMap<String, Arc<DatabaseDef>>,
}

#[derive(Clone, Debug)]
pub struct DatabaseDef {
    pub name: String,
    pub collation: CollationId,
    pub tables: BTreeMap<String, Arc<TableDef>>,
    /// Stored procedures and functions.
    pub routines: BTreeMap<RoutineKey, Arc<RoutineDef>>,
    /// By their names in lower case.
    pub events: BTreeMap<String, Arc<EventDef>>,
}

/// The key of a routine in its database: whether it is a function, and its name in lower case.
pub type RoutineKey = (bool, String);

/// A stored procedure or function, as its text. Stored as JSON in the catalog tree; fields added later carry `#[serde(default)]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutineDef {
    pub database: String,
    /// As written; names of routines know no case.
    pub name: String,
    /// `user@host`
    pub definer: String,
    /// The text between the parentheses.
    pub parameters: String,
    pub body: String,
    pub comment: String,
    pub deterministic: bool,
    /// `CONTAINS SQL` and so on.
    pub data_access: String,
    /// SQL SECURITY INVOKER
    pub invoker: bool,
    /// The settings of the session that created the routine; it runs with these. In MySQL's bits.
    pub sql_mode: u64,
    pub client_charset: String,
    pub connection_collation: CollationId,
    pub database_collation: CollationId,
    /// Microseconds since the epoch, UTC.
    pub created_us: i64,
    pub altered_us: i64,
    /// Of a function: the text of the type that it returns.
    #[serde(default)]
    pub returns: Option<String>,
}

impl RoutineDef {
    /// The key of a routine of this name.
    pub fn key_of(function: bool, name: &str) -> RoutineKey {
        (function, name.to_lowercase())
    }

    pub fn key(&self) -> RoutineKey {
        Self::key_of(self.is_function(), &self.name)
    }

    pub fn is_function(&self) -> bool {
        self.returns.is_some()
    }

    /// As MySQL calls it.
    pub fn kind(&self) -> &'static str {
        routine_kind(self.is_function())
    }
}

/// MySQL's word for a function or a procedure.
pub fn routine_kind(function: bool) -> &'static str {
    if function { "FUNCTION" } else { "PROCEDURE" }
}

/// The event and time of a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TriggerEvent {
    Insert,
    Update,
    Delete,
}

impl TriggerEvent {
    /// As written.
    pub fn name(self) -> &'static str {
        match self {
            TriggerEvent::Insert => "INSERT",
            TriggerEvent::Update => "UPDATE",
            TriggerEvent::Delete => "DELETE",
        }
    }
}

/// A trigger: a program that is run for each row. It is a part of its table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriggerDef {
    pub event: TriggerEvent,
    /// BEFORE, not AFTER.
    pub before: bool,
    /// Without parameters; its database is the table's.
    pub program: Arc<RoutineDef>,
}

impl TriggerDef {
    /// BEFORE, AFTER
    pub fn timing(&self) -> &'static str {
        if self.before { "BEFORE" } else { "AFTER" }
    }
}

impl Schema {
    pub fn table(&self, database: &str, table: &str) -> Option<&Arc<TableDef>> {
        self.databases.get(database)?.tables.get(table)
    }

    pub fn procedure(&self, database: &str, name: &str) -> Option<&Arc<RoutineDef>> {
        self.routine(false, database, name)
    }

    /// A function, or a procedure.
    pub fn routine(&self, function: bool, database: &str, name: &str) -> Option<&Arc<RoutineDef>> {
        self.databases.get(database)?.routines.get(&RoutineDef::key_of(function, name))
    }

    pub fn event(&self, database: &str, name: &str) -> Option<&Arc<EventDef>> {
        self.databases.get(database)?.events.get(&EventDef::key_of(name))
    }

    /// The trigger of a name, with its table; names of triggers know no case.
    pub fn trigger(&self, database: &str, name: &str) -> Option<(&Arc<TableDef>, &TriggerDef)> {
        let name = name.to_lowercase();
        let mut all =
            self.databases.get(database)?.tables.values().flat_map(|t| t.triggers.iter().map(move |trigger| (t, trigger)));
        all.find(|(_, trigger)| trigger.program.name.to_lowercase() == name)
    }
}

/// One table. Stored as JSON in the catalog tree; fields added later carry `#[serde(default)]`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableDef {
    pub id: TableId,
    pub database: String,
    pub name: String,
    pub columns: Vec<ColumnDef>,
    /// `indexes[0]` is always the clustered index: the primary key, or, without one, the hidden row id (`kind ==
    /// HiddenRowId`, no columns; its key is an 8-byte big-endian number).
    pub indexes: Vec<IndexDef>,
    pub collation: CollationId,
    pub comment: String,
    /// Microseconds since the epoch, UTC.
    pub created_us: i64,
    /// Rows come from the server's memory (information_schema), not from a tree; `indexes` is empty.
    #[serde(default)]
    pub is_virtual: bool,
    /// The foreign keys of which this table is the child, by name.
    #[serde(default)]
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// By name.
    #[serde(default)]
    pub checks: Vec<CheckDef>,
    /// It is a view: it has no rows and no indexes, and the columns are those of its query at the time of its
    /// definition.
    #[serde(default)]
    pub view: Option<Box<ViewDef>>,
    /// The triggers of one event and time are in the order in which they run.
    #[serde(default)]
    pub triggers: Vec<TriggerDef>,
    /// PARTITION BY
    #[serde(default)]
    pub partitioning: Option<Box<Partitioning>>,
    /// The history of columns that were added, dropped or moved without a rewrite.
    #[serde(default)]
    pub history: Option<Box<RowHistory>>,
}

/// The definition of a view, beside its columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewDef {
    /// Its query in the form that SHOW CREATE VIEW prints, with the databases of all tables. It means the same in every session.
    pub text: String,
    /// The definition named the view's columns.
    pub names_columns: bool,
    pub algorithm: ViewAlgorithm,
    pub check: CheckOption,
    /// SQL SECURITY INVOKER, not DEFINER.
    pub invoker: bool,
    pub definer_user: String,
    pub definer_host: String,
    /// Rows may be changed through it.
    pub updatable: bool,
    /// Of the session that defined it.
    pub client_charset: String,
    /// Likewise the collation of the literals in its query.
    pub collation: CollationId,
    /// The tables and views that its query names, as database and name, each once.
    pub tables: Vec<(String, String)>,
}

/// ALGORITHM = of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ViewAlgorithm {
    #[default]
    Undefined,
    Merge,
    TempTable,
}

impl ViewAlgorithm {
    /// As SQL writes it.
    pub fn name(self) -> &'static str {
        match self {
            ViewAlgorithm::Undefined => "UNDEFINED",
            ViewAlgorithm::Merge => "MERGE",
            ViewAlgorithm::TempTable => "TEMPTABLE",
        }
    }
}

/// WITH CHECK OPTION: which conditions a row must meet that is written through a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckOption {
    /// The conditions of underlying views that have the option.
    #[default]
    None,
    /// Its own too.
    Local,
    /// Its own conditions and those of all underlying views.
    Cascaded,
}

impl CheckOption {
    /// As information_schema has it.
    pub fn name(self) -> &'static str {
        match self {
            CheckOption::None => "NONE",
            CheckOption::Local => "LOCAL",
            CheckOption::Cascaded => "CASCADED",
        }
    }
}

/// A CHECK constraint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckDef {
    pub name: String,
    pub expr: RowExpr,
    pub enforced: bool,
}

/// An expression over the columns of one row, as the catalog keeps it: text in the form that SHOW CREATE TABLE prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowExpr {
    pub text: String,
    /// The names of the columns that it reads, each once.
    pub columns: Vec<String>,
}

impl RowExpr {
    pub fn reads(&self, column: &str) -> bool {
        self.columns.iter().any(|name| name.eq_ignore_ascii_case(column))
    }
}

/// GENERATED ALWAYS AS. Both kinds are computed when the row is written, and are in the row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratedDef {
    pub expr: RowExpr,
    /// STORED, not VIRTUAL.
    pub stored: bool,
}

/// A FOREIGN KEY constraint, as its child has it. The parent is known by its names: it may be missing (`foreign_key_checks = 0`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKeyDef {
    pub name: String,
    /// Positions in the child's columns.
    pub columns: Vec<usize>,
    pub parent_database: String,
    pub parent_table: String,
    /// One for each of `columns`.
    pub parent_columns: Vec<String>,
    pub on_delete: ReferenceAction,
    pub on_update: ReferenceAction,
}

/// The action on child rows when their parent row is deleted, or gets another key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReferenceAction {
    #[default]
    NoAction,
    Restrict,
    Cascade,
    SetNull,
    /// As in InnoDB, the same as `NoAction`.
    SetDefault,
}

impl ReferenceAction {
    /// As SQL writes it.
    pub fn name(self) -> &'static str {
        match self {
            ReferenceAction::NoAction => "NO ACTION",
            ReferenceAction::Restrict => "RESTRICT",
            ReferenceAction::Cascade => "CASCADE",
            ReferenceAction::SetNull => "SET NULL",
            ReferenceAction::SetDefault => "SET DEFAULT",
        }
    }

    /// Does it change the child, rather than forbid the change of the parent?
    pub fn changes_child(self) -> bool {
        matches!(self, ReferenceAction::Cascade | ReferenceAction::SetNull)
    }
}

impl ForeignKeyDef {
    pub fn is_of(&self, database: &str, table: &str) -> bool {
        self.parent_database == database && self.parent_table == table
    }

    /// The positions of the referenced columns in the parent; `None` if one is missing.
    pub fn columns_in(&self, parent: &TableDef) -> Option<Vec<usize>> {
        self.parent_columns.iter().map(|name| parent.column_index(name)).collect()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ColumnDef {
    pub name: String,
    pub ty: ColumnType,
    pub nullable: bool,
    pub default: ColumnDefault,
    pub auto_increment: bool,
    /// `ON UPDATE CURRENT_TIMESTAMP`, with the column's own fsp.
    pub on_update_now: bool,
    pub comment: String,
    /// `AUTO_INCREMENT INVISIBLE` and the like: left out of `*`.
    #[serde(default)]
    pub invisible: bool,
    /// Of a functional key part: a virtual generated column that no statement can name. Invisible, too.
    #[serde(default)]
    pub hidden: bool,
    #[serde(default)]
    pub generated: Option<GeneratedDef>,
    /// Of a multi-valued key part's hidden column, which holds JSON arrays: the type of their elements.
    #[serde(default)]
    pub element: Option<Box<ColumnType>>,
    /// The value of the column in rows written before it was added, as the text of a literal (`default_value`); `None`:
    /// NULL.
    #[serde(default)]
    pub missing: Option<String>,
}

impl ColumnDef {
    /// A column without further attributes.
    pub fn new(name: impl Into<String>, ty: ColumnType, nullable: bool) -> Self {
        Self {
            name: name.into(),
            ty,
            nullable,
            default: ColumnDefault::None,
            auto_increment: false,
            on_update_now: false,
            comment: String::new(),
            invisible: false,
            hidden: false,
            generated: None,
            element: None,
            missing: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ColumnDefault {
    /// No DEFAULT clause: NULL if nullable, else "doesn't have a default value" (1364).
    None,
    /// The literal as text, already checked against the type; `None` is DEFAULT NULL. Binary types hold hex.
    Literal(Option<String>),
    CurrentTimestamp,
    /// DEFAULT (expression)
    Expression(RowExpr),
    /// DROP DEFAULT: 1364, even if the column is nullable.
    Dropped,
}

impl ColumnDefault {
    /// Is it the present time?
    pub fn is_now(&self) -> bool {
        matches!(self, Self::CurrentTimestamp)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexKind {
    Primary,
    HiddenRowId,
    /// Key: the index columns; with a NULL among them the primary key follows. Payload: the primary key.
    Unique,
    /// Key: the index columns, then the primary key. Payload: empty.
    Secondary,
    /// An entry for each different word of a row. Key: the word, then the primary key. Payload: how often it occurs, and where.
    FullText,
    /// An entry for each cell that the box of a row's geometry touches. Key: the cell, then the primary key. Payload: empty.
    Spatial,
    /// An entry for each different element of the array of one part ([`ColumnDef::element`]). Key: the index columns, the element in its
    /// place; then the primary key, unless it is unique and no part is NULL. Payload: of a unique one the primary key.
    MultiValued {
        unique: bool,
    },
    /// An entry for each row, in no order of values. Key: 0 and the primary key; 1 in place of 0 for a vector that has no distances, or
    /// another number of numbers than the column. Payload: the code of the vector (`vector_code`), or nothing.
    Vector {
        metric: Metric,
    },
}

/// The type of a functional key part's hidden column.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyPartType {
    pub ty: ColumnType,
    pub nullable: bool,
    /// See [`ColumnDef::element`].
    pub element: Option<Box<ColumnType>>,
}

impl IndexKind {
    /// Has it one entry for each row, so that its entries are the rows in the order of its key?
    pub fn is_ordered(self) -> bool {
        !matches!(self, Self::FullText | Self::Spatial | Self::MultiValued { .. } | Self::Vector { .. })
    }

    /// Does it refuse a second row with one of its keys?
    pub fn is_unique(self) -> bool {
        matches!(self, Self::Primary | Self::Unique | Self::MultiValued { unique: true })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IndexDef {
    /// `PRIMARY` for the primary key.
    pub name: String,
    pub kind: IndexKind,
    pub columns: Vec<IndexColumn>,
    pub comment: String,
    /// The definition says USING BTREE, which every index is; shown again by SHOW CREATE TABLE.
    #[serde(default)]
    pub using_btree: bool,
    /// INVISIBLE: kept up, but no plan reads it.
    #[serde(default)]
    pub invisible: bool,
    /// Generated for a foreign key; dropped when another index that serves the key is added.
    #[serde(default)]
    pub generated: bool,
    /// How texts are cut, of [`IndexKind::FullText`].
    #[serde(default)]
    pub full_text: Option<Box<FullTextDef>>,
    /// Identity and root page of the tree; filled in by `table` when it makes the tree.
    pub tree_id: u32,
    pub root_page: u32,
}

impl IndexDef {
    /// An index without further attributes and without a tree.
    pub fn new(name: impl Into<String>, kind: IndexKind, columns: Vec<IndexColumn>) -> Self {
        let (comment, using_btree, invisible, generated) = (String::new(), false, false, false);
        Self {
            name: name.into(),
            kind,
            columns,
            comment,
            using_btree,
            invisible,
            generated,
            full_text: None,
            tree_id: 0,
            root_page: 0,
        }
    }
}

impl IndexDef {
    /// Its place among a table's indexes in MySQL's order.
    pub fn rank(&self, columns: &[ColumnDef]) -> (u8, bool, bool) {
        let any = |test: fn(&ColumnDef) -> bool| self.columns.iter().any(|part| test(&columns[part.column]));
        let kind = match self.kind {
            IndexKind::Primary | IndexKind::HiddenRowId => 0,
            IndexKind::Unique if !any(|column| column.nullable) => 1,
            IndexKind::Unique => 2,
            IndexKind::MultiValued { unique: true } => 2,
            IndexKind::Secondary | IndexKind::MultiValued { unique: false } => 3,
            IndexKind::Spatial | IndexKind::Vector { .. } => 3,
            IndexKind::FullText => 4,
        };
        let is_prefixed = self.kind == IndexKind::Unique && self.columns.iter().any(|part| part.prefix.is_some());
        (kind, is_prefixed, any(ColumnDef::is_virtual))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexColumn {
    /// Position in `TableDef::columns`.
    pub column: usize,
    /// Prefix length in characters (bytes for binary types).
    pub prefix: Option<u32>,
    pub descending: bool,
}

impl ColumnDef {
    /// Of a functional key part's column: its expression.
    pub fn hidden_expr(&self) -> Option<&RowExpr> {
        self.generated.as_ref().filter(|_| self.hidden).map(|generated| &generated.expr)
    }

    /// GENERATED ALWAYS AS (...) VIRTUAL
    pub fn is_virtual(&self) -> bool {
        self.generated.as_ref().is_some_and(|generated| !generated.stored)
    }

    /// As plans name it: a hidden one by its expression.
    pub fn shown_name(&self) -> &str {
        self.hidden_expr().map_or(&self.name, |expr| &expr.text)
    }

    /// The value of a DEFAULT literal of this column, in stored form (`convert::store`); `None` when it does not fit the type, which
    /// DDL has ruled out. A BIT literal is a number in decimal. A TIMESTAMP literal is taken as UTC.
    pub fn default_value(&self, literal: &str) -> Option<Value<'static>> {
        self.default_value_in(literal, &StoreContext::lax())
    }

    /// [`Self::default_value`] in a session's time zone.
    pub fn default_value_in(&self, literal: &str, context: &StoreContext<'_>) -> Option<Value<'static>> {
        if let TypeKind::Bit { .. } = self.ty.kind {
            return literal.parse().ok().map(Value::UInt);
        }
        let bytes = if self.ty.is_binary_string() { decode_hex(literal)? } else { literal.as_bytes().to_vec() };
        let text = Value::Bytes(bytes.into());
        let from = ColumnType::new(TypeKind::VarChar { length: literal.len() as u32 });
        store(&text, &from, &self.ty, context, &mut Warnings::new()).ok().map(Value::into_owned)
    }
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|d| d as u8);
    digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

impl TableDef {
    /// A table without indexes, with the server's collation.
    pub fn new(id: TableId, database: impl Into<String>, name: impl Into<String>, columns: Vec<ColumnDef>) -> Self {
        Self {
            id,
            database: database.into(),
            name: name.into(),
            columns,
            indexes: Vec::new(),
            collation: CollationId::UTF8MB4_0900_AI_CI,
            comment: String::new(),
            created_us: 0,
            is_virtual: false,
            triggers: Vec::new(),
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            view: None,
            partitioning: None,
            history: None,
        }
    }

    /// Forgets older rows: all rows will be written with every column.
    pub fn forget_older_rows(&mut self) {
        self.history = None;
        self.columns.iter_mut().for_each(|column| column.missing = None);
    }

    /// Must something be computed or checked when a row is written, beside literal defaults?
    pub fn has_row_rules(&self) -> bool {
        !self.checks.is_empty()
            || self.partitioning.is_some()
            || self.columns.iter().any(|c| c.generated.is_some() || matches!(c.default, ColumnDefault::Expression(_)))
    }

    pub fn primary(&self) -> &IndexDef {
        &self.indexes[0]
    }

    /// The column of a name; hidden ones have none to statements.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| !c.hidden && c.name.eq_ignore_ascii_case(name))
    }

    /// The columns that statements can name, with their positions.
    pub fn named_columns(&self) -> impl Iterator<Item = (usize, &ColumnDef)> {
        self.columns.iter().enumerate().filter(|(_, column)| !column.hidden)
    }

    pub fn index_by_name(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|i| i.name.eq_ignore_ascii_case(name))
    }

    /// The index by which the rows of a child are found that have given values in `columns`: it begins with them, whole, in this order.
    pub fn index_leading_with(&self, columns: &[usize]) -> Option<usize> {
        self.indexes.iter().position(|index| {
            let parts = index.columns.get(..columns.len()).filter(|_| index.kind.is_ordered());
            parts.is_some_and(|parts| {
                parts.iter().zip(columns).all(|(part, column)| part.column == *column && part.prefix.is_none())
            })
        })
    }

    /// The primary or unique key of exactly these columns, in this order, which a foreign key may reference.
    pub fn unique_key_of(&self, columns: &[usize]) -> Option<usize> {
        self.indexes.iter().position(|index| {
            matches!(index.kind, IndexKind::Primary | IndexKind::Unique)
                && index.columns.len() == columns.len()
                && index.columns.iter().zip(columns).all(|(part, column)| part.column == *column && part.prefix.is_none())
        })
    }
}
