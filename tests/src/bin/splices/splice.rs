//! Statements as tokens, where they come from, and how two become one.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use std::path::Path;

/// Values at the ends of ranges.
const HOSTILE: &[&str] = &[
    "NULL",
    "0",
    "-1",
    "''",
    "' '",
    "18446744073709551615",
    "-9223372036854775808",
    "9223372036854775808",
    "1e308",
    "-1e-308",
    "0.0",
    "99999999999999999999999999999999999.999999999999999999999999999999",
    "'9999-12-31 23:59:59.999999'",
    "'0000-00-00'",
    "TIME'-838:59:59'",
    "DATE'2024-02-29'",
    "x'FF'",
    "b'1'",
    "_latin1'\u{e9}'",
    "'\u{1f600}'",
    "'[1,{\"a\":[]}]'",
    "JSON_ARRAY()",
    "JSON_OBJECT('a', NULL)",
    "REPEAT('a', 70000)",
    "@nothing",
    "@@sql_mode",
    "(SELECT 1)",
    "(SELECT 1 UNION SELECT 2)",
    "ROW(1, 2)",
    "DEFAULT",
    "*",
    "TRUE",
    "?",
    "INTERVAL 1 DAY",
    "CAST(NULL AS JSON)",
    "CAST('a' AS BINARY)",
    "LIMIT 0",
    "GROUP BY 1 WITH ROLLUP",
    "FOR UPDATE SKIP LOCKED",
    "OVER ()",
];

/// Tokens of a statement.
#[derive(Clone, Debug)]
pub struct Statement(Vec<String>);

impl Statement {
    pub fn text(&self) -> String {
        self.0.concat()
    }
}

/// The statements of each script.
pub fn read(folder: &Path) -> Result<Vec<Vec<Statement>>, String> {
    let mut scripts = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "test") {
                let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
                scripts.push(statements(&text));
            }
        }
    }
    scripts.retain(|script| !script.is_empty());
    if scripts.is_empty() { Err(format!("no scripts in {}", folder.display())) } else { Ok(scripts) }
}

/// A record begins with `statement` or `query`; its text ends at an empty line or at `----`.
fn statements(script: &str) -> Vec<Statement> {
    let mut all = Vec::new();
    let mut lines = script.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("statement") || line.starts_with("query") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty() && *line != "----").collect();
            all.push(Statement(tokens(&text.join("\n"))));
        }
    }
    all
}

/// Words, numbers, texts in quotes, spaces, and single characters.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        let mut token = String::from(first);
        if matches!(first, '\'' | '"' | '`') {
            while let Some(next) = chars.next() {
                token.push(next);
                if next == '\\' {
                    token.extend(chars.next());
                } else if next == first {
                    break;
                }
            }
        } else {
            let kind =
                |c: char| if c.is_alphanumeric() || matches!(c, '_' | '@' | '$') { 1 } else { u8::from(c.is_whitespace()) * 2 };
            while kind(first) > 0
                && let Some(next) = chars.next_if(|next| kind(*next) == kind(first))
            {
                token.push(next);
            }
        }
        tokens.push(token);
    }
    tokens
}

/// The statement, changed in a few places.
pub fn splice(statement: &Statement, other: &Statement, random: &mut StdRng) -> Statement {
    let mut tokens = statement.0.clone();
    for _ in 0..random.random_range(1..=3) {
        if tokens.is_empty() {
            break;
        }
        let at = random.random_range(0..tokens.len());
        let end = (at + random.random_range(1..=6)).min(tokens.len());
        match random.random_range(0..8) {
            0 => drop(tokens.drain(at..end)),
            1 => {
                let piece = tokens[at..end].to_vec();
                tokens.splice(end..end, piece);
            }
            2 => {
                let piece = tokens[at..end].to_vec();
                let to = random.random_range(0..=tokens.len());
                tokens.splice(to..to, piece);
            }
            3 | 4 => {
                let value = HOSTILE.choose(random).copied().unwrap_or("NULL");
                let place = (at..tokens.len()).find(|n| is_value(&tokens[*n])).unwrap_or(at);
                tokens[place] = format!(" {value} ");
            }
            5 => {
                let value = HOSTILE.choose(random).copied().unwrap_or("NULL");
                tokens.insert(at, format!(" {value} "));
            }
            _ => {
                let from = random.random_range(0..other.0.len().max(1)).min(other.0.len());
                let to = (from + random.random_range(1..=12)).min(other.0.len());
                tokens.splice(at..end, other.0[from..to].iter().cloned());
            }
        }
    }
    Statement(tokens)
}

fn is_value(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '\'' | '"')) || token.eq_ignore_ascii_case("NULL")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn tokens_make_the_text_again() {
        for text in ["SELECT 'it''s' , `a b`.c-1.5\n FROM t", "'\\'' x", "", "é 'unfinished"] {
            assert_eq!(tokens(text).concat(), text);
        }
        assert_eq!(tokens("a1+ 'x y'"), ["a1", "+", " ", "'x y'"]);
    }

    #[test]
    fn records_are_found() {
        let found = statements("# head\n\nstatement ok\nCREATE TABLE t\n(a INT)\n\nquery I\nSELECT 1\n----\n1\n");
        let texts: Vec<String> = found.iter().map(Statement::text).collect();
        assert_eq!(texts, ["CREATE TABLE t\n(a INT)", "SELECT 1"]);
    }

    #[test]
    fn a_seed_repeats_its_statement() {
        let statement = Statement(tokens("SELECT a FROM t WHERE b = 'x' ORDER BY 1"));
        let make = |seed| splice(&statement, &statement, &mut StdRng::seed_from_u64(seed)).text();
        assert!((0..50).all(|seed| make(seed) == make(seed)));
        assert!((0..50).any(|seed| make(seed) != statement.text()));
    }
}
