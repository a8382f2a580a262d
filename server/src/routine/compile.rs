//! Compiles a routine's text into a program. The expression or plan of an instruction is bound at its first execution.

use super::compiled::Work;
use super::{Frame, Routine};
use crate::error::{Error, Result};
use crate::plan_cache::{Bound, PlanEntry};
use crate::record;
use crate::session::{Binder, Planned, State};
use crate::variables::Setting;
use accounts::Name;
use conditions::Condition;
use exec::Strictness;
use sql::ast::DataType;
use sql::plan::StoredFunction;
use sql::routine::{ExprCode, HandlerCondition, KeptProgram, ProgramKind, RoutineError, SlotType, StatementCode};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use types::charset::Charset;
use types::schema::{RoutineDef, TableDef, TriggerDef};
use types::{ColumnType, SqlMode, TypeKind, Value};

impl Routine {
    /// Reads and checks a routine's text.
    pub fn compile(def: &Arc<RoutineDef>) -> Result<Rc<Self>> {
        let kind = if def.is_function() { ProgramKind::Function } else { ProgramKind::Procedure };
        Self::compile_as(kind, def, None)
    }

    /// Compiles an event's body.
    fn compile_event(def: &Arc<RoutineDef>) -> Result<Rc<Self>> {
        Self::compile_as(ProgramKind::Event, def, None)
    }

    /// Compiles a trigger of the table.
    pub fn compile_trigger(trigger: &TriggerDef, table: &Arc<TableDef>) -> Result<Rc<Self>> {
        let kind = ProgramKind::Trigger { event: trigger.event, before: trigger.before };
        Self::compile_as(kind, &trigger.program, Some(table))
    }

    fn compile_as(kind: ProgramKind, def: &Arc<RoutineDef>, table: Option<&Arc<TableDef>>) -> Result<Rc<Self>> {
        let client = Charset::named(&def.client_charset).unwrap_or(Charset::Utf8mb4);
        let mode = SqlMode { client, ..crate::variables::bits_to_mode(def.sql_mode) };
        let kept = KeptProgram::read(kind, &def.parameters, &def.body, &mode)?;
        let program = kept.get();
        let written = |name: &str, ty: &DataType<'_>| sql::define::column_type(name, ty, def.database_collation);
        let mut columns = Vec::with_capacity(program.fields.len());
        for field in &program.fields {
            let name = program.slots[field.slot as usize].name;
            let found = table.and_then(|table| table.column_index(name));
            columns.push(found.ok_or_else(|| unknown_field(name, field.new))?);
        }
        let mut types = Vec::with_capacity(program.slots.len());
        for (n, slot) in program.slots.iter().enumerate() {
            types.push(match &slot.ty {
                SlotType::Written(ty) => written(slot.name, ty)?,
                SlotType::Operand => ColumnType::new(TypeKind::Null),
                SlotType::Column => {
                    let field = program.fields.iter().position(|field| field.slot as usize == n);
                    let column = field.and_then(|field| Some(&table?.columns[columns[field]]));
                    let column = column.ok_or_else(|| Error::Internal("a variable of no column".to_owned()))?;
                    column.ty.clone()
                }
            });
        }
        let arena = sql::Arena::default();
        let returns = def.returns.as_ref().map(|text| written("", &sql::parse_type(&arena, "", text, &mode)?)).transpose()?;
        let works = (0..program.codes).map(|_| RefCell::default()).collect();
        let handles = |condition: &HandlerCondition| !matches!(condition, HandlerCondition::Exception);
        let handles_warnings = program.blocks.iter().flat_map(|b| &b.handlers).any(|h| h.conditions.iter().any(handles));
        let definer = (!def.invoker).then(|| Name::from_plain(&def.definer));
        let (def, table) = (Arc::clone(def), table.cloned());
        let types = RefCell::new(types);
        let database = def.database.as_str().into();
        let [collation, charset] = [def.connection_collation.name(), def.connection_collation.charset()];
        let client_settings = [collation, charset].map(|name| Setting::Text(name.into()));
        let settings = Cell::new(None);
        let (database_, name) = (def.database.as_str().into(), def.name.as_str().into());
        let described = Rc::new(record::Program { kind: kind_of(kept.get().kind), database: database_, name });
        Ok(Rc::new(Self {
            def,
            table,
            definer,
            program: kept,
            columns,
            types,
            returns,
            works,
            database,
            client_settings,
            settings,
            described,
            handles_warnings,
        }))
    }

    /// The further errors of CREATE: a function without RETURN, SET of an unknown variable.
    pub fn check(&self) -> Result<()> {
        if self.def.is_function() && !self.program().returns() {
            let name = format!("{}.{}", self.def.database, self.def.name);
            return Err(sql::Error::Routine(RoutineError::NoReturn(name)).into());
        }
        let unknown = self.program().variables.iter().find(|name| crate::variables::find(name).is_none());
        unknown.map_or(Ok(()), |name| Err(crate::variables::Error::Unknown { name: name.to_string() }.into()))
    }

