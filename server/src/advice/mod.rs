//! Statements to the query doctor: ADVISE FOR, MEASURE ADVICE, APPLY ADVICE, REVERT ADVICE.
//!
//! ```text
//! MEASURE  makes the index that is the cure, invisible to plans, and runs kept executions with it and without it   (`trial`)
//! APPLY    measures if that was not done, makes the index visible, and watches it                                  (`watch`)
//! REVERT   drops the index
//! ```
//! Each is a line in `advice.log` (`journal`). The crate `advisor` finds; `show/advice.rs` shows.
//!
//! D1: an index of the doctor is called `advice_` and the id of its finding. No index of another name is changed or dropped.
//! D2: the server changes nothing without being asked; who asks needs the privileges that the index itself needs.
//! D3: a trial that does not help leaves no index behind, and neither does one that fails or is killed.
//! D4: trials run in a task and a session of their own, so a client's session keeps its transaction, variables and temporary tables.

pub mod journal;
pub mod measured;
mod trial;
mod watch;

pub use watch::start;

use crate::error::{Error, Result};
use crate::session::{Connection, LoggedIn, Session, State};
use crate::show::{Columns, ResultSet, advice_gather as gather, number, result, text};
use crate::worker::{Message, Worker};
use accounts::Identity;
use advisor::Finding;
use conditions::Condition;
use journal::{Action, Baseline, Line};
use measured::Trial;
use protocol::Capabilities;
use reactor::connection::Peer;
use reactor::one_shot;
use sql::ast::Advice;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use types::Value;

/// Bytes that an advised index may have: `heddle_advice_disk_max`.
const DISK_MAX: &str = "heddle_advice_disk_max";

/// Runs a statement to the doctor.
pub async fn run(state: &mut State<'_>, advice: &Advice<'_>, given: &[Value<'_>]) -> Result<ResultSet> {
    let id = match advice {
        Advice::For { statement, text } => return crate::show::advise_for(state, statement, text, given).await,
        Advice::Measure(id) | Advice::Apply(id) | Advice::Revert(id) => String::from_utf8_lossy(id).to_ascii_lowercase(),
    };
    let work = match advice {
        Advice::Measure(_) => Work::Measure,
        Advice::Apply(_) => Work::Apply,
        _ => Work::Revert,
    };
    let identity = state.session.identity.clone();
    let worker = Rc::clone(&state.worker);
    let name = id.clone();
    let done = within(&worker, identity, work.name(), async move |state| work.run(state, &name).await);
    // KILL reaches the trial.
    let mut done = done;
    let mut is_killed = false;
    let outcome = std::future::poll_fn(|cx| {
        if state.info.killed() != expr::kill::NONE && !std::mem::replace(&mut is_killed, true) {
            done.kill();
        }
        Pin::new(&mut done).poll(cx)
    })
    .await;
    outcome.unwrap_or(Err(Error::ShuttingDown))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Measure,
    Apply,
    Revert,
}

impl Work {
    fn name(self) -> &'static str {
        match self {
            Self::Measure => "measuring advice",
            Self::Apply => "applying advice",
            Self::Revert => "reverting advice",
        }
    }

    async fn run(self, state: &mut State<'_>, id: &str) -> Result<ResultSet> {
        let worker = Rc::clone(&state.worker);
        let Some(_busy) = worker.shared.advice.begin(id) else {
            return Err(wrong(self, format!("another statement works at finding {id}")));
        };
        match self {
            Self::Measure => measure(state, id).await.map(|trial| shown(&trial)),
            Self::Apply => apply(state, id).await,
            Self::Revert => revert(state, id).await,
        }
    }
}

fn wrong(work: Work, why: String) -> Error {
    let command = match work {
        Work::Measure => "MEASURE ADVICE",
        Work::Apply => "APPLY ADVICE",
        Work::Revert => "REVERT ADVICE",
    };
    Condition::ErrorWhenExecutingCommand { command: command.into(), why: why.into() }.into()
}

pub fn index_name(id: &str) -> String {
    format!("advice_{id}")
}

fn utc_now() -> String {
    let us = os::time::since_epoch().as_micros() as i64;
    types::DateTime::from_utc_micros(us).map_or_else(String::new, |time| {
        let types::DateTime { date, hour, minute, second, .. } = time;
        format!("{:04}-{:02}-{:02} {hour:02}:{minute:02}:{second:02}", date.year, date.month, date.day)
    })
}

