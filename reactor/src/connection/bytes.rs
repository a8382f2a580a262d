//! Bytes on their way in: a buffer from the worker's pool, with what has been read and not been used.
//!
//! N1: `readiness.readable` is false only if the last read found the socket empty and no event came since.

use super::{Buffers, INPUT_BYTES, Interruptible, Lost, SMALL_BYTES, Socket};
use os::time::Instant;
use std::io;

/// Owns no buffer while nothing is read.
#[derive(Debug, Default)]
pub(super) struct Bytes {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Bytes {
    pub(super) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    /// The bytes that were read and not consumed.
    #[inline]
    pub(super) fn unused(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    #[inline]
    pub(super) fn consume(&mut self, count: usize) {
        self.start += count;
        debug_assert!(self.start <= self.end, "only what is there is used");
    }

    /// The bytes that were used last, until something is read.
    #[inline]
    pub(super) fn used(&self, count: usize) -> &[u8] {
        &self.buffer[self.start - count..self.start]
    }

    /// Space after the unconsumed bytes, at least one byte. Call `grow` first if there are unconsumed bytes.
    pub(super) fn room(&mut self, buffers: &Buffers) -> &mut [u8] {
        if self.buffer.len() < INPUT_BYTES {
            // None yet, or a small one that holds the beginning of something.
            let mut large = buffers.take_input();
            let unused = self.end - self.start;
            large[..unused].copy_from_slice(&self.buffer[self.start..self.end]);
            let small = std::mem::replace(&mut self.buffer, large);
            (self.start, self.end) = (0, unused);
            if !small.is_empty() {
                buffers.give_input(small);
            }
        }
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        debug_assert!(self.end < self.buffer.len(), "the reader consumes frames that fill the buffer");
        &mut self.buffer[self.end..]
    }

    pub(super) fn grow(&mut self, count: usize) {
        self.end += count;
    }

    /// Moves the input into a small buffer if it fits, because the session may hold it for long.
    #[inline]
    fn shrink(&mut self, buffers: &Buffers) {
        let unused = self.end - self.start;
        if unused <= SMALL_BYTES {
            let mut small = buffers.take_small();
            small[..unused].copy_from_slice(&self.buffer[self.start..self.end]);
            buffers.give_input(std::mem::replace(&mut self.buffer, small));
            (self.start, self.end) = (0, unused);
        }
    }

    /// Reads from the socket, waiting if necessary; `false`: the client has closed it.
    pub(super) async fn read(
        &mut self,
        buffers: &Buffers,
        socket: &Socket,
        deadline: Instant,
        stop: &impl Interruptible,
    ) -> Result<bool, Lost> {
        loop {
            if !socket.readiness.readable.get() {
                self.release(buffers);
                socket.readable(deadline, stop).await?;
            }
            let room = self.room(buffers);
            let asked = room.len();
            match socket.read(room) {
                Ok(0) => return Ok(false),
                Ok(count) => {
                    self.grow(count);
                    self.shrink(buffers);
                    // N1: less than asked for means that the socket is empty; unless the peer has closed, which comes last.
                    // TLS may hold more than was asked for.
                    if count < asked && !socket.readiness.hung_up.get() && socket.tls.is_none() {
                        socket.readiness.readable.set(false);
                    }
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => socket.readiness.readable.set(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Lost::Io(error)),
            }
        }
    }

    /// Gives the buffer back, if nothing is in it.
    pub(super) fn release(&mut self, buffers: &Buffers) {
        if self.start == self.end && !self.buffer.is_empty() {
            buffers.give_input(std::mem::take(&mut self.buffer));
            (self.start, self.end) = (0, 0);
        }
    }
}
