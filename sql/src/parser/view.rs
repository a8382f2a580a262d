//! CREATE VIEW, ALTER VIEW.

use super::Parser;
use crate::ast::*;
use crate::error::Result;
use crate::keyword::Keyword as K;
use crate::lexer::Token;
use types::schema::{CheckOption, ViewAlgorithm};

impl<'a> Parser<'a> {
    /// Behind CREATE or ALTER: `[OR REPLACE] [ALGORITHM = x] [DEFINER = user] [SQL SECURITY x] VIEW [IF NOT EXISTS] name [(columns)] AS
    /// query [WITH x CHECK OPTION]`
    pub(super) fn create_view(&mut self, mut form: ViewForm) -> Result<Statement<'a>> {
        if form == ViewForm::Create && self.accept_kw(K::Or) {
            self.expect_kw(K::Replace)?;
            form = ViewForm::OrReplace;
        }
        let algorithm = self.view_algorithm()?;
        let definer = self.definer()?;
        let invoker = self.sql_security()?;
        self.expect_word("VIEW")?;
        if form == ViewForm::Create && self.if_not_exists()? {
            form = ViewForm::IfNotExists;
        }
        let name = self.object_name()?;
        let columns = if self.at(Token::LeftParen) { self.paren_list(|p| p.ident())? } else { &[] };
        self.expect_kw(K::As)?;
        let query = self.query()?;
        let check = self.check_option()?;
        let view = CreateView { name, form, algorithm, definer, invoker, columns, query, check };
        Ok(Statement::CreateView(self.arena.node(view)))
    }

    fn view_algorithm(&mut self) -> Result<ViewAlgorithm> {
        if !self.accept_word("ALGORITHM") {
            return Ok(ViewAlgorithm::Undefined);
        }
        self.expect(Token::Equal)?;
        for algorithm in [ViewAlgorithm::Undefined, ViewAlgorithm::Merge, ViewAlgorithm::TempTable] {
            if self.accept_word(algorithm.name()) {
                return Ok(algorithm);
            }
        }
        Err(self.error())
    }

    /// `DEFINER = user`; `None`: the current user.
    pub(super) fn definer(&mut self) -> Result<Option<(&'a str, &'a str)>> {
        if !self.accept_word("DEFINER") {
            return Ok(None);
        }
        self.expect(Token::Equal)?;
        if self.accept_kw(K::CurrentUser) {
            if self.accept(Token::LeftParen) {
                self.expect(Token::RightParen)?;
            }
            return Ok(None);
        }
        let user = self.ident_or_string()?;
        let host = match self.token {
            Token::Variable(_) | Token::QuotedVariable { .. } => self.user_variable()?,
            _ => "%",
        };
        Ok(Some((user, host)))
    }

    /// `SQL SECURITY x`: is it INVOKER?
    fn sql_security(&mut self) -> Result<bool> {
        if !self.accept_kw(K::Sql) {
            return Ok(false);
        }
        self.expect_word("SECURITY")?;
        if self.accept_word("INVOKER") {
            return Ok(true);
        }
        self.expect_word("DEFINER").map(|()| false)
    }

    fn check_option(&mut self) -> Result<CheckOption> {
        if !self.accept_kw(K::With) {
            return Ok(CheckOption::None);
        }
        let check = match () {
            () if self.accept_word("LOCAL") => CheckOption::Local,
            () => {
                self.accept_word("CASCADED");
                CheckOption::Cascaded
            }
        };
        self.expect_kw(K::Check)?;
        self.expect_kw(K::Option)?;
        Ok(check)
    }
}
