//! INSERT, REPLACE, INSERT IGNORE, INSERT ... ON DUPLICATE KEY UPDATE, and INSERT ... SELECT.
//!
//! For each row: 1. given values are converted, the others are the columns' defaults; 2. AUTO_INCREMENT is filled in; 3. the row is
//! inserted; 4. a duplicate is replaced, updated, skipped or reported. A query that reads the target table is read to its end first.

use super::assign::{Assigner, ColumnChanges, is_stored_alike};
use super::common::{changed_number, duplicate, is_strict, new_row, note_use, subquery_lock};
use super::defaults::{self, Default};
use super::done::{ChangeInfo, DmlDone};
use super::foreign::Checker;
use super::given::{self, GivenRow};
use super::triggers::{ChangedRow, InsertTriggers, NewRow};
use super::writer::Writer;
use super::{Changes, ViewJudge, rules, store};
use crate::boxed::boxed;
use crate::clock::Slice;
use crate::context::ExecContext;
use crate::operator::{Builder, Operator};
use crate::parallel::Sharing;
use crate::pause::Step;
use crate::prepared::{InsertShape, Prepared};
use crate::run::Run;
use crate::scratch::Scratch;
use crate::shared::Shared;
use crate::source::{RowSlot, Source, SourceState, sources_of};
use crate::spill::row_store::RowStore;
use crate::spill::tape::TapeReader;
use crate::wait::{self, engine};
use expr::{Class, Env, Error, Expr, Result, SessionVars, class, coerce, count, packed};
use sql::plan::{InsertPlan, InsertSource, Node, OutputColumn, QueryPlan};
use std::sync::Arc;
use table::{InsertRow, Progress, RowRead, Table, WriteRow};
use txn::{LockMode, WaitPolicy, Worker};
use types::{Value, recycle};

/// Runs an INSERT or REPLACE.
pub(crate) async fn insert(
    cx: &mut ExecContext<'_>,
    prepared: &Prepared,
    plan: &InsertPlan,
    scratch: &mut Scratch,
    changes: &mut Changes,
) -> Result<DmlDone> {
    let (table, _) = prepared.target.as_ref().expect("an INSERT has a target");
    let strict = is_strict(cx.session, plan.ignore);
    let shared = Shared::change(cx.session, cx.params, cx.host, strict);
    let mut insert = Inserting::new(plan, prepared, scratch, changes)?;
    insert.checker = Checker::new(prepared.foreign_keys.as_deref(), table, &shared, plan.ignore);
    let mut found = None;
    let mut writer = Writer::new(cx.worker, cx.txn, &shared);
    match &plan.source {
        InsertSource::Values(rows) if !plan.parts.subqueries.is_empty() => {
            insert.rows_with_subqueries(&mut writer, prepared, rows).await?;
        }
        InsertSource::Values(rows) => {
            let mut clock = Slice::until(None);
            insert.single_row = rows.len() == 1;
            insert.rows_known = Some(rows.len() as u64);
            let env = Env { rows: &expr::NoRows, slots: &[], insert: &[], overlay: &[], shared: &shared };
            let mut raw = recycle(std::mem::take(&mut scratch.values));
            for row in rows {
                shared.row_done();
                if let Err(pause) = clock.tick(shared.session) {
                    wait::resolve(pause, &shared, &mut clock).await?;
                }
                if plan.reads_row {
                    insert.row_that_reads(&mut writer, row, &mut clock).await?;
                    continue;
                }
                while let Err(pause) = evaluate_row(&env, row, &mut raw) {
                    wait::resolve(pause, &shared, &mut clock).await?;
                }
                shared.row_done();
                insert.row(&mut writer, &raw, Given::Exprs(row)).await?;
            }
            scratch.values = recycle(raw);
        }
        InsertSource::Query(query) => found = Some(insert.query(&mut writer, prepared, query).await?),
        InsertSource::File(_) => panic!("LOAD DATA has a way of its own"),
    }
    let done = insert.finish(&shared);
    insert.return_buffers(scratch);
    if let Some(found) = found {
        cx.session.found_rows = found;
    }
    Ok(done)
}

fn evaluate_row<'e>(env: &Env<'e>, row: &'e [Option<Expr>], raw: &mut Vec<Value<'e>>) -> Step<()> {
    raw.clear();
    for expr in row {
        raw.push(match expr {
            Some(expr) => env.eval(expr)?,
            None => Value::Null,
        });
    }
    Ok(())
}

