//! The views of `sys` over the sums of statements and waits: by user, by host, of the server. Each has a twin `x$` with
//! numbers instead of texts.

use super::super::build::{number, text};
use super::super::definitions::named;
use super::sums::{Row, Timer};
use crate::record::{EventSums, SumsLine};
use crate::waits::event_name;
use reactor::task_clock::{Sum, Sums as WaitSums};
use std::collections::{BTreeMap, BTreeSet};
use sync::waits::Kind;
use types::Value;

/// Users or hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    User,
    Host,
}

impl Whose {
    fn of(self, line: &SumsLine) -> &str {
        match self {
            Whose::User => &line.user,
            Whose::Host => &line.host,
        }
    }

    fn other(self, line: &SumsLine) -> &str {
        match self {
            Whose::User => &line.host,
            Whose::Host => &line.user,
        }
    }

    fn column(self) -> &'static str {
        match self {
            Whose::User => "user",
            Whose::Host => "host",
        }
    }
}

/// What a user, or the sessions from a host, have done.
#[derive(Default)]
struct Group<'a> {
    by_name: BTreeMap<&'static str, EventSums>,
    all: EventSums,
    waits: WaitSums,
    current: u64,
    total: u64,
    others: BTreeSet<&'a str>,
}

fn groups(lines: &[SumsLine], whose: Whose) -> BTreeMap<&str, Group<'_>> {
    let mut groups: BTreeMap<&str, Group<'_>> = BTreeMap::new();
    for line in lines {
        let group = groups.entry(whose.of(line)).or_default();
        for (name, sums) in &line.sums.statements {
            group.by_name.entry(name.text()).or_default().add(sums);
            group.all.add(sums);
        }
        group.waits.add(&line.sums.waits);
        group.current += u64::from(line.session.is_some());
        group.total += line.sums.sessions;
        group.others.insert(whose.other(line));
    }
    groups
}

fn view(name: &str, is_raw: bool) -> String {
    if is_raw { format!("x${name}") } else { name.to_owned() }
}

const FILES: &[Kind] = &[Kind::PageRead, Kind::LogFlush, Kind::TemporaryFile, Kind::File, Kind::TextLog];

/// `user_summary`, `host_summary`
pub(super) fn summary(lines: &[SumsLine], whose: Whose, timer: &Timer, is_raw: bool) -> Vec<Row> {
    let table = view(&format!("{}_summary", whose.column()), is_raw);
    let unique = if whose == Whose::User { "unique_hosts" } else { "unique_users" };
    let row = |(name, group): (&str, &Group<'_>)| {
        let files: u64 = FILES.iter().map(|kind| group.waits.of(*kind).count).sum();
        let average = timer.picos(group.all.time) as f64 / group.all.count.max(1) as f64;
        let shown_average = if is_raw { text(format!("{average:.4}")) } else { timer.shown_picos(average as u64, false) };
        let cells = [
            (whose.column(), text(name)),
            ("statements", number(group.all.count)),
            ("statement_latency", timer.shown(group.all.time, is_raw)),
            ("statement_avg_latency", shown_average),
            ("table_scans", number(group.all.no_index)),
            ("file_ios", number(files)),
            ("file_io_latency", timer.shown(group.waits.ticks(FILES), is_raw)),
            ("current_connections", number(group.current)),
            ("total_connections", number(group.total)),
            (unique, number(group.others.len())),
        ];
        named("sys", &table, cells)
    };
    sorted(groups(lines, whose), |group| group.all.time).iter().map(|(name, group)| row((name, group))).collect()
}

/// The groups with the greatest sums first.
fn sorted<'a>(groups: BTreeMap<&'a str, Group<'a>>, by: impl Fn(&Group<'_>) -> u64) -> Vec<(&'a str, Group<'a>)> {
    let mut sorted: Vec<_> = groups.into_iter().collect();
    sorted.sort_by_key(|(_, group)| std::cmp::Reverse(by(group)));
    sorted
}

fn statement_cells(sums: &EventSums, timer: &Timer, is_raw: bool) -> [(&'static str, Value<'static>); 9] {
    [
        ("total", number(sums.count)),
        ("total_latency", timer.shown(sums.time, is_raw)),
        ("max_latency", timer.shown(sums.most, is_raw)),
        ("lock_latency", timer.shown(sums.locked, is_raw)),
        ("cpu_latency", timer.shown(sums.time.saturating_sub(sums.waited), is_raw)),
        ("rows_sent", number(sums.sent)),
        ("rows_examined", number(sums.examined)),
        ("rows_affected", number(sums.affected)),
        ("full_scans", number(sums.no_index)),
    ]
}

