//! REGEXP_LIKE (and REGEXP, RLIKE), REGEXP_INSTR, REGEXP_SUBSTR, REGEXP_REPLACE.
//!
//! Patterns that are regular go to the `regex` crate: time linear in the text. Those with look-around or back references go to
//! `fancy-regex`, which tries alternatives up to a bound and then answers 3699, as MySQL does after `regexp_time_limit`.

use super::regexp_syntax::{Translated, has_unknown_class, translate};
use super::row::{Null, Places, functions, named};
use super::rules::{self, LONG};
use crate::aside::{Failure, aside};
use crate::coerce::{self, Text};
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::tree::Expr;
use conditions::Condition;
use regex::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;
use types::{Value, work};

/// Compiled patterns of one execution, the last few used.
#[derive(Default)]
pub struct Patterns {
    recent: RefCell<Vec<Recent>>,
}

/// A pattern's text, its flags, and what they compile to.
type Recent = (Vec<u8>, Flags, Arc<Pattern>);

const RECENT_MAX: usize = 8;
/// Compiled size of one pattern.
const PATTERN_BYTES_MAX: usize = 8 << 20;
/// A pattern is large from this compiled size on.
const SMALL_PATTERN_BYTES: usize = 128 << 10;
/// Texts from here on are searched on a thread of their own; for a large pattern, sooner.
const LONG_TEXT_BYTES: usize = 64 << 10;
const LONG_FOR_LARGE: usize = 4 << 10;
/// Work of a match, in bytes of a plain copy (`types::work`): much, for it may have to look through all of the text.
const MATCH_UNITS: usize = 1 << 12;
/// Steps of a pattern that is not regular.
const BACKTRACKS_MAX: usize = 1_000_000;

/// The match type: `c` and `i` case, `m` lines, `n` dot matches newline, `u` Unix lines.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Flags {
    insensitive: bool,
    lines: bool,
    dot_all: bool,
    unix: bool,
}

struct Pattern {
    engine: Engine,
    /// There is a `$`, which also matches before a line's end that ends the text.
    anchored: bool,
    /// Only a line feed ends a line.
    unix: bool,
    /// A search may take much longer than to read the text.
    is_large: bool,
}

enum Engine {
    Regular(Regex),
    Other(Box<fancy_regex::Regex>),
}

/// Where the groups of a match are in the text; the first is the whole match.
type Groups = Vec<Option<(usize, usize)>>;

functions! {
    Regexp;

    REGEXP_LIKE = named(&[("REGEXP_LIKE", 2, 3)]).typed(rules::boolean).null(Null::AnyArgument).texts(Places::before(2)).compares()
        => |env, _, args| regexp_like(env, args);
    REGEXP_INSTR = named(&[("REGEXP_INSTR", 2, 6)]).typed(rules::bigint).null(Null::AnyArgument).texts(Places::before(2))
        .integers(Places::range(2, 5)).compares()
        => |env, _, args| regexp_instr(env, args);
    REGEXP_REPLACE = named(&[("REGEXP_REPLACE", 3, 6)]).text(|l| l.capped(LONG)).texts(Places::before(3))
        .collated(Places::before(2)).integers(Places::range(3, 5)).compares()
        => |env, _, args| regexp_replace(env, args);
    REGEXP_SUBSTR = named(&[("REGEXP_SUBSTR", 2, 5)]).text(rules::of_first).texts(Places::before(2))
        .integers(Places::range(2, 4)).compares()
        => |env, _, args| regexp_substr(env, args);
}

/// The text as UTF-8; other bytes become U+FFFD.
fn utf8<'t>(text: &'t Text<'_>) -> Cow<'t, str> {
    String::from_utf8_lossy(text)
}

fn regexp_like<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(text), Some(pattern)) = (env.text(&args[0])?, env.text(&args[1])?) else { return Ok(Value::Null) };
    let Some(pattern) = compile(env, args, &pattern, args.get(2), "regexp_like")? else { return Ok(Value::Null) };
    Ok(Value::Int(pattern.search(&utf8(&text), Pattern::matches)?.into()))
}

/// REGEXP_INSTR(text, pattern [, position [, occurrence [, behind [, match type]]]])
fn regexp_instr<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(text), Some(pattern)) = (env.text(&args[0])?, env.text(&args[1])?) else { return Ok(Value::Null) };
    let text = utf8(&text);
    let (Some(position), Some(occurrence)) = (number(env, args, 2, 1)?, number(env, args, 3, 1)?) else {
        return Ok(Value::Null);
    };
    let behind = match number(env, args, 4, 0)? {
        None => return Ok(Value::Null),
        Some(behind @ (0 | 1)) => behind == 1,
        Some(_) => {
            return Err(
                Error::from(Condition::WrongArguments { what: "regexp_instr: return_option must be 1 or 0.".into() }).into()
            );
        }
    };
    let Some(pattern) = compile(env, args, &pattern, args.get(5), "regexp_instr")? else { return Ok(Value::Null) };
    let start = start_of(&text, position)?;
    let found = pattern.search(&text, move |pattern, text| nth_match(pattern, text, start, occurrence))?;
    Ok(Value::Int(found.map_or(0, |(from, to)| {
        let at = if behind { to } else { from };
        text[..at].chars().count() as i64 + 1
    })))
}

