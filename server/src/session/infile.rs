//! LOAD DATA: the source of the file's bytes.
//!
//! Without LOCAL the file is on the server, in the one directory where statements may read and create files. A thread
//! that lives as long as the statement reads it, at most two blocks ahead.
//!
//! With LOCAL the client has the file, and sends it on request: packets, up to an empty one. They are read as rows are
//! needed, so a client that is faster than the table waits.
//!
//! I1: the request is sent when the first bytes are needed, so a statement that fails earlier sends none.
//! I2: the client's data is read to its end, even after a failure, because the client reads the answer only then.

use super::outfile::{beneath, not_allowed, reason};
use super::{Client, SessionInfo, State};
use crate::counters::count;
use crate::error::{Error, Result};
use conditions::Condition;
use exec::LocalFuture;
use exec::load::ByteSource;
use protocol::Capabilities;
use reactor::connection::{FilePieces, Lost};
use sql::ast::LoadData;
use sql::charsets;
use sql::plan::{InsertPlan, InsertSource, Plan};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::task::{Poll, Waker};
use std::time::Duration;
use sync::Mutex;
use sync::waits::{self, Cause, Kind};
use table::ddl::Progress;
use types::charset::Charset;

/// Bytes of one read.
const BLOCK_BYTES: usize = 256 << 10;

/// The file of a statement.
pub struct InFile {
    path: Vec<u8>,
    pub local: bool,
    pub charset: Charset,
}

impl State<'_> {
    /// The file that the statement names. 3948: it is the client's, and server or client does not allow that.
    pub fn in_file(&self, load: &LoadData<'_>) -> Result<InFile> {
        if load.local {
            let allowed = self.worker.shared.globals().get(super::IDS.local_infile).as_u64() != 0;
            if !allowed || !self.connection.capabilities.has(Capabilities::LOCAL_FILES) {
                return Err(Error::from(Condition::ClientLocalFilesDisabled));
            }
        }
        let name = match load.charset {
            Some(name) => charsets::for_clients(name)?.name,
            None => self.session.variables.get(super::IDS.character_set_database).as_text(),
        };
        let charset = Charset::named(name).unwrap_or(Charset::Utf8mb4);
        Ok(InFile { path: load.path.to_vec(), local: load.local, charset })
    }
}

impl InFile {
    /// Opens a file of the server and starts reading it. A relative path is relative to the database's directory, as in
    /// MySQL.
    pub fn open(
        &self,
        allowed: Option<&Path>,
        data_dir: &Path,
        database: Option<&str>,
        progress: &Arc<Progress>,
    ) -> Result<ServerFile> {
        let name = String::from_utf8_lossy(&self.path).into_owned();
        let path = data_dir.join(database.unwrap_or_default()).join(&name);
        let within = allowed.and_then(|allowed| beneath(allowed, &path).map(|rest| (allowed.to_path_buf(), rest)));
        let Some((directory, rest)) = within else { return Err(not_allowed()) };
        ServerFile::start(directory, rest, progress).map_err(|error| Error::Exec(unreadable(&name, &error)))
    }

    /// The client's file.
    pub fn ask<'c>(&self, client: &'c mut Client, state: &State<'_>, progress: &Arc<Progress>) -> ClientFile<'c> {
        let timeout = Duration::from_secs(state.session.variables.get(super::IDS.net_read_timeout).as_u64());
        ClientFile {
            client,
            info: Rc::clone(&state.info),
            worker: Rc::clone(&state.worker),
            path: Some(self.path.clone()),
            pieces: FilePieces::default(),
            timeout,
            lost: None,
            progress: Arc::clone(progress),
        }
    }
}

/// Does a LOAD DATA use separators that MySQL warns about?
pub fn has_exotic_separators(plan: &Plan) -> bool {
    let Plan::Insert(InsertPlan { source: InsertSource::File(file), .. }) = plan else { return false };
    file.format.has_exotic()
}

/// MySQL's error for a file that cannot be opened or read.
fn unreadable(path: &str, error: &std::io::Error) -> expr::Error {
    use std::io::ErrorKind as K;
    let (errno, why) = (error.raw_os_error().unwrap_or(0), reason(error));
    let condition = match error.kind() {
        K::CrossesDevices => Condition::OptionPreventsStatement { option: "--secure-file-priv".into() },
        K::IsADirectory => Condition::TextFileNotReadable { path: path.into() },
        K::NotFound | K::PermissionDenied => Condition::StatError { path: path.into(), errno: errno.into(), why: why.into() },
        _ => Condition::FileNotFound { path: path.into(), errno: errno.into(), why: why.into() },
    };
    condition.into()
}

type Block = std::io::Result<Vec<u8>>;

/// A file that a thread reads.
pub struct ServerFile {
    blocks: Receiver<Block>,
    waker: Arc<Mutex<Option<Waker>>>,
    name: String,
    progress: Arc<Progress>,
}

impl ServerFile {
    fn start(directory: PathBuf, path: PathBuf, progress: &Arc<Progress>) -> std::io::Result<Self> {
        // One block is in the channel while another one is used.
        let (sender, blocks) = sync_channel(1);
        let waker = Arc::new(Mutex::new(None));
        let name = directory.join(&path).to_string_lossy().into_owned();
        let shared = Arc::clone(&waker);
        let all = Arc::clone(progress);
        os::thread::Builder::new().name("heddle-infile".to_owned()).stack_size(128 << 10).spawn(move || {
            read_file(&directory, &path, &sender, &shared, &all);
            drop(sender);
            wake(&shared);
        })?;
        Ok(Self { blocks, waker, name, progress: Arc::clone(progress) })
    }
}

