//! The universal scalability law (Gunther, 1993, 2007) through a curve of throughput.
//!
//! ```text
//! X(N) = λ N / (1 + σ (N - 1) + κ N (N - 1))
//! ```
//! λ is the throughput of one, σ the share of the work that is serial (contention), κ the cost of agreement between each two (coherency). With κ
//! the curve has a top at N = √((1 - σ) / κ).
//!
//! **Fit.** N / X is linear in 1/λ, σ/λ and κ/λ, so least squares have one exact answer. The residuals are taken relative to N / X: a relative
//! error of the throughput counts the same at each N. None of the three may be negative: the best of the fits without some of them is
//! taken (four cases).
//!
//! **Confidence.** A bootstrap of residuals: a thousand times each run's throughput is drawn anew as the curve's value times the relative
//! residual of any run (enlarged by √(n / (n - 3)) for the three parameters), and fitted; the interval has the middle 95 %. So noise between
//! runs and a curve of another shape both widen it.

use crate::random::Random;
use crate::stats::quantile;
use serde::{Deserialize, Serialize};

const REPLICATES: usize = 1000;
/// Fewer levels do not determine three parameters.
pub const LEVELS_MIN: usize = 4;

/// One value with its interval of 95 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// The curve, as the plots draw it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub n: f64,
    pub x: Interval,
}

/// A fit of one curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    pub lambda: Interval,
    pub sigma: Interval,
    pub kappa: Interval,
    /// Where the curve has its top; none without κ
    pub peak_at: Option<Interval>,
    /// The mean relative residual
    pub error: f64,
    /// Relative residuals by level: (N, residual), in the order of the runs
    pub residuals: Vec<(f64, f64)>,
    /// From 1 to four times the largest N that was measured
    pub curve: Vec<Point>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Law {
    lambda: f64,
    sigma: f64,
    kappa: f64,
}

impl Law {
    fn at(self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }

    fn peak(self) -> Option<f64> {
        // Far beyond all machines is none.
        (self.kappa > 1e-12 && self.sigma < 1.0).then(|| ((1.0 - self.sigma) / self.kappa).sqrt())
    }
}

/// Solves some of the three unknowns; the others are 0.
fn solve(runs: &[(f64, f64)], with: [bool; 3]) -> Option<([f64; 3], f64)> {
    let rows = |n: f64, x: f64| {
        // Divided by N / X, so that the right side is 1.
        let scale = x / n;
        [scale, (n - 1.0) * scale, n * (n - 1.0) * scale]
    };
    let used: Vec<usize> = (0..3).filter(|at| with[*at]).collect();
    let size = used.len();
    let mut matrix = [[0.0f64; 4]; 3];
    for (n, x) in runs {
        let row = rows(*n, *x);
        for (i, a) in used.iter().enumerate() {
            for (j, b) in used.iter().enumerate() {
                matrix[i][j] += row[*a] * row[*b];
            }
            matrix[i][3] += row[*a];
        }
    }
    for pivot in 0..size {
        let best = (pivot..size).max_by(|a, b| matrix[*a][pivot].abs().total_cmp(&matrix[*b][pivot].abs()))?;
        matrix.swap(pivot, best);
        if matrix[pivot][pivot].abs() < 1e-12 {
            return None;
        }
        let of_pivot = matrix[pivot];
        for (_, row) in matrix.iter_mut().enumerate().take(size).filter(|(at, _)| *at != pivot) {
            let factor = row[pivot] / of_pivot[pivot];
            row.iter_mut().zip(of_pivot).skip(pivot).for_each(|(value, above)| *value -= factor * above);
        }
    }
    let mut values = [0.0; 3];
    for (i, at) in used.iter().enumerate() {
        values[*at] = matrix[i][3] / matrix[i][i];
    }
    if values[0] <= 0.0 || values[1] < 0.0 || values[2] < 0.0 {
        return None;
    }
    let squares = runs.iter().map(|(n, x)| {
        let row = rows(*n, *x);
        (row.iter().zip(values).map(|(a, b)| a * b).sum::<f64>() - 1.0).powi(2)
    });
    Some((values, squares.sum()))
}

fn law(runs: &[(f64, f64)]) -> Option<Law> {
    let cases = [[true, true, true], [true, true, false], [true, false, true], [true, false, false]];
    let best = cases.into_iter().filter_map(|with| solve(runs, with)).min_by(|a, b| a.1.total_cmp(&b.1));
    best.map(|([a, b, c], _)| Law { lambda: 1.0 / a, sigma: b / a, kappa: c / a })
}

