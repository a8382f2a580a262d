//! Cuts texts into words.

use super::{COLUMN_GAP, FullTextDef, Parser, WORD_KEY_BYTES_MAX};
use crate::CollationId;
use crate::collation::{self, char_count, prefix_bytes, sort_key};
use std::collections::HashSet;

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'t> {
    /// As it stands in the text.
    pub text: &'t [u8],
    /// Its sort key. Empty if it is too long for one.
    pub key: &'t [u8],
    /// See T3.
    pub place: u32,
    /// The index has it: it is not too short, too long or a stop word.
    pub is_indexed: bool,
}

/// Cuts the texts of one index.
#[derive(Clone, Debug)]
pub struct WordCutter {
    parser: Parser,
    collation: CollationId,
    /// As sort keys.
    stop_words: HashSet<Box<[u8]>>,
    /// The characters of the longest stop word.
    stop_characters_max: usize,
}

impl WordCutter {
    pub fn new(def: &FullTextDef, collation: CollationId) -> Self {
        let key = |word: &str| {
            let mut key = Vec::new();
            sort_key(word.as_bytes(), collation, &mut key);
            key.into_boxed_slice()
        };
        let words = def.stop_words.words();
        let stop_characters_max = words.iter().map(|word| word.chars().count()).max().unwrap_or(0);
        let stop_words = words.into_iter().map(key).collect();
        Self { parser: def.parser, collation, stop_words, stop_characters_max }
    }

    pub fn collation(&self) -> CollationId {
        self.collation
    }

    pub fn is_ngram(&self) -> bool {
        matches!(self.parser, Parser::Ngram { .. })
    }

    /// The length of the parts of [`Parser::Ngram`].
    pub fn ngram_size(&self) -> Option<usize> {
        if let Parser::Ngram { size } = self.parser { Some(size as usize) } else { None }
    }

    /// Passes on every word of a row whose columns have these texts, in their order. Bytes that are no UTF-8 part words.
    pub fn cut<'t>(&self, texts: impl Iterator<Item = &'t [u8]>, mut each: impl FnMut(Word<'_>)) {
        let mut key = Vec::with_capacity(64);
        let mut place = 0u32;
        for text in texts {
            place = self.cut_text(text, place, &mut key, &mut each).saturating_add(COLUMN_GAP);
        }
    }

    /// The words of one text, from `place` on; gives the place behind them.
    fn cut_text(&self, text: &[u8], mut place: u32, key: &mut Vec<u8>, each: &mut impl FnMut(Word<'_>)) -> u32 {
        let mut give = |word: &[u8], is_long_enough: bool| {
            key.clear();
            sort_key(word, self.collation, key);
            if key.len() > WORD_KEY_BYTES_MAX {
                key.clear();
            }
            let is_indexed = is_long_enough && !key.is_empty() && !self.is_stopped(word, key);
            each(Word { text: word, key, place, is_indexed });
            place = place.saturating_add(1);
        };
        match self.parser {
            Parser::Standard { min, max } => each_run(text, is_of_word, |word| {
                let characters = char_count(word);
                give(word, (min as usize..=max as usize).contains(&characters));
            }),
            Parser::Ngram { size } => each_run(
                text,
                |c| c != ' ',
                |run| {
                    let size = size as usize;
                    let mut rest = run;
                    let mut characters = char_count(run);
                    while characters >= size && !rest.is_empty() {
                        give(&rest[..prefix_bytes(rest, size)], true);
                        rest = &rest[prefix_bytes(rest, 1)..];
                        characters -= 1;
                    }
                },
            ),
        }
        place
    }

    /// Is it left out? Of [`Parser::Ngram`] each part is that has a stop word in it.
    fn is_stopped(&self, word: &[u8], key: &[u8]) -> bool {
        if self.stop_words.is_empty() {
            return false;
        }
        let Parser::Ngram { size } = self.parser else { return self.stop_words.contains(key) };
        let (mut rest, mut part) = (word, Vec::new());
        while !rest.is_empty() {
            for characters in 1..=self.stop_characters_max.min(size as usize) {
                part.clear();
                sort_key(&rest[..prefix_bytes(rest, characters)], self.collation, &mut part);
                if self.stop_words.contains(&part[..]) {
                    return true;
                }
            }
            rest = &rest[prefix_bytes(rest, 1)..];
        }
        false
    }
}

/// Does a word start with `prefix`, in a collation? Characters are compared with characters.
pub fn starts_with(word: &[u8], prefix: &[u8], prefix_characters: usize, collation: CollationId) -> bool {
    let head = &word[..prefix_bytes(word, prefix_characters)];
    collation::equal(head, prefix, collation)
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Passes on the longest runs of characters of a kind.
fn each_run(text: &[u8], is_of: impl Fn(char) -> bool, mut give: impl FnMut(&[u8])) {
    let mut begin = None;
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        let (is_inside, length) = if byte < 0x80 {
            (is_of(char::from(byte)), 1)
        } else {
            match first_char(&text[at..]) {
                Some(c) => (is_of(c), c.len_utf8()),
                None => (false, 1),
            }
        };
        match (begin, is_inside) {
            (None, true) => begin = Some(at),
            (Some(from), false) => {
                give(&text[from..at]);
                begin = None;
            }
            _ => {}
        }
        at += length;
    }
    if let Some(from) = begin {
        give(&text[from..]);
    }
}

/// The character that a text begins with; `None`: it does not begin with UTF-8.
fn first_char(text: &[u8]) -> Option<char> {
    let length = match text.first()? {
        0..0x80 => 1,
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => return None,
    };
    std::str::from_utf8(text.get(..length)?).ok()?.chars().next()
}
