//! What the query doctor finds, with its evidence and cure.

use super::Made;
use crate::logins::Login;
use crate::problem::Problem;
use crate::wire::quoted;
use serde_json::{Value, json};

/// Findings that the page shows: those with the largest gain.
const SHOWN_MAX: usize = 500;
/// Digits of an id.
const ID_DIGITS: usize = 16;

/// The findings with the names that the page, `GET /advice` and `heddle advise` give their parts.
pub const ADVICE: &str = "SELECT id, kind, table_schema AS `schema`, table_name AS name, digest, statement, example, application, evidence, gain, \
                          gain_ms, price, cure, is_sql, statements, dismissed, state, measured FROM sys.advice";

pub async fn list(login: &Login) -> Made {
    let statement = format!("{ADVICE} ORDER BY dismissed, gain_ms DESC, id LIMIT {SHOWN_MAX}");
    Ok(json!({ "rows": login.query(&statement).await?.objects() }))
}

/// The findings for programs, without those that are dismissed.
pub fn statement_for_programs() -> String {
    format!("{ADVICE} WHERE dismissed = 'NO' ORDER BY gain_ms DESC, id LIMIT {SHOWN_MAX}")
}

/// Takes a finding out of the list, or back into it.
pub async fn dismiss(login: &Login, body: &Value) -> Made {
    let id = body.get("id").and_then(Value::as_str).unwrap_or_default();
    if id.len() != ID_DIGITS || !id.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(Problem::Wrong(format!("'id' is no number of {ID_DIGITS} hexadecimal digits")));
    }
    let procedure = if body.get("back").and_then(Value::as_bool) == Some(true) { "restore_advice" } else { "dismiss_advice" };
    login.query(&format!("CALL sys.{procedure}({})", quoted(id))).await?;
    Ok(json!({}))
}
