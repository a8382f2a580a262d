//! Patterns of regular expressions, from the spelling of MySQL's library (ICU) to that of the crates that run them.
//!
//! What both spell and mean alike is copied. What is translated: `.` beside ends of lines, `\h`, `\v`, `\R`, `\X`, `\e`, `\cx`, `\0ooo`, `\Q...\E`,
//! POSIX classes, which are Unicode's, and a `-` that is not a range. The flag `s` is tracked through groups, because the meaning of `.` depends on it.

/// What ends a line.
const LINE_ENDS: &str = r"\n\x0B\f\r\x{85}\x{2028}\x{2029}";
const SPACES: &str = r"\t\p{Zs}";
/// A character as its reader sees it (UAX 29), with all that is combined to it.
const CLUSTER: &str = concat!(
    r"(?>\r\n|[\p{gcb=CN}\p{gcb=CR}\p{gcb=LF}]|\p{gcb=PP}*(?:",
    r"\p{gcb=L}*(?:\p{gcb=V}+|\p{gcb=LV}\p{gcb=V}*|\p{gcb=LVT})\p{gcb=T}*|\p{gcb=L}+|\p{gcb=T}+|\p{gcb=RI}\p{gcb=RI}",
    r"|\p{ExtPict}(?:\p{gcb=EX}*\p{gcb=ZWJ}\p{ExtPict})*|[^\p{gcb=CN}\p{gcb=CR}\p{gcb=LF}]",
    r")[\p{gcb=EX}\p{gcb=ZWJ}\p{gcb=SM}]*)",
);

pub(super) struct Translated {
    pub text: String,
    /// It has a quantifier that gives nothing back, which would be read as two quantifiers where there are none of the kind.
    pub is_possessive: bool,
    /// The place, from 1 on, of a quantifier behind a quantifier.
    pub repeated_twice: Option<usize>,
    /// A group refers back to itself, which means its text of the repetition before. `fancy-regex` forgets that text when the group begins.
    pub has_own_reference: bool,
}

/// A pattern in the crates' spelling. `dot_all`: `.` is any character; `unix`: only a line feed ends a line.
pub(super) fn translate(pattern: &str, dot_all: bool, unix: bool) -> Translated {
    let mut to = Translator {
        rest: pattern,
        out: String::with_capacity(pattern.len() + 16),
        unix,
        possessive: false,
        repeated_twice: None,
        groups: 0,
        open: Vec::new(),
        own_reference: false,
    };
    to.pattern(dot_all);
    let repeated_twice = to.repeated_twice.map(|rest| pattern[..pattern.len() - rest].chars().count() + 1);
    Translated { text: to.out, is_possessive: to.possessive, repeated_twice, has_own_reference: to.own_reference }
}

struct Translator<'p> {
    rest: &'p str,
    out: String,
    unix: bool,
    possessive: bool,
    /// How long the rest was at the first quantifier behind a quantifier.
    repeated_twice: Option<usize>,
    /// How many groups that capture have begun.
    groups: usize,
    /// The groups that have not ended.
    open: Vec<Group>,
    own_reference: bool,
}

struct Group {
    /// What `.` means behind the group.
    dot_all_after: bool,
    /// Its number, if it captures.
    number: Option<usize>,
}

