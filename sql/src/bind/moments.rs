//! Constants compared with dates: which are refused when the statement is bound, and which count as the zero date.
//!
//! A constant string that is not a date raises error 1525 where it is compared with a date, and 1292 in a strict INSERT,
//! UPDATE or DELETE. In IN lists and BETWEEN it counts as the zero date. Constant bytes beside text become text, or
//! raise 3854 if they are not valid text.

use super::compare::{Coercibility, Derivation};
use super::{Binder, compare};
use crate::ast;
use crate::error::{Error, Result};
use expr::{Class, CompareAs, CompareOp, Expr, ExprKind, class, is_fixed, typing};
use types::charset::Charset;
use types::{CollationId, ColumnType, TypeKind, Value};

/// The text of a literal as written.
pub(super) fn written_text<'t>(written: &ast::Expr<'t>) -> Option<&'t [u8]> {
    match written {
        ast::Expr::Literal(ast::Literal::String(text)) | ast::Expr::Lifted { literal: ast::Literal::String(text), .. } => {
            Some(text.bytes)
        }
        _ => None,
    }
}

impl Binder<'_> {
    /// 1525: a constant string that is not a date is compared with a date.
    pub(super) fn refuse_no_dates(&self, left: &Expr, right: &Expr) -> Result<()> {
        self.refuse_constant(left, right)?;
        self.refuse_constant(right, left)
    }

    /// Constant bytes beside a character string become text of its character set; 3854 if they are not valid.
    pub(super) fn bytes_as_text<'e>(&self, exprs: impl Iterator<Item = &'e mut Expr>, together: Derivation) -> Result<()> {
        if together.level >= Coercibility::Numeric {
            return Ok(());
        }
        let charset = together.collation.charset();
        if together.collation == CollationId::BINARY {
            // The bytes in the string's own character set, which differ from the stored UTF-8.
            let is_narrow = |expr: &&mut Expr| class(&expr.ty) == Class::String && Charset::of(expr.ty.collation).has_own_bytes();
            for expr in exprs.filter(is_narrow) {
                let bytes = typing::string(typing::kept_bytes(expr), CollationId::BINARY);
                *expr = super::operand::cast_to(expr.clone(), bytes);
            }
            return Ok(());
        }
        for expr in exprs.filter(|expr| expr.ty.is_binary_string()) {
            let computed;
            let bytes = match &expr.kind {
                ExprKind::Literal(Value::Bytes(bytes)) => &**bytes,
                _ if is_fixed(expr) => {
                    // NULL is valid in every character set.
                    let Some(text) = self.context.constant_text(expr) else { continue };
                    computed = text;
                    &computed
                }
                _ => continue,
            };
            let no_text = || Error::NoTextOf { bytes: bytes.to_vec(), charset };
            match Charset::of(together.collation) {
                charset if charset.has_own_bytes() => {
                    let text = charset.decode(bytes).ok_or_else(no_text)?.into_owned();
                    let ty = typing::string(types::collation::char_count(&text) as u64, together.collation);
                    *expr = Expr::literal(Value::Bytes(text.into()), ty);
                }
                _ if types::convert::invalid_utf8(bytes).is_some() => return Err(no_text()),
                _ => {}
            }
        }
        Ok(())
    }

    /// A value that is read at execution is checked then.
    pub(super) fn refuse_no_date(&self, text: Option<&[u8]>, other: &Expr) -> Result<()> {
        let kind = match class(&other.ty) {
            Class::Date => "DATE",
            Class::DateTime if !self.is_strict_change && matches!(other.ty.kind, TypeKind::Timestamp { .. }) => "TIMESTAMP",
            Class::DateTime => "DATETIME",
            _ => return Ok(()),
        };
        let rules = self.date_rules();
        let is_date =
            |text: &[u8]| types::temporal::parse_datetime(text).is_some_and(|moment| moment.value.date.check(rules).is_ok());
        let Some(text) = text.filter(|text| !is_date(text)) else { return Ok(()) };
        let value = String::from_utf8_lossy(text).into_owned();
        if !self.is_strict_change {
            return Err(Error::WrongLiteral { kind, value });
        }
        let column = match other.kind {
            ExprKind::Column { source, column } => {
                self.sources.get(source).and_then(|source| source.table.columns.get(column)).map(|column| column.name.clone())
            }
            _ => None,
        };
        Err(Error::NoDate { kind, value, column })
    }

    fn refuse_constant(&self, constant: &Expr, date: &Expr) -> Result<()> {
        if !matches!(class(&date.ty), Class::Date | Class::DateTime) || class(&constant.ty) != Class::String {
            return Ok(());
        }
        match &constant.kind {
            ExprKind::Literal(Value::Bytes(text)) => self.refuse_no_date(Some(text), date),
            ExprKind::Literal(_) | ExprKind::Param(_) => Ok(()),
            _ if is_fixed(constant) => self.refuse_no_date(self.context.constant_text(constant).as_deref(), date),
            _ => Ok(()),
        }
    }
}

