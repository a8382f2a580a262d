//! The rows of SHOW and information_schema about procedures and functions.

use super::Routine;
use crate::error::{Error, Result};
use crate::session::State;
use crate::show::{Columns, ResultSet, Row, Source, datetime, optional, result, text};
use crate::variables;
use conditions::Condition;
use sql::ast::ObjectName;
use sql::charsets;
use std::sync::Arc;
use types::schema::{RoutineDef, routine_kind};
use types::{ColumnType, TypeKind, Value, show_create};

/// `root@%` as it is written.
pub fn quoted_definer(def: &RoutineDef) -> String {
    let (user, host) = def.definer.rsplit_once('@').unwrap_or((&def.definer, "%"));
    format!("{}@{}", quoted(def, user), quoted(def, host))
}

/// A name in the quotes that the program's own mode has.
pub fn quoted(def: &RoutineDef, name: &str) -> String {
    let quote = if variables::bits_to_mode(def.sql_mode).ansi_quotes { '"' } else { '`' };
    let name = name.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{name}{quote}")
}

/// The CREATE statement of the routine.
fn statement(def: &Arc<RoutineDef>) -> String {
    let mut out = format!("CREATE DEFINER={} {} {}({})", quoted_definer(def), def.kind(), quoted(def, &def.name), def.parameters);
    if let Some(returns) = returned(def) {
        out.push_str(" RETURNS ");
        out.push_str(&show_create::type_text(&returns));
        let has_charset = returns.is_string() || matches!(returns.kind, TypeKind::Enum { .. } | TypeKind::Set { .. });
        if has_charset && !returns.is_binary_string() {
            let charset = returns.collation.charset();
            out.push_str(&format!(" CHARSET {charset}"));
            let usual = charsets::charset(charset).map(|charset| charsets::default_collation(charset).id);
            if usual != Some(returns.collation.0) {
                out.push_str(&format!(" COLLATE {}", returns.collation.name()));
            }
        }
    }
    out.push('\n');
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

/// The character set and collations of a program's creation, the last columns of most result sets.
pub fn charset_values(def: &RoutineDef) -> [Value<'static>; 3] {
    [text(&def.client_charset), text(def.connection_collation.name()), text(def.database_collation.name())]
}

/// The columns of [`charset_values`].
pub trait Charsets {
    fn charsets(self) -> Self;
}

impl Charsets for Columns {
    fn charsets(self) -> Self {
        self.text("character_set_client", 32).text("collation_connection", 32).text("Database Collation", 32)
    }
}

/// SHOW CREATE PROCEDURE, SHOW CREATE FUNCTION
pub fn show_create(state: &State<'_>, function: bool, name: &ObjectName<'_>) -> Result<ResultSet> {
    let database = name.database.or(state.execution.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
    let schema = state.schema();
    let kind = routine_kind(function);
    let Some(def) = schema.routine(function, database, name.name).filter(|def| state.session.access.sees_routine(def)) else {
        return Err(Condition::SpDoesNotExist { kind: kind.into(), name: name.name.into() }.into());
    };
    let (first, third) = if function { ("Function", "Create Function") } else { ("Procedure", "Create Procedure") };
    let columns = Columns::default().text(first, 256).text("sql_mode", 1024).nullable_text(third, 65_535).charsets();
    let mut made = result(columns);
    let mut row = vec![
        text(&def.name),
        text(variables::bits_to_text(def.sql_mode)),
        optional(state.session.access.shows_routine(def).then(|| statement(def))),
    ];
    row.extend(charset_values(def));
    made.rows.push(row);
    Ok(made)
}

fn all<'a>(source: &Source<'a>) -> impl Iterator<Item = &'a Arc<RoutineDef>> + use<'a> {
    source.databases().flat_map(|database| database.routines.values())
}

fn security(def: &RoutineDef) -> Value<'static> {
    text(if def.invoker { "INVOKER" } else { "DEFINER" })
}

/// The rows of information_schema.ROUTINES; those of functions or of procedures only, if `functions` says so.
pub fn rows(source: &Source<'_>, functions: Option<bool>) -> Vec<Row> {
    let row = |def: &Arc<RoutineDef>| {
        let mut row = vec![text(&def.name), text("def"), text(&def.database), text(&def.name), text(def.kind())];
        match returned(def) {
            None => {
                row.push(text(""));
                row.extend(std::iter::repeat_n(Value::Null, 8));
            }
            Some(ty) => row.extend(crate::show::type_columns(&ty)),
        }
        let is_shown = source.access.is_none_or(|access| access.shows_routine(def));
        let body = optional(is_shown.then(|| def.body.clone()));
        row.extend([text("SQL"), body, Value::Null, text("SQL"), text("SQL")]);
        row.extend([text(if def.deterministic { "YES" } else { "NO" }), text(&def.data_access), Value::Null, security(def)]);
        row.extend([datetime(def.created_us), datetime(def.altered_us)]);
        row.extend([text(variables::bits_to_text(def.sql_mode)), text(&def.comment), text(&def.definer)]);
        row.extend(charset_values(def));
        row
    };
    all(source).filter(|def| functions.is_none_or(|functions| functions == def.is_function())).map(row).collect()
}

/// The type of a function's value. One that cannot be read any more has none.
fn returned(def: &Arc<RoutineDef>) -> Option<ColumnType> {
    if !def.is_function() {
        return None;
    }
    Routine::compile(def).ok()?.returns.clone()
}

/// The rows of information_schema.PARAMETERS. A routine that cannot be read any more has none.
pub fn parameters(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for def in all(source) {
        let Ok(routine) = Routine::compile(def) else { continue };
        if let Some(returns) = &routine.returns {
            rows.push(parameter(def, 0, None, returns));
        }
        let types = routine.types.borrow();
        for (n, mode) in routine.program().params.iter().enumerate() {
            let name = routine.program().slots[n].name;
            rows.push(parameter(def, n + 1, Some((mode.name(), name)), &types[n]));
        }
    }
    rows
}

/// `place`: 0 is the value of a function, which has no name.
fn parameter(def: &RoutineDef, place: usize, named: Option<(&str, &str)>, ty: &ColumnType) -> Vec<Value<'static>> {
    let mut row = vec![text("def"), text(&def.database), text(&def.name), Value::UInt(place as u64)];
    row.extend([optional(named.map(|(mode, _)| mode)), optional(named.map(|(_, name)| name))]);
    row.extend(crate::show::type_columns(ty));
    let [.., precision, scale, _, _, _, _] = &mut row[..] else { return row };
    // As MySQL has it here, other than in COLUMNS.
    if scale.is_null() && !precision.is_null() {
        *scale = Value::UInt(0);
    }
    row.push(text(def.kind()));
    row
}
