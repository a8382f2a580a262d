//! The settings file: TOML, one `key = value` per setting, the keys those of the flags.
//!
//! Values are kept as text with the line they stand on, so that they are read by the same rules as flags.

use std::collections::BTreeMap;
use std::path::Path;
use toml::{Spanned, Value};

/// A value of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub text: String,
    /// From 1.
    pub line: usize,
}

const MYSQL_SECTIONS: &[&str] = &["[mysqld]", "[mysql]", "[client]", "[server]", "[mysqld_safe]", "[mariadb]", "[mariadbd]"];

/// Reads a file; the message of an error names file and line.
pub fn read(path: &Path, keys: &[&'static str]) -> Result<BTreeMap<&'static str, Entry>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read the settings file {}: {e}", path.display()))?;
    parse(&text, keys).map_err(|(line, message)| format!("{}, line {line}: {message}", path.display()))
}

fn parse(text: &str, keys: &[&'static str]) -> Result<BTreeMap<&'static str, Entry>, (usize, String)> {
    let line_of = |offset: usize| 1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|&&b| b == b'\n').count();
    // Of MySQL's option files, which have other rules, the first section says what they are.
    let section = text.lines().position(|line| MYSQL_SECTIONS.contains(&line.trim()));
    let of_mysql = |line: usize| {
        (
            line + 1,
            format!(
                "{} is a section of MySQL's option files: here each line is 'name = value', without sections, and the names are those of the \
                            flags ('heddle serve --help' lists them)",
                text.lines().nth(line).unwrap_or_default().trim()
            ),
        )
    };
    if let Some(line) = section {
        return Err(of_mysql(line));
    }
    let table: BTreeMap<String, Spanned<Value>> = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(span.start));
        (line, error.message().lines().collect::<Vec<_>>().join("; "))
    })?;
    let mut entries = BTreeMap::new();
    for (key, value) in table {
        let line = line_of(value.span().start);
        let known = keys.iter().find(|known| **known == key.replace('_', "-"));
        let known = *known.ok_or_else(|| match crate::settings::word_for_mysql_option(&key) {
            Some(word) => (line, format!("there is no setting '{key}': {word}")),
            None => (line, format!("there is no setting '{key}'; known are {}", keys.join(", "))),
        })?;
        let text = match value.into_inner() {
            Value::String(text) => text,
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Boolean(on) => on.to_string(),
            other => return Err((line, format!("'{key}' takes a text or a number, not a {}", other.type_str()))),
        };
        if entries.insert(known, Entry { text, line }).is_some() {
            return Err((line, format!("'{known}' is given twice")));
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &[&str] = &["port", "data-dir", "buffer-pool"];

    #[test]
    fn values_keep_their_lines() {
        let entries = parse("# settings\nport = 3307\n\ndata_dir = '/srv'\nbuffer-pool = \"4G\"\n", KEYS).unwrap();
        let entry = |text: &str, line| Entry { text: text.to_owned(), line };
        assert_eq!(entries["port"], entry("3307", 2));
        assert_eq!(entries["data-dir"], entry("/srv", 4));
        assert_eq!(entries["buffer-pool"], entry("4G", 5));
    }

    #[test]
    fn mistakes_name_their_lines() {
        let check = |text: &str, line: usize, message: &str| {
            let (at, found) = parse(text, KEYS).unwrap_err();
            assert_eq!(at, line, "{text}: {found}");
            assert!(found.contains(message), "{found}");
            assert_eq!(found.lines().count(), 1);
        };
        check("port = 1\nprot = 2\n", 2, "there is no setting 'prot'; known are port, data-dir, buffer-pool");
        check("port = 1\nport = 2\n", 2, "duplicate key");
        check("\ndata-dir = '/a'\ndata_dir = '/b'\n", 3, "given twice");
        check("port = [1]\n", 1, "'port' takes a text or a number, not a array");
        check("port = 1\n\nbuffer-pool = 4G\n", 3, "");
        check("[serve]\nport = 1\n", 1, "no setting 'serve'");
        check("port 1", 1, "");
        check("# my.cnf\n[mysqld]\nskip-name-resolve\nport = 3307\n", 2, "[mysqld] is a section of MySQL's option files");
        check("datadir = '/srv'\n", 1, "there is no setting 'datadir': the place of the data is --data-dir");
        check("user = 'mysql'\n", 1, "there is no setting 'user': Heddle runs as the user who starts it");
    }

    #[test]
    fn a_missing_file_is_named() {
        let message = read(Path::new("/nonexistent/heddle.toml"), KEYS).unwrap_err();
        assert!(message.starts_with("cannot read the settings file /nonexistent/heddle.toml: "), "{message}");
    }
}
