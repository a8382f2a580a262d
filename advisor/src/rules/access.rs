//! Rows that are found by reading the whole table: because a function hides the column, because a comparison converts it, or because
//! no index begins with a column of the condition.
//!
//! A1: the plan that ran last reads the whole table, executions read many rows, and few of them are used. Where the use cannot be
//!     counted, because rows are aggregated, statistics must say that an equality leaves few.

use super::index::{self, COLUMNS_MAX, fits};
use super::{COUNT_MIN, EXAMINED_MIN, YIELD_MAX};
use crate::finding::{Finding, Kind};
use crate::shape::{Column, Shape, Test, Verb, With};
use crate::workload::{Statement, Workload};
use types::schema::TableDef;
use types::{CollationId, TypeKind};

/// Functions of one argument that can be indexed: they depend on nothing but it.
const INDEXABLE: &[&str] = &["DATE", "YEAR", "MONTH", "DAY", "LOWER", "LCASE", "UPPER", "UCASE", "TRIM", "ABS", "LENGTH", "HOUR"];

/// The table that is read whole, if executions read many rows (A1).
fn read_whole(of: &Statement, shape: &Shape<'_>) -> Option<usize> {
    if of.count < COUNT_MIN || of.examined_each() < EXAMINED_MIN || matches!(shape.verb, Verb::Insert(_)) {
        return None;
    }
    (0..shape.sources.len()).find(|source| of.last_plan_reads("Table scan", shape.sources[*source].alias))
}

fn returns_few(of: &Statement, shape: &Shape<'_>) -> bool {
    !shape.aggregates && !shape.groups && !shape.distinct && of.yield_of_rows() <= YIELD_MAX
}

/// What the statement reads too much, in words.
fn reading(of: &Statement, alias: &str) -> String {
    format!(
        "{} read the whole table {alias}: {:.0} rows each, of which {:.1} were returned or changed",
        of.executions(),
        of.examined_each(),
        of.useful_each()
    )
}

/// The part of the time that finding the rows by an index saves.
fn saved(of: &Statement) -> f64 {
    1.0 - of.yield_of_rows().max(0.01)
}

pub fn function_on_column(workload: &Workload<'_>, of: &Statement, shape: &Shape<'_>) -> Option<Finding> {
    let source = read_whole(of, shape)?;
    let def = shape.sources[source].def;
    let (column, name, text) = shape.tests.iter().find_map(|test| match test {
        Test::Function { of, name, text } if of.source == source && INDEXABLE.contains(&name.as_str()) => {
            Some((of.column, name, text))
        }
        _ => None,
    })?;
    // An aggregate does not say how many rows it used: the index on the column says that it was to be found by it.
    let is_defeated = index::leads_with_any(def, &[column]);
    let is_waste = returns_few(of, shape) || is_defeated && shape.aggregates;
    if !is_waste {
        return None;
    }
    let shown = &def.columns[column].name;
    let words = match name.as_str() {
        "DATE" | "YEAR" => format!("; or compare {shown} with a range of times, which an index on {shown} can find"),
        _ => String::new(),
    };
    let index = if is_defeated { format!(" The index on {shown} cannot be used for it.") } else { String::new() };
    let evidence = format!("{}. Its condition compares {text}.{index}{words}", reading(of, shape.sources[source].alias));
    let finding = Finding::new(Kind::FunctionOnColumn, &[&def.database, &def.name, text]);
    let price = index::price(workload, def, &[column]);
    Some(finding.of(of).on(&def.database, &def.name).because(evidence).saves(of, saved(of)).at(price).cured_by_index(
        def,
        format!("({text})"),
        index::size(workload, def, &[column]),
    ))
}

fn is_text(kind: &TypeKind) -> bool {
    matches!(kind, TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Text(_))
}

