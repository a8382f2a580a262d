//! Keeps the rows for which a predicate is true: HAVING, and conditions over several sources.

use super::Operator;
use crate::pause::Step;
use crate::run::Run;
use expr::Expr;

pub(crate) struct Filter<'p> {
    input: Operator<'p>,
    predicate: &'p Expr,
    /// A row was taken from the input and has not been checked yet.
    pending: bool,
}

impl<'p> Filter<'p> {
    pub fn new(input: Operator<'p>, predicate: &'p Expr) -> Self {
        Self { input, predicate, pending: false }
    }

    pub fn first_input(&mut self) -> &mut Operator<'p> {
        &mut self.input
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            if !self.pending {
                if !self.input.next(run)? {
                    return Ok(false);
                }
                self.pending = true;
            }
            let keep = run.judge(self.input.slots(), self.predicate)?;
            self.pending = false;
            if keep {
                return Ok(true);
            }
        }
    }

    pub fn slots(&self) -> &[u8] {
        self.input.slots()
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        self.pending = false;
        self.input.rewind(run);
    }
}
