//! Visitors over plans and expressions.

use crate::plan::{Access, KeyRange, Node, Parts, Plan, Scan, SubqueryKeep, SubqueryPlan, ViewCheck};
use expr::{Expr, FrameBound, WindowFunction};

impl Plan {
    /// The parts that the statement runs beside its main tree.
    pub fn parts(&self) -> &Parts {
        use crate::plan::InsertSource;
        match self {
            Plan::Query(query) => &query.parts,
            Plan::Insert(insert) => match &insert.source {
                InsertSource::Query(query) => &query.parts,
                InsertSource::Values(_) | InsertSource::File(_) => &insert.parts,
            },
            Plan::Update(update) => &update.parts,
            Plan::Delete(delete) => &delete.parts,
            Plan::Change(change) => &change.parts,
        }
    }

    /// The subqueries of its expressions.
    pub fn subqueries(&self) -> &[SubqueryPlan] {
        &self.parts().subqueries
    }

    /// The statement's common table expressions that are kept.
    pub fn stores(&self) -> &[std::sync::Arc<Node>] {
        &self.parts().stores
    }

    /// The main tree, of statements that have one.
    pub fn main(&self) -> Option<&Node> {
        use crate::plan::InsertSource;
        match self {
            Plan::Query(query) => Some(&query.root),
            Plan::Insert(insert) => match &insert.source {
                InsertSource::Query(query) => Some(&query.root),
                InsertSource::Values(_) | InsertSource::File(_) => None,
            },
            Plan::Update(_) | Plan::Delete(_) => None,
            Plan::Change(change) => Some(&change.root),
        }
    }

    /// The tables and views that the statement names; `Named::through` counts within one list.
    pub fn named(&self) -> impl Iterator<Item = &[crate::plan::Named]> {
        self.all_parts().map(|parts| parts.named.as_slice())
    }

    /// The parts of all plans of the statement.
    pub fn all_parts(&self) -> impl Iterator<Item = &Parts> {
        use crate::plan::InsertSource;
        let (query, duplicates) = match self {
            Plan::Insert(insert) => match &insert.source {
                InsertSource::Query(query) => (Some(&query.parts), Some(&insert.duplicate_parts)),
                InsertSource::Values(_) | InsertSource::File(_) => (None, Some(&insert.duplicate_parts)),
            },
            _ => (None, None),
        };
        let own = match self {
            Plan::Query(query) => &query.parts,
            Plan::Insert(insert) => &insert.parts,
            Plan::Update(update) => &update.parts,
            Plan::Delete(delete) => &delete.parts,
            Plan::Change(change) => &change.parts,
        };
        [Some(own), query, duplicates].into_iter().flatten().chain(self.view_checks().map(|check| &check.parts))
    }

    /// The conditions for rows that are written through views.
    pub fn view_checks(&self) -> impl Iterator<Item = &ViewCheck> {
        let (one, targets) = match self {
            Plan::Insert(insert) => (insert.view_check.as_deref(), &[][..]),
            Plan::Update(update) => (update.view_check.as_deref(), &[][..]),
            Plan::Change(change) => (None, &change.targets[..]),
            Plan::Query(_) | Plan::Delete(_) => (None, &[][..]),
        };
        one.into_iter().chain(targets.iter().filter_map(|target| target.view_check.as_deref()))
    }

    /// The trees of the plan: the main tree, then those of subqueries and of materialized common table expressions.
    pub fn roots(&self) -> Vec<&Node> {
        let duplicates = match self {
            Plan::Insert(insert) => Some(&insert.duplicate_parts),
            _ => None,
        };
        self.main().into_iter().chain(self.parts().roots()).chain(duplicates.into_iter().flat_map(Parts::roots)).collect()
    }
}

impl Parts {
    /// The trees of subqueries, and of common table expressions that are kept.
    pub fn roots(&self) -> impl Iterator<Item = &Node> {
        self.subqueries
            .iter()
            .filter(|s| !s.is_replaced())
            .map(|subquery| &subquery.root)
            .chain(self.stores.iter().map(|store| &**store))
    }
}

impl Node {
    /// The inputs of this node, including the input of a derived table, but not a shared store.
    pub fn inputs(&self) -> Vec<&Node> {
        match self {
            Node::OneRow | Node::Values { .. } | Node::JsonTable(_) => Vec::new(),
            Node::Scan(Scan { access: Access::Derived(derived), .. }) => derived.input.iter().map(|input| &**input).collect(),
            Node::Scan(_) => Vec::new(),
            Node::NestedLoop { left, right, .. }
            | Node::HashJoin { left, right, .. }
            | Node::SetOperation { left, right, .. } => {
                vec![left, right]
            }
            Node::AsOf { input, .. }
            | Node::Filter { input, .. }
            | Node::Aggregate { input, .. }
            | Node::Rollup { input, .. }
            | Node::Window { input, .. }
            | Node::Project { input, .. }
            | Node::Distinct { input, .. }
            | Node::Sort { input, .. }
            | Node::Limit { input, .. }
            | Node::Trim { input, .. } => vec![input],
            Node::Concat { inputs } => inputs.iter().collect(),
            Node::Recursive { seed, steps, .. } => std::iter::once(&**seed).chain(steps).collect(),
        }
    }

