//! CALL: arguments become a frame, the routine runs with its own settings, OUT values are assigned to the caller's
//! variables.

use super::{Frame, Routine, run};
use crate::error::{Error, Result};
use crate::plan_cache::definition_of;
use crate::session::{Acting, Answer, Binder, IDS, ProgramSettings, Recipient, State};
use crate::show::{Columns, result};
use crate::variables::Setting;
use accounts::privilege::Privileges;
use conditions::Condition;
use exec::Strictness;
use expr::{UserVariable, Warnings};
use protocol::{RowEncoder, RowFormat, Status};
use sql::ast::{CallProcedure, Expr, Literal, ObjectName};
use sql::param::ParamKind;
use sql::plan::FunctionCall;
use sql::routine::{Argument, ParamMode, Place, ProgramKind};
use std::rc::Rc;
use std::sync::Arc;
use types::schema::RoutineDef;
use types::{ColumnType, TypeKind, Value};

/// The maximum depth of nested calls: what the stack of a thread has room for.
const DEPTH_MAX: u32 = 256;

/// The values of `?` in a prepared CALL, and the user variables that EXECUTE ... USING gave them from.
#[derive(Clone, Copy, Default)]
pub struct Given<'a> {
    pub values: &'a [Value<'a>],
    pub names: &'a [&'a str],
}

/// The target of a parameter's value after the call.
enum Out {
    Nowhere,
    User(String),
    Local(u32),
    /// The client, in a result set of its own.
    Client,
}

/// The result of a CALL.
#[derive(Clone, Copy)]
pub enum Arguments<'a> {
    /// As a client wrote it.
    Written(&'a [Expr<'a>], Given<'a>),
    /// As the program of the routine has it.
    Bound { routine: &'a Routine, args: &'a [Argument<'a>] },
}

impl Arguments<'_> {
    fn len(self) -> usize {
        match self {
            Self::Written(exprs, _) => exprs.len(),
            Self::Bound { args, .. } => args.len(),
        }
    }

    /// The target of a parameter's value; `None`: its argument is not assignable.
    fn out(self, state: &State<'_>, n: usize, mode: ParamMode) -> Option<Out> {
        if mode == ParamMode::In {
            return Some(Out::Nowhere);
        }
        match self {
            Self::Written(exprs, given) => out_of(state, &exprs[n], given),
            Self::Bound { args, .. } => match args[n].place.as_ref()? {
                Place::User(name) => Some(Out::User(name.to_string())),
                Place::Local(slot) => local_out(state, *slot),
            },
        }
    }

    async fn value(self, state: &mut State<'_>, n: usize) -> Result<(Value<'static>, ColumnType)> {
        match self {
            Self::Written(exprs, given) => match exprs[n] {
                Expr::Literal(Literal::Int(number)) if let Ok(number) = i64::try_from(number) => {
                    Ok((Value::Int(number), ColumnType::new(TypeKind::BigInt)))
                }
                _ => argument(state, &exprs[n], given.values, Strictness::Everywhere).await,
            },
            Self::Bound { routine, args } => routine.value(state, &args[n].value, Strictness::Everywhere).await,
        }
    }
}

/// Runs CALL and writes its answer.
pub async fn call(
    state: &mut State<'_>,
    client: &mut Recipient<'_>,
    call: &CallProcedure<'_>,
    given: Given<'_>,
    format: RowFormat,
) -> Result<()> {
    call_with(state, client, &call.name, Arguments::Written(call.args, given), format).await
}

