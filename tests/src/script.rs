//! Scripts: running them, recording their answers, and making them from plain SQL.
//!
//! A script (a `.test` file in a folder of `tests/sql`) has sqllogictest's format. Answers come from MySQL: `record` runs every record
//! against a reference server and writes its answers into the script. `import` makes a script from plain statements of one or more lines,
//! each ended by `;` at the end of a line:
//! - `# text` is a comment and is kept;
//! - `@name STATEMENT` runs on the connection of that name;
//! - `~STATEMENT` is a query whose rows come in any order;
//! - `DELIMITER x` makes `x` end statements from there on, for statements that contain semicolons.

use crate::driver::{Failure, Wired, drop_database, make_database};
use crate::server::Address;
use sqllogictest::{
    Connection, DB, DBOutput, DefaultColumnType, QueryExpect, Record, ResultMode, Runner, SortMode, StatementExpect,
    strict_column_validator,
};
use std::collections::HashMap;
use std::path::Path;

type Rec = Record<DefaultColumnType>;

/// How many records of a script held, and what failed.
#[derive(Debug, Default)]
pub struct Outcome {
    pub passed: usize,
    pub failures: Vec<String>,
}

/// The stem of a script's file name, which names its database.
pub fn name_of(path: &Path) -> String {
    path.file_stem().map(|s| s.to_string_lossy().replace(['-', '.'], "_")).unwrap_or_default()
}

/// Runs a script; a record that fails does not stop the next.
pub fn run(path: &Path, address: &Address, prepared: bool) -> Outcome {
    let mut outcome = Outcome::default();
    let name = name_of(path);
    if let Err(e) = make_database(address, &name) {
        outcome.failures.push(format!("{}: {e}", path.display()));
        return outcome;
    }
    let records = match sqllogictest::parse_file::<DefaultColumnType>(path) {
        Ok(records) => records,
        Err(e) => {
            outcome.failures.push(format!("{}: {e}", path.display()));
            return outcome;
        }
    };
    let mut runner = Runner::new(|| async { Wired::open(address, &name, prepared) });
    runner.with_column_validator(strict_column_validator);
    for record in records {
        let counts = matches!(record, Record::Statement { .. } | Record::Query { .. });
        match runner.run(record) {
            Ok(_) => outcome.passed += usize::from(counts),
            Err(e) => outcome.failures.push(format!("{}: {}", e.location(), one_line(&e.kind().to_string()))),
        }
    }
    drop(runner);
    if let Err(e) = drop_database(address, &name) {
        outcome.failures.push(format!("{}: {e}", path.display()));
    }
    outcome
}

fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    lines.join(" | ")
}

/// Writes down what the server answers to the records of a script.
pub fn record(path: &Path, address: &Address) -> Result<String, String> {
    let records = sqllogictest::parse_file::<DefaultColumnType>(path).map_err(|e| e.to_string())?;
    answer(records, address, &name_of(path))
}

/// A script with the server's answers, from plain SQL.
pub fn import(path: &Path, address: &Address) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let bare = statements(&text)?;
    let records = sqllogictest::parse::<DefaultColumnType>(&bare).map_err(|e| e.to_string())?;
    answer(records, address, &name_of(path))
}

/// Plain statements as records without answers.
fn statements(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut open = String::new();
    let mut end = ";";
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end();
        if let Some(delimiter) = line.strip_prefix("DELIMITER ")
            && open.is_empty()
        {
            end = delimiter.trim();
            continue;
        }
        if open.is_empty() && (line.is_empty() || line.starts_with('#')) {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        if line.is_empty() {
            return Err(format!("line {}: an empty line inside a statement", number + 1));
        }
        open.push_str(line);
        if let Some(whole) = open.strip_suffix(end) {
            push_statement(&mut out, whole);
            open.clear();
        } else {
            open.push('\n');
        }
    }
    if open.is_empty() { Ok(out) } else { Err(format!("unfinished statement: {open}")) }
}

fn push_statement(out: &mut String, mut sql: &str) {
    if let Some(rest) = sql.strip_prefix('@')
        && let Some((connection, rest)) = rest.split_once(' ')
        && connection.chars().all(char::is_alphanumeric)
    {
        out.push_str(&format!("connection {connection}\n"));
        sql = rest;
    }
    match sql.strip_prefix('~') {
        Some(sql) => out.push_str(&format!("query T rowsort\n{sql}\n\n")),
        None => out.push_str(&format!("statement ok\n{sql}\n\n")),
    }
}

