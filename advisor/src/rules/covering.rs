//! An index that leads to many rows, of which few small columns are read: with these columns in the index the rows need not be visited.

use super::COUNT_MIN;
use super::index::{self, fits, width};
use crate::finding::{Finding, Kind};
use crate::shape::{Shape, Verb};
use crate::workload::{Statement, Workload};
use types::schema::IndexKind;

/// Rows that an execution visits, and all executions together.
const VISITS_MIN: f64 = 200.0;
const ALL_VISITS_MIN: u64 = 20_000;
/// Columns that the index gets, and their bytes.
const MORE_COLUMNS_MAX: usize = 3;
const MORE_BYTES_MAX: u64 = 64;
/// Visiting a row costs about this part of reading by such an index.
const VISIT_PART: f64 = 0.6;

pub fn covering_index(workload: &Workload<'_>, of: &Statement, shape: &Shape<'_>) -> Option<Finding> {
    if shape.verb != Verb::Select || shape.sources.len() != 1 || of.count < COUNT_MIN {
        return None;
    }
    if of.examined_each() < VISITS_MIN || of.examined < ALL_VISITS_MIN {
        return None;
    }
    let source = &shape.sources[0];
    let def = source.def;
    let uses = |index: &str| {
        ["Index lookup", "Index range scan"]
            .iter()
            .any(|step| of.last_plan_reads(step, &format!("{} using {index}", source.alias)))
    };
    let (_, index) = index::usable(def).find(|(_, index)| index.kind == IndexKind::Secondary && uses(&index.name))?;
    let own: Vec<usize> = index.columns.iter().filter(|part| part.prefix.is_none()).map(|part| part.column).collect();
    let is_whole = own.len() == index.columns.len() && own.iter().all(|column| !def.columns[*column].hidden);
    let in_entry = |column: &usize| own.contains(column) || def.primary().columns.iter().any(|part| part.column == *column);
    let needed = shape.read.iter().map(|column| column.column);
    let more: Vec<usize> = needed.filter(|column| !in_entry(column)).collect();
    let bytes: u64 = more.iter().map(|column| width(&def.columns[*column])).sum();
    let is_small = !more.is_empty() && more.len() <= MORE_COLUMNS_MAX && bytes <= MORE_BYTES_MAX;
    // Copying most of the table into an index is no cure.
    let left_out = def.columns.len().saturating_sub(own.len() + more.len() + 1);
    if !is_small || more.iter().any(|column| !fits(&def.columns[*column])) || left_out < 2 || !is_whole {
        return None;
    }
    let columns: Vec<usize> = own.iter().chain(&more).copied().collect();
    let named = index::names(def, &more).join(", ");
    let evidence = format!(
        "{} found {:.0} rows each by index {} and visited every one for {named}",
        of.executions(),
        of.examined_each(),
        index.name
    );
    let finding = Finding::new(Kind::CoveringIndex, &[&def.database, &def.name, &index.name, &named]);
    let price = index::price(workload, def, &columns);
    let finding = finding.of(of).on(&def.database, &def.name).because(evidence).saves(of, VISIT_PART).at(price);
    Some(finding.cured_by_index(def, index::parts(def, &columns), index::size(workload, def, &columns)))
}
