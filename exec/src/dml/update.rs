//! UPDATE.
//!
//! Rows are changed as the scan finds them, or from a list of keys (D3). Each is evaluated over its current version; one that somebody
//! else changed between reading and writing goes back to the scan, which reads and judges it again.

use super::assign::{Assigner, ColumnChanges};
use super::collect::RowKeys;
use super::done::DmlDone;
use super::foreign::{Checker, Writer};
use super::triggers::{ChangedRow, Triggers};
use super::{Changes, RowRules, ViewJudge, changed_number, is_strict, update_info};
use crate::clock::Slice;
use crate::context::ExecContext;
use crate::error::{Error, Result};
use crate::eval::{Env, Shared};
use crate::operator::{ScanOperator, SourceLock, evaluate_count};
use crate::prepared::Prepared;
use crate::run::Run;
use crate::scratch::{Scratch, recycle};
use crate::session::SessionVars;
use crate::source::{SourceState, sources_of};
use crate::wait::{self, engine};
use crate::work::count;
use sql::plan::{Access, LimitPlan, Parts, Scan, UpdatePlan};
use std::sync::Arc;
use table::{Progress, RowRead, Table, WriteRow};
use txn::{LockMode, Txn, WaitPolicy};
use types::Value;
use types::schema::TriggerEvent;

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
    let mut progress = std::mem::take(&mut scratch.progress);
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
    scratch.progress = progress;
    scratch.values = recycle(values);
    Ok(updated(run.shared.session, matched, changed))
}

/// What an UPDATE answers.
pub(super) fn updated(session: &SessionVars, matched: u64, changed: u64) -> DmlDone {
    DmlDone {
        affected: if session.client_found_rows { matched } else { changed },
        matched,
        last_insert_id: session.last_insert_id_set.get().unwrap_or(0),
        info: update_info(session, matched, changed),
    }
}

/// The table that an UPDATE or DELETE changes: its source 0.
pub(super) fn target(prepared: &Prepared) -> &Arc<Table> {
    prepared.sources[0].as_ref().expect("a table that is changed is a stored one")
}

/// The state of a run over the plan's tables.
pub(super) fn start_run<'a>(cx: &'a mut ExecContext<'_>, prepared: &'a Prepared, parts: &'a Parts, ignore: bool) -> Run<'a> {
    let strict = is_strict(cx.session, ignore);
    let shared = Shared::change(cx.session, cx.params, cx.host, strict);
    let sources = sources_of(&prepared.sources);
    let lock = subquery_lock(cx.txn);
    let mut run = Run::new(cx.worker, cx.txn, shared, sources, Slice::until(None));
    run.set_parts(parts, &prepared.sources, lock);
    run
}

/// What the subqueries of a data change read stays so until it is committed, where the isolation level promises that.
pub(crate) fn subquery_lock(txn: &Txn) -> Option<SourceLock> {
    txn.locks_gaps().then_some(SourceLock::Lock(LockMode::Share, WaitPolicy::Wait))
}

/// The statement's LIMIT.
pub(super) async fn limit_of<'a>(run: &mut Run<'a>, plan: Option<&'a LimitPlan>) -> Result<u64> {
    let Some(plan) = plan else { return Ok(u64::MAX) };
    loop {
        let count = evaluate_count(&run.env(&[]), plan.count.as_ref());
        match count {
            Ok(count) => return Ok(count.unwrap_or(u64::MAX)),
            Err(pause) => run.resolve(pause).await?,
        }
    }
}

/// Reads a collected row, which this transaction has locked, again. `false`: an earlier change of this statement has removed it.
pub(super) async fn reread(run: &mut Run<'_>, table: &Table, key: &[u8], wanted: &[bool]) -> Result<bool> {
    reread_source(run, 0, table, key, wanted).await
}

