//! The clustered keys of the rows that a full-text search has found, the best first.

use crate::pause::Step;
use crate::run::Run;
use expr::Expr;
use expr::function::search_of;
use expr::search::Search;
use std::rc::Rc;

pub(crate) struct FoundKeys<'p> {
    /// The call of MATCH.
    call: &'p Expr,
    search: Option<Rc<Search>>,
    next: usize,
}

impl<'p> FoundKeys<'p> {
    pub fn new(call: &'p Expr) -> Self {
        Self { call, search: None, next: 0 }
    }

    /// Starts over; `latest`: the latest versions of rows are searched.
    pub fn start(&mut self, run: &mut Run<'p>, latest: bool) -> Step<()> {
        self.search = search_of(&run.env(&[]), self.call, latest)?;
        self.next = 0;
        Ok(())
    }

    /// How many rows match, if that is known without a look at them.
    pub fn count(&self) -> Option<u64> {
        let Some(search) = &self.search else { return Some(0) };
        let is_true = |rank: &&f32| **rank != 0.0;
        search.found.is_exact.then(|| search.found.ranks.iter().filter(is_true).count() as u64)
    }

    /// The next key.
    pub fn next(&mut self) -> Option<&[u8]> {
        let found = &self.search.as_ref()?.found;
        let number = *found.order.get(self.next)?;
        self.next += 1;
        Some(found.key(number as usize))
    }
}
