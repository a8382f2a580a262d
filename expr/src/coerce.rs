//! Conversions between kinds of values as expressions do them, over `types::convert`, and what static types say about values.
//!
//! A conversion never fails: what cannot be read is cut, with a warning (an error in a strict data change).

use crate::class::{Class, class};
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::session::SessionVars;
use crate::tree::{CompareAs, Expr};
use std::borrow::Cow;
use std::cmp::Ordering;
use types::charset::Charset;
use types::convert::{self, Problem, Severity, StoreContext, Warnings};
use types::decimal::SCALE_MAX;
use types::temporal::{DateRules, Moment};
use types::work::Stopped;
use types::{CollationId, ColumnType, DateTime, Decimal, Time, TypeKind, Value, collation};

/// Bytes of a text, borrowed where they can be.
pub type Text<'a> = Cow<'a, [u8]>;

/// Digits behind the point that values of a DECIMAL are declared with; 0 for other types.
pub fn declared_scale(ty: &ColumnType) -> u8 {
    match ty.kind {
        TypeKind::Decimal { scale, .. } => scale,
        _ => 0,
    }
}

/// A number with the digits that its type shows, where it has more: an average has.
pub fn shown(number: Decimal, ty: &ColumnType) -> Decimal {
    match ty.kind {
        TypeKind::Decimal { scale, .. } if number.scale() > scale && scale < SCALE_MAX => number.rescale(scale).unwrap_or(number),
        _ => number,
    }
}

/// Is the value in the representation of the type already?
#[inline]
pub fn suits(value: &Value<'_>, ty: &ColumnType) -> bool {
    match value {
        Value::Null => true,
        Value::Int(n) => class(ty) == Class::Integer && (!ty.unsigned || *n < 0) || class(ty) == Class::Null,
        // The wrong value of an ENUM is the number 0, where a member is the empty text.
        Value::UInt(0) if matches!(ty.kind, TypeKind::Enum { .. }) => true,
        Value::UInt(_) => class(ty) == Class::Integer && (ty.unsigned || matches!(ty.kind, TypeKind::Bit { .. })),
        Value::Double(_) => class(ty) == Class::Double,
        Value::Decimal(_) => class(ty) == Class::Decimal,
        Value::Bytes(_) => matches!(class(ty), Class::String | Class::Json),
        Value::Date(_) => class(ty) == Class::Date,
        Value::Time(_) => class(ty) == Class::Time,
        Value::DateTime(_) => class(ty) == Class::DateTime,
    }
}

pub fn is_numeric(ty: &ColumnType) -> bool {
    matches!(class(ty), Class::Integer | Class::Decimal | Class::Double)
}

/// Integers and decimals.
pub fn is_exact(ty: &ColumnType) -> bool {
    matches!(class(ty), Class::Integer | Class::Decimal)
}

pub fn is_string(ty: &ColumnType) -> bool {
    class(ty) == Class::String
}

pub fn all_integers(exprs: &[Expr]) -> bool {
    exprs.iter().all(|e| class(&e.ty) == Class::Integer)
}

pub fn is_integer_value(value: &Value<'_>) -> bool {
    matches!(value, Value::Int(_) | Value::UInt(_))
}

/// The number, of a value that is an integer.
#[inline]
pub fn plain_integer(value: &Value<'_>) -> Option<i128> {
    match value {
        Value::Int(n) => Some((*n).into()),
        Value::UInt(n) => Some((*n).into()),
        _ => None,
    }
}

/// An integer, a DECIMAL, or a text that is such a number and nothing more.
pub fn exact_number(value: &Value<'_>) -> Option<Decimal> {
    Some(match value {
        Value::Int(n) => Decimal::from_i64(*n),
        Value::UInt(n) => Decimal::from_u64(*n),
        Value::Decimal(d) => *d,
        Value::Bytes(text) => {
            let parsed = Decimal::parse(text);
            let is_all = parsed.consumed > 0 && text[parsed.consumed..].iter().all(u8::is_ascii_whitespace);
            return (is_all && !parsed.overflow && !parsed.truncated).then_some(parsed.value);
        }
        _ => return None,
    })
}

