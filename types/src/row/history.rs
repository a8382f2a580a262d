//! Rows that are older than their table's columns: what lets columns come, go and move without rows being written anew.
//!
//! Each column has a *number*, apart from its place in the definition. A new column gets the next one, and a definition that lets columns go uses
//! one up. The head of a row is the next number as it was when the row was written.
//!
//! ```text
//! CREATE t (a, b, c)    a 0, b 1, c 2    rows have head 3
//! DROP b                b until 3        rows have head 4: number 3 is used up
//! ADD d AFTER a         d 4              rows have head 5
//! now (a, d, c) are the numbers 0, 4, 2; a row with head 3 has a, b, c, one with head 4 a, c, one with head 5 a, c, d
//! ```
//!
//! H1: a row with head `h` has a value of each column whose number is below `h`, but for columns that had been dropped: those with `until < h`.
//! H2: values stand in a row in the order of the columns' numbers; a place in the definition says nothing of the place in a row.
//! H3: numbers only grow, so a head says for ever what is in a row. Who writes all rows anew (a rebuild, TRUNCATE) begins again, without a history.
//! H4: width and nullability of a column stay as they are while rows stay: another type of storage is a rebuild. A dropped column is known by these two.
//! H5: rows are written with the newest head only. An older row that is changed loses what it has of dropped columns; it hands out their
//!     large values before (`StoredRow::dropped_externals`).
//! H6: heads between two drops differ by what comes behind: they are an *era*, of one layout. Rows of the newest era are found without a
//!     search, and a table without a history has no other.

use super::{ExternalRef, HEAD_MASK, Kind, Prefix, RowLayout, Slot, StoredRow};
use crate::ColumnType;
use crate::error::Result;
use crate::schema::{ColumnDef, TableDef};
use serde::{Deserialize, Serialize};

/// How often columns may come, go and move before rows are written anew: MySQL's limit.
pub const VERSIONS_MAX: u16 = 255;

/// The numbers of a table's columns, and the columns that older rows have beside them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowHistory {
    /// Of each column of the definition.
    pub numbers: Vec<u16>,
    pub dropped: Vec<DroppedColumn>,
    /// Of new rows: the next number.
    pub head: u16,
    /// How often columns came, went or moved.
    pub versions: u16,
}

/// What is left of a column that was dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedColumn {
    pub number: u16,
    /// Rows with a greater head have nothing of it.
    pub until: u16,
    /// 0: it is variable.
    pub width: u16,
    pub nullable: bool,
}

impl RowHistory {
    /// The history of a table whose column `k` is the one that stood at `sources[k]`, or a new one. `None`: rows are as they were from the first.
    pub fn after(old: &TableDef, sources: &[Option<usize>]) -> Option<Box<Self>> {
        let before = || Self {
            numbers: (0..old.columns.len() as u16).collect(),
            dropped: Vec::new(),
            head: old.columns.len() as u16,
            versions: 0,
        };
        let is_same = sources.len() == old.columns.len() && sources.iter().enumerate().all(|(k, source)| *source == Some(k));
        if is_same {
            return old.history.clone();
        }
        let mut history = old.history.as_deref().cloned().unwrap_or_else(before);
        let until = history.head;
        let goes = |(place, number): (usize, &u16)| {
            let column = &old.columns[place];
            let dropped = DroppedColumn { number: *number, until, width: width(&column.ty), nullable: column.nullable };
            (!sources.contains(&Some(place))).then_some(dropped)
        };
        let going: Vec<DroppedColumn> = history.numbers.iter().enumerate().filter_map(goes).collect();
        history.head += u16::from(!going.is_empty());
        history.dropped.extend(going);
        let mut next = || {
            history.head += 1;
            history.head - 1
        };
        history.numbers = sources.iter().map(|source| source.map_or_else(&mut next, |place| history.numbers[place])).collect();
        history.versions += 1;
        Some(Box::new(history))
    }

    /// No more for a row's head to say, or than MySQL has.
    pub fn is_over(&self) -> bool {
        self.versions > VERSIONS_MAX || self.head > HEAD_MASK
    }

