//! Functions about the session, and those that wait: SLEEP, BENCHMARK, GET_LOCK.

use super::encode::{charset_name, is_json_text};
use super::row::{Null, Parameters, Places, functions, named};
use super::rules::{self, LONG};
use super::string::is_binary;
use crate::coerce;
use crate::error::Error;
use crate::eval::{Env, Evaluated, Pause, Step};
use crate::func::Function;
use crate::tree::{Expr, ExprKind};
use os::time::Instant;
use std::borrow::Cow;
use std::time::Duration;
use types::{CollationId, Value};

/// MySQL's limit for names of user-level locks, in characters.
const LOCK_NAME_CHARS_MAX: usize = 64;
/// Work of a round of BENCHMARK besides what it computes (`types::work`).
const ROUND_UNITS: usize = 64;
/// BENCHMARK lets others run after this long.
const BENCHMARK_SLICE: Duration = Duration::from_millis(1);

/// What ICU_VERSION() answers: the version of the rules for patterns that MySQL 8.4 follows.
const PATTERN_LIBRARY_VERSION: &str = "73.1";
/// ROLES_GRAPHML() where no role exists.
const NO_ROLES: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml />\n";

functions! {
    Information;

    CHARSET = named(&[("CHARSET", 1, 1)]).typed(rules::system_text::<64>).texts(Places::NONE)
        => |_, _, args| Ok(text(charset_name(&args[0])));
    COLLATION = named(&[("COLLATION", 1, 1)]).typed(rules::system_text::<64>).texts(Places::NONE)
        => |_, _, args| Ok(text(collation_name(&args[0])));
    COERCIBILITY = named(&[("COERCIBILITY", 1, 1)]).typed(rules::bigint).texts(Places::NONE)
        => |_, _, args| Ok(Value::Int(coercibility(&args[0])));
    DATABASE = named(&[("DATABASE", 0, 0), ("SCHEMA", 0, 0)]).typed(rules::system_text::<64>).system_constant()
        => |env, _, _| Ok(env.session().database.as_deref().map_or(Value::Null, text));
    USER = named(&[("USER", 0, 0)]).typed(rules::system_text::<288>).system_constant() => |env, _, _| Ok(text(&env.session().user));
    CURRENT_USER = named(&[("CURRENT_USER", 0, 0)]).typed(rules::system_text::<288>).system_constant()
        => |env, _, _| Ok(text(&env.session().current_user));
    SESSION_USER = named(&[("SESSION_USER", 0, 0)]).typed(rules::system_text::<288>).system_constant()
        => |env, _, _| Ok(text(&env.session().user));
    SYSTEM_USER = named(&[("SYSTEM_USER", 0, 0)]).typed(rules::system_text::<288>).system_constant()
        => |env, _, _| Ok(text(&env.session().user));
    VERSION = named(&[("VERSION", 0, 0)]).typed(rules::system_text::<60>).null(Null::Never).system_constant()
        => |env, _, _| Ok(text(env.session().version));
    CONNECTION_ID = named(&[("CONNECTION_ID", 0, 0)]).typed(rules::unsigned_bigint).null(Null::Never)
        => |env, _, _| Ok(Value::UInt(env.session().connection_id.into()));
    LAST_INSERT_ID = named(&[("LAST_INSERT_ID", 0, 1)]).typed(rules::unsigned_bigint).null(Null::AnyArgument).volatile()
        => |env, _, args| last_insert_id(env, args);
    ROW_COUNT = named(&[("ROW_COUNT", 0, 0)]).typed(rules::bigint).null(Null::Never)
        => |env, _, _| Ok(Value::Int(env.session().row_count));
    FOUND_ROWS = named(&[("FOUND_ROWS", 0, 0)]).typed(rules::bigint).null(Null::Never)
        => |env, _, _| Ok(Value::Int(env.session().found_rows as i64));
    SLEEP = named(&[("SLEEP", 1, 1)]).typed(rules::bigint).null(Null::Never).parameters(Parameters::Double)
        .integers(Places::only(0)).volatile()
        => |env, _, args| sleep(env, &args[0]);
    BENCHMARK = named(&[("BENCHMARK", 2, 2)]).typed(rules::boolean).volatile() => |env, _, args| benchmark(env, args);
    GET_LOCK = named(&[("GET_LOCK", 2, 2)]).typed(rules::boolean).texts(Places::NONE).integers(Places::only(1)).volatile()
        => |env, _, args| get_lock(env, args);
    RELEASE_LOCK = named(&[("RELEASE_LOCK", 1, 1)]).typed(rules::boolean).volatile() => |env, _, args| release_lock(env, &args[0]);
    IS_FREE_LOCK = named(&[("IS_FREE_LOCK", 1, 1)]).typed(rules::boolean).volatile()
        => |env, _, args| Ok(holder(env, &args[0])?.map_or(Value::Null, |holder| Value::Int(holder.is_none().into())));
    IS_USED_LOCK = named(&[("IS_USED_LOCK", 1, 1)]).typed(rules::unsigned_bigint)
        => |env, _, args| Ok(holder(env, &args[0])?.flatten().map_or(Value::Null, |holder| Value::UInt(holder.into())));
    RELEASE_ALL_LOCKS = named(&[("RELEASE_ALL_LOCKS", 0, 0)]).typed(rules::bigint).volatile() => |env, _, _| release_all_locks(env);
    // No policy is installed.
    VALIDATE_PASSWORD_STRENGTH = named(&[("VALIDATE_PASSWORD_STRENGTH", 1, 1)]).typed(rules::bigint).digits(9)
        .note("no policy: 0")
        => |env, _, args| Ok(env.text(&args[0])?.map_or(Value::Null, |_| Value::Int(0)));
    // Files of the server are not read.
    LOAD_FILE = named(&[("LOAD_FILE", 1, 1)]).typed(rules::long_blob).length(|_| LONG).note("always NULL")
        => |_, _, _| Ok(Value::Null);
    NAME_CONST = named(&[("NAME_CONST", 2, 2)]).typed(|_, args, _| Ok(args[1].ty.clone())).texts(Places::NONE)
        => |env, _, args| env.eval(&args[1]);
    PS_CURRENT_THREAD_ID = named(&[("PS_CURRENT_THREAD_ID", 0, 0)]).typed(rules::unsigned_bigint)
        => |env, _, _| Ok(Value::UInt(env.session().connection_id.into()));
    PS_THREAD_ID = named(&[("PS_THREAD_ID", 1, 1)]).typed(rules::unsigned_bigint) => |env, _, args| thread_id(env, &args[0]);
    CURRENT_ROLE = named(&[("CURRENT_ROLE", 0, 0)]).typed(rules::long_system_text).length(|_| LONG)
        => |env, _, _| Ok(text(&env.session().current_role));
    ICU_VERSION = named(&[("ICU_VERSION", 0, 0)]).typed(rules::system_text::<60>).null(Null::Never)
        => |_, _, _| Ok(text(PATTERN_LIBRARY_VERSION));
    ROLES_GRAPHML = named(&[("ROLES_GRAPHML", 0, 0)]).typed(rules::long_system_text) => |_, _, _| Ok(text(NO_ROLES));
}

