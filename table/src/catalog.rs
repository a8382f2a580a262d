//! The catalog tree: what is stored where.
