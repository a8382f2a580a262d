//! The statement digest that is the key of the plan cache. One pass of the lexer computes it; nothing is parsed.
//!
//! A literal is *lifted* if the plan does not depend on its value: it is left out of the hashed text and becomes a
//! parameter of the plan. Two texts with one key differ in lifted literals only, so one plan serves both.
//!
//! Lifted are numbers and strings in WHERE and ON (beside a comparison, in an IN list or BETWEEN), in the SET of UPDATE
//! and of ON DUPLICATE KEY UPDATE, and in the row of a one-row INSERT ... VALUES. Not lifted are arguments of
//! functions, LIKE patterns, and literals in the select list, GROUP BY, ORDER BY and LIMIT.
//!
//! D1: the key covers every byte of the statement except the lifted literals, and the type of each lifted literal.
//! D2: the key does not cover the session. A cache must add the current database, sql_mode, the connection's collation
//!     and the schema version to its key.

use crate::keyword::Keyword as K;
use crate::lexer::{Lexer, Token, unescape};
use crate::parser::parse_int;
use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use types::{Decimal, SqlMode, Value};

/// Statements with more literals than this are planned each time.
const LIFTED_MAX: usize = 1000;

/// The key of a statement's plan, and the end of its text (after the `;`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    pub key: u128,
    pub end: usize,
}

/// The literals of one statement that were lifted out. Kept and reused between statements.
#[derive(Debug, Default)]
pub struct Lifted {
    literals: Vec<Literal>,
    no_backslash_escapes: bool,
}

#[derive(Clone, Copy, Debug)]
struct Literal {
    /// Where the token begins.
    start: usize,
    end: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Int,
    /// Above the greatest signed number.
    UInt,
    /// The type of the literal depends on its digits.
    Decimal {
        precision: u32,
        scale: u8,
    },
    Double,
    String {
        quote: u8,
        escaped: bool,
    },
}

impl Lifted {
    /// How many literals were lifted.
    pub fn len(&self) -> usize {
        self.literals.len()
    }

    pub fn is_empty(&self) -> bool {
        self.literals.is_empty()
    }

    /// The lifted values in the order of the text, borrowed from it unless they have escapes. They are the parameters
    /// of the plan after those of `?`; a text statement has no `?`.
    pub fn values<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = Value<'t>> {
        self.literals.iter().map(|literal| self.value(literal, text))
    }

    fn value<'t>(&self, literal: &Literal, text: &'t [u8]) -> Value<'t> {
        let token = &text[literal.start..literal.end];
        let digits = || std::str::from_utf8(token).unwrap_or("0");
        match literal.kind {
            Kind::Int => Value::Int(parse_int(token).unwrap_or(0) as i64),
            Kind::UInt => Value::UInt(parse_int(token).unwrap_or(0)),
            Kind::Decimal { .. } => Value::Decimal(Decimal::parse_exact(digits()).unwrap_or(Decimal::ZERO)),
            Kind::Double => Value::Double(digits().parse().unwrap_or(0.0)),
            Kind::String { quote, escaped } => {
                let raw = &token[1..token.len() - 1];
                if !escaped {
                    return Value::Bytes(Cow::Borrowed(raw));
                }
                let mut out = Vec::with_capacity(raw.len());
                unescape(raw, quote, !self.no_backslash_escapes, &mut out);
                Value::Bytes(Cow::Owned(out))
            }
        }
    }

    /// The number of the lifted literal at this offset, if there is one. `next` remembers where to search.
    pub(crate) fn index_at(&self, offset: usize, next: &mut usize) -> Option<u32> {
        while *next < self.literals.len() && self.literals[*next].start < offset {
            *next += 1;
        }
        let found = self.literals.get(*next).is_some_and(|l| l.start == offset);
        found.then_some(*next as u32)
    }
}

/// The digest of the first statement of `text`, with its literals in `lifted`. `None`: its plan is not to be cached (not a query or
/// data change, many rows of values, system variables).
pub fn digest(text: &[u8], mode: &SqlMode, lifted: &mut Lifted) -> Option<Digest> {
    lifted.literals.clear();
    lifted.no_backslash_escapes = mode.no_backslash_escapes;
    let mut lexer = Lexer::new(text, mode);
    let (first, begin) = lexer.next();
    let region = match first {
        Token::Keyword(K::Select) => Region::Other,
        Token::Keyword(K::Update | K::Delete) => Region::Head,
        Token::Keyword(K::Insert | K::Replace) => Region::InsertHead,
        _ => return None,
    };
    let mut scan = Scan {
        lifted,
        hash: Hash::new(),
        hashed: begin,
        region,
        depth: 0,
        no_lift: 0,
        rows: 0,
        previous: first,
        before: Token::End,
    };
    loop {
        let (token, start) = lexer.next();
        let end = lexer.position();
        match token {
            Token::End | Token::Semicolon => {
                scan.hash.bytes(&text[scan.hashed..start]);
                return Some(Digest { key: scan.hash.finish(), end });
            }
            Token::Bad | Token::Colon | Token::Param | Token::AtAt => return None,
            Token::Keyword(K::Into) if first == Token::Keyword(K::Select) => return None,
            _ => scan.token(token, text, start, end)?,
        }
    }
}

