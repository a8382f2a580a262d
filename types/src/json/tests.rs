//! Documents: what prints, parses, stores, orders and is found as in MySQL; damaged bytes never panic.

use super::*;
use proptest::prelude::*;

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

#[test]
fn prints_as_mysql() {
    let check = |text: &str, expected: &str| assert_eq!(String::from_utf8(json(text).to_text()).as_deref(), Ok(expected));
    check(r#"{"bb":1,"a":[1,2.0,"x\n"],"a":null}"#, r#"{"a": null, "bb": 1}"#);
    check(r#"[1,-1,18446744073709551615,1.5,true,false,null]"#, "[1, -1, 18446744073709551615, 1.5, true, false, null]");
    check(r#""\u00e4\u0001""#, "\"ä\\u0001\"");
    check(r#""\ud83d\ude00""#, "\"😀\"");
}

#[test]
fn wrong_texts() {
    let check = |text: &str, why: &'static str, position: usize| {
        assert_eq!(Json::parse(text.as_bytes()), Err(ParseError { why: Some(why), position }), "{text}");
    };
    check("", "The document is empty.", 0);
    check("[1,]", "Invalid value.", 3);
    check("{\"a\":1,}", "Missing a name for object member.", 7);
    check("[1] x", "The document root must not be followed by other values.", 4);
    check("1e999", "Number too big to be stored in double.", 0);
    let deep = "[".repeat(101);
    assert_eq!(Json::parse(deep.as_bytes()), Err(ParseError { why: None, position: 100 }));
}

#[test]
fn paths() {
    let value = json(r#"{"a": [1, {"b": 2}, 3], "b": {"c d": 4}}"#);
    let check = |path: &str, expected: &[&str]| {
        let mut found = Vec::new();
        let parsed = Path::parse(path.as_bytes()).expect(path);
        parsed.find(&value, &mut found);
        let found: Vec<String> = found.iter().map(|j| String::from_utf8(j.to_text()).unwrap()).collect();
        assert_eq!(found, expected, "{path}");
        if !parsed.is_many() {
            let binary = value.to_binary();
            let part = lookup(&binary, &parsed).unwrap().map(|part| Json::from_binary(&part).unwrap().to_text());
            assert_eq!(part.map(|p| String::from_utf8(p).unwrap()), found.first().cloned(), "{path}");
        }
    };
    check("$", &[r#"{"a": [1, {"b": 2}, 3], "b": {"c d": 4}}"#]);
    check("$.a[0]", &["1"]);
    check("$.a[0][0][last]", &["1"]);
    check("$.a[last]", &["3"]);
    check("$.a[last-1].b", &["2"]);
    check("$.a[last - 7]", &[]);
    check("$.a[1 to 2]", &["{\"b\": 2}", "3"]);
    check("$.b.\"c d\"", &["4"]);
    check("$**.b", &["{\"c d\": 4}", "2"]);
    check("$.a[*]", &["1", "{\"b\": 2}", "3"]);
    check("$.x", &[]);
    for wrong in ["$.", "$**", "a", "$[", "$.1a", "$[2 to 1]", "$.a b", "$***.a"] {
        assert!(Path::parse(wrong.as_bytes()).is_err(), "{wrong}");
    }
}

#[test]
fn rows_of_nested_parts() {
    let path = |text: &str| Path::parse(text.as_bytes()).unwrap();
    let column = |kind| TableColumn { kind };
    let columns = [
        column(TableColumnKind::Ordinality),
        column(TableColumnKind::Nested(path("$.b[*]"), vec![column(TableColumnKind::Value(path("$")))])),
        column(TableColumnKind::Exists(path("$.c"))),
    ];
    let mut rows = TableRows::new(&json(r#"[{"b": [1, 2]}, {"c": 1}]"#), &path("$[*]"));
    let rows: Vec<_> = std::iter::from_fn(|| rows.next(&columns).unwrap()).collect();
    use TableCell::{Absent, Exists, Found, Ordinal};
    let expected = vec![
        vec![Ordinal(1), Found(vec![Json::Int(1)]), Exists(false)],
        vec![Ordinal(1), Found(vec![Json::Int(2)]), Exists(false)],
        vec![Ordinal(2), Absent, Exists(true)],
    ];
    assert_eq!(rows, expected);
}

fn documents() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(Json::Int),
        (i64::MAX as u64 + 1..).prop_map(Json::UInt),
        (-1e300..1e300f64).prop_map(Json::Double),
        (any::<i64>(), 0..10u8).prop_map(|(n, s)| Json::Decimal(Decimal::from_parts(n.unsigned_abs().into(), s, n < 0))),
        ".{0,6}".prop_map(Json::String),
        any::<Vec<u8>>().prop_map(|b| Json::Opaque(TYPE_BLOB, b)),
        Just(Json::DateTime(DateTime { date: Date { year: 2024, month: 2, day: 29 }, hour: 1, minute: 2, second: 3, micros: 4 })),
        any::<i32>().prop_map(|n| Json::Time(Time { micros: n.into() })),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            proptest::collection::vec((".{0,3}", inner), 0..6).prop_map(Json::object),
        ]
    })
}

proptest! {
    #[test]
    fn binary_comes_back(document in documents()) {
        let binary = document.to_binary();
        prop_assert!(is_binary(&binary));
        prop_assert_eq!(Json::from_binary(&binary), Ok(document));
    }

    #[test]
    fn keys_order_as_documents(a in documents(), b in documents()) {
        let key = |j: &Json| { let mut out = Vec::new(); j.sort_key(&mut out); out };
        prop_assert_eq!(a.compare(&b).reverse(), b.compare(&a));
        if a.is_scalar() && b.is_scalar() {
            prop_assert_eq!(a.compare(&b), key(&a).cmp(&key(&b)));
        }
        prop_assert_eq!(a.compare(&b).is_eq(), key(&a) == key(&b));
    }

    #[test]
    fn damaged_bytes_never_panic(mut bytes in documents().prop_map(|d| d.to_binary()), at in any::<usize>(), byte in any::<u8>()) {
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = Json::from_binary(&bytes);
        let _ = lookup(&bytes, &Path::parse(b"$.a[1].b").unwrap());
        bytes.truncate(at);
        let _ = Json::from_binary(&bytes);
    }

    #[test]
    fn any_text_parses_or_not(text in any::<Vec<u8>>(), path in "[$.*a\\[\\]0-9 lastto\"]{0,12}") {
        let _ = Json::parse(&text);
        let _ = Path::parse(path.as_bytes());
    }
}
