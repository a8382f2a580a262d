//! `heddle profile`: asks a running server which functions its workers are in, and draws a flame graph.
//!
//! The server does the work (SHOW SERVER PROFILE); the account needs PROCESS. The picture is SVG without anything from the
//! network: the width of a function is its share of the samples, its callers are above it.

use crate::cli::ProfileFlags;
use console::{Place, Rows};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// What the samples are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Statement,
    Worker,
    Nothing,
}

/// Takes a profile, and writes it.
///
/// # Errors
/// One line for the person who asked.
pub fn run(flags: &ProfileFlags) -> Result<String, String> {
    let place = match (&flags.socket, &flags.host) {
        (Some(socket), _) => Place::Socket(socket.clone()),
        (None, Some(host)) => Place::Address(host.clone(), flags.port),
        (None, None) => Place::Socket("heddle-data/heddle.sock".into()),
    };
    let password = std::env::var("HEDDLE_PASSWORD").unwrap_or_default();
    let by = match flags.by.as_str() {
        "statement" => By::Statement,
        "worker" => By::Worker,
        "nothing" => By::Nothing,
        other => return Err(format!("--by: '{other}' is not one of statement, worker, nothing")),
    };
    let statement = format!("SHOW SERVER PROFILE FOR {} SECONDS AT {} HERTZ", flags.seconds, flags.hertz);
    let patience = Duration::from_secs(flags.seconds.min(60) + 120);
    let rows = console::ask(&place, &flags.user, &password, &statement, patience)?;
    let lines = lines(&rows, by);
    let samples: u64 = lines.iter().map(|(_, samples)| samples).sum();
    if samples == 0 {
        return Ok("no worker has run in that time\n".to_owned());
    }
    if flags.folded {
        return Ok(lines.iter().fold(String::new(), |mut text, (stack, samples)| {
            let _ = writeln!(text, "{stack} {samples}");
            text
        }));
    }
    let title = format!("{samples} samples in {} s at {place}", flags.seconds.min(60));
    std::fs::write(&flags.out, svg(&title, &lines)).map_err(|error| format!("cannot write {}: {error}", flags.out.display()))?;
    Ok(format!("{title}: {}\n{}", flags.out.display(), summary(&rows, samples)))
}

fn text(row: &[serde_json::Value], place: usize) -> Option<&str> {
    row.get(place)?.as_str()
}

fn number(row: &[serde_json::Value], place: usize) -> u64 {
    row.get(place).and_then(serde_json::Value::as_u64).unwrap_or(0)
}

/// Stacks with their samples. The columns are those of SHOW SERVER PROFILE.
fn lines(rows: &Rows, by: By) -> Vec<(String, u64)> {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for row in &rows.rows {
        let stack = text(row, 4).unwrap_or("(unknown)");
        let stack = match by {
            By::Statement => format!("{};{stack}", text(row, 3).unwrap_or("(no statement)").replace(';', ",")),
            By::Worker => format!("worker {};{stack}", number(row, 0)),
            By::Nothing => stack.to_owned(),
        };
        *sums.entry(stack).or_default() += number(row, 5);
    }
    sums.into_iter().collect()
}

/// The statements with most samples.
fn summary(rows: &Rows, all: u64) -> String {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &rows.rows {
        *sums.entry(text(row, 3).unwrap_or("(no statement)")).or_default() += number(row, 5);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, samples)| std::cmp::Reverse(*samples));
    sums.iter().take(10).fold(String::new(), |mut told, (statement, samples)| {
        let short: String = statement.chars().take(100).collect();
        let _ = writeln!(told, "{:5.1} %  {short}", *samples as f64 / all as f64 * 100.0);
        told
    })
}

/// A function and what it calls.
#[derive(Debug, Default)]
struct Node {
    samples: u64,
    inner: BTreeMap<String, Node>,
}

const WIDTH: f64 = 1400.0;
const ROW: f64 = 18.0;
/// Below this share of the whole a function is not drawn.
const LEAST: f64 = 0.0008;
const COLORS: [&str; 6] = ["#e8743b", "#ed9b40", "#f2b84b", "#e05d44", "#d98c5f", "#eaa86a"];

