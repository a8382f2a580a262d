//! Plans that a worker keeps: by statement digest for text queries, by reference in prepared statements.
//!
//! A plan belongs to one worker, so its reference counts are plain numbers. It is valid for one schema version; a statement that
//! finds another version in the database plans again.

use crate::account::Needs;
use crate::counters::Command;
use crate::digests::{PlanCount, Statistics, Ways};
use crate::session::FileTarget;
use conditions::Condition;
use exec::Prepared;
use protocol::{Capabilities, ColumnDefinition, EncodedHead, WireType, column_flag, field_type};
use sql::param::Params;
use sql::plan::{InsertSource, Made, OutputColumn, Plan};
use sql::routine::Place;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use types::charset::Charset;
use types::{CollationId, ColumnType, TypeKind, Value};

/// Plans kept by each worker.
const PLANS_MAX: usize = 1024;

/// The kind of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    Select,
    Insert,
    Replace,
    Update,
    Delete,
    /// LOAD DATA
    Load,
}

/// SELECT ... INTO
pub enum ResultTarget {
    Variables(Box<[Place]>),
    File(Box<FileTarget>),
}

/// The virtual data that a plan reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VirtualReads {
    /// Some table of the server.
    pub any: bool,
    /// A table whose rows must be collected from all workers first.
    pub gathered: bool,
    /// One of these has statistics by digest.
    pub digests: bool,
    /// One of these has kept executions or plans.
    pub kept: bool,
    /// One of these has metadata locks.
    pub metadata: bool,
    /// The tables of the general log and of the slow log.
    pub logs: [bool; 2],
    /// One of these has events of sessions.
    pub events: bool,
}

/// A statement that is ready to run.
pub struct PlanEntry {
    pub schema_version: u64,
    pub prepared: Prepared,
    pub kind: StatementKind,
    /// Its counter, if it is a client's statement.
    pub command: Option<Command>,
    /// Changes rows.
    pub writes: bool,
    /// READ ONLY forbids it: it changes rows of tables that are not temporary, or locks rows as if to do so.
    pub wants_write: bool,
    /// SELECT ... INTO: the target of the rows, instead of the client.
    pub into: Option<ResultTarget>,
    pub reads: VirtualReads,
    /// The privileges that a session needs to run it.
    pub needs: Needs,
    /// The assumptions about the parameters' values.
    pub params: Params,
    pub ways: Ways,
    join_rows: OnceCell<f64>,
    /// Its executions.
    pub counts: Rc<PlanCount>,
    /// The statistics of the statement's digest, if the plan is kept.
    pub statistics: OnceCell<Rc<Statistics>>,
    /// The warnings about deprecated forms in the statement's text.
    pub deprecated: OnceCell<Box<[Condition]>>,
    head: RefCell<Option<(Option<CollationId>, Rc<EncodedHead>)>>,
}

impl PlanEntry {
    /// Are the definitions that the plan was made with still those of its tables?
    pub fn has_current_tables(&self, database: &table::Database) -> bool {
        let is_current = |table: &Arc<table::Table>| database.table(table.def().id).is_some_and(|now| Arc::ptr_eq(&now, table));
        database.schema_version() == self.schema_version || self.prepared.tables().iter().all(is_current)
    }

    pub fn new(
        schema_version: u64,
        prepared: Prepared,
        command: Option<Command>,
        into: Option<ResultTarget>,
        reads: VirtualReads,
        needs: Needs,
        params: Params,
    ) -> Rc<Self> {
        let (kind, writes) = match &**prepared.plan() {
            Plan::Query(_) => (StatementKind::Select, false),
            Plan::Insert(insert) if matches!(insert.source, InsertSource::File(_)) => (StatementKind::Load, true),
            Plan::Insert(insert) if insert.replace => (StatementKind::Replace, true),
            Plan::Insert(_) => (StatementKind::Insert, true),
            Plan::Update(_) => (StatementKind::Update, true),
            Plan::Delete(_) => (StatementKind::Delete, true),
            Plan::Change(change) if change.update => (StatementKind::Update, true),
            Plan::Change(_) => (StatementKind::Delete, true),
        };
        let wants_write = match &**prepared.plan() {
            Plan::Query(query) => query.locks_for_change(),
            Plan::Insert(insert) => !insert.table.id.is_temporary(),
            Plan::Update(update) => !update.scan.table.id.is_temporary(),
            Plan::Delete(delete) => !delete.scan.table.id.is_temporary(),
            Plan::Change(change) => change.targets.iter().any(|target| !target.table.id.is_temporary()),
        };
        let ways = Ways::of(prepared.plan());
        let (statistics, head) = (OnceCell::new(), RefCell::new(None));
        Rc::new(Self {
            schema_version,
            prepared,
            kind,
            command,
            writes,
            wants_write,
            into,
            reads,
            needs,
            params,
            ways,
            join_rows: OnceCell::new(),
            counts: Rc::default(),
            statistics,
            deprecated: OnceCell::new(),
            head,
        })
    }

