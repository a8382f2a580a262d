//! Digest texts: the normalized text that is common to all statements which differ only in their values.
//! STATEMENT_DIGEST_TEXT() returns it, and statistics are grouped by it.
//!
//! The text has the statement's tokens, separated by single spaces: keywords in capitals, names in backticks, literals
//! as `?`. A list of literals is reduced to one item:
//!
//! ```text
//! 1, 'a', ?              ?, ...
//! (1)                    (?)               (1, 2)              (...)
//! (1), (2)               (?) /* , ... */   (1, 2), (3, 4)      (...) /* , ... */
//! x IN (1, 2)            x IN (...)
//! -1 after an operator   ?                 NULL as a value     ?
//! ORDER BY 1, 2          as written
//! ```
//!
//! A non-reserved keyword is treated as a keyword everywhere except beside a dot. Of several keywords with one meaning,
//! the alphabetically last stands for all (`words`).
//!
//! T1: a text's length is counted as MySQL counts it: two bytes per token, and for a name four more and its length.
//! T1: a text's size is counted as MySQL counts it: two bytes per token, and for a name four bytes and its length.
//!     Tokens that would exceed [`DIGEST_BYTES_MAX`] are left out, so the digest of a text of any length has a bounded
//!     size.

mod words;

pub use words::unreserved_words;

use crate::keyword::Keyword as K;
use crate::lexer::{Lexer, Token, unescape};
use crate::parser::Repeated;
use std::borrow::Cow;
use std::fmt::Write;
use types::SqlMode;

/// Bytes of pieces that are kept: `max_digest_length`.
pub const DIGEST_BYTES_MAX: usize = 1024;

/// A token of a digest text, or several reduced to one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece<'t> {
    /// A keyword or an operator.
    Word(&'static str),
    Name(Cow<'t, [u8]>),
    /// A number of ORDER BY or GROUP BY.
    Place(&'t [u8]),
    /// `?`
    Value,
    /// `?, ...`
    Values,
    /// `(?)`
    Row1,
    Row1s,
    /// `(...)`
    Row,
    Rows,
}

use Piece::{Name, Place, Row, Row1, Row1s, Rows, Value, Values, Word};

impl Piece<'_> {
    fn bytes(&self) -> usize {
        match self {
            Name(name) => 4 + name.len(),
            Place(digits) => 4 + digits.len(),
            _ => 2,
        }
    }

    /// Can an expression begin after it, so that `-` is a sign?
    fn begins_value(&self) -> bool {
        matches!(self, Word(word) if words::BEGIN_VALUES.contains(word))
    }
}

/// The digest's text of the first statement of `text`.
pub fn digest_text(text: &[u8], mode: &SqlMode) -> String {
    digest_text_of(text, mode, Repeated::default())
}

/// Like [`digest_text`], for a parsed statement: rows that the parser found to be repeated are skipped.
pub fn digest_text_of(text: &[u8], mode: &SqlMode, repeated: Repeated) -> String {
    let mut pieces = Pieces::default();
    pieces.statement(text, mode, repeated);
    pieces.print()
}

/// Appends the text of a SET or CALL without the values of its literals to `out`. Texts with equal skeletons have equal
/// digests. `false`: it is another statement, or its digest text may keep a number.
pub fn digest_skeleton(text: &[u8], mode: &SqlMode, out: &mut Vec<u8>) -> bool {
    let mut lexer = Lexer::new(text, mode);
    let (first, _) = lexer.next();
    if !matches!(first, Token::Keyword(K::Set | K::Call)) {
        return false;
    }
    let mut kept = 0;
    loop {
        let (token, start) = lexer.next();
        let mark = match token {
            Token::End => break,
            Token::Bad | Token::Keyword(K::By) => return false,
            Token::Int(_) | Token::Decimal(_) | Token::Double(_) => 1,
            Token::String { .. } | Token::National { .. } => 2,
            Token::Hex(_) | Token::Bits(_) => 3,
            _ => continue,
        };
        out.extend_from_slice(&text[kept..start]);
        out.push(mark);
        kept = lexer.position();
    }
    out.extend_from_slice(&text[kept..]);
    true
}

#[derive(Default)]
struct Pieces<'t> {
    list: Vec<Piece<'t>>,
    bytes: usize,
    is_full: bool,
    depth: u32,
    /// Depths of the lists of ORDER BY and GROUP BY that are open.
    orders: Vec<u32>,
}

