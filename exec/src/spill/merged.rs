//! Sorted runs of rows in memory, which several workers have made, merged into one order.
//!
//! M1: keys of rows of different runs are never equal: the maker of a run appends the number of the part of the input that its rows are from. So
//!     the order is that of one sort of all rows, which leaves rows with equal keys in the order in which they came.

use super::sorter::{Entry, prefetch};
use crate::pause::Step;
use crate::run::Run;

/// Rows in the order of their keys.
pub(crate) struct SortedRun {
    pub(super) entries: Vec<Entry>,
    pub(super) arena: Vec<u8>,
}

impl SortedRun {
    pub fn memory_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.arena.capacity()
    }
}

/// The merge of runs.
pub(crate) struct MergedRuns {
    runs: Vec<SortedRun>,
    /// Of each run that has rows left the next one: a heap.
    heap: Vec<Head>,
    /// The heap's first row has been returned.
    taken: bool,
    /// So many rows are still returned.
    rows_left: usize,
    /// The memory charged to [`Run`].
    charged: usize,
}

#[derive(Clone, Copy)]
struct Head {
    /// The beginning of the key.
    prefix: u64,
    run: u32,
    entry: u32,
}

impl MergedRuns {
    /// `charged`: the memory that the run was charged for them; `rows_max`: the number of first rows that are needed.
    pub fn new(runs: Vec<SortedRun>, rows_max: Option<usize>, charged: usize) -> Self {
        let heads = runs.iter().enumerate().filter_map(|(run, rows)| {
            let first = rows.entries.first()?;
            Some(Head { prefix: first.prefix, run: run as u32, entry: 0 })
        });
        let heap: Vec<Head> = heads.collect();
        let mut merged = Self { runs, heap, taken: false, rows_left: rows_max.unwrap_or(usize::MAX), charged };
        (0..merged.heap.len() / 2).rev().for_each(|place| merged.sift_down(place));
        merged
    }

    /// Moves to the next row in order; `false` after the last one. `counts`: it is one more row of work, as it is one of a sort.
    pub fn next(&mut self, run: &mut Run<'_>, counts: bool) -> Step<bool> {
        if self.rows_left == 0 {
            return Ok(false);
        }
        if counts {
            run.tick()?
        } else {
            run.pass()?
        }
        if self.taken {
            let head = &mut self.heap[0];
            head.entry += 1;
            match self.runs[head.run as usize].entries.get(head.entry as usize) {
                Some(entry) => {
                    head.prefix = entry.prefix;
                    // It is returned after rows of other runs, as a rule.
                    prefetch(entry.split(&self.runs[head.run as usize].arena).1);
                }
                None => drop(self.heap.swap_remove(0)),
            }
            self.sift_down(0);
        }
        self.taken = !self.heap.is_empty();
        self.rows_left -= usize::from(self.taken);
        Ok(self.taken)
    }

    /// The current row, without its key.
    pub fn row(&self) -> &[u8] {
        if self.taken { self.split(&self.heap[0]).1 } else { &[] }
    }

    /// Gives the memory back.
    pub fn release(self, run: &mut Run<'_>) {
        run.release(self.charged);
    }

    fn split(&self, head: &Head) -> (&[u8], &[u8]) {
        let run = &self.runs[head.run as usize];
        run.entries[head.entry as usize].split(&run.arena)
    }

    fn is_before(&self, a: &Head, b: &Head) -> bool {
        // M1
        a.prefix.cmp(&b.prefix).then_with(|| self.split(a).0.cmp(self.split(b).0)).is_lt()
    }

    fn sift_down(&mut self, mut place: usize) {
        loop {
            let mut least = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < self.heap.len() && self.is_before(&self.heap[child], &self.heap[least]) {
                    least = child;
                }
            }
            if least == place {
                return;
            }
            self.heap.swap(place, least);
            place = least;
        }
    }
}
