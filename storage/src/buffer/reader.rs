//! Threads that read missing pages.
//!
//! 1. A miss marks the page LOADING and queues it. 2. A reader takes it, reads and checks it, and fills a free frame.
//! 3. The page table names the frame; all who wait are woken. A damaged page is remembered as failed and never served.

use super::*;
use crate::page::check_envelope;
use os::AlignedBuf;

/// Enough to keep a device with a few requests in flight busy.
const READER_THREADS: usize = if cfg!(any(sim, miri)) { 3 } else { 8 };

pub(super) fn start(pool: &Arc<Pool>) -> Vec<os::thread::JoinHandle<()>> {
    (0..READER_THREADS)
        .map(|index| {
            let pool = pool.clone();
            os::thread::Builder::new()
                .name(format!("heddle-read-{index}"))
                .stack_size(256 << 10)
                .spawn(move || run(&pool))
                .expect("threads can be started at start-up")
        })
        .collect()
}

fn run(pool: &Arc<Pool>) {
    let mut buf = AlignedBuf::new(PAGE_BYTES);
    loop {
        let read = {
            let mut reads = pool.reads.lock();
            loop {
                if pool.stop.load(Ordering::SeqCst) {
                    return;
                }
                match reads.pop_front() {
                    Some(read) => break read,
                    None => pool.reads_ready.wait(&mut reads),
                }
            }
        };
        fetch(pool, &read, &mut buf);
    }
}

fn fetch(pool: &Arc<Pool>, read: &Read, buf: &mut AlignedBuf) {
    let page = read.page;
    let outcome = pool
        .file
        .read_at(buf, u64::from(page) * PAGE_BYTES as u64)
        .map_err(Error::from)
        .and_then(|()| check_envelope(buf, page).map_err(|why| Error::Corrupt { page, why: why.into() }));
    if let Err(e) = outcome {
        pool.failed.lock().insert(page, e);
        pool.word(page).store(0, Ordering::Release);
        pool.wake_page(page);
        return;
    }
    let Some(number) = wait_for_frame(pool) else { return };
    let frame = pool.frame(number);
    pool.counters.pages_read.fetch_add(1, Ordering::Relaxed);
    let _latch = frame.latch.lock();
    pool.page_of(number).words().write_bytes(0, buf, &[]);
    frame.flags.store(read.flags, Ordering::Relaxed);
    frame.page.store(page, Ordering::Relaxed);
    // B2: under the latch. The cleaner may evict a frame that has a page. If it did before the page table names the
    //     frame, the table would name the frame for ever, and every reader of the page would look there in vain.
    pool.publish(page, number);
}

fn wait_for_frame(pool: &Arc<Pool>) -> Option<u32> {
    loop {
        if let Some(number) = pool.take_frame() {
            return Some(number);
        }
        if pool.stop.load(Ordering::SeqCst) {
            return None;
        }
        PageStall { pool: pool.clone(), page: 0, object: sync::waits::Object::None }.wait_briefly();
    }
}

impl PageStall {
    /// Waits for a free frame, but not past the pool's stop.
    fn wait_briefly(self) {
        self.pool.counters.frame_waits.fetch_add(1, Ordering::Relaxed);
        self.pool.ring_cleaner();
        let mut waited = std::time::Duration::ZERO;
        let step = std::time::Duration::from_micros(200);
        while self.pool.free_frames() == 0 && !self.pool.stop.load(Ordering::SeqCst) && waited < step * 50 {
            os::thread::sleep(step);
            waited += step;
        }
    }
}

#[cfg(all(test, not(sim)))]
mod tests {
    use super::*;
    use crate::page::seal;
    use std::task::{Context, Wake, Waker};
    use sync::atomic::AtomicU32;

    const PAGE: PageId = 3;

    /// Woken, it looks whether the frame that the page table names is latched.
    struct Looker {
        pool: Arc<Pool>,
        /// 0: not woken; 1: latched; 2: not.
        seen: AtomicU32,
    }

    impl Wake for Looker {
        fn wake(self: Arc<Self>) {
            let number = self.pool.word(PAGE).load(Ordering::Acquire) - 1;
            let is_latched = self.pool.frame(number).latch.is_locked();
            self.seen.store(if is_latched { 1 } else { 2 }, Ordering::SeqCst);
        }
    }

    /// B2. Waiters for a page are woken when the page table names its frame. If the frame were not latched then, the
    /// cleaner could have evicted the page before it was named.
    #[test]
    fn a_page_is_published_under_its_latch() {
        let path = std::env::temp_dir().join(format!("heddle-reader-{}", std::process::id()));
        let file = File::open(&path, true).expect("opens");
        let mut image = AlignedBuf::new(PAGE_BYTES);
        image[4..6].copy_from_slice(&crate::page::FORMAT.to_le_bytes());
        image[8..12].copy_from_slice(&PAGE.to_le_bytes());
        seal(&mut image);
        file.write_at(&image, u64::from(PAGE) * PAGE_BYTES as u64).expect("writes");
        // No thread of the pool runs: what they do is done here.
        let pool = Pool::new(file, 0).expect("a pool");
        assert!(matches!(pool.read(PAGE), Err(Interrupt::Stall(_))), "a miss");
        let looker = Arc::new(Looker { pool: pool.clone(), seen: AtomicU32::new(0) });
        let waker = Waker::from(looker.clone());
        assert!(pool.poll_wait(PAGE, &mut Context::from_waker(&waker)).is_pending());
        let read = pool.reads.lock().pop_front().expect("the miss is queued");
        assert_eq!(read.page, PAGE);
        fetch(&pool, &read, &mut image);
        assert_eq!(looker.seen.load(Ordering::SeqCst), 1);
        assert!(pool.read(PAGE).is_ok_and(|read| read.page.id() == PAGE && read.valid()));
        std::fs::remove_file(&path).expect("removes");
    }
}
