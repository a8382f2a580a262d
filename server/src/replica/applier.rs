//! The applier: a task that takes the groups of the source apart, and does what they say. It gives small groups of rows to `lanes`, which are appliers as well, and
//! does all else itself, when the lanes have done what came before.
//!
//! ```text
//! GTID | BEGIN | TABLE_MAP ... | rows ... | XID        GTID | a definition
//! ```
//! A1: a group's rows and its GTID are committed by one transaction of the engine. A group without effect here leaves its GTID too.
//! A2: a group whose GTID was executed is passed over, whole.
//! A3: what cannot be applied stops the applier, with the group's rows taken back; nothing is skipped.
//! A4: after a deadlock, or a lock that was waited for in vain, the group is asked for again, `replica_transaction_retries` times at most.
//! A5: a commit is not waited for until it is durable: what a crash loses is asked for again.

mod texts;

use super::cascade::{self, Followers, acts, leads_to};
use super::lanes::{BLOCKED, GROUP_BYTES_MAX, Lanes, Turn, Whole};
use super::rows::{self, Buffers};
use super::state::{Hand, Item, Passage, Trouble};
use crate::error::{Description, Error};
use crate::plan_cache::PlanEntry;
use crate::session::{
    Characteristics, Connection, Hold, IDS, Listed, LoggedIn, PLAN_ATTEMPTS_MAX, Recipient, Session, SessionInfo, State,
};
use crate::variables::{Setting, known, parse_time_zone};
use crate::worker::{Message, Worker};
use accounts::Identity;
use binlog::event::{self, HEAD_BYTES, Head, Seen};
use binlog::gtid::{Gtid, GtidSet};
use binlog::read::{BadEvent, QueryEvent, RowsEvent, RowsKind, TableMap};
use binlog::row::WireTable;
use binlog::row::read::Misfit;
use conditions::Condition;
use protocol::Capabilities;
use reactor::connection::Peer;
use std::collections::HashMap;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use sync::waits::{self, Cause, Kind};
use table::Table;
use texts::{row_failed, what_is};
use txn::Isolation;
use types::CollationId;
use types::schema::ForeignKeyDef;

/// Tables of one statement of the stream: more is no stream of a server.
const MAPS_MAX: usize = 1 << 16;
/// Tables that are kept with their plans.
const TABLES_MAX: usize = 1024;
/// The applier looks so often whether it is to end.
const LOOK: Duration = Duration::from_millis(500);
/// Other tasks have their turn after so many rows.
const ROWS_PER_TURN: u32 = 64;

/// Why an event cannot be applied.
#[derive(Debug)]
pub struct Failed {
    number: u16,
    text: String,
    /// A4
    is_passing: bool,
}

impl Failed {
    fn of(error: &Error, text: impl FnOnce(&Description) -> String) -> Self {
        let is_passing = error.ends_transaction() || matches!(error, Error::Exec(expr::Error::LockWaitTimeout));
        let description = error.describe();
        Self { number: description.number, text: text(&description), is_passing }
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::of(&error, |description| format!("Error executing event: '{}'", description.message))
    }
}

impl From<BadEvent> for Failed {
    fn from(bad: BadEvent) -> Self {
        fatal(bad.0)
    }
}

/// An event that no applier here can do.
fn fatal(why: &str) -> Failed {
    said(Condition::ReplicaFatalError { why: why.into() })
}

/// A condition whose text says all.
fn said(condition: Condition) -> Failed {
    Failed::of(&condition.into(), |description| description.message.clone())
}

/// What an applier does.
enum Role {
    /// Takes what the receiver gives.
    Coordinator,
    /// Takes groups out of the line, as the lane with this number.
    Lane(Arc<Lanes>, usize),
}

/// Starts the applier on a worker.
pub fn start(worker: &Rc<Worker>) {
    let own = Rc::clone(worker);
    worker.core.spawn(async move { run(&own, Role::Coordinator).await });
}

/// Starts the lanes, on all workers. `None`: one applier is to do all.
fn start_lanes(worker: &Worker) -> Option<Arc<Lanes>> {
    let count = worker.shared.globals().get(known("replica_parallel_workers")).as_u64() as usize;
    if count < 2 {
        return None;
    }
    let lanes = Arc::new(Lanes::default());
    // The coordinator's own worker has a lane last.
    let workers: Vec<_> = worker.others().chain([&worker.shared.workers[worker.index]]).collect();
    for number in 0..count {
        let lives = lanes.begin_lane();
        let lanes = Arc::clone(&lanes);
        workers[number % workers.len()].send(Message::Call(Box::new(move |worker| {
            let own = Rc::clone(worker);
            worker.core.spawn(async move {
                let _lives = lives;
                run(&own, Role::Lane(lanes, number)).await;
            });
        })));
    }
    Some(lanes)
}

