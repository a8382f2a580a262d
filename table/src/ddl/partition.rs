//! Partitions in definitions: the rules for PARTITION BY, and ALTER TABLE's actions on partitions.
//!
//! A partition is the set of rows for which the partition function gives its number (`types::partition`); trees do not
//! know it. So a change of the function alone changes only the catalog. Rows are rewritten (`apply`) if some are
//! dropped with their partition, or if it is not certain that each still has a partition.
//!
//! | action | rows |
//! |---|---|
//! | ADD PARTITION, COALESCE, REMOVE PARTITIONING, PARTITION BY HASH and KEY | stay |
//! | REORGANIZE of HASH and KEY, of ranges, and of lists where the new ones have all values of the old | stay |
//! | PARTITION BY RANGE and LIST, other REORGANIZE | are rewritten; one without a partition raises 1526 |
//! | DROP, TRUNCATE | those of the partitions are deleted, the others stay (`take_out`); or the others are rewritten |
//! | REBUILD | are rewritten |

use super::PartitionChange;
use super::name::check_name;
use crate::{NameOf, Result};
use std::collections::HashSet;
use types::partition::{
    PARTITIONS_MAX, PartitionBy, PartitionDef, PartitionError, PartitionFunction, PartitionLimit, PartitionProblem,
    PartitionValues, Partitioning, Written,
};
use types::schema::{IndexKind, TableDef};

/// Most columns of a list of them.
const FIELDS_MAX: usize = 16;

