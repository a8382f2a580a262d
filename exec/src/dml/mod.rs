//! Statements that change rows: INSERT, REPLACE, UPDATE, DELETE.
//!
//! D1: a statement is atomic: `run_dml` takes a savepoint before and comes back to it on an error.
//! D2: no row is changed that was not read at its current version (`RowBuf::seen`); when it changed meanwhile, it is read and judged
//!     again.
//! D3: a row is changed once by a statement: where the change moves rows in the index that is being read, or an order is asked for,
//!     the rows' keys are collected first.
//! D4: values written are converted by `types::convert::store`, once.
//! D5: rows are written through `foreign` where the table has foreign keys that the statement concerns.
//! D6: a row is completed and judged by its table's `rules` before it is written.
//! D7: the table's `triggers` run around each row that is written, but for those that foreign keys' actions write.

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

/// What a statement has done to the number of rows: taken back when it is undone. It does not hold the table, whose count of owners is
/// shared by all workers.
#[derive(Default)]
pub(crate) struct Changes {
    rows: i64,
    /// Of statements over several tables: by source.
    by_source: Vec<(usize, i64)>,
    /// What foreign keys have done: by node of the plan's keys.
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

    /// What foreign keys have done since they had done `before` is undone.
    fn forget_cascaded(&mut self, worker: &Worker, keys: &ForeignKeys, before: Vec<(usize, i64)>) {
        for (node, rows) in &self.cascaded {
            let kept = before.iter().find(|(n, _)| n == node).map_or(0, |(_, rows)| *rows);
            keys.node(*node).table.adjust_estimated_rows(worker, kept - rows);
        }
        self.cascaded = before;
    }

    /// The statement is rolled back.
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
