//! The page of a report: one file, nothing from the network, light or dark as the reader's system is.
//!
//! The first screen says what was compared, which was faster, by how much, how sure that is, and why. Behind it come the curves, then the tables,
//! then all that is needed to run it again.

use super::chart::{COLORS, Chart, Mark, Series, stacked};
use super::{Cell, Curve, Report, Run, State, Verdict};
use crate::flame::escaped;
use crate::live::grouped;
use crate::stats::median;
use crate::waits::in_words;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const STYLE: &str = "
:root { --back: #fbfaf8; --text: #1d1f23; --soft: #6a6f78; --line: #d9d6cf; --card: #fff; --good: #1a7f4b; --bad: #b3382c;
  --c0: #1f6fb2; --c1: #d1712b; --c2: #3c8c50; --c3: #8b5fb0; --c4: #b0893a; --c5: #5f7682 }
@media (prefers-color-scheme: dark) { :root { --back: #15171b; --text: #e6e4df; --soft: #9aa0aa; --line: #343842; --card: #1d2026;
  --good: #58c08a; --bad: #ef8275; --c0: #62a8e5; --c1: #f0a062; --c2: #74c588; --c3: #bd97dd; --c4: #dcbb74; --c5: #9db4c0 } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 1220px; padding: 24px 20px 60px; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 26px; margin: 0 0 4px } h2 { margin: 40px 0 8px; font-size: 20px } h3 { margin: 20px 0 6px; font-size: 16px }
p { margin: 6px 0 } .soft { color: var(--soft) } .lead { font-size: 19px; line-height: 1.45; margin: 14px 0 }
.good { color: var(--good); font-weight: 600 } .bad { color: var(--bad); font-weight: 600 }
.state { border-left: 4px solid var(--bad); padding: 6px 12px; background: var(--card) }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(340px, 1fr)); gap: 14px; margin: 14px 0 }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 14px 16px }
.card h3 { margin: 0 0 6px } .card p { margin: 4px 0 }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(380px, 1fr)); gap: 14px }
svg.chart { width: 100%; max-width: 620px; height: auto; background: var(--card); border: 1px solid var(--line); border-radius: 8px }
svg.chart text { fill: var(--text); font: 12px system-ui, sans-serif } svg.chart .title { font-weight: 600 }
svg.chart .tick, svg.chart .axis { fill: var(--soft); font-size: 11px } .grid { stroke: var(--line); stroke-width: 1 }
.band { opacity: .16 } .curve { fill: none; stroke-width: 2 } .mark line { stroke-width: 1.5 } .rest { fill: var(--line); opacity: .5 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 8px 0 } .wide { overflow-x: auto }
th, td { padding: 3px 10px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap } th { color: var(--soft); font-weight: 500 }
td.name, th.name { text-align: left } code { font: 13px ui-monospace, monospace; background: var(--card); padding: 1px 4px; border-radius: 4px; overflow-wrap: anywhere }
details { margin: 8px 0 } summary { cursor: pointer; color: var(--soft) } .key { display: inline-flex; align-items: center; gap: 6px; margin-right: 16px }
.dot { width: 11px; height: 11px; border-radius: 50%; display: inline-block } svg.flame { width: 100%; height: auto }
";

/// The page.
pub fn page(report: &Report) -> String {
    let mut out = String::new();
    let names: Vec<&str> = report.servers.iter().map(|server| server.name.as_str()).collect();
    let title = names.join(" beside ");
    let _ = write!(
        out,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\
         <title>{0} - heddle bench</title><style>{STYLE}",
        escaped(&title)
    );
    for color in 0..COLORS {
        let _ = write!(
            out,
            ".c{color} {{ --own: var(--c{color}) }} .band.c{color}, .part.c{color}, .mark.c{color} circle {{ fill: var(--c{color}) }} \
             .curve.c{color}, .mark.c{color} line {{ stroke: var(--c{color}) }} .dot.c{color} {{ background: var(--c{color}) }} "
        );
    }
    let _ = write!(out, "</style></head><body><h1>{}</h1>", escaped(&title));
    first_screen(report, &mut out);
    for workload in workloads(report) {
        chapter(report, &workload, &mut out);
    }
    conditions(report, &mut out);
    out.push_str("</body></html>\n");
    out
}

