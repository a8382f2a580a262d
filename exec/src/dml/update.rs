//! UPDATE.
//!
//! Rows are changed as the scan finds them, or from a list of keys (D3). Each is evaluated over its current version; a row that another
//! transaction changed between reading and writing goes back to the scan, which reads and checks it again.

use super::assign::{Assigner, ColumnChanges};
use super::collect::RowKeys;
use super::common::{changed_number, duplicate, limit_of, new_row, note_use, reread, start_run, target, updated};
use super::done::DmlDone;
use super::foreign::Checker;
use super::triggers::{ChangedRow, Triggers};
use super::writer::Writer;
use super::{Changes, RowRules, ViewJudge};
use crate::context::ExecContext;
use crate::operator::{ScanOperator, SourceLock};
use crate::prepared::Prepared;
use crate::run::Run;
use crate::scratch::Scratch;
use crate::wait::{self, engine};
use expr::{Env, Result, count};
use sql::plan::{Access, Scan, UpdatePlan};
use table::{Progress, Table, WriteRow};
use txn::{LockMode, WaitPolicy};
use types::schema::TriggerEvent;
use types::{Value, recycle};

/// Runs an UPDATE.
pub(crate) async fn update(
    cx: &mut ExecContext<'_>,
    prepared: &Prepared,
    plan: &UpdatePlan,
    scratch: &mut Scratch,
    counts: &mut Changes,
) -> Result<DmlDone> {
    let table = target(prepared);
    let mut run = start_run(cx, prepared, &plan.parts, plan.ignore);
    let rules = prepared.rules(table);
    let triggers = Triggers::of(table, TriggerEvent::Update);
    let assigner =
        Assigner::new(table.def(), &plan.assignments)?.with_rules(rules, &plan.unread).with_triggers(triggers.as_ref());
    let limit = limit_of(&mut run, plan.limit.as_ref()).await?;
    let checker = Checker::new(prepared.foreign_keys.as_deref(), table, &run.shared, plan.ignore);
    let judge = prepared.judge(table);
    let mut update =
        Updating { table, assigner: &assigner, checker, rules, judge, triggers, ignore: plan.ignore, matched: 0, changed: 0 };
    let mut progress = scratch.progress.take().unwrap_or_default();
    let mut values = recycle(std::mem::take(&mut scratch.values));
    if plan.order.is_empty() && update.triggers.is_none() && !moves_in_scan(&plan.scan, &assigner) {
        let operator = ScanOperator::new(&plan.scan, table, Some(SourceLock::Latest));
        let mut operator = operator.one_by_one(plan.limit.is_some()).semi_consistent();
        operator.borrow_buffers(scratch);
        run.sources[0].row = std::mem::take(&mut scratch.row);
        while update.matched < limit {
            if !run.advance(|run| operator.next(run)).await? {
                break;
            }
            let (done, memory) = update.row(&mut run, values, &mut progress, counts).await?;
            values = memory;
            if !done {
                operator.again();
            }
        }
        operator.return_buffers(scratch);
        scratch.row = std::mem::take(&mut run.sources[0].row);
    } else {
        let mut keys = RowKeys::collect(&mut run, &plan.scan, table, &plan.order, limit, true).await?;
        while keys.next(&mut run).await? {
            loop {
                if !reread(&mut run, table, keys.key(), &plan.scan.columns_used).await? {
                    break;
                }
                let (done, memory) = update.row(&mut run, values, &mut progress, counts).await?;
                values = memory;
                if done {
                    break;
                }
            }
        }
    }
    let Updating { matched, changed, .. } = update;
    scratch.progress = Some(progress);
    scratch.values = recycle(values);
    run.count_rest();
    Ok(updated(run.shared.session, matched, changed))
}

/// Would changing rows move them in the index that the scan reads?
fn moves_in_scan(scan: &Scan, assigner: &Assigner<'_>) -> bool {
    let (Access::Ranges { index, .. } | Access::Full { index, .. }) = scan.access else { return false };
    let indexes = &scan.table.indexes;
    // A new primary key is a new row in every index.
    let key_columns = || indexes[index].columns.iter().chain(&indexes[0].columns);
    assigner.columns().any(|column| key_columns().any(|key| key.column == column))
}

struct Updating<'p> {
    table: &'p Table,
    assigner: &'p Assigner<'p>,
    checker: Option<Checker<'p>>,
    rules: Option<&'p RowRules>,
    /// WITH CHECK OPTION that needs more than the row.
    judge: Option<&'p ViewJudge>,
    triggers: Option<Triggers<'p>>,
    ignore: bool,
    matched: u64,
    changed: u64,
}

