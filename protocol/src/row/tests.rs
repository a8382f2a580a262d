//! Rows as another implementation reads them, and byte for byte.

use super::*;
use crate::column::ColumnDefinition;
use crate::packet::HEADER_BYTES;
use mysql_common::Value as Theirs;
use mysql_common::io::ParseBuf;
use mysql_common::packets::Column;
use mysql_common::proto::{Binary, MyDeserialize, Text};
use mysql_common::row::RowDeserializer;
use mysql_common::value::ServerSide;
use proptest::prelude::*;
use std::sync::Arc;
use types::{Date, DateTime, LobSize, TypeKind};

fn encode(format: RowFormat, cells: &[(ColumnType, Value<'_>)]) -> Vec<u8> {
    let mut writer = PacketWriter::new();
    let mut encoder = RowEncoder::new(format, cells.len());
    encoder.begin(&mut writer);
    for (ty, value) in cells {
        encoder.value(&mut writer, value, ty);
    }
    encoder.end(&mut writer);
    writer.bytes()[HEADER_BYTES..].to_vec()
}

/// What `mysql_common` makes of the definitions and the row.
fn read_back(format: RowFormat, cells: &[(ColumnType, Value<'_>)]) -> Vec<Theirs> {
    let columns: Arc<[Column]> = cells
        .iter()
        .map(|(ty, _)| {
            let mut writer = PacketWriter::new();
            ColumnDefinition::expression("c", ty, true, None).write(&mut writer);
            Column::deserialize((), &mut ParseBuf(&writer.bytes()[HEADER_BYTES..])).unwrap()
        })
        .collect();
    let bytes = encode(format, cells);
    let mut buffer = ParseBuf(&bytes);
    let row = match format {
        RowFormat::Text => RowDeserializer::<ServerSide, Text>::deserialize(columns, &mut buffer).unwrap().into_inner(),
        RowFormat::Binary => RowDeserializer::<ServerSide, Binary>::deserialize(columns, &mut buffer).unwrap().into_inner(),
    };
    assert!(buffer.is_empty(), "nothing is left over");
    row.unwrap()
}

fn check(kind: TypeKind, value: Value<'_>, text: &str, binary: Theirs) {
    let cells = [(ColumnType::new(kind), value)];
    assert_eq!(read_back(RowFormat::Text, &cells), [Theirs::Bytes(text.into())], "{cells:?}");
    assert_eq!(read_back(RowFormat::Binary, &cells), [binary], "{cells:?}");
}

fn bytes(text: &str) -> Theirs {
    Theirs::Bytes(text.into())
}

fn moment(micros: u32) -> DateTime {
    DateTime { date: Date { year: 2024, month: 2, day: 29 }, hour: 23, minute: 5, second: 9, micros }
}

#[test]
fn values_of_every_type() {
    use TypeKind::*;
    check(TinyInt, Value::Int(-128), "-128", Theirs::Int(-128));
    check(SmallInt, Value::Int(-2), "-2", Theirs::Int(-2));
    check(MediumInt, Value::Int(-8_388_608), "-8388608", Theirs::Int(-8_388_608));
    check(Int, Value::Int(i32::MIN.into()), "-2147483648", Theirs::Int(i32::MIN.into()));
    check(BigInt, Value::Int(i64::MIN), "-9223372036854775808", Theirs::Int(i64::MIN));
    check(Year, Value::Int(2024), "2024", Theirs::Int(2024));
    check(Year, Value::Int(0), "0000", Theirs::Int(0));
    let decimal = types::Decimal::parse_exact("-12.50").unwrap();
    check(Decimal { precision: 10, scale: 2 }, Value::Decimal(decimal), "-12.50", bytes("-12.50"));
    check(Float, Value::Double(1.5), "1.5", Theirs::Float(1.5));
    check(Double, Value::Double(-0.25), "-0.25", Theirs::Double(-0.25));
    check(VarChar { length: 9 }, Value::Bytes(b"hi"[..].into()), "hi", bytes("hi"));
    check(Text(LobSize::Long), Value::Bytes("é".as_bytes().into()), "é", bytes("é"));
    check(Blob(LobSize::Tiny), Value::Bytes(b""[..].into()), "", bytes(""));
    check(Json, Value::Bytes(b"{}"[..].into()), "{}", bytes("{}"));
    check(Date, Value::Date(moment(0).date), "2024-02-29", Theirs::Date(2024, 2, 29, 0, 0, 0, 0));
    check(DateTime { fsp: 0 }, Value::DateTime(moment(0)), "2024-02-29 23:05:09", Theirs::Date(2024, 2, 29, 23, 5, 9, 0));
    check(Timestamp { fsp: 3 }, Value::DateTime(moment(120_000)), "2024-02-29 23:05:09.120", {
        Theirs::Date(2024, 2, 29, 23, 5, 9, 120_000)
    });
    check(DateTime { fsp: 6 }, Value::DateTime(types::DateTime::default()), "0000-00-00 00:00:00.000000", {
        Theirs::Date(0, 0, 0, 0, 0, 0, 0)
    });
    let time = |micros| Value::Time(types::Time { micros });
    check(Time { fsp: 0 }, time(0), "00:00:00", Theirs::Time(false, 0, 0, 0, 0, 0));
    check(Time { fsp: 0 }, time(-3_020_399_000_000), "-838:59:59", Theirs::Time(true, 34, 22, 59, 59, 0));
    check(Time { fsp: 2 }, time(1_250_000), "00:00:01.25", Theirs::Time(false, 0, 0, 0, 1, 250_000));
    check(Bit { length: 9 }, Value::UInt(0x41), "\0A", bytes("\0A"));
}

#[test]
fn unsigned_and_zerofill() {
    let cells = [(ColumnType::unsigned(TypeKind::BigInt), Value::UInt(u64::MAX))];
    assert_eq!(read_back(RowFormat::Binary, &cells), [Theirs::UInt(u64::MAX)]);
    let ty = ColumnType { zerofill: true, display_width: Some(5), ..ColumnType::unsigned(TypeKind::Int) };
    assert_eq!(read_back(RowFormat::Text, &[(ty.clone(), Value::UInt(42))]), [bytes("00042")]);
    assert_eq!(read_back(RowFormat::Text, &[(ty, Value::UInt(1_234_567))]), [bytes("1234567")]);
}

#[test]
fn nulls_lie_in_the_bitmap() {
    let int = ColumnType::new(TypeKind::TinyInt);
    let cells: Vec<_> = (0..15).map(|i| (int.clone(), if i % 7 == 0 { Value::Null } else { Value::Int(i) })).collect();
    assert_eq!(encode(RowFormat::Binary, &cells)[..4], [0, 0b0000_0100, 0b0000_0010, 0b0000_0001]);
    let read = read_back(RowFormat::Binary, &cells);
    assert!(read.iter().enumerate().all(|(i, v)| *v == if i % 7 == 0 { Theirs::NULL } else { Theirs::Int(i as i64) }));
    assert_eq!(read_back(RowFormat::Text, &cells), {
        let text = |i: i64| if i % 7 == 0 { Theirs::NULL } else { bytes(&i.to_string()) };
        (0..15).map(text).collect::<Vec<_>>()
    });
}

#[test]
fn a_value_of_another_kind_stays_readable() {
    let cells = [
        (ColumnType::new(TypeKind::BigInt), Value::Bytes(b"17x"[..].into())),
        (ColumnType::new(TypeKind::VarChar { length: 5 }), Value::Int(-3)),
        (ColumnType::new(TypeKind::Double), Value::Decimal(types::Decimal::parse_exact("2.5").unwrap())),
        (ColumnType::new(TypeKind::Date), Value::DateTime(moment(5))),
        (ColumnType::new(TypeKind::VarChar { length: 5 }), Value::DateTime(moment(5))),
        (ColumnType::new(TypeKind::Int), Value::Double(2.6)),
        (ColumnType::new(TypeKind::Time { fsp: 0 }), Value::Bytes(b"-00:00:01"[..].into())),
    ];
    let expected = [
        Theirs::Int(17),
        bytes("-3"),
        Theirs::Double(2.5),
        Theirs::Date(2024, 2, 29, 0, 0, 0, 0),
        bytes("2024-02-29 23:05:09.000005"),
        Theirs::Int(3),
        Theirs::Time(true, 0, 0, 0, 1, 0),
    ];
    assert_eq!(read_back(RowFormat::Binary, &cells), expected);
}

#[test]
fn a_very_long_number() {
    let ty = ColumnType { float_decimals: Some(30), ..ColumnType::new(TypeKind::Double) };
    match &read_back(RowFormat::Text, &[(ty, Value::Double(1e300))])[0] {
        Theirs::Bytes(text) => assert!(text.len() == 301 + 31 && text.starts_with(b"1"), "{}", text.len()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_cancelled_row_leaves_nothing() {
    let mut writer = PacketWriter::new();
    let mut encoder = RowEncoder::new(RowFormat::Binary, 2);
    encoder.begin(&mut writer);
    encoder.value(&mut writer, &Value::Int(1), &ColumnType::new(TypeKind::Int));
    encoder.cancel(&mut writer);
    assert!(writer.is_empty());
    encoder.cancel(&mut writer);
}

fn any_cell() -> impl Strategy<Value = (ColumnType, Value<'static>)> {
    use TypeKind::*;
    let date = (0u16..=9999, 0u8..=12, 0u8..=31).prop_map(|(year, month, day)| types::Date { year, month, day });
    let clock = (0u8..24, 0u8..60, 0u8..60, prop_oneof![Just(0u32), 0u32..1_000_000]);
    let datetime = (date.clone(), clock).prop_map(|(date, (hour, minute, second, micros))| {
        Value::DateTime(types::DateTime { date, hour, minute, second, micros })
    });
    let time = (-3_020_399_000_000i64..=3_020_399_000_000).prop_map(|micros| Value::Time(types::Time { micros }));
    prop_oneof![
        any::<i8>().prop_map(|v| (ColumnType::new(TinyInt), Value::Int(v.into()))),
        any::<i16>().prop_map(|v| (ColumnType::new(SmallInt), Value::Int(v.into()))),
        any::<i32>().prop_map(|v| (ColumnType::new(Int), Value::Int(v.into()))),
        any::<i64>().prop_map(|v| (ColumnType::new(BigInt), Value::Int(v))),
        any::<u64>().prop_map(|v| (ColumnType::unsigned(BigInt), Value::UInt(v))),
        any::<f64>().prop_map(|v| (ColumnType::new(Double), Value::Double(v))),
        any::<f32>().prop_map(|v| (ColumnType::new(Float), Value::Double(v.into()))),
        prop::collection::vec(any::<u8>(), 0..400)
            .prop_map(|v| (ColumnType::new(Blob(LobSize::Regular)), Value::Bytes(v.into()))),
        date.prop_map(|v| (ColumnType::new(Date), Value::Date(v))),
        datetime.prop_map(|v| (ColumnType::new(DateTime { fsp: 6 }), v)),
        time.prop_map(|v| (ColumnType::new(Time { fsp: 6 }), v)),
        Just((ColumnType::new(Int), Value::Null)),
    ]
}

/// The value as `mysql_common` has it.
fn theirs(value: &Value<'_>, ty: &ColumnType) -> Theirs {
    match value {
        Value::Null => Theirs::NULL,
        Value::Int(v) => Theirs::Int(*v),
        // It makes signed ones of small unsigned numbers.
        Value::UInt(v) => i64::try_from(*v).map_or(Theirs::UInt(*v), Theirs::Int),
        Value::Double(v) if ty.kind == TypeKind::Float => Theirs::Float(*v as f32),
        Value::Double(v) => Theirs::Double(*v),
        Value::Bytes(v) => Theirs::Bytes(v.to_vec()),
        Value::Date(v) => Theirs::Date(v.year, v.month, v.day, 0, 0, 0, 0),
        Value::DateTime(v) => Theirs::Date(v.date.year, v.date.month, v.date.day, v.hour, v.minute, v.second, v.micros),
        Value::Time(v) => {
            let micros = v.micros.unsigned_abs();
            let seconds = micros / 1_000_000;
            let part = |unit: u64, modulus: u64| (seconds / unit % modulus) as u8;
            Theirs::Time(
                v.micros < 0,
                (seconds / 86_400) as u32,
                part(3600, 24),
                part(60, 60),
                part(1, 60),
                (micros % 1_000_000) as u32,
            )
        }
        Value::Decimal(_) => unreachable!("not generated"),
    }
}

proptest! {
    #[test]
    fn binary_rows_are_read_back(cells in prop::collection::vec(any_cell(), 1..20)) {
        let expected: Vec<_> = cells.iter().map(|(ty, value)| theirs(value, ty)).collect();
        // Debug text, because NaN is not equal to itself.
        prop_assert_eq!(format!("{:?}", read_back(RowFormat::Binary, &cells)), format!("{expected:?}"));
    }

    #[test]
    fn text_rows_are_read_back(cells in prop::collection::vec(any_cell(), 1..20)) {
        let read = read_back(RowFormat::Text, &cells);
        for ((_, value), read) in cells.iter().zip(read) {
            match (value, read) {
                (Value::Null, Theirs::NULL) => {}
                (Value::Int(v), Theirs::Bytes(text)) => prop_assert_eq!(text, v.to_string().into_bytes()),
                (Value::Bytes(v), Theirs::Bytes(bytes)) => prop_assert_eq!(bytes, v.to_vec()),
                (Value::Null, other) => prop_assert!(false, "{:?}", other),
                _ => {}
            }
        }
    }
}
