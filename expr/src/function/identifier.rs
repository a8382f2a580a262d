//! Network addresses, UUIDs and sets of GTIDs.

use super::row::{Null, Places, functions, named};
use super::rules::{self, LONG};
use crate::error::Error;
use crate::eval::{Awaited, Env, Evaluated, Pause, Step, Until};
use crate::tree::Expr;
use crate::typing;
use conditions::Condition;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;
use types::Value;

functions! {
    Identifier;

    BIN_TO_UUID = named(&[("BIN_TO_UUID", 1, 2)]).typed(rules::text::<36>).texts(Places::NONE)
        => |env, _, args| bin_to_uuid(env, args);
    UUID_TO_BIN = named(&[("UUID_TO_BIN", 1, 2)]).typed(rules::binary::<16>).texts(Places::NONE)
        => |env, _, args| uuid_to_bin(env, args);
    UUID_SHORT = named(&[("UUID_SHORT", 0, 0)]).typed(rules::unsigned_bigint).null(Null::Never).volatile()
        => |env, _, _| Ok(Value::UInt(uuid_short(env)));
    IS_UUID = named(&[("IS_UUID", 1, 1)]).typed(rules::boolean)
        => |env, _, args| Ok(env.text(&args[0])?.map_or(Value::Null, |s| Value::Int(parse_uuid(&s).is_some().into())));
    INET6_ATON = named(&[("INET6_ATON", 1, 1)]).typed(rules::binary::<16>).texts(Places::NONE)
        => |env, _, args| inet6_aton(env, &args[0]);
    INET6_NTOA = named(&[("INET6_NTOA", 1, 1)]).typed(rules::text::<39>).texts(Places::NONE)
        => |env, _, args| inet6_ntoa(env, &args[0]);
    IS_IPV4 = named(&[("IS_IPV4", 1, 1)]).typed(rules::boolean).null(Null::AnyArgument)
        => |env, _, args| address_test(env, &args[0], |s| parse_ipv4(s).is_some());
    IS_IPV4_COMPAT = named(&[("IS_IPV4_COMPAT", 1, 1)]).typed(rules::boolean).null(Null::AnyArgument)
        => |env, _, args| address_test(env, &args[0], |s| s.len() == 16 && is_compatible(s));
    IS_IPV4_MAPPED = named(&[("IS_IPV4_MAPPED", 1, 1)]).typed(rules::boolean).null(Null::AnyArgument)
        => |env, _, args| address_test(env, &args[0], |s| s.len() == 16 && is_mapped(s));
    IS_IPV6 = named(&[("IS_IPV6", 1, 1)]).typed(rules::boolean).null(Null::AnyArgument)
        => |env, _, args| address_test(env, &args[0], |s| parse_ipv6(s).is_some());
    GTID_SUBSET = named(&[("GTID_SUBSET", 2, 2)]).typed(rules::bigint).null(Null::AnyArgument)
        => |env, _, args| gtid_subset(env, args);
    GTID_SUBTRACT = named(&[("GTID_SUBTRACT", 2, 2)])
        .typed(|typing, _, _| Ok(typing::string(typing::capped(u64::MAX, typing.literal_collation()), typing.literal_collation())))
        .length(|_| LONG / 4)
        => |env, _, args| gtid_subtract(env, args);
    WAIT_FOR_EXECUTED_GTID_SET = named(&[("WAIT_FOR_EXECUTED_GTID_SET", 1, 2)]).typed(rules::bigint).volatile()
        => |env, _, args| wait_for_executed(env, args);
    SOURCE_POS_WAIT = named(&[("SOURCE_POS_WAIT", 2, 4)]).typed(rules::bigint).volatile()
        => |env, _, args| wait_for_place(env, args, "SOURCE_POS_WAIT");
    MASTER_POS_WAIT = named(&[("MASTER_POS_WAIT", 2, 4)]).typed(rules::bigint).volatile()
        => |env, _, args| wait_for_place(env, args, "MASTER_POS_WAIT");
}

