//! Executions byte for byte, as another implementation sends them, and broken.

use super::*;
use mysql_common::Value as Theirs;
use mysql_common::packets::ComStmtExecuteRequestBuilder;
use mysql_common::proto::MySerialize;
use proptest::prelude::*;

const PLAIN: Capabilities = Capabilities::SUPPORTED.without(Capabilities::QUERY_ATTRIBUTES);

/// Head of an execution of statement 1 without cursor.
fn execute(encoded: &[u8]) -> StmtExecute<'_> {
    StmtExecute { statement_id: 1, flags: 0, encoded }
}

fn values<'a>(parameters: &'a mut Parameters, encoded: &'a [u8]) -> Result<Vec<Value<'a>>> {
    parameters.bind(&execute(encoded), PLAIN)?.collect()
}

/// One parameter of type `code` with the value bytes.
fn check(code: u8, sign: u8, bytes: &[u8], expected: Result<Value<'static>>) {
    let mut encoded = vec![0, 1, code, sign];
    encoded.extend_from_slice(bytes);
    let mut parameters = Parameters::new(1);
    assert_eq!(values(&mut parameters, &encoded).map(|mut all| all.remove(0)), expected, "type {code}");
}

#[test]
fn values_of_every_type() {
    use field_type::*;
    check(TINY, 0, &[0xff], Ok(Value::Int(-1)));
    check(TINY, 0x80, &[0xff], Ok(Value::UInt(255)));
    check(SHORT, 0, &[0xfe, 0xff], Ok(Value::Int(-2)));
    check(YEAR, 0x80, &[0xe8, 7], Ok(Value::UInt(2024)));
    check(LONG, 0, &[0xfd, 0xff, 0xff, 0xff], Ok(Value::Int(-3)));
    check(INT24, 0x80, &[1, 0, 0, 0], Ok(Value::UInt(1)));
    check(LONGLONG, 0, &[0xff; 8], Ok(Value::Int(-1)));
    check(LONGLONG, 0x80, &[0xff; 8], Ok(Value::UInt(u64::MAX)));
    check(FLOAT, 0, &1.5f32.to_le_bytes(), Ok(Value::Double(1.5)));
    check(DOUBLE, 0, &0.1f64.to_le_bytes(), Ok(Value::Double(0.1)));
    check(NEWDECIMAL, 0, b"\x05-1.50", Ok(Value::Decimal(types::Decimal::parse_exact("-1.50").unwrap())));
    check(NEWDECIMAL, 0, b"\x01x", Err(Error::ParameterRange { parameter: 0, what: "decimal" }));
    check(VAR_STRING, 0, b"\x02hi", Ok(Value::Bytes(b"hi"[..].into())));
    check(BLOB, 0, b"\x00", Ok(Value::Bytes(b""[..].into())));
    check(NULL, 0, b"", Ok(Value::Null));
    let date = Date { year: 2024, month: 2, day: 29 };
    check(DATE, 0, &[4, 0xe8, 7, 2, 29], Ok(Value::Date(date)));
    check(DATE, 0, &[0], Ok(Value::Date(Date::default())));
    let mut moment = DateTime { date, hour: 23, minute: 59, second: 58, micros: 0 };
    check(DATETIME, 0, &[7, 0xe8, 7, 2, 29, 23, 59, 58], Ok(Value::DateTime(moment)));
    moment.micros = 7;
    check(TIMESTAMP, 0, &[11, 0xe8, 7, 2, 29, 23, 59, 58, 7, 0, 0, 0], Ok(Value::DateTime(moment)));
    check(DATETIME, 0, &[4, 0xe8, 7, 13, 1], Err(Error::ParameterRange { parameter: 0, what: "date" }));
    check(DATETIME, 0, &[7, 0xe8, 7, 12, 1, 24, 0, 0], Err(Error::ParameterRange { parameter: 0, what: "time of day" }));
    check(TIME, 0, &[0], Ok(Value::Time(Time::default())));
    check(TIME, 0, &[8, 1, 1, 0, 0, 0, 2, 3, 4], Ok(Value::Time(Time { micros: -93_784_000_000 })));
    check(TIME, 0, &[12, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0, 0, 0], Ok(Value::Time(Time { micros: 1_000_005 })));
    check(TIME, 0, &[8, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0], Ok(Value::Time(Time::MAX)));
    check(DATE, 0, &[5, 0, 0, 0, 0, 0], Err(Error::Malformed { packet: PACKET, field: "date parameter", offset: 5 }));
    check(99, 0, &[0], Err(Error::Malformed { packet: PACKET, field: "parameter type", offset: 4 }));
    check(LONG, 0, &[1, 2], Err(Error::Malformed { packet: PACKET, field: "parameter value", offset: 4 }));
}

