//! Partitions as SHOW CREATE TABLE and information_schema print them.

use super::{PartitionBy, PartitionDef, PartitionLimit, PartitionValues, Partitioning, SubpartitionDef, Written};
use crate::TypeKind;
use crate::schema::TableDef;
use crate::show_create::{escaped, quoted_name, quoted_text};
use std::fmt::Write;

/// The clause after the table's options, in a comment that older servers do not read.
pub fn clause(table: &TableDef, of: &Partitioning) -> String {
    let calls_new = |by: &PartitionBy| by.expr().is_some_and(|expr| expr.text.contains("to_seconds("));
    let version = match &of.by {
        PartitionBy::RangeColumns(_) | PartitionBy::ListColumns(_) => "50500",
        by if calls_new(by) || of.sub.as_ref().is_some_and(|sub| calls_new(&sub.by)) => "50500",
        _ => "50100",
    };
    let mut out = format!("\n/*!{version} PARTITION BY {}", head(&of.by));
    if let Some(sub) = &of.sub {
        write!(out, "\nSUBPARTITION BY {}", head(&sub.by)).expect("a String takes everything");
        if sub.written == Written::Counted {
            write!(out, "\nSUBPARTITIONS {}", sub.partitions.len()).expect("a String takes everything");
        }
    }
    match of.written {
        Written::Nothing => {}
        Written::Counted => write!(out, "\nPARTITIONS {}", of.partitions.len()).expect("a String takes everything"),
        Written::Named => {
            let partitions: Vec<String> = of.partitions.iter().map(|partition| definition(table, of, partition)).collect();
            write!(out, "\n({})", partitions.join(",\n ")).expect("a String takes everything");
        }
    }
    out.push_str(" */");
    out
}

fn head(by: &PartitionBy) -> String {
    match by {
        PartitionBy::Hash { expr, linear } => format!("{}HASH ({})", if *linear { "LINEAR " } else { "" }, expr.text),
        PartitionBy::Key { columns, linear, old_algorithm } => {
            let algorithm = if *old_algorithm { "*/ /*!50611 ALGORITHM = 1 */ /*!50100 " } else { "" };
            format!(
                "{}KEY {algorithm}({})",
                if *linear { "LINEAR " } else { "" },
                columns.iter().map(|name| name_text(name)).collect::<Vec<_>>().join(",")
            )
        }
        PartitionBy::Range(expr) => format!("RANGE ({})", expr.text),
        PartitionBy::List(expr) => format!("LIST ({})", expr.text),
        // With two spaces, as MySQL has it.
        PartitionBy::RangeColumns(columns) => format!("RANGE  COLUMNS({})", names(columns)),
        PartitionBy::ListColumns(columns) => format!("LIST  COLUMNS({})", names(columns)),
    }
}

fn names(columns: &[String]) -> String {
    columns.iter().map(|name| name_text(name)).collect::<Vec<_>>().join(",")
}

/// Quoted with backticks only if necessary.
fn name_text(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    if name.chars().all(is_plain) && !name.chars().all(|c| c.is_ascii_digit()) { name.to_owned() } else { quoted_name(name) }
}

fn definition(table: &TableDef, of: &Partitioning, partition: &PartitionDef) -> String {
    let mut out = format!("PARTITION {}", name_text(&partition.name));
    match &partition.values {
        PartitionValues::None => {}
        PartitionValues::LessThan(limits) if of.by.expr().is_some() && limits.contains(&PartitionLimit::MaxValue) => {
            out.push_str(" VALUES LESS THAN MAXVALUE");
        }
        values => {
            let how = if let PartitionValues::LessThan(_) = values { "LESS THAN" } else { "IN" };
            write!(out, " VALUES {how} ({})", values_text(table, of, values)).expect("a String takes everything");
        }
    }
    if of.sub.as_ref().is_some_and(|sub| sub.written == Written::Named) {
        let sub = |sub: &SubpartitionDef| format!("SUBPARTITION {}{}", name_text(&sub.name), options(&sub.comment));
        let subs: Vec<String> = partition.subpartitions.iter().map(sub).collect();
        write!(out, "\n ({})", subs.join(",\n  ")).expect("a String takes everything");
    } else {
        out.push_str(&options(&partition.comment));
    }
    out
}

fn options(comment: &str) -> String {
    if comment.is_empty() { " ENGINE = InnoDB".to_owned() } else { format!(" COMMENT = '{}' ENGINE = InnoDB", escaped(comment)) }
}

/// PARTITION_DESCRIPTION: the values without their clause.
pub fn description(table: &TableDef, of: &Partitioning, partition: &PartitionDef) -> Option<String> {
    match &partition.values {
        PartitionValues::None => None,
        values => Some(values_text(table, of, values)),
    }
}

/// PARTITION_EXPRESSION; none for KEY().
pub fn expression(of: &Partitioning) -> Option<String> {
    Some(match of.by.expr() {
        Some(expr) => expr.text.clone(),
        None if of.by.columns().is_empty() => return None,
        None => of.by.columns().iter().map(|name| quoted_name(name)).collect::<Vec<_>>().join(","),
    })
}

fn values_text(table: &TableDef, of: &Partitioning, values: &PartitionValues) -> String {
    let row = |limits: &Vec<PartitionLimit>| {
        let columns = of.by.columns().iter().map(|name| table.column_index(name));
        // An expression has one limit, and none of its columns matters.
        let columns = columns.map(|column| column.filter(|_| of.by.expr().is_none())).chain(std::iter::repeat(None));
        let texts = limits.iter().zip(columns).map(|(limit, column)| limit_text(limit, column.map(|column| (table, column))));
        texts.collect::<Vec<_>>().join(",")
    };
    match values {
        PartitionValues::None => String::new(),
        PartitionValues::LessThan(limits) => row(limits),
        PartitionValues::In(members) => {
            // For an expression, NULL comes first.
            let is_null = |limits: &&Vec<PartitionLimit>| of.by.expr().is_some() && limits[..] == [PartitionLimit::Null];
            let (nulls, others): (Vec<_>, Vec<_>) = members.iter().partition(is_null);
            let member = |limits: &Vec<PartitionLimit>| match limits.len() {
                1 => row(limits),
                _ => format!("({})", row(limits)),
            };
            nulls.into_iter().chain(others).map(member).collect::<Vec<_>>().join(",")
        }
    }
}

fn limit_text(limit: &PartitionLimit, column: Option<(&TableDef, usize)>) -> String {
    let text = match limit {
        PartitionLimit::MaxValue => return "MAXVALUE".to_owned(),
        PartitionLimit::Null => return "NULL".to_owned(),
        PartitionLimit::Literal(text) => text,
    };
    let Some((table, column)) = column else { return text.clone() };
    match table.columns[column].ty.kind {
        TypeKind::Binary { .. } | TypeKind::VarBinary { .. } => format!("_binary 0x{text}"),
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt => text.clone(),
        _ => quoted_text(text),
    }
}