/// As [`reread`], of any source.
pub(super) async fn reread_source(run: &mut Run<'_>, source: usize, table: &Table, key: &[u8], wanted: &[bool]) -> Result<bool> {
    if let Err(pause) = run.tick() {
        run.resolve(pause).await?;
    }
    let Run { worker, txn, sources, shared, .. } = run;
    let source = &mut sources[source];
    source.row.set_key(key);
    loop {
        let how = RowRead::Latest;
        if !engine!(shared.session, table.reread(worker, txn, how, &mut source.row))? {
            return Ok(false);
        }
        source.state = SourceState::Stored;
        if engine!(shared.session, table.load_externals(worker, txn, how, wanted, &mut source.row))? {
            return Ok(true);
        }
    }
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
    /// Runs the subqueries that the assigned expressions ask for, so that evaluation finds their values.
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

    /// Changes the current row of source 0. `false`: it is not the current version any more. Gives the memory of `values` back.
    async fn row(
        &mut self,
        run: &mut Run<'_>,
        values: Vec<Value<'static>>,
        progress: &mut Progress,
        counts: &mut Changes,
    ) -> Result<(bool, Vec<Value<'static>>)> {
        let number = self.matched + 1;
        if let Some(triggers) = &self.triggers {
            let Run { worker, txn, sources, shared, .. } = run;
            if !Box::pin(triggers.lock(&mut Writer { worker, txn, shared }, &mut sources[0].row)).await? {
                return Ok((false, values));
            }
        }
        if run.has_subqueries() {
            self.run_subqueries(run, number).await?;
        }
        let Run { worker, txn, sources, shared, clock, .. } = run;
        let env = Env { sources, slots: &[], insert: &[], overlay: &[], shared };
        let mut raw = recycle(values);
        while let Err(pause) = self.assigner.evaluate(&env, number, &mut raw) {
            wait::resolve(pause, shared, clock).await?;
        }
        shared.row_done();
        let mut changes: ColumnChanges<'_> = Vec::with_capacity(raw.len());
        self.assigner.changes(shared, &sources[0], &raw, number, &mut changes)?;
        let row = ChangedRow { rules: self.rules, source: &sources[0], number };
        if let Some(triggers) = &self.triggers {
            Box::pin(triggers.before_update(&mut Writer { worker, txn, shared }, &row, &mut changes)).await?;
        }
        self.assigner.settle(shared, &row, &mut changes, self.ignore)?;
        if let Some(judge) = self.judge {
            let writer = Writer { worker, txn, shared };
            // Boxed: rare, and it would make every statement larger.
            Box::pin(judge.judge_changed(writer, self.table, &sources[0].row, &mut changes, &[], self.ignore)).await?;
        }
        let mut done = true;
        let mut refused = false;
        let unchanged = changes.is_empty();
        if !unchanged {
            let old = &sources[0].row;
            let outcome = match &mut self.checker {
                None => Some(engine!(shared.session, self.table.update_row(worker, txn, old, &changes, progress))?),
                Some(checker) => checker.update(Writer { worker, txn, shared }, old, &changes, progress, counts).await?,
            };
            match outcome {
                // A foreign key forbids it: left as it is, by IGNORE.
                None => {
                    self.matched += 1;
                    refused = true;
                }
                Some(WriteRow::Done) => {
                    self.matched += 1;
                    self.changed += 1;
                    count(&shared.session.work.update);
                    if let Some(number) = changed_number(self.table, &changes) {
                        engine!(shared.session, self.table.note_auto_increment(worker, number))?;
                    }
                }
                Some(WriteRow::Changed | WriteRow::Paused { .. }) => done = false,
                Some(WriteRow::Duplicate { index }) => {
                    let new = new_row(self.table, old, &changes)?;
                    let mut existing = table::RowBuf::default();
                    done = engine!(shared.session, self.table.lock_duplicate(worker, txn, index, &new, &mut existing))?;
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
            Box::pin(triggers.after_update(&mut Writer { worker, txn, shared }, &sources[0].row, &changes)).await?;
        }
        drop(changes);
        let values = recycle(raw);
        if unchanged {
            // It matches, so it is locked like one that is changed.
            let row = &mut sources[0].row;
            let (seen, mode) = (row.seen(), LockMode::Exclusive);
            let there = engine!(shared.session, self.table.lock_current(worker, txn, mode, WaitPolicy::Wait, row))?;
            done = there && row.seen() == seen;
            self.matched += u64::from(done);
        }
        Ok((done, values))
    }
}

/// The whole row as it would have become, for the message about a duplicate.
pub(super) fn new_row<'v>(table: &'v Table, old: &'v table::RowBuf, changes: &'v [(usize, Value<'_>)]) -> Result<Vec<Value<'v>>> {
    let row = old.row(table);
    let columns = table.def().columns.len();
    Ok((0..columns)
        .map(|column| match changes.iter().find(|(c, _)| *c == column) {
            Some((_, value)) => value.borrowed(),
            // Columns outside of the row are not in unique keys that could be printed.
            None => row.get(column).unwrap_or(Value::Null),
        })
        .collect())
}

/// The key that a changed row would have in an index, as messages print it.
pub(super) fn duplicate_key(table: &Table, index: usize, old: &table::RowBuf, changes: &[(usize, Value<'_>)]) -> Result<String> {
    Ok(table.key_text(index, &new_row(table, old, changes)?))
}

/// 1062, naming the key's values and `table.index`.
pub(super) fn duplicate(table: &Table, index: usize, values: &[Value<'_>]) -> Error {
    let def = table.def();
    let mut value = table.key_text(index, values);
    if value.len() > DUPLICATE_TEXT_BYTES_MAX {
        value.truncate(
            value.char_indices().map(|(at, _)| at).take_while(|at| *at <= DUPLICATE_TEXT_BYTES_MAX).last().unwrap_or(0),
        );
    }
    Error::DuplicateEntry { value, key: format!("{}.{}", def.name, def.indexes[index].name) }
}

/// MySQL cuts the key in the message about a duplicate after so many bytes.
const DUPLICATE_TEXT_BYTES_MAX: usize = 64;
