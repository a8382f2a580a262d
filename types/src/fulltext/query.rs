//! The text of AGAINST, parsed.
//!
//! ```text
//! boolean    items: [+ - > < ~] (word [*] | "phrase" [@distance] | ( items ))
//! natural    words and "phrases", any of them
//! ```
//!
//! Q1: nesting is bounded by [`DEPTH_MAX`], so evaluation may recurse.

use super::{Word, WordCutter};
use crate::collation::char_count;

/// Groups within groups.
const DEPTH_MAX: usize = 100;
/// Words of one query; more are left out, as a text that is much longer than any question.
const WORDS_MAX: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Natural,
    Boolean,
}

/// A text of boolean mode that is no query: the sentence of MySQL's parser about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError(pub String);

/// A search.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub(super) items: Vec<Item>,
    pub(super) words: Vec<QueryWord>,
}

/// A different word of the query.
#[derive(Clone, Debug)]
pub struct QueryWord {
    pub text: Vec<u8>,
    pub key: Vec<u8>,
    /// `word*`: so many characters that words must start with.
    pub prefix_characters: Option<usize>,
    /// The index may have it.
    pub is_indexed: bool,
    /// How often the query has it: the rows that have it count as often, as in InnoDB.
    pub uses: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Item {
    pub operator: Operator,
    pub node: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// A row may have it.
    May,
    /// `+`
    Must,
    /// `-`
    MustNot,
    /// `>`, `<`: the rank gets 1 more, or less.
    Raise,
    Lower,
    /// `~`: it adds nothing to the rank.
    Negate,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Word(usize),
    /// Words with their places in the phrase. With a distance: all of them, in any order, within so many words.
    Phrase {
        words: Vec<(usize, u32)>,
        distance: Option<u32>,
    },
    Group(Vec<Item>),
}

impl Query {
    /// # Errors
    /// The text is no query of boolean mode.
    pub fn parse(text: &[u8], mode: Mode, cutter: &WordCutter) -> Result<Self, SyntaxError> {
        let mut parser = QueryParser { lexer: Lexer { rest: text }, query: Self::default(), cutter };
        match mode {
            Mode::Natural => parser.natural(text),
            Mode::Boolean => {
                let items = parser.items(0)?;
                parser.query.items = items;
            }
        }
        Ok(parser.query)
    }

    /// Each different word.
    pub fn words(&self) -> &[QueryWord] {
        &self.words
    }

    /// Does it ask for nothing?
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Is it answered from the index to the end? Otherwise the texts of the rows that the index gives must be looked at, too.
    pub fn needs_texts(&self) -> bool {
        self.items.iter().any(|item| item.needs_texts(&self.words))
    }

    /// Does a phrase ask for the places of words?
    pub fn needs_places(&self) -> bool {
        self.items.iter().any(Item::needs_places)
    }

    /// WITH QUERY EXPANSION: adds a word of a row that was found, unless the query has it.
    pub fn expand(&mut self, word: Word<'_>) {
        let is_known = self.words.iter().any(|known| known.key == word.key && known.prefix_characters.is_none());
        if !is_known && word.is_indexed && self.words.len() < WORDS_MAX {
            self.words.push(QueryWord::new(&word, None));
            self.items.push(Item { operator: Operator::May, node: Node::Word(self.words.len() - 1) });
        }
    }
}

impl QueryWord {
    fn new(word: &Word<'_>, prefix_characters: Option<usize>) -> Self {
        let (text, key) = (word.text.to_vec(), word.key.to_vec());
        Self { text, key, prefix_characters, is_indexed: word.is_indexed, uses: 1 }
    }
}

impl Item {
    fn needs_texts(&self, words: &[QueryWord]) -> bool {
        match &self.node {
            Node::Word(_) => false,
            Node::Phrase { words: of, .. } => of.iter().any(|(word, _)| !words[*word].is_indexed),
            Node::Group(items) => items.iter().any(|item| item.needs_texts(words)),
        }
    }

