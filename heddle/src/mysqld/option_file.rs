//! MySQL's option files, `my.cnf`: <https://dev.mysql.com/doc/refman/8.4/en/option-files.html>.
//!
//! 1. `[group]` begins a group; of the server are `[mysqld]`, `[server]` and `[mysqld-8.4]`, each also with the suffix that was asked for.
//! 2. `name` or `name = value` is an option as on the command line, without dashes. A value may be quoted and has escapes.
//! 3. `!include FILE` and `!includedir DIRECTORY` (its files that end in `.cnf`, by name) are read where they stand.
//!
//! O1: files include files to a depth of [`DEPTH_MAX`]; one that everybody may write is left out, with a warning.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const DEPTH_MAX: usize = 10;
const GROUPS: &[&str] = &["mysqld", "server", "mysqld-8.4"];

/// An option of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub value: Option<String>,
    /// File and line, for people.
    pub origin: String,
}

/// Reads a file with all that it includes.
///
/// # Errors
/// A line with the place of the mistake.
pub fn read(path: &Path, suffix: &str, warnings: &mut Vec<String>) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    read_into(path, suffix, 0, &mut entries, warnings)?;
    Ok(entries)
}

fn read_into(
    path: &Path,
    suffix: &str,
    depth: usize,
    entries: &mut Vec<Entry>,
    warnings: &mut Vec<String>,
) -> Result<(), String> {
    let cannot = |e: std::io::Error| format!("cannot read the option file {}: {e}", path.display());
    if depth > DEPTH_MAX {
        return Err(format!("{}: files include each other more than {DEPTH_MAX} deep", path.display()));
    }
    let mode = std::fs::metadata(path).map_err(cannot)?.permissions().mode();
    if mode & 0o002 != 0 {
        warnings.push(format!("{} is ignored, since everybody may write it", path.display()));
        return Ok(());
    }
    let text = std::fs::read_to_string(path).map_err(cannot)?;
    let mut is_ours = false;
    for (index, line) in text.lines().enumerate() {
        let origin = format!("{}, line {}", path.display(), index + 1);
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(file) = directive(line, "!includedir") {
            for file in files_of(Path::new(file)).map_err(|e| format!("{origin}: cannot read {file}: {e}"))? {
                read_into(&file, suffix, depth + 1, entries, warnings)?;
            }
        } else if let Some(file) = directive(line, "!include") {
            read_into(Path::new(file), suffix, depth + 1, entries, warnings)?;
        } else if let Some(rest) = line.strip_prefix('[') {
            let group = rest.split_once(']').ok_or_else(|| format!("{origin}: the group has no ]"))?.0.trim();
            is_ours = GROUPS.iter().any(|own| group == *own || (!suffix.is_empty() && group.strip_suffix(suffix) == Some(own)));
        } else if is_ours {
            let (name, value) = option(line);
            entries.push(Entry { name, value, origin });
        }
    }
    Ok(())
}

fn directive<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(name)?;
    rest.starts_with([' ', '\t']).then(|| rest.trim())
}

fn files_of(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "cnf") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A name, and its value without quotes, escapes and what follows a #.
fn option(line: &str) -> (String, Option<String>) {
    let Some((name, value)) = line.split_once('=') else {
        return (without_comment(line).trim().to_owned(), None);
    };
    let value = value.trim();
    let text = match value.chars().next() {
        Some(quote @ ('\'' | '"')) => match value[1..].rfind(quote) {
            Some(end) => &value[1..=end],
            None => value,
        },
        _ => without_comment(value).trim(),
    };
    (name.trim().to_owned(), Some(unescape(text)))
}

fn without_comment(text: &str) -> &str {
    text.split_once('#').map_or(text, |(before, _)| before)
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            plain.push(sign);
            continue;
        }
        match signs.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('r') => plain.push('\r'),
            Some('b') => plain.push('\u{8}'),
            Some('s') => plain.push(' '),
            Some('\\') | None => plain.push('\\'),
            Some(quote @ ('\'' | '"')) => plain.push(quote),
            Some(other) => plain.extend(['\\', other]),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_a_line() {
        let check = |line: &str, name: &str, value: Option<&str>| {
            assert_eq!(option(line), (name.to_owned(), value.map(str::to_owned)), "{line}");
        };
        check("skip-name-resolve", "skip-name-resolve", None);
        check("skip-name-resolve # why", "skip-name-resolve", None);
        check("port = 3307 # a port", "port", Some("3307"));
        check("sql_mode=\"\"", "sql_mode", Some(""));
        check("init = 'a # b'  # c", "init", Some("a # b"));
        check("path=C:\\\\data\\s1", "path", Some("C:\\data 1"));
        check("empty =", "empty", Some(""));
        check("broken = 'a", "broken", Some("'a"));
    }

    #[test]
    fn files_include_files() {
        let root = std::env::temp_dir().join(format!("heddle-option-file-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(root.join("conf.d")).unwrap();
        let put = |name: &str, text: &str| std::fs::write(root.join(name), text).unwrap();
        put("conf.d/b.cnf", "[mysqld]\nb=2\n[client]\nno=1\n");
        put("conf.d/a.cnf", "[server]\na=1\n[mysqld_1]\ns=1\n");
        put("conf.d/not.txt", "[mysqld]\nno=1\n");
        put("open.cnf", "[mysqld]\nno=1\n");
        std::fs::set_permissions(root.join("open.cnf"), std::fs::Permissions::from_mode(0o666)).unwrap();
        put(
            "my.cnf",
            &format!(
                "# head\n[mysql]\nno=1\n[mysqld]\nfirst\n!includedir {0}/conf.d\n!include {0}/open.cnf\nlast=1\n",
                root.display()
            ),
        );
        let mut warnings = Vec::new();
        let names = |suffix: &str, warnings: &mut Vec<String>| -> Vec<String> {
            read(&root.join("my.cnf"), suffix, warnings).unwrap().into_iter().map(|entry| entry.name).collect()
        };
        assert_eq!(names("", &mut warnings), ["first", "a", "b", "last"]);
        assert_eq!(names("_1", &mut warnings), ["first", "a", "s", "b", "last"]);
        assert!(warnings[0].ends_with("open.cnf is ignored, since everybody may write it"), "{warnings:?}");
        put("loop.cnf", &format!("!include {}/loop.cnf\n", root.display()));
        assert!(read(&root.join("loop.cnf"), "", &mut warnings).unwrap_err().contains("more than 10 deep"));
        put("group.cnf", "\n[mysqld\n");
        assert!(read(&root.join("group.cnf"), "", &mut warnings).unwrap_err().ends_with("group.cnf, line 2: the group has no ]"));
        std::fs::remove_dir_all(&root).unwrap();
    }
}
