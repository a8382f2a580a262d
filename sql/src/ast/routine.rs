//! The syntax tree of stored routines.

use super::{Expr, ObjectName};
use types::schema::TriggerEvent;

/// The characteristics of a routine. `None`: not written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Characteristics<'a> {
    pub comment: Option<&'a [u8]>,
    pub deterministic: Option<bool>,
    /// `CONTAINS SQL`, `NO SQL`, `READS SQL DATA`, `MODIFIES SQL DATA`
    pub data_access: Option<&'static str>,
    /// SQL SECURITY INVOKER
    pub invoker: Option<bool>,
}

/// CREATE PROCEDURE, CREATE FUNCTION
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreateRoutine<'a> {
    /// User and host.
    pub definer: Option<(&'a str, &'a str)>,
    pub if_not_exists: bool,
    pub name: ObjectName<'a>,
    /// The text between the parentheses, and that of the body.
    pub parameters: &'a str,
    /// Of a function: the text of its type.
    pub returns: Option<&'a str>,
    pub body: &'a str,
    pub characteristics: Characteristics<'a>,
}

/// CREATE TRIGGER
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreateTrigger<'a> {
    /// User and host.
    pub definer: Option<(&'a str, &'a str)>,
    pub if_not_exists: bool,
    pub name: ObjectName<'a>,
    pub before: bool,
    pub event: TriggerEvent,
    pub table: ObjectName<'a>,
    /// FOLLOWS (or PRECEDES) another one.
    pub place: Option<(bool, &'a str)>,
    pub body: &'a str,
}

/// CALL
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallProcedure<'a> {
    pub name: ObjectName<'a>,
    pub args: &'a [Expr<'a>],
}
