//! One session: transactions on rows of its own, while the table's columns change.
//!
//! What it reads of its rows is what it has written, by whatever definition: nobody else writes them.

use super::columns::{self, KEY};
use super::model::{Column, Model, Row, Rows};
use super::{Plan, SIDE, TABLE};
use os::sim::Rng;
use os::sim::scheduler::{count, fail, note};
use std::sync::Arc;
use std::time::Duration;
use table::embedded::{Acknowledge, Embedded, Error, Isolation, LockMode, Outcome, Session, Transaction, Update, Value};
use table::{StoredRow, Table};

pub struct Client {
    pub number: usize,
    pub plan: Plan,
    pub rng: Rng,
    pub model: Model,
    pub embedded: Arc<Embedded>,
}

/// What a transaction works with, and what it has done.
struct Work<'c, 't> {
    client: &'c mut Client,
    table: &'t Table,
    columns: &'c [Column],
    rows: Rows,
}

fn keys(ids: &[i64]) -> Vec<[Value<'static>; 1]> {
    ids.iter().map(|id| [Value::Int(*id)]).collect()
}

/// Is a stored row the one that was written?
pub fn is_row(columns: &[Column], id: i64, row: &Row, value_at: impl Fn(usize) -> Option<Value<'static>>) -> bool {
    columns.iter().enumerate().all(|(place, column)| {
        let expected = if *column == KEY { Value::Int(id) } else { columns::value(*column, row.get(column).copied()) };
        value_at(place).as_ref() == Some(&expected)
    })
}

impl Client {
    pub fn run(mut self) {
        let mut session = self.embedded.session().unwrap_or_else(|e| fail(&format!("no session: {e}")));
        for _ in 0..self.plan.transactions {
            match self.transaction(&mut session) {
                Ok(()) => {}
                Err(Error::TableReplaced) => count("replaced tables", 1),
                Err(Error::Engine(txn::Error::SnapshotTooOld)) => count("snapshots too old for the table", 1),
                // A locking read of a row that is not there locks the gap.
                Err(Error::Engine(txn::Error::Deadlock)) => count("deadlocks", 1),
                Err(Error::Engine(txn::Error::LockWaitTimeout)) => count("lock wait timeouts", 1),
                Err(error) => fail(&format!("session {}: {error}", self.number)),
            }
            self.pause();
        }
    }

    fn pause(&mut self) {
        if self.plan.pause_us_max > 0 && self.rng.chance(1, 3) {
            os::thread::sleep(Duration::from_micros(self.rng.below(self.plan.pause_us_max)));
        }
    }

    fn open(&self, name: &str) -> Arc<Table> {
        let table = self.embedded.table("d", name);
        table.unwrap_or_else(|| fail(&format!("table {name} is gone")))
    }

    fn transaction(&mut self, session: &mut Session) -> Result<(), Error> {
        let side = self.open(SIDE);
        // The snapshot may be taken long before the table is used, and by another definition.
        let looks_aside = self.rng.chance(1, 4);
        let (mut table, mut numbers) = (self.open(TABLE), Vec::new());
        let level = *self.rng.pick(&[Isolation::ReadCommitted, Isolation::RepeatableRead]);
        let mut transaction = session.begin_with(level);
        if looks_aside {
            transaction.read(&side, &keys(&[1]), |_, _| {})?;
            self.pause();
            table = self.open(TABLE);
        }
        numbers.extend(columns::numbers(&table));
        let rows = self.model.lock().rows[self.number].newest().clone();
        let mut work = Work { client: self, table: &table, columns: &numbers, rows };
        for _ in 0..work.client.rng.within(1..=work.client.plan.operations_max) {
            work.statement(&mut transaction)?;
            work.client.pause();
        }
        let rows = work.rows;
        if self.rng.chance(1, 10) {
            transaction.rollback();
            count("rollbacks", 1);
            return Ok(());
        }
        self.commit(transaction, rows)
    }

    fn commit(&mut self, transaction: Transaction<'_>, rows: Rows) -> Result<(), Error> {
        let is_durable = self.rng.chance(2, 3);
        let (mine, definitions, lasts) = {
            let mut known = self.model.lock();
            // Where nothing was written there is nothing to wait for.
            let lasts = is_durable && rows != *known.rows[self.number].newest();
            known.rows[self.number].push(rows);
            // What was defined before this commit is before it in the log.
            (known.rows[self.number].count(), known.definitions(), lasts)
        };
        note(format_args!("session {} commits its state {mine} by definition {definitions}; durable: {is_durable}", self.number));
        transaction.commit(if is_durable { Acknowledge::Durable } else { Acknowledge::NotDurable })?;
        note(format_args!("session {} has committed", self.number));
        if lasts {
            let mut known = self.model.lock();
            known.rows[self.number].certain(mine);
            known.definition.certain(definitions);
        }
        count("commits", 1);
        Ok(())
    }
}

