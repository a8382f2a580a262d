//! Conversions compared with MySQL 9.7: `mysql.txt` has a column type, a literal, and for strict and lax mode the value
//! that the column then held (`-`: the statement failed) with the numbers of errors (E), warnings (W) and notes (N).

use super::*;
use crate::temporal::{parse_datetime, parse_time};
use crate::{Decimal, StoredRow};
use proptest::prelude::*;

fn parse_type(text: &str) -> ColumnType {
    let (name, rest) = text.split_at(text.find(['(', ' ']).unwrap_or(text.len()));
    let args = rest.split_once('(').and_then(|(_, r)| r.split_once(')')).map_or("", |(args, _)| args);
    let number = |i: usize| args.split(',').nth(i).and_then(|a| a.parse::<u32>().ok());
    let members = || args.split(',').map(|m| m.trim_matches('\'').to_string()).collect();
    let fsp = number(0).unwrap_or(0) as u8;
    let length = number(0).unwrap_or(1);
    let kind = match name {
        "tinyint" => TypeKind::TinyInt,
        "smallint" => TypeKind::SmallInt,
        "mediumint" => TypeKind::MediumInt,
        "int" => TypeKind::Int,
        "bigint" => TypeKind::BigInt,
        "decimal" => TypeKind::Decimal { precision: length as u8, scale: number(1).unwrap_or(0) as u8 },
        "float" => TypeKind::Float,
        "double" => TypeKind::Double,
        "char" => TypeKind::Char { length },
        "varchar" => TypeKind::VarChar { length },
        "binary" => TypeKind::Binary { length },
        "varbinary" => TypeKind::VarBinary { length },
        "date" => TypeKind::Date,
        "time" => TypeKind::Time { fsp },
        "datetime" => TypeKind::DateTime { fsp },
        "timestamp" => TypeKind::Timestamp { fsp },
        "year" => TypeKind::Year,
        "enum" => TypeKind::Enum { members: members() },
        "set" => TypeKind::Set { members: members() },
        "bit" => TypeKind::Bit { length: length as u8 },
        other => panic!("{other}"),
    };
    let mut ty = ColumnType { unsigned: text.ends_with("unsigned"), ..ColumnType::new(kind) };
    if matches!(ty.kind, TypeKind::Float | TypeKind::Double) {
        (ty.display_width, ty.float_decimals) = (number(0).map(|n| n as u8), number(1).map(|n| n as u8));
    }
    ty
}

fn parse_literal(text: &str) -> (Value<'static>, ColumnType) {
    let quoted = |t: &str| t.trim_matches('\'').replace("\\t", "\t").replace("\\0", "\0").into_bytes();
    let of = |kind, value| (value, ColumnType::new(kind));
    if text.starts_with('\'') {
        return of(TypeKind::VarChar { length: 99 }, Value::Bytes(quoted(text).into()));
    }
    if let Some(t) = text.strip_prefix("timestamp") {
        return of(
            TypeKind::DateTime { fsp: if t.contains('.') { 1 } else { 0 } },
            Value::DateTime(parse_datetime(&quoted(t)).unwrap().value),
        );
    }
    if let Some(t) = text.strip_prefix("date") {
        return of(TypeKind::Date, Value::Date(parse_datetime(&quoted(t)).unwrap().value.date));
    }
    if let Some(t) = text.strip_prefix("time") {
        return of(TypeKind::Time { fsp: 0 }, Value::Time(parse_time(&quoted(t)).value));
    }
    if text == "true" {
        return of(TypeKind::BigInt, Value::Int(1));
    }
    if text.contains('e') {
        return of(TypeKind::Double, Value::Double(text.parse().unwrap()));
    }
    if let Ok(number) = text.parse() {
        return of(TypeKind::BigInt, Value::Int(number));
    }
    if let Ok(number) = text.parse() {
        return (Value::UInt(number), ColumnType::unsigned(TypeKind::BigInt));
    }
    let decimal = Decimal::parse_exact(text).unwrap();
    let kind = TypeKind::Decimal { precision: decimal.precision() as u8, scale: decimal.scale() };
    of(kind, Value::Decimal(decimal))
}

