//! Optimizer hints that set variables for one statement: `SELECT /*+ MAX_EXECUTION_TIME(1000) SET_VAR(sort_buffer_size
//! = 16M) */ ...`.
//!
//! 1. [`hints`] looks only after the first word of a statement, so most statements cost one look at that word.
//!    Parentheses, comments and WITH may come before the first word; the text is then scanned only if it contains a
//!    hint.
//! 2. The comment is read as a sequence of `name(...)`. MAX_EXECUTION_TIME sets a variable; SET_VAR names the variable.
//!    All other hints, and hints with syntax errors, are ignored.

use crate::keyword::Keyword;
use crate::lexer::{Lexer, Token};
use types::{SqlMode, Value};

/// A variable, and its value for the statement.
#[derive(Clone, Debug, PartialEq)]
pub struct HintedVariable {
    pub name: String,
    pub value: Value<'static>,
}

/// The settings of a statement's hints. `text` begins with the statement.
#[inline]
pub fn hints(text: &[u8]) -> Vec<HintedVariable> {
    let word = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let rest = text[word..].trim_ascii_start();
    match rest.strip_prefix(b"/*+") {
        Some(rest) if word > 0 => hinted(&text[..word], rest),
        _ if word == 0 || text[..word].eq_ignore_ascii_case(b"WITH") => hinted_within(text),
        _ => Vec::new(),
    }
}

/// Like [`hints`], if something comes before the first word of the query.
#[cold]
fn hinted_within(text: &[u8]) -> Vec<HintedVariable> {
    if !text.windows(3).any(|three| three == b"/*+") {
        return Vec::new();
    }
    let mut lexer = Lexer::new(text, &SqlMode::NONE);
    // Common table expressions are in parentheses.
    let (mut depth, mut with) = (0u32, None);
    loop {
        match lexer.next().0 {
            Token::LeftParen => depth += 1,
            Token::RightParen => depth = depth.saturating_sub(1),
            Token::Keyword(Keyword::With) if with.is_none() => with = Some(depth),
            Token::Keyword(Keyword::Select) if with.is_none_or(|around| around == depth) => {
                let rest = text[lexer.position()..].trim_ascii_start();
                return rest.strip_prefix(b"/*+").map_or_else(Vec::new, |rest| hinted(b"SELECT", rest));
            }
            Token::End | Token::Bad | Token::Semicolon => return Vec::new(),
            _ if with.is_none() => return Vec::new(),
            _ => {}
        }
    }
}

#[cold]
fn hinted(statement: &[u8], rest: &[u8]) -> Vec<HintedVariable> {
    let is = |word: &str| statement.eq_ignore_ascii_case(word.as_bytes());
    if !["SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE"].into_iter().any(is) {
        return Vec::new();
    }
    let Some(end) = rest.windows(2).position(|two| two == b"*/") else { return Vec::new() };
    let mut hints = Hints { lexer: Lexer::new(&rest[..end], &SqlMode::NONE), found: Vec::new() };
    while let Some(name) = hints.name() {
        if hints.lexer.next().0 != Token::LeftParen {
            break;
        }
        if name.eq_ignore_ascii_case("MAX_EXECUTION_TIME") {
            hints.execution_time(is("SELECT"));
        } else if name.eq_ignore_ascii_case("SET_VAR") {
            hints.variable();
        } else {
            hints.pass(1);
        }
    }
    hints.found
}

struct Hints<'a> {
    lexer: Lexer<'a>,
    found: Vec<HintedVariable>,
}

