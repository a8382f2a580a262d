//! Statistics: computed from sampled leaves, kept in the catalog, and in memory beside the table's counters.
//!
//! **Index.** The keys of a tree are in order, so the number of different prefixes is one more than the number of
//! neighbours whose prefixes differ. Evenly spaced leaves are read. If the last prefix of one leaf equals the first
//! prefix of the next one read, nothing between them differs. Otherwise at least one pair does, and about as many as
//! the density of differences on both leaves suggests. So a column with few values is counted almost exactly, and one
//! with many by its density.
//!
//! **Columns.** The rows of evenly spaced leaves of the clustered tree are the sample for the histograms of all
//! columns. ANALYZE TABLE ... UPDATE HISTOGRAM reads more of them.
//!
//! ANALYZE TABLE recomputes statistics. The housekeeping thread does so when the number of rows has changed by a tenth,
//! or a tenth of them has been changed; it begins with the oldest statistics.
//!
//! Small tables are read completely.
//!
//! Samples are read at READ UNCOMMITTED, because the number of rows includes rows that open transactions have inserted.
//! Otherwise statistics of 3,000 rows without any values would stay, because the commit changes no number. A rollback
//! counts as further changes.
//!
//! **Pages.** For each tree the number of pages is estimated from the paths to evenly spaced leaves; it is exact if the
//! root is the only page above the leaves.
//!
//! S1: for one table, one thread at a time computes or changes statistics, from reading the old ones until the new ones
//!     are kept. So housekeeping does not undo a concurrent UPDATE HISTOGRAM.

use crate::catalog::{CatalogTxn, blocking};
use crate::ddl::define::now_us;
use crate::ddl::{Progress, Work};
use crate::{Database, EncodedRange, Result, RowBuf, RowCursor, Table, TableUse};
use std::sync::Arc;
use std::time::Duration;
use txn::{Isolation, ReadMode, Scan, TreeRef, Txn, Worker};
use types::TypeKind;
use types::key::KeyPart;
use types::schema::{IndexKind, TableDef};
use types::statistics::{BUCKETS, Histogram, KEY_BYTES, TableStatistics, TreePages};

/// Leaves read of one tree.
const LEAVES: usize = 32;
/// Leaves read for a histogram that was asked for.
const HISTOGRAM_LEAVES: usize = 1024;
/// A tree of no more rows is read whole.
const WHOLE_ROWS_MAX: u64 = 4000;
/// Statistics are recomputed when the number of rows has changed by more than one part in this many.
const STALE_PART: u64 = 10;
/// Younger statistics are not recomputed because of changed values.
const YOUNG: Duration = Duration::from_secs(10);
/// Tables that one round of the housekeeping looks at closely.
const REFRESHED_MAX: usize = 4;

/// How large a table is, in pages of [`crate::offline::PAGE_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSize {
    /// Rows, and large values outside of them.
    pub clustered_pages: u64,
    /// All secondary indexes.
    pub index_pages: u64,
}

impl Table {
    /// What is known of the rows; `None`: nothing yet, or only of another definition of the table.
    pub fn statistics(&self) -> Option<Arc<TableStatistics>> {
        self.counters.statistics().filter(|statistics| statistics.shape == shape(self.def()))
    }

    /// About how many different values the first columns of an index have; with nothing known, as many as there are rows.
    pub fn cardinality(&self, index: usize, columns: usize) -> u64 {
        let known = self.statistics().and_then(|statistics| statistics.distinct_prefix(index, columns));
        known.map_or_else(|| self.estimated_rows(), |distinct| distinct.round() as u64)
    }

    /// About how large the table is, by its statistics; without any, as a fresh one.
    pub fn size(&self) -> TableSize {
        let statistics = self.statistics();
        let tree = |index: usize| statistics.as_ref().and_then(|s| s.trees.get(index).copied()).unwrap_or(TreePages::FRESH);
        let values = statistics.as_ref().map_or(0, |s| s.values.all);
        let indexes = (1..self.indexes.len()).map(|index| tree(index).all).sum();
        TableSize { clustered_pages: tree(0).all + values, index_pages: indexes }
    }

