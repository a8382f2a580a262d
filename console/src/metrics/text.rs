//! Families of metrics, and their two text formats: Prometheus' 0.0.4 and OpenMetrics 1.0. [`super::protobuf`] has the third.
//!
//! M1: samples of a family stand together, whatever order they are added in.
//! M2: the name of a counter ends in `_total`; OpenMetrics has its type and help under the name without.

use std::collections::HashMap;
use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Counter,
    Gauge,
    Untyped,
    Histogram,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Prometheus,
    OpenMetrics,
}

impl Style {
    pub fn content_type(self) -> &'static str {
        match self {
            Style::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Style::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// One value of a family.
#[derive(Clone, Debug)]
pub struct Sample {
    /// What follows the family's name: `_sum` and others of a histogram; nothing for other kinds.
    pub suffix: &'static str,
    pub labels: Vec<(String, String)>,
    pub value: f64,
}

#[derive(Clone, Debug)]
pub struct Family {
    pub name: String,
    pub kind: Kind,
    pub help: String,
    pub samples: Vec<Sample>,
    /// The finest buckets of a histogram: where each ends, and what it counts. Only native histograms show them.
    pub counts: Vec<(f64, u64)>,
}

impl Family {
    pub fn new(name: &str, kind: Kind, help: &str) -> Self {
        Self { name: name.to_owned(), kind, help: help.to_owned(), samples: Vec::new(), counts: Vec::new() }
    }

    pub fn add(&mut self, suffix: &'static str, labels: &[(&str, &str)], value: f64) {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.samples.push(Sample { suffix, labels, value });
    }

    fn write(&self, style: Style, out: &mut String) {
        let base = match style {
            Style::Prometheus => self.name.as_str(),
            Style::OpenMetrics => self.name.strip_suffix("_total").unwrap_or(&self.name),
        };
        let kind = match (self.kind, style) {
            (Kind::Counter, _) => "counter",
            (Kind::Gauge, _) => "gauge",
            (Kind::Histogram, _) => "histogram",
            (Kind::Untyped, Style::Prometheus) => "untyped",
            (Kind::Untyped, Style::OpenMetrics) => "unknown",
        };
        let help = self.help.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = writeln!(out, "# HELP {base} {help}\n# TYPE {base} {kind}");
        for sample in &self.samples {
            let _ = writeln!(out, "{}{}{} {}", self.name, sample.suffix, written(&sample.labels), value(sample.value));
        }
    }
}

/// Families in the order of their first sample. M1
#[derive(Clone, Debug, Default)]
pub struct Exposition {
    pub families: Vec<Family>,
    places: HashMap<String, usize>,
}

impl Exposition {
    /// Adds a sample without labels.
    pub fn single(&mut self, name: &str, kind: Kind, help: &str, value: f64) {
        self.labelled(name, kind, help, &[], value);
    }

    pub fn labelled(&mut self, name: &str, kind: Kind, help: &str, labels: &[(&str, &str)], value: f64) {
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => {
                self.families.push(Family::new(name, kind, help));
                self.places.insert(name.to_owned(), self.families.len() - 1);
                self.families.len() - 1
            }
        };
        self.families[place].add("", labels, value);
    }

    pub fn write(&self, style: Style) -> String {
        let mut out = String::new();
        for family in self.families.iter().filter(|family| !family.samples.is_empty()) {
            family.write(style, &mut out);
        }
        if style == Style::OpenMetrics {
            out.push_str("# EOF\n");
        }
        out
    }
}

fn written(labels: &[(String, String)]) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let each: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    format!("{{{}}}", each.join(","))
}

/// A number as both formats write it.
pub fn value(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        number if number.is_infinite() => if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned(),
        number if number.fract() == 0.0 && number.abs() < 1e15 => format!("{}", number as i64),
        number => format!("{number:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> Exposition {
        let mut made = Exposition::default();
        made.labelled("a_total", Kind::Counter, "First.", &[("x", "1\"\\\n")], 3.0);
        made.single("b", Kind::Untyped, "Second.", 0.5);
        made.labelled("a_total", Kind::Counter, "First.", &[("x", "2")], 1e20);
        made.families.push(Family::new("c", Kind::Gauge, "Without samples."));
        made
    }

    #[test]
    fn prometheus_text() {
        let expected = "# HELP a_total First.\n# TYPE a_total counter\na_total{x=\"1\\\"\\\\\\n\"} 3\na_total{x=\"2\"} 1e20\n\
                        # HELP b Second.\n# TYPE b untyped\nb 0.5\n";
        assert_eq!(made().write(Style::Prometheus), expected);
    }

    #[test]
    fn open_metrics_text() {
        let expected = "# HELP a First.\n# TYPE a counter\na_total{x=\"1\\\"\\\\\\n\"} 3\na_total{x=\"2\"} 1e20\n\
                        # HELP b Second.\n# TYPE b unknown\nb 0.5\n# EOF\n";
        assert_eq!(made().write(Style::OpenMetrics), expected);
    }

    #[test]
    fn numbers() {
        let numbers = [0.0, -3.0, 0.25, f64::NAN, f64::INFINITY, 18_446_744_073_709_551_615.0].map(value);
        assert_eq!(numbers, ["0", "-3", "0.25", "NaN", "+Inf", "1.8446744073709552e19"]);
    }
}