    /// The estimated rows of its largest join.
    pub fn join_rows(&self) -> f64 {
        *self.join_rows.get_or_init(|| sql::join_rows(self.prepared.plan()))
    }

    pub fn is_query(&self) -> bool {
        self.kind == StatementKind::Select
    }

    /// The head of the result set in wire form for clients that read `results`.
    pub fn head(&self, agreed: Capabilities, results: Option<CollationId>) -> Rc<EncodedHead> {
        let mut kept = self.head.borrow_mut();
        if let Some((key, head)) = &*kept
            && *key == results
        {
            return Rc::clone(head);
        }
        let definitions: Vec<_> = self.prepared.columns().iter().map(|column| definition_of(column, results)).collect();
        let head = Rc::new(EncodedHead::new(agreed, &definitions));
        *kept = Some((results, Rc::clone(&head)));
        head
    }
}

/// A column without an alias is named by its expression's text, up to MySQL's 256 characters.
fn clip(name: &str) -> &str {
    const NAME_CHARS_MAX: usize = 256;
    match name.char_indices().nth(NAME_CHARS_MAX) {
        Some((end, _)) => &name[..end],
        None => name,
    }
}

/// The wire's definition of a column.
pub fn definition_of<'a>(column: &'a OutputColumn, results: Option<CollationId>) -> ColumnDefinition<'a> {
    let name = clip(&column.name);
    let through_name = Some(&*column.through_name).filter(|name| !name.is_empty());
    if column.original_name.is_empty() {
        let is_stored = column.made == Made::Kept || (column.made == Made::Column && !column.table_alias.is_empty());
        let make = if is_stored { ColumnDefinition::expression } else { ColumnDefinition::computed };
        let mut expression = make(name, &column.ty, column.nullable, results);
        match column.made {
            Made::Kept if is_text(&column.ty) => expression.wire.decimals = 0,
            _ => {}
        }
        describe(&mut expression.wire, column, results);
        let (table, original_table) = (&*column.table_alias, &*column.view);
        return ColumnDefinition { table, original_table, original_name: through_name.unwrap_or(""), ..expression };
    }
    let mut wire = WireType::of(&column.ty, results);
    wire.set_flag(column_flag::NOT_NULL, !column.nullable);
    wire.set_flag(column_flag::PRIMARY_KEY, column.primary_key);
    wire.set_flag(column_flag::UNIQUE_KEY, column.unique_key);
    wire.set_flag(column_flag::MULTIPLE_KEY, column.multiple_key);
    wire.set_flag(column_flag::PART_KEY, column.part_of_key);
    wire.set_flag(column_flag::AUTO_INCREMENT, column.auto_increment);
    wire.set_flag(column_flag::NO_DEFAULT_VALUE, column.no_default);
    wire.set_flag(column_flag::TIMESTAMP, column.sets_time);
    wire.set_flag(column_flag::ON_UPDATE_NOW, column.sets_time_on_update);
    ColumnDefinition {
        database: &column.database,
        table: &column.table_alias,
        original_table: if column.view.is_empty() { &column.table } else { &column.view },
        name,
        original_name: through_name.unwrap_or(&column.original_name),
        wire,
        results: results.map(Charset::of),
    }
}

