//! Other forms of strings and numbers: SOUNDEX, WEIGHT_STRING, sizes and times for people, formats of dates, statement digests.

use super::row::{Null, Places, functions, named, of_grammar};
use super::rules::{self, LONG, Typed, Typing, bytes_of};
use super::string::{is_binary, too_large};
use crate::coerce;
use crate::error::Error;
use crate::eval::{Env, Evaluated};
use crate::tree::Expr;
use crate::typing;
use conditions::Condition;
use sha2::Digest;
use std::borrow::Cow;
use types::{CollationId, ColumnType, LobSize, Time, TypeKind, Value};

functions! {
    Forms;

    STATEMENT_DIGEST = named(&[("STATEMENT_DIGEST", 1, 1)]).typed(rules::text::<64>)
        .note("SHA-256 of the text, not MySQL's number")
        => |env, _, args| statement_digest(env, &args[0], true);
    STATEMENT_DIGEST_TEXT = named(&[("STATEMENT_DIGEST_TEXT", 1, 1)]).typed(digest_text_type).length(|_| LONG)
        => |env, _, args| statement_digest(env, &args[0], false);
    SOUNDEX = named(&[("SOUNDEX", 1, 1)])
        .typed(|_, args, collation| Ok(typing::string(typing::text_length(&args[0]).max(4), collation))).null(Null::Converted)
        .length(|args| typing::text_length(&args[0]))
        => |env, _, args| soundex(env, &args[0]);
    /// `(text)`, or `(text, 'C' or 'B', length)` for AS CHAR(n), AS BINARY(n).
    WEIGHT_STRING = named(&[("WEIGHT_STRING", 1, 4)]).typed(weights_type).texts(Places::NONE)
        => |env, _, args| weight_string(env, args);
    /// A pattern of LIKE with its escape character, which becomes a backslash.
    LIKE_PATTERN = of_grammar("LIKE_PATTERN").typed(|_, args, _| Ok(typing::stored(&args[0].ty))).texts(Places::NONE)
        => |env, _, args| like_pattern(env, args);
    GET_FORMAT = named(&[("GET_FORMAT", 2, 2)]).typed(rules::text::<17>).texts(Places::NONE) => |env, _, args| get_format(env, args);
    FORMAT_BYTES = named(&[("FORMAT_BYTES", 1, 1)]).typed(rules::system_text::<11>).texts(Places::NONE).integers(Places::only(0))
        => |env, _, args| format_bytes(env, &args[0]);
    FORMAT_PICO_TIME = named(&[("FORMAT_PICO_TIME", 1, 1)]).typed(rules::system_text::<11>).texts(Places::NONE)
        => |env, _, args| format_pico_time(env, &args[0]);
}

/// The type of STATEMENT_DIGEST_TEXT.
fn digest_text_type(typing: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    Ok(ColumnType { collation: typing.literal_collation(), ..ColumnType::new(TypeKind::Text(LobSize::Long)) })
}

/// The type of WEIGHT_STRING.
fn weights_type(_: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    let weights = bytes_of(&args[0]).saturating_mul(weight_bytes_max(args[0].ty.collation));
    Ok(typing::string(weights.max(8), CollationId::BINARY))
}

/// The bytes of the collation weights of a character.
fn weight_bytes_max(collation: CollationId) -> u64 {
    let name = collation.name();
    match name.contains("_0900_") && !name.ends_with("_bin") {
        true => 16,
        false if name.contains("_unicode_") => 8,
        false => 1,
    }
}

fn owned<'a>(bytes: Vec<u8>) -> Value<'a> {
    Value::Bytes(Cow::Owned(bytes))
}

/// A pattern of LIKE whose escape character is known only now: the same pattern with backslashes instead.
fn like_pattern<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(pattern) = env.text(&args[0])? else { return Ok(Value::Null) };
    // NULL is the backslash.
    let escape = env.text(&args[1])?.unwrap_or(Cow::Borrowed(b"\\"));
    let bytes = is_binary(&args[0]);
    let length = |text: &[u8]| if bytes { 1 } else { types::collation::prefix_bytes(text, 1) };
    if !escape.is_empty() && length(&escape) != escape.len() {
        return Err(Error::from(Condition::WrongArguments { what: "ESCAPE".into() }).into());
    }
    let mut out = Vec::with_capacity(pattern.len() + 4);
    let mut rest = &*pattern;
    while !rest.is_empty() {
        let is_escape = !escape.is_empty() && rest.starts_with(&escape);
        if is_escape && rest.len() > escape.len() {
            out.push(b'\\');
            rest = &rest[escape.len()..];
        } else if rest[0] == b'\\' || is_escape {
            // It stands for itself.
            out.push(b'\\');
        }
        let (char, tail) = rest.split_at(length(rest));
        out.extend_from_slice(char);
        rest = tail;
    }
    Ok(owned(out))
}

