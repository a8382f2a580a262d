//! Statements of a body whose parts are taken apart when it is read: SET, CALL, DO (`crate::routine::Action`).

use super::super::Parser;
use super::{Names, ProgramKind};
use crate::ast::{Expr, Literal, SetItem, SetValue, Statement};
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::routine::{Action, Argument, Code, Instr, NewValue, Place};

impl<'a> Parser<'a> {
    /// SET: variables of the program, and whatever else SET sets.
    pub(super) fn set_variables(&mut self) -> Result<()> {
        self.bump();
        loop {
            match self.assigned_local()? {
                Some(slot) => {
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
                // What follows is the column's name, which the token still is.
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
        let mut item = SetItem::Unsupported("");
        let code = self.code(|p| {
            item = p.set_item()?;
            Ok(())
        })?;
        let instr = match item {
            SetItem::Unsupported(what) => return Err(Error::NotSupported(what.to_owned())),
            SetItem::User { name, .. } => {
                let name = name.to_lowercase().into();
                Instr::Act(Box::new(Action::SetUser { name, value: self.value_of(code)? }))
            }
            SetItem::System { scope, name, value } => {
                self.builder().program.variables.push(name.into());
                let value = match value {
                    SetValue::Default => NewValue::Default,
                    SetValue::Expr(Expr::Literal(Literal::String(text))) => NewValue::Text(text.bytes.into()),
                    SetValue::Expr(_) => NewValue::Computed(self.value_of(code)?),
                };
                Instr::Act(Box::new(Action::SetSystem { scope, name: name.into(), value }))
            }
            item => match Action::of(&Statement::Set(&[item])) {
                Some(action) => Instr::Act(Box::new(action)),
                None => Instr::Run(Code { text: format!("SET {}", code.text).into(), ..code }),
            },
        };
        self.builder().emit(instr);
        Ok(())
    }

    /// Of an assignment that was read, what stands behind its sign.
    fn value_of(&self, assignment: Code) -> Result<Code> {
        let text = self.utf8(&self.text[self.value_start..self.previous_end])?.into();
        Ok(Code { text, ..assignment })
    }

    /// An expression, and the variable that it is.
    fn argument(&mut self) -> Result<Argument> {
        let mut place = None;
        let value = self.code(|p| {
            place = match p.expr()? {
                Expr::UserVariable(name) => Some(Place::User(name.to_lowercase().into())),
                Expr::Local { slot, .. } => Some(Place::Local(slot)),
                _ => None,
            };
            Ok(())
        })?;
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
        let call = Action::Call { database: name.database.map(Into::into), name: name.name.into(), args };
        self.builder().emit(Instr::Act(Box::new(call)));
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
