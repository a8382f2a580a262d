//! One session of the workload. Its transactions change its own rows and read the rows of all sessions, as text and prepared, with cursors
//! and savepoints. Its connection breaks now and then.

use super::Plan;
use super::checks::{self, Filter, Found};
use super::client::{Answer, Client, Gone, Prepared};
use super::model::{Candidates, Column, Known, Model, Privilege, Rows, Time};
use super::statement::{Statement, brief, brief_answer, count_key, needs, table_name};
use super::values;
use os::sim::Rng;
use os::sim::scheduler::{count, fail, now_ns, say};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

pub const PORT: u16 = 3306;
pub const DATABASE: &str = "d";
/// The ordinary account. It has only the privileges that it is granted.
pub const ACCOUNT: &str = "w";

/// Errors caused by other sessions or by a KILL. The statement has had no effect.
const LOCK_WAIT: u16 = 1205;
const DEADLOCK: u16 = 1213;
const INTERRUPTED: u16 = 1317;
const DEFINITION_CHANGED: u16 = 1412;
const UNKNOWN_COLUMN: u16 = 1054;
const DUPLICATE: u16 = 1062;
const PREPARE_AGAIN: u16 = 1615;
const UNKNOWN_STATEMENT: u16 = 1243;
/// Of a table, and of its columns.
const DENIED: [u16; 2] = [1142, 1143];
/// The server stops.
const SHUTDOWN: u16 = 1053;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Uncommitted,
    Committed,
    Repeatable,
    Serializable,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Uncommitted => "READ UNCOMMITTED",
            Level::Committed => "READ COMMITTED",
            Level::Repeatable => "REPEATABLE READ",
            Level::Serializable => "SERIALIZABLE",
        }
    }
}

/// A transaction that is open.
struct Open {
    level: Level,
    /// The rows of its session, with its own changes.
    working: Rows,
    /// With names.
    savepoints: Vec<(String, Rows)>,
    /// For levels that keep a snapshot: when it was taken, and the states that agree with it.
    snapshot: Option<(Range<Time>, Candidates)>,
    /// The time of a failed read, which may have taken the snapshot.
    may_have_snapshot: Option<Time>,
    /// The columns of each table that it has used. A metadata lock protects them.
    columns: BTreeMap<usize, Vec<Column>>,
}

pub struct Session {
    pub number: usize,
    pub plan: Plan,
    pub rng: Rng,
    pub model: Model,
    client: Option<Client>,
    prepared: BTreeMap<String, Prepared>,
    level: Level,
    open: Option<Open>,
    /// When the last statement was sent.
    began: Time,
}

impl Session {
    pub fn new(number: usize, plan: Plan, rng: Rng, model: Model) -> Self {
        let level = Level::Repeatable;
        Self { number, plan, rng, model, client: None, prepared: BTreeMap::new(), level, open: None, began: 0 }
    }

    /// Runs the planned number of transactions.
    pub fn run(mut self) {
        let mut left = self.plan.transactions;
        while left > 0 {
            if let Err(gone) = self.connected().and_then(|()| self.transaction()) {
                self.lost(gone);
            }
            left -= 1;
            self.pause();
        }
        self.leave();
    }

    fn pause(&mut self) {
        let us = self.rng.below(self.plan.pause_us_max + 1);
        if us > 0 {
            os::thread::sleep(Duration::from_micros(us));
        }
    }

    fn fail(&self, what: &str) -> ! {
        fail(&format!("session {}: {what}", self.number))
    }

    fn lost(&mut self, gone: Gone) {
        match gone {
            Gone::Nonsense(what) => self.fail(&what),
            Gone::Lost(error) if error.kind() == std::io::ErrorKind::TimedOut => self.fail("an answer does not come"),
            Gone::Lost(error) => {
                say(format_args!("session {}: the connection is gone: {error}", self.number));
                count("connections lost", 1);
                // The number of this connection is needed after the reconnection.
                if let Some(client) = self.client.take() {
                    let connection = client.connection;
                    drop(client);
                    self.model.lock().connections.remove(&self.number);
                    self.settle(connection);
                }
            }
        }
    }

    /// Disconnects, sometimes without waiting for the last answer.
    fn leave(&mut self) {
        self.model.lock().connections.remove(&self.number);
        if let Some(mut client) = self.client.take()
            && self.rng.chance(1, 2)
        {
            // Nothing answers to COM_QUIT.
            let _ = client.command(b"\x01");
        }
    }

