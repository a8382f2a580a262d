//! Runs a seed: the lives of the server, and the checks at their beginnings and ends.

use super::checks::{self, Filter};
use super::client::{Answer, Client, Pace};
use super::definer::{self, Definer, Granter, Killer};
use super::model::{Definition, Model};
use super::plan::{Limits, Plan};
use super::session::{ACCOUNT, DATABASE, PATIENCE, PORT, Session};
use super::statement::{brief_answer, count_key, table_name};
use super::values;
use os::sim::scheduler::{self, count, fail, note, say};
use os::sim::{Halt, Rng, net};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sync::atomic::{AtomicBool, Ordering};

const DIRECTORY: &str = "/data";
const PACE: Pace = Pace { read_bytes: 1 << 16, pause_us: 0 };

#[derive(Clone)]
struct Run {
    plan: Plan,
    model: Model,
}

/// Runs a seed to its end. Any fault ends the process.
pub fn run(seed: u64, limits: Limits) {
    let mut rng = Rng::new(seed ^ 0x5e55_u64.rotate_left(40));
    let plan = Plan::draw(&mut rng, limits);
    let mut rng = Rng::new(rng.next_u64().wrapping_add(limits.turn));
    note(format_args!("{plan:?}"));
    let run = Run { model: Model::new(plan.sessions, plan.tables), plan };
    for life in 0..=run.plan.lives {
        let crash = if life == run.plan.lives { None } else { crash(&mut rng) };
        let (this, mut own, schedule) = (run.clone(), rng.fork(), crate::plan::Plan::schedule(&mut rng));
        say(format_args!("a life begins: {schedule:?}, crash {crash:?}"));
        count("lives", 1);
        let halt = scheduler::run_machine(schedule, crash, move || this.live(&mut own));
        say(format_args!("the life ends: {halt:?}"));
        run.model.lock().connections.clear();
        match halt {
            Halt::Ended => {}
            Halt::Crashed(_) => count("crashes", 1),
            Halt::Fatal => fail("the engine stopped itself without a reason"),
        }
    }
}

/// The whole server makes many more scheduling choices than the engine alone.
fn crash(rng: &mut Rng) -> Option<(u64, os::sim::disk::CrashKind)> {
    let (choices, kind) = crate::plan::Plan::crash(rng)?;
    Some((choices.saturating_mul(*rng.pick(&[1, 1, 4])), kind))
}

fn must<T, E: std::fmt::Debug>(done: Result<T, E>, what: &str) -> T {
    done.unwrap_or_else(|e| fail(&format!("{what}: {e:?}")))
}

impl Run {
    fn live(&self, rng: &mut Rng) {
        net::set_behaviour(self.plan.network);
        let engine = must(
            txn::Engine::open(txn::Config {
                data_dir: PathBuf::from(DIRECTORY),
                buffer_pool_bytes: self.plan.pool_bytes,
                undo_memory_bytes: 64 << 10,
                recovery_target: txn::RECOVERY_TARGET,
                workers: self.plan.workers,
                durability: txn::Durability::Full,
            }),
            "the engine does not open",
        );
        let database = must(table::Database::open(engine.clone()), "the catalog does not open");
        let config = server::Config {
            tcp: Some(([127, 0, 0, 1], PORT).into()),
            data_dir: PathBuf::from(DIRECTORY),
            workers: self.plan.workers,
            buffer_pool_bytes: self.plan.pool_bytes,
            ..server::Config::default()
        };
        let handle = must(server::start(config, database, engine.clone()), "the server does not start");
        self.found();
        self.look();
        self.serve(rng);
        self.look();
        handle.stop();
        handle.wait();
        must(engine.shutdown(), "the engine does not stop");
        drop(engine);
        crate::offline::check(Path::new(DIRECTORY));
        count("clean stops", 1);
    }

    fn client(&self, database: &str) -> Client {
        let quiet = net::Behaviour { writes_per_reset: 0, ..self.plan.network };
        net::set_behaviour(quiet);
        match must(Client::connect(PORT, "root", database, PACE, PATIENCE), "nobody answers") {
            Ok(client) => client,
            Err(answer) => fail(&format!("root is refused: {}", brief_answer(&answer))),
        }
    }

    /// Creates the missing tables.
    fn found(&self) {
        let mut client = self.client("");
        self.query(&mut client, &format!("CREATE DATABASE IF NOT EXISTS {DATABASE}"));
        for table in 0..self.plan.tables {
            if self.model.lock().definitions[table].certain().is_some() {
                continue;
            }
            // After a crash the table may exist or not; it is created if it is missing.
            let definition = self.model.lock().definitions[table].open().cloned().flatten();
            let definition = definition.unwrap_or_else(|| self.first_definition(table));
            self.query(&mut client, &create(table, &definition));
            let now = scheduler::now_ns();
            self.model.lock().definitions[table].acknowledge(now);
        }
        if self.plan.triggers {
            self.found_triggers(&mut client);
        }
        if self.plan.grants {
            self.found_account(&mut client);
        }
    }

