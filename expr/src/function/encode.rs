//! Functions that write numbers and bytes in other forms: hexadecimal, base 64, digests, number bases, FORMAT, INET, UUID.

use super::locale;
use super::row::{Null, Places, functions, named};
use super::rules::{self, LONG, Typed, Typing, bytes_of, constant_length};
use super::string::{is_binary, too_large};
use crate::class::{Class, class};
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::tree::Expr;
use crate::typing;
use conditions::Condition;
use sha2::Digest;
use std::borrow::Cow;
use types::{CollationId, ColumnType, Value};

functions! {
    Encode;

    HEX = named(&[("HEX", 1, 1)]).typed(hex_type).null(Null::Converted).texts(Places::NONE)
        .length(|args| bytes_of(&args[0]).saturating_mul(2))
        => |env, _, args| hex(env, &args[0]);
    UNHEX = named(&[("UNHEX", 1, 1)]).typed(|_, args, _| Ok(typing::string(bytes_of(&args[0]).div_ceil(2), CollationId::BINARY)))
        .texts(Places::NONE).length(|args| bytes_of(&args[0]).div_ceil(2))
        => |env, _, args| unhex(env, &args[0]);
    FORMAT = named(&[("FORMAT", 2, 3)])
        .typed(|typing, args, _| Ok(typing::string(grouped_length(&args[0]), typing.literal_collation())))
        .null(Null::Converted).texts(Places::NONE).integers(Places::before(2)).length(|args| grouped_length(&args[0]))
        .note("with locales")
        => |env, _, args| format(env, args);
    MD5 = named(&[("MD5", 1, 1)]).typed(rules::text::<32>)
        => |env, _, args| digest(env, &args[0], |s| lower_hex(&md5::Md5::digest(s)));
    SHA1 = named(&[("SHA1", 1, 1), ("SHA", 1, 1)]).typed(rules::text::<40>)
        => |env, _, args| digest(env, &args[0], |s| lower_hex(&sha1::Sha1::digest(s)));
    SHA2 = named(&[("SHA2", 2, 2)]).typed(sha2_type).texts(Places::NONE).integers(Places::only(1)) => |env, _, args| sha2(env, args);
    CRC32 = named(&[("CRC32", 1, 1)]).typed(rules::unsigned_bigint).null(Null::AnyArgument).digits(10)
        => |env, _, args| crc32(env, &args[0]);
    TO_BASE64 = named(&[("TO_BASE64", 1, 1)]).typed(to_base64_type).null(Null::Converted).texts(Places::NONE)
        .length(|args| base64_length(bytes_of(&args[0])).min(LONG / 4))
        => |env, _, args| to_base64(env, &args[0]);
    FROM_BASE64 = named(&[("FROM_BASE64", 1, 1)])
        .typed(|_, args, _| Ok(typing::string(bytes_of(&args[0]) * 3 / 4, CollationId::BINARY))).texts(Places::NONE)
        .length(|args| (bytes_of(&args[0]).saturating_mul(3) / 4).min(LONG))
        => |env, _, args| from_base64(env, &args[0]);
    BIN = named(&[("BIN", 1, 1)]).typed(rules::text::<65>).texts(Places::NONE)
        => |env, _, args| convert_base(env, digits_of(env, &args[0])?, 10, 2);
    OCT = named(&[("OCT", 1, 1)]).typed(rules::text::<65>).texts(Places::NONE)
        => |env, _, args| convert_base(env, digits_of(env, &args[0])?, 10, 8);
    CONV = named(&[("CONV", 3, 3)]).typed(rules::text::<65>).texts(Places::NONE).integers(Places::from(1))
        => |env, _, args| conv(env, args);
    UUID = named(&[("UUID", 0, 0)]).typed(uuid_type).volatile() => |env, _, _| Ok(Value::Bytes(Cow::Owned(uuid(env).into_bytes())));
    INET_ATON = named(&[("INET_ATON", 1, 1)]).typed(rules::unsigned_bigint) => |env, _, args| inet_aton(env, &args[0]);
    INET_NTOA = named(&[("INET_NTOA", 1, 1)]).typed(rules::text::<31>).texts(Places::NONE).integers(Places::only(0))
        => |env, _, args| inet_ntoa(env, &args[0]);
}

