//! Tables, one floor above what `machine` runs: rows in the hands of sessions while columns and indexes come and go, through crashes.
//!
//! ```text
//! plan       few numbers, drawn from the seed
//! columns    what a column is and what stands in it, by its number
//! session    transactions of the library, each on rows of its own      -> model
//! definer    ALTER TABLE at once and by writing anew, indexes, housekeeping -> model
//! model      which states of rows and definition may have survived
//! ```
//! A life: 1. the directory opens, which recovers it; 2. the definition is one that may have survived, each session's rows are too, and all trees
//! of the table agree; 3. sessions and definitions; 4. a crash somewhere in all that, or the end: then all that was done is there, the
//! directory closes, and `heddle check` finds nothing.

#[cfg(sim)]
mod columns;
#[cfg(sim)]
mod definer;
pub mod model;
#[cfg(sim)]
mod session;

#[cfg(sim)]
pub use simulated::{Plan, run};

/// The table whose columns change, and one that stays as it is.
#[cfg(sim)]
const TABLE: &str = "t";
#[cfg(sim)]
const SIDE: &str = "side";

#[cfg(sim)]
mod simulated {
    use super::columns::{self, KEY};
    use super::definer::{self, Definer};
    use super::model::{Definition, Model, Rows, States};
    use super::session::{self, Client};
    use super::{SIDE, TABLE};
    use os::sim::scheduler::{self, count, fail, note};
    use os::sim::{Halt, Rng};
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use sync::atomic::{AtomicBool, Ordering};
    use table::embedded::{ColumnType, Embedded, NewTable, Options, TypeKind, Value};
    use table::{EncodedRange, RowBuf, RowCursor, RowRead, Table};
    use txn::{Isolation, ReadMode, Worker};

    const DIRECTORY: &str = "/data";

    #[derive(Clone, Debug)]
    pub struct Plan {
        pub lives: usize,
        pub sessions: usize,
        pub transactions: u64,
        pub operations_max: u64,
        /// Of each session.
        pub rows_max: u64,
        pub pause_us_max: u64,
        /// Between two definitions.
        pub definition_us_max: u64,
        pub pool_bytes: u64,
    }

    impl Plan {
        fn draw(rng: &mut Rng) -> Self {
            Self {
                lives: rng.within(2..=6) as usize,
                sessions: rng.within(1..=4) as usize,
                transactions: *rng.pick(&[5, 20, 50]),
                operations_max: *rng.pick(&[2, 5, 12]),
                rows_max: *rng.pick(&[3, 30, 150]),
                pause_us_max: *rng.pick(&[0, 100, 20_000]),
                definition_us_max: *rng.pick(&[100, 3_000, 50_000]),
                pool_bytes: *rng.pick(&[1, 2, 8]) << 20,
            }
        }
    }

    #[derive(Clone)]
    struct Run {
        plan: Plan,
        model: Model,
    }

    /// Runs a seed to its end. Whatever is wrong ends the process.
    pub fn run(seed: u64) {
        let mut rng = Rng::new(seed ^ 0x7ab1_u64.rotate_left(40));
        let plan = Plan::draw(&mut rng);
        note(format_args!("{plan:?}"));
        let run = Run { model: Model::new(plan.sessions), plan };
        for life in 0..=run.plan.lives {
            let crash = if life == run.plan.lives { None } else { crate::plan::Plan::crash(&mut rng) };
            let (this, mut own, schedule) = (run.clone(), rng.fork(), crate::plan::Plan::schedule(&mut rng));
            note(format_args!("a life begins: {schedule:?}, crash {crash:?}"));
            count("lives", 1);
            let halt = scheduler::run_machine(schedule, crash, move || this.live(&mut own));
            note(format_args!("the life ends: {halt:?}"));
            match halt {
                Halt::Ended => {}
                Halt::Crashed(_) => count("crashes", 1),
                Halt::Fatal => fail("the engine stopped itself without a reason"),
            }
        }
    }

    fn must<T, E: std::fmt::Debug>(done: Result<T, E>, what: &str) -> T {
        done.unwrap_or_else(|e| fail(&format!("{what}: {e:?}")))
    }

    impl Run {
        fn live(&self, rng: &mut Rng) {
            let pool = self.plan.pool_bytes;
            let options = Options {
                data_dir: PathBuf::from(DIRECTORY),
                buffer_pool_bytes: pool,
                sessions_max: self.plan.sessions,
                sync: true,
            };
            let embedded = Arc::new(must(Embedded::open(&options), "the directory does not open"));
            // What the last life had begun to define.
            self.model.lock().defines = false;
            self.look(&embedded, Expected::Survivor);
            self.found(&embedded);
            self.serve(rng, &embedded);
            self.look(&embedded, Expected::Newest);
            must(embedded.close(), "the directory does not close");
            self.model.lock().all_lasts();
            drop(embedded);
            crate::offline::check(Path::new(DIRECTORY));
            count("clean stops", 1);
        }

