//! `heddle entrypoint`: what a container runs, by the conventions of the official MySQL image.
//!
//! 1. Arguments that begin with `mysqld` or with an option are those of [`crate::mysqld`]; another program is simply run.
//! 2. The variables are read, also those that name a file (`MYSQL_ROOT_PASSWORD_FILE`), which only root may be able to read.
//! 3. If root started the container, it goes on as the user `mysql` ([`user`]), with the passwords in its environment.
//! 4. An empty data directory is filled ([`first_start`]): accounts, a database, the files of `/docker-entrypoint-initdb.d`.
//! 5. The server starts. Its line `ready for connections` is what test containers wait for.
//!
//! The conventions: <https://hub.docker.com/_/mysql>, "Environment Variables".

use crate::first_start::{self, Directory, Plan};
use crate::init::read_password;
use crate::mysqld::{self, Options};
use crate::settings::INITDB_VARIABLE;
use crate::{serve, user};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

/// Names under which the program is an entrypoint.
pub const NAMES: &[&str] = &["docker-entrypoint.sh", "entrypoint.sh"];
const INITDB: &str = "/docker-entrypoint-initdb.d";
const USER: &str = "mysql";

/// Variables that may also be given as the name of a file.
const WITH_FILES: &[&str] = &["MYSQL_DATABASE", "MYSQL_USER", "MYSQL_PASSWORD", "MYSQL_ROOT_HOST", "MYSQL_ROOT_PASSWORD"];
/// Those that are on if they have any text.
const SWITCHES: &[&str] = &["MYSQL_ALLOW_EMPTY_PASSWORD", "MYSQL_RANDOM_ROOT_PASSWORD", "MYSQL_ONETIME_PASSWORD"];

type Variables = BTreeMap<String, String>;

/// Runs the entrypoint. `whole` are all arguments of the process, `arguments` those behind `entrypoint`.
pub fn run(whole: &[OsString], arguments: &[OsString]) -> Result<(), String> {
    let options = match arguments.split_first() {
        None => Options::read(&[])?,
        Some((first, rest)) if is_server(first) => Options::read(rest)?,
        Some((first, _)) if first.to_string_lossy().starts_with('-') => Options::read(arguments)?,
        Some((program, rest)) => {
            let error = std::process::Command::new(program).args(rest).exec();
            return Err(format!("cannot run {}: {error}", Path::new(program).display()));
        }
    };
    if options.only_speaks() {
        return options.speak();
    }
    if options.initialize.is_some() || options.validate {
        let arguments: Vec<OsString> = [OsString::from("mysqld")].into_iter().chain(rest_of(arguments).iter().cloned()).collect();
        return mysqld::run(&arguments);
    }
    let variables = read_variables(|name| std::env::var(name).ok())?;
    become_user(&options, whole, &variables)?;
    options.report();
    let mut settings = options.settings()?;
    let error_log = serve::start_log(&settings)?;
    if first_start::look(&settings.data_dir)? != Directory::Ready {
        let mut plan = plan_of(&variables)?;
        plan.files = files_of(&std::env::var_os(INITDB_VARIABLE).map_or_else(|| PathBuf::from(INITDB), PathBuf::from))?;
        plan.socket_link = serve::socket_path(&settings);
        let shown = plan.root_password.clone().filter(|_| is_on(&variables, "MYSQL_RANDOM_ROOT_PASSWORD"));
        let stop = exit_on_signals()?;
        tracing::info!("first start: making {}", settings.data_dir.display());
        first_start::make(&settings, &plan)?;
        stop.store(false, std::sync::atomic::Ordering::SeqCst);
        if let Some(password) = shown {
            crate::say::say(&format!("GENERATED ROOT PASSWORD: {password}\n"));
        }
        tracing::info!("first start: done");
    }
    settings.allows_open_root = is_on(&variables, "MYSQL_ALLOW_EMPTY_PASSWORD");
    serve::run_with_log(settings, error_log)
}

fn is_server(argument: &OsString) -> bool {
    Path::new(argument).file_name().is_some_and(|name| mysqld::NAMES.iter().any(|known| name == *known))
}

