//! The rows a statement will change, as a list of their keys: for ORDER BY, and where changing rows would disturb the scan.
//! The rows are locked as they are found, so they are still the ones to change when their turn comes.

use crate::error::Result;
use crate::eval::Step;
use crate::keys::{self, KeyKind};
use crate::operator::{ScanOperator, SourceLock};
use crate::run::Run;
use sql::plan::{Scan, SortKey};
use table::Table;
use txn::{LockMode, WaitPolicy};

/// Clustered keys in the order in which the rows are to be changed.
#[derive(Default)]
pub(super) struct RowKeys {
    arena: Vec<u8>,
    rows: Vec<Row>,
}

#[derive(Clone, Copy)]
struct Row {
    /// Where the sort key begins; the clustered key follows it.
    start: u64,
    sort_bytes: u32,
    key_bytes: u32,
}

impl RowKeys {
    /// Runs the scan to its end, or up to `rows_max` rows where no order is asked for.
    pub async fn collect<'p>(
        run: &mut Run<'p>,
        scan: &'p Scan,
        table: &'p Table,
        order: &'p [SortKey],
        rows_max: u64,
        semi_consistent: bool,
    ) -> Result<Self> {
        let lock = SourceLock::Lock(LockMode::Exclusive, WaitPolicy::Wait);
        let mut keys = Self::default();
        let limit = if order.is_empty() { rows_max } else { u64::MAX };
        let mut operator = ScanOperator::new(scan, table, Some(lock)).one_by_one(limit < u64::MAX);
        if semi_consistent {
            operator = operator.semi_consistent();
        }
        while (keys.rows.len() as u64) < limit {
            if !run.advance(|run| operator.next(run)).await? {
                break;
            }
            run.row_done();
            let before = keys.arena.capacity();
            while let Err(pause) = keys.add(run, scan.source, order) {
                run.resolve(pause).await?;
            }
            run.row_done();
            if let Err(pause) = run.charge(keys.arena.capacity() - before + size_of::<Row>()) {
                run.resolve(pause).await?;
            }
        }
        if !order.is_empty() {
            let arena = &keys.arena;
            let sort_key = |r: &Row| &arena[r.start as usize..][..r.sort_bytes as usize];
            keys.rows.sort_by(|a, b| sort_key(a).cmp(sort_key(b)));
            keys.rows.truncate(usize::try_from(rows_max).unwrap_or(usize::MAX));
        }
        Ok(keys)
    }

    fn add(&mut self, run: &Run<'_>, source: usize, order: &[SortKey]) -> Step<()> {
        let start = self.arena.len();
        let env = run.env(&[]);
        for key in order {
            let kind = KeyKind::of_type(&key.expr.ty);
            let encoded = env
                .eval(&key.expr)
                .and_then(|value| keys::encode_ordered(&env, kind, key.descending, &value, &key.expr.ty, &mut self.arena));
            if let Err(pause) = encoded {
                self.arena.truncate(start);
                return Err(pause);
            }
        }
        let sort_bytes = (self.arena.len() - start) as u32;
        let key = run.sources[source].row.key();
        self.arena.extend_from_slice(key);
        self.rows.push(Row { start: start as u64, sort_bytes, key_bytes: key.len() as u32 });
        Ok(())
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.rows.iter().map(|row| &self.arena[row.start as usize + row.sort_bytes as usize..][..row.key_bytes as usize])
    }
}
