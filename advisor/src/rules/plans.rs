//! Plans that changed for the worse.

use super::COUNT_MIN;
use crate::finding::{Finding, Kind, duration};
use crate::shape::Shape;
use crate::workload::{PlanUse, Statement, Workload};

/// An execution with the new plan takes so many times as long, and at least so many microseconds more.
const TIMES_MIN: f64 = 2.0;
const MORE_US_MIN: f64 = 100.0;

fn each(plan: &PlanUse) -> f64 {
    plan.cpu_us / plan.count.max(1) as f64
}

pub fn plan_flip(_: &Workload<'_>, of: &Statement, shape: Option<&Shape<'_>>) -> Option<Finding> {
    let counted: Vec<&PlanUse> = of.plans.iter().filter(|plan| plan.count >= COUNT_MIN).collect();
    let newest = counted.iter().min_by(|a, b| a.first_age_s.total_cmp(&b.first_age_s))?;
    // The one before must be out of use: two plans for different values are no flip.
    let before = counted.iter().filter(|plan| plan.first_age_s > newest.first_age_s && plan.last_age_s >= newest.first_age_s);
    let before = before.min_by(|a, b| a.last_age_s.total_cmp(&b.last_age_s))?;
    let (old, new) = (each(before), each(newest));
    if new < TIMES_MIN * old || new - old < MORE_US_MIN {
        return None;
    }
    let evidence = format!(
        "The plan changed {:.0} seconds ago: an execution took {} before ({} executions) and {} since ({} executions)",
        newest.first_age_s,
        duration(old),
        before.count,
        duration(new),
        newest.count
    );
    let first = |plan: &PlanUse| plan.text.lines().find(|line| line.contains(" on ")).unwrap_or_default().trim().to_owned();
    let cure = format!(
        "ANALYZE TABLE for current statistics; if the plan stays, a hint for the index of the old plan. Old: {} New: {}",
        first(before),
        first(newest)
    );
    let mut finding = Finding::new(Kind::PlanFlip, &[of.database.as_deref().unwrap_or_default(), &of.digest]).of(of);
    if let Some(source) = shape.and_then(|shape| shape.sources.first()) {
        finding = finding.on(&source.def.database, &source.def.name);
    }
    finding = finding.because(evidence).cured_by(cure);
    finding.gain_us = (new - old) * newest.count as f64;
    Some(finding.gains(&format!("{} for each execution (measured)", duration(new - old))))
}