    /// Creates the triggers that count rows, and their table.
    fn found_triggers(&self, client: &mut Client) {
        self.query(client, &format!("CREATE TABLE IF NOT EXISTS {DATABASE}.counts (id INT PRIMARY KEY, n BIGINT NOT NULL)"));
        for table in 0..self.plan.tables {
            let rows: Vec<String> = (0..self.plan.sessions).map(|owner| format!("({}, 0)", count_key(table, owner))).collect();
            self.query(client, &format!("INSERT IGNORE INTO {DATABASE}.counts VALUES {}", rows.join(", ")));
            let name = table_name(table);
            for (event, row, step) in [("INSERT", "NEW", "+ 1"), ("DELETE", "OLD", "- 1")] {
                let row = format!("{} + {row}.owner", count_key(table, 0));
                self.query(
                    client,
                    &format!(
                        "CREATE TRIGGER IF NOT EXISTS {DATABASE}.{name}_{event} AFTER {event} ON {DATABASE}.{name} FOR EACH ROW \
                         UPDATE {DATABASE}.counts SET n = n {step} WHERE id = {row}"
                    ),
                );
            }
        }
    }

    /// Compares the counts of the triggers with the numbers of rows.
    fn look_at_counts(&self, client: &mut Client, found: &[checks::Found]) {
        let Answer::Rows { rows, .. } = self.query(client, "SELECT id, n FROM counts ORDER BY id") else {
            fail("a SELECT has no rows")
        };
        let of =
            |table: usize, owner: usize| found[table].keys().filter(|id| **id as usize % self.plan.sessions == owner).count();
        let expected: Vec<[String; 2]> = (0..self.plan.tables)
            .flat_map(|table| (0..self.plan.sessions).map(move |owner| (table, owner)))
            .map(|(table, owner)| [count_key(table, owner).to_string(), of(table, owner).to_string()])
            .collect();
        let is_right = |(row, expected): (&Vec<checks::Field>, &[String; 2])| {
            row.iter().zip(expected).all(|(field, wanted)| field.as_deref() == Some(wanted.as_bytes()))
        };
        if rows.len() != expected.len() || !rows.iter().zip(&expected).all(is_right) {
            let rows: Vec<String> = rows.iter().map(|row| checks::show(row)).collect();
            fail(&format!("triggers counted {rows:?}; right is {expected:?}"));
        }
    }

    /// Creates the ordinary account, and repeats the GRANTs whose answers were lost.
    fn found_account(&self, client: &mut Client) {
        self.query(client, &format!("CREATE USER IF NOT EXISTS {ACCOUNT}"));
        // This privilege lets the account use the database at all times.
        self.query(client, &format!("CREATE TABLE IF NOT EXISTS {DATABASE}.side (id INT PRIMARY KEY)"));
        self.query(client, &format!("GRANT SELECT ON {DATABASE}.side TO {ACCOUNT}"));
        if self.plan.triggers {
            self.query(client, &format!("GRANT SELECT ON {DATABASE}.counts TO {ACCOUNT}"));
        }
        let grants = self.model.lock().grants.clone();
        for ((table, privilege), states) in grants {
            let Some(granted) = states.open() else { continue };
            while !must(definer::grant(client, table, privilege, *granted, false), "a grant") {}
            let now = scheduler::now_ns();
            if let Some(states) = self.model.lock().grants.get_mut(&(table, privilege)) {
                states.acknowledge(now);
            }
        }
    }

    fn first_definition(&self, table: usize) -> Definition {
        let mut known = self.model.lock();
        let columns: Vec<u16> = (0..3).map(|_| known.number()).collect();
        let indexed = columns.iter().copied().find(|column| values::kind(*column) != values::Kind::Long);
        let indexes = indexed.map(|column| (known.number(), column)).into_iter().collect();
        let definition = Definition { columns, indexes };
        known.definitions[table].begin(Some(definition.clone()), 0);
        definition
    }

    fn query(&self, client: &mut Client, statement: &str) -> Answer {
        say(format_args!("main: {statement}"));
        let answer = must(client.query(statement), statement);
        say(format_args!("main: -- {}", brief_answer(&answer)));
        if let Answer::Refused { .. } = answer {
            fail(&format!("{statement}: {}", brief_answer(&answer)));
        }
        answer
    }