/// Like [`call`], for any source of the arguments.
pub async fn call_with(
    state: &mut State<'_>,
    client: &mut Recipient<'_>,
    procedure: &ObjectName<'_>,
    args: Arguments<'_>,
    format: RowFormat,
) -> Result<()> {
    let routine = find(state, procedure, args.len())?;
    let name = || format!("{}.{}", routine.def.database, procedure.name);
    let expected = routine.program().params.len();
    let depth = check_depth(state, &routine)?;
    let mut values = Vec::with_capacity(routine.program().slots.len());
    let mut outs = Vec::with_capacity(expected);
    for (n, mode) in routine.program().params.iter().enumerate() {
        let out = args.out(state, n, *mode).ok_or_else(|| not_a_variable(n + 1, name()))?;
        let value = match mode {
            ParamMode::Out => Value::Null,
            ParamMode::In | ParamMode::InOut => {
                let (value, ty) = args.value(state, n).await?;
                let to = routine.types.borrow()[n].clone();
                exec::program::assign(&state.execution.vars, value, &ty, &to, routine.program().slots[n].name)?
            }
        };
        values.push(value);
        outs.push(out);
    }
    let entry = Entry::given(state, values, depth);
    let limit = state.execution.vars.select_limit;
    set_select_limit(state, u64::MAX);
    let outcome = run_framed(state, client, &routine, entry, format).await;
    set_select_limit(state, limit);
    give_back(state, client, &*outcome?, outs)?;
    let affected = u64::try_from(state.execution.vars.row_count).unwrap_or(0);
    state.execution.vars.row_count = affected as i64;
    state.write_ok(client, &Answer { affected, ..Answer::default() });
    Ok(())
}

/// A procedure begins without sql_select_limit, and its own setting ends with it.
fn set_select_limit(state: &mut State<'_>, limit: u64) {
    if state.execution.vars.select_limit != limit {
        state.session.variables.set(IDS.sql_select_limit, Setting::UInt(limit));
        state.refresh();
    }
}

/// The procedure of a CALL with this number of arguments.
fn find(state: &State<'_>, procedure: &ObjectName<'_>, got: usize) -> Result<Rc<Routine>> {
    let (database, _) = crate::ddl::qualify(state, procedure)?;
    state.session.access.refuse_expired()?;
    state.check_routine(&database, procedure.name, false, Privileges::EXECUTE)?;
    let schema = state.schema();
    let name = || format!("{database}.{}", procedure.name);
    let Some(def) = schema.procedure(&database, procedure.name) else {
        return Err(Condition::SpDoesNotExist { kind: "PROCEDURE".into(), name: name().into() }.into());
    };
    let routine = Routine::of(state, def)?;
    let expected = routine.program().params.len();
    if expected != got {
        return Err(Error::from(Condition::SpWrongNoOfArgs {
            kind: "PROCEDURE".into(),
            name: name().into(),
            expected: expected.into(),
            got: got.into(),
        }));
    }
    Ok(routine)
}

/// The errors that PREPARE reports for a CALL with this number of `?`.
pub fn check_call(state: &State<'_>, call: &CallProcedure<'_>, params: u32) -> Result<()> {
    find(state, &call.name, call.args.len())?;
    for arg in call.args {
        state.check_value(arg, params)?;
    }
    Ok(())
}

/// The initial state of a frame.
pub struct Entry {
    /// Of the first slots; the others are NULL.
    pub values: Vec<Value<'static>>,
    pub depth: u32,
    /// The warnings of the arguments. The routine begins with them and keeps them before its own, as in MySQL.
    warned: Option<Warnings>,
}

impl Entry {
    pub fn new(values: Vec<Value<'static>>, depth: u32) -> Self {
        Self { values, depth, warned: None }
    }

    /// After the arguments were computed.
    fn given(state: &State<'_>, values: Vec<Value<'static>>, depth: u32) -> Self {
        let warned = (state.warning_count() > 0).then(|| state.execution.vars.warnings.borrow().clone());
        Self { warned, ..Self::new(values, depth) }
    }
}

/// Runs a routine in a frame of its own, with its own settings; returns the frame.
pub async fn run_framed(
    state: &mut State<'_>,
    client: &mut Recipient<'_>,
    routine: &Rc<Routine>,
    entry: Entry,
    format: RowFormat,
) -> Result<Box<Frame>> {
    let Entry { mut values, depth, warned } = entry;
    values.resize_with(routine.program().slots.len(), || Value::Null);
    let cursors = (0..routine.program().cursors.len()).map(|_| None).collect();
    let around = Around::enter(state, routine)?;
    let caller = state.execution.frame.take();
    let frame = Frame { routine: Rc::clone(routine), values, cursors, fetched: Vec::new(), returned: None, depth, caller };
    let announced = std::mem::replace(&mut state.connection.more_results, true);
    state.execution.frame = Some(Box::new(frame));
    let outcome = run::run(state, client, routine, format).await;
    let mut frame = state.execution.frame.take().ok_or_else(|| Error::Internal("a frame was lost".to_owned()))?;
    state.execution.frame = frame.caller.take();
    state.connection.more_results = announced;
    around.leave(state);
    outcome?;
    if let Some(before) = warned {
        state.execution.vars.warnings.get_mut().follow(before);
    }
    Ok(frame)
}

