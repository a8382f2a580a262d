//! Random numbers of the workloads: quick, and the same for the same seed.
//!
//! The generator is xoshiro256++ (Blackman, Vigna, 2019), seeded by SplitMix64. The distributions are those that sysbench 1.0 and YCSB
//! define, so that figures compare:
//!
//! - `uniform`;
//! - `gaussian`: the mean of twelve uniform numbers;
//! - `special` (sysbench's default): of four numbers three fall evenly on the hundredth of the range around its middle, and one is `gaussian`;
//! - `pareto`: a fifth of the range gets four fifths of the accesses, the smallest numbers most;
//! - `zipfian`: number k has weight 1/k^0.8, by rejection and inversion (Hörmann, Derflinger, 1996), which needs no table.

/// A generator.
#[derive(Clone, Debug)]
pub struct Random([u64; 4]);

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        Self(std::array::from_fn(|_| split_mix(&mut state)))
    }

    pub fn word(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// From 0 to `count` - 1; the bias of the multiplication is below 2^-32 for ranges of tables.
    pub fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(count)) >> 64) as u64
    }

    /// From `low` to `high`, both included.
    pub fn number(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// From 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The time to the next arrival of a Poisson process, in units of its mean.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Replaces each `#` of a pattern by a digit and each `@` by a lower-case letter.
    pub fn pattern(&mut self, pattern: &str, out: &mut Vec<u8>) {
        let (mut digits, mut left) = (0, 0);
        for byte in pattern.bytes() {
            match byte {
                b'#' => {
                    // Nineteen digits of one number.
                    if left == 0 {
                        (digits, left) = (self.word() >> 1, 18);
                    }
                    out.push(b'0' + (digits % 10) as u8);
                    digits /= 10;
                    left -= 1;
                }
                b'@' => out.push(b'a' + self.below(26) as u8),
                other => out.push(other),
            }
        }
    }
}

/// How keys are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Distribution {
    Uniform,
    /// Sysbench's default: three quarters of the accesses go to the hundredth in the middle
    Special,
    Gaussian,
    Pareto,
    Zipfian,
}

impl Distribution {
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Special => "special",
            Self::Gaussian => "gaussian",
            Self::Pareto => "pareto",
            Self::Zipfian => "zipfian",
        }
    }
}

const GAUSSIAN_ITERATIONS: u64 = 12;
const SPECIAL_SHARE: u64 = 4;
const SPECIAL_PERCENT: u64 = 1;
const PARETO_H: f64 = 0.2;
const ZIPF_EXPONENT: f64 = 0.8;

/// Numbers from 1 to a count, by a distribution.
#[derive(Clone, Debug)]
pub struct Keys {
    count: u64,
    distribution: Distribution,
    zipf: Zipf,
}

impl Keys {
    pub fn new(count: u64, distribution: Distribution) -> Self {
        Self { count: count.max(1), distribution, zipf: Zipf::new(count.max(1), ZIPF_EXPONENT) }
    }

    pub fn draw(&self, random: &mut Random) -> u64 {
        let count = self.count;
        match self.distribution {
            Distribution::Uniform => 1 + random.below(count),
            Distribution::Gaussian => 1 + gaussian(random, count),
            Distribution::Special => {
                let drawn = random.below(count * SPECIAL_SHARE);
                if drawn < count {
                    return 1 + gaussian(random, count);
                }
                let few = (count * SPECIAL_PERCENT / 100).max(1);
                1 + count / 2 - few / 2 + drawn % few
            }
            Distribution::Pareto => {
                let power = PARETO_H.ln() / (1.0 - PARETO_H).ln();
                1 + ((count as f64 * random.unit().powf(power)) as u64).min(count - 1)
            }
            Distribution::Zipfian => self.zipf.draw(random),
        }
    }
}

fn gaussian(random: &mut Random, count: u64) -> u64 {
    (0..GAUSSIAN_ITERATIONS).map(|_| random.below(count)).sum::<u64>() / GAUSSIAN_ITERATIONS
}

/// Zipf's distribution over 1 to a count.
#[derive(Clone, Debug)]
pub struct Zipf {
    count: f64,
    exponent: f64,
    /// The integral of the weights at the ends of the range
    low: f64,
    high: f64,
    shift: f64,
}

