//! The built-in functions, by area. The file of an area begins with a table of its functions, one row each.
//!
//! F1: a function that gets a NULL argument answers NULL, unless MySQL's manual says otherwise.
//! F2: no function takes longer than its input, its output and the work that it asks for (rounds of a cipher, steps of a pattern) make
//!     necessary, and what takes long is counted (`types::work`), so that others run meanwhile and a KILL ends it.

pub(crate) mod cipher;
pub(crate) mod control;
pub(crate) mod date;
mod date_format;
mod date_types;
pub(crate) mod encode;
mod extreme;
pub(crate) mod forms;
pub use forms::pico_time;
pub use time_names::{LOCALE_NAMES, TimeNames};
pub(crate) mod fulltext;
pub(crate) mod identifier;
pub(crate) mod information;
pub(crate) mod json;
mod locale;
pub(crate) mod math;
pub(crate) mod names;
#[cfg(test)]
mod page;
pub(crate) mod regexp;
mod regexp_syntax;
pub mod row;
pub mod rules;
pub(crate) mod spatial;
mod str_to_date;
pub(crate) mod string;
mod time_names;
pub(crate) mod vector;
pub(crate) mod xml;

pub use date::interval;
pub(crate) use date::{month_and_day, moved_time_as_text};
pub use date_types::is_of_days;
pub use fulltext::{SEARCH_ARGS, search_of};
pub use json::element::{AskedOfArray, ElementSearch, search_elements};
pub use json::{binary_json, deep_json, json_value, null_member_name, read_document, scalar_of};
pub(crate) use json::{document_of, document_of_expr, parse_document};
pub use names::is_not_supported;
pub use regexp::Patterns;
pub use spatial::collect::Collected;
pub use spatial::measure::search_box;
pub(crate) use string::{char_count, char_offset, wide_characters};
pub use vector::{distance_of_call, takes_vectors};

use crate::eval::{Env, Evaluated};
use crate::tree::Expr;

/// The outcome of a call, unless it was stopped, which it does not tell.
#[inline]
fn finished<'a>(_: &Env<'a>, _: &'a Expr, outcome: Evaluated<'a>) -> Evaluated<'a> {
    types::work::finish()?;
    outcome
}
