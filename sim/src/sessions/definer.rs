//! Clients that disturb the sessions: one changes the definitions of the tables, one grants and revokes privileges, and one kills
//! statements and connections.

use super::Plan;
use super::client::{Answer, Client, Gone};
use super::model::{Column, Definition, Model, Privilege};
use super::session::{ACCOUNT, DATABASE, GONE_MS_MAX, connect, expect_done, wait_until_gone};
use super::statement::{brief_answer, table_name};
use super::values;
use os::sim::Rng;
use os::sim::scheduler::{count, fail, now_ns, say};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use sync::atomic::{AtomicBool, Ordering};

const COLUMNS_MAX: usize = 9;
const INDEXES_MAX: usize = 4;
/// A killed connection is gone within this time.
const KILLED_MS_MAX: u64 = 1_500;

pub struct Definer {
    /// Among the clients.
    pub number: usize,
    pub plan: Plan,
    pub rng: Rng,
    pub model: Model,
}

impl Definer {
    pub fn run(mut self, over: &Arc<AtomicBool>) {
        let mut client: Option<Client> = None;
        while !over.load(Ordering::SeqCst) {
            os::thread::sleep(Duration::from_micros(1 + self.rng.below(self.plan.definition_us_max)));
            let done = match client.take() {
                Some(there) => self.define(there),
                None => self.connect().and_then(|there| self.define(there)),
            };
            match done {
                Ok(there) => client = Some(there),
                Err(gone) => self.lost(gone),
            }
        }
    }

    fn connect(&mut self) -> Result<Client, Gone> {
        let pace = self.plan.pace(&mut self.rng);
        let mut client = connect(pace, &self.model, self.number)?;
        expect_done(&mut client, "SET SESSION lock_wait_timeout = 2")?;
        Ok(client)
    }

