//! Rows that sessions queue up for, and deadlocks.

use crate::finding::{Finding, Kind, duration};
use crate::shape::Shape;
use crate::workload::{Statement, Workload};

/// Waits for rows, their part of the statement's time, and the average of one in microseconds.
const WAITS_MIN: u64 = 50;
const WAITED_PART_MIN: f64 = 0.3;
const WAIT_US_MIN: f64 = 100.0;
const DEADLOCKS_MIN: u64 = 3;

pub fn hot_row(_: &Workload<'_>, of: &Statement, shape: Option<&Shape<'_>>) -> Option<Finding> {
    let source = shape.and_then(|shape| shape.sources.first())?;
    let each = of.row_lock_us / of.row_lock_waits.max(1) as f64;
    if of.row_lock_waits < WAITS_MIN || of.row_lock_us < WAITED_PART_MIN * of.time_us || each < WAIT_US_MIN {
        return None;
    }
    let evidence = format!(
        "{} executions waited {} times for rows that other transactions had locked, {} each: {:.0} % of their time",
        of.count,
        of.row_lock_waits,
        duration(each),
        of.row_lock_us / of.time_us.max(1.0) * 100.0
    );
    let cure =
        "Change this row as the last statement of the transaction, commit at once, or spread it over several rows that are \
                added up when they are read"
            .to_owned();
    let finding = Finding::new(Kind::HotRow, &[&source.def.database, &source.def.name, &of.digest]);
    let finding = finding.of(of).on(&source.def.database, &source.def.name).because(evidence);
    Some(finding.saves(of, of.row_lock_us / of.time_us.max(1.0)).cured_by(cure))
}

pub fn deadlock(_: &Workload<'_>, of: &Statement, shape: Option<&Shape<'_>>) -> Option<Finding> {
    if of.deadlocks < DEADLOCKS_MIN {
        return None;
    }
    let evidence =
        format!("Deadlocks undid {} executions of {}; SHOW ENGINE INNODB STATUS has the latest", of.deadlocks, of.count);
    let cure =
        "Let all transactions lock rows in one order (for example by their key), keep them short, and repeat a transaction that \
                fails with error 1213"
            .replace("1213", "ER_LOCK_DEADLOCK");
    let mut finding = Finding::new(Kind::Deadlock, &[of.database.as_deref().unwrap_or_default(), &of.digest]).of(of);
    if let Some(source) = shape.and_then(|shape| shape.sources.first()) {
        finding = finding.on(&source.def.database, &source.def.name);
    }
    Some(finding.because(evidence).gains("no transactions that are undone and repeated").cured_by(cure))
}
