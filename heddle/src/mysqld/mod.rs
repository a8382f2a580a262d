//! The program called as `mysqld`: MySQL's options instead of Heddle's, for images, charts and scripts that start MySQL.
//!
//! 1. Options come from option files ([`option_file`]), then from the command line; a later one beats an earlier one.
//! 2. An option is a row of [`table`], or the name of a global system variable, which is set at the start as by SET GLOBAL.
//! 3. What is ignored is said on standard error, each with the reason. What is not known is an error, as in MySQL; `--loose-NAME` makes it a
//!    warning.
//! 4. `--initialize` makes a data directory and ends; otherwise the server starts.
//!
//! M1: an option on which names or safety depend is never ignored ([`table::NEVER_IGNORED`]).

pub mod option_file;
mod table;

use crate::cli::ServeFlags;
use crate::first_start::{self, Plan};
use crate::say::say;
use crate::settings::Settings;
use crate::{serve, user};
use server::given::{self, Given};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use table::{Does, Row, Special, Value};

/// Names under which the program is a MySQL server.
pub const NAMES: &[&str] = &["mysqld", "mariadbd"];
const OPTION_FILES: &[&str] = &["/etc/my.cnf", "/etc/mysql/my.cnf"];
const DATA_DIR: &str = "/var/lib/mysql";
const SOCKET: &str = "/var/run/mysqld/mysqld.sock";

/// What was asked for.
#[derive(Debug, Default)]
pub struct Options {
    pub flags: ServeFlags,
    pub variables: Vec<(String, String)>,
    pub pid_file: Option<PathBuf>,
    pub user: Option<String>,
    /// Make a data directory: with a random password of root, or with none.
    pub initialize: Option<Initialize>,
    pub init_file: Option<PathBuf>,
    pub help: bool,
    pub version: bool,
    pub validate: bool,
    /// What is ignored, for people.
    pub ignored: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initialize {
    RandomPassword,
    NoPassword,
}

/// Runs the program as `mysqld`. The first argument is its name.
pub fn run(arguments: &[OsString]) -> Result<(), String> {
    let options = Options::read(&arguments[1.min(arguments.len())..])?;
    if options.only_speaks() {
        return options.speak();
    }
    become_user(&options, arguments)?;
    options.report();
    let settings = options.settings()?;
    if options.validate {
        return Ok(());
    }
    let error_log = serve::start_log(&settings)?;
    match options.initialize {
        Some(kind) => initialize(&settings, &options, kind),
        None => serve::run_with_log(settings, error_log),
    }
}

/// Goes on as the user of `--user`, if root started the program.
fn become_user(options: &Options, arguments: &[OsString]) -> Result<(), String> {
    match (&options.user, user::is_root()) {
        (Some(name), true) if name != "root" => {
            let found = user::find(name).ok_or_else(|| format!("cannot find the user '{name}' in /etc/passwd"))?;
            user::become_user(&found, &options.owned(), arguments, &[])
        }
        (Some(_), _) => Ok(()),
        (None, true) => {
            os::report(format_args!("the server runs as root: give --user=NAME"));
            Ok(())
        }
        (None, false) => Ok(()),
    }
}

fn initialize(settings: &Settings, options: &Options, kind: Initialize) -> Result<(), String> {
    let password = (kind == Initialize::RandomPassword).then(first_start::random_password);
    let plan = Plan {
        root_password: password.clone(),
        root_expires: password.is_some(),
        files: options.init_file.iter().cloned().collect(),
        ..Plan::default()
    };
    first_start::make(settings, &plan)?;
    if let Some(password) = password {
        os::report(format_args!("A temporary password is generated for root@localhost: {password}"));
    }
    Ok(())
}

/// An option with what was given for it.
struct GivenOption<'a> {
    /// With dashes.
    name: &'a str,
    value: Option<&'a str>,
    /// `--name`, or its place in a file.
    origin: String,
}

impl Options {
    /// Reads option files and arguments.
    pub fn read(arguments: &[OsString]) -> Result<Self, String> {
        let text = |argument: &OsString| argument.to_str().map(str::to_owned).ok_or_else(|| format!("{argument:?} is not UTF-8"));
        let arguments: Vec<String> = arguments.iter().map(text).collect::<Result<_, _>>()?;
        let mut options = Self::default();
        let files = Files::of(&arguments);
        for (path, must_exist) in &files.paths {
            if !must_exist && !path.exists() {
                continue;
            }
            for entry in option_file::read(path, &files.suffix, &mut options.ignored)? {
                let name = entry.name.replace('_', "-").to_ascii_lowercase();
                options.take(&GivenOption { name: &name, value: entry.value.as_deref(), origin: entry.origin })?;
            }
        }
        options.arguments(&arguments)?;
        Ok(options)
    }

