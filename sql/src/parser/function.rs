//! Calls: functions with a grammar of their own, aggregates, window functions, CASE, CAST, INTERVAL.

use super::body::Names;
use super::expr::level;
use super::{Parser, uppercase};
use crate::arena::ArenaVec;
use crate::ast::*;
use crate::deprecated::Deprecated;
use crate::error::{Error, NameKind, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;
use expr::{AggregateFunction as A, Distinct};
use std::ops::RangeInclusive;

/// The constructs that INTERVAL may begin.
pub(super) enum Interval<'a> {
    /// `INTERVAL n unit`
    Amount(Expr<'a>, IntervalUnit),
    /// `INTERVAL(n, a, b, ...)`
    Call(Expr<'a>),
}

impl<'a> Parser<'a> {
    /// An expression that begins with a reserved word.
    pub(super) fn keyword_expr(&mut self, keyword: K) -> Result<Expr<'a>> {
        let start = self.start;
        match keyword {
            K::Null => self.word_literal(Literal::Null),
            K::True => self.word_literal(Literal::Bool(true)),
            K::False => self.word_literal(Literal::Bool(false)),
            K::Case => self.case(),
            K::Exists => {
                self.bump();
                let query = self.paren_query()?;
                self.height = 1;
                Ok(Expr::Exists(query))
            }
            K::Convert => self.convert(),
            K::Default => self.default_expr(),
            K::Values => {
                self.bump();
                self.expect(Token::LeftParen)?;
                let column = self.column_name()?;
                self.deprecated_form(Deprecated::Values);
                self.expect(Token::RightParen)?;
                Ok(Expr::InsertValue(self.arena.node(column)))
            }
            K::Row => {
                self.bump();
                self.expect(Token::LeftParen)?;
                let items = self.expr_list()?;
                self.expect(Token::RightParen)?;
                self.grow(self.height)?;
                Ok(Expr::Row(items))
            }
            K::Interval => match self.interval()? {
                Interval::Call(call) => Ok(call),
                Interval::Amount(amount, unit) => {
                    let height = self.height;
                    self.expect(Token::Plus)?;
                    let date = self.binary(level::ADD + 1)?;
                    self.grow(height.max(self.height))?;
                    Ok(Expr::DateArithmetic(self.arena.node(DateArithmetic { date, amount, unit, subtract: false })))
                }
            },
            K::Match => self.match_against(),
            K::Char => self.char_call(),
            K::Grouping => {
                self.bump();
                Ok(Expr::Grouping(self.paren_list(|p| p.expr())?))
            }
            K::RowNumber
            | K::Rank
            | K::DenseRank
            | K::CumeDist
            | K::PercentRank
            | K::Ntile
            | K::Lag
            | K::Lead
            | K::FirstValue
            | K::LastValue
            | K::NthValue => self.window_call(),
            // Functions without parentheses, perhaps with a precision.
            K::CurrentDate
            | K::CurrentTime
            | K::CurrentTimestamp
            | K::LocalTime
            | K::LocalTimestamp
            | K::UtcDate
            | K::UtcTime
            | K::UtcTimestamp
            | K::CurrentUser => {
                let name = self.keyword_text(start)?;
                if self.at(Token::LeftParen) {
                    let takes_digits = !matches!(keyword, K::CurrentDate | K::UtcDate | K::CurrentUser);
                    return if takes_digits {
                        self.clock_call(name)
                    } else {
                        self.plain_call(ObjectName { database: None, name })
                    };
                }
                Ok(self.call(name, &[]))
            }
            // Reserved words that are functions as well.
            K::If | K::Left | K::Right | K::Repeat | K::Replace | K::Insert | K::Mod | K::Database | K::Schema => {
                let count = match keyword {
                    K::Database | K::Schema => 0,
                    K::If | K::Replace => 3,
                    K::Insert => 4,
                    _ => 2,
                };
                let name = self.keyword_text(start)?;
                self.call_with_args(ObjectName { database: None, name }, count..=count, false)
            }
            _ => Err(self.error()),
        }
    }

    fn word_literal(&mut self, literal: Literal<'a>) -> Result<Expr<'a>> {
        self.bump();
        Ok(Expr::Literal(literal))
    }

    fn keyword_text(&mut self, start: usize) -> Result<&'a str> {
        let name = self.utf8(&self.text[start..self.lexer.position()])?;
        self.bump();
        Ok(name)
    }

    /// UNIX_TIMESTAMP(moment)
    pub(super) fn unix_timestamp(&self, moment: Expr<'a>) -> Expr<'a> {
        self.call("UNIX_TIMESTAMP", self.arena.slice(&[moment]))
    }

    pub(super) fn call(&self, name: &'a str, args: &'a [Expr<'a>]) -> Expr<'a> {
        let name = ObjectName { database: None, name };
        Expr::Call(self.arena.node(Call { name, args, using: None, apart: false }))
    }

    /// `(a, b, ...)` after a function's name.
    pub(super) fn plain_call(&mut self, name: ObjectName<'a>) -> Result<Expr<'a>> {
        self.call_with_args(name, 0..=usize::MAX, false)
    }

    /// `(a, b, ...)` of a function whose grammar says how many arguments there are.
    fn call_with_args(&mut self, name: ObjectName<'a>, count: RangeInclusive<usize>, apart: bool) -> Result<Expr<'a>> {
        self.expect(Token::LeftParen)?;
        let args = self.args_to_paren(count)?;
        Ok(Expr::Call(self.arena.node(Call { name, args, using: None, apart })))
    }

    /// A list of `count` arguments, possibly empty, and the closing parenthesis.
    fn args_to_paren(&mut self, count: RangeInclusive<usize>) -> Result<&'a [Expr<'a>]> {
        if *count.start() == 0 && self.accept(Token::RightParen) {
            self.height = 1;
            return Ok(&[]);
        }
        let mut args: ArenaVec<'a, Expr<'a>> = self.arena.list();
        let mut height = 0;
        while args.len() < *count.end() {
            args.push(self.expr()?);
            height = height.max(self.height);
            if args.len() < *count.start() {
                self.expect(Token::Comma)?;
            } else if args.len() == *count.end() || !self.accept(Token::Comma) {
                break;
            }
        }
        self.expect(Token::RightParen)?;
        self.grow(height)?;
        Ok(args.into_bump_slice())
    }

    /// NOW() and its like: in the parenthesis is nothing or a number of digits.
    fn clock_call(&mut self, name: &'a str) -> Result<Expr<'a>> {
        self.expect(Token::LeftParen)?;
        let digits = if self.at(Token::RightParen) { None } else { Some(self.number()?) };
        self.expect(Token::RightParen)?;
        self.height = 1;
        let args: &[Expr<'a>] = match digits {
            Some(digits) => self.arena.slice(&[Expr::Literal(Literal::Int(digits))]),
            None => &[],
        };
        Ok(self.call(name, args))
    }

    /// A call whose name is a plain word; some have their own grammar.
    pub(super) fn word_call(&mut self, word: &'a [u8], name: &'a str, start: usize) -> Result<Expr<'a>> {
        let mut buffer = [0; 16];
        let upper = uppercase(word, &mut buffer);
        if self.start != start + word.len() && !self.mode.ignore_space && is_adjacent(upper) {
            return self.call_with_args(ObjectName { database: None, name }, 0..=usize::MAX, true);
        }
        if let Some(function) = A::named(upper) {
            return self.aggregate_call(function);
        }
        match upper {
            b"CAST" => self.cast(),
            b"EXTRACT" => self.extract(),
            b"TRIM" => self.trim(),
            b"SUBSTRING" | b"SUBSTR" | b"MID" => self.substring(),
            b"POSITION" => self.position(),
            b"DATE_ADD" | b"ADDDATE" => self.date_add(false),
            b"DATE_SUB" | b"SUBDATE" => self.date_add(true),
            b"TIMESTAMPADD" => self.unit_call(UnitFunction::TimestampAdd),
            b"TIMESTAMPDIFF" => self.unit_call(UnitFunction::TimestampDiff),
            b"GET_FORMAT" => self.get_format(name),
            b"JSON_VALUE" => self.json_value(),
            b"WEIGHT_STRING" => self.weight_string(name),
            b"FOUND_ROWS" => {
                self.deprecated_token(Deprecated::FoundRows);
                self.call_with_args(ObjectName { database: None, name }, arguments(upper), false)
            }
            b"NOW" | b"CURTIME" | b"SYSDATE" => self.clock_call(name),
            _ => self.call_with_args(ObjectName { database: None, name }, arguments(upper), false),
        }
    }

    fn aggregate_call(&mut self, function: A) -> Result<Expr<'a>> {
        self.expect(Token::LeftParen)?;
        let mut call = AggregateCall { function, distinct: false, args: &[], order_by: &[], separator: None };
        if function == A::Count && self.accept(Token::Star) {
            self.height = 1;
        } else {
            let row = function.row();
            let takes_distinct = row.distinct != Distinct::No;
            call.distinct = takes_distinct && (self.accept_kw(K::Distinct) || self.accept_kw(K::DistinctRow));
            self.accept_kw(K::All);
            call.args = self.expr_list()?;
            let most = if call.distinct && row.distinct == Distinct::Many { usize::MAX } else { row.most };
            if !(row.fewest..=most).contains(&call.args.len()) {
                return Err(self.error());
            }
            let height = self.height;
            if function == A::GroupConcat {
                if self.at_kw(K::Order) {
                    call.order_by = self.order_by()?;
                }
                if self.accept_kw(K::Separator) {
                    call.separator = Some(self.separator()?);
                }
            }
            self.grow(height)?;
        }
        self.expect(Token::RightParen)?;
        let height = self.height;
        let call = self.arena.node(call);
        if !self.at_kw(K::Over) {
            return Ok(Expr::Aggregate(call));
        }
        let window = self.over()?;
        self.height = height;
        Ok(Expr::Window(self.arena.node(WindowCall { function: WindowFunction::Aggregate(call), window })))
    }

    fn window_call(&mut self) -> Result<Expr<'a>> {
        let start = self.start;
        let name = self.keyword_text(start)?;
        self.expect(Token::LeftParen)?;
        let args = match () {
            () if name.eq_ignore_ascii_case("NTILE") => {
                let buckets = self.stable_integer()?;
                self.expect(Token::RightParen)?;
                self.arena.slice(&[buckets])
            }
            () if name.eq_ignore_ascii_case("LAG") || name.eq_ignore_ascii_case("LEAD") => self.shifted_args()?,
            () if name.eq_ignore_ascii_case("NTH_VALUE") => {
                let value = self.expr()?;
                self.expect(Token::Comma)?;
                let place = self.simple_expr()?;
                self.expect(Token::RightParen)?;
                self.arena.slice(&[value, place])
            }
            () => self.args_to_paren(0..=usize::MAX)?,
        };
        let height = self.height;
        if self.accept_kw(K::From) {
            if self.accept_word("LAST") {
                return Err(Error::NotSupported("FROM LAST".to_owned()));
            }
            self.expect_word("FIRST")?;
        }
        // RESPECT NULLS is the default.
        if self.accept_word("RESPECT") {
            self.expect_word("NULLS")?;
        } else if self.accept_word("IGNORE") || self.accept_kw(K::Ignore) {
            self.expect_word("NULLS")?;
            return Err(Error::NotSupported("IGNORE NULLS".to_owned()));
        }
        let window = self.over()?;
        self.height = height;
        let mut upper: ArenaVec<'a, u8> = self.arena.list();
        upper.extend(name.bytes().map(|b| b.to_ascii_uppercase()));
        let name = self.utf8(upper.into_bump_slice())?;
        Ok(Expr::Window(self.arena.node(WindowCall { function: WindowFunction::Named { name, args }, window })))
    }

    /// A number that is the same for all rows: a literal, a parameter or a variable.
    fn stable_integer(&mut self) -> Result<Expr<'a>> {
        match self.token {
            Token::Int(_) | Token::Param => self.primary(),
            Token::Variable(_) | Token::QuotedVariable { .. } => {
                let name = self.user_variable()?;
                Ok(Expr::UserVariable(name))
            }
            Token::Word(_) | Token::Quoted { .. } if matches!(self.names, Names::Building(_)) => self.simple_expr(),
            _ => Err(self.error()),
        }
    }

    /// `x [, offset [, default]])`
    fn shifted_args(&mut self) -> Result<&'a [Expr<'a>]> {
        let value = self.expr()?;
        let mut height = self.height;
        let mut args: ArenaVec<'a, Expr<'a>> = self.arena.list();
        args.push(value);
        if self.accept(Token::Comma) {
            args.push(self.stable_integer()?);
            if self.accept(Token::Comma) {
                args.push(self.expr()?);
                height = height.max(self.height);
            }
        }
        self.expect(Token::RightParen)?;
        self.grow(height)?;
        Ok(args.into_bump_slice())
    }

    /// `OVER w`, `OVER (...)`
    fn over(&mut self) -> Result<WindowSpec<'a>> {
        self.expect_kw(K::Over)?;
        if self.at(Token::LeftParen) {
            return self.window_spec();
        }
        Ok(WindowSpec { name: Some(self.name_of_any_length()?), partition_by: &[], order_by: &[], frame: None })
    }

    /// `([w] [PARTITION BY ...] [ORDER BY ...] [frame])`
    pub(super) fn window_spec(&mut self) -> Result<WindowSpec<'a>> {
        self.expect(Token::LeftParen)?;
        let mut spec = WindowSpec { name: None, partition_by: &[], order_by: &[], frame: None };
        if self.at_ident() {
            spec.name = Some(self.name_of_any_length()?);
        }
        if self.accept_kw(K::Partition) {
            self.expect_kw(K::By)?;
            spec.partition_by = self.expr_list()?;
        }
        if self.at_kw(K::Order) {
            spec.order_by = self.order_by()?;
        }
        if self.at_kw(K::Rows) || self.at_kw(K::Range) {
            let range = self.at_kw(K::Range);
            self.bump();
            let frame = if self.accept_kw(K::Between) {
                let start = self.frame_bound()?;
                self.expect_kw(K::And)?;
                WindowFrame { range, start, end: self.frame_bound()? }
            } else {
                WindowFrame { range, start: self.frame_bound()?, end: FrameBound::CurrentRow }
            };
            spec.frame = Some(self.arena.node(frame));
        }
        self.expect(Token::RightParen)?;
        Ok(spec)
    }

    fn frame_bound(&mut self) -> Result<FrameBound<'a>> {
        if self.accept_word("UNBOUNDED") {
            if self.accept_word("PRECEDING") {
                return Ok(FrameBound::UnboundedPreceding);
            }
            self.expect_word("FOLLOWING")?;
            return Ok(FrameBound::UnboundedFollowing);
        }
        if self.accept_word("CURRENT") {
            self.expect_kw(K::Row)?;
            return Ok(FrameBound::CurrentRow);
        }
        let (amount, unit) = if self.at_kw(K::Interval) {
            match self.interval()? {
                Interval::Amount(amount, unit) => (amount, Some(unit)),
                Interval::Call(_) => return Err(self.error()),
            }
        } else {
            match self.token {
                Token::Int(_) | Token::Decimal(_) | Token::Double(_) | Token::Param => (self.primary()?, None),
                _ => return Err(self.error()),
            }
        };
        if self.accept_word("PRECEDING") {
            return Ok(FrameBound::Preceding(amount, unit));
        }
        self.expect_word("FOLLOWING")?;
        Ok(FrameBound::Following(amount, unit))
    }

    fn case(&mut self) -> Result<Expr<'a>> {
        self.bump();
        let mut height = 0;
        let operand = if self.at_kw(K::When) { None } else { Some(self.expr()?) };
        if operand.is_some() {
            height = self.height;
        }
        let mut whens: ArenaVec<'a, (Expr<'a>, Expr<'a>)> = self.arena.list();
        while self.accept_kw(K::When) {
            let condition = self.expr()?;
            height = height.max(self.height);
            self.expect_kw(K::Then)?;
            whens.push((condition, self.expr()?));
            height = height.max(self.height);
        }
        if whens.is_empty() {
            return Err(self.error());
        }
        let otherwise = if self.accept_kw(K::Else) { Some(self.expr()?) } else { None };
        if otherwise.is_some() {
            height = height.max(self.height);
        }
        self.expect_word("END")?;
        self.grow(height)?;
        Ok(Expr::Case(self.arena.node(Case { operand, whens: whens.into_bump_slice(), otherwise })))
    }

    fn cast(&mut self) -> Result<Expr<'a>> {
        self.expect(Token::LeftParen)?;
        let from = self.start;
        let arg = self.expr_ref()?;
        let written = from..self.previous_end;
        let height = self.height;
        let at_time_zone = self.at_word("AT");
        if at_time_zone {
            self.time_zone_offset()?;
        }
        self.expect_kw(K::As)?;
        let target = self.cast_target(written)?;
        if at_time_zone && !matches!(target, CastTarget::DateTime { .. }) {
            return Err(self.error());
        }
        let is_array = self.accept_word("ARRAY");
        self.expect(Token::RightParen)?;
        self.grow(height)?;
        if is_array {
            return Ok(Expr::CastArray { arg, target: self.arena.node(target) });
        }
        if at_time_zone {
            return Ok(Expr::AtTimeZone { arg, target: self.arena.node(target) });
        }
        Ok(Expr::Cast { arg, target: self.arena.node(target) })
    }

    /// `AT TIME ZONE [INTERVAL] '+00:00'`: no other offset is allowed.
    fn time_zone_offset(&mut self) -> Result<()> {
        self.expect_word("AT")?;
        self.expect_word("TIME")?;
        self.expect_word("ZONE")?;
        self.accept_kw(K::Interval);
        let offset = self.string()?;
        if matches!(offset, b"+00:00" | b"UTC") {
            return Ok(());
        }
        Err(crate::error::Error::NotSupported("CAST ... AT TIME ZONE with an offset other than +00:00".to_owned()))
    }

    /// JSON_VALUE(document, path [RETURNING type] [x ON EMPTY] [x ON ERROR])
    fn json_value(&mut self) -> Result<Expr<'a>> {
        self.expect(Token::LeftParen)?;
        let from = self.start;
        let arg = self.expr()?;
        let written = from..self.previous_end;
        let mut height = self.height;
        self.expect(Token::Comma)?;
        let path = self.text_literal()?;
        let target = if self.accept_word("RETURNING") { Some(self.cast_target(written)?) } else { None };
        let mut on_empty = JsonOn::Null;
        let mut on_error = JsonOn::Null;
        let mut first = true;
        while !self.at(Token::RightParen) {
            let answer = if self.accept_kw(K::Null) {
                JsonOn::Null
            } else if self.accept_word("ERROR") {
                JsonOn::Error
            } else {
                self.expect_kw(K::Default)?;
                let value = self.expr_ref()?;
                height = height.max(self.height);
                JsonOn::Default(value)
            };
            self.expect_kw(K::On)?;
            if first && self.accept_kw(K::Empty) {
                on_empty = answer;
                first = false;
                continue;
            }
            self.expect_word("ERROR")?;
            on_error = answer;
            break;
        }
        self.expect(Token::RightParen)?;
        self.grow(height)?;
        Ok(Expr::JsonValue(self.arena.node(JsonValue { arg, path, target, on_empty, on_error })))
    }

    fn convert(&mut self) -> Result<Expr<'a>> {
        self.bump();
        self.expect(Token::LeftParen)?;
        let from = self.start;
        let arg = self.expr_ref()?;
        let written = from..self.previous_end;
        let height = self.height;
        let expr = if self.accept_kw(K::Using) {
            Expr::ConvertUsing { arg, charset: self.charset_name()? }
        } else {
            self.expect(Token::Comma)?;
            let target = self.cast_target(written)?;
            Expr::Cast { arg, target: self.arena.node(target) }
        };
        self.expect(Token::RightParen)?;
        self.grow(height)?;
        Ok(expr)
    }

    fn default_expr(&mut self) -> Result<Expr<'a>> {
        self.bump();
        if !self.accept(Token::LeftParen) {
            return Ok(Expr::Default(None));
        }
        let column = self.column_name()?;
        self.expect(Token::RightParen)?;
        if column.table.is_none() && self.names.find(column.name).is_some() {
            return Err(Error::WrongName { kind: NameKind::Column, name: column.name.to_owned() });
        }
        Ok(Expr::Default(Some(self.arena.node(column))))
    }

    /// CHAR(1, 2 USING utf8mb4)
    fn char_call(&mut self) -> Result<Expr<'a>> {
        self.bump();
        self.expect(Token::LeftParen)?;
        let args = self.expr_list()?;
        let height = self.height;
        let using = if self.accept_kw(K::Using) { Some(self.charset_name()?) } else { None };
        self.expect(Token::RightParen)?;
        self.grow(height)?;
        let name = ObjectName { database: None, name: "CHAR" };
        Ok(Expr::Call(self.arena.node(Call { name, args, using, apart: false })))
    }

    fn extract(&mut self) -> Result<Expr<'a>> {
        self.expect(Token::LeftParen)?;
        let unit = self.interval_unit()?;
        self.expect_kw(K::From)?;
        let arg = self.expr_ref()?;
        self.expect(Token::RightParen)?;
        self.grow(self.height)?;
        Ok(Expr::Extract { unit, arg })
    }

    fn trim(&mut self) -> Result<Expr<'a>> {
        self.expect(Token::LeftParen)?;
        let side = match self.token {
            Token::Keyword(K::Both) => Some(TrimSide::Both),
            Token::Keyword(K::Leading) => Some(TrimSide::Leading),
            Token::Keyword(K::Trailing) => Some(TrimSide::Trailing),
            _ => None,
        };
        let mut what = None;
        let mut height = 0;
        if side.is_some() {
            self.bump();
        }
        let text = if side.is_some() && self.accept_kw(K::From) {
            self.expr_ref()?
        } else {
            let first = self.expr_ref()?;
            height = self.height;
            if self.accept_kw(K::From) {
                what = Some(first);
                self.expr_ref()?
            } else if side.is_some() {
                return Err(self.error());
            } else {
                first
            }
        };
        self.expect(Token::RightParen)?;
        self.grow(height.max(self.height))?;
        Ok(Expr::Trim { side: side.unwrap_or(TrimSide::Both), what, text })
    }

    /// SUBSTRING(s, from, length) and SUBSTRING(s FROM from FOR length)
    fn substring(&mut self) -> Result<Expr<'a>> {
        self.expect(Token::LeftParen)?;
        let mut args: ArenaVec<'a, Expr<'a>> = self.arena.list();
        args.push(self.expr()?);
        let mut height = self.height;
        let keyword = self.accept_kw(K::From);
        if !keyword {
            self.expect(Token::Comma)?;
        }
        args.push(self.expr()?);
        height = height.max(self.height);
        if (keyword && self.accept_kw(K::For)) || (!keyword && self.accept(Token::Comma)) {
            args.push(self.expr()?);
            height = height.max(self.height);
        }
        self.expect(Token::RightParen)?;
        self.grow(height)?;
        Ok(self.call("SUBSTRING", args.into_bump_slice()))
    }

    /// POSITION(a IN b)
    fn position(&mut self) -> Result<Expr<'a>> {
        self.expect(Token::LeftParen)?;
        let what = self.bit_expr()?;
        let height = self.height;
        self.expect_kw(K::In)?;
        let text = self.expr()?;
        self.expect(Token::RightParen)?;
        self.grow(height.max(self.height))?;
        Ok(self.call("LOCATE", self.arena.slice(&[what, text])))
    }

    /// DATE_ADD(d, INTERVAL n unit), ADDDATE(d, days)
    fn date_add(&mut self, subtract: bool) -> Result<Expr<'a>> {
        self.expect(Token::LeftParen)?;
        let date = self.expr()?;
        let height = self.height;
        self.expect(Token::Comma)?;
        let (amount, unit) = if self.at_kw(K::Interval) {
            match self.interval()? {
                Interval::Amount(amount, unit) => (amount, unit),
                Interval::Call(call) => (call, IntervalUnit::Day),
            }
        } else {
            (self.expr()?, IntervalUnit::Day)
        };
        self.expect(Token::RightParen)?;
        self.grow(height.max(self.height))?;
        Ok(Expr::DateArithmetic(self.arena.node(DateArithmetic { date, amount, unit, subtract })))
    }

    fn unit_call(&mut self, function: UnitFunction) -> Result<Expr<'a>> {
        self.expect(Token::LeftParen)?;
        // SQL_TSI_DAY is DAY.
        let unit = self.interval_unit()?;
        self.expect(Token::Comma)?;
        let first = self.expr()?;
        let height = self.height;
        self.expect(Token::Comma)?;
        let second = self.expr()?;
        self.expect(Token::RightParen)?;
        self.grow(height.max(self.height))?;
        Ok(Expr::UnitCall { function, unit, args: self.arena.node([first, second]) })
    }

    /// GET_FORMAT(DATE, 'USA'): the first argument becomes a string.
    fn get_format(&mut self, name: &'a str) -> Result<Expr<'a>> {
        self.expect(Token::LeftParen)?;
        let kind = self.ident()?;
        self.expect(Token::Comma)?;
        let format = self.expr()?;
        self.expect(Token::RightParen)?;
        self.grow(self.height)?;
        let kind = Expr::Literal(Literal::String(StringLiteral { bytes: kind.as_bytes(), charset: None }));
        Ok(self.call(name, self.arena.slice(&[kind, format])))
    }

    fn weight_string(&mut self, name: &'a str) -> Result<Expr<'a>> {
        self.expect(Token::LeftParen)?;
        let arg = self.expr()?;
        let mut form = None;
        if self.accept(Token::Comma) {
            // MySQL's own tests: the bytes of the answer, the characters that are weighed, flags.
            let mut args = vec![arg];
            for n in 0..3 {
                if n > 0 {
                    self.expect(Token::Comma)?;
                }
                args.push(Expr::Literal(Literal::Int(self.number_or_hex()?)));
            }
            self.expect(Token::RightParen)?;
            self.grow(self.height)?;
            return Ok(self.call(name, self.arena.slice(&args)));
        }
        if self.accept_kw(K::As) {
            form = match self.cast_target(self.start..self.start)? {
                CastTarget::Char { length: Some(length), charset: None, binary: false } => Some((&b"C"[..], length)),
                CastTarget::Binary { length: Some(length) } => Some((&b"B"[..], length)),
                _ => return Err(self.error()),
            };
        }
        self.expect(Token::RightParen)?;
        self.grow(self.height)?;
        let Some((kind, length)) = form else { return Ok(self.call(name, self.arena.slice(&[arg]))) };
        let kind = Expr::Literal(Literal::String(StringLiteral { bytes: kind, charset: None }));
        let length = Expr::Literal(Literal::Int(length.into()));
        Ok(self.call(name, self.arena.slice(&[arg, kind, length])))
    }

    fn match_against(&mut self) -> Result<Expr<'a>> {
        self.bump();
        let parens = self.accept(Token::LeftParen);
        let columns = self.list(|p| p.column_name())?;
        if parens {
            self.expect(Token::RightParen)?;
        }
        self.expect_word("AGAINST")?;
        self.expect(Token::LeftParen)?;
        let against = self.bit_expr()?;
        let mut mode = MatchMode::Natural;
        if self.accept_kw(K::In) {
            if self.accept_word("BOOLEAN") {
                self.expect_word("MODE")?;
                mode = MatchMode::Boolean;
            } else {
                self.expect_kw(K::Natural)?;
                self.expect_word("LANGUAGE")?;
                self.expect_word("MODE")?;
            }
        }
        if mode == MatchMode::Natural && self.accept_kw(K::With) {
            self.expect_word("QUERY")?;
            self.expect_word("EXPANSION")?;
            mode = MatchMode::Expansion;
        }
        self.expect(Token::RightParen)?;
        Ok(Expr::Match(self.arena.node(MatchAgainst { columns, against, mode })))
    }

    /// `INTERVAL n unit`; or the function of that name.
    pub(super) fn interval(&mut self) -> Result<Interval<'a>> {
        self.expect_kw(K::Interval)?;
        if !self.at(Token::LeftParen) {
            let amount = self.expr()?;
            return Ok(Interval::Amount(amount, self.interval_unit()?));
        }
        match self.paren_expr()? {
            Expr::Row(args) => Ok(Interval::Call(self.call("INTERVAL", args))),
            amount => Ok(Interval::Amount(amount, self.interval_unit()?)),
        }
    }

    pub(super) fn interval_unit(&mut self) -> Result<IntervalUnit> {
        use IntervalUnit as U;
        let unit = match self.token {
            Token::Keyword(keyword) => match keyword {
                K::SecondMicrosecond => U::SecondMicrosecond,
                K::MinuteMicrosecond => U::MinuteMicrosecond,
                K::MinuteSecond => U::MinuteSecond,
                K::HourMicrosecond => U::HourMicrosecond,
                K::HourSecond => U::HourSecond,
                K::HourMinute => U::HourMinute,
                K::DayMicrosecond => U::DayMicrosecond,
                K::DaySecond => U::DaySecond,
                K::DayMinute => U::DayMinute,
                K::DayHour => U::DayHour,
                K::YearMonth => U::YearMonth,
                _ => return Err(self.error()),
            },
            Token::Word(word) => {
                let mut buffer = [0; 24];
                let upper = uppercase(word, &mut buffer);
                match upper.strip_prefix(b"SQL_TSI_").unwrap_or(upper) {
                    b"MICROSECOND" => U::Microsecond,
                    b"SECOND" => U::Second,
                    b"MINUTE" => U::Minute,
                    b"HOUR" => U::Hour,
                    b"DAY" => U::Day,
                    b"WEEK" => U::Week,
                    b"MONTH" => U::Month,
                    b"QUARTER" => U::Quarter,
                    b"YEAR" => U::Year,
                    _ => return Err(self.error()),
                }
            }
            _ => return Err(self.error()),
        };
        self.bump();
        Ok(unit)
    }
}

