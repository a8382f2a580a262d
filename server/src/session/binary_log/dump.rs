//! COM_REGISTER_REPLICA, COM_BINLOG_DUMP, COM_BINLOG_DUMP_GTID: the stream to a replica or a tool.
//!
//! A dump is a session of a worker like any other: it reads the files, and is woken when a group has been rendered. So a slow reader holds up
//! nobody, and costs no thread.
//!
//! ```text
//! a ROTATE that is in no file | FORMAT_DESCRIPTION | PREVIOUS_GTIDS | groups ... | at a file's end: ROTATE that is in no file | ...
//! ```
//!
//! D1: only whole groups are sent: the last file is read up to where they end.
//! D2: every refusal is 1236 with MySQL's text, because replicas try again for ever after other errors.
//! D3: a file that is being read is not purged.
//! D4: a replica of semi-synchronous replication gets two bytes before each event: 0xEF, and whether it is to acknowledge it. It answers
//!     `0xEF position(8) file` in a packet with the number 0, and the next event has the number 1. Asked for is the end of each group behind which nothing is known to come, and of each group of a file that is closed.

use crate::binary_log::Replica;
use crate::binary_log::semi_sync::Place;
use crate::error::{Error, Result};
use crate::session::{Client, DumpRequest, State};
use crate::shared::Shared;
use binlog::event::{self, Seen};
use binlog::files::{self, Events};
use binlog::gtid::GtidSet;
use binlog::log::{BinaryLog, Use};
use conditions::Condition;
use protocol::RegisterReplica;
use reactor::connection::Lost;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use sync::waits::{self, Cause, Kind};
use types::Value;

/// Do not wait for more at the end.
const FLAG_NON_BLOCK: u16 = 1;
/// Heartbeats of version 2.
const FLAG_HEARTBEAT_V2: u16 = 2;
/// Longer than any dump waits.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);

/// Of an event for a replica that acknowledges, and of its answer. D4
const ACKNOWLEDGED: u8 = 0xEF;

/// A replica that acknowledges, until the dump ends.
struct SemiSync {
    shared: Arc<Shared>,
    session: u32,
    /// The last place that it was asked to acknowledge, and the last that it has.
    asked: Place,
    acknowledged: Place,
}

impl Drop for SemiSync {
    fn drop(&mut self) {
        self.shared.semi_sync.leave(self.session);
    }
}

/// 1236
fn fatal(why: impl Into<String>) -> Error {
    let why: String = why.into();
    Condition::SourceFatalErrorReadingBinlog { why: why.into() }.into()
}

/// The checksums that the client can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Checksums {
    /// It has said nothing: an old client.
    Unknown,
    None,
    Crc32,
}

/// A dump that runs.
struct Dump<'a> {
    log: Arc<BinaryLog>,
    client: &'a mut Client,
    /// GTIDs that the client has.
    known: Option<GtidSet>,
    checksums: Checksums,
    is_v2: bool,
    waits: bool,
    heartbeat: Option<Duration>,
    server_id: u32,
    file: String,
    events: Events,
    _use: Use,
    /// The open group is left out.
    skips: bool,
    /// Something was left out since the last event that was sent.
    has_skipped: bool,
    /// `None`: no file's description has been sent.
    file_has_checksum: Option<bool>,
    semi_sync: Option<SemiSync>,
    /// No file is behind this one.
    is_last: bool,
}

/// What a file has to give now.
enum Next {
    Sent,
    /// The end of the groups in the last file.
    AtEnd,
    /// The end of a file that has a successor.
    File(String),
}

