//! LIKE: `%` matches any text, `_` any character; an escape character before either makes it a literal.
//!
//! Two positions move forward, in the pattern and in the text. After a mismatch the text position returns to one past
//! the place where the last `%` began to match. Only the last `%` is ever retried, so the work is at most pattern
//! length times text length. A text and a pattern of ASCII characters, the usual case, are compared by bytes (`super::ascii`).

use super::ascii::Classes;
use super::weights::{Simple, decode_char, simple_weight, uca_weights};
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
    let matcher = Matcher::new(escape, collation);
    match matcher.classes {
        Some(classes) if text.is_ascii() && pattern.is_ascii() => classes.like(text, pattern, escape),
        _ => like_any(text, pattern, &matcher),
    }
}

/// As [`like`], for all texts.
fn like_any(text: &[u8], pattern: &[u8], matcher: &Matcher) -> bool {
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
    classes: Option<&'static Classes>,
}

impl Matcher {
    fn new(escape: Option<u8>, collation: CollationId) -> Self {
        let method = method(collation);
        let classes = Classes::of(collation, |a, b| same(method, a, b));
        Self { escape, method, bytes: collation.is_binary(), classes }
    }

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
        match self.classes {
            Some(classes) if (a | b) < 0x80 => classes.same(a as u8, b as u8),
            _ => same(self.method, a, b),
        }
    }
}

/// Have the characters the same weights?
fn same(method: Method, a: u32, b: u32) -> bool {
    a == b
        || match method {
            Method::Bytes | Method::PaddedBytes => false,
            Method::Simple(Simple::Bytes(order)) => order.class(a) == order.class(b),
            Method::Levels(levels) => levels.order().class(a) == levels.order().class(b),
            Method::Encoded(order) => order.is_same(a, b),
            Method::Simple(table) => simple_weight(a, table) == simple_weight(b, table),
            Method::OldUca(old) => old.weights(a).same(old.weights(b)),
            Method::OldTailored(tailoring) => tailoring.same(a, b, 1),
            Method::Tailored(tailoring, levels) => tailoring.same(a, b, levels.into()),
            Method::Uca900(levels) => (0..usize::from(levels)).all(|level| uca_weights(a, level).same(uca_weights(b, level))),
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collation::ALL;
    use proptest::prelude::*;

    #[test]
    fn classes_say_what_weights_say() {
        for collation in ALL.iter().map(|info| info.id) {
            let classes = Classes::of(collation, |a, b| same(method(collation), a, b)).expect("all are numbered so");
            for (a, b) in (0..128u8).flat_map(|a| (0..128u8).map(move |b| (a, b))) {
                assert_eq!(classes.same(a, b), same(method(collation), a.into(), b.into()), "{} {a} {b}", collation.name());
            }
        }
    }

    /// Few characters, so that much matches.
    fn texts(of: &'static str) -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(prop::sample::select(of.as_bytes()), 0..9)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 4096 }))]

        #[test]
        fn ascii_is_matched_as_all_texts_are(
            text in texts("aAb \u{0}\u{1}9%_|"),
            pattern in texts("aAb \u{0}\u{1}9%%%__||"),
            escape in prop::sample::select(vec![None, Some(b'|'), Some(b'%'), Some(b'_'), Some(b'a')]),
        ) {
            for collation in ALL.iter().map(|info| info.id) {
                let matcher = Matcher { classes: None, ..Matcher::new(escape, collation) };
                let expected = like_any(&text, &pattern, &matcher);
                prop_assert_eq!(like(&text, &pattern, escape, collation), expected, "{}", collation.name());
            }
        }
    }
}
