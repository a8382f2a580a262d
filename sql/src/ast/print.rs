//! Prints expressions back as text: for messages, and for tests of the parser.

use super::Expr;
use std::fmt;

impl fmt::Display for Expr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
