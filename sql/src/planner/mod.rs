//! The planner: chooses the access path of each table and the order of joins.
//!
//! 1. Predicates common to all branches of an OR are factored out ([`infer`]). An outer join becomes an inner join if a
//!    predicate rejects its NULL-extended rows ([`simplify`]).
//! 2. A block is flattened into inner tables, the outer, semi- and anti-joins that follow them, and a list of
//!    conjuncts. Derived conjuncts are added: `a = b` and `b = 5` imply `a = 5` ([`infer`]).
//! 3. Inner tables are ordered by estimated cost, over all orders of up to ten tables ([`order`]). Each table takes the
//!    conjuncts that become computable with it, as access path ([`access`]) or as filter ([`join`]). Row counts are
//!    estimated from statistics ([`selectivity`]).
//! 4. Outer, semi- and anti-joins follow; conjuncts over their right sides become filters above them.
//!
//! P1: every written conjunct is applied exactly once, at the lowest place where all its sources are available. The
//!     exception: an access path may apply a conjunct that a filter repeats.
//! P2: the conjuncts of an outer join's ON stay on its right side or at the join.

mod access;
mod elements;
mod estimate;
mod fulltext;
mod infer;
mod join;
mod leaps;
mod merge;
mod nearest;
mod order;
mod range;
mod selectivity;
mod spatial;
#[cfg(test)]
mod tests;

pub(crate) use estimate::{Estimate, estimate, node_rows, scan_estimate};
pub use estimate::{estimated_cost, join_rows};
pub(crate) use join::{hashes_alike, single_table};

use crate::bind::{Source, constant};
use crate::plan::{Access, BindContext, JoinKind, Node, Scan};
use expr::{CompareAs, CompareOp, Expr, ExprKind};
use std::cell::{Cell, RefCell};
use types::Value;
use types::schema::TableId;

/// How many tables one block may join, as in MySQL. [`order`] has a bit for each.
pub(crate) const JOINED_TABLES_MAX: usize = crate::parser::TABLES_MAX as usize;

/// FROM as a tree.
#[derive(Clone, Debug)]
pub(crate) enum JoinTree {
    Table(usize),
    Inner {
        parts: Vec<JoinTree>,
        on: Vec<Expr>,
        straight: bool,
    },
    /// LEFT JOIN, semi- and anti-join.
    Left {
        left: Box<JoinTree>,
        right: Box<JoinTree>,
        on: Vec<Expr>,
        kind: JoinKind,
    },
}

impl JoinTree {
    pub fn left(left: JoinTree, right: JoinTree, on: Vec<Expr>) -> Self {
        JoinTree::Left { left: Box::new(left), right: Box::new(right), on, kind: JoinKind::Left }
    }

    /// Is there an outer join in it?
    pub fn is_outer(&self) -> bool {
        match self {
            JoinTree::Table(_) => false,
            JoinTree::Inner { parts, .. } => parts.iter().any(JoinTree::is_outer),
            JoinTree::Left { left, kind, .. } => *kind == JoinKind::Left || left.is_outer(),
        }
    }

    /// Do outer, semi- or anti-joins follow its inner tables?
    fn has_rights(&self) -> bool {
        match self {
            JoinTree::Table(_) => false,
            JoinTree::Inner { parts, .. } => parts.iter().any(JoinTree::has_rights),
            JoinTree::Left { .. } => true,
        }
    }

    /// How many tables it has.
    pub fn tables(&self) -> usize {
        let mut sources = Vec::new();
        tree_sources(self, &mut sources);
        sources.len()
    }

