//! Large values that are fetched for many rows.

use super::COUNT_MIN;
use super::index::bytes;
use crate::finding::{Finding, Kind};
use crate::shape::{Shape, Verb};
use crate::workload::{Statement, Workload};
use types::TypeKind;

/// Rows that an execution returns, and the bytes of a row of the table, on average.
const ROWS_MIN: f64 = 20.0;
const ROW_BYTES_MIN: u64 = 2048;

/// A list of rows rarely shows all of a long text; whether it does, only the application knows.
pub fn dear_columns(workload: &Workload<'_>, of: &Statement, shape: Option<&Shape<'_>>) -> Option<Finding> {
    let shape = shape.filter(|shape| shape.verb == Verb::Select && shape.sources.len() == 1 && !shape.aggregates)?;
    let returned = of.sent as f64 / of.count.max(1) as f64;
    let def = shape.sources[0].def;
    let used = workload.table(def)?;
    if of.count < COUNT_MIN || returned < ROWS_MIN || used.row_bytes < ROW_BYTES_MIN {
        return None;
    }
    let is_large =
        |kind: &TypeKind| matches!(kind, TypeKind::Text(_) | TypeKind::Blob(_) | TypeKind::Json | TypeKind::Geometry { .. });
    let large = shape.selected.iter().map(|column| &def.columns[column.column]).filter(|column| is_large(&column.ty.kind));
    let names: Vec<&str> = large.map(|column| column.name.as_str()).collect();
    if names.is_empty() || names.len() == shape.selected.len() {
        return None;
    }
    let evidence = format!(
        "{} returned {returned:.0} rows each with {}; a row of the table has {} on average",
        of.executions(),
        names.join(", "),
        bytes(used.row_bytes)
    );
    let cure = format!("Leave {} out of the select list of lists, and fetch it where one row is shown", names.join(", "));
    let finding = Finding::new(Kind::DearColumns, &[&def.database, &def.name, &of.digest]);
    Some(finding.of(of).on(&def.database, &def.name).because(evidence).saves(of, 0.6).cured_by(cure))
}
