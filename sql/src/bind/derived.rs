//! Derived tables: subqueries in FROM.
//!
//! 1. A plain one (no grouping, DISTINCT, LIMIT, window functions ...) is merged into the outer block: its tables join
//!    the others, its WHERE joins their predicates, and its columns stand for its select expressions.
//! 2. Every other one is materialized: it runs once and its rows are kept.
//! 3. One that reads an outer row (LATERAL, or inside a correlated subquery) runs again when that row changes.

use super::from::{Source, SourceKind};
use super::query::{Block, Bound, BoundSelect};
use super::{Binder, Changed, Level, LevelKind};
use crate::ast::Query;
use crate::error::{DefinitionError, Error, Result};
use crate::plan::{Access, Derived, Node, OutputColumn};
use crate::planner::{JOINED_TABLES_MAX, JoinTree, node_rows, tree_sources};
use expr::is_volatile;
use expr::typing;
use expr::{Expr, ExprKind};
use std::sync::Arc;
use types::schema::{ColumnDef, TableDef, TableId};
use types::{ColumnType, TypeKind};

/// A block of more tables is materialized.
const MERGED_TABLES_MAX: usize = 20;
/// So is a block with a select expression of more nodes, because merging copies the expression to each place that names
/// it.
const MERGED_SIZE_MAX: usize = 64;

/// The number of nodes of an expression.
fn size(expr: &Expr) -> usize {
    1 + expr.parts().into_iter().map(size).sum::<usize>()
}