    /// Calls `visit` for this node and all below it, in the order of FROM.
    pub fn walk<'n>(&'n self, visit: &mut impl FnMut(&'n Node)) {
        visit(self);
        for input in self.inputs() {
            input.walk(visit);
        }
    }

    /// Calls `visit` for every expression of this node and all below it.
    pub fn walk_exprs<'n>(&'n self, visit: &mut impl FnMut(&'n Expr)) {
        self.walk(&mut |node| node.own_exprs(visit));
    }

    fn own_exprs<'n>(&'n self, visit: &mut impl FnMut(&'n Expr)) {
        match self {
            Node::OneRow | Node::Distinct { .. } | Node::Trim { .. } | Node::Concat { .. } | Node::SetOperation { .. } => {}
            Node::Scan(scan) => scan_exprs(scan, visit),
            Node::AsOf { moment, .. } => visit(moment),
            Node::NestedLoop { on, .. } => on.iter().for_each(visit),
            Node::HashJoin { left_keys, right_keys, on, .. } => left_keys.iter().chain(right_keys).chain(on).for_each(visit),
            Node::Filter { predicate, .. } => visit(predicate),
            Node::JsonTable(table) => visit(&table.document),
            Node::Aggregate { keys, aggregates, .. } | Node::Rollup { keys, aggregates, .. } => {
                keys.iter().for_each(&mut *visit);
                for aggregate in aggregates {
                    aggregate.args.iter().chain(aggregate.order.iter().map(|(e, _)| e)).for_each(&mut *visit);
                }
            }
            Node::Window { partition, order, calls, .. } => {
                partition.iter().chain(order.iter().map(|key| &key.expr)).for_each(&mut *visit);
                for call in calls {
                    call.args.iter().for_each(&mut *visit);
                    for bound in [&call.frame.start, &call.frame.end] {
                        if let FrameBound::Preceding(expr) | FrameBound::Following(expr) = bound {
                            visit(expr);
                        }
                    }
                    if let WindowFunction::Aggregate(aggregate) = &call.function {
                        aggregate.args.iter().for_each(&mut *visit);
                    }
                }
            }
            Node::Project { exprs, .. } => exprs.iter().for_each(visit),
            Node::Sort { keys, limit, .. } => {
                keys.iter().map(|key| &key.expr).for_each(&mut *visit);
                limit.iter().flat_map(|l| l.offset.iter().chain(&l.count)).for_each(visit);
            }
            Node::Limit { limit, .. } => limit.offset.iter().chain(&limit.count).for_each(visit),
            Node::Values { rows } => rows.iter().flatten().for_each(visit),
            Node::Recursive { limit, .. } => limit.iter().flat_map(|l| l.offset.iter().chain(&l.count)).for_each(visit),
        }
    }

    /// Calls `visit` for every scan of a stored or virtual table, derived table or common table expression.
    pub fn walk_scans<'n>(&'n self, visit: &mut impl FnMut(&'n Scan)) {
        self.walk(&mut |node| {
            if let Node::Scan(scan) = node {
                visit(scan);
            }
        });
    }
}

impl SubqueryPlan {
    /// Has the binder replaced the subquery? Then no expression refers to it.
    pub fn is_replaced(&self) -> bool {
        matches!(self.root, Node::OneRow)
    }

    /// Calls `visit` for every expression of the plan.
    pub fn walk_exprs<'n>(&'n self, visit: &mut impl FnMut(&'n Expr)) {
        self.root.walk_exprs(visit);
        if let SubqueryKeep::Any(expr) | SubqueryKeep::All(expr) = &self.keep {
            visit(expr);
        }
    }
}

fn scan_exprs<'n>(scan: &'n Scan, visit: &mut impl FnMut(&'n Expr)) {
    match &scan.access {
        Access::Point { key, .. } => key.iter().for_each(&mut *visit),
        Access::Ranges { ranges, .. } => {
            ranges.iter().flat_map(KeyRange::exprs).for_each(&mut *visit);
        }
        Access::Leaps(leaps) => {
            leaps.ranges.iter().chain(&leaps.within).flat_map(KeyRange::exprs).for_each(&mut *visit);
        }
        Access::Merge(merge) => merge.parts.iter().flat_map(|(_, ranges)| ranges).flat_map(KeyRange::exprs).for_each(&mut *visit),
        Access::FullText { search, .. } => visit(search),
        Access::Spatial { constant, .. } => visit(constant),
        Access::Nearest(nearest) => nearest.exprs().for_each(&mut *visit),
        Access::Elements { prefix, constant, .. } => {
            prefix.exprs().for_each(&mut *visit);
            visit(constant);
        }
        Access::Full { .. } | Access::Virtual | Access::Derived(_) | Access::Work { .. } | Access::Nothing => {}
    }
    scan.filter.iter().chain(scan.index_filter.as_deref()).for_each(visit);
}

impl KeyRange {
    /// The values of the prefix and of the bounds.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.prefix.iter().chain(self.low.iter().chain(&self.high).map(|(expr, _)| expr))
    }
}