impl State<'_> {
    /// COM_REGISTER_REPLICA
    pub fn register_replica(&mut self, client: &mut Client, said: &RegisterReplica<'_>) -> Result<()> {
        self.check_replication()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let replica = Replica {
            server_id: said.server_id,
            host: text(said.host),
            user: text(said.user),
            password: text(said.password),
            port: said.port,
            uuid: self.replica_uuid(),
        };
        self.worker.shared.dumps.register(self.info.id, replica);
        self.write_ok(&mut crate::session::Recipient::Client(client), &Default::default());
        Ok(())
    }

    fn check_replication(&self) -> Result<()> {
        if self.session.access.has(accounts::privilege::Privileges::REPLICATION_SLAVE) {
            Ok(())
        } else {
            Err(accounts::special("REPLICATION SLAVE").into())
        }
    }

    fn user_text(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| {
            match self.execution.vars.user_variable(name, |variable| variable.value.clone().into_owned()) {
                Some(Value::Null) | None => None,
                Some(Value::Bytes(bytes)) => Some(String::from_utf8_lossy(&bytes).into_owned()),
                Some(Value::Int(v)) => Some(v.to_string()),
                Some(Value::UInt(v)) => Some(v.to_string()),
                Some(Value::Double(v)) => Some(v.to_string()),
                Some(Value::Decimal(v)) => Some(v.to_string()),
                Some(_) => None,
            }
        })
    }

    fn replica_uuid(&self) -> String {
        self.user_text(&["replica_uuid", "slave_uuid"]).unwrap_or_default()
    }

    /// COM_BINLOG_DUMP and COM_BINLOG_DUMP_GTID; ends when the client does, with NON_BLOCK at the end of the log.
    pub async fn dump(&mut self, client: &mut Client, request: &DumpRequest) -> Result<()> {
        self.check_replication()?;
        let Some(log) = self.worker.shared.binlog.clone() else { return Err(fatal("Binary log is not open")) };
        let uuid = self.replica_uuid();
        for older in self.worker.shared.dumps.begin(self.info.id, &uuid, request.server_id) {
            tracing::info!(session = older, replica = uuid, "a newer dump of the same replica ends this one");
            // It may have ended by itself.
            let _ = self.worker.shared.kills.end(older);
        }
        let checksums = match self.user_text(&["source_binlog_checksum", "master_binlog_checksum"]) {
            None => Checksums::Unknown,
            Some(text) if text.eq_ignore_ascii_case("CRC32") => Checksums::Crc32,
            Some(_) => Checksums::None,
        };
        let period = self.user_text(&["source_heartbeat_period", "master_heartbeat_period"]);
        let heartbeat = period.and_then(|text| text.parse::<f64>().ok()).filter(|nanos| *nanos > 0.0);
        // The client's own commits are there.
        let status = self.catch_up(&log).await.map_err(|error| fatal(error.describe().message.to_string()))?;
        let known = match &request.gtids {
            Some(bytes) => Some(GtidSet::decode(bytes).ok_or_else(|| fatal("The replica sent a malformed GTID set."))?),
            None => None,
        };
        let (file, position) = begin(&log, &status, request, known.as_ref())?;
        let used = log.use_file(&file);
        let events = open(&log, &file)?;
        let acknowledges = self.user_text(&["rpl_semi_sync_replica", "rpl_semi_sync_slave"]).is_some_and(|text| text != "0");
        let semi_sync = acknowledges.then(|| {
            let (shared, session) = (Arc::clone(&self.worker.shared), self.info.id);
            shared.semi_sync.join(session);
            // The packets of each answer are numbered anew.
            client.input.iter_mut().for_each(|input| input.begin_command());
            SemiSync { shared, session, asked: Place::default(), acknowledged: Place::default() }
        });
        let mut dump = Dump {
            server_id: log.settings().server_id,
            client,
            known,
            checksums,
            is_v2: request.flags & FLAG_HEARTBEAT_V2 != 0,
            waits: request.flags & FLAG_NON_BLOCK == 0,
            heartbeat: heartbeat.map(|nanos| Duration::from_nanos(nanos as u64)),
            file,
            events,
            _use: used,
            skips: false,
            has_skipped: false,
            file_has_checksum: None,
            semi_sync,
            is_last: false,
            log,
        };
        self.info.state.set("Source has sent all binlog to replica; waiting for more updates");
        dump.begin_file(position)?;
        dump.run(self).await
    }
}

fn open(log: &BinaryLog, file: &str) -> Result<Events> {
    Events::open(log.dir(), file, Some(4)).map_err(|error| fatal(format!("Could not open log file: {error}")))
}

/// File and position where a dump begins.
fn begin(log: &BinaryLog, status: &binlog::Status, request: &DumpRequest, known: Option<&GtidSet>) -> Result<(String, u64)> {
    let name = String::from_utf8_lossy(&request.file);
    let name = name.rsplit('/').next().unwrap_or_default();
    if let Some(known) = known {
        check_known(log, status, known)?;
    }
    if request.position < 4 {
        return Err(fatal("Client requested source to start replication from position < 4"));
    }
    if let (Some(known), true) = (known, name.is_empty()) {
        // The newest file before which the client has everything.
        for file in status.files.iter().rev() {
            let before = files::previous_gtids(log.dir(), file).map_err(|error| fatal(error.to_string()))?;
            if before.is_subset_of(known) {
                return Ok((file.clone(), 4));
            }
        }
        return Err(fatal("Cannot replicate because the source purged required binary logs."));
    }
    let file = match name {
        "" => status.files.first(),
        name => status.files.iter().find(|file| *file == name),
    };
    let Some(file) = file else {
        return Err(fatal("Could not find first log file name in binary log index file"));
    };
    let bytes = match status.files.last() {
        Some(last) if last == file => status.end,
        _ => files::bytes_of(log.dir(), file).map_err(|error| fatal(error.to_string()))?,
    };
    if request.position > bytes {
        return Err(fatal("Client requested source to start replication from position > file size"));
    }
    Ok((file.clone(), request.position))
}