fn text(s: &str) -> Value<'_> {
    Value::Bytes(Cow::Borrowed(s.as_bytes()))
}

fn collation_name(arg: &Expr) -> &'static str {
    if is_json_text(arg) {
        return CollationId::UTF8MB4_BIN.name();
    }
    if is_binary(arg) || !coerce::is_string(&arg.ty) { "binary" } else { arg.ty.collation.name() }
}

fn release_lock<'a>(env: &Env<'a>, name: &'a Expr) -> Evaluated<'a> {
    let Some(name) = lock_name(env, name)? else { return Ok(Value::Null) };
    let session = env.session();
    let release = || env.shared.host.release_lock(session.connection_id, &name).map(i64::from);
    Ok(env.shared.rare().waits.once(session, release).map_or(Value::Null, Value::Int))
}

fn release_all_locks<'a>(env: &Env<'a>) -> Evaluated<'a> {
    let session = env.session();
    let release = || Some(env.shared.host.release_all_locks(session.connection_id) as i64);
    Ok(env.shared.rare().waits.once(session, release).map_or(Value::Null, |count| Value::UInt(count as u64)))
}

/// Who holds a lock; `None`: the name is NULL.
fn holder<'a>(env: &Env<'a>, name: &'a Expr) -> Step<Option<Option<u32>>> {
    Ok(lock_name(env, name)?.map(|name| env.shared.host.lock_holder(&name)))
}

