//! Binds PARTITION BY and its values. The session computes constants ([`DefineContext::constant`]). The crate `table`
//! checks rules about the table as a whole.

use super::{DefineContext, Definer, default_text};
use crate::ast::{
    Expr, PartitionAction, PartitionBy as AstBy, PartitionClause, PartitionDefinition, PartitionValue,
    PartitionValues as AstValues, SubpartitionClause,
};
use crate::{CommentOf, Error, Result};
use conditions::Condition;
use types::convert::{self, Warnings};
use types::definition::PartitionChange;
use types::partition::{
    PartitionBy, PartitionDef, PartitionError, PartitionLimit, PartitionValues, Partitioning, SubpartitionDef, Written,
    may_partition,
};
use types::schema::{ColumnDef, TableDef};
use types::{ColumnType, TypeKind, Value};

/// PARTITION BY of a table with these columns.
pub fn partitioning(context: &dyn DefineContext, clause: &PartitionClause<'_>, columns: &[ColumnDef]) -> Result<Partitioning> {
    let by = partition_by(clause.by, columns)?;
    if clause.count == Some(0) {
        return Err(Error::Partition(PartitionError::NoPartitions { what: "partitions" }));
    }
    let mut sub = clause.sub.map(|sub| subpartitioning(&sub, columns)).transpose()?;
    let has_subs = clause.partitions.iter().any(|partition| !partition.subpartitions.is_empty());
    if by.takes_all() && sub.is_some() || sub.is_none() && has_subs {
        return Err(Error::Partition(PartitionError::SubpartitionMix));
    }
    let defined = clause.partitions.len();
    if defined == 0 {
        if !by.takes_all() {
            let kind = if by.is_range() { "RANGE" } else { "LIST" };
            return Err(Error::Partition(PartitionError::NotDefined { kind }));
        }
        let count = counted(clause.count)?;
        let written = if clause.count.is_some() { Written::Counted } else { Written::Nothing };
        return Ok(Partitioning { by, partitions: Partitioning::numbered(0, count), written, sub });
    }
    if clause.count.is_some_and(|count| count != defined as u64) {
        return Err(Error::Partition(PartitionError::WrongCount));
    }
    let mut partitions = definitions(context, clause.partitions, &by, columns)?;
    if let Some(sub) = sub.as_deref_mut().filter(|_| has_subs) {
        let count = partitions[0].subpartitions.len();
        let is_other = sub.written == Written::Counted && sub.partitions.len() != count;
        if is_other || partitions.iter().any(|partition| partition.subpartitions.len() != count) {
            return Err(Error::Partition(PartitionError::WrongSubCount));
        }
        sub.partitions = Partitioning::numbered(0, count);
        sub.written = Written::Named;
    }
    let mut whole = Partitioning { by, partitions: Vec::new(), written: Written::Named, sub };
    whole.name_subpartitions(&mut partitions);
    whole.partitions = partitions;
    Ok(whole)
}

/// SUBPARTITION BY.
fn subpartitioning(clause: &SubpartitionClause<'_>, columns: &[ColumnDef]) -> Result<Box<Partitioning>> {
    let by = partition_by(clause.by, columns)?;
    if clause.count == Some(0) {
        return Err(Error::Partition(PartitionError::NoPartitions { what: "subpartitions" }));
    }
    let partitions = Partitioning::numbered(0, counted(clause.count)?);
    let written = if clause.count.is_some() { Written::Counted } else { Written::Nothing };
    Ok(Box::new(Partitioning { by, partitions, written, sub: None }))
}

/// PARTITIONS n
fn counted(count: Option<u64>) -> Result<usize> {
    let count = count.map_or(1, |count| usize::try_from(count).unwrap_or(usize::MAX));
    if count > types::partition::PARTITIONS_MAX { Err(Error::Partition(PartitionError::TooMany)) } else { Ok(count) }
}

fn partition_by(by: AstBy<'_>, columns: &[ColumnDef]) -> Result<PartitionBy> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    let by = match by {
        AstBy::Hash { expr, linear } => PartitionBy::Hash { expr: crate::partition_expr(expr)?, linear },
        AstBy::Key { columns, linear, algorithm } => {
            if algorithm.is_some_and(|algorithm| !(1..=2).contains(&algorithm)) {
                return Err(Condition::PartitionUnknownAlgorithm.into());
            }
            PartitionBy::Key { columns: names(columns), linear, old_algorithm: algorithm == Some(1) }
        }
        AstBy::Range(expr) => PartitionBy::Range(crate::partition_expr(expr)?),
        AstBy::List(expr) => PartitionBy::List(crate::partition_expr(expr)?),
        AstBy::RangeColumns(columns) => PartitionBy::RangeColumns(names(columns)),
        AstBy::ListColumns(columns) => PartitionBy::ListColumns(names(columns)),
    };
    if by.columns().iter().any(|name| !columns.iter().any(|column| column.name.eq_ignore_ascii_case(name))) {
        return Err(match by.expr() {
            Some(expr) => unknown_column(&expr.columns, columns),
            None => Error::Partition(PartitionError::FieldMissing),
        });
    }
    if let PartitionBy::RangeColumns(names) | PartitionBy::ListColumns(names) = &by {
        check_types(names, columns)?;
    }
    Ok(by)
}

