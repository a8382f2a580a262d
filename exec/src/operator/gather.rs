//! Rows that pass through: where few of those that are read come out, several workers may read them, and their rows are kept until they are asked for.
//!
//! The rows come in the order of the input. If nobody has read them, the input does it as ever.

use super::Operator;
use super::gathered::{Ask, Gathered};
use crate::pause::Step;
use crate::run::Run;
use crate::spill::merged::MergedRuns;
use crate::spill::row_copy;

pub(crate) struct Gather<'p> {
    input: Operator<'p>,
    /// The sources of the input's rows, unless the rows are slots.
    sources: Vec<usize>,
    ask: Ask<'p>,
    merged: Option<MergedRuns>,
    /// Where the current row's slots begin.
    slots_at: usize,
    is_asked: bool,
}

impl<'p> Gather<'p> {
    pub fn new(input: Operator<'p>, sources: Vec<usize>, ask: Ask<'p>) -> Self {
        Self { input, sources, ask, merged: None, slots_at: 0, is_asked: false }
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if !self.is_asked {
            if let Some((Gathered::Runs(rows), charged)) = self.ask.answer()? {
                self.merged = Some(MergedRuns::new(rows.runs, None, charged));
            }
            self.is_asked = true;
        }
        let Some(merged) = &mut self.merged else { return self.input.next(run) };
        // The row was counted when it was read.
        let found = merged.next(run, false)?;
        if found {
            self.slots_at = row_copy::restore(run, &self.sources, merged.row());
        }
        Ok(found)
    }

    pub fn slots(&self) -> &[u8] {
        match &self.merged {
            Some(merged) => merged.row().get(self.slots_at..).unwrap_or_default(),
            None => self.input.slots(),
        }
    }

    pub fn first_input(&mut self) -> &mut Operator<'p> {
        &mut self.input
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        if let Some(merged) = self.merged.take() {
            merged.release(run);
        }
        self.is_asked = false;
        self.ask.rewind();
        self.input.rewind(run);
    }
}
