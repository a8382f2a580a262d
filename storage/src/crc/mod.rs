//! CRC-32C, the checksum of pages, log blocks and the control file.
//!
//! The crc-fast library computes it with the processor's own instructions on x86-64 and aarch64, and with tables elsewhere; 64-bit
//! POWER has its own version here (`power.rs`). All give the same number for the same bytes, whatever the machine's byte order.

#[cfg(target_arch = "powerpc64")]
mod power;
#[cfg(target_arch = "powerpc64")]
use power::update;

/// CRC-32C of some bytes.
#[inline]
pub fn crc32c(bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "powerpc64")]
    return !update(!0, bytes);
    #[cfg(not(target_arch = "powerpc64"))]
    return crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32Iscsi, bytes) as u32;
}

/// CRC-32C of several parts, as if they stood one after the other.
#[inline]
pub fn crc32c_of_parts(parts: &[&[u8]]) -> u32 {
    #[cfg(target_arch = "powerpc64")]
    return !parts.iter().fold(!0, |state, part| update(state, part));
    #[cfg(not(target_arch = "powerpc64"))]
    {
        let mut digest = crc_fast::Digest::new(crc_fast::CrcAlgorithm::Crc32Iscsi);
        parts.iter().for_each(|part| digest.update(part));
        digest.finalize() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit, from the definition.
    fn plain(bytes: &[u8]) -> u32 {
        let step = |crc: u32| if crc & 1 != 0 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
        !bytes.iter().fold(!0u32, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
    }

    fn sample(count: usize) -> Vec<u8> {
        (0..count as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
    }

    #[test]
    fn known_values() {
        assert_eq!(crc32c(b""), 0);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        // RFC 3720, appendix B.4.
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    #[test]
    fn every_length_and_offset_is_as_by_definition() {
        let bytes = sample(1100 + 17);
        // The interpreter is slow: lengths on both sides of where the methods change.
        for length in (0..=1100).step_by(if cfg!(miri) { 373 } else { 1 }) {
            let offsets: &[usize] = if cfg!(miri) { &[0, 3] } else { &[0, 1, 3, 8, 15, 16] };
            for &offset in offsets {
                let part = &bytes[offset..offset + length];
                assert_eq!(crc32c(part), plain(part), "{length} bytes at {offset}");
            }
        }
        if cfg!(miri) {
            return;
        }
        for length in [4096, 16_380, 16_384, 65_537] {
            let bytes = sample(length);
            assert_eq!(crc32c(&bytes), plain(&bytes), "{length} bytes");
        }
    }

    #[test]
    fn parts_are_as_the_whole() {
        let bytes = sample(900);
        for (first, second) in [(0, 0), (0, 900), (40, 44), (1, 899), (127, 128), (300, 301), (513, 700)] {
            let parts = [&bytes[..first], &bytes[first..second], &bytes[second..]];
            assert_eq!(crc32c_of_parts(&parts), crc32c(&bytes), "cut at {first} and {second}");
        }
    }
}
