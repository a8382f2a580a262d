//! Collations whose weights are some bytes per character.

use super::weights::decode_char;
use crate::charset::eight_bit::ByteOrder;

/// Which weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoded {
    /// Of an eight-bit set, where a letter may be two: `ä` is `ae`.
    Expanding(&'static ByteOrder),
}

/// The weight of a character, up to four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Weight {
    bytes: [u8; 4],
    length: u8,
}

impl Weight {
    const fn one(byte: u8) -> Self {
        Self { bytes: [byte, 0, 0, 0], length: 1 }
    }
}

impl Encoded {
    fn weight(self, code: u32) -> Weight {
        match self {
            Self::Expanding(order) => match order.second(code) {
                Some(second) => Weight { bytes: [order.weight(code), second, 0, 0], length: 2 },
                None => Weight::one(order.weight(code)),
            },
        }
    }

    /// Are the characters one to LIKE?
    pub(crate) fn is_same(self, a: u32, b: u32) -> bool {
        self.weight(a) == self.weight(b)
    }
}

/// The weights of a text, byte by byte.
#[derive(Clone)]
pub(crate) struct EncodedWeights<'a> {
    text: &'a [u8],
    order: Encoded,
    current: Weight,
    next: u8,
}

impl<'a> EncodedWeights<'a> {
    pub(crate) fn new(text: &'a [u8], order: Encoded) -> Self {
        Self { text, order, current: Weight::one(0), next: 1 }
    }
}

impl Iterator for EncodedWeights<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        if self.next < self.current.length {
            self.next += 1;
            return Some(self.current.bytes[usize::from(self.next) - 1].into());
        }
        if self.text.is_empty() {
            return None;
        }
        let (code, length) = decode_char(self.text);
        self.text = &self.text[length..];
        self.current = self.order.weight(code);
        self.next = 1;
        Some(self.current.bytes[0].into())
    }
}
