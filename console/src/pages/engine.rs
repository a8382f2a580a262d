//! The engine: log, checkpoint, buffer pool, undo, the oldest transaction, the threads and what they do.

use super::Made;
use crate::logins::Login;
use crate::process;
use crate::state::State;
use serde_json::{Value, json};

/// The numbers of SHOW GLOBAL STATUS that the page shows.
const SHOWN: &[&str] = &["Innodb_", "Heddle_", "Uptime", "Threads_", "Created_tmp", "Open_", "Sort_merge"];

pub async fn engine(state: &State, login: &Login) -> Made {
    let figures = state.sampler.fresh().await;
    let is_shown = |name: &str| SHOWN.iter().any(|prefix| name.starts_with(prefix));
    let status: serde_json::Map<String, Value> = figures
        .status
        .iter()
        .filter(|(name, _)| is_shown(name))
        .map(|(name, value)| ((*name).to_owned(), (*value).into()))
        .collect();
    let oldest = login.query(
        "SELECT t.trx_mysql_thread_id AS id, t.trx_state AS state, TIMESTAMPDIFF(SECOND, t.trx_started, NOW()) AS seconds, \
         t.trx_rows_modified AS changes, t.trx_isolation_level AS isolation, p.USER AS user, p.HOST AS host, \
         p.COMMAND AS command, LEFT(p.INFO, 200) AS info FROM information_schema.INNODB_TRX t \
         LEFT JOIN information_schema.PROCESSLIST p ON p.ID = t.trx_mysql_thread_id ORDER BY t.trx_started LIMIT 10",
    );
    let oldest = oldest.await?;
    let text = login.query("SHOW ENGINE INNODB STATUS").await?;
    let text = text.rows.first().and_then(|row| row.last()).cloned();
    let mut threads = process::threads();
    threads.sort_by(|a, b| a.name.cmp(&b.name));
    let threads: Vec<Value> =
        threads.iter().map(|thread| json!({ "name": thread.name, "cpu_seconds": thread.cpu_seconds })).collect();
    let waits = figures.waits.iter().map(|(kind, wait)| json!({ "kind": kind, "count": wait.count, "seconds": wait.seconds }));
    Ok(json!({
        "status": status,
        "oldest": oldest.objects(),
        "text": text,
        "threads": threads,
        "waits": waits.collect::<Vec<Value>>(),
        "cpus": std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        "memory": process::memory_bytes(),
        "disk_free": process::free_bytes(&state.config.data_dir),
    }))
}
