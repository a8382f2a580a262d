//! The parameters of every function that writes rows: the worker, the transaction, and the statement's shared state.

use crate::clock::Slice;
use crate::run::Run;
use crate::shared::Shared;
use crate::source::Sources;
use txn::{Txn, Worker};

/// Where rows are written: by this worker, in this transaction, for this statement.
pub(crate) struct Writer<'w, 's> {
    pub worker: &'w Worker,
    pub txn: &'w mut Txn,
    pub shared: &'w Shared<'s>,
}

impl<'w, 's> Writer<'w, 's> {
    pub fn new(worker: &'w Worker, txn: &'w mut Txn, shared: &'w Shared<'s>) -> Self {
        Self { worker, txn, shared }
    }

    /// The writer of a run, beside the run's rows and its clock.
    pub fn of(run: &'w mut Run<'s>) -> (Self, &'w mut Sources<'s>, &'w mut Slice) {
        let Run { worker, txn, sources, shared, clock, .. } = run;
        (Self { worker, txn, shared }, sources, clock)
    }
}
