//! The state of one execution that operators share: the current row of each table, the budget of CPU and memory.
//!
//! R1: a call that must wait returns a [`Pause`], and the same call continues later.
//! R2: [`Run::tick`] is called once for each row read, so that no statement holds its thread for long or survives a KILL.

use crate::clock::Slice;
use crate::context::LocalFuture;
use crate::pause::{Pause, Step};
use crate::shared::Shared;
use crate::source::Sources;
use crate::spill::row_store::RowStore;
use crate::temporary::{Spill, SpillWait};
use crate::wait;
use expr::{Env, Error, Expr, Result};
use sql::plan::Parts;
use std::rc::Rc;
use txn::{Txn, Worker};

/// One execution of a plan.
pub(crate) struct Run<'a> {
    pub worker: &'a Worker,
    pub txn: &'a mut Txn,
    pub sources: Sources<'a>,
    pub shared: Shared<'a>,
    pub clock: Slice,
    memory_bytes: usize,
    /// The statement's temporary file, once it has one.
    spill: Option<Rc<Spill>>,
    /// Subqueries and stores, which run beside the main tree.
    pub parts: &'a Parts,
    /// `None`: the statement has no subqueries.
    pub subqueries: Option<Rc<dyn RunSubqueries<'a> + 'a>>,
    /// The rows of common table expressions.
    pub stores: Vec<RowStore>,
    /// `None`: all operators read their rows themselves.
    pub sharing: Option<&'a dyn ShareOut<'a>>,
    /// Copied rows of stored tables keep their keys, because a change finds the rows by them.
    pub keeps_keys: bool,
    /// SQL_CALC_FOUND_ROWS: the number of rows without LIMIT.
    pub found_rows: Option<u64>,
    /// The number of rows that the last LIMIT has read.
    pub passed_over: u64,
}

/// Runs a statement's subqueries with operators, which are above the run: [`crate::subquery`] gives it to the run.
pub(crate) trait RunSubqueries<'a> {
    /// The wait that evaluation needs, if the subquery has run and a part of its rows is in a temporary file.
    fn take_wait(&self) -> Option<SpillWait>;

    /// Runs a subquery with the arguments that evaluation asks for, and keeps its result.
    fn run<'r>(self: Rc<Self>, run: &'r mut Run<'a>, id: usize) -> LocalFuture<'r, Result<()>>
    where
        'a: 'r;
}

/// Has rows read by several workers, with operators, which are above the run: [`crate::parallel`] gives it to the run.
pub(crate) trait ShareOut<'a> {
    /// Has the rows of a node gathered for its operator, if that pays and is safe.
    fn gather<'r>(&'a self, run: &'r mut Run<'a>, node: usize) -> LocalFuture<'r, Result<()>>
    where
        'a: 'r;
}

/// The plan of a statement without subqueries.
static NO_PARTS: Parts = Parts { sources: 0, subqueries: Vec::new(), stores: Vec::new(), named: Vec::new(), locks: Vec::new() };

impl<'a> Run<'a> {
    pub fn new(worker: &'a Worker, txn: &'a mut Txn, shared: Shared<'a>, sources: Sources<'a>, clock: Slice) -> Self {
        Self {
            worker,
            txn,
            sources,
            shared,
            clock,
            memory_bytes: 0,
            spill: None,
            parts: &NO_PARTS,
            subqueries: None,
            sharing: None,
            stores: Vec::new(),
            keeps_keys: false,
            found_rows: None,
            passed_over: 0,
        }
    }

    pub fn has_subqueries(&self) -> bool {
        self.subqueries.is_some()
    }

    /// The row context of the current source rows and an operator's slots.
    #[inline]
    pub fn env<'e>(&'e self, slots: &'e [u8]) -> Env<'e>
    where
        'a: 'e,
    {
        Env { rows: &self.sources, slots, insert: &[], overlay: &[], shared: &self.shared }
    }

    /// Counts one row of work. See R2.
    #[inline]
    pub fn tick(&mut self) -> std::result::Result<(), Pause> {
        self.clock.tick(self.shared.session)
    }

    /// One row of work that was counted when it was read. See R2.
    #[inline]
    pub fn pass(&mut self) -> std::result::Result<(), Pause> {
        self.clock.pass(self.shared.session)
    }

    /// Checks the clock after a part of the statement: a SLEEP may have been cut short without an error.
    pub fn check_clock(&self) -> Result<()> {
        self.clock.check(self.shared.session)
    }

    /// Counts the rows that were read since the last look at the clock.
    #[inline]
    pub fn count_rest(&mut self) {
        self.clock.count_rest(self.shared.session);
    }

    /// So many rows were counted, without a tick for each.
    pub fn count_rows(&mut self, rows: u64) {
        self.clock.count_rows(self.shared.session, rows);
    }

    /// The last tick found no row: the scan is at its end.
    #[inline]
    pub fn count_end(&mut self) {
        self.clock.count_end();
    }

    pub fn clock(&mut self) -> &mut Slice {
        &mut self.clock
    }

