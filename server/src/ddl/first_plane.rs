//! Texts of definitions, which MySQL keeps in utf8mb3: comments, queries of views, bodies of stored programs.
//!
//! A session whose literals are utf8mb3 may not write characters beyond the first plane there. Those of other sessions are kept as they
//! are.

use crate::error::{Error, Result};
use crate::session::State;
use conditions::Condition;
use types::definition::{AlterAction, NewIndex, NewTable};
use types::partition::Partitioning;
use types::schema::ColumnDef;

/// 4088: a comment on such a thing of this name.
pub fn check_comment(state: &State, what: &str, name: impl FnOnce() -> String, comment: &str) -> Result<()> {
    match invalid(state, comment) {
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
pub fn check_definition(state: &State, what: &str, name: impl FnOnce() -> String, text: &str) -> Result<()> {
    match invalid(state, text) {
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
pub fn check_table(state: &State, new: &NewTable) -> Result<()> {
    let table = || format!("{}.{}", new.database, new.name);
    check_comment(state, "table", table, &new.comment)?;
    new.columns.iter().try_for_each(|column| check_column(state, &table(), column))?;
    new.indexes.iter().try_for_each(|index| check_index(state, &table(), index))?;
    new.partitioning.iter().try_for_each(|partitioning| check_partitions(state, &table(), partitioning))
}

/// 4088 of a table, `database.name`, that is changed.
pub fn check_changes(state: &State, table: &str, actions: &[AlterAction]) -> Result<()> {
    actions.iter().try_for_each(|action| match action {
        AlterAction::SetComment(comment) => check_comment(state, "table", || table.to_owned(), comment),
        AlterAction::AddColumn { column, .. } | AlterAction::ChangeColumn { column, .. } => check_column(state, table, column),
        AlterAction::AddIndex { index } => check_index(state, table, index),
        _ => Ok(()),
    })
}

fn check_column(state: &State, table: &str, column: &ColumnDef) -> Result<()> {
    check_comment(state, "field", || format!("{table}.{}", column.name), &column.comment)
}

fn check_index(state: &State, table: &str, index: &NewIndex) -> Result<()> {
    check_comment(state, "index", || format!("{table}.{}", index.name), &index.comment)
}

fn check_partitions(state: &State, table: &str, partitioning: &Partitioning) -> Result<()> {
    for partition in &partitioning.partitions {
        check_comment(state, "partition", || format!("{table}.{}", partition.name), &partition.comment)?;
        for sub in &partition.subpartitions {
            check_comment(state, "subpartition", || format!("{table}.{}.{}", partition.name, sub.name), &sub.comment)?;
        }
    }
    Ok(())
}

/// The first bytes that are none of utf8mb3, as messages show them.
fn invalid(state: &State, text: &str) -> Option<String> {
    let is_utf8mb3 = state.settings.connection_collation.info().is_some_and(|info| info.charset == "utf8mb3");
    let beyond = text.char_indices().find(|(_, c)| is_utf8mb3 && c.len_utf8() > 3)?.0;
    Some(text.as_bytes()[beyond..].iter().take(3).map(|byte| format!("\\x{byte:02X}")).collect())
}