/// The number of an ENUM's member, the bits of a SET's; the empty text of an ENUM is 0.
pub fn member_number<'a>(value: &Value<'_>, ty: &ColumnType) -> Value<'a> {
    let text = match value {
        Value::Bytes(text) => text,
        // The wrong value.
        Value::UInt(number) => return Value::UInt(*number),
        _ => return Value::Null,
    };
    let position = |members: &[String], name: &[u8]| members.iter().position(|m| m.as_bytes() == name);
    Value::UInt(match &ty.kind {
        TypeKind::Enum { members } => position(members, text).map_or(0, |n| n as u64 + 1),
        TypeKind::Set { members } => text.split(|b| *b == b',').filter_map(|name| position(members, name)).map(|n| 1 << n).sum(),
        _ => 0,
    })
}

/// The 64 bits of an integer: two's complement if it is negative, the nearest bound if it does not fit.
pub fn wrap_bits(n: i128) -> u64 {
    if n < 0 { n.max(i64::MIN.into()) as i64 as u64 } else { n.min(u64::MAX.into()) as u64 }
}

/// The smallest and largest value of an integer column.
pub fn integer_range(ty: &ColumnType) -> (i128, i128) {
    let bits = match ty.kind {
        TypeKind::TinyInt => 8,
        TypeKind::SmallInt => 16,
        TypeKind::MediumInt => 24,
        TypeKind::Int => 32,
        TypeKind::Year => return (0, 2155),
        TypeKind::Bit { length } => return (0, (1i128 << length) - 1),
        _ => 64,
    };
    if ty.unsigned { (0, (1i128 << bits) - 1) } else { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) }
}

/// Are the type's values documents, whose bytes are not their text?
#[inline]
pub fn is_document(ty: &ColumnType) -> bool {
    matches!(ty.kind, TypeKind::Json)
}

/// A text of this type in the type's character set.
pub fn encoded<'a>(text: Text<'a>, ty: &ColumnType) -> Text<'a> {
    let charset = Charset::of(ty.collation);
    if !charset.has_own_bytes() || !is_string(ty) || charset.has_ascii() && text.is_ascii() {
        return text;
    }
    Cow::Owned(charset.encode(&text).into_owned())
}

/// Do the type's integers come as `UInt`?
pub fn is_unsigned(ty: &ColumnType) -> bool {
    ty.unsigned || matches!(ty.kind, TypeKind::Bit { .. })
}

/// The binder's mark of 0x41 and b'1': binary strings that are unsigned.
pub fn is_bits_literal(ty: &ColumnType) -> bool {
    ty.unsigned && matches!(ty.kind, TypeKind::VarBinary { .. })
}

/// Up to eight bytes as a big-endian number.
pub fn bits_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, b| n << 8 | u64::from(*b))
}

/// How values of one type compare with each other.
pub fn compare_as_of(ty: &ColumnType) -> CompareAs {
    match class(ty) {
        Class::Integer => CompareAs::Integer,
        Class::Decimal => CompareAs::Decimal,
        Class::Double => CompareAs::Double,
        Class::Date | Class::DateTime => CompareAs::Temporal,
        Class::Time => CompareAs::Time,
        Class::Json => CompareAs::Json,
        Class::String | Class::Null => CompareAs::String(ty.collation),
    }
}

/// How values of two types compare (the manual's "Type Conversion in Expression Evaluation").
pub fn compare_as(left: &ColumnType, right: &ColumnType) -> CompareAs {
    let (a, b) = (class(left), class(right));
    match (a, b) {
        (Class::Null, _) => compare_as_of(right),
        (_, Class::Null) => compare_as_of(left),
        (Class::Json, _) | (_, Class::Json) => CompareAs::Json,
        (Class::Integer, Class::Integer) => CompareAs::Integer,
        (Class::String, Class::String) => CompareAs::String(common_collation(left.collation, right.collation)),
        (Class::Time, Class::Time | Class::String) | (Class::String, Class::Time) => CompareAs::Time,
        (Class::Date | Class::DateTime, Class::Date | Class::DateTime | Class::Time | Class::String)
        | (Class::String | Class::Time, Class::Date | Class::DateTime) => CompareAs::Temporal,
        (Class::Integer | Class::Decimal, Class::Integer | Class::Decimal) => CompareAs::Decimal,
        _ => CompareAs::Double,
    }
}

/// A binary string makes the comparison binary; `_bin` collations win over others.
fn common_collation(left: CollationId, right: CollationId) -> CollationId {
    if left == right || left == CollationId::BINARY {
        return left;
    }
    if right == CollationId::BINARY || right.name().ends_with("_bin") { right } else { left }
}

