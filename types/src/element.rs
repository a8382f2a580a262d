//! Elements of JSON arrays as values of one type: what a multi-valued index has of a row, and what is looked up in it.
//!
//! N1: the conversion depends on the document and the type alone, not on the session. So what one session looks up is found however another
//!     session wrote it.
//! N2: two scalars that compare as equal have the same element, or neither has one, wherever [`Json::sought`] gives a value for one of
//!     them: it gives none where a text says how a number was written.

use crate::convert::{Severity, StoreContext, Warnings, store};
use crate::json::Json;
use crate::{ColumnType, Decimal, LobSize, TypeKind, Value};

/// Most different elements of one row in one index, as in MySQL.
pub const ELEMENTS_MAX: usize = 1606;
/// Most bytes of the keys of these elements.
pub const ELEMENT_BYTES_MAX: usize = 65_221;
/// Integers beyond it are not all doubles.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Why a scalar is no element of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementProblem {
    /// 3908: an array or an object
    Container,
    /// 3903: the null of JSON, or a text that is no number
    Invalid,
    /// 3904: a number beyond all integers
    OutOfRange,
    /// 3752: a number beyond the type
    ValueOutOfRange,
    /// 3907
    TooLong,
    /// 3751: not a date or time
    Truncated,
}

/// What equals a scalar among elements of a type.
#[derive(Clone, Debug, PartialEq)]
pub enum Sought {
    /// Only this value may.
    Value(Value<'static>),
    /// No element does.
    Nothing,
    /// That cannot be said of the values alone (N2).
    Unknown,
}

impl Json {
    /// The value of an element of this type: of BIGINT, DECIMAL, VARCHAR, VARBINARY, DATE, TIME or DATETIME.
    ///
    /// # Errors
    /// It is none.
    pub fn as_element(&self, ty: &ColumnType) -> Result<Value<'static>, ElementProblem> {
        match self {
            Json::Array(_) | Json::Object(_) => return Err(ElementProblem::Container),
            Json::Null => return Err(ElementProblem::Invalid),
            _ => {}
        }
        match ty.kind {
            TypeKind::BigInt => self.integer_element(ty.unsigned),
            TypeKind::Decimal { precision, scale } => self.decimal_element(precision, scale),
            TypeKind::VarChar { length } => {
                let text = self.element_text();
                let characters = std::str::from_utf8(&text).map_err(|_| ElementProblem::Invalid)?.chars().count();
                if characters > length as usize { Err(ElementProblem::TooLong) } else { Ok(Value::Bytes(text.into())) }
            }
            TypeKind::VarBinary { length } => {
                let bytes = self.element_text();
                if bytes.len() > length as usize { Err(ElementProblem::TooLong) } else { Ok(Value::Bytes(bytes.into())) }
            }
            _ => self.temporal_element(ty),
        }
    }

