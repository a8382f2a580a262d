//! The form of a statement: its tables, the tests in its conditions, the columns that it reads, its order and limit.
//!
//! 1. Tables of FROM are looked up in the schema.
//! 2. The conditions of WHERE and ON are split at AND; each part becomes a [`Test`].
//! 3. Every column of the statement is found, so that the columns a table must give are known.
//!
//! H1: a form exists only for a statement of one block over stored tables, all of whose names are known: without subqueries, derived
//!     tables, views, common table expressions, set operations and window functions. Other statements have none, and rules about
//!     forms are silent about them.

use sql::ast::{
    AggregateCall, BinaryOp, ColumnName, Delete, Expr, Insert, InsertSource, JoinCondition, JoinKind, Literal, OrderItem, Query,
    QueryBody, Select, SelectItem, Statement, TableRef, Update,
};
use std::collections::BTreeSet;
use types::schema::{Schema, TableDef};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Select,
    Update,
    Delete,
    /// INSERT ... VALUES; the number of rows.
    Insert(usize),
}

/// A column of one of the statement's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    pub source: usize,
    pub column: usize,
}

/// What a column is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    Number,
    Text,
    /// A parameter, or a constant of another type.
    Constant,
    Column(Column),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    Equal(Column, With),
    /// IN with constants.
    In(Column),
    /// A bound of a range, BETWEEN, or LIKE with a fixed beginning.
    Range(Column, With),
    /// A comparison of a function with a constant: the function's name in capitals, and its text.
    Function {
        of: Column,
        name: String,
        text: String,
    },
    /// Anything else.
    Other,
}

/// A table of FROM.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    pub alias: &'a str,
    pub def: &'a TableDef,
    /// It is on the optional side of an outer join, whose condition consists of these tests (places in `Shape::tests`).
    pub optional: bool,
}

#[derive(Clone, Debug)]
pub struct Shape<'a> {
    pub verb: Verb,
    pub sources: Vec<Source<'a>>,
    pub tests: Vec<Test>,
    /// For each test, the source in whose ON clause it is; `None`: in WHERE.
    pub test_of: Vec<Option<usize>>,
    /// The columns that are read outside of ON clauses, and within them.
    pub read: BTreeSet<Column>,
    pub read_in_on: BTreeSet<(usize, Column)>,
    /// The columns of the select list.
    pub selected: BTreeSet<Column>,
    /// ORDER BY, if all of it are columns: descending or not.
    pub order: Option<Vec<(Column, bool)>>,
    /// The count and the offset where they are numbers.
    pub limit: Option<(Option<u64>, Option<u64>)>,
    pub aggregates: bool,
    pub groups: bool,
    pub distinct: bool,
    /// The select list is COUNT(*) alone.
    pub counts: bool,
}

impl<'a> Shape<'a> {
    /// H1. `database`: the current one.
    pub fn of(statement: &Statement<'a>, database: Option<&'a str>, schema: &'a Schema) -> Option<Self> {
        let mut maker = Maker { shape: Shape::empty(), database, schema };
        match statement {
            Statement::Query(query) => maker.query(query)?,
            Statement::Update(update) => maker.update(update)?,
            Statement::Delete(delete) => maker.delete(delete)?,
            Statement::Insert(insert) => maker.insert(insert)?,
            _ => return None,
        }
        Some(maker.shape)
    }

    fn empty() -> Self {
        Self {
            verb: Verb::Select,
            sources: Vec::new(),
            tests: Vec::new(),
            test_of: Vec::new(),
            read: BTreeSet::new(),
            read_in_on: BTreeSet::new(),
            selected: BTreeSet::new(),
            order: Some(Vec::new()),
            limit: None,
            aggregates: false,
            groups: false,
            distinct: false,
            counts: false,
        }
    }

    /// The columns of a source that are compared with a constant for equality, each once.
    pub fn equal_to_constants(&self, source: usize) -> Vec<usize> {
        let test = |test: &Test| match test {
            Test::Equal(column, with) if column.source == source && !matches!(with, With::Column(_)) => Some(column.column),
            Test::In(column) if column.source == source => Some(column.column),
            _ => None,
        };
        unique(self.tests.iter().filter_map(test))
    }