/// How two values compare whose static types said less than they are: parameters.
pub fn compare_as_of_values(a: &Value<'_>, b: &Value<'_>) -> CompareAs {
    let exact = |v: &Value<'_>| matches!(v, Value::Int(_) | Value::UInt(_) | Value::Decimal(_));
    let temporal = |v: &Value<'_>| matches!(v, Value::Date(_) | Value::DateTime(_));
    if exact(a) && exact(b) {
        CompareAs::Decimal
    } else if temporal(a) && temporal(b) {
        CompareAs::Temporal
    } else {
        CompareAs::Double
    }
}

/// Texts from here on are compared in parts.
const LONG_TEXT_BYTES: usize = 64 << 10;

#[inline]
pub fn compare_strings(id: CollationId, a: &[u8], b: &[u8]) -> Result<Ordering, Stopped> {
    if a.len().min(b.len()) < LONG_TEXT_BYTES { Ok(collation::compare(a, b, id)) } else { collation::compare_counted(a, b, id) }
}

#[inline]
pub fn strings_equal(id: CollationId, a: &[u8], b: &[u8]) -> bool {
    collation::equal(a, b, id)
}

/// A value as a date, without a warning if it is not one.
pub fn quiet_datetime(session: &SessionVars, value: &Value<'_>) -> Option<DateTime> {
    if is_zero(value) {
        return Some(DateTime::default());
    }
    convert::to_datetime(value, &ColumnType::new(TypeKind::Null), &store_context(session, false), &mut Warnings::new())
}

/// The text of a parameter that has the type of a date which it meets; a literal's text has a text's type.
pub fn is_unread_date(value: &Value<'_>, ty: &ColumnType) -> bool {
    matches!(value, Value::Bytes(_)) && matches!(class(ty), Class::Date | Class::DateTime)
}

/// A number that is not a date, as a parameter may be.
pub fn is_no_date(value: &Value<'_>) -> bool {
    if matches!(value, Value::Date(_) | Value::DateTime(_) | Value::Bytes(_) | Value::Time(_) | Value::Null) || is_zero(value) {
        return false;
    }
    let context = StoreContext { dates: DateRules::default(), ..StoreContext::strict() };
    convert::to_datetime(value, &ColumnType::new(TypeKind::Null), &context, &mut Warnings::new()).is_none()
}

/// Is it the number 0?
pub fn is_zero(value: &Value<'_>) -> bool {
    match value {
        Value::Int(n) => *n == 0,
        Value::UInt(n) => *n == 0,
        Value::Double(x) => *x == 0.0,
        Value::Decimal(d) => d.is_zero(),
        _ => false,
    }
}

#[cold]
fn plain_document<'a>(bytes: &[u8]) -> Value<'a> {
    types::json::Json::from_binary(bytes).map_or(Value::Null, types::json::Json::into_value)
}

/// Appends bytes that order, and are equal, as the strings are. A sort key delimits itself (`types::collation`, C2): no string's bytes begin
/// with another's whole bytes.
pub fn write_sort_key(id: CollationId, text: &[u8], out: &mut Vec<u8>) {
    collation::sort_key(text, id, out);
}

pub fn charset_of(id: CollationId) -> &'static str {
    id.charset()
}

/// A double's shortest text.
pub fn double_text(x: f64) -> String {
    let mut out = Vec::new();
    convert::write_f64(x, &mut out);
    into_string(out)
}

pub fn datetime_text(d: &DateTime, fsp: u8) -> String {
    let mut out = Vec::new();
    convert::write_datetime(*d, fsp, &mut out);
    into_string(out)
}

pub fn time_text(t: &Time, fsp: u8) -> String {
    let mut out = Vec::new();
    convert::write_time(*t, fsp, &mut out);
    into_string(out)
}

/// A value's text for a message, without a type.
pub fn plain_text(value: &Value<'_>) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Int(n) => n.to_string(),
        Value::UInt(n) => n.to_string(),
        Value::Double(x) => double_text(*x),
        Value::Decimal(d) => {
            let mut out = Vec::new();
            d.write(&mut out);
            into_string(out)
        }
        Value::Bytes(s) => String::from_utf8_lossy(s).into_owned(),
        Value::Date(d) => {
            let mut out = Vec::new();
            convert::write_date(*d, &mut out);
            into_string(out)
        }
        Value::Time(t) => time_text(t, if t.microsecond() == 0 { 0 } else { 6 }),
        Value::DateTime(d) => datetime_text(d, if d.micros == 0 { 0 } else { 6 }),
    }
}

