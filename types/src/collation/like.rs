//! LIKE: `%` matches any text, `_` any character; an escape character before either makes it a literal.
//!
//! Two positions move forward, in the pattern and in the text. After a mismatch the text position returns to one past
//! the place where the last `%` began to match. Only the last `%` is ever retried, so the work is at most pattern
//! length times text length.

use super::weights::{decode_char, simple_weight, uca_weights};
use super::{Method, method};
use crate::CollationId;

/// One step of a pattern.
enum Step {
    Any,
    One,
    Char(u32),
}

/// Work of one step, in bytes of a plain copy (`work`).
const STEP_UNITS: usize = 8;
/// Steps that are counted together.
const STEPS_COUNTED: usize = 1024;

/// Does the text match the pattern? The result is meaningless if the work was stopped (`work::finish`). `escape` is the
/// escape character, `None` without one (`ESCAPE ''`). Characters are compared one by one with the collation's weights;
/// trailing spaces count.
pub fn like(text: &[u8], pattern: &[u8], escape: Option<u8>, collation: CollationId) -> bool {
    let matcher = Matcher { escape, method: method(collation), bytes: collation.is_binary() };
    let (mut t, mut p) = (0, 0);
    // After a `%`: the pattern after it, and the position in the text where it began.
    let mut retry: Option<(usize, usize)> = None;
    let mut steps = 0usize;
    loop {
        if p == pattern.len() && t == text.len() {
            return true;
        }
        steps += 1;
        if steps.is_multiple_of(STEPS_COUNTED) && crate::work::spend(STEPS_COUNTED * STEP_UNITS).is_err() {
            return false;
        }
        let step = (p < pattern.len()).then(|| matcher.step(&pattern[p..]));
        let matched = match step {
            Some((Step::Any, length)) => {
                p += length;
                if p == pattern.len() {
                    return true;
                }
                retry = Some((p, t));
                continue;
            }
            Some((step, length)) if t < text.len() => {
                let (code, text_length) = matcher.char_at(&text[t..]);
                let fits = match step {
                    Step::Char(wanted) => matcher.same(code, wanted),
                    _ => true,
                };
                if fits {
                    p += length;
                    t += text_length;
                }
                fits
            }
            _ => false,
        };
        if matched {
            continue;
        }
        let Some((behind, from)) = retry else { return false };
        if from >= text.len() {
            return false;
        }
        let from = from + matcher.char_at(&text[from..]).1;
        retry = Some((behind, from));
        (p, t) = (behind, from);
    }
}

/// The restriction that a pattern puts on the order of matching strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LikePrefix {
    /// Matching texts begin with this (as characters that compare equal).
    pub prefix: Vec<u8>,
    /// There is no wildcard: the text must be the prefix, no more.
    pub exact: bool,
}

/// The literal head of a pattern.
pub fn like_prefix(pattern: &[u8], escape: Option<u8>) -> LikePrefix {
    let mut prefix = Vec::new();
    let mut rest = pattern;
    while let Some((&byte, tail)) = rest.split_first() {
        match byte {
            _ if Some(byte) == escape && !tail.is_empty() => {
                let length = decode_char(tail).1;
                prefix.extend_from_slice(&tail[..length]);
                rest = &tail[length..];
            }
            b'%' | b'_' => return LikePrefix { prefix, exact: false },
            _ => {
                prefix.push(byte);
                rest = tail;
            }
        }
    }
    LikePrefix { prefix, exact: true }
}

struct Matcher {
    escape: Option<u8>,
    method: Method,
    bytes: bool,
}

impl Matcher {
    fn char_at(&self, text: &[u8]) -> (u32, usize) {
        if self.bytes || text[0] < 0x80 { (u32::from(text[0]), 1) } else { decode_char(text) }
    }

    /// The first step of a pattern that is not empty, and its length. An escape character at the very end is a literal.
    fn step(&self, pattern: &[u8]) -> (Step, usize) {
        if Some(pattern[0]) == self.escape && pattern.len() > 1 {
            let (code, length) = self.char_at(&pattern[1..]);
            return (Step::Char(code), 1 + length);
        }
        match pattern[0] {
            b'%' => (Step::Any, 1),
            b'_' => (Step::One, 1),
            _ => {
                let (code, length) = self.char_at(pattern);
                (Step::Char(code), length)
            }
        }
    }

    fn same(&self, a: u32, b: u32) -> bool {
        a == b
            || match self.method {
                Method::Bytes | Method::PaddedBytes => false,
                Method::Simple(table) => simple_weight(a, table) == simple_weight(b, table),
                Method::OldUca(old) => old.weights(a).same(old.weights(b)),
                Method::Uca900(levels) => (0..usize::from(levels)).all(|level| uca_weights(a, level).same(uca_weights(b, level))),
            }
    }
}
