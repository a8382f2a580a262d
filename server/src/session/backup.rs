//! BACKUP SERVER: a copy of the data directory as a result set, while everybody goes on. CLONE LOCAL: the same into a directory of the
//! server's machine.
//!
//! A thread that lives as long as the statement reads pages and log ([`table::hot_copy`]), at most [`PIECES_AHEAD`] pieces ahead of the
//! client. The session sends each piece as a row `(kind, position, data)`:
//!
//! | kind | position | data |
//! |---|---|---|
//! | `begin` | pages of the data file | JSON: version, the epoch for the next incremental backup, the epoch of `SINCE`, the time |
//! | `file` | 0 | a settings file: its name, a zero byte, its bytes |
//! | `pages` | number of the first page | pages that follow each other |
//! | `log` | position in the log | whole blocks of it |
//! | `control` | 0 | the control file of the copy |
//! | `end` | where the log ends | JSON: the time. The copy is complete here |
//! | `mark` | where the log ends | JSON: the time. With FOLLOW: as far as here the log has been sent |
//!
//! With FOLLOW the log goes on behind `end`, until the client ends the connection.

use super::State;
use super::infile::wake;
use super::state::Answer;
use super::{Client, Recipient};
use crate::error::{Error, Result};
use crate::show::{Columns, result};
use conditions::Condition;
use protocol::{RowEncoder, RowFormat};
use sql::ast::BackupServer;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::task::{Poll, Waker};
use std::time::Duration;
use sync::Mutex;
use sync::waits::{self, Cause, Kind};
use table::hot_copy::{Basis, HotCopy, HotLog, Target, Until};
use types::{ColumnType, LobSize, TypeKind, Value};

/// Pieces that wait for the client.
const PIECES_AHEAD: usize = 4;
/// Pages of one piece.
const PIECE_BYTES: usize = 1 << 20;
/// With FOLLOW: how often the log is looked at.
const FOLLOW_PAUSE: Duration = Duration::from_millis(500);
/// Longer than any copy takes: it ends by itself, by KILL, or when the client is gone.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);
/// The file of SET PERSIST.
const SETTINGS: &str = "mysqld-auto.cnf";

/// One row of the answer.
struct Piece {
    kind: &'static str,
    position: u64,
    data: Vec<u8>,
}

/// Why the thread stopped.
enum Stop {
    /// The session does not want more.
    Unwanted,
    Failed(String),
}

