//! Statements by digest, one of them with its plan, and the plan as it runs.

use super::{Made, Part, find, listed, needed, order};
use crate::logins::{Login, Refusal};
use crate::problem::Problem;
use crate::request::Request;
use crate::wire::{Rows, name, quoted};
use serde_json::{Value, json};

/// What a list may be ordered by.
const ORDERS: &[(&str, &str)] = &[
    ("time", "SUM_TIMER_WAIT"),
    ("count", "COUNT_STAR"),
    ("average", "AVG_TIMER_WAIT"),
    ("longest", "MAX_TIMER_WAIT"),
    ("p95", "QUANTILE_95"),
    ("examined", "SUM_ROWS_EXAMINED"),
    ("sent", "SUM_ROWS_SENT"),
    ("errors", "SUM_ERRORS"),
    ("cpu", "SUM_CPU_TIME"),
    ("lock", "SUM_LOCK_TIME"),
    ("last", "LAST_SEEN"),
];
/// Executions that a statement's page shows.
const KEPT_MAX: usize = 8;
/// Characters of a statement in a list.
const TEXT_MAX: usize = 300;
/// The words that EXPLAIN may precede.
const EXPLAINABLE: &[&str] = &["select", "with", "table", "insert", "replace", "update", "delete"];
/// The words of statements that may run for their plan: they change nothing.
const READING: &[&str] = &["select", "with", "table"];

pub async fn list(login: &Login, request: &Request) -> Made {
    let (part, order) = (Part::of(request)?, order(request, ORDERS)?);
    let found = find(request, &["DIGEST_TEXT", "SCHEMA_NAME", "DIGEST"])?;
    let statement = format!(
        "SELECT SCHEMA_NAME AS `schema`, DIGEST AS digest, LEFT(DIGEST_TEXT, {TEXT_MAX}) AS text, COUNT_STAR AS count, \
         SUM_TIMER_WAIT AS time_ps, AVG_TIMER_WAIT AS average_ps, MAX_TIMER_WAIT AS longest_ps, QUANTILE_95 AS p95_ps, \
         QUANTILE_99 AS p99_ps, SUM_CPU_TIME AS cpu_ps, SUM_LOCK_TIME AS lock_ps, SUM_ROWS_SENT AS sent, \
         SUM_ROWS_EXAMINED AS examined, SUM_ROWS_AFFECTED AS affected, SUM_ERRORS AS errors, SUM_NO_INDEX_USED AS no_index, \
         UNIX_TIMESTAMP(LAST_SEEN) AS last, SUM(SUM_TIMER_WAIT) OVER () AS all_time_ps, COUNT(*) OVER () AS all_rows \
         FROM performance_schema.events_statements_summary_by_digest WHERE {found} \
         ORDER BY {order} DESC, DIGEST {}",
        part.clause()
    );
    Ok(listed(login.query(&statement).await?))
}

