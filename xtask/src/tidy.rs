//! Rules on the repository itself. Each rule is a case: `ok RULE`, or `FAIL RULE: file: what` for every breach.
//!
//! - **architecture**: `docs/ARCHITECTURE.md` names no path that is gone;
//! - **crate order**: a crate uses only crates on lower floors ([`FLOORS`]);
//! - **storage order**: a folder of `storage` uses only the folders before it ([`STORAGE_ORDER`]);
//! - **file heads**: every Rust file begins with `//!`;
//! - **unsafe**: only in [`UNSAFE_CRATES`] and the files of [`UNSAFE_FILES`];
//! - **file size**: at most [`LINES_MAX`] lines, or a reason in [`LONG_FILES`];
//! - **left behind**: no unfinished work or debugging output;
//! - **dependencies**: `docs/decisions/dependencies.md` names every library that a manifest names, and no manifest offers one that
//!   nobody uses;
//! - **byte order**: the machine's own byte order is used only in the files of [`NATIVE_ORDER_FILES`];
//! - **circles**: no import circle among the files of a crate is larger than [`CIRCLES`] says;
//! - **conditions**: MySQL's error numbers stand in the catalogue of the crate `conditions` alone;
//! - **machines**: no path of one machine, no host of a package registry.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Crates by floor, lowest first. A crate may use only crates on lower floors.
const FLOORS: &[&[&str]] = &[
    &["client", "conditions", "os", "sync", "tpcc", "webpki", "webpki-roots"],
    &["storage", "types"],
    &["txn"],
    &["table", "protocol", "expr"],
    &["sql"],
    &["exec", "reactor", "binlog"],
    &["accounts", "advisor"],
    &["server", "console", "backup", "lab", "migrate"],
    &["heddle", "bench", "sim", "flexasync"],
    &["embedded"],
];

/// Crates beside the house: they use none of its crates.
const BESIDE: &[&str] = &["xtask", "tests", "echo"];

/// The folders of `storage`, lowest first.
const STORAGE_ORDER: &[&str] = &["crc", "page", "wal", "buffer", "space", "btree", "recovery"];

const UNSAFE_CRATES: &[&str] = &["sync", "os", "storage"];

/// The files and folders of `exec`, lowest first: what operators stand on, operators, changes of rows. Others, such as the drivers,
/// are above them.
const EXEC_ORDER: &[&[&str]] = &[
    &["boxed", "context", "hash", "pause", "row_count", "shared", "source", "temporary"],
    &[
        "access",
        "clock",
        "operator",
        "parallel",
        "run",
        "scratch",
        "shape",
        "sink",
        "spill",
        "stored_conditions",
        "subquery",
        "wait",
    ],
    &["dml", "load", "prepared"],
];

/// Files elsewhere that need `unsafe`, with the reason.
const UNSAFE_FILES: &[(&str, &str)] = &[
    ("exec/tests/allocations.rs", "a global allocator that counts"),
    ("table/tests/allocations.rs", "a global allocator that counts"),
    ("bench/embedded/src/lmdb.rs", "LMDB maps a file that nobody else must change"),
    ("server/tests/stepping/mod.rs", "signal handlers that read a thread's registers"),
];

/// Files that may use the machine's own byte order, with the reason. Everything on disk and on the wire names its order.
const NATIVE_ORDER_FILES: &[(&str, &str)] = &[
    ("sync/src/racy.rs", "words are moved as they are in memory, which is as on disk"),
    ("expr/src/packed.rs", "rows of a sort or a hash table never leave the process"),
    ("exec/src/operator/hash_join.rs", "as above"),
    ("exec/src/dml/insert.rs", "as above"),
];

const LINES_MAX: usize = 1000;

/// Files longer than that, with the reason.
const LONG_FILES: &[(&str, &str)] = &[("conditions/src/catalogue.rs", "a row for each condition, by number")];

/// One text file of the repository.
struct Source {
    path: String,
    text: String,
}

/// `cargo xtask tidy`.
pub fn run(root: &Path) -> Result<bool, String> {
    let (well, text) = check(root);
    print!("{text}");
    Ok(well)
}

