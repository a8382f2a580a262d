//! What a test file of MySQL's own test suite says, as far as statements go.
//!
//! The language is that of `mysqltest` (MySQL's manual of its test framework): statements up to a delimiter, and commands between them, which
//! begin with `--` or with a word of their own. Read here: `delimiter`, `let` of plain values, `eval`, `connect`, `connection`, `disconnect`
//! and `source`. Blocks of `if` and `while`, and text for other programs, are passed over.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// One step of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Statement(String),
    Connect { name: String, user: String, password: String, database: String },
    Connection(String),
    Disconnect(String),
}

/// A test, or why it is not replayed.
pub enum Read {
    Steps(Vec<Step>),
    Skipped(&'static str),
}

/// How deep files may include others.
const DEPTH_MAX: usize = 4;

/// What a test names that cannot be replayed on two running servers.
const NOT_REPLAYED: [&str; 25] = [
    "have_hypergraph",
    "have_debug",
    "debug_sync",
    "restart_mysqld",
    "have_ndb",
    "have_log_bin",
    "binlog",
    "install plugin",
    "install component",
    "keyring",
    "expect_crash",
    "shutdown",
    "have_plugin",
    "have_component",
    "rpl_",
    "mysqlx",
    "have_mysqlx",
    "load_sysvars",
    "--exec ",
    "kill_mysqld",
    "start_mysqld",
    "big_test",
    "count_sessions_extra",
    "have_example",
    "purge binary",
];

/// Beginnings of names of tests that are about what docs/COMPATIBILITY.md says is not there, or that want a configuration of their own.
const FEATURES_NOT_THERE: [(&str, &[&str]); 9] = [
    (
        "character sets",
        &[
            "ctype_big5",
            "ctype_cp",
            "ctype_euc",
            "ctype_gb",
            "ctype_hebrew",
            "ctype_ja",
            "ctype_latin2",
            "ctype_recoding",
            "ctype_sjis",
            "ctype_tis620",
            "ctype_ucs",
            "ctype_ujis",
            "ctype_utf16",
            "ctype_utf32",
            "ctype_filename",
            "ctype_filesystem",
            "ctype_uca_ja",
        ],
    ),
    ("engines", &["archive", "blackhole", "csv", "engine_attribute", "merge", "myisam", "ndb", "partition_archive"]),
    ("spatial types", &["gis", "spatial", "sp_gis", "subselect_gis"]),
    ("full-text indexes", &["fulltext"]),
    (
        "statements and functions",
        &[
            "explain_json",
            "handler",
            "help",
            "histogram_update_using_data",
            "loadxml",
            "opt_trace",
            "optimizer_trace",
            "xa",
            "xml",
            "etag",
            "current_authid_in_functions",
            "information_schema_libraries",
            "multi_valued",
            "udf",
            "clone",
            "foreign_key_sql",
            "explain_tree",
            "import_",
            "innodb_explain_json",
            "type_vector",
            "tablesample",
            "masking_policy",
        ],
    ),
    ("routines in other languages", &["sp-external", "external_routine", "library"]),
    ("tables of the server itself", &["system_mysql_db"]),
    ("resource groups", &["resource_group"]),
    ("MySQL's configuration", &["connection_compression", "log_", "named_pipe", "plugin", "ssl"]),
];
/// Ends of these names.
const NAMES_NOT_THERE: [(&str, &str); 3] =
    [("_myisam", "engines"), ("_hypergraph", "the hypergraph optimizer"), ("_ndb", "engines")];

/// Commands of one line, or up to the delimiter, that do nothing here.
const COMMANDS: [&str; 66] = [
    "echo",
    "error",
    "sleep",
    "real_sleep",
    "inc",
    "dec",
    "die",
    "skip",
    "exit",
    "exec",
    "execw",
    "exec_in_background",
    "system",
    "remove_file",
    "remove_files_wildcard",
    "copy_file",
    "copy_files_wildcard",
    "move_file",
    "mkdir",
    "rmdir",
    "force-rmdir",
    "force-cpdir",
    "list_files",
    "list_files_write_file",
    "list_files_append_file",
    "file_exists",
    "cat_file",
    "diff_files",
    "chmod",
    "disable_query_log",
    "enable_query_log",
    "disable_result_log",
    "enable_result_log",
    "disable_warnings",
    "enable_warnings",
    "disable_info",
    "enable_info",
    "disable_metadata",
    "enable_metadata",
    "disable_abort_on_error",
    "enable_abort_on_error",
    "disable_reconnect",
    "enable_reconnect",
    "disable_ps_protocol",
    "enable_ps_protocol",
    "disable_session_track_info",
    "enable_session_track_info",
    "disable_rpl_parse",
    "enable_rpl_parse",
    "disable_async_client",
    "enable_async_client",
    "disable_connect_log",
    "enable_connect_log",
    "replace_result",
    "replace_column",
    "replace_regex",
    "replace_numeric_round",
    "sorted_result",
    "partially_sorted_result",
    "lowercase_result",
    "horizontal_results",
    "vertical_results",
    "result_format",
    "character_set",
    "query_get_value",
    "assert",
];

/// More commands, that change what follows.
const OTHERS: [&str; 14] = [
    "reset_connection",
    "change_user",
    "ping",
    "send_quit",
    "output",
    "output_old",
    "expr",
    "require",
    "start_timer",
    "end_timer",
    "dirty_close",
    "disable_testcase",
    "enable_testcase",
    "query_attributes",
];

/// Reads a test and the files that it includes.
pub fn read(path: &Path, suite: &Path) -> Result<Read, String> {
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(what) = not_there(&name) {
        return Ok(Read::Skipped(what));
    }
    let text = load(path)?;
    let lower = text.to_ascii_lowercase();
    if let Some(word) = NOT_REPLAYED.iter().find(|word| lower.contains(*word)) {
        return Ok(Read::Skipped(word));
    }
    for extension in ["-master.opt", ".cnf", "-client.opt", "-master.sh"] {
        if path.with_file_name(format!("{name}{extension}")).exists() {
            return Ok(Read::Skipped("options of the server"));
        }
    }
    let mut reader = Reader { suite, variables: HashMap::new(), delimiter: ";".to_owned(), steps: Vec::new() };
    match reader.file(&text, 0) {
        Ok(()) => Ok(Read::Steps(reader.steps)),
        Err(why) => Ok(Read::Skipped(why)),
    }
}

/// Which feature that is not there the test of a name is about.
fn not_there(name: &str) -> Option<&'static str> {
    let begun = FEATURES_NOT_THERE.iter().find(|(_, starts)| starts.iter().any(|start| name.starts_with(start)));
    begun.map(|(what, _)| *what).or_else(|| NAMES_NOT_THERE.iter().find(|(end, _)| name.ends_with(end)).map(|(_, what)| *what))
}