impl Hints<'_> {
    fn name(&mut self) -> Option<String> {
        let start = self.lexer;
        match self.lexer.next().0 {
            Token::Word(name) => Some(String::from_utf8_lossy(name).into_owned()),
            Token::Keyword(_) => {
                let mut before = start;
                let (_, begin) = before.next();
                Some(String::from_utf8_lossy(&start.text()[begin..self.lexer.position()]).into_owned())
            }
            _ => None,
        }
    }

    /// Skips past the parenthesis that closes `depth` open ones.
    fn pass(&mut self, mut depth: u32) {
        while depth > 0 {
            match self.lexer.next().0 {
                Token::LeftParen => depth += 1,
                Token::RightParen => depth -= 1,
                Token::End | Token::Bad => return,
                _ => {}
            }
        }
    }

    /// `1000)`; the first one counts.
    fn execution_time(&mut self, is_select: bool) {
        let value = self.value();
        let is_first = !self.found.iter().any(|hint| hint.name == "max_execution_time");
        if let Some(value @ Value::Int(_)) = value
            && is_select
            && is_first
        {
            self.found.push(HintedVariable { name: "max_execution_time".to_owned(), value });
        }
    }

    /// `name = value)`; the first one of a name counts.
    fn variable(&mut self) {
        let name = self.name().map(|name| name.to_ascii_lowercase());
        if name.is_none() || self.lexer.next().0 != Token::Equal {
            return self.pass(1);
        }
        if let (Some(name), Some(value)) = (name, self.value())
            && !self.found.iter().any(|hint| hint.name == name)
        {
            self.found.push(HintedVariable { name, value });
        }
    }

    /// A value and the closing parenthesis.
    fn value(&mut self) -> Option<Value<'static>> {
        let text = |bytes: &[u8]| Some(Value::Bytes(bytes.to_vec().into()));
        let start = self.lexer.position();
        let value = match self.lexer.next().0 {
            Token::RightParen => return None,
            Token::Int(digits) => std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).map(Value::Int),
            Token::Decimal(digits) => std::str::from_utf8(digits).ok().and_then(types::Decimal::parse_exact).map(Value::Decimal),
            Token::String { raw, escaped: false, .. } => text(raw),
            Token::Word(name) => suffixed(name).map(Value::Int).or_else(|| text(name)),
            Token::Keyword(_) => text(self.lexer.text()[start..self.lexer.position()].trim_ascii()),
            _ => None,
        };
        let closed = self.lexer.next().0 == Token::RightParen;
        if !closed {
            self.pass(1);
        }
        value.filter(|_| closed)
    }
}

/// `16M`
fn suffixed(word: &[u8]) -> Option<i64> {
    let (last, digits) = word.split_last()?;
    let shift = match last.to_ascii_uppercase() {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        _ => return None,
    };
    std::str::from_utf8(digits).ok()?.parse::<i64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, Value<'static>)]) {
        let found: Vec<_> = hints(text.as_bytes()).into_iter().map(|hint| (hint.name, hint.value)).collect();
        let expected: Vec<_> = expected.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn hints_set_variables() {
        let time = |ms| ("max_execution_time", Value::Int(ms));
        let bytes = |text: &'static str| Value::Bytes(text.as_bytes().into());
        check("SELECT a FROM t", &[]);
        check("select /*+ max_execution_time(100) */ 1", &[time(100)]);
        check("SELECT/*+ BKA(t1, t2) MAX_EXECUTION_TIME ( 5 ) MAX_EXECUTION_TIME(6) */ 1", &[time(5)]);
        check("UPDATE /*+ MAX_EXECUTION_TIME(5) */ t SET a = 1", &[]);
        check("SELECT /* a */ /*+ MAX_EXECUTION_TIME(5) */ 1", &[]);
        check(
            "SELECT /*+ SET_VAR(sql_mode = 'ANSI') SET_VAR(Sort_Buffer_Size=16M) */ 1",
            &[("sql_mode", bytes("ANSI")), ("sort_buffer_size", Value::Int(16 << 20))],
        );
        check("INSERT /*+ SET_VAR(foreign_key_checks=OFF) */ INTO t VALUES (1)", &[("foreign_key_checks", bytes("OFF"))]);
        check("SELECT /*+ SET_VAR(foreign_key_checks=ON) */ 1", &[("foreign_key_checks", bytes("ON"))]);
        check("SELECT /*+ SET_VAR(a=) MAX_EXECUTION_TIME(x) INDEX(t@q1 i) MAX_EXECUTION_TIME(7) */ 1", &[time(7)]);
        check("SELECT /*+ MAX_EXECUTION_TIME(5", &[]);
        check("(SELECT /*+ MAX_EXECUTION_TIME(5) */ 1)", &[time(5)]);
        check("( (select/*+ MAX_EXECUTION_TIME(5) */ 1) UNION SELECT 2)", &[time(5)]);
        check("/* a */ SELECT /*+ MAX_EXECUTION_TIME(5) */ 1", &[time(5)]);
        check("(SELECT 1) UNION (SELECT /*+ MAX_EXECUTION_TIME(5) */ 1)", &[]);
        check("WITH c AS (SELECT /*+ MAX_EXECUTION_TIME(4) */ 1) SELECT /*+ MAX_EXECUTION_TIME(5) */ * FROM c", &[time(5)]);
        check("WITH c AS (SELECT /*+ MAX_EXECUTION_TIME(4) */ 1) SELECT * FROM c", &[]);
        check("WITH c AS (SELECT '(') (SELECT 1) /*+ x */", &[]);
        check("(/*+ MAX_EXECUTION_TIME(5) */ SELECT 1)", &[]);
        check("(", &[]);
    }
}