impl<'t> Work<'_, 't> {
    fn statement(&mut self, transaction: &mut Transaction<'t>) -> Result<(), Error> {
        match self.client.rng.below(10) {
            0..3 => self.insert(transaction),
            3..6 => self.update(transaction),
            6 => self.delete(transaction),
            7 => self.look(transaction, true),
            _ => self.look(transaction, false),
        }
    }

    /// A few ids of this session, each once.
    fn ids(&mut self) -> Vec<i64> {
        let (plan, rng) = (&self.client.plan, &mut self.client.rng);
        let (sessions, mine) = (plan.sessions as i64, self.client.number as i64);
        let mut ids: Vec<i64> = (0..rng.within(1..=4)).map(|_| rng.below(plan.rows_max) as i64 * sessions + mine).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn insert(&mut self, transaction: &mut Transaction<'t>) -> Result<(), Error> {
        let ids = self.ids();
        let mut new = Vec::new();
        for id in &ids {
            let others = self.columns.iter().filter(|column| **column != KEY);
            let row: Row = others.map(|column| (*column, self.client.rng.next_u64())).collect();
            new.push((*id, row));
        }
        let values = |(id, row): &(i64, Row)| -> Vec<Value<'static>> {
            let value = |column: &Column| {
                if *column == KEY { Value::Int(*id) } else { columns::value(*column, row.get(column).copied()) }
            };
            self.columns.iter().map(value).collect()
        };
        let rows: Vec<_> = new.iter().map(values).collect();
        let outcomes = transaction.insert(self.table, &rows)?;
        for ((id, row), outcome) in new.into_iter().zip(outcomes) {
            let expected = if self.rows.contains_key(&id) { Outcome::Duplicate { index: 0 } } else { Outcome::Done };
            judge("an insert", id, outcome, &expected);
            self.rows.entry(id).or_insert(row);
        }
        Ok(())
    }

    fn update(&mut self, transaction: &mut Transaction<'t>) -> Result<(), Error> {
        for id in self.ids() {
            let mut changed = Row::new();
            for _ in 0..self.client.rng.within(1..=3) {
                let column = *self.client.rng.pick(self.columns);
                if column != KEY {
                    changed.insert(column, self.client.rng.next_u64());
                }
            }
            let place = |column: &Column| self.columns.iter().position(|other| other == column).unwrap_or_default();
            let changes: Vec<_> =
                changed.iter().map(|(column, seed)| (place(column), columns::value(*column, Some(*seed)))).collect();
            let outcomes = transaction.update(self.table, &[Update { key: &[Value::Int(id)], changes: &changes }])?;
            let row = self.rows.get_mut(&id);
            judge("an update", id, &outcomes[0], if row.is_some() { &Outcome::Done } else { &Outcome::NotFound });
            row.into_iter().for_each(|row| row.extend(&changed));
        }
        Ok(())
    }

    fn delete(&mut self, transaction: &mut Transaction<'t>) -> Result<(), Error> {
        let ids = self.ids();
        let outcomes = transaction.delete(self.table, &keys(&ids))?;
        for (id, outcome) in ids.iter().zip(outcomes) {
            let was_there = self.rows.remove(id).is_some();
            judge("a delete", *id, outcome, if was_there { &Outcome::Done } else { &Outcome::NotFound });
        }
        Ok(())
    }

    fn look(&mut self, transaction: &mut Transaction<'t>, locks: bool) -> Result<(), Error> {
        let ids = self.ids();
        let (rows, columns) = (&self.rows, self.columns);
        let each = |position: usize, found: Option<StoredRow<'_>>| {
            let (id, row) = (ids[position], rows.get(&ids[position]));
            let is_right = match (row, found) {
                (None, None) => true,
                (Some(row), Some(found)) => is_row(columns, id, row, |place| found.get(place).ok().map(Value::into_owned)),
                _ => false,
            };
            if !is_right {
                let values = found
                    .map(|found| (0..columns.len()).map(|place| found.get(place).map(Value::into_owned)).collect::<Vec<_>>());
                fail(&format!("row {id} of columns {columns:?} is {values:?}, and was written as {row:?}"));
            }
        };
        let keys = keys(&ids);
        count("rows judged", ids.len() as u64);
        if locks {
            transaction.lock(self.table, &keys, LockMode::Exclusive, each)
        } else {
            transaction.read(self.table, &keys, each)
        }
    }
}

fn judge(what: &str, id: i64, outcome: &Outcome, expected: &Outcome) {
    if outcome != expected {
        fail(&format!("{what} of row {id} is {outcome:?}, not {expected:?}"));
    }
}
