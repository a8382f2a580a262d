//! Global transaction identifiers, and sets of them (MySQL manual, "GTID Format and Storage").
//!
//! A GTID is `UUID:number`, or `UUID:tag:number`. A set has, for each UUID and tag, intervals of numbers. Its text is
//! `uuid:1-5:7:tag:1-3`, UUIDs separated by commas; its binary form is that of PREVIOUS_GTIDS and COM_BINLOG_DUMP_GTID.
//!
//! G1: the intervals of one UUID and tag are ascending, not empty, and neither overlap nor touch.

use std::collections::BTreeMap;
use std::fmt;

/// The highest number of a GTID.
pub const NUMBER_MAX: u64 = i64::MAX as u64 - 1;
/// Longest tag, in characters.
pub const TAG_BYTES_MAX: usize = 32;

/// The 16 bytes of a server's UUID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    /// From MySQL's forms of the text: 32 hexadecimal digits, with hyphens in the usual places or without, in braces or not.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix('{').map_or(Some(text), |rest| rest.strip_suffix('}'))?;
        let with_hyphens = text.len() == 36 && [8, 13, 18, 23].iter().all(|at| text.as_bytes()[*at] == b'-');
        let digits: Vec<u8> = if with_hyphens {
            text.bytes().enumerate().filter(|(at, _)| ![8, 13, 18, 23].contains(at)).map(|(_, b)| b).collect()
        } else {
            text.bytes().collect()
        };
        if digits.len() != 32 {
            return None;
        }
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |b: u8| char::from(b).to_digit(16);
            *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if [4, 6, 8, 10].contains(&at) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One transaction's identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gtid {
    pub uuid: Uuid,
    /// In lower case; empty: none.
    pub tag: String,
    pub number: u64,
}

impl Gtid {
    /// `UUID:number` or `UUID:tag:number`
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split(':').map(str::trim);
        let uuid = Uuid::parse(parts.next()?)?;
        let (second, third) = (parts.next()?, parts.next());
        if parts.next().is_some() {
            return None;
        }
        let (tag, number) = match third {
            Some(number) => (parse_tag(second)?, number),
            None => (String::new(), second),
        };
        Some(Self { uuid, tag, number: parse_number(number)? })
    }
}

impl fmt::Display for Gtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tag.is_empty() {
            write!(f, "{}:{}", self.uuid, self.number)
        } else {
            write!(f, "{}:{}:{}", self.uuid, self.tag, self.number)
        }
    }
}

fn parse_number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|number| is_number && (1..=NUMBER_MAX).contains(number))
}

/// A tag: letters, digits and underscores, not beginning with a digit; in lower case.
fn parse_tag(text: &str) -> Option<String> {
    let is_tag = (1..=TAG_BYTES_MAX).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !text.as_bytes()[0].is_ascii_digit();
    is_tag.then(|| text.to_ascii_lowercase())
}

/// First and last number, both included.
type Interval = (u64, u64);

/// A set of GTIDs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GtidSet {
    /// By UUID and tag. G1
    intervals: BTreeMap<(Uuid, String), Vec<Interval>>,
}

impl GtidSet {
    pub fn new() -> Self {
        Self::default()
    }

