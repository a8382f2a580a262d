//! The import circles between the files of each crate: files of which each reaches every other by imports.
//!
//! A file imports another when it names, in a `use` or by a path, an item that the other defines. Names are followed through
//! re-exports to the file that defines them. Tests do not count. Calls of methods and names that a macro makes are not seen.

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};

/// Circles of a crate that are larger than one file, the largest first; each is the sorted paths of its files.
pub fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let modules = Modules::read(files);
    let graph: DiGraphMap<usize, ()> = DiGraphMap::from_edges(modules.imports());
    let names = |circle: Vec<usize>| {
        let mut names: Vec<String> = circle.into_iter().map(|number| modules.files[number].path.clone()).collect();
        names.sort();
        names
    };
    let mut circles: Vec<Vec<String>> = tarjan_scc(&graph).into_iter().filter(|circle| circle.len() > 1).map(names).collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

/// The imports of a crate: each file with one that it imports.
pub fn imports(files: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    let modules = Modules::read(files);
    let path = |number: usize| modules.files[number].path.clone();
    modules.imports().map(|(from, to)| (path(from), path(to))).collect()
}

type Path = Vec<String>;

/// One file: where its module stands, and what it names.
struct File {
    path: String,
    at: Path,
    paths: BTreeSet<Path>,
}

/// What a name in a module stands for.
enum Name {
    /// An item of this file.
    Item(usize),
    /// Another module of the crate, by its own file or within one.
    Module,
    /// Something that the module takes from elsewhere: the path as it is written.
    Import(Path),
}

/// All modules of a crate.
struct Modules {
    files: Vec<File>,
    /// Of each module: its names, and the paths that it takes everything from (`use a::*`).
    names: BTreeMap<Path, (BTreeMap<String, Name>, Vec<Path>)>,
}

impl Modules {
    fn read(files: &[(&str, &str)]) -> Self {
        let mut modules = Self { files: Vec::new(), names: BTreeMap::new() };
        for (path, text) in files {
            let Ok(file) = syn::parse_file(text) else { continue };
            let at = module_of(path);
            let number = modules.files.len();
            let mut reader = Reader { modules: &mut modules, number, at: at.clone(), paths: BTreeSet::new() };
            reader.items(&file.items);
            let paths = reader.paths;
            modules.files.push(File { path: (*path).to_owned(), at, paths });
        }
        let all: Vec<Path> = modules.names.keys().cloned().collect();
        for module in all {
            if let Some((name, parent)) = module.split_last() {
                modules.names.entry(parent.to_vec()).or_default().0.insert(name.clone(), Name::Module);
            }
        }
        modules
    }

    /// The numbers of files that import others, each with the number of one that it imports.
    fn imports(&self) -> impl Iterator<Item = (usize, usize)> {
        self.files.iter().enumerate().flat_map(move |(number, file)| {
            let defining = move |path: &Path| self.file_of(&file.at, path).filter(|defining| *defining != number);
            file.paths.iter().filter_map(defining).map(move |defining| (number, defining))
        })
    }

    /// The file that defines what `path` names in the module `at`; `None`: it is not of this crate, or not known.
    fn file_of(&self, at: &[String], path: &[String]) -> Option<usize> {
        self.follow(at, path, 0)
    }

    fn follow(&self, at: &[String], path: &[String], depth: usize) -> Option<usize> {
        // Re-exports that name each other end here.
        const DEPTH_MAX: usize = 16;
        if depth > DEPTH_MAX {
            return None;
        }
        let (first, mut rest) = path.split_first()?;
        let mut module: Path = match first.as_str() {
            "crate" => Vec::new(),
            "self" => at.to_vec(),
            "super" => at.split_last()?.1.to_vec(),
            _ => {
                rest = path;
                at.to_vec()
            }
        };
        while let Some((name, behind)) = rest.split_first() {
            if name == "super" {
                module.pop()?;
                rest = behind;
                continue;
            }
            let (names, globs) = self.names.get(&module)?;
            match names.get(name) {
                Some(Name::Item(file)) => return Some(*file),
                Some(Name::Module) => {
                    module.push(name.clone());
                    rest = behind;
                }
                Some(Name::Import(import)) => {
                    let whole: Path = import.iter().chain(behind).cloned().collect();
                    return if whole == path && module == at { None } else { self.follow(&module, &whole, depth + 1) };
                }
                None => {
                    let through = |glob: &Path| -> Option<usize> {
                        let whole: Path = glob.iter().chain(rest).cloned().collect();
                        self.follow(&module, &whole, depth + 1)
                    };
                    return globs.iter().find_map(through);
                }
            }
        }
        None
    }
}

