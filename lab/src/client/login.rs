//! Logs in at a server of MySQL's protocol, blocking.
//!
//! 1. The server greets, with a nonce and the plugin that it prefers.
//! 2. The client answers with its capabilities, and the password scrambled as that plugin wants.
//! 3. The server takes that, refuses it, asks for another plugin, or for the password itself (`caching_sha2_password` the first time): it goes
//!    over a unix socket as it is, over TCP encrypted with the server's key.

use super::{Socket, mysql};
use crate::error::{Error, Result};
use crate::target::Target;
use aws_lc_rs::rsa::{OAEP_SHA1_MGF1SHA1, OaepPublicEncryptingKey, PublicEncryptingKey};
use base64::Engine as _;
use sha1::Digest as _;
use std::io::{Read, Write};
use std::time::Duration;

const LONG_FLAG: u32 = 0x4;
const CONNECT_WITH_DB: u32 = 0x8;
const PROTOCOL_41: u32 = 0x200;
const TRANSACTIONS: u32 = 0x2000;
const SECURE_CONNECTION: u32 = 0x8000;
const MULTI_RESULTS: u32 = 0x2_0000;
const PS_MULTI_RESULTS: u32 = 0x4_0000;
const PLUGIN_AUTH: u32 = 0x8_0000;
const DEPRECATE_EOF: u32 = 0x100_0000;
const UTF8MB4_GENERAL_CI: u8 = 45;
const PACKET_BYTES_MAX: u32 = 64 << 20;
const NATIVE: &str = "mysql_native_password";
const CACHING_SHA2: &str = "caching_sha2_password";
/// A login that takes longer has failed.
const LOGIN_MAX: Duration = Duration::from_secs(20);
/// No packet of a login is longer.
const LOGIN_BYTES_MAX: usize = 64 << 10;
/// Messages of a login; more is a server that plays.
const STEPS_MAX: usize = 10;

/// Logs in.
///
/// # Errors
/// The server's refusal, a plugin that the lab does not know, or bytes that are no greeting.
pub fn log_in(socket: &mut Socket, target: &Target, database: Option<&str>) -> Result<mysql::Codec> {
    socket.set_patience(Some(LOGIN_MAX))?;
    let (mut sequence, greeting) = receive(socket)?;
    if greeting.first() == Some(&0xff) {
        return Err(mysql::error(&greeting));
    }
    let greeting = Greeting::read(&greeting).ok_or(Error::Protocol("a greeting"))?;
    let mut wanted = LONG_FLAG
        | PROTOCOL_41
        | TRANSACTIONS
        | SECURE_CONNECTION
        | MULTI_RESULTS
        | PS_MULTI_RESULTS
        | PLUGIN_AUTH
        | DEPRECATE_EOF;
    if database.is_some() {
        wanted |= CONNECT_WITH_DB;
    }
    let capabilities = wanted & greeting.capabilities;
    let (mut plugin, mut nonce) = (greeting.plugin, greeting.nonce);
    if plugin != NATIVE {
        plugin = CACHING_SHA2.into();
    }
    let proof = scramble(&plugin, &target.password, &nonce);
    let mut answer = Vec::new();
    answer.extend_from_slice(&capabilities.to_le_bytes());
    answer.extend_from_slice(&PACKET_BYTES_MAX.to_le_bytes());
    answer.push(UTF8MB4_GENERAL_CI);
    answer.extend_from_slice(&[0; 23]);
    answer.extend_from_slice(target.user.as_bytes());
    answer.push(0);
    answer.push(proof.len() as u8);
    answer.extend_from_slice(&proof);
    for text in database.into_iter().chain([plugin.as_str()]) {
        answer.extend_from_slice(text.as_bytes());
        answer.push(0);
    }
    send(socket, sequence + 1, &answer)?;
    for _ in 0..STEPS_MAX {
        let payload;
        (sequence, payload) = receive(socket)?;
        match payload.split_first() {
            Some((0x00, _)) => {
                socket.set_patience(None)?;
                return Ok(mysql::Codec::new(capabilities & DEPRECATE_EOF != 0));
            }
            Some((0xff, _)) => return Err(mysql::error(&payload)),
            Some((0xfe, rest)) => {
                let end = rest.iter().position(|byte| *byte == 0).ok_or(Error::Protocol("a switch of the login's plugin"))?;
                plugin = String::from_utf8_lossy(&rest[..end]).into_owned();
                nonce = rest[end + 1..].iter().copied().take(20).collect();
                if plugin != NATIVE && plugin != CACHING_SHA2 {
                    return Err(Error::asked(format!("the account uses {plugin}; the lab knows {NATIVE} and {CACHING_SHA2}")));
                }
                send(socket, sequence + 1, &scramble(&plugin, &target.password, &nonce))?;
            }
            // The server knows the password.
            Some((0x01, [0x03])) => (),
            Some((0x01, [0x04])) => {
                let mut password = target.password.clone().into_bytes();
                password.push(0);
                if socket.is_unix() {
                    send(socket, sequence + 1, &password)?;
                } else {
                    const REQUEST_KEY: u8 = 0x02;
                    send(socket, sequence + 1, &[REQUEST_KEY])?;
                    let (number, key) = receive(socket)?;
                    let key = key.strip_prefix(&[0x01]).ok_or(Error::Protocol("a key for the password"))?;
                    let hidden: Vec<u8> = password.iter().zip(nonce.iter().cycle()).map(|(byte, with)| byte ^ with).collect();
                    send(socket, number + 1, &encrypt(key, &hidden)?)?;
                }
            }
            _ => return Err(Error::Protocol("a message of the login")),
        }
    }
    Err(Error::Protocol("a login without an end"))
}

