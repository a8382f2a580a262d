//! String functions. Positions and lengths count characters of text and bytes of binary strings.
//!
//! A string is *text* when its static type has a character set, and *binary* otherwise; mixed arguments make the whole call binary,
//! as MySQL's collation aggregation does. Stored text is UTF-8; bytes that are not are taken one by one.

use super::row::{ANY, Null, Parameters, Places, functions, named, of_grammar};
use super::rules::{self, Lengths, constant_integer, constant_length};
use crate::coerce::Text;
use crate::error::Error;
use crate::eval::{Env, Evaluated};
use crate::tree::{Expr, ExprKind};
use crate::typing;
use std::borrow::Cow;
use types::charset::Charset;
use types::{CollationId, Value, work};

/// Work of looking at a character, or at a place where something was found, in bytes of a plain copy (`types::work`).
const PLACE_UNITS: usize = 16;

functions! {
    String;

    CONCAT = named(&[("CONCAT", 1, ANY)]).text(|l| l.capped(l.first() + l.rest().iter().sum::<u64>())).null(Null::Converted)
        => |env, _, args| concat(env, args);
    CONCAT_WS = named(&[("CONCAT_WS", 2, ANY)])
        .text(|l| l.capped(l.rest().iter().sum::<u64>() + l.first() * l.count().saturating_sub(2))).null(Null::FirstConverted)
        => |env, _, args| concat_ws(env, args);
    LENGTH = named(&[("LENGTH", 1, 1), ("OCTET_LENGTH", 1, 1)]).typed(rules::bigint).null(Null::AnyArgument).digits(10)
        => |env, _, args| Ok(env.bytes(&args[0])?.map_or(Value::Null, |s| Value::Int(s.len() as i64)));
    CHAR_LENGTH = named(&[("CHAR_LENGTH", 1, 1), ("CHARACTER_LENGTH", 1, 1)]).typed(rules::bigint).null(Null::AnyArgument).digits(10)
        => |env, _, args| char_length(env, &args[0]);
    BIT_LENGTH = named(&[("BIT_LENGTH", 1, 1)]).typed(rules::bigint).null(Null::AnyArgument).digits(10)
        => |env, _, args| Ok(env.bytes(&args[0])?.map_or(Value::Null, |s| Value::Int(s.len() as i64 * 8)));
    /// The number of an ENUM's member, the bits of a SET's: how a variable of a program or a stored function's value counts as a number.
    MEMBER_NUMBER = of_grammar("MEMBER_NUMBER").typed(rules::bigint).null(Null::AnyArgument)
        => |env, _, args| Ok(crate::coerce::member_number(&env.eval(&args[0])?, &args[0].ty));
    UPPER = named(&[("UPPER", 1, 1), ("UCASE", 1, 1)]).text(rules::of_first).null(Null::Converted)
        => |env, _, args| change_case(env, &args[0], true);
    LOWER = named(&[("LOWER", 1, 1), ("LCASE", 1, 1)]).text(rules::of_first).null(Null::Converted)
        => |env, _, args| change_case(env, &args[0], false);
    SUBSTRING = named(&[("SUBSTRING", 2, 3)]).text(substring_length).null(Null::Converted).texts(Places::only(0))
        .integers(Places::from(1))
        => |env, _, args| substring(env, args);
    SUBSTRING_INDEX = named(&[("SUBSTRING_INDEX", 3, 3)]).text(rules::of_first).null(Null::Converted).texts(Places::before(2))
        .collated(Places::only(0)).integers(Places::only(2))
        => |env, _, args| substring_index(env, args);
    LEFT = named(&[("LEFT", 2, 2)]).text(first_characters).null(Null::Converted).texts(Places::only(0)).integers(Places::from(1))
        => |env, _, args| left_right(env, args, true);
    RIGHT = named(&[("RIGHT", 2, 2)]).text(first_characters).null(Null::Converted).texts(Places::only(0)).integers(Places::from(1))
        => |env, _, args| left_right(env, args, false);
    TRIM = of_grammar("TRIM").text(rules::of_first).null(Null::Converted) => |env, _, args| trim(env, args, true, true);
    LTRIM = named(&[("LTRIM", 1, 1)]).text(rules::of_first).null(Null::Converted) => |env, _, args| trim(env, args, true, false);
    RTRIM = named(&[("RTRIM", 1, 1)]).text(rules::of_first).null(Null::Converted) => |env, _, args| trim(env, args, false, true);
    LPAD = named(&[("LPAD", 3, 3)]).text(|l| l.repeated(1, 1)).null(Null::Converted).texts(Places::but(1))
        .collated(Places::only(0)).integers(Places::only(1))
        => |env, node, args| pad(env, args, true, widest_character(node));
    RPAD = named(&[("RPAD", 3, 3)]).text(|l| l.repeated(1, 1)).null(Null::Converted).texts(Places::but(1))
        .collated(Places::only(0)).integers(Places::only(1))
        => |env, node, args| pad(env, args, false, widest_character(node));
    REPEAT = named(&[("REPEAT", 2, 2)]).text(|l| l.repeated(1, l.first())).null(Null::Converted).texts(Places::only(0))
        .integers(Places::from(1))
        => |env, _, args| repeat(env, args);
    REVERSE = named(&[("REVERSE", 1, 1)]).text(rules::of_first).null(Null::Converted) => |env, _, args| reverse(env, &args[0]);
    REPLACE = named(&[("REPLACE", 3, 3)]).text(replaced_length).null(Null::Converted).collated(Places::only(0))
        => |env, _, args| replace(env, args);
    // LOCATE(part, whole [, from])
    LOCATE = named(&[("LOCATE", 2, 3)]).typed(rules::bigint).null(Null::AnyArgument).texts(Places::before(2))
        .collated(Places::only(1)).integers(Places::only(2)).digits(10)
        => |env, node, args| locate(env, node, &args[1], &args[0], args.get(2));
    INSTR = named(&[("INSTR", 2, 2)]).typed(rules::bigint).null(Null::AnyArgument).collated(Places::only(0)).digits(10)
        => |env, node, args| locate(env, node, &args[0], &args[1], None);
    SPACE = named(&[("SPACE", 1, 1)]).text(|l| l.repeated(0, 1)).texts(Places::NONE).integers(Places::only(0))
        => |env, _, args| space(env, args);
    ASCII = named(&[("ASCII", 1, 1)]).typed(rules::bigint).null(Null::AnyArgument).digits(3)
        => |env, _, args| Ok(env.bytes(&args[0])?.map_or(Value::Null, |s| Value::Int(s.first().map_or(0, |b| i64::from(*b)))));
    ORD = named(&[("ORD", 1, 1)]).typed(rules::bigint).null(Null::AnyArgument) => |env, _, args| ord(env, &args[0]);
    CHAR = named(&[("CHAR", 1, ANY)]).typed(|_, args, _| Ok(typing::string(args.len() as u64 * 4, CollationId::BINARY)))
        .null(Null::Converted).texts(Places::NONE).integers(Places::ALL)
        => |env, _, args| char_function(env, args);
    INSERT = named(&[("INSERT", 4, 4)]).text(|l| l.capped(l.first() + l.of(3))).null(Null::Converted)
        .texts(Places::only(0).and(Places::only(3))).collated(Places::only(0)).integers(Places::range(1, 3))
        => |env, _, args| insert(env, args);
    FIELD = named(&[("FIELD", 2, ANY)]).typed(rules::bigint).null(Null::Never).parameters(Parameters::Choice(0))
        .collated(Places::only(0)).digits(10)
        => |env, _, args| field(env, args);
    FIND_IN_SET = named(&[("FIND_IN_SET", 2, 2)]).typed(rules::bigint).null(Null::AnyArgument).compares().digits(10)
        => |env, _, args| find_in_set(env, args);
    ELT = named(&[("ELT", 2, ANY)]).text(|l| l.rest().iter().copied().max().unwrap_or(0)).texts(Places::from(1))
        .integers(Places::only(0)).chooses()
        => |env, _, args| elt(env, args);
    STRCMP = named(&[("STRCMP", 2, 2)]).typed(rules::bigint).null(Null::AnyArgument).compares().digits(1)
        => |env, _, args| strcmp(env, args);
    QUOTE = named(&[("QUOTE", 1, 1)]).text(|l| l.capped(l.first() * 2 + 2)).null(Null::Converted)
        => |env, _, args| quote(env, &args[0]);
    MAKE_SET = named(&[("MAKE_SET", 2, ANY)]).text(|l| l.rest().iter().sum::<u64>() + l.count().saturating_sub(2))
        .null(Null::AnyArgument).texts(Places::from(1)).integers(Places::only(0)).chooses()
        => |env, _, args| make_set(env, args);
    EXPORT_SET = named(&[("EXPORT_SET", 3, 5)]).text(|l| 64 * l.of(1).max(l.of(2)) + 63 * l.get(3).unwrap_or(1))
        .null(Null::Converted).texts(Places::range(1, 4))
        .integers(Places::only(0).and(Places::only(4)))
        => |env, _, args| export_set(env, args);
}