/// Where the given values of a row come from: their static types, and which of them are DEFAULT.
#[derive(Clone, Copy)]
enum Given<'g> {
    Exprs(&'g [Option<Expr>]),
    Columns(&'g [OutputColumn]),
    /// Converted to the columns' types already.
    Converted(&'g [Option<Expr>]),
}

impl<'g> Given<'g> {
    /// The type of value `n`, which is for this column; `None` is DEFAULT.
    fn ty(self, n: usize, column: &'g types::schema::ColumnDef) -> Option<&'g types::ColumnType> {
        match self {
            Given::Exprs(exprs) => exprs[n].as_ref().map(|e| &e.ty),
            Given::Columns(columns) => Some(&columns[n].ty),
            Given::Converted(exprs) => exprs[n].as_ref().map(|_| &column.ty),
        }
    }
}

/// The state of the AUTO_INCREMENT column.
struct AutoIncrement {
    column: usize,
    /// The highest number the column can hold.
    max: u64,
    /// The number of the statement's next row, 0 before the first; used only while it is below `end`.
    next: u64,
    /// The end of the reserved numbers.
    end: u64,
    /// The number of reservations. If the number of rows is unknown, each reserves twice as many numbers as the last, as in InnoDB.
    reservations: u32,
}

/// The most numbers that one reservation takes if the number of rows is unknown.
const RESERVED_MAX: u64 = 65_535;

/// Rows on their way into a table.
pub(super) struct Inserting<'p> {
    plan: &'p InsertPlan,
    table: &'p Table,
    shape: &'p InsertShape,
    assigner: Option<Assigner<'p>>,
    triggers: Option<Box<InsertTriggers<'p>>>,
    /// WITH CHECK OPTION that needs more than the row. The columns of the view's other tables are NULL.
    judge: Option<&'p ViewJudge>,
    /// The columns of the query's row that only ON DUPLICATE KEY UPDATE reads.
    beside: Vec<Value<'static>>,
    /// The tables of subqueries in ON DUPLICATE KEY UPDATE.
    duplicate_sources: &'p [Option<Arc<Table>>],
    auto: Option<AutoIncrement>,
    pub checker: Option<Checker<'p>>,
    changes: &'p mut Changes,
    progress: Box<Progress>,
    /// The existing row that has the same key as the new one.
    existing: RowSlot,
    single_row: bool,
    /// Rows of a VALUES list.
    rows_known: Option<u64>,
    row_number: u64,
    inserted: u64,
    replaced: u64,
    updated: u64,
    touched: u64,
    /// Rows without a parent, left out.
    left_out: u64,
    first_generated: Option<u64>,
    last_explicit: u64,
}

impl<'p> Inserting<'p> {
    pub fn new(plan: &'p InsertPlan, prepared: &'p Prepared, scratch: &mut Scratch, changes: &'p mut Changes) -> Result<Self> {
        let (table, shape) = prepared.target.as_ref().expect("an INSERT has a target");
        let table: &'p Table = table;
        let columns = &table.def().columns;
        let triggers = InsertTriggers::of(table, plan);
        let update = triggers.as_ref().and_then(|triggers| triggers.update.as_ref());
        let assigner = (!plan.on_duplicate.is_empty()).then(|| Assigner::new(table.def(), &plan.on_duplicate));
        let auto = columns.iter().position(|c| c.auto_increment).map(|column| AutoIncrement {
            column,
            max: table.auto_increment_max().unwrap_or(u64::MAX),
            next: 0,
            end: 0,
            reservations: 0,
        });
        Ok(Self {
            plan,
            table,
            shape,
            assigner: assigner.transpose()?.map(|assigner| assigner.with_triggers(update).with_rules(shape.rules.as_ref(), &[])),
            triggers,
            judge: prepared.judge(table),
            beside: Vec::new(),
            duplicate_sources: &prepared.duplicate_sources,
            auto,
            checker: None,
            changes,
            progress: scratch.progress.take().unwrap_or_default(),
            existing: std::mem::take(&mut scratch.row),
            single_row: false,
            rows_known: None,
            row_number: 0,
            inserted: 0,
            replaced: 0,
            updated: 0,
            touched: 0,
            left_out: 0,
            first_generated: None,
            last_explicit: 0,
        })
    }

    pub fn return_buffers(self, scratch: &mut Scratch) {
        scratch.progress = Some(self.progress);
        scratch.row = self.existing;
    }

    /// Inserts rows of VALUES with subqueries. The subqueries do not see the rows that the statement inserts.
    async fn rows_with_subqueries(
        &mut self,
        writer: &mut Writer<'_, '_>,
        prepared: &Prepared,
        rows: &'p [Vec<Option<Expr>>],
    ) -> Result<()> {
        self.single_row = rows.len() == 1;
        self.rows_known = Some(rows.len() as u64);
        let sources = sources_of(&prepared.sources);
        let Writer { worker, txn, shared } = writer;
        let own = shared.alike();
        let lock = subquery_lock(txn);
        let mut run = Run::new(worker, txn, own, sources, Slice::until(None));
        run.set_parts(&self.plan.parts, &prepared.sources, lock);
        for row in rows {
            if self.plan.reads_row {
                let raw = self.given_row(&mut run, row).await?;
                self.row(&mut Writer::new(worker, run.txn, shared), &raw, Given::Converted(row)).await?;
                run.row_done();
                continue;
            }
            let raw = loop {
                let evaluated = {
                    let mut raw = Vec::with_capacity(row.len());
                    evaluate_row(&run.env(&[]), row, &mut raw)
                        .map(|()| raw.into_iter().map(Value::into_owned).collect::<Vec<Value<'static>>>())
                };
                match evaluated {
                    Ok(raw) => break raw,
                    Err(pause) => run.resolve(pause).await?,
                }
            };
            run.row_done();
            self.row(&mut Writer::new(worker, run.txn, shared), &raw, Given::Exprs(row)).await?;
            run.row_done();
        }
        Ok(())
    }

    /// The values of a row whose expressions read columns of the row and contain subqueries.
    async fn given_row(&self, run: &mut Run<'p>, exprs: &'p [Option<Expr>]) -> Result<Vec<Value<'static>>> {
        let mut given = GivenRow::new(&run.shared, self.table, &self.shape.defaults)?;
        for (expr, &column) in exprs.iter().zip(&self.plan.columns) {
            while let Err(pause) = given.take(&run.env(&[]), self.table, expr.as_ref(), column, self.row_number + 1) {
                run.resolve(pause).await?;
            }
            run.row_done();
        }
        Ok(given.values)
    }

    /// Inserts the rows of a query; returns the value of FOUND_ROWS().
    async fn query(&mut self, writer: &mut Writer<'_, '_>, prepared: &Prepared, query: &QueryPlan) -> Result<u64> {
        let mut reads_target = false;
        for root in prepared.plan.roots() {
            root.walk_scans(&mut |scan| reads_target |= !scan.table.is_virtual && scan.table.id == self.table.id());
        }
        let sources = sources_of(&prepared.sources);
        let Writer { worker, txn, shared } = writer;
        let own = shared.alike();
        // At isolation levels with repeatable reads, the rows that the query reads stay unchanged until commit.
        let lock = subquery_lock(txn);
        let sharing = Sharing::new(&prepared.plan, &prepared.sources, None);
        let mut run = Run::new(worker, txn, own, sources, Slice::until(None));
        let shareable = sharing.shareable(run.shared.session, lock, &query.parts);
        if shareable.is_some() {
            run.sharing = Some(&sharing);
        }
        run.set_measured_parts(&query.parts, &prepared.sources, lock, None, shareable);
        let is_limited = matches!(query.root, Node::Limit { .. } | Node::Trim { .. });
        let mut operator = Builder {
            tables: &prepared.sources,
            lock,
            locks: &query.parts.locks,
            is_limited,
            exclusive: None,
            keeps_order: true,
            measures: None,
            sharing: shareable,
            gathers: !is_limited,
        }
        .build(&query.root);
        if reads_target {
            let mut rows = read_all(&mut operator, &mut run).await?;
            let (mut reader, mut row) = (TapeReader::new(), Vec::new());
            for number in 0..rows.len() {
                run.advance(|_| rows.copy(&mut reader, number, &mut row)).await?;
                let raw: Vec<Value<'_>> = (0..query.columns.len()).map(|n| packed::get(&row, n)).collect();
                self.note_beside(&raw);
                self.row(&mut Writer::new(worker, run.txn, shared), &raw, Given::Columns(&query.columns)).await?;
            }
            return Ok(run.found_rows.unwrap_or(rows.len() as u64));
        }
        let mut found = 0;
        while run.advance(|run| operator.next(run)).await? {
            found += 1;
            let slots = operator.slots();
            let raw: Vec<Value<'_>> = (0..query.columns.len()).map(|n| packed::get(slots, n)).collect();
            self.note_beside(&raw);
            self.row(&mut Writer::new(worker, run.txn, shared), &raw, Given::Columns(&query.columns)).await?;
        }
        Ok(run.found_rows.unwrap_or(found))
    }

    /// Keeps the columns of a query's row that ON DUPLICATE KEY UPDATE reads.
    fn note_beside(&mut self, raw: &[Value<'_>]) {
        self.beside.clear();
        self.beside.extend(raw[self.plan.columns.len()..].iter().map(|value| value.borrowed().into_owned()));
    }

    /// Inserts one row of VALUES whose expressions read columns of the row.
    async fn row_that_reads(&mut self, writer: &mut Writer<'_, '_>, exprs: &[Option<Expr>], clock: &mut Slice) -> Result<()> {
        let shared = writer.shared;
        let evaluate =
            || given::evaluate(shared, self.table, &self.shape.defaults, &self.plan.columns, exprs, self.row_number + 1);
        let raw = loop {
            match evaluate() {
                Ok(raw) => break raw,
                Err(pause) => wait::resolve(pause, shared, clock).await?,
            }
        };
        shared.row_done();
        self.row(writer, &raw, Given::Converted(exprs)).await
    }

    /// Inserts one row of given values.
    async fn row(&mut self, writer: &mut Writer<'_, '_>, raw: &[Value<'_>], given: Given<'_>) -> Result<()> {
        self.row_number += 1;
        let def = self.table.def();
        let mut values: Vec<Value<'_>> = Vec::with_capacity(def.columns.len());
        let mut generated = None;
        let mut generate = self.fill(writer.shared, raw, given, &mut values)?;
        if let Some(triggers) = &self.triggers {
            let row = self.new_row(generate);
            generate = boxed(|| triggers.before_insert(writer, row, &mut values)).await?;
        }
        if generate {
            generated = Some(self.number_row(writer.worker, writer.shared, &mut values).await?);
        }
        self.finish_row(writer, &mut values, generated).await
    }

    /// Generates a row's number.
    async fn number_row(&mut self, worker: &Worker, shared: &Shared<'_>, values: &mut [Value<'_>]) -> Result<u64> {
        let (session, row) = (shared.session, self.row_number);
        let mut number = self.generate(worker, session).await?;
        let auto = self.auto.as_mut().expect("a generated number has a column");
        let column = &self.table.def().columns[auto.column];
        if number > auto.max {
            // The next step exceeds the column's range.
            let error = Error::ColumnOutOfRange { column: column.name.clone(), row };
            if shared.is_strict() {
                return Err(error);
            }
            session.warn(error);
            number = last_of_sequence(auto.max, session);
            auto.next = next_of_sequence(number, session);
        }
        values[auto.column] = match class(&column.ty) {
            Class::Double => Value::Double(number as f64),
            _ if coerce::is_unsigned(&column.ty) => Value::UInt(number),
            _ => Value::Int(number as i64),
        };
        Ok(number)
    }

    /// The description of the row for triggers.
    fn new_row(&self, generate: bool) -> NewRow<'p> {
        let auto = self.auto.as_ref().map(|auto| auto.column);
        NewRow { auto, generate, shape: self.shape, number: self.row_number, strict: self.single_row && !self.plan.ignore }
    }

    /// Starts the next row; returns its number.
    pub fn begin_row(&mut self) -> u64 {
        self.row_number += 1;
        self.row_number
    }

    /// Inserts a row whose values are complete and in stored form; generates its number if the AUTO_INCREMENT column asks for one.
    pub async fn complete(&mut self, writer: &mut Writer<'_, '_>, values: &mut [Value<'_>]) -> Result<()> {
        let mut generate = self.auto.as_ref().is_some_and(|auto| asks_for_number(&values[auto.column], writer.shared.session));
        if let Some(triggers) = &self.triggers {
            let row = self.new_row(generate);
            generate = boxed(|| triggers.before_insert(writer, row, values)).await?;
        }
        let mut generated = None;
        if generate {
            generated = Some(self.number_row(writer.worker, writer.shared, values).await?);
        }
        self.finish_row(writer, values, generated).await
    }

    /// Computes the row's generated columns, checks its conditions, and inserts it.
    async fn finish_row(&mut self, writer: &mut Writer<'_, '_>, values: &mut [Value<'_>], generated: Option<u64>) -> Result<()> {
        let shared = writer.shared;
        let mut held = match &self.shape.rules {
            Some(rules) => rules.complete(shared, self.table, values, self.row_number),
            None => Ok(()),
        };
        if let (Ok(()), Some(judge)) = (&held, self.judge) {
            // Boxed: rare, and it would make every statement larger.
            held = Box::pin(judge.judge(writer, values, &[])).await;
        }
        if let Err(error) = held {
            // IGNORE leaves out a row that a CHECK forbids.
            if !self.plan.ignore || !error.refuses_row() {
                return Err(error);
            }
            shared.session.warn(error);
            self.give_back(shared.session, generated);
            return Ok(());
        }
        self.put(writer, values, generated).await
    }

    /// May BEFORE triggers still set columns that must not be NULL?
    fn defers_nulls(&self) -> bool {
        self.triggers.as_ref().is_some_and(|triggers| triggers.insert.as_ref().is_some_and(|insert| insert.before))
    }

    /// Converts the given values and fills in defaults; returns whether the row gets a generated number.
    fn fill<'v>(&self, shared: &Shared<'_>, raw: &'v [Value<'_>], given: Given<'_>, values: &mut Vec<Value<'v>>) -> Result<bool>
    where
        'p: 'v,
    {
        let columns: &'p [types::schema::ColumnDef] = &self.table.def().columns;
        let defaults: &'p [Default] = &self.shape.defaults;
        let strict = shared.is_strict() || self.single_row && !self.plan.ignore;
        values.resize(columns.len(), Value::Null);
        let is_auto = |column: usize| self.auto.as_ref().is_some_and(|a| a.column == column);
        let mut generate = self.auto.as_ref().is_some_and(|a| self.shape.given[a.column].is_none());
        // Given values come first, in the order of the statement's columns, and so do their warnings.
        for (place, number) in self.plan.columns.iter().enumerate() {
            let column = &columns[*number];
            let value = match given.ty(place, column) {
                // Computed when the rest of the row is known.
                None if column.generated.is_some() || matches!(defaults[*number], Default::Expression(_)) => continue,
                None => defaults::value(shared, &defaults[*number], column, true)?,
                Some(_) if raw[place].is_null() => Value::Null,
                Some(ty) => store::convert(shared, &raw[place], ty, column, self.row_number)?,
            };
            if is_auto(*number) && asks_for_number(&value, shared.session) {
                generate = true;
            } else if value.is_null() && !column.nullable && !self.defers_nulls() {
                values[*number] = store::not_null(shared, column, strict)?;
            } else {
                values[*number] = value;
            }
        }
        for (number, column) in columns.iter().enumerate() {
            let is_deferred = self.defers_nulls() && matches!(defaults[number], Default::Missing);
            if self.shape.given[number].is_none() && !is_auto(number) && !is_deferred {
                // The warning about a missing default is raised once.
                values[number] = defaults::value(shared, &defaults[number], column, self.row_number == 1)?;
            }
        }
        if self.shape.has_expressions {
            let is_missing = |column: usize| match self.shape.given[column] {
                None => true,
                Some(place) => given.ty(place, &columns[column]).is_none(),
            };
            rules::fill_defaults(shared, self.table, defaults, is_missing, values, self.row_number)?;
        }
        Ok(generate)
    }

    /// The next number of the AUTO_INCREMENT column.
    async fn generate(&mut self, worker: &Worker, session: &SessionVars) -> Result<u64> {
        if let Some(id) = session.insert_id.filter(|_| self.first_generated.is_none() && self.row_number == 1) {
            return Ok(id);
        }
        let known = self.rows_known;
        let auto = self.auto.as_mut().expect("called for a table with such a column");
        if auto.next > auto.max {
            return Err(Error::AutoIncrementExhausted);
        }
        if auto.next >= auto.end {
            let rows = match known {
                // The rows that are left.
                Some(rows) => (rows + 1).saturating_sub(self.row_number).max(1),
                None => (1 << auto.reservations.min(16)).min(RESERVED_MAX),
            };
            // `rows` numbers of the sequence lie in any `rows * step` numbers.
            let count = rows.saturating_mul(step_of(session));
            let first = engine!(session, self.table.reserve_auto_increment(worker, count))?;
            if first > auto.max || first == u64::MAX {
                return Err(Error::AutoIncrementExhausted);
            }
            auto.next = next_of_sequence(first - 1, session);
            auto.end = first.saturating_add(count);
            auto.reservations += 1;
        }
        let number = auto.next;
        auto.next = next_of_sequence(number, session);
        Ok(number)
    }

    /// A row that was not inserted gives its number back: the next row gets it.
    fn give_back(&mut self, session: &SessionVars, generated: Option<u64>) {
        if let (Some(number), Some(auto)) = (generated, &mut self.auto)
            && auto.next == next_of_sequence(number, session)
        {
            auto.next = number;
        }
    }

    /// Inserts a complete row; replaces, updates, skips or reports a duplicate.
    async fn put(&mut self, writer: &mut Writer<'_, '_>, values: &[Value<'_>], generated: Option<u64>) -> Result<()> {
        let session = writer.shared.session;
        loop {
            let outcome = match &mut self.checker {
                None => Some(engine!(session, self.table.insert_row(writer.worker, writer.txn, values, &mut self.progress))?),
                Some(checker) => checker.insert(writer, values, &mut self.progress).await?,
            };
            let index = match outcome {
                Some(InsertRow::Inserted) => {
                    self.changes.add(1);
                    count(&session.work.write);
                    note_use(self.table, |used| used.inserted += 1);
                    break;
                }
                Some(InsertRow::Duplicate { index }) => index,
                // It has no parent, and IGNORE leaves it out.
                None | Some(InsertRow::Paused { .. }) => {
                    self.left_out += 1;
                    return Ok(());
                }
            };
            // A generated number repeats only at the end of the column's range: REPLACE must not replace the row that has it.
            let is_used_up = self.plan.replace && generated.is_some() && self.table.auto_increment_index() == Some(index);
            let plain = self.assigner.is_none() && !self.plan.replace;
            let existing = &mut self.existing;
            if plain || is_used_up {
                if !engine!(session, self.table.lock_duplicate(writer.worker, writer.txn, index, values, existing))? {
                    continue;
                }
                let error = duplicate(self.table, index, values);
                if !self.plan.ignore {
                    return Err(error);
                }
                session.warn(error);
                self.give_back(session, generated);
                return Ok(());
            }
            let how = RowRead::Lock(LockMode::Exclusive, WaitPolicy::Wait);
            if !engine!(session, self.table.conflicting_row(writer.worker, writer.txn, index, values, how, existing))? {
                continue;
            }
            if self.plan.replace {
                let delete = self.triggers.as_ref().and_then(|triggers| triggers.delete.as_ref());
                if delete.is_none() && self.is_last_unique(index) && self.is_same(values) {
                    // An equal row exists: MySQL updates it in place, and counts it once.
                    break;
                }
                if let Some(triggers) = delete {
                    let old = &mut self.existing;
                    if !Box::pin(triggers.lock(writer, old)).await? {
                        continue;
                    }
                    Box::pin(triggers.around_delete(writer, true, old)).await?;
                }
                let (old, progress) = (&self.existing, &mut self.progress);
                let outcome = match &mut self.checker {
                    None => Some(engine!(session, self.table.delete_row(writer.worker, writer.txn, old, progress))?),
                    Some(checker) => checker.delete(writer, old, progress, self.changes).await?,
                };
                if outcome == Some(WriteRow::Done) {
                    self.replaced += 1;
                    count(&session.work.delete);
                    note_use(self.table, |used| used.deleted += 1);
                    self.changes.add(-1);
                    if let Some(triggers) = delete {
                        Box::pin(triggers.around_delete(writer, false, old)).await?;
                    }
                }
                continue;
            }
            if self.update_existing(writer, values).await? {
                self.give_back(session, generated);
                return Ok(());
            }
        }
        self.inserted += 1;
        self.note_number(writer.worker, session, values, generated).await?;
        if let Some(triggers) = self.triggers.as_ref().and_then(|triggers| triggers.insert.as_ref()) {
            Box::pin(triggers.after_insert(writer, values)).await?;
        }
        Ok(())
    }

    /// Is this the last unique key, so that no later one can have a duplicate?
    fn is_last_unique(&self, index: usize) -> bool {
        self.table.def().indexes[index + 1..].iter().all(|index| !index.kind.is_unique())
    }

    /// Is the existing row equal to the new one?
    fn is_same(&self, values: &[Value<'_>]) -> bool {
        let row = self.existing.row(self.table);
        values.iter().enumerate().all(|(column, value)| row.get(column).is_ok_and(|old| is_stored_alike(&old, value)))
    }

    /// After an insert: remembers the generated number, or raises the counter above an explicit one.
    async fn note_number(
        &mut self,
        worker: &Worker,
        session: &SessionVars,
        values: &[Value<'_>],
        generated: Option<u64>,
    ) -> Result<()> {
        if let Some(number) = generated {
            self.first_generated.get_or_insert(number);
            if session.insert_id == Some(number) {
                engine!(session, self.table.note_auto_increment(worker, number))?;
            }
            return Ok(());
        }
        let Some(auto) = &mut self.auto else { return Ok(()) };
        // Zero and negative numbers do not count.
        let given = coerce::plain_integer(&values[auto.column]).unwrap_or(0);
        let number = u64::try_from(given).unwrap_or(0);
        if number > 0 {
            if auto.next > 0 && number >= auto.next {
                // The next generated number is above this one.
                auto.next = next_of_sequence(number, session);
            }
            engine!(session, self.table.note_auto_increment(worker, number))?;
        }
        self.last_explicit = given as u64;
        Ok(())
    }

    /// ON DUPLICATE KEY UPDATE of the row in `existing`; `false`: it changed, try the insert again.
    async fn update_existing(&mut self, writer: &mut Writer<'_, '_>, values: &[Value<'_>]) -> Result<bool> {
        let shared = writer.shared;
        let session = shared.session;
        let assigner = self.assigner.as_ref().expect("called for ON DUPLICATE KEY UPDATE");
        let wanted = vec![true; self.table.def().columns.len()];
        let how = RowRead::Latest;
        if !engine!(session, self.table.load_externals(writer.worker, writer.txn, how, &wanted, &mut self.existing))? {
            return Ok(false);
        }
        let row = std::mem::take(&mut self.existing);
        let mut source = [Source { table: Some(self.table), state: SourceState::Stored, row, ..Source::default() }];
        // VALUES(col) is the statement's value; a TIMESTAMP is in the session's time zone.
        let shown: Vec<Value<'_>> = values
            .iter()
            .zip(&self.table.def().columns)
            .map(|(value, column)| match (value, &column.ty.kind) {
                (Value::DateTime(d), types::TypeKind::Timestamp { .. }) => Value::DateTime(session.time_zone.from_stored(*d)),
                _ => value.borrowed(),
            })
            .chain(self.beside.iter().map(Value::borrowed))
            .collect();
        let mut raw = Vec::new();
        if self.plan.duplicate_parts.subqueries.is_empty() {
            let env = Env { rows: &source[0], slots: &[], insert: &shown, overlay: &[], shared };
            let mut clock = Slice::until(None);
            while let Err(pause) = assigner.evaluate(&env, self.row_number, &mut raw) {
                wait::resolve(pause, shared, &mut clock).await?;
            }
        } else {
            // Boxed: rare, and it would make every statement larger.
            let row = std::mem::take(&mut source[0].row);
            let evaluated = Box::pin(self.assigned_with_subqueries(writer, row, &shown)).await?;
            (raw, source[0].row) = evaluated;
        }
        shared.row_done();
        let mut changes: ColumnChanges<'_> = Vec::new();
        assigner.changes(shared, &source[0], &raw, self.row_number, &mut changes)?;
        let triggers = self.triggers.as_ref().and_then(|triggers| triggers.update.as_ref());
        let row = ChangedRow { rules: self.shape.rules.as_ref(), source: &source[0], number: self.row_number };
        if let Some(triggers) = triggers {
            Box::pin(triggers.before_update(writer, &row, &mut changes)).await?;
        }
        let (mut done, mut refused) = (true, false);
        assigner.settle(shared, &row, &mut changes, self.plan.ignore)?;
        if let Some(judge) = self.judge {
            Box::pin(judge.judge_changed(writer, self.table, &source[0].row, &mut changes, &[], self.plan.ignore)).await?;
        }
        if changes.is_empty() {
            self.touched += 1;
        } else {
            let old = &source[0].row;
            let progress = &mut self.progress;
            let outcome = match &mut self.checker {
                None => Some(engine!(session, self.table.update_row(writer.worker, writer.txn, old, &changes, progress))?),
                Some(checker) => checker.update(writer, old, &changes, progress, self.changes).await?,
            };
            match outcome {
                // A foreign key forbids it, and IGNORE leaves the row as it is.
                None => {
                    self.touched += 1;
                    refused = true;
                }
                Some(WriteRow::Done) => {
                    self.touched += 1;
                    self.updated += 1;
                    count(&session.work.update);
                    note_use(self.table, |used| used.updated += 1);
                    let changed = changed_number(self.table, &changes);
                    if let Some(number) = changed {
                        engine!(session, self.table.note_auto_increment(writer.worker, number))?;
                    }
                    if let Some(auto) = &self.auto {
                        let kept = || old.row(self.table).get(auto.column).ok().and_then(|value| coerce::plain_integer(&value));
                        self.last_explicit = changed.or_else(|| kept().map(|n| n as u64)).unwrap_or(0);
                    }
                }
                Some(WriteRow::Changed | WriteRow::Paused { .. }) => done = false,
                Some(WriteRow::Duplicate { index }) => {
                    let error = duplicate(self.table, index, &new_row(self.table, old, &changes)?);
                    if !self.plan.ignore {
                        return Err(error);
                    }
                    session.warn(error);
                    self.touched += 1;
                    refused = true;
                }
            }
        }
        if let Some(triggers) = triggers
            && done
            && !refused
        {
            Box::pin(triggers.after_update(writer, &source[0].row, &changes)).await?;
        }
        drop(changes);
        drop(raw);
        let [source] = source;
        self.existing = source.row;
        Ok(done)
    }

    /// The values of ON DUPLICATE KEY UPDATE with subqueries, for the existing row.
    async fn assigned_with_subqueries(
        &self,
        writer: &mut Writer<'_, '_>,
        row: RowSlot,
        shown: &[Value<'_>],
    ) -> Result<(Vec<Value<'static>>, RowSlot)> {
        let assigner = self.assigner.as_ref().expect("called for ON DUPLICATE KEY UPDATE");
        let Writer { worker, txn, shared } = writer;
        // Warnings that the row has raised so far stay, although it is evaluated again.
        shared.row_done();
        let mut sources = sources_of(self.duplicate_sources);
        (sources[0].state, sources[0].row) = (SourceState::Stored, row);
        let own = shared.alike();
        let lock = subquery_lock(txn);
        let mut run = Run::new(worker, txn, own, sources, Slice::until(None));
        run.set_parts(&self.plan.duplicate_parts, self.duplicate_sources, lock);
        loop {
            let evaluated = {
                let mut raw = Vec::new();
                let env = Env { insert: shown, ..run.env(&[]) };
                assigner.evaluate(&env, self.row_number, &mut raw).map(|()| raw.into_iter().map(Value::into_owned).collect())
            };
            match evaluated {
                Ok(raw) => {
                    run.row_done();
                    return Ok((raw, std::mem::take(&mut run.sources[0].row)));
                }
                Err(pause) => run.resolve(pause).await?,
            }
        }
    }

    /// Sets the session's LAST_INSERT_ID() and sums up a LOAD DATA, whose answer has no number.
    pub fn finish_load(&self, shared: &Shared<'_>) -> DmlDone {
        if let Some(number) = self.first_generated {
            shared.session.last_insert_id.set(number);
        }
        // As in MySQL, rows that have no parent do not count.
        let records = self.row_number - self.left_out;
        let (deleted, skipped) = (self.replaced, records - self.inserted);
        let warnings = shared.session.warnings.borrow().count();
        DmlDone {
            affected: self.inserted + self.replaced,
            matched: self.row_number,
            last_insert_id: 0,
            info: ChangeInfo::Loaded { records, deleted, skipped, warnings },
        }
    }

    /// Sets the session's LAST_INSERT_ID() and sums up.
    fn finish(&self, shared: &Shared<'_>) -> DmlDone {
        let session = shared.session;
        let set = session.last_insert_id_set.get();
        let last_insert_id = match (self.first_generated, set) {
            (Some(number), _) => {
                session.last_insert_id.set(number);
                number
            }
            (None, Some(number)) => number,
            (None, None) if self.inserted + self.updated > 0 => self.last_explicit,
            (None, None) => 0,
        };
        let duplicates = match (&self.assigner, self.plan.replace) {
            (Some(_), _) => self.updated,
            (None, true) => self.replaced,
            (None, false) => self.row_number - self.inserted,
        };
        let updated = if session.client_found_rows { self.touched + self.updated } else { self.updated * 2 };
        let info = if self.single_row {
            ChangeInfo::None
        } else {
            ChangeInfo::Inserted { records: self.row_number, duplicates, warnings: session.warnings.borrow().count() }
        };
        DmlDone { affected: self.inserted + self.replaced + updated, matched: self.row_number, last_insert_id, info }
    }
}

/// Does this value of the AUTO_INCREMENT column ask for the next number?
pub(super) fn asks_for_number(value: &Value<'_>, session: &SessionVars) -> bool {
    value.is_null() || coerce::is_zero(value) && !session.sql_mode.no_auto_value_on_zero
}

fn step_of(session: &SessionVars) -> u64 {
    session.auto_increment_increment.max(1)
}

/// The first number of the sequence offset, offset + step, ... An offset above the step counts as none, as in MySQL.
fn offset_of(session: &SessionVars) -> u64 {
    let (step, offset) = (step_of(session), session.auto_increment_offset);
    if offset > step { 0 } else { offset % step }
}

/// The number of the sequence after `number`; the highest number if there is none.
fn next_of_sequence(number: u64, session: &SessionVars) -> u64 {
    let step = step_of(session);
    let Some(next) = number.checked_add(1) else { return u64::MAX };
    next.saturating_add((offset_of(session) + step - next % step) % step)
}

/// The last number of the sequence that is at most `max`; `max` itself if there is none.
fn last_of_sequence(max: u64, session: &SessionVars) -> u64 {
    let (step, offset) = (step_of(session), offset_of(session));
    if max < offset { max } else { max - (max - offset) % step }
}

/// All rows of a query.
async fn read_all<'p>(operator: &mut Operator<'p>, run: &mut Run<'p>) -> Result<RowStore> {
    let mut rows = RowStore::default();
    while run.advance(|run| operator.next(run)).await? {
        rows.push(operator.slots());
        if rows.needs_settling() {
            run.advance(|run| rows.settle(run).map(|()| true)).await?;
        }
    }
    Ok(rows)
}
