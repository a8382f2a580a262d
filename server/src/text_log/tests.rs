//! Tests of the contents and places of the logs.

use super::*;
use types::Value;

fn wait<T>(mut one_shot: OneShot<T>) -> T {
    use std::future::Future;
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(answer) = std::pin::Pin::new(&mut one_shot).poll(&mut cx) {
            return answer.expect("the thread answers");
        }
        os::thread::yield_now();
    }
}

fn put(text: &'static str) -> impl FnOnce(&mut Vec<u8>, &mut Option<String>) {
    move |out, _| out.extend_from_slice(text.as_bytes())
}

#[test]
fn entries_go_to_the_file_of_their_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let logs = TextLogs::start("head\n".to_owned()).unwrap();
    wait(logs.set_files([Some(path("general.log")), None])).unwrap();
    logs.write(Log::General, put("one\n"));
    logs.write(Log::Slow, put("nowhere\n"));
    wait(logs.set_files([Some(path("other.log")), Some(path("slow.log"))])).unwrap();
    logs.write(Log::General, put("two\n"));
    logs.write(Log::Slow, put("three\n"));
    // As log rotation does.
    wait(logs.reopen(&[])).unwrap();
    std::fs::rename(path("slow.log"), path("slow.log.1")).unwrap();
    wait(logs.reopen(&[Log::Slow])).unwrap();
    logs.write(Log::Slow, put("four\n"));
    // A file that cannot be opened changes nothing.
    let refused = wait(logs.set_files([Some(path("no/such.log")), None])).unwrap_err();
    assert_eq!((refused.log, refused.error.kind()), (Log::General, io::ErrorKind::NotFound));
    logs.write(Log::General, put("five\n"));
    logs.finish();
    let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
    assert_eq!(read("general.log"), "head\none\n");
    assert_eq!(read("other.log"), "head\ntwo\nfive\n");
    assert_eq!(read("slow.log.1"), "head\nthree\n");
    assert_eq!(read("slow.log"), "head\nfour\n");
}

#[test]
fn what_finds_no_room_is_counted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("general.log");
    let logs = TextLogs::start(String::new()).unwrap();
    wait(logs.set_files([Some(path.clone()), None])).unwrap();
    // As if the thread were busy: it takes nothing while the mutex is held.
    let mut pending = logs.shared.pending.lock();
    pending.bytes[Log::General as usize].resize(PENDING_BYTES_MAX, b'\n');
    drop(pending);
    logs.write(Log::General, put("too much\n"));
    logs.finish();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(
        text.ends_with("Lost\t1 entries are missing here, the file was slower than they came\n") ^ text.ends_with("too much\n")
    );
}

#[test]
fn entries_are_mysqls() {
    let origin = Origin { session: 7, account: "root", user: "root", host: "localhost", address: "", database: Some("shop") };
    let timing = Timing { began: 1_000, taken_us: 1_500_000, lock_us: 12, sent: 3, examined: 40 };
    let (mut out, mut last) = (Vec::new(), None);
    slow_entry(&origin, &timing, b"SELECT 1", &mut out, &mut last);
    let text = String::from_utf8(std::mem::take(&mut out)).unwrap();
    let (time, rest) = text.split_once('\n').unwrap();
    assert!(time.starts_with("# Time: 20") && time.ends_with('Z') && time.len() == "# Time: 2026-11-24T23:54:37.972099Z".len());
    let expected = "# User@Host: root[root] @ localhost []  Id:     7\n\
                    # Query_time: 1.500000  Lock_time: 0.000012 Rows_sent: 3  Rows_examined: 40\n\
                    use shop;\nSET timestamp=1000;\nSELECT 1;\n";
    assert_eq!(rest, expected);
    slow_entry(&origin, &timing, b"SELECT 2", &mut out, &mut last);
    assert!(!String::from_utf8_lossy(&out).contains("use shop"), "it is known already");
    let mut out = Vec::new();
    general_entry(7, "Query", b"SELECT 1", &mut out);
    assert!(String::from_utf8_lossy(&out).ends_with("Z\t    7 Query\tSELECT 1\n"));
    let mut out = Vec::new();
    put_value(&Value::Bytes(b"it's\n"[..].into()), &mut out);
    assert_eq!(out, br"'it\'s\n'");
}

#[test]
fn files_of_the_server_are_no_logs() {
    let directory = tempfile::tempdir().unwrap();
    let own = directory.path();
    std::fs::write(own.join("heddle.data"), b"x").unwrap();
    std::fs::create_dir(own.join("redo")).unwrap();
    let outside = tempfile::tempdir().unwrap();
    for (path, expected) in [
        (own.join("slow.log"), true),
        (own.join("heddle.data"), false),
        (own.join("new.file"), false),
        (own.join("redo/x.log"), false),
        (own.join("redo/../heddle.data"), false),
        (own.join("no/such.log"), false),
        (own.join("redo"), false),
        (outside.path().join("anything"), true),
        (outside.path().join("my.cnf"), false),
        (outside.path().to_owned(), false),
    ] {
        assert_eq!(is_possible(&path, own), expected, "{}", path.display());
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(own.join("heddle.data"), outside.path().join("link.log")).unwrap();
        assert!(!is_possible(&outside.path().join("link.log"), own));
    }
}
