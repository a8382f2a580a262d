//! CRC-32C on 64-bit POWER, both byte orders, through `vpmsumd`: two 64-bit carry-less products and their sum in one instruction.
//!
//! The method is Intel's "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (2009) for reflected CRCs:
//! 1. The CRC so far is added to the first 4 bytes, so that the rest begins from zero.
//! 2. Eight 128-bit remainders run side by side over blocks of 128 bytes. One step replaces a remainder by a congruent one
//!    1024 bits further on, and adds the next 16 bytes of its lane.
//! 3. The eight are folded into one in steps of 128 bits, and what is left of the data in 16-byte blocks likewise.
//! 4. The last remainder and the bytes after it go through the table version.
//!
//! V1: a register holds 16 bytes of data as one little-endian number; `vpmsumd` multiplies its lower doubleword (the earlier bytes) by
//! the constant's lower one, and the higher by the higher. In memory here such a number is `[higher, lower]`.
//! V2: for a fold by D bits the constants are x^(D-1) (higher) and x^(D+63) (lower) modulo P, reflected in 64 bits. The missing
//! factor x is what the product of two reflected numbers has too much.
//!
//! The registers are named in the assembly because vector types of POWER are not stable in Rust; naming them as clobbered is.

use crc_fast::CrcAlgorithm::Crc32Iscsi;
use std::arch::asm;
use std::sync::LazyLock;

/// Bytes of one step of all eight lanes.
const WIDE_BYTES: usize = 128;
const NARROW_BYTES: usize = 16;
/// Below this the table version is as good.
const FOLDED_MIN: usize = 256;

/// V2.
static FAR: [u64; 2] = fold_constants(8 * WIDE_BYTES as u32);
static NEAR: [u64; 2] = fold_constants(8 * NARROW_BYTES as u32);

/// Where `vperm` finds the bytes of such a number (V1) after `lxvd2x`, which loads two doublewords, each in the machine's byte order.
#[cfg(target_endian = "little")]
static ORDER: [u64; 2] = [0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607];
#[cfg(target_endian = "big")]
static ORDER: [u64; 2] = [0x0f0e_0d0c_0b0a_0908, 0x0706_0504_0302_0100];

const fn fold_constants(bits: u32) -> [u64; 2] {
    [(power_of_x(bits - 1) as u64) << 32, (power_of_x(bits + 63) as u64) << 32]
}

/// x^exponent modulo the Castagnoli polynomial, reflected in 32 bits.
const fn power_of_x(exponent: u32) -> u32 {
    let mut value = 1 << 31;
    let mut i = 0;
    while i < exponent {
        value = if value & 1 != 0 { value >> 1 ^ 0x82f6_3b78 } else { value >> 1 };
        i += 1;
    }
    value
}

/// The CRC's inner state after further bytes (it begins with all ones, and the CRC is its complement).
pub fn update(state: u32, bytes: &[u8]) -> u32 {
    if bytes.len() < FOLDED_MIN || !*HAS_VPMSUMD { by_table(state, bytes) } else { by_folding(state, bytes) }
}

/// The instruction came with Power ISA 2.07 (POWER8), in the category of vector cryptography.
static HAS_VPMSUMD: LazyLock<bool> = LazyLock::new(|| {
    const ARCH_2_07: usize = 0x8000_0000;
    const VECTOR_CRYPTO: usize = 0x0200_0000;
    let (_, second) = os::hardware_capabilities();
    second & ARCH_2_07 != 0 && second & VECTOR_CRYPTO != 0
});

fn by_table(state: u32, bytes: &[u8]) -> u32 {
    let mut digest = crc_fast::Digest::new_with_init_state(Crc32Iscsi, u64::from(state));
    digest.update(bytes);
    !(digest.finalize() as u32)
}

fn by_folding(state: u32, bytes: &[u8]) -> u32 {
    assert!(bytes.len() >= WIDE_BYTES);
    let (wide, rest) = bytes.split_at(bytes.len() - bytes.len() % WIDE_BYTES);
    let (narrow, tail) = rest.split_at(rest.len() - rest.len() % NARROW_BYTES);
    // SAFETY: the processor has vpmsumd (our caller looked), and `wide` is one block or more, none beyond its end.
    let mut remainder = unsafe { fold_wide(state, wide.as_ptr(), wide.len() / WIDE_BYTES) };
    if !narrow.is_empty() {
        // SAFETY: as above.
        remainder = unsafe { fold_narrow(remainder, narrow.as_ptr(), narrow.len() / NARROW_BYTES) };
    }
    let [higher, lower] = remainder;
    let mut last = [0; NARROW_BYTES];
    last[..8].copy_from_slice(&lower.to_le_bytes());
    last[8..].copy_from_slice(&higher.to_le_bytes());
    by_table(by_table(0, &last), tail)
}

/// Loads 16 bytes as a little-endian number (V1); register 19 has `ORDER`, and 32 + n is the number of vector n in `lxvd2x`.
macro_rules! load {
    ($vector:literal, $vsx:literal, $address:literal) => {
        concat!("lxvd2x ", $vsx, ", ", $address, "\nvperm ", $vector, ", ", $vector, ", ", $vector, ", 19")
    };
}

/// One lane: the remainder in `$to`, the next bytes in `$next`.
macro_rules! fold {
    ($to:literal, $next:literal, $constants:literal) => {
        concat!("vpmsumd ", $to, ", ", $to, ", ", $constants, "\nvxor ", $to, ", ", $to, ", ", $next)
    };
}

