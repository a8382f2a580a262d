//! The order of joins, and how each is made.

use super::access::Choice;
use super::{FromBlock, JoinTree, OrderNeed, Planned, SourceSet, all_of, filtered, fold_conjuncts, is_subset, sources_of};
use crate::bind::{Class, class};
use crate::expr::{CompareAs, CompareOp, Expr, ExprKind};
use crate::plan::{Access, JoinKind, Node, Scan};

/// Up to so many tables every one is tried as the first.
const STARTS_MAX: usize = 6;
/// A hash table is made when the right side would be read more often than this.
const HASH_ROWS_MIN: f64 = 3.0;
/// What building a hash table costs beside reading its rows, per row.
const HASH_COST: f64 = 1.0;

/// A block taken apart.
struct Flat {
    inner: Vec<usize>,
    lefts: Vec<(JoinTree, Vec<Expr>, JoinKind)>,
    conjuncts: Vec<Conjunct>,
    straight: bool,
}

struct Conjunct {
    expr: Expr,
    sources: SourceSet,
}

/// One order of the inner tables with its cost.
struct Order {
    tables: Vec<usize>,
    cost: f64,
    ordered: bool,
}

impl FromBlock<'_> {
    /// Plans a tree whose conditions may read the sources in `outer`.
    pub(super) fn plan_block(&self, tree: JoinTree, filter: Vec<Expr>, outer: &SourceSet, need: Option<&OrderNeed>) -> Planned {
        let mut flat = Flat { inner: Vec::new(), lefts: Vec::new(), conjuncts: Vec::new(), straight: self.straight };
        self.flatten(tree, &mut flat);
        let filter = match fold_conjuncts(filter) {
            Some(filter) => filter,
            None => vec![super::falsehood()],
        };
        for expr in filter {
            flat.conjuncts.push(self.conjunct(expr));
        }
        // LIMIT ends a scan early only when nothing lies between.
        let single = flat.inner.len() == 1 && flat.lefts.is_empty();
        let unlimited = need.map(|n| OrderNeed { columns: n.columns.clone(), limit: None });
        let need = if single { need } else { unlimited.as_ref() };
        let order = self.best_order(&flat, outer, need);
        self.build(flat, &order, outer, need)
    }

    fn conjunct(&self, expr: Expr) -> Conjunct {
        let mut sources = vec![false; self.sources.len()];
        sources_of(&expr, &mut sources);
        Conjunct { expr, sources }
    }

    fn flatten(&self, tree: JoinTree, flat: &mut Flat) {
        match tree {
            JoinTree::Table(source) => flat.inner.push(source),
            JoinTree::Inner { parts, on, straight } => {
                flat.straight |= straight;
                parts.into_iter().for_each(|part| self.flatten(part, flat));
                flat.conjuncts.extend(on.into_iter().map(|expr| self.conjunct(expr)));
            }
            JoinTree::Left { left, right, on, kind } => {
                self.flatten(*left, flat);
                flat.lefts.push((*right, on, kind));
            }
        }
    }

    fn best_order(&self, flat: &Flat, outer: &SourceSet, need: Option<&OrderNeed>) -> Order {
        if flat.straight || flat.inner.len() == 1 {
            return self.cost_order(flat, flat.inner.clone(), outer, need);
        }
        let ready: Vec<usize> = flat.inner.iter().copied().filter(|&s| self.is_ready(s, outer)).collect();
        let starts: Vec<usize> = if ready.is_empty() {
            // Each waits for another: in the order of FROM.
            return self.cost_order(flat, flat.inner.clone(), outer, need);
        } else if flat.inner.len() <= STARTS_MAX {
            ready
        } else {
            let cost = |source: &usize| {
                let choice = self.choose(flat, *source, outer, None);
                choice.scan.rows
            };
            let cheapest = ready.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
            cheapest.into_iter().copied().collect()
        };
        let orders = starts.into_iter().map(|start| self.greedy(flat, start, outer, need));
        orders.min_by(|a, b| a.cost.total_cmp(&b.cost)).expect("a block has a table")
    }

    /// Adds, again and again, the table whose join is cheapest.
    fn greedy(&self, flat: &Flat, start: usize, outer: &SourceSet, need: Option<&OrderNeed>) -> Order {
        let mut tables = vec![start];
        let mut available = outer.clone();
        available[start] = true;
        while tables.len() < flat.inner.len() {
            let rest: Vec<usize> = flat.inner.iter().copied().filter(|s| !tables.contains(s)).collect();
            let ready: Vec<usize> = rest.iter().copied().filter(|&s| self.is_ready(s, &available)).collect();
            let rest = if ready.is_empty() { rest } else { ready }.into_iter();
            let next = rest.min_by(|&a, &b| {
                let rank = |source| self.join_rank(flat, source, &available);
                rank(a).total_cmp(&rank(b))
            });
            let next = next.expect("some table is left");
            available[next] = true;
            tables.push(next);
        }
        self.cost_order(flat, tables, outer, need)
    }

    /// Is what a LATERAL derived table reads there?
    fn is_ready(&self, source: usize, available: &SourceSet) -> bool {
        self.sources[source].reads().iter().all(|(read, _)| available[*read])
    }

    /// Is it a derived table that is run again for each row before it?
    fn is_lateral(&self, source: usize) -> bool {
        self.sources[source].reads().iter().any(|(read, _)| !self.outside[*read])
    }

    /// Cost of one look into the table, with a penalty where nothing connects it to those before.
    fn join_rank(&self, flat: &Flat, source: usize, available: &SourceSet) -> f64 {
        let choice = self.choose(flat, source, available, None);
        let connected = flat.conjuncts.iter().any(|c| {
            let others = c.sources.iter().enumerate().any(|(s, used)| *used && s != source && available[s]);
            c.sources[source] && others && fits(c, source, available)
        });
        let penalty = if connected { 1.0 } else { 1000.0 };
        choice.cost.min(choice.scan.rows * 10.0 + choice.cost * 0.1) * penalty
    }

    fn cost_order(&self, flat: &Flat, tables: Vec<usize>, outer: &SourceSet, need: Option<&OrderNeed>) -> Order {
        let mut available = outer.clone();
        let (mut rows, mut cost) = (1.0, 0.0);
        let mut ordered = false;
        for (n, &source) in tables.iter().enumerate() {
            let choice = self.choose(flat, source, &available, need.filter(|_| n == 0));
            if n == 0 {
                ordered = choice.ordered;
                cost += choice.cost;
            } else {
                let hashed = !self.hash_pairs(flat, source, &available).is_empty() && !choice.selective;
                cost += if hashed { choice.cost + choice.scan.rows * HASH_COST + rows } else { rows * choice.cost };
            }
            rows = (rows * choice.scan.rows).max(1.0);
            available[source] = true;
        }
        if need.is_some() && !ordered {
            cost += rows * rows.max(2.0).log2() * 0.3;
        }
        Order { tables, cost, ordered }
    }

    /// The access path of a table with the conjuncts that it completes.
    fn choose(&self, flat: &Flat, source: usize, available: &SourceSet, need: Option<&OrderNeed>) -> Choice {
        let conjuncts: Vec<&Expr> = flat.conjuncts.iter().filter(|c| fits(c, source, available)).map(|c| &c.expr).collect();
        self.choose_access(source, &conjuncts, available, need)
    }

    fn build(&self, mut flat: Flat, order: &Order, outer: &SourceSet, need: Option<&OrderNeed>) -> Planned {
        let mut available = outer.clone();
        let mut node: Option<Node> = None;
        let mut rows = 1.0;
        for &source in &order.tables {
            let first = node.is_none();
            let choice = self.choose(&flat, source, &available, need.filter(|_| first && order.ordered));
            let pairs = if first || choice.selective { Vec::new() } else { self.hash_pairs(&flat, source, &available) };
            node = Some(match node {
                None => {
                    self.take(&mut flat, source, &available);
                    self.constant_filter(&mut flat, outer, choice.scan)
                }
                Some(left) if !pairs.is_empty() && rows >= HASH_ROWS_MIN => {
                    self.hash_join(&mut flat, left, source, &available, outer)
                }
                Some(left) => {
                    self.take(&mut flat, source, &available);
                    let right = Box::new(Node::Scan(choice.scan.clone()));
                    Node::NestedLoop { left: Box::new(left), right, kind: JoinKind::Inner, on: None }
                }
            });
            rows = (rows * choice_rows(&node, source)).max(1.0);
            available[source] = true;
        }
        let mut node = node.expect("a block has a table");
        for (right, on, kind) in std::mem::take(&mut flat.lefts) {
            let mut sources = Vec::new();
            super::tree_sources(&right, &mut sources);
            node = self.left_join(node, right, on, kind, &available, rows);
            sources.iter().for_each(|&s| available[s] = true);
            let (now, later): (Vec<_>, Vec<_>) =
                std::mem::take(&mut flat.conjuncts).into_iter().partition(|c| is_subset(&c.sources, &available));
            flat.conjuncts = later;
            node = filtered(node, now.into_iter().map(|c| c.expr).collect());
        }
        let rest = std::mem::take(&mut flat.conjuncts);
        node = filtered(node, rest.into_iter().map(|c| c.expr).collect());
        Planned { node, ordered: order.ordered }
    }

    /// Conditions over no table of the block go to its first scan; it is chosen with them already.
    fn constant_filter(&self, flat: &mut Flat, outer: &SourceSet, mut scan: Scan) -> Node {
        let (constant, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut flat.conjuncts).into_iter().partition(|c| is_subset(&c.sources, outer));
        flat.conjuncts = rest;
        let mut parts: Vec<Expr> = constant.into_iter().map(|c| c.expr).collect();
        if !parts.is_empty() {
            parts.extend(scan.filter.take());
            scan.filter = all_of(parts);
        }
        Node::Scan(scan)
    }

    /// Removes the conjuncts that the table's scan applies.
    fn take(&self, flat: &mut Flat, source: usize, available: &SourceSet) -> Vec<Expr> {
        let (taken, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut flat.conjuncts).into_iter().partition(|c| fits(c, source, available));
        flat.conjuncts = rest;
        taken.into_iter().map(|c| c.expr).collect()
    }

    /// Equalities between the table and what is there already, which a hash table can find.
    fn hash_pairs(&self, flat: &Flat, source: usize, available: &SourceSet) -> Vec<(Expr, Expr)> {
        if self.is_lateral(source) {
            return Vec::new();
        }
        let fitting = flat.conjuncts.iter().filter(|c| fits(c, source, available));
        fitting.filter_map(|c| hash_pair(&c.expr, &[source], self.sources.len())).collect()
    }

    fn hash_join(&self, flat: &mut Flat, left: Node, source: usize, available: &SourceSet, outer: &SourceSet) -> Node {
        let conjuncts = self.take(flat, source, available);
        let (mut left_keys, mut right_keys, mut own, mut on) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for expr in conjuncts {
            if let Some((a, b)) = hash_pair(&expr, &[source], self.sources.len()) {
                left_keys.push(a);
                right_keys.push(b);
            } else if self.reads_only(&expr, &[source], outer) {
                own.push(expr);
            } else {
                on.push(expr);
            }
        }
        let own: Vec<&Expr> = own.iter().collect();
        let right = self.choose_access(source, &own, outer, None);
        Node::HashJoin {
            left: Box::new(left),
            right: Box::new(Node::Scan(right.scan)),
            kind: JoinKind::Inner,
            left_keys,
            right_keys,
            on: all_of(on),
        }
    }

    fn reads_only(&self, expr: &Expr, sources: &[usize], outer: &SourceSet) -> bool {
        let mut read = vec![false; self.sources.len()];
        sources_of(expr, &mut read);
        read.iter().enumerate().all(|(s, used)| !used || sources.contains(&s) || outer[s])
    }

    /// Adds an outer join: looked up row by row where its conditions find an index, else through a hash table.
    fn left_join(&self, left: Node, right: JoinTree, on: Vec<Expr>, kind: JoinKind, available: &SourceSet, rows: f64) -> Node {
        let mut inside = Vec::new();
        super::tree_sources(&right, &mut inside);
        if let Some(source) = single_table(&right).filter(|s| !self.is_lateral(*s)) {
            let mut on = on.clone();
            own_conditions(&right, &mut on);
            let all: Vec<&Expr> = on.iter().collect();
            let choice = self.choose_access(source, &all, available, None);
            let hashable = on.iter().any(|expr| hash_pair(expr, &inside, self.sources.len()).is_some());
            let looks_up = choice.selective && depends(&choice.scan.access, &inside);
            if hashable && !looks_up && rows >= HASH_ROWS_MIN {
                return self.left_hash_join(left, source, on, kind);
            }
        }
        let right = self.plan_block(right, on, available, None);
        Node::NestedLoop { left: Box::new(left), right: Box::new(right.node), kind, on: None }
    }

    fn left_hash_join(&self, left: Node, source: usize, on: Vec<Expr>, kind: JoinKind) -> Node {
        let (mut left_keys, mut right_keys, mut own, mut rest) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for expr in on {
            if let Some((a, b)) = hash_pair(&expr, &[source], self.sources.len()) {
                left_keys.push(a);
                right_keys.push(b);
            } else if self.reads_only(&expr, &[source], &self.outside) {
                own.push(expr);
            } else {
                rest.push(expr);
            }
        }
        let own: Vec<&Expr> = own.iter().collect();
        let right = self.choose_access(source, &own, &self.outside, None);
        Node::HashJoin {
            left: Box::new(left),
            right: Box::new(Node::Scan(right.scan)),
            kind,
            left_keys,
            right_keys,
            on: all_of(rest),
        }
    }
}

