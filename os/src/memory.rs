//! Memory straight from the system: how much there is, large reservations that cost nothing until touched, and buffers aligned for
//! direct I/O.

use crate::IO_ALIGN;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

/// Memory that this process may use: the machine's, or less where its control group is limited.
pub fn memory_bytes() -> Option<u64> {
    crate::topology::usable_memory_bytes()
}

#[cfg(not(miri))]
pub use reservation::Reservation;

#[cfg(not(miri))]
mod reservation {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
    use std::io;

    /// A zeroed range of address space; pages become resident when touched.
    pub struct Reservation {
        start: *mut u8,
        bytes: usize,
    }

    // SAFETY: the reservation is plain memory; who may touch which part is its user's business.
    unsafe impl Send for Reservation {}
    // SAFETY: as above; only the address and the length are read through `&self`.
    unsafe impl Sync for Reservation {}

    impl Reservation {
        pub fn new(bytes: usize) -> io::Result<Self> {
            // SAFETY: a fresh anonymous mapping; nothing else refers to it.
            let start = unsafe {
                mmap_anonymous(
                    std::ptr::null_mut(),
                    bytes,
                    ProtFlags::READ | ProtFlags::WRITE,
                    MapFlags::PRIVATE | MapFlags::NORESERVE,
                )
            }
            .map_err(|e| io::Error::new(io::Error::from(e).kind(), format!("cannot reserve {bytes} bytes of memory: {e}")))?;
            Ok(Self { start: start.cast(), bytes })
        }

        /// Asks for large pages, so that random accesses need fewer translations of addresses. Where there are none nothing changes.
        pub fn prefer_large_pages(&self) {
            #[cfg(target_os = "linux")]
            {
                use rustix::mm::{Advice, madvise};
                // SAFETY: the range is ours, and this advice does not change what it holds.
                let _ = unsafe { madvise(self.start.cast(), self.bytes, Advice::LinuxHugepage) };
            }
        }

        pub fn start(&self) -> *mut u8 {
            self.start
        }

        pub fn bytes(&self) -> usize {
            self.bytes
        }

        /// Gives the memory of a range back to the system; it reads as zeros until it is written again.
        /// # Safety
        /// Concurrent readers of the range read it atomically. The range lies inside the reservation, and `start` is a
        /// multiple of the system's page.
        pub unsafe fn release(&self, start: usize, bytes: usize) -> io::Result<()> {
            // SAFETY: a range of our own mapping, by the caller's promise.
            unsafe { rustix::mm::madvise(self.start.add(start).cast(), bytes, rustix::mm::Advice::LinuxDontNeed) }
                .map_err(io::Error::from)
        }
    }

    impl Drop for Reservation {
        fn drop(&mut self) {
            // SAFETY: mapped in `new` with this length, unmapped once.
            let _ = unsafe { munmap(self.start.cast(), self.bytes) };
        }
    }
}

/// A zeroed heap buffer aligned for direct I/O; its length is a multiple of [`IO_ALIGN`].
pub struct AlignedBuf {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: owns its memory like a Vec.
unsafe impl Send for AlignedBuf {}
// SAFETY: shared access only reads.
unsafe impl Sync for AlignedBuf {}

impl AlignedBuf {
    /// At least `bytes` bytes (rounded up, never empty).
    pub fn new(bytes: usize) -> Self {
        let bytes = bytes.max(1).next_multiple_of(IO_ALIGN);
        let layout = Self::layout(bytes);
        // SAFETY: the layout has a size above zero.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        Self { start, bytes }
    }

    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, IO_ALIGN).expect("buffer sizes are far below the address space")
    }
}

impl std::ops::Deref for AlignedBuf {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: owned, initialised (zeroed), of this length.
        unsafe { std::slice::from_raw_parts(self.start, self.bytes) }
    }
}

impl std::ops::DerefMut for AlignedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and exclusively borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes) }
    }
}

impl Drop for AlignedBuf {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with the same layout.
        unsafe { dealloc(self.start, Self::layout(self.bytes)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory() {
        assert!(memory_bytes().is_some_and(|bytes| bytes > 64 << 20));
    }
}
