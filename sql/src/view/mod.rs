//! Defines a view: binds its query once, and prints the query so that the text means the same in every session.
//!
//! 1. The session that defines the view binds the query. The binder notes what each name resolves to (`bind::Notes`).
//! 2. The query is printed with the resolved names (`print`): tables with their databases, columns with their tables,
//!    `*` expanded. The catalog stores this text, and each statement that names the view binds it.
//! 3. SHOW CREATE VIEW parses the text and prints it again, without the name of the session's database.

mod json_table;
mod print;
#[cfg(test)]
mod tests;

use crate::arena::Arena;
use crate::ast::{self, CreateView, Expr, Query, Statement, ViewForm};
use crate::bind::{self, Bound, Notes, view_problem};
use crate::error::{Error, NameKind, Result, ViewProblem};
use crate::plan::{BindContext, OutputColumn};
use crate::row_expr::{Printer, Usage};
use std::sync::Arc;
use types::schema::{CheckOption, TableDef, ViewAlgorithm};
use types::{CollationId, SqlMode};

/// MySQL's longest name of a column.
const NAME_CHARS_MAX: usize = 64;

/// How the query of a view is printed.
pub(crate) struct Text<'t> {
    /// The resolution of names; `None` if they are printed as written.
    pub notes: Option<&'t Notes>,
    /// Of tables that name no database.
    pub database: Option<&'t str>,
    /// A database whose name is left out.
    pub omitted: Option<&'t str>,
    /// Of texts that name none.
    pub collation: CollationId,
    /// The view's name, for errors.
    pub name: &'t str,
}

/// The clause in which a query occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Its columns have names.
    Table,
    Expression,
    /// Its columns do not matter.
    Exists,
}

/// The binding of a view's definition.
#[derive(Clone, Debug)]
pub struct NewView {
    pub text: String,
    pub columns: Vec<OutputColumn>,
    pub algorithm: ViewAlgorithm,
    /// 1354: ALGORITHM = MERGE cannot be.
    pub merge_refused: bool,
    pub updatable: bool,
    /// The tables and views that its query names, each once.
    pub tables: Vec<(String, String)>,
}

/// Binds and prints the definition of a view named `database.name`.
pub fn define_view(create: &CreateView<'_>, database: &str, context: &dyn BindContext) -> Result<NewView> {
    let wrong = |name: &&&str| name.is_empty() || name.ends_with(' ') || name.chars().count() > NAME_CHARS_MAX;
    if let Some(name) = aliases(create.query).iter().chain(create.columns).find(wrong) {
        return Err(Error::WrongName { kind: NameKind::Column, name: (*name).to_owned() });
    }
    let full_name = format!("{database}.{}", create.name.name);
    let collation = context.connection_collation();
    let text = Text { notes: None, database: context.database(), omitted: None, collation, name: &full_name };
    // Constructs that no view may contain are refused before names are resolved.
    print(create.query, &text)?;
    let outline = bind::bind_view_query(create.query, create.columns, context)?;
    let is_self = |table: &(String, String)| table.0 == database && table.1 == create.name.name;
    if matches!(create.form, ViewForm::OrReplace | ViewForm::Alter)
        && let Some((database, table)) = outline.all_tables.iter().find(|table| is_self(table))
    {
        return Err(Error::UnknownTable { database: database.clone(), table: table.clone() });
    }
    let printed = print(create.query, &Text { notes: Some(&outline.notes), ..text })?;
    let merge_refused = create.algorithm == ViewAlgorithm::Merge && !outline.mergeable;
    let algorithm = if merge_refused { ViewAlgorithm::Undefined } else { create.algorithm };
    let updatable = outline.updatable && algorithm != ViewAlgorithm::TempTable;
    if create.check != CheckOption::None && !updatable {
        return Err(Error::View { why: ViewProblem::CheckWithoutUpdates, view: full_name });
    }
    let (columns, tables) = (outline.columns, outline.tables);
    Ok(NewView { text: printed, columns, algorithm, merge_refused, updatable, tables })
}

/// Refuses constructs that no view may contain, before names are resolved: variables, parameters, INTO.
///
/// # Errors
/// 1350, 1351.
pub fn check_view(create: &CreateView<'_>) -> Result<()> {
    let collation = CollationId::UTF8MB4_0900_AI_CI;
    let text = Text { notes: None, database: None, omitted: None, collation, name: create.name.name };
    print(create.query, &text).map(drop)
}

/// The columns that a view has now.
///
/// # Errors
/// 1356: a table or column that it reads is gone.
pub fn view_columns(def: &Arc<TableDef>, context: &dyn BindContext) -> Result<Vec<OutputColumn>> {
    bind::columns_of_view(def, context)
}

/// The query as SHOW CREATE VIEW prints it in a session with this database.
///
/// # Errors
/// The catalog's text cannot be read.
pub fn view_definition(def: &TableDef, omitted: Option<&str>) -> Result<String> {
    let invalid = || view_problem(def, ViewProblem::Invalid);
    let view = def.view.as_ref().ok_or_else(invalid)?;
    let arena = Arena::new();
    let parsed = crate::parser::parse(&arena, view.text.as_bytes(), &SqlMode::NONE)?;
    let Statement::Query(query) = parsed.statement else { return Err(invalid()) };
    let text = Text { notes: None, database: None, omitted, collation: view.collation, name: &def.name };
    print(query, &text)
}

/// The names that the select list gives.
fn aliases<'a>(query: &Query<'a>) -> Vec<&'a str> {
    let ast::QueryBody::Select(select) = &query.body else { return Vec::new() };
    let alias = |item: &ast::SelectItem<'a>| match item {
        ast::SelectItem::Expr { alias, .. } => *alias,
        _ => None,
    };
    select.items.iter().filter_map(alias).collect()
}

fn print(query: &Query<'_>, text: &Text<'_>) -> Result<String> {
    let mut printer =
        Printer { usage: Usage::View(text), out: String::new(), columns: Vec::new(), common: Vec::new(), read: Vec::new() };
    printer.query(query, Place::Table)?;
    Ok(printer.out)
}

/// The name of item `n` of a select list. A name that is empty, too long or ends with a space is replaced.
pub(crate) fn item_name(expr: &Expr<'_>, alias: Option<&str>, text: &str, n: usize) -> String {
    column_name(bind::column_name(expr, alias, text), n)
}

/// As [`item_name`], of a name.
pub(crate) fn column_name(name: String, n: usize) -> String {
    if name.chars().count() > NAME_CHARS_MAX || name.ends_with(' ') || name.is_empty() {
        format!("Name_exp_{}", n + 1)
    } else {
        name
    }
}

/// May the block be merged and updated, apart from the form of its columns?
pub(crate) fn is_mergeable_form(bound: &Bound) -> bool {
    match bound {
        Bound::Select(select) => select.is_plain_list() && !select.distinct && select.tree.is_some(),
        Bound::Block(_) => false,
    }
}
