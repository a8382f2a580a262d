//! The data that all rows of one execution share: the data that evaluation reads, and the host.

use crate::context::Host;
use expr::SessionVars;
use std::ops::{Deref, DerefMut};
use types::Value;

/// The data that evaluation reads, and the server around the statement.
pub(crate) struct Shared<'a> {
    evaluation: expr::Shared<'a>,
    pub host: &'a dyn Host,
}

impl<'a> Shared<'a> {
    pub fn new(session: &'a SessionVars, params: &'a [Value<'a>], host: &'a dyn Host) -> Self {
        Self { evaluation: expr::Shared::new(session, params, host), host }
    }

    /// As [`Self::new`], with the same strictness for all of the statement.
    pub fn change(session: &'a SessionVars, params: &'a [Value<'a>], host: &'a dyn Host, strict: bool) -> Self {
        Self { evaluation: expr::Shared::change(session, params, host, strict), host }
    }

    /// The same for rows of another kind.
    pub fn alike(&self) -> Self {
        Self { evaluation: self.evaluation.alike(), host: self.host }
    }
}

impl<'a> Deref for Shared<'a> {
    type Target = expr::Shared<'a>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.evaluation
    }
}

impl DerefMut for Shared<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.evaluation
    }
}
