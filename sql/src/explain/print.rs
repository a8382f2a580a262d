//! The steps of a plan as text and as JSON.

use super::{Measure, Measured, Measures, Step, steps};
use crate::plan::Plan;
use std::fmt::Write;
use std::time::Duration;

/// The plan as text, a line per operator.
pub fn explain_tree(plan: &Plan) -> String {
    text(&steps(plan), None)
}

/// The plan as text, where up to so many workers read for the nodes of these keys (`Measures::key`).
pub fn explain_tree_shared(plan: &Plan, keys: &[usize], workers: usize) -> String {
    let mut steps = steps(plan);
    let is_shared = |step: &&mut Step| matches!(step.measure, Some((key, Measured::Whole)) if keys.contains(&key));
    for step in steps.iter_mut().filter(is_shared) {
        step.text.push_str(&format!(" (up to {workers} workers)"));
    }
    text(&steps, None)
}

/// The plan as text, with the measurements of its operators.
pub fn explain_tree_measured(plan: &Plan, measures: &Measures) -> String {
    text(&steps(plan), Some(measures))
}

/// The plan as JSON: operators with their inputs, as MySQL's `explain_json_format_version = 2` has them.
pub fn explain_json(plan: &Plan) -> String {
    let steps = steps(plan);
    let mut out = String::from("{\n  \"query_plan\": ");
    let mut roots = Vec::new();
    let mut at = 0;
    while at < steps.len() {
        roots.push(at);
        at = end_of(&steps, at);
    }
    // The trees of subqueries are beside the inputs of the main tree.
    match roots.split_first() {
        Some((main, others)) => object(&steps, *main, others, 1, &mut out),
        None => out.push_str("{}"),
    }
    let kind = match plan {
        Plan::Query(_) => "select",
        Plan::Insert(insert) if insert.replace => "replace",
        Plan::Insert(_) => "insert",
        Plan::Update(_) => "update",
        Plan::Delete(_) => "delete",
        Plan::Change(change) if change.update => "update",
        Plan::Change(_) => "delete",
    };
    let _ = write!(out, ",\n  \"query_type\": \"{kind}\",\n  \"json_schema_version\": \"2.0\"\n}}");
    out
}

/// The index after the last step below `at`.
fn end_of(steps: &[Step], at: usize) -> usize {
    let below = steps[at + 1..].iter().take_while(|step| step.depth > steps[at].depth).count();
    at + 1 + below
}

fn object(steps: &[Step], at: usize, more: &[usize], depth: usize, out: &mut String) {
    let step = &steps[at];
    let indent = "  ".repeat(depth);
    let mut fields: Vec<(&str, String)> = vec![("operation", quoted(&step.text))];
    if let Some(table) = &step.table {
        fields.push(("table_name", quoted(&table.alias)));
        if !table.database.is_empty() {
            fields.push(("schema_name", quoted(&table.database)));
        }
        fields.push(("access_type", quoted(table.access)));
        if let Some(index) = &table.index {
            fields.push(("index_name", quoted(index)));
            fields.push(("covering", table.covering.to_string()));
        }
        let columns: Vec<String> = table.columns.iter().map(|column| quoted(column)).collect();
        fields.push(("used_columns", format!("[{}]", columns.join(", "))));
    }
    if let Some(estimate) = step.estimate {
        fields.push(("estimated_rows", json_number(estimate.rows)));
        fields.push(("estimated_total_cost", json_number(estimate.cost)));
    }
    let mut inputs = Vec::new();
    let mut next = at + 1;
    while next < end_of(steps, at) {
        inputs.push(next);
        next = end_of(steps, next);
    }
    inputs.extend(more);
    out.push('{');
    for (n, (name, value)) in fields.iter().enumerate() {
        let comma = if n == 0 { "" } else { "," };
        let _ = write!(out, "{comma}\n{indent}  \"{name}\": {value}");
    }
    if !inputs.is_empty() {
        let _ = write!(out, ",\n{indent}  \"inputs\": [");
        for (n, input) in inputs.into_iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            let _ = write!(out, "{comma}\n{indent}    ");
            object(steps, input, &[], depth + 2, out);
        }
        let _ = write!(out, "\n{indent}  ]");
    }
    let _ = write!(out, "\n{indent}}}");
}

fn json_number(value: f64) -> String {
    if value.is_finite() { format!("{}", (value * 1000.0).round() / 1000.0) } else { "null".to_owned() }
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn text(steps: &[Step], measures: Option<&Measures>) -> String {
    let mut out = String::new();
    // The step whose input several workers have read.
    let mut shared: Option<usize> = None;
    for step in steps {
        let _ = write!(out, "{:indent$}-> {}", "", step.text, indent = step.depth * 4);
        if let Some(estimate) = step.estimate {
            let _ = write!(out, "  (cost={} rows={})", number(estimate.cost), number(estimate.rows));
        }
        shared = shared.filter(|above| step.depth > *above);
        if let (Some(measures), Some(key), None) = (measures, step.measure, shared) {
            match measures.0.get(&key).filter(|measure| measure.loops > 0) {
                Some(measure) => out.push_str(&actual(measure)),
                None => out.push_str(" (never executed)"),
            }
            let workers = workers(measures, key.0, step.depth + 1);
            if !workers.is_empty() {
                shared = Some(step.depth);
                out.push('\n');
                out.push_str(&workers);
                continue;
            }
        }
        out.push('\n');
    }
    out
}

/// A line for each worker that has read for a step.
fn workers(measures: &Measures, key: usize, depth: usize) -> String {
    let mut out = String::new();
    let found = (0..).map_while(|n| measures.0.get(&(key, Measured::Worker(n))));
    for (n, Measure { rows, total, .. }) in found.enumerate() {
        let ms = number(total.as_secs_f64() * 1000.0);
        let _ = writeln!(out, "{:indent$}-> Worker {n}: {rows} rows read in {ms} ms", "", indent = depth * 4);
    }
    out
}

/// Times are of one start, in milliseconds.
fn actual(measure: &Measure) -> String {
    let each = |time: Duration| number(time.as_secs_f64() * 1000.0 / measure.loops as f64);
    let rows = number(measure.rows as f64 / measure.loops as f64);
    format!(" (actual time={}..{} rows={rows} loops={})", each(measure.first), each(measure.total), measure.loops)
}

/// Three significant digits, whole numbers in full below a million, as MySQL prints them.
fn number(value: f64) -> String {
    if value >= 999_999.5 {
        let text = format!("{value:.2e}");
        let (digits, power) = text.split_once('e').expect("written with an exponent");
        let digits = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
        return format!("{digits}e+{power}");
    }
    if value.fract() == 0.0 {
        return format!("{value}");
    }
    let before = if value < 1e-9 { 0 } else { value.log10().floor() as i32 };
    let decimals = (2 - before).clamp(0, 6) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.354, "0.354"),
            (12.345, "12.3"),
            (1234.6, "1235"),
            (1_250_000.0, "1.25e+6"),
            (600_572.0, "600572"),
        ];
        for (value, expected) in cases {
            assert_eq!(number(value), expected, "{value}");
        }
    }
}