async fn run(worker: &Rc<Worker>, role: Role) {
    let info = Rc::new(SessionInfo::new(worker.shared.next_connection_id(), String::new(), &worker.core));
    "system user".clone_into(&mut info.user.borrow_mut());
    info.stopping.set(worker.is_stopping());
    info.begin("Connect", worker.core.now());
    let listed = Listed::new(worker, &info);
    let login =
        LoggedIn { capabilities: Capabilities::MULTI_RESULTS, identity: Identity::applier(), database: None, collation: 0 };
    let mut connection = Connection::new(Peer::local(), login.capabilities);
    let mut session = Session::new(worker, &login);
    let mut state = State::new(worker, &info, &mut connection, &mut session);
    state.execution.vars.user = "system user".into();
    // A5
    state.execution.transaction.commit_soon();
    let mut applier = Applier {
        state,
        is_lane: matches!(role, Role::Lane(..)),
        hand: match &role {
            Role::Coordinator => 0,
            Role::Lane(_, number) => number + 1,
        },
        lanes: None,
        gathered: Vec::new(),
        executed: GtidSet::new(),
        generation: 0,
        group: None,
        maps: HashMap::new(),
        tables: HashMap::new(),
        buffers: Buffers::default(),
        failures: 0,
        rows: 0,
    };
    worker.shared.replica.note(|inner| {
        if inner.hands.len() <= applier.hand {
            inner.hands.resize(applier.hand + 1, Hand::default());
        }
        inner.hands[applier.hand].session = info.id;
    });
    if let Role::Lane(lanes, number) = role {
        applier.lane(&lanes, number).await;
        applier.take_back().await;
        return;
    }
    worker.shared.replica.note(|inner| inner.applier_session = info.id);
    tracing::info!("replica: the applier begins");
    applier.lanes = start_lanes(worker);
    let appliers = 1 + applier.lanes.as_ref().map_or(0, |lanes| lanes.count());
    worker.shared.replica.note(|inner| inner.hands.truncate(appliers));
    let outcome = applier.work().await;
    if let Some(lanes) = applier.lanes.take() {
        std::future::poll_fn(|cx| lanes.poll_closed(cx.waker())).await;
    }
    applier.take_back().await;
    drop(listed);
    worker.shared.replica.note(|inner| {
        if let Err(failed) = outcome {
            tracing::error!(number = failed.number, "replica: the applier stops: {}", failed.text);
            inner.applier_trouble = Trouble::new(failed.number, failed.text);
        }
        inner.wants_applier = false;
        inner.applier_lives = false;
        inner.applying = 0;
        inner.applier_state = "";
    });
}

/// A group that is being applied.
struct Group {
    gtid: Gtid,
    /// A2
    is_passed_over: bool,
    /// BEGIN was seen.
    is_open: bool,
}

/// A table that rows are written to.
struct Kept {
    plan: Rc<PlanEntry>,
    table: Arc<Table>,
    wire: WireTable,
    /// It has columns of functional key parts.
    has_hidden: bool,
    /// The source's table, which fits.
    fits: Option<TableMap>,
}

struct Applier<'s> {
    state: State<'s>,
    is_lane: bool,
    /// Its number in [`super::state::Inner::hands`].
    hand: usize,
    /// Of the coordinator.
    lanes: Option<Arc<Lanes>>,
    /// The events of a group that is to be put in line, as far as they have come.
    gathered: Vec<Item>,
    /// Not known to lanes.
    executed: GtidSet,
    generation: u64,
    group: Option<Group>,
    /// By the number that the rows events of the statement give it.
    maps: HashMap<u64, TableMap>,
    tables: HashMap<(String, String), Kept>,
    buffers: Buffers,
    /// A4
    failures: u64,
    rows: u32,
}