/// The table that a tree is, with conditions or without.
fn single_table(tree: &JoinTree) -> Option<usize> {
    match tree {
        JoinTree::Table(source) => Some(*source),
        JoinTree::Inner { parts, .. } => match parts.as_slice() {
            [part] => single_table(part),
            _ => None,
        },
        JoinTree::Left { .. } => None,
    }
}

/// The conditions of a tree that is a single table.
fn own_conditions(tree: &JoinTree, out: &mut Vec<Expr>) {
    let mut conditions = Vec::new();
    tree.conditions(&mut conditions);
    out.extend(conditions.into_iter().cloned());
}

/// Rows that the join with this table gives per row before it.
fn choice_rows(node: &Option<Node>, source: usize) -> f64 {
    fn find(node: &Node, source: usize) -> Option<f64> {
        match node {
            Node::Scan(scan) if scan.source == source => Some(scan.rows),
            Node::NestedLoop { right, .. } => find(right, source),
            // An equality finds one partner or a few.
            Node::HashJoin { right, .. } => find(right, source).map(|rows| (rows * 0.1).max(1.0)),
            _ => None,
        }
    }
    node.as_ref().and_then(|n| find(n, source)).unwrap_or(1.0)
}

/// Does a conjunct read this source, and otherwise only available ones?
fn fits(conjunct: &Conjunct, source: usize, available: &SourceSet) -> bool {
    conjunct.sources[source] && conjunct.sources.iter().enumerate().all(|(s, used)| !used || s == source || available[s])
}

