//! Decimals against known values and against big integers.

use super::*;
use num_bigint::BigInt;
use proptest::prelude::*;

fn d(text: &str) -> Decimal {
    Decimal::parse_exact(text).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn texts_round_trip() {
    let nines = "9".repeat(65);
    for text in
        ["0", "0.00", "1", "-1", "0.5", "-0.05", "123456789012345678901234567890.123456789", &nines, "10000000000000000000"]
    {
        assert_eq!(d(text).to_string(), text);
    }
    assert_eq!(d("1e3").to_string(), "1000");
    assert_eq!(d("1.5e-3").to_string(), "0.0015");
    assert_eq!(d(".5").to_string(), "0.5");
    assert_eq!(d("5.").to_string(), "5");
    assert_eq!(d("-0").to_string(), "0");
    assert_eq!(d("0e5").to_string(), "0");
    assert_eq!(d("12.34e1").to_string(), "123.4");
}

#[test]
fn parse_reports_rest_and_overflow() {
    let p = Decimal::parse(b" 12abc");
    assert_eq!((p.value, p.consumed), (d("12"), 3));
    assert_eq!(Decimal::parse(b"abc").consumed, 0);
    assert_eq!(Decimal::parse(b"-").consumed, 0);
    assert_eq!(Decimal::parse(b".").consumed, 0);
    assert_eq!(Decimal::parse(b"1e").consumed, 1);
    assert!(Decimal::parse("1".repeat(82).as_bytes()).overflow);
    assert!(!Decimal::parse("1".repeat(81).as_bytes()).overflow);
    assert!(Decimal::parse(b"1e81").overflow);
    assert!(!Decimal::parse(b"1e80").overflow);
    assert!(Decimal::parse(b"1e999999999999999999999").overflow);
    let tiny = Decimal::parse(b"1e-999999999999999999999");
    assert!(tiny.value.is_zero() && tiny.truncated);
}

#[test]
fn division_is_mysqls() {
    let div = |a: &str, b: &str| d(a).divide(&d(b), 4).unwrap().unwrap().to_string();
    assert_eq!(div("1", "3"), "0.3333");
    assert_eq!(div("2", "3"), "0.6667");
    assert_eq!(div("-10", "4"), "-2.5000");
    assert_eq!(div("1.5", "0.5"), "3.00000");
    assert!(d("1").divide(&Decimal::ZERO, 4).is_none());
    assert_eq!(d("7").modulo(&d("-3")).unwrap().unwrap().to_string(), "1");
    assert_eq!(d("-7.5").modulo(&d("2")).unwrap().unwrap().to_string(), "-1.5");
    assert_eq!(d("7.9").integer_divide(&d("2")).unwrap().unwrap().to_string(), "3");
    // 0.0055780327…: the nine digits are one group, of which none behind is computed; a divisor with digits has a second group.
    assert_eq!(div("0.34026", "61"), "0.005578032");
    assert_eq!(div("0.34026", "61.0"), "0.005578033");
    // More digits than a column has.
    assert_eq!(
        div("456418145664275080949163776911092744768623560678443815928463902", "13"),
        "35109088128021160073012598223930211136047966206034139686804915.5385"
    );
}

#[test]
fn zero_has_no_exponent() {
    for text in ["0e1000000", "00.000e99999999999999999999", "-0e66", ".0e1000000"] {
        let parsed = Decimal::parse(text.as_bytes());
        assert!(parsed.value.is_zero() && !parsed.overflow, "{text}");
        assert_eq!((parsed.value.scale(), parsed.consumed), (0, text.len()), "{text}");
    }
    assert_eq!(Decimal::parse(b"0e-1000000").value.scale(), 72);
}

#[test]
fn rounding() {
    let round = |x: &str, n| d(x).round(n).unwrap().to_string();
    assert_eq!(round("2.5", 0), "3");
    assert_eq!(round("-2.5", 0), "-3");
    assert_eq!(round("1.005", 2), "1.01");
    assert_eq!(round("155", -1), "160");
    assert_eq!(round("44", -2), "0");
    assert_eq!(round("55", -2), "100");
    assert_eq!(round("1.5", 9), "1.5");
    assert_eq!(d("-1.999").truncate(1).unwrap().to_string(), "-1.9");
    assert_eq!(d("1999").truncate(-3).unwrap().to_string(), "1000");
    assert_eq!(d("-1.5").floor().unwrap().to_string(), "-2");
    assert_eq!(d("-1.5").ceiling().unwrap().to_string(), "-1");
    assert_eq!(d("1.0").ceiling().unwrap().to_string(), "1");
    assert_eq!(d("9.99").rescale(1).unwrap().to_string(), "10.0");
    let nines = d(&"9".repeat(81));
    assert!(nines.round(-1).is_err());
    assert!(nines.add(&d("1")).is_err());
    assert!(nines.add(&d("0.4")).is_err());
    assert_eq!(nines.subtract(&d("0.4")), Ok(nines));
}

#[test]
fn conversions() {
    assert_eq!(d("9223372036854775807.4").to_i64(), Ok(i64::MAX));
    assert_eq!(d("9223372036854775807.5").to_i64(), Err(i64::MAX));
    assert_eq!(d("-9223372036854775808").to_i64(), Ok(i64::MIN));
    assert_eq!(d("-0.4").to_u64(), Ok(0));
    assert_eq!(d("-0.5").to_u64(), Err(0));
    assert_eq!(d("18446744073709551616").to_u64(), Err(u64::MAX));
    assert_eq!(d("0.1").to_f64(), 0.1);
    assert_eq!(d("123456789012345678901234567890.5").to_f64(), 123456789012345678901234567890.5);
    assert_eq!(Decimal::from_f64(0.1).unwrap().to_string(), "0.1");
    assert_eq!(Decimal::from_f64(1e20).unwrap().to_string(), "100000000000000000000");
    assert!(Decimal::from_f64(1e100).is_err());
    assert_eq!(Decimal::max_value(5, 2, true).to_string(), "-999.99");
}

fn decimals() -> impl Strategy<Value = Decimal> {
    (proptest::collection::vec(0u8..10, 1..65), 0usize..31, any::<bool>()).prop_map(|(digits, scale, negative)| {
        let mut text = String::new();
        if negative {
            text.push('-');
        }
        let point = digits.len().saturating_sub(scale);
        for (i, digit) in digits.iter().enumerate() {
            if i == point {
                text.push('.');
            }
            text.push(char::from(b'0' + digit));
        }
        d(&text)
    })
}

/// The magnitude at scale 65, as a big integer.
fn big(x: &Decimal) -> BigInt {
    at_scale(&x.to_string(), 65)
}

fn at_scale(text: &str, scale: usize) -> BigInt {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction:0<scale$}");
    digits.parse().unwrap()
}

