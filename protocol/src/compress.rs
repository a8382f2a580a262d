//! The compressed protocol: an outer framing around the packet stream, from the packet after the login's OK on.
//!
//! ```text
//! frame: compressed length u24 | sequence u8 | length before compression u24, 0 where it was not compressed | bytes
//! ```
//! Frames and packets do not line up: a frame may hold many packets, a packet may span frames. The frames have their own numbers, which
//! begin at 0 with each command; the numbers of the packets inside are not checked by anyone.
//!
//! Reading is a stream with bounded memory: 1. a header; 2. bytes go through the inflater (or are copied) into the room that the caller
//! has for plain bytes; 3. at the end of the frame the length has to be the promised one, and the reader stops, so that the next header is
//! looked at when more is asked for: a client that did not wait for an answer begins its next command at number 0 again.
//!
//! Invariant: a frame never yields more than the length that its header promises, at most 16 MiB.

use crate::error::{Error, Result};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

const HEADER_BYTES: usize = 7;
const FRAME_BYTES_MAX: usize = 0xff_ffff;
/// Shorter answers are sent as they are (MySQL's MIN_COMPRESS_LENGTH).
const COMPRESS_ABOVE: usize = 50;

/// Takes the outer frames off what a client sends.
#[derive(Debug, Default)]
pub struct CompressedReader {
    sequence: u8,
    state: State,
    inflater: Option<Box<Decompress>>,
}

/// What [`CompressedReader::read`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// Bytes at the start of the frames that are done with.
    pub consumed: usize,
    /// Plain bytes that were written.
    pub written: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Header,
    /// Bytes of the frame still to come.
    Plain { left: usize },
    /// Bytes of the frame still to come, and bytes they still have to give.
    Deflated { left: usize, plain_left: usize },
}

impl CompressedReader {
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of the next frame, of whichever side sends it.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// 0 before a command is read.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Gives the inflater's memory back, for a connection that goes idle.
    pub fn release_memory(&mut self) {
        if self.is_between_frames() {
            self.inflater = None;
        }
    }

    /// Is it between two frames?
    pub fn is_between_frames(&self) -> bool {
        self.state == State::Header
    }

    /// Moves bytes from `raw` to the start of `plain`, at most to the end of a frame. Call again with what is left until it gives nothing,
    /// then with more.
    pub fn read(&mut self, raw: &[u8], plain: &mut [u8]) -> Result<Unpacked> {
        let mut done = Unpacked::default();
        while done.written < plain.len() && (done.written == 0 || !self.is_between_frames()) {
            let (rest, room) = (&raw[done.consumed..], &mut plain[done.written..]);
            let state = self.state;
            let step = match state {
                State::Header => Unpacked { consumed: self.read_header(rest)?, written: 0 },
                State::Plain { left } => self.copy(rest, left, room),
                State::Deflated { left, plain_left } => self.inflate(rest, left, plain_left, room)?,
            };
            if step == Unpacked::default() && self.state == state {
                break;
            }
            done.consumed += step.consumed;
            done.written += step.written;
        }
        Ok(done)
    }

    fn read_header(&mut self, rest: &[u8]) -> Result<usize> {
        let Some(&[a, b, c, number, d, e, f]) = rest.first_chunk::<HEADER_BYTES>() else { return Ok(0) };
        if number != self.sequence {
            return Err(Error::OutOfOrder { expected: self.sequence, found: number });
        }
        self.sequence = number.wrapping_add(1);
        let left = u32::from_le_bytes([a, b, c, 0]) as usize;
        let plain_left = u32::from_le_bytes([d, e, f, 0]) as usize;
        self.state = match plain_left {
            0 if left == 0 => State::Header,
            0 => State::Plain { left },
            _ => {
                self.inflater.get_or_insert_with(|| Box::new(Decompress::new(true))).reset(true);
                State::Deflated { left, plain_left }
            }
        };
        Ok(HEADER_BYTES)
    }

    fn copy(&mut self, rest: &[u8], left: usize, room: &mut [u8]) -> Unpacked {
        let taken = left.min(room.len()).min(rest.len());
        room[..taken].copy_from_slice(&rest[..taken]);
        self.state = if taken == left { State::Header } else { State::Plain { left: left - taken } };
        Unpacked { consumed: taken, written: taken }
    }

    fn inflate(&mut self, rest: &[u8], left: usize, plain_left: usize, room: &mut [u8]) -> Result<Unpacked> {
        let inflater = self.inflater.as_mut().expect("made with the frame's header");
        let input = &rest[..left.min(rest.len())];
        // One byte even where none is due: what comes then is too much, or the end.
        let room_bytes = room.len().min(plain_left.max(1));
        let (read, written) = (inflater.total_in(), inflater.total_out());
        let status = inflater
            .decompress(input, &mut room[..room_bytes], FlushDecompress::None)
            .map_err(|_| Error::Uncompress { why: "not zlib data" })?;
        let (read, written) = ((inflater.total_in() - read) as usize, (inflater.total_out() - written) as usize);
        if written > plain_left {
            return Err(Error::Uncompress { why: "more data than promised" });
        }
        let (left, plain_left) = (left - read, plain_left - written);
        self.state = match status {
            Status::StreamEnd if left == 0 && plain_left == 0 => State::Header,
            Status::StreamEnd => return Err(Error::Uncompress { why: "the data ends early" }),
            _ if left == 0 && read == 0 && written == 0 => return Err(Error::Uncompress { why: "the data is cut short" }),
            _ => State::Deflated { left, plain_left },
        };
        Ok(Unpacked { consumed: read, written })
    }
}

/// Puts outer frames around what a server sends.
#[derive(Debug, Default)]
pub struct CompressedWriter {
    deflater: Option<Box<Compress>>,
}

impl CompressedWriter {
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends frames that hold `plain` to `out`. `sequence` continues the reader's number; the caller gives it back to
    /// the reader.
    pub fn write(&mut self, plain: &[u8], out: &mut Vec<u8>, sequence: &mut u8) {
        for piece in plain.chunks(FRAME_BYTES_MAX) {
            let start = out.len();
            out.resize(start + HEADER_BYTES, 0);
            let compressed = piece.len() >= COMPRESS_ABOVE && self.deflate(piece, out);
            if !compressed {
                out.truncate(start + HEADER_BYTES);
                out.extend_from_slice(piece);
            }
            let length = (out.len() - start - HEADER_BYTES) as u32;
            let plain_length = if compressed { piece.len() as u32 } else { 0 };
            out[start..start + 4].copy_from_slice(&(length | u32::from(*sequence) << 24).to_le_bytes());
            out[start + 4..start + HEADER_BYTES].copy_from_slice(&plain_length.to_le_bytes()[..3]);
            *sequence = sequence.wrapping_add(1);
        }
    }

    /// Appends the deflated piece; `false` (and rubbish appended) when it would not be shorter.
    fn deflate(&mut self, piece: &[u8], out: &mut Vec<u8>) -> bool {
        let deflater = self.deflater.get_or_insert_with(|| Box::new(Compress::new(Compression::fast(), true)));
        deflater.reset();
        let start = out.len();
        out.resize(start + piece.len() - 1, 0);
        match deflater.compress(piece, &mut out[start..], FlushCompress::Finish) {
            Ok(Status::StreamEnd) => {
                out.truncate(start + deflater.total_out() as usize);
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
#[path = "compress/tests.rs"]
mod tests;
