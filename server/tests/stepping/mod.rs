//! Which memory a thread writes, seen from outside: the thread runs one instruction at a time, and its stores are read off its registers.
//!
//! 1. A signal to the thread sets the trap flag in its registers; from then on the processor traps after each instruction.
//! 2. The trap's handler notes all registers, and does nothing else.
//! 3. Afterwards each noted instruction is decoded, and the addresses that it read and wrote are computed.
//!
//! Nothing of the code under test takes part, so nothing can be forgotten in it. What the kernel writes during a system call is not seen.
//! One thread at a time is stepped.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Instructions that are kept; what runs longer is refused.
const STEPS_MAX: usize = 2_000_000;
const LINE_BYTES: u64 = 64;
const TRAP_FLAG: i64 = 0x100;

/// The registers before an instruction.
#[derive(Clone, Copy, Default)]
struct Step {
    registers: [u64; 17],
    thread_base: u64,
}

/// Where in `Step::registers` each of the processor's stands, in the kernel's order.
const ORDER: [Register; 17] = [
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
    Register::RDI,
    Register::RSI,
    Register::RBP,
    Register::RBX,
    Register::RDX,
    Register::RAX,
    Register::RCX,
    Register::RSP,
    Register::RIP,
];

static STEPS: AtomicPtr<Step> = AtomicPtr::new(std::ptr::null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);
static IS_ON: AtomicBool = AtomicBool::new(false);
static TOLD: AtomicUsize = AtomicUsize::new(0);

extern "C" fn trapped(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel gives the handler the interrupted thread's context.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    if !IS_ON.load(Ordering::SeqCst) {
        registers[libc::REG_EFL as usize] &= !TRAP_FLAG;
        return;
    }
    let at = COUNT.fetch_add(1, Ordering::SeqCst);
    if at >= STEPS_MAX {
        return;
    }
    let thread_base: u64;
    // SAFETY: in this ABI the first word of a thread's control block is the block's address.
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) thread_base, options(nostack, readonly, preserves_flags)) };
    let mut step = Step { thread_base, ..Step::default() };
    for (to, from) in step.registers.iter_mut().zip(&registers[..17]) {
        *to = *from as u64;
    }
    // SAFETY: `start` made room for STEPS_MAX steps, and `at` is nobody else's.
    unsafe { STEPS.load(Ordering::SeqCst).add(at).write(step) };
}

extern "C" fn told(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: as above.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    if IS_ON.load(Ordering::SeqCst) {
        registers[libc::REG_EFL as usize] |= TRAP_FLAG
    } else {
        registers[libc::REG_EFL as usize] &= !TRAP_FLAG
    }
    TOLD.fetch_add(1, Ordering::SeqCst);
}

fn handle(signal: i32, handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void)) {
    // SAFETY: the handlers only touch atomics, the context they are given, and memory that is never freed.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        assert_eq!(libc::sigaction(signal, &action, std::ptr::null_mut()), 0);
    }
}

/// A thread of this process, by the number that the kernel knows it by.
pub fn thread_named(name: &str) -> i32 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("a process has threads").flatten();
    let found = tasks
        .map(|task| task.path())
        .find(|path| std::fs::read_to_string(path.join("comm")).is_ok_and(|comm| comm.trim_end() == name));
    let path = found.unwrap_or_else(|| panic!("no thread {name}"));
    path.file_name().and_then(|number| number.to_str()?.parse().ok()).expect("threads have numbers")
}