fn number_of(problem: &Problem) -> u32 {
    match problem {
        Problem::OutOfRange => 1264,
        Problem::Truncated => 1265,
        Problem::TooLong => 1406,
        Problem::Incorrect { .. } => 1366,
        Problem::IncorrectTemporal { .. } | Problem::TruncatedIncorrect { .. } => 1292,
        Problem::TemporalOverflow { .. } => 1441,
        Problem::TimestampGap => 1299,
        Problem::InvalidJson { .. } => 3140,
        Problem::InvalidDocument { .. } => 3156,
        Problem::DeepJson => 3157,
        Problem::BinaryJson => 3144,
        Problem::NoGeometry => 1416,
        Problem::NoVector { .. } => 6136,
        Problem::WrongSrid { .. } => 3643,
    }
}

fn outcome(ty: &ColumnType, literal: &str, context: &StoreContext<'_>) -> String {
    let (value, from) = parse_literal(literal);
    let mut warnings = Warnings::new();
    let (mut out, error) = match store(&value, &from, ty, context, &mut warnings) {
        Ok(stored) => {
            // What is stored can be encoded and reads back the same.
            let layout = crate::RowLayout::from_columns(&[column(ty)]);
            let mut bytes = Vec::new();
            layout.encode(std::slice::from_ref(&stored), &mut bytes).unwrap();
            let read = StoredRow::new(&layout, &bytes).unwrap().get(0).unwrap().into_owned();
            assert_eq!(read, stored, "{ty:?} <- {literal}");
            let mut text = Vec::new();
            match (&ty.kind, &stored) {
                (TypeKind::Bit { .. }, Value::UInt(bits)) => text.extend_from_slice(format!("{bits:X}").as_bytes()),
                _ => write_text(&read, ty, &mut text),
            }
            (String::from_utf8(text).unwrap().replace('\0', "\\0").replace('\t', "\\t"), None)
        }
        Err(problem) => ("-".to_string(), Some(problem)),
    };
    for (severity, problem) in warnings.iter() {
        out.push_str(&format!(" {}{}", if *severity == Severity::Note { 'N' } else { 'W' }, number_of(problem)));
    }
    if let Some(problem) = error {
        out.push_str(&format!(" E{}", number_of(&problem)));
    }
    out.trim().to_string()
}

fn column(ty: &ColumnType) -> crate::schema::ColumnDef {
    crate::schema::ColumnDef::new("a", ty.clone(), true)
}

