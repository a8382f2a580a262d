//! The session as the binder sees it, and the way from a syntax tree to a plan.

use super::counted::command_of;
use super::outfile::FileTarget;
use super::settings::IDS;
use super::state::State;
use crate::account::{Gathering, Needs};
use crate::counters::Command;
use crate::error::{Error, Result};
use crate::plan_cache::ResultTarget;
use crate::plan_cache::{Assumption, Bound, KeptPlan, PlanEntry, VirtualReads};
use crate::variables::{self, Kind, Scope, VariableId};
use crate::worker::Worker;
use accounts::privilege::Privileges;
use conditions::Condition;
use exec::{Constants, Prepared, Strictness, boxed};
use expr::ExprKind;
use sql::Parsed;
use sql::ast::{DataType, Expr, IntoTarget, Query, QueryBody, Select, SelectInto, SelectItem, Statement};
use sql::param::{ParamKind, ParamUse};
use sql::plan::{Access, Action, BindContext, KeyRange, Node, OutputColumn, Part, Plan, Rights, StoredFunction, Switches};
use sql::routine::Place;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use types::schema::{Schema, TableDef};
use types::statistics::TableStatistics;
use types::{CollationId, ColumnType, LobSize, SqlMode, TypeKind, Value};

/// One binding of a statement.
pub struct Binder<'a> {
    state: &'a State<'a>,
    schema: &'a Schema,
    /// The plan is valid for one execution.
    is_volatile: Cell<bool>,
    /// The values and types of variables that the plan assumes.
    assumed: RefCell<Vec<Assumption>>,
    /// Values of the current execution, if known.
    params: &'a [Value<'a>],
    /// Values of the current execution of a prepared statement; the binder uses their types, the planner their values
    /// for estimates.
    given: &'a [Value<'a>],
    /// The uses of the parameters.
    noted: RefCell<sql::param::Params>,
    /// The plan depends on these values.
    is_sniffed: Cell<bool>,
    /// An estimate needed the value of a parameter that has none yet.
    is_blind: Cell<bool>,
    needs: Gathering<'a, Worker>,
    /// The query of a new view is being bound.
    defines_view: bool,
}

/// A plan that depends on the values of one execution is kept if it costs at most this. A more expensive one is made
/// again for each execution; planning costs little compared with running it.
const KEPT_COST_MAX: f64 = 5000.0;

impl<'a> Binder<'a> {
    pub fn new(state: &'a State<'_>, schema: &'a Schema, params: &'a [Value<'a>]) -> Self {
        let needs = Gathering::new(&state.session.access, &*state.worker);
        let [is_volatile, is_sniffed, is_blind] = [const { Cell::new(false) }; 3];
        let (assumed, noted) = (RefCell::default(), RefCell::default());
        Self { state, schema, is_volatile, assumed, params, given: &[], noted, is_sniffed, is_blind, needs, defines_view: false }
    }

    /// Binds the query of a new view.
    pub fn of_view(state: &'a State<'_>, schema: &'a Schema) -> Self {
        Self { defines_view: true, ..Self::new(state, schema, &[]) }
    }

    /// Binds a prepared statement for an execution with these values: the binder uses their types, the planner their
    /// values for estimates.
    pub fn given(self, given: &'a [Value<'a>]) -> Self {
        Self { given, ..self }
    }

    /// Is the result valid for one execution only?
    pub fn is_volatile(&self) -> bool {
        self.is_volatile.get()
    }

    /// The assumptions under which the result is valid.
    pub fn take_assumed(&self) -> Vec<Assumption> {
        self.assumed.take()
    }

    fn constants(&self) -> Constants<'_> {
        Constants { session: &self.state.execution.vars, params: self.estimated() }
    }

    /// The parameter values for estimates.
    fn estimated(&self) -> &'a [Value<'a>] {
        if self.params.is_empty() { self.given } else { self.params }
    }

    fn note_sniffed<'e>(&self, exprs: impl Iterator<Item = &'e expr::Expr>) {
        let (mut parameter, mut variable) = (false, false);
        for expr in exprs {
            parameter |= expr.any(&|e| matches!(e.kind, ExprKind::Param(_)));
            variable |= expr.any(&|e| matches!(e.kind, ExprKind::UserVariable(_)));
        }
        let is_known = !self.estimated().is_empty();
        if variable || parameter && is_known {
            self.is_sniffed.set(true);
        }
        if parameter && !is_known {
            self.is_blind.set(true);
        }
    }
}

