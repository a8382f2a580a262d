//! Random numbers of a run, and the system's random numbers made constant.

/// xoshiro256++ (Blackman, Vigna: "Scrambled Linear Pseudorandom Number Generators", 2019), seeded by splitmix64.
#[derive(Clone, Debug)]
pub struct Rng([u64; 4]);

impl Rng {
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        Self(std::array::from_fn(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        }))
    }

    /// Another generator, whose numbers do not depend on how this one is used later.
    pub fn fork(&mut self) -> Self {
        Self::new(self.next_u64())
    }

    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.0;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Below `bound` (0 when that is 0).
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Within the range, both ends included.
    pub fn within(&mut self, range: std::ops::RangeInclusive<u64>) -> u64 {
        range.start() + self.below(range.end() - range.start() + 1)
    }

    /// True `times` of `of` times.
    pub fn chance(&mut self, times: u64, of: u64) -> bool {
        self.below(of) < times
    }

    /// One of a few.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
}

/// Replaces the C library's: the standard library seeds its hash maps with it, and the order of a map may decide what an engine does.
///
/// # Safety
/// `buffer` is valid for `bytes` bytes, as for the function that this one replaces.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buffer: *mut u8, bytes: usize, _flags: u32) -> isize {
    // SAFETY: the caller's promise.
    unsafe { buffer.write_bytes(0x5a, bytes) };
    bytes as isize
}

/// Names the replacement, so that the linker keeps it; returns whether the standard library uses it.
pub fn replaces_system_randomness() -> bool {
    use std::hash::{BuildHasher, RandomState};
    std::hint::black_box(getrandom as *const ());
    // The first keys of two threads are equal only if both come from the constant.
    let hash = || std::thread::spawn(|| RandomState::new().hash_one(1u64)).join().ok();
    hash() == hash()
}
