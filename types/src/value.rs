//! One SQL value. Strings borrow from the page copy, the packet or the schema where they can.

use crate::Decimal;
use std::borrow::Cow;

/// A SQL value. Its static type ([`crate::ColumnType`]) travels beside it, not in it:
/// - integers of every width and YEAR are `Int`, unsigned ones `UInt`; BIT is `UInt`;
/// - FLOAT and DOUBLE are `Double` (the type says how to print them);
/// - CHAR, TEXT, BINARY, BLOB, JSON, and the member names of ENUM and SET are `Bytes`;
/// - DATETIME and TIMESTAMP are `DateTime` (TIMESTAMP in the session's time zone once decoded).
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Int(i64),
    UInt(u64),
    Double(f64),
    Decimal(Decimal),
    Bytes(Cow<'a, [u8]>),
    Date(Date),
    Time(Time),
    DateTime(DateTime),
}

/// A calendar date, zero parts allowed (`0000-00-00`, `2024-00-00`) as MySQL has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Date {
    pub year: u16,
    pub month: u8,
    pub day: u8,
}

/// A signed duration or time of day, `-838:59:59.000000` to `838:59:59.000000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time {
    /// Signed microseconds.
    pub micros: i64,
}

/// A date with a time of day, microsecond resolution, no zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DateTime {
    pub date: Date,
    pub hour: u8,
    pub minute: u8,
    pub second: u8,
    pub micros: u32,
}

impl<'a> Value<'a> {
    /// A string that somebody else holds.
    pub fn text(bytes: &'a [u8]) -> Self {
        Self::Bytes(Cow::Borrowed(bytes))
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The same value, borrowing from this one.
    pub fn borrowed(&self) -> Value<'_> {
        match self {
            Value::Null => Value::Null,
            Value::Int(v) => Value::Int(*v),
            Value::UInt(v) => Value::UInt(*v),
            Value::Double(v) => Value::Double(*v),
            Value::Decimal(v) => Value::Decimal(*v),
            Value::Bytes(v) => Value::Bytes(Cow::Borrowed(v)),
            Value::Date(v) => Value::Date(*v),
            Value::Time(v) => Value::Time(*v),
            Value::DateTime(v) => Value::DateTime(*v),
        }
    }

    /// The same value without borrowed data.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Int(v) => Value::Int(v),
            Value::UInt(v) => Value::UInt(v),
            Value::Double(v) => Value::Double(v),
            Value::Decimal(v) => Value::Decimal(v),
            Value::Bytes(v) => Value::Bytes(Cow::Owned(v.into_owned())),
            Value::Date(v) => Value::Date(v),
            Value::Time(v) => Value::Time(v),
            Value::DateTime(v) => Value::DateTime(v),
        }
    }
}

const _: () = assert!(size_of::<Value<'_>>() == 40);

/// Values that a kept vector has room for from the start: whole lines of memory, which allocators give out as such. A vector of fewer
/// could share a line with that of another worker.
const KEPT_VALUES: usize = 8;

const _: () = assert!((KEPT_VALUES * size_of::<Value<'_>>()).is_multiple_of(64));

/// Empties a vector of values, keeping its memory, for values of another lifetime: a session keeps one for all its statements.
#[inline]
pub fn recycle<'b>(mut values: Vec<Value<'_>>) -> Vec<Value<'b>> {
    values.clear();
    if values.capacity() == 0 {
        return Vec::with_capacity(KEPT_VALUES);
    }
    // Collecting an emptied vector into the same layout reuses its memory.
    values.into_iter().map(|_| Value::Null).collect()
}
