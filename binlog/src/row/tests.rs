//! Values in the form of the binary log, beside bytes that MySQL wrote.

use super::*;
use types::CollationId;
use types::schema::{ColumnDef, IndexColumn, IndexDef, TableId};

fn image(ty: ColumnType, value: Value<'_>) -> Vec<u8> {
    let mut def = TableDef::new(TableId(7), "db", "t", vec![ColumnDef::new("a", ty, true)]);
    def.indexes = vec![IndexDef::new("", IndexKind::HiddenRowId, Vec::new())];
    let table = WireTable::new(Arc::new(def));
    let mut row = Vec::new();
    table.layout.encode(&[value], &mut row).expect("a value of the type");
    let mut out = Vec::new();
    let none = |_| -> Result<Vec<u8>, BadRow> { panic!("nothing is outside of the row") };
    table.put_image(&mut out, &row, &[true], none).expect("a sound row");
    out
}

#[test]
fn values_have_mysqls_form() {
    let check = |kind: TypeKind, value: Value<'_>, expected: &[u8]| {
        let bytes = image(ColumnType::new(kind.clone()), value);
        assert_eq!(bytes[0], 0);
        assert_eq!(&bytes[1..], expected, "{kind:?}");
    };
    check(TypeKind::TinyInt, Value::Int(-1), &[0xff]);
    check(TypeKind::MediumInt, Value::Int(-2), &[0xfe, 0xff, 0xff]);
    check(TypeKind::BigInt, Value::Int(1), &[1, 0, 0, 0, 0, 0, 0, 0]);
    check(TypeKind::Float, Value::Double(1.5), &1.5f32.to_le_bytes());
    check(TypeKind::Year, Value::Int(2026), &[126]);
    check(TypeKind::Bit { length: 10 }, Value::UInt(0x201), &[2, 1]);
    check(TypeKind::VarChar { length: 10 }, Value::text(b"ab"), &[2, b'a', b'b']);
    check(TypeKind::VarChar { length: 100 }, Value::text(b"ab"), &[2, 0, b'a', b'b']);
    check(TypeKind::Char { length: 4 }, Value::text(b"ab"), &[2, b'a', b'b']);
    check(TypeKind::Binary { length: 4 }, Value::text(b"a\0\0\0"), &[1, b'a']);
    check(TypeKind::Text(LobSize::Regular), Value::text(b"ab"), &[2, 0, b'a', b'b']);
    let date = types::Date::new(2026, 11, 28);
    check(TypeKind::Date, Value::Date(date), &[0x7c, 0xd5, 0x0f]);
    // 2012-06-15 13:14:15, and the negative fraction of the comments in MySQL's source.
    let moment = types::DateTime { date: types::Date::new(2012, 6, 15), hour: 13, minute: 14, second: 15, micros: 120_000 };
    check(
        TypeKind::DateTime { fsp: 0 },
        Value::DateTime(types::DateTime { micros: 0, ..moment }),
        &[0x99, 0x8c, 0x9e, 0xd3, 0x8f],
    );
    check(TypeKind::DateTime { fsp: 2 }, Value::DateTime(moment), &[0x99, 0x8c, 0x9e, 0xd3, 0x8f, 12]);
    check(TypeKind::Time { fsp: 2 }, Value::Time(types::Time { micros: -10_000 }), &[0x7f, 0xff, 0xff, 0xff]);
    check(TypeKind::Time { fsp: 0 }, Value::Time(types::Time { micros: 3_723_000_000 }), &[0x80, 0x10, 0x83]);
    check(TypeKind::Time { fsp: 6 }, Value::Time(types::Time { micros: -1 }), &[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff]);
}

#[test]
fn null_is_a_bit() {
    assert_eq!(image(ColumnType::new(TypeKind::Int), Value::Null), [1]);
}

