//! ALTER TABLE ... EXCHANGE PARTITION ... WITH TABLE: the rows of a partition and those of another table change places.
//!
//! ```text
//! 1. lock both tables exclusively; compare their definitions; make new trees for both, recorded as orphans
//! 2. old rows outside of the partition, and all rows of the other table -> new trees of the first
//! 3. old rows of the partition -> new trees of the other
//! 4. one catalog transaction links the new trees of both and unlinks the old ones; publish
//! ```
//!
//! A partition is a set of rows, and indexes cover the whole table (`partition`). So both tables are rewritten, and
//! nobody uses them meanwhile. A crash leaves both as they were, or both exchanged.
//!
//! X1: every row of the other table must belong to the partition, also WITHOUT VALIDATION (1737): there is no other
//!     place for it. So it has no duplicate among the rows outside, because unique keys contain the partitioning
//!     columns.

use super::build::{Build, Copy, Keys, Sieve, Work};
use super::online::Changed;
use super::related::by_names;
use super::{DdlOptions, NewTrees, define, foreign, missing_table, trees_of};
use crate::catalog::{CatalogTxn, StoredTable};
use crate::counters::Counters;
use crate::database::Published;
use crate::{Database, Result, Table};
use std::sync::Arc;
use txn::{TreeRef, Worker};
use types::partition::PartitionError;
use types::schema::{IndexDef, TableDef};

/// One of the two tables, with new trees of the same definition.
struct Half<'d> {
    trees: NewTrees<'d>,
    stored: StoredTable,
    counters: Arc<Counters>,
    /// The next AUTO_INCREMENT.
    next_auto: Option<u64>,
    new: Table,
}

impl<'d> Half<'d> {
    fn of(database: &'d Database, worker: &Worker, old: &Table, next_auto: Option<u64>) -> Result<Self> {
        let mut def = TableDef::clone(old.def());
        def.forget_older_rows();
        let count = def.indexes.len() + usize::from(define::needs_blob_tree(&def));
        let mut trees = NewTrees::create(database, worker, count)?;
        let blob_tree = trees.assign(&mut def, &[]);
        let stored = StoredTable { def: Arc::new(def), blob_tree };
        let counters = database.new_counters(next_auto);
        let new = Table::open(&stored, counters.clone(), old.mdl.clone(), 0);
        Ok(Self { trees, stored, counters, next_auto, new })
    }

    /// Copies rows of a table here: all, or some by their partition.
    fn fill(
        &self,
        worker: &Worker,
        from: &Arc<Table>,
        sieve: Option<(Sieve, &Table, usize)>,
        options: &DdlOptions,
    ) -> Result<()> {
        let sources: Vec<Option<usize>> = (0..from.def().columns.len()).map(Some).collect();
        let mut copy = Copy::new(worker, from, &self.new, &sources, options, Keys::Unneeded)?;
        if let Some((sieve, of, partition)) = sieve {
            copy = copy.sifting(sieve, of, &[partition], options)?;
        }
        let work = Work::Copy(Box::new(copy));
        Build { worker, old: from, new: &self.new, options, work, watch: None, changed: Changed::default() }.fill()
    }
}

impl Database {
    /// Both tables by database and name, the partitioned one first.
    ///
    /// # Errors
    /// MySQL's errors: 1505, 1732, 1735, 1736, 1737, 1740.
    pub fn exchange_partition(
        &self,
        worker: &Worker,
        names: [(String, String); 2],
        partition: &str,
        options: &DdlOptions,
    ) -> Result<()> {
        let (locked, ddl) = self.lock_tables(worker, by_names(&names, missing_table), options)?;
        drop(ddl);
        let find = |(database, name): &(String, String)| {
            let is_it = |table: &&Arc<Table>| (&table.def().database, &table.def().name) == (database, name);
            locked.tables.iter().find(is_it).cloned().ok_or_else(|| missing_table(&(database.clone(), name.clone())))
        };
        let (whole, other) = (find(&names[0])?, find(&names[1])?);
        let place = check(&self.published(), whole.def(), other.def(), partition)?;

        // Numbers that were given are not given again. The columns are alike, so both tables count, or none does.
        let next = (whole.next_auto_increment().max(other.next_auto_increment()), whole.next_auto_increment());
        let mut first = Half::of(self, worker, &whole, next.0)?;
        let mut second = Half::of(self, worker, &other, next.1)?;
        first.fill(worker, &whole, Some((Sieve::LeaveOut, &whole, place)), options)?;
        first.fill(worker, &other, Some((Sieve::Require, &whole, place)), options)?;
        second.fill(worker, &whole, Some((Sieve::TakeOnly, &whole, place)), options)?;

        let mut ddl = self.lock_ddl();
        let dropped: Vec<TreeRef> = trees_of(&whole).chain(trees_of(&other)).collect();
        let mut catalog = CatalogTxn::begin(worker);
        for half in [&first, &second] {
            catalog.put_table(&half.stored)?;
            if let Some(next) = half.next_auto {
                catalog.put_auto_increment(half.stored.def.id, next)?;
            }
            half.trees.link(&mut catalog)?;
        }
        for tree in &dropped {
            catalog.put_orphan(*tree)?;
        }
        catalog.commit();
        first.trees.adopt();
        second.trees.adopt();
        self.publish(&mut ddl, |next| {
            for (half, old) in [(first, &whole), (second, &other)] {
                half.next_auto.into_iter().for_each(|number| half.counters.restart_at(number));
                next.put_table(Table::open(&half.stored, half.counters, old.mdl.clone(), next.now));
            }
        });
        ddl.orphans.extend(dropped);
        Ok(())
    }
}

/// The number of the rows of the partition or subpartition, where the tables may exchange it.
fn check(published: &Published, whole: &TableDef, other: &TableDef, partition: &str) -> Result<usize> {
    let Some(partitioning) = whole.partitioning.as_deref() else { return Err(PartitionError::NotPartitioned.into()) };
    let table = || other.name.clone();
    if other.partitioning.is_some() {
        return Err(PartitionError::ExchangePartitioned { table: table() }.into());
    }
    let is_parent = !foreign::referencing(published, &other.database, &other.name, None).is_empty();
    if !other.foreign_keys.is_empty() || is_parent {
        return Err(PartitionError::ExchangeForeignKey { table: table() }.into());
    }
    let unknown = || PartitionError::Unknown { partition: partition.to_owned(), table: whole.name.clone() };
    let numbers = partitioning.numbers(partition).ok_or_else(unknown)?;
    if partitioning.sub.is_some() && partitioning.position(partition).is_some() {
        return Err(PartitionError::ExchangeSubpartitioned.into());
    }
    if are_alike(whole, other) { Ok(numbers.start) } else { Err(PartitionError::ExchangeDifferent.into()) }
}

/// Do both have the same columns and indexes? Defaults, comments and CHECKs may differ.
fn are_alike(one: &TableDef, two: &TableDef) -> bool {
    let columns = one.columns.len() == two.columns.len()
        && one.columns.iter().zip(&two.columns).all(|(a, b)| {
            a.name.eq_ignore_ascii_case(&b.name)
                && a.ty == b.ty
                && a.nullable == b.nullable
                && a.auto_increment == b.auto_increment
                && a.generated == b.generated
        });
    let same_index =
        |a: &IndexDef, b: &IndexDef| a.name.eq_ignore_ascii_case(&b.name) && a.kind == b.kind && a.columns == b.columns;
    columns && one.indexes.len() == two.indexes.len() && one.indexes.iter().all(|a| two.indexes.iter().any(|b| same_index(a, b)))
}
