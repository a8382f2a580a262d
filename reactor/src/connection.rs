//! One client's socket and its buffers.
//!
//! 1. Bytes are read into a buffer that is borrowed from the worker's pool while there is something to read, and given back when
//!    the session waits for its next command: an idle connection owns no buffer.
//! 2. After a read that did not fill the buffer the socket is empty, so the next read waits for the next edge.
//! 3. Answers are appended to the output buffer and sent with one write when the command, or the batch of commands that came
//!    together, is done; earlier only when more than `DRAIN_ABOVE` bytes wait.
//!
//! 4. With TLS, bytes go through it on their way to and from the socket (`tls`).
//!
//! 5. With the compressed protocol both directions have a stage more (`compression`), which is looked at once per read and per write.

mod bytes;
mod compression;
mod tls;

use crate::{Core, Readiness};
use bytes::Bytes;
use compression::{Packing, Unpacking};
use os::time::Instant;
use protocol::{CompressedWriter, PacketReader, PacketWriter};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use sync::waits::{self, Cause, Kind};
use tls::Tls;
pub use tls::{SESSION_SECONDS, SESSIONS_KEPT, TlsInfo, TlsOffer, configure as configure_tls};

/// Size of an input buffer: above the protocol's limit for frames that must lie in one piece.
const INPUT_BYTES: usize = 32 << 10;
/// Output beyond this size is sent before more is produced.
const DRAIN_ABOVE: usize = 256 << 10;
/// Output buffers larger than this are not kept.
const OUTPUT_KEEP_BYTES: usize = 64 << 10;
const OUTPUT_START_BYTES: usize = 2 << 10;
/// Most commands fit into one of this size: sessions that wait in the middle of a command, thousands of them, hold no more.
const SMALL_BYTES: usize = 1 << 10;
/// Memory of each kind of buffer that a worker keeps for reuse.
const SHELF_BYTES_MAX: usize = 4 << 20;

/// Buffers of one kind that no session uses right now; the one used last is taken first.
#[derive(Debug, Default)]
struct Shelf {
    buffers: RefCell<Vec<Vec<u8>>>,
    bytes: Cell<usize>,
}

impl Shelf {
    fn take(&self) -> Option<Vec<u8>> {
        let buffer = self.buffers.borrow_mut().pop()?;
        self.bytes.set(self.bytes.get() - buffer.capacity());
        Some(buffer)
    }

    fn give(&self, buffer: Vec<u8>) {
        let bytes = self.bytes.get() + buffer.capacity();
        if bytes <= SHELF_BYTES_MAX {
            self.bytes.set(bytes);
            self.buffers.borrow_mut().push(buffer);
        }
    }
}

/// The buffers of one worker that no session uses right now.
#[derive(Debug, Default)]
pub struct Buffers {
    /// To read into, and for large commands.
    input: Shelf,
    /// For input, if it is little.
    small: Shelf,
    output: Shelf,
    packer: RefCell<CompressedWriter>,
}

impl Buffers {
    fn take_input(&self) -> Vec<u8> {
        self.input.take().unwrap_or_else(|| vec![0; INPUT_BYTES])
    }

    fn take_small(&self) -> Vec<u8> {
        self.small.take().unwrap_or_else(|| vec![0; SMALL_BYTES])
    }

    /// Takes back a buffer of either size.
    fn give_input(&self, buffer: Vec<u8>) {
        if buffer.len() == SMALL_BYTES { self.small.give(buffer) } else { self.input.give(buffer) }
    }

    fn take_output(&self) -> Vec<u8> {
        self.output.take().unwrap_or_else(|| Vec::with_capacity(OUTPUT_START_BYTES))
    }

    fn give_output(&self, buffer: Vec<u8>) {
        if buffer.capacity() <= OUTPUT_KEEP_BYTES {
            self.output.give(buffer);
        }
    }
}

