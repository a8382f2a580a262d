//! What a row of the workload holds: a list of elements, and padding that follows from it.
//!
//! ```text
//! hash u64 of all that follows | count u32 | padding bytes u32 | elements u64 each | padding
//! ```
//! An element is unique in a run; the last one names the version. The hash shows bytes that nobody wrote.

const HEAD: usize = 16;

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// A row's bytes; `padding_max` bounds its padding, whose length follows from the last element.
pub fn encode(elements: &[u64], padding_max: usize) -> Vec<u8> {
    let last = elements.last().copied().unwrap_or(0);
    let padding = (last.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as usize % (padding_max + 1);
    let mut out = vec![0; 8];
    out.extend_from_slice(&(elements.len() as u32).to_le_bytes());
    out.extend_from_slice(&(padding as u32).to_le_bytes());
    elements.iter().for_each(|element| out.extend_from_slice(&element.to_le_bytes()));
    out.resize(out.len() + padding, last as u8);
    let sum = hash(&out[8..]);
    out[..8].copy_from_slice(&sum.to_le_bytes());
    out
}

/// The elements of a row; `None`: these bytes were never written so.
pub fn decode(bytes: &[u8]) -> Option<Vec<u64>> {
    let sum = u64::from_le_bytes(*bytes.first_chunk()?);
    let count = u32::from_le_bytes(*bytes.get(8..12)?.first_chunk()?) as usize;
    let elements = bytes.get(HEAD..HEAD + count.checked_mul(8)?)?;
    if hash(&bytes[8..]) != sum {
        return None;
    }
    Some(elements.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_and_damage_shows() {
        for elements in [vec![], vec![7], vec![1, 2, 3]] {
            let bytes = encode(&elements, 100);
            assert_eq!(decode(&bytes), Some(elements));
            for bit in 0..bytes.len() * 8 {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(decode(&flipped), None);
            }
        }
    }
}
