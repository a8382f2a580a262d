//! What the tables of events have in common: whose events are summed up, and times.

use super::super::build::{number, text};
use super::super::definitions::named;
use crate::record::{Sums, SumsLine, thread_id};
use std::collections::BTreeMap;
use types::Value;

pub(super) const DATABASE: &str = "performance_schema";

pub(super) type Row = Vec<Value<'static>>;

/// Whose events are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Account,
    Host,
    User,
    Thread,
    /// All events of the server.
    Nothing,
}

impl By {
    pub(super) fn name(self) -> &'static str {
        match self {
            By::Account => "by_account",
            By::Host => "by_host",
            By::User => "by_user",
            By::Thread => "by_thread",
            By::Nothing => "global",
        }
    }
}

/// The columns that say whose a row is.
pub(super) type Key = Vec<(&'static str, Value<'static>)>;

/// The sums of each thread, account, user or host.
pub(super) fn grouped(lines: &[SumsLine], by: By) -> Vec<(Key, Sums)> {
    let mut groups: BTreeMap<(u32, &str, &str), Sums> = BTreeMap::new();
    for line in lines {
        let key = match by {
            By::Account => (0, &*line.user, &*line.host),
            By::Host => (0, "", &*line.host),
            By::User => (0, &*line.user, ""),
            By::Nothing => (0, "", ""),
            By::Thread => match line.session {
                Some(session) => (session, "", ""),
                None => continue,
            },
        };
        groups.entry(key).or_default().add(&line.sums);
    }
    if by == By::Nothing && groups.is_empty() {
        groups.insert((0, "", ""), Sums::default());
    }
    let columns = |(session, user, host): (u32, &str, &str)| match by {
        By::Account => vec![("USER", text(user)), ("HOST", text(host))],
        By::Host => vec![("HOST", text(host))],
        By::User => vec![("USER", text(user))],
        By::Thread => vec![("THREAD_ID", number(thread_id(session)))],
        By::Nothing => Vec::new(),
    };
    groups.into_iter().map(|(key, sums)| (columns(key), sums)).collect()
}

/// Converts ticks of events to the picoseconds of performance_schema.
pub(super) struct Timer {
    picos: f64,
    start: u64,
}

impl Timer {
    pub(super) fn new(clock: &os::TickClock) -> Self {
        Self { picos: clock.nanos_per_tick() * 1000.0, start: clock.began() }
    }

    pub(super) fn picos(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.picos) as u64
    }

    pub(super) fn length(&self, ticks: u64) -> Value<'static> {
        number(self.picos(ticks))
    }

    /// A time for people, or as a number.
    pub(super) fn shown(&self, ticks: u64, is_raw: bool) -> Value<'static> {
        self.shown_picos(self.picos(ticks), is_raw)
    }

    pub(super) fn shown_picos(&self, picos: u64, is_raw: bool) -> Value<'static> {
        if is_raw { number(picos) } else { Value::Bytes(expr::pico_time(picos as f64).into()) }
    }

    pub(super) fn average(&self, ticks: u64, count: u64) -> Value<'static> {
        number(self.picos(ticks) / count.max(1))
    }

    /// TIMER_START, TIMER_END and TIMER_WAIT.
    pub(super) fn span(&self, began: u64, ended: u64) -> [(&'static str, Value<'static>); 3] {
        // A moment is the time since the server's start.
        let moment = |ticks: u64| self.picos(ticks.saturating_sub(self.start));
        let (began, ended) = (moment(began), moment(ended));
        [("TIMER_START", number(began)), ("TIMER_END", number(ended)), ("TIMER_WAIT", number(ended.saturating_sub(began)))]
    }
}

/// A row of a table of sums.
pub(super) fn sum_row(table: &str, key: &Key, cells: impl IntoIterator<Item = (&'static str, Value<'static>)>) -> Row {
    named(DATABASE, table, key.iter().cloned().chain(cells))
}
