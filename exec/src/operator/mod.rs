//! Operators: each pulls rows from its inputs, one at a time. After a wait it is called again.
//!
//! Below the first projection or aggregate, an operator's row is the current row of each source in [`Run::sources`]; above, it is
//! a packed row that [`Operator::slots`] returns until the next call of `next`.
//!
//! O1: after `next` returned a [`Pause`](crate::pause::Pause), the next call continues where it stopped. An operator that has taken a row
//!     from its input and may still pause records that in `pending`.
//! O2: an operator allocates when it is made and when it keeps rows, but not for each row that it passes on.

mod accumulator;
mod aggregate;
mod as_of;
mod concat;
mod deferred;
mod derived;
mod distinct;
mod filter;
mod found_elements;
mod found_nearest;
mod found_rows;
mod gather;
mod gathered;
mod hash_join;
mod json_table;
mod limit;
mod measured;
mod merged_keys;
mod nested_loop;
mod numbers;
mod ordered_groups;
mod parts;
mod project;
mod recursive;
mod scan;
mod set_operation;
mod skip_scan;
mod sort;
mod values;
mod window;

pub(crate) use crate::row_count::evaluate_count;
pub(crate) use accumulator::is_mergeable;
pub(crate) use aggregate::AggregateOperator;
pub(crate) use gathered::{Gathered, Outcomes, Runs};
pub(crate) use hash_join::JoinTable;
pub(crate) use measured::Registry;
pub(crate) use scan::{Piece, ScanOperator, SourceLock, VirtualScan};
pub(crate) use sort::Sort;

use crate::pause::Step;
use crate::run::Run;
use crate::scratch::Scratch;
use crate::shape::Shape;
use crate::spill::row_copy::{row_sources, sources_of};
use gathered::Ask;
use sql::explain::{Measured, Measures};
use sql::plan::{Access, ChangeTarget, LockWait, Locking, Node, Scan, TableLock};
use table::Table;
use txn::{LockMode, WaitPolicy};

