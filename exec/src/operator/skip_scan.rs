//! Reads an index by leaps: of each group of entries that begin with the same values, one row or two, or those within bounds of the next
//! column.
//!
//! ```text
//! a  b     GROUP BY a, MIN(b), MAX(b)      WHERE b BETWEEN 4 AND 5
//! 1  2     <- first                        look for (1, 4 ..= 5)
//! 1  4                                     <-
//! 1  7     <- last
//! 2  1     <- first (and last)             look for (2, 4 ..= 5)
//! ```
//! 1. The first entry at or behind a place names a group. Its values, encoded, are the group's range of keys, and the end of that range is the
//!    place of the next group.
//! 2. Of the group are given: its first row; the first row whose next column is not NULL, where a least value is asked for; its last
//!    row, where a greatest one is. What is computed above are MIN, MAX and aggregates that do not mind equal values, so these rows will do.
//! 3. With bounds on the next columns, the rows within the bounds are given instead, or the first and last of them.
//!
//! L1: consistent reads only; each part is a cursor of its own over a range of keys, so that visibility is the cursor's business.

use crate::access::{self, KeyValues};
use crate::pause::Step;
use crate::run::Run;
use crate::source::SourceState;
use expr::{Expr, count};
use sql::plan::{Leaps, Scan};
use table::{EncodedRange, RowCursor, RowRead, Table};
use txn::ReadMode;
use types::Value;

pub(crate) struct SkipScan<'p> {
    plan: &'p Scan,
    leaps: &'p Leaps,
    filter: Option<&'p Expr>,
    table: &'p Table,
    covering: bool,
    cursor: RowCursor,
    ranges: Vec<EncodedRange>,
    range_count: usize,
    next_range: usize,
    /// What is left of the present range.
    rest: EncodedRange,
    /// The present group's keys, or those of them within the bounds, and those without NULL behind.
    group: EncodedRange,
    least: EncodedRange,
    part: Part,
    stage: Stage,
}

/// Which row of a group is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The one that names the group.
    First,
    /// The first without NULL.
    Least,
    Last,
    /// All within the bounds.
    Within,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Start,
    NextRange,
    /// The next group is to be looked for.
    Seek,
    /// The next part of the group is to be looked for.
    Open,
    Read,
    Load,
    Reload,
    Judge,
    Done,
}

impl<'p> SkipScan<'p> {
    pub fn new(plan: &'p Scan, leaps: &'p Leaps, table: &'p Table) -> Self {
        Self {
            plan,
            leaps,
            filter: plan.filter.as_ref(),
            table,
            covering: leaps.covering && table.covers(leaps.index, &plan.columns_used),
            cursor: RowCursor::new(),
            ranges: Vec::new(),
            range_count: 0,
            next_range: 0,
            rest: EncodedRange::default(),
            group: EncodedRange::default(),
            least: EncodedRange::default(),
            part: Part::First,
            stage: Stage::Start,
        }
    }

