//! Partitions in definitions: the rules for PARTITION BY, and what ALTER TABLE makes of a table's partitions.
//!
//! A partition is the rows that the partition function gives its number (`types::partition`); no tree knows of it. So a change of the
//! function alone is a matter of the catalog. Rows are written anew (`apply`) where some of them go with their partition, or where it is not plain
//! that each of them still has one.
//!
//! | action | rows |
//! |---|---|
//! | ADD PARTITION, COALESCE, REMOVE PARTITIONING, PARTITION BY HASH and KEY | stay |
//! | REORGANIZE of ranges, and of lists where the new ones have all values of the old | stay |
//! | PARTITION BY RANGE and LIST, other REORGANIZE | are written anew; one without a partition is error 1526 |
//! | DROP, TRUNCATE | are written anew but for those of the partitions |
//! | REBUILD | are written anew |

use super::define::check_name;
use crate::{Error, NameOf, Result};
use std::collections::HashSet;
use types::partition::{
    PARTITIONS_MAX, PartitionBy, PartitionDef, PartitionError, PartitionFunction, PartitionLimit, PartitionProblem,
    PartitionValues, Partitioning, Written,
};
use types::schema::{IndexKind, TableDef};

/// Most columns of a list of them.
const FIELDS_MAX: usize = 16;

/// What ALTER TABLE does with partitions.
#[derive(Clone, Debug)]
pub enum PartitionChange {
    By(Partitioning),
    Remove,
    /// ADD PARTITION (...)
    Add(Vec<PartitionDef>),
    /// ADD PARTITION PARTITIONS n
    AddCount(usize),
    Drop(Vec<String>),
    /// `None`: ALL
    Truncate(Option<Vec<String>>),
    Coalesce(usize),
    Reorganize {
        names: Vec<String>,
        into: Vec<PartitionDef>,
    },
    /// `None`: ALL
    Rebuild(Option<Vec<String>>),
}

/// What a change asks of the rows.
#[derive(Debug, Default)]
pub(super) struct Effect {
    /// They are written anew.
    pub copies: bool,
    /// Rows of these partitions of the old definition go.
    pub leaves_out: Vec<usize>,
}

/// Changes the partitions of a definition.
pub(super) fn change(partitioning: &mut Option<Box<Partitioning>>, change: PartitionChange, old: &TableDef) -> Result<Effect> {
    let mut effect = Effect::default();
    match change {
        PartitionChange::By(new) => {
            effect.copies = !new.by.takes_all();
            *partitioning = Some(Box::new(new));
            return Ok(effect);
        }
        PartitionChange::Remove if partitioning.is_some() => {
            *partitioning = None;
            return Ok(effect);
        }
        _ => {}
    }
    let Some(present) = partitioning.as_deref_mut() else { return Err(PartitionError::NotPartitioned.into()) };
    match change {
        PartitionChange::By(_) | PartitionChange::Remove => {}
        PartitionChange::Add(partitions) => add(present, partitions)?,
        PartitionChange::AddCount(count) => {
            only_with_count(present)?;
            if count == 0 {
                return Err(PartitionError::NothingAdded.into());
            }
            check_count(present.partitions.len().saturating_add(count))?;
            present.partitions.extend(new_names(present, count));
            if present.written == Written::Nothing {
                present.written = Written::Counted;
            }
        }
        PartitionChange::Drop(names) => {
            only_range_or_list(present, "DROP")?;
            if names.len() >= present.partitions.len() {
                return Err(PartitionError::DropsAll.into());
            }
            effect.leaves_out = positions(present, &names, "DROP")?;
            let mut place = 0;
            present.partitions.retain(|_| {
                place += 1;
                !effect.leaves_out.contains(&(place - 1))
            });
            effect.copies = true;
        }
        PartitionChange::Truncate(names) => {
            effect.leaves_out = match names {
                Some(names) => {
                    if let Some(partition) = names.iter().find(|name| present.position(name).is_none()) {
                        return Err(PartitionError::Unknown { partition: partition.clone(), table: old.name.clone() }.into());
                    }
                    positions(present, &names, "TRUNCATE")?
                }
                None => (0..present.partitions.len()).collect(),
            };
            effect.copies = true;
        }
        PartitionChange::Coalesce(count) => {
            if !present.by.takes_all() {
                return Err(PartitionError::CoalescesRange.into());
            }
            if count == 0 {
                return Err(PartitionError::NothingCoalesced.into());
            }
            if count >= present.partitions.len() {
                return Err(PartitionError::DropsAll.into());
            }
            present.partitions.truncate(present.partitions.len() - count);
        }
        PartitionChange::Reorganize { names, into } => effect.copies = reorganize(present, &names, into, old)?,
        PartitionChange::Rebuild(names) => {
            if let Some(names) = names {
                positions(present, &names, "REBUILD")?;
            }
            effect.copies = true;
        }
    }
    Ok(effect)
}

