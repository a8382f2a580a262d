//! UNION ALL: the rows of each input, one input after the other.

use super::Operator;
use crate::pause::Step;
use crate::run::Run;

pub(crate) struct Concat<'p> {
    inputs: Vec<Operator<'p>>,
    current: usize,
}

impl<'p> Concat<'p> {
    pub fn new(inputs: Vec<Operator<'p>>) -> Self {
        Self { inputs, current: 0 }
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        while let Some(input) = self.inputs.get_mut(self.current) {
            if input.next(run)? {
                return Ok(true);
            }
            self.current += 1;
            run.check_clock()?;
        }
        Ok(false)
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        self.current = 0;
        self.inputs.iter_mut().for_each(|input| input.rewind(run));
    }

    pub fn slots(&self) -> &[u8] {
        self.inputs.get(self.current).map_or(&[], Operator::slots)
    }
}