impl Binder<'_> {
    /// `(query) AS alias (columns)` in FROM.
    pub(super) fn derived(&mut self, query: &Query<'_>, alias: &str, columns: &[&str], lateral: bool) -> Result<JoinTree> {
        let kind = if lateral { LevelKind::Lateral } else { LevelKind::Derived };
        let on_null_side = std::mem::replace(&mut self.on_null_side, false);
        let first = self.subqueries.len();
        let (bound, level) = self.nested(kind, |b| b.bind_query(query))?;
        self.on_null_side = on_null_side;
        let names = derived_names(bound.columns().iter().map(|c| c.name.as_str()), columns)?;
        match bound {
            // Subqueries of a derived table read the changed table before the change.
            Bound::Select(select) if self.is_mergeable(&select) && self.has_room(&select) && !self.reads_changed(first) => {
                self.merge(*select, names, alias)
            }
            bound => {
                let is_alone = level.args.is_empty();
                let tree = self.kept(bound, level, names, alias)?;
                if is_alone {
                    self.read_before.push(first..self.subqueries.len());
                }
                Ok(tree)
            }
        }
    }

    /// Registers a query that is materialized.
    pub(super) fn kept(&mut self, mut bound: Bound, level: Level, names: Vec<String>, alias: &str) -> Result<JoinTree> {
        super::fraction_digits::filled_columns(&mut bound);
        if let Bound::Select(select) = &mut bound {
            self.take_unknown_as_text(&mut select.project);
        }
        let constants = if let Bound::Select(select) = &bound { constants(select) } else { Vec::new() };
        let key = bound.key();
        let inside = super::depend::Inside::of(&bound);
        let pushable = self.pushable(&bound).filter(|_| level.resets.is_empty());
        let block = self.finish(bound)?;
        let def = derived_def(alias, &names, &block);
        let derivations = block.derivations.clone();
        let kind = stored(block, level.resets, key);
        Ok(JoinTree::Table(self.push_source(Source {
            pushable,
            constants,
            inside,
            ..Source::of_query(def, alias, kind, derivations)
        })?))
    }

    /// A `?` in the select list is a string until its value is known.
    pub(super) fn take_unknown_as_text(&self, columns: &mut [Expr]) {
        for column in columns {
            let ExprKind::Param(index) = column.kind else { continue };
            if column.ty.kind == TypeKind::Null && self.context.param_type(index).is_none() {
                column.ty = typing::string(0, self.literal_collation());
            }
        }
    }

    /// May the block be merged into the outer block?
    pub(super) fn is_mergeable(&self, select: &BoundSelect) -> bool {
        let has_subquery = |expr: &Expr| expr.any(&|e| matches!(e.kind, ExprKind::Subquery(_)));
        // As in MySQL, a query is not merged in a statement that assigns user variables.
        let is_free = self.assigned.is_empty() && !select.project.iter().any(has_subquery);
        is_free && self.is_mergeable_to_change(select)
    }

    /// Would the join of the outer block still have no more tables than a join may have?
    pub(super) fn has_room(&self, select: &BoundSelect) -> bool {
        let more = select.tree.as_ref().map_or(0, JoinTree::tables);
        // The derived table itself is counted already.
        self.scope.tables + more <= JOINED_TABLES_MAX + 1
    }

    /// May the view be merged as the target of a change? Its select list may have subqueries.
    pub(super) fn is_mergeable_to_change(&self, select: &BoundSelect) -> bool {
        let is_plain = |expr: &Expr| !is_volatile(expr) && !expr.any(&|e| matches!(e.kind, ExprKind::AssignVariable { .. }));
        // In a NULL-extended row plain columns are NULL; other expressions might not be.
        let own = |of: usize| {
            let mut sources = Vec::new();
            select.tree.iter().for_each(|tree| tree_sources(tree, &mut sources));
            sources.contains(&of)
        };
        let is_null_in_null_row =
            |expr: &Expr| !self.on_null_side || matches!(expr.kind, ExprKind::Column { source, .. } if own(source));
        // A derived table reads the changed table before the change.
        let reads_changed = |tree: &JoinTree| self.changed_table(tree).is_some();
        self.context.switches().derived_merge
            && select.is_plain()
            && !select.tree.as_ref().is_some_and(reads_changed)
            && select.tree.as_ref().is_some_and(|tree| tree.tables() <= MERGED_TABLES_MAX)
            && select.project.iter().all(|expr| is_plain(expr) && is_null_in_null_row(expr) && size(expr) <= MERGED_SIZE_MAX)
    }

    /// A table of the tree that the statement changes and must therefore not read.
    pub(super) fn changed_table(&self, tree: &JoinTree) -> Option<&Changed> {
        let mut sources = Vec::new();
        tree_sources(tree, &mut sources);
        sources.iter().find_map(|&s| self.changed_source(&self.sources[s]))
    }

    /// The changed table that a source stands for.
    pub(super) fn changed_source(&self, source: &Source) -> Option<&Changed> {
        self.changed.iter().find(|c| c.table == source.table.id && c.read.refuses(&source.alias))
    }

    pub(super) fn merge(&mut self, select: BoundSelect, names: Vec<String>, alias: &str) -> Result<JoinTree> {
        let columns = names.into_iter().zip(&select.project).map(|(name, expr)| column_def(name, expr.ty.clone(), expr.nullable));
        let def = table_def(alias, columns.collect());
        let tree = select.tree.expect("a plain block has tables");
        self.scope.tables = (self.scope.tables + tree.tables()).saturating_sub(1);
        let mut leaves = Vec::new();
        tree_sources(&tree, &mut leaves);
        let source = Source::of_query(def, alias, SourceKind::Merged(select.project), select.derivations);
        self.push_source(Source { leaves, ..source })?;
        // Nested merged blocks do not deepen the tree.
        Ok(match tree {
            JoinTree::Inner { parts, mut on, straight: false } => {
                on.extend(select.filter);
                JoinTree::Inner { parts, on, straight: false }
            }
            tree => JoinTree::Inner { parts: vec![tree], on: select.filter, straight: false },
        })
    }
}