/// The bytes of the widest character of the result.
fn widest_character(node: &Expr) -> usize {
    node.ty.collation.info().map_or(4, |info| usize::from(info.char_bytes_max))
}

/// The length of LEFT and RIGHT.
fn first_characters(lengths: &Lengths<'_>) -> u64 {
    constant_length(lengths.args.get(1)).map_or(lengths.first(), |n| n.min(lengths.first()))
}

fn substring_length(lengths: &Lengths<'_>) -> u64 {
    let first = lengths.first();
    let most = match constant_integer(lengths.args.get(1)) {
        Some(from) if from < 0 && from.unsigned_abs() > first => 0,
        Some(from) if from < 0 => from.unsigned_abs(),
        Some(from) => first.saturating_sub(from.unsigned_abs().saturating_sub(1)),
        None => first,
    };
    constant_length(lengths.args.get(2)).map_or(most, |n| n.min(most))
}

/// The length of REPLACE: MySQL's rule, whatever is replaced.
fn replaced_length(lengths: &Lengths<'_>) -> u64 {
    lengths.capped(lengths.first().saturating_mul(lengths.of(2).saturating_sub(1).max(1)))
}

/// Is the argument used as bytes rather than as characters?
pub(crate) fn is_binary(expr: &Expr) -> bool {
    use types::TypeKind::{Binary, Blob, Char, Enum, Set, Text, VarBinary, VarChar};
    match expr.ty.kind {
        Binary { .. } | VarBinary { .. } | Blob(_) => true,
        Char { .. } | VarChar { .. } | Text(_) | Enum { .. } | Set { .. } => expr.ty.collation == CollationId::BINARY,
        _ => false,
    }
}

