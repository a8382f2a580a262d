//! Sessions, who waits for whom, and KILL.

use super::{Made, Part, find, listed, order};
use crate::logins::{Login, Refusal};
use crate::problem::Problem;
use crate::request::Request;
use serde_json::{Value, json};

/// What a list may be ordered by. Sessions that do something come first.
const ORDERS: &[(&str, &str)] = &[
    ("busy", "(p.COMMAND = 'Sleep'), (p.COMMAND = 'Daemon'), p.TIME DESC, p.ID"),
    ("time", "p.TIME DESC, p.ID"),
    ("id", "p.ID"),
    ("account", "p.USER, p.HOST, p.ID"),
    ("transaction", "t.trx_started IS NULL, t.trx_started, p.ID"),
];

pub async fn list(login: &Login, request: &Request) -> Made {
    let (part, order) = (Part::of(request)?, order(request, ORDERS)?);
    let found = find(request, &["p.USER", "p.HOST", "p.DB", "p.INFO", "p.STATE"])?;
    let kind = match request.parameters.get("show") {
        "" | "all" => "TRUE",
        "busy" => "p.COMMAND NOT IN ('Sleep', 'Daemon')",
        "open" => "t.trx_id IS NOT NULL",
        _ => return Err(Problem::Wrong("'show' is none of all, busy, open".to_owned())),
    };
    let statement = format!(
        "SELECT p.ID AS id, p.USER AS user, p.HOST AS host, p.DB AS db, p.COMMAND AS command, p.TIME AS time, p.STATE AS state, \
         LEFT(p.INFO, 500) AS info, t.trx_state AS transaction, TIMESTAMPDIFF(SECOND, t.trx_started, NOW()) AS open_seconds, \
         t.trx_rows_modified AS changes, COUNT(*) OVER () AS all_rows \
         FROM information_schema.PROCESSLIST p LEFT JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id = p.ID \
         WHERE {found} AND {kind} ORDER BY {order} {}",
        part.clause()
    );
    let mut made = listed(login.query(&statement).await?);
    made["own"] = login.session.into();
    Ok(made)
}

/// Waits for row locks and for metadata: who waits, for whom, for what. The page makes a tree of them.
pub async fn locks(login: &Login) -> Made {
    let rows = login.query(
        "SELECT waiting_pid AS waiting, blocking_pid AS blocking, 'row' AS kind, \
         CONCAT(locked_table_schema, '.', locked_table_name) AS object, locked_index AS `index`, wait_age_secs AS seconds, \
         waiting_lock_mode AS waiting_mode, blocking_lock_mode AS blocking_mode, waiting_query, blocking_query \
         FROM sys.x$innodb_lock_waits ORDER BY wait_age_secs DESC LIMIT 500",
    );
    let rows = rows.await?;
    let metadata = login.query(
        "SELECT waiting_pid AS waiting, blocking_pid AS blocking, 'metadata' AS kind, \
         CONCAT(object_schema, '.', object_name) AS object, NULL AS `index`, waiting_query_secs AS seconds, \
         waiting_lock_type AS waiting_mode, blocking_lock_type AS blocking_mode, waiting_query, NULL AS blocking_query \
         FROM sys.schema_table_lock_waits WHERE waiting_pid <> blocking_pid ORDER BY waiting_query_secs DESC LIMIT 500",
    );
    let metadata = match metadata.await {
        Ok(rows) => rows.objects(),
        Err(Refusal::Sql { message, .. }) => json!({ "error": message }),
        Err(refusal) => return Err(refusal.into()),
    };
    let ids = "SELECT p.ID AS id, p.USER AS user, p.HOST AS host, p.COMMAND AS command, p.TIME AS time, LEFT(p.INFO, 200) AS info, \
               TIMESTAMPDIFF(SECOND, t.trx_started, NOW()) AS open_seconds FROM information_schema.PROCESSLIST p \
               JOIN information_schema.INNODB_TRX t ON t.trx_mysql_thread_id = p.ID LIMIT 1000";
    let sessions = login.query(ids).await?;
    Ok(json!({ "rows": rows.objects(), "metadata": metadata, "sessions": sessions.objects() }))
}

/// KILL of a session, or of its statement.
pub async fn kill(login: &Login, body: &Value) -> Made {
    let id = body.get("id").and_then(Value::as_u64).filter(|id| u32::try_from(*id).is_ok());
    let id = id.ok_or_else(|| Problem::Wrong("'id' is not the number of a session".to_owned()))?;
    let what = match body.get("what").and_then(Value::as_str) {
        Some("query") => "QUERY ",
        Some("connection") => "",
        _ => return Err(Problem::Wrong("'what' is neither 'query' nor 'connection'".to_owned())),
    };
    login.query(&format!("KILL {what}{id}")).await?;
    tracing::info!(account = login.account, id, "KILL {what}from the console");
    Ok(json!({ "killed": id }))
}
