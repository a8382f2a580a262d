//! Joins that change nothing about the result.
//!
//! J1: LEFT JOIN with a unique key gives each row of the left side once. If no column of its table is read elsewhere, the result is the
//!     same without it.
//! J2: so is an inner join from a foreign key that is not NULL to the parent's key.

use super::COUNT_MIN;
use crate::finding::{Finding, Kind};
use crate::shape::{Column, Shape, Test, Verb, With};
use crate::workload::{Statement, Workload};
use types::schema::IndexKind;

pub fn needless_join(_: &Workload<'_>, of: &Statement, shape: Option<&Shape<'_>>) -> Option<Finding> {
    let shape = shape.filter(|shape| shape.verb == Verb::Select && shape.sources.len() > 1)?;
    if of.count < COUNT_MIN {
        return None;
    }
    let source = (0..shape.sources.len()).find(|source| is_unread(shape, *source) && changes_nothing(shape, *source))?;
    let (alias, def) = (shape.sources[source].alias, shape.sources[source].def);
    let evidence =
        format!("{} joined {alias} by a key that finds exactly one row or none, and read no column of it", of.executions());
    let finding = Finding::new(Kind::NeedlessJoin, &[&def.database, &of.digest, alias]).of(of).on(&def.database, &def.name);
    let part = 0.8 / shape.sources.len() as f64;
    Some(finding.because(evidence).saves(of, part).cured_by(format!("Leave the join with {alias} out: the result is the same")))
}

/// Is no column of the table read but in its own ON clause?
fn is_unread(shape: &Shape<'_>, source: usize) -> bool {
    shape.read.iter().all(|column| column.source != source)
        && shape.read_in_on.iter().all(|(of, column)| *of == source || column.source != source)
        && shape.order.is_some()
}

fn changes_nothing(shape: &Shape<'_>, source: usize) -> bool {
    let tests = shape.tests.iter().zip(&shape.test_of).filter(|(_, of)| **of == Some(source));
    let equal = tests.map(|(test, _)| match test {
        Test::Equal(a, With::Column(b)) if a.source == source && b.source != source => Some((a.column, Some(*b))),
        Test::Equal(b, With::Column(a)) if a.source == source && b.source != source => Some((a.column, Some(*b))),
        Test::Equal(a, _) if a.source == source => Some((a.column, None)),
        _ => None,
    });
    let all: Vec<Option<(usize, Option<Column>)>> = equal.collect();
    if shape.sources[source].optional { is_unique(shape, source, &all) } else { is_parent(shape, source, &all) }
}

/// J1: further conditions make fewer partners, not more.
fn is_unique(shape: &Shape<'_>, source: usize, equal: &[Option<(usize, Option<Column>)>]) -> bool {
    let has = |column: usize| equal.iter().flatten().any(|(own, _)| *own == column);
    let indexes = &shape.sources[source].def.indexes;
    indexes.iter().any(|index| {
        matches!(index.kind, IndexKind::Primary | IndexKind::Unique)
            && index.columns.iter().all(|part| part.prefix.is_none() && has(part.column))
    })
}

/// J2
fn is_parent(shape: &Shape<'_>, source: usize, equal: &[Option<(usize, Option<Column>)>]) -> bool {
    let [Some((own, Some(other)))] = equal else { return false };
    let (parent, child) = (shape.sources[source].def, shape.sources[other.source].def);
    if shape.sources[other.source].optional || child.columns[other.column].nullable {
        return false;
    }
    child.foreign_keys.iter().any(|key| {
        key.is_of(&parent.database, &parent.name)
            && key.columns == [other.column]
            && key.columns_in(parent).as_deref() == Some(&[*own])
    })
}
