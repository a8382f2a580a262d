//! Heddle as a store, through `table::embedded`.

use crate::{Bytes, Operation, Session, Store, sum_of, value_of};
use std::path::Path;
use std::sync::Arc;
use table::embedded::{Acknowledge, ColumnType, Embedded, Error, NewTable, Options, Outcome, Table, TypeKind, Update, Value};

pub struct Heddle {
    embedded: Embedded,
    table: Arc<Table>,
    acknowledge: Acknowledge,
}

impl Heddle {
    /// # Errors
    /// A directory that is in use or foreign; I/O.
    pub fn open(folder: &Path, threads: usize, pool_bytes: u64, durable: bool) -> Result<Self, Error> {
        let options = Options { buffer_pool_bytes: pool_bytes, sessions_max: threads, ..Options::new(folder) };
        let embedded = Embedded::open(&options)?;
        let table = embedded.ensure_table(
            NewTable::new("bench", "rows")
                .column("id", ColumnType::new(TypeKind::BigInt))
                .column("value", ColumnType::new(TypeKind::VarBinary { length: crate::VALUE_BYTES as u32 }))
                .primary_key(&["id"]),
        )?;
        let acknowledge = if durable { Acknowledge::Durable } else { Acknowledge::NotDurable };
        Ok(Self { embedded, table, acknowledge })
    }
}

impl Store for Heddle {
    fn name(&self) -> &str {
        "Heddle"
    }

    fn session(&self) -> Box<dyn Session + '_> {
        let session = self.embedded.session().expect("as many sessions as threads");
        Box::new(HeddleSession { session, store: self, keys: Vec::new(), values: Vec::new() })
    }
}

struct HeddleSession<'s> {
    session: table::embedded::Session,
    store: &'s Heddle,
    keys: Vec<[Value<'static>; 1]>,
    values: Vec<Bytes>,
}

impl HeddleSession<'_> {
    fn make_values(&mut self, keys: &[u64], round: u64) {
        self.values.clear();
        self.values.extend(keys.iter().map(|key| value_of(*key, round)));
    }
}

impl Session for HeddleSession<'_> {
    fn run(&mut self, operation: Operation, keys: &[u64], round: u64, sum: &mut u64) -> usize {
        let (table, acknowledge) = (&*self.store.table, self.store.acknowledge);
        self.keys.clear();
        self.keys.extend(keys.iter().map(|key| [Value::Int(*key as i64)]));
        let count = |outcomes: &[Outcome]| outcomes.iter().filter(|outcome| outcome.is_done()).count();
        match operation {
            Operation::Read => {
                let mut found = 0;
                let read = self.session.read(table, &self.keys, |_, row| {
                    if let Some(Ok(Value::Bytes(value))) = row.map(|row| row.get(1)) {
                        found += 1;
                        *sum = sum.wrapping_add(sum_of(&value));
                    }
                });
                read.map(|()| found)
            }
            Operation::Insert => {
                self.make_values(keys, round);
                let rows: Vec<[Value<'_>; 2]> =
                    keys.iter().zip(&self.values).map(|(key, value)| [Value::Int(*key as i64), Value::text(value)]).collect();
                self.session.insert(table, &rows, acknowledge).map(count)
            }
            Operation::Update => {
                self.make_values(keys, round);
                let changes: Vec<_> = self.values.iter().map(|value| [(1, Value::text(value))]).collect();
                let updates: Vec<_> = self.keys.iter().zip(&changes).map(|(key, changes)| Update { key, changes }).collect();
                self.session.update(table, &updates, acknowledge).map(count)
            }
            Operation::Delete => self.session.delete(table, &self.keys, acknowledge).map(count),
        }
        .expect("the engine works")
    }
}
