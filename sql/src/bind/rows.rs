//! Rows of values: `(a, b)` compared with each other, and in lists.

use super::compare::Derivation;
use super::moments::compare_leniently;
use super::{Binder, typing};
use crate::ast;
use crate::error::{Error, Result};
use crate::expr::{CompareAs, CompareOp, Expr, ExprKind};

impl Binder<'_> {
    /// `(a, b) op (c, d)`: equality as the pairs' conjunction, so that each may find an index; order as it stands.
    pub(super) fn row_comparison(&mut self, op: CompareOp, left: Expr, right: Expr) -> Result<Expr> {
        let (ExprKind::Row(left), ExprKind::Row(right)) = (left.kind, right.kind) else {
            return Err(Error::OperandColumns(1));
        };
        if left.len() != right.len() {
            return Err(Error::OperandColumns(left.len()));
        }
        let mut pairs = Vec::with_capacity(left.len());
        let pair_op = if op == CompareOp::NullSafeEqual { op } else { CompareOp::Equal };
        for (a, b) in left.iter().zip(&right) {
            let (pair, together) = self.pair(pair_op, a, b)?;
            // Collations matter to texts alone.
            if let ExprKind::Compare { by: CompareAs::String(_), .. } = pair.kind {
                together?;
            }
            pairs.push(pair);
        }
        let nullable = pairs.iter().any(|p| p.nullable);
        match op {
            CompareOp::Equal | CompareOp::NullSafeEqual => Ok(self.boolean(ExprKind::And(pairs), nullable)),
            CompareOp::NotEqual => {
                let equal = self.boolean(ExprKind::And(pairs), nullable);
                Ok(self.boolean(ExprKind::Not(Box::new(equal)), nullable))
            }
            _ => {
                let row = |parts| Box::new(Expr { kind: ExprKind::Row(parts), ty: typing::boolean(), nullable: false });
                let by = CompareAs::Integer;
                Ok(self.boolean(ExprKind::Compare { op, by, left: row(left), right: row(right) }, nullable))
            }
        }
    }

    /// A pair of two rows, and how the collations of both go together.
    fn pair(&mut self, op: CompareOp, a: &Expr, b: &Expr) -> Result<(Expr, Result<Derivation>)> {
        let together = self.derivation_of(a).combine(self.derivation_of(b), "=");
        let derivation = *together.as_ref().unwrap_or(&Derivation { collation: a.ty.collation, ..Derivation::NUMERIC });
        Ok((self.comparison(op, a.clone(), b.clone(), derivation)?, together))
    }

    /// Rows of a list are equal pair by pair: by the left one's collation where none wins, and what is no date is no error.
    fn row_equality(&mut self, left: &Expr, right: &Expr) -> Result<Expr> {
        let (ExprKind::Row(left), ExprKind::Row(right)) = (&left.kind, &right.kind) else {
            return Err(Error::OperandColumns(1));
        };
        let mut pairs = Vec::with_capacity(left.len());
        for (a, b) in left.iter().zip(right) {
            let mut pair = match (&a.kind, &b.kind) {
                (ExprKind::Row(_), ExprKind::Row(_)) => self.row_equality(a, b)?,
                _ => self.pair(CompareOp::Equal, a, b)?.0,
            };
            compare_leniently(&mut pair);
            pairs.push(pair);
        }
        let nullable = pairs.iter().any(|p| p.nullable);
        Ok(self.boolean(ExprKind::And(pairs), nullable))
    }

    pub(super) fn row(&mut self, items: &[ast::Expr<'_>]) -> Result<Expr> {
        let parts = items.iter().map(|item| self.expr(item)).collect::<Result<Vec<Expr>>>()?;
        self.derivation = Derivation::IGNORABLE;
        Ok(Expr { kind: ExprKind::Row(parts), ty: typing::boolean(), nullable: false })
    }

    pub(super) fn row_in(&mut self, arg: Expr, columns: usize, members: Vec<Expr>, negated: bool) -> Result<Expr> {
        let mut parts = Vec::with_capacity(members.len());
        for member in members {
            if !matches!(&member.kind, ExprKind::Row(row) if row.len() == columns) {
                return Err(Error::OperandColumns(columns));
            }
            parts.push(self.row_equality(&arg, &member)?);
        }
        let nullable = parts.iter().any(|p| p.nullable);
        let any = self.boolean(ExprKind::Or(parts), nullable);
        Ok(if negated { self.boolean(ExprKind::Not(Box::new(any)), nullable) } else { any })
    }
}