/// `user_summary_by_statement_latency` and that of hosts
pub(super) fn by_latency(lines: &[SumsLine], whose: Whose, timer: &Timer, is_raw: bool) -> Vec<Row> {
    let table = view(&format!("{}_summary_by_statement_latency", whose.column()), is_raw);
    let row = |(name, group): &(&str, Group<'_>)| {
        let own = [(whose.column(), text(*name))];
        named("sys", &table, own.into_iter().chain(statement_cells(&group.all, timer, is_raw)))
    };
    sorted(groups(lines, whose), |group| group.all.time).iter().map(row).collect()
}

/// `user_summary_by_statement_type` and that of hosts
pub(super) fn by_type(lines: &[SumsLine], whose: Whose, timer: &Timer, is_raw: bool) -> Vec<Row> {
    let table = view(&format!("{}_summary_by_statement_type", whose.column()), is_raw);
    let mut rows = Vec::new();
    for (name, group) in groups(lines, whose) {
        let mut types: Vec<_> = group.by_name.iter().filter(|(_, sums)| sums.count > 0).collect();
        types.sort_by_key(|(_, sums)| std::cmp::Reverse(sums.time));
        for (statement, sums) in types {
            let short = statement.rsplit('/').next().unwrap_or(statement);
            let own = [(whose.column(), text(name)), ("statement", text(short))];
            rows.push(named("sys", &table, own.into_iter().chain(statement_cells(sums, timer, is_raw))));
        }
    }
    rows
}

fn wait_cells(sum: &Sum, timer: &Timer, is_raw: bool) -> [(&'static str, Value<'static>); 4] {
    let average = timer.picos(sum.ticks) / sum.count.max(1);
    [
        ("total", number(sum.count)),
        ("total_latency", timer.shown(sum.ticks, is_raw)),
        ("avg_latency", timer.shown_picos(average, is_raw)),
        ("max_latency", timer.shown(sum.longest, is_raw)),
    ]
}

/// The waits by the name of `of`, the longest sums first.
fn waits_by(waits: &WaitSums, of: impl Fn(Kind) -> &'static str) -> Vec<(&'static str, Sum)> {
    let mut by_name: BTreeMap<&'static str, Sum> = BTreeMap::new();
    waits.each().for_each(|(kind, sum)| by_name.entry(of(kind)).or_default().add(&sum));
    let mut sorted: Vec<_> = by_name.into_iter().collect();
    sorted.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.ticks));
    sorted
}

/// `waits_global_by_latency`
pub(super) fn waits(waits: &WaitSums, timer: &Timer, is_raw: bool) -> Vec<Row> {
    let table = view("waits_global_by_latency", is_raw);
    let row = |(name, sum): (&str, Sum)| {
        named("sys", &table, std::iter::once(("events", text(name))).chain(wait_cells(&sum, timer, is_raw)))
    };
    waits_by(waits, event_name).into_iter().map(row).collect()
}

/// `waits_by_user_by_latency` and that of hosts
pub(super) fn waits_of(lines: &[SumsLine], whose: Whose, timer: &Timer, is_raw: bool) -> Vec<Row> {
    let table = view(&format!("waits_by_{}_by_latency", whose.column()), is_raw);
    let mut rows = Vec::new();
    for (name, group) in groups(lines, whose) {
        for (event, sum) in waits_by(&group.waits, event_name) {
            let own = [(whose.column(), text(name)), ("event", text(event))];
            rows.push(named("sys", &table, own.into_iter().chain(wait_cells(&sum, timer, is_raw))));
        }
    }
    rows
}

/// `wait_classes_global_by_latency` and `..._by_avg_latency`: the first three parts of the names.
pub(super) fn wait_classes(waits: &WaitSums, name: &str, timer: &Timer, is_raw: bool) -> Vec<Row> {
    let class = |kind: Kind| {
        let name = event_name(kind);
        let end = name.match_indices('/').nth(2).map_or(name.len(), |(at, _)| at);
        &name[..end]
    };
    let table = view(name, is_raw);
    let mut classes = waits_by(waits, class);
    if name.ends_with("avg_latency") {
        classes.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.ticks / sum.count.max(1)));
    }
    let row = |(class, sum): (&str, Sum)| {
        named("sys", &table, std::iter::once(("event_class", text(class))).chain(wait_cells(&sum, timer, is_raw)))
    };
    classes.into_iter().map(row).collect()
}
