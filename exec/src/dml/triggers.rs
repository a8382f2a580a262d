//! Triggers: how a data change runs them before and after each row.
//!
//! T1: a row that is changed or deleted is locked at the version that was read before its BEFORE triggers run, so they run once for it.
//! T2: a NOT NULL column may be NULL until the BEFORE triggers have run.
//! T3: a table without triggers for the event has no [`Triggers`], so its statements pay one check.

use super::assign::ColumnChanges;
use super::defaults::{self, Default};
use super::writer::Writer;
use super::{RowRules, store};
use crate::context::Fire;
use crate::prepared::InsertShape;
use crate::shared::Shared;
use crate::source::Source;
use crate::wait::engine;
use expr::Result;
use expr::coerce::row_error;
use sql::plan::InsertPlan;
use table::{RowBuf, RowRead, Table};
use txn::{LockMode, WaitPolicy};
use types::schema::{ColumnDef, TriggerEvent};
use types::{TypeKind, Value};

/// The triggers of a table for one event.
pub(super) struct Triggers<'p> {
    table: &'p Table,
    event: TriggerEvent,
    pub before: bool,
    pub after: bool,
}

/// The triggers of an INSERT, and of its changes of existing rows.
pub(super) struct InsertTriggers<'p> {
    pub insert: Option<Triggers<'p>>,
    /// ON DUPLICATE KEY UPDATE
    pub update: Option<Triggers<'p>>,
    /// REPLACE
    pub delete: Option<Triggers<'p>>,
}

/// The properties of a new row that its values do not show.
pub(super) struct NewRow<'p> {
    /// The AUTO_INCREMENT column.
    pub auto: Option<usize>,
    /// It gets a generated number.
    pub generate: bool,
    pub shape: &'p InsertShape,
    /// From 1.
    pub number: u64,
    /// NULL in a NOT NULL column is an error in every SQL mode.
    pub strict: bool,
}

impl<'p> InsertTriggers<'p> {
    pub fn of(table: &'p Table, plan: &InsertPlan) -> Option<Box<Self>> {
        if table.def().triggers.is_empty() {
            return None;
        }
        let of = |event, fires: bool| if fires { Triggers::of(table, event) } else { None };
        Some(Box::new(Self {
            insert: of(TriggerEvent::Insert, true),
            update: of(TriggerEvent::Update, !plan.on_duplicate.is_empty()),
            delete: of(TriggerEvent::Delete, plan.replace),
        }))
    }

    /// Lets the triggers change a new row before its number is generated. Returns whether a number is to be generated.
    pub async fn before_insert(&self, writer: &mut Writer<'_, '_>, row: NewRow<'_>, values: &mut [Value<'_>]) -> Result<bool> {
        let Some(triggers) = self.insert.as_ref().filter(|triggers| triggers.before) else { return Ok(row.generate) };
        let (table, shared) = (triggers.table, writer.shared);
        let columns = &table.def().columns;
        let mut generate = row.generate;
        if let (Some(auto), true) = (row.auto, generate) {
            values[auto] = store::implicit_default(&columns[auto].ty);
        }
        if let Some(rules) = &row.shape.rules {
            rules.compute(shared, table, values, row.number)?;
        }
        let set = {
            let new = |column: usize| Ok(shown(shared, &columns[column], &values[column]));
            triggers.fire(writer, true, None, Some(&new)).await?
        };
        for (column, value) in set {
            values[column] = to_column(shared, &columns[column], value, row.number)?;
            if row.auto == Some(column) {
                generate = super::insert::asks_for_number(&values[column], shared.session);
            }
        }
        for (number, column) in columns.iter().enumerate() {
            let is_numbered = generate && row.auto == Some(number);
            if !values[number].is_null() || column.nullable || is_numbered || column.generated.is_some() {
                continue;
            }
            values[number] = match (&row.shape.defaults[number], row.shape.given[number]) {
                (default @ Default::Missing, None) => defaults::value(shared, default, column, row.number == 1)?.into_owned(),
                _ => store::not_null(shared, column, shared.is_strict() || row.strict)?,
            };
        }
        Ok(generate)
    }
}

/// A row that is being changed.
pub(super) struct ChangedRow<'r> {
    pub rules: Option<&'r RowRules>,
    /// As it was.
    pub source: &'r Source<'r>,
    /// From 1.
    pub number: u64,
}

impl<'p> Triggers<'p> {
    pub fn of(table: &'p Table, event: TriggerEvent) -> Option<Self> {
        let all = &table.def().triggers;
        if all.is_empty() {
            return None;
        }
        let has = |before: bool| all.iter().any(|trigger| trigger.event == event && trigger.before == before);
        let (before, after) = (has(true), has(false));
        (before || after).then_some(Self { table, event, before, after })
    }

