//! JSON_TABLE in FROM.

use super::Parser;
use crate::ast::{JsonColumn, JsonColumnOn, JsonTable, JsonValueColumn, TableRef};
use crate::error::{Error, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;

/// How much a level of NESTED PATH adds to the depth (`DEPTH_MAX`).
const NESTED_DEPTH: u32 = 4;

impl<'a> Parser<'a> {
    /// `JSON_TABLE(document, path COLUMNS (...)) [AS] alias`
    pub(super) fn json_table(&mut self) -> Result<TableRef<'a>> {
        self.bump();
        self.expect(Token::LeftParen)?;
        let document = self.expr()?;
        self.expect(Token::Comma)?;
        let path = self.text_literal()?;
        let columns = self.json_columns()?;
        self.expect(Token::RightParen)?;
        let alias = self.table_alias()?.ok_or(Error::TableFunctionWithoutAlias)?;
        Ok(TableRef::JsonTable(self.arena.node(JsonTable { document, path, columns, alias })))
    }

    /// `COLUMNS (...)`
    fn json_columns(&mut self) -> Result<&'a [JsonColumn<'a>]> {
        self.expect_word("COLUMNS")?;
        self.enter(NESTED_DEPTH)?;
        let columns = self.paren_list(|p| p.json_column())?;
        self.leave(NESTED_DEPTH);
        if columns.len() > super::COLUMNS_MAX {
            return Err(Error::TooManyColumns);
        }
        Ok(columns)
    }

    fn json_column(&mut self) -> Result<JsonColumn<'a>> {
        // It may also be a column's name.
        if self.at_word("NESTED") && self.peek_word("PATH") {
            self.bump();
            self.bump();
            let path = self.text_literal()?;
            return Ok(JsonColumn::Nested { path, columns: self.json_columns()? });
        }
        let name = self.ident()?;
        if self.accept_kw(K::For) {
            self.expect_word("ORDINALITY")?;
            return Ok(JsonColumn::Ordinality(name));
        }
        let mut ty = self.data_type(name)?;
        if self.accept_kw(K::Collate) {
            ty.collation = Some(self.ident_or_string()?);
        }
        let exists = self.accept_kw(K::Exists);
        self.expect_word("PATH")?;
        let path = self.text_literal()?;
        let (mut on_empty, mut on_error) = (None, None);
        while let Some(answer) = self.json_answer()? {
            self.expect_kw(K::On)?;
            let place = if self.accept_kw(K::Empty) {
                &mut on_empty
            } else {
                self.expect_word("ERROR")?;
                &mut on_error
            };
            if place.replace(answer).is_some() || exists {
                return Err(self.error());
            }
        }
        let column = JsonValueColumn {
            name,
            ty,
            exists,
            path,
            on_empty: on_empty.unwrap_or(JsonColumnOn::Unsaid),
            on_error: on_error.unwrap_or(JsonColumnOn::Unsaid),
        };
        Ok(JsonColumn::Value(self.arena.node(column)))
    }

    /// `NULL`, `ERROR`, `DEFAULT 'document'`
    fn json_answer(&mut self) -> Result<Option<JsonColumnOn<'a>>> {
        if self.accept_kw(K::Null) {
            return Ok(Some(JsonColumnOn::Null));
        }
        if self.accept_word("ERROR") {
            return Ok(Some(JsonColumnOn::Error));
        }
        if !self.accept_kw(K::Default) {
            return Ok(None);
        }
        match self.token {
            Token::String { .. } => Ok(Some(JsonColumnOn::Default(self.string()?))),
            Token::Int(_) | Token::Decimal(_) | Token::Double(_) | Token::Hex(_) | Token::Bits(_) => {
                Err(Error::NotSupported("non-string DEFAULT value for a column in a JSON_TABLE expression".to_owned()))
            }
            _ => Err(self.error()),
        }
    }
}
