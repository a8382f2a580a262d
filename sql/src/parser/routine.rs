//! CREATE, ALTER and DROP of procedures, functions and triggers, and CALL: the statement around a body (`super::body`),
//! and the entry points that parse a stored program in order to run it.

use super::Parser;
use super::body::{Builder, Names};
use crate::arena::Arena;
use crate::ast::*;
use crate::error::{Error, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;
use crate::routine::{ParamMode, Program, ProgramKind, RoutineError};
use types::SqlMode;
use types::schema::TriggerEvent;

/// A type as written, of a parameter or a variable.
pub fn parse_type<'a>(arena: &'a Arena, name: &str, text: &'a str, mode: &SqlMode) -> Result<DataType<'a>> {
    let mut parser = Parser::new(arena, text.as_bytes(), mode, None);
    let ty = parser.variable_type(name)?;
    parser.at_end()?;
    Ok(ty)
}

/// Reads a program from the text between the parentheses and its body.
pub(crate) fn read_program<'a>(
    arena: &'a Arena,
    kind: ProgramKind,
    parameters: &'a str,
    body: &'a str,
    mode: &SqlMode,
) -> Result<Program<'a>> {
    let mut parser = Parser::new(arena, parameters.as_bytes(), mode, None);
    parser.names = Names::Building(Builder::of(kind));
    if parser.token != Token::End {
        parser.parameters()?;
    }
    parser.at_end()?;
    let names = std::mem::take(&mut parser.names);
    let mut parser = Parser::new(arena, body.as_bytes(), mode, None);
    parser.names = names;
    parser.body_statement()?;
    parser.at_end()?;
    let Names::Building(builder) = parser.names else { return Err(parser.error()) };
    Ok(builder.finish())
}

impl<'a> Parser<'a> {
    fn at_end(&self) -> Result<()> {
        if self.token == Token::End { Ok(()) } else { Err(self.error()) }
    }

