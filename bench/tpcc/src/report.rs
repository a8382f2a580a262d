//! What a run prints.

use crate::Load;
use crate::terminal::{Kind, Outcome, Tally};

/// Milliseconds below which a share of the values lies; the values are in order.
fn percentile(sorted_us: &[u32], share: f64) -> f64 {
    if sorted_us.is_empty() {
        return 0.0;
    }
    let at = ((sorted_us.len() as f64 * share).ceil() as usize).clamp(1, sorted_us.len());
    f64::from(sorted_us[at - 1]) / 1000.0
}

/// Prints it as tables, or as one line.
pub fn print(outcome: &Outcome, load: &Load) {
    let orders = &outcome.tallies[Kind::NewOrder as usize];
    let made = orders.latencies_us.len() as f64 - orders.rolled_back as f64;
    let all: usize = outcome.tallies.iter().map(|t| t.latencies_us.len()).sum();
    let conflicts: u64 = outcome.tallies.iter().map(|t| t.conflicts).sum();
    let per_minute = made / outcome.seconds * 60.0;
    let cpu_us = outcome.server_cpu.map(|seconds| seconds * 1e6 / made.max(1.0));
    let client_us = outcome.client_cpu * 1e6 / made.max(1.0);
    if load.terse {
        let mut sorted = orders.latencies_us.clone();
        sorted.sort_unstable();
        println!(
            "new_orders_per_minute {per_minute:.0} server_us {:.0} client_us {client_us:.0} p50_ms {:.2} p99_ms {:.2} transactions {all} \
             conflicts {conflicts} errors {}",
            cpu_us.unwrap_or(0.0),
            percentile(&sorted, 0.5),
            percentile(&sorted, 0.99),
            outcome.errors.len()
        );
    } else {
        println!("| transaction | a minute | rolled back | conflicts | p50 ms | p90 ms | p99 ms | most ms |");
        println!("|---|--:|--:|--:|--:|--:|--:|--:|");
        for (tally, (_, name, ..)) in outcome.tallies.iter().zip(Kind::ALL) {
            line(tally, name, outcome.seconds);
        }
        println!("\n{per_minute:.0} new orders a minute by {} users, {:?}, {:?}", load.users, load.mode, load.protocol);
        if let Some(cpu_us) = cpu_us {
            println!("{cpu_us:.0} µs of the server's CPU time per new order, with its share of the other transactions");
        }
        println!("{client_us:.0} µs of the client's");
    }
    for error in &outcome.errors {
        println!("a user stopped: {error}");
    }
}

fn line(tally: &Tally, name: &str, seconds: f64) {
    let mut sorted = tally.latencies_us.clone();
    sorted.sort_unstable();
    let [p50, p90, p99, most] = [0.5, 0.9, 0.99, 1.0].map(|share| percentile(&sorted, share));
    println!(
        "| {name} | {:.0} | {} | {} | {p50:.2} | {p90:.2} | {p99:.2} | {most:.2} |",
        sorted.len() as f64 / seconds * 60.0,
        tally.rolled_back,
        tally.conflicts
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_seen() {
        let values: Vec<u32> = (1..=100).map(|n| n * 1000).collect();
        assert_eq!([0.5, 0.99, 1.0].map(|share| percentile(&values, share)), [50.0, 99.0, 100.0]);
        assert_eq!(percentile(&[], 0.5), 0.0);
        assert_eq!(percentile(&[7000], 0.01), 7.0);
    }
}