/// Checks every rule: whether all hold, and the lines that tell.
pub fn check(root: &Path) -> (bool, String) {
    let sources = match sources(root) {
        Ok(sources) => sources,
        Err(why) => return (false, format!("FAIL tidy: {why}\n")),
    };
    let (circle_rule, circle_breaches) = circles(&sources);
    let rules: [(&str, Vec<String>); 13] = [
        ("architecture", architecture(root, &sources)),
        ("crate order", crate_order(&sources)),
        ("storage order", storage_order(&sources)),
        ("exec order", exec_order(&sources)),
        ("file heads", file_heads(&sources)),
        ("unsafe", unsafe_code(&sources)),
        ("file size", file_size(&sources)),
        ("left behind", left_behind(&sources)),
        ("dependencies", dependencies(&sources)),
        ("byte order", byte_order(&sources)),
        (&circle_rule, circle_breaches),
        ("conditions", conditions(&sources)),
        ("machines", machines(&sources)),
    ];
    let mut text = String::new();
    for (rule, breaches) in &rules {
        if breaches.is_empty() {
            text.push_str(&format!("ok   {rule}\n"));
        }
        for breach in breaches {
            text.push_str(&format!("FAIL {rule}: {breach}\n"));
        }
    }
    (rules.iter().all(|(_, breaches)| breaches.is_empty()), text)
}

