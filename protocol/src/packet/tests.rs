//! Framing: what is written is read back, in pieces of any size; bad headers are refused.

use super::*;
use proptest::prelude::*;

/// Feeds `stream` in pieces of `piece` bytes and gathers the payloads, as a session does.
fn read_all(reader: &mut PacketReader, stream: &[u8], piece: usize) -> Result<Vec<Vec<u8>>> {
    let mut payloads = Vec::new();
    let mut input: Vec<u8> = Vec::new();
    for bytes in stream.chunks(piece.max(1)) {
        input.extend_from_slice(bytes);
        loop {
            let read = reader.next(&input)?;
            let consumed = read.consumed;
            // A reader that stops before the end has something to say about what follows.
            let done = read.payload.is_none() && (consumed == 0 || consumed == input.len());
            payloads.extend(read.payload.map(<[u8]>::to_vec));
            input.drain(..consumed);
            if done {
                break;
            }
        }
        assert!(input.len() <= STREAM_ABOVE + HEADER_BYTES, "the input buffer stays small");
    }
    Ok(payloads)
}

fn reader(limit: usize) -> PacketReader {
    let mut reader = PacketReader::for_login();
    reader.set_payload_bytes_max(limit);
    reader.set_sequence(0);
    reader
}

#[test]
fn a_whole_packet_is_borrowed() {
    let input = [2, 0, 0, 0, b'h', b'i', 9];
    let mut reader = reader(100);
    let read = reader.next(&input).unwrap();
    assert_eq!(read, Read { consumed: 6, payload: Some(b"hi"), is_gathered: false });
    assert_eq!(read.payload.unwrap().as_ptr(), input[4..].as_ptr());
    assert_eq!(reader.sequence(), 1);
}

#[test]
fn a_wrong_number_is_refused() {
    let mut reader = reader(100);
    assert_eq!(reader.next(&[1, 0, 0, 3, 0]), Err(Error::OutOfOrder { expected: 0, found: 3 }));
    reader.set_check_sequence(false);
    assert_eq!(reader.next(&[1, 0, 0, 3, 0]).unwrap().payload, Some(&[0][..]));
    assert_eq!(reader.sequence(), 4);
}

#[test]
fn a_large_packet_is_refused_at_its_header() {
    assert_eq!(reader(100).next(&[101, 0, 0, 0]), Err(Error::TooLarge { bytes: 101, limit: 100 }));
    assert_eq!(reader(1 << 20).next(&[0, 0, 0x20, 0]), Err(Error::TooLarge { bytes: 1 << 21, limit: 1 << 20 }));
    let mut stream = vec![0xff, 0xff, 0xff, 0];
    stream.resize(HEADER_BYTES + FRAME_BYTES_MAX, 7);
    stream.extend([2, 0, 0, 1]);
    let limit = FRAME_BYTES_MAX + 1;
    let error = read_all(&mut reader(limit), &stream, 1 << 13).unwrap_err();
    assert_eq!(error, Error::TooLarge { bytes: limit as u64 + 1, limit });
}

#[test]
fn payloads_around_the_frame_size() {
    for length in [FRAME_BYTES_MAX - 1, FRAME_BYTES_MAX, FRAME_BYTES_MAX + 1, 2 * FRAME_BYTES_MAX, 2 * FRAME_BYTES_MAX + 5] {
        let payload: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        let mut writer = PacketWriter::new();
        writer.packet(|out| out.push(1));
        writer.packet(|out| out.extend_from_slice(&payload));
        writer.packet(|out| out.push(2));
        let frames = 3 + length / FRAME_BYTES_MAX;
        assert_eq!(writer.sequence() as usize, frames);
        assert_eq!(writer.len(), 2 + length + frames * HEADER_BYTES);
        let payloads = read_all(&mut reader(1 << 26), writer.bytes(), 16_000).unwrap();
        assert_eq!(payloads, vec![vec![1], payload, vec![2]]);
    }
}

#[test]
fn memory_of_a_large_payload_is_given_back() {
    let mut writer = PacketWriter::new();
    writer.packet(|out| out.resize(out.len() + 1_000_000, 1));
    let mut reader = reader(1 << 26);
    read_all(&mut reader, writer.bytes(), 10_000).unwrap();
    assert!(reader.gathered.capacity() >= 1_000_000);
    reader.release_memory();
    assert_eq!(reader.gathered.capacity(), 0);
}

#[test]
fn a_cancelled_packet_leaves_nothing() {
    let mut writer = PacketWriter::new();
    let start = writer.begin();
    writer.payload().extend_from_slice(b"abc");
    writer.cancel(start);
    assert!(writer.is_empty());
    assert_eq!(writer.sequence(), 0);
}

proptest! {
    #[test]
    fn round_trip_in_pieces(
        payloads in prop::collection::vec((0usize..60_000, any::<u8>()), 0..6),
        piece in 1usize..STREAM_ABOVE,
    ) {
        let payloads: Vec<Vec<u8>> = payloads.into_iter().map(|(n, b)| vec![b; n]).collect();
        let mut writer = PacketWriter::new();
        for payload in &payloads {
            writer.packet(|out| out.extend_from_slice(payload));
        }
        prop_assert_eq!(read_all(&mut reader(1 << 20), writer.bytes(), piece).unwrap(), payloads);
    }

    #[test]
    fn random_bytes_never_panic(stream: Vec<u8>, piece in 1usize..20) {
        let _ = read_all(&mut reader(1000), &stream, piece);
    }
}