#[test]
fn the_head() {
    let parsed = StmtExecute::parse(&[7, 0, 0, 0, 1, 1, 0, 0, 0, 9]).unwrap();
    assert_eq!((parsed.statement_id, parsed.wants_cursor(), parsed.encoded), (7, true, &[9][..]));
    assert!(StmtExecute::parse(&[7, 0, 0, 0, 1, 1]).is_err());
}

#[test]
fn types_are_remembered() {
    let mut parameters = Parameters::new(2);
    let no_types = Err(Error::Malformed { packet: PACKET, field: "new-types flag", offset: 2 });
    assert_eq!(values(&mut parameters, &[0, 0, 5, 6]), no_types);
    assert_eq!(values(&mut parameters, &[0, 1, 1, 0, 2, 0, 5, 6, 0]), Ok(vec![Value::Int(5), Value::Int(6)]));
    assert_eq!(values(&mut parameters, &[0, 0, 7, 8, 0]), Ok(vec![Value::Int(7), Value::Int(8)]));
    assert_eq!(values(&mut parameters, &[2, 0, 9]), Ok(vec![Value::Int(9), Value::Null]));
    assert_eq!(parameters.types()[1], ParameterType { code: 2, unsigned: false });
}

#[test]
fn long_data_takes_the_place_of_a_value() {
    let mut parameters = Parameters::new(2);
    parameters.append_long_data(1, b"ab", 4).unwrap();
    parameters.append_long_data(1, b"cd", 4).unwrap();
    assert_eq!(parameters.append_long_data(1, b"e", 4), Err(Error::TooLarge { bytes: 5, limit: 4 }));
    assert_eq!(parameters.append_long_data(2, b"e", 4), Err(Error::ParameterNumber { parameter: 2, count: 2 }));
    let expected = vec![Value::Int(5), Value::Bytes(b"abcd"[..].into())];
    assert_eq!(values(&mut parameters, &[0, 1, 1, 0, 252, 0, 5]), Ok(expected));
    parameters.forget_long_data();
    assert!(values(&mut parameters, &[0, 0, 5]).is_err());
}

#[test]
fn no_parameters() {
    assert_eq!(values(&mut Parameters::new(0), &[]), Ok(vec![]));
    let mut parameters = Parameters::new(0);
    let mut head = execute(&[0]);
    head.flags = PARAMETER_COUNT_AVAILABLE;
    assert_eq!(parameters.bind(&head, Capabilities::SUPPORTED).unwrap().count(), 0);
}

