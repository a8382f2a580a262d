//! What a statement reads and changes of its session, besides data: variables, warnings, counters, the kill flag.
//!
//! `server` owns one [`SessionVars`] for each connection and copies the system variables that matter here into it when they change.
//! Expressions only have a shared reference, so what evaluation may change (warnings, random state, LAST_INSERT_ID(n)) is in cells.
//! A session lives on one thread; only the kill flag is shared.
//!
//! U1: `user_variables` does not change while a statement runs. Assignments go to `assigned_variables` and join the others when the
//!     outermost statement ends. A program that the statement calls shares both maps.

use crate::error::{Error, Level, Result};
use crate::function::TimeNames;
use crate::user_variables::{self, UserVariable, UserVariables};
use crate::work::Work;
use os::time::Instant;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use sync::atomic::{AtomicU8, Ordering};
use types::decimal::{DIGITS_MAX, SCALE_MAX};
use types::temporal::TimeZone;
use types::work::Stopped;
use types::{CollationId, ColumnType, SqlMode, TypeKind, Value};

/// Values of [`SessionVars::killed`].
pub mod kill {
    pub const NONE: u8 = 0;
    /// KILL QUERY: the statement ends with 1317, the connection stays.
    pub const QUERY: u8 = 1;
    /// KILL CONNECTION, or the client is gone.
    pub const CONNECTION: u8 = 2;
}

/// Makes the text of a statement's digest: the statement with its literals as `?`. An error if it does not parse.
pub type DigestText = fn(statement: &[u8], mode: &SqlMode) -> Result<String>;

fn no_digest_text(_statement: &[u8], _mode: &SqlMode) -> Result<String> {
    Err(Error::NotSupported("digests of statements here".into()))
}

/// What one execution reads and sets: a session's statements, or a program that one of them calls.
#[derive(Debug)]
pub struct SessionVars {
    /// `@name`, by lower-case name. U1
    pub(crate) user_variables: Rc<UserVariables>,
    /// The variables that the running statement has assigned; see [`Self::settle_variables`]. U1
    pub(crate) assigned_variables: Rc<RefCell<UserVariables>>,
    /// LAST_INSERT_ID() as of the previous statement.
    pub last_insert_id: Cell<u64>,
    /// Set by LAST_INSERT_ID(n) while a statement runs: the statement's result reports it to the client.
    pub last_insert_id_set: Cell<Option<u64>>,
    /// FOUND_ROWS()
    pub found_rows: u64,
    /// Rows that the statement has read, as far as it has counted them.
    pub rows_examined: Cell<u64>,
    /// What the session's statements have done so far.
    pub work: Rc<Work>,
    /// ROW_COUNT(): affected rows of the previous statement, -1 after a query or an error.
    pub row_count: i64,
    /// Of the statement that runs, or ran last; `server` clears it at the start of a statement that is not diagnostic.
    pub warnings: RefCell<Warnings>,
    pub time_zone: TimeZone,
    pub sql_mode: SqlMode,
    /// STATEMENT_DIGEST_TEXT: the syntax is known above this crate.
    pub digest_text: DigestText,
    pub connection_id: u32,
    /// `name@host` as the client gave it: USER().
    pub user: Rc<str>,
    /// `name@host` of the account: CURRENT_USER().
    pub current_user: Rc<str>,
    /// CURRENT_ROLE()
    pub current_role: Rc<str>,
    /// `gtid_next`, where it names a transaction.
    pub own_gtid: Option<Rc<str>>,
    /// The current database: DATABASE().
    pub database: Option<Rc<str>>,
    /// VERSION()
    pub version: &'static str,
    /// When the statement began, microseconds since the epoch, UTC; NOW() and CURRENT_TIMESTAMP.
    pub statement_start_us: i64,
    /// State of RAND() without a seed.
    pub rand: Cell<[u32; 2]>,
    /// KILL sets it from another thread; see [`kill`].
    pub killed: Arc<AtomicU8>,
    /// When the time of the SELECT that is planned or run is over.
    pub deadline: Rc<Cell<Option<Instant>>>,
    /// collation_connection
    pub collation: CollationId,
    pub sort_memory_bytes_max: usize,
    pub group_concat_bytes_max: usize,
    pub packet_bytes_max: usize,
    pub div_precision_increment: u8,
    pub auto_increment_increment: u64,
    pub auto_increment_offset: u64,
    /// SET INSERT_ID: the next generated value.
    pub insert_id: Option<u64>,
    /// sql_select_limit
    pub select_limit: u64,
    /// max_execution_time, for SELECT; zero is none.
    pub execution_time_max: Duration,
    /// lc_time_names
    pub time_names: &'static TimeNames,
    /// default_week_format
    pub week_format: u8,
    /// block_encryption_mode
    pub block_encryption: BlockEncryption,
    /// foreign_key_checks
    pub foreign_key_checks: bool,
    /// CLIENT_FOUND_ROWS: UPDATE reports matched rows as affected.
    pub client_found_rows: bool,
    /// A transaction was begun, or autocommit is off: SERIALIZABLE reads lock.
    pub in_transaction: bool,
    /// max_parallel_workers: so many workers may read for one query
    pub parallel_workers_max: usize,
    /// min_parallel_rows: fewer rows of work are read by one worker
    pub parallel_rows_min: u64,
    /// cte_max_recursion_depth
    pub recursion_depth_max: u64,
    /// The row that is evaluated has left something behind that must not outlive it: a warning that would be given twice, a variable.
    pub row_dirty: Cell<bool>,
    /// Warnings that the row has given.
    pub row_warnings: Cell<u32>,
}

