//! Full text: how texts are cut into words, what a search asks for, and how well a row answers it.
//!
//! ```text
//! FullTextDef   the rules of one index: parser, lengths of words, stop words    (schema)
//! WordCutter    cuts the texts of a row by them: word by word, each as a key    (`table` makes index entries of them)
//! Query         the text of AGAINST, parsed                                     (`exec` looks its words up, counts rows)
//! Ranker        the query with the weights of its words: the rank of a row
//! ```
//!
//! The reference is MySQL's InnoDB: its words, its boolean grammar (manual, "Boolean Full-Text Searches"), its ranks: the sum over the words
//! of `occurrences * idf^2`, `idf = log10(rows / rows with the word)`.
//!
//! T1: the words of a text depend on the definition and the collation alone. So the entries of a row can be computed again from the row.
//! T2: two words are the same word if their sort keys are. A word whose key is longer than [`WORD_KEY_BYTES_MAX`] is no word: neither
//!     rows nor searches have it.
//! T3: a place is the number of a word in its row, words counted that the index leaves out. The columns are far apart, so that no phrase
//!     spans two of them.
//! T4: the rank of a row computed from its entries is that computed from its texts, to the bit.

mod places;
mod query;
mod rank;
mod words;

pub use places::{decode_places, encode_places};
pub use query::{Mode, Query, SyntaxError};
pub use rank::{Ranker, Statistics, WordHits};
pub use words::{Word, WordCutter, starts_with};

use serde::{Deserialize, Serialize};

/// See T2.
pub const WORD_KEY_BYTES_MAX: usize = 1024;
/// The distance between the last word of a column and the first of the next (T3).
const COLUMN_GAP: u32 = 1 << 20;

/// The words that InnoDB leaves out unless it is told otherwise, in the order of INNODB_FT_DEFAULT_STOPWORD.
pub const DEFAULT_STOP_WORDS: [&str; 36] = [
    "a", "about", "an", "are", "as", "at", "be", "by", "com", "de", "en", "for", "from", "how", "i", "in", "is", "it", "la",
    "of", "on", "or", "that", "the", "this", "to", "was", "what", "when", "where", "who", "will", "with", "und", "the", "www",
];

/// The rules by which the texts of a FULLTEXT index are cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FullTextDef {
    pub parser: Parser,
    pub stop_words: StopWords,
}

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Parser {
    /// Letters, digits and underscores that follow each other: so many characters at least and at most.
    Standard { min: u32, max: u32 },
    /// WITH PARSER ngram: each so many characters that follow each other without a space.
    Ngram { size: u32 },
}

/// The words that an index leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopWords {
    None,
    /// [`DEFAULT_STOP_WORDS`]
    Default,
    List(Vec<String>),
}

impl StopWords {
    /// The words, in any order.
    pub fn words(&self) -> Vec<&str> {
        match self {
            Self::None => Vec::new(),
            Self::Default => DEFAULT_STOP_WORDS.to_vec(),
            Self::List(words) => words.iter().map(String::as_str).collect(),
        }
    }
}

impl Default for FullTextDef {
    /// As a server has it whose settings nobody changed.
    fn default() -> Self {
        Self { parser: Parser::Standard { min: 3, max: 84 }, stop_words: StopWords::Default }
    }
}

#[cfg(test)]
mod tests;
