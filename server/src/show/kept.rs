//! The slowest executions of each digest, and its plans over time: `performance_schema.heddle_kept_executions` and
//! `heddle_plans_by_digest`.

use super::build::{number, optional, text};
use super::definitions::named;
use super::digests::{Clock, moment};
use super::source::{Maker, Row, Source};
use crate::digests::{Execution, KeptOf, Phase, SentPlan, digest_of};
use crate::record::thread_id;
use crate::waits::event_name;
use reactor::task_clock::Sums as Waits;
use std::collections::BTreeMap;
use types::Value;

pub const MAKERS: &[(&str, Maker)] = &[("heddle_kept_executions", executions), ("heddle_plans_by_digest", plans)];

fn kept<'a>(source: &Source<'a>) -> &'a [KeptOf] {
    source.gathered.map_or(&[], |gathered| &gathered.kept)
}

fn hash(value: u64) -> Value<'static> {
    text(format!("{value:016x}"))
}

fn executions(source: &Source<'_>) -> Vec<Row> {
    let clock = Clock::new(&source.worker.shared);
    let row = |of: &KeptOf, execution: &Execution| {
        let time = |ticks: u64| number((ticks as f64 * clock.nanos * 1e3) as u64);
        let phase = |phase| time(execution.phases.of(phase));
        let cells = [
            ("SCHEMA_NAME", optional(of.database.clone())),
            ("DIGEST", optional(of.text.as_deref().map(digest_of))),
            ("THREAD_ID", number(thread_id(execution.session))),
            ("USER", text(&*execution.user)),
            ("ENDED", moment(clock.at(execution.ended))),
            ("TIMER_WAIT", time(execution.time)),
            ("CPU_TIME", time(execution.time.saturating_sub(execution.waited))),
            ("LOCK_TIME", time(execution.locked)),
            ("SQL_TEXT", text(String::from_utf8_lossy(&execution.text))),
            ("IS_CUT", text(if execution.is_cut { "YES" } else { "NO" })),
            ("MYSQL_ERRNO", number(execution.errno)),
            ("ROWS_SENT", number(execution.sent)),
            ("ROWS_EXAMINED", number(execution.examined)),
            ("ROWS_AFFECTED", number(execution.affected)),
            ("DECODE_TIME", phase(Phase::Decode)),
            ("PARSE_TIME", phase(Phase::Parse)),
            ("PLAN_TIME", phase(Phase::Plan)),
            ("EXECUTE_TIME", phase(Phase::Execute)),
            ("ENCODE_TIME", phase(Phase::Encode)),
            ("COMMIT_TIME", phase(Phase::Commit)),
            ("WAITS", optional(execution.waits.as_deref().map(|waits| waits_json(waits, clock.nanos)))),
            ("PLAN_HASH", execution.plan.map_or(Value::Null, hash)),
        ];
        named("performance_schema", "heddle_kept_executions", cells)
    };
    kept(source).iter().flat_map(|of| of.executions.iter().map(move |execution| row(of, execution))).collect()
}

/// `[{"event": "wait/lock/heddle/row", "count": 1, "time_ps": 5}]`, the longest first.
fn waits_json(waits: &Waits, nanos: f64) -> String {
    let mut all: Vec<_> = waits.each().collect();
    all.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.ticks));
    let shown = all.iter().map(|(kind, sum)| {
        let picos = (sum.ticks as f64 * nanos * 1e3) as u64;
        format!("{{\"event\": \"{}\", \"count\": {}, \"time_ps\": {picos}}}", event_name(*kind), sum.count)
    });
    format!("[{}]", shown.collect::<Vec<_>>().join(", "))
}

/// A digest's plan on all workers.
fn plans(source: &Source<'_>) -> Vec<Row> {
    let clock = Clock::new(&source.worker.shared);
    let mut merged: BTreeMap<(Option<&str>, Option<&str>, u64), SentPlan> = BTreeMap::new();
    for of in kept(source) {
        for plan in &of.plans {
            let key = (of.database.as_deref(), of.text.as_deref(), plan.hash);
            merged
                .entry(key)
                .and_modify(|sum| {
                    sum.count += plan.count;
                    sum.ran += plan.ran;
                    (sum.first, sum.last) = (sum.first.min(plan.first), sum.last.max(plan.last));
                })
                .or_insert_with(|| plan.clone());
        }
    }
    let row = |((database, digest, _), plan): ((Option<&str>, Option<&str>, u64), SentPlan)| {
        let picos = (plan.ran as f64 * clock.nanos * 1e3) as u64;
        let cells = [
            ("SCHEMA_NAME", optional(database)),
            ("DIGEST", optional(digest.map(digest_of))),
            ("PLAN_HASH", hash(plan.hash)),
            ("COUNT_STAR", number(plan.count)),
            ("SUM_CPU_TIME", number(picos)),
            ("AVG_CPU_TIME", number(picos / plan.count.max(1))),
            ("FIRST_SEEN", moment(clock.at(plan.first))),
            ("LAST_SEEN", moment(clock.at(plan.last))),
            ("PLAN", text(&*plan.text)),
        ];
        named("performance_schema", "heddle_plans_by_digest", cells)
    };
    merged.into_iter().map(row).collect()
}
