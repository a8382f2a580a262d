//! Prints the query of a view as MySQL does: qualified names in backticks, joins in brackets, `*` expanded.
//!
//! The printed text parses, and then prints the same again. `row_expr` prints expressions; this module prints the parts
//! that only queries have. The parser bounds the depth.

use super::{Place, Text};
use crate::ast::{
    self, Expr, FrameBound, Join, JoinCondition, JoinKind, Literal, OrderItem, Query, QueryBody, Select, SelectItem,
};
use crate::ast::{SetOp, TableRef, WindowFunction, WindowSpec};
use crate::bind::{NameNote, address};
use crate::error::{Error, Result, ViewProblem};
use crate::row_expr::Printer;
use std::fmt::Write;
use types::show_create::quoted_name;

/// An entry of a select list, as printed.
struct Item {
    text: String,
    name: String,
    /// The name was written.
    given: bool,
}

impl Item {
    /// The form for GROUP BY and ORDER BY, where an integer would be a position.
    fn as_key(&self) -> &str {
        if self.text.parse::<u64>().is_ok() { "''" } else { &self.text }
    }
}

impl Text<'_> {
    /// A column's name in a view.
    pub fn column(&self, name: &ast::ColumnName<'_>, out: &mut String) {
        match self.notes.and_then(|notes| notes.names.get(&address(name.name))) {
            Some(NameNote::Column(printed)) => return out.push_str(printed),
            Some(NameNote::Alias) => return out.push_str(&quoted_name(name.name)),
            None => {}
        }
        if let Some(database) = name.database.filter(|database| Some(*database) != self.omitted) {
            out.push_str(&quoted_name(database));
            out.push('.');
        }
        if let Some(table) = name.table {
            out.push_str(&quoted_name(table));
            out.push('.');
        }
        out.push_str(&quoted_name(name.name));
    }
}