/// An action of ALTER TABLE on partitions.
pub fn change(context: &dyn DefineContext, action: &PartitionAction<'_>, def: &TableDef) -> Result<PartitionChange> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    let all_or_names = |list: Option<&[&str]>| list.map(names);
    let present = || def.partitioning.as_deref().ok_or(Error::Partition(PartitionError::NotPartitioned));
    let defined = |partitions: &[PartitionDefinition<'_>]| definitions(context, partitions, &present()?.by, &def.columns);
    Ok(match *action {
        PartitionAction::By(clause) => PartitionChange::By(partitioning(context, clause, &def.columns)?),
        PartitionAction::Remove => PartitionChange::Remove,
        PartitionAction::Add { count: Some(count), .. } => {
            PartitionChange::AddCount(usize::try_from(count).unwrap_or(usize::MAX))
        }
        PartitionAction::Add { partitions, count: None } => PartitionChange::Add(defined(partitions)?),
        PartitionAction::Drop(list) => PartitionChange::Drop(names(list)),
        PartitionAction::Truncate(list) => PartitionChange::Truncate(all_or_names(list)),
        PartitionAction::Coalesce(count) => PartitionChange::Coalesce(usize::try_from(count).unwrap_or(usize::MAX)),
        PartitionAction::Reorganize { names: list, into } => {
            PartitionChange::Reorganize { names: names(list), into: defined(into)? }
        }
        PartitionAction::ReorganizeAll => PartitionChange::ReorganizeAll,
        PartitionAction::Rebuild(list) => PartitionChange::Rebuild(all_or_names(list)),
        // By itself it is `exchange`.
        PartitionAction::Exchange { .. } => {
            return Err(Error::NotSupported("EXCHANGE PARTITION together with other actions".to_owned()));
        }
    })
}

/// 1502, 1659: before the values are looked at.
fn check_types(names: &[String], columns: &[ColumnDef]) -> Result<()> {
    for column in columns.iter().filter(|column| names.iter().any(|name| name.eq_ignore_ascii_case(&column.name))) {
        if matches!(column.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_)) {
            return Err(Error::Partition(PartitionError::BlobField));
        }
        if !may_partition(&column.ty.kind) {
            return Err(Error::Partition(PartitionError::FieldType { name: column.name.clone() }));
        }
    }
    Ok(())
}

fn unknown_column(names: &[String], columns: &[ColumnDef]) -> Error {
    let is_missing = |name: &&String| !columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    let name = names.iter().find(is_missing).cloned().unwrap_or_default();
    Condition::BadFieldError { column: name.into(), clause: "partition function".into() }.into()
}

fn definitions(
    context: &dyn DefineContext,
    written: &[PartitionDefinition<'_>],
    by: &PartitionBy,
    columns: &[ColumnDef],
) -> Result<Vec<PartitionDef>> {
    let mut definitions = Vec::with_capacity(written.len());
    for partition in written {
        let limits = Limits { context, by, columns, partition: partition.name };
        let comment = |name: &str, comment: Option<&[u8]>| Definer::new(context).comment(CommentOf::Partition, name, comment);
        let sub = |(name, text): &(&str, Option<&[u8]>)| {
            Ok(SubpartitionDef { name: (*name).to_owned(), comment: comment(name, *text)? })
        };
        definitions.push(PartitionDef {
            name: partition.name.to_owned(),
            values: limits.values(&partition.values)?,
            comment: comment(partition.name, partition.comment)?,
            subpartitions: partition.subpartitions.iter().map(sub).collect::<Result<_>>()?,
        });
    }
    Ok(definitions)
}

/// Builds the values of one partition.
struct Limits<'a> {
    context: &'a dyn DefineContext,
    by: &'a PartitionBy,
    columns: &'a [ColumnDef],
    partition: &'a str,
}