    fn arguments(&mut self, arguments: &[String]) -> Result<(), String> {
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let Some(long) = argument.strip_prefix("--") else {
                let (name, value) = short(argument)?;
                let wants = row(name).is_some_and(|row| row.value == Value::Required) && value.is_none();
                let value = if wants { rest.next().map(String::as_str) } else { value };
                self.take(&GivenOption { name, value, origin: argument.clone() })?;
                continue;
            };
            if Files::NAMES.iter().any(|name| long.split('=').next() == Some(name)) {
                if !long.contains('=') && !Files::SWITCHES.contains(&long) {
                    rest.next();
                }
                continue;
            }
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let name = name.replace('_', "-").to_ascii_lowercase();
            let value = match value {
                None if wants_value(&name) => rest.next().map(String::as_str),
                value => value,
            };
            self.take(&GivenOption { name: &name, value, origin: format!("--{name}") })?;
        }
        Ok(())
    }

    /// Takes one option.
    fn take(&mut self, given: &GivenOption<'_>) -> Result<(), String> {
        if let Some(name) = given.name.strip_prefix("loose-") {
            if let Err(why) = self.take(&GivenOption { name, value: given.value, origin: given.origin.clone() }) {
                self.ignored.push(why);
            }
            return Ok(());
        }
        let wrong = |why: String| format!("{}: {why}", given.origin);
        if let Some(row) = row(given.name) {
            if row.value == Value::Required && given.value.is_none() {
                return Err(wrong(format!("the option '{}' needs a value", given.name)));
            }
            return self.take_row(row, given.value.unwrap_or_default(), given).map_err(wrong);
        }
        let off = ["skip-", "disable-"].into_iter().find_map(|prefix| given.name.strip_prefix(prefix));
        let on = given.name.strip_prefix("enable-");
        let (name, value) = match (off, on) {
            (Some(name), _) if is_switch(name) => (name, Some("OFF")),
            (_, Some(name)) if is_switch(name) => (name, Some("ON")),
            _ => (given.name, given.value),
        };
        if let Some(row) = row(name).filter(|_| name != given.name) {
            return self.take_row(row, value.unwrap_or_default(), given).map_err(wrong);
        }
        self.take_variable(name, value, given)
    }

    fn take_row(&mut self, row: &Row, text: &str, given: &GivenOption<'_>) -> Result<(), String> {
        match row.does {
            Does::Setting("data-dir", read) => self.flags.data_dir = Some(read(text)?),
            Does::Setting(key, read) => {
                let value = read(text)?;
                *self.flags.slot(key).ok_or_else(|| format!("there is no setting {key}"))? = Some(value);
            }
            Does::Ignored(why) => self.ignore(&given.origin, given.name, why),
            Does::Refused(why) => {
                if table::is_on(text).unwrap_or(true) {
                    return Err(format!("'{}' is not supported: {why}", row.name));
                }
            }
            Does::Special(special) => self.take_special(special, text, given)?,
        }
        Ok(())
    }

    fn take_special(&mut self, special: Special, text: &str, given: &GivenOption<'_>) -> Result<(), String> {
        match special {
            Special::Help => self.help = true,
            Special::Verbose => {}
            Special::Version => self.version = true,
            Special::Validate => self.validate = true,
            Special::Initialize => self.initialize = self.initialize.or(Some(Initialize::RandomPassword)),
            Special::InitializeInsecure => self.initialize = Some(Initialize::NoPassword),
            Special::InitFile => self.init_file = Some(text.into()),
            Special::User => self.user = Some(text.to_owned()),
            Special::PidFile => self.pid_file = Some(text.into()),
            // Without a file MySQL makes one by the name of the machine.
            Special::LogError if text.is_empty() => {
                self.ignore(&given.origin, given.name, "without a file, the log goes to standard error")
            }
            Special::LogError if text == "stderr" => {}
            Special::LogError => self.flags.log_error = Some(text.to_owned()),
            Special::SkipNetworking => {
                let off = table::is_on(text)?;
                self.flags.tcp = Some(if off { "off" } else { "on" }.to_owned());
            }
        }
        Ok(())
    }

    fn take_variable(&mut self, name: &str, value: Option<&str>, given: &GivenOption<'_>) -> Result<(), String> {
        let variable = variable_of(name);
        let text = match (value, given::is_switch(&variable)) {
            (Some(value), _) => value,
            (None, Some(true)) => "ON",
            (None, Some(false)) => return Err(format!("{}: the option '{name}' needs a value", given.origin)),
            (None, None) => return Err(unknown(given, "option", given.name)),
        };
        match given::judge(&variable, text) {
            Given::Set => {}
            Given::Nothing(why) => self.ignore(&given.origin, name, why),
            Given::Only(only) if table::NEVER_IGNORED.iter().any(|prefix| variable.starts_with(prefix)) => {
                return Err(format!("{}: {name}={text} is not supported: it is '{only}' here", given.origin));
            }
            Given::Only(only) => {
                self.ignore(&given.origin, name, &format!("it is '{only}' here"));
                return Ok(());
            }
            Given::Wrong => return Err(format!("{}: '{text}' is no value of {name}", given.origin)),
            Given::Unknown => return Err(unknown(given, "variable", &format!("{}={text}", given.name))),
        }
        self.variables.push((variable, text.to_owned()));
        Ok(())
    }

    fn ignore(&mut self, origin: &str, name: &str, why: &str) {
        let place = if origin.starts_with('-') { String::new() } else { format!("{origin}: ") };
        self.ignored.push(format!("{place}'{name}' is ignored: {why}"));
    }

    /// Help or version is asked for.
    pub fn only_speaks(&self) -> bool {
        self.help || self.version
    }

    /// Prints version or help, in the form that scripts take apart: `name value`, in columns.
    pub fn speak(&self) -> Result<(), String> {
        say(&format!("mysqld  Ver {} for {} on {} (Heddle)\n", server::VERSION, std::env::consts::OS, std::env::consts::ARCH));
        if !self.help {
            return Ok(());
        }
        let settings = self.settings()?;
        let path = |path: Option<&Path>| path.map(|path| path.display().to_string()).unwrap_or_default();
        let mut rows = vec![
            ("bind-address".to_owned(), settings.bind.to_string()),
            ("datadir".to_owned(), format!("{}/", settings.data_dir.display())),
            ("innodb-buffer-pool-size".to_owned(), settings.buffer_pool_bytes.to_string()),
            ("max-connections".to_owned(), settings.connections_max.to_string()),
            ("pid-file".to_owned(), path(settings.pid_file.as_deref())),
            ("port".to_owned(), settings.port.to_string()),
            ("secure-file-priv".to_owned(), path(settings.secure_file_priv.as_deref())),
            ("skip-networking".to_owned(), if settings.tcp { "FALSE" } else { "TRUE" }.to_owned()),
            ("socket".to_owned(), path(serve::socket_path(&settings).as_deref())),
        ];
        rows.extend(settings.variables.iter().map(|(name, value)| (name.replace('_', "-"), value.clone())));
        rows.sort();
        let mut text = "Heddle, called as mysqld. What it takes of MySQL's options is in docs/INSTALL.md.\n\nUsage: mysqld [OPTIONS]\n\n\
                        Variables (--variable-name=value)\nand boolean options {FALSE|TRUE}                             Value (after reading options)\n\
                        ------------------------------------------------------------ -------------\n"
            .to_owned();
        for (name, value) in rows {
            let value = if value.is_empty() { "(No default value)" } else { &value };
            text.push_str(&format!("{name:60} {value}\n"));
        }
        say(&text);
        Ok(())
    }

    /// Says what is ignored.
    pub fn report(&self) {
        for line in &self.ignored {
            os::report(format_args!("{line}"));
        }
        if self.init_file.is_some() && self.initialize.is_none() {
            os::report(format_args!("'init-file' is ignored: it is run with --initialize only"));
        }
    }

    /// The data directory, and where the socket is, if that is MySQL's place.
    pub fn owned(&self) -> Vec<PathBuf> {
        let data = self.flags.data_dir.clone().unwrap_or_else(|| DATA_DIR.to_owned());
        let socket = self.flags.socket.as_deref().unwrap_or(SOCKET);
        let directory = Path::new(socket).parent().filter(|_| socket == SOCKET).filter(|directory| directory.exists());
        [PathBuf::from(data)].into_iter().chain(directory.map(Path::to_owned)).collect()
    }

    /// The settings, with MySQL's places and addresses where neither options nor the environment say otherwise.
    pub fn settings(&self) -> Result<Settings, String> {
        let mut flags = self.flags.clone();
        let mut default = |key: &str, value: &str| {
            let variable = format!("HEDDLE_{}", key.replace('-', "_").to_uppercase());
            let slot = flags.slot(key).expect("it is a setting");
            if slot.is_none() && std::env::var_os(variable).is_none() && std::env::var_os("HEDDLE_CONFIG").is_none() {
                *slot = Some(value.to_owned());
            }
        };
        default("data-dir", DATA_DIR);
        default("bind", "0.0.0.0");
        if Path::new(SOCKET).parent().is_some_and(Path::exists) {
            default("socket", SOCKET);
        }
        let mut settings = Settings::load(&flags).map_err(|e| e.to_string())?;
        settings.variables.clone_from(&self.variables);
        settings.pid_file.clone_from(&self.pid_file);
        Ok(settings)
    }
}

