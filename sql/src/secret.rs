//! Removes passwords from statement text that other users may read: logs, the process list, sample statements.
//!
//! The text is scanned token by token and not parsed, so that truncated text and statements inside others (PREPARE, the
//! body of a program) are covered. `<secret>` replaces
//!
//! 1. the strings after `IDENTIFIED BY`, `IDENTIFIED AS` and `IDENTIFIED WITH plugin BY | AS`, and after a `REPLACE`
//!    that follows these;
//! 2. in statements that begin with SET, ALTER, CREATE, CHANGE or START: the strings after `PASSWORD [FOR account] =`,
//!    `PASSWORD`, and words that end with `_PASSWORD`, with or without `=`.
//!
//! The statement text of PREPARE becomes `...`, as in MySQL.

use crate::lexer::{Lexer, Token};
use std::borrow::Cow;
use types::SqlMode;

const SECRET: &[u8] = b"<secret>";

/// The meaning of a string that follows the tokens so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// After IDENTIFIED.
    Identified,
    /// After IDENTIFIED WITH, and after the plugin.
    With,
    Plugin,
    /// A text is a password here.
    Wanted,
    /// After a password: an adjacent string literal continues it, or REPLACE follows.
    Hidden,
    /// After PASSWORD: a password, or the account that it belongs to.
    Password,
    Account,
    /// PREPARE, its name, FROM.
    Prepare,
    Name,
    Source,
}