/// `exec/src/dml/mod.rs` and `exec/src/dml.rs` are `dml`; `lib.rs` and `main.rs` are the crate.
fn module_of(path: &str) -> Path {
    let inside = path.split_once("/src/").map_or(path, |(_, inside)| inside);
    let mut parts: Path = inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

/// Collects what one file defines and names.
struct Reader<'m> {
    modules: &'m mut Modules,
    number: usize,
    /// The module that is read: the file's, or one inside it.
    at: Path,
    paths: BTreeSet<Path>,
}

impl Reader<'_> {
    fn items(&mut self, items: &[syn::Item]) {
        self.modules.names.entry(self.at.clone()).or_default();
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            if let Some(name) = defined(item) {
                self.define(name, Name::Item(self.number));
            }
            match item {
                syn::Item::Mod(module) => {
                    if let Some((_, items)) = &module.content {
                        self.at.push(module.ident.to_string());
                        self.items(items);
                        self.at.pop();
                    }
                }
                syn::Item::Use(import) => self.import(import),
                other => self.visit_item(other),
            }
        }
    }

    fn define(&mut self, name: String, what: Name) {
        self.modules.names.entry(self.at.clone()).or_default().0.insert(name, what);
    }

    fn import(&mut self, import: &syn::ItemUse) {
        for (path, name) in leaves(&import.tree, &[]) {
            match name {
                None => self.modules.names.entry(self.at.clone()).or_default().1.push(path),
                Some(name) => {
                    self.paths.insert(path.clone());
                    self.define(name, Name::Import(path));
                }
            }
        }
    }
}

/// What an import takes: each path, with the name that it has from then on; no name: everything of that module.
fn leaves(tree: &syn::UseTree, before: &[String]) -> Vec<(Path, Option<String>)> {
    let with = |name: &syn::Ident| {
        let own = (name != "self").then(|| name.to_string());
        before.iter().cloned().chain(own).collect::<Path>()
    };
    match tree {
        syn::UseTree::Path(path) => {
            let inside: Path = before.iter().cloned().chain([path.ident.to_string()]).collect();
            leaves(&path.tree, &inside)
        }
        syn::UseTree::Group(group) => group.items.iter().flat_map(|tree| leaves(tree, before)).collect(),
        syn::UseTree::Name(name) => {
            let path = with(&name.ident);
            let known = path.last().cloned();
            vec![(path, known)]
        }
        syn::UseTree::Rename(name) => vec![(with(&name.ident), Some(name.rename.to_string()))],
        syn::UseTree::Glob(_) => vec![(before.to_vec(), None)],
    }
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.leading_colon.is_none() {
            let written: Path = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            // A name of its own was counted where it is imported.
            if written.len() > 1 || self.at.is_empty() {
                self.paths.insert(written);
            }
        }
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, import: &'a syn::ItemUse) {
        // Within a function: the names are not the module's.
        self.paths.extend(leaves(&import.tree, &[]).into_iter().map(|(path, _)| path));
    }

    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    use syn::Item as I;
    match item {
        I::Const(item) => &item.attrs,
        I::Enum(item) => &item.attrs,
        I::Fn(item) => &item.attrs,
        I::Impl(item) => &item.attrs,
        I::Mod(item) => &item.attrs,
        I::Static(item) => &item.attrs,
        I::Struct(item) => &item.attrs,
        I::Trait(item) => &item.attrs,
        I::Type(item) => &item.attrs,
        I::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn defined(item: &syn::Item) -> Option<String> {
    use syn::Item as I;
    let name = match item {
        I::Const(item) => &item.ident,
        I::Enum(item) => &item.ident,
        I::Fn(item) => &item.sig.ident,
        I::Static(item) => &item.ident,
        I::Struct(item) => &item.ident,
        I::Trait(item) => &item.ident,
        I::Type(item) => &item.ident,
        I::Union(item) => &item.ident,
        I::Macro(item) => item.ident.as_ref()?,
        _ => return None,
    };
    Some(name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_goes_through_re_exports_and_paths() {
        let files = [
            ("x/src/lib.rs", "mod a; mod b; mod c; pub use a::One; fn main() { c::three(); }"),
            ("x/src/a.rs", "use crate::b::Two; pub struct One(Two);"),
            ("x/src/b.rs", "pub struct Two; impl Two { fn one() -> crate::One { super::c::three() } }"),
            ("x/src/c.rs", "pub fn three() {}\n#[cfg(test)] mod tests { use crate::One; }"),
        ];
        assert_eq!(circles(&files), [["x/src/a.rs", "x/src/b.rs"]]);
    }
}