fn unknown(given: &GivenOption<'_>, kind: &str, what: &str) -> String {
    match given.origin.starts_with('-') {
        true if kind == "option" => format!("unknown option '--{what}'"),
        true => format!("unknown variable '{what}'"),
        false => format!("{}: unknown {kind} '{what}'", given.origin),
    }
}

fn row(name: &str) -> Option<&'static Row> {
    table::TABLE.iter().find(|row| row.name == name)
}

/// An option without a value that `--skip-NAME` may turn off.
fn is_switch(name: &str) -> bool {
    match row(name) {
        Some(row) => row.value == Value::Optional,
        None => given::is_switch(&variable_of(name)) == Some(true),
    }
}

/// Whether the next argument is the option's value.
fn wants_value(name: &str) -> bool {
    let name = name.strip_prefix("loose-").unwrap_or(name);
    match row(name) {
        Some(row) => row.value == Value::Required,
        None => given::is_switch(&variable_of(name)) == Some(false),
    }
}

/// The variable of an option; some have another name.
fn variable_of(name: &str) -> String {
    match name {
        "default-time-zone" => "time_zone".to_owned(),
        "tz" => "time_zone".to_owned(),
        _ => name.replace('-', "_"),
    }
}

/// An option of one letter.
fn short(argument: &str) -> Result<(&'static str, Option<&str>), String> {
    let names = [
        ('u', "user"),
        ('h', "datadir"),
        ('b', "basedir"),
        ('P', "port"),
        ('V', "version"),
        ('v', "verbose"),
        ('?', "help"),
        ('I', "help"),
        ('D', "daemonize"),
        ('C', "character-set-server"),
        ('t', "tmpdir"),
    ];
    let unknown = || format!("unknown argument '{argument}'");
    let mut signs = argument.strip_prefix('-').ok_or_else(unknown)?.chars();
    let letter = signs.next().ok_or_else(unknown)?;
    let (_, name) = names.into_iter().find(|(sign, _)| *sign == letter).ok_or_else(unknown)?;
    let rest = signs.as_str();
    Ok((name, (!rest.is_empty()).then_some(rest)))
}

