//! Expressions, by precedence climbing.
//!
//! From loose to tight: OR, XOR, AND, NOT, comparison and IS, the predicates (BETWEEN, IN, LIKE, REGEXP), `|`, `&`, shifts, `+ -`,
//! `* / DIV % MOD`, `^`, the unary operators, `!` and BINARY, COLLATE. Chains of AND and of OR become one flat list.

use super::body::Names;
use super::function::Interval;
use super::{PARAMS_MAX, Parser, parse_int};
use crate::arena::ArenaVec;
use crate::ast::*;
use crate::deprecated::Deprecated;
use crate::error::{Error, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;
use std::borrow::Cow;

/// Precedence levels, loose to tight.
pub(super) mod level {
    pub const OR: u8 = 1;
    pub const XOR: u8 = 2;
    pub const AND: u8 = 3;
    pub const NOT: u8 = 4;
    pub const COMPARISON: u8 = 5;
    pub const PREDICATE: u8 = 6;
    pub const BIT_OR: u8 = 7;
    pub const BIT_AND: u8 = 8;
    pub const SHIFT: u8 = 9;
    pub const ADD: u8 = 10;
    pub const MULTIPLY: u8 = 11;
    pub const BIT_XOR: u8 = 12;
    pub const UNARY: u8 = 13;
    pub const CONCAT: u8 = 14;
    pub const TIGHT: u8 = 15;
}

/// MySQL's character sets, which may follow the underscore of `_utf8mb4'text'`.
const CHARSETS: &[&str] = &[
    "utf8mb4", "utf8", "utf8mb3", "latin1", "binary", "ascii", "armscii8", "big5", "cp1250", "cp1251", "cp1256", "cp1257",
    "cp850", "cp852", "cp866", "cp932", "dec8", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "geostd8", "greek", "hebrew",
    "hp8", "keybcs2", "koi8r", "koi8u", "latin2", "latin5", "latin7", "macce", "macroman", "sjis", "swe7", "tis620", "ucs2",
    "ujis", "utf16", "utf16le", "utf32",
];

/// An operator between two operands.
#[derive(Clone, Copy)]
enum Infix {
    Or,
    And,
    Binary(BinaryOp),
    Compare(BinaryOp),
    Is,
    Predicate,
}

/// Work of parsing one operand, in bytes of a plain copy (`types::work`).
const OPERAND_UNITS: usize = 64;

impl<'a> Parser<'a> {
    pub(super) fn expr(&mut self) -> Result<Expr<'a>> {
        self.binary(level::OR)
    }

    pub(super) fn expr_ref(&mut self) -> Result<&'a Expr<'a>> {
        let expr = self.expr()?;
        Ok(self.arena.node(expr))
    }

    /// A tight expression: the operand of BINARY, the amount of FETCH and the like.
    pub(super) fn simple_expr(&mut self) -> Result<Expr<'a>> {
        self.binary(level::UNARY)
    }

    /// An operand of a comparison.
    pub(super) fn bit_expr(&mut self) -> Result<Expr<'a>> {
        self.binary(level::BIT_OR)
    }

    fn infix(&self) -> Option<(u8, Infix)> {
        use BinaryOp as B;
        let found = match self.token {
            Token::Equal => (level::COMPARISON, Infix::Compare(B::Equal)),
            Token::NullSafeEqual => (level::COMPARISON, Infix::Compare(B::NullSafeEqual)),
            Token::NotEqual => (level::COMPARISON, Infix::Compare(B::NotEqual)),
            Token::Less => (level::COMPARISON, Infix::Compare(B::Less)),
            Token::LessOrEqual => (level::COMPARISON, Infix::Compare(B::LessOrEqual)),
            Token::Greater => (level::COMPARISON, Infix::Compare(B::Greater)),
            Token::GreaterOrEqual => (level::COMPARISON, Infix::Compare(B::GreaterOrEqual)),
            Token::Plus => (level::ADD, Infix::Binary(B::Add)),
            Token::Minus => (level::ADD, Infix::Binary(B::Subtract)),
            Token::Star => (level::MULTIPLY, Infix::Binary(B::Multiply)),
            Token::Slash => (level::MULTIPLY, Infix::Binary(B::Divide)),
            Token::Percent => (level::MULTIPLY, Infix::Binary(B::Modulo)),
            Token::Caret => (level::BIT_XOR, Infix::Binary(B::BitXor)),
            Token::Pipe => (level::BIT_OR, Infix::Binary(B::BitOr)),
            Token::Ampersand => (level::BIT_AND, Infix::Binary(B::BitAnd)),
            Token::ShiftLeft => (level::SHIFT, Infix::Binary(B::ShiftLeft)),
            Token::ShiftRight => (level::SHIFT, Infix::Binary(B::ShiftRight)),
            Token::DoubleAmpersand => (level::AND, Infix::And),
            Token::DoublePipe if self.mode.pipes_as_concat => (level::CONCAT, Infix::Binary(B::Concat)),
            Token::DoublePipe => (level::OR, Infix::Or),
            Token::Keyword(keyword) => match keyword {
                K::And => (level::AND, Infix::And),
                K::Or => (level::OR, Infix::Or),
                K::Xor => (level::XOR, Infix::Binary(B::Xor)),
                K::Is => (level::COMPARISON, Infix::Is),
                K::Div => (level::MULTIPLY, Infix::Binary(B::IntDivide)),
                K::Mod => (level::MULTIPLY, Infix::Binary(B::Modulo)),
                K::Not | K::In | K::Between | K::Like | K::Regexp | K::RLike => (level::PREDICATE, Infix::Predicate),
                _ => return None,
            },
            Token::Word(word) => {
                let is_sounds = word.eq_ignore_ascii_case(b"SOUNDS") && self.peek_kw(K::Like);
                if is_sounds || (word.eq_ignore_ascii_case(b"MEMBER") && self.peek_kw(K::Of)) {
                    (level::PREDICATE, Infix::Predicate)
                } else {
                    return None;
                }
            }
            _ => return None,
        };
        Some(found)
    }

    pub(super) fn binary(&mut self, min: u8) -> Result<Expr<'a>> {
        types::work::spend(OPERAND_UNITS)?;
        self.enter(1)?;
        let left = self.prefix(min)?;
        let expr = self.climb(left, min)?;
        self.leave(1);
        Ok(expr)
    }

    /// Parses operators of at least this level after an operand.
    fn climb(&mut self, mut left: Expr<'a>, min: u8) -> Result<Expr<'a>> {
        while let Some((level, infix)) = self.infix() {
            if level < min {
                break;
            }
            left = match infix {
                Infix::And => self.chain(left, level::AND)?,
                Infix::Or => self.chain(left, level::OR)?,
                Infix::Binary(op) => self.binary_tail(left, op, level)?,
                Infix::Compare(op) => self.compare_tail(left, op)?,
                Infix::Is => {
                    let closes = !self.peek_is_null();
                    let expr = self.is_tail(left)?;
                    // After IS TRUE, FALSE and UNKNOWN only AND, OR and the like are allowed.
                    if closes && self.infix().is_some_and(|(next, _)| next >= level::COMPARISON) {
                        return Err(self.error());
                    }
                    expr
                }
                Infix::Predicate => self.predicate_tail(left)?,
            };
        }
        Ok(left)
    }

    /// `left AND b AND c ...`, or a chain of OR, as one list.
    fn chain(&mut self, left: Expr<'a>, level: u8) -> Result<Expr<'a>> {
        let mut height = self.height;
        let mut items: ArenaVec<'a, Expr<'a>> = self.arena.list();
        items.push(left);
        while let Some((found, Infix::And | Infix::Or)) = self.infix() {
            if found != level {
                break;
            }
            match self.token {
                Token::DoubleAmpersand => self.deprecated_token(Deprecated::And),
                Token::DoublePipe => self.deprecated_token(Deprecated::Or),
                _ => {}
            }
            self.bump();
            items.push(self.binary(level + 1)?);
            height = height.max(self.height);
        }
        self.grow(height)?;
        let items = items.into_bump_slice();
        Ok(if level == level::AND { Expr::And(items) } else { Expr::Or(items) })
    }

    fn binary_tail(&mut self, left: Expr<'a>, op: BinaryOp, level: u8) -> Result<Expr<'a>> {
        let height = self.height;
        self.bump();
        let right = if matches!(op, BinaryOp::Add | BinaryOp::Subtract) && self.at_kw(K::Interval) {
            match self.interval()? {
                Interval::Amount(amount, unit) => {
                    self.grow(height.max(self.height))?;
                    let subtract = op == BinaryOp::Subtract;
                    return Ok(Expr::DateArithmetic(self.arena.node(DateArithmetic { date: left, amount, unit, subtract })));
                }
                Interval::Call(call) => self.climb(call, level + 1)?,
            }
        } else {
            self.binary(level + 1)?
        };
        self.grow(height.max(self.height))?;
        Ok(Expr::Binary { op, left: self.arena.node(left), right: self.arena.node(right) })
    }

    fn compare_tail(&mut self, left: Expr<'a>, op: BinaryOp) -> Result<Expr<'a>> {
        let (height, from) = (self.height, self.start);
        self.bump();
        let quantifier = match self.token {
            Token::Keyword(K::All) => Some(true),
            Token::Word(w) if w.eq_ignore_ascii_case(b"ANY") || w.eq_ignore_ascii_case(b"SOME") => Some(false),
            _ => None,
        };
        if let Some(all) = quantifier.filter(|_| self.peek() == Token::LeftParen) {
            if op == BinaryOp::NullSafeEqual {
                return Err(self.error_at(from));
            }
            self.bump();
            let query = self.paren_query()?;
            self.grow(height)?;
            return Ok(Expr::Quantified { op, all, left: self.arena.node(left), query });
        }
        let right = self.binary(level::PREDICATE)?;
        self.grow(height.max(self.height))?;
        Ok(Expr::Binary { op, left: self.arena.node(left), right: self.arena.node(right) })
    }

    /// At IS: is it `IS [NOT] NULL`?
    fn peek_is_null(&self) -> bool {
        let mut lexer = self.lexer;
        match lexer.next().0 {
            Token::Keyword(K::Not) => lexer.next().0 == Token::Keyword(K::Null),
            token => token == Token::Keyword(K::Null),
        }
    }

    fn is_tail(&mut self, left: Expr<'a>) -> Result<Expr<'a>> {
        self.bump();
        let negated = self.accept_kw(K::Not);
        let height = self.height;
        let arg = self.arena.node(left);
        let expr = match self.token {
            Token::Keyword(K::Null) => Expr::IsNull { arg, negated },
            Token::Keyword(K::True) => Expr::IsTruth { arg, truth: true, negated },
            Token::Keyword(K::False) => Expr::IsTruth { arg, truth: false, negated },
            _ if self.at_word("UNKNOWN") => Expr::IsNull { arg, negated },
            _ => return Err(self.error()),
        };
        self.bump();
        self.grow(height)?;
        Ok(expr)
    }

    /// `[NOT] IN`, `BETWEEN`, `LIKE`, `REGEXP`; SOUNDS LIKE; MEMBER OF.
    fn predicate_tail(&mut self, arg: Expr<'a>) -> Result<Expr<'a>> {
        let height = self.height;
        let negated = self.accept_kw(K::Not);
        let expr = match self.token {
            Token::Keyword(K::In) => {
                self.bump();
                return self.in_tail(arg, negated, height);
            }
            Token::Keyword(K::Between) => {
                self.bump();
                let low = self.bit_expr()?;
                let low_height = self.height;
                self.expect_kw(K::And)?;
                let high = self.binary(level::PREDICATE)?;
                self.height = self.height.max(low_height);
                Expr::Between(self.arena.node(Between { arg, low, high, negated }))
            }
            Token::Keyword(K::Like) => {
                self.bump();
                let pattern = self.bit_expr()?;
                let pattern_height = self.height;
                let escape = if self.accept_word("ESCAPE") { Some(self.simple_expr()?) } else { None };
                self.height = self.height.max(pattern_height);
                Expr::Like(self.arena.node(Like { arg, pattern, escape, negated }))
            }
            Token::Keyword(K::Regexp | K::RLike) => {
                self.bump();
                let pattern = self.bit_expr()?;
                Expr::Regexp { arg: self.arena.node(arg), pattern: self.arena.node(pattern), negated }
            }
            Token::Word(_) if !negated && self.at_word("SOUNDS") => {
                self.bump();
                self.expect_kw(K::Like)?;
                let right = self.bit_expr()?;
                Expr::Binary { op: BinaryOp::SoundsLike, left: self.arena.node(arg), right: self.arena.node(right) }
            }
            Token::Word(_) if !negated && self.at_word("MEMBER") => {
                self.bump();
                self.expect_kw(K::Of)?;
                self.expect(Token::LeftParen)?;
                let array = self.expr_ref()?;
                self.expect(Token::RightParen)?;
                Expr::MemberOf { arg: self.arena.node(arg), array }
            }
            _ => return Err(self.error()),
        };
        self.grow(height.max(self.height))?;
        Ok(expr)
    }

    fn in_tail(&mut self, arg: Expr<'a>, negated: bool, height: u32) -> Result<Expr<'a>> {
        let arg = self.arena.node(arg);
        if self.at_query_in_parens() {
            let query = self.paren_query()?;
            self.grow(height)?;
            return Ok(Expr::InSubquery { arg, query, negated });
        }
        self.expect(Token::LeftParen)?;
        let list = self.expr_list()?;
        if let ([Expr::Subquery(query)], false) = (list, self.at(Token::RightParen)) {
            let query = self.query_behind(QueryBody::Query(query))?;
            self.expect(Token::RightParen)?;
            self.grow(height)?;
            return Ok(Expr::InSubquery { arg, query, negated });
        }
        self.expect(Token::RightParen)?;
        self.grow(height.max(self.height))?;
        if let [Expr::Subquery(query)] = *list {
            return Ok(Expr::InSubquery { arg, query, negated });
        }
        Ok(Expr::In { arg, list, negated })
    }

    /// One or more expressions; sets the height to that of the highest.
    pub(super) fn expr_list(&mut self) -> Result<&'a [Expr<'a>]> {
        let mut height = 0;
        let items = self.list(|p| {
            let expr = p.expr()?;
            height = height.max(p.height);
            Ok(expr)
        })?;
        self.height = height;
        Ok(items)
    }

    fn prefix(&mut self, min: u8) -> Result<Expr<'a>> {
        let op = match self.token {
            Token::Keyword(K::Not) if self.mode.high_not_precedence => UnaryOp::Not,
            Token::Keyword(K::Not) => {
                if min > level::NOT {
                    return Err(self.error());
                }
                self.bump();
                let arg = self.binary(level::NOT)?;
                self.grow(self.height)?;
                return Ok(Expr::Not(self.arena.node(arg)));
            }
            Token::Minus => UnaryOp::Negate,
            Token::Plus => UnaryOp::Plus,
            Token::Tilde => UnaryOp::BitNot,
            Token::Bang => {
                self.deprecated_token(Deprecated::Not);
                UnaryOp::Not
            }
            Token::Keyword(K::Binary) => {
                self.bump();
                let arg = self.binary(level::TIGHT)?;
                self.deprecated_form(Deprecated::BinaryOperator);
                self.grow(self.height)?;
                return Ok(Expr::BinaryCast(self.arena.node(arg)));
            }
            _ => return self.postfix(),
        };
        self.bump();
        let tight = if op == UnaryOp::Not { level::TIGHT } else { level::UNARY };
        let arg = self.binary(tight)?;
        self.grow(self.height)?;
        Ok(Expr::Unary { op, arg: self.arena.node(arg) })
    }

    /// A primary expression and a COLLATE after it.
    fn postfix(&mut self) -> Result<Expr<'a>> {
        let mut expr = self.primary()?;
        while self.at_kw(K::Collate) {
            self.bump();
            let collation = self.collation_name()?;
            self.grow(self.height)?;
            expr = Expr::Collate { arg: self.arena.node(expr), collation };
        }
        Ok(expr)
    }

    pub(super) fn primary(&mut self) -> Result<Expr<'a>> {
        self.height = 1;
        let start = self.start;
        match self.token {
            Token::Int(digits) => {
                self.bump();
                let literal = match parse_int(digits) {
                    Some(value) => Literal::Int(value),
                    None => Literal::Decimal(ascii(digits)),
                };
                Ok(self.literal(literal, start))
            }
            Token::Word(_) | Token::Quoted { .. } => self.name_expr(),
            // A body has variables instead.
            Token::Param if matches!(self.names, Names::Building(_)) => Err(self.error()),
            Token::Param => {
                self.bump();
                let index = self.params;
                self.params += 1;
                if self.params > PARAMS_MAX { Err(Error::TooManyParams) } else { Ok(Expr::Param(index)) }
            }
            Token::String { .. } => {
                let bytes = self.string_chain()?;
                Ok(self.literal(Literal::String(StringLiteral { bytes, charset: None }), start))
            }
            Token::Decimal(digits) => {
                self.bump();
                Ok(self.literal(Literal::Decimal(ascii(digits)), start))
            }
            Token::Double(digits) => {
                self.bump();
                Ok(self.literal(Literal::Double(ascii(digits)), start))
            }
            Token::LeftParen => self.paren_expr(),
            Token::Keyword(keyword) => self.keyword_expr(keyword),
            _ => self.rare_primary(),
        }
    }

    #[inline(never)]
    fn rare_primary(&mut self) -> Result<Expr<'a>> {
        match self.token {
            Token::National { raw, quote, escaped } => {
                self.deprecated_token(Deprecated::National);
                let bytes = self.national(raw, quote, escaped)?;
                Ok(Expr::Literal(Literal::String(StringLiteral { bytes, charset: Some("utf8mb3") })))
            }
            Token::Underscore(name) => self.introduced(name),
            Token::Hex(_) | Token::Bits(_) => {
                let bytes = self.bits()?;
                Ok(Expr::Literal(Literal::Bits(bytes)))
            }
            Token::Variable(_) | Token::QuotedVariable { .. } => self.user_variable_expr(),
            Token::AtAt => {
                let (scope, name) = self.system_variable()?;
                Ok(Expr::SystemVariable { scope, name })
            }
            Token::LeftBrace => self.odbc_literal(),
            _ => Err(self.error()),
        }
    }

    /// A literal, as itself or as the lifted one it is.
    fn literal(&mut self, literal: Literal<'a>, start: usize) -> Expr<'a> {
        if let Some(lifted) = self.lifted
            && let Some(index) = lifted.index_at(start, &mut self.lifted_next)
        {
            return Expr::Lifted { index, literal: self.arena.node(literal) };
        }
        Expr::Literal(literal)
    }

    /// `'a' 'b'` is `'ab'`.
    pub(super) fn string_chain(&mut self) -> Result<&'a [u8]> {
        let first = self.string()?;
        self.chained(first)
    }

    /// `N'a' 'b'`
    fn national(&mut self, raw: &'a [u8], quote: u8, escaped: bool) -> Result<&'a [u8]> {
        let first = self.resolve(raw, quote, escaped);
        self.bump();
        let converted = self.chained(first)?;
        Ok(self.as_sent(converted))
    }

    /// The bytes of a literal as the client sent them, before its text was converted to UTF-8.
    pub(super) fn as_sent(&self, converted: &'a [u8]) -> &'a [u8] {
        match self.mode.client.as_sent(converted) {
            Cow::Borrowed(_) => converted,
            Cow::Owned(bytes) => {
                let mut sent: ArenaVec<'a, u8> = self.arena.list();
                sent.extend_from_slice(&bytes);
                sent.into_bump_slice()
            }
        }
    }

    /// A string literal with the adjacent literals that follow it.
    fn chained(&mut self, first: &'a [u8]) -> Result<&'a [u8]> {
        if !matches!(self.token, Token::String { .. }) {
            return Ok(first);
        }
        let mut whole: ArenaVec<'a, u8> = self.arena.list();
        whole.extend_from_slice(first);
        while matches!(self.token, Token::String { .. }) {
            let next = self.string()?;
            whole.extend_from_slice(next);
        }
        Ok(whole.into_bump_slice())
    }

    /// A string that must be a literal, such as the path of JSON_VALUE. It may have an introducer of a character set
    /// whose encoding equals UTF-8.
    pub(super) fn text_literal(&mut self) -> Result<&'a [u8]> {
        match self.token {
            Token::National { raw, quote, escaped } => self.national(raw, quote, escaped),
            Token::Underscore(name) => {
                let charset = self.utf8(&name[1..])?;
                if !is_charset(charset) {
                    return Err(self.error());
                }
                self.bump();
                let converted = self.string_chain()?;
                let bytes = self.as_sent(converted);
                let is_same = bytes.is_ascii() || charset.to_ascii_lowercase().starts_with("utf8");
                if is_same { Ok(bytes) } else { Err(self.error()) }
            }
            _ => self.string_chain(),
        }
    }

    /// `_charset 'text'`, or a name that begins with an underscore.
    fn introduced(&mut self, name: &'a [u8]) -> Result<Expr<'a>> {
        let charset = self.utf8(&name[1..])?;
        if !is_charset(charset) || !matches!(self.peek(), Token::String { .. } | Token::Hex(_) | Token::Bits(_)) {
            return self.name_expr();
        }
        if let Some(form) = Deprecated::of_charset(charset) {
            self.deprecated_token(form);
        }
        self.bump();
        let bytes = match self.token {
            Token::String { .. } => {
                let converted = self.string_chain()?;
                self.as_sent(converted)
            }
            _ => self.bits()?,
        };
        Ok(Expr::Literal(Literal::String(StringLiteral { bytes, charset: Some(charset) })))
    }

    /// The bytes of a hexadecimal or bit literal.
    pub(super) fn bits(&mut self) -> Result<&'a [u8]> {
        let (digits, per_byte) = match self.token {
            Token::Hex(digits) => (digits, 2),
            Token::Bits(digits) => (digits, 8),
            _ => return Err(self.error()),
        };
        let mut bytes: ArenaVec<'a, u8> = self.arena.list();
        // The first byte may have fewer digits.
        let head = digits.len() % per_byte;
        let (first, rest) = digits.split_at(head);
        for chunk in std::iter::once(first).filter(|c| !c.is_empty()).chain(rest.chunks(per_byte)) {
            let shift = if per_byte == 2 { 4 } else { 1 };
            bytes.push(chunk.iter().fold(0u8, |sum, &d| (sum << shift) | hex_value(d)));
        }
        self.bump();
        Ok(bytes.into_bump_slice())
    }

    fn user_variable_expr(&mut self) -> Result<Expr<'a>> {
        let name = self.user_variable()?;
        if self.accept(Token::Assign) {
            self.deprecated_form(Deprecated::Assignment);
            let value = self.expr_ref()?;
            self.grow(self.height)?;
            return Ok(Expr::AssignVariable { name, value });
        }
        Ok(Expr::UserVariable(name))
    }

    /// `@name` in any of its spellings.
    pub(super) fn user_variable(&mut self) -> Result<&'a str> {
        let name = match self.token {
            Token::Variable(name) => self.utf8(name)?,
            Token::QuotedVariable { name, quote, escaped } => {
                let name = if quote == b'`' && escaped {
                    let mut out: ArenaVec<'a, u8> = self.arena.list();
                    crate::lexer::unescape(name, quote, false, &mut out);
                    out.into_bump_slice()
                } else {
                    self.resolve(name, quote, escaped)
                };
                self.utf8(name)?
            }
            _ => return Err(self.error()),
        };
        self.bump();
        Ok(name)
    }

    /// `@@name`, `@@global.name`, `@@component.name`
    pub(super) fn system_variable(&mut self) -> Result<(VariableScope, &'a str)> {
        self.expect(Token::AtAt)?;
        let start = self.start;
        let first = self.variable_word()?;
        if !self.accept(Token::Dot) {
            return Ok((VariableScope::Any, first));
        }
        let scope = match scope_word(first) {
            Some(scope) => scope,
            None => {
                self.variable_word()?;
                return Ok((VariableScope::Any, self.utf8(&self.text[start..self.previous_end])?));
            }
        };
        let start = self.start;
        let name = self.variable_word()?;
        if self.accept(Token::Dot) {
            self.variable_word()?;
            return Ok((scope, self.utf8(&self.text[start..self.previous_end])?));
        }
        Ok((scope, name))
    }

    /// The name of a variable: any name, or a reserved word if it is a variable (`@@read_only` is not reserved).
    fn variable_word(&mut self) -> Result<&'a str> {
        if let Token::Keyword(_) = self.token {
            let name = self.utf8(&self.text[self.start..self.lexer.position()])?;
            self.bump();
            return Ok(name);
        }
        self.ident()
    }

    /// `{d '2024-01-01'}`, `{t '...'}`, `{ts '...'}`; any other `{name expr}` is the expression.
    fn odbc_literal(&mut self) -> Result<Expr<'a>> {
        self.bump();
        let kind = self.ident()?;
        let expr =
            if let (Token::String { .. }, true) = (self.token, ["d", "t", "ts"].iter().any(|k| kind.eq_ignore_ascii_case(k))) {
                let text = self.string()?;
                // One that is none of its kind is a text.
                Expr::Literal(match kind.len() {
                    2 if is_moment(text, true) => Literal::Timestamp(text),
                    1 if kind.eq_ignore_ascii_case("d") && is_moment(text, false) => Literal::Date(text),
                    1 if kind.eq_ignore_ascii_case("t") && is_time(text) => Literal::Time(text),
                    _ => Literal::String(StringLiteral { bytes: text, charset: None }),
                })
            } else {
                self.expr()?
            };
        self.expect(Token::RightBrace)?;
        Ok(expr)
    }

    /// `(expr)`, `(a, b)`, `(SELECT ...)`
    pub(super) fn paren_expr(&mut self) -> Result<Expr<'a>> {
        if self.at_query_in_parens() {
            let query = self.paren_query()?;
            self.height = 1;
            return Ok(Expr::Subquery(query));
        }
        self.bump();
        let first = self.expr()?;
        if !self.accept(Token::Comma) {
            if let (Expr::Subquery(query), false) = (first, self.at(Token::RightParen)) {
                let query = self.query_behind(QueryBody::Query(query))?;
                self.expect(Token::RightParen)?;
                return Ok(Expr::Subquery(query));
            }
            self.expect(Token::RightParen)?;
            return Ok(first);
        }
        let mut height = self.height;
        let mut items: ArenaVec<'a, Expr<'a>> = self.arena.list();
        items.push(first);
        loop {
            items.push(self.expr()?);
            height = height.max(self.height);
            if !self.accept(Token::Comma) {
                break;
            }
        }
        self.expect(Token::RightParen)?;
        self.grow(height)?;
        Ok(Expr::Row(items.into_bump_slice()))
    }

    /// A column, or a function called by its name.
    fn name_expr(&mut self) -> Result<Expr<'a>> {
        let start = self.start;
        let word = match self.token {
            Token::Word(word) => Some(word),
            _ => None,
        };
        let name = self.name_of_any_length()?;
        match self.token {
            Token::LeftParen => {
                let name = self.checked_name(name)?;
                match word {
                    Some(word) => self.word_call(word, name, start),
                    None => self.plain_call(ObjectName { database: None, name }),
                }
            }
            Token::String { .. } if word.is_some() => self.typed_literal(name),
            Token::Dot => self.qualified(name),
            _ => self.column_tail(ColumnName { database: None, table: None, name }),
        }
    }

    /// DATE '...', TIME '...', TIMESTAMP '...'
    fn typed_literal(&mut self, name: &'a str) -> Result<Expr<'a>> {
        let make: fn(&'a [u8]) -> Literal<'a> = if name.eq_ignore_ascii_case("date") {
            Literal::Date
        } else if name.eq_ignore_ascii_case("time") {
            Literal::Time
        } else if name.eq_ignore_ascii_case("timestamp") {
            Literal::Timestamp
        } else {
            // Any other name is a column, and the string its alias.
            return self.column_tail(ColumnName { database: None, table: None, name });
        };
        Ok(Expr::Literal(make(self.string()?)))
    }

    /// `a.b`, `a.b.c`, `a.f(...)`
    fn qualified(&mut self, first: &'a str) -> Result<Expr<'a>> {
        self.bump();
        let second = self.name_of_any_length()?;
        match self.token {
            Token::LeftParen => {
                let name = ObjectName { database: Some(self.checked_database(first)?), name: self.checked_name(second)? };
                self.plain_call(name)
            }
            Token::Dot => {
                self.bump();
                let name = self.name_of_any_length()?;
                self.column_tail(ColumnName { database: Some(first), table: Some(second), name })
            }
            _ => match self.names.field(first, second)? {
                Some(slot) => self.local_tail(slot, second),
                None => self.column_tail(ColumnName { database: None, table: Some(first), name: second }),
            },
        }
    }

    fn column_tail(&mut self, column: ColumnName<'a>) -> Result<Expr<'a>> {
        if let ColumnName { database: None, table: None, name } = column
            && let Some(slot) = self.names.find(name)
        {
            return self.local_tail(slot, name);
        }
        self.height = 1;
        let column = self.arena.node(column);
        Ok(match self.arrow() {
            Some(unquote) => Expr::JsonArrow { column, path: self.string()?, unquote },
            None => Expr::Column(column),
        })
    }

    /// A variable of the enclosing program, optionally with a JSON arrow and path.
    fn local_tail(&mut self, slot: u32, name: &'a str) -> Result<Expr<'a>> {
        self.height = 1;
        let local = Expr::Local { slot, name };
        let Some(unquote) = self.arrow() else { return Ok(local) };
        let path = Expr::Literal(Literal::String(StringLiteral { bytes: self.string()?, charset: None }));
        self.height = 3;
        let found = self.call("JSON_EXTRACT", self.arena.slice(&[local, path]));
        Ok(if unquote { self.call("JSON_UNQUOTE", self.arena.slice(&[found])) } else { found })
    }

    /// `->` and `->>`, which unquotes.
    fn arrow(&mut self) -> Option<bool> {
        let unquote = match self.token {
            Token::Arrow => false,
            Token::LongArrow => true,
            _ => return None,
        };
        self.bump();
        Some(unquote)
    }

    /// `[[database.]table.]column`
    pub(super) fn column_name(&mut self) -> Result<ColumnName<'a>> {
        let first = self.name_of_any_length()?;
        if !self.accept(Token::Dot) {
            return Ok(ColumnName { database: None, table: None, name: first });
        }
        let second = self.name_of_any_length()?;
        if !self.accept(Token::Dot) {
            return Ok(ColumnName { database: None, table: Some(first), name: second });
        }
        Ok(ColumnName { database: Some(first), table: Some(second), name: self.name_of_any_length()? })
    }
}

/// `global` and the like before the dot of `@@global.x`.
pub(super) fn scope_word(word: &str) -> Option<VariableScope> {
    Some(match () {
        () if word.eq_ignore_ascii_case("global") => VariableScope::Global,
        () if word.eq_ignore_ascii_case("session") || word.eq_ignore_ascii_case("local") => VariableScope::Session,
        () if word.eq_ignore_ascii_case("persist") => VariableScope::Persist,
        () if word.eq_ignore_ascii_case("persist_only") => VariableScope::PersistOnly,
        () => return None,
    })
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => (digit | 0x20).wrapping_sub(b'a').wrapping_add(10),
    }
}

/// The text of digits, points and exponents; the lexer produces nothing else here.
fn ascii(digits: &[u8]) -> &str {
    std::str::from_utf8(digits).expect("numbers are ASCII")
}

/// Is it a character set that an introducer may name?
fn is_charset(name: &str) -> bool {
    CHARSETS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Is it a date, with a time or without one as is wanted?
fn is_moment(text: &[u8], with_time: bool) -> bool {
    let groups = text.split(|byte| !byte.is_ascii_digit()).filter(|digits| !digits.is_empty()).count();
    types::temporal::parse_datetime(text).is_some() && (groups > 3) == with_time
}

/// Is it a time and no date?
fn is_time(text: &[u8]) -> bool {
    let parsed = types::temporal::parse_time(text);
    !(text.is_empty() || parsed.truncated || parsed.out_of_range)
}
