//! SHOW CREATE under ANSI_QUOTES and ANSI: names are in `"`, and ANSI omits the options of a table.
//!
//! The statements are built with backticks; a name is the text between two of them outside of strings. Expressions of
//! columns, keys and checks keep their backticks, as in MySQL, which shows their stored text.

/// The text before the parenthesis of an expression.
const BEFORE_EXPRESSIONS: [&str; 4] = ["AS ", "CHECK ", "DEFAULT ", "("];

/// The quotes that the session's `sql_mode` requires in statements of SHOW CREATE.
#[derive(Clone, Copy, Debug)]
pub struct Quotes {
    /// ANSI_QUOTES
    pub double: bool,
    /// ANSI itself, which also sets other modes.
    pub ansi: bool,
}

impl Quotes {
    pub fn statement(self, statement: String) -> String {
        if self.double { requoted(&statement, true) } else { statement }
    }

    /// CREATE VIEW, whose query contains names with backticks only.
    pub fn view(self, statement: String) -> String {
        if self.double { requoted(&statement, false) } else { statement }
    }

    /// CREATE TABLE
    pub fn table(self, statement: String) -> String {
        let statement = self.statement(statement);
        if self.ansi { without_options(statement) } else { statement }
    }
}

fn without_options(statement: String) -> String {
    let Some(at) = statement.rfind("\n) ENGINE=").map(|at| at + "\n)".len()) else { return statement };
    let partitions = statement[at..].find("\n/*!50100 ").map_or("", |found| &statement[at + found..]);
    format!("{}{partitions}", &statement[..at])
}

fn requoted(statement: &str, keeps_expressions: bool) -> String {
    let mut out = String::with_capacity(statement.len());
    let mut rest = statement;
    // The number of open parentheses of an expression.
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

/// The length of a quoted string or name with its quotes; doubled and escaped quotes are part of it.
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
