//! The options of MySQL's server that are no system variables, or whose variable is a setting here.

use crate::size;

/// An option, with dashes in its name.
pub struct Row {
    pub name: &'static str,
    pub value: Value,
    pub does: Does,
}

/// Whether an option has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    None,
    Optional,
    Required,
}

/// What an option does.
#[derive(Clone, Copy)]
pub enum Does {
    /// It is a setting, whose text is made of the option's.
    Setting(&'static str, fn(&str) -> Result<String, String>),
    Special(Special),
    /// It may be given, and does nothing, for this reason.
    Ignored(&'static str),
    /// Whoever gives it relies on something that is not there.
    Refused(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    Help,
    Verbose,
    Version,
    Validate,
    Initialize,
    InitializeInsecure,
    InitFile,
    User,
    PidFile,
    SkipNetworking,
    LogError,
}

const fn setting(name: &'static str, key: &'static str, read: fn(&str) -> Result<String, String>) -> Row {
    Row { name, value: Value::Required, does: Does::Setting(key, read) }
}

const fn switch(name: &'static str, key: &'static str) -> Row {
    Row { name, value: Value::Optional, does: Does::Setting(key, on_or_off) }
}

const fn special(name: &'static str, value: Value, special: Special) -> Row {
    Row { name, value, does: Does::Special(special) }
}

const fn ignored(name: &'static str, value: Value, why: &'static str) -> Row {
    Row { name, value, does: Does::Ignored(why) }
}

const fn refused(name: &'static str, value: Value, why: &'static str) -> Row {
    Row { name, value, does: Does::Refused(why) }
}

const ONE_BINARY: &str = "there are no files beside the program";
const NO_BINLOG: &str = "the binary log has all databases";
const NO_PLUGINS: &str = "there are no plugins";
const NO_X: &str = "there is no X protocol";
const BOTH_HASHES: &str =
    "both kinds of passwords are always there, and new ones are caching_sha2_password unless an account says otherwise";
const NO_CHOICE: &str = "files are opened by the server alone";
const ALWAYS: &str = "what it looks at is always measured, at no cost worth a switch";

/// All of them.
#[rustfmt::skip]
pub const TABLE: &[Row] = &[
    special("help", Value::None, Special::Help),
    special("verbose", Value::None, Special::Verbose),
    special("version", Value::None, Special::Version),
    special("validate-config", Value::None, Special::Validate),
    special("initialize", Value::None, Special::Initialize),
    special("initialize-insecure", Value::None, Special::InitializeInsecure),
    special("init-file", Value::Required, Special::InitFile),
    special("user", Value::Required, Special::User),
    special("pid-file", Value::Required, Special::PidFile),
    special("skip-networking", Value::Optional, Special::SkipNetworking),
    setting("datadir", "data-dir", as_it_is),
    setting("socket", "socket", as_it_is),
    setting("port", "port", as_it_is),
    setting("bind-address", "bind", first_address),
    setting("admin-address", "admin-address", as_it_is),
    setting("admin-port", "admin-port", as_it_is),
    setting("innodb-buffer-pool-size", "buffer-pool", pool_size),
    setting("max-connections", "max-connections", as_it_is),
    setting("innodb-flush-log-at-trx-commit", "durability", durability),
    setting("event-scheduler", "event-scheduler", scheduler),
    setting("slow-query-log-file", "slow-query-log-file", as_it_is),
    setting("long-query-time", "long-query-time", as_it_is),
    setting("general-log-file", "general-log-file", as_it_is),
    setting("log-output", "log-output", as_it_is),
    setting("log-error-verbosity", "log-level", verbosity),
    switch("slow-query-log", "slow-query-log"),
    switch("general-log", "general-log"),
    switch("ssl", "tls"),
    special("log-error", Value::Optional, Special::LogError),
    ignored("basedir", Value::Required, ONE_BINARY),
    ignored("lc-messages-dir", Value::Required, ONE_BINARY),
    ignored("character-sets-dir", Value::Required, ONE_BINARY),
    ignored("plugin-dir", Value::Required, NO_PLUGINS),
    ignored("plugin-load", Value::Required, NO_PLUGINS),
    ignored("plugin-load-add", Value::Required, NO_PLUGINS),
    ignored("tmpdir", Value::Required, "temporary files are in the data directory"),
    ignored("innodb-tmpdir", Value::Required, "temporary files are in the data directory"),
    ignored("console", Value::None, "the log goes to standard error"),
    ignored("chroot", Value::Required, "a container or a unit of systemd does it better"),
    Row { name: "log-bin", value: Value::Optional, does: Does::Setting("log-bin", always_on) },
    Row { name: "disable-log-bin", value: Value::None, does: Does::Setting("log-bin", always_off) },
    Row { name: "skip-log-bin", value: Value::None, does: Does::Setting("log-bin", always_off) },
    ignored("log-bin-index", Value::Required, "the index is binlog.index in the data directory"),
    ignored("expire-logs-days", Value::Required, "binlog_expire_logs_seconds says it"),
    ignored("binlog-do-db", Value::Required, NO_BINLOG),
    ignored("binlog-ignore-db", Value::Required, NO_BINLOG),
    ignored("skip-slave-start", Value::Optional, "there is no replication"),
    ignored("skip-replica-start", Value::Optional, "there is no replication"),
    ignored("skip-host-cache", Value::None, "names of hosts are never looked up"),
    ignored("skip-name-resolve", Value::Optional, "names of hosts are never looked up"),
    ignored("symbolic-links", Value::Optional, NO_CHOICE),
    ignored("skip-symbolic-links", Value::None, NO_CHOICE),
    ignored("external-locking", Value::Optional, NO_CHOICE),
    ignored("skip-external-locking", Value::Optional, NO_CHOICE),
    ignored("open-files-limit", Value::Required, "the limit is raised as far as the system allows"),
    ignored("default-authentication-plugin", Value::Required, BOTH_HASHES),
    ignored("mysql-native-password", Value::Optional, BOTH_HASHES),
    ignored("character-set-client-handshake", Value::Optional, "a client's character set is obeyed"),
    ignored("skip-character-set-client-handshake", Value::None, "a client's character set is obeyed"),
    ignored("mysqlx", Value::Optional, NO_X),
    ignored("skip-mysqlx", Value::None, NO_X),
    ignored("mysqlx-port", Value::Required, NO_X),
    ignored("mysqlx-socket", Value::Required, NO_X),
    ignored("mysqlx-bind-address", Value::Required, NO_X),
    ignored("performance-schema-instrument", Value::Required, ALWAYS),
    ignored("upgrade", Value::Required, "a data directory of an older format is brought up at the start"),
    ignored("memlock", Value::Optional, "pages stay in memory as the system sees fit"),
    ignored("sysdate-is-now", Value::Optional, "SYSDATE() is the time of its call"),
    ignored("query-cache-size", Value::Required, "there is no query cache"),
    ignored("query-cache-type", Value::Required, "there is no query cache"),
    ignored("innodb-log-file-size", Value::Required, "the log has segments that make themselves"),
    ignored("innodb-log-files-in-group", Value::Required, "the log has segments that make themselves"),
    refused("daemonize", Value::Optional, "the server stays in the foreground: start it from systemd, or with '&'"),
    refused("skip-grant-tables", Value::Optional, "accounts are always checked: 'heddle init' makes a directory with a known password of root"),
    refused("bootstrap", Value::None, "'--initialize', or 'heddle init', makes a data directory"),
];

/// Variables whose value nobody may think to have set: names and safety depend on them.
pub const NEVER_IGNORED: &[&str] = &[
    "lower_case_table_names",
    "ssl_",
    "tls_",
    "admin_ssl_",
    "admin_tls_",
    "require_secure_transport",
    "default_table_encryption",
    "table_encryption_privilege_check",
    "binlog_encryption",
    "innodb_redo_log_encrypt",
    "innodb_undo_log_encrypt",
    "authentication_policy",
];

/// A switch by its mere name; MySQL's value is a base for names of files, which are always `binlog`.
fn always_on(_: &str) -> Result<String, String> {
    Ok("on".to_owned())
}

fn always_off(_: &str) -> Result<String, String> {
    Ok("off".to_owned())
}

fn as_it_is(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

pub fn is_on(text: &str) -> Result<bool, String> {
    match &*text.to_ascii_lowercase() {
        "" | "1" | "on" | "true" => Ok(true),
        "0" | "off" | "false" => Ok(false),
        _ => Err(format!("'{text}' is neither ON nor OFF")),
    }
}

fn on_or_off(text: &str) -> Result<String, String> {
    Ok(if is_on(text)? { "on" } else { "off" }.to_owned())
}

/// MySQL takes a list of addresses.
fn first_address(text: &str) -> Result<String, String> {
    match text {
        _ if text.contains(',') => Err(format!("'{text}' has more than one address: give one, or * for all")),
        "0.0.0.0" | "*" => Ok("0.0.0.0".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// MySQL's least pool is smaller than ours.
fn pool_size(text: &str) -> Result<String, String> {
    Ok(size::parse(text)?.max(crate::settings::BUFFER_POOL_BYTES_MIN).to_string())
}

fn durability(text: &str) -> Result<String, String> {
    match text {
        "1" => Ok("full".to_owned()),
        "0" | "2" => Ok("relaxed".to_owned()),
        _ => Err(format!("'{text}' is not one of 0, 1, 2")),
    }
}

fn scheduler(text: &str) -> Result<String, String> {
    if text.eq_ignore_ascii_case("disabled") { Ok("disabled".to_owned()) } else { on_or_off(text) }
}

fn verbosity(text: &str) -> Result<String, String> {
    match text {
        "1" => Ok("error".to_owned()),
        "2" => Ok("warn".to_owned()),
        "3" => Ok("info".to_owned()),
        _ => Err(format!("'{text}' is not one of 1, 2, 3")),
    }
}
