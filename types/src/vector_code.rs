//! Codes of vectors in a vector index: eight bits in place of each number, from which distances are estimated.
//!
//! ```text
//! scale    f32, little endian: the largest number, by 127
//! square   f64, little endian: the sum of the squares of the vector's own numbers
//! numbers  i8 each: the number divided by the scale, rounded
//! ```
//!
//! Q1: a code depends on the vector alone, so the entry of an index can be computed from the row at any time.
//! Q2: the error of each number is at most half of the scale. Distances are estimated with the exact square, so errors of different numbers
//!     cancel each other out in the dot product.

use crate::vector::{self, Metric};

/// Bytes before the numbers.
pub const HEAD_BYTES: usize = 12;
/// Vectors with more numbers have codes that do not fit an entry of an index.
pub const DIMENSIONS_MAX: u32 = 3 * 1024;

/// Appends the code of a vector.
pub fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    let largest = vector::numbers(bytes).fold(0.0f32, |most, number| most.max(number.abs()));
    let square: f64 = vector::numbers(bytes).map(|number| f64::from(number) * f64::from(number)).sum();
    let scale = largest / 127.0;
    out.extend_from_slice(&scale.to_le_bytes());
    out.extend_from_slice(&square.to_le_bytes());
    // Of subnormal numbers the quotient may be beyond 127: the conversion saturates.
    let code = |number: f32| if scale > 0.0 { (number / scale).round() as i8 } else { 0 };
    out.extend(vector::numbers(bytes).map(|number| code(number) as u8));
}

/// Has the vector a distance to others by this metric? One without a direction has no angle.
pub fn has_distances(bytes: &[u8], metric: Metric) -> bool {
    metric != Metric::Cosine || vector::numbers(bytes).any(|number| number != 0.0)
}

/// A vector whose distances to codes are estimated.
#[derive(Clone, Debug)]
pub struct Query {
    /// By `scale`, so that no sum overflows.
    numbers: Vec<f32>,
    scale: f32,
    square: f64,
    metric: Metric,
}

impl Query {
    pub fn new(bytes: &[u8], metric: Metric) -> Self {
        let scale = vector::numbers(bytes).fold(f32::MIN_POSITIVE, |most, number| most.max(number.abs()));
        let numbers = vector::numbers(bytes).map(|number| number / scale).collect();
        let square = vector::numbers(bytes).map(|number| f64::from(number) * f64::from(number)).sum();
        Self { numbers, scale, square, metric }
    }

    /// A number in the order of the distances; `None`: the code is of a vector with another number of numbers.
    #[inline]
    pub fn estimate(&self, code: &[u8]) -> Option<f64> {
        let (head, numbers) = code.split_at_checked(HEAD_BYTES)?;
        if numbers.len() != self.numbers.len() {
            return None;
        }
        let (scale, square) = head.split_at(4);
        let scale = f32::from_le_bytes(scale.try_into().ok()?);
        let square = f64::from_le_bytes(square.try_into().ok()?);
        let product = f64::from(self.scale) * f64::from(scale) * f64::from(dot(&self.numbers, numbers));
        Some(match self.metric {
            Metric::Euclidean => self.square + square - 2.0 * product,
            Metric::Cosine => -product / (self.square * square).sqrt(),
            Metric::Dot => -product,
        })
    }
}

/// The sum of the products, in sums side by side.
#[inline]
fn dot(numbers: &[f32], code: &[u8]) -> f32 {
    const LANES: usize = 16;
    let mut sums = [0.0f32; LANES];
    let (mut left, mut right) = (numbers.chunks_exact(LANES), code.chunks_exact(LANES));
    for (numbers, code) in (&mut left).zip(&mut right) {
        for lane in 0..LANES {
            sums[lane] += numbers[lane] * f32::from(code[lane] as i8);
        }
    }
    let rest: f32 = left.remainder().iter().zip(right.remainder()).map(|(number, code)| number * f32::from(*code as i8)).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random, from -1 to 1.
    fn made(seed: u32, count: usize) -> Vec<u8> {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as f32 / u32::MAX as f32 * 2.0 - 1.0
        };
        (0..count).flat_map(|_| next().to_le_bytes()).collect()
    }

    #[test]
    fn estimates_have_the_order_of_distances() {
        for metric in [Metric::Euclidean, Metric::Cosine, Metric::Dot] {
            let query = made(1, 100);
            let estimator = Query::new(&query, metric);
            let mut rows: Vec<(f64, f64)> = (2..500)
                .map(|seed| {
                    let (vector, mut code) = (made(seed, 100), Vec::new());
                    encode(&vector, &mut code);
                    let distance = metric.distance(&query, &vector).expect("of the same length");
                    let distance = if metric == Metric::Dot { -distance } else { distance };
                    (estimator.estimate(&code).expect("of the same length"), distance)
                })
                .collect();
            rows.sort_by(|a, b| a.1.total_cmp(&b.1));
            let last_of_ten = rows[9].1;
            rows.sort_by(|a, b| a.0.total_cmp(&b.0));
            let found = rows[..20].iter().filter(|(_, distance)| *distance <= last_of_ten).count();
            assert_eq!(found, 10, "the ten nearest are among the twenty of the least estimates by {metric:?}");
        }
    }

    #[test]
    fn odd_vectors_have_codes() {
        let zero = [0u8; 8];
        let mut code = Vec::new();
        encode(&zero, &mut code);
        assert_eq!(Query::new(&zero, Metric::Euclidean).estimate(&code), Some(0.0));
        assert!(!has_distances(&zero, Metric::Cosine) && has_distances(&zero, Metric::Euclidean));
        let largest: Vec<u8> = [f32::MAX, f32::MIN, f32::MIN_POSITIVE].iter().flat_map(|number| number.to_le_bytes()).collect();
        let mut code = Vec::new();
        encode(&largest, &mut code);
        assert!(Query::new(&largest, Metric::Euclidean).estimate(&code).is_some_and(f64::is_finite));
        assert_eq!(Query::new(&zero, Metric::Euclidean).estimate(&code), None);
    }
}
