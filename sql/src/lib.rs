//! MySQL's language: text -> syntax tree -> bound plan. Pure: no I/O, no clock, no session.
//!
//! - [`parse`] reads bytes into a syntax tree ([`ast`]) that lives in an [`Arena`].
//! - [`digest`] hashes a statement and lifts its literals out, so that a plan cache can find its plan without parsing.
//! - `bind` resolves names and types against an immutable `types::schema::Schema`; `planner` chooses access paths.
//! - [`mod@plan`] is what `exec` runs; its expressions are those of the crate `expr`.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

mod arena;
pub mod ast;
mod bind;
pub mod charsets;
pub mod define;
mod deprecated;
mod digest;
mod digest_text;
mod error;
pub mod explain;
mod file;
mod hint;
mod key_part;
mod keyword;
mod lexer;
pub mod param;
mod parser;
mod partition;
pub mod plan;
mod planner;
mod reading;
pub mod routine;
mod row_expr;
mod same_expr;
mod secret;
#[cfg(test)]
mod testing;
mod view;
mod walk;

pub use arena::Arena;
pub use bind::result_column::kept_column;
pub use bind::{bind_constant, bind_show_filter, bind_value, plan};
pub use deprecated::Deprecated;
pub use digest::{Digest, Lifted, digest};
pub use digest_text::{DIGEST_BYTES_MAX, digest_skeleton, digest_text, digest_text_of, unreserved_words};
pub use error::{
    Clause, CommentOf, DefinitionError, Denied, Error, FileError, IllegalMix, KeyPartProblem, NameKind, RecursiveError, Result,
    RowExprProblem, ViewProblem, WindowError,
};
pub use explain::{explain_json, explain_tree, explain_tree_measured, explain_tree_shared};
pub use hint::{HintedVariable, hints};
pub use key_part::key_part_type;
pub use keyword::reserved_words as keywords;
pub use lexer::is_blank;
pub use parser::{DEPTH_MAX, HEIGHT_MAX, Parsed, Repeated, parse, parse_expression, parse_lifted, parse_type};
pub use partition::{bind_partition, partition_expr};
pub use planner::{estimated_cost, join_rows};
pub use reading::reading_part;
pub use row_expr::{RowExprUse, bind_row_expr, check_row_exprs, row_expr};
pub use secret::{places_of_parameters, without_secrets};
pub use view::{NewView, check_view, define_view, view_columns, view_definition};
