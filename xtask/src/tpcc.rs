//! `cargo xtask tpcc`: the transactions of TPC-C against Heddle and its peers, side by side, with `bench/tpcc`.
//!
//! 1. Heddle is built for release and started; peers come as for `cargo xtask bench`. Each is loaded once.
//! 2. For each mode, protocol and number of users every server runs once per round, the order reversed every other round.
//!    After each run of the last round the consistency conditions are asked, outside of the time that counts.
//! 3. What is printed per cell, each the median of the rounds: new orders a minute, the server's CPU time per new order (with its
//!    share of the other transactions), the client's, latencies of new orders, and conflicts per thousand transactions.

use crate::proc::{quiet, target};
use crate::servers::{Servers, Target, median};
use clap::Args;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

#[derive(Args)]
pub struct Options {
    #[arg(long, default_value_t = 8)]
    warehouses: u32,
    /// Virtual users
    #[arg(long, value_delimiter = ',', default_value = "4,16,64")]
    users: Vec<u32>,
    /// procedures, statements
    #[arg(long, value_delimiter = ',', default_value = "procedures,statements")]
    modes: Vec<String>,
    /// prepared, text
    #[arg(long, value_delimiter = ',', default_value = "prepared")]
    protocols: Vec<String>,
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Seconds of one run
    #[arg(long, default_value_t = 10)]
    time: u32,
    #[command(flatten)]
    servers: Servers,
    /// Which peers are started
    #[arg(long, value_delimiter = ',', default_value = "mysql97,mariadb118")]
    peer: Vec<String>,
    /// The database is there already, on every server that is not started here
    #[arg(long)]
    loaded: bool,
}

/// One run, as `tpcc run --terse` tells it: values by name.
type Run = BTreeMap<String, f64>;

/// `cargo xtask tpcc`.
pub fn run(root: &Path, options: &Options) -> Result<bool, String> {
    let release = target(root).join("release");
    let (heddle, targets) = options.servers.start(root, Some("tpcc"), &target(root).join("tpcc-data"), &options.peer)?;
    let started = usize::from(heddle.is_some());
    for target in &targets[..if options.loaded { started } else { targets.len() }] {
        println!("loading {}", target.name);
        quiet(&mut tpcc(&release, target, options, "load"))?;
    }
    println!(
        "\n| mode | protocol | users | server | new orders/min | ± % | server CPU µs | client CPU µs | p50 ms | p99 ms | conflicts ‰ |"
    );
    println!("|---|---|--:|---|--:|--:|--:|--:|--:|--:|--:|");
    for mode in &options.modes {
        for protocol in &options.protocols {
            for &users in &options.users {
                cell(&release, &targets, options, mode, protocol, users)?;
            }
        }
    }
    drop(heddle);
    Ok(true)
}

fn tpcc(release: &Path, target: &Target, options: &Options, verb: &str) -> Command {
    let mut command = Command::new(release.join("tpcc"));
    command.args([verb, "--host", &target.host, "--port", &target.port, "--user", &target.user]);
    // An empty value has to be given with its flag.
    command.arg(format!("--password={}", target.password)).args(["--warehouses", &options.warehouses.to_string()]);
    if !target.socket.is_empty() {
        command.args(["--socket", &target.socket]);
    }
    command
}

/// One row per server.
fn cell(release: &Path, targets: &[Target], options: &Options, mode: &str, protocol: &str, users: u32) -> Result<(), String> {
    let mut runs: BTreeMap<usize, Vec<Run>> = BTreeMap::new();
    for round in 0..options.rounds {
        let mut order: Vec<usize> = (0..targets.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let target = &targets[at];
            let mut command = tpcc(release, target, options, "run");
            command.args(["--terse", "--ramp-up", "2", "--mode", mode, "--protocol", protocol, "--users", &users.to_string()]);
            command.args([
                "--seconds",
                &options.time.to_string(),
                "--seed",
                &(round + 1).to_string(),
                "--pid",
                &target.pid.to_string(),
            ]);
            if round + 1 < options.rounds {
                command.arg("--without-check");
            }
            let text = quiet(&mut command).map_err(|e| format!("{}: {e}", target.name))?;
            runs.entry(at).or_default().push(values(&text)?);
        }
    }
    for (at, runs) in &runs {
        let all = |name: &str| -> Vec<f64> { runs.iter().map(|run| run.get(name).copied().unwrap_or(0.0)).collect() };
        let rates = all("new_orders_per_minute");
        let (low, high) = rates.iter().fold((f64::MAX, 0.0_f64), |(low, high), v| (low.min(*v), high.max(*v)));
        let rate = median(rates);
        let conflicts: f64 = all("conflicts").iter().sum();
        let transactions: f64 = all("transactions").iter().sum();
        println!(
            "| {mode} | {protocol} | {users} | {} | {rate:.0} | {:.1} | {:.0} | {:.0} | {:.2} | {:.2} | {:.2} |",
            targets[*at].name,
            (high - low) / 2.0 / rate.max(1.0) * 100.0,
            median(all("server_us")),
            median(all("client_us")),
            median(all("p50_ms")),
            median(all("p99_ms")),
            conflicts / transactions.max(1.0) * 1000.0
        );
    }
    Ok(())
}

/// The `name value` pairs of the line that begins with the first name.
fn values(text: &str) -> Result<Run, String> {
    let line = text.lines().find(|l| l.starts_with("new_orders_per_minute ")).ok_or_else(|| format!("no figures in: {text}"))?;
    let mut words = line.split_whitespace();
    let mut run = Run::new();
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        run.insert(name.into(), value.parse().map_err(|_| format!("{name} is no number in: {line}"))?);
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read() {
        let run = values("something\nnew_orders_per_minute 100 server_us 2.5\n").expect("well formed");
        assert_eq!((run["new_orders_per_minute"], run["server_us"]), (100.0, 2.5));
        assert!(values("nothing").is_err());
        assert!(values("new_orders_per_minute x").is_err());
    }
}
