//! From text to documents (RFC 8259), with the messages of MySQL's parser.

use super::{DEPTH_MAX, Json, VALUE_UNITS};
use crate::work;

/// A syntax error, and its byte position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// MySQL's words. `None`: the document is nested too deep, which is an error of its own.
    pub why: Option<&'static str>,
    pub position: usize,
}

impl Json {
    /// Parses a text. If it is stopped (`work::finish`) the error is meaningless.
    pub fn parse(text: &[u8]) -> Result<Json, ParseError> {
        let mut parser = Parser { text, at: 0 };
        parser.skip_spaces();
        if parser.at == text.len() {
            return Err(parser.error("The document is empty."));
        }
        let value = parser.value(1)?;
        parser.skip_spaces();
        if parser.at < text.len() {
            return Err(parser.error("The document root must not be followed by other values."));
        }
        Ok(value)
    }
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
}

type Parsed<T> = Result<T, ParseError>;

const INVALID: &str = "Invalid value.";

impl Parser<'_> {
    #[cold]
    fn error(&self, why: &'static str) -> ParseError {
        self.error_at(why, self.at)
    }

    #[cold]
    fn error_at(&self, why: &'static str, position: usize) -> ParseError {
        ParseError { why: Some(why), position }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Consumes the byte, after spaces.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_spaces();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Parsed<Json> {
        // The watch of the thread reports the reason.
        work::spend(VALUE_UNITS).map_err(|_| self.error(INVALID))?;
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Json::String),
            Some(b'n') => self.word(b"null", Json::Null),
            Some(b't') => self.word(b"true", Json::Bool(true)),
            Some(b'f') => self.word(b"false", Json::Bool(false)),
            _ => self.number(),
        }
    }

    fn check_depth(&self, depth: usize) -> Parsed<()> {
        if depth > DEPTH_MAX { Err(ParseError { why: None, position: self.at }) } else { Ok(()) }
    }

    fn word(&mut self, word: &[u8], value: Json) -> Parsed<Json> {
        let same = self.text[self.at..].iter().zip(word).take_while(|(a, b)| a == b).count();
        self.at += same;
        if same < word.len() { Err(self.error(INVALID)) } else { Ok(value) }
    }

    fn array(&mut self, depth: usize) -> Parsed<Json> {
        self.check_depth(depth)?;
        self.at += 1;
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            self.skip_spaces();
            items.push(self.value(depth + 1)?);
            if self.take(b']') {
                return Ok(Json::Array(items));
            }
            if !self.take(b',') {
                return Err(self.error("Missing a comma or ']' after an array element."));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Parsed<Json> {
        self.check_depth(depth)?;
        self.at += 1;
        let mut members = Vec::new();
        if self.take(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_spaces();
            if self.peek() != Some(b'"') {
                return Err(self.error("Missing a name for object member."));
            }
            let name = self.string()?;
            if !self.take(b':') {
                return Err(self.error("Missing a colon after a name of object member."));
            }
            self.skip_spaces();
            members.push((name, self.value(depth + 1)?));
            if self.take(b'}') {
                return Ok(Json::object(members));
            }
            if !self.take(b',') {
                return Err(self.error("Missing a comma or '}' after an object member."));
            }
        }
    }

    fn string(&mut self) -> Parsed<String> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let run = self.text[self.at..].iter().take_while(|b| !matches!(b, b'"' | b'\\' | 0..0x20)).count();
            out.extend_from_slice(&self.text[self.at..self.at + run]);
            self.at += run;
            work::pass(run);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    let at = self.at;
                    return String::from_utf8(out).map_err(|_| self.error_at("Invalid encoding in string.", at));
                }
                Some(b'\\') => self.escape(&mut out)?,
                None | Some(0) => return Err(self.error("Missing a closing quotation mark in string.")),
                Some(_) => return Err(self.error("Invalid encoding in string.")),
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Parsed<()> {
        let start = self.at;
        let plain = match self.text.get(self.at + 1) {
            Some(b @ (b'"' | b'\\' | b'/')) => *b,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.at += 2;
                let code = self.unicode(start)?;
                let mut utf8 = [0; 4];
                out.extend_from_slice(code.encode_utf8(&mut utf8).as_bytes());
                return Ok(());
            }
            _ => return Err(self.error_at("Invalid escape character in string.", start)),
        };
        self.at += 2;
        out.push(plain);
        Ok(())
    }

    fn unicode(&mut self, start: usize) -> Parsed<char> {
        const SURROGATES: &str = "The surrogate pair in string is invalid.";
        let high = self.hex(start)?;
        if let Some(code) = char::from_u32(high) {
            return Ok(code);
        }
        if high >= 0xDC00 || !self.text[self.at..].starts_with(b"\\u") {
            return Err(self.error_at(SURROGATES, start));
        }
        self.at += 2;
        let low = self.hex(start)?;
        if !(0xDC00..0xE000).contains(&low) {
            return Err(self.error_at(SURROGATES, start));
        }
        char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)).ok_or_else(|| self.error_at(SURROGATES, start))
    }

    fn hex(&mut self, start: usize) -> Parsed<u32> {
        let digits = self.text.get(self.at..self.at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit())).and_then(|d| u32::from_str_radix(d, 16).ok());
        self.at += 4;
        code.ok_or_else(|| self.error_at("Incorrect hex digit after \\u escape in string.", start))
    }

    fn digits(&mut self) -> usize {
        let count = self.text[self.at..].iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += count;
        count
    }

    fn number(&mut self) -> Parsed<Json> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => drop(self.digits()),
            _ => return Err(self.error(INVALID)),
        }
        let mut whole = true;
        if self.peek() == Some(b'.') {
            whole = false;
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.error("Miss fraction part in number."));
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            whole = false;
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            if self.digits() == 0 {
                return Err(self.error("Miss exponent in number."));
            }
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).expect("digits and signs are ASCII");
        if whole
            && let Ok(number) = text.parse()
            // A positive number of more than 32 bits is unsigned, as in MySQL's parser.
            && number <= i64::from(u32::MAX)
        {
            // As a double, minus zero keeps its sign.
            return Ok(if text == "-0" { Json::Int(0) } else { Json::Int(number) });
        }
        if whole && let Ok(number) = text.parse() {
            return Ok(Json::UInt(number));
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Json::Double(number)),
            _ => Err(self.error_at("Number too big to be stored in double.", start)),
        }
    }
}