fn any_binary(args: &[Expr]) -> bool {
    args.iter().any(is_binary)
}

/// The collation that comparisons inside a call use: of the first text argument.
fn collation_of(args: &[Expr]) -> CollationId {
    if any_binary(args) {
        return CollationId::BINARY;
    }
    if args.iter().any(|arg| crate::coerce::is_document(&arg.ty)) {
        return CollationId::UTF8MB4_BIN;
    }
    let text = args.iter().find(|a| a.ty.collation != CollationId::BINARY);
    text.map_or(CollationId::UTF8MB4_0900_AI_CI, |a| a.ty.collation)
}

/// The length in bytes of the character at the start of `s` (not empty).
pub(crate) fn char_bytes(s: &[u8], binary: bool) -> usize {
    let expected = match s[0] {
        _ if binary => 1,
        0x00..=0x7F => 1,
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    };
    let whole = s.len() >= expected && s[1..expected].iter().all(|b| b & 0xC0 == 0x80);
    if whole { expected } else { 1 }
}

/// How many characters `s` has.
pub(crate) fn char_count(s: &[u8], binary: bool) -> usize {
    if binary || s.is_ascii() {
        return s.len();
    }
    let mut rest = s;
    let mut count = 0;
    while !rest.is_empty() {
        rest = &rest[char_bytes(rest, false)..];
        count += 1;
    }
    count
}

/// The byte offset of character `n`, or the length of `s` when it has fewer.
pub(crate) fn char_offset(s: &[u8], n: usize, binary: bool) -> usize {
    if binary {
        return n.min(s.len());
    }
    let mut at = 0;
    for _ in 0..n {
        if at >= s.len() {
            break;
        }
        at += char_bytes(&s[at..], false);
    }
    at
}