    /// The columns of a source that are compared with columns of other sources for equality.
    pub fn equal_to_columns(&self, source: usize) -> Vec<usize> {
        let test = |test: &Test| match test {
            Test::Equal(own, With::Column(other)) if own.source == source && other.source != source => Some(own.column),
            Test::Equal(other, With::Column(own)) if own.source == source && other.source != source => Some(own.column),
            _ => None,
        };
        unique(self.tests.iter().filter_map(test))
    }

    pub fn ranges(&self, source: usize) -> Vec<usize> {
        let test = |test: &Test| match test {
            Test::Range(column, _) if column.source == source => Some(column.column),
            _ => None,
        };
        unique(self.tests.iter().filter_map(test))
    }

    pub fn def(&self, column: Column) -> &'a types::schema::ColumnDef {
        &self.sources[column.source].def.columns[column.column]
    }
}

fn unique(columns: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut all = Vec::new();
    columns.for_each(|column| {
        if !all.contains(&column) {
            all.push(column);
        }
    });
    all
}

struct Maker<'a> {
    shape: Shape<'a>,
    database: Option<&'a str>,
    schema: &'a Schema,
}

/// The columns of an expression; `None`: it has parts that forms do not have (H1).
type Found = Option<()>;

impl<'a> Maker<'a> {
    fn query(&mut self, query: &Query<'a>) -> Found {
        let QueryBody::Select(select) = query.body else { return None };
        if query.with.is_some() || query.into.is_some() {
            return None;
        }
        self.select(select)?;
        self.order(query.order_by)?;
        self.shape.limit = query.limit.map(|limit| {
            let offset = limit.offset.map_or(Some(0), |offset| number(&offset));
            (number(&limit.count), offset)
        });
        Some(())
    }

    fn select(&mut self, select: &Select<'a>) -> Found {
        if select.from.is_empty() || !select.windows.is_empty() || select.with_rollup {
            return None;
        }
        select.from.iter().try_for_each(|table| self.table(table, false))?;
        self.joins(select.from)?;
        for item in select.items {
            self.item(item)?;
        }
        self.condition(select.filter, None)?;
        for item in select.group_by {
            self.aliased(&item.expr, select.items)?;
        }
        if let Some(having) = select.having {
            self.shape.aggregates |= has_aggregate(having);
            self.aliased(having, select.items)?;
        }
        self.shape.groups = !select.group_by.is_empty();
        self.shape.distinct = select.distinct;
        self.shape.counts = matches!(select.items, [SelectItem::Expr { expr: Expr::Aggregate(call), .. }] if is_count(call));
        Some(())
    }

    fn item(&mut self, item: &SelectItem<'a>) -> Found {
        let mut columns = Vec::new();
        match item {
            SelectItem::All => (0..self.shape.sources.len()).for_each(|source| columns.extend(self.all_of(source))),
            SelectItem::TableAll(name) => columns.extend(self.all_of(self.source(name.name)?)),
            SelectItem::Expr { expr, .. } => {
                self.shape.aggregates |= has_aggregate(expr);
                self.columns(expr, &mut columns)?;
            }
        }
        self.shape.selected.extend(columns.iter().copied());
        self.shape.read.extend(columns);
        Some(())
    }

    fn update(&mut self, update: &Update<'a>) -> Found {
        self.shape.verb = Verb::Update;
        if update.with.is_some() || update.tables.len() != 1 {
            return None;
        }
        self.table(&update.tables[0], false)?;
        if self.shape.sources.len() != 1 {
            return None;
        }
        for assignment in update.assignments {
            self.note(&assignment.value)?;
            let column = self.resolve(&assignment.column)?;
            self.shape.read.insert(column);
        }
        self.condition(update.filter, None)?;
        self.order(update.order_by)
    }

    fn delete(&mut self, delete: &Delete<'a>) -> Found {
        self.shape.verb = Verb::Delete;
        if delete.with.is_some() || !delete.targets.is_empty() || delete.from.len() != 1 {
            return None;
        }
        self.table(&delete.from[0], false)?;
        self.condition(delete.filter, None)?;
        self.order(delete.order_by)
    }