struct Greeting {
    capabilities: u32,
    nonce: Vec<u8>,
    plugin: String,
}

impl Greeting {
    fn read(payload: &[u8]) -> Option<Self> {
        let (&10, rest) = payload.split_first()? else { return None };
        let version = rest.iter().position(|byte| *byte == 0)?;
        let rest = rest.get(version + 1 + 4..)?;
        let (first, rest) = rest.split_at_checked(8)?;
        let low = u16::from_le_bytes([*rest.get(1)?, *rest.get(2)?]);
        let high = u16::from_le_bytes([*rest.get(6)?, *rest.get(7)?]);
        let rest = rest.get(1 + 2 + 1 + 2 + 2 + 1 + 10..)?;
        let second = rest.get(..12)?;
        let plugin = rest.get(13..).unwrap_or_default();
        let plugin = &plugin[..plugin.iter().position(|byte| *byte == 0).unwrap_or(plugin.len())];
        Some(Self {
            capabilities: u32::from(high) << 16 | u32::from(low),
            nonce: [first, second].concat(),
            plugin: String::from_utf8_lossy(plugin).into_owned(),
        })
    }
}

fn send(socket: &mut Socket, sequence: u8, payload: &[u8]) -> Result<()> {
    let mut packet = (payload.len() as u32).to_le_bytes().to_vec();
    packet[3] = sequence;
    packet.extend_from_slice(payload);
    Ok(socket.write_all(&packet)?)
}

fn receive(socket: &mut Socket) -> Result<(u8, Vec<u8>)> {
    let mut header = [0; 4];
    socket.read_exact(&mut header)?;
    let bytes = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
    if bytes > LOGIN_BYTES_MAX {
        return Err(Error::Protocol("a long message before the login: is this a server of MySQL's protocol?"));
    }
    let mut payload = vec![0; bytes];
    socket.read_exact(&mut payload)?;
    Ok((header[3], payload))
}

/// The password's proof; none for no password.
fn scramble(plugin: &str, password: &str, nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    fn mix(a: &[u8], b: &[u8]) -> Vec<u8> {
        a.iter().zip(b).map(|(a, b)| a ^ b).collect()
    }
    if plugin == NATIVE {
        // SHA1(password) XOR SHA1(nonce, SHA1(SHA1(password)))
        let once = sha1::Sha1::digest(password);
        let twice = sha1::Sha1::digest(once);
        return mix(&once, &sha1::Sha1::digest([nonce, &twice].concat()));
    }
    // SHA256(password) XOR SHA256(SHA256(SHA256(password)), nonce)
    let once = sha2::Sha256::digest(password);
    let twice = sha2::Sha256::digest(once);
    mix(&once, &sha2::Sha256::digest([&twice[..], nonce].concat()))
}

fn encrypt(pem: &[u8], password: &[u8]) -> Result<Vec<u8>> {
    let wrong = || Error::Protocol("the server's key is not readable");
    let text = String::from_utf8_lossy(pem);
    let body: String = text.lines().filter(|line| !line.starts_with("-----")).flat_map(|line| line.trim().chars()).collect();
    let der = base64::engine::general_purpose::STANDARD.decode(body.trim_end_matches('\0')).map_err(|_| wrong())?;
    let key = PublicEncryptingKey::from_der(&der).map_err(|_| wrong())?;
    let key = OaepPublicEncryptingKey::new(key).map_err(|_| wrong())?;
    let mut room = vec![0; key.ciphertext_size()];
    let written = key.encrypt(&OAEP_SHA1_MGF1SHA1, password, &mut room, None).map_err(|_| wrong())?.len();
    room.truncate(written);
    Ok(room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proofs_are_what_servers_verify() {
        assert!(scramble(NATIVE, "", b"01234567890123456789").is_empty());
        // The server has SHA1(SHA1(password)): the proof mixed with SHA1(nonce, that) must hash to it.
        let nonce = b"01234567890123456789";
        let proof = scramble(NATIVE, "secret", nonce);
        let stored = sha1::Sha1::digest(sha1::Sha1::digest("secret"));
        let with = sha1::Sha1::digest([&nonce[..], &stored].concat());
        let once: Vec<u8> = proof.iter().zip(with).map(|(a, b)| a ^ b).collect();
        assert_eq!(sha1::Sha1::digest(once), stored);
        let proof = scramble(CACHING_SHA2, "secret", nonce);
        let stored = sha2::Sha256::digest(sha2::Sha256::digest("secret"));
        let with = sha2::Sha256::digest([&stored[..], nonce].concat());
        let once: Vec<u8> = proof.iter().zip(with).map(|(a, b)| a ^ b).collect();
        assert_eq!(sha2::Sha256::digest(once), stored);
    }

    #[test]
    fn greetings_are_read() {
        let mut bytes = b"\x0a8.4.0\0\x01\0\0\0abcdefgh\0".to_vec();
        bytes.extend_from_slice(&[0xff, 0xff, 45, 2, 0, 0xff, 0x01, 21]);
        bytes.extend_from_slice(&[0; 10]);
        bytes.extend_from_slice(b"ijklmnopqrst\0caching_sha2_password\0");
        let greeting = Greeting::read(&bytes).expect("well formed");
        assert_eq!((greeting.nonce.as_slice(), greeting.plugin.as_str()), (&b"abcdefghijklmnopqrst"[..], CACHING_SHA2));
        assert_eq!(greeting.capabilities, 0x01ff_ffff);
        assert!((0..40).all(|cut| Greeting::read(&bytes[..cut]).is_none()), "a cut greeting is refused");
    }
}