/// A connected socket of either kind.
#[derive(Debug)]
pub enum Stream {
    Tcp(os::net::TcpStream),
    Unix(os::net::UnixStream),
    /// One of a pair of sockets; a thread of this process has the other one, and acts for this peer.
    Inside(os::net::UnixStream, Peer),
}

impl Peer {
    /// A client of this machine, without a network address.
    pub fn local() -> Self {
        Self { host: "localhost".into(), address: "localhost".into(), ip: None, is_local: true }
    }

    /// A client at a network address.
    pub fn at(address: SocketAddr) -> Self {
        let ip = address.ip().to_canonical();
        let host = if ip.is_loopback() { "localhost".into() } else { ip.to_string() };
        Self { address: format!("{host}:{}", address.port()), host, ip: Some(ip), is_local: ip.is_loopback() }
    }
}

impl Stream {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&*stream).read(buffer),
            Stream::Unix(stream) | Stream::Inside(stream, _) => (&*stream).read(buffer),
        }
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&*stream).write(bytes),
            Stream::Unix(stream) | Stream::Inside(stream, _) => (&*stream).write(bytes),
        }
    }

    /// The peer, as MySQL prints it in messages and in the process list.
    pub fn peer(&self) -> Peer {
        match self {
            Stream::Unix(_) => Peer::local(),
            Stream::Inside(_, peer) => peer.clone(),
            Stream::Tcp(stream) => match stream.peer_addr() {
                Ok(address) => Peer::at(address),
                Err(_) => Peer { host: "unknown".into(), address: "unknown".into(), ip: None, is_local: false },
            },
        }
    }
}

/// The other side of a connection.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Name or address without the port.
    pub host: String,
    /// With the port.
    pub address: String,
    /// `None` for a unix socket.
    pub ip: Option<std::net::IpAddr>,
    /// Loopback or unix socket.
    pub is_local: bool,
}

/// Why the connection cannot be used any more.
#[derive(Debug)]
pub enum Lost {
    /// Closed between packets.
    Closed,
    /// Closed in the middle of one, or a failing socket.
    Io(io::Error),
    /// Nothing came before the deadline.
    Timeout,
    /// KILL CONNECTION or shutdown.
    Interrupted,
    /// The bytes do not follow the protocol.
    Protocol(protocol::Error),
}

impl From<io::Error> for Lost {
    fn from(error: io::Error) -> Self {
        Lost::Io(error)
    }
}

/// Conditions other than the socket that end a wait.
pub trait Interruptible {
    fn is_interrupted(&self) -> bool;
}

/// The socket with its readiness.
pub struct Socket {
    core: Rc<Core>,
    stream: Stream,
    readiness: Rc<Readiness>,
    /// Events tell when it takes bytes again.
    watches_writable: Cell<bool>,
    tls: Option<Box<Tls>>,
}

impl Socket {
    /// The readiness of the socket, set by events.
    pub fn readiness(&self) -> &Rc<Readiness> {
        &self.readiness
    }

    /// Registers the socket for the running task.
    pub fn new(core: Rc<Core>, mut stream: Stream) -> io::Result<Self> {
        let readiness = match &mut stream {
            Stream::Tcp(stream) => core.register(stream)?,
            Stream::Unix(stream) | Stream::Inside(stream, _) => core.register(stream)?,
        };
        readiness.writable.set(true);
        Ok(Self { core, stream, readiness, watches_writable: Cell::new(false), tls: None })
    }

    /// Is the channel secure, so that nobody else can read it?
    pub fn is_private(&self) -> bool {
        !matches!(self.stream, Stream::Tcp(_)) || self.tls.is_some()
    }

    /// The negotiated parameters of TLS.
    pub fn tls(&self) -> Option<TlsInfo> {
        self.tls.as_ref().map(|tls| tls.info())
    }

