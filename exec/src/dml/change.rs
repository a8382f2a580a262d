//! UPDATE and DELETE over a join.
//!
//! 1. The join runs to its end. When it returns a target's row for the first time, the clustered key is noted and, for an UPDATE, the
//!    assigned values, which are evaluated over the rows as found. The rows are locked as they are read.
//! 2. The rows are changed, target by target, in the order in which they were found.
//!
//! Rows that do not fit memory go to a temporary file. They are sorted by key, which finds the first of each, and then by number.

use super::assign::{Assigner, ColumnChanges};
use super::common::{changed_number, duplicate, new_row, note_use, reread_source, start_run, subquery_lock, update_info};
use super::done::DmlDone;
use super::foreign::Checker;
use super::triggers::{ChangedRow, Triggers};
use super::writer::Writer;
use super::{Changes, RowRules, ViewJudge};
use crate::context::ExecContext;
use crate::hash::ByteMap;
use crate::operator::Builder;
use crate::pause::Step;
use crate::prepared::Prepared;
use crate::run::Run;
use crate::source::SourceState;
use crate::spill::sorter::Sorter;
use crate::wait::engine;
use expr::packed::{self, Packer};
use expr::{Result, count};
use sql::plan::{ChangePlan, ChangeTarget};
use table::{Progress, Table, WriteRow};
use types::Value;
use types::schema::TriggerEvent;

/// The rows of one target to change.
struct Rows<'p> {
    target: &'p ChangeTarget,
    table: &'p Table,
    /// WITH CHECK OPTION that needs more than the row.
    judge: Option<&'p ViewJudge>,
    /// The rows' clustered keys, numbered as they were found.
    keys: ByteMap,
    /// The assigned values of each row, packed, and the values of other tables that `judge` reads.
    values: Vec<u8>,
    starts: Vec<usize>,
    charged: usize,
    /// Rows that do not fit memory; they were found after the others.
    later: Option<Box<Later>>,
    /// The number of rows that `next` has returned.
    given: usize,
}

/// Rows in a temporary file.
#[derive(Default)]
struct Later {
    /// Sorted by clustered key: number and values. A row may occur several times.
    found: Sorter,
    count: u64,
    /// The key of the previous row of `found`.
    last: Option<Vec<u8>>,
    /// Sorted by number: the key's length, the key, the values.
    first: Sorter,
}

impl Later {
    fn add(&mut self, key: &[u8], values: &[u8]) {
        let arena = self.found.arena();
        let start = arena.len();
        arena.extend_from_slice(key);
        arena.extend_from_slice(&self.count.to_be_bytes());
        arena.extend_from_slice(values);
        self.found.push(start, key.len());
        self.count += 1;
    }

    /// Called after the last row: keeps the first occurrence of each row.
    fn finish(&mut self, run: &mut Run<'_>) -> Step<bool> {
        self.found.finish(run)?;
        loop {
            self.first.settle(run)?;
            if !self.found.next(run)? {
                break;
            }
            // The sort keeps the order of equal keys.
            if self.last.as_deref() == Some(self.found.key()) {
                continue;
            }
            let last = self.last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(self.found.key());
            let (number, values) = self.found.row().split_at(size_of::<u64>());
            let arena = self.first.arena();
            let start = arena.len();
            arena.extend_from_slice(number);
            arena.extend_from_slice(&(last.len() as u32).to_le_bytes());
            arena.extend_from_slice(last);
            arena.extend_from_slice(values);
            self.first.push(start, number.len());
        }
        self.first.finish(run)?;
        Ok(true)
    }

    /// The key and the values of the current row.
    fn current(&self) -> (&[u8], &[u8]) {
        let (length, rest) = self.first.row().split_first_chunk().expect("put there with the row");
        rest.split_at(u32::from_le_bytes(*length) as usize)
    }
}

