//! The clustered keys of the rows nearest to a vector, from the codes in a vector index, about the nearest first.
//!
//! 1. A pass reads all entries and keeps those with the least estimated distances: some times as many as LIMIT asks for, more if conditions are expected
//!    to leave few of them.
//! 2. Their rows are read, judged, and sorted by their distances above (`planner::nearest`).
//! 3. If conditions leave too few of them, another pass finds the next ones, four times as many; until LIMIT is satisfied or no entry is left.
//!
//! N1: no two passes give the same row. Entries are ordered by estimate and key, and a pass begins behind the last one of the pass before.
//!     All see the same snapshot.
//! N2: vectors about which the index says nothing come first, all of them: the rows' own distances decide.
//! N3: where the index cannot serve the call (another distance, a vector of another length, no vector), the table is read.

use crate::pause::Step;
use crate::row_count::evaluate_count;
use crate::run::Run;
use expr::Pause;
use expr::function::distance_of_call;
use sql::plan::Nearest;
use std::collections::BinaryHeap;
use table::{Table, VectorScan};
use txn::ReadMode;
use types::Value;
use types::vector_code::Query;

/// Candidates of the first pass: at least so many, and so many for each row that LIMIT asks for.
const CANDIDATES_MIN: usize = 100;
const CANDIDATES_EACH: usize = 4;
/// More of them in each further pass.
const GROWTH: usize = 4;

pub(crate) struct FoundNearest<'p> {
    plan: &'p Nearest,
    query: Option<Query>,
    /// Of LIMIT and OFFSET together.
    wanted: u64,
    /// Rows that were found and satisfied the conditions.
    kept: u64,
    is_started: bool,
    is_everything: bool,
    /// Of the pass: its scan, how many it keeps, and those.
    scan: Option<VectorScan>,
    most: usize,
    heap: BinaryHeap<Near>,
    /// N1
    behind: Option<Near>,
    is_last: bool,
    found: Vec<Near>,
    next: usize,
    charged: usize,
}

/// An entry: the farthest is the greatest.
#[derive(Clone, Debug, PartialEq)]
struct Near {
    estimate: f64,
    row: Box<[u8]>,
}

impl Eq for Near {}

impl Ord for Near {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.estimate.total_cmp(&other.estimate).then_with(|| self.row.cmp(&other.row))
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<'p> FoundNearest<'p> {
    pub fn new(plan: &'p Nearest) -> Self {
        Self {
            plan,
            query: None,
            wanted: 0,
            kept: 0,
            is_started: false,
            is_everything: false,
            scan: None,
            most: 0,
            heap: BinaryHeap::new(),
            behind: None,
            is_last: false,
            found: Vec::new(),
            next: 0,
            charged: 0,
        }
    }

    pub fn is_everything(&self) -> bool {
        self.is_everything
    }

    /// Starts over: the first pass. Restartable.
    pub fn start(&mut self, run: &mut Run<'p>, table: &'p Table) -> Step<()> {
        if !self.is_started {
            self.begin(run, table)?;
            self.is_started = true;
        }
        if !self.is_everything && self.wanted > 0 {
            self.pass(run, table)?;
        }
        self.is_started = false;
        Ok(())
    }

    fn begin(&mut self, run: &Run<'p>, table: &'p Table) -> Step<()> {
        let env = &run.env(&[]);
        self.heap.clear();
        self.found.clear();
        (self.scan, self.behind, self.query) = (None, None, None);
        (self.kept, self.next, self.is_last, self.is_everything) = (0, 0, false, false);
        let offset = evaluate_count(env, self.plan.offset.as_ref())?.unwrap_or(0);
        self.wanted = evaluate_count(env, Some(&self.plan.count))?.unwrap_or(0).saturating_add(offset);
        let each = usize::try_from(self.wanted).unwrap_or(usize::MAX).saturating_mul(CANDIDATES_EACH);
        self.most = each.max(CANDIDATES_MIN).max(self.plan.candidates);
        // N3: errors are left to the rows.
        let metric = match distance_of_call(env, &self.plan.call) {
            Err(Pause::Error(_)) => None,
            metric => metric?,
        };
        let vector = match env.eval(&self.plan.constant) {
            Err(Pause::Error(_)) => Value::Null,
            vector => vector?,
        };
        match (table.vector_metric(self.plan.index), metric, vector) {
            (Some((own, bytes)), Some(metric), Value::Bytes(vector))
                if own == metric
                    && vector.len() == bytes
                    && self.plan.constant.ty.is_binary_string()
                    && types::vector_code::has_distances(&vector, metric)
                    && types::vector::is_finite(&vector) =>
            {
                self.query = Some(Query::new(&vector, metric));
            }
            _ => self.is_everything = true,
        }
        Ok(())
    }

    /// Rows that LIMIT still lacks, behind those that were given: `false`: there are none, or they are not needed. Restartable.
    pub fn more(&mut self, run: &mut Run<'p>, table: &'p Table) -> Step<bool> {
        if self.scan.is_none() {
            if self.is_last || self.kept >= self.wanted {
                return Ok(false);
            }
            self.behind = self.found.last().cloned();
            self.most = self.most.saturating_mul(GROWTH);
        }
        self.pass(run, table)?;
        Ok(!self.found.is_empty())
    }

    fn pass(&mut self, run: &mut Run<'p>, table: &'p Table) -> Step<()> {
        let Some(query) = &self.query else { return Ok(()) };
        let scan = self.scan.get_or_insert_with(|| VectorScan::new(table, self.plan.index, ReadMode::Snapshot));
        loop {
            run.tick()?;
            if !scan.fill(table, run.worker, run.txn)? {
                break;
            }
            while let Some(entry) = scan.next_vector()? {
                // N2
                let estimate = entry.code.and_then(|code| query.estimate(code)).unwrap_or(f64::NEG_INFINITY);
                let is_before =
                    |near: &Near| (near.estimate.total_cmp(&estimate)).then_with(|| (*near.row).cmp(entry.row)).is_ge();
                if self.behind.as_ref().is_some_and(is_before) {
                    continue;
                }
                let is_odd = estimate == f64::NEG_INFINITY;
                if self.heap.len() >= self.most && !is_odd {
                    if self.heap.peek().is_some_and(|farthest| !is_before(farthest)) {
                        continue;
                    }
                    self.heap.pop();
                }
                self.heap.push(Near { estimate, row: entry.row.into() });
                types::work::pass(64);
            }
            let row = self.heap.peek().map_or(0, |near| near.row.len());
            let held = self.heap.len() * (size_of::<Near>() + row) * 2;
            if held > self.charged {
                run.charge(held - self.charged)?;
                self.charged = held;
            }
        }
        self.scan = None;
        self.found = std::mem::take(&mut self.heap).into_sorted_vec();
        // Fewer than asked for: there are no more.
        self.is_last = self.found.len() < self.most;
        self.next = 0;
        Ok(())
    }

    /// The next key of the pass.
    pub fn next(&mut self) -> Option<&[u8]> {
        let near = self.found.get(self.next)?;
        self.next += 1;
        Some(&near.row)
    }

    /// The row of the last key satisfies the conditions.
    pub fn keep(&mut self) {
        self.kept += 1;
    }
}