#[test]
fn decimals_have_groups_of_nine_digits() {
    let check = |text: &str, precision: u8, scale: u8, expected: &[u8]| {
        let mut out = Vec::new();
        put_decimal(&mut out, &Decimal::parse_exact(text).expect("a number"), precision, scale);
        assert_eq!(out, expected, "{text}");
    };
    // MySQL's source, decimal2bin: 1234567890.1234 as DECIMAL(14,4).
    check("1234567890.1234", 14, 4, &[0x81, 0x0d, 0xfb, 0x38, 0xd2, 0x04, 0xd2]);
    check("-1234567890.1234", 14, 4, &[0x7e, 0xf2, 0x04, 0xc7, 0x2d, 0xfb, 0x2d]);
    check("0", 5, 2, &[0x80, 0, 0]);
    check("0.05", 2, 2, &[0x85]);
}

#[test]
fn a_table_is_described() {
    let mut id = ColumnDef::new("id", ColumnType::unsigned(TypeKind::Int), false);
    id.auto_increment = true;
    let latin = ColumnType { collation: CollationId::LATIN1_SWEDISH_CI, ..ColumnType::new(TypeKind::VarChar { length: 300 }) };
    let columns = vec![id, ColumnDef::new("name", latin, true)];
    let mut def = TableDef::new(TableId(9), "db", "t", columns);
    let part = IndexColumn { column: 0, prefix: None, descending: false };
    def.indexes = vec![IndexDef::new("PRIMARY", IndexKind::Primary, vec![part])];
    let table = WireTable::new(Arc::new(def));
    let mut out = Vec::new();
    table.put_table_map(&mut out, (1, 2), true, false);
    let expected = [
        &[9, 0, 0, 0, 0, 0, 1, 0][..],
        b"\x02db\0\x01t\0",
        &[2, TYPE_LONG, TYPE_VARCHAR, 2, 44, 1, 0b10],
        &[META_SIGNEDNESS, 1, 0x80],
        &[META_DEFAULT_CHARSET, 1, 8],
        &[META_COLUMN_NAME, 8, 2, b'i', b'd', 4, b'n', b'a', b'm', b'e'],
        &[META_PRIMARY_KEY, 1, 0],
        &[META_VISIBILITY, 1, 0xc0],
    ]
    .concat();
    assert_eq!(&out[event::HEAD_BYTES..], expected);
    assert!(table.has_key());
}

#[test]
fn texts_have_the_columns_character_set() {
    let latin = ColumnType { collation: CollationId::LATIN1_SWEDISH_CI, ..ColumnType::new(TypeKind::VarChar { length: 10 }) };
    assert_eq!(image(latin, Value::text("é".as_bytes())), [0, 1, 0xe9]);
    let check = |charset: &str, kind: TypeKind, text: &str, expected: &[u8]| {
        let collation = CollationId::of_charset(charset).expect("a set");
        assert_eq!(image(ColumnType { collation, ..ColumnType::new(kind) }, Value::text(text.as_bytes())), expected, "{charset}");
    };
    check("latin2", TypeKind::VarChar { length: 10 }, "žč", &[0, 2, 0xbe, 0xe8]);
    check("sjis", TypeKind::VarChar { length: 10 }, "表a", &[0, 3, 0x95, 0x5c, b'a']);
    // A length of 127 characters of two bytes has one byte, and one of 128 has two.
    check("gbk", TypeKind::VarChar { length: 127 }, "北", &[0, 2, 0xb1, 0xb1]);
    check("gbk", TypeKind::VarChar { length: 128 }, "北", &[0, 2, 0, 0xb1, 0xb1]);
    check("gb18030", TypeKind::Char { length: 4 }, "é", &[0, 2, 0xa8, 0xa6]);
    check("utf32", TypeKind::VarChar { length: 5 }, "a", &[0, 4, 0, 0, 0, b'a']);
    check("ujis", TypeKind::VarChar { length: 85 }, "丂", &[0, 3, 0x8f, 0xb0, 0xa1]);
    check("ujis", TypeKind::VarChar { length: 86 }, "丂", &[0, 3, 0, 0x8f, 0xb0, 0xa1]);
}