/// Runs an UPDATE or DELETE over a join.
pub(crate) async fn change(
    cx: &mut ExecContext<'_>,
    prepared: &Prepared,
    plan: &ChangePlan,
    changes: &mut Changes,
) -> Result<DmlDone> {
    let lock = subquery_lock(cx.txn);
    let mut run = start_run(cx, prepared, &plan.parts, plan.ignore);
    run.keeps_keys = true;
    let builder = Builder {
        tables: &prepared.sources,
        lock,
        locks: &[],
        is_limited: false,
        exclusive: Some(&plan.targets),
        keeps_order: true,
        measures: None,
        sharing: None,
        gathers: false,
    };
    let mut operator = builder.build(&plan.root);
    let rows = plan.targets.iter().map(|target| {
        let table = prepared.sources[target.source].as_deref().expect("a table that is changed is a stored one");
        Rows {
            target,
            table,
            judge: prepared.judge(table),
            keys: ByteMap::default(),
            values: Vec::new(),
            starts: Vec::new(),
            charged: 0,
            later: None,
            given: 0,
        }
    });
    let mut rows: Vec<Rows<'_>> = rows.collect();
    loop {
        if !run.advance(|run| operator.next(run)).await? {
            break;
        }
        for rows in &mut rows {
            while let Err(pause) = rows.note(&mut run) {
                run.resolve(pause).await?;
            }
            run.row_done();
            if let Some(later) = &mut rows.later {
                run.advance(|run| later.found.settle(run).map(|()| true)).await?;
            }
        }
    }
    let mut done = DmlDone::default();
    let mut changed = 0;
    for rows in &mut rows {
        if let Some(later) = &mut rows.later {
            run.advance(|run| later.finish(run)).await?;
        }
        let checker = Checker::new(prepared.foreign_keys.as_deref(), rows.table, &run.shared, plan.ignore);
        if plan.update {
            let how = How { rules: prepared.rules(rows.table), ignore: plan.ignore };
            changed += rows.update(&mut run, checker, how, &mut done, changes).await?;
        } else {
            changed += rows.delete(&mut run, checker, changes).await?
        }
    }
    run.count_rest();
    let session = run.shared.session;
    if plan.update {
        done.info = update_info(session, done.matched, changed);
        done.affected = if session.client_found_rows { done.matched } else { changed };
    } else {
        (done.affected, done.matched) = (changed, changed);
    }
    done.last_insert_id = session.last_insert_id_set.get().unwrap_or(0);
    Ok(done)
}

/// How the rows of a table are changed.
struct How<'p> {
    rules: Option<&'p RowRules>,
    ignore: bool,
}

impl<'p> Rows<'p> {
    /// Notes the target's current row, unless there is none or it is known.
    fn note(&mut self, run: &mut Run<'p>) -> Step<()> {
        let source = &run.sources[self.target.source];
        if source.state == SourceState::Null || self.keys.find(source.row.key()).is_some() {
            return Ok(());
        }
        let start = self.values.len();
        let assignments = &self.target.assignments;
        let beside = self.judge.map_or(&[][..], |judge| &judge.check.joined);
        let mut packer = Packer::new(&mut self.values, assignments.len() + beside.len());
        let env = run.env(&[]);
        for expr in assignments.iter().map(|assignment| assignment.value.as_ref()).chain(beside.iter().map(Some)) {
            let value = match expr {
                Some(expr) => env.eval(expr).and_then(|value| env.finish(value, &expr.ty, &expr.ty)),
                None => Ok(Value::Null),
            };
            match value {
                Ok(value) => packer.push(&value),
                Err(pause) => {
                    self.values.truncate(start);
                    return Err(pause.into());
                }
            }
        }
        let key = run.sources[self.target.source].row.key();
        if let Some(later) = &mut self.later {
            later.add(key, &self.values[start..]);
            self.values.truncate(start);
            return Ok(());
        }
        self.starts.push(start);
        self.keys.insert(key);
        let bytes = self.keys.memory_bytes() + self.values.capacity() + self.starts.capacity() * 8;
        let grown = bytes.saturating_sub(self.charged);
        if grown > 0 && !run.grant(self.charged, grown) {
            self.keys.shrink();
            self.values.shrink_to_fit();
            self.later = Some(Box::default());
            return Ok(());
        }
        self.charged += grown;
        Ok(())
    }

    /// Moves to the next row to change.
    async fn next(&mut self, run: &mut Run<'p>) -> Result<bool> {
        if self.given < self.starts.len() {
            self.given += 1;
            return Ok(true);
        }
        let Some(later) = &mut self.later else { return Ok(false) };
        self.given = self.starts.len() + 1;
        run.advance(|run| later.first.next(run)).await
    }

    /// The current row's clustered key and its values.
    fn current(&self) -> (&[u8], &[u8]) {
        let number = self.given - 1;
        match (self.starts.get(number), &self.later) {
            (Some(start), _) => (self.keys.key(number), &self.values[*start..]),
            (None, Some(later)) => later.current(),
            (None, None) => unreachable!("a row has been given out"),
        }
    }

