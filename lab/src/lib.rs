//! `heddle bench`, the lab: loads servers, measures them beside each other, and explains what it finds.
//!
//! ```text
//! flags, target        what is asked, of which servers
//! session              the order of runs; own, server: the servers; live: the view at the terminal
//!   workload           what is run: sysbench's scripts, YCSB, pages, TPC-C, a file
//!   load, client       threads that drive connections and measure; random, histogram
//!   machine, waits     processor times and noise; what sessions wait for
//! explain, fit, stats  curves, knees, verdicts
//! report, compare, publish, flame   what is left: JSON, a page, Markdown
//! ```
//! The reasons are in `docs/decisions/lab.md`, a session in `docs/BENCH.md`.
//!
//! It must never know: anything of the server but its protocol and its tables. It measures other servers by the same code.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

pub mod client;
pub mod compare;
pub mod error;
mod explain;
pub mod fit;
pub mod flags;
pub mod flame;
pub mod histogram;
mod live;
pub mod load;
mod machine;
mod own;
pub mod publish;
pub mod random;
pub mod report;
mod server;
pub mod session;
pub mod stats;
pub mod target;
mod waits;
pub mod workload;

use error::Result;
use flags::{Flags, Verb};
use report::{Report, State, html, write_whole};
use session::Program;
use std::fmt::Write as _;

/// `heddle bench`: what it tells, and whether all went well.
///
/// # Errors
/// One line for the person who asked.
pub fn run(flags: &Flags, program: &Program) -> std::result::Result<(String, bool), String> {
    asked(flags, program).map_err(|error| error.to_string())
}

fn asked(flags: &Flags, program: &Program) -> Result<(String, bool)> {
    match &flags.verb {
        None => {
            let left = session::run(&flags.run, program)?;
            let mut text = summary(&left.report);
            let _ = writeln!(text, "\nThe report: {} (and {})", left.html.display(), left.json.display());
            Ok((text, left.report.state == State::Complete))
        }
        Some(Verb::Compare { before, after }) => Ok((compare::text(&Report::read(before)?, &Report::read(after)?), true)),
        Some(Verb::Html { report, out }) => {
            let path = out.clone().unwrap_or_else(|| report.with_extension("html"));
            write_whole(&path, &html::page(&Report::read(report)?))?;
            Ok((format!("{}\n", path.display()), true))
        }
        Some(Verb::Publish { reports, to }) => {
            let reports = reports.iter().map(|path| Report::read(path)).collect::<Result<Vec<Report>>>()?;
            publish::into(&reports, to)?;
            Ok((format!("{}\n", to.display()), true))
        }
        Some(Verb::Workloads) => {
            Ok((workload::NAMES.iter().map(|(name, about)| format!("{name:<22} {about}\n")).collect(), true))
        }
    }
}

/// Reasons at the terminal: of more the page tells.
const REASONS_MAX: usize = 12;

/// What the first screen of the page says, as text.
fn summary(report: &Report) -> String {
    let mut text = String::new();
    let state = match report.state {
        State::Complete => None,
        State::Interrupted => Some("Interrupted: what was measured until then is in the report.".to_owned()),
        State::Failed => Some(format!("Failed: {}", report.error.as_deref().unwrap_or("unknown"))),
        State::Running => Some("Not ended.".to_owned()),
    };
    if let Some(state) = state {
        let _ = writeln!(text, "\n{state}");
    }
    let of_workloads = |verdict: &&report::Verdict| verdict.of != report::SERVER_CPU && verdict.connections.is_none();
    let many = report.verdicts.iter().filter(of_workloads).filter(|verdict| !verdict.workload.is_empty()).count() > 1;
    text.push('\n');
    for verdict in report.verdicts.iter().filter(of_workloads).filter(|verdict| many || !verdict.workload.is_empty()) {
        let of = if verdict.workload.is_empty() { "all together" } else { &verdict.workload };
        let _ = writeln!(text, "{of}: {}.", html::sentence(verdict));
    }
    let curves = || report.curves.iter().filter(|curve| curve.over == "connections");
    for curve in curves().filter(|_| curves().count() <= REASONS_MAX) {
        let _ = writeln!(text, "{}: {}", curve.workload, html::why(curve));
    }
    for note in &report.notes {
        let _ = writeln!(text, "Note: {note}");
    }
    text
}
