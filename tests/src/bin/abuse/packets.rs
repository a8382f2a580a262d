//! Packets that no client sends. The server may answer or close the connection; it must keep running.

use crate::Bystander;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use rand::rngs::StdRng;
use rand::{Rng, RngCore, SeedableRng};
use std::io::Write;
use std::time::Duration;
use tests::raw::{AUTH_SWITCH, COM_PING, COM_QUERY, COM_STMT_EXECUTE, COM_STMT_PREPARE, Raw, login};
use tests::{Address, Report};

/// How long to wait for an answer that may not come.
const PATIENCE: Duration = Duration::from_millis(20);
/// Commands that end the server or the connection by design are left out of the random ones.
const COM_SHUTDOWN: u8 = 8;
const COMMANDS: std::ops::Range<u8> = 0..40;

type Sent = std::io::Result<()>;

pub fn run(address: &Address, seed: u64, packets: u32, bystander: &mut Bystander, report: &mut Report) {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut case = |name: &str, body: &mut dyn FnMut() -> Sent| {
        report.case(name, || {
            // A write that fails because the server hung up is an answer too.
            let _ = body();
            bystander.is_well()
        });
    };
    case("garbage instead of a login", &mut || garbage(address, &mut rng));
    case("packet lengths that lie", &mut || lying_lengths(address));
    case("logins cut short", &mut || short_logins(address));
    case("logins with wrong parts", &mut || odd_logins(address));
    case("sequence numbers out of order", &mut || sequences(address));
    case("short commands", &mut || short_commands(address));
    case("unknown commands", &mut || unknown_commands(address));
    case("statements that are not UTF-8", &mut || not_utf8(address));
    case("executions cut short", &mut || short_executions(address));
    case("executions with wrong parts", &mut || odd_executions(address));
    case("long data for nobody", &mut || long_data(address));
    case("compressed frames that lie", &mut || lying_frames(address));
    case("compressed frames of random bytes", &mut || random_frames(address, &mut rng, packets));
    case("random commands", &mut || random_commands(address, &mut rng, packets));
    case("valid packets with flipped bits", &mut || flipped(address, &mut rng, packets * 10));
    report.case("more long data than a session may keep", || much_long_data(address).map_err(|error| error.to_string()));
    report.case("an error after the answer to a KILL", || killed(address).map_err(|error| error.to_string()));
    report.case("a login by a plugin that is unknown", || switched(address).map_err(|error| error.to_string()));
}

/// A connection that kills itself has an answer to that; the error that ends it is one to the next command.
fn killed(address: &Address) -> Sent {
    let mut raw = Raw::logged_in(address)?;
    raw.command(COM_QUERY, b"KILL CONNECTION_ID()")?;
    let mut answers = 0;
    while let Ok((sequence, _)) = raw.read_packet() {
        answers += 1;
        if sequence != 1 {
            return Err(std::io::Error::other(format!("answer {answers} is packet {sequence}, and is the first to its command")));
        }
    }
    if answers == 0 { Err(std::io::Error::other("the KILL has no answer")) } else { Ok(()) }
}

/// A client that could not load its plugin names another one, sends no proof, and waits until the server names a plugin.
fn switched(address: &Address) -> Sent {
    let mut payload = login(&address.user);
    payload.truncate(payload.len() - b"mysql_native_password\0".len());
    payload.extend(b"dummy_fallback_auth\0");
    let mut raw = Raw::greeted(address)?;
    raw.send(1, &payload)?;
    let (sequence, answer) = raw.read_packet()?;
    if (sequence, answer.first()) != (2, Some(&AUTH_SWITCH)) {
        return Err(std::io::Error::other(format!("answered with {:?} in place of a switch", answer.first())));
    }
    raw.send(3, &[])?;
    let (sequence, answer) = raw.read_packet()?;
    match (sequence, answer.first()) {
        (4, Some(0)) => Ok(()),
        _ => Err(std::io::Error::other(format!("packet {sequence} begins with {:?} in place of an OK", answer.first()))),
    }
}

fn garbage(address: &Address, rng: &mut StdRng) -> Sent {
    for length in [0, 1, 3, 4, 5, 31, 32, 33, 100, 4096, 100_000] {
        let mut raw = Raw::greeted(address)?;
        let mut bytes = vec![0; length];
        rng.fill_bytes(&mut bytes);
        let _ = raw.bytes(&bytes);
        raw.drain(PATIENCE);
    }
    Ok(())
}