    /// The conditions of its joins.
    pub fn conditions<'t>(&'t self, out: &mut Vec<&'t Expr>) {
        match self {
            JoinTree::Table(_) => {}
            JoinTree::Inner { parts, on, .. } => {
                parts.iter().for_each(|part| part.conditions(out));
                out.extend(on);
            }
            JoinTree::Left { left, right, on, .. } => {
                left.conditions(out);
                right.conditions(out);
                out.extend(on);
            }
        }
    }

    /// Changes the conditions of its joins.
    pub fn for_each_condition(&mut self, change: &impl Fn(&mut Expr)) {
        match self {
            JoinTree::Table(_) => {}
            JoinTree::Inner { parts, on, .. } => {
                parts.iter_mut().for_each(|part| part.for_each_condition(change));
                on.iter_mut().for_each(change);
            }
            JoinTree::Left { left, right, on, .. } => {
                left.for_each_condition(change);
                right.for_each_condition(change);
                on.iter_mut().for_each(change);
            }
        }
    }

    /// Renumbers its sources.
    pub fn map_sources(&mut self, moved: &impl Fn(usize) -> usize) {
        self.for_each_condition(&|expr| expr.map_sources(moved));
        self.map_tables(moved);
    }

    fn map_tables(&mut self, moved: &impl Fn(usize) -> usize) {
        match self {
            JoinTree::Table(source) => *source = moved(*source),
            JoinTree::Inner { parts, .. } => parts.iter_mut().for_each(|part| part.map_tables(moved)),
            JoinTree::Left { left, right, .. } => {
                left.map_tables(moved);
                right.map_tables(moved);
            }
        }
    }
}

/// An order of rows that would save work above them.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrderNeed {
    /// (source, column, descending)
    pub columns: Vec<(usize, usize, bool)>,
    /// Columns of rows that are to come one group after the other, in whatever order.
    pub groups: Vec<(usize, usize)>,
    /// The number of rows that LIMIT requires.
    pub limit: Option<f64>,
    /// Some rows of each group are enough.
    pub leaps: Option<LeapNeed>,
    /// The rows that this call of MATCH ranks best come first; there are no columns then.
    pub best: Option<Box<Expr>>,
    /// The rows of which a distance is least come first; there are no columns then.
    pub nearest: Option<Box<NearestNeed>>,
}

/// ORDER BY a distance LIMIT n, of all rows of one table that satisfy its conditions.
#[derive(Clone, Debug)]
pub(crate) struct NearestNeed {
    pub source: usize,
    pub column: usize,
    /// The call of a distance.
    pub call: Expr,
    /// The argument that is not the column.
    pub constant: Expr,
    pub count: Expr,
    pub offset: Option<Expr>,
}

/// The needs of aggregates that ignore duplicates, for which some rows of each group are enough.
#[derive(Clone, Debug)]
pub(crate) struct LeapNeed {
    pub source: usize,
    /// Columns whose distinct values are all needed, beside the group keys.
    pub columns: Vec<usize>,
    /// The column whose least or greatest value is needed.
    pub extreme: Option<usize>,
    pub least: bool,
    pub greatest: bool,
}

impl OrderNeed {
    fn sources(&self) -> impl Iterator<Item = usize> {
        let ranked = self.best.iter().filter_map(|call| source_of(call));
        let columns = self.columns.iter().map(|(source, _, _)| *source);
        let nearest = self.nearest.iter().map(|need| need.source);
        columns.chain(self.groups.iter().map(|(source, _)| *source)).chain(ranked).chain(nearest)
    }

    /// The one source whose columns it is about.
    pub fn source(&self) -> Option<usize> {
        self.sources().next().filter(|first| self.is_about(*first))
    }

    /// Is it about no other source than this one?
    pub fn is_about(&self, source: usize) -> bool {
        self.sources().all(|other| other == source)
    }

    /// The same order, if all rows are read anyway.
    pub fn unlimited(&self) -> Self {
        Self { limit: None, ..self.clone() }
    }

    /// The cost if rows come in another order.
    pub fn missed_cost(&self, rows: f64) -> f64 {
        let sorting = || rows * self.limit.unwrap_or(rows).min(rows).max(2.0).log2() * estimate::SORT_COST;
        match (self.columns.is_empty(), self.groups.is_empty()) {
            (_, true) => sorting(),
            // Groups are found by hash, and there are fewer of them to be sorted.
            (true, false) => rows * estimate::GROUP_COST,
            (false, false) => rows * estimate::GROUP_COST + 0.1 * sorting(),
        }
    }
}