fn rest_of(arguments: &[OsString]) -> &[OsString] {
    match arguments.split_first() {
        Some((first, rest)) if is_server(first) => rest,
        _ => arguments,
    }
}

/// The first process of a container ignores signals that it does not catch: during the first start they end it, and the next start begins
/// anew. Until the value is false.
fn exit_on_signals() -> Result<std::sync::Arc<std::sync::atomic::AtomicBool>, String> {
    let wanted = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let registered = signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, wanted.clone());
        registered.map_err(|e| format!("cannot catch signals: {e}"))?;
    }
    Ok(wanted)
}

fn become_user(options: &Options, whole: &[OsString], variables: &Variables) -> Result<(), String> {
    if !user::is_root() {
        return Ok(());
    }
    let name = options.user.as_deref().unwrap_or(USER);
    match user::find(name) {
        _ if name == "root" => Ok(()),
        Some(found) => {
            let variables: Vec<(String, String)> = variables.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            user::become_user(&found, &options.owned(), whole, &variables)
        }
        None if options.user.is_some() => Err(format!("cannot find the user '{name}' in /etc/passwd")),
        None => {
            os::report(format_args!("there is no user '{name}': the server runs as root"));
            Ok(())
        }
    }
}

/// The variables, those from files among them. One that was read before the change of the user has both the text and the file's name.
fn read_variables(environment: impl Fn(&str) -> Option<String>) -> Result<Variables, String> {
    let mut variables = Variables::new();
    for name in WITH_FILES {
        let file_variable = format!("{name}_FILE");
        let given = environment(name).filter(|text| !text.is_empty());
        let file = environment(&file_variable).filter(|path| !path.is_empty());
        let value = match (given, file) {
            (Some(text), Some(file)) => match read_password(Path::new(&file)) {
                Ok(other) if other != text => return Err(format!("both {name} and {file_variable} are set: give one of them")),
                _ => Some(text),
            },
            (Some(text), None) => Some(text),
            (None, Some(file)) => Some(read_password(Path::new(&file)).map_err(|why| format!("{file_variable}: {why}"))?),
            (None, None) => None,
        };
        variables.extend(value.map(|value| ((*name).to_owned(), value)));
    }
    for name in SWITCHES {
        variables.extend(environment(name).filter(|text| !text.is_empty()).map(|text| ((*name).to_owned(), text)));
    }
    Ok(variables)
}

fn is_on(variables: &Variables, name: &str) -> bool {
    variables.contains_key(name)
}

/// What the variables ask for.
fn plan_of(variables: &Variables) -> Result<Plan, String> {
    let of = |name: &str| variables.get(name).cloned();
    let root_password = match (is_on(variables, "MYSQL_RANDOM_ROOT_PASSWORD"), of("MYSQL_ROOT_PASSWORD")) {
        (true, _) => Some(first_start::random_password()),
        (false, Some(password)) => Some(password),
        (false, None) if is_on(variables, "MYSQL_ALLOW_EMPTY_PASSWORD") => None,
        (false, None) => {
            return Err("the database is not initialized, and no password option is specified: set one of the variables \
                        MYSQL_ROOT_PASSWORD, MYSQL_ALLOW_EMPTY_PASSWORD, MYSQL_RANDOM_ROOT_PASSWORD"
                .to_owned());
        }
    };
    let user = match (of("MYSQL_USER"), of("MYSQL_PASSWORD")) {
        (Some(user), _) if user == "root" => {
            return Err(
                "MYSQL_USER is root, whose password is MYSQL_ROOT_PASSWORD: leave MYSQL_USER and MYSQL_PASSWORD out".to_owned()
            );
        }
        (Some(user), Some(password)) => Some((user, password)),
        (Some(user), None) => {
            tracing::warn!("MYSQL_USER is set, and MYSQL_PASSWORD is not: the user {user} is not made");
            None
        }
        (None, Some(_)) => {
            tracing::warn!("MYSQL_PASSWORD is set, and MYSQL_USER is not: no user is made");
            None
        }
        (None, None) => None,
    };
    // The programs of the first start may log in as root.
    let mut environment: Vec<(String, String)> = variables.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    environment.retain(|(name, _)| name != "MYSQL_ROOT_PASSWORD");
    environment.extend(root_password.clone().map(|password| ("MYSQL_ROOT_PASSWORD".to_owned(), password)));
    Ok(Plan {
        root_password,
        root_expires: is_on(variables, "MYSQL_ONETIME_PASSWORD"),
        root_host: Some(of("MYSQL_ROOT_HOST").unwrap_or_else(|| "%".to_owned())),
        database: of("MYSQL_DATABASE"),
        user,
        environment,
        says_ready: true,
        ..Plan::default()
    })
}

