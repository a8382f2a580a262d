//! IF, IFNULL, NULLIF, COALESCE, ISNULL, ANY_VALUE.

use super::row::{ANY, Null, Parameters, Places, functions, named};
use super::rules;
use crate::coerce;
use crate::eval::{Env, Evaluated};
use crate::tree::{CompareOp, Expr};
use crate::typing;
use types::Value;

functions! {
    Control;

    IF = named(&[("IF", 3, 3)]).typed(|_, args, collation| Ok(typing::unify(args[1..].iter(), collation))).null(Null::From(1))
        .parameters(Parameters::Choice(1)).texts(Places::from(1)).chooses()
        => |env, node, args| env.eval_as(if env.is_true(&args[0])? { &args[1] } else { &args[2] }, &node.ty);
    IFNULL = named(&[("IFNULL", 2, 2)]).typed(rules::common).null(Null::AllArguments).parameters(Parameters::Choice(0)).chooses()
        => coalesce;
    NULLIF = named(&[("NULLIF", 2, 2)]).typed(rules::bigint).compares() => null_if;
    COALESCE = named(&[("COALESCE", 1, ANY)]).typed(rules::common).null(Null::AllArguments).parameters(Parameters::Choice(0))
        .chooses()
        => coalesce;
    ISNULL = named(&[("ISNULL", 1, 1)]).typed(rules::bigint)
        => |env, _, args| Ok(Value::Int(matches!(env.eval(&args[0])?, Value::Null).into()));
    ANY_VALUE = named(&[("ANY_VALUE", 1, 1)]).typed(rules::bigint) => |env, _, args| env.eval(&args[0]);
}

fn coalesce<'a>(env: &Env<'a>, node: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    for arg in args {
        let value = env.eval_to_scale(arg, &node.ty)?;
        if !matches!(value, Value::Null) {
            return Ok(value);
        }
    }
    Ok(Value::Null)
}

fn null_if<'a>(env: &Env<'a>, node: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let by = coerce::compare_as(&args[0].ty, &args[1].ty);
    if env.compare(CompareOp::Equal, by, &args[0], &args[1])? == Some(true) {
        return Ok(Value::Null);
    }
    env.eval_as(&args[0], &node.ty)
}
