//! What contention costs: many sessions on one row, one page, one index entry; many idle sessions beside busy ones.
//!
//! For each kind of work and each number of sessions: statements per second, the share of the best at fewer sessions, and how the
//! slowest session did beside the mean (1.00 is perfectly fair). Two threads look after all sessions: with a thread for each the client
//! would take more of the machine than the server. A benchmark, not a test: it judges nothing.

use clap::Parser;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use mysql::prelude::Queryable;
use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use tests::raw::{COM_QUERY, COM_STMT_EXECUTE, COM_STMT_PREPARE, Raw};
use tests::{Address, Server, ServerOptions};

/// Sessions are spread over as many threads of this process, so that it takes little of the machine's time however many sessions there are.
const CLIENT_THREADS: usize = 2;
const TYPE_LONGLONG: u8 = 8;

#[derive(Parser)]
#[command(about = "Measures hot rows, hot pages and idle connections")]
struct Arguments {
    /// A server that runs already, HOST:PORT; without it one is started with full durability
    #[arg(long)]
    at: Option<String>,
    #[arg(long, default_value = "root")]
    user: String,
    #[arg(long, default_value = "")]
    password: String,
    /// Sessions at the same time
    #[arg(long, value_delimiter = ',', default_value = "1,4,16,64,256,1000")]
    sessions: Vec<usize>,
    /// Only kinds of work whose names have this in them
    #[arg(long, default_value = "")]
    only: String,
    /// Seconds per measurement
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// Measurements of each, of which the median counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Idle connections to open beside 16 busy ones; 0 leaves this out
    #[arg(long, default_value_t = 10_000)]
    idle: usize,
}

type Outcome<T = ()> = Result<T, String>;

/// A kind of work: what is prepared, the one statement, and its parameters for a session.
struct Work {
    name: &'static str,
    setup: &'static [&'static str],
    statement: &'static str,
    /// The session's number is the only parameter.
    takes_number: bool,
}

const WORKS: &[Work] = &[
    Work {
        name: "one row",
        setup: &["CREATE TABLE t (id INT PRIMARY KEY, n BIGINT NOT NULL)", "INSERT INTO t VALUES (1, 0)"],
        statement: "UPDATE t SET n = n + 1 WHERE id = 1",
        takes_number: false,
    },
    Work {
        name: "last page",
        setup: &["CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, pad CHAR(60) NOT NULL)"],
        statement: "INSERT INTO t (pad) VALUES ('a row like many others, appended behind all of them')",
        takes_number: false,
    },
    Work {
        name: "counter in an index, one row",
        setup: &["CREATE TABLE t (id INT PRIMARY KEY, n BIGINT NOT NULL, KEY (n))", "INSERT INTO t VALUES (1, 0)"],
        statement: "UPDATE t SET n = n + 1 WHERE id = 1",
        takes_number: false,
    },
    Work {
        name: "counter in an index, a row per session",
        setup: &["CREATE TABLE t (id INT PRIMARY KEY, n BIGINT NOT NULL, KEY (n))"],
        statement: "INSERT INTO t VALUES (?, 0) ON DUPLICATE KEY UPDATE n = n + 1",
        takes_number: true,
    },
    Work {
        name: "no contention: a row per session",
        setup: &["CREATE TABLE t (id INT PRIMARY KEY, n BIGINT NOT NULL)"],
        statement: "INSERT INTO t VALUES (?, 0) ON DUPLICATE KEY UPDATE n = n + 1",
        takes_number: true,
    },
    Work {
        name: "one point select",
        setup: &["CREATE TABLE t (id INT PRIMARY KEY, n BIGINT NOT NULL)", "INSERT INTO t VALUES (1, 0)"],
        statement: "SELECT n FROM t WHERE id = 1",
        takes_number: false,
    },
];

/// How one measurement went.
struct Run {
    per_second: f64,
    /// Of the slowest session, as part of the mean.
    slowest: f64,
}

