//! The lexer: bytes to tokens, one token at a time, without allocation. Names and strings are slices of the text.
//!
//! 1. Spaces and comments are skipped: `-- `, `#`, `/* */`. The content of `/*!80400 ... */` is read if the number is
//!    not above [`VERSION`]; `/*M! */` belongs to MariaDB and is skipped.
//! 2. A name may begin with a digit (`1a`). A word after `name.` is a name, even if it is a keyword.
//! 3. The lexer only finds the end of a string; the parser resolves escapes where it needs the value ([`unescape`]).
//!
//! L1: every call advances or returns [`Token::End`], for any input.

use crate::keyword::Keyword;
use types::SqlMode;

/// The version whose `/*!NNNNN */` comments are executed.
pub const VERSION: u32 = 80400;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    End,
    /// A byte or string that no token begins with, or an unfinished string or comment.
    Bad,
    /// A name without quotes that is not reserved.
    Word(&'a [u8]),
    Keyword(Keyword),
    /// Between backticks (or `"` with ANSI_QUOTES); `doubled` when the quote occurs in it, doubled.
    Quoted {
        name: &'a [u8],
        doubled: bool,
    },
    /// Between quotes; `escaped` when it has backslashes or doubled quotes.
    String {
        raw: &'a [u8],
        quote: u8,
        escaped: bool,
    },
    /// `N'...'`
    National {
        raw: &'a [u8],
        quote: u8,
        escaped: bool,
    },
    /// `_utf8mb4` before a string; also any name that begins with an underscore.
    Underscore(&'a [u8]),
    Int(&'a [u8]),
    Decimal(&'a [u8]),
    Double(&'a [u8]),
    /// Hex digits of `0x..` or `x'..'`.
    Hex(&'a [u8]),
    /// Binary digits of `0b..` or `b'..'`.
    Bits(&'a [u8]),
    /// `?`
    Param,
    /// `@name`
    Variable(&'a [u8]),
    /// `@'name'`
    QuotedVariable {
        name: &'a [u8],
        quote: u8,
        escaped: bool,
    },
    /// `@@`
    AtAt,
    Comma,
    Dot,
    Semicolon,
    /// The colon after a label.
    Colon,
    LeftParen,
    RightParen,
    LeftBrace,
    RightBrace,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    NullSafeEqual,
    /// `:=`
    Assign,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Caret,
    Tilde,
    Bang,
    Ampersand,
    DoubleAmpersand,
    Pipe,
    DoublePipe,
    ShiftLeft,
    ShiftRight,
    /// `->`
    Arrow,
    /// `->>`
    LongArrow,
}

/// Is there nothing but spaces and comments?
pub fn is_blank(text: &[u8], mode: &SqlMode) -> bool {
    Lexer::new(text, mode).next().0 == Token::End
}

/// Bytes of an unquoted name: letters, digits, `_`, `$`, and everything from 0x80.
const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// The tokens that a byte may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    /// Perhaps a comment.
    Comment,
    /// A letter, `_`, `$` or a byte from 0x80.
    Letter,
    Digit,
    Other,
}

static CLASS: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        table[i] = match byte {
            // Some clients end texts with NUL bytes; they count as spaces everywhere.
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | 0 => Class::Space,
            b'#' | b'-' | b'/' | b'*' => Class::Comment,
            b'0'..=b'9' => Class::Digit,
            _ if is_name(byte) => Class::Letter,
            _ => Class::Other,
        };
        i += 1;
    }
    table
};

static NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = is_name(i as u8);
        i += 1;
    }
    table
};

#[derive(Clone, Copy)]
pub struct Lexer<'a> {
    text: &'a [u8],
    position: usize,
    ansi_quotes: bool,
    no_backslash_escapes: bool,
    /// Inside `/*! ... `, whose `*/` is to be skipped.
    in_version_comment: bool,
    /// The last token was a name: a dot after it is followed by a name.
    after_name: bool,
    /// The end of the last unquoted name: `.5` directly after it is a dot and a name.
    name_end: usize,
    /// The last token was the dot after a name, so a name follows.
    after_dot: bool,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a [u8], mode: &SqlMode) -> Self {
        Self {
            text,
            position: 0,
            ansi_quotes: mode.ansi_quotes,
            no_backslash_escapes: mode.no_backslash_escapes,
            in_version_comment: false,
            after_name: false,
            name_end: usize::MAX,
            after_dot: false,
        }
    }

    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// Offset of the byte after the last token.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Continues after a token that ended there and was no name.
    pub fn skip_to(&mut self, position: usize) {
        self.position = position;
        (self.after_name, self.after_dot, self.name_end) = (false, false, usize::MAX);
    }

    pub fn is_in_comment(&self) -> bool {
        self.in_version_comment
    }

    /// The next token and the offset it begins at.
    pub fn next(&mut self) -> (Token<'a>, usize) {
        loop {
            let Some(&byte) = self.text.get(self.position) else {
                // The end, unless a comment is open.
                let token = if self.in_version_comment { Token::Bad } else { Token::End };
                return (token, self.position);
            };
            let start = self.position;
            let token = match CLASS[byte as usize] {
                Class::Space => {
                    self.position += 1;
                    continue;
                }
                Class::Comment => match self.comment(byte) {
                    Some(true) => continue,
                    Some(false) => {
                        self.position = self.text.len();
                        return (Token::Bad, start);
                    }
                    None => self.operator(byte),
                },
                Class::Letter | Class::Digit if self.after_dot => Token::Word(self.take_name()),
                Class::Letter => self.name_or_prefix(byte),
                Class::Digit => self.number(),
                Class::Other => self.token(byte),
            };
            self.after_dot = self.after_name && matches!(token, Token::Dot);
            let is_bare = matches!(token, Token::Word(_) | Token::Keyword(_) | Token::Underscore(_));
            self.after_name = is_bare || matches!(token, Token::Quoted { .. });
            self.name_end = if is_bare { self.position } else { usize::MAX };
            return (token, start);
        }
    }

    /// Skips a comment or the end of a version comment. `None`: there is none; `Some(false)`: it is not terminated.
    fn comment(&mut self, byte: u8) -> Option<bool> {
        match (byte, self.byte(1)) {
            (b'#', _) => self.skip_line(),
            (b'-', b'-') if self.byte(2) <= b' ' || self.byte(2) == 0x7f => self.skip_line(),
            (b'/', b'*') => return Some(self.skip_comment()),
            (b'*', b'/') if self.in_version_comment => {
                self.in_version_comment = false;
                self.position += 2;
            }
            _ => return None,
        }
        Some(true)
    }

    fn byte(&self, offset: usize) -> u8 {
        self.text.get(self.position + offset).copied().unwrap_or(0)
    }

    fn token(&mut self, byte: u8) -> Token<'a> {
        match byte {
            b'\'' => self.quoted_string(b'\''),
            b'"' if self.ansi_quotes => self.quoted_name(b'"'),
            b'"' => self.quoted_string(b'"'),
            b'`' => self.quoted_name(b'`'),
            b'@' => self.variable(),
            b'.' if self.byte(1).is_ascii_digit() && self.name_end != self.position => self.number(),
            _ => self.operator(byte),
        }
    }

    fn operator(&mut self, byte: u8) -> Token<'a> {
        let second = self.byte(1);
        let (token, length) = match (byte, second) {
            (b'<', b'=') if self.byte(2) == b'>' => (Token::NullSafeEqual, 3),
            (b'<', b'=') => (Token::LessOrEqual, 2),
            (b'<', b'>') | (b'!', b'=') => (Token::NotEqual, 2),
            (b'<', b'<') => (Token::ShiftLeft, 2),
            (b'<', _) => (Token::Less, 1),
            (b'>', b'=') => (Token::GreaterOrEqual, 2),
            (b'>', b'>') => (Token::ShiftRight, 2),
            (b'>', _) => (Token::Greater, 1),
            (b'-', b'>') if self.byte(2) == b'>' => (Token::LongArrow, 3),
            (b'-', b'>') => (Token::Arrow, 2),
            (b'&', b'&') => (Token::DoubleAmpersand, 2),
            (b'|', b'|') => (Token::DoublePipe, 2),
            (b':', b'=') => (Token::Assign, 2),
            (b':', _) => (Token::Colon, 1),
            (b'=', _) => (Token::Equal, 1),
            (b',', _) => (Token::Comma, 1),
            (b'.', _) => (Token::Dot, 1),
            (b';', _) => (Token::Semicolon, 1),
            (b'(', _) => (Token::LeftParen, 1),
            (b')', _) => (Token::RightParen, 1),
            (b'{', _) => (Token::LeftBrace, 1),
            (b'}', _) => (Token::RightBrace, 1),
            (b'+', _) => (Token::Plus, 1),
            (b'-', _) => (Token::Minus, 1),
            (b'*', _) => (Token::Star, 1),
            (b'/', _) => (Token::Slash, 1),
            (b'%', _) => (Token::Percent, 1),
            (b'^', _) => (Token::Caret, 1),
            (b'~', _) => (Token::Tilde, 1),
            (b'!', _) => (Token::Bang, 1),
            (b'&', _) => (Token::Ampersand, 1),
            (b'|', _) => (Token::Pipe, 1),
            (b'?', _) => (Token::Param, 1),
            _ => (Token::Bad, 1),
        };
        self.position += length;
        token
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.position..];
        self.position += rest.iter().position(|&b| b == b'\n').map_or(rest.len(), |n| n + 1);
    }

    #[cold]
    fn skip_comment(&mut self) -> bool {
        if self.byte(2) == b'!' {
            let rest = &self.text[self.position + 3..];
            let digits = rest.iter().take(6).take_while(|b| b.is_ascii_digit()).count();
            if digits < 5 {
                self.position += 3;
                self.in_version_comment = true;
                return true;
            }
            // Five digits, or six in front of a space.
            let digits = if digits == 6 && rest.get(6).is_some_and(|b| !matches!(b, b' ' | 9..=13)) { 5 } else { digits };
            let number = &self.text[self.position + 3..self.position + 3 + digits];
            let version = number.iter().fold(0u32, |sum, digit| sum * 10 + u32::from(digit - b'0'));
            if version <= VERSION {
                self.position += 3 + digits;
                self.in_version_comment = true;
                return true;
            }
            return self.skip_nested_comment();
        }
        let rest = &self.text[self.position + 2..];
        match rest.windows(2).position(|w| w == b"*/") {
            Some(n) => {
                self.position += n + 4;
                true
            }
            None => false,
        }
    }

    /// Skips a version comment that is not for us; comments in it are skipped with it.
    fn skip_nested_comment(&mut self) -> bool {
        let mut at = self.position + 2;
        let mut inside = false;
        while at + 1 < self.text.len() {
            match (self.text[at], self.text[at + 1], inside) {
                (b'*', b'/', true) => {
                    inside = false;
                    at += 2;
                }
                (b'*', b'/', false) => {
                    self.position = at + 2;
                    return true;
                }
                (b'/', b'*', _) => {
                    inside = true;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        false
    }

    fn take_name(&mut self) -> &'a [u8] {
        let rest = &self.text[self.position..];
        let length = rest.iter().position(|&b| !NAME[b as usize]).unwrap_or(rest.len());
        self.position += length;
        &rest[..length]
    }

    fn name_or_prefix(&mut self, byte: u8) -> Token<'a> {
        if matches!(byte, b'x' | b'X' | b'b' | b'B' | b'n' | b'N')
            && let Some(token) = self.prefixed_string(byte)
        {
            return token;
        }
        let name = self.take_name();
        if byte == b'_' {
            return Token::Underscore(name);
        }
        match Keyword::find(name) {
            Some(keyword) => Token::Keyword(keyword),
            None => Token::Word(name),
        }
    }

    /// `x'..'`, `b'..'`, `N'..'`
    fn prefixed_string(&mut self, byte: u8) -> Option<Token<'a>> {
        let quote = self.byte(1);
        if quote != b'\'' && (quote != b'"' || self.ansi_quotes) {
            return None;
        }
        Some(match byte | 0x20 {
            b'x' => self.digits_string(u8::is_ascii_hexdigit, Token::Hex),
            b'b' => self.digits_string(|b| matches!(b, b'0' | b'1'), Token::Bits),
            _ => {
                self.position += 1;
                match self.quoted_string(quote) {
                    Token::String { raw, quote, escaped } => Token::National { raw, quote, escaped },
                    other => other,
                }
            }
        })
    }

    /// `x'..'` and `b'..'`
    fn digits_string(&mut self, is_digit: impl Fn(&u8) -> bool, make: impl Fn(&'a [u8]) -> Token<'a>) -> Token<'a> {
        let quote = self.byte(1);
        let rest = &self.text[self.position + 2..];
        let length = rest.iter().take_while(|b| is_digit(b)).count();
        if rest.get(length) != Some(&quote) {
            self.position += 2;
            return Token::Bad;
        }
        self.position += length + 3;
        match make(&rest[..length]) {
            Token::Hex(digits) if digits.len() % 2 == 1 => Token::Bad,
            token => token,
        }
    }

    fn number(&mut self) -> Token<'a> {
        let start = self.position;
        if self.byte(0) == b'0'
            && matches!(self.byte(1), b'x' | b'b')
            && let Some(token) = self.prefixed_number()
        {
            return token;
        }
        let whole = self.skip_digits();
        let mut token: fn(&'a [u8]) -> Token<'a> = Token::Int;
        if self.byte(0) == b'.' {
            self.position += 1;
            self.skip_digits();
            token = Token::Decimal;
        }
        if matches!(self.byte(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
            if self.byte(1 + sign).is_ascii_digit() {
                self.position += 1 + sign;
                self.skip_digits();
                return Token::Double(&self.text[start..self.position]);
            }
        }
        let digits = &self.text[start..self.position];
        if whole == digits.len() && NAME[self.byte(0) as usize] && self.position < self.text.len() {
            // A name that begins with digits.
            self.position = start;
            return Token::Word(self.take_name());
        }
        token(digits)
    }

    /// `0x1F`, `0b01`; not when other name bytes follow.
    fn prefixed_number(&mut self) -> Option<Token<'a>> {
        let hex = self.byte(1) == b'x';
        let rest = &self.text[self.position + 2..];
        let length = rest.iter().take_while(|b| if hex { b.is_ascii_hexdigit() } else { matches!(b, b'0' | b'1') }).count();
        if length == 0 || rest.get(length).is_some_and(|&b| NAME[b as usize]) {
            return None;
        }
        self.position += 2 + length;
        Some(if hex { Token::Hex(&rest[..length]) } else { Token::Bits(&rest[..length]) })
    }

    fn skip_digits(&mut self) -> usize {
        let rest = &self.text[self.position..];
        let length = rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
        self.position += length;
        length
    }

    fn quoted_string(&mut self, quote: u8) -> Token<'a> {
        let start = self.position + 1;
        let mut at = start;
        let mut escaped = false;
        while at < self.text.len() {
            let byte = self.text[at];
            if byte == quote {
                if self.text.get(at + 1) != Some(&quote) {
                    self.position = at + 1;
                    return Token::String { raw: &self.text[start..at], quote, escaped };
                }
                escaped = true;
                at += 2;
            } else if byte == b'\\' && !self.no_backslash_escapes {
                escaped = true;
                at += 2;
            } else {
                at += 1;
            }
        }
        self.position = self.text.len();
        Token::Bad
    }

    fn quoted_name(&mut self, quote: u8) -> Token<'a> {
        let start = self.position + 1;
        let mut at = start;
        let mut doubled = false;
        while at < self.text.len() {
            if self.text[at] == quote {
                if self.text.get(at + 1) != Some(&quote) {
                    self.position = at + 1;
                    return Token::Quoted { name: &self.text[start..at], doubled };
                }
                doubled = true;
                at += 1;
            }
            at += 1;
        }
        self.position = self.text.len();
        Token::Bad
    }

    fn variable(&mut self) -> Token<'a> {
        self.position += 1;
        match self.byte(0) {
            b'@' => {
                self.position += 1;
                Token::AtAt
            }
            b'`' => match self.quoted_name(b'`') {
                Token::Quoted { name, doubled } => Token::QuotedVariable { name, quote: b'`', escaped: doubled },
                other => other,
            },
            quote @ (b'\'' | b'"') => match self.quoted_string(quote) {
                Token::String { raw, quote, escaped } => Token::QuotedVariable { name: raw, quote, escaped },
                other => other,
            },
            _ => {
                let start = self.position;
                while self.position < self.text.len()
                    && (NAME[self.text[self.position] as usize] || self.text[self.position] == b'.')
                {
                    self.position += 1;
                }
                Token::Variable(&self.text[start..self.position])
            }
        }
    }
}

