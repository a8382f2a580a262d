//! Samples of what threads do: at each hundredth of a second (or what is asked) of a thread's processor time, a signal
//! copies its registers and the top of its stack. Somebody else finds the functions in these copies later.
//!
//! ```text
//! thread     `begin`: a timer of its processor time, which sends SIGPROF to this thread alone
//! handler    copies the registers and the stack into a free slot, and nothing else
//! reader     `Samples::take`: empties the slots, on any thread
//! thread     `end`
//! ```
//!
//! S1: the handler takes no lock, allocates nothing and calls nothing but what copies memory: it may interrupt any code.
//! S2: a slot belongs to the handler from `tail` to `head` of the ring of slots, and to the reader otherwise. Where none
//!     is free, the sample is lost and counted.
//! S3: memory is taken by `begin`, [`SLOTS`] slots of [`STACK_BYTES`] for each thread, and given back after `end`.
//! S4: the handler stays installed after the first use: a signal that is late finds a thread without samples, and ends.

use std::ops::Range;

/// Bytes of the stack that a sample has.
pub const STACK_BYTES: usize = 48 << 10;
/// Samples that wait for the reader.
pub const SLOTS: usize = 64;

/// What a thread did at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// [`crate::ticks`]
    pub tick: u64,
    /// The value of the cell that `begin` was given.
    pub task: u32,
    pub registers: Registers,
    /// The bytes from the stack pointer upwards.
    pub stack: &'a [u8],
}

/// The registers by which callers are found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Registers {
    pub program: u64,
    pub stack: u64,
    pub frame: u64,
    /// Where the processor keeps it in a register.
    pub link: u64,
}

/// A program or a library in memory, with its tables for finding callers.
#[derive(Clone, Debug)]
pub struct Module {
    pub name: String,
    /// What is added to its own addresses.
    pub base: u64,
    /// Where its code is, in memory.
    pub code: Range<u64>,
    /// `.eh_frame_hdr` and `.eh_frame`, with their addresses in memory.
    pub header: (u64, &'static [u8]),
    pub frames: (u64, &'static [u8]),
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(any(sim, miri))))]
pub use linux::{Samples, begin, end, modules, taken};

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(any(sim, miri)))))]
pub use nowhere::{Samples, begin, end, modules, taken};

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(any(sim, miri)))))]
mod nowhere {
    use super::{Module, Sample};
    use std::cell::Cell;
    use std::sync::Arc;

    /// There are none.
    #[derive(Debug)]
    pub struct Samples;

    impl Samples {
        pub fn take(&self, _see: impl FnMut(&Sample<'_>)) {}

        pub fn lost(&self) -> u64 {
            0
        }
    }

    /// # Errors
    /// Always: this machine has no such samples.
    pub fn begin(_task: &'static Cell<u32>, _hertz: u32) -> std::io::Result<Arc<Samples>> {
        Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "this processor or system has no profiler"))
    }

    pub fn end() {}

    pub fn taken() -> u32 {
        0
    }

    pub fn modules() -> Vec<Module> {
        Vec::new()
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(any(sim, miri))))]
mod linux {
    use super::{Module, Registers, SLOTS, STACK_BYTES, Sample};
    use std::cell::{Cell, UnsafeCell};
    use std::ffi::{CStr, c_int, c_void};
    use std::io;
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    struct Slot {
        tick: u64,
        task: u32,
        registers: Registers,
        length: usize,
        stack: [u8; STACK_BYTES],
    }

    /// The samples of one thread.
    pub struct Samples {
        slots: Box<[UnsafeCell<MaybeUninit<Slot>>]>,
        /// Written by the handler, and by the reader. Both only grow; a slot's place is the remainder.
        head: AtomicU32,
        tail: AtomicU32,
        lost: AtomicU64,
    }

    // SAFETY: S2. `head` and `tail` say to whom a slot belongs: one handler, and a reader at a time (`take` locks).
    unsafe impl Sync for Samples {}
    // SAFETY: as above; the slots are plain data.
    unsafe impl Send for Samples {}