/// The columns of a query that read no table, if MySQL would merge the query into the outer block. There they depend on
/// every group key, even if an outer join makes them NULL.
pub(super) fn constants(select: &BoundSelect) -> Vec<usize> {
    if !select.is_plain() {
        return Vec::new();
    }
    let is_read = |expr: &Expr| {
        use ExprKind::{Column, ColumnOrdinal, Slot, Subquery};
        matches!(expr.kind, Column { .. } | ColumnOrdinal { .. } | Slot(_) | Subquery(_))
    };
    let columns = select.project[..select.visible].iter().enumerate();
    columns.filter(|(_, expr)| !expr.any(&is_read)).map(|(column, _)| column).collect()
}

/// The kind of a materialized source.
pub(super) fn stored(block: Block, resets: Vec<usize>, key: Option<Vec<usize>>) -> SourceKind {
    let reads = outside_reads(&block.node);
    let rows = node_rows(&block.node);
    let plan = Derived {
        columns: block.columns.len(),
        input: Some(Arc::new(block.node)),
        lateral: !reads.is_empty(),
        shared: None,
        reads: reads.clone(),
        resets,
    };
    SourceKind::Derived { plan, rows, reads, key }
}

/// The columns of other sources that a tree reads.
pub(super) fn outside_reads(node: &Node) -> Vec<(usize, usize)> {
    let mut inside = Vec::new();
    let mut reads = Vec::new();
    node.walk_scans(&mut |scan| inside.push(scan.source));
    node.walk_scans(&mut |scan| {
        if let Access::Derived(Derived { shared: Some(_), reads: of_store, .. }) = &scan.access {
            reads.extend(of_store.iter().filter(|(source, _)| !inside.contains(source)));
        }
    });
    node.walk_exprs(&mut |expr| note_reads(expr, &inside, &mut reads));
    reads
}

fn note_reads(expr: &Expr, inside: &[usize], reads: &mut Vec<(usize, usize)>) {
    if let ExprKind::Column { source, column } | ExprKind::ColumnOrdinal { source, column } = expr.kind
        && !inside.contains(&source)
        && !reads.contains(&(source, column))
    {
        reads.push((source, column));
    }
    expr.parts().into_iter().for_each(|part| note_reads(part, inside, reads));
}

/// The column names: the names after the alias if given, else the query's own. Errors 1353 and 1060.
pub(super) fn derived_names<'n>(own: impl ExactSizeIterator<Item = &'n str>, given: &[&str]) -> Result<Vec<String>> {
    if !given.is_empty() && given.len() != own.len() {
        return Err(Error::DerivedColumns);
    }
    if own.len() > crate::parser::COLUMNS_MAX {
        return Err(Error::TooManyColumns);
    }
    let names: Vec<String> =
        if given.is_empty() { own.map(str::to_owned).collect() } else { given.iter().map(|n| (*n).to_owned()).collect() };
    for (n, name) in names.iter().enumerate() {
        if names[..n].iter().any(|other| other.eq_ignore_ascii_case(name)) {
            return Err(DefinitionError::DuplicateColumn(name.clone()).into());
        }
    }
    Ok(names)
}

pub(super) fn derived_def(alias: &str, names: &[String], block: &Block) -> Arc<TableDef> {
    let kept = |c: &OutputColumn| Some(Binder::kept_in_memory(c)).filter(ColumnType::is_integer).unwrap_or_else(|| c.ty.clone());
    let columns = names.iter().zip(&block.columns).map(|(name, c)| column_def(name.clone(), kept(c), c.nullable));
    table_def(alias, columns.collect())
}

pub(super) fn column_def(name: String, ty: ColumnType, nullable: bool) -> ColumnDef {
    ColumnDef::new(name, typing::stored(&ty), nullable)
}

/// A table definition for a source that is not a table of the schema.
pub(super) fn table_def(name: &str, columns: Vec<ColumnDef>) -> Arc<TableDef> {
    Arc::new(TableDef { is_virtual: true, ..TableDef::new(TableId(0), "", name, columns) })
}