/// Tracked files, and new ones that are not ignored.
fn sources(root: &Path) -> Result<Vec<Source>, String> {
    let output = Command::new("git")
        .args(["-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|e| format!("git: {e}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let read = |path: &str| fs::read_to_string(root.join(path)).ok().map(|text| Source { path: path.into(), text });
    Ok(names.lines().filter_map(read).collect())
}

fn rust(sources: &[Source]) -> impl Iterator<Item = &Source> {
    sources.iter().filter(|s| s.path.ends_with(".rs"))
}

fn architecture(root: &Path, sources: &[Source]) -> Vec<String> {
    let Some(page) = sources.iter().find(|s| s.path == "docs/ARCHITECTURE.md") else {
        return Vec::new();
    };
    let named = page.text.split('`').skip(1).step_by(2);
    named
        .filter(|name| is_path(name, sources))
        .filter(|name| !root.join(name.trim_end_matches('/')).exists())
        .map(|name| format!("docs/ARCHITECTURE.md names {name}, which is gone"))
        .collect()
}

/// A name with a slash whose first part is a folder at the top of the repository.
fn is_path(name: &str, sources: &[Source]) -> bool {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    match name.split_once('/') {
        Some((top, _)) if plain && !top.is_empty() => sources.iter().any(|s| s.path.starts_with(&format!("{top}/"))),
        _ => false,
    }
}

fn crate_order(sources: &[Source]) -> Vec<String> {
    let mut breaches = Vec::new();
    let floors: BTreeMap<&str, usize> =
        FLOORS.iter().enumerate().flat_map(|(floor, crates)| crates.iter().map(move |name| (*name, floor))).collect();
    let manifests = sources.iter().filter(|s| s.path.ends_with("/Cargo.toml") && !s.path.starts_with("fuzz/"));
    for manifest in manifests {
        let Ok(table) = manifest.text.parse::<toml::Table>() else {
            breaches.push(format!("{}: not readable", manifest.path));
            continue;
        };
        let name = table.get("package").and_then(|p| p.get("name")).and_then(|n| n.as_str()).unwrap_or_default().to_string();
        let own = floors.get(name.as_str()).copied();
        if own.is_none() && !BESIDE.contains(&name.as_str()) {
            breaches.push(format!("{}: the crate {name} has no floor in xtask/src/tidy.rs", manifest.path));
            continue;
        }
        let used = ["dependencies", "build-dependencies"].iter().filter_map(|k| table.get(*k)?.as_table()).flat_map(|t| t.keys());
        for dependency in used {
            let Some(floor) = floors.get(dependency.as_str()) else { continue };
            if own.is_none_or(|own| *floor >= own) {
                breaches.push(format!("{}: {name} must not use {dependency}", manifest.path));
            }
        }
    }
    breaches
}

fn storage_order(sources: &[Source]) -> Vec<String> {
    let position = |name: &str| STORAGE_ORDER.iter().position(|m| *m == name);
    let mut breaches = Vec::new();
    for source in rust(sources) {
        let Some(rest) = source.path.strip_prefix("storage/src/") else { continue };
        let module = rest.split(['/', '.']).next().unwrap_or_default();
        let Some(own) = position(module) else { continue };
        if rest.ends_with("tests.rs") {
            continue;
        }
        for used in without_tests(&source.text).split("crate::").skip(1) {
            let other: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if position(&other).is_some_and(|other| other > own) {
                breaches.push(format!("{}: {module} must not use {other}", source.path));
            }
        }
    }
    breaches.dedup();
    breaches
}

/// Files of `exec` that import one of an upper part.
fn exec_order(sources: &[Source]) -> Vec<String> {
    let part = |path: &str| {
        let inside = path.strip_prefix("exec/src/").unwrap_or_default();
        let module = inside.split(['/', '.']).next().unwrap_or_default();
        EXEC_ORDER.iter().position(|modules| modules.contains(&module)).unwrap_or(EXEC_ORDER.len())
    };
    let files: Vec<(&str, &str)> = rust(sources)
        .filter(|source| source.path.starts_with("exec/src/") && !source.path.ends_with("tests.rs"))
        .map(|source| (&*source.path, &*source.text))
        .collect();
    let imports = crate::circles::imports(&files).into_iter();
    imports.filter(|(file, other)| part(file) < part(other)).map(|(file, other)| format!("{file} must not use {other}")).collect()
}

/// The part of a file above its own tests, without comments.
fn without_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().map(|l| l.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn file_heads(sources: &[Source]) -> Vec<String> {
    let headless = |s: &&Source| !s.text.lines().take(3).any(|l| l.starts_with("//!"));
    rust(sources).filter(headless).map(|s| format!("{}: no //! head", s.path)).collect()
}

fn unsafe_code(sources: &[Source]) -> Vec<String> {
    let mut breaches = Vec::new();
    for source in rust(sources) {
        let top = source.path.split('/').next().unwrap_or_default();
        if UNSAFE_CRATES.contains(&top) || UNSAFE_FILES.iter().any(|(path, _)| *path == source.path) {
            continue;
        }
        for (number, line) in source.text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let is_unsafe = ["{", "fn ", "impl", "trait ", "extern "].iter().any(|next| code.contains(&format!("unsafe {next}")));
            if is_unsafe && !code.contains('"') {
                breaches.push(format!("{}:{}: unsafe outside {}", source.path, number + 1, UNSAFE_CRATES.join(", ")));
            }
        }
    }
    breaches
}

fn byte_order(sources: &[Source]) -> Vec<String> {
    let mut breaches = Vec::new();
    for source in rust(sources).filter(|s| !NATIVE_ORDER_FILES.iter().any(|(path, _)| *path == s.path)) {
        for (number, line) in source.text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let is_native = ["ne_bytes", "read_unaligned", "write_unaligned", "transmute"].iter().any(|word| {
                let mut around = code.match_indices(word).map(|(at, _)| code[..at].chars().next_back());
                around.any(|before| before.is_some_and(|c| "_:. ".contains(c)))
            });
            if is_native && !code.contains('"') {
                breaches.push(format!("{}:{}: the machine's own byte order", source.path, number + 1));
            }
        }
    }
    breaches
}

/// The largest import circle that each crate may have, in files, with the reason. Other crates may have [`CIRCLE_MAX`].
const CIRCLES: &[(&str, usize, &str)] = &[
    ("exec", 18, "a change of a row fires triggers and foreign keys, which change rows"),
    ("expr", 23, "evaluation, functions, conversions and casts call each other"),
    ("server", 48, "programs run statements, which run programs"),
    ("sql", 50, "expressions hold queries and queries hold expressions, in the tree of syntax and in the binder"),
];

const CIRCLE_MAX: usize = 10;

/// Circles that have grown, and limits that are higher than needed.
fn circles(sources: &[Source]) -> (String, Vec<String>) {
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for source in rust(sources).filter(|source| !source.path.ends_with("tests.rs") && !source.path.contains("/tests/")) {
        if let Some((name, _)) = source.path.split_once("/src/").filter(|(name, _)| !name.contains('/')) {
            crates.entry(name).or_default().push((&source.path, &source.text));
        }
    }
    let (mut breaches, mut sizes) = (Vec::new(), Vec::new());
    for (name, files) in crates {
        let largest = crate::circles::circles(&files).into_iter().next().unwrap_or_default();
        if largest.len() > 1 {
            sizes.push(format!("{name} {}", largest.len()));
        }
        let listed = CIRCLES.iter().find(|(listed, ..)| *listed == name);
        let most = listed.map_or(CIRCLE_MAX, |(_, most, _)| *most);
        if largest.len() > most {
            breaches.push(format!("{name}: {} files import each other, more than {most}: {}", largest.len(), largest.join(" ")));
        } else if listed.is_some() && largest.len() < most {
            breaches.push(format!("{name}: the largest circle has {} files: lower its limit of {most}", largest.len()));
        }
    }
    (format!("circles (files in the largest: {})", sizes.join(", ")), breaches)
}

const CATALOGUE: &str = "conditions/src/catalogue.rs";

/// Crates that could be tempted to write an error number.
const TELLING_CRATES: &[&str] =
    &["types", "table", "txn", "protocol", "expr", "sql", "reactor", "accounts", "exec", "server", "heddle"];

/// Numbers of the catalogue that are something else in a file, with the reason.
const OTHER_NUMBERS: &[(&str, &str, &str)] = &[
    ("server/src/config.rs", "1040", "connections at most"),
    ("server/src/variables/list.rs", "1040", "as above"),
    ("types/src/key.rs", "3072", "the bytes of a key at most"),
];

/// The error numbers that code outside of the catalogue writes.
fn conditions(sources: &[Source]) -> Vec<String> {
    let Some(catalogue) = sources.iter().find(|s| s.path == CATALOGUE) else {
        return vec![format!("{CATALOGUE} is gone")];
    };
    // `Name { arguments } = 1062, "ER_DUP_ENTRY", ...`: numbers below 1000 are those of files, which are too small to tell.
    let number = |line: &str| Some(line.split_once(" = ")?.1.split_once(", \"E")?.0.to_owned());
    let known: BTreeSet<String> = catalogue.text.lines().filter_map(number).filter(|number| number.len() >= 4).collect();
    let mut breaches = Vec::new();
    for source in rust(sources).filter(|s| !s.path.ends_with("tests.rs")) {
        let (top, rest) = source.path.split_once('/').unwrap_or_default();
        if !TELLING_CRATES.contains(&top) || !rest.starts_with("src/") || rest.contains("/tests/") {
            continue;
        }
        for (line, code) in without_tests(&source.text).lines().enumerate() {
            // Texts stand at odd places between quotes.
            let plain: String = code.split('"').step_by(2).collect();
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            for word in plain.split(|c| !is_part(c)).filter(|word| known.contains(*word)) {
                let is_other = OTHER_NUMBERS.iter().any(|(path, number, _)| *path == source.path && *number == word);
                if !is_other {
                    breaches.push(format!("{}:{}: {word} belongs to {CATALOGUE}", source.path, line + 1));
                }
            }
        }
    }
    breaches
}

fn file_size(sources: &[Source]) -> Vec<String> {
    let mut breaches = Vec::new();
    for source in rust(sources) {
        let lines = source.text.lines().count();
        let listed = LONG_FILES.iter().any(|(path, _)| *path == source.path);
        if lines > LINES_MAX && !listed {
            breaches.push(format!("{}: {lines} lines; split it along a concept, or list it with a reason", source.path));
        }
    }
    breaches
}

fn left_behind(sources: &[Source]) -> Vec<String> {
    // In two parts, so that this file does not breach its own rule.
    let words = [("TO", "DO"), ("FIX", "ME"), ("todo", "!("), ("unimplemented", "!("), ("dbg", "!(")];
    let words: Vec<String> = words.iter().map(|(a, b)| format!("{a}{b}")).collect();
    let mut breaches = Vec::new();
    for source in rust(sources) {
        for (number, line) in source.text.lines().enumerate() {
            if let Some(word) = words.iter().find(|w| line.contains(w.as_str())) {
                breaches.push(format!("{}:{}: {word}", source.path, number + 1));
            }
        }
    }
    breaches
}

const DEPENDENCIES_PAGE: &str = "docs/decisions/dependencies.md";

fn dependencies(sources: &[Source]) -> Vec<String> {
    let manifests = sources.iter().filter(|s| s.path == "Cargo.toml" || s.path.ends_with("/Cargo.toml"));
    let (mut own, mut used, mut offered) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
    for manifest in manifests {
        // One that cannot be read is told by the crate order.
        let Ok(table) = manifest.text.parse::<toml::Table>() else { continue };
        own.extend(table.get("package").and_then(|p| p.get("name")).and_then(|n| n.as_str()).map(str::to_string));
        let names = |of: &toml::Table| -> Vec<String> {
            let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
            kinds.iter().filter_map(|kind| of.get(*kind)?.as_table()).flat_map(|t| t.keys().cloned()).collect()
        };
        used.extend(names(&table).into_iter().map(|name| (name, manifest.path.clone())));
        let by_target = table.get("target").and_then(|t| t.as_table()).into_iter().flat_map(|t| t.values());
        used.extend(by_target.filter_map(|t| t.as_table()).flat_map(names).map(|name| (name, manifest.path.clone())));
        offered.extend(table.get("workspace").and_then(|w| w.as_table()).map(names).unwrap_or_default());
    }
    let page = sources.iter().find(|s| s.path == DEPENDENCIES_PAGE).map_or("", |s| s.text.as_str());
    let word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let named: BTreeSet<&str> = page.split(|c| !word(c)).collect();
    let unnamed = used.iter().filter(|(name, _)| !own.contains(*name) && !named.contains(name.as_str()));
    let unused = offered.iter().filter(|name| !own.contains(*name) && !used.contains_key(*name));
    unnamed
        .map(|(name, path)| format!("{path}: {DEPENDENCIES_PAGE} does not name {name}"))
        .chain(unused.map(|name| format!("Cargo.toml: nobody uses {name}")))
        .collect()
}

fn machines(sources: &[Source]) -> Vec<String> {
    let folders = ["work", "opt", "root", "home"].map(|f| format!("/{f}/"));
    let hosts =
        [("pypi", ".org"), ("npmjs", ".org"), ("repo.maven", ".apache"), ("proxy.golang", ".org"), ("index.crates", ".io")];
    let hosts = hosts.map(|(a, b)| format!("{a}{b}"));
    let mut breaches = Vec::new();
    for source in sources {
        if source.path == "Cargo.lock" {
            breaches.extend(lock_sources(source));
            continue;
        }
        for (number, line) in source.text.lines().enumerate() {
            let path = folders.iter().find(|f| names_folder(line, f));
            if let Some(what) = path.or_else(|| hosts.iter().find(|h| line.contains(h.as_str()))) {
                breaches.push(format!("{}:{}: {what}", source.path, number + 1));
            }
        }
    }
    breaches
}

/// The folder at the start of a path, not in the middle of one.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"._-/*}~)".contains(c))
    })
}