impl BindContext for Binder<'_> {
    fn enter_view(&self, view: &TableDef, outer: Rights) -> sql::Result<Rights> {
        self.needs.enter_view(view, outer)
    }

    fn definer(&self, rights: Rights) -> Option<String> {
        self.needs.definer(rights)
    }

    fn need(&self, rights: Rights, table: &TableDef, action: Action, of: Part<'_>) -> sql::Result<()> {
        // Only its own session can name a temporary table.
        if table.id.is_temporary() {
            return Ok(());
        }
        if self.defines_view && rights == Rights::default() {
            self.needs.refuse_stranger(table)?;
        }
        self.needs.add(rights, table, action, of)
    }

    fn need_together(&self, rights: Rights, table: &TableDef, actions: &[Action]) -> sql::Result<()> {
        if table.id.is_temporary() {
            return Ok(());
        }
        self.needs.add_together(rights, table, actions)
    }

    fn touches(&self, rights: Rights, table: &TableDef) -> sql::Result<()> {
        if table.id.is_temporary() {
            return Ok(());
        }
        self.needs.check_touched(rights, table)
    }

    fn missing(&self, rights: Rights, database: &str, table: &str, action: Action) -> sql::Result<()> {
        self.needs.check_missing(rights, database, table, action)
    }

    fn stored_function(&self, rights: Rights, database: &str, name: &str) -> sql::Result<Option<StoredFunction>> {
        let database = crate::show::virtual_database(database).unwrap_or(database);
        let Some(def) = self.schema.routine(true, database, name) else { return Ok(None) };
        let refused = |error: Error| match error {
            Error::Sql(error) => error,
            error => error.condition().into(),
        };
        self.needs.add_function(rights, database, name)?;
        crate::routine::stored_function(self.state, def).map(Some).map_err(refused)
    }

    fn database(&self) -> Option<&str> {
        self.state.execution.vars.database.as_deref()
    }

    fn schema(&self) -> &Schema {
        self.schema
    }

    fn system_variable(&self, global: bool, name: &str) -> Option<(Value<'static>, ColumnType)> {
        let (value, ty) = self.state.read_variable(name, global.then_some(Scope::Global)).ok()?;
        self.assumed.borrow_mut().push(Assumption::System { global, name: name.into(), value: value.clone() });
        Some((value, ty))
    }

    fn user_variable_type(&self, name: &str) -> Option<ColumnType> {
        let name = name.to_lowercase();
        let ty = self.state.user_variable_type(&name);
        self.assumed.borrow_mut().push(Assumption::User(name, ty.clone()));
        ty
    }

    fn param_type(&self, index: usize) -> Option<ColumnType> {
        self.given.get(index).map(|value| ParamKind::of(value).column_type())
    }

    fn param_given(&self, index: usize) -> Option<&Value<'_>> {
        self.given.get(index)
    }

    fn note_param(&self, index: usize, usage: ParamUse) {
        self.noted.borrow_mut().note(index, usage);
    }

    fn param_use(&self, index: usize) -> Option<ParamUse> {
        self.noted.borrow().get(index)
    }

    fn param_value(&self, index: usize) -> Option<Value<'static>> {
        self.params.get(index).map(|value| value.clone().into_owned())
    }

    fn local_type(&self, slot: usize) -> ColumnType {
        match &self.state.execution.frame {
            Some(frame) => frame.local_type(slot),
            None => ColumnType::new(TypeKind::Null),
        }
    }

    fn constant_text(&self, expr: &expr::Expr) -> Option<Vec<u8>> {
        exec::program::constant_text(expr, &self.state.execution.vars)
    }

    fn note_literal(&self) {
        self.is_volatile.set(true);
    }

    fn row_count(&self, table: &TableDef) -> u64 {
        if table.is_virtual {
            return 100;
        }
        self.state.worker.shared.database.table(table.id).map_or(0, |table| table.estimated_rows())
    }

    fn settings(&self, table: &TableDef) -> Option<&'static [&'static str]> {
        crate::instruments::Instruments::settings(table)
    }

    fn statistics(&self, table: &TableDef) -> Option<Arc<TableStatistics>> {
        self.state.worker.shared.database.table_of(table)?.statistics()
    }

    fn rows_in_range(&self, table: &TableDef, index: usize, range: &KeyRange) -> Option<f64> {
        let worker = &self.state.worker;
        // Must be this definition: `index` is a position in it.
        let table = worker.shared.database.table_of(table)?;
        let ends = range.low.iter().chain(&range.high).map(|(expr, _)| expr);
        self.note_sniffed(range.prefix.iter().chain(ends));
        match self.constants().range(&table, index, range)? {
            // Does not wait for a page that is not in memory.
            Some(range) => table.rows_in_range(&worker.engine, index, &range).ok(),
            None => Some(0.0),
        }
    }

    fn statistics_key(&self, table: &TableDef, column: usize, value: &expr::Expr) -> Option<Vec<u8>> {
        let table = self.state.worker.shared.database.table_of(table)?;
        self.note_sniffed(std::iter::once(value));
        self.constants().statistics_key(&table, column, value)
    }

    fn column_type(&self, name: &str, ty: &DataType<'_>) -> sql::Result<ColumnType> {
        written_type(name, ty, self.state.session.settings.connection_collation)
    }

    fn switches(&self) -> Switches {
        self.state.session.settings.switches
    }

    fn auto_is_null(&self) -> bool {
        self.state.session.settings.auto_is_null
    }

    fn sql_mode(&self) -> SqlMode {
        self.state.session.settings.mode
    }

    fn group_concat_bytes_max(&self) -> u64 {
        self.state.execution.vars.group_concat_bytes_max as u64
    }

    fn div_precision_increment(&self) -> u8 {
        self.state.execution.vars.div_precision_increment
    }

    fn connection_collation(&self) -> CollationId {
        self.state.session.settings.connection_collation
    }
}