    fn insert(&mut self, insert: &Insert<'a>) -> Found {
        let rows = match insert.source {
            InsertSource::Values(rows) => rows.len(),
            InsertSource::Set(_) => 1,
            InsertSource::Query(_) => return None,
        };
        self.shape.verb = Verb::Insert(rows);
        let def = self.schema.table(insert.table.database.or(self.database)?, insert.table.name)?;
        self.shape.sources.push(Source { alias: insert.table.name, def: stored(def)?, optional: false });
        Some(())
    }

    fn table(&mut self, table: &TableRef<'a>, optional: bool) -> Found {
        match table {
            TableRef::Table(named) => {
                let def = self.schema.table(named.name.database.or(self.database)?, named.name.name)?;
                let alias = named.alias.unwrap_or(named.name.name);
                self.shape.sources.push(Source { alias, def: stored(def)?, optional });
                Some(())
            }
            TableRef::List(tables) => tables.iter().try_for_each(|table| self.table(table, optional)),
            TableRef::Join(join) => {
                if join.kind == JoinKind::Right {
                    return None;
                }
                self.table(&join.left, optional)?;
                self.table(&join.right, optional || join.kind == JoinKind::Left)
            }
            TableRef::Derived { .. } | TableRef::JsonTable(_) => None,
        }
    }

