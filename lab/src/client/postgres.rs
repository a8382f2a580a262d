//! PostgreSQL's protocol, version 3: login, and the extended protocol.
//!
//! ```text
//! message   type u8, length u32 (big endian, itself included), payload
//! prepare   Parse, Sync            execute   Bind, Execute, Sync         text   Query
//! answer    ... rows (D) ... error (E)? ... ReadyForQuery (Z)
//! ```
//! Logins: trust, a password in the clear, SCRAM-SHA-256 (RFC 5802, RFC 7677).

use super::codec::Sent;
use super::{Row, Socket, Value};
use crate::error::{Error, Result};
use crate::target::Target;
use base64::Engine as _;
use hmac::Mac as _;
use sha2::Digest as _;
use std::io::{Read, Write};
use std::time::Duration;

const VERSION_3: u32 = 3 << 16;
const LOGIN_MAX: Duration = Duration::from_secs(20);
const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// What is known of one connection.
#[derive(Clone, Debug, Default)]
pub struct Codec {
    pub rows: u64,
    pub error: Option<Error>,
}

/// Writes a message: its type, and its payload by `fill`.
fn message(out: &mut Vec<u8>, kind: u8, fill: impl FnOnce(&mut Vec<u8>)) {
    out.push(kind);
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    fill(out);
    let length = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(text);
    out.push(0);
}

fn statement_name(number: u32) -> [u8; 9] {
    let mut name = *b"s00000000";
    let mut left = number;
    for digit in name[1..].iter_mut().rev() {
        *digit = b'0' + (left % 10) as u8;
        left /= 10;
    }
    name
}

impl Codec {
    pub fn query(&self, out: &mut Vec<u8>, sql: &[u8]) -> Result<()> {
        message(out, b'Q', |out| put_text(out, sql));
        Ok(())
    }

    pub fn prepare(&self, out: &mut Vec<u8>, number: u32, sql: &str) -> Result<()> {
        message(out, b'P', |out| {
            put_text(out, &statement_name(number));
            put_text(out, numbered(sql).as_bytes());
            out.extend_from_slice(&[0, 0]);
        });
        message(out, b'S', |_| ());
        Ok(())
    }

    /// Numbers travel in binary, texts as they are; rows come in binary.
    pub fn execute(&self, out: &mut Vec<u8>, id: u32, values: &[Value], text: &[u8]) {
        message(out, b'B', |out| {
            put_text(out, b"");
            put_text(out, &statement_name(id));
            let count = (values.len() as u16).to_be_bytes();
            out.extend_from_slice(&count);
            values.iter().for_each(|value| out.extend_from_slice(&[0, u8::from(matches!(value, Value::Int(_)))]));
            out.extend_from_slice(&count);
            for value in values {
                match value {
                    Value::Int(number) => {
                        out.extend_from_slice(&4u32.to_be_bytes());
                        out.extend_from_slice(&number.to_be_bytes());
                    }
                    Value::Text { from, to } => {
                        out.extend_from_slice(&(to - from).to_be_bytes());
                        out.extend_from_slice(&text[*from as usize..*to as usize]);
                    }
                }
            }
            out.extend_from_slice(&[0, 1, 0, 1]);
        });
        message(out, b'E', |out| out.extend_from_slice(&[0, 0, 0, 0, 0]));
        message(out, b'S', |_| ());
    }

    pub fn begin(&mut self, _: Sent) {
        self.rows = 0;
        self.error = None;
    }

    pub fn feed(&mut self, input: &[u8], row: &mut dyn FnMut(&[u8])) -> Result<(usize, bool)> {
        let mut at = 0;
        while let Some((kind, length)) = head(&input[at..]) {
            if length < 4 {
                return Err(Error::Protocol("a message shorter than its length"));
            }
            let Some(payload) = input.get(at + 5..at + 1 + length) else { break };
            at += 1 + length;
            match kind {
                b'D' => {
                    self.rows += 1;
                    row(payload);
                }
                b'E' => self.error = Some(error(payload)),
                b'Z' => return Ok((at, true)),
                b'G' | b'W' => return Err(Error::Protocol("it asks for a COPY")),
                _ => (),
            }
        }
        Ok((at, false))
    }
}

