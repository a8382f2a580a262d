//! SHOW statements that list rows of a table of the server: the table, its columns that the statement shows, and their names in the result.
//!
//! The rows are made once, by the table's maker. SHOW selects columns of them, with the types that the table defines.

use super::build::{Columns, ResultSet, result};
use super::definitions;
use super::gathered::Gathered;
use super::schema::{fit, maker};
use super::source::{Row, Source, Wanted};
use crate::session::State;
use types::schema::TableDef;
use types::{TypeKind, Value};

/// What a SHOW statement shows of a table.
pub struct Projection {
    database: &'static str,
    table: &'static str,
    /// The name in the result, and the table's column.
    columns: &'static [(&'static str, &'static str)],
}

const fn of_schema(table: &'static str, columns: &'static [(&'static str, &'static str)]) -> Projection {
    Projection { database: "information_schema", table, columns }
}

const fn of_performance(table: &'static str, columns: &'static [(&'static str, &'static str)]) -> Projection {
    Projection { database: "performance_schema", table, columns }
}

/// The name of the first column is set by the statement.
pub const DATABASES: Projection = of_schema("SCHEMATA", &[("Database", "SCHEMA_NAME")]);

/// The name of the first column is set by the statement.
pub const TABLES: Projection = of_schema("TABLES", &[("Tables_in", "TABLE_NAME")]);

/// The name of the first column is set by the statement.
pub const FULL_TABLES: Projection = of_schema("TABLES", &[("Tables_in", "TABLE_NAME"), ("Table_type", "TABLE_TYPE")]);

pub const TABLE_STATUS: Projection = of_schema(
    "TABLES",
    &[
        ("Name", "TABLE_NAME"),
        ("Engine", "ENGINE"),
        ("Version", "VERSION"),
        ("Row_format", "ROW_FORMAT"),
        ("Rows", "TABLE_ROWS"),
        ("Avg_row_length", "AVG_ROW_LENGTH"),
        ("Data_length", "DATA_LENGTH"),
        ("Max_data_length", "MAX_DATA_LENGTH"),
        ("Index_length", "INDEX_LENGTH"),
        ("Data_free", "DATA_FREE"),
        ("Auto_increment", "AUTO_INCREMENT"),
        ("Create_time", "CREATE_TIME"),
        ("Update_time", "UPDATE_TIME"),
        ("Check_time", "CHECK_TIME"),
        ("Collation", "TABLE_COLLATION"),
        ("Checksum", "CHECKSUM"),
        ("Create_options", "CREATE_OPTIONS"),
        ("Comment", "TABLE_COMMENT"),
    ],
);

pub const COLUMNS: Projection = of_schema(
    "COLUMNS",
    &[
        ("Field", "COLUMN_NAME"),
        ("Type", "COLUMN_TYPE"),
        ("Null", "IS_NULLABLE"),
        ("Key", "COLUMN_KEY"),
        ("Default", "COLUMN_DEFAULT"),
        ("Extra", "EXTRA"),
    ],
);

pub const FULL_COLUMNS: Projection = of_schema(
    "COLUMNS",
    &[
        ("Field", "COLUMN_NAME"),
        ("Type", "COLUMN_TYPE"),
        ("Collation", "COLLATION_NAME"),
        ("Null", "IS_NULLABLE"),
        ("Key", "COLUMN_KEY"),
        ("Default", "COLUMN_DEFAULT"),
        ("Extra", "EXTRA"),
        ("Privileges", "PRIVILEGES"),
        ("Comment", "COLUMN_COMMENT"),
    ],
);

pub const INDEXES: Projection = of_schema(
    "STATISTICS",
    &[
        ("Table", "TABLE_NAME"),
        ("Non_unique", "NON_UNIQUE"),
        ("Key_name", "INDEX_NAME"),
        ("Seq_in_index", "SEQ_IN_INDEX"),
        ("Column_name", "COLUMN_NAME"),
        ("Collation", "COLLATION"),
        ("Cardinality", "CARDINALITY"),
        ("Sub_part", "SUB_PART"),
        ("Packed", "PACKED"),
        ("Null", "NULLABLE"),
        ("Index_type", "INDEX_TYPE"),
        ("Comment", "COMMENT"),
        ("Index_comment", "INDEX_COMMENT"),
        ("Visible", "IS_VISIBLE"),
        ("Expression", "EXPRESSION"),
    ],
);

