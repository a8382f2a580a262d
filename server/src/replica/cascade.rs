//! What foreign keys do to other rows, for a source that does not log it: a MySQL before 9.6, whose storage engine follows foreign keys by itself.
//!
//! C1: the metadata locks of all tables that the keys lead to are held, as long as the transaction. So their definitions belong together.
//! C2: children are found by the key that the parent had according to its event, whether or not the parent was here: while copied tables
//!     are made equal (`rows`, A5) it may be gone before its children.
//! C3: triggers do not fire for these rows, and nothing is checked: as in the source's engine, which has done the same.
//! C4: at most [`LEVELS_MAX`] levels, which is the source's limit.

use super::rows::{Buffers, Failed, engine};
use binlog::row::read::Image;
use std::sync::Arc;
use table::{Reference, RowBuf, RowCursor, RowRead, Table, WriteRow};
use txn::{Interrupt, LockMode, ReadMode, Txn, WaitPolicy, Worker};
use types::Value;
use types::schema::{ForeignKeyDef, ReferenceAction};

const LEVELS_MAX: usize = 15;

/// The tables that keys lead to.
#[derive(Default)]
pub struct Followers {
    pub tables: Vec<Arc<Table>>,
}

/// Where rows are written.
pub struct Hand<'a> {
    pub worker: &'a Worker,
    pub txn: &'a mut Txn,
    pub buffers: &'a mut Buffers,
}

/// A changed row: how it was, and its new values unless it was deleted.
struct Changed<'a> {
    table: &'a Table,
    old: Vec<Option<Value<'static>>>,
    new: Option<Vec<(usize, Value<'static>)>>,
}

/// Does a key do something to children when their parent is deleted, or gets another key?
pub fn acts(key: &ForeignKeyDef, is_deletion: bool) -> bool {
    matches!(if is_deletion { key.on_delete } else { key.on_update }, ReferenceAction::Cascade | ReferenceAction::SetNull)
}

/// Is it a key towards this table?
pub fn leads_to(key: &ForeignKeyDef, parent: &Table) -> bool {
    key.parent_table.eq_ignore_ascii_case(&parent.def().name) && key.parent_database.eq_ignore_ascii_case(&parent.def().database)
}

impl Followers {
    /// The actions for a row of an event. `after`: the image of an update.
    ///
    /// # Errors
    /// The engine's; [`Failed::Follows`].
    pub async fn follow(&self, hand: &mut Hand<'_>, table: &Table, before: &Image, after: Option<&Image>) -> Result<(), Failed> {
        let new = |after: &Image| {
            let values = after.iter().enumerate();
            values.filter_map(|(column, value)| Some((column, value.as_ref()?.borrowed().into_owned()))).collect()
        };
        let old = before.iter().map(|value| value.as_ref().map(|value| value.borrowed().into_owned())).collect();
        self.change(hand, Changed { table, old, new: after.map(new) }, 1).await
    }

    async fn change(&self, hand: &mut Hand<'_>, changed: Changed<'_>, level: usize) -> Result<(), Failed> {
        for child in &self.tables {
            let child_name = || child.def().name.clone();
            for key in child.def().foreign_keys.iter().filter(|key| leads_to(key, changed.table)) {
                if !acts(key, changed.new.is_none()) {
                    continue;
                }
                let Some(reference) = Reference::new(child.def(), key, changed.table.def()) else { continue };
                if !changed.moves(&reference) {
                    continue;
                }
                let values: Option<Vec<Value<'static>>> =
                    reference.parent_columns.iter().map(|column| changed.old[*column].clone()).collect();
                // The event has no value of the key: an image with only some columns.
                let Some(values) = values else {
                    return Err(Failed::Follows { child: child_name(), why: "the image lacks its key" });
                };
                if level > LEVELS_MAX {
                    return Err(Failed::Follows { child: child_name(), why: "that is too deep" });
                }
                let new = new_values(&changed, key, &reference);
                if new.is_some() && child.def().columns.iter().any(|column| column.generated.is_some()) {
                    return Err(Failed::Follows { child: child_name(), why: "it has generated columns" });
                }
                if !reference.encode_child_range(child, &values, &mut hand.buffers.range) {
                    continue;
                }
                let mut cursor = RowCursor::new();
                cursor.open(child, reference.index, &hand.buffers.range, false, ReadMode::Latest, false);
                cursor.set_batch(1);
                let mut row = RowBuf::default();
                while engine!(cursor.next(child, hand.worker, hand.txn, &mut row))? {
                    self.change_child(hand, child, &mut row, new.as_deref(), level).await?;
                }
            }
        }
        Ok(())
    }

    /// Deletes a child, or gives it new values; and so on down.
    async fn change_child(
        &self,
        hand: &mut Hand<'_>,
        child: &Table,
        row: &mut RowBuf,
        new: Option<&[(usize, Value<'static>)]>,
        level: usize,
    ) -> Result<(), Failed> {
        let Hand { worker, txn, buffers } = hand;
        // The row as it is now, locked.
        let name = row.key().to_vec();
        let locked = RowRead::Lock(LockMode::Exclusive, WaitPolicy::Wait);
        row.set_key(&name);
        if !engine!(child.point(worker, txn, 0, &name, locked, row))? {
            return Ok(());
        }
        let stored = row.row(child);
        // Columns that are stored outside of the row are in no key.
        let old = (0..child.def().columns.len()).map(|column| stored.get(column).ok().map(Value::into_owned)).collect();
        let done = match new {
            None => engine!(child.delete_row(worker, txn, row, &mut buffers.progress))?,
            Some(new) => engine!(child.update_row(worker, txn, row, new, &mut buffers.progress))?,
        };
        match done {
            WriteRow::Done => {}
            WriteRow::Duplicate { .. } => {
                return Err(Failed::Follows { child: child.def().name.clone(), why: "another row has its new key" });
            }
            WriteRow::Changed | WriteRow::Paused { .. } => unreachable!("the row is locked, and no pause was asked for"),
        }
        let below = Changed { table: child, old, new: new.map(<[_]>::to_vec) };
        Box::pin(self.change(hand, below, level + 1)).await
    }
}

impl Changed<'_> {
    /// Was the row deleted, or has it another key than before?
    fn moves(&self, reference: &Reference) -> bool {
        let Some(new) = &self.new else { return true };
        let is_other = |column: usize| {
            let value = new.iter().find(|(changed, _)| *changed == column).map(|(_, value)| value);
            value.is_some_and(|value| self.old[column].as_ref() != Some(value))
        };
        reference.parent_columns.iter().any(|column| is_other(*column))
    }
}

/// The values that a key gives to a child; `None`: the child is deleted.
fn new_values(changed: &Changed<'_>, key: &ForeignKeyDef, reference: &Reference) -> Option<Vec<(usize, Value<'static>)>> {
    let action = if changed.new.is_none() { key.on_delete } else { key.on_update };
    let new = match (action, &changed.new) {
        (ReferenceAction::Cascade, None) => return None,
        (ReferenceAction::Cascade, Some(new)) => new.as_slice(),
        _ => return Some(reference.columns.iter().map(|column| (*column, Value::Null)).collect()),
    };
    let pairs = reference.columns.iter().zip(&reference.parent_columns);
    let value = |parent: usize| new.iter().find(|(column, _)| *column == parent).map(|(_, value)| value.clone());
    Some(pairs.filter_map(|(column, parent)| Some((*column, value(*parent)?))).collect())
}