/// The source whose columns a call of MATCH searches.
fn source_of(call: &Expr) -> Option<usize> {
    let ExprKind::Call { function: expr::Function::MATCH, args } = &call.kind else { return None };
    if let ExprKind::Column { source, .. } = args.get(expr::function::SEARCH_ARGS)?.kind { Some(source) } else { None }
}

/// The planner's knowledge of a block.
pub(crate) struct FromBlock<'b> {
    pub sources: &'b [Source],
    pub context: &'b dyn BindContext,
    /// Columns that are read, by source; shorter lists mean false.
    pub used: Vec<Vec<bool>>,
    /// Sources that are available before the block begins: those of outer blocks. Empty until planning.
    pub outside: SourceSet,
    /// SELECT STRAIGHT_JOIN
    pub straight: bool,
    /// Rows are locked or changed, so that whole rows are read.
    pub keeps_rows: bool,
    /// How many tables are joined.
    pub tables: usize,
    /// The values of parameters influence the access path: estimates use those of the current execution.
    pub sniffs: Cell<bool>,
    /// The tables that the statement changes.
    pub changed: Vec<TableId>,
    /// The right sides of the block's joins, planned once for each set of tables that may precede them.
    pub rights: RefCell<Vec<Right>>,
}

/// A plan of the right side of an outer, semi- or anti-join that contains such joins itself.
pub(crate) struct Right {
    sources: Vec<usize>,
    conditions: Vec<Expr>,
    outer: SourceSet,
    node: Node,
}

/// A planned FROM with WHERE.
pub(crate) struct Planned {
    pub node: Node,
    /// Rows come in the requested order.
    pub ordered: bool,
    /// They also satisfy ORDER BY, if groups were requested too.
    pub sorted: bool,
}

/// A set of sources.
pub(crate) type SourceSet = Vec<bool>;

impl<'b> FromBlock<'b> {
    pub fn new(sources: &'b [Source], context: &'b dyn BindContext) -> Self {
        Self {
            sources,
            context,
            used: vec![Vec::new(); sources.len()],
            outside: Vec::new(),
            straight: false,
            keeps_rows: false,
            tables: 1,
            sniffs: Cell::new(false),
            changed: Vec::new(),
            rights: RefCell::default(),
        }
    }

    /// Notes the columns that an expression reads.
    pub fn note_used(&mut self, expr: &Expr) {
        if let ExprKind::Column { source, column } | ExprKind::ColumnOrdinal { source, column } = expr.kind {
            let used = &mut self.used[source];
            if used.len() <= column {
                used.resize(self.sources[source].table.columns.len(), false);
            }
            used[column] = true;
        }
        for child in expr.parts() {
            self.note_used(child);
        }
    }

    /// Notes the columns of other sources that a derived table reads.
    fn note_reads(&mut self, source: usize) {
        for &(source, column) in self.sources[source].reads() {
            let used = &mut self.used[source];
            if used.len() <= column {
                used.resize(self.sources[source].table.columns.len(), false);
            }
            used[column] = true;
        }
    }

    pub fn note_used_in_tree(&mut self, tree: &JoinTree) {
        match tree {
            JoinTree::Table(source) => self.note_reads(*source),
            JoinTree::Inner { parts, on, .. } => {
                parts.iter().for_each(|part| self.note_used_in_tree(part));
                on.iter().for_each(|expr| self.note_used(expr));
            }
            JoinTree::Left { left, right, on, .. } => {
                self.note_used_in_tree(left);
                self.note_used_in_tree(right);
                on.iter().for_each(|expr| self.note_used(expr));
            }
        }
    }