#[test]
fn assignments_are_mysqls() {
    let strict = StoreContext { now_utc_micros: 1_700_000_000_000_000, ..StoreContext::strict() };
    let lax = StoreContext { now_utc_micros: 1_700_000_000_000_000, ..StoreContext::lax() };
    let mut wrong = Vec::new();
    for line in include_str!("mysql.txt").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [ty, literal, expected_strict, expected_lax] = fields[..] else { panic!("{line}") };
        let ty = parse_type(ty);
        for (context, expected) in [(&strict, expected_strict), (&lax, expected_lax)] {
            let got = outcome(&ty, literal, context);
            if got != expected.trim() {
                wrong.push(format!("{} <- {literal}: {got:?}, MySQL {expected:?}", fields[0]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{} wrong", wrong.join("\n"), wrong.len());
}

#[test]
fn numbers_print_like_mysql() {
    let double = |v: f64| {
        let mut out = Vec::new();
        write_f64(v, &mut out);
        String::from_utf8(out).unwrap()
    };
    for text in [
        "1e15",
        "100000000000000",
        "1.2345678901234568e17",
        "0.00000000015",
        "0.00001",
        "0.000000000000001",
        "1e-16",
        "1e100",
        "0.0000000000000012345",
        "1.7976931348623157e308",
        "-0",
        "0.30000000000000004",
        "123456789012345.6",
        "1.5e-300",
        "-1.5",
        "0",
    ] {
        assert_eq!(double(text.parse().unwrap()), text);
    }
    let float = |v: f32| {
        let mut out = Vec::new();
        write_f32(v, &mut out);
        String::from_utf8(out).unwrap()
    };
    for (value, text) in [
        (1e15, "1e15"),
        (1e-5, "0.00001"),
        (3.4e38, "3.4e38"),
        (1.1754e-38, "1.1754e-38"),
        (1234567.0, "1234570"),
        (0.000_123_456_79, "0.000123457"),
        (12345678901.0, "12345700000"),
        (1e-7, "0.0000001"),
        (1.5e-16, "1.5e-16"),
        (-0.5, "-0.5"),
    ] {
        assert_eq!(float(value), text);
    }
    let fill = |kind, width, value| {
        let ty = ColumnType { zerofill: true, display_width: width, ..ColumnType::unsigned(kind) };
        let mut out = Vec::new();
        write_text(&value, &ty, &mut out);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(fill(TypeKind::Int, Some(5), Value::UInt(42)), "00042");
    assert_eq!(fill(TypeKind::Float, None, Value::Double(1.5)), "0000000001.5");
    assert_eq!(fill(TypeKind::Double, None, Value::Double(1.5)), "00000000000000000001.5");
    let decimal = Value::Decimal(Decimal::parse_exact("1.50").unwrap());
    assert_eq!(fill(TypeKind::Decimal { precision: 8, scale: 2 }, None, decimal), "000001.50");
}

#[test]
fn expressions_convert_like_mysql() {
    let mut warnings = Warnings::new();
    assert_eq!(text_to_i64(b"abc", &mut warnings), 0);
    assert_eq!(text_to_i64(b"1e3", &mut warnings), 1);
    assert_eq!(text_to_i64(b"99999999999999999999", &mut warnings), -1);
    assert_eq!(warnings.drain().count(), 3);
    assert_eq!(text_to_i64(b" -12 ", &mut warnings), -12);
    assert_eq!(text_to_f64(b"1e3", &mut warnings), 1000.0);
    assert_eq!(to_i64(&Value::Double(2.5), &mut warnings), 2);
    assert_eq!(to_i64(&Value::Double(1e30), &mut warnings), i64::MAX);
    assert_eq!(to_i64(&Value::Decimal(Decimal::parse_exact("2.5").unwrap()), &mut warnings), 3);
    assert_eq!(to_u64(&Value::Int(-1), &mut warnings), u64::MAX);
    assert!(warnings.is_empty());
    assert_eq!(text_to_decimal(b"12.345abc", &mut warnings).to_string(), "12.345");
    assert_eq!(text_to_f64(b"abc", &mut warnings), 0.0);
    assert_eq!(warnings.drain().count(), 2);
    let context = StoreContext::strict();
    let text = ColumnType::new(TypeKind::VarChar { length: 30 });
    let date = |t: &'static str, w: &mut Warnings| to_date(&Value::text(t.as_bytes()), &text, &context, w);
    assert_eq!(date("2024-01-02abc", &mut warnings), Some(crate::Date::new(2024, 1, 2)));
    assert_eq!(date("2024-02-30", &mut warnings), None);
    let time = |t: &'static str, w: &mut Warnings| to_time(&Value::text(t.as_bytes()), &text, &context, w);
    assert_eq!(time("abc", &mut warnings), None);
    assert_eq!(time("12:61:00", &mut warnings), None);
    assert_eq!(time("1:1", &mut warnings), Some(crate::Time { micros: 3_660_000_000 }));
    assert_eq!(to_datetime(&Value::text(b"xyz"), &text, &context, &mut warnings), None);
    assert_eq!(warnings.drain().count(), 5);
}

#[test]
fn json_texts() {
    for good in ["{}", "[]", "[1,-2.5e3,\"a\\u00e9\",null]", "{\"a\":[{\"b\":true}]}", " \"x\" ", "0"] {
        assert!(is_valid_json(good.as_bytes()), "{good}");
    }
    for bad in ["", "abc", "{", "[1,]", "{\"a\"}", "01", "\"\u{1}\"", "[1]]", "{\"a\":1,}", "nul", "-", "1.", "[1 2]"] {
        assert!(!is_valid_json(bad.as_bytes()), "{bad}");
    }
    assert!(!is_valid_json("[".repeat(10_000).as_bytes()));
}

fn kinds() -> Vec<ColumnType> {
    let names = [
        "tinyint",
        "int unsigned",
        "bigint",
        "decimal(10,3)",
        "float",
        "double",
        "double(7,3)",
        "char(5)",
        "varchar(5)",
        "binary(5)",
        "varbinary(5)",
        "date",
        "time(3)",
        "datetime(6)",
        "timestamp(0)",
        "year",
        "enum('a','b')",
        "set('a','b')",
        "bit(7)",
    ];
    names.map(parse_type).to_vec()
}

fn values() -> impl Strategy<Value = Value<'static>> {
    let text = prop_oneof!["[-+0-9:. eT/]{0,26}", ".{0,8}"].prop_map(String::into_bytes);
    prop_oneof![
        any::<i64>().prop_map(Value::Int),
        any::<u64>().prop_map(Value::UInt),
        any::<f64>().prop_map(Value::Double),
        "[-]?[0-9]{1,34}[.][0-9]{0,30}".prop_map(|t| Value::Decimal(Decimal::parse(t.as_bytes()).value)),
        text.prop_map(|t| Value::Bytes(t.into())),
        proptest::collection::vec(any::<u8>(), 0..9).prop_map(|t| Value::Bytes(t.into())),
        any::<u32>().prop_filter_map("a date", |bits| crate::Date::unpack(bits >> 8).map(Value::Date)),
        any::<i64>().prop_map(|micros| Value::Time(crate::Time { micros: micros % crate::temporal::TIME_MICROS_MAX })),
        (0i64..253_000_000_000_000_000).prop_filter_map("a time", |m| crate::DateTime::from_utc_micros(m).map(Value::DateTime)),
    ]
}

proptest! {
    /// Whatever is stored can be encoded in a row and in a key and reads back; nothing panics.
    #[test]
    fn stored_values_encode(value in values()) {
        for to in kinds() {
            let from = ColumnType::new(TypeKind::VarChar { length: 99 });
            for context in [StoreContext::strict(), StoreContext::lax()] {
                let Ok(stored) = store(&value, &from, &to, &context, &mut Warnings::new()) else { continue };
                let layout = crate::RowLayout::from_columns(&[column(&to)]);
                let mut bytes = Vec::new();
                layout.encode(std::slice::from_ref(&stored), &mut bytes).unwrap();
                prop_assert_eq!(&StoredRow::new(&layout, &bytes).unwrap().get(0).unwrap(), &stored);
                let part = crate::KeyPart { column: 0, ty: to.clone(), nullable: true, prefix: None, descending: false };
                let mut key = Vec::new();
                part.encode(&stored, &mut key).unwrap();
                if part.is_reversible() {
                    prop_assert_eq!(&part.decode(&key).unwrap().0, &stored);
                }
                let mut text = Vec::new();
                write_text(&stored, &to, &mut text);
            }
        }
        let context = StoreContext::lax();
        let from = ColumnType::new(TypeKind::Double);
        let mut warnings = Warnings::new();
        let _ = (to_i64(&value, &mut warnings), to_u64(&value, &mut warnings), to_f64(&value, &mut warnings), to_decimal(&value, &mut warnings));
        let _ = to_date(&value, &from, &context, &mut warnings);
        let _ = (to_datetime(&value, &from, &context, &mut warnings), to_time(&value, &from, &context, &mut warnings));
    }

    #[test]
    fn doubles_read_back(value in any::<f64>()) {
        prop_assume!(value.is_finite());
        let mut text = Vec::new();
        write_f64(value, &mut text);
        prop_assert_eq!(text_to_f64(&text, &mut Warnings::new()), value);
    }
}