    fn needs_places(&self) -> bool {
        match &self.node {
            Node::Word(_) => false,
            Node::Phrase { .. } => true,
            Node::Group(items) => items.iter().any(Item::needs_places),
        }
    }
}

struct QueryParser<'q> {
    lexer: Lexer<'q>,
    query: Query,
    cutter: &'q WordCutter,
}

impl<'q> QueryParser<'q> {
    /// Words outside of quotes; the texts within are phrases.
    fn natural(&mut self, text: &'q [u8]) {
        let mut rest = text;
        while let Some(open) = memchr::memchr(b'"', rest) {
            let Some(close) = memchr::memchr(b'"', &rest[open + 1..]) else { break };
            self.words_of(&rest[..open]);
            if let Some(node) = self.phrase(&rest[open + 1..open + 1 + close], None) {
                self.query.items.push(Item { operator: Operator::May, node });
            }
            rest = &rest[open + close + 2..];
        }
        self.words_of(rest);
    }

    fn words_of(&mut self, text: &[u8]) {
        let mut words = Vec::new();
        self.cutter.cut(std::iter::once(text), |word| words.extend(add_word(&mut self.query, &word, None)));
        let item = |word| Item { operator: Operator::May, node: Node::Word(word) };
        self.query.items.extend(words.into_iter().map(item));
    }

    /// Items up to the end of the text, or of the group.
    fn items(&mut self, depth: usize) -> Result<Vec<Item>, SyntaxError> {
        let mut items = Vec::new();
        if depth > DEPTH_MAX {
            return Err(SyntaxError("memory exhausted".to_owned()));
        }
        loop {
            let mut operator = Operator::May;
            let mut token = self.lexer.next();
            match (token, depth) {
                (Token::End, 0) | (Token::Sign(b')'), 1..) => return Ok(items),
                (Token::Sign(b')' | b'@'), 0) if !items.is_empty() => return Err(unexpected(token, ", expecting $end")),
                _ => {}
            }
            if let Token::Sign(sign @ (b'+' | b'-' | b'<' | b'>' | b'~')) = token {
                operator = match sign {
                    b'+' => Operator::Must,
                    b'-' => Operator::MustNot,
                    b'<' => Operator::Lower,
                    b'>' => Operator::Raise,
                    _ => Operator::Negate,
                };
                token = self.lexer.next();
            }
            let node = match token {
                Token::Sign(b'(') => Some(Node::Group(self.items(depth + 1)?)),
                Token::Sign(b'*') => {
                    let term = loop {
                        match self.lexer.next() {
                            Token::Sign(b'*') => {}
                            Token::Term(term) | Token::Number(term) => break term,
                            other => return Err(unexpected(other, ", expecting FTS_TERM or FTS_NUMB or '*'")),
                        }
                    };
                    self.term(term)
                }
                Token::Term(term) | Token::Number(term) => self.term(term),
                Token::Text(text) => {
                    let distance = if self.lexer.skips(b'@') { Some(self.distance()?) } else { None };
                    self.phrase(text, distance)
                }
                other => return Err(unexpected(other, "")),
            };
            items.push(Item { operator, node: node.unwrap_or_else(|| Node::Group(Vec::new())) });
        }
    }

    fn distance(&mut self) -> Result<u32, SyntaxError> {
        match self.lexer.next() {
            Token::Number(digits) => {
                let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
                Ok(number.unwrap_or(u32::MAX))
            }
            other => Err(unexpected(other, ", expecting FTS_NUMB")),
        }
    }

    /// A word, or several that signs part; `None`: it has none.
    fn term(&mut self, term: &[u8]) -> Option<Node> {
        let is_prefix = self.lexer.skips(b'*');
        if let Some(size) = self.cutter.ngram_size() {
            if is_prefix && char_count(term) < size {
                return self.prefix(term);
            }
            return self.phrase(term, None);
        }
        let mut words = Vec::new();
        self.cutter.cut(std::iter::once(term), |word| {
            let prefix = is_prefix.then(|| char_count(word.text));
            words.extend(add_word(&mut self.query, &word, prefix));
        });
        let item = |word| Item { operator: Operator::May, node: Node::Word(word) };
        match words[..] {
            [] => None,
            [word] => Some(Node::Word(word)),
            _ => Some(Node::Group(words.into_iter().map(item).collect())),
        }
    }

