//! Rows of all types go out and come back.

use super::*;
use crate::event;
use crate::read::RowsEvent;
use crate::row::{BadRow, RowImage};
use std::sync::Arc;
use types::geometry::{Geometry, GeometryKind};
use types::schema::{ColumnDef, IndexColumn, IndexDef, IndexKind, TableDef, TableId};
use types::{ColumnType, LobSize};

fn bytes(text: &str) -> Value<'static> {
    Value::Bytes(Cow::Owned(text.as_bytes().to_vec()))
}

fn moment(micros: u32) -> Value<'static> {
    Value::DateTime(DateTime { date: Date::new(2012, 6, 15), hour: 13, minute: 14, second: 15, micros })
}

/// A column of each type, with values.
fn columns() -> Vec<(ColumnType, Vec<Value<'static>>)> {
    let signed = |kind: TypeKind, values: &[i64]| (ColumnType::new(kind), values.iter().map(|n| Value::Int(*n)).collect());
    let unsigned =
        |kind: TypeKind, values: &[u64]| (ColumnType::unsigned(kind), values.iter().map(|n| Value::UInt(*n)).collect());
    let texts = |kind: TypeKind, values: &[&str]| (ColumnType::new(kind), values.iter().map(|text| bytes(text)).collect());
    let mut all: Vec<(ColumnType, Vec<Value<'static>>)> = vec![
        signed(TypeKind::TinyInt, &[-128, 127, 0]),
        signed(TypeKind::SmallInt, &[-32768, 32767]),
        signed(TypeKind::MediumInt, &[-8_388_608, 8_388_607, -1]),
        signed(TypeKind::Int, &[i64::from(i32::MIN), i64::from(i32::MAX)]),
        signed(TypeKind::BigInt, &[i64::MIN, i64::MAX]),
        unsigned(TypeKind::TinyInt, &[255]),
        unsigned(TypeKind::MediumInt, &[16_777_215]),
        unsigned(TypeKind::BigInt, &[u64::MAX]),
        (ColumnType::new(TypeKind::Float), vec![Value::Double(1.5), Value::Double(-0.25)]),
        (ColumnType::new(TypeKind::Double), vec![Value::Double(1e300), Value::Double(-0.1)]),
        signed(TypeKind::Year, &[0, 1901, 2155]),
        unsigned(TypeKind::Bit { length: 1 }, &[1]),
        unsigned(TypeKind::Bit { length: 64 }, &[u64::MAX]),
        texts(TypeKind::VarChar { length: 10 }, &["", "äöü  ", "ab"]),
        texts(TypeKind::VarChar { length: 300 }, &["x", "€"]),
        texts(TypeKind::VarBinary { length: 9 }, &["\0\0"]),
        texts(TypeKind::Char { length: 4 }, &["ab", ""]),
        texts(TypeKind::Char { length: 100 }, &["é"]),
        texts(TypeKind::Binary { length: 4 }, &["a\0\0\0", "\0\0\0\0", "abcd"]),
        (ColumnType::new(TypeKind::Date), vec![Value::Date(Date::new(2026, 11, 28)), Value::Date(Date::new(0, 0, 0))]),
    ];
    let sets = [
        ("cp1251", "Жук"),
        ("sjis", "表"),
        ("gb18030", "é😀"),
        ("ujis", "丂"),
        ("utf32", "a😀"),
        ("ucs2", "é"),
        ("tis620", "ก์"),
        ("swe7", "Ä"),
    ];
    for (charset, text) in sets {
        let collation = CollationId::of_charset(charset).expect("a set");
        for kind in [TypeKind::VarChar { length: 10 }, TypeKind::Char { length: 90 }, TypeKind::Text(LobSize::Regular)] {
            all.push((ColumnType { collation, ..ColumnType::new(kind) }, vec![bytes(text), bytes("")]));
        }
    }
    for size in [LobSize::Tiny, LobSize::Regular, LobSize::Medium, LobSize::Long] {
        all.push(texts(TypeKind::Text(size), &["", "täxt"]));
        all.push(texts(TypeKind::Blob(size), &["", "bl\0b"]));
    }
    for fsp in 0..=6u8 {
        let unit = 10i64.pow(6 - u32::from(fsp));
        let times = [0, -unit, -1_000_000 - unit, 3_020_399_000_000, -3_020_399_000_000, 59 * unit, -59 * unit - 3_600_000_000];
        let times = times.iter().map(|micros| Value::Time(Time { micros: micros / unit * unit }));
        all.push((ColumnType::new(TypeKind::Time { fsp }), times.collect()));
        let micros = (123_456 / unit * unit) as u32;
        all.push((ColumnType::new(TypeKind::DateTime { fsp }), vec![moment(micros), moment(0), Value::DateTime(DateTime::ZERO)]));
        all.push((ColumnType::new(TypeKind::Timestamp { fsp }), vec![moment(micros), Value::DateTime(DateTime::ZERO)]));
    }
    for (precision, scale, texts) in [
        (14, 4, &["1234567890.1234", "-1234567890.1234", "0.0000", "-0.0001"][..]),
        (65, 30, &["99999999999999999999999999999999999.999999999999999999999999999999"]),
        (2, 2, &["0.05", "-0.99"]),
        (10, 0, &["-7", "9999999999"]),
        (9, 9, &["0.123456789"]),
    ] {
        let values = texts.iter().map(|text| Value::Decimal(Decimal::parse_exact(text).expect("a number"))).collect();
        all.push((ColumnType::new(TypeKind::Decimal { precision, scale }), values));
    }
    let members: Arc<[String]> = ["one", "zwei", "drei"].into_iter().map(str::to_owned).collect();
    let document = |text: &str| Value::Bytes(Cow::Owned(Json::parse(text.as_bytes()).expect("JSON").to_binary()));
    let documents = [
        "null",
        "[]",
        "{}",
        r#"{"a":[1,-2,70000,5000000000,1.5,true,"x"],"long":"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy","o":{"é":null}}"#,
        r#"[18446744073709551615, -9223372036854775808, 65535, 4294967295]"#,
    ];
    let large = format!("[\"{}\", {{\"k\": \"{}\"}}, 70000]", "l".repeat(70_000), "m".repeat(300));
    let documents = documents.iter().map(|text| document(text)).chain([document(&large)]).collect();
    all.push((ColumnType::new(TypeKind::Json), documents));
    let place = Geometry::point(4326, 1.5, -2.0).to_stored();
    all.push((ColumnType::geometry(GeometryKind::Point), vec![Value::Bytes(Cow::Owned(place))]));
    all.push((ColumnType::new(TypeKind::Enum { members: members.clone() }), vec![bytes("zwei")]));
    all.push((ColumnType::new(TypeKind::Set { members }), vec![bytes("one,drei"), bytes("")]));
    let latin = ColumnType { collation: CollationId::LATIN1_SWEDISH_CI, ..ColumnType::new(TypeKind::VarChar { length: 10 }) };
    all.push((latin, vec![bytes("é"), bytes("a")]));
    all
}

