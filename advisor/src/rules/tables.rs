//! Tables and indexes: duplicate, redundant and unused indexes, numbers that run out, tables without a primary key.

use super::index::usable;
use crate::finding::{Finding, Kind, quoted};
use crate::workload::Workload;
use types::schema::{IndexDef, IndexKind, TableDef};

/// Seconds of which the server must have seen the use of an index, and rows that were written meanwhile.
const UNUSED_S_MIN: f64 = 24.0 * 3600.0;
const UNUSED_WRITES_MIN: u64 = 1000;
/// The part of the numbers that is used up.
const USED_UP: f64 = 0.75;
const SECONDS_PER_DAY: f64 = 86_400.0;

pub fn indexes(workload: &Workload<'_>, findings: &mut Vec<Finding>) {
    for def in workload.own_tables() {
        for (place, index) in usable(def) {
            if let Some((kind, other)) = replaced_by(def, index) {
                findings.push(redundant(def, index, other, kind));
            } else if index.kind == IndexKind::Secondary {
                findings.extend(unused(workload, def, place, index));
            }
        }
    }
}

fn parts(index: &IndexDef) -> Vec<(usize, Option<u32>, bool)> {
    index.columns.iter().map(|part| (part.column, part.prefix, part.descending)).collect()
}

/// The index that does all that this one does. Unique indexes are rules and stay, unless another one is the same.
fn replaced_by<'d>(def: &'d TableDef, index: &IndexDef) -> Option<(Kind, &'d IndexDef)> {
    if index.kind == IndexKind::Primary {
        return None;
    }
    let own = parts(index);
    usable(def).map(|(_, other)| other).filter(|other| other.name != index.name).find_map(|other| {
        let others = parts(other);
        if own == others {
            let is_weaker = match (index.kind, other.kind) {
                (IndexKind::Secondary, IndexKind::Secondary) | (IndexKind::Unique, IndexKind::Unique) => index.name > other.name,
                (IndexKind::Secondary, _) | (IndexKind::Unique, IndexKind::Primary) => true,
                _ => false,
            };
            return is_weaker.then_some((Kind::DuplicateIndex, other));
        }
        // The rows of a primary key are large: a narrow index beside it has a use of its own.
        let begins = index.kind == IndexKind::Secondary && other.kind != IndexKind::Primary && others.starts_with(&own);
        begins.then_some((Kind::RedundantIndex, other))
    })
}

fn drop_index(def: &TableDef, index: &IndexDef) -> String {
    format!("ALTER TABLE {}.{} DROP INDEX {}", quoted(&def.database), quoted(&def.name), quoted(&index.name))
}

fn redundant(def: &TableDef, index: &IndexDef, other: &IndexDef, kind: Kind) -> Finding {
    let evidence = match kind {
        Kind::DuplicateIndex => format!("Index {} has the same columns as index {}", index.name, other.name),
        _ => format!("The columns of index {} begin index {}, which finds the same rows", index.name, other.name),
    };
    let finding = Finding::new(kind, &[&def.database, &def.name, &index.name]).on(&def.database, &def.name);
    let gains = "one entry less for each row written, and its memory";
    finding.because(evidence).gains(gains).cured_by_sql(drop_index(def, index))
}

fn unused(workload: &Workload<'_>, def: &TableDef, place: usize, index: &IndexDef) -> Option<Finding> {
    let used = workload.table(def)?;
    let tree = used.trees.first()?;
    let written = tree.inserted + tree.updated + tree.deleted;
    // Foreign keys read their index when parents change.
    let serves_key =
        def.foreign_keys.iter().any(|key| index.columns.first().is_some_and(|part| key.columns.contains(&part.column)));
    let is_read = used.trees.get(place).is_none_or(|tree| tree.fetched > 0);
    if workload.uptime_s < UNUSED_S_MIN || written < UNUSED_WRITES_MIN || is_read || serves_key {
        return None;
    }
    let evidence = format!(
        "Index {} was not read since the start of the server, {:.1} days ago, while {written} rows were written",
        index.name,
        workload.uptime_s / SECONDS_PER_DAY
    );
    let cure =
        format!("ALTER TABLE {}.{} ALTER INDEX {} INVISIBLE", quoted(&def.database), quoted(&def.name), quoted(&index.name));
    let finding = Finding::new(Kind::UnusedIndex, &[&def.database, &def.name, &index.name]).on(&def.database, &def.name);
    let price =
        "a statement that runs once a month may need it: make it invisible first, and drop it when nothing has become slower";
    let gains = "one entry less for each row written, and its memory";
    Some(finding.because(evidence).gains(gains).at(price.to_owned()).cured_by_sql(cure))
}

