//! Collations whose weights are some bytes per character.

use super::weights::decode_char;
use crate::charset::MultiByte;
use crate::charset::eight_bit::ByteOrder;
use crate::charset::multi_byte::{Code, Order};

/// Which weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoded {
    /// Of an eight-bit set, where a letter may be two: `ä` is `ae`.
    Expanding(&'static ByteOrder),
    /// Of a multi-byte set.
    MultiByte(MultiByte, Order),
}

impl Encoded {
    fn weight(self, code: u32) -> Code {
        match self {
            Self::Expanding(order) => match order.second(code) {
                Some(second) => Code { bytes: [order.weight(code), second, 0, 0], length: 2 },
                None => Code::one(order.weight(code)),
            },
            Self::MultiByte(set, order) => set.weight(code, order),
        }
    }

    /// Are the characters one to LIKE?
    pub(crate) fn is_same(self, a: u32, b: u32) -> bool {
        match self {
            // Only gb18030 compares characters of several bytes by their weights.
            Self::MultiByte(set, _) if (a | b) >= 0x80 && !set.is_gb18030() => a == b,
            _ => self.weight(a) == self.weight(b),
        }
    }

    /// The order that WEIGHT_STRING shows.
    pub(crate) fn shown(self) -> Self {
        match self {
            Self::MultiByte(set, Order::Compared) => Self::MultiByte(set, Order::Shown),
            other => other,
        }
    }
}

/// The weights of a text, byte by byte.
#[derive(Clone)]
pub(crate) struct EncodedWeights<'a> {
    text: &'a [u8],
    order: Encoded,
    current: Code,
    next: u8,
}

impl<'a> EncodedWeights<'a> {
    pub(crate) fn new(text: &'a [u8], order: Encoded) -> Self {
        Self { text, order, current: Code::one(0), next: 1 }
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
