//! CHECK constraints: their names, the expressions that keep a column from being dropped or renamed, and conflicts with foreign
//! keys.

use super::NewCheck;
use crate::database::Published;
use crate::{Error, Result};
use types::schema::ReferenceAction::SetNull;
use types::schema::{CheckDef, ColumnDef, ColumnDefault, TableDef};

/// Merges the present and the added constraints of a table, by name.
pub(crate) fn resolve(table: &str, present: Vec<CheckDef>, added: Vec<NewCheck>) -> Result<Vec<CheckDef>> {
    let mut checks = present;
    for check in added {
        let name = match check.name {
            Some(name) => name,
            None => generated_name(table, &checks),
        };
        if checks.iter().any(|other| other.name.eq_ignore_ascii_case(&name)) {
            return Err(Error::DuplicateCheck { name });
        }
        checks.push(CheckDef { name, expr: check.expr, enforced: check.enforced });
    }
    checks.sort_by_key(|check| check.name.to_lowercase());
    Ok(checks)
}

/// `t_chk_n`, with a number above all that are in use.
fn generated_name(table: &str, checks: &[CheckDef]) -> String {
    let last = checks.iter().filter_map(|check| number(table, &check.name)).max().unwrap_or(0);
    format!("{table}_chk_{}", last + 1)
}

fn number(table: &str, name: &str) -> Option<u64> {
    name.strip_prefix(table)?.strip_prefix("_chk_")?.parse().ok()
}

/// The table has another name: generated names follow it.
pub(super) fn rename_generated(def: &mut TableDef, old: &str) {
    for check in &mut def.checks {
        if let Some(number) = number(old, &check.name) {
            check.name = format!("{}_chk_{number}", def.name);
        }
    }
    def.checks.sort_by_key(|check| check.name.to_lowercase());
}

/// 3822: names are unique in the database.
pub(super) fn check_names(published: &Published, def: &TableDef) -> Result<()> {
    if def.checks.is_empty() {
        return Ok(());
    }
    let Some(database) = published.schema.databases.get(&def.database) else { return Ok(()) };
    let others = database.tables.values().filter(|other| other.id != def.id).flat_map(|other| &other.checks);
    for other in others {
        if let Some(check) = def.checks.iter().find(|check| check.name.eq_ignore_ascii_case(&other.name)) {
            return Err(Error::DuplicateCheck { name: check.name.clone() });
        }
    }
    Ok(())
}

/// Does another column, as a generated one or by its default, keep this one from being dropped or renamed?
pub(super) fn check_unread<'c>(columns: impl Iterator<Item = &'c ColumnDef>, name: &str, table: &str) -> Result<()> {
    for other in columns {
        if other.hidden_expr().is_some_and(|expr| expr.reads(name)) {
            return Err(Error::ReadByIndex { column: name.to_string() });
        }
        if other.generated.as_ref().is_some_and(|generated| generated.expr.reads(name)) {
            return Err(Error::ReadByGenerated { column: name.to_string() });
        }
        if let ColumnDefault::Expression(expr) = &other.default
            && expr.reads(name)
        {
            return Err(Error::ReadByDefault { column: name.to_string(), table: table.to_string() });
        }
    }
    Ok(())
}

/// Conflicts of foreign keys with expressions: a referential action changes a column without evaluating CHECKs, and
/// cannot assign generated columns.
pub(crate) fn check_foreign(def: &TableDef) -> Result<()> {
    for key in &def.foreign_keys {
        let clauses =
            [("ON UPDATE", key.on_update, key.on_update.changes_child()), ("ON DELETE", key.on_delete, key.on_delete == SetNull)];
        let clause = clauses.iter().find(|(_, _, changes)| *changes);
        for column in key.columns.iter().map(|column| &def.columns[*column]) {
            if column.is_virtual() {
                return Err(Error::VirtualForeignKey { name: key.name.clone(), column: column.name.clone() });
            }
            let Some((event, action, _)) = clause else { continue };
            if column.generated.is_some() {
                return Err(Error::GeneratedForeignKey { clause: format!("{event} {}", action.name()) });
            }
            if let Some(check) = def.checks.iter().find(|check| check.expr.reads(&column.name)) {
                let (column, check, key) = (column.name.clone(), check.name.clone(), key.name.clone());
                return Err(Error::CheckOnForeignKey { column, check, key });
            }
        }
    }
    Ok(())
}
