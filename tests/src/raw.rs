//! A client that sends exactly the given bytes, for packets that no library would send.
//!
//! It knows just enough of the protocol to log in with an empty password and to frame packets.

use crate::server::Address;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

pub const COM_QUIT: u8 = 1;
pub const COM_QUERY: u8 = 3;
pub const COM_PING: u8 = 14;
pub const COM_STMT_PREPARE: u8 = 22;
pub const COM_STMT_EXECUTE: u8 = 23;

const PROTOCOL_41: u32 = 0x200;
const SECURE_CONNECTION: u32 = 0x8000;
const PLUGIN_AUTH: u32 = 0x8_0000;
const TRANSACTIONS: u32 = 0x2000;
const LONG_PASSWORD: u32 = 1;
const COMPRESS: u32 = 0x20;
const LOCAL_FILES: u32 = 0x80;

/// First bytes of an answer.
const ERROR: u8 = 0xff;
pub const AUTH_SWITCH: u8 = 0xfe;

/// A connection.
#[derive(Debug)]
pub struct Raw {
    stream: TcpStream,
}

impl Raw {
    /// Connects and reads the greeting, and no more.
    pub fn greeted(address: &Address) -> io::Result<Self> {
        let mut raw = Self { stream: address.stream()? };
        raw.read_packet()?;
        Ok(raw)
    }

    /// Connects and logs in.
    pub fn logged_in(address: &Address) -> io::Result<Self> {
        Self::logged_in_with(address, 0)
    }

    /// Connects and logs in; from here on everything is in compressed frames, which are the caller's.
    pub fn compressed(address: &Address) -> io::Result<Self> {
        Self::logged_in_with(address, COMPRESS)
    }

    /// Connects and logs in as a client that sends files.
    pub fn with_files(address: &Address) -> io::Result<Self> {
        Self::logged_in_with(address, LOCAL_FILES)
    }

    fn logged_in_with(address: &Address, flags: u32) -> io::Result<Self> {
        let mut raw = Self::greeted(address)?;
        let mut answer = login(&address.user);
        let flags = flags | u32::from_le_bytes([answer[0], answer[1], answer[2], answer[3]]);
        answer[..4].copy_from_slice(&flags.to_le_bytes());
        raw.send(1, &answer)?;
        loop {
            let (sequence, answer) = raw.read_packet()?;
            match answer.first() {
                Some(0) => return Ok(raw),
                Some(&AUTH_SWITCH) => raw.send(sequence.wrapping_add(1), &[])?,
                Some(1) => {} // more authentication data: the fast path is done
                _ => return Err(io::Error::other(format!("refused: {}", String::from_utf8_lossy(&answer)))),
            }
        }
    }

    pub fn set_timeout(&self, time: Duration) -> io::Result<()> {
        self.stream.set_read_timeout(Some(time))
    }

    /// One packet, framed.
    pub fn send(&mut self, sequence: u8, payload: &[u8]) -> io::Result<()> {
        let length = (payload.len() as u32).to_le_bytes();
        let mut bytes = vec![length[0], length[1], length[2], sequence];
        bytes.extend_from_slice(payload);
        self.stream.write_all(&bytes)
    }

    /// A command packet.
    pub fn command(&mut self, command: u8, arguments: &[u8]) -> io::Result<()> {
        let mut payload = vec![command];
        payload.extend_from_slice(arguments);
        self.send(0, &payload)
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// One frame of the compressed protocol that promises `plain_length` bytes (0: `bytes` are not compressed).
    pub fn frame(&mut self, sequence: u8, plain_length: u32, bytes: &[u8]) -> io::Result<()> {
        let mut frame = (bytes.len() as u32 | u32::from(sequence) << 24).to_le_bytes().to_vec();
        frame.extend(&plain_length.to_le_bytes()[..3]);
        frame.extend_from_slice(bytes);
        self.stream.write_all(&frame)
    }

    /// A packet's sequence number and payload.
    pub fn read_packet(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut head = [0; 4];
        self.stream.read_exact(&mut head)?;
        let length = u32::from_le_bytes([head[0], head[1], head[2], 0]);
        let mut payload = vec![0; length as usize];
        self.stream.read_exact(&mut payload)?;
        Ok((head[3], payload))
    }

    /// Sends a command and reads the first packet of its answer: the error number, or `None` when it is no error.
    pub fn ask(&mut self, command: u8, arguments: &[u8]) -> io::Result<Option<u16>> {
        self.command(command, arguments)?;
        let (_, answer) = self.read_packet()?;
        Ok(match answer.as_slice() {
            [ERROR, low, high, ..] => Some(u16::from_le_bytes([*low, *high])),
            _ => None,
        })
    }

    /// Reads whatever comes until the server closes or nothing comes for `patience`; true when it closed. Later reads wait as long
    /// as they did before.
    pub fn drain(&mut self, patience: Duration) -> bool {
        let Ok(before) = self.stream.read_timeout() else { return true };
        if self.stream.set_read_timeout(Some(patience)).is_err() {
            return true;
        }
        let mut bytes = [0; 4096];
        let closed = loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => break true,
                Ok(_) => {}
                Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => break false,
                Err(_) => break true,
            }
        };
        closed || self.stream.set_read_timeout(before).is_err()
    }

    /// The stream, for a caller that continues with its own bytes.
    pub fn into_stream(self) -> TcpStream {
        self.stream
    }

    /// Closes the connection without COM_QUIT.
    pub fn vanish(self) {
        // It may be gone already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// A handshake response for a user with an empty password.
pub fn login(user: &str) -> Vec<u8> {
    login_with(user, "mysql_native_password", &[])
}

/// A handshake response with a proof of a plugin, which is shorter than 251 bytes.
pub fn login_with(user: &str, plugin: &str, proof: &[u8]) -> Vec<u8> {
    let flags = LONG_PASSWORD | PROTOCOL_41 | TRANSACTIONS | SECURE_CONNECTION | PLUGIN_AUTH;
    let mut payload = flags.to_le_bytes().to_vec();
    payload.extend((1_u32 << 24).to_le_bytes());
    payload.push(45); // utf8mb4_general_ci
    payload.extend([0; 23]);
    payload.extend(user.as_bytes());
    payload.push(0);
    payload.push(proof.len() as u8);
    payload.extend(proof);
    payload.extend(plugin.as_bytes());
    payload.push(0);
    payload
}
