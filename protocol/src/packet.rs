//! Framing: a stream of bytes to payloads, and payloads to bytes.
//!
//! ```text
//! frame:   length u24 | sequence u8 | payload bytes
//! payload: frames of 0xff_ffff bytes, then one shorter frame (perhaps empty)
//! ```
//!
//! Reading, [`PacketReader::next`]:
//! 1. A payload in one frame that lies whole in the input is borrowed from it.
//! 2. A short frame that does not is left there until more has come.
//! 3. A frame over [`STREAM_ABOVE`] bytes, or one of several of a payload, is moved piece by piece into the reader's own buffer,
//!    so that the caller's input buffer need not be larger than `STREAM_ABOVE + 4` and memory grows only with bytes received.
//!
//! Writing, [`PacketWriter`]: a packet is begun (four bytes kept free), its payload appended to the buffer, and ended (header
//! patched, payload cut into frames where it is too long for one).
//!
//! Invariants: P1: a payload over the limit is refused when its header is seen, before its bytes are kept. P2: outside of
//! `begin`..`end` the writer's buffer holds whole packets only. P3: both sides of a connection count frames together: an answer
//! continues with the number after the request's last frame, and each command begins at 0.

use crate::error::{Error, Result};

/// Bytes of a frame's header.
pub const HEADER_BYTES: usize = 4;
/// Payload of a full frame; another frame follows it.
pub const FRAME_BYTES_MAX: usize = 0xff_ffff;
/// Frames up to this size are waited for in the caller's buffer, larger ones are streamed into the reader's.
pub const STREAM_ABOVE: usize = 16 << 10;
/// Limit of a payload until the client is authenticated: user, database and 64 KiB of connection attributes fit.
pub const LOGIN_PAYLOAD_BYTES_MAX: usize = 96 << 10;
/// The reader's own buffer is given back when it has grown beyond this.
const KEEP_BYTES: usize = 64 << 10;

/// Cuts a client's byte stream into payloads.
#[derive(Debug)]
pub struct PacketReader {
    payload_bytes_max: usize,
    check_sequence: bool,
    /// Number of the frame that is due.
    sequence: u8,
    /// Payload gathered so far when it does not come in one piece.
    gathered: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between payloads. The gathered bytes, if any, belong to a payload that was handed out.
    Idle,
    /// At a header in the middle of a payload.
    Header,
    /// `left` bytes of a frame are missing; `last`: the payload ends with it.
    Body { left: usize, last: bool },
}

/// What [`PacketReader::next`] took from the input and found in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Read<'a> {
    /// Bytes at the start of the input that are done with (after `payload`, which may lie in them).
    pub consumed: usize,
    /// `None`: more input is needed.
    pub payload: Option<&'a [u8]>,
    /// The payload lies in the reader ([`PacketReader::gathered`]); otherwise it is the end of the consumed bytes.
    pub is_gathered: bool,
}

impl Read<'_> {
    fn more(consumed: usize) -> Self {
        Read { consumed, payload: None, is_gathered: false }
    }
}

impl PacketReader {
    /// A reader for the start of a connection: the first frame has number 1 (the greeting was 0), payloads are small.
    pub fn for_login() -> Self {
        Self {
            payload_bytes_max: LOGIN_PAYLOAD_BYTES_MAX,
            check_sequence: true,
            sequence: 1,
            gathered: Vec::new(),
            state: State::Idle,
        }
    }

    /// Sets the limit for payloads that begin from now on (`max_allowed_packet`).
    pub fn set_payload_bytes_max(&mut self, limit: usize) {
        self.payload_bytes_max = limit;
    }

    /// Inside the compressed protocol the outer frames carry the checked numbers.
    pub fn set_check_sequence(&mut self, check: bool) {
        self.check_sequence = check;
    }