/// Resolves doubled quotes and, with `backslashes`, MySQL's escapes (`\%` and `\_` stay, for LIKE).
pub fn unescape(raw: &[u8], quote: u8, backslashes: bool, out: &mut impl Extend<u8>) {
    let mut at = 0;
    while at < raw.len() {
        let byte = raw[at];
        at += 1;
        if byte == quote {
            at += 1;
        } else if byte == b'\\' && backslashes && at < raw.len() {
            let escaped = raw[at];
            at += 1;
            let resolved = match escaped {
                b'0' => 0,
                b'b' => 8,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'Z' => 0x1a,
                b'%' | b'_' => {
                    out.extend([b'\\', escaped]);
                    continue;
                }
                other => other,
            };
            out.extend([resolved]);
            continue;
        }
        out.extend([byte]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut lexer = Lexer::new(text.as_bytes(), &SqlMode::DEFAULT);
        let mut out = Vec::new();
        loop {
            let (token, start) = lexer.next();
            let bad = token == Token::Bad;
            if token == Token::End {
                break;
            }
            let kind = format!("{token:?}");
            let kind = kind.split([' ', '(']).next().expect("split gives one").to_owned();
            out.push(format!("{kind}:{}", &text[start..lexer.position()]));
            if bad {
                break;
            }
        }
        assert_eq!(out.join(" "), expected, "{text}");
    }

    #[test]
    fn tokens() {
        check(
            "SELECT a.1b, .5 1.e5 1e 1.5",
            "Keyword:SELECT Word:a Dot:. Word:1b Comma:, Decimal:.5 Double:1.e5 Word:1e Decimal:1.5",
        );
        check("a. 1b `a`.1b a .1b", "Word:a Dot:. Word:1b Quoted:`a` Decimal:.1 Word:b Word:a Decimal:.1 Word:b");
        check("t.select x'4D' 0x1f 0b01 b'1' 0xg", "Word:t Dot:. Word:select Hex:x'4D' Hex:0x1f Bits:0b01 Bits:b'1' Word:0xg");
        check("a<=>b<>c!=d", "Word:a NullSafeEqual:<=> Word:b NotEqual:<> Word:c NotEqual:!= Word:d");
        check("/*!40101 a */ b /*!99999 c /* x */ d */ e /*M!1 f */", "Word:a Word:b Word:e");
        check("a -- x\n b--1 # c", "Word:a Word:b Minus:- Minus:- Int:1");
        check(
            "'a''b' \"c\\\"d\" `e``f` N'x' @`v` @a.b @@c",
            "String:'a''b' String:\"c\\\"d\" Quoted:`e``f` National:N'x' QuotedVariable:@`v` Variable:@a.b AtAt:@@ Word:c",
        );
        check("'abc", "Bad:'abc");
        check("/* abc", "Bad:/* abc");
        check("a->'$.x' b->>'$'", "Word:a Arrow:-> String:'$.x' Word:b LongArrow:->> String:'$'");
    }

    #[test]
    fn escapes() {
        let mut out = Vec::new();
        unescape(br"a\n\'\%''\\z\", b'\'', true, &mut out);
        assert_eq!(out, b"a\n'\\%'\\z\\");
    }
}
