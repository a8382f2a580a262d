//! An echo server on the event loop, with clients that behave well and badly.

use super::*;
use crate::worker::{EventLoop, Host, Message};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

struct Never;

impl Interruptible for Never {
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// Answers each payload with a packet of the same bytes, several times over.
struct Echo {
    core: Rc<WorkerCore>,
    buffers: Rc<Buffers>,
    copies: usize,
    done: std::cell::Cell<bool>,
}

impl Host for Rc<Echo> {
    type Message = Message;

    fn message(&self, message: Message) {
        let Message::Connection { stream, .. } = message else {
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
            loop {
                if !input.has_packet() && output.flush(&socket, &Never).await.is_err() {
                    return;
                }
                output.release();
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

    fn sleeps(&self) {}

    fn turn(&self) {}

    fn is_done(&self) -> bool {
        self.done.get() && self.core.live() == 0
    }
}

/// Starts the server with one client.
fn start(copies: usize) -> (UnixStream, JoinHandle<()>) {
    let (server, client) = UnixStream::pair().unwrap();
    server.set_nonblocking(true).unwrap();
    let thread = std::thread::spawn(move || {
        let event_loop = EventLoop::<Message>::new(0, 50).unwrap();
        let core = event_loop.core().unwrap();
        let host = Rc::new(Echo { core: Rc::clone(&core), buffers: Rc::default(), copies, done: false.into() });
        event_loop.remote().send(Message::Connection { stream: Stream::Unix(mio::net::UnixStream::from_std(server)), id: 1 });
        event_loop.remote().send(Message::Stop);
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
        std::thread::sleep(Duration::from_millis(2));
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
    std::thread::sleep(Duration::from_millis(50));
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