/// A part of a string, borrowed where the string is.
fn slice<'a>(s: Text<'a>, from: usize, to: usize) -> Value<'a> {
    match s {
        Cow::Borrowed(s) => Value::Bytes(Cow::Borrowed(&s[from..to])),
        Cow::Owned(mut s) => {
            s.truncate(to);
            s.drain(..from);
            Value::Bytes(Cow::Owned(s))
        }
    }
}

fn owned<'a>(bytes: Vec<u8>) -> Value<'a> {
    Value::Bytes(Cow::Owned(bytes))
}

/// NULL with a warning, or an error, when a result would not fit a packet.
pub(super) fn too_large<'a>(env: &Env<'a>, function: &'static str) -> Evaluated<'a> {
    let limit = env.session().packet_bytes_max as u64;
    env.problem(Error::ResultTooLarge { function, limit })?;
    Ok(Value::Null)
}

fn concat<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    if let [one] = args {
        return Ok(env.text(one)?.map_or(Value::Null, Value::Bytes));
    }
    let mut out = Vec::new();
    for arg in args {
        let Some(part) = env.text(arg)? else { return Ok(Value::Null) };
        out.extend_from_slice(&part);
    }
    if out.len() > env.session().packet_bytes_max {
        return too_large(env, "concat");
    }
    Ok(owned(out))
}

fn concat_ws<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(separator) = env.text(&args[0])? else { return Ok(Value::Null) };
    let mut out = Vec::new();
    let mut first = true;
    for arg in &args[1..] {
        let Some(part) = env.text(arg)? else { continue };
        if !first {
            out.extend_from_slice(&separator);
        }
        first = false;
        out.extend_from_slice(&part);
    }
    if out.len() > env.session().packet_bytes_max {
        return too_large(env, "concat_ws");
    }
    Ok(owned(out))
}

fn char_length<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    Ok(env.text(arg)?.map_or(Value::Null, |s| Value::Int(char_count(&s, is_binary(arg)) as i64)))
}

fn change_case<'a>(env: &Env<'a>, arg: &'a Expr, upper: bool) -> Evaluated<'a> {
    let Some(s) = env.text(arg)? else { return Ok(Value::Null) };
    // UPPER and LOWER have no effect on binary strings.
    if is_binary(arg) {
        return Ok(Value::Bytes(s));
    }
    if let Some(changed) = types::charset::change_case(&s, arg.ty.collation, upper) {
        return Ok(owned(changed.into_bytes()));
    }
    let cases = types::collation::Cases::of(arg.ty.collation);
    if s.is_ascii() && cases.has_usual_ascii() {
        let mut s = s.into_owned();
        if upper {
            s.make_ascii_uppercase()
        } else {
            s.make_ascii_lowercase()
        }
        return Ok(owned(s));
    }
    let folded = fold_case(&String::from_utf8_lossy(&s), upper, cases).into_bytes();
    work::finish()?;
    Ok(owned(folded))
}

/// Simple case mapping, one character to one, as MySQL's collations have it (so that `ß` stays `ß`).
fn fold_case(s: &str, upper: bool, cases: types::collation::Cases) -> String {
    s.chars()
        .map(|c| {
            work::pass(PLACE_UNITS);
            let single = |mut mapped: Box<dyn Iterator<Item = char>>| match (mapped.next(), mapped.next()) {
                (Some(one), None) => one,
                _ => c,
            };
            if let Some(other) = cases.exception(c, upper) {
                return other;
            }
            // The capital I with a dot loses it.
            if !upper && c == '\u{130}' {
                return 'i';
            }
            if upper { single(Box::new(c.to_uppercase())) } else { single(Box::new(c.to_lowercase())) }
        })
        .collect()
}

fn substring<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(s) = env.text(&args[0])? else { return Ok(Value::Null) };
    let Some(position) = env.integer(&args[1])? else { return Ok(Value::Null) };
    let length = match args.get(2) {
        None => None,
        Some(arg) => match env.integer(arg)? {
            None => return Ok(Value::Null),
            Some(n) => Some(n),
        },
    };
    let binary = is_binary(&args[0]);
    let Some(start) = start_of(&s, position, binary) else { return Ok(Value::Bytes(Cow::Borrowed(b""))) };
    let end = match length {
        None => s.len(),
        Some(n) if n <= 0 => start,
        Some(n) => start + char_offset(&s[start..], usize::try_from(n).unwrap_or(usize::MAX), binary),
    };
    Ok(slice(s, start, end))
}

