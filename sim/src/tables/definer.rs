//! One thread changes the table's columns and indexes; another makes and drops tables, frees what was dropped, and asks for checkpoints.

use super::columns::{self, KEY};
use super::model::{Column, Definition, Model};
use super::{Plan, TABLE};
use os::sim::Rng;
use os::sim::scheduler::{count, fail, note};
use std::sync::Arc;
use std::time::Duration;
use sync::atomic::{AtomicBool, Ordering};
use table::ddl::{Algorithm, AlterAction, ColumnPosition, DdlOptions, NewIndex, NewIndexColumn, NewIndexKind, NewTable};
use table::embedded::{ColumnType, Embedded, TypeKind};
use txn::Worker;

const COLUMNS_MAX: usize = 8;
const INDEXES_MAX: usize = 3;

pub fn primary_key() -> NewIndex {
    NewIndex { kind: NewIndexKind::Primary, ..index(0, &[KEY]) }
}

fn index(number: u16, columns: &[Column]) -> NewIndex {
    NewIndex {
        name: columns::index_name(number),
        kind: NewIndexKind::Secondary,
        columns: columns.iter().map(|column| NewIndexColumn::whole(columns::name(*column))).collect(),
        comment: String::new(),
        using_btree: false,
        invisible: false,
        generated: false,
        full_text: None,
    }
}

pub fn worker(embedded: &Embedded) -> Worker {
    let worker = embedded.database().engine().spare_worker().unwrap_or_else(|| fail("no spare worker"));
    worker.tick();
    worker
}

fn sleep(worker: &Worker, us: u64) {
    worker.park();
    os::thread::sleep(Duration::from_micros(us));
    worker.tick();
}

pub struct Definer {
    pub plan: Plan,
    pub rng: Rng,
    pub model: Model,
    pub embedded: Arc<Embedded>,
}

impl Definer {
    pub fn run(mut self, over: &AtomicBool) {
        let worker = worker(&self.embedded);
        while !over.load(Ordering::SeqCst) {
            sleep(&worker, self.rng.below(self.plan.definition_us_max));
            self.alter(&worker);
        }
    }

    fn alter(&mut self, worker: &Worker) {
        let before = self.model.lock().definition.newest().clone();
        let before = before.unwrap_or_else(|| fail("there is no table to alter"));
        let Some((after, actions, algorithm)) = self.draw(&before) else { return };
        {
            let mut known = self.model.lock();
            known.definition.push(Some(after.clone()));
            known.defines = true;
        }
        note(format_args!("{before:?} becomes {after:?} ({algorithm:?})"));
        let options = DdlOptions { algorithm, lock_wait_timeout: Duration::from_secs(2), ..DdlOptions::default() };
        let altered = self.embedded.database().alter_table(worker, "d", TABLE, actions, &options);
        let mut known = self.model.lock();
        known.defines = false;
        match altered {
            Ok(altered) => {
                drop(known);
                count(if altered.rows > 0 { "tables written anew" } else { "tables altered" }, 1);
                note(format_args!("altered; {} rows written anew", altered.rows));
            }
            Err(table::Error::LockWaitTimeout) => {
                known.definition.pop();
                drop(known);
                count("definitions that waited in vain", 1);
            }
            Err(error) => {
                drop(known);
                fail(&format!("{before:?} cannot become {after:?}: {error}"));
            }
        }
    }

    fn draw(&mut self, before: &Definition) -> Option<(Definition, Vec<AlterAction>, Algorithm)> {
        let (mut after, mut actions, mut algorithm) = (before.clone(), Vec::new(), Algorithm::Default);
        match self.rng.below(16) {
            0..4 => self.add(&mut after, &mut actions)?,
            4..7 => self.drop_column(&mut after, &mut actions)?,
            7..9 => self.move_column(&mut after, &mut actions)?,
            9..11 => {
                self.drop_column(&mut after, &mut actions)?;
                self.add(&mut after, &mut actions)?;
            }
            11 => {
                self.add(&mut after, &mut actions)?;
                algorithm = Algorithm::InPlace;
            }
            12..14 => self.add_index(&mut after, &mut actions)?,
            14 => {
                let number = *after.indexes.keys().nth(self.rng.below(INDEXES_MAX as u64) as usize)?;
                after.indexes.remove(&number);
                actions.push(AlterAction::DropIndex { name: columns::index_name(number) });
            }
            _ => actions.push(AlterAction::Rebuild),
        }
        Some((after, actions, algorithm))
    }

