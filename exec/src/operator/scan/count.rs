//! COUNT(*) over a scan: rows are counted by the leaf, where nothing has to be known of them.
//!
//! That is so for a plain read without conditions of the clustered index, or of a secondary one that covers the statement. Where conditions on
//! stored bytes say all, rows of the clustered index are tested where they lie. The rows of a full-text search are those that it has found.
//! Others are read row by row.
//!
//! Each leaf counts as many rows of work as it has, in all counters. The clock and the kill flag are looked at before each leaf (R2 of
//! [`crate::run`]).

use super::{ScanOperator, Stage, opened};
use crate::pause::Step;
use crate::run::Run;
use expr::Work;
use sql::plan::Access;

/// What counting finds next.
pub(crate) enum Counted {
    /// So many further rows.
    Rows(u64),
    /// There are none.
    End,
    /// The rows have to be read.
    Unknown,
}

impl<'p> ScanOperator<'p> {
    /// Counts further rows instead of reading them. Not to be mixed with `next`, but for the first answer `Unknown`.
    pub fn count(&mut self, run: &mut Run<'p>) -> Step<Counted> {
        loop {
            self.stage = match self.stage {
                Stage::Start if self.counts_found() => {
                    self.start(run)?;
                    self.stage = Stage::Done;
                    let Some(rows) = self.found.as_ref().and_then(|found| found.count()) else {
                        self.stage = Stage::Start;
                        return Ok(Counted::Unknown);
                    };
                    run.count_rows(rows);
                    return Ok(Counted::Rows(rows));
                }
                Stage::Start => {
                    if !self.can_count(run) {
                        return Ok(Counted::Unknown);
                    }
                    self.start(run)?
                }
                Stage::NextRange => self.open_next_range(run),
                Stage::Read => {
                    run.clock.look(run.shared.session)?;
                    let cursor = opened(&mut self.cursor);
                    let counted = match &self.counting_tests {
                        None => cursor.count(self.table, run.worker, run.txn)?.map(|rows| (rows, rows)),
                        Some(tests) => cursor.count_that_meet(self.table, run.worker, run.txn, tests)?,
                    };
                    match counted {
                        Some((rows, read)) => {
                            run.count_rows(read);
                            self.count_reads(&run.shared.session.work, read);
                            self.reads.count += read;
                            return Ok(Counted::Rows(rows));
                        }
                        None => {
                            self.count_reads(&run.shared.session.work, u64::from(self.ends));
                            Stage::NextRange
                        }
                    }
                }
                Stage::Done => return Ok(Counted::End),
                _ => unreachable!("countable scans are of ranges"),
            };
        }
    }

    /// Are its rows those that a full-text search finds, and no others?
    fn counts_found(&self) -> bool {
        let Access::FullText { search, .. } = &self.plan.access else { return false };
        self.lock.is_none() && self.index_filter.is_none() && self.filter.is_some_and(|filter| *filter == **search)
    }

    /// Can its rows be counted without reading them? Asked before the first row.
    pub fn can_count(&mut self, run: &Run<'p>) -> bool {
        if !self.is_countable(run) {
            return false;
        }
        self.counting_tests = self.filter.and_then(|filter| self.stored.whole(run, self.plan.source, filter));
        self.filter.is_none() || self.counting_tests.is_some()
    }

    fn is_countable(&self, run: &Run<'p>) -> bool {
        let is_known = match self.plan.access {
            Access::Full { index, .. } | Access::Ranges { index, .. } => {
                index == 0 || (self.covering && !run.txn.has_changed_unseen())
            }
            _ => false,
        };
        is_known && self.lock.is_none() && self.index_filter.is_none() && (self.filter.is_none() || self.tests_ahead)
    }

    /// As so many calls of `count_read`.
    pub(super) fn count_reads(&mut self, work: &Work, times: u64) {
        if times > 0 {
            self.count_read(work);
            if let Some(counter) = self.read_counter(work) {
                counter.set(counter.get() + times - 1);
            }
        }
    }
}