/// The byte where 1-based character `position` begins; negative ones count from the end. `None`: outside of the string.
fn start_of(s: &[u8], position: i128, binary: bool) -> Option<usize> {
    let count = char_count(s, binary) as i128;
    let index = match position {
        0 => return None,
        p if p > 0 => p - 1,
        p => count + p,
    };
    (0..count).contains(&index).then(|| char_offset(s, index as usize, binary))
}

fn substring_index<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(s), Some(delimiter), Some(count)) = (env.text(&args[0])?, env.text(&args[1])?, env.integer(&args[2])?) else {
        return Ok(Value::Null);
    };
    if delimiter.is_empty() || count == 0 {
        return Ok(Value::Bytes(Cow::Borrowed(b"")));
    }
    // The delimiter is matched byte for byte, as MySQL does ("performs a case-sensitive match").
    if count > 0 {
        let finder = memchr::memmem::Finder::new(&delimiter[..]);
        let mut from = 0;
        for n in 1.. {
            let Some(at) = finder.find(&s[from..]) else { break };
            if n == count {
                return Ok(slice(s, 0, from + at));
            }
            from += at + delimiter.len();
            work::spend(at + PLACE_UNITS)?;
        }
    } else {
        let finder = memchr::memmem::FinderRev::new(&delimiter[..]);
        let mut to = s.len();
        for n in 1.. {
            let Some(at) = finder.rfind(&s[..to]) else { break };
            work::spend(to - at + PLACE_UNITS)?;
            if n == -count {
                let end = s.len();
                return Ok(slice(s, at + delimiter.len(), end));
            }
            to = at;
        }
    }
    Ok(Value::Bytes(s))
}

/// The first place of `part` in `s`.
pub(crate) fn find(s: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(s, part)
}

fn left_right<'a>(env: &Env<'a>, args: &'a [Expr], left: bool) -> Evaluated<'a> {
    let (Some(s), Some(n)) = (env.text(&args[0])?, env.integer(&args[1])?) else { return Ok(Value::Null) };
    let binary = is_binary(&args[0]);
    let n = usize::try_from(n.max(0)).unwrap_or(usize::MAX);
    if left {
        let end = char_offset(&s, n, binary);
        return Ok(slice(s, 0, end));
    }
    let skip = char_count(&s, binary).saturating_sub(n);
    let start = char_offset(&s, skip, binary);
    let end = s.len();
    Ok(slice(s, start, end))
}

/// TRIM(s), TRIM(LEADING r FROM s) and so on; the second argument, if there is one, is the text to remove.
fn trim<'a>(env: &Env<'a>, args: &'a [Expr], leading: bool, trailing: bool) -> Evaluated<'a> {
    let Some(s) = env.text(&args[0])? else { return Ok(Value::Null) };
    let removed = match args.get(1) {
        None => Cow::Borrowed(&b" "[..]),
        Some(arg) => match env.text(arg)? {
            None => return Ok(Value::Null),
            Some(removed) => removed,
        },
    };
    let (mut from, mut to) = (0, s.len());
    if !removed.is_empty() {
        while leading && s[from..to].starts_with(&removed) {
            from += removed.len();
        }
        while trailing && s[from..to].ends_with(&removed) {
            to -= removed.len();
        }
    }
    Ok(slice(s, from, to))
}

