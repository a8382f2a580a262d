//! Bytes on their way in: a buffer from the worker's pool, with what has been read and not been used.
//!
//! N1: `readiness.readable` is false only if the last read found the socket empty and no event came since.

use super::{Buffers, Interruptible, Lost, Socket};
use std::io;
use std::time::Instant;

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

    /// What has been read and not been used.
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

    /// Room behind the unused bytes, at least one byte. Call `grow` when something lies there.
    pub(super) fn room(&mut self, buffers: &Buffers) -> &mut [u8] {
        if self.buffer.is_empty() {
            self.buffer = buffers.take_input();
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

    /// Reads what the socket has, waiting for it; `false`: the client has closed.
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
            match socket.stream.read(room) {
                Ok(0) => return Ok(false),
                Ok(count) => {
                    self.grow(count);
                    // N1: less than asked for means that the socket is empty; unless the peer has closed, which comes last.
                    if count < asked && !socket.readiness.hung_up.get() {
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