fn into_string(out: Vec<u8>) -> String {
    String::from_utf8(out).expect("numbers and dates print as ASCII")
}

/// Does a date's text have a time of day in it?
pub fn has_time_part(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    // Up to three numbers are a date.
    let numbers = text.split(|b| !b.is_ascii_digit()).filter(|digits| !digits.is_empty()).count();
    if numbers == 1 { text.len() > 8 } else { numbers > 3 }
}

/// Converts a civil time of the session to the stored form of a TIMESTAMP; `None` if it does not exist.
pub fn timestamp_to_stored(session: &SessionVars, civil: DateTime) -> Option<DateTime> {
    if civil.is_zero() {
        return Some(civil);
    }
    match session.time_zone.to_utc(civil) {
        Moment::At(micros) if in_timestamp_range(micros) => DateTime::from_utc_micros(micros),
        _ => None,
    }
}

fn in_timestamp_range(micros: i64) -> bool {
    let seconds = micros.div_euclid(types::temporal::MICROS_PER_SECOND);
    (types::temporal::TIMESTAMP_SECONDS_MIN..=types::temporal::TIMESTAMP_SECONDS_MAX).contains(&seconds)
}

/// The TIMESTAMP next to a civil time that is none, and how it compares.
pub fn nearest_timestamp<'a>(session: &SessionVars, civil: DateTime) -> (Value<'a>, Ordering) {
    use types::temporal::{MICROS_PER_SECOND, TIMESTAMP_SECONDS_MAX, TIMESTAMP_SECONDS_MIN};
    let (micros, order) = match session.time_zone.to_utc(civil) {
        Moment::Gap(change) => (change, Ordering::Greater),
        Moment::At(micros) if micros > TIMESTAMP_SECONDS_MAX * MICROS_PER_SECOND => {
            (TIMESTAMP_SECONDS_MAX * MICROS_PER_SECOND + 999_999, Ordering::Less)
        }
        _ => (TIMESTAMP_SECONDS_MIN * MICROS_PER_SECOND, Ordering::Greater),
    };
    (Value::DateTime(DateTime::from_utc_micros(micros).unwrap_or_default()), order)
}

/// A number that is wanted as a date: its time of day and fraction are not looked at. Other values stay.
pub fn without_time<'a>(value: Value<'a>) -> Value<'a> {
    const WITH_TIME_MIN: u64 = 101_000_000;
    const DAY: u64 = 1_000_000;
    let number = match &value {
        Value::Int(n) => u64::try_from(*n).ok(),
        Value::UInt(n) => Some(*n),
        Value::Double(x) if *x >= 0.0 => Some(*x as u64),
        Value::Decimal(d) if !d.is_negative() => d.truncate(0).ok().and_then(|whole| whole.to_u64().ok()),
        _ => None,
    };
    match number {
        Some(n) if n >= WITH_TIME_MIN => Value::UInt(n - n % DAY),
        _ => value,
    }
}

/// An error in stored bytes.
pub fn row_error(error: types::Error) -> Error {
    Error::Storage(format!("a stored row cannot be read: {error:?}"))
}

/// What `types::convert` has to know of the session.
pub fn store_context(session: &SessionVars, strict: bool) -> StoreContext<'_> {
    let mode = &session.sql_mode;
    StoreContext {
        strict,
        dates: date_rules(session),
        truncate_fractional: mode.time_truncate_fractional,
        zone: &session.time_zone,
        now_utc_micros: session.statement_start_us,
    }
}

pub fn date_rules(session: &SessionVars) -> DateRules {
    let mode = &session.sql_mode;
    DateRules { no_zero_date: mode.no_zero_date, no_zero_in_date: mode.no_zero_in_date, allow_invalid: mode.allow_invalid_dates }
}

/// A conversion problem in an expression.
fn expression_error(problem: Problem) -> Error {
    match problem {
        Problem::TruncatedIncorrect { what, text } => Error::TruncatedWrongValue { what, value: text.into() },
        Problem::Incorrect { what, text } | Problem::IncorrectTemporal { what, text } => {
            Error::WrongValue { what, value: text.into() }
        }
        Problem::TemporalOverflow { what } => Error::DatetimeOverflow { what },
        Problem::InvalidJson { why, position } => {
            Error::InvalidJson { argument: 1, function: "cast_as_json", why: why.into(), position }
        }
        Problem::DeepJson => crate::function::deep_json(),
        Problem::BinaryJson => crate::function::binary_json(),
        problem @ (Problem::NoGeometry | Problem::WrongSrid { .. } | Problem::NoVector { .. }) => problem.condition("", 1).into(),
        Problem::InvalidDocument { what } => Error::InvalidDocument { what, column: String::new(), row: 1 },
        Problem::OutOfRange | Problem::Truncated | Problem::TooLong | Problem::TimestampGap => {
            Error::TruncatedWrongValue { what: "DECIMAL", value: String::new() }
        }
    }
}