/// The type of HEX.
fn hex_type(typing: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    let length = typing::text_length(&args[0]);
    let digits = match class(&args[0].ty) {
        Class::Null | Class::Integer | Class::Decimal | Class::Double => 16,
        Class::String => length * typing::bytes_per_char(args[0].ty.collation) * 2,
        Class::Json => length * 8,
        Class::Date | Class::Time | Class::DateTime => length * 2,
    };
    Ok(typing::string(digits, typing.literal_collation()))
}

/// The type of TO_BASE64.
fn to_base64_type(typing: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    let collation = typing.literal_collation();
    Ok(typing::string(typing::capped(base64_length(bytes_of(&args[0])), collation), collation))
}

fn base64_length(bytes: u64) -> u64 {
    let digits = bytes.div_ceil(3).saturating_mul(4);
    digits + digits.saturating_sub(1) / 76
}

/// The type of SHA2.
fn sha2_type(typing: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    let length = match constant_length(args.get(1)) {
        Some(bits @ (224 | 384 | 512)) => bits / 4,
        Some(_) => 64,
        None => 128,
    };
    Ok(typing::string(length, typing.literal_collation()))
}

/// The type of UUID.
fn uuid_type(typing: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    let connection = typing.literal_collation();
    Ok(ColumnType { collation: CollationId::of_charset("utf8mb3").unwrap_or(connection), ..typing::string(36, connection) })
}

/// The length of FORMAT: a number with separators between its groups of digits.
fn grouped_length(number: &Expr) -> u64 {
    let length = typing::text_length(number);
    length + length / 3 + 32
}

fn owned<'a>(bytes: Vec<u8>) -> Value<'a> {
    Value::Bytes(Cow::Owned(bytes))
}

fn lower_hex(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() * 2);
    for b in bytes {
        out.push(b"0123456789abcdef"[usize::from(b >> 4)]);
        out.push(b"0123456789abcdef"[usize::from(b & 15)]);
    }
    out
}

fn hex<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    if crate::coerce::is_numeric(&arg.ty) {
        let Some(bits) = env.bits(arg)? else { return Ok(Value::Null) };
        return Ok(owned(format!("{bits:X}").into_bytes()));
    }
    let Some(s) = env.bytes(arg)? else { return Ok(Value::Null) };
    if s.len() * 2 > env.session().packet_bytes_max {
        return too_large(env, "hex");
    }
    let mut out = lower_hex(&s);
    out.make_ascii_uppercase();
    Ok(owned(out))
}

fn unhex<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(s) = env.text(arg)? else { return Ok(Value::Null) };
    match parse_hex(&s) {
        Some(bytes) => Ok(owned(bytes)),
        None => {
            let value = format!("'{}'", String::from_utf8_lossy(&s));
            env.problem(Error::WrongValueForFunction { what: "string", value, function: "unhex" })?;
            Ok(Value::Null)
        }
    }
}

/// An odd number of digits has a zero in front.
fn parse_hex(s: &[u8]) -> Option<Vec<u8>> {
    let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
    let (head, pairs) = s.split_at(s.len() % 2);
    let mut out = Vec::with_capacity(s.len() / 2 + 1);
    if let [one] = head {
        out.push(digit(*one)?);
    }
    for pair in pairs.chunks_exact(2) {
        out.push(digit(pair[0])? << 4 | digit(pair[1])?);
    }
    Some(out)
}

/// Work of digesting a byte, in bytes of a plain copy (`types::work`).
const DIGEST_UNITS: usize = 4;

fn digest<'a>(env: &Env<'a>, arg: &'a Expr, compute: impl Fn(&[u8]) -> Vec<u8>) -> Evaluated<'a> {
    let Some(s) = env.bytes(arg)? else { return Ok(Value::Null) };
    let digest = compute(&s);
    types::work::spend(s.len() * DIGEST_UNITS)?;
    Ok(owned(digest))
}

