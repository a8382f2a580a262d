//! Backups of a server that works: what is restored is a state that the server was in, and has everything that was acknowledged before.
//!
//! 1. Writers move amounts between accounts, and note each move; a move is one transaction. The buffer pool is much smaller than the
//!    tables, so pages are written while they are copied.
//! 2. Meanwhile: a full backup, incremental ones on top of it, one that follows the log, a CLONE. The server is killed in the end.
//! 3. Before that, a table that somebody has dropped and a database are brought back to the running server, as they were a moment before.
//! 4. Everything is restored, also to moments in between. Each restored server must have the sum of all accounts, the moves of each
//!    writer without a gap, every move acknowledged before the moment, none begun after it; and its directory no damage.
//!
//! With an S3 server (`moto_server`, of the Python package `moto[server]`) backups go to an object store, too.
//!
//! `--rounds N` repeats it (default 1); `--seconds N` is how long the writers work in a round (default 12).

use mysql::prelude::Queryable;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tests::{Report, Server, ServerOptions};

type Outcome<T = ()> = Result<T, String>;

const ACCOUNTS: u64 = 20_000;
const AMOUNT: i64 = 1_000;
const WRITERS: u64 = 3;

/// A move: begun and acknowledged, in microseconds since 1970.
#[derive(Clone, Copy)]
struct Move {
    writer: u64,
    number: u64,
    began_us: u64,
    acknowledged_us: u64,
}

fn main() -> ExitCode {
    let argument = |name: &str| {
        let mut arguments = std::env::args();
        arguments.find(|argument| argument == name).and_then(|_| arguments.next()).and_then(|value| value.parse::<u64>().ok())
    };
    let (rounds, seconds) = (argument("--rounds").unwrap_or(1), argument("--seconds").unwrap_or(12));
    let mut report = Report::new();
    for round in 0..rounds {
        let directory = std::env::temp_dir().join(format!("heddle-backups-{}-{round}", std::process::id()));
        if let Err(why) = run(&directory, seconds, &mut report) {
            report.fail("backups", why);
        }
        match report.failed {
            0 => drop(std::fs::remove_dir_all(&directory)),
            _ => println!("     what it left: {}", directory.display()),
        }
    }
    report.finish()
}

fn now_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A `heddle` command beside the server.
fn heddle(options: &ServerOptions, arguments: &[&str]) -> Command {
    let mut command = Command::new(&options.binary);
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Runs a command to its end; its output, or why it failed.
fn done(mut command: Command) -> Outcome<String> {
    let output = command.output().map_err(text)?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(told) } else { Err(format!("{}: {told}", output.status)) }
}

