//! From copies of registers and stacks to the addresses of functions, on a thread of their own: the tables of the program
//! say at each address where its caller's are.

use framehop::{ExplicitModuleSectionInfo, Unwinder};
use os::profile::{Module, Registers, Sample, Samples};
use std::collections::HashMap;
use std::sync::Arc;

#[cfg(not(target_arch = "aarch64"))]
use framehop::x86_64::{CacheX86_64 as Cache, UnwindRegsX86_64 as Regs, UnwinderX86_64 as Machine};

#[cfg(target_arch = "aarch64")]
use framehop::aarch64::{CacheAarch64 as Cache, UnwindRegsAarch64 as Regs, UnwinderAarch64 as Machine};

/// Callers of one sample.
const DEPTH_MAX: usize = 160;

/// One sample without its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    pub worker: usize,
    pub task: u32,
    pub tick: u64,
    /// Its place among the stacks.
    pub stack: usize,
}

/// All samples of a profile.
#[derive(Debug, Default)]
pub struct Collected {
    pub samples: Vec<Taken>,
    /// Addresses, the innermost first.
    pub stacks: Vec<Vec<u64>>,
    pub lost: u64,
}

/// Collects samples.
pub struct Stacks {
    machine: Machine<&'static [u8]>,
    cache: Cache,
    known: HashMap<Vec<u64>, usize>,
    collected: Collected,
    samples_max: usize,
    stacks_max: usize,
}

impl Stacks {
    pub fn new(samples_max: usize, stacks_max: usize) -> Self {
        let mut machine = Machine::new();
        os::profile::modules().into_iter().for_each(|module| machine.add_module(described(module)));
        Self { machine, cache: Cache::new(), known: HashMap::new(), collected: Collected::default(), samples_max, stacks_max }
    }

    /// Empties the slots of a worker.
    pub fn take(&mut self, worker: usize, samples: &Samples) {
        samples.take(|sample| self.add(worker, sample));
    }

    fn add(&mut self, worker: usize, sample: &Sample<'_>) {
        if self.collected.samples.len() >= self.samples_max {
            self.collected.lost += 1;
            return;
        }
        let addresses = self.callers(sample);
        let stack = match self.known.get(&addresses) {
            Some(stack) => *stack,
            None if self.known.len() >= self.stacks_max => {
                self.collected.lost += 1;
                return;
            }
            None => {
                let stack = self.collected.stacks.len();
                self.collected.stacks.push(addresses.clone());
                self.known.insert(addresses, stack);
                stack
            }
        };
        self.collected.samples.push(Taken { worker, task: sample.task, tick: sample.tick, stack });
    }

    /// The addresses of the functions that were running, the innermost first.
    fn callers(&mut self, sample: &Sample<'_>) -> Vec<u64> {
        let from = sample.registers.stack;
        let mut read = |address: u64| -> Result<u64, ()> {
            let place = usize::try_from(address.checked_sub(from).ok_or(())?).map_err(|_| ())?;
            sample.stack.get(place..).and_then(<[u8]>::first_chunk::<8>).map(|bytes| u64::from_le_bytes(*bytes)).ok_or(())
        };
        let mut addresses = Vec::new();
        let registers = registers(&sample.registers);
        let mut frames = self.machine.iter_frames(sample.registers.program, registers, &mut self.cache, &mut read);
        while addresses.len() < DEPTH_MAX
            && let Ok(Some(frame)) = frames.next()
        {
            // Within the call, not behind it: there the next function may begin.
            addresses.push(frame.address_for_lookup());
        }
        addresses
    }

    pub fn finish(mut self, rings: &[(usize, Arc<Samples>)]) -> Collected {
        rings.iter().for_each(|(worker, samples)| self.take(*worker, samples));
        self.collected.lost += rings.iter().map(|(_, samples)| samples.lost()).sum::<u64>();
        self.collected
    }
}

#[cfg(not(target_arch = "aarch64"))]
fn registers(of: &Registers) -> Regs {
    Regs::new(of.program, of.stack, of.frame)
}

#[cfg(target_arch = "aarch64")]
fn registers(of: &Registers) -> Regs {
    Regs::new(of.link, of.stack, of.frame)
}

fn described(module: Module) -> framehop::Module<&'static [u8]> {
    let Module { name, base, code, header, frames } = module;
    let own = |(address, bytes): (u64, &[u8])| address - base..address - base + bytes.len() as u64;
    let sections = ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma: Some(code.start - base..code.end - base),
        eh_frame_svma: Some(own(frames)),
        eh_frame: Some(frames.1),
        eh_frame_hdr_svma: Some(own(header)),
        eh_frame_hdr: Some(header.1),
        ..Default::default()
    };
    framehop::Module::new(name, code, base, sections)
}
