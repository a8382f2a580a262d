//! INSERT, REPLACE, UPDATE, DELETE.

use super::{COLUMNS_MAX, Parser, Repeated};
use crate::arena::ArenaVec;
use crate::ast::*;
use crate::error::{Error, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;

impl<'a> Parser<'a> {
    /// INSERT and REPLACE in all their forms.
    pub(super) fn insert(&mut self) -> Result<Statement<'a>> {
        let replace = self.at_kw(K::Replace);
        self.bump();
        while self.accept_kw(K::LowPriority) || self.accept_kw(K::Delayed) || self.accept_kw(K::HighPriority) {}
        let ignore = self.accept_kw(K::Ignore);
        self.accept_kw(K::Into);
        let table = self.object_name()?;
        let mut insert = Insert {
            replace,
            ignore,
            table,
            partitions: &[],
            columns: None,
            source: InsertSource::Values(&[]),
            row_alias: None,
            on_duplicate: &[],
        };
        if self.accept_kw(K::Partition) {
            insert.partitions = self.paren_list(|p| p.ident())?;
        }
        if self.at(Token::LeftParen) && !self.at_query_in_parens() && !self.peek_is_query_paren() {
            // Empty parentheses are as none.
            insert.columns = Some(self.insert_columns()?).filter(|columns| !columns.is_empty());
        }
        insert.source = self.insert_source()?;
        if self.at_kw(K::As) && !replace {
            insert.row_alias = Some(self.row_alias()?);
        }
        if self.at_kw(K::On) && !replace {
            self.bump();
            self.expect_word("DUPLICATE")?;
            self.expect_kw(K::Key)?;
            self.expect_kw(K::Update)?;
            insert.on_duplicate = self.assignments()?;
        }
        if self.at_word("RETURNING") {
            return Err(Error::NotSupported("RETURNING".to_owned()));
        }
        Ok(Statement::Insert(self.arena.node(insert)))
    }

    /// `((SELECT ...` as the source of an INSERT.
    fn peek_is_query_paren(&self) -> bool {
        let mut lexer = self.lexer;
        let mut token = lexer.next().0;
        let nested = token == Token::LeftParen;
        while token == Token::LeftParen {
            token = lexer.next().0;
        }
        nested && matches!(token, Token::Keyword(K::Select | K::With))
    }

    fn insert_columns(&mut self) -> Result<&'a [ColumnName<'a>]> {
        self.bump();
        if self.accept(Token::RightParen) {
            return Ok(&[]);
        }
        let columns = self.list(|p| p.column_name())?;
        self.expect(Token::RightParen)?;
        if columns.len() > COLUMNS_MAX {
            return Err(Error::TooManyColumns);
        }
        Ok(columns)
    }

    fn insert_source(&mut self) -> Result<InsertSource<'a>> {
        match self.token {
            Token::Keyword(K::Values) if self.peek_kw(K::Row) => {
                self.bump();
                self.row_constructors()
            }
            Token::Keyword(K::Values) => {
                self.bump();
                self.insert_rows()
            }
            Token::Word(word) if word.eq_ignore_ascii_case(b"VALUE") => {
                self.bump();
                self.insert_rows()
            }
            Token::Keyword(K::Set) => {
                self.bump();
                Ok(InsertSource::Set(self.assignments()?))
            }
            Token::Keyword(K::Select | K::With | K::Table) | Token::LeftParen => Ok(InsertSource::Query(self.query()?)),
            _ => Err(self.error()),
        }
    }

    /// `ROW(...), ROW(...)`: rows, or the beginning of a query.
    fn row_constructors(&mut self) -> Result<InsertSource<'a>> {
        let rows = self.list(|p| {
            p.expect_kw(K::Row)?;
            p.expect(Token::LeftParen)?;
            let row: &[Expr<'a>] = if p.at(Token::RightParen) { &[] } else { p.list(|p| p.expr())? };
            p.expect(Token::RightParen)?;
            Ok(row)
        })?;
        match self.token {
            Token::Keyword(K::Union | K::Except | K::Intersect | K::Order | K::Limit) => {
                Ok(InsertSource::Query(self.query_behind(QueryBody::Values(rows))?))
            }
            // A row alias may follow only rows in parentheses.
            Token::Keyword(K::As) => Err(self.error()),
            _ => Ok(InsertSource::Values(rows)),
        }
    }

    fn insert_rows(&mut self) -> Result<InsertSource<'a>> {
        let mut alike = AlikeRows::default();
        let rows = self.list(|p| {
            p.expect(Token::LeftParen)?;
            if p.accept(Token::RightParen) {
                alike.end();
                return Ok(&[] as &[Expr<'a>]);
            }
            let row = p.list(|p| {
                let (first, start, end) = (p.token, p.start, p.lexer.position());
                let expr = p.expr()?;
                let is_signed = || matches!(first, Token::Minus | Token::Plus) && is_number(&p.text[start + 1..p.previous_end]);
                if !(is_literal(first) && p.previous_end == end || is_signed()) {
                    alike.end();
                }
                Ok(expr)
            })?;
            p.expect(Token::RightParen)?;
            if row.len() > COLUMNS_MAX {
                return Err(Error::TooManyColumns);
            }
            alike.add(row.len(), p);
            Ok(row)
        })?;
        self.repeated = alike.repeated();
        Ok(InsertSource::Values(rows))
    }

    fn row_alias(&mut self) -> Result<RowAlias<'a>> {
        self.bump();
        let name = self.ident()?;
        let columns: &[&str] = if self.at(Token::LeftParen) { self.paren_list(|p| p.ident())? } else { &[] };
        Ok(RowAlias { name, columns })
    }

    /// `a = 1, t.b = DEFAULT`
    pub(super) fn assignments(&mut self) -> Result<&'a [Assignment<'a>]> {
        self.list(|p| {
            let column = p.column_name()?;
            if !p.accept(Token::Equal) {
                p.expect(Token::Assign)?;
            }
            Ok(Assignment { column, value: p.expr()? })
        })
    }

    pub(super) fn update(&mut self, with: Option<With<'a>>) -> Result<Statement<'a>> {
        self.bump();
        self.accept_kw(K::LowPriority);
        let ignore = self.accept_kw(K::Ignore);
        let tables = self.table_references()?;
        self.expect_kw(K::Set)?;
        let assignments = self.assignments()?;
        let (filter, order_by, limit) = self.dml_tail()?;
        Ok(Statement::Update(self.arena.node(Update { with, ignore, tables, assignments, filter, order_by, limit })))
    }

    /// WHERE, ORDER BY, LIMIT of UPDATE and DELETE.
    // Three clauses, for two callers that store each in a field of their own.
    #[allow(clippy::type_complexity)]
    fn dml_tail(&mut self) -> Result<(Option<&'a Expr<'a>>, &'a [OrderItem<'a>], Option<Limit<'a>>)> {
        let filter = if self.accept_kw(K::Where) { Some(self.expr_ref()?) } else { None };
        let order_by: &[OrderItem<'a>] = if self.at_kw(K::Order) { self.order_by()? } else { &[] };
        // Without an offset.
        let limit = if self.accept_kw(K::Limit) { Some(Limit { offset: None, count: self.limit_number()? }) } else { None };
        if self.at_word("RETURNING") {
            return Err(Error::NotSupported("RETURNING".to_owned()));
        }
        Ok((filter, order_by, limit))
    }

    /// `DELETE FROM t`, `DELETE t, u FROM ...`, `DELETE FROM t, u USING ...`
    pub(super) fn delete(&mut self, with: Option<With<'a>>) -> Result<Statement<'a>> {
        self.bump();
        let mut ignore = false;
        loop {
            if self.accept_kw(K::Ignore) {
                ignore = true;
            } else if !self.accept_kw(K::LowPriority) && !self.accept_word("QUICK") {
                break;
            }
        }
        let mut delete = Delete { with, ignore, targets: &[], from: &[], filter: None, order_by: &[], limit: None };
        if !self.accept_kw(K::From) {
            delete.targets = self.list(|p| p.delete_target())?;
            self.expect_kw(K::From)?;
            delete.from = self.table_references()?;
        } else {
            self.delete_from(&mut delete)?;
        }
        (delete.filter, delete.order_by, delete.limit) = self.dml_tail()?;
        Ok(Statement::Delete(self.arena.node(delete)))
    }

    fn delete_from(&mut self, delete: &mut Delete<'a>) -> Result<()> {
        let first = self.delete_target()?;
        let mut targets: ArenaVec<'a, ObjectName<'a>> = self.arena.list();
        targets.push(first);
        while self.accept(Token::Comma) {
            targets.push(self.delete_target()?);
        }
        if self.accept_kw(K::Using) {
            delete.targets = targets.into_bump_slice();
            delete.from = self.table_references()?;
            return Ok(());
        }
        if targets.len() > 1 {
            return Err(self.error());
        }
        let partitions: &[&str] = if self.accept_kw(K::Partition) { self.paren_list(|p| p.ident())? } else { &[] };
        let alias = self.table_alias()?;
        let table = TableRef::Table(self.arena.node(TableName { name: first, alias, partitions, as_of: None, hints: &[] }));
        delete.from = self.arena.slice(&[table]);
        Ok(())
    }

    /// `t`, `d.t`, `t.*`
    fn delete_target(&mut self) -> Result<ObjectName<'a>> {
        let first = self.ident()?;
        let mut name = ObjectName { database: None, name: first };
        while self.accept(Token::Dot) {
            if self.accept(Token::Star) {
                break;
            }
            name = ObjectName { database: Some(name.name), name: self.ident()? };
        }
        Ok(name)
    }
}

