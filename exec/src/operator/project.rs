//! Evaluates the select list into slots.

use super::{Operator, numbers};
use crate::pause::Step;
use crate::run::Run;
use crate::scratch::Scratch;
use expr::Expr;
use expr::packed::Packer;

pub(crate) struct Project<'p> {
    input: Operator<'p>,
    exprs: &'p [Expr],
    row: Vec<u8>,
    pending: bool,
}

impl<'p> Project<'p> {
    pub fn new(input: Operator<'p>, exprs: &'p [Expr]) -> Self {
        Self { input, exprs, row: Vec::new(), pending: false }
    }

    /// The input, for a reader that needs only the number of rows.
    pub fn input(&mut self) -> &mut Operator<'p> {
        &mut self.input
    }

    pub fn first_input(&mut self) -> &mut Operator<'p> {
        &mut self.input
    }

    pub fn borrow_buffers(&mut self, scratch: &mut Scratch) {
        self.row = std::mem::take(&mut scratch.slots);
        self.input.borrow_buffers(scratch);
    }

    pub fn return_buffers(&mut self, scratch: &mut Scratch) {
        scratch.slots = std::mem::take(&mut self.row);
        self.input.return_buffers(scratch);
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if !self.pending {
            if !self.input.next(run)? {
                return Ok(false);
            }
            self.pending = true;
        }
        self.row.clear();
        let mut packer = Packer::new(&mut self.row, self.exprs.len());
        let env = run.env(self.input.slots());
        for expr in self.exprs {
            if numbers::push(&env, expr, &mut packer) {
                continue;
            }
            let value = env.eval(expr)?;
            packer.push(&env.finish(value, &expr.ty, &expr.ty)?);
        }
        self.pending = false;
        run.row_done();
        Ok(true)
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        self.pending = false;
        self.input.rewind(run);
    }

    pub fn slots(&self) -> &[u8] {
        &self.row
    }
}
