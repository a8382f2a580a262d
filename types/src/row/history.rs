//! Rows that are older than their table's columns: columns can be added, dropped and moved without rewriting rows.
//!
//! Each column has a *number*, apart from its position in the definition. A new column gets the next number, and a
//! definition that drops columns uses one number up. The head of a row is the next number at the time when the row was
//! written.
//!
//! ```text
//! CREATE t (a, b, c)    a 0, b 1, c 2    rows have head 3
//! DROP b                b until 3        rows have head 4: number 3 is used up
//! ADD d AFTER a         d 4              rows have head 5
//! now (a, d, c) are the numbers 0, 4, 2; a row with head 3 has a, b, c, one with head 4 a, c, one with head 5 a, c, d
//! ```
//!
//! H1: a row with head `h` has a value of each column whose number is below `h`, except columns that had been dropped:
//!     those with `until < h`.
//! H2: values are stored in the order of the columns' numbers, independent of the positions in the definition.
//! H3: numbers only grow, so a head describes its row for ever. A rewrite of all rows (a rebuild, TRUNCATE) begins
//!     again without a history.
//! H4: width and nullability of a column do not change while rows stay; another stored type needs a rebuild. These two
//!     are all that is kept of a dropped column.
//! H5: rows are written with the newest head only. Changing an older row removes its values of dropped columns; before
//!     that it returns their large values (`StoredRow::dropped_externals`).
//! H6: the heads between two drops differ only in columns at the end: they are an *era* with one layout. Rows of the
//!     newest era are found without a search, and a table without a history has no other.

use super::{ExternalRef, HEAD_MASK, Kind, Prefix, RowLayout, Slot, StoredRow};
use crate::ColumnType;
use crate::error::Result;
use crate::schema::{ColumnDef, TableDef};
use serde::{Deserialize, Serialize};

/// How often columns can be added, dropped and moved before rows must be rewritten: MySQL's limit.
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

/// The remaining description of a dropped column.
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

    /// The era whose rows have heads up to `until`; `prefixes` has the layouts of all lower heads of other eras, and
    /// gets those of this one.
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

/// The value that rows have at one number.
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
    /// Does it have values of columns that were dropped since? A rewrite of the row removes them.
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
