//! MySQL's language: text -> syntax tree -> bound plan. Pure: no I/O, no clock, no session.
//!
//! - [`parse`] reads bytes into a syntax tree ([`ast`]) that lives in an [`Arena`].
//! - [`digest`] hashes a statement and lifts its literals out, so that a plan cache can find its plan without parsing.
//! - `bind` resolves names and types against an immutable `types::schema::Schema`; `planner` chooses access paths.
//! - [`plan`] is what `exec` runs; [`expr`] is what it evaluates; [`func`] names the built-in functions.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

mod arena;
pub mod ast;
mod bind;
mod digest;
mod error;
pub mod explain;
pub mod expr;
mod file;
pub mod func;
mod keyword;
mod lexer;
mod normal;
mod parser;
pub mod plan;
mod planner;
mod row_expr;
#[cfg(test)]
mod testing;
mod walk;

pub use arena::Arena;
pub use bind::{bind_constant, bind_show_filter, plan};
pub use digest::{Digest, Lifted, digest};
pub use error::{
    Clause, DefinitionError, Error, FileError, IllegalMix, NameKind, RecursiveError, Result, RowExprProblem, WindowError,
};
pub use explain::{explain_json, explain_tree, explain_tree_measured};
pub use normal::normalized;
pub use parser::{DEPTH_MAX, HEIGHT_MAX, Parsed, parse, parse_expression, parse_lifted};
pub use planner::estimated_cost;
pub use row_expr::{RowExprUse, bind_row_expr, check_row_exprs, row_expr};

/// MySQL 8.4's default sql_mode, for tests.
#[cfg(test)]
pub(crate) fn test_mode() -> plan::SqlMode {
    plan::SqlMode {
        strict: true,
        ansi_quotes: false,
        pipes_as_concat: false,
        no_backslash_escapes: false,
        only_full_group_by: true,
        no_zero_date: true,
        no_zero_in_date: true,
        error_for_division_by_zero: true,
        no_auto_value_on_zero: false,
        no_unsigned_subtraction: false,
        high_not_precedence: false,
        ignore_space: false,
        real_as_float: false,
        pad_char_to_full_length: false,
        allow_invalid_dates: false,
        time_truncate_fractional: false,
    }
}