/// A line of the journal, of now.
fn line(id: &str, action: Action, by: &str, (database, table, index): (&str, &str, &str), note: String) -> Line {
    Line {
        time: utc_now(),
        id: id.to_owned(),
        action,
        by: by.to_owned(),
        database: database.to_owned(),
        table: table.to_owned(),
        index: index.to_owned(),
        note,
        trial: None,
        helps: Vec::new(),
        writers: Vec::new(),
    }
}

/// Adds a line to the journal, on a thread that may block.
async fn write(worker: &Worker, line: Line) {
    let journal = std::sync::Arc::clone(&worker.shared.advice);
    let written = worker.shared.ddl.run_short(move |_, _| journal.add(line));
    if let Some(Err(error)) = written.await {
        tracing::error!(%error, "advice.log cannot be written");
    }
}

/// ALTER TABLE in the doctor's session.
async fn alter(state: &mut State<'_>, database: &str, table: &str, action: &str) -> Result<()> {
    let statement = format!("ALTER TABLE {}.{} {action}", advisor::quoted(database), advisor::quoted(table));
    trial::nobody(state, &statement).await
}

/// Everything about a finding that a trial needs.
struct Case {
    finding: Finding,
    database: String,
    table: String,
    executions: Vec<trial::Execution>,
    helps: Vec<Baseline>,
    writers: Vec<Baseline>,
    writes_per_s: f64,
}

async fn find(state: &State<'_>, work: Work, id: &str) -> Result<Case> {
    let gathered = gather(state).await;
    let schema = state.visible_schema();
    let workload = crate::show::advice_workload(&state.worker.shared, &schema, &gathered);
    let finding = advisor::advise(&workload).into_iter().find(|finding| finding.id == id);
    let finding = finding.ok_or_else(|| wrong(work, format!("there is no finding {id}; SHOW ADVICE has the ids")))?;
    let (Some(_), Some(database), Some(table)) = (&finding.index, &finding.database, &finding.table) else {
        let why = format!("finding {id} is of kind {}; only an index can be measured and applied", finding.kind.name());
        return Err(wrong(work, why));
    };
    let (database, table) = (database.clone(), table.clone());
    let def = schema.table(&database, &table).ok_or_else(|| wrong(work, format!("the table of finding {id} is gone")))?;
    let used = workload.table(def).and_then(|used| used.trees.first()).copied().unwrap_or_default();
    let written = used.inserted + used.updated + used.deleted;
    let writes_per_s = written as f64 / workload.uptime_s.max(1.0);
    let helps = finding
        .helps
        .iter()
        .filter_map(|helped| workload.statements.iter().find(|of| of.digest == helped.digest && of.database == helped.database));
    let helps: Vec<&advisor::Statement> = helps.collect();
    let executions = executions(&helps);
    let writers = advisor::writers(&workload, def).into_iter().map(baseline).collect();
    let helps = helps.into_iter().map(baseline).collect();
    Ok(Case { finding, database, table, executions, helps, writers, writes_per_s })
}

fn baseline(of: &advisor::Statement) -> Baseline {
    Baseline {
        database: of.database.clone(),
        digest: of.digest.clone(),
        count: of.count,
        time_us: of.time_us,
        examined: of.examined,
    }
}

/// The executions that a trial runs: of each statement the same number.
fn executions(statements: &[&advisor::Statement]) -> Vec<trial::Execution> {
    let of = |statement: &&advisor::Statement| -> Vec<trial::Execution> {
        let kept = statement.samples.iter().map(|sample| &sample.text).chain(&statement.sample);
        let mut texts: Vec<&String> = kept.filter(|text| trial::has_values(text)).collect();
        texts.dedup();
        let execution = |text: &String| trial::Execution {
            database: statement.database.clone(),
            digest: statement.digest.clone(),
            statement: statement.text.clone(),
            text: text.clone(),
        };
        texts.into_iter().map(execution).collect()
    };
    let mut all: Vec<std::vec::IntoIter<trial::Execution>> = statements.iter().map(|s| of(s).into_iter()).collect();
    let mut chosen = Vec::new();
    while chosen.len() < trial::EXECUTIONS_MAX {
        let before = chosen.len();
        chosen.extend(all.iter_mut().filter_map(Iterator::next));
        if chosen.len() == before {
            break;
        }
    }
    chosen.truncate(trial::EXECUTIONS_MAX);
    chosen
}

/// MEASURE ADVICE
async fn measure(state: &mut State<'_>, id: &str) -> Result<Trial> {
    let case = find(state, Work::Measure, id).await?;
    measure_case(state, Work::Measure, &case).await
}

