//! An echo server on the event loop, with clients that behave well and badly.

use super::*;
use crate::{Core, EventLoop, Host};
use os::thread::JoinHandle;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

struct Never;

impl Interruptible for Never {
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// Answers each payload with a packet of the same bytes, several times over.
struct Echo {
    core: Rc<Core>,
    buffers: Rc<Buffers>,
    copies: usize,
    compressed: bool,
    done: std::cell::Cell<bool>,
}

/// A client, or the order to stop.
impl Host for Echo {
    type Message = Option<Stream>;

    fn message(self: &Rc<Self>, message: Option<Stream>) {
        let Some(stream) = message else {
            self.done.set(true);
            return;
        };
        let host = Rc::clone(self);
        self.core.spawn(async move {
            let socket = Socket::new(Rc::clone(&host.core), stream).unwrap();
            let mut input = Input::new(Rc::clone(&host.buffers));
            let mut output = Output::new(Rc::clone(&host.buffers));
            input.reader.set_check_sequence(false);
            input.reader.set_payload_bytes_max(64 << 20);
            if host.compressed {
                input.start_compression(&mut output);
            }
            loop {
                if !input.has_packet() && output.flush(&socket, &Never).await.is_err() {
                    return;
                }
                output.release();
                input.begin_command();
                let deadline = host.core.now() + Duration::from_secs(20);
                let Ok(payload) = input.next_payload(&socket, deadline, &Never).await else { return };
                output.prepare();
                for _ in 0..host.copies {
                    output.writer.packet(|out| out.extend_from_slice(payload));
                    if output.is_full() && output.flush(&socket, &Never).await.is_err() {
                        return;
                    }
                }
            }
        });
    }

    fn company(&self, _company: sync::Company) {}

    fn sleeps(&self) {}

    fn turn(&self) {}

    fn is_done(&self) -> bool {
        self.done.get() && self.core.live() == 0
    }
}

/// Starts the server with one client.
fn start(copies: usize) -> (UnixStream, JoinHandle<()>) {
    start_with(copies, false)
}

fn start_with(copies: usize, compressed: bool) -> (UnixStream, JoinHandle<()>) {
    let (server, client) = UnixStream::pair().unwrap();
    server.set_nonblocking(true).unwrap();
    let thread = std::thread::spawn(move || {
        let event_loop = EventLoop::<Option<Stream>>::group(1, 50).unwrap().remove(0);
        let core = event_loop.core().unwrap();
        let host = Rc::new(Echo { core: Rc::clone(&core), buffers: Rc::default(), copies, compressed, done: false.into() });
        event_loop.remote().send(Some(Stream::Unix(os::net::UnixStream::from_std(server))));
        event_loop.remote().send(None);
        event_loop.run(&core, &host);
    });
    (client, thread)
}

fn packet(payload: &[u8]) -> Vec<u8> {
    let mut writer = PacketWriter::new();
    writer.packet(|out| out.extend_from_slice(payload));
    writer.bytes().to_vec()
}

fn read_payload(client: &mut UnixStream) -> Vec<u8> {
    let mut payload = Vec::new();
    loop {
        let mut header = [0; 4];
        client.read_exact(&mut header).unwrap();
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        let start = payload.len();
        payload.resize(start + length, 0);
        client.read_exact(&mut payload[start..]).unwrap();
        if length < protocol::FRAME_BYTES_MAX {
            return payload;
        }
    }
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n * 31 % 251) as u8).collect()
}

/// Frames around `bytes`, from number 0 on.
fn frames(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    CompressedWriter::new().write(bytes, &mut out, &mut 0);
    out
}

/// A payload out of frames, the first of which has this number; no more may come with it.
fn read_compressed(client: &mut UnixStream, first: u8) -> Vec<u8> {
    let mut reader = protocol::CompressedReader::new();
    reader.set_sequence(first);
    let (mut raw, mut plain, mut room) = (Vec::new(), Vec::new(), [0; 1000]);
    loop {
        let read = reader.read(&raw, &mut room).unwrap();
        raw.drain(..read.consumed);
        plain.extend_from_slice(&room[..read.written]);
        if let Some(&[a, b, c, _]) = plain.first_chunk::<4>()
            && plain.len() == 4 + u32::from_le_bytes([a, b, c, 0]) as usize
        {
            assert!(raw.is_empty() && reader.is_between_frames());
            return plain.split_off(4);
        }
        if read == protocol::Unpacked::default() {
            let start = raw.len();
            raw.resize(start + 10_000, 0);
            let count = client.read(&mut raw[start..]).unwrap();
            assert_ne!(count, 0, "closed");
            raw.truncate(start + count);
        }
    }
}