    fn number(&self) -> u16 {
        self.model.lock().number()
    }

    /// A place among the columns, and how it is called.
    fn position(&mut self, columns: &[Column]) -> (usize, ColumnPosition) {
        let place = self.rng.below(columns.len() as u64 + 1) as usize;
        let position = match place.checked_sub(1) {
            None => ColumnPosition::First,
            Some(before) => ColumnPosition::After(columns::name(columns[before])),
        };
        (place, position)
    }

    fn add(&mut self, after: &mut Definition, actions: &mut Vec<AlterAction>) -> Option<()> {
        if after.columns.len() >= COLUMNS_MAX {
            return None;
        }
        let number = self.number();
        let (place, position) = self.position(&after.columns);
        actions.push(AlterAction::AddColumn { column: columns::definition(number), position });
        after.columns.insert(place, number);
        Some(())
    }

    /// One that is not the key.
    fn other(&mut self, definition: &Definition) -> Option<Column> {
        let others: Vec<Column> = definition.columns.iter().copied().filter(|column| *column != KEY).collect();
        (!others.is_empty()).then(|| *self.rng.pick(&others))
    }

    fn drop_column(&mut self, after: &mut Definition, actions: &mut Vec<AlterAction>) -> Option<()> {
        let column = self.other(after)?;
        after.drop_column(column);
        actions.push(AlterAction::DropColumn { name: columns::name(column) });
        Some(())
    }

    fn move_column(&mut self, after: &mut Definition, actions: &mut Vec<AlterAction>) -> Option<()> {
        let column = *self.rng.pick(&after.columns);
        after.columns.retain(|other| *other != column);
        if after.columns.is_empty() {
            return None;
        }
        let (place, position) = self.position(&after.columns);
        after.columns.insert(place, column);
        let (name, column) = (columns::name(column), columns::definition(column));
        actions.push(AlterAction::ChangeColumn { name, column, position });
        Some(())
    }

    fn add_index(&mut self, after: &mut Definition, actions: &mut Vec<AlterAction>) -> Option<()> {
        if after.indexes.len() >= INDEXES_MAX {
            return None;
        }
        let mut parts: Vec<Column> = after.columns.iter().copied().filter(|column| columns::has_keys(*column)).collect();
        while parts.len() > 2 || (parts.len() > 1 && self.rng.chance(1, 2)) {
            parts.swap_remove(self.rng.below(parts.len() as u64) as usize);
        }
        let number = self.number();
        actions.push(AlterAction::AddIndex { index: index(number, &parts) });
        after.indexes.insert(number, parts);
        Some(())
    }
}

/// Tables that nobody else knows come and go; housekeeping, and checkpoints.
pub fn keep_house(embedded: &Embedded, mut rng: Rng, over: &AtomicBool) {
    let (worker, pause) = (worker(embedded), *rng.pick(&[1_000, 10_000, 100_000]));
    let database = embedded.database();
    let must = |done: table::Result<bool>, what: &str| done.unwrap_or_else(|e| fail(&format!("{what}: {e}")));
    let go = |names: &[(String, String)]| {
        must(database.drop_tables(&worker, names, &DdlOptions::default()).map(|()| true), "tables are dropped");
    };
    // A crash may have come between the two.
    let left: Vec<_> = database.tables().iter().map(|table| table.def().name.clone()).collect();
    go(&left.into_iter().filter(|name| name.starts_with("passing")).map(|name| ("d".to_owned(), name)).collect::<Vec<_>>());
    for number in 0.. {
        if over.load(Ordering::SeqCst) {
            return;
        }
        sleep(&worker, rng.below(pause));
        match rng.below(4) {
            0 => database.engine().checkpoint(),
            1 => {
                let name = format!("passing{number}");
                let new = NewTable::new("d", &name).column("id", ColumnType::new(TypeKind::Int)).primary_key(&["id"]);
                must(database.create_table(&worker, new).map(|_| true), "a table is made");
                if rng.chance(1, 2) {
                    sleep(&worker, rng.below(pause));
                }
                go(&[("d".to_owned(), name)]);
            }
            _ => while must(database.housekeeping(&worker), "housekeeping") {},
        }
    }
}