    /// Plans FROM and WHERE.
    pub fn plan(&mut self, tree: Option<JoinTree>, filter: Vec<Expr>, need: Option<&OrderNeed>) -> Planned {
        let Some(filter) = fold_conjuncts(filter) else {
            return match tree {
                Some(tree) => self.nothing(&tree),
                None => Planned { node: filtered(Node::OneRow, vec![falsehood()]), ordered: true, sorted: true },
            };
        };
        let Some(tree) = tree else {
            return Planned { node: filtered(Node::OneRow, filter), ordered: true, sorted: true };
        };
        let filter = filter.into_iter().flat_map(infer::factored).collect::<Vec<_>>();
        let tree = simplify(tree, &filter);
        let mut own = Vec::new();
        tree_sources(&tree, &mut own);
        self.tables = own.len();
        self.sniffs.set(own.len() > 1);
        self.outside = (0..self.sources.len()).map(|source| !own.contains(&source)).collect();
        self.rights.get_mut().clear();
        let planned = self.plan_block(tree, filter, &self.outside, need);
        if self.sources.iter().all(|source| source.past.is_none()) {
            return planned;
        }
        Planned { node: self.in_the_past(planned.node), ..planned }
    }

    /// Has scans of AS OF TIMESTAMP read what they should. Only joins, filters and scans are in a block.
    fn in_the_past(&self, node: Node) -> Node {
        let again = |node: Box<Node>| Box::new(self.in_the_past(*node));
        match node {
            Node::Scan(scan) => match &self.sources[scan.source].past {
                Some(moment) => Node::AsOf { input: Box::new(Node::Scan(scan)), moment: moment.clone() },
                None => Node::Scan(scan),
            },
            Node::NestedLoop { left, right, kind, on } => Node::NestedLoop { left: again(left), right: again(right), kind, on },
            Node::HashJoin { left, right, kind, left_keys, right_keys, on, partners } => {
                let (left, right) = (again(left), again(right));
                Node::HashJoin { left, right, kind, left_keys, right_keys, on, partners }
            }
            Node::Filter { input, predicate } => Node::Filter { input: again(input), predicate },
            Node::OneRow => node,
            other => unreachable!("the planner of joins makes no such node: {other:?}"),
        }
    }

    /// Like [`Self::plan`]. If the order is for both ORDER BY and groups, and no index gives it, an order for the
    /// groups alone is tried.
    pub fn plan_for(&mut self, tree: Option<JoinTree>, filter: Vec<Expr>, need: Option<&OrderNeed>, sorts: bool) -> Planned {
        let second = need.filter(|need| sorts && !need.groups.is_empty() && !need.columns.is_empty());
        let Some(second) = second else { return self.plan(tree, filter, need) };
        let planned = self.plan(tree.clone(), filter.clone(), need);
        if planned.ordered {
            return planned;
        }
        let second = OrderNeed { columns: Vec::new(), limit: None, ..second.clone() };
        Planned { sorted: false, ..self.plan(tree, filter, Some(&second)) }
    }

    /// Plans the scan of UPDATE and DELETE. Returns whether rows come in the requested order.
    pub fn plan_scan(&self, tree: &JoinTree, filter: Vec<Expr>, need: Option<&OrderNeed>) -> (Scan, bool) {
        let JoinTree::Table(source) = *tree else { unreachable!("single-table statements have one table") };
        let Some(filter) = fold_conjuncts(filter) else { return (self.empty_scan(source), true) };
        let conjuncts: Vec<&Expr> = filter.iter().collect();
        let outside: SourceSet = (0..self.sources.len()).map(|s| s != source).collect();
        let choice = self.choose_access(source, &conjuncts, &outside, need);
        (choice.scan, choice.ordered)
    }

    /// No row at all: the first table is not read.
    /// But one that the statement changes is shown: that it is named here is an error, though nothing is read.
    fn nothing(&self, tree: &JoinTree) -> Planned {
        let mut sources = Vec::new();
        tree_sources(tree, &mut sources);
        let changed = sources.iter().find(|source| self.changed.contains(&self.sources[**source].table.id));
        let shown = *changed.unwrap_or(&sources[0]);
        Planned { node: Node::Scan(self.empty_scan(shown)), ordered: true, sorted: true }
    }

