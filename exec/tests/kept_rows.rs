//! Rows that outlive their statement: in memory up to a bound, in a file beyond it, read once and in order.

use exec::Temporary;
use expr::Error;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

/// A folder of its own, gone when dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn folder(bytes_max: u64) -> (Folder, Temporary) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("heddle-kept-{}-{number}", std::process::id()));
    let temporary = Temporary::new(&path, bytes_max).expect("a new folder");
    (Folder(path), temporary)
}

fn finish<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = poll(&mut cx) {
            return value;
        }
        std::thread::yield_now();
    }
}

fn record(n: u32) -> Vec<u8> {
    let mut record = n.to_le_bytes().to_vec();
    record.resize(4 + (n as usize * 37) % 900, n as u8);
    record
}

#[test]
fn many_records_stay_within_the_bound_and_come_back_in_order() {
    let (_folder, temporary) = folder(64 << 20);
    const BOUND: usize = 64 << 10;
    for records in [0, 1, 100, 10_000] {
        let mut kept = temporary.keep(BOUND);
        let mut most = 0;
        for n in 0..records {
            kept.push(&record(n)).unwrap();
            most = most.max(kept.memory_bytes());
            if kept.is_full() {
                finish(|cx| kept.poll_drain(cx)).unwrap();
            }
        }
        // A vector grows by doubling.
        assert!(most <= 2 * BOUND + 2048, "{most}");
        assert_eq!(kept.left(), u64::from(records));
        for n in 0..records {
            assert!(finish(|cx| Pin::new(&mut Box::pin(kept.next())).poll(cx)).unwrap());
            assert_eq!(kept.record(), record(n));
        }
        assert!(!finish(|cx| Pin::new(&mut Box::pin(kept.next())).poll(cx)).unwrap());
        assert_eq!(kept.left(), 0);
    }
    while temporary.figures().bytes > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn a_full_folder_is_told() {
    let (_folder, temporary) = folder(100 << 10);
    let mut kept = temporary.keep(16 << 10);
    let outcome = (0..10_000).try_for_each(|n| {
        kept.push(&record(n))?;
        if kept.is_full() { finish(|cx| kept.poll_drain(cx)) } else { Ok(()) }
    });
    assert_eq!(outcome, Err(Error::TemporarySpaceFull { limit: 100 << 10 }));
}