fn plural(count: u32) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// In the order in which they ran.
fn workloads(report: &Report) -> Vec<String> {
    let mut seen = BTreeSet::new();
    report.cells.iter().filter(|cell| seen.insert(&cell.workload)).map(|cell| cell.workload.clone()).collect()
}

/// "2.1 times as fast as B", with the interval.
pub fn sentence(verdict: &Verdict) -> String {
    let ratio = verdict.ratio;
    let interval = format!("95 % sure between {:.2} and {:.2}", ratio.low, ratio.high);
    if verdict.of == super::LATENCY {
        let sure = if ratio.is_sure() { interval } else { format!("{interval}: not beyond the noise") };
        return format!(
            "{}'s p99 latency at the same rate is {:.2} times {}'s ({sure})",
            verdict.first, ratio.value, verdict.second
        );
    }
    if ratio.of < 2 {
        return format!(
            "{} has {:.2} times the throughput of {}; one round says nothing about how sure that is",
            verdict.first, ratio.value, verdict.second
        );
    }
    if !ratio.is_sure() {
        return format!(
            "{} and {} do not differ beyond the noise ({:.2} times, {interval})",
            verdict.first, verdict.second, ratio.value
        );
    }
    if ratio.value >= 1.0 {
        format!("{} is {:.2} times as fast as {} ({interval})", verdict.first, ratio.value, verdict.second)
    } else {
        format!("{} is slower than {}: {:.2} times its throughput ({interval})", verdict.first, verdict.second, ratio.value)
    }
}

fn class(verdict: &Verdict) -> &'static str {
    match (verdict.ratio.is_sure(), (verdict.ratio.value >= 1.0) != (verdict.of == super::LATENCY)) {
        (false, _) => "soft",
        (true, true) => "good",
        (true, false) => "bad",
    }
}

fn throughput<'a>(report: &'a Report, workload: &'a str) -> impl Iterator<Item = &'a Verdict> {
    report.verdicts.iter().filter(move |v| v.of != super::SERVER_CPU && v.workload == workload && v.connections.is_none())
}

fn first_screen(report: &Report, out: &mut String) {
    let all = workloads(report);
    let levels: BTreeSet<u32> = report.cells.iter().map(|cell| cell.connections).collect();
    let rounds = report.cells.iter().map(|cell| cell.good().count()).max().unwrap_or(0);
    let range = match (levels.first(), levels.last()) {
        (Some(low), Some(high)) if low != high => format!("{low} to {high} connections"),
        (Some(one), _) => format!("{one} connection{}", plural(*one)),
        _ => "no connections".into(),
    };
    let _ = write!(
        out,
        "<p class=\"soft\">{} · {range} · {rounds} rounds · {} · {} · {} CPUs, {:.0} GiB{}</p>",
        escaped(&all.join(", ")),
        escaped(&report.started),
        escaped(&report.machine.processor),
        report.machine.cpus,
        report.machine.memory_bytes as f64 / f64::from(1 << 30),
        if report.machine.virtual_machine { ", a virtual machine" } else { "" }
    );
    match report.state {
        State::Complete => (),
        State::Interrupted => {
            out.push_str("<p class=\"state\">The run was interrupted: the report has what was measured until then.</p>")
        }
        State::Running => {
            out.push_str("<p class=\"state\">The run has not ended: the report has what was measured until now.</p>")
        }
        State::Failed => {
            let _ = write!(
                out,
                "<p class=\"state\">The run has failed: {}</p>",
                escaped(report.error.as_deref().unwrap_or("unknown"))
            );
        }
    }
    for verdict in throughput(report, "") {
        let cpu =
            report.verdicts.iter().find(|v| v.of == super::SERVER_CPU && v.workload.is_empty() && v.second == verdict.second);
        let cpu = cpu
            .map(|v| format!(" It takes {:.2} times the server's processor time per query.", v.ratio.value))
            .unwrap_or_default();
        let _ = write!(
            out,
            "<p class=\"lead\"><span class=\"{}\">{}.</span>{}</p>",
            class(verdict),
            escaped(&sentence(verdict)),
            escaped(&cpu)
        );
    }
    out.push_str("<div class=\"cards\">");
    for workload in &all {
        let _ = write!(out, "<div class=\"card\"><h3>{}</h3>", escaped(workload));
        for verdict in throughput(report, workload) {
            let _ = write!(out, "<p class=\"{}\">{}.</p>", class(verdict), escaped(&sentence(verdict)));
        }
        for curve in report.curves.iter().filter(|curve| curve.workload == *workload && curve.over == "connections").take(4) {
            let _ = write!(out, "<p>{}</p>", escaped(&why(curve)));
        }
        out.push_str("</div>");
    }
    out.push_str("</div>");
    if !report.notes.is_empty() {
        out.push_str("<h3>Read with care</h3><ul>");
        report.notes.iter().for_each(|note| _ = write!(out, "<li>{}</li>", escaped(note)));
        out.push_str("</ul>");
    }
}

