//! The two servers of a move, as a client sees them.

use crate::error::{Error, Result};
use client::Tls;
use mysql::prelude::{FromRow, Queryable};
use mysql::{Conn, Opts, OptsBuilder};
use std::time::Duration;

/// Definitions and long chunks may take this long to answer.
const PATIENCE: Duration = Duration::from_secs(3600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Source,
    Target,
}

/// One of the servers.
pub struct End {
    role: Role,
    opts: Opts,
    tls: Tls,
    /// What is written there is in its binary log.
    is_logged: bool,
}

/// What a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    pub version: String,
    /// Major and minor number.
    pub number: (u32, u32),
    pub is_heddle: bool,
    pub is_mariadb: bool,
}

impl Product {
    fn new(version: String, comment: &str) -> Self {
        let mut parts = version.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
        let number = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
        let is_mariadb = version.to_ascii_lowercase().contains("mariadb");
        Self { number, is_heddle: comment.contains("Heddle"), is_mariadb, version }
    }

    /// Does the server say REPLICA and SOURCE where older ones say SLAVE and MASTER?
    pub fn has_new_words(&self) -> bool {
        self.number >= (8, 4) || self.is_heddle
    }
}

impl End {
    /// # Errors
    /// The address is none.
    pub fn parse(url: &str, role: Role, tls: &Tls) -> Result<Self> {
        let (flag, variable) = match role {
            Role::Source => ("--from", "HEDDLE_MIGRATE_FROM_PASSWORD"),
            Role::Target => ("--to", "HEDDLE_MIGRATE_TO_PASSWORD"),
        };
        let password = client::password(None, None, variable).map_err(Error)?;
        Self::parse_for(url, role, flag, password, "heddle migrate", tls)
    }

    /// The server that a part of a backup is brought back to.
    ///
    /// # Errors
    /// The address is none.
    pub fn parse_server(url: &str, password: Option<String>, tls: &Tls) -> Result<Self> {
        let end = Self::parse_for(url, Role::Target, "--server", password, "heddle restore", tls)?;
        Ok(Self { is_logged: true, ..end })
    }

    /// A server of this process that nobody else can reach, and that asks for no password.
    pub fn private(socket: &std::path::Path) -> Self {
        let opts = OptsBuilder::new().user(Some("root")).socket(Some(socket.to_string_lossy())).prefer_socket(false);
        Self { role: Role::Source, opts: usual(opts).into(), tls: Tls::default(), is_logged: false }
    }

    fn parse_for(url: &str, role: Role, flag: &str, password: Option<String>, program: &str, tls: &Tls) -> Result<Self> {
        // The address may have a password, so it is not repeated.
        let wrong = |why: String| Error(format!("{flag}: {why}; write mysql://USER[:PASSWORD]@HOST[:PORT]"));
        let opts = Opts::from_url(url).map_err(|error| wrong(error.to_string()))?;
        if opts.get_user().is_none_or(str::is_empty) {
            return Err(wrong("the address has no user".to_owned()));
        }
        let password = opts.get_pass().map(str::to_owned).or(password);
        let opts = OptsBuilder::from_opts(opts)
            .pass(password)
            .db_name(None::<String>)
            .prefer_socket(false)
            .tcp_connect_timeout(Some(Duration::from_secs(10)))
            .connect_attrs(Some(std::collections::HashMap::from([("program_name", program)])));
        Ok(Self { role, opts: usual(opts).into(), tls: tls.clone(), is_logged: false })
    }

    pub fn is_target(&self) -> bool {
        self.role == Role::Target
    }

    pub fn host(&self) -> String {
        self.opts.get_ip_or_hostname().into_owned()
    }

    pub fn port(&self) -> u16 {
        self.opts.get_tcp_port()
    }

