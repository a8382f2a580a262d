//! The virtual databases in a schema snapshot.

use super::virtual_tables;
use sql::plan::{InsertSource, Node, Plan};
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
    let tables: BTreeMap<_, _> =
        virtual_tables::definitions().into_iter().map(|def| (def.name.clone(), Arc::new(def))).collect();
    let database = DatabaseDef {
        name: INFORMATION_SCHEMA.to_owned(),
        collation: CollationId::UTF8MB4_GENERAL_CI,
        tables,
    };
    databases.insert(INFORMATION_SCHEMA.to_owned(), Arc::new(database));
    Schema { version: schema.version, databases }
}

/// All databases in name order.
pub fn visible_databases(schema: &Schema) -> impl Iterator<Item = &Arc<DatabaseDef>> {
    schema.databases.values()
}

/// Does a plan read a table whose rows have to be collected from all workers?
pub fn needs_gathering(plan: &Plan) -> bool {
    match plan {
        Plan::Query(query) => node_needs_gathering(&query.root),
        Plan::Insert(insert) => match &insert.source {
            InsertSource::Query(query) => node_needs_gathering(&query.root),
            InsertSource::Values(_) => false,
        },
        Plan::Update(_) | Plan::Delete(_) => false,
    }
}

fn node_needs_gathering(node: &Node) -> bool {
    match node {
        Node::Scan(scan) => scan.table.is_virtual && virtual_tables::is_gathered(&scan.table.name),
        Node::NestedLoop { left, right, .. } | Node::HashJoin { left, right, .. } => {
            node_needs_gathering(left) || node_needs_gathering(right)
        }
        Node::Filter { input, .. }
        | Node::Aggregate { input, .. }
        | Node::Project { input, .. }
        | Node::Distinct { input, .. }
        | Node::Sort { input, .. }
        | Node::Limit { input, .. }
        | Node::Trim { input, .. } => node_needs_gathering(input),
        Node::Concat { inputs } => inputs.iter().any(node_needs_gathering),
        Node::OneRow | Node::Values { .. } => false,
    }
}
