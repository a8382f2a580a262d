//! Functional dependencies: which columns are determined by the values of which others.
//!
//! A dependency spreads along equalities, from the columns of a unique key to the other columns of its table, from the
//! columns that a generated column reads to that column, and through a derived table by the dependencies inside its
//! query.

use super::group::Grouping;
use super::query::{Bound, BoundSelect};
use super::{Binder, SourceKind};
use crate::plan::JoinKind;
use crate::planner::{JoinTree, rejects_null, simplify, tree_sources};
use expr::is_volatile;
use expr::{CompareOp, Expr, ExprKind};
use types::schema::IndexKind;

/// The ON condition of an outer join, and the sources of its right side.
struct OuterCondition<'t> {
    right: Vec<usize>,
    on: &'t [Expr],
}

/// The facts about the rows of a block that follow from FROM and WHERE.
#[derive(Default)]
pub(super) struct Facts<'t> {
    own: Vec<usize>,
    conditions: Vec<&'t Expr>,
    outer: Vec<OuterCondition<'t>>,
}

impl<'t> Facts<'t> {
    pub fn of(tree: Option<&'t JoinTree>, filter: &'t [Expr]) -> Self {
        let mut facts = Self { conditions: filter.iter().collect(), ..Self::default() };
        if let Some(tree) = tree {
            tree_sources(tree, &mut facts.own);
            facts.add(tree);
        }
        facts
    }

    pub fn is_own(&self, source: usize) -> bool {
        self.own.contains(&source)
    }

    fn add(&mut self, tree: &'t JoinTree) {
        match tree {
            JoinTree::Table(_) => {}
            JoinTree::Inner { parts, on, .. } => {
                parts.iter().for_each(|part| self.add(part));
                self.conditions.extend(on);
            }
            JoinTree::Left { left, on, kind: JoinKind::Semi, .. } => {
                self.add(left);
                self.conditions.extend(on);
            }
            JoinTree::Left { left, kind: JoinKind::Anti, .. } => self.add(left),
            JoinTree::Left { left, right, on, .. } => {
                self.add(left);
                // Facts inside the right side do not hold for NULL-extended rows.
                let mut sources = Vec::new();
                tree_sources(right, &mut sources);
                self.outer.push(OuterCondition { right: sources, on });
            }
        }
    }

    /// Is the column never NULL, except in rows that an outer join extends by NULLs?
    fn is_never_null(&self, source: usize, column: usize) -> bool {
        let rejects = |condition: &Expr| rejects_null(condition, &|s, c| (s, c) == (source, column));
        let found = self.outer.iter().filter(|outer| outer.right.contains(&source));
        self.conditions.iter().any(|condition| rejects(condition)) || found.flat_map(|outer| outer.on).any(rejects)
    }
}

/// FROM, with the outer joins that its predicates make inner joins.
pub(super) fn simplified(tree: &JoinTree, filter: &[Expr]) -> Option<JoinTree> {
    fn has_outer(tree: &JoinTree) -> bool {
        match tree {
            JoinTree::Table(_) => false,
            JoinTree::Inner { parts, .. } => parts.iter().any(has_outer),
            JoinTree::Left { .. } => true,
        }
    }
    has_outer(tree).then(|| simplify(tree.clone(), filter))
}

/// The columns that are constant within a group.
#[derive(Clone, Debug)]
pub(super) struct Known {
    columns: Vec<(usize, usize)>,
    /// Sources all of whose columns are known.
    sources: Vec<bool>,
}

impl Known {
    pub fn new(sources: Vec<bool>) -> Self {
        Self { columns: Vec::new(), sources }
    }

    pub fn has(&self, source: usize, column: usize) -> bool {
        self.sources[source] || self.columns.contains(&(source, column))
    }

    pub fn add(&mut self, source: usize, column: usize) {
        if !self.has(source, column) {
            self.columns.push((source, column));
        }
    }

    fn has_all_of(&self, expr: &Expr) -> bool {
        let mut all = true;
        expr.each_column(&mut |source, column| all &= self.has(source, column));
        all && !is_volatile(expr)
    }
}