    /// Must connections to it be encrypted?
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_required()
    }

    pub fn user(&self) -> &str {
        self.opts.get_user().unwrap_or_default()
    }

    pub fn password(&self) -> &str {
        self.opts.get_pass().unwrap_or_default()
    }

    /// "the source db1:3306"
    pub fn name(&self) -> String {
        let role = match self.role {
            Role::Source => "source",
            Role::Target => "target",
        };
        format!("the {role} {}:{}", self.host(), self.port())
    }

    /// For `map_err`: an error of this server.
    pub fn wrong(&self, doing: &str) -> impl Fn(mysql::Error) -> Error + use<> {
        let (name, doing) = (self.name(), doing.to_owned());
        move |error| {
            let why = match &error {
                mysql::Error::MySqlError(error) => format!("error {}: {}", error.code, error.message),
                other => other.to_string(),
            };
            Error(format!("{name}, {doing}: {why}"))
        }
    }

    /// A connection whose session depends on no setting of the server: values pass as they are.
    ///
    /// # Errors
    /// The server's.
    pub fn connect(&self) -> Result<Conn> {
        let mut conn =
            client::connect(self.opts.clone(), &self.tls).map_err(|why| Error(format!("{}, connecting: {why}", self.name())))?;
        let mode = match self.role {
            Role::Source => "",
            Role::Target => "STRICT_ALL_TABLES,ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO",
        };
        let mut settings = vec![
            "SET NAMES utf8mb4".to_owned(),
            format!("SET SESSION sql_mode = '{mode}', time_zone = '+00:00', wait_timeout = 86400"),
            "SET SESSION net_read_timeout = 3600, net_write_timeout = 3600, lock_wait_timeout = 60".to_owned(),
        ];
        if self.role == Role::Target {
            settings.push("SET SESSION foreign_key_checks = 0, unique_checks = 0".to_owned());
        }
        if self.role == Role::Target && !self.is_logged {
            settings.push("SET SESSION sql_log_bin = 0".to_owned());
        }
        for statement in settings {
            conn.query_drop(&statement).map_err(self.wrong(&statement))?;
        }
        Ok(conn)
    }

    /// # Errors
    /// The server's, with the statement.
    pub fn run(&self, conn: &mut Conn, statement: &str) -> Result<()> {
        conn.query_drop(statement).map_err(self.wrong(&short(statement)))
    }

    /// # Errors
    /// The server's, with the statement.
    pub fn rows<T: FromRow>(&self, conn: &mut Conn, query: &str) -> Result<Vec<T>> {
        conn.query(query).map_err(self.wrong(&short(query)))
    }

    /// The first row.
    ///
    /// # Errors
    /// The server's, with the statement; no row.
    pub fn first<T: FromRow>(&self, conn: &mut Conn, query: &str) -> Result<T> {
        let row = conn.query_first(query).map_err(self.wrong(&short(query)))?;
        row.ok_or_else(|| Error(format!("{}, {}: no row", self.name(), short(query))))
    }

    pub fn uuid(&self) -> Result<String> {
        self.first(&mut self.connect()?, "SELECT @@GLOBAL.server_uuid")
    }

    pub fn product(&self, conn: &mut Conn) -> Result<Product> {
        let (version, comment): (String, String) = self.first(conn, "SELECT VERSION(), @@GLOBAL.version_comment")?;
        Ok(Product::new(version, &comment))
    }

    /// `gtid_executed`, without line ends.
    pub fn executed(&self) -> Result<String> {
        self.executed_by(&mut self.connect()?)
    }

    pub fn executed_by(&self, conn: &mut Conn) -> Result<String> {
        let set: String = self.first(conn, "SELECT @@GLOBAL.gtid_executed")?;
        Ok(set.split_whitespace().collect())
    }
}

/// What all connections have in common.
fn usual(opts: OptsBuilder) -> OptsBuilder {
    opts.read_timeout(Some(PATIENCE)).max_allowed_packet(Some(1 << 30)).stmt_cache_size(0)
}

/// The beginning of a statement, for messages. No statement that has a password comes here.
fn short(statement: &str) -> String {
    let text: String = statement.chars().take(160).collect();
    if text.len() < statement.len() { format!("{text}...") } else { text }
}

/// A name as it stands in a statement.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A text as it stands in a statement, for sessions without NO_BACKSLASH_ESCAPES.
pub fn text(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::{End, Product, Role, quoted, text};

    #[test]
    fn names_and_texts_are_quoted() {
        assert_eq!(quoted("a`b"), "`a``b`");
        assert_eq!(text("it's \\"), "'it''s \\\\'");
    }

    #[test]
    fn an_address_that_is_none_is_refused_without_its_password() {
        for url in ["mysql://u:secret@", "http://u:secret@h", "mysql://:secret@h:1", "u:secret"] {
            let error = End::parse(url, Role::Source, &Default::default()).err().expect("no address").0;
            assert!(error.starts_with("--from: ") && !error.contains("secret"), "{error}");
        }
        let end = End::parse("mysql://u:p%40@h:77/db", Role::Target, &Default::default()).unwrap();
        assert_eq!((end.name().as_str(), end.user(), end.password()), ("the target h:77", "u", "p@"));
    }

    #[test]
    fn versions_are_read() {
        let of = |version: &str| Product::new(version.to_owned(), "");
        assert_eq!((of("5.7.44-log").number, of("8.4.2").has_new_words(), of("8.0.36").has_new_words()), ((5, 7), true, false));
        assert!(of("10.11.6-MariaDB").is_mariadb);
    }
}