    impl std::fmt::Debug for Samples {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("Samples").field("lost", &self.lost).finish_non_exhaustive()
        }
    }

    /// What the handler of a thread needs.
    struct Active {
        samples: Arc<Samples>,
        task: &'static Cell<u32>,
        /// The end of the thread's stack.
        stack_end: usize,
        timer: libc::timer_t,
    }

    thread_local! {
        // Without destructors and lazy initialisation, so that the handler may use them.
        static ACTIVE: Cell<*const Active> = const { Cell::new(ptr::null()) };
        static TAKEN: Cell<u32> = const { Cell::new(0) };
    }

    /// The samples of this thread so far, of all times.
    pub fn taken() -> u32 {
        TAKEN.get()
    }

    impl Samples {
        fn new() -> Self {
            let slots = (0..SLOTS).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
            Self { slots, head: AtomicU32::new(0), tail: AtomicU32::new(0), lost: AtomicU64::new(0) }
        }

        /// Empties the slots. One reader at a time.
        pub fn take(&self, mut see: impl FnMut(&Sample<'_>)) {
            let mut tail = self.tail.load(Ordering::Relaxed);
            // Acquire: pairs with the Release in `put`; the slot's bytes are whole.
            while tail != self.head.load(Ordering::Acquire) {
                let slot = self.slots[tail as usize % SLOTS].get();
                // SAFETY: S2: it is between `tail` and `head`, so the handler has filled it and does not touch it.
                let slot = unsafe { (*slot).assume_init_ref() };
                let stack = &slot.stack[..slot.length];
                see(&Sample { tick: slot.tick, task: slot.task, registers: slot.registers, stack });
                tail = tail.wrapping_add(1);
                // Release: pairs with the Acquire in `put`; the reader is done with the slot.
                self.tail.store(tail, Ordering::Release);
            }
        }

        /// Samples for which no slot was free.
        pub fn lost(&self) -> u64 {
            self.lost.load(Ordering::Relaxed)
        }

        /// The handler's part.
        fn put(&self, task: u32, registers: Registers, stack_end: usize) {
            let head = self.head.load(Ordering::Relaxed);
            // Acquire: pairs with the Release in `take`.
            if head.wrapping_sub(self.tail.load(Ordering::Acquire)) as usize >= SLOTS {
                self.lost.fetch_add(1, Ordering::Relaxed);
                return;
            }
            let from = registers.stack as usize;
            let length = stack_end.saturating_sub(from).min(STACK_BYTES);
            let slot = self.slots[head as usize % SLOTS].get().cast::<Slot>();
            // SAFETY: S2: the slot is free. The thread's own stack is readable from its pointer to its end; the two do not
            // overlap, since the slot is on the heap.
            unsafe {
                (*slot).tick = crate::ticks();
                (*slot).task = task;
                (*slot).registers = registers;
                (*slot).length = length;
                ptr::copy_nonoverlapping(from as *const u8, ptr::addr_of_mut!((*slot).stack).cast::<u8>(), length);
            }
            // Release: pairs with the Acquire in `take`.
            self.head.store(head.wrapping_add(1), Ordering::Release);
        }
    }

    /// The registers at which a signal has stopped the thread.
    #[cfg(target_arch = "x86_64")]
    fn registers_of(context: &libc::ucontext_t) -> Registers {
        let of = |register: c_int| context.uc_mcontext.gregs[register as usize] as u64;
        Registers { program: of(libc::REG_RIP), stack: of(libc::REG_RSP), frame: of(libc::REG_RBP), link: 0 }
    }

    #[cfg(target_arch = "aarch64")]
    fn registers_of(context: &libc::ucontext_t) -> Registers {
        let machine = &context.uc_mcontext;
        Registers { program: machine.pc, stack: machine.sp, frame: machine.regs[29], link: machine.regs[30] }
    }

    /// S1
    extern "C" fn on_signal(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
        let active = ACTIVE.get();
        if active.is_null() || context.is_null() {
            return;
        }
        // SAFETY: `end` takes the pointer away, on this thread, before what it points to is freed. The kernel hands a
        // handler with SA_SIGINFO the context of its thread.
        let (active, context) = unsafe { (&*active, &*context.cast::<libc::ucontext_t>()) };
        TAKEN.set(TAKEN.get().wrapping_add(1));
        active.samples.put(active.task.get(), registers_of(context), active.stack_end);
    }

    fn install() -> io::Result<()> {
        // SAFETY: the structure is plain data, and all zeros is a value of it; the handler has the signature that
        // SA_SIGINFO asks for.
        let outcome = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(libc::SIGPROF, &raw const action, ptr::null_mut())
        };
        if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// The end of this thread's stack.
    fn stack_end() -> io::Result<usize> {
        // SAFETY: the attributes are made by the first call, read by the second and freed by the third.
        unsafe {
            let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
            let outcome = libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes);
            if outcome != 0 {
                return Err(io::Error::from_raw_os_error(outcome));
            }
            let (mut begin, mut bytes) = (ptr::null_mut(), 0);
            let outcome = libc::pthread_attr_getstack(&raw const attributes, &raw mut begin, &raw mut bytes);
            libc::pthread_attr_destroy(&raw mut attributes);
            if outcome == 0 { Ok(begin as usize + bytes) } else { Err(io::Error::from_raw_os_error(outcome)) }
        }
    }

    /// Begins to sample this thread, `hertz` times for each second that it runs. `task` is read by the handler.
    ///
    /// # Errors
    /// The thread is sampled already, or the system refuses the timer.
    pub fn begin(task: &'static Cell<u32>, hertz: u32) -> io::Result<Arc<Samples>> {
        if !ACTIVE.get().is_null() {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        let samples = Arc::new(Samples::new());
        install()?;
        let stack_end = stack_end()?;
        // SAFETY: the event is plain data, and all zeros is a value of it. The timer's clock is this thread's, and its
        // signals go to this thread.
        let timer = unsafe {
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = libc::SIGPROF;
            event.sigev_notify_thread_id = libc::gettid();
            let mut timer: libc::timer_t = ptr::null_mut();
            if libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut event, &raw mut timer) != 0 {
                return Err(io::Error::last_os_error());
            }
            timer
        };
        let active = Box::new(Active { samples: Arc::clone(&samples), task, stack_end, timer });
        ACTIVE.set(Box::into_raw(active));
        let each = libc::timespec { tv_sec: 0, tv_nsec: i64::from(1_000_000_000 / hertz.clamp(2, 1000)) };
        let period = libc::itimerspec { it_interval: each, it_value: each };
        // SAFETY: the timer was just made.
        if unsafe { libc::timer_settime(timer, 0, &raw const period, ptr::null_mut()) } != 0 {
            let error = io::Error::last_os_error();
            end();
            return Err(error);
        }
        Ok(samples)
    }

    /// Ends what `begin` began on this thread, if it did.
    pub fn end() {
        let active = ACTIVE.replace(ptr::null());
        if active.is_null() {
            return;
        }
        // The handler may have been about to use it: a fence of the compiler is enough, it runs on this thread.
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
        // SAFETY: the pointer is that of `begin`, and nobody has it any more.
        let active = unsafe { Box::from_raw(active.cast_mut()) };
        // SAFETY: the timer is that of `begin`, and is deleted once.
        unsafe { libc::timer_delete(active.timer) };
    }

    /// The program and its libraries.
    pub fn modules() -> Vec<Module> {
        let mut modules: Vec<Module> = Vec::new();
        // SAFETY: the callback gets the pointer that is passed here, and only while the call lasts.
        unsafe { libc::dl_iterate_phdr(Some(on_module), (&raw mut modules).cast()) };
        modules
    }

    /// SAFETY: for `modules` alone: `data` is its vector.
    unsafe extern "C" fn on_module(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: the loader hands out a valid description, whose headers and name live as long as the module, and
        // `data` is what `modules` has passed.
        let (info, modules) = unsafe { (&*info, &mut *data.cast::<Vec<Module>>()) };
        // SAFETY: as above.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        let base = info.dlpi_addr;
        let range = |header: &libc::Elf64_Phdr| base + header.p_vaddr..base + header.p_vaddr + header.p_memsz;
        let loaded = || headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
        let code = loaded().find(|header| header.p_flags & libc::PF_X != 0).map(range);
        let table = headers.iter().find(|header| header.p_type == libc::PT_GNU_EH_FRAME).map(range);
        let (Some(code), Some(table)) = (code, table) else { return 0 };
        // Both tables are in the segment that holds the header.
        let Some(segment) = loaded().map(range).find(|segment| segment.contains(&table.start)) else { return 0 };
        // SAFETY: a loaded segment stays readable while its module is loaded, and modules of this process are not unloaded.
        let bytes = |from: u64, to: u64| unsafe { std::slice::from_raw_parts(from as *const u8, (to - from) as usize) };
        let header = bytes(table.start, table.end.min(segment.end));
        // The usual form: the place of `.eh_frame` relative to this field, as four bytes.
        let [1, 0x1b, _, _, field @ ..] = header else { return 0 };
        let Some(field) = field.first_chunk::<4>() else { return 0 };
        let frames = (table.start + 4).wrapping_add_signed(i32::from_le_bytes(*field).into());
        if !segment.contains(&frames) {
            return 0;
        }
        // SAFETY: as above.
        let name = if info.dlpi_name.is_null() { c"" } else { unsafe { CStr::from_ptr(info.dlpi_name) } };
        modules.push(Module {
            name: name.to_string_lossy().into_owned(),
            base,
            code,
            header: (table.start, header),
            frames: (frames, bytes(frames, segment.end)),
        });
        0
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_busy_thread_is_sampled() {
            let task: &'static Cell<u32> = Box::leak(Box::new(Cell::new(7)));
            let before = taken();
            let samples = begin(task, 500).unwrap();
            assert!(begin(task, 500).is_err(), "one at a time");
            let mut seen = Vec::new();
            let mut sum = 0u64;
            while seen.len() < 20 {
                (0..10_000u64).for_each(|n| sum = std::hint::black_box(sum.wrapping_mul(31) + n));
                samples.take(|sample| seen.push((sample.tick, sample.task, sample.registers, sample.stack.len())));
            }
            end();
            assert!(taken().wrapping_sub(before) >= 20);
            let modules = modules();
            for (tick, task, registers, bytes) in &seen {
                assert!(*tick > 0 && *task == 7 && *bytes > 0 && registers.stack > 0);
                assert!(
                    modules.iter().any(|module| module.code.contains(&registers.program)) || modules.is_empty(),
                    "{registers:?}"
                );
            }
            // No more samples come, and the ring can be made anew.
            let after = taken();
            (0..10_000_000u64).for_each(|n| sum = std::hint::black_box(sum.wrapping_mul(31) + n));
            assert_eq!(taken(), after);
            drop(begin(task, 100).unwrap());
            end();
        }

        #[test]
        fn lost_samples_are_counted() {
            let samples = Samples::new();
            let stack = [0u8; 64];
            let registers = Registers { stack: stack.as_ptr() as u64, ..Registers::default() };
            (0..SLOTS + 3).for_each(|n| samples.put(n as u32, registers, stack.as_ptr() as usize + stack.len()));
            assert_eq!(samples.lost(), 3);
            let mut tasks = Vec::new();
            samples.take(|sample| tasks.push((sample.task, sample.stack.len())));
            assert_eq!(tasks.len(), SLOTS);
            assert_eq!(tasks[5], (5, 64));
            samples.put(9, registers, 0);
            samples.take(|sample| tasks.push((sample.task, sample.stack.len())));
            assert_eq!(tasks.last(), Some(&(9, 0)));
        }
    }
}
