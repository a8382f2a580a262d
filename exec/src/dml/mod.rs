//! Statements that change rows: INSERT, REPLACE, UPDATE, DELETE.
//!
//! D1: a statement is atomic: `run_dml` takes a savepoint before it and returns to it on an error.
//! D2: a row is changed only after it was read at its current version (`RowBuf::seen`); if it changed meanwhile, it is read and checked
//!     again.
//! D3: a statement changes a row once: if changes move rows in the index that is being read, or with ORDER BY,
//!     the rows' keys are collected first.
//! D4: a written value is converted once, by `types::convert::store`.
//! D5: rows are written through `foreign` if the statement affects foreign keys of the table.
//! D6: the table's `rules` complete and check a row before it is written.
//! D7: the table's `triggers` run for each row that is written, except for rows that actions of foreign keys write.

mod assign;
mod change;
mod collect;
mod common;
mod defaults;
mod delete;
mod done;
mod foreign;
mod given;
mod insert;
mod load;
mod rules;
mod settings;
mod store;
mod triggers;
mod update;
mod view_check;
mod writer;

pub(crate) use change::change;
pub(crate) use common::subquery_lock;
pub(crate) use defaults::{Default as ColumnDefaultValue, of_column as default_of_column};
pub(crate) use delete::delete;
pub use done::{ChangeInfo, DmlDone};
pub(crate) use foreign::{ForeignKeys, for_plan as foreign_keys_of_plan};
pub(crate) use insert::insert;
pub(crate) use load::load;
pub(crate) use rules::{RowRules, bind_default, bind_partition, computed, partition_of};
pub(crate) use settings::update_settings;
pub use store::column_error;
pub(crate) use store::convert_to;
pub(crate) use update::update;
pub(crate) use view_check::ViewJudge;

use crate::prepared::Prepared;
use txn::Worker;

/// A statement's changes of the number of rows, which are reverted if it is undone. It does not own the table, because the count of owners is
/// shared by all workers.
#[derive(Default)]
pub(crate) struct Changes {
    rows: i64,
    /// For statements over several tables: by source.
    by_source: Vec<(usize, i64)>,
    /// The changes by actions of foreign keys: by node of the plan's keys.
    cascaded: Vec<(usize, i64)>,
}

impl Changes {
    fn add(&mut self, rows: i64) {
        self.rows += rows;
    }

    fn add_to(&mut self, source: usize, rows: i64) {
        match self.by_source.iter_mut().find(|(s, _)| *s == source) {
            Some((_, sum)) => *sum += rows,
            None => self.by_source.push((source, rows)),
        }
    }

    /// A foreign key has changed the number of rows of another table.
    fn cascade(&mut self, node: usize, rows: i64) {
        match self.cascaded.iter_mut().find(|(n, _)| *n == node) {
            Some((_, sum)) => *sum += rows,
            None => self.cascaded.push((node, rows)),
        }
    }

    /// Reverts the changes that foreign keys have made since `before`.
    fn forget_cascaded(&mut self, worker: &Worker, keys: &ForeignKeys, before: Vec<(usize, i64)>) {
        for (node, rows) in &self.cascaded {
            let kept = before.iter().find(|(n, _)| n == node).map_or(0, |(_, rows)| *rows);
            keys.node(*node).table.adjust_estimated_rows(worker, kept - rows);
        }
        self.cascaded = before;
    }

    /// Reverts all counts: the statement is rolled back.
    pub fn forget(&mut self, worker: &Worker, prepared: &Prepared) {
        if let Some(keys) = &prepared.foreign_keys {
            self.forget_cascaded(worker, keys, Vec::new());
        }
        for (source, rows) in &self.by_source {
            if let Some(table) = &prepared.sources[*source] {
                table.adjust_estimated_rows(worker, -rows);
            }
        }
        if self.rows != 0 {
            let table = match &prepared.target {
                Some((table, _)) => table,
                None => common::target(prepared),
            };
            table.adjust_estimated_rows(worker, -self.rows);
        }
    }
}