async fn measure_case(state: &mut State<'_>, work: Work, case: &Case) -> Result<Trial> {
    let worker = Rc::clone(&state.worker);
    let Case { finding, database, table, .. } = case;
    let advised = finding.index.as_ref().expect("find checked it");
    let most = worker.shared.globals().get(crate::variables::known(DISK_MAX)).as_u64();
    if advised.bytes > most {
        let (bytes, most) = (advisor::bytes(advised.bytes), advisor::bytes(most));
        return Err(wrong(work, format!("the index takes about {bytes}; {DISK_MAX} allows {most}")));
    }
    if case.executions.is_empty() {
        return Err(wrong(work, "no execution of its statements is kept whole, with its values".to_owned()));
    }
    let index = index_name(&finding.id);
    let size = |state: &State<'_>| {
        let schema = state.visible_schema();
        let def = schema.table(database, table)?;
        Some(worker.shared.database.table(def.id)?.size().index_pages)
    };
    let before = size(state).unwrap_or(0);
    let began = os::ticks();
    if find_index(state, database, table, &index).is_none() {
        let add = format!("ADD INDEX {} ({}) INVISIBLE, ALGORITHM=INPLACE, LOCK=NONE", advisor::quoted(&index), advised.parts);
        alter(state, database, table, &add).await?;
    }
    let build_ms = os::ticks().saturating_sub(began) as f64 * worker.shared.tick_clock.nanos_per_tick() / 1e6;
    let statements = trial::compare(state, &case.executions).await;
    let statements = match statements {
        Ok(statements) if !statements.is_empty() => statements,
        other => {
            // D3. KILL ended the trial, not this.
            state.execution.transaction.rollback(&worker).await;
            drop_index(state, database, table, &index).await?;
            other?;
            return Err(wrong(work, "none of the kept executions can be run without changing or locking something".to_owned()));
        }
    };
    let qualified = format!("{}.{}", advisor::quoted(database), advisor::quoted(table));
    let write_us = if state.use_database(database).is_ok() {
        trial::price_of_writing(state, &qualified, &advisor::quoted(&index)).await
    } else {
        None
    };
    let index_bytes = size(state).unwrap_or(0).saturating_sub(before) * table::offline::PAGE_BYTES as u64;
    let index_bytes = if index_bytes == 0 { advised.bytes } else { index_bytes };
    let trial = Trial { index_bytes, build_ms, write_us, writes_per_s: case.writes_per_s, statements };
    let mut note = trial.gain();
    if !trial.helps() {
        drop_index(state, database, table, &index).await?;
        note.push_str("; that is no help, so the index was dropped");
    }
    let by = state.session.identity.name.plain();
    let mut line = line(&finding.id, Action::Measured, &by, (database, table, &index), note);
    line.trial = Some(trial.clone());
    write(&worker, line).await;
    Ok(trial)
}

fn find_index(state: &State<'_>, database: &str, table: &str, index: &str) -> Option<bool> {
    let schema = state.visible_schema();
    let def = schema.table(database, table)?;
    def.indexes.iter().find(|other| other.name.eq_ignore_ascii_case(index)).map(|index| index.invisible)
}

/// D1
async fn drop_index(state: &mut State<'_>, database: &str, table: &str, index: &str) -> Result<()> {
    if find_index(state, database, table, index).is_some() {
        alter(state, database, table, &format!("DROP INDEX {}", advisor::quoted(index))).await?;
    }
    Ok(())
}

/// APPLY ADVICE
async fn apply(state: &mut State<'_>, id: &str) -> Result<ResultSet> {
    let worker = Rc::clone(&state.worker);
    let index = index_name(id);
    if let Some(last) = worker.shared.advice.last(id)
        && find_index(state, &last.database, &last.table, &index) == Some(false)
    {
        return Err(wrong(Work::Apply, format!("index {index} of {}.{} is visible already", last.database, last.table)));
    }
    let case = find(state, Work::Apply, id).await?;
    let known = worker.shared.advice.trial(id).filter(|_| find_index(state, &case.database, &case.table, &index).is_some());
    let trial = match known {
        Some(trial) => trial,
        None => measure_case(state, Work::Apply, &case).await?,
    };
    if !trial.helps() {
        return Err(wrong(Work::Apply, format!("the index would be no help ({})", trial.gain())));
    }
    alter(state, &case.database, &case.table, &format!("ALTER INDEX {} VISIBLE", advisor::quoted(&index))).await?;
    let by = state.session.identity.name.plain();
    let note = format!("index {index} is visible; its statements and those that write the table are watched");
    let mut line = line(id, Action::Applied, &by, (&case.database, &case.table, &index), note.clone());
    (line.helps, line.writers) = (case.helps, case.writers);
    write(&worker, line).await;
    worker.shared.workers[0].send(Message::Call(Box::new(start)));
    Ok(told(id, Action::Applied, &note))
}