fn owned<'a>(bytes: Vec<u8>) -> Value<'a> {
    Value::Bytes(Cow::Owned(bytes))
}

fn address_test<'a>(env: &Env<'a>, arg: &'a Expr, test: impl Fn(&[u8]) -> bool) -> Evaluated<'a> {
    Ok(env.text(arg)?.map_or(Value::Null, |s| Value::Int(test(&s).into())))
}

fn is_compatible(bytes: &[u8]) -> bool {
    bytes[..12].iter().all(|b| *b == 0) && bytes[12..] != [0, 0, 0, 0] && bytes[12..] != [0, 0, 0, 1]
}

fn is_mapped(bytes: &[u8]) -> bool {
    bytes[..10].iter().all(|b| *b == 0) && bytes[10..12] == [0xff, 0xff]
}

/// Four decimal numbers of one to three digits.
fn parse_ipv4(text: &[u8]) -> Option<[u8; 4]> {
    let mut out = [0; 4];
    let mut parts = text.split(|b| *b == b'.');
    for byte in &mut out {
        let part = parts.next()?;
        if !(1..=3).contains(&part.len()) || !part.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number = part.iter().fold(0u32, |n, d| n * 10 + u32::from(d - b'0'));
        *byte = u8::try_from(number).ok()?;
    }
    parts.next().is_none().then_some(out)
}

/// Groups of up to four hexadecimal digits, one `::`, perhaps an IPv4 address at the end.
fn parse_ipv6(text: &[u8]) -> Option<[u8; 16]> {
    if !(2..=39).contains(&text.len()) {
        return None;
    }
    let mut out = [0; 16];
    let mut at = 0;
    let mut gap = None;
    let mut rest = text;
    if let Some(tail) = text.strip_prefix(b":") {
        // Only as the first half of `::`.
        if !tail.starts_with(b":") {
            return None;
        }
        rest = tail;
    }
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix(b":") {
            if gap.replace(at).is_some() {
                return None;
            }
            rest = tail;
            continue;
        }
        let length = rest.iter().position(|b| *b == b':').unwrap_or(rest.len());
        let group = &rest[..length];
        if group.contains(&b'.') {
            let tail = parse_ipv4(group).filter(|_| length == rest.len() && at <= 12)?;
            out[at..at + 4].copy_from_slice(&tail);
            at += 4;
            break;
        }
        if !(1..=4).contains(&length) || !group.iter().all(u8::is_ascii_hexdigit) || at > 14 {
            return None;
        }
        let number = u16::from_str_radix(std::str::from_utf8(group).ok()?, 16).ok()?;
        out[at..at + 2].copy_from_slice(&number.to_be_bytes());
        at += 2;
        rest = &rest[length..];
        if let Some(tail) = rest.strip_prefix(b":") {
            // A single colon stands between groups.
            if tail.is_empty() {
                return None;
            }
            rest = tail;
        }
    }
    match gap {
        None => (at == 16).then_some(out),
        Some(_) if at == 16 => None,
        Some(gap) => {
            let moved = at - gap;
            out.copy_within(gap..at, 16 - moved);
            out[gap..16 - moved].fill(0);
            Some(out)
        }
    }
}

#[cold]
fn wrong_value<'a>(env: &Env<'_>, value: &[u8], function: &'static str) -> Evaluated<'a> {
    let value = format!("'{}'", String::from_utf8_lossy(value));
    env.problem(Error::WrongValueForFunction { what: "string", value, function })?;
    Ok(Value::Null)
}

fn inet6_aton<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(s) = env.text(arg)? else { return Ok(Value::Null) };
    if let Some(address) = parse_ipv4(&s) {
        return Ok(owned(address.to_vec()));
    }
    match parse_ipv6(&s) {
        Some(address) => Ok(owned(address.to_vec())),
        None => wrong_value(env, &s, "inet6_aton"),
    }
}