    /// About how many entries of an index lie in a range. Looks at the two ways to its ends alone.
    ///
    /// # Errors
    /// A stall while a page on the way is read; damage.
    pub fn rows_in_range(&self, worker: &Worker, index: usize, range: &EncodedRange) -> txn::Result<f64> {
        let tree = self.indexes[index].tree;
        let low = worker.place(tree, &range.low, false)?;
        let high = worker.place(tree, &range.high, range.high.is_empty())?;
        Ok(low.records_to(&high))
    }

    /// Takes statistics; what was asked for by UPDATE HISTOGRAM is made again in its own size. Blocks.
    pub fn collect_statistics(&self, worker: &Worker, progress: &Progress) -> Result<TableStatistics> {
        let mut txn = worker.begin(Isolation::ReadUncommitted);
        let before = self.statistics();
        // Indexes, then columns, which are read together.
        progress.begin(Work::Analyze, self.def().indexes.len() as u64 + 1);
        let taken = self.collect(worker, &mut txn, before.as_deref(), progress);
        blocking(|| txn.rollback(worker))?;
        taken
    }

    fn collect(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        before: Option<&TableStatistics>,
        progress: &Progress,
    ) -> Result<TableStatistics> {
        let def = self.def();
        let (taken_us, changes) = (now_us(), self.counters.changes());
        let mut rows = self.estimated_rows();
        let mut indexes = Vec::with_capacity(def.indexes.len());
        for index in 0..def.indexes.len() {
            let counts = self.sample_prefixes(worker, txn, index, rows)?;
            if index == 0 {
                self.correct_rows(worker, rows, &counts)?;
                rows = self.estimated_rows();
            }
            indexes.push(self.distinct_prefixes(index, rows, &counts));
            progress.advance(1);
        }
        let asked = |column: usize| before.and_then(|b| b.histogram(column)).and_then(|histogram| histogram.asked);
        let usual: Vec<usize> = (0..def.columns.len()).filter(|&c| is_sampled(def, c) && asked(c).is_none()).collect();
        let mut columns = self.histograms(worker, txn, &usual, rows, BUCKETS, LEAVES)?;
        for column in 0..def.columns.len() {
            if let Some(buckets) = asked(column) {
                let mut made = self.histograms(worker, txn, &[column], rows, buckets as usize, HISTOGRAM_LEAVES)?;
                columns[column] = made[column].take().map(|histogram| Histogram { asked: Some(buckets), ..histogram });
            }
        }
        let trees = self.indexes.iter().map(|index| tree_pages(worker, index.tree)).collect::<Result<_>>()?;
        let values = self.blob_tree.map_or(Ok(TreePages::default()), |tree| tree_pages(worker, tree))?;
        Ok(TableStatistics { taken_us, changes, rows, shape: shape(def), indexes, columns, trees, values })
    }

    /// Where the rows that were read tell of quite another number than the estimate, which rollbacks do not correct, it is corrected.
    fn correct_rows(&self, worker: &Worker, estimate: u64, counts: &Counts) -> Result<()> {
        let found = counts.entries() as u64;
        if counts.step.is_none() {
            self.counters.correct_rows(found, estimate);
            return Ok(());
        }
        let leaves = tree_pages(worker, self.indexes[0].tree)?.leaves;
        let found = leaves * found / LEAVES as u64;
        if found.max(estimate) > 2 * found.min(estimate) {
            self.counters.correct_rows(found, estimate);
        }
        Ok(())
    }

