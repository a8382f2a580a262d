//! The names of functions at addresses, from the program's own tables of lines.

use std::collections::HashMap;

/// Stacks as texts: the outermost function first, `;` between. Functions that the compiler has put into others are named,
/// too.
pub fn of(stacks: &[Vec<u64>]) -> Vec<String> {
    let mut known: HashMap<u64, String> = HashMap::new();
    let text = |stack: &Vec<u64>| {
        let mut names: Vec<String> =
            stack.iter().map(|address| known.entry(*address).or_insert_with(|| at(*address)).clone()).collect();
        names.reverse();
        names.join(";")
    };
    stacks.iter().map(text).collect()
}

/// The functions at an address, the outermost first.
fn at(address: u64) -> String {
    let mut names = Vec::new();
    // It takes one away, because it expects the address behind a call.
    backtrace::resolve((address as usize + 1) as *mut _, |symbol| {
        if let Some(name) = symbol.name() {
            // Without the hash of the compiler.
            names.push(shortened(&format!("{name:#}")));
        }
    });
    names.reverse();
    if names.is_empty() { "(unknown)".to_owned() } else { names.join(";") }
}

/// Characters of a name.
const NAME_MAX: usize = 120;

/// A name without the types that it was made for: `exec::driver::run_query`, not `exec::driver::run_query::<...>`.
fn shortened(name: &str) -> String {
    let mut short = String::new();
    let mut depth = 0usize;
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        let is_named = short.ends_with(|last: char| last.is_alphanumeric() || last == '_' || last == '}');
        if depth == 0 && (rest.starts_with("::<") || rest.starts_with('<') && is_named) {
            depth = 1;
            rest = rest.trim_start_matches("::").strip_prefix('<').unwrap_or_default();
            continue;
        }
        match (depth, next) {
            (0, ';') => short.push(','),
            (0, other) => short.push(other),
            (_, '<') => depth += 1,
            // The arrow of a function's type closes nothing.
            (_, '-') if rest.starts_with("->") => rest = &rest[1..],
            (_, '>') => depth -= 1,
            _ => {}
        }
        rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
    }
    crate::digests::cut(&short, NAME_MAX).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_names() {
        let inner = at(of as *const () as usize as u64);
        assert!(inner.contains("profile::names::of"), "{inner}");
        assert_eq!(of(&[vec![1], vec![]]), ["(unknown)", ""]);
    }

    #[test]
    fn types_are_left_out() {
        for (name, expected) in [
            ("exec::run::<a::B<C>, fn(u8) -> D>::{closure#0}", "exec::run::{closure#0}"),
            ("<a::B<C> as d::E>::f::<G>", "<a::B as d::E>::f"),
            ("call_once<a::{closure_env#0}<b>, ()>", "call_once"),
            ("a;b", "a,b"),
            ("a::<", "a"),
        ] {
            assert_eq!(shortened(name), expected);
        }
        assert_eq!(shortened(&"x".repeat(500)).len(), NAME_MAX);
    }
}
