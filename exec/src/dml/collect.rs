//! A list of the keys of the rows that a statement will change: for ORDER BY, and if changing rows would disturb the scan.
//! The rows are locked as they are found, so that they still satisfy the condition when they are changed.

use crate::operator::{ScanOperator, SourceLock};
use crate::pause::Step;
use crate::run::Run;
use crate::spill::sorter::Sorter;
use expr::Result;
use expr::keys::{self, KeyKind};
use sql::plan::{Scan, SortKey};
use table::Table;
use txn::{LockMode, WaitPolicy};

/// Clustered keys in the order of the changes.
pub(super) struct RowKeys(Sorter);

impl RowKeys {
    /// Runs the scan to its end, or up to `rows_max` rows without ORDER BY.
    pub async fn collect<'p>(
        run: &mut Run<'p>,
        scan: &'p Scan,
        table: &'p Table,
        order: &'p [SortKey],
        rows_max: u64,
        semi_consistent: bool,
    ) -> Result<Self> {
        let lock = SourceLock::Lock(LockMode::Exclusive, WaitPolicy::Wait);
        let mut keys = Sorter::of_first(usize::try_from(rows_max).unwrap_or(usize::MAX));
        let limit = if order.is_empty() { rows_max } else { u64::MAX };
        let mut operator = ScanOperator::new(scan, table, Some(lock)).one_by_one(limit < u64::MAX);
        if semi_consistent {
            operator = operator.semi_consistent();
        }
        let mut found = 0;
        while found < limit {
            if !run.advance(|run| operator.next(run)).await? {
                break;
            }
            run.row_done();
            while let Err(pause) = add(&mut keys, run, scan.source, order) {
                run.resolve(pause).await?;
            }
            run.row_done();
            found += 1;
            while let Err(pause) = keys.settle(run) {
                run.resolve(pause).await?;
            }
        }
        while let Err(pause) = keys.finish(run) {
            run.resolve(pause).await?;
        }
        Ok(Self(keys))
    }

    /// Moves to the next key; `false` after the last one.
    pub async fn next(&mut self, run: &mut Run<'_>) -> Result<bool> {
        run.advance(|run| self.0.next(run)).await
    }

    pub fn key(&self) -> &[u8] {
        self.0.row()
    }
}

/// Adds the current row.
fn add(keys: &mut Sorter, run: &Run<'_>, source: usize, order: &[SortKey]) -> Step<()> {
    let arena = keys.arena();
    let start = arena.len();
    let env = run.env(&[]);
    for key in order {
        let kind = KeyKind::of_type(&key.expr.ty);
        let encoded =
            env.eval(&key.expr).and_then(|value| keys::encode_ordered(&env, kind, key.descending, &value, &key.expr.ty, arena));
        if let Err(pause) = encoded {
            arena.truncate(start);
            return Err(pause.into());
        }
    }
    let order_bytes = arena.len() - start;
    arena.extend_from_slice(run.sources[source].row.key());
    keys.push(start, order_bytes);
    Ok(())
}
