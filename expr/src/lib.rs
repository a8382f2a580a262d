//! Expressions and functions: what they are, and their evaluation.
//!
//! - [`Expr`] is a bound expression: names are resolved, every node has its static type. `sql` makes it, `exec` evaluates it.
//! - [`Function`] names the built-in functions; [`function`] has their implementations.
//! - [`Env`] evaluates an expression over the current [`Rows`], the parameters and the session ([`SessionVars`]).
//! - [`Pause`] is what evaluation answers if it cannot go on: an error, or something that the caller must do first. Evaluation
//!   never waits, and reads no table.
//!
//! This crate knows nothing of syntax, plans, tables, transactions or the server. What it needs of them is a trait: [`Rows`],
//! [`SubqueryValues`], [`Host`].
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

mod aggregates;
pub mod arithmetic;
mod aside;
mod cast;
mod class;
pub mod coerce;
mod constant;
pub mod digits;
mod display;
mod error;
pub mod eval;
mod func;
pub mod function;
mod host;
pub mod in_list;
pub mod keys;
mod operand;
pub mod packed;
mod rows;
pub mod search;
mod session;
mod tree;
pub mod typing;
mod user_variables;
mod walk;
mod work;

pub use aggregates::{AggregateFunction, Arguments as AggregateArguments, Distinct, Operand, WindowOnly};
pub use class::{Class, class};
pub use constant::{is_fixed, is_volatile};
pub use error::{Error, Level, Raised, Result};
pub use eval::{Awaited, Env, Evaluated, Pause, Shared, Step, SubqueryValues, Until};
pub use func::Function;
pub use function::{LOCALE_NAMES, TimeNames, pico_time};
pub use host::Host;
pub use rows::{NoRows, Row, Rows};
pub use session::{BlockEncryption, BlockMode, Limits, SessionVars, Warning, Warnings, kill};
pub use tree::{
    Aggregate, ArithmeticOp, CompareAs, CompareOp, Expr, ExprKind, Frame, FrameBound, FrameOffsets, PartitionCall, Subquery,
    SubqueryTest, UnaryOp, WindowCall, WindowFunction,
};
pub use user_variables::{UserVariable, UserVariables};
pub use work::{Work, count};
