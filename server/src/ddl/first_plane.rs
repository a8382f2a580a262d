//! Texts of definitions, which MySQL keeps in utf8mb3: comments, queries of views, bodies of stored programs.
//!
//! A session whose literals are utf8mb3 (`collation_connection`) may not write characters beyond the first plane there. The texts of other
//! sessions are kept as they are.

use crate::error::{Error, Result};
use conditions::Condition;
use types::CollationId;
use types::definition::{AlterAction, NewIndex, NewTable};
use types::partition::Partitioning;
use types::schema::ColumnDef;

/// 4088: a comment on such a thing of this name.
pub fn check_comment(literals: CollationId, what: &str, name: impl FnOnce() -> String, comment: &str) -> Result<()> {
    match invalid(literals, comment) {
        Some(bytes) => Err(Error::from(Condition::CommentContainsInvalidString {
            what: what.into(),
            name: name().into(),
            charset: "utf8mb3".into(),
            bytes: bytes.into(),
        })),
        None => Ok(()),
    }
}

/// 4089: the definition of such a thing of this name.
pub fn check_definition(literals: CollationId, what: &str, name: impl FnOnce() -> String, text: &str) -> Result<()> {
    match invalid(literals, text) {
        Some(bytes) => Err(Error::from(Condition::DefinitionContainsInvalidString {
            what: what.into(),
            name: name().into(),
            charset: "utf8mb3".into(),
            bytes: bytes.into(),
        })),
        None => Ok(()),
    }
}

/// 4088 of a table that is made.
pub fn check_table(literals: CollationId, new: &NewTable) -> Result<()> {
    let table = || format!("{}.{}", new.database, new.name);
    check_comment(literals, "table", table, &new.comment)?;
    new.columns.iter().try_for_each(|column| check_column(literals, &table(), column))?;
    new.indexes.iter().try_for_each(|index| check_index(literals, &table(), index))?;
    new.partitioning.iter().try_for_each(|partitioning| check_partitions(literals, &table(), partitioning))
}

/// 4088 of a table, `database.name`, that is changed.
pub fn check_changes(literals: CollationId, table: &str, actions: &[AlterAction]) -> Result<()> {
    actions.iter().try_for_each(|action| match action {
        AlterAction::SetComment(comment) => check_comment(literals, "table", || table.to_owned(), comment),
        AlterAction::AddColumn { column, .. } | AlterAction::ChangeColumn { column, .. } => check_column(literals, table, column),
        AlterAction::AddIndex { index } => check_index(literals, table, index),
        _ => Ok(()),
    })
}

fn check_column(literals: CollationId, table: &str, column: &ColumnDef) -> Result<()> {
    check_comment(literals, "field", || format!("{table}.{}", column.name), &column.comment)
}

fn check_index(literals: CollationId, table: &str, index: &NewIndex) -> Result<()> {
    check_comment(literals, "index", || format!("{table}.{}", index.name), &index.comment)
}

fn check_partitions(literals: CollationId, table: &str, partitioning: &Partitioning) -> Result<()> {
    for partition in &partitioning.partitions {
        check_comment(literals, "partition", || format!("{table}.{}", partition.name), &partition.comment)?;
        for sub in &partition.subpartitions {
            check_comment(literals, "subpartition", || format!("{table}.{}.{}", partition.name, sub.name), &sub.comment)?;
        }
    }
    Ok(())
}

/// The first bytes that are none of utf8mb3, as messages show them.
fn invalid(literals: CollationId, text: &str) -> Option<String> {
    let is_utf8mb3 = literals.info().is_some_and(|info| info.charset == "utf8mb3");
    let beyond = text.char_indices().find(|(_, c)| is_utf8mb3 && c.len_utf8() > 3)?.0;
    Some(text.as_bytes()[beyond..].iter().take(3).map(|byte| format!("\\x{byte:02X}")).collect())
}
