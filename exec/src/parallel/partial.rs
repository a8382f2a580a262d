//! The operator of one worker over the parts that it takes, and the merging of all workers' outcomes.

use crate::operator::{AggregateOperator, Builder, Gathered, JoinTable, Operator, Piece, Runs, Sort};
use crate::pause::Step;
use crate::run::Run;
use crate::shape::{Shape, Takes};
use crate::spill::row_copy::row_sources;
use sql::plan::{Access, Node};
use std::sync::Arc;
use table::Table;

pub(super) enum Partial<'p> {
    Groups(Box<AggregateOperator<'p>>),
    /// Rows in the order of a sort, or in that of the input.
    Sorted(Box<Sort<'p>>),
}

impl<'p> Partial<'p> {
    pub fn new(shape: &Shape<'p>, tables: &'p [Option<Arc<Table>>], run: &Run<'p>) -> Self {
        let builder = Builder {
            tables,
            lock: None,
            locks: &[],
            is_limited: false,
            exclusive: None,
            keeps_order: true,
            measures: None,
            sharing: None,
            gathers: false,
        };
        let input = builder.build(shape.input);
        match shape.takes {
            Takes::Groups { keys, aggregates } => {
                let sources = row_sources(shape.input);
                Self::Groups(Box::new(AggregateOperator::of_parts(input, sources, keys, aggregates, run)))
            }
            Takes::Sorted { keys, limit } => {
                let of_range = matches!(shape.input, Node::Scan(scan) if matches!(scan.access, Access::Ranges { .. }));
                Self::Sorted(Box::new(Sort::new(input, of_range, keys, limit)))
            }
            Takes::Rows => Self::Sorted(Box::new(Sort::of_rows(input, row_sources(shape.input)))),
        }
    }

    fn input(&mut self) -> &mut Operator<'p> {
        match self {
            Self::Groups(operator) => operator.first_input(),
            Self::Sorted(operator) => operator.first_input(),
        }
    }

    /// Builds the tables of hash joins, for all workers. `false`: memory has been refused.
    pub fn build_tables(&mut self, run: &mut Run<'p>) -> Step<bool> {
        self.input().build_tables(run)
    }

    pub fn tables(&mut self) -> Vec<Arc<JoinTable>> {
        let mut tables = Vec::new();
        self.input().tables(&mut tables);
        tables
    }

    /// Uses the tables that the owner has built.
    pub fn use_tables(&mut self, tables: &[Arc<JoinTable>]) {
        self.input().use_tables(&mut tables.iter().cloned());
    }

    pub fn begin_part(&mut self, part: usize, piece: Piece) {
        match self {
            Self::Groups(operator) => operator.begin_part(part, piece),
            Self::Sorted(operator) => operator.begin_part(part, piece),
        }
    }

    /// Reads the part to its end. `false`: it cannot be done in parts, since memory has been refused.
    pub fn absorb_part(&mut self, run: &mut Run<'p>) -> Step<bool> {
        match self {
            Self::Groups(operator) => operator.absorb_part(run),
            Self::Sorted(operator) => operator.absorb_part(run),
        }
    }

    /// What was gathered, and the memory that is charged for it.
    pub fn into_gathered(self) -> (Gathered, usize) {
        match self {
            Self::Groups(operator) => {
                let (groups, charged) = operator.into_groups();
                (Gathered::Groups(groups), charged)
            }
            Self::Sorted(operator) => {
                let (runs, charged) = operator.into_runs();
                (Gathered::Runs(runs), charged)
            }
        }
    }

    /// Merges what all have gathered, of which the first is charged for already: what its operator goes on with, and the memory that is charged
    /// for it. `None`: memory has been refused. The operator is a new one.
    pub fn merge(self, run: &mut Run<'p>, all: Vec<Gathered>, charged: usize) -> Step<Option<(Gathered, usize)>> {
        match self {
            Self::Groups(mut operator) => {
                run.release(charged);
                let groups = all.into_iter().filter_map(|gathered| match gathered {
                    Gathered::Groups(groups) => Some(groups),
                    Gathered::Runs(_) => None,
                });
                if !operator.adopt(run, groups.collect())? {
                    return Ok(None);
                }
                let (groups, charged) = operator.into_groups();
                Ok(Some((Gathered::Groups(groups), charged)))
            }
            Self::Sorted(_) => {
                let mut merged = Runs { runs: Vec::new(), rows: 0 };
                for gathered in all {
                    if let Gathered::Runs(Runs { runs, rows }) = gathered {
                        merged.runs.extend(runs);
                        merged.rows += rows;
                    }
                }
                let bytes: usize = merged.runs.iter().map(|run| run.memory_bytes()).sum();
                let more = bytes.saturating_sub(charged);
                let granted = run.grant(charged, more);
                Ok(granted.then_some((Gathered::Runs(merged), charged + more)))
            }
        }
    }
}
