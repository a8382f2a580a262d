//! The first start of a data directory with its accounts: nobody ever sees a server without them.
//!
//! ```text
//! DIR/heddle.first-start/        the data directory in the making, mode 0700, with the only socket of its server
//! DIR/heddle.first-start.done/   the same, complete: its files move up to DIR
//! ```
//! 1. The server starts on `heddle.first-start`, without TCP, with one socket that nobody else can reach.
//! 2. The accounts and the database are made, then the files are run, then the server stops in good order.
//! 3. The directory is renamed to `heddle.first-start.done`. From here on the result counts.
//! 4. Its files move to DIR, `heddle.control` as the last one, without which no server takes DIR for a data directory.
//!
//! F1: an interruption before step 3 leaves nothing that is served: [`settle`] refuses the directory, and the next [`make`] begins anew.
//! F2: an interruption after it loses nothing: [`settle`] completes step 4.
//! F3: no password is in the arguments of a process, nor in the log; a random one is printed once by who asked for it.

mod files;
pub mod script;

pub use files::{Directory, PrivateSocket, look, private_socket, settle};

use crate::serve;
use crate::settings::{Settings, Socket};
use mysql::prelude::Queryable;
use server::ServerHandle;
use std::path::{Path, PathBuf};

/// What is to be made.
#[derive(Clone, Default)]
pub struct Plan {
    /// The password of every root; `None`: none.
    pub root_password: Option<String>,
    /// Whether root's password has to be changed at the first login.
    pub root_expires: bool,
    /// Where else than on this machine root may log in.
    pub root_host: Option<String>,
    pub database: Option<String>,
    /// A user with all rights on the database, and its password.
    pub user: Option<(String, String)>,
    /// Files and programs, in this order, with the database chosen.
    pub files: Vec<PathBuf>,
    /// Variables for the programs among them.
    pub environment: Vec<(String, String)>,
    /// Where clients expect the socket while programs run; a link to the private one.
    pub socket_link: Option<PathBuf>,
    /// Say that the server is ready for connections, as the official image says of its temporary server.
    pub says_ready: bool,
}

/// Makes the data directory of the settings.
///
/// # Errors
/// A line for the person who starts it; the directory has no data then.
pub fn make(settings: &Settings, plan: &Plan) -> Result<(), String> {
    let dir = &settings.data_dir;
    files::create_private(dir)?;
    let _lock = files::lock(dir)?;
    match look(dir)? {
        Directory::Ready => return Err(format!("{} has data already: nothing is changed", dir.display())),
        Directory::Complete => return files::move_up(dir),
        Directory::Interrupted => {
            tracing::warn!("an earlier first start of {} was interrupted: it begins anew", dir.display());
            files::discard(dir)?;
        }
        Directory::Empty => {}
    }
    let staging = files::begin(dir)?;
    let result = build(settings, plan, &staging);
    if let Err(why) = result {
        files::discard(dir)?;
        return Err(why);
    }
    files::complete(dir)?;
    files::move_up(dir)
}

/// Steps 1 and 2.
fn build(settings: &Settings, plan: &Plan, staging: &Path) -> Result<(), String> {
    let socket = files::private_socket(staging)?;
    let settings = Settings {
        data_dir: staging.to_owned(),
        socket: Socket::Path(socket.path.clone()),
        tcp: false,
        admin_address: None,
        event_scheduler: server::EventScheduler::Off,
        logs: server::LogSettings::default(),
        ..settings.clone()
    };
    let engine = serve::open_engine(&settings)?;
    let started = serve::start_server(&settings, settings.connections_max, &engine, None);
    let result = started.and_then(|handle| {
        let result = fill(plan, &socket.path);
        stop(handle);
        result
    });
    let closed = engine.shutdown().map_err(|error| format!("while stopping: {}", serve::text_of(&error)));
    result.and(closed)
}

fn stop(handle: ServerHandle) {
    handle.stop();
    handle.wait();
}

/// Makes accounts and database, and runs the files.
fn fill(plan: &Plan, socket: &Path) -> Result<(), String> {
    let mut root = connect(socket, None, None)?;
    for statement in statements(plan) {
        // The statement may have a password: only its kind is said.
        root.query_drop(&statement.text).map_err(|error| format!("cannot {}: {}", statement.purpose, error_text(&error)))?;
    }
    drop(root);
    if plan.files.is_empty() {
        return expire(plan, socket);
    }
    if plan.says_ready {
        tracing::info!("{}", serve::ready_line(Some(socket), 0));
    }
    let _link = plan.socket_link.as_deref().and_then(|link| files::Link::new(socket, link));
    for file in &plan.files {
        run(file, plan, socket)?;
    }
    expire(plan, socket)
}

/// Last, since an expired password allows nothing but its change.
fn expire(plan: &Plan, socket: &Path) -> Result<(), String> {
    if !plan.root_expires {
        return Ok(());
    }
    let mut root = connect(socket, plan.root_password.as_deref(), None)?;
    let others = plan.root_host.iter().filter(|host| !is_local(host)).map(|host| account("root", host));
    let accounts: Vec<String> = [account("root", "localhost")].into_iter().chain(others).collect();
    let statement =
        format!("ALTER USER {} PASSWORD EXPIRE", accounts.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", "));
    root.query_drop(statement).map_err(|error| format!("cannot let root's password expire: {}", error_text(&error)))
}

/// A statement, and what it is for.
struct Step {
    text: String,
    purpose: String,
}

