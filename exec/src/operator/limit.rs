//! LIMIT and OFFSET: skips rows, then returns some. For SQL_CALC_FOUND_ROWS it counts all others too, also beyond sql_select_limit.

use super::Operator;
use crate::pause::Step;
use crate::row_count::evaluate_count;
use crate::run::Run;
use sql::plan::LimitPlan;

pub(crate) struct Limit<'p> {
    input: Operator<'p>,
    plan: &'p LimitPlan,
    /// Rows to skip, rows to return; known after the first call.
    left: Option<(u64, u64)>,
    /// Rows that the input has returned.
    seen: u64,
    ended: bool,
}

impl<'p> Limit<'p> {
    pub fn new(input: Operator<'p>, plan: &'p LimitPlan) -> Self {
        Self { input, plan, left: None, seen: 0, ended: false }
    }

    pub fn first_input(&mut self) -> &mut Operator<'p> {
        &mut self.input
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if self.left.is_none() {
            let env = run.env(&[]);
            let skip = evaluate_count(&env, self.plan.offset.as_ref())?.unwrap_or(0);
            let pass = evaluate_count(&env, self.plan.count.as_ref())?;
            // Without a LIMIT it is the plan of SQL_CALC_FOUND_ROWS: it returns as many rows as sql_select_limit allows, and counts the others.
            let pass = pass.unwrap_or(run.shared.session.select_limit);
            self.left = Some((skip, pass));
        }
        let (skip, pass) = self.left.as_mut().expect("set above");
        while !self.ended && (*pass > 0 || self.plan.counts_all && *skip > 0) {
            if !self.input.next(run)? {
                self.end(run);
                return Ok(false);
            }
            self.seen += 1;
            if *skip > 0 {
                *skip -= 1;
            } else {
                *pass -= 1;
                return Ok(true);
            }
        }
        if self.plan.counts_all && !self.ended {
            self.count_rest(run)?;
        }
        Ok(false)
    }

    /// Counts the rows after the last returned one, without evaluating their select lists.
    fn count_rest(&mut self, run: &mut Run<'p>) -> Step<()> {
        let rows = match &mut self.input {
            Operator::Project(project) => project.input(),
            other => other,
        };
        while rows.next(run)? {
            self.seen += 1;
            run.row_done();
        }
        self.end(run);
        Ok(())
    }

    fn end(&mut self, run: &mut Run<'p>) {
        self.ended = true;
        run.passed_over = self.seen;
        if self.plan.counts_all {
            run.found_rows = Some(self.seen);
        }
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        self.left = None;
        self.seen = 0;
        self.ended = false;
        self.input.rewind(run);
    }

    pub fn slots(&self) -> &[u8] {
        self.input.slots()
    }
}
