//! Common parts of statements that change rows: how they run, their answers, the message about a duplicate.

use super::assign::ColumnChanges;
use super::done::{ChangeInfo, DmlDone};
use crate::clock::Slice;
use crate::context::ExecContext;
use crate::operator::{SourceLock, evaluate_count};
use crate::prepared::Prepared;
use crate::run::Run;
use crate::shared::Shared;
use crate::source::{SourceState, sources_of};
use crate::wait::engine;
use expr::{Error, Result, SessionVars};
use sql::plan::{LimitPlan, Parts};
use std::sync::Arc;
use table::usage::{self, TreeUse};
use table::{RowRead, Table};
use txn::{LockMode, Txn, WaitPolicy};
use types::Value;

/// MySQL cuts the key in the message about a duplicate after this number of bytes.
const DUPLICATE_TEXT_BYTES_MAX: usize = 64;

/// Counts a row that was changed in the use of its table.
#[inline]
pub(super) fn note_use(table: &Table, change: impl FnOnce(&mut TreeUse)) {
    usage::note(table.first_tree(), change);
}

/// The answer of an UPDATE.
pub(super) fn updated(session: &SessionVars, matched: u64, changed: u64) -> DmlDone {
    DmlDone {
        affected: if session.client_found_rows { matched } else { changed },
        matched,
        last_insert_id: session.last_insert_id_set.get().unwrap_or(0),
        info: update_info(session, matched, changed),
    }
}

/// The table that an UPDATE or DELETE changes: its source 0.
pub(super) fn target(prepared: &Prepared) -> &Arc<Table> {
    prepared.sources[0].as_ref().expect("a table that is changed is a stored one")
}

/// The state of a run over the plan's tables.
pub(super) fn start_run<'a>(cx: &'a mut ExecContext<'_>, prepared: &'a Prepared, parts: &'a Parts, ignore: bool) -> Run<'a> {
    let strict = is_strict(cx.session, ignore);
    let shared = Shared::change(cx.session, cx.params, cx.host, strict);
    let sources = sources_of(&prepared.sources);
    let lock = subquery_lock(cx.txn);
    let mut run = Run::new(cx.worker, cx.txn, shared, sources, Slice::until(None));
    run.set_parts(parts, &prepared.sources, lock);
    run
}

/// The lock that subqueries of a data change take: at isolation levels with repeatable reads, the rows stay unchanged until commit.
pub(crate) fn subquery_lock(txn: &Txn) -> Option<SourceLock> {
    txn.locks_gaps().then_some(SourceLock::Lock(LockMode::Share, WaitPolicy::Wait))
}

/// The statement's LIMIT.
pub(super) async fn limit_of<'a>(run: &mut Run<'a>, plan: Option<&'a LimitPlan>) -> Result<u64> {
    let Some(plan) = plan else { return Ok(u64::MAX) };
    loop {
        let count = evaluate_count(&run.env(&[]), plan.count.as_ref());
        match count {
            Ok(count) => return Ok(count.unwrap_or(u64::MAX)),
            Err(pause) => run.resolve(pause).await?,
        }
    }
}

/// Reads a collected row again; this transaction has locked it. `false`: an earlier change of this statement has removed it.
pub(super) async fn reread(run: &mut Run<'_>, table: &Table, key: &[u8], wanted: &[bool]) -> Result<bool> {
    reread_source(run, 0, table, key, wanted).await
}

/// As [`reread`], for any source.
pub(super) async fn reread_source(run: &mut Run<'_>, source: usize, table: &Table, key: &[u8], wanted: &[bool]) -> Result<bool> {
    if let Err(pause) = run.tick() {
        run.resolve(pause).await?;
    }
    let Run { worker, txn, sources, shared, .. } = run;
    let source = &mut sources[source];
    source.row.set_key(key);
    loop {
        let how = RowRead::Latest;
        if !engine!(shared.session, table.reread(worker, txn, how, &mut source.row))? {
            return Ok(false);
        }
        source.state = SourceState::Stored;
        if engine!(shared.session, table.load_externals(worker, txn, how, wanted, &mut source.row))? {
            return Ok(true);
        }
    }
}

/// The whole row with its changes, for the message about a duplicate.
pub(super) fn new_row<'v>(table: &'v Table, old: &'v table::RowBuf, changes: &'v [(usize, Value<'_>)]) -> Result<Vec<Value<'v>>> {
    let row = old.row(table);
    let columns = table.def().columns.len();
    Ok((0..columns)
        .map(|column| match changes.iter().find(|(c, _)| *c == column) {
            Some((_, value)) => value.borrowed(),
            // Columns that are stored outside the row are in no unique key that a message prints.
            None => row.get(column).unwrap_or(Value::Null),
        })
        .collect())
}

/// The key that a changed row would have in an index, as messages print it.
pub(super) fn duplicate_key(table: &Table, index: usize, old: &table::RowBuf, changes: &[(usize, Value<'_>)]) -> Result<String> {
    Ok(table.key_text(index, &new_row(table, old, changes)?))
}

/// 1062, naming the key's values and `table.index`.
pub(super) fn duplicate(table: &Table, index: usize, values: &[Value<'_>]) -> Error {
    let def = table.def();
    let mut value = table.key_text(index, values);
    if value.len() > DUPLICATE_TEXT_BYTES_MAX {
        value.truncate(
            value.char_indices().map(|(at, _)| at).take_while(|at| *at <= DUPLICATE_TEXT_BYTES_MAX).last().unwrap_or(0),
        );
    }
    Error::DuplicateEntry { value, key: format!("{}.{}", def.name, def.indexes[index].name) }
}

/// Is the statement in strict mode, where problems are errors?
pub(super) fn is_strict(session: &SessionVars, ignore: bool) -> bool {
    session.sql_mode.strict && !ignore
}

pub(super) fn update_info(session: &SessionVars, matched: u64, changed: u64) -> ChangeInfo {
    ChangeInfo::Updated { matched, changed, warnings: session.warnings.borrow().count() }
}

/// The new number of a table's AUTO_INCREMENT column, if it changes; zero and negative numbers do not count.
pub(super) fn changed_number(table: &Table, changes: &ColumnChanges<'_>) -> Option<u64> {
    let (_, value) = changes.iter().find(|(column, _)| table.def().columns[*column].auto_increment)?;
    u64::try_from(expr::coerce::plain_integer(value)?).ok().filter(|n| *n > 0)
}