fn lying_lengths(address: &Address) -> Sent {
    for head in [[0xff, 0xff, 0xff, 1], [0, 0, 0, 1], [1, 0, 0, 1], [0xff, 0xff, 0x7f, 0], [2, 0, 0, 255]] {
        let mut raw = Raw::greeted(address)?;
        raw.bytes(&head)?;
        raw.drain(PATIENCE);
        raw.vanish();
        let mut raw = Raw::logged_in(address)?;
        raw.bytes(&head)?;
        raw.bytes(b"\x03SELECT 1")?;
        raw.drain(PATIENCE);
        raw.vanish();
    }
    // A packet that announces a continuation which never comes.
    let mut raw = Raw::logged_in(address)?;
    raw.bytes(&[0xff, 0xff, 0xff, 0, COM_QUERY])?;
    raw.bytes(&vec![b' '; (1 << 24) - 2])?;
    raw.drain(PATIENCE);
    raw.vanish();
    Ok(())
}

fn short_logins(address: &Address) -> Sent {
    let whole = login(&address.user);
    for length in (0..whole.len()).step_by(3) {
        let mut raw = Raw::greeted(address)?;
        raw.send(1, &whole[..length])?;
        raw.drain(PATIENCE);
    }
    Ok(())
}

fn odd_logins(address: &Address) -> Sent {
    let whole = login(&address.user);
    let mut odd: Vec<Vec<u8>> = Vec::new();
    let name_at = 32;
    let auth_at = name_at + address.user.len() + 1;
    for length in [1, 20, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff] {
        let mut one = whole.clone();
        one[auth_at] = length; // authentication data longer than the packet
        odd.push(one);
    }
    let mut one = whole.clone();
    one[8] = 0xfe; // a character set that does not exist
    odd.push(one);
    let mut one = whole.clone();
    one[..4].copy_from_slice(&[0xff; 4]); // every capability
    odd.push(one);
    let mut one = whole.clone();
    one[..4].copy_from_slice(&[0; 4]); // none
    odd.push(one);
    let mut one = whole[..name_at].to_vec();
    one.extend(vec![b'u'; 100_000]); // a name without an end
    odd.push(one);
    let mut one = whole[..name_at].to_vec();
    one.extend([0xff, 0xfe, 0x80, 0]); // a name that is not UTF-8
    odd.push(one);
    let mut one = whole;
    one.extend(vec![0xab; 5000]); // something behind it
    odd.push(one);
    for payload in odd {
        let mut raw = Raw::greeted(address)?;
        raw.send(1, &payload)?;
        raw.drain(PATIENCE);
    }
    Ok(())
}

fn sequences(address: &Address) -> Sent {
    for sequence in [0, 2, 7, 255] {
        let mut raw = Raw::greeted(address)?;
        raw.send(sequence, &login(&address.user))?;
        raw.drain(PATIENCE);
        let mut raw = Raw::logged_in(address)?;
        raw.send(sequence, b"\x03SELECT 1")?;
        raw.drain(PATIENCE);
    }
    Ok(())
}

fn short_commands(address: &Address) -> Sent {
    let mut raw = Raw::logged_in(address)?;
    raw.send(0, &[])?;
    raw.drain(PATIENCE);
    for command in COMMANDS.filter(|c| *c != COM_SHUTDOWN) {
        for length in 0..6 {
            let mut raw = Raw::logged_in(address)?;
            raw.command(command, &vec![0; length])?;
            raw.drain(PATIENCE / 4);
        }
    }
    Ok(())
}

fn unknown_commands(address: &Address) -> Sent {
    let mut raw = Raw::logged_in(address)?;
    for command in [0x21, 0x40, 0x7f, 0x80, 0xee, 0xff] {
        raw.command(command, b"whatever")?;
        if raw.drain(PATIENCE) {
            raw = Raw::logged_in(address)?;
        }
    }
    Ok(())
}

fn not_utf8(address: &Address) -> Sent {
    let mut raw = Raw::logged_in(address)?;
    for bytes in [&b"SELECT '\xff\xfe'"[..], b"SELECT `\xc3\x28`", b"\xf0\x28\x8c\x28", b"SELECT _binary'\xff\x00\x01'"] {
        raw.command(COM_QUERY, bytes)?;
        raw.drain(PATIENCE);
        raw.command(COM_STMT_PREPARE, bytes)?;
        raw.drain(PATIENCE);
    }
    raw.command(2, b"\xff\xfe")?; // COM_INIT_DB
    raw.drain(PATIENCE);
    raw.ask(COM_PING, &[]).map(drop)
}