/// Where a curve bends and what bends it.
pub fn why(curve: &Curve) -> String {
    let other = if curve.over == "cores" { "connections" } else { "cores" };
    let at =
        curve.at.map(|at| format!(", at {at} {}", if at == 1 { other.trim_end_matches('s') } else { other })).unwrap_or_default();
    format!(
        "{}: {} queries/s, reached with {} {}{at}. Beyond: {}.",
        curve.server,
        grouped(curve.most),
        curve.knee,
        if curve.knee == 1 { curve.over.trim_end_matches('s') } else { &curve.over },
        curve.reason
    )
}

fn color_of(report: &Report, server: &str) -> usize {
    report.servers.iter().position(|known| known.name == server).unwrap_or(0)
}

/// Cells of a workload and a server that measured something, by level.
fn cells<'a>(report: &'a Report, workload: &str, server: &str, cores: Option<u32>, rate: Option<u64>) -> Vec<&'a Cell> {
    let is = |cell: &&Cell| {
        cell.workload == workload
            && cell.server == server
            && cell.cores == cores
            && cell.rate == rate
            && cell.good().next().is_some()
    };
    let mut all: Vec<&Cell> = report.cells.iter().filter(is).collect();
    all.sort_by_key(|cell| cell.connections);
    all
}

fn mark(cell: &Cell, x: u32, of: impl Fn(&Run) -> Option<f64>) -> Option<Mark> {
    let values: Vec<f64> = cell.good().filter_map(of).collect();
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
    (!values.is_empty()).then(|| Mark { x: f64::from(x), y: median(values), low, high })
}

fn chapter(report: &Report, workload: &str, out: &mut String) {
    let _ = write!(out, "<h2>{}</h2><p>", escaped(workload));
    for server in &report.servers {
        let _ = write!(
            out,
            "<span class=\"key\"><span class=\"dot c{}\"></span>{}</span>",
            color_of(report, &server.name) % COLORS,
            escaped(&server.name)
        );
    }
    out.push_str("</p>");
    let kinds: BTreeSet<(Option<u32>, Option<u64>)> =
        report.cells.iter().filter(|cell| cell.workload == workload).map(|cell| (cell.cores, cell.rate)).collect();
    out.push_str("<div class=\"charts\">");
    for (cores, rate) in kinds {
        let suffix = match (cores, rate) {
            (None, None) => String::new(),
            (cores, rate) => [cores.map(|n| format!("{n} cores")), rate.map(|n| format!("{n} events/s"))]
                .into_iter()
                .flatten()
                .map(|text| format!(", {text}"))
                .collect(),
        };
        charts(report, workload, cores, rate, &suffix, out);
    }
    by_cores(report, workload, out);
    out.push_str("</div>");
    waits(report, workload, out);
    table(report, workload, out);
    details(report, workload, out);
}

type Figure = fn(&Run) -> Option<f64>;