/// Calls a stored function from inside of a statement. `strict`: an argument that does not fit its parameter is an error.
pub async fn call_function(
    state: &mut State<'_>,
    call: &FunctionCall,
    args: &[Value<'static>],
    strict: bool,
) -> Result<Value<'static>> {
    let def = &call.function;
    if !call.by_view {
        state.check_routine(&def.database, &def.name, true, Privileges::EXECUTE)?;
    }
    let routine = Routine::of(state, def)?;
    let depth = check_depth(state, &routine)?;
    let mut values = Vec::with_capacity(routine.program().slots.len());
    for (n, (value, arg)) in args.iter().zip(&call.args).enumerate() {
        let to = routine.types.borrow()[n].clone();
        let name = routine.program().slots[n].name;
        values.push(exec::program::assign_as(&state.execution.vars, strict, value.clone(), &arg.ty, &to, name)?);
    }
    let entry = Entry::given(state, values, depth);
    let frame = run_framed(state, &mut Recipient::Nobody, &routine, entry, RowFormat::Text).await?;
    frame.returned.ok_or_else(|| Error::from(Condition::SpNoReturnEnd { name: (&def.name).into() }))
}

/// Runs the program of an event, in a session that is its own.
pub async fn run_event(state: &mut State<'_>, def: &Arc<RoutineDef>) -> Result<()> {
    let routine = Routine::of_event(state, def)?;
    run_framed(state, &mut Recipient::Nobody, &routine, Entry::new(Vec::new(), 0), RowFormat::Text).await.map(drop)
}

/// SIGNAL, RESIGNAL, GET DIAGNOSTICS outside of a program.
pub async fn alone(state: &mut State<'_>, client: &mut Recipient<'_>, text: &str, format: RowFormat) -> Result<()> {
    let collation = state.session.settings.connection_collation;
    let def = RoutineDef {
        database: state.execution.vars.database.as_deref().unwrap_or_default().to_owned(),
        name: String::new(),
        definer: state.execution.vars.current_user.to_string(),
        parameters: String::new(),
        returns: None,
        body: text.to_owned(),
        comment: String::new(),
        deterministic: false,
        data_access: String::new(),
        invoker: true,
        sql_mode: state.session.variables.get(IDS.sql_mode).as_u64(),
        client_charset: String::new(),
        connection_collation: collation,
        database_collation: collation,
        created_us: 0,
        altered_us: 0,
    };
    let routine = Routine::compile(&Arc::new(def))?;
    let depth = check_depth(state, &routine)?;
    run_framed(state, client, &routine, Entry::new(Vec::new(), depth), format).await?;
    state.write_ok(client, &Answer::default());
    Ok(())
}

/// How deep the call would be.
pub fn check_depth(state: &State<'_>, routine: &Rc<Routine>) -> Result<u32> {
    let Some(caller) = state.execution.frames().next() else { return Ok(0) };
    // An enclosing statement uses more of the stack.
    let depth = caller.depth + 1 + 3 * u32::from(state.is_inside());
    let same = state.execution.frames().filter(|frame| Rc::ptr_eq(&frame.routine, routine)).count() as u64;
    if same > 0 && routine.program().kind != ProgramKind::Procedure {
        return Err(Error::from(Condition::SpNoRecursion));
    }
    let limit = state.session.variables.get(IDS.max_sp_recursion_depth).as_u64();
    if same > limit {
        let name = &routine.def.name;
        return Err(Error::from(Condition::SpRecursionLimit { limit: limit.into(), name: name.into() }));
    }
    if depth > DEPTH_MAX {
        return Err(Error::from(Condition::StackOverrunNeedMore {
            why: format!(" procedures call each other more than {DEPTH_MAX} levels deep").into(),
        }));
    }
    let used = reactor::stack::used();
    let (whole, needed) = (reactor::stack::BYTES, reactor::stack::RESERVED);
    if used > whole - needed {
        return Err(Error::from(Condition::StackOverrunNeedMore {
            why: format!(" {used} bytes used of a {whole} byte stack, and {needed} bytes needed.").into(),
        }));
    }
    Ok(depth)
}

