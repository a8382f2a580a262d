//! MySQL's language: text -> syntax tree -> bound plan. Pure: no I/O, no clock, no session.
//!
//! - `parser` reads bytes into a syntax tree (`ast`).
//! - `bind` resolves names and types against an immutable `types::schema::Schema`; `plan` chooses access paths.
//! - [`plan`] is what `exec` runs; [`expr`] is what it evaluates; [`func`] names the built-in functions.
#![forbid(unsafe_code)]

pub mod expr;
pub mod func;
pub mod plan;