/// REGEXP_SUBSTR(text, pattern [, position [, occurrence [, match type]]])
fn regexp_substr<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(text), Some(pattern)) = (env.text(&args[0])?, env.text(&args[1])?) else { return Ok(Value::Null) };
    let text = utf8(&text);
    let (Some(position), Some(occurrence)) = (number(env, args, 2, 1)?, number(env, args, 3, 1)?) else {
        return Ok(Value::Null);
    };
    let Some(pattern) = compile(env, args, &pattern, args.get(4), "regexp_substr")? else { return Ok(Value::Null) };
    let start = start_of_part(&text, position, "regexp_substr")?;
    let found = pattern.search(&text, move |pattern, text| nth_match(pattern, text, start, occurrence))?;
    Ok(found.map_or(Value::Null, |(from, to)| Value::Bytes(Cow::Owned(text[from..to].as_bytes().to_vec()))))
}

/// REGEXP_REPLACE(text, pattern, replacement [, position [, occurrence (0: all) [, match type]]])
fn regexp_replace<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(text), Some(pattern)) = (env.text(&args[0])?, env.text(&args[1])?) else { return Ok(Value::Null) };
    let Some(replacement) = env.text(&args[2])? else { return Ok(Value::Null) };
    let (text, replacement) = (utf8(&text), utf8(&replacement));
    let (Some(position), Some(occurrence)) = (number(env, args, 3, 1)?, number(env, args, 4, 0)?) else {
        return Ok(Value::Null);
    };
    let Some(pattern) = compile(env, args, &pattern, args.get(5), "regexp_replace")? else { return Ok(Value::Null) };
    let start = start_of_part(&text, position, "regexp_replace")?;
    let (replacement, most) = (replacement.into_owned(), env.session().packet_bytes_max);
    match pattern.search(&text, move |pattern, text| replace(pattern, text, &replacement, start, occurrence, most))? {
        Some(out) => Ok(Value::Bytes(Cow::Owned(out.into_bytes()))),
        None => super::string::too_large(env, "regexp_replace"),
    }
}

/// `None`: it has more bytes than `most`.
fn replace(
    pattern: &Pattern,
    text: &str,
    replacement: &str,
    start: usize,
    occurrence: i64,
    most: usize,
) -> Result<Option<String>, Error> {
    let mut out = text[..start].to_owned();
    let mut copied = start;
    let mut at = start;
    let mut count = 0;
    while at <= text.len() {
        work::spend(MATCH_UNITS)?;
        let Some(groups) = pattern.captures(text, at)? else { break };
        let (from, to) = groups[0].expect("a match has a place");
        count += 1;
        if occurrence <= 0 || count == occurrence {
            out.push_str(&text[copied..from]);
            expand(replacement, text, &groups, &mut out)?;
            copied = to;
            if out.len() > most {
                return Ok(None);
            }
        }
        if count == occurrence {
            break;
        }
        at = next_start(text, from, to);
    }
    out.push_str(&text[copied..]);
    Ok(Some(out))
}

/// Where to look for the match behind one.
fn next_start(text: &str, from: usize, to: usize) -> usize {
    if to > from {
        return to;
    }
    // After an empty match, behind the next character.
    to + text[to..].chars().next().map_or(1, char::len_utf8)
}

/// `$n` is a group, `\x` is x.
fn expand(replacement: &str, text: &str, groups: &Groups, out: &mut String) -> Result<(), Error> {
    let mut chars = replacement.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            '$' => {
                let mut group = match chars.peek().and_then(|c| c.to_digit(10)) {
                    Some(digit) => digit as usize,
                    None => return Err(Error::from(Condition::RegexpInvalidCaptureGroupName)),
                };
                if group >= groups.len() {
                    return Err(out_of_bounds());
                }
                chars.next();
                // More digits belong to the number as long as there is such a group.
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10))
                    && group * 10 + (digit as usize) < groups.len()
                {
                    group = group * 10 + digit as usize;
                    chars.next();
                }
                if let Some((from, to)) = groups[group] {
                    out.push_str(&text[from..to]);
                }
            }
            c => out.push(c),
        }
    }
    Ok(())
}

