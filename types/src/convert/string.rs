//! Conversion to strings, ENUM, SET and JSON.

use super::{Problem, StoreContext, Warnings, write_text};
use crate::collation::{self, prefix_bytes, trim};
use crate::row::set_names;
use crate::{ColumnType, LobSize, TypeKind, Value};
use std::borrow::Cow;

/// Bytes or characters that a string column holds.
enum Limit {
    Characters(usize),
    Bytes(usize),
}

fn lob_bytes(size: LobSize) -> usize {
    match size {
        LobSize::Tiny => u8::MAX as usize,
        LobSize::Regular => u16::MAX as usize,
        LobSize::Medium => 0xff_ffff,
        LobSize::Long => u32::MAX as usize,
    }
}

fn text_of<'v>(value: &'v Value<'_>, from: &ColumnType) -> Cow<'v, [u8]> {
    match value {
        Value::Bytes(bytes) => Cow::Borrowed(bytes),
        value => {
            let mut text = Vec::new();
            write_text(value, from, &mut text);
            Cow::Owned(text)
        }
    }
}

/// The first `end` bytes.
fn cut(text: Cow<'_, [u8]>, end: usize) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..end]),
        Cow::Owned(mut bytes) => {
            bytes.truncate(end);
            Cow::Owned(bytes)
        }
    }
}

pub(super) fn store_string<'v>(
    value: &'v Value<'_>,
    from: &ColumnType,
    to: &ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'v>, Problem> {
    let text = text_of(value, from);
    let stored = match to.kind {
        TypeKind::Binary { length } => {
            let mut bytes = store_limited(text, Limit::Bytes(length as usize), false, context, warnings)?;
            if bytes.len() < length as usize {
                bytes.to_mut().resize(length as usize, 0);
            }
            bytes
        }
        TypeKind::VarBinary { length } => store_limited(text, Limit::Bytes(length as usize), false, context, warnings)?,
        TypeKind::Blob(size) => store_limited(text, Limit::Bytes(lob_bytes(size)), false, context, warnings)?,
        TypeKind::Json => store_json(text)?,
        TypeKind::Char { length } => {
            let text = valid_text(text, to, context, warnings)?;
            // Trailing spaces do not count at all.
            let end = trim(&text).len();
            store_limited(cut(text, end), Limit::Characters(length as usize), true, context, warnings)?
        }
        TypeKind::VarChar { length } => {
            let text = valid_text(text, to, context, warnings)?;
            store_limited(text, Limit::Characters(length as usize), true, context, warnings)?
        }
        TypeKind::Text(size) => {
            let text = valid_text(text, to, context, warnings)?;
            store_limited(text, Limit::Bytes(lob_bytes(size)), true, context, warnings)?
        }
        _ => text,
    };
    Ok(Value::Bytes(stored))
}

fn store_limited<'v>(
    text: Cow<'v, [u8]>,
    limit: Limit,
    is_text: bool,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Cow<'v, [u8]>, Problem> {
    let mut end = match limit {
        Limit::Characters(most) => prefix_bytes(&text, most),
        Limit::Bytes(most) => text.len().min(most),
    };
    if end == text.len() {
        return Ok(text);
    }
    // Not within a character.
    while is_text && end > 0 && text[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    if is_text && text[end..].iter().all(|&b| b.is_ascii_whitespace() || b == 0x0b) {
        warnings.note(Problem::Truncated);
    } else {
        context.raise_as(|| Problem::TooLong, Problem::Truncated, warnings)?;
    }
    Ok(cut(text, end))
}

/// Where a text stops being UTF-8; `None`: it is all valid.
pub fn invalid_utf8(text: &[u8]) -> Option<usize> {
    std::str::from_utf8(text).err().map(|error| error.valid_up_to())
}

fn valid_text<'v>(
    text: Cow<'v, [u8]>,
    to: &ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Cow<'v, [u8]>, Problem> {
    if text.is_ascii() {
        return Ok(text);
    }
    let invalid = match to.collation.charset() {
        "ascii" => text.iter().position(|b| !b.is_ascii()),
        "utf8mb3" => invalid_utf8(&text).or_else(|| text.iter().position(|&b| b >= 0xf0)),
        _ => invalid_utf8(&text),
    };
    let Some(at) = invalid else { return Ok(text) };
    context.raise(Problem::Incorrect { what: "string", text: bad_bytes(&text[at..]) }, warnings)?;
    Ok(cut(text, at))
}

/// At most six bytes, as `\xNN` where they are not ASCII.
fn bad_bytes(bytes: &[u8]) -> Box<str> {
    let mut out = String::new();
    for &byte in bytes.iter().take(6) {
        if (0x20..0x7f).contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("\\x{byte:02X}"));
        }
    }
    if bytes.len() > 6 {
        out.push_str("...");
    }
    out.into()
}