    /// Reads leaves of an index.
    fn sample_prefixes(&self, worker: &Worker, txn: &mut Txn, index: usize, rows: u64) -> Result<Counts> {
        let codec = &self.indexes[index].codec;
        let parts = codec.parts();
        let step = if rows <= WHOLE_ROWS_MAX { None } else { Some(rows as f64 / LEAVES as f64) };
        let mut counts = Counts::new(parts.len(), step);
        if codec.multi.is_some() {
            // Its keys are no values of columns.
            return Ok(counts);
        }
        let leaves = if step.is_some() { LEAVES } else { 1 };
        let (mut first_key, mut ends) = (Vec::new(), Vec::new());
        for leaf in 0..leaves {
            let part = (leaf as f64 + 0.5) / leaves as f64;
            let mut most = usize::MAX;
            first_key.clear();
            if step.is_some() {
                most = blocking(|| worker.place_at(self.indexes[index].tree, part, &mut first_key))?.leaf_records().max(1);
            }
            counts.begin_leaf();
            let mut scan = Scan::new(self.indexes[index].tree, &first_key, &[], false, ReadMode::Snapshot);
            let mut read = 0;
            while read < most && blocking(|| scan.fill(txn, worker, most.min(256)))? {
                worker.tick();
                while read < most
                    && let Some(entry) = scan.next_row()
                {
                    read += 1;
                    ends_of_parts(parts, entry.key, &mut ends);
                    counts.add(entry.key, &ends);
                }
            }
            counts.end_leaf();
        }
        Ok(counts)
    }

    /// Different values of the first column of an index, of the first two, ...
    fn distinct_prefixes(&self, index: usize, rows: u64, counts: &Counts) -> Vec<f64> {
        let mut distinct = counts.distinct();
        let def = &self.def().indexes[index];
        let is_unique = matches!(def.kind, IndexKind::Primary | IndexKind::Unique);
        if let Some(last) = distinct.last_mut().filter(|_| is_unique) {
            *last = rows as f64;
        }
        // A longer prefix has at least as many values, and none has more than there are rows.
        let most = (rows as f64).max(1.0);
        let mut least = 1.0f64;
        for count in &mut distinct {
            least = least.max(*count).min(most);
            *count = least;
        }
        distinct
    }

    /// Histograms of some columns, from the rows of some leaves.
    fn histograms(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        columns: &[usize],
        rows: u64,
        buckets: usize,
        leaves: usize,
    ) -> Result<Vec<Option<Histogram>>> {
        let def = self.def();
        let mut out = vec![None; def.columns.len()];
        if columns.is_empty() {
            return Ok(out);
        }
        let parts: Vec<KeyPart> = columns.iter().map(|&column| statistics_key(def, column)).collect();
        let mut keys: Vec<Vec<Vec<u8>>> = vec![Vec::new(); columns.len()];
        let mut nulls = vec![0; columns.len()];
        let (mut cursor, mut row) = (RowCursor::new(), RowBuf::new());
        let mut range = EncodedRange::default();
        let whole = rows <= WHOLE_ROWS_MAX.max(leaves as u64 * 64);
        for leaf in 0..if whole { 1 } else { leaves } {
            let mut most = usize::MAX;
            range.low.clear();
            if !whole {
                let part = (leaf as f64 + 0.5) / leaves as f64;
                most = blocking(|| worker.place_at(self.indexes[0].tree, part, &mut range.low))?.leaf_records().max(1);
            }
            cursor.open(self, 0, &range, false, ReadMode::Snapshot, false);
            cursor.set_batch(most.min(256));
            let mut read = 0;
            while read < most && blocking(|| cursor.next(self, worker, txn, &mut row))? {
                read += 1;
                if read % 256 == 0 {
                    worker.tick();
                }
                let stored = row.row(self);
                for (n, part) in parts.iter().enumerate() {
                    if stored.is_null(part.column).unwrap_or(true) {
                        nulls[n] += 1;
                        continue;
                    }
                    let mut key = Vec::with_capacity(KEY_BYTES);
                    let encoded = stored.get(part.column).and_then(|value| part.encode(&value, &mut key));
                    if encoded.is_ok() {
                        key.truncate(KEY_BYTES);
                        keys[n].push(key);
                    }
                }
            }
        }
        for (n, &column) in columns.iter().enumerate() {
            out[column] = Some(Histogram::of_sample(std::mem::take(&mut keys[n]), nulls[n], rows, buckets));
        }
        Ok(out)
    }
}