fn statements(plan: &Plan) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut step = |text: String, purpose: String| steps.push(Step { text, purpose });
    if let Some(password) = &plan.root_password {
        step(format!("ALTER USER 'root'@'localhost' IDENTIFIED BY {}", literal(password)), "set the password of root".to_owned());
    }
    if let Some(host) = plan.root_host.as_ref().filter(|host| !is_local(host)) {
        let (root, password) = (account("root", host), literal(plan.root_password.as_deref().unwrap_or_default()));
        step(format!("CREATE USER {root} IDENTIFIED BY {password}"), format!("make {root}"));
        step(format!("GRANT ALL ON *.* TO {root} WITH GRANT OPTION"), format!("grant rights to {root}"));
    }
    if let Some(database) = &plan.database {
        step(format!("CREATE DATABASE IF NOT EXISTS {}", name(database)), format!("make the database {}", name(database)));
    }
    if let Some((user, password)) = &plan.user {
        let user = account(user, "%");
        step(format!("CREATE USER {user} IDENTIFIED BY {}", literal(password)), format!("make {user}"));
        if let Some(database) = &plan.database {
            // In the name of a grant, _ and % stand for other characters.
            let pattern = name(&database.replace('_', "\\_").replace('%', "\\%"));
            step(format!("GRANT ALL ON {pattern}.* TO {user}"), format!("grant rights to {user}"));
        }
    }
    steps
}

fn is_local(host: &str) -> bool {
    host.is_empty() || host == "localhost"
}

/// A string of SQL.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

fn account(user: &str, host: &str) -> String {
    format!("{}@{}", literal(user), literal(host))
}

/// A name of SQL.
fn name(text: &str) -> String {
    format!("`{}`", text.replace('`', "``"))
}

fn connect(socket: &Path, password: Option<&str>, database: Option<&str>) -> Result<mysql::Conn, String> {
    let options = mysql::OptsBuilder::new()
        .user(Some("root"))
        .pass(password)
        .db_name(database)
        .socket(Some(socket.to_string_lossy()))
        .prefer_socket(false)
        .local_infile_handler(None);
    mysql::Conn::new(options).map_err(|error| format!("cannot connect to the server of the first start: {}", error_text(&error)))
}

fn error_text(error: &mysql::Error) -> String {
    match error {
        mysql::Error::MySqlError(error) => format!("ERROR {} ({}): {}", error.code, error.state, error.message),
        other => other.to_string(),
    }
}

/// Runs one file by the end of its name, as the official image does.
fn run(file: &Path, plan: &Plan, socket: &Path) -> Result<(), String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is = |end: &str| name.ends_with(end);
    if is(".sh") {
        tracing::info!("first start: running {}", file.display());
        return files::run_program(file, &program_environment(plan, socket));
    }
    if ![".sql", ".sql.gz", ".sql.xz", ".sql.zst"].into_iter().any(is) {
        tracing::warn!(
            "first start: ignoring {}: it ends neither in .sql, .sql.gz, .sql.xz or .sql.zst, nor in .sh",
            file.display()
        );
        return Ok(());
    }
    tracing::info!("first start: running {}", file.display());
    let place = |why: String| format!("{}: {why}", file.display());
    let input = files::open_sql(file).map_err(place)?;
    let mut connection = connect(socket, plan.root_password.as_deref(), plan.database.as_deref())?;
    for statement in script::Statements::new(input) {
        let statement = statement.map_err(place)?;
        let at = |why: String| format!("{}, line {}: {why}", file.display(), statement.line);
        let text = std::str::from_utf8(&statement.text)
            .map_err(|_| at("the statement is not UTF-8 (dump binary columns with --hex-blob)".to_owned()))?;
        connection.query_drop(text).map_err(|error| at(error_text(&error)))?;
    }
    Ok(())
}

/// Variables by which the clients of a program find this server, beside those of the plan.
fn program_environment(plan: &Plan, socket: &Path) -> Vec<(String, String)> {
    let own = [("MYSQL_UNIX_PORT".to_owned(), socket.display().to_string())];
    plan.environment.iter().cloned().chain(own).collect()
}

/// A password that nobody can guess: 24 of 62 letters and digits, 142 bits.
pub fn random_password() -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    (0..24).map(|_| char::from(SIGNS[os::random_below(SIGNS.len())])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_passwords_are_quoted() {
        let plan = Plan {
            root_password: Some("it's \\ here".to_owned()),
            root_host: Some("%".to_owned()),
            database: Some("my`shop_1".to_owned()),
            user: Some(("o'neil".to_owned(), String::new())),
            ..Plan::default()
        };
        let texts: Vec<String> = statements(&plan).into_iter().map(|step| step.text).collect();
        let expected = [
            "ALTER USER 'root'@'localhost' IDENTIFIED BY 'it''s \\\\ here'",
            "CREATE USER 'root'@'%' IDENTIFIED BY 'it''s \\\\ here'",
            "GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION",
            "CREATE DATABASE IF NOT EXISTS `my``shop_1`",
            "CREATE USER 'o''neil'@'%' IDENTIFIED BY ''",
            "GRANT ALL ON `my``shop\\_1`.* TO 'o''neil'@'%'",
        ];
        assert_eq!(texts, expected);
        assert!(statements(&plan).iter().all(|step| !step.purpose.contains("here")), "no password is said");
        assert!(statements(&Plan::default()).is_empty());
    }

    #[test]
    fn passwords_are_random() {
        let [one, two] = [random_password(), random_password()];
        assert_eq!((one.len(), two.len()), (24, 24));
        assert_ne!(one, two);
    }
}
