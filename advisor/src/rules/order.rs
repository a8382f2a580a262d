//! Rows that are sorted or skipped for the few that are returned.

use super::index::{self, fits};
use super::{COUNT_MIN, EXAMINED_MIN};
use crate::finding::{Finding, Kind};
use crate::shape::{Shape, Test, Verb, With};
use crate::workload::{Statement, Workload};

/// Rows of a LIMIT that asks for the first few.
const FEW_ROWS: u64 = 1000;
/// An execution must read this many times the rows that it returns.
const WASTE_MIN: f64 = 20.0;
/// Rows that a deep OFFSET skips.
const OFFSET_MIN: u64 = 1000;

pub fn order_without_index(workload: &Workload<'_>, of: &Statement, shape: &Shape<'_>) -> Option<Finding> {
    let (Some(order), Some((Some(count), Some(_)))) = (&shape.order, shape.limit) else { return None };
    let is_plain =
        shape.verb == Verb::Select && !shape.aggregates && !shape.groups && !shape.distinct && shape.sources.len() == 1;
    if !is_plain || order.is_empty() || count > FEW_ROWS || of.count < COUNT_MIN {
        return None;
    }
    if of.examined_each() < EXAMINED_MIN || of.examined_each() < WASTE_MIN * of.useful_each() || !sorts(of) {
        return None;
    }
    let def = shape.sources[0].def;
    let descending = order[0].1;
    // With other conditions an index in this order may read even more rows.
    let is_simple = shape.tests.iter().all(|test| matches!(test, Test::Equal(_, with) if !matches!(with, With::Column(_))));
    if !is_simple || order.iter().any(|(_, other)| *other != descending) {
        return None;
    }
    let mut columns = shape.equal_to_constants(0);
    columns.extend(order.iter().map(|(column, _)| column.column).filter(|column| !columns.contains(column)).collect::<Vec<_>>());
    let serves = index::usable(def).any(|(_, index)| {
        index.columns.len() >= columns.len()
            && index.columns.iter().zip(&columns).all(|(part, column)| part.column == *column && part.prefix.is_none())
    });
    if columns.len() > index::COLUMNS_MAX || columns.iter().any(|column| !fits(&def.columns[*column])) || serves {
        return None;
    }
    let evidence = format!(
        "{} read {:.0} rows each and sorted them to return the first {:.1}",
        of.executions(),
        of.examined_each(),
        of.useful_each()
    );
    let named = index::names(def, &columns).join(", ");
    let finding = Finding::new(Kind::OrderWithoutIndex, &[&def.database, &def.name, &named]);
    let (parts, price) = (index::parts(def, &columns), index::price(workload, def, &columns));
    let part = 1.0 - (of.useful_each() / of.examined_each()).max(0.01);
    Some(finding.of(of).on(&def.database, &def.name).because(evidence).saves(of, part).at(price).cured_by_index(
        def,
        parts,
        index::size(workload, def, &columns),
    ))
}

fn sorts(of: &Statement) -> bool {
    of.plans.iter().any(|plan| plan.text.lines().any(|line| line.trim_start().starts_with("-> Sort:")))
}

pub fn deep_offset(_: &Workload<'_>, of: &Statement, shape: &Shape<'_>) -> Option<Finding> {
    if of.count < COUNT_MIN || shape.verb != Verb::Select || shape.limit.is_none() {
        return None;
    }
    let deep = of.samples.iter().filter(|sample| {
        let offset = offset_of(&sample.text).unwrap_or(0);
        offset >= OFFSET_MIN && sample.examined >= offset && sample.sent.saturating_mul(10) < sample.examined
    });
    let worst = deep.max_by_key(|sample| sample.examined)?;
    // One deep page is no habit.
    if of.examined_each() < EXAMINED_MIN {
        return None;
    }
    let source = &shape.sources[0];
    let evidence = format!(
        "An execution with OFFSET {} read {} rows to return {}; {} executions read {:.0} rows each",
        offset_of(&worst.text).unwrap_or(0),
        worst.examined,
        worst.sent,
        of.count,
        of.examined_each()
    );
    let finding = Finding::new(Kind::DeepOffset, &[&source.def.database, &of.digest]);
    let order = shape.order.as_ref().and_then(|order| order.first());
    let column = order.map_or("the column of the order", |(column, _)| shape.def(*column).name.as_str());
    let cure = format!(
        "Ask for the rows after the last one of the page before: WHERE {column} > (its value) ORDER BY {column} LIMIT n, without OFFSET"
    );
    let finding = finding.of(of).on(&source.def.database, &source.def.name).because(evidence);
    Some(finding.saves(of, 1.0 - (of.useful_each() / of.examined_each()).max(0.01)).cured_by(cure))
}

/// The offset of a text of an execution.
fn offset_of(text: &str) -> Option<u64> {
    let arena = sql::Arena::default();
    let parsed = sql::parse(&arena, text.as_bytes(), &types::SqlMode::DEFAULT).ok()?;
    match parsed.statement {
        sql::ast::Statement::Query(query) => match query.limit?.offset? {
            sql::ast::Expr::Literal(sql::ast::Literal::Int(offset)) => Some(offset),
            _ => None,
        },
        _ => None,
    }
}
