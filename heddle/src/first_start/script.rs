//! Files of SQL, cut into statements as the `mysql` client cuts them.
//!
//! 1. A statement ends at the delimiter, outside of strings, quoted names and comments. `DELIMITER text` on a line of its own changes it.
//! 2. Comments stay in their statement, since `/*! ... */` and hints are code. What consists of comments alone is no statement.
//! 3. Other commands of the client (`source`, `\.` and their like) are refused by name: they would read other files, or print.
//!
//! S1: the memory is bounded by the longest statement, and that by [`STATEMENT_BYTES_MAX`].

use std::collections::VecDeque;
use std::io::{BufRead, Read};

/// What a server takes at most in one packet.
const STATEMENT_BYTES_MAX: usize = 1 << 30;

/// A statement of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Statement {
    pub text: Vec<u8>,
    /// Where it begins, from 1.
    pub line: usize,
}

/// The statements of a file, one after the other.
pub struct Statements<R> {
    input: R,
    cutter: Cutter,
    ended: bool,
}

impl<R: BufRead> Statements<R> {
    pub fn new(input: R) -> Self {
        Self { input, cutter: Cutter::new(), ended: false }
    }

    fn read_line(&mut self) -> Result<bool, String> {
        let mut line = Vec::new();
        let at = self.cutter.line + 1;
        let room = (STATEMENT_BYTES_MAX - self.cutter.text.len().min(STATEMENT_BYTES_MAX)) as u64 + 1;
        let length = self.input.by_ref().take(room).read_until(b'\n', &mut line).map_err(|e| format!("line {at}: {e}"))?;
        if length as u64 == room && line.last() != Some(&b'\n') {
            return Err(format!("line {at}: a statement is longer than {STATEMENT_BYTES_MAX} bytes"));
        }
        if length > 0 {
            self.cutter.feed(&line)?;
        }
        Ok(length > 0)
    }
}