/// An integer argument, or its default where there is none; `None` is NULL.
fn number<'a>(env: &Env<'a>, args: &'a [Expr], n: usize, default: i64) -> Step<Option<i64>> {
    let Some(arg) = args.get(n) else { return Ok(Some(default)) };
    Ok(env.integer(arg)?.map(|n| n.clamp(i64::MIN.into(), i64::MAX.into()) as i64))
}

fn out_of_bounds() -> Error {
    Error::from(Condition::RegexpIndexOutOfBounds)
}

/// As [`start_of`], with the error of REGEXP_SUBSTR and REGEXP_REPLACE. They also look behind the last character.
fn start_of_part(text: &str, position: i64, function: &str) -> Step<usize> {
    if position < 1 {
        return Err(Error::from(Condition::WrongParametersToNativeFct { function: function.into() }).into());
    }
    if usize::try_from(position).is_ok_and(|position| position == text.chars().count() + 1) {
        return Ok(text.len());
    }
    start_of(text, position)
}

/// The byte of 1-based character `position`, which must exist (the first always does).
fn start_of(text: &str, position: i64) -> Step<usize> {
    let index = usize::try_from(position).ok().and_then(|p| p.checked_sub(1)).ok_or_else(out_of_bounds)?;
    if index == 0 {
        return Ok(0);
    }
    Ok(text.char_indices().nth(index).map(|(at, _)| at).ok_or_else(out_of_bounds)?)
}

fn nth_match(pattern: &Pattern, text: &str, start: usize, occurrence: i64) -> Result<Option<(usize, usize)>, Error> {
    let mut at = start;
    for n in 1.. {
        if at > text.len() {
            break;
        }
        work::spend(MATCH_UNITS)?;
        let Some((from, to)) = pattern.find(text, at)? else { break };
        if n >= occurrence {
            return Ok(Some((from, to)));
        }
        at = next_start(text, from, to);
    }
    Ok(None)
}

impl Pattern {
    /// Searches; in a long text on another thread, since nothing is counted within one search.
    fn search<T: Send + 'static>(
        self: &Arc<Self>,
        text: &str,
        search: impl FnOnce(&Self, &str) -> Result<T, Error> + Send + 'static,
    ) -> Step<T> {
        if text.len() < if self.is_large { LONG_FOR_LARGE } else { LONG_TEXT_BYTES } {
            return Ok(search(self, text)?);
        }
        let (pattern, text) = (Arc::clone(self), text.to_owned());
        let found = aside(move || search(&pattern, &text)).map_err(|failure| match failure {
            Failure::Stopped(stopped) => Error::from(stopped),
            Failure::NoThread(error) => Condition::CantCreateThread { errno: error.raw_os_error().unwrap_or(0).into() }.into(),
        })?;
        Ok(found?)
    }

    /// The cheapest question.
    fn matches(&self, text: &str) -> Result<bool, Error> {
        match &self.engine {
            Engine::Regular(regex) if regex.is_match(text) => Ok(true),
            Engine::Regular(_) if !self.anchored => Ok(false),
            _ => Ok(self.find(text, 0)?.is_some()),
        }
    }

    fn find(&self, text: &str, at: usize) -> Result<Option<(usize, usize)>, Error> {
        Ok(self.captures(text, at)?.and_then(|groups| groups[0]))
    }

    fn captures(&self, text: &str, at: usize) -> Result<Option<Groups>, Error> {
        let found = self.engine.captures(text, at)?;
        let ends: &[&str] = if self.unix { &["\n"] } else { &["\r\n", "\n", "\r"] };
        let Some(body) = ends.iter().find_map(|end| text.strip_suffix(end)).filter(|_| found.is_none() && self.anchored) else {
            return Ok(found);
        };
        if at <= body.len() { self.engine.captures(body, at) } else { Ok(None) }
    }
}

impl Engine {
    fn captures(&self, text: &str, at: usize) -> Result<Option<Groups>, Error> {
        match self {
            Self::Regular(regex) => Ok(regex
                .captures_at(text, at)
                .map(|found| found.iter().map(|group| group.map(|g| (g.start(), g.end()))).collect())),
            Self::Other(regex) => {
                let found = regex.captures_from_pos(text, at).map_err(|_| too_long())?;
                Ok(found.map(|found| found.iter().map(|group| group.map(|g| (g.start(), g.end()))).collect()))
            }
        }
    }
}

#[cold]
fn too_long() -> Error {
    Error::from(Condition::RegexpTimeOut)
}

