//! Bytes from a client, from the login on, plain or compressed, in pieces.
//!
//! 1. The first bytes choose: compressed or not, with query attributes or not, the size of the pieces.
//! 2. The first payload is a login, the others are commands.
//! Checked beyond "no panic": the reader makes progress, and payloads are within their limit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use protocol::{Capabilities, Command, CompressedReader, Login, PacketReader, Unpacked};

const PAYLOAD_BYTES_MAX: usize = 100_000;
const ROOM_BYTES: usize = 1_000;

fuzz_target!(|data: &[u8]| {
    let Some((&[choice, piece], stream)) = data.split_first_chunk::<2>() else { return };
    let piece = usize::from(piece) + 1;
    if choice & 1 == 0 {
        let mut session = Session::new(choice);
        stream.chunks(piece).all(|bytes| session.read(bytes));
    } else {
        compressed(stream, piece, Session::new(choice));
    }
});

fn compressed(stream: &[u8], piece: usize, mut session: Session) {
    let mut reader = CompressedReader::new();
    let (mut raw, mut plain) = (Vec::new(), [0; ROOM_BYTES]);
    for bytes in stream.chunks(piece) {
        raw.extend_from_slice(bytes);
        loop {
            let Ok(read) = reader.read(&raw, &mut plain) else { return };
            raw.drain(..read.consumed);
            if read == Unpacked::default() {
                break;
            }
            if !session.read(&plain[..read.written]) {
                return;
            }
            if reader.is_between_frames() {
                // Some inputs are clients that begin each frame with 0, some count.
                reader.set_sequence(if piece & 1 == 0 { 0 } else { reader.sequence() });
            }
        }
    }
}

struct Session {
    reader: PacketReader,
    input: Vec<u8>,
    agreed: Option<Capabilities>,
    offered: Capabilities,
}

impl Session {
    fn new(choice: u8) -> Self {
        let without = if choice & 2 == 0 { Capabilities::QUERY_ATTRIBUTES } else { Capabilities::default() };
        let mut reader = PacketReader::for_login();
        reader.set_payload_bytes_max(PAYLOAD_BYTES_MAX);
        reader.set_check_sequence(choice & 4 == 0);
        Self { reader, input: Vec::new(), agreed: None, offered: Capabilities::SUPPORTED.without(without) }
    }

    /// `false`: the connection is closed.
    fn read(&mut self, bytes: &[u8]) -> bool {
        self.input.extend_from_slice(bytes);
        loop {
            let Ok(read) = self.reader.next(&self.input) else { return false };
            let consumed = read.consumed;
            let Some(payload) = read.payload else {
                self.input.drain(..consumed);
                assert!(self.input.len() < protocol::STREAM_ABOVE + protocol::HEADER_BYTES);
                return true;
            };
            assert!(payload.len() <= PAYLOAD_BYTES_MAX && consumed > 0);
            match self.agreed {
                None => match Login::parse(payload, self.offered) {
                    Ok(Login::Response(login)) => {
                        let _ = login.attributes.iter().count();
                        self.agreed = Some(login.capabilities.and(self.offered));
                    }
                    Ok(Login::TlsRequest { .. }) => {}
                    Err(_) => return false,
                },
                Some(agreed) => {
                    if let Ok(Command::Query { attributes, .. }) = Command::parse(payload, agreed) {
                        let _ = attributes.iter().count();
                    }
                    self.reader.set_sequence(0);
                }
            }
            self.input.drain(..consumed);
        }
    }
}
