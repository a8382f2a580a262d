//! The table of functions in `docs/COMPATIBILITY.md`, made from the rows: `UPDATE_DOCS=1 cargo test -p expr` writes it.

use super::names::all;
use crate::aggregates::{AggregateFunction, WindowOnly};
use crate::func::{Area, Function};
use std::fmt::Write;

const BEGIN: &str = "<!-- The test of expr/src/function/page.rs writes this table: UPDATE_DOCS=1 cargo test -p expr -->\n";
const END: &str = "<!-- end of the table of expr -->\n";

fn title(area: Area) -> &'static str {
    match area {
        Area::Cipher => "ciphers, compression",
        Area::Control => "control",
        Area::Date => "dates and times",
        Area::Encode => "digests, digits, encodings",
        Area::Forms => "other forms of a value",
        Area::FullText => "full text",
        Area::Identifier => "addresses, identifiers",
        Area::Information => "session, locks",
        Area::Json => "JSON",
        Area::Math => "numbers",
        Area::Regexp => "patterns",
        Area::SpatialChanges => "geometries made of others",
        Area::SpatialMake => "geometries from numbers and texts",
        Area::SpatialMeasures => "lengths, areas, distances",
        Area::SpatialParts => "parts of geometries",
        Area::SpatialRelations => "relations of geometries",
        Area::SpatialShow => "geometries as texts and numbers",
        Area::String => "strings",
        Area::Vector => "vectors",
        Area::Xml => "XML",
    }
}

/// The names of a function as the table shows them: its own, then its other names in brackets, and the note.
fn shown(function: Function) -> Option<String> {
    let row = function.row();
    let (first, others) = row.names.split_first()?;
    let others = others.iter().map(|(name, ..)| *name);
    let about: Vec<&str> = others.chain(row.note).collect();
    Some(if about.is_empty() { first.0.to_owned() } else { format!("{} ({})", first.0, about.join(", ")) })
}

fn table() -> String {
    let mut table = String::from("| area | functions |\n|---|---|\n");
    for area in Area::ALL {
        let mut functions: Vec<String> = all().filter(|function| function.area() == area).filter_map(shown).collect();
        functions.sort();
        if functions.is_empty() {
            // The grammar makes all its calls.
            continue;
        }
        let _ = writeln!(table, "| {} | {} |", title(area), functions.join(", "));
    }
    let aggregates = AggregateFunction::ALL.iter().map(|function| named(function.row().names));
    let windows = WindowOnly::ALL.iter().map(|function| named(&[function.row().name]));
    for (title, functions) in [("aggregates", sorted(aggregates)), ("windows", sorted(windows))] {
        let _ = writeln!(table, "| {title} | {functions} |");
    }
    table
}

/// A name, with the other names of the function in brackets.
fn named(names: &[&str]) -> String {
    match names {
        [name] => (*name).to_owned(),
        [name, others @ ..] => format!("{name} ({})", others.join(", ")),
        [] => String::new(),
    }
}

fn sorted(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.join(", ")
}

#[test]
fn the_page_lists_the_functions() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/COMPATIBILITY.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let (before, rest) = page.split_once(BEGIN).expect("the page has a place for the table");
    let (present, after) = rest.split_once(END).expect("the table has an end");
    let table = table();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{table}{END}{after}")).expect("the page can be written");
        return;
    }
    assert!(present == table, "the functions in docs/COMPATIBILITY.md are old: run UPDATE_DOCS=1 cargo test -p expr");
}