/// Which option files are read.
struct Files {
    /// With whether they must exist.
    paths: Vec<(PathBuf, bool)>,
    suffix: String,
}

impl Files {
    const NAMES: &[&str] = &[
        "defaults-file",
        "defaults-extra-file",
        "defaults-group-suffix",
        "no-defaults",
        "print-defaults",
        "no-login-paths",
        "login-path",
    ];
    const SWITCHES: &[&str] = &["no-defaults", "print-defaults", "no-login-paths"];

    fn of(arguments: &[String]) -> Self {
        let value = |name: &str| {
            let mut rest = arguments.iter();
            while let Some(argument) = rest.next() {
                let Some(long) = argument.strip_prefix("--") else { continue };
                match long.split_once('=') {
                    Some((found, value)) if found == name => return Some(value.to_owned()),
                    None if long == name => return rest.next().cloned(),
                    _ => {}
                }
            }
            None
        };
        let suffix = value("defaults-group-suffix").unwrap_or_default();
        let mut paths: Vec<(PathBuf, bool)> = match value("defaults-file") {
            Some(file) => vec![(file.into(), true)],
            None if arguments.iter().any(|argument| argument == "--no-defaults") => Vec::new(),
            None => OPTION_FILES.iter().map(|path| (path.into(), false)).collect(),
        };
        paths.extend(value("defaults-extra-file").map(|file| (file.into(), true)));
        Self { paths, suffix }
    }
}

#[cfg(test)]
mod tests;
