//! Paths into documents: `$.a[0]`, `$**.b`, `$[last - 1]`, `$[1 to 3]`, `$.*`.

use super::Json;
use std::collections::HashSet;

/// A path: `$`, then legs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    legs: Vec<Leg>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leg {
    Member(String),
    AnyMember,
    Item(Place),
    AnyItem,
    /// `m to n`, both included.
    Range(Place, Place),
    /// `**`
    Ellipsis,
}

/// A place in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Counted from the start, from 0.
    Start(usize),
    /// `last - n`
    Last(usize),
}

impl Place {
    /// The index in an array of this length; `None`: before the first item.
    pub fn index(self, length: usize) -> Option<usize> {
        match self {
            Place::Start(n) => Some(n),
            Place::Last(n) => length.checked_sub(n.checked_add(1)?),
        }
    }
}

/// Legs that a path may have.
const LEGS_MAX: usize = 100;

impl Path {
    /// Parses a path; the error is its position in characters, counted from 1.
    pub fn parse(text: &[u8]) -> Result<Path, usize> {
        let mut parser = Parser { text, at: 0 };
        parser.path().map_err(|()| {
            let at = parser.at.min(text.len());
            String::from_utf8_lossy(&text[..at]).chars().count()
        })
    }

    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// The path without its last leg, and that.
    pub fn split_last(&self) -> Option<(Path, &Leg)> {
        let (last, rest) = self.legs.split_last()?;
        Some((Path { legs: rest.to_vec() }, last))
    }

    /// Could the path mean several values?
    pub fn is_many(&self) -> bool {
        self.legs.iter().any(|leg| matches!(leg, Leg::AnyMember | Leg::AnyItem | Leg::Range(..) | Leg::Ellipsis))
    }

    /// Appends the values in `value` that the path selects.
    pub fn find<'j>(&self, value: &'j Json, out: &mut Vec<&'j Json>) {
        let repeats = self.legs.contains(&Leg::Ellipsis);
        find(&self.legs, value, &mut Found { out, seen: repeats.then(HashSet::new) });
    }

    /// The value that a path without wildcards means.
    pub fn find_one<'j>(&self, value: &'j Json) -> Option<&'j Json> {
        let mut found = Vec::new();
        self.find(value, &mut found);
        found.first().copied()
    }

    /// The same, to be changed.
    pub fn find_mut<'j>(&self, value: &'j mut Json) -> Option<&'j mut Json> {
        let mut at = value;
        for leg in &self.legs {
            at = match (leg, at) {
                (Leg::Member(name), Json::Object(members)) => {
                    let at = members.binary_search_by(|(n, _)| super::order::names(n, name)).ok()?;
                    &mut members[at].1
                }
                (Leg::Item(place), Json::Array(items)) => {
                    let index = place.index(items.len())?;
                    items.get_mut(index)?
                }
                (Leg::Item(Place::Start(0) | Place::Last(0)), other) if !matches!(other, Json::Array(_)) => other,
                _ => return None,
            };
        }
        Some(at)
    }
}

/// The values that a path has found so far.
struct Found<'f, 'j> {
    out: &'f mut Vec<&'j Json>,
    /// `**` may reach a value in two ways; this set avoids duplicates.
    seen: Option<HashSet<*const Json>>,
}

fn find<'j>(legs: &[Leg], value: &'j Json, out: &mut Found<'_, 'j>) {
    // Several `**` may find the way to a value again and again.
    if crate::work::spend(super::VALUE_UNITS).is_err() {
        return;
    }
    let Some((leg, rest)) = legs.split_first() else {
        if out.seen.as_mut().is_none_or(|seen| seen.insert(value)) {
            out.out.push(value);
        }
        return;
    };
    let items = |value: &'j Json| match value {
        Json::Array(items) => items.as_slice(),
        // A scalar or an object is as an array of itself.
        other => std::slice::from_ref(other),
    };
    match leg {
        Leg::Member(name) => {
            if let Some(member) = value.member(name) {
                find(rest, member, out);
            }
        }
        Leg::AnyMember => {
            if let Json::Object(members) = value {
                members.iter().for_each(|(_, member)| find(rest, member, out));
            }
        }
        Leg::Item(place) => {
            let items = items(value);
            if let Some(item) = place.index(items.len()).and_then(|n| items.get(n)) {
                find(rest, item, out);
            }
        }
        Leg::AnyItem => {
            if let Json::Array(items) = value {
                items.iter().for_each(|item| find(rest, item, out));
            }
        }
        Leg::Range(from, to) => {
            let items = items(value);
            let from = from.index(items.len()).unwrap_or(0);
            let to = to.index(items.len()).map_or(0, |to| to.saturating_add(1).min(items.len()));
            items.get(from..to).unwrap_or(&[]).iter().for_each(|item| find(rest, item, out));
        }
        Leg::Ellipsis => {
            find(rest, value, out);
            match value {
                Json::Array(items) => items.iter().for_each(|item| find(legs, item, out)),
                Json::Object(members) => members.iter().for_each(|(_, member)| find(legs, member, out)),
                _ => {}
            }
        }
    }
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
}

