//! What our own encoder writes is read back; what nobody writes is an error.

use super::*;
use crate::event::{self, QueryContext, Seen};

#[test]
fn a_statement_comes_back_with_its_settings() {
    let context = QueryContext {
        flags2: 1 << 26,
        sql_mode: 0x4042,
        collations: (255, 8, 33),
        ddl_xid: Some(77),
        time_zone: Some("+02:00".to_owned()),
        invoker: Some(("root".to_owned(), "localhost".to_owned())),
        databases: vec!["db".to_owned(), "other".to_owned()],
        microseconds: Some(12),
        database_collation: Some(45),
        default_utf8mb4: Some(255),
        explicit_defaults: true,
        ..QueryContext::default()
    };
    let mut out = Vec::new();
    event::put_query(&mut out, (1, 2), &context, "db", "CREATE TABLE é (a INT)".as_bytes(), true);
    assert!(event::finish(&mut out, 4, true));
    let (head, body) = open(&out, true).unwrap();
    assert_eq!((head.kind, head.server_id), (event::QUERY, 2));
    let query = QueryEvent::parse(body).unwrap();
    assert_eq!((query.database.as_str(), &query.statement[..]), ("db", "CREATE TABLE é (a INT)".as_bytes()));
    assert_eq!((query.flags2, query.sql_mode, query.collations), (Some(1 << 26), Some(0x4042), Some((255, 8, 33))));
    assert_eq!((query.time_zone.as_deref(), query.database_collation, query.micros), (Some("+02:00"), Some(45), 12));
    assert_eq!(query.invoker, Some(("root".to_owned(), "localhost".to_owned())));
    assert_eq!((query.default_utf8mb4, query.explicit_defaults), (Some(255), Some(true)));
    for cut in 0..body.len() {
        // A text that ends early is a text; all before it must be whole.
        let _ = QueryEvent::parse(&body[..cut]);
    }
    out[30] ^= 1;
    assert_eq!(open(&out, true), Err(BadEvent("an event has a wrong checksum")));
}

#[test]
fn events_of_the_stream_are_opened() {
    let mut out = Vec::new();
    event::put_rotate(&mut out, 1, 2, ("binlog.000007", 4), event::FLAG_ARTIFICIAL, true);
    assert!(event::finish(&mut out, 0, true));
    let (head, _) = open(&out, true).unwrap();
    assert_eq!((head.kind, head.flags), (event::ROTATE, event::FLAG_ARTIFICIAL));
    let seen = event::see(&out[..out.len() - CHECKSUM_BYTES]);
    assert_eq!(seen, Some(Seen::Rotate { file: "binlog.000007".to_owned(), position: 4 }));
    for cut in 0..out.len() {
        assert!(open(&out[..cut], true).is_err(), "cut at {cut}");
    }
    let mut format = Vec::new();
    event::put_format_description(&mut format, 1, 2, "8.4.0", true, 0);
    assert!(event::finish(&mut format, 4, true));
    assert!(open(&format, true).is_ok() && event::says_checksum(&format) == Some(true));
}

#[test]
fn sizes_in_an_event_reserve_no_memory() {
    // Columns: 2^62, with nothing behind.
    let rows = [&[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 254][..], &(1u64 << 62).to_le_bytes()].concat();
    assert!(RowsEvent::parse(event::WRITE_ROWS, &rows).is_err());
    let table = [&[1, 0, 0, 0, 0, 0, 1, 0, 1, b'd', 0, 1, b't', 0, 254][..], &(1u64 << 62).to_le_bytes()].concat();
    assert!(TableMap::parse(&table).is_err());
    // The extra data of version 2 is shorter than its own length.
    assert!(RowsEvent::parse(event::WRITE_ROWS, &[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0xff]).is_err());
    assert_eq!(RowsEvent::parse(event::XID, &[]), Ok(None));
}