/// The payload of a good COM_STMT_EXECUTE of statement 1 with a number and a text.
fn execution() -> Vec<u8> {
    let mut payload = 1_u32.to_le_bytes().to_vec();
    payload.push(0); // no cursor
    payload.extend(1_u32.to_le_bytes()); // one iteration
    payload.push(0); // nothing is NULL
    payload.push(1); // types follow
    payload.extend([8, 0, 253, 0]); // BIGINT, VAR_STRING
    payload.extend(5_u64.to_le_bytes());
    payload.extend([3, b'a', b'b', b'c']);
    payload
}

/// A connection that has prepared statement 1.
fn prepared(address: &Address) -> std::io::Result<Raw> {
    let mut raw = Raw::logged_in(address)?;
    raw.ask(COM_STMT_PREPARE, b"SELECT ? + 1, CONCAT(?, 'x')")?;
    raw.drain(PATIENCE);
    Ok(raw)
}

fn short_executions(address: &Address) -> Sent {
    let whole = execution();
    for length in 0..=whole.len() {
        let mut raw = prepared(address)?;
        raw.command(COM_STMT_EXECUTE, &whole[..length])?;
        raw.drain(PATIENCE);
    }
    Ok(())
}

fn odd_executions(address: &Address) -> Sent {
    let whole = execution();
    let types_at = 11;
    let text_at = types_at + 4 + 8;
    for (at, byte) in [
        (0, 99),            // no such statement
        (4, 0xff),          // every kind of cursor
        (9, 0xff),          // all NULL
        (10, 0),            // no types, though never given
        (10, 7),            // a flag that is neither
        (types_at, 200),    // a type that does not exist
        (types_at, 12),     // a date of five bytes
        (types_at, 11),     // a time of five bytes
        (types_at + 2, 12), // a date of three bytes
        (text_at, 0xfa),    // a text longer than the packet
        (text_at, 0xfc),
        (text_at, 0xfd),
        (text_at, 0xfe),
        (text_at, 0xfb),
    ] {
        let mut payload = whole.clone();
        payload[at] = byte;
        let mut raw = prepared(address)?;
        raw.command(COM_STMT_EXECUTE, &payload)?;
        raw.drain(PATIENCE);
    }
    let mut raw = prepared(address)?;
    let mut payload = whole;
    payload.extend(vec![0xee; 10_000]); // something behind it
    raw.command(COM_STMT_EXECUTE, &payload)?;
    raw.drain(PATIENCE);
    Ok(())
}

fn long_data(address: &Address) -> Sent {
    const COM_STMT_SEND_LONG_DATA: u8 = 24;
    let mut raw = prepared(address)?;
    for payload in [&[9, 0, 0, 0, 0, 0, b'x'][..], &[1, 0, 0, 0, 99, 0, b'x'], &[1, 0, 0], &[1, 0, 0, 0, 1], &[]] {
        raw.command(COM_STMT_SEND_LONG_DATA, payload)?;
    }
    raw.command(COM_STMT_EXECUTE, &execution())?;
    raw.drain(PATIENCE);
    Ok(())
}

/// Each value is within `max_allowed_packet`, and all that a session keeps are within four times as much.
fn much_long_data(address: &Address) -> Sent {
    const COM_STMT_SEND_LONG_DATA: u8 = 24;
    let mut raw = prepared(address)?;
    for _ in 0..2 {
        raw.ask(COM_STMT_PREPARE, b"SELECT LENGTH(?), LENGTH(?)")?;
        raw.drain(PATIENCE);
    }
    let mut piece = vec![b'x'; 6 + (15 << 20)];
    // Five values of 60 MiB, where a packet has 64.
    for (statement, parameter) in [(2, 0), (2, 1), (3, 0), (3, 1), (1, 1)] {
        piece[..6].copy_from_slice(&[statement, 0, 0, 0, parameter, 0]);
        for _ in 0..4 {
            raw.command(COM_STMT_SEND_LONG_DATA, &piece)?;
        }
    }
    let refused = raw.ask(COM_STMT_EXECUTE, &execution())?;
    if refused.is_none() {
        return Err(std::io::Error::other("more long data than a session may keep was taken"));
    }
    Ok(())
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("a vector takes everything")
}

/// A text command of this many bytes.
fn query(length: usize) -> Vec<u8> {
    let mut packet = (length as u32).to_le_bytes().to_vec();
    packet.push(COM_QUERY);
    packet.extend(vec![b' '; length - 1]);
    packet
}