/// The class of a letter's sound: `0` for vowels and what sounds like none.
fn sound(letter: char) -> Option<u8> {
    const SOUNDS: &[u8; 26] = b"01230120022455012623010202";
    match letter {
        'A'..='Z' => Some(SOUNDS[letter as usize - 'A' as usize]),
        // Others are as vowels; they end a run of equal sounds.
        other if is_letter(other) => Some(b'0'),
        _ => None,
    }
}

/// What counts as a letter: English ones, and whatever stands behind U+00C0.
fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c >= '\u{C0}'
}

/// The first letter and the sounds behind it, at least three; of any length, as MySQL has it.
fn soundex<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(text) = env.text(arg)? else { return Ok(Value::Null) };
    // Bytes are letters where they are English ones.
    let text = if is_binary(arg) {
        text.iter().map(|&b| if b.is_ascii() { char::from(b) } else { ' ' }).collect()
    } else {
        String::from_utf8_lossy(&text)
    };
    // Other letters than English ones stay as they are.
    let upper = |c: char| c.to_ascii_uppercase();
    let mut letters = text.chars().map(upper).skip_while(|c| !is_letter(*c));
    let Some(first) = letters.next() else { return Ok(Value::Bytes(Cow::Borrowed(b""))) };
    let mut out = first.to_string();
    let mut count = 1;
    let mut last = sound(first).unwrap_or(b'0');
    for letter in letters {
        // Vowels do not part equal sounds, as in MySQL.
        let Some(class) = sound(letter).filter(|class| *class != b'0' && *class != last) else { continue };
        out.push(char::from(class));
        count += 1;
        last = class;
    }
    for _ in count..4 {
        out.push('0');
    }
    Ok(owned(out.into_bytes()))
}

/// WEIGHT_STRING(text, bytes, characters, flags): so many bytes of the weights of so many characters; 0 is all of them. The flag 0x80 fills up
/// to the bytes.
fn weight_bytes<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    const FILL: i128 = 0x80;
    let mut numbers = [0; 3];
    for (number, arg) in numbers.iter_mut().zip(&args[1..]) {
        *number = env.integer(arg)?.unwrap_or(0);
    }
    if !coerce::is_string(&args[0].ty) {
        return Ok(Value::Null);
    }
    let bounded = |n: i128| usize::try_from(n).unwrap_or(usize::MAX);
    let (bytes, characters) = (bounded(numbers[0]), bounded(numbers[1]));
    let Some(text) = env.text(&args[0])? else { return Ok(Value::Null) };
    if bytes.max(characters) > env.session().packet_bytes_max {
        return too_large(env, "weight_string");
    }
    let collation = if is_binary(&args[0]) { CollationId::BINARY } else { args[0].ty.collation };
    let mut out = Vec::new();
    types::collation::weight_string(&text, collation, Some(characters).filter(|n| *n > 0), &mut out);
    if bytes > 0 {
        let mut space = vec![0];
        if numbers[2] & FILL != 0 && out.len() < bytes {
            if collation.pads_space() {
                space.clear();
                types::collation::weight_string(b" ", collation, None, &mut space);
            }
            let filling = space.iter().cycle().take(bytes - out.len());
            out.extend(filling);
        }
        out.truncate(bytes);
    }
    if out.len() > env.session().packet_bytes_max {
        return too_large(env, "weight_string");
    }
    Ok(owned(out))
}

/// WEIGHT_STRING(text [AS CHAR(n) | BINARY(n)])
fn weight_string<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    if args.len() == 4 {
        return weight_bytes(env, args);
    }
    let arg = &args[0];
    let length = match args.get(2) {
        None => None,
        Some(length) => env.integer(length)?.and_then(|n| usize::try_from(n).ok()),
    };
    let as_bytes = match args.get(1) {
        None => false,
        Some(kind) => env.text(kind)?.is_some_and(|kind| &*kind == b"B"),
    };
    if length.unwrap_or(0) > env.session().packet_bytes_max {
        return too_large(env, "weight_string");
    }
    if !as_bytes && !coerce::is_string(&arg.ty) {
        return Ok(match env.eval(arg)? {
            // The number of an ENUM or SET value, which has a signed type.
            Value::UInt(n) if !arg.ty.unsigned => owned((n ^ (1 << 63)).to_be_bytes().to_vec()),
            Value::Int(n) => owned(((n as u64) ^ (1 << 63)).to_be_bytes().to_vec()),
            Value::UInt(n) => owned(n.to_be_bytes().to_vec()),
            Value::Date(date) => owned((u64::from(date.pack()) | 1 << 63).to_be_bytes().to_vec()),
            Value::DateTime(moment) => owned((moment.pack() | 1 << 63).to_be_bytes().to_vec()),
            Value::Time(time) => owned(weight_of_time(time).to_be_bytes().to_vec()),
            _ => Value::Null,
        });
    }
    let Some(text) = env.text(arg)? else { return Ok(Value::Null) };
    if as_bytes {
        let mut bytes = text.into_owned();
        bytes.resize(length.unwrap_or(0), 0);
        return Ok(owned(bytes));
    }
    let collation = if is_binary(arg) { CollationId::BINARY } else { arg.ty.collation };
    let mut out = Vec::new();
    types::collation::weight_string(&text, collation, length, &mut out);
    if out.len() > env.session().packet_bytes_max {
        return too_large(env, "weight_string");
    }
    Ok(owned(out))
}

