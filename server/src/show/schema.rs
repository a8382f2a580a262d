//! The server's own databases in a schema snapshot, and the rows of their tables.

use super::source::{Maker, Row, Source};
use super::{
    advice, digests, events, grant_tables, kept, metadata_locks, performance_schema, privileges, replication, sys_schema,
    virtual_tables,
};
use crate::plan_cache::VirtualReads;
use crate::text_log::Log;
use sql::plan::{Access, Plan, Scan};
use types::convert::{StoreContext, Warnings};
use types::schema::TableDef;
use types::{ColumnType, TypeKind, Value};

/// Finds the virtual tables in a plan's scans.
pub fn virtual_reads(plan: &Plan) -> VirtualReads {
    let mut reads = VirtualReads::default();
    let checks = plan.view_checks().flat_map(|check| check.parts.roots());
    let mut note = |scan: &Scan| {
        if matches!(scan.access, Access::Virtual) {
            reads.any = true;
            reads.gathered |= is_gathered(&scan.table);
            reads.digests |= is_of_digests(&scan.table);
            reads.kept |= kept::MAKERS.iter().any(|(name, _)| *name == scan.table.name);
            reads.metadata |= is_of_metadata(&scan.table);
            if let Some(log) = Log::of_table(&scan.table.database, &scan.table.name) {
                reads.logs[log as usize] = true;
            }
            reads.events |= is_of_events(&scan.table);
            if advice::MAKERS.iter().any(|(name, _)| *name == scan.table.name) {
                (reads.digests, reads.kept, reads.events) = (true, true, true);
            }
        }
    };
    if let Plan::Update(update) = plan {
        note(&update.scan);
    }
    for root in plan.roots().into_iter().chain(checks) {
        root.walk_scans(&mut note);
    }
    reads
}

/// Are the table's rows collected from all workers, or are they about the session?
fn is_gathered(table: &TableDef) -> bool {
    match &*table.database {
        "information_schema" => matches!(&*table.name, "PROCESSLIST" | "INNODB_METRICS" | "INNODB_TRX"),
        "mysql" => Log::of_table("mysql", &table.name).is_some(),
        _ => maker(table).is_some(),
    }
}

fn is_of_digests(table: &TableDef) -> bool {
    let is_named = |(name, _): &(&str, Maker)| *name == table.name;
    table.name == "heddle_waits_by_digest" || digests::MAKERS.iter().chain(digests::VIEWS).any(is_named)
}

fn is_of_events(table: &TableDef) -> bool {
    events::MAKERS.iter().chain(events::TABLES).chain(events::VIEWS).any(|(name, _)| *name == table.name)
}

fn is_of_metadata(table: &TableDef) -> bool {
    metadata_locks::TABLES.contains(&&*table.name)
}

/// The function that makes the rows of a table; a table without one is empty.
pub fn maker(table: &TableDef) -> Option<Maker> {
    makers(&table.database).find(|(name, _)| *name == table.name).map(|(_, maker)| *maker)
}

/// The tables of a database of the server that have rows.
fn makers(database: &str) -> impl Iterator<Item = &'static (&'static str, Maker)> {
    let makers: &[&[(&str, Maker)]] = match database {
        "information_schema" => &[virtual_tables::MAKERS, privileges::MAKERS, events::METRICS],
        "performance_schema" => {
            &[performance_schema::MAKERS, digests::MAKERS, events::MAKERS, events::TABLES, kept::MAKERS, replication::MAKERS]
        }
        "sys" => &[sys_schema::MAKERS, digests::VIEWS, events::VIEWS, advice::MAKERS],
        _ => &[virtual_tables::MYSQL_MAKERS, grant_tables::MAKERS],
    };
    makers.iter().copied().flatten()
}

/// The current rows of a table of the server, with values of the columns' stored types. `None`: there is no such table.
pub fn virtual_rows(source: &Source<'_>, table: &TableDef) -> Option<Vec<Row>> {
    let mut rows = maker(table).map_or_else(Vec::new, |maker| maker(source));
    for row in &mut rows {
        debug_assert_eq!(row.len(), table.columns.len(), "{}", table.name);
        for (value, column) in row.iter_mut().zip(&table.columns) {
            fit(value, &column.ty);
        }
    }
    Some(rows)
}

/// Converts a value that a maker returned (string, number or date) to the column's type.
pub fn fit(value: &mut Value<'static>, ty: &ColumnType) {
    let from = match value {
        Value::Null => return,
        Value::Bytes(_) if matches!(ty.kind, TypeKind::VarChar { .. } | TypeKind::Text(_)) => return,
        Value::UInt(_) => ColumnType::unsigned(TypeKind::BigInt),
        Value::Int(_) => ColumnType::new(TypeKind::BigInt),
        Value::DateTime(_) => ColumnType::new(TypeKind::DateTime { fsp: 0 }),
        _ => ColumnType::new(TypeKind::VarChar { length: 0 }),
    };
    let context = StoreContext { strict: false, ..StoreContext::strict() };
    let stored = types::convert::store(value, &from, ty, &context, &mut Warnings::default());
    *value = stored.map_or(Value::Null, Value::into_owned);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makers_are_of_tables_that_exist() {
        for database in super::super::definitions::databases() {
            for (name, _) in makers(&database.name) {
                assert!(database.tables.contains_key(*name), "{}.{name}", database.name);
            }
        }
    }
}