    /// The number of the next frame, of whichever side sends it. (P3)
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Continues the count where a writer left it, or starts a new command with 0.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Is a payload only partly there? (A client that vanishes now vanishes in the middle of a command.)
    pub fn is_inside_payload(&self) -> bool {
        self.state != State::Idle
    }

    /// The next payload of `input`, the bytes that have not been consumed. Call again with what is left until it consumes
    /// nothing, then with more.
    pub fn next<'a>(&'a mut self, input: &'a [u8]) -> Result<Read<'a>> {
        if self.state == State::Idle {
            let Some((header, rest)) = input.split_first_chunk::<HEADER_BYTES>() else {
                return Ok(Read::more(0));
            };
            let (length, number) = decode_header(*header);
            if length <= STREAM_ABOVE && rest.len() < length {
                self.check(length, number)?;
                return Ok(Read::more(0));
            }
            if length < FRAME_BYTES_MAX && rest.len() >= length {
                self.accept(length, number)?;
                return Ok(Read { consumed: HEADER_BYTES + length, payload: Some(&rest[..length]), is_gathered: false });
            }
        }
        self.next_gathered(input)
    }

    /// The slow way: a payload that is large, or in several frames.
    #[cold]
    fn next_gathered<'a>(&'a mut self, input: &'a [u8]) -> Result<Read<'a>> {
        if self.state == State::Idle {
            self.gathered.clear();
            self.gathered.shrink_to(KEEP_BYTES);
            self.state = State::Header;
        }
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            match self.state {
                State::Idle => return Ok(Read { consumed, payload: Some(&self.gathered), is_gathered: true }),
                State::Header => {
                    let Some(header) = rest.first_chunk::<HEADER_BYTES>() else {
                        return Ok(Read::more(consumed));
                    };
                    let (length, number) = decode_header(*header);
                    match self.accept(length, number) {
                        // The next call reports it, after the bytes before the bad frame are consumed.
                        Err(_) if consumed > 0 => return Ok(Read::more(consumed)),
                        accepted => accepted?,
                    }
                    consumed += HEADER_BYTES;
                    self.state = State::Body { left: length, last: length < FRAME_BYTES_MAX };
                }
                State::Body { left, last } => {
                    let taken = left.min(rest.len());
                    self.gathered.extend_from_slice(&rest[..taken]);
                    consumed += taken;
                    self.state = match (left - taken, last) {
                        (0, true) => State::Idle,
                        (0, false) => State::Header,
                        (left, _) => {
                            self.state = State::Body { left, last };
                            return Ok(Read::more(consumed));
                        }
                    };
                }
            }
        }
    }

    /// The payload that was gathered last, until the next call of [`Self::next`].
    pub fn gathered(&self) -> &[u8] {
        &self.gathered
    }

    /// Gives the memory of the last large payload back, for a connection that goes idle.
    pub fn release_memory(&mut self) {
        if self.state == State::Idle {
            self.gathered = Vec::new();
        }
    }

    fn check(&self, length: usize, number: u8) -> Result<()> {
        if self.check_sequence && number != self.sequence {
            return Err(Error::OutOfOrder { expected: self.sequence, found: number });
        }
        let gathered = if self.state == State::Idle { 0 } else { self.gathered.len() };
        if gathered + length > self.payload_bytes_max {
            return Err(Error::TooLarge { bytes: (gathered + length) as u64, limit: self.payload_bytes_max });
        }
        Ok(())
    }

    /// Takes note of a frame that somebody else has read: the payload's length is theirs to bound.
    pub fn note_frame(&mut self, number: u8) -> Result<()> {
        self.accept(0, number)
    }

    fn accept(&mut self, length: usize, number: u8) -> Result<()> {
        self.check(length, number)?;
        self.sequence = number.wrapping_add(1);
        Ok(())
    }
}

fn decode_header([a, b, c, number]: [u8; HEADER_BYTES]) -> (usize, u8) {
    (u32::from_le_bytes([a, b, c, 0]) as usize, number)
}