/// A variable of the calling program; not one that it may not change.
fn local_out(state: &State<'_>, slot: u32) -> Option<Out> {
    let fields = state.execution.frame.as_ref().map_or(&[][..], |frame| &frame.routine.program().fields);
    let is_fixed = fields.iter().any(|field| field.slot == slot && !field.assigned);
    (!is_fixed).then_some(Out::Local(slot))
}

/// The target of an argument as written.
fn out_of(state: &State<'_>, arg: &Expr<'_>, given: Given<'_>) -> Option<Out> {
    match arg {
        Expr::UserVariable(name) => Some(Out::User((*name).to_owned())),
        Expr::Local { slot, .. } => local_out(state, *slot),
        Expr::Param(n) => Some(match given.names.get(*n as usize) {
            Some(name) => Out::User((*name).to_owned()),
            None => Out::Client,
        }),
        _ => None,
    }
}

fn not_a_variable(number: usize, routine: String) -> Error {
    Error::from(Condition::SpNotVarArg { number: number.into(), routine: routine.into() })
}

/// The value of an argument of CALL, or of a value of SET, which may contain variables of the running program.
pub async fn argument(
    state: &mut State<'_>,
    arg: &Expr<'_>,
    params: &[Value<'_>],
    strictness: Strictness,
) -> Result<(Value<'static>, ColumnType)> {
    if let Some(value) = as_given(arg, params) {
        return Ok(value);
    }
    if let Some(value) = computed(state, arg, params, strictness)? {
        return Ok(value);
    }
    state.evaluate_over(arg, params, strictness).await
}

/// The value of an expression over the parameters of a prepared statement or, without these, over the variables of the
/// running program. `None`: it must be run as a query.
pub fn computed(
    state: &mut State<'_>,
    expr: &Expr<'_>,
    params: &[Value<'_>],
    strictness: Strictness,
) -> Result<Option<(Value<'static>, ColumnType)>> {
    let schema = state.schema();
    let Some(expr) = sql::bind_value(expr, &Binder::new(state, &schema, params))? else { return Ok(None) };
    let locals = match &state.execution.frame {
        Some(frame) if params.is_empty() => frame.values(),
        _ => params,
    };
    let value = exec::program::evaluate(&expr, &state.execution.vars, locals, strictness.is_full(&state.execution.vars))?;
    state.execution.vars.settle_variables();
    Ok(value.map(|value| (value, expr.ty)))
}

/// The value of a parameter unchanged, if the expression is just the parameter.
fn as_given(expr: &Expr<'_>, params: &[Value<'_>]) -> Option<(Value<'static>, ColumnType)> {
    let Expr::Param(n) = expr else { return None };
    let value = params.get(*n as usize).map_or(Value::Null, crate::session::owned);
    let ty = ParamKind::of(&value).column_type();
    Some((value, ty))
}

/// OUT and INOUT values go to their variables, or to the client.
fn give_back(state: &mut State<'_>, client: &mut Recipient<'_>, frame: &Frame, outs: Vec<Out>) -> Result<()> {
    let mut sent = Vec::new();
    for (n, out) in outs.into_iter().enumerate() {
        let value = || crate::session::owned(&frame.values[n]);
        match out {
            Out::Nowhere => {}
            Out::User(name) => state.execution.vars.set_user_variable(&name, UserVariable::new(value(), frame.local_type(n)))?,
            Out::Local(slot) => run::assign(state, slot, value(), &frame.local_type(n))?,
            Out::Client => sent.push(n),
        }
    }
    let Some(client) = client.client().filter(|_| !sent.is_empty()) else { return Ok(()) };
    let slots = &frame.routine.program().slots;
    let columns = sent.iter().fold(Columns::default(), |all, n| all.add(slots[*n].name, frame.local_type(*n), true));
    let columns = result(columns).columns;
    let results = state.session.settings.results;
    let definitions: Vec<_> = columns.iter().map(|column| definition_of(column, results)).collect();
    let announced = std::mem::replace(&mut state.connection.more_results, true);
    let status = state.status().with(Status::PS_OUT_PARAMS);
    protocol::put_result_head(&mut client.output.writer, state.connection.capabilities, &definitions, status);
    let mut encoder = RowEncoder::new(RowFormat::Binary, columns.len());
    encoder.begin(&mut client.output.writer);
    for (n, column) in sent.iter().zip(&columns) {
        encoder.value(&mut client.output.writer, &frame.values[*n], &column.ty);
    }
    encoder.end(&mut client.output.writer);
    let ok = protocol::OkPacket { status, ..Default::default() };
    protocol::put_rows_end(&mut client.output.writer, state.connection.capabilities, &ok);
    state.connection.more_results = announced;
    Ok(())
}

/// The caller's identity and settings.
struct Around {
    /// Set if the routine runs under another identity.
    caller: Option<Acting>,
    mode: u64,
    /// Set if the routine has other settings.
    others: Option<Others>,
}

struct Others {
    database: Option<Rc<str>>,
    collation: Setting,
    charset: Setting,
    settings: ProgramSettings,
    /// `Session::refreshed` when the routine began. While it is the same, no setting has changed.
    refreshed: u32,
}

impl Around {
    /// # Errors
    /// 1449: the definer is not there.
    fn enter(state: &mut State<'_>, routine: &Routine) -> Result<Self> {
        let caller = match &routine.definer {
            Some(definer) => state.act_as(definer)?,
            None => None,
        };
        if let Some(caller) = caller {
            // The definer must be allowed to run it too, or to have triggers on the table.
            let def = &routine.def;
            let checked = match &routine.table {
                Some(table) => state
                    .check_triggers_of(table)
                    .and_then(|()| state.check_trigger_fields(table, &routine.program().fields, &routine.columns)),
                None => state.check_routine(&def.database, &def.name, def.is_function(), Privileges::EXECUTE),
            };
            if let Err(error) = checked {
                state.act_again_as(caller);
                return Err(error);
            }
            return Ok(Self { caller: Some(caller), ..Self::settle(state, routine) });
        }
        Ok(Self::settle(state, routine))
    }

    fn settle(state: &mut State<'_>, routine: &Routine) -> Self {
        let def = &routine.def;
        let mode = state.session.variables.get(IDS.sql_mode).as_u64();
        let is_same = mode == def.sql_mode
            && state.session.settings.connection_collation == def.connection_collation
            && state.execution.vars.database.as_deref() == Some(&*def.database);
        if is_same {
            return Self { caller: None, mode, others: None };
        }
        let others = Others {
            database: state.execution.vars.database.replace(Rc::clone(&routine.database)),
            collation: state.session.variables.get(IDS.collation_connection).clone(),
            charset: state.session.variables.get(IDS.character_set_connection).clone(),
            settings: state.session.settings.of_program(),
            refreshed: state.session.refreshed,
        };
        let [collation, charset] = &routine.client_settings;
        state.session.variables.set(IDS.sql_mode, Setting::UInt(def.sql_mode));
        state.session.variables.set(IDS.collation_connection, collation.clone());
        state.session.variables.set(IDS.character_set_connection, charset.clone());
        match routine.settings.get() {
            Some((outer, own)) if outer == others.settings.bind_key => state.exchange_settings(own),
            _ => {
                state.refresh();
                routine.settings.set(Some((others.settings.bind_key, state.session.settings.of_program())));
                return Self { caller: None, mode, others: Some(Others { refreshed: state.session.refreshed, ..others }) };
            }
        }
        Self { caller: None, mode, others: Some(others) }
    }

    fn leave(self, state: &mut State<'_>) {
        if let Some(caller) = self.caller {
            state.act_again_as(caller);
        }
        // The routine may have set the mode; that ends with it.
        let has_mode = state.session.variables.get(IDS.sql_mode).as_u64() == self.mode;
        if has_mode && self.others.is_none() {
            return;
        }
        state.session.variables.set(IDS.sql_mode, Setting::UInt(self.mode));
        let Some(others) = self.others else { return state.refresh() };
        // The routine may have dropped it.
        let schema = state.schema();
        let is_there = others.database.as_ref().is_none_or(|name| schema.databases.contains_key(&**name));
        state.execution.vars.database = others.database.filter(|_| is_there);
        state.session.variables.set(IDS.collation_connection, others.collation);
        state.session.variables.set(IDS.character_set_connection, others.charset);
        if is_there && state.session.refreshed == others.refreshed {
            state.exchange_settings(others.settings)
        } else {
            state.refresh()
        }
    }
}
