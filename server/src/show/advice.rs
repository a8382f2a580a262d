//! The findings of the query doctor: `sys.advice` and SHOW ADVICE.
//!
//! The crate `advisor` makes them; this file gives it what the workers have counted. Findings are made anew for each statement that
//! reads them, so they are always those of the present counts. Dismissed ones are named in `heddle_advice_dismissed`.

use super::build::{Columns, ResultSet, number, optional, result, text};
use super::definitions::named;
use super::digests::Clock;
use super::explain::MeasuredRun;
use super::gathered::Gathered;
use super::source::{Maker, Row, Source};
use crate::advice::journal::Line;
use crate::advice::measured::Trial;
use crate::digests::digest_of;
use crate::error::Result;
use crate::plan_cache::VirtualReads;
use crate::session::State;
use crate::shared::Shared;
use accounts::privilege::Privileges;
use advisor::{Account, Finding, PlanUse, Sample, Session, Statement, TableUse, TreeUse, Workload};
use std::collections::{BTreeMap, HashMap};
use sync::waits::Kind as Wait;
use table::offline::PAGE_BYTES;
use types::Value;
use types::schema::{Schema, TableDef};

pub const MAKERS: &[(&str, Maker)] = &[("advice", advice), ("advice_log", log)];

/// Bytes of a sample; a longer text was cut.
const SAMPLE_BYTES: usize = 1024;
const TICKS_TO_US: f64 = 1e-3;

