//! Stored routines, as written.

use super::{Expr, ObjectName};

/// What a routine says of itself besides its body. `None`: not written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Characteristics<'a> {
    pub comment: Option<&'a [u8]>,
    pub deterministic: Option<bool>,
    /// `CONTAINS SQL`, `NO SQL`, `READS SQL DATA`, `MODIFIES SQL DATA`
    pub data_access: Option<&'static str>,
    /// SQL SECURITY INVOKER
    pub invoker: Option<bool>,
}

/// CREATE PROCEDURE
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreateProcedure<'a> {
    /// User and host.
    pub definer: Option<(&'a str, &'a str)>,
    pub if_not_exists: bool,
    pub name: ObjectName<'a>,
    /// The text between the parentheses, and that of the body.
    pub parameters: &'a str,
    pub body: &'a str,
    pub characteristics: Characteristics<'a>,
}

/// CALL
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallProcedure<'a> {
    pub name: ObjectName<'a>,
    pub args: &'a [Expr<'a>],
}