fn sha2<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(s), Some(bits)) = (env.bytes(&args[0])?, env.integer(&args[1])?) else { return Ok(Value::Null) };
    types::work::spend(s.len() * DIGEST_UNITS)?;
    Ok(owned(match bits {
        224 => lower_hex(&sha2::Sha224::digest(&s)),
        0 | 256 => lower_hex(&sha2::Sha256::digest(&s)),
        384 => lower_hex(&sha2::Sha384::digest(&s)),
        512 => lower_hex(&sha2::Sha512::digest(&s)),
        _ => {
            env.session().warn(Error::from(Condition::WrongParametersToNativeFct { function: "sha2".into() }));
            return Ok(Value::Null);
        }
    }))
}

fn crc32<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(s) = env.bytes(arg)? else { return Ok(Value::Null) };
    Ok(Value::UInt(crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32IsoHdlc, &s)))
}

/// Lines of 76 characters, as MySQL writes them.
fn to_base64<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    use base64::Engine;
    let Some(s) = env.bytes(arg)? else { return Ok(Value::Null) };
    let encoded = base64::engine::general_purpose::STANDARD.encode(&*s);
    let mut out = Vec::with_capacity(encoded.len() + encoded.len() / 76);
    for (n, line) in encoded.as_bytes().chunks(76).enumerate() {
        if n > 0 {
            out.push(b'\n');
        }
        out.extend_from_slice(line);
    }
    if out.len() > env.session().packet_bytes_max {
        return too_large(env, "to_base64");
    }
    Ok(owned(out))
}

/// As in MySQL, bits of the last digit that belong to no byte may be set.
const LENIENT: base64::engine::GeneralPurpose = base64::engine::GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    base64::engine::GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

fn from_base64<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    use base64::Engine;
    let Some(s) = env.text(arg)? else { return Ok(Value::Null) };
    let compact: Vec<u8> = s.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
    Ok(LENIENT.decode(compact).map_or(Value::Null, owned))
}

fn to_radix(mut n: u64, radix: u32) -> Vec<u8> {
    let mut digits = Vec::with_capacity(64);
    loop {
        digits.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(n % u64::from(radix)) as usize]);
        n /= u64::from(radix);
        if n == 0 {
            break;
        }
    }
    digits.reverse();
    digits
}

/// CONV(text, from, to): a negative base takes, or shows, the number as signed; digits after the first wrong one are ignored.
fn conv<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(from), Some(to)) = (env.integer(&args[1])?, env.integer(&args[2])?) else { return Ok(Value::Null) };
    let s = digits_of(env, &args[0])?;
    convert_base(env, s, from, to)
}

/// The text of a number; 0x41 and BIT are numbers here.
fn digits_of<'a>(env: &Env<'a>, arg: &'a Expr) -> Step<Option<Cow<'a, [u8]>>> {
    let number = |n: String| Ok(Some(Cow::Owned(n.into_bytes())));
    match env.eval(arg)? {
        Value::Bytes(bytes) if crate::coerce::is_bits_literal(&arg.ty) => number(env.number_of_bits(&bytes)?.to_string()),
        Value::UInt(n) => number(n.to_string()),
        Value::Int(n) => number(n.to_string()),
        Value::Null => Ok(None),
        other => Ok(Some(env.as_text(other, &arg.ty)?)),
    }
}

fn convert_base<'a>(env: &Env<'a>, s: Option<Cow<'a, [u8]>>, from: i128, to: i128) -> Evaluated<'a> {
    let Some(s) = s else { return Ok(Value::Null) };
    // As in MySQL, the low 32 bits count.
    let (from, to) = (i128::from(from as i32), i128::from(to as i32));
    let valid = |base: i128| (2..=36).contains(&base.abs());
    if !valid(from) || !valid(to) || s.is_empty() {
        return Ok(Value::Null);
    }
    let (bits, clean) = parse_radix(&s, from);
    if !clean {
        let value = String::from_utf8_lossy(&s).into_owned();
        env.problem(Error::TruncatedWrongValue { what: "DECIMAL", value })?;
    }
    if to < 0 && (bits as i64) < 0 {
        let mut out = vec![b'-'];
        out.extend(to_radix((bits as i64).unsigned_abs(), -to as u32));
        return Ok(owned(out));
    }
    Ok(owned(to_radix(bits, to.unsigned_abs() as u32)))
}

