//! Findings as text for people, as JSON for programs, and as JUnit's XML for systems of continuous integration.

use super::replay::Replayed;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// How the findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    JUnit,
}

/// What is told.
#[derive(Debug)]
pub struct Report<'a> {
    /// The server's address.
    pub server: &'a str,
    /// Each is an object with the columns of `sys.advice`.
    pub findings: &'a [Value],
    /// Kinds of findings that fail the run.
    pub fail_on: &'a [&'static str],
    pub replayed: Option<&'a Replayed>,
}

fn text<'v>(finding: &'v Value, name: &str) -> &'v str {
    finding.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// `schema.table`, or nothing.
fn place(finding: &Value) -> String {
    match (text(finding, "schema"), text(finding, "name")) {
        (_, "") => String::new(),
        (schema, name) => format!("{schema}.{name}"),
    }
}

impl Report<'_> {
    /// The findings whose kinds fail the run.
    pub fn failing(&self) -> usize {
        self.findings.iter().filter(|finding| self.fails(finding)).count()
    }

    fn fails(&self, finding: &Value) -> bool {
        self.fail_on.contains(&text(finding, "kind"))
    }

    pub fn write(&self, format: Format) -> String {
        match format {
            Format::Text => self.text(),
            Format::Json => self.json(),
            Format::JUnit => self.junit(),
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        if let Some(replayed) = self.replayed {
            out.push_str(&told(replayed));
        }
        match self.findings.len() {
            0 => out.push_str("No findings.\n"),
            1 => out.push_str("1 finding\n"),
            many => {
                let _ = writeln!(out, "{many} findings");
            }
        }
        for finding in self.findings {
            let mark = if self.fails(finding) { "FAIL " } else { "" };
            let _ = writeln!(out, "\n{mark}{} {}  {}", text(finding, "kind"), place(finding), text(finding, "id"));
            body(finding, &mut out);
        }
        out
    }

    fn json(&self) -> String {
        let replayed = self.replayed.map(|replayed| {
            json!({ "ran": replayed.ran, "left_out": replayed.left_out, "too_long": replayed.too_long, "failed": replayed.failed, "errors": replayed.errors })
        });
        let made = json!({
            "server": self.server, "findings": self.findings, "fail_on": self.fail_on, "failing": self.failing(), "workload": replayed,
        });
        format!("{made:#}\n")
    }

    /// A test for each kind of finding: those of `--fail-on` fail, others with findings pass and tell them.
    fn junit(&self) -> String {
        let failed =
            self.fail_on.iter().filter(|kind| self.findings.iter().any(|finding| text(finding, "kind") == **kind)).count();
        let kinds = advisor::Kind::ALL;
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"heddle advise\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\">\n",
            kinds.len()
        );
        for kind in kinds.iter().map(|kind| kind.name()) {
            let own: Vec<&Value> = self.findings.iter().filter(|finding| text(finding, "kind") == kind).collect();
            let _ = write!(out, "<testcase classname=\"heddle.advise\" name=\"{kind}\"");
            if own.is_empty() {
                out.push_str("/>\n");
                continue;
            }
            let mut told = String::new();
            for finding in &own {
                let _ = writeln!(told, "{} {}", place(finding), text(finding, "id"));
                body(finding, &mut told);
            }
            let told = escaped(&told);
            if self.fail_on.contains(&kind) {
                let _ =
                    write!(out, ">\n<failure type=\"{kind}\" message=\"{} found\">{told}</failure>\n</testcase>\n", own.len());
            } else {
                let _ = write!(out, ">\n<system-out>{told}</system-out>\n</testcase>\n");
            }
        }
        out.push_str("</testsuite>\n</testsuites>\n");
        out
    }
}

/// What became of a workload, in a line or more.
fn told(replayed: &Replayed) -> String {
    let mut out = format!(
        "{} statements of the workload ran, {} were left out, {} failed\n",
        replayed.ran,
        replayed.left_out + replayed.too_long,
        replayed.failed
    );
    for error in &replayed.errors {
        let _ = writeln!(out, "  {error}");
    }
    out.push('\n');
    out
}

/// The lines about one finding.
fn body(finding: &Value, out: &mut String) {
    let lines = [
        ("evidence", "found"),
        ("gain", "gain"),
        ("price", "price"),
        ("cure", "cure"),
        ("application", "where"),
        ("statement", "statement"),
        ("example", "example"),
    ];
    for (name, label) in lines {
        let value = text(finding, name);
        // The example says more than the statement's form.
        if value.is_empty() || (name == "statement" && !text(finding, "example").is_empty()) {
            continue;
        }
        let _ = writeln!(out, "  {label:<10}{}", value.replace('\n', "\n            "));
    }
}

/// For the text and the attributes of XML. Characters that XML cannot hold are left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings() -> Vec<Value> {
        vec![
            json!({ "id": "00000000000000a1", "kind": "n_plus_one", "schema": "shop", "name": "orders", "evidence": "a < b & \"c\"\u{1}", "cure": "one\ntwo", "example": "SELECT 1" }),
            json!({ "id": "00000000000000a2", "kind": "no_primary_key", "schema": "shop", "name": "t", "evidence": "none" }),
        ]
    }

    #[test]
    fn kinds_that_fail_are_failures_in_each_format() {
        let findings = findings();
        let report = Report { server: "mysql://x", findings: &findings, fail_on: &["n_plus_one", "deep_offset"], replayed: None };
        assert_eq!(report.failing(), 1);
        let text = report.write(Format::Text);
        assert!(
            text.contains("2 findings")
                && text.contains("FAIL n_plus_one shop.orders")
                && text.contains("\nno_primary_key shop.t"),
            "{text}"
        );
        let json: Value = serde_json::from_str(&report.write(Format::Json)).unwrap();
        assert_eq!((json["failing"].as_u64(), json["findings"].as_array().map(Vec::len)), (Some(1), Some(2)));
        let xml = report.write(Format::JUnit);
        assert!(xml.contains("failures=\"1\"") && xml.contains("<failure type=\"n_plus_one\" message=\"1 found\">"), "{xml}");
        assert!(xml.contains("a &lt; b &amp; &quot;c&quot;\n") && !xml.contains('\u{1}'), "{xml}");
        assert!(xml.contains("<system-out>shop.t 00000000000000a2"), "{xml}");
    }
}