    fn empty_scan(&self, source: usize) -> Scan {
        let from = &self.sources[source];
        Scan {
            source,
            table: from.table.clone(),
            alias: from.alias.clone(),
            access: Access::Nothing,
            filter: None,
            index_filter: None,
            columns_used: self.columns_used(source),
            rows: 0.0,
            read: 0.0,
            cost: 0.0,
        }
    }

    fn columns_used(&self, source: usize) -> Vec<bool> {
        let mut used = self.used[source].clone();
        used.resize(self.sources[source].table.columns.len(), false);
        used
    }
}

/// LEFT joins whose right side a condition requires to be found become inner joins.
pub(crate) fn simplify(tree: JoinTree, conditions: &[Expr]) -> JoinTree {
    match tree {
        JoinTree::Table(_) => tree,
        JoinTree::Inner { parts, on, straight } => {
            let mut inner: Vec<Expr> = conditions.to_vec();
            inner.extend(on.iter().cloned());
            let parts = parts.into_iter().map(|part| simplify(part, &inner)).collect();
            JoinTree::Inner { parts, on, straight }
        }
        JoinTree::Left { left, right, on, kind: kind @ (JoinKind::Semi | JoinKind::Anti) } => {
            let right = Box::new(simplify(*right, &on));
            JoinTree::Left { left: Box::new(simplify(*left, conditions)), right, on, kind }
        }
        JoinTree::Left { left, right, on, kind } => {
            let mut sources = Vec::new();
            tree_sources(&right, &mut sources);
            if conditions.iter().any(|c| rejects_null(c, &|s, _| sources.contains(&s))) {
                let tree = JoinTree::Inner { parts: vec![*left, *right], on, straight: false };
                return simplify(tree, conditions);
            }
            // ON restricts the right side only.
            let right = Box::new(simplify(*right, &on));
            JoinTree::Left { left: Box::new(simplify(*left, conditions)), right, on, kind }
        }
    }
}

/// Must another table of the tree be read before this one? So it is on the right side of a LEFT JOIN, unless the
/// predicates make it an inner join, and after a STRAIGHT_JOIN.
pub(crate) fn is_read_later(tree: &JoinTree, conditions: &[Expr], source: usize) -> bool {
    fn is_within(tree: &JoinTree, source: usize) -> bool {
        let mut sources = Vec::new();
        tree_sources(tree, &mut sources);
        sources.contains(&source)
    }
    fn is_later(tree: &JoinTree, source: usize) -> bool {
        match tree {
            JoinTree::Table(_) => false,
            JoinTree::Inner { parts, straight, .. } => {
                let found = parts.iter().position(|part| is_within(part, source));
                found.is_some_and(|place| (*straight && place > 0) || is_later(&parts[place], source))
            }
            JoinTree::Left { left, right, .. } => is_within(right, source) || is_later(left, source),
        }
    }
    is_later(&simplify(tree.clone(), conditions), source)
}

pub(crate) fn tree_sources(tree: &JoinTree, out: &mut Vec<usize>) {
    match tree {
        JoinTree::Table(source) => out.push(*source),
        JoinTree::Inner { parts, .. } => parts.iter().for_each(|part| tree_sources(part, out)),
        JoinTree::Left { left, right, .. } => {
            tree_sources(left, out);
            tree_sources(right, out);
        }
    }
}

/// Is the condition never true when the columns are NULL?
pub(crate) fn rejects_null(condition: &Expr, columns: &dyn Fn(usize, usize) -> bool) -> bool {
    match &condition.kind {
        ExprKind::IsNull { arg, negated: true } => null_with(arg, columns),
        ExprKind::IsTruth { arg, truth, negated: false } => null_with(arg, columns) || *truth && rejects_null(arg, columns),
        ExprKind::Not(arg) => match &arg.kind {
            ExprKind::IsNull { arg, negated: false } => null_with(arg, columns),
            _ => null_with(arg, columns),
        },
        ExprKind::And(parts) => parts.iter().any(|part| rejects_null(part, columns)),
        ExprKind::Or(parts) => parts.iter().all(|part| rejects_null(part, columns)),
        _ => null_with(condition, columns),
    }
}

