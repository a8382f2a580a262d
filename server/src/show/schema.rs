//! The virtual databases in a schema snapshot.

use super::virtual_tables;
use sql::plan::{Access, Plan};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::CollationId;
use types::schema::{DatabaseDef, Schema};

const INFORMATION_SCHEMA: &str = "information_schema";

/// Databases that are not for changing.
pub fn is_virtual_database(name: &str) -> bool {
    name.eq_ignore_ascii_case(INFORMATION_SCHEMA)
}

/// The published schema with the virtual databases in it.
pub fn with_virtual_databases(schema: &Schema) -> Schema {
    let mut databases = schema.databases.clone();
    let tables: BTreeMap<_, _> = virtual_tables::definitions().into_iter().map(|def| (def.name.clone(), Arc::new(def))).collect();
    let database = DatabaseDef {
        name: INFORMATION_SCHEMA.to_owned(),
        collation: CollationId::UTF8MB4_GENERAL_CI,
        tables,
        procedures: BTreeMap::new(),
    };
    databases.insert(INFORMATION_SCHEMA.to_owned(), Arc::new(database));
    Schema { version: schema.version, databases }
}

/// All databases in name order.
pub fn visible_databases(schema: &Schema) -> impl Iterator<Item = &Arc<DatabaseDef>> {
    schema.databases.values()
}

/// What a plan reads besides stored tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VirtualReads {
    /// A table of information_schema.
    pub any: bool,
    /// One whose rows have to be collected from all workers first.
    pub gathered: bool,
}

/// Looks through a plan's scans.
pub fn virtual_reads(plan: &Plan) -> VirtualReads {
    let mut reads = VirtualReads::default();
    for root in plan.roots() {
        root.walk_scans(&mut |scan| {
            if matches!(scan.access, Access::Virtual) {
                reads.any = true;
                reads.gathered |= virtual_tables::is_gathered(&scan.table.name);
            }
        });
    }
    reads
}