/// The part of the statement that the scan is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Region {
    /// Nothing is lifted: select lists, GROUP BY, ORDER BY, LIMIT.
    Other,
    /// Between UPDATE and SET, or DELETE and WHERE.
    Head,
    /// Between INSERT and VALUES.
    InsertHead,
    Values,
    Set,
    Condition,
}

struct Scan<'l, 't> {
    lifted: &'l mut Lifted,
    hash: Hash,
    /// The text up to here is hashed.
    hashed: usize,
    region: Region,
    depth: u32,
    /// The depth of the parenthesis of a function call that is open; 0 for none.
    no_lift: u32,
    /// Rows of VALUES begun.
    rows: u32,
    previous: Token<'t>,
    /// The token before `previous`.
    before: Token<'t>,
}

impl<'t> Scan<'_, 't> {
    /// `None` ends the scan: the statement is not to be cached.
    fn token(&mut self, token: Token<'t>, text: &[u8], start: usize, end: usize) -> Option<()> {
        match token {
            Token::Keyword(keyword) => self.keyword(keyword),
            Token::Word(word) if self.region == Region::InsertHead && word.eq_ignore_ascii_case(b"VALUE") => {
                self.region = Region::Values;
            }
            Token::LeftParen => {
                if self.region == Region::Values && self.depth == 0 {
                    self.rows += 1;
                    if self.rows > 1 {
                        return None;
                    }
                } else if self.no_lift == 0 && self.opens_call() {
                    self.no_lift = self.depth + 1;
                }
                self.depth += 1;
            }
            Token::RightParen => {
                if self.no_lift == self.depth {
                    self.no_lift = 0;
                }
                self.depth = self.depth.saturating_sub(1);
            }
            Token::String { quote, escaped, .. } => {
                // 'a' 'b' is one literal.
                if matches!(self.previous, Token::String { .. }) {
                    return None;
                }
                self.literal(Kind::String { quote, escaped }, text, start, end)?;
            }
            Token::Int(digits) => match parse_int(digits) {
                Some(value) if value <= i64::MAX as u64 => self.literal(Kind::Int, text, start, end)?,
                Some(_) => self.literal(Kind::UInt, text, start, end)?,
                None => {}
            },
            Token::Decimal(digits) => {
                let digits = std::str::from_utf8(digits).ok()?;
                if let Some(value) = Decimal::parse_exact(digits) {
                    self.literal(Kind::Decimal { precision: value.precision(), scale: value.scale() }, text, start, end)?;
                }
            }
            Token::Double(_) => self.literal(Kind::Double, text, start, end)?,
            _ => {}
        }
        self.before = self.previous;
        self.previous = token;
        Some(())
    }

    fn keyword(&mut self, keyword: K) {
        self.region = match (keyword, self.region) {
            (K::Where | K::On, _) => Region::Condition,
            (K::Values, Region::InsertHead) => Region::Values,
            (K::Set, Region::Head | Region::InsertHead) => Region::Set,
            // ON DUPLICATE KEY UPDATE
            (K::Update, Region::Condition | Region::Values | Region::Set | Region::Other)
                if self.previous == Token::Keyword(K::Key) =>
            {
                Region::Set
            }
            (K::Select | K::Group | K::Order | K::Having | K::Limit | K::Union | K::Window | K::For | K::Lock, _) => {
                Region::Other
            }
            (_, region) => region,
        };
    }

    /// Does the next parenthesis open the arguments of a call, or anything else that is not a plain expression?
    fn opens_call(&self) -> bool {
        match self.previous {
            Token::Word(_) | Token::Quoted { .. } | Token::Underscore(_) => true,
            Token::Keyword(keyword) => {
                !matches!(keyword, K::In | K::And | K::Or | K::Not | K::Xor | K::Where | K::On | K::Between | K::Values)
            }
            _ => false,
        }
    }

    fn may_lift(&self) -> bool {
        if self.no_lift != 0 || !matches!(self.region, Region::Condition | Region::Set | Region::Values) {
            return false;
        }
        match self.previous {
            Token::Equal
            | Token::NullSafeEqual
            | Token::NotEqual
            | Token::Less
            | Token::LessOrEqual
            | Token::Greater
            | Token::GreaterOrEqual => {
                // A comparison of constants such as `1 = 0` is left to the planner.
                !matches!(self.before, Token::Int(_) | Token::Decimal(_) | Token::Double(_) | Token::String { .. })
            }
            Token::LeftParen | Token::Comma | Token::Plus | Token::Minus | Token::Star | Token::Slash => true,
            Token::Keyword(K::And | K::Between) => true,
            _ => false,
        }
    }

    fn literal(&mut self, kind: Kind, text: &[u8], start: usize, end: usize) -> Option<()> {
        if !self.may_lift() {
            return Some(());
        }
        if self.lifted.literals.len() >= LIFTED_MAX {
            return None;
        }
        self.hash.bytes(&text[self.hashed..start]);
        self.hash.word(match kind {
            Kind::Int => 1,
            Kind::UInt => 2,
            Kind::Decimal { precision, scale } => 3 | u64::from(scale) << 8 | u64::from(precision) << 16,
            Kind::Double => 4,
            Kind::String { .. } => 5,
        });
        self.hashed = end;
        self.lifted.literals.push(Literal { start, end, kind });
        Some(())
    }
}

