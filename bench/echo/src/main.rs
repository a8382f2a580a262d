//! The floor under every latency figure: a server that answers 64 bytes with 200, and the client that asks.
//!
//! The server does what any database must do for a point select and nothing else: per core one event loop, one read and
//! one write per request, over a unix socket. The client keeps one request open per connection.
//!
//! `echo serve --socket PATH [--threads 4]` runs until it is killed; `echo load --socket PATH --connections N --seconds S`
//! prints how many requests were answered. With `--work-ns` the client computes for so long before each request, as a client
//! that makes statements and reads rows does: how often the server finds something to do, and how often it must be woken,
//! depends on that.

#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use mio::net::UnixStream;
use mio::{Events, Interest, Poll, Token};
use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes of a request: a COM_STMT_EXECUTE or a short query.
const REQUEST_BYTES: usize = 64;
/// Bytes of an answer: column definition, row, end.
const ANSWER_BYTES: usize = 200;

#[derive(Parser)]
#[command(about = "An echo server of a point select's bytes, and its client")]
struct Arguments {
    #[command(subcommand)]
    word: Word,
}

#[derive(Subcommand)]
enum Word {
    /// Answers until it is killed
    Serve {
        #[arg(long)]
        socket: PathBuf,
        #[arg(long, default_value_t = 4)]
        threads: usize,
    },
    /// Asks for some seconds and prints the number of answers
    Load {
        #[arg(long)]
        socket: PathBuf,
        #[arg(long, default_value_t = 16)]
        connections: usize,
        #[arg(long, default_value_t = 5)]
        seconds: u64,
        /// Nanoseconds of CPU time that the client spends before each request
        #[arg(long, default_value_t = 0)]
        work_ns: u64,
    },
}

fn main() -> io::Result<()> {
    match Arguments::parse().word {
        Word::Serve { socket, threads } => serve(&socket, threads),
        Word::Load { socket, connections, seconds, work_ns } => {
            let rounds = rounds_of(Duration::from_nanos(work_ns));
            let answered = load(&socket, connections, Duration::from_secs(seconds), rounds)?;
            println!("{answered} answers");
            Ok(())
        }
    }
}

/// Connections are dealt out to the loops in turn.
fn serve(path: &Path, threads: usize) -> io::Result<()> {
    let _ = std::fs::remove_file(path); // of a server before us
    let listener = std::os::unix::net::UnixListener::bind(path)?;
    let mut senders = Vec::new();
    for _ in 0..threads.max(1) {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let (sender, receiver) = std::sync::mpsc::channel();
        theirs.set_nonblocking(true)?;
        let wake = UnixStream::from_std(theirs);
        std::thread::spawn(move || answer_loop(wake, &receiver));
        senders.push((sender, ours));
    }
    for number in 0.. {
        let (stream, _) = listener.accept()?;
        stream.set_nonblocking(true)?;
        let (sender, wake) = &mut senders[number % threads.max(1)];
        if sender.send(UnixStream::from_std(stream)).is_err() {
            return Err(io::Error::other("an answering thread ended"));
        }
        wake.write_all(&[1])?;
    }
    Ok(())
}

const WAKE: Token = Token(usize::MAX);

fn answer_loop(mut wake: UnixStream, receiver: &std::sync::mpsc::Receiver<UnixStream>) -> io::Result<()> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(1024);
    let mut streams: HashMap<usize, UnixStream> = HashMap::new();
    let mut next = 0;
    poll.registry().register(&mut wake, WAKE, Interest::READABLE)?;
    loop {
        poll.poll(&mut events, None)?;
        for event in &events {
            if event.token() == WAKE {
                let mut bytes = [0; 64];
                while wake.read(&mut bytes).is_ok_and(|n| n > 0) {}
                while let Ok(mut stream) = receiver.try_recv() {
                    poll.registry().register(&mut stream, Token(next), Interest::READABLE)?;
                    streams.insert(next, stream);
                    next += 1;
                }
                continue;
            }
            let key = event.token().0;
            let open = streams.get_mut(&key).is_some_and(|stream| answer(stream).unwrap_or(false));
            if !open {
                streams.remove(&key);
            }
        }
    }
}

/// Answers one request; false when the client is gone. A client asks again only after its answer, and that is a new
/// event, so nothing is left unread.
fn answer(stream: &mut UnixStream) -> io::Result<bool> {
    let mut request = [0; REQUEST_BYTES];
    match stream.read(&mut request) {
        Ok(0) => Ok(false),
        Ok(REQUEST_BYTES) => stream.write_all(&[7; ANSWER_BYTES]).map(|()| true),
        Ok(_) => Err(io::Error::other("a torn request")),
        Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(true),
        Err(e) => Err(e),
    }
}

/// One open request per connection, for some time. A thread per connection, as sysbench has it: the server's wake-ups are
/// part of what is measured.
fn load(path: &Path, connections: usize, time: Duration, rounds: u64) -> io::Result<u64> {
    let until = Instant::now() + time;
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..connections.max(1)).map(|_| scope.spawn(move || ask_until(path, until, rounds))).collect();
        clients.into_iter().map(|c| c.join().map_err(|_| io::Error::other("a client thread panicked"))?).sum()
    })
}

fn ask_until(path: &Path, until: Instant, rounds: u64) -> io::Result<u64> {
    let mut stream = std::os::unix::net::UnixStream::connect(path)?;
    let mut answer = [0; ANSWER_BYTES];
    let mut answered = 0;
    while Instant::now() < until {
        work(rounds);
        stream.write_all(&[1; REQUEST_BYTES])?;
        stream.read_exact(&mut answer)?;
        answered += 1;
    }
    Ok(answered)
}

/// Computes something that takes a time in proportion to `rounds`, whoever else runs meanwhile.
fn work(rounds: u64) {
    let mut value = 1_u64;
    for round in 0..rounds {
        value = std::hint::black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round));
    }
}

/// How many rounds of [`work`] take `time`: the quickest of several tries, which nobody interrupted.
fn rounds_of(time: Duration) -> u64 {
    const TRIED: u64 = 1_000_000;
    let once = || {
        let began = Instant::now();
        work(TRIED);
        began.elapsed()
    };
    let quickest = (0..5).map(|_| once()).min().expect("several tries");
    (time.as_nanos() * u128::from(TRIED) / quickest.as_nanos().max(1)) as u64
}