impl<'a> Env<'a> {
    /// A document as the number, date or text that it is; other values stay.
    #[inline]
    pub fn plain(&self, value: Value<'a>, ty: &ColumnType) -> Value<'a> {
        match value {
            Value::Bytes(bytes) if is_document(ty) => plain_document(&bytes),
            value => value,
        }
    }

    /// Passes on the warnings of a conversion.
    #[inline]
    pub fn report(&self, mut warnings: Warnings) -> Step<()> {
        if warnings.is_empty() {
            return Ok(());
        }
        for (severity, problem) in warnings.drain() {
            match severity {
                Severity::Note => self.session().note(expression_error(problem)),
                Severity::Warning => self.problem(expression_error(problem))?,
            }
        }
        Ok(())
    }

    /// A value that is not NULL as an integer, rounded; it fits 65 bits.
    pub fn as_integer(&self, value: &Value<'_>) -> Step<i128> {
        match value {
            Value::Int(n) => Ok((*n).into()),
            Value::UInt(n) => Ok((*n).into()),
            Value::Bytes(text) => {
                let mut warnings = Warnings::new();
                let n = if text.trim_ascii_start().starts_with(b"-") {
                    i128::from(convert::text_to_i64(text, &mut warnings))
                } else {
                    i128::from(convert::text_to_u64(text, &mut warnings))
                };
                self.report(warnings)?;
                Ok(n)
            }
            other => Ok(convert::round_to_integer(other).clamp(i64::MIN.into(), u64::MAX.into())),
        }
    }

    pub fn as_double(&self, value: &Value<'_>) -> Step<f64> {
        if let Value::Double(x) = value {
            return Ok(*x);
        }
        let mut warnings = Warnings::new();
        let x = convert::to_f64(value, &mut warnings);
        self.report(warnings)?;
        Ok(x)
    }

    #[inline]
    pub fn as_decimal(&self, value: &Value<'_>) -> Step<Decimal> {
        match value {
            Value::Decimal(d) => Ok(*d),
            Value::Int(n) => Ok(Decimal::from_i64(*n)),
            _ => self.as_decimal_slow(value),
        }
    }

    fn as_decimal_slow(&self, value: &Value<'_>) -> Step<Decimal> {
        let mut warnings = Warnings::new();
        let d = convert::to_decimal(value, &mut warnings);
        self.report(warnings)?;
        Ok(d)
    }

    /// As a number of the kind it has.
    pub fn as_number(&self, value: Value<'a>) -> Evaluated<'a> {
        Ok(match value {
            Value::Bytes(_) => Value::Double(self.as_double(&value)?),
            Value::Date(d) => Value::Int(d.to_number().into()),
            Value::Time(t) if t.microsecond() == 0 => Value::Int(t.to_number()),
            Value::DateTime(d) if d.micros == 0 => Value::Int(d.to_number() as i64),
            Value::Time(_) | Value::DateTime(_) => Value::Decimal(self.as_decimal(&value)?),
            number => number,
        })
    }

    /// A value that is not NULL as text, as its static type prints.
    pub fn as_text(&self, value: Value<'a>, ty: &ColumnType) -> Step<Text<'a>> {
        let mut out = Vec::new();
        let value = if let Value::Decimal(d) = value { Value::Decimal(shown(d, ty)) } else { value };
        if let Value::Bytes(text) = value {
            if !is_document(ty) {
                return Ok(text);
            }
            types::json::write_text(&text, &mut out);
            return Ok(Cow::Owned(out));
        }
        if let (Value::Double(x), TypeKind::Double, None) = (&value, &ty.kind, ty.float_decimals) {
            convert::write_short_f64(*x, &mut out);
        } else if suits(&value, ty) || matches!(ty.kind, TypeKind::Enum { .. }) {
            convert::write_text(&value, ty, &mut out);
        } else {
            // A parameter of another kind than the plan thought.
            out.extend_from_slice(plain_text(&value).as_bytes());
        }
        Ok(Cow::Owned(out))
    }

    pub fn as_datetime(&self, value: &Value<'_>) -> Step<Option<DateTime>> {
        self.read_datetime(value, date_rules(self.session()))
    }

    /// Beside another date: the number 0 is the zero date, whatever NO_ZERO_DATE says of texts. The text of a parameter is read by looser
    /// rules than a literal.
    pub fn as_compared_datetime(&self, value: &Value<'_>, ty: &ColumnType) -> Step<Option<DateTime>> {
        if is_zero(value) {
            return Ok(Some(DateTime::default()));
        }
        if is_unread_date(value, ty) { self.read_parameter(value, ty) } else { self.as_datetime(value) }
    }

    /// A parameter's text as the date that it meets: zero parts and days that no month has are taken as they are (MySQL's
    /// Item_param::convert_value); what is none is NULL.
    #[cold]
    fn read_parameter(&self, value: &Value<'_>, ty: &ColumnType) -> Step<Option<DateTime>> {
        let mut warnings = Warnings::new();
        let dates = DateRules { no_zero_date: false, no_zero_in_date: false, allow_invalid: true };
        let context = StoreContext { dates, ..store_context(self.session(), false) };
        let moment = convert::to_datetime(value, &ColumnType::new(TypeKind::Null), &context, &mut warnings);
        let (Class::Date, Value::Bytes(text), false) = (class(ty), value, warnings.is_empty()) else {
            self.report(warnings)?;
            return Ok(moment);
        };
        self.problem(Error::TruncatedWrongValue { what: "date", value: String::from_utf8_lossy(text).into_owned() })?;
        Ok(moment)
    }

    /// Zero months and days are read also where NO_ZERO_IN_DATE is set.
    pub fn as_loose_datetime(&self, value: &Value<'_>) -> Step<Option<DateTime>> {
        if is_zero(value) {
            return Ok(Some(DateTime::default()));
        }
        if let Some(zero) = convert::zero_date_with_fraction(value) {
            return Ok(Some(zero));
        }
        self.read_datetime(value, DateRules { no_zero_in_date: false, ..date_rules(self.session()) })
    }

    /// As the rules for zero parts say.
    pub fn read_datetime(&self, value: &Value<'_>, dates: DateRules) -> Step<Option<DateTime>> {
        match value {
            Value::Null => return Ok(None),
            Value::DateTime(d) => return Ok(Some(*d)),
            Value::Date(d) => return Ok(Some(d.at_midnight())),
            _ => {}
        }
        let mut warnings = Warnings::new();
        let context = StoreContext { dates, ..store_context(self.session(), false) };
        let d = convert::to_datetime(value, &ColumnType::new(TypeKind::Null), &context, &mut warnings);
        self.report(warnings)?;
        Ok(d)
    }

    pub fn as_time(&self, value: &Value<'_>) -> Step<Option<Time>> {
        match value {
            Value::Null => return Ok(None),
            Value::Time(t) => return Ok(Some(*t)),
            Value::DateTime(d) => return Ok(Some(d.time())),
            Value::Date(_) => return Ok(Some(Time::default())),
            _ => {}
        }
        // Beyond the signed range a number counts backwards, as in MySQL.
        let value = match value {
            Value::UInt(n) if i64::try_from(*n).is_err() => &Value::Int(n.cast_signed()),
            value => value,
        };
        let number = match value {
            Value::Int(n) => Some(n.unsigned_abs() as f64),
            Value::UInt(n) => Some(*n as f64),
            Value::Double(x) => Some(x.abs()),
            Value::Decimal(d) => Some(d.to_f64().abs()),
            _ => None,
        };
        let is_moment = |n: f64| (1e10..1e14).contains(&n) && types::temporal::datetime_from_number(n as u64).is_some();
        // Any microsecond behind the last time is beyond it, however few digits are wanted.
        let beyond = number.is_some_and(|n| n >= 8_385_959.000_000_5 && !is_moment(n));
        if beyond || matches!(value, Value::Bytes(text) if text.trim_ascii().is_empty()) {
            self.problem(Error::TruncatedWrongValue { what: "time", value: plain_text(value) })?;
            return Ok(None);
        }
        let mut warnings = Warnings::new();
        let context = store_context(self.session(), false);
        let t = convert::to_time(value, &ColumnType::new(TypeKind::Null), &context, &mut warnings);
        self.report(warnings)?;
        Ok(t)
    }
}
