//! The state of one execution that operators share: the current row of each table, the budget of CPU and memory.
//!
//! R1: whatever may wait returns a [`Pause`] and leaves the operator so that the same call goes on later.
//! R2: [`Run::tick`] is called once for each row read, so that no statement holds its thread for long or survives a KILL.

use crate::error::{Error, Result};
use crate::eval::{Env, Pause, Shared, Step};
use crate::operator::{Operator, Registry, SourceLock};
use crate::session::SessionVars;
use crate::source::Sources;
use crate::spill::row_store::RowStore;
use crate::temporary::Spill;
use crate::wait;
use sql::expr::Expr;
use sql::plan::Parts;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use table::Table;
use txn::{Txn, Worker};

/// Rows between two looks at the clock and the kill flag.
const TICKS: u32 = 64;
/// A statement gives the thread to others after this much CPU.
const SLICE: Duration = Duration::from_millis(1);

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
    /// What runs beside the main tree.
    pub parts: &'a Parts,
    pub tables: &'a [Option<Arc<Table>>],
    /// The trees of subqueries that have been run, by subquery.
    pub operators: Vec<Option<Box<Operator<'a>>>>,
    /// The rows of common table expressions.
    pub stores: Vec<RowStore>,
    /// Copied rows of stored tables keep their keys, for those that are changed by them.
    pub keeps_keys: bool,
    /// Row locks that subqueries take.
    pub subquery_lock: Option<SourceLock>,
    /// EXPLAIN ANALYZE
    pub measures: Option<&'a Registry>,
    /// SQL_CALC_FOUND_ROWS: the rows that there are without LIMIT.
    pub found_rows: Option<u64>,
    /// The rows that the last LIMIT to end had read.
    pub passed_over: u64,
}

/// The plan of a statement without subqueries.
static NO_PARTS: Parts = Parts { sources: 0, subqueries: Vec::new(), stores: Vec::new(), named: Vec::new(), locks: Vec::new() };

/// The CPU budget of a statement: when to let others run, when to give up.
pub(crate) struct Slice {
    ticks_left: u32,
    /// Ticks that found no row.
    ends: u32,
    slice_began: Instant,
    deadline: Option<Instant>,
    /// A SLEEP ended at the deadline.
    is_cut: bool,
}

impl Slice {
    /// `deadline`: when to give up.
    pub fn until(deadline: Option<Instant>) -> Self {
        Self { ticks_left: TICKS, ends: 0, slice_began: Instant::now(), deadline, is_cut: false }
    }

    #[inline]
    pub fn tick(&mut self, session: &SessionVars) -> std::result::Result<(), Pause> {
        self.ticks_left -= 1;
        if self.ticks_left == 0 { self.look_up(session) } else { Ok(()) }
    }