/// Do the keys of an access path read other tables?
fn depends(access: &Access, inside: &[usize]) -> bool {
    fn reads_outside(expr: &Expr, inside: &[usize]) -> bool {
        match expr.kind {
            ExprKind::Column { source, .. } | ExprKind::ColumnOrdinal { source, .. } => !inside.contains(&source),
            _ => crate::bind::children(expr).into_iter().any(|child| reads_outside(child, inside)),
        }
    }
    match access {
        Access::Point { key, .. } => key.iter().any(|e| reads_outside(e, inside)),
        Access::Ranges { ranges, .. } => ranges.iter().any(|r| {
            let bounds = r.low.iter().chain(&r.high).map(|(e, _)| e);
            r.prefix.iter().chain(bounds).any(|e| reads_outside(e, inside))
        }),
        _ => false,
    }
}

/// `left = right` with the right side over these sources alone and the left side over others, both of one class, so that equal
/// values hash alike.
fn hash_pair(expr: &Expr, inside: &[usize], count: usize) -> Option<(Expr, Expr)> {
    let ExprKind::Compare { op: CompareOp::Equal, by, left, right } = &expr.kind else { return None };
    let same = match by {
        CompareAs::Integer => class(&left.ty) == Class::Integer && class(&right.ty) == Class::Integer,
        CompareAs::String(collation) => {
            left.ty.collation == *collation && right.ty.collation == *collation && class(&left.ty) == class(&right.ty)
        }
        CompareAs::Decimal => class(&left.ty) == Class::Decimal && left.ty.kind == right.ty.kind,
        CompareAs::Temporal | CompareAs::Time => left.ty.kind == right.ty.kind,
        CompareAs::Double | CompareAs::Json => false,
    };
    if !same {
        return None;
    }
    let side = |e: &Expr| {
        let mut sources = vec![false; count];
        sources_of(e, &mut sources);
        let any = sources.iter().any(|s| *s);
        let in_only = sources.iter().enumerate().all(|(s, used)| !used || inside.contains(&s));
        let out_only = inside.iter().all(|&s| !sources[s]);
        (any && in_only, any && out_only)
    };
    match (side(left), side(right)) {
        ((_, true), (true, _)) => Some(((**left).clone(), (**right).clone())),
        ((true, _), (_, true)) => Some(((**right).clone(), (**left).clone())),
        _ => None,
    }
}
