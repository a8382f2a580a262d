//! Checks that the rows of a table have parents when it gets a foreign key. Both tables are locked exclusively
//! meanwhile.

use super::foreign::{ForeignKeyError, constraint_text};
use super::{DdlOptions, build::Slices};
use crate::catalog::blocking;
use crate::database::Published;
use crate::reference::Reference;
use crate::{EncodedRange, Error, Result, RowBuf, RowCursor, RowRead, Table};
use txn::{ReadMode, Worker};
use types::Value;
use types::schema::ForeignKeyDef;

/// Rows between two looks at whether to stop.
const ROWS_MAX: u64 = 1000;

/// 1452 if a row of `child` references no row of the key's parent. A missing parent was handled before.
pub(super) fn check_rows(
    worker: &Worker,
    child: &Table,
    key: &ForeignKeyDef,
    published: &Published,
    options: &DdlOptions,
) -> Result<()> {
    let def = child.def();
    let other = published.schema.table(&key.parent_database, &key.parent_table).and_then(|def| published.tables.get(&def.id));
    let parent: &Table = match (key.is_of(&def.database, &def.name), other) {
        (true, _) => child,
        (false, Some(parent)) => parent,
        (false, None) => return Ok(()),
    };
    let Some(reference) = Reference::new(def, key, parent.def()) else {
        return Err(Error::NotSupported { what: "a foreign key without its indexes" });
    };
    let mut wanted = vec![false; def.columns.len()];
    reference.columns.iter().for_each(|column| wanted[*column] = true);
    let damaged = |error: types::Error| Error::Engine(txn::Error::Storage(format!("{error:?}")));
    let mut slices = Slices::new(worker);
    let mut cursor = RowCursor::new();
    cursor.open(child, 0, &EncodedRange::default(), false, ReadMode::Latest, false);
    let (mut row, mut encoded, mut payload) = (RowBuf::new(), Vec::new(), Vec::new());
    let mut rows = 0u64;
    while blocking(|| cursor.next(child, worker, slices.txn(), &mut row))? {
        rows += 1;
        if rows.is_multiple_of(ROWS_MAX) {
            worker.tick();
            options.check_cancelled()?;
        }
        let txn = slices.txn();
        blocking(|| child.load_externals(worker, txn, RowRead::Latest, &wanted, &mut row))?;
        let stored = row.row(child);
        let values = reference.columns.iter().map(|column| stored.get(*column)).collect::<types::Result<Vec<Value<'_>>>>();
        let values = values.map_err(damaged)?;
        if values.iter().any(Value::is_null) {
            continue;
        }
        let found = reference.encode_parent_key(parent, &values, &mut encoded)
            && blocking(|| parent.has_key(worker, txn, reference.parent_index, &encoded, &mut payload))?;
        if !found {
            return Err(ForeignKeyError::NoParentRow { constraint: constraint_text(def, key) }.into());
        }
    }
    Ok(())
}