impl Database {
    /// ANALYZE TABLE: takes statistics and keeps them. Blocks; the caller holds a share of the table's metadata lock.
    pub fn analyze(&self, worker: &Worker, table: &Table) -> Result<()> {
        self.analyze_with(worker, table, &Progress::default())
    }

    /// The same, for somebody who watches the progress.
    pub fn analyze_with(&self, worker: &Worker, table: &Table, progress: &Progress) -> Result<()> {
        let _alone = table.counters.analysis.lock();
        self.analyze_alone(worker, table, progress)
    }

    fn analyze_alone(&self, worker: &Worker, table: &Table, progress: &Progress) -> Result<()> {
        let taken = table.collect_statistics(worker, progress)?;
        self.keep_statistics(worker, table, taken)
    }

    /// ANALYZE TABLE ... UPDATE HISTOGRAM: makes histograms of these columns, with at most `buckets` buckets. Like
    /// [`Self::analyze`]. Returns for each column whether it has a histogram now: large values and documents have none.
    pub fn make_histograms(&self, worker: &Worker, table: &Table, columns: &[usize], buckets: u32) -> Result<Vec<bool>> {
        let _alone = table.counters.analysis.lock();
        let made: Vec<bool> = columns.iter().map(|&column| is_sampled(table.def(), column)).collect();
        let columns: Vec<usize> = columns.iter().copied().filter(|&column| is_sampled(table.def(), column)).collect();
        let mut statistics = match table.statistics() {
            Some(statistics) => (*statistics).clone(),
            None => table.collect_statistics(worker, &Progress::default())?,
        };
        let mut txn = worker.begin(Isolation::ReadUncommitted);
        let histograms = table.histograms(worker, &mut txn, &columns, table.estimated_rows(), buckets as usize, HISTOGRAM_LEAVES);
        blocking(|| txn.rollback(worker))?;
        for (column, histogram) in histograms?.into_iter().enumerate() {
            if let Some(histogram) = histogram {
                statistics.columns[column] = Some(Histogram { asked: Some(buckets), ..histogram });
            }
        }
        self.keep_statistics(worker, table, statistics)?;
        Ok(made)
    }

    /// ANALYZE TABLE ... DROP HISTOGRAM: whether each column had one that was asked for. As [`Self::analyze`].
    pub fn drop_histograms(&self, worker: &Worker, table: &Table, columns: &[usize]) -> Result<Vec<bool>> {
        let _alone = table.counters.analysis.lock();
        let Some(statistics) = table.statistics() else { return Ok(vec![false; columns.len()]) };
        let mut statistics = (*statistics).clone();
        let asked =
            columns.iter().map(|&c| statistics.columns[c].as_mut().is_some_and(|histogram| histogram.asked.take().is_some()));
        let asked: Vec<bool> = asked.collect();
        self.keep_statistics(worker, table, statistics)?;
        Ok(asked)
    }

    /// Takes statistics of tables whose rows have changed in number, but for those that somebody else sees to.
    pub(crate) fn refresh_statistics(&self, worker: &Worker) -> Result<()> {
        let mut stale: Vec<_> = self.stored_tables().filter(|table| table.def().view.is_none() && is_stale(table)).collect();
        stale.sort_by_key(|table| table.counters.statistics().map_or(0, |statistics| statistics.taken_us));
        for table in stale.into_iter().take(REFRESHED_MAX) {
            let Some(_alone) = table.counters.analysis.try_lock() else { continue };
            if !table.mdl().try_shared(worker.index(), TableUse::Reads) {
                continue;
            }
            let done = if table.is_replaced() { Ok(()) } else { self.analyze_alone(worker, &table, &Progress::default()) };
            table.mdl().release_shared(worker.index(), TableUse::Reads);
            done?;
        }
        Ok(())
    }