impl<R: BufRead> Iterator for Statements<R> {
    type Item = Result<Statement, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(statement) = self.cutter.done.pop_front() {
                return Some(Ok(statement));
            }
            if self.ended {
                return None;
            }
            match self.read_line() {
                Ok(true) => {}
                Ok(false) => {
                    self.ended = true;
                    if let Err(why) = self.cutter.end() {
                        return Some(Err(why));
                    }
                }
                Err(why) => {
                    self.ended = true;
                    return Some(Err(why));
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Code,
    /// A string or a name, by its quote.
    Quotes(u8),
    Comment,
}

struct Cutter {
    delimiter: Vec<u8>,
    text: Vec<u8>,
    /// The line of the statement's first byte that is code.
    begins: Option<usize>,
    line: usize,
    within: Within,
    /// Inside of `/*! ... */`, whose text is code.
    is_conditional: bool,
    done: VecDeque<Statement>,
}

impl Cutter {
    fn new() -> Self {
        Self {
            delimiter: b";".to_vec(),
            text: Vec::new(),
            begins: None,
            line: 0,
            within: Within::Code,
            is_conditional: false,
            done: VecDeque::new(),
        }
    }

    /// Takes the next line, with its end.
    fn feed(&mut self, line: &[u8]) -> Result<(), String> {
        self.line += 1;
        // A mark of UTF-8 at the beginning of the file.
        let line = if self.line == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        if self.begins.is_none() && self.within == Within::Code && self.command(line)? {
            return Ok(());
        }
        let mut at = 0;
        while at < line.len() {
            at += self.step(&line[at..]);
        }
        Ok(())
    }

    /// Takes a line that is a command of the client.
    fn command(&mut self, line: &[u8]) -> Result<bool, String> {
        let text = line.trim_ascii();
        let word_length = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let (word, rest) = (&text[..word_length], text[word_length..].trim_ascii());
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        if is("delimiter") {
            let delimiter = rest.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            if delimiter.is_empty() || delimiter.contains(&b'\\') {
                return Err(format!("line {}: DELIMITER needs a text, without a backslash", self.line));
            }
            self.delimiter = delimiter.to_vec();
            return Ok(true);
        }
        let refused = ["source", "system", "tee", "pager", "edit", "connect"].into_iter().any(is) || word.starts_with(b"\\");
        if refused {
            return Err(format!(
                "line {}: {} is a command of the mysql client, not SQL",
                self.line,
                String::from_utf8_lossy(word)
            ));
        }
        Ok(false)
    }

    /// Takes the next bytes of a line; answers how many.
    fn step(&mut self, rest: &[u8]) -> usize {
        let taken = match self.within {
            Within::Quotes(quote) => match rest {
                [b'\\', _, ..] if quote != b'`' => 2,
                [byte, ..] if *byte == quote => {
                    self.within = Within::Code; // A doubled quote begins again at once.
                    1
                }
                _ => 1,
            },
            Within::Comment if rest.starts_with(b"*/") => {
                self.within = Within::Code;
                2
            }
            Within::Comment => 1,
            Within::Code => return self.code(rest),
        };
        self.text.extend_from_slice(&rest[..taken]);
        taken
    }

    fn code(&mut self, rest: &[u8]) -> usize {
        if !self.is_conditional && rest.starts_with(&self.delimiter) {
            self.finish();
            return self.delimiter.len();
        }
        let is_line_comment = match rest {
            [b'#', ..] | [b'-', b'-'] => true,
            [b'-', b'-', next, ..] => next.is_ascii_whitespace() || next.is_ascii_control(),
            _ => false,
        };
        let taken = match rest {
            _ if is_line_comment => {
                // Its end stays, so that what stands before and behind it is not joined.
                self.text.extend_from_slice(rest);
                return rest.len();
            }
            [b'/', b'*', b'!' | b'+', ..] => {
                self.is_conditional = true;
                self.begin();
                3
            }
            [b'/', b'*', ..] => {
                self.within = Within::Comment;
                2
            }
            [b'*', b'/', ..] if self.is_conditional => {
                self.is_conditional = false;
                2
            }
            [quote @ (b'\'' | b'"' | b'`'), ..] => {
                self.within = Within::Quotes(*quote);
                self.begin();
                1
            }
            [byte, ..] => {
                if !byte.is_ascii_whitespace() {
                    self.begin();
                }
                1
            }
            [] => 0,
        };
        self.text.extend_from_slice(&rest[..taken]);
        taken
    }

    fn begin(&mut self) {
        self.begins.get_or_insert(self.line);
    }

    fn finish(&mut self) {
        let text = std::mem::take(&mut self.text);
        if let Some(line) = self.begins.take() {
            self.done.push_back(Statement { text: text.trim_ascii().to_vec(), line });
        }
    }

    /// The file ends: a last statement needs no delimiter.
    fn end(&mut self) -> Result<(), String> {
        let open = match self.within {
            Within::Quotes(quote) => Some(format!("text in {}", char::from(quote))),
            Within::Comment => Some("comment".to_owned()),
            Within::Code if self.is_conditional => Some("comment".to_owned()),
            Within::Code => None,
        };
        if let Some(what) = open {
            return Err(format!("line {}: the file ends within a {what}", self.begins.unwrap_or(self.line)));
        }
        self.finish();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Result<Vec<(usize, String)>, String> {
        let text_of = |statement: Statement| (statement.line, String::from_utf8(statement.text).unwrap());
        Statements::new(text.as_bytes()).map(|statement| statement.map(text_of)).collect()
    }

    fn check(text: &str, expected: &[(usize, &str)]) {
        let expected: Vec<(usize, String)> = expected.iter().map(|(line, text)| (*line, (*text).to_owned())).collect();
        assert_eq!(cut(text), Ok(expected), "{text}");
    }

    #[test]
    fn delimiters_end_statements() {
        check("", &[]);
        check("SELECT 1; SELECT\n2;\n", &[(1, "SELECT 1"), (1, "SELECT\n2")]);
        check("SELECT 1", &[(1, "SELECT 1")]);
        check(";;\n;", &[]);
        check("\u{feff}SELECT 1;\r\nSELECT 2;\r\n", &[(1, "SELECT 1"), (2, "SELECT 2")]);
    }

    #[test]
    fn delimiters_in_texts_and_comments_are_none() {
        check(
            "SELECT ';', \"a;\"\"b\", `c;``d`, 'it''s;', 'x\\';y';",
            &[(1, "SELECT ';', \"a;\"\"b\", `c;``d`, 'it''s;', 'x\\';y'")],
        );
        check("SELECT `a\\`; SELECT 2", &[(1, "SELECT `a\\`"), (1, "SELECT 2")]);
        check("-- a; b\n# c;\n/* d; */ SELECT 1 -- e;\n;", &[(3, "-- a; b\n# c;\n/* d; */ SELECT 1 -- e;")]);
        check("SELECT 1--2;", &[(1, "SELECT 1--2")]);
        check("--\nSELECT 1;\n-- only a comment\n", &[(2, "--\nSELECT 1")]);
        check("/* only; this */", &[]);
    }

    #[test]
    fn conditional_comments_are_code() {
        check("/*!40101 SET NAMES utf8 */;", &[(1, "/*!40101 SET NAMES utf8 */")]);
        check("/*!50003 SET a = '*/;' ; */ ;", &[(1, "/*!50003 SET a = '*/;' ; */")]);
    }

    #[test]
    fn the_delimiter_can_be_changed() {
        let program = "CREATE PROCEDURE p()\nBEGIN\n  SELECT 1;\nEND";
        check(&format!("delimiter //\n{program} //\nDELIMITER ;\nSELECT 2;"), &[(2, program), (7, "SELECT 2")]);
    }

    #[test]
    fn mistakes_name_their_line() {
        let wrong = |text: &str, expected: &str| assert_eq!(cut(text).unwrap_err(), expected);
        wrong("SELECT 1;\nSELECT 'a;\n", "line 2: the file ends within a text in '");
        wrong("/* a", "line 1: the file ends within a comment");
        wrong("\nsource other.sql\n", "line 2: source is a command of the mysql client, not SQL");
        wrong("\\. other.sql\n", "line 1: \\. is a command of the mysql client, not SQL");
        wrong("DELIMITER\n", "line 1: DELIMITER needs a text, without a backslash");
    }
}