/// The dependencies between the columns of a materialized derived table.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    tree: JoinTree,
    filter: Vec<Expr>,
    /// The keys of its groups.
    keys: Option<Vec<Expr>>,
    columns: Vec<Output>,
    /// MySQL would merge this query into the outer block.
    is_plain: bool,
}

/// A column of a derived table.
#[derive(Clone, Debug)]
enum Output {
    Key(usize),
    /// An expression over the tables.
    Value(Expr),
    Other,
}

impl Inside {
    pub fn of(bound: &Bound) -> Option<Box<Self>> {
        let Bound::Select(select) = bound else { return None };
        let tree = select.tree.as_ref().filter(|_| !select.rollup)?;
        let columns = select.project[..select.visible].iter().map(|expr| Output::of(expr, select));
        let columns: Vec<Output> = columns.collect();
        let keys = select.grouping.as_ref().map(|grouping| grouping.keys.clone());
        let simple = simplified(tree, &select.filter).unwrap_or_else(|| tree.clone());
        Some(Box::new(Self { tree: simple, filter: select.filter.clone(), keys, columns, is_plain: select.is_plain() }))
    }
}

impl Output {
    fn of(expr: &Expr, select: &BoundSelect) -> Self {
        let is_other = |e: &Expr| matches!(e.kind, ExprKind::Slot(_) | ExprKind::Subquery(_) | ExprKind::AssignVariable { .. });
        match (&expr.kind, &select.grouping) {
            (ExprKind::Slot(slot), Some(grouping)) => Self::of_slot(*slot, grouping),
            _ if select.grouping.is_some() || expr.any(&is_other) || is_volatile(expr) => Self::Other,
            _ => Self::Value(expr.clone()),
        }
    }

    fn of_slot(slot: usize, grouping: &Grouping) -> Self {
        if slot < grouping.keys.len() {
            return Self::Key(slot);
        }
        match grouping.value_of(slot) {
            Some(value) if !grouping.is_aggregate_or_level(slot) => Self::Value(value.clone()),
            _ => Self::Other,
        }
    }
}

impl Binder<'_> {
    /// Adds everything that depends on known columns.
    pub(super) fn spread(&self, facts: &Facts<'_>, known: &mut Known) {
        loop {
            let before = (known.columns.len(), known.sources.iter().filter(|known| **known).count());
            for condition in &facts.conditions {
                spread_equal(condition, known);
            }
            for condition in &facts.outer {
                spread_outer(condition, known);
            }
            for &source in &facts.own {
                if !known.sources[source] {
                    self.spread_generated(source, known);
                    self.spread_inside(source, known);
                    known.sources[source] = self.is_determined(source, facts, known);
                }
            }
            if before == (known.columns.len(), known.sources.iter().filter(|known| **known).count()) {
                return;
            }
        }
    }

    /// Are all columns of a primary or unique key known, and none of them NULL?
    fn is_determined(&self, source: usize, facts: &Facts<'_>, known: &Known) -> bool {
        let from = &self.sources[source];
        let table = &from.table;
        if let SourceKind::Derived { key: Some(key), .. } = &from.kind {
            // A NULL-extended row must not be taken for a row of the table.
            let is_told = !from.nullable || key.iter().any(|column| !table.columns[*column].nullable);
            return is_told && key.iter().all(|column| known.has(source, *column));
        }
        let is_found =
            |column: usize| known.has(source, column) && (!table.columns[column].nullable || facts.is_never_null(source, column));
        let is_unique = |kind: IndexKind| matches!(kind, IndexKind::Primary | IndexKind::Unique);
        table.indexes.iter().any(|index| is_unique(index.kind) && index.columns.iter().all(|c| is_found(c.column)))
    }

    /// A generated column depends on the columns that it reads.
    fn spread_generated(&self, source: usize, known: &mut Known) {
        let from = &self.sources[source];
        if !matches!(from.kind, SourceKind::Table) {
            return;
        }
        let columns = &from.table.columns;
        for (n, column) in columns.iter().enumerate() {
            let Some(generated) = &column.generated else { continue };
            // In a NULL-extended row the generated column is NULL, whatever its expression returns for NULLs.
            let place = |name: &String| columns.iter().position(|c| c.name.eq_ignore_ascii_case(name));
            let read: Option<Vec<usize>> = generated.expr.columns.iter().map(place).collect();
            let Some(read) = read.filter(|read| !read.is_empty()) else { continue };
            let is_told = !from.nullable || read.iter().any(|place| !columns[*place].nullable);
            if is_told && read.iter().all(|place| known.has(source, *place)) {
                known.add(source, n);
            }
        }
    }

    /// The columns of a derived table depend on each other as inside its query.
    fn spread_inside(&self, source: usize, known: &mut Known) {
        let from = &self.sources[source];
        let (Some(inside), true) = (&from.inside, from.reads().is_empty()) else { return };
        let given: Vec<usize> = (0..inside.columns.len()).filter(|column| known.has(source, *column)).collect();
        if given.is_empty() || given.len() == inside.columns.len() {
            return;
        }
        let mut within = Known::new(vec![false; self.sources.len()]);
        let mut keys = vec![false; inside.keys.as_ref().map_or(0, Vec::len)];
        for column in &given {
            let value = match (&inside.columns[*column], &inside.keys) {
                (Output::Key(key), Some(all)) => {
                    keys[*key] = true;
                    &all[*key]
                }
                (Output::Value(value), _) => value,
                _ => continue,
            };
            if let ExprKind::Column { source, column } = value.kind {
                within.add(source, column);
            }
        }
        self.spread(&Facts::of(Some(&inside.tree), &inside.filter), &mut within);
        let is_key_known = |key: usize| keys[key] || inside.keys.as_ref().is_some_and(|all| within.has_all_of(&all[key]));
        let all_keys = inside.keys.is_some() && (0..keys.len()).all(is_key_known);
        // A column that depends on NULLs must be NULL in a NULL-extended row, too.
        let is_told = !from.nullable || given.iter().any(|column| !from.table.columns[*column].nullable);
        for (n, column) in inside.columns.iter().enumerate() {
            let depends = match column {
                _ if all_keys && is_told => true,
                Output::Key(key) => is_told && is_key_known(*key),
                Output::Value(value) => {
                    let is_column = matches!(value.kind, ExprKind::Column { .. });
                    within.has_all_of(value) && (is_told || is_column || inside.is_plain && is_null_of_null(value))
                }
                Output::Other => false,
            };
            if depends {
                known.add(source, n);
            }
        }
    }
}