/// Database and text of a digest.
type Named<'a> = (Option<&'a str>, Option<&'a str>);
/// The statements of an account by name, and its sessions that have ended.
type Counted = (BTreeMap<&'static str, u64>, u64);

/// What the server has counted.
pub async fn gather(state: &State<'_>) -> Gathered {
    let reads = VirtualReads { any: true, gathered: true, digests: true, kept: true, events: true, ..VirtualReads::default() };
    Box::pin(Gathered::collect(state, reads)).await
}

/// What is known of a finding beside its counts: a measurement, and what was done last.
fn known(source: &Source<'_>, id: &str) -> (Option<Trial>, Option<&'static str>) {
    let journal = &source.worker.shared.advice;
    (journal.trial(id), journal.last(id).map(|line| line.action.name()))
}

/// The rows of `sys.advice`; an account without PROCESS sees none.
fn advice(source: &Source<'_>) -> Vec<Row> {
    if source.access.is_some_and(|access| !access.has(Privileges::PROCESS)) {
        return Vec::new();
    }
    let Some(gathered) = source.gathered else { return Vec::new() };
    let shared = &source.worker.shared;
    let findings = advisor::advise(&workload(shared, source.schema, gathered));
    let dismissed = dismissed(shared);
    let row = |finding: &Finding| {
        let (trial, state) = known(source, &finding.id);
        let yes = |is: bool| text(if is { "YES" } else { "NO" });
        let cells = [
            ("id", text(&finding.id)),
            ("kind", text(finding.kind.name())),
            ("table_schema", optional(finding.database.clone())),
            ("table_name", optional(finding.table.clone())),
            ("digest", optional(finding.digest.clone())),
            ("statement", optional(finding.statement.clone())),
            ("example", optional(finding.example.clone())),
            ("application", optional(parts(finding))),
            ("evidence", text(&finding.evidence)),
            ("gain", text(trial.as_ref().map_or_else(|| finding.gain.clone(), Trial::gain))),
            ("gain_ms", number((finding.gain_us / 1e3) as u64)),
            ("price", text(trial.as_ref().map_or_else(|| finding.price.clone(), Trial::price))),
            ("cure", text(&finding.cure)),
            ("is_sql", yes(finding.is_sql)),
            ("statements", number(finding.statements)),
            ("dismissed", yes(dismissed.contains(&finding.id))),
            ("state", optional(state)),
            ("measured", optional(trial.and_then(|trial| serde_json::to_string(&trial).ok()))),
        ];
        named("sys", "advice", cells)
    };
    findings.iter().map(row).collect()
}

/// The rows of `sys.advice_log`; an account without PROCESS sees none.
fn log(source: &Source<'_>) -> Vec<Row> {
    if source.access.is_some_and(|access| !access.has(Privileges::PROCESS)) {
        return Vec::new();
    }
    let row = |line: Line| {
        let cells = [
            ("time", text(line.time)),
            ("id", text(line.id)),
            ("action", text(line.action.name())),
            ("by", text(line.by)),
            ("table_schema", text(line.database)),
            ("table_name", text(line.table)),
            ("index_name", text(line.index)),
            ("note", text(line.note)),
        ];
        named("sys", "advice_log", cells)
    };
    source.worker.shared.advice.lines().into_iter().map(row).collect()
}

/// The columns of SHOW ADVICE and ADVISE FOR.
fn columns() -> Columns {
    Columns::default()
        .text("Id", 16)
        .text("Kind", 32)
        .nullable_text("Table", 129)
        .long_text("Evidence")
        .long_text("Gain")
        .long_text("Price")
        .long_text("Cure")
        .nullable_text("Digest", 64)
        .long_text("Example")
        .long_text("Application")
}

/// The parts of the application that send the statements, one a line.
fn parts(finding: &Finding) -> Option<String> {
    (!finding.application.is_empty()).then(|| finding.application.join("\n"))
}

/// ADVISE FOR: runs the reading part of a statement once, and says what there is to say about it.
pub async fn advise_for(
    state: &mut State<'_>,
    statement: &sql::ast::Statement<'_>,
    text_of: &[u8],
    given: &[Value<'_>],
) -> Result<ResultSet> {
    let run = super::explain::measure(state, statement, text_of, given).await?;
    let mut made = result(columns());
    for finding in of_run(state, &run, given).await {
        let own = finding.database.clone().zip(finding.table.clone());
        let parts = parts(&finding);
        made.rows.push(vec![
            text(finding.id),
            text(finding.kind.name()),
            optional(own.map(|(database, table)| format!("{database}.{table}"))),
            text(finding.evidence),
            text(finding.gain),
            text(finding.price),
            text(finding.cure),
            optional(finding.digest),
            text(run.text.clone()),
            optional(parts),
        ]);
    }
    Ok(made)
}

/// One line for each finding about the executions of a statement so far, for EXPLAIN.
pub async fn lines_of(state: &State<'_>, statement: &[u8]) -> Vec<String> {
    let shared = &state.worker.shared;
    if !shared.globals().get(crate::variables::known("heddle_advice")).as_bool() {
        return Vec::new();
    }
    let digest = digest_of(&sql::digest_text(statement, &state.session.settings.mode));
    let gathered = gather(state).await;
    let schema = state.visible_schema();
    let (own, dismissed) = (state.execution.vars.database.as_deref(), dismissed(shared));
    let helps = |finding: &Finding| {
        let is_it = |helped: &advisor::Helped| helped.digest == digest && helped.database.as_deref() == own;
        finding.helps.iter().any(is_it) && !dismissed.contains(&finding.id)
    };
    let findings = advisor::advise(&workload(shared, &schema, &gathered));
    findings.iter().filter(|finding| helps(finding)).map(line_of).collect()
}

pub fn line_of(finding: &Finding) -> String {
    format!("Advice {} ({}): {}. {}", finding.id, finding.kind.name(), finding.evidence, finding.cure)
}

/// What there is to say about a statement that was run with measurements. Nothing if its text has parameters, whose values belong to
/// the form of a statement, or if nobody is to get advice.
pub async fn of_run(state: &State<'_>, run: &MeasuredRun, given: &[Value<'_>]) -> Vec<Finding> {
    let is_on = state.worker.shared.globals().get(crate::variables::known("heddle_advice")).as_bool();
    if !is_on || !given.is_empty() {
        return Vec::new();
    }
    let gathered = gather(state).await;
    let schema = state.visible_schema();
    let digest_text = sql::digest_text(run.text.as_bytes(), &state.session.settings.mode);
    let (sent, affected) = if run.is_query { (run.rows, 0) } else { (0, run.rows) };
    let statement = Statement {
        database: state.execution.vars.database.as_deref().map(str::to_owned),
        digest: digest_of(&digest_text),
        samples: vec![Sample { text: run.text.clone(), time_us: run.time_us, examined: run.examined, sent }],
        text: digest_text,
        count: 1,
        time_us: run.time_us,
        examined: run.examined,
        sent,
        affected,
        plans: vec![PlanUse { text: run.plan.clone(), count: 1, cpu_us: run.time_us, ..PlanUse::default() }],
        ..Statement::default()
    };
    let all = workload(&state.worker.shared, &schema, &gathered);
    let alone = Workload { statements: vec![statement], sessions: Vec::new(), accounts: Vec::new(), ..all };
    advisor::advise_for(alone)
}

/// The rows of SHOW ADVICE: without the findings that are dismissed. `about`: those about this table alone.
pub fn shown(source: &Source<'_>, gathered: &Gathered, about: Option<&TableDef>) -> ResultSet {
    let mut made = result(columns());
    let shared = &source.worker.shared;
    let dismissed = dismissed(shared);
    for finding in advisor::advise(&workload(shared, source.schema, gathered)) {
        let (trial, _) = known(source, &finding.id);
        let own = finding.database.clone().zip(finding.table.clone());
        let is_about =
            |def: &TableDef| own.as_ref().is_some_and(|(database, table)| *database == def.database && *table == def.name);
        if dismissed.contains(&finding.id) || about.is_some_and(|def| !is_about(def)) {
            continue;
        }
        let parts = parts(&finding);
        made.rows.push(vec![
            text(finding.id),
            text(finding.kind.name()),
            optional(own.map(|(database, table)| format!("{database}.{table}"))),
            text(finding.evidence),
            text(trial.as_ref().map_or(finding.gain, Trial::gain)),
            text(trial.as_ref().map_or(finding.price, Trial::price)),
            text(finding.cure),
            optional(finding.digest),
            text(finding.example.unwrap_or_default()),
            optional(parts),
        ]);
    }
    made
}

fn dismissed(shared: &Shared) -> Vec<String> {
    let globals = shared.globals();
    let ids = globals.get(crate::variables::known("heddle_advice_dismissed"));
    ids.as_text().split(',').map(|id| id.trim().to_owned()).collect()
}

/// What the workers have counted, as the advisor reads it.
pub fn workload<'a>(shared: &Shared, schema: &'a Schema, gathered: &Gathered) -> Workload<'a> {
    let clock = Clock::new(shared);
    let us = |ticks: u64| ticks as f64 * clock.nanos * TICKS_TO_US;
    Workload {
        schema,
        uptime_s: shared.started.elapsed().as_secs_f64(),
        statements: statements(gathered, us),
        tables: tables(shared, schema, gathered),
        sessions: sessions(gathered),
        accounts: accounts_of(gathered),
    }
}