/// The bytes on their way to a client, and the number of the next frame.
#[derive(Debug, Default)]
pub struct PacketWriter {
    buffer: Vec<u8>,
    sequence: u8,
}

/// Where a packet that was begun starts; give it to [`PacketWriter::end`].
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketStart(usize);

impl PacketWriter {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Whole packets that wait to be sent (P2).
    pub fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Forgets the bytes: they have been sent.
    pub fn clear(&mut self) {
        self.buffer.clear();
    }

    /// Forgets all packets that were written after the buffer had this length; the caller restores the sequence number.
    /// Takes back a half-written packet too.
    pub fn truncate(&mut self, length: usize, sequence: u8) {
        self.buffer.truncate(length);
        self.sequence = sequence;
    }

    /// Forgets the first bytes: they have been sent.
    pub fn drain_front(&mut self, count: usize) {
        if count == self.buffer.len() {
            self.buffer.clear();
        } else {
            self.buffer.drain(..count);
        }
    }

    /// Gives memory back when an unusually large answer has been sent.
    pub fn shrink(&mut self, capacity_max: usize) {
        if self.buffer.capacity() > capacity_max {
            self.buffer.shrink_to(capacity_max);
        }
    }

    /// Takes the buffer for sending, leaving `replacement` (cleared) in its place.
    pub fn swap_buffer(&mut self, replacement: &mut Vec<u8>) {
        replacement.clear();
        std::mem::swap(&mut self.buffer, replacement);
    }

    /// Begins a packet: append its payload to [`Self::payload`], then `end` it.
    #[inline]
    pub fn begin(&mut self) -> PacketStart {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(&[0; HEADER_BYTES]);
        PacketStart(start)
    }

    /// The buffer, to append payload bytes of the packet that was begun.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Ends the packet: fills its header in.
    #[inline]
    pub fn end(&mut self, PacketStart(start): PacketStart) {
        let length = self.buffer.len() - start - HEADER_BYTES;
        if length >= FRAME_BYTES_MAX {
            return self.end_long(start);
        }
        self.patch_header(start, length);
    }

    /// Drops the packet that was begun.
    pub fn cancel(&mut self, PacketStart(start): PacketStart) {
        self.buffer.truncate(start);
    }

    /// One packet with the payload that `fill` appends.
    #[inline]
    pub fn packet(&mut self, fill: impl FnOnce(&mut Vec<u8>)) {
        let start = self.begin();
        fill(&mut self.buffer);
        self.end(start);
    }

    #[inline]
    fn patch_header(&mut self, at: usize, length: usize) {
        let header = (length as u32) | (u32::from(self.sequence) << 24);
        self.buffer[at..at + HEADER_BYTES].copy_from_slice(&header.to_le_bytes());
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Cuts a payload of 16 MiB or more into frames. The frames are moved apart from the last one backwards, so each byte moves once.
    #[cold]
    fn end_long(&mut self, start: usize) {
        let length = self.buffer.len() - start - HEADER_BYTES;
        let full_frames = length / FRAME_BYTES_MAX;
        self.buffer.resize(self.buffer.len() + full_frames * HEADER_BYTES, 0);
        for frame in (1..=full_frames).rev() {
            let from = start + HEADER_BYTES + frame * FRAME_BYTES_MAX;
            let bytes = if frame == full_frames { length % FRAME_BYTES_MAX } else { FRAME_BYTES_MAX };
            self.buffer.copy_within(from..from + bytes, from + frame * HEADER_BYTES);
        }
        for frame in 0..=full_frames {
            let bytes = if frame == full_frames { length % FRAME_BYTES_MAX } else { FRAME_BYTES_MAX };
            self.patch_header(start + frame * (HEADER_BYTES + FRAME_BYTES_MAX), bytes);
        }
    }
}

#[cfg(test)]
#[path = "packet/tests.rs"]
mod tests;
