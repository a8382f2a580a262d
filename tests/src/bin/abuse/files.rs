//! LOAD DATA LOCAL with clients that send their file in odd ways, break off, or send something else.
//!
//! The expected behaviour is MySQL's. A statement that fails in the middle reads the file to its end before it reports the error, and the
//! connection stays open. A client that breaks the protocol loses its connection and its rows.

use crate::{Bystander, DATABASE};
use mysql::Conn;
use mysql::prelude::Queryable;
use std::time::{Duration, Instant};
use tests::raw::{COM_QUERY, Raw};
use tests::{Address, Report};

type Checked = Result<(), String>;

pub fn run(address: &Address, bystander: &mut Bystander, report: &mut Report) {
    let mut case = |name: &str, body: &dyn Fn(&Address, &mut Conn) -> Checked| {
        report.case(name, || {
            let mut conn = address.connect_to(DATABASE).map_err(|e| e.to_string())?;
            for sql in
                ["SET GLOBAL local_infile = ON", "DROP TABLE IF EXISTS f", "CREATE TABLE f (id INT PRIMARY KEY, s VARCHAR(100))"]
            {
                conn.query_drop(sql).map_err(|e| format!("{sql}: {e}"))?;
            }
            body(address, &mut conn)?;
            bystander.is_well()
        });
    };
    case("a file in pieces of every size", &pieces);
    case("a file of one large packet", &large_packet);
    case("an empty file", &|address, conn| loaded(address, conn, &[], 0));
    case("a file that ends a statement in its middle", &wrong_in_the_middle);
    case("statements behind a file", &several);
    case("a table that is not there asks for no file", &nothing_asked);
    case("a client without files is asked for none", &no_files);
    case("KILL QUERY in the middle of a file", &|address, conn| killed(address, conn, "KILL QUERY"));
    case("KILL in the middle of a file", &|address, conn| killed(address, conn, "KILL"));
    case("a client that breaks off", &broken_off);
    case("a file with packets out of order", &out_of_order);
    case("a client that says nothing", &silent);
    case("a row without an end", &endless_row);
}

