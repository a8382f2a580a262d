//! DELETE. Removing the row that a scan stands on does not disturb the scan, so only ORDER BY needs a list of keys.

use super::Changes;
use super::collect::RowKeys;
use super::common::{limit_of, note_use, reread, start_run, target};
use super::done::{ChangeInfo, DmlDone};
use super::foreign::Checker;
use super::triggers::Triggers;
use super::writer::Writer;
use crate::context::ExecContext;
use crate::operator::{ScanOperator, SourceLock};
use crate::prepared::Prepared;
use crate::run::Run;
use crate::scratch::Scratch;
use crate::wait::engine;
use expr::{Result, count};
use sql::plan::DeletePlan;
use table::{Progress, Table, WriteRow};
use types::schema::TriggerEvent;

/// Runs a DELETE.
pub(crate) async fn delete(
    cx: &mut ExecContext<'_>,
    prepared: &Prepared,
    plan: &DeletePlan,
    scratch: &mut Scratch,
    changes: &mut Changes,
) -> Result<DmlDone> {
    let table = target(prepared);
    let mut run = start_run(cx, prepared, &plan.parts, plan.ignore);
    let limit = limit_of(&mut run, plan.limit.as_ref()).await?;
    let mut checker = Checker::new(prepared.foreign_keys.as_deref(), table, &run.shared, plan.ignore);
    let triggers = Triggers::of(table, TriggerEvent::Delete);
    let mut progress = scratch.progress.take().unwrap_or_default();
    let mut deleted = 0;
    if plan.order.is_empty() {
        let mut operator = ScanOperator::new(&plan.scan, table, Some(SourceLock::Latest)).one_by_one(plan.limit.is_some());
        operator.borrow_buffers(scratch);
        run.sources[0].row = std::mem::take(&mut scratch.row);
        while deleted < limit {
            if !run.advance(|run| operator.next(run)).await? {
                break;
            }
            match delete_row(&mut run, table, &mut checker, triggers.as_ref(), &mut progress, changes).await? {
                Deleted::Yes => deleted += 1,
                Deleted::Kept => {}
                Deleted::Changed => operator.again(),
            }
        }
        operator.return_buffers(scratch);
        scratch.row = std::mem::take(&mut run.sources[0].row);
    } else {
        let mut keys = RowKeys::collect(&mut run, &plan.scan, table, &plan.order, limit, false).await?;
        while keys.next(&mut run).await? {
            while reread(&mut run, table, keys.key(), &plan.scan.columns_used).await? {
                match delete_row(&mut run, table, &mut checker, triggers.as_ref(), &mut progress, changes).await? {
                    Deleted::Yes => deleted += 1,
                    Deleted::Kept => {}
                    Deleted::Changed => continue,
                }
                break;
            }
        }
    }
    scratch.progress = Some(progress);
    run.count_rest();
    Ok(DmlDone {
        affected: deleted,
        matched: deleted,
        last_insert_id: run.shared.session.last_insert_id_set.get().unwrap_or(0),
        info: ChangeInfo::None,
    })
}

enum Deleted {
    Yes,
    /// A foreign key forbids it, and IGNORE leaves it at that.
    Kept,
    /// It changed since it was read.
    Changed,
}

/// Deletes the current row of source 0.
async fn delete_row(
    run: &mut Run<'_>,
    table: &Table,
    checker: &mut Option<Checker<'_>>,
    triggers: Option<&Triggers<'_>>,
    progress: &mut Progress,
    changes: &mut Changes,
) -> Result<Deleted> {
    let (mut writer, sources, _) = Writer::of(run);
    let session = writer.shared.session;
    if let Some(triggers) = triggers {
        let row = &mut sources[0].row;
        if !Box::pin(triggers.lock(&mut writer, row)).await? {
            return Ok(Deleted::Changed);
        }
        Box::pin(triggers.around_delete(&mut writer, true, row)).await?;
    }
    let row = &sources[0].row;
    let outcome = match checker {
        None => Some(engine!(session, table.delete_row(writer.worker, writer.txn, row, progress))?),
        Some(checker) => checker.delete(&mut writer, row, progress, changes).await?,
    };
    Ok(match outcome {
        None => Deleted::Kept,
        Some(WriteRow::Done) => {
            changes.add(-1);
            count(&session.work.delete);
            note_use(table, |used| used.deleted += 1);
            if let Some(triggers) = triggers {
                Box::pin(triggers.around_delete(&mut writer, false, row)).await?;
            }
            Deleted::Yes
        }
        Some(_) => Deleted::Changed,
    })
}