    /// Compares the database with the model. Where an answer was lost, the database decides what happened.
    fn look(&self) {
        let mut client = self.client(DATABASE);
        if !must(definer::settle(&mut client, &self.model, self.plan.tables), "the definitions") {
            fail("the definitions cannot be read while nobody changes them");
        }
        let mut found = Vec::new();
        for table in 0..self.plan.tables {
            let statement = format!("SELECT * FROM {}", table_name(table));
            let Answer::Rows { columns, rows } = self.query(&mut client, &statement) else { fail("a SELECT has no rows") };
            let sorted = checks::sort(table, self.plan.sessions, &columns, &rows);
            found.push(sorted.unwrap_or_else(|what| fail(&format!("{statement}: {what}"))).1);
            let Answer::Rows { rows, .. } = self.query(&mut client, &format!("CHECK TABLE {}", table_name(table))) else {
                fail("CHECK TABLE has no rows")
            };
            if rows.iter().any(|row| row.last() != Some(&Some(b"OK".to_vec()))) {
                fail(&format!("CHECK TABLE: {}", rows.iter().map(|row| checks::show(row)).collect::<Vec<_>>().join("; ")));
            }
        }
        if self.plan.triggers {
            self.look_at_counts(&mut client, &found);
        }
        let now = scheduler::now_ns();
        let mut known = self.model.lock();
        let sessions = self.plan.sessions;
        for session in 0..sessions {
            let states = &mut known.rows[session];
            let is = |rows: &Arc<super::model::Rows>| {
                (0..found.len()).all(|table| checks::is_state(table, sessions, session, &Filter::All, rows, &found[table]))
            };
            if states.open().is_some_and(is) {
                states.acknowledge(now);
            } else if is(states.certain()) {
                states.refuse();
            } else {
                let all: Vec<String> = found.iter().map(checks::show_found).collect();
                let show =
                    |rows: &Arc<super::model::Rows>| (0..all.len()).map(|t| checks::show_rows(t, rows)).collect::<Vec<_>>();
                let (certain, open) = (show(states.certain()), states.open().map(show));
                drop(known);
                fail(&format!("there is {all:#?}; session {session} has {certain:#?}, or {open:#?}"));
            }
            states.forget();
        }
        (0..self.plan.tables).for_each(|table| known.definitions[table].forget());
        drop(known);
        drop(client);
        net::set_behaviour(self.plan.network);
        count("states judged", 1);
    }

    fn serve(&self, rng: &mut Rng) {
        let over = Arc::new(AtomicBool::new(false));
        let spawn = |name: String, body: Box<dyn FnOnce() + Send>| {
            must(os::thread::Builder::new().name(name).stack_size(1 << 20).spawn(body), "the system gives no more threads")
        };
        let (plan, model) = (&self.plan, &self.model);
        let mut others = Vec::new();
        if plan.defines {
            let definer = Definer { number: plan.sessions, plan: plan.clone(), rng: rng.fork(), model: model.clone() };
            let until = over.clone();
            others.push(spawn("definer".into(), Box::new(move || definer.run(&until))));
        }
        if plan.grants {
            let granter = Granter { number: plan.sessions + 2, plan: plan.clone(), rng: rng.fork(), model: model.clone() };
            let until = over.clone();
            others.push(spawn("granter".into(), Box::new(move || granter.run(&until))));
        }
        if plan.kills {
            let killer = Killer { number: plan.sessions + 1, plan: plan.clone(), rng: rng.fork(), model: model.clone() };
            let until = over.clone();
            others.push(spawn("killer".into(), Box::new(move || killer.run(&until))));
        }
        let sessions: Vec<_> = (0..plan.sessions)
            .map(|number| {
                let session = Session::new(number, plan.clone(), rng.fork(), model.clone());
                spawn(format!("session-{number}"), Box::new(move || session.run()))
            })
            .collect();
        sessions.into_iter().for_each(|thread| drop(thread.join()));
        over.store(true, Ordering::SeqCst);
        others.into_iter().for_each(|thread| drop(thread.join()));
    }
}

fn create(table: usize, definition: &Definition) -> String {
    let name = table_name(table);
    let mut text = format!("CREATE TABLE IF NOT EXISTS {DATABASE}.{name} (id BIGINT PRIMARY KEY, owner INT NOT NULL");
    definition.columns.iter().for_each(|column| text += &format!(", {}", values::definition(table, *column, 0)));
    let index = |(number, column): (&u16, &u16)| format!(", INDEX i{number} ({})", values::name(*column));
    text.extend(definition.indexes.iter().map(index));
    text + ", INDEX by_owner (owner))"
}
