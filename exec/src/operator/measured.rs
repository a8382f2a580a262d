//! EXPLAIN ANALYZE: counts the rows and the time of another operator. Other statements have no such operators.
//!
//! Time runs from the first call for a row to the call that returns it, so it includes the operator's waits.

use super::Operator;
use crate::pause::Step;
use crate::run::Run;
use os::time::Instant;
use sql::explain::{Measure, Measured, Measures};
use std::cell::RefCell;
use std::time::Duration;

/// The measures of a run's operators.
#[derive(Default)]
pub(crate) struct Registry(RefCell<Vec<((usize, Measured), Measure)>>);

impl Registry {
    /// A place for an operator; several operators of one node share it.
    fn place(&self, key: (usize, Measured)) -> usize {
        let mut all = self.0.borrow_mut();
        all.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            all.push((key, Measure::default()));
            all.len() - 1
        })
    }

    /// Notes what a worker did of an aggregation.
    pub fn note_worker(&self, node: usize, number: usize, rows: u64, time: Duration) {
        let measure = Measure { rows, loops: 1, first: Duration::ZERO, total: time };
        self.0.borrow_mut().push(((node, Measured::Worker(number)), measure));
    }

    pub fn into_measures(self) -> Measures {
        Measures(self.0.into_inner().into_iter().collect())
    }
}

pub(crate) struct MeasuredOperator<'p> {
    inner: Operator<'p>,
    registry: &'p Registry,
    place: usize,
    /// It has returned a row, or its end, since it was started.
    is_started: bool,
    /// The time of the first call for the next row.
    since: Option<Instant>,
}

impl<'p> MeasuredOperator<'p> {
    pub fn new(inner: Operator<'p>, registry: &'p Registry, key: (usize, Measured)) -> Self {
        Self { inner, registry, place: registry.place(key), is_started: false, since: None }
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        let since = *self.since.get_or_insert_with(Instant::now);
        let found = self.inner.next(run)?;
        self.since = None;
        let passed = since.elapsed();
        let measure = &mut self.registry.0.borrow_mut()[self.place].1;
        if !self.is_started {
            self.is_started = true;
            measure.loops += 1;
            measure.first += passed;
        }
        measure.total += passed;
        measure.rows += u64::from(found);
        Ok(found)
    }

    pub fn inner(&self) -> &Operator<'p> {
        &self.inner
    }

    pub fn inner_mut(&mut self) -> &mut Operator<'p> {
        &mut self.inner
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        self.is_started = false;
        self.since = None;
        self.inner.rewind(run);
    }
}