fn tell(thread: i32, is_on: bool) {
    let before = TOLD.load(Ordering::SeqCst);
    IS_ON.store(is_on, Ordering::SeqCst);
    // SAFETY: the thread is one of this process.
    let sent = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, libc::SIGUSR2) };
    assert_eq!(sent, 0, "the thread lives");
    let deadline = Instant::now() + Duration::from_secs(20);
    while TOLD.load(Ordering::SeqCst) == before {
        assert!(Instant::now() < deadline, "the thread takes signals");
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// An instruction, and the calls that led to it, innermost first; 0 where not known.
pub type Place = [u64; 8];

/// What a thread did.
#[derive(Default)]
pub struct Trace {
    pub instructions: usize,
    /// Read-modify-write instructions that lock their line.
    pub locked: usize,
    /// Who wrote, by line.
    pub written: BTreeMap<u64, BTreeSet<Place>>,
    pub read: BTreeSet<u64>,
    /// The lines of the thread's own stack and of its thread-local variables, which lie beside it.
    own: std::ops::Range<u64>,
}

impl Trace {
    /// Lines that this thread wrote and the other wrote too, with the places of both that did.
    pub fn shared_with(&self, other: &Trace) -> BTreeMap<u64, BTreeSet<Place>> {
        let shared = self.written.iter().filter_map(|(line, ours)| Some((*line, ours, other.written.get(line)?)));
        shared.map(|(line, ours, theirs)| (line, ours.union(theirs).copied().collect())).collect()
    }

    /// Lines written elsewhere than on the stack.
    pub fn written_off_stack(&self) -> impl Iterator<Item = (&u64, &BTreeSet<Place>)> {
        self.written.iter().filter(|(line, _)| !self.own.contains(line))
    }

    /// Lines that this thread wrote and the other only read: each write takes the line away from the reader.
    pub fn taken_from(&self, other: &Trace) -> BTreeMap<u64, BTreeSet<Place>> {
        let taken = self.written.iter().filter(|(line, _)| other.read.contains(line) && !other.written.contains_key(line));
        taken.map(|(line, ours)| (*line, ours.clone())).collect()
    }
}

/// Does this machine trap after an instruction? (An emulated one may not.)
pub fn is_possible() -> bool {
    // SAFETY: gettid has no conditions.
    let own = unsafe { libc::syscall(libc::SYS_gettid) } as i32;
    trace(own, || {}).instructions > 0
}

/// Lets a thread run one instruction at a time while `body` runs on this one.
pub fn trace(thread: i32, body: impl FnOnce()) -> Trace {
    if STEPS.load(Ordering::SeqCst).is_null() {
        let steps: Vec<Step> = vec![Step::default(); STEPS_MAX];
        STEPS.store(Vec::leak(steps).as_mut_ptr(), Ordering::SeqCst);
        handle(libc::SIGTRAP, trapped);
        handle(libc::SIGUSR2, told);
    }
    COUNT.store(0, Ordering::SeqCst);
    tell(thread, true);
    body();
    tell(thread, false);
    let count = COUNT.load(Ordering::SeqCst);
    assert!(count < STEPS_MAX, "more than {STEPS_MAX} instructions");
    // SAFETY: the first `count` steps are written, and the thread writes no more since it was told.
    let steps = unsafe { std::slice::from_raw_parts(STEPS.load(Ordering::SeqCst), count) };
    decode(steps)
}

fn decode(steps: &[Step]) -> Trace {
    let mut trace = Trace { instructions: steps.len(), ..Trace::default() };
    let mut factory = InstructionInfoFactory::new();
    let mut known: BTreeMap<u64, Instruction> = BTreeMap::new();
    let mut calls: Vec<u64> = Vec::new();
    if let Some(step) = steps.first() {
        trace.own = mapping_of(step.registers[15]);
    }
    for step in steps {
        let at = step.registers[16];
        let instruction = known.entry(at).or_insert_with(|| instruction(at));
        trace.locked += usize::from(is_locked(instruction));
        let mut place = [0; 8];
        place.iter_mut().zip(std::iter::once(&at).chain(calls.iter().rev())).for_each(|(to, from)| *to = *from);
        match instruction.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall => calls.push(at),
            FlowControl::Return => drop(calls.pop()),
            _ => {}
        }
        for memory in factory.info(instruction).used_memory() {
            let address = memory.virtual_address(0, |register, _, _| step.value(register));
            let Some(address) = address else { panic!("{at:x}: the address of {:?} is not known", instruction.mnemonic()) };
            let bytes = memory.memory_size().size().max(1) as u64;
            let lines = address / LINE_BYTES..=(address + bytes - 1) / LINE_BYTES;
            let (reads, writes) = match memory.access() {
                OpAccess::Read | OpAccess::CondRead => (true, false),
                OpAccess::Write | OpAccess::CondWrite => (false, true),
                OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
                OpAccess::None | OpAccess::NoMemAccess => (false, false),
            };
            for line in lines {
                if reads {
                    trace.read.insert(line);
                }
                if writes {
                    trace.written.entry(line).or_default().insert(place);
                }
            }
        }
    }
    trace
}

