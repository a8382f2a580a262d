//! Derives predicates from other predicates.
//!
//! I1: `(a AND b) OR (a AND c)` becomes `a AND (b OR c)`. Both are true for the same rows, also with NULL.
//! I2: if an OR is true, one of its branches is. So the OR of the parts of the branches that concern one table is true
//!     as well. It is added for the access path of that table.
//! I3: columns that are compared for equality, with one type and one way of comparing, form an equivalence class: a
//!     constant that equals one column equals all. NULL equals nothing, so no column of the class is NULL where the
//!     equalities are true.
//!
//! Derived predicates are marked. They may serve an access path or a hash key, and are dropped if a written predicate
//! implies them.

use super::join::Conjunct;
use super::selectivity::column_of;
use super::{FromBlock, SourceSet, all_of, is_subset, sources_of};
use expr::{Class, CompareAs, CompareOp, Expr, ExprKind, class, is_volatile};
use types::ColumnType;

/// Larger conditions are not repeated for each table.
const SIZE_MAX: usize = 200;
/// No pairs are formed of the columns of a larger class.
const PAIRED_MAX: usize = 8;

/// I1: factors the common conjuncts out of an OR; another predicate is returned as it is.
pub(super) fn factored(expr: Expr) -> Vec<Expr> {
    let ExprKind::Or(branches) = &expr.kind else { return vec![expr] };
    if branches.len() < 2 || is_volatile(&expr) {
        return vec![expr];
    }
    let lists: Vec<Vec<&Expr>> = branches.iter().map(parts_of).collect();
    let common: Vec<Expr> =
        lists[0].iter().filter(|part| lists[1..].iter().all(|list| list.contains(part))).map(|part| (*part).clone()).collect();
    if common.is_empty() {
        return vec![expr];
    }
    let rest = lists.iter().map(|list| list.iter().filter(|part| !common.contains(part)).map(|part| (*part).clone()).collect());
    let rest: Vec<Vec<Expr>> = rest.collect();
    let mut out = common;
    // A branch with nothing but the common conjuncts makes the other branches redundant.
    if rest.iter().all(|branch| !branch.is_empty()) {
        let branches = rest.into_iter().filter_map(all_of).collect();
        out.push(Expr { kind: ExprKind::Or(branches), ty: expr.ty, nullable: expr.nullable });
    }
    out
}

fn parts_of(branch: &Expr) -> Vec<&Expr> {
    match &branch.kind {
        ExprKind::And(parts) => parts.iter().flat_map(parts_of).collect(),
        _ => vec![branch],
    }
}

fn size(expr: &Expr) -> usize {
    1 + expr.parts().into_iter().map(size).sum::<usize>()
}