    /// T1. Also reads the row's large values. `false`: the row is not the current version any more.
    pub async fn lock(&self, writer: &mut Writer<'_, '_>, row: &mut RowBuf) -> Result<bool> {
        let Writer { worker, txn, shared } = writer;
        let session = shared.session;
        let seen = row.seen();
        let wait = WaitPolicy::Wait;
        if !engine!(session, self.table.lock_current(worker, txn, LockMode::Exclusive, wait, row))? || row.seen() != seen {
            return Ok(false);
        }
        let wanted = vec![true; self.table.def().columns.len()];
        engine!(session, self.table.load_externals(worker, txn, RowRead::Latest, &wanted, row))
    }

    pub async fn after_insert(&self, writer: &mut Writer<'_, '_>, values: &[Value<'_>]) -> Result<()> {
        if !self.after {
            return Ok(());
        }
        let shared = writer.shared;
        let new = |column: usize| Ok(shown(shared, &self.table.def().columns[column], &values[column]));
        self.fire(writer, false, None, Some(&new)).await.map(drop)
    }

    /// Lets the triggers change the changes of a row; T2.
    pub async fn before_update(
        &self,
        writer: &mut Writer<'_, '_>,
        row: &ChangedRow<'_>,
        changes: &mut ColumnChanges<'_>,
    ) -> Result<()> {
        if !self.before {
            return Ok(());
        }
        let shared = writer.shared;
        let unchanged = changes.is_empty();
        if let (Some(rules), false) = (row.rules, unchanged) {
            rules.compute_changed(shared, row.source, changes, row.number)?;
        }
        let old = &row.source.row;
        let set = {
            let (before, after) = (self.old_row(shared, old), self.new_row(shared, old, changes));
            self.fire(writer, true, Some(&before), Some(&after)).await?
        };
        let columns = &self.table.def().columns;
        for (column, value) in set {
            let stored = to_column(shared, &columns[column], value, row.number)?;
            changes.retain(|(other, _)| *other != column);
            if old.row(self.table).get(column).map_err(row_error)? != stored {
                changes.push((column, stored));
            }
        }
        for (column, value) in changes.iter_mut() {
            if value.is_null() && !columns[*column].nullable {
                *value = store::not_null(shared, &columns[*column], shared.is_strict())?;
            }
        }
        Ok(())
    }

    pub async fn after_update(&self, writer: &mut Writer<'_, '_>, old: &RowBuf, changes: &ColumnChanges<'_>) -> Result<()> {
        if !self.after {
            return Ok(());
        }
        let shared = writer.shared;
        let (before, after) = (self.old_row(shared, old), self.new_row(shared, old, changes));
        self.fire(writer, false, Some(&before), Some(&after)).await.map(drop)
    }

    pub async fn around_delete(&self, writer: &mut Writer<'_, '_>, before: bool, old: &RowBuf) -> Result<()> {
        if !(if before { self.before } else { self.after }) {
            return Ok(());
        }
        let row = self.old_row(writer.shared, old);
        self.fire(writer, before, Some(&row), None).await.map(drop)
    }

    fn old_row(&self, shared: &Shared<'_>, row: &RowBuf) -> impl Fn(usize) -> Result<Value<'static>> {
        move |column| {
            let value = row.row(self.table).get(column).map_err(row_error)?;
            Ok(shown(shared, &self.table.def().columns[column], &value))
        }
    }

    fn new_row(
        &self,
        shared: &Shared<'_>,
        row: &RowBuf,
        changes: &ColumnChanges<'_>,
    ) -> impl Fn(usize) -> Result<Value<'static>> {
        move |column| match changes.iter().find(|(changed, _)| *changed == column) {
            Some((_, value)) => Ok(shown(shared, &self.table.def().columns[column], value)),
            None => self.old_row(shared, row)(column),
        }
    }

    async fn fire(
        &self,
        writer: &mut Writer<'_, '_>,
        before: bool,
        old: Option<&dyn Fn(usize) -> Result<Value<'static>>>,
        new: Option<&dyn Fn(usize) -> Result<Value<'static>>>,
    ) -> Result<Vec<(usize, Value<'static>)>> {
        let (session, host) = (writer.shared.session, writer.shared.host);
        host.fire(Fire { txn: &mut *writer.txn, session, table: self.table.def(), event: self.event, before, old, new }).await
    }
}

/// A stored value as expressions see it.
fn shown(shared: &Shared<'_>, column: &ColumnDef, value: &Value<'_>) -> Value<'static> {
    match value {
        Value::DateTime(utc) if matches!(column.ty.kind, TypeKind::Timestamp { .. }) => {
            Value::DateTime(shared.session.time_zone.from_stored(*utc))
        }
        value => value.borrowed().into_owned(),
    }
}

/// Converts the value that a trigger assigned to a column. T2
pub(super) fn to_column(shared: &Shared<'_>, column: &ColumnDef, value: Value<'static>, row: u64) -> Result<Value<'static>> {
    match value {
        Value::Null => Ok(Value::Null),
        value => Ok(store::convert(shared, &value, &column.ty, column, row)?.into_owned()),
    }
}