impl Applier<'_> {
    async fn work(&mut self) -> Result<(), Failed> {
        let worker = Rc::clone(&self.state.worker);
        let replica = &worker.shared.replica;
        loop {
            let next = std::future::poll_fn(|cx| {
                if self.is_over() {
                    return Poll::Ready(Ok(None));
                }
                let mut applying = 0;
                if let Some(lanes) = &self.lanes {
                    if let Some(failed) = lanes.failed(cx.waker()) {
                        return Poll::Ready(Err(failed));
                    }
                    applying = lanes.applying();
                }
                let next = replica.poll_next(applying, cx.waker());
                if next.is_pending() {
                    self.look_again();
                }
                next.map(Ok)
            });
            let done = match next.await {
                Ok(None) => return Ok(()),
                Ok(Some(item)) if item.event.is_empty() => {
                    self.begin_generation(item.generation).await?;
                    Ok(())
                }
                Ok(Some(item)) if item.generation == self.generation => {
                    if self.delay(&item).await {
                        self.item(item).await
                    } else {
                        Ok(())
                    }
                }
                Ok(Some(_)) => Ok(()),
                Err(failed) => Err(failed),
            };
            if let Err(failed) = done {
                self.take_back().await;
                // STOP REPLICA, KILL and the end of the server interrupt what runs.
                if self.state.info.killed() != expr::kill::NONE {
                    return Ok(());
                }
                self.failures += 1;
                let most = worker.shared.globals().get(known("replica_transaction_retries")).as_u64();
                if !failed.is_passing || self.failures > most {
                    return Err(failed);
                }
                self.note_retry(&failed);
                self.generation = 0;
                replica.renew();
            }
            if self.group.is_none() && self.gathered.is_empty() {
                exec::yield_now().await;
            }
        }
    }

    /// Is it to end?
    fn is_over(&self) -> bool {
        self.state.worker.is_stopping() || self.state.info.killed() != expr::kill::NONE
    }

    /// Wakes the task again after a while, whatever happens.
    fn look_again(&self) {
        let core = &self.state.worker.core;
        core.wake_at(core.now() + LOOK);
        waits::pending(Cause::of(Kind::Replication));
    }

    /// Waits until a group may begin (SOURCE_DELAY). `false`: it is of no use any more.
    async fn delay(&self, item: &Item) -> bool {
        let replica = &self.state.worker.shared.replica;
        let (delay, clock_ahead) = {
            let inner = replica.inner.lock();
            (inner.settings.as_ref().map_or(0, |settings| settings.delay), inner.clock_ahead)
        };
        if delay == 0 || self.group.is_some() || !self.gathered.is_empty() {
            return true;
        }
        let Some(times) = event::commit_times(&item.event).filter(|_| is_gtid(&item.event)) else { return true };
        // By the clock of the source.
        let due = i128::from(times.immediate_us) + i128::from(delay) * 1_000_000;
        let left_us = || due - os::time::since_epoch().as_micros() as i128 - i128::from(clock_ahead) * 1_000_000;
        std::future::poll_fn(|_| {
            let mut inner = replica.inner.lock();
            let left = left_us();
            inner.delay_left = (left > 0).then_some((left / 1_000_000) as u64);
            if left <= 0 || self.is_over() || !inner.wants_applier {
                return Poll::Ready(left <= 0);
            }
            if inner.wanted_generation != item.generation {
                return Poll::Ready(false);
            }
            inner.applier_state = "Waiting until SOURCE_DELAY seconds after source executed event";
            inner.applying = Head::parse(&item.event).map_or(0, |head| head.timestamp);
            drop(inner);
            let core = &self.state.worker.core;
            core.wake_at(core.now() + LOOK.min(Duration::from_micros(left as u64)));
            waits::pending(Cause::of(Kind::Sleep));
            Poll::Pending
        })
        .await
    }

    /// The coordinator's next event: gathers it, or does what it says.
    async fn item(&mut self, item: Item) -> Result<(), Failed> {
        let Some(lanes) = self.lanes.clone() else { return self.event(&item).await };
        if self.group.is_some() {
            return self.event(&item).await;
        }
        let head = Head::parse(&item.event).ok_or_else(|| fatal("an event is too short"))?;
        let is_for_lanes = self.is_for_lanes(&head, &item);
        self.gathered.push(item);
        let bytes = self.gathered.iter().map(|item| item.event.len()).sum::<usize>();
        if !is_for_lanes || bytes > GROUP_BYTES_MAX {
            // L5
            self.until_empty(&lanes).await?;
            for item in std::mem::take(&mut self.gathered) {
                self.event(&item).await?;
            }
            return Ok(());
        }
        if head.kind != event::XID {
            return Ok(());
        }
        let items = std::mem::take(&mut self.gathered);
        let Some(Seen::Group { gtid: Some(gtid), last_committed, sequence_number, .. }) = event::see(&items[0].event) else {
            return Err(fatal("a GTID cannot be read"));
        };
        let timestamp = Head::parse(&items[0].event).map_or(0, |head| head.timestamp);
        let whole = Arc::new(Whole { items, bytes, last_committed, sequence_number, timestamp });
        let put = std::future::poll_fn(|cx| {
            if self.is_over() {
                return Poll::Ready(Ok(()));
            }
            let put = lanes.put(&whole, cx.waker());
            if put.is_pending() {
                self.look_again();
            }
            put
        });
        put.await?;
        self.executed.add(&gtid);
        let applying = lanes.applying();
        self.state.worker.shared.replica.note(|inner| inner.applying = applying);
        Ok(())
    }

    /// May this event be a part of a group that is put in line, behind those that are gathered?
    fn is_for_lanes(&self, head: &Head, item: &Item) -> bool {
        match (head.kind, self.gathered.len()) {
            (event::GTID | event::GTID_TAGGED, 0) => {
                matches!(event::see(&item.event), Some(Seen::Group { gtid: Some(gtid), .. }) if !self.executed.contains(&gtid))
            }
            (_, 0) => false,
            (event::QUERY, 1) => {
                QueryEvent::parse(&item.event[HEAD_BYTES..]).is_ok_and(|query| query.statement.as_slice() == b"BEGIN")
            }
            (_, 1) => false,
            (event::TABLE_MAP | event::ROWS_QUERY | event::XID, _) => true,
            (kind, _) => matches!(RowsEvent::parse(kind, &item.event[HEAD_BYTES..]), Ok(Some(_))),
        }
    }

    /// Waits until all groups in line are committed.
    async fn until_empty(&self, lanes: &Lanes) -> Result<(), Failed> {
        std::future::poll_fn(|cx| {
            if self.is_over() {
                return Poll::Ready(Err(said(Condition::QueryInterrupted)));
            }
            let empty = lanes.poll_empty(cx.waker());
            if empty.is_pending() {
                self.look_again();
            }
            empty
        })
        .await
    }

    /// A lane's work.
    async fn lane(&mut self, lanes: &Lanes, number: usize) {
        loop {
            let next = std::future::poll_fn(|cx| {
                if self.is_over() {
                    return Poll::Ready(None);
                }
                let next = lanes.poll_take(number, cx.waker());
                if next.is_pending() {
                    self.look_again();
                }
                next
            });
            let Some((ticket, group)) = next.await else { break };
            self.apply(lanes, ticket, &group).await;
            lanes.release();
        }
        // Somebody has killed this session alone.
        if self.state.info.killed() != expr::kill::NONE && !self.state.worker.is_stopping() {
            lanes.fail(said(Condition::QueryInterrupted));
        }
    }

    /// Applies a group in line, and commits it at its turn.
    async fn apply(&mut self, lanes: &Lanes, ticket: u64, group: &Whole) {
        let Some((last, events)) = group.items.split_last() else { return };
        self.failures = 0;
        loop {
            let is_at_turn = lanes.turn(ticket) == Some(Turn::Now);
            let written = self.write(lanes, ticket, events).await;
            if written.is_err() {
                self.take_back().await;
            }
            let mut turn = self.turn(lanes, ticket, written.is_ok()).await;
            if turn == Turn::GiveWay {
                // L4
                self.take_back().await;
                turn = self.turn(lanes, ticket, false).await;
                if turn == Turn::Now {
                    continue;
                }
            }
            if turn == Turn::Lost {
                self.take_back().await;
                return;
            }
            let done = match written {
                Ok(()) => self.event(last).await,
                // L3
                Err(_) if !is_at_turn => continue,
                Err(failed) => Err(failed),
            };
            let Err(failed) = done else {
                lanes.committed(ticket);
                return;
            };
            self.take_back().await;
            self.failures += 1;
            let most = self.state.worker.shared.globals().get(known("replica_transaction_retries")).as_u64();
            if !failed.is_passing || self.failures > most || self.is_over() {
                lanes.fail(Failed { is_passing: false, ..failed });
                return;
            }
            self.note_retry(&failed);
        }
    }

    fn note_retry(&self, failed: &Failed) {
        self.state.worker.shared.replica.note(|inner| inner.retries += 1);
        tracing::warn!(number = failed.number, "replica: a group is tried again: {}", failed.text);
    }

    /// Writes the rows of a group in line. It ends early when the group is thrown away, or the lane is to end.
    async fn write(&mut self, lanes: &Lanes, ticket: u64, events: &[Item]) -> Result<(), Failed> {
        let (info, worker) = (Rc::clone(&self.state.info), Rc::clone(&self.state.worker));
        let outcome = {
            let mut work = pin!(async {
                for item in events {
                    self.event(item).await?;
                }
                Ok(())
            });
            let mut was_blocked = false;
            std::future::poll_fn(|cx| {
                if info.killed() != expr::kill::NONE || lanes.turn(ticket) == Some(Turn::Lost) {
                    return Poll::Ready(None);
                }
                let done = work.as_mut().poll(cx);
                if done.is_pending() {
                    lanes.note_blocked(ticket, cx.waker());
                    worker.core.wake_at(worker.core.now() + LOOK);
                } else if was_blocked {
                    lanes.note_running(ticket);
                }
                was_blocked = done.is_pending();
                done.map(Some)
            })
            .await
        };
        outcome.unwrap_or_else(|| {
            // A row may be half written: it is taken back with the transaction.
            self.buffers = Buffers::default();
            Err(said(Condition::QueryInterrupted))
        })
    }

    /// Waits for a group's turn.
    async fn turn(&self, lanes: &Lanes, ticket: u64, has_locks: bool) -> Turn {
        let core = &self.state.worker.core;
        std::future::poll_fn(|cx| {
            if self.is_over() {
                return Poll::Ready(Turn::Lost);
            }
            let turn = lanes.poll_turn(ticket, has_locks, cx.waker());
            if turn.is_pending() {
                core.wake_at(core.now() + BLOCKED);
                waits::pending(Cause::of(Kind::Replication));
            }
            turn
        })
        .await
    }

    /// The receiver has connected anew.
    async fn begin_generation(&mut self, generation: u64) -> Result<(), Failed> {
        self.take_back().await;
        let log = self.state.binary_log()?;
        let status = self.state.catch_up(&log).await?;
        self.executed = GtidSet::clone(&status.executed);
        self.generation = generation;
        Ok(())
    }

    async fn take_back(&mut self) {
        let worker = Rc::clone(&self.state.worker);
        self.gathered.clear();
        if let Some(lanes) = &self.lanes {
            std::future::poll_fn(|cx| lanes.poll_thrown_away(cx.waker())).await;
        }
        self.state.execution.transaction.rollback(&worker).await;
        self.group = None;
        self.maps.clear();
    }

    async fn event(&mut self, item: &Item) -> Result<(), Failed> {
        let event = item.event.as_slice();
        let head = Head::parse(event).ok_or_else(|| fatal("an event is too short"))?;
        let body = &event[HEAD_BYTES..];
        let place = (&*item.file, head.position);
        match head.kind {
            event::GTID | event::GTID_TAGGED | event::ANONYMOUS_GTID => self.begin_group(event, &head),
            event::QUERY => {
                let query = QueryEvent::parse(body)?;
                self.query(&query, &head, item).await
            }
            event::XID => self.commit(item, &head).await,
            event::ROWS_QUERY => Ok(()),
            event::TABLE_MAP if self.is_passed_over()? => Ok(()),
            event::TABLE_MAP => {
                let map = TableMap::parse(body)?;
                if self.maps.len() >= MAPS_MAX {
                    return Err(fatal("a statement has too many tables"));
                }
                self.maps.insert(map.id, map);
                Ok(())
            }
            kind => match RowsEvent::parse(kind, body)? {
                Some(_) if self.is_passed_over()? => Ok(()),
                Some(rows) => self.rows_event(&rows, place).await,
                None if head.flags & event::FLAG_IGNORABLE != 0 => Ok(()),
                None => {
                    Err(fatal(&format!("the stream has an event of type {kind} ({}), which cannot be applied", what_is(kind))))
                }
            },
        }
    }

    fn is_passed_over(&self) -> Result<bool, Failed> {
        match &self.group {
            Some(group) => Ok(group.is_passed_over),
            None => Err(fatal("the stream has an event outside of a group")),
        }
    }

    /// A GTID: the next transaction is that one.
    fn begin_group(&mut self, event: &[u8], head: &Head) -> Result<(), Failed> {
        if self.group.is_some() {
            return Err(fatal("a group begins before the one before it has ended"));
        }
        let Some(Seen::Group { gtid, .. }) = event::see(event) else { return Err(fatal("a GTID cannot be read")) };
        let Some(gtid) = gtid else {
            return Err(fatal("the source has a transaction without a GTID: gtid_mode must be ON there"));
        };
        let is_passed_over = self.executed.contains(&gtid);
        let committed = event::commit_times(event).unwrap_or_default();
        if !is_passed_over {
            let state = &mut self.state;
            state.session.variables.set(IDS.gtid_next, Setting::Text(gtid.to_string().into()));
            state.session.origin = Some((head.server_id, committed.original_us));
            state.name_next();
            state.refresh();
        }
        let (is_lane, hand, passage) = (self.is_lane, self.hand, Passage::begin(gtid.clone(), committed));
        self.state.worker.shared.replica.note(|inner| {
            if let Some(hand) = inner.hands.get_mut(hand) {
                hand.applying = passage;
            }
            if !is_lane {
                inner.applying = head.timestamp;
                inner.applier_state = "Reading event from the relay log";
            }
        });
        self.group = Some(Group { gtid, is_passed_over, is_open: false });
        Ok(())
    }

    async fn query(&mut self, query: &QueryEvent, head: &Head, item: &Item) -> Result<(), Failed> {
        let is_passed_over = self.is_passed_over()?;
        let worker = Rc::clone(&self.state.worker);
        let group = self.group.as_mut().expect("looked at above");
        match query.statement.as_slice() {
            b"BEGIN" if group.is_open => return Err(fatal("a group has two beginnings")),
            b"BEGIN" => {
                group.is_open = true;
                if !is_passed_over {
                    let transaction = &mut self.state.execution.transaction;
                    let characteristics = Characteristics { isolation: Some(Isolation::ReadCommitted), read_only: Some(false) };
                    transaction.set_next(characteristics)?;
                    transaction.begin(&worker, &self.state.session.settings, Some(false), false);
                }
                return Ok(());
            }
            b"COMMIT" => return self.commit(item, head).await,
            b"ROLLBACK" => {
                // What a source has taken back; its GTID counts nevertheless.
                if !is_passed_over {
                    return Err(fatal("the stream has a group that the source has rolled back"));
                }
            }
            _ if is_passed_over => {}
            _ => self.statement(query, head).await?,
        }
        let group = self.group.as_ref().expect("looked at above");
        if !group.is_open { self.end_group(item, head) } else { Ok(()) }
    }

    /// A definition, or a statement between BEGIN and COMMIT.
    async fn statement(&mut self, query: &QueryEvent, head: &Head) -> Result<(), Failed> {
        if query.statement.ends_with(b"START TRANSACTION") {
            return Err(fatal(
                "the table and the rows of CREATE TABLE ... SELECT are one group (CREATE TABLE ... START TRANSACTION), which cannot be \
                 applied",
            ));
        }
        self.set_up(query, head)?;
        self.state.info.set_statement(&query.statement);
        let done = self.state.query(&mut Recipient::Nobody, &query.statement).await;
        let is_definition = self.group.as_ref().is_some_and(|group| !group.is_open);
        match done {
            Ok(()) => {}
            // The source has failed in the same way, after a part of the statement.
            Err(error) if query.error != 0 && error.describe().number == query.error => {}
            Err(error) => {
                let shown: String = String::from_utf8_lossy(&query.statement).chars().take(1024).collect();
                let text =
                    |what: &str| format!("Error '{what}' on query. Default database: '{}'. Query: '{shown}'", query.database);
                return Err(Failed::of(&error, |description| text(&description.message)));
            }
        }
        if is_definition {
            self.state.use_up_gtid().await?;
        }
        Ok(())
    }

    /// Gives the session the settings of a statement's own session.
    fn set_up(&mut self, query: &QueryEvent, head: &Head) -> Result<(), Failed> {
        let state = &mut self.state;
        if let Some(zone) = &query.time_zone {
            if parse_time_zone(zone).is_none() {
                return Err(fatal(&format!("a statement has the time zone {zone}, which is not known here")));
            }
            state.session.variables.set(IDS.time_zone, Setting::Text(zone.as_str().into()));
        }
        let variables = &mut state.session.variables;
        let text = |text: &str| Setting::Text(text.into());
        let switch = |is_on: bool| Setting::Int(i64::from(is_on));
        if let Some(mode) = query.sql_mode {
            variables.set(IDS.sql_mode, Setting::UInt(mode));
        }
        if let Some((client, connection, _)) = query.collations {
            let collation = |id: u16| match CollationId(id) {
                known if known.info().is_some() => Ok(known),
                _ => Err(fatal(&format!("a statement has collation {id}, which is not known here"))),
            };
            let (client, connection) = (collation(client)?, collation(connection)?);
            variables.set(IDS.character_set_client, text(client.charset()));
            variables.set(IDS.character_set_connection, text(connection.charset()));
            variables.set(IDS.collation_connection, text(connection.name()));
        }
        if let Some(flags) = query.flags2 {
            variables.set(IDS.foreign_key_checks, switch(flags & 1 << 26 == 0));
            variables.set(IDS.sql_auto_is_null, switch(flags & 1 << 14 != 0));
        }
        let (increment, offset) = query.auto_increment.unwrap_or((1, 1));
        variables.set(IDS.auto_increment_increment, Setting::UInt(u64::from(increment)));
        variables.set(IDS.auto_increment_offset, Setting::UInt(u64::from(offset)));
        state.session.fixed_time_us = Some(i64::from(head.timestamp) * 1_000_000 + i64::from(query.micros));
        state.refresh();
        // The source names the database that is made now, too.
        state.execution.vars.database = None;
        if !query.database.is_empty() {
            match state.use_database(&query.database) {
                Ok(()) | Err(Error::UnknownDatabase(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// XID, or COMMIT: the group's transaction ends.
    async fn commit(&mut self, item: &Item, head: &Head) -> Result<(), Failed> {
        if !self.is_passed_over()? {
            let worker = Rc::clone(&self.state.worker);
            self.state.execution.transaction.commit_named(&worker, &self.state.session.settings).await?;
        }
        self.end_group(item, head)
    }

    fn end_group(&mut self, item: &Item, head: &Head) -> Result<(), Failed> {
        self.maps.clear();
        if let Some(group) = self.group.take()
            && !self.is_lane
        {
            self.failures = 0;
            self.executed.add(&group.gtid);
        }
        let hand = self.hand;
        self.state.worker.shared.replica.note(|inner| {
            if let Some(hand) = inner.hands.get_mut(hand) {
                hand.applying.end(&mut hand.applied);
                inner.processed = hand.applied.clone();
            }
            inner.applied_file = Arc::clone(&item.file);
            inner.applied_position = u64::from(head.position);
        });
        Ok(())
    }

    async fn rows_event(&mut self, rows: &RowsEvent<'_>, place: (&str, u32)) -> Result<(), Failed> {
        let Some(map) = self.maps.get(&rows.table) else {
            // The end of a statement whose tables are none of the stream's.
            return if rows.images.is_empty() { Ok(()) } else { Err(fatal("rows belong to no table of their statement")) };
        };
        let key = (map.database.clone(), map.table.clone());
        self.hold(&key).await?;
        self.check_fits(&key, rows.table)?;
        let followers = self.hold_followers(&key, rows).await?;
        if !followers.tables.is_empty() {
            // So many tables may have been held that the first one was forgotten.
            self.hold(&key).await?;
            self.check_fits(&key, rows.table)?;
        }
        let done = self.images(rows, &key, &followers, place).await;
        if rows.flags & event::ROWS_STATEMENT_END != 0 {
            self.maps.clear();
        }
        done
    }

    /// Takes a share of the table's metadata lock, and its present definition.
    async fn hold(&mut self, key: &(String, String)) -> Result<(), Failed> {
        let worker = Rc::clone(&self.state.worker);
        for _ in 0..PLAN_ATTEMPTS_MAX {
            if !self.tables.contains_key(key) {
                if self.tables.len() >= TABLES_MAX {
                    self.tables.clear();
                }
                let kept = self.find(key)?;
                self.tables.insert(key.clone(), kept);
            }
            let plan = Rc::clone(&self.tables[key].plan);
            let State { execution, session, info, .. } = &mut self.state;
            match execution.transaction.hold(&worker, info, &plan, &session.settings).await? {
                Hold::Held => return Ok(()),
                Hold::Stale => self.tables.remove(key),
            };
        }
        Err(Error::Exec(expr::Error::TableChanged { table: key.1.clone() }).into())
    }

    fn find(&self, (database, name): &(String, String)) -> Result<Kept, Failed> {
        let quoted = |name: &str| types::show_create::quoted_name(name).to_string();
        let text = format!("SELECT 1 FROM {}.{} FOR UPDATE", quoted(database), quoted(name));
        let worker = Rc::clone(&self.state.worker);
        let arena = worker.arena();
        let parsed = sql::parse(&arena, text.as_bytes(), &self.state.session.settings.mode).map_err(Error::from)?;
        let plan = self.state.plan(&parsed)?.entry;
        let is_it = |table: &&Arc<Table>| table.def().name.eq_ignore_ascii_case(name) && table.def().database == *database;
        let Some(table) = plan.prepared.tables().iter().find(is_it).cloned() else {
            return Err(
                Error::from(Condition::NoSuchTable { database: database.as_str().into(), table: name.as_str().into() }).into()
            );
        };
        let wire = WireTable::new(Arc::clone(table.def()));
        let has_hidden = table.def().columns.iter().any(|column| column.hidden);
        Ok(Kept { plan, table, wire, has_hidden, fits: None })
    }

    fn check_fits(&mut self, key: &(String, String), id: u64) -> Result<(), Failed> {
        let (Some(kept), Some(map)) = (self.tables.get_mut(key), self.maps.get(&id)) else {
            return Err(fatal("a table is gone"));
        };
        if kept.fits.as_ref().is_some_and(|known| same_form(known, map)) {
            return Ok(());
        }
        match kept.wire.fits(map) {
            Ok(()) => {
                kept.fits = Some(map.clone());
                Ok(())
            }
            Err(Misfit::Columns(there, here)) => {
                Err(fatal(&format!("the source's table {}.{} has {there} columns, the one here {here}", map.database, map.table)))
            }
            Err(Misfit::Column(at, name)) => {
                let column = kept.table.def().columns.iter().find(|column| column.name == name);
                let to = column.map(|column| types::show_create::type_text(&column.ty)).unwrap_or_default();
                let condition = Condition::ServerReplicaConversionFailed {
                    column: (at as u64).into(),
                    database: map.database.as_str().into(),
                    table: map.table.as_str().into(),
                    from: format!("type {} of the binary log", map.columns[at].0).into(),
                    to: to.into(),
                };
                Err(said(condition))
            }
        }
    }

    /// The engine of an old source follows foreign keys by itself, and the stream does not have what it has changed: takes the metadata locks of
    /// the tables that the keys lead to.
    async fn hold_followers(&mut self, key: &(String, String), rows: &RowsEvent<'_>) -> Result<Followers, Failed> {
        const LOGGED: u16 = event::ROWS_NO_FOREIGN_KEYS | event::ROWS_SQL_FOREIGN_KEYS;
        let mut followers = Followers::default();
        if rows.flags & LOGGED != 0 || rows.kind == RowsKind::Write {
            return Ok(followers);
        }
        let mut parents = vec![Arc::clone(&self.tables[key].table)];
        while let Some(parent) = parents.pop() {
            for child in self.state.worker.shared.database.children_of(parent.id()) {
                // Below a row that a key has deleted others may be deleted or changed, so both count.
                let follows = |key: &ForeignKeyDef| leads_to(key, &parent) && (acts(key, true) || acts(key, false));
                if !child.def().foreign_keys.iter().any(follows) || followers.tables.iter().any(|known| known.id() == child.id())
                {
                    continue;
                }
                let key = (child.def().database.clone(), child.def().name.clone());
                self.hold(&key).await?;
                let held = Arc::clone(&self.tables[&key].table);
                if self.tables[&key].has_hidden {
                    return Err(fatal(&format!(
                        "a foreign key changes rows of {}.{}, which the source has not logged, and it has an index over an expression",
                        key.0, key.1
                    )));
                }
                followers.tables.push(Arc::clone(&held));
                parents.push(held);
            }
        }
        Ok(followers)
    }

    async fn images(
        &mut self,
        rows: &RowsEvent<'_>,
        key: &(String, String),
        followers: &Followers,
        place: (&str, u32),
    ) -> Result<(), Failed> {
        let worker = Rc::clone(&self.state.worker);
        let mode = match worker.shared.globals().get(known("replica_exec_mode")).as_u64() {
            0 => rows::Mode::Strict,
            _ => rows::Mode::Idempotent,
        };
        let kept = &self.tables[key];
        let table = &*kept.table;
        let State { execution, session, info, .. } = &mut self.state;
        let mut manner = rows::Manner { mode, hidden: None };
        if kept.has_hidden && rows.kind != RowsKind::Delete {
            let expressions = exec::DefinitionExpressions {
                sql_mode: session.settings.mode,
                time_zone: execution.vars.time_zone.clone(),
                statement_start_us: os::time::since_epoch().as_micros() as i64,
            };
            let made = rows::Hidden::of(table, &expressions);
            manner.hidden = Some(made.map_err(|failed| row_failed(failed, rows.kind, table, place))?);
        }
        let txn = execution.transaction.ensure(&worker, &session.settings, true);
        txn.begin_statement(&worker.engine);
        let mut images = rows.images;
        let mut outcome = Ok(());
        while !images.is_empty() && outcome.is_ok() {
            let first = kept.wire.read_image(&mut images, &rows.shown)?;
            let after = match rows.kind {
                RowsKind::Update => Some(kept.wire.read_image(&mut images, &rows.shown_after)?),
                RowsKind::Write | RowsKind::Delete => None,
            };
            outcome = match (rows.kind, &after) {
                (RowsKind::Write, _) => {
                    let values = rows::whole(table, &first).map_err(|column| {
                        fatal(&format!("a row of {}.{} does not have column {column}, which has no fixed default", key.0, key.1))
                    })?;
                    rows::insert(&worker.engine, txn, table, &values, &mut manner, &mut self.buffers).await
                }
                (_, Some(after)) => rows::update(&worker.engine, txn, table, &first, after, &mut manner, &mut self.buffers).await,
                (_, None) => rows::delete(&worker.engine, txn, table, &first, mode, &mut self.buffers).await,
            };
            if outcome.is_ok() && !followers.tables.is_empty() {
                let mut hand = cascade::Hand { worker: &worker.engine, txn: &mut *txn, buffers: &mut self.buffers };
                outcome = followers.follow(&mut hand, table, &first, after.as_ref()).await;
            }
            self.rows = self.rows.wrapping_add(1);
            if self.rows.is_multiple_of(ROWS_PER_TURN) {
                exec::yield_now().await;
                if info.killed() != expr::kill::NONE {
                    outcome = Err(rows::Failed::Engine(txn::Error::Interrupted));
                }
            }
        }
        txn.end_statement(&worker.engine);
        outcome.map_err(|failed| row_failed(failed, rows.kind, table, place))
    }
}

fn is_gtid(event: &[u8]) -> bool {
    Head::parse(event).is_some_and(|head| matches!(head.kind, event::GTID | event::GTID_TAGGED))
}

/// Have two tables of the stream the same columns?
fn same_form(one: &TableMap, other: &TableMap) -> bool {
    one.columns == other.columns && one.collations == other.collations && one.unsigned == other.unsigned
}
