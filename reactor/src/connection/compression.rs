//! The compressed protocol of one connection: what `Input` and `Output` own besides when the client asked for it.
//!
//! Coming in, frames are unpacked one at a time and only while no whole packet is there, so at most one buffer of frames and one of plain
//! bytes are held, whatever a frame promises. Going out, what was written is packed piece by piece, the next one when the socket has taken
//! the last. The deflater is the worker's, because it is large and keeps nothing between two pieces; the inflater is given up when the
//! connection waits for a command.
//!
//! Frames hold whole packets where that is possible, as MySQL's do: some clients know how to put a packet together from two frames, but
//! not from more, nor from one that ends inside a packet's header.
//!
//! C1: both sides count frames together, by the number in `sequence`: a command begins at 0 and its answer goes on from its last frame.

use super::bytes::Bytes;
use super::{Buffers, Interruptible, Lost, Socket};
use os::time::Instant;
use protocol::{CompressedReader, Unpacked};
use std::cell::Cell;
use std::io;
use std::rc::Rc;

/// A frame is ended after the packet that brings it here.
const FRAME_BYTES: usize = 64 << 10;

/// Unpacks incoming frames.
#[derive(Debug)]
pub(super) struct Unpacking {
    reader: CompressedReader,
    raw: Bytes,
    sequence: Rc<Cell<u8>>,
}

impl Unpacking {
    /// `early` came before compression was agreed on.
    pub(super) fn new(early: Bytes, sequence: Rc<Cell<u8>>) -> Box<Self> {
        Box::new(Self { reader: CompressedReader::new(), raw: early, sequence })
    }

    pub(super) fn has_more(&self) -> bool {
        !self.raw.is_empty() || !self.reader.is_between_frames()
    }

    /// C1
    pub(super) fn begin_command(&self) {
        self.sequence.set(0);
    }

    /// Adds to `plain`, waiting for the socket; `false`: the client has closed.
    pub(super) async fn read(
        &mut self,
        plain: &mut Bytes,
        buffers: &Buffers,
        socket: &Socket,
        deadline: Instant,
        stop: &impl Interruptible,
    ) -> Result<bool, Lost> {
        loop {
            let read = self.unpack(plain, buffers).map_err(Lost::Protocol)?;
            if read.written > 0 {
                return Ok(true);
            }
            if read.consumed > 0 {
                continue;
            }
            plain.release(buffers);
            self.reader.release_memory();
            if !self.raw.read(buffers, socket, deadline, stop).await? {
                let between = self.raw.is_empty() && self.reader.is_between_frames();
                return if between { Ok(false) } else { Err(Lost::Io(io::ErrorKind::UnexpectedEof.into())) };
            }
        }
    }

    fn unpack(&mut self, plain: &mut Bytes, buffers: &Buffers) -> protocol::Result<Unpacked> {
        self.reader.set_sequence(self.sequence.get());
        let read = self.reader.read(self.raw.unused(), plain.room(buffers))?;
        self.sequence.set(self.reader.sequence());
        self.raw.consume(read.consumed);
        plain.grow(read.written);
        Ok(read)
    }
}

/// Packs outgoing bytes into frames.
#[derive(Debug)]
pub(super) struct Packing {
    sequence: Rc<Cell<u8>>,
    frames: Vec<u8>,
    /// How many bytes of the frames the socket has taken.
    sent: usize,
    /// Remaining bytes of a packet that is too large for one frame.
    split_left: usize,
}

impl Packing {
    pub(super) fn new(sequence: Rc<Cell<u8>>) -> Box<Self> {
        Box::new(Self { sequence, frames: Vec::new(), sent: 0, split_left: 0 })
    }

    pub(super) fn set_sequence(&self, sequence: u8) {
        self.sequence.set(sequence);
    }

    /// Frames that wait for the socket.
    pub(super) fn waiting(&self) -> &[u8] {
        &self.frames[self.sent..]
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.sent += count;
    }

    /// Packs the first piece of `plain`, when all before it is sent; answers how many bytes that is.
    pub(super) fn pack(&mut self, plain: &[u8], buffers: &Buffers) -> usize {
        debug_assert!(self.waiting().is_empty(), "one piece at a time");
        let piece = &plain[..self.piece(plain)];
        self.frames.clear();
        self.sent = 0;
        let mut sequence = self.sequence.get();
        buffers.packer.borrow_mut().write(piece, &mut self.frames, &mut sequence);
        self.sequence.set(sequence);
        piece.len()
    }

    /// The length of the next piece: packets until there are enough, or a part of one that is too large. Data that is
    /// flushed at once consists of whole packets.
    fn piece(&mut self, plain: &[u8]) -> usize {
        let mut whole = 0;
        while self.split_left == 0 && whole < FRAME_BYTES {
            let Some(&[a, b, c, _]) = plain[whole..].first_chunk() else { break };
            let packet = protocol::HEADER_BYTES + u32::from_le_bytes([a, b, c, 0]) as usize;
            if whole + packet <= protocol::FRAME_BYTES_MAX {
                whole += packet;
            } else if whole == 0 {
                self.split_left = packet;
            } else {
                break;
            }
        }
        if whole > 0 {
            return whole;
        }
        let part = self.split_left.min(protocol::FRAME_BYTES_MAX);
        self.split_left -= part;
        part
    }

    /// Gives the memory back: everything is sent.
    pub(super) fn release(&mut self) {
        debug_assert!(self.waiting().is_empty(), "released when all is sent");
        self.frames = Vec::new();
        self.sent = 0;
    }
}