pub fn implicit_cast(_: &Workload<'_>, of: &Statement, shape: &Shape<'_>) -> Option<Finding> {
    let source = read_whole(of, shape)?;
    let def = shape.sources[source].def;
    let indexed = |column: &Column| column.source == source && index::leads_with_any(def, &[column.column]);
    let found = shape.tests.iter().find_map(|test| match test {
        Test::Equal(column, With::Number) if indexed(column) && is_text(&shape.def(*column).ty.kind) => {
            Some((*column, "a number, so each row's text is converted".to_owned(), "compare it with a text: quote the value"))
        }
        Test::Equal(a, With::Column(b)) => {
            let (own, other) = if indexed(a) { (a, b) } else { (b, a) };
            let (own_type, other_type) = (&shape.def(*own).ty, &shape.def(*other).ty);
            let differ = |a: CollationId, b: CollationId| a != b;
            if !indexed(own) || own.source == other.source {
                None
            } else if is_text(&own_type.kind) && is_text(&other_type.kind) && differ(own_type.collation, other_type.collation) {
                let (a, b) = (own_type.collation.name(), other_type.collation.name());
                let why = format!("a column of another collation ({a} and {b})");
                Some((*own, why, "give both columns one collation with ALTER TABLE ... MODIFY"))
            } else if is_text(&own_type.kind) && other_type.is_integer() {
                Some((*own, "a number of another table".to_owned(), "give both columns one type with ALTER TABLE ... MODIFY"))
            } else {
                None
            }
        }
        _ => None,
    });
    let (column, why, cure) = found?;
    let name = &shape.def(column).name;
    let evidence = format!(
        "{}. {name} has an index, but it is compared with {why}, and the index cannot be used",
        reading(of, shape.sources[source].alias)
    );
    let finding = Finding::new(Kind::ImplicitCast, &[&def.database, &def.name, name, &of.digest]);
    Some(finding.of(of).on(&def.database, &def.name).because(evidence).saves(of, saved(of)).cured_by(format!("{name}: {cure}")))
}

pub fn missing_index(workload: &Workload<'_>, of: &Statement, shape: &Shape<'_>) -> Option<Finding> {
    let source = read_whole(of, shape)?;
    let def = shape.sources[source].def;
    let mut columns = shape.equal_to_constants(source);
    let constants = columns.len();
    columns.extend(shape.equal_to_columns(source));
    columns.retain(|column| fits(&def.columns[*column]));
    let ranges: Vec<usize> = shape.ranges(source).into_iter().filter(|column| fits(&def.columns[*column])).collect();
    let equalities = columns.len();
    columns.extend(ranges.first().filter(|range| !columns.contains(range)));
    columns.truncate(COLUMNS_MAX);
    // With such an index, the planner chose the scan: the condition does not leave few rows.
    let first: Vec<usize> = columns.iter().chain(&ranges).copied().collect();
    if columns.is_empty() || index::leads_with_any(def, &first) {
        return None;
    }
    let is_few = if shape.aggregates || shape.groups || shape.distinct {
        constants > 0 && leaves_few(workload, def, &columns[..equalities.min(columns.len())])
    } else {
        of.yield_of_rows() <= YIELD_MAX
    };
    if !is_few || shape.sources.len() > 1 && equalities == 0 {
        return None;
    }
    let named = index::names(def, &columns).join(", ");
    let evidence =
        format!("{}. No index begins with a column of its condition ({named})", reading(of, shape.sources[source].alias));
    let finding = Finding::new(Kind::MissingIndex, &[&def.database, &def.name, &named]);
    let (parts, price) = (index::parts(def, &columns), index::price(workload, def, &columns));
    Some(finding.of(of).on(&def.database, &def.name).because(evidence).saves(of, saved(of)).at(price).cured_by_index(
        def,
        parts,
        index::size(workload, def, &columns),
    ))
}

/// Do equalities leave few of the rows, as statistics say?
fn leaves_few(workload: &Workload<'_>, def: &TableDef, columns: &[usize]) -> bool {
    let Some(used) = workload.table(def) else { return false };
    let distinct = columns.iter().filter_map(|column| used.distinct.get(*column).copied().flatten());
    distinct.fold(1.0, |all, distinct| all / distinct.max(1.0)) <= YIELD_MAX
}