/// A plan, and how long it is valid.
pub struct Planned {
    pub entry: Rc<PlanEntry>,
    /// It is valid for one execution.
    pub is_for_one: bool,
    /// It was chosen without the values of parameters that influence it.
    pub is_blind: bool,
    /// The assumptions under which it is valid.
    pub assumed: Vec<Assumption>,
}

impl<T> Bound<T> {
    pub fn new(state: &State<'_>, assumed: Vec<Assumption>, what: T) -> Self {
        Self { key: state.session.settings.bind_key, assumed, what }
    }

    pub fn holds(&self, state: &State<'_>) -> bool {
        self.key == state.session.settings.bind_key && state.holds(&self.assumed)
    }
}

impl KeptPlan {
    /// The plan, if it is still valid.
    pub fn present(&self, state: &State<'_>) -> Option<Rc<PlanEntry>> {
        let is_present = self.what.schema_version == state.worker.shared.database.schema_version();
        (is_present && self.holds(state)).then(|| Rc::clone(&self.what))
    }
}

impl Planned {
    /// The plan to keep; `None`: it is valid for one execution only.
    pub fn kept(self, state: &State<'_>) -> Option<KeptPlan> {
        (!self.is_for_one).then(|| Bound::new(state, self.assumed, self.entry))
    }

    /// Does its validity depend on variables or on one execution, so that a caller that checks no variables may not
    /// keep it?
    pub fn is_volatile(&self) -> bool {
        self.is_for_one || !self.assumed.is_empty()
    }
}

