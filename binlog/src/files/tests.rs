//! Files: what is written is found again, and a part of a group is cut off.

use super::*;
use crate::event::{GroupHead, QueryContext};
use crate::gtid::Uuid;

fn gtid(number: u64) -> Gtid {
    Gtid { uuid: Uuid([7; 16]), tag: String::new(), number }
}

fn group(number: u64, position: u64) -> Vec<u8> {
    let mut body = Vec::new();
    event::put_query(&mut body, (1, 1), &QueryContext::default(), "", b"BEGIN", true);
    event::put_xid(&mut body, 1, 1, 100 + number, true);
    let gtid = gtid(number);
    let head = GroupHead {
        gtid: Some(&gtid),
        last_committed: 0,
        sequence_number: 1,
        original_us: 0,
        commit_us: 1,
        server_version: 80400,
    };
    let mut out = Vec::new();
    event::put_gtid(&mut out, 1, &head, body.len() as u64, true);
    out.extend_from_slice(&body);
    assert!(event::finish(&mut out, position, true));
    out
}

fn begin(dir: &Path, name: &str) -> Writer {
    let mut events = Vec::new();
    event::put_format_description(&mut events, 1, 1, "8.4.7", true, event::FLAG_IN_USE);
    let mut set = GtidSet::default();
    set.add(&gtid(1));
    event::put_previous_gtids(&mut events, 1, 1, &set, true);
    Writer::create(dir, name, &mut events, true, Arc::default()).unwrap()
}

#[test]
fn a_torn_group_is_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let mut writer = begin(dir, "binlog.000001");
    let first = writer.position();
    writer.put(&group(2, writer.position())).unwrap();
    let second = writer.position();
    writer.put(&group(3, writer.position())).unwrap();
    writer.sync().unwrap();
    let whole = std::fs::read(dir.join("binlog.000001")).unwrap();
    assert_eq!(whole.len() as u64, writer.position());
    for bytes in first..writer.position() {
        std::fs::write(dir.join("binlog.000001"), &whole[..bytes as usize]).unwrap();
        let tail = scan_tail(dir, "binlog.000001", first).unwrap();
        let expected = if bytes < second { (vec![], first) } else { (vec![(Some(gtid(2)), 102)], second) };
        assert_eq!((tail.groups, tail.end), expected, "{bytes} bytes");
    }
    std::fs::write(dir.join("binlog.000001"), &whole).unwrap();
    let tail = scan_tail(dir, "binlog.000001", second).unwrap();
    assert_eq!(tail, Tail { groups: vec![(Some(gtid(3)), 103)], end: writer.position(), has_more: false });
    cut(dir, "binlog.000001", second).unwrap();
    assert_eq!(scan_tail(dir, "binlog.000001", 4).unwrap().groups, [(Some(gtid(2)), 102)]);
    assert_eq!(previous_gtids(dir, "binlog.000001").unwrap().to_string(), gtid(1).to_string());
}

#[test]
fn damage_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let mut writer = begin(dir, "binlog.000001");
    let first = writer.position();
    writer.put(&group(2, writer.position())).unwrap();
    writer.close().unwrap();
    let mut bytes = std::fs::read(dir.join("binlog.000001")).unwrap();
    bytes[first as usize + 30] ^= 1;
    std::fs::write(dir.join("binlog.000001"), &bytes).unwrap();
    let mut events = Events::open(dir, "binlog.000001", None).unwrap();
    let mut count = 0;
    let damage = loop {
        match events.next_event() {
            Ok(event) => assert!(event.is_some(), "the damage is not met"),
            Err(damage) => break damage,
        }
        count += 1;
    };
    assert_eq!((count, damage.position), (2, first));
    assert!(Events::open(dir, "no", None).is_err());
}

#[test]
fn index_state_and_trees_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    assert_eq!(read_index(dir).unwrap(), []);
    let entries = [1, 2, 1_000_000].map(|n| Entry { name: name_of(n) });
    write_index(dir, &entries).unwrap();
    assert_eq!(read_index(dir).unwrap(), entries);
    assert_eq!(number_of("binlog.1000000"), Some(1_000_000));
    assert_eq!(number_of("binlog.index"), None);
    assert_eq!(read_state(dir).unwrap(), None);
    let state = State { format: STATE_FORMAT, position: 7, file: name_of(2), ..State::default() };
    write_state(dir, &state).unwrap();
    assert_eq!(read_state(dir).unwrap(), Some(state));
    let records = [(b"key".to_vec(), b"value".to_vec()), (b"k".to_vec(), Vec::new())];
    write_trees(dir, 3, records.iter().map(|(key, value)| (key, value))).unwrap();
    assert_eq!(read_trees(dir, 3).unwrap(), records);
    std::fs::write(dir.join("binlog.index"), "../etc/passwd\n").unwrap();
    assert!(read_index(dir).is_err());
}