/// The lines of the mapping that an address lies in.
fn mapping_of(address: u64) -> std::ops::Range<u64> {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("a process has maps");
    let bounds = |line: &str| {
        let (from, to) = line.split(' ').next()?.split_once('-')?;
        Some(u64::from_str_radix(from, 16).ok()?..u64::from_str_radix(to, 16).ok()?)
    };
    let found = maps.lines().filter_map(bounds).find(|range| range.contains(&address)).expect("the stack is mapped");
    found.start / LINE_BYTES..found.end / LINE_BYTES
}

fn is_locked(instruction: &Instruction) -> bool {
    let swaps = instruction.mnemonic() == Mnemonic::Xchg
        && (instruction.op0_kind() == OpKind::Memory || instruction.op1_kind() == OpKind::Memory);
    instruction.has_lock_prefix() || swaps
}

fn instruction(at: u64) -> Instruction {
    const LONGEST: usize = 15;
    // An instruction may be the last of its page, with nothing mapped behind it.
    let bytes = LONGEST.min((4096 - at % 4096) as usize);
    // SAFETY: the thread just ran what is there.
    let first = unsafe { std::slice::from_raw_parts(at as *const u8, bytes) };
    let one = Decoder::with_ip(64, first, at, DecoderOptions::NONE).decode();
    if !one.is_invalid() {
        return one;
    }
    // SAFETY: it goes on behind the page, so that is mapped too.
    let whole = unsafe { std::slice::from_raw_parts(at as *const u8, LONGEST) };
    Decoder::with_ip(64, whole, at, DecoderOptions::NONE).decode()
}

impl Step {
    fn value(&self, register: Register) -> Option<u64> {
        match register {
            Register::FS => return Some(self.thread_base),
            Register::CS | Register::DS | Register::ES | Register::SS | Register::None => return Some(0),
            _ => {}
        }
        let whole = self.registers[ORDER.iter().position(|known| *known == register.full_register())?];
        Some(if register.is_gpr32() { whole & 0xffff_ffff } else { whole })
    }
}

/// One of the functions that are running at a place; inlined ones too.
#[derive(Clone, Debug)]
pub struct Frame {
    pub function: String,
    /// Where its source is; empty where not known.
    pub file: String,
}

/// What is running at a place, innermost first.
pub fn frames(place: &Place) -> Vec<Frame> {
    thread_local! {
        static KNOWN: RefCell<HashMap<u64, Vec<Frame>>> = RefCell::default();
    }
    let resolved = |at: &u64| {
        KNOWN.with_borrow_mut(|known| {
            let frames = known.entry(*at).or_insert_with(|| {
                let mut frames = Vec::new();
                // It looks one byte before what it is told, since it expects where a call returns to.
                backtrace::resolve((*at + 1) as *mut std::ffi::c_void, |symbol| {
                    let function = symbol.name().map_or(String::new(), |name| format!("{name:#}"));
                    let file = symbol.filename().map_or(String::new(), |file| file.to_string_lossy().into_owned());
                    frames.push(Frame { function, file });
                });
                frames
            });
            frames.clone()
        })
    };
    place.iter().filter(|at| **at != 0).flat_map(resolved).collect()
}
