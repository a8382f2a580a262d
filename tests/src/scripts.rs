//! The tree of scripts: which files a run takes, in which order, and what their heads say of them.
//!
//! T1: the file name of a script is unique in a run, whatever folder it lies in, because it names the script's database.

use crate::script::name_of;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the scripts lie, from the root of the repository.
pub const ROOT: &str = "tests/sql";

/// What `words` name, sorted by path: a script, a folder with all scripts below it, or the name of a script somewhere below `root`.
pub fn find(words: &[PathBuf], root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for word in words {
        if word.is_dir() {
            collect(word, &mut files)?;
        } else if word.exists() {
            files.push(word.clone());
        } else {
            files.push(named(word, root)?);
        }
    }
    files.sort();
    files.dedup();
    refuse_equal_names(&files)?;
    Ok(files)
}

/// Adds the scripts of a folder and of the folders in it.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let fail = |e: std::io::Error| format!("{}: {e}", folder.display());
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "test") {
            files.push(path);
        }
    }
    Ok(())
}

/// The script below `root` that has this name.
fn named(name: &Path, root: &Path) -> Result<PathBuf, String> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let found = files.into_iter().find(|file| file.file_stem() == Some(name.as_os_str()));
    found.ok_or_else(|| format!("{}: no such script", name.display()))
}

/// T1
fn refuse_equal_names(files: &[PathBuf]) -> Result<(), String> {
    let mut seen: HashMap<String, &PathBuf> = HashMap::new();
    for file in files {
        if let Some(other) = seen.insert(name_of(file), file) {
            return Err(format!("{} and {} have the same name: their databases would be one", other.display(), file.display()));
        }
    }
    Ok(())
}

/// What the comment at the head of a script says about running it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// `Runs alone.`: the script changes or stops the whole server, so no other script runs beside it.
    pub alone: bool,
    /// `Not recorded from MySQL.`: the answers are Heddle's own, and `--record` leaves them as they are.
    pub own: bool,
    /// `Text protocol only.`: the answers are others for prepared statements.
    pub text_only: bool,
}

impl Head {
    pub fn read(path: &Path) -> Self {
        Self::parse(&fs::read_to_string(path).unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let head: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
        let says = |sentence: &str| head.iter().any(|line| line.contains(sentence));
        Self { alone: says("Runs alone."), own: says("Not recorded from MySQL."), text_only: says("Text protocol only.") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_found_by_folder_path_and_name() {
        let root = std::env::temp_dir().join(format!("heddle-scripts-{}", std::process::id()));
        fs::create_dir_all(root.join("b/deep")).unwrap();
        for file in ["top.test", "b/one.test", "b/deep/two.test", "b/notes.md"] {
            fs::write(root.join(file), "").unwrap();
        }
        let check = |words: &[&str], expected: Result<&[&str], &str>| {
            let words: Vec<PathBuf> = words.iter().map(PathBuf::from).collect();
            let expected = expected.map(|files| files.iter().map(|file| root.join(file)).collect::<Vec<_>>());
            assert_eq!(find(&words, &root), expected.map_err(str::to_string));
        };
        let (whole, one) = (root.display().to_string(), root.join("b/one.test").display().to_string());
        check(&[&whole], Ok(&["b/deep/two.test", "b/one.test", "top.test"]));
        check(&["two", &one, "one"], Ok(&["b/deep/two.test", "b/one.test"]));
        check(&["three"], Err("three: no such script"));
        fs::write(root.join("b/top.test"), "").unwrap();
        let (first, second) = (root.join("b/top.test"), root.join("top.test"));
        let same = format!("{} and {} have the same name: their databases would be one", first.display(), second.display());
        check(&[&whole], Err(&same));
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn heads_say_how_a_script_runs() {
        let check = |text, alone, own| assert_eq!(Head::parse(text), Head { alone, own, text_only: false });
        check("# Modes. Runs alone.\n\nstatement ok\nSELECT 1\n", true, false);
        check("# Refusals.\n# Not recorded from MySQL.\nstatement ok\nSELECT 1\n", false, true);
        check("# Joins.\n\n# Runs alone. Not recorded from MySQL.\n", false, false);
    }
}
