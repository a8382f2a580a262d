//! The types of parameters: a parameter takes the type of the expression beside it, or the type of its value (`param`).

use super::Binder;
use crate::error::{Error, Result};
use crate::param::{ParamKind, ParamUse, has_fraction, has_time};
use crate::plan::BindContext;
use expr::{Class, Expr, ExprKind, Function, class, typing};
use types::{ColumnType, TypeKind, Value};

/// The number of a parameter whose type may still change.
fn open(context: &dyn BindContext, expr: &Expr) -> Option<usize> {
    let ExprKind::Param(index) = expr.kind else { return None };
    let is_open = expr.ty.kind == TypeKind::Null || context.param_use(index).is_some_and(ParamUse::is_open);
    is_open.then_some(index)
}

/// Is it such a parameter, or IF, CASE and the like with such a parameter among its values?
fn is_open(context: &dyn BindContext, expr: &Expr) -> bool {
    open(context, expr).is_some() || is_open_choice(context, expr)
}

/// Is it IF, CASE or the like, all of whose values are parameters with open types?
fn is_open_choice(context: &dyn BindContext, expr: &Expr) -> bool {
    let values = chosen(expr);
    !values.is_empty() && values.iter().all(|value| is_open(context, value))
}

/// The values of which IF, CASE and the like return one.
fn chosen(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Call { function: Function::IF, args } => args[1..].iter().collect(),
        ExprKind::Call { function: Function::IFNULL | Function::COALESCE, args } => args.iter().collect(),
        ExprKind::Case { whens, otherwise } => whens.iter().map(|(_, value)| value).chain(otherwise.as_deref()).collect(),
        _ => Vec::new(),
    }
}

fn chosen_mut(expr: &mut Expr) -> Vec<&mut Expr> {
    match &mut expr.kind {
        ExprKind::Call { function: Function::IF, args } => args[1..].iter_mut().collect(),
        ExprKind::Call { function: Function::IFNULL | Function::COALESCE, args } => args.iter_mut().collect(),
        ExprKind::Case { whens, otherwise } => whens.iter_mut().map(|(_, value)| value).chain(otherwise.as_deref_mut()).collect(),
        _ => Vec::new(),
    }
}

/// Gives a parameter this type. Beside ENUM, SET or JSON it becomes a string.
fn give(param: &mut Expr, ty: &ColumnType) {
    param.ty = match ty.kind {
        TypeKind::Enum { .. } | TypeKind::Set { .. } | TypeKind::Json => typing::string(typing::string_length(ty), ty.collation),
        _ => ty.clone(),
    };
}

/// Gives a parameter the type of the expression that it is compared with, if its value converts to that type.
pub(super) fn adopt(context: &dyn BindContext, param: &mut Expr, ty: &ColumnType) {
    let Some(index) = open(context, param) else { return };
    let other = ParamKind::of_type(ty);
    if other != ParamKind::Null && ParamKind::of_type(&param.ty).meets(other) {
        give(param, ty);
        context.note_param(index, ParamUse::Meets(other));
    }
}

/// Gives a parameter the type of its target, which converts values of all types.
pub(super) fn adopt_place(context: &dyn BindContext, param: &mut Expr, ty: &ColumnType) {
    if let Some(index) = open(context, param) {
        give(param, ty);
        context.note_param(index, ParamUse::Any);
    }
}

/// The value of a parameter that counts rows (LIMIT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// An integer that is not negative, or a value that is not known yet.
    Good,
    Null,
    Negative,
}

/// Makes a parameter that counts rows an integer.
///
/// # Errors
/// 1210: it has a value of another kind.
pub(super) fn adopt_count(context: &dyn BindContext, param: &mut Expr) -> Result<Count> {
    let Some(index) = open(context, param) else { return Ok(Count::Good) };
    give(param, &typing::bigint(true));
    context.note_param(index, ParamUse::Count);
    Ok(match context.param_given(index) {
        None | Some(Value::UInt(_)) => Count::Good,
        Some(Value::Int(n)) if *n >= 0 => Count::Good,
        Some(Value::Int(_)) => Count::Negative,
        Some(Value::Null) => Count::Null,
        Some(_) => return Err(Error::WrongArguments("EXECUTE".to_owned())),
    })
}

/// Gives a parameter whose value is not known yet a preliminary type.
pub(super) fn adopt_for_now(context: &dyn BindContext, param: &mut Expr, ty: &ColumnType) {
    if param.ty.kind == TypeKind::Null
        && let Some(index) = open(context, param)
    {
        give(param, ty);
        context.note_param(index, ParamUse::Of(ParamKind::of_type(&param.ty)));
    }
}

