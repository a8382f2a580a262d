//! Builds the join tree: adds one table at a time, together with the conjuncts that become computable with it.

use super::access::Choice;
use super::order::{Method, Order, is_lookup};
use super::{
    FromBlock, JoinTree, OrderNeed, Planned, Right, SourceSet, all_of, estimate, filtered, fold_conjuncts, infer, is_subset,
    sources_of,
};
use crate::plan::{JoinKind, Node, Scan};
use expr::{Class, CompareAs, CompareOp, Expr, ExprKind, class};
use types::ColumnType;

/// A block taken apart.
pub(super) struct Flat {
    pub inner: Vec<usize>,
    lefts: Vec<(JoinTree, Vec<Expr>, JoinKind)>,
    pub conjuncts: Vec<Conjunct>,
    pub straight: bool,
}

impl Flat {
    /// Is nothing joined to the inner tables that may make several rows of one?
    pub fn is_alone(&self) -> bool {
        !self.lefts.iter().any(|(_, _, kind)| matches!(kind, JoinKind::Left | JoinKind::Inner))
    }
}

pub(super) struct Conjunct {
    pub expr: Expr,
    pub sources: SourceSet,
    /// It follows from others.
    pub implied: bool,
    /// The class of equal columns that it is about.
    pub class: Option<usize>,
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
        self.infer(&mut flat.conjuncts, &flat.inner, outer);
        // LIMIT ends a scan early only when nothing lies between, or joins that hand their rows on.
        let behind = flat.lefts.iter().all(|(_, _, kind)| *kind == JoinKind::Left);
        let unlimited = need.map(OrderNeed::unlimited);
        let need = if behind { need } else { unlimited.as_ref() };
        let order = self.best_order(&flat, outer, need);
        self.build(flat, &order, outer, need)
    }

    pub(super) fn conjunct(&self, expr: Expr) -> Conjunct {
        let mut sources = vec![false; self.sources.len()];
        sources_of(&expr, &mut sources);
        Conjunct { expr, sources, implied: false, class: None }
    }

    fn flatten(&self, tree: JoinTree, flat: &mut Flat) {
        match tree {
            // A table that reads columns of an outer-joined table follows it.
            JoinTree::Table(source) if self.reads_outer_joined(source, flat) => {
                flat.lefts.push((tree, Vec::new(), JoinKind::Inner));
            }
            JoinTree::Table(source) => flat.inner.push(source),
            JoinTree::Inner { parts, on, straight } => {
                flat.straight |= straight;
                parts.into_iter().for_each(|part| self.flatten(part, flat));
                flat.conjuncts.extend(on.into_iter().flat_map(infer::factored).map(|expr| self.conjunct(expr)));
            }
            JoinTree::Left { left, right, on, kind } => {
                self.flatten(*left, flat);
                flat.lefts.push((*right, on, kind));
            }
        }
    }

    fn reads_outer_joined(&self, source: usize, flat: &Flat) -> bool {
        let mut joined = Vec::new();
        flat.lefts.iter().for_each(|(tree, _, _)| super::tree_sources(tree, &mut joined));
        self.sources[source].reads().iter().any(|(read, _)| joined.contains(read))
    }

    /// Is it a derived table that is run again for each row before it?
    fn is_lateral(&self, source: usize) -> bool {
        self.sources[source].reads().iter().any(|(read, _)| !self.outside[*read])
    }

    /// The access path of a table with the conjuncts that it completes.
    pub(super) fn choose(&self, flat: &Flat, source: usize, available: &SourceSet, need: Option<&OrderNeed>) -> Choice {
        let conjuncts: Vec<&Expr> = completed(flat, source, available).map(|c| &c.expr).collect();
        self.choose_access(source, &conjuncts, available, need)
    }

    fn build(&self, mut flat: Flat, order: &Order, outer: &SourceSet, need: Option<&OrderNeed>) -> Planned {
        let mut available = outer.clone();
        let mut node: Option<Node> = None;
        let mut rows = 1.0;
        for &(source, method) in &order.steps {
            let choice = self.choose(
                &flat,
                source,
                &available,
                need.filter(|need| method == Method::First && (order.ordered || need.nearest.is_some())),
            );
            let fan_out = choice.scan.rows;
            node = Some(match (node, method) {
                (None, _) => {
                    self.take(&mut flat, source, &available);
                    self.constant_filter(&mut flat, outer, choice.scan)
                }
                (Some(before), Method::Hash) => self.hash_join(&mut flat, before, source, &available, outer, fan_out),
                (Some(before), Method::Probe) => self.probe_join(&mut flat, before, source, &available, outer, rows * fan_out),
                (Some(left), Method::Loop | Method::First) => {
                    self.take(&mut flat, source, &available);
                    let right = Box::new(Node::Scan(choice.scan));
                    Node::NestedLoop { left: Box::new(left), right, kind: JoinKind::Inner, on: None }
                }
            });
            rows = (rows * fan_out).max(1.0);
            available[source] = true;
        }
        let mut node = node.expect("a block has a table");
        for (right, mut on, kind) in std::mem::take(&mut flat.lefts) {
            let mut sources = Vec::new();
            super::tree_sources(&right, &mut sources);
            if kind == JoinKind::Inner {
                sources.iter().for_each(|source| on.extend(self.take(&mut flat, *source, &available)));
            }
            node = self.left_join(node, right, on, kind, &available);
            sources.iter().for_each(|&s| available[s] = true);
            let (now, later): (Vec<_>, Vec<_>) =
                std::mem::take(&mut flat.conjuncts).into_iter().partition(|c| is_subset(&c.sources, &available));
            flat.conjuncts = later;
            node = filtered(node, now.into_iter().filter(|c| !c.implied).map(|c| c.expr).collect());
        }
        let rest = std::mem::take(&mut flat.conjuncts);
        node = filtered(node, rest.into_iter().filter(|c| !c.implied).map(|c| c.expr).collect());
        Planned { node, ordered: order.ordered, sorted: true }
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

    /// Removes the conjuncts that the table completes, and returns those that must be applied.
    fn take(&self, flat: &mut Flat, source: usize, available: &SourceSet) -> Vec<Expr> {
        let taken: Vec<Expr> = completed(flat, source, available).map(|c| c.expr.clone()).collect();
        flat.conjuncts.retain(|c| !fits(c, source, available));
        taken
    }

    /// Equalities between the table and the sources before it that a hash table can serve.
    pub(super) fn hash_pairs(&self, flat: &Flat, source: usize, available: &SourceSet) -> Vec<(Expr, Expr)> {
        if self.is_lateral(source) {
            return Vec::new();
        }
        completed(flat, source, available).filter_map(|c| hash_pair(&c.expr, &[source], self.sources.len())).collect()
    }

    /// The table's rows become a hash table.
    fn hash_join(
        &self,
        flat: &mut Flat,
        left: Node,
        source: usize,
        available: &SourceSet,
        outer: &SourceSet,
        partners: f64,
    ) -> Node {
        let conjuncts = self.take(flat, source, available);
        let Parted { left_keys, right_keys, own, rest } = self.parted(conjuncts, &[source], outer);
        let own: Vec<&Expr> = own.iter().collect();
        let right = self.choose_access(source, &own, outer, None);
        Node::HashJoin {
            left: Box::new(left),
            right: Box::new(Node::Scan(right.scan)),
            kind: JoinKind::Inner,
            left_keys,
            right_keys,
            on: all_of(rest),
            partners,
        }
    }

    /// The rows before the table become a hash table.
    fn probe_join(
        &self,
        flat: &mut Flat,
        before: Node,
        source: usize,
        available: &SourceSet,
        outer: &SourceSet,
        rows: f64,
    ) -> Node {
        let conjuncts = self.take(flat, source, available);
        let Parted { left_keys, right_keys, own, rest } = self.parted(conjuncts, &[source], outer);
        let own: Vec<&Expr> = own.iter().collect();
        let scan = self.choose_access(source, &own, outer, None).scan;
        let partners = rows / scan.rows.max(1.0);
        Node::HashJoin {
            left: Box::new(Node::Scan(scan)),
            right: Box::new(before),
            kind: JoinKind::Inner,
            left_keys: right_keys,
            right_keys: left_keys,
            on: all_of(rest),
            partners,
        }
    }

    /// Conditions of a join as keys of a hash table, conditions over its right side alone, and the rest.
    fn parted(&self, conditions: Vec<Expr>, inside: &[usize], outer: &SourceSet) -> Parted {
        let mut parted = Parted::default();
        for expr in conditions {
            if let Some((a, b)) = hash_pair(&expr, inside, self.sources.len()) {
                parted.left_keys.push(a);
                parted.right_keys.push(b);
            } else if self.reads_only(&expr, inside, outer) {
                parted.own.push(expr);
            } else {
                parted.rest.push(expr);
            }
        }
        parted
    }

    fn reads_only(&self, expr: &Expr, sources: &[usize], outer: &SourceSet) -> bool {
        let mut read = vec![false; self.sources.len()];
        sources_of(expr, &mut read);
        read.iter().enumerate().all(|(s, used)| !used || sources.contains(&s) || outer[s])
    }

    /// Plans the right side of an outer, semi- or anti-join. A right side that contains such joins itself is planned
    /// once per set of available tables; otherwise each join would plan both of its sides again, an exponential number
    /// of times.
    fn plan_right(&self, right: &JoinTree, conditions: &[Expr], outer: &SourceSet) -> Node {
        if !right.has_rights() {
            return self.plan_block(right.clone(), conditions.to_vec(), outer, None).node;
        }
        let mut sources = Vec::new();
        super::tree_sources(right, &mut sources);
        let is_it = |known: &&Right| known.sources == sources && known.outer == *outer && known.conditions == conditions;
        if let Some(known) = self.rights.borrow().iter().find(is_it) {
            return known.node.clone();
        }
        let node = self.plan_block(right.clone(), conditions.to_vec(), outer, None).node;
        let known = Right { sources, conditions: conditions.to_vec(), outer: outer.clone(), node: node.clone() };
        self.rights.borrow_mut().push(known);
        node
    }

    /// Adds an outer, semi- or anti-join: looked up row by row, or through a hash table of the right side's rows, whichever is cheaper.
    fn left_join(&self, left: Node, right: JoinTree, on: Vec<Expr>, kind: JoinKind, available: &SourceSet) -> Node {
        let looked = self.plan_right(&right, &on, available);
        let looking = Node::NestedLoop { left: Box::new(left), right: Box::new(looked), kind, on: None };
        let mut inside = Vec::new();
        super::tree_sources(&right, &mut inside);
        let lateral = inside.iter().any(|s| self.is_lateral(*s));
        let mut within = Vec::new();
        right.conditions(&mut within);
        // Inside several tables no predicate may read the left side, which is not available when they are read.
        let reads_left = single_table(&right).is_none() && !within.iter().all(|c| self.reads_only(c, &inside, &self.outside));
        let mut all_lookups = true;
        looking.walk_scans(&mut |scan| all_lookups &= !inside.contains(&scan.source) || is_lookup(&scan.access));
        // Reading all of a table would lock all of it.
        if self.keeps_rows && all_lookups {
            return looking;
        }
        if lateral || reads_left || !self.context.switches().hash_join {
            return looking;
        }
        let mut on = on;
        if single_table(&right).is_some() {
            own_conditions(&right, &mut on);
        }
        let Parted { left_keys, right_keys, own, rest } = self.parted(on, &inside, &self.outside);
        if left_keys.is_empty() {
            return looking;
        }
        let right = match single_table(&right) {
            Some(source) => {
                let own: Vec<&Expr> = own.iter().collect();
                Node::Scan(self.choose_access(source, &own, &self.outside, None).scan)
            }
            None => self.plan_right(&right, &own, &self.outside),
        };
        let Node::NestedLoop { left, right: looked, .. } = looking else { unreachable!("made above") };
        let partners = estimate(&looked).rows;
        let hashing = Node::HashJoin { left, right: Box::new(right), kind, left_keys, right_keys, on: all_of(rest), partners };
        let cost = estimate(&hashing).cost;
        let Node::HashJoin { left, right, kind, left_keys, right_keys, on, partners } = hashing else {
            unreachable!("made above")
        };
        let looking = Node::NestedLoop { left, right: looked, kind, on: None };
        if estimate(&looking).cost <= cost {
            return looking;
        }
        let Node::NestedLoop { left, .. } = looking else { unreachable!("made above") };
        Node::HashJoin { left, right, kind, left_keys, right_keys, on, partners }
    }
}

