//! The assumptions of a plan about the parameters of a prepared statement.
//!
//! A `?` has the type of the expression that it is combined with, if values of other types convert to that type.
//! Otherwise it has the type of its value, which is known at execution. Binding notes the use of each `?`
//! ([`ParamUse`]). A plan serves an execution whose values satisfy these notes ([`Params::serve`]); for other values
//! the statement is bound again.

use expr::{Class, class};
use types::{ColumnType, TypeKind, Value};

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    Null,
    Int,
    UInt,
    Decimal,
    Double,
    Text,
    Date,
    Time,
    DateTime,
}

/// The assumption of the plan about a `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamUse {
    /// Values of all kinds are read alike.
    Any,
    /// A number of rows: an integer that is not negative. NULL and other values are checked when the statement is
    /// bound.
    Count,
    /// It is compared with this.
    Meets(ParamKind),
    /// A choice that is a date or time; strings and numbers are converted.
    Chosen(ParamKind),
    /// An operand where a number of the first kind is required, bound as one of the second kind.
    Number(ParamKind, ParamKind),
    /// A date that whole days (or months) are added to, or any moment that hours are; taken for one of this kind.
    Moment(bool, ParamKind),
    /// It has the type of its value.
    Of(ParamKind),
}

/// The notes of all parameters, by number.
#[derive(Clone, Debug, Default)]
pub struct Params(Vec<ParamUse>);

impl ParamKind {
    #[inline]
    pub fn of(value: &Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Int(_) => Self::Int,
            Value::UInt(_) => Self::UInt,
            Value::Decimal(_) => Self::Decimal,
            Value::Double(_) => Self::Double,
            Value::Bytes(_) => Self::Text,
            Value::Date(_) => Self::Date,
            Value::Time(_) => Self::Time,
            Value::DateTime(_) => Self::DateTime,
        }
    }

    pub(crate) fn of_type(ty: &ColumnType) -> Self {
        match class(ty) {
            Class::Null => Self::Null,
            Class::Integer if ty.unsigned => Self::UInt,
            Class::Integer => Self::Int,
            Class::Decimal => Self::Decimal,
            Class::Double => Self::Double,
            Class::String | Class::Json => Self::Text,
            Class::Date => Self::Date,
            Class::Time => Self::Time,
            Class::DateTime => Self::DateTime,
        }
    }

    /// A type that holds every value of the kind.
    pub fn column_type(self) -> ColumnType {
        ColumnType::new(match self {
            Self::Null => TypeKind::Null,
            Self::Int => TypeKind::BigInt,
            Self::UInt => return ColumnType::unsigned(TypeKind::BigInt),
            Self::Double => TypeKind::Double,
            Self::Decimal => TypeKind::Decimal { precision: 65, scale: 30 },
            Self::Text => TypeKind::VarChar { length: 16_383 },
            Self::Date => TypeKind::Date,
            Self::Time => TypeKind::Time { fsp: 6 },
            Self::DateTime => TypeKind::DateTime { fsp: 6 },
        })
    }

    /// Does a comparison with the other kind read it alike, whether it has that kind or its own?
    pub(crate) fn meets(self, other: Self) -> bool {
        use ParamKind as K;
        match other {
            K::Int | K::UInt | K::Decimal | K::Double => true,
            K::Null => self == K::Null,
            K::Text => matches!(self, K::Null | K::Text),
            K::Time => self != K::Date,
            K::Date | K::DateTime => self != K::Time,
        }
    }

    /// May it be bound as a date or time of this kind, as one of several choices?
    pub(crate) fn is_chosen(self, wanted: Self) -> bool {
        !matches!(self, Self::Date | Self::Time | Self::DateTime) || self == wanted
    }

    /// The kind as which it is bound where a number of the `wanted` kind is required. A string is classified by its
    /// digits.
    pub(crate) fn as_number(self, wanted: Self, has_fraction: impl Fn() -> bool) -> Self {
        use ParamKind as K;
        match (self, wanted) {
            (K::Null, _) => wanted,
            (K::Date | K::Time | K::DateTime, _) => self,
            (_, K::Double) | (K::Double, _) => K::Double,
            (_, K::Decimal) => K::Decimal,
            (K::Text | K::Decimal, _) if has_fraction() => K::Decimal,
            (K::Text | K::Decimal, _) => K::Int,
            (own, _) => own,
        }
    }

    /// The kind as which it is bound where an interval is added. `days`: the interval has no unit below a day.
    pub(crate) fn as_moment(self, days: bool, has_time: impl Fn() -> bool) -> Self {
        use ParamKind as K;
        match self {
            K::Time | K::DateTime => self,
            K::Null | K::Date if days => K::Date,
            _ if days && !has_time() => K::Date,
            _ => K::DateTime,
        }
    }
}