/// The lock file names the one public index and nothing else.
fn lock_sources(lock: &Source) -> Vec<String> {
    let public = "registry+https://github.com/rust-lang/crates.io-index";
    let other = lock.text.lines().filter_map(|l| l.strip_prefix("source = ")).filter(|s| s.trim_matches('"') != public);
    let mut breaches: Vec<String> = other.map(|s| format!("{}: source {s}", lock.path)).collect();
    breaches.dedup();
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    #[test]
    fn a_crate_may_not_look_up() {
        let manifest = |name: &str, uses: &str| {
            source(
                &format!("{name}/Cargo.toml"),
                &format!("[package]\nname = \"{name}\"\n[dependencies]\n{uses}.workspace = true\n"),
            )
        };
        let breaches = |s| crate_order(&[s]).len();
        assert_eq!(breaches(manifest("table", "txn")), 0);
        assert_eq!(breaches(manifest("txn", "table")), 1);
        assert_eq!(breaches(manifest("expr", "protocol")), 1);
        assert_eq!(breaches(manifest("tests", "types")), 1);
        assert_eq!(breaches(manifest("unknown", "clap")), 1);
    }

    #[test]
    fn native_byte_order_is_found() {
        let breaches = |path: &str, text: &str| byte_order(&[source(path, text)]).len();
        assert_eq!(breaches("storage/src/x.rs", "let n = u32::from_ne_bytes(b);\nlet b = n.to_ne_bytes();"), 2);
        assert_eq!(breaches("storage/src/x.rs", "let n = inline_bytes_max(); // to_ne_bytes"), 0);
        assert_eq!(breaches("storage/src/x.rs", "p.read_unaligned()\nmem::transmute(x)"), 2);
        assert_eq!(breaches("expr/src/packed.rs", "n.to_ne_bytes()"), 0);
    }

    #[test]
    fn storage_folders_keep_their_order() {
        let breaches = |text| storage_order(&[source("storage/src/wal/append.rs", text)]).len();
        assert_eq!(breaches("use crate::page::Page;"), 0);
        assert_eq!(breaches("use crate::buffer::Pool;"), 1);
        assert_eq!(breaches("// crate::buffer reads this\n#[cfg(test)]\nmod tests { use crate::buffer::Pool; }"), 0);
    }

    #[test]
    fn operators_import_no_changes() {
        let breaches = |path, text| exec_order(&[source(path, text), source("exec/src/dml/mod.rs", "pub struct Rules;")]).len();
        assert_eq!(breaches("exec/src/run.rs", "use crate::dml::Rules;"), 1);
        assert_eq!(breaches("exec/src/operator/sort.rs", "fn f(rules: crate::dml::Rules) {}"), 1);
        assert_eq!(breaches("exec/src/driver.rs", "use crate::dml::Rules;"), 0);
    }

    #[test]
    fn unsafe_is_seen() {
        let breaches = |path, text| unsafe_code(&[source(path, text)]).len();
        assert_eq!(breaches("exec/src/lib.rs", "#![forbid(unsafe_code)]\n// unsafe { }"), 0);
        assert_eq!(breaches("exec/src/lib.rs", "let x = unsafe { y };"), 1);
        assert_eq!(breaches("sync/src/lib.rs", "let x = unsafe { y };"), 0);
    }

    #[test]
    fn a_library_is_named_and_used() {
        let workspace = source("Cargo.toml", "[workspace.dependencies]\nours = { path = \"ours\" }\nlib-a = \"1\"\n");
        let ours =
            |uses: &str| source("ours/Cargo.toml", &format!("[package]\nname = \"ours\"\n[dev-dependencies]\n{uses} = \"1\"\n"));
        let page = || source(DEPENDENCIES_PAGE, "| a need | lib-a 1 | |");
        assert!(dependencies(&[workspace, ours("lib-a"), page()]).is_empty());
        assert_eq!(dependencies(&[ours("lib"), page()]).len(), 1);
        let workspace = source("Cargo.toml", "[workspace.dependencies]\nlib-a = \"1\"\n");
        assert_eq!(dependencies(&[workspace, page()]).len(), 1);
    }

    #[test]
    fn paths_of_a_machine_are_seen() {
        let folder = format!("/{}/", "opt");
        assert!(names_folder(&format!("cd {folder}x"), &folder));
        assert!(names_folder(&format!("\"{folder}x\""), &folder));
        assert!(!names_folder(&format!("a{folder}x"), &folder));
    }
}
