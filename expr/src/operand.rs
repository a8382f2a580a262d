//! An expression's value where a number, bits, a date or a time is wanted.
//!
//! IF and CASE hand the wish on: a number, date or time is read from what they choose, whatever the type that all branches have together.
//! So `IF(1, DATE'2024-01-31', 'a') + 0` is 20240131, where the text of it would be 2024.

use crate::coerce;
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::func::Function;
use crate::tree::{Expr, ExprKind, SubqueryTest, UnaryOp};
use std::borrow::Cow;
use types::{ColumnType, TypeKind, Value};

/// Is it the text of a subquery? That becomes a number without a warning, as in MySQL, which has it in a cache.
#[inline]
fn is_cached_text(expr: &Expr, value: &Value<'_>) -> bool {
    matches!((value, &expr.kind), (Value::Bytes(_), ExprKind::Subquery(subquery)) if matches!(subquery.test, SubqueryTest::Value { .. }))
}

impl<'a> Env<'a> {
    /// What IF and CASE choose, down to what does not choose; `None`: a CASE chooses nothing.
    #[inline]
    pub fn chosen(&self, expr: &'a Expr) -> Step<Option<&'a Expr>> {
        match &expr.kind {
            ExprKind::Case { .. } | ExprKind::Call { function: Function::IF, .. } => self.chosen_branch(expr),
            _ => Ok(Some(expr)),
        }
    }

    fn chosen_branch(&self, expr: &'a Expr) -> Step<Option<&'a Expr>> {
        let chosen = match &expr.kind {
            ExprKind::Case { whens, otherwise } => {
                let mut chosen = otherwise.as_deref();
                for (condition, value) in whens {
                    if self.is_true(condition)? {
                        chosen = Some(value);
                        break;
                    }
                }
                chosen
            }
            ExprKind::Call { function: Function::IF, args } => Some(if self.is_true(&args[0])? { &args[1] } else { &args[2] }),
            _ => return Ok(Some(expr)),
        };
        chosen.map_or(Ok(None), |branch| self.chosen_branch(branch))
    }

    /// What is chosen and its value.
    #[inline]
    pub fn operand(&self, expr: &'a Expr) -> Step<(Value<'a>, &'a Expr)> {
        Ok(match self.chosen(expr)? {
            Some(chosen) => (self.eval(chosen)?, chosen),
            None => (Value::Null, expr),
        })
    }

    /// Converts a value of `expr` to a number.
    #[inline]
    pub fn converting<T>(&self, expr: &Expr, value: &Value<'_>, convert: impl FnOnce() -> Step<T>) -> Step<T> {
        if is_cached_text(expr, value) { self.quietly(convert) } else { convert() }
    }

    #[cold]
    fn quietly<T>(&self, convert: impl FnOnce() -> Step<T>) -> Step<T> {
        let session = self.session();
        let before = session.row_warnings.get();
        let converted = self.shared.strictly(false, convert);
        let new = session.row_warnings.replace(before) - before;
        session.warnings.borrow_mut().drop_last(new);
        converted
    }

    /// As an integer, rounded; a text is read up to the first character that is not a digit, with a warning.
    pub fn integer(&self, expr: &'a Expr) -> Step<Option<i128>> {
        let (value, expr) = self.operand(expr)?;
        match value {
            Value::Null => Ok(None),
            Value::Int(n) => Ok(Some(n.into())),
            // 0x41 and b'1' are numbers where numbers are wanted.
            Value::Bytes(bytes) if coerce::is_bits_literal(&expr.ty) => Ok(Some(self.number_of_bits(&bytes)?.into())),
            Value::Double(x) => {
                self.check_bigint(expr, x)?;
                self.as_integer(&Value::Double(x)).map(Some)
            }
            other => {
                let other = self.plain_number(other, &expr.ty)?;
                self.converting(expr, &other, || self.as_integer(&other)).map(Some)
            }
        }
    }

    /// A computed DOUBLE has an integer only within BIGINT: 1690. Others are cut to it.
    pub fn check_bigint(&self, expr: &Expr, x: f64) -> Step<()> {
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        let is_computed = match &expr.kind {
            ExprKind::Arithmetic { .. } | ExprKind::Unary { op: UnaryOp::Negate, .. } => true,
            // What is written with a sign.
            ExprKind::Literal(_) => x < 0.0,
            _ => false,
        };
        if is_computed && !(-LIMIT..LIMIT).contains(&x) {
            return Err(Error::OutOfRange { what: "BIGINT", expression: self.print(expr) }.into());
        }
        Ok(())
    }

    pub fn double(&self, expr: &'a Expr) -> Step<Option<f64>> {
        let (value, expr) = self.operand(expr)?;
        match value {
            Value::Null => Ok(None),
            other => {
                let other = self.plain_number(other, &expr.ty)?;
                self.converting(expr, &other, || self.as_double(&other)).map(Some)
            }
        }
    }

    pub fn decimal(&self, expr: &'a Expr) -> Step<Option<types::Decimal>> {
        let (value, expr) = self.operand(expr)?;
        match value {
            Value::Null => Ok(None),
            Value::Decimal(number) => Ok(Some(number)),
            other => {
                let other = self.plain_number(other, &expr.ty)?;
                self.converting(expr, &other, || self.as_decimal(&other)).map(Some)
            }
        }
    }

    /// An operand of decimal arithmetic, with the digits behind the point that its type has where its value may have fewer: a time has, and
    /// what is chosen.
    pub fn decimal_operand(&self, declared: &'a Expr) -> Step<Option<types::Decimal>> {
        let (value, expr) = self.operand(declared)?;
        if value.is_null() {
            return Ok(None);
        }
        let digits = match declared.ty.kind {
            TypeKind::Time { fsp } | TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => fsp,
            TypeKind::Decimal { scale, .. } if !std::ptr::eq(declared, expr) => scale,
            _ => 0,
        };
        let number = self.converting(expr, &value, || self.as_decimal(&value))?;
        Ok(Some(if number.scale() < digits { number.rescale(digits).unwrap_or(number) } else { number }))
    }

    /// As a number of the kind it has: integers, decimals and doubles stay; temporal values become integers or decimals, texts
    /// doubles.
    pub fn number(&self, expr: &'a Expr) -> Evaluated<'a> {
        let (value, expr) = self.operand(expr)?;
        let value = self.plain_number(value, &expr.ty)?;
        if is_cached_text(expr, &value) { self.quietly(|| self.as_number(value)) } else { self.as_number(value) }
    }

    /// A document as the number or text that it is, 0 with a warning where it is neither; other values stay.
    pub fn plain_number(&self, value: Value<'a>, ty: &ColumnType) -> Evaluated<'a> {
        if value.is_null() || !coerce::is_document(ty) {
            return Ok(value);
        }
        Ok(match self.plain(value, ty) {
            Value::Null | Value::Date(_) | Value::Time(_) | Value::DateTime(_) => {
                self.problem(Error::InvalidDocument { what: "DOUBLE", column: String::new(), row: 1 })?;
                Value::Int(0)
            }
            plain => plain,
        })
    }

    /// As 64 bits: negative numbers in two's complement.
    pub fn bits(&self, expr: &'a Expr) -> Step<Option<u64>> {
        let (value, expr) = self.operand(expr)?;
        Ok(match value {
            Value::Null => None,
            Value::Int(n) => Some(n as u64),
            Value::Bytes(bytes) if coerce::is_bits_literal(&expr.ty) => Some(self.number_of_bits(&bytes)?),
            Value::Double(x) => {
                self.check_bigint(expr, x)?;
                Some(self.as_bits(&Value::Double(x))?)
            }
            other => {
                let other = self.plain_number(other, &expr.ty)?;
                Some(self.converting(expr, &other, || self.as_bits(&other))?)
            }
        })
    }

    /// A number as 64 bits. Doubles and decimals end at the signed bounds.
    pub fn as_bits(&self, value: &Value<'_>) -> Step<u64> {
        let integer = match value {
            Value::Double(x) => (x.round_ties_even() as i64).into(),
            Value::Decimal(number) => {
                let rounded = types::convert::round_to_integer(value);
                let within = rounded.clamp(i64::MIN.into(), i64::MAX.into());
                if within != rounded {
                    self.problem(Error::TruncatedWrongValue { what: "DECIMAL", value: number.to_string() })?;
                }
                within
            }
            value => self.as_integer(value)?,
        };
        Ok(coerce::wrap_bits(integer))
    }

    /// The number that a hexadecimal literal is; more than eight bytes are none.
    pub fn number_of_bits(&self, bytes: &[u8]) -> Step<u64> {
        if bytes.len() <= size_of::<u64>() {
            return Ok(coerce::bits_of(bytes));
        }
        let digits = bytes.iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"));
        self.problem(Error::TruncatedWrongValue { what: "BINARY", value: format!("x'{digits}'") })?;
        Ok(0)
    }

    /// The value where a date or time is asked for: a column of YEAR is the year's first day, one of BIT its bytes, and the text that DATE_ADD
    /// makes the moment that it is.
    #[inline]
    pub fn moment(&self, expr: &'a Expr) -> Evaluated<'a> {
        let (value, expr) = self.operand(expr)?;
        self.moment_of(value, expr)
    }

    fn moment_of(&self, value: Value<'a>, expr: &'a Expr) -> Evaluated<'a> {
        use Function as F;
        if let (ExprKind::Call { function: F::DATE_ADD | F::DATE_SUB | F::TIMESTAMPADD, .. }, Value::Bytes(_)) =
            (&expr.kind, &value)
        {
            return Ok(self.as_datetime(&value)?.map_or(Value::Null, Value::DateTime));
        }
        // The text of a sum of times is a time, not a date with two-digit parts.
        if let (ExprKind::Call { function: F::ADDTIME | F::SUBTIME, .. }, Value::Bytes(text)) = (&expr.kind, &value)
            && !text.contains(&b' ')
        {
            return Ok(self.as_time(&value)?.map_or(Value::Null, Value::Time));
        }
        let (true, Some(n)) = (matches!(expr.kind, ExprKind::Column { .. }), coerce::plain_integer(&value)) else {
            return Ok(self.plain(value, &expr.ty));
        };
        Ok(match expr.ty.kind {
            TypeKind::Year => Value::Date(types::Date { year: n as u16, month: 1, day: 1 }),
            TypeKind::Bit { length } => {
                let bytes = (n as u64).to_be_bytes();
                Value::Bytes(Cow::Owned(bytes[8 - usize::from(length).div_ceil(8)..].to_vec()))
            }
            _ => value,
        })
    }

    /// The same where a date is wanted: of documents dates and texts of dates alone are some.
    pub fn date_moment(&self, expr: &'a Expr) -> Evaluated<'a> {
        let is_date = |value: &Value<'_>| match value {
            Value::Date(_) | Value::DateTime(_) => true,
            Value::Bytes(text) => types::temporal::parse_datetime(text).is_some(),
            _ => false,
        };
        self.moment_where(expr, "DATETIME/TIMESTAMP", is_date)
    }

    /// The value where a moment is wanted; of a document NULL with a warning, where it is not what is wanted.
    fn moment_where(&self, expr: &'a Expr, what: &'static str, is_wanted: impl Fn(&Value<'_>) -> bool) -> Evaluated<'a> {
        let (value, expr) = self.operand(expr)?;
        if value.is_null() || !coerce::is_document(&expr.ty) {
            return self.moment_of(value, expr);
        }
        let plain = self.plain(value, &expr.ty);
        if !is_wanted(&plain) {
            self.problem(Error::InvalidDocument { what, column: String::new(), row: 1 })?;
            return Ok(Value::Null);
        }
        Ok(plain)
    }

    pub fn datetime(&self, expr: &'a Expr) -> Step<Option<types::DateTime>> {
        self.as_datetime(&self.date_moment(expr)?)
    }

    /// A date of which some parts may be zero: for functions that take parts of dates.
    pub fn loose_datetime(&self, expr: &'a Expr) -> Step<Option<types::DateTime>> {
        self.as_loose_datetime(&self.date_moment(expr)?)
    }

    pub fn time(&self, expr: &'a Expr) -> Step<Option<types::Time>> {
        self.as_time(&self.time_moment(expr)?)
    }

    /// The value where a time is wanted: of documents times and texts of times alone are some.
    pub fn time_moment(&self, expr: &'a Expr) -> Evaluated<'a> {
        let is_time = |value: &Value<'_>| match value {
            Value::Time(_) => true,
            Value::Bytes(text) => !types::temporal::parse_time(text).truncated,
            _ => false,
        };
        self.moment_where(expr, "TIME", is_time)
    }
}
