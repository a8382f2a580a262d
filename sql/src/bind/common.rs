//! WITH: common table expressions.
//!
//! 1. A plain expression over stored tables is merged into each block that names it, as a derived table is.
//! 2. Every other one is planned once. Its first scan fills a store of rows, which all other scans read.
//! 3. The non-recursive blocks of a recursive one give the first rows. Its recursive blocks then read the rows of the
//!    previous round.

use super::compare::Derivation;
use super::derived::{column_def, derived_def, derived_names, outside_reads, table_def};
use super::from::{Source, SourceKind};
use super::query::{Block, Bound, BoundSelect, converted};
use super::{Binder, LevelKind};
use crate::ast::{self, QueryBody, SetOp};
use crate::error::{Error, RecursiveError, Result};
use crate::plan::{Derived, Node, OutputColumn};
use crate::planner::{JoinTree, is_read_later, node_rows, tree_sources};
use expr::{Expr, ExprKind};
use std::sync::Arc;
use types::schema::TableDef;
use types::{ColumnType, TypeKind};

/// A block of more tables is materialized.
const REPEATED_TABLES_MAX: usize = 4;

/// A common table expression in scope. Its name is case-sensitive, as names of tables are.
#[derive(Clone, Debug)]
pub(crate) struct CommonTable {
    name: String,
    meaning: Meaning,
}

#[derive(Clone, Debug)]
enum Meaning {
    /// Binding its query failed.
    Wrong(Box<Error>),
    /// It is merged into each block that names it; the names are those of its columns.
    Block(Box<BoundSelect>, Vec<String>),
    Stored {
        def: Arc<TableDef>,
        kind: SourceKind,
        derivations: Vec<Derivation>,
    },
    /// A recursive one whose first block is being bound, at this nesting depth. Its columns are not known yet.
    Unseeded {
        depth: usize,
        /// More blocks follow.
        union: bool,
    },
    /// A recursive one whose recursive blocks are being bound, at this nesting depth.
    Work {
        def: Arc<TableDef>,
        derivations: Vec<Derivation>,
        table: usize,
        depth: usize,
        uses: usize,
    },
}

