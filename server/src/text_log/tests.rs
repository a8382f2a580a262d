//! Tests of the contents and places of the logs.

use super::entry::put_value;
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

const ORIGIN: Origin<'_> =
    Origin { session: 7, account: "root", user: "root", host: "localhost", address: "", database: Some("shop") };

fn put(logs: &TextLogs, log: Log, text: &str) {
    match log {
        Log::General => logs.write_general(&ORIGIN, "Query", text.as_bytes()),
        Log::Slow => logs.write_slow(&ORIGIN, &Timing::default(), text.as_bytes()),
    }
}

fn to_files(files: Files) -> Targets {
    Targets { files, ..Targets::default() }
}

/// The last words of the lines that are neither the head nor about time.
fn texts(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("# ") && !line.starts_with("SET ") && !line.starts_with("use "));
    lines.filter_map(|line| line.split('\t').next_back().map(str::to_owned)).collect()
}

#[test]
fn entries_go_to_the_file_of_their_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let logs = TextLogs::start("head\n".to_owned(), directory.path()).unwrap();
    wait(logs.set_targets(to_files([Some(path("general.log")), None]))).unwrap();
    put(&logs, Log::General, "one");
    put(&logs, Log::Slow, "nowhere");
    wait(logs.set_targets(to_files([Some(path("other.log")), Some(path("slow.log"))]))).unwrap();
    put(&logs, Log::General, "two");
    put(&logs, Log::Slow, "three");
    // As log rotation does.
    wait(logs.reopen(&[])).unwrap();
    std::fs::rename(path("slow.log"), path("slow.log.1")).unwrap();
    wait(logs.reopen(&[Log::Slow])).unwrap();
    put(&logs, Log::Slow, "four");
    // A file that cannot be opened changes nothing.
    let refused = wait(logs.set_targets(to_files([Some(path("no/such.log")), None]))).unwrap_err();
    assert_eq!((refused.log, refused.error.kind()), (Log::General, io::ErrorKind::NotFound));
    put(&logs, Log::General, "five");
    logs.finish();
    assert_eq!(texts(&path("general.log")), ["head", "one"]);
    assert_eq!(texts(&path("other.log")), ["head", "two", "five"]);
    assert_eq!(texts(&path("slow.log.1")), ["head", "three;"]);
    assert_eq!(texts(&path("slow.log")), ["head", "four;"]);
}

#[test]
fn tables_have_what_was_logged_for_them() {
    let directory = tempfile::tempdir().unwrap();
    let logs = TextLogs::start(String::new(), directory.path()).unwrap();
    put(&logs, Log::Slow, "nowhere");
    wait(logs.set_targets(Targets { tables: [false, true], ..Targets::default() })).unwrap();
    put(&logs, Log::General, "nowhere");
    put(&logs, Log::Slow, "one");
    put(&logs, Log::Slow, "two");
    let rows = wait(logs.rows(Log::Slow)).unwrap();
    let texts: Vec<_> = rows.iter().map(|row| row[10].clone()).collect();
    assert_eq!(texts, [Value::Bytes(b"one"[..].into()), Value::Bytes(b"two"[..].into())]);
    assert!(wait(logs.rows(Log::General)).unwrap().is_empty());
    wait(logs.clear(Log::Slow)).unwrap();
    assert!(wait(logs.rows(Log::Slow)).unwrap().is_empty());
    logs.finish();
}

#[test]
fn entries_without_room_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("general.log");
    let logs = TextLogs::start(String::new(), directory.path()).unwrap();
    wait(logs.set_targets(to_files([Some(path.clone()), None]))).unwrap();
    // As if the thread were busy: it takes nothing while the mutex is held.
    let mut pending = logs.shared.pending.lock();
    pending.bytes[Log::General as usize].resize(PENDING_BYTES_MAX, b'\n');
    drop(pending);
    put(&logs, Log::General, "too much");
    logs.finish();
    let text = std::fs::read_to_string(path).unwrap();
    assert!(
        text.ends_with("Lost\t1 entries are missing here, the file was slower than they came\n") ^ text.ends_with("too much\n")
    );
}

#[test]
fn entries_are_mysqls() {
    let timing = Timing { began: 1_000, taken_us: 1_500_000, lock_us: 12, sent: 3, examined: 40, ..Timing::default() };
    let (mut out, mut last) = (Vec::new(), None);
    entry::slow_entry(&ORIGIN, &timing, b"SELECT 1", &mut out, &mut last);
    let text = String::from_utf8(std::mem::take(&mut out)).unwrap();
    let (time, rest) = text.split_once('\n').unwrap();
    assert!(time.starts_with("# Time: 20") && time.ends_with('Z') && time.len() == "# Time: 2026-11-24T23:54:37.972099Z".len());
    let expected = "# User@Host: root[root] @ localhost []  Id:     7\n\
                    # Query_time: 1.500000  Lock_time: 0.000012 Rows_sent: 3  Rows_examined: 40\n\
                    use shop;\nSET timestamp=1000;\nSELECT 1;\n";
    assert_eq!(rest, expected);
    entry::slow_entry(&ORIGIN, &timing, b"SELECT 2", &mut out, &mut last);
    assert!(!String::from_utf8_lossy(&out).contains("use shop"), "it is known already");
    let extra = Extra { errno: 1, killed: 2, counts: std::array::from_fn(|n| n as u64), began_us: 0, ended_us: 1 };
    entry::slow_entry(&ORIGIN, &Timing { extra: Some(extra), ..timing }, b"SELECT 3", &mut out, &mut last);
    let text = String::from_utf8_lossy(&out);
    let expected = "Rows_sent: 3  Rows_examined: 40 Thread_id: 7 Errno: 1 Killed: 2 Bytes_received: 0 Bytes_sent: 1 Read_first: 2 \
                    Read_last: 3 Read_key: 4 Read_next: 5 Read_prev: 6 Read_rnd: 7 Read_rnd_next: 8 Sort_merge_passes: 9 \
                    Sort_range_count: 10 Sort_rows: 11 Sort_scan_count: 12 Created_tmp_disk_tables: 13 Created_tmp_tables: 14 \
                    Start: 1970-01-01T00:00:00.000000Z End: 1970-01-01T00:00:00.000001Z\nSET timestamp";
    assert!(text.contains(expected), "{text}");
    let mut out = Vec::new();
    entry::general_entry(7, "Query", b"SELECT 1", &mut out);
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