    fn connected(&mut self) -> Result<(), Gone> {
        if self.client.is_some() && self.rng.chance(1, 40) {
            self.leave();
        }
        if self.client.is_none() {
            let pace = self.plan.pace(&mut self.rng);
            let mut client = connect_as(self.user(), pace, &self.model, self.number)?;
            for setting in ["innodb_lock_wait_timeout = 2", "lock_wait_timeout = 5"] {
                expect_done(&mut client, &format!("SET SESSION {setting}"))?;
            }
            self.client = Some(client);
            self.prepared.clear();
            self.level = Level::Repeatable;
        }
        Ok(())
    }

    /// After a broken connection: waits until the server has noticed it, and reads whether the last commit happened.
    fn settle(&mut self, connection: u32) {
        self.open = None;
        loop {
            let pace = self.plan.pace(&mut self.rng);
            match connect(pace, &self.model, self.number).and_then(|mut client| {
                wait_until_gone(&mut client, connection, GONE_MS_MAX)?;
                self.look(&mut client)
            }) {
                Ok(true) => return,
                Ok(false) => {}
                Err(Gone::Nonsense(what)) => self.fail(&what),
                Err(Gone::Lost(error)) if error.kind() == std::io::ErrorKind::TimedOut => self.fail("an answer does not come"),
                Err(Gone::Lost(_)) => os::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    /// Reads which of the possible states is in force. `false`: the connection broke again.
    fn look(&mut self, client: &mut Client) -> Result<bool, Gone> {
        let mut found = Vec::new();
        for table in 0..self.plan.tables {
            let statement = format!("SELECT * FROM {} WHERE owner = {}", table_name(table), self.number);
            match client.query(&statement)? {
                Answer::Rows { columns, rows } => found.push(self.sort(table, &columns, &rows).1),
                Answer::Refused { number: INTERRUPTED, .. } if self.plan.kills => return Ok(false),
                Answer::Refused { number, message } => {
                    self.allow(number, &message, &statement);
                    return Ok(false);
                }
                Answer::Done { .. } => self.fail("a SELECT has no rows"),
            }
        }
        let now = now_ns();
        let mut known = self.model.lock();
        let sessions = known.rows.len();
        let states = &mut known.rows[self.number];
        let is = |rows: &Rows| {
            (0..found.len())
                .all(|table| checks::is_state(table, sessions, self.number, &Filter::Owner(self.number), rows, &found[table]))
        };
        if states.open().is_some_and(|rows| is(rows)) {
            states.acknowledge(now);
        } else if is(states.certain()) {
            states.refuse();
        } else {
            let all: Vec<String> = found.iter().map(checks::show_found).collect();
            let show = |rows: &Rows| (0..all.len()).map(|table| checks::show_rows(table, rows)).collect::<Vec<_>>();
            let (certain, open) = (show(states.certain()), states.open().map(|rows| show(rows)));
            drop(known);
            self.fail(&format!(
                "after its connection broke there is {all:?}; it had {certain:?}, or what was under way: {open:?}"
            ));
        }
        Ok(true)
    }

    fn is_limited(&self) -> bool {
        self.plan.grants && self.number % 2 == 1
    }

    fn user(&self) -> &'static str {
        if self.is_limited() { ACCOUNT } else { "root" }
    }

    /// A statement succeeded, so the account must have had its privileges at some time.
    fn judge_accepted(&self, statement: &Statement, span: Range<Time>) {
        if !self.is_limited() {
            return;
        }
        let (table, needs, _) = needs(&statement.text);
        let known = self.model.lock();
        let lacking = needs.iter().find(|privilege| !known.may_be_granted(table, **privilege, true, span.clone()));
        let lacking = lacking.map(|privilege| privilege.name());
        drop(known);
        count("privileges judged", 1);
        if let Some(name) = lacking {
            self.fail(&format!("{} is run without the privilege {name}", brief(&statement.plain())));
        }
    }

    /// May the account have lacked a privilege that the statement needs?
    fn may_be_denied(&self, text: &str, span: Range<Time>) -> bool {
        let (table, needs, reads) = needs(text);
        let known = self.model.lock();
        let lacks = |privilege: &Privilege| known.may_be_granted(table, *privilege, false, span.clone());
        self.is_limited() && needs.iter().chain(reads).any(lacks)
    }

    fn client(&mut self) -> &mut Client {
        self.client.as_mut().expect("connected before")
    }

    /// Runs a statement that must succeed unless another session is in the way.
    fn control(&mut self, statement: &str) -> Result<bool, Gone> {
        match self.send(statement)? {
            Answer::Done { .. } => Ok(true),
            Answer::Refused { number, message } => {
                self.allow(number, &message, statement);
                Ok(false)
            }
            Answer::Rows { .. } => self.fail(&format!("{statement} has rows")),
        }
    }

    fn send(&mut self, statement: &str) -> Result<Answer, Gone> {
        let number = self.number;
        self.began = now_ns();
        say(format_args!("session {number}: {}", brief(statement)));
        let answer = self.client().query(statement);
        if let Ok(answer) = &answer {
            say(format_args!("session {number}: -- {}", brief_answer(answer)));
        }
        answer
    }

    /// Runs a statement as text or prepared.
    fn run_statement(&mut self, statement: &Statement) -> Result<Answer, Gone> {
        count("statements", 1);
        if self.rng.chance(1, 60) && self.plan.breaks {
            self.break_off(statement)?;
        }
        let from = now_ns();
        if !self.plan.prepares || self.rng.chance(1, 2) {
            let answer = self.send(&statement.plain())?;
            if !matches!(answer, Answer::Refused { .. }) {
                self.judge_accepted(statement, from..now_ns());
            }
            return Ok(answer);
        }
        let prepared = match self.prepare(&statement.text)? {
            Ok(prepared) => prepared,
            Err(answer) => return Ok(answer),
        };
        self.began = now_ns();
        say(format_args!("session {}: EXECUTE {}", self.number, brief(&statement.plain())));
        let answer = self.client().execute(&prepared, &statement.parameters())?;
        if !matches!(answer, Answer::Refused { .. }) {
            self.judge_accepted(statement, self.began..now_ns());
        }
        say(format_args!("session {}: -- {}", self.number, brief_answer(&answer)));
        Ok(answer)
    }

    fn prepare(&mut self, text: &str) -> Result<Result<Prepared, Answer>, Gone> {
        self.began = now_ns();
        if let Some(prepared) = self.prepared.get(text) {
            return Ok(Ok(prepared.clone()));
        }
        let answer = self.client().prepare(text)?;
        if let Ok(prepared) = &answer {
            if self.prepared.len() >= 12
                && let Some((_, oldest)) = self.prepared.pop_first()
            {
                self.client().close(&oldest)?;
            }
            self.prepared.insert(text.to_owned(), prepared.clone());
        }
        Ok(answer)
    }

    /// Sends a statement and disconnects before the answer.
    fn break_off(&mut self, statement: &Statement) -> Result<(), Gone> {
        say(format_args!("session {}: {} -- and goes", self.number, brief(&statement.plain())));
        let text = [b"\x03", statement.plain().as_bytes()].concat();
        self.client().command(&text)?;
        if self.rng.chance(1, 2) {
            os::thread::sleep(Duration::from_micros(self.rng.below(3_000)));
        }
        let rudely = self.rng.chance(1, 2);
        let client = self.client.take().expect("connected before");
        let connection = client.connection;
        client.leave(rudely);
        self.model.lock().connections.remove(&self.number);
        self.settle(connection);
        Err(Gone::Lost(std::io::ErrorKind::ConnectionAborted.into()))
    }

    /// Checks that the error is allowed.
    fn allow(&self, number: u16, message: &str, statement: &str) {
        match number {
            LOCK_WAIT => count("lock waits ended", 1),
            DEADLOCK => count("deadlocks", 1),
            INTERRUPTED if self.is_killed() => count("statements killed", 1),
            SHUTDOWN => {}
            _ => self.fail(&format!("{} is refused with {number}: {message}", brief(statement))),
        }
    }

    fn is_killed(&self) -> bool {
        let connection = self.client.as_ref().map_or(0, |client| client.connection);
        self.model.lock().is_killed(connection, self.began)
    }

    /// As `allow`, for statements about tables whose definition changes.
    fn allow_changed(&self, number: u16, message: &str, statement: &str, table: usize, columns: &[Column], span: Range<Time>) {
        let known = self.model.lock();
        let changes = known.definitions(table, span.clone()).count() > 1;
        let all_there = columns.iter().all(|column| known.has_column(table, *column, span.clone()));
        drop(known);
        match number {
            _ if DENIED.contains(&number) && self.may_be_denied(statement, span.clone()) => count("denied", 1),
            UNKNOWN_COLUMN if !all_there => count("columns gone", 1),
            DEFINITION_CHANGED if self.plan.defines => count("definitions changed", 1),
            PREPARE_AGAIN if changes => count("prepares again", 1),
            _ => self.allow(number, message, statement),
        }
    }

    fn transaction(&mut self) -> Result<(), Gone> {
        let level =
            *self.rng.pick(&[Level::Repeatable, Level::Repeatable, Level::Committed, Level::Serializable, Level::Uncommitted]);
        if level != self.level {
            if !self.control(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", level.name()))? {
                return Ok(());
            }
            self.level = level;
        }
        if self.rng.chance(1, 4) {
            return self.operation().map(drop);
        }
        self.begin()?;
        for _ in 0..self.rng.within(1..=self.plan.operations_max) {
            if self.open.is_none() {
                return Ok(());
            }
            self.operation()?;
            match self.rng.below(120) {
                0..30 => self.pause(),
                // The pause is longer than other sessions wait for its locks.
                30 if self.plan.idles => os::thread::sleep(Duration::from_millis(self.rng.within(500..=6_000))),
                _ => {}
            }
        }
        self.end()
    }

    fn begin(&mut self) -> Result<(), Gone> {
        let takes_snapshot = self.level == Level::Repeatable && self.rng.chance(1, 4);
        let from = now_ns();
        let text = if takes_snapshot { "START TRANSACTION WITH CONSISTENT SNAPSHOT" } else { "BEGIN" };
        if !self.control(text)? {
            return Ok(());
        }
        let snapshot = takes_snapshot.then(|| (from..now_ns(), Candidates::default()));
        let working = Rows::clone(self.model.lock().rows[self.number].certain());
        self.open = Some(Open {
            level: self.level,
            working,
            savepoints: Vec::new(),
            snapshot,
            may_have_snapshot: None,
            columns: BTreeMap::new(),
        });
        Ok(())
    }

    fn end(&mut self) -> Result<(), Gone> {
        let Some(open) = self.open.take() else { return Ok(()) };
        if self.rng.chance(1, 4) {
            return self.roll_back();
        }
        let now = now_ns();
        self.model.lock().rows[self.number].begin(Arc::new(open.working), now);
        count("commits", 1);
        if self.control("COMMIT")? {
            let now = now_ns();
            self.model.lock().rows[self.number].acknowledge(now);
            return Ok(());
        }
        // The server answered that the commit has not happened.
        self.model.lock().rows[self.number].refuse();
        self.roll_back()
    }

    fn roll_back(&mut self) -> Result<(), Gone> {
        self.open = None;
        while !self.control("ROLLBACK")? {}
        Ok(())
    }

    /// After a refused statement: a deadlock has ended the transaction; after other errors it goes on, or is rolled back.
    fn refused(&mut self, number: u16) -> Result<(), Gone> {
        if self.open.is_none() {
            return Ok(());
        }
        match number {
            DEADLOCK => self.open = None,
            _ if self.rng.chance(1, 2) => self.roll_back()?,
            _ => {}
        }
        Ok(())
    }

    fn operation(&mut self) -> Result<(), Gone> {
        match self.rng.below(20) {
            0..=8 => self.change(),
            9..=14 => self.read(),
            16 | 17 if self.plan.cursors => self.cursor(),
            18 | 19 if self.open.is_some() => self.savepoint(),
            15..=17 if self.plan.triggers => self.read_count(),
            _ => self.read(),
        }
    }

    fn working(&self) -> Rows {
        match &self.open {
            Some(open) => open.working.clone(),
            None => Rows::clone(self.model.lock().rows[self.number].certain()),
        }
    }

    pub fn own_id(&mut self) -> i64 {
        (self.rng.below(self.plan.rows_max) * self.plan.sessions as u64) as i64 + self.number as i64
    }

    pub fn any_id(&mut self) -> i64 {
        self.rng.below(self.plan.rows_max * self.plan.sessions as u64) as i64
    }

    fn columns(&mut self, table: usize) -> Vec<Column> {
        let known = self.model.lock();
        let states = &known.definitions[table];
        let newest = states.open().unwrap_or_else(|| states.certain());
        newest.as_ref().map(|definition| definition.columns.clone()).unwrap_or_default()
    }

    pub fn some_columns(&mut self, table: usize, most: u64) -> Vec<Column> {
        let mut all = self.columns(table);
        let count = self.rng.within(1..=most) as usize;
        while all.len() > count {
            let place = self.rng.below(all.len() as u64) as usize;
            all.remove(place);
        }
        all
    }

    fn change(&mut self) -> Result<(), Gone> {
        let table = self.rng.below(self.plan.tables as u64) as usize;
        let working = self.working();
        let change = match self.rng.below(8) {
            0 | 1 => self.insert(table, working),
            2 => self.insert_many(table, working),
            3 | 4 => self.update(table, working),
            5 => self.update_many(table, working),
            6 => self.delete(table, working),
            _ => self.replace(table, working),
        };
        let from = now_ns();
        if self.open.is_none() {
            self.model.lock().rows[self.number].begin(Arc::new(change.after.clone()), from);
        }
        let answer = self.run_statement(&change.statement)?;
        let now = now_ns();
        let text = change.statement.plain();
        match answer {
            Answer::Done { affected } => {
                if change.is_duplicate || affected != change.affected {
                    let wanted = if change.is_duplicate { "a refusal" } else { &format!("{}", change.affected) };
                    self.fail(&format!("{} affects {affected} rows; right is {wanted}", brief(&text)));
                }
                match &mut self.open {
                    Some(open) => open.working = change.after,
                    None => self.model.lock().rows[self.number].acknowledge(now),
                }
                Ok(())
            }
            Answer::Refused { number, message } => {
                if self.open.is_none() {
                    self.model.lock().rows[self.number].refuse();
                }
                if number == DUPLICATE && change.is_duplicate {
                    return Ok(());
                }
                self.allow_changed(number, &message, &text, change.table, &change.columns, from..now);
                self.refused(number)
            }
            Answer::Rows { .. } => self.fail("a change has rows"),
        }
    }

    fn filter(&mut self, table: usize) -> Filter {
        match self.rng.below(6) {
            0 => Filter::All,
            1 => Filter::Id(self.any_id()),
            2 => Filter::Owner(self.rng.below(self.plan.sessions as u64) as usize),
            3 => {
                let (one, two) = (self.any_id(), self.any_id());
                Filter::Between(one.min(two), one.max(two))
            }
            _ => {
                // A value that one of its rows has or had.
                let rows = self.working();
                let there: Vec<_> = rows.range((table, 0)..=(table, i64::MAX)).filter(|(_, row)| !row.is_empty()).collect();
                if there.is_empty() {
                    return Filter::All;
                }
                let ((_, id), row) = there[self.rng.below(there.len() as u64) as usize];
                let columns: Vec<(&Column, &u64)> = row.iter().collect();
                let (column, version) = columns[self.rng.below(columns.len() as u64) as usize];
                if values::kind(*column) == values::Kind::Long {
                    return Filter::Id(*id);
                }
                Filter::Value(*column, values::value(table, *column, *id, *version))
            }
        }
    }

    fn select(&mut self, table: usize, filter: &Filter) -> (Statement, Vec<Column>) {
        let (rule, mut named) = match filter {
            Filter::All => (String::new(), Vec::new()),
            Filter::Id(_) => (" WHERE id = ?".to_owned(), Vec::new()),
            Filter::Between(..) => (" WHERE id BETWEEN ? AND ?".to_owned(), Vec::new()),
            Filter::Owner(_) => (" WHERE owner = ?".to_owned(), Vec::new()),
            Filter::Value(column, _) => (format!(" WHERE {} = ?", values::name(*column)), vec![*column]),
        };
        let list = if self.rng.chance(1, 2) {
            "*".to_owned()
        } else {
            let columns = self.some_columns(table, 4);
            let names: String = columns.iter().map(|column| format!(", {}", values::name(*column))).collect();
            named.extend(columns);
            format!("id, owner{names}")
        };
        let order = *self.rng.pick(&["", "", " ORDER BY id DESC", " ORDER BY owner"]);
        // Locking reads need more than SELECT.
        let locks = if self.open.is_some() && !self.is_limited() && self.rng.chance(1, 6) {
            *self.rng.pick(&[" FOR UPDATE", " FOR SHARE"])
        } else {
            ""
        };
        let mut statement = Statement::new(format!("SELECT {list} FROM {}{rule}{order}{locks}", table_name(table)));
        statement = match filter {
            Filter::All => statement,
            Filter::Id(id) => statement.number(*id),
            Filter::Between(least, most) => statement.number(*least).number(*most),
            Filter::Owner(owner) => statement.number(*owner as i64),
            Filter::Value(column, value) => statement.value(*column, value.clone()),
        };
        (statement, named)
    }

    /// Notes a read of the open transaction that failed, or whose rows are read later.
    fn may_have_snapshot(&mut self, from: Time) {
        if let Some(open) = &mut self.open {
            open.may_have_snapshot.get_or_insert(from);
        }
    }

    fn read(&mut self) -> Result<(), Gone> {
        let table = self.rng.below(self.plan.tables as u64) as usize;
        let filter = self.filter(table);
        let (statement, named) = self.select(table, &filter);
        let from = now_ns();
        let answer = self.run_statement(&statement)?;
        let span = from..now_ns();
        match answer {
            Answer::Rows { columns, rows } => {
                let own = self.working();
                self.judge(&statement, table, &filter, span, &columns, &rows, &own);
                Ok(())
            }
            Answer::Refused { number, message } => {
                self.may_have_snapshot(from);
                self.allow_changed(number, &message, &statement.plain(), table, &named, span);
                self.refused(number)
            }
            Answer::Done { .. } => self.fail("a SELECT has no rows"),
        }
    }

    /// Checks the number of rows that the triggers have counted for a session.
    fn read_count(&mut self) -> Result<(), Gone> {
        let table = self.rng.below(self.plan.tables as u64) as usize;
        let owner = self.rng.below(self.plan.sessions as u64) as usize;
        let statement = Statement::new("SELECT n FROM counts WHERE id = ?").number(count_key(table, owner));
        let from = now_ns();
        let answer = self.send(&statement.plain())?;
        let span = from..now_ns();
        let rows = match answer {
            Answer::Rows { rows, .. } => rows,
            Answer::Refused { number, message } => {
                self.may_have_snapshot(from);
                self.allow(number, &message, &statement.plain());
                return self.refused(number);
            }
            Answer::Done { .. } => self.fail("a SELECT has no rows"),
        };
        let number = rows.first().and_then(|row| std::str::from_utf8(row[0].as_ref()?).ok()?.parse::<usize>().ok());
        let Some(number) = number else { self.fail("a count is gone") };
        let (sessions, own) = (self.plan.sessions, self.working());
        let model = self.model.clone();
        let known = model.lock();
        let fits = |rows: &Arc<Rows>| checks::count_of(table, sessions, owner, rows) == number;
        let states = &known.rows[owner];
        let is_right = match &mut self.open {
            Some(open) if open.level == Level::Repeatable => {
                let from = open.may_have_snapshot.unwrap_or(span.start);
                let (taken, candidates) = open.snapshot.get_or_insert_with(|| (from..span.end, Candidates::default()));
                if owner == self.number {
                    checks::count_of(table, sessions, owner, &own) == number
                } else {
                    candidates.narrow(owner, states, taken.clone(), fits)
                }
            }
            _ if owner == self.number => checks::count_of(table, sessions, owner, &own) == number,
            _ if self.level == Level::Uncommitted => true,
            // A SERIALIZABLE read locks. It sees the row at one moment of the statement, as a snapshot does.
            _ => Candidates::default().narrow(owner, states, span, fits),
        };
        drop(known);
        count("counts judged", 1);
        if !is_right {
            self.fail(&format!("triggers counted {number} rows of session {owner} in t{table}"));
        }
        Ok(())
    }

    fn sort(&self, table: usize, names: &[String], rows: &[Vec<checks::Field>]) -> (Vec<Column>, Found) {
        checks::sort(table, self.plan.sessions, names, rows).unwrap_or_else(|what| self.fail(&what))
    }

    /// Checks the rows that a statement has read. `own`: the session's rows when the statement began.
    #[expect(clippy::too_many_arguments, reason = "one place says all that a read is judged by")]
    fn judge(
        &mut self,
        statement: &Statement,
        table: usize,
        filter: &Filter,
        span: Range<Time>,
        names: &[String],
        rows: &[Vec<checks::Field>],
        own: &Rows,
    ) {
        let (columns, found) = self.sort(table, names, rows);
        let model = self.model.clone();
        let known = model.lock();
        let what = |why: &str| format!("{}: {why}", brief(&statement.plain()));
        if statement.text.starts_with("SELECT * ") {
            self.judge_columns(&known, statement, table, &span, columns);
        }
        let locks = statement.text.contains(" FOR ");
        let judged = match &mut self.open {
            // At levels that keep a snapshot all reads of the transaction use it.
            Some(open) if open.level == Level::Repeatable && !locks => {
                let from = open.may_have_snapshot.unwrap_or(span.start);
                let (taken, candidates) = open.snapshot.get_or_insert_with(|| (from..span.end, Candidates::default()));
                checks::judge(&known, Some(candidates), Some((self.number, own)), table, filter, taken.clone(), &found)
            }
            Some(open) if open.level == Level::Uncommitted => {
                checks::judge(&known, None, Some((self.number, own)), table, filter, span, &found)
            }
            None if self.level == Level::Uncommitted => {
                checks::judge(&known, None, Some((self.number, own)), table, filter, span, &found)
            }
            _ => {
                // A locking read sees each row at another moment.
                let is_snapshot = !locks && (self.open.is_none() || self.level == Level::Committed);
                let mut candidates = Candidates::default();
                checks::judge(
                    &known,
                    is_snapshot.then_some(&mut candidates),
                    Some((self.number, own)),
                    table,
                    filter,
                    span,
                    &found,
                )
            }
        };
        drop(known);
        count("reads judged", 1);
        if let Err(why) = judged {
            self.fail(&what(&why));
        }
    }

    fn judge_columns(&mut self, known: &Known, statement: &Statement, table: usize, span: &Range<Time>, columns: Vec<Column>) {
        let text = brief(&statement.plain());
        if !known.definitions(table, span.clone()).any(|definition| definition.columns == columns) {
            let possible: Vec<_> = known.definitions(table, span.clone()).map(|definition| &definition.columns).collect();
            self.fail(&format!("{text}: the columns are {columns:?}, and may be one of {possible:?}"));
        }
        if let Some(open) = &mut self.open {
            let before = open.columns.entry(table).or_insert_with(|| columns.clone());
            if *before != columns {
                let before = before.clone();
                self.fail(&format!("{text}: in one transaction the table has columns {before:?}, and then {columns:?}"));
            }
        }
    }

    /// Reads through a cursor in pieces, and changes rows in between.
    fn cursor(&mut self) -> Result<(), Gone> {
        let table = self.rng.below(self.plan.tables as u64) as usize;
        let filter = self.filter(table);
        let (statement, named) = self.select(table, &filter);
        let from = now_ns();
        let prepared = match self.prepare(&statement.text)? {
            Ok(prepared) => prepared,
            Err(Answer::Refused { number, message }) => {
                let now = now_ns();
                self.allow_changed(number, &message, &statement.plain(), table, &named, from..now);
                return self.refused(number);
            }
            Err(_) => self.fail("a prepared statement that is none"),
        };
        self.began = now_ns();
        say(format_args!("session {}: OPEN {}", self.number, brief(&statement.plain())));
        let (own, was_open) = (self.working(), self.open.is_some());
        let opened = self.client().open_cursor(&prepared, &statement.parameters())?;
        let span = from..now_ns();
        self.may_have_snapshot(from);
        let mut cursor = match opened {
            Ok(cursor) => cursor,
            Err(Answer::Refused { number, message }) => {
                say(format_args!("session {}: -- error {number}: {message}", self.number));
                self.allow_changed(number, &message, &statement.plain(), table, &named, span);
                return self.refused(number);
            }
            Err(_) => self.fail("a cursor that is none"),
        };
        count("cursors", 1);
        let mut rows = Vec::new();
        while !cursor.ended {
            if self.rng.chance(1, 3) {
                self.change()?;
            }
            let most = self.rng.within(1..=7) as u32;
            self.began = now_ns();
            match self.client().fetch(&mut cursor, most)? {
                Ok(more) => rows.extend(more),
                Err(Answer::Refused { number, message }) => {
                    say(format_args!("session {}: -- FETCH: error {number}: {message}", self.number));
                    // The client closes statements when it has prepared many.
                    if number != UNKNOWN_STATEMENT {
                        let now = now_ns();
                        self.allow_changed(number, &message, "FETCH", table, &named, span.start..now);
                    }
                    return self.refused(number);
                }
                Err(_) => self.fail("rows that are none"),
            }
        }
        say(format_args!("session {}: -- {} rows fetched", self.number, rows.len()));
        if was_open != self.open.is_some() {
            // The transaction has ended. The snapshot of the cursor's rows is not known any more.
            let found = self.sort(table, &cursor.names(), &rows).1;
            let sessions = self.plan.sessions;
            if !checks::is_state(table, sessions, self.number, &filter, &own, &found) {
                self.fail(&format!("{}: it reads {}", brief(&statement.plain()), checks::show_found(&found)));
            }
            return Ok(());
        }
        self.judge(&statement, table, &filter, span, &cursor.names(), &rows, &own);
        Ok(())
    }

    fn savepoint(&mut self) -> Result<(), Gone> {
        let name = format!("s{}", self.rng.below(3));
        let Some(open) = &self.open else { return Ok(()) };
        let there = open.savepoints.iter().rposition(|(known, _)| *known == name);
        match there {
            Some(place) if self.rng.chance(2, 3) => {
                if !self.control(&format!("ROLLBACK TO {name}"))? {
                    return self.roll_back();
                }
                if let Some(open) = &mut self.open {
                    open.savepoints.truncate(place + 1);
                    open.working = open.savepoints[place].1.clone();
                }
            }
            _ => {
                if !self.control(&format!("SAVEPOINT {name}"))? {
                    return self.roll_back();
                }
                if let Some(open) = &mut self.open {
                    open.savepoints.retain(|(known, _)| *known != name);
                    open.savepoints.push((name, open.working.clone()));
                }
            }
        }
        Ok(())
    }
}

/// Connects as root.
pub fn connect(pace: super::client::Pace, model: &Model, number: usize) -> Result<Client, Gone> {
    connect_as("root", pace, model, number)
}

fn connect_as(user: &str, pace: super::client::Pace, model: &Model, number: usize) -> Result<Client, Gone> {
    match Client::connect(PORT, user, DATABASE, pace, PATIENCE)? {
        Ok(client) => {
            say(format_args!("client {number}: is connection {}", client.connection));
            model.lock().connections.insert(number, client.connection);
            Ok(client)
        }
        Err(Answer::Refused { number: SHUTDOWN, .. }) => Err(Gone::Lost(std::io::ErrorKind::ConnectionAborted.into())),
        Err(answer) => Err(Gone::Nonsense(format!("a login is refused: {}", brief_answer(&answer)))),
    }
}

/// The time within which the server must notice a disconnected client, even in the middle of a statement.
pub const GONE_MS_MAX: u64 = 40_000;
/// The time within which every statement must be answered.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub fn expect_done(client: &mut Client, statement: &str) -> Result<(), Gone> {
    loop {
        match client.query(statement)? {
            Answer::Done { .. } => return Ok(()),
            Answer::Refused { number: INTERRUPTED | LOCK_WAIT, .. } => {}
            answer => return Err(Gone::Nonsense(format!("{statement}: {}", brief_answer(&answer)))),
        }
    }
}

/// Waits until the server has noticed that a connection is gone.
pub fn wait_until_gone(client: &mut Client, connection: u32, ms_max: u64) -> Result<(), Gone> {
    let statement = format!("SELECT id FROM information_schema.processlist WHERE id = {connection}");
    let end = now_ns() + ms_max * 1_000_000;
    while now_ns() < end {
        match client.query(&statement)? {
            Answer::Rows { rows, .. } if rows.is_empty() => return Ok(()),
            Answer::Rows { .. } | Answer::Refused { number: INTERRUPTED, .. } => os::thread::sleep(Duration::from_millis(10)),
            answer => return Err(Gone::Nonsense(format!("{statement}: {}", brief_answer(&answer)))),
        }
    }
    Err(Gone::Nonsense(format!("connection {connection} stays in the process list although it is over")))
}