impl Binder<'_> {
    /// Binds the tables of a WITH clause. The caller removes them from scope.
    pub(super) fn with(&mut self, with: &ast::With<'_>) -> Result<()> {
        let first = self.common_tables.len();
        for table in with.tables {
            if self.common_tables[first..].iter().any(|t| t.name == table.name) {
                return Err(Error::NotUniqueTable(table.name.to_owned()));
            }
            // An error in a table that nobody names is ignored.
            let (on_null_side, mark) = (self.on_null_side, self.common_tables.len());
            let meaning = if with.recursive { self.recursive(table) } else { self.common(table) };
            self.on_null_side = on_null_side;
            self.common_tables.truncate(mark);
            let meaning = meaning.unwrap_or_else(|error| Meaning::Wrong(Box::new(error)));
            self.common_tables.push(CommonTable { name: table.name.to_owned(), meaning });
        }
        Ok(())
    }

    /// Binds WITH clauses inside the recursive table `own` again if one of their tables failed, now that the columns of
    /// `own` are known.
    fn with_again(&mut self, withs: &[&ast::With<'_>], own: usize, work: &Meaning) -> Result<()> {
        if !self.common_tables[own + 1..].iter().any(|table| matches!(table.meaning, Meaning::Wrong(_))) {
            return Ok(());
        }
        self.common_tables[own].meaning = work.clone();
        self.common_tables.truncate(own + 1);
        withs.iter().try_for_each(|with| self.with(with))
    }

    fn common(&mut self, table: &ast::CommonTable<'_>) -> Result<Meaning> {
        let (bound, level) = self.nested(LevelKind::Derived, |b| b.bind_query(table.query))?;
        self.note_resets(&level.resets);
        let names = derived_names(bound.columns().iter().map(|c| c.name.as_str()), table.columns)?;
        match bound {
            Bound::Select(select) if self.is_repeatable(&select) => Ok(Meaning::Block(select, names)),
            mut bound => {
                let key = bound.key();
                super::fraction_digits::filled_columns(&mut bound);
                let block = self.finish(bound)?;
                Ok(self.shared(table.name, names, block, key, None))
            }
        }
    }

    /// May the block be merged into several outer blocks?
    fn is_repeatable(&self, select: &BoundSelect) -> bool {
        let has_subquery = |expr: &Expr| expr.any(&|e| matches!(e.kind, ExprKind::Subquery(_)));
        let mut sources = Vec::new();
        if let Some(tree) = &select.tree {
            tree_sources(tree, &mut sources);
            let mut conditions = Vec::new();
            tree.conditions(&mut conditions);
            if conditions.into_iter().any(has_subquery) {
                return false;
            }
        }
        if sources.len() > REPEATED_TABLES_MAX {
            return false;
        }
        let are_stored = sources.iter().all(|&s| matches!(self.sources[s].kind, SourceKind::Table));
        are_stored && !select.filter.iter().any(has_subquery) && self.is_mergeable(select)
    }

    /// A common table expression that is materialized in a row store.
    fn shared(&mut self, name: &str, names: Vec<String>, block: Block, key: Option<Vec<usize>>, table: Option<usize>) -> Meaning {
        let table = table.unwrap_or_else(|| self.new_table());
        let def = derived_def(name, &names, &block);
        let reads = outside_reads(&block.node);
        if !reads.is_empty() {
            self.note_resets(&[table]);
        }
        let rows = node_rows(&block.node);
        let columns = block.columns.len();
        self.stores[table] = Some(Arc::new(block.node));
        let plan =
            Derived { input: None, columns, lateral: false, shared: Some(table), reads: reads.clone(), resets: Vec::new() };
        Meaning::Stored { def, kind: SourceKind::Derived { plan, rows, reads, key }, derivations: block.derivations }
    }

    fn new_table(&mut self) -> usize {
        self.stores.push(None);
        self.stores.len() - 1
    }

    /// A store that depends on outer blocks is emptied when the innermost of these runs again.
    fn note_resets(&mut self, tables: &[usize]) {
        if let Some(level) =
            self.levels.iter_mut().rev().find(|level| !matches!(level.kind, LevelKind::Derived | LevelKind::View))
        {
            level.resets.extend(tables);
        }
    }

    /// `seed UNION [ALL] step ...`
    fn recursive(&mut self, table: &ast::CommonTable<'_>) -> Result<Meaning> {
        let mark = self.common_tables.len();
        let union = matches!(within_parentheses(table.query).body, QueryBody::SetOperation { .. });
        let meaning = Meaning::Unseeded { depth: self.levels.len() + 1, union };
        self.common_tables.push(CommonTable { name: table.name.to_owned(), meaning });
        let bound = self.nested(LevelKind::Derived, |b| b.recursive_body(table, mark));
        self.common_tables.truncate(mark);
        let (meaning, level) = bound?;
        self.note_resets(&level.resets);
        match meaning {
            Some(meaning) => Ok(meaning),
            None => self.common(table),
        }
    }

    /// `None`: it is not recursive.
    fn recursive_body(&mut self, table: &ast::CommonTable<'_>, own: usize) -> Result<Option<Meaning>> {
        let query = within_parentheses(table.query);
        let QueryBody::SetOperation { first, rest } = &query.body else {
            // The query may not name itself here; binding it gives the error.
            self.bind_query(table.query)?;
            return Ok(None);
        };
        let around = if std::ptr::eq(query, table.query) { None } else { table.query.with.as_ref() };
        let withs: Vec<&ast::With<'_>> = around.into_iter().chain(&query.with).collect();
        withs.iter().try_for_each(|with| self.with(with))?;
        let mut seeds = vec![self.body(first)?];
        let mut seed_alls = Vec::new();
        let mut steps: Vec<Block> = Vec::new();
        let store = self.new_table();
        let names = derived_names(seeds[0].columns.iter().map(|c| c.name.as_str()), table.columns)?;
        let depth = self.levels.len();
        for operand in *rest {
            let (types, derivations) = self.union_types(&seeds)?;
            let columns = names.iter().zip(types).map(|(name, ty)| column_def(name.clone(), working_type(ty), true));
            let def = table_def(table.name, columns.collect());
            let work = Meaning::Work { def, derivations, table: store, depth, uses: 0 };
            self.with_again(&withs, own, &work)?;
            self.common_tables[own].meaning = work;
            let bound = self.bind_body(&operand.body)?;
            let Meaning::Work { uses, .. } = self.common_tables[own].meaning else { unreachable!("set above") };
            let wrong = |why| Err(Error::Recursive { why, table: table.name.to_owned() });
            let has_union = rest.iter().any(|operand| operand.op == SetOp::Union);
            match (uses, operand.op) {
                (0, SetOp::Union) if steps.is_empty() => {
                    seeds.push(self.finish(bound)?);
                    seed_alls.push(operand.all);
                }
                // INTERSECT takes only the block before it, EXCEPT all blocks before it.
                (0, SetOp::Intersect) if steps.is_empty() => {
                    let left = seeds.pop().expect("there is one at least");
                    let right = self.finish(bound)?;
                    seeds.push(self.operation_of(vec![left, right], false, operand.all)?);
                }
                (0, SetOp::Except) if steps.is_empty() => {
                    let left = self.union(std::mem::take(&mut seeds), &std::mem::take(&mut seed_alls))?;
                    let right = self.finish(bound)?;
                    seeds.push(self.operation_of(vec![left, right], true, operand.all)?);
                }
                (0, SetOp::Union) => return wrong(RecursiveError::SeedBehindStep),
                (_, SetOp::Intersect) if has_union => return wrong(RecursiveError::Operand),
                (_, SetOp::Intersect | SetOp::Except) => return wrong(RecursiveError::NoSeed),
                (1, SetOp::Union) => {
                    if is_other_operation(&operand.body) {
                        return wrong(RecursiveError::Operand);
                    }
                    if matches!(&bound, Bound::Select(select) if select.aggregates()) {
                        return wrong(RecursiveError::Aggregation);
                    }
                    if matches!(&bound, Bound::Select(select) if self.reads_later(select, store)) {
                        return wrong(RecursiveError::JoinOrder);
                    }
                    if !matches!(&bound, Bound::Select(select) if !select.orders()) {
                        let what = "ORDER BY / LIMIT / SELECT DISTINCT in recursive query block of Common Table Expression";
                        return Err(Error::NotSupported(what.to_owned()));
                    }
                    steps.push(self.finish(bound)?);
                }
                (_, SetOp::Union) => return wrong(RecursiveError::SeveralUses),
            }
        }
        if steps.is_empty() {
            let block = self.union(seeds, &seed_alls)?;
            let block = self.finish_slots(block, super::query::Tail::of(query))?;
            return Ok(Some(self.shared(table.name, names, block, None, Some(store))));
        }
        if !query.order_by.is_empty() {
            return Err(Error::NotSupported("ORDER BY over UNION in recursive Common Table Expression".to_owned()));
        }
        let limit = self.limit(query.limit.as_ref())?;
        let distinct = rest.iter().any(|operand| operand.op == SetOp::Union && !operand.all);
        let mut seed = self.union(seeds, &seed_alls)?;
        let types: Vec<ColumnType> = seed.columns.iter().map(|c| working_type(c.ty.clone())).collect();
        let mut nodes = Vec::with_capacity(steps.len());
        for step in steps {
            if step.columns.len() != types.len() {
                return Err(Error::SetColumns);
            }
            // Strings keep their length, because one that is too long for the column is an error.
            nodes.push(converted(step.node, &step.columns, &types.iter().map(unlimited).collect::<Vec<_>>()));
        }
        let columns: Vec<(String, ColumnType)> = names.iter().cloned().zip(types.iter().cloned()).collect();
        let seed_node = converted(seed.node, &seed.columns, &types);
        seed.node = Node::Recursive { table: store, seed: Box::new(seed_node), steps: nodes, distinct, columns, limit };
        seed.columns = names.iter().zip(types).map(|(name, ty)| OutputColumn::new(name.clone(), ty, true)).collect();
        Ok(Some(self.shared(table.name, names, seed, None, Some(store))))
    }

    /// Must the block read another table before the recursive one?
    fn reads_later(&self, select: &BoundSelect, store: usize) -> bool {
        let Some(tree) = &select.tree else { return false };
        let mut sources = Vec::new();
        tree_sources(tree, &mut sources);
        let recursive =
            sources.iter().position(|source| matches!(self.sources[*source].kind, SourceKind::Work(table) if table == store));
        recursive.is_some_and(|place| (select.straight && place > 0) || is_read_later(tree, &select.filter, sources[place]))
    }

    /// Resolves a bare table name in FROM to a common table expression; `None`: there is none of this name.
    pub(super) fn common_table(&mut self, name: &str, alias: Option<&str>) -> Result<Option<JoinTree>> {
        let Some(found) = self.common_tables.iter().rposition(|t| t.name == name) else { return Ok(None) };
        let depth = self.levels.len();
        let alias = alias.unwrap_or(name);
        let wrong = |why| Err(Error::Recursive { why, table: name.to_owned() });
        let source = match &mut self.common_tables[found].meaning {
            Meaning::Wrong(error) => return Err((**error).clone()),
            Meaning::Unseeded { depth: own, .. } if depth != *own => return wrong(RecursiveError::SeveralUses),
            Meaning::Unseeded { union: true, .. } => return wrong(RecursiveError::SeedBehindStep),
            Meaning::Unseeded { .. } => return wrong(RecursiveError::NoSeed),
            Meaning::Work { def, derivations, table, depth: own, uses } => {
                *uses += 1;
                if depth != *own || *uses > 1 {
                    return wrong(RecursiveError::SeveralUses);
                }
                Source::of_query(def.clone(), alias, SourceKind::Work(*table), derivations.clone())
            }
            Meaning::Stored { def, kind, derivations } => Source::of_query(def.clone(), alias, kind.clone(), derivations.clone()),
            Meaning::Block(select, names) => {
                let (select, names) = (select.clone(), names.clone());
                let select = self.repeated(*select);
                return if self.is_mergeable(&select) && self.has_room(&select) {
                    self.merge(select, names, alias).map(Some)
                } else {
                    let constants = super::derived::constants(&select);
                    let block = self.plan_select(select)?;
                    let def = derived_def(alias, &names, &block);
                    let reads = outside_reads(&block.node);
                    let rows = node_rows(&block.node);
                    let (columns, lateral) = (names.len(), !reads.is_empty());
                    let input = Some(Arc::new(block.node));
                    let plan = Derived { input, columns, lateral, shared: None, reads: reads.clone(), resets: Vec::new() };
                    let kind = SourceKind::Derived { plan, rows, reads, key: None };
                    let source = Source { constants, ..Source::of_query(def, alias, kind, block.derivations) };
                    Ok(Some(JoinTree::Table(self.push_source(source)?)))
                };
            }
        };
        Ok(Some(JoinTree::Table(self.push_source(source)?)))
    }

    /// A copy of the block over new sources.
    fn repeated(&mut self, mut select: BoundSelect) -> BoundSelect {
        let Some(tree) = &mut select.tree else { return select };
        let mut old = Vec::new();
        tree_sources(tree, &mut old);
        let first = self.sources.len();
        for &source in &old {
            self.sources.push(self.sources[source].clone());
        }
        let moved = |source: usize| old.iter().position(|&s| s == source).map_or(source, |n| first + n);
        tree.map_sources(&moved);
        select.filter.iter_mut().chain(&mut select.project).for_each(|expr| expr.map_sources(&moved));
        select
    }
}

