//! WITH CHECK OPTION of views whose condition reads more than the row: it has subqueries, or reads other tables of the view.
//!
//! The condition has a plan of its own (`sql::plan::ViewCheck::parts`), with the row as source 0. It runs for each row that is
//! written. Conditions over the row alone are checked in `rules`.

use super::assign::ColumnChanges;
use super::common::{new_row, subquery_lock};
use super::rules::whole;
use super::writer::Writer;
use crate::clock::Slice;
use crate::run::Run;
use crate::source::sources_of;
use expr::{Env, Error, Result};
use sql::plan::ViewCheck;
use std::sync::Arc;
use table::{RowBuf, Table};
use types::Value;
use types::schema::TableId;

/// A condition, and the tables of its sources.
pub(crate) struct ViewJudge {
    pub target: TableId,
    pub check: ViewCheck,
    /// Source 0 is the table that is written.
    pub tables: Vec<Option<Arc<Table>>>,
}

impl ViewJudge {
    /// Checks a whole row in stored form, with the values of the tables that the statement has joined.
    ///
    /// # Errors
    /// 1369 if the condition is false or NULL.
    pub async fn judge(&self, writer: &mut Writer<'_, '_>, row: &[Value<'_>], joined: &[Value<'_>]) -> Result<()> {
        let Writer { worker, txn, shared } = writer;
        // Warnings that the row has raised so far stay, although the condition is evaluated again.
        shared.row_done();
        let sources = sources_of(&self.tables);
        let own = shared.alike();
        let lock = subquery_lock(txn);
        let mut run = Run::new(worker, txn, own, sources, Slice::until(None));
        run.set_parts(&self.check.parts, &self.tables, lock);
        let overlay = whole(row);
        let truth = loop {
            let truth = Env { insert: joined, overlay: &overlay, ..run.env(&[]) }.truth(&self.check.condition);
            match truth {
                Ok(truth) => break truth,
                Err(pause) => run.resolve(pause.into()).await?,
            }
        };
        run.row_done();
        match truth {
            Some(true) => Ok(()),
            _ => Err(Error::ViewCheckFailed { view: self.check.view.clone() }),
        }
    }

    /// As [`Self::judge`], for a row and its changes. `ignore`: if the check fails, the row does not change, with a warning.
    pub async fn judge_changed(
        &self,
        writer: &mut Writer<'_, '_>,
        table: &Table,
        old: &RowBuf,
        changes: &mut ColumnChanges<'_>,
        joined: &[Value<'_>],
        ignore: bool,
    ) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let session = writer.shared.session;
        let judged = self.judge(writer, &new_row(table, old, changes)?, joined).await;
        match judged {
            Err(error) if ignore && error.refuses_row() => {
                session.warn(error);
                changes.clear();
                Ok(())
            }
            judged => judged,
        }
    }
}