/// Bytes that are no UTF-8 become U+FFFD; statements that have it are not replayed.
fn load(path: &Path) -> Result<String, String> {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(|e| format!("{}: {e}", path.display()))
}

struct Reader<'a> {
    suite: &'a Path,
    /// Those whose value is known.
    variables: HashMap<String, String>,
    delimiter: String,
    steps: Vec<Step>,
}

impl Reader<'_> {
    fn file(&mut self, text: &str, depth: usize) -> Result<(), &'static str> {
        let mut lines = text.lines();
        let mut pending = String::new();
        while let Some(line) = lines.next() {
            let trimmed = line.trim();
            if pending.is_empty() {
                if trimmed.is_empty() || trimmed.starts_with('#') {
                    continue;
                }
                if let Some(command) = trimmed.strip_prefix("--") {
                    self.command(command.trim().trim_end_matches(';'), &mut lines, depth)?;
                    continue;
                }
                let word = first_word(trimmed);
                if ["if", "while"].contains(&&*word) && trimmed.contains('(') {
                    skip_block(trimmed, &mut lines)?;
                    continue;
                }
                if trimmed == "}" {
                    continue;
                }
            }
            if !pending.is_empty() {
                pending.push('\n');
            }
            pending.push_str(if pending.is_empty() { line.trim_start() } else { line });
            while let Some(end) = end_of(&pending, &self.delimiter) {
                let statement = pending[..end].trim().to_owned();
                pending = pending[end + self.delimiter.len()..].trim_start().to_owned();
                self.piece(&statement, &mut lines, depth)?;
                if pending.starts_with('#') {
                    pending.clear();
                }
            }
        }
        Ok(())
    }

    /// A statement, or a command that ends like one.
    fn piece<'l>(&mut self, text: &str, lines: &mut impl Iterator<Item = &'l str>, depth: usize) -> Result<(), &'static str> {
        if text.is_empty() {
            return Ok(());
        }
        let word = first_word(text);
        let is_command = [
            "let",
            "eval",
            "source",
            "connect",
            "connection",
            "disconnect",
            "delimiter",
            "send",
            "reap",
            "perl",
            "write_file",
            "append_file",
            "query",
            "query_vertical",
            "query_horizontal",
            "send_eval",
            "if",
            "while",
        ]
        .contains(&&*word)
            || COMMANDS.contains(&&*word)
            || OTHERS.contains(&&*word);
        // `connect` and the like are no statements of SQL; some words are both.
        if is_command && !["change", "skip"].contains(&&*word) {
            self.command(text, lines, depth)
        } else {
            self.push(text);
            Ok(())
        }
    }

    /// A statement, unless it has bytes that were not UTF-8.
    fn push(&mut self, statement: &str) {
        if !statement.contains(char::REPLACEMENT_CHARACTER) {
            self.steps.push(Step::Statement(statement.to_owned()));
        }
    }

    fn command<'l>(&mut self, text: &str, lines: &mut impl Iterator<Item = &'l str>, depth: usize) -> Result<(), &'static str> {
        let word = first_word(text);
        let rest = text[word.len().min(text.len())..].trim();
        match &*word {
            "delimiter" => self.delimiter = rest.split_whitespace().next().unwrap_or(";").to_owned(),
            "let" => self.set(rest),
            "eval" | "query" | "query_vertical" | "query_horizontal" => {
                let known = if word == "eval" { self.expand(rest) } else { Some(rest.to_owned()) };
                if let Some(statement) = known {
                    self.push(statement.trim_end_matches(&*self.delimiter));
                }
            }
            "send" | "reap" | "send_eval" => return Err("statements that are sent and fetched later"),
            "source" => return self.include(rest, depth),
            "connect" => self.connect(rest)?,
            "connection" => self.steps.push(Step::Connection(rest.to_owned())),
            "disconnect" => self.steps.push(Step::Disconnect(rest.to_owned())),
            "perl" | "write_file" | "append_file" => {
                let end = if word == "perl" { rest } else { rest.split_whitespace().nth(1).unwrap_or("") };
                let end = if end.is_empty() { "EOF" } else { end };
                lines.by_ref().find(|line| line.trim() == end);
            }
            "if" | "while" => skip_block(text, lines)?,
            "exec" | "execw" | "system" => return Err("other programs"),
            "change_user" | "reset_connection" | "send_quit" => return Err("changes of the connection's user"),
            word if COMMANDS.contains(&word) || OTHERS.contains(&word) => {}
            // As for mysqltest, what follows `--` may be a statement's comment.
            _ => {}
        }
        Ok(())
    }

    /// `$name = value`
    fn set(&mut self, text: &str) {
        let Some((name, value)) = text.split_once('=') else { return };
        let name = name.trim().trim_start_matches('$').to_owned();
        let value = value.trim();
        match (value.contains('`') || value.starts_with("query_get_value"), self.expand(value)) {
            (false, Some(value)) => drop(self.variables.insert(name, value)),
            _ => drop(self.variables.remove(&name)),
        }
    }

    /// Puts variables in; `None`: one is not known.
    fn expand(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            let length = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
            match length {
                0 => out.push('$'),
                _ => out.push_str(self.variables.get(&after[..length])?),
            }
            rest = &after[length..];
        }
        out.push_str(rest);
        Some(out)
    }

    fn include(&mut self, name: &str, depth: usize) -> Result<(), &'static str> {
        let Some(name) = self.expand(name) else { return Ok(()) };
        let file = name.trim().trim_matches('"');
        // What they check, wait for or restore is of MySQL's own framework.
        if file.contains("have_") || file.contains("not_") || file.contains("count_sessions") || file.contains("wait_") {
            return Ok(());
        }
        if depth == DEPTH_MAX {
            return Err("deep includes");
        }
        let Ok(text) = load(&self.suite.join(file)) else { return Err("an include that is not there") };
        self.file(&text, depth + 1)
    }

    /// `(name,host,user,password,database,...)`
    fn connect(&mut self, text: &str) -> Result<(), &'static str> {
        let Some(text) = self.expand(text) else { return Err("a connection by variables") };
        let inner = text.trim().trim_start_matches('(').trim_end_matches(')');
        let mut parts = inner.split(',').map(|part| part.trim().trim_matches(|c| c == '\'' || c == '"').to_owned());
        let (Some(name), Some(_)) = (parts.next(), parts.next()) else { return Err("a connection without a host") };
        let user = parts.next().filter(|user| !user.is_empty()).unwrap_or_else(|| "root".to_owned());
        let (password, database) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        self.steps.push(Step::Connect { name, user, password, database });
        Ok(())
    }
}

