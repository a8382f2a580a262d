//! Vectors: lists of 32-bit floating point numbers, little endian one after the other, as MySQL has them.
//!
//! V1: a vector has at least one number, and no NaN or infinity when it is stored or made of a text.

use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Most numbers of a vector.
pub const DIMENSIONS_MAX: u32 = 16_383;
/// Of VECTOR without a length.
pub const DIMENSIONS_DEFAULT: u32 = 2048;
/// Of one number.
pub const NUMBER_BYTES: usize = 4;

/// The number of numbers; `None`: the bytes are no vector.
pub fn dimensions(bytes: &[u8]) -> Option<u32> {
    let count = u32::try_from(bytes.len() / NUMBER_BYTES).ok()?;
    (bytes.len().is_multiple_of(NUMBER_BYTES) && (1..=DIMENSIONS_MAX).contains(&count)).then_some(count)
}

/// The numbers of a vector.
pub fn numbers(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    bytes.chunks_exact(NUMBER_BYTES).map(|number| f32::from_le_bytes([number[0], number[1], number[2], number[3]]))
}

/// V1
pub fn is_finite(bytes: &[u8]) -> bool {
    numbers(bytes).all(f32::is_finite)
}

/// Reads `[1, 2.5, -3e2]`; `None`: it is no such text, or a number is beyond the range of a float or too small for its full precision.
pub fn parse(text: &[u8]) -> Option<Vec<u8>> {
    let inner = text.trim_ascii().strip_prefix(b"[")?.strip_suffix(b"]")?;
    let mut out = Vec::with_capacity(inner.len() / 2);
    for item in inner.split(|byte| *byte == b',') {
        let number = parse_number(item.trim_ascii())?;
        if out.len() >= DIMENSIONS_MAX as usize * NUMBER_BYTES {
            return None;
        }
        out.extend_from_slice(&number.to_le_bytes());
        crate::work::pass(NUMBER_BYTES);
    }
    Some(out)
}

fn parse_number(text: &[u8]) -> Option<f32> {
    let text = std::str::from_utf8(text).ok()?;
    // Names of no number, as `inf`, are not read.
    if text.bytes().any(|byte| byte.is_ascii_alphabetic() && !matches!(byte, b'e' | b'E')) {
        return None;
    }
    let number: f32 = text.parse().ok()?;
    let has_digit = |text: &str| text.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let is_lost = has_digit(mantissa) && !number.is_normal();
    (number.is_finite() && !is_lost).then_some(number)
}

/// The text as VECTOR_TO_STRING prints it: six digits of each number.
pub fn text(bytes: &[u8]) -> String {
    listed(bytes, |number, out| {
        if number.is_nan() {
            return out.push_str("nan");
        }
        if number.is_infinite() {
            return out.push_str(if number > 0.0 { "inf" } else { "-inf" });
        }
        let printed = format!("{number:.5e}");
        let (mantissa, exponent) = printed.split_once('e').unwrap_or((&printed, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "{mantissa}e{sign}{:02}", exponent.abs()).expect("a String takes everything");
    })
}

/// The text as VEC_ToText prints it: the fewest digits that make the same number.
pub fn short_text(bytes: &[u8]) -> String {
    listed(bytes, |number, out| write!(out, "{number}").expect("a String takes everything"))
}

fn listed(bytes: &[u8], mut put: impl FnMut(f32, &mut String)) -> String {
    let mut out = String::with_capacity(bytes.len() * 4 + 2);
    for (n, number) in numbers(bytes).enumerate() {
        out.push(if n == 0 { '[' } else { ',' });
        put(number, &mut out);
        crate::work::pass(16);
    }
    out.push(']');
    out
}

/// How far two vectors lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Metric {
    /// The length of the difference.
    Euclidean,
    /// One less the cosine of the angle: 0 to 2.
    Cosine,
    /// The dot product, which is larger the more alike the vectors are.
    Dot,
}

