//! Row values: `(a, b)` in comparisons and in IN lists.

use super::Binder;
use super::compare::Derivation;
use super::moments::compare_leniently;
use super::operand::cast_to;
use crate::ast;
use crate::error::{Error, Result};
use expr::{Class, CompareAs, CompareOp, Expr, ExprKind, class, typing};
use types::Value;

/// The coercibilities of the parts of a row. Empty for nested rows, and for rows that the statement does not write out.
type Parts<'p> = &'p [Derivation];

fn is_integer(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<i64>().is_ok())
}

impl Binder<'_> {
    /// `(a, b) op (c, d)`. Equality becomes a conjunction of pairs, so that each may use an index; an inequality stays.
    pub(super) fn row_comparison(&mut self, op: CompareOp, left: Expr, right: Expr, parts: (Parts, Parts)) -> Result<Expr> {
        let columns = if let ExprKind::Row(parts) = &left.kind { parts.len() } else { 1 };
        let (ExprKind::Row(mut left), ExprKind::Row(mut right)) = (left.kind, right.kind) else {
            return Err(Error::OperandColumns(columns));
        };
        if left.len() != right.len() {
            return Err(Error::OperandColumns(left.len()));
        }
        let pairs = self.pairs(op, &left, &right, parts)?;
        let nullable = pairs.iter().any(|p| p.nullable);
        match op {
            CompareOp::Equal | CompareOp::NullSafeEqual => Ok(self.boolean(ExprKind::And(pairs), nullable)),
            CompareOp::NotEqual => {
                let equal = self.boolean(ExprKind::And(pairs), nullable);
                Ok(self.boolean(ExprKind::Not(Box::new(equal)), nullable))
            }
            _ => {
                // Convert each pair to the forms in which it is compared.
                for ((left, right), pair) in left.iter_mut().zip(&mut right).zip(pairs) {
                    if let ExprKind::Compare { left: a, right: b, .. } = pair.kind {
                        (*left, *right) = (*a, *b);
                    }
                }
                let row = |parts| Box::new(Expr { kind: ExprKind::Row(parts), ty: typing::boolean(), nullable: false });
                let by = CompareAs::Integer;
                Ok(self.boolean(ExprKind::Compare { op, by, left: row(left), right: row(right) }, nullable))
            }
        }
    }

    /// The equality of each pair of two rows.
    fn pairs(&mut self, op: CompareOp, left: &[Expr], right: &[Expr], parts: (Parts, Parts)) -> Result<Vec<Expr>> {
        let mut pairs = Vec::with_capacity(left.len());
        let pair_op = if op == CompareOp::NullSafeEqual { op } else { CompareOp::Equal };
        for (n, (a, b)) in left.iter().zip(right).enumerate() {
            self.refuse_no_dates(a, b)?;
            let (pair, together) = self.pair(pair_op, (a, parts.0.get(n)), (b, parts.1.get(n)), op.sign())?;
            // Collations matter for strings only.
            if let ExprKind::Compare { by: CompareAs::String(_), .. } = pair.kind {
                together?;
            }
            pairs.push(pair);
        }
        Ok(pairs)
    }

    /// A pair of two rows, and the combined collation.
    fn pair(
        &mut self,
        op: CompareOp,
        (a, a_derivation): (&Expr, Option<&Derivation>),
        (b, b_derivation): (&Expr, Option<&Derivation>),
        sign: &str,
    ) -> Result<(Expr, Result<Derivation>)> {
        let a_derivation = a_derivation.copied().unwrap_or_else(|| self.derivation_of(a));
        let together = a_derivation.combine(b_derivation.copied().unwrap_or_else(|| self.derivation_of(b)), sign);
        let derivation = *together.as_ref().unwrap_or(&Derivation { collation: a.ty.collation, ..Derivation::NUMERIC });
        Ok((self.comparison(op, a.clone(), b.clone(), derivation)?, together))
    }

    /// Equality with a row of an IN list. Each pair is compared by the left collation if neither wins, and a value that
    /// is not a date raises no error.
    fn row_equality(&mut self, left: &Expr, right: &Expr, parts: (Parts, Parts)) -> Result<Expr> {
        let (ExprKind::Row(left), ExprKind::Row(right)) = (&left.kind, &right.kind) else {
            return Err(Error::OperandColumns(1));
        };
        let mut pairs = Vec::with_capacity(left.len());
        for (n, (a, b)) in left.iter().zip(right).enumerate() {
            let mut pair = match (&a.kind, &b.kind) {
                (ExprKind::Row(_), ExprKind::Row(_)) => self.row_equality(a, b, (&[], &[]))?,
                _ => {
                    let as_left = self.as_left(a, b);
                    let b = as_left.as_ref().unwrap_or(b);
                    self.pair(CompareOp::Equal, (a, parts.0.get(n)), (b, parts.1.get(n)), "=")?.0
                }
            };
            compare_leniently(&mut pair);
            pairs.push(pair);
        }
        let nullable = pairs.iter().any(|p| p.nullable);
        Ok(self.boolean(ExprKind::And(pairs), nullable))
    }

    /// In an IN list of rows, if one of a pair is a string and the other is not, the type of the left one decides.
    fn as_left(&self, left: &Expr, right: &Expr) -> Option<Expr> {
        let ty = match (class(&left.ty), class(&right.ty)) {
            (Class::String, Class::String | Class::Json | Class::Null) => return None,
            (Class::String, _) => typing::string(typing::string_length(&right.ty), self.literal_collation()),
            (Class::Integer, Class::String) => typing::bigint(false),
            _ => return None,
        };
        match &right.kind {
            ExprKind::Row(_) => None,
            // A string that is an integer was converted already, so that an index can serve it.
            ExprKind::Literal(Value::Bytes(text)) if class(&ty) == Class::Integer && is_integer(text) => None,
            _ => Some(cast_to(right.clone(), ty)),
        }
    }

    pub(super) fn row(&mut self, items: &[ast::Expr<'_>]) -> Result<Expr> {
        let mut parts = Vec::with_capacity(items.len());
        let mut derivations = Vec::with_capacity(items.len());
        for item in items {
            parts.push(self.expr(item)?);
            derivations.push(self.derivation);
        }
        self.row_parts = derivations;
        self.derivation = Derivation::IGNORABLE;
        Ok(Expr { kind: ExprKind::Row(parts), ty: typing::boolean(), nullable: false })
    }

    /// `(a, b) IN (...)`: equality of the left row with one of the members; with a single member as `=`.
    pub(super) fn row_in(
        &mut self,
        (arg, arg_parts): (Expr, Parts),
        members: Vec<Expr>,
        member_parts: &[Vec<Derivation>],
        negated: bool,
    ) -> Result<Expr> {
        let columns = if let ExprKind::Row(parts) = &arg.kind { parts.len() } else { 1 };
        let mut equal = Vec::with_capacity(members.len());
        let is_single = members.len() == 1;
        for (n, member) in members.into_iter().enumerate() {
            if !matches!(&member.kind, ExprKind::Row(row) if row.len() == columns) {
                return Err(Error::OperandColumns(columns));
            }
            same_shape(&arg, &member)?;
            let parts = (arg_parts, member_parts.get(n).map_or(&[][..], |parts| parts));
            equal.push(if is_single {
                self.row_comparison(CompareOp::Equal, arg.clone(), member, parts)?
            } else {
                self.row_equality(&arg, &member, parts)?
            });
        }
        let nullable = equal.iter().any(|p| p.nullable);
        let any = self.boolean(ExprKind::Or(equal), nullable);
        Ok(if negated { self.boolean(ExprKind::Not(Box::new(any)), nullable) } else { any })
    }
}

/// Do nested rows have the same number of parts on both sides?
fn same_shape(left: &Expr, right: &Expr) -> Result<()> {
    match (&left.kind, &right.kind) {
        (ExprKind::Row(left), ExprKind::Row(right)) if left.len() == right.len() => {
            left.iter().zip(right).try_for_each(|(left, right)| same_shape(left, right))
        }
        (ExprKind::Row(left), _) => Err(Error::OperandColumns(left.len())),
        (_, ExprKind::Row(_)) => Err(Error::OperandColumns(1)),
        _ => Ok(()),
    }
}