fn fail(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Asks to load a file; the number of the packet that asks for it.
fn ask(raw: &mut Raw, sql: &str) -> Result<u8, String> {
    raw.command(COM_QUERY, sql.as_bytes()).map_err(fail)?;
    let (sequence, answer) = raw.read_packet().map_err(fail)?;
    match answer.first() {
        Some(0xfb) => Ok(sequence),
        _ => Err(format!("{sql}: {}", String::from_utf8_lossy(&answer))),
    }
}

fn load(into: &str) -> String {
    format!("LOAD DATA LOCAL INFILE 'x' INTO TABLE {DATABASE}.{into}")
}

/// Sends packets, and reads the answer: `None` is OK, else the error's number.
fn send(raw: &mut Raw, mut sequence: u8, packets: &[&[u8]]) -> Result<Option<u16>, String> {
    for packet in packets.iter().chain(&[&b""[..]]) {
        sequence = sequence.wrapping_add(1);
        raw.send(sequence, packet).map_err(fail)?;
    }
    let (number, answer) = raw.read_packet().map_err(fail)?;
    if number != sequence.wrapping_add(1) {
        return Err(format!("the answer has number {number}, after {sequence}"));
    }
    Ok(match answer.as_slice() {
        [0xff, low, high, ..] => Some(u16::from_le_bytes([*low, *high])),
        _ => None,
    })
}

fn count(conn: &mut Conn) -> Result<u64, String> {
    conn.query_first("SELECT COUNT(*) FROM f").map_err(fail)?.ok_or_else(|| "no answer".to_owned())
}

fn has(conn: &mut Conn, rows: u64) -> Checked {
    let found = count(conn)?;
    if found == rows { Ok(()) } else { Err(format!("{found} rows, not {rows}")) }
}

/// The connection still answers.
fn goes_on(raw: &mut Raw) -> Checked {
    match raw.ask(COM_QUERY, b"DO 1").map_err(fail)? {
        None => Ok(()),
        Some(code) => Err(format!("then error {code}")),
    }
}

fn loaded(address: &Address, conn: &mut Conn, packets: &[&[u8]], rows: u64) -> Checked {
    let mut raw = Raw::with_files(address).map_err(fail)?;
    let sequence = ask(&mut raw, &load("f"))?;
    if let Some(code) = send(&mut raw, sequence, packets)? {
        return Err(format!("error {code}"));
    }
    has(conn, rows)?;
    goes_on(&mut raw)
}

fn lines(rows: std::ops::Range<u32>) -> Vec<u8> {
    rows.flat_map(|n| format!("{n}\trow number {n}\n").into_bytes()).collect()
}

fn pieces(address: &Address, conn: &mut Conn) -> Checked {
    let text = lines(0..500);
    for size in [1, 2, 3, 7, 100, 1000] {
        conn.query_drop("DELETE FROM f").map_err(fail)?;
        loaded(address, conn, &text.chunks(size).collect::<Vec<_>>(), 500).map_err(|why| format!("pieces of {size}: {why}"))?;
    }
    Ok(())
}

fn large_packet(address: &Address, conn: &mut Conn) -> Checked {
    let text = lines(0..400_000);
    loaded(address, conn, &[&text[..9_000_000], &text[9_000_000..]], 400_000)
}

fn wrong_in_the_middle(address: &Address, conn: &mut Conn) -> Checked {
    let mut text = lines(0..10);
    text.extend_from_slice(b"10\t\xff\n");
    text.extend(lines(11..50_000));
    let mut raw = Raw::with_files(address).map_err(fail)?;
    let sequence = ask(&mut raw, &load("f"))?;
    let answer = send(&mut raw, sequence, &text.chunks(1000).collect::<Vec<_>>())?;
    if answer != Some(1300) {
        return Err(format!("answered {answer:?}"));
    }
    has(conn, 0)?;
    goes_on(&mut raw)
}

fn several(address: &Address, conn: &mut Conn) -> Checked {
    let mut raw = Raw::with_files(address).map_err(fail)?;
    raw.ask(27, &[0, 0]).map_err(fail)?; // COM_SET_OPTION: several statements
    let sequence = ask(&mut raw, &format!("{0}; {0}; DO 1", load("f")))?;
    if let Some(code) = send(&mut raw, sequence, &[&lines(0..10)])? {
        return Err(format!("the first file: error {code}"));
    }
    let (sequence, answer) = raw.read_packet().map_err(fail)?;
    if answer.first() != Some(&0xfb) {
        return Err("the second file is not asked for".to_owned());
    }
    if let Some(code) = send(&mut raw, sequence, &[&lines(5..20)])? {
        return Err(format!("the second file: error {code}"));
    }
    raw.read_packet().map_err(fail)?;
    has(conn, 20)?;
    goes_on(&mut raw)
}

fn nothing_asked(address: &Address, _conn: &mut Conn) -> Checked {
    let mut raw = Raw::with_files(address).map_err(fail)?;
    match raw.ask(COM_QUERY, load("nosuch").as_bytes()).map_err(fail)? {
        Some(1146) => goes_on(&mut raw),
        other => Err(format!("answered {other:?}")),
    }
}

fn no_files(address: &Address, conn: &mut Conn) -> Checked {
    let mut raw = Raw::logged_in(address).map_err(fail)?;
    let answer = raw.ask(COM_QUERY, load("f").as_bytes()).map_err(fail)?;
    conn.query_drop("SET GLOBAL local_infile = OFF").map_err(fail)?;
    let mut other = Raw::with_files(address).map_err(fail)?;
    let off = other.ask(COM_QUERY, load("f").as_bytes()).map_err(fail)?;
    if (answer, off) == (Some(3948), Some(3948)) { Ok(()) } else { Err(format!("answered {answer:?} and {off:?}")) }
}

fn killed(address: &Address, conn: &mut Conn, how: &str) -> Checked {
    let mut raw = Raw::with_files(address).map_err(fail)?;
    let mut sequence = ask(&mut raw, &load("f"))?;
    for piece in lines(0..30_000).chunks(4096) {
        sequence = sequence.wrapping_add(1);
        raw.send(sequence, piece).map_err(fail)?;
    }
    let id: Option<u32> =
        conn.query_first("SELECT id FROM information_schema.processlist WHERE info LIKE 'LOAD DATA LOCAL%'").map_err(fail)?;
    let id = id.ok_or("it is not in the process list")?;
    conn.query_drop(format!("{how} {id}")).map_err(fail)?;
    if how == "KILL" {
        let closed = raw.drain(Duration::from_secs(5));
        gone(conn)?;
        return if closed { has(conn, 0) } else { Err("the connection is still open".to_owned()) };
    }
    std::thread::sleep(Duration::from_millis(100));
    let answer = send(&mut raw, sequence, &[&lines(30_000..40_000)])?;
    if answer != Some(1317) {
        return Err(format!("answered {answer:?}"));
    }
    has(conn, 0)?;
    goes_on(&mut raw)
}

/// Waits until no statement loads any more.
fn gone(conn: &mut Conn) -> Checked {
    let until = Instant::now() + Duration::from_secs(10);
    while Instant::now() < until {
        let left: Option<u32> = conn
            .query_first("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'LOAD DATA LOCAL%'")
            .map_err(fail)?;
        if left == Some(0) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err("it still runs".to_owned())
}

fn broken_off(address: &Address, conn: &mut Conn) -> Checked {
    for length in [0, 3, 5, 5000] {
        let mut raw = Raw::with_files(address).map_err(fail)?;
        let sequence = ask(&mut raw, &load("f"))?;
        let mut packet = 5000_u32.to_le_bytes().to_vec();
        packet[3] = sequence.wrapping_add(1);
        packet.extend(lines(0..1000));
        raw.bytes(&packet[..length]).map_err(fail)?;
        raw.vanish();
        gone(conn)?;
        has(conn, 0)?;
    }
    Ok(())
}

fn out_of_order(address: &Address, conn: &mut Conn) -> Checked {
    let mut raw = Raw::with_files(address).map_err(fail)?;
    let sequence = ask(&mut raw, &load("f"))?;
    raw.send(sequence.wrapping_add(1), &lines(0..1000)).map_err(fail)?;
    raw.send(sequence.wrapping_add(77), &lines(1000..2000)).map_err(fail)?;
    let closed = raw.drain(Duration::from_secs(5));
    gone(conn)?;
    if closed { has(conn, 0) } else { Err("the connection is still open".to_owned()) }
}

fn silent(address: &Address, conn: &mut Conn) -> Checked {
    let mut raw = Raw::with_files(address).map_err(fail)?;
    raw.ask(COM_QUERY, b"SET net_read_timeout = 1").map_err(fail)?;
    let sequence = ask(&mut raw, &load("f"))?;
    raw.send(sequence.wrapping_add(1), &lines(0..1000)).map_err(fail)?;
    let closed = raw.drain(Duration::from_secs(5));
    gone(conn)?;
    if closed { has(conn, 0) } else { Err("the connection is still open".to_owned()) }
}

fn endless_row(address: &Address, conn: &mut Conn) -> Checked {
    let mut raw = Raw::with_files(address).map_err(fail)?;
    raw.ask(COM_QUERY, b"SET heddle_statement_memory = 4194304").map_err(fail)?;
    let sequence = ask(&mut raw, &load("f"))?;
    let text = vec![b'x'; 12 << 20];
    let answer = send(&mut raw, sequence, &text.chunks(1 << 20).collect::<Vec<_>>())?;
    if answer != Some(1038) {
        return Err(format!("answered {answer:?}"));
    }
    has(conn, 0)?;
    goes_on(&mut raw)
}
