//! Rows across a foreign key: from a child's row to the key of its parent, from a parent's row to its children.
//!
//! Values are encoded again for the index on the other side, whose columns may be NOT NULL, descending or of another
//! length. A value outside of the other side's type has no counterpart there.
//!
//! R1: rows are looked up in one index of the other table, and the found entries are locked there, one by one, as in
//!     InnoDB. So a parent can be changed in columns outside of the key while a child refers to it by a secondary
//!     index.
//! R2: an entry that another transaction has written is waited for. So the answer is about committed data, or the
//!     transaction's own, whatever its snapshot shows. It stays true until the transaction ends: found entries are
//!     locked, and if none was found, the gap is locked at the isolation levels without phantoms.

use crate::{EncodedRange, Table};
use smallvec::SmallVec;
use txn::{LockMode, ReadMode, Scan, Txn, WaitPolicy, Worker};
use types::schema::{ForeignKeyDef, TableDef};
use types::{ColumnType, TypeKind, Value};

/// A foreign key whose parent is there, in positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// In the child's columns.
    pub columns: Box<[usize]>,
    /// One for each of `columns`, in the parent's.
    pub parent_columns: Box<[usize]>,
    /// The child's index that begins with `columns`.
    pub index: usize,
    /// The parent's unique key of `parent_columns`.
    pub parent_index: usize,
}

/// Scratch memory of a look-up.
#[derive(Default)]
pub struct Lookup {
    pub range: EncodedRange,
    payload: Vec<u8>,
}

type Values<'v> = SmallVec<[Value<'v>; 4]>;

impl Reference {
    /// `None`: columns or keys are missing, which definitions do not allow (`ddl::foreign`, F1).
    pub fn new(child: &TableDef, key: &ForeignKeyDef, parent: &TableDef) -> Option<Self> {
        let parent_columns = key.columns_in(parent)?;
        Some(Self {
            columns: key.columns.as_slice().into(),
            index: child.index_leading_with(&key.columns)?,
            parent_index: parent.unique_key_of(&parent_columns)?,
            parent_columns: parent_columns.into(),
        })
    }

    /// Encodes into `out` the key of the parent's row that a child's row with these values refers to. `false`: no row can have it.
    pub fn encode_parent_key(&self, parent: &Table, values: &[Value<'_>], out: &mut Vec<u8>) -> bool {
        let fits = |(value, column): (&Value<'_>, &usize)| is_representable(value, &parent.def().columns[*column].ty);
        values.iter().zip(&self.parent_columns).all(fits) && parent.encode_point_key(self.parent_index, values, out)
    }

    /// Encodes the range of the child's index in which the children are of a parent's row with these values. `false`: it has none.
    pub fn encode_child_range(&self, child: &Table, values: &[Value<'_>], range: &mut EncodedRange) -> bool {
        let fits = |(value, column): (&Value<'_>, &usize)| is_representable(value, &child.def().columns[*column].ty);
        let there = values.iter().all(|value| !value.is_null()) && values.iter().zip(&self.columns).all(fits);
        there && child.encode_range(self.index, values, None, None, range)
    }

    /// Would a row of a table that references itself be its own parent? `value` gives the row's columns.
    pub fn is_own_parent<'v>(&self, table: &Table, value: impl Fn(usize) -> Option<Value<'v>>) -> bool {
        let key = |columns: &[usize]| {
            let values: Option<Values<'v>> = columns.iter().map(|column| value(*column)).collect();
            let mut key = Vec::new();
            values.filter(|values| self.encode_parent_key(table, values, &mut key)).map(|_| key)
        };
        key(&self.columns).is_some_and(|mine| key(&self.parent_columns) == Some(mine))
    }
}

/// Can a column of this type hold the value of another column that may reference it?
pub fn is_representable(value: &Value<'_>, ty: &ColumnType) -> bool {
    match (value, &ty.kind) {
        (Value::Decimal(number), TypeKind::Decimal { precision, scale }) => {
            number.rescale(*scale).is_ok_and(|same| same == *number && same.fits(*precision, *scale))
        }
        _ => true,
    }
}

impl Table {
    /// Is there an entry with this key in a primary or unique index? It is locked then; else, where the isolation level knows no
    /// phantoms, its gap is. Restartable: R2.
    pub fn lock_key(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        key: &[u8],
        mode: LockMode,
        lookup: &mut Lookup,
    ) -> txn::Result<bool> {
        let tree = self.indexes[index].tree;
        loop {
            if txn.lock_row(worker, tree, key, mode, WaitPolicy::Wait, &mut lookup.payload)?.is_some() {
                return Ok(true);
            }
            if !txn.locks_gaps() || txn.lock_gap(worker, tree, key, mode)? {
                return Ok(false);
            }
        }
    }

    /// Is there an entry in `lookup.range` of an index? The first one is locked then; else, where the isolation level knows no
    /// phantoms, the range is. Restartable, from the beginning: R2.
    pub fn lock_first(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        mode: LockMode,
        lookup: &mut Lookup,
    ) -> txn::Result<bool> {
        let tree = self.indexes[index].tree;
        let Lookup { range, payload } = lookup;
        if txn.locks_gaps() {
            let mut scan = Scan::new(tree, &range.low, &range.high, false, ReadMode::Lock(mode, WaitPolicy::Wait));
            return scan.fill(txn, worker, 1);
        }
        let mut scan = Scan::new(tree, &range.low, &range.high, false, ReadMode::Latest);
        while scan.fill(txn, worker, 1)? {
            let Some(row) = scan.next_row() else { continue };
            if txn.lock_row(worker, tree, row.key, mode, WaitPolicy::Wait, payload)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Is there an entry with this key in a primary or unique index, where nobody else changes the table?
    pub(crate) fn has_key(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        key: &[u8],
        payload: &mut Vec<u8>,
    ) -> txn::Result<bool> {
        Ok(txn.read_latest(worker, self.indexes[index].tree, key, payload)?.is_some())
    }
}
