//! IF, IFNULL, NULLIF, COALESCE, ISNULL, ANY_VALUE.

use crate::coerce;
use crate::eval::{Env, Evaluated};
use crate::func::Function;
use crate::tree::{CompareOp, Expr};
use types::Value;

/// Computes one of the control functions; values come in the representation of the node's type.
pub(super) fn call<'a>(env: &Env<'a>, function: Function, node: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    match function {
        Function::If => env.eval_as(if env.is_true(&args[0])? { &args[1] } else { &args[2] }, &node.ty),
        Function::IfNull | Function::Coalesce => {
            for arg in args {
                let value = env.eval_to_scale(arg, &node.ty)?;
                if !matches!(value, Value::Null) {
                    return Ok(value);
                }
            }
            Ok(Value::Null)
        }
        Function::NullIf => {
            let by = coerce::compare_as(&args[0].ty, &args[1].ty);
            if env.compare(CompareOp::Equal, by, &args[0], &args[1])? == Some(true) {
                return Ok(Value::Null);
            }
            env.eval_as(&args[0], &node.ty)
        }
        Function::IsNull => Ok(Value::Int(matches!(env.eval(&args[0])?, Value::Null).into())),
        Function::AnyValue => env.eval(&args[0]),
        _ => unreachable!("{function:?} is not a control function"),
    }
}
