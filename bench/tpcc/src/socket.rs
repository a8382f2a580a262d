//! A connection without blocking: one `send` and one `recv` for a command and its answer, where both fit.
//!
//! 1. It is registered for input alone. Whoever waits for room to write too (tokio's own streams do), or sleeps in `recv`, is woken
//!    each time the server takes a command out of a unix socket, besides for the answer.
//! 2. Epoll tells changes only. So a read that does not fill the buffer has taken all there was: the next one waits first, and no read is
//!    spent on finding nothing.
//! 3. A command that does not fit into the socket is rare (`load` sends such); then, and only then, it waits for room, under a second
//!    descriptor.

use crate::error::Error;
use crate::login::Stream;
use std::io::{ErrorKind, Read, Write};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Bytes of an answer that need no second read; nearly all are shorter.
const ANSWER_BYTES: usize = 16 << 10;

pub struct Socket {
    stream: AsyncFd<Stream>,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were received
    filled: usize,
}

impl Socket {
    /// Takes a connection; within a runtime.
    pub fn new(stream: Stream) -> Result<Self, Error> {
        stream.set_nonblocking()?;
        Ok(Self { stream: register(stream, Interest::READABLE)?, buffer: vec![0; ANSWER_BYTES], filled: 0 })
    }

    /// Sends a command, in front of whose answer nothing is left of the one before.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.filled = 0;
        match self.stream.get_ref().write(bytes) {
            Ok(sent) if sent == bytes.len() => Ok(()),
            Ok(sent) => self.send_slowly(&bytes[sent..]).await,
            Err(error) if is_later(&error) => self.send_slowly(bytes).await,
            Err(error) => Err(error.into()),
        }
    }

    #[cold]
    async fn send_slowly(&self, mut bytes: &[u8]) -> Result<(), Error> {
        let writable = register(self.stream.get_ref().try_clone()?, Interest::WRITABLE)?;
        while !bytes.is_empty() {
            let mut room = writable.writable().await?;
            match writable.get_ref().write(bytes) {
                Ok(0) => return Err(closed()),
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => room.clear_ready(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits for bytes, and takes them.
    pub async fn receive(&mut self) -> Result<(), Error> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            let mut ready = std::future::poll_fn(|context| self.stream.poll_read_ready(context)).await?;
            let room = &mut self.buffer[self.filled..];
            match ready.get_inner().read(room) {
                Ok(0) => return Err(closed()),
                Ok(taken) => {
                    if taken < room.len() {
                        ready.clear_ready();
                    }
                    self.filled += taken;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => ready.clear_ready(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// All bytes received since the last command was sent.
    pub fn received(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }
}

/// Has tokio watch a stream.
fn register(stream: Stream, interest: Interest) -> Result<AsyncFd<Stream>, Error> {
    #[expect(
        deprecated,
        reason = "its only fault: a type could change its descriptor. Streams of the standard library keep theirs"
    )]
    Ok(AsyncFd::with_interest(stream, interest)?)
}

fn is_later(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn closed() -> Error {
    Error::Io(std::io::Error::new(ErrorKind::UnexpectedEof, "the server closes the connection"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::block_on;
    use std::os::unix::net::UnixStream;

    /// A socket and its other end.
    fn pair() -> (Socket, UnixStream) {
        let (here, there) = UnixStream::pair().unwrap();
        (Socket::new(Stream::Unix(here)).unwrap(), there)
    }

    #[test]
    fn a_command_beyond_the_socket_s_room_is_sent_in_full() {
        let sent: Vec<u8> = (0..4 << 20).map(|n: u32| (n % 251) as u8).collect();
        let received = block_on(async {
            let (mut socket, mut there) = pair();
            let reader = std::thread::spawn(move || {
                let mut all = Vec::new();
                there.read_to_end(&mut all).map(|_| all)
            });
            socket.send(&sent).await?;
            drop(socket);
            Ok(reader.join().unwrap()?)
        });
        assert!(received.unwrap() == sent);
    }

    #[test]
    fn an_answer_longer_than_the_buffer_is_received_in_full() {
        let sent: Vec<u8> = (0..5 * ANSWER_BYTES).map(|n| (n % 251) as u8).collect();
        let received = block_on(async {
            let (mut socket, mut there) = pair();
            there.write_all(&sent)?;
            while socket.received().len() < sent.len() {
                socket.receive().await?;
            }
            Ok(socket.received().to_vec())
        });
        assert!(received.unwrap() == sent);
    }

    #[test]
    fn the_next_answer_is_waited_for() {
        let outcome = block_on(async {
            let (mut socket, mut there) = pair();
            for round in 0..3_u8 {
                socket.send(&[round]).await?;
                let mut command = [0];
                there.read_exact(&mut command)?;
                there.write_all(&[command[0] + 100])?;
                socket.receive().await?;
                assert_eq!(socket.received(), [round + 100]);
            }
            drop(there);
            socket.receive().await
        });
        assert!(matches!(outcome, Err(Error::Io(error)) if error.kind() == ErrorKind::UnexpectedEof));
    }
}