fn run(directory: &Path, seconds: u64, report: &mut Report) -> Outcome {
    // The past that is read beside the writers takes more undo than such a small pool has.
    let extra = ["--undo-memory", "64M"].map(str::to_owned).to_vec();
    let options = ServerOptions { durability: "full".into(), buffer_pool: "16M".into(), extra, ..ServerOptions::new(directory) };
    let server = Server::start(&options)?;
    fill(&server)?;
    let (stop, moves) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let (shelf, clone) = (directory.join("shelf"), directory.join("clone"));
    let port = server.address.port.to_string();
    let shelf_text = shelf.to_string_lossy().into_owned();
    let backup = |more: &[&str]| heddle(&options, &[&["backup", "--port", &port, "--to", &shelf_text], more].concat());
    let (mut between, mut lost) = (0, Lost::default());
    let mut cloned_us = (0, 0);
    std::thread::scope(|scope| -> Outcome {
        for writer in 0..WRITERS {
            let (server, stop, moves) = (&server, &stop, &moves);
            scope.spawn(move || write(server, writer, stop, moves));
        }
        let mut work = || -> Outcome {
            let pause = Duration::from_secs(seconds) / 6;
            std::thread::sleep(pause);
            report.case("a full backup beside writers", || done(backup(&[])).map(drop));
            std::thread::sleep(pause);
            report.case("an incremental backup", || done(backup(&["--incremental"])).map(drop));
            std::thread::sleep(pause);
            report.case("an incremental backup on top of it", || done(backup(&["--incremental"])).map(drop));
            let mut follower = backup(&["--follow"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(text)?;
            report.case("a clone", || {
                let began = now_us();
                let statement = format!("CLONE LOCAL DATA DIRECTORY = '{}'", clone.display());
                server.connect().map_err(text)?.query_drop(statement).map_err(text)?;
                cloned_us = (began, now_us());
                Ok(())
            });
            std::thread::sleep(pause);
            lost = lose(&server)?;
            between = now_us();
            std::thread::sleep(pause);
            refusals(&server, &options, &shelf, report);
            report.case("reads of the past beside writers", || read_past(&server, &moves));
            // The log of the last moment has been followed after a second or so.
            stop.store(true, Ordering::SeqCst);
            std::thread::sleep(Duration::from_secs(3));
            let _ = follower.kill();
            let _ = follower.wait();
            Ok(())
        };
        let worked = work();
        stop.store(true, Ordering::SeqCst);
        worked
    })?;
    pieces(&server, &options, (&shelf_text, &lost), report);
    object_store(&server, &options, report);
    server.kill();
    let moves = moves.into_inner().map_err(text)?;
    let names = names_of(&shelf)?;
    report.case("there are four backups", || if names.len() == 4 { Ok(()) } else { Err(format!("{names:?}")) });
    for (index, name) in names.iter().enumerate().take(3) {
        let what = format!("restored from {}", ["the full one", "one incremental", "two incremental"][index]);
        report.case(&what, || {
            let to = directory.join(format!("restored{index}"));
            let told = restore(&options, &shelf.join(name), &to.join("data"), &[])?;
            let moment = moment_of(&told)?;
            check(&options, &to, &moves, (0, moment))
        });
    }
    report.case("restored to the end of the log", || {
        let to = directory.join("end");
        restore(&options, &shelf, &to.join("data"), &[])?;
        check(&options, &to, &moves, (u64::MAX, u64::MAX))
    });
    report.case("restored to a moment", || {
        let to = directory.join("moment");
        let time = format!("@{between}");
        restore(&options, &shelf, &to.join("data"), &["--to", &time])?;
        check(&options, &to, &moves, (between, between))
    });
    report.case("the clone", || {
        let to = directory.join("cloned");
        std::fs::create_dir_all(&to).and_then(|()| std::fs::rename(&clone, to.join("data"))).map_err(text)?;
        check(&options, &to, &moves, cloned_us)
    });
    report.case("a drill passes, and tells Prometheus", || {
        let (from, metrics) = (shelf.to_string_lossy().into_owned(), directory.join("drill.prom"));
        let told = done(heddle(&options, &["drill", "--from", &from, "--metrics", &metrics.to_string_lossy()]))?;
        let text = std::fs::read_to_string(&metrics).map_err(text)?;
        if told.contains("the drill passed") && text.contains("heddle_drill_success 1") { Ok(()) } else { Err(told + &text) }
    });
    report.case("restored with a check", || {
        let to = directory.join("checked");
        let told = restore(&options, &shelf, &to, &["--check"])?;
        if told.contains("no damage found") { Ok(()) } else { Err(told) }
    });
    report.case("an incremental backup after a restart of the server", || {
        let server = Server::start(&options)?;
        let port = server.address.port.to_string();
        server.connect().map_err(text)?.query_drop("UPDATE bank.accounts SET pad = 'after' WHERE id < 100").map_err(text)?;
        done(heddle(&options, &["backup", "--port", &port, "--to", &shelf_text, "--incremental"]))?;
        server.stop()?;
        let to = directory.join("restarted");
        restore(&options, &shelf, &to.join("data"), &[])?;
        check(&options, &to, &moves, (u64::MAX, u64::MAX))
    });
    report.case("an incremental backup of a restored server is refused", || {
        let of_restored = ServerOptions { directory: directory.join("restarted"), ..options.clone() };
        let server = Server::start(&of_restored)?;
        let port = server.address.port.to_string();
        match done(heddle(&options, &["backup", "--port", &port, "--to", &shelf_text, "--incremental"])) {
            Err(why) if why.contains("before it was restored") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    report.case("a damaged backup is refused", || {
        let path = shelf.join(&names[0]);
        let mut bytes = std::fs::read(&path).map_err(text)?;
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).map_err(text)?;
        let to = directory.join("damaged");
        match restore(&options, &path, &to, &[]) {
            Err(why) if why.contains("is damaged at byte") && !to.exists() => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    Ok(())
}

/// `--ssl-mode` and `--ssl-ca`, by the certificates that the server has made for itself.
fn encryption(server: &Server, options: &ServerOptions, to: &Path, report: &mut Report) {
    let (port, to) = (server.address.port.to_string(), to.to_string_lossy().into_owned());
    let of_server = options.directory.join("data/ca.pem").to_string_lossy().into_owned();
    let other = options.directory.join("data/client-cert.pem").to_string_lossy().into_owned();
    let account = "CREATE USER IF NOT EXISTS safe IDENTIFIED BY 'secret' REQUIRE SSL";
    let password = options.directory.join("password");
    let password_text = password.to_string_lossy().into_owned();
    let backup = |host: &str, more: &[&str]| {
        let head = ["backup", "--port", &port, "--host", host, "--to", &to, "--user", "safe", "--password-file", &password_text];
        done(heddle(options, &[&head[..], more].concat()))
    };
    let refused = |outcome: Outcome<String>, why: &str| match outcome {
        Err(told) if told.contains(why) => Ok(()),
        other => Err(format!("{other:?}")),
    };
    report.case("backups over TLS, by the mode", || {
        let mut connection = server.connect().map_err(text)?;
        connection.query_drop(account).map_err(text)?;
        connection.query_drop("GRANT BACKUP_ADMIN ON *.* TO safe").map_err(text)?;
        std::fs::write(&password, "secret\n").map_err(text)?;
        refused(backup("127.0.0.1", &["--ssl-mode", "disabled"]), "1045")?;
        backup("127.0.0.1", &[])?;
        backup("127.0.0.1", &["--ssl-mode", "REQUIRED"])?;
        backup("127.0.0.1", &["--ssl-ca", &of_server])?;
        backup("localhost", &["--ssl-mode", "VERIFY_IDENTITY", "--ssl-ca", &of_server])?;
        // 127.0.0.2 is this machine, and the certificate does not name it.
        refused(backup("127.0.0.2", &["--ssl-mode", "VERIFY_IDENTITY", "--ssl-ca", &of_server]), "cannot connect")?;
        refused(backup("127.0.0.1", &["--ssl-ca", &other]), "invalid peer certificate")?;
        refused(backup("127.0.0.1", &["--ssl-ca", "/nowhere"]), "--ssl-ca /nowhere")?;
        refused(backup("127.0.0.1", &["--ssl-mode", "VERIFY_CA"]), "need --ssl-ca")
    });
}

/// An S3 server that ends with this.
struct Moto(std::process::Child, u16);

impl Moto {
    /// `None`: there is no such program.
    fn start() -> Outcome<Option<Self>> {
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).map_err(text)?.port();
        let mut command = Command::new("moto_server");
        command.args(["-H", "127.0.0.1", "-p", &free.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
        let child = match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(text)?,
        };
        let moto = Self(child, free);
        for _ in 0..300 {
            if std::net::TcpStream::connect(("127.0.0.1", free)).is_ok() {
                return Ok(Some(moto));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err("moto_server does not listen".to_owned())
    }

    /// One request without a body; the first line of the answer.
    fn ask(&self, line: &str) -> Outcome<String> {
        use std::io::{Read, Write};
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", self.1)).map_err(text)?;
        write!(stream, "{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").map_err(text)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(text)?;
        Ok(answer)
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A proxy that ends each connection, once it has passed on so many bytes of answers in all.
fn breaking_proxy(to: u16, bytes_max: usize) -> Outcome<u16> {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(text)?;
    let port = listener.local_addr().map_err(text)?.port();
    let passed = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = std::net::TcpStream::connect(("127.0.0.1", to)) else { return };
            let (Ok(mut from_client), Ok(mut to_server)) = (client.try_clone(), server.try_clone()) else { return };
            std::thread::spawn(move || std::io::copy(&mut from_client, &mut to_server));
            let (mut client, mut server, passed) = (client, server, passed.clone());
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(count @ 1..) = server.read(&mut buffer) {
                    if passed.fetch_add(count, Ordering::SeqCst) + count > bytes_max
                        || client.write_all(&buffer[..count]).is_err()
                    {
                        break;
                    }
                }
                let _ = client.shutdown(std::net::Shutdown::Both);
                let _ = server.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    Ok(port)
}

/// Backups in an object store: a full one, an incremental one, restored; a network that breaks in the middle; no place.
fn object_store(server: &Server, options: &ServerOptions, report: &mut Report) {
    let moto = match Moto::start() {
        Ok(Some(moto)) => moto,
        Ok(None) => return println!("skip backups in an object store: there is no moto_server (pip install moto[server])"),
        Err(why) => return report.fail("an S3 server starts", why),
    };
    let command = |endpoint: u16, arguments: &[&str]| {
        let mut command = heddle(options, arguments);
        command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{endpoint}"));
        command.envs([("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test"), ("AWS_REGION", "us-east-1")]);
        command
    };
    let port = server.address.port.to_string();
    let backup = ["backup", "--port", &port, "--uncompressed", "--to", "s3://shelf/heddle"];
    let count = || -> Outcome<usize> { Ok(moto.ask("GET /shelf?list-type=2")?.matches("<Key>").count()) };
    let is_restored = |to: &Path| -> Outcome {
        let options = ServerOptions { directory: to.into(), ..options.clone() };
        let restored = Server::start(&options)?;
        let query = "SELECT COUNT(*), SUM(amount) FROM bank.accounts";
        let sums: Option<(u64, i64)> = restored.connect().map_err(text)?.query_first(query).map_err(text)?;
        restored.stop()?;
        if sums == Some((ACCOUNTS, ACCOUNTS as i64 * AMOUNT)) { Ok(()) } else { Err(format!("the sum is {sums:?}")) }
    };
    let restore = |endpoint: u16, to: &Path| {
        let data = to.join("data").to_string_lossy().into_owned();
        done(command(endpoint, &["restore", "--from", "s3://shelf/heddle", "--data-dir", &data]))
    };
    report.case("a full and an incremental backup in an object store are restored", || {
        moto.ask("PUT /shelf")?;
        done(command(moto.1, &backup))?;
        done(command(moto.1, &[&backup[..], &["--incremental"]].concat()))?;
        if count()? != 2 {
            return Err(format!("{} objects", count()?));
        }
        let to = options.directory.join("from-store");
        restore(moto.1, &to)?;
        is_restored(&to)
    });
    report.case("a network that breaks leaves no backup and no directory that starts", || {
        let began = std::time::Instant::now();
        let listed = moto.ask("GET /shelf?list-type=2")?;
        let sizes = listed.split("<Size>").skip(1).filter_map(|rest| rest.split('<').next()?.parse::<usize>().ok());
        let all: usize = sizes.sum();
        // While the files are checked, which reads a base twice, and while they are put in their places.
        for (name, bytes) in [("checking", all / 2), ("placing", 2 * all + all / 4)] {
            let to = options.directory.join(format!("broken-{name}"));
            match restore(breaking_proxy(moto.1, bytes)?, &to) {
                Err(why) if why.lines().last().is_some_and(|last| last.contains("cannot read s3://shelf/heddle/")) => {}
                other => return Err(format!("{name}, after {bytes} bytes: {other:?}")),
            }
            if to.join("data/heddle.control").exists() || (name == "placing") != to.join("data").exists() {
                return Err(format!("{name}: a directory that a server would start on, or none"));
            }
        }
        let proxy = breaking_proxy(moto.1, 1)?;
        match done(command(proxy, &backup)) {
            Err(why) if why.contains("cannot begin s3://shelf/heddle/") && count()? == 2 => {}
            other => return Err(format!("{other:?}")),
        }
        if began.elapsed() > Duration::from_secs(200) { Err(format!("it took {:?}", began.elapsed())) } else { Ok(()) }
    });
    report.case("an object store that is not there, and one that cannot follow", || {
        let missing = ["backup", "--port", &port, "--to", "s3://nothing/here"];
        match done(command(moto.1, &missing)) {
            Err(why) if why.contains("cannot begin s3://nothing/here/") => {}
            other => return Err(format!("{other:?}")),
        }
        match done(command(moto.1, &[&backup[..], &["--follow"]].concat())) {
            Err(why) if why.contains("--follow needs a directory") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
}

/// A table as it was before it was dropped.
#[derive(Default)]
struct Lost {
    /// The last moment at which it was whole, in microseconds since 1970.
    moment: u64,
    sum: Sum,
}

/// The number of rows, and their checksum.
type Sum = (u64, u64);

fn sum_of(connection: &mut mysql::Conn, table: &str) -> Outcome<Sum> {
    let query = format!("SELECT COUNT(*), CAST(SUM(CRC32(CONCAT_WS('#', id, customer, note))) AS UNSIGNED) FROM {table}");
    connection.query_first(query).map_err(text)?.ok_or_else(|| format!("no sum of {table}"))
}

/// Somebody drops a table by mistake, while others write.
fn lose(server: &Server) -> Outcome<Lost> {
    let mut connection = server.connect().map_err(text)?;
    let sum = sum_of(&mut connection, "shop.orders")?;
    let moment = now_us();
    // A block of the log has one time.
    std::thread::sleep(Duration::from_millis(200));
    connection.query_drop("DELETE FROM shop.orders WHERE id > 10").map_err(text)?;
    connection.query_drop("DROP TABLE shop.orders").map_err(text)?;
    Ok(Lost { moment, sum })
}

/// One table and one database of the backups, beside the present ones.
fn pieces(server: &Server, options: &ServerOptions, (shelf, lost): (&str, &Lost), report: &mut Report) {
    let address = format!("mysql://root@127.0.0.1:{}", server.address.port);
    let scratch = options.directory.join("scratch");
    let scratch_text = scratch.to_string_lossy().into_owned();
    let (then, before) = (format!("@{}", lost.moment), ["--table", "shop.orders", "--into", "shop.orders_before"]);
    let command = |more: &[&str]| {
        let head = ["restore", "--from", shelf, "--to", &then, "--server", &address, "--scratch", &scratch_text];
        heddle(options, &[&head[..], more].concat())
    };
    let query = |query: &str| -> Outcome<Vec<String>> { server.connect().map_err(text)?.query(query).map_err(text) };
    let is_clean = || -> Outcome {
        let left = query("SHOW DATABASES LIKE 'heddle_restore%'")?;
        if left.is_empty() && !scratch.exists() { Ok(()) } else { Err(format!("left: {left:?}, {}", scratch.display())) }
    };
    report.case("a dropped table comes back as it was a moment before", || {
        let told = done(command(&before))?;
        let mut connection = server.connect().map_err(text)?;
        let sum = sum_of(&mut connection, "shop.orders_before")?;
        if sum != lost.sum {
            return Err(format!("{sum:?} rows, and {:?} were there; {told}", lost.sum));
        }
        if !told.contains("no trigger stamped")
            || !told.contains("no foreign key orders_customer")
            || !told.contains("all are the same")
        {
            return Err(told);
        }
        let wrong: Vec<(String, String, String, String)> = connection.query("CHECK TABLE shop.orders_before").map_err(text)?;
        if wrong.iter().any(|(_, _, _, text)| text != "OK") { Err(format!("{wrong:?}")) } else { is_clean() }
    });
    report.case("a name that is taken is refused", || match done(command(&before)) {
        Err(why) if why.contains("has a table shop.orders_before already") => is_clean(),
        other => Err(format!("{other:?}")),
    });
    report.case("a table that the backup does not have is refused", || match done(command(&["--table", "shop.nothing"])) {
        Err(why) if why.contains("is not in the backup at that moment") => is_clean(),
        other => Err(format!("{other:?}")),
    });
    report.case("a database comes back under another name, with its programs", || {
        let told = done(command(&["--database", "shop", "--into", "shop_then"]))?;
        let mut connection = server.connect().map_err(text)?;
        if sum_of(&mut connection, "shop_then.orders")? != lost.sum || !told.contains("event shop_then.tidy does not run") {
            return Err(told);
        }
        let views = query("SELECT CONCAT(COUNT(*), ' ', shop_then.twice(21)) FROM shop_then.open_orders")?;
        if views != [format!("{} 42", lost.sum.0)] {
            return Err(format!("{views:?}"));
        }
        connection.query_drop("INSERT INTO shop_then.orders (customer) VALUES (1)").map_err(text)?;
        let stamped = query("SELECT note FROM shop_then.orders ORDER BY id DESC LIMIT 1")?;
        if stamped != ["stamped"] {
            return Err(format!("the trigger has written {stamped:?}"));
        }
        match connection.query_drop("INSERT INTO shop_then.orders (customer) VALUES (99)") {
            Err(mysql::Error::MySqlError(error)) if error.code == 1452 => is_clean(),
            other => Err(format!("a row without its parent: {other:?}")),
        }
    });
    let large = ["--database", "bank", "--into", "bank_then", "--threads", "1"];
    report.case("an interrupted restore leaves nothing", || {
        interrupt(server, command(&large), "-TERM")?;
        let left = query("SHOW DATABASES LIKE 'bank_then'")?;
        if left.is_empty() { is_clean() } else { Err(format!("{left:?}")) }
    });
    report.case("a killed restore leaves no name, and the next one succeeds", || {
        interrupt(server, command(&large), "-KILL")?;
        let left = query("SHOW DATABASES LIKE 'bank_then'")?;
        if !left.is_empty() {
            return Err(format!("{left:?}"));
        }
        std::fs::remove_dir_all(&scratch).map_err(text)?;
        done(command(&large))?;
        let sums = query("SELECT CONCAT(COUNT(*), ' ', SUM(amount)) FROM bank_then.accounts")?;
        if sums == [format!("{ACCOUNTS} {}", ACCOUNTS as i64 * AMOUNT)] { is_clean() } else { Err(format!("{sums:?}")) }
    });
}

/// Sends a signal to a restore that copies rows, and waits for its end.
fn interrupt(server: &Server, mut command: Command, signal: &str) -> Outcome {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(text)?;
    let mut connection = server.connect().map_err(text)?;
    let has_rows =
        "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'heddle_restore_unfinished' AND table_rows > 0";
    loop {
        if let Some(status) = child.try_wait().map_err(text)? {
            return Err(format!("it has ended before it could be interrupted: {status}"));
        }
        if connection.query_first::<u64, _>(has_rows).map_err(text)? > Some(0) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    done({
        let mut kill = Command::new("kill");
        kill.args([signal, &child.id().to_string()]);
        kill
    })?;
    if child.wait().map_err(text)?.success() { Err("it has succeeded in spite of the signal".to_owned()) } else { Ok(()) }
}

/// Reads moments that lie behind, while writers work: each has the sum of all accounts, the moves that were acknowledged well before it, and
/// none that began after it.
fn read_past(server: &Server, moves: &Mutex<Vec<Move>>) -> Outcome {
    let mut connection = server.connect().map_err(text)?;
    connection.query_drop("SET GLOBAL undo_retention = 60").map_err(text)?;
    let began = now_us();
    for round in 0..20u64 {
        std::thread::sleep(Duration::from_millis(200));
        // From just now back to the beginning.
        let moment = now_us() - (now_us() - began) * (round % 4) / 4;
        if moment < began + 500_000 {
            continue;
        }
        let as_of = format!("AS OF TIMESTAMP FROM_UNIXTIME({}.{:06})", moment / 1_000_000, moment % 1_000_000);
        let query = format!("SELECT COUNT(*), SUM(amount) FROM bank.accounts {as_of}");
        let sums: Option<(u64, i64)> = connection.query_first(query).map_err(text)?;
        if sums != Some((ACCOUNTS, ACCOUNTS as i64 * AMOUNT)) {
            return Err(format!("the sum at {moment} is {sums:?}"));
        }
        let rows: Vec<(u64, u64)> = connection.query(format!("SELECT writer, number FROM bank.moves {as_of}")).map_err(text)?;
        let there: std::collections::HashSet<(u64, u64)> = rows.into_iter().collect();
        let has = |one: &&Move| there.contains(&(one.writer, one.number));
        let moves = moves.lock().map_err(text)?;
        // A mark is made ten times a second; the machine may be slow.
        let missing = moves.iter().filter(|one| one.acknowledged_us + 2_000_000 < moment && !has(one)).count();
        let early = moves.iter().filter(|one| one.began_us > moment).filter(has).count();
        if missing + early > 0 {
            return Err(format!("at {moment} {missing} acknowledged moves are missing, {early} are there too early"));
        }
    }
    let retained: Option<(String, u64)> =
        connection.query_first("SHOW GLOBAL STATUS LIKE 'Heddle_undo_retained_seconds'").map_err(text)?;
    if retained.is_none_or(|(_, seconds)| seconds == 0) {
        return Err("the status says that nothing is kept".to_owned());
    }
    connection.query_drop("SET GLOBAL undo_retention = 0").map_err(text)?;
    let off: mysql::Result<Option<u64>> = connection.query_first("SELECT COUNT(*) FROM bank.moves AS OF TIMESTAMP NOW(6)");
    match off {
        Err(mysql::Error::MySqlError(error)) if error.code == 50000 => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

/// Requests that the server must refuse.
fn refusals(server: &Server, options: &ServerOptions, shelf: &Path, report: &mut Report) {
    report.case("an account without BACKUP_ADMIN takes no backup", || {
        let mut connection = server.connect().map_err(text)?;
        connection.query_drop("CREATE USER IF NOT EXISTS nobody IDENTIFIED BY 'x'").map_err(text)?;
        let port = server.address.port.to_string();
        let to = shelf.to_string_lossy().into_owned();
        let refused = done(heddle(
            options,
            &["backup", "--port", &port, "--host", "127.0.0.1", "--to", &to, "--user", "nobody", "--password", "x"],
        ));
        match refused {
            Err(why) if why.contains("1227") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    encryption(server, options, &options.directory.join("encrypted"), report);
    report.case("a clone into a directory that is not empty is refused", || {
        let statement = format!("CLONE LOCAL DATA DIRECTORY = '{}'", shelf.display());
        match server.connect().map_err(text)?.query_drop(statement) {
            Err(mysql::Error::MySqlError(error)) if error.message.contains("is not empty") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
}

fn names_of(shelf: &Path) -> Outcome<Vec<String>> {
    let entries = std::fs::read_dir(shelf).map_err(text)?;
    let mut names: Vec<String> = entries.filter_map(|e| Some(e.ok()?.file_name().to_string_lossy().into_owned())).collect();
    names.sort();
    Ok(names)
}

/// What the command tells.
fn restore(options: &ServerOptions, from: &Path, to: &Path, more: &[&str]) -> Outcome<String> {
    let (from, to) = (from.to_string_lossy().into_owned(), to.to_string_lossy().into_owned());
    done(heddle(options, &[&["restore", "--from", &from, "--data-dir", &to], more].concat()))
}

/// The moment that `heddle restore` names, in microseconds since 1970.
fn moment_of(told: &str) -> Outcome<u64> {
    let at = told.find("(@").ok_or_else(|| format!("no moment in: {told}"))?;
    let digits: String = told[at + 2..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse().map_err(text)
}

fn fill(server: &Server) -> Outcome {
    let mut connection = server.connect().map_err(text)?;
    let definitions = [
        "CREATE DATABASE bank",
        "CREATE TABLE bank.accounts (id INT PRIMARY KEY, amount BIGINT NOT NULL, pad VARCHAR(1500), KEY (amount))",
        "CREATE TABLE bank.moves (writer INT, number INT, PRIMARY KEY (writer, number))",
        "CREATE DATABASE shop",
        "CREATE TABLE shop.customers (id INT PRIMARY KEY, name VARCHAR(20))",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY AUTO_INCREMENT, customer INT, note VARCHAR(40), KEY (customer), \
         CONSTRAINT orders_customer FOREIGN KEY (customer) REFERENCES customers (id))",
        "INSERT INTO shop.customers VALUES (1, 'one'), (2, 'two')",
        "INSERT INTO shop.orders (customer, note) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) \
         SELECT 1 + i % 2, CONCAT('order ', i) FROM n",
        "CREATE TRIGGER shop.stamped BEFORE INSERT ON shop.orders FOR EACH ROW SET NEW.note = 'stamped'",
        "CREATE FUNCTION shop.twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n",
        "CREATE VIEW shop.open_orders AS SELECT o.id, c.name FROM shop.orders o JOIN shop.customers c ON c.id = o.customer",
        "CREATE EVENT shop.tidy ON SCHEDULE EVERY 1 DAY DO DELETE FROM shop.orders WHERE id < 0",
    ];
    definitions.iter().try_for_each(|definition| connection.query_drop(definition)).map_err(text)?;
    for from in (0..ACCOUNTS).step_by(500) {
        let rows: Vec<String> = (from..from + 500).map(|id| format!("({id}, {AMOUNT}, REPEAT('x', 1200))")).collect();
        connection.query_drop(format!("INSERT INTO bank.accounts VALUES {}", rows.join(","))).map_err(text)?;
    }
    Ok(())
}

/// Moves amounts until it is told to stop, or the server is gone.
fn write(server: &Server, writer: u64, stop: &AtomicBool, moves: &Mutex<Vec<Move>>) {
    let Ok(mut connection) = server.connect() else { return };
    let mut random = writer * 7 + 1;
    let mut next = |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    let mut number = 0;
    while !stop.load(Ordering::SeqCst) {
        let (a, b, amount) = (next(ACCOUNTS), next(ACCOUNTS), next(50));
        if a == b {
            continue;
        }
        let began_us = now_us();
        let statements = [
            "BEGIN".to_owned(),
            format!(
                "UPDATE bank.accounts SET amount = amount - {amount}, pad = REPEAT('y', 1000 + {amount}) WHERE id = {}",
                a.min(b)
            ),
            format!("UPDATE bank.accounts SET amount = amount + {amount} WHERE id = {}", a.max(b)),
            format!("INSERT INTO bank.moves VALUES ({writer}, {number})"),
            "COMMIT".to_owned(),
        ];
        match statements.iter().try_for_each(|statement| connection.query_drop(statement)) {
            Ok(()) => {
                let done = Move { writer, number, began_us, acknowledged_us: now_us() };
                moves.lock().map(|mut moves| moves.push(done)).expect("nobody panics with it");
                number += 1;
            }
            Err(mysql::Error::MySqlError(error)) if [1205, 1213].contains(&error.code) => {
                let _ = connection.query_drop("ROLLBACK");
            }
            Err(_) => return,
        }
    }
}

/// Starts a server on a restored directory. `moment`: everything acknowledged before the first is there, nothing begun after the second.
fn check(options: &ServerOptions, directory: &Path, moves: &[Move], moment: (u64, u64)) -> Outcome {
    let options = ServerOptions { directory: directory.into(), ..options.clone() };
    let server = Server::start(&options)?;
    let mut connection = server.connect().map_err(text)?;
    let sums: Option<(u64, i64)> = connection.query_first("SELECT COUNT(*), SUM(amount) FROM bank.accounts").map_err(text)?;
    if sums != Some((ACCOUNTS, ACCOUNTS as i64 * AMOUNT)) {
        return Err(format!("the sum is {sums:?}"));
    }
    let rows: Vec<(u64, u64)> =
        connection.query("SELECT writer, number FROM bank.moves ORDER BY writer, number").map_err(text)?;
    let mut next: HashMap<u64, u64> = HashMap::new();
    for (writer, number) in &rows {
        let expected = next.entry(*writer).or_default();
        if number != expected {
            return Err(format!("writer {writer} lacks move {expected}"));
        }
        *expected += 1;
    }
    let has = |one: &Move| next.get(&one.writer).is_some_and(|next| one.number < *next);
    let (missing, early) = (
        moves.iter().filter(|one| one.acknowledged_us < moment.0 && !has(one)).count(),
        moves.iter().filter(|one| one.began_us > moment.1 && has(one)).count(),
    );
    if missing + early > 0 {
        return Err(format!("{missing} acknowledged moves are missing, {early} are there too early"));
    }
    let wrong: Vec<(String, String, String, String)> = connection.query("CHECK TABLE bank.accounts, bank.moves").map_err(text)?;
    if wrong.iter().any(|(_, _, _, text)| text != "OK") {
        return Err(format!("{wrong:?}"));
    }
    drop(connection);
    server.stop()?;
    let data: PathBuf = options.directory.join("data");
    let told = done(heddle(&options, &["check", &data.to_string_lossy()]))?;
    if told.contains("no damage found") { Ok(()) } else { Err(told) }
}