/// The pattern with the match type's flags; `None`: the match type is NULL.
fn compile<'a>(
    env: &Env<'a>,
    args: &'a [Expr],
    pattern: &[u8],
    match_type: Option<&'a Expr>,
    function: &'static str,
) -> Step<Option<Arc<Pattern>>> {
    let texts = args[..2].iter().filter(|arg| coerce::is_string(&arg.ty));
    let sensitive = |arg: &Expr| super::string::is_binary(arg) || !arg.ty.collation.name().ends_with("_ci");
    let mut flags = Flags { insensitive: !texts.clone().any(sensitive), lines: false, dot_all: false, unix: false };
    if let Some(arg) = match_type {
        let Some(letters) = env.text(arg)? else { return Ok(None) };
        for letter in letters.iter() {
            match letter {
                b'c' => flags.insensitive = false,
                b'i' => flags.insensitive = true,
                b'm' => flags.lines = true,
                b'n' => flags.dot_all = true,
                b'u' => flags.unix = true,
                _ => return Err(Error::WrongArguments { function }.into()),
            }
        }
    }
    let mut recent = env.shared.rare().patterns.recent.borrow_mut();
    if let Some((_, _, compiled)) = recent.iter().find(|(p, f, _)| p == pattern && *f == flags) {
        return Ok(Some(Arc::clone(compiled)));
    }
    let compiled = Arc::new(build(pattern, flags)?);
    if recent.len() == RECENT_MAX {
        recent.remove(0);
    }
    recent.push((pattern.to_vec(), flags, Arc::clone(&compiled)));
    Ok(Some(compiled))
}

fn build(pattern: &[u8], flags: Flags) -> Result<Pattern, Error> {
    let text = String::from_utf8_lossy(pattern);
    if text.is_empty() {
        return Err(Condition::RegexpIllegalArgument.into());
    }
    if has_unknown_class(&text) {
        return Err(Condition::RegexpIllegalArgument.into());
    }
    let anchored = text.contains('$');
    // Conditions on groups, and code.
    if ["(?(", "(?{"].iter().any(|group| text.contains(group)) {
        return Err(Condition::RegexpUnimplemented.into());
    }
    let Translated { text, is_possessive, repeated_twice, has_own_reference } = translate(&text, flags.dot_all, flags.unix);
    if has_own_reference {
        return Err(Condition::RegexpUnimplemented.into());
    }
    if let Some(place) = repeated_twice {
        return Err(Condition::RegexpRuleSyntax { place: place.into() }.into());
    }
    let unix = flags.unix;
    let compile = |bytes_max| {
        let mut builder = RegexBuilder::new(&text);
        builder.case_insensitive(flags.insensitive).multi_line(flags.lines).crlf(!unix).size_limit(bytes_max).build()
    };
    let small = compile(SMALL_PATTERN_BYTES);
    let is_large = matches!(small, Err(regex::Error::CompiledTooBig(_)));
    let error = match if is_large { compile(PATTERN_BYTES_MAX) } else { small } {
        Ok(regex) if !is_possessive => return Ok(Pattern { engine: Engine::Regular(regex), anchored, unix, is_large }),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    let mut prefix = String::new();
    for (on, letter) in [(flags.insensitive, 'i'), (flags.lines, 'm'), (flags.lines && !unix, 'R')] {
        if on {
            prefix.push(letter);
        }
    }
    let other = if prefix.is_empty() { text } else { format!("(?{prefix}){text}") };
    match fancy_regex::RegexBuilder::new(&other).backtrack_limit(BACKTRACKS_MAX).delegate_size_limit(PATTERN_BYTES_MAX).build() {
        Ok(regex) => Ok(Pattern { engine: Engine::Other(Box::new(regex)), anchored, unix, is_large: true }),
        Err(_) => Err(error.map_or_else(|| Error::from(Condition::RegexpRuleSyntax { place: 1.into() }), |e| refused(&e))),
    }
}

/// The problem with a pattern, in MySQL's words. The parser reports it only as text, in its last line.
#[cold]
fn refused(error: &regex::Error) -> Error {
    let text = error.to_string();
    let why = text.rsplit("error: ").next().unwrap_or_default();
    let has = |words: &[&str]| words.iter().any(|word| why.contains(word));
    if has(&["backreference", "look-around"]) {
        return Error::NotSupported(format!("these regular expressions ({})", why.trim()));
    }
    let condition = if has(&["unclosed group", "unopened group"]) {
        Condition::RegexpMismatchedParen
    } else if has(&["unclosed character class"]) {
        Condition::RegexpMissingCloseBracket
    } else if has(&["invalid character class range"]) {
        Condition::RegexpInvalidRange
    } else if has(&["invalid repetition count range"]) {
        Condition::RegexpMaxLtMin
    } else if has(&["repetition quantifier", "counted repetition", "decimal"]) {
        Condition::RegexpBadInterval
    } else if has(&["escape sequence"]) {
        Condition::RegexpBadEscapeSequence
    } else if has(&["repetition operator missing"]) {
        Condition::RegexpRuleSyntax { place: 1.into() }
    } else if has(&["capture group name"]) {
        Condition::RegexpInvalidCaptureGroupName
    } else {
        Condition::RegexpIllegalArgument
    };
    condition.into()
}