pub async fn one(login: &Login, request: &Request) -> Made {
    let digest = needed(request, "digest")?;
    let schema = request.parameters.get("schema");
    let of_schema = match schema {
        "" => "SCHEMA_NAME IS NULL".to_owned(),
        schema => format!("SCHEMA_NAME = {}", quoted(schema)),
    };
    let statement = format!(
        "SELECT *, UNIX_TIMESTAMP(FIRST_SEEN) AS first, UNIX_TIMESTAMP(LAST_SEEN) AS last \
         FROM performance_schema.events_statements_summary_by_digest WHERE {of_schema} AND DIGEST = {}",
        quoted(digest)
    );
    let found = login.query(&statement).await?;
    let sample = of_first(&found, "QUERY_SAMPLE_TEXT");
    if found.rows.is_empty() {
        return Err(Problem::Wrong("there is no statement of this digest".to_owned()));
    }
    let plan = match sample.as_deref().filter(|sample| begins_with(sample, EXPLAINABLE)) {
        Some(sample) => explained(login, schema, &format!("EXPLAIN FORMAT=TREE {sample}")).await?,
        None => Value::Null,
    };
    let statement = format!(
        "SELECT EVENT_NAME AS event, COUNT_STAR AS count, SUM_TIMER_WAIT AS time_ps, MAX_TIMER_WAIT AS longest_ps \
         FROM performance_schema.heddle_waits_by_digest WHERE {of_schema} AND DIGEST = {} ORDER BY SUM_TIMER_WAIT DESC LIMIT 30",
        quoted(digest)
    );
    let waits = login.query(&statement).await?.objects();
    let statement = format!(
        "SELECT SUM_DECODE_TIME AS `decode`, SUM_PARSE_TIME AS parse, SUM_PLAN_TIME AS plan, SUM_EXECUTE_TIME AS `execute`, \
         SUM_ENCODE_TIME AS `encode`, SUM_COMMIT_TIME AS `commit` \
         FROM performance_schema.heddle_phases_by_digest WHERE {of_schema} AND DIGEST = {}",
        quoted(digest)
    );
    let of_digest = format!("{of_schema} AND DIGEST = {}", quoted(digest));
    let kept = format!(
        "SELECT THREAD_ID AS session, USER AS user, UNIX_TIMESTAMP(ENDED) AS ended, TIMER_WAIT AS time_ps, CPU_TIME AS cpu_ps, \
         LOCK_TIME AS lock_ps, SQL_TEXT AS text, IS_CUT AS is_cut, MYSQL_ERRNO AS errno, ROWS_SENT AS sent, ROWS_EXAMINED AS examined, \
         ROWS_AFFECTED AS affected, DECODE_TIME AS `decode`, PARSE_TIME AS parse, PLAN_TIME AS plan, EXECUTE_TIME AS `execute`, \
         ENCODE_TIME AS `encode`, COMMIT_TIME AS `commit`, WAITS AS waits, PLAN_HASH AS plan_hash \
         FROM performance_schema.heddle_kept_executions WHERE {of_digest} ORDER BY TIMER_WAIT DESC LIMIT {KEPT_MAX}"
    );
    let kept = login.query(&kept).await?.objects();
    let plans = format!(
        "SELECT PLAN_HASH AS hash, COUNT_STAR AS count, AVG_CPU_TIME AS average_ps, UNIX_TIMESTAMP(FIRST_SEEN) AS first, \
         UNIX_TIMESTAMP(LAST_SEEN) AS last, PLAN AS text \
         FROM performance_schema.heddle_plans_by_digest WHERE {of_digest} ORDER BY LAST_SEEN DESC"
    );
    let plans = login.query(&plans).await?.objects();
    let phases = first(login.query(&statement).await?);
    let row = first(found);
    Ok(
        json!({ "row": row, "plan": plan, "waits": waits, "phases": phases, "kept": kept, "plans": plans, "can_analyze": sample.is_some_and(|text| begins_with(&text, READING)) }),
    )
}

/// Runs a statement to measure its plan. It runs in a transaction that may only read.
pub async fn analyze(login: &Login, body: &Value) -> Made {
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    let (schema, statement) = (text("schema"), text("text"));
    if !begins_with(statement, READING) {
        return Err(Problem::Wrong("only a statement that reads can be run for its plan".to_owned()));
    }
    login.query("START TRANSACTION READ ONLY").await?;
    let made = explained(login, schema, &format!("EXPLAIN ANALYZE {statement}")).await;
    login.query("ROLLBACK").await?;
    Ok(json!({ "plan": made? }))
}

/// A plan, or the server's error as part of the page.
async fn explained(login: &Login, schema: &str, statement: &str) -> Result<Value, Problem> {
    let run = async {
        if !schema.is_empty() {
            login.query(&format!("USE {}", name(schema))).await?;
        }
        login.query(statement).await
    };
    match run.await {
        Ok(rows) => Ok(json!({ "text": rows.single() })),
        Err(Refusal::Sql { message, .. }) => Ok(json!({ "error": message })),
        Err(refusal) => Err(refusal.into()),
    }
}

fn first(rows: Rows) -> Value {
    rows.objects().get(0).cloned().unwrap_or_default()
}

fn of_first(rows: &Rows, column: &str) -> Option<String> {
    let place = rows.columns.iter().position(|name| name == column)?;
    Some(rows.rows.first()?.get(place)?.as_str()?.to_owned())
}

/// Is the first word one of these? Parentheses before it do not count.
fn begins_with(text: &str, words: &[&str]) -> bool {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    let first: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
    words.iter().any(|word| first.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_words() {
        assert!(begins_with(" (SELECT 1)", READING) && begins_with("with x as (select 1) select 1", READING));
        assert!(!begins_with("UPDATE t SET a = 1", READING) && begins_with("UPDATE t SET a = 1", EXPLAINABLE));
        assert!(!begins_with("selection", READING) && !begins_with("", READING) && !begins_with("/* select */ drop", READING));
    }
}