    /// Changes the rows; returns how many differ from before.
    async fn update(
        &mut self,
        run: &mut Run<'p>,
        mut checker: Option<Checker<'p>>,
        how: How<'p>,
        done: &mut DmlDone,
        counts: &mut Changes,
    ) -> Result<u64> {
        let triggers = Triggers::of(self.table, TriggerEvent::Update);
        let assigner = Assigner::over_join(self.table.def(), &self.target.assignments)?.with_triggers(triggers.as_ref());
        let How { rules, ignore } = how;
        let assigner = assigner.with_rules(rules, &self.target.unread);
        let wanted = vec![true; self.table.def().columns.len()];
        let mut progress = Progress::default();
        let mut changed = 0;
        while self.next(run).await? {
            let (key, values) = self.current();
            let (assigned, beside) = (self.target.assignments.len(), self.judge.map_or(0, |judge| judge.check.joined.len()));
            let raw: Vec<Value<'_>> = (0..assigned).map(|n| packed::get(values, n)).collect();
            let joined: Vec<Value<'_>> = (assigned..assigned + beside).map(|n| packed::get(values, n)).collect();
            loop {
                if !reread_source(run, self.target.source, self.table, key, &wanted).await? {
                    break;
                }
                let (mut writer, sources, _) = Writer::of(run);
                let shared = writer.shared;
                if let Some(triggers) = &triggers {
                    let row = &mut sources[self.target.source].row;
                    if !Box::pin(triggers.lock(&mut writer, row)).await? {
                        continue;
                    }
                }
                let source = &sources[self.target.source];
                let mut changes: ColumnChanges<'_> = Vec::with_capacity(raw.len());
                let number = done.matched + 1;
                assigner.changes(shared, source, &raw, number, &mut changes)?;
                let row = ChangedRow { rules, source, number };
                if let Some(triggers) = &triggers {
                    Box::pin(triggers.before_update(&mut writer, &row, &mut changes)).await?;
                }
                assigner.settle(shared, &row, &mut changes, ignore)?;
                if let Some(judge) = self.judge {
                    Box::pin(judge.judge_changed(&mut writer, self.table, &source.row, &mut changes, &joined, ignore)).await?;
                }
                if changes.is_empty() {
                    if let Some(triggers) = &triggers {
                        Box::pin(triggers.after_update(&mut writer, &source.row, &changes)).await?;
                    }
                    done.matched += 1;
                    break;
                }
                let row = &source.row;
                let outcome = match &mut checker {
                    None => Some(engine!(
                        shared.session,
                        self.table.update_row(writer.worker, writer.txn, row, &changes, &mut progress)
                    )?),
                    Some(checker) => checker.update(&mut writer, row, &changes, &mut progress, counts).await?,
                };
                match outcome {
                    None => {}
                    Some(WriteRow::Changed | WriteRow::Paused { .. }) => continue,
                    Some(WriteRow::Done) => {
                        changed += 1;
                        count(&shared.session.work.update);
                        note_use(self.table, |used| used.updated += 1);
                        if let Some(number) = changed_number(self.table, &changes) {
                            engine!(shared.session, self.table.note_auto_increment(writer.worker, number))?;
                        }
                        if let Some(triggers) = &triggers {
                            Box::pin(triggers.after_update(&mut writer, row, &changes)).await?;
                        }
                    }
                    Some(WriteRow::Duplicate { index }) => {
                        let new = new_row(self.table, &source.row, &changes)?;
                        let mut existing = table::RowBuf::default();
                        if !engine!(
                            shared.session,
                            self.table.lock_duplicate(writer.worker, writer.txn, index, &new, &mut existing)
                        )? {
                            continue;
                        }
                        let error = duplicate(self.table, index, &new);
                        if !ignore {
                            return Err(error);
                        }
                        shared.session.warn(error);
                    }
                }
                done.matched += 1;
                break;
            }
            run.row_done();
        }
        Ok(changed)
    }

    /// Deletes the rows; returns how many.
    async fn delete(&mut self, run: &mut Run<'p>, mut checker: Option<Checker<'p>>, changes: &mut Changes) -> Result<u64> {
        let wanted = vec![true; self.table.def().columns.len()];
        let mut progress = Progress::default();
        let triggers = Triggers::of(self.table, TriggerEvent::Delete);
        let mut deleted = 0;
        while self.next(run).await? {
            let (key, _) = self.current();
            while reread_source(run, self.target.source, self.table, key, &wanted).await? {
                let (mut writer, sources, _) = Writer::of(run);
                let session = writer.shared.session;
                if let Some(triggers) = &triggers {
                    let row = &mut sources[self.target.source].row;
                    if !Box::pin(triggers.lock(&mut writer, row)).await? {
                        continue;
                    }
                    Box::pin(triggers.around_delete(&mut writer, true, row)).await?;
                }
                let row = &sources[self.target.source].row;
                let outcome = match &mut checker {
                    None => Some(engine!(session, self.table.delete_row(writer.worker, writer.txn, row, &mut progress))?),
                    Some(checker) => checker.delete(&mut writer, row, &mut progress, changes).await?,
                };
                match outcome {
                    None => break,
                    Some(WriteRow::Done) => {
                        deleted += 1;
                        count(&session.work.delete);
                        note_use(self.table, |used| used.deleted += 1);
                        changes.add_to(self.target.source, -1);
                        if let Some(triggers) = &triggers {
                            Box::pin(triggers.around_delete(&mut writer, false, row)).await?;
                        }
                        break;
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(deleted)
    }
}
