//! `x IN (...)`: short lists are compared one by one; long lists of constants become a set when they are used again and again.

use crate::class::{Class, class};
use crate::coerce;
use crate::eval::{Env, Step};
use crate::keys::{self, KeyKind};
use crate::tree::{CompareAs, CompareOp, Expr, ExprKind};
use std::cell::RefCell;
use std::collections::HashSet;

/// From this many members on a set pays.
const MEMBERS_MIN: usize = 8;
/// Evaluations before the set is built: a statement that looks at few rows never builds it.
const USES_MIN: u32 = 8;

/// The sets of one execution, by the address of the list's node in the plan, which outlives the execution.
#[derive(Default)]
pub struct InLists {
    lists: RefCell<Vec<InList>>,
}

struct InList {
    node: usize,
    uses: u32,
    set: Option<ConstantSet>,
}

struct ConstantSet {
    kind: KeyKind,
    members: HashSet<Box<[u8]>, hashbrown::DefaultHashBuilder>,
    has_null: bool,
    probe: Vec<u8>,
}

/// Is the argument one of the list? `None` is NULL: the argument is, or it is not found and a member is.
pub fn contains<'a>(env: &Env<'a>, node: &'a Expr, by: CompareAs, arg: &'a Expr, list: &'a [Expr]) -> Step<Option<bool>> {
    if list.len() >= MEMBERS_MIN
        && !matches!(arg.kind, ExprKind::Row(_))
        && let Some(answer) = look_up(env, node, by, arg, list)?
    {
        return Ok(answer);
    }
    compare_each(env, by, arg, list)
}

fn compare_each<'a>(env: &Env<'a>, by: CompareAs, arg: &'a Expr, list: &'a [Expr]) -> Step<Option<bool>> {
    let mut unknown = false;
    if matches!(arg.kind, ExprKind::Row(_)) {
        for member in list {
            match env.compare(CompareOp::Equal, by, arg, member)? {
                Some(true) => return Ok(Some(true)),
                Some(false) => {}
                None => unknown = true,
            }
        }
        return Ok(if unknown { None } else { Some(false) });
    }
    let value = env.eval(arg)?;
    if matches!(value, types::Value::Null) {
        return Ok(None);
    }
    let times = by == CompareAs::Time && list.len() > 1;
    if times && env.as_time(&value)?.is_none() && list.iter().all(is_fixed) {
        // No time: it is none of several constants.
        for member in list {
            unknown |= env.eval(member)?.is_null();
        }
        return Ok(if unknown { None } else { Some(false) });
    }
    for member in list {
        let equal = if times {
            env.is_among_times(&value, member, || list.iter().all(is_fixed))?
        } else {
            env.order_among(by, &value, &arg.ty, member)?.map(std::cmp::Ordering::is_eq)
        };
        match equal {
            Some(true) => return Ok(Some(true)),
            Some(false) => {}
            // A parameter that is none of several days is another day.
            None if list.len() > 1 && is_unread_day(env, arg, member)? => {}
            None => unknown = true,
        }
    }
    Ok(if unknown { None } else { Some(false) })
}

/// Asks the list's set. `None`: there is none (yet).
fn look_up<'a>(env: &Env<'a>, node: &'a Expr, by: CompareAs, arg: &'a Expr, list: &'a [Expr]) -> Step<Option<Option<bool>>> {
    let mut lists = env.shared.rare().in_lists.lists.borrow_mut();
    let address = std::ptr::from_ref(node) as usize;
    let index = match lists.iter().position(|l| l.node == address) {
        Some(index) => index,
        None => {
            lists.push(InList { node: address, uses: 0, set: None });
            lists.len() - 1
        }
    };
    let entry = &mut lists[index];
    if entry.set.is_none() {
        entry.uses += 1;
        if entry.uses != USES_MIN || !list.iter().all(is_constant) {
            return Ok(None);
        }
        entry.set = ConstantSet::build(env, by, arg, list)?;
    }
    let Some(set) = &mut entry.set else { return Ok(None) };
    // The argument may hold another list; this one is put back after it is evaluated.
    let mut set = std::mem::replace(set, ConstantSet::empty(set.kind));
    drop(lists);
    let answer = set.probe(env, arg);
    env.shared.rare().in_lists.lists.borrow_mut()[index].set = Some(set);
    answer
}

