//! `--publish`: tables and a picture of a report in a page of Markdown, between marks, so that the rest of the page is people's own.
//!
//! ```text
//! <!-- heddle bench: begin -->      made anew each time
//! <!-- heddle bench: end -->
//! ```
//! What is slower than a peer stands first.

use crate::error::{Error, Result};
use crate::live::grouped;
use crate::report::chart::{COLORS, Chart, Mark, Series};
use crate::report::{Cell, Report, Run, Verdict, html, write_whole};
use std::fmt::Write as _;
use std::path::Path;

const PAGE: &str = "PERFORMANCE.md";
pub const BEGIN: &str = "<!-- heddle bench: begin -->";
pub const END: &str = "<!-- heddle bench: end -->";
/// Colors of a picture outside of the page, which has no variables; gray text suits light and dark.
const COLORS_OF: [&str; COLORS] = ["#1f6fb2", "#d1712b", "#3c8c50", "#8b5fb0", "#b0893a", "#5f7682"];

/// Writes reports into a folder's page, and their pictures into its folder `bench`.
///
/// # Errors
/// The page is missing or has not both marks; or the system's.
pub fn into(reports: &[Report], folder: &Path) -> Result<()> {
    let path = folder.join(PAGE);
    let text = std::fs::read_to_string(&path).map_err(Error::io(path.display().to_string()))?;
    let mut body = String::new();
    for (at, report) in reports.iter().enumerate() {
        tables(report, &mut body);
        for (name, svg) in pictures(report) {
            let file = format!("{at}-{name}.svg");
            std::fs::create_dir_all(folder.join("bench")).map_err(Error::io(folder.display().to_string()))?;
            write_whole(&folder.join("bench").join(&file), &svg)?;
            let _ = writeln!(body, "![{name}: throughput over connections](bench/{file})\n");
        }
    }
    write_whole(
        &path,
        &between(&text, &body)
            .ok_or_else(|| Error::asked(format!("{} has not both lines '{BEGIN}' and '{END}'", path.display())))?,
    )
}

/// The page with another text between its marks.
fn between(page: &str, body: &str) -> Option<String> {
    let begin = page.find(BEGIN)? + BEGIN.len();
    let end = begin + page[begin..].find(END)?;
    Some(format!("{}\n\n{}\n{}", &page[..begin], body.trim_end(), &page[end..]))
}

/// The report as Markdown.
pub fn tables(report: &Report, out: &mut String) {
    let machine = &report.machine;
    let _ = writeln!(
        out,
        "`{}`, {}, commit {}, {} CPUs ({}), {:.0} GiB.\n",
        report.command.join(" "),
        report.started,
        report.commit.as_deref().unwrap_or("not told"),
        machine.cpus,
        machine.processor,
        machine.memory_bytes as f64 / f64::from(1 << 30)
    );
    let mut verdicts: Vec<&Verdict> = report
        .verdicts
        .iter()
        .filter(|v| v.of == crate::report::THROUGHPUT && v.connections.is_none() && !v.workload.is_empty())
        .collect();
    verdicts.sort_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    for verdict in &verdicts {
        let _ = writeln!(out, "- **{}**: {}.", verdict.workload, html::sentence(verdict));
    }
    out.push_str(if verdicts.is_empty() { "" } else { "\n" });
    out.push_str("| workload | connections | server | queries/s | ± % | p95 ms | p99 ms | server µs/query | client µs/query |\n|---|--:|---|--:|--:|--:|--:|--:|--:|\n");
    for cell in report.cells.iter().filter(|cell| cell.good().next().is_some()) {
        let latency = cell.histogram();
        let cpu: Vec<f64> = cell.good().filter_map(Run::server_us).collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {:.1} | {:.2} | {:.2} | {} | {:.1} |",
            cell.workload,
            cell.connections,
            cell.server,
            grouped(cell.median(Run::rate_of_queries)),
            cell.spread() * 100.0,
            latency.percentile(0.95) as f64 / 1e6,
            latency.percentile(0.99) as f64 / 1e6,
            if cpu.is_empty() { String::new() } else { format!("{:.1}", crate::stats::median(cpu)) },
            cell.median(Run::client_us)
        );
    }
    out.push('\n');
    for curve in report.curves.iter().filter(|curve| curve.over == "connections") {
        let _ = writeln!(out, "- {}: {}", curve.workload, html::why(curve));
    }
    out.push('\n');
}

/// A picture for each workload.
fn pictures(report: &Report) -> Vec<(String, String)> {
    let mut names: Vec<&str> = report.cells.iter().map(|cell| cell.workload.as_str()).collect();
    names.dedup();
    names.sort_unstable();
    names.dedup();
    let picture = |name: &&str| {
        let series: Vec<Series> = report
            .servers
            .iter()
            .enumerate()
            .map(|(color, server)| {
                let of = |cell: &&Cell| {
                    cell.workload == **name && cell.server == server.name && cell.rate.is_none() && cell.good().next().is_some()
                };
                let marks = report.cells.iter().filter(of).map(|cell| {
                    let y = cell.median(Run::rate_of_queries);
                    Mark { x: f64::from(cell.connections), y, low: y * (1.0 - cell.spread()), high: y * (1.0 + cell.spread()) }
                });
                Series { name: server.name.clone(), color, marks: marks.collect(), curve: Vec::new() }
            })
            .collect();
        let svg = Chart { title: name, x: "connections", y: "queries/s", series: &series, symmetric: false }.svg();
        let mut style =
            String::from("<style>text{font:12px sans-serif;fill:#777}.grid{stroke:#8884}.curve{fill:none;stroke-width:2}");
        for (at, color) in COLORS_OF.iter().enumerate() {
            let _ = write!(style, ".curve.c{at},.mark.c{at} line{{stroke:{color}}}.mark.c{at} circle{{fill:{color}}}");
        }
        let mut legend = String::new();
        for (at, server) in report.servers.iter().enumerate() {
            let _ = write!(
                legend,
                "<text x=\"80\" y=\"{}\" style=\"fill:{}\">{}</text>",
                48 + at * 15,
                COLORS_OF[at % COLORS],
                crate::flame::escaped(&server.name)
            );
        }
        let svg = svg.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1).replacen(
            "\"><text",
            &format!("\">{style}</style>{legend}<text"),
            1,
        );
        ((*name).to_owned(), svg)
    };
    names.iter().map(picture).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let page = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let new = between(&page, "new\n").expect("both marks");
        assert_eq!(new, format!("before\n{BEGIN}\n\nnew\n{END}\nafter\n"));
        assert_eq!(between(&new, "new\n").as_deref(), Some(new.as_str()));
        assert_eq!(between("nothing", "new"), None);
        assert_eq!(between(BEGIN, "new"), None);
    }
}