impl ParamUse {
    /// May its type still change?
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Of(_))
    }

    #[inline]
    fn serves(self, value: &Value<'_>) -> bool {
        let kind = ParamKind::of(value);
        if self == Self::Count {
            return matches!(value, Value::UInt(_)) || matches!(value, Value::Int(n) if *n >= 0);
        }
        kind == ParamKind::Null
            || match self {
                Self::Any | Self::Count => true,
                Self::Meets(other) => kind.meets(other),
                Self::Chosen(wanted) => kind.is_chosen(wanted),
                Self::Number(wanted, taken) => kind.as_number(wanted, || has_fraction(value)) == taken,
                Self::Moment(days, taken) => kind.as_moment(days, || has_time(value)) == taken,
                Self::Of(own) => kind == own,
            }
    }
}

impl Params {
    pub fn get(&self, index: usize) -> Option<ParamUse> {
        self.0.get(index).copied()
    }

    pub fn note(&mut self, index: usize, usage: ParamUse) {
        if self.0.len() <= index {
            self.0.resize(index + 1, ParamUse::Any);
        }
        self.0[index] = usage;
    }

    /// Is the plan one for these values?
    #[inline]
    pub fn serve(&self, values: &[Value<'_>]) -> bool {
        self.0.iter().zip(values).all(|(usage, value)| usage.serves(value))
    }
}

/// Is it a number with a fraction or an exponent?
pub(crate) fn has_fraction(value: &Value<'_>) -> bool {
    match value {
        Value::Decimal(_) => true,
        Value::Bytes(bytes) => std::str::from_utf8(bytes).is_ok_and(|text| {
            let text = text.trim();
            text.contains(['.', 'e', 'E']) && !text.contains(['n', 'N', 'i', 'I']) && text.parse::<f64>().is_ok()
        }),
        _ => false,
    }
}

/// Has the text, or number, of a date a time of day in it?
pub(crate) fn has_time(value: &Value<'_>) -> bool {
    const DAYS_END: f64 = 1e8;
    match value {
        Value::Bytes(text) => {
            let numbers = text.split(|b| !b.is_ascii_digit()).filter(|digits| !digits.is_empty()).count();
            if numbers == 1 { text.trim_ascii().len() > 8 } else { numbers > 3 }
        }
        Value::Int(n) => *n as f64 >= DAYS_END,
        Value::UInt(n) => *n as f64 >= DAYS_END,
        Value::Double(x) => *x >= DAYS_END,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_serves_values_that_its_notes_fit() {
        let text = |text: &'static str| Value::Bytes(text.as_bytes().into());
        let check = |usage: ParamUse, value: Value<'_>, expected: bool| {
            let mut params = Params::default();
            params.note(1, usage);
            assert_eq!(params.serve(&[Value::Null, value.clone()]), expected, "{usage:?} {value:?}");
        };
        use ParamKind as K;
        use ParamUse as U;
        check(U::Of(K::Null), Value::Int(1), false);
        check(U::Of(K::Int), Value::Int(1), true);
        check(U::Of(K::Int), Value::Null, true);
        check(U::Meets(K::Int), Value::Double(1.5), true);
        check(U::Meets(K::Text), Value::Int(1), false);
        check(U::Chosen(K::Date), text("2024-01-31"), true);
        check(U::Chosen(K::Date), Value::Int(1), true);
        check(U::Number(K::Int, K::Int), text("5"), true);
        check(U::Number(K::Int, K::Int), text("1.5"), false);
        check(U::Number(K::Int, K::Decimal), text("1e2"), true);
        check(U::Number(K::Int, K::Int), text("12abc"), true);
        check(U::Number(K::Double, K::Double), text("1.5"), true);
        check(U::Number(K::Decimal, K::Decimal), Value::Double(1.5), false);
        check(U::Moment(true, K::Date), text("2024-01-31"), true);
        check(U::Moment(true, K::Date), text("2024-01-31 10:00:00"), false);
        check(U::Moment(false, K::DateTime), text("2024-01-31"), true);
        check(U::Any, Value::Double(1.5), true);
        check(U::Count, Value::Int(0), true);
        check(U::Count, Value::Int(-1), false);
        check(U::Count, Value::Null, false);
        check(U::Count, text("1"), false);
    }
}