impl<'t> Pieces<'t> {
    fn statement(&mut self, text: &'t [u8], mode: &SqlMode, repeated: Repeated) {
        let mut lexer = Lexer::new(text, mode);
        let (mut token, mut start) = lexer.next();
        let mut in_body = false;
        while !self.is_full {
            let after = lexer.position();
            let mut ahead = lexer;
            if after == repeated.start && repeated.end > after {
                ahead.skip_to(repeated.end);
            }
            let (next, next_start) = ahead.next();
            match token {
                Token::End | Token::Bad => return,
                // Statements of a stored program.
                Token::Semicolon if !in_body || next == Token::End => return,
                _ => self.token(token, &text[start..after], next, text.get(after).copied()),
            }
            in_body |= matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(b"BEGIN")) && self.list.len() > 1;
            if matches!(token, Token::Keyword(K::Select | K::Insert | K::Replace | K::Update | K::Delete)) {
                self.hints(&text[after..next_start], mode);
            }
            (token, start, lexer) = (next, next_start, ahead);
        }
    }

    fn token(&mut self, token: Token<'t>, written: &'t [u8], next: Token<'t>, following: Option<u8>) {
        match token {
            Token::Keyword(_) if next == Token::Dot && !self.ends_with("@@") => self.push(Name(written.into())),
            Token::Word(name) if self.ends_with(".") => self.push(Name(name.into())),
            Token::Keyword(K::Null) if self.is_value_next() => self.value(),
            Token::Keyword(keyword) => self.keyword(keyword.text(), keyword),
            Token::Word(name) => self.word(name, next, following),
            Token::Quoted { name, doubled } => self.push(Name(unquoted(name, doubled, b'`'))),
            Token::Underscore(name) => match next {
                Token::String { .. } | Token::Hex(_) | Token::Bits(_) => self.push(Word("(_charset)")),
                _ => self.push(Name(name.into())),
            },
            Token::Int(digits) if self.is_place(next) => self.push(Place(digits)),
            Token::Int(_) | Token::Decimal(_) | Token::Double(_) | Token::Hex(_) | Token::Bits(_) => {
                while self.ends_with_sign() {
                    self.pop();
                }
                self.value();
            }
            Token::String { .. } | Token::National { .. } | Token::Param => self.value(),
            Token::Variable(_) => {
                self.push(Word("@"));
                self.value();
            }
            Token::QuotedVariable { name, quote: b'`', escaped } => {
                self.push(Word("@"));
                self.push(Name(unquoted(name, escaped, b'`')));
            }
            Token::QuotedVariable { .. } => {
                self.push(Word("@"));
                self.value();
            }
            Token::LeftParen => {
                self.depth += 1;
                self.push(Word("("));
            }
            Token::RightParen => self.close(),
            other => self.push(Word(words::operator(other))),
        }
    }

    /// A word that is not reserved.
    fn word(&mut self, name: &'t [u8], next: Token<'t>, following: Option<u8>) {
        let is_function = following == Some(b'(');
        let is_variable = self.ends_with("@@");
        match words::find(name, is_function) {
            Some(word) if is_variable || next != Token::Dot => self.push(Word(word)),
            _ => self.push(Name(name.into())),
        }
    }

    fn keyword(&mut self, text: &'static str, keyword: K) {
        match keyword {
            K::By if matches!(self.list.last(), Some(Word("ORDER" | "GROUP" | "PARTITION"))) => self.orders.push(self.depth),
            K::Limit
            | K::Having
            | K::With
            | K::Rows
            | K::Range
            | K::For
            | K::Lock
            | K::Into
            | K::Union
            | K::Order
            | K::Separator
            | K::Group
                if self.orders.last() == Some(&self.depth) =>
            {
                self.orders.pop();
            }
            _ => {}
        }
        self.push(Word(words::canonical(text)));
    }

    /// `/*+ ... */` after the first word of a statement.
    fn hints(&mut self, skipped: &'t [u8], mode: &SqlMode) {
        let Some(start) = skipped.windows(3).position(|three| three == b"/*+") else { return };
        let inside = &skipped[start + 3..];
        let Some(end) = inside.windows(2).position(|two| two == b"*/") else { return };
        let mut lexer = Lexer::new(&inside[..end], mode);
        self.push(Word("/*+"));
        loop {
            let (token, start) = lexer.next();
            match token {
                Token::End | Token::Bad => break,
                Token::Word(name) => match words::hint(name) {
                    Some(word) => self.push(Word(word)),
                    None => self.push(Name(name.into())),
                },
                _ => self.token(token, &inside[start..lexer.position()], Token::End, None),
            }
        }
        self.push(Word("*/"));
    }

    fn value(&mut self) {
        match &self.list[..] {
            [.., Value | Values, Word(",")] => {
                self.pop();
                self.pop();
                self.push(Values);
            }
            _ => self.push(Value),
        }
    }

    fn close(&mut self) {
        if self.orders.last() == Some(&self.depth) {
            self.orders.pop();
        }
        self.depth = self.depth.saturating_sub(1);
        let (row, rows) = match &self.list[..] {
            [.., Word("("), Value] => (Row1, Row1s),
            [.., Word("("), Values] => (Row, Rows),
            _ => return self.push(Word(")")),
        };
        self.pop();
        self.pop();
        match &self.list[..] {
            [.., Word("IN")] => self.push(Row),
            [.., before, Word(",")] if *before == row || *before == rows => {
                self.pop();
                self.pop();
                self.push(rows);
            }
            _ => self.push(row),
        }
    }

    /// Is the next token a value, rather than part of a definition or of IS NULL?
    fn is_value_next(&self) -> bool {
        let begins =
            |piece: &Piece<'_>| piece.begins_value() || matches!(piece, Word(word) if words::PRECEDE_VALUES.contains(word));
        match &self.list[..] {
            [.., before, Word("NOT")] => begins(before),
            [.., last] => begins(last),
            [] => false,
        }
    }

    fn ends_with(&self, word: &str) -> bool {
        matches!(self.list.last(), Some(Word(last)) if *last == word)
    }

    fn ends_with_sign(&self) -> bool {
        matches!(&self.list[..], [.., before, Word("-" | "+")] if before.begins_value())
    }

    /// Is a number an element of ORDER BY or GROUP BY of its own?
    fn is_place(&self, next: Token<'_>) -> bool {
        if self.orders.last() != Some(&self.depth) {
            return false;
        }
        let begins = match &self.list[..] {
            [.., Word("BY")] => true,
            [.., before, Word(",")] => !matches!(before, Value | Values),
            _ => false,
        };
        begins && words::ends_element(next)
    }

    fn push(&mut self, piece: Piece<'t>) {
        let bytes = piece.bytes();
        // T1
        if self.is_full || self.bytes + bytes > DIGEST_BYTES_MAX {
            self.is_full = true;
            return;
        }
        self.bytes += bytes;
        self.list.push(piece);
    }

    fn pop(&mut self) {
        if let Some(piece) = self.list.pop() {
            self.bytes -= piece.bytes();
        }
    }

    fn print(&self) -> String {
        let mut out = String::with_capacity(3 * self.bytes);
        let mut is_glued = true;
        for piece in &self.list {
            if !is_glued {
                out.push(' ');
            }
            is_glued = matches!(piece, Word("@" | "@@"));
            match piece {
                Word(word) => out.push_str(word),
                // Writing to a string does not fail.
                Name(name) => drop(write!(out, "`{}`", String::from_utf8_lossy(name))),
                Place(digits) => out.push_str(&String::from_utf8_lossy(digits)),
                Value => out.push('?'),
                Values => out.push_str("?, ..."),
                Row1 => out.push_str("(?)"),
                Row1s => out.push_str("(?) /* , ... */"),
                Row => out.push_str("(...)"),
                Rows => out.push_str("(...) /* , ... */"),
            }
        }
        out
    }
}

/// A name between quotes.
fn unquoted(raw: &[u8], escaped: bool, quote: u8) -> Cow<'_, [u8]> {
    if !escaped {
        return Cow::Borrowed(raw);
    }
    let mut name = Vec::with_capacity(raw.len());
    unescape(raw, quote, false, &mut name);
    Cow::Owned(name)
}

#[cfg(test)]
mod tests;
