//! The curves of [`bandwidth`](super::bandwidth) as text for a terminal, and as a picture.

use super::bandwidth::{Curves, KINDS, Kind, Rates, Threads};
use crate::size;
use os::topology::Topology;
use std::fmt::Write;

/// Cells of the longest bar.
const BAR_CELLS: usize = 30;

fn gigabytes(bytes: f64) -> f64 {
    bytes / 1e9
}

/// A table of numbers, and bars of reads.
pub fn text(curves: &Curves) -> String {
    let mut text = String::new();
    let all = threads(curves.threads);
    let _ = writeln!(
        text,
        "memory bandwidth in GB/s (10^9 bytes), by the size of the working set, which all threads share in equal parts"
    );
    if curves.is_slow_build {
        let _ = writeln!(text, "this program was built without optimization: the numbers are too low");
    }
    let _ = writeln!(text, "{:>10}  {:^23}  {:^23}", "", "one thread", all);
    let names = KINDS.map(|kind| format!("{:>7}", kind.name())).join(" ");
    let _ = writeln!(text, "{:>10}  {names}  {names}", "");
    let numbers = |rates: &Rates| rates.map(|rate| format!("{:>7.1}", gigabytes(rate))).join(" ");
    for point in &curves.points {
        let _ = writeln!(text, "{:>10}  {}  {}", size::text(point.bytes), numbers(&point.one), numbers(&point.all));
    }
    for (name, which) in [("one thread", Threads::One), (&all, Threads::All)] {
        let reads: Vec<f64> = curves.points.iter().map(|point| point.rates(which)[Kind::Read as usize]).collect();
        let most = reads.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let _ = writeln!(text, "\nread, {name}; a full bar is {:.1} GB/s", gigabytes(most));
        for (point, rate) in curves.points.iter().zip(reads) {
            let _ = writeln!(text, "{:>10}  {}", size::text(point.bytes), bar(rate / most));
        }
    }
    text
}

fn threads(count: usize) -> String {
    if count == 1 { "all threads (1)".into() } else { format!("{count} threads") }
}

/// A bar in eighths of a cell.
fn bar(share: f64) -> String {
    let eighths = (share.clamp(0.0, 1.0) * (BAR_CELLS * 8) as f64).round() as usize;
    let last = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    "█".repeat(eighths / 8) + last
}

const WIDTH: f64 = 820.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
/// Colours that stay apart for most colour-blind people (Okabe and Ito): read, write, copy.
const COLOURS: [&str; 3] = ["#0072b2", "#d55e00", "#009e73"];

/// The plot's axes: sizes as powers of two to the right, bytes per second upwards.
struct Axes {
    first: f64,
    last: f64,
    top: f64,
}

impl Axes {
    fn x(&self, bytes: u64) -> f64 {
        let share = ((bytes as f64).log2() - self.first) / (self.last - self.first).max(0.001);
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, rate: f64) -> f64 {
        HEIGHT - BOTTOM - rate / self.top * (HEIGHT - TOP - BOTTOM)
    }
}