fn only_range_or_list(present: &Partitioning, action: &'static str) -> Result<()> {
    match present.by.takes_all() {
        true => Err(PartitionError::OnlyRangeOrList { action }.into()),
        false => Ok(()),
    }
}

/// RANGE and LIST need the values of partitions that are added.
fn only_with_count(present: &Partitioning) -> Result<()> {
    match present.by.takes_all() {
        true => Ok(()),
        false => Err(PartitionError::NotDefined { kind: kind(&present.by) }.into()),
    }
}

/// RANGE, LIST or HASH, as messages have it.
pub(super) fn kind(by: &PartitionBy) -> &'static str {
    match () {
        () if by.is_range() => "RANGE",
        () if by.is_list() => "LIST",
        () => "HASH",
    }
}

/// The places of named partitions.
fn positions(present: &Partitioning, names: &[String], action: &'static str) -> Result<Vec<usize>> {
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let place = present.position(name).filter(|place| !found.contains(place));
        found.push(place.ok_or(PartitionError::NotInTable { action })?);
    }
    Ok(found)
}

/// Names that no partition has yet, in the manner of PARTITIONS n.
fn new_names(present: &Partitioning, count: usize) -> Vec<PartitionDef> {
    let first = present.partitions.len();
    let free = (first..).filter(|n| present.position(&format!("p{n}")).is_none()).take(count);
    free.flat_map(|n| Partitioning::numbered(n, 1)).collect()
}

fn add(present: &mut Partitioning, partitions: Vec<PartitionDef>) -> Result<()> {
    if present.by.is_range() {
        // 1481 where the last partition takes all above it.
        let has_maximum = |partition: &PartitionDef| match &partition.values {
            PartitionValues::LessThan(limits) => limits.first() == Some(&PartitionLimit::MaxValue),
            _ => false,
        };
        if present.partitions.last().is_some_and(has_maximum) {
            return Err(PartitionError::MaxValueNotLast.into());
        }
    }
    present.partitions.extend(partitions);
    present.written = Written::Named;
    Ok(())
}

/// Puts partitions in the place of others. Answers whether a row may lose its partition by it.
fn reorganize(present: &mut Partitioning, names: &[String], into: Vec<PartitionDef>, old: &TableDef) -> Result<bool> {
    let places = positions(present, names, "REORGANIZE")?;
    if present.by.takes_all() {
        return match into.len() == places.len() {
            true => Err(Error::NotSupported { what: "REORGANIZE PARTITION of HASH and KEY partitions" }),
            false => Err(PartitionError::ReorganizesNumber.into()),
        };
    }
    let (Some(&first), Some(&last)) = (places.iter().min(), places.iter().max()) else { return Ok(false) };
    if present.by.is_list() {
        let members = |partitions: &[PartitionDef]| -> Vec<Vec<PartitionLimit>> {
            let of = |partition: &PartitionDef| match &partition.values {
                PartitionValues::In(members) => members.clone(),
                _ => Vec::new(),
            };
            partitions.iter().flat_map(of).collect()
        };
        let old: Vec<PartitionDef> = places.iter().map(|place| present.partitions[*place].clone()).collect();
        let taken = members(&into);
        let loses = members(&old).iter().any(|member| !taken.contains(member));
        let mut place = 0;
        present.partitions.retain(|_| {
            place += 1;
            !places.contains(&(place - 1))
        });
        present.partitions.splice(first..first, into);
        return Ok(loses);
    }
    if last - first + 1 != places.len() || !places.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
        return Err(PartitionError::NotConsecutive.into());
    }
    let before = &present.partitions[last];
    let same_end = into.last().is_some_and(|partition| partition.values == before.values);
    let is_last = last + 1 == present.partitions.len();
    // The last one may end later than before.
    let grows = || {
        let partitions = std::iter::once(before).chain(into.last()).cloned().collect();
        PartitionFunction::new(&Partitioning { partitions, ..present.clone() }, old).is_ok()
    };
    let is_kept = same_end || is_last && grows();
    if !is_kept {
        return Err(PartitionError::OutsideRange.into());
    }
    present.partitions.splice(first..=last, into);
    Ok(false)
}

