//! SHOW CREATE under ANSI_QUOTES and ANSI: names stand in `"`, and the options of a table are left out under ANSI.
//!
//! The statements are made with backticks; a name is what stands between two of them outside of texts. Expressions of columns, keys and
//! checks keep their backticks, as in MySQL, which shows them as they were kept.

use crate::session::State;

/// `sql_mode` has ANSI itself, not only what it stands for.
const ANSI_BIT: u32 = 18;

/// What stands before the parenthesis of an expression.
const BEFORE_EXPRESSIONS: [&str; 4] = ["AS ", "CHECK ", "DEFAULT ", "("];

/// A statement of SHOW CREATE as the session's `sql_mode` wants it.
pub fn as_mode_says(state: &State, statement: String) -> String {
    if state.settings.mode.ansi_quotes { requoted(&statement, true) } else { statement }
}

/// The same for CREATE VIEW, in whose query all names are names.
pub fn view_as_mode_says(state: &State, statement: String) -> String {
    if state.settings.mode.ansi_quotes { requoted(&statement, false) } else { statement }
}

/// The same for CREATE TABLE.
pub fn table_as_mode_says(state: &State, statement: String) -> String {
    let statement = as_mode_says(state, statement);
    if !is_ansi(state) {
        return statement;
    }
    let Some(at) = statement.rfind("\n) ENGINE=").map(|at| at + "\n)".len()) else { return statement };
    let partitions = statement[at..].find("\n/*!50100 ").map_or("", |found| &statement[at + found..]);
    format!("{}{partitions}", &statement[..at])
}

/// Has the session's `sql_mode` ANSI?
pub fn is_ansi(state: &State) -> bool {
    state.mode_bits() & (1 << ANSI_BIT) != 0
}

fn requoted(statement: &str, keeps_expressions: bool) -> String {
    let mut out = String::with_capacity(statement.len());
    let mut rest = statement;
    // How many parentheses of an expression are open.
    let mut depth = 0;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '\'' => quoted_length(rest, '\'', true),
            '`' => quoted_length(rest, '`', false),
            _ => c.len_utf8(),
        };
        let (piece, behind) = rest.split_at(length);
        match c {
            '`' if depth == 0 => {
                let name = piece[1..piece.len() - 1].replace("``", "`").replace('"', "\"\"");
                out.push_str(&format!("\"{name}\""));
            }
            '(' if depth > 0 || keeps_expressions && BEFORE_EXPRESSIONS.iter().any(|before| out.ends_with(before)) => {
                depth += 1;
                out.push('(');
            }
            ')' if depth > 0 => {
                depth -= 1;
                out.push(')');
            }
            _ => out.push_str(piece),
        }
        rest = behind;
    }
    out
}

/// How long a text or name in quotes is, with its quotes; a doubled quote is one of its own, and so is an escaped one.
fn quoted_length(text: &str, quote: char, escapes: bool) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if escapes && c == '\\' {
            chars.next();
        } else if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return at + c.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_double_quotes() {
        let check = |statement: &str, expected: &str| assert_eq!(requoted(statement, true), expected);
        check("CREATE TABLE `a``b\"c` (\n  `x` int DEFAULT '`'", "CREATE TABLE \"a`b\"\"c\" (\n  \"x\" int DEFAULT '`'");
        check("  KEY `k` (`a`,`b`)", "  KEY \"k\" (\"a\",\"b\")");
        check("  KEY `k` ((`a` + 1))", "  KEY \"k\" ((`a` + 1))");
        check(
            "`b` int GENERATED ALWAYS AS ((`a` + 1)) VIRTUAL,\n `c` int",
            "\"b\" int GENERATED ALWAYS AS ((`a` + 1)) VIRTUAL,\n \"c\" int",
        );
        check("CHECK ((`a` <> _utf8mb4'it\\'s')), `b`", "CHECK ((`a` <> _utf8mb4'it\\'s')), \"b\"");
    }
}