    fn keep_statistics(&self, worker: &Worker, table: &Table, taken: TableStatistics) -> Result<()> {
        let before = table.statistics();
        let material = before.is_none_or(|before| before.differs_from(&taken));
        let taken = Arc::new(taken);
        // Under the mutex no table is dropped while its record is written.
        let mut ddl = self.lock_ddl();
        let is_there = self.table(table.id()).is_some_and(|present| Arc::ptr_eq(&present.counters, &table.counters));
        if !is_there {
            return Ok(());
        }
        let mut catalog = CatalogTxn::begin(worker);
        catalog.put_statistics(table.id(), &taken)?;
        catalog.commit_soon();
        table.counters.set_statistics(taken);
        if material {
            // Plans of this version were made with other numbers.
            self.publish(&mut ddl, |_| {});
        }
        Ok(())
    }
}

/// The pages of a tree, estimated from the paths to evenly spaced leaves: their mean shows the fan-out of inner pages.
fn tree_pages(worker: &Worker, tree: TreeRef) -> Result<TreePages> {
    let (mut leaves, mut all, mut ways) = (0.0, 0.0, 0.0);
    let mut first_key = Vec::new();
    for n in 0..LEAVES {
        let place = blocking(|| worker.place_at(tree, (n as f64 + 0.5) / LEAVES as f64, &mut first_key))?;
        (leaves, all, ways) = (leaves + place.leaves(), all + place.pages(), ways + 1.0);
        if place.is_exact() {
            return Ok(TreePages { leaves: place.leaves() as u64, all: place.pages() as u64 });
        }
    }
    Ok(TreePages { leaves: (leaves / ways) as u64, all: (all / ways) as u64 })
}

fn is_stale(table: &Table) -> bool {
    let rows = table.estimated_rows();
    let Some(statistics) = table.statistics() else { return rows > 100 };
    let is_far = |difference: u64| difference > statistics.rows / STALE_PART + 100;
    let changed = table.counters.changes().wrapping_sub(statistics.changes);
    let is_young = now_us().saturating_sub(statistics.taken_us) < YOUNG.as_micros() as i64;
    is_far(rows.abs_diff(statistics.rows)) || !is_young && is_far(changed)
}

/// How keys in histograms of a column are made: ascending, without a mark for NULL.
pub fn statistics_key(def: &TableDef, column: usize) -> KeyPart {
    let ty = def.columns[column].ty.clone();
    // Of a text the beginning is enough.
    let prefix = ty.is_string().then_some(KEY_BYTES as u32);
    KeyPart { column, ty, nullable: false, prefix, descending: false }
}

/// Large values and documents have no histogram.
fn is_sampled(def: &TableDef, column: usize) -> bool {
    !matches!(
        def.columns[column].ty.kind,
        TypeKind::Text(_)
            | TypeKind::Blob(_)
            | TypeKind::Json
            | TypeKind::Geometry { .. }
            | TypeKind::Vector { .. }
            | TypeKind::Null
    )
}

/// What statistics are bound to: the columns with their types, and the indexes' trees.
fn shape(def: &TableDef) -> u64 {
    // FNV-1a: the same in every run of the program.
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for column in &def.columns {
        add(column.name.as_bytes());
        add(format!("{:?}", column.ty).as_bytes());
    }
    for index in &def.indexes {
        add(&index.tree_id.to_le_bytes());
    }
    hash
}

/// Where each part of a key ends; parts that cannot be read end where the key does.
fn ends_of_parts(parts: &[KeyPart], key: &[u8], ends: &mut Vec<usize>) {
    ends.clear();
    let mut at = 0;
    for part in parts {
        at += part.encoded_bytes(&key[at..]).unwrap_or(key.len() - at);
        ends.push(at);
    }
}

/// Counts prefixes that differ from the one before, leaf by leaf.
struct Counts {
    parts: usize,
    /// Entries from one leaf to the next; `None`: all of them are read.
    step: Option<f64>,
    leaves: Vec<Leaf>,
}

#[derive(Default)]
struct Leaf {
    first: Vec<u8>,
    first_ends: Vec<usize>,
    last: Vec<u8>,
    last_ends: Vec<usize>,
    entries: usize,
    /// By the number of columns: pairs of neighbours that differ.
    differ: Vec<usize>,
}

impl Counts {
    fn new(parts: usize, step: Option<f64>) -> Self {
        Self { parts, step, leaves: Vec::new() }
    }