/// Type and length of the message at the start, if both are there.
fn head(bytes: &[u8]) -> Option<(u8, usize)> {
    let head = bytes.first_chunk::<5>()?;
    Some((head[0], u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize))
}

/// `?` as `$1`, `$2`, ...
fn numbered(sql: &str) -> String {
    let mut out = String::new();
    for (at, part) in sql.split('?').enumerate() {
        if at > 0 {
            out.push_str(&format!("${at}"));
        }
        out.push_str(part);
    }
    out
}

fn error(payload: &[u8]) -> Error {
    let (mut state, mut message) = (String::new(), String::new());
    for field in payload.split(|byte| *byte == 0) {
        match field.split_first() {
            Some((b'C', text)) => state = String::from_utf8_lossy(text).into_owned(),
            Some((b'M', text)) => message = String::from_utf8_lossy(text).into_owned(),
            _ => (),
        }
    }
    Error::Server { number: 0, state, message }
}

/// A row of a statement that was sent as text.
pub fn text_row(payload: &[u8]) -> Result<Row> {
    let wrong = || Error::Protocol("a value of a row");
    let mut row = Row::new();
    let mut at = 2;
    while at < payload.len() {
        let bytes = payload.get(at..at + 4).ok_or_else(wrong)?;
        let length = i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        at += 4;
        let Ok(length) = usize::try_from(length) else {
            row.push(None);
            continue;
        };
        let value = payload.get(at..at + length).ok_or_else(wrong)?;
        row.push(Some(String::from_utf8_lossy(value).into_owned()));
        at += length;
    }
    Ok(row)
}

/// Logs in.
///
/// # Errors
/// The server's refusal, or a kind of login that the lab does not know.
pub fn log_in(socket: &mut Socket, target: &Target, database: Option<&str>) -> Result<Codec> {
    socket.set_patience(Some(LOGIN_MAX))?;
    let mut start = vec![0; 4];
    start.extend_from_slice(&VERSION_3.to_be_bytes());
    for text in ["user", &target.user, "database", database.unwrap_or("postgres"), "application_name", "heddle bench", ""] {
        put_text(&mut start, text.as_bytes());
    }
    let length = (start.len() as u32).to_be_bytes();
    start[..4].copy_from_slice(&length);
    socket.write_all(&start)?;
    let mut scram = None;
    loop {
        let (kind, payload) = receive(socket)?;
        match kind {
            b'E' => return Err(error(&payload)),
            b'Z' => {
                socket.set_patience(None)?;
                return Ok(Codec::default());
            }
            b'R' => authenticate(socket, target, &payload, &mut scram)?,
            _ => (),
        }
    }
}

fn receive(socket: &mut Socket) -> Result<(u8, Vec<u8>)> {
    let mut bytes = [0; 5];
    socket.read_exact(&mut bytes)?;
    let (kind, length) = head(&bytes).ok_or(Error::Protocol("a message of the login"))?;
    if !(4..=MESSAGE_BYTES_MAX).contains(&length) {
        return Err(Error::Protocol("a long message before the login: is this a server of PostgreSQL's protocol?"));
    }
    let mut payload = vec![0; length - 4];
    socket.read_exact(&mut payload)?;
    Ok((kind, payload))
}

fn authenticate(socket: &mut Socket, target: &Target, payload: &[u8], scram: &mut Option<Scram>) -> Result<()> {
    let (code, rest) = payload.split_first_chunk::<4>().ok_or(Error::Protocol("a request of the login"))?;
    let mut out = Vec::new();
    match u32::from_be_bytes(*code) {
        0 => return Ok(()),
        3 => message(&mut out, b'p', |out| put_text(out, target.password.as_bytes())),
        10 => {
            let begun = Scram::begin();
            let first = format!("n,,{}", begun.first);
            message(&mut out, b'p', |out| {
                put_text(out, b"SCRAM-SHA-256");
                out.extend_from_slice(&(first.len() as u32).to_be_bytes());
                out.extend_from_slice(first.as_bytes());
            });
            *scram = Some(begun);
        }
        11 => {
            let scram = scram.as_mut().ok_or(Error::Protocol("SCRAM out of order"))?;
            let last = scram.answer(&String::from_utf8_lossy(rest), &target.password)?;
            message(&mut out, b'p', |out| out.extend_from_slice(last.as_bytes()));
        }
        12 => {
            let scram = scram.as_ref().ok_or(Error::Protocol("SCRAM out of order"))?;
            let theirs = String::from_utf8_lossy(rest).into_owned();
            if theirs.strip_prefix("v=") != Some(scram.server_proof.as_str()) {
                return Err(Error::Protocol("the server does not know the password"));
            }
            return Ok(());
        }
        other => {
            return Err(Error::asked(format!("the server asks for login {other}; the lab knows trust, password, SCRAM-SHA-256")));
        }
    }
    Ok(socket.write_all(&out)?)
}