impl From<storage::Error> for Stop {
    fn from(error: storage::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Where the thread puts what it reads.
struct Sink {
    pieces: SyncSender<std::result::Result<Piece, String>>,
    waker: Arc<Mutex<Option<Waker>>>,
}

impl Sink {
    fn put(&self, kind: &'static str, position: u64, data: Vec<u8>) -> std::result::Result<(), Stop> {
        let sent = self.pieces.send(Ok(Piece { kind, position, data }));
        wake(&self.waker);
        sent.map_err(|_| Stop::Unwanted)
    }
}

/// The session's end of the channel.
struct Source {
    pieces: Receiver<std::result::Result<Piece, String>>,
    waker: Arc<Mutex<Option<Waker>>>,
}

impl Source {
    /// Starts `run` on a thread.
    fn start(run: impl FnOnce(&Sink) -> std::result::Result<(), Stop> + Send + 'static) -> Result<Self> {
        let (sender, pieces) = sync_channel(PIECES_AHEAD);
        let waker = Arc::new(Mutex::new(None));
        let sink = Sink { pieces: sender, waker: Arc::clone(&waker) };
        let started = os::thread::Builder::new().name("heddle-backup".to_owned()).stack_size(256 << 10).spawn(move || {
            if let Err(Stop::Failed(why)) = run(&sink) {
                // Nobody needs the reason when the session is gone.
                let _ = sink.pieces.send(Err(why));
            }
            let Sink { pieces, waker } = sink;
            drop(pieces);
            wake(&waker);
        });
        let no_thread = |error: std::io::Error| Condition::CantCreateThread { errno: error.raw_os_error().unwrap_or(0).into() };
        started.map_err(no_thread)?;
        Ok(Self { pieces, waker })
    }

    /// The next piece; `None` when the thread has ended. KILL ends the wait.
    async fn next(&self, state: &State<'_>, client: &Client) -> Result<Option<Piece>> {
        let deadline = state.worker.core.now() + FOR_EVER;
        let info = &state.info;
        let piece = std::future::poll_fn(|cx| {
            // The waker is stored first, so that a piece that arrives later wakes the task.
            *self.waker.lock() = Some(cx.waker().clone());
            match self.pieces.try_recv() {
                Ok(Ok(piece)) => Poll::Ready(Ok(Some(piece))),
                Ok(Err(why)) => Poll::Ready(Err(Condition::UnknownError { message: why.into() }.into())),
                Err(TryRecvError::Disconnected) => Poll::Ready(Ok(None)),
                Err(TryRecvError::Empty) if info.killed() != expr::kill::NONE => {
                    Poll::Ready(Err(Error::Exec(expr::Error::Interrupted)))
                }
                Err(TryRecvError::Empty) => {
                    waits::pending(Cause::of(Kind::File));
                    Poll::Pending
                }
            }
        });
        client.socket.while_there(piece, deadline, &**info).await.map_err(|_| Error::Exec(expr::Error::ClientGone))?
    }
}

impl State<'_> {
    /// BACKUP SERVER
    pub async fn back_up(&mut self, client: &mut Recipient<'_>, what: &BackupServer, format: RowFormat) -> Result<()> {
        let Some(client) = client.client() else {
            return Err(Error::NotSupported("BACKUP SERVER within a program".to_owned()));
        };
        let blob = ColumnType::new(TypeKind::Blob(LobSize::Long));
        let columns = Columns::default().text("Kind", 16).number("Position").add("Data", blob, false);
        let made = result(columns);
        self.write_head(client, &made);
        let database = Arc::clone(&self.worker.shared.database);
        let data_dir = self.worker.shared.config.data_dir.clone();
        let (since, follows) = (what.since.map(|epoch| Basis { epoch }), what.follow);
        let source = Source::start(move |sink| {
            let copy = database.hot_copy(since)?;
            let log = copy_all(copy, since, &data_dir, sink)?;
            if follows { follow(log, sink) } else { Ok(()) }
        })?;
        self.info.state.set("backing up");
        let mut encoder = RowEncoder::new(format, made.columns.len());
        let mut rows = 0;
        while let Some(piece) = source.next(self, client).await? {
            let values =
                [Value::Bytes(piece.kind.as_bytes().into()), Value::UInt(piece.position), Value::Bytes(piece.data.into())];
            let writer = &mut client.output.writer;
            encoder.begin(writer);
            values.iter().zip(&made.columns).for_each(|(value, column)| encoder.value(writer, value, &column.ty));
            encoder.end(writer);
            rows += 1;
            let sent = client.output.flush(&client.socket, &*self.info).await;
            sent.map_err(|_| Error::Exec(expr::Error::ClientGone))?;
        }
        self.end_rows(client, rows);
        Ok(())
    }

    /// CLONE LOCAL DATA DIRECTORY
    pub async fn clone_local(&mut self, client: &mut Recipient<'_>, directory: &[u8]) -> Result<()> {
        let Some(there) = client.client() else {
            return Err(Error::NotSupported("CLONE within a program".to_owned()));
        };
        let directory = PathBuf::from(String::from_utf8_lossy(directory).into_owned());
        if !directory.is_absolute() {
            return Err(
                Condition::WrongArguments { what: "CLONE LOCAL DATA DIRECTORY: an absolute path is needed".into() }.into()
            );
        }
        let database = Arc::clone(&self.worker.shared.database);
        let source = Source::start(move |sink| copy_to(&database, &directory, sink))?;
        self.info.state.set("cloning");
        while source.next(self, there).await?.is_some() {}
        self.execution.vars.row_count = 0;
        self.write_ok(client, &Answer::default());
        Ok(())
    }
}

fn now_us() -> u64 {
    os::time::since_epoch().as_micros() as u64
}

/// Sends everything up to `end`; the log goes on from there.
fn copy_all(mut copy: HotCopy, since: Option<Basis>, data_dir: &Path, sink: &Sink) -> std::result::Result<HotLog, Stop> {
    let begin = serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "basis": copy.basis().epoch,
        "since": since.map(|basis| basis.epoch),
        "time_us": now_us(),
    });
    sink.put("begin", copy.pages().into(), begin.to_string().into_bytes())?;
    if let Ok(bytes) = os::fs::read(data_dir.join(SETTINGS)) {
        sink.put("file", 0, [SETTINGS.as_bytes(), &[0], &bytes].concat())?;
    }
    let mut run: (u32, Vec<u8>) = (0, Vec::new());
    let mut more = true;
    while more {
        more = copy.next_pages(|id, page| {
            let follows = !run.1.is_empty() && run.0 as usize + run.1.len() / page.len() == id as usize;
            if !follows || run.1.len() >= PIECE_BYTES {
                let (first, bytes) = std::mem::replace(&mut run, (id, Vec::with_capacity(PIECE_BYTES)));
                if !bytes.is_empty() {
                    sink.put("pages", first.into(), bytes)?;
                }
            }
            run.1.extend_from_slice(page);
            Ok::<_, Stop>(())
        })?;
    }
    if !run.1.is_empty() {
        sink.put("pages", run.0.into(), run.1)?;
    }
    let mut log = copy.end_pages();
    send_log(&mut log, sink)?;
    sink.put("control", 0, log.control())?;
    sink.put("end", log.end().position, time_json())?;
    Ok(log)
}

fn time_json() -> Vec<u8> {
    serde_json::json!({ "time_us": now_us() }).to_string().into_bytes()
}

fn send_log(log: &mut HotLog, sink: &Sink) -> std::result::Result<(), Stop> {
    while let Some((position, bytes)) = log.next_log()? {
        sink.put("log", position, bytes.to_vec())?;
    }
    Ok(())
}

/// Sends the log as it grows, until nobody wants it any more.
fn follow(mut log: HotLog, sink: &Sink) -> std::result::Result<(), Stop> {
    loop {
        os::thread::sleep(FOLLOW_PAUSE);
        let time = time_json();
        if log.follow() {
            send_log(&mut log, sink)?;
        }
        sink.put("mark", log.end().position, time)?;
    }
}

/// Makes a data directory of a copy. The pieces that it sends have no data: they show that somebody waits.
fn copy_to(database: &table::Database, directory: &Path, sink: &Sink) -> std::result::Result<(), Stop> {
    let mut target = Target::create(directory)?;
    let mut copy = database.hot_copy(None)?;
    while copy.next_pages(|id, page| target.put_pages(id, page))? {
        sink.put("pages", copy.position().into(), Vec::new())?;
    }
    let mut log = copy.end_pages();
    while let Some((position, bytes)) = log.next_log()? {
        target.put_log(position, bytes)?;
        sink.put("log", position, Vec::new())?;
    }
    target.finish(&log.control(), log.end().position, Until::End)?;
    Ok(())
}