/// What a change requires of the rows.
#[derive(Debug, Default)]
pub(super) struct Effect {
    /// They are rewritten.
    pub copies: bool,
    /// Rows of these partitions of the old definition are dropped, unless all rows are rewritten.
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
            let places = positions(present, &names, "DROP")?;
            effect.leaves_out = places.iter().flat_map(|place| present.numbers_of(*place)).collect();
            let mut place = 0;
            present.partitions.retain(|_| {
                place += 1;
                !places.contains(&(place - 1))
            });
        }
        PartitionChange::Truncate(names) => {
            effect.leaves_out = match names {
                Some(names) => truncated(present, &names, old)?,
                None => (0..present.partitions.len() * present.sub_count()).collect(),
            };
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
        PartitionChange::ReorganizeAll => {
            if !present.by.takes_all() || present.written == Written::Nothing {
                return Err(PartitionError::ReorganizesAlone.into());
            }
            present.partitions.truncate(1);
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
    if present.by.takes_all() { Err(PartitionError::OnlyRangeOrList { action }.into()) } else { Ok(()) }
}

/// RANGE and LIST need the values of partitions that are added.
fn only_with_count(present: &Partitioning) -> Result<()> {
    if present.by.takes_all() { Ok(()) } else { Err(PartitionError::NotDefined { kind: kind(&present.by) }.into()) }
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

/// The numbers of named partitions and subpartitions.
fn truncated(present: &Partitioning, names: &[String], table: &TableDef) -> Result<Vec<usize>> {
    let unknown = |partition: &String| PartitionError::Unknown { partition: partition.clone(), table: table.name.clone() };
    let mut found = Vec::new();
    for name in names {
        let numbers = present.numbers(name).ok_or_else(|| unknown(name))?;
        if numbers.clone().any(|number| found.contains(&number)) {
            return Err(PartitionError::NotInTable { action: "TRUNCATE" }.into());
        }
        found.extend(numbers);
    }
    Ok(found)
}

/// Added partitions have as many subpartitions as the others (1513), with given names or names that follow from theirs.
fn fit_subpartitions(present: &mut Partitioning, partitions: &mut [PartitionDef]) -> Result<()> {
    let named = |partition: &PartitionDef| !partition.subpartitions.is_empty();
    let Some(sub) = &mut present.sub else {
        return if partitions.iter().any(named) { Err(PartitionError::SubpartitionMix.into()) } else { Ok(()) };
    };
    let count = sub.partitions.len();
    if partitions.iter().any(|partition| named(partition) && partition.subpartitions.len() != count) {
        return Err(PartitionError::AddsOtherCount.into());
    }
    if partitions.iter().any(named) {
        sub.written = Written::Named;
    }
    present.name_subpartitions(partitions);
    Ok(())
}

/// Names that no partition has yet, in the manner of PARTITIONS n.
fn new_names(present: &Partitioning, count: usize) -> Vec<PartitionDef> {
    let first = present.partitions.len();
    let free = (first..).filter(|n| present.position(&format!("p{n}")).is_none()).take(count);
    free.flat_map(|n| Partitioning::numbered(n, 1)).collect()
}

fn add(present: &mut Partitioning, mut partitions: Vec<PartitionDef>) -> Result<()> {
    fit_subpartitions(present, &mut partitions)?;
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

/// Replaces partitions by others. Returns whether a row may lose its partition by this.
fn reorganize(present: &mut Partitioning, names: &[String], mut into: Vec<PartitionDef>, old: &TableDef) -> Result<bool> {
    if names.len() > present.partitions.len() {
        return Err(PartitionError::ReorganizesMore.into());
    }
    if present.by.takes_all() && into.len() != names.len() {
        return Err(PartitionError::ReorganizesNumber.into());
    }
    let places = positions(present, names, "REORGANIZE")?;
    fit_subpartitions(present, &mut into)?;
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
    if last - first + 1 != places.len() {
        return Err(PartitionError::NotConsecutive.into());
    }
    if present.by.takes_all() {
        // Only the names change; the rows are the same.
        present.partitions.splice(first..=last, into);
        present.written = Written::Named;
        return Ok(false);
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

/// The rules for the partitions of a whole definition, except for the types of the partitioning columns
/// (`Expressions::check`).
pub(super) fn check(def: &TableDef) -> Result<()> {
    let Some(partitioning) = def.partitioning.as_deref() else { return Ok(()) };
    if def.id.is_temporary() {
        return Err(PartitionError::Temporary.into());
    }
    check_count(partitioning.partitions.len().saturating_mul(partitioning.sub_count()))?;
    let mut names = HashSet::new();
    for partition in &partitioning.partitions {
        for name in std::iter::once(&partition.name).chain(partition.subpartitions.iter().map(|sub| &sub.name)) {
            check_partition_name(name)?;
            if !names.insert(name.to_lowercase()) {
                return Err(PartitionError::DuplicateName { name: name.clone() }.into());
            }
        }
    }
    check_fields(&partitioning.by)?;
    if let Some(sub) = &partitioning.sub {
        check_fields(&sub.by)?;
    }
    check_limits(partitioning)?;
    if !def.foreign_keys.is_empty() {
        return Err(PartitionError::ForeignKey.into());
    }
    let mut columns = partitioning.columns_in(def).ok_or(PartitionError::FieldMissing)?;
    if let Some(sub) = &partitioning.sub {
        columns.extend(sub.columns_in(def).ok_or(PartitionError::FieldMissing)?);
    }
    match PartitionFunction::new(partitioning, def) {
        Ok(_) => {}
        Err(PartitionProblem::Column) => return Err(PartitionError::FieldMissing.into()),
        Err(PartitionProblem::Value) => return Err(PartitionError::ValueType.into()),
        Err(PartitionProblem::Order(_)) => return Err(PartitionError::NotIncreasing.into()),
        Err(PartitionProblem::Twice) => return Err(PartitionError::Twice.into()),
    }
    if def.columns.iter().any(|column| column.ty.is_geometry()) {
        return Err(crate::Error::PartitionedSpatial);
    }
    for index in &def.indexes {
        let key = match index.kind {
            IndexKind::Primary => "PRIMARY KEY",
            IndexKind::Unique | IndexKind::MultiValued { unique: true } => "UNIQUE INDEX",
            IndexKind::FullText => return Err(crate::Error::PartitionedFullText),
            IndexKind::Spatial => return Err(crate::Error::PartitionedSpatial),
            IndexKind::Vector { .. } => return Err(crate::Error::NotSupported { what: "a VECTOR index of a partitioned table" }),
            IndexKind::Secondary | IndexKind::HiddenRowId | IndexKind::MultiValued { unique: false } => continue,
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
        0 => Err(PartitionError::NoPartitions { what: "partitions" }.into()),
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

/// 1481: a partition with MAXVALUE must be the last.
fn check_limits(partitioning: &Partitioning) -> Result<()> {
    let PartitionBy::Range(_) = partitioning.by else { return Ok(()) };
    let before_last = partitioning.partitions.split_last().map_or(&[][..], |(_, before)| before);
    let is_maximum = |partition: &PartitionDef| matches!(&partition.values, PartitionValues::LessThan(limits) if limits.contains(&PartitionLimit::MaxValue));
    if before_last.iter().any(is_maximum) { Err(PartitionError::MaxValueNotLast.into()) } else { Ok(()) }
}
