//! Rows without a table: SELECT without FROM, and VALUES ROW(...).

use crate::pause::Step;
use crate::run::Run;
use expr::Expr;
use expr::packed::Packer;

/// One row without sources.
#[derive(Default)]
pub(crate) struct OneRow {
    done: bool,
}

impl OneRow {
    pub fn next(&mut self, _run: &mut Run<'_>) -> Step<bool> {
        Ok(!std::mem::replace(&mut self.done, true))
    }

    pub fn rewind(&mut self) {
        self.done = false;
    }
}

/// Rows of expressions.
pub(crate) struct ValuesRows<'p> {
    rows: &'p [Vec<Expr>],
    next: usize,
    row: Vec<u8>,
}

impl<'p> ValuesRows<'p> {
    pub fn new(rows: &'p [Vec<Expr>]) -> Self {
        Self { rows, next: 0, row: Vec::new() }
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        let Some(exprs) = self.rows.get(self.next) else { return Ok(false) };
        run.tick()?;
        self.row.clear();
        let env = run.env(&[]);
        let mut packer = Packer::new(&mut self.row, exprs.len());
        for (expr, first) in exprs.iter().zip(&self.rows[0]) {
            // Every row has the types of the first one.
            let value = env.eval_as(expr, &first.ty)?;
            packer.push(&env.finish(value, &first.ty, &first.ty)?);
        }
        run.row_done();
        self.next += 1;
        Ok(true)
    }

    pub fn rewind(&mut self) {
        self.next = 0;
    }

    pub fn slots(&self) -> &[u8] {
        &self.row
    }
}
