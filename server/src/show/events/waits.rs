//! `events_waits_...`: what sessions wait for and have waited for, sums by the name of the event; and two tables of
//! Heddle's own: the waits of each digest, and the waits for each table and index.

use super::super::build::{number, optional, text};
use super::super::definitions::named;
use super::sums::{By, DATABASE, Key, Row, Timer, grouped, sum_row};
use crate::digests::{Summary, digest_of};
use crate::record::{Sessions, SumsLine, thread_id};
use crate::waits::{Place, Places, event_name};
use reactor::task_clock::{Sum, Sums, Wait, Waits};
use std::collections::BTreeMap;
use sync::waits::{Holder, Kind, Object};
use types::Value;

/// The number of an object among those of its kind.
fn instance(object: Object) -> u64 {
    match object {
        Object::None => 0,
        Object::Tree { tree, .. } => tree.into(),
        Object::Table(id) => id,
    }
}

fn operation(kind: Kind) -> &'static str {
    match kind {
        Kind::PageRead | Kind::TemporaryFile | Kind::File => "read",
        Kind::LogFlush => "sync",
        Kind::TextLog => "write",
        Kind::NetworkRead => "recv",
        Kind::NetworkWrite => "send",
        Kind::RowLock | Kind::GapLock | Kind::MetadataLock | Kind::UserLock => "lock",
        _ => "wait",
    }
}

fn line_row(table: &str, timer: &Timer, places: &Places<'_>, session: u32, nested: u64, wait: &Wait, lasts: bool) -> Row {
    let (kind, place) = (wait.cause.kind, places.find(wait.cause.object));
    let Place { database, table: name, index, .. } = place;
    // A session that could run names the one that its worker was busy with.
    let held = match (kind, wait.cause.holder) {
        (Kind::Ready, Holder::Session(session)) => Some(session),
        _ => None,
    };
    let span = timer.span(wait.began, wait.began + wait.ticks);
    let cells = [
        ("THREAD_ID", number(thread_id(session))),
        ("EVENT_ID", number(wait.began)),
        ("END_EVENT_ID", if lasts { Value::Null } else { number(wait.began) }),
        ("EVENT_NAME", text(event_name(kind))),
        ("OBJECT_TYPE", optional(held.map(|_| "THREAD").or(name.is_some().then_some("TABLE")))),
        ("OBJECT_SCHEMA", optional(database)),
        ("OBJECT_NAME", optional(held.map(|session| format!("session {session}")).or(name))),
        ("INDEX_NAME", optional(index)),
        ("OBJECT_INSTANCE_BEGIN", number(held.map_or_else(|| instance(wait.cause.object), thread_id))),
        ("NESTING_EVENT_ID", if lasts { number(nested) } else { Value::Null }),
        ("NESTING_EVENT_TYPE", optional(lasts.then_some("STATEMENT"))),
        ("OPERATION", text(operation(kind))),
    ];
    named(DATABASE, table, cells.into_iter().chain(span))
}

/// What each session waits for.
pub(super) fn current(sessions: &Sessions, timer: &Timer, places: &Places<'_>, is_on: impl Fn(Kind) -> bool) -> Vec<Row> {
    const TABLE: &str = "events_waits_current";
    let is_on = |wait: &&Wait| is_on(wait.cause.kind);
    let waiting = sessions.lines.iter().filter_map(|session| Some((session, session.wait.as_ref().filter(is_on)?)));
    waiting.map(|(session, wait)| line_row(TABLE, timer, places, session.session, session.running, wait, true)).collect()
}

/// The last waits of each session.
pub(super) fn history(sessions: &Sessions, timer: &Timer, places: &Places<'_>, is_on: impl Fn(Kind) -> bool) -> Vec<Row> {
    const TABLE: &str = "events_waits_history";
    let waits = sessions.lines.iter().flat_map(|session| session.waits.iter().map(move |wait| (session.session, wait)));
    let is_on = |(_, wait): &(u32, &Wait)| is_on(wait.cause.kind);
    waits.filter(is_on).map(|(session, wait)| line_row(TABLE, timer, places, session, 0, wait, false)).collect()
}