    /// `DEFINER = user` before a routine, a trigger or an event.
    pub(super) fn create_with_definer(&mut self) -> Result<Statement<'a>> {
        let definer = self.definer()?;
        match self.token {
            Token::Keyword(K::Procedure) => self.create_routine(ProgramKind::Procedure, definer),
            Token::Keyword(K::Function) => self.create_routine(ProgramKind::Function, definer),
            Token::Keyword(K::Trigger) => self.create_trigger(definer),
            Token::Word(_) if self.at_word("EVENT") => self.create_event(definer),
            _ => Err(self.error()),
        }
    }

    /// CREATE FUNCTION, CREATE PROCEDURE, from the second word on.
    pub(super) fn create_routine(&mut self, kind: ProgramKind, definer: Option<(&'a str, &'a str)>) -> Result<Statement<'a>> {
        let function = kind == ProgramKind::Function;
        self.refuse_nested(types::schema::routine_kind(function))?;
        self.bump();
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        if function && self.accept_word("RETURNS") {
            return self.unsupported("loadable functions");
        }
        self.expect(Token::LeftParen)?;
        let from = self.previous_end;
        self.names = Names::Building(Builder::of(kind));
        if !self.at(Token::RightParen) {
            self.parameters()?;
        }
        let parameters = self.utf8(&self.text[from..self.start])?;
        self.expect(Token::RightParen)?;
        let mut returns = None;
        if function {
            self.expect_word("RETURNS")?;
            let from = self.start;
            self.variable_type(name.name)?;
            returns = Some(self.utf8(&self.text[from..self.previous_end])?);
        }
        let characteristics = self.characteristics()?;
        let body = self.body()?;
        self.names = Names::None;
        let create = CreateRoutine { definer, if_not_exists, name, parameters, returns, body, characteristics };
        Ok(Statement::CreateRoutine(self.arena.node(create)))
    }

    fn refuse_nested(&self, what: &'static str) -> Result<()> {
        match self.names {
            Names::None => Ok(()),
            _ => Err(RoutineError::NestedCreate(what).into()),
        }
    }

    /// The text of a body, which is one statement, with the comments after it.
    pub(super) fn body(&mut self) -> Result<&'a str> {
        let from = self.start;
        self.body_statement()?;
        let behind = self.text[self.previous_end..self.start].trim_ascii_end();
        let end = self.previous_end + if is_comments(behind) { behind.len() } else { 0 };
        self.utf8(&self.text[from..end])
    }

    /// CREATE TRIGGER, from the second word on.
    pub(super) fn create_trigger(&mut self, definer: Option<(&'a str, &'a str)>) -> Result<Statement<'a>> {
        self.refuse_nested("TRIGGER")?;
        self.bump();
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        let before = self.accept_kw(K::Before);
        if !before {
            self.expect_word("AFTER")?;
        }
        let event = match self.token {
            Token::Keyword(K::Insert) => TriggerEvent::Insert,
            Token::Keyword(K::Update) => TriggerEvent::Update,
            Token::Keyword(K::Delete) => TriggerEvent::Delete,
            _ => return Err(self.error()),
        };
        self.bump();
        self.expect_kw(K::On)?;
        let table = self.object_name()?;
        // A bare name is one of the trigger's database.
        let table = ObjectName { database: table.database.or(name.database), ..table };
        self.expect_kw(K::For)?;
        self.expect_kw(K::Each)?;
        self.expect_kw(K::Row)?;
        let mut place = None;
        for (word, follows) in [("FOLLOWS", true), ("PRECEDES", false)] {
            // A label may have this name.
            if place.is_none() && self.at_word(word) && !matches!(self.peek(), Token::Colon) {
                self.bump();
                place = Some((follows, self.ident_or_string()?));
            }
        }
        self.names = Names::Building(Builder::of(ProgramKind::Trigger { event, before }));
        let body = self.body()?;
        self.names = Names::None;
        let create = CreateTrigger { definer, if_not_exists, name, before, event, table, place, body };
        Ok(Statement::CreateTrigger(self.arena.node(create)))
    }

    pub(super) fn drop_trigger(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let if_exists = self.if_exists()?;
        Ok(Statement::DropTrigger { name: self.object_name()?, if_exists })
    }

    /// Parses parameters up to a token that cannot belong to one.
    fn parameters(&mut self) -> Result<()> {
        loop {
            // The parameters of a function are given, no more.
            let function = self.builder().kind() == ProgramKind::Function;
            let mode = match self.token {
                _ if function => None,
                Token::Keyword(K::In) => Some(ParamMode::In),
                Token::Keyword(K::Out) => Some(ParamMode::Out),
                Token::Keyword(K::InOut) => Some(ParamMode::InOut),
                _ => None,
            };
            if mode.is_some() {
                self.bump();
            }
            let name = self.ident()?;
            let ty = self.variable_type(name)?;
            let builder = self.builder();
            if builder.finds_in_block(name) {
                return Err(RoutineError::ParameterTwice(name.to_owned()).into());
            }
            builder.add_parameter(name, ty, mode.unwrap_or(ParamMode::In));
            if !self.accept(Token::Comma) {
                return Ok(());
            }
        }
    }

    fn characteristics(&mut self) -> Result<Characteristics<'a>> {
        let mut all = Characteristics::default();
        loop {
            match self.token {
                Token::Keyword(K::Sql) => {
                    self.bump();
                    self.expect_word("SECURITY")?;
                    all.invoker = Some(self.accept_word("INVOKER"));
                    if all.invoker == Some(false) {
                        self.expect_word("DEFINER")?;
                    }
                }
                Token::Keyword(K::Deterministic) => {
                    self.bump();
                    all.deterministic = Some(true);
                }
                Token::Keyword(K::Not) => {
                    self.bump();
                    self.expect_kw(K::Deterministic)?;
                    all.deterministic = Some(false);
                }
                Token::Keyword(keyword @ (K::Reads | K::Modifies)) => {
                    self.bump();
                    self.expect_kw(K::Sql)?;
                    self.expect_word("DATA")?;
                    all.data_access = Some(if keyword == K::Reads { "READS SQL DATA" } else { "MODIFIES SQL DATA" });
                }
                _ if self.at_word("COMMENT") => {
                    self.bump();
                    all.comment = Some(self.string()?);
                }
                _ if self.at_word("LANGUAGE") => {
                    self.bump();
                    if !self.accept_kw(K::Sql) {
                        return Err(Error::NotSupported("routines in other languages than SQL".to_owned()));
                    }
                }
                _ if self.at_word("CONTAINS") || self.at_word("NO") && self.peek_kw(K::Sql) => {
                    all.data_access = Some(if self.at_word("NO") { "NO SQL" } else { "CONTAINS SQL" });
                    self.bump();
                    self.expect_kw(K::Sql)?;
                }
                _ => return Ok(all),
            }
        }
    }

    pub(super) fn alter_routine(&mut self, function: bool) -> Result<Statement<'a>> {
        self.bump();
        let name = self.object_name()?;
        let characteristics = self.characteristics()?;
        match characteristics.deterministic {
            None => Ok(Statement::AlterRoutine { function, name, characteristics }),
            Some(_) => Err(self.error()),
        }
    }

    pub(super) fn drop_routine(&mut self, function: bool) -> Result<Statement<'a>> {
        self.bump();
        let if_exists = self.if_exists()?;
        Ok(Statement::DropRoutine { function, name: self.object_name()?, if_exists })
    }

    pub(super) fn call_statement(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let name = self.object_name()?;
        let mut args: &[Expr<'a>] = &[];
        if self.accept(Token::LeftParen) {
            if !self.at(Token::RightParen) {
                args = self.list(|p| p.expr())?;
            }
            self.expect(Token::RightParen)?;
        }
        Ok(Statement::Call(self.arena.node(CallProcedure { name, args })))
    }

    pub(super) fn variable_type(&mut self, name: &str) -> Result<DataType<'a>> {
        let mut ty = self.data_type(name)?;
        if self.accept_kw(K::Collate) {
            ty.collation = Some(self.charset_name()?);
        }
        Ok(ty)
    }

    pub(super) fn builder(&mut self) -> &mut Builder<'a> {
        match &mut self.names {
            Names::Building(builder) => builder,
            Names::None => unreachable!("bodies are parsed with a builder only"),
        }
    }
}

/// Is it a sequence of complete comments, none of which is a version comment (`/*!`) or the end of one?
fn is_comments(text: &[u8]) -> bool {
    let count = |mark: &[u8; 2]| text.windows(2).filter(|pair| pair == mark).count();
    text.trim_ascii_start().starts_with(b"/*")
        && count(b"/*") == count(b"*/")
        && count(b"/*") == 1
        && !text.windows(3).any(|w| w == b"/*!")
}
