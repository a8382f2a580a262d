//! A flame graph of a profile, as SVG without anything from the network: the width of a function is its share of the samples, its callers are
//! above it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

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
const DEPTH_MAX: usize = 400;
const COLORS: [&str; 6] = ["#e8743b", "#ed9b40", "#f2b84b", "#e05d44", "#d98c5f", "#eaa86a"];

/// The flame graph of stacks, whose functions are separated by `;`, outermost first, with their samples. The outermost functions are on top.
pub fn svg(title: &str, lines: &[(String, u64)]) -> String {
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
        "<svg class=\"flame\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\">\n\
         <style>.flame text {{ font: 11px monospace; fill: #222; pointer-events: none }} .flame .title {{ font: 14px sans-serif }}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text class=\"title\" x=\"6\" y=\"18\">{}</text>\n{shapes}</svg>\n",
        escaped(title)
    )
}

fn draw(node: &Node, name: &str, level: usize, left: f64, all: f64, out: &mut String, depth: &mut usize) {
    let share = node.samples as f64 / all;
    if share < LEAST || level > DEPTH_MAX {
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

/// A text that may stand in HTML and SVG, within an attribute too.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_as_wide_as_its_share() {
        let line = |stack: &str, samples| (stack.to_owned(), samples);
        let lines = [line("(no statement);main;a", 10), line("SELECT ? , <;main;a;b", 30)];
        let picture = svg("t & u", &lines);
        assert!(picture.contains("SELECT ? , &lt; (30 samples, 75.00 %)") && picture.contains("t &amp; u"), "{picture}");
        assert!(picture.contains("width=\"1049.5\"") && picture.contains("x=\"1050.0\""), "{picture}");
        // All, one statement with three functions, no statement with two.
        assert_eq!(picture.matches("<rect x=").count(), 8, "{picture}");
    }
}