/// `widest`: the bytes of the widest character of the result's character set.
fn pad<'a>(env: &Env<'a>, args: &'a [Expr], left: bool, widest: usize) -> Evaluated<'a> {
    let (Some(s), Some(length)) = (env.text(&args[0])?, env.integer(&args[1])?) else { return Ok(Value::Null) };
    let padding = match args.get(2) {
        None => Cow::Borrowed(&b" "[..]),
        Some(arg) => match env.text(arg)? {
            None => return Ok(Value::Null),
            Some(p) => p,
        },
    };
    let binary = any_binary(&args[..1]) || args.get(2).is_some_and(is_binary);
    let Ok(length) = usize::try_from(length) else { return Ok(Value::Null) };
    let have = char_count(&s, binary);
    if length <= have {
        let end = char_offset(&s, length, binary);
        return Ok(slice(s, 0, end));
    }
    let missing = length - have;
    // Whatever the padding is, its characters count as the widest of the character set.
    if s.len().saturating_add(missing.saturating_mul(widest)) > env.session().packet_bytes_max {
        return too_large(env, if left { "lpad" } else { "rpad" });
    }
    if padding.is_empty() {
        return Ok(Value::Bytes(s));
    }
    let padding_chars = char_count(&padding, binary);
    let mut filler = Vec::with_capacity(missing / padding_chars * padding.len() + padding.len());
    for _ in 0..missing / padding_chars {
        filler.extend_from_slice(&padding);
    }
    filler.extend_from_slice(&padding[..char_offset(&padding, missing % padding_chars, binary)]);
    if left {
        filler.extend_from_slice(&s);
        return Ok(owned(filler));
    }
    let mut out = s.into_owned();
    out.append(&mut filler);
    Ok(owned(out))
}

fn repeat<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(s), Some(n)) = (env.text(&args[0])?, env.integer(&args[1])?) else { return Ok(Value::Null) };
    if n <= 0 || s.is_empty() {
        return Ok(Value::Bytes(Cow::Borrowed(b"")));
    }
    if n.saturating_mul(s.len() as i128) > env.session().packet_bytes_max as i128 {
        return too_large(env, "repeat");
    }
    Ok(owned(s.repeat(n as usize)))
}

fn space<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(n) = env.integer(&args[0])? else { return Ok(Value::Null) };
    if n > env.session().packet_bytes_max as i128 {
        return too_large(env, "space");
    }
    Ok(owned(vec![b' '; n.max(0) as usize]))
}

fn reverse<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(s) = env.text(arg)? else { return Ok(Value::Null) };
    if is_binary(arg) || s.is_ascii() {
        let mut s = s.into_owned();
        s.reverse();
        return Ok(owned(s));
    }
    let mut out = vec![0; s.len()];
    let mut from = 0;
    while from < s.len() {
        let n = char_bytes(&s[from..], false);
        let to = s.len() - from - n;
        out[to..to + n].copy_from_slice(&s[from..from + n]);
        from += n;
    }
    Ok(owned(out))
}

fn replace<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(s), Some(from), Some(to)) = (env.text(&args[0])?, env.text(&args[1])?, env.text(&args[2])?) else {
        return Ok(Value::Null);
    };
    if from.is_empty() || find(&s, &from).is_none() {
        return Ok(Value::Bytes(s));
    }
    let mut out = Vec::with_capacity(s.len());
    let finder = memchr::memmem::Finder::new(&from[..]);
    let mut rest = &s[..];
    while let Some(at) = finder.find(rest) {
        work::spend(at + to.len() + PLACE_UNITS)?;
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(&to);
        rest = &rest[at + from.len()..];
        if out.len() > env.session().packet_bytes_max {
            return too_large(env, "replace");
        }
    }
    out.extend_from_slice(rest);
    Ok(owned(out))
}

fn locate<'a>(env: &Env<'a>, _node: &'a Expr, whole: &'a Expr, part: &'a Expr, from: Option<&'a Expr>) -> Evaluated<'a> {
    let (Some(s), Some(p)) = (env.text(whole)?, env.text(part)?) else { return Ok(Value::Null) };
    let binary = is_binary(whole);
    let skipped = match from {
        None => 0,
        Some(arg) => match env.integer(arg)? {
            None => return Ok(Value::Null),
            Some(n) if n < 1 => return Ok(Value::Int(0)),
            Some(n) => usize::try_from(n - 1).unwrap_or(usize::MAX),
        },
    };
    if skipped > char_count(&s, binary) {
        return Ok(Value::Int(0));
    }
    let start = char_offset(&s, skipped, binary);
    let collation = if binary { CollationId::BINARY } else { locate_collation(whole, part) };
    let found = find_collated(&s[start..], &p, collation);
    work::finish()?;
    Ok(Value::Int(found.map_or(0, |at| (skipped + char_count(&s[start..start + at], binary) + 1) as i64)))
}

/// What is looked through says how; where it is not a text, what is looked for.
fn locate_collation(whole: &Expr, part: &Expr) -> CollationId {
    let text = [whole, part].into_iter().find(|e| e.ty.collation != CollationId::BINARY);
    text.map_or(CollationId::UTF8MB4_0900_AI_CI, |e| e.ty.collation)
}