    /// heddle_statement_memory
    pub fn memory_max(&self) -> usize {
        self.shared.session.sort_memory_bytes_max
    }

    /// Charges memory that an operator must have, until the statement ends.
    pub fn charge(&mut self, bytes: usize) -> std::result::Result<(), Pause> {
        self.memory_bytes += bytes;
        if self.memory_bytes <= self.memory_max() {
            return Ok(());
        }
        Err(Pause::error(self.out_of_memory()))
    }

    /// Charges `more` bytes to an operator that has `own` already, or refuses: then its rows go to a temporary file. A quarter of the
    /// memory is reserved for operators that cannot spill, and every operator may have a little.
    pub fn grant(&mut self, own: usize, more: usize) -> bool {
        let (limit, total) = (self.memory_max(), self.memory_bytes + more);
        let granted = total <= limit - limit / 4 || own + more <= limit / 64;
        if granted {
            self.memory_bytes = total;
        }
        granted
    }

    /// Charges memory that was refused but is in use already, of an operator that takes no more from now on.
    pub fn overdraw(&mut self, bytes: usize) {
        self.memory_bytes += bytes;
    }

    /// The statement's temporary file.
    ///
    /// # Errors
    /// The server has no temporary space, so the statement is out of memory.
    #[cold]
    pub fn spill(&mut self) -> Result<&Rc<Spill>> {
        if self.spill.is_none() {
            let Some(temporary) = self.shared.host.temporary() else { return Err(self.out_of_memory()) };
            self.spill = Some(temporary.open(self.memory_max()));
        }
        Ok(self.spill.as_ref().expect("made above"))
    }

    fn out_of_memory(&self) -> Error {
        Error::OutOfSortMemory { limit: self.memory_max(), setting: "heddle_statement_memory" }
    }

    /// The memory that is charged.
    pub fn memory_held(&self) -> usize {
        self.memory_bytes
    }

    /// Only so much memory is held: operators that have charged more are gone.
    pub fn hold_memory(&mut self, bytes: usize) {
        self.memory_bytes = bytes;
    }

    /// Releases memory that an operator has charged and freed.
    pub fn release(&mut self, bytes: usize) {
        self.memory_bytes = self.memory_bytes.saturating_sub(bytes);
    }

    /// Waits for the reason of a pause; runs a subquery.
    pub async fn resolve(&mut self, pause: Pause) -> Result<()> {
        if let Pause::Evaluation(expr::Pause::Subquery(id)) = pause
            && let Some(subqueries) = self.subqueries.clone()
        {
            if let Some(wait) = subqueries.take_wait() {
                return wait::resolve(Pause::Spill(wait), &self.shared, &mut self.clock).await;
            }
            self.shared.restart_row();
            subqueries.run(self, id).await?;
            self.clock.resumed();
            return Ok(());
        }
        if matches!(pause, Pause::Evaluation(expr::Pause::Search)) {
            // Boxed: rare, and it would make every statement larger.
            return crate::boxed::boxed(|| self.search()).await;
        }
        if let Pause::Share(node) = pause
            && let Some(sharing) = self.sharing
        {
            // Evaluation has not begun, but that of an outer row may have.
            return sharing.gather(self, node).await;
        }
        wait::resolve(pause, &self.shared, &mut self.clock).await
    }

    /// Calls an operator until it returns a row or its end, and waits for its pauses. `false`: there is no further row.
    #[inline]
    pub async fn advance(&mut self, mut next: impl FnMut(&mut Self) -> Step<bool>) -> Result<bool> {
        loop {
            match next(self) {
                Ok(found) => return Ok(found),
                Err(pause) => self.resolve(pause).await?,
            }
        }
    }

    /// Is the predicate true for the current row, or is there none?
    #[inline]
    pub fn passes<'e>(&'e self, predicate: Option<&'e Expr>) -> std::result::Result<bool, Pause>
    where
        'a: 'e,
    {
        match predicate {
            Some(predicate) => self.judge(&[], predicate),
            None => Ok(true),
        }
    }

    /// Is a predicate true for the current row?
    #[inline]
    pub fn judge<'e>(&'e self, slots: &'e [u8], predicate: &'e Expr) -> std::result::Result<bool, Pause>
    where
        'a: 'e,
    {
        let truth = self.env(slots).is_true(predicate)?;
        self.row_done();
        Ok(truth)
    }

    /// Are all predicates true for the current row? Evaluation stops at the first that is not.
    pub fn judge_each<'e>(&'e self, predicates: &'e [Expr]) -> std::result::Result<bool, Pause>
    where
        'a: 'e,
    {
        let truth = self.all_true(predicates)?;
        self.row_done();
        Ok(truth)
    }

    /// The same within a row whose evaluation continues.
    pub fn all_true<'e>(&'e self, predicates: &'e [Expr]) -> std::result::Result<bool, Pause>
    where
        'a: 'e,
    {
        let env = self.env(&[]);
        for predicate in predicates {
            if !env.is_true(predicate)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The evaluation of a row is complete and will not be repeated, so its sleeps are forgotten.
    #[inline]
    pub fn row_done(&self) {
        self.shared.row_done();
    }
}