/// Secret numbers of this process, so that nobody can make two statements with one key.
static SEEDS: LazyLock<[u64; 4]> = LazyLock::new(|| {
    let state = RandomState::new();
    [0u64, 1, 2, 3].map(|n| state.hash_one(n) | 1)
});

/// 128 bits from two lanes of multiplication folded in half.
struct Hash {
    seeds: [u64; 4],
    a: u64,
    b: u64,
}

impl Hash {
    fn new() -> Self {
        let seeds = *SEEDS;
        Self { seeds, a: seeds[2], b: seeds[3] }
    }

    fn word(&mut self, word: u64) {
        self.a = fold(self.a ^ word, self.seeds[0]);
        self.b = fold(self.b.rotate_left(29) ^ word, self.seeds[1]);
    }

    /// A piece of text; its length is part of the hash, so that pieces do not run together.
    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64 | 1 << 63);
        let (chunks, rest) = bytes.as_chunks::<8>();
        for chunk in chunks {
            self.word(u64::from_le_bytes(*chunk));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
    }

    fn finish(&mut self) -> u128 {
        self.word(0x5bd1_e995);
        (u128::from(self.a) << 64) | u128::from(self.b)
    }
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lifted literals, separated by bars; `-` when the statement is not cached.
    fn check(text: &str, expected: &str) {
        let mut lifted = Lifted::default();
        let found = match digest(text.as_bytes(), &SqlMode::DEFAULT, &mut lifted) {
            Some(_) => lifted.literals.iter().map(|l| &text[l.start..l.end]).collect::<Vec<_>>().join("|"),
            None => "-".to_owned(),
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_is_lifted() {
        check("SELECT c FROM sbtest1 WHERE id=5", "5");
        check("SELECT 1, c FROM t WHERE id=5 AND b = 'x''y' LIMIT 10", "5|'x''y'");
        check("SELECT SUM(k) FROM t WHERE id BETWEEN 1 AND 100", "1|100");
        check("SELECT c FROM t WHERE id IN (1,2,-3) ORDER BY 1", "1|2|3");
        check("SELECT c FROM t WHERE a = LEFT('abc', 2) OR b LIKE 'x%' OR 1=0", "");
        check("UPDATE t SET k=k+1, c='x' WHERE id=7 LIMIT 3", "1|'x'|7");
        check("INSERT INTO t (a, b) VALUES (1, 'x')", "1|'x'");
        check("INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y')", "-");
        check("INSERT INTO t VALUES (1, NOW(3), CONCAT('a', 'b')) ON DUPLICATE KEY UPDATE a = 5", "1|5");
        check("DELETE FROM t WHERE d > DATE '2024-01-01' AND id < 1.5e3", "1.5e3");
        check("SELECT @a, @`b c` FROM t WHERE d = 3", "3");
        check("SELECT @a INTO @b", "-");
        check("SELECT @@autocommit", "-");
        check("SET @a = 1", "-");
        check("SELECT c FROM t WHERE d = '2024-01-01' + INTERVAL 5 DAY", "'2024-01-01'");
        check("SELECT (SELECT 1 FROM u WHERE x = 2) FROM t GROUP BY 1 HAVING a = 3", "");
        check("SELECT c FROM t WHERE (a = 1 AND (b = 2 OR c <> 3))", "1|2|3");
    }

    #[test]
    fn keys() {
        let key = |text: &str| digest(text.as_bytes(), &SqlMode::DEFAULT, &mut Lifted::default()).map(|d| d.key);
        assert_eq!(key("SELECT c FROM t WHERE id=5"), key("SELECT c FROM t WHERE id=17"));
        assert_eq!(key("SELECT c FROM t WHERE id=5"), key("SELECT c FROM t WHERE id=17;"));
        assert_ne!(key("SELECT c FROM t WHERE id=5"), key("SELECT c FROM t WHERE id='5'"));
        assert_ne!(key("SELECT c FROM t WHERE id=5"), key("SELECT c FROM t WHERE id=5 LIMIT 1"));
        assert_ne!(key("SELECT 1 FROM t"), key("SELECT 2 FROM t"));
        assert_ne!(key("SELECT c FROM t WHERE x=1.5"), key("SELECT c FROM t WHERE x=1.25"));
    }

    #[test]
    fn values() {
        let text = br"SELECT c FROM t WHERE a = 'it\'s' AND b = 18446744073709551615 AND c = 1.50";
        let mut lifted = Lifted::default();
        digest(text, &SqlMode::DEFAULT, &mut lifted).expect("a query has a digest");
        let values: Vec<Value<'_>> = lifted.values(text).collect();
        let decimal = Decimal::parse_exact("1.50").expect("a number");
        assert_eq!(values, [Value::text(b"it's"), Value::UInt(u64::MAX), Value::Decimal(decimal)]);
    }
}
