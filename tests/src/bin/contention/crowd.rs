//! Many sessions of few threads, each of which runs its statements again and again.
//!
//! C1: a session has at most one request under way, and sends the next when the answer is complete.
//! C2: a session whose transaction the server has rolled back (1213, 1205) begins it again; any other error ends the run.

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::io::{Error, Read, Result, Write};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tests::Address;
use tests::raw::{COM_QUERY, COM_STMT_EXECUTE, COM_STMT_PREPARE, Raw};

/// Sessions are spread over as many threads of this process, so that it takes little of the machine's time however many sessions there are.
const CLIENT_THREADS: usize = 2;
/// Rows of the tables that [`Parameter::Row`] chooses from.
pub const ROWS: u64 = 100_000;
/// Rows that one turn of a session chooses.
const CHOICES: usize = 3;

const TYPE_LONGLONG: u8 = 8;
const TYPE_VAR_STRING: u8 = 253;
const OK: u8 = 0;
const EOF: u8 = 0xfe;
const ERROR: u8 = 0xff;
const UNSUPPORTED_PREPARE: u16 = 1295;
const LOCK_WAIT_TIMEOUT: u16 = 1205;
const DEADLOCK: u16 = 1213;

/// A statement of a session's turn.
#[derive(Clone, Copy)]
pub struct Statement {
    pub sql: &'static str,
    pub parameters: &'static [Parameter],
}

/// What a parameter is each time.
#[derive(Clone, Copy)]
pub enum Parameter {
    /// The session's number.
    Session,
    /// The row of this turn that has the number: 1 to [`ROWS`].
    Row(usize),
    /// Any number up to [`ROWS`].
    Number,
    /// As many letters.
    Text(usize),
}

/// How one measurement went.
pub struct Run {
    pub per_second: f64,
    /// Of the slowest session, as part of the mean.
    pub slowest: f64,
    /// The server's, in microseconds.
    pub cpu_each: f64,
}

/// `sessions` sessions run `statements` for `time`; `cpu` tells the seconds of processor time that the server has used.
pub fn run(
    address: &Address,
    statements: &[Statement],
    sessions: usize,
    time: Duration,
    cpu: impl Fn() -> f64,
) -> std::result::Result<Run, String> {
    let clients = CLIENT_THREADS.min(sessions);
    let (start, stop) = (Barrier::new(clients + 1), AtomicBool::new(false));
    let (counts, took, used) = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|client| {
                let (start, stop) = (&start, &stop);
                scope.spawn(move || {
                    let numbers = (client..sessions).step_by(clients);
                    let crowd: Result<Vec<_>> = numbers.map(|n| Member::connect(address, statements, n)).collect();
                    start.wait();
                    drive(crowd?, stop)
                })
            })
            .collect();
        start.wait();
        let (began, used) = (Instant::now(), cpu());
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        let (took, used) = (began.elapsed().as_secs_f64(), cpu() - used);
        let counts: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        (counts, took, used)
    });
    let mut all = Vec::new();
    for counted in counts {
        all.extend(counted.map_err(|_| "a client panicked")?.map_err(|e| e.to_string())?);
    }
    let sum = all.iter().sum::<u64>() as f64;
    let slowest = all.iter().min().map_or(0.0, |least| *least as f64) * sessions as f64 / sum.max(1.0);
    Ok(Run { per_second: sum / took, slowest, cpu_each: used / sum.max(1.0) * 1e6 })
}

/// How a statement is sent.
enum Request {
    /// By its number, with these parameters.
    Prepared([u8; 4], &'static [Parameter]),
    /// As text, for statements that cannot be prepared.
    Text(&'static str),
}

/// One of many sessions that a client thread looks after.
struct Member {
    stream: TcpStream,
    number: u64,
    requests: Vec<Request>,
    /// The request under way.
    at: usize,
    /// The rows of this turn.
    rows: [u64; CHOICES],
    random: SmallRng,
    input: Vec<u8>,
    /// EOF packets still to come in this answer; `None`: its first packet is still to come.
    ends: Option<u8>,
    count: u64,
}

impl Member {
    fn connect(address: &Address, statements: &[Statement], number: usize) -> Result<Self> {
        let mut raw = Raw::logged_in(address)?;
        raw.ask(COM_QUERY, b"USE contention")?;
        let requests = statements.iter().map(|statement| prepare(&mut raw, statement)).collect::<Result<_>>()?;
        let stream = raw.into_stream();
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream: TcpStream::from_std(stream),
            number: number as u64,
            requests,
            at: 0,
            rows: [0; CHOICES],
            random: SmallRng::seed_from_u64(number as u64),
            input: Vec::new(),
            ends: None,
            count: 0,
        })
    }

