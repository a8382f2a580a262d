//! What the applier says of events that it cannot apply.

use super::super::rows;
use super::{Failed, fatal};
use crate::error::{Description, Error};
use binlog::event;
use binlog::read::RowsKind;
use conditions::Condition;
use table::Table;

/// MySQL's text for a row that cannot be written.
pub fn row_failed(failed: rows::Failed, kind: RowsKind, table: &Table, (file, position): (&str, u32)) -> Failed {
    let def = table.def();
    let (error, handler): (Error, &str) = match failed {
        rows::Failed::NotFound => (Condition::KeyNotFound { table: def.name.as_str().into() }.into(), "HA_ERR_KEY_NOT_FOUND"),
        rows::Failed::Duplicate { index, value } => {
            let key = format!("{}.{}", def.name, def.indexes[index].name);
            (Condition::DupEntry { value: value.into(), key: key.into() }.into(), "HA_ERR_FOUND_DUPP_KEY")
        }
        rows::Failed::Follows { child, why } => {
            return fatal(&format!(
                "a row of {}.{} has changed, which a foreign key of {child} follows and the source has not logged: {why}",
                def.database, def.name
            ));
        }
        rows::Failed::Hidden(error) => (error.into(), "the engine's own"),
        rows::Failed::Engine(error) => (Error::Exec(exec::engine_error(error)), "the engine's own"),
    };
    let kind = match kind {
        RowsKind::Write => "Write_rows",
        RowsKind::Update => "Update_rows",
        RowsKind::Delete => "Delete_rows",
    };
    Failed::of(&error, |Description { number, message, .. }| {
        format!(
            "Could not execute {kind} event on table {}.{}; {message}, Error_code: {number}; handler error {handler}; the event's source \
             log {file}, end_log_pos {position}",
            def.database, def.name
        )
    })
}

/// The name of an event that is refused.
pub fn what_is(kind: u8) -> &'static str {
    match kind {
        5 => "Intvar: a statement instead of rows",
        13 => "Rand: a statement instead of rows",
        14 => "User_var: a statement instead of rows",
        38 => "XA_prepare",
        39 => "Partial_update_rows: binlog_row_value_options",
        40 => "Transaction_payload: binlog_transaction_compression",
        kind => event::name(kind),
    }
}
