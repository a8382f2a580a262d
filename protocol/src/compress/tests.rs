//! What is compressed comes out again, in pieces of any size; broken frames are refused.

use super::*;
use proptest::prelude::*;

fn compress(plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    CompressedWriter::new().write(plain, &mut out, &mut 0);
    out
}

fn read_all(stream: &[u8], piece: usize, room: usize) -> Result<Vec<u8>> {
    let mut reader = CompressedReader::new();
    let (mut raw, mut plain, mut all) = (Vec::new(), vec![0; room], Vec::new());
    for bytes in stream.chunks(piece) {
        raw.extend_from_slice(bytes);
        loop {
            let read = reader.read(&raw, &mut plain)?;
            raw.drain(..read.consumed);
            all.extend_from_slice(&plain[..read.written]);
            if read == Unpacked::default() {
                break;
            }
        }
    }
    assert!(raw.len() < HEADER_BYTES);
    Ok(all)
}

#[test]
fn short_data_is_sent_as_it_is() {
    assert_eq!(compress(b"abc"), b"\x03\0\0\0\0\0\0abc");
    assert_eq!(compress(b""), b"");
}

#[test]
fn long_data_is_compressed() {
    let plain = vec![b'x'; 10_000];
    let stream = compress(&plain);
    assert!(stream.len() < 200);
    assert_eq!(stream[4..7], [0x10, 0x27, 0]);
    assert_eq!(read_all(&stream, 3, 100).unwrap(), plain);
}

#[test]
fn data_over_a_frame() {
    let plain: Vec<u8> = (0..FRAME_BYTES_MAX + 1000).map(|i| (i / 7) as u8).collect();
    let mut out = Vec::new();
    let mut sequence = 250;
    CompressedWriter::new().write(&plain, &mut out, &mut sequence);
    assert_eq!(sequence, 252);
    assert!(read_all(&out, 10_000, 1 << 20).is_err(), "the reader expects number 0");
    assert_eq!(read_all(&compress(&plain), 10_000, 1 << 20).unwrap(), plain);
}

#[test]
fn the_reader_stops_after_a_frame() {
    let mut stream = compress(b"first");
    let length = stream.len();
    stream.extend(compress(b"second"));
    let (mut reader, mut plain) = (CompressedReader::new(), [0; 100]);
    assert_eq!(reader.read(&stream, &mut plain), Ok(Unpacked { consumed: length, written: 5 }));
    assert!(reader.is_between_frames());
    let rest = &stream[length..];
    assert_eq!(reader.read(rest, &mut plain), Err(Error::OutOfOrder { expected: 1, found: 0 }));
    reader.set_sequence(0);
    assert_eq!(reader.read(rest, &mut plain), Ok(Unpacked { consumed: rest.len(), written: 6 }));
}

#[test]
fn broken_frames_are_refused() {
    let good = compress(&[7; 1000]);
    let broken = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut stream = good.clone();
        change(&mut stream);
        read_all(&stream, 1000, 1 << 20)
    };
    assert_eq!(broken(&|_| {}).unwrap().len(), 1000);
    assert_eq!(broken(&|s| s[3] = 1), Err(Error::OutOfOrder { expected: 0, found: 1 }));
    assert!(broken(&|s| s[4] -= 1).is_err());
    assert!(broken(&|s| s[4] += 1).is_err());
    assert!(broken(&|s| s[7] = 0).is_err());
    assert!(broken(&|s| s[0] -= 5).is_err());
}

proptest! {
    #[test]
    fn round_trip(plain in prop::collection::vec(0u8..4, 0..3000), piece in 1usize..500, limit in 1usize..2000) {
        prop_assert_eq!(read_all(&compress(&plain), piece, limit).unwrap(), plain);
    }

    #[test]
    fn random_bytes_never_panic(mut stream: Vec<u8>, piece in 1usize..50) {
        if stream.len() > 3 {
            stream[3] = 0;
            stream[1] = 0;
            stream[2] = 0;
        }
        let mut reader = CompressedReader::new();
        let mut plain = vec![0; 1 << 12];
        let mut at = 0;
        for end in (0..=stream.len()).step_by(piece) {
            match reader.read(&stream[at..end.max(at)], &mut plain) {
                Ok(read) => at += read.consumed,
                Err(_) => break,
            }
        }
    }
}
