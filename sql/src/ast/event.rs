//! The syntax tree of event definitions.

use super::{Expr, IntervalUnit, ObjectName};
use types::event::EventStatus;

/// CREATE EVENT
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreateEvent<'a> {
    /// User and host.
    pub definer: Option<(&'a str, &'a str)>,
    pub if_not_exists: bool,
    pub name: ObjectName<'a>,
    pub schedule: EventSchedule<'a>,
    pub clauses: EventClauses<'a>,
    /// The text of its statement.
    pub body: &'a str,
}

/// ALTER EVENT. `None`: as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlterEvent<'a> {
    /// User and host.
    pub definer: Option<(&'a str, &'a str)>,
    pub name: ObjectName<'a>,
    pub schedule: Option<EventSchedule<'a>>,
    pub rename: Option<ObjectName<'a>>,
    pub clauses: EventClauses<'a>,
    pub body: Option<&'a str>,
}

/// ON SCHEDULE
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventSchedule<'a> {
    At(Expr<'a>),
    Every { amount: Expr<'a>, unit: IntervalUnit, starts: Option<Expr<'a>>, ends: Option<Expr<'a>> },
}

/// The other clauses of an event. `None`: not written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EventClauses<'a> {
    /// ON COMPLETION PRESERVE, not ON COMPLETION NOT PRESERVE.
    pub preserve: Option<bool>,
    pub status: Option<EventStatus>,
    pub comment: Option<&'a [u8]>,
}