/// The rules for the partitions of a whole definition, but for the types of what decides about them (`Expressions::check`).
pub(super) fn check(def: &TableDef) -> Result<()> {
    let Some(partitioning) = def.partitioning.as_deref() else { return Ok(()) };
    if def.id.is_temporary() {
        return Err(PartitionError::Temporary.into());
    }
    check_count(partitioning.partitions.len())?;
    let mut names = HashSet::new();
    for partition in &partitioning.partitions {
        check_partition_name(&partition.name)?;
        if !names.insert(partition.name.to_lowercase()) {
            return Err(PartitionError::DuplicateName { name: partition.name.clone() }.into());
        }
    }
    check_fields(&partitioning.by)?;
    check_limits(partitioning)?;
    if !def.foreign_keys.is_empty() {
        return Err(PartitionError::ForeignKey.into());
    }
    let columns = partitioning.columns_in(def).ok_or(PartitionError::FieldMissing)?;
    match PartitionFunction::new(partitioning, def) {
        Ok(_) => {}
        Err(PartitionProblem::Column) => return Err(PartitionError::FieldMissing.into()),
        Err(PartitionProblem::Value) => return Err(PartitionError::ValueType.into()),
        Err(PartitionProblem::Order(_)) => return Err(PartitionError::NotIncreasing.into()),
        Err(PartitionProblem::Twice) => return Err(PartitionError::Twice.into()),
    }
    for index in &def.indexes {
        let key = match index.kind {
            IndexKind::Primary => "PRIMARY KEY",
            IndexKind::Unique => "UNIQUE INDEX",
            IndexKind::Secondary | IndexKind::HiddenRowId => continue,
        };
        let has = |column: &usize| index.columns.iter().any(|part| part.column == *column && part.prefix.is_none());
        if !columns.iter().all(has) {
            return Err(PartitionError::KeyWithoutFields { key }.into());
        }
    }
    Ok(())
}

fn check_partition_name(name: &str) -> Result<()> {
    check_name(NameOf::Column, name)
}

fn check_count(count: usize) -> Result<()> {
    match count {
        0 => Err(PartitionError::NoPartitions.into()),
        _ if count > PARTITIONS_MAX => Err(PartitionError::TooMany.into()),
        _ => Ok(()),
    }
}

fn check_fields(by: &PartitionBy) -> Result<()> {
    let (PartitionBy::Key { columns, .. } | PartitionBy::RangeColumns(columns) | PartitionBy::ListColumns(columns)) = by else {
        return Ok(());
    };
    if columns.len() > FIELDS_MAX {
        return Err(PartitionError::TooManyFields { list: "list of partition fields" }.into());
    }
    let mut names = HashSet::new();
    match columns.iter().find(|name| !names.insert(name.to_lowercase())) {
        Some(name) => Err(PartitionError::DuplicateField { name: name.clone() }.into()),
        None => Ok(()),
    }
}

/// 1481: what takes everything is the last.
fn check_limits(partitioning: &Partitioning) -> Result<()> {
    let PartitionBy::Range(_) = partitioning.by else { return Ok(()) };
    let before_last = partitioning.partitions.split_last().map_or(&[][..], |(_, before)| before);
    let is_maximum = |partition: &PartitionDef| matches!(&partition.values, PartitionValues::LessThan(limits) if limits.contains(&PartitionLimit::MaxValue));
    match before_last.iter().any(is_maximum) {
        true => Err(PartitionError::MaxValueNotLast.into()),
        false => Ok(()),
    }
}