/// Sets MySQL's length and type of a computed column in the column definition for the client.
fn describe(wire: &mut WireType, column: &OutputColumn, results: Option<CollationId>) {
    let Some(characters) = column.characters else { return };
    // The result of IF or CASE over ENUM values is a string.
    wire.set_flag(column_flag::ENUM | column_flag::SET, false);
    // The bytes of a hexadecimal literal are a number no more.
    wire.set_flag(
        column_flag::UNSIGNED,
        wire.flags & column_flag::UNSIGNED != 0 && (is_literal(column) || !column.ty.is_binary_string()),
    );
    if !matches!(column.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_)) {
        let is_text = column.ty.collation != CollationId::BINARY && !is_number(&column.ty);
        let width = if is_text { results.unwrap_or(column.ty.collation).character_bytes_max() } else { 1 };
        wire.length = characters.saturating_mul(width);
        let is_fixed = matches!(column.made, Made::Choice { fixed: true } | Made::IfNull { fixed: true } | Made::MovedTime);
        if is_fixed && wire.field_type == field_type::VAR_STRING {
            wire.field_type = field_type::STRING;
        }
        return;
    }
    if matches!(column.made, Made::Other | Made::Aggregate) {
        return;
    }
    // Of a long text the bytes count as characters again.
    let own = characters.saturating_mul(column.ty.collation.character_bytes_max());
    let is_text = column.ty.collation != CollationId::BINARY;
    wire.length = if is_text { own.saturating_mul(results.unwrap_or(column.ty.collation).character_bytes_max()) } else { own };
    wire.field_type = match column.made {
        // Beside documents it is a long one.
        Made::Choice { .. } | Made::IfNull { .. } if characters >= u32::MAX / 4 => wire.field_type,
        Made::Choice { .. } | Made::IfNull { .. } | Made::Kept => field_type::BLOB,
        Made::Function if own <= MEDIUM_MAX => field_type::MEDIUM_BLOB,
        Made::Function => field_type::LONG_BLOB,
        _ => wire.field_type,
    };
}

fn is_literal(column: &OutputColumn) -> bool {
    matches!(column.made, Made::Other | Made::Aggregate)
}

fn is_text(ty: &ColumnType) -> bool {
    ty.is_string() || matches!(ty.kind, TypeKind::Enum { .. } | TypeKind::Set { .. })
}

fn is_number(ty: &ColumnType) -> bool {
    ty.is_integer() || matches!(ty.kind, TypeKind::Float | TypeKind::Double)
}

/// The longest MEDIUMTEXT.
const MEDIUM_MAX: u32 = 0xff_ffff;

/// A variable of the session that binding has read. The result is valid as long as the variable keeps this value or
/// type.
#[derive(Clone, Debug, PartialEq)]
pub enum Assumption {
    /// The type of a user variable.
    User(String, Option<ColumnType>),
    /// The value of a system variable.
    System { global: bool, name: Box<str>, value: Value<'static> },
}

/// A bound statement or expression, and the sessions for which it is valid.
pub struct Bound<T> {
    /// The binding key of the session.
    pub key: u64,
    pub assumed: Vec<Assumption>,
    pub what: T,
}

/// A plan that is kept with its statement.
pub type KeptPlan = Bound<Rc<PlanEntry>>;

/// The plans of text statements, by digest and the session's binding key.
#[derive(Default)]
pub struct PlanCache {
    plans: HashMap<(u128, u64), KeptPlan, std::hash::BuildHasherDefault<KeyHasher>>,
}

impl PlanCache {
    /// The plan of this digest and binding key.
    pub fn get(&self, digest: u128, bind_key: u64) -> Option<&KeptPlan> {
        self.plans.get(&(digest, bind_key))
    }

    pub fn put(&mut self, digest: u128, bind_key: u64, plan: KeptPlan) {
        if self.plans.len() >= PLANS_MAX {
            self.make_room(plan.what.schema_version);
        }
        self.plans.insert((digest, bind_key), plan);
    }

    /// Drops plans of other schema versions, or every second plan if all are current.
    fn make_room(&mut self, schema_version: u64) {
        self.plans.retain(|_, plan| plan.what.schema_version == schema_version);
        if self.plans.len() >= PLANS_MAX {
            let mut keep = false;
            self.plans.retain(|_, _| {
                keep = !keep;
                keep
            });
        }
    }

    pub fn len(&self) -> usize {
        self.plans.len()
    }
}

/// Digests and binding keys are hashes already: mixing them is enough.
#[derive(Default)]
struct KeyHasher(u64);

impl std::hash::Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u128(&mut self, value: u128) {
        self.write_u64(value as u64);
        self.write_u64((value >> 64) as u64);
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(26) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}
