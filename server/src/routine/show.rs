//! What SHOW and information_schema say of procedures.

use super::Routine;
use crate::accounts::Access;
use crate::error::{Error, Result};
use crate::session::{ResultSet, State};
use crate::show::{Columns, datetime, optional, result, text};
use crate::variables;
use sql::ast::ObjectName;
use std::sync::Arc;
use types::schema::{RoutineDef, Schema};
use types::{ColumnType, Value};

/// `root@%` as it is written.
fn quoted_definer(def: &RoutineDef) -> String {
    let (user, host) = def.definer.rsplit_once('@').unwrap_or((&def.definer, "%"));
    format!("`{user}`@`{host}`")
}

/// The statement that makes the procedure.
fn statement(def: &RoutineDef) -> String {
    let name = def.name.replace('`', "``");
    let mut out = format!("CREATE DEFINER={} PROCEDURE `{name}`({})\n", quoted_definer(def), def.parameters);
    if def.data_access != "CONTAINS SQL" {
        out.push_str(&format!("    {}\n", def.data_access));
    }
    if def.deterministic {
        out.push_str("    DETERMINISTIC\n");
    }
    if def.invoker {
        out.push_str("    SQL SECURITY INVOKER\n");
    }
    if !def.comment.is_empty() {
        let comment = def.comment.replace('\\', "\\\\").replace('\'', "''");
        out.push_str(&format!("    COMMENT '{comment}'\n"));
    }
    out.push_str(&def.body);
    out
}

/// SHOW CREATE PROCEDURE
pub fn show_create(state: &State, name: &ObjectName<'_>) -> Result<ResultSet> {
    let database = name.database.or(state.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
    let schema = state.schema();
    let Some(def) = schema.procedure(database, name.name).filter(|def| state.access.sees_routine(def)) else {
        return Err(Error::DoesNotExist { kind: "PROCEDURE", name: name.name.to_owned() });
    };
    let columns = Columns::default()
        .text("Procedure", 256)
        .text("sql_mode", 1024)
        .nullable_text("Create Procedure", 65_535)
        .text("character_set_client", 32)
        .text("collation_connection", 32)
        .text("Database Collation", 32);
    let mut made = result(columns);
    made.rows.push(vec![
        text(&def.name),
        text(variables::bits_to_text(def.sql_mode)),
        optional(state.access.shows_routine(def).then(|| statement(def))),
        text(&def.client_charset),
        text(def.connection_collation.name()),
        text(def.database_collation.name()),
    ]);
    Ok(made)
}

fn all(schema: &Schema) -> impl Iterator<Item = &Arc<RoutineDef>> {
    schema.databases.values().flat_map(|database| database.procedures.values())
}

fn security(def: &RoutineDef) -> Value<'static> {
    text(if def.invoker { "INVOKER" } else { "DEFINER" })
}

/// The rows of SHOW PROCEDURE STATUS.
pub fn status(state: &State) -> Vec<Vec<Value<'static>>> {
    let schema = state.visible_schema();
    let row = |def: &Arc<RoutineDef>| {
        vec![
            text(&def.database),
            text(&def.name),
            text("PROCEDURE"),
            text("SQL"),
            text(&def.definer),
            datetime(def.altered_us),
            datetime(def.created_us),
            security(def),
            text(&def.comment),
            text(&def.client_charset),
            text(def.connection_collation.name()),
            text(def.database_collation.name()),
        ]
    };
    all(&schema).map(row).collect()
}

/// The rows of information_schema.ROUTINES. `access`: `None` for somebody who sees all.
pub fn routines(schema: &Schema, access: Option<&Access>) -> Vec<Vec<Value<'static>>> {
    let row = |def: &Arc<RoutineDef>| {
        let mut row = vec![text(&def.name), text("def"), text(&def.database), text(&def.name), text("PROCEDURE"), text("")];
        row.extend(std::iter::repeat_n(Value::Null, 8));
        let body = optional(access.is_none_or(|access| access.shows_routine(def)).then(|| def.body.clone()));
        row.extend([text("SQL"), body, Value::Null, text("SQL"), text("SQL")]);
        row.extend([text(if def.deterministic { "YES" } else { "NO" }), text(&def.data_access), Value::Null, security(def)]);
        row.extend([datetime(def.created_us), datetime(def.altered_us)]);
        row.extend([text(variables::bits_to_text(def.sql_mode)), text(&def.comment), text(&def.definer)]);
        let collations = [def.connection_collation.name(), def.database_collation.name()];
        row.push(text(&def.client_charset));
        row.extend(collations.map(text));
        row
    };
    all(schema).map(row).collect()
}

/// The rows of information_schema.PARAMETERS. A procedure that cannot be read any more has none.
pub fn parameters(schema: &Schema) -> Vec<Vec<Value<'static>>> {
    let mut rows = Vec::new();
    for def in all(schema) {
        let Ok(routine) = Routine::compile(def) else { continue };
        let types = routine.types.borrow();
        for (n, mode) in routine.program.params.iter().enumerate() {
            rows.push(parameter(def, n, mode.name(), &routine.program.slots[n].name, &types[n]));
        }
    }
    rows
}

fn parameter(def: &RoutineDef, n: usize, mode: &str, name: &str, ty: &ColumnType) -> Vec<Value<'static>> {
    let mut row = vec![text("def"), text(&def.database), text(&def.name), Value::UInt(n as u64 + 1), text(mode), text(name)];
    row.extend(crate::show::type_columns(ty));
    let [.., precision, scale, _, _, _, _] = &mut row[..] else { return row };
    // As MySQL has it here, other than in COLUMNS.
    if scale.is_null() && !precision.is_null() {
        *scale = Value::UInt(0);
    }
    row.push(text("PROCEDURE"));
    row
}