/// Fits the law to runs: pairs of N and throughput. `None` if there are fewer than four levels, or no law fits.
pub fn fit(runs: &[(f64, f64)]) -> Option<Fit> {
    let runs: Vec<(f64, f64)> = runs.iter().copied().filter(|(n, x)| *n >= 1.0 && *x > 0.0).collect();
    let mut levels: Vec<f64> = runs.iter().map(|(n, _)| *n).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    if levels.len() < LEVELS_MIN {
        return None;
    }
    let law_of_all = law(&runs)?;
    let residuals: Vec<(f64, f64)> = runs.iter().map(|(n, x)| (*n, x / law_of_all.at(*n) - 1.0)).collect();
    let count = runs.len() as f64;
    let enlarge = (count / (count - 3.0).max(1.0)).sqrt();
    let mut random = Random::new(36);
    let mut laws = Vec::with_capacity(REPLICATES);
    for _ in 0..REPLICATES {
        let drawn: Vec<(f64, f64)> = runs
            .iter()
            .map(|(n, _)| {
                let (_, residual) = residuals[random.below(residuals.len() as u64) as usize];
                (*n, law_of_all.at(*n) * (1.0 + residual * enlarge).max(0.05))
            })
            .collect();
        laws.extend(law(&drawn));
    }
    let interval = |of: &dyn Fn(Law) -> f64| {
        let mut values: Vec<f64> = laws.iter().map(|law| of(*law)).collect();
        values.sort_by(f64::total_cmp);
        let value = of(law_of_all);
        Interval { value, low: quantile(&values, 0.025).min(value), high: quantile(&values, 0.975).max(value) }
    };
    let last = *levels.last()?;
    const STEPS: u32 = 60;
    let far = (last * 4.0).max(2.0).ln();
    let curve = (0..=STEPS).map(|step| {
        let n = (far * f64::from(step) / f64::from(STEPS)).exp();
        Point { n, x: interval(&|law| law.at(n)) }
    });
    Some(Fit {
        lambda: interval(&|law| law.lambda),
        sigma: interval(&|law| law.sigma),
        kappa: interval(&|law| law.kappa),
        peak_at: law_of_all.peak().map(|_| interval(&|law| law.peak().unwrap_or(last * 100.0).min(last * 100.0))),
        error: residuals.iter().map(|(_, residual)| residual.abs()).sum::<f64>() / count,
        curve: curve.collect(),
        residuals,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

    fn planted(law: Law, noise: f64, seed: u64) -> Vec<(f64, f64)> {
        let mut random = Random::new(seed);
        let mut runs = Vec::new();
        for n in LEVELS {
            for _ in 0..3 {
                let normal = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
                runs.push((n, law.at(n) * (1.0 + noise * normal)));
            }
        }
        runs
    }

    fn near(value: f64, expected: f64, share: f64) {
        assert!((value - expected).abs() <= share * expected, "{value}, not {expected}");
    }

    #[test]
    fn planted_parameters_come_back_exactly_without_noise() {
        for law in [
            Law { lambda: 1000.0, sigma: 0.05, kappa: 0.0005 },
            Law { lambda: 20.0, sigma: 0.0, kappa: 0.001 },
            Law { lambda: 5e5, sigma: 0.3, kappa: 0.0 },
        ] {
            let fit = fit(&planted(law, 0.0, 1)).expect("seven levels");
            near(fit.lambda.value, law.lambda, 1e-6);
            assert!((fit.sigma.value - law.sigma).abs() < 1e-6 && (fit.kappa.value - law.kappa).abs() < 1e-7, "{fit:?}");
            assert_eq!(fit.peak_at.is_some(), law.kappa > 0.0);
        }
    }

    #[test]
    fn with_noise_the_interval_has_the_truth() {
        let law = Law { lambda: 1000.0, sigma: 0.05, kappa: 0.0005 };
        let mut hits = [0; 3];
        for seed in 0..40 {
            let fit = fit(&planted(law, 0.03, seed)).expect("seven levels");
            near(fit.lambda.value, law.lambda, 0.1);
            let inside = |interval: Interval, truth: f64| u32::from(interval.low <= truth && truth <= interval.high);
            hits[0] += inside(fit.lambda, law.lambda);
            hits[1] += inside(fit.sigma, law.sigma);
            hits[2] += inside(fit.kappa, law.kappa);
        }
        // Of 40, 38 are expected; the binomial distribution has fewer than 33 in one of 400 cases.
        assert!(hits.iter().all(|hit| *hit >= 33), "{hits:?}");
    }

    #[test]
    fn the_top_is_where_the_law_has_it_and_the_band_grows() {
        let fit = fit(&planted(Law { lambda: 1000.0, sigma: 0.02, kappa: 0.001 }, 0.02, 3)).expect("seven levels");
        near(fit.peak_at.expect("there is one").value, 31.3, 0.15);
        let width = |at: usize| (fit.curve[at].x.high - fit.curve[at].x.low) / fit.curve[at].x.value;
        assert!(width(60) > width(30), "projection is less sure than what was measured: {} {}", width(60), width(30));
        assert!((fit.curve[60].n - 256.0).abs() < 1e-6);
    }

    #[test]
    fn few_levels_have_no_fit() {
        assert_eq!(fit(&[(1.0, 10.0), (2.0, 18.0), (4.0, 30.0)]), None);
        assert_eq!(fit(&[]), None);
    }
}