/// Functions whose parenthesis must follow the name directly, unless IGNORE_SPACE is set.
fn is_adjacent(upper: &[u8]) -> bool {
    A::named(upper).is_some_and(|function| function.row().is_adjacent)
        || matches!(upper, b"ADDDATE" | b"CAST" | b"CURDATE" | b"CURTIME" | b"DATE_ADD" | b"DATE_SUB" | b"EXTRACT")
        || matches!(
            upper,
            b"MID"
                | b"NOW"
                | b"POSITION"
                | b"SESSION_USER"
                | b"SUBDATE"
                | b"SUBSTR"
                | b"SUBSTRING"
                | b"SYSDATE"
                | b"SYSTEM_USER"
                | b"TRIM"
        )
}

/// The number of arguments that the grammar requires. Other functions check the number later, with their own error.
fn arguments(upper: &[u8]) -> RangeInclusive<usize> {
    match upper {
        b"ASCII" | b"CHARSET" | b"COLLATION" | b"DATE" | b"DAY" | b"HOUR" | b"MICROSECOND" | b"MINUTE" | b"MONTH"
        | b"QUARTER" => 1..=1,
        b"REVERSE" | b"SECOND" | b"TIME" | b"YEAR" => 1..=1,
        b"TIMESTAMP" | b"WEEK" => 1..=2,
        b"FORMAT" => 2..=3,
        b"TRUNCATE" => 2..=2,
        b"ROW_COUNT" | b"USER" => 0..=0,
        b"COALESCE" => 1..=usize::MAX,
        _ => 0..=usize::MAX,
    }
}
