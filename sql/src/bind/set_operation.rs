//! UNION, INTERSECT, EXCEPT: finds the common column types of all blocks, and combines their rows.

use super::compare::{self, Derivation};
use super::push::all_take;
use super::query::{Block, converted, slot};
use super::{Binder, LevelKind};
use crate::ast::{QueryBody, SetOp, SetOperand};
use crate::error::{Error, Result};
use crate::plan::{Made, Node, OutputColumn};
use expr::Expr;
use expr::typing;
use types::{ColumnType, TypeKind};

/// The maximum of consecutive INTERSECT and EXCEPT operations: each nests in the one before.
const OPERATIONS_MAX: usize = 200;
/// Predicates are pushed into no more blocks than this.
const PUSHED_BLOCKS_MAX: usize = 50;
/// The rows of a longer VALUES get a common type before the enclosing UNION does.
const VALUES_MAX: usize = 50;

/// Flattens nested UNIONs into a list of blocks, and for each UNION between two blocks whether it is ALL. A nested
/// UNION in brackets is flattened only if that does not change the duplicates: it is UNION ALL, or a later DISTINCT
/// removes duplicates anyway. Its column types are then common to all blocks.
fn flatten<'q, 'a>(first: &'q QueryBody<'a>, rest: &'q [SetOperand<'a>], bodies: &mut Vec<QueryBody<'a>>, alls: &mut Vec<bool>) {
    let distinct_end = rest.iter().rposition(|operand| !operand.all).map_or(0, |last| last + 2);
    let operands = std::iter::once((first, None)).chain(rest.iter().map(|operand| (&operand.body, Some(operand.all))));
    for (n, (body, all)) in operands.enumerate() {
        alls.extend(all);
        let inner = operation_in_brackets(body);
        let is_union = |rest: &[SetOperand<'_>]| rest.iter().all(|operand| operand.op == SetOp::Union);
        match inner {
            Some((first, rest)) if is_union(rest) && (n < distinct_end || rest.iter().all(|operand| operand.all)) => {
                let from = alls.len();
                flatten(first, rest, bodies, alls);
                alls[from..].iter_mut().for_each(|all| *all &= n >= distinct_end);
            }
            _ => match *bare(body) {
                // Each row is a block of its own.
                QueryBody::Values(rows) if rows.len() <= VALUES_MAX && rows.iter().all(|row| row.len() == rows[0].len()) => {
                    bodies.extend(rows.chunks(1).map(QueryBody::Values));
                    alls.extend(rows.iter().skip(1).map(|_| n >= distinct_end));
                }
                _ => bodies.push(*body),
            },
        }
    }
}

/// `(a EXCEPT b) EXCEPT c` is flattened to `a EXCEPT b EXCEPT c`.
fn same_from_the_left<'q, 'a>(
    first: &'q QueryBody<'a>,
    rest: &'q [SetOperand<'a>],
) -> (&'q QueryBody<'a>, Vec<&'q SetOperand<'a>>) {
    let Some((inner, before)) = operation_in_brackets(first) else { return (first, rest.iter().collect()) };
    let is_same = |operand: &SetOperand<'_>| operand.op == rest[0].op && operand.all == rest[0].all;
    if rest[0].op == SetOp::Union || !before.iter().all(is_same) {
        return (first, rest.iter().collect());
    }
    let (first, mut all) = same_from_the_left(inner, before);
    all.extend(rest);
    (first, all)
}

/// The set operation of a query in brackets that has no other clauses.
fn operation_in_brackets<'q, 'a>(body: &'q QueryBody<'a>) -> Option<(&'q QueryBody<'a>, &'q [SetOperand<'a>])> {
    match bare(body) {
        QueryBody::SetOperation { first, rest } if matches!(body, QueryBody::Query(_)) => Some((first, rest)),
        _ => None,
    }
}

/// A query without brackets that have no other clauses.
fn bare<'q, 'a>(body: &'q QueryBody<'a>) -> &'q QueryBody<'a> {
    match body {
        QueryBody::Query(query)
            if query.with.is_none() && query.limit.is_none() && query.order_by.is_empty() && query.locking.is_empty() =>
        {
            bare(&query.body)
        }
        body => body,
    }
}

/// Is it a column of NULLs of a materialized derived table?
fn is_kept_nulls(column: &OutputColumn) -> bool {
    column.ty.kind == TypeKind::Null && !column.table.is_empty()
}

