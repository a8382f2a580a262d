//! Rows that are inserted or changed one by one.
//!
//! The server counts executions that follow executions of the same digest on one connection with nothing between. A loop of an
//! application looks so; requests of many users do not.

use crate::finding::{Finding, Kind};
use crate::shape::{Shape, Verb};
use crate::workload::{Statement, Workload};

/// Executions in runs.
const RUNS_MIN: u64 = 100;
const PART_MIN: f64 = 0.5;

pub fn changed_one_by_one(_: &Workload<'_>, of: &Statement, shape: Option<&Shape<'_>>) -> Option<Finding> {
    let shape = shape?;
    let source = shape.sources.first()?;
    let is_changed = matches!(shape.verb, Verb::Insert(1) | Verb::Update | Verb::Delete);
    if !is_changed || of.in_runs < RUNS_MIN || (of.in_runs as f64) < PART_MIN * of.count as f64 {
        return None;
    }
    let subject = [source.def.database.as_str(), &source.def.name, &of.digest];
    let runs = format!("{} of {} executions followed each other on one connection", of.in_runs, of.count);
    let (finding, cure) = if (of.in_runs_alone as f64) >= PART_MIN * of.in_runs as f64 {
        let finding = Finding::new(Kind::CommitByRow, &subject).because(format!("{runs}, each in a transaction of its own"));
        (finding, "Put the loop into one transaction (START TRANSACTION ... COMMIT), or change many rows with one statement")
    } else if shape.verb == Verb::Insert(1) {
        let finding = Finding::new(Kind::InsertByRow, &subject).because(format!("{runs}, each with one row"));
        (finding, "Insert many rows with one statement: INSERT ... VALUES (...), (...), or LOAD DATA")
    } else {
        return None;
    };
    Some(finding.of(of).on(&source.def.database, &source.def.name).saves(of, 0.7).cured_by(cure.to_owned()))
}