impl Metric {
    /// Its name in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Euclidean => "euclidean",
            Self::Cosine => "cosine",
            Self::Dot => "dot",
        }
    }

    /// By its name in any case.
    pub fn named(name: &[u8]) -> Option<Self> {
        let names: [(&[u8], Self); 3] = [(b"EUCLIDEAN", Self::Euclidean), (b"COSINE", Self::Cosine), (b"DOT", Self::Dot)];
        names.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, metric)| metric)
    }

    /// The distance of two vectors of the same length; `None`: they have other lengths, or a vector without a direction has no angle.
    /// Computed in double precision.
    pub fn distance(self, a: &[u8], b: &[u8]) -> Option<f64> {
        if a.len() != b.len() || dimensions(a).is_none() {
            return None;
        }
        crate::work::pass(a.len());
        match self {
            Self::Euclidean => Some(sum(a, b, |x, y| (x - y) * (x - y)).sqrt()),
            Self::Dot => Some(sum(a, b, |x, y| x * y)),
            Self::Cosine => {
                let (norm_a, norm_b) = (sum(a, a, |x, y| x * y), sum(b, b, |x, y| x * y));
                if norm_a == 0.0 || norm_b == 0.0 {
                    return None;
                }
                Some(1.0 - (sum(a, b, |x, y| x * y) / (norm_a * norm_b).sqrt()).clamp(-1.0, 1.0))
            }
        }
    }
}

/// The sum of `term` over both vectors, in eight sums side by side.
#[inline]
fn sum(a: &[u8], b: &[u8], term: impl Fn(f64, f64) -> f64) -> f64 {
    const LANES: usize = 8;
    let read = |bytes: &[u8]| f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let mut sums = [0.0f64; LANES];
    let (mut left, mut right) = (a.chunks_exact(LANES * NUMBER_BYTES), b.chunks_exact(LANES * NUMBER_BYTES));
    for (a, b) in (&mut left).zip(&mut right) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += term(read(&a[lane * NUMBER_BYTES..]), read(&b[lane * NUMBER_BYTES..]));
        }
    }
    let rest = left.remainder().chunks_exact(NUMBER_BYTES).zip(right.remainder().chunks_exact(NUMBER_BYTES));
    sums.iter().sum::<f64>() + rest.map(|(a, b)| term(read(a), read(b))).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_mysqls() {
        let cases = [
            ("[1,2.5,-3e2]", Some("[1.00000e+00,2.50000e+00,-3.00000e+02]")),
            (" [ 1 , 2 ] ", Some("[1.00000e+00,2.00000e+00]")),
            ("[1.1,1e-5,1e20,123456789]", Some("[1.10000e+00,1.00000e-05,1.00000e+20,1.23457e+08]")),
            ("[0.1,-.5,5.,+1]", Some("[1.00000e-01,-5.00000e-01,5.00000e+00,1.00000e+00]")),
            ("[0,-0,0e5]", Some("[0.00000e+00,-0.00000e+00,0.00000e+00]")),
            ("[]", None),
            ("[1,,2]", None),
            ("[1,2", None),
            ("1,2", None),
            ("[nan]", None),
            ("[inf]", None),
            ("[1e39]", None),
            ("[1e-40]", None),
            ("[1]x", None),
        ];
        for (written, expected) in cases {
            assert_eq!(parse(written.as_bytes()).map(|bytes| text(&bytes)).as_deref(), expected, "{written}");
        }
    }

    #[test]
    fn distances_are_those_of_definitions() {
        let vector = |text: &str| parse(text.as_bytes()).expect("a vector");
        let (a, b) = (vector("[1,2,3,4,5,6,7,8,9]"), vector("[9,8,7,6,5,4,3,2,1]"));
        assert_eq!(Metric::Euclidean.distance(&a, &b), Some(240f64.sqrt()));
        assert_eq!(Metric::Dot.distance(&a, &b), Some(165.0));
        let cosine = Metric::Cosine.distance(&a, &b).expect("both have a direction");
        assert!((cosine - (1.0 - 165.0 / 285.0)).abs() < 1e-12);
        assert_eq!(Metric::Cosine.distance(&a, &a), Some(0.0));
        assert_eq!(Metric::Cosine.distance(&vector("[0]"), &vector("[1]")), None);
        assert_eq!(Metric::Euclidean.distance(&a, &vector("[1]")), None);
    }
}