fn answer(records: Vec<Rec>, address: &Address, name: &str) -> Result<String, String> {
    make_database(address, name).map_err(|e| e.to_string())?;
    let mut connections: HashMap<String, Wired> = HashMap::new();
    let mut out = Vec::new();
    for record in records {
        if matches!(record, Record::Injected(_)) {
            continue;
        }
        let record = answer_one(record, address, name, &mut connections)?;
        record.unparse(&mut out).map_err(|e| e.to_string())?;
        out.push(b'\n');
    }
    drop(connections);
    drop_database(address, name).map_err(|e| e.to_string())?;
    String::from_utf8(out).map_err(|e| e.to_string()).map(|text| tidy_blank_lines(&text))
}

/// One empty line between records, none at the end.
fn tidy_blank_lines(text: &str) -> String {
    let mut out = String::new();
    let mut empty = 1;
    for line in text.lines() {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.trim_end().to_string() + "\n"
}

fn answer_one(record: Rec, address: &Address, name: &str, connections: &mut HashMap<String, Wired>) -> Result<Rec, String> {
    let (loc, conditions, connection, sql, retry, sort) = match record {
        Record::Statement { loc, conditions, connection, sql, retry, .. } => (loc, conditions, connection, sql, retry, None),
        Record::Query { loc, conditions, connection, sql, retry, expected } => {
            let sort = match expected {
                QueryExpect::Results { sort_mode, .. } => sort_mode,
                QueryExpect::Error(_) => None,
            };
            (loc, conditions, connection, sql, retry, sort)
        }
        other => return Ok(other),
    };
    let key = match &connection {
        Connection::Default => String::new(),
        Connection::Named(name) => name.clone(),
    };
    if !connections.contains_key(&key) {
        connections.insert(key.clone(), Wired::open(address, name, false).map_err(|e| e.to_string())?);
    }
    let wired = connections.get_mut(&key).expect("it was inserted above");
    let expected = match wired.run(&sql) {
        Ok(DBOutput::Rows { types, rows }) => {
            let expected = QueryExpect::Results {
                types,
                sort_mode: sort,
                result_mode: None::<ResultMode>,
                label: None,
                results: written(rows, sort),
            };
            return Ok(Record::Query { loc, conditions, connection, sql, expected, retry });
        }
        Ok(DBOutput::StatementComplete(n)) if changes_rows(&sql) => StatementExpect::Count(n),
        Ok(_) => StatementExpect::Ok,
        Err(failure) if failure.code == 0 => return Err(format!("{loc}: {sql}: {failure}")),
        Err(failure) => StatementExpect::Error(expected_error(&failure)?),
    };
    Ok(Record::Statement { loc, conditions, connection, sql, expected, retry })
}

/// Rows as a script writes them.
fn written(mut rows: Vec<Vec<String>>, sort: Option<SortMode>) -> Vec<String> {
    if sort == Some(SortMode::RowSort) {
        rows.sort_unstable();
    }
    rows.iter().map(|row| row.join(" ")).collect()
}

fn changes_rows(sql: &str) -> bool {
    let word = sql.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
    matches!(word.as_str(), "INSERT" | "REPLACE" | "UPDATE" | "DELETE")
}

/// Errors whose message quotes the statement or another program's wording: syntax, numeric range, JSON text.
const QUOTING: &[u16] = &[1064, 1690, 3140];

/// Number and state always; the message where it is not a quotation of the statement's text.
fn expected_error(failure: &Failure) -> Result<sqllogictest::ExpectedError, String> {
    let head = format!("{} \\({}\\)", failure.code, failure.state);
    let quotes = QUOTING.contains(&failure.code);
    let pattern = if quotes { head } else { format!("{head}: {}", escape(&failure.message)) };
    let script = format!("statement error {pattern}\nSELECT 1\n");
    match sqllogictest::parse::<DefaultColumnType>(&script).map_err(|e| format!("{pattern}: {e}"))?.into_iter().next() {
        Some(Record::Statement { expected: StatementExpect::Error(error), .. }) => Ok(error),
        _ => Err(format!("{pattern}: not an error pattern")),
    }
}

/// Escapes a text for a regular expression.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out.replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_end_statements() {
        let text = "DELIMITER //\nCREATE PROCEDURE p()\nBEGIN\n  SELECT 1;\nEND//\nDELIMITER ;\nCALL p();\n";
        let expected = "statement ok\nCREATE PROCEDURE p()\nBEGIN\n  SELECT 1;\nEND\n\nstatement ok\nCALL p()\n\n";
        assert_eq!(statements(text).as_deref(), Ok(expected));
    }

    #[test]
    fn plain_statements_become_records() {
        let text = "# head\nSELECT 1;\n\n@b SELECT\n  2;\n~SELECT 3;\n";
        let expected =
            "# head\nstatement ok\nSELECT 1\n\n\nconnection b\nstatement ok\nSELECT\n  2\n\nquery T rowsort\nSELECT 3\n\n";
        assert_eq!(statements(text).as_deref(), Ok(expected));
        assert!(statements("SELECT 1").is_err());
    }
}
