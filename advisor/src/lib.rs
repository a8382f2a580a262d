//! The query doctor: finds what costs an application time, in what the server knows about its statements.
//!
//! ```text
//! server    collects a `Workload`: statements by digest, tables with their use, sessions       (`workload`)
//! advise    parses a text of each statement and describes its form                             (`shape`)
//! rules     each reads the workload and gives findings                                         (`rules`)
//! ```
//!
//! The crate runs no SQL and knows no engine: it is a function from a workload to findings.
//!
//! V1: a rule speaks only when the server has counted the harm: a predicate without an index is no finding until executions
//!     have read many rows for few. A statement whose form is not understood entirely gives no finding about its form.
//! V2: an index is advised for one reason: rules that advise indexes run in order, and the first one that explains a statement
//!     takes it.
//! V3: the id of a finding follows from its kind and its subject, so it stays the same from one start of the server to the
//!     next.
//! V4: the work has a bound: the statements that took most time are looked at.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

mod finding;
mod rules;
mod shape;
mod tags;
#[cfg(test)]
mod testing;
mod workload;

pub use finding::{AdvisedIndex, Finding, Helped, Kind, duration, quoted};
pub use rules::bytes;
pub use workload::{Account, PlanUse, Sample, Session, Statement, TableUse, TreeUse, Workload};

use shape::Shape;
use sql::Arena;
use std::collections::{BTreeMap, BTreeSet};
use types::SqlMode;
use types::schema::TableDef;
use workload::is_of_server;

/// See V4.
const STATEMENTS_MAX: usize = 2000;
/// A statement that somebody asks about counts as so many executions: enough for each rule about its form.
const ASKED_COUNT: u64 = 1000;

/// A statement with its form.
struct Case<'a> {
    of: &'a Statement,
    /// `None`: the form is not understood.
    shape: Option<Shape<'a>>,
}

/// The findings about a workload, the most valuable ones first.
pub fn advise(workload: &Workload<'_>) -> Vec<Finding> {
    let arena = Arena::default();
    let own = workload.statements.iter().filter(|statement| !is_of_server(statement.database.as_deref()));
    let mut own: Vec<&Statement> = own.collect();
    // V4
    own.sort_by(|a, b| b.time_us.total_cmp(&a.time_us));
    let cases: Vec<Case<'_>> =
        own.into_iter().take(STATEMENTS_MAX).map(|of| Case { of, shape: shape_of(&arena, of, workload) }).collect();
    let mut findings = Vec::new();
    // V2
    let mut explained = BTreeSet::new();
    for rule in rules::OF_ACCESS {
        for case in &cases {
            let key = (case.of.database.as_deref(), case.of.digest.as_str());
            if explained.contains(&key) {
                continue;
            }
            if let Some(finding) = case.shape.as_ref().and_then(|shape| rule(workload, case.of, shape)) {
                explained.insert(key);
                findings.push(finding);
            }
        }
    }
    for rule in rules::OF_STATEMENTS {
        findings.extend(cases.iter().filter_map(|case| rule(workload, case.of, case.shape.as_ref())));
    }
    rules::OF_SERVER.iter().for_each(|rule| rule(workload, &mut findings));
    merge(&mut findings);
    findings.iter_mut().for_each(|finding| finding.application = parts_of_application(finding, &cases));
    findings.sort_by(|a, b| b.gain_us.total_cmp(&a.gain_us).then_with(|| a.id.cmp(&b.id)));
    findings
}

/// The parts of the application that send the statements of a finding, by the comments of their texts.
fn parts_of_application(finding: &Finding, cases: &[Case<'_>]) -> Vec<String> {
    let mut parts = BTreeSet::new();
    for helped in &finding.helps {
        let is_it = |case: &&Case<'_>| case.of.digest == helped.digest && case.of.database == helped.database;
        let texts = cases.iter().filter(is_it).flat_map(|case| {
            let samples = case.of.samples.iter().map(|sample| sample.text.as_str());
            samples.chain(case.of.sample.as_deref())
        });
        parts.extend(texts.filter_map(tags::of));
    }
    parts.into_iter().take(tags::PARTS_MAX).collect()
}

/// The findings about one statement that was run once, with a gain for one execution.
///
/// `workload` has the statement alone, with the counts of that execution.
pub fn advise_for(mut workload: Workload<'_>) -> Vec<Finding> {
    let mut took_us = 0.0;
    for statement in &mut workload.statements {
        took_us = statement.time_us / statement.count.max(1) as f64;
        statement.scale(ASKED_COUNT);
    }
    let mut findings = advise(&workload);
    findings.retain(|finding| !finding.helps.is_empty());
    for finding in &mut findings {
        finding.gain_us /= ASKED_COUNT as f64;
        if let Some(part) = finding.part {
            let share = (part * 100.0).round();
            finding.gain = format!("about {share} % of the {} that it took (estimated)", finding::duration(took_us));
        }
    }
    findings
}

/// The statements that insert, change or delete rows of a table.
pub fn writers<'w>(workload: &'w Workload<'_>, table: &TableDef) -> Vec<&'w Statement> {
    let arena = Arena::default();
    let writes = |of: &&Statement| {
        let shape = shape_of(&arena, of, workload);
        shape.is_some_and(|shape| {
            let is_it = |source: &shape::Source<'_>| source.def.id == table.id;
            shape.verb != shape::Verb::Select && shape.sources.first().is_some_and(is_it)
        })
    };
    workload.statements.iter().filter(writes).collect()
}

/// Findings of one kind with one cure are one: the statements that it helps are counted.
fn merge(findings: &mut Vec<Finding>) {
    let mut kept: Vec<Finding> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for finding in findings.drain(..) {
        match places.get(&finding.id) {
            Some(place) => {
                let known = &mut kept[*place];
                known.gain_us += finding.gain_us;
                known.statements += 1;
                known.helps.extend(finding.helps);
            }
            None => {
                places.insert(finding.id.clone(), kept.len());
                kept.push(finding);
            }
        }
    }
    *findings = kept;
}

/// The form of a statement: of the first of its texts that can be read.
fn shape_of<'a>(arena: &'a Arena, of: &'a Statement, workload: &'a Workload<'_>) -> Option<Shape<'a>> {
    let samples = of.samples.iter().map(|sample| sample.text.as_str());
    let texts = samples.chain(of.sample.as_deref()).chain([of.text.as_str()]);
    let mut parsed = texts.filter_map(|text| sql::parse(arena, text.as_bytes(), &SqlMode::DEFAULT).ok());
    let parsed = parsed.next()?;
    Shape::of(&parsed.statement, of.database.as_deref(), workload.schema)
}

#[cfg(test)]
mod tests;