/// Does the expression read columns, and is it NULL if these are NULL?
fn is_null_of_null(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column { .. } | ExprKind::ColumnOrdinal { .. } => true,
        ExprKind::Arithmetic { left, right, .. } => is_null_of_null(left) || is_null_of_null(right),
        ExprKind::Unary { arg, .. } | ExprKind::Cast(arg) => is_null_of_null(arg),
        _ => false,
    }
}

/// `a = b`, where b is a constant or reads only known columns.
fn spread_equal(condition: &Expr, known: &mut Known) {
    let ExprKind::Compare { op: CompareOp::Equal, left, right, .. } = &condition.kind else { return };
    for (a, b) in [(left, right), (right, left)] {
        let ExprKind::Column { source, column } = a.kind else { continue };
        let is_bare = !b.any(&|e| matches!(e.kind, ExprKind::Slot(_) | ExprKind::Subquery(_) | ExprKind::AssignVariable { .. }));
        if is_bare && known.has_all_of(b) {
            known.add(source, column);
        }
    }
}

/// An outer join whose ON reads only known columns of the left side: the columns of the right side that it equates
/// become known.
fn spread_outer(condition: &OuterCondition<'_>, known: &mut Known) {
    let is_left_known = |expr: &Expr| {
        let mut all = !is_volatile(expr);
        expr.each_column(&mut |source, column| all &= condition.right.contains(&source) || known.has(source, column));
        all
    };
    if !condition.on.iter().all(is_left_known) {
        return;
    }
    for part in condition.on {
        let ExprKind::Compare { op: CompareOp::Equal, left, right, .. } = &part.kind else { continue };
        for (a, b) in [(left, right), (right, left)] {
            let ExprKind::Column { source, column } = a.kind else { continue };
            let mut from_left = true;
            b.each_column(&mut |source, _| from_left &= !condition.right.contains(&source));
            if condition.right.contains(&source) && from_left {
                known.add(source, column);
            }
        }
    }
}