fn charts(report: &Report, workload: &str, cores: Option<u32>, rate: Option<u64>, suffix: &str, out: &mut String) {
    let series = |of: Figure, with_curve: bool| -> Vec<Series> {
        let each = report.servers.iter().map(|server| {
            let marks = cells(report, workload, &server.name, cores, rate)
                .into_iter()
                .filter_map(|cell| mark(cell, cell.connections, of))
                .collect();
            let fitted = report
                .curves
                .iter()
                .find(|c| c.workload == workload && c.server == server.name && c.over == "connections" && c.at == cores);
            let curve = fitted.and_then(|curve| curve.fit.as_ref()).filter(|_| with_curve).map(|fit| {
                fit.curve
                    .iter()
                    .map(|point| Mark { x: point.n, y: point.x.value, low: point.x.low, high: point.x.high })
                    .collect()
            });
            Series { name: server.name.clone(), color: color_of(report, &server.name), marks, curve: curve.unwrap_or_default() }
        });
        each.collect()
    };
    let mut draw = |title: &str, y: &str, series: Vec<Series>, symmetric: bool| {
        if series.iter().any(|series| !series.marks.is_empty()) {
            out.push_str(&Chart { title: &format!("{title}{suffix}"), x: "connections", y, series: &series, symmetric }.svg());
        }
    };
    draw("Throughput, and its scalability law", "queries/s", series(|run| Some(run.rate_of_queries()), rate.is_none()), false);
    draw("Latency, 95 % of the events within", "ms", series(|run| Some(run.p95_ms), false), false);
    draw("Latency, 99 % of the events within", "ms", series(|run| Some(run.p99_ms), false), false);
    draw("The server's processor time", "µs per query", series(Run::server_us, false), false);
    let residuals =
        report.curves.iter().filter(|c| c.workload == workload && c.over == "connections" && c.at == cores && rate.is_none());
    let residuals = residuals.filter_map(|curve| {
        let marks = curve.fit.as_ref()?.residuals.iter().map(|(n, residual)| Mark {
            x: *n,
            y: residual * 100.0,
            low: residual * 100.0,
            high: residual * 100.0,
        });
        Some(Series {
            name: curve.server.clone(),
            color: color_of(report, &curve.server),
            marks: marks.collect(),
            curve: Vec::new(),
        })
    });
    let residuals: Vec<Series> = residuals.collect();
    if !residuals.is_empty() {
        draw("What the law leaves unexplained, by run", "% of the throughput", residuals, true);
    }
}

/// Throughput over the server's cores.
fn by_cores(report: &Report, workload: &str, out: &mut String) {
    let curves: Vec<&Curve> = report.curves.iter().filter(|curve| curve.workload == workload && curve.over == "cores").collect();
    let levels: BTreeSet<Option<u32>> = curves.iter().map(|curve| curve.at).collect();
    for connections in levels {
        let series: Vec<Series> = curves
            .iter()
            .filter(|curve| curve.at == connections)
            .map(|curve| {
                let of = report.cells.iter().filter(|cell| {
                    cell.workload == workload
                        && cell.server == curve.server
                        && Some(cell.connections) == connections
                        && cell.cores.is_some()
                });
                let mut marks: Vec<Mark> =
                    of.filter_map(|cell| mark(cell, cell.cores?, |run| Some(run.rate_of_queries()))).collect();
                marks.sort_by(|a, b| a.x.total_cmp(&b.x));
                let fitted = curve.fit.iter().flat_map(|fit| &fit.curve);
                let fitted = fitted.map(|point| Mark { x: point.n, y: point.x.value, low: point.x.low, high: point.x.high });
                Series { name: curve.server.clone(), color: color_of(report, &curve.server), marks, curve: fitted.collect() }
            })
            .collect();
        let title = format!("Throughput over cores, {} connections", connections.unwrap_or(0));
        out.push_str(&Chart { title: &title, x: "cores of the server", y: "queries/s", series: &series, symmetric: false }.svg());
    }
}