fn main() -> ExitCode {
    match measure(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> Outcome {
    let directory = std::env::temp_dir().join(format!("heddle-contention-{}", std::process::id()));
    let (server, address) = match &arguments.at {
        Some(at) => (None, Address::parse(at, &arguments.user, &arguments.password)?),
        None => {
            let extra = vec!["--max-connections".into(), (arguments.idle + 1000).to_string()];
            let options =
                ServerOptions { durability: "full".into(), buffer_pool: "1G".into(), extra, ..ServerOptions::new(&directory) };
            let server = Server::start(&options)?;
            let address = server.address.clone();
            (Some(server), address)
        }
    };
    println!("| work | sessions | statements/s | of the best at fewer | slowest session / mean |");
    println!("|---|--:|--:|--:|--:|");
    for work in WORKS.iter().filter(|work| work.name.contains(&arguments.only)) {
        let mut best = 0.0f64;
        for sessions in &arguments.sessions {
            let mut runs = Vec::new();
            for _ in 0..arguments.rounds.max(1) {
                runs.push(run(&address, work, *sessions, Duration::from_secs(arguments.seconds))?);
            }
            runs.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
            let median = &runs[runs.len() / 2];
            let slowest = runs.iter().map(|r| r.slowest).fold(f64::INFINITY, f64::min);
            let of_best = if best > 0.0 { format!("{:.2}", median.per_second / best) } else { String::new() };
            println!("| {} | {sessions} | {:.0} | {of_best} | {slowest:.2} |", work.name, median.per_second);
            best = best.max(median.per_second);
        }
    }
    if arguments.idle > 0 {
        idle(&address, arguments, server.as_ref())?;
    }
    if let Some(server) = server {
        server.stop()?;
        let _ = std::fs::remove_dir_all(&directory);
    }
    Ok(())
}

fn prepare(address: &Address, work: &Work) -> Outcome {
    let mut conn = address.connect().map_err(|e| e.to_string())?;
    let fresh = ["DROP DATABASE IF EXISTS contention", "CREATE DATABASE contention", "USE contention"];
    fresh.iter().chain(work.setup).try_for_each(|sql| conn.query_drop(sql)).map_err(|e| e.to_string())
}

fn run(address: &Address, work: &Work, sessions: usize, time: Duration) -> Outcome<Run> {
    prepare(address, work)?;
    let clients = CLIENT_THREADS.min(sessions);
    let (start, stop) = (Arc::new(Barrier::new(clients + 1)), Arc::new(AtomicBool::new(false)));
    let threads: Vec<_> = (0..clients)
        .map(|client| {
            let (start, stop, address) = (start.clone(), stop.clone(), address.clone());
            let (statement, takes_number) = (work.statement, work.takes_number);
            std::thread::spawn(move || {
                let numbers = (client..sessions).step_by(clients);
                let crowd: Outcome<Vec<_>> =
                    numbers.map(|n| Member::connect(&address, statement, takes_number.then_some(n))).collect();
                start.wait();
                drive(crowd?, &stop)
            })
        })
        .collect();
    start.wait();
    let began = Instant::now();
    std::thread::sleep(time);
    stop.store(true, Ordering::Relaxed);
    let took = began.elapsed().as_secs_f64();
    let mut counts = Vec::new();
    for thread in threads {
        counts.extend(thread.join().map_err(|_| "a client panicked")??);
    }
    let all = counts.iter().sum::<u64>() as f64;
    let slowest = counts.iter().min().map_or(0.0, |least| *least as f64) * sessions as f64 / all.max(1.0);
    Ok(Run { per_second: all / took, slowest })
}

/// One of many sessions that a client thread looks after: it sends its one request whenever the answer to the last one is complete.
struct Member {
    stream: TcpStream,
    request: Vec<u8>,
    input: Vec<u8>,
    /// EOF packets still to come in this answer; `None`: its first packet is still to come.
    ends: Option<u8>,
    count: u64,
}

impl Member {
    fn connect(address: &Address, statement: &str, number: Option<usize>) -> Outcome<Self> {
        let request = || -> std::io::Result<(Raw, Vec<u8>)> {
            let mut raw = Raw::logged_in(address)?;
            raw.ask(COM_QUERY, b"USE contention")?;
            raw.command(COM_STMT_PREPARE, statement.as_bytes())?;
            let (_, head) = raw.read_packet()?;
            let [0, a, b, c, d, columns, _, parameters, ..] = head[..] else {
                return Err(std::io::Error::other(String::from_utf8_lossy(&head).into_owned()));
            };
            for definitions in [parameters, columns] {
                for _ in 0..if definitions > 0 { definitions + 1 } else { 0 } {
                    raw.read_packet()?;
                }
            }
            let mut payload = vec![COM_STMT_EXECUTE, a, b, c, d, 0, 1, 0, 0, 0];
            if let Some(number) = number {
                payload.extend([0, 1, TYPE_LONGLONG, 0]);
                payload.extend((number as u64).to_le_bytes());
            }
            Ok((raw, payload))
        };
        let (raw, payload) = request().map_err(|e| e.to_string())?;
        let mut framed = (payload.len() as u32).to_le_bytes().to_vec();
        framed.extend(payload);
        let stream = raw.into_stream();
        stream.set_nonblocking(true).map_err(|e| e.to_string())?;
        Ok(Self { stream: TcpStream::from_std(stream), request: framed, input: Vec::new(), ends: None, count: 0 })
    }

    fn ask(&mut self) -> std::io::Result<()> {
        self.stream.write_all(&self.request)
    }

    /// Reads what has come; true when an answer is complete.
    fn listen(&mut self) -> std::io::Result<bool> {
        let mut bytes = [0; 4096];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => self.input.extend_from_slice(&bytes[..n]),
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(e) => return Err(e),
            }
        }
        let mut at = 0;
        let mut complete = false;
        while let Some(head) = self.input.get(at..at + 5) {
            let end = at + 4 + u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
            let Some(payload) = self.input.get(at + 4..end) else { break };
            at = end;
            match (self.ends, payload[0]) {
                (_, 0xff) => return Err(std::io::Error::other(String::from_utf8_lossy(payload).into_owned())),
                (None, 0) => complete = true,
                (None, _) => self.ends = Some(2),
                (Some(left), 0xfe) if payload.len() < 9 => {
                    complete = left == 1;
                    self.ends = (left > 1).then_some(left - 1);
                }
                _ => {}
            }
        }
        self.input.drain(..at);
        self.count += u64::from(complete);
        Ok(complete)
    }
}

