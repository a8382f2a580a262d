//! Means, medians, and how sure a difference is.
//!
//! Servers are measured in turns, round by round, so a slow drift of the machine falls on all of them. Two servers are compared within each round: the
//! logarithms of the ratios of a round are one sample, and Student's t gives the interval of their mean. So few rounds give a wide interval,
//! which is honest.

use serde::{Deserialize, Serialize};

/// The middle value, or of an even number of values the mean of the middle two; 0 of none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => 0.0,
        n if n % 2 == 0 => (values[half - 1] + values[half]) / 2.0,
        _ => values[half],
    }
}

/// A value within a share of the others, by rank; the values are in order.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = (sorted.len() as f64 * share).floor() as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

/// A ratio and its interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// How many rounds or runs it comes from
    pub of: usize,
}

impl Ratio {
    /// Whether the difference is beyond the noise.
    pub fn is_sure(&self) -> bool {
        self.of > 1 && (self.low > 1.0 || self.high < 1.0)
    }
}

/// The quantile of 97.5 % of Student's t.
fn student(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
        2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    match degrees {
        0 => f64::INFINITY,
        n => TABLE.get(n - 1).copied().unwrap_or(1.96 + 2.5 / n as f64),
    }
}

fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, variance)
}

/// The ratio of pairs of values that were measured together; `None` without a pair of positive values.
pub fn paired(pairs: &[(f64, f64)]) -> Option<Ratio> {
    let logs: Vec<f64> = pairs.iter().filter(|(a, b)| *a > 0.0 && *b > 0.0).map(|(a, b)| (a / b).ln()).collect();
    if logs.is_empty() {
        return None;
    }
    let (mean, variance) = mean_and_variance(&logs);
    let half = student(logs.len() - 1) * (variance / logs.len() as f64).sqrt();
    let half = if logs.len() == 1 { f64::INFINITY } else { half };
    Some(bounded(mean, half, logs.len()))
}

/// The ratio of values that were measured apart (Welch's test).
pub fn unpaired(a: &[f64], b: &[f64]) -> Option<Ratio> {
    let logs = |values: &[f64]| values.iter().filter(|value| **value > 0.0).map(|value| value.ln()).collect::<Vec<f64>>();
    let (a, b) = (logs(a), logs(b));
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let ((mean_a, variance_a), (mean_b, variance_b)) = (mean_and_variance(&a), mean_and_variance(&b));
    let (n_a, n_b) = (a.len() as f64, b.len() as f64);
    let (share_a, share_b) = (variance_a / n_a, variance_b / n_b);
    let error = (share_a + share_b).sqrt();
    let of = a.len().min(b.len());
    if of == 1 {
        return Some(bounded(mean_a - mean_b, f64::INFINITY, 1));
    }
    let degrees = (share_a + share_b).powi(2) / (share_a.powi(2) / (n_a - 1.0) + share_b.powi(2) / (n_b - 1.0)).max(1e-300);
    Some(bounded(mean_a - mean_b, student((degrees.floor() as usize).max(1)) * error, of))
}

/// JSON has no infinity: an interval that says nothing is from a thousandth to a thousand times.
fn bounded(mean: f64, half: f64, of: usize) -> Ratio {
    const NOTHING: f64 = 1000.0;
    let half = half.min(NOTHING.ln());
    Ratio { value: mean.exp(), low: (mean - half).exp(), high: (mean + half).exp(), of }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middles() {
        assert_eq!((median(vec![3.0, 100.0, 1.0]), median(vec![4.0, 1.0, 2.0, 100.0]), median(Vec::new())), (3.0, 3.0, 0.0));
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!((quantile(&values, 0.025), quantile(&values, 0.975), quantile(&[], 0.5)), (2.0, 97.0, 0.0));
    }

    #[test]
    fn a_steady_difference_is_sure_and_noise_is_not() {
        let steady = paired(&[(200.0, 100.0), (210.0, 104.0), (190.0, 96.0)]).expect("pairs");
        assert!(steady.is_sure() && (steady.value - 2.0).abs() < 0.05, "{steady:?}");
        let noise = paired(&[(100.0, 110.0), (110.0, 100.0), (105.0, 104.0)]).expect("pairs");
        assert!(!noise.is_sure(), "{noise:?}");
        let one = paired(&[(200.0, 100.0)]).expect("a pair");
        assert!(!one.is_sure() && one.high.is_finite(), "{one:?}");
        assert_eq!(paired(&[(0.0, 1.0)]), None);
        assert!(unpaired(&[100.0, 101.0, 99.0], &[80.0, 81.0, 79.5]).expect("values").is_sure());
        assert!(!unpaired(&[100.0, 90.0, 99.0], &[97.0, 103.0, 92.0]).expect("values").is_sure());
    }

    #[test]
    fn the_interval_has_the_truth_in_95_of_100_cases() {
        let mut random = crate::random::Random::new(9);
        let mut noise = || 1.0 + 0.05 * ((0..12).map(|_| random.unit()).sum::<f64>() - 6.0);
        let hits = (0..2000)
            .filter(|_| {
                let pairs: Vec<(f64, f64)> = (0..4).map(|_| (150.0 * noise(), 100.0 * noise())).collect();
                let ratio = paired(&pairs).expect("pairs");
                ratio.low < 1.5 && 1.5 < ratio.high
            })
            .count();
        assert!((1860..1940).contains(&hits), "{hits} of 2000");
    }
}