impl Translator<'_> {
    /// Takes a text, if it is next.
    fn accept(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn copy(&mut self) {
        let next = self.bump();
        self.out.extend(next);
    }

    fn pattern(&mut self, dot_all: bool) {
        let mut dot_all = dot_all;
        let mut in_interval = false;
        while let Some(c) = self.rest.chars().next() {
            match c {
                '\\' => {
                    self.own_reference |= self.is_own_reference();
                    self.escape();
                }
                '[' => self.class(),
                '.' => {
                    self.bump();
                    self.out.push_str(match (dot_all, self.unix) {
                        // A carriage return with its line feed is one.
                        (true, false) => r"(?:\r\n|(?s:.))",
                        (true, true) => r"(?s:.)",
                        (false, true) => r"[^\n]",
                        (false, false) => r"[^\n\x0B\f\r\x{85}\x{2028}\x{2029}]",
                    });
                }
                '(' => {
                    if let Some(end) = self.rest.starts_with("(?#").then(|| self.rest.find(')')).flatten() {
                        // What stands before it may be repeated behind it.
                        self.rest = &self.rest[end + 1..];
                        continue;
                    }
                    let captures = match self.rest.strip_prefix("(?<") {
                        Some(rest) => !rest.starts_with(['=', '!']),
                        None => !self.rest.starts_with("(?"),
                    };
                    self.groups += usize::from(captures);
                    self.open.push(Group { dot_all_after: dot_all, number: captures.then_some(self.groups) });
                    if self.rest.starts_with("(?") {
                        self.group(&mut dot_all);
                    } else {
                        self.copy();
                    }
                }
                ')' => {
                    dot_all = self.open.pop().map_or(dot_all, |group| group.dot_all_after);
                    self.copy();
                }
                '*' | '+' | '?' | '}' => {
                    self.copy();
                    self.possessive |= self.rest.starts_with('+');
                    if self.rest.starts_with(['+', '?']) {
                        self.copy();
                    }
                    let is_interval = c == '}' && std::mem::take(&mut in_interval);
                    if (c != '}' || is_interval) && self.rest.starts_with(['*', '+', '?', '{']) {
                        self.repeated_twice.get_or_insert(self.rest.len());
                    }
                }
                '{' => {
                    in_interval = true;
                    self.copy();
                }
                _ => self.copy(),
            }
        }
    }

    /// `(?flags)`, `(?flags:` without the flag `s`, which is returned; other groups are copied.
    fn group(&mut self, dot_all: &mut bool) {
        let flags = self.rest[2..].find(|c: char| !matches!(c, 'i' | 'm' | 's' | 'x' | '-'));
        let flags = &self.rest[2..2 + flags.unwrap_or(0)];
        let end = self.rest[2 + flags.len()..].chars().next();
        if flags.is_empty() || !matches!(end, Some(')' | ':')) {
            self.out.push_str("(?");
            self.rest = &self.rest[2..];
            return;
        }
        let mut is_on = true;
        let mut kept = String::new();
        for flag in flags.chars() {
            match flag {
                '-' => is_on = false,
                's' => *dot_all = is_on,
                flag => {
                    if !is_on && !kept.contains('-') {
                        kept.push('-');
                    }
                    kept.push(flag);
                }
            }
        }
        self.rest = &self.rest[2 + flags.len()..];
        if self.accept(")") {
            // It holds as far as the group around.
            self.open.pop();
            if !kept.is_empty() {
                self.out.push_str(&format!("(?{kept})"));
            }
        } else {
            self.bump();
            self.out.push_str(&format!("(?{kept}:"));
        }
    }

    /// `\1` inside of group 1 is next, or another like it.
    fn is_own_reference(&self) -> bool {
        let number = self.rest[1..].chars().next().and_then(|c| c.to_digit(10));
        number.is_some_and(|number| self.open.iter().any(|group| group.number == Some(number as usize)))
    }

    /// A backslash with what it stands before.
    fn escape(&mut self) {
        if self.accept(r"\Q") {
            let (literal, rest) = self.rest.split_once(r"\E").unwrap_or((self.rest, ""));
            self.out.push_str(&regex::escape(literal));
            self.rest = rest;
        } else if self.accept(r"\R") {
            self.out.push_str(&format!(r"(?>\r\n|[{LINE_ENDS}])"));
        } else if self.accept(r"\X") {
            self.out.push_str(CLUSTER);
        } else if let Some(class) = self.escaped_class() {
            self.out.push_str(&class);
        } else if !self.escaped_character() {
            self.copy();
            let has_braces = self.rest.starts_with(['p', 'P', 'x', 'N', 'k']);
            self.copy();
            if has_braces && self.rest.starts_with('{') {
                let end = self.rest.find('}').map_or(self.rest.len(), |end| end + 1);
                self.out.push_str(&self.rest[..end]);
                self.rest = &self.rest[end..];
            }
        }
    }

    /// `\h`, `\H`, `\v`, `\V`
    fn escaped_class(&mut self) -> Option<String> {
        const CLASSES: [(&str, &str, &str); 4] =
            [(r"\h", "", SPACES), (r"\H", "^", SPACES), (r"\v", "", LINE_ENDS), (r"\V", "^", LINE_ENDS)];
        let (_, not, members) = CLASSES.iter().find(|(escape, ..)| self.accept(escape))?;
        Some(format!("[{not}{members}]"))
    }

    /// `\e`, `\cx` and `\0ooo`; `false`: something else is next.
    fn escaped_character(&mut self) -> bool {
        let code = if self.accept(r"\e") {
            27
        } else if self.rest.starts_with(r"\c") && self.rest[2..].starts_with(|c: char| c.is_ascii()) {
            self.rest = &self.rest[2..];
            self.bump().map_or(0, |c| u32::from(c) & 31)
        } else if self.rest.starts_with(r"\0") && self.rest[2..].starts_with(|c: char| c.is_digit(8)) {
            let digits = &self.rest[2..];
            let length = digits.bytes().take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
            self.rest = &digits[length..];
            u32::from_str_radix(&digits[..length], 8).unwrap_or(0)
        } else {
            return false;
        };
        self.out.push_str(&format!(r"\x{{{code:x}}}"));
        true
    }

    /// A class in brackets, with nested classes.
    fn class(&mut self) {
        let mut depth = 0;
        // The last member is a set of characters: a `-` behind it is one itself, unless another set follows, which is taken away.
        let mut after_set = false;
        while let Some(c) = self.rest.chars().next() {
            let was_set = std::mem::take(&mut after_set);
            if let Some((not, name)) = self.posix() {
                let members = posix_members(name);
                self.out.push_str(&format!("[{}{members}]", if not { "^" } else { "" }));
                after_set = true;
            } else if c == '\\' {
                after_set = self.rest[1..].starts_with(['d', 'D', 'w', 'W', 's', 'S', 'h', 'H', 'v', 'V', 'p', 'P']);
                self.escape();
            } else if c == '[' {
                depth += 1;
                self.copy();
                if self.rest.starts_with('^') {
                    self.copy();
                }
                // The first bracket that closes is a member.
                if self.rest.starts_with(']') {
                    self.out.push('\\');
                    self.copy();
                }
            } else if c == ']' {
                self.copy();
                depth -= 1;
                if depth == 0 {
                    return;
                }
                after_set = true;
            } else if c == '-' && self.rest.starts_with("-[:") {
                self.bump();
                self.out.push_str(if was_set { "--" } else { r"\-" });
            } else if c == '-' && was_set && !self.rest.starts_with("--") {
                self.bump();
                self.out.push_str(if self.rest.starts_with('[') { "--" } else { r"\-" });
            } else if c == '~' {
                // Two of them would be an operator.
                self.bump();
                self.out.push_str(r"\~");
            } else {
                self.copy();
            }
        }
    }

    /// Takes `[:name:]` or `[:^name:]`, if it is next.
    fn posix(&mut self) -> Option<(bool, &'static str)> {
        let inner = self.rest.strip_prefix("[:")?;
        let (name, rest) = inner.split_once(":]")?;
        let (not, name) = name.strip_prefix('^').map_or((false, name), |name| (true, name));
        let (name, _) = POSIX.iter().find(|(known, _)| *known == name)?;
        self.rest = rest;
        Some((not, name))
    }
}

