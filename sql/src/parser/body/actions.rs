//! Statements of a body that have no plan but contain expressions: SET, CALL, DO (`crate::routine::Action`).

use super::super::Parser;
use super::{Names, ProgramKind};
use crate::ast::{Expr, Literal, SetItem, SetValue, Statement};
use crate::error::{Error, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;
use crate::routine::{Action, Argument, Instr, NewValue, Place, RoutineError};

impl<'a> Parser<'a> {
    /// SET: variables of the program and other variables.
    pub(super) fn set_variables(&mut self) -> Result<()> {
        self.bump();
        loop {
            if self.at_word("NAMES") && matches!(self.peek(), Token::Equal | Token::Assign) && self.names.find("names").is_some()
            {
                return Err(RoutineError::Shadowed("names").into());
            }
            match self.assigned_local()? {
                Some(slot) => {
                    if self.at_kw(K::Default) && self.peek() != Token::LeftParen {
                        return Err(self.error());
                    }
                    let value = self.expression()?;
                    self.builder().emit(Instr::Set { slot, value, after: None });
                }
                None => self.set_other()?,
            }
            if !self.accept(Token::Comma) {
                return Ok(());
            }
        }
    }

    /// The variable that the next tokens assign to.
    fn assigned_local(&mut self) -> Result<Option<u32>> {
        let (Token::Word(name) | Token::Quoted { name, doubled: false } | Token::Underscore(name)) = self.token else {
            return Ok(None);
        };
        let name = self.utf8(name)?;
        let slot = match self.peek() {
            Token::Equal | Token::Assign => self.names.find(name),
            Token::Dot if self.is_field_row(name) => {
                self.bump();
                self.bump();
                // The token is still the name of the column.
                let column = match self.token {
                    Token::Word(_) | Token::Underscore(_) | Token::Quoted { .. } => self.token,
                    _ => return Err(self.error()),
                };
                let (Token::Word(column) | Token::Underscore(column) | Token::Quoted { name: column, .. }) = column else {
                    return Err(self.error());
                };
                let column = self.utf8(column)?;
                let slot = self.names.field(name, column)?;
                if let Some(slot) = slot {
                    self.builder().assign_field(slot)?;
                }
                slot
            }
            _ => None,
        };
        if slot.is_some() {
            self.bump();
            if !self.accept(Token::Assign) {
                self.expect(Token::Equal)?;
            }
        }
        Ok(slot)
    }

    /// Is it NEW or OLD of a trigger?
    fn is_field_row(&self, name: &str) -> bool {
        let Names::Building(builder) = &self.names else { return false };
        matches!(builder.kind(), ProgramKind::Trigger { .. })
            && (name.eq_ignore_ascii_case("NEW") || name.eq_ignore_ascii_case("OLD"))
    }

    /// An item of SET that sets no variable of the program.
    fn set_other(&mut self) -> Result<()> {
        let from = self.start;
        let action = match self.set_item()? {
            SetItem::Unsupported(what) => return Err(Error::NotSupported(what.to_owned())),
            SetItem::User { name, value } => Action::SetUser { name: name.to_lowercase().into(), value: self.code(value, from)? },
            SetItem::System { scope, name, value } => {
                if name.eq_ignore_ascii_case("autocommit") && self.builder().kind().inner_name().is_some() {
                    return Err(RoutineError::AutocommitInside.into());
                }
                self.builder().program.variables.push(name);
                let value = match value {
                    SetValue::Default => NewValue::Default,
                    SetValue::Expr(Expr::Literal(Literal::String(text))) => NewValue::Text(text.bytes),
                    SetValue::Expr(value) => NewValue::Computed(self.code(value, from)?),
                };
                Action::SetSystem { scope, name, value }
            }
            item => return self.emit_statement(Statement::Set(self.arena.slice(&[item])), from),
        };
        self.builder().emit(Instr::Act(Box::new(action)));
        Ok(())
    }

    /// An expression, and the variable that it is.
    fn argument(&mut self) -> Result<Argument<'a>> {
        let value = self.expression()?;
        let place = match value.tree {
            Expr::UserVariable(name) => Some(Place::User(name.to_lowercase().into())),
            Expr::Local { slot, .. } => Some(Place::Local(slot)),
            _ => None,
        };
        if let Some(Place::Local(slot)) = place {
            self.builder().lend_field(slot);
        }
        Ok(Argument { value, place })
    }

    pub(super) fn call_in_body(&mut self) -> Result<()> {
        self.bump();
        let name = self.object_name()?;
        let mut args = Vec::new();
        if self.accept(Token::LeftParen) {
            if !self.at(Token::RightParen) {
                args.push(self.argument()?);
                while self.accept(Token::Comma) {
                    args.push(self.argument()?);
                }
            }
            self.expect(Token::RightParen)?;
        }
        self.builder().emit(Instr::Act(Box::new(Action::Call { name, args })));
        Ok(())
    }

    pub(super) fn do_in_body(&mut self) -> Result<()> {
        self.bump();
        let mut values = vec![self.expression()?];
        while self.accept(Token::Comma) {
            values.push(self.expression()?);
        }
        self.builder().emit(Instr::Act(Box::new(Action::Do(values))));
        Ok(())
    }
}