impl State<'_> {
    /// The type of a user variable's value; the name is in lower case.
    fn user_variable_type(&self, name: &str) -> Option<ColumnType> {
        self.execution.vars.user_variable(name, |variable| type_of_variable(&variable.ty))
    }

    /// Are these assumptions still true?
    pub fn holds(&self, assumed: &[Assumption]) -> bool {
        assumed.iter().all(|assumption| match assumption {
            Assumption::User(name, ty) => self.user_variable_type(name) == *ty,
            Assumption::System { global, name, value } => {
                self.read_variable(name, global.then_some(Scope::Global)).is_ok_and(|(present, _)| present == *value)
            }
        })
    }

    /// The value and type of `@@name`. `scope`: as written, `None` if it was not.
    pub fn read_variable(&self, name: &str, scope: Option<Scope>) -> Result<(Value<'static>, ColumnType)> {
        let id = variables::find(name).ok_or_else(|| variables::Error::Unknown { name: name.to_owned() })?;
        let definition = id.definition();
        if (id == IDS.gtid_executed || id == IDS.gtid_purged)
            && scope != Some(Scope::Session)
            && let Some(log) = &self.worker.shared.binlog
            && let Some(text) = crate::binary_log::variable(log, definition.name)
        {
            return Ok((Value::Bytes(text.into_bytes().into()), type_of(id)));
        }
        let value = match (scope, definition.scope) {
            (Some(Scope::Global), Scope::Session) => {
                return Err(variables::Error::NotGlobal { name: definition.name.to_owned() }.into());
            }
            (Some(Scope::Session), Scope::Global) => {
                return Err(variables::Error::NotSession { name: definition.name.to_owned() }.into());
            }
            (Some(Scope::Global), _) | (_, Scope::Global) => id.value(self.worker.shared.globals().get(id)),
            _ => self.session_value(id),
        };
        Ok((value, type_of(id)))
    }

    /// The session's value; some variables are computed.
    pub fn session_value(&self, id: VariableId) -> Value<'static> {
        let ids = &*IDS;
        match id {
            id if id == ids.last_insert_id || id == ids.identity => Value::UInt(self.execution.vars.last_insert_id.get()),
            id if id == ids.insert_id => Value::UInt(self.execution.vars.insert_id.unwrap_or(0)),
            id if id == ids.warning_count => Value::UInt(self.execution.vars.warnings.borrow().count()),
            id if id == ids.error_count => Value::UInt(self.execution.vars.warnings.borrow().error_count()),
            id if id == ids.pseudo_thread_id => Value::UInt(u64::from(self.info.id)),
            id if id == ids.timestamp => Value::Double(self.execution.vars.statement_start_us as f64 / 1e6),
            id => id.value(self.session.variables.get(id)),
        }
    }

    /// Binds and plans a statement on rows.
    pub fn plan(&self, parsed: &Parsed<'_>) -> Result<Planned> {
        self.plan_for(parsed, &[])
    }

    /// Like [`Self::plan`], with the parameters of the current execution.
    pub fn plan_for(&self, parsed: &Parsed<'_>, params: &[Value<'_>]) -> Result<Planned> {
        self.plan_with(parsed, params, &[])
    }

    /// Like [`Self::plan`], for an execution of a prepared statement with these values, and later executions with
    /// values of these types.
    pub fn plan_given(&self, parsed: &Parsed<'_>, given: &[Value<'_>]) -> Result<Planned> {
        self.plan_with(parsed, &[], given)
    }

    /// Plans a prepared statement again, whose plan was `before`. While the definitions of its own tables are the same, the types of its
    /// columns stay as PREPARE found them, if they fit the values.
    pub fn plan_anew(&self, parsed: &Parsed<'_>, values: &[Value<'_>], before: &PlanEntry) -> Result<Planned> {
        if before.has_current_tables(&self.worker.shared.database) {
            let planned = self.plan(parsed)?;
            if !planned.is_blind && planned.entry.params.serve(values) {
                return Ok(planned);
            }
        }
        self.plan_given(parsed, values)
    }

    fn plan_with(&self, parsed: &Parsed<'_>, params: &[Value<'_>], given: &[Value<'_>]) -> Result<Planned> {
        loop {
            if let Some(planned) = self.try_plan(parsed, params, given)? {
                return Ok(planned);
            }
            self.worker.renew_schema();
        }
    }

    /// `None`: a new definition of one of the tables was published after the schema was read.
    fn try_plan(&self, parsed: &Parsed<'_>, params: &[Value<'_>], given: &[Value<'_>]) -> Result<Option<Planned>> {
        let into = match &parsed.statement {
            Statement::Query(query) => {
                self.execution.vars.begin_time();
                into(query)?
            }
            _ => None,
        };
        let schema = self.schema();
        let binder = Binder::new(self, &schema, params).given(given);
        let plan = sql::plan(parsed, &binder).map_err(|error| self.missing_as_locked(error))?;
        if self.session.settings.safe_updates {
            check_safe(&plan)?;
        }
        let is_for_one = binder.is_sniffed.get() && sql::estimated_cost(&plan) > KEPT_COST_MAX;
        let prepared = match Prepared::new(&self.worker.shared.database, Arc::new(plan)) {
            Err(expr::Error::TableChanged { .. }) if self.worker.shared.database.schema().version != schema.version => {
                return Ok(None);
            }
            prepared => prepared?,
        };
        // LOAD DATA was counted when it began.
        let command = command_of(&parsed.statement).filter(|command| *command != Command::Load);
        let global = match &into {
            Some(ResultTarget::File(_)) => Privileges::FILE,
            _ => Privileges::NONE,
        };
        let reads = crate::show::virtual_reads(prepared.plan());
        let entry =
            PlanEntry::new(schema.version, prepared, command, into, reads, binder.needs.take(global), binder.noted.take());
        self.check_locked(&entry)?;
        let is_for_one = binder.is_volatile() || is_for_one;
        Ok(Some(Planned { entry, is_for_one, is_blind: binder.is_blind.get(), assumed: binder.take_assumed() }))
    }

    /// Prepares a plan that the server built itself for execution.
    pub fn entry_of(&self, plan: Plan) -> Result<Rc<PlanEntry>> {
        let version = self.worker.shared.database.schema_version();
        let prepared = Prepared::new(&self.worker.shared.database, Arc::new(plan))?;
        Ok(PlanEntry::new(
            version,
            prepared,
            None,
            None,
            VirtualReads::default(),
            Needs::default(),
            sql::param::Params::default(),
        ))
    }

    /// Binds the WHERE of a SHOW to the columns of its result.
    pub fn bind_filter(&self, filter: &Expr<'_>, columns: &[OutputColumn], params: &[Value<'_>]) -> Result<expr::Expr> {
        let schema = self.schema();
        Ok(sql::bind_show_filter(filter, columns, params.len(), &Binder::new(self, &schema, params))?)
    }

    /// Evaluates an expression without tables: the right side of SET, the argument of KILL.
    pub async fn evaluate(&mut self, expr: &Expr<'_>) -> Result<(Value<'static>, ColumnType)> {
        self.evaluate_over(expr, &[], Strictness::Arguments).await
    }

    /// Like [`Self::evaluate`], with the parameters of a prepared statement.
    pub async fn evaluate_over(
        &mut self,
        expr: &Expr<'_>,
        params: &[Value<'_>],
        strictness: Strictness,
    ) -> Result<(Value<'static>, ColumnType)> {
        // Boxed: most values are computed without it.
        boxed(|| {
            self.until_current(async |state| {
                let planned = state.plan_value(expr, params)?;
                state.collect_value(&planned.entry, params, strictness).await
            })
        })
        .await
    }

    /// The plan of an expression, as a query of one row and column.
    pub fn plan_value(&self, expr: &Expr<'_>, params: &[Value<'_>]) -> Result<Planned> {
        self.plan_value_of(expr, params.len() as u32, params)
    }

    /// Binds such an expression only to report its errors.
    pub fn check_value(&self, expr: &Expr<'_>, params: u32) -> Result<()> {
        let planned = self.plan_value_of(expr, params, &[])?;
        match planned.entry.prepared.columns() {
            [_] => Ok(()),
            _ => Err(sql::Error::OperandColumns(1).into()),
        }
    }

    fn plan_value_of(&self, expr: &Expr<'_>, count: u32, params: &[Value<'_>]) -> Result<Planned> {
        let items = [SelectItem::Expr { expr: *expr, alias: None, text: "" }];
        let select = Select {
            distinct: false,
            straight_join: false,
            calc_found_rows: false,
            items: &items,
            from: &[],
            filter: None,
            group_by: &[],
            with_rollup: false,
            having: None,
            windows: &[],
        };
        let query = Query { with: None, body: QueryBody::Select(&select), order_by: &[], limit: None, locking: &[], into: None };
        // A subquery that is the whole expression becomes a query of its own.
        let query = if let Expr::Subquery(query) = expr { **query } else { query };
        let query = Query { into: Some(SelectInto::Variables(&[])), ..query };
        let parsed = Parsed { params: count, ..without_parameters(Statement::Query(&query)) };
        self.plan_for(&parsed, params)
    }

    /// Runs such a plan and returns the value.
    pub async fn collect_value(
        &mut self,
        plan: &Rc<PlanEntry>,
        params: &[Value<'_>],
        strictness: Strictness,
    ) -> Result<(Value<'static>, ColumnType)> {
        let [column] = plan.prepared.columns() else { return Err(sql::Error::OperandColumns(1).into()) };
        let ty = column.ty.clone();
        let mut rows = self.collect(plan, params, strictness).await?;
        if rows.len() > 1 {
            return Err(expr::Error::SubqueryMoreThanOneRow.into());
        }
        let value = rows.pop().and_then(|mut row| row.pop()).unwrap_or(Value::Null);
        Ok((value, ty))
    }
}

