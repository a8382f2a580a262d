//! Expressions in definitions, for `table`: whether they are allowed, and their values in rows that a definition rewrites.

use crate::dml::{RowRules, bind_default, bind_partition};
use crate::shared::Shared;
use crate::wait::NoHost;
use expr::{Error, Expr, Result, SessionVars};
use std::sync::Arc;
use table::Table;
use types::schema::{ColumnDef, KeyPartType, RowExpr, TableDef, TableId};
use types::temporal::TimeZone;
use types::{SqlMode, Value};

/// Of the session that runs the definition.
#[derive(Clone, Debug)]
pub struct DefinitionExpressions {
    pub sql_mode: SqlMode,
    pub time_zone: TimeZone,
    pub statement_start_us: i64,
}

impl table::ddl::Expressions for DefinitionExpressions {
    fn check(&self, def: &TableDef) -> table::Result<()> {
        sql::check_row_exprs(&Arc::new(def.clone())).map_err(|error| table::Error::Expression(Box::new(error)))
    }

    fn key_part(&self, columns: &[ColumnDef], expr: &RowExpr, index: &str) -> table::Result<KeyPartType> {
        let def = Arc::new(TableDef::new(TableId(0), "", "", columns.to_vec()));
        sql::key_part_type(&def, expr, index).map_err(|error| table::Error::Expression(Box::new(error)))
    }

    fn row_rules<'t>(&self, table: &'t Table, added: &[usize]) -> table::Result<Box<dyn table::ddl::RowRules + 't>> {
        let make = || -> Result<Writing<'t>> {
            let added = added.iter().map(|column| Ok((*column, bind_default(table.def(), *column)?))).collect::<Result<_>>()?;
            Ok(Writing { table, rules: RowRules::of(table.def(), None, None)?, added, session: self.session(), row: 0 })
        };
        match make() {
            Ok(writing) => Ok(Box::new(writing)),
            Err(error) => Err(told(error)),
        }
    }

    fn rows_of_partitions<'t>(
        &self,
        table: &'t Table,
        partitions: &[usize],
    ) -> table::Result<Box<dyn table::ddl::RowChoice + 't>> {
        let number = bind_partition(table.def()).map_err(told)?;
        Ok(Box::new(InPartitions { table, number, partitions: partitions.to_vec(), session: self.session() }))
    }
}

impl DefinitionExpressions {
    fn session(&self) -> SessionVars {
        let mut session = SessionVars::new(0, "", "");
        (session.sql_mode, session.time_zone) = (self.sql_mode, self.time_zone.clone());
        session.statement_start_us = self.statement_start_us;
        session
    }
}

/// Rows of some partitions.
struct InPartitions<'t> {
    table: &'t Table,
    number: Expr,
    partitions: Vec<usize>,
    session: SessionVars,
}

impl table::ddl::RowChoice for InPartitions<'_> {
    fn takes(&mut self, values: &[Value<'_>]) -> table::Result<bool> {
        let shared = Shared::new(&self.session, &[], &NoHost);
        let number = crate::dml::partition_of(&shared, self.table, values, &self.number).map_err(told)?;
        Ok(number.is_some_and(|number| self.partitions.contains(&number)))
    }
}

/// Rows of a table that is rewritten.
struct Writing<'t> {
    table: &'t Table,
    rules: Option<RowRules>,
    /// New columns and their default expressions.
    added: Vec<(usize, Expr)>,
    session: SessionVars,
    row: u64,
}

impl table::ddl::RowRules for Writing<'_> {
    fn complete(&mut self, values: &mut [Value<'static>]) -> table::Result<()> {
        self.row += 1;
        let shared = Shared::change(&self.session, &[], &NoHost, self.session.sql_mode.strict);
        for (column, expr) in &self.added {
            values[*column] = crate::dml::computed(&shared, self.table, values, *column, expr, self.row).map_err(told)?;
        }
        if let Some(rules) = &self.rules {
            rules.complete(&shared, self.table, values, self.row).map_err(told)?;
        }
        Ok(())
    }
}

fn told(error: Error) -> table::Error {
    table::Error::Expression(Box::new(error))
}