fn waits(report: &Report, workload: &str, out: &mut String) {
    let of = |cell: &&Cell| cell.workload == workload && cell.good().next().is_some();
    let mut all: Vec<&Cell> = report.cells.iter().filter(of).collect();
    all.sort_by_key(|cell| (color_of(report, &cell.server), cell.cores, cell.connections));
    let mut names: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    for cell in all {
        let whole = cell.session_seconds().max(1e-9);
        let parts: Vec<(String, f64)> = cell
            .waits()
            .into_iter()
            .map(|wait| (in_words(&wait.name), wait.seconds / whole))
            .filter(|(_, share)| *share > 0.003)
            .take(5)
            .collect();
        for (name, _) in &parts {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        if !parts.is_empty() {
            rows.push((format!("{}, {} connection{}", cell.server, cell.connections, plural(cell.connections)), parts));
        }
    }
    if rows.is_empty() {
        return;
    }
    out.push_str("<h3>What sessions wait for</h3><p class=\"soft\">Parts of the time of all connections, as the servers tell; the rest is work, the network and the client.</p><p>");
    let color = |name: &str| names.iter().position(|known| known == name).unwrap_or(0);
    for name in names.iter().take(COLORS) {
        let _ = write!(out, "<span class=\"key\"><span class=\"dot c{}\"></span>{}</span>", color(name) % COLORS, escaped(name));
    }
    out.push_str("</p><div class=\"charts\">");
    out.push_str(&stacked("Waits", &rows, color));
    out.push_str("</div>");
}

fn table(report: &Report, workload: &str, out: &mut String) {
    out.push_str(
        "<div class=\"wide\"><table><tr><th class=\"name\">server</th><th>connections</th><th>queries/s</th><th>± %</th><th>events/s</th><th>p50 ms</th>\
         <th>p95 ms</th><th>p99 ms</th><th>max ms</th><th>server µs/query</th><th>client µs/query</th><th>conflicts</th><th>others %</th><th>memory MiB</th></tr>",
    );
    let mut all: Vec<&Cell> = report.cells.iter().filter(|cell| cell.workload == workload).collect();
    all.sort_by_key(|cell| (cell.cores, cell.rate, cell.connections, color_of(report, &cell.server)));
    for cell in all {
        let extra = [cell.cores.map(|n| format!(", {n} cores")), cell.rate.map(|n| format!(", {n}/s"))]
            .into_iter()
            .flatten()
            .collect::<String>();
        let _ = write!(out, "<tr><td class=\"name\">{}{extra}</td><td>{}</td>", escaped(&cell.server), cell.connections);
        if cell.good().next().is_none() {
            let why = cell.runs.iter().find_map(|run| run.error.as_deref()).unwrap_or("nothing was measured");
            let _ = write!(out, "<td class=\"name\" colspan=\"12\">{}</td></tr>", escaped(why));
            continue;
        }
        let latency = cell.histogram();
        let ms = |share: f64| format!("{:.2}", latency.percentile(share) as f64 / 1e6);
        let cpu: Vec<f64> = cell.good().filter_map(Run::server_us).collect();
        let figures = [
            grouped(cell.median(Run::rate_of_queries)),
            format!("{:.1}", cell.spread() * 100.0),
            grouped(cell.median(Run::rate_of_events)),
            ms(0.5),
            ms(0.95),
            ms(0.99),
            ms(1.0),
            if cpu.is_empty() { String::new() } else { format!("{:.1}", median(cpu)) },
            format!("{:.1}", cell.median(Run::client_us)),
            cell.good().map(|run| run.conflicts).sum::<u64>().to_string(),
            format!("{:.0}", cell.median(|run| run.other_cpu) * 100.0),
            grouped(cell.median(|run| run.server_memory as f64) / f64::from(1 << 20)),
        ];
        figures.iter().for_each(|figure| _ = write!(out, "<td>{figure}</td>"));
        out.push_str("</tr>");
    }
    out.push_str("</table></div>");
}

fn details(report: &Report, workload: &str, out: &mut String) {
    let fits: Vec<&Curve> = report.curves.iter().filter(|curve| curve.workload == workload && curve.fit.is_some()).collect();
    if !fits.is_empty() {
        out.push_str(
            "<details><summary>The scalability law's parameters</summary><p class=\"soft\">X(N) = λN / (1 + σ(N - 1) + κN(N - 1)), with intervals of 95 % from a bootstrap. \
             Over connections σ also has what the processors set as a bound. What lies beyond the marks is a projection.</p><div class=\"wide\"><table><tr><th class=\"name\">server</th>\
             <th>over</th><th>λ</th><th>σ</th><th>κ</th><th>top at</th><th>mean residual</th></tr>",
        );
        for curve in fits {
            let Some(fit) = &curve.fit else { continue };
            let interval = |it: crate::fit::Interval, digits: usize| {
                format!("{:.digits$} ({:.digits$} to {:.digits$})", it.value, it.low, it.high)
            };
            let _ = write!(
                out,
                "<tr><td class=\"name\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.1} %</td></tr>",
                escaped(&curve.server),
                curve.over,
                interval(fit.lambda, 0),
                interval(fit.sigma, 4),
                interval(fit.kappa, 6),
                fit.peak_at.map_or("none".into(), |at| interval(at, 0)),
                fit.error * 100.0
            );
        }
        out.push_str("</table></div></details>");
    }
    out.push_str("<details><summary>Statements</summary><div class=\"wide\"><table><tr><th class=\"name\">server</th><th>connections</th><th class=\"name\">statement</th><th>calls</th><th>mean µs</th><th>max µs</th></tr>");
    for cell in report.cells.iter().filter(|cell| cell.workload == workload) {
        let Some(run) = cell.good().last() else { continue };
        for (label, sum) in &run.statements {
            let _ = write!(
                out,
                "<tr><td class=\"name\">{}</td><td>{}</td><td class=\"name\">{}</td><td>{}</td><td>{:.0}</td><td>{:.0}</td></tr>",
                escaped(&cell.server),
                cell.connections,
                escaped(label),
                sum.calls,
                sum.mean_us,
                sum.max_us
            );
        }
    }
    out.push_str("</table></div></details>");
    for server in &report.servers {
        let last = cells_of(report, workload, &server.name).filter(|cell| cell.good().any(|run| !run.phases.is_empty())).last();
        if let Some(run) = last.and_then(|cell| cell.good().last()) {
            let all: f64 = run.phases.values().sum();
            let told: Vec<String> =
                run.phases.iter().map(|(phase, seconds)| format!("{phase} {:.0} %", seconds / all * 100.0)).collect();
            let _ = write!(
                out,
                "<p class=\"soft\">{}: the statements' processor time by phase: {}.</p>",
                escaped(&server.name),
                told.join(", ")
            );
        }
        if let Some(flame) = server.flames.get(workload) {
            let _ = write!(
                out,
                "<details><summary>{}: where its processor time goes</summary>{flame}</details>",
                escaped(&server.name)
            );
        }
    }
}

fn cells_of<'a>(report: &'a Report, workload: &'a str, server: &'a str) -> impl Iterator<Item = &'a Cell> {
    report.cells.iter().filter(move |cell| cell.workload == workload && cell.server == server)
}