/// sql_safe_updates: a change must use a key or have a LIMIT.
fn check_safe(plan: &Plan) -> Result<()> {
    let (scan, limit) = match plan {
        Plan::Update(update) => (&update.scan, &update.limit),
        Plan::Delete(delete) => (&delete.scan, &delete.limit),
        Plan::Query(_) | Plan::Insert(_) => return Ok(()),
        Plan::Change(change) => return check_safe_join(&change.root),
    };
    if limit.is_none() && matches!(scan.access, Access::Full { .. }) {
        return Err(Error::from(Condition::UpdateWithoutKeyInSafeMode));
    }
    Ok(())
}

/// For a join: at least one table must be read through a key.
fn check_safe_join(root: &Node) -> Result<()> {
    let mut keyed = false;
    root.walk_scans(&mut |scan| keyed |= matches!(scan.access, Access::Point { .. } | Access::Ranges { .. }));
    if keyed { Ok(()) } else { Err(Error::from(Condition::UpdateWithoutKeyInSafeMode)) }
}

/// Wraps a statement without parameters.
pub fn without_parameters(statement: Statement<'_>) -> Parsed<'_> {
    Parsed { statement, params: 0, lifted: 0, end: 0, repeated: sql::Repeated::default(), deprecated: &[] }
}

/// The type of `@name` for a value of this type. All strings have one type, whatever their lengths, and so have all
/// integers.
fn type_of_variable(ty: &ColumnType) -> ColumnType {
    let kind = match &ty.kind {
        TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Text(_) => TypeKind::Text(LobSize::Long),
        TypeKind::Binary { .. } | TypeKind::VarBinary { .. } | TypeKind::Blob(_) => TypeKind::Blob(LobSize::Long),
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt => {
            return ColumnType { unsigned: ty.unsigned, ..ColumnType::new(TypeKind::BigInt) };
        }
        kind => kind.clone(),
    };
    ColumnType { kind, ..ty.clone() }
}

/// The type of `@@name`.
fn type_of(id: VariableId) -> ColumnType {
    match id.definition().kind {
        Kind::Bool | Kind::Signed { .. } => ColumnType::new(TypeKind::BigInt),
        Kind::Unsigned { .. } => ColumnType::unsigned(TypeKind::BigInt),
        Kind::Double { .. } => ColumnType::new(TypeKind::Double),
        _ => ColumnType::new(TypeKind::VarChar { length: 1024 }),
    }
}

/// The type that a column definition names.
pub fn written_type(name: &str, ty: &DataType<'_>, collation: CollationId) -> sql::Result<ColumnType> {
    sql::define::column_type(name, ty, collation)
}

fn place_of(target: &IntoTarget<'_>) -> Place {
    match target {
        IntoTarget::User(name) => Place::User((*name).into()),
        IntoTarget::Local(slot) => Place::Local(*slot),
    }
}

fn into(query: &Query<'_>) -> Result<Option<ResultTarget>> {
    Ok(match query.into {
        None => None,
        Some(SelectInto::Variables(targets)) => Some(ResultTarget::Variables(targets.iter().map(place_of).collect())),
        Some(SelectInto::OutFile(file)) => Some(ResultTarget::File(Box::new(FileTarget::text(file)?))),
        Some(SelectInto::DumpFile(path)) => Some(ResultTarget::File(Box::new(FileTarget::dump(path)))),
    })
}
