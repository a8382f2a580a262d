//! A real MySQL as a source.

use super::{Outcome, text};
use mysql::prelude::Queryable;
use tests::real_mysql::MySql;
use tests::server::free_port;

/// The source; it ends with this.
pub struct Source {
    server: MySql,
    pub port: u16,
}

impl Source {
    /// Starts it with these options more; `None`: it cannot be had here.
    ///
    /// # Errors
    /// It is there, and does not start.
    pub fn start(more: &[&str]) -> Outcome<Option<Self>> {
        let port = free_port()?;
        let port_option = format!("--port={port}");
        let options = [&[&*port_option, "--bind-address=127.0.0.1"], more].concat();
        let Some(server) = MySql::start("source", &options)? else { return Ok(None) };
        let mut client = server.connect()?;
        // For clients over TCP. The replica has an account of this name, so it is not in the stream.
        for statement in
            ["SET sql_log_bin = 0", "CREATE USER root@'127.0.0.1' IDENTIFIED BY ''", "GRANT ALL ON *.* TO root@'127.0.0.1'"]
        {
            client.query_drop(statement).map_err(text)?;
        }
        Ok(Some(Self { server, port }))
    }

    pub fn connect(&self) -> Outcome<mysql::Conn> {
        self.server.connect()
    }
}
