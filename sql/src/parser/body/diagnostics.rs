//! SIGNAL, RESIGNAL, GET DIAGNOSTICS.

use super::super::Parser;
use super::{Builder, HandlerCondition, Names, ProgramKind};
use crate::ast::{IntoTarget, Statement};
use crate::error::Result;
use crate::keyword::Keyword as K;
use crate::lexer::Token;
use crate::routine::{Diagnostics, DiagnosticsOf, ExprCode, Instr, Place, RoutineError, Signal};
use conditions::SignalItem;

impl<'a> Parser<'a> {
    /// SIGNAL, RESIGNAL, GET DIAGNOSTICS outside of a program: its text.
    pub(in crate::parser) fn condition_statement(&mut self) -> Result<Statement<'a>> {
        let from = self.start;
        self.names = Names::Building(Builder::of(ProgramKind::Procedure));
        if self.at_kw(K::Get) {
            self.get_diagnostics()?
        } else {
            self.signal()?
        }
        self.names = Names::None;
        Ok(Statement::Condition(self.utf8(&self.text[from..self.previous_end])?))
    }

    pub(super) fn signal(&mut self) -> Result<()> {
        let resignal = self.at_kw(K::Resignal);
        self.bump();
        let state = match (self.at_kw(K::SqlState) || self.at_ident(), resignal) {
            (true, _) => match self.named_condition()? {
                HandlerCondition::State(state) => Some(state),
                _ => return Err(RoutineError::SignalByNumber.into()),
            },
            (false, true) => None,
            (false, false) => return Err(self.error()),
        };
        let mut items: Vec<(SignalItem, ExprCode<'a>)> = Vec::new();
        if self.accept_kw(K::Set) {
            loop {
                let item = self.signal_item()?;
                if item == SignalItem::ReturnedState {
                    return Err(self.error());
                }
                if items.iter().any(|(known, _)| *known == item) {
                    return Err(RoutineError::ItemTwice(item.name()).into());
                }
                self.expect(Token::Equal)?;
                items.push((item, self.plain_value()?));
                if !self.accept(Token::Comma) {
                    break;
                }
            }
        }
        self.builder().emit(Instr::Signal(Box::new(Signal { resignal, state, items })));
        Ok(())
    }

    /// A literal or a variable: the only values allowed for an item, and for the number of a condition.
    fn plain_value(&mut self) -> Result<ExprCode<'a>> {
        let (from, refused) = (self.start, self.error());
        if self.at(Token::LeftParen) {
            return Err(refused);
        }
        let tree = self.primary()?;
        use crate::ast::Expr as E;
        let is_plain = matches!(
            tree,
            E::Literal(_) | E::Lifted { .. } | E::UserVariable(_) | E::SystemVariable { .. } | E::Local { .. } | E::Column(_)
        );
        if is_plain { self.code(tree, from) } else { Err(refused) }
    }

    fn signal_item(&mut self) -> Result<SignalItem> {
        let found = SignalItem::ALL.iter().find(|(_, name)| self.at_word(name)).map(|(item, _)| *item);
        let item = found.ok_or_else(|| self.error())?;
        self.bump();
        Ok(item)
    }

    pub(super) fn get_diagnostics(&mut self) -> Result<()> {
        self.bump();
        let stacked = self.accept_word("STACKED");
        if !stacked {
            self.accept_word("CURRENT");
        }
        self.expect_word("DIAGNOSTICS")?;
        let what = if self.accept_kw(K::Condition) {
            let number = self.plain_value()?;
            let mut items = Vec::new();
            loop {
                let place = self.place()?;
                self.expect(Token::Equal)?;
                items.push((place, self.signal_item()?));
                if !self.accept(Token::Comma) {
                    break DiagnosticsOf::Condition(number, items);
                }
            }
        } else {
            let mut items = Vec::new();
            loop {
                let place = self.place()?;
                self.expect(Token::Equal)?;
                let number = self.accept_word("NUMBER");
                if !number {
                    self.expect_word("ROW_COUNT")?;
                }
                items.push((place, number));
                if !self.accept(Token::Comma) {
                    break DiagnosticsOf::Statement(items);
                }
            }
        };
        self.builder().emit(Instr::Diagnostics(Box::new(Diagnostics { stacked, what })));
        Ok(())
    }

    fn place(&mut self) -> Result<Place> {
        match self.target_variable()? {
            IntoTarget::User(name) => Ok(Place::User(name.into())),
            IntoTarget::Local(slot) => Ok(Place::Local(slot)),
        }
    }
}