#[test]
fn attributes_beside_parameters() {
    // Two values: one parameter without a name, one attribute "tag".
    let encoded = b"\x02\0\x01\x01\0\0\xfe\0\x03tag\x05\x01x";
    let mut head = execute(encoded);
    head.flags = PARAMETER_COUNT_AVAILABLE;
    let mut parameters = Parameters::new(1);
    let all: Result<Vec<_>> = parameters.bind(&head, Capabilities::SUPPORTED).unwrap().collect();
    assert_eq!(all, Ok(vec![Value::Int(5)]));
    assert_eq!(parameters.types().len(), 1);
    let mut parameters = Parameters::new(3);
    assert!(parameters.bind(&head, Capabilities::SUPPORTED).is_err(), "fewer values than parameters");
    let lie = execute(b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff");
    assert!(Parameters::new(1).bind(&lie, Capabilities::SUPPORTED).is_err());
}

fn any_value() -> impl Strategy<Value = Theirs> {
    prop_oneof![
        Just(Theirs::NULL),
        any::<i64>().prop_map(Theirs::Int),
        any::<u64>().prop_map(Theirs::UInt),
        (-1e300..1e300).prop_map(Theirs::Double),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Theirs::Bytes),
        (0u16..9999, 1u8..13, 1u8..29, 0u8..24, 0u8..60, 0u8..60, 0u32..1_000_000)
            .prop_map(|(a, b, c, d, e, f, g)| Theirs::Date(a, b, c, d, e, f, g)),
        (any::<bool>(), 0u32..30, 0u8..24, 0u8..60, 0u8..60, 0u32..1_000_000)
            .prop_map(|(a, b, c, d, e, f)| Theirs::Time(a, b, c, d, e, f)),
    ]
}

fn same(ours: &Value<'_>, theirs: &Theirs) -> bool {
    match (ours, theirs) {
        (Value::Null, Theirs::NULL) => true,
        (Value::Int(a), Theirs::Int(b)) => a == b,
        (Value::UInt(a), Theirs::UInt(b)) => a == b,
        // It sends unsigned numbers as signed ones where they fit, and the other way round.
        (Value::Int(a), Theirs::UInt(b)) => u64::try_from(*a) == Ok(*b),
        (Value::UInt(a), Theirs::Int(b)) => i64::try_from(*a) == Ok(*b),
        (Value::Double(a), Theirs::Double(b)) => a == b,
        (Value::Bytes(a), Theirs::Bytes(b)) => **a == **b,
        (Value::DateTime(a), Theirs::Date(year, month, day, hour, minute, second, micros)) => {
            let date = Date { year: *year, month: *month, day: *day };
            *a == DateTime { date, hour: *hour, minute: *minute, second: *second, micros: *micros }
        }
        (Value::Time(a), Theirs::Time(negative, days, hours, minutes, seconds, micros)) => {
            let hours = i64::from(*days) * 24 + i64::from(*hours);
            let total = ((hours * 60 + i64::from(*minutes)) * 60 + i64::from(*seconds)) * 1_000_000 + i64::from(*micros);
            a.micros == if *negative { -total } else { total }
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn another_implementations_executions_are_read(sent in prop::collection::vec(any_value(), 1..20)) {
        let mut body = Vec::new();
        ComStmtExecuteRequestBuilder::new(9).build(&sent).0.serialize(&mut body);
        let head = StmtExecute::parse(&body[1..]).unwrap();
        prop_assert_eq!(head.statement_id, 9);
        let mut parameters = Parameters::new(sent.len());
        let read: Vec<_> = parameters.bind(&head, PLAIN).unwrap().map(Result::unwrap).collect();
        prop_assert_eq!(read.len(), sent.len());
        for (ours, theirs) in read.iter().zip(&sent) {
            prop_assert!(same(ours, theirs), "{:?} {:?}", ours, theirs);
        }
    }

    #[test]
    fn random_bytes_never_panic(count in 0usize..20, bodies in prop::collection::vec(any::<Vec<u8>>(), 1..4), plain: bool, flags: u8) {
        let mut parameters = Parameters::new(count);
        let agreed = if plain { PLAIN } else { Capabilities::SUPPORTED };
        for body in &bodies {
            let head = StmtExecute { statement_id: 0, flags, encoded: body };
            if let Ok(values) = parameters.bind(&head, agreed) {
                prop_assert!(values.count() <= count);
            }
        }
    }
}
