//! Charts as SVG: colors are variables of the page, so that they follow its light or dark mode.

use crate::flame::escaped;
use crate::live::grouped;
use std::fmt::Write as _;

/// A value with the ends of its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    pub x: f64,
    pub y: f64,
    pub low: f64,
    pub high: f64,
}

/// One series: what was measured, and a curve through it with its band.
#[derive(Clone, Debug, Default)]
pub struct Series {
    pub name: String,
    /// The number of its color
    pub color: usize,
    pub marks: Vec<Mark>,
    pub curve: Vec<Mark>,
}

/// A chart over a logarithmic axis.
pub struct Chart<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    pub series: &'a [Series],
    /// Of residuals: the axis has 0 in its middle
    pub symmetric: bool,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 44.0;
pub const COLORS: usize = 6;

/// A step of an axis: 1, 2 or 5 times a power of ten, so that there are some five.
fn step(span: f64) -> f64 {
    let raw = (span / 5.0).max(1e-12);
    let power = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= raw).unwrap_or(power * 10.0)
}

fn label(value: f64) -> String {
    let short = |value: f64, unit: &str| format!("{}{unit}", format!("{value:.1}").trim_end_matches(".0"));
    match value.abs() {
        big if big >= 1e6 => short(value / 1e6, "M"),
        big if big >= 1e4 => short(value / 1e3, "k"),
        big if big >= 10.0 || big == 0.0 => format!("{value:.0}"),
        _ => format!("{value:.3}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

impl Chart<'_> {
    pub fn svg(&self) -> String {
        let all = || self.series.iter().flat_map(|series| series.marks.iter().chain(&series.curve));
        let (x_low, x_high) = all().fold((f64::MAX, 1.0f64), |(low, high), mark| (low.min(mark.x), high.max(mark.x)));
        let x_low = x_low.clamp(1.0, x_high);
        let measured = self
            .series
            .iter()
            .flat_map(|series| &series.marks)
            .map(|mark| mark.high.abs().max(mark.low.abs()))
            .fold(0.0, f64::max);
        let drawn = self.series.iter().flat_map(|series| &series.curve).map(|mark| mark.y).fold(0.0, f64::max);
        let most = measured.max(drawn).max(1e-9) * 1.08;
        let least = if self.symmetric { -most } else { 0.0 };
        let x = |value: f64| LEFT + (value.max(x_low) / x_low).ln() / (x_high / x_low).ln().max(1e-9) * (WIDTH - LEFT - RIGHT);
        let y = |value: f64| HEIGHT - BOTTOM - (value.clamp(least, most) - least) / (most - least) * (HEIGHT - TOP - BOTTOM);
        let mut out = format!(
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\"><text class=\"title\" x=\"{LEFT}\" y=\"18\">{}</text>",
            escaped(self.title),
            escaped(self.title)
        );
        let by = step(most - least);
        let mut tick = (least / by).ceil() * by;
        while tick <= most {
            let at = y(tick);
            let _ = write!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/><text class=\"tick\" text-anchor=\"end\" x=\"{:.0}\" y=\"{:.1}\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                at + 4.0,
                label(tick)
            );
            tick += by;
        }
        let mut power = 1.0;
        while power <= x_high * 1.001 {
            if power >= x_low {
                let _ = write!(
                    out,
                    "<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.0}\">{}</text>",
                    x(power),
                    HEIGHT - BOTTOM + 16.0,
                    label(power)
                );
            }
            power *= if x_high / x_low > 300.0 { 4.0 } else { 2.0 };
        }
        let _ = write!(
            out,
            "<text class=\"axis\" text-anchor=\"middle\" x=\"{:.0}\" y=\"{:.0}\">{}</text><text class=\"axis\" text-anchor=\"end\" x=\"{:.0}\" y=\"18\">{}</text>",
            (WIDTH + LEFT - RIGHT) / 2.0,
            HEIGHT - 8.0,
            escaped(self.x),
            WIDTH - RIGHT,
            escaped(self.y)
        );
        for series in self.series {
            let color = series.color % COLORS;
            if !series.curve.is_empty() {
                let there = series.curve.iter().map(|mark| format!("{:.1},{:.1}", x(mark.x), y(mark.high)));
                let back = series.curve.iter().rev().map(|mark| format!("{:.1},{:.1}", x(mark.x), y(mark.low)));
                let band: Vec<String> = there.chain(back).collect();
                let line: Vec<String> = series.curve.iter().map(|mark| format!("{:.1},{:.1}", x(mark.x), y(mark.y))).collect();
                let _ = write!(
                    out,
                    "<polygon class=\"band c{color}\" points=\"{}\"/><polyline class=\"curve c{color}\" points=\"{}\"/>",
                    band.join(" "),
                    line.join(" ")
                );
            } else if !self.symmetric {
                let line: Vec<String> = series.marks.iter().map(|mark| format!("{:.1},{:.1}", x(mark.x), y(mark.y))).collect();
                let _ = write!(out, "<polyline class=\"curve c{color}\" points=\"{}\"/>", line.join(" "));
            }
            for mark in &series.marks {
                let _ = write!(
                    out,
                    "<g class=\"mark c{color}\"><title>{}: {} at {} ({} to {})</title><line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/><circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3.5\"/></g>",
                    escaped(&series.name),
                    grouped(mark.y),
                    label(mark.x),
                    grouped(mark.low),
                    grouped(mark.high),
                    y(mark.low),
                    y(mark.high),
                    y(mark.y),
                    x = x(mark.x)
                );
            }
        }
        out.push_str("</svg>");
        out
    }
}

/// A bar for each row, made of parts: (name of the part, share of 1).
pub fn stacked(title: &str, rows: &[(String, Vec<(String, f64)>)], color_of: impl Fn(&str) -> usize) -> String {
    const ROW: f64 = 26.0;
    const NAME: f64 = 170.0;
    let height = TOP + rows.len() as f64 * ROW + 8.0;
    let mut out = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\"><text class=\"title\" x=\"6\" y=\"18\">{}</text>",
        escaped(title),
        escaped(title)
    );
    for (at, (name, parts)) in rows.iter().enumerate() {
        let top = TOP + at as f64 * ROW;
        let _ = write!(out, "<text class=\"tick\" x=\"6\" y=\"{:.0}\">{}</text>", top + 14.0, escaped(name));
        let room = WIDTH - NAME - RIGHT;
        let mut left = NAME;
        let _ = write!(out, "<rect class=\"rest\" x=\"{NAME}\" y=\"{top:.0}\" width=\"{room:.0}\" height=\"18\"/>");
        for (part, share) in parts {
            let width = (share * room).min(NAME + room - left).max(0.0);
            let _ = write!(
                out,
                "<rect class=\"part c{}\" x=\"{left:.1}\" y=\"{top:.0}\" width=\"{width:.1}\" height=\"18\"><title>{}: {:.1} %</title></rect>",
                color_of(part) % COLORS,
                escaped(part),
                share * 100.0
            );
            left += width;
        }
    }
    out.push_str("</svg>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_steps() {
        assert_eq!([7.0, 43.0, 0.9, 100_000.0].map(step), [2.0, 10.0, 0.2, 20_000.0]);
        assert_eq!([0.0, 0.25, 150.0, 20_000.0, 1_500_000.0].map(label), ["0", "0.25", "150", "20k", "1.5M"]);
    }

    #[test]
    fn a_chart_has_its_marks_inside() {
        let mark = |x: f64, y: f64| Mark { x, y, low: y * 0.9, high: y * 1.1 };
        let series =
            Series { name: "a <b>".into(), color: 1, marks: vec![mark(1.0, 10.0), mark(64.0, 500.0)], curve: Vec::new() };
        let svg = Chart { title: "t", x: "x", y: "y", series: &[series], symmetric: false }.svg();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("a &lt;b&gt;: 500 at 64 (450 to 550)"), "{svg}");
        for part in svg.split("cy=\"").skip(1) {
            let y: f64 = part.split('"').next().and_then(|value| value.parse().ok()).expect("a number");
            assert!((TOP..=HEIGHT - BOTTOM).contains(&y), "{y}");
        }
        // Nothing to draw is no reason to fail.
        assert!(Chart { title: "t", x: "x", y: "y", series: &[], symmetric: true }.svg().ends_with("</svg>"));
    }
}