/// Has all members ask and listen until it is enough; their counts.
fn drive(mut crowd: Vec<Member>, stop: &AtomicBool) -> Outcome<Vec<u64>> {
    let mut run = || -> std::io::Result<()> {
        let mut poll = Poll::new()?;
        for (index, member) in crowd.iter_mut().enumerate() {
            poll.registry().register(&mut member.stream, Token(index), Interest::READABLE)?;
            member.ask()?;
        }
        let mut events = Events::with_capacity(1024);
        while !stop.load(Ordering::Relaxed) {
            poll.poll(&mut events, Some(Duration::from_millis(100)))?;
            for event in &events {
                let member = &mut crowd[event.token().0];
                if member.listen()? {
                    member.ask()?;
                }
            }
        }
        Ok(())
    };
    run().map_err(|e| e.to_string())?;
    Ok(crowd.into_iter().map(|member| member.count).collect())
}

/// Memory of a process that is really there.
fn resident_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix(" kB")?.parse::<u64>().ok()?;
    Some(kib << 10)
}

/// Processor time of a process until now.
fn cpu_seconds(pid: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Behind the name, which may have spaces: user and system time are fields 14 and 15 of all, in hundredths of a second.
    let mut ticks = stat.rsplit_once(')')?.1.split_whitespace().skip(11).map(str::parse::<f64>);
    Some((ticks.next()?.ok()? + ticks.next()?.ok()?) / 100.0)
}

/// Idle connections: what they take, and what they cost the busy ones. Runs with and without them take turns.
fn idle(address: &Address, arguments: &Arguments, server: Option<&Server>) -> Outcome {
    let work = WORKS.last().ok_or("there is some work")?;
    let time = Duration::from_secs(arguments.seconds);
    let measured = || -> Outcome<[f64; 2]> {
        let cpu = || server.and_then(|server| cpu_seconds(server.pid())).unwrap_or(0.0);
        let before = cpu();
        let per_second = run(address, work, 16, time)?.per_second;
        Ok([per_second, (cpu() - before) / (per_second * time.as_secs_f64()) * 1e6])
    };
    let memory = || server.and_then(|server| resident_bytes(server.pid())).unwrap_or(0);
    let (mut without, mut with, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..arguments.rounds.max(1) {
        without.push(measured()?);
        let before = memory();
        let mut connections = Vec::with_capacity(arguments.idle);
        for _ in 0..arguments.idle {
            connections.push(address.connect().map_err(|e| format!("connection {}: {e}", connections.len() + 1))?);
        }
        bytes.push(memory().saturating_sub(before));
        with.push(measured()?);
    }
    let median = |runs: &[[f64; 2]], of: usize| {
        let mut values: Vec<f64> = runs.iter().map(|run| run[of]).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    println!();
    println!("{} idle connections take {:.1} MiB", arguments.idle, bytes[0] as f64 / f64::from(1 << 20));
    for (name, runs) in [("without", &without), ("with", &with)] {
        println!("16 busy sessions {name} them: {:.0} statements/s, {:.1} µs of CPU each", median(runs, 0), median(runs, 1));
    }
    Ok(())
}