    /// From the text; empty parts are allowed, and so are spaces.
    ///
    /// # Errors
    /// `None`: no set.
    pub fn parse(text: &str) -> Option<Self> {
        let mut set = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let mut parts = part.split(':').map(str::trim);
            let uuid = Uuid::parse(parts.next()?)?;
            let mut tag = String::new();
            let mut count = 0;
            for part in parts {
                if let Some(next) = parse_tag(part) {
                    tag = next;
                    continue;
                }
                let (first, last) = match part.split_once('-') {
                    Some((first, last)) => (parse_number(first.trim())?, parse_number_or_zero(last.trim())?),
                    None => (parse_number(part)?, parse_number(part)?),
                };
                count += 1;
                if first <= last {
                    set.add_interval(uuid, &tag, (first, last));
                }
            }
            if count == 0 {
                return None;
            }
        }
        Some(set)
    }

    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// Has any of its GTIDs a tag?
    pub fn has_tags(&self) -> bool {
        self.intervals.keys().any(|(_, tag)| !tag.is_empty())
    }

    pub fn add(&mut self, gtid: &Gtid) {
        self.add_interval(gtid.uuid, &gtid.tag, (gtid.number, gtid.number));
    }

    /// Adds the numbers of an interval.
    pub fn add_interval(&mut self, uuid: Uuid, tag: &str, (first, last): Interval) {
        let list = match self.intervals.get_mut(&(uuid, String::new())).filter(|_| tag.is_empty()) {
            Some(list) => list,
            None => self.intervals.entry((uuid, tag.to_owned())).or_default(),
        };
        // The usual case: the next number.
        if let Some(end) = list.last_mut()
            && end.0 <= first
            && first <= end.1.saturating_add(1)
        {
            end.1 = end.1.max(last);
            return;
        }
        let begin = list.partition_point(|interval| interval.1.saturating_add(1) < first);
        let end = list.partition_point(|interval| interval.0 <= last.saturating_add(1));
        let merged = list[begin..end].iter().fold((first, last), |a, b| (a.0.min(b.0), a.1.max(b.1)));
        list.splice(begin..end, [merged]);
    }

    pub fn contains(&self, gtid: &Gtid) -> bool {
        let Some(list) = self.intervals.get(&(gtid.uuid, gtid.tag.clone())) else { return false };
        let at = list.partition_point(|interval| interval.1 < gtid.number);
        list.get(at).is_some_and(|interval| interval.0 <= gtid.number)
    }

    pub fn union(&mut self, other: &Self) {
        for ((uuid, tag), list) in &other.intervals {
            list.iter().for_each(|interval| self.add_interval(*uuid, tag, *interval));
        }
    }

    /// What is in this set and not in `other`.
    pub fn subtract(&self, other: &Self) -> Self {
        let mut left = Self::default();
        for (key, list) in &self.intervals {
            let taken = other.intervals.get(key).map_or(&[][..], Vec::as_slice);
            for &(mut first, last) in list {
                for &(from, to) in taken {
                    if to < first || from > last {
                        continue;
                    }
                    if first < from {
                        left.add_interval(key.0, &key.1, (first, from - 1));
                    }
                    first = to + 1;
                    if first > last {
                        break;
                    }
                }
                if first <= last {
                    left.add_interval(key.0, &key.1, (first, last));
                }
            }
        }
        left
    }

    pub fn is_subset_of(&self, other: &Self) -> bool {
        self.subtract(other).is_empty()
    }

    /// The GTIDs of one UUID without a tag.
    pub fn of_uuid(&self, uuid: Uuid) -> Self {
        let of = |(key, list): (&(Uuid, String), &Vec<Interval>)| (key.0 == uuid).then(|| (key.clone(), list.clone()));
        Self { intervals: self.intervals.iter().filter_map(of).collect() }
    }

    /// The highest number of a UUID without a tag; 0: none.
    pub fn last_number(&self, uuid: Uuid) -> u64 {
        self.intervals.get(&(uuid, String::new())).and_then(|list| list.last()).map_or(0, |interval| interval.1)
    }

    /// The smallest number of a UUID and tag that is not in the set.
    pub fn next_free(&self, uuid: Uuid, tag: &str) -> u64 {
        match self.intervals.get(&(uuid, tag.to_owned())).and_then(|list| list.first()) {
            Some(&(1, last)) => last + 1,
            _ => 1,
        }
    }

    /// The set without GTIDs that have tags.
    pub fn untagged(&self) -> Self {
        let intervals = self.intervals.iter().filter(|((_, tag), _)| tag.is_empty());
        Self { intervals: intervals.map(|(key, list)| (key.clone(), list.clone())).collect() }
    }

    /// The binary form. Without tags: number of UUIDs u64; each: UUID, number of intervals u64, each: first u64, one above the last u64. With
    /// tags the first word has 1 in its first and last byte and the number between them, and each UUID is followed by its tag.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let (tagged, count) = (self.has_tags(), self.intervals.len() as u64);
        let head = if tagged { 1 << 56 | count << 8 | 1 } else { count };
        out.extend_from_slice(&head.to_le_bytes());
        for ((uuid, tag), list) in &self.intervals {
            out.extend_from_slice(&uuid.0);
            if tagged {
                out.push((tag.len() as u8) << 1);
                out.extend_from_slice(tag.as_bytes());
            }
            out.extend_from_slice(&(list.len() as u64).to_le_bytes());
            for (first, last) in list {
                out.extend_from_slice(&first.to_le_bytes());
                out.extend_from_slice(&(last + 1).to_le_bytes());
            }
        }
    }

    /// Reads the binary form. `None`: it is malformed.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        fn word(bytes: &mut &[u8]) -> Option<u64> {
            let (word, rest) = bytes.split_first_chunk::<8>()?;
            *bytes = rest;
            Some(u64::from_le_bytes(*word))
        }
        let head = word(&mut bytes)?;
        let tagged = head >> 56 == 1;
        let count = if tagged { head << 8 >> 16 } else { head };
        let mut set = Self::default();
        for _ in 0..count {
            let (uuid, rest) = bytes.split_first_chunk::<16>()?;
            bytes = rest;
            let mut tag = String::new();
            if tagged {
                let (&length, rest) = bytes.split_first()?;
                let length = usize::from(length >> 1);
                let (text, rest) = rest.split_at_checked(length).filter(|_| length <= TAG_BYTES_MAX)?;
                tag = String::from_utf8(text.to_vec()).ok()?;
                bytes = rest;
            }
            let mut end = 1;
            for _ in 0..word(&mut bytes)? {
                let (first, above) = (word(&mut bytes)?, word(&mut bytes)?);
                if first < end || above <= first || above > NUMBER_MAX + 1 {
                    return None;
                }
                set.add_interval(Uuid(*uuid), &tag, (first, above - 1));
                end = above;
            }
        }
        bytes.is_empty().then_some(set)
    }
}