proptest! {
    #[test]
    fn sums_and_order_agree(a in decimals(), b in decimals()) {
        prop_assert_eq!(a.cmp(&b), big(&a).cmp(&big(&b)));
        if a.integer_digits() < 34 && b.integer_digits() < 34 {
            prop_assert_eq!(big(&a.add(&b).unwrap()), big(&a) + big(&b));
            prop_assert_eq!(big(&a.subtract(&b).unwrap()), big(&a) - big(&b));
        }
    }

    #[test]
    fn products_agree(a in decimals(), b in decimals()) {
        let whole = (a.integer_digits() + b.integer_digits()).div_ceil(GROUP).max(1);
        let behind = u32::from(a.scale()).div_ceil(GROUP) + u32::from(b.scale()).div_ceil(GROUP);
        let product = a.multiply(&b);
        prop_assert_eq!(product.is_err(), whole > GROUPS_MAX);
        if let Ok(product) = product {
            let exact = big(&a) * big(&b);
            let shown = at_scale(&product.to_string(), 130);
            if whole + behind <= GROUPS_MAX {
                prop_assert_eq!(exact, shown);
            } else {
                prop_assert!(shown.magnitude() <= exact.magnitude());
            }
        }
    }

    #[test]
    fn quotients_agree(a in decimals(), b in decimals()) {
        if let Some(quotient) = a.divide(&b, 4) {
            if let Ok(q) = quotient {
                let numerator = big(&a) * BigInt::from(10).pow(u32::from(q.scale()) + 1) / big(&b);
                // Of a quotient whose last digit ends a group of nine, MySQL computes none to round by.
                let rounding = if quotient_scale(a.scale(), b.scale(), 4) == q.scale() { 0 } else { 5 };
                let exact = (BigInt::from(numerator.magnitude().clone()) + rounding) / 10;
                prop_assert_eq!(exact, at_scale(&q.abs().to_string(), usize::from(q.scale())));
            }
            let rest = a.modulo(&b).unwrap().unwrap();
            prop_assert_eq!(big(&rest), big(&a) % big(&b));
        }
    }

    #[test]
    fn ordered_bytes_keep_order(a in decimals(), b in decimals()) {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let clamp = |v: &Decimal| {
            let v = v.rescale(30).unwrap_or(Decimal::max_value(65, 30, v.is_negative()));
            if v.fits(65, 30) { v } else { Decimal::max_value(65, 30, v.is_negative()) }
        };
        a.encode_ordered(65, 30, &mut x);
        b.encode_ordered(65, 30, &mut y);
        prop_assert_eq!(x.cmp(&y), clamp(&a).cmp(&clamp(&b)));
        prop_assert_eq!(Decimal::decode_ordered(&x, 65, 30).unwrap(), clamp(&a));
    }

    #[test]
    fn small_ordered_bytes_round_trip(precision in 1u8..=65, seed in any::<u128>(), negative in any::<bool>()) {
        let limit = POW10_U128[usize::from(precision).min(38)];
        for magnitude in [seed % limit, limit - 1, 0] {
            let value = Decimal::from_parts(magnitude, 0, negative);
            let mut bytes = Vec::new();
            value.encode_ordered(precision, 0, &mut bytes);
            prop_assert_eq!(bytes.len(), Decimal::ordered_bytes(precision));
            prop_assert_eq!(Decimal::decode_ordered(&bytes, precision, 0), Some(value));
        }
    }

    #[test]
    fn parse_never_panics(text in proptest::collection::vec(any::<u8>(), 0..90)) {
        let _ = Decimal::parse(&text);
    }

    #[test]
    fn odd_numbers_never_panic(text in "[-+]?[0-9]{0,80}[.]?[0-9]{0,80}(e[-+]?[0-9]{1,4})?") {
        let p = Decimal::parse(text.as_bytes());
        let _ = (p.value.to_string(), p.value.to_f64(), p.value.floor(), p.value.round(-3));
    }
}