    /// Starts TLS, which the client has requested. `early`: bytes that were read already.
    pub async fn start_tls(
        &mut self,
        config: Arc<rustls::ServerConfig>,
        early: &[u8],
        deadline: Instant,
        stop: &impl Interruptible,
    ) -> Result<(), Lost> {
        let tls = Tls::new(config, early)?;
        while let Err(error) = tls.handshake(&self.stream) {
            if error.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            if error.kind() != io::ErrorKind::WouldBlock {
                return Err(Lost::Io(error));
            }
            // The output of a handshake fits any socket's buffer, so the client is next.
            self.readiness.readable.set(false);
            self.readable(deadline, stop).await?;
        }
        self.tls = Some(Box::new(tls));
        // Data after the handshake may have come with its end: then it is in `tls`, and no event reports it.
        self.readiness.readable.set(true);
        Ok(())
    }

    #[inline]
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.tls {
            None => self.stream.read(buffer),
            Some(tls) => tls.read(&self.stream, buffer),
        }
    }

    #[inline]
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match &self.tls {
            None => self.stream.write(bytes),
            Some(tls) => tls.write(&self.stream, bytes),
        }
    }

    /// Sends TLS records that the socket has not taken yet; `false`: the socket is full.
    fn finish_write(&self) -> io::Result<bool> {
        let Some(tls) = &self.tls else { return Ok(true) };
        loop {
            match tls.send(&self.stream) {
                Ok(()) => {
                    // Somebody else may have woken the task before the event came, which is not asked for any more from now on.
                    self.readiness.writable.set(true);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.takes_no_more()?;
                    return Ok(false);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The socket is full: an event reports when it is not.
    #[cold]
    fn takes_no_more(&self) -> io::Result<()> {
        self.readiness.writable.set(false);
        if os::mutated("lost-room") {
            return Ok(());
        }
        self.watch_writable(true)
    }

    /// Registers for events about writing, or unregisters.
    #[cold]
    fn watch_writable(&self, watch: bool) -> io::Result<()> {
        if self.watches_writable.replace(watch) == watch {
            return Ok(());
        }
        let descriptor = match &self.stream {
            Stream::Tcp(stream) => stream.as_raw_fd(),
            Stream::Unix(stream) | Stream::Inside(stream, _) => stream.as_raw_fd(),
        };
        self.core.watch_writable(&mut os::net::SourceFd(&descriptor), watch)
    }

    /// Waits for something else than the socket, for as long as the client is there.
    pub async fn while_there<T>(
        &self,
        wait: impl Future<Output = T>,
        deadline: Instant,
        stop: &impl Interruptible,
    ) -> Result<T, Lost> {
        let mut wait = std::pin::pin!(wait);
        std::future::poll_fn(|cx| {
            if let Poll::Ready(value) = wait.as_mut().poll(cx) {
                return Poll::Ready(Ok(value));
            }
            if self.readiness.hung_up.get() {
                return Poll::Ready(Err(Lost::Closed));
            }
            self.poll_deadline(deadline, stop)
        })
        .await
    }

    async fn readable(&self, deadline: Instant, stop: &impl Interruptible) -> Result<(), Lost> {
        std::future::poll_fn(|_| {
            if self.readiness.readable.get() {
                return Poll::Ready(Ok(()));
            }
            self.poll_deadline(deadline, stop)
        })
        .await
    }
}

impl Socket {
    /// Waits for the client until the wait is interrupted or times out.
    fn poll_deadline<T>(&self, deadline: Instant, stop: &impl Interruptible) -> Poll<Result<T, Lost>> {
        if stop.is_interrupted() {
            return Poll::Ready(Err(Lost::Interrupted));
        }
        if self.core.now() >= deadline {
            return Poll::Ready(Err(Lost::Timeout));
        }
        self.core.wake_at(deadline);
        Poll::Pending
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        match &mut self.stream {
            Stream::Tcp(stream) => self.core.deregister(stream),
            Stream::Unix(stream) | Stream::Inside(stream, _) => self.core.deregister(stream),
        }
    }
}

/// Bytes from the client, cut into payloads.
pub struct Input {
    buffers: Rc<Buffers>,
    pub reader: PacketReader,
    /// Owns nothing while the session waits for a command.
    bytes: Bytes,
    unpacking: Option<Box<Unpacking>>,
}

/// How far a client's file has been read.
#[derive(Debug, Default)]
pub struct FilePieces {
    /// Bytes of the frame.
    left: usize,
    /// The payload continues in the next frame.
    continues: bool,
    ended: bool,
}

/// The place of the last payload.
enum Place {
    Bytes { length: usize },
    Reader,
}

impl Input {
    pub fn new(buffers: Rc<Buffers>) -> Self {
        Self { buffers, reader: PacketReader::for_login(), bytes: Bytes::default(), unpacking: None }
    }

    /// Compresses both directions from now on; called after the login's OK has been sent.
    pub fn start_compression(&mut self, output: &mut Output) {
        let sequence = Rc::new(Cell::new(0));
        self.reader.set_check_sequence(false);
        self.unpacking = Some(Unpacking::new(std::mem::take(&mut self.bytes), Rc::clone(&sequence)));
        output.packing = Some(Packing::new(sequence));
    }

    /// Bytes that were read but not consumed: after the client's request for TLS they are TLS already.
    pub fn take_unread(&mut self) -> Vec<u8> {
        let bytes = self.bytes.unused().to_vec();
        self.bytes.consume(bytes.len());
        bytes
    }

    /// The next packet is a command: packet numbers restart.
    pub fn begin_command(&mut self) {
        self.reader.set_sequence(0);
        if let Some(unpacking) = &self.unpacking
            && self.bytes.is_empty()
        {
            unpacking.begin_command();
        }
    }

    /// Are there bytes that have been read and not been answered?
    pub fn has_more(&self) -> bool {
        !self.bytes.is_empty() || self.unpacking.as_ref().is_some_and(|unpacking| unpacking.has_more())
    }

    /// Has a whole packet been read already?
    pub fn has_packet(&self) -> bool {
        let bytes = self.bytes.unused();
        match bytes.first_chunk::<{ protocol::HEADER_BYTES }>() {
            Some(&[a, b, c, _]) => bytes.len() >= protocol::HEADER_BYTES + u32::from_le_bytes([a, b, c, 0]) as usize,
            None => false,
        }
    }

    /// The next payload. It is valid until the next call.
    pub async fn next_payload(&mut self, socket: &Socket, deadline: Instant, stop: &impl Interruptible) -> Result<&[u8], Lost> {
        let place = loop {
            let read = self.reader.next(self.bytes.unused()).map_err(Lost::Protocol)?;
            let (consumed, is_gathered) = (read.consumed, read.is_gathered);
            let length = read.payload.map(<[u8]>::len);
            self.bytes.consume(consumed);
            match length {
                Some(_) if is_gathered => break Place::Reader,
                Some(length) => break Place::Bytes { length },
                // The reader stopped early: it must check the following bytes first.
                None if consumed > 0 && !self.bytes.is_empty() => {}
                None => self.read_more(socket, deadline, stop).await?,
            }
        };
        match place {
            Place::Bytes { length } => Ok(self.bytes.used(length)),
            Place::Reader => Ok(self.reader.gathered()),
        }
    }

    /// Skips the rest of a payload that is too large, so that the client reads the error. Returns the number of the
    /// last frame, if it came before the deadline.
    pub async fn skip_payload(&mut self, socket: &Socket, deadline: Instant, stop: &impl Interruptible) -> Option<u8> {
        loop {
            while self.bytes.len() < protocol::HEADER_BYTES {
                self.read_more(socket, deadline, stop).await.ok()?;
            }
            let &[a, b, c, sequence] = self.bytes.unused().first_chunk().expect("read above");
            self.bytes.consume(protocol::HEADER_BYTES);
            let length = u32::from_le_bytes([a, b, c, 0]) as usize;
            let mut left = length;
            while left > 0 {
                if self.bytes.is_empty() {
                    self.read_more(socket, deadline, stop).await.ok()?;
                }
                let skipped = left.min(self.bytes.len());
                self.bytes.consume(skipped);
                left -= skipped;
            }
            if length < protocol::FRAME_BYTES_MAX {
                return Some(sequence);
            }
        }
    }

    /// The next piece of a file that is sent in payloads; `None` at the empty payload that ends it. Pieces are returned
    /// as they arrive, so payloads may have any size.
    pub async fn next_piece(
        &mut self,
        file: &mut FilePieces,
        socket: &Socket,
        deadline: Instant,
        stop: &impl Interruptible,
    ) -> Result<Option<&[u8]>, Lost> {
        while file.left == 0 {
            if file.ended {
                return Ok(None);
            }
            while self.bytes.len() < protocol::HEADER_BYTES {
                self.read_more(socket, deadline, stop).await?;
            }
            let &[a, b, c, number] = self.bytes.unused().first_chunk().expect("read above");
            self.reader.note_frame(number).map_err(Lost::Protocol)?;
            self.bytes.consume(protocol::HEADER_BYTES);
            file.left = u32::from_le_bytes([a, b, c, 0]) as usize;
            // An empty frame after a full one only ends its payload.
            file.ended = file.left == 0 && !file.continues;
            file.continues = file.left == protocol::FRAME_BYTES_MAX;
        }
        if self.bytes.is_empty() {
            self.read_more(socket, deadline, stop).await?;
        }
        let length = file.left.min(self.bytes.len());
        self.bytes.consume(length);
        file.left -= length;
        Ok(Some(self.bytes.used(length)))
    }

    async fn read_more(&mut self, socket: &Socket, deadline: Instant, stop: &impl Interruptible) -> Result<(), Lost> {
        if self.bytes.is_empty() {
            self.reader.release_memory();
        }
        let more = match &mut self.unpacking {
            None => self.bytes.read(&self.buffers, socket, deadline, stop).await?,
            // Boxed: the session's future need not be larger for a feature that few connections use.
            Some(unpacking) => Box::pin(unpacking.read(&mut self.bytes, &self.buffers, socket, deadline, stop)).await?,
        };
        match more {
            true => Ok(()),
            false if self.bytes.is_empty() && !self.reader.is_inside_payload() => Err(Lost::Closed),
            false => Err(Lost::Io(io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

/// Bytes for the client.
pub struct Output {
    buffers: Rc<Buffers>,
    pub writer: PacketWriter,
    /// How many of the writer's bytes the socket, or the packing, has taken.
    sent: usize,
    packing: Option<Box<Packing>>,
    has_buffer: bool,
    pub write_timeout: Duration,
    deadline: Option<Instant>,
    /// Bytes sent that SHOW STATUS does not know of yet.
    bytes_sent: u64,
}

impl Output {
    pub fn new(buffers: Rc<Buffers>) -> Self {
        Self {
            buffers,
            writer: PacketWriter::new(),
            sent: 0,
            packing: None,
            has_buffer: false,
            write_timeout: Duration::from_secs(60),
            deadline: None,
            bytes_sent: 0,
        }
    }

    /// Makes sure that there is an output buffer; called when a command begins.
    pub fn prepare(&mut self) {
        if !self.has_buffer {
            let mut buffer = self.buffers.take_output();
            self.writer.swap_buffer(&mut buffer);
            self.has_buffer = true;
        }
    }

    /// Adds the bytes sent since the last call to a counter.
    pub fn count_sent(&mut self, counter: &Cell<u64>) {
        counter.set(counter.get() + std::mem::take(&mut self.bytes_sent));
    }

    /// Bytes of answers that `count_sent` has not counted: they were sent since, or are still buffered.
    pub fn uncounted(&self) -> u64 {
        self.bytes_sent + (self.writer.len() - self.sent) as u64
    }

    /// Should the buffer be sent before more is produced?
    pub fn is_full(&self) -> bool {
        self.writer.len() - self.sent > DRAIN_ABOVE
    }

    /// Sends all that is buffered.
    pub async fn flush(&mut self, socket: &Socket, stop: &impl Interruptible) -> Result<(), Lost> {
        std::future::poll_fn(|_| self.poll_flush(socket, stop)).await
    }

    /// The answer that follows is one to nothing in particular.
    pub fn restart_sequence(&mut self) {
        self.writer.set_sequence(0);
        if let Some(packing) = &self.packing {
            packing.set_sequence(0);
        }
    }

    /// As `flush`, for one poll.
    pub fn poll_flush(&mut self, socket: &Socket, stop: &impl Interruptible) -> Poll<Result<(), Lost>> {
        if self.packing.is_some() {
            return self.poll_flush_packed(socket, stop);
        }
        while self.sent < self.writer.len() {
            match send(socket, &self.writer.bytes()[self.sent..]) {
                Sent::Bytes(count) => {
                    self.sent += count;
                    self.bytes_sent += count as u64;
                    self.deadline = None;
                }
                Sent::Nothing => return self.wait(socket, stop),
                Sent::Failed(error) => return Poll::Ready(Err(Lost::Io(error))),
            }
        }
        self.poll_finish(socket, stop)
    }

    #[cold]
    fn poll_flush_packed(&mut self, socket: &Socket, stop: &impl Interruptible) -> Poll<Result<(), Lost>> {
        let packing = self.packing.as_mut().expect("looked at by the caller");
        loop {
            if packing.waiting().is_empty() {
                let plain = &self.writer.bytes()[self.sent..];
                if plain.is_empty() {
                    break;
                }
                self.sent += packing.pack(plain, &self.buffers);
            }
            match send(socket, packing.waiting()) {
                Sent::Bytes(count) => {
                    packing.consume(count);
                    self.bytes_sent += count as u64;
                    self.deadline = None;
                }
                Sent::Nothing => return self.wait(socket, stop),
                Sent::Failed(error) => return Poll::Ready(Err(Lost::Io(error))),
            }
        }
        self.poll_finish(socket, stop)
    }

    /// The socket has taken everything: so has TLS, or it waits.
    #[inline]
    fn poll_finish(&mut self, socket: &Socket, stop: &impl Interruptible) -> Poll<Result<(), Lost>> {
        if !socket.finish_write()? {
            return self.wait(socket, stop);
        }
        if socket.watches_writable.get() {
            socket.watch_writable(false)?;
            socket.core.current_clock().end_beside();
        }
        self.writer.clear();
        self.sent = 0;
        Poll::Ready(Ok(()))
    }

    #[cold]
    fn wait(&mut self, socket: &Socket, stop: &impl Interruptible) -> Poll<Result<(), Lost>> {
        let deadline = *self.deadline.get_or_insert_with(|| socket.core.now() + self.write_timeout);
        socket.core.current_clock().begin_beside();
        waits::pending(Cause::of(Kind::NetworkWrite));
        socket.poll_deadline(deadline, stop)
    }

    /// Gives the buffer back: everything is sent and the session waits.
    pub fn release(&mut self) {
        if self.has_buffer && self.writer.is_empty() {
            let mut buffer = Vec::new();
            self.writer.swap_buffer(&mut buffer);
            self.buffers.give_output(buffer);
            self.has_buffer = false;
            if let Some(packing) = &mut self.packing {
                packing.release();
            }
        }
    }
}

/// The result of writing bytes to the socket.
enum Sent {
    Bytes(usize),
    /// It takes none now.
    Nothing,
    Failed(io::Error),
}

#[inline]
fn send(socket: &Socket, bytes: &[u8]) -> Sent {
    while socket.readiness.writable.get() {
        match socket.write(bytes) {
            Ok(0) => return Sent::Failed(io::ErrorKind::WriteZero.into()),
            Ok(count) => return Sent::Bytes(count),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if let Err(error) = socket.takes_no_more() {
                    return Sent::Failed(error);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Sent::Failed(error),
        }
    }
    Sent::Nothing
}

#[cfg(test)]
mod tests;