#[test]
fn compressed_payloads_of_all_sizes_come_back() {
    let (mut client, thread) = start_with(1, true);
    for length in [0, 1, 45, 46, 47, 1000, 16 << 10, (32 << 10) - 4, 32 << 10, 100_000, (16 << 20) - 6] {
        let payload = pattern(length);
        let mut sender = client.try_clone().unwrap();
        let bytes = frames(&packet(&payload));
        let sending = std::thread::spawn(move || sender.write_all(&bytes).unwrap());
        assert!(read_compressed(&mut client, 1) == payload, "length {length}");
        sending.join().unwrap();
    }
    drop(client);
    thread.join().unwrap();
}

#[test]
fn commands_that_come_together_are_answered_in_frames_of_their_own() {
    let (mut client, thread) = start_with(1, true);
    let both = [frames(&packet(b"first")), frames(&packet(b"second"))].concat();
    client.write_all(&both).unwrap();
    // Both answers, each beginning where its command ended.
    let mut answers = [0; 7 + 4 + 5 + 7 + 4 + 6];
    client.read_exact(&mut answers).unwrap();
    assert_eq!((answers[3], &answers[11..16]), (1, &b"first"[..]));
    assert_eq!((answers[16 + 3], &answers[27..]), (1, &b"second"[..]));
    // One frame with two packets is one frame with two answers.
    client.write_all(&frames(&[packet(b"third"), packet(b"fourth")].concat())).unwrap();
    let mut answers = [0; 7 + 4 + 5 + 4 + 6];
    client.read_exact(&mut answers).unwrap();
    assert_eq!((answers[3], &answers[11..16], &answers[20..]), (1, &b"third"[..], &b"fourth"[..]));
    for byte in frames(&packet(&pattern(200))) {
        client.write_all(&[byte]).unwrap();
    }
    assert_eq!(read_compressed(&mut client, 1), pattern(200));
    drop(client);
    thread.join().unwrap();
}

#[test]
fn a_large_compressed_answer_waits_for_its_reader() {
    let (mut client, thread) = start_with(200, true);
    let payload = pattern(50_000);
    client.write_all(&frames(&packet(&payload))).unwrap();
    os::thread::sleep(Duration::from_millis(50));
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let mut raw = Vec::new();
    client.read_to_end(&mut raw).unwrap();
    assert!(raw.len() < 200 * payload.len() / 4, "{} bytes", raw.len());
    let first = u32::from_le_bytes([raw[4], raw[5], raw[6], 0]) as usize;
    assert_eq!(first % (4 + payload.len()), 0, "whole packets in a frame");
    let mut reader = protocol::CompressedReader::new();
    reader.set_sequence(1);
    let (mut at, mut plain, mut room) = (0, Vec::new(), vec![0; 100_000]);
    while at < raw.len() || !reader.is_between_frames() {
        let read = reader.read(&raw[at..], &mut room).unwrap();
        at += read.consumed;
        plain.extend_from_slice(&room[..read.written]);
    }
    assert_eq!(plain.len(), 200 * (4 + payload.len()));
    assert!(plain.chunks(4 + payload.len()).all(|packet| packet[4..] == payload));
    thread.join().unwrap();
}

#[test]
fn broken_frames_end_the_connection() {
    let whole = frames(&packet(&pattern(2000)));
    let mut wrong_number = whole.clone();
    wrong_number[3] = 9;
    let mut wrong_length = whole.clone();
    wrong_length[4] ^= 1;
    for bytes in [wrong_number, wrong_length, b"\x05\0\0\0\x64\0\0hello".to_vec()] {
        let (mut client, thread) = start_with(1, true);
        client.write_all(&bytes).unwrap();
        assert_eq!(client.read(&mut [0; 100]).unwrap(), 0);
        thread.join().unwrap();
    }
}

#[test]
fn payloads_of_all_sizes_come_back() {
    let (mut client, thread) = start(1);
    for length in [0, 1, 100, 16 << 10, (16 << 10) + 1, (32 << 10) - 4, 32 << 10, 100_000, protocol::FRAME_BYTES_MAX, 20 << 20] {
        let payload = pattern(length);
        let mut sender = client.try_clone().unwrap();
        let bytes = packet(&payload);
        let sending = std::thread::spawn(move || sender.write_all(&bytes).unwrap());
        assert!(read_payload(&mut client) == payload, "length {length}");
        sending.join().unwrap();
    }
    drop(client);
    thread.join().unwrap();
}

