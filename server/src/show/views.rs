//! SHOW CREATE VIEW, and the current columns of views.
//!
//! The catalog has the columns as of the definition. The tables of a view may have changed since, so its query is bound
//! again. A view whose tables are gone is shown with the columns in the catalog.

use super::build::{Columns, ResultSet, result, text};
use crate::ddl::{Keeper, column_of_query};
use crate::error::{Error, Result};
use crate::session::{State, written_type};
use expr::Level;
use sql::ast::{DataType, ObjectName};
use sql::plan::{BindContext, Rights, StoredFunction};
use std::borrow::Cow;
use std::sync::Arc;
use types::schema::{CheckOption, Schema, TableDef};
use types::show_create::quoted_name;
use types::{CollationId, ColumnType, SqlMode, Value};

/// A binding context with only a schema: a view's query depends on nothing else.
struct SchemaOnly<'s>(&'s Schema);

impl BindContext for SchemaOnly<'_> {
    fn stored_function(&self, _rights: Rights, database: &str, name: &str) -> sql::Result<Option<StoredFunction>> {
        let found = self.0.routine(true, database, name).map(crate::routine::signature);
        found.transpose().map_err(|_| sql::Error::UnknownFunction(format!("{database}.{name}")))
    }

    fn database(&self) -> Option<&str> {
        None
    }

    fn schema(&self) -> &Schema {
        self.0
    }

    fn system_variable(&self, _global: bool, _name: &str) -> Option<(Value<'static>, ColumnType)> {
        None
    }

    fn row_count(&self, _table: &TableDef) -> u64 {
        0
    }

    /// The text of a view parses in every mode; nullability is that of strict mode.
    fn sql_mode(&self) -> SqlMode {
        SqlMode { strict: true, ..SqlMode::NONE }
    }

    fn connection_collation(&self) -> CollationId {
        CollationId::UTF8MB4_0900_AI_CI
    }

    fn column_type(&self, name: &str, ty: &DataType<'_>) -> sql::Result<ColumnType> {
        written_type(name, ty, self.connection_collation())
    }
}

/// A view's definition with its current columns; a table's definition unchanged.
///
/// # Errors
/// 1356: a table or column that the view reads is gone.
pub fn present<'d>(def: &'d Arc<TableDef>, schema: &Schema) -> Result<Cow<'d, TableDef>> {
    if def.view.is_none() {
        return Ok(Cow::Borrowed(def));
    }
    let columns = sql::view_columns(def, &SchemaOnly(schema))?;
    let columns = columns.iter().map(|column| column_of_query(column, schema, true, Keeper::View)).collect();
    Ok(Cow::Owned(TableDef { columns, ..TableDef::clone(def) }))
}

/// The error that reading the view raises.
pub fn problem(def: &Arc<TableDef>, schema: &Schema) -> Option<Error> {
    present(def, schema).err()
}

/// TABLE_COMMENT of a view.
pub fn comment(def: &Arc<TableDef>, schema: &Schema) -> String {
    problem(def, schema).map_or_else(|| "VIEW".to_owned(), |error| error.describe().message)
}

/// SHOW CREATE VIEW, SHOW CREATE TABLE of a view
pub fn create_view(state: &mut State<'_>, name: &ObjectName<'_>) -> Result<ResultSet> {
    let def = state.find_table(name)?;
    let Some(view) = &def.view else {
        let (database, table) = (def.database.clone(), def.name.clone());
        return Err(Error::Table(table::Error::NotView { database, table }));
    };
    if let Some(error) = problem(&def, &state.schema()) {
        state.note(Level::Warning, error.to_warning());
    }
    let current = state.execution.vars.database.as_deref();
    let mut statement = if state.quotes().ansi {
        "CREATE VIEW ".to_owned()
    } else {
        format!(
            "CREATE ALGORITHM={} DEFINER={}@{} SQL SECURITY {} VIEW ",
            view.algorithm.name(),
            quoted_name(&view.definer_user),
            quoted_name(&view.definer_host),
            if view.invoker { "INVOKER" } else { "DEFINER" },
        )
    };
    if current != Some(def.database.as_str()) {
        statement.push_str(&quoted_name(&def.database));
        statement.push('.');
    }
    statement.push_str(&quoted_name(&def.name));
    if view.names_columns {
        let names: Vec<String> = def.columns.iter().map(|column| quoted_name(&column.name)).collect();
        statement.push_str(&format!(" ({})", names.join(",")));
    }
    statement.push_str(" AS ");
    statement.push_str(&sql::view_definition(&def, current)?);
    if view.check != CheckOption::None {
        statement.push_str(&format!(" WITH {} CHECK OPTION", view.check.name()));
    }
    let statement = state.quotes().view(statement);
    let columns = Columns::default().text("View", 64).statement("Create View", &statement);
    let mut made = result(columns.text("character_set_client", 32).text("collation_connection", 64));
    made.rows.push(vec![text(&def.name), text(statement), text(&view.client_charset), text(view.collation.name())]);
    Ok(made)
}
