//! UPDATE of a table of the server whose rows are settings (`performance_schema.setup_consumers`).
//!
//! The rows are made once; each that satisfies the conditions goes to the host with its changes. They belong to no transaction: a
//! change stays even if the statement fails later or is rolled back.

use super::assign::{Assigner, ColumnChanges};
use super::common::{start_run, updated};
use super::done::DmlDone;
use crate::context::ExecContext;
use crate::operator::VirtualScan;
use crate::prepared::Prepared;
use expr::Result;
use sql::plan::UpdatePlan;
use types::Value;

/// Runs an UPDATE of settings.
pub(crate) async fn update_settings(cx: &mut ExecContext<'_>, prepared: &Prepared, plan: &UpdatePlan) -> Result<DmlDone> {
    let host = cx.host;
    let mut run = start_run(cx, prepared, &plan.parts, plan.ignore);
    let assigner = Assigner::new(&plan.scan.table, &plan.assignments)?;
    let mut rows = VirtualScan::new(&plan.scan);
    let (mut matched, mut changed) = (0, 0);
    while run.advance(|run| rows.next(run)).await? {
        matched += 1;
        let mut raw: Vec<Value<'_>> = Vec::new();
        loop {
            let evaluated = {
                let mut values = Vec::new();
                assigner.evaluate(&run.env(&[]), matched, &mut values).map(|()| owned(values))
            };
            match evaluated {
                Ok(values) => {
                    raw.extend(values);
                    break;
                }
                Err(pause) => run.resolve(pause).await?,
            }
        }
        run.row_done();
        let row = rows.row();
        let mut changes: ColumnChanges<'_> = Vec::new();
        assigner.changes_of(&run.shared, |column| Some(row[column].borrowed()), &raw, matched, &mut changes)?;
        if !changes.is_empty() {
            host.change_settings(&plan.scan.table, row, &changes)?;
            changed += 1;
        }
    }
    Ok(updated(run.shared.session, matched, changed))
}

fn owned(values: Vec<Value<'_>>) -> Vec<Value<'static>> {
    values.into_iter().map(Value::into_owned).collect()
}