/// Does the expression read neither a row nor a subquery?
pub fn is_fixed(expr: &Expr) -> bool {
    !expr.any(&|part| {
        use ExprKind::{Column, ColumnOrdinal, InsertValue, Slot, Subquery};
        matches!(part.kind, Column { .. } | ColumnOrdinal { .. } | InsertValue { .. } | Slot(_) | Subquery(_))
    })
}

/// Is it a parameter's text that is compared with a DATE?
fn is_unread_day<'a>(env: &Env<'a>, arg: &Expr, member: &'a Expr) -> Step<bool> {
    Ok(class(&arg.ty) == Class::Date && coerce::is_unread_date(&env.eval(member)?, &member.ty))
}

/// Does the expression have the same value for all rows of an execution, without side effects?
fn is_constant(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Param(_))
}

impl ConstantSet {
    fn empty(kind: KeyKind) -> Self {
        Self { kind, members: HashSet::default(), has_null: false, probe: Vec::new() }
    }

    /// `None` where values turn out to be of another kind than the plan thought, as parameters may.
    fn build<'a>(env: &Env<'a>, by: CompareAs, arg: &'a Expr, list: &'a [Expr]) -> Step<Option<Self>> {
        let kind = match by {
            // A text that is not a time is a member where it is written, and none where it is looked for.
            CompareAs::Time if !std::iter::once(arg).chain(list).all(|e| e.ty.kind == arg.ty.kind) => return Ok(None),
            // Parameters may have more digits than their type says; they are compared one by one.
            CompareAs::Decimal if list.iter().any(|m| matches!(m.kind, ExprKind::Param(_))) => return Ok(None),
            CompareAs::Decimal => {
                let widest = list.iter().max_by_key(|m| match m.ty.kind {
                    types::TypeKind::Decimal { scale, .. } => scale,
                    _ => 0,
                });
                KeyKind::of_comparison(by, &arg.ty, widest.map_or(&arg.ty, |m| &m.ty))
            }
            CompareAs::Double if matches!(class(&arg.ty), Class::Integer | Class::Decimal) => {
                match Self::scale_of_texts(env, arg, list)? {
                    Some(scale) => KeyKind::Decimal(scale),
                    None => return Ok(None),
                }
            }
            _ => KeyKind::of_comparison(by, &arg.ty, &arg.ty),
        };
        let mut set = Self::empty(kind);
        for member in list {
            let value = env.eval(member)?;
            let suits = match kind {
                KeyKind::Integer => coerce::is_integer_value(&value),
                KeyKind::Text(_) => matches!(value, types::Value::Bytes(_)),
                _ => true,
            };
            let is_null = kind == KeyKind::Temporal
                && class(&arg.ty) == Class::DateTime
                && coerce::is_unread_date(&value, &member.ty)
                && env.as_compared_datetime(&value, &member.ty)?.is_none();
            if is_null || matches!(value, types::Value::Null) {
                set.has_null = true;
                continue;
            }
            if !suits {
                return Ok(None);
            }
            let mut key = Vec::new();
            keys::encode(env, kind, &value, &member.ty, &mut key)?;
            set.members.insert(key.into());
        }
        Ok(Some(set))
    }

    /// The most digits behind the point that exact numbers and texts that are such have. `None`: there are others among the members.
    fn scale_of_texts<'a>(env: &Env<'a>, arg: &'a Expr, list: &'a [Expr]) -> Step<Option<u8>> {
        let mut most = coerce::declared_scale(&arg.ty);
        for member in list {
            match env.eval(member)? {
                types::Value::Null => {}
                value => match coerce::exact_number(&value) {
                    Some(number) => most = most.max(number.scale()),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(most))
    }

    fn probe<'a>(&mut self, env: &Env<'a>, arg: &'a Expr) -> Step<Option<Option<bool>>> {
        let value = env.eval(arg)?;
        if matches!(value, types::Value::Null) {
            return Ok(Some(None));
        }
        if self.kind == KeyKind::Integer && !coerce::is_integer_value(&value) {
            return Ok(None);
        }
        self.probe.clear();
        keys::encode(env, self.kind, &value, &arg.ty, &mut self.probe)?;
        let found = self.members.contains(self.probe.as_slice());
        Ok(Some(if found || !self.has_null { Some(found) } else { None }))
    }
}
