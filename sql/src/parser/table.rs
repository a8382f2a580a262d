//! FROM: table references and joins.

use super::{Parser, QUERY_DEPTH};
use crate::arena::ArenaVec;
use crate::ast::*;
use crate::error::{Error, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;

impl<'a> Parser<'a> {
    /// `a, b JOIN c ON ..., d`
    pub(super) fn table_references(&mut self) -> Result<&'a [TableRef<'a>]> {
        self.enter(QUERY_DEPTH)?;
        let outer = std::mem::take(&mut self.tables);
        let tables = self.list(|p| p.table_reference())?;
        self.tables = outer;
        self.leave(QUERY_DEPTH);
        Ok(tables)
    }

    /// A table with the joins behind it. Joins lean left: `a JOIN b ON .. JOIN c ON ..` is `(a JOIN b) JOIN c`; a join whose ON
    /// comes later (`a JOIN b JOIN c ON .. ON ..`) nests to the right.
    fn table_reference(&mut self) -> Result<TableRef<'a>> {
        let left = self.table_factor()?;
        self.joins_behind(left)
    }

    fn joins_behind(&mut self, mut left: TableRef<'a>) -> Result<TableRef<'a>> {
        while let Some((kind, natural)) = self.join_kind()? {
            left = self.join_tail(left, kind, natural)?;
        }
        Ok(left)
    }

    fn join_tail(&mut self, left: TableRef<'a>, kind: JoinKind, natural: bool) -> Result<TableRef<'a>> {
        let mut right = self.table_factor()?;
        if natural {
            return Ok(self.join(kind, left, right, JoinCondition::Natural));
        }
        // The right side grows until a condition ends it.
        while self.at_join() {
            self.enter(2)?;
            let Some((inner, inner_natural)) = self.join_kind()? else { break };
            right = self.join_tail(right, inner, inner_natural)?;
            self.leave(2);
        }
        let condition = if self.accept_kw(K::On) {
            JoinCondition::On(self.expr_ref()?)
        } else if self.accept_kw(K::Using) {
            JoinCondition::Using(self.paren_list(|p| p.ident())?)
        } else if matches!(kind, JoinKind::Left | JoinKind::Right) {
            return Err(self.error());
        } else {
            // Without a condition `a JOIN b LEFT JOIN c ON ..` means `(a JOIN b) LEFT JOIN c ON ..`.
            return Ok(self.join_leftmost(kind, left, right));
        };
        Ok(self.join(kind, left, right, condition))
    }

    fn join_leftmost(&self, kind: JoinKind, left: TableRef<'a>, right: TableRef<'a>) -> TableRef<'a> {
        match right {
            TableRef::Join(join) => {
                let inner = self.join_leftmost(kind, left, join.left);
                TableRef::Join(self.arena.node(Join { left: inner, ..*join }))
            }
            _ => self.join(kind, left, right, JoinCondition::None),
        }
    }

    fn join(&self, kind: JoinKind, left: TableRef<'a>, right: TableRef<'a>, condition: JoinCondition<'a>) -> TableRef<'a> {
        TableRef::Join(self.arena.node(Join { kind, left, right, condition }))
    }

    fn at_join(&self) -> bool {
        matches!(self.token, Token::Keyword(K::Join | K::Inner | K::Cross | K::Left | K::Right | K::Natural | K::StraightJoin))
    }

    /// The words before the right side of a join, if there is one.
    fn join_kind(&mut self) -> Result<Option<(JoinKind, bool)>> {
        if !self.at_join() {
            return Ok(None);
        }
        if self.accept_kw(K::StraightJoin) {
            return Ok(Some((JoinKind::Straight, false)));
        }
        let natural = self.accept_kw(K::Natural);
        let kind = match self.token {
            Token::Keyword(K::Left) => JoinKind::Left,
            Token::Keyword(K::Right) => JoinKind::Right,
            _ => JoinKind::Inner,
        };
        match self.token {
            Token::Keyword(K::Left | K::Right) => {
                self.bump();
                self.accept_kw(K::Outer);
            }
            Token::Keyword(K::Inner) => self.bump(),
            Token::Keyword(K::Cross) if !natural => self.bump(),
            _ => {}
        }
        self.expect_kw(K::Join)?;
        Ok(Some((kind, natural)))
    }

    fn table_factor(&mut self) -> Result<TableRef<'a>> {
        self.count_table()?;
        match self.token {
            Token::LeftParen => match self.in_parens()? {
                InParens::Query(query) => self.derived(query, false),
                InParens::Table(table) => Ok(table),
            },
            Token::Keyword(K::Lateral) => {
                self.bump();
                let query = self.paren_query()?;
                self.derived(query, true)
            }
            Token::Keyword(K::JsonTable) => self.json_table(),
            // ODBC: { OJ a LEFT JOIN b ON ... }
            Token::LeftBrace => {
                self.bump();
                self.ident()?;
                self.enter(QUERY_DEPTH)?;
                let table = self.table_reference()?;
                self.leave(QUERY_DEPTH);
                self.expect(Token::RightBrace)?;
                Ok(table)
            }
            _ => self.named_table(),
        }
    }

    /// `(SELECT ...)`, `(a, b JOIN c)`, and both in more parentheses: `((SELECT 1) UNION (SELECT 2))`, `((SELECT 1) t,
    /// u)`. Only the text after the inner parenthesis shows which of them it is.
    fn in_parens(&mut self) -> Result<InParens<'a>> {
        if self.at_query_in_parens() {
            return Ok(InParens::Query(self.paren_query()?));
        }
        self.enter(QUERY_DEPTH)?;
        self.bump();
        let first = match self.token {
            Token::LeftParen => match self.in_parens()? {
                InParens::Query(query) if self.at_kw(K::As) || self.at_ident() => {
                    let table = self.derived(query, false)?;
                    self.joins_behind(table)?
                }
                InParens::Query(query) => {
                    let query = self.query_behind(QueryBody::Query(query))?;
                    self.expect(Token::RightParen)?;
                    self.leave(QUERY_DEPTH);
                    return Ok(InParens::Query(query));
                }
                InParens::Table(table) => self.joins_behind(table)?,
            },
            _ => self.table_reference()?,
        };
        let mut tables: ArenaVec<'a, TableRef<'a>> = self.arena.list();
        tables.push(first);
        while self.accept(Token::Comma) {
            tables.push(self.table_reference()?);
        }
        self.expect(Token::RightParen)?;
        self.leave(QUERY_DEPTH);
        Ok(InParens::Table(match tables.into_bump_slice() {
            // The parentheses of a join stay: they limit the names that its ON may use.
            [one] if !matches!(one, TableRef::Join(_)) => *one,
            tables => TableRef::List(tables),
        }))
    }

    fn derived(&mut self, query: &'a Query<'a>, lateral: bool) -> Result<TableRef<'a>> {
        self.accept_kw(K::As);
        if !self.at_ident() {
            return Err(Error::DerivedWithoutAlias);
        }
        let alias = self.name_of_any_length()?;
        let columns: &[&str] = if self.at(Token::LeftParen) { self.paren_list(Self::name_of_any_length)? } else { &[] };
        Ok(TableRef::Derived { query, alias, columns, lateral })
    }

    fn named_table(&mut self) -> Result<TableRef<'a>> {
        let name = self.object_name()?;
        let mut partitions: &[&str] = &[];
        if self.at_kw(K::Partition) {
            self.bump();
            partitions = self.paren_list(|p| p.ident())?;
        }
        let as_of = self.as_of()?;
        let alias = self.table_alias()?;
        let hints = self.index_hints()?;
        Ok(TableRef::Table(self.arena.node(TableName { name, alias, partitions, as_of, hints })))
    }

    /// AS OF TIMESTAMP expr: read as UNIX_TIMESTAMP(expr).
    fn as_of(&mut self) -> Result<Option<Expr<'a>>> {
        if !self.at_kw(K::As) || !self.peek_kw(K::Of) {
            return Ok(None);
        }
        self.bump();
        self.bump();
        self.expect_word("TIMESTAMP")?;
        let moment = self.expr()?;
        Ok(Some(self.unix_timestamp(moment)))
    }

    pub(super) fn table_alias(&mut self) -> Result<Option<&'a str>> {
        if self.accept_kw(K::As) || self.at_ident() {
            return Ok(Some(self.name_of_any_length()?));
        }
        Ok(None)
    }

    /// USE INDEX (a, b), FORCE INDEX FOR JOIN (c), IGNORE KEY ()
    fn index_hints(&mut self) -> Result<&'a [IndexHint<'a>]> {
        let mut hints: ArenaVec<'a, IndexHint<'a>> = self.arena.list();
        loop {
            let kind = match self.token {
                Token::Keyword(K::Use) => IndexHintKind::Use,
                Token::Keyword(K::Force) => IndexHintKind::Force,
                Token::Keyword(K::Ignore) => IndexHintKind::Ignore,
                _ => return Ok(hints.into_bump_slice()),
            };
            self.bump();
            if !self.accept_kw(K::Index) {
                self.expect_kw(K::Key)?;
            }
            let mut scope = IndexHintScope::All;
            if self.accept_kw(K::For) {
                scope = if self.accept_kw(K::Join) {
                    IndexHintScope::Join
                } else if self.accept_kw(K::Order) {
                    self.expect_kw(K::By)?;
                    IndexHintScope::OrderBy
                } else {
                    self.expect_kw(K::Group)?;
                    self.expect_kw(K::By)?;
                    IndexHintScope::GroupBy
                };
            }
            self.expect(Token::LeftParen)?;
            let indexes: &[&str] = if self.at(Token::RightParen) { &[] } else { self.list(|p| p.key_name())? };
            self.expect(Token::RightParen)?;
            hints.push(IndexHint { kind, scope, indexes });
        }
    }

    /// A key's name: PRIMARY is one.
    pub(super) fn key_name(&mut self) -> Result<&'a str> {
        if self.accept_kw(K::Primary) {
            return Ok("PRIMARY");
        }
        self.ident()
    }
}

/// The content of a parenthesis in FROM.
enum InParens<'a> {
    Query(&'a Query<'a>),
    Table(TableRef<'a>),
}
