//! Clients that do not log in: wrong passwords, and handshakes that are never finished.

use mysql::Conn;
use mysql::prelude::Queryable;
use std::io;
use std::path::Path;
use tests::raw::{AUTH_SWITCH, Raw, login_with};
use tests::{Address, Report, Server, ServerOptions};

const SHA2: &str = "caching_sha2_password";
const NATIVE: &str = "mysql_native_password";
/// Names that no account has.
const NAMES: usize = 60;
const ERROR: u8 = 0xff;
const MORE: u8 = 1;
const FULL_AUTHENTICATION: u8 = 4;

pub fn run(address: &Address, report: &mut Report) {
    report.case("wrong passwords do not tell which accounts there are", || wrong_passwords(address));
}

/// With a separate server that accepts few clients.
pub fn run_alone(folder: &Path, report: &mut Report) -> Result<(), String> {
    let options =
        ServerOptions { extra: vec!["--max-connections".into(), "20".into()], ..ServerOptions::new(folder.join("few")) };
    let server = Server::start(&options)?;
    report.case("handshakes that nobody finishes lock nobody out", || half_open(&server.address));
    report.case("as many clients as max_connections says, and one to see why", || full(&server.address));
    report.case("the server with few clients stops well", || server.stop());
    Ok(())
}

fn admin(address: &Address) -> Result<Conn, String> {
    address.connect().map_err(|e| e.to_string())
}

fn wrong_passwords(address: &Address) -> Result<(), String> {
    let mut conn = admin(address)?;
    let mut execute = |sql: &str| conn.query_drop(sql).map_err(|e| format!("{sql}: {e}"));
    execute("DROP USER IF EXISTS abuse_empty, abuse_full, abuse_native")?;
    execute("CREATE USER abuse_empty, abuse_full IDENTIFIED BY 'secret'")?;
    execute("CREATE USER abuse_native IDENTIFIED WITH mysql_native_password BY 'secret'")?;
    let outcome = [SHA2, NATIVE].iter().try_for_each(|plugin| {
        let unknown = (0..NAMES).map(|n| exchange(address, &format!("abuse_nobody{n}"), plugin));
        let unknown = unknown.collect::<Result<Vec<_>, _>>()?;
        ["abuse_empty", "abuse_full", "abuse_native"].iter().try_for_each(|user| {
            let seen = exchange(address, user, plugin)?;
            if unknown.contains(&seen) {
                Ok(())
            } else {
                Err(format!("{user} with {plugin}: {seen:?}; no other name is answered so, but {:?}", unknown[0]))
            }
        })
    });
    execute("DROP USER abuse_empty, abuse_full, abuse_native")?;
    outcome
}

/// The kinds of the server's packets, when a client begins with a wrong proof of the plugin and answers everything wrongly.
fn exchange(address: &Address, user: &str, plugin: &str) -> Result<Vec<String>, String> {
    // Failures of a host are slowed, until one of its clients comes in.
    drop(admin(address)?);
    exchange_once(address, user, plugin).map_err(|e| format!("{user}: {e}"))
}

fn exchange_once(address: &Address, user: &str, plugin: &str) -> io::Result<Vec<String>> {
    let proof = |plugin: &str| vec![7; if plugin == SHA2 { 32 } else { 20 }];
    let mut raw = Raw::greeted(address)?;
    raw.send(1, &login_with(user, plugin, &proof(plugin)))?;
    let mut seen = Vec::new();
    loop {
        let (sequence, packet) = raw.read_packet()?;
        let (kind, answer) = match packet.as_slice() {
            [ERROR, low, high, ..] => {
                seen.push(format!("error {}", u16::from_le_bytes([*low, *high])));
                return Ok(seen);
            }
            [AUTH_SWITCH, rest @ ..] => {
                let name = String::from_utf8_lossy(rest.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned();
                (format!("switch to {name}"), proof(&name))
            }
            // What asks for the public key, and what that encrypts.
            [MORE, FULL_AUTHENTICATION] => ("full".to_owned(), vec![2]),
            [MORE, ..] => ("key".to_owned(), vec![9; 256]),
            _ => return Err(io::Error::other(format!("a packet that begins with {:?}", packet.first()))),
        };
        seen.push(kind);
        raw.send(sequence.wrapping_add(1), &answer)?;
    }
}

/// Three times as many clients as there may be connect and say nothing; others log in.
fn half_open(address: &Address) -> Result<(), String> {
    drop(admin(address)?);
    let silent = (0..60).map(|_| address.stream()).collect::<io::Result<Vec<_>>>().map_err(|e| e.to_string())?;
    let conns = (0..10).map(|_| admin(address)).collect::<Result<Vec<_>, _>>()?;
    drop(silent);
    for mut conn in conns {
        let one: Option<u32> = conn.query_first("SELECT 1").map_err(|e| e.to_string())?;
        if one != Some(1) {
            return Err(format!("answers {one:?}"));
        }
    }
    Ok(())
}

fn full(address: &Address) -> Result<(), String> {
    let mut conn = admin(address)?;
    conn.query_drop("CREATE USER abuse_plain").map_err(|e| e.to_string())?;
    conn.query_drop("SET GLOBAL max_connections = 5").map_err(|e| e.to_string())?;
    let plain = || Conn::new(address.options().user(Some("abuse_plain")));
    let code = |outcome: mysql::Result<Conn>| match outcome {
        Ok(_) => Ok(0),
        Err(mysql::Error::MySqlError(error)) => Ok(error.code),
        Err(error) => Err(error.to_string()),
    };
    let mut inside = Vec::new();
    // Those of the test before leave in their own time.
    while inside.len() < 4 {
        match plain() {
            Ok(conn) => inside.push(conn),
            Err(mysql::Error::MySqlError(error)) if error.code == 1040 => {
                std::thread::sleep(std::time::Duration::from_millis(20))
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    for (what, seen, wanted) in [("one more", code(plain())?, 1040), ("an administrator", code(address.connect())?, 0)] {
        if seen != wanted {
            return Err(format!("{what}: {seen}, not {wanted}"));
        }
    }
    conn.query_drop("SET GLOBAL max_connections = 20").map_err(|e| e.to_string())?;
    match code(plain())? {
        0 => Ok(()),
        code => Err(format!("after max_connections was raised: {code}")),
    }
}