fn conditions(report: &Report, out: &mut String) {
    out.push_str("<h2>How it was measured</h2>");
    let _ = write!(out, "<p><code>{}</code></p>", escaped(&report.command.join(" ")));
    let row = |out: &mut String, name: &str, value: &str| {
        _ = write!(out, "<tr><td class=\"name\">{}</td><td class=\"name\">{}</td></tr>", escaped(name), escaped(value))
    };
    out.push_str("<div class=\"wide\"><table>");
    row(out, "program", &report.program);
    row(out, "commit", report.commit.as_deref().unwrap_or("not told"));
    row(out, "began", &report.started);
    row(out, "ended", report.ended.as_deref().unwrap_or("not yet"));
    row(out, "system", &report.machine.system);
    row(out, "governor", if report.machine.governor.is_empty() { "not told" } else { &report.machine.governor });
    report.settings.iter().for_each(|(name, value)| row(out, name, value));
    let runs: Vec<&Run> = report.cells.iter().flat_map(Cell::good).collect();
    let count = (runs.len() as f64).max(1.0);
    let mean = |of: fn(&Run) -> f64| runs.iter().map(|run| of(run)).sum::<f64>() / count * 100.0;
    row(out, "other programs", &format!("{:.1} % of the processors", mean(|run| run.other_cpu)));
    row(out, "taken by the hypervisor", &format!("{:.1} % of the processors", mean(|run| run.stolen_cpu)));
    let (low, high) = report.speed.iter().fold((f64::MAX, 0.0f64), |(low, high), speed| (low.min(*speed), high.max(*speed)));
    if high > 0.0 {
        row(out, "speed of one processor", &format!("{low:.0} to {high:.0} million steps of a fixed computation a second"));
    }
    out.push_str("</table></div>");
    for server in &report.servers {
        let _ = write!(
            out,
            "<h3>{}</h3><p>{} · <code>{}</code></p><div class=\"wide\"><table>",
            escaped(&server.name),
            escaped(&server.version),
            escaped(&server.address)
        );
        server.variables.iter().for_each(|(name, value)| row(out, name, value));
        out.push_str("</table></div>");
    }
    out.push_str(
        "<p class=\"soft\">Servers take turns within each round, forwards and backwards; a ratio's interval is Student's t over the rounds' logarithms. \
         ± is half the range of the rounds. Latencies are of events, from the moment at which each was to begin, with 1.6 % at most added by the histogram.</p>",
    );
}