pub const TRIGGERS: Projection = of_schema(
    "TRIGGERS",
    &[
        ("Trigger", "TRIGGER_NAME"),
        ("Event", "EVENT_MANIPULATION"),
        ("Table", "EVENT_OBJECT_TABLE"),
        ("Statement", "ACTION_STATEMENT"),
        ("Timing", "ACTION_TIMING"),
        ("Created", "CREATED"),
        ("sql_mode", "SQL_MODE"),
        ("Definer", "DEFINER"),
        ("character_set_client", "CHARACTER_SET_CLIENT"),
        ("collation_connection", "COLLATION_CONNECTION"),
        ("Database Collation", "DATABASE_COLLATION"),
    ],
);

pub const EVENTS: Projection = of_schema(
    "EVENTS",
    &[
        ("Db", "EVENT_SCHEMA"),
        ("Name", "EVENT_NAME"),
        ("Definer", "DEFINER"),
        ("Time zone", "TIME_ZONE"),
        ("Type", "EVENT_TYPE"),
        ("Execute at", "EXECUTE_AT"),
        ("Interval value", "INTERVAL_VALUE"),
        ("Interval field", "INTERVAL_FIELD"),
        ("Starts", "STARTS"),
        ("Ends", "ENDS"),
        ("Status", "STATUS"),
        ("Originator", "ORIGINATOR"),
        ("character_set_client", "CHARACTER_SET_CLIENT"),
        ("collation_connection", "COLLATION_CONNECTION"),
        ("Database Collation", "DATABASE_COLLATION"),
    ],
);

/// SHOW PROCEDURE STATUS and SHOW FUNCTION STATUS.
pub const ROUTINES: Projection = of_schema(
    "ROUTINES",
    &[
        ("Db", "ROUTINE_SCHEMA"),
        ("Name", "ROUTINE_NAME"),
        ("Type", "ROUTINE_TYPE"),
        ("Language", "EXTERNAL_LANGUAGE"),
        ("Definer", "DEFINER"),
        ("Modified", "LAST_ALTERED"),
        ("Created", "CREATED"),
        ("Security_type", "SECURITY_TYPE"),
        ("Comment", "ROUTINE_COMMENT"),
        ("character_set_client", "CHARACTER_SET_CLIENT"),
        ("collation_connection", "COLLATION_CONNECTION"),
        ("Database Collation", "DATABASE_COLLATION"),
    ],
);

pub const CHARACTER_SETS: Projection = of_schema(
    "CHARACTER_SETS",
    &[
        ("Charset", "CHARACTER_SET_NAME"),
        ("Description", "DESCRIPTION"),
        ("Default collation", "DEFAULT_COLLATE_NAME"),
        ("Maxlen", "MAXLEN"),
    ],
);

pub const COLLATIONS: Projection = of_schema(
    "COLLATIONS",
    &[
        ("Collation", "COLLATION_NAME"),
        ("Charset", "CHARACTER_SET_NAME"),
        ("Id", "ID"),
        ("Default", "IS_DEFAULT"),
        ("Compiled", "IS_COMPILED"),
        ("Sortlen", "SORTLEN"),
        ("Pad_attribute", "PAD_ATTRIBUTE"),
    ],
);

pub const ENGINES: Projection = of_schema(
    "ENGINES",
    &[
        ("Engine", "ENGINE"),
        ("Support", "SUPPORT"),
        ("Comment", "COMMENT"),
        ("Transactions", "TRANSACTIONS"),
        ("XA", "XA"),
        ("Savepoints", "SAVEPOINTS"),
    ],
);

pub const PLUGINS: Projection = of_schema(
    "PLUGINS",
    &[
        ("Name", "PLUGIN_NAME"),
        ("Status", "PLUGIN_STATUS"),
        ("Type", "PLUGIN_TYPE"),
        ("Library", "PLUGIN_LIBRARY"),
        ("License", "PLUGIN_LICENSE"),
    ],
);