    /// The compiled form of a procedure or function, from the worker's cache if possible.
    pub fn of(state: &State<'_>, def: &Arc<RoutineDef>) -> Result<Rc<Self>> {
        Self::kept(state, def, None, || Self::compile(def))
    }

    /// Likewise for an event.
    pub fn of_event(state: &State<'_>, def: &Arc<RoutineDef>) -> Result<Rc<Self>> {
        Self::kept(state, def, None, || Self::compile_event(def))
    }

    /// Likewise for a trigger.
    pub fn of_trigger(state: &State<'_>, trigger: &TriggerDef, table: &Arc<TableDef>) -> Result<Rc<Self>> {
        Self::kept(state, &trigger.program, Some(table), || Self::compile_trigger(trigger, table))
    }

    fn kept(
        state: &State<'_>,
        def: &Arc<RoutineDef>,
        table: Option<&Arc<TableDef>>,
        compile: impl FnOnce() -> Result<Rc<Self>>,
    ) -> Result<Rc<Self>> {
        let kept = state.worker.routines.borrow().get(def, table);
        if let Some(routine) = kept {
            return Ok(routine);
        }
        let routine = compile()?;
        state.worker.routines.borrow_mut().put(&routine);
        Ok(routine)
    }

    /// The parameter and return types of the function.
    pub fn signature(&self) -> Result<StoredFunction> {
        let Some(returns) = self.returns.clone() else {
            return Err(Error::Internal("a procedure in an expression".to_owned()));
        };
        let params = self.types.borrow()[..self.program().params.len()].to_vec();
        Ok(StoredFunction { def: Arc::clone(&self.def), params, returns })
    }

    fn keep(&self, id: u32, work: Work) {
        *self.works[id as usize].borrow_mut() = Some(work);
    }

    /// The kept plan of a piece of code, if it is still valid.
    fn kept_plan(&self, state: &State<'_>, id: u32) -> Option<Rc<PlanEntry>> {
        match &*self.works[id as usize].borrow() {
            Some(Work::Plan(plan)) => plan.present(state),
            _ => None,
        }
    }

    fn keep_plan(&self, state: &State<'_>, id: u32, planned: Planned) -> Rc<PlanEntry> {
        let entry = Rc::clone(&planned.entry);
        if let Some(plan) = planned.kept(state) {
            self.keep(id, Work::Plan(plan));
        }
        entry
    }

    /// The plan of a statement on rows.
    pub fn plan(&self, state: &State<'_>, frame: &Frame, code: &StatementCode<'_>) -> Result<Rc<PlanEntry>> {
        if let Some(entry) = self.kept_plan(state, code.id) {
            return Ok(entry);
        }
        let planned = state.plan_for(code.tree, frame.values())?;
        Ok(self.keep_plan(state, code.id, planned))
    }

    /// Computes an expression.
    pub async fn value(
        &self,
        state: &mut State<'_>,
        code: &ExprCode<'_>,
        strictness: Strictness,
    ) -> Result<(Value<'static>, ColumnType)> {
        if let Some(done) = self.kept_value(state, code, strictness, |_, value, ty| Ok((value, ty.clone()))) {
            return done;
        }
        if !self.is_query(code.id) {
            if self.kept_expression(state, code.id).is_none()
                && let Some((bound, is_volatile)) = Self::bind(state, code)?
            {
                let value = compute(state, &bound.what, strictness);
                let ty = bound.what.ty.clone();
                if !is_volatile {
                    self.keep(code.id, Work::Expression(Rc::new(bound)));
                }
                if let Some(value) = value? {
                    return Ok((value, ty));
                }
            }
            // It waits, or reads tables.
            self.keep(code.id, Work::Query);
        }
        self.query_value(state, code, strictness).await
    }

    fn is_query(&self, id: u32) -> bool {
        matches!(*self.works[id as usize].borrow(), Some(Work::Plan(_) | Work::Query))
    }

    fn kept_expression(&self, state: &State<'_>, id: u32) -> Option<Rc<Bound<expr::Expr>>> {
        match &*self.works[id as usize].borrow() {
            Some(Work::Expression(bound)) if bound.holds(state) => Some(Rc::clone(bound)),
            _ => None,
        }
    }

    /// Computes an expression that is kept and waits for nothing, and gives it to `take`. `None`: it is for [`Self::value`].
    pub fn kept_value<T>(
        &self,
        state: &mut State<'_>,
        code: &ExprCode<'_>,
        strictness: Strictness,
        take: impl FnOnce(&mut State<'_>, Value<'static>, &ColumnType) -> Result<T>,
    ) -> Option<Result<T>> {
        let bound = self.kept_expression(state, code.id)?;
        let value = compute(state, &bound.what, strictness).transpose()?;
        Some(value.and_then(|value| take(state, value, &bound.what.ty)))
    }