    /// Sends the request that is next.
    fn ask(&mut self) -> Result<()> {
        if self.at == 0 {
            self.rows = std::array::from_fn(|_| self.random.random_range(1..=ROWS));
        }
        let mut packet = vec![0; 4];
        match &self.requests[self.at] {
            Request::Text(sql) => {
                packet.push(COM_QUERY);
                packet.extend(sql.as_bytes());
            }
            Request::Prepared(id, parameters) => {
                packet.push(COM_STMT_EXECUTE);
                packet.extend(id);
                packet.extend([0, 1, 0, 0, 0]);
                if !parameters.is_empty() {
                    let (number, rows, random) = (self.number, &self.rows, &mut self.random);
                    bind(&mut packet, parameters, |parameter| match parameter {
                        Parameter::Session => number,
                        Parameter::Row(which) => rows[which],
                        Parameter::Number | Parameter::Text(_) => random.random_range(1..=ROWS),
                    });
                }
            }
        }
        let length = (packet.len() - 4) as u32;
        packet[..3].copy_from_slice(&length.to_le_bytes()[..3]);
        self.stream.write_all(&packet)
    }

    /// Reads what has come; true when an answer is complete.
    fn listen(&mut self) -> Result<bool> {
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
                (_, ERROR) => {
                    if !matches!(error_number(payload), DEADLOCK | LOCK_WAIT_TIMEOUT) {
                        return Err(refused(payload));
                    }
                    // The first request comes next.
                    self.at = self.requests.len() - 1;
                    complete = true;
                }
                (None, OK) => complete = true,
                (None, _) => self.ends = Some(2),
                (Some(left), EOF) if payload.len() < 9 => {
                    complete = left == 1;
                    self.ends = (left > 1).then_some(left - 1);
                }
                _ => {}
            }
        }
        self.input.drain(..at);
        if complete {
            self.count += 1;
            self.at = (self.at + 1) % self.requests.len();
        }
        Ok(complete)
    }
}

/// Has the server prepare a statement, if it can.
fn prepare(raw: &mut Raw, statement: &Statement) -> Result<Request> {
    raw.command(COM_STMT_PREPARE, statement.sql.as_bytes())?;
    let (_, head) = raw.read_packet()?;
    if head[0] == ERROR && error_number(&head) == UNSUPPORTED_PREPARE {
        return Ok(Request::Text(statement.sql));
    }
    let [OK, a, b, c, d, columns, _, parameters, ..] = head[..] else { return Err(refused(&head)) };
    for definitions in [parameters, columns] {
        for _ in 0..if definitions > 0 { definitions + 1 } else { 0 } {
            raw.read_packet()?;
        }
    }
    Ok(Request::Prepared([a, b, c, d], statement.parameters))
}

/// The NULL bits, types and values of the parameters of a COM_STMT_EXECUTE packet.
fn bind(packet: &mut Vec<u8>, parameters: &[Parameter], mut number: impl FnMut(Parameter) -> u64) {
    packet.extend(std::iter::repeat_n(0, parameters.len().div_ceil(8)));
    packet.push(1);
    for parameter in parameters {
        packet.extend([if matches!(parameter, Parameter::Text(_)) { TYPE_VAR_STRING } else { TYPE_LONGLONG }, 0]);
    }
    for parameter in parameters {
        let number = number(*parameter);
        match parameter {
            // Below 251 bytes the length is one byte.
            Parameter::Text(length) => {
                packet.push(*length as u8);
                packet.extend((0..*length).map(|at| b'a' + ((number >> (at % 17)) % 26) as u8));
            }
            _ => packet.extend(number.to_le_bytes()),
        }
    }
}

fn error_number(packet: &[u8]) -> u16 {
    packet.get(1..3).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
}

fn refused(packet: &[u8]) -> Error {
    Error::other(String::from_utf8_lossy(packet).into_owned())
}

/// Has all members ask and listen until it is enough; their counts.
fn drive(mut crowd: Vec<Member>, stop: &AtomicBool) -> Result<Vec<u64>> {
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
    Ok(crowd.into_iter().map(|member| member.count).collect())
}