#[test]
fn a_payload_may_come_byte_by_byte_and_many_may_come_at_once() {
    let (mut client, thread) = start(1);
    for byte in packet(b"slowly") {
        client.write_all(&[byte]).unwrap();
        os::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(read_payload(&mut client), b"slowly");
    let many: Vec<u8> = (0..1000u32).flat_map(|n| packet(&n.to_le_bytes())).collect();
    client.write_all(&many).unwrap();
    for n in 0..1000u32 {
        assert_eq!(read_payload(&mut client), n.to_le_bytes());
    }
    drop(client);
    thread.join().unwrap();
}

#[test]
fn a_client_that_does_not_read_makes_the_server_wait() {
    let (mut client, thread) = start(200);
    let payload = pattern(50_000);
    client.write_all(&packet(&payload)).unwrap();
    os::thread::sleep(Duration::from_millis(50));
    for _ in 0..200 {
        assert!(read_payload(&mut client) == payload);
    }
    drop(client);
    thread.join().unwrap();
}

#[test]
fn a_client_may_vanish_anywhere() {
    for length in [0, 2, 5] {
        let (mut client, thread) = start(1);
        client.write_all(&packet(b"half")[..length]).unwrap();
        drop(client);
        thread.join().unwrap();
    }
    for length in [2, 7, 9] {
        let (mut client, thread) = start_with(1, true);
        client.write_all(&frames(&packet(b"half"))[..length]).unwrap();
        drop(client);
        thread.join().unwrap();
    }
}

/// Not a test of correctness: run with `--ignored --nocapture` in release mode to see what a request costs.
#[test]
#[ignore = "a measurement"]
fn echo_rate() {
    let (mut client, thread) = start(1);
    let request = packet(&[7; 60]);
    let mut answer = [0; 64];
    let rounds = 100_000u32;
    let begun = Instant::now();
    for _ in 0..rounds {
        client.write_all(&request).unwrap();
        client.read_exact(&mut answer).unwrap();
    }
    println!("{:?} a round trip", begun.elapsed() / rounds);
    drop(client);
    thread.join().unwrap();
}

/// A connection over TLS: the server's socket, made in a task of `host`, and the client's end behind the handshake.
struct Encrypted {
    core: Rc<Core>,
    config: Arc<rustls::ServerConfig>,
    /// Asks the client to read what there is, and waits until it has.
    drain: std::sync::mpsc::Sender<()>,
    drained: std::cell::RefCell<std::sync::mpsc::Receiver<()>>,
    /// Were the flushes ready that had room?
    outcome: std::sync::mpsc::Sender<(bool, bool)>,
    done: std::cell::Cell<bool>,
}

impl Host for Encrypted {
    type Message = Stream;

    fn message(self: &Rc<Self>, stream: Stream) {
        let host = Rc::clone(self);
        self.core.spawn(async move {
            let mut socket = Socket::new(Rc::clone(&host.core), stream).unwrap();
            let deadline = host.core.now() + Duration::from_secs(20);
            socket.start_tls(Arc::clone(&host.config), &[], deadline, &Never).await.unwrap();
            let mut output = Output::new(Rc::default());
            output.prepare();
            // One poll: no event is handled meanwhile.
            let again = std::future::poll_fn(|_| {
                let mut put = || {
                    output.writer.packet(|out| out.resize(out.len() + 4000, 7));
                    output.poll_flush(&socket, &Never).is_ready()
                };
                while put() {}
                host.drain.send(()).unwrap();
                host.drained.borrow().recv().unwrap();
                let rest = output.poll_flush(&socket, &Never).is_ready();
                output.writer.packet(|out| out.push(1));
                Poll::Ready((rest, output.poll_flush(&socket, &Never).is_ready()))
            });
            host.outcome.send(again.await).unwrap();
            host.done.set(true);
        });
    }

    fn company(&self, _company: sync::Company) {}

    fn sleeps(&self) {}

    fn turn(&self) {}

    fn is_done(&self) -> bool {
        self.done.get() && self.core.live() == 0
    }
}

#[test]
fn an_answer_over_tls_goes_on_when_somebody_else_wakes_its_task() {
    use rustls::pki_types::pem::PemObject;
    let directory = tempfile::tempdir().unwrap();
    let (config, _) = configure_tls(directory.path()).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(rustls::pki_types::CertificateDer::from_pem_file(directory.path().join("ca.pem")).unwrap()).unwrap();
    let (server, mut client) = UnixStream::pair().unwrap();
    server.set_nonblocking(true).unwrap();
    let (drain, wanted) = std::sync::mpsc::channel();
    let (done, drained) = std::sync::mpsc::channel();
    let (outcome, ready) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let event_loop = EventLoop::<Stream>::group(1, 50).unwrap().remove(0);
        let core = event_loop.core().unwrap();
        let drained = std::cell::RefCell::new(drained);
        let host = Rc::new(Encrypted { core: Rc::clone(&core), config, drain, drained, outcome, done: false.into() });
        event_loop.remote().send(Stream::Unix(os::net::UnixStream::from_std(server)));
        event_loop.run(&core, &host);
    });
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(builder.with_root_certificates(roots).with_no_client_auth());
    let mut tls = rustls::ClientConnection::new(config, "localhost".try_into().unwrap()).unwrap();
    while tls.is_handshaking() {
        tls.complete_io(&mut client).unwrap();
    }
    wanted.recv().unwrap();
    client.set_nonblocking(true).unwrap();
    let mut buffer = [0; 65536];
    while client.read(&mut buffer).is_ok() {}
    done.send(()).unwrap();
    assert_eq!(ready.recv(), Ok((true, true)), "a task that is woken before the event goes on");
    thread.join().unwrap();
}