        /// Makes the tables where they are missing.
        fn found(&self, embedded: &Embedded) {
            let key = || ColumnType::new(TypeKind::BigInt);
            let side = NewTable::new("d", SIDE).column("id", key()).primary_key(&["id"]);
            must(embedded.ensure_table(side), "the side table");
            if embedded.table("d", TABLE).is_some() {
                return;
            }
            let number = self.model.lock().number();
            let definition = Definition { columns: vec![KEY, number], indexes: BTreeMap::new() };
            let mut table = NewTable::new("d", TABLE);
            table.columns = definition.columns.iter().map(|column| columns::definition(*column)).collect();
            table.indexes = vec![definer::primary_key()];
            self.model.lock().definition.push(Some(definition));
            must(embedded.create_table(table), "the table");
        }

        fn serve(&self, rng: &mut Rng, embedded: &Arc<Embedded>) {
            let over = Arc::new(AtomicBool::new(false));
            let spawn = |name: String, body: Box<dyn FnOnce() + Send>| {
                must(os::thread::Builder::new().name(name).spawn(body), "the system gives no more threads")
            };
            let (plan, model) = (&self.plan, &self.model);
            let mut others = Vec::new();
            let definer = Definer { plan: plan.clone(), rng: rng.fork(), model: model.clone(), embedded: embedded.clone() };
            let until = over.clone();
            others.push(spawn("definer".into(), Box::new(move || definer.run(&until))));
            let (own, until, house) = (rng.fork(), over.clone(), embedded.clone());
            others.push(spawn("keeper".into(), Box::new(move || definer::keep_house(&house, own, &until))));
            let sessions: Vec<_> = (0..plan.sessions)
                .map(|number| {
                    let (plan, rng, model) = (plan.clone(), rng.fork(), model.clone());
                    let client = Client { number, plan, rng, model, embedded: embedded.clone() };
                    spawn(format!("session-{number}"), Box::new(move || client.run()))
                })
                .collect();
            sessions.into_iter().for_each(|thread| drop(thread.join()));
            over.store(true, Ordering::SeqCst);
            others.into_iter().for_each(|thread| drop(thread.join()));
        }

        /// Compares what is there with what must be; of states that may have survived, one is settled.
        fn look(&self, embedded: &Embedded, expected: Expected) {
            let worker = definer::worker(embedded);
            let table = embedded.table("d", TABLE);
            let found = table.as_deref().map(columns::found);
            let mut sessions = vec![BTreeMap::new(); self.plan.sessions];
            if let Some(table) = &table {
                self.read_all(&worker, table, &mut sessions);
            }
            worker.park();
            // Not a point in what follows: the next life begins with it, whatever happens to this one.
            let mut known = self.model.lock();
            if !expected.is_met(&mut known.definition, |definition| *definition == found) {
                fail(&format!("the table is {found:?}, and may be {:?}", known.definition));
            }
            let columns = found.map(|found| found.columns).unwrap_or_default();
            for (number, found) in sessions.iter().enumerate() {
                let rows = &mut known.rows[number];
                if !expected.is_met(rows, |rows| are_rows(&columns, rows, found)) {
                    fail(&format!("session {number} has, by columns {columns:?}, {found:?}, and may have {rows:?}"));
                }
            }
            drop(known);
            count("states judged", 1);
        }

        /// Reads every row, and judges the table's trees.
        fn read_all(&self, worker: &Worker, table: &Table, sessions: &mut [Found]) {
            let mut txn = worker.begin(Isolation::RepeatableRead);
            let (mut cursor, mut row) = (RowCursor::new(), RowBuf::new());
            let wanted = vec![true; table.def().columns.len()];
            let key = columns::numbers(table).iter().position(|column| *column == KEY).unwrap_or_else(|| fail("no key"));
            cursor.open(table, 0, &EncodedRange::default(), false, ReadMode::Snapshot, false);
            while must(worker.wait(|| cursor.next(table, worker, &mut txn, &mut row)), "a scan") {
                let how = RowRead::Snapshot;
                must(worker.wait(|| table.load_externals(worker, &mut txn, how, &wanted, &mut row)), "a large value");
                let stored = row.row(table);
                let value = |place| must(stored.get(place).map(Value::into_owned), "a column");
                let values: Vec<_> = (0..wanted.len()).map(value).collect();
                let Value::Int(id) = values[key] else { fail(&format!("a row without a key: {values:?}")) };
                sessions[id as usize % self.plan.sessions].insert(id, values);
            }
            let report = must(table.check(worker, &mut txn), "the table's check");
            if !report.problems.is_empty() {
                fail(&format!("the table is not whole: {:?}", report.problems));
            }
            drop(txn.commit(worker));
        }
    }

    /// What must be there.
    #[derive(Clone, Copy)]
    enum Expected {
        /// After a start: a state that may have survived.
        Survivor,
        /// After all have ended: the newest state. It may still be lost.
        Newest,
    }

    impl Expected {
        fn is_met<T>(self, states: &mut States<T>, is_there: impl Fn(&T) -> bool) -> bool {
            match self {
                Self::Survivor => states.settle(is_there),
                Self::Newest => is_there(states.newest()),
            }
        }
    }

    type Found = BTreeMap<i64, Vec<Value<'static>>>;

    fn are_rows(columns: &[u16], rows: &Rows, found: &Found) -> bool {
        rows.len() == found.len()
            && rows.iter().all(|(id, row)| {
                let values = found.get(id);
                values.is_some_and(|values| session::is_row(columns, *id, row, |place| values.get(place).cloned()))
            })
    }
}