/// Is the expression NULL when the columns are?
fn null_with(expr: &Expr, columns: &dyn Fn(usize, usize) -> bool) -> bool {
    match &expr.kind {
        ExprKind::Column { source, column } | ExprKind::ColumnOrdinal { source, column } => columns(*source, *column),
        ExprKind::Arithmetic { left, right, .. } => null_with(left, columns) || null_with(right, columns),
        ExprKind::Unary { arg, .. } | ExprKind::Cast(arg) => null_with(arg, columns),
        ExprKind::Compare { op, left, right, .. } => {
            *op != CompareOp::NullSafeEqual && (null_with(left, columns) || null_with(right, columns))
        }
        ExprKind::In { arg, .. } | ExprKind::Like { arg, .. } | ExprKind::Between { arg, .. } => null_with(arg, columns),
        _ => false,
    }
}

/// Takes constant conditions out: true ones vanish, a false one gives `None`.
fn fold_conjuncts(conjuncts: Vec<Expr>) -> Option<Vec<Expr>> {
    let mut kept = Vec::with_capacity(conjuncts.len());
    for conjunct in conjuncts {
        match constant_truth(&conjunct) {
            Some(true) => {}
            Some(false) => return None,
            None => kept.push(conjunct),
        }
    }
    Some(kept)
}

/// The truth of a condition that follows from its constants. NULL counts as false.
fn constant_truth(expr: &Expr) -> Option<bool> {
    match &expr.kind {
        ExprKind::Literal(Value::Int(n)) => Some(*n != 0),
        ExprKind::Literal(Value::UInt(n)) => Some(*n != 0),
        ExprKind::Literal(Value::Double(x)) => Some(*x != 0.0),
        ExprKind::Literal(Value::Null) => Some(false),
        ExprKind::Compare { op, by, left, right } => {
            let (a, b) = (constant(left), constant(right));
            if *op != CompareOp::NullSafeEqual && (a == Some(&Value::Null) || b == Some(&Value::Null)) {
                return Some(false);
            }
            match (by, a?, b?) {
                (CompareAs::Integer, Value::Int(a), Value::Int(b)) => Some(op.holds(a.cmp(b))),
                _ => None,
            }
        }
        _ => None,
    }
}

fn falsehood() -> Expr {
    Expr::literal(Value::Int(0), types::ColumnType::new(types::TypeKind::BigInt))
}

/// A Filter above a node, if there is a conjunct.
fn filtered(node: Node, conjuncts: Vec<Expr>) -> Node {
    match all_of(conjuncts) {
        Some(predicate) => Node::Filter { input: Box::new(node), predicate },
        None => node,
    }
}

/// The conjunction of conditions.
fn all_of(mut conjuncts: Vec<Expr>) -> Option<Expr> {
    // Conjuncts with subqueries are evaluated last.
    conjuncts.sort_by_key(|c| c.any(&|e| matches!(e.kind, ExprKind::Subquery(_))));
    if conjuncts.len() < 2 {
        return conjuncts.pop();
    }
    let nullable = conjuncts.iter().any(|c| c.nullable);
    let ty = conjuncts[0].ty.clone();
    Some(Expr { kind: ExprKind::And(conjuncts), ty, nullable })
}

/// Notes the sources that an expression reads.
fn sources_of(expr: &Expr, out: &mut SourceSet) {
    if let ExprKind::Column { source, .. } | ExprKind::ColumnOrdinal { source, .. } = expr.kind {
        out[source] = true;
    }
    for child in expr.parts() {
        sources_of(child, out);
    }
}

fn is_subset(set: &SourceSet, of: &SourceSet) -> bool {
    set.iter().zip(of).all(|(a, b)| !a || *b)
}