/// Reads a file to its end, or until the statement stops reading.
fn read_file(directory: &Path, path: &Path, blocks: &SyncSender<Block>, waker: &Mutex<Option<Waker>>, progress: &Progress) {
    let mut file = match open(directory, path) {
        Ok(file) => file,
        Err(error) => {
            // The receiver may be gone; then nobody needs the error.
            let _ = blocks.send(Err(error));
            return;
        }
    };
    if let Ok(metadata) = file.metadata() {
        progress.set_all(metadata.len());
    }
    loop {
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        let block = match file.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut block) {
            Ok(0) => return,
            Ok(_) => Ok(block),
            Err(error) => Err(error),
        };
        let failed = block.is_err();
        if blocks.send(block).is_err() || failed {
            return;
        }
        wake(waker);
    }
}

/// Only regular files: others may never end.
fn open(directory: &Path, path: &Path) -> std::io::Result<File> {
    let file = os::fs::open_beneath(directory, path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(std::io::ErrorKind::IsADirectory.into()) }
}

/// Wakes the session that waits for its thread, if it does.
pub fn wake(waker: &Mutex<Option<Waker>>) {
    let waker = waker.lock().take();
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl ByteSource for ServerFile {
    fn read<'a>(&'a mut self, buffer: &'a mut Vec<u8>) -> LocalFuture<'a, expr::Result<bool>> {
        Box::pin(std::future::poll_fn(|cx| {
            // The waker is stored first, so that a block that arrives later wakes the task.
            *self.waker.lock() = Some(cx.waker().clone());
            match self.blocks.try_recv() {
                Ok(Ok(block)) => {
                    buffer.extend_from_slice(&block);
                    self.progress.advance(block.len() as u64);
                    Poll::Ready(Ok(true))
                }
                Ok(Err(error)) => Poll::Ready(Err(unreadable(&self.name, &error))),
                Err(TryRecvError::Empty) => {
                    waits::pending(Cause::of(Kind::File));
                    Poll::Pending
                }
                Err(TryRecvError::Disconnected) => Poll::Ready(Ok(false)),
            }
        }))
    }
}

/// A file that the client sends.
pub struct ClientFile<'c> {
    client: &'c mut Client,
    info: Rc<SessionInfo>,
    worker: Rc<crate::worker::Worker>,
    /// The client's name of the file; `None` after the request was sent.
    path: Option<Vec<u8>>,
    pieces: FilePieces,
    timeout: Duration,
    lost: Option<Lost>,
    progress: Arc<Progress>,
}

impl ClientFile<'_> {
    async fn piece(&mut self, mut take: impl FnMut(&[u8])) -> std::result::Result<bool, Lost> {
        let Client { socket, output, input } = &mut *self.client;
        let input = input.as_mut().expect("LOAD DATA LOCAL is run with the client's input");
        if let Some(path) = self.path.take() {
            protocol::put_local_infile_request(&mut output.writer, &path);
            input.reader.set_sequence(output.writer.sequence());
        }
        // Sends the request and earlier output; later calls have nothing to send.
        output.flush(socket, &*self.info).await?;
        let deadline = self.worker.core.now() + self.timeout;
        let piece = input.next_piece(&mut self.pieces, socket, deadline, &*self.info);
        let Some(piece) = waits::named(Cause::of(Kind::NetworkRead), piece).await? else { return Ok(false) };
        let received = &self.info.counters.events.bytes_received;
        received.set(received.get() + piece.len() as u64);
        take(piece);
        Ok(true)
    }

    async fn more(&mut self, buffer: &mut Vec<u8>) -> expr::Result<bool> {
        if self.lost.is_some() {
            return Err(expr::Error::ClientGone);
        }
        let progress = Arc::clone(&self.progress);
        let take = |piece: &[u8]| {
            progress.advance(piece.len() as u64);
            buffer.extend_from_slice(piece);
        };
        self.piece(take).await.map_err(|lost| {
            self.lost = Some(lost);
            expr::Error::ClientGone
        })
    }

    /// Reads the rest of the client's data, so that the client reads the answer (I2).
    pub async fn finish(mut self) -> Result<()> {
        if self.path.is_some() {
            return Ok(());
        }
        while self.lost.is_none() {
            match self.piece(|_| {}).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(lost) => self.lost = Some(lost),
            }
        }
        if let Some(lost) = self.lost {
            count(&self.info.counters.events.aborted_clients);
            return Err(match lost {
                Lost::Protocol(error) => Error::Protocol(error),
                _ => Error::Exec(expr::Error::ClientGone),
            });
        }
        if let Some(input) = &self.client.input {
            self.client.output.writer.set_sequence(input.reader.sequence());
        }
        Ok(())
    }
}

impl ByteSource for ClientFile<'_> {
    fn read<'a>(&'a mut self, buffer: &'a mut Vec<u8>) -> LocalFuture<'a, expr::Result<bool>> {
        Box::pin(self.more(buffer))
    }
}