impl FromBlock<'_> {
    /// Adds the predicates that follow from the conjuncts.
    pub(super) fn infer(&self, conjuncts: &mut Vec<Conjunct>, inner: &[usize], outer: &SourceSet) {
        if inner.len() < 2 {
            return;
        }
        self.branches_by_table(conjuncts, inner, outer);
        self.classes(conjuncts, outer);
    }

    /// I2
    fn branches_by_table(&self, conjuncts: &mut Vec<Conjunct>, inner: &[usize], outer: &SourceSet) {
        let mut added = Vec::new();
        for conjunct in conjuncts.iter() {
            let ExprKind::Or(branches) = &conjunct.expr.kind else { continue };
            if size(&conjunct.expr) > SIZE_MAX || is_volatile(&conjunct.expr) || holds_subquery(&conjunct.expr) {
                continue;
            }
            let read = conjunct.sources.iter().enumerate().filter(|(s, used)| **used && inner.contains(s)).map(|(s, _)| s);
            let read: Vec<usize> = read.collect();
            if read.len() < 2 {
                continue;
            }
            for &source in &read {
                let mut known = outer.clone();
                known[source] = true;
                let of_table = |branch: &Expr| {
                    let own = |part: &&Expr| {
                        let mut sources = vec![false; known.len()];
                        sources_of(part, &mut sources);
                        sources[source] && is_subset(&sources, &known)
                    };
                    all_of(parts_of(branch).into_iter().filter(own).cloned().collect())
                };
                let Some(branches) = branches.iter().map(of_table).collect::<Option<Vec<Expr>>>() else { continue };
                let nullable = branches.iter().any(|branch| branch.nullable);
                let expr = Expr { kind: ExprKind::Or(branches), ty: conjunct.expr.ty.clone(), nullable };
                added.push(Conjunct { implied: true, ..self.conjunct(expr) });
            }
        }
        conjuncts.extend(added);
    }

    /// I3
    fn classes(&self, conjuncts: &mut Vec<Conjunct>, outer: &SourceSet) {
        // A value that is known before the block runs is a constant in it.
        let is_inner = |expr: &Expr| column_of(expr).is_some_and(|(source, _)| !outer[source]);
        let inner_pair = |expr: &'_ Expr| equal_columns(expr).is_some_and(|(a, b, _)| is_inner(a) && is_inner(b));
        let mut classes: Vec<Equal> = Vec::new();
        for conjunct in conjuncts.iter().filter(|c| inner_pair(&c.expr)) {
            let Some((a, b, by)) = equal_columns(&conjunct.expr) else { continue };
            join_class(&mut classes, a, b, by);
        }
        for conjunct in conjuncts.iter_mut().filter(|c| inner_pair(&c.expr)) {
            let Some((a, ..)) = equal_columns(&conjunct.expr) else { continue };
            let place = column_of(a);
            conjunct.class = classes.iter().position(|class| class.members.iter().any(|m| column_of(m) == place));
        }
        let mut added = Vec::new();
        for (number, class) in classes.iter().enumerate() {
            match class_constant(class, conjuncts, outer) {
                Some(constant) => self.spread_constant(number, class, constant, conjuncts, &mut added),
                None => self.pair_up(number, class, conjuncts, &mut added),
            }
        }
        conjuncts.extend(added);
    }

    /// Every column of the class is equal to the constant that one of them is.
    fn spread_constant(
        &self,
        number: usize,
        class: &Equal,
        constant: Expr,
        conjuncts: &mut Vec<Conjunct>,
        added: &mut Vec<Conjunct>,
    ) {
        let ExprKind::Compare { op, by, left, right } = &constant.kind else { return };
        let known = if column_of(left).is_some_and(|place| class.has(place)) { right } else { left };
        for member in &class.members {
            let is_there = conjuncts.iter().any(|c| compares_with(&c.expr, member, known));
            if !is_there {
                let kind = ExprKind::Compare { op: *op, by: *by, left: Box::new(member.clone()), right: known.clone() };
                let nullable = member.nullable || known.nullable;
                let expr = Expr { kind, ty: constant.ty.clone(), nullable };
                added.push(Conjunct { implied: false, ..self.conjunct(expr) });
            }
        }
        // With that the columns are equal to one another.
        conjuncts.retain(|c| c.class != Some(number));
    }

    /// Every column is equal to every other one.
    fn pair_up(&self, number: usize, class: &Equal, conjuncts: &[Conjunct], added: &mut Vec<Conjunct>) {
        if class.members.len() < 3 || class.members.len() > PAIRED_MAX {
            return;
        }
        let is_there = |a: &Expr, b: &Expr| {
            conjuncts.iter().filter_map(|c| equal_columns(&c.expr)).any(|(x, y, _)| {
                let (x, y) = (column_of(x), column_of(y));
                (x, y) == (column_of(a), column_of(b)) || (y, x) == (column_of(a), column_of(b))
            })
        };
        for (n, a) in class.members.iter().enumerate() {
            for b in &class.members[n + 1..] {
                let same_table = column_of(a).map(|p| p.0) == column_of(b).map(|p| p.0);
                if same_table || is_there(a, b) {
                    continue;
                }
                let kind = ExprKind::Compare {
                    op: CompareOp::Equal,
                    by: class.by,
                    left: Box::new(a.clone()),
                    right: Box::new(b.clone()),
                };
                let expr = Expr { kind, ty: ColumnType::new(types::TypeKind::BigInt), nullable: a.nullable || b.nullable };
                added.push(Conjunct { implied: true, class: Some(number), ..self.conjunct(expr) });
            }
        }
    }
}