impl Printer<'_> {
    fn puts(&mut self, names: &[&str]) {
        for (n, name) in names.iter().enumerate() {
            self.put(if n > 0 { "," } else { "" });
            self.put(&quoted_name(name));
        }
    }

    /// Prints an expression that only queries have; `false`: it is another one.
    pub fn view_expr(&mut self, expr: &Expr<'_>) -> Result<bool> {
        match expr {
            Expr::UserVariable(_)
            | Expr::SystemVariable { .. }
            | Expr::AssignVariable { .. }
            | Expr::Param(_)
            | Expr::Local { .. } => {
                let view = self.view().map_or("", |view| view.name);
                return Err(Error::View { why: ViewProblem::Variable, view: view.to_owned() });
            }
            Expr::Aggregate(call) => self.aggregate(call)?,
            Expr::Window(call) => {
                match call.function {
                    WindowFunction::Aggregate(call) => self.aggregate(call)?,
                    WindowFunction::Named { name, args } => {
                        self.put(&name.to_ascii_lowercase());
                        self.put("(");
                        self.list(args)?;
                        self.put(")");
                    }
                }
                self.put(" OVER ");
                match (call.window.name, is_empty(&call.window)) {
                    (Some(name), true) => self.put(&quoted_name(name)),
                    _ => self.window(&call.window)?,
                }
            }
            Expr::Grouping(args) => {
                self.put("grouping(");
                self.list(args)?;
                self.put(")");
            }
            Expr::Row(items) => {
                self.put("(");
                self.list(items)?;
                self.put(")");
            }
            Expr::Subquery(query) => {
                self.put("(");
                self.query(query, Place::Expression)?;
                self.put(")");
            }
            Expr::Exists(query) => self.exists(query)?,
            Expr::InSubquery { arg, query, negated } => self.in_subquery(arg, query, *negated)?,
            Expr::Quantified { op: ast::BinaryOp::Equal, all: false, left, query } => self.in_subquery(left, query, false)?,
            Expr::Quantified { op, all, left, query } => {
                self.expr(left)?;
                write!(self.out, " {} {} (", op.sign(), if *all { "all" } else { "any" }).expect("a String takes everything");
                self.query(query, Place::Expression)?;
                self.put(")");
            }
            // (match `t`.`a`,`t`.`b` against ('x' in boolean mode))
            Expr::Match(call) => {
                self.put("(match ");
                for (n, column) in call.columns.iter().enumerate() {
                    if n > 0 {
                        self.put(",");
                    }
                    self.expr(&Expr::Column(column))?;
                }
                self.put(" against (");
                self.expr(&call.against)?;
                self.put(call.mode.text());
                self.put("))");
            }
            Expr::AtTimeZone { .. } => {
                return Err(Error::NotSupported("this expression in a view".to_owned()));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub fn exists(&mut self, query: &Query<'_>) -> Result<()> {
        self.put("exists(");
        self.query(query, Place::Exists)?;
        self.put(")");
        Ok(())
    }

    pub fn in_subquery(&mut self, arg: &Expr<'_>, query: &Query<'_>, negated: bool) -> Result<()> {
        self.expr(arg)?;
        self.put(if negated { " not in (" } else { " in (" });
        self.query(query, Place::Expression)?;
        self.put(")");
        Ok(())
    }

    fn aggregate(&mut self, call: &ast::AggregateCall<'_>) -> Result<()> {
        let name = call.function.name().to_ascii_lowercase();
        self.put(&name);
        self.put("(");
        if call.distinct {
            self.put("distinct ");
        }
        match call.args {
            [] => self.put("0"),
            args => self.list(args)?,
        }
        if !call.order_by.is_empty() {
            self.put(" order by ");
            for (n, item) in call.order_by.iter().enumerate() {
                self.put(if n > 0 { "," } else { "" });
                self.expr(&item.expr)?;
                self.put(if item.descending { " DESC" } else { " ASC" });
            }
        }
        if name == "group_concat" {
            self.put(" separator ");
            self.text(call.separator.unwrap_or(b","), None);
        }
        self.put(")");
        Ok(())
    }

    /// `(...) `
    fn window(&mut self, spec: &WindowSpec<'_>) -> Result<()> {
        self.put("(");
        if let Some(name) = spec.name {
            self.put(&quoted_name(name));
            self.put(" ");
        }
        if !spec.partition_by.is_empty() {
            self.put("PARTITION BY ");
            self.list(spec.partition_by)?;
            self.put(" ");
        }
        if !spec.order_by.is_empty() {
            self.put("ORDER BY ");
            self.keys(spec.order_by, " desc")?;
            self.put(" ");
        }
        if let Some(frame) = spec.frame {
            self.put(if frame.range { "RANGE BETWEEN " } else { "ROWS BETWEEN " });
            self.frame_bound(&frame.start)?;
            self.put(" AND ");
            self.frame_bound(&frame.end)?;
        }
        self.put(") ");
        Ok(())
    }

    fn frame_bound(&mut self, bound: &FrameBound<'_>) -> Result<()> {
        let (amount, unit, word) = match bound {
            FrameBound::UnboundedPreceding => {
                return {
                    self.put("UNBOUNDED PRECEDING");
                    Ok(())
                };
            }
            FrameBound::UnboundedFollowing => {
                return {
                    self.put("UNBOUNDED FOLLOWING");
                    Ok(())
                };
            }
            FrameBound::CurrentRow => {
                return {
                    self.put("CURRENT ROW");
                    Ok(())
                };
            }
            FrameBound::Preceding(amount, unit) => (amount, unit, " PRECEDING"),
            FrameBound::Following(amount, unit) => (amount, unit, " FOLLOWING"),
        };
        if unit.is_some() {
            self.put("INTERVAL ");
        }
        self.expr(amount)?;
        if let Some(unit) = unit {
            self.put(" ");
            self.put(&unit.name().to_ascii_lowercase());
            self.put(" ");
        }
        self.put(word);
        Ok(())
    }

    fn keys(&mut self, keys: &[OrderItem<'_>], descending: &str) -> Result<()> {
        for (n, item) in keys.iter().enumerate() {
            self.put(if n > 0 { "," } else { "" });
            self.expr(&item.expr)?;
            self.put(if item.descending { descending } else { "" });
        }
        Ok(())
    }

    pub fn query(&mut self, query: &Query<'_>, place: Place) -> Result<()> {
        if query.into.is_some() {
            let view = self.view().map_or("", |view| view.name);
            return Err(Error::View { why: ViewProblem::Into, view: view.to_owned() });
        }
        let Some(with) = &query.with else { return self.behind_with(query, place) };
        let outside = self.common.len();
        let read_before = std::mem::take(&mut self.read);
        let mut tables = Vec::with_capacity(with.tables.len());
        for table in with.tables {
            tables.push(self.aside(|p| p.common_table(table, with.recursive))?);
        }
        let (body, mut read) = self.aside(|p| p.behind_with(query, place))?;
        // Later ones read earlier ones: what is read is known from behind.
        let mut kept = Vec::with_capacity(tables.len());
        for (n, (text, reads)) in tables.into_iter().enumerate().rev() {
            if read.contains(&(outside + n)) {
                read.extend(reads);
                kept.push(text);
            }
        }
        kept.reverse();
        if !kept.is_empty() {
            self.put(if with.recursive { "with recursive " } else { "with " });
            self.put(&kept.join(", "));
            self.put(" ");
        }
        self.put(&body);
        self.common.truncate(outside);
        self.read = read_before;
        self.read.extend(read.into_iter().filter(|place| *place < outside));
        Ok(())
    }

    /// What is printed meanwhile, and the common tables that it names.
    fn aside(&mut self, print: impl FnOnce(&mut Self) -> Result<()>) -> Result<(String, Vec<usize>)> {
        let before = std::mem::take(&mut self.out);
        let printed = print(self);
        let text = std::mem::replace(&mut self.out, before);
        printed.map(|()| (text, std::mem::take(&mut self.read)))
    }

    /// `name (columns) as (query)`; it may be named from then on.
    fn common_table(&mut self, table: &ast::CommonTable<'_>, recursive: bool) -> Result<()> {
        // It names itself only where it is recursive.
        if recursive {
            self.common.push(table.name.to_owned());
        }
        self.put(&quoted_name(table.name));
        if !table.columns.is_empty() {
            self.put(" (");
            self.puts(table.columns);
            self.put(")");
        }
        self.put(" as (");
        self.query(table.query, Place::Table)?;
        self.put(")");
        if !recursive {
            self.common.push(table.name.to_owned());
        }
        Ok(())
    }

    fn behind_with(&mut self, query: &Query<'_>, place: Place) -> Result<()> {
        match &query.body {
            QueryBody::Select(select) => self.select(select, query.order_by, place)?,
            QueryBody::Table(name) => self.whole_table(name, query.order_by, place)?,
            body => {
                self.body(body, place)?;
                self.slot_order(body, query.order_by)?;
            }
        }
        if let Some(limit) = &query.limit {
            self.put(" limit ");
            if let Some(offset) = &limit.offset {
                self.expr(offset)?;
                self.put(",");
            }
            self.expr(&limit.count)?;
        }
        Ok(())
    }

    fn body(&mut self, body: &QueryBody<'_>, place: Place) -> Result<()> {
        match body {
            QueryBody::Select(select) => self.select(select, &[], place),
            QueryBody::Table(name) => self.whole_table(name, &[], place),
            QueryBody::Query(query) => {
                self.put("(");
                self.query(query, place)?;
                self.put(")");
                Ok(())
            }
            QueryBody::SetOperation { first, rest } => {
                self.operand_body(first, place)?;
                for operand in *rest {
                    self.put(match operand.op {
                        SetOp::Union => " union ",
                        SetOp::Except => " except ",
                        SetOp::Intersect => " intersect ",
                    });
                    self.put(if operand.all { "all " } else { "" });
                    self.operand_body(&operand.body, place)?;
                }
                Ok(())
            }
            QueryBody::Values(rows) => {
                self.put("values ");
                for (n, row) in rows.iter().enumerate() {
                    self.put(if n > 0 { "," } else { "" });
                    self.put("row(");
                    self.list(row)?;
                    self.put(")");
                }
                Ok(())
            }
        }
    }

    fn operand_body(&mut self, body: &QueryBody<'_>, place: Place) -> Result<()> {
        if !matches!(body, QueryBody::SetOperation { .. }) {
            return self.body(body, place);
        }
        self.put("(");
        self.body(body, place)?;
        self.put(")");
        Ok(())
    }

    /// ORDER BY of a UNION: names and positions of the first block's columns.
    fn slot_order(&mut self, body: &QueryBody<'_>, order_by: &[OrderItem<'_>]) -> Result<()> {
        for (n, item) in order_by.iter().enumerate() {
            self.put(if n > 0 { "," } else { " order by " });
            match &item.expr {
                Expr::Literal(Literal::Int(position)) => {
                    let name =
                        usize::try_from(*position).ok().and_then(|at| self.first_names(body).into_iter().nth(at.checked_sub(1)?));
                    match name {
                        Some(name) => self.put(&quoted_name(&name)),
                        None => self.expr(&item.expr)?,
                    }
                }
                expr => self.expr(expr)?,
            }
            self.put(if item.descending { " desc" } else { "" });
        }
        Ok(())
    }

    /// The names of the columns of a body.
    fn first_names(&self, body: &QueryBody<'_>) -> Vec<String> {
        match body {
            QueryBody::Select(select) => select.items.iter().flat_map(|item| self.names_of(item)).collect(),
            QueryBody::Query(query) => self.first_names(&query.body),
            QueryBody::SetOperation { first, .. } => self.first_names(first),
            QueryBody::Values(rows) => (0..rows.first().map_or(0, |row| row.len())).map(|n| format!("column_{n}")).collect(),
            QueryBody::Table(name) => self.star(address(name.name)).into_iter().map(|(_, name)| name).collect(),
        }
    }

    fn names_of(&self, item: &SelectItem<'_>) -> Vec<String> {
        match item {
            SelectItem::Expr { expr, alias, text } => vec![crate::bind::column_name(expr, *alias, text)],
            star => self.star(address(star)).into_iter().map(|(_, name)| name).collect(),
        }
    }

    fn star(&self, at: usize) -> Vec<(String, String)> {
        let notes = self.view().and_then(|view| view.notes);
        notes.and_then(|notes| notes.stars.get(&at)).cloned().unwrap_or_default()
    }

    fn whole_table(&mut self, name: &ast::ObjectName<'_>, order_by: &[OrderItem<'_>], place: Place) -> Result<()> {
        let star = self.star(address(name.name)).into_iter();
        let items: Vec<Item> = star.map(|(text, name)| Item { text, name, given: false }).collect();
        self.put("select ");
        self.put_items(&items, place);
        self.put(" from ");
        self.table_name(name);
        self.order(order_by, &items, false)
    }

    fn select(&mut self, select: &Select<'_>, order_by: &[OrderItem<'_>], place: Place) -> Result<()> {
        let mut items: Vec<Item> = Vec::with_capacity(select.items.len());
        for item in select.items {
            match item {
                SelectItem::Expr { expr, alias, text } => {
                    let name = super::item_name(expr, *alias, text, items.len());
                    items.push(Item { text: self.apart(|p| p.expr(expr))?, name, given: alias.is_some() });
                }
                star => {
                    items.extend(self.star(address(star)).into_iter().map(|(text, name)| Item { text, name, given: false }));
                }
            }
        }
        self.put("select ");
        self.put(if select.straight_join { "straight_join " } else { "" });
        self.put(if select.distinct { "distinct " } else { "" });
        match select.items {
            [SelectItem::All | SelectItem::TableAll(_)] if place == Place::Exists => self.put("1"),
            _ => self.put_items(&items, place),
        }
        if !select.from.is_empty() {
            self.put(" from ");
            self.tables(select.from, " join ")?;
        } else if select.filter.is_some() {
            self.put(" from DUAL ");
        }
        if let Some(filter) = select.filter {
            self.put(" where ");
            self.condition(filter, false)?;
        }
        for (n, item) in select.group_by.iter().enumerate() {
            self.put(if n > 0 { "," } else { " group by " });
            self.key(&item.expr, &items, false)?;
        }
        if select.with_rollup {
            self.put(" with rollup");
        }
        if let Some(having) = select.having {
            self.put(" having ");
            self.condition(having, false)?;
        }
        for (n, (name, spec)) in select.windows.iter().enumerate() {
            self.put(if n > 0 { ", " } else { " window " });
            self.put(&quoted_name(name));
            self.put(" AS ");
            self.window(spec)?;
        }
        self.order(order_by, &items, select.distinct || !select.group_by.is_empty())
    }

    /// The output of `print` as a separate string.
    fn apart(&mut self, print: impl FnOnce(&mut Self) -> Result<()>) -> Result<String> {
        let before = std::mem::take(&mut self.out);
        let done = print(self);
        let text = std::mem::replace(&mut self.out, before);
        done.map(|()| text)
    }

    fn put_items(&mut self, items: &[Item], place: Place) {
        for (n, item) in items.iter().enumerate() {
            self.put(if n > 0 { "," } else { "" });
            self.put(&item.text);
            if place == Place::Table || item.given {
                self.put(" AS ");
                self.put(&quoted_name(&item.name));
            }
        }
    }

    /// A key of GROUP BY or ORDER BY. A position is replaced by the item at that position. `by_name`: the name of a
    /// select item is kept.
    fn key(&mut self, expr: &Expr<'_>, items: &[Item], expands: bool) -> Result<()> {
        match expr {
            Expr::Literal(Literal::Int(position)) => {
                let at = usize::try_from(*position).ok().and_then(|at| at.checked_sub(1));
                match at.and_then(|at| items.get(at)) {
                    Some(item) => self.put(item.as_key()),
                    None => self.expr(expr)?,
                }
            }
            Expr::Column(name) if name.table.is_none() => {
                let notes = self.view().and_then(|view| view.notes);
                let is_alias = notes.and_then(|notes| notes.names.get(&address(name.name))) == Some(&NameNote::Alias);
                let item = items.iter().find(|item| item.name.eq_ignore_ascii_case(name.name));
                match item.filter(|item| is_alias && (expands || !item.given)) {
                    Some(item) => self.put(item.as_key()),
                    None => self.expr(expr)?,
                }
            }
            _ => self.expr(expr)?,
        }
        Ok(())
    }

    fn order(&mut self, order_by: &[OrderItem<'_>], items: &[Item], grouped: bool) -> Result<()> {
        for (n, item) in order_by.iter().enumerate() {
            self.put(if n > 0 { "," } else { " order by " });
            self.key(&item.expr, items, !grouped)?;
            self.put(if item.descending { " desc" } else { "" });
        }
        Ok(())
    }

    fn tables(&mut self, tables: &[TableRef<'_>], between: &str) -> Result<()> {
        for (n, table) in tables.iter().enumerate() {
            self.put(if n > 0 { between } else { "" });
            self.table(table)?;
        }
        Ok(())
    }

    /// The name of a table; one of WITH has no database.
    fn table_name(&mut self, name: &ast::ObjectName<'_>) {
        let common = self.common.iter().rposition(|common| common.eq_ignore_ascii_case(name.name));
        let common = common.filter(|_| name.database.is_none());
        self.read.extend(common);
        let (database, omitted) = match self.view() {
            Some(view) => (view.database, view.omitted),
            None => (None, None),
        };
        if common.is_none()
            && let Some(database) = name.database.or(database).filter(|database| Some(*database) != omitted)
        {
            let database = quoted_name(database);
            self.put(&database);
            self.put(".");
        }
        self.put(&quoted_name(name.name));
    }

    fn table(&mut self, table: &TableRef<'_>) -> Result<()> {
        match table {
            TableRef::Table(table) => {
                self.table_name(&table.name);
                if !table.partitions.is_empty() {
                    let names: Vec<String> = table.partitions.iter().map(|name| quoted_name(name)).collect();
                    write!(self.out, " PARTITION ({})", names.join(",")).expect("a String takes everything");
                }
                if let Some(alias) = table.alias {
                    self.put(" ");
                    self.put(&quoted_name(alias));
                }
                for hint in table.hints {
                    write!(self.out, " {} INDEX (", format!("{:?}", hint.kind).to_ascii_uppercase())
                        .expect("a String takes everything");
                    let names = hint
                        .indexes
                        .iter()
                        .map(|name| if name.eq_ignore_ascii_case("primary") { "PRIMARY".to_owned() } else { quoted_name(name) });
                    let names: Vec<String> = names.collect();
                    self.put(&names.join(","));
                    self.put(")");
                }
                Ok(())
            }
            TableRef::Derived { query, alias, columns, lateral } => {
                self.put(if *lateral { "lateral (" } else { "(" });
                self.query(query, Place::Table)?;
                self.put(") ");
                self.put(&quoted_name(alias));
                if !columns.is_empty() {
                    self.put(" (");
                    self.puts(columns);
                    self.put(")");
                }
                Ok(())
            }
            TableRef::JsonTable(table) => self.json_table(table),
            TableRef::Join(join) => self.join(join),
            // Brackets around a join belong to the join.
            TableRef::List([join @ TableRef::Join(_)]) => self.table(join),
            TableRef::List(tables) => {
                self.put("(");
                self.tables(tables, " join ")?;
                self.put(")");
                Ok(())
            }
        }
    }

    /// A RIGHT JOIN is a LEFT JOIN the other way round.
    fn join(&mut self, join: &Join<'_>) -> Result<()> {
        let (left, right) = match join.kind {
            JoinKind::Right => (&join.right, &join.left),
            _ => (&join.left, &join.right),
        };
        self.put("(");
        self.table(left)?;
        self.put(match join.kind {
            JoinKind::Inner => " join ",
            JoinKind::Straight => " straight_join ",
            JoinKind::Left | JoinKind::Right => " left join ",
        });
        self.table(right)?;
        match join.condition {
            JoinCondition::None => {}
            JoinCondition::On(expr) => {
                self.put(" on(");
                self.condition(expr, false)?;
                self.put(")");
            }
            JoinCondition::Using(_) | JoinCondition::Natural => {
                let notes = self.view().and_then(|view| view.notes);
                let pairs = notes.and_then(|notes| notes.joins.get(&address(join))).cloned().unwrap_or_default();
                let equal: Vec<String> = pairs.iter().map(|(left, right)| format!("({left} = {right})")).collect();
                match equal.as_slice() {
                    [] => {}
                    [one] => write!(self.out, " on({one})").expect("a String takes everything"),
                    all => write!(self.out, " on(({}))", all.join(" and ")).expect("a String takes everything"),
                }
            }
        }
        self.put(")");
        Ok(())
    }
}

/// Is it `OVER w` and nothing more?
fn is_empty(spec: &WindowSpec<'_>) -> bool {
    spec.partition_by.is_empty() && spec.order_by.is_empty() && spec.frame.is_none()
}