    pub(super) fn layout(&self, columns: &[ColumnDef]) -> RowLayout {
        let mut prefixes = Vec::with_capacity(usize::from(self.head) + 1);
        let mut ends: Vec<u16> = self.dropped.iter().map(|dropped| dropped.until).collect();
        ends.sort_unstable();
        ends.dedup();
        let eras: Vec<Era> = ends.into_iter().map(|until| self.era(columns, until, &mut prefixes)).collect();
        let since = prefixes.len();
        let newest = self.era(columns, self.head, &mut prefixes);
        let mut order: Vec<u16> = (0..columns.len() as u16).collect();
        order.sort_unstable_by_key(|column| self.numbers[usize::from(*column)]);
        RowLayout {
            columns: newest.slots,
            prefixes: prefixes.into(),
            head: self.head,
            since,
            order: (!order.is_sorted()).then_some(order.into()),
            eras: eras.into(),
            version: self.versions,
        }
    }

    /// The era whose last rows have the head `until`; `prefixes` has those of all lesser heads of other eras, and gets its own.
    fn era(&self, columns: &[ColumnDef], until: u16, prefixes: &mut Vec<Prefix>) -> Era {
        let mut slots: Vec<Slot> = columns.iter().zip(&self.numbers).map(|(column, number)| Slot::new(column, *number)).collect();
        // H1, H2
        let live = self.numbers.iter().enumerate().map(|(column, number)| (*number, Stored::Column(column)));
        let dropped = self.dropped.iter().filter(|dropped| dropped.until >= until);
        let mut stored: Vec<(u16, Stored<'_>)> = live.chain(dropped.map(|d| (d.number, Stored::Dropped(d)))).collect();
        stored.retain(|(number, _)| *number < until);
        stored.sort_unstable_by_key(|(number, _)| *number);
        let mut stored = stored.into_iter().peekable();
        let (mut prefix, mut gone) = (Prefix::default(), Vec::new());
        for head in prefixes.len() as u16..=until {
            while let Some((number, what)) = stored.next_if(|(number, _)| *number < head) {
                match what {
                    Stored::Column(column) => slots[column].place_behind(&mut prefix),
                    Stored::Dropped(column) => {
                        let (place, _) = prefix.add(usize::from(column.width), column.nullable);
                        if column.width == 0 {
                            gone.push((number, place));
                        }
                    }
                }
            }
            prefixes.push(prefix);
        }
        Era { until: usize::from(until), slots: slots.into(), gone: gone.into() }
    }
}

/// What rows have at one number.
enum Stored<'a> {
    Column(usize),
    Dropped(&'a DroppedColumn),
}

/// Bytes of a fixed width; 0: it is variable.
fn width(ty: &ColumnType) -> u16 {
    Kind::of(ty).width() as u16
}

/// How rows between two drops are laid out (H6).
#[derive(Clone, Debug)]
pub(super) struct Era {
    /// The greatest head.
    until: usize,
    pub slots: Box<[Slot]>,
    /// Variable columns that were dropped since: number, and position among the variable columns.
    gone: Box<[(u16, u32)]>,
}

impl RowLayout {
    #[cold]
    pub(super) fn slots_before(&self, head: usize) -> &[Slot] {
        &self.era_of(head).slots
    }

    fn era_of(&self, head: usize) -> &Era {
        &self.eras[self.eras.partition_point(|era| era.until < head)]
    }
}

impl StoredRow<'_> {
    /// Has it values of columns that were dropped since? They go when it is written anew.
    pub fn has_dropped(&self) -> bool {
        self.head < self.layout.since
    }

    /// Adds the large values that the row has of dropped columns (H5).
    pub fn dropped_externals(&self, found: &mut Vec<ExternalRef>) -> Result<()> {
        if !self.has_dropped() {
            return Ok(());
        }
        let gone = self.layout.era_of(self.head).gone.iter().filter(|(number, _)| usize::from(*number) < self.head);
        for (_, place) in gone {
            found.extend(self.variable(*place as usize)?.external()?);
        }
        Ok(())
    }
}
