//! From a routine's text to what can be run, and what an instruction needs: an expression or a plan, bound when it is first met.

use super::{Frame, Routine};
use crate::accounts::Name;
use crate::error::{Error, Result};
use crate::plan_cache::PlanEntry;
use crate::session::{Binder, State};
use sql::ast::{SetItem, Statement};
use sql::routine::{Code, Condition, Instr};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use types::schema::RoutineDef;
use types::{ColumnType, TypeKind, Value};

/// How often an instruction is planned again because the schema changed meanwhile.
const ATTEMPTS_MAX: u32 = 16;

/// What an instruction runs, for one binding key.
#[derive(Clone)]
pub enum Work {
    /// Computed over the frame.
    Expression(u64, Rc<sql::expr::Expr>),
    Plan(u64, Rc<PlanEntry>),
    /// An expression that must be planned: it has subqueries, or waits.
    Query,
    /// Parsed at each execution.
    Text,
}

impl Routine {
    /// Reads and checks a routine's text.
    pub fn compile(def: &Arc<RoutineDef>) -> Result<Rc<Self>> {
        let mode = crate::variables::bits_to_mode(def.sql_mode);
        let program = sql::compile_procedure(&def.parameters, &def.body, &mode)?;
        let mut types = Vec::with_capacity(program.slots.len());
        for slot in &program.slots {
            types.push(match &slot.ty {
                Some(text) => {
                    let arena = sql::Arena::default();
                    let written = sql::parse_type(&arena, &slot.name, text, &mode)?;
                    crate::ddl::column_type(&slot.name, &written, def.database_collation)?
                }
                None => ColumnType::new(TypeKind::Null),
            });
        }
        let works = (0..program.instrs.len() + program.cursors.len()).map(|_| RefCell::default()).collect();
        let handles = |condition: &Condition| !matches!(condition, Condition::Exception);
        let handles_warnings = program.blocks.iter().flat_map(|b| &b.handlers).any(|h| h.conditions.iter().any(handles));
        let definer = (!def.invoker).then(|| Name::from_plain(&def.definer));
        Ok(Rc::new(Self { def: Arc::clone(def), definer, program, types: RefCell::new(types), works, handles_warnings }))
    }

    /// What MySQL finds wrong at CREATE besides: SET of a variable that there is not.
    pub fn check(&self) -> Result<()> {
        let mode = crate::variables::bits_to_mode(self.def.sql_mode);
        for instr in &self.program.instrs {
            let Instr::Run(code) = instr else { continue };
            if !code.text.starts_with("SET ") {
                continue;
            }
            let arena = sql::Arena::default();
            let parsed = sql::parse_in(&arena, &code.text, &mode, &self.program.locals, code.scope)?;
            let Statement::Set(items) = parsed.statement else { continue };
            for item in items {
                if let SetItem::System { name, .. } = item
                    && crate::variables::find(name).is_none()
                {
                    return Err(crate::variables::Error::Unknown { name: (*name).to_owned() }.into());
                }
            }
        }
        Ok(())
    }

    /// The compiled form of a procedure, the worker's where it has one.
    pub fn of(state: &State, def: &Arc<RoutineDef>) -> Result<Rc<Self>> {
        let kept = state.worker.routines.borrow().get(def);
        if let Some(routine) = kept {
            return Ok(routine);
        }
        let routine = Self::compile(def)?;
        state.worker.routines.borrow_mut().put(&routine);
        Ok(routine)
    }

    fn keep(&self, at: usize, work: Work) {
        *self.works[at].borrow_mut() = Some(work);
    }

    /// The plan of the statement that `at` runs; `None`: it is none on rows, and is parsed at each execution.
    pub fn plan(&self, state: &State, frame: &Frame, at: usize, code: &Code) -> Result<Option<Rc<PlanEntry>>> {
        let version = state.worker.shared.database.schema_version();
        let key = state.settings.bind_key;
        match &*self.works[at].borrow() {
            Some(Work::Plan(kept, entry)) if *kept == key && entry.schema_version == version => {
                return Ok(Some(Rc::clone(entry)));
            }
            Some(Work::Text) => return Ok(None),
            _ => {}
        }
        let arena = state.worker.arena();
        let parsed = sql::parse_in(&arena, &code.text, &state.settings.mode, &self.program.locals, code.scope)?;
        if !parsed.statement.info().plannable {
            self.keep(at, Work::Text);
            return Ok(None);
        }
        let planned = state.plan_for(&parsed, frame.values())?;
        if !planned.is_volatile {
            self.keep(at, Work::Plan(key, Rc::clone(&planned.entry)));
        }
        Ok(Some(planned.entry))
    }

