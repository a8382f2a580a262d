//! Numbers as few bytes that `memcmp` orders, for keys that stay in memory: sorts, groups, hash tables.
//!
//! ```text
//! zero or above   80 + n, the n bytes of the number without leading zeros, big-endian
//! below zero      7f - n, the n last bytes of its two's complement, big-endian: those without leading FF
//! ```
//!
//! Most numbers are small, so most keys differ in their first few bytes, and a sort looks at no others.
//!
//! N1: equal numbers have equal bytes; no number's bytes are the beginning of another's.
//! N2: decimals whose digits fit no `i128` stand beyond all others: 91 or 6e, then their ordered form.

use crate::Decimal;
use crate::decimal::COMPUTED_DIGITS_MAX;

const ZERO: u8 = 0x80;
const ABOVE_ALL: u8 = ZERO + 17;
const BELOW_ALL: u8 = ZERO - 18;

/// Appends an integer.
#[inline]
pub fn push_integer(n: i128, out: &mut Vec<u8>) {
    // Of a negative number, how far it is below -1.
    let magnitude = (if n < 0 { !n } else { n }) as u128;
    let bytes = (128 - magnitude.leading_zeros()).div_ceil(8) as usize;
    out.push(if n < 0 { ZERO - 1 - bytes as u8 } else { ZERO + bytes as u8 });
    out.extend_from_slice(&n.to_be_bytes()[16 - bytes..]);
}

/// Appends a decimal, rounded to so many digits after the point. Comparable with others of the same scale.
pub fn push_decimal(decimal: &Decimal, scale: u8, out: &mut Vec<u8>) {
    let rescaled = decimal.rescale(scale).unwrap_or(*decimal);
    match rescaled.at_scale(scale) {
        Some(n) => push_integer(n, out),
        None => {
            out.push(if rescaled.is_negative() { BELOW_ALL } else { ABOVE_ALL });
            rescaled.encode_ordered(COMPUTED_DIGITS_MAX as u8, scale, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn integer(n: i128) -> Vec<u8> {
        let mut out = Vec::new();
        push_integer(n, &mut out);
        out
    }

    fn decimal(d: &Decimal, scale: u8) -> Vec<u8> {
        let mut out = Vec::new();
        push_decimal(d, scale, &mut out);
        out
    }

    #[test]
    fn edges_are_ordered() {
        let steps = [0, 8, 15, 16, 31, 32, 63, 64, 65, 120, 126];
        let mut numbers: Vec<i128> = steps.iter().flat_map(|bit| [(1i128 << bit) - 1, 1 << bit, (1 << bit) + 1]).collect();
        numbers.extend([i128::MAX, i128::MIN]);
        numbers.extend(numbers.clone().iter().filter_map(|n| n.checked_neg()));
        for (a, b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b))) {
            assert_eq!(integer(a).cmp(&integer(b)), a.cmp(&b), "{a} {b}");
            assert!(a == b || !integer(a).starts_with(&integer(b)), "{a} {b}");
        }
        assert_eq!((integer(0), integer(-1), integer(255)), (vec![0x80], vec![0x7f], vec![0x81, 255]));
    }

    #[test]
    fn decimals_of_many_digits_stand_beyond_all_others() {
        let of = |text: &str| Decimal::parse_exact(text).expect("a number");
        let nines = "9".repeat(60);
        let texts =
            [format!("-{nines}"), format!("-{}", "9".repeat(38)), "-0.5".into(), "0".into(), "1e37".into(), "1e40".into(), nines];
        for (a, b) in texts.iter().flat_map(|a| texts.iter().map(move |b| (of(a), of(b)))) {
            assert_eq!(decimal(&a, 4).cmp(&decimal(&b, 4)), a.cmp(&b), "{a} {b}");
        }
        assert_eq!(decimal(&of("1.50"), 3), decimal(&of("1.5"), 3));
        assert_eq!(decimal(&of("1.005"), 2), decimal(&of("1.01"), 2), "it is rounded");
    }

    proptest! {
        #[test]
        fn integers_are_ordered(a in any::<i128>(), b in any::<i128>(), (x, y) in (0u32..128, 0u32..128)) {
            let (a, b) = (a >> x, b >> y);
            prop_assert_eq!(integer(a).cmp(&integer(b)), a.cmp(&b));
        }

        #[test]
        fn decimals_are_ordered(a in any::<i64>(), b in any::<i64>(), (x, y) in (0u8..20, 0u8..20)) {
            let of = |n: i64, scale| Decimal::from_parts(n.unsigned_abs().into(), scale, n < 0);
            let (a, b) = (of(a, x), of(b, y));
            prop_assert_eq!(decimal(&a, 20).cmp(&decimal(&b, 20)), a.cmp(&b));
        }
    }
}