/// The limits that end the statements of a session, for the watcher of its thread.
#[derive(Clone, Debug)]
pub struct Limits {
    killed: Arc<AtomicU8>,
    deadline: Rc<Cell<Option<Instant>>>,
}

impl Limits {
    /// May the statement go on?
    ///
    /// # Errors
    /// It was killed, or its time is over.
    pub fn check(&self, now: Instant) -> std::result::Result<(), Stopped> {
        // Relaxed: the flag carries no data.
        if self.killed.load(Ordering::Relaxed) != kill::NONE {
            return Err(Stopped::Killed);
        }
        if self.deadline.get().is_some_and(|deadline| now >= deadline) { Err(Stopped::TimedOut) } else { Ok(()) }
    }
}

/// How AES_ENCRYPT works: `aes-128-ecb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockEncryption {
    pub key_bytes: usize,
    pub mode: BlockMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockMode {
    Ecb,
    Cbc,
    Cfb1,
    Cfb8,
    Cfb128,
    Ofb,
}

impl Default for BlockEncryption {
    fn default() -> Self {
        Self { key_bytes: 16, mode: BlockMode::Ecb }
    }
}

impl BlockEncryption {
    /// `aes-BITS-MODE`, as the variable spells it.
    pub fn parse(name: &str) -> Option<Self> {
        let (bits, mode) = name.strip_prefix("aes-")?.split_once('-')?;
        let key_bytes = match bits {
            "128" => 16,
            "192" => 24,
            "256" => 32,
            _ => return None,
        };
        let mode = match mode {
            "ecb" => BlockMode::Ecb,
            "cbc" => BlockMode::Cbc,
            "cfb1" => BlockMode::Cfb1,
            "cfb8" => BlockMode::Cfb8,
            "cfb128" => BlockMode::Cfb128,
            "ofb" => BlockMode::Ofb,
            _ => return None,
        };
        Some(Self { key_bytes, mode })
    }
}

impl UserVariable {
    /// A variable knows numbers and texts: a FLOAT is a DOUBLE with the FLOAT's digits, dates, times and documents are texts, YEAR and BIT integers.
    pub fn new(value: Value<'static>, ty: ColumnType) -> Self {
        use TypeKind as K;
        let ty = match ty.kind {
            K::Float => ColumnType::new(K::Double),
            K::Year | K::Bit { .. } => ColumnType::unsigned(K::BigInt),
            K::Decimal { .. } => {
                let ty = ColumnType::new(K::Decimal { precision: 65, scale: SCALE_MAX });
                return Self { value: without_zeros(value), ty };
            }
            K::Date | K::Time { .. } | K::DateTime { .. } | K::Timestamp { .. } | K::Json => return Self::text_of(&value, &ty),
            _ => ty,
        };
        Self { value, ty }
    }

    fn text_of(value: &Value<'static>, ty: &ColumnType) -> Self {
        let value = match value {
            Value::Null => Value::Null,
            value if ty.kind == TypeKind::Json => Value::Bytes(crate::function::document_of(value, ty).to_text().into()),
            Value::Time(time) => Value::Bytes(crate::coerce::time_text(time, ty.fsp()).into_bytes().into()),
            Value::DateTime(moment) => Value::Bytes(crate::coerce::datetime_text(moment, ty.fsp()).into_bytes().into()),
            value => Value::Bytes(crate::coerce::plain_text(value).into_bytes().into()),
        };
        let kind = TypeKind::VarChar { length: 16_383 };
        let collation = if ty.kind == TypeKind::Json { CollationId::UTF8MB4_BIN } else { CollationId::UTF8MB4_0900_AI_CI };
        Self { value, ty: ColumnType { collation, ..ColumnType::new(kind) } }
    }
}