    /// Leaves the filter to somebody else.
    pub fn take_filter(&mut self) -> Option<&'p Expr> {
        self.filter.take()
    }

    pub fn rewind(&mut self) {
        self.stage = Stage::Start;
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            self.stage = match self.stage {
                Stage::Start => self.start(run)?,
                Stage::NextRange => self.next_range(),
                Stage::Seek => {
                    self.open(Part::First);
                    Stage::Read
                }
                Stage::Open => {
                    let part = self.part;
                    self.open(part);
                    Stage::Read
                }
                Stage::Read => self.read(run)?,
                Stage::Load => self.load(run)?,
                Stage::Reload => self.reload(run)?,
                Stage::Judge => {
                    let keep = run.passes(self.filter)?;
                    self.stage = self.after_row(run);
                    if keep {
                        return Ok(true);
                    }
                    continue;
                }
                Stage::Done => return Ok(false),
            };
        }
    }

    fn start(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let env = run.env(&[]);
        self.next_range = 0;
        self.range_count = access::ranges(&env, self.table, self.leaps.index, &self.leaps.ranges, &mut self.ranges)?;
        Ok(Stage::NextRange)
    }

    fn next_range(&mut self) -> Stage {
        if self.next_range == self.range_count {
            return Stage::Done;
        }
        let range = &self.ranges[self.next_range];
        self.next_range += 1;
        self.rest.low.clone_from(&range.low);
        self.rest.high.clone_from(&range.high);
        Stage::Seek
    }

    fn open(&mut self, part: Part) {
        self.part = part;
        let range = match part {
            Part::First => &self.rest,
            Part::Least => &self.least,
            Part::Last | Part::Within => &self.group,
        };
        self.cursor.open(self.table, self.leaps.index, range, part == Part::Last, ReadMode::Snapshot, self.covering);
        if part != Part::Within {
            self.cursor.set_batch(1);
        }
    }

    fn read(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        run.tick()?;
        let source = &mut run.sources[self.plan.source];
        // Each group's rows are looked for by their keys.
        count(&run.shared.session.work.read_key);
        if self.cursor.next(self.table, run.worker, run.txn, &mut source.row)? {
            source.state = SourceState::Stored;
            return Ok(Stage::Load);
        }
        Ok(match self.part {
            Part::First => Stage::NextRange,
            Part::Least => self.part_behind(Part::Least),
            Part::Last | Part::Within => Stage::Seek,
        })
    }

    /// Brings in large columns that lie outside of the row; then, of a group's first row, what the group is.
    fn load(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let source = &mut run.sources[self.plan.source];
        let how = RowRead::Snapshot;
        if self.table.has_externals(&source.row)
            && !self.table.load_externals(run.worker, run.txn, how, &self.plan.columns_used, &mut source.row)?
        {
            return Ok(Stage::Reload);
        }
        if self.part != Part::First {
            return Ok(Stage::Judge);
        }
        self.leave_group(run)?;
        match self.leaps.within {
            None => Ok(Stage::Judge),
            Some(_) => self.bound(run),
        }
    }

    /// The row changed between the two reads. A stage of its own: while it waits for a page, the row is not whole.
    fn reload(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let source = &mut run.sources[self.plan.source];
        let there = self.table.reread(run.worker, run.txn, RowRead::Snapshot, &mut source.row)?;
        Ok(if there { Stage::Load } else { Stage::Read })
    }

    /// The keys of the row's group, and the place behind them.
    fn leave_group(&mut self, run: &mut Run<'p>) -> Step<()> {
        let prefix = self.group_values(run, self.leaps.prefix)?;
        self.table.encode_range(self.leaps.index, &prefix, None, None, &mut self.group);
        if self.leaps.least {
            self.table.encode_not_null(self.leaps.index, &prefix, &mut self.least);
        }
        if self.group.high.is_empty() {
            // Nothing is behind it: an empty range.
            self.next_range = self.range_count;
            self.rest.low.clone_from(&self.group.low);
            self.rest.high.clone_from(&self.group.low);
        } else {
            self.rest.low.clone_from(&self.group.high);
        }
        Ok(())
    }

    fn group_values(&self, run: &Run<'p>, columns: usize) -> Step<KeyValues<'static>> {
        let env = run.env(&[]);
        let index = &self.plan.table.indexes[self.leaps.index];
        let values = index.columns[..columns].iter().map(|part| env.column(self.plan.source, part.column));
        values.map(|value| Ok(value?.into_owned())).collect()
    }

    /// The keys of the group that lie within the bounds.
    fn bound(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let leaps: &'p Leaps = self.leaps;
        let within = leaps.within.as_ref().expect("the caller looked");
        let mut group = KeyValues::new();
        self.group_values(run, leaps.prefix)?.into_iter().for_each(|value| group.push(value));
        let env = run.env(&[]);
        if !access::encode_range_behind(&env, self.table, self.leaps.index, group, within, &mut self.group)? {
            return Ok(Stage::Seek);
        }
        self.part = Part::Within;
        Ok(Stage::Open)
    }

    /// What is to be read behind a row that was given.
    fn after_row(&mut self, run: &Run<'p>) -> Stage {
        match self.part {
            Part::Within => Stage::Read,
            Part::First if self.leaps.least && self.is_null(run) => self.part_behind(Part::First),
            part => self.part_behind(if part == Part::First { Part::Least } else { part }),
        }
    }

    fn part_behind(&mut self, part: Part) -> Stage {
        match part {
            Part::First => self.part = Part::Least,
            Part::Least if self.leaps.greatest => self.part = Part::Last,
            _ => return Stage::Seek,
        }
        Stage::Open
    }

    /// Is the column behind the group's NULL?
    fn is_null(&self, run: &Run<'p>) -> bool {
        let index = &self.plan.table.indexes[self.leaps.index];
        let column = index.columns.get(self.leaps.prefix).map(|part| part.column);
        column.is_some_and(|column| matches!(run.env(&[]).column(self.plan.source, column), Ok(Value::Null)))
    }
}
