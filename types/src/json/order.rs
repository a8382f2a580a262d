//! The order of JSON documents (MySQL 8.4 manual, "Comparison and Ordering of JSON Values"), and keys with the same
//! order under `memcmp`.

use super::{Json, TYPE_BIT};
use crate::{Decimal, collation};
use std::cmp::Ordering;

/// The order of members: by length, then by bytes.
pub(super) fn names(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.as_bytes().cmp(b.as_bytes()))
}

/// A number of any of the four kinds.
#[derive(Clone, Copy)]
enum Number {
    Integer(i128),
    Double(f64),
    Decimal(Decimal),
}

impl Number {
    fn approximate(self) -> f64 {
        match self {
            Number::Integer(n) => n as f64,
            Number::Double(x) => x,
            Number::Decimal(d) => d.to_f64(),
        }
    }

    /// The difference between the number and its nearest double, for numbers with more digits.
    fn rest(self) -> f64 {
        match self {
            Number::Integer(n) => {
                let nearest = n as f64;
                (n - nearest as i128) as f64
            }
            Number::Double(_) => 0.0,
            Number::Decimal(d) => match Decimal::from_f64(d.to_f64()).map(|nearest| d.subtract(&nearest)) {
                Ok(Ok(rest)) => rest.to_f64(),
                _ => 0.0,
            },
        }
    }
}

impl Json {
    /// Kinds of values in ascending order.
    fn rank(&self) -> u8 {
        match self {
            Json::Null => 0,
            Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_) => 1,
            Json::String(_) => 2,
            Json::Object(_) => 3,
            Json::Array(_) => 4,
            Json::Bool(_) => 5,
            Json::Date(_) => 6,
            Json::Time(_) => 7,
            Json::DateTime(_) => 8,
            Json::Opaque(TYPE_BIT, _) => 10,
            Json::Opaque(15 | 249..=254, _) => 11,
            Json::Opaque(..) => 9,
        }
    }

    fn number(&self) -> Option<Number> {
        Some(match self {
            Json::Int(n) => Number::Integer((*n).into()),
            Json::UInt(n) => Number::Integer((*n).into()),
            Json::Double(x) => Number::Double(*x),
            Json::Decimal(d) => Number::Decimal(*d),
            _ => return None,
        })
    }

    /// Orders two documents. Of objects only equality means something; their order is by size, then by members.
    pub fn compare(&self, other: &Json) -> Ordering {
        if let (Some(a), Some(b)) = (self.number(), other.number()) {
            return compare_numbers(a, b);
        }
        match (self, other) {
            (Json::String(a), Json::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
            (Json::Date(a), Json::Date(b)) => a.cmp(b),
            (Json::Time(a), Json::Time(b)) => a.cmp(b),
            (Json::DateTime(a), Json::DateTime(b)) => a.cmp(b),
            (Json::Date(a), Json::DateTime(b)) => a.at_midnight().cmp(b),
            (Json::DateTime(a), Json::Date(b)) => a.cmp(&b.at_midnight()),
            (Json::Opaque(_, a), Json::Opaque(_, b)) if self.rank() == other.rank() => a.cmp(b),
            (Json::Array(a), Json::Array(b)) => {
                let unequal = a.iter().zip(b).map(|(a, b)| a.compare(b)).find(|order| order.is_ne());
                unequal.unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            (Json::Object(a), Json::Object(b)) => {
                let member = |((a, x), (b, y)): (&(String, Json), &(String, Json))| names(a, b).then_with(|| x.compare(y));
                a.len().cmp(&b.len()).then_with(|| a.iter().zip(b).map(member).find(|o| o.is_ne()).unwrap_or(Ordering::Equal))
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }

    /// Appends bytes that are equal for equal documents and order as they do. They delimit themselves.
    pub fn sort_key(&self, out: &mut Vec<u8>) {
        // Zero ends arrays.
        let rank = match self {
            // A date is as a datetime.
            Json::Date(_) => 8,
            other => other.rank(),
        };
        out.push(rank + 1);
        let bytes = |bytes: &[u8], out: &mut Vec<u8>| collation::sort_key(bytes, crate::CollationId::BINARY, out);
        match self {
            Json::Null => {}
            Json::Bool(truth) => out.push((*truth).into()),
            Json::String(text) => bytes(text.as_bytes(), out),
            Json::Date(d) => out.extend_from_slice(&d.at_midnight().pack().to_be_bytes()),
            Json::Time(t) => out.extend_from_slice(&(t.micros as u64 ^ 1 << 63).to_be_bytes()),
            Json::DateTime(d) => out.extend_from_slice(&d.pack().to_be_bytes()),
            Json::Opaque(_, content) => bytes(content, out),
            Json::Array(items) => {
                items.iter().for_each(|item| item.sort_key(out));
                out.push(0);
            }
            Json::Object(members) => {
                out.extend_from_slice(&(members.len() as u32).to_be_bytes());
                for (name, value) in members {
                    out.extend_from_slice(&(name.len() as u32).to_be_bytes());
                    out.extend_from_slice(name.as_bytes());
                    value.sort_key(out);
                }
            }
            number => {
                let Some(number) = number.number() else { return };
                for part in [number.approximate(), number.rest()] {
                    out.extend_from_slice(&ordered(part).to_be_bytes());
                }
            }
        }
    }
}

fn compare_numbers(a: Number, b: Number) -> Ordering {
    match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => a.cmp(&b),
        (Number::Decimal(a), Number::Decimal(b)) => a.cmp(&b),
        (Number::Integer(a), Number::Decimal(b)) => Decimal::from_i128(a).cmp(&b),
        (Number::Decimal(a), Number::Integer(b)) => a.cmp(&Decimal::from_i128(b)),
        _ => {
            let order = a.approximate().partial_cmp(&b.approximate()).unwrap_or(Ordering::Equal);
            order.then_with(|| a.rest().partial_cmp(&b.rest()).unwrap_or(Ordering::Equal))
        }
    }
}

/// Bits that order as the numbers do; both zeros are one.
fn ordered(x: f64) -> u64 {
    let bits = if x == 0.0 { 0 } else { x.to_bits() };
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}