    /// Computes the expression of `at`. `strict`: what a strict data change takes for an error is one.
    pub async fn value(&self, state: &mut State, at: usize, code: &Code, strict: bool) -> Result<(Value<'static>, ColumnType)> {
        let key = state.settings.bind_key;
        let kept = self.works[at].borrow().clone();
        match kept {
            Some(Work::Expression(bound, expr)) if bound == key => {
                if let Some(value) = compute(state, &expr, strict)? {
                    return Ok((value, expr.ty.clone()));
                }
                self.keep(at, Work::Query);
            }
            Some(Work::Plan(..) | Work::Query) => {}
            _ => {
                if let Some((expr, is_volatile)) = self.bind(state, code)? {
                    let expr = Rc::new(expr);
                    if !is_volatile {
                        self.keep(at, Work::Expression(key, Rc::clone(&expr)));
                    }
                    if let Some(value) = compute(state, &expr, strict)? {
                        return Ok((value, expr.ty.clone()));
                    }
                }
                self.keep(at, Work::Query);
            }
        }
        self.query_value(state, at, code).await
    }

    /// As [`Self::value`], of a condition.
    pub async fn is_true(&self, state: &mut State, at: usize, code: &Code) -> Result<bool> {
        let key = state.settings.bind_key;
        let kept = match &*self.works[at].borrow() {
            Some(Work::Expression(bound, expr)) if *bound == key => Some(Rc::clone(expr)),
            _ => None,
        };
        if let Some(expr) = kept {
            let frame = state.frame.as_ref().expect("F1");
            let answer = exec::program::is_true(&expr, &state.vars, &frame.values)?;
            state.vars.settle_variables();
            if let Some(answer) = answer {
                return Ok(answer);
            }
        }
        let (value, ty) = self.value(state, at, code, false).await?;
        let expr = sql::expr::Expr { kind: sql::expr::ExprKind::Literal(value), ty, nullable: true };
        Ok(exec::program::is_true(&expr, &state.vars, &[])?.unwrap_or(false))
    }

    /// Binds an expression; also says whether it holds for one execution only. `None`: it needs a plan.
    fn bind(&self, state: &State, code: &Code) -> Result<Option<(sql::expr::Expr, bool)>> {
        let arena = state.worker.arena();
        let parsed = sql::parse_expression_in(&arena, &code.text, &state.settings.mode, &self.program.locals, code.scope)?;
        let schema = state.schema();
        let binder = Binder::new(state, &schema, &[]);
        Ok(sql::bind_value(&parsed, &binder)?.map(|expr| (expr, binder.is_volatile())))
    }

    /// The value of an expression that must be run as a query.
    async fn query_value(&self, state: &mut State, at: usize, code: &Code) -> Result<(Value<'static>, ColumnType)> {
        for _ in 0..ATTEMPTS_MAX {
            let version = state.worker.shared.database.schema_version();
            let key = state.settings.bind_key;
            let kept = match &*self.works[at].borrow() {
                Some(Work::Plan(bound, entry)) if *bound == key && entry.schema_version == version => Some(Rc::clone(entry)),
                _ => None,
            };
            let entry = match kept {
                Some(entry) => entry,
                None => {
                    let arena = state.worker.arena();
                    let mode = state.settings.mode;
                    let parsed = sql::parse_expression_in(&arena, &code.text, &mode, &self.program.locals, code.scope)?;
                    let planned = state.plan_value(&parsed)?;
                    if !planned.is_volatile {
                        self.keep(at, Work::Plan(key, Rc::clone(&planned.entry)));
                    }
                    planned.entry
                }
            };
            match state.collect_value(&entry).await {
                Err(Error::Exec(exec::Error::TableChanged { .. })) => {}
                outcome => return outcome,
            }
        }
        Err(Error::Exec(exec::Error::TableChanged { table: String::new() }))
    }
}

fn compute(state: &mut State, expr: &sql::expr::Expr, strict: bool) -> Result<Option<Value<'static>>> {
    let frame = state.frame.as_ref().expect("F1");
    let value = exec::program::evaluate(expr, &state.vars, &frame.values, strict)?;
    state.vars.settle_variables();
    Ok(value)
}