fn inet6_ntoa<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(s) = env.text(arg)? else { return Ok(Value::Null) };
    let binary = super::string::is_binary(arg);
    match (&*s, <[u8; 16]>::try_from(&*s)) {
        (&[a, b, c, d], _) if binary => Ok(owned(format!("{a}.{b}.{c}.{d}").into_bytes())),
        (_, Ok(address)) if binary => Ok(owned(print_ipv6(&address).into_bytes())),
        _ => wrong_value(env, &s, "inet6_ntoa"),
    }
}

/// The longest run of zero groups becomes `::`; IPv4 addresses at the end show as such.
fn print_ipv6(address: &[u8; 16]) -> String {
    let words: [u16; 8] = std::array::from_fn(|n| u16::from_be_bytes([address[2 * n], address[2 * n + 1]]));
    let (mut gap_at, mut gap_length) = (8, 0);
    let mut n = 0;
    while n < 8 {
        let run = words[n..].iter().take_while(|w| **w == 0).count();
        if run > gap_length {
            (gap_at, gap_length) = (n, run);
        }
        n += run.max(1);
    }
    let has_ipv4 = gap_at == 0 && (gap_length == 6 || gap_length == 5 && words[5] == 0xffff);
    let mut out = String::new();
    let mut n = 0;
    while n < 8 {
        if n == gap_at {
            if n == 0 {
                out.push(':');
            }
            out.push(':');
            n += gap_length;
            continue;
        }
        if n == 6 && has_ipv4 {
            out.push_str(&format!("{}.{}.{}.{}", address[12], address[13], address[14], address[15]));
            break;
        }
        out.push_str(&format!("{:x}", words[n]));
        if n < 7 {
            out.push(':');
        }
        n += 1;
    }
    // The separator before the gap and the gap's own are one.
    out.replace(":::", "::")
}

/// 32 hexadecimal digits; dashes after 8, 12, 16 and 20 of them, all or none; braces around the form with dashes.
fn parse_uuid(text: &[u8]) -> Option<[u8; 16]> {
    let dashed = |s: &[u8]| [8, 13, 18, 23].iter().all(|at| s[*at] == b'-');
    let inner = match text.len() {
        32 => text,
        36 if dashed(text) => text,
        38 if text[0] == b'{' && text[37] == b'}' && dashed(&text[1..37]) => &text[1..37],
        _ => return None,
    };
    let mut digits = inner.iter().filter(|b| inner.len() == 32 || **b != b'-');
    let mut out = [0; 16];
    for byte in &mut out {
        let mut digit = || char::from(*digits.next()?).to_digit(16).map(|d| d as u8);
        *byte = digit()? << 4 | digit()?;
    }
    digits.next().is_none().then_some(out)
}

/// The time's high part first, so that keys made one after the other are neighbours.
fn swap_time(b: [u8; 16]) -> [u8; 16] {
    [b[6], b[7], b[4], b[5], b[0], b[1], b[2], b[3], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]
}

fn unswap_time(b: [u8; 16]) -> [u8; 16] {
    [b[4], b[5], b[6], b[7], b[2], b[3], b[0], b[1], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]
}

#[cold]
fn refuse<'a>(value: &[u8], function: &'static str) -> Evaluated<'a> {
    let value = String::from_utf8_lossy(value).into_owned();
    Err(Error::WrongValueForFunction { what: "string", value, function }.into())
}

fn swaps<'a>(env: &Env<'a>, args: &'a [Expr]) -> Step<bool> {
    Ok(args.get(1).map(|arg| env.integer(arg)).transpose()?.flatten().unwrap_or(0) != 0)
}

fn uuid_to_bin<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(s) = env.text(&args[0])? else { return Ok(Value::Null) };
    let Some(bytes) = parse_uuid(&s) else { return refuse(&s, "uuid_to_bin") };
    Ok(owned(if swaps(env, args)? { swap_time(bytes) } else { bytes }.to_vec()))
}

fn bin_to_uuid<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(s) = env.text(&args[0])? else { return Ok(Value::Null) };
    let Ok(bytes) = <[u8; 16]>::try_from(&*s) else { return refuse(&s, "bin_to_uuid") };
    let b = if swaps(env, args)? { unswap_time(bytes) } else { bytes };
    let number = u128::from_be_bytes(b);
    let digits = format!("{number:032x}");
    let text = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-");
    Ok(owned(text.into_bytes()))
}

