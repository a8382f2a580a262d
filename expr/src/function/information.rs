//! Functions about the session, and those that wait: SLEEP, BENCHMARK, GET_LOCK.

use super::encode::{charset_name, is_json_text};
use super::string::is_binary;
use crate::coerce;
use crate::error::Error;
use crate::eval::{Env, Evaluated, Pause};
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

/// Computes one of the information functions.
pub(super) fn call<'a>(env: &Env<'a>, function: Function, args: &'a [Expr]) -> Evaluated<'a> {
    let session = env.session();
    let text = |s: &'a str| Value::Bytes(Cow::Borrowed(s.as_bytes()));
    Ok(match function {
        Function::Database => session.database.as_deref().map_or(Value::Null, text),
        Function::User | Function::SessionUser | Function::SystemUser => text(&session.user),
        Function::CurrentUser => text(&session.current_user),
        Function::Version => text(session.version),
        Function::ConnectionId => Value::UInt(session.connection_id.into()),
        Function::LastInsertId => return last_insert_id(env, args),
        Function::RowCount => Value::Int(session.row_count),
        Function::FoundRows => Value::Int(session.found_rows as i64),
        Function::Charset => text(charset_name(&args[0])),
        Function::Collation => {
            let binary = is_binary(&args[0]) || !coerce::is_string(&args[0].ty);
            let collation = if is_json_text(&args[0]) { CollationId::UTF8MB4_BIN } else { args[0].ty.collation };
            text(if binary && !is_json_text(&args[0]) { "binary" } else { collation.name() })
        }
        Function::Coercibility => Value::Int(coercibility(&args[0])),
        Function::Sleep => return sleep(env, &args[0]),
        Function::Benchmark => return benchmark(env, args),
        Function::GetLock => return get_lock(env, args),
        Function::ReleaseLock => match lock_name(env, &args[0])? {
            Some(name) => {
                let release = || env.shared.host.release_lock(session.connection_id, &name).map(i64::from);
                env.shared.rare().waits.once(session, release).map_or(Value::Null, Value::Int)
            }
            None => Value::Null,
        },
        Function::IsFreeLock | Function::IsUsedLock => match lock_name(env, &args[0])? {
            Some(name) => match (function, env.shared.host.lock_holder(&name)) {
                (Function::IsFreeLock, holder) => Value::Int(holder.is_none().into()),
                (_, Some(holder)) => Value::UInt(holder.into()),
                (_, None) => Value::Null,
            },
            None => Value::Null,
        },
        // Files of the server are not read.
        Function::LoadFile => Value::Null,
        Function::NameConst => return env.eval(&args[1]),
        // No policy is installed.
        Function::PasswordStrength => env.text(&args[0])?.map_or(Value::Null, |_| Value::Int(0)),
        Function::PsCurrentThreadId => Value::UInt(session.connection_id.into()),
        Function::PsThreadId => match env.integer(&args[0])? {
            Some(id) if id == i128::from(session.connection_id) => Value::UInt(session.connection_id.into()),
            _ => Value::Null,
        },
        Function::CurrentRole => text(&session.current_role),
        Function::RolesGraphml => text(NO_ROLES),
        Function::IcuVersion => text(PATTERN_LIBRARY_VERSION),
        Function::ReleaseAllLocks => {
            let release = || Some(env.shared.host.release_all_locks(session.connection_id) as i64);
            env.shared.rare().waits.once(session, release).map_or(Value::Null, |count| Value::UInt(count as u64))
        }
        _ => unreachable!("{function:?} is not an information function"),
    })
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
        ExprKind::Call { function: Function::Version | Function::User | Function::Database | Function::CurrentUser, .. } => 3,
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