impl Binder<'_> {
    /// A predicate of WHERE. `d IS NULL` also finds the zero date if `d` is a DATE or DATETIME column declared NOT NULL
    /// (MySQL's manual, "IS NULL"), beside the NULLs of an outer join.
    pub(super) fn finding_zero_dates(&self, condition: Expr) -> Expr {
        use ExprKind as K;
        let K::IsNull { arg, negated: false } = &condition.kind else { return condition };
        let K::Column { source, column } = arg.kind else { return condition };
        let zero = match arg.ty.kind {
            TypeKind::Date => Value::Date(types::Date::default()),
            TypeKind::DateTime { .. } => Value::DateTime(types::DateTime::default()),
            _ => return condition,
        };
        let declared = self.sources.get(source).and_then(|source| source.table.columns.get(column));
        if declared.is_none_or(|declared| declared.nullable) {
            return condition;
        }
        let right = Box::new(Expr::literal(zero, ColumnType::new(arg.ty.kind.clone())));
        let kind = K::Compare { op: CompareOp::Equal, by: CompareAs::Temporal, left: arg.clone(), right };
        let is_zero = Expr { kind, ty: condition.ty.clone(), nullable: arg.nullable };
        if !arg.nullable {
            return is_zero;
        }
        Expr { kind: K::Or(vec![is_zero, condition.clone()]), ty: condition.ty, nullable: true }
    }
}

/// Is this a list of strings and dates that is compared with a string? Then all are compared as dates, and a member
/// that is not a date is the zero date. In a list of literals without a DATETIME, a string that is not a date is removed,
/// because it equals nothing.
pub(super) fn keep_dates(arg: &Expr, members: &mut Vec<Expr>) -> bool {
    let is = |expr: &Expr, wanted: &[Class]| wanted.contains(&class(&expr.ty));
    let are_literals = members.iter().all(|m| matches!(m.kind, ExprKind::Literal(_)));
    let are_dates = members.iter().all(|m| is(m, &[Class::String, Class::Date, Class::DateTime, Class::Null]));
    let has_date = members.iter().any(|m| is(m, &[Class::Date, Class::DateTime]));
    if !(is(arg, &[Class::String]) && members.len() > 1 && are_dates && has_date) {
        return false;
    }
    if are_literals && !members.iter().any(|m| is(m, &[Class::DateTime])) {
        members.retain(|m| match &m.kind {
            ExprKind::Literal(Value::Bytes(text)) => types::temporal::parse_datetime(text).is_some(),
            _ => true,
        });
    }
    true
}

/// Is a string compared as a time with several list members, one of which is a time?
pub(super) fn compares_times(arg: &Expr, members: &[Expr]) -> bool {
    let is = |expr: &Expr, wanted: &[Class]| wanted.contains(&class(&expr.ty));
    members.len() > 1
        && is(arg, &[Class::String])
        && members.iter().all(|m| is(m, &[Class::String, Class::Time, Class::Null]))
        && members.iter().any(|m| is(m, &[Class::Time]))
}

/// In a list of several constants a number becomes the date and time that it stands for, or the zero date if it stands for none. Strings
/// do the same.
pub(super) fn number_as_moment(member: &mut Expr) {
    let is_number = matches!(class(&member.ty), Class::Integer | Class::Decimal | Class::Double);
    let ExprKind::Literal(number) = &member.kind else { return };
    if is_number && !compare::is_date_constant(member) {
        let moment = types::convert::number_as_datetime(number).unwrap_or_default();
        let fsp = if moment.micros == 0 { 0 } else { 6 };
        *member = Expr::literal(Value::DateTime(moment), ColumnType::new(TypeKind::DateTime { fsp }));
    }
}

/// In a list, a value that is not a date is compared as the zero date and raises no error.
pub(super) fn compare_leniently(condition: &mut Expr) {
    if let ExprKind::Compare { op: CompareOp::Equal, by: by @ CompareAs::Temporal, left, right } = &condition.kind {
        let (arg, list) = (left.clone(), vec![(**right).clone()]);
        condition.kind = ExprKind::In { arg, list, by: *by, negated: false };
    }
}

/// Are these strings and dates, at least one of each, and nothing else?
pub(super) fn is_text_beside_date(exprs: &[&Expr]) -> bool {
    let is = |kind: &dyn Fn(Class) -> bool| exprs.iter().filter(|expr| kind(class(&expr.ty))).count();
    let (texts, dates) = (is(&|c| c == Class::String), is(&|c| matches!(c, Class::Date | Class::DateTime)));
    texts > 0 && dates > 0 && texts + dates + is(&|c| c == Class::Time) == exprs.len()
}
