//! SELECT, set operations, WITH, VALUES.

use super::{Parser, QUERY_DEPTH, SELECT_COLUMNS_MAX};
use crate::arena::ArenaVec;
use crate::ast::*;
use crate::deprecated::Deprecated;
use crate::error::{Error, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;
use crate::plan::{LockWait, Locking};

impl<'a> Parser<'a> {
    /// A statement that begins with SELECT, WITH, VALUES, TABLE or a parenthesis. WITH may also begin UPDATE and DELETE.
    pub(super) fn query_statement(&mut self) -> Result<Statement<'a>> {
        if self.at_kw(K::With) {
            let with = self.with()?;
            if self.at_kw(K::Update) {
                return self.update(Some(with));
            }
            if self.at_kw(K::Delete) {
                return self.delete(Some(with));
            }
            return Ok(Statement::Query(self.query_with(Some(with))?));
        }
        Ok(Statement::Query(self.query()?))
    }

    /// A query expression.
    pub(super) fn query(&mut self) -> Result<&'a Query<'a>> {
        let with = if self.at_kw(K::With) { Some(self.with()?) } else { None };
        self.query_with(with)
    }

    fn query_with(&mut self, with: Option<With<'a>>) -> Result<&'a Query<'a>> {
        self.enter(QUERY_DEPTH)?;
        let first = self.query_primary()?;
        let query = self.query_tail(with, first)?;
        self.leave(QUERY_DEPTH);
        Ok(query)
    }

    /// The rest of a query whose first operand was in parentheses: UNION, ORDER BY, LIMIT.
    pub(super) fn query_behind(&mut self, first: QueryBody<'a>) -> Result<&'a Query<'a>> {
        self.query_tail(None, first)
    }

    fn query_tail(&mut self, with: Option<With<'a>>, first: QueryBody<'a>) -> Result<&'a Query<'a>> {
        let body = self.set_operations(first)?;
        let mut query = Query { with, body, order_by: &[], limit: None, locking: &[], into: self.early_into.take() };
        self.trailing_into(&mut query)?;
        if self.at_kw(K::Order) {
            query.order_by = self.order_by()?;
        }
        if self.at_kw(K::Limit) {
            query.limit = Some(self.limit()?);
        }
        if self.at_kw(K::Procedure) {
            return Err(Error::NotSupported("PROCEDURE ANALYSE".to_owned()));
        }
        self.trailing_into(&mut query)?;
        query.locking = self.locking()?;
        self.trailing_into(&mut query)?;
        // Parentheses around a whole query are dropped.
        if let Query { with: None, body: QueryBody::Query(inner), order_by: [], limit: None, locking: [], into: None } = query {
            return Ok(inner);
        }
        if has_into(&query.body) {
            return Err(Error::MisplacedInto);
        }
        Ok(self.arena.node(query))
    }

    /// Parses an optional INTO at a place that allows it; a query has at most one.
    fn trailing_into(&mut self, query: &mut Query<'a>) -> Result<()> {
        if !self.at_kw(K::Into) {
            return Ok(());
        }
        if query.into.is_some() {
            return Err(Error::SecondInto);
        }
        query.into = Some(self.select_into()?);
        Ok(())
    }

    /// `first UNION a EXCEPT b ...`: INTERSECT binds tighter.
    fn set_operations(&mut self, first: QueryBody<'a>) -> Result<QueryBody<'a>> {
        let first = self.intersections(first)?;
        if !self.at_kw(K::Union) && !self.at_kw(K::Except) {
            return Ok(first);
        }
        let mut rest: ArenaVec<'a, SetOperand<'a>> = self.arena.list();
        while self.at_kw(K::Union) || self.at_kw(K::Except) {
            let op = if self.at_kw(K::Union) { SetOp::Union } else { SetOp::Except };
            let all = self.set_quantifier()?;
            let operand = self.query_primary()?;
            rest.push(SetOperand { op, all, body: self.intersections(operand)? });
        }
        Ok(QueryBody::SetOperation { first: self.arena.node(first), rest: rest.into_bump_slice() })
    }

    fn intersections(&mut self, first: QueryBody<'a>) -> Result<QueryBody<'a>> {
        if !self.at_kw(K::Intersect) {
            return Ok(first);
        }
        let mut rest: ArenaVec<'a, SetOperand<'a>> = self.arena.list();
        while self.at_kw(K::Intersect) {
            let all = self.set_quantifier()?;
            rest.push(SetOperand { op: SetOp::Intersect, all, body: self.query_primary()? });
        }
        Ok(QueryBody::SetOperation { first: self.arena.node(first), rest: rest.into_bump_slice() })
    }

    /// UNION, EXCEPT or INTERSECT, and whether ALL follows. The query block before it has no INTO: only the last one may.
    fn set_quantifier(&mut self) -> Result<bool> {
        if self.early_into.is_some() {
            return Err(Error::MisplacedInto);
        }
        self.bump();
        let all = self.accept_kw(K::All);
        if !all {
            let _ = self.accept_kw(K::Distinct) || self.accept_kw(K::DistinctRow);
        }
        Ok(all)
    }

    fn query_primary(&mut self) -> Result<QueryBody<'a>> {
        match self.token {
            Token::Keyword(K::Select) => Ok(QueryBody::Select(self.select()?)),
            Token::LeftParen => Ok(QueryBody::Query(self.operand_in_parens()?)),
            Token::Keyword(K::Values) => {
                self.bump();
                let rows = self.list(|p| {
                    p.expect_kw(K::Row)?;
                    p.paren_list(|p| p.expr())
                })?;
                Ok(QueryBody::Values(rows))
            }
            Token::Keyword(K::Table) => {
                self.bump();
                self.count_table()?;
                Ok(QueryBody::Table(self.object_name()?))
            }
            _ => Err(self.error()),
        }
    }

    /// `(query)` within a statement, where INTO is not allowed.
    pub(super) fn paren_query(&mut self) -> Result<&'a Query<'a>> {
        let query = self.operand_in_parens()?;
        if query.into.is_some() { Err(Error::MisplacedInto) } else { Ok(query) }
    }

    /// `(query)`, which may turn out to be the whole statement.
    fn operand_in_parens(&mut self) -> Result<&'a Query<'a>> {
        self.expect(Token::LeftParen)?;
        let query = self.query()?;
        self.expect(Token::RightParen)?;
        Ok(query)
    }

    /// The next tokens are a parenthesis and the beginning of a query.
    pub(super) fn at_query_in_parens(&self) -> bool {
        if !self.at(Token::LeftParen) {
            return false;
        }
        let mut lexer = self.lexer;
        match lexer.next().0 {
            Token::Keyword(K::Select | K::With | K::Table) => true,
            Token::Keyword(K::Values) => lexer.next().0 == Token::Keyword(K::Row),
            _ => false,
        }
    }

    fn with(&mut self) -> Result<With<'a>> {
        self.expect_kw(K::With)?;
        let recursive = self.accept_kw(K::Recursive);
        let tables = self.list(|p| {
            let name = p.ident()?;
            let columns: &[&str] = if p.at(Token::LeftParen) { p.paren_list(Self::name_of_any_length)? } else { &[] };
            p.expect_kw(K::As)?;
            Ok(CommonTable { name, columns, query: p.paren_query()? })
        })?;
        Ok(With { recursive, tables })
    }

    fn select(&mut self) -> Result<&'a Select<'a>> {
        self.bump();
        let mut select = Select {
            distinct: false,
            straight_join: false,
            calc_found_rows: false,
            items: &[],
            from: &[],
            filter: None,
            group_by: &[],
            with_rollup: false,
            having: None,
            windows: &[],
        };
        self.select_options(&mut select)?;
        select.items = self.select_items()?;
        // INTO before FROM. It is kept here until the block's end: the queries within the block have none.
        let into = if self.at_kw(K::Into) { Some(self.select_into()?) } else { None };
        if self.at_kw(K::From) {
            self.bump();
            if !self.accept_kw(K::Dual) {
                select.from = self.table_references()?;
            }
        }
        if self.accept_kw(K::Where) {
            select.filter = Some(self.expr_ref()?);
        }
        if self.accept_kw(K::Group) {
            self.expect_kw(K::By)?;
            select.with_rollup = self.at_word("ROLLUP") && self.peek() == Token::LeftParen;
            if select.with_rollup {
                self.bump();
                self.bump();
                select.group_by = self.order_items()?;
                self.expect(Token::RightParen)?;
            } else {
                select.group_by = self.order_items()?;
            }
            if !select.with_rollup && self.at_kw(K::With) && self.peek_word("ROLLUP") {
                self.bump();
                self.bump();
                select.with_rollup = true;
            }
        }
        if self.accept_kw(K::Having) {
            select.having = Some(self.expr_ref()?);
        }
        if self.accept_kw(K::Window) {
            select.windows = self.list(|p| {
                let name = p.name_of_any_length()?;
                p.expect_kw(K::As)?;
                Ok((name, p.window_spec()?))
            })?;
        }
        self.early_into = into;
        Ok(self.arena.node(select))
    }

    fn select_options(&mut self, select: &mut Select<'a>) -> Result<()> {
        let mut all = false;
        loop {
            all |= self.token == Token::Keyword(K::All);
            match self.token {
                Token::Keyword(K::Distinct | K::DistinctRow) => select.distinct = true,
                Token::Keyword(K::StraightJoin) => select.straight_join = true,
                Token::Keyword(K::SqlCalcFoundRows) => {
                    self.deprecated_token(Deprecated::CalcFoundRows);
                    select.calc_found_rows = true;
                }
                Token::Word(word) if word.eq_ignore_ascii_case(b"SQL_NO_CACHE") => self.deprecated_token(Deprecated::NoCache),
                Token::Keyword(K::All | K::HighPriority | K::SqlSmallResult | K::SqlBigResult) => {}
                Token::Word(word)
                    if word.len() > 8
                        && (word.eq_ignore_ascii_case(b"SQL_CACHE") || word.eq_ignore_ascii_case(b"SQL_BUFFER_RESULT")) => {}
                _ if all && select.distinct => return Err(Error::WrongUsage("ALL", "DISTINCT")),
                _ => return Ok(()),
            }
            self.bump();
        }
    }

    fn select_items(&mut self) -> Result<&'a [SelectItem<'a>]> {
        let mut items: ArenaVec<'a, SelectItem<'a>> = self.arena.list();
        if self.accept(Token::Star) {
            items.push(SelectItem::All);
            if !self.accept(Token::Comma) {
                return Ok(items.into_bump_slice());
            }
        }
        loop {
            items.push(self.select_item()?);
            if items.len() > SELECT_COLUMNS_MAX {
                return Err(Error::TooManyColumns);
            }
            if !self.accept(Token::Comma) {
                return Ok(items.into_bump_slice());
            }
        }
    }

    fn select_item(&mut self) -> Result<SelectItem<'a>> {
        if self.at_ident()
            && self.peek() == Token::Dot
            && let Some(name) = self.table_star()?
        {
            return Ok(SelectItem::TableAll(name));
        }
        let start = self.start;
        let expr = self.expr()?;
        // The name of an expression is text, even if a string literal in it is not UTF-8.
        let text = match std::str::from_utf8(&self.text[start..self.previous_end]) {
            Ok(text) => text,
            Err(_) => self.arena.text(&String::from_utf8_lossy(&self.text[start..self.previous_end])),
        };
        let alias = self.select_alias()?;
        Ok(SelectItem::Expr { expr, alias, text })
    }

    /// `t.*` and `d.t.*`; consumes nothing if it is something else.
    fn table_star(&mut self) -> Result<Option<ObjectName<'a>>> {
        let mut lexer = self.lexer;
        lexer.next();
        match lexer.next().0 {
            Token::Star => {}
            Token::Word(_) | Token::Quoted { .. } | Token::Underscore(_)
                if lexer.next().0 == Token::Dot && lexer.next().0 == Token::Star => {}
            _ => return Ok(None),
        }
        let first = self.name_of_any_length()?;
        self.bump();
        if self.accept(Token::Star) {
            return Ok(Some(ObjectName { database: None, name: first }));
        }
        let name = self.name_of_any_length()?;
        self.bump();
        self.bump();
        Ok(Some(ObjectName { database: Some(first), name }))
    }

    fn select_alias(&mut self) -> Result<Option<&'a str>> {
        if self.accept_kw(K::As) {
            return Ok(Some(self.alias_name()?));
        }
        match self.token {
            Token::Word(_) | Token::Quoted { .. } | Token::Underscore(_) | Token::String { .. } => Ok(Some(self.alias_name()?)),
            _ => Ok(None),
        }
    }

    /// Aliases of columns may be strings, and longer than names.
    fn alias_name(&mut self) -> Result<&'a str> {
        if let Token::String { .. } = self.token {
            let bytes = self.string()?;
            return match std::str::from_utf8(bytes) {
                Ok(name) => Ok(name),
                Err(_) => self.utf8(bytes),
            };
        }
        self.name_of_any_length()
    }

    /// ORDER BY a, b DESC
    pub(super) fn order_by(&mut self) -> Result<&'a [OrderItem<'a>]> {
        self.expect_kw(K::Order)?;
        self.expect_kw(K::By)?;
        self.order_items()
    }

    fn order_items(&mut self) -> Result<&'a [OrderItem<'a>]> {
        self.list(|p| {
            let expr = p.expr()?;
            let descending = p.accept_kw(K::Desc);
            if !descending {
                p.accept_kw(K::Asc);
            }
            Ok(OrderItem { expr, descending })
        })
    }

    /// LIMIT n, LIMIT offset, n, LIMIT n OFFSET offset
    pub(super) fn limit(&mut self) -> Result<Limit<'a>> {
        self.expect_kw(K::Limit)?;
        let first = self.limit_number()?;
        if self.accept(Token::Comma) {
            return Ok(Limit { offset: Some(first), count: self.limit_number()? });
        }
        let offset = if self.accept_word("OFFSET") { Some(self.limit_number()?) } else { None };
        Ok(Limit { offset, count: first })
    }

    pub(super) fn limit_number(&mut self) -> Result<Expr<'a>> {
        match self.token {
            Token::Param => self.simple_expr(),
            Token::Word(_) | Token::Quoted { .. } => {
                let from = self.start;
                let name = self.ident()?;
                let slot = self.names.find(name).ok_or_else(|| Error::Undeclared(name.to_owned()))?;
                if !self.names.is_integer(slot) {
                    return Err(Error::NoInteger { name: name.to_owned(), near: self.near_of(from), line: self.line_of(from) });
                }
                Ok(Expr::Local { slot, name })
            }
            _ => Ok(Expr::Literal(Literal::Int(self.number()?))),
        }
    }

    fn locking(&mut self) -> Result<&'a [LockClause<'a>]> {
        let mut clauses: ArenaVec<'a, LockClause<'a>> = self.arena.list();
        loop {
            let mut clause = LockClause { locking: Locking::Share, wait: LockWait::Wait, of: &[] };
            if self.at_kw(K::Lock) {
                self.bump();
                self.expect_kw(K::In)?;
                self.expect_word("SHARE")?;
                self.expect_word("MODE")?;
                clauses.push(clause);
                continue;
            }
            if !self.at_kw(K::For) {
                return Ok(clauses.into_bump_slice());
            }
            self.bump();
            if self.accept_kw(K::Update) {
                clause.locking = Locking::Update;
            } else {
                self.expect_word("SHARE")?;
            }
            if self.accept_kw(K::Of) {
                clause.of = self.list(|p| p.object_name())?;
            }
            if self.accept_word("NOWAIT") {
                clause.wait = LockWait::NoWait;
            } else if self.accept_word("SKIP") {
                self.expect_word("LOCKED")?;
                clause.wait = LockWait::SkipLocked;
            }
            clauses.push(clause);
        }
    }

    fn select_into(&mut self) -> Result<SelectInto<'a>> {
        self.expect_kw(K::Into)?;
        if self.accept_kw(K::OutFile) {
            let path = self.string()?;
            let charset = self.file_charset()?;
            let format = self.file_format()?;
            return Ok(SelectInto::OutFile(self.arena.node(OutFile { path, charset, format })));
        }
        if self.accept_word("DUMPFILE") {
            return Ok(SelectInto::DumpFile(self.string()?));
        }
        Ok(SelectInto::Variables(self.list(|p| p.target_variable())?))
    }

    /// A variable that takes a value: a program variable or a user variable.
    pub(super) fn target_variable(&mut self) -> Result<IntoTarget<'a>> {
        if !self.at_ident() {
            return self.user_variable().map(IntoTarget::User);
        }
        let name = self.ident()?;
        self.names.find(name).map(IntoTarget::Local).ok_or_else(|| Error::Undeclared(name.to_owned()))
    }

    /// Notes one more table in the FROM clause.
    pub(super) fn count_table(&mut self) -> Result<()> {
        self.tables += 1;
        if self.tables > super::TABLES_MAX { Err(Error::TooManyTables) } else { Ok(()) }
    }
}

/// Has an operand in parentheses an INTO?
fn has_into(body: &QueryBody<'_>) -> bool {
    match body {
        QueryBody::Query(query) => query.into.is_some(),
        QueryBody::SetOperation { first, rest } => has_into(first) || rest.iter().any(|operand| has_into(&operand.body)),
        _ => false,
    }
}
