//! ASCII characters of a collation: which of them are one to LIKE, and LIKE over texts that have no others.
//!
//! A1: `Classes` says the same of two ASCII characters as comparing their weights does: it is made by comparing them, once per collation.
//! A2: `like` answers as the general matcher does. What is skipped behind a `%` are places where the pattern's next character, a literal, does
//!     not match, so a match begins at none of them.

use crate::CollationId;
use std::sync::OnceLock;

/// The numbers of all collations are below this.
const COLLATIONS: usize = 324;
static CLASSES: [OnceLock<Box<Classes>>; COLLATIONS] = [const { OnceLock::new() }; COLLATIONS];

/// Work of a byte, in bytes of a plain copy (`work`), and how many are counted together.
const BYTE_UNITS: usize = 2;
const BYTES_COUNTED: usize = 1024;
/// So many bytes are searched with the work of one.
const SEARCHED_BYTES: usize = 8;

/// The ASCII characters that LIKE takes for the same.
pub(super) struct Classes {
    /// The least character of each one's class.
    least: [u8; 128],
    /// What may be searched for to find a character.
    members: [Members; 128],
}

/// The characters of a class.
#[derive(Clone, Copy)]
enum Members {
    One(u8),
    Two(u8, u8),
    More,
}

impl Classes {
    /// Those of a collation; `same` compares two characters by their weights.
    pub fn of(collation: CollationId, same: impl Fn(u32, u32) -> bool) -> Option<&'static Self> {
        Some(CLASSES.get(usize::from(collation.0))?.get_or_init(|| Box::new(Self::new(same))))
    }

    fn new(same: impl Fn(u32, u32) -> bool) -> Self {
        let least = std::array::from_fn(|a| (0..a).find(|&b| same(a as u32, b as u32)).unwrap_or(a) as u8);
        let members = std::array::from_fn(|a| {
            let mut alike = (0..128u8).filter(|&b| least[usize::from(b)] == least[a]);
            match (alike.next(), alike.next(), alike.next()) {
                (Some(one), None, _) => Members::One(one),
                (Some(one), Some(other), None) => Members::Two(one, other),
                _ => Members::More,
            }
        });
        Self { least, members }
    }

    #[inline]
    pub fn same(&self, a: u8, b: u8) -> bool {
        self.least[usize::from(a & 0x7f)] == self.least[usize::from(b & 0x7f)]
    }

    /// The first place of `wanted` in the text.
    #[inline]
    fn find(&self, wanted: u8, text: &[u8]) -> Option<usize> {
        match self.members[usize::from(wanted & 0x7f)] {
            Members::One(one) => memchr::memchr(one, text),
            Members::Two(one, other) => memchr::memchr2(one, other, text),
            Members::More => text.iter().position(|&byte| self.same(byte, wanted)),
        }
    }

    /// As `super::like`, for a text and a pattern of ASCII characters.
    pub fn like(&self, text: &[u8], pattern: &[u8], escape: Option<u8>) -> bool {
        let (mut t, mut p) = (0, 0);
        if text.len() > BYTES_COUNTED && crate::work::spend(text.len() / SEARCHED_BYTES).is_err() {
            return false;
        }
        // As in the general matcher.
        let mut retry: Option<(usize, usize)> = None;
        let mut counted = 0usize;
        loop {
            let literal = match pattern.get(p) {
                None if t == text.len() => return true,
                None => None,
                Some(b'%') if escape != Some(b'%') || p + 1 == pattern.len() => {
                    p += 1;
                    let Some(&next) = pattern.get(p) else { return true };
                    let literal = (!matches!(next, b'%' | b'_') && Some(next) != escape).then_some(next);
                    let skipped = literal.map_or(Some(0), |literal| self.find(literal, &text[t..]));
                    let Some(skipped) = skipped else { return false };
                    t += skipped;
                    retry = Some((p, t));
                    continue;
                }
                Some(&byte) if Some(byte) == escape && p + 1 < pattern.len() => Some((pattern[p + 1], 2)),
                Some(&byte) => Some((byte, 1)),
            };
            counted += 1;
            if counted.is_multiple_of(BYTES_COUNTED) && crate::work::spend(BYTES_COUNTED * BYTE_UNITS).is_err() {
                return false;
            }
            if let (Some((wanted, length)), Some(&byte)) = (literal, text.get(t))
                && (length == 1 && wanted == b'_' || self.same(byte, wanted))
            {
                p += length;
                t += 1;
                continue;
            }
            // A2
            let Some((behind, from)) = retry else { return false };
            if from >= text.len() {
                return false;
            }
            let next = pattern[behind];
            let is_literal = !matches!(next, b'%' | b'_') && Some(next) != escape;
            let skipped = if is_literal { self.find(next, &text[from + 1..]) } else { Some(0) };
            let Some(skipped) = skipped else { return false };
            (p, t) = (behind, from + 1 + skipped);
            retry = Some((p, t));
        }
    }
}