/// Steps 1 to 3 over blocks of 128 bytes.
///
/// # Safety
/// The processor has `vpmsumd`; `blocks` is not 0, and so many blocks can be read at `data`.
unsafe fn fold_wide(state: u32, data: *const u8, blocks: usize) -> [u64; 2] {
    let first = [0, u64::from(state)];
    let mut folded = [0u64; 2];
    // SAFETY: reads the constants and `blocks` blocks of data, by the caller's promise; writes `folded` and the registers named.
    unsafe {
        asm!(
            "lxvd2x 48, 0, {first}",
            "lxvd2x 49, 0, {far}",
            "lxvd2x 50, 0, {near}",
            "lxvd2x 51, 0, {order}",
            "mtctr {blocks}",
            load!(0, 32, "0, {data}"),
            load!(1, 33, "{o1}, {data}"),
            load!(2, 34, "{o2}, {data}"),
            load!(3, 35, "{o3}, {data}"),
            load!(4, 36, "{o4}, {data}"),
            load!(5, 37, "{o5}, {data}"),
            load!(6, 38, "{o6}, {data}"),
            load!(7, 39, "{o7}, {data}"),
            "vxor 0, 0, 16",
            "bdz 3f",
            "2:",
            "addi {data}, {data}, 128",
            load!(8, 40, "0, {data}"),
            load!(9, 41, "{o1}, {data}"),
            load!(10, 42, "{o2}, {data}"),
            load!(11, 43, "{o3}, {data}"),
            load!(12, 44, "{o4}, {data}"),
            load!(13, 45, "{o5}, {data}"),
            load!(14, 46, "{o6}, {data}"),
            load!(15, 47, "{o7}, {data}"),
            fold!(0, 8, 17),
            fold!(1, 9, 17),
            fold!(2, 10, 17),
            fold!(3, 11, 17),
            fold!(4, 12, 17),
            fold!(5, 13, 17),
            fold!(6, 14, 17),
            fold!(7, 15, 17),
            "bdnz 2b",
            "3:",
            fold!(0, 1, 18),
            fold!(0, 2, 18),
            fold!(0, 3, 18),
            fold!(0, 4, 18),
            fold!(0, 5, 18),
            fold!(0, 6, 18),
            fold!(0, 7, 18),
            "stxvd2x 32, 0, {folded}",
            first = in(reg) first.as_ptr(),
            far = in(reg) FAR.as_ptr(),
            near = in(reg) NEAR.as_ptr(),
            order = in(reg) ORDER.as_ptr(),
            blocks = in(reg) blocks,
            data = inout(reg_nonzero) data => _,
            folded = in(reg) folded.as_mut_ptr(),
            o1 = in(reg_nonzero) 16usize,
            o2 = in(reg_nonzero) 32usize,
            o3 = in(reg_nonzero) 48usize,
            o4 = in(reg_nonzero) 64usize,
            o5 = in(reg_nonzero) 80usize,
            o6 = in(reg_nonzero) 96usize,
            o7 = in(reg_nonzero) 112usize,
            out("ctr") _,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _, out("v7") _,
            out("v8") _, out("v9") _, out("v10") _, out("v11") _, out("v12") _, out("v13") _, out("v14") _, out("v15") _,
            out("v16") _, out("v17") _, out("v18") _, out("v19") _,
            options(nostack),
        );
    }
    folded
}

/// Step 3 over blocks of 16 bytes.
///
/// # Safety
/// As for [`fold_wide`].
unsafe fn fold_narrow(remainder: [u64; 2], data: *const u8, blocks: usize) -> [u64; 2] {
    let mut folded = remainder;
    // SAFETY: as in `fold_wide`.
    unsafe {
        asm!(
            "lxvd2x 32, 0, {folded}",
            "lxvd2x 50, 0, {near}",
            "lxvd2x 51, 0, {order}",
            "mtctr {blocks}",
            "2:",
            load!(1, 33, "0, {data}"),
            fold!(0, 1, 18),
            "addi {data}, {data}, 16",
            "bdnz 2b",
            "stxvd2x 32, 0, {folded}",
            folded = in(reg) folded.as_mut_ptr(),
            near = in(reg) NEAR.as_ptr(),
            order = in(reg) ORDER.as_ptr(),
            blocks = in(reg) blocks,
            data = inout(reg_nonzero) data => _,
            out("ctr") _,
            out("v0") _, out("v1") _, out("v18") _, out("v19") _,
            options(nostack),
        );
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_is_as_the_table() {
        if !*HAS_VPMSUMD {
            println!("skipped: this processor has no vpmsumd");
            return;
        }
        let bytes: Vec<u8> = (0..1100 + 33u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
        for length in 0..=1100 {
            for offset in [0, 1, 2, 7, 8, 16, 31] {
                let part = &bytes[offset..offset + length];
                for state in [0, !0, 0x1234_5678] {
                    let expected = by_table(state, part);
                    assert_eq!(update(state, part), expected, "{length} bytes at {offset} from {state:08x}");
                    if length >= WIDE_BYTES {
                        assert_eq!(by_folding(state, part), expected, "{length} bytes at {offset} from {state:08x}, folded");
                    }
                }
            }
        }
    }
}
