//! SHOW of what concerns the server: variables, counters, sessions, diagnostics, fixed lists.

use super::build::{Columns, number, optional, result, text, texts};
use super::empty;
use crate::charset;
use crate::error::{Error, Result, describe_condition};
use crate::session::{ProcessLine, ResultSet, State};
use crate::shared::Shared;
use crate::variables::{self, Scope};
use crate::worker::gather;
use exec::Level;
use sql::ast::ShowFilter;
use std::collections::BTreeMap;
use std::sync::Arc;
use types::Value;

/// What is collected from all workers for one statement.
#[derive(Debug, Default)]
pub struct Gathered {
    pub processes: Vec<ProcessLine>,
}

impl Gathered {
    pub async fn collect(shared: &Arc<Shared>) -> Self {
        let mut processes: Vec<_> = gather(shared, |worker| {
            let now = worker.core.now();
            worker.sessions.borrow().values().map(|session| session.line(now)).collect::<Vec<_>>()
        })
        .await
        .into_iter()
        .flatten()
        .collect();
        processes.sort_by_key(|line| line.id);
        Self { processes }
    }
}

pub async fn process_list(state: &State, full: bool) -> ResultSet {
    const SHORT: usize = 100;
    let columns = Columns::default()
        .number("Id")
        .text("User", 32)
        .text("Host", 261)
        .nullable_text("db", 64)
        .text("Command", 16)
        .number("Time")
        .nullable_text("State", 64)
        .long_text("Info");
    let mut made = result(columns);
    let gathered = Gathered::collect(&state.worker.shared).await;
    made.rows = gathered.processes.into_iter().map(|line| process_row(line, if full { usize::MAX } else { SHORT })).collect();
    made
}

/// One line of the process list.
pub fn process_row(line: ProcessLine, info_chars_max: usize) -> Vec<Value<'static>> {
    let info = line.info.map(|info| info.chars().take(info_chars_max).collect::<String>());
    vec![
        number(line.id),
        text(line.user),
        text(line.host),
        optional(line.database),
        text(line.command),
        number(line.seconds),
        text(line.state),
        optional(info),
    ]
}

/// SHOW VARIABLES; LIKE is applied by the caller, here it only saves work.
pub fn variables(state: &State, global: bool, filter: ShowFilter<'_>) -> ResultSet {
    let mut made = result(Columns::default().text("Variable_name", 64).nullable_text("Value", 1024));
    let globals = state.worker.shared.globals();
    for id in variables::all() {
        let definition = id.definition();
        if let ShowFilter::Like(pattern) = filter
            && !super::like(pattern, definition.name.as_bytes())
        {
            continue;
        }
        let value = match definition.scope {
            Scope::Session if global => continue,
            Scope::Global => id.show(globals.get(id)),
            _ if global => id.show(globals.get(id)),
            _ => match state.session_value(id) {
                // Computed ones are numbers; the rest prints as stored.
                Value::UInt(value) if definition.scope == Scope::Session => value.to_string(),
                Value::Double(value) if definition.scope == Scope::Session => format!("{value:.6}"),
                _ => id.show(state.variables.get(id)),
            },
        };
        made.rows.push(vec![text(definition.name), text(value)]);
    }
    made
}

/// SHOW STATUS: the workers' counters, summed, and what can be computed.
pub async fn status(state: &State) -> ResultSet {
    let shared = &state.worker.shared;
    let mut values: BTreeMap<&'static str, u64> = BTreeMap::new();
    let snapshots = gather(shared, |worker| {
        let running = worker.sessions.borrow().values().filter(|session| session.command.get() != "Sleep").count();
        (worker.counters.snapshot(), running as u64, worker.plans.borrow().len() as u64)
    });
    for (snapshot, running, plans) in snapshots.await {
        for (name, value) in snapshot {
            *values.entry(name).or_default() += value;
        }
        *values.entry("Threads_running").or_default() += running;
        *values.entry("Heddle_plan_cache_plans").or_default() += plans;
    }
    let uptime = shared.started.elapsed().as_secs();
    let tables: usize = shared.database.schema().databases.values().map(|database| database.tables.len()).sum();
    for (name, value) in [
        ("Connections", u64::from(shared.connections_accepted())),
        ("Max_used_connections", shared.sessions() as u64),
        ("Open_tables", tables as u64),
        ("Opened_tables", tables as u64),
        ("Threads_cached", 0),
        ("Threads_connected", shared.sessions() as u64),
        ("Threads_created", shared.workers.len() as u64),
        ("Uptime", uptime),
        ("Uptime_since_flush_status", uptime),
        ("Innodb_page_size", 16384),
        ("Prepared_stmt_count", 0),
    ] {
        values.insert(name, value);
    }
    let mut made = result(Columns::default().text("Variable_name", 64).nullable_text("Value", 1024));
    made.rows = values.into_iter().map(|(name, value)| vec![text(name), text(value.to_string())]).collect();
    let compressed = state.capabilities.has(protocol::Capabilities::COMPRESS);
    let algorithm = if compressed { "zlib" } else { "" };
    for (name, value) in [
        ("Compression", if compressed { "ON" } else { "OFF" }),
        ("Compression_algorithm", algorithm),
        ("Compression_level", if compressed { "1" } else { "0" }),
        ("Ssl_cipher", ""),
        ("Ssl_version", ""),
        ("Rsa_public_key", ""),
    ] {
        made.rows.push(texts(&[name, value]));
    }
    made.rows.sort_by(|a, b| match (&a[0], &b[0]) {
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        _ => std::cmp::Ordering::Equal,
    });
    made
}

