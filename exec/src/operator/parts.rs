//! Operators of one worker that reads parts of an input which several workers share.
//!
//! P1: the rows of the first scan are read in pieces. All that is joined to them is read anew for each row, but for hash tables: these are built
//!     once, by the owner, and only read afterwards.

use super::hash_join::JoinTable;
use super::{Operator, Piece};
use crate::pause::Step;
use crate::run::Run;
use std::sync::Arc;

impl<'p> Operator<'p> {
    /// Goes on with the next piece of the first scan.
    pub fn begin_part(&mut self, piece: Piece) {
        match self {
            Operator::Scan(scan) => scan.begin_part(piece),
            Operator::NestedLoop(join) => join.begin_part(piece),
            Operator::HashJoin(join) => join.begin_part(piece),
            Operator::Filter(filter) => filter.first_input().begin_part(piece),
            Operator::Project(project) => project.first_input().begin_part(piece),
            _ => unreachable!("such inputs are not shared out"),
        }
    }

    /// Builds the tables of hash joins. `false`: memory has been refused.
    pub fn build_tables(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if let Operator::HashJoin(join) = self
            && !join.build_table(run)?
        {
            return Ok(false);
        }
        self.first_input().map_or(Ok(true), |input| input.build_tables(run))
    }

    /// Adds the tables of hash joins.
    pub fn tables(&mut self, tables: &mut Vec<Arc<JoinTable>>) {
        if let Operator::HashJoin(join) = self {
            tables.push(join.table());
        }
        if let Some(input) = self.first_input() {
            input.tables(tables);
        }
    }

    /// Uses tables that were built already, in the same order.
    pub fn use_tables(&mut self, tables: &mut impl Iterator<Item = Arc<JoinTable>>) {
        if let Operator::HashJoin(join) = self {
            join.use_table(tables.next().expect("there is one for each join"));
        }
        if let Some(input) = self.first_input() {
            input.use_tables(tables);
        }
    }
}