/// The first rows of VALUES that have one digest.
#[derive(Default)]
struct AlikeRows {
    count: usize,
    /// Each has one value.
    are_single: bool,
    is_over: bool,
    /// Where the second row ends.
    second_end: usize,
    last_end: usize,
}

impl AlikeRows {
    /// The next row is another.
    fn end(&mut self) {
        self.is_over = true;
    }

    /// A row that the parser has just read.
    fn add(&mut self, values: usize, parser: &Parser<'_>) {
        let is_single = values == 1;
        // There may be a version comment between tokens, whose content is parsed.
        let behind = &parser.text[parser.previous_end..parser.start];
        self.is_over |= self.count > 0 && is_single != self.are_single
            || parser.lexer.is_in_comment()
            || !behind.iter().all(u8::is_ascii_whitespace);
        if self.is_over {
            return;
        }
        self.count += 1;
        (self.are_single, self.last_end) = (is_single, parser.previous_end);
        if self.count == 2 {
            self.second_end = parser.previous_end;
        }
    }

    fn repeated(&self) -> Repeated {
        match self.count {
            0..=2 => Repeated::default(),
            _ => Repeated { start: self.second_end, end: self.last_end },
        }
    }
}

fn is_literal(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Int(_)
            | Token::Decimal(_)
            | Token::Double(_)
            | Token::Hex(_)
            | Token::Bits(_)
            | Token::String { .. }
            | Token::Param
            | Token::Keyword(K::Null)
    )
}

/// Digits, with a point perhaps.
fn is_number(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}