/// The first byte of `part` in `s` under a collation. Case-insensitive collations compare windows of as many characters.
fn find_collated(s: &[u8], part: &[u8], collation: CollationId) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    if collation == CollationId::BINARY || collation == CollationId::UTF8MB4_BIN {
        return find(s, part);
    }
    let width = char_count(part, false);
    // The window moves by one character at both ends.
    let (mut at, mut end) = (0, char_offset(s, width, false));
    while at < s.len() {
        let window = &s[at..end];
        if crate::coerce::strings_equal(collation, window, part) {
            return Some(at);
        }
        // How much of the window was compared is not known.
        if work::spend(PLACE_UNITS + window.len() / 4).is_err() {
            return None;
        }
        at += char_bytes(&s[at..], false);
        if end < s.len() {
            end += char_bytes(&s[end..], false);
        }
    }
    None
}

fn insert<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(s), Some(position), Some(length), Some(new)) =
        (env.text(&args[0])?, env.integer(&args[1])?, env.integer(&args[2])?, env.text(&args[3])?)
    else {
        return Ok(Value::Null);
    };
    let binary = is_binary(&args[0]) || is_binary(&args[3]);
    let count = char_count(&s, binary) as i128;
    if position < 1 || position > count {
        return Ok(Value::Bytes(s));
    }
    let start = char_offset(&s, (position - 1) as usize, binary);
    let end = match length {
        n if n < 0 || n > count => s.len(),
        n => start + char_offset(&s[start..], n as usize, binary),
    };
    let mut out = Vec::with_capacity(s.len() + new.len());
    out.extend_from_slice(&s[..start]);
    out.extend_from_slice(&new);
    out.extend_from_slice(&s[end..]);
    if out.len() > env.session().packet_bytes_max {
        return too_large(env, "insert");
    }
    Ok(owned(out))
}

fn elt<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(n) = env.integer(&args[0])? else { return Ok(Value::Null) };
    if n < 1 || n >= args.len() as i128 {
        return Ok(Value::Null);
    }
    Ok(env.text(&args[n as usize])?.map_or(Value::Null, Value::Bytes))
}

/// FIELD compares as strings when all are strings, as integers when all are, else as doubles.
fn field<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    // Values that are not numbers are texts there, dates and documents included.
    if !args.iter().any(|arg| crate::coerce::is_numeric(&arg.ty)) {
        let Some(wanted) = env.text(&args[0])? else { return Ok(Value::Int(0)) };
        let collation = if crate::coerce::is_string(&args[0].ty) { args[0].ty.collation } else { collation_of(args) };
        for (n, arg) in args.iter().enumerate().skip(1) {
            if let Some(s) = env.text(arg)?
                && crate::coerce::strings_equal(collation, &s, &wanted)
            {
                return Ok(Value::Int(n as i64));
            }
        }
        return Ok(Value::Int(0));
    }
    let integers = crate::coerce::all_integers(args);
    let wanted_double = env.double(&args[0])?;
    let Some(wanted_double) = wanted_double else { return Ok(Value::Int(0)) };
    let wanted = if integers { env.integer(&args[0])? } else { None };
    for (n, arg) in args.iter().enumerate().skip(1) {
        let equal = match wanted {
            Some(wanted) => env.integer(arg)? == Some(wanted),
            None => env.double(arg)? == Some(wanted_double),
        };
        if equal {
            return Ok(Value::Int(n as i64));
        }
    }
    Ok(Value::Int(0))
}

fn find_in_set<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(wanted), Some(set)) = (env.text(&args[0])?, env.text(&args[1])?) else { return Ok(Value::Null) };
    if set.is_empty() || wanted.contains(&b',') {
        return Ok(Value::Int(0));
    }
    let collation = collation_of(args);
    let place = set.split(|b| *b == b',').position(|member| {
        work::pass(PLACE_UNITS + member.len());
        crate::coerce::strings_equal(collation, member, &wanted)
    });
    work::finish()?;
    Ok(Value::Int(place.map_or(0, |n| n as i64 + 1)))
}