pub fn auto_increment(workload: &Workload<'_>, findings: &mut Vec<Finding>) {
    for def in workload.own_tables() {
        let Some(used) = workload.table(def) else { continue };
        let Some(next) = used.next_auto else { continue };
        let Some(column) = def.columns.iter().find(|column| column.auto_increment) else { continue };
        let Some(max) = column.ty.integer_max() else { continue };
        let part = next as f64 / max as f64;
        if part < USED_UP {
            continue;
        }
        let inserted = used.trees.first().map_or(0, |tree| tree.inserted);
        let per_day = inserted as f64 / workload.uptime_s.max(1.0) * SECONDS_PER_DAY;
        let days = match per_day {
            rate if rate > 0.0 => {
                format!("; at the rate since the start they last {:.1} days", max.saturating_sub(next) as f64 / rate)
            }
            _ => String::new(),
        };
        let evidence = format!("The next number of {} is {next} of {max}: {:.1} % are used{days}", column.name, part * 100.0);
        let cure = format!(
            "ALTER TABLE {}.{} MODIFY {} BIGINT UNSIGNED NOT NULL AUTO_INCREMENT",
            quoted(&def.database),
            quoted(&def.name),
            quoted(&column.name)
        );
        let finding = Finding::new(Kind::AutoIncrement, &[&def.database, &def.name]).on(&def.database, &def.name);
        let price = "the table is rewritten; columns that refer to it need the same type".to_owned();
        findings.push(finding.because(evidence).gains("inserts go on").at(price).cured_by_sql(cure));
    }
}

pub fn primary_key(workload: &Workload<'_>, findings: &mut Vec<Finding>) {
    for def in workload.own_tables() {
        if def.indexes.first().is_none_or(|index| index.kind != IndexKind::HiddenRowId) {
            continue;
        }
        let rows = workload.table(def).map_or(0, |used| used.rows);
        let evidence = format!("{}.{} has no primary key; it has about {rows} rows", def.database, def.name);
        let is_key = |part: &types::schema::IndexColumn| {
            let column = &def.columns[part.column];
            part.prefix.is_none() && !column.nullable && !column.hidden
        };
        let not_null = |index: &&IndexDef| index.kind == IndexKind::Unique && index.columns.iter().all(is_key);
        let finding = Finding::new(Kind::NoPrimaryKey, &[&def.database, &def.name]).on(&def.database, &def.name);
        let finding = finding
            .because(evidence)
            .gains("rows have an identity: for replication, for tools that change or copy a table in parts, for locks of single rows")
            .at("the table is rewritten".to_owned());
        let name = (1..).map(|n| if n == 1 { "id".to_owned() } else { format!("id{n}") });
        let name = name.into_iter().find(|name| def.column_index(name).is_none()).unwrap_or_default();
        let table = format!("{}.{}", quoted(&def.database), quoted(&def.name));
        findings.push(match def.indexes.iter().find(not_null) {
            Some(unique) => {
                let names = unique.columns.iter().map(|part| def.columns[part.column].name.as_str());
                finding.cured_by_sql(format!("ALTER TABLE {table} ADD PRIMARY KEY ({})", crate::finding::list(names)))
            }
            None => finding.cured_by_sql(format!(
                "ALTER TABLE {table} ADD COLUMN {} BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY",
                quoted(&name)
            )),
        });
    }
}