impl Updating<'_> {
    /// Runs the subqueries of the assigned expressions, so that evaluation finds their values.
    async fn run_subqueries(&self, run: &mut Run<'_>, number: u64) -> Result<()> {
        loop {
            let evaluated = {
                let mut raw = Vec::new();
                self.assigner.evaluate(&run.env(&[]), number, &mut raw)
            };
            match evaluated {
                Ok(()) => break,
                Err(pause) => run.resolve(pause).await?,
            }
        }
        run.shared.restart_row();
        Ok(())
    }

    /// Changes the current row of source 0. `false`: it is not the current version any more. Returns the memory of `values`.
    async fn row(
        &mut self,
        run: &mut Run<'_>,
        values: Vec<Value<'static>>,
        progress: &mut Progress,
        counts: &mut Changes,
    ) -> Result<(bool, Vec<Value<'static>>)> {
        let number = self.matched + 1;
        if let Some(triggers) = &self.triggers {
            let (mut writer, sources, _) = Writer::of(run);
            if !Box::pin(triggers.lock(&mut writer, &mut sources[0].row)).await? {
                return Ok((false, values));
            }
        }
        if run.has_subqueries() {
            self.run_subqueries(run, number).await?;
        }
        let (mut writer, sources, clock) = Writer::of(run);
        let shared = writer.shared;
        let env = Env { rows: &*sources, slots: &[], insert: &[], overlay: &[], shared };
        let mut raw = recycle(values);
        while let Err(pause) = self.assigner.evaluate(&env, number, &mut raw) {
            wait::resolve(pause, shared, clock).await?;
        }
        shared.row_done();
        let mut changes: ColumnChanges<'_> = Vec::with_capacity(raw.len());
        self.assigner.changes(shared, &sources[0], &raw, number, &mut changes)?;
        let row = ChangedRow { rules: self.rules, source: &sources[0], number };
        if let Some(triggers) = &self.triggers {
            Box::pin(triggers.before_update(&mut writer, &row, &mut changes)).await?;
        }
        self.assigner.settle(shared, &row, &mut changes, self.ignore)?;
        if let Some(judge) = self.judge {
            // Boxed: rare, and it would make every statement larger.
            Box::pin(judge.judge_changed(&mut writer, self.table, &sources[0].row, &mut changes, &[], self.ignore)).await?;
        }
        let mut done = true;
        let mut refused = false;
        let unchanged = changes.is_empty();
        if !unchanged {
            let old = &sources[0].row;
            let outcome = match &mut self.checker {
                None => Some(engine!(shared.session, self.table.update_row(writer.worker, writer.txn, old, &changes, progress))?),
                Some(checker) => checker.update(&mut writer, old, &changes, progress, counts).await?,
            };
            match outcome {
                // A foreign key forbids it, and IGNORE leaves the row as it is.
                None => {
                    self.matched += 1;
                    refused = true;
                }
                Some(WriteRow::Done) => {
                    self.matched += 1;
                    self.changed += 1;
                    count(&shared.session.work.update);
                    note_use(self.table, |used| used.updated += 1);
                    if let Some(number) = changed_number(self.table, &changes) {
                        engine!(shared.session, self.table.note_auto_increment(writer.worker, number))?;
                    }
                }
                Some(WriteRow::Changed | WriteRow::Paused { .. }) => done = false,
                Some(WriteRow::Duplicate { index }) => {
                    let new = new_row(self.table, old, &changes)?;
                    let mut existing = table::RowBuf::default();
                    done = engine!(
                        shared.session,
                        self.table.lock_duplicate(writer.worker, writer.txn, index, &new, &mut existing)
                    )?;
                    if done {
                        self.matched += 1;
                        let error = duplicate(self.table, index, &new);
                        if !self.ignore {
                            return Err(error);
                        }
                        shared.session.warn(error);
                        refused = true;
                    }
                }
            }
        }
        if let Some(triggers) = &self.triggers
            && done
            && !refused
        {
            Box::pin(triggers.after_update(&mut writer, &sources[0].row, &changes)).await?;
        }
        drop(changes);
        let values = recycle(raw);
        if unchanged {
            // An unchanged row matches, so it is locked like a changed one.
            let row = &mut sources[0].row;
            let (seen, mode) = (row.seen(), LockMode::Exclusive);
            let there = engine!(shared.session, self.table.lock_current(writer.worker, writer.txn, mode, WaitPolicy::Wait, row))?;
            done = there && row.seen() == seen;
            self.matched += u64::from(done);
        }
        Ok((done, values))
    }
}