impl Binder<'_> {
    /// `first op second op third`, from left to right.
    pub(super) fn set_operation(&mut self, first: &QueryBody<'_>, rest: &[SetOperand<'_>]) -> Result<Block> {
        if rest.iter().filter(|operand| operand.op != SetOp::Union).count() > OPERATIONS_MAX {
            return Err(Error::TooDeep);
        }
        if rest.iter().all(|operand| operand.op == SetOp::Union) {
            return self.union_of(first, rest);
        }
        let (first, rest) = same_from_the_left(first, rest);
        let mut block = self.body(first)?;
        let mut rest = rest.into_iter().peekable();
        while let Some(operand) = rest.next() {
            let (mut blocks, mut alls) = (vec![block, self.body(&operand.body)?], vec![operand.all]);
            let goes_on = |next: &&SetOperand<'_>| next.op == operand.op && (next.op == SetOp::Union || next.all == operand.all);
            while let Some(operand) = rest.next_if(goes_on) {
                blocks.push(self.body(&operand.body)?);
                alls.push(operand.all);
            }
            block = match operand.op {
                SetOp::Union => self.union(blocks, &alls)?,
                op => self.operation_of(blocks, op == SetOp::Except, operand.all)?,
            };
        }
        self.union_blocks = None;
        Ok(block)
    }

    /// A chain of UNIONs only: the blocks are noted, so that predicates may be pushed into them.
    fn union_of(&mut self, first: &QueryBody<'_>, rest: &[SetOperand<'_>]) -> Result<Block> {
        let (mut bodies, mut alls) = (Vec::new(), Vec::new());
        flatten(first, rest, &mut bodies, &mut alls);
        let mut bounds = Vec::with_capacity(bodies.len());
        let (mut blocks, notes) = (
            Vec::with_capacity(bodies.len()),
            self.levels.last().is_some_and(|l| matches!(l.kind, LevelKind::Derived | LevelKind::View)),
        );
        for body in bodies {
            let mut bound = self.bind_body(&body)?;
            super::fraction_digits::filled_columns(&mut bound);
            if notes && bounds.len() < PUSHED_BLOCKS_MAX {
                bounds.extend(all_take(std::slice::from_ref(&bound)).into_iter().flatten());
            }
            blocks.push(self.finish(bound)?);
        }
        let is_whole = notes && bounds.len() == blocks.len();
        let block = self.union(blocks, &alls)?;
        self.union_blocks = is_whole.then_some((bounds, alls));
        Ok(block)
    }

    /// `a INTERSECT b INTERSECT c`, `a EXCEPT b EXCEPT c`, with types common to all.
    pub(super) fn operation_of(&mut self, blocks: Vec<Block>, except: bool, all: bool) -> Result<Block> {
        let (types, derivations) = self.union_types(&blocks)?;
        let mut blocks = blocks.into_iter();
        let first = blocks.next().expect("an operation has a first block");
        let mut columns: Vec<OutputColumn> = first.columns.clone();
        let mut node = converted(first.node, &first.columns, &types);
        for right in blocks {
            for (column, other) in columns.iter_mut().zip(&right.columns) {
                column.nullable &= except || other.nullable;
            }
            let (left, right) = (Box::new(node), Box::new(converted(right.node, &right.columns, &types)));
            node = Node::SetOperation { left, right, except, all, columns: types.len() };
        }
        let columns = columns.into_iter().zip(types).map(|(c, ty)| kept_column(c.name, ty, c.nullable)).collect();
        Ok(Block { node, columns, derivations })
    }

    /// `a UNION [ALL] b UNION [ALL] c`: types common to all, rows concatenated. `alls` says for each UNION whether it
    /// is ALL; a UNION DISTINCT removes duplicates from all rows before it.
    pub(super) fn union(&mut self, blocks: Vec<Block>, alls: &[bool]) -> Result<Block> {
        let (types, derivations) = self.union_types(&blocks)?;
        let width = types.len();
        let columns = (0..width).map(|n| {
            let nullable = blocks.iter().any(|block| block.columns[n].nullable);
            kept_column(blocks[0].columns[n].name.clone(), types[n].clone(), nullable)
        });
        let columns = columns.collect();
        // The last UNION DISTINCT removes duplicates from all rows before it.
        let distinct = alls.iter().rposition(|all| !all).map_or(0, |last| last + 2);
        let mut inputs: Vec<Node> = blocks.into_iter().map(|block| converted(block.node, &block.columns, &types)).collect();
        let rest = inputs.split_off(distinct);
        if distinct > 0 {
            let union = Node::Concat { inputs: std::mem::take(&mut inputs) };
            inputs.push(Node::Distinct { input: Box::new(union), columns: width, ordered: false });
        }
        inputs.extend(rest);
        let node = if inputs.len() == 1 { inputs.remove(0) } else { Node::Concat { inputs } };
        Ok(Block { node, columns, derivations })
    }

    /// The types of a union's columns, and their collations.
    pub(super) fn union_types(&self, blocks: &[Block]) -> Result<(Vec<ColumnType>, Vec<Derivation>)> {
        let width = blocks[0].columns.len();
        if blocks.iter().any(|block| block.columns.len() != width) {
            return Err(Error::SetColumns);
        }
        let mut types = Vec::with_capacity(width);
        let mut derivations = Vec::with_capacity(width);
        for n in 0..width {
            let together: Vec<Derivation> = blocks.iter().map(|block| block.derivations[n]).collect();
            let derivation = compare::compared_columns(&together)?;
            let slots: Vec<Expr> = blocks.iter().map(|block| slot(n, &block.columns[n])).collect();
            let ty = typing::stored_together(&slots, self.string_collation(derivation));
            let kept_nulls = blocks.iter().any(|block| is_kept_nulls(&block.columns[n]));
            types.push(if kept_nulls { typing::beside_kept_nulls(ty) } else { ty });
            derivations.push(derivation);
        }
        Ok((types, derivations))
    }
}

/// A column of materialized rows.
fn kept_column(name: String, ty: ColumnType, nullable: bool) -> OutputColumn {
    let characters = super::result_column::kept_characters(&ty);
    OutputColumn { made: Made::Kept, characters, ..OutputColumn::new(name, ty, nullable) }
}
