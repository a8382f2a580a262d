//! The server that has the data.

use super::{Outcome, text};
use mysql::prelude::Queryable;
use std::path::Path;
use tests::real_mysql::MySql;
use tests::server::free_port;
use tests::{Server, ServerOptions};

pub enum Origin {
    Heddle(Server),
    /// With its port.
    MySql(MySql, u16),
}

impl Origin {
    pub fn heddle(directory: &Path) -> Outcome<Option<Self>> {
        let options = ServerOptions {
            durability: "full".into(),
            buffer_pool: "128M".into(),
            extra: vec!["--log-bin".into(), "on".into()],
            ..ServerOptions::new(directory.join("source"))
        };
        Ok(Some(Self::Heddle(Server::start(&options)?)))
    }

    /// `None`: it cannot be had here.
    pub fn mysql() -> Outcome<Option<Self>> {
        let port = free_port()?;
        let options = [&*format!("--port={port}"), "--bind-address=127.0.0.1", "--event-scheduler=OFF"];
        let Some(server) = MySql::start("origin", &options)? else { return Ok(None) };
        let mut client = server.connect()?;
        for statement in
            ["CREATE USER root@'127.0.0.1' IDENTIFIED BY ''", "GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION"]
        {
            client.query_drop(statement).map_err(text)?;
        }
        Ok(Some(Self::MySql(server, port)))
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Heddle(_) => "Heddle",
            Self::MySql(..) => "MySQL",
        }
    }

    pub fn port(&self) -> u16 {
        match self {
            Self::Heddle(server) => server.address.port,
            Self::MySql(_, port) => *port,
        }
    }

    pub fn connect(&self) -> Outcome<mysql::Conn> {
        match self {
            Self::Heddle(server) => server.connect().map_err(text),
            Self::MySql(server, _) => server.connect(),
        }
    }
}