/// A picture: solid lines for one thread, dashed ones for all, a thin one where each cache ends.
pub fn svg(curves: &Curves, topology: &Topology) -> String {
    let (Some(first), Some(last)) = (curves.points.first(), curves.points.last()) else { return String::new() };
    let most = curves.points.iter().flat_map(|p| p.one.into_iter().chain(p.all)).fold(1e9, f64::max);
    let step = nice_step(most / 5.0);
    let axes = Axes { first: (first.bytes as f64).log2(), last: (last.bytes as f64).log2(), top: (most / step).ceil() * step };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"22\" font-size=\"15\">Memory bandwidth in GB/s, {}</text>\n",
        escaped(topology.model.as_deref().unwrap_or("unknown processor"))
    );
    grid(&mut svg, &axes, step, curves);
    cache_ends(&mut svg, &axes, topology, (first.bytes, last.bytes));
    let all = threads(curves.threads);
    let mut row = 0.0;
    for (name, dashes, which) in [("one thread", "none", Threads::One), (&all, "6 4", Threads::All)] {
        for (kind, colour) in KINDS.iter().zip(COLOURS) {
            let corners: Vec<String> = curves
                .points
                .iter()
                .map(|point| format!("{:.1},{:.1}", axes.x(point.bytes), axes.y(point.rates(which)[*kind as usize])))
                .collect();
            let line = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"");
            let (x, y) = (WIDTH - RIGHT + 12.0, TOP + 12.0 + 20.0 * row);
            let _ = writeln!(svg, "<polyline points=\"{}\" {line}/>", corners.join(" "));
            let _ = writeln!(svg, "<line x1=\"{x}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" {line}/>", x + 28.0);
            let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\">{}, {name}</text>", x + 34.0, y + 4.0, kind.name());
            row += 1.0;
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn grid(svg: &mut String, axes: &Axes, step: f64, curves: &Curves) {
    let right = WIDTH - RIGHT;
    let mut rate = 0.0;
    while rate <= axes.top * 1.001 {
        let y = axes.y(rate);
        let _ = writeln!(svg, "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>");
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>", LEFT - 8.0, y + 4.0, gigabytes(rate));
        rate += step;
    }
    for point in curves.points.iter().filter(|point| point.bytes.is_power_of_two()) {
        let (x, y) = (axes.x(point.bytes), HEIGHT - BOTTOM);
        let _ = writeln!(svg, "<line x1=\"{x:.1}\" y1=\"{y}\" x2=\"{x:.1}\" y2=\"{}\" stroke=\"#888\"/>", y + 5.0);
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>", y + 19.0, size::text(point.bytes));
    }
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\">working set</text>", HEIGHT - 10.0);
}

fn cache_ends(svg: &mut String, axes: &Axes, topology: &Topology, (first, last): (u64, u64)) {
    let mut told = Vec::new();
    for cache in &topology.caches {
        let Some(bytes) = cache.bytes.filter(|bytes| (first..=last).contains(bytes)) else { continue };
        if told.contains(&(cache.level, bytes)) {
            continue;
        }
        told.push((cache.level, bytes));
        let x = axes.x(bytes);
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{}\" stroke=\"#888\" stroke-dasharray=\"2 3\"/>",
            HEIGHT - BOTTOM
        );
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{}\" fill=\"#555\">L{}</text>", x + 4.0, TOP + 12.0, cache.level);
    }
}

/// 1, 2 or 5 times a power of ten, at least `least`.
fn nice_step(least: f64) -> f64 {
    let power = 10f64.powf(least.max(1.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= least).unwrap_or(10.0 * power)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::bandwidth::Point;
    use super::*;

    fn curves() -> Curves {
        let point = |bytes, rate: f64| Point { bytes, one: [rate, rate / 2.0, rate], all: [rate * 3.0, rate, rate * 2.0] };
        Curves {
            points: vec![point(1 << 20, 40e9), point(1_482_686, 30e9), point(2 << 20, 10e9)],
            threads: 4,
            is_slow_build: false,
        }
    }

    #[test]
    fn numbers_and_bars() {
        let text = text(&curves());
        assert!(text.contains("     1 MiB     40.0    20.0    40.0    120.0    40.0    80.0"), "{text}");
        assert!(text.contains("read, 4 threads; a full bar is 120.0 GB/s"), "{text}");
        assert!(text.contains(&format!("     1 MiB  {}\n", "█".repeat(BAR_CELLS))), "{text}");
        assert_eq!(bar(0.5 / BAR_CELLS as f64), "▌");
        assert_eq!((bar(0.0), bar(2.0)), (String::new(), "█".repeat(BAR_CELLS)));
    }

    #[test]
    fn a_picture_is_made() {
        let topology = Topology { model: Some("A <b> & c".into()), ..Topology::default() };
        let svg = svg(&curves(), &topology);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("A &lt;b&gt; &amp; c") && !svg.contains("NaN"));
        assert_eq!(svg.matches("<polyline").count(), 6);
    }

    #[test]
    fn steps_are_round() {
        assert_eq!((nice_step(17e9), nice_step(2e9), nice_step(6e9)), (20e9, 2e9, 10e9));
    }
}