    /// The conditions of joins, once all tables are known.
    fn joins(&mut self, tables: &[TableRef<'a>]) -> Found {
        let mut next = 0;
        tables.iter().try_for_each(|table| self.joins_of(table, &mut next))
    }

    fn joins_of(&mut self, table: &TableRef<'a>, next: &mut usize) -> Found {
        match table {
            TableRef::Table(_) => *next += 1,
            TableRef::List(tables) => tables.iter().try_for_each(|table| self.joins_of(table, next))?,
            TableRef::Join(join) => {
                self.joins_of(&join.left, next)?;
                let right = *next;
                self.joins_of(&join.right, next)?;
                let of = (*next == right + 1).then_some(right);
                match join.condition {
                    JoinCondition::None => {}
                    JoinCondition::On(condition) => self.condition(Some(condition), Some(of?))?,
                    JoinCondition::Using(_) | JoinCondition::Natural => return None,
                }
            }
            TableRef::Derived { .. } | TableRef::JsonTable(_) => return None,
        }
        Some(())
    }

    /// Splits a condition. `on`: the source whose ON clause it is.
    fn condition(&mut self, condition: Option<&Expr<'a>>, on: Option<usize>) -> Found {
        let Some(condition) = condition else { return Some(()) };
        if let Expr::And(parts) = condition {
            return parts.iter().try_for_each(|part| self.condition(Some(part), on));
        }
        let mut columns = Vec::new();
        self.columns(condition, &mut columns)?;
        match on {
            Some(source) => self.shape.read_in_on.extend(columns.into_iter().map(|column| (source, column))),
            None => self.shape.read.extend(columns),
        }
        let test = self.test(condition);
        self.shape.tests.push(test);
        self.shape.test_of.push(on);
        Some(())
    }

    fn test(&self, condition: &Expr<'a>) -> Test {
        match condition {
            Expr::Binary { op, left, right } => {
                let is_equal = matches!(op, BinaryOp::Equal | BinaryOp::NullSafeEqual);
                let is_range =
                    matches!(op, BinaryOp::Less | BinaryOp::LessOrEqual | BinaryOp::Greater | BinaryOp::GreaterOrEqual);
                if !is_equal && !is_range {
                    return Test::Other;
                }
                for (own, other) in [(left, right), (right, left)] {
                    let Some(with) = self.with(other) else { continue };
                    if let Some(column) = self.column(own) {
                        return if is_equal { Test::Equal(column, with) } else { Test::Range(column, with) };
                    }
                    if let (Some((of, name)), false) = (self.function(own), matches!(with, With::Column(_))) {
                        let mut text = own.to_string();
                        if let Expr::Call(call) = own {
                            text = call_text(call.name.name, &self.shape.def(of).name);
                        }
                        return Test::Function { of, name, text };
                    }
                }
                Test::Other
            }
            Expr::In { arg, list, negated: false } => match self.column(arg) {
                Some(column) if list.iter().all(|value| constant(value).is_some()) => Test::In(column),
                _ => Test::Other,
            },
            Expr::Between(between) if !between.negated => {
                match (self.column(&between.arg), constant(&between.low), constant(&between.high)) {
                    (Some(column), Some(low), Some(_)) => Test::Range(column, low),
                    _ => Test::Other,
                }
            }
            Expr::Like(like) if !like.negated => match (self.column(&like.arg), &like.pattern) {
                (Some(column), Expr::Literal(Literal::String(text)))
                    if text.bytes.first().is_some_and(|first| !b"%_".contains(first)) =>
                {
                    Test::Range(column, With::Text)
                }
                _ => Test::Other,
            },
            _ => Test::Other,
        }
    }

    fn with(&self, other: &Expr<'a>) -> Option<With> {
        self.column(other).map(With::Column).or_else(|| constant(other))
    }

    fn column(&self, expr: &Expr<'a>) -> Option<Column> {
        match expr {
            Expr::Column(name) => self.resolve(name),
            _ => None,
        }
    }

    /// A function of one column and nothing else.
    fn function(&self, expr: &Expr<'a>) -> Option<(Column, String)> {
        let Expr::Call(call) = expr else { return None };
        match call.args {
            [arg] if call.name.database.is_none() => Some((self.column(arg)?, call.name.name.to_uppercase())),
            _ => None,
        }
    }

    fn source(&self, alias: &str) -> Option<usize> {
        self.shape.sources.iter().position(|source| source.alias.eq_ignore_ascii_case(alias))
    }

    fn resolve(&self, name: &ColumnName<'a>) -> Option<Column> {
        if let Some(table) = name.table {
            let source = self.source(table)?;
            return Some(Column { source, column: self.shape.sources[source].def.column_index(name.name)? });
        }
        let all = self.shape.sources.iter().enumerate();
        let mut found = all.filter_map(|(source, of)| Some(Column { source, column: of.def.column_index(name.name)? }));
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    fn all_of(&self, source: usize) -> Vec<Column> {
        let named = self.shape.sources[source].def.named_columns().filter(|(_, column)| !column.invisible);
        named.map(|(column, _)| Column { source, column }).collect()
    }

    fn note(&mut self, expr: &Expr<'a>) -> Found {
        let mut columns = Vec::new();
        self.columns(expr, &mut columns)?;
        self.shape.read.extend(columns);
        Some(())
    }

    /// An expression of GROUP BY or HAVING, which may name an item of the select list.
    fn aliased(&mut self, expr: &Expr<'a>, items: &[SelectItem<'a>]) -> Found {
        if let Expr::Column(ColumnName { table: None, name, .. }) = expr
            && items
                .iter()
                .any(|item| matches!(item, SelectItem::Expr { alias: Some(alias), .. } if alias.eq_ignore_ascii_case(name)))
        {
            return Some(());
        }
        if matches!(expr, Expr::Literal(_)) {
            return Some(());
        }
        self.note(expr)
    }

    fn order(&mut self, items: &[OrderItem<'a>]) -> Found {
        let columns: Option<Vec<_>> =
            items.iter().map(|item| self.column(&item.expr).map(|column| (column, item.descending))).collect();
        match &columns {
            Some(columns) => self.shape.read.extend(columns.iter().map(|(column, _)| *column)),
            // An item of the select list, whose columns are known, or an expression.
            None => {
                for item in items {
                    let mut found = Vec::new();
                    let _ = self.columns(&item.expr, &mut found);
                    self.shape.read.extend(found);
                }
            }
        }
        self.shape.order = columns;
        Some(())
    }

    /// The columns of an expression. `None` for what forms do not have; the height of a tree is bounded by the parser.
    fn columns(&self, expr: &Expr<'a>, found: &mut Vec<Column>) -> Found {
        let mut all = |exprs: &[Expr<'a>]| exprs.iter().try_for_each(|expr| self.columns(expr, found));
        match expr {
            Expr::Literal(_) | Expr::Lifted { .. } | Expr::Param(_) | Expr::UserVariable(_) | Expr::SystemVariable { .. } => {
                Some(())
            }
            Expr::Column(name) => {
                found.push(self.resolve(name)?);
                Some(())
            }
            Expr::Unary { arg, .. }
            | Expr::Not(arg)
            | Expr::IsNull { arg, .. }
            | Expr::IsTruth { arg, .. }
            | Expr::Cast { arg, .. }
            | Expr::ConvertUsing { arg, .. }
            | Expr::Collate { arg, .. }
            | Expr::Extract { arg, .. }
            | Expr::BinaryCast(arg) => self.columns(arg, found),
            Expr::Binary { left, right, .. } => {
                self.columns(left, found)?;
                self.columns(right, found)
            }
            Expr::And(parts) | Expr::Or(parts) | Expr::Row(parts) => all(parts),
            Expr::In { arg, list, .. } => {
                all(list)?;
                self.columns(arg, found)
            }
            Expr::Between(between) => all(&[between.arg, between.low, between.high]),
            Expr::Like(like) => all(&[like.arg, like.pattern]),
            Expr::Regexp { arg, pattern, .. } => all(&[**arg, **pattern]),
            Expr::Case(case) => {
                case.whens.iter().try_for_each(|(when, then)| all(&[*when, *then]))?;
                case.operand.iter().chain(case.otherwise.iter()).try_for_each(|expr| self.columns(expr, found))
            }
            Expr::DateArithmetic(of) => all(&[of.date, of.amount]),
            Expr::Call(call) => all(call.args),
            Expr::UnitCall { args, .. } => all(&args[..]),
            Expr::Trim { what, text, .. } => {
                if let Some(what) = what {
                    self.columns(what, found)?;
                }
                self.columns(text, found)
            }
            Expr::Aggregate(call) => all(call.args),
            Expr::JsonArrow { column, .. } => {
                found.push(self.resolve(column)?);
                Some(())
            }
            Expr::InsertValue(_) | Expr::Default(_) => Some(()),
            _ => None,
        }
    }
}

fn call_text(name: &str, column: &str) -> String {
    format!("{}({})", name.to_uppercase(), crate::finding::quoted(column))
}

fn stored(def: &TableDef) -> Option<&TableDef> {
    (!def.is_virtual && def.view.is_none()).then_some(def)
}

fn number(expr: &Expr<'_>) -> Option<u64> {
    match expr {
        Expr::Literal(Literal::Int(number)) => Some(*number),
        _ => None,
    }
}

fn constant(expr: &Expr<'_>) -> Option<With> {
    match expr {
        Expr::Literal(Literal::Int(_) | Literal::Decimal(_) | Literal::Double(_)) => Some(With::Number),
        Expr::Literal(Literal::String(_)) => Some(With::Text),
        Expr::Unary { arg, .. } => constant(arg),
        Expr::Literal(_) | Expr::Param(_) | Expr::UserVariable(_) => Some(With::Constant),
        Expr::Call(call) if call.args.is_empty() => Some(With::Constant),
        Expr::DateArithmetic(of) => constant(&of.date).and(constant(&of.amount)).map(|_| With::Constant),
        _ => None,
    }
}

fn is_count(call: &AggregateCall<'_>) -> bool {
    call.function.name().eq_ignore_ascii_case("count") && call.args.is_empty() && !call.distinct
}

/// Does an aggregate function stand in it, at the places where applications write one?
fn has_aggregate(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Aggregate(_) => true,
        Expr::Unary { arg, .. } | Expr::Not(arg) | Expr::Cast { arg, .. } => has_aggregate(arg),
        Expr::Binary { left, right, .. } => has_aggregate(left) || has_aggregate(right),
        Expr::Call(call) => call.args.iter().any(has_aggregate),
        Expr::And(parts) | Expr::Or(parts) => parts.iter().any(has_aggregate),
        Expr::Case(case) => {
            let parts = case.whens.iter().flat_map(|(when, then)| [when, then]);
            parts.chain(&case.operand).chain(&case.otherwise).any(has_aggregate)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