impl Limits<'_> {
    fn values(&self, values: &AstValues<'_>) -> Result<PartitionValues> {
        let (range, list) = (self.by.is_range(), self.by.is_list());
        let wrong = |error| Err(Error::Partition(error));
        match values {
            AstValues::None if range => wrong(PartitionError::ValuesNeeded { kind: "RANGE", values: "LESS THAN" }),
            AstValues::None if list => wrong(PartitionError::ValuesNeeded { kind: "LIST", values: "IN" }),
            AstValues::None => Ok(PartitionValues::None),
            AstValues::LessThan(_) if !range => wrong(PartitionError::WrongValues { kind: "RANGE", values: "LESS THAN" }),
            AstValues::In(_) if !list => wrong(PartitionError::WrongValues { kind: "LIST", values: "IN" }),
            AstValues::LessThan(limits) => {
                if self.by.expr().is_some() && limits.len() > 1 {
                    return wrong(PartitionError::SeveralValues { kind: "RANGE" });
                }
                let limits = self.row(limits)?;
                if limits.contains(&PartitionLimit::Null) {
                    wrong(PartitionError::NullInRange)
                } else {
                    Ok(PartitionValues::LessThan(limits))
                }
            }
            AstValues::In(members) => {
                let members = members.iter().map(|member| self.member(member));
                Ok(PartitionValues::In(members.collect::<Result<_>>()?))
            }
        }
    }

    fn member(&self, member: &[PartitionValue<'_>]) -> Result<Vec<PartitionLimit>> {
        if self.by.expr().is_some() && member.len() > 1 {
            return Err(Error::Partition(PartitionError::RowOfOneField));
        }
        if member.contains(&PartitionValue::MaxValue) {
            return Err(Error::Partition(PartitionError::MaxValueInList));
        }
        self.row(member)
    }

    /// One limit for the expression, or for each column.
    fn row(&self, values: &[PartitionValue<'_>]) -> Result<Vec<PartitionLimit>> {
        if self.by.expr().is_some() {
            return values.iter().map(|value| self.number(value)).collect();
        }
        let names = self.by.columns();
        if names.len() != values.len() {
            let too_many = values.len() > names.len();
            return Err(Error::Partition(PartitionError::ColumnLists { too_many }));
        }
        let columns = names.iter().filter_map(|name| self.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name)));
        columns.zip(values).map(|(column, value)| self.of_column(column, value)).collect()
    }

    /// A limit of the expression.
    fn number(&self, value: &PartitionValue<'_>) -> Result<PartitionLimit> {
        let PartitionValue::Expr(expr) = value else { return Ok(PartitionLimit::MaxValue) };
        match self.computed(expr)?.0 {
            Value::Null => Ok(PartitionLimit::Null),
            Value::Int(number) => Ok(PartitionLimit::Literal(number.to_string())),
            Value::UInt(number) => Ok(PartitionLimit::Literal(number.to_string())),
            _ => Err(Error::Partition(PartitionError::NotInteger { partition: self.partition.to_owned() })),
        }
    }

    /// A limit of a column, as its default would be kept.
    fn of_column(&self, column: &ColumnDef, value: &PartitionValue<'_>) -> Result<PartitionLimit> {
        let PartitionValue::Expr(expr) = value else { return Ok(PartitionLimit::MaxValue) };
        let (value, from) = self.computed(expr)?;
        let fits = match (&column.ty.kind, &value) {
            (_, Value::Null) => return Ok(PartitionLimit::Null),
            (
                TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt,
                Value::Int(_) | Value::UInt(_),
            ) => true,
            (TypeKind::Date | TypeKind::DateTime { .. }, Value::Bytes(_) | Value::Date(_) | Value::DateTime(_)) => true,
            (TypeKind::Time { .. }, Value::Bytes(_) | Value::Time(_)) => true,
            (
                TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Binary { .. } | TypeKind::VarBinary { .. },
                Value::Bytes(_),
            ) => true,
            _ => false,
        };
        let wrong = || Error::Partition(PartitionError::ValueType);
        if !fits {
            return Err(wrong());
        }
        let context = self.context.literals();
        let mut warnings = Warnings::new();
        let stored = convert::store(&value, &from, &column.ty, &context, &mut warnings).map_err(|_| wrong())?;
        if warnings.drain().next().is_some() {
            return Err(wrong());
        }
        // A date is shown as it is written.
        Ok(PartitionLimit::Literal(match (&column.ty.kind, &value) {
            (TypeKind::Date | TypeKind::DateTime { .. }, Value::Bytes(written)) => String::from_utf8_lossy(written).into_owned(),
            _ => default_text(&stored, &column.ty),
        }))
    }

    /// The value of a constant.
    fn computed(&self, expr: &Expr<'_>) -> Result<(Value<'static>, ColumnType)> {
        self.context.constant(expr)?.ok_or(Error::Partition(PartitionError::NotOfRow))
    }
}
