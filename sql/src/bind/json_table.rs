//! JSON_TABLE in FROM: a derived table whose rows come from a JSON document. It sees the tables before it, as LATERAL
//! does.

use super::Binder;
use super::derived::{column_def, outside_reads, table_def};
use super::from::{Source, SourceKind};
use crate::ast::{self, JsonColumn, JsonColumnOn};
use crate::error::{Clause, DefinitionError, Error, Result};
use crate::plan::{Derived, JsonOn, JsonOutput, JsonTablePlan, Node};
use crate::planner::JoinTree;
use expr::ExprKind;
use std::sync::Arc;
use types::json::{Json, Path, TableColumn, TableColumnKind};
use types::{ColumnType, TypeKind};

/// Estimated rows per document, as in MySQL.
const ROWS: f64 = 2.0;

impl Binder<'_> {
    pub(super) fn json_table(&mut self, table: &ast::JsonTable<'_>) -> Result<JoinTree> {
        let bound = self.in_clause(Clause::TableFunction, |b| b.value(&table.document));
        let mut document = bound.map_err(|error| self.unknown_in_function(error))?;
        let is_subquery = matches!(table.document, ast::Expr::Subquery(_));
        if is_subquery || document.any(&|e| matches!(e.kind, ExprKind::Subquery(_))) {
            return Err(Error::WrongArguments("JSON_TABLE".to_owned()));
        }
        super::adopt::adopt_place(self.context, &mut document, &ColumnType::new(TypeKind::Text(types::LobSize::Long)));
        let mut outputs = Vec::new();
        let columns = self.json_columns(table.columns, &mut outputs)?;
        for (n, output) in outputs.iter().enumerate() {
            if let Some(first) = outputs[..n].iter().find(|other| other.name.eq_ignore_ascii_case(&output.name)) {
                return Err(DefinitionError::DuplicateColumn(first.name.clone()).into());
            }
        }
        let defs = outputs.iter().map(|output| column_def(output.name.clone(), output.ty.clone(), true));
        let def = table_def(table.alias, defs.collect());
        let width = outputs.len();
        let node = Node::JsonTable(Box::new(JsonTablePlan { document, path: path(table.path)?, columns, outputs }));
        let reads = outside_reads(&node);
        let plan = Derived {
            input: Some(Arc::new(node)),
            columns: width,
            lateral: !reads.is_empty(),
            shared: None,
            reads: reads.clone(),
            resets: Vec::new(),
        };
        let kind = SourceKind::Derived { plan, rows: ROWS, reads, key: None };
        Ok(JoinTree::Table(self.push_source(Source::new(def, table.alias, kind))?))
    }

    fn json_columns(&self, columns: &[JsonColumn<'_>], outputs: &mut Vec<JsonOutput>) -> Result<Vec<TableColumn>> {
        let mut bound = Vec::with_capacity(columns.len());
        for column in columns {
            let kind = match column {
                JsonColumn::Ordinality(name) => {
                    let ty = ColumnType::unsigned(TypeKind::Int);
                    outputs.push(JsonOutput { name: (*name).to_owned(), ty, on_empty: JsonOn::Null, on_error: JsonOn::Null });
                    TableColumnKind::Ordinality
                }
                JsonColumn::Value(column) => {
                    let path = path(column.path)?;
                    outputs.push(JsonOutput {
                        name: column.name.to_owned(),
                        ty: self.context.column_type(column.name, &column.ty)?,
                        on_empty: answer(column.on_empty)?,
                        on_error: answer(column.on_error)?,
                    });
                    if column.exists { TableColumnKind::Exists(path) } else { TableColumnKind::Value(path) }
                }
                JsonColumn::Nested { path: of_rows, columns } => {
                    TableColumnKind::Nested(path(of_rows)?, self.json_columns(columns, outputs)?)
                }
            };
            bound.push(TableColumn { kind });
        }
        Ok(bound)
    }

    /// If the table does not precede JSON_TABLE, the table is unknown, not only the column.
    fn unknown_in_function(&self, error: Error) -> Error {
        let Error::UnknownColumn { name, clause: Clause::TableFunction } = &error else { return error };
        let Some((table, _)) = name.rsplit_once('.') else { return error };
        let table = table.rsplit_once('.').map_or(table, |(_, table)| table);
        let is_known = self.scope.visible.iter().any(|&source| self.sources[source].alias == table);
        if is_known { error } else { unknown_table(table) }
    }
}

fn unknown_table(table: &str) -> Error {
    Error::UnknownTarget { table: table.to_owned(), clause: Clause::TableFunction.name() }
}

fn path(text: &[u8]) -> Result<Path> {
    Path::parse(text).map_err(|position| Error::JsonPath { position })
}

fn answer(on: JsonColumnOn<'_>) -> Result<JsonOn> {
    Ok(match on {
        JsonColumnOn::Null | JsonColumnOn::Unsaid => JsonOn::Null,
        JsonColumnOn::Error => JsonOn::Error,
        JsonColumnOn::Default(text) => JsonOn::Default(Json::parse(text).map_err(|error| match error.why {
            Some(why) => Error::JsonDefault { why: why.to_string(), position: error.position },
            None => Error::TooDeep,
        })?),
    })
}