/// The files of a directory, by name; none if it is not there.
fn files_of(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let cannot = |e: std::io::Error| format!("cannot read {}: {e}", directory.display());
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(cannot(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(cannot)?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !is_hidden && !path.is_dir() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Result<Variables, String> {
        read_variables(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned()))
    }

    fn plan(pairs: &[(&str, &str)]) -> Result<Plan, String> {
        plan_of(&variables(pairs)?)
    }

    #[test]
    fn one_of_three_passwords_is_needed() {
        let why = plan(&[("MYSQL_DATABASE", "shop")]).err().unwrap();
        for name in ["MYSQL_ROOT_PASSWORD", "MYSQL_ALLOW_EMPTY_PASSWORD", "MYSQL_RANDOM_ROOT_PASSWORD"] {
            assert!(why.contains(name), "{why}");
        }
        assert!(plan(&[("MYSQL_ROOT_PASSWORD", "")]).is_err());
        assert_eq!(plan(&[("MYSQL_ROOT_PASSWORD", "x")]).unwrap().root_password.as_deref(), Some("x"));
        assert_eq!(plan(&[("MYSQL_ALLOW_EMPTY_PASSWORD", "yes")]).unwrap().root_password, None);
        assert_eq!(plan(&[("MYSQL_RANDOM_ROOT_PASSWORD", "1")]).unwrap().root_password.map(|password| password.len()), Some(24));
    }

    #[test]
    fn accounts_and_databases() {
        let root = ("MYSQL_ROOT_PASSWORD", "r");
        let made = plan(&[
            root,
            ("MYSQL_DATABASE", "shop"),
            ("MYSQL_USER", "app"),
            ("MYSQL_PASSWORD", "p"),
            ("MYSQL_ROOT_HOST", "10.%"),
        ])
        .unwrap();
        assert_eq!((made.database.as_deref(), made.root_host.as_deref()), (Some("shop"), Some("10.%")));
        assert_eq!(made.user, Some(("app".to_owned(), "p".to_owned())));
        assert_eq!(plan(&[root]).unwrap().root_host.as_deref(), Some("%"));
        assert_eq!(plan(&[root, ("MYSQL_USER", "app")]).unwrap().user, None);
        assert!(plan(&[root, ("MYSQL_USER", "root"), ("MYSQL_PASSWORD", "p")]).err().unwrap().contains("MYSQL_USER is root"));
    }

    #[test]
    fn variables_from_files() {
        let path = std::env::temp_dir().join(format!("heddle-container-{}", std::process::id()));
        std::fs::write(&path, "from a file\n").unwrap();
        let file = path.to_str().unwrap();
        assert_eq!(variables(&[("MYSQL_ROOT_PASSWORD_FILE", file)]).unwrap()["MYSQL_ROOT_PASSWORD"], "from a file");
        let both = variables(&[("MYSQL_ROOT_PASSWORD", "x"), ("MYSQL_ROOT_PASSWORD_FILE", file)]);
        assert_eq!(both.unwrap_err(), "both MYSQL_ROOT_PASSWORD and MYSQL_ROOT_PASSWORD_FILE are set: give one of them");
        std::fs::remove_file(&path).unwrap();
        assert!(
            variables(&[("MYSQL_PASSWORD_FILE", file)]).unwrap_err().starts_with("MYSQL_PASSWORD_FILE: cannot read a password")
        );
    }
}
