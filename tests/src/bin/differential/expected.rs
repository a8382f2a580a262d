//! Differences that are known and meant to be, with the reason; `docs/COMPATIBILITY.md` tells users of each.

/// A known difference: statements that hold all the words, and differ in the way that the signature begins.
struct Expected {
    words: &'static [&'static str],
    signature: &'static str,
    why: &'static str,
}

const EXPECTED: &[Expected] =
    &[Expected { words: &[], signature: "error 1235 of heddle alone", why: "what Heddle does not have is refused by name" }];

/// Why a difference is expected, if it is.
pub fn reason(statement: &str, signature: &str) -> Option<&'static str> {
    let upper = statement.to_ascii_uppercase();
    EXPECTED.iter().find(|e| signature.starts_with(e.signature) && e.words.iter().all(|word| upper.contains(word))).map(|e| e.why)
}