fn make_set<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(bits) = env.integer(&args[0])? else { return Ok(Value::Null) };
    let bits = bits as u64;
    let mut out = Vec::new();
    let mut first = true;
    for (n, arg) in args[1..].iter().enumerate().take(64) {
        if bits >> n & 1 == 1
            && let Some(member) = env.text(arg)?
        {
            if !first {
                out.push(b',');
            }
            first = false;
            out.extend_from_slice(&member);
        }
    }
    Ok(owned(out))
}

fn export_set<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(bits), Some(on), Some(off)) = (env.integer(&args[0])?, env.text(&args[1])?, env.text(&args[2])?) else {
        return Ok(Value::Null);
    };
    let separator = match args.get(3) {
        None => Cow::Borrowed(&b","[..]),
        Some(arg) => match env.text(arg)? {
            None => return Ok(Value::Null),
            Some(s) => s,
        },
    };
    let count = match args.get(4) {
        None => 64,
        Some(arg) => match env.integer(arg)? {
            None => return Ok(Value::Null),
            Some(n) if (0..=64).contains(&n) => n as u32,
            Some(_) => 64,
        },
    };
    let most = env.session().packet_bytes_max;
    let mut out = Vec::new();
    for n in 0..count {
        let part = if bits as u64 >> n & 1 == 1 { &on } else { &off };
        let between = if n > 0 { &separator[..] } else { &[] };
        if out.len() + between.len() + part.len() > most {
            return too_large(env, "export_set");
        }
        out.extend_from_slice(between);
        out.extend_from_slice(part);
    }
    Ok(owned(out))
}

fn strcmp<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(a), Some(b)) = (env.text(&args[0])?, env.text(&args[1])?) else { return Ok(Value::Null) };
    // Beside a number by code points.
    let collation =
        if args.iter().any(|arg| crate::coerce::is_numeric(&arg.ty)) { CollationId::BINARY } else { collation_of(args) };
    Ok(Value::Int(crate::coerce::compare_strings(collation, &a, &b)? as i64))
}

fn quote<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    // QUOTE(NULL) is the word NULL without quotes.
    let Some(s) = env.text(arg)? else { return Ok(Value::Bytes(Cow::Borrowed(b"NULL"))) };
    let mut out = Vec::with_capacity(s.len() + 2);
    out.push(b'\'');
    for b in s.iter() {
        match b {
            b'\\' | b'\'' => out.extend_from_slice(&[b'\\', *b]),
            0 => out.extend_from_slice(b"\\0"),
            0x1A => out.extend_from_slice(b"\\Z"),
            b => out.push(*b),
        }
    }
    out.push(b'\'');
    if out.len() > env.session().packet_bytes_max {
        return too_large(env, "quote");
    }
    Ok(owned(out))
}

fn ord<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(s) = env.bytes(arg)? else { return Ok(Value::Null) };
    if s.is_empty() {
        return Ok(Value::Int(0));
    }
    let n = match Charset::of(arg.ty.collation) {
        charset if charset.has_own_bytes() && !is_binary(arg) => charset.first_char_bytes(&s),
        _ => char_bytes(&s, is_binary(arg)),
    };
    Ok(Value::Int(s[..n].iter().fold(0, |code, b| code << 8 | i64::from(*b))))
}

/// CHAR(n, ...): each number's bytes, without leading zero bytes; NULLs are skipped.
fn char_function<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    char_units(env, args, 1)
}

/// The value of a CHAR() whose characters have units of this many bytes.
pub(crate) fn wide_characters<'a>(env: &Env<'a>, call: &'a Expr, unit: usize) -> Evaluated<'a> {
    let ExprKind::Call { args, .. } = &call.kind else { return env.eval(call) };
    char_units(env, args, unit)
}

/// As CHAR, with a multiple of `unit` bytes for each number.
fn char_units<'a>(env: &Env<'a>, args: &'a [Expr], unit: usize) -> Evaluated<'a> {
    let mut out = Vec::new();
    for arg in args {
        let Some(n) = env.integer(arg)? else { continue };
        let bytes = (n as u32).to_be_bytes();
        let first = bytes.iter().position(|b| *b != 0).unwrap_or(3);
        out.extend_from_slice(&bytes[first / unit * unit..]);
    }
    Ok(owned(out))
}