fn cells(timer: &Timer, sum: &Sum) -> [(&'static str, Value<'static>); 4] {
    [
        ("COUNT_STAR", number(sum.count)),
        ("SUM_TIMER_WAIT", timer.length(sum.ticks)),
        ("AVG_TIMER_WAIT", timer.average(sum.ticks, sum.count)),
        ("MAX_TIMER_WAIT", timer.length(sum.longest)),
    ]
}

/// Several kinds may have the same name.
fn by_name(sums: &Sums, with_all: bool) -> BTreeMap<&'static str, Sum> {
    let mut names: BTreeMap<&'static str, Sum> = BTreeMap::new();
    let all = Kind::ALL.iter().map(|kind| (*kind, sums.of(*kind)));
    all.filter(|(_, sum)| with_all || sum.count > 0).for_each(|(kind, sum)| names.entry(event_name(kind)).or_default().add(&sum));
    names
}

fn rows_of(table: &str, timer: &Timer, key: &Key, sums: &Sums, with_all: bool) -> Vec<Row> {
    let row = |(name, sum): (&'static str, Sum)| {
        sum_row(table, key, std::iter::once(("EVENT_NAME", text(name))).chain(cells(timer, &sum)))
    };
    by_name(sums, with_all).into_iter().map(row).collect()
}

pub(super) fn sums(lines: &[SumsLine], by: By, timer: &Timer) -> Vec<Row> {
    let table = format!("events_waits_summary_{}_by_event_name", by.name());
    grouped(lines, by).iter().flat_map(|(key, sums)| rows_of(&table, timer, key, &sums.waits, false)).collect()
}

/// All waits, those that belong to no session too.
pub(super) fn of_server(waits: &Waits, timer: &Timer) -> Vec<Row> {
    rows_of("events_waits_summary_global_by_event_name", timer, &Vec::new(), &waits.sums, true)
}

fn objects(waits: &Waits) -> Vec<(Kind, Object, &Sum)> {
    let mut objects: Vec<_> = waits.objects.iter().map(|((kind, object), sum)| (*kind, *object, sum)).collect();
    objects.sort_by_key(|(kind, object, _)| (*kind, *object));
    objects
}

pub(super) fn by_instance(waits: &Waits, timer: &Timer) -> Vec<Row> {
    let mut instances: BTreeMap<(Kind, u64), Sum> = BTreeMap::new();
    for (kind, object, sum) in objects(waits) {
        instances.entry((kind, instance(object))).or_default().add(sum);
    }
    let row = |((kind, instance), sum): ((Kind, u64), Sum)| {
        let own = [("EVENT_NAME", text(event_name(kind))), ("OBJECT_INSTANCE_BEGIN", number(instance))];
        named(DATABASE, "events_waits_summary_by_instance", own.into_iter().chain(cells(timer, &sum)))
    };
    instances.into_iter().map(row).collect()
}

/// The waits for each table and index.
pub(super) fn by_object(waits: &Waits, timer: &Timer, places: &Places<'_>) -> Vec<Row> {
    let mut by_place: BTreeMap<(Kind, Place), Sum> = BTreeMap::new();
    for (kind, object, sum) in objects(waits) {
        by_place.entry((kind, Place { level: 0, ..places.find(object) })).or_default().add(sum);
    }
    let row = |((kind, Place { database, table, index, .. }), sum): ((Kind, Place), Sum)| {
        let own = [
            ("OBJECT_SCHEMA", optional(database)),
            ("OBJECT_NAME", optional(table)),
            ("INDEX_NAME", optional(index)),
            ("EVENT_NAME", text(event_name(kind))),
        ];
        named(DATABASE, "heddle_waits_by_object", own.into_iter().chain(cells(timer, &sum)))
    };
    by_place.into_iter().map(row).collect()
}

/// The waits of each digest.
pub(super) fn by_digest(digests: &[Summary], timer: &Timer) -> Vec<Row> {
    let mut rows = Vec::new();
    for digest in digests {
        let Some(waits) = &digest.waits else { continue };
        for (name, sum) in by_name(waits, false) {
            let own = [
                ("SCHEMA_NAME", optional(digest.database.clone())),
                ("DIGEST", optional(digest.text.as_deref().map(digest_of))),
                ("EVENT_NAME", text(name)),
            ];
            rows.push(named(DATABASE, "heddle_waits_by_digest", own.into_iter().chain(cells(timer, &sum))));
        }
    }
    rows
}
