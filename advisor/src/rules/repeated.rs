//! Statements that are asked again and again: for each row of an earlier result, or for a count.

use super::{COUNT_MIN, EXAMINED_MIN};
use crate::finding::{Finding, Kind};
use crate::shape::{Shape, Test, Verb, With};
use crate::workload::{Statement, Workload};

/// Executions that an earlier result caused.
const CAUSED_MIN: u64 = 20;
/// The part of the executions that were caused so.
const CAUSED_PART_MIN: f64 = 0.3;
/// Counts in a second.
const COUNTS_PER_SECOND: f64 = 0.2;
/// The part of the time of a statement that is not spent on its rows.
const ROUND_TRIP_PART: f64 = 0.8;

/// The server compared parameters with values of earlier results of the same connection.
pub fn n_plus_one(_: &Workload<'_>, of: &Statement, shape: Option<&Shape<'_>>) -> Option<Finding> {
    let (text, column) = of.cause.as_ref()?;
    if of.caused < CAUSED_MIN || (of.caused as f64) < CAUSED_PART_MIN * of.count as f64 {
        return None;
    }
    let key = shape.and_then(|shape| {
        let test = shape.tests.iter().find_map(|test| match test {
            Test::Equal(column, with) if !matches!(with, With::Column(_)) => Some(*column),
            _ => None,
        });
        test.map(|column| shape.def(column).name.clone())
    });
    let key = key.unwrap_or_else(|| "the key".to_owned());
    let evidence = format!(
        "{} of {} executions had a parameter that was a value in column {} of an earlier result of the same connection. That result's \
         statement: {text}",
        of.caused,
        of.count,
        column + 1
    );
    let cure = format!("Join the two statements, or ask once for all rows: {key} IN (all values of the earlier result)");
    let finding = Finding::new(Kind::NPlusOne, &[of.database.as_deref().unwrap_or_default(), &of.digest, text]);
    let finding = finding.of(of).because(evidence).cured_by(cure);
    let mut finding = finding.saves(of, of.caused as f64 / of.count.max(1) as f64 * ROUND_TRIP_PART);
    finding.gain.push_str(", and as many round trips of the network");
    if let Some(source) = shape.and_then(|shape| shape.sources.first()) {
        finding = finding.on(&source.def.database, &source.def.name);
    }
    Some(finding)
}

pub fn repeated_count(_: &Workload<'_>, of: &Statement, shape: Option<&Shape<'_>>) -> Option<Finding> {
    let shape = shape.filter(|shape| shape.verb == Verb::Select && shape.counts && !shape.groups)?;
    let per_second = of.count as f64 / of.span_s.max(1.0);
    if of.count < 2 * COUNT_MIN || of.examined_each() < EXAMINED_MIN || per_second < COUNTS_PER_SECOND {
        return None;
    }
    let source = shape.sources.first()?;
    let evidence = format!("{} executions counted {:.0} rows each, {per_second:.1} times a second", of.count, of.examined_each());
    let cure =
        "Keep the count in a table that changes with the rows, or in the application for some seconds; for pages, ask for one \
                row more than a page has instead of the number of all"
            .to_owned();
    let finding = Finding::new(Kind::RepeatedCount, &[&source.def.database, &of.digest]);
    Some(finding.of(of).on(&source.def.database, &source.def.name).because(evidence).saves(of, 0.9).cured_by(cure))
}