    /// The begin of a part of [`super::Parser::Ngram`].
    fn prefix(&mut self, term: &[u8]) -> Option<Node> {
        let mut key = Vec::new();
        crate::collation::sort_key(term, self.cutter.collation(), &mut key);
        let word = Word { text: term, key: &key, place: 0, is_indexed: true };
        add_word(&mut self.query, &word, Some(char_count(term))).map(Node::Word)
    }

    fn phrase(&mut self, text: &[u8], distance: Option<u32>) -> Option<Node> {
        let mut words = Vec::new();
        self.cutter.cut(std::iter::once(text), |word| {
            words.extend(add_word(&mut self.query, &word, None).map(|number| (number, word.place)));
        });
        match words[..] {
            [] => None,
            [(word, _)] => Some(Node::Word(word)),
            _ => Some(Node::Phrase { words, distance }),
        }
    }
}

/// The number of a word of the query.
fn add_word(query: &mut Query, word: &Word<'_>, prefix: Option<usize>) -> Option<usize> {
    // The start of words may be shorter than these.
    let is_indexed = !word.key.is_empty() && (word.is_indexed || prefix.is_some());
    let is_same = |known: &QueryWord| known.key == word.key && known.prefix_characters == prefix && !word.key.is_empty();
    if let Some(known) = query.words.iter().position(is_same) {
        query.words[known].uses += 1;
        return Some(known);
    }
    if query.words.len() == WORDS_MAX {
        return None;
    }
    query.words.push(QueryWord { is_indexed, ..QueryWord::new(word, prefix) });
    Some(query.words.len() - 1)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'q> {
    End,
    /// One of `( ) + - < > ~ * @`
    Sign(u8),
    Term(&'q [u8]),
    Number(&'q [u8]),
    /// What stands in double quotes.
    Text(&'q [u8]),
}

fn unexpected(token: Token<'_>, expecting: &str) -> SyntaxError {
    let token = match token {
        Token::End => "$end".to_owned(),
        Token::Sign(sign) => format!("'{}'", char::from(sign)),
        Token::Term(_) => "FTS_TERM".to_owned(),
        Token::Number(_) => "FTS_NUMB".to_owned(),
        Token::Text(_) => "FTS_TEXT".to_owned(),
    };
    SyntaxError(format!("syntax error, unexpected {token}{expecting}"))
}

struct Lexer<'q> {
    rest: &'q [u8],
}

impl<'q> Lexer<'q> {
    fn next(&mut self) -> Token<'q> {
        loop {
            let rest = self.rest;
            let Some(first) = rest.first() else { return Token::End };
            match first {
                b'(' | b')' | b'+' | b'-' | b'<' | b'>' | b'~' | b'*' | b'@' => {
                    self.rest = &rest[1..];
                    return Token::Sign(*first);
                }
                b'"' => {
                    self.rest = &rest[1..];
                    // Without its end the sign says nothing.
                    let end = rest[1..].iter().position(|byte| matches!(byte, b'"' | b'\n'));
                    if let Some(end) = end.filter(|end| rest[1 + end] == b'"') {
                        self.rest = &rest[end + 2..];
                        return Token::Text(&rest[1..=end]);
                    }
                }
                b' ' | b'\t' | b'\n' | b'%' => self.rest = &rest[1..],
                _ => {
                    let is_end = |byte: &u8| b"()+-<>~*@\" \t\n%".contains(byte);
                    let length = rest.iter().position(is_end).unwrap_or(rest.len());
                    let (term, behind) = rest.split_at(length);
                    self.rest = behind;
                    let is_number = term.iter().all(u8::is_ascii_digit);
                    return if is_number { Token::Number(term) } else { Token::Term(term) };
                }
            }
        }
    }

    /// Passes over a sign that stands here, or behind spaces.
    fn skips(&mut self, sign: u8) -> bool {
        let spaces = self.rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n')).count();
        // A star belongs to its word.
        let is_there = self.rest.get(spaces) == Some(&sign) && (sign != b'*' || spaces == 0);
        if is_there {
            self.rest = &self.rest[spaces + 1..];
        }
        is_there
    }
}
