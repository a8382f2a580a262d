//! What statements cost, by digest: `performance_schema.events_statements_summary_by_digest`.
//!
//! ```text
//! statement   finds its statistics once: with its kept plan, or when it is prepared        (`Digests::find`)
//! execution   two readings of a clock and some dozen additions to cells of its worker      (`Statistics::record`)
//! SELECT      asks every worker, and adds up what belongs to the same digest               (`summary`)
//! ```
//!
//! D1: statistics belong to one worker; nothing of them is seen by another thread but by message.
//! D2: a worker keeps at most `performance_schema_digests_size` of them. What is beyond, and what is beyond it in the sum of all workers,
//!     counts in the row without a digest.
//! D3: TRUNCATE sets to zero what plans still point to, and forgets the rest. What has no execution has no row.

mod statistics;
mod summary;

pub use statistics::{Execution, Statistics, Ways};
pub use summary::{Summary, clear, summaries};

use sql::plan::SqlMode;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The statistics of one worker.
pub struct Digests {
    /// By database and text, with a zero byte between.
    by_name: RefCell<HashMap<Box<str>, Rc<Statistics>>>,
    overflow: RefCell<Option<Rc<Statistics>>>,
    /// How many there may be, with the row of all others.
    size: usize,
}

impl Digests {
    /// `size`: `performance_schema_digests_size`, which stays as it is.
    pub fn new(size: usize) -> Self {
        Self { by_name: RefCell::default(), overflow: RefCell::default(), size }
    }

    /// The statistics of the first statement of `text`.
    pub fn find(&self, database: Option<&str>, text: &[u8], mode: &SqlMode) -> Rc<Statistics> {
        let digest = sql::digest_text(text, mode);
        let mut by_name = self.by_name.borrow_mut();
        let name = format!("{}\0{digest}", database.unwrap_or_default());
        if let Some(found) = by_name.get(name.as_str()) {
            return Rc::clone(found);
        }
        if by_name.len() + 1 >= self.size {
            let mut overflow = self.overflow.borrow_mut();
            return Rc::clone(overflow.get_or_insert_with(|| Rc::new(Statistics::new(None, None))));
        }
        let found = Rc::new(Statistics::new(database, Some(digest)));
        by_name.insert(name.into(), Rc::clone(&found));
        found
    }

    /// D3
    fn clear(&self) {
        let mut by_name = self.by_name.borrow_mut();
        by_name.retain(|_, statistics| Rc::strong_count(statistics) > 1);
        let overflow = self.overflow.borrow();
        by_name.values().chain(overflow.as_ref()).for_each(|statistics| statistics.clear());
    }

    /// Of those that have been executed.
    fn summaries(&self) -> Vec<Summary> {
        let (by_name, overflow) = (self.by_name.borrow(), self.overflow.borrow());
        by_name.values().chain(overflow.as_ref()).filter_map(|statistics| statistics.summary()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_keeps_so_many() {
        let digests = Digests::new(3);
        let find = |text: &str| digests.find(Some("d"), text.as_bytes(), &SqlMode::DEFAULT);
        let clock = os::TickClock::start();
        let run = |text: &str| find(text).record(&Execution::default(), text.as_bytes(), &clock);
        for text in ["SELECT 1", "SELECT 2", "SELECT a", "SELECT b", "SELECT c"] {
            run(text);
        }
        let mut told: Vec<_> = digests.summaries().into_iter().map(|row| (row.text, row.sums.count)).collect();
        told.sort();
        assert_eq!(told, [(None, 2), (Some("SELECT ?".to_owned()), 2), (Some("SELECT `a`".to_owned()), 1)]);
        let kept = find("SELECT 3");
        digests.clear();
        assert!(digests.summaries().is_empty());
        // A plan that was kept counts on, and there is room again.
        kept.record(&Execution::default(), b"SELECT 3", &clock);
        run("SELECT c");
        assert_eq!(digests.summaries().len(), 2);
    }
}