    /// Entries that were read.
    fn entries(&self) -> usize {
        self.leaves.iter().map(|leaf| leaf.entries).sum()
    }

    fn begin_leaf(&mut self) {
        self.leaves.push(Leaf { differ: vec![0; self.parts], ..Leaf::default() });
    }

    fn add(&mut self, key: &[u8], ends: &[usize]) {
        let leaf = self.leaves.last_mut().expect("a leaf was begun");
        if leaf.entries == 0 {
            leaf.first = key.to_vec();
            leaf.first_ends = ends.to_vec();
        } else {
            for (n, end) in ends.iter().enumerate() {
                leaf.differ[n] += usize::from(leaf.last[..leaf.last_ends[n]] != key[..*end]);
            }
        }
        leaf.entries += 1;
        leaf.last.clear();
        leaf.last.extend_from_slice(key);
        leaf.last_ends.clear();
        leaf.last_ends.extend_from_slice(ends);
    }

    /// Leaves without an entry tell nothing.
    fn end_leaf(&mut self) {
        if self.leaves.last().is_some_and(|leaf| leaf.entries == 0) {
            self.leaves.pop();
        }
    }

    fn distinct(&self) -> Vec<f64> {
        (0..self.parts).map(|part| self.distinct_of(part)).collect()
    }

    fn distinct_of(&self, part: usize) -> f64 {
        let Some(first) = self.leaves.first() else { return 0.0 };
        let mut sum = 1.0 + first.differ[part] as f64;
        let density = |a: &Leaf, b: &Leaf| {
            let pairs = (a.entries + b.entries).saturating_sub(2).max(1) as f64;
            (a.differ[part] + b.differ[part]) as f64 / pairs
        };
        let Some(step) = self.step else { return sum };
        for pair in self.leaves.windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            sum += b.differ[part] as f64;
            if a.last[..a.last_ends[part]] != b.first[..b.first_ends[part]] {
                let between = (step - (a.entries + b.entries) as f64 / 2.0).max(1.0);
                sum += (between * density(a, b)).max(1.0);
            }
        }
        // Half a step lies before the first leaf, and half a step behind the last.
        let last = self.leaves.last().expect("there is a first one");
        let outside = |leaf: &Leaf| (step - leaf.entries as f64).max(0.0) / 2.0 * density(leaf, leaf);
        sum + outside(first) + outside(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of two numbers; leaves of 100 entries, one in ten of them read.
    fn counted(keys: impl Iterator<Item = (u32, u32)>) -> Vec<f64> {
        let keys: Vec<_> = keys.collect();
        let mut counts = Counts::new(2, Some(1000.0));
        for leaf in keys.chunks(100).skip(5).step_by(10) {
            counts.begin_leaf();
            for (a, b) in leaf {
                let key = [a.to_be_bytes(), b.to_be_bytes()].concat();
                counts.add(&key, &[4, 8]);
            }
            counts.end_leaf();
        }
        counts.distinct()
    }

    fn assert_near(found: f64, expected: f64, part: f64) {
        assert!((found - expected).abs() <= expected * part, "{found} for {expected}");
    }

    #[test]
    fn few_and_many_values_are_estimated() {
        let unique = counted((0..100_000).map(|n| (n, 0)));
        assert_near(unique[0], 100_000.0, 0.02);
        let five = counted((0..100_000).map(|n| (n / 20_000, n)));
        assert_near(five[0], 5.0, 0.01);
        assert_near(five[1], 100_000.0, 0.02);
        let groups = counted((0..100_000).map(|n| (n / 31, n)));
        assert_near(groups[0], 3226.0, 0.05);
        // Half of the rows have one value, the others their own.
        let skewed = counted((0..100_000).map(|n| (if n < 50_000 { 0 } else { n }, n)));
        assert_near(skewed[0], 50_001.0, 0.05);
        // Rows in pairs of leaves: longer runs than leaves.
        let long = counted((0..100_000).map(|n| (n / 257, n)));
        assert_near(long[0], 390.0, 0.25);
    }
}