/// The text without the passwords that it has.
pub fn without_secrets<'t>(text: &'t [u8], mode: &SqlMode) -> Cow<'t, [u8]> {
    let mut lexer = Lexer::new(text, mode);
    let mut out = Vec::new();
    let (mut kept, mut state) = (0, State::Open);
    let mut is_first = true;
    let mut has_passwords = false;
    loop {
        let (token, start) = lexer.next();
        let word = word_of(&token, &text[start..lexer.position()]);
        if is_first {
            has_passwords = ["SET", "ALTER", "CREATE", "CHANGE", "START"].iter().any(|first| is(word, first));
            state = if is(word, "PREPARE") { State::Prepare } else { State::Open };
            is_first = false;
            if state == State::Prepare {
                continue;
            }
        }
        let is_text = matches!(
            token,
            Token::String { .. } | Token::National { .. } | Token::Hex(_) | Token::Bits(_) | Token::Quoted { .. } | Token::Bad
        );
        let is_end = matches!(token, Token::End | Token::Bad);
        match state {
            State::Wanted | State::Hidden | State::Password | State::Source if is_text => {
                // An adjacent string of the same literal is hidden already.
                if state != State::Hidden {
                    out.extend_from_slice(&text[kept..start]);
                    out.extend_from_slice(if state == State::Source { b"..." } else { SECRET });
                }
                // An unterminated string is hidden to the end.
                kept = if is_end { text.len() } else { lexer.position() };
                state = if state == State::Source { State::Open } else { State::Hidden };
            }
            _ => state = next(state, &token, word, has_passwords),
        }
        if is_end {
            break;
        }
        if token == Token::Semicolon {
            is_first = true;
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.extend_from_slice(&text[kept..]);
    Cow::Owned(out)
}

fn next(state: State, token: &Token<'_>, word: &[u8], has_passwords: bool) -> State {
    match state {
        State::Prepare => State::Name,
        State::Name if is(word, "FROM") => State::Source,
        State::Identified if is(word, "BY") || is(word, "AS") => State::Wanted,
        State::Identified if is(word, "WITH") => State::With,
        State::With => State::Plugin,
        State::Plugin if is(word, "BY") || is(word, "AS") => State::Wanted,
        State::Hidden if is(word, "REPLACE") => State::Wanted,
        // An introducer precedes the string.
        State::Wanted | State::Password if matches!(token, Token::Underscore(_)) => state,
        State::Password if is(word, "FOR") => State::Account,
        State::Password | State::Account if *token == Token::Equal => State::Wanted,
        State::Account => State::Account,
        _ if is(word, "IDENTIFIED") => State::Identified,
        _ if has_passwords && (is(word, "PASSWORD") || ends_with(word, b"_PASSWORD")) => State::Password,
        _ => State::Open,
    }
}

fn word_of<'t>(token: &Token<'_>, text: &'t [u8]) -> &'t [u8] {
    match token {
        Token::Word(_) | Token::Keyword(_) => text,
        _ => b"",
    }
}

fn is(word: &[u8], wanted: &str) -> bool {
    word.eq_ignore_ascii_case(wanted.as_bytes())
}

fn ends_with(word: &[u8], end: &[u8]) -> bool {
    word.len() >= end.len() && word[word.len() - end.len()..].eq_ignore_ascii_case(end)
}

/// The positions of the `?` of a statement.
pub fn places_of_parameters<'t>(text: &'t [u8], mode: &SqlMode) -> impl Iterator<Item = usize> + 't {
    let mut lexer = Lexer::new(text, mode);
    std::iter::from_fn(move || {
        loop {
            match lexer.next() {
                (Token::Param, start) => return Some(start),
                (Token::End | Token::Bad, _) => return None,
                _ => {}
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let found = without_secrets(text.as_bytes(), &SqlMode::DEFAULT);
        assert_eq!(String::from_utf8_lossy(&found), expected);
    }

    #[test]
    fn passwords_are_left_out() {
        check(
            "CREATE USER u IDENTIFIED BY 'a' 'b', v IDENTIFIED BY \"c\"",
            "CREATE USER u IDENTIFIED BY <secret>, v IDENTIFIED BY <secret>",
        );
        check(
            "alter user u identified by 'a''b' replace 'c' retain current password",
            "alter user u identified by <secret> replace <secret> retain current password",
        );
        check(
            "CREATE USER u IDENTIFIED WITH 'caching_sha2_password' AS 0x24 COMMENT 'x'",
            "CREATE USER u IDENTIFIED WITH 'caching_sha2_password' AS <secret> COMMENT 'x'",
        );
        check("CREATE USER u IDENTIFIED WITH p BY _utf8mb4'x'", "CREATE USER u IDENTIFIED WITH p BY _utf8mb4<secret>");
        check("SET PASSWORD = 'a' REPLACE 'b'", "SET PASSWORD = <secret> REPLACE <secret>");
        check("SET PASSWORD FOR 'u'@'h' = 'a'", "SET PASSWORD FOR 'u'@'h' = <secret>");
        check(
            "CHANGE REPLICATION SOURCE TO SOURCE_USER='u', SOURCE_PASSWORD='p', SOURCE_HOST='h'",
            "CHANGE REPLICATION SOURCE TO SOURCE_USER='u', SOURCE_PASSWORD=<secret>, SOURCE_HOST='h'",
        );
        check(
            "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER 'u', PASSWORD 'p')",
            "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER 'u', PASSWORD <secret>)",
        );
        check("START REPLICA USER='u' PASSWORD='p'", "START REPLICA USER='u' PASSWORD=<secret>");
        check("PREPARE s FROM 'CREATE USER u IDENTIFIED BY \"x\"'", "PREPARE s FROM ...");
        check(
            "CREATE PROCEDURE p() BEGIN ALTER USER u IDENTIFIED BY 'x'; END",
            "CREATE PROCEDURE p() BEGIN ALTER USER u IDENTIFIED BY <secret>; END",
        );
        check("SELECT 1; SET PASSWORD = 'x'; SELECT 'y'", "SELECT 1; SET PASSWORD = <secret>; SELECT 'y'");
    }

    #[test]
    fn texts_that_were_cut_are_hidden_to_their_end() {
        check("ALTER USER u IDENTIFIED BY 'half of a pass", "ALTER USER u IDENTIFIED BY <secret>");
    }

    #[test]
    fn all_else_stays_as_it_is() {
        for text in [
            "SELECT * FROM users WHERE password = 'x' AND identified = 'y'",
            "INSERT INTO t VALUES ('IDENTIFIED BY x')",
            "ALTER USER u DISCARD OLD PASSWORD",
            "CREATE TABLE t (password VARCHAR(10) DEFAULT 'x')",
            "PREPARE s FROM @a",
            "CREATE USER u IDENTIFIED BY RANDOM PASSWORD COMMENT 'x'",
        ] {
            assert!(matches!(without_secrets(text.as_bytes(), &SqlMode::DEFAULT), Cow::Borrowed(_)), "{text}");
        }
    }
}