    fn integer_element(&self, unsigned: bool) -> Result<Value<'static>, ElementProblem> {
        let number: i128 = match self {
            Json::Bool(truth) => (*truth).into(),
            Json::Int(number) => (*number).into(),
            Json::UInt(number) => (*number).into(),
            Json::Double(number) => {
                // As a DECIMAL is rounded (N2).
                let number = number.round();
                // Of an i128 it is far from all bounds.
                if number.abs() < 1e20 { number as i128 } else { return Err(ElementProblem::OutOfRange) }
            }
            Json::Decimal(number) => match (number.to_i64(), number.to_u64()) {
                (Ok(number), _) => number.into(),
                (_, Ok(number)) => number.into(),
                _ => return Err(ElementProblem::OutOfRange),
            },
            Json::String(text) => text.trim().parse().map_err(|_| ElementProblem::Invalid)?,
            _ => return Err(ElementProblem::Invalid),
        };
        let value = if unsigned { u64::try_from(number).map(Value::UInt) } else { i64::try_from(number).map(Value::Int) };
        value.map_err(|_| ElementProblem::ValueOutOfRange)
    }

    fn decimal_element(&self, precision: u8, scale: u8) -> Result<Value<'static>, ElementProblem> {
        let number = match self {
            Json::Bool(truth) => Decimal::from_i64((*truth).into()),
            Json::Int(number) => Decimal::from_i64(*number),
            Json::UInt(number) => Decimal::from_u64(*number),
            Json::Double(number) => Decimal::from_f64(*number).map_err(|_| ElementProblem::ValueOutOfRange)?,
            Json::Decimal(number) => *number,
            Json::String(text) => Decimal::parse_exact(text.trim()).ok_or(ElementProblem::Invalid)?,
            _ => return Err(ElementProblem::Invalid),
        };
        match number.rescale(scale) {
            Ok(number) if number.fits(precision, scale) => Ok(Value::Decimal(number)),
            _ => Err(ElementProblem::ValueOutOfRange),
        }
    }

    fn temporal_element(&self, ty: &ColumnType) -> Result<Value<'static>, ElementProblem> {
        let is_time = matches!(ty.kind, TypeKind::Time { .. });
        match self {
            Json::Bool(_) | Json::Opaque(..) => return Err(ElementProblem::Truncated),
            // N1: it would have the date of the day.
            Json::Time(_) if !is_time => return Err(ElementProblem::Truncated),
            Json::Date(_) if is_time => return Err(ElementProblem::Truncated),
            _ => {}
        }
        let kind = if matches!(self, Json::String(_)) { TypeKind::Text(LobSize::Long) } else { TypeKind::Null };
        let (plain, from, mut warnings) = (self.clone().into_value(), ColumnType::new(kind), Warnings::new());
        let stored = store(&plain, &from, ty, &StoreContext::strict(), &mut warnings);
        match stored {
            Ok(Value::Null) | Err(_) => Err(ElementProblem::Truncated),
            Ok(_) if warnings.iter().any(|(severity, _)| *severity != Severity::Note) => Err(ElementProblem::Truncated),
            Ok(value) => Ok(value.into_owned()),
        }
    }

    /// The text of a scalar, or a binary string's bytes.
    fn element_text(&self) -> Vec<u8> {
        if let Json::Opaque(_, bytes) = self {
            return bytes.clone();
        }
        let mut text = Vec::new();
        self.write_unquoted(&mut text);
        text
    }

    /// What equals this scalar among elements of the type (N2).
    pub fn sought(&self, ty: &ColumnType) -> Sought {
        let is_known = match (self, &ty.kind) {
            (Json::Array(_) | Json::Object(_), _) => false,
            // No element is the null of JSON.
            (Json::Null, _) => return Sought::Nothing,
            // Equal texts are the same.
            (Json::String(_), _) => true,
            (Json::Bool(_) | Json::Int(_) | Json::UInt(_), TypeKind::BigInt) => true,
            // The digits of a large double are not all its own.
            (_, TypeKind::BigInt | TypeKind::Decimal { .. }) => self.number_or_zero().abs() < EXACT_MAX,
            (
                Json::Date(_) | Json::Time(_) | Json::DateTime(_),
                TypeKind::Date | TypeKind::Time { .. } | TypeKind::DateTime { .. },
            ) => true,
            _ => false,
        };
        if !is_known {
            return Sought::Unknown;
        }
        self.as_element(ty).map_or(Sought::Nothing, Sought::Value)
    }

    fn number_or_zero(&self) -> f64 {
        match self {
            Json::Int(number) => *number as f64,
            Json::UInt(number) => *number as f64,
            Json::Double(number) => *number,
            Json::Decimal(number) => number.to_f64(),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CollationId;

    fn text_type(length: u32) -> ColumnType {
        ColumnType { collation: CollationId::UTF8MB4_BIN, ..ColumnType::new(TypeKind::VarChar { length }) }
    }

    #[test]
    fn scalars_become_elements() {
        let integer = ColumnType::new(TypeKind::BigInt);
        let parsed = |text: &str| Json::parse(text.as_bytes()).expect("JSON");
        let cases = [
            ("1", &integer, Ok(Value::Int(1))),
            ("1.5", &integer, Ok(Value::Int(2))),
            ("true", &integer, Ok(Value::Int(1))),
            ("\"12\"", &integer, Ok(Value::Int(12))),
            ("\"abc\"", &integer, Err(ElementProblem::Invalid)),
            ("1e30", &integer, Err(ElementProblem::OutOfRange)),
            ("18446744073709551615", &integer, Err(ElementProblem::ValueOutOfRange)),
            ("null", &integer, Err(ElementProblem::Invalid)),
            ("[1]", &integer, Err(ElementProblem::Container)),
            ("\"abc\"", &text_type(3), Ok(Value::Bytes(b"abc".as_slice().into()))),
            ("\"abcd\"", &text_type(3), Err(ElementProblem::TooLong)),
            ("1", &text_type(3), Ok(Value::Bytes(b"1".as_slice().into()))),
            ("\"2020-01-02x\"", &ColumnType::new(TypeKind::Date), Err(ElementProblem::Truncated)),
            ("1234.5", &ColumnType::new(TypeKind::Decimal { precision: 4, scale: 1 }), Err(ElementProblem::ValueOutOfRange)),
        ];
        for (document, ty, expected) in cases {
            assert_eq!(parsed(document).as_element(ty), expected, "{document} as {:?}", ty.kind);
        }
    }

    #[test]
    fn equal_scalars_are_sought_alike() {
        let parsed = |text: &str| Json::parse(text.as_bytes()).expect("JSON");
        let decimal = ColumnType::new(TypeKind::Decimal { precision: 30, scale: 2 });
        let types = [ColumnType::new(TypeKind::BigInt), ColumnType::unsigned(TypeKind::BigInt), decimal, text_type(30)];
        let numbers = [
            "1",
            "1.0",
            "1e0",
            "9007199254740993",
            "9007199254740992",
            "9007199254740992.0",
            "-3",
            "-3.0",
            "1e30",
            "2e-1",
            "0.2",
        ];
        for (a, b, ty) in numbers
            .iter()
            .flat_map(|a| numbers.iter().map(move |b| (a, b)))
            .flat_map(|(a, b)| types.iter().map(move |ty| (parsed(a), parsed(b), ty)))
        {
            if a.compare(&b).is_eq() && a.sought(ty) != Sought::Unknown {
                assert_eq!(a.as_element(ty).ok(), b.as_element(ty).ok(), "{a:?} and {b:?} as {:?}", ty.kind);
            }
        }
    }
}
