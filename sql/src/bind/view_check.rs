//! WITH CHECK OPTION: the condition that a row must satisfy when it is written through a view.
//!
//! 1. A condition that reads the row alone is checked when the row is written, as a CHECK constraint is.
//! 2. A condition with subqueries, or over other tables of the view, is bound anew with sources and subqueries numbered
//!    from zero ([`ViewCheck::parts`]), because in the statement it may have become a join. The row is source 0.
//!    Columns of other tables become values beside the row, which an UPDATE finds in the row of the join
//!    ([`ViewCheck::joined`]).

use super::view::BoundView;
use super::{Binder, LevelKind};
use crate::error::{Error, Result};
use crate::plan::{Parts, ViewCheck};
use expr::{Expr, ExprKind};
use std::sync::Arc;

impl Binder<'_> {
    /// Must the predicates of this block stay predicates (not become joins)?
    pub(super) fn keeps_conditions(&self) -> bool {
        self.plain_conditions && self.levels.iter().all(|level| level.kind == LevelKind::View)
    }

    /// The condition of WITH CHECK OPTION for a row of the table `base` that is written through the view `source`.
    pub(super) fn view_check(&self, source: usize, base: usize) -> Result<Option<Box<ViewCheck>>> {
        let Some(view) = &self.sources[source].view else { return Ok(None) };
        if view.check.is_empty() && !view.joins_subqueries {
            return Ok(None);
        }
        let reads_other = |e: &Expr| match e.kind {
            ExprKind::Column { source, .. } | ExprKind::ColumnOrdinal { source, .. } => source != base,
            ExprKind::Subquery(_) => true,
            _ => false,
        };
        let name = format!("{}.{}", view.def.database, view.def.name);
        if view.joins_subqueries || view.check.iter().any(|condition| condition.any(&reads_other)) {
            return self.check_with_others(source, view, base, name).map(|check| check.map(Box::new));
        }
        let mut conditions = view.check.clone();
        conditions.iter_mut().for_each(|condition| condition.map_sources(&|_| 0));
        let condition = all_of(conditions);
        Ok(Some(Box::new(ViewCheck { view: name, condition, joined: Vec::new(), parts: Parts::default() })))
    }

    /// Step 2 of the file's head.
    fn check_with_others(&self, source: usize, view: &BoundView, base: usize, name: String) -> Result<Option<ViewCheck>> {
        let mut binder = Binder::new(self.context, 0, 0);
        binder.plain_conditions = true;
        binder.rights = self.sources[source].rights;
        binder.note_named(&view.def, &view.def.name, false);
        binder.view(Arc::clone(&view.def), &self.sources[source].alias)?;
        let bound = binder.sources.last_mut().and_then(|source| source.view.take());
        let Some(own) = bound.filter(|own| !own.check.is_empty()) else { return Ok(None) };
        let place = view.leaves.iter().position(|leaf| *leaf == base).expect("a table that is written is one of the view's");
        let is_same = |(own, other): &(&usize, &usize)| {
            let (own, other) = (&binder.sources[**own], &self.sources[**other]);
            own.table.id == other.table.id && std::mem::discriminant(&own.kind) == std::mem::discriminant(&other.kind)
        };
        let same = own.leaves.iter().zip(&view.leaves).take_while(is_same).count();
        let (leaves, statements) = (&own.leaves[..same], &view.leaves[..same]);
        let row = *leaves.get(place).ok_or_else(bound_otherwise)?;
        let others = Others { row, own: leaves, statements };
        let mut joined = Vec::new();
        let mut conditions = own.check.clone();
        conditions.iter_mut().try_for_each(|condition| others.put_beside(condition, &mut joined))?;
        let (condition, parts) = (all_of(conditions), binder.parts());
        Ok(Some(ViewCheck { view: name, condition, joined, parts }))
    }
}

/// The tables of a view, in the same order, with two sets of source numbers.
struct Others<'a> {
    /// The written table, as a number of `own`.
    row: usize,
    /// Their sources in the condition.
    own: &'a [usize],
    /// Their sources in the statement.
    statements: &'a [usize],
}

impl Others<'_> {
    /// Makes the row source 0, and turns columns of other tables into values beside it.
    fn put_beside(&self, expr: &mut Expr, joined: &mut Vec<Expr>) -> Result<()> {
        let (ExprKind::Column { source, .. } | ExprKind::ColumnOrdinal { source, .. }) = &mut expr.kind else {
            return expr.parts_mut().into_iter().try_for_each(|part| self.put_beside(part, joined));
        };
        if *source == self.row {
            *source = 0;
            return Ok(());
        }
        let Some(place) = self.own.iter().position(|leaf| leaf == source) else {
            return Err(bound_otherwise());
        };
        *source = self.statements[place];
        let column = joined.iter().position(|known| known == expr).unwrap_or_else(|| {
            joined.push(expr.clone());
            joined.len() - 1
        });
        (expr.kind, expr.nullable) = (ExprKind::InsertValue { column }, true);
        Ok(())
    }
}

/// Error: the statement and the condition merged different derived tables of the view, because one that reads the
/// changed table is not merged.
fn bound_otherwise() -> Error {
    Error::NotSupported("WITH CHECK OPTION beside a derived table that reads the table".to_owned())
}

fn all_of(mut conditions: Vec<Expr>) -> Expr {
    match conditions.len() {
        1 => conditions.remove(0),
        _ => Expr { kind: ExprKind::And(conditions), ty: expr::typing::boolean(), nullable: true },
    }
}