/// Behind the point are whole groups of nine digits, as many as those before it leave of nine; digits behind them are cut off.
#[test]
fn groups_behind_the_point_are_cut_off() {
    let add = |a: &str, b: &str| d(a).add(&d(b)).unwrap().to_string();
    let (long, longer) = ("1".repeat(63), "1".repeat(64));
    assert_eq!(add(&long, "0.9999999999999999999"), format!("{long}.999999999999999999"));
    assert_eq!(add(&longer, "0.9999999999"), format!("{longer}.999999999"));
    assert_eq!(add(&"1".repeat(73), "0.9"), "1".repeat(73));
    assert_eq!(d(&format!("0.{}", "8".repeat(80))).to_string(), format!("0.{}", "8".repeat(72)));
    let subtract = |a: &str, b: &str| d(a).subtract(&d(b)).unwrap().to_string();
    assert_eq!(subtract(&longer, "1.0000000009"), format!("{}0.000000000", "1".repeat(63)));
    let (half, third) = ("2".repeat(36), "3".repeat(36));
    // Eight groups before the point leave one behind it, of four: the factors lose one and two.
    let product = d(&format!("{half}.5{}", "0".repeat(17))).multiply(&d(&format!("{third}.{}1", "0".repeat(17)))).unwrap();
    assert_eq!(product.scale(), 9);
    assert_eq!(product, d(&format!("{half}.5")).multiply(&d(&third)).unwrap());
    assert!(d(&"1".repeat(41)).multiply(&d(&"1".repeat(41))).is_err());
    let long = d(&"7".repeat(81));
    assert_eq!(long.to_string(), "7".repeat(81));
    let mut bytes = Vec::new();
    long.encode_ordered(81, 0, &mut bytes);
    assert_eq!(Decimal::decode_ordered(&bytes, 81, 0), Some(long));
}
