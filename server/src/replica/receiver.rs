//! The receiver: a thread that is connected to the source, and gives its events to the applier.
//!
//! 1. Connect, log in, and look at the source: its number, its UUID, whether it has GTIDs.
//! 2. Ask for what `gtid_executed` does not have; or for a place in a file.
//! 3. Take each event apart so far as to know where it stands; check its checksum; hand it over.
//!
//! R1: what cannot be right without somebody's help ends the thread; all else is tried again after SOURCE_CONNECT_RETRY seconds.

use super::link::{Failure, Link};
use super::settings::Settings;
use super::state::{Item, Passage, Receiving, Replica, Trouble};
use crate::error::Description;
use crate::shared::Shared;
use crate::variables::known;
use binlog::event::{self, Head, Seen};
use binlog::files::EVENT_BYTES_MAX;
use conditions::Condition;
use std::sync::Arc;
use std::time::Duration;

/// How long the set of GTIDs is waited for.
const RENDER_PATIENCE: Duration = Duration::from_secs(60);

/// Why a connection has ended.
enum Ended {
    /// The receiver is to stop, or to connect anew.
    Asked,
    /// R1
    Fatal(Condition),
    Failed(Failure),
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

fn trouble(condition: &Condition) -> Trouble {
    let description: Description = condition.into();
    Trouble::new(description.number, description.message)
}

/// What a source answers where it cannot send what was asked for.
fn read_error() -> Trouble {
    trouble(&Condition::SourceFatalErrorReadingBinlog { why: "".into() })
}

/// Runs until the receiver is to stop.
pub fn run(shared: &Shared) {
    let replica = &shared.replica;
    loop {
        receive(shared);
        let mut inner = replica.inner.lock();
        // It may have been started again meanwhile.
        if !inner.wants_receiver || inner.settings.is_none() {
            inner.receiving = Receiving::No;
            inner.receiver_state = "";
            inner.receiver_lives = false;
            replica.wake(&mut inner);
            return;
        }
    }
}

/// Connects again and again, until the receiver is to stop.
fn receive(shared: &Shared) {
    let replica = &shared.replica;
    let mut attempts = 0;
    loop {
        let settings = match &replica.inner.lock() {
            inner if !inner.wants_receiver => break,
            inner => inner.settings.clone(),
        };
        let Some(settings) = settings else { break };
        replica.note(|inner| {
            inner.receiving = Receiving::Connecting;
            inner.receiver_state = "Connecting to source";
        });
        let ended = connection(shared, &settings, &mut attempts);
        replica.end();
        let failure = match ended {
            Ended::Asked => continue,
            Ended::Fatal(condition) => {
                stop(replica, trouble(&condition));
                break;
            }
            Ended::Failed(failure) => failure,
        };
        let Settings { user, host, port, connect_retry, retry_count, .. } = &settings;
        attempts += 1;
        let (number, message) = match failure {
            Failure::Source { number, message } if number == read_error().number => {
                let number = u64::from(number).into();
                let condition = Condition::ServerSourceFatalErrorReadingBinlog { number, why: message.into() };
                stop(replica, trouble(&condition));
                break;
            }
            Failure::Source { number, message } => (number, message),
            Failure::Unreachable(why) => {
                let condition = Condition::ConnHostError { host: format!("{host}:{port}").into(), why: why.into() };
                let Trouble { number, text, .. } = trouble(&condition);
                (number, text)
            }
            Failure::Lost(why) => {
                let Trouble { number, text, .. } = trouble(&Condition::ServerLost { why: why.into() });
                (number, text)
            }
        };
        let limit = if *retry_count == 0 { u64::MAX } else { *retry_count };
        let text = format!(
            "Error connecting to source '{user}@{host}:{port}'. This was attempt {attempts}/{limit}, with a delay of {connect_retry} \
             seconds between attempts. Message: {message}"
        );
        tracing::warn!(number, "replica: {text}");
        if attempts >= limit {
            stop(replica, Trouble::new(number, text));
            break;
        }
        replica.note(|inner| {
            inner.receiver_trouble = Trouble::new(number, text);
            inner.receiver_state = "Waiting to reconnect after a failed source event read";
        });
        if !replica.pause(Duration::from_secs(*connect_retry)) {
            break;
        }
    }
}

fn stop(replica: &Replica, trouble: Trouble) {
    tracing::error!(number = trouble.number, "replica: the receiver stops: {}", trouble.text);
    replica.note(|inner| {
        inner.receiver_trouble = trouble;
        inner.wants_receiver = false;
    });
}

/// One connection, from its beginning to its end.
fn connection(shared: &Shared, settings: &Settings, attempts: &mut u64) -> Ended {
    match connected(shared, settings, attempts) {
        Ok(()) => Ended::Asked,
        Err(ended) => {
            let inner = shared.replica.inner.lock();
            // What was hung up has failed.
            if !inner.wants_receiver || inner.wanted_generation != inner.generation { Ended::Asked } else { ended }
        }
    }
}

fn connected(shared: &Shared, settings: &Settings, attempts: &mut u64) -> Result<(), Ended> {
    let replica = &shared.replica;
    let globals = shared.globals();
    let server_id = globals.get(known("server_id")).as_u64() as u32;
    let patience = Duration::from_secs(globals.get(known("replica_net_timeout")).as_u64().max(1));
    let (mut link, stream) = Link::open(settings, patience).inspect_err(|_| {
        // So that a renewal is told from a failure.
        let mut inner = replica.inner.lock();
        inner.generation = inner.wanted_generation;
    })?;
    let Some(generation) = replica.begin(stream) else { return Ok(()) };
    link.log_in(settings)?;
    let uuid = globals.get(known("server_uuid")).as_text();
    let has_checksum = introduce(shared, &mut link, settings, server_id, uuid)?;
    let report = globals.get(known("report_host")).as_text();
    let port = globals.get(known("report_port")).as_u64();
    let port = if port == 0 { globals.get(known("port")).as_u64() } else { port };
    link.register(server_id, report, port as u16)?;
    let log = shared.binlog.as_ref().ok_or_else(|| fatal("the binary log is off (--log-bin)"))?;
    let status = log.wait_rendered(RENDER_PATIENCE);
    if let Some(why) = &status.failed {
        return Err(fatal(&format!("the binary log stands still: {why}")));
    }
    let (mut file, mut position): (Arc<str>, u64) = (settings.file.as_str().into(), settings.position);
    if settings.auto_position {
        let mut set = Vec::new();
        status.executed.encode(&mut set);
        link.dump_rest(server_id, &set)?;
        (file, position) = ("".into(), 4);
    } else {
        link.dump_from(server_id, &file, position)?;
    }
    replica.note(|inner| {
        inner.receiving = Receiving::Yes;
        inner.receiver_state = "Waiting for source to send event";
        inner.receiver_trouble = Trouble::default();
    });
    tracing::info!(host = settings.host, port = settings.port, "replica: connected to the source");
    let mut stream = Stream { has_checksum, file: Arc::clone(&file), is_open: false };
    loop {
        let Some(event) = link.event(EVENT_BYTES_MAX)? else {
            return Err(Failure::Lost("the source has ended the stream".to_owned()).into());
        };
        *attempts = 0;
        let Some((head, event)) = stream.take(event)? else { continue };
        if let Some(Seen::Rotate { file: next, position: from }) =
            (head.kind == event::ROTATE).then(|| event::see(&event)).flatten()
        {
            (file, position) = (next.into(), from);
            stream.file = Arc::clone(&file);
        } else if head.position > 0 && head.flags & event::FLAG_ARTIFICIAL == 0 {
            position = u64::from(head.position);
        }
        let mut ends_group = false;
        replica.note(|inner| {
            inner.read_file = Arc::clone(&file);
            inner.read_position = position;
            ends_group = stream.note_group(inner, &head, &event);
            if matches!(head.kind, event::HEARTBEAT | event::HEARTBEAT_V2) {
                inner.heartbeats += 1;
                inner.heartbeat_us = os::time::since_epoch().as_micros() as u64;
            }
        });
        if matches!(
            head.kind,
            event::ROTATE
                | event::HEARTBEAT
                | event::HEARTBEAT_V2
                | event::FORMAT_DESCRIPTION
                | event::PREVIOUS_GTIDS
                | event::STOP
        ) {
            continue;
        }
        if !replica.push(Item { generation, file: Arc::clone(&file), event }, ends_group) {
            return Ok(());
        }
    }
}

fn fatal(why: &str) -> Ended {
    Ended::Fatal(Condition::ReplicaFatalError { why: why.into() })
}

/// Looks at the source, and says what the stream is to be like. Returns whether events before the first description have checksums.
fn introduce(shared: &Shared, link: &mut Link, settings: &Settings, server_id: u32, uuid: &str) -> Result<bool, Ended> {
    let replica = &shared.replica;
    let here = || os::time::since_epoch().as_secs() as i64;
    let time = link.query("SELECT UNIX_TIMESTAMP()")?.and_then(|text| text.parse::<i64>().ok()).unwrap_or_else(here);
    let clock_ahead = time - here();
    let id = link.query("SELECT @@GLOBAL.server_id")?.and_then(|text| text.parse::<u32>().ok()).unwrap_or(0);
    if id == server_id {
        return Err(fatal(
            "The replica I/O thread stops because source and replica have equal MySQL server ids; these ids must be different",
        ));
    }
    let nanos = (settings.heartbeat * 1e9) as u64;
    link.query(&format!("SET @master_heartbeat_period = {nanos}, @source_heartbeat_period = {nanos}"))?;
    link.query("SET @master_binlog_checksum = @@global.binlog_checksum, @source_binlog_checksum = @@global.binlog_checksum")?;
    let checksum = link.query("SELECT @source_binlog_checksum")?.unwrap_or_default();
    let mode = link.query("SELECT @@GLOBAL.gtid_mode")?.unwrap_or_default();
    if mode != "ON" {
        let why =
            format!("the source has gtid_mode = {mode}: without GTIDs nothing tells what is applied, so the replica needs ON");
        return Err(fatal(&why));
    }
    let source = link.query("SELECT @@GLOBAL.server_uuid")?.unwrap_or_default();
    if source.eq_ignore_ascii_case(uuid) {
        return Err(fatal(
            "The replica I/O thread stops because source and replica have equal MySQL server UUIDs; these UUIDs must be different",
        ));
    }
    link.query(&format!("SET @slave_uuid = '{uuid}', @replica_uuid = '{uuid}'"))?;
    replica.note(|inner| (inner.source_id, inner.source_uuid, inner.clock_ahead) = (id, source, clock_ahead));
    Ok(checksum.eq_ignore_ascii_case("CRC32"))
}

/// The stream as far as it has come.
struct Stream {
    has_checksum: bool,
    file: Arc<str>,
    /// A BEGIN has come without its end.
    is_open: bool,
}

impl Stream {
    /// Checks an event and takes its checksum off. `None`: nothing for anybody.
    fn take(&mut self, mut event: Vec<u8>) -> Result<Option<(Head, Vec<u8>)>, Ended> {
        let damaged = |why: &str| Ended::Failed(Failure::Lost(format!("{why} (in {})", self.file)));
        let head = Head::parse(&event).ok_or_else(|| damaged("an event is too short"))?;
        if head.kind == event::FORMAT_DESCRIPTION {
            self.has_checksum = event::says_checksum(&event).ok_or_else(|| damaged("an event is too short"))?;
        }
        binlog::read::open(&event, self.has_checksum).map_err(|bad| damaged(bad.0))?;
        if self.has_checksum {
            event.truncate(event.len() - event::CHECKSUM_BYTES);
        }
        Ok(Some((head, event)))
    }

    /// Keeps count of the groups that have come as a whole. Is this the end of one?
    fn note_group(&mut self, inner: &mut super::state::Inner, head: &Head, event: &[u8]) -> bool {
        let ends = match head.kind {
            event::GTID | event::GTID_TAGGED => {
                if let Some(Seen::Group { gtid: Some(gtid), .. }) = event::see(event) {
                    inner.incoming = Passage::begin(gtid, event::commit_times(event).unwrap_or_default());
                }
                false
            }
            event::QUERY => match event::see(event) {
                Some(Seen::Query { statement, .. }) if statement == b"BEGIN" => {
                    self.is_open = true;
                    false
                }
                Some(Seen::Query { statement, .. }) => !self.is_open || statement == b"COMMIT" || statement == b"ROLLBACK",
                _ => false,
            },
            event::XID => true,
            _ => false,
        };
        if ends {
            self.is_open = false;
            if let Some(gtid) = &inner.incoming.gtid {
                inner.retrieved.add(gtid);
                inner.incoming.end(&mut inner.received);
            }
        }
        ends
    }
}