/// The number, and whether there were digits that fit.
fn parse_radix(s: &[u8], base: i128) -> (u64, bool) {
    let s = s.trim_ascii_start();
    let (negative, digits) = match s.first() {
        Some(b'-') => (true, &s[1..]),
        Some(b'+') => (false, &s[1..]),
        _ => (false, s),
    };
    let radix = base.unsigned_abs() as u32;
    let mut n: u128 = 0;
    let any = digits.first().is_some_and(|b| char::from(*b).is_digit(radix));
    for b in digits {
        let Some(digit) = char::from(*b).to_digit(radix) else { break };
        n = (n * u128::from(radix) + u128::from(digit)).min(u128::from(u64::MAX) + 1);
    }
    let signed = base < 0;
    let most = match (signed, negative) {
        (true, true) => 1 << 63,
        (true, false) => i64::MAX as u128,
        _ => u64::MAX.into(),
    };
    let clean = any && n <= most;
    let bits = match (signed, negative) {
        (true, true) => (n.min(1 << 63) as u64).wrapping_neg(),
        (true, false) => n.min(i64::MAX as u128) as u64,
        (false, true) => (n.min(u64::MAX.into()) as u64).wrapping_neg(),
        (false, false) => n.min(u64::MAX.into()) as u64,
    };
    (bits, clean)
}

/// FORMAT(x, digits): rounded, with a comma between groups of three. A locale says with what separators.
fn format<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(digits) = env.integer(&args[1])? else { return Ok(Value::Null) };
    // As in MySQL, the low 32 bits count.
    let digits = (digits as i32).clamp(0, 30) as u8;
    let plain = if crate::coerce::is_exact(&args[0].ty) {
        let Some(decimal) = env.decimal(&args[0])? else { return Ok(Value::Null) };
        let mut out = Vec::new();
        decimal.rescale(digits).unwrap_or(decimal).write(&mut out);
        String::from_utf8(out).expect("a decimal prints as ASCII")
    } else {
        let Some(x) = env.double(&args[0])? else { return Ok(Value::Null) };
        let rounded = super::math::round_double(x, i64::from(digits), false);
        // A large number has the digits that it prints with, and zeros.
        if rounded.abs() >= 1e15 && rounded.is_finite() {
            let zeros = "0".repeat(usize::from(digits));
            format!("{rounded}{}{zeros}", if digits > 0 { "." } else { "" })
        } else {
            format!("{rounded:.*}", usize::from(digits))
        }
    };
    let style = match args.get(2).map(|arg| env.text(arg)).transpose()?.flatten() {
        None => locale::ENGLISH,
        Some(name) => {
            let name = String::from_utf8_lossy(&name);
            locale::find(&name).unwrap_or_else(|| {
                env.session().warn(Error::from(Condition::UnknownLocale { name: name.into() }));
                locale::ENGLISH
            })
        }
    };
    let (sign, magnitude) = plain.strip_prefix('-').map_or(("", plain.as_str()), |m| ("-", m));
    let (whole, fraction) = magnitude.split_once('.').map_or((magnitude, None), |(w, f)| (w, Some(f)));
    let mut out = String::with_capacity(plain.len() + plain.len() / 3);
    out.push_str(sign);
    for (n, digit) in whole.chars().enumerate() {
        let left = whole.len() - n;
        let border = if style.pairs && left > 3 { (left - 3).is_multiple_of(2) } else { left.is_multiple_of(3) };
        if n > 0 && border {
            out.extend(style.separator);
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push(style.point);
        out.push_str(fraction);
    }
    Ok(owned(out.into_bytes()))
}

