//! The statements about the binary log: SHOW BINARY LOGS, SHOW BINARY LOG STATUS, SHOW BINLOG EVENTS, SHOW REPLICAS, FLUSH, PURGE, RESET.

use crate::error::{Error, Result};
use crate::session::State;
use crate::show::{Columns, ResultSet, number, result, text};
use binlog::BinaryLog;
use binlog::event::{self, Head, Seen};
use binlog::files::{self, Events};
use conditions::Condition;
use sql::ast::{BinaryLogChange, BinaryLogEvents};
use std::time::{Duration, UNIX_EPOCH};
use types::Value;

/// Events of one SHOW BINLOG EVENTS without LIMIT: more would take much memory.
const EVENTS_MAX: u64 = 1_000_000;
/// Bytes of a statement that are shown.
const TEXT_BYTES_MAX: usize = 1 << 20;

impl State<'_> {
    /// SHOW BINARY LOGS
    pub async fn binary_logs(&self) -> Result<ResultSet> {
        let log = self.binary_log()?;
        let status = self.catch_up(&log).await?;
        let mut made = result(Columns::default().text("Log_name", 255).number("File_size").text("Encrypted", 3));
        for (n, name) in status.files.iter().enumerate() {
            let bytes = if n + 1 == status.files.len() { status.end } else { files::bytes_of(log.dir(), name).unwrap_or(0) };
            made.rows.push(vec![text(name.clone()), number(bytes), text("No")]);
        }
        Ok(made)
    }

    /// SHOW BINARY LOG STATUS; without a binary log it has no rows.
    pub async fn binary_log_status(&self) -> Result<ResultSet> {
        let columns = Columns::default()
            .text("File", 255)
            .number("Position")
            .text("Binlog_Do_DB", 255)
            .text("Binlog_Ignore_DB", 255)
            .long_text("Executed_Gtid_Set");
        let mut made = result(columns);
        let Some(log) = self.worker.shared.binlog.clone() else { return Ok(made) };
        let status = self.catch_up(&log).await?;
        if let Some(file) = status.files.last() {
            let set = status.executed.to_string();
            made.rows.push(vec![text(file.clone()), number(status.end), text(""), text(""), text(set)]);
        }
        Ok(made)
    }

    /// SHOW REPLICAS
    pub fn replicas(&self) -> ResultSet {
        let columns =
            Columns::default().number("Server_Id").text("Host", 255).number("Port").number("Source_Id").text("Replica_UUID", 36);
        let mut made = result(columns);
        let source = self.worker.shared.globals().get(crate::variables::known("server_id")).as_u64();
        for line in self.worker.shared.dumps.lines() {
            let replica = line.replica;
            made.rows.push(vec![
                number(u64::from(replica.server_id)),
                text(replica.host),
                number(u64::from(replica.port)),
                number(source),
                text(replica.uuid),
            ]);
        }
        made
    }

    /// SHOW BINLOG EVENTS
    pub async fn binary_log_events(&self, what: &BinaryLogEvents<'_>) -> Result<ResultSet> {
        let columns = Columns::default()
            .text("Log_name", 255)
            .number("Pos")
            .text("Event_type", 64)
            .number("Server_id")
            .number("End_log_pos")
            .long_text("Info");
        let mut made = result(columns);
        let Some(log) = self.worker.shared.binlog.clone() else { return Ok(made) };
        let failed = |why: String| {
            Error::from(Condition::ErrorWhenExecutingCommand { command: "SHOW BINLOG EVENTS".into(), why: why.into() })
        };
        let status = self.catch_up(&log).await?;
        let file = match what.file {
            Some(name) => status.files.iter().find(|file| file.as_bytes() == name),
            None => status.files.first(),
        };
        let Some(file) = file else { return Err(failed("Could not find target log".to_owned())) };
        let end = if status.files.last() == Some(file) { Some(status.end) } else { None };
        let mut events = Events::open(log.dir(), file, end).map_err(|error| failed(error.to_string()))?;
        let from = what.position.unwrap_or(4);
        if from < 4 {
            return Err(failed("Invalid pos specified. Should be >= 4".to_owned()));
        }
        let (skip, most) = (what.offset.unwrap_or(0), what.count.unwrap_or(EVENTS_MAX));
        let mut passed = 0;
        loop {
            let position = events.position();
            let event = events.next_event().map_err(|damage| failed(format!("position {}: {}", damage.position, damage.why)))?;
            let Some(event) = event else { break };
            if position >= from {
                passed += 1;
                if passed > skip && (made.rows.len() as u64) < most {
                    made.rows.push(line(file, position, event));
                }
            }
            if position < from && events.position() < from && from <= events.end() {
                // Behind the description of the format.
                events.seek(from);
            }
            if made.rows.len() as u64 >= most {
                break;
            }
        }
        Ok(made)
    }

    /// PURGE BINARY LOGS, RESET BINARY LOGS AND GTIDS
    pub async fn change_binary_log(&mut self, change: &BinaryLogChange<'_>) -> Result<()> {
        match change {
            BinaryLogChange::PurgeTo(name) => {
                let Some(log) = self.worker.shared.binlog.clone() else { return Ok(()) };
                let name = String::from_utf8_lossy(name).into_owned();
                let status = self.catch_up(&log).await?;
                if !status.files.contains(&name) {
                    return Err(Condition::UnknownTargetBinlog.into());
                }
                let ticket = log.purge_to(&name);
                self.done(&log, ticket).await
            }
            BinaryLogChange::PurgeBefore(moment) => {
                let (value, _) = self.evaluate(moment).await?;
                let Some(log) = self.worker.shared.binlog.clone() else { return Ok(()) };
                let text = match &value {
                    Value::Bytes(text) => String::from_utf8_lossy(text).into_owned(),
                    _ => String::new(),
                };
                let civil = match &value {
                    Value::DateTime(civil) => Some(*civil),
                    Value::Date(date) => Some(date.at_midnight()),
                    _ => types::temporal::parse_datetime(text.as_bytes()).map(|parsed| parsed.value),
                };
                let zone = &self.execution.vars.time_zone;
                let utc = civil.and_then(|civil| match zone.to_utc(civil) {
                    types::temporal::Moment::At(micros) => Some(micros),
                    _ => civil.to_utc_micros(),
                });
                let Some(micros) = utc.and_then(|micros| u64::try_from(micros).ok()) else {
                    return Err(Condition::WrongArguments { what: "PURGE LOGS BEFORE".into() }.into());
                };
                let ticket = log.purge_before(UNIX_EPOCH + Duration::from_micros(micros));
                self.done(&log, ticket).await
            }
            BinaryLogChange::Reset(first) => {
                // Without a binary log there is nothing to reset: `mysqladmin refresh` asks for it everywhere.
                let Some(log) = self.worker.shared.binlog.clone() else { return Ok(()) };
                self.catch_up(&log).await?;
                let ticket = log.reset(first.unwrap_or(1));
                self.done(&log, ticket).await
            }
        }
    }

    /// FLUSH LOGS, FLUSH BINARY LOGS
    pub async fn flush_binary_log(&self) -> Result<()> {
        let Some(log) = self.worker.shared.binlog.clone() else { return Ok(()) };
        self.catch_up(&log).await?;
        let ticket = log.rotate();
        self.done(&log, ticket).await
    }

    /// SET GLOBAL gtid_purged
    pub async fn set_gtid_purged(&self, value: &str) -> Result<()> {
        let log = self.binary_log()?;
        let (adds, text) = match value.trim().strip_prefix('+') {
            Some(rest) => (true, rest),
            None => (false, value),
        };
        let Some(set) = binlog::gtid::GtidSet::parse(text) else {
            return Err(Condition::MalformedGtidSetSpecification { value: value.into() }.into());
        };
        self.catch_up(&log).await?;
        let ticket = log.set_purged(set, adds);
        let done = self.until(|waker| log.poll_done(ticket, waker)).await?;
        done.map_err(|error| Condition::CantSetGtidPurged { why: error.0.into() }.into())
    }

    async fn done(&self, log: &BinaryLog, ticket: u64) -> Result<()> {
        let done = self.until(|waker| log.poll_done(ticket, waker)).await?;
        done.map_err(|error| Condition::UnknownError { message: error.0.into() }.into())
    }
}