/// The flame graph: the outermost functions are on top.
fn svg(title: &str, lines: &[(String, u64)]) -> String {
    let mut root = Node::default();
    for (stack, samples) in lines {
        root.samples += samples;
        let mut at = &mut root;
        for name in stack.split(';') {
            at = at.inner.entry(name.to_owned()).or_default();
            at.samples += samples;
        }
    }
    let (mut shapes, mut depth) = (String::new(), 0);
    draw(&root, "all", 0, 0.0, root.samples as f64, &mut shapes, &mut depth);
    let height = (depth + 1) as f64 * ROW + 30.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\">\n\
         <style>text {{ font: 11px monospace; fill: #222; pointer-events: none }} .title {{ font: 14px sans-serif }}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text class=\"title\" x=\"6\" y=\"18\">{}</text>\n{shapes}</svg>\n",
        escaped(title)
    )
}

fn draw(node: &Node, name: &str, level: usize, left: f64, all: f64, out: &mut String, depth: &mut usize) {
    let share = node.samples as f64 / all;
    if share < LEAST || level > 400 {
        return;
    }
    *depth = (*depth).max(level);
    let (x, y, width) = (left * WIDTH, level as f64 * ROW + 28.0, share * WIDTH);
    let color = COLORS[name.bytes().fold(7usize, |sum, byte| (sum * 31 + usize::from(byte)) % 997) % COLORS.len()];
    let _ = write!(
        out,
        "<g><title>{} ({} samples, {:.2} %)</title><rect x=\"{x:.1}\" y=\"{y:.0}\" width=\"{:.1}\" height=\"{}\" rx=\"2\" fill=\"{color}\"/>",
        escaped(name),
        node.samples,
        share * 100.0,
        (width - 0.5).max(0.5),
        ROW - 1.0
    );
    let signs = ((width - 6.0) / 6.7).max(0.0) as usize;
    if signs > 2 {
        let shown: String = name.chars().take(signs).collect();
        let _ = write!(out, "<text x=\"{:.1}\" y=\"{:.0}\">{}</text>", x + 3.0, y + 13.0, escaped(&shown));
    }
    out.push_str("</g>\n");
    let mut inner: Vec<_> = node.inner.iter().collect();
    inner.sort_by_key(|(_, node)| std::cmp::Reverse(node.samples));
    let mut from = left;
    for (name, node) in inner {
        draw(node, name, level + 1, from, all, out, depth);
        from += node.samples as f64 / all;
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows() -> Rows {
        let row = |worker: u64, text: Option<&str>, stack: &str, samples: u64| {
            vec![json!(worker), json!(null), json!(null), json!(text), json!(stack), json!(samples)]
        };
        let rows = vec![row(0, Some("SELECT ? ; <"), "main;a;b", 30), row(1, None, "main;a", 10)];
        Rows { columns: Vec::new(), rows }
    }

    #[test]
    fn samples_add_up_by_what_is_wanted() {
        let told = |by| lines(&rows(), by);
        let line = |stack: &str, samples| (stack.to_owned(), samples);
        assert_eq!(told(By::Nothing), [line("main;a", 10), line("main;a;b", 30)]);
        assert_eq!(told(By::Worker), [line("worker 0;main;a;b", 30), line("worker 1;main;a", 10)]);
        assert_eq!(told(By::Statement), [line("(no statement);main;a", 10), line("SELECT ? , <;main;a;b", 30)]);
        assert_eq!(summary(&rows(), 40), " 75.0 %  SELECT ? ; <\n 25.0 %  (no statement)\n");
    }

    #[test]
    fn a_function_is_as_wide_as_its_share() {
        let picture = svg("t & u", &lines(&rows(), By::Statement));
        assert!(picture.contains("SELECT ? , &lt; (30 samples, 75.00 %)") && picture.contains("t &amp; u"), "{picture}");
        assert!(picture.contains("width=\"1049.5\"") && picture.contains("x=\"1050.0\""), "{picture}");
        // All, one statement with three functions, no statement with two.
        assert_eq!(picture.matches("<rect x=").count(), 8, "{picture}");
    }
}