/// Does the client miss what no file has, or have what was never here?
fn check_known(log: &BinaryLog, status: &binlog::Status, known: &GtidSet) -> Result<()> {
    let missing = status.purged.subtract(known);
    if !missing.is_empty() {
        return Err(fatal(format!(
            "Cannot replicate because the source purged required binary logs. Replicate the missing transactions from elsewhere, or \
             provision a new replica from backup. Consider increasing the source's binary log expiration period. The GTID set sent by \
             the replica is '{known}', and the missing transactions are '{missing}'"
        )));
    }
    if !known.of_uuid(log.uuid()).is_subset_of(&status.executed) {
        return Err(fatal(
            "The replica has more GTIDs than the source has, using the source's SERVER_UUID. This may indicate that the last binary log \
             file was truncated or lost, e.g., after a power failure when sync_binlog != 1. The source may have rolled back transactions \
             that were already replicated to the replica. Replicate any transactions that source has rolled back from replica to source, \
             and/or commit empty transactions on source to account for transactions that have been committed on source but are not \
             included in GTID_EXECUTED.",
        ));
    }
    Ok(())
}

impl Dump<'_> {
    async fn run(&mut self, state: &State<'_>) -> Result<()> {
        loop {
            match self.next()? {
                Next::Sent if self.client.output.is_full() => {
                    self.flush(state).await?;
                    self.take_answers(state).await?;
                }
                Next::Sent => {}
                Next::File(name) => {
                    self.file = name;
                    self._use.move_to(&self.file);
                    self.events = open(&self.log, &self.file)?;
                    self.begin_file(4)?;
                }
                Next::AtEnd if self.waits => {
                    if std::mem::take(&mut self.has_skipped) {
                        self.put_heartbeat();
                    }
                    self.flush(state).await?;
                    self.note_end();
                    self.wait(state).await?;
                }
                Next::AtEnd => {
                    protocol::put_eof(&mut self.client.output.writer, 0, state.status());
                    return Ok(());
                }
            }
            if state.info.killed() != expr::kill::NONE {
                return Err(fatal("A replica with the same server_uuid/server_id as this replica has connected to the source"));
            }
        }
    }

    async fn flush(&mut self, state: &State<'_>) -> Result<()> {
        let sent = self.client.output.flush(&self.client.socket, &*state.info).await;
        sent.map_err(|lost| match lost {
            Lost::Interrupted => Error::Exec(expr::Error::Interrupted),
            _ => Error::Exec(expr::Error::ClientGone),
        })
    }

    /// Waits for more in the log; a heartbeat is sent when there is none for the period.
    async fn wait(&mut self, state: &State<'_>) -> Result<()> {
        loop {
            let status = self.log.status();
            if self.has_more(&status) {
                return Ok(());
            }
            if let Some(why) = &status.failed {
                return Err(fatal(format!("the binary log stands still: {why}")));
            }
            if status.is_stopped {
                return Err(fatal("the server is stopping"));
            }
            let (log, seen) = (Arc::clone(&self.log), status.version);
            let info = &state.info;
            let changed = std::future::poll_fn(|cx| {
                if info.killed() != expr::kill::NONE {
                    return Poll::Ready(());
                }
                let poll = log.poll_changed(seen, cx.waker()).map(drop);
                if poll.is_pending() {
                    waits::pending(Cause::of(Kind::File));
                }
                poll
            });
            let deadline = state.worker.core.now() + self.heartbeat.unwrap_or(FOR_EVER);
            let Client { socket, input, .. } = &mut *self.client;
            let answered = async {
                match input {
                    Some(input) if self.semi_sync.is_some() => {
                        let deadline = state.worker.core.now() + FOR_EVER;
                        input.next_payload(socket, deadline, &**info).await.map(<[u8]>::to_vec)
                    }
                    _ => std::future::pending().await,
                }
            };
            let next = socket.while_there(either(changed, answered), deadline, &**info).await;
            match next {
                Ok(None) => {}
                Ok(Some(Ok(answer))) => {
                    self.answer(&answer)?;
                    self.note_end();
                }
                Ok(Some(Err(lost))) => return Err(no_answer(lost)),
                Err(Lost::Timeout) => {
                    self.put_heartbeat();
                    self.flush(state).await?;
                }
                Err(Lost::Interrupted) => return Err(Error::Exec(expr::Error::Interrupted)),
                Err(_) => return Err(Error::Exec(expr::Error::ClientGone)),
            }
            if info.killed() != expr::kill::NONE {
                return Err(Error::Exec(expr::Error::Interrupted));
            }
        }
    }

    /// Reads what the replica has answered so far.
    async fn take_answers(&mut self, state: &State<'_>) -> Result<()> {
        while self.semi_sync.is_some()
            && let Client { socket, input: Some(input), .. } = &mut *self.client
        {
            match input.next_payload(socket, state.worker.core.now(), &*state.info).await.map(<[u8]>::to_vec) {
                Ok(answer) => self.answer(&answer)?,
                Err(Lost::Timeout) => break,
                Err(lost) => return Err(no_answer(lost)),
            }
        }
        Ok(())
    }

    /// The replica acknowledges. D4
    fn answer(&mut self, answer: &[u8]) -> Result<()> {
        let Some(semi_sync) = &mut self.semi_sync else { return Ok(()) };
        let wrong = || fatal("the replica's acknowledgement of semi-synchronous replication is malformed");
        let (position, file) = match answer.split_first() {
            Some((&ACKNOWLEDGED, rest)) => rest.split_first_chunk::<8>().ok_or_else(wrong)?,
            _ => return Err(wrong()),
        };
        let place = Place::of(&String::from_utf8_lossy(file), u64::from_le_bytes(*position));
        if place > semi_sync.asked {
            return Err(fatal("the replica has acknowledged what was not sent to it"));
        }
        semi_sync.acknowledged = place.max(semi_sync.acknowledged);
        semi_sync.shared.semi_sync.acknowledge(semi_sync.session, place, false);
        if let Some(input) = &mut self.client.input {
            input.begin_command();
        }
        Ok(())
    }

    /// Everything has been sent: if all that was asked for is acknowledged, the replica has everything.
    fn note_end(&mut self) {
        if let Some(semi_sync) = &self.semi_sync
            && semi_sync.acknowledged >= semi_sync.asked
            && !self.has_more(&self.log.status())
        {
            let place = Place::of(&self.file, self.events.position());
            semi_sync.shared.semi_sync.acknowledge(semi_sync.session, place, true);
        }
    }

    fn has_more(&self, status: &binlog::Status) -> bool {
        match status.files.last() {
            Some(last) if *last == self.file => status.end > self.events.position(),
            _ => true,
        }
    }

    /// Sends what stands before the events of a file.
    fn begin_file(&mut self, position: u64) -> Result<()> {
        let has_checksum = self.has_checksum();
        let mut rotate = Vec::new();
        let flags = event::FLAG_ARTIFICIAL;
        event::put_rotate(&mut rotate, 0, self.server_id, (&self.file, position), flags, has_checksum);
        if has_checksum {
            event::seal(&mut rotate);
        }
        self.put(&rotate);
        self.limit();
        let format = self.events.next_raw().map_err(|damage| damaged(&self.file, &damage))?;
        let Some(format) = format.filter(|format| format.get(4) == Some(&event::FORMAT_DESCRIPTION)) else {
            return Err(fatal("Could not find format_description_event in binlog file"));
        };
        let mut format = format.to_vec();
        let has_checksum = event::says_checksum(&format).unwrap_or(true);
        self.file_has_checksum = Some(has_checksum);
        if has_checksum && self.checksums == Checksums::Unknown {
            return Err(fatal("Replica can not handle replication events with the checksum that source is configured to log"));
        }
        format[17] &= !(event::FLAG_IN_USE as u8);
        if position > 4 {
            format[13..17].fill(0);
            format[event::CREATED_AT..event::CREATED_AT + 4].fill(0);
        }
        event::seal(&mut format);
        self.put(&format);
        if position > self.events.position() {
            self.events.seek(position);
        }
        self.skips = false;
        Ok(())
    }

    /// Have events that are in no file checksums? As those of the file, whatever the client asked for; before the first file as the client can read.
    fn has_checksum(&self) -> bool {
        self.file_has_checksum.unwrap_or(self.checksums == Checksums::Crc32)
    }

    /// Lets the file be read as far as it has whole groups. D1
    fn limit(&mut self) {
        let status = self.log.status();
        self.is_last = status.files.last() == Some(&self.file);
        // Another file is complete.
        let end = if self.is_last { status.end } else { files::bytes_of(self.log.dir(), &self.file).unwrap_or(0) };
        self.events.set_end(end);
    }

    fn next(&mut self) -> Result<Next> {
        let (begun, end) = (self.events.position(), self.events.end());
        let event = self.events.next_raw().map_err(|damage| damaged(&self.file, &damage))?;
        let Some(event) = event else { return self.at_end() };
        let kind = event.get(4).copied().unwrap_or(0);
        if let (event::GTID | event::GTID_TAGGED | event::ANONYMOUS_GTID, Some(known)) = (kind, &self.known) {
            let checksum = if self.file_has_checksum == Some(true) { event::CHECKSUM_BYTES } else { 0 };
            let seen = event::see(&event[..event.len() - checksum]);
            self.skips = matches!(&seen, Some(Seen::Group { gtid: Some(gtid), .. }) if known.contains(gtid));
        }
        // What is not of a group.
        if matches!(kind, event::ROTATE | event::STOP | event::PREVIOUS_GTIDS) {
            self.skips = false;
        }
        if self.skips {
            self.has_skipped = true;
            return Ok(Next::Sent);
        }
        if self.has_skipped {
            // Replicas count bytes: what was left out does not come, and they are told where the next event is.
            self.has_skipped = false;
            self.events.seek(begun);
            self.put_heartbeat();
            return Ok(Next::Sent);
        }
        let mut marks: &[u8] = &[];
        if let Some(semi_sync) = &mut self.semi_sync {
            let checksum = if self.file_has_checksum == Some(true) { event::CHECKSUM_BYTES } else { 0 };
            let position = begun + event.len() as u64;
            let is_asked = (position == end || !self.is_last) && ends_group(kind, &event[..event.len() - checksum]);
            marks = if is_asked { &[ACKNOWLEDGED, 1] } else { &[ACKNOWLEDGED, 0] };
            if is_asked {
                semi_sync.asked = Place::of(&self.file, position);
            }
        }
        self.client.output.writer.packet(|out| {
            out.push(0);
            out.extend_from_slice(marks);
            out.extend_from_slice(event);
        });
        if marks == [ACKNOWLEDGED, 1] {
            // The replica's answer has the number 0.
            self.client.output.writer.set_sequence(1);
        }
        Ok(Next::Sent)
    }

    fn at_end(&mut self) -> Result<Next> {
        let before = self.events.position();
        self.limit();
        if self.events.position() < self.events.end() {
            return Ok(Next::Sent);
        }
        let status = self.log.status();
        let place = status.files.iter().position(|file| *file == self.file);
        match place.map(|place| status.files.get(place + 1)) {
            Some(Some(next)) => {
                // Groups may have been written to this one in between.
                self.limit();
                if self.events.end() > before { Ok(Next::Sent) } else { Ok(Next::File(next.clone())) }
            }
            Some(None) => Ok(Next::AtEnd),
            None => Err(fatal("could not find next log; the file that was read is gone")),
        }
    }

    /// Sends an event as it is.
    fn put(&mut self, event: &[u8]) {
        let marks: &[u8] = if self.semi_sync.is_some() { &[ACKNOWLEDGED, 0] } else { &[] };
        self.client.output.prepare();
        self.client.output.writer.packet(|out| {
            out.push(0);
            out.extend_from_slice(marks);
            out.extend_from_slice(event);
        });
    }

    fn put_heartbeat(&mut self) {
        let mut heartbeat = Vec::new();
        let has_checksum = self.has_checksum();
        event::put_heartbeat(&mut heartbeat, self.server_id, &self.file, self.events.position(), self.is_v2, has_checksum);
        self.put(&heartbeat);
    }
}

/// The connection fails while a replica's answers are read.
fn no_answer(lost: Lost) -> Error {
    match lost {
        Lost::Interrupted => Error::Exec(expr::Error::Interrupted),
        Lost::Protocol(error) => {
            fatal(format!("the replica's acknowledgement of semi-synchronous replication is malformed: {error}"))
        }
        _ => Error::Exec(expr::Error::ClientGone),
    }
}

/// Waits for the first of two: `None`, or what the second one gives.
async fn either<T>(first: impl Future<Output = ()>, second: impl Future<Output = T>) -> Option<T> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    std::future::poll_fn(|cx| match first.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => second.as_mut().poll(cx).map(Some),
    })
    .await
}

/// Does a group end with this event, which has no checksum?
fn ends_group(kind: u8, event: &[u8]) -> bool {
    match kind {
        event::XID => true,
        event::QUERY => !event.ends_with(b"BEGIN"),
        _ => false,
    }
}

fn damaged(file: &str, damage: &files::Damage) -> Error {
    let files::Damage { position, why } = damage;
    fatal(format!(
        "binlog truncated in the middle of event; consider out of disk space on source; the file '{file}', position {position}: {why}"
    ))
}