/// A line of SHOW BINLOG EVENTS.
fn line(file: &str, position: u64, event: &[u8]) -> Vec<Value<'static>> {
    let head = Head::parse(event);
    let kind = head.map_or(0, |head| head.kind);
    let body = event.get(event::HEAD_BYTES..).unwrap_or_default();
    let info = match event::see(event) {
        Some(Seen::Group { gtid: Some(gtid), .. }) => format!("SET @@SESSION.GTID_NEXT= '{gtid}'"),
        Some(Seen::Group { gtid: None, .. }) => "SET @@SESSION.GTID_NEXT= 'ANONYMOUS'".to_owned(),
        Some(Seen::Query { database, statement, xid }) => {
            let statement = String::from_utf8_lossy(&statement[..statement.len().min(TEXT_BYTES_MAX)]).into_owned();
            let uses = if database.is_empty() || statement == "BEGIN" {
                String::new()
            } else {
                format!("use {}; ", types::show_create::quoted_name(&database))
            };
            let xid = xid.map(|xid| format!(" /* xid={xid} */")).unwrap_or_default();
            format!("{uses}{statement}{xid}")
        }
        Some(Seen::Xid(xid)) => format!("COMMIT /* xid={xid} */"),
        Some(Seen::Rotate { file, position }) => format!("{file};pos={position}"),
        Some(Seen::PreviousGtids(set)) => set.to_string(),
        _ => match kind {
            event::FORMAT_DESCRIPTION => format!("Server ver: {}, Binlog ver: 4", crate::config::VERSION),
            event::TABLE_MAP => table_map(body),
            event::WRITE_ROWS | event::UPDATE_ROWS | event::DELETE_ROWS => rows(body),
            event::ROWS_QUERY => format!("# {}", String::from_utf8_lossy(body.get(1..).unwrap_or_default())),
            _ => String::new(),
        },
    };
    let (server_id, bytes) = head.map_or((0, 0), |head| (head.server_id, head.bytes));
    vec![
        text(file.to_owned()),
        number(position),
        text(event::name(kind)),
        number(u64::from(server_id)),
        number(position + u64::from(bytes)),
        text(info),
    ]
}

fn table_id(body: &[u8]) -> u64 {
    let mut id = [0; 8];
    if let Some(bytes) = body.get(..6) {
        id[..6].copy_from_slice(bytes);
    }
    u64::from_le_bytes(id)
}

fn table_map(body: &[u8]) -> String {
    let name = |at: usize| {
        let length = usize::from(*body.get(at)?);
        Some((String::from_utf8_lossy(body.get(at + 1..at + 1 + length)?).into_owned(), at + length + 2))
    };
    let names = name(8).and_then(|(database, at)| Some((database, name(at)?.0)));
    match names {
        Some((database, table)) => format!("table_id: {} ({database}.{table})", table_id(body)),
        None => String::new(),
    }
}

fn rows(body: &[u8]) -> String {
    let ends = body.get(6).is_some_and(|flags| flags & 1 != 0);
    format!("table_id: {}{}", table_id(body), if ends { " flags: STMT_END_F" } else { "" })
}