fn table(ty: ColumnType) -> WireTable {
    let columns = vec![ColumnDef::new("id", ColumnType::new(TypeKind::Int), false), ColumnDef::new("a", ty, true)];
    let mut def = TableDef::new(TableId(7), "db", "t", columns);
    let part = IndexColumn { column: 0, prefix: None, descending: false };
    def.indexes = vec![IndexDef::new("PRIMARY", IndexKind::Primary, vec![part])];
    WireTable::new(Arc::new(def))
}

/// TABLE_MAP and an UPDATE from NULL to `value`, as a source writes them.
fn written(table: &WireTable, value: &Value<'_>, image: RowImage) -> (Vec<u8>, Vec<u8>) {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    table.layout.encode(&[Value::Int(5), Value::Null], &mut before).expect("sound");
    let encoded = table.layout.encode(&[Value::Int(5), value.borrowed()], &mut after);
    encoded.unwrap_or_else(|error| panic!("{value:?}: {error:?}"));
    let (mut map, mut rows) = (Vec::new(), Vec::new());
    table.put_table_map(&mut map, (1, 2), true, false);
    let shown = table.shown(image, Some(&before), Some(&after)).expect("sound");
    let start = table.begin_rows(&mut rows, event::UPDATE_ROWS, (1, 2), (&shown.0, Some(&shown.1)));
    let none = |_| -> Result<Vec<u8>, BadRow> { panic!("nothing is outside of the row") };
    table.put_image(&mut rows, &before, &shown.0, none).expect("sound");
    table.put_image(&mut rows, &after, &shown.1, none).expect("sound");
    event::end(&mut rows, start, false);
    (map[event::HEAD_BYTES..].to_vec(), rows[event::HEAD_BYTES..].to_vec())
}

