//! `heddle bench compare`: what changed between two reports, beyond the noise.
//!
//! Cells of the same workload, level and server are compared by Welch's test over their rounds. Where a report has several servers, the others tell how
//! much the machine has changed: what changed for all alike is not the server's doing, and is said.

use crate::report::{Cell, Report, Run};
use crate::stats::{Ratio, unpaired};
use std::fmt::Write as _;

/// One figure of one cell in both reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub server: String,
    pub cell: String,
    pub of: &'static str,
    pub before: f64,
    pub after: f64,
    pub ratio: Ratio,
}

type Figure = fn(&Run) -> Option<f64>;

const FIGURES: &[(&str, Figure)] =
    &[("queries/s", |run| Some(run.rate_of_queries())), ("p99 ms", |run| Some(run.p99_ms)), ("server µs/query", Run::server_us)];

/// All figures that both reports have.
pub fn changes(before: &Report, after: &Report) -> Vec<Change> {
    let mut all = Vec::new();
    for cell in &before.cells {
        let Some(other) = after.cells.iter().find(|other| other.server == cell.server && other.key() == cell.key()) else {
            continue;
        };
        for (of, figure) in FIGURES {
            let values = |cell: &Cell| cell.good().filter_map(figure).collect::<Vec<f64>>();
            let (old, new) = (values(cell), values(other));
            if let Some(ratio) = unpaired(&new, &old) {
                let (before, after) = (crate::stats::median(old), crate::stats::median(new));
                let extra = [cell.cores.map(|n| format!(", {n} cores")), cell.rate.map(|n| format!(", {n}/s"))]
                    .into_iter()
                    .flatten()
                    .collect::<String>();
                let name = format!("{}, {} connections{extra}", cell.workload, cell.connections);
                all.push(Change { server: cell.server.clone(), cell: name, of, before, after, ratio });
            }
        }
    }
    all
}

/// The text for the terminal.
pub fn text(before: &Report, after: &Report) -> String {
    let all = changes(before, after);
    let mut out = String::new();
    if before.machine != after.machine {
        let _ = writeln!(
            out,
            "The machines differ: {} and {}. What follows is of both, the servers and the machines.",
            before.machine.processor, after.machine.processor
        );
    }
    for name in before.settings.keys().filter(|name| before.settings.get(*name) != after.settings.get(*name)) {
        let of = |report: &Report| report.settings.get(name).cloned().unwrap_or_default();
        let _ = writeln!(out, "The setting '{name}' differs: {} and {}.", of(before), of(after));
    }
    if all.is_empty() {
        let _ = writeln!(out, "The reports have no server, workload and level in common.");
        return out;
    }
    let sure: Vec<&Change> = all.iter().filter(|change| change.ratio.is_sure()).collect();
    let _ = writeln!(
        out,
        "{} of {} figures changed beyond the noise (95 %; of as many, {:.0} would by chance).",
        sure.len(),
        all.len(),
        all.len() as f64 * 0.05
    );
    for change in sure {
        let percent = |ratio: f64| (ratio - 1.0) * 100.0;
        let _ = writeln!(
            out,
            "{:<14} {:<36} {:<16} {:>11.2} -> {:>11.2}  {:+.1} % ({:+.1} to {:+.1})",
            change.server,
            change.cell,
            change.of,
            change.before,
            change.after,
            percent(change.ratio.value),
            percent(change.ratio.low),
            percent(change.ratio.high)
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::report::{FORMAT, State};
    use std::collections::BTreeMap;

    fn report(rates: [u64; 3]) -> Report {
        let runs = rates.iter().enumerate().map(|(round, rate)| Run {
            round: round as u32,
            seconds: 1.0,
            queries: *rate,
            events: *rate,
            ..Run::default()
        });
        let cell =
            Cell { workload: "w".into(), connections: 4, cores: None, rate: None, server: "a".into(), runs: runs.collect() };
        Report {
            format: FORMAT,
            state: State::Complete,
            error: None,
            program: String::new(),
            commit: None,
            command: Vec::new(),
            started: String::new(),
            ended: None,
            machine: Machine::default(),
            settings: BTreeMap::new(),
            servers: Vec::new(),
            cells: vec![cell],
            curves: Vec::new(),
            verdicts: Vec::new(),
            notes: Vec::new(),
            speed: Vec::new(),
        }
    }

    #[test]
    fn a_change_is_told_and_noise_is_not() {
        let (before, faster, same) = (report([1000, 1010, 990]), report([1200, 1210, 1190]), report([1020, 985, 1004]));
        let told = text(&before, &faster);
        assert!(told.contains("1 of 1 figures changed") && told.contains("+20.0 %"), "{told}");
        assert!(text(&before, &same).contains("0 of 1 figures changed"), "{}", text(&before, &same));
    }

    #[test]
    fn reports_without_a_common_cell_say_so() {
        let mut other = report([1, 2, 3]);
        other.cells[0].workload = "v".into();
        assert!(text(&report([1, 2, 3]), &other).contains("in common"));
    }
}
