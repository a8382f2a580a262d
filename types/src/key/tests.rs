//! Keys: order, round trips, damaged bytes.

use super::*;
use crate::{CollationId, LobSize, TypeKind as K};
use proptest::prelude::*;
use std::cmp::Ordering;

fn part(ty: ColumnType) -> KeyPart {
    KeyPart { column: 0, ty, nullable: false, prefix: None, descending: false }
}

fn encoded(part: &KeyPart, value: &Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    part.encode(value, &mut out).unwrap();
    out
}

/// Values in ascending order; every way to hold them keeps it and reads them back.
fn check(ty: &ColumnType, values: &[Value<'_>]) {
    for (nullable, descending) in [(false, false), (true, false), (false, true), (true, true)] {
        let part = KeyPart { nullable, descending, ..part(ty.clone()) };
        let keys: Vec<_> = values.iter().map(|v| encoded(&part, v)).collect();
        for pair in keys.windows(2) {
            let order = if descending { pair[1].cmp(&pair[0]) } else { pair[0].cmp(&pair[1]) };
            assert_eq!(order, Ordering::Less, "{ty:?}");
        }
        for (key, value) in keys.iter().zip(values) {
            let mut longer = key.clone();
            longer.extend_from_slice(&[7, 0, 255]);
            assert_eq!(part.encoded_bytes(&longer), Ok(key.len()), "{ty:?} {value:?}");
            if is_reversible(ty) {
                assert_eq!(part.decode(&longer), Ok((value.borrowed(), key.len())));
            }
        }
        if nullable {
            let null = encoded(&part, &Value::Null);
            assert_eq!(null < keys[0], !descending);
            assert_eq!(part.decode(&null), Ok((Value::Null, 1)));
        }
    }
}

#[test]
fn numbers_keep_order() {
    let ints = |v: &[i64]| v.iter().map(|&v| Value::Int(v)).collect::<Vec<_>>();
    let uints = |v: &[u64]| v.iter().map(|&v| Value::UInt(v)).collect::<Vec<_>>();
    check(&ColumnType::new(K::TinyInt), &ints(&[-128, -1, 0, 1, 127]));
    check(&ColumnType::new(K::MediumInt), &ints(&[-8_388_608, -1, 0, 8_388_607]));
    check(&ColumnType::new(K::BigInt), &ints(&[i64::MIN, -1, 0, 1, i64::MAX]));
    check(&ColumnType::unsigned(K::BigInt), &uints(&[0, 1, 1 << 63, u64::MAX]));
    check(&ColumnType::unsigned(K::SmallInt), &uints(&[0, 32_768, 65_535]));
    let doubles = [f64::MIN, -1.5, -1e-300, 0.0, 1e-300, 1.5, f64::MAX].map(Value::Double);
    check(&ColumnType::new(K::Double), &doubles);
    check(&ColumnType::new(K::Float), &[-2.0, -0.5, 0.0, 0.5].map(Value::Double));
    let decimals = ["-99.99", "-0.01", "0.00", "0.01", "99.99"].map(|t| Value::Decimal(Decimal::parse_exact(t).unwrap()));
    check(&ColumnType::new(K::Decimal { precision: 4, scale: 2 }), &decimals);
    check(&ColumnType::new(K::Year), &ints(&[0, 1901, 2155]));
    check(&ColumnType::new(K::Bit { length: 64 }), &uints(&[0, u64::MAX]));
    assert_eq!(
        encoded(&part(ColumnType::new(K::Double)), &Value::Double(-0.0)),
        encoded(&part(ColumnType::new(K::Double)), &Value::Double(0.0))
    );
}

#[test]
fn temporal_keep_order() {
    let date = |y, m, d| Date::new(y, m, d);
    let dates = [Date::ZERO, date(2024, 0, 0), date(2024, 2, 29), date(9999, 12, 31)];
    check(&ColumnType::new(K::Date), &dates.map(Value::Date));
    let moments = [DateTime::ZERO, date(1970, 1, 1).at_midnight(), date(2038, 1, 19).at_midnight()];
    check(&ColumnType::new(K::DateTime { fsp: 6 }), &moments.map(Value::DateTime));
    check(&ColumnType::new(K::Timestamp { fsp: 6 }), &moments.map(Value::DateTime));
    check(&ColumnType::new(K::Time { fsp: 6 }), &[Time::MIN, Time { micros: -1 }, Time::default(), Time::MAX].map(Value::Time));
}

#[test]
fn strings_keep_order() {
    let strings = |v: &[&'static str]| v.iter().map(|v| Value::text(v.as_bytes())).collect::<Vec<_>>();
    let of = |kind, id| ColumnType { collation: id, ..ColumnType::new(kind) };
    check(&of(K::VarChar { length: 9 }, CollationId::UTF8MB4_BIN), &strings(&["\u{1}", "", "A", "a", "a b", "a\u{7f}", "é"]));
    check(&of(K::Char { length: 9 }, CollationId::UTF8MB4_BIN), &strings(&["a\u{1}", "a", "a b", "ab"]));
    check(&of(K::VarBinary { length: 9 }, CollationId::BINARY), &strings(&["", "\0", "\0\0", "\u{1}", "a", "a\0", "a "]));
    check(&of(K::Text(LobSize::Tiny), CollationId::UTF8MB4_GENERAL_CI), &strings(&["", "a", "A b", "É", "z"]));
    check(&of(K::VarChar { length: 9 }, CollationId::UTF8MB4_0900_AI_CI), &strings(&["", " ", "1", "a", "a ", "É", "z"]));
    let members = ["z".to_string(), "a".to_string(), "m".to_string()];
    check(&ColumnType::new(K::Enum { members: members.clone().into() }), &strings(&["", "z", "a", "m"]));
    check(&ColumnType::new(K::Set { members: members.into() }), &strings(&["", "z", "a", "z,a", "m", "z,a,m"]));
}

#[test]
fn prefixes_and_limits() {
    let mut p = part(ColumnType::new(K::VarChar { length: 900 }));
    p.prefix = Some(2);
    assert_eq!(encoded(&p, &Value::text("éab".as_bytes())), encoded(&p, &Value::text(b"EAzzz")));
    let codec = KeyCodec { parts: [part(ColumnType::new(K::VarChar { length: 5000 }))].into() };
    let long = "x".repeat(2000);
    let error = codec.encode_values(&[Value::text(long.as_bytes())], &mut Vec::new());
    assert_eq!(error, Err(Error::KeyTooLong { max: 3072 }));
    assert_eq!(prefix_successor(&[1, 255, 255]), Some(vec![2]));
    assert_eq!(prefix_successor(&[255]), None);
}

#[test]
fn whole_keys() {
    let (int, text) = (ColumnType::new(K::Int), ColumnType::new(K::VarBinary { length: 9 }));
    let codec = KeyCodec {
        parts: [
            KeyPart { nullable: true, ..part(int.clone()) },
            KeyPart { column: 1, descending: true, ..part(text) },
            KeyPart { column: 2, ..part(int) },
        ]
        .into(),
    };
    let mut key = Vec::new();
    assert_eq!(codec.encode_values(&[Value::Int(5), Value::text(b"a\0b"), Value::Int(-5)], &mut key), Ok(false));
    assert_eq!(codec.decode(&key, 0), Ok(Value::Int(5)));
    assert_eq!(codec.decode(&key, 1), Ok(Value::text(b"a\0b")));
    assert_eq!(codec.decode(&key, 2), Ok(Value::Int(-5)));
    assert_eq!(codec.offset(&key, 3), Ok(key.len()));
    assert!(codec.decode(&key[..key.len() - 1], 2).is_err());
}

proptest! {
    #[test]
    fn damaged_keys_never_panic(key in proptest::collection::vec(any::<u8>(), 0..20)) {
        let kinds = [
            K::Int, K::Double, K::Decimal { precision: 20, scale: 3 }, K::Date, K::Time { fsp: 0 }, K::DateTime { fsp: 0 },
            K::Timestamp { fsp: 0 }, K::Year, K::Enum { members: ["a".to_string()].into() }, K::Set { members: ["a".to_string()].into() },
            K::VarChar { length: 5 }, K::VarBinary { length: 5 }, K::Bit { length: 3 },
        ];
        for kind in kinds {
            for (nullable, descending) in [(false, false), (true, false), (true, true)] {
                let part = KeyPart { nullable, descending, ..part(ColumnType::new(kind.clone())) };
                let _ = part.decode(&key);
                let _ = part.encoded_bytes(&key);
            }
        }
    }
}