/// The innermost query of parentheses that contain nothing else.
fn within_parentheses<'q, 'a>(query: &'q ast::Query<'a>) -> &'q ast::Query<'a> {
    match &query.body {
        QueryBody::Query(inner) if query.order_by.is_empty() && query.limit.is_none() && query.locking.is_empty() => inner,
        _ => query,
    }
}

/// Is it an INTERSECT or EXCEPT in parentheses?
fn is_other_operation(body: &QueryBody<'_>) -> bool {
    match body {
        QueryBody::Query(query) => is_other_operation(&query.body),
        QueryBody::SetOperation { rest, .. } => rest.iter().any(|operand| operand.op != SetOp::Union),
        _ => false,
    }
}

/// A string type without a length limit; other types unchanged.
fn unlimited(ty: &ColumnType) -> ColumnType {
    match ty.kind {
        TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Binary { .. } | TypeKind::VarBinary { .. } => {
            expr::typing::string(16_383, ty.collation)
        }
        _ => ty.clone(),
    }
}

/// The type of a column of a recursive table: the seed's type, nullable. Integers may have more digits than the seed's.
fn working_type(ty: ColumnType) -> ColumnType {
    match ty.kind {
        TypeKind::Null => expr::typing::string(0, types::CollationId::BINARY),
        _ => ColumnType { display_width: None, ..ty },
    }
}