/// See [`FromBlock::parted`].
#[derive(Default)]
struct Parted {
    left_keys: Vec<Expr>,
    right_keys: Vec<Expr>,
    own: Vec<Expr>,
    rest: Vec<Expr>,
}

/// The table that a tree is, with conditions or without.
pub(crate) fn single_table(tree: &JoinTree) -> Option<usize> {
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

/// The conjuncts that a table completes, including the derived ones that others make redundant.
fn completed<'f>(flat: &'f Flat, source: usize, available: &'f SourceSet) -> impl Iterator<Item = &'f Conjunct> {
    let fitting = move || flat.conjuncts.iter().filter(move |c| fits(c, source, available));
    fitting().enumerate().filter_map(move |(n, conjunct)| {
        let same = |other: &Conjunct| conjunct.class.is_some() && other.class == conjunct.class;
        let needless = conjunct.implied && fitting().enumerate().any(|(m, other)| same(other) && (!other.implied || m < n));
        (!needless).then_some(conjunct)
    })
}

/// Does a conjunct read this source, and otherwise only available ones?
pub(super) fn fits(conjunct: &Conjunct, source: usize, available: &SourceSet) -> bool {
    conjunct.sources[source] && conjunct.sources.iter().enumerate().all(|(s, used)| !used || s == source || available[s])
}

/// `left = right` with the right side over these sources alone and the left side over others, both of one class, so that equal
/// values hash alike.
fn hash_pair(expr: &Expr, inside: &[usize], count: usize) -> Option<(Expr, Expr)> {
    let ExprKind::Compare { op: CompareOp::Equal, by, left, right } = &expr.kind else { return None };
    if !hashes_alike(*by, &left.ty, &right.ty) {
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

/// Are values of both types equal, compared in this way, exactly when each equals the other as values of its own type?
pub(crate) fn hashes_alike(by: CompareAs, left: &ColumnType, right: &ColumnType) -> bool {
    match by {
        CompareAs::Integer => class(left) == Class::Integer && class(right) == Class::Integer,
        CompareAs::String(collation) => {
            left.collation == collation && right.collation == collation && class(left) == class(right)
        }
        CompareAs::Decimal => class(left) == Class::Decimal && left.kind == right.kind,
        CompareAs::Temporal | CompareAs::Time => left.kind == right.kind,
        CompareAs::Double | CompareAs::Json => false,
    }
}