    /// As [`Self::kept_value`], of a condition.
    pub fn kept_truth(&self, state: &mut State<'_>, code: &ExprCode<'_>) -> Option<Result<bool>> {
        let bound = self.kept_expression(state, code.id)?;
        let frame = state.execution.frame.as_ref().expect("F1");
        let strict = condition_strictness(state, code).is_full(&state.execution.vars);
        let answer = exec::program::is_true(&bound.what, &state.execution.vars, &frame.values, strict);
        if let (Some(slot), true) = (code.operand(), state.warning_count() > 0) {
            forget_cached_text(state, &frame.values[slot as usize]);
        }
        state.execution.vars.settle_variables();
        answer.map_err(Error::from).transpose()
    }

    /// As [`Self::value`], of a condition.
    pub async fn is_true(&self, state: &mut State<'_>, code: &ExprCode<'_>) -> Result<bool> {
        if let Some(answer) = self.kept_truth(state, code) {
            return answer;
        }
        let strictness = condition_strictness(state, code);
        let (value, ty) = self.value(state, code, strictness).await?;
        let is_cached = self.is_query(code.id) && matches!(code.tree, sql::ast::Expr::Subquery(_));
        let strict = !is_cached && strictness.is_full(&state.execution.vars);
        let expr = expr::Expr { kind: expr::ExprKind::Literal(value), ty, nullable: true };
        let answer = exec::program::is_true(&expr, &state.execution.vars, &[], strict)?.unwrap_or(false);
        match (code.operand(), &expr.kind, &state.execution.frame) {
            (Some(slot), _, Some(frame)) => forget_cached_text(state, &frame.values[slot as usize]),
            (None, expr::ExprKind::Literal(value), _) if is_cached => forget_cached_text(state, value),
            _ => {}
        }
        Ok(answer)
    }

    /// Binds an expression; also says whether it holds for one execution only. `None`: it needs a plan.
    fn bind(state: &State<'_>, code: &ExprCode<'_>) -> Result<Option<(Bound<expr::Expr>, bool)>> {
        let schema = state.schema();
        let binder = Binder::new(state, &schema, &[]);
        let Some(what) = sql::bind_value(&code.tree, &binder)? else { return Ok(None) };
        Ok(Some((Bound::new(state, binder.take_assumed(), what), binder.is_volatile())))
    }

    /// The value of an expression that must be run as a query.
    pub async fn query_value(
        &self,
        state: &mut State<'_>,
        code: &ExprCode<'_>,
        strictness: Strictness,
    ) -> Result<(Value<'static>, ColumnType)> {
        let current = state.until_current(async |state| {
            let entry = match self.kept_plan(state, code.id) {
                Some(entry) => entry,
                None => {
                    let planned = state.plan_value(&code.tree, &[])?;
                    self.keep_plan(state, code.id, planned)
                }
            };
            state.collect_value(&entry, &[], strictness).await
        });
        current.await
    }
}

/// Reads and checks the program of an event.
pub fn check_event(def: &Arc<RoutineDef>) -> Result<()> {
    Routine::compile_event(def)?.check()
}

/// The operand of a CASE, and what a subquery gives, becomes a number without a warning: see `exec::operand`.
#[cold]
fn forget_cached_text(state: &State<'_>, value: &Value<'_>) {
    let Value::Bytes(text) = value else { return };
    let text = String::from_utf8_lossy(text);
    let is_of_it = |error: &expr::Error| matches!(error, expr::Error::TruncatedWrongValue { value, .. } if *value == text);
    state.execution.vars.warnings.borrow_mut().remove(is_of_it);
}

/// Conditions are only looked at, but within a strict data change they are strict, unless they are the WHEN of an operand.
fn condition_strictness(state: &State<'_>, code: &ExprCode<'_>) -> Strictness {
    if state.is_inside_change() && code.operand().is_none() { Strictness::Everywhere } else { Strictness::Arguments }
}

fn unknown_field(column: &str, new: bool) -> Error {
    let row = if new { "NEW" } else { "OLD" };
    Error::from(Condition::BadFieldError { column: column.into(), clause: row.into() })
}

fn compute(state: &mut State<'_>, expr: &expr::Expr, strictness: Strictness) -> Result<Option<Value<'static>>> {
    let frame = state.execution.frame.as_ref().expect("F1");
    let value = exec::program::evaluate(expr, &state.execution.vars, &frame.values, strictness.is_full(&state.execution.vars))?;
    state.execution.vars.settle_variables();
    Ok(value)
}

/// As the tables of events name it.
fn kind_of(kind: ProgramKind) -> &'static str {
    match kind {
        ProgramKind::Procedure => "PROCEDURE",
        ProgramKind::Function => "FUNCTION",
        ProgramKind::Event => "EVENT",
        ProgramKind::Trigger { .. } => "TRIGGER",
    }
}