/// Server number, start time and a counter: unique as long as fewer than 16 million a second are made.
fn uuid_short(env: &Env<'_>) -> u64 {
    use std::sync::OnceLock;
    use sync::atomic::{AtomicU64, Ordering};
    static BASE: OnceLock<u64> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let start = (env.session().statement_start_us / types::temporal::MICROS_PER_SECOND) as u64;
    let base = *BASE.get_or_init(|| (1 << 56) + ((start & 0xFFFF_FFFF) << 24));
    // Relaxed: only the counter itself matters; no two calls get the same.
    base.wrapping_add(COUNT.fetch_add(1, Ordering::Relaxed) + 1)
}

/// Ranges of numbers, both ends included, in order and apart, by server.
type Gtids = BTreeMap<String, Vec<(u64, u64)>>;

fn gtids<'a>(env: &Env<'a>, arg: &'a Expr) -> Step<Option<Gtids>> {
    let Some(text) = env.text(arg)? else { return Ok(None) };
    match parse_gtids(&text) {
        Some(set) => Ok(Some(set)),
        None => {
            Err(Error::from(Condition::MalformedGtidSetSpecification { value: (String::from_utf8_lossy(&text)).into() }).into())
        }
    }
}

/// `uuid:n[-m][:n[-m]]...[, ...]`
fn parse_gtids(text: &[u8]) -> Option<Gtids> {
    let text = std::str::from_utf8(text).ok()?;
    let mut set = Gtids::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let mut fields = part.split(':').map(str::trim);
        let uuid = fields.next()?;
        parse_uuid(uuid.as_bytes()).filter(|_| uuid.len() == 36)?;
        let ranges = set.entry(uuid.to_ascii_lowercase()).or_default();
        for field in fields {
            let (from, to) = field.split_once('-').unwrap_or((field, field));
            let (from, to): (u64, u64) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
            if from == 0 || from > i64::MAX as u64 || to > i64::MAX as u64 {
                return None;
            }
            // A range that ends before it begins is empty.
            if from <= to {
                ranges.push((from, to));
            }
        }
    }
    set.values_mut().for_each(join_ranges);
    Some(set)
}

fn join_ranges(ranges: &mut Vec<(u64, u64)>) {
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::with_capacity(ranges.len());
    for &(from, to) in ranges.iter() {
        match joined.last_mut() {
            Some(last) if from <= last.1 + 1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    *ranges = joined;
}

/// What of the first set is not in the second.
fn subtract(a: Gtids, b: &Gtids) -> Gtids {
    let mut out = Gtids::new();
    for (uuid, ranges) in a {
        let removed = b.get(&uuid).map_or(&[][..], Vec::as_slice);
        let mut left = Vec::new();
        for (mut from, to) in ranges {
            let first = removed.partition_point(|(_, high)| *high < from);
            for &(low, high) in removed[first..].iter().take_while(|(low, _)| *low <= to) {
                if low > from {
                    left.push((from, low - 1));
                }
                from = high + 1;
            }
            if from <= to {
                left.push((from, to));
            }
        }
        if !left.is_empty() {
            out.insert(uuid, left);
        }
    }
    out
}

fn gtid_subset<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(a), Some(b)) = (gtids(env, &args[0])?, gtids(env, &args[1])?) else { return Ok(Value::Null) };
    Ok(Value::Int(subtract(a, &b).is_empty().into()))
}

fn gtid_subtract<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(a), Some(b)) = (gtids(env, &args[0])?, gtids(env, &args[1])?) else { return Ok(Value::Null) };
    let mut out = String::new();
    for (uuid, ranges) in subtract(a, &b) {
        if !out.is_empty() {
            out.push_str(",\n");
        }
        out.push_str(&uuid);
        for (from, to) in ranges {
            out.push_str(&if from == to { format!(":{from}") } else { format!(":{from}-{to}") });
        }
    }
    Ok(owned(out.into_bytes()))
}

