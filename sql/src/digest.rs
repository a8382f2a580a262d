//! A statement's digest: one pass of the lexer that hashes its tokens and takes literals out.

/// The literals that stand where a plan does not depend on their value.
#[derive(Debug, Default)]
pub struct Lifted {
    /// Where each literal's token begins, in the order of the text.
    offsets: Vec<usize>,
}

impl Lifted {
    /// How many literals were lifted.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// The number of the literal at this offset, if it was lifted. `next` remembers where to look.
    pub(crate) fn index_at(&self, offset: usize, next: &mut usize) -> Option<u32> {
        while *next < self.offsets.len() && self.offsets[*next] < offset {
            *next += 1;
        }
        (self.offsets.get(*next) == Some(&offset)).then_some(*next as u32)
    }
}