impl Zipf {
    pub fn new(count: u64, exponent: f64) -> Self {
        let mut zipf = Self { count: count as f64, exponent, low: 0.0, high: 0.0, shift: 0.0 };
        zipf.low = zipf.integral(1.5) - 1.0;
        zipf.high = zipf.integral(zipf.count + 0.5);
        zipf.shift = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.weight(2.0));
        zipf
    }

    fn weight(&self, x: f64) -> f64 {
        x.powf(-self.exponent)
    }

    /// The integral of the weight from 1 to x; the exponent is not 1.
    fn integral(&self, x: f64) -> f64 {
        (x.powf(1.0 - self.exponent) - 1.0) / (1.0 - self.exponent)
    }

    fn inverse(&self, y: f64) -> f64 {
        (1.0 + y * (1.0 - self.exponent)).max(0.0).powf(1.0 / (1.0 - self.exponent))
    }

    pub fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let u = self.high + random.unit() * (self.low - self.high);
            let x = self.inverse(u);
            let k = x.round().clamp(1.0, self.count);
            if k - x <= self.shift || u >= self.integral(k + 0.5) - self.weight(k) {
                return k as u64;
            }
        }
    }
}

/// FNV-1a of a number: YCSB scatters its popular keys over the key space so.
pub fn scatter(value: u64) -> u64 {
    value.to_le_bytes().iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: u64 = 1000;
    const DRAWS: u32 = 200_000;

    fn histogram(distribution: Distribution) -> Vec<u32> {
        let (keys, mut random) = (Keys::new(COUNT, distribution), Random::new(7));
        let mut seen = vec![0; COUNT as usize];
        for _ in 0..DRAWS {
            seen[keys.draw(&mut random) as usize - 1] += 1;
        }
        seen
    }

    fn share(seen: &[u32], from: usize, to: usize) -> f64 {
        f64::from(seen[from..to].iter().sum::<u32>()) / f64::from(DRAWS)
    }

    #[test]
    fn distributions_have_their_shapes() {
        let near =
            |value: f64, expected: f64, what: &str| assert!((value - expected).abs() < 0.02, "{what}: {value}, not {expected}");
        near(share(&histogram(Distribution::Uniform), 0, 200), 0.2, "uniform");
        near(share(&histogram(Distribution::Pareto), 0, 200), 0.8, "pareto");
        // The middle hundredth has three quarters, and what the gaussian part puts there.
        let special = share(&histogram(Distribution::Special), 495, 505);
        assert!((0.75..0.85).contains(&special), "{special}");
        let gaussian = histogram(Distribution::Gaussian);
        assert!(share(&gaussian, 400, 600) > 0.7 && share(&gaussian, 0, 100) < 0.001);
    }

    #[test]
    fn zipf_has_its_weights() {
        let seen = histogram(Distribution::Zipfian);
        let all: f64 = (1..=COUNT).map(|k| (k as f64).powf(-ZIPF_EXPONENT)).sum();
        for k in [1usize, 2, 3, 10, 100] {
            let expected = (k as f64).powf(-ZIPF_EXPONENT) / all * f64::from(DRAWS);
            let got = f64::from(seen[k - 1]);
            assert!((got - expected).abs() < 5.0 * expected.sqrt(), "{k}: {got}, not {expected}");
        }
    }

    #[test]
    fn small_ranges_stay_in_range() {
        let mut random = Random::new(3);
        for distribution in
            [Distribution::Uniform, Distribution::Special, Distribution::Gaussian, Distribution::Pareto, Distribution::Zipfian]
        {
            for count in [1, 2, 3] {
                let keys = Keys::new(count, distribution);
                assert!((0..1000).all(|_| (1..=count).contains(&keys.draw(&mut random))), "{distribution:?} of {count}");
            }
        }
    }

    #[test]
    fn patterns_are_filled() {
        let mut out = Vec::new();
        Random::new(1).pattern("##-@@-####################", &mut out);
        let text = String::from_utf8(out).expect("ASCII");
        let kinds: String = text
            .chars()
            .map(|c| {
                if c.is_ascii_digit() {
                    '#'
                } else if c.is_ascii_lowercase() {
                    '@'
                } else {
                    c
                }
            })
            .collect();
        assert_eq!(kinds, "##-@@-####################");
    }
}
