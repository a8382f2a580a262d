//! LOAD DATA: an INSERT whose rows are lines of a file.

use super::from::dotted;
use super::{Binder, Scope};
use crate::ast::{self, Duplicates};
use crate::error::{Clause, Error, FileError, Result};
use crate::plan::{Action, FileFormat, InsertPlan, InsertSource, LoadPlan, LoadTarget, Part};
use std::sync::Arc;
use types::TypeKind;
use types::schema::TableDef;

impl Binder<'_> {
    pub(super) fn load(&mut self, load: &ast::LoadData<'_>) -> Result<InsertPlan> {
        let format = FileFormat::new(&load.format)?;
        let table = self.lookup(&load.table, Action::Insert)?;
        self.context.need(self.rights, &table, Action::Insert, Part::Any)?;
        self.note_named(&table);
        if table.view.is_some() {
            return Err(Error::NotSupported("LOAD DATA into a view".to_owned()));
        }
        if table.is_virtual {
            return Err(Error::NotUpdatable { table: table.name.clone(), statement: "LOAD" });
        }
        let partitions = super::dml::selected(&table, load.partitions, false)?;
        let name = load.table.name;
        self.scope = Scope::new(Vec::new(), Clause::FieldList);
        self.add_source(table.clone(), name)?;
        let targets = self.load_targets(&table, load.targets)?;
        refuse_fixed(&table, &format, &targets)?;
        self.loaded = targets.iter().filter_map(variable_of).map(str::to_owned).collect();
        self.changed = self.stored_tables();
        self.assigns = Action::Insert;
        let assignments = self.assignments(load.assignments)?;
        self.refuse_target(&[(&table, name)])?;
        let mut columns: Vec<usize> = Vec::new();
        let fields = targets.iter().filter_map(column_of);
        for column in fields.chain(assignments.iter().map(|a| a.column)) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        let part = |&column: &usize| if load.targets.is_empty() { Part::Each(column) } else { Part::Column(column) };
        columns.iter().try_for_each(|column| self.context.need(self.rights, &table, Action::Insert, part(column)))?;
        if load.duplicates == Duplicates::Replace {
            self.context.need(self.rights, &table, Action::Delete, Part::Table)?;
        }
        let plan = LoadPlan { format, lines_skipped: load.lines_skipped, targets, assignments };
        let parts = self.parts();
        Ok(InsertPlan {
            table,
            columns,
            source: InsertSource::File(Box::new(plan)),
            reads_row: false,
            replace: load.duplicates == Duplicates::Replace,
            // With LOCAL, what has been sent cannot be stopped: problems are warnings.
            ignore: load.duplicates == Duplicates::Ignore || load.local && load.duplicates == Duplicates::Refuse,
            on_duplicate: Vec::new(),
            view_check: None,
            partitions,
            parts,
            duplicate_parts: Default::default(),
            params: self.param_count(),
        })
    }

    fn load_targets(&self, table: &TableDef, targets: &[ast::LoadTarget<'_>]) -> Result<Vec<LoadTarget>> {
        if targets.is_empty() {
            let visible = (0..table.columns.len()).filter(|&c| !table.columns[c].invisible);
            return Ok(visible.map(LoadTarget::Column).collect());
        }
        let bind = |target: &ast::LoadTarget<'_>| match target {
            ast::LoadTarget::Variable(name) => Ok(LoadTarget::Variable(name.to_lowercase())),
            ast::LoadTarget::Column(name) => match self.find_visible(name)? {
                Some((_, column)) => Ok(LoadTarget::Column(column)),
                None => Err(Error::UnknownColumn { name: dotted(name), clause: Clause::FieldList }),
            },
        };
        targets.iter().map(bind).collect()
    }
}

fn column_of(target: &LoadTarget) -> Option<usize> {
    match target {
        LoadTarget::Column(column) => Some(*column),
        LoadTarget::Variable(_) => None,
    }
}

fn variable_of(target: &LoadTarget) -> Option<&str> {
    match target {
        LoadTarget::Variable(name) => Some(name),
        LoadTarget::Column(_) => None,
    }
}

/// Rows of fields without separators: each field needs a width, and something must end a row that has a long text.
fn refuse_fixed(table: &Arc<TableDef>, format: &FileFormat, targets: &[LoadTarget]) -> Result<()> {
    if !format.fields_terminated.is_empty() {
        return Ok(());
    }
    let is_long = |column: usize| matches!(table.columns[column].ty.kind, TypeKind::Text(_) | TypeKind::Blob(_) | TypeKind::Json);
    if format.lines_terminated.is_empty() && targets.iter().filter_map(column_of).any(is_long) {
        return Err(Error::File(FileError::Blobs));
    }
    if format.enclosed.is_none() && targets.iter().any(|target| variable_of(target).is_some()) {
        return Err(Error::File(FileError::FixedVariable));
    }
    Ok(())
}
