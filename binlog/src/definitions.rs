//! The tables as they are at a place of the write-ahead log: which tree is which table's, and how its rows are laid out.
//!
//! They begin as the catalog's records at some place, and follow the transactions that change these. The records are kept as they are,
//! because the state of the binary log has a copy of them.

use crate::row::WireTable;
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::sync::Arc;
use table::log_view::{CatalogKey, table_of};
use txn::TreeRef;
use types::schema::TableDef;

/// What a tree is.
#[derive(Clone)]
pub enum Role {
    /// Rows.
    Clustered(Arc<Known>),
    /// Large values.
    Large,
    /// Entries of an index: unique or not.
    Index { unique: bool },
}

/// A table.
pub struct Known {
    pub wire: WireTable,
    pub large: Option<TreeRef>,
}

#[derive(Default)]
pub struct Definitions {
    records: BTreeMap<Vec<u8>, Vec<u8>>,
    tables: HashMap<u64, Vec<u32>>,
    trees: HashMap<u32, Role>,
    orphans: HashSet<u32>,
}

impl Definitions {
    /// # Errors
    /// A record that cannot be read.
    pub fn new(records: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) -> Result<Self, String> {
        let mut definitions = Self::default();
        let changes: Vec<_> = records.into_iter().map(|(key, value)| (key, Some(value))).collect();
        definitions.apply(changes)?;
        Ok(definitions)
    }

    pub fn records(&self) -> &BTreeMap<Vec<u8>, Vec<u8>> {
        &self.records
    }

    /// `None`: not the tree of a table.
    pub fn role(&self, tree: u32) -> Option<&Role> {
        self.trees.get(&tree)
    }

    /// Is it recorded as a tree of no table?
    pub fn is_orphan(&self, tree: u32) -> bool {
        self.orphans.contains(&tree)
    }

    /// Applies the changes of a committed transaction, in their order; `None`: removed. Returns the tables that it defines.
    ///
    /// # Errors
    /// A definition that cannot be read.
    pub fn apply(&mut self, changes: Vec<(Vec<u8>, Option<Vec<u8>>)>) -> Result<Vec<Arc<TableDef>>, String> {
        let mut touched = Vec::new();
        for (key, value) in changes {
            match CatalogKey::parse(&key) {
                Some(CatalogKey::Table { id, .. }) => {
                    if touched.last() != Some(&id) {
                        touched.push(id);
                    }
                }
                Some(CatalogKey::Orphan { tree }) => {
                    if value.is_some() {
                        self.orphans.insert(tree);
                    } else {
                        self.orphans.remove(&tree);
                    }
                }
                None => continue,
            }
            match value {
                Some(value) => self.records.insert(key, value),
                None => self.records.remove(&key),
            };
        }
        touched.sort_unstable();
        touched.dedup();
        let mut defined = Vec::new();
        for id in touched {
            defined.extend(self.reload(id)?);
        }
        Ok(defined)
    }

    fn reload(&mut self, id: u64) -> Result<Option<Arc<TableDef>>, String> {
        for tree in self.tables.remove(&id).unwrap_or_default() {
            self.trees.remove(&tree);
        }
        let low = first_key(id);
        let json: Vec<u8> = self
            .records
            .range(low.clone()..)
            .take_while(|(key, _)| key.starts_with(&low[..9]))
            .flat_map(|(_, piece)| piece.iter().copied())
            .collect();
        if json.is_empty() {
            return Ok(None);
        }
        let (def, large) = table_of(id, &json).map_err(|error| format!("the definition of table {id}: {error:?}"))?;
        let mut trees = Vec::new();
        for index in &def.indexes[1..] {
            trees.push(index.tree_id);
            self.trees.insert(index.tree_id, Role::Index { unique: index.kind.is_unique() });
        }
        if let Some(large) = large {
            trees.push(large.id);
            self.trees.insert(large.id, Role::Large);
        }
        let clustered = def.indexes[0].tree_id;
        trees.push(clustered);
        let known = Known { wire: WireTable::new(Arc::clone(&def)), large };
        self.trees.insert(clustered, Role::Clustered(Arc::new(known)));
        self.tables.insert(id, trees);
        Ok(Some(def))
    }
}

/// The key of the first piece of a table's definition.
fn first_key(id: u64) -> Vec<u8> {
    // As `CatalogKey` reads it.
    let mut key = vec![3];
    key.extend_from_slice(&id.to_be_bytes());
    key.extend_from_slice(&[0, 0]);
    debug_assert_eq!(CatalogKey::parse(&key), Some(CatalogKey::Table { id, piece: 0 }));
    key
}