/// One login by SCRAM.
struct Scram {
    first: String,
    server_proof: String,
}

fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(key).expect("any length will do");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

impl Scram {
    fn begin() -> Self {
        let nonce = base64(&os::random_bytes::<18>());
        Self { first: format!("n=,r={nonce}"), server_proof: String::new() }
    }

    /// The client's last message, and what the server must prove.
    fn answer(&mut self, theirs: &str, password: &str) -> Result<String> {
        let wrong = || Error::Protocol("a message of SCRAM");
        let field = |name: &str| theirs.split(',').find_map(|part| part.strip_prefix(name)).ok_or_else(wrong);
        let (nonce, salt, rounds) = (field("r=")?, field("s=")?, field("i=")?);
        let own = self.first.rsplit("r=").next().unwrap_or_default();
        let rounds: u32 = rounds.parse().map_err(|_| wrong())?;
        if !nonce.starts_with(own) || rounds > 1_000_000 {
            return Err(wrong());
        }
        let salt = base64::engine::general_purpose::STANDARD.decode(salt).map_err(|_| wrong())?;
        // PBKDF2 with one block.
        let mut block = hmac(password.as_bytes(), &[&salt, &1u32.to_be_bytes()]);
        let mut salted = block;
        for _ in 1..rounds {
            block = hmac(password.as_bytes(), &[&block]);
            salted.iter_mut().zip(block).for_each(|(a, b)| *a ^= b);
        }
        let client_key = hmac(&salted, &[b"Client Key"]);
        let without_proof = format!("c=biws,r={nonce}");
        let text = format!("{},{theirs},{without_proof}", self.first);
        let signature = hmac(&sha2::Sha256::digest(client_key), &[text.as_bytes()]);
        let proof: Vec<u8> = client_key.iter().zip(signature).map(|(a, b)| a ^ b).collect();
        self.server_proof = base64(&hmac(&hmac(&salted, &[b"Server Key"]), &[text.as_bytes()]));
        Ok(format!("{without_proof},p={}", base64(&proof)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scram_is_that_of_rfc_7677() {
        let mut scram = Scram { first: "n=user,r=rOprNGfwEbeRWgbNEkqO".into(), server_proof: String::new() };
        let theirs = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let last = scram.answer(theirs, "pencil").expect("well formed");
        assert!(last.ends_with("p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="), "{last}");
        assert_eq!(scram.server_proof, "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        assert!(scram.answer("r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "pencil").is_err());
    }

    #[test]
    fn marks_are_numbered() {
        assert_eq!(numbered("a=? AND b=?"), "a=$1 AND b=$2");
        assert_eq!(&statement_name(1203), b"s00001203");
    }

    #[test]
    fn an_answer_ends_when_the_server_is_ready() {
        let mut bytes = Vec::new();
        message(&mut bytes, b'2', |_| ());
        message(&mut bytes, b'D', |out| out.extend_from_slice(&[0, 0]));
        message(&mut bytes, b'E', |out| out.extend_from_slice(b"SERROR\0C40001\0Mcould not serialize\0\0"));
        message(&mut bytes, b'Z', |out| out.push(b'I'));
        for cut in 0..bytes.len() {
            let mut codec = Codec::default();
            let (used, done) = codec.feed(&bytes[..cut], &mut |_| ()).expect("well formed");
            assert!(!done);
            let (rest, done) = codec.feed(&bytes[used..], &mut |_| ()).expect("well formed");
            assert_eq!((used + rest, done, codec.rows), (bytes.len(), true, 1));
            assert!(codec.error.expect("it is one").is_conflict());
        }
    }
}