fn lying_frames(address: &Address) -> Sent {
    let plain = query(4000);
    let length = plain.len() as u32;
    let good = deflate(&plain);
    let mut no_zlib = good.clone();
    no_zlib[0] = 0;
    let mut flipped = good.clone();
    *flipped.last_mut().expect("a checksum") ^= 1;
    let mut longer = good.clone();
    longer.extend([0; 20]);
    for (sequence, promised, bytes) in [
        (0, length, &good[..]),
        (7, length, &good),
        (0, length - 1, &good),
        (0, length + 1, &good),
        (0, 1, &good),
        (0, 0xff_ffff, &good),
        (0, 0, &good),
        (0, length, &good[..good.len() / 2]),
        (0, length, &no_zlib),
        (0, length, &flipped),
        (0, length, &longer),
        (0, length, &[]),
        (0, 0, &[]),
        (0, 0, &plain[..3]),
    ] {
        let mut raw = Raw::compressed(address)?;
        raw.frame(sequence, promised, bytes)?;
        raw.drain(PATIENCE);
        raw.vanish();
    }
    // Packets where frames are due, empty frames without end, and a frame that never ends.
    let mut raw = Raw::compressed(address)?;
    raw.command(COM_QUERY, b"SELECT 1")?;
    raw.drain(PATIENCE);
    let mut raw = Raw::compressed(address)?;
    for sequence in 0..10_000_u32 {
        raw.frame(sequence as u8, 0, &[])?;
    }
    raw.vanish();
    let mut raw = Raw::compressed(address)?;
    raw.bytes(&[0xff, 0xff, 0xff, 0, 0xff, 0xff, 0xff])?;
    raw.bytes(&good[..good.len() - 5])?;
    raw.drain(PATIENCE);
    raw.vanish();
    // Small frames that unpack to 16 MiB each, for a packet over every limit.
    let mut raw = Raw::compressed(address)?;
    let bomb = deflate(&vec![0xff; 0xff_ffff]);
    for sequence in 0..20 {
        raw.frame(sequence, 0xff_ffff, &bomb)?;
    }
    raw.drain(PATIENCE * 10);
    raw.vanish();
    Ok(())
}

fn random_frames(address: &Address, rng: &mut StdRng, packets: u32) -> Sent {
    let good = deflate(&query(3000));
    for _ in 0..packets * 5 {
        let mut raw = Raw::compressed(address)?;
        let mut bytes = good.clone();
        if rng.random_range(0..3) == 0 {
            bytes = vec![0; rng.random_range(0..200)];
            rng.fill_bytes(&mut bytes);
        } else {
            for _ in 0..rng.random_range(1..6) {
                let at = rng.random_range(0..bytes.len());
                bytes[at] ^= 1 << rng.random_range(0..8);
            }
        }
        raw.frame(0, rng.random_range(0..2) * 3004, &bytes)?;
        raw.drain(PATIENCE / 10);
    }
    Ok(())
}

fn random_commands(address: &Address, rng: &mut StdRng, packets: u32) -> Sent {
    for command in COMMANDS.filter(|c| *c != COM_SHUTDOWN) {
        for _ in 0..packets {
            let mut payload = vec![0; rng.random_range(0..200)];
            rng.fill_bytes(&mut payload);
            let mut raw = if rng.random_range(0..4) == 0 { prepared(address)? } else { Raw::logged_in(address)? };
            raw.command(command, &payload)?;
            raw.drain(PATIENCE / 10);
        }
    }
    Ok(())
}

fn flipped(address: &Address, rng: &mut StdRng, packets: u32) -> Sent {
    let texts: [&[u8]; 3] =
        [b"SELECT id, v FROM abuse.t WHERE id BETWEEN 1 AND 20", b"UPDATE abuse.t SET v = v + 0 WHERE id = 7", b"SHOW TABLES"];
    for _ in 0..packets {
        let execute = rng.random_range(0..2) == 0;
        let (command, mut payload) =
            if execute { (COM_STMT_EXECUTE, execution()) } else { (COM_QUERY, texts[rng.random_range(0..texts.len())].to_vec()) };
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..payload.len());
            payload[at] ^= 1 << rng.random_range(0..8);
        }
        let mut raw = if execute { prepared(address)? } else { Raw::logged_in(address)? };
        raw.command(command, &payload)?;
        raw.drain(PATIENCE / 10);
    }
    Ok(())
}
