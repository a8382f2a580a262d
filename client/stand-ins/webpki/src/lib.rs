//! The error types of a crate that the MySQL client names and does not use otherwise: the real one is not maintained, and brings a second
//! library of cryptography.
#![forbid(unsafe_code)]

use std::fmt;

/// Never made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {}

/// The name of a server is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidDnsNameError;

impl fmt::Display for Error {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl fmt::Display for InvalidDnsNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server's name is no name of a host")
    }
}

impl std::error::Error for Error {}
impl std::error::Error for InvalidDnsNameError {}
