//! Whole sessions: a server in this process, and a client that sends it packets and statements made of the input. libFuzzer sees the coverage
//! of everything from the event loop to the engine.
//!
//! The input is a list of acts: a byte that says what, two bytes of length, and a text. Its texts are best made with the words of `sql.dict`.
//!
//! F1: every panic is a failure, also one that the server catches: libFuzzer's hook ends the process before it unwinds.
//! F2: each input has a connection and a database of its own, so that it repeats. What changes the server for later inputs is left out.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

const QUERY: u8 = 3;
const PREPARE: u8 = 22;
const EXECUTE: u8 = 23;
const FETCH: u8 = 28;
/// Ends sessions or the server, waits, reads or writes files, or changes what later inputs meet.
const NEVER: &[&str] = &[
    "SHUTDOWN", "KILL", "GLOBAL", "PERSIST", "USER", "PASSWORD", "ROLE", "GRANT", "REVOKE", "SLEEP", "FILE", "INSTANCE", "FLUSH", "LOCK",
    "BENCHMARK", "MYSQL", "EVENT", "RESTART", "SET_VAR", "EXECUTION_TIME",
];
const BEFORE: &[&str] = &[
    "DROP DATABASE IF EXISTS fuzz",
    "CREATE DATABASE fuzz",
    "USE fuzz",
    "SET max_execution_time = 1000, cte_max_recursion_depth = 500",
    "CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20), c DECIMAL(10, 2), d DATETIME(3), e JSON, KEY (b), KEY (c, d))",
    "INSERT INTO t VALUES (1, 'x', 1.5, '2024-02-29', '[1]'), (2, NULL, NULL, NULL, NULL), (3, 'y', -1, '1000-01-01', '{\"a\": 2}')",
];

fuzz_target!(|data: &[u8]| {
    let mut client = Client::connect(port()).expect("the server takes connections");
    for sql in BEFORE {
        client.command(QUERY, sql.as_bytes()).expect("the server answers");
    }
    let mut rest = data;
    // A connection that the server closes ends the input.
    while let Some((act, text, behind)) = next(rest) {
        rest = behind;
        if client.act(act, text).is_err() {
            break;
        }
    }
});

fn next(data: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let [act, low, high, rest @ ..] = data else { return None };
    let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
    let (text, behind) = rest.split_at(length);
    Some((*act, text, behind))
}

/// Starts the server with the first input.
fn port() -> u16 {
    static PORT: OnceLock<u16> = OnceLock::new();
    *PORT.get_or_init(|| {
        let directory = std::env::temp_dir().join(format!("heddle-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a folder for the data");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port();
        start(port, directory);
        port
    })
}

fn start(port: u16, directory: PathBuf) {
    const WORKERS: usize = 1;
    const POOL_BYTES: u64 = 32 << 20;
    let engine = txn::Engine::open(txn::Config {
        data_dir: directory.clone(),
        buffer_pool_bytes: POOL_BYTES,
        undo_memory_bytes: 8 << 20,
        recovery_target: txn::RECOVERY_TARGET,
        workers: WORKERS,
        durability: txn::Durability::None,
    })
    .expect("the engine opens");
    let database = table::Database::open(engine.clone()).expect("the catalog opens");
    let config = server::Config {
        tcp: Some(([127, 0, 0, 1], port).into()),
        data_dir: directory,
        workers: WORKERS,
        buffer_pool_bytes: POOL_BYTES,
        ..server::Config::default()
    };
    let handle = server::start(config, database, engine).expect("the server starts");
    // It lives as long as the process.
    std::mem::forget(handle);
}

/// A connection that logs in as root, who has no password in a fresh directory.
struct Client {
    stream: TcpStream,
}

impl Client {
    fn connect(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        stream.set_nodelay(true)?;
        let mut client = Self { stream };
        client.packet()?;
        // Protocol 4.1, transactions, secure connection, plugins, several statements and results.
        let flags: u32 = 1 | 0x200 | 0x2000 | 0x8000 | 0x8_0000 | 0x1_0000 | 0x2_0000;
        let mut login = flags.to_le_bytes().to_vec();
        login.extend((1_u32 << 24).to_le_bytes());
        login.push(45);
        login.extend([0; 23]);
        login.extend(b"root\0\0mysql_native_password\0");
        client.send(1, &login)?;
        loop {
            let (sequence, answer) = client.packet()?;
            match answer.first() {
                Some(0) => return Ok(client),
                Some(0xfe) => client.send(sequence.wrapping_add(1), &[])?,
                Some(1) => {}
                _ => return Err(io::Error::other("refused")),
            }
        }
    }

    fn act(&mut self, act: u8, text: &[u8]) -> io::Result<()> {
        let upper = text.to_ascii_uppercase();
        if NEVER.iter().any(|word| upper.windows(word.len()).any(|part| part == word.as_bytes())) {
            return Ok(());
        }
        match act % 8 {
            0..=3 => self.command(QUERY, text),
            4 => {
                self.command(PREPARE, text)?;
                self.command(EXECUTE, &[1, 0, 0, 0, act >> 3, 1, 0, 0, 0])
            }
            5 => self.command(EXECUTE, text),
            6 => self.command(FETCH, text),
            // Any command but those that end the connection, the server, or have no answer.
            _ => match text {
                [0 | 1 | 8 | 24 | 25, ..] | [] => Ok(()),
                [command, arguments @ ..] => self.command(*command, arguments),
            },
        }
    }

    /// Sends a command, and a ping behind it: all that comes before the ping's answer is the command's.
    fn command(&mut self, command: u8, arguments: &[u8]) -> io::Result<()> {
        let mut payload = vec![command];
        payload.extend_from_slice(arguments);
        self.send(0, &payload)?;
        self.send(0, &[14])?;
        // The ping's answer is an OK with number 1 that follows the last packet, whose number is larger, or a first packet of another kind.
        let mut packets = 0;
        loop {
            let (sequence, answer) = self.packet()?;
            let is_ok = answer.first() == Some(&0) && answer.len() >= 7;
            if packets > 0 && sequence == 1 && is_ok {
                return Ok(());
            }
            packets += 1;
        }
    }

    fn send(&mut self, sequence: u8, payload: &[u8]) -> io::Result<()> {
        let length = (payload.len() as u32).to_le_bytes();
        let mut bytes = vec![length[0], length[1], length[2], sequence];
        bytes.extend_from_slice(payload);
        self.stream.write_all(&bytes)
    }

    fn packet(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut head = [0; 4];
        self.stream.read_exact(&mut head)?;
        let mut payload = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
        self.stream.read_exact(&mut payload)?;
        Ok((head[3], payload))
    }
}
