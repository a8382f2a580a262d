//! CREATE, ALTER, DROP EVENT.

use super::Parser;
use super::body::{Builder, Names};
use crate::ast::*;
use crate::error::Result;
use crate::keyword::Keyword as K;
use crate::routine::{ProgramKind, RoutineError};
use types::event::EventStatus;

impl<'a> Parser<'a> {
    /// CREATE EVENT, from the second word on.
    pub(super) fn create_event(&mut self, definer: Option<(&'a str, &'a str)>) -> Result<Statement<'a>> {
        self.bump();
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        self.expect_kw(K::On)?;
        let schedule = self.event_schedule()?;
        let preserve = self.event_completion()?;
        let clauses = EventClauses { preserve, ..self.event_clauses()? };
        let Some(body) = self.event_body()? else { return Err(self.error()) };
        let create = CreateEvent { definer, if_not_exists, name, schedule, clauses, body };
        Ok(Statement::CreateEvent(self.arena.node(create)))
    }

    /// ALTER EVENT, from the second word on.
    pub(super) fn alter_event(&mut self, definer: Option<(&'a str, &'a str)>) -> Result<Statement<'a>> {
        self.bump();
        let name = self.object_name()?;
        let mut schedule = None;
        if self.at_kw(K::On) && self.peek_word("SCHEDULE") {
            self.bump();
            schedule = Some(self.event_schedule()?);
        }
        let preserve = self.event_completion()?;
        let mut rename = None;
        if self.accept_kw(K::Rename) {
            self.expect_kw(K::To)?;
            rename = Some(self.object_name()?);
        }
        let clauses = EventClauses { preserve, ..self.event_clauses()? };
        let body = self.event_body()?;
        let alter = AlterEvent { definer, name, schedule, rename, clauses, body };
        if alter == (AlterEvent { definer, name, schedule: None, rename: None, clauses: EventClauses::default(), body: None }) {
            return Err(self.error());
        }
        Ok(Statement::AlterEvent(self.arena.node(alter)))
    }

    pub(super) fn drop_event(&mut self) -> Result<Statement<'a>> {
        self.bump();
        let if_exists = self.if_exists()?;
        Ok(Statement::DropEvent { name: self.object_name()?, if_exists })
    }

    /// From SCHEDULE on. A definition has no parameters.
    fn event_schedule(&mut self) -> Result<EventSchedule<'a>> {
        let params = self.params;
        let schedule = self.event_times()?;
        if self.params == params { Ok(schedule) } else { Err(self.error()) }
    }

    fn event_times(&mut self) -> Result<EventSchedule<'a>> {
        self.expect_word("SCHEDULE")?;
        if self.accept_word("AT") {
            return Ok(EventSchedule::At(self.expr()?));
        }
        self.expect_word("EVERY")?;
        let amount = self.expr()?;
        let unit = self.interval_unit()?;
        let starts = if self.accept_word("STARTS") { Some(self.expr()?) } else { None };
        let ends = if self.accept_word("ENDS") { Some(self.expr()?) } else { None };
        Ok(EventSchedule::Every { amount, unit, starts, ends })
    }

    fn event_completion(&mut self) -> Result<Option<bool>> {
        if !self.accept_kw(K::On) {
            return Ok(None);
        }
        self.expect_word("COMPLETION")?;
        let preserve = !self.accept_kw(K::Not);
        self.expect_word("PRESERVE")?;
        Ok(Some(preserve))
    }

    /// The status and the comment.
    fn event_clauses(&mut self) -> Result<EventClauses<'a>> {
        let mut clauses = EventClauses::default();
        if self.accept_word("ENABLE") {
            clauses.status = Some(EventStatus::Enabled);
        } else if self.accept_word("DISABLE") {
            clauses.status = Some(EventStatus::Disabled);
            if self.accept_kw(K::On) {
                if !self.accept_word("SLAVE") {
                    self.expect_word("REPLICA")?;
                }
                clauses.status = Some(EventStatus::ReplicaSideDisabled);
            }
        }
        if self.accept_word("COMMENT") {
            clauses.comment = Some(self.string()?);
        }
        Ok(clauses)
    }

    /// DO and the body's text.
    fn event_body(&mut self) -> Result<Option<&'a str>> {
        if !self.accept_word("DO") {
            return Ok(None);
        }
        if !matches!(self.names, Names::None) {
            return Err(RoutineError::NestedEvent.into());
        }
        self.names = Names::Building(Builder::of(ProgramKind::Event));
        let body = self.body()?;
        self.names = Names::None;
        Ok(Some(body))
    }
}
