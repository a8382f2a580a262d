//! JSON_SET, JSON_INSERT, JSON_REPLACE, JSON_REMOVE, JSON_ARRAY_APPEND, JSON_ARRAY_INSERT, JSON_MERGE_...: documents changed.

use super::{answer, document, json_value, single_path};
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::tree::Expr;
use conditions::Condition;
use types::json::{Json, Leg, Path, Place};
use types::{Value, work};

/// Work of one change, in bytes of a plain copy (`types::work`).
const CHANGE_UNITS: usize = 1 << 12;

/// JSON_MERGE, the old name of JSON_MERGE_PRESERVE.
pub(super) fn merge<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let instead = "JSON_MERGE_PRESERVE/JSON_MERGE_PATCH";
    env.session().warn(Condition::WarnDeprecatedSyntax { what: "JSON_MERGE".into(), instead: instead.into() }.into());
    merge_preserve(env, args, "json_merge")
}

/// A document, then paths with values, one change after the other.
pub(super) fn each_pair<'a>(
    env: &Env<'a>,
    args: &'a [Expr],
    function: &'static str,
    change: impl Fn(&mut Json, &Path, Json) -> Result<(), Error>,
) -> Evaluated<'a> {
    if args.len().is_multiple_of(2) {
        return Err(Error::from(Condition::WrongParamCountToNativeFct { function: function.into() }).into());
    }
    let target = document(env, args, 0, function)?;
    let mut null = target.is_none();
    let mut target = target.unwrap_or(Json::Null);
    for pair in args[1..].chunks_exact(2) {
        let Some(path) = single_path(env, &pair[0])? else {
            null = true;
            continue;
        };
        let value = json_value(env, &pair[1])?;
        if let Json::Array(_) = target {
            // Items may have to make room.
            work::spend(CHANGE_UNITS + target.length())?;
        }
        if !null {
            change(&mut target, &path, value)?;
        }
    }
    if null { Ok(Value::Null) } else { answer(env, target) }
}

/// Sets what the path means (`replace`), or makes it where only its parent exists (`add`).
pub(super) fn put(target: &mut Json, path: &Path, value: Json, replace: bool, add: bool) -> Result<(), Error> {
    if let Some(there) = path.find_mut(target) {
        if replace {
            *there = value;
        }
        return Ok(());
    }
    let Some((parent, last)) = path.split_last().filter(|_| add) else { return Ok(()) };
    match (parent.find_mut(target), last) {
        (Some(parent @ Json::Object(_)), Leg::Member(name)) => parent.set_member(name, value),
        (Some(Json::Array(items)), Leg::Item(place)) => match place {
            Place::Start(_) => items.push(value),
            Place::Last(_) => items.insert(0, value),
        },
        // A value that is not an array becomes one.
        (Some(parent), Leg::Item(place)) => {
            let old = std::mem::replace(parent, Json::Null);
            *parent = Json::Array(if matches!(place, Place::Start(_)) { vec![old, value] } else { vec![value, old] });
        }
        _ => {}
    }
    Ok(())
}

pub(super) fn append(target: &mut Json, path: &Path, value: Json) -> Result<(), Error> {
    match path.find_mut(target) {
        Some(Json::Array(items)) => items.push(value),
        Some(there) => *there = Json::Array(vec![std::mem::replace(there, Json::Null), value]),
        None => {}
    }
    Ok(())
}

pub(super) fn insert_item(target: &mut Json, path: &Path, value: Json) -> Result<(), Error> {
    let Some((parent, Leg::Item(place))) = path.split_last() else {
        return Err(Error::from(Condition::InvalidJsonPathArrayCell));
    };
    if let Some(Json::Array(items)) = parent.find_mut(target) {
        let at = place.index(items.len()).unwrap_or(0).min(items.len());
        items.insert(at, value);
    }
    Ok(())
}

pub(super) fn remove<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let target = document(env, args, 0, "json_remove")?;
    let mut paths = Vec::with_capacity(args.len() - 1);
    for arg in &args[1..] {
        match single_path(env, arg)? {
            None => return Ok(Value::Null),
            Some(path) => match path.split_last().map(|(parent, last)| (parent, last.clone())) {
                Some(split) => paths.push(split),
                None => {
                    return Err(Error::from(Condition::JsonVacuousPath).into());
                }
            },
        }
    }
    let Some(mut target) = target else { return Ok(Value::Null) };
    for (parent, last) in paths {
        work::spend(CHANGE_UNITS)?;
        let (parent, last) = unwrapped(&target, parent, last);
        match (parent.find_mut(&mut target), last) {
            (Some(object @ Json::Object(_)), Leg::Member(name)) => object.remove_member(&name),
            (Some(Json::Array(items)), Leg::Item(place)) => {
                if let Some(at) = place.index(items.len()).filter(|at| *at < items.len()) {
                    items.remove(at);
                }
            }
            _ => {}
        }
    }
    answer(env, target)
}

/// `$.a[0]` of a value that is not an array is the value itself.
fn unwrapped(target: &Json, mut parent: Path, mut last: Leg) -> (Path, Leg) {
    while let Leg::Item(Place::Start(0) | Place::Last(0)) = last
        && parent.find_one(target).is_some_and(|value| !matches!(value, Json::Array(_)))
    {
        match parent.split_last().map(|(above, leg)| (above, leg.clone())) {
            Some(split) => (parent, last) = split,
            None => break,
        }
    }
    (parent, last)
}

fn documents<'a>(env: &Env<'a>, args: &'a [Expr], function: &'static str) -> Step<Vec<Option<Json>>> {
    (0..args.len()).map(|n| document(env, args, n, function)).collect()
}

pub(super) fn merge_preserve<'a>(env: &Env<'a>, args: &'a [Expr], function: &'static str) -> Evaluated<'a> {
    let mut merged: Option<Json> = None;
    for n in 0..args.len() {
        // After a NULL nothing is read.
        let Some(part) = document(env, args, n, function)? else { return Ok(Value::Null) };
        merged = Some(match merged {
            Some(merged) => merged.merge_preserve(part),
            None => part,
        });
    }
    merged.map_or(Ok(Value::Null), |merged| answer(env, merged))
}

/// NULL makes the result NULL, until a document that is not an object replaces everything before it.
pub(super) fn merge_patch<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let merged = documents(env, args, "json_merge_patch")?.into_iter().reduce(|target, patch| match (target, patch) {
        (_, None) => None,
        (_, Some(patch)) if !matches!(patch, Json::Object(_)) => Some(patch),
        (target, Some(patch)) => target.map(|target| target.merge_patch(patch)),
    });
    match merged.flatten() {
        Some(merged) => answer(env, merged),
        None => Ok(Value::Null),
    }
}
