//! A real MySQL as replica of the server.

use mysql::prelude::Queryable;
use tests::Server;
use tests::real_mysql::MySql;

type Outcome<T = ()> = Result<T, String>;

const CATCH_UP_MAX: u64 = 60;

/// The replica; it ends with this.
pub struct Peer(MySql);

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Peer {
    /// Starts it as a replica of the server at `port`; `None`: it cannot be had here.
    ///
    /// # Errors
    /// It is there, and does not start.
    pub fn start(port: u16) -> Outcome<Option<Self>> {
        let Some(server) = MySql::start("binlog", &["--skip-networking"])? else { return Ok(None) };
        let mut client = server.connect()?;
        let change = format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, SOURCE_USER = 'replica', SOURCE_PASSWORD = 'pw', \
             SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_SSL = 0, SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 1000"
        );
        client.query_drop(change).map_err(text)?;
        client.query_drop("START REPLICA").map_err(text)?;
        Ok(Some(Self(server)))
    }

    /// Has it acknowledge what it gets.
    pub fn acknowledge(&mut self) -> Outcome {
        let mut client = self.0.connect()?;
        for statement in [
            "INSTALL PLUGIN rpl_semi_sync_replica SONAME 'semisync_replica.so'",
            "SET GLOBAL rpl_semi_sync_replica_enabled = ON",
            "STOP REPLICA IO_THREAD",
            "START REPLICA IO_THREAD",
        ] {
            client.query_drop(statement).map_err(|error| format!("{statement}: {error}"))?;
        }
        Ok(())
    }

    /// Waits until it has everything, and compares its tables with the server's.
    pub fn compare(&mut self, server: &Server) -> Outcome {
        let (mut source, mut replica) = (server.connect().map_err(text)?, self.0.connect()?);
        let set: Option<String> = source.query_first("SELECT @@gtid_executed").map_err(text)?;
        let set = set.ok_or("no set")?;
        let waited: Option<i64> = replica
            .query_first(format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{}', {CATCH_UP_MAX})", set.replace('\n', "")))
            .map_err(text)?;
        if waited != Some(0) {
            let why: Vec<String> = replica
                .query(
                    "SELECT last_error_message FROM performance_schema.replication_applier_status_by_worker WHERE last_error_number <> 0 \
                     UNION SELECT CONCAT(service_state, ' ', last_error_message) FROM performance_schema.replication_connection_status",
                )
                .map_err(text)?;
            return Err(format!("it does not catch up: {why:?}"));
        }
        for table in ["parent", "child", "noted"] {
            let statement = format!("SELECT * FROM b.{table} ORDER BY id");
            let (here, there): (Vec<mysql::Row>, Vec<mysql::Row>) =
                (source.query(&statement).map_err(text)?, replica.query(&statement).map_err(text)?);
            let values = |rows: Vec<mysql::Row>| rows.into_iter().map(mysql::Row::unwrap).collect::<Vec<_>>();
            let (here, there) = (values(here), values(there));
            if here != there {
                return Err(format!("b.{table}: {} rows here, {} there", here.len(), there.len()));
            }
        }
        Ok(())
    }
}
