//! The names of functions at addresses, from the program's own tables of lines.

use std::collections::HashMap;
use std::path::Path;

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
            names.push(placed(&shortened(&format!("{name:#}")), symbol.filename()));
        }
    });
    names.reverse();
    if names.is_empty() { "(unknown)".to_owned() } else { names.join(";") }
}

/// A name with its module. Tables of lines alone have the bare names of functions, but know their files.
fn placed(name: &str, file: Option<&Path>) -> String {
    let module = if name.contains("::") { None } else { file.and_then(module_of) };
    module.map_or_else(|| name.to_owned(), |module| format!("{module}::{name}"))
}

/// The module that a source file is, by the place of the file: `exec::operator::scan` for `.../exec/src/operator/scan.rs`.
fn module_of(file: &Path) -> Option<String> {
    let parts: Vec<&str> = file.iter().filter_map(|part| part.to_str()).collect();
    let source = parts.iter().rposition(|part| *part == "src")?;
    let package = parts.get(source.checked_sub(1)?)?;
    // A library's directory ends in its version.
    let name = match package.rsplit_once('-') {
        Some((name, version)) if version.starts_with(|first: char| first.is_ascii_digit()) => name,
        _ => package,
    };
    let mut module = vec![name.replace('-', "_")];
    module.extend(parts[source + 1..].iter().map(|part| part.strip_suffix(".rs").unwrap_or(part).to_owned()));
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    Some(module.join("::"))
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
    fn files_are_modules() {
        for (file, expected) in [
            ("/x/heddle/exec/src/operator/scan.rs", Some("exec::operator::scan")),
            ("exec/src/parallel/mod.rs", Some("exec::parallel")),
            ("/r/hashbrown-0.17.1/src/raw.rs", Some("hashbrown::raw")),
            ("/rustc/abc/library/core/src/slice/mod.rs", Some("core::slice")),
            ("/r/crc-fast-1.2.0/src/lib.rs", Some("crc_fast")),
            ("/tmp/x.rs", None),
        ] {
            assert_eq!(module_of(Path::new(file)).as_deref(), expected, "{file}");
        }
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