fn statements(gathered: &Gathered, us: impl Fn(u64) -> f64) -> Vec<Statement> {
    let now = os::ticks();
    let mut samples: HashMap<Named<'_>, Vec<Sample>> = HashMap::new();
    let mut plans: HashMap<Named<'_>, BTreeMap<u64, PlanUse>> = HashMap::new();
    for kept in &gathered.kept {
        let key = (kept.database.as_deref(), kept.text.as_deref());
        let whole = kept.executions.iter().filter(|execution| !execution.is_cut && execution.errno == 0);
        let sample = whole.map(|execution| Sample {
            text: String::from_utf8_lossy(&execution.text).into_owned(),
            time_us: us(execution.time),
            examined: execution.examined,
            sent: execution.sent,
        });
        samples.entry(key).or_default().extend(sample);
        for plan in &kept.plans {
            let age = |at: u64| us(now.saturating_sub(at)) / 1e6;
            let (first, last) = (age(plan.first), age(plan.last));
            let sum = plans.entry(key).or_default().entry(plan.hash).or_insert_with(|| PlanUse {
                text: plan.text.to_string(),
                count: 0,
                cpu_us: 0.0,
                first_age_s: first,
                last_age_s: last,
            });
            sum.count += plan.count;
            sum.cpu_us += us(plan.ran);
            (sum.first_age_s, sum.last_age_s) = (sum.first_age_s.max(first), sum.last_age_s.min(last));
        }
    }
    let mut all = Vec::new();
    for of in &gathered.digests {
        let Some(text) = of.text.clone() else { continue };
        let key = (of.database.as_deref(), of.text.as_deref());
        let locks = |kind: Wait| of.waits.as_ref().map_or((0, 0), |waits| (waits.of(kind).ticks, waits.of(kind).count));
        let (rows, gaps) = (locks(Wait::RowLock), locks(Wait::GapLock));
        all.push(Statement {
            database: of.database.clone(),
            digest: digest_of(&text),
            sample: (of.sample.len() < SAMPLE_BYTES).then(|| of.sample.clone()),
            samples: samples.remove(&key).unwrap_or_default(),
            plans: plans.remove(&key).unwrap_or_default().into_values().collect(),
            count: of.sums.count,
            time_us: us(of.sums.time),
            row_lock_us: us(rows.0 + gaps.0),
            row_lock_waits: rows.1 + gaps.1,
            examined: of.sums.examined,
            sent: of.sums.sent,
            affected: of.sums.affected,
            span_s: us(of.last.saturating_sub(of.first)) / 1e6,
            in_runs: of.sums.in_runs,
            in_runs_alone: of.sums.in_runs_alone,
            caused: of.sums.caused,
            cause: of.cause.clone(),
            deadlocks: of.sums.deadlocks,
            is_asked: false,
            text,
        });
    }
    all
}

