//! Events: bytes of MySQL's own, and what is read back.

use super::*;

fn gtid() -> Gtid {
    Gtid::parse("3e11fa47-71ca-11e1-9e33-c80aa9429562:23").unwrap()
}

#[test]
fn a_group_comes_back() {
    for (tag, original_us) in [("", 0), ("", 7), ("blue", 0), ("blue", 7)] {
        let gtid = Gtid { tag: tag.to_owned(), ..gtid() };
        let head = GroupHead {
            gtid: Some(&gtid),
            last_committed: 5,
            sequence_number: 6,
            original_us,
            commit_us: 1_764_336_000_000_001,
            server_version: 80_400,
        };
        for body_bytes in [100, 190, 200, 240, 250, 60_000, 65_480, 70_000, 1 << 40] {
            let mut out = Vec::new();
            put_gtid(&mut out, 1, &head, body_bytes, true);
            assert!(finish(&mut out, 4, true));
            let seen = see(&out[..out.len() - CHECKSUM_BYTES]).expect("sound");
            let original_us = if original_us == 0 { head.commit_us } else { original_us };
            let times = CommitTimes { original_us, immediate_us: head.commit_us };
            assert_eq!(commit_times(&out[..out.len() - CHECKSUM_BYTES]), Some(times));
            let bytes = body_bytes + out.len() as u64;
            assert_eq!(seen, Seen::Group { gtid: Some(gtid.clone()), last_committed: 5, sequence_number: 6, bytes });
        }
    }
}

#[test]
fn statements_come_back() {
    let context = QueryContext {
        ddl_xid: Some(77),
        time_zone: Some("SYSTEM".to_owned()),
        invoker: Some(("root".to_owned(), "localhost".to_owned())),
        databases: vec!["db".to_owned(), "other".to_owned()],
        microseconds: Some(12),
        database_collation: Some(255),
        ..QueryContext::default()
    };
    let mut out = Vec::new();
    put_query(&mut out, (1, 2), &context, "db", b"CREATE TABLE t (a INT)", false);
    let expected = Seen::Query { database: "db".to_owned(), statement: b"CREATE TABLE t (a INT)".to_vec(), xid: Some(77) };
    assert_eq!(see(&out), Some(expected));
    let mut out = Vec::new();
    put_query(&mut out, (1, 2), &QueryContext::default(), "", b"BEGIN", false);
    assert!(matches!(see(&out), Some(Seen::Query { xid: None, statement, .. }) if statement == b"BEGIN"));
}

#[test]
fn positions_and_checksums_are_filled_in() {
    let mut out = Vec::new();
    put_xid(&mut out, 1, 2, 3, true);
    put_stop(&mut out, 1, 2, true);
    assert!(finish(&mut out, 1000, true));
    let first = Head::parse(&out).unwrap();
    assert_eq!((first.kind, first.bytes, first.position), (XID, 31, 1031));
    let second = Head::parse(&out[31..]).unwrap();
    assert_eq!((second.kind, second.position), (STOP, 1054));
    assert_eq!(crc32(&out[..27]).to_le_bytes(), out[27..31]);
    assert!(!finish(&mut out[..40], 4, true));
}

#[test]
fn the_format_is_described() {
    let mut out = Vec::new();
    put_format_description(&mut out, 5, 1, "8.4.7", true, FLAG_IN_USE);
    assert_eq!(out.len(), HEAD_BYTES + 2 + 50 + 4 + 1 + 42 + 1 + 4);
    assert_eq!(says_checksum(&out), Some(true));
    assert_eq!(out[CREATED_AT..CREATED_AT + 4], 5u32.to_le_bytes());
    // The length of FORMAT_DESCRIPTION itself, as its own table has it.
    assert_eq!(usize::from(POST_HEADERS[usize::from(FORMAT_DESCRIPTION) - 1]), 2 + 50 + 4 + 1 + 42);
}

#[test]
fn damaged_events_are_no_panic() {
    let mut out = Vec::new();
    let context = QueryContext { ddl_xid: Some(77), databases: vec!["db".to_owned()], ..QueryContext::default() };
    put_query(&mut out, (1, 2), &context, "db", b"DROP TABLE t", false);
    for at in 0..out.len() {
        let mut damaged = out.clone();
        damaged[at] ^= 0xff;
        let _ = see(&damaged);
        let _ = see(&out[..at]);
    }
}