pub const PROCESSES: Projection = of_schema(
    "PROCESSLIST",
    &[
        ("Id", "ID"),
        ("User", "USER"),
        ("Host", "HOST"),
        ("db", "DB"),
        ("Command", "COMMAND"),
        ("Time", "TIME"),
        ("State", "STATE"),
        ("Info", "INFO"),
    ],
);

pub const PROFILE: Projection = of_schema("PROFILING", &[("Status", "STATE"), ("Duration", "DURATION")]);

const PAIR: &[(&str, &str)] = &[("Variable_name", "VARIABLE_NAME"), ("Value", "VARIABLE_VALUE")];

pub const SESSION_VARIABLES: Projection = of_performance("session_variables", PAIR);
pub const GLOBAL_VARIABLES: Projection = of_performance("global_variables", PAIR);
pub const SESSION_STATUS: Projection = of_performance("session_status", PAIR);
pub const GLOBAL_STATUS: Projection = of_performance("global_status", PAIR);

impl Projection {
    fn def(&self) -> &'static TableDef {
        let database = definitions::databases().iter().find(|database| database.name == self.database);
        database.and_then(|database| database.tables.get(self.table)).expect("a table of the files")
    }

    /// Every row that the session may see, of the schema and table wanted.
    pub fn all(&self, state: &State<'_>, wanted: Wanted<'_>, gathered: &Gathered) -> ResultSet {
        let make = maker(self.def());
        self.of(state, wanted, gathered, |source| make.map_or_else(Vec::new, |make| make(source)))
    }

    /// The rows that `make` gives, which are rows of the table.
    pub fn of(
        &self,
        state: &State<'_>,
        wanted: Wanted<'_>,
        gathered: &Gathered,
        make: impl FnOnce(&Source<'_>) -> Vec<Row>,
    ) -> ResultSet {
        let schema = state.visible_schema();
        let access = Some(&*state.session.access);
        let source = Source { worker: &state.worker, schema: &schema, gathered: Some(gathered), access, wanted };
        self.project(state, make(&source))
    }

    fn project(&self, state: &State<'_>, rows: Vec<Row>) -> ResultSet {
        let def = self.def();
        let column = |name: &str| def.column_index(name).expect("a column of the files");
        let positions: Vec<usize> = self.columns.iter().map(|(_, name)| column(name)).collect();
        let columns = self.columns.iter().zip(&positions).fold(Columns::default(), |columns, ((name, _), position)| {
            let column = &def.columns[*position];
            columns.add(name, column.ty.clone(), column.nullable)
        });
        let mut made = result(columns);
        for column in &mut made.columns {
            column.table_alias.clone_from(&def.name);
        }
        let project = |mut row: Row| positions.iter().map(|position| shown(state, def, *position, &mut row)).collect();
        made.rows = rows.into_iter().map(project).collect();
        made
    }
}

/// A value of a maker's row as the session sees it.
fn shown(state: &State<'_>, def: &TableDef, position: usize, row: &mut Row) -> Value<'static> {
    let ty = &def.columns[position].ty;
    let mut value = std::mem::replace(&mut row[position], Value::Null);
    fit(&mut value, ty);
    match value {
        Value::DateTime(utc) if matches!(ty.kind, TypeKind::Timestamp { .. }) => {
            Value::DateTime(state.execution.vars.time_zone.from_stored(utc))
        }
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projections_are_of_columns_that_exist() {
        let all = [
            DATABASES,
            TABLES,
            FULL_TABLES,
            TABLE_STATUS,
            COLUMNS,
            FULL_COLUMNS,
            INDEXES,
            TRIGGERS,
            EVENTS,
            ROUTINES,
            CHARACTER_SETS,
            COLLATIONS,
            ENGINES,
            PLUGINS,
            PROCESSES,
            PROFILE,
            SESSION_VARIABLES,
            GLOBAL_VARIABLES,
            SESSION_STATUS,
            GLOBAL_STATUS,
        ];
        for projection in all {
            let def = projection.def();
            for (name, column) in projection.columns {
                assert!(def.column_index(column).is_some(), "{}.{column}, shown as {name}", def.name);
            }
        }
    }
}