/// Columns that are equal.
struct Equal {
    members: Vec<Expr>,
    by: CompareAs,
}

impl Equal {
    fn has(&self, place: (usize, usize)) -> bool {
        self.members.iter().any(|member| column_of(member) == Some(place))
    }
}

/// The sides of an equality of two columns of one type, from which more predicates can be derived.
fn equal_columns(expr: &Expr) -> Option<(&Expr, &Expr, CompareAs)> {
    let ExprKind::Compare { op: CompareOp::Equal, by, left, right } = &expr.kind else { return None };
    let both_columns = matches!(left.kind, ExprKind::Column { .. })
        && matches!(right.kind, ExprKind::Column { .. })
        && left.ty.kind == right.ty.kind;
    let one_way = match by {
        CompareAs::Integer => class(&left.ty) == Class::Integer && left.ty.unsigned == right.ty.unsigned,
        CompareAs::Decimal => class(&left.ty) == Class::Decimal,
        CompareAs::String(collation) => {
            class(&left.ty) == Class::String && left.ty.collation == *collation && right.ty.collation == *collation
        }
        CompareAs::Temporal => matches!(class(&left.ty), Class::Date | Class::DateTime),
        CompareAs::Time => class(&left.ty) == Class::Time,
        CompareAs::Double | CompareAs::Json => false,
    };
    (both_columns && one_way).then_some((&**left, &**right, *by))
}

fn join_class(classes: &mut Vec<Equal>, a: &Expr, b: &Expr, by: CompareAs) {
    let find = |classes: &[Equal], expr: &Expr| {
        classes.iter().position(|class| class.by == by && column_of(expr).is_some_and(|place| class.has(place)))
    };
    match (find(classes, a), find(classes, b)) {
        (Some(x), Some(y)) if x != y => {
            let moved = classes.swap_remove(x.max(y));
            classes[x.min(y)].members.extend(moved.members);
        }
        (Some(_), Some(_)) => {}
        (Some(x), None) => classes[x].members.push(b.clone()),
        (None, Some(y)) => classes[y].members.push(a.clone()),
        (None, None) => classes.push(Equal { members: vec![a.clone(), b.clone()], by }),
    }
}

/// A written equality of a column of the class with a value that is known before the block runs.
fn class_constant(class: &Equal, conjuncts: &[Conjunct], outer: &SourceSet) -> Option<Expr> {
    let is_known = |expr: &Expr| {
        let mut sources = vec![false; outer.len()];
        sources_of(expr, &mut sources);
        is_subset(&sources, outer) && !is_volatile(expr) && !holds_subquery(expr)
    };
    let found = conjuncts.iter().find(|c| match &c.expr.kind {
        ExprKind::Compare { op: CompareOp::Equal, by, left, right } if *by == class.by => {
            let member =
                |e: &Expr| matches!(e.kind, ExprKind::Column { .. }) && column_of(e).is_some_and(|place| class.has(place));
            (member(left) && is_known(right)) || (member(right) && is_known(left))
        }
        _ => false,
    });
    found.map(|c| c.expr.clone())
}

fn compares_with(expr: &Expr, member: &Expr, known: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Compare { op: CompareOp::Equal, left, right, .. } => {
            let is = |a: &Expr, b: &Expr| column_of(a) == column_of(member) && b == known;
            is(left, right) || is(right, left)
        }
        _ => false,
    }
}

fn holds_subquery(expr: &Expr) -> bool {
    expr.any(&|e| matches!(e.kind, ExprKind::Subquery(_) | ExprKind::AssignVariable { .. } | ExprKind::UserVariable(_)))
}