    fn lost(&mut self, gone: Gone) {
        match gone {
            Gone::Nonsense(what) => fail(&format!("definer: {what}")),
            Gone::Lost(error) if error.kind() == std::io::ErrorKind::TimedOut => fail("definer: an answer does not come"),
            Gone::Lost(error) => say(format_args!("definer: the connection is gone: {error}")),
        }
        count("connections lost", 1);
        let connection = self.model.lock().connections.remove(&self.number);
        loop {
            let pace = self.plan.pace(&mut self.rng);
            let settled = connect(pace, &self.model, self.number).and_then(|mut client| {
                if let Some(connection) = connection {
                    wait_until_gone(&mut client, connection, GONE_MS_MAX)?;
                }
                settle(&mut client, &self.model, self.plan.tables)
            });
            match settled {
                Ok(true) => return,
                Ok(false) => {}
                Err(Gone::Nonsense(what)) => fail(&format!("definer: {what}")),
                Err(Gone::Lost(_)) => os::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    /// Runs one ALTER TABLE.
    fn define(&mut self, mut client: Client) -> Result<Client, Gone> {
        let table = self.rng.below(self.plan.tables as u64) as usize;
        let before = self.model.lock().definitions[table].certain().clone();
        let Some(before) = before else { return Ok(client) };
        let mut after = before.clone();
        let mut touched = BTreeSet::new();
        let parts = self.rng.within(1..=2);
        let actions: Vec<String> = (0..parts).filter_map(|_| self.action(table, &before, &mut after, &mut touched)).collect();
        if actions.is_empty() {
            return Ok(client);
        }
        let statement = format!("ALTER TABLE {} {}", table_name(table), actions.join(", "));
        let now = now_ns();
        self.model.lock().definitions[table].begin(Some(after), now);
        say(format_args!("definer: {statement}"));
        let answer = client.query(&statement)?;
        say(format_args!("definer: -- {}", brief_answer(&answer)));
        let now = now_ns();
        match answer {
            Answer::Done { .. } => {
                count("definitions", 1);
                self.model.lock().definitions[table].acknowledge(now);
            }
            Answer::Refused { number, .. } if matches!(number, 1205 | 1213 | 1053) || (number == 1317 && self.plan.kills) => {
                count("definitions refused", 1);
                self.model.lock().definitions[table].refuse();
            }
            answer => fail(&format!("definer: {statement}: {}", brief_answer(&answer))),
        }
        Ok(client)
    }

    /// One part of an ALTER TABLE. No two parts name the same column.
    fn action(&mut self, table: usize, before: &Definition, after: &mut Definition, touched: &mut Touched) -> Option<String> {
        let is_free = |column: &&Column| after.columns.contains(column) && !touched.contains(column);
        let free: Vec<Column> = before.columns.iter().filter(is_free).copied().collect();
        let any = |rng: &mut Rng, from: &[Column]| (!from.is_empty()).then(|| *rng.pick(from));
        match self.rng.below(12) {
            0..=3 if after.columns.len() < COLUMNS_MAX => {
                let column = self.model.lock().number();
                let place = self.place(&free, column, after, touched);
                Some(format!("ADD COLUMN {}{place}", values::definition(table, column, self.rng.below(3))))
            }
            4 | 5 if after.columns.len() > 1 => {
                let column = any(&mut self.rng, &free)?;
                touched.insert(column);
                after.drop_column(column);
                Some(format!("DROP COLUMN {}", values::name(column)))
            }
            6 | 7 => {
                let column = any(&mut self.rng, &free)?;
                let others: Vec<Column> = free.iter().copied().filter(|other| *other != column).collect();
                after.columns.retain(|other| *other != column);
                let place = self.place(&others, column, after, touched);
                Some(format!("MODIFY COLUMN {}{place}", values::definition(table, column, self.rng.below(3))))
            }
            8 | 9 if after.indexes.len() < INDEXES_MAX => {
                let all: Vec<Column> = free.into_iter().filter(|c| values::kind(*c) != values::Kind::Long).collect();
                let column = any(&mut self.rng, &all)?;
                touched.insert(column);
                let number = self.model.lock().number();
                after.indexes.insert(number, column);
                Some(format!("ADD INDEX i{number} ({})", values::name(column)))
            }
            10 => {
                let numbers: Vec<u16> = before.indexes.keys().copied().filter(|n| after.indexes.contains_key(n)).collect();
                let number = any(&mut self.rng, &numbers)?;
                after.indexes.remove(&number);
                Some(format!("DROP INDEX i{number}"))
            }
            11 => (before == after).then(|| "FORCE".to_owned()),
            _ => None,
        }
    }

    /// The position of a column: FIRST, AFTER, or none.
    fn place(&mut self, others: &[Column], column: Column, after: &mut Definition, touched: &mut Touched) -> String {
        touched.insert(column);
        let other = match self.rng.below(3) {
            0 if !others.is_empty() => Some(*self.rng.pick(others)),
            1 => {
                after.columns.insert(0, column);
                return " AFTER owner".to_owned();
            }
            _ => after.columns.last().copied(),
        };
        let Some(other) = other else {
            after.columns.push(column);
            return String::new();
        };
        touched.insert(other);
        let place = after.columns.iter().position(|there| *there == other).map_or(0, |place| place + 1);
        after.columns.insert(place, column);
        format!(" AFTER {}", values::name(other))
    }
}

type Touched = BTreeSet<Column>;

/// Reads the current definitions. `false`: a lock, a KILL or another definition prevented it.
pub fn settle(client: &mut Client, model: &Model, tables: usize) -> Result<bool, Gone> {
    for table in 0..tables {
        let Some(found) = read(client, table)? else { return Ok(false) };
        let now = now_ns();
        let mut known = model.lock();
        let is = |definition: &Option<Definition>| definition.as_ref() == Some(&found);
        let states = &mut known.definitions[table];
        if states.open().is_some_and(is) {
            states.acknowledge(now);
        } else if is(states.certain()) {
            states.refuse();
        } else {
            let text = format!("{:?}, or {:?}", states.certain(), states.open());
            drop(known);
            fail(&format!("table t{table} is {found:?}, and may be {text}"));
        }
    }
    Ok(true)
}

/// A table's columns and indexes. `None`: a lock, a KILL or another definition prevented the reading.
fn read(client: &mut Client, table: usize) -> Result<Option<Definition>, Gone> {
    let name = table_name(table);
    let mut columns = Vec::new();
    match client.query(&format!("SELECT * FROM {name} WHERE id < 0"))? {
        Answer::Rows { columns: names, .. } => columns.extend(names.iter().filter_map(|name| values::number(name))),
        Answer::Refused { number: 1205 | 1317 | 1412, .. } => return Ok(None),
        answer => fail(&format!("the columns of {name}: {}", brief_answer(&answer))),
    }
    let mut indexes = BTreeMap::new();
    match client.query(&format!("SHOW INDEX FROM {name}"))? {
        Answer::Rows { columns: names, rows } => {
            let place =
                |name: &str| names.iter().position(|known| known == name).unwrap_or_else(|| fail("SHOW INDEX lacks a column"));
            let (key, column) = (place("Key_name"), place("Column_name"));
            let text = |field: &Option<Vec<u8>>| String::from_utf8_lossy(field.as_deref().unwrap_or_default()).into_owned();
            for row in rows {
                let number = text(&row[key]).strip_prefix('i').and_then(|number| number.parse().ok());
                if let (Some(number), Some(column)) = (number, values::number(&text(&row[column]))) {
                    indexes.insert(number, column);
                }
            }
        }
        Answer::Refused { number: 1205 | 1317, .. } => return Ok(None),
        answer => fail(&format!("the indexes of {name}: {}", brief_answer(&answer))),
    }
    Ok(Some(Definition { columns, indexes }))
}

/// Grants privileges to the ordinary account and revokes them.
pub struct Granter {
    /// Among the clients.
    pub number: usize,
    pub plan: Plan,
    pub rng: Rng,
    pub model: Model,
}

impl Granter {
    pub fn run(mut self, over: &Arc<AtomicBool>) {
        let mut client: Option<Client> = None;
        while !over.load(Ordering::SeqCst) {
            os::thread::sleep(Duration::from_micros(1 + self.rng.below(self.plan.grant_us_max)));
            let table = self.rng.below(self.plan.tables as u64) as usize;
            let privilege = *self.rng.pick(&Privilege::ALL);
            let now = now_ns();
            let granted = {
                let mut known = self.model.lock();
                let states = known.grants.get_mut(&(table, privilege)).unwrap_or_else(|| fail("every privilege has a state"));
                let granted = !*states.certain();
                states.begin(granted, now);
                granted
            };
            // Repeated until it is acknowledged; a second time changes nothing.
            loop {
                let pace = self.plan.pace(&mut self.rng);
                let there = match client.take() {
                    Some(there) => Ok(there),
                    None => connect(pace, &self.model, self.number),
                };
                let done = there.and_then(|mut there| {
                    let is_done = grant(&mut there, table, privilege, granted, self.plan.kills)?;
                    Ok((is_done, there))
                });
                match done {
                    Ok((is_done, there)) => {
                        client = Some(there);
                        if is_done {
                            break;
                        }
                    }
                    Err(Gone::Nonsense(what)) => fail(&format!("granter: {what}")),
                    Err(Gone::Lost(_)) => {
                        let connection = self.model.lock().connections.remove(&self.number);
                        // The lost statement could still run, after its repetition.
                        self.wait_for_the_last(connection);
                    }
                }
            }
            let now = now_ns();
            if let Some(states) = self.model.lock().grants.get_mut(&(table, privilege)) {
                states.acknowledge(now);
            }
            count("grants", 1);
        }
    }

    fn wait_for_the_last(&mut self, connection: Option<u32>) {
        let Some(connection) = connection else { return };
        loop {
            let pace = self.plan.pace(&mut self.rng);
            let waited = connect(pace, &self.model, self.number);
            match waited.and_then(|mut client| wait_until_gone(&mut client, connection, GONE_MS_MAX)) {
                Ok(()) => return,
                Err(Gone::Nonsense(what)) => fail(&format!("granter: {what}")),
                Err(Gone::Lost(_)) => os::thread::sleep(Duration::from_millis(1)),
            }
        }
    }
}

/// One GRANT or REVOKE. `false`: another client was in the way.
pub fn grant(client: &mut Client, table: usize, privilege: Privilege, granted: bool, kills: bool) -> Result<bool, Gone> {
    let (name, table) = (privilege.name(), table_name(table));
    let statement = if granted {
        format!("GRANT {name} ON {DATABASE}.{table} TO {ACCOUNT}")
    } else {
        format!("REVOKE {name} ON {DATABASE}.{table} FROM {ACCOUNT}")
    };
    say(format_args!("granter: {statement}"));
    let answer = client.query(&statement)?;
    say(format_args!("granter: -- {}", brief_answer(&answer)));
    match answer {
        // 1147: an earlier REVOKE, whose answer was lost, has succeeded.
        Answer::Done { .. } | Answer::Refused { number: 1147, .. } => Ok(true),
        Answer::Refused { number: 1205 | 1213, .. } => Ok(false),
        Answer::Refused { number: 1317, .. } if kills => Ok(false),
        answer => fail(&format!("{statement}: {}", brief_answer(&answer))),
    }
}

/// Kills statements and connections, chosen at random.
pub struct Killer {
    /// Among the clients.
    pub number: usize,
    pub plan: Plan,
    pub rng: Rng,
    pub model: Model,
}

impl Killer {
    pub fn run(mut self, over: &Arc<AtomicBool>) {
        let mut client: Option<Client> = None;
        let mut left = self.plan.kills_max;
        while left > 0 && !over.load(Ordering::SeqCst) {
            left -= 1;
            os::thread::sleep(Duration::from_micros(1 + self.rng.below(self.plan.kill_us_max)));
            let connections: Vec<u32> = self.model.lock().connections.values().copied().collect();
            if connections.is_empty() {
                continue;
            }
            let connection = *self.rng.pick(&connections);
            let kind = if self.rng.chance(2, 3) { "QUERY " } else { "" };
            let statement = format!("KILL {kind}{connection}");
            let pace = self.plan.pace(&mut self.rng);
            let there = match client.take() {
                Some(there) => Ok(there),
                None => connect(pace, &self.model, self.number),
            };
            say(format_args!("killer: {statement}"));
            let now = now_ns();
            self.model.lock().begin_kill(connection, now);
            let done = there.and_then(|mut there| Ok((there.query(&statement)?, there)));
            let now = now_ns();
            // A killed connection stays killed.
            if !kind.is_empty() {
                self.model.lock().end_kill(connection, now);
            }
            let waits = kind.is_empty() && self.rng.chance(1, 3);
            let done = done.and_then(|(answer, mut there)| {
                if waits {
                    wait_until_gone(&mut there, connection, KILLED_MS_MAX)?;
                }
                Ok((answer, there))
            });
            match done {
                Ok((Answer::Done { .. } | Answer::Refused { number: 1094 | 1317, .. }, there)) => client = Some(there),
                Ok((answer, _)) => fail(&format!("{statement}: {}", brief_answer(&answer))),
                Err(Gone::Nonsense(what)) => fail(&format!("killer: {what}")),
                Err(Gone::Lost(_)) => drop(self.model.lock().connections.remove(&self.number)),
            }
            count("kills", 1);
        }
    }
}
