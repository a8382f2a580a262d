//! LOAD DATA: an INSERT whose rows are the lines of a file.

use super::dml::InsertTarget;
use super::from::dotted;
use super::{Binder, Changed, ReadAs, Scope};
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
        self.note_named(&table, load.table.name, true);
        if table.is_virtual {
            return Err(Error::NotUpdatable { table: table.name.clone(), statement: "LOAD" });
        }
        let name = load.table.name;
        let view = table.view.is_some().then_some(table.id);
        let target = match view {
            Some(_) => self.loaded_view(table, load)?,
            None => InsertTarget::of_table(table, name, self.rights),
        };
        let table = Arc::clone(&target.table);
        let partitions = super::dml::selected(&table, load.partitions, view.is_some())?;
        self.scope = Scope::new(Vec::new(), Clause::FieldList);
        self.add_target(&target, name)?;
        let targets = self.load_targets(&target, load.targets)?;
        refuse_fixed(&table, &format, &targets)?;
        self.loaded = targets.iter().filter_map(variable_of).map(str::to_owned).collect();
        self.changed = vec![Changed { table: table.id, name: name.to_owned(), view, read: ReadAs::AnyName }];
        self.assigns = Action::Insert;
        let assignments = self.assignments(load.assignments)?;
        self.refuse_target(&[(&table, name)], &ReadAs::AnyName)?;
        let mut columns: Vec<usize> = Vec::new();
        let fields = targets.iter().filter_map(column_of);
        for column in fields.chain(assignments.iter().map(|a| a.column)) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        let part = |&column: &usize| if load.targets.is_empty() { Part::Each(column) } else { Part::Column(column) };
        columns.iter().try_for_each(|column| self.context.need(target.rights, &table, Action::Insert, part(column)))?;
        if load.duplicates == Duplicates::Replace {
            self.context.need(target.rights, &table, Action::Delete, Part::Table)?;
        }
        let plan = LoadPlan { format, lines_skipped: load.lines_skipped, targets, assignments };
        let parts = self.parts();
        Ok(InsertPlan {
            table,
            columns,
            source: InsertSource::File(Box::new(plan)),
            reads_row: false,
            replace: load.duplicates == Duplicates::Replace,
            // With LOCAL, the client's data cannot be stopped, so problems are warnings.
            ignore: load.duplicates == Duplicates::Ignore || load.local && load.duplicates == Duplicates::Refuse,
            on_duplicate: Vec::new(),
            view_check: target.check,
            partitions,
            parts,
            duplicate_parts: Default::default(),
            params: self.param_count(),
        })
    }

    /// The table of a view. It is written through the columns that fields and assignments name.
    fn loaded_view(&mut self, view: Arc<TableDef>, load: &ast::LoadData<'_>) -> Result<InsertTarget> {
        let mut names: Vec<ast::ColumnName<'_>> = Vec::new();
        let fields = load.targets.iter().filter_map(|target| match target {
            ast::LoadTarget::Column(name) => Some(*name),
            ast::LoadTarget::Variable(_) => None,
        });
        for name in fields.chain(load.assignments.iter().map(|assignment| assignment.column)) {
            if !names.iter().any(|known| known.name.eq_ignore_ascii_case(name.name)) {
                names.push(name);
            }
        }
        if load.duplicates == Duplicates::Replace {
            self.context.need(self.rights, &view, Action::Delete, Part::Table)?;
        }
        let names = (!load.targets.is_empty()).then_some(names.as_slice());
        self.load_view(view, load.table.name, names)
    }

    fn load_targets(&self, target: &InsertTarget, targets: &[ast::LoadTarget<'_>]) -> Result<Vec<LoadTarget>> {
        if targets.is_empty() {
            return Ok(target.columns.iter().copied().map(LoadTarget::Column).collect());
        }
        let bind = |target: &ast::LoadTarget<'_>| match target {
            ast::LoadTarget::Variable(name) => Ok(LoadTarget::Variable(name.to_lowercase())),
            ast::LoadTarget::Column(name) => match self.find_visible(name)? {
                Some((source, column)) => Ok(LoadTarget::Column(self.target_column(source, column, "LOAD")?.1)),
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

/// Checks a format of fixed-width fields without separators: each field needs a width, and a row with a long string
/// needs a terminator.
fn refuse_fixed(table: &Arc<TableDef>, format: &FileFormat, targets: &[LoadTarget]) -> Result<()> {
    if !format.fields_terminated.is_empty() {
        return Ok(());
    }
    let is_long = |column: usize| {
        matches!(
            table.columns[column].ty.kind,
            TypeKind::Text(_) | TypeKind::Blob(_) | TypeKind::Json | TypeKind::Geometry { .. } | TypeKind::Vector { .. }
        )
    };
    if format.lines_terminated.is_empty() && targets.iter().filter_map(column_of).any(is_long) {
        return Err(Error::File(FileError::Blobs));
    }
    if format.enclosed.is_none() && targets.iter().any(|target| variable_of(target).is_some()) {
        return Err(Error::File(FileError::FixedVariable));
    }
    Ok(())
}