impl Parser<'_> {
    fn path(&mut self) -> Result<Path, ()> {
        self.skip_spaces();
        self.expect(b'$').ok_or_else(|| self.at += 1)?;
        let mut legs = Vec::new();
        loop {
            self.skip_spaces();
            let leg = match self.text.get(self.at) {
                None => break,
                Some(b'.') => {
                    self.at += 1;
                    self.member()
                }
                Some(b'[') => {
                    self.at += 1;
                    self.item()
                }
                Some(b'*') if self.text.get(self.at + 1) == Some(&b'*') => {
                    self.at += 2;
                    // `***` is none.
                    (self.text.get(self.at) != Some(&b'*')).then_some(Leg::Ellipsis)
                }
                Some(_) => None,
            };
            legs.push(leg.filter(|_| legs.len() < LEGS_MAX).ok_or(())?);
        }
        // `**` may not be last.
        if matches!(legs.last(), Some(Leg::Ellipsis)) { Err(()) } else { Ok(Path { legs }) }
    }

    fn skip_spaces(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn expect(&mut self, b: u8) -> Option<()> {
        (self.text.get(self.at) == Some(&b)).then(|| self.at += 1)
    }

    fn member(&mut self) -> Option<Leg> {
        self.skip_spaces();
        match self.text.get(self.at)? {
            b'*' => {
                self.at += 1;
                Some(Leg::AnyMember)
            }
            b'"' => {
                let start = self.at;
                let mut end = start + 1;
                while self.text.get(end) != Some(&b'"') {
                    if end >= self.text.len() {
                        self.at = self.text.len();
                        return None;
                    }
                    end += if self.text[end] == b'\\' { 2 } else { 1 };
                }
                let Ok(Json::String(name)) = Json::parse(&self.text[start..=end]) else { return None };
                self.at = end + 1;
                Some(Leg::Member(name))
            }
            _ => {
                let start = self.at;
                let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'.' | b'[' | b'*');
                let length = self.text[start..].iter().position(ends).unwrap_or(self.text.len() - start);
                let name = std::str::from_utf8(&self.text[start..start + length]).ok()?;
                let first = |c: char| c.is_alphabetic() || matches!(c, '_' | '$');
                let mut chars = name.chars();
                let valid = chars.next().is_some_and(first)
                    && chars.all(|c| first(c) || c.is_numeric() || matches!(c, '\u{200c}' | '\u{200d}'));
                self.at += length;
                valid.then(|| Leg::Member(name.to_owned()))
            }
        }
    }

    fn item(&mut self) -> Option<Leg> {
        self.skip_spaces();
        let leg = if self.text.get(self.at) == Some(&b'*') {
            self.at += 1;
            Leg::AnyItem
        } else {
            let from = self.place()?;
            let spaced = self.text.get(self.at).is_some_and(u8::is_ascii_whitespace);
            self.skip_spaces();
            if spaced
                && self.text[self.at..].starts_with(b"to")
                && self.text.get(self.at + 2).is_some_and(u8::is_ascii_whitespace)
            {
                self.at += 2;
                self.skip_spaces();
                let to = self.place()?;
                // A range that is empty whatever the array is refused.
                let empty = match (from, to) {
                    (Place::Start(a), Place::Start(b)) => a > b,
                    (Place::Last(a), Place::Last(b)) => a < b,
                    _ => false,
                };
                if empty {
                    return None;
                }
                Leg::Range(from, to)
            } else {
                Leg::Item(from)
            }
        };
        self.skip_spaces();
        self.expect(b']')?;
        Some(leg)
    }

    fn place(&mut self) -> Option<Place> {
        if !self.text[self.at..].starts_with(b"last") {
            return self.number().map(Place::Start);
        }
        self.at += 4;
        let behind = self.at;
        self.skip_spaces();
        if self.expect(b'-').is_none() {
            self.at = behind;
            return Some(Place::Last(0));
        }
        self.skip_spaces();
        self.number().map(Place::Last)
    }

    fn number(&mut self) -> Option<usize> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        let number = std::str::from_utf8(&self.text[start..self.at]).ok()?.parse::<u32>().ok();
        if number.is_none() {
            // For a number that is too large, the error is at the number.
            self.at = start;
        }
        number.map(|n| n as usize)
    }
}
