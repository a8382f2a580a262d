//! The memory of one syntax tree. [`Arena::reset`] frees everything that a parse allocated at once.
//!
//! A session keeps one arena and resets it between statements. Once the arena has grown to the size of the session's
//! usual statements, parsing allocates nothing. Nodes are `Copy` and are never dropped one by one, so dropping a deep
//! tree needs no recursion.

use bumpalo::Bump;

/// Memory for syntax trees.
#[derive(Default)]
pub struct Arena {
    bump: Bump,
}

impl std::fmt::Debug for Arena {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arena").field("bytes", &self.bump.allocated_bytes()).finish()
    }
}

/// A list under construction in an arena.
pub(crate) type ArenaVec<'a, T> = bumpalo::collections::Vec<'a, T>;

/// Arenas larger than this are given back to the allocator by [`Arena::reset`].
const KEEP_BYTES_MAX: usize = 256 << 10;

impl Arena {
    /// An empty arena; it takes memory with the first node.
    pub fn new() -> Self {
        Self::default()
    }

    /// Frees every tree in the arena. Keeps the memory for the next tree unless it is large.
    pub fn reset(&mut self) {
        if self.bump.allocated_bytes() > KEEP_BYTES_MAX {
            self.bump = Bump::new();
        } else {
            self.bump.reset();
        }
    }

    pub(crate) fn node<T: Copy>(&self, value: T) -> &T {
        self.bump.alloc(value)
    }

    pub(crate) fn list<T: Copy>(&self) -> ArenaVec<'_, T> {
        ArenaVec::new_in(&self.bump)
    }

    pub(crate) fn slice<T: Copy>(&self, items: &[T]) -> &[T] {
        self.bump.alloc_slice_copy(items)
    }

    pub(crate) fn text(&self, text: &str) -> &str {
        self.bump.alloc_str(text)
    }
}
