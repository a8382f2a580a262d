//! MATCH ... AGAINST.

use super::row::{Null, Places, functions, of_grammar};
use super::rules;
use crate::eval::{Env, Evaluated, Pause, Step};
use crate::search::{Asked, Search, SearchMode};
use crate::tree::{Expr, ExprKind};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::rc::Rc;
use types::Value;

functions! {
    FullText;

    /// `(table, index, mode, text, columns ...)`: see [`crate::search`].
    MATCH = of_grammar("MATCH").typed(rules::double).null(Null::Always).texts(Places::NONE)
        => |env, call, args| rank(env, call, args);
}

/// The arguments of a call before those that are columns: the table, its index, the mode, the text.
pub const SEARCH_ARGS: usize = 4;
const TEXT: usize = 3;

/// The search of a call of MATCH; `None`: the text is NULL. With `latest`, one of the latest versions.
///
/// # Errors
/// It is not known yet: [`Pause::Search`].
pub fn search_of<'a>(env: &Env<'a>, call: &'a Expr, latest: bool) -> Step<Option<Rc<Search>>> {
    let ExprKind::Call { args, .. } = &call.kind else { return Ok(None) };
    let [table, index, mode, ..] = &args[..] else { return Ok(None) };
    let (ExprKind::Literal(Value::UInt(table)), ExprKind::Literal(Value::UInt(index)), ExprKind::Literal(mode)) =
        (&table.kind, &index.kind, &mode.kind)
    else {
        return Ok(None);
    };
    let (index, Some(mode)) = (*index as usize, SearchMode::of(mode)) else { return Ok(None) };
    let Some(text) = env.text(&args[TEXT])? else { return Ok(None) };
    let is_it = |asked: &Asked| {
        (asked.table, asked.index, asked.mode) == (*table, index, mode) && *asked.text == *text && (asked.latest || !latest)
    };
    let asked = || Asked { table: *table, index, mode, text: text.to_vec(), latest };
    env.shared.rare().searches.find(is_it, asked).map(Some).ok_or(Pause::Search)
}

/// The rank of the current row; 0 where it does not match.
fn rank<'a>(env: &Env<'a>, call: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(search) = search_of(env, call, false)? else { return Ok(Value::Double(0.0)) };
    let columns = args.get(SEARCH_ARGS..).unwrap_or_default();
    if search.found.is_exact
        && let Some(Expr { kind: ExprKind::Column { source, .. }, .. }) = columns.first()
        && let Some(key) = env.rows.stored_key(*source)
        && let Some(rank) = search.found.rank_of(key)
    {
        return Ok(Value::Double(f64::from(rank)));
    }
    let mut texts: SmallVec<[Cow<'_, [u8]>; 2]> = SmallVec::new();
    for column in columns {
        texts.push(env.text(column)?.unwrap_or_default());
    }
    // Two passes over the bytes, and some work for each word.
    types::work::spend(texts.iter().map(|text| 16 * text.len()).sum())?;
    let rank = search.ranker.rank_texts(&search.cutter, texts.iter().map(|text| &**text)).unwrap_or(0.0);
    Ok(Value::Double(f64::from(rank)))
}