pub(super) fn store_enum<'v>(
    value: &'v Value<'_>,
    from: &ColumnType,
    to: &'v ColumnType,
    members: &'v [String],
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'v>, Problem> {
    let by_number = |number: u64| usize::try_from(number).ok().filter(|&n| n >= 1 && n <= members.len());
    let found = match value {
        Value::Bytes(name) => member_position(trim(name), members, to)
            .map(|position| position + 1)
            .or_else(|| whole_number(name).and_then(by_number)),
        Value::Int(v) => u64::try_from(*v).ok().and_then(by_number),
        Value::UInt(v) => by_number(*v),
        Value::Double(v) => by_number(*v as u64),
        Value::Decimal(v) => v.truncate(0).ok().and_then(|v| v.to_u64().ok()).and_then(by_number),
        value => member_position(&text_of(value, from), members, to).map(|position| position + 1),
    };
    match found {
        Some(ordinal) => Ok(Value::text(members[ordinal - 1].as_bytes())),
        None => {
            context.raise(Problem::Truncated, warnings)?;
            Ok(Value::text(b""))
        }
    }
}

fn member_position(name: &[u8], members: &[String], to: &ColumnType) -> Option<usize> {
    members.iter().position(|member| collation::equal(member.as_bytes(), name, to.collation))
}

/// A text that is nothing but digits.
fn whole_number(text: &[u8]) -> Option<u64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    digits.then(|| std::str::from_utf8(text).ok()?.parse().ok()).flatten()
}

pub(super) fn store_set<'v>(
    value: &'v Value<'_>,
    from: &ColumnType,
    to: &'v ColumnType,
    members: &'v [String],
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'v>, Problem> {
    let all = if members.len() >= 64 { u64::MAX } else { (1 << members.len()) - 1 };
    let by_number = |bits: u64| (bits & all, bits & !all == 0);
    let (bits, clean) = match value {
        Value::Int(v) => by_number(*v as u64),
        Value::UInt(v) => by_number(*v),
        Value::Double(v) => by_number(*v as u64),
        Value::Decimal(v) => by_number(v.truncate(0).ok().and_then(|v| v.to_u64().ok()).unwrap_or(u64::MAX)),
        value => {
            let text = text_of(value, from);
            match named_bits(trim(&text), members, to) {
                (bits, true) => (bits, true),
                named => whole_number(&text).map_or(named, by_number),
            }
        }
    };
    if !clean {
        context.raise(Problem::Truncated, warnings)?;
    }
    Ok(Value::Bytes(set_names(to, bits).unwrap_or_default()))
}

/// The bits of the names that exist, and whether all do.
fn named_bits(text: &[u8], members: &[String], to: &ColumnType) -> (u64, bool) {
    if text.is_empty() {
        return (0, true);
    }
    let (mut bits, mut clean) = (0, true);
    for name in text.split(|&b| b == b',') {
        match member_position(name, members, to) {
            Some(position) => bits |= 1 << position,
            None => clean = false,
        }
    }
    (bits, clean)
}

fn store_json(text: Cow<'_, [u8]>) -> Result<Cow<'_, [u8]>, Problem> {
    match Json::validate(&text) {
        Ok(()) => Ok(text),
        Err(position) => Err(Problem::InvalidJson { position }),
    }
}

pub fn is_valid_json(text: &[u8]) -> bool {
    Json::validate(text).is_ok()
}

/// Deepest nesting of arrays and objects.
const JSON_DEPTH_MAX: usize = 100;

/// A JSON checker (RFC 8259) that keeps its nesting in one bit per level.
struct Json<'a> {
    text: &'a [u8],
    at: usize,
    /// Bit 0 is the innermost level: an object.
    objects: u128,
    depth: usize,
}

impl Json<'_> {
    fn validate(text: &[u8]) -> Result<(), usize> {
        if let Some(at) = invalid_utf8(text) {
            return Err(at);
        }
        let mut json = Json { text, at: 0, objects: 0, depth: 0 };
        json.document().ok_or(json.at)?;
        json.skip_spaces();
        if json.at == text.len() { Ok(()) } else { Err(json.at) }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.skip_spaces();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn document(&mut self) -> Option<()> {
        loop {
            // A value is due.
            self.skip_spaces();
            match self.peek()? {
                open @ (b'{' | b'[') => {
                    if self.open(open == b'{')? {
                        continue;
                    }
                }
                _ => self.scalar()?,
            }
            // A value has ended.
            loop {
                if self.depth == 0 {
                    return Some(());
                }
                let in_object = self.objects & 1 == 1;
                if self.take(b',') {
                    if in_object {
                        self.key()?;
                    }
                    break;
                }
                if !self.take(if in_object { b'}' } else { b']' }) {
                    return None;
                }
                self.objects >>= 1;
                self.depth -= 1;
            }
        }
    }

    /// Enters an array or object; `false` when it is empty and already closed.
    fn open(&mut self, object: bool) -> Option<bool> {
        self.at += 1;
        if self.take(if object { b'}' } else { b']' }) {
            return Some(false);
        }
        if self.depth == JSON_DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        self.objects = self.objects << 1 | u128::from(object);
        if object {
            self.key()?;
        }
        Some(true)
    }

    fn key(&mut self) -> Option<()> {
        self.skip_spaces();
        self.string()?;
        self.take(b':').then_some(())
    }

    fn scalar(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.text[self.at..].starts_with(word).then(|| self.at += word.len())
    }

    fn string(&mut self) -> Option<()> {
        if self.peek()? != b'"' {
            return None;
        }
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.escape()?,
                0..0x20 => return None,
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        match self.text.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                let digits = self.text.get(self.at + 2..self.at + 6)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                self.at += 6;
            }
            _ => return None,
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn number(&mut self) -> Option<()> {
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek()? == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Some(())
    }
}