fn first_word(text: &str) -> String {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').unwrap_or(text.len());
    text[..end].to_ascii_lowercase()
}

/// Passes over a block in braces, whose head is there.
fn skip_block<'l>(head: &str, lines: &mut impl Iterator<Item = &'l str>) -> Result<(), &'static str> {
    let depth_of = |line: &str| match line.trim() {
        line if line.starts_with('#') => 0,
        line => i64::from(line.ends_with('{')) - i64::from(line.starts_with('}')),
    };
    let mut depth = depth_of(head);
    let mut has_begun = depth > 0 || head.contains('{');
    while !has_begun || depth > 0 {
        let Some(line) = lines.next() else { return Err("a block without an end") };
        depth += depth_of(line);
        has_begun |= depth > 0;
    }
    Ok(())
}

/// Where the delimiter stands that ends the first statement, outside of quotes and comments.
fn end_of(text: &str, delimiter: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut quote = None;
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(_), b'\\') => at += 1,
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, byte @ (b'\'' | b'"' | b'`')) => quote = Some(byte),
            (None, b'#') | (None, b'-') if bytes[at] == b'#' || bytes[at..].starts_with(b"-- ") => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            (None, b'/') if bytes[at..].starts_with(b"/*") => {
                at += text[at..].find("*/").map_or(text.len() - at, |end| end + 2);
                continue;
            }
            (None, _) if bytes[at..].starts_with(delimiter.as_bytes()) => return Some(at),
            (None, _) => {}
        }
        at += 1;
    }
    None
}