fn parse_number_or_zero(text: &str) -> Option<u64> {
    if text == "0" { Some(0) } else { parse_number(text) }
}

impl fmt::Display for GtidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before: Option<Uuid> = None;
        for ((uuid, tag), list) in &self.intervals {
            if before != Some(*uuid) {
                if before.is_some() {
                    f.write_str(",\n")?;
                }
                write!(f, "{uuid}")?;
                before = Some(*uuid);
            }
            if !tag.is_empty() {
                write!(f, ":{tag}")?;
            }
            for (first, last) in list {
                if first == last {
                    write!(f, ":{first}")?;
                } else {
                    write!(f, ":{first}-{last}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
    const B: &str = "4350f323-7565-4e59-8763-4b1b83a0ce0e";

    fn set(text: &str) -> GtidSet {
        GtidSet::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn sets_are_read_and_printed() {
        let check = |text: &str, expected: String| assert_eq!(set(text).to_string(), expected, "{text}");
        check("", String::new());
        check(&format!("{A}:1-5"), format!("{A}:1-5"));
        check(&format!(" {A} : 5 : 1 - 3 :4, {B}:9 "), format!("{A}:1-5,\n{B}:9"));
        check(&format!("{}:1,{A}:3", A.to_uppercase().replace('-', "")), format!("{A}:1:3"));
        check(&format!("{A}:1-3:Blue:1:4-5"), format!("{A}:1-3:blue:1:4-5"));
        check(&format!("{A}:5-1"), String::new());
        for bad in ["x", A, &format!("{A}:0"), &format!("{A}:1-"), &format!("{A}:9223372036854775807"), &format!("{A}:tag")] {
            assert_eq!(GtidSet::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn sets_are_calculated_with() {
        let all = set(&format!("{A}:1-10,{B}:1-4"));
        let part = set(&format!("{A}:2-3:7-12"));
        assert_eq!(all.subtract(&part).to_string(), format!("{A}:1:4-6,\n{B}:1-4"));
        assert!(!part.is_subset_of(&all) && set(&format!("{A}:2-3")).is_subset_of(&all) && GtidSet::new().is_subset_of(&part));
        let mut union = all.clone();
        union.union(&part);
        assert_eq!(union.to_string(), format!("{A}:1-12,\n{B}:1-4"));
        assert!(
            part.contains(&Gtid::parse(&format!("{A}:8")).unwrap()) && !part.contains(&Gtid::parse(&format!("{A}:4")).unwrap())
        );
        assert_eq!(union.last_number(Uuid::parse(A).unwrap()), 12);
        assert_eq!(part.next_free(Uuid::parse(A).unwrap(), ""), 1);
        assert_eq!(all.next_free(Uuid::parse(A).unwrap(), ""), 11);
    }

    #[test]
    fn intervals_are_merged() {
        let mut merged = GtidSet::new();
        for part in ["1-2", "8-9", "5", "3-4", "6-7", "1-9", "11"] {
            merged.union(&set(&format!("{A}:{part}")));
        }
        assert_eq!(merged.to_string(), format!("{A}:1-9:11"));
    }

    #[test]
    fn the_binary_form_comes_back() {
        for text in ["", &format!("{A}:1-5:7"), &format!("{A}:1-5,{B}:2:blue:3-9")] {
            let mut bytes = Vec::new();
            set(text).encode(&mut bytes);
            assert_eq!(GtidSet::decode(&bytes), Some(set(text)), "{text}");
            for cut in 0..bytes.len() {
                assert_eq!(GtidSet::decode(&bytes[..cut]), None, "{text} cut at {cut}");
            }
        }
        let mut one = Vec::new();
        set(&format!("{A}:1-5")).encode(&mut one);
        assert_eq!(one.len(), 8 + 16 + 8 + 16);
        assert_eq!(GtidSet::decode(&[0xff; 64]), None);
    }

    #[test]
    fn identifiers_are_read() {
        assert_eq!(Gtid::parse(&format!("{A}:7")).unwrap().to_string(), format!("{A}:7"));
        assert_eq!(Gtid::parse(&format!("{A}:Tag_1:7")).unwrap().to_string(), format!("{A}:tag_1:7"));
        for bad in [A, &format!("{A}:0"), &format!("{A}:1:2"), &format!("{A}:1-2"), "AUTOMATIC"] {
            assert_eq!(Gtid::parse(bad), None, "{bad}");
        }
    }
}