/// REVERT ADVICE
async fn revert(state: &mut State<'_>, id: &str) -> Result<ResultSet> {
    let worker = Rc::clone(&state.worker);
    let index = index_name(id);
    let last = worker.shared.advice.last(id);
    let last = last
        .ok_or_else(|| wrong(Work::Revert, format!("finding {id} was not measured or applied; sys.advice_log has what was")))?;
    if find_index(state, &last.database, &last.table, &index).is_none() {
        return Err(wrong(Work::Revert, format!("table {}.{} has no index {index}", last.database, last.table)));
    }
    drop_index(state, &last.database, &last.table, &index).await?;
    let by = state.session.identity.name.plain();
    let note = format!("index {index} was dropped");
    write(&worker, line(id, Action::Reverted, &by, (&last.database, &last.table, &index), note.clone())).await;
    Ok(told(id, Action::Reverted, &note))
}

fn told(id: &str, action: Action, note: &str) -> ResultSet {
    let mut made = result(Columns::default().text("Id", 16).text("Action", 16).long_text("Note"));
    made.rows.push(vec![text(id), text(action.name()), text(note)]);
    made
}

/// A row for each statement of a trial.
fn shown(trial: &Trial) -> ResultSet {
    let columns = Columns::default()
        .text("Digest", 64)
        .long_text("Statement")
        .number("Executions")
        .number("Runs")
        .number("Rows_without")
        .number("Rows_with")
        .text("Cpu_without", 20)
        .text("Cpu_with", 20)
        .text("P50_without", 20)
        .text("P50_with", 20)
        .text("P99_without", 20)
        .text("P99_with", 20)
        .text("Helps", 3)
        .long_text("Gain")
        .long_text("Price");
    let mut made = result(columns);
    for of in &trial.statements {
        let time = |us: f64| text(advisor::duration(us));
        made.rows.push(vec![
            text(&of.digest),
            text(&of.statement),
            number(of.executions),
            number(of.runs),
            number(of.rows[0] as u64),
            number(of.rows[1] as u64),
            time(of.cpu_us[0]),
            time(of.cpu_us[1]),
            time(of.p50_us[0]),
            time(of.p50_us[1]),
            time(of.p99_us[0]),
            time(of.p99_us[1]),
            text(if trial.helps() { "YES" } else { "NO" }),
            text(trial.gain()),
            text(trial.price()),
        ]);
    }
    made
}

/// Work in a task and a session of its own (D4).
pub struct Within<T> {
    worker: Rc<Worker>,
    session: Rc<std::cell::Cell<u32>>,
    done: reactor::OneShot<Result<T>>,
}

impl<T> Within<T> {
    /// KILL QUERY for it.
    fn kill(&self) {
        if let Some(info) = self.worker.sessions.borrow().get(&self.session.get()) {
            info.kill(expr::kill::QUERY);
        }
    }
}

impl<T> Drop for Within<T> {
    /// Nobody waits for it any more.
    fn drop(&mut self) {
        self.kill();
    }
}

impl<T> Future for Within<T> {
    /// `None`: the server stops.
    type Output = Option<Result<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.done).poll(cx)
    }
}

/// Runs `work` in a session of its own, which the process list shows as `what`.
pub fn within<T: 'static>(
    worker: &Rc<Worker>,
    identity: Identity,
    what: &'static str,
    work: impl AsyncFnOnce(&mut State<'_>) -> Result<T> + 'static,
) -> Within<T> {
    let (reply, done) = one_shot();
    let session = Rc::new(std::cell::Cell::new(0));
    let (own, number) = (Rc::clone(worker), Rc::clone(&session));
    worker.core.spawn(async move {
        let (info, _listed) = watch::listed(&own, &identity, what);
        number.set(info.id);
        let login = LoggedIn { capabilities: Capabilities::MULTI_RESULTS, identity, database: None, collation: 0 };
        let mut connection = Connection::new(Peer::local(), login.capabilities);
        let mut session = Session::new(&own, &login);
        let mut state = State::new(&own, &info, &mut connection, &mut session);
        state.begin_statement();
        let outcome = work(&mut state).await;
        state.execution.transaction.rollback(&own).await;
        reply.send(outcome);
    });
    Within { worker: Rc::clone(worker), session, done }
}