/// PS_THREAD_ID
fn thread_id<'a>(env: &Env<'a>, connection: &'a Expr) -> Evaluated<'a> {
    let own = env.session().connection_id;
    let is_own = env.integer(connection)?.is_some_and(|id| id == i128::from(own));
    Ok(if is_own { Value::UInt(own.into()) } else { Value::Null })
}

/// LAST_INSERT_ID(n) remembers n for this session and answers it.
fn last_insert_id<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let session = env.session();
    let Some(arg) = args.first() else { return Ok(Value::UInt(session.last_insert_id.get())) };
    let value = env.integer(arg)?;
    let id = value.map_or(0, coerce::wrap_bits);
    session.last_insert_id.set(id);
    session.last_insert_id_set.set(Some(id));
    Ok(value.map_or(Value::Null, |_| Value::UInt(id)))
}

/// 0 explicit, 2 column, 3 system constant, 4 literal, 5 number, 6 NULL.
fn coercibility(arg: &Expr) -> i64 {
    match &arg.kind {
        ExprKind::Literal(Value::Null) => 6,
        _ if !coerce::is_string(&arg.ty) => 5,
        ExprKind::Column { .. } => 2,
        ExprKind::Call { function: Function::VERSION | Function::USER | Function::DATABASE | Function::CURRENT_USER, .. } => 3,
        ExprKind::Cast(_) => 2,
        _ => 4,
    }
}

/// SLEEP(seconds): 0 when it slept to the end, 1 when it was interrupted. The driver waits.
fn sleep<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let seconds = env.double(arg)?.filter(|s| *s >= 0.0);
    let Some(seconds) = seconds else { return Err(Error::WrongArguments { function: "sleep" }.into()) };
    if let Some(outcome) = env.shared.rare().waits.take() {
        return Ok(outcome.map_or(Value::Null, Value::Int));
    }
    // A century is as good as for ever.
    Err(Pause::Sleep(Duration::from_secs_f64(seconds.min(3.2e9))))
}

/// BENCHMARK(rounds, expr): computes again and again, in slices.
fn benchmark<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(rounds) = env.integer(&args[0])?.filter(|n| *n >= 0) else { return Ok(Value::Null) };
    let done = &env.shared.rare().waits.rounds;
    let began = Instant::now();
    while i128::from(done.get()) < rounds {
        env.eval(&args[1])?;
        types::work::spend(ROUND_UNITS)?;
        done.set(done.get() + 1);
        if done.get().is_multiple_of(64) && began.elapsed() >= BENCHMARK_SLICE {
            env.session().check_killed()?;
            return Err(Pause::Yield);
        }
    }
    done.set(0);
    Ok(Value::Int(0))
}

fn lock_name<'a>(env: &Env<'a>, arg: &'a Expr) -> Result<Option<String>, Pause> {
    let name = env.text(arg)?.map(|s| String::from_utf8_lossy(&s).to_lowercase()).unwrap_or_default();
    if name.is_empty() || name.chars().count() > LOCK_NAME_CHARS_MAX {
        return Err(Error::WrongLockName { name }.into());
    }
    Ok(Some(name))
}

/// GET_LOCK(name, timeout): a negative timeout waits for ever. The driver waits.
fn get_lock<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(name) = lock_name(env, &args[0])? else { return Ok(Value::Null) };
    let seconds = env.double(&args[1])?.unwrap_or(0.0);
    if let Some(outcome) = env.shared.rare().waits.take() {
        return Ok(outcome.map_or(Value::Null, Value::Int));
    }
    let timeout = (seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(3.2e9)));
    Err(Pause::GetLock { name, timeout })
}
