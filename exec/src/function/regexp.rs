//! REGEXP and REGEXP_LIKE, by the `regex` crate: no look-around and no back references, and time linear in the text.

use crate::coerce;
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use regex::bytes::{Regex, RegexBuilder};
use sql::expr::Expr;
use std::cell::RefCell;
use types::{CollationId, Value};

/// Compiled patterns of one execution, the last few used.
#[derive(Default)]
pub(crate) struct Patterns {
    recent: RefCell<Vec<(Vec<u8>, Flags, Regex)>>,
}

const RECENT_MAX: usize = 8;
/// Compiled size of one pattern.
const PATTERN_BYTES_MAX: usize = 8 << 20;

/// REGEXP_LIKE's third argument: `c` and `i` case, `m` lines, `n` dot matches newline, `u` Unix lines.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Flags {
    insensitive: bool,
    lines: bool,
    dot_all: bool,
    binary: bool,
}

pub(super) fn regexp_like<'a>(env: &Env<'a>, _node: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(text), Some(pattern)) = (env.text(&args[0])?, env.text(&args[1])?) else { return Ok(Value::Null) };
    let binary = super::string::is_binary(&args[0]) || super::string::is_binary(&args[1]);
    let collation = if coerce::is_string(&args[0].ty) { args[0].ty.collation } else { args[1].ty.collation };
    let insensitive = !binary && collation != CollationId::UTF8MB4_BIN && !collation.name().ends_with("_cs");
    let mut flags = Flags { insensitive, lines: false, dot_all: false, binary };
    if let Some(arg) = args.get(2) {
        let Some(letters) = env.text(arg)? else { return Ok(Value::Null) };
        for letter in letters.iter() {
            match letter {
                b'c' => flags.insensitive = false,
                b'i' => flags.insensitive = true,
                b'm' => flags.lines = true,
                b'n' => flags.dot_all = true,
                b'u' => {}
                _ => return Err(Error::WrongArguments { function: "regexp_like" }.into()),
            }
        }
    }
    let matched = with_pattern(env, &pattern, flags, |regex| regex.is_match(&text))?;
    Ok(Value::Int(matched.into()))
}

fn with_pattern<T>(env: &Env<'_>, pattern: &[u8], flags: Flags, using: impl Fn(&Regex) -> T) -> Step<T> {
    let mut recent = env.shared.patterns.recent.borrow_mut();
    if let Some((_, _, regex)) = recent.iter().find(|(p, f, _)| p == pattern && *f == flags) {
        return Ok(using(regex));
    }
    let text = std::str::from_utf8(pattern).map_err(|_| Error::Regex { why: "the pattern is not valid UTF-8".into() })?;
    if text.is_empty() {
        return Err(Error::Regex { why: "Illegal argument to a regular expression.".into() }.into());
    }
    let regex = RegexBuilder::new(text)
        .case_insensitive(flags.insensitive)
        .multi_line(flags.lines)
        .dot_matches_new_line(flags.dot_all)
        .unicode(!flags.binary)
        .size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|error| refused(&error))?;
    let result = using(&regex);
    if recent.len() == RECENT_MAX {
        recent.remove(0);
    }
    recent.push((pattern.to_vec(), flags, regex));
    Ok(result)
}

/// What is wrong with a pattern, in MySQL's words. The parser tells it as text alone, in its last line.
#[cold]
fn refused(error: &regex::Error) -> Error {
    let text = error.to_string();
    let why = text.rsplit("error: ").next().unwrap_or_default();
    let has = |words: &[&str]| words.iter().any(|word| why.contains(word));
    if has(&["backreference", "look-around"]) {
        return Error::NotSupported(format!("these regular expressions ({})", why.trim()));
    }
    let (number, message) = if has(&["unclosed group", "unopened group"]) {
        (3691, "Mismatched parenthesis in regular expression.")
    } else if has(&["unclosed character class"]) {
        (3696, "The regular expression contains an unclosed bracket expression.")
    } else if has(&["invalid character class range"]) {
        (3697, "The regular expression contains an [x-y] character range where x comes after y.")
    } else if has(&["invalid repetition count range"]) {
        (3693, "The maximum is less than the minumum in a {min,max} interval.")
    } else if has(&["repetition quantifier", "counted repetition", "decimal"]) {
        (3692, "Incorrect description of a {min,max} interval.")
    } else if has(&["escape sequence"]) {
        (3689, "Unrecognized escape sequence in regular expression.")
    } else if has(&["repetition operator missing"]) {
        (3688, "Syntax error in regular expression on line 1, character 1.")
    } else if has(&["capture group name"]) {
        (3887, "A capture group has an invalid name.")
    } else {
        return Error::Regex { why: "Illegal argument to a regular expression.".into() };
    };
    Error::Other { number, message: message.into() }
}
