//! UNION, INTERSECT, EXCEPT: the columns' types in common to all blocks, and the rows put together.

use super::compare::{self, Derivation};
use super::push::all_take;
use super::query::{Block, converted, plain_column, slot};
use super::{Binder, LevelKind, typing};
use crate::ast::{QueryBody, SetOp, SetOperand};
use crate::error::{Error, Result};
use crate::expr::Expr;
use crate::plan::{Node, OutputColumn};
use types::{ColumnType, TypeKind};

/// INTERSECT and EXCEPT in a row: each stands in the one before.
const OPERATIONS_MAX: usize = 200;
/// Conditions are pushed into no more blocks.
const PUSHED_BLOCKS_MAX: usize = 50;

/// Is it a column of NULLs of a derived table whose rows are kept?
fn is_kept_nulls(column: &OutputColumn) -> bool {
    column.ty.kind == TypeKind::Null && !column.table.is_empty()
}

impl Binder<'_> {
    /// `first op second op third`, from the left.
    pub(super) fn set_operation(&mut self, first: &QueryBody<'_>, rest: &[SetOperand<'_>]) -> Result<Block> {
        if rest.iter().filter(|operand| operand.op != SetOp::Union).count() > OPERATIONS_MAX {
            return Err(Error::TooDeep);
        }
        if rest.iter().all(|operand| operand.op == SetOp::Union) {
            return self.union_of(first, rest);
        }
        let mut block = self.body(first)?;
        let mut rest = rest.iter().peekable();
        while let Some(operand) = rest.next() {
            let next = self.body(&operand.body)?;
            if operand.op != SetOp::Union {
                block = self.both_sides(block, next, operand.op == SetOp::Except, operand.all)?;
                continue;
            }
            let (mut blocks, mut alls) = (vec![block, next], vec![operand.all]);
            while let Some(operand) = rest.next_if(|operand| operand.op == SetOp::Union) {
                blocks.push(self.body(&operand.body)?);
                alls.push(operand.all);
            }
            block = self.union(blocks, &alls)?;
        }
        self.union_blocks = None;
        Ok(block)
    }

    /// UNION and nothing else: the blocks are noted, for conditions that may be pushed into them.
    fn union_of(&mut self, first: &QueryBody<'_>, rest: &[SetOperand<'_>]) -> Result<Block> {
        let bodies = std::iter::once(first).chain(rest.iter().map(|operand| &operand.body));
        let mut bounds = Vec::with_capacity(rest.len() + 1);
        let (mut blocks, notes) = (
            Vec::with_capacity(rest.len() + 1),
            self.levels.last().is_some_and(|l| matches!(l.kind, LevelKind::Derived | LevelKind::View)),
        );
        for body in bodies {
            let bound = self.bind_body(body)?;
            if notes && bounds.len() < PUSHED_BLOCKS_MAX {
                bounds.extend(all_take(std::slice::from_ref(&bound)).into_iter().flatten());
            }
            blocks.push(self.finish(bound)?);
        }
        let alls: Vec<bool> = rest.iter().map(|operand| operand.all).collect();
        let is_whole = notes && bounds.len() == blocks.len();
        let block = self.union(blocks, &alls)?;
        self.union_blocks = is_whole.then_some((bounds, alls));
        Ok(block)
    }

    /// `a INTERSECT b`, `a EXCEPT b`.
    pub(super) fn both_sides(&mut self, left: Block, right: Block, except: bool, all: bool) -> Result<Block> {
        let blocks = [left, right];
        let (types, derivations) = self.union_types(&blocks)?;
        let [left, right] = blocks;
        let nullable = |n: usize| left.columns[n].nullable && (except || right.columns[n].nullable);
        let names = left.columns.iter().zip(&types).enumerate();
        let columns: Vec<_> = names.map(|(n, (c, ty))| plain_column(c.name.clone(), ty.clone(), nullable(n))).collect();
        let node = Node::SetOperation {
            left: Box::new(converted(left.node, &left.columns, &types)),
            right: Box::new(converted(right.node, &right.columns, &types)),
            except,
            all,
            columns: columns.len(),
        };
        Ok(Block { node, columns, derivations })
    }

    /// `a UNION [ALL] b UNION [ALL] c`: types in common to all, rows one after the other. `alls` tells of each UNION whether it is ALL;
    /// one that is not makes all rows before it distinct.
    pub(super) fn union(&mut self, blocks: Vec<Block>, alls: &[bool]) -> Result<Block> {
        let (types, derivations) = self.union_types(&blocks)?;
        let width = types.len();
        let columns = (0..width).map(|n| {
            let nullable = blocks.iter().any(|block| block.columns[n].nullable);
            plain_column(blocks[0].columns[n].name.clone(), types[n].clone(), nullable)
        });
        let columns = columns.collect();
        // Rows that come before the last UNION DISTINCT are distinct with it.
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