fn tables(shared: &Shared, schema: &Schema, gathered: &Gathered) -> HashMap<u64, TableUse> {
    let mut used: HashMap<u32, TreeUse> = HashMap::new();
    for (tree, of) in &gathered.tables_used {
        let sum = used.entry(*tree).or_default();
        sum.fetched += of.fetched;
        sum.inserted += of.inserted;
        sum.updated += of.updated;
        sum.deleted += of.deleted;
    }
    let of = |def: &TableDef| {
        let table = shared.database.table(def.id)?;
        let rows = table.estimated_rows();
        let statistics = table.statistics();
        let distinct = |column| statistics.as_ref().and_then(|of| of.histogram(column)).map(|histogram| histogram.distinct);
        let bytes = table.size().clustered_pages * PAGE_BYTES as u64;
        let values = statistics.as_ref().map_or(0, |of| of.values.all * PAGE_BYTES as u64);
        Some(TableUse {
            rows,
            row_bytes: (bytes + values).checked_div(rows).unwrap_or(0),
            next_auto: table.next_auto_increment(),
            distinct: (0..def.columns.len()).map(distinct).collect(),
            trees: def.indexes.iter().map(|index| used.get(&index.tree_id).copied().unwrap_or_default()).collect(),
        })
    };
    let defs = schema.databases.values().flat_map(|database| database.tables.values());
    let stored = defs.filter(|def| !def.is_virtual && def.view.is_none());
    stored.filter_map(|def| Some((def.id.0, of(def)?))).collect()
}

fn sessions(gathered: &Gathered) -> Vec<Session> {
    let session = |line: &crate::session::ProcessLine| Session {
        id: line.id.into(),
        user: line.user.clone(),
        host: line.host.split(':').next().unwrap_or_default().to_owned(),
        program: line.attributes.iter().find(|(name, _)| name == "program_name").map(|(_, value)| value.clone()),
        is_idle: line.command == "Sleep",
        idle_s: line.seconds,
        transaction_s: line.transaction.map(|_| line.transaction_seconds),
        changes: line.transaction.map_or(0, |open| open.changes),
    };
    gathered.processes.iter().map(session).collect()
}

fn accounts_of(gathered: &Gathered) -> Vec<Account> {
    let mut all: BTreeMap<(&str, &str), Counted> = BTreeMap::new();
    for line in &gathered.sums {
        let (statements, ended) = all.entry((&line.user, &line.host)).or_default();
        for (name, sums) in &line.sums.statements {
            *statements.entry(name.text()).or_default() += sums.count;
        }
        *ended += if line.session.is_none() { line.sums.sessions } else { 0 };
    }
    let account = |((user, host), (statements, sessions)): ((&str, &str), Counted)| Account {
        user: user.to_owned(),
        host: host.to_owned(),
        statements: statements.into_iter().map(|(name, count)| (name.to_owned(), count)).collect(),
        sessions,
    };
    all.into_iter().map(account).collect()
}