/// `a.b.c.d`, and the short forms `a.d`, `a.b.d`.
fn inet_aton<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(s) = env.text(arg)? else { return Ok(Value::Null) };
    match parse_inet(&s) {
        Some(n) => Ok(Value::UInt(n)),
        None => {
            let value = format!("'{}'", String::from_utf8_lossy(&s));
            env.problem(Error::WrongValueForFunction { what: "string", value, function: "inet_aton" })?;
            Ok(Value::Null)
        }
    }
}

fn parse_inet(s: &[u8]) -> Option<u64> {
    let mut parts = [0u64; 4];
    let mut count = 0;
    for part in s.split(|b| *b == b'.') {
        let last = part.is_empty() && std::ptr::eq(part.as_ptr(), s[s.len()..].as_ptr());
        if count == 4 || part.len() > 3 || last || !part.iter().all(u8::is_ascii_digit) {
            return None;
        }
        // An empty part between two points is zero.
        let n = part.iter().fold(0, |n, digit| n * 10 + u64::from(digit - b'0'));
        if n > 255 {
            return None;
        }
        parts[count] = n;
        count += 1;
    }
    // The last part fills the lowest byte; missing ones in the middle are zero.
    let last = parts[count - 1];
    let high = parts[..count - 1].iter().enumerate().fold(0, |sum, (n, part)| sum | part << (24 - 8 * n));
    Some(if count == 1 { last } else { high | last })
}

fn inet_ntoa<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(n) = env.integer(arg)? else { return Ok(Value::Null) };
    match u32::try_from(n) {
        Ok(n) => Ok(owned(std::net::Ipv4Addr::from(n).to_string().into_bytes())),
        Err(_) => {
            env.problem(Error::WrongValueForFunction { what: "integer", value: n.to_string(), function: "inet_ntoa" })?;
            Ok(Value::Null)
        }
    }
}

/// A version 1 UUID: the clock in units of 100 ns since 1582, a sequence number, and a random node of this process.
fn uuid(env: &Env<'_>) -> String {
    use std::sync::OnceLock;
    use sync::atomic::{AtomicU64, Ordering};
    static NODE: OnceLock<u64> = OnceLock::new();
    static LAST: AtomicU64 = AtomicU64::new(0);
    /// 100 ns units between 1582-10-15 and 1970-01-01.
    const GREGORIAN_OFFSET: u64 = 0x01B2_1DD2_1381_4000;
    let node = *NODE.get_or_init(|| {
        let random =
            std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), env.session().connection_id);
        // The multicast bit marks a node that is not a hardware address.
        random & 0xFFFF_FFFF_FFFF | 1 << 40
    });
    let clock = os::time::since_epoch().as_nanos() as u64 / 100;
    // Relaxed: only the counter itself matters; no two calls get the same.
    let now = clock + GREGORIAN_OFFSET;
    let previous = LAST.fetch_max(now, Ordering::Relaxed);
    let ticks = if previous >= now { LAST.fetch_add(1, Ordering::Relaxed) + 1 } else { now };
    let sequence = (node >> 16) as u16 & 0x3FFF | 0x8000;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        ticks as u32,
        (ticks >> 32) as u16,
        (ticks >> 48) as u16 & 0x0FFF | 0x1000,
        sequence,
        node
    )
}

/// A document that is made here is text to CHARSET and COLLATION; a column of documents is not.
pub(super) fn is_json_text(arg: &Expr) -> bool {
    crate::coerce::is_document(&arg.ty) && !matches!(arg.kind, crate::tree::ExprKind::Column { .. })
}

/// The character set's name of a string argument: CHARSET(), and COLLATION()'s first part.
pub(super) fn charset_name(arg: &Expr) -> &'static str {
    if is_json_text(arg) {
        return crate::coerce::charset_of(CollationId::UTF8MB4_BIN);
    }
    if !crate::coerce::is_string(&arg.ty) || is_binary(arg) {
        return "binary";
    }
    crate::coerce::charset_of(arg.ty.collation)
}