/// Hours, minutes and seconds in bits of their own above the microseconds, as MySQL packs a time; the complement of that before midnight.
fn weight_of_time(time: Time) -> u64 {
    const MIDDLE: u64 = 1 << 63 | 0x80_0000 << 24;
    let micros = time.micros.unsigned_abs();
    let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
    let packed = (((seconds / 3600) << 12) | ((seconds / 60 % 60) << 6) | (seconds % 60)) << 24 | micros;
    if time.micros < 0 { MIDDLE - 1 - packed } else { MIDDLE + packed }
}

/// FORMAT_BYTES(n)
fn format_bytes<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let Some(bytes) = env.double(arg)? else { return Ok(Value::Null) };
    let magnitude = bytes.abs();
    let step = (0..UNITS.len()).rev().find(|step| magnitude >= unit_bytes(*step));
    Ok(owned(match step {
        None => format!("{:4.0} bytes", bytes.trunc()).into_bytes(),
        Some(step) => scaled(bytes / unit_bytes(step), UNITS[step]),
    }))
}

fn unit_bytes(step: usize) -> f64 {
    1024f64.powi(step as i32 + 1)
}

/// Two digits after the point; very large numbers with an exponent.
fn scaled(number: f64, unit: &str) -> Vec<u8> {
    if number.abs() < 100_000.0 {
        return format!("{number:4.2} {unit}").into_bytes();
    }
    let text = format!("{number:.2e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(("+", exponent), |digits| ("-", digits));
    format!("{mantissa}e{sign}{digits:0>2} {unit}").into_bytes()
}

/// FORMAT_PICO_TIME(n)
fn format_pico_time<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(time) = env.double(arg)? else { return Ok(Value::Null) };
    Ok(owned(pico_time(time)))
}

/// Picoseconds in the unit that suits them.
pub fn pico_time(time: f64) -> Vec<u8> {
    const UNITS: [(&str, f64); 7] =
        [("d", 864e14), ("h", 36e14), ("min", 6e13), ("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)];
    match UNITS.iter().find(|(_, size)| time.abs() >= *size) {
        None => format!("{:3} ps", time.trunc()).into_bytes(),
        Some((unit, size)) => scaled(time / size, unit),
    }
}

/// GET_FORMAT(DATE | TIME | DATETIME, place)
fn get_format<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    const PLACES: [&str; 5] = ["EUR", "INTERNAL", "ISO", "JIS", "USA"];
    const DATES: [&str; 5] = ["%d.%m.%Y", "%Y%m%d", "%Y-%m-%d", "%Y-%m-%d", "%m.%d.%Y"];
    const TIMES: [&str; 5] = ["%H.%i.%s", "%H%i%s", "%H:%i:%s", "%H:%i:%s", "%h:%i:%s %p"];
    const DATETIMES: [&str; 5] =
        ["%Y-%m-%d %H.%i.%s", "%Y%m%d%H%i%s", "%Y-%m-%d %H:%i:%s", "%Y-%m-%d %H:%i:%s", "%Y-%m-%d %H.%i.%s"];
    let (Some(kind), Some(place)) = (env.text(&args[0])?, env.text(&args[1])?) else { return Ok(Value::Null) };
    let formats = match kind.len() {
        4 if kind.eq_ignore_ascii_case(b"date") => DATES,
        4 => TIMES,
        _ => DATETIMES,
    };
    let place = PLACES.iter().position(|name| place.eq_ignore_ascii_case(name.as_bytes()));
    Ok(place.map_or(Value::Null, |n| Value::Bytes(Cow::Borrowed(formats[n].as_bytes()))))
}

/// The statement with its literals as `?`, or that text's SHA-256.
fn statement_digest<'a>(env: &Env<'a>, arg: &'a Expr, hash: bool) -> Evaluated<'a> {
    let Some(statement) = env.text(arg)? else { return Ok(Value::Null) };
    let session = env.session();
    let text = (session.digest_text)(&statement, &session.sql_mode)?;
    if !hash {
        return Ok(owned(text.into_bytes()));
    }
    let digest = sha2::Sha256::digest(text.as_bytes());
    Ok(owned(digest.iter().flat_map(|b| format!("{b:02x}").into_bytes()).collect()))
}