/// POSIX classes and their members.
const POSIX: [(&str, &str); 14] = [
    ("alnum", r"\p{Alphabetic}\p{Nd}"),
    ("alpha", r"\p{Alphabetic}"),
    ("ascii", r"\x00-\x7F"),
    ("blank", SPACES),
    ("cntrl", r"\p{Cc}"),
    ("digit", r"\p{Nd}"),
    ("graph", r"[^\s\p{Cc}\p{Cn}]"),
    ("lower", r"\p{Lowercase}"),
    ("print", r"[^\s\p{Cc}\p{Cn}]\p{Zs}"),
    ("punct", r"\p{P}"),
    ("space", r"\s"),
    ("upper", r"\p{Uppercase}"),
    ("word", r"\w"),
    ("xdigit", r"\p{Hex_Digit}\p{Nd}"),
];

fn posix_members(name: &str) -> &'static str {
    POSIX.iter().find(|(known, _)| *known == name).map_or("", |(_, members)| members)
}

/// `[:name:]` of a class that does not exist.
pub(super) fn has_unknown_class(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some(at) = rest.find("[:") {
        rest = &rest[at + 2..];
        if let Some(end) = rest.find(":]") {
            let name = rest[..end].trim_start_matches('^');
            // `[:<:]` was the beginning of a word in old versions.
            let is_name = name.bytes().all(|b| b.is_ascii_alphabetic()) || matches!(name, "<" | ">");
            if is_name && POSIX.iter().all(|(known, _)| *known != name) {
                return true;
            }
        }
    }
    false
}
