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
        let page = {
            let mut reads = pool.reads.lock();
            loop {
                if pool.stop.load(Ordering::SeqCst) {
                    return;
                }
                match reads.pop_front() {
                    Some(page) => break page,
                    None => pool.reads_ready.wait(&mut reads),
                }
            }
        };
        fetch(pool, page, &mut buf);
    }
}

fn fetch(pool: &Arc<Pool>, page: PageId, buf: &mut AlignedBuf) {
    let read = pool
        .file
        .read_at(buf, u64::from(page) * PAGE_BYTES as u64)
        .map_err(Error::from)
        .and_then(|()| check_envelope(buf, page).map_err(|why| Error::Corrupt { page, why: why.into() }));
    if let Err(e) = read {
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
    frame.flags.store(REFERENCED, Ordering::Relaxed);
    frame.page.store(page, Ordering::Relaxed);
    // B2: under the latch. The cleaner may take a frame that has a page; were it to come before the page table names the frame, the
    // table would name it for ever, and whoever wants the page would look for it there in vain.
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
        PageStall { pool: pool.clone(), page: 0 }.wait_briefly();
    }
}

impl PageStall {
    /// Waits for a free frame, but not past the pool's stop.
    fn wait_briefly(self) {
        self.pool.ring_cleaner();
        let mut waited = std::time::Duration::ZERO;
        let step = std::time::Duration::from_micros(200);
        while self.pool.free_frames() == 0 && !self.pool.stop.load(Ordering::SeqCst) && waited < step * 50 {
            os::thread::sleep(step);
            waited += step;
        }
    }
}