pub fn warnings(state: &State, errors_only: bool, offset: u64, count: Option<u64>) -> ResultSet {
    let mut made = result(Columns::default().text("Level", 7).number("Code").text("Message", 512));
    let warnings = state.vars.warnings.borrow();
    made.rows = warnings
        .list()
        .iter()
        .filter(|warning| !errors_only || warning.level == Level::Error)
        .skip(usize::try_from(offset).unwrap_or(usize::MAX))
        .take(count.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX)))
        .map(|warning| {
            let level = match warning.level {
                Level::Note => "Note",
                Level::Warning => "Warning",
                Level::Error => "Error",
            };
            let (code, message) = describe_condition(&warning.error);
            vec![text(level), number(code), text(message)]
        })
        .collect();
    made
}

pub fn count_warnings(state: &State, errors_only: bool) -> ResultSet {
    let warnings = state.vars.warnings.borrow();
    let (name, count) = match errors_only {
        true => ("@@session.error_count", warnings.error_count()),
        false => ("@@session.warning_count", warnings.count()),
    };
    let mut made = result(Columns::default().number(name));
    made.rows.push(vec![number(count)]);
    made
}

pub fn engines() -> ResultSet {
    let columns = Columns::default()
        .text("Engine", 64)
        .text("Support", 8)
        .text("Comment", 80)
        .nullable_text("Transactions", 3)
        .nullable_text("XA", 3)
        .nullable_text("Savepoints", 3);
    let mut made = result(columns);
    made.rows.push(texts(&["InnoDB", "DEFAULT", ENGINE_COMMENT, "YES", "NO", "YES"]));
    made
}

pub const ENGINE_COMMENT: &str = "Heddle's engine: transactions, row locks, crash recovery";

pub async fn engine_status(state: &State, what: &str) -> Result<ResultSet> {
    let mut made = result(Columns::default().text("Type", 10).text("Name", 512).long_text("Status"));
    if what.eq_ignore_ascii_case("status") {
        let gathered = Gathered::collect(&state.worker.shared).await;
        let mut report = format!(
            "Heddle {}\nUptime {} s, {} workers, {} sessions\n\nSESSIONS\n",
            env!("CARGO_PKG_VERSION"),
            state.worker.shared.started.elapsed().as_secs(),
            state.worker.shared.workers.len(),
            gathered.processes.len()
        );
        for line in gathered.processes {
            report.push_str(&format!("{} {} {} {} s {}\n", line.id, line.user, line.command, line.seconds, line.state));
        }
        let engine = state.worker.shared.engine.status();
        report.push_str(&format!("\nENGINE\n{engine:#?}\n"));
        made.rows.push(texts(&["InnoDB", "", &report]));
    }
    Ok(made)
}

pub fn charsets() -> ResultSet {
    let columns = Columns::default().text("Charset", 64).text("Description", 2048).text("Default collation", 64).number("Maxlen");
    let mut made = result(columns);
    made.rows = charset::CHARSETS
        .iter()
        .map(|set| vec![text(set.name), text(set.description), text(set.collation), number(set.max_bytes)])
        .collect();
    made
}

pub fn collations() -> ResultSet {
    let columns = Columns::default()
        .text("Collation", 64)
        .text("Charset", 64)
        .number("Id")
        .text("Default", 3)
        .text("Compiled", 3)
        .number("Sortlen")
        .text("Pad_attribute", 9);
    let mut made = result(columns);
    made.rows = charset::COLLATIONS
        .iter()
        .map(|collation| {
            vec![
                text(collation.name),
                text(collation.charset),
                number(collation.id),
                text(if collation.is_default { "Yes" } else { "" }),
                text("Yes"),
                number(collation.sort_length),
                text(if collation.no_pad { "NO PAD" } else { "PAD SPACE" }),
            ]
        })
        .collect();
    made
}

pub fn grants(user: Option<&str>) -> Result<ResultSet> {
    if user.is_some_and(|user| user != "root") {
        let name = user.unwrap_or_default();
        return Err(Error::Other {
            number: 1141,
            message: format!("There is no such grant defined for user '{name}' on host '%'"),
        });
    }
    let mut made = result(Columns::default().text("Grants for root@localhost", 1024));
    made.rows.push(texts(&["GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION"]));
    Ok(made)
}

pub fn create_user(_state: &State) -> Result<ResultSet> {
    Err(Error::NotSupported("SHOW CREATE USER".to_owned()))
}

pub fn privileges() -> ResultSet {
    let mut made = empty(&["Privilege", "Context", "Comment"]);
    made.rows.push(texts(&["Super", "Server Admin", "The only account, root, may do everything"]));
    made
}

pub fn plugins() -> ResultSet {
    let columns =
        Columns::default().text("Name", 64).text("Status", 10).text("Type", 80).nullable_text("Library", 64).text("License", 80);
    let mut made = result(columns);
    for (name, kind) in
        [("mysql_native_password", "AUTHENTICATION"), ("caching_sha2_password", "AUTHENTICATION"), ("InnoDB", "STORAGE ENGINE")]
    {
        made.rows.push(vec![text(name), text("ACTIVE"), text(kind), Value::Null, text("Apache-2.0")]);
    }
    made
}