    #[cold]
    fn look_up(&mut self, session: &SessionVars) -> std::result::Result<(), Pause> {
        self.ticks_left = TICKS;
        session.rows_examined.set(session.rows_examined.get() + u64::from(TICKS));
        session.check_killed()?;
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            return Err(Pause::error(Error::QueryTimeout));
        }
        if now - self.slice_began >= SLICE {
            // The driver yields and calls again; the new slice begins then or a little earlier.
            self.slice_began = now;
            return Err(Pause::Yield);
        }
        Ok(())
    }

    /// Looks at the kill flag and the deadline at once, without a thought of others.
    pub fn check(&self, session: &SessionVars) -> Result<()> {
        session.check_killed()?;
        // Without a deadline the clock need not be read. Who slept until then may have been woken a little earlier.
        if self.is_cut || self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Err(Error::QueryTimeout)
        } else {
            Ok(())
        }
    }

    /// Counts the rows that were read since the last look at the clock.
    #[inline]
    pub fn count_rest(&mut self, session: &SessionVars) {
        let examined = &session.rows_examined;
        let rest = i64::from(TICKS - self.ticks_left) - i64::from(self.ends);
        examined.set(examined.get().saturating_add_signed(rest));
        (self.ticks_left, self.ends) = (TICKS, 0);
    }

    /// The last tick found no row: the scan is at its end.
    #[inline]
    pub fn count_end(&mut self) {
        self.ends += 1;
    }

    /// A SLEEP ends at the deadline, before its time.
    pub fn note_cut(&mut self) {
        self.is_cut = true;
    }

    /// The statement slept; its next slice begins now.
    pub fn resumed(&mut self) {
        self.slice_began = Instant::now();
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

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
            tables: &[],
            operators: Vec::new(),
            stores: Vec::new(),
            keeps_keys: false,
            subquery_lock: None,
            measures: None,
            found_rows: None,
            passed_over: 0,
        }
    }

    /// The statement's subqueries and common table expressions, if it has any.
    #[inline]
    pub fn set_parts(&mut self, parts: &'a Parts, tables: &'a [Option<Arc<Table>>], lock: Option<SourceLock>) {
        if !parts.subqueries.is_empty() || !parts.stores.is_empty() {
            self.shared.set_subqueries(parts.subqueries.len());
            self.operators.resize_with(parts.subqueries.len(), || None);
            self.stores.resize_with(parts.stores.len(), RowStore::default);
            (self.parts, self.tables, self.subquery_lock) = (parts, tables, lock);
        }
    }

    pub fn has_subqueries(&self) -> bool {
        !self.operators.is_empty()
    }

    /// The row context of the current source rows and an operator's slots.
    #[inline]
    pub fn env<'e>(&'e self, slots: &'e [u8]) -> Env<'e>
    where
        'a: 'e,
    {
        Env { sources: &self.sources, slots, insert: &[], overlay: &[], shared: &self.shared }
    }

    /// Counts one row of work. See R2.
    #[inline]
    pub fn tick(&mut self) -> std::result::Result<(), Pause> {
        self.clock.tick(self.shared.session)
    }

    /// A part of the statement is done: a SLEEP in it may have been cut short, which it does not tell by an error.
    pub fn check_clock(&self) -> Result<()> {
        self.clock.check(self.shared.session)
    }

    /// The rows that were read since the last look at the clock count, too.
    #[inline]
    pub fn count_rest(&mut self) {
        self.clock.count_rest(self.shared.session);
    }

    /// What was counted last is no row: the scan is at its end.
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

    /// Accounts for memory that an operator cannot do without, until the statement ends.
    pub fn charge(&mut self, bytes: usize) -> std::result::Result<(), Pause> {
        self.memory_bytes += bytes;
        if self.memory_bytes <= self.memory_max() {
            return Ok(());
        }
        Err(Pause::error(self.out_of_memory()))
    }

    /// Accounts for `more` bytes of an operator that has `own` already, or refuses: then rows go to a temporary file. A quarter of the
    /// memory is left to those who cannot, and everybody may have a little.
    pub fn grant(&mut self, own: usize, more: usize) -> bool {
        let (limit, total) = (self.memory_max(), self.memory_bytes + more);
        let granted = total <= limit - limit / 4 || own + more <= limit / 64;
        if granted {
            self.memory_bytes = total;
        }
        granted
    }

    /// Accounts for memory that has been refused and is there all the same, of an operator that takes no more from now on.
    pub fn overdraw(&mut self, bytes: usize) {
        self.memory_bytes += bytes;
    }

    /// The statement's temporary file.
    ///
    /// # Errors
    /// There are none here: the statement has no more memory.
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

    /// Gives back what an operator has charged and does not keep any longer.
    pub fn release(&mut self, bytes: usize) {
        self.memory_bytes = self.memory_bytes.saturating_sub(bytes);
    }

    /// Waits for what a step asked for; a subquery is run.
    pub async fn resolve(&mut self, pause: Pause) -> Result<()> {
        if let Pause::Subquery(id) = pause {
            self.shared.restart_row();
            self.run_subquery(id).await?;
            self.clock.resumed();
            return Ok(());
        }
        wait::resolve(pause, &self.shared, &mut self.clock).await
    }

    /// Calls an operator until it answers, waiting out its pauses. `false`: there is no further row.
    #[inline]
    pub async fn advance(&mut self, mut next: impl FnMut(&mut Self) -> Step<bool>) -> Result<bool> {
        loop {
            match next(self) {
                Ok(found) => return Ok(found),
                Err(pause) => self.resolve(pause).await?,
            }
        }
    }

    /// Is a predicate, where there is one, true of the current row?
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

    /// Is a predicate true of the current row?
    #[inline]
    pub fn judge<'e>(&'e self, slots: &'e [u8], predicate: &'e Expr) -> std::result::Result<bool, Pause>
    where
        'a: 'e,
    {
        let truth = self.env(slots).is_true(predicate)?;
        self.row_done();
        Ok(truth)
    }

    /// Are all predicates true of the current row? What stands behind one that is not is not evaluated.
    pub fn judge_each<'e>(&'e self, predicates: &'e [Expr]) -> std::result::Result<bool, Pause>
    where
        'a: 'e,
    {
        let truth = self.all_true(predicates)?;
        self.row_done();
        Ok(truth)
    }

    /// The same in the middle of a row, which goes on.
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

    /// What an operator evaluates for one row is evaluated to the end: nothing of it is repeated, so its sleeps are forgotten.
    #[inline]
    pub fn row_done(&self) {
        self.shared.row_done();
    }
}
