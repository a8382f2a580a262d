//! Functional dependencies: which columns are the same in all rows that have the same values in others.
//!
//! What is known spreads from column to column: by equalities, from the columns of a key to its table's other columns, from the columns
//! that a generated column reads to it, and through a derived table by what its query knows of its own tables.

use super::group::Grouping;
use super::query::{Bound, BoundSelect};
use super::{Binder, SourceKind};
use crate::expr::{CompareOp, Expr, ExprKind};
use crate::plan::JoinKind;
use crate::planner::{JoinTree, is_volatile, rejects_null, simplify, tree_sources};
use types::schema::IndexKind;

/// ON of an outer join, and the sources of its right side.
struct OuterCondition<'t> {
    right: Vec<usize>,
    on: &'t [Expr],
}

/// What FROM and WHERE of a block say of its rows.
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
                // Inside the right side nothing holds for rows that were not found.
                let mut sources = Vec::new();
                tree_sources(right, &mut sources);
                self.outer.push(OuterCondition { right: sources, on });
            }
        }
    }

    /// Is the column never NULL, but in rows that an outer join has not found?
    fn is_never_null(&self, source: usize, column: usize) -> bool {
        let rejects = |condition: &Expr| rejects_null(condition, &|s, c| (s, c) == (source, column));
        let found = self.outer.iter().filter(|outer| outer.right.contains(&source));
        self.conditions.iter().any(|condition| rejects(condition)) || found.flat_map(|outer| outer.on).any(rejects)
    }
}

/// FROM with the outer joins that its conditions make inner ones.
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

/// What is the same in all rows of a group.
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

/// What a kept derived table's query knows of its columns.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    tree: JoinTree,
    filter: Vec<Expr>,
    /// The keys of its groups.
    keys: Option<Vec<Expr>>,
    columns: Vec<Output>,
    /// MySQL makes such a query a part of the block around it.
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
    /// Adds all that depends on what is known.
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

    /// Is every column of a primary or unique key known that has no NULL?
    fn is_determined(&self, source: usize, facts: &Facts<'_>, known: &Known) -> bool {
        let from = &self.sources[source];
        let table = &from.table;
        if let SourceKind::Derived { key: Some(key), .. } = &from.kind {
            // A row of NULLs, where there was none, must not be taken for one of the table.
            let is_told = !from.nullable || key.iter().any(|column| !table.columns[*column].nullable);
            return is_told && key.iter().all(|column| known.has(source, *column));
        }
        let is_found =
            |column: usize| known.has(source, column) && (!table.columns[column].nullable || facts.is_never_null(source, column));
        let is_unique = |kind: IndexKind| matches!(kind, IndexKind::Primary | IndexKind::Unique);
        table.indexes.iter().any(|index| is_unique(index.kind) && index.columns.iter().all(|c| is_found(c.column)))
    }

    /// Generated columns depend on those that they read.
    fn spread_generated(&self, source: usize, known: &mut Known) {
        let from = &self.sources[source];
        if !matches!(from.kind, SourceKind::Table) {
            return;
        }
        let columns = &from.table.columns;
        for (n, column) in columns.iter().enumerate() {
            let Some(generated) = &column.generated else { continue };
            // In a row of NULLs that an outer join makes, it is NULL whatever its expression gives for NULLs.
            let place = |name: &String| columns.iter().position(|c| c.name.eq_ignore_ascii_case(name));
            let read: Option<Vec<usize>> = generated.expr.columns.iter().map(place).collect();
            let Some(read) = read.filter(|read| !read.is_empty()) else { continue };
            let is_told = !from.nullable || read.iter().any(|place| !columns[*place].nullable);
            if is_told && read.iter().all(|place| known.has(source, *place)) {
                known.add(source, n);
            }
        }
    }

    /// Columns of a derived table depend on each other as they do in its query.
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
        // In a row of NULLs that an outer join makes, what depends on NULLs must be NULL, too.
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

/// Does the expression read columns, and is NULL where they are?
fn is_null_of_null(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column { .. } | ExprKind::ColumnOrdinal { .. } => true,
        ExprKind::Arithmetic { left, right, .. } => is_null_of_null(left) || is_null_of_null(right),
        ExprKind::Unary { arg, .. } | ExprKind::Cast(arg) => is_null_of_null(arg),
        _ => false,
    }
}

/// `a = b`, where b is a constant or reads what is known.
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

/// An outer join whose ON reads, of the left side, nothing but what is known: its right side's equated columns are known.
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