/// What was computed with all digits that there are keeps those that it needs, and no more than a type has.
fn without_zeros(value: Value<'static>) -> Value<'static> {
    let Value::Decimal(decimal) = value else { return value };
    if decimal.scale() > SCALE_MAX {
        return Value::Decimal(decimal.rescale(SCALE_MAX).unwrap_or(decimal));
    }
    // Fewer zeros stand behind the point where many digits stand before it.
    if decimal.scale() < SCALE_MAX && decimal.precision() < DIGITS_MAX {
        return Value::Decimal(decimal);
    }
    let shorter = (0..decimal.scale()).filter_map(|scale| decimal.truncate_scale(scale).ok()).find(|shorter| *shorter == decimal);
    Value::Decimal(shorter.unwrap_or(decimal))
}

impl SessionVars {
    /// MySQL 8.4's defaults for a session of `user`.
    pub fn new(connection_id: u32, user: &str, current_user: &str) -> Self {
        Self {
            user_variables: Rc::default(),
            assigned_variables: Rc::default(),
            last_insert_id: Cell::new(0),
            last_insert_id_set: Cell::new(None),
            found_rows: 0,
            rows_examined: Cell::new(0),
            work: Rc::default(),
            row_count: 0,
            warnings: RefCell::new(Warnings::default()),
            time_zone: TimeZone::Utc,
            sql_mode: SqlMode::DEFAULT,
            digest_text: no_digest_text,
            connection_id,
            user: user.into(),
            current_user: current_user.into(),
            current_role: "NONE".into(),
            own_gtid: None,
            database: None,
            version: "8.4.0-heddle-0.1.0",
            statement_start_us: 0,
            rand: Cell::new([connection_id.wrapping_mul(0x9E37_79B9) | 1, !connection_id]),
            killed: Arc::new(AtomicU8::new(kill::NONE)),
            deadline: Rc::default(),
            collation: CollationId::UTF8MB4_0900_AI_CI,
            foreign_key_checks: true,
            sort_memory_bytes_max: 256 << 20,
            group_concat_bytes_max: 1024,
            packet_bytes_max: 64 << 20,
            div_precision_increment: 4,
            auto_increment_increment: 1,
            auto_increment_offset: 1,
            insert_id: None,
            select_limit: u64::MAX,
            execution_time_max: Duration::ZERO,
            time_names: TimeNames::of(0),
            week_format: 0,
            block_encryption: BlockEncryption::default(),
            client_found_rows: false,
            in_transaction: false,
            parallel_workers_max: 256,
            parallel_rows_min: 20_000,
            recursion_depth_max: 1000,
            row_dirty: Cell::new(false),
            row_warnings: Cell::new(0),
        }
    }

    /// For a program that the running statement calls. It begins with the statement's values of LAST_INSERT_ID(), FOUND_ROWS() and
    /// ROW_COUNT() and without warnings. It shares the user variables, so nothing is copied that grows with the session.
    pub fn for_program(&self) -> Self {
        let mut warnings = Warnings::default();
        warnings.kept_max = self.warnings.borrow().kept_max;
        Self {
            user_variables: Rc::clone(&self.user_variables),
            assigned_variables: Rc::clone(&self.assigned_variables),
            last_insert_id: self.last_insert_id.clone(),
            last_insert_id_set: Cell::new(None),
            found_rows: self.found_rows,
            rows_examined: Cell::new(0),
            work: Rc::clone(&self.work),
            row_count: self.row_count,
            warnings: RefCell::new(warnings),
            time_zone: self.time_zone.clone(),
            sql_mode: self.sql_mode,
            digest_text: self.digest_text,
            connection_id: self.connection_id,
            user: Rc::clone(&self.user),
            current_user: Rc::clone(&self.current_user),
            current_role: Rc::clone(&self.current_role),
            own_gtid: self.own_gtid.clone(),
            database: self.database.clone(),
            version: self.version,
            statement_start_us: self.statement_start_us,
            rand: self.rand.clone(),
            killed: Arc::clone(&self.killed),
            deadline: Rc::clone(&self.deadline),
            collation: self.collation,
            sort_memory_bytes_max: self.sort_memory_bytes_max,
            group_concat_bytes_max: self.group_concat_bytes_max,
            packet_bytes_max: self.packet_bytes_max,
            div_precision_increment: self.div_precision_increment,
            auto_increment_increment: self.auto_increment_increment,
            auto_increment_offset: self.auto_increment_offset,
            insert_id: None,
            select_limit: self.select_limit,
            execution_time_max: self.execution_time_max,
            time_names: self.time_names,
            week_format: self.week_format,
            block_encryption: self.block_encryption,
            foreign_key_checks: self.foreign_key_checks,
            client_found_rows: self.client_found_rows,
            in_transaction: self.in_transaction,
            parallel_workers_max: self.parallel_workers_max,
            parallel_rows_min: self.parallel_rows_min,
            recursion_depth_max: self.recursion_depth_max,
            row_dirty: Cell::new(false),
            row_warnings: Cell::new(0),
        }
    }

    /// Ends a program inside a statement: its warnings and the state of RAND() belong to the statement.
    pub fn take_from_program(&self, program: Self) {
        self.rand.set(program.rand.get());
        let mut warnings = self.warnings.borrow_mut();
        for warning in program.warnings.into_inner().list {
            warnings.push(warning.level, warning.error);
        }
    }

    /// Reads a user variable by its lower-case name.
    pub fn user_variable<T>(&self, name: &str, read: impl FnOnce(&UserVariable) -> T) -> Option<T> {
        let assigned = self.assigned_variables.borrow();
        assigned.get(name).or_else(|| self.user_variables.get(name)).map(read)
    }

    /// What ends the session's statements.
    pub fn limits(&self) -> Limits {
        Limits { killed: Arc::clone(&self.killed), deadline: Rc::clone(&self.deadline) }
    }

    /// The time of a SELECT begins, when it is planned or, where it has a plan, when it is run; when it is over.
    pub fn begin_time(&self) -> Option<Instant> {
        if self.deadline.get().is_none() && !self.execution_time_max.is_zero() {
            self.deadline.set(Some(Instant::now() + self.execution_time_max));
        }
        self.deadline.get()
    }

    /// Gives a user variable its value.
    ///
    /// # Errors
    /// 3170: the session's variables would take more than they may.
    pub fn set_user_variable(&mut self, name: &str, variable: UserVariable) -> Result<()> {
        let lower: Cow<'_, str> = if name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
            name.into()
        } else {
            name.to_lowercase().into()
        };
        let more = user_variables::bytes_of(&lower, &variable);
        let mut assigned = self.assigned_variables.borrow_mut();
        let bytes = self.user_variables.bytes() + assigned.bytes() + more;
        // U1: within a statement, it is an assignment of the statement.
        let Some(settled) = Rc::get_mut(&mut self.user_variables) else {
            let replaced = assigned.get(&lower).map_or(0, |kept| user_variables::bytes_of(&lower, kept));
            user_variables::check(bytes - replaced, self.packet_bytes_max)?;
            assigned.insert(&lower, variable);
            return Ok(());
        };
        let replaced = settled.get(&lower).map_or(0, |kept| user_variables::bytes_of(&lower, kept));
        user_variables::check(bytes - replaced, self.packet_bytes_max)?;
        settled.insert(&lower, variable);
        Ok(())
    }

    /// Gives a variable its value while a statement runs; what it was. `replaced_bytes` is what may yet have to be taken back.
    ///
    /// # Errors
    /// 3170
    pub fn assign_variable(&self, name: &str, variable: UserVariable, replaced_bytes: usize) -> Result<Option<UserVariable>> {
        let mut assigned = self.assigned_variables.borrow_mut();
        let bytes = self.user_variables.bytes() + assigned.bytes() + replaced_bytes + user_variables::bytes_of(name, &variable);
        user_variables::check(bytes, self.packet_bytes_max)?;
        Ok(assigned.insert(name, variable))
    }

    /// Ends what expressions have left to the row. Between statements (U1), the variables that they have assigned join the others.
    pub fn settle_variables(&mut self) {
        self.row_dirty.set(false);
        self.row_warnings.set(0);
        let mut assigned = self.assigned_variables.borrow_mut();
        if assigned.is_empty() {
            return;
        }
        if let Some(settled) = Rc::get_mut(&mut self.user_variables) {
            settled.take(&mut assigned);
        }
    }

    pub fn is_killed(&self) -> bool {
        // Relaxed: the flag carries no data with it; who sets it also wakes the session.
        self.killed.load(Ordering::Relaxed) != kill::NONE
    }

    /// # Errors
    /// 1317: the session was killed.
    pub fn check_killed(&self) -> Result<()> {
        if self.is_killed() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Forgets a KILL QUERY that the statement has answered; a killed connection stays killed.
    pub fn clear_kill_query(&self) {
        // Relaxed: as in `is_killed`; the exchange leaves a concurrent KILL CONNECTION alone.
        let _ = self.killed.compare_exchange(kill::QUERY, kill::NONE, Ordering::Relaxed, Ordering::Relaxed);
    }

    pub fn warn(&self, error: Error) {
        self.row_warnings.set(self.row_warnings.get() + 1);
        self.row_dirty.set(true);
        self.warnings.borrow_mut().push(Level::Warning, error);
    }

    pub fn note(&self, error: Error) {
        self.row_warnings.set(self.row_warnings.get() + 1);
        self.row_dirty.set(true);
        self.warnings.borrow_mut().push(Level::Note, error);
    }
}

#[derive(Clone, Debug)]
pub struct Warning {
    pub level: Level,
    pub error: Error,
}

/// The diagnostics of one statement: the first `max_error_count` conditions, and the number of all.
#[derive(Clone, Debug)]
pub struct Warnings {
    list: Vec<Warning>,
    count: u64,
    errors: u64,
    /// How often there was something to clear.
    cleared: u32,
    /// max_error_count
    pub kept_max: usize,
}

impl Default for Warnings {
    fn default() -> Self {
        Self { list: Vec::new(), count: 0, errors: 0, cleared: 0, kept_max: 1024 }
    }
}

impl Warnings {
    /// None yet, with the same limit.
    pub fn like(other: &Self) -> Self {
        Self { kept_max: other.kept_max, ..Self::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn push(&mut self, level: Level, error: Error) {
        self.count += 1;
        self.errors += u64::from(level == Level::Error);
        if self.list.len() < self.kept_max {
            self.list.push(Warning { level, error });
        }
    }

    /// Puts what came before in front.
    pub fn follow(&mut self, before: Self) {
        let own = std::mem::replace(self, before);
        own.list.into_iter().for_each(|warning| self.push(warning.level, warning.error));
    }

    /// Takes the last few back.
    pub fn drop_last(&mut self, number: u32) {
        self.count = self.count.saturating_sub(number.into());
        let kept = usize::try_from(self.count).unwrap_or(usize::MAX);
        self.list.truncate(kept);
    }

    /// Forgets the first few; where there are no others, also those that were not kept.
    pub fn drop_first(&mut self, number: usize) {
        if number >= self.list.len() {
            return self.clear();
        }
        self.count = self.count.saturating_sub(number as u64);
        let errors = self.list.drain(..number).filter(|warning| warning.level == Level::Error).count();
        self.errors = self.errors.saturating_sub(errors as u64);
    }

    /// Removes the warnings whose conditions satisfy the test.
    pub fn remove(&mut self, is_such: impl Fn(&Error) -> bool) {
        let before = self.list.len();
        self.list.retain(|warning| !is_such(&warning.error));
        self.count = self.count.saturating_sub((before - self.list.len()) as u64);
    }

    pub fn cleared(&self) -> u32 {
        self.cleared
    }

    /// Changes the warnings after the first few.
    pub fn change_behind(&mut self, first: u64, change: impl Fn(Error) -> Error) {
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        for warning in self.list.iter_mut().skip(first) {
            warning.error = change(warning.error.clone());
        }
    }

    /// The number of conditions, including those not kept: `@@warning_count`, and the count in OK and EOF packets.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// `@@error_count`
    pub fn error_count(&self) -> u64 {
        self.errors
    }

    pub fn list(&self) -> &[Warning] {
        &self.list
    }

    #[inline]
    pub fn clear(&mut self) {
        // Nearly always there is nothing.
        if self.count > 0 || self.errors > 0 {
            self.list.clear();
            self.count = 0;
            self.errors = 0;
            self.cleared = self.cleared.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conditions::Condition;

    #[test]
    fn the_first_conditions_are_forgotten_with_those_that_were_not_kept() {
        let mut warnings = Warnings { kept_max: 2, ..Warnings::default() };
        let condition = |id: u16| Error::from(Condition::NoSuchThread { id: id.into() });
        (1..=3).for_each(|number| warnings.push(Level::Warning, condition(number)));
        assert_eq!((warnings.count(), warnings.list().len()), (3, 2));
        warnings.drop_first(1);
        assert_eq!((warnings.count(), warnings.list().len()), (2, 1));
        warnings.drop_first(1);
        assert_eq!((warnings.count(), warnings.list().len()), (0, 0));
    }
}