/// One operator of a running plan.
pub(crate) enum Operator<'p> {
    OneRow(values::OneRow),
    Scan(Box<ScanOperator<'p>>),
    Virtual(Box<scan::VirtualScan<'p>>),
    AsOf(Box<(as_of::AsOf<'p>, Operator<'p>)>),
    NestedLoop(Box<nested_loop::NestedLoop<'p>>),
    HashJoin(Box<hash_join::HashJoin<'p>>),
    Filter(Box<filter::Filter<'p>>),
    Gather(Box<gather::Gather<'p>>),
    Aggregate(Box<aggregate::AggregateOperator<'p>>),
    Project(Box<project::Project<'p>>),
    Distinct(Box<distinct::Distinct<'p>>),
    Sort(Box<sort::Sort<'p>>),
    Limit(Box<limit::Limit<'p>>),
    Values(Box<values::ValuesRows<'p>>),
    JsonTable(Box<json_table::JsonTableRows<'p>>),
    Concat(Box<concat::Concat<'p>>),
    Derived(Box<derived::DerivedScan<'p>>),
    Work(Box<derived::WorkScan<'p>>),
    SetOperation(Box<set_operation::SetOperation<'p>>),
    Recursive(Box<recursive::Recursive<'p>>),
    OrderedGroups(Box<ordered_groups::OrderedGroups<'p>>),
    SkipScan(Box<skip_scan::SkipScan<'p>>),
    Window(Box<window::WindowOperator<'p>>),
    Measured(Box<measured::MeasuredOperator<'p>>),
}

/// The row locks of a clause.
pub(crate) fn lock_of(locking: Locking, wait: LockWait) -> Option<SourceLock> {
    let policy = match wait {
        LockWait::Wait => WaitPolicy::Wait,
        LockWait::NoWait => WaitPolicy::NoWait,
        LockWait::SkipLocked => WaitPolicy::SkipLocked,
    };
    match locking {
        Locking::Update => Some(SourceLock::Lock(LockMode::Exclusive, policy)),
        Locking::Share => Some(SourceLock::Lock(LockMode::Share, policy)),
        Locking::None => None,
    }
}

/// The parameters for building operators.
#[derive(Clone, Copy)]
pub(crate) struct Builder<'p> {
    /// By source.
    pub tables: &'p [Option<std::sync::Arc<Table>>],
    /// Row locks of the scans, in a locking read.
    pub lock: Option<SourceLock>,
    /// Row locks of single tables, instead of `lock`.
    pub locks: &'p [TableLock],
    /// A LIMIT may stop the scans.
    pub is_limited: bool,
    /// The sources whose rows will be changed: these get exclusive locks, the others get `lock`.
    pub exclusive: Option<&'p [ChangeTarget]>,
    /// No operator above sorts the rows: their order may be the result's.
    pub keeps_order: bool,
    /// EXPLAIN ANALYZE: the measures of the operators.
    pub measures: Option<&'p Registry>,
    /// Several workers may read the rows of operators.
    pub sharing: Option<Shareable<'p>>,
    /// The rows are read to their end, so rows that only pass through may be gathered, too.
    pub gathers: bool,
}

/// What several workers may gather.
#[derive(Clone, Copy)]
pub(crate) struct Shareable<'p> {
    /// What they have gathered.
    pub outcomes: &'p Outcomes,
    /// Fewer rows of work are not worth it.
    pub rows_min: f64,
}

impl<'p> Builder<'p> {
    pub fn build(&self, node: &'p Node) -> Operator<'p> {
        match self.measures {
            None => self.plain(node),
            Some(registry) => self.measured(node, registry),
        }
    }

    /// The operator with its measures; the filter of a scan is measured apart from its reads.
    #[cold]
    fn measured(&self, node: &'p Node, registry: &'p Registry) -> Operator<'p> {
        let count = |operator, part| {
            let key = (Measures::key(node), part);
            Operator::Measured(Box::new(measured::MeasuredOperator::new(operator, registry, key)))
        };
        match self.plain(node) {
            Operator::Scan(mut scan) if self.lock.is_none() && self.locks.is_empty() => match scan.take_filter() {
                Some(predicate) => {
                    let read = count(Operator::Scan(scan), Measured::Read);
                    count(Operator::Filter(Box::new(filter::Filter::new(read, predicate))), Measured::Whole)
                }
                None => count(Operator::Scan(scan), Measured::Whole),
            },
            Operator::SkipScan(mut scan) => match scan.take_filter() {
                Some(predicate) => {
                    let read = count(Operator::SkipScan(scan), Measured::Read);
                    count(Operator::Filter(Box::new(filter::Filter::new(read, predicate))), Measured::Whole)
                }
                None => count(Operator::SkipScan(scan), Measured::Whole),
            },
            operator => count(operator, Measured::Whole),
        }
    }

    fn plain(&self, node: &'p Node) -> Operator<'p> {
        if self.gathers
            && passes_through(node)
            && let Some(ask) = self.ask(node)
        {
            let input = self.some().plain(node);
            return Operator::Gather(Box::new(gather::Gather::new(input, row_sources(node), ask)));
        }
        match node {
            Node::OneRow => Operator::OneRow(values::OneRow::default()),
            Node::Scan(scan) if matches!(scan.access, Access::Virtual) => {
                Operator::Virtual(Box::new(scan::VirtualScan::new(scan)))
            }
            // Only stored tables have such rows.
            Node::Scan(scan) if self.tables[scan.source].is_none() && matches!(scan.access, Access::Nothing) => {
                Operator::Concat(Box::new(concat::Concat::new(Vec::new())))
            }
            Node::Scan(scan) => {
                match &scan.access {
                    Access::Derived(derived) => {
                        return Operator::Derived(Box::new(derived::DerivedScan::new(scan, derived, self.ordered().all())));
                    }
                    Access::Leaps(leaps) if self.lock_of(scan.source).is_none() => {
                        let scan = skip_scan::SkipScan::new(scan, leaps, self.table(scan.source));
                        return Operator::SkipScan(Box::new(scan));
                    }
                    Access::Work { table } => return Operator::Work(Box::new(derived::WorkScan::new(scan, *table))),
                    _ => {}
                }
                let operator = ScanOperator::new(scan, self.table(scan.source), self.lock_of(scan.source));
                Operator::Scan(Box::new(operator.one_by_one(self.is_limited)))
            }
            Node::AsOf { input, moment } => {
                // Nobody changes what has been.
                let input = Self { lock: None, locks: &[], exclusive: None, ..self.some() }.build(input);
                let table = sources_of(node).first().and_then(|source| self.tables[*source].as_deref());
                Operator::AsOf(Box::new((as_of::AsOf::new(moment, table), input)))
            }
            Node::NestedLoop { left, right, kind, on } => {
                let sources = sources_of(right);
                let (left, right) = (self.build(left), self.some().build(right));
                Operator::NestedLoop(Box::new(nested_loop::NestedLoop::new(left, right, *kind, on.as_ref(), sources)))
            }
            Node::HashJoin { left, right, kind, left_keys, right_keys, on, .. } => {
                let (left_sources, right_sources) = (sources_of(left), sources_of(right));
                let (left, right) = (self.build(left), self.unordered().all().build(right));
                let sides = hash_join::Sides { left, right, left_sources, right_sources };
                let keys = (left_keys.as_slice(), right_keys.as_slice());
                Operator::HashJoin(Box::new(hash_join::HashJoin::new(sides, *kind, keys, on.as_ref(), self.keeps_order)))
            }
            Node::Filter { input, predicate } => Operator::Filter(Box::new(filter::Filter::new(self.build(input), predicate))),
            Node::Aggregate { input, keys, aggregates, ordered: true } => {
                let input = self.ordered().all().build(input);
                Operator::OrderedGroups(Box::new(ordered_groups::OrderedGroups::new(input, keys, aggregates, false)))
            }
            Node::Aggregate { input, keys, aggregates, ordered: false } => {
                let sources = row_sources(input);
                let ask = self.ask(node);
                let input = self.unordered().all_unless(ask.is_some()).build(input);
                let operator = aggregate::AggregateOperator::new(input, sources, keys, aggregates).asking(ask);
                Operator::Aggregate(Box::new(operator))
            }
            Node::Project { input, exprs } => Operator::Project(Box::new(project::Project::new(self.build(input), exprs))),
            Node::Distinct { input, columns, ordered } => {
                let types = slot_types(input);
                let built = if *ordered { self.ordered().build(input) } else { self.build(input) };
                let distinct = distinct::Distinct::new(built, *columns, types, self.keeps_order, *ordered);
                Operator::Distinct(Box::new(distinct))
            }
            Node::Sort { input, keys, limit } => {
                let of_range = matches!(&**input, Node::Scan(scan) if matches!(scan.access, Access::Ranges { .. }));
                let ask = self.ask(node);
                let input = self.unordered().all_unless(ask.is_some()).build(input);
                Operator::Sort(Box::new(sort::Sort::new(input, of_range, keys, limit.as_ref()).asking(ask)))
            }
            Node::Limit { input, limit } => {
                Operator::Limit(Box::new(limit::Limit::new(self.ordered().some().build(input), limit)))
            }
            // The reader of the slots knows how many there are.
            Node::Trim { input, .. } => self.build(input),
            Node::Values { rows } => Operator::Values(Box::new(values::ValuesRows::new(rows))),
            Node::JsonTable(table) => Operator::JsonTable(Box::new(json_table::JsonTableRows::new(table))),
            Node::Rollup { input, keys, aggregates } => {
                let input = self.ordered().all().build(input);
                Operator::OrderedGroups(Box::new(ordered_groups::OrderedGroups::new(input, keys, aggregates, true)))
            }
            Node::Window { input, columns, partition, order, calls } => {
                let window = window::WindowOperator::new(self.build(input), *columns, partition, order, calls);
                Operator::Window(Box::new(window))
            }
            Node::SetOperation { left, right, except, all, .. } => {
                let types = slot_types(node);
                let (left, right) = (self.unordered().build(left), self.unordered().build(right));
                Operator::SetOperation(Box::new(set_operation::SetOperation::new(left, right, *except, *all, types)))
            }
            Node::Recursive { table, seed, steps, distinct, columns, limit } => {
                let seed = self.some().build(seed);
                let steps = steps.iter().map(|step| self.some().build(step)).collect();
                let recursive = recursive::Recursive::new(*table, seed, steps, columns, *distinct, limit.as_ref());
                Operator::Recursive(Box::new(recursive))
            }
            Node::Concat { inputs } => {
                Operator::Concat(Box::new(concat::Concat::new(inputs.iter().map(|i| self.build(i)).collect())))
            }
        }
    }

    /// May rows of a scan that only pass through be gathered? Cheap, since nearly always it reads few rows.
    #[inline]
    pub fn may_gather(&self, scan: &Scan) -> bool {
        self.gathers && self.sharing.is_some_and(|sharing| scan.read >= sharing.rows_min)
    }

    /// May several workers read the node's rows?
    fn ask(&self, node: &'p Node) -> Option<Ask<'p>> {
        let sharing = self.sharing?;
        let shape = Shape::of(node, self.tables, sharing.rows_min)?;
        Some(Ask::new(sharing.outcomes, Measures::key(shape.node)))
    }

    /// For rows that are read to their end.
    fn all(&self) -> Self {
        self.all_unless(false)
    }

    /// Likewise, unless the reader itself has asked for them.
    fn all_unless(&self, is_asked: bool) -> Self {
        Self { gathers: self.sharing.is_some() && !is_asked, ..*self }
    }

    /// For rows that may not be read to their end, or are read again and again.
    fn some(&self) -> Self {
        Self { gathers: false, ..*self }
    }

    /// For rows that are sorted later, or whose order does not matter.
    fn unordered(&self) -> Self {
        Self { keeps_order: false, ..*self }
    }

    /// For rows that a LIMIT may cut: it matters which come first.
    fn ordered(&self) -> Self {
        Self { keeps_order: true, ..*self }
    }

    pub fn lock_of(&self, source: usize) -> Option<SourceLock> {
        match self.exclusive {
            Some(targets) if targets.iter().any(|target| target.source == source) => {
                Some(SourceLock::Lock(LockMode::Exclusive, WaitPolicy::Wait))
            }
            _ => match self.locks.iter().find(|lock| lock.source == source) {
                Some(lock) => lock_of(lock.locking, lock.wait),
                None => self.lock,
            },
        }
    }

    fn table(&self, source: usize) -> &'p Table {
        self.tables[source].as_ref().expect("a stored table's scan has its table resolved")
    }
}

impl<'p> Operator<'p> {
    /// Moves to the next row; `false` after the last one.
    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        match self {
            Operator::Scan(op) => op.next(run),
            Operator::OneRow(op) => op.next(run),
            Operator::Virtual(op) => op.next(run),
            Operator::AsOf(op) => {
                let (past, input) = &mut **op;
                past.within(run, |run| input.next(run))
            }
            Operator::NestedLoop(op) => op.next(run),
            Operator::HashJoin(op) => op.next(run),
            Operator::Filter(op) => op.next(run),
            Operator::Gather(op) => op.next(run),
            Operator::Aggregate(op) => op.next(run),
            Operator::Project(op) => op.next(run),
            Operator::Distinct(op) => op.next(run),
            Operator::Sort(op) => op.next(run),
            Operator::Limit(op) => op.next(run),
            Operator::Values(op) => op.next(run),
            Operator::JsonTable(op) => op.next(run),
            Operator::Concat(op) => op.next(run),
            Operator::Derived(op) => op.next(run),
            Operator::Work(op) => op.next(run),
            Operator::SetOperation(op) => op.next(run),
            Operator::Recursive(op) => op.next(run),
            Operator::OrderedGroups(op) => op.next(run),
            Operator::SkipScan(op) => op.next(run),
            Operator::Window(op) => op.next(run),
            Operator::Measured(op) => op.next(run),
        }
    }

    /// The current row's slots, packed; empty below the first projection.
    pub fn slots(&self) -> &[u8] {
        match self {
            Operator::Filter(op) => op.slots(),
            Operator::Gather(op) => op.slots(),
            Operator::Aggregate(op) => op.slots(),
            Operator::Project(op) => op.slots(),
            Operator::Distinct(op) => op.slots(),
            Operator::Sort(op) => op.slots(),
            Operator::Limit(op) => op.slots(),
            Operator::Values(op) => op.slots(),
            Operator::JsonTable(op) => op.slots(),
            Operator::Concat(op) => op.slots(),
            Operator::SetOperation(op) => op.slots(),
            Operator::Recursive(op) => op.slots(),
            Operator::OrderedGroups(op) => op.slots(),
            Operator::Window(op) => op.slots(),
            Operator::Measured(op) => op.inner().slots(),
            Operator::OneRow(_)
            | Operator::Scan(_)
            | Operator::SkipScan(_)
            | Operator::Virtual(_)
            | Operator::AsOf(_)
            | Operator::Derived(_)
            | Operator::Work(_)
            | Operator::NestedLoop(_)
            | Operator::HashJoin(_) => &[],
        }
    }

    /// Takes buffers of earlier statements: the first operator of each kind takes the buffers that it uses.
    pub fn borrow_buffers(&mut self, scratch: &mut Scratch) {
        match self {
            Operator::Scan(op) => op.borrow_buffers(scratch),
            Operator::Sort(op) => op.borrow_buffers(scratch),
            Operator::Project(op) => op.borrow_buffers(scratch),
            other => {
                if let Some(input) = other.first_input() {
                    input.borrow_buffers(scratch);
                }
            }
        }
    }

    pub fn return_buffers(&mut self, scratch: &mut Scratch) {
        match self {
            Operator::Scan(op) => op.return_buffers(scratch),
            Operator::Sort(op) => op.return_buffers(scratch),
            Operator::Project(op) => op.return_buffers(scratch),
            other => {
                if let Some(input) = other.first_input() {
                    input.return_buffers(scratch);
                }
            }
        }
    }

    /// The input that is read first, if the operator keeps no buffers itself.
    fn first_input(&mut self) -> Option<&mut Operator<'p>> {
        match self {
            Operator::NestedLoop(op) => Some(op.first_input()),
            Operator::HashJoin(op) => Some(op.first_input()),
            Operator::Filter(op) => Some(op.first_input()),
            Operator::Gather(op) => Some(op.first_input()),
            Operator::Aggregate(op) => Some(op.first_input()),
            Operator::Distinct(op) => Some(op.first_input()),
            Operator::Limit(op) => Some(op.first_input()),
            Operator::Sort(op) => Some(op.first_input()),
            Operator::Project(op) => Some(op.first_input()),
            Operator::Measured(op) => Some(op.inner_mut()),
            _ => None,
        }
    }

    /// Starts over, for the next row of an outer loop: keys and filters are evaluated again.
    pub fn rewind(&mut self, run: &mut Run<'p>) {
        match self {
            Operator::Scan(op) => op.rewind(),
            Operator::OneRow(op) => op.rewind(),
            Operator::Virtual(op) => op.rewind(),
            Operator::AsOf(op) => op.1.rewind(run),
            Operator::NestedLoop(op) => op.rewind(run),
            Operator::HashJoin(op) => op.rewind(run),
            Operator::Filter(op) => op.rewind(run),
            Operator::Gather(op) => op.rewind(run),
            Operator::Limit(op) => op.rewind(run),
            Operator::Derived(op) => op.rewind(),
            Operator::Work(op) => op.rewind(),
            Operator::Aggregate(op) => op.rewind(run),
            Operator::Project(op) => op.rewind(run),
            Operator::Distinct(op) => op.rewind(run),
            Operator::Sort(op) => op.rewind(run),
            Operator::Values(op) => op.rewind(),
            Operator::JsonTable(op) => op.rewind(),
            Operator::Concat(op) => op.rewind(run),
            Operator::SetOperation(op) => op.rewind(run),
            Operator::Recursive(op) => op.rewind(run),
            Operator::OrderedGroups(op) => op.rewind(run),
            Operator::SkipScan(op) => op.rewind(),
            Operator::Window(op) => op.rewind(run),
            Operator::Measured(op) => op.rewind(run),
        }
    }
}

/// Does it give rows of its inputs one by one?
fn passes_through(node: &Node) -> bool {
    match node {
        Node::Scan(scan) => !scan.table.is_virtual,
        Node::NestedLoop { .. } | Node::HashJoin { .. } | Node::Filter { .. } | Node::Project { .. } => true,
        _ => false,
    }
}

/// The type of the slot with the number of keys that are not rolled up.
static LEVEL_TYPE: std::sync::LazyLock<types::ColumnType> =
    std::sync::LazyLock::new(|| types::ColumnType::new(types::TypeKind::BigInt));

/// The static types of a node's slots.
fn slot_types(node: &Node) -> Vec<&types::ColumnType> {
    match node {
        Node::Aggregate { keys, aggregates, .. } => keys.iter().map(|k| &k.ty).chain(aggregates.iter().map(|a| &a.ty)).collect(),
        Node::Project { exprs, .. } => exprs.iter().map(|e| &e.ty).collect(),
        Node::Values { rows } => known(rows.iter().map(|row| row.iter().map(|e| &e.ty).collect())),
        Node::Filter { input, .. }
        | Node::Distinct { input, .. }
        | Node::Sort { input, .. }
        | Node::Limit { input, .. }
        | Node::Trim { input, .. } => slot_types(input),
        Node::Concat { inputs } => known(inputs.iter().map(slot_types)),
        Node::Rollup { keys, aggregates, .. } => {
            let level = std::iter::once(&*LEVEL_TYPE);
            keys.iter().map(|k| &k.ty).chain(level).chain(aggregates.iter().map(|a| &a.ty)).collect()
        }
        Node::Window { input, columns, calls, .. } => {
            slot_types(input).into_iter().take(*columns).chain(calls.iter().map(|call| &call.ty)).collect()
        }
        Node::SetOperation { left, right, columns, .. } => {
            known([left, right].into_iter().map(|input| slot_types(input))).into_iter().take(*columns).collect()
        }
        Node::Recursive { columns, .. } => columns.iter().map(|(_, ty)| ty).collect(),
        Node::JsonTable(table) => table.outputs.iter().map(|output| &output.ty).collect(),
        Node::OneRow | Node::Scan(_) | Node::AsOf { .. } | Node::NestedLoop { .. } | Node::HashJoin { .. } => Vec::new(),
    }
}

/// The types of rows from several inputs: NULL has no type of its own.
fn known<'n>(mut inputs: impl Iterator<Item = Vec<&'n types::ColumnType>>) -> Vec<&'n types::ColumnType> {
    let is_null = |ty: &types::ColumnType| ty.kind == types::TypeKind::Null;
    let mut known = inputs.next().unwrap_or_default();
    while known.iter().any(|ty| is_null(ty))
        && let Some(others) = inputs.next()
    {
        known.iter_mut().zip(others).filter(|(ty, _)| is_null(ty)).for_each(|(ty, other)| *ty = other);
    }
    known
}