/// Binds a parameter as a number of the `wanted` kind; decimals with all digits of their type.
pub(super) fn adopt_number(context: &dyn BindContext, param: &mut Expr, wanted: ParamKind) {
    let is_open = open(context, param).is_some();
    take_as_number(context, param, wanted);
    if is_open && class(&param.ty) == Class::Decimal {
        super::fraction_digits::filled_value(param);
    }
}

/// Binds a parameter that is compared with stored values of this type. A number stays the number that it is.
pub(super) fn adopt_kept(context: &dyn BindContext, param: &mut Expr, ty: &ColumnType) {
    if let Some(wanted) = number_kind(ty) {
        adopt_number(context, param, wanted);
    }
}

/// The kind of number of a type; `None`: the type is not numeric.
fn number_kind(ty: &ColumnType) -> Option<ParamKind> {
    match class(ty) {
        Class::Integer => Some(ParamKind::Int),
        Class::Decimal => Some(ParamKind::Decimal),
        Class::Double => Some(ParamKind::Double),
        _ => None,
    }
}

/// Binds a parameter as a number; a string is classified by its digits.
fn take_as_number(context: &dyn BindContext, param: &mut Expr, wanted: ParamKind) {
    let Some(index) = open(context, param) else { return };
    let own = ParamKind::of_type(&param.ty);
    let taken = own.as_number(wanted, || context.param_given(index).is_some_and(has_fraction));
    context.note_param(index, ParamUse::Number(wanted, taken));
    if own != taken {
        param.ty = taken.column_type();
    }
}

/// Binds a parameter to which an interval is added. `days`: the interval has no unit below a day.
pub(super) fn adopt_moment(context: &dyn BindContext, param: &mut Expr, days: bool) {
    let Some(index) = open(context, param) else { return };
    let taken = ParamKind::of_type(&param.ty).as_moment(days, || context.param_given(index).is_some_and(has_time));
    param.ty = taken.column_type();
    context.note_param(index, ParamUse::Moment(days, taken));
}

/// Binds parameters on both sides of an operator.
pub(super) fn adopt_operands(context: &dyn BindContext, left: &mut Expr, right: &mut Expr) {
    let wanted = |other: &Expr| number_kind(&other.ty).unwrap_or(ParamKind::Double);
    let (of_left, of_right) = match (open(context, left).is_some(), open(context, right).is_some()) {
        (true, true) => (ParamKind::Double, ParamKind::Double),
        (true, false) => (wanted(right), ParamKind::Null),
        (false, true) => (ParamKind::Null, wanted(left)),
        (false, false) => return,
    };
    for (side, wanted) in [(left, of_left), (right, of_right)] {
        if wanted == ParamKind::Null {
            continue;
        }
        adopt_number(context, side, wanted);
    }
}

impl Binder<'_> {
    /// Binds parameters among the values of IF, CASE and the like; `otherwise` is the type if no other value has one.
    pub(super) fn adopt_choice<'e>(&self, values: impl Iterator<Item = &'e mut Expr>, otherwise: &ColumnType) {
        let (mut params, mut known) = (Vec::new(), None);
        for value in values {
            match is_open(self.context, value) {
                true => params.push(value),
                false if value.ty.kind != TypeKind::Null => known = known.or(Some(value.ty.clone())),
                false => {}
            }
        }
        for param in params {
            match &known {
                Some(ty) => self.adopt_chosen(param, ty),
                None => adopt_for_now(self.context, param, otherwise),
            }
        }
    }

    /// Binds a parameter as a value of the type of the other choices. Beside numbers, each parameter of a nested choice
    /// is bound too, except integers.
    fn adopt_chosen(&self, param: &mut Expr, ty: &ColumnType) {
        if is_open_choice(self.context, param) {
            if number_kind(ty).is_none() {
                return;
            }
            let collation = param.ty.collation;
            let values = chosen_mut(param).into_iter().filter(|value| class(&value.ty) != Class::Integer);
            values.for_each(|value| self.adopt_chosen(value, ty));
            param.ty = typing::unify(chosen(param).into_iter(), collation);
            return;
        }
        if let Some(wanted) = number_kind(ty) {
            return take_as_number(self.context, param, wanted);
        }
        let wanted = match class(ty) {
            Class::Date | Class::DateTime | Class::Time => ParamKind::of_type(ty),
            _ => return adopt_for_now(self.context, param, ty),
        };
        let Some(index) = open(self.context, param) else { return };
        if ParamKind::of_type(&param.ty).is_chosen(wanted) {
            *param = super::operand::cast_to(param.clone(), wanted.column_type());
            self.context.note_param(index, ParamUse::Chosen(wanted));
        }
    }

    /// Binds a parameter as a TIME.
    pub(super) fn adopt_time(&self, param: &mut Expr) {
        if open(self.context, param).is_some() {
            self.adopt_chosen(param, &ParamKind::Time.column_type());
        }
    }
}