type Result<T, E = BadEvent> = std::result::Result<T, E>;

fn read(table: &WireTable, rows: &[u8]) -> Result<(Image, Image)> {
    let event = RowsEvent::parse(event::UPDATE_ROWS, rows)?.expect("rows");
    let mut images = event.images;
    let before = table.read_image(&mut images, &event.shown)?;
    let after = table.read_image(&mut images, &event.shown_after)?;
    if images.is_empty() { Ok((before, after)) } else { Err(BadEvent("more images")) }
}

#[test]
fn rows_of_all_types_come_back() {
    for (ty, values) in columns() {
        let table = table(ty.clone());
        for value in values {
            let (map, rows) = written(&table, &value, RowImage::Full);
            assert_eq!(table.fits(&TableMap::parse(&map).expect("a table")), Ok(()), "{ty:?}");
            let (before, after) = read(&table, &rows).unwrap_or_else(|error| panic!("{ty:?} {value:?}: {error:?}"));
            assert_eq!(before, [Some(Value::Int(5)), Some(Value::Null)], "{ty:?}");
            assert_eq!(after, [Some(Value::Int(5)), Some(value)], "{ty:?}");
        }
    }
}

#[test]
fn minimal_images_have_what_they_show() {
    for (ty, values) in columns() {
        let table = table(ty);
        for value in values {
            let (_, rows) = written(&table, &value, RowImage::Minimal);
            let (before, after) = read(&table, &rows).expect("sound");
            assert_eq!((before, after), (vec![Some(Value::Int(5)), None], vec![None, Some(value)]));
        }
    }
}

#[test]
fn other_tables_do_not_fit() {
    let mut maps = Vec::new();
    for (ty, values) in columns() {
        let (map, _) = written(&table(ty.clone()), &values[0], RowImage::Full);
        maps.push((ty, TableMap::parse(&map).expect("a table")));
    }
    for (at, (ty, _)) in maps.iter().enumerate() {
        let table = table(ty.clone());
        for (other_at, (other, map)) in maps.iter().enumerate() {
            let fits = table.fits(map);
            if at == other_at {
                assert_eq!(fits, Ok(()));
            } else {
                assert!(fits.is_ok() || fits == Err(Misfit::Column(1, "a".to_owned())), "{ty:?} {other:?}");
            }
        }
    }
    let (_, mut map) = maps.remove(0);
    map.columns.push((3, [0, 0]));
    assert_eq!(table(ColumnType::new(TypeKind::TinyInt)).fits(&map), Err(Misfit::Columns(3, 2)));
}

/// Each byte of each event is changed, and the event is cut at each place: that is an error or another row, and no panic.
#[test]
fn hostile_bytes_are_errors() {
    let mut state = 7u64;
    for (ty, values) in columns() {
        let table = table(ty);
        for value in values {
            let (map, rows) = written(&table, &value, RowImage::Full);
            for at in (0..map.len()).chain(0..rows.len().min(400)) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let noise = (state >> 56) as u8 | 1;
                if let Some(byte) = map.get(at) {
                    let mut bad = map.clone();
                    bad[at] = byte ^ noise;
                    if let Ok(bad) = TableMap::parse(&bad) {
                        let _ = table.fits(&bad);
                    }
                    let _ = TableMap::parse(&map[..at]);
                }
                if let Some(byte) = rows.get(at) {
                    let mut bad = rows.clone();
                    bad[at] = byte ^ noise;
                    let _ = read(&table, &bad);
                    assert!(read(&table, &rows[..at]).is_err(), "cut at {at}");
                }
            }
        }
    }
}