/// The seconds that a function waits at most: `None`, if it was given none, or 0.
fn timeout<'a>(env: &Env<'a>, arg: Option<&'a Expr>, function: &'static str) -> Step<Option<Duration>> {
    let Some(arg) = arg else { return Ok(None) };
    match env.double(arg)? {
        Some(seconds) if seconds >= 0.0 => Ok((seconds > 0.0).then(|| Duration::from_secs_f64(seconds.min(3.2e9)))),
        _ => Err(Error::from(Condition::WrongArguments { what: format!("{function}.").into() }).into()),
    }
}

/// The driver waits.
fn waited<'a>(env: &Env<'a>, until: impl FnOnce() -> Until, timeout: Option<Duration>) -> Evaluated<'a> {
    match env.shared.rare().waits.take() {
        Some(outcome) => Ok(outcome.map_or(Value::Null, Value::Int)),
        None => Err(Pause::Replication(Box::new(Awaited { until: until(), timeout }))),
    }
}

/// WAIT_FOR_EXECUTED_GTID_SET(set [, seconds])
fn wait_for_executed<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let text = env.text(&args[0])?;
    let malformed = |value: &[u8]| {
        let value = String::from_utf8_lossy(value).into_owned().into();
        Pause::from(Error::from(Condition::MalformedGtidSetSpecification { value }))
    };
    let text = text.ok_or_else(|| malformed(b"NULL"))?;
    let longest = timeout(env, args.get(1), "WAIT_FOR_EXECUTED_GTID_SET")?;
    let set = || Until::Executed { set: String::from_utf8_lossy(&text).into_owned(), own: env.session().own_gtid.clone() };
    waited(env, set, longest)
}

/// SOURCE_POS_WAIT(file, position [, seconds [, channel]])
fn wait_for_place<'a>(env: &Env<'a>, args: &'a [Expr], function: &'static str) -> Evaluated<'a> {
    let longest = timeout(env, args.get(2), function)?;
    let (Some(file), Some(position)) = (env.text(&args[0])?, env.integer(&args[1])?) else { return Ok(Value::Null) };
    if let Some(channel) = args.get(3)
        && env.text(channel)?.is_none_or(|name| !name.is_empty())
    {
        return Ok(Value::Null);
    }
    let place =
        || Until::Applied { file: String::from_utf8_lossy(&file).into_owned(), position: u64::try_from(position).unwrap_or(0) };
    waited(env, place, longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_print_as_they_read() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(parse_ipv6(text.as_bytes()).map(|a| print_ipv6(&a)).as_deref(), expected, "{text}");
        };
        check("::", Some("::"));
        check("::1", Some("::1"));
        check("1::", Some("1::"));
        check("::1.2.3.4", Some("::1.2.3.4"));
        check("::ffff:1.2.3.4", Some("::ffff:1.2.3.4"));
        check("fe80::1:0:0:2", Some("fe80::1:0:0:2"));
        check("1:0:0:2:0:0:0:3", Some("1:0:0:2::3"));
        check("1:2:3:4:5:6:7:8", Some("1:2:3:4:5:6:7:8"));
        for wrong in ["", ":", "1:", ":1", "1:2:3:4:5:6:7", "1::2::3", "12345::", "1:2:3:4:5:6:7:8:9", "::1.2.3", "1:::2", "g::"]
        {
            check(wrong, None);
        }
    }

    #[test]
    fn time_parts_change_places_and_back() {
        let bytes: [u8; 16] = std::array::from_fn(|n| n as u8);
        assert_eq!(unswap_time(swap_time(bytes)), bytes);
        assert!(parse_uuid(b"{6ccd780c-baba-1026-9564-5b8c656024db}").is_some());
        assert!(parse_uuid(b"6ccd780cbaba102695645b8c656024db").is_some());
        assert!(parse_uuid(b"6ccd780c-baba-1026-9564-5b8c65602-db").is_none());
    }
}