/// The tests of folders, by name.
pub fn tests_of(suite: &Path, folders: &[String], only: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let Ok(entries) = std::fs::read_dir(suite.join(folder)) else { continue };
        let is_test = |path: &PathBuf| path.extension().is_some_and(|e| e == "test");
        files.extend(entries.flatten().map(|entry| entry.path()).filter(is_test));
    }
    files.retain(|path| path.file_stem().is_some_and(|stem| stem.to_string_lossy().contains(only)));
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let mut reader =
            Reader { suite: Path::new("."), variables: HashMap::new(), delimiter: ";".to_owned(), steps: Vec::new() };
        reader.file(text, 0).expect("reads");
        let found: Vec<String> = reader
            .steps
            .iter()
            .map(|step| if let Step::Statement(sql) = step { sql.clone() } else { format!("{step:?}") })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn statements_and_commands() {
        check("--disable_warnings\nDROP TABLE t;\n# c\nSELECT ';', 1; SELECT 2;", &["DROP TABLE t", "SELECT ';', 1", "SELECT 2"]);
        check("let $a= 5;\n--let $b = x\neval SELECT $a, '$b';\neval SELECT $c;", &["SELECT 5, 'x'"]);
        check(
            "delimiter |;\nCREATE PROCEDURE p() BEGIN SELECT 1; END|\ndelimiter ;|\nCALL p();",
            &["CREATE PROCEDURE p() BEGIN SELECT 1; END", "CALL p()"],
        );
        check("if (`SELECT 1`)\n{\n  SELECT 1;\n}\nwhile ($i) {\nSELECT 2;\n}\nSELECT 3;", &["SELECT 3"]);
        check("--write_file x EOF\nSELECT 1;\nEOF\nSELECT\n2;", &["SELECT\n2"]);
    }
}
